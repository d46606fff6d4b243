//! A server of a RAM disk with threads and blocking sockets, through the state machines under
//! test. It carries out the parts of a read in a shuffled order, so that replies are assembled
//! the hard way, and fails where it is told to.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use frontend::nbd::client::Stream;
use frontend::nbd::client::uri::{Address, Uri};
use frontend::nbd::handshake::{
    Access, Agreement, Directory, Export, Handshake, Next, Step, Unavailable,
};
use frontend::nbd::parts::{ReadAssembly, Send, Split, WriteAssembly};
use frontend::nbd::reply::{REPLY_BYTES_MAX, ReplyEncoder, block_status_bytes};
use frontend::nbd::transmission::{Kind, Parsed, Request, Transmission};
use frontend::nbd::wire::{Errno, Extent, STATE_HOLE, STATE_ZERO};
use stdx::random::Random;

const BLOCK: usize = 4096;

/// A disk in memory that several sessions share.
pub(crate) struct RamDisk {
    content: Mutex<Content>,
    /// Reads and writes of this part of the disk fail.
    pub(crate) failing: Option<std::ops::Range<u64>>,
    pub(crate) exports: Vec<Export>,
    pub(crate) flushes: AtomicU64,
}

struct Content {
    bytes: Vec<u8>,
    /// Which blocks were ever written and not trimmed since.
    allocated: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holes {
    Make,
    Fill,
}

pub(crate) fn exports(size_bytes: u64) -> Vec<Export> {
    let mut disk = Export::new("r0", size_bytes, Access::ReadWrite);
    disk.description = "a disk in memory".into();
    let volume = Export::new("r0/0", size_bytes, Access::ReadWrite);
    vec![disk, volume, Export::new("ro", size_bytes, Access::ReadOnly)]
}

impl RamDisk {
    pub(crate) fn new(size_bytes: u64) -> Self {
        let size = usize::try_from(size_bytes).unwrap();
        let allocated = vec![false; size.div_ceil(BLOCK)];
        Self {
            content: Mutex::new(Content { bytes: vec![0; size], allocated }),
            failing: None,
            exports: exports(size_bytes),
            flushes: AtomicU64::new(0),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<Export, Unavailable> {
        if name == "secondary" {
            return Err(Unavailable::Refused("this node is secondary; use node n2".into()));
        }
        let found = self.exports.iter().find(|export| export.name == name || name.is_empty());
        found.cloned().ok_or(Unavailable::Unknown)
    }

    fn check(&self, offset: u64, length: u64) -> Result<(), Errno> {
        let is_failing =
            |range: &std::ops::Range<u64>| offset < range.end && offset + length > range.start;
        if self.failing.as_ref().is_some_and(is_failing) { Err(Errno::Io) } else { Ok(()) }
    }

    fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Errno> {
        self.check(offset, length.into())?;
        let at = usize::try_from(offset).unwrap();
        Ok(self.content.lock().unwrap().bytes[at..at + length as usize].to_vec())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.check(offset, data.len() as u64)?;
        let at = usize::try_from(offset).unwrap();
        let mut content = self.content.lock().unwrap();
        content.bytes[at..at + data.len()].copy_from_slice(data);
        content.allocated[at / BLOCK..(at + data.len()).div_ceil(BLOCK)].fill(true);
        Ok(())
    }

    /// Zeroes a range and, when holes are allowed, gives up the blocks that lie in it whole.
    fn zero(&self, offset: u64, length: u64, holes: Holes) {
        let (at, length) = (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
        let mut content = self.content.lock().unwrap();
        content.bytes[at..at + length].fill(0);
        let (first, end) = (at.div_ceil(BLOCK), (at + length) / BLOCK);
        if holes == Holes::Fill {
            content.allocated[at / BLOCK..(at + length).div_ceil(BLOCK)].fill(true);
        } else if first < end {
            content.allocated[first..end].fill(false);
        }
    }

    fn extents(&self, offset: u64, length: u64) -> Vec<Extent> {
        let content = self.content.lock().unwrap();
        let (mut at, mut extents) = (offset, Vec::new());
        while at < offset + length {
            let block = usize::try_from(at).unwrap() / BLOCK;
            let end = ((block as u64 + 1) * BLOCK as u64).min(content.bytes.len() as u64);
            let state = if content.allocated[block] { 0 } else { STATE_HOLE | STATE_ZERO };
            extents.push(Extent { length_bytes: end - at, state });
            at = end;
        }
        extents
    }
}

/// One connection, from the greeting to its end. Gives the words of the reason for the end.
pub(crate) fn serve(mut stream: Stream, disk: &RamDisk) -> io::Result<String> {
    let mut input = Input { bytes: vec![0; 64 * 1024], start: 0, end: 0 };
    let agreement = match shake_hands(&mut stream, &mut input, disk)? {
        Ok(agreement) => agreement,
        Err(reason) => return Ok(reason),
    };
    let session = Session {
        transmission: Transmission::new(&agreement),
        encoder: ReplyEncoder::new(agreement.replies),
        random: Random::new(1),
        agreement,
        stream,
        input,
        disk,
    };
    session.run()
}

/// Bytes that were received and not consumed.
struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    fn receive(&mut self, stream: &mut Stream) -> io::Result<()> {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let count = stream.read(&mut self.bytes[self.end..])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += count;
        Ok(())
    }
}

fn shake_hands(
    stream: &mut Stream,
    input: &mut Input,
    disk: &RamDisk,
) -> io::Result<Result<Agreement, String>> {
    let mut output = Vec::new();
    let mut handshake = Handshake::start(&mut output);
    let directory = Directory { listed: &disk.exports, find: &|name| disk.find(name) };
    loop {
        stream.write_all(&output)?;
        output.clear();
        if input.unread().is_empty() {
            input.receive(stream)?;
        }
        let Step { consumed, next } = handshake.step(input.unread(), &directory, &mut output);
        input.start += consumed;
        match next {
            Next::More => {}
            Next::Transmission(agreement) => {
                stream.write_all(&output)?;
                return Ok(Ok(*agreement));
            }
            Next::StartTls => panic!("TLS is not offered"),
            Next::Close(reason) => {
                stream.write_all(&output)?;
                return Ok(Err(reason.to_string()));
            }
        }
    }
}

struct Session<'a> {
    transmission: Transmission,
    encoder: ReplyEncoder,
    agreement: Agreement,
    random: Random,
    stream: Stream,
    input: Input,
    disk: &'a RamDisk,
}

impl Session<'_> {
    fn run(mut self) -> io::Result<String> {
        let mut out = [0; REPLY_BYTES_MAX];
        loop {
            match self.transmission.next(self.input.unread()) {
                Parsed::NeedMore(_) => self.input.receive(&mut self.stream)?,
                Parsed::Skipped { consumed } => self.input.start += consumed,
                Parsed::Refused { consumed, refusal } => {
                    self.input.start += consumed;
                    let length = self.encoder.refusal(&refusal, &mut out);
                    self.stream.write_all(&out[..length])?;
                }
                Parsed::Request { consumed, request } => {
                    self.input.start += consumed;
                    if !self.on_request(&request)? {
                        return Ok("hung up".into());
                    }
                }
                Parsed::Disconnect => return Ok("disconnect".into()),
                Parsed::Invalid(reason) => return Ok(reason.to_string()),
            }
        }
    }

