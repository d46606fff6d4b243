//! Authentication in band (DH-HMAC-CHAP): an initiator proves on each queue that it knows a secret,
//! and can have the controller prove the same.
//!
//! ```text
//! host: Authentication Send          controller: what Authentication Receive gets
//! Negotiate: hashes, groups      ->
//!                                <-  Challenge, of one hash and group
//! Reply: response, challenge?    ->
//!                                <-  Success1: response?, or Failure1
//! Success2, if it was challenged ->
//! ```
//!
//! An [`Exchange`] is that of one queue. It decides, and computes nothing that takes long: that is
//! a [`Task`], for a thread that may take its time. A host may begin anew whenever it has proved
//! itself; the queue serves it meanwhile. After a failure there is nothing but the end.

pub mod group;
pub mod secret;
pub mod proof;
mod message;

use std::sync::Arc;

pub use crate::nvme::auth::message::Failure;

use crate::nvme::auth::group::{EXPONENT_BYTES, Group};
use crate::nvme::auth::message::{FromHost, Reply};
use crate::nvme::auth::proof::{Parties, Question};
use crate::nvme::auth::secret::Hash;
use crate::nvme::limits::ADMIN_DATA_BYTES_MAX;
use crate::nvme::status::Status;
use crate::nvme::wire::{
    DataPointer, FABRICS, FABRICS_AUTHENTICATION_RECEIVE, FABRICS_AUTHENTICATION_SEND, Sqe, le32,
};

/// In the answer to a Connect: the host has to prove itself before anything else.
pub const REQUIRED: u32 = 1 << 17;
/// What [`Exchange::on_send`] may need that nobody can foresee.
pub const RANDOM_BYTES: usize = 128;

const CHALLENGE_BYTES_MAX: usize = 64;
/// The protocol of both commands, and what is specific to it.
const PROTOCOL: u8 = 0xe9;
const SPECIFIC: u16 = 0x0101;

const _: () = assert!(CHALLENGE_BYTES_MAX + EXPONENT_BYTES + 4 <= RANDOM_BYTES);

/// Whether a command is one of the exchange.
#[must_use]
pub fn is_part(sqe: &Sqe) -> bool {
    let is_kind =
        matches!(sqe.fabrics_kind(), FABRICS_AUTHENTICATION_SEND | FABRICS_AUTHENTICATION_RECEIVE);
    sqe.opcode() == FABRICS && is_kind
}

#[derive(Debug)]
pub struct Exchange {
    parties: Arc<Parties>,
    step: Step,
    is_proved: bool,
}

#[derive(Debug)]
enum Step {
    /// None has begun, or the last one is over.
    Idle,
    Working,
    /// A message waits to be received.
    ToChallenge {
        offer: Box<Offer>,
        message: Vec<u8>,
    },
    Challenged(Box<Offer>),
    ToSucceed {
        transaction: u16,
        message: Vec<u8>,
        mutual: Mutual,
    },
    /// The host has the controller's response, and is to say what it thinks of it.
    ToBeConfirmed {
        transaction: u16,
    },
    ToFail {
        transaction: u16,
        why: Failure,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutual {
    Yes,
    No,
}

/// What the controller chose, and what it keeps to itself.
#[derive(Debug)]
struct Offer {
    transaction: u16,
    hash: Hash,
    group: Group,
    sequence: u32,
    challenge: Vec<u8>,
    exponent: [u8; EXPONENT_BYTES],
}

/// What became of an Authentication Send.
#[derive(Debug)]
pub enum Sent {
    Taken,
    /// It is answered when the task is done.
    Work(Task),
    /// The queue is proved.
    Proved,
    /// The host does not go on.
    GivenUp {
        explanation: u8,
    },
    Refused(Status),
}

/// What became of an Authentication Receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Told,
    /// The queue is proved.
    Proved,
    /// The host is told so, and the queue ends.
    Failed(Failure),
    Refused(Status),
}

/// Work that takes its time.
#[derive(Debug)]
pub struct Task {
    parties: Arc<Parties>,
    offer: Box<Offer>,
    reply: Option<OwnedReply>,
}

#[derive(Debug)]
struct OwnedReply {
    response: Vec<u8>,
    challenge: Option<(Vec<u8>, u32)>,
    value: Vec<u8>,
}

/// What came out of a [`Task`].
#[derive(Debug)]
pub struct Finding(Step);

impl Exchange {
    #[must_use]
    pub fn new(parties: Arc<Parties>) -> Self {
        Self { parties, step: Step::Idle, is_proved: false }
    }

