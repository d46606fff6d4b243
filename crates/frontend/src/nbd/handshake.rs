//! The server's part of the fixed newstyle handshake.
//!
//! [`Handshake::step`] is fed with what the client sent, in pieces of any size, and appends what
//! is to be sent back. It answers at most one option per step, so a client that sends options
//! without reading the answers gathers no more than one answer in the server.
//!
//! Invariants: at most [`OPTION_BYTES_MAX`] bytes of input are kept, at most [`OPTIONS_MAX`]
//! options are answered. What is negotiated counts only for the export it was negotiated for.
//! Encryption is either not offered at all, or required (`Secrecy`): then nothing but STARTTLS
//! and a goodbye is answered in the clear, so nothing that was said before TLS counts after it.

mod option;

use crate::nbd::limits::{
    BLOCK_MIN_BYTES, BLOCK_PREFERRED_BYTES, OPTION_BYTES_MAX, OPTION_DRAIN_BYTES_MAX, OPTIONS_MAX,
    PAYLOAD_BYTES_MAX,
};
use crate::nbd::wire::{
    FLAG_CAN_MULTI_CONN, FLAG_HAS_FLAGS, FLAG_READ_ONLY, FLAG_SEND_CACHE, FLAG_SEND_DF,
    FLAG_SEND_FAST_ZERO, FLAG_SEND_FLUSH, FLAG_SEND_FUA, FLAG_SEND_TRIM, FLAG_SEND_WRITE_ZEROES,
    GREETING_MAGIC, HANDSHAKE_FIXED_NEWSTYLE, HANDSHAKE_NO_ZEROES, OPT_EXPORT_NAME, OPTION_MAGIC,
    REP_ERR_TOO_BIG, REP_ERR_UNSUP, ReplyForm, be32, be64,
};

/// The number by which a session calls `base:allocation`.
pub const ALLOCATION_CONTEXT: u32 = 1;

const CLIENT_FLAGS_BYTES: usize = 4;
const OPTION_HEAD_BYTES: usize = 16;

/// One connection from the greeting to the choice of an export.
#[derive(Debug)]
pub struct Handshake {
    phase: Phase,
    /// The start of what the phase waits for.
    gathered: Vec<u8>,
    options_taken: u32,
    padding: Padding,
    replies: ReplyForm,
    secrecy: Secrecy,
    /// The name of the export for which `base:allocation` was granted.
    allocation_of: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    ClientFlags,
    OptionHead,
    OptionPayload { option: u32, length: usize },
    Drain { option: u32, left: u32 },
    Ended,
}

/// The 124 zeroes that the oldest way to choose an export ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Send,
    Omit,
}

/// Whether the client has to encrypt what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrecy {
    /// It cannot.
    ClearText,
    /// It has to begin with it.
    Required,
    /// It does.
    Secured,
}

/// What the daemon knows about its exports, for one step.
#[derive(Clone, Copy)]
pub struct Directory<'a> {
    /// What a client that asks for a list is shown.
    pub listed: &'a [Export],
    /// Resolves a name, also one that is not listed; the empty name means the default export.
    pub find: &'a dyn Fn(&str) -> Result<Export, Unavailable>,
}

/// One export as it is now. A session keeps the size and access that it was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name that the server itself uses.
    pub name: String,
    /// For people; may be empty.
    pub description: String,
    /// A rest smaller than the smallest block is not served.
    pub size_bytes: u64,
    pub access: Access,
    /// The abilities that are offered; see [`Export::ABILITIES`].
    pub abilities: u16,
    pub blocks: BlockSizes,
    /// The daemon's own mark, given back in the agreement.
    pub id: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    ReadOnly,
}

/// What clients are told of sizes. All are powers of two, except the largest payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// Clients that ask are to keep to multiples of it. Others do not: any bytes are served.
    pub min_bytes: u32,
    pub preferred_bytes: u32,
    pub payload_max_bytes: u32,
}

/// Why a name leads to no export. The text is shown to the client's user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    Unknown,
    /// The export exists, but not for this client or not now.
    Refused(String),
    ShuttingDown,
}

/// What a step did.
#[derive(Debug)]
pub struct Step {
    /// How many of the given bytes are used up.
    pub consumed: usize,
    pub next: Next,
}