    /// Carries a request out and answers it; false when the connection is to be closed.
    fn on_request(&mut self, request: &Request) -> io::Result<bool> {
        let mut result = self.disk.check(request.offset, request.length);
        match request.kind {
            Kind::Read { .. } => return self.on_read(request),
            Kind::Write => result = self.on_write(request)?,
            Kind::WriteZeroes { fast: true, no_hole: true } => result = Err(Errno::NotSupported),
            Kind::WriteZeroes { no_hole, .. } => {
                let holes = if no_hole { Holes::Fill } else { Holes::Make };
                self.disk.zero(request.offset, request.length, holes);
            }
            Kind::Trim => self.disk.zero(request.offset, request.length, Holes::Make),
            Kind::Flush => drop(self.disk.flushes.fetch_add(1, Ordering::Relaxed)),
            Kind::Cache => {}
            Kind::BlockStatus { .. } => return self.on_block_status(request),
        }
        let mut out = [0; REPLY_BYTES_MAX];
        let length = match result {
            Ok(()) => self.encoder.success(request, &mut out),
            Err(errno) => self.encoder.error(request, errno, "the disk failed", &mut out),
        };
        self.stream.write_all(&out[..length])?;
        Ok(true)
    }

    /// Takes the payload part by part, each from as many pieces as the stream gives.
    fn on_write(&mut self, request: &Request) -> io::Result<Result<(), Errno>> {
        let split = Split::new(request);
        let mut assembly = WriteAssembly::new(&split);
        let mut answer = None;
        for part in split.parts() {
            let mut data = Vec::new();
            while data.len() < part.length as usize {
                if self.input.unread().is_empty() {
                    self.input.receive(&mut self.stream)?;
                }
                let count = self.input.unread().len().min(part.length as usize - data.len());
                data.extend_from_slice(&self.input.unread()[..count]);
                self.input.start += count;
                self.transmission.advance_payload(count as u64);
            }
            assert!(answer.is_none(), "the answer comes with the last part");
            answer = assembly.on_part(self.disk.write(part.offset, &data));
        }
        assert_eq!(self.transmission.payload_left(), 0);
        Ok(answer.expect("the last part brings the answer"))
    }

