//! The numbers of NVMe and of its transport over TCP, and the shape of commands.
//!
//! ```text
//! common header of a PDU   0 type  1 flags  2 header length  3 data offset  4 length of all (4)
//!   ICReq     (128)        8 version (2)  10 alignment  11 digests  12 transfers at a time (4)
//!   ICResp    (128)        8 version (2)  10 alignment  11 digests  12 longest data PDU (4)
//!   Command    (72)        8 submission entry (64)
//!   Response   (24)        8 completion entry (16)
//!   Data       (24)        8 command (2)  10 tag (2)  12 offset (4)  16 length (4)
//!   Ready (R2T 24)         8 command (2)  10 tag (2)  12 offset (4)  16 length (4)
//!   Terminate  (24)        8 reason (2)   10 where (4)
//! behind a header: its digest (4) if agreed, padding up to the data offset, data, its digest (4)
//!
//! submission entry   0 opcode  1 flags  2 command (2)  4 namespace (4); fabrics: 4 kind
//!                    24 data pointer: 24 address (8)  32 length (4)  39 type
//!                    40 .. 64 the command's own words
//! completion entry   0 result (8)  8 head of the queue (2)  10 queue (2)  12 command (2)
//!                    14 status (2)
//! ```
//!
//! All integers are little-endian.

pub const HEADER_BYTES: usize = 8;
pub const IC_BYTES: usize = 128;
pub const COMMAND_BYTES: usize = 72;
pub const RESPONSE_BYTES: usize = 24;
pub const DATA_BYTES: usize = 24;
pub const DIGEST_BYTES: usize = 4;
pub const SQE_BYTES: usize = 64;
pub const CQE_BYTES: usize = 16;

/// Of the flags of a submission entry.
const FLAGS_FUSE: u8 = 0b11;

pub const PDU_ICREQ: u8 = 0;
pub const PDU_ICRESP: u8 = 1;
pub const PDU_H2C_TERM: u8 = 2;
pub const PDU_C2H_TERM: u8 = 3;
pub const PDU_COMMAND: u8 = 4;
pub const PDU_RESPONSE: u8 = 5;
pub const PDU_H2C_DATA: u8 = 6;
pub const PDU_C2H_DATA: u8 = 7;
pub const PDU_READY: u8 = 9;

pub const FLAG_HEADER_DIGEST: u8 = 1 << 0;
pub const FLAG_DATA_DIGEST: u8 = 1 << 1;
pub const FLAG_LAST: u8 = 1 << 2;
pub const FLAG_SUCCESS: u8 = 1 << 3;

pub const ADMIN_GET_LOG: u8 = 0x02;
pub const ADMIN_IDENTIFY: u8 = 0x06;
pub const ADMIN_ABORT: u8 = 0x08;
pub const ADMIN_SET_FEATURES: u8 = 0x09;
pub const ADMIN_GET_FEATURES: u8 = 0x0a;
pub const ADMIN_ASYNC_EVENT: u8 = 0x0c;
pub const ADMIN_KEEP_ALIVE: u8 = 0x18;
pub const FABRICS: u8 = 0x7f;

pub const FABRICS_PROPERTY_SET: u8 = 0x00;
pub const FABRICS_CONNECT: u8 = 0x01;
pub const FABRICS_PROPERTY_GET: u8 = 0x04;
pub const FABRICS_AUTHENTICATION_SEND: u8 = 0x05;
pub const FABRICS_AUTHENTICATION_RECEIVE: u8 = 0x06;

pub const IO_FLUSH: u8 = 0x00;
pub const IO_WRITE: u8 = 0x01;
pub const IO_READ: u8 = 0x02;
pub const IO_WRITE_ZEROES: u8 = 0x08;
pub const IO_DATASET: u8 = 0x09;

pub const LOG_ERROR: u8 = 0x01;
pub const LOG_SMART: u8 = 0x02;
pub const LOG_FIRMWARE: u8 = 0x03;
pub const LOG_CHANGED_NAMESPACES: u8 = 0x04;
pub const LOG_ANA: u8 = 0x0c;
pub const LOG_DISCOVERY: u8 = 0x70;

pub const FEATURE_VOLATILE_CACHE: u8 = 0x06;
pub const FEATURE_QUEUES: u8 = 0x07;
pub const FEATURE_EVENTS: u8 = 0x0b;
pub const FEATURE_KEEP_ALIVE: u8 = 0x0f;
pub const FEATURE_HOST_ID: u8 = 0x81;

pub const PROPERTY_CAP: u32 = 0x00;
pub const PROPERTY_VS: u32 = 0x08;
pub const PROPERTY_CC: u32 = 0x14;
pub const PROPERTY_CSTS: u32 = 0x1c;

/// NVMe 1.4: what a controller must have since then is of no use to the initiators we know.
pub const VERSION: u32 = 0x0001_0400;

pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Before the name of a resource.
pub const SUBSYSTEM_NQN_PREFIX: &str = "nqn.2026-01.local.basalt:";
/// Any controller will do.
pub const CONTROLLER_DYNAMIC: u16 = 0xffff;
pub const NAMESPACES_ALL: u32 = 0xffff_ffff;

/// A command, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sqe([u8; SQE_BYTES]);

/// Where the data of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPointer {
    /// Behind the command.
    Capsule {
        offset: u64,
        length: u32,
    },
    /// It goes over the connection in PDUs of its own.
    Transport {
        length: u32,
    },
    Unknown,
}

impl Sqe {
    /// # Panics
    /// If there are fewer bytes than a command has.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(bytes[..SQE_BYTES].try_into().expect("cut to the length of a command"))
    }

    #[must_use]
    pub fn opcode(&self) -> u8 {
        self.0[0]
    }

    /// It is one half of a pair that counts as one command, or says something that means nothing.
    /// No such pair is supported, as the identity of a controller says (FUSES).
    #[must_use]
    pub fn is_fused(&self) -> bool {
        self.0[1] & FLAGS_FUSE != 0
    }

    #[must_use]
    pub fn command(&self) -> u16 {
        self.half(2)
    }

    #[must_use]
    pub fn namespace(&self) -> u32 {
        self.word(4)
    }

    /// Of a command with the opcode `FABRICS`.
    #[must_use]
    pub fn fabrics_kind(&self) -> u8 {
        self.0[4]
    }

    #[must_use]
    pub fn data(&self) -> DataPointer {
        let length = self.word(32);
        match self.0[39] {
            0x01 => DataPointer::Capsule { offset: self.double(24), length },
            0x5a => DataPointer::Transport { length },
            _ => DataPointer::Unknown,
        }
    }

    #[must_use]
    pub fn byte(&self, at: usize) -> u8 {
        self.0[at]
    }

    #[must_use]
    pub fn half(&self, at: usize) -> u16 {
        le16(&self.0, at)
    }

    #[must_use]
    pub fn word(&self, at: usize) -> u32 {
        le32(&self.0, at)
    }

    #[must_use]
    pub fn double(&self, at: usize) -> u64 {
        le64(&self.0, at)
    }
}

#[must_use]
pub fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

#[must_use]
pub fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[must_use]
pub fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub fn put16(out: &mut [u8], at: usize, value: u16) {
    out[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

pub fn put32(out: &mut [u8], at: usize, value: u32) {
    out[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

pub fn put64(out: &mut [u8], at: usize, value: u64) {
    out[at..at + 8].copy_from_slice(&value.to_le_bytes());
}
