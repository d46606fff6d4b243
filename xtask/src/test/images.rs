//! File systems with real files, copied into a volume whose nodes die one after the other.
//!
//! The files are the sources that cargo unpacked. An image of them is copied in while one secondary
//! dies. It is copied in once more, and the node that serves dies under it: the same bytes were on
//! their way, so the node that takes over must show the image whole. The third node dies in a third
//! copy. What is read back at the end has to be the image, and a clean file system.

mod files;

use super::puppet::Puppet;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::process::{self, Stopwatch};
use anyhow::{Context as _, Result, ensure};
use files::Tree;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

const FILES_MIN: usize = 5000;
/// mkfs.xfs makes nothing smaller than 300 MiB.
const SIZE_MIB: u64 = 320;
/// How much of an image has been copied when a node dies.
const KILL_AT_PERCENT: u32 = 10;

#[derive(Clone, Copy, Debug)]
enum FileSystem {
    Ext4,
    Xfs,
}

pub(super) fn run() -> Result<Outcome> {
    let scratch = Scratch::new("images")?;
    let tree = Tree::of_cargo_sources(&scratch.path().join("tree"), FILES_MIN)?;
    println!("{} files in {} folders", tree.files.len(), tree.folders.len());
    let mut outcome = Outcome::default();
    for system in [FileSystem::Ext4, FileSystem::Xfs] {
        let watch = Stopwatch::start();
        outcome += match survive(system, &tree, scratch.path()) {
            Ok(()) => Outcome::PASSED,
            Err(error) => {
                println!("{system:?}: {error:#}");
                Outcome::FAILED
            }
        };
        println!("{system:?}: {outcome} after {:.1} s", watch.elapsed().as_secs_f64());
    }
    Ok(outcome)
}

fn survive(system: FileSystem, tree: &Tree, scratch: &Path) -> Result<()> {
    let mut puppet = Puppet::start(SIZE_MIB)?;
    let image = make_image(system, tree, scratch, export_bytes(puppet.uri(0))?)?;

    copy_while_another_dies(&image, &mut puppet, 0, 1)?;
    compare(&image, puppet.uri(0))?;

    let copy = Copy::begin(&image, puppet.uri(0))?;
    puppet.kill(0)?;
    println!("nbdcopy loses its server now, and says so");
    let status = copy.finish()?;
    ensure!(!status.success(), "the copy had ended before its server died");
    compare(&image, puppet.uri(1))?;
    puppet.restart(0)?;
    puppet.wait_until_whole(1)?;

    copy_while_another_dies(&image, &mut puppet, 1, 2)?;

    let back = scratch.join("back");
    process::must_succeed(Command::new("nbdcopy").arg(puppet.uri(2)).arg(&back))?;
    compare(&image, back.to_str().context("the path of a scratch directory")?)?;
    check(system, &back)?;
    remove(&image)?;
    remove(&back)?;
    puppet.compare()
}

/// The copy must not notice.
fn copy_while_another_dies(
    image: &Path,
    puppet: &mut Puppet,
    server: usize,
    victim: usize,
) -> Result<()> {
    let mut copy = Copy::begin(image, puppet.uri(server))?;
    puppet.kill(victim)?;
    ensure!(copy.is_running()?, "the copy had ended before node {victim} died");
    puppet.restart(victim)?;
    let status = copy.finish()?;
    ensure!(status.success(), "nbdcopy failed: {status}");
    puppet.wait_until_whole(server)
}

fn export_bytes(uri: &str) -> Result<u64> {
    let size = process::output(Command::new("nbdinfo").args(["--size", uri]))?;
    size.trim().parse().with_context(|| format!("nbdinfo tells the size {size:?}"))
}

/// An image as large as the volume, so that every byte of the volume is compared.
fn make_image(system: FileSystem, tree: &Tree, scratch: &Path, bytes: u64) -> Result<PathBuf> {
    let image = scratch.join("image");
    File::create(&image)
        .and_then(|file| file.set_len(bytes))
        .with_context(|| format!("cannot make {}", image.display()))?;
    let mut command = match system {
        FileSystem::Ext4 => {
            let mut command = Command::new("mkfs.ext4");
            command.args(["-q", "-F", "-N", "20000", "-d"]).arg(&tree.root);
            command
        }
        FileSystem::Xfs => {
            let prototype = scratch.join("prototype");
            fs::write(&prototype, tree.xfs_prototype())
                .with_context(|| format!("cannot write {}", prototype.display()))?;
            let mut command = Command::new("mkfs.xfs");
            // In more and smaller groups, files and their folders run out of one while another
            // is empty.
            command.args(["-q", "-f", "-d", "agcount=2", "-p"]).arg(&prototype);
            command
        }
    };
    process::must_succeed(command.arg(&image))?;
    Ok(image)
}

/// Every byte equal; what is allocated on either side does not matter.
fn compare(image: &Path, with: &str) -> Result<()> {
    let mut command = Command::new("qemu-img");
    command.args(["compare", "-f", "raw", "-F", "raw"]).arg(image).arg(with);
    process::must_succeed(&mut command)
}

fn check(system: FileSystem, image: &Path) -> Result<()> {
    let mut command = match system {
        FileSystem::Ext4 => Command::new("e2fsck"),
        FileSystem::Xfs => Command::new("xfs_repair"),
    };
    match system {
        FileSystem::Ext4 => command.arg("-fn"),
        FileSystem::Xfs => command.args(["-n", "-f"]),
    };
    let output = command.arg(image).output().context("cannot start the check")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{command:?} is not content: {}\n{said}", output.status);
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
}

/// An nbdcopy into the volume; small requests, few at a time, so that a node can die meanwhile.
struct Copy {
    child: Child,
    /// Kept open: what it writes there fits into a pipe.
    progress: BufReader<ChildStdout>,
}

impl Copy {
    /// Starts it, and returns when some of the image has been copied.
    fn begin(image: &Path, uri: &str) -> Result<Self> {
        let mut command = Command::new("nbdcopy");
        command.args(["--flush", "--connections=1", "--requests=2", "--request-size=16384"]);
        command.args(["--progress=1"]).arg(image).arg(uri).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start nbdcopy")?;
        let progress = child.stdout.take().context("a piped child has an output")?;
        let mut copy = Self { child, progress: BufReader::new(progress) };
        while copy.next_percent()? < KILL_AT_PERCENT {}
        Ok(copy)
    }

    /// Reads the next line of its progress, like `7/100`.
    fn next_percent(&mut self) -> Result<u32> {
        let mut line = String::new();
        self.progress.read_line(&mut line).context("cannot read the progress of nbdcopy")?;
        let percent = line.split_once('/').and_then(|(percent, _)| percent.parse().ok());
        percent.with_context(|| format!("nbdcopy tells the progress {line:?}"))
    }

    fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait().context("cannot look after nbdcopy")?.is_none())
    }

    fn finish(mut self) -> Result<ExitStatus> {
        self.child.wait().context("cannot wait for nbdcopy")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // It has usually ended long ago.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
