//! The stream from an initiator: bytes in, what they mean out.
//!
//! [`Receiver::next`] looks at the bytes that the daemon has and says what they start with. A
//! command comes whole, with the data in its capsule: that is short. The data of a longer write
//! comes in PDUs of its own; the daemon takes it into its own buffers and reports each piece with
//! [`Receiver::advance`], until `next` says how it ended.

use std::ops::Range;

use stdx::checksum::{crc32c, crc32c_append};

use crate::nvme::limits::{CAPSULE_DATA_BYTES_MAX, DATA_PDU_BYTES_MAX};
use crate::nvme::status::Fatal;
use crate::nvme::wire::{
    COMMAND_BYTES, DATA_BYTES, DIGEST_BYTES, FLAG_DATA_DIGEST, FLAG_HEADER_DIGEST, HEADER_BYTES,
    IC_BYTES, PDU_COMMAND, PDU_H2C_DATA, PDU_H2C_TERM, PDU_ICREQ, Sqe, le16, le32,
};

/// Which digests both sides use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    pub header: bool,
    pub data: bool,
}

/// What an initiator says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub digests: Digests,
    /// Data sent to it begins at a multiple of this.
    pub alignment: usize,
}

/// What the digest of data says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Right, or there is none.
    Intact,
    Broken,
}

impl Check {
    fn of(computed: u32, stated: u32) -> Self {
        if computed == stated { Self::Intact } else { Self::Broken }
    }
}

/// A PDU with data of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHead {
    pub command: u16,
    pub tag: u16,
    pub offset: u32,
    pub length: u32,
}

/// What the given bytes start with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// So many bytes are needed in all.
    NeedMore(usize),
    /// Answer it; the digests apply from then on.
    Hello {
        consumed: usize,
        hello: Hello,
    },
    /// `data` lies in the given bytes.
    Command {
        consumed: usize,
        sqe: Sqe,
        data: Range<usize>,
        check: Check,
    },
    /// Data follows in the stream.
    Data {
        consumed: usize,
        head: DataHead,
    },
    /// All of it was taken.
    DataEnd {
        consumed: usize,
        check: Check,
    },
    /// The initiator has given the connection up, for this reason of its own.
    Terminated(u16),
    Invalid(Fatal),
}

#[derive(Debug, Default)]
pub struct Receiver {
    is_greeted: bool,
    digests: Digests,
    payload: Option<Payload>,
}

/// Data that follows.
#[derive(Clone, Copy, Debug)]
struct Payload {
    left: u32,
    digest: u32,
}

/// The lengths that a PDU states.
struct Shape {
    flags: u8,
    /// Of the header with its digest.
    head: usize,
    /// Where data begins, and where it ends.
    data: Range<usize>,
    /// Of everything.
    length: usize,
}

impl Receiver {
    /// A connection whose first words are over.
    #[must_use]
    pub fn greeted(digests: Digests) -> Self {
        Self { is_greeted: true, digests, payload: None }
    }

    #[must_use]
    pub fn next(&mut self, bytes: &[u8]) -> Parsed {
        if let Some(payload) = self.payload {
            return self.end_payload(payload, bytes);
        }
        if bytes.len() < HEADER_BYTES {
            return Parsed::NeedMore(HEADER_BYTES);
        }
        let parsed = match (bytes[0], self.is_greeted) {
            (PDU_ICREQ, false) => self.hello(bytes),
            (PDU_COMMAND, true) => self.command(bytes),
            (PDU_H2C_DATA, true) => self.data(bytes),
            (PDU_H2C_TERM, _) => Self::terminated(bytes),
            (PDU_ICREQ | PDU_COMMAND | PDU_H2C_DATA, _) => {
                Err(Fatal::sequence("a PDU comes where another one must be"))
            }
            _ => Err(Fatal::header(0, "a PDU is of no kind that an initiator sends")),
        };
        parsed.unwrap_or_else(Parsed::Invalid)
    }

    /// So many bytes of data are still to be taken from the stream.
    #[must_use]
    pub fn payload_left(&self) -> u32 {
        self.payload.map_or(0, |payload| payload.left)
    }

