//! A peer that sends what no version of this program sends.
//!
//! Messages on their way are damaged, replayed, doubled or lost, as far as the decoder of the wire
//! lets them pass. No promise about data outlives that; but nobody may panic, use a payload twice,
//! or hold more and more of anything. So everything is real here, and only what peers say is not.

use std::collections::VecDeque;

use format::frame::{FRAME_HEADER_BYTES, FrameReader, FrameWriter, Message as Framed, PayloadRef};
use format::message::{Data, DataBody, ReadStatus, ResourceMessage};
use stdx::checksum::crc32c;
use stdx::random::Random;

use crate::cluster::Cluster;
use crate::cluster::network::Message;

/// Which messages are forged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forged {
    /// Those of lanes, which go to a `LaneGroup`.
    Data,
    /// Those of the home, which go to a `Resource`.
    Control,
}

impl Cluster {
    /// From now on peers send what they should not.
    pub(crate) fn forge(&mut self, forged: Forged) {
        self.forger = Some(Forger::new(forged, self.options.seed));
    }

    /// No process holds more than so much of anything.
    pub(crate) fn check_bounds(&self, payloads: usize, under_way: usize) -> Result<(), String> {
        for (node, process) in self.processes.iter().enumerate() {
            let Some(process) = process else { continue };
            let (held, asked) = (process.payloads.len(), process.outstanding.len());
            if held > payloads || asked > under_way {
                return Err(format!(
                    "n{node} holds {held} payloads, and {asked} requests to its disk"
                ));
            }
        }
        match self.events.len() {
            events if events > under_way => Err(format!("{events} events are under way")),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Forger {
    forged: Forged,
    random: Random,
    /// Messages that may come once more, perhaps to somebody else.
    earlier: VecDeque<Message>,
    pub(crate) count: u64,
}

const EARLIER_MAX: usize = 64;
const HANDLE: u32 = 1;
const QUANTUM_BYTES: u16 = 64;
const BLOCK_BYTES: u32 = 4096;
/// The header of the frame and of the message; what follows are fields.
const FIELDS_AT: usize = FRAME_HEADER_BYTES + 12;

impl Forger {
    pub(crate) fn new(forged: Forged, seed: u64) -> Self {
        let random = Random::new(seed ^ 0xf0_4ced);
        Self { forged, random, earlier: VecDeque::new(), count: 0 }
    }

    /// What arrives instead of `message`.
    pub(super) fn forge(&mut self, message: Message) -> Vec<Message> {
        if !self.is_meant(&message) {
            return vec![message];
        }
        if self.random.chance(1, 4) {
            self.earlier.push_back(message.clone());
            if self.earlier.len() > EARLIER_MAX {
                self.earlier.pop_front();
            }
        }
        // There are few of the home's.
        let one_in = if self.forged == Forged::Data { 30 } else { 5 };
        if !self.random.chance(1, one_in) {
            return vec![message];
        }
        self.count += 1;
        match self.random.below(16) {
            0 => Vec::new(),
            1 => vec![message.clone(), message],
            2..5 => {
                let earlier = self.random.below(self.earlier.len().max(1) as u64);
                let earlier = self.earlier.get(usize::try_from(earlier).expect("few")).cloned();
                earlier.into_iter().chain([message]).collect()
            }
            5..8 => {
                let damaged = self.damaged(&message);
                damaged.into_iter().chain([message]).collect()
            }
            _ => vec![self.damaged(&message).unwrap_or(message)],
        }
    }

    fn is_meant(&self, message: &Message) -> bool {
        match message {
            Message::Data { .. } => self.forged == Forged::Data,
            Message::Control(_) => self.forged == Forged::Control,
            Message::LeaseAsked { .. } | Message::LeaseAnswered { .. } => false,
        }
    }

    /// The message with other fields, if a decoder takes it.
    fn damaged(&mut self, message: &Message) -> Option<Message> {
        let mut bytes = framed(message)?;
        for _ in 0..=self.random.below(3) {
            self.damage(&mut bytes[FIELDS_AT..]);
        }
        let rest = [&bytes[..28], &bytes[FRAME_HEADER_BYTES..]].concat();
        bytes[28..32].copy_from_slice(&crc32c(&rest).to_le_bytes());
        let received = FrameReader::new(&bytes, QUANTUM_BYTES).ok()?.next()?.ok()?;
        let Framed::Resource(message) = received.message else { return None };
        Some(match message {
            ResourceMessage::Control(message) => Message::Control(*message),
            ResourceMessage::Data(message) => {
                let blocks = |bytes: u32| vec![7; bytes.div_ceil(BLOCK_BYTES) as usize];
                let values = received.payload.map(|payload| blocks(payload.length_bytes));
                Message::Data { message, values }
            }
        })
    }

    fn damage(&mut self, fields: &mut [u8]) {
        if fields.is_empty() {
            return;
        }
        let at = usize::try_from(self.random.below(fields.len() as u64)).expect("short");
        let length = (1 << self.random.below(4)).min(fields.len() - at);
        let field = &mut fields[at..at + length];
        let number = match self.random.below(6) {
            0 => self.random.below(4),
            1 => u64::MAX - self.random.below(3),
            2 => self.random.below(1 << 12),
            3 => 1 << self.random.below(64),
            4 => self.random.next_u64(),
            _ => {
                field[0] ^= 1 << self.random.below(8);
                return;
            }
        };
        field.copy_from_slice(&number.to_le_bytes()[..length]);
    }
}

pub(super) fn framed(message: &Message) -> Option<Vec<u8>> {
    let mut writer = FrameWriter::new(vec![0; 64 << 10], QUANTUM_BYTES);
    match message {
        Message::Control(control) => writer.push_control(HANDLE, control).ok()?,
        Message::Data { message, .. } => {
            let payload =
                payload_bytes(message).map(|length_bytes| PayloadRef { length_bytes, crc: 0 });
            writer.push_data(HANDLE, message, payload).ok()?;
        }
        Message::LeaseAsked { .. } | Message::LeaseAnswered { .. } => return None,
    }
    let (mut bytes, length) = writer.finish();
    bytes.truncate(length);
    Some(bytes)
}

fn payload_bytes(message: &Data) -> Option<u32> {
    match &message.body {
        DataBody::Write(write) => {
            write.has_payload().then(|| u32::try_from(write.payload_bytes()).expect("checked"))
        }
        DataBody::ReadDone { status: ReadStatus::Ok, length_bytes, .. } => Some(*length_bytes),
        DataBody::ReadDone { .. }
        | DataBody::Digest { .. }
        | DataBody::DigestDone { .. }
        | DataBody::Ack { .. }
        | DataBody::Received { .. }
        | DataBody::Stable { .. }
        | DataBody::Cut { .. }
        | DataBody::Read { .. }
        | DataBody::Flush { .. }
        | DataBody::FlushDone { .. }
        | DataBody::Loss { .. }
        | DataBody::LossDone { .. }
        | DataBody::SlotRead { .. }
        | DataBody::SlotData { .. }
        | DataBody::Clear { .. } => None,
    }
}
