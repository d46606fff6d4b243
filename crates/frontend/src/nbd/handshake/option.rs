//! What each option means and how it is answered.
//!
//! A payload has been taken whole and is short; here it is parsed. Every length inside of it is
//! checked against what is there, and a byte too many is as wrong as a byte too few.

use crate::nbd::handshake::{
    ALLOCATION_CONTEXT, Agreement, CloseReason, Directory, Export, Handshake, Next, Padding,
    Secrecy, Unavailable,
};
use crate::nbd::wire::{
    BASE_ALLOCATION, INFO_BLOCK_SIZE, INFO_DESCRIPTION, INFO_EXPORT, INFO_NAME, OPT_ABORT,
    OPT_EXPORT_NAME, OPT_EXTENDED_HEADERS, OPT_GO, OPT_INFO, OPT_LIST, OPT_LIST_META_CONTEXT,
    OPT_SET_META_CONTEXT, OPT_STARTTLS, OPT_STRUCTURED_REPLY, OPTION_REPLY_MAGIC, REP_ACK,
    REP_ERR_EXT_HEADER_REQD, REP_ERR_INVALID, REP_ERR_POLICY, REP_ERR_SHUTDOWN, REP_ERR_TLS_REQD,
    REP_ERR_UNKNOWN, REP_ERR_UNSUP, REP_INFO, REP_META_CONTEXT, REP_SERVER, ReplyForm,
    STRING_BYTES_MAX, be16, be32,
};

/// The zeroes after an answer to EXPORT_NAME, for clients that did not decline them.
const PADDING_BYTES: usize = 124;

