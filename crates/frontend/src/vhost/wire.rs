//! Messages of the vhost-user protocol, as bytes.
//!
//! ```text
//! request u32 | flags u32: version 1, answer 4, wants an answer 8 | size u32 | payload
//! ```
//!
//! Little-endian, as every machine is that this runs on; files travel beside the bytes.

use crate::vhost::Broken;
use crate::vhost::memory::Region;

pub const HEADER_BYTES: usize = 12;
/// No message of ours is longer.
pub const PAYLOAD_BYTES_MAX: usize = 512;
/// Regions of one table of memory.
const REGIONS_MAX: usize = 8;
const CONFIG_BYTES_MAX: usize = 256;

const VERSION: u32 = 1;
const VERSION_MASK: u32 = 3;
const FLAG_ANSWER: u32 = 4;
const FLAG_WANTS_ANSWER: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub request: u32,
    pub size: usize,
    pub wants_answer: bool,
}

/// A message of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    GetFeatures,
    SetFeatures(u64),
    SetOwner,
    ResetOwner,
    SetMemory(Vec<Region>),
    SetRingSize(RingNumber),
    SetRingAddress(RingAddress),
    SetRingBase(RingNumber),
    GetRingBase(u32),
    SetRingKick(RingFile),
    SetRingCall(RingFile),
    SetRingError,
    SetChannel,
    GetProtocolFeatures,
    SetProtocolFeatures(u64),
    GetQueueCount,
    EnableRing(RingNumber),
    GetConfig { offset: u32, size: u32 },
    SetConfig { offset: u32, bytes: Vec<u8> },
    GetInflight { queues: u16, size: u16 },
    SetInflight(Inflight),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingNumber {
    pub ring: u32,
    pub number: u32,
}

/// In the monitor's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingAddress {
    pub ring: u32,
    pub descriptors: u64,
    pub used: u64,
    pub available: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingFile {
    pub ring: u32,
    pub has_file: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inflight {
    pub length: u64,
    pub offset: u64,
    pub queues: u16,
    pub size: u16,
}

impl Header {
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Broken> {
        let mut fields = Fields(bytes);
        let (request, flags, size) = (fields.word()?, fields.word()?, fields.word()?);
        if flags & VERSION_MASK != VERSION || flags & FLAG_ANSWER != 0 {
            return Err(Broken::monitor(format!("sent a message with the flags {flags:#x}")));
        }
        let size = usize::try_from(size).ok().filter(|size| *size <= PAYLOAD_BYTES_MAX);
        let size = size
            .ok_or_else(|| Broken::monitor(format!("sent message {request}, which is too long")))?;
        Ok(Self { request, size, wants_answer: flags & FLAG_WANTS_ANSWER != 0 })
    }
}

impl Message {
    /// Reads a payload. What has more bytes than its message needs is taken, as others do.
    pub fn decode(request: u32, payload: &[u8]) -> Result<Self, Broken> {
        let mut fields = Fields(payload);
        Ok(match request {
            1 => Self::GetFeatures,
            2 => Self::SetFeatures(fields.long()?),
            3 => Self::SetOwner,
            4 => Self::ResetOwner,
            5 => Self::SetMemory(fields.regions()?),
            8 => Self::SetRingSize(fields.ring_number()?),
            9 => Self::SetRingAddress(fields.ring_address()?),
            10 => Self::SetRingBase(fields.ring_number()?),
            11 => Self::GetRingBase(fields.word()?),
            12 => Self::SetRingKick(fields.ring_file()?),
            13 => Self::SetRingCall(fields.ring_file()?),
            14 => Self::SetRingError,
            15 => Self::GetProtocolFeatures,
            16 => Self::SetProtocolFeatures(fields.long()?),
            17 => Self::GetQueueCount,
            18 => Self::EnableRing(fields.ring_number()?),
            21 => Self::SetChannel,
            24 => {
                let (offset, size) = (fields.word()?, fields.word()?);
                Self::GetConfig { offset, size }
            }
            25 => {
                let (offset, size, _) = (fields.word()?, fields.word()?, fields.word()?);
                let bytes = fields.bytes(size)?.to_vec();
                Self::SetConfig { offset, bytes }
            }
            31 => {
                let wanted = fields.inflight()?;
                Self::GetInflight { queues: wanted.queues, size: wanted.size }
            }
            32 => Self::SetInflight(fields.inflight()?),
            _ => return Err(Broken::monitor(format!("sent message {request}, not known here"))),
        })
    }
}

/// Tells a monitor, on the channel that it gave for that, to ask for the configuration anew.
#[must_use]
pub fn config_changed() -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&2_u32.to_le_bytes());
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// The answer to a request.
#[must_use]
pub fn answer(request: u32, payload: &[u8]) -> Vec<u8> {
    let size = u32::try_from(payload.len()).expect("answers are short");
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    for word in [request, VERSION | FLAG_ANSWER, size] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// The payload of a `GetConfig` answer: what is beyond the space reads as zeroes.
pub(crate) fn config_answer(offset: u32, size: u32, space: &[u8]) -> Result<Vec<u8>, Broken> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let length = usize::try_from(size).unwrap_or(usize::MAX);
    if start.saturating_add(length) > CONFIG_BYTES_MAX {
        return Err(Broken::monitor(format!("reads {size} bytes of configuration at {offset}")));
    }
    let mut whole = [0; CONFIG_BYTES_MAX];
    whole[..space.len()].copy_from_slice(space);
    let mut payload = Vec::with_capacity(12 + length);
    for word in [offset, size, 0] {
        payload.extend_from_slice(&word.to_le_bytes());
    }
    payload.extend_from_slice(&whole[start..start + length]);
    Ok(payload)
}

