//! The numbers of the NBD protocol: magics, options, commands, flags, errors.
//!
//! All integers on the wire are big-endian. Both ends of this crate take their numbers from here
//! and from nowhere else.

use std::fmt;

// ---- Handshake --------------------------------------------------------------------------------

pub const GREETING_MAGIC: u64 = 0x4e42_444d_4147_4943; // "NBDMAGIC"
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054; // "IHAVEOPT"
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

/// Handshake flags, sent by the server; the client answers with the same bits in 32 bits.
pub const HANDSHAKE_FIXED_NEWSTYLE: u16 = 1 << 0;
pub const HANDSHAKE_NO_ZEROES: u16 = 1 << 1;

pub const OPT_EXPORT_NAME: u32 = 1;
pub const OPT_ABORT: u32 = 2;
pub const OPT_LIST: u32 = 3;
pub const OPT_STARTTLS: u32 = 5;
pub const OPT_INFO: u32 = 6;
pub const OPT_GO: u32 = 7;
pub const OPT_STRUCTURED_REPLY: u32 = 8;
pub const OPT_LIST_META_CONTEXT: u32 = 9;
pub const OPT_SET_META_CONTEXT: u32 = 10;
pub const OPT_EXTENDED_HEADERS: u32 = 11;

pub const REP_ACK: u32 = 1;
pub const REP_SERVER: u32 = 2;
pub const REP_INFO: u32 = 3;
pub const REP_META_CONTEXT: u32 = 4;
/// Every error reply to an option has this bit.
pub const REP_ERROR_BIT: u32 = 1 << 31;
pub const REP_ERR_UNSUP: u32 = REP_ERROR_BIT + 1;
pub const REP_ERR_POLICY: u32 = REP_ERROR_BIT + 2;
pub const REP_ERR_INVALID: u32 = REP_ERROR_BIT + 3;
pub const REP_ERR_PLATFORM: u32 = REP_ERROR_BIT + 4;
pub const REP_ERR_TLS_REQD: u32 = REP_ERROR_BIT + 5;
pub const REP_ERR_UNKNOWN: u32 = REP_ERROR_BIT + 6;
pub const REP_ERR_SHUTDOWN: u32 = REP_ERROR_BIT + 7;
pub const REP_ERR_BLOCK_SIZE_REQD: u32 = REP_ERROR_BIT + 8;
pub const REP_ERR_TOO_BIG: u32 = REP_ERROR_BIT + 9;
pub const REP_ERR_EXT_HEADER_REQD: u32 = REP_ERROR_BIT + 10;

pub const INFO_EXPORT: u16 = 0;
pub const INFO_NAME: u16 = 1;
pub const INFO_DESCRIPTION: u16 = 2;
pub const INFO_BLOCK_SIZE: u16 = 3;

/// The only metadata context of the standard.
pub const BASE_ALLOCATION: &str = "base:allocation";

/// No string of the protocol may be longer.
pub const STRING_BYTES_MAX: usize = 4096;

// ---- Transmission flags -----------------------------------------------------------------------

pub const FLAG_HAS_FLAGS: u16 = 1 << 0;
pub const FLAG_READ_ONLY: u16 = 1 << 1;
pub const FLAG_SEND_FLUSH: u16 = 1 << 2;
pub const FLAG_SEND_FUA: u16 = 1 << 3;
pub const FLAG_ROTATIONAL: u16 = 1 << 4;
pub const FLAG_SEND_TRIM: u16 = 1 << 5;
pub const FLAG_SEND_WRITE_ZEROES: u16 = 1 << 6;
pub const FLAG_SEND_DF: u16 = 1 << 7;
pub const FLAG_CAN_MULTI_CONN: u16 = 1 << 8;
pub const FLAG_SEND_RESIZE: u16 = 1 << 9;
pub const FLAG_SEND_CACHE: u16 = 1 << 10;
pub const FLAG_SEND_FAST_ZERO: u16 = 1 << 11;
pub const FLAG_BLOCK_STATUS_PAYLOAD: u16 = 1 << 12;

// ---- Requests ---------------------------------------------------------------------------------

pub const REQUEST_MAGIC: u32 = 0x2560_9513;
pub const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
pub const REQUEST_BYTES: usize = 28;
pub const EXTENDED_REQUEST_BYTES: usize = 32;

