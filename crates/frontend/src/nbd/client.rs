//! A blocking NBD client for tests, for the checker and for tools.
//!
//! [`Connection::open`] negotiates and gives a connection for one call at a time.
//! [`Connection::split`] gives its two halves, so that one thread sends requests and another takes
//! the replies, many in flight. The client trusts nothing: a reply to no request, a chunk outside
//! of its request, a byte sent twice or not at all is [`ClientError::Protocol`].

pub mod uri;
pub mod negotiation;
mod stream;
mod halves;
mod request;
mod reply;

use std::io;
use std::time::Duration;

use crate::nbd::wire::{
    CMD_FLAG_FUA, CMD_FLAG_REQ_ONE, Command, Errno, Extent, FLAG_CAN_MULTI_CONN, FLAG_READ_ONLY,
    ReplyForm,
};
use negotiation::{Granted, Negotiation};
use uri::{Address, Uri};

pub use halves::{Receiver, Sender};
pub use reply::Reply;
pub use request::Request;
pub use stream::Stream;

/// What to ask the server for. It may grant less; see [`Connection::export`].
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The best form of replies to ask for.
    pub replies: ReplyForm,
    pub block_status: BlockStatus,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the server may send nothing while an answer is awaited.
    pub read_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockStatus {
    Ask,
    No,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            replies: ReplyForm::Structured,
            block_status: BlockStatus::No,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(60),
        }
    }
}

/// What the server granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportInfo {
    pub size_bytes: u64,
    /// `FLAG_` bits of the transmission phase.
    pub flags: u16,
    pub block_min_bytes: u32,
    pub block_preferred_bytes: u32,
    pub payload_max_bytes: u32,
    pub replies: ReplyForm,
    /// The number by which the server calls `base:allocation`, when it was granted.
    pub allocation_context: Option<u32>,
}

impl ExportInfo {
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.flags & FLAG_READ_ONLY != 0
    }

    /// A flush on one connection covers writes that ended on another.
    #[must_use]
    pub fn may_use_many_connections(&self) -> bool {
        self.flags & FLAG_CAN_MULTI_CONN != 0
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(
        "`{uri}` is not an NBD address: {reason}; \
         write nbd://HOST:PORT/EXPORT or nbd+unix:///EXPORT?socket=PATH"
    )]
    Uri { uri: String, reason: &'static str },
    #[error("cannot connect to {address}; is the server running and listening there?")]
    Connect { address: Address, source: io::Error },
    /// The connection is of no more use.
    #[error("the connection to the NBD server broke while {doing}")]
    Lost { doing: &'static str, source: io::Error },
    /// Nothing came; waiting again is allowed.
    #[error("no answer from the NBD server within {timeout_ms} ms")]
    TimedOut { timeout_ms: u128 },
    #[error("the NBD server refused {option} with {answer}: {message}")]
    Refused { option: &'static str, answer: &'static str, message: String },
    /// The connection is of no more use.
    #[error("the NBD server broke the protocol: {what}")]
    Protocol { what: String },
    /// The server answered a request with an error; the connection lives on.
    #[error("{command} of {length} bytes at {offset} failed: {errno}{message}")]
    Failed { command: Command, offset: u64, length: u64, errno: Errno, message: String },
}

impl ClientError {
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol { what: what.into() }
    }

    /// A socket calls the end of its read timeout "temporarily unavailable", which tells nobody
    /// anything.
    pub(crate) fn lost(doing: &'static str, source: io::Error) -> Self {
        let is_silence = is_timeout(&source);
        let silence = || io::Error::new(io::ErrorKind::TimedOut, "the server fell silent");
        Self::Lost { doing, source: if is_silence { silence() } else { source } }
    }
}

/// A socket says that its read timeout has passed by either of two words.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// One connection to one export, one request at a time.
#[derive(Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    export: ExportInfo,
    cookie_next: u64,
}

impl Connection {
    pub fn open(uri: &Uri, wishes: &Wishes) -> Result<Self, ClientError> {
        let stream = Stream::connect(&uri.address, wishes)?;
        Self::over(stream, &uri.export, wishes)
    }

