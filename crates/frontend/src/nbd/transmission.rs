//! The server's side of the transmission phase: bytes in, requests out.
//!
//! [`Transmission::next`] looks at the bytes that the daemon has and says what they are. It judges
//! each request against what was agreed, so the daemon sees only requests that it can carry out.
//!
//! The payload of a write follows its head in the stream. The daemon takes it into its own
//! buffers, in pieces, and reports each with [`Transmission::advance_payload`]; until all of it is
//! taken, `next` must not be called. The payload of a refused write is thrown away here, and its
//! refusal is given out only when the stream is past it: a client may be unable to take an answer
//! to a request that it is still sending.

use crate::nbd::handshake::{Agreement, BlockSizes};
use crate::nbd::limits::{PAYLOAD_BYTES_MAX, PAYLOAD_DRAIN_BYTES_MAX};
use crate::nbd::wire::{
    CMD_FLAG_DF, CMD_FLAG_FAST_ZERO, CMD_FLAG_FUA, CMD_FLAG_NO_HOLE, CMD_FLAG_PAYLOAD_LEN,
    CMD_FLAG_REQ_ONE, Command, EXTENDED_REQUEST_BYTES, EXTENDED_REQUEST_MAGIC, Errno,
    FLAG_READ_ONLY, FLAG_SEND_CACHE, FLAG_SEND_DF, FLAG_SEND_FAST_ZERO, FLAG_SEND_FLUSH,
    FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES, REQUEST_BYTES, REQUEST_MAGIC, ReplyForm,
    be16, be32, be64,
};

/// One session after the handshake.
#[derive(Debug)]
pub struct Transmission {
    form: ReplyForm,
    size_bytes: u64,
    /// Transmission flags, as the client was told them.
    flags: u16,
    blocks: BlockSizes,
    allocation_context: Option<u32>,
    payload: Payload,
}

/// What the stream holds before the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    None,
    /// Of a write that was handed out.
    Wanted {
        left: u64,
    },
    /// Of a request that is refused once the payload is past.
    Refused {
        left: u64,
        refusal: Refusal,
    },
}

/// What the given bytes start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// At least so many more bytes are needed.
    NeedMore(usize),
    /// Carry this out. After a write's head its payload follows in the stream.
    Request { consumed: usize, request: Request },
    /// Part of a payload that nobody wants; go on after it.
    Skipped { consumed: usize },
    /// Answer this; the session lives on.
    Refused { consumed: usize, refusal: Refusal },
    /// Answer what is in flight, then close. There is no reply.
    Disconnect,
    /// The stream makes no sense any more: close at once.
    Invalid(CloseReason),
}

/// A request within the bounds of its export, of any bytes, with the flags it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client's own mark, repeated in the reply.
    pub cookie: u64,
    pub kind: Kind,
    pub offset: u64,
    /// Zero for a flush, more for everything else.
    pub length: u64,
    /// Reply when the effect is durable.
    pub fua: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `df`: the reply must not be split into chunks.
    Read {
        df: bool,
    },
    Write,
    Flush,
    Trim,
    /// `no_hole`: allocate what is zeroed. `fast`: fail when it is not faster than a write.
    WriteZeroes {
        no_hole: bool,
        fast: bool,
    },
    Cache,
    /// `req_one`: tell of one extent only.
    BlockStatus {
        req_one: bool,
    },
}

/// A request that is answered by an error and not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub cookie: u64,
    pub offset: u64,
    pub errno: Errno,
    /// For the client's user; sent where the form of replies has room for it.
    pub message: &'static str,
}

/// Why a stream of requests is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    #[error("a request starts with {0:#010x}; the client has lost its place in the stream")]
    BadMagic(u32),
    #[error("a request announces a payload of {length} bytes; at most {max} are taken")]
    PayloadTooLong { length: u64, max: u64 },
}

/// A request as it stood on the wire.
struct Head {
    flags: u16,
    command: u16,
    cookie: u64,
    offset: u64,
    length: u64,
}

