//! A small NVMe/TCP initiator: one command at a time, and strict with what comes back.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use frontend::nvme::wire::{CONTROLLER_DYNAMIC, le16, le32, le64, put16, put32};

const LIMIT: Duration = Duration::from_secs(20);
pub(crate) const NQN: &str = "nqn.2026-01.local.basalt:r0";
const CAPSULE_MAX: usize = 16 << 10;
const DATA_PDU_MAX: usize = 128 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digests {
    None,
    Both,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) command: u16,
    pub(crate) result: u64,
    /// Type and code, without "do not retry".
    pub(crate) status: u16,
    pub(crate) data: Vec<u8>,
}

/// One queue.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    digests: Digests,
    next: u16,
}

pub(crate) struct Initiator {
    pub(crate) admin: Line,
    pub(crate) io: Line,
    pub(crate) id: u16,
    /// Which volume commands are about.
    pub(crate) namespace: u8,
}

/// A command with these bytes at these places.
pub(crate) fn command(opcode: u8, fields: &[(usize, &[u8])]) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[0] = opcode;
    for (at, field) in fields {
        bytes[*at..at + field.len()].copy_from_slice(field);
    }
    bytes
}

/// The Connect of a queue with its data.
pub(crate) fn connect(
    queue: u16,
    controller: u16,
    keep_alive_ms: u32,
    subsystem: &str,
) -> ([u8; 64], Vec<u8>) {
    connect_as("host", queue, controller, keep_alive_ms, subsystem)
}

pub(crate) fn connect_as(
    host: &str,
    queue: u16,
    controller: u16,
    keep_alive_ms: u32,
    subsystem: &str,
) -> ([u8; 64], Vec<u8>) {
    let mut sqe = command(0x7f, &[(4, &[1]), (44, &[31])]);
    put16(&mut sqe, 42, queue);
    put32(&mut sqe, 48, keep_alive_ms);
    let mut data = vec![0; 1024];
    data[0] = 1;
    put16(&mut data, 16, controller);
    data[256..256 + subsystem.len()].copy_from_slice(subsystem.as_bytes());
    data[512..512 + host.len()].copy_from_slice(host.as_bytes());
    (sqe, data)
}

impl Line {
    pub(crate) fn open(address: SocketAddr, digests: Digests) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut hello = vec![0; 128];
        hello[2] = 128;
        hello[4] = 128;
        hello[11] = if digests == Digests::Both { 3 } else { 0 };
        stream.write_all(&hello).unwrap();
        let mut answer = [0; 128];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((answer[0], answer[11]), (1, hello[11]));
        assert_eq!(le32(&answer, 12), 128 << 10);
        Self { stream, digests, next: 0 }
    }

    fn pdu(&self, kind: u8, header: &[u8], data: &[u8]) -> Vec<u8> {
        let both = self.digests == Digests::Both;
        let head = 8 + header.len() + if both { 4 } else { 0 };
        let digested = both && !data.is_empty();
        let length = head + data.len() + if digested { 4 } else { 0 };
        let flags = u8::from(both) | u8::from(digested) << 1;
        let start = if data.is_empty() { 0 } else { u8::try_from(head).unwrap() };
        let mut pdu = vec![kind, flags, u8::try_from(8 + header.len()).unwrap(), start];
        pdu.extend(u32::try_from(length).unwrap().to_le_bytes());
        pdu.extend(header);
        if both {
            pdu.extend(crc32c::crc32c(&pdu).to_le_bytes());
        }
        pdu.extend(data);
        if digested {
            pdu.extend(crc32c::crc32c(data).to_le_bytes());
        }
        pdu
    }

    /// Sends a command and gives its number; data that is not too long goes with it.
    pub(crate) fn send(&mut self, mut sqe: [u8; 64], data: &[u8], wanted: usize) -> u16 {
        self.next += 1;
        put16(&mut sqe, 2, self.next);
        put32(&mut sqe, 32, u32::try_from(data.len().max(wanted)).unwrap());
        let in_capsule = !data.is_empty() && data.len() <= CAPSULE_MAX;
        sqe[39] = if in_capsule { 0x01 } else { 0x5a };
        let pdu = self.pdu(4, &sqe, if in_capsule { data } else { &[] });
        self.stream.write_all(&pdu).unwrap();
        self.next
    }

    /// Sends a command, and its data as it is asked for, and waits for the end.
    pub(crate) fn run(&mut self, sqe: [u8; 64], data: &[u8], wanted: usize) -> End {
        self.send(sqe, data, wanted);
        self.wait(data)
    }

    /// The end of the one command that is under way.
    pub(crate) fn wait(&mut self, data: &[u8]) -> End {
        let mut given = Vec::new();
        loop {
            let (kind, flags, header, payload) = self.receive();
            match kind {
                5 => {
                    return End {
                        command: le16(&header, 12),
                        result: le64(&header, 0),
                        status: le16(&header, 14) >> 1 & 0x7ff,
                        data: given,
                    };
                }
                7 => {
                    assert_eq!(le32(&header, 4) as usize, given.len(), "data comes in order");
                    assert_eq!(le32(&header, 8) as usize, payload.len());
                    assert_eq!(flags & 8, 0, "success is told for itself");
                    given.extend(payload);
                }
                9 => self.send_data(&header, data),
                other => panic!("a PDU of kind {other}"),
            }
        }
    }

    fn send_data(&mut self, ready: &[u8], data: &[u8]) {
        let (first, length) = (le32(ready, 4) as usize, le32(ready, 8) as usize);
        let end = first + length;
        // An odd first piece, so that pieces and parts do not end together.
        let mut at = first;
        while at < end {
            let length = if at == first { 5000 } else { DATA_PDU_MAX }.min(end - at);
            let mut header = ready[..4].to_vec();
            header.resize(16, 0);
            put32(&mut header, 4, u32::try_from(at).unwrap());
            put32(&mut header, 8, u32::try_from(length).unwrap());
            let pdu = self.pdu(6, &header, &data[at..at + length]);
            self.stream.write_all(&pdu).unwrap();
            at += length;
        }
    }

    /// Kind, flags, the rest of the header, data.
    fn receive(&mut self) -> (u8, u8, Vec<u8>, Vec<u8>) {
        let mut common = [0; 8];
        self.stream.read_exact(&mut common).unwrap();
        let mut bytes = common.to_vec();
        bytes.resize(le32(&common, 4) as usize, 0);
        self.stream.read_exact(&mut bytes[8..]).unwrap();
        let head = usize::from(common[2]);
        let mut data = if common[3] == 0 { Vec::new() } else { bytes[common[3].into()..].to_vec() };
        if common[1] & 1 != 0 {
            assert_eq!(crc32c::crc32c(&bytes[..head]), le32(&bytes, head));
        }
        if common[1] & 2 != 0 {
            let digest = data.split_off(data.len() - 4);
            assert_eq!(crc32c::crc32c(&data), le32(&digest, 0));
        }
        (common[0], common[1], bytes[8..head].to_vec(), data)
    }

    /// The daemon closes the connection; what it says before that does not matter.
    pub(crate) fn wait_for_the_end(&mut self) {
        let mut rest = Vec::new();
        // A reset is an end, too.
        drop(self.stream.read_to_end(&mut rest));
        assert_eq!(self.stream.read(&mut [0]).unwrap_or(0), 0, "it goes on");
    }
}

