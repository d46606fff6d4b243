//! An NBD server on plain memory that can do one thing wrong when told to.
//!
//! It exists to check the checker, so it shares no code with the product's server: fixed newstyle,
//! `OPT_GO`, simple replies, one thread per connection, one request at a time.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use frontend::nbd::wire::{
    Command, FLAG_CAN_MULTI_CONN, FLAG_HAS_FLAGS, FLAG_SEND_FLUSH, FLAG_SEND_FUA, GREETING_MAGIC,
    HANDSHAKE_FIXED_NEWSTYLE, HANDSHAKE_NO_ZEROES, INFO_EXPORT, OPT_GO, OPTION_MAGIC,
    OPTION_REPLY_MAGIC, REP_ACK, REP_ERR_UNSUP, REP_INFO, REQUEST_BYTES, REQUEST_MAGIC,
    SIMPLE_REPLY_MAGIC,
};
use stdx::mutex::lock;

use crate::checker::block::BLOCK_BYTES;

/// Larger requests are none of the checker's.
const LENGTH_MAX: usize = 1 << 20;
/// The flaw meets a block behind the hot part of the load, so that it stays to be seen.
pub(crate) const VICTIM_FIRST: usize = 1024;

/// What the server does wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Acknowledges a write and does not keep it.
    DropWrite,
    /// Answers a read with what was there before the last write.
    StaleRead,
    /// Keeps the first half of a block.
    TornBlock,
    /// Writes a block into the place of its neighbour.
    MisdirectedWrite,
}

/// The memory of one volume; several servers may serve it, one after the other.
#[derive(Debug)]
pub(crate) struct Volume {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    bytes: Vec<u8>,
    /// What is to happen at the next write.
    armed: Option<Flaw>,
    damage: Option<Damage>,
    /// Stays false while the write before a stale read may still be on its way to the checker.
    may_lie: bool,
}

#[derive(Debug)]
struct Damage {
    /// The blocks that a write must leave alone for the damage to be seen.
    blocks: Vec<usize>,
    is_overwritten: bool,
    /// What one read is to return instead of the first of the blocks.
    stale: Option<Vec<u8>>,
}

impl Volume {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let state = State { bytes: vec![0; bytes], armed: None, damage: None, may_lie: false };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// From now on the next suitable write is treated badly.
    pub(crate) fn arm(&self, flaw: Flaw) {
        self.state().armed = Some(flaw);
    }

    /// From now on a stale read may be given: every write was acknowledged.
    pub(crate) fn may_lie(&self) {
        self.state().may_lie = true;
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.state().damage.is_some()
    }

    /// A later write repaired what the flaw had done.
    pub(crate) fn is_overwritten(&self) -> bool {
        self.state().damage.as_ref().is_some_and(|damage| damage.is_overwritten)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn write(&mut self, offset: usize, payload: &[u8]) {
        let first = offset / BLOCK_BYTES;
        let range = offset..offset + payload.len();
        if let Some(damage) = &mut self.damage {
            let end = range.end.div_ceil(BLOCK_BYTES);
            let meets = damage.blocks.iter().any(|block| (first..end).contains(block));
            damage.is_overwritten |= meets;
        }
        let suits = first >= VICTIM_FIRST && range.end + BLOCK_BYTES <= self.bytes.len();
        let Some(flaw) = self.armed.take_if(|_| suits) else {
            self.bytes[range].copy_from_slice(payload);
            return;
        };
        let mut damage = Damage { blocks: vec![first], is_overwritten: false, stale: None };
        let second = offset + BLOCK_BYTES;
        match flaw {
            Flaw::DropWrite => {}
            Flaw::StaleRead => {
                damage.stale = Some(self.bytes[offset..second].to_vec());
                self.bytes[range].copy_from_slice(payload);
            }
            Flaw::TornBlock => {
                let old = self.bytes[offset + BLOCK_BYTES / 2..second].to_vec();
                self.bytes[range].copy_from_slice(payload);
                self.bytes[offset + BLOCK_BYTES / 2..second].copy_from_slice(&old);
            }
            Flaw::MisdirectedWrite => {
                damage.blocks.push(first + 1);
                self.bytes[second..second + BLOCK_BYTES].copy_from_slice(&payload[..BLOCK_BYTES]);
            }
        }
        self.damage = Some(damage);
    }

    fn read(&mut self, offset: usize, length: usize) -> Vec<u8> {
        let mut bytes = self.bytes[offset..offset + length].to_vec();
        if self.may_lie
            && let Some(damage) = &mut self.damage
        {
            let place = damage.blocks[0] * BLOCK_BYTES;
            if (offset..offset + length).contains(&place)
                && let Some(stale) = damage.stale.take()
            {
                bytes[place - offset..place - offset + BLOCK_BYTES].copy_from_slice(&stale);
            }
        }
        bytes
    }
}

/// A listening server; dropping it closes its connections.
#[derive(Debug)]
pub(crate) struct RamServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    volume: Arc<Volume>,
    is_closed: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl RamServer {
    pub(crate) fn start(volume: Arc<Volume>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            volume,
            is_closed: AtomicBool::new(false),
            connections: Mutex::new(Vec::new()),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.accept_all(&listener)
        });
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    pub(crate) fn uri(&self) -> String {
        format!("nbd://{}/ram", self.address)
    }
}

