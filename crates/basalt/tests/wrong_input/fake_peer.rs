//! Bytes on the peer port: frames made by hand, out of the golden messages of `format`.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

const HEADER_BYTES: usize = 32;
const CRC_AT: usize = 28;
const HANDLE_AT: usize = HEADER_BYTES + 8;
const QUANTUM_BYTES: usize = 512;
const MESSAGE_HEADER_BYTES: usize = 12;
const HELLO: u16 = 1;
const WELCOME: u16 = 2;
const OPEN: u16 = 3;
const CLOSE: u16 = 4;
const CHALLENGE: u16 = 7;
const PROOF: u16 = 8;
const PROBE: u16 = 9;
const PROBED: u16 = 10;
/// Of the features in HELLO: those of its first byte, and of its second.
const KNOWS_OF_PROOFS: u8 = 2;
const PACKS_BY_QUANTUM: u8 = 4;
const KNOWS_OF_PROBES: u8 = 1;
const FEATURES_AT: usize = HEADER_BYTES + MESSAGE_HEADER_BYTES + 4;

pub(crate) struct FakePeer {
    stream: TcpStream,
}

impl FakePeer {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream }
    }

    /// A peer that says who it is, and is welcome.
    pub(crate) fn greet(address: SocketAddr, name: &str) -> Self {
        let mut peer = Self::connect(address);
        peer.send(&hello(name, 1, 1));
        let welcome = peer.receive_frame().expect("a known name is welcome");
        assert!(body_of(&welcome, WELCOME).is_some(), "{welcome:?}");
        peer
    }

    /// The same of one that knows of probes; how long the padding of the daemon's is.
    pub(crate) fn greet_with_probe(address: SocketAddr, name: &str) -> (Self, u32) {
        let mut hello = hello(name, 1, 1);
        hello[FEATURES_AT + 1] |= KNOWS_OF_PROBES;
        seal(&mut hello);
        let mut peer = Self::connect(address);
        peer.send(&hello);
        let welcome = peer.receive_frame().expect("a known name is welcome");
        assert!(body_of(&welcome, WELCOME).is_some(), "{welcome:?}");
        let probe = peer.receive_frame().expect("nothing was said against it");
        let probe = body_of(&probe, PROBE).expect("the first that is said");
        let padding_bytes = u32::from_le_bytes(probe[..4].try_into().unwrap());
        assert_eq!(probe.len(), 4 + padding_bytes as usize);
        (peer, padding_bytes)
    }

    /// Sends a probe of its own.
    pub(crate) fn probe(&mut self, padding_bytes: u32) {
        let mut body = padding_bytes.to_le_bytes().to_vec();
        body.resize(4 + padding_bytes as usize, 7);
        self.send(&frame(PROBE, &body));
    }

    /// The daemon says that so much padding came.
    pub(crate) fn expect_probed(&mut self, padding_bytes: u32) {
        let told = self.receive_frame().expect("the probe was well formed");
        assert_eq!(body_of(&told, PROBED).unwrap(), padding_bytes.to_le_bytes());
    }

    /// Says that so much padding came.
    pub(crate) fn say_probed(&mut self, padding_bytes: u32) {
        self.send(&frame(PROBED, &padding_bytes.to_le_bytes()));
    }

    /// The same of one that wants what it is sent padded to no more than 64 bytes.
    pub(crate) fn greet_in_small_quanta(address: SocketAddr, name: &str) -> Self {
        let mut hello = hello(name, 1, 1);
        let body = HEADER_BYTES + MESSAGE_HEADER_BYTES;
        hello[body + 4] |= PACKS_BY_QUANTUM;
        hello[body + 33..body + 35].copy_from_slice(&64_u16.to_le_bytes());
        seal(&mut hello);
        let mut peer = Self::connect(address);
        peer.send(&hello);
        let welcome = peer.receive_frame().expect("a known name is welcome");
        assert!(body_of(&welcome, WELCOME).is_some(), "{welcome:?}");
        assert!(welcome.len().is_multiple_of(QUANTUM_BYTES), "it answers what has no say yet");
        peer
    }

    /// The other side may have closed already: then nobody hears it.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).ok();
    }

    /// The header part of the next frame; `None` at the end.
    pub(crate) fn receive_frame(&mut self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; HEADER_BYTES];
        self.read_exact(&mut bytes)?;
        let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (header, payload) = (length(8) as usize, length(16) as usize);
        let mut rest = vec![0; header - HEADER_BYTES + payload];
        self.read_exact(&mut rest)?;
        bytes.extend_from_slice(&rest[..header - HEADER_BYTES]);
        Some(bytes)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Option<()> {
        match self.stream.read_exact(bytes) {
            Ok(()) => Some(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                panic!("the daemon neither spoke nor closed the connection")
            }
            Err(_) => None,
        }
    }

    /// Says nothing more, and waits until the daemon has taken all that was said.
    pub(crate) fn end(self) {
        self.stream.shutdown(Shutdown::Write).ok();
        self.expect_close();
    }

    /// Waits until the daemon has closed the connection.
    pub(crate) fn expect_close(mut self) {
        while self.receive_frame().is_some() {}
    }

    /// Opens the resource as the member `me` of the daemon `peer`, once the daemon did.
    pub(crate) fn open(&mut self, handle: u32, me: u8, peer: u8) {
        let mut frames = std::iter::from_fn(|| self.receive_frame());
        let theirs = frames.find_map(|frame| body_of(&frame, OPEN));
        let theirs = theirs.expect("a peer that is up is sent OPEN");
        // The same resource, with our handle, the ids exchanged and no replica.
        self.send(&frame(OPEN, &open_of(handle, (me, peer), &theirs[4..20])));
    }
}

