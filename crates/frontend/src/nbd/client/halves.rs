//! The sending and the receiving half of a connection in the transmission phase.
//!
//! They share one table: what was sent and is not answered yet. The sender enters a request before
//! its first byte leaves, so the receiver always finds what a reply belongs to.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, IoSlice, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stdx::mutex::lock;

use crate::nbd::client::reply::{Chunk, Pending};
use crate::nbd::client::request::Request;
use crate::nbd::client::{ClientError, ExportInfo, Reply, Stream, is_timeout};
use crate::nbd::wire::{
    CMD_FLAG_PAYLOAD_LEN, Command, EXTENDED_REPLY_MAGIC, EXTENDED_REQUEST_MAGIC, Errno,
    REPLY_FLAG_DONE, REQUEST_MAGIC, ReplyForm, SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, be16,
    be32, be64,
};

const SENDING: &str = "sending a request";
const RECEIVING: &str = "receiving a reply";

type Table = Arc<Mutex<BTreeMap<u64, Pending>>>;

#[derive(Debug)]
pub struct Sender {
    stream: Stream,
    form: ReplyForm,
    pending: Table,
}

#[derive(Debug)]
pub struct Receiver {
    stream: BufReader<Stream>,
    form: ReplyForm,
    allocation_context: Option<u32>,
    pending: Table,
}

pub(crate) fn pair(
    stream: BufReader<Stream>,
    export: &ExportInfo,
) -> Result<(Sender, Receiver), ClientError> {
    let pending = Table::default();
    let clone = stream.get_ref().try_clone();
    let clone = clone.map_err(|error| ClientError::lost("splitting it", error))?;
    let form = export.replies;
    let sender = Sender { stream: clone, form, pending: Arc::clone(&pending) };
    let allocation_context = export.allocation_context;
    Ok((sender, Receiver { stream, form, allocation_context, pending }))
}

impl Sender {
    /// Sends one request; the payload of a write goes with it.
    ///
    /// # Panics
    /// When the cookie is in flight, or when a write's payload is not of the request's length.
    pub fn send_request(&mut self, request: &Request, payload: &[u8]) -> Result<(), ClientError> {
        let expected = if request.command == Command::Write { request.length } else { 0 };
        assert_eq!(payload.len() as u64, expected, "payload of {request:?}");
        if request.command != Command::Disconnect {
            let earlier = lock(&self.pending).insert(request.cookie, Pending::new(request));
            assert!(earlier.is_none(), "cookie {} is in flight", request.cookie);
        }
        let head = encode(request, self.form);
        self.send(head.bytes(), payload)
    }

    /// Says that no request follows. The server answers what is in flight and closes.
    pub fn send_disconnect(&mut self) -> Result<(), ClientError> {
        let command = Command::Disconnect;
        let request = Request { command, flags: 0, cookie: 0, offset: 0, length: 0 };
        self.send_request(&request, &[])
    }

    /// How many requests wait for their reply.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        lock(&self.pending).len()
    }

    /// Ends the connection at once, also for a receiver that waits.
    pub fn shutdown(&self) -> Result<(), ClientError> {
        let result = self.stream.shutdown();
        result.map_err(|error| ClientError::lost("closing it", error))
    }

    fn send(&mut self, head: &[u8], payload: &[u8]) -> Result<(), ClientError> {
        let (mut head, mut payload) = (head, payload);
        while !head.is_empty() || !payload.is_empty() {
            let slices = [IoSlice::new(head), IoSlice::new(payload)];
            match self.stream.write_vectored(&slices) {
                Ok(0) => return Err(ClientError::lost(SENDING, io::ErrorKind::WriteZero.into())),
                Ok(sent) => {
                    let of_head = sent.min(head.len());
                    head = &head[of_head..];
                    payload = &payload[sent - of_head..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ClientError::lost(SENDING, error)),
            }
        }
        Ok(())
    }
}

/// A request's head in the form of the session.
struct Head {
    bytes: [u8; 32],
    used: usize,
}

impl Head {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

fn encode(request: &Request, form: ReplyForm) -> Head {
    let mut bytes = [0; 32];
    let is_extended = form == ReplyForm::Extended;
    let mut flags = request.flags;
    if is_extended && request.command == Command::Write {
        flags |= CMD_FLAG_PAYLOAD_LEN;
    }
    let magic = if is_extended { EXTENDED_REQUEST_MAGIC } else { REQUEST_MAGIC };
    bytes[..4].copy_from_slice(&magic.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&request.command.number().to_be_bytes());
    bytes[8..16].copy_from_slice(&request.cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&request.offset.to_be_bytes());
    if is_extended {
        bytes[24..32].copy_from_slice(&request.length.to_be_bytes());
        return Head { bytes, used: 32 };
    }
    let length = u32::try_from(request.length);
    let length = length.expect("lengths over 4 GiB need extended headers");
    bytes[24..28].copy_from_slice(&length.to_be_bytes());
    Head { bytes, used: 28 }
}

impl Receiver {
    /// Waits for the next request to be answered in full, whichever it is.
    ///
    /// [`ClientError::TimedOut`] means that nothing came for the time of the read timeout; calling
    /// again is allowed. Every other error ends the connection. A server's refusal of a request is
    /// no error here but [`Reply::error`].
    pub fn recv_reply(&mut self) -> Result<Reply, ClientError> {
        loop {
            self.wait_for_byte()?;
            if let Some(reply) = self.recv_message()? {
                return Ok(reply);
            }
        }
    }

