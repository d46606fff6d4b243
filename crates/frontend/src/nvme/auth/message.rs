//! The messages of the exchange, as bytes.
//!
//! ```text
//! all        0 kind  1 message  4 transaction (2)
//! Negotiate  6 secure channel  7 protocols  8 then 64 bytes each:
//!            0 protocol  2 hashes  3 groups  4 their numbers (30)  34 the groups' numbers (30)
//! Challenge  6 hash length  8 hash  9 group  10 value length (2)  12 sequence number (4)
//!            16 challenge  then the value
//! Reply      6 hash length  8 has a challenge  10 value length (2)  12 sequence number (4)
//!            16 response  then a challenge, then the value
//! Success1   6 hash length  8 has a response  16 response
//! Success2   16 bytes in all
//! Failure    6 reason  7 explanation
//! ```

use crate::nvme::auth::group::Group;
use crate::nvme::auth::secret::Hash;
use crate::nvme::wire::{le16, le32, put16, put32};

const COMMON: u8 = 0;
const DHCHAP: u8 = 1;
const NEGOTIATE: (u8, u8) = (COMMON, 0x00);
const CHALLENGE: (u8, u8) = (DHCHAP, 0x01);
const REPLY: (u8, u8) = (DHCHAP, 0x02);
const SUCCESS1: (u8, u8) = (DHCHAP, 0x03);
const SUCCESS2: (u8, u8) = (DHCHAP, 0x04);
const FAILURE2: (u8, u8) = (COMMON, 0xf0);
const FAILURE1: (u8, u8) = (COMMON, 0xf1);

const HEAD_BYTES: usize = 16;
const PROTOCOL_BYTES: usize = 64;
const PROTOCOL_DHCHAP: u8 = 1;
const NUMBERS_MAX: usize = 30;
const REASON_FAILED: u8 = 1;

/// Why the exchange fails, as the peer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its response is not the one that the secret makes.
    Failed,
    /// It wants a proof of the controller, which has no secret for that.
    NoControllerSecret,
    ProtocolUnusable,
    SecureChannel,
    HashUnusable,
    GroupUnusable,
    Payload,
    Message,
}

impl Failure {
    #[must_use]
    pub fn explanation(self) -> u8 {
        match self {
            Self::Failed | Self::NoControllerSecret => 1,
            Self::ProtocolUnusable => 2,
            Self::SecureChannel => 3,
            Self::HashUnusable => 4,
            Self::GroupUnusable => 5,
            Self::Payload => 6,
            Self::Message => 7,
        }
    }

    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Failed => "its secret is another one than in the file of --nvme-auth",
            Self::NoControllerSecret => {
                "it wants a proof of this node, and its line in the file of --nvme-auth has no \
                 second secret"
            }
            Self::ProtocolUnusable => "it offers no DH-HMAC-CHAP",
            Self::SecureChannel => "it wants TLS to follow, which there is not",
            Self::HashUnusable => "it offers none of SHA-256, SHA-384 and SHA-512",
            Self::GroupUnusable => "it offers no group up to ffdhe4096, and not the null group",
            Self::Payload => "its message makes no sense",
            Self::Message => "its message does not come where it may",
        }
    }
}

/// What a host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FromHost<'a> {
    Negotiate {
        transaction: u16,
        hash: Hash,
        group: Group,
    },
    Reply(Reply<'a>),
    Success2 {
        transaction: u16,
    },
    /// It does not go on, for this reason of its own.
    Failure2 {
        explanation: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply<'a> {
    pub(super) transaction: u16,
    pub(super) response: &'a [u8],
    /// To this controller, with its sequence number.
    pub(super) challenge: Option<(&'a [u8], u32)>,
    pub(super) value: &'a [u8],
}

impl<'a> FromHost<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self, Failure> {
        if bytes.len() < 8 {
            return Err(Failure::Payload);
        }
        let transaction = le16(bytes, 4);
        match (bytes[0], bytes[1]) {
            NEGOTIATE => negotiate(transaction, bytes),
            FAILURE2 => Ok(Self::Failure2 { explanation: bytes[7] }),
            REPLY if bytes.len() >= HEAD_BYTES => reply(transaction, bytes),
            SUCCESS2 if bytes.len() >= HEAD_BYTES => Ok(Self::Success2 { transaction }),
            REPLY | SUCCESS2 => Err(Failure::Payload),
            _ => Err(Failure::Message),
        }
    }
}

