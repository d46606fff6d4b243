//! A disk that answers nothing, not even an `open`: whoever asks it waits in the kernel, and cannot
//! be killed. A file system of this process, by FUSE, that takes every request and lets it lie; or
//! one that serves what is below until it is told to fall silent. It takes root, `/dev/fuse`, and
//! the program `mount`.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use stdx::testing::skip;

use crate::fuse::{self, Contents, Durability};

/// In place of a number of opens: after the first request none is taken any more.
const STOPPED: i64 = i64::MIN + 1;

/// A file that became such a disk, until this is dropped.
pub(crate) struct Deaf {
    point: PathBuf,
    /// How often it may be opened until it answers nothing any more.
    opens_left: Arc<AtomicI64>,
}

impl Deaf {
    /// From the beginning. `None`, and the test is skipped, where this may not be done.
    pub(crate) fn at(point: &Path) -> Option<Self> {
        Self::mount(point, i64::MIN)
    }

    /// Once it falls silent: what the file has is there, and may be changed.
    pub(crate) fn in_time(point: &Path) -> Option<Self> {
        Self::mount(point, i64::MAX)
    }

    /// A file system whose process stands still: who waits for it can be ended, as with NFS.
    pub(crate) fn stopped_at(point: &Path) -> Option<Self> {
        Self::mount(point, STOPPED)
    }

    /// One that is deaf from the beginning answers the kernel's first request all the same.
    fn mount(point: &Path, opens: i64) -> Option<Self> {
        let below = File::options().read(true).write(true).open(point).unwrap();
        let device = match fuse::mount(point, "deaf-disk") {
            Ok(device) => device,
            Err(error) => {
                skip(&format!("a disk that answers nothing takes root and /dev/fuse: {error}"));
                return None;
            }
        };
        let opens_left = Arc::new(AtomicI64::new(opens));
        let left = Arc::clone(&opens_left);
        let done = Arc::downgrade(&opens_left);
        std::thread::spawn(move || {
            serve(&device, Below(below), &left);
            drop(left);
            // Open until the mount goes.
            while done.strong_count() > 0 {
                std::thread::park_timeout(std::time::Duration::from_millis(50));
            }
        });
        Some(Self { point: point.to_owned(), opens_left })
    }

    /// It answers nothing from now on.
    pub(crate) fn fall_silent(&self) {
        self.opens_left.store(i64::MIN, Ordering::SeqCst);
    }

    /// Whether somebody waits for it since.
    pub(crate) fn is_silent(&self) -> bool {
        self.opens_left.load(Ordering::SeqCst) < 0
    }

    /// It is opened so often from now on, and answers nothing after that.
    pub(crate) fn fall_silent_after_opens(&self, opens: i64) {
        self.opens_left.store(opens, Ordering::SeqCst);
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        // By force: all that wait get an error, and can end.
        for option in ["-f", "-l"] {
            drop(Command::new("umount").arg(option).arg(&self.point).output());
        }
    }
}

/// Until it is unmounted. A request that it lets lie is not answered later either.
fn serve(mut device: &File, mut below: Below, opens_left: &AtomicI64) {
    let mut room = fuse::room();
    while let Some(request) = fuse::next(device, &mut room) {
        let is_silent = if request.opcode() == fuse::OPEN {
            // One that is silent stays so, however often it is opened.
            let fewer = |left: i64| Some(left.saturating_sub(1));
            opens_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).unwrap() <= 0
        } else {
            opens_left.load(Ordering::SeqCst) < 0
        };
        // Without an answer to the first one there is no file.
        if is_silent && request.opcode() != fuse::INIT {
            continue;
        }
        let Some(reply) = fuse::answer(request, &mut below) else { continue };
        // Nobody waits any more for a request that the kernel gave up.
        drop(device.write_all(&reply));
        if opens_left.load(Ordering::SeqCst) == STOPPED {
            return;
        }
    }
}

/// What the file has that it lies over.
struct Below(File);

impl Contents for Below {
    fn size_bytes(&self) -> u64 {
        self.0.metadata().unwrap().len()
    }

    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], _: Durability) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
