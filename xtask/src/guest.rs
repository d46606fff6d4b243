//! `guest`: chapters that need a kernel of their own, run as root in a Debian guest under QEMU.
//!
//! A chapter is a bash script in tests/guest. It gets our binary, `lib.sh`, and the tools of the
//! image; it passes when it exits with zero. The guest's CPU is emulated, so nothing here measures
//! time; `build-image` says what is in the image, which is kept outside of the clone.

mod image;
mod machine;
mod host;

use crate::outcome::Outcome;
use crate::packages::{self, Package};
use crate::process::Stopwatch;
use crate::test::basalt;
use crate::test::scratch::Scratch;
use crate::{metadata, package, process};
use anyhow::{Result, bail};
use image::Image;
use machine::{Cpu, End, First, Job, Machine};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;

pub(crate) const PACKAGES: &[Package] = &[
    ("qemu-system-x86", "a guest with a kernel of its own"),
    ("mmdebstrap", "the user land of the guest"),
    ("busybox-static", "the initrd of the guest"),
    ("cpio", "the initrd of the guest"),
    ("dpkg-dev", "the libraries that a Debian package depends on"),
    ("kmod", "the modules of the guest"),
    ("xz-utils", "the modules of the guest"),
    ("e2fsprogs", "the root of the guest"),
    ("binutils", "a smaller binary for the guest"),
    ("iproute2", "a network of the host's nodes"),
    ("jq", "what the host's nodes say"),
];

#[derive(Debug)]
struct Chapter {
    /// The script is `NAME.sh`.
    name: &'static str,
    about: &'static str,
    modules: &'static str,
    limit_s: u32,
    /// What the guest has.
    machine: Machine,
    /// Are the nodes on the host, and the volume a disk of the guest?
    is_on_host: bool,
    /// Does it find our Debian package, too?
    has_package: bool,
    /// Part of `cargo xtask test` too?
    is_short: bool,
}

const PLAIN: Chapter = Chapter {
    name: "",
    about: "",
    modules: "",
    limit_s: 240,
    machine: Machine::PLAIN,
    is_on_host: false,
    has_package: false,
    is_short: false,
};

const CHAPTERS: &[Chapter] = &[
    Chapter {
        name: "ublk",
        about: "our block devices: ext4, recovery, trim, and a node that was overtaken",
        modules: "ublk_drv ext4",
        is_short: true,
        ..PLAIN
    },
    Chapter {
        name: "ublk-xfs",
        about: "our block devices: xfs, odd sectors, zeroing, discard, removal by force",
        modules: "ublk_drv xfs",
        limit_s: 600,
        ..PLAIN
    },
    Chapter {
        name: "supervisor",
        about: "our block devices when no daemon comes back: errors in time, and the device goes",
        modules: "ublk_drv ext4",
        limit_s: 300,
        ..PLAIN
    },
    Chapter {
        name: "ublk-stuck",
        about: "our block devices without a quorum: whoever wants one to go is answered in time",
        modules: "ublk_drv",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "restarts",
        about: "a daemon that is restarted fifty times under a load: how long its clients wait",
        modules: "ublk_drv dm-mod",
        limit_s: 900,
        ..PLAIN
    },
    Chapter {
        name: "power-cut",
        about: "all nodes lose power at moments of all kinds: what was synced is there",
        modules: "ublk_drv ext4 dm-mod dm-log-writes loop",
        limit_s: 900,
        ..PLAIN
    },
    Chapter {
        name: "reboot",
        about: "a machine with a mounted volume is told to reboot: systemd's order, and our unit",
        modules: "ublk_drv ext4",
        machine: Machine { first: First::Systemd, ..Machine::PLAIN },
        ..PLAIN
    },
    Chapter {
        name: "package",
        about: "our package under systemd: an upgrade while a file system on a volume is written",
        // Our unit loads ublk_drv.
        modules: "ext4",
        machine: Machine { first: First::Systemd, ..Machine::PLAIN },
        has_package: true,
        ..PLAIN
    },
    Chapter {
        name: "memory",
        about: "512 MiB of memory, swap on our volume, and 2 GiB written to a file system there",
        modules: "ublk_drv dm-mod ext4",
        limit_s: 900,
        machine: Machine { memory_mib: 512, disk_gib: 10, ..Machine::PLAIN },
        ..PLAIN
    },
    Chapter {
        name: "nbd",
        about: "the kernel's NBD client: ext4, trim, and nodes that die under it",
        modules: "nbd ext4",
        is_short: true,
        ..PLAIN
    },
    Chapter {
        name: "vhost",
        about: "a disk over vhost-user: ext4, trim, and daemons that die under it",
        modules: "ext4",
        limit_s: 300,
        is_on_host: true,
        is_short: true,
        ..PLAIN
    },
    Chapter {
        name: "nvme",
        about: "the kernel's NVMe/TCP initiator: ext4, trim, and another path when a node dies",
        modules: "nvme-tcp ext4",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "nvme-auth",
        about: "the kernel's NVMe/TCP initiator proves that it knows a secret, on every path",
        modules: "nvme-tcp ext4",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "iscsi",
        about: "our block devices by the kernel's iSCSI target: ext4, trim, daemons that die",
        modules: "ublk_drv ext4 sd_mod target_core_iblock iscsi_target_mod iscsi_tcp",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "volumes",
        about: "two volumes in one resource: ext4 on one with its journal on the other",
        modules: "ublk_drv nvme-tcp ext4",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "database",
        about: "PostgreSQL on ublk, NVMe/TCP and NBD, with ext4 and xfs: nodes die under it",
        modules: "ublk_drv nvme-tcp nbd ext4 xfs",
        limit_s: 1500,
        ..PLAIN
    },
    Chapter {
        name: "database-vhost",
        about: "PostgreSQL on a disk over vhost-user: daemons die under it",
        modules: "ext4 xfs",
        limit_s: 600,
        is_on_host: true,
        ..PLAIN
    },
    Chapter {
        name: "agent",
        about: "DRBD's own agent for cluster managers, and its completion of bash, by our links",
        modules: "ublk_drv ext4",
        limit_s: 480,
        ..PLAIN
    },
    Chapter {
        name: "pmem",
        about: "metadata on persistent memory: what it saves, and what a kill leaves",
        modules: "ublk_drv ext4",
        limit_s: 480,
        machine: Machine { cpu: Cpu::Counted, persistent_mib: 64, ..Machine::PLAIN },
        ..PLAIN
    },
    Chapter {
        name: "links",
        about: "sequential reads over slow links: three replicas, md RAID10 over NVMe/TCP",
        modules: "ublk_drv nvme-tcp",
        limit_s: 600,
        machine: Machine { cpu: Cpu::Counted, ..Machine::PLAIN },
        ..PLAIN
    },
    Chapter {
        name: "cost",
        about: "thousand instructions per request: ours, DRBD 8.4, md RAID10 over NVMe/TCP",
        modules: "ublk_drv nbd nvme-tcp",
        limit_s: 1200,
        machine: Machine { cpu: Cpu::Counted, ..Machine::PLAIN },
        ..PLAIN
    },
];

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    if words == ["--list"] {
        for chapter in CHAPTERS {
            println!("{:<18} {}", chapter.name, chapter.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (program, words) = match words {
        ["--program", path, words @ ..] => (Some(Path::new(*path)), words),
        words => (None, words),
    };
    let mut chosen = Vec::new();
    for word in words {
        let Some(chapter) = CHAPTERS.iter().find(|chapter| chapter.name == *word) else {
            let names: Vec<&str> = chapters().collect();
            bail!("there is no chapter `{word}`; the chapters are: {}", names.join(", "));
        };
        chosen.push(chapter);
    }
    if chosen.is_empty() {
        chosen = CHAPTERS.iter().collect();
    }
    packages::ensure(PACKAGES)?;
    let program = program.map_or_else(build, |path| Ok(path.to_owned()))?;
    let outcome = run_chapters(&chosen, &program)?;
    println!("{outcome}");
    Ok(outcome.exit_code())
}

fn build() -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--package", "basalt"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    Ok(metadata::read()?.target_directory.join("release/basalt"))
}

/// The names of all chapters.
pub(crate) fn chapters() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().map(|chapter| chapter.name)
}