    pub fn set_read_timeout(&self, timeout: Duration) -> Result<(), ClientError> {
        let result = self.stream.get_ref().set_read_timeout(timeout);
        result.map_err(|source| ClientError::lost("setting its timeout", source))
    }

    /// Ends the connection at once, also for a sender that waits for a server that stopped reading.
    pub fn shutdown(&self) -> Result<(), ClientError> {
        let result = self.stream.get_ref().shutdown();
        result.map_err(|error| ClientError::lost("closing it", error))
    }

    /// Waits until the server closes the connection, with nothing left unsaid.
    pub fn wait_for_end(&mut self) -> Result<(), ClientError> {
        match self.stream.fill_buf() {
            Ok([]) if lock(&self.pending).is_empty() => Ok(()),
            Ok([]) => Err(ClientError::lost(RECEIVING, io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Err(ClientError::protocol("it sent something after the disconnect")),
            Err(error) => Err(ClientError::lost("waiting for its end", error)),
        }
    }

    /// Nothing has been taken from the stream yet, so a timeout here loses nothing.
    fn wait_for_byte(&mut self) -> Result<(), ClientError> {
        loop {
            match self.stream.fill_buf() {
                Ok([]) => {
                    return Err(ClientError::lost(RECEIVING, io::ErrorKind::UnexpectedEof.into()));
                }
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => {
                    let timeout_ms = self.stream.get_ref().read_timeout_ms();
                    return Err(ClientError::TimedOut { timeout_ms });
                }
                Err(error) => return Err(ClientError::lost(RECEIVING, error)),
            }
        }
    }

    /// Takes one simple reply or one chunk; gives a reply when it was the last of its request.
    fn recv_message(&mut self) -> Result<Option<Reply>, ClientError> {
        let mut magic = [0; 4];
        self.read(&mut magic)?;
        match (be32(&magic), self.form) {
            (SIMPLE_REPLY_MAGIC, ReplyForm::Simple | ReplyForm::Structured) => {
                self.recv_simple().map(Some)
            }
            (STRUCTURED_REPLY_MAGIC, ReplyForm::Structured) => {
                let mut head = [0; 16];
                self.read(&mut head)?;
                let length = u64::from(be32(&head[12..]));
                self.recv_chunk(&head, None, length)
            }
            (EXTENDED_REPLY_MAGIC, ReplyForm::Extended) => {
                let mut head = [0; 28];
                self.read(&mut head)?;
                let (offset, length) = (be64(&head[12..]), be64(&head[20..]));
                self.recv_chunk(&head, Some(offset), length)
            }
            (magic, form) => Err(ClientError::protocol(format!(
                "a reply starts with {magic:#010x}, which is wrong in a session of {form:?} replies"
            ))),
        }
    }

    fn recv_simple(&mut self) -> Result<Reply, ClientError> {
        let mut head = [0; 12];
        self.read(&mut head)?;
        let (error, cookie) = (be32(&head), be64(&head[4..]));
        let mut pending = self.take_pending(cookie)?;
        let is_read = pending.request().command == Command::Read;
        if is_read && self.form == ReplyForm::Structured {
            return Err(ClientError::protocol("it answered a read by a simple reply"));
        }
        if error != 0 {
            return Ok(pending.refused(Errno::from_number(error)));
        }
        if is_read {
            self.read(pending.whole_data())?;
        }
        pending.finish()
    }

    fn recv_chunk(
        &mut self,
        head: &[u8],
        offset: Option<u64>,
        length: u64,
    ) -> Result<Option<Reply>, ClientError> {
        let (flags, kind, cookie) = (be16(head), be16(&head[2..]), be64(&head[4..]));
        let mut pending = self.take_pending(cookie)?;
        if offset.is_some_and(|offset| offset != pending.request().offset) {
            return Err(ClientError::protocol("a reply names another offset than its request"));
        }
        match pending.on_chunk(kind, length)? {
            Chunk::Data => {
                let mut start = [0; 8];
                self.read(&mut start)?;
                let place = pending.place(be64(&start), length - 8)?;
                self.read(place)?;
            }
            Chunk::Small(bytes) => {
                let mut payload = vec![0; bytes];
                self.read(&mut payload)?;
                pending.on_payload(kind, &payload, self.allocation_context)?;
            }
        }
        if flags & REPLY_FLAG_DONE != 0 {
            return pending.finish().map(Some);
        }
        lock(&self.pending).insert(cookie, pending);
        Ok(None)
    }

    fn take_pending(&self, cookie: u64) -> Result<Pending, ClientError> {
        lock(&self.pending).remove(&cookie).ok_or_else(|| {
            ClientError::protocol(format!("it answered cookie {cookie}, which is not in flight"))
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), ClientError> {
        self.stream.read_exact(buffer).map_err(|error| ClientError::lost(RECEIVING, error))
    }
}
