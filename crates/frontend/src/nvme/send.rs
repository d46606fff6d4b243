//! PDUs to an initiator, as bytes.
//!
//! Everything is written into a buffer of the caller; data is never touched, but for its digest.
//! Each function gives the number of bytes written, and panics when the buffer is shorter than
//! [`PDU_BYTES_MAX`].

use stdx::checksum::crc32c;

use crate::nvme::limits::DATA_PDU_BYTES_MAX;
use crate::nvme::receive::{Digests, Hello};
use crate::nvme::status::{Fatal, Status};
use crate::nvme::wire::{
    DATA_BYTES, DIGEST_BYTES, FLAG_DATA_DIGEST, FLAG_HEADER_DIGEST, FLAG_LAST, FLAG_SUCCESS,
    HEADER_BYTES, IC_BYTES, PDU_C2H_DATA, PDU_C2H_TERM, PDU_ICRESP, PDU_READY, PDU_RESPONSE,
    RESPONSE_BYTES, put16, put32, put64,
};

/// Room for every PDU without its data: the longest header, a digest, and padding.
pub const PDU_BYTES_MAX: u32 = 256;
/// What of a PDU that makes no sense is sent back.
const OFFENDING_BYTES_MAX: usize = 128;

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub command: u16,
    pub result: u64,
    pub status: Status,
}

impl Completion {
    #[must_use]
    pub fn of(command: u16, status: Status) -> Self {
        Self { command, result: 0, status }
    }
}

/// Whether more data of the same command will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataEnd {
    More,
    /// A completion follows.
    Last,
    /// With it the command has succeeded: no completion follows.
    Success,
}

/// A stretch of a command's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub command: u16,
    pub offset: u32,
    pub length: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    digests: Digests,
    alignment: usize,
}

impl Encoder {
    #[must_use]
    pub fn new(hello: &Hello) -> Self {
        Self { digests: hello.digests, alignment: hello.alignment }
    }

    /// The answer to the first PDU; it has no digest itself.
    pub fn hello(&self, out: &mut [u8]) -> usize {
        let out = &mut out[..IC_BYTES];
        out.fill(0);
        header(out, PDU_ICRESP, IC_BYTES);
        out[11] = u8::from(self.digests.header) | u8::from(self.digests.data) << 1;
        put32(out, 12, DATA_PDU_BYTES_MAX);
        IC_BYTES
    }

    /// `head` is that of the submission queue `queue`.
    pub fn completion(&self, end: &Completion, queue: u16, head: u16, out: &mut [u8]) -> usize {
        let pdu = &mut out[..RESPONSE_BYTES];
        header(pdu, PDU_RESPONSE, RESPONSE_BYTES);
        put64(pdu, 8, end.result);
        put16(pdu, 16, head);
        put16(pdu, 18, queue);
        put16(pdu, 20, end.command);
        put16(pdu, 22, end.status.field());
        self.seal(out, RESPONSE_BYTES)
    }

    /// The head of a PDU with data; the data follows, and then its digest.
    pub fn data_head(&self, stretch: Stretch, end: DataEnd, out: &mut [u8]) -> usize {
        let digest = if self.digests.header { DIGEST_BYTES } else { 0 };
        let start = (DATA_BYTES + digest).next_multiple_of(self.alignment);
        out[..start].fill(0);
        out[0] = PDU_C2H_DATA;
        out[1] = match end {
            DataEnd::More => 0,
            DataEnd::Last => FLAG_LAST,
            DataEnd::Success => FLAG_LAST | FLAG_SUCCESS,
        };
        let mut length = u32::try_from(start).expect("a short head") + stretch.length;
        if self.digests.data {
            out[1] |= FLAG_DATA_DIGEST;
            length += 4;
        }
        out[2] = byte(DATA_BYTES);
        out[3] = byte(start);
        put32(out, 4, length);
        put16(out, 8, stretch.command);
        put32(out, 12, stretch.offset);
        put32(out, 16, stretch.length);
        if self.digests.header {
            out[1] |= FLAG_HEADER_DIGEST;
            let digest = crc32c(&out[..DATA_BYTES]);
            put32(out, DATA_BYTES, digest);
        }
        start
    }

    #[must_use]
    pub fn has_data_digest(&self) -> bool {
        self.digests.data
    }

    /// What follows data; nothing if that was agreed.
    pub fn data_digest(&self, data: &[u8], out: &mut [u8]) -> usize {
        if !self.digests.data {
            return 0;
        }
        put32(out, 0, crc32c(data));
        DIGEST_BYTES
    }

    /// The initiator may send this stretch of a write.
    pub fn ready(&self, stretch: Stretch, tag: u16, out: &mut [u8]) -> usize {
        let pdu = &mut out[..DATA_BYTES];
        pdu.fill(0);
        header(pdu, PDU_READY, DATA_BYTES);
        put16(pdu, 8, stretch.command);
        put16(pdu, 10, tag);
        put32(pdu, 12, stretch.offset);
        put32(pdu, 16, stretch.length);
        self.seal(out, DATA_BYTES)
    }

    /// The last PDU of a connection, with the beginning of what is wrong.
    pub fn terminate(&self, fatal: &Fatal, offending: &[u8], out: &mut [u8]) -> usize {
        let shown = &offending[..offending.len().min(OFFENDING_BYTES_MAX)];
        let pdu = &mut out[..DATA_BYTES + shown.len()];
        pdu[..DATA_BYTES].fill(0);
        header(pdu, PDU_C2H_TERM, DATA_BYTES);
        put32(pdu, 4, u32::try_from(DATA_BYTES + shown.len()).expect("a short PDU"));
        put16(pdu, 8, fatal.code);
        put32(pdu, 10, fatal.at);
        pdu[DATA_BYTES..].copy_from_slice(shown);
        DATA_BYTES + shown.len()
    }

    /// Puts the digest behind a header.
    fn seal(&self, out: &mut [u8], length: usize) -> usize {
        if !self.digests.header {
            return length;
        }
        out[1] |= FLAG_HEADER_DIGEST;
        let whole = length + DIGEST_BYTES;
        put32(out, 4, u32::try_from(whole).expect("a short PDU"));
        let digest = crc32c(&out[..length]);
        put32(out, length, digest);
        whole
    }
}

/// The common header of a PDU without data.
fn header(out: &mut [u8], kind: u8, length: usize) {
    out[..HEADER_BYTES].fill(0);
    out[0] = kind;
    out[2] = byte(length);
    put32(out, 4, u32::try_from(length).expect("a short PDU"));
}

fn byte(length: usize) -> u8 {
    u8::try_from(length).expect("headers are short")
}