pub const CMD_FLAG_FUA: u16 = 1 << 0;
pub const CMD_FLAG_NO_HOLE: u16 = 1 << 1;
pub const CMD_FLAG_DF: u16 = 1 << 2;
pub const CMD_FLAG_REQ_ONE: u16 = 1 << 3;
pub const CMD_FLAG_FAST_ZERO: u16 = 1 << 4;
pub const CMD_FLAG_PAYLOAD_LEN: u16 = 1 << 5;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Command {
    Read = 0,
    Write = 1,
    Disconnect = 2,
    Flush = 3,
    Trim = 4,
    Cache = 5,
    WriteZeroes = 6,
    BlockStatus = 7,
}

impl Command {
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::Read,
            1 => Self::Write,
            2 => Self::Disconnect,
            3 => Self::Flush,
            4 => Self::Trim,
            5 => Self::Cache,
            6 => Self::WriteZeroes,
            7 => Self::BlockStatus,
            _ => return None,
        })
    }

    #[must_use]
    pub fn number(self) -> u16 {
        self as u16
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Disconnect => "disconnect",
            Self::Flush => "flush",
            Self::Trim => "trim",
            Self::Cache => "cache",
            Self::WriteZeroes => "write zeroes",
            Self::BlockStatus => "block status",
        })
    }
}

// ---- Replies ----------------------------------------------------------------------------------

pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
pub const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;
pub const SIMPLE_REPLY_BYTES: usize = 16;
pub const STRUCTURED_REPLY_BYTES: usize = 20;
pub const EXTENDED_REPLY_BYTES: usize = 32;

pub const REPLY_FLAG_DONE: u16 = 1 << 0;

pub const REPLY_TYPE_NONE: u16 = 0;
pub const REPLY_TYPE_OFFSET_DATA: u16 = 1;
pub const REPLY_TYPE_OFFSET_HOLE: u16 = 2;
pub const REPLY_TYPE_BLOCK_STATUS: u16 = 5;
pub const REPLY_TYPE_BLOCK_STATUS_EXT: u16 = 6;
pub const REPLY_TYPE_ERROR_BIT: u16 = 1 << 15;
pub const REPLY_TYPE_ERROR: u16 = REPLY_TYPE_ERROR_BIT + 1;
pub const REPLY_TYPE_ERROR_OFFSET: u16 = REPLY_TYPE_ERROR_BIT + 2;

pub const STATE_HOLE: u32 = 1 << 0;
pub const STATE_ZERO: u32 = 1 << 1;

/// The form of every reply of a session, agreed in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyForm {
    /// One reply per request; data follows a read's reply without a length of its own.
    Simple,
    /// Reads and block status are answered by chunks, which carry their length.
    Structured,
    /// Requests and replies have headers of 32 bytes and lengths of 64 bits.
    Extended,
}

/// One stretch of an export and the state of its blocks (`STATE_` bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub length_bytes: u64,
    pub state: u32,
}

/// The errors that may stand in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    NotPermitted = 1,
    Io = 5,
    NoMemory = 12,
    Invalid = 22,
    NoSpace = 28,
    Overflow = 75,
    NotSupported = 95,
    Shutdown = 108,
}

impl Errno {
    /// The protocol asks to read an unknown number as an invalid argument.
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::NotPermitted,
            5 => Self::Io,
            12 => Self::NoMemory,
            28 => Self::NoSpace,
            75 => Self::Overflow,
            95 => Self::NotSupported,
            108 => Self::Shutdown,
            _ => Self::Invalid,
        }
    }

    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPermitted => "EPERM, not permitted",
            Self::Io => "EIO, input/output error",
            Self::NoMemory => "ENOMEM, out of memory",
            Self::Invalid => "EINVAL, invalid argument",
            Self::NoSpace => "ENOSPC, no space left on the device",
            Self::Overflow => "EOVERFLOW, value too large",
            Self::NotSupported => "ENOTSUP, not supported",
            Self::Shutdown => "ESHUTDOWN, the server is shutting down",
        })
    }
}

// ---- Integers ---------------------------------------------------------------------------------

pub(crate) fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes(bytes[..2].try_into().expect("two bytes"))
}

pub(crate) fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().expect("four bytes"))
}

pub(crate) fn be64(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().expect("eight bytes"))
}