/// A payload that is not what its option demands; the text is for the client's user.
struct Malformed(&'static str);

pub(super) fn is_known(option: u32) -> bool {
    matches!(option, OPT_EXPORT_NAME | OPT_ABORT | OPT_LIST | OPT_INFO | OPT_GO)
        || matches!(option, OPT_STRUCTURED_REPLY | OPT_EXTENDED_HEADERS)
        || matches!(option, OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT)
}

/// Appends one reply to an option.
pub(super) fn reply(output: &mut Vec<u8>, option: u32, kind: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a reply holds a few names at most");
    output.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    output.extend_from_slice(&option.to_be_bytes());
    output.extend_from_slice(&kind.to_be_bytes());
    output.extend_from_slice(&length.to_be_bytes());
    output.extend_from_slice(payload);
}

impl Handshake {
    pub(super) fn on_option(
        &mut self,
        option: u32,
        payload: &[u8],
        directory: &Directory<'_>,
        output: &mut Vec<u8>,
    ) -> Next {
        if self.secrecy == Secrecy::Required {
            return self.on_option_in_the_clear(option, payload, output);
        }
        let result = match option {
            OPT_EXPORT_NAME => return self.on_export_name(payload, directory, output),
            OPT_ABORT => {
                reply(output, option, REP_ACK, &[]);
                return Next::Close(CloseReason::Aborted);
            }
            OPT_LIST => on_list(payload, directory, output),
            OPT_INFO | OPT_GO => match self.on_info(option, payload, directory, output) {
                Ok(Some(agreement)) if option == OPT_GO => return Next::Transmission(agreement),
                Ok(_) => Ok(()),
                Err(malformed) => Err(malformed),
            },
            OPT_STRUCTURED_REPLY => self.on_structured_reply(payload, output),
            OPT_EXTENDED_HEADERS => self.on_extended_headers(payload, output),
            OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT => {
                self.on_meta_context(option, payload, directory, output)
            }
            OPT_STARTTLS if self.secrecy == Secrecy::Secured => {
                Err(Malformed("TLS is used already"))
            }
            OPT_STARTTLS => {
                reply(output, option, REP_ERR_UNSUP, b"this server does not speak TLS");
                Ok(())
            }
            _ => {
                reply(output, option, REP_ERR_UNSUP, b"unknown option");
                Ok(())
            }
        };
        if let Err(Malformed(text)) = result {
            reply(output, option, REP_ERR_INVALID, text.as_bytes());
        }
        Next::More
    }

    /// Only TLS may begin.
    fn on_option_in_the_clear(
        &mut self,
        option: u32,
        payload: &[u8],
        output: &mut Vec<u8>,
    ) -> Next {
        match option {
            OPT_STARTTLS if payload.is_empty() => {
                reply(output, option, REP_ACK, &[]);
                self.secrecy = Secrecy::Secured;
                return Next::StartTls;
            }
            OPT_STARTTLS => reply(output, option, REP_ERR_INVALID, b"STARTTLS has no payload"),
            OPT_ABORT => {
                reply(output, option, REP_ACK, &[]);
                return Next::Close(CloseReason::Aborted);
            }
            // It has no answer but the end of the connection.
            OPT_EXPORT_NAME => return Next::Close(CloseReason::ClearText),
            _ => reply(output, option, REP_ERR_TLS_REQD, b"this server wants TLS first"),
        }
        Next::More
    }

    /// The oldest option: it has no head in its answer and no way to say no but to close. After
    /// extended headers it is forbidden, for its answer could not confirm them.
    fn on_export_name(
        &mut self,
        payload: &[u8],
        directory: &Directory<'_>,
        output: &mut Vec<u8>,
    ) -> Next {
        let found =
            string(payload).ok().and_then(|name| Some((name, (directory.find)(name).ok()?)));
        let Some((name, export)) = found.filter(|_| self.replies != ReplyForm::Extended) else {
            return Next::Close(CloseReason::NoExport);
        };
        let agreement = self.agreement(name, export);
        output.extend_from_slice(&agreement.export.size_bytes.to_be_bytes());
        output.extend_from_slice(&agreement.flags.to_be_bytes());
        if self.padding == Padding::Send {
            output.resize(output.len() + PADDING_BYTES, 0);
        }
        Next::Transmission(agreement)
    }

    /// Describes an export. Sizes are told unasked: a client that does not know them skips them.
    fn on_info(
        &mut self,
        option: u32,
        payload: &[u8],
        directory: &Directory<'_>,
        output: &mut Vec<u8>,
    ) -> Result<Option<Box<Agreement>>, Malformed> {
        let mut fields = Fields(payload);
        let name = fields.string()?;
        let wanted = fields.u16()?;
        let wanted = fields.take(usize::from(wanted) * 2)?;
        fields.end()?;
        let export = match (directory.find)(name) {
            Ok(export) => export,
            Err(unavailable) => {
                refuse(output, option, name, unavailable);
                return Ok(None);
            }
        };
        let agreement = self.agreement(name, export);
        let export = &agreement.export;
        let mut info = |kind: u16, parts: &[&[u8]]| {
            reply(output, option, REP_INFO, &[&kind.to_be_bytes()[..], &parts.concat()].concat());
        };
        let (size, flags) = (export.size_bytes.to_be_bytes(), agreement.flags.to_be_bytes());
        info(INFO_EXPORT, &[&size, &flags]);
        let blocks = export.blocks;
        let (min, preferred) =
            (blocks.min_bytes.to_be_bytes(), blocks.preferred_bytes.to_be_bytes());
        info(INFO_BLOCK_SIZE, &[&min, &preferred, &blocks.payload_max_bytes.to_be_bytes()]);
        let is_wanted = |kind: u16| wanted.chunks_exact(2).any(|each| be16(each) == kind);
        if is_wanted(INFO_NAME) {
            info(INFO_NAME, &[export.name.as_bytes()]);
        }
        if is_wanted(INFO_DESCRIPTION) && !export.description.is_empty() {
            info(INFO_DESCRIPTION, &[export.description.as_bytes()]);
        }
        reply(output, option, REP_ACK, &[]);
        Ok(Some(agreement))
    }

    fn on_structured_reply(
        &mut self,
        payload: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        Fields(payload).end()?;
        if self.replies == ReplyForm::Extended {
            let text = b"extended headers are agreed already, which include it";
            reply(output, OPT_STRUCTURED_REPLY, REP_ERR_EXT_HEADER_REQD, text);
            return Ok(());
        }
        self.replies = ReplyForm::Structured;
        reply(output, OPT_STRUCTURED_REPLY, REP_ACK, &[]);
        Ok(())
    }

    fn on_extended_headers(
        &mut self,
        payload: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        Fields(payload).end()?;
        self.replies = ReplyForm::Extended;
        reply(output, OPT_EXTENDED_HEADERS, REP_ACK, &[]);
        Ok(())
    }

    /// Lists or sets metadata contexts. A set replaces the earlier one even when it fails.
    fn on_meta_context(
        &mut self,
        option: u32,
        payload: &[u8],
        directory: &Directory<'_>,
        output: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        if option == OPT_SET_META_CONTEXT {
            self.allocation_of = None;
        }
        if self.replies == ReplyForm::Simple {
            return Err(Malformed("ask for structured replies or extended headers first"));
        }
        let mut fields = Fields(payload);
        let name = fields.string()?;
        let is_matched = is_allocation_asked(option, &mut fields)?;
        if let Err(unavailable) = (directory.find)(name) {
            refuse(output, option, name, unavailable);
            return Ok(());
        }
        if is_matched {
            // In a list the number means nothing and is to be zero.
            let id = if option == OPT_SET_META_CONTEXT { ALLOCATION_CONTEXT } else { 0 };
            let context = [&id.to_be_bytes(), BASE_ALLOCATION.as_bytes()].concat();
            reply(output, option, REP_META_CONTEXT, &context);
            if option == OPT_SET_META_CONTEXT {
                self.allocation_of = Some(name.to_owned());
            }
        }
        reply(output, option, REP_ACK, &[]);
        Ok(())
    }

    /// What a session of this export would be; `name` is as the client wrote it.
    fn agreement(&self, name: &str, mut export: Export) -> Box<Agreement> {
        export.size_bytes = export.served_bytes();
        let is_granted = self.allocation_of.as_deref() == Some(name);
        Box::new(Agreement {
            flags: export.transmission_flags(self.replies),
            export,
            replies: self.replies,
            allocation_context: is_granted.then_some(ALLOCATION_CONTEXT),
        })
    }
}

fn on_list(
    payload: &[u8],
    directory: &Directory<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Malformed> {
    Fields(payload).end()?;
    for export in directory.listed {
        let length = u32::try_from(export.name.len()).expect("a name is short");
        let (name, description) = (export.name.as_bytes(), export.description.as_bytes());
        let server = [&length.to_be_bytes(), name, description].concat();
        reply(output, OPT_LIST, REP_SERVER, &server);
    }
    reply(output, OPT_LIST, REP_ACK, &[]);
    Ok(())
}

/// Whether the queries of a metadata option select `base:allocation`. Unknown namespaces are
/// passed over, as the protocol demands; a query without a namespace is malformed.
fn is_allocation_asked(option: u32, fields: &mut Fields<'_>) -> Result<bool, Malformed> {
    let count = fields.u32()?;
    let mut is_asked = option == OPT_LIST_META_CONTEXT && count == 0;
    // Each query takes four bytes at least, so a false count ends with the payload.
    for _ in 0..count {
        let query = fields.string()?;
        if !query.contains(':') {
            return Err(Malformed("a query has no namespace"));
        }
        is_asked |= query == BASE_ALLOCATION;
        is_asked |= option == OPT_LIST_META_CONTEXT && query == "base:";
    }
    fields.end()?;
    Ok(is_asked)
}

fn refuse(output: &mut Vec<u8>, option: u32, name: &str, unavailable: Unavailable) {
    match unavailable {
        Unavailable::Unknown => {
            let text = format!("no export `{}`", name.escape_debug());
            reply(output, option, REP_ERR_UNKNOWN, clip(&text).as_bytes());
        }
        Unavailable::Refused(text) => {
            reply(output, option, REP_ERR_POLICY, clip(&text).as_bytes());
        }
        Unavailable::ShuttingDown => {
            reply(output, option, REP_ERR_SHUTDOWN, b"the server is shutting down");
        }
    }
}

/// No string of the protocol may be longer than it allows.
fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(STRING_BYTES_MAX)]
}

fn string(bytes: &[u8]) -> Result<&str, Malformed> {
    if bytes.len() > STRING_BYTES_MAX {
        return Err(Malformed("a string is longer than 4096 bytes"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Malformed("a string is not UTF-8 without NUL")),
    }
}

/// What is left of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(Malformed("a length inside of the option reaches past its end"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.take(2).map(be16)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.take(4).map(be32)
    }

    fn string(&mut self) -> Result<&'a str, Malformed> {
        let length = self.u32()?;
        string(self.take(length as usize)?)
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed("the option has bytes to spare")) }
    }
}
