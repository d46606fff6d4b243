//! Why bytes are refused, and why a value cannot be written.
//!
//! Every refusal says what was being read, at which byte, and the value found there.

/// Bytes from a peer or a disk that are not a value of this format.
///
/// `offset` counts from the start of the decoded buffer; for `NewerVersion` the caller should say
/// that a newer release wrote this, for all others that the bytes are damaged or foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("{what}: ends at byte {offset}, {value} more bytes are needed")]
    Truncated { what: &'static str, offset: usize, value: u64 },
    #[error("{what}: no magic number at byte {offset}, but {value:#x}")]
    WrongMagic { what: &'static str, offset: usize, value: u64 },
    #[error(
        "{what}: byte {offset} says version or feature {value:#x}, which this release does not \
         know; use a newer release"
    )]
    NewerVersion { what: &'static str, offset: usize, value: u64 },
    #[error("{what}: the checksum {value:#010x} at byte {offset} does not match the content")]
    WrongChecksum { what: &'static str, offset: usize, value: u64 },
    #[error("{what}: unknown tag {value:#x} at byte {offset}")]
    UnknownTag { what: &'static str, offset: usize, value: u64 },
    #[error("{what}: value {value} at byte {offset} is not allowed")]
    OutOfRange { what: &'static str, offset: usize, value: u64 },
    #[error("{what}: {value} bytes too many from byte {offset} on")]
    Trailing { what: &'static str, offset: usize, value: u64 },
}

/// A value that does not go into the bytes it is to be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No room is left: send what is there, and put this into an empty buffer.
    #[error("the buffer is full")]
    Full,
    /// It fits into no buffer: the caller has to send it in pieces, or coarsened.
    #[error("{what}: {count} items or bytes, at most {max} can be written")]
    TooLong { what: &'static str, count: usize, max: usize },
}