type Verdict = Result<Kind, (Errno, &'static str)>;

impl Transmission {
    #[must_use]
    pub fn new(agreement: &Agreement) -> Self {
        let blocks = agreement.export.blocks;
        assert!(blocks.min_bytes.is_power_of_two(), "blocks of {} bytes", blocks.min_bytes);
        assert!(blocks.payload_max_bytes <= PAYLOAD_BYTES_MAX, "longer requests cannot be split");
        assert!(agreement.export.size_bytes.is_multiple_of(blocks.min_bytes.into()));
        Self {
            form: agreement.replies,
            size_bytes: agreement.export.size_bytes,
            flags: agreement.flags,
            blocks,
            allocation_context: agreement.allocation_context,
            payload: Payload::None,
        }
    }

    /// How much of a write's payload is still to come.
    #[must_use]
    pub fn payload_left(&self) -> u64 {
        match self.payload {
            Payload::Wanted { left } => left,
            Payload::None | Payload::Refused { .. } => 0,
        }
    }

    /// Some of a write's payload has been taken from the stream.
    ///
    /// # Panics
    /// When it is more than was left.
    pub fn advance_payload(&mut self, bytes: u64) {
        let left = self.payload_left();
        assert!(bytes <= left, "{bytes} bytes taken of {left} that were left");
        self.payload =
            if bytes == left { Payload::None } else { Payload::Wanted { left: left - bytes } };
    }

    /// Says what `bytes` start with, and takes note of it: the consumed bytes must not be given
    /// again.
    ///
    /// # Panics
    /// While a write's payload is not taken.
    pub fn next(&mut self, bytes: &[u8]) -> Parsed {
        match self.payload {
            Payload::Wanted { left } => panic!("{left} bytes of a payload are not taken yet"),
            Payload::Refused { left: 0, refusal } => {
                self.payload = Payload::None;
                return Parsed::Refused { consumed: 0, refusal };
            }
            Payload::Refused { left, .. } if bytes.is_empty() => {
                return Parsed::NeedMore(usize::try_from(left).unwrap_or(usize::MAX));
            }
            Payload::Refused { left, refusal } => {
                let skipped = left.min(bytes.len() as u64);
                self.payload = Payload::Refused { left: left - skipped, refusal };
                let consumed = usize::try_from(skipped).expect("not more than was given");
                return Parsed::Skipped { consumed };
            }
            Payload::None => {}
        }
        let (magic, head_bytes) = match self.form {
            ReplyForm::Simple | ReplyForm::Structured => (REQUEST_MAGIC, REQUEST_BYTES),
            ReplyForm::Extended => (EXTENDED_REQUEST_MAGIC, EXTENDED_REQUEST_BYTES),
        };
        if bytes.len() >= 4 && be32(bytes) != magic {
            return Parsed::Invalid(CloseReason::BadMagic(be32(bytes)));
        }
        if bytes.len() < head_bytes {
            return Parsed::NeedMore(head_bytes - bytes.len());
        }
        self.on_head(&Head::decode(&bytes[..head_bytes]), head_bytes)
    }

    fn on_head(&mut self, head: &Head, consumed: usize) -> Parsed {
        let command = Command::from_number(head.command);
        if command == Some(Command::Disconnect) {
            return Parsed::Disconnect;
        }
        let payload_bytes = self.payload_bytes(command, head);
        let max = match self.form {
            ReplyForm::Simple | ReplyForm::Structured => PAYLOAD_DRAIN_BYTES_MAX,
            ReplyForm::Extended => u64::from(self.blocks.payload_max_bytes),
        };
        if payload_bytes > max {
            return Parsed::Invalid(CloseReason::PayloadTooLong { length: payload_bytes, max });
        }
        let Head { cookie, offset, length, .. } = *head;
        match self.judge(command, head) {
            Ok(kind) => {
                if payload_bytes > 0 {
                    self.payload = Payload::Wanted { left: payload_bytes };
                }
                let fua = head.flags & CMD_FLAG_FUA != 0;
                Parsed::Request { consumed, request: Request { cookie, kind, offset, length, fua } }
            }
            Err((errno, message)) => {
                let refusal = Refusal { cookie, offset, errno, message };
                if payload_bytes == 0 {
                    return Parsed::Refused { consumed, refusal };
                }
                self.payload = Payload::Refused { left: payload_bytes, refusal };
                Parsed::Skipped { consumed }
            }
        }
    }

    /// How many bytes follow the head, be it valid or not.
    fn payload_bytes(&self, command: Option<Command>, head: &Head) -> u64 {
        let has_payload = match self.form {
            ReplyForm::Simple | ReplyForm::Structured => command == Some(Command::Write),
            ReplyForm::Extended => head.flags & CMD_FLAG_PAYLOAD_LEN != 0,
        };
        if has_payload { head.length } else { 0 }
    }

    fn judge(&self, command: Option<Command>, head: &Head) -> Verdict {
        let Some(command) = command else {
            return Err((Errno::Invalid, "unknown command"));
        };
        let kind = self.judge_flags(command, head.flags)?;
        if kind == Kind::Flush {
            let is_plain = head.offset == 0 && head.length == 0;
            return if is_plain { Ok(kind) } else { Err((Errno::Invalid, "a flush has no range")) };
        }
        let is_writing = matches!(kind, Kind::Write | Kind::Trim | Kind::WriteZeroes { .. });
        if is_writing && self.flags & FLAG_READ_ONLY != 0 {
            return Err((Errno::NotPermitted, "the export is read-only"));
        }
        let has_payload = matches!(kind, Kind::Write | Kind::Read { .. });
        if has_payload && head.length > u64::from(self.blocks.payload_max_bytes) {
            return Err((Errno::Invalid, "longer than the largest payload"));
        }
        if head.length == 0 {
            return Err((Errno::Invalid, "the range is empty"));
        }
        if head.offset.checked_add(head.length).is_none_or(|end| end > self.size_bytes) {
            let is_storing = matches!(kind, Kind::Write | Kind::WriteZeroes { .. });
            let errno = if is_storing { Errno::NoSpace } else { Errno::Invalid };
            return Err((errno, "the range reaches past the end of the export"));
        }
        Ok(kind)
    }

    /// Whether the command was offered, and with these flags. FUA, once offered, is taken on every
    /// command, for clients are known to set it everywhere.
    fn judge_flags(&self, command: Command, flags: u16) -> Verdict {
        let has = |flag: u16| flags & flag != 0;
        let is_offered = |ability: u16| self.flags & ability != 0;
        let is_extended = self.form == ReplyForm::Extended;
        // A read-only export does not offer writes, but refuses them by a reason of its own.
        let is_read_only = is_offered(FLAG_READ_ONLY);
        let (kind, ability, known) = match command {
            Command::Read => {
                let df = if is_offered(FLAG_SEND_DF) { CMD_FLAG_DF } else { 0 };
                (Kind::Read { df: has(CMD_FLAG_DF) }, true, df)
            }
            Command::Write => {
                (Kind::Write, true, if is_extended { CMD_FLAG_PAYLOAD_LEN } else { 0 })
            }
            Command::Flush => (Kind::Flush, is_offered(FLAG_SEND_FLUSH), 0),
            Command::Trim => (Kind::Trim, is_offered(FLAG_SEND_TRIM) || is_read_only, 0),
            Command::Cache => (Kind::Cache, is_offered(FLAG_SEND_CACHE), 0),
            Command::WriteZeroes => {
                let fast = is_offered(FLAG_SEND_FAST_ZERO) || is_read_only;
                let kind = Kind::WriteZeroes {
                    no_hole: has(CMD_FLAG_NO_HOLE),
                    fast: has(CMD_FLAG_FAST_ZERO),
                };
                let known = CMD_FLAG_NO_HOLE | if fast { CMD_FLAG_FAST_ZERO } else { 0 };
                (kind, is_offered(FLAG_SEND_WRITE_ZEROES) || is_read_only, known)
            }
            Command::BlockStatus => {
                let kind = Kind::BlockStatus { req_one: has(CMD_FLAG_REQ_ONE) };
                (kind, self.allocation_context.is_some(), CMD_FLAG_REQ_ONE)
            }
            Command::Disconnect => unreachable!("a disconnect is not judged"),
        };
        let fua = if is_offered(FLAG_SEND_FUA) { CMD_FLAG_FUA } else { 0 };
        if flags & !(known | fua) != 0 {
            return Err((Errno::Invalid, "a flag that the command does not have"));
        }
        if is_extended && command == Command::Write && !has(CMD_FLAG_PAYLOAD_LEN) {
            return Err((Errno::Invalid, "a write without a payload"));
        }
        if ability { Ok(kind) } else { Err((Errno::Invalid, "the command was not negotiated")) }
    }
}

impl Head {
    /// The two forms differ only in the length, which comes last.
    fn decode(bytes: &[u8]) -> Self {
        let tail = &bytes[24..];
        Self {
            flags: be16(&bytes[4..]),
            command: be16(&bytes[6..]),
            cookie: be64(&bytes[8..]),
            offset: be64(&bytes[16..]),
            length: if tail.len() == 8 { be64(tail) } else { u64::from(be32(tail)) },
        }
    }
}
