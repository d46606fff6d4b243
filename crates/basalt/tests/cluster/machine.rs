//! A small virtual machine: a monitor that speaks vhost-user, and a driver of two rings in the
//! memory that it shares. Its memory, and the requests that a server kept, outlive a connection.

use std::fs::File;
use std::io::{Error, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use io::descriptors::{receive_files, send_file};
use io::{SharedMemory, eventfd, memory_file, now};

pub(crate) const READ: u32 = 0;
pub(crate) const WRITE: u32 = 1;
pub(crate) const FLUSH: u32 = 4;
pub(crate) const NAME: u32 = 8;
pub(crate) const DISCARD: u32 = 11;

const MEMORY_BYTES: u64 = 4 << 20;
const QUEUES: u16 = 2;
const SIZE: u16 = 32;
/// Of each queue, from its share of the memory on.
const SHARE: u64 = 1 << 20;
const AVAILABLE: u64 = 0x1000;
const USED: u64 = 0x2000;
const HEADERS: u64 = 0x4000;
const DATA: u64 = 0x1_0000;
const DATA_BYTES: u64 = 8192;
/// What the monitor calls the beginning of the memory.
const USER: u64 = 0x5555_0000_0000;

const WAIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);
/// Events, flushes, protocol features, and rings of version 1.
const FEATURES: u64 = 1 << 32 | 1 << 30 | 1 << 29 | 1 << 13 | 1 << 12 | 1 << 9;

pub(crate) struct Machine {
    file: File,
    memory: SharedMemory,
    kept: Option<OwnedFd>,
    rings: Vec<Ring>,
    /// What the server says without being asked.
    channel: Option<UnixStream>,
}

struct Ring {
    at: u64,
    available: u16,
    used: u16,
    free: Vec<u16>,
    kick: Option<File>,
    call: Option<File>,
}