impl Drop for RamServer {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        // A request that is being done is done before any client hears of the end.
        drop(self.shared.volume.state());
        for connection in self.shared.connections().iter() {
            // A connection that its client has closed reports that it is not connected.
            connection.shutdown(Shutdown::Both).ok();
        }
        // Wakes the acceptor, which then sees that it is closed.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().ok();
        }
    }
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        lock(&self.connections)
    }

    fn accept_all(&self, listener: &TcpListener) {
        std::thread::scope(|scope| {
            while let Ok((stream, _)) = listener.accept() {
                let mut connections = self.connections();
                if self.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                connections.extend(stream.try_clone());
                // How a connection ends is the client's to judge.
                scope.spawn(move || self.serve(&stream).ok());
            }
        });
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        if !self.agree(&mut reader, &mut writer)? {
            return Ok(());
        }
        let mut payload = vec![0; LENGTH_MAX];
        loop {
            let mut head = [0; REQUEST_BYTES];
            reader.read_exact(&mut head)?;
            if head[..4] != REQUEST_MAGIC.to_be_bytes() {
                return Ok(());
            }
            let command = u16::from_be_bytes([head[6], head[7]]);
            let offset = be64(&head[16..]);
            let length = usize::try_from(be32(&head[24..])).unwrap_or(usize::MAX).min(LENGTH_MAX);
            let mut reply = Vec::with_capacity(16 + length);
            reply.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
            reply.extend([0; 4]);
            reply.extend(&head[8..16]);
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            if offset.saturating_add(length) > self.volume.state().bytes.len() {
                return stream.shutdown(Shutdown::Both);
            }
            match Command::from_number(command) {
                Some(Command::Write) => {
                    reader.read_exact(&mut payload[..length])?;
                    let mut state = self.volume.state();
                    if self.is_closed.load(Ordering::SeqCst) {
                        return Ok(());
                    }
                    state.write(offset, &payload[..length]);
                }
                Some(Command::Read) => {
                    reply.extend(self.volume.state().read(offset, length));
                }
                Some(Command::Flush) => {}
                // The checker sends nothing else but its goodbye.
                _ => return stream.shutdown(Shutdown::Both),
            }
            writer.write_all(&reply)?;
        }
    }

    /// The handshake; false if the client left.
    fn agree(&self, reader: &mut impl Read, writer: &mut impl Write) -> io::Result<bool> {
        let flags = HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES;
        writer.write_all(&GREETING_MAGIC.to_be_bytes())?;
        writer.write_all(&OPTION_MAGIC.to_be_bytes())?;
        writer.write_all(&flags.to_be_bytes())?;
        let mut client_flags = [0; 4];
        reader.read_exact(&mut client_flags)?;
        loop {
            let mut head = [0; 16];
            reader.read_exact(&mut head)?;
            if head[..8] != OPTION_MAGIC.to_be_bytes() {
                return Ok(false);
            }
            let option = be32(&head[8..]);
            let length = u64::from(be32(&head[12..]));
            io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
            if option != OPT_GO {
                writer.write_all(&option_reply(option, REP_ERR_UNSUP, &[]))?;
                continue;
            }
            let size = self.volume.state().bytes.len() as u64;
            let flags = FLAG_HAS_FLAGS | FLAG_SEND_FLUSH | FLAG_SEND_FUA | FLAG_CAN_MULTI_CONN;
            let mut info = INFO_EXPORT.to_be_bytes().to_vec();
            info.extend(size.to_be_bytes());
            info.extend(flags.to_be_bytes());
            writer.write_all(&option_reply(option, REP_INFO, &info))?;
            writer.write_all(&option_reply(option, REP_ACK, &[]))?;
            return Ok(true);
        }
    }
}

fn option_reply(option: u32, kind: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a payload of a few bytes");
    let mut reply = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    for number in [option, kind, length] {
        reply.extend(number.to_be_bytes());
    }
    reply.extend(payload);
    reply
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn be64(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}
