//! The way in: nothing a peer sends is believed before it is checked.

use crate::error::DecodeError;
use crate::frame::{
    CRC_AT, FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, FRAME_VERSION, MAGIC,
    MESSAGE_HEADER_BYTES, Message, PAYLOAD_FLAG, Quantum, Received, ReceivedPayload,
    header_part_crc, payload_length,
};
use crate::message::{Control, HEADER_BYTES_MAX, LeaseRequest, ResourceMessage};
use crate::wire::{CONTROL_TAG_MIN, DATA_TAG_MIN, Reader, get_data, get_link};

/// What the first 32 bytes of a frame say; they are within the limits, but not yet checksummed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of the header part, these 32 included: a multiple of the quantum.
    pub header_bytes: u32,
    pub message_count: u32,
    /// Bytes that follow the header part: a multiple of the quantum.
    pub payload_bytes: u32,
}

impl FrameHeader {
    /// Reads the fixed header of a frame, so that the reader knows how much to wait for.
    ///
    /// # Errors
    /// The connection has to be closed: there is no way to find the next frame.
    ///
    /// # Panics
    /// If `quantum_bytes` is not a power of two of 64 to 512.
    pub fn parse(
        bytes: &[u8; FRAME_HEADER_BYTES],
        quantum_bytes: u16,
    ) -> Result<Self, DecodeError> {
        const WHAT: &str = "frame header";
        let quantum = Quantum::new(quantum_bytes);
        let mut reader = Reader::new(bytes, 0, WHAT);
        let magic: u32 = reader.field(WHAT)?;
        if magic != MAGIC {
            return Err(DecodeError::WrongMagic { what: WHAT, offset: 0, value: magic.into() });
        }
        let version: u16 = reader.field("frame version")?;
        if version > FRAME_VERSION {
            let (what, value) = ("frame version", version.into());
            return Err(DecodeError::NewerVersion { what, offset: 4, value });
        }
        if version != FRAME_VERSION {
            return Err(reader.out_of_range(2, version.into()));
        }
        let flags: u16 = reader.field("frame flags")?;
        if flags != 0 {
            return Err(reader.out_of_range(2, flags.into()));
        }
        let header_bytes: u32 = reader.field("frame header_bytes")?;
        let is_possible = header_bytes as usize <= HEADER_BYTES_MAX && header_bytes >= 32;
        if !is_possible || !quantum.divides(header_bytes) {
            return Err(reader.out_of_range(4, header_bytes.into()));
        }
        let message_count: u32 = reader.field("frame message_count")?;
        let space = header_bytes as usize - FRAME_HEADER_BYTES;
        if message_count == 0 || message_count as usize > space / MESSAGE_HEADER_BYTES {
            return Err(reader.out_of_range(4, message_count.into()));
        }
        let payload_bytes: u32 = reader.field("frame payload_bytes")?;
        if payload_bytes > FRAME_PAYLOAD_BYTES_MAX || !quantum.divides(payload_bytes) {
            return Err(reader.out_of_range(4, payload_bytes.into()));
        }
        let zero: u64 = reader.field("frame reserved bytes")?;
        if zero != 0 {
            return Err(reader.out_of_range(8, zero));
        }
        Ok(Self { header_bytes, message_count, payload_bytes })
    }
}

/// Gives the messages of one header part, in order. Ends after the first error.
#[derive(Debug)]
pub struct FrameReader<'a> {
    bytes: &'a [u8],
    header: FrameHeader,
    quantum: Quantum,
    position: usize,
    messages_left: u32,
    payload_position: u32,
    is_done: bool,
    /// Memory for the lease requests of a heartbeat.
    leases: Vec<LeaseRequest>,
}

impl<'a> FrameReader<'a> {
    /// Checks the header part of a frame, which is as long as its `FrameHeader` says.
    ///
    /// # Errors
    /// The connection has to be closed: the sender or the way is broken.
    ///
    /// # Panics
    /// If `quantum_bytes` is not a power of two of 64 to 512.
    pub fn new(header_part: &'a [u8], quantum_bytes: u16) -> Result<Self, DecodeError> {
        const WHAT: &str = "frame header part";
        let fixed = Reader::new(header_part, 0, WHAT).array()?;
        let header = FrameHeader::parse(fixed, quantum_bytes)?;
        let mut part = Reader::new(header_part, 0, WHAT);
        let bytes = part.slice(header.header_bytes as usize)?;
        part.finish()?;
        let stored: u32 = Reader::new(bytes, CRC_AT, WHAT).field(WHAT)?;
        if stored != header_part_crc(bytes) {
            let value = stored.into();
            return Err(DecodeError::WrongChecksum { what: WHAT, offset: CRC_AT, value });
        }
        Ok(Self {
            bytes,
            header,
            quantum: Quantum::new(quantum_bytes),
            position: FRAME_HEADER_BYTES,
            messages_left: header.message_count,
            payload_position: 0,
            is_done: false,
            leases: Vec::new(),
        })
    }