pub(crate) fn ring_number_answer(ring: u32, number: u16) -> Vec<u8> {
    [ring.to_le_bytes(), u32::from(number).to_le_bytes()].concat()
}

pub(crate) fn inflight_answer(inflight: Inflight) -> Vec<u8> {
    let mut payload = inflight.length.to_le_bytes().to_vec();
    payload.extend_from_slice(&inflight.offset.to_le_bytes());
    payload.extend_from_slice(&inflight.queues.to_le_bytes());
    payload.extend_from_slice(&inflight.size.to_le_bytes());
    // Monitors count the end of the structure in C.
    payload.extend_from_slice(&[0; 4]);
    payload
}

/// What is not read yet of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = rest;
        Ok(*array)
    }

    fn bytes(&mut self, length: u32) -> Result<&'a [u8], Broken> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(too_short)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn short(&mut self) -> Result<u16, Broken> {
        self.array().map(u16::from_le_bytes)
    }

    fn word(&mut self) -> Result<u32, Broken> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, Broken> {
        self.array().map(u64::from_le_bytes)
    }

    fn regions(&mut self) -> Result<Vec<Region>, Broken> {
        let (count, _) = (self.word()?, self.word()?);
        let count = usize::try_from(count).ok().filter(|count| *count <= REGIONS_MAX);
        let count = count.ok_or_else(|| Broken::monitor("shares too many regions of memory"))?;
        let region = |fields: &mut Self| {
            let (guest_address, length) = (fields.long()?, fields.long()?);
            let (user_address, file_offset) = (fields.long()?, fields.long()?);
            Ok(Region { guest_address, length, user_address, file_offset })
        };
        (0..count).map(|_| region(self)).collect()
    }

    fn ring_number(&mut self) -> Result<RingNumber, Broken> {
        Ok(RingNumber { ring: self.word()?, number: self.word()? })
    }

    fn ring_address(&mut self) -> Result<RingAddress, Broken> {
        let (ring, _flags) = (self.word()?, self.word()?);
        let (descriptors, used, available) = (self.long()?, self.long()?, self.long()?);
        Ok(RingAddress { ring, descriptors, used, available })
    }

    /// The number of a ring, and a bit that says that no file comes with it.
    fn ring_file(&mut self) -> Result<RingFile, Broken> {
        let number = self.long()?;
        let ring = u32::try_from(number & 0xff).expect("cut to eight bits");
        Ok(RingFile { ring, has_file: number & 0x100 == 0 })
    }

    fn inflight(&mut self) -> Result<Inflight, Broken> {
        let (length, offset) = (self.long()?, self.long()?);
        let (queues, size) = (self.short()?, self.short()?);
        Ok(Inflight { length, offset, queues, size })
    }
}

fn too_short() -> Broken {
    Broken::monitor("sent a message that is too short")
}
