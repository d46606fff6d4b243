//! What is kept of DRBD's metadata when a replica is taken over from there, to put it back.
//!
//! ```text
//!    0 magic(8) "BASALTDR"   8 version(4)  12 crc(4)
//!   16 the record, in the order of docs/formats.md, then zeroes
//! 4096 the area of the device that DRBD's metadata and ours lie in, as it was
//! ```
//! The file is written once. How far the matter went is told by its name, not by its content.

use crate::block::{CONTENT_AT, Kind, seal};
use crate::error::{DecodeError, EncodeError};
use crate::ids::{Incarnation, ResourceId};
use crate::wire::{ListItem, Wire, record};

/// Bytes before the area.
pub const ADOPTION_HEADER_BYTES: usize = 4096;

const KIND: Kind = Kind { what: "saved DRBD metadata", magic: *b"BASALTDR", version: 1 };
const PATH_BYTES_MAX: usize = 2048;

/// A replica that is taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    pub resource: ResourceId,
    pub resource_name: String,
    pub volume: u16,
    /// Of the replica that is made of it.
    pub incarnation: Incarnation,
    pub slots: u8,
    /// The size of the volume, as DRBD knew it.
    pub size_bytes: u64,
    /// The generation that DRBD gave to the data.
    pub generation: u64,
    /// Every settled replica of this generation had the same data.
    pub is_settled: bool,
    /// Our metadata is where DRBD's was.
    pub is_in_place: bool,
    /// The device with DRBD's metadata: its path, its size, and where the superblock was.
    pub device: Vec<u8>,
    pub device_bytes: u64,
    pub superblock_at: u64,
    /// What is saved of it.
    pub area_at: u64,
    pub area_bytes: u64,
    pub area_crc: u32,
}

record!(Adoption {
    resource,
    volume,
    incarnation,
    slots,
    size_bytes,
    generation,
    is_settled,
    is_in_place,
    device_bytes,
    superblock_at,
    area_at,
    area_bytes,
    area_crc,
    resource_name,
    device,
});

impl ListItem for u8 {
    const COUNT_MAX: usize = PATH_BYTES_MAX;
}

/// Fills the header.
///
/// # Errors
/// If a name or the path is too long.
pub fn encode_adoption(
    adoption: &Adoption,
    header: &mut [u8; ADOPTION_HEADER_BYTES],
) -> Result<(), EncodeError> {
    let mut writer = KIND.begin(header);
    adoption.put(&mut writer);
    writer.finish()?;
    seal(header);
    Ok(())
}

/// Reads the header.
///
/// # Errors
/// `NewerVersion` if a newer release wrote it; all others mean damage.
pub fn decode_adoption(header: &[u8; ADOPTION_HEADER_BYTES]) -> Result<Adoption, DecodeError> {
    let mut reader = KIND.open(header)?;
    let adoption = Adoption::get(&mut reader)?;
    reader.finish_zeroes()?;
    let end = adoption.area_at.checked_add(adoption.area_bytes);
    if end.is_none_or(|end| end > adoption.device_bytes) {
        let (what, offset, value) = (KIND.what, CONTENT_AT, adoption.area_bytes);
        return Err(DecodeError::OutOfRange { what, offset, value });
    }
    Ok(adoption)
}