/// The chapters that `cargo xtask test` runs, with the binary of all its steps.
pub(crate) fn short() -> Result<Outcome> {
    let chosen: Vec<&Chapter> = CHAPTERS.iter().filter(|chapter| chapter.is_short).collect();
    run_chapters(&chosen, &basalt::program()?)
}

/// Every chapter, as a step of `test`.
pub(crate) fn all() -> Result<Outcome> {
    run_chapters(&CHAPTERS.iter().collect::<Vec<_>>(), &basalt::program()?)
}

/// Guests that run at once: each waits for boots and for timeouts much of its time.
const GUESTS: usize = 2;

/// How often a guest whose kernel dies at boot is tried.
const BOOTS: usize = 3;

fn run_chapters(chapters: &[&Chapter], program: &Path) -> Result<Outcome> {
    let image = Image::ensure()?;
    // The longest one begins first, so that none is left over at the end.
    let mut waiting = chapters.to_vec();
    waiting.sort_by_key(|chapter| chapter.limit_s);
    let waiting = Mutex::new(waiting);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || -> Result<Outcome> {
        let mut sum = Outcome::default();
        while let Some(chapter) = next() {
            sum += run_chapter(chapter, &image, program)?;
        }
        Ok(sum)
    };
    thread::scope(|scope| -> Result<Outcome> {
        let guests: Vec<_> = (0..GUESTS).map(|_| scope.spawn(work)).collect();
        let mut sum = Outcome::default();
        for guest in guests {
            let Ok(outcome) = guest.join() else { bail!("a guest's thread panicked") };
            sum += outcome?;
        }
        Ok(sum)
    })
}

fn run_chapter(chapter: &Chapter, image: &Image, program: &Path) -> Result<Outcome> {
    println!("guest: {}: {}", chapter.name, chapter.about);
    let made = Scratch::new(&format!("package-for-{}", chapter.name))?;
    let package =
        chapter.has_package.then(|| package::make_deb(program, made.path())).transpose()?;
    let watch = Stopwatch::start();
    let job = Job {
        chapter: chapter.name,
        modules: chapter.modules,
        limit_s: chapter.limit_s,
        machine: chapter.machine,
        is_on_host: chapter.is_on_host,
        package: package.as_deref(),
        program,
    };
    let mut end = machine::run(image, &job)?;
    // An emulated CPU runs code, now and then, that the kernel is just patching: it panics.
    for _ in 1..BOOTS {
        if end != End::NeverBooted {
            break;
        }
        println!("guest: {}: its kernel died before it began; once more", chapter.name);
        end = machine::run(image, &job)?;
    }
    let seconds = watch.elapsed().as_secs_f64();
    println!("guest: {}: {end} after {seconds:.1} s", chapter.name);
    Ok(if end == End::Exit(0) { Outcome::PASSED } else { Outcome::FAILED })
}
