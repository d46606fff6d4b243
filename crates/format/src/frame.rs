//! Frames: what travels on a connection between two nodes.
//!
//! ```text
//! | frame header 32 | message | message | .. | zeroes to the quantum | payload | pad | payload ..
//! '------------------ header part, header_bytes ---------------------'---- payload_bytes ------'
//!
//! frame header:  0 magic(4) "BSLT"   4 version(2)   6 flags(2) 0   8 header_bytes(4)
//!               12 message_count(4)  16 payload_bytes(4)  20 zero(8)
//!               28 crc(4), CRC-32C of the header part without these four bytes
//! message:       0 type(2)  2 flags(2)  4 length(4) of all that follows the handle
//!                8 handle(4), 0 of a link message
//!               12 payload length(4), payload CRC-32C(4): only with flag 1
//!                  body
//! ```
//! Payloads follow in the order of their messages, each padded with zeroes to the quantum, the
//! memory alignment that the receiver named in HELLO: read into aligned memory, each can go to a
//! disk as it is. Before the receiver's word is known, `QUANTUM_BYTES_MAX` fits everyone.
//! This module checks the header part; the checksum of a payload is for whoever holds the payload.

use crate::limits::PAYLOAD_BYTES_MAX;
use crate::message::{DataBody, LinkMessage, ReadStatus, ResourceMessage};
use crate::wire::{CONTROL_TAGS, DATA_TAGS, LINK_TAGS};
use stdx::checksum::{crc32c, crc32c_append};

mod writer;
mod reader;

pub use reader::{FrameHeader, FrameReader};
pub use writer::FrameWriter;

pub use crate::wire::{QUANTUM_BYTES_MAX, QUANTUM_BYTES_MIN};

/// Version of the frame and of every message in it.
pub const FRAME_VERSION: u16 = 1;
/// Bytes of the fixed header that every frame starts with.
pub const FRAME_HEADER_BYTES: usize = 32;
/// The most payload bytes of one frame, padding included.
pub const FRAME_PAYLOAD_BYTES_MAX: u32 = 1 << 20;

const MAGIC: u32 = u32::from_le_bytes(*b"BSLT");
const CRC_AT: usize = 28;
const MESSAGE_HEADER_BYTES: usize = 12;
const PAYLOAD_FLAG: u16 = 1;

const _: () = assert!(PAYLOAD_BYTES_MAX <= FRAME_PAYLOAD_BYTES_MAX, "a payload fits into a frame");

/// What a frame carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Link(LinkMessage),
    Resource(ResourceMessage),
}

/// A payload to be sent behind the header part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadRef {
    pub length_bytes: u32,
    pub crc: u32,
}

/// A message out of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// 0 of a link message, never 0 of a resource message.
    pub handle: u32,
    pub message: Message,
    pub payload: Option<ReceivedPayload>,
}

/// Where the payload of a message is, and what its checksum must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedPayload {
    /// From the start of the payload area; a multiple of the quantum.
    pub offset_bytes: u32,
    pub length_bytes: u32,
    pub crc: u32,
}

/// The type numbers of all messages that this release knows.
pub fn message_tags() -> impl Iterator<Item = u16> {
    [LINK_TAGS, CONTROL_TAGS, DATA_TAGS].into_iter().flatten().copied()
}

/// Payload bytes that a message speaks of.
#[inline]
fn payload_length(body: &DataBody) -> Option<u32> {
    match body {
        DataBody::Write(write) => write
            .has_payload()
            .then(|| u32::try_from(write.payload_bytes()).expect("a checked range is below 4 GiB")),
        DataBody::ReadDone { status, length_bytes, .. } => match status {
            ReadStatus::Ok => Some(*length_bytes),
            ReadStatus::DeviceError | ReadStatus::Refused => None,
        },
        DataBody::Ack { .. }
        | DataBody::Received { .. }
        | DataBody::Stable { .. }
        | DataBody::Cut { .. }
        | DataBody::Read { .. }
        | DataBody::Digest { .. }
        | DataBody::DigestDone { .. }
        | DataBody::Flush { .. }
        | DataBody::FlushDone { .. }
        | DataBody::Loss { .. }
        | DataBody::LossDone { .. }
        | DataBody::SlotRead { .. }
        | DataBody::SlotData { .. }
        | DataBody::Clear { .. } => None,
    }
}

fn header_part_crc(bytes: &[u8]) -> u32 {
    let (before, after) = bytes.split_at(CRC_AT);
    crc32c_append(crc32c(before), after.get(4..).unwrap_or_default())
}

/// A checked alignment.
#[derive(Clone, Copy, Debug)]
struct Quantum(u16);

impl Quantum {
    fn new(quantum_bytes: u16) -> Self {
        assert!(quantum_bytes.is_power_of_two(), "a quantum is a power of two");
        assert!(
            (QUANTUM_BYTES_MIN..=QUANTUM_BYTES_MAX).contains(&quantum_bytes),
            "a quantum is within its bounds"
        );
        Self(quantum_bytes)
    }
    fn bytes(self) -> usize {
        self.0.into()
    }
    #[inline]
    fn up(self, length: u32) -> u32 {
        length.next_multiple_of(self.0.into())
    }
    fn up_usize(self, length: usize) -> usize {
        length.next_multiple_of(self.0.into())
    }
    fn down(self, length: usize) -> usize {
        length - length % self.bytes()
    }
    fn divides(self, length: u32) -> bool {
        length.is_multiple_of(self.0.into())
    }
}