impl FakePeer {
    /// Opens a resource of which it knows nothing.
    pub(crate) fn say_open(&mut self, handle: u32, me: u8, peer: u8) {
        self.send(&frame(OPEN, &open_of(handle, (me, peer), &[0; 16])));
    }

    /// Opens a resource that the daemon does not open, and says why it was closed.
    pub(crate) fn open_unasked(
        &mut self,
        handle: u32,
        (me, peer): (u8, u8),
        resource: [u8; 16],
    ) -> u8 {
        self.send(&frame(OPEN, &open_of(handle, (me, peer), &resource)));
        let mut frames = std::iter::from_fn(|| self.receive_frame());
        let closed = frames.find_map(|frame| {
            let body = body_of(&frame, CLOSE).filter(|it| it[..4] == handle.to_le_bytes());
            assert!(body_of(&frame, OPEN).is_none(), "it is not opened to a peer without proofs");
            body
        });
        closed.expect("it is closed")[4]
    }
}

/// A peer that takes part in what proves who it is.
pub(crate) struct Prover {
    peer: FakePeer,
    /// Of the frame that is being taken apart.
    waiting: Vec<(u16, Vec<u8>)>,
    pub(crate) their_challenge: [u8; 16],
}

/// What a daemon said to open its resource.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) resource: [u8; 16],
    pub(crate) handle: [u8; 4],
    pub(crate) code: Vec<u8>,
}

impl Prover {
    pub(crate) fn greet(address: SocketAddr, name: &str) -> Self {
        let mut peer = FakePeer::connect(address);
        let mut hello = hello(name, 1, 1);
        hello[HEADER_BYTES + MESSAGE_HEADER_BYTES + 4] |= KNOWS_OF_PROOFS;
        seal(&mut hello);
        peer.send(&hello);
        let mut prover = Self { peer, waiting: Vec::new(), their_challenge: [0; 16] };
        prover.wait_for(WELCOME);
        prover.their_challenge = prover.wait_for(CHALLENGE).try_into().unwrap();
        prover
    }

    /// The next message of this type.
    fn wait_for(&mut self, tag: u16) -> Vec<u8> {
        loop {
            while !self.waiting.is_empty() {
                let (found, body) = self.waiting.remove(0);
                if found == tag {
                    return body;
                }
            }
            let frame = self.peer.receive_frame().expect("the connection stays");
            self.waiting = messages_of(&frame);
        }
    }

    /// Asks for a proof, and gives what the daemon opens its resource with.
    pub(crate) fn challenge(&mut self, challenge: [u8; 16]) -> Opened {
        self.peer.send(&frame(CHALLENGE, &challenge));
        let code = self.wait_for(PROOF)[9..].to_vec();
        let open = self.wait_for(OPEN);
        let (handle, resource) = (open[..4].try_into().unwrap(), open[4..20].try_into().unwrap());
        Opened { resource, handle, code }
    }

    /// Opens it from this side, as node `me` of the daemon `peer`; with a proof by HMAC-SHA-256.
    pub(crate) fn open(&mut self, opened: &Opened, (me, peer): (u8, u8)) {
        if !opened.code.is_empty() {
            let mut body = opened.handle.to_vec();
            body.push(2);
            body.extend_from_slice(&u32::try_from(opened.code.len()).unwrap().to_le_bytes());
            body.extend_from_slice(&opened.code);
            self.peer.send(&frame(PROOF, &body));
        }
        let handle = u32::from_le_bytes(opened.handle);
        self.peer.send(&frame(OPEN, &open_of(handle, (me, peer), &opened.resource)));
    }

    /// Why the daemon closed this handle.
    pub(crate) fn refusal(&mut self, opened: &Opened) -> u8 {
        loop {
            let body = self.wait_for(CLOSE);
            if body[..4] == opened.handle {
                return body[4];
            }
        }
    }
}

/// The messages of a frame.
fn messages_of(frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut at = HEADER_BYTES;
    let count = u32::from_le_bytes(frame[12..16].try_into().unwrap());
    let mut next = || {
        let length = u32::from_le_bytes(frame[at + 4..at + 8].try_into().unwrap()) as usize;
        let tag = u16::from_le_bytes(frame[at..at + 2].try_into().unwrap());
        let has_payload = if frame[at + 2] & 1 == 1 { 8 } else { 0 };
        let body = frame[at + MESSAGE_HEADER_BYTES + has_payload..][..length].to_vec();
        at += MESSAGE_HEADER_BYTES + has_payload + length;
        (tag, body)
    };
    (0..count).map(|_| next()).collect()
}

