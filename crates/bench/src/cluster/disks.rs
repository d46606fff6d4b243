//! A node's disk that a test can fail: a file behind a file system of this process.
//!
//! The daemon uses a file of a FUSE mount, as it uses one on any other file system: with
//! `O_DIRECT`, through its ring. What it writes lands in a backing file, and what it may lose is
//! remembered beside it. A daemon that is killed loses nothing of that: the power has to be cut.

mod fuse;
mod store;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use io::clock;
use stdx::mutex::lock;
use stdx::random::Random;

pub(crate) use self::store::Refusal;
use self::store::Store;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Disks {
    /// Files where the nodes are
    Plain,
    /// What was not flushed is lost when the power is cut, each 4 KiB of a write or not
    Volatile,
    /// Flushes of the data are acknowledged and do nothing: the checker has to notice
    Lying,
    /// Reads, writes and flushes are refused for a while
    Failing,
}

/// A mounted disk; unmounted when this is dropped.
#[derive(Debug)]
pub(crate) struct Disk {
    point: PathBuf,
    store: Arc<Mutex<Store>>,
}

impl Disk {
    /// Puts `backing` behind a new file at `point`. Of a lying disk the first `data_bytes` lie.
    pub(super) fn mount(
        backing: &Path,
        point: &Path,
        kind: Disks,
        data_bytes: u64,
    ) -> Result<Self> {
        let file = File::options().read(true).write(true).open(backing);
        let file = file.with_context(|| format!("cannot open {}", backing.display()))?;
        let lies_below = if kind == Disks::Lying { data_bytes } else { 0 };
        let store =
            Arc::new(Mutex::new(Store::new(file, lies_below, Random::new(clock::random_u64()))?));
        File::create_new(point).with_context(|| format!("cannot make {}", point.display()))?;
        let device = fuse::mount(point, NAME);
        let device = device.context("cannot mount a disk: such ones need FUSE, and root")?;
        // It ends when the disk is unmounted.
        thread::spawn({
            let store = Arc::clone(&store);
            move || serve(&device, &store)
        });
        Ok(Self { point: point.to_owned(), store })
    }

    /// Everything that was not flushed is lost, but for what a draw keeps. Nobody may use it now.
    pub(super) fn cut_power(&self) -> Result<()> {
        self.store().cut_power().context("cannot cut the power of a disk")
    }

    /// From now on it refuses so.
    pub(super) fn refuse(&self, refusal: Option<Refusal>) {
        self.store().refusal = refusal;
    }

    /// How many requests it has refused.
    pub(super) fn refused(&self) -> u64 {
        self.store().refused
    }

    /// How many bytes were lost with the power.
    pub(super) fn lost_bytes(&self) -> u64 {
        self.store().lost_bytes
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        unmount(&self.point);
    }
}

/// What mounts are listed under.
const NAME: &str = "basalt-disk";

/// A disk that lost its cache is busy with itself: who asked for the flush hears of that before
/// anybody reads what is left.
const RESET_TIME: Duration = Duration::from_millis(10);

/// Until it is unmounted.
fn serve(mut device: &File, store: &Mutex<Store>) {
    let mut room = fuse::room();
    while let Some(request) = fuse::next(device, &mut room) {
        let is_flush = request.opcode() == fuse::FSYNC;
        let Some(reply) = fuse::answer(request, &mut *lock(store)) else { continue };
        // Nobody waits any more for a request that the kernel gave up.
        device.write_all(&reply).ok();
        let is_refusal = reply[4..8] != [0; 4];
        if is_flush && is_refusal {
            thread::park_timeout(RESET_TIME);
        }
    }
}

/// What a process that was killed left mounted below `directory`.
pub(super) fn unmount_leftovers(directory: &Path) {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    for line in mounts.lines() {
        let mut words = line.split(' ');
        let (Some(NAME), Some(point)) = (words.next(), words.next()) else { continue };
        if Path::new(point).starts_with(directory) {
            unmount(Path::new(point));
        }
    }
}

/// Lazily: a daemon that is on its way out may hold it a moment longer.
fn unmount(point: &Path) {
    let mut command = Command::new("umount");
    command.arg("-l").arg(point).stdin(Stdio::null()).stderr(Stdio::null());
    // One that cannot be unmounted is left to whoever looks at the directory.
    command.status().ok();
}
