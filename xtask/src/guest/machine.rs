//! One run of a guest: a folder that both sides see, QEMU, and how it ended.

use super::host::Host;
use super::image::Image;
use crate::process;
use crate::test::scratch::Scratch;
use anyhow::{Context as _, Result};
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) chapter: &'a str,
    pub(super) modules: &'a str,
    /// Of the script; the guest ends it.
    pub(super) limit_s: u32,
    pub(super) machine: Machine,
    /// The nodes run on the host.
    pub(super) is_on_host: bool,
    /// Of the program, if the chapter installs it.
    pub(super) package: Option<&'a Path>,
    pub(super) program: &'a Path,
}

/// What a guest has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) memory_mib: u32,
    /// Of an empty disk beside its root; 0 is none.
    pub(super) disk_gib: u32,
    /// Of its memory so much is persistent, as far as its kernel knows.
    pub(super) persistent_mib: u32,
    pub(super) cpu: Cpu,
    pub(super) first: First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cpu {
    /// Two, and time is the host's.
    Free,
    /// One, and an instruction takes a nanosecond of the guest's time, whatever the host is at.
    Counted,
}

/// What its first process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// Runs the chapter, and ends the guest.
    Script,
    /// Is systemd, which has the chapter as a service and is told to reboot by it.
    Systemd,
}

impl Machine {
    pub(super) const PLAIN: Self = Self {
        memory_mib: 1536,
        disk_gib: 0,
        persistent_mib: 0,
        cpu: Cpu::Free,
        first: First::Script,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The script's exit status; 124 when it took too long.
    Exit(u8),
    /// The guest died, or did not end in time.
    Lost,
    /// Its kernel died before it began with anything of ours.
    NeverBooted,
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(0) => out.write_str("passed"),
            Self::Exit(124) => out.write_str("took too long"),
            Self::Exit(status) => write!(out, "failed with status {status}"),
            Self::Lost => out.write_str("lost its guest"),
            Self::NeverBooted => out.write_str("never booted"),
        }
    }
}

// The clock is the HPET: how fast the TSC runs is guessed wrong where the host is busy at boot.
const FREE_CLOCK: &str = "tsc=unstable clocksource=hpet";
const COUNTED_CLOCK: &str = "tsc=reliable";
const KERNEL_COMMAND_LINE: &str = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr \
    net.ifnames=0 random.trust_cpu=1 no_timer_check rcupdate.rcu_expedited=1 nowatchdog";
/// Boot, power-off and a loaded host, beside the script's own limit.
const AROUND_S: u64 = 90;
/// A file of the shared folder.
const DISK: &str = "disk";
const CONSOLE_TAIL_LINES: usize = 30;
/// The first thing that tests/guest/build-image has the guest say.
const INITRD_BEGINS: &str = "the initrd begins";

pub(super) fn run(image: &Image, job: &Job<'_>) -> Result<End> {
    let shared = Scratch::new(&format!("guest-{}", job.chapter))?;
    fill(shared.path(), job)?;
    let start = || Host::start(shared.path(), job.chapter, job.program);
    let host = job.is_on_host.then(start).transpose()?;
    let mut command = qemu(image, shared.path(), job.machine, host.as_ref());
    let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut guest = Guest(child);
    let output = guest.0.stdout.take().context("a piped child has an output")?;
    let lines = read_lines(output);
    let limit = Duration::from_secs(u64::from(job.limit_s) + AROUND_S);
    let has_ended = pass_on(job.chapter, &lines, limit);
    if has_ended {
        guest.0.wait().context("cannot wait for QEMU")?;
    }
    drop(guest);
    drop(host);
    // Whatever its script found, a guest that cannot go down is lost.
    let status = fs::read_to_string(shared.path().join("status")).ok().filter(|_| has_ended);
    if let Some(status) = status.and_then(|text| text.trim().parse().ok()) {
        return Ok(End::Exit(status));
    }
    let console = fs::read(shared.path().join("console")).unwrap_or_default();
    let console = String::from_utf8_lossy(&console);
    show_console(job.chapter, &console);
    let has_booted = console.contains(INITRD_BEGINS);
    Ok(if has_ended && !has_booted { End::NeverBooted } else { End::Lost })
}