/// The body of the first message of this type in a frame.
fn body_of(frame: &[u8], tag: u16) -> Option<Vec<u8>> {
    let mut at = HEADER_BYTES;
    for _ in 0..u32::from_le_bytes(frame[12..16].try_into().unwrap()) {
        let length = u32::from_le_bytes(frame[at + 4..at + 8].try_into().unwrap()) as usize;
        let body = &frame[at + MESSAGE_HEADER_BYTES..][..length];
        if frame[at..at + 2] == tag.to_le_bytes() {
            return Some(body.to_vec());
        }
        at += MESSAGE_HEADER_BYTES + length;
    }
    None
}

/// HELLO of the golden file, with other versions and name.
pub(crate) fn hello(name: &str, version_min: u16, version_max: u16) -> Vec<u8> {
    // Low enough not to hide the real node, which has been started as often at least.
    hello_with(name, (version_min, version_max), 1)
}

/// HELLO of a process that was started so often.
pub(crate) fn hello_of_start(name: &str, start_count: u64) -> Vec<u8> {
    hello_with(name, (1, 1), start_count)
}

fn hello_with(name: &str, versions: (u16, u16), start_count: u64) -> Vec<u8> {
    let golden = golden("hello");
    let mut body = golden[HEADER_BYTES + 12..][..35].to_vec();
    body[..2].copy_from_slice(&versions.0.to_le_bytes());
    body[2..4].copy_from_slice(&versions.1.to_le_bytes());
    body[20..28].copy_from_slice(&start_count.to_le_bytes());
    body[28..31].copy_from_slice(&[1, 0, 0]);
    body[31] = 0;
    body[32] = 0;
    // A release that knows nothing of probes.
    body[5] &= !KNOWS_OF_PROBES;
    body.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
    body.extend_from_slice(name.as_bytes());
    frame(HELLO, &body)
}

/// The body of an OPEN without a replica, of the node `me` to the node `peer`.
fn open_of(handle: u32, (me, peer): (u8, u8), resource: &[u8]) -> Vec<u8> {
    let mut body = handle.to_le_bytes().to_vec();
    body.extend_from_slice(resource);
    body.extend_from_slice(&[me, peer, 0]);
    body.extend_from_slice(&2_u16.to_le_bytes());
    body.extend_from_slice(b"r0");
    body
}

/// A frame of one link message.
fn frame(tag: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = golden("hello")[..HEADER_BYTES].to_vec();
    bytes.extend_from_slice(&tag.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(body);
    bytes.resize(bytes.len().next_multiple_of(QUANTUM_BYTES), 0);
    let length = u32::try_from(bytes.len()).unwrap();
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    seal(&mut bytes);
    bytes
}

/// Every message of a resource that there is, with `handle`, and its payload if it has one.
pub(crate) fn resource_messages(handle: u32) -> Vec<(String, Vec<u8>)> {
    let mut messages = Vec::new();
    for entry in fs::read_dir(golden_directory()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_prefix("message_").and_then(|n| n.strip_suffix(".bin")) else {
            continue;
        };
        let mut bytes = golden(name);
        if bytes[HANDLE_AT..HANDLE_AT + 4] == [0; 4] {
            continue;
        }
        bytes[HANDLE_AT..HANDLE_AT + 4].copy_from_slice(&handle.to_le_bytes());
        // The golden header parts are padded to the smallest quantum.
        let length = bytes.len().next_multiple_of(QUANTUM_BYTES);
        bytes.resize(length, 0);
        bytes[8..12].copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        let payload = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
        if payload > 0 {
            let at = HANDLE_AT + 4;
            let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let crc = crc32c::crc32c(&vec![0; length]);
            bytes[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
        }
        seal(&mut bytes);
        bytes.resize(bytes.len() + payload, 0);
        messages.push((name.to_owned(), bytes));
    }
    messages.sort();
    assert!(messages.len() > 20, "the golden messages are where they were");
    messages
}

/// The same frame with other values in its message: each byte of the body masked.
pub(crate) fn masked(frame: &[u8], mask: u8) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    let header = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let has_payload = bytes[HEADER_BYTES + 2] & 1 == 1;
    let from = HEADER_BYTES + MESSAGE_HEADER_BYTES + if has_payload { 8 } else { 0 };
    for byte in &mut bytes[from..header] {
        *byte &= mask;
    }
    seal(&mut bytes[..header]);
    bytes
}

/// Makes the checksum of a header part right again.
pub(crate) fn seal(bytes: &mut [u8]) {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&bytes[..CRC_AT]), &bytes[CRC_AT + 4..]);
    bytes[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
}

fn golden_directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../format/tests/golden")
}

fn golden(name: &str) -> Vec<u8> {
    fs::read(golden_directory().join(format!("message_{name}.bin"))).unwrap()
}
