//! The way out: messages packed into a buffer of the caller.

use crate::error::EncodeError;
use crate::frame::{
    CRC_AT, FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, FRAME_VERSION, MAGIC,
    MESSAGE_HEADER_BYTES, Message, PAYLOAD_FLAG, PayloadRef, Quantum, header_part_crc,
    payload_length,
};
use crate::message::{Control, Data, HEADER_BYTES_MAX, LinkMessage, ResourceMessage};
use crate::wire::{Writer, put_data, tag_of_data};

/// Packs messages into a buffer of fixed size, without allocation.
#[derive(Debug)]
pub struct FrameWriter<B> {
    buffer: B,
    /// Bytes of the buffer in use: a multiple of the quantum, so that padding always fits.
    capacity: usize,
    quantum: Quantum,
    /// Of the whole frame, payloads and padding included.
    frame_bytes_max: u32,
    position: usize,
    messages: u32,
    payload_bytes: u32,
    names_questions: bool,
}

impl<B: AsMut<[u8]>> FrameWriter<B> {
    /// An empty frame for a receiver that asked for `quantum_bytes`.
    ///
    /// # Panics
    /// If `quantum_bytes` is not a power of two of 64 to 512, or the buffer is smaller than it.
    #[must_use]
    pub fn new(mut buffer: B, quantum_bytes: u16) -> Self {
        let quantum = Quantum::new(quantum_bytes);
        let capacity = quantum.down(buffer.as_mut().len().min(HEADER_BYTES_MAX));
        assert!(capacity >= FRAME_HEADER_BYTES, "a buffer holds at least one quantum");
        Self {
            buffer,
            capacity,
            quantum,
            frame_bytes_max: u32::MAX,
            position: FRAME_HEADER_BYTES,
            messages: 0,
            payload_bytes: 0,
            names_questions: true,
        }
    }

    /// Leaves out the names of questions, of which a receiver without `FEATURE_QUESTIONS` knows
    /// nothing.
    #[must_use]
    pub fn without_questions(self) -> Self {
        Self { names_questions: false, ..self }
    }

    /// The frame with all its payloads is to be no longer than this.
    #[must_use]
    pub fn within(self, frame_bytes_max: u32) -> Self {
        Self { frame_bytes_max, ..self }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Bytes that follow the header part: all payloads so far, each padded to the quantum.
    #[must_use]
    pub fn payload_bytes(&self) -> u32 {
        self.payload_bytes
    }

    /// Adds a message; the frame is unchanged if that fails.
    ///
    /// # Errors
    /// As `push_data`.
    pub fn push(
        &mut self,
        handle: u32,
        message: &Message,
        payload: Option<PayloadRef>,
    ) -> Result<(), EncodeError> {
        match message {
            Message::Resource(ResourceMessage::Data(data)) => self.push_data(handle, data, payload),
            Message::Resource(ResourceMessage::Control(control)) => {
                self.push_control(handle, control)
            }
            Message::Link(link) => self.push_link(link),
        }
    }

    /// Adds a message of a lane. The payload has to be there exactly if the message has one.
    ///
    /// # Errors
    /// `Full` if the frame has no room for it (the buffer is too small for it if the frame is
    /// empty), `TooLong` if a list is longer than the format allows.
    ///
    /// # Panics
    /// If the payload's length is not the one that the message says, or `handle` is 0.
    #[inline]
    pub fn push_data(
        &mut self,
        handle: u32,
        data: &Data,
        payload: Option<PayloadRef>,
    ) -> Result<(), EncodeError> {
        assert!(handle != 0, "handle 0 is the link's own");
        let length = payload.map(|payload| payload.length_bytes);
        assert_eq!(length, payload_length(&data.body), "a payload as long as its message says");
        self.add(tag_of_data(data), handle, payload, |writer| put_data(data, writer))
    }

    /// Adds a message to a resource's home shard.
    ///
    /// # Errors
    /// As `push_data`.
    ///
    /// # Panics
    /// If `handle` is 0.
    pub fn push_control(&mut self, handle: u32, control: &Control) -> Result<(), EncodeError> {
        assert!(handle != 0, "handle 0 is the link's own");
        self.add(control.tag(), handle, None, |writer| control.put_body(writer))
    }

    /// Adds a message of the pair of nodes.
    ///
    /// # Errors
    /// As `push_data`.
    pub fn push_link(&mut self, message: &LinkMessage) -> Result<(), EncodeError> {
        self.add(message.tag(), 0, None, |writer| message.put_body(writer))
    }

    #[inline]
    fn add(
        &mut self,
        tag: u16,
        handle: u32,
        payload: Option<PayloadRef>,
        put: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), EncodeError> {
        let padded = payload.map_or(0, |payload| self.quantum.up(payload.length_bytes));
        let payload_bytes = self.payload_bytes + padded;
        if payload_bytes > FRAME_PAYLOAD_BYTES_MAX {
            return Err(EncodeError::Full);
        }
        let start = self.position + MESSAGE_HEADER_BYTES;
        let bytes = &mut self.buffer.as_mut()[..self.capacity];
        let mut writer = Writer::new(bytes, start);
        writer.names_questions = self.names_questions;
        if let Some(payload) = payload
            && let Some(place) = writer.array::<8>()
        {
            place[..4].copy_from_slice(&payload.length_bytes.to_le_bytes());
            place[4..].copy_from_slice(&payload.crc.to_le_bytes());
        }
        put(&mut writer);
        let end = writer.finish()?;
        let frame_bytes = self.quantum.up_usize(end) + payload_bytes as usize;
        if frame_bytes > self.frame_bytes_max as usize {
            return Err(EncodeError::Full);
        }
        let length = u32::try_from(end - start).expect("a frame is far below 4 GiB");
        let flags = if payload.is_some() { PAYLOAD_FLAG } else { 0 };
        let head: &mut [u8; MESSAGE_HEADER_BYTES] = bytes[self.position..start]
            .first_chunk_mut()
            .expect("the range is as long as a message header");
        head[..2].copy_from_slice(&tag.to_le_bytes());
        head[2..4].copy_from_slice(&flags.to_le_bytes());
        head[4..8].copy_from_slice(&length.to_le_bytes());
        head[8..].copy_from_slice(&handle.to_le_bytes());
        self.position = end;
        self.messages += 1;
        self.payload_bytes = payload_bytes;
        Ok(())
    }

    /// Closes the frame: the buffer, and the bytes of it that are the header part.
    ///
    /// # Panics
    /// If the frame is empty.
    #[must_use]
    pub fn finish(mut self) -> (B, usize) {
        assert!(!self.is_empty(), "a frame says something");
        let end = self.quantum.up_usize(self.position);
        let bytes = &mut self.buffer.as_mut()[..end];
        bytes[self.position..].fill(0);
        let header_bytes = u32::try_from(end).expect("a frame is far below 4 GiB");
        bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..6].copy_from_slice(&FRAME_VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&[0; 2]);
        bytes[8..12].copy_from_slice(&header_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.messages.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[20..CRC_AT].copy_from_slice(&[0; 8]);
        let crc = header_part_crc(bytes);
        bytes[CRC_AT..FRAME_HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
        (self.buffer, end)
    }
}
