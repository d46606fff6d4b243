//! The client's part of the fixed newstyle handshake.
//!
//! [`Negotiation::agree`] does what a client wants; [`Negotiation::option`] sends any option, so
//! that tests can try every order of them.

use std::io::{BufReader, Read, Write};

use crate::nbd::client::{BlockStatus, ClientError, ExportInfo, Stream, Wishes};
use crate::nbd::wire::{
    BASE_ALLOCATION, GREETING_MAGIC, HANDSHAKE_FIXED_NEWSTYLE, HANDSHAKE_NO_ZEROES,
    INFO_BLOCK_SIZE, INFO_EXPORT, OPT_ABORT, OPT_EXPORT_NAME, OPT_EXTENDED_HEADERS, OPT_GO,
    OPT_INFO, OPT_LIST, OPT_SET_META_CONTEXT, OPT_STRUCTURED_REPLY, OPTION_MAGIC,
    OPTION_REPLY_MAGIC, REP_ACK, REP_ERR_EXT_HEADER_REQD, REP_ERR_INVALID, REP_ERR_PLATFORM,
    REP_ERR_POLICY, REP_ERR_SHUTDOWN, REP_ERR_TLS_REQD, REP_ERR_TOO_BIG, REP_ERR_UNKNOWN,
    REP_ERR_UNSUP, REP_ERROR_BIT, REP_INFO, REP_META_CONTEXT, REP_SERVER, ReplyForm, be16, be32,
    be64,
};

/// No server has reason to answer an option with more.
const OPTION_REPLY_BYTES_MAX: u32 = 64 * 1024;
/// Nor with more replies: a list of this many exports is not a list any more.
const OPTION_REPLIES_MAX: usize = 100_000;

const SENDING: &str = "sending an option";
const RECEIVING: &str = "waiting for the answer to an option";

/// A connection before an export is chosen.
#[derive(Debug)]
pub struct Negotiation {
    stream: BufReader<Stream>,
}

/// One reply to an option, as it stood on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionReply {
    pub kind: u32,
    pub payload: Vec<u8>,
}

/// An export in transmission, and the stream to speak over.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) export: ExportInfo,
    pub(crate) stream: BufReader<Stream>,
}