/// What the guest finds in /lab.
fn fill(shared: &Path, job: &Job<'_>) -> Result<()> {
    let repository = process::repository()?;
    let scripts = repository.join("tests/guest");
    let copy = |from: &Path, to: &str| {
        fs::copy(from, shared.join(to)).with_context(|| format!("cannot copy {}", from.display()))
    };
    // A chapter reads what it shares with others from beside it.
    for entry in fs::read_dir(&scripts).context("cannot list the scripts of the guest")? {
        let entry = entry?;
        let name = entry.file_name();
        copy(&entry.path(), name.to_str().context("a script has a plain name")?)?;
    }
    copy(&scripts.join(format!("{}.sh", job.chapter)), "chapter")?;
    if job.machine.disk_gib > 0 {
        let disk = File::create(shared.join(DISK)).context("cannot make a disk")?;
        disk.set_len(u64::from(job.machine.disk_gib) << 30).context("cannot make a disk")?;
    }
    for name in ["basalt-node.service", "basalt-sysctl.conf"] {
        copy(&repository.join("docs/systemd").join(name), name)?;
    }
    if let Some(package) = job.package {
        copy(package, "basalt.deb")?;
    }
    let first = match job.machine.first {
        First::Script => "script",
        First::Systemd => "systemd",
    };
    let environment =
        format!("MODULES='{}'\nLIMIT_S={}\nFIRST={first}\n", job.modules, job.limit_s);
    fs::write(shared.join("environment"), environment).context("cannot write to a new folder")?;
    // Reading what a debugger wants would take the emulated CPU a while.
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(shared.join("basalt")).arg(job.program);
    process::must_succeed(&mut strip)
}

fn qemu(image: &Image, shared: &Path, machine: Machine, host: Option<&Host>) -> Command {
    let drive = "if=none,id=root,format=raw,snapshot=on,cache=unsafe,file=";
    let folder = "mount_tag=lab,security_model=none,multidevs=remap,path=";
    let mut command = Command::new("qemu-system-x86_64");
    let clock = match machine.cpu {
        Cpu::Free => {
            command.args(["-accel", "tcg,thread=multi", "-smp", "2"]);
            FREE_CLOCK
        }
        Cpu::Counted => {
            command.args(["-accel", "tcg,thread=single", "-smp", "1"]);
            command.args(["-icount", "shift=0,sleep=on"]);
            COUNTED_CLOCK
        }
    };
    command
        .args(["-M", "q35,usb=off,vmport=off"])
        .args(["-cpu", &cpu_model(), "-m", &machine.memory_mib.to_string()])
        .args(["-nodefaults", "-display", "none", "-no-reboot", "-net", "none"])
        .arg("-kernel")
        .arg(image.kernel())
        .arg("-initrd")
        .arg(image.initrd())
        .args(["-append", &format!("{KERNEL_COMMAND_LINE} {clock}{}", memory_map(machine))])
        .arg("-drive")
        .arg(format!("{drive}{}", image.root().display()))
        .args(["-device", "virtio-blk-pci,drive=root"])
        .arg("-virtfs")
        .arg(format!("local,{folder}{}", shared.display()))
        .arg("-chardev")
        .arg(format!("file,id=console,path={}", shared.join("console").display()))
        .args(["-serial", "chardev:console"])
        .args(["-chardev", "stdio,id=output,signal=off", "-device", "virtio-serial-pci"])
        .args(["-device", "virtconsole,chardev=output", "-device", "virtio-rng-pci"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if machine.disk_gib > 0 {
        let disk = shared.join(DISK);
        let drive = "if=none,id=disk,format=raw,cache=unsafe,discard=unmap,file=";
        command.args(["-drive", &format!("{drive}{}", disk.display())]);
        command.args(["-device", "virtio-blk-pci,drive=disk"]);
    }
    if let Some(host) = host {
        let memory = machine.memory_mib;
        command.args(["-object", &format!("memory-backend-memfd,id=ram,share=on,size={memory}M")]);
        command.args(["-machine", "memory-backend=ram"]);
        let socket = host.socket();
        command.arg("-chardev");
        command.arg(format!("socket,id=volume,reconnect=1,path={}", socket.display()));
        command.args(["-device", "vhost-user-blk-pci,chardev=volume,num-queues=2"]);
    }
    command
}

/// A part of the memory that the kernel takes for persistent.
fn memory_map(machine: Machine) -> String {
    match machine.persistent_mib {
        0 => String::new(),
        mib => format!(" memmap={mib}M!1G"),
    }
}

/// The kernel chooses by it how it copies and clears memory, which counts where instructions do.
fn cpu_model() -> String {
    std::env::var("BASALT_GUEST_CPU").unwrap_or_else(|_unset| "max,-la57".to_owned())
}

fn read_lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n') {
            let Ok(line) = line else { return };
            if sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

/// Prints what the guest says; false when it does not end in time.
fn pass_on(chapter: &str, lines: &Receiver<String>, limit: Duration) -> bool {
    let watch = process::Stopwatch::start();
    loop {
        match lines.recv_timeout(limit.saturating_sub(watch.elapsed())) {
            Ok(line) => println!("    {chapter}: {line}"),
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

fn show_console(chapter: &str, console: &str) {
    let lines: Vec<&str> = console.lines().collect();
    println!("guest: {chapter}: the end of its console:");
    for line in &lines[lines.len().saturating_sub(CONSOLE_TAIL_LINES)..] {
        println!("    {chapter}: {}", line.trim_end());
    }
}

/// Ends with us, whatever happens.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        // It has usually ended long ago.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
