//! A reply while it comes in, and the checks on it.

use crate::nbd::client::ClientError;
use crate::nbd::client::request::Request;
use crate::nbd::wire::{
    CMD_FLAG_DF, CMD_FLAG_REQ_ONE, Command, Errno, Extent, REPLY_TYPE_BLOCK_STATUS,
    REPLY_TYPE_BLOCK_STATUS_EXT, REPLY_TYPE_ERROR_BIT, REPLY_TYPE_ERROR_OFFSET, REPLY_TYPE_NONE,
    REPLY_TYPE_OFFSET_DATA, REPLY_TYPE_OFFSET_HOLE, be16, be32, be64,
};

/// A whole answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub request: Request,
    /// None when the request succeeded.
    pub error: Option<Errno>,
    /// What the server said of the error, if it did.
    pub message: String,
    /// What was read; all of it, unless `error` is set.
    pub data: Vec<u8>,
    /// What block status told.
    pub extents: Vec<Extent>,
    /// In how many chunks of data or holes a read came; 0 for a simple reply.
    pub chunks: u32,
}

impl Reply {
    /// The message as the end of a sentence.
    pub(crate) fn message_suffix(&self) -> String {
        if self.message.is_empty() { String::new() } else { format!(" ({})", self.message) }
    }
}

/// Chunks other than data are small; more than 2^20 extents are not to be sent.
const SMALL_CHUNK_BYTES_MAX: u64 = 8 + 16 * (1 << 20);

/// What follows a chunk's head.
pub(super) enum Chunk {
    /// An offset, then data for [`Pending::place`].
    Data,
    /// That many bytes for [`Pending::on_payload`].
    Small(usize),
}

/// A request in flight and what has come of its reply.
#[derive(Debug)]
pub(super) struct Pending {
    reply: Reply,
    /// What the chunks have covered, as sorted ranges without overlap: (start, end).
    covered: Vec<(u64, u64)>,
}

impl Pending {
    pub(super) fn new(request: &Request) -> Self {
        let reply = Reply {
            request: *request,
            error: None,
            message: String::new(),
            data: Vec::new(),
            extents: Vec::new(),
            chunks: 0,
        };
        Self { reply, covered: Vec::new() }
    }

    pub(super) fn request(&self) -> &Request {
        &self.reply.request
    }

    /// A simple reply with an error, which ends the request.
    pub(super) fn refused(mut self, errno: Errno) -> Reply {
        self.reply.error = Some(errno);
        self.reply
    }

    /// Room for all data of a simple reply.
    pub(super) fn whole_data(&mut self) -> &mut [u8] {
        let length = usize::try_from(self.request().length).expect("a read fits memory");
        self.reply.data.resize(length, 0);
        self.covered = vec![(self.request().offset, self.request().end())];
        &mut self.reply.data
    }

    /// Judges a chunk by its head.
    pub(super) fn on_chunk(&mut self, kind: u16, length: u64) -> Result<Chunk, ClientError> {
        let command = self.request().command;
        let is_expected = match kind {
            REPLY_TYPE_NONE => length == 0,
            REPLY_TYPE_OFFSET_DATA => {
                command == Command::Read && length > 8 && length - 8 <= self.request().length
            }
            REPLY_TYPE_OFFSET_HOLE => command == Command::Read && length == 12,
            REPLY_TYPE_BLOCK_STATUS => {
                command == Command::BlockStatus && length >= 12 && (length - 4).is_multiple_of(8)
            }
            REPLY_TYPE_BLOCK_STATUS_EXT => {
                command == Command::BlockStatus && length >= 24 && (length - 8).is_multiple_of(16)
            }
            _ => kind & REPLY_TYPE_ERROR_BIT != 0 && length >= 6,
        };
        if !is_expected || (kind != REPLY_TYPE_OFFSET_DATA && length > SMALL_CHUNK_BYTES_MAX) {
            return Err(ClientError::protocol(format!(
                "it answered a {command} by a chunk of type {kind:#x} with {length} bytes"
            )));
        }
        if kind == REPLY_TYPE_OFFSET_DATA {
            return Ok(Chunk::Data);
        }
        Ok(Chunk::Small(usize::try_from(length).expect("a small chunk fits memory")))
    }