impl Negotiation {
    /// Takes the server's greeting and answers it.
    pub fn start(stream: Stream) -> Result<Self, ClientError> {
        let mut stream = BufReader::with_capacity(256 * 1024, stream);
        let lost = |error| ClientError::lost("waiting for the greeting", error);
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).map_err(lost)?;
        let (magic, style) = (be64(&greeting), be64(&greeting[8..]));
        let flags = be16(&greeting[16..]);
        if magic != GREETING_MAGIC {
            return Err(ClientError::protocol(format!(
                "its greeting starts with {magic:#018x}; is it an NBD server?"
            )));
        }
        if style != OPTION_MAGIC || flags & HANDSHAKE_FIXED_NEWSTYLE == 0 {
            return Err(ClientError::protocol("it does not speak the fixed newstyle handshake"));
        }
        let answer = u32::from(flags & (HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES));
        stream.get_mut().write_all(&answer.to_be_bytes()).map_err(lost)?;
        Ok(Self { stream })
    }

    /// Asks for all that is wished and enters the transmission phase of `export`.
    pub fn agree(&mut self, wishes: &Wishes, export: &str) -> Result<ExportInfo, ClientError> {
        let mut replies = ReplyForm::Simple;
        if wishes.replies == ReplyForm::Extended && self.is_granted(OPT_EXTENDED_HEADERS)? {
            replies = ReplyForm::Extended;
        }
        if wishes.replies >= ReplyForm::Structured
            && replies == ReplyForm::Simple
            && self.is_granted(OPT_STRUCTURED_REPLY)?
        {
            replies = ReplyForm::Structured;
        }
        let context = match wishes.block_status {
            BlockStatus::Ask if replies != ReplyForm::Simple => self.allocation_context(export)?,
            BlockStatus::Ask | BlockStatus::No => None,
        };
        let mut info = self.describe(OPT_GO, export)?;
        info.replies = replies;
        info.allocation_context = context;
        Ok(info)
    }

    /// `OPT_INFO` or `OPT_GO`: what the server says of an export.
    pub fn describe(&mut self, option: u32, export: &str) -> Result<ExportInfo, ClientError> {
        assert!(option == OPT_INFO || option == OPT_GO, "only these two describe an export");
        let mut payload = string(export);
        payload.extend_from_slice(&1_u16.to_be_bytes());
        payload.extend_from_slice(&INFO_BLOCK_SIZE.to_be_bytes());
        let mut info = None;
        let mut sizes = (1, 4096, 32 << 20);
        for reply in self.accepted(option, &payload)? {
            let payload = &reply.payload;
            match (reply.kind, payload.len()) {
                (REP_INFO, 12) if be16(payload) == INFO_EXPORT => {
                    info = Some((be64(&payload[2..]), be16(&payload[10..])));
                }
                (REP_INFO, 14) if be16(payload) == INFO_BLOCK_SIZE => {
                    sizes = (be32(&payload[2..]), be32(&payload[6..]), be32(&payload[10..]));
                }
                (REP_INFO, 2..) if be16(payload) != INFO_EXPORT => {}
                (kind, length) => {
                    return Err(ClientError::protocol(format!(
                        "it described an export by a reply of type {kind} with {length} bytes"
                    )));
                }
            }
        }
        let (size_bytes, flags) =
            info.ok_or_else(|| ClientError::protocol("it granted an export without its size"))?;
        Ok(ExportInfo {
            size_bytes,
            flags,
            block_min_bytes: sizes.0,
            block_preferred_bytes: sizes.1,
            payload_max_bytes: sizes.2,
            replies: ReplyForm::Simple,
            allocation_context: None,
        })
    }

    /// The old way to choose an export, which knows no error but the end of the connection.
    pub fn export_name(&mut self, export: &str) -> Result<ExportInfo, ClientError> {
        self.send(OPT_EXPORT_NAME, export.as_bytes())?;
        let mut answer = [0; 10];
        self.read(&mut answer)?;
        Ok(ExportInfo {
            size_bytes: be64(&answer),
            flags: be16(&answer[8..]),
            block_min_bytes: 1,
            block_preferred_bytes: 4096,
            payload_max_bytes: 32 << 20,
            replies: ReplyForm::Simple,
            allocation_context: None,
        })
    }

    pub fn list(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut exports = Vec::new();
        for reply in self.accepted(OPT_LIST, &[])? {
            let payload = &reply.payload;
            let named = payload.split_at_checked(4).and_then(|(length, names)| {
                let is_meant = reply.kind == REP_SERVER;
                names.split_at_checked(be32(length) as usize).filter(|_| is_meant)
            });
            let Some((name, about)) = named else {
                return Err(ClientError::protocol("its list of exports is malformed"));
            };
            exports.push((text(name), text(about)));
        }
        Ok(exports)
    }

    pub fn abort(mut self) -> Result<(), ClientError> {
        self.option(OPT_ABORT, &[]).map(drop)
    }

    /// Sends one option and takes all replies to it. The last is `REP_ACK` or an error.
    pub fn option(&mut self, option: u32, payload: &[u8]) -> Result<Vec<OptionReply>, ClientError> {
        self.send(option, payload)?;
        let mut replies = Vec::new();
        loop {
            let mut head = [0; 20];
            self.read(&mut head)?;
            let (kind, length) = (be32(&head[12..]), be32(&head[16..]));
            if be64(&head) != OPTION_REPLY_MAGIC || be32(&head[8..]) != option {
                return Err(ClientError::protocol("a reply to an option has a foreign head"));
            }
            if length > OPTION_REPLY_BYTES_MAX || replies.len() == OPTION_REPLIES_MAX {
                return Err(ClientError::protocol("the answer to an option is too long"));
            }
            let mut payload = vec![0; length as usize];
            self.read(&mut payload)?;
            replies.push(OptionReply { kind, payload });
            if kind == REP_ACK || kind & REP_ERROR_BIT != 0 {
                return Ok(replies);
            }
        }
    }

    pub(crate) fn finish(self, export: ExportInfo) -> Granted {
        Granted { export, stream: self.stream }
    }

    /// Whether the server agreed; that it does not know the option is an answer too.
    fn is_granted(&mut self, option: u32) -> Result<bool, ClientError> {
        match self.accepted(option, &[]) {
            Ok(replies) if replies.is_empty() => Ok(true),
            Ok(_) => Err(ClientError::protocol("it answered a plain option with more than yes")),
            Err(ClientError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn allocation_context(&mut self, export: &str) -> Result<Option<u32>, ClientError> {
        let mut payload = string(export);
        payload.extend_from_slice(&1_u32.to_be_bytes());
        payload.extend_from_slice(&string(BASE_ALLOCATION));
        let replies = match self.accepted(OPT_SET_META_CONTEXT, &payload) {
            Err(ClientError::Refused { .. }) => return Ok(None),
            replies => replies?,
        };
        match &replies[..] {
            [] => Ok(None),
            [one]
                if one.kind == REP_META_CONTEXT
                    && one.payload.get(4..) == Some(BASE_ALLOCATION.as_bytes()) =>
            {
                Ok(Some(be32(&one.payload)))
            }
            _ => Err(ClientError::protocol("it granted a metadata context that was not asked for")),
        }
    }

    /// The replies before the final yes, or the server's no.
    fn accepted(&mut self, option: u32, payload: &[u8]) -> Result<Vec<OptionReply>, ClientError> {
        let mut replies = self.option(option, payload)?;
        let last = replies.pop().expect("an answer has a final reply");
        if last.kind == REP_ACK {
            return Ok(replies);
        }
        Err(ClientError::Refused {
            option: option_name(option),
            answer: refusal_name(last.kind),
            message: String::from_utf8_lossy(&last.payload).into_owned(),
        })
    }

    fn send(&mut self, option: u32, payload: &[u8]) -> Result<(), ClientError> {
        let length = u32::try_from(payload.len()).expect("an option is shorter than 4 GiB");
        let mut message = Vec::with_capacity(16 + payload.len());
        message.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        message.extend_from_slice(&option.to_be_bytes());
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(payload);
        let stream = self.stream.get_mut();
        stream.write_all(&message).map_err(|error| ClientError::lost(SENDING, error))
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), ClientError> {
        self.stream.read_exact(buffer).map_err(|error| ClientError::lost(RECEIVING, error))
    }
}

/// A string as options carry it: its length, then its bytes.
fn string(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a name is shorter than 4 GiB");
    [&length.to_be_bytes(), text.as_bytes()].concat()
}

fn option_name(option: u32) -> &'static str {
    match option {
        OPT_LIST => "to list its exports",
        OPT_INFO => "to describe the export",
        OPT_GO => "to open the export",
        OPT_STRUCTURED_REPLY => "structured replies",
        OPT_EXTENDED_HEADERS => "extended headers",
        OPT_SET_META_CONTEXT => "block status",
        _ => "an option",
    }
}

fn refusal_name(kind: u32) -> &'static str {
    match kind {
        REP_ERR_UNSUP => "unsupported",
        REP_ERR_POLICY => "forbidden by policy",
        REP_ERR_INVALID => "invalid",
        REP_ERR_PLATFORM => "unsupported on its platform",
        REP_ERR_TLS_REQD => "TLS required",
        REP_ERR_UNKNOWN => "unknown export",
        REP_ERR_SHUTDOWN => "shutting down",
        REP_ERR_TOO_BIG => "too big",
        REP_ERR_EXT_HEADER_REQD => "extended headers required",
        _ => "an unknown error",
    }
}