    /// The host has proved itself on this queue.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.is_proved
    }

    #[must_use]
    pub fn is_under_way(&self) -> bool {
        !matches!(self.step, Step::Idle)
    }

    /// Takes no command until its task is done.
    #[must_use]
    pub fn is_working(&self) -> bool {
        matches!(self.step, Step::Working)
    }

    pub fn on_send(&mut self, sqe: &Sqe, data: &[u8], random: &[u8; RANDOM_BYTES]) -> Sent {
        if let Err(status) = check_command(sqe) {
            return Sent::Refused(status);
        }
        if usize::try_from(sqe.word(44)) != Ok(data.len()) {
            return Sent::Refused(Status::INVALID_FIELD);
        }
        let transaction = self.transaction();
        match FromHost::of(data).and_then(|message| self.on_message(message, random)) {
            Ok(sent) => sent,
            Err(why) => {
                self.step = Step::ToFail { transaction, why };
                Sent::Taken
            }
        }
    }

    fn on_message(
        &mut self,
        message: FromHost<'_>,
        random: &[u8; RANDOM_BYTES],
    ) -> Result<Sent, Failure> {
        let same = |known: u16, found: u16| {
            if known == found { Ok(()) } else { Err(Failure::Payload) }
        };
        match (std::mem::replace(&mut self.step, Step::Working), message) {
            (_, FromHost::Failure2 { explanation }) => Ok(Sent::GivenUp { explanation }),
            (Step::ToFail { why, .. }, _) => Err(why),
            (Step::Idle, FromHost::Negotiate { transaction, hash, group }) => {
                let offer = Box::new(Offer::new(transaction, hash, group, random));
                Ok(Sent::Work(Task { parties: Arc::clone(&self.parties), offer, reply: None }))
            }
            (Step::Challenged(offer), FromHost::Reply(reply)) => {
                same(offer.transaction, reply.transaction)?;
                let reply = Some(OwnedReply::of(&reply));
                Ok(Sent::Work(Task { parties: Arc::clone(&self.parties), offer, reply }))
            }
            (Step::ToBeConfirmed { transaction: known }, FromHost::Success2 { transaction }) => {
                same(known, transaction)?;
                self.step = Step::Idle;
                self.is_proved = true;
                Ok(Sent::Proved)
            }
            _ => Err(Failure::Message),
        }
    }

    pub fn on_finding(&mut self, finding: Finding) {
        self.step = finding.0;
    }

    /// Puts what the host is told into `out`.
    pub fn on_receive(&mut self, sqe: &Sqe, out: &mut Vec<u8>) -> Received {
        out.clear();
        if let Err(status) = check_command(sqe) {
            return Received::Refused(status);
        }
        let DataPointer::Transport { length } = sqe.data() else {
            return Received::Refused(Status::SGL_TYPE_INVALID);
        };
        if length != sqe.word(44) || length > ADMIN_DATA_BYTES_MAX {
            return Received::Refused(Status::INVALID_FIELD);
        }
        let length = usize::try_from(length).expect("within the bound");
        if length < self.told_bytes() {
            return Received::Refused(Status::INVALID_FIELD);
        }
        let transaction = self.transaction();
        let why = match std::mem::replace(&mut self.step, Step::Idle) {
            Step::ToChallenge { offer, message } => {
                *out = message;
                self.step = Step::Challenged(offer);
                None
            }
            Step::ToSucceed { transaction, message, mutual } => {
                *out = message;
                if mutual == Mutual::Yes {
                    self.step = Step::ToBeConfirmed { transaction };
                }
                None
            }
            Step::ToFail { why, .. } => Some(why),
            Step::Idle | Step::Working | Step::Challenged(_) | Step::ToBeConfirmed { .. } => {
                Some(Failure::Message)
            }
        };
        let received = match why {
            Some(why) => {
                *out = message::failure1(transaction, why);
                self.step = Step::ToFail { transaction, why };
                Received::Failed(why)
            }
            // Without a further step it was the last one.
            None if self.is_under_way() => Received::Told,
            None => {
                self.is_proved = true;
                Received::Proved
            }
        };
        out.resize(length, 0);
        received
    }