/// An answer of the disk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) head: u16,
    pub(crate) status: u8,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let file = memory_file(MEMORY_BYTES).unwrap();
        let memory = SharedMemory::map(&file, 0, MEMORY_BYTES).unwrap();
        let ring = |queue: u16| Ring {
            at: u64::from(queue) * SHARE,
            available: 0,
            used: 0,
            // Three descriptors each.
            free: (0..SIZE / 3).map(|number| 3 * number).collect(),
            kick: None,
            call: None,
        };
        let rings = (0..QUEUES).map(ring).collect();
        Self { file, memory, kept: None, rings, channel: None }
    }

    /// Attaches the disk, with what was kept; the connection goes on until it is dropped.
    pub(crate) fn attach(&mut self, socket: &Path) -> Result<UnixStream, Error> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(WAIT))?;
        assert_eq!(ask(&stream, 1, &[])?.0 & FEATURES, FEATURES);
        tell(&stream, 16, &0x1229_u64.to_le_bytes(), None)?;
        let (own, other) = UnixStream::pair()?;
        own.set_read_timeout(Some(WAIT))?;
        tell(&stream, 21, &[], Some(other.as_fd()))?;
        self.channel = Some(own);
        tell(&stream, 2, &FEATURES.to_le_bytes(), None)?;
        if self.kept.is_none() {
            let (_, files) = ask(&stream, 31, &self.kept_of(0))?;
            self.kept = files.into_iter().next();
        }
        let kept = self.kept.as_ref().map(AsFd::as_fd);
        let length = File::from(self.kept.as_ref().unwrap().try_clone()?).metadata()?.len();
        tell(&stream, 32, &self.kept_of(length), kept)?;
        Self::shares(&stream, MEMORY_BYTES, &self.file)?;
        for queue in 0..QUEUES {
            self.start(&stream, queue)?;
        }
        // Whoever answers has taken all that was said before.
        ask(&stream, 17, &[])?;
        Ok(stream)
    }

    /// Waits until the server says that its configuration is another one; the size of the disk
    /// that it has then.
    pub(crate) fn hears_of_size(&self, stream: &UnixStream) -> u64 {
        let mut head = [0; 12];
        self.channel.as_ref().unwrap().read_exact(&mut head).unwrap();
        assert_eq!(head, *b"\x02\0\0\0\x01\0\0\0\0\0\0\0");
        let question = [0, 8, 0].map(u32::to_le_bytes).concat();
        tell(stream, 24, &[&question[..], &[0; 8]].concat(), None).unwrap();
        let mut answer = [0; 32];
        (&*stream).read_exact(&mut answer).unwrap();
        512 * u64::from_le_bytes(answer[24..].try_into().unwrap())
    }

    fn kept_of(&self, length: u64) -> Vec<u8> {
        let sizes = [QUEUES, SIZE, 0, 0].map(u16::to_le_bytes).concat();
        [&length.to_le_bytes()[..], &[0; 8], &sizes].concat()
    }

    fn start(&mut self, stream: &UnixStream, queue: u16) -> Result<(), Error> {
        let number = |number: u16| {
            [u32::from(queue).to_le_bytes(), u32::from(number).to_le_bytes()].concat()
        };
        let ring = &mut self.rings[usize::from(queue)];
        tell(stream, 8, &number(SIZE), None)?;
        tell(stream, 10, &number(0), None)?;
        let place = |at: u64| (USER + ring.at + at).to_le_bytes();
        let places = [place(0), place(USED), place(AVAILABLE), [0; 8]].concat();
        tell(stream, 9, &[&number(0), &places[..]].concat(), None)?;
        let (kick, call) = (eventfd()?, eventfd()?);
        let which = u64::from(queue).to_le_bytes();
        tell(stream, 12, &which, Some(kick.as_fd()))?;
        tell(stream, 13, &which, Some(call.as_fd()))?;
        tell(stream, 18, &number(1), None)?;
        (ring.kick, ring.call) = (Some(File::from(kick)), Some(File::from(call)));
        Ok(())
    }

    /// Has whoever writes a signal to a ring's eventfd wait for ever: there is no room for one.
    pub(crate) fn fill_call(&self, queue: usize) {
        let mut call = self.rings[queue].call.as_ref().unwrap();
        // What says whether a file waits is asked of all kinds of files in the same way.
        let waits = UnixStream::from(OwnedFd::from(call.try_clone().unwrap()));
        waits.set_nonblocking(true).unwrap();
        // A signal may come between the two.
        while call.write(&(u64::MAX - 1).to_le_bytes()).is_err() {
            drop(call.read(&mut [0; 8]));
        }
        waits.set_nonblocking(false).unwrap();
    }

    /// Gives a file with a message about ring 0.
    pub(crate) fn gives(stream: &UnixStream, request: u32, file: &File) {
        tell(stream, request, &[0; 8], Some(file.as_fd())).unwrap();
    }

    /// Shares so much of a file as its memory.
    pub(crate) fn shares(stream: &UnixStream, length: u64, file: &File) -> Result<(), Error> {
        let numbers = [0, length, USER, 0].map(u64::to_le_bytes).concat();
        let table = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &numbers].concat();
        tell(stream, 5, &table, Some(file.as_fd()))
    }

    /// Puts a request with its data into a ring.
    pub(crate) fn submit(&mut self, queue: usize, kind: u32, offset: u64, data: &[u8]) -> u16 {
        self.submit_at(queue, kind, offset, data, 0)
    }

    /// The same, its data so far off from where it should lie.
    pub(crate) fn submit_at(
        &mut self,
        queue: usize,
        kind: u32,
        offset: u64,
        data: &[u8],
        shift: u64,
    ) -> u16 {
        let ring = &mut self.rings[queue];
        let head = ring.free.pop().unwrap();
        let header = ring.at + HEADERS + 32 * u64::from(head);
        let at = ring.at + DATA + DATA_BYTES * u64::from(head);
        let put = |at: u64, bytes: &[u8]| assert!(self.memory.write(at, bytes));
        let sector = offset / 512;
        put(header, &[&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes(), &[0xff]].concat());
        put(at, data);
        let device_writes = if matches!(kind, READ | NAME) { 2 } else { 0 };
        let length = u32::try_from(data.len()).unwrap();
        for (place, address, length, flags) in [
            (head, header, 16, 1),
            (head + 1, at.wrapping_add(shift), length, 1 | device_writes),
            (head + 2, header + 16, 1, 2),
        ] {
            let ends = [flags, place + 1].map(u16::to_le_bytes).concat();
            let bytes = [&address.to_le_bytes()[..], &length.to_le_bytes(), &ends].concat();
            put(ring.at + 16 * u64::from(place), &bytes);
        }
        let slot = u64::from(ring.available % SIZE);
        put(ring.at + AVAILABLE + 4 + 2 * slot, &head.to_le_bytes());
        ring.available = ring.available.wrapping_add(1);
        assert!(self.memory.store(ring.at + AVAILABLE + 2, ring.available));
        if let Some(kick) = &ring.kick {
            (&mut &*kick).write_all(&1_u64.to_le_bytes()).unwrap();
        }
        head
    }

    /// The next answer of a ring, within its time.
    #[track_caller]
    pub(crate) fn answer(&mut self, queue: usize) -> Answer {
        let deadline = now() + WAIT;
        while !self.has_answer(queue) {
            assert!(now() < deadline, "no answer in ring {queue}");
            thread::park_timeout(POLL);
        }
        let ring = &mut self.rings[queue];
        let mut entry = [0; 4];
        assert!(self.memory.read(ring.at + USED + 4 + 8 * u64::from(ring.used % SIZE), &mut entry));
        ring.used = ring.used.wrapping_add(1);
        let head = u16::from_le_bytes([entry[0], entry[1]]);
        let mut status = [0];
        assert!(self.memory.read(ring.at + HEADERS + 32 * u64::from(head) + 16, &mut status));
        ring.free.push(head);
        Answer { head, status: status[0] }
    }

    pub(crate) fn has_answer(&self, queue: usize) -> bool {
        let ring = &self.rings[queue];
        self.memory.load(ring.at + USED + 2) != Some(ring.used)
    }

    /// Has one thing done, and well.
    #[track_caller]
    pub(crate) fn does(&mut self, queue: usize, kind: u32, offset: u64, data: &[u8]) -> u16 {
        let head = self.submit(queue, kind, offset, data);
        assert_eq!(self.answer(queue), Answer { head, status: 0 });
        head
    }

    #[track_caller]
    pub(crate) fn reads(&mut self, queue: usize, offset: u64) -> [u8; 4096] {
        let head = self.does(queue, READ, offset, &[0xee; 4096]);
        self.data(queue, head)
    }

    pub(crate) fn data<const N: usize>(&self, queue: usize, head: u16) -> [u8; N] {
        let mut data = [0; N];
        let at = self.rings[queue].at + DATA + DATA_BYTES * u64::from(head);
        assert!(self.memory.read(at, &mut data));
        data
    }
}

fn tell(
    stream: &UnixStream,
    request: u32,
    payload: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> Result<(), Error> {
    let size = u32::try_from(payload.len()).unwrap();
    let head = [request, 1, size].map(u32::to_le_bytes).concat();
    send_file(stream, &[&head, payload].concat(), file)
}

/// Asks for a number, or for what begins with one.
fn ask(stream: &UnixStream, request: u32, payload: &[u8]) -> Result<(u64, Vec<OwnedFd>), Error> {
    tell(stream, request, payload, None)?;
    let (mut bytes, mut files) = ([0; 64], Vec::new());
    let length = receive_files(stream, &mut bytes, &mut files)?;
    if length < 20 {
        return Err(Error::other(format!("an answer of {length} bytes")));
    }
    let number = u64::from_le_bytes(bytes[12..20].try_into().unwrap());
    Ok((number, files))
}