    /// Takes the memory of `leases` for those of a heartbeat, so that a link that is at rest
    /// allocates nothing.
    #[must_use]
    pub fn with_leases(self, leases: Vec<LeaseRequest>) -> Self {
        Self { leases, ..self }
    }

    /// What `with_leases` gave, if no heartbeat came.
    #[must_use]
    pub fn into_leases(self) -> Vec<LeaseRequest> {
        self.leases
    }

    #[must_use]
    pub fn header(&self) -> FrameHeader {
        self.header
    }

    #[inline]
    fn read_message(&mut self) -> Result<Received, DecodeError> {
        let mut reader = Reader::new(self.bytes, self.position, "message header");
        let head: &[u8; MESSAGE_HEADER_BYTES] = reader.array()?;
        let [t0, t1, f0, f1, l0, l1, l2, l3, h0, h1, h2, h3] = *head;
        let tag = u16::from_le_bytes([t0, t1]);
        let flags = u16::from_le_bytes([f0, f1]);
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        let handle = u32::from_le_bytes([h0, h1, h2, h3]);
        let start = reader.position();
        let end = start.saturating_add(length as usize);
        reader.slice(length as usize)?;
        let mut body = Reader::new(&self.bytes[..end], start, "message");
        let sent = match flags {
            0 => None,
            PAYLOAD_FLAG => Some((body.field("payload length")?, body.field("payload crc")?)),
            other => return Err(reader.out_of_range(length as usize + 10, other.into())),
        };
        let message = read_body(tag, handle, &mut body, &mut self.leases)?;
        let payload = self.place_payload(&message, sent, &body)?;
        body.finish()?;
        self.position = end;
        Ok(Received { handle, message, payload })
    }

    /// Where the payload is, if it is the one that its message speaks of.
    #[inline]
    fn place_payload(
        &mut self,
        message: &Message,
        sent: Option<(u32, u32)>,
        body: &Reader<'_>,
    ) -> Result<Option<ReceivedPayload>, DecodeError> {
        let expected = match message {
            Message::Resource(ResourceMessage::Data(data)) => payload_length(&data.body),
            Message::Resource(ResourceMessage::Control(_)) | Message::Link(_) => None,
        };
        if expected != sent.map(|(length, _)| length) {
            let value = sent.map_or(0, |(length, _)| length).into();
            let (what, offset) = ("payload length", body.position());
            return Err(DecodeError::OutOfRange { what, offset, value });
        }
        let Some((length_bytes, crc)) = sent else { return Ok(None) };
        let offset_bytes = self.payload_position;
        let end = offset_bytes + self.quantum.up(length_bytes);
        if end > self.header.payload_bytes {
            let (what, offset, value) = ("payload area", body.position(), end.into());
            return Err(DecodeError::OutOfRange { what, offset, value });
        }
        self.payload_position = end;
        Ok(Some(ReceivedPayload { offset_bytes, length_bytes, crc }))
    }

    /// Behind the last message are less than a quantum of zeroes, and no payload is unclaimed.
    fn check_end(&self) -> Result<(), DecodeError> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        // All of them at once: that takes sixteen at a time, and nearly always tells enough.
        let is_zero = rest.iter().fold(0, |sum, byte| sum | *byte) == 0;
        let first = if is_zero { None } else { rest.iter().position(|byte| *byte != 0) };
        if let Some(at) = first.or_else(|| (rest.len() >= self.quantum.bytes()).then_some(0)) {
            let (what, offset) = ("messages of a frame", self.position + at);
            return Err(DecodeError::Trailing { what, offset, value: rest.len() as u64 });
        }
        let unclaimed = self.header.payload_bytes - self.payload_position;
        if unclaimed > 0 {
            let (what, offset) = ("payloads of a frame", self.payload_position as usize);
            return Err(DecodeError::Trailing { what, offset, value: unclaimed.into() });
        }
        Ok(())
    }
}

impl Iterator for FrameReader<'_> {
    type Item = Result<Received, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let Some(left) = self.messages_left.checked_sub(1) else {
            self.is_done = true;
            return self.check_end().err().map(Err);
        };
        self.messages_left = left;
        let result = self.read_message();
        self.is_done = result.is_err();
        Some(result)
    }
}

#[inline]
fn read_body(
    tag: u16,
    handle: u32,
    body: &mut Reader<'_>,
    leases: &mut Vec<LeaseRequest>,
) -> Result<Message, DecodeError> {
    let is_link = tag < CONTROL_TAG_MIN;
    if is_link != (handle == 0) {
        let (what, offset) = ("handle", body.position());
        return Err(DecodeError::OutOfRange { what, offset, value: handle.into() });
    }
    Ok(if tag >= DATA_TAG_MIN {
        Message::Resource(ResourceMessage::Data(get_data(tag, body)?))
    } else if is_link {
        Message::Link(get_link(tag, body, leases)?)
    } else {
        Message::Resource(ResourceMessage::Control(Box::new(Control::get_body(tag, body)?)))
    })
}
