//! A chain of descriptors as a request of a disk (virtio 1.2, 5.2.6).
//!
//! ```text
//! readable   header 16: type u32, reserved u32, sector u64     then the data of a write
//! writable   the data of a read                                then the status, one byte
//! ```
//!
//! How these lie in descriptors is the driver's choice.

use crate::block::{Kind, Request};
use crate::vhost::Broken;
use crate::vhost::config::Disk;
use crate::vhost::memory::{GuestMemory, Shared};
use crate::vhost::ring::Chain;

pub const HEADER_BYTES: u64 = 16;
/// What a request for the name of the disk gets.
pub const NAME_BYTES: usize = 20;
/// Data of one request: far more than drivers ask for.
pub const DATA_BYTES_MAX: u64 = 32 << 20;

// Types of requests.
const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 4;
const NAME: u32 = 8;
const DISCARD: u32 = 11;
const ZEROES: u32 = 13;

const SECTOR_BYTES: u64 = 512;
const RANGE_BYTES: u64 = 16;
const FLAG_UNMAP: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Ok = 0,
    IoError = 1,
    Unsupported = 2,
}

/// What a driver asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// From or to the volume; a write's `fua` is not the driver's to say and is false.
    Block(Request),
    /// The disk's name, into the first bytes of the answer.
    Name,
    /// This answer, at once.
    Refused(Status),
}

impl Wanted {
    /// Reads the request of a chain; a chain without room for a header and a status is no request.
    pub fn read<S: Shared>(
        chain: &Chain,
        memory: &GuestMemory<S>,
        disk: &Disk,
    ) -> Result<Self, Broken> {
        if chain.readable_bytes() < HEADER_BYTES || chain.writable_bytes() == 0 {
            return Err(Broken::driver("sent a request without a header or a status"));
        }
        let mut header = [0; 16];
        chain.read(memory, 0, &mut header)?;
        let sector = long(&header, 8);
        let to_disk = chain.readable_bytes() - HEADER_BYTES;
        let from_disk = chain.writable_bytes() - 1;
        Ok(match word(&header, 0) {
            READ => data(Kind::Read, sector, from_disk, disk),
            WRITE => data(Kind::Write { fua: false }, sector, to_disk, disk),
            FLUSH => Self::Block(Request { kind: Kind::Flush, offset: 0, length: 0 }),
            NAME if from_disk >= NAME_BYTES as u64 => Self::Name,
            NAME => Self::Refused(Status::IoError),
            kind @ (DISCARD | ZEROES) if to_disk == RANGE_BYTES => {
                let mut range = [0; 16];
                chain.read(memory, HEADER_BYTES, &mut range)?;
                self::range(kind, &range, disk)
            }
            // More ranges than one were not offered, either.
            _ => Self::Refused(Status::Unsupported),
        })
    }
}

fn data(kind: Kind, sector: u64, length: u64, disk: &Disk) -> Wanted {
    if length > DATA_BYTES_MAX || !length.is_multiple_of(SECTOR_BYTES) {
        return Wanted::Refused(Status::IoError);
    }
    within(kind, sector, length, disk)
}

fn range(kind: u32, range: &[u8; 16], disk: &Disk) -> Wanted {
    let (sector, sectors, flags) = (long(range, 0), word(range, 8), word(range, 12));
    let kind = match (kind, flags) {
        (DISCARD, 0) => Kind::Discard,
        (ZEROES, 0) => Kind::Zeroes { deallocate: false },
        (ZEROES, FLAG_UNMAP) => Kind::Zeroes { deallocate: true },
        _ => return Wanted::Refused(Status::Unsupported),
    };
    within(kind, sector, u64::from(sectors) * SECTOR_BYTES, disk)
}

fn within(kind: Kind, sector: u64, length: u64, disk: &Disk) -> Wanted {
    let offset = sector.checked_mul(SECTOR_BYTES);
    let end = offset.and_then(|offset| offset.checked_add(length));
    match (offset, end) {
        (Some(offset), Some(end)) if length > 0 && end <= disk.size_bytes => {
            Wanted::Block(Request { kind, offset, length })
        }
        _ => Wanted::Refused(Status::IoError),
    }
}

fn word(bytes: &[u8; 16], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes of sixteen"))
}

fn long(bytes: &[u8; 16], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes of sixteen"))
}