    /// Negotiates over a stream that is connected already.
    pub fn over(stream: Stream, export: &str, wishes: &Wishes) -> Result<Self, ClientError> {
        let mut negotiation = Negotiation::start(stream)?;
        let granted = negotiation.agree(wishes, export)?;
        let Granted { export, stream } = negotiation.finish(granted);
        let (sender, receiver) = halves::pair(stream, &export)?;
        Ok(Self { sender, receiver, export, cookie_next: 1 })
    }

    #[must_use]
    pub fn export(&self) -> &ExportInfo {
        &self.export
    }

    /// The two halves for many requests in flight; cookies are then the caller's to choose.
    #[must_use]
    pub fn split(self) -> (Sender, Receiver, ExportInfo) {
        (self.sender, self.receiver, self.export)
    }

    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ClientError> {
        let reply = self.call(Command::Read, 0, offset, buffer.len() as u64, &[])?;
        buffer.copy_from_slice(&reply.data);
        Ok(())
    }

    pub fn write(&mut self, offset: u64, payload: &[u8]) -> Result<(), ClientError> {
        self.call(Command::Write, 0, offset, payload.len() as u64, payload).map(drop)
    }

    /// A write that is durable when it returns.
    pub fn write_durably(&mut self, offset: u64, payload: &[u8]) -> Result<(), ClientError> {
        self.call(Command::Write, CMD_FLAG_FUA, offset, payload.len() as u64, payload).map(drop)
    }

    pub fn flush(&mut self) -> Result<(), ClientError> {
        self.call(Command::Flush, 0, 0, 0, &[]).map(drop)
    }

    pub fn trim(&mut self, offset: u64, length: u64) -> Result<(), ClientError> {
        self.call(Command::Trim, 0, offset, length, &[]).map(drop)
    }

    /// `flags` are `CMD_FLAG_NO_HOLE`, `CMD_FLAG_FAST_ZERO` and `CMD_FLAG_FUA`.
    pub fn write_zeroes(
        &mut self,
        offset: u64,
        length: u64,
        flags: u16,
    ) -> Result<(), ClientError> {
        self.call(Command::WriteZeroes, flags, offset, length, &[]).map(drop)
    }

    pub fn cache(&mut self, offset: u64, length: u64) -> Result<(), ClientError> {
        self.call(Command::Cache, 0, offset, length, &[]).map(drop)
    }

    /// The state of the blocks from `offset` on; may tell of less or of more than was asked.
    pub fn block_status(&mut self, offset: u64, length: u64) -> Result<Vec<Extent>, ClientError> {
        self.call(Command::BlockStatus, 0, offset, length, &[]).map(|reply| reply.extents)
    }

    /// One extent, not longer than `length`.
    pub fn block_status_one(&mut self, offset: u64, length: u64) -> Result<Extent, ClientError> {
        let reply = self.call(Command::BlockStatus, CMD_FLAG_REQ_ONE, offset, length, &[])?;
        Ok(reply.extents[0])
    }

    /// Tells the server goodbye and waits until it has closed the connection.
    pub fn close(mut self) -> Result<(), ClientError> {
        self.sender.send_disconnect()?;
        self.receiver.wait_for_end()
    }

    /// How long the server may send nothing while an answer is awaited.
    pub fn set_read_timeout(&self, timeout: Duration) -> Result<(), ClientError> {
        self.receiver.set_read_timeout(timeout)
    }

    /// Sends one request and waits for its reply.
    pub fn call(
        &mut self,
        command: Command,
        flags: u16,
        offset: u64,
        length: u64,
        payload: &[u8],
    ) -> Result<Reply, ClientError> {
        let cookie = self.cookie_next;
        self.cookie_next += 1;
        let request = Request { command, flags, cookie, offset, length };
        self.sender.send_request(&request, payload)?;
        // What comes first may be the late reply to a call that timed out.
        let mut reply = self.receiver.recv_reply()?;
        while reply.request.cookie != cookie {
            reply = self.receiver.recv_reply()?;
        }
        match reply.error {
            None => Ok(reply),
            Some(errno) => {
                let message = reply.message_suffix();
                Err(ClientError::Failed { command, offset, length, errno, message })
            }
        }
    }
}

/// The names and descriptions of the exports that a server lists.
pub fn list_exports(
    address: &Address,
    wishes: &Wishes,
) -> Result<Vec<(String, String)>, ClientError> {
    let mut negotiation = Negotiation::start(Stream::connect(address, wishes)?)?;
    let exports = negotiation.list()?;
    negotiation.abort()?;
    Ok(exports)
}
