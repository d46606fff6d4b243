//! FUSE, as far as one file needs it that is the root of its own mount.
//!
//! ```text
//! request   length(4) opcode(4) unique(8) node(8) uid(4) gid(4) pid(4) more(4), then the body
//! reply     length(4) error(4) unique(8), then the body; an error is a negative errno
//! ```
//! Requests are answered one by one, in the order in which the kernel gives them out. The numbers
//! are those of the kernel's `fuse.h`; what is not known here is refused with `ENOSYS`, which the
//! kernel takes for "not there" and does not ask again.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;

const REQUEST_HEADER_BYTES: usize = 40;
const REPLY_HEADER_BYTES: usize = 16;
/// Before the bytes of a write.
const WRITE_BODY_BYTES: usize = 40;
/// The most that one request carries.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;
const PAGE_BYTES: u32 = 4096;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOENT: i32 = 2;
const EAGAIN: i32 = 11;
const ENOSYS: i32 = 38;

const FORGET: u32 = 2;
const GETATTR: u32 = 3;
pub(crate) const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
pub(crate) const FSYNC: u32 = 20;
pub(crate) const INIT: u32 = 26;
const BATCH_FORGET: u32 = 42;

/// Several reads or writes of one request may be on their way; writes larger than a page; more
/// pages per request; asynchronous direct requests.
const INIT_FLAGS: u32 = 1 | 1 << 5 | 1 << 22 | 1 << 15;
/// Past the page cache, and several writes at a time.
const OPEN_FLAGS: u32 = 1 | 1 << 6;
/// Of a file, and of a write with `RWF_DSYNC`.
const O_DSYNC: u32 = 0o10000;
const MODE: u32 = 0o100_600;

/// The mount's root is the file itself, of which root is the only user.
const OPTIONS: &str = "fd=0,rootmode=100600,user_id=0,group_id=0";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    WithNextFlush,
    Now,
}

/// What the file has; an error reaches who asked as its errno.
pub(crate) trait Contents {
    fn size_bytes(&self) -> u64;
    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
    fn write(&mut self, offset: u64, bytes: &[u8], durability: Durability) -> io::Result<()>;
    fn flush(&mut self) -> io::Result<()>;
}

/// Puts such a file over the one at `point`, and gives what its requests come from.
pub(crate) fn mount(point: &Path, name: &str) -> io::Result<File> {
    let device = File::options().read(true).write(true).open("/dev/fuse")?;
    let mut command = Command::new("mount");
    command.args(["-i", "-t", "fuse", "-o", OPTIONS, name]).arg(point);
    // The mount holds on to the descriptor that the program has as its input.
    let output = command.stdin(device.try_clone()?).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{command:?} failed: {}", said.trim())));
    }
    Ok(device)
}

/// A request of the kernel, whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a>(&'a [u8]);

/// Where requests are read into.
pub(crate) fn room() -> Vec<u8> {
    vec![0; TRANSFER_BYTES_MAX as usize + 2 * PAGE_BYTES as usize]
}

/// The next request; none once the file is unmounted.
pub(crate) fn next<'a>(mut device: &File, room: &'a mut [u8]) -> Option<Request<'a>> {
    loop {
        match device.read(room) {
            Ok(length) => return Some(Request(&room[..length])),
            // One that was taken back meanwhile.
            Err(error) if matches!(error.raw_os_error(), Some(ENOENT | EINTR | EAGAIN)) => {}
            Err(_) => return None,
        }
    }
}

impl Request<'_> {
    pub(crate) fn opcode(self) -> u32 {
        u32_at(self.0, 4)
    }
}

/// The reply; none where the kernel expects none.
pub(crate) fn answer(request: Request<'_>, contents: &mut impl Contents) -> Option<Vec<u8>> {
    let body = request.0.get(REQUEST_HEADER_BYTES..)?;
    let result = match request.opcode() {
        FORGET | BATCH_FORGET => return None,
        INIT => Ok(on_init()),
        GETATTR => Ok(attributes(contents.size_bytes())),
        OPEN => Ok(on_open()),
        READ => on_read(body, contents),
        WRITE => on_write(body, contents),
        FSYNC => contents.flush().map(|()| Vec::new()),
        STATFS => Ok(on_statfs()),
        RELEASE => Ok(Vec::new()),
        _ => Err(io::Error::from_raw_os_error(ENOSYS)),
    };
    let (error, body) = match result {
        Ok(body) => (0, body),
        Err(error) => (-error.raw_os_error().unwrap_or(EIO), Vec::new()),
    };
    let length = u32::try_from(REPLY_HEADER_BYTES + body.len()).expect("a reply of bounded length");
    let mut reply = Vec::with_capacity(REPLY_HEADER_BYTES + body.len());
    reply.extend(length.to_le_bytes());
    reply.extend(error.to_le_bytes());
    reply.extend(&request.0[8..16]);
    reply.extend(body);
    Some(reply)
}

fn on_init() -> Vec<u8> {
    let mut body = Vec::new();
    // Version 7.31, read ahead 0, flags.
    words(&mut body, &[7, 31, 0, INIT_FLAGS]);
    // Requests in the background: at most 64, congested from 48 on.
    body.extend(64_u16.to_le_bytes());
    body.extend(48_u16.to_le_bytes());
    // The largest write, and times to the nanosecond.
    words(&mut body, &[TRANSFER_BYTES_MAX, 1]);
    let pages = u16::try_from(TRANSFER_BYTES_MAX / PAGE_BYTES).expect("256 pages");
    body.extend(pages.to_le_bytes());
    body.resize(64, 0);
    body
}

fn attributes(size_bytes: u64) -> Vec<u8> {
    let mut body = vec![0; 16];
    // Inode, size, blocks of 512 bytes, three times of which none is known.
    for number in [1, size_bytes, size_bytes / 512, 0, 0, 0] {
        body.extend(number.to_le_bytes());
    }
    // Three parts of times, mode, links, user, group, device, block size, flags.
    words(&mut body, &[0, 0, 0, MODE, 1, 0, 0, 0, PAGE_BYTES, 0]);
    body
}

fn on_open() -> Vec<u8> {
    let mut body = vec![0; 8];
    words(&mut body, &[OPEN_FLAGS, 0]);
    body
}

fn on_read(body: &[u8], contents: &mut impl Contents) -> io::Result<Vec<u8>> {
    let offset = u64_at(body, 8);
    let length = u64::from(u32_at(body, 16)).min(contents.size_bytes().saturating_sub(offset));
    contents.read(offset, usize::try_from(length).expect("at most a transfer"))
}

fn on_write(body: &[u8], contents: &mut impl Contents) -> io::Result<Vec<u8>> {
    let (offset, length) = (u64_at(body, 8), u32_at(body, 16));
    let bytes = &body[WRITE_BODY_BYTES..][..length as usize];
    let is_durable = u32_at(body, 32) & O_DSYNC != 0;
    let durability = if is_durable { Durability::Now } else { Durability::WithNextFlush };
    contents.write(offset, bytes, durability)?;
    let mut body = Vec::new();
    words(&mut body, &[length, 0]);
    Ok(body)
}

/// A file system without any figures.
fn on_statfs() -> Vec<u8> {
    let mut body = vec![0; 40];
    words(&mut body, &[PAGE_BYTES, 255, PAGE_BYTES]);
    body.resize(80, 0);
    body
}

fn words(body: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        body.extend(word.to_le_bytes());
    }
}

/// The kernel sends what its own header says; anything else is a bug that may end this process.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("a request of the kernel is whole"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a request of the kernel is whole"))
}