#[derive(Debug)]
pub enum Next {
    /// Send the output, then step again: with the bytes that are left, or with new ones.
    More,
    /// Send the output; the bytes that are left belong to TLS. Step again with what TLS brings.
    StartTls,
    /// Send the output; the bytes that are left belong to the transmission phase.
    Transmission(Box<Agreement>),
    /// Send the output and close.
    Close(CloseReason),
}

/// What both sides have agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    pub export: Export,
    /// The transmission flags as the client was told them.
    pub flags: u16,
    pub replies: ReplyForm,
    /// The context that block status answers for, when the client asked for it.
    pub allocation_context: Option<u32>,
}

/// Why a handshake ends without an export.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    #[error("the client said goodbye before choosing an export")]
    Aborted,
    #[error("the client set unknown handshake flags {0:#x}")]
    UnknownClientFlags(u32),
    #[error("an option starts with {0:#018x}; is it an NBD client?")]
    BadMagic(u64),
    #[error("option {option} has {length} bytes, more than any option needs")]
    OptionTooLong { option: u32, length: u32 },
    #[error("the client sent more than {OPTIONS_MAX} options and chose no export")]
    TooManyOptions,
    #[error("the client chose an export in clear text, and TLS is required")]
    ClearText,
    /// The oldest way to choose an export has no other answer.
    #[error("the client chose an export that cannot be served to it by EXPORT_NAME")]
    NoExport,
}

impl BlockSizes {
    pub const DEFAULT: Self = Self {
        min_bytes: BLOCK_MIN_BYTES,
        preferred_bytes: BLOCK_PREFERRED_BYTES,
        payload_max_bytes: PAYLOAD_BYTES_MAX,
    };
}

impl Export {
    /// All that a writable export may offer. A read-only one offers what is left without writes.
    pub const ABILITIES: u16 = FLAG_SEND_FLUSH
        | FLAG_SEND_FUA
        | FLAG_SEND_TRIM
        | FLAG_SEND_WRITE_ZEROES
        | FLAG_SEND_FAST_ZERO
        | FLAG_SEND_CACHE
        | FLAG_CAN_MULTI_CONN;
    const ABILITIES_OF_WRITERS: u16 = FLAG_SEND_TRIM | FLAG_SEND_WRITE_ZEROES | FLAG_SEND_FAST_ZERO;

    /// An export that offers everything, with the usual sizes.
    #[must_use]
    pub fn new(name: impl Into<String>, size_bytes: u64, access: Access) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            size_bytes,
            access,
            abilities: Self::ABILITIES,
            blocks: BlockSizes::DEFAULT,
            id: 0,
        }
    }

    /// The flags of a session of this export.
    fn transmission_flags(&self, replies: ReplyForm) -> u16 {
        let mut flags = FLAG_HAS_FLAGS | (self.abilities & Self::ABILITIES);
        if flags & FLAG_SEND_WRITE_ZEROES == 0 {
            flags &= !FLAG_SEND_FAST_ZERO;
        }
        if self.access == Access::ReadOnly {
            flags = (flags & !Self::ABILITIES_OF_WRITERS) | FLAG_READ_ONLY;
        }
        if replies != ReplyForm::Simple {
            flags |= FLAG_SEND_DF;
        }
        flags
    }

    /// The size in whole blocks, which every command can reach.
    fn served_bytes(&self) -> u64 {
        self.size_bytes - self.size_bytes % u64::from(self.blocks.min_bytes)
    }
}

impl Handshake {
    /// Greets the client.
    pub fn start(output: &mut Vec<u8>) -> Self {
        Self::begin(Secrecy::ClearText, output)
    }

    /// Greets a client that has to begin with TLS.
    pub fn start_with_tls(output: &mut Vec<u8>) -> Self {
        Self::begin(Secrecy::Required, output)
    }

    fn begin(secrecy: Secrecy, output: &mut Vec<u8>) -> Self {
        output.extend_from_slice(&GREETING_MAGIC.to_be_bytes());
        output.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        let flags = HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES;
        output.extend_from_slice(&flags.to_be_bytes());
        Self {
            phase: Phase::ClientFlags,
            gathered: Vec::new(),
            options_taken: 0,
            padding: Padding::Send,
            replies: ReplyForm::Simple,
            secrecy,
            allocation_of: None,
        }
    }