    fn transaction(&self) -> u16 {
        match &self.step {
            Step::Idle | Step::Working => 0,
            Step::ToChallenge { offer, .. } | Step::Challenged(offer) => offer.transaction,
            Step::ToSucceed { transaction, .. }
            | Step::ToBeConfirmed { transaction }
            | Step::ToFail { transaction, .. } => *transaction,
        }
    }

    /// How much the next Authentication Receive brings.
    fn told_bytes(&self) -> usize {
        match &self.step {
            Step::ToChallenge { message, .. } | Step::ToSucceed { message, .. } => message.len(),
            Step::Idle
            | Step::Working
            | Step::Challenged(_)
            | Step::ToBeConfirmed { .. }
            | Step::ToFail { .. } => message::failure1(0, Failure::Message).len(),
        }
    }
}

fn check_command(sqe: &Sqe) -> Result<(), Status> {
    let is_ours = sqe.byte(43) == PROTOCOL && sqe.half(41) == SPECIFIC;
    if is_ours { Ok(()) } else { Err(Status::INVALID_FIELD) }
}

impl Offer {
    fn new(transaction: u16, hash: Hash, group: Group, random: &[u8; RANDOM_BYTES]) -> Self {
        let (challenge, rest) = random.split_at(CHALLENGE_BYTES_MAX);
        let (exponent, rest) = rest.split_at(EXPONENT_BYTES);
        Self {
            transaction,
            hash,
            group,
            // Zero would mean something else.
            sequence: le32(rest, 0).max(1),
            challenge: challenge[..hash.length()].to_vec(),
            exponent: exponent.try_into().expect("cut to its length"),
        }
    }
}

impl OwnedReply {
    fn of(reply: &Reply<'_>) -> Self {
        Self {
            response: reply.response.to_vec(),
            challenge: reply.challenge.map(|(bytes, sequence)| (bytes.to_vec(), sequence)),
            value: reply.value.to_vec(),
        }
    }
}

impl Task {
    #[must_use]
    pub fn run(self) -> Finding {
        let Self { parties, offer, reply } = self;
        let transaction = offer.transaction;
        let Some(reply) = reply else {
            let message = offer.message();
            return Finding(Step::ToChallenge { offer, message });
        };
        Finding(match offer.check(&parties, &reply) {
            Ok(message) => {
                let mutual = if reply.challenge.is_some() { Mutual::Yes } else { Mutual::No };
                Step::ToSucceed { transaction, message, mutual }
            }
            Err(why) => Step::ToFail { transaction, why },
        })
    }
}

impl Offer {
    fn message(&self) -> Vec<u8> {
        let value = self.group.value(&self.exponent);
        let chosen = (self.hash, self.group);
        message::challenge(self.transaction, chosen, self.sequence, &self.challenge, &value)
    }

    /// Whether the host knows its secret; if so, what it is told.
    fn check(&self, parties: &Parties, reply: &OwnedReply) -> Result<Vec<u8>, Failure> {
        if reply.response.len() != self.hash.length() {
            return Err(Failure::Payload);
        }
        let shared_key = match self.group {
            Group::Null if reply.value.is_empty() => None,
            Group::Null => return Err(Failure::Payload),
            Group::Ffdhe2048 | Group::Ffdhe3072 | Group::Ffdhe4096 => {
                let key = self.group.shared(&reply.value, &self.exponent);
                Some(key.ok_or(Failure::Payload)?)
            }
        };
        let question = Question {
            hash: self.hash,
            transaction: self.transaction,
            sequence: self.sequence,
            challenge: &self.challenge,
            shared_key: shared_key.as_deref(),
        };
        if !parties.is_right(&question, &reply.response) {
            return Err(Failure::Failed);
        }
        let response = match &reply.challenge {
            None => None,
            // It would have its own question answered.
            Some((challenge, _)) if *challenge == self.challenge => return Err(Failure::Payload),
            Some((challenge, sequence)) => {
                let question = Question { sequence: *sequence, challenge, ..question };
                Some(parties.respond(&question).ok_or(Failure::NoControllerSecret)?)
            }
        };
        Ok(message::success1(self.transaction, self.hash, response.as_deref()))
    }
}