    /// The daemon has taken these bytes of data.
    ///
    /// # Panics
    /// If that is more than the PDU has.
    pub fn advance(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).expect("a piece of one PDU");
        let has_digest = self.digests.data;
        let payload = self.payload.as_mut().expect("data is taken while there is some");
        assert!(length <= payload.left, "{length} bytes are taken, {} are left", payload.left);
        payload.left -= length;
        if has_digest {
            payload.digest = crc32c_append(payload.digest, bytes);
        }
    }

    fn end_payload(&mut self, payload: Payload, bytes: &[u8]) -> Parsed {
        assert_eq!(payload.left, 0, "the data of a PDU is taken before what follows it");
        if !self.digests.data {
            self.payload = None;
            return Parsed::DataEnd { consumed: 0, check: Check::Intact };
        }
        if bytes.len() < DIGEST_BYTES {
            return Parsed::NeedMore(DIGEST_BYTES);
        }
        self.payload = None;
        let check = Check::of(payload.digest, le32(bytes, 0));
        Parsed::DataEnd { consumed: DIGEST_BYTES, check }
    }

    fn hello(&mut self, bytes: &[u8]) -> Result<Parsed, Fatal> {
        if usize::from(bytes[2]) != IC_BYTES || le32(bytes, 4) != 128 {
            return Err(Fatal::header(2, "the first PDU has a wrong length"));
        }
        if bytes.len() < IC_BYTES {
            return Ok(Parsed::NeedMore(IC_BYTES));
        }
        if le16(bytes, 8) != 0 {
            return Err(Fatal::header(8, "the version of the PDUs is not 1.0"));
        }
        if bytes[10] > 31 {
            return Err(Fatal::header(10, "data is to be aligned to more than 128 bytes"));
        }
        self.is_greeted = true;
        self.digests = Digests { header: bytes[11] & 1 != 0, data: bytes[11] & 2 != 0 };
        let alignment = (usize::from(bytes[10]) + 1) * 4;
        let hello = Hello { digests: self.digests, alignment };
        Ok(Parsed::Hello { consumed: IC_BYTES, hello })
    }

    fn command(&self, bytes: &[u8]) -> Result<Parsed, Fatal> {
        let shape = self.shape(bytes, COMMAND_BYTES, CAPSULE_DATA_BYTES_MAX)?;
        if bytes.len() < shape.length {
            return Ok(Parsed::NeedMore(shape.length));
        }
        self.check_header(bytes, &shape)?;
        let data = shape.data;
        let check = if shape.flags & FLAG_DATA_DIGEST == 0 {
            Check::Intact
        } else {
            let stated = le32(bytes, shape.length - DIGEST_BYTES);
            Check::of(crc32c(&bytes[data.clone()]), stated)
        };
        let sqe = Sqe::of(&bytes[HEADER_BYTES..]);
        Ok(Parsed::Command { consumed: shape.length, sqe, data, check })
    }

    fn data(&mut self, bytes: &[u8]) -> Result<Parsed, Fatal> {
        let shape = self.shape(bytes, DATA_BYTES, DATA_PDU_BYTES_MAX)?;
        let consumed = shape.data.start;
        if bytes.len() < consumed {
            return Ok(Parsed::NeedMore(consumed));
        }
        self.check_header(bytes, &shape)?;
        let length = le32(bytes, 16);
        if usize::try_from(length) != Ok(shape.data.len()) || length == 0 {
            return Err(Fatal::header(16, "the length of data is not that of its PDU"));
        }
        let head = DataHead {
            command: le16(bytes, 8),
            tag: le16(bytes, 10),
            offset: le32(bytes, 12),
            length,
        };
        self.payload = Some(Payload { left: length, digest: 0 });
        Ok(Parsed::Data { consumed, head })
    }

    fn terminated(bytes: &[u8]) -> Result<Parsed, Fatal> {
        let length = le32(bytes, 4);
        if !(24..=152).contains(&length) {
            return Err(Fatal::header(4, "a last PDU has a wrong length"));
        }
        if bytes.len() < 10 {
            return Ok(Parsed::NeedMore(10));
        }
        Ok(Parsed::Terminated(le16(bytes, 8)))
    }

    /// Reads the common header of a PDU with so long a header and at most so much data.
    fn shape(&self, bytes: &[u8], header: usize, data_max: u32) -> Result<Shape, Fatal> {
        let (flags, length) = (bytes[1], le32(bytes, 4));
        if usize::from(bytes[2]) != header {
            return Err(Fatal::header(2, "the length of a header is wrong"));
        }
        let head = header + if self.digests.header { DIGEST_BYTES } else { 0 };
        if self.digests.header != (flags & FLAG_HEADER_DIGEST != 0) {
            return Err(Fatal::header(1, "a header has a digest, or none, against the agreement"));
        }
        let offset = usize::from(bytes[3]);
        let length = usize::try_from(length).expect("32 bits fit");
        // Data is aligned to four bytes only: nothing needs padding.
        if length == head && (offset == 0 || offset == head) {
            let flags = flags & !FLAG_DATA_DIGEST;
            return Ok(Shape { flags, head, data: head..head, length });
        }
        if offset != head {
            return Err(Fatal::header(3, "data does not begin behind the header"));
        }
        if self.digests.data != (flags & FLAG_DATA_DIGEST != 0) {
            return Err(Fatal::header(1, "data has a digest, or none, against the agreement"));
        }
        let tail = if self.digests.data { DIGEST_BYTES } else { 0 };
        if length <= head + tail {
            return Err(Fatal::header(4, "a PDU is shorter than its header says"));
        }
        let data = head..length - tail;
        if data.len() > usize::try_from(data_max).expect("32 bits fit") {
            return Err(Fatal::too_long());
        }
        Ok(Shape { flags, head, data, length })
    }

    fn check_header(&self, bytes: &[u8], shape: &Shape) -> Result<(), Fatal> {
        let end = shape.head - DIGEST_BYTES;
        if self.digests.header && crc32c(&bytes[..end]) != le32(bytes, end) {
            return Err(Fatal::header_digest());
        }
        Ok(())
    }
}