    /// Takes bytes up to the end of one option at most, and answers it.
    ///
    /// # Panics
    /// When called again after anything but [`Next::More`] and [`Next::StartTls`].
    pub fn step(&mut self, bytes: &[u8], directory: &Directory<'_>, output: &mut Vec<u8>) -> Step {
        let mut consumed = 0;
        loop {
            let rest = &bytes[consumed..];
            let next = match self.phase {
                Phase::ClientFlags => {
                    consumed += self.gather(rest, CLIENT_FLAGS_BYTES);
                    self.whole(CLIENT_FLAGS_BYTES).and_then(|flags| self.on_client_flags(&flags))
                }
                Phase::OptionHead => {
                    consumed += self.gather(rest, OPTION_HEAD_BYTES);
                    self.whole(OPTION_HEAD_BYTES).and_then(|head| self.on_option_head(&head))
                }
                Phase::OptionPayload { option, length } => {
                    consumed += self.gather(rest, length);
                    self.whole(length).map(|payload| {
                        self.phase = Phase::OptionHead;
                        self.on_option(option, &payload, directory, output)
                    })
                }
                Phase::Drain { option, left } => {
                    let taken = rest.len().min(left as usize);
                    consumed += taken;
                    self.on_drained(option, left, taken, output)
                }
                Phase::Ended => panic!("a handshake that has ended is not fed"),
            };
            if let Some(next) = next {
                if !matches!(next, Next::More | Next::StartTls) {
                    self.phase = Phase::Ended;
                }
                return Step { consumed, next };
            }
            if consumed == bytes.len() && !self.is_complete() {
                return Step { consumed, next: Next::More };
            }
        }
    }

    /// Keeps bytes until there are `wanted` of them; says how many were used.
    fn gather(&mut self, bytes: &[u8], wanted: usize) -> usize {
        assert!(self.gathered.len() <= wanted, "a phase starts with less than it waits for");
        let used = bytes.len().min(wanted - self.gathered.len());
        self.gathered.extend_from_slice(&bytes[..used]);
        used
    }

    /// Gives up the gathered bytes once they are whole.
    fn whole(&mut self, wanted: usize) -> Option<Vec<u8>> {
        (self.gathered.len() == wanted).then(|| std::mem::take(&mut self.gathered))
    }

    /// An option without payload is complete with its head: no further byte will come for it.
    fn is_complete(&self) -> bool {
        matches!(self.phase, Phase::OptionPayload { length: 0, .. })
    }

    fn on_client_flags(&mut self, bytes: &[u8]) -> Option<Next> {
        let flags = be32(bytes);
        let known = u32::from(HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES);
        if flags & !known != 0 {
            return Some(Next::Close(CloseReason::UnknownClientFlags(flags & !known)));
        }
        if flags & u32::from(HANDSHAKE_NO_ZEROES) != 0 {
            self.padding = Padding::Omit;
        }
        self.phase = Phase::OptionHead;
        None
    }

    fn on_option_head(&mut self, head: &[u8]) -> Option<Next> {
        let magic = be64(head);
        let (option, length) = (be32(&head[8..]), be32(&head[12..]));
        if magic != OPTION_MAGIC {
            return Some(Next::Close(CloseReason::BadMagic(magic)));
        }
        if self.options_taken == OPTIONS_MAX {
            return Some(Next::Close(CloseReason::TooManyOptions));
        }
        self.options_taken += 1;
        if length as usize <= OPTION_BYTES_MAX {
            self.phase = Phase::OptionPayload { option, length: length as usize };
            return None;
        }
        // An export name cannot be refused by an answer, so there is nothing to drain it for.
        if length > OPTION_DRAIN_BYTES_MAX || option == OPT_EXPORT_NAME {
            return Some(Next::Close(CloseReason::OptionTooLong { option, length }));
        }
        self.phase = Phase::Drain { option, left: length };
        None
    }

    fn on_drained(
        &mut self,
        option: u32,
        left: u32,
        taken: usize,
        output: &mut Vec<u8>,
    ) -> Option<Next> {
        let taken = u32::try_from(taken).expect("not more than was left");
        if taken < left {
            self.phase = Phase::Drain { option, left: left - taken };
            return None;
        }
        self.phase = Phase::OptionHead;
        let answer = if option::is_known(option) { REP_ERR_TOO_BIG } else { REP_ERR_UNSUP };
        option::reply(output, option, answer, b"the option is too long");
        Some(Next::More)
    }
}

impl std::fmt::Debug for Directory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").field("listed", &self.listed).finish_non_exhaustive()
    }
}
