//! The Connect command: the first of every queue.
//!
//! ```text
//! command  40 format (2)  42 queue (2)  44 entries - 1 (2)  46 attributes  48 keep-alive, ms (4)
//! data      0 host id (16)  16 controller (2)  256 subsystem's name (256)  512 host's name (256)
//! ```

use crate::nvme::limits::{ADMIN_ENTRIES_MAX, QUEUE_ENTRIES_MAX};
use crate::nvme::send::Completion;
use crate::nvme::status::Status;
use crate::nvme::wire::{FABRICS, FABRICS_CONNECT, Sqe, le16};

pub const DATA_BYTES: usize = 1024;
/// Names are shorter than the room for them.
const NAME_BYTES_MAX: usize = 223;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    pub command: u16,
    /// 0 is the admin queue.
    pub queue: u16,
    pub entries: u16,
    /// The initiator wants to know how far the queue was taken.
    pub flow_control: FlowControl,
    pub keep_alive_ms: u32,
    pub host_id: [u8; 16],
    pub controller: u16,
    pub subsystem: String,
    pub host: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    On,
    Off,
}

/// Which field of a Connect is wrong, as its completion tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Command(u16),
    Data(u16),
}

impl Field {
    pub const CONTROLLER: Self = Self::Data(16);
    pub const SUBSYSTEM: Self = Self::Data(256);
    pub const HOST: Self = Self::Data(512);
    pub const QUEUE: Self = Self::Command(42);
    pub const ENTRIES: Self = Self::Command(44);

    /// The refusal of a Connect for this field.
    #[must_use]
    pub fn refuse(self, command: u16) -> Completion {
        let (at, attributes) = match self {
            Self::Command(at) => (at, 0),
            Self::Data(at) => (at, 1),
        };
        let result = u64::from(at) | attributes << 16;
        let status =
            if self == Self::SUBSYSTEM { Status::CONNECT_UNKNOWN } else { Status::CONNECT_INVALID };
        Completion { command, result, status }
    }
}

impl Connect {
    /// Reads the first command of a queue, or says how to answer it.
    pub fn of(sqe: &Sqe, data: &[u8]) -> Result<Self, Completion> {
        let command = sqe.command();
        if sqe.opcode() != FABRICS || sqe.fabrics_kind() != FABRICS_CONNECT {
            return Err(Completion::of(command, Status::SEQUENCE_ERROR));
        }
        if sqe.half(40) != 0 {
            return Err(Completion::of(command, Status::CONNECT_FORMAT));
        }
        if data.len() < DATA_BYTES {
            return Err(Completion::of(command, Status::DATA_LENGTH_INVALID));
        }
        let (queue, last) = (sqe.half(42), sqe.half(44));
        let entries_max = if queue == 0 { ADMIN_ENTRIES_MAX } else { QUEUE_ENTRIES_MAX };
        if last == 0 || last >= entries_max {
            return Err(Field::ENTRIES.refuse(command));
        }
        let name = |at: usize, field: Field| {
            name(&data[at..at + 256]).ok_or_else(|| field.refuse(command))
        };
        Ok(Self {
            command,
            queue,
            entries: last + 1,
            flow_control: if sqe.byte(46) & 1 << 2 == 0 {
                FlowControl::On
            } else {
                FlowControl::Off
            },
            keep_alive_ms: sqe.word(48),
            host_id: data[..16].try_into().expect("cut to its length"),
            controller: le16(data, 16),
            subsystem: name(256, Field::SUBSYSTEM)?,
            host: name(512, Field::HOST)?,
        })
    }
}

/// A name that ends with a zero.
fn name(bytes: &[u8]) -> Option<String> {
    let length = bytes.iter().position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    let is_good = !text.is_empty()
        && text.len() <= NAME_BYTES_MAX
        && text.chars().all(|letter| !letter.is_control());
    is_good.then(|| text.to_owned())
}
