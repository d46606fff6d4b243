//! A disk that answers nothing, not even an `open`: whoever asks it waits in the kernel, and cannot
//! be killed. A file system of this process, by FUSE, that takes every request and lets it lie; or
//! one that serves what is below until it is told to fall silent. It takes root, `/dev/fuse`, and
//! the program `mount`.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const REQUEST_BYTES_MAX: usize = (1 << 20) + 8192;
const REQUEST_HEADER_BYTES: usize = 40;

const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FSYNC: u32 = 20;
const INIT: u32 = 26;
const ENOSYS: i32 = 38;

/// In place of a number of opens: after the first request none is taken any more.
const STOPPED: i64 = i64::MIN + 1;

/// A file that became such a disk, until this is dropped.
pub(crate) struct Deaf {
    point: PathBuf,
    /// How often it may be opened until it answers nothing any more.
    opens_left: Arc<AtomicI64>,
}

impl Deaf {
    /// From the beginning. `None` where this may not be done.
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
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-i", "-t", "fuse", "deaf-disk"]).arg(point);
        mount.args(["-o", "fd=0,rootmode=100600,user_id=0,group_id=0"]);
        // The mount holds on to the descriptor that the program has as its input.
        let output = mount.stdin(device.try_clone().unwrap()).output().ok()?;
        if !output.status.success() {
            return None;
        }
        let opens_left = Arc::new(AtomicI64::new(opens));
        let left = Arc::clone(&opens_left);
        let done = Arc::downgrade(&opens_left);
        std::thread::spawn(move || {
            serve(&device, &below, &left);
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
fn serve(mut device: &File, below: &File, opens_left: &AtomicI64) {
    let mut room = vec![0; REQUEST_BYTES_MAX];
    loop {
        let length = match device.read(&mut room) {
            Ok(length) => length,
            // A request that was taken back meanwhile.
            Err(error) if matches!(error.raw_os_error(), Some(2 | 4 | 11)) => continue,
            Err(_) => return,
        };
        let request = &room[..length];
        let opcode = u32_at(request, 4);
        let is_silent = if opcode == OPEN {
            opens_left.fetch_sub(1, Ordering::SeqCst) <= 0
        } else {
            opens_left.load(Ordering::SeqCst) < 0
        };
        if is_silent && opcode != INIT {
            continue;
        }
        let result = answer(opcode, &request[REQUEST_HEADER_BYTES..], below);
        let (error, body) = match result {
            Ok(body) => (0, body),
            Err(error) => (-error, Vec::new()),
        };
        let mut reply = u32::try_from(16 + body.len()).unwrap().to_le_bytes().to_vec();
        reply.extend(error.to_le_bytes());
        reply.extend(&request[8..16]);
        reply.extend(body);
        // Nobody waits any more for a request that the kernel gave up.
        drop(device.write_all(&reply));
        if opens_left.load(Ordering::SeqCst) == STOPPED {
            return;
        }
    }
}

/// The body of the reply, or an `errno`.
fn answer(opcode: u32, body: &[u8], below: &File) -> Result<Vec<u8>, i32> {
    let failed = |error: std::io::Error| error.raw_os_error().unwrap_or(5);
    let size = below.metadata().map_err(failed)?.len();
    match opcode {
        INIT => {
            // Version 7.31, no read ahead, large writes, the largest of them.
            let mut body = words(&[7, 31, 0, 1 << 5 | 1 << 15, 48 << 16 | 64, 1 << 20, 1]);
            body.resize(64, 0);
            Ok(body)
        }
        GETATTR => {
            let numbers = [0, 0, 1, size, size / 512, 0, 0, 0];
            let body: Vec<_> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            Ok([body, words(&[0, 0, 0, 0o100_600, 1, 0, 0, 0, 4096, 0])].concat())
        }
        // Past the page cache.
        OPEN => Ok(words(&[0, 0, 1, 0])),
        READ => {
            let (offset, length) = (u64_at(body, 8), u64::from(u32_at(body, 16)));
            let length = length.min(size.saturating_sub(offset));
            let mut bytes = vec![0; usize::try_from(length).unwrap()];
            below.read_exact_at(&mut bytes, offset).map_err(failed)?;
            Ok(bytes)
        }
        WRITE => {
            let (offset, length) = (u64_at(body, 8), u32_at(body, 16));
            below.write_all_at(&body[40..][..length as usize], offset).map_err(failed)?;
            Ok(words(&[length, 0]))
        }
        STATFS => {
            let mut body = vec![0; 40];
            body.extend(words(&[4096, 255, 4096]));
            body.resize(80, 0);
            Ok(body)
        }
        FSYNC | RELEASE => Ok(Vec::new()),
        // The kernel takes it for "not there", and does not ask again.
        _ => Err(ENOSYS),
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
}