/// Takes the best of what is offered.
fn negotiate(transaction: u16, bytes: &[u8]) -> Result<FromHost<'_>, Failure> {
    let (protocols, []) = bytes[8..].as_chunks::<PROTOCOL_BYTES>() else {
        return Err(Failure::Payload);
    };
    if protocols.len() != usize::from(bytes[7]) {
        return Err(Failure::Payload);
    }
    if bytes[6] != 0 {
        return Err(Failure::SecureChannel);
    }
    let ours = protocols.iter().find(|protocol| protocol[0] == PROTOCOL_DHCHAP);
    let ours = ours.ok_or(Failure::ProtocolUnusable)?;
    let numbers = |count: u8, at: usize| {
        let count = usize::from(count);
        if count <= NUMBERS_MAX { Ok(&ours[at..at + count]) } else { Err(Failure::Payload) }
    };
    let (hashes, groups) = (numbers(ours[2], 4)?, numbers(ours[3], 4 + NUMBERS_MAX)?);
    let hash = Hash::PREFERRED.into_iter().find(|hash| hashes.contains(&hash.number()));
    let hash = hash.ok_or(Failure::HashUnusable)?;
    let group = Group::PREFERRED.into_iter().find(|group| groups.contains(&group.number()));
    let group = group.ok_or(Failure::GroupUnusable)?;
    Ok(FromHost::Negotiate { transaction, hash, group })
}

fn reply(transaction: u16, bytes: &[u8]) -> Result<FromHost<'_>, Failure> {
    let (hash, value) = (usize::from(bytes[6]), usize::from(le16(bytes, 10)));
    let rest = &bytes[HEAD_BYTES..];
    if rest.len() != 2 * hash + value {
        return Err(Failure::Payload);
    }
    let (response, rest) = rest.split_at(hash);
    let (challenge, value) = rest.split_at(hash);
    let challenge = match (bytes[8], le32(bytes, 12)) {
        (0, _) => None,
        // Such a challenge is for a secure channel alone.
        (1, 0) => return Err(Failure::SecureChannel),
        (1, sequence) => Some((challenge, sequence)),
        _ => return Err(Failure::Payload),
    };
    Ok(FromHost::Reply(Reply { transaction, response, challenge, value }))
}

fn head((kind, message): (u8, u8), transaction: u16, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    (bytes[0], bytes[1]) = (kind, message);
    put16(&mut bytes, 4, transaction);
    bytes
}

fn byte(length: usize) -> u8 {
    u8::try_from(length).expect("a hash has at most 64 bytes")
}

pub(super) fn challenge(
    transaction: u16,
    (hash, group): (Hash, Group),
    sequence: u32,
    challenge: &[u8],
    value: &[u8],
) -> Vec<u8> {
    let mut bytes = head(CHALLENGE, transaction, HEAD_BYTES);
    bytes[6] = byte(challenge.len());
    (bytes[8], bytes[9]) = (hash.number(), group.number());
    put16(&mut bytes, 10, u16::try_from(value.len()).expect("at most 512 bytes"));
    put32(&mut bytes, 12, sequence);
    bytes.extend_from_slice(challenge);
    bytes.extend_from_slice(value);
    bytes
}

/// With a response to the host's challenge, if it sent one.
pub(super) fn success1(transaction: u16, hash: Hash, response: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = head(SUCCESS1, transaction, HEAD_BYTES + hash.length());
    bytes[6] = byte(hash.length());
    if let Some(response) = response {
        bytes[8] = 1;
        bytes[HEAD_BYTES..].copy_from_slice(response);
    }
    bytes
}

pub(super) fn failure1(transaction: u16, why: Failure) -> Vec<u8> {
    let mut bytes = head(FAILURE1, transaction, 8);
    (bytes[6], bytes[7]) = (REASON_FAILED, why.explanation());
    bytes
}