    fn on_read(&mut self, request: &Request) -> io::Result<bool> {
        let split = Split::new(request);
        let mut assembly = ReadAssembly::new(request, self.agreement.replies);
        let mut order: Vec<u16> = (0..split.count()).collect();
        for at in (1..order.len()).rev() {
            let other = usize::try_from(self.random.below(at as u64 + 1)).unwrap();
            order.swap(at, other);
        }
        let mut held: Vec<Option<Vec<u8>>> = vec![None; order.len()];
        for index in order {
            let part = split.part(index);
            match self.disk.read(part.offset, part.length) {
                Ok(data) => {
                    held[usize::from(index)] = Some(data);
                    assembly.on_part(index, Ok(()));
                }
                Err(errno) => assembly.on_part(index, Err(errno)),
            }
            if !self.send_what_may(request, &split, &mut assembly, &mut held)? {
                return Ok(false);
            }
        }
        assert!(assembly.is_over() && assembly.is_drained());
        Ok(true)
    }

    fn send_what_may(
        &mut self,
        request: &Request,
        split: &Split,
        assembly: &mut ReadAssembly,
        held: &mut [Option<Vec<u8>>],
    ) -> io::Result<bool> {
        let mut out = [0; REPLY_BYTES_MAX];
        let mut take = |part: u16| held[usize::from(part)].take().expect("a part is kept");
        loop {
            let (head, data) = match assembly.next_send() {
                Send::Wait => return Ok(true),
                Send::HangUp => return Ok(false),
                Send::Chunk { part, end } => {
                    let (offset, length) = (split.part(part).offset, split.part(part).length);
                    let head =
                        self.encoder.read_head(request, offset, length.into(), end, &mut out);
                    (head, take(part))
                }
                Send::WholeHead { end } => {
                    let (offset, length) = (request.offset, request.length);
                    (self.encoder.read_head(request, offset, length, end, &mut out), Vec::new())
                }
                Send::Data { part, .. } => (0, take(part)),
                Send::Zeroes { part } => (0, vec![0; split.part(part).length as usize]),
                Send::Success => (self.encoder.success(request, &mut out), Vec::new()),
                Send::Error(errno) => {
                    (self.encoder.error(request, errno, "the disk failed", &mut out), Vec::new())
                }
            };
            self.stream.write_all(&out[..head])?;
            self.stream.write_all(&data)?;
        }
    }

    fn on_block_status(&mut self, request: &Request) -> io::Result<bool> {
        let extents = self.disk.extents(request.offset, request.length);
        let context = self.agreement.allocation_context.expect("judged by the transmission");
        let mut out = vec![0; block_status_bytes(64)];
        let length = self.encoder.block_status(request, context, extents, &mut out);
        self.stream.write_all(&out[..length])?;
        Ok(true)
    }
}

/// A client's end of a fresh connection to a server thread, and the thread.
pub(crate) fn pair(disk: &Arc<RamDisk>) -> (Stream, JoinHandle<io::Result<String>>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    let disk = Arc::clone(disk);
    (Stream::Unix(ours), std::thread::spawn(move || serve(Stream::Unix(theirs), &disk)))
}

/// A server that listens until it is dropped.
pub(crate) struct RamServer {
    address: Address,
    ending: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl RamServer {
    pub(crate) fn on_tcp(disk: &Arc<RamDisk>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let address = Address::Tcp { host: "127.0.0.1".into(), port };
        Self::start(address, disk, move || {
            let stream = listener.accept().unwrap().0;
            stream.set_nodelay(true).unwrap();
            Stream::Tcp(stream)
        })
    }

    pub(crate) fn on_unix(disk: &Arc<RamDisk>, name: &str) -> Self {
        let file = format!("basalt-nbd-{}-{name}.sock", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(file);
        let listener = UnixListener::bind(&path).unwrap();
        Self::start(Address::Unix(path), disk, move || Stream::Unix(listener.accept().unwrap().0))
    }

    fn start(
        address: Address,
        disk: &Arc<RamDisk>,
        accept: impl Fn() -> Stream + std::marker::Send + 'static,
    ) -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let (is_ending, disk) = (Arc::clone(&ending), Arc::clone(disk));
        let accepting = std::thread::spawn(move || {
            loop {
                let stream = accept();
                if is_ending.load(Ordering::SeqCst) {
                    return;
                }
                let disk = Arc::clone(&disk);
                // Foreign clients end as they like, so the result tells nothing.
                std::thread::spawn(move || serve(stream, &disk).unwrap_or_else(|e| e.to_string()));
            }
        });
        Self { address, ending, accepting: Some(accepting) }
    }

    pub(crate) fn uri(&self, export: &str) -> Uri {
        Uri { address: self.address.clone(), export: export.into() }
    }
}

impl Drop for RamServer {
    /// Wakes the accepting thread by one last connection.
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        match &self.address {
            Address::Tcp { host, port } => drop(TcpStream::connect((host.as_str(), *port))),
            Address::Unix(path) => {
                drop(UnixStream::connect(path));
                std::fs::remove_file(path).expect("the socket was made by this test");
            }
        }
        self.accepting.take().expect("taken once").join().expect("the accepting thread ends");
    }
}