impl Initiator {
    /// A controller that is ready, with one I/O queue.
    pub(crate) fn connect(address: SocketAddr, digests: Digests, keep_alive_ms: u32) -> Self {
        Self::connect_as("host", address, digests, keep_alive_ms)
    }

    pub(crate) fn connect_as(
        host: &str,
        address: SocketAddr,
        digests: Digests,
        keep_alive_ms: u32,
    ) -> Self {
        let mut admin = Line::open(address, digests);
        let (sqe, data) = connect_as(host, 0, CONTROLLER_DYNAMIC, keep_alive_ms, NQN);
        let end = admin.run(sqe, &data, 0);
        assert_eq!(end.status, 0, "{end:?}");
        let id = u16::try_from(end.result & 0xffff).unwrap();
        let enable = command(0x7f, &[(44, &[0x14]), (48, &[1, 0, 0x46, 0])]);
        assert_eq!(admin.run(enable, &[], 0).status, 0);
        let mut io = Line::open(address, digests);
        let (sqe, data) = connect_as(host, 1, id, 0, NQN);
        let end = io.run(sqe, &data, 0);
        assert_eq!((end.status, end.result & 0xffff), (0, id.into()), "{end:?}");
        Self { admin, io, id, namespace: 1 }
    }

    pub(crate) fn identify(&mut self, what: u8) -> Vec<u8> {
        let namespace = if what == 1 { 0 } else { self.namespace };
        let end = self.admin.run(command(6, &[(4, &[namespace]), (40, &[what])]), &[], 4096);
        assert_eq!(end.status, 0);
        end.data
    }

    /// The state of the path, in the numbers of the ANA log.
    pub(crate) fn path(&mut self) -> u8 {
        let end = self.admin.run(command(2, &[(40, &[0x0c])]), &[], 52);
        assert_eq!(end.status, 0);
        end.data[32]
    }

    fn blocks(&self, opcode: u8, offset: u64, length: usize) -> [u8; 64] {
        let last = u16::try_from(length / 512 - 1).unwrap().to_le_bytes();
        command(opcode, &[(4, &[self.namespace]), (40, &(offset / 512).to_le_bytes()), (48, &last)])
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> u16 {
        let sqe = self.blocks(1, offset, data.len());
        self.io.run(sqe, data, 0).status
    }

    /// Force unit access.
    pub(crate) fn write_durably(&mut self, offset: u64, data: &[u8]) -> u16 {
        let mut sqe = self.blocks(1, offset, data.len());
        sqe[51] = 0x40;
        self.io.run(sqe, data, 0).status
    }

    pub(crate) fn read(&mut self, offset: u64, length: usize) -> Vec<u8> {
        let sqe = self.blocks(2, offset, length);
        let end = self.io.run(sqe, &[], length);
        assert_eq!((end.status, end.data.len()), (0, length));
        end.data
    }

    pub(crate) fn zero(&mut self, offset: u64, length: usize) -> u16 {
        let sqe = self.blocks(8, offset, length);
        self.io.run(sqe, &[], 0).status
    }

    pub(crate) fn flush(&mut self) -> u16 {
        self.io.run(command(0, &[(4, &[self.namespace])]), &[], 0).status
    }

    /// Says how a range will be used, and gives nothing back.
    pub(crate) fn hint(&mut self) -> u16 {
        let sqe = command(9, &[(4, &[self.namespace]), (40, &[0]), (44, &[1])]);
        self.io.run(sqe, &[0; 16], 0).status
    }

    /// Deallocates these ranges: offset and length.
    pub(crate) fn deallocate(&mut self, ranges: &[(u64, u32)]) -> u16 {
        let mut data = vec![0; ranges.len() * 16];
        for (place, (offset, length)) in data.chunks_exact_mut(16).zip(ranges) {
            put32(place, 4, length / 512);
            place[8..].copy_from_slice(&(offset / 512).to_le_bytes());
        }
        let last = u8::try_from(ranges.len() - 1).unwrap();
        let sqe = command(9, &[(4, &[self.namespace]), (40, &[last]), (44, &[4])]);
        self.io.run(sqe, &data, 0).status
    }
}