    /// The room for a chunk of data, once it is known to be wanted.
    pub(super) fn place(&mut self, start: u64, length: u64) -> Result<&mut [u8], ClientError> {
        let request = *self.request();
        let end = start.checked_add(length).filter(|end| *end <= request.end());
        let (Some(end), true) = (end, start >= request.offset && length > 0) else {
            return Err(ClientError::protocol("a chunk lies outside of what was read"));
        };
        let at = self.covered.partition_point(|range| range.0 < start);
        let is_free = (at == 0 || self.covered[at - 1].1 <= start)
            && self.covered.get(at).is_none_or(|next| end <= next.0);
        if !is_free {
            return Err(ClientError::protocol("two chunks of a reply overlap"));
        }
        self.covered.insert(at, (start, end));
        self.reply.chunks += 1;
        if self.reply.chunks > 1 && request.flags & CMD_FLAG_DF != 0 {
            return Err(ClientError::protocol("it split the reply to a read with DF"));
        }
        let size = usize::try_from(request.length).expect("a read fits memory");
        self.reply.data.resize(size, 0);
        let index = |offset: u64| usize::try_from(offset - request.offset).expect("within a read");
        Ok(&mut self.reply.data[index(start)..index(end)])
    }

    pub(super) fn on_payload(
        &mut self,
        kind: u16,
        payload: &[u8],
        context: Option<u32>,
    ) -> Result<(), ClientError> {
        match kind {
            REPLY_TYPE_NONE => Ok(()),
            REPLY_TYPE_OFFSET_HOLE => {
                let place = self.place(be64(payload), u64::from(be32(&payload[8..])))?;
                place.fill(0);
                Ok(())
            }
            REPLY_TYPE_BLOCK_STATUS | REPLY_TYPE_BLOCK_STATUS_EXT => {
                self.on_block_status(kind, payload, context)
            }
            _ => self.on_error(kind, payload),
        }
    }

    fn on_block_status(
        &mut self,
        kind: u16,
        payload: &[u8],
        context: Option<u32>,
    ) -> Result<(), ClientError> {
        let wrong = |what: &str| Err(ClientError::protocol(format!("block status {what}")));
        if context != Some(be32(payload)) {
            return wrong("came for a context that was not agreed");
        }
        if !self.reply.extents.is_empty() {
            return wrong("came twice for one request");
        }
        let extents: Vec<Extent> = if kind == REPLY_TYPE_BLOCK_STATUS {
            let extent =
                |at: &[u8]| Extent { length_bytes: be32(at).into(), state: be32(&at[4..]) };
            payload[4..].chunks_exact(8).map(extent).collect()
        } else {
            if (payload.len() - 8) / 16 != be32(&payload[4..]) as usize {
                return wrong("counts its extents wrongly");
            }
            if payload[8..].chunks_exact(16).any(|at| be32(&at[8..]) != 0) {
                return wrong("has a state of more than 32 bits");
            }
            let extent = |at: &[u8]| Extent { length_bytes: be64(at), state: be32(&at[12..]) };
            payload[8..].chunks_exact(16).map(extent).collect()
        };
        if extents.iter().any(|extent| extent.length_bytes == 0) {
            return wrong("has an empty extent");
        }
        let length = self.request().length;
        let before_last = &extents[..extents.len() - 1];
        let told = before_last.iter().fold(0, |sum: u64, one| sum.saturating_add(one.length_bytes));
        if told >= length && !before_last.is_empty() {
            return wrong("goes on after the last extent that was asked for");
        }
        let is_one = self.request().flags & CMD_FLAG_REQ_ONE != 0;
        if is_one && (extents.len() != 1 || extents[0].length_bytes > length) {
            return wrong("told of more than the one extent that was asked for");
        }
        self.reply.extents = extents;
        Ok(())
    }

    fn on_error(&mut self, kind: u16, payload: &[u8]) -> Result<(), ClientError> {
        let (errno, message_bytes) = (be32(payload), usize::from(be16(&payload[4..])));
        let tail_bytes = if kind == REPLY_TYPE_ERROR_OFFSET { 8 } else { 0 };
        if errno == 0 || 6 + message_bytes + tail_bytes > payload.len() {
            return Err(ClientError::protocol("an error chunk is malformed"));
        }
        self.reply.error.get_or_insert_with(|| Errno::from_number(errno));
        self.reply.message = String::from_utf8_lossy(&payload[6..6 + message_bytes]).into_owned();
        Ok(())
    }

    /// The last chunk has come: a success must be whole.
    pub(super) fn finish(self) -> Result<Reply, ClientError> {
        let request = *self.request();
        if self.reply.error.is_none() {
            let covered: u64 = self.covered.iter().map(|range| range.1 - range.0).sum();
            if request.command == Command::Read && covered != request.length {
                return Err(ClientError::protocol("it left out a part of what was read"));
            }
            if request.command == Command::BlockStatus && self.reply.extents.is_empty() {
                return Err(ClientError::protocol("it answered block status without an extent"));
            }
        }
        Ok(self.reply)
    }
}
