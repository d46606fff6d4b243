//! DRBD's metadata, as far as a replica that comes from there has to be understood.
//!
//! A superblock has 4 KiB, big-endian; offsets in it are sectors of 512 bytes, counted from it.
//! ```text
//!        DRBD 9 (v09)                              DRBD 8.4 (v08)
//!    0   size of the volume in sectors(8)          the same
//!    8   current generation(8), lowest bit a role  the same
//!   16   0(8) 0(24)                                bitmap's generation(8)  two older ones(16)
//!   40                                             device id(8)
//!   48   device id(8)                              0(8)
//!   56   flags(4)                                  the same
//!   60   magic(4) 83 74 02 6d                      83 74 02 6b; 6c: the log is not applied
//!   64   sectors of metadata(4)  activity log at(4)  extents(4)  bitmap at(4)  bytes per bit(4)
//!   84   peer's request size(4)                    the same
//!   88   bitmap slots(4)  node id(4)               stripes of the log(4)  4 KiB in a stripe(4)
//!   96   stripes of the log(4)  4 KiB in a stripe(4)
//!  112   32 peers of { bitmap's generation(8) dagtag(8) flags(4) bitmap slot(4) 0(8) }
//! 1136   32 older generations(8)
//! ```
//! The bitmap has words of 32 bits, the slots by turns: word i of slot s is in place i * slots + s.
//! What says whose superblock it is lies in the first sector, so that writing that sector alone
//! takes the metadata out of use, or back into it, in one step.

use crate::error::DecodeError;

/// Bytes of a superblock.
pub const DRBD_SUPERBLOCK_BYTES: usize = 4096;
/// The part of it without which DRBD does not take the metadata for its own.
pub const DRBD_SIGNATURE_BYTES: usize = 512;
/// Bytes between the places of superblocks on a device that several volumes share.
pub const DRBD_INDEX_BYTES: u64 = 128 << 20;
/// Generation of a replica that never had data.
const JUST_CREATED: u64 = 4;
const ROLE_BIT: u64 = 1;

const WHAT: &str = "DRBD superblock";
const SECTOR_BYTES: u64 = 512;
const PEERS: usize = 32;
const HISTORY: usize = 32;
/// A volume of DRBD has 1 PiB at most.
const SIZE_SECTORS_MAX: u64 = (1 << 50) / SECTOR_BYTES;

const MAGIC_V08: u32 = 0x8374_026b;
const MAGIC_V08_UNCLEAN: u32 = 0x8374_026c;
const MAGIC_V09: u32 = 0x8374_026d;

const CONSISTENT: u32 = 1;
const PRIMARY: u32 = 1 << 1;
/// Of the only peer in v08, of each peer in v09.
const FULL_SYNC: u32 = 1 << 3;
const WAS_UP_TO_DATE: u32 = 1 << 4;
const CRASHED_PRIMARY: u32 = 1 << 6;
const LOG_CLEAN: u32 = 1 << 7;
const LOG_DISABLED: u32 = 1 << 8;
const PRIMARY_LOST_QUORUM: u32 = 1 << 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrbdVersion {
    V08,
    V09,
}

impl DrbdVersion {
    /// As drbdmeta calls it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V08 => "v08",
            Self::V09 => "v09",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrbdSuperblock {
    pub version: DrbdVersion,
    /// The size that all nodes agreed upon; 0 of a replica that was never used.
    pub size_bytes: u64,
    /// Without the bit that says whether the node was Primary.
    pub generation: u64,
    flags: u32,
    is_log_applied: bool,
    /// `None` in v08, and before the first use.
    pub node: Option<u8>,
    pub bitmap_slots: u32,
    pub bytes_per_bit: u32,
    /// From the superblock to the bitmap and to the activity log.
    bitmap_sectors: i32,
    log_sectors: i32,
    log_bytes: u64,
    /// Those that the bitmap has a slot for.
    pub peers: Vec<DrbdPeer>,
    /// Older generations, the newest first, and those of the bitmaps.
    older: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrbdPeer {
    /// `None` in v08, which has one peer and does not name it.
    pub node: Option<u8>,
    pub slot: u32,
    /// What the peer was left behind at, or 0.
    pub bitmap_generation: u64,
    /// All of it is to be copied, whatever the bitmap says.
    pub is_full: bool,
}

/// How a replica of DRBD was left: in words what is wrong, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrbdCondition {
    /// It has no data.
    NeverUsed,
    /// It was being synchronised.
    Inconsistent,
    /// A peer had newer data.
    Outdated,
    /// The activity log has to be applied first.
    Unclean,
    UpToDate,
}

/// Why a replica is not known to be equal to those of the same generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsettled {
    #[error("it was Primary when it was last used, and did not end that in order")]
    CrashedPrimary,
    #[error("its activity log was off")]
    LogDisabled,
    #[error("node {node} never had a place in its bitmap")]
    Unknown { node: u8 },
    #[error("all of it was to be copied to {}", peer(*node))]
    Full { node: Option<u8> },
    #[error("it went on without {}, from generation {generation:016X}", peer(*node))]
    Alone { node: Option<u8>, generation: u64 },
    #[error("{blocks} blocks are marked as different from {}", peer(*node))]
    Marked { node: Option<u8>, blocks: u64 },
}

fn peer(node: Option<u8>) -> String {
    node.map_or_else(|| "the peer".to_owned(), |node| format!("node {node}"))
}

/// What another replica's generation is to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lineage {
    Same,
    /// This replica had it once: it is the newer one of the two.
    Newer,
    Unknown,
}

/// Reads a superblock.
///
/// # Errors
/// `WrongMagic` of anything else, `OutOfRange` if it is damaged.
pub fn decode_drbd(block: &[u8; DRBD_SUPERBLOCK_BYTES]) -> Result<DrbdSuperblock, DecodeError> {
    let flags = u32_at(block, 56);
    let is_clean = flags & LOG_CLEAN != 0;
    let (version, is_log_applied) = match u32_at(block, 60) {
        MAGIC_V08 => (DrbdVersion::V08, is_clean),
        MAGIC_V08_UNCLEAN => (DrbdVersion::V08, false),
        MAGIC_V09 => (DrbdVersion::V09, is_clean),
        other => {
            let (what, offset, value) = (WHAT, 60, other.into());
            return Err(DecodeError::WrongMagic { what, offset, value });
        }
    };
    let (bitmap_slots, node, stripes_at) = match version {
        DrbdVersion::V08 => (1, None, 88),
        DrbdVersion::V09 => (u32_at(block, 88), u8::try_from(u32_at(block, 92)).ok(), 96),
    };
    let (peers, older) = match version {
        DrbdVersion::V08 => (peer_v08(block, flags), older_v08(block)),
        DrbdVersion::V09 => (peers_v09(block), older_v09(block)),
    };
    let superblock = DrbdSuperblock {
        version,
        size_bytes: u64_at(block, 0).min(SIZE_SECTORS_MAX + 1) * SECTOR_BYTES,
        generation: u64_at(block, 8) & !ROLE_BIT,
        flags,
        is_log_applied,
        node,
        bitmap_slots,
        bytes_per_bit: u32_at(block, 80),
        bitmap_sectors: u32_at(block, 76).cast_signed(),
        log_sectors: u32_at(block, 68).cast_signed(),
        log_bytes: u64::from(u32_at(block, stripes_at))
            .saturating_mul(u64::from(u32_at(block, stripes_at + 4)))
            .saturating_mul(4096),
        peers,
        older,
    };
    check(&superblock)?;
    Ok(superblock)
}

/// What a superblock that DRBD wrote always fulfils.
fn check(superblock: &DrbdSuperblock) -> Result<(), DecodeError> {
    let impossible = |offset, value| Err(DecodeError::OutOfRange { what: WHAT, offset, value });
    let DrbdSuperblock { size_bytes, bitmap_slots, bytes_per_bit, log_bytes, .. } = *superblock;
    if size_bytes > SIZE_SECTORS_MAX * SECTOR_BYTES {
        return impossible(0, size_bytes);
    }
    if !(1..=32).contains(&bitmap_slots) {
        return impossible(88, bitmap_slots.into());
    }
    if !bytes_per_bit.is_power_of_two() || !(4096..=1 << 20).contains(&bytes_per_bit) {
        return impossible(80, bytes_per_bit.into());
    }
    if log_bytes == 0 || log_bytes > 1 << 40 {
        return impossible(96, log_bytes);
    }
    match superblock.peers.iter().find(|peer| peer.slot >= bitmap_slots) {
        Some(peer) => impossible(112, peer.slot.into()),
        None => Ok(()),
    }
}

fn peer_v08(block: &[u8; DRBD_SUPERBLOCK_BYTES], flags: u32) -> Vec<DrbdPeer> {
    vec![DrbdPeer {
        node: None,
        slot: 0,
        bitmap_generation: u64_at(block, 16) & !ROLE_BIT,
        is_full: flags & FULL_SYNC != 0,
    }]
}

fn peers_v09(block: &[u8; DRBD_SUPERBLOCK_BYTES]) -> Vec<DrbdPeer> {
    let peer = |node: u8| {
        let at = 112 + usize::from(node) * 32;
        let slot = u32_at(block, at + 20);
        (slot.cast_signed() >= 0).then(|| DrbdPeer {
            node: Some(node),
            slot,
            bitmap_generation: u64_at(block, at) & !ROLE_BIT,
            is_full: u32_at(block, at + 16) & FULL_SYNC != 0,
        })
    };
    (0..u8::try_from(PEERS).expect("32 peers")).filter_map(peer).collect()
}

fn older_v08(block: &[u8; DRBD_SUPERBLOCK_BYTES]) -> Vec<u64> {
    (0..3).map(|index| u64_at(block, 16 + index * 8) & !ROLE_BIT).collect()
}

fn older_v09(block: &[u8; DRBD_SUPERBLOCK_BYTES]) -> Vec<u64> {
    let of_bitmaps = (0..PEERS).map(|node| 112 + node * 32);
    let history = (0..HISTORY).map(|index| 1136 + index * 8);
    of_bitmaps.chain(history).map(|at| u64_at(block, at) & !ROLE_BIT).collect()
}

impl DrbdSuperblock {
    #[must_use]
    pub fn condition(&self) -> DrbdCondition {
        if self.size_bytes == 0 || matches!(self.generation, 0 | JUST_CREATED) {
            DrbdCondition::NeverUsed
        } else if self.flags & CONSISTENT == 0 {
            DrbdCondition::Inconsistent
        } else if self.flags & WAS_UP_TO_DATE == 0 {
            DrbdCondition::Outdated
        } else if !self.is_log_applied {
            DrbdCondition::Unclean
        } else {
            DrbdCondition::UpToDate
        }
    }

    /// Whether every replica of this generation that is settled too has the same data. `members`
    /// are the other nodes with a disk; `marked` says how many bits are set in a slot.
    ///
    /// # Errors
    /// Why it may differ from some of them.
    pub fn settled(&self, members: &[u8], marked: impl Fn(u32) -> u64) -> Result<(), Unsettled> {
        if self.flags & (PRIMARY | CRASHED_PRIMARY | PRIMARY_LOST_QUORUM) != 0 {
            return Err(Unsettled::CrashedPrimary);
        }
        if self.flags & LOG_DISABLED != 0 {
            return Err(Unsettled::LogDisabled);
        }
        let has_place = |node| self.peers.iter().any(|peer| peer.node.is_none_or(|it| it == node));
        if let Some(&node) = members.iter().find(|&&node| !has_place(node)) {
            return Err(Unsettled::Unknown { node });
        }
        let is_member = |peer: &&DrbdPeer| peer.node.is_none_or(|node| members.contains(&node));
        for peer in self.peers.iter().filter(is_member) {
            let DrbdPeer { node, slot, bitmap_generation: generation, is_full } = *peer;
            if is_full {
                return Err(Unsettled::Full { node });
            }
            if generation != 0 {
                return Err(Unsettled::Alone { node, generation });
            }
            let blocks = marked(slot);
            if blocks != 0 {
                return Err(Unsettled::Marked { node, blocks });
            }
        }
        Ok(())
    }

    /// What `other`, as drbdmeta prints it, is to this replica's generation.
    #[must_use]
    pub fn lineage(&self, other: u64) -> Lineage {
        let other = without_role(other);
        if other == self.generation {
            Lineage::Same
        } else if other != 0 && self.older.contains(&other) {
            Lineage::Newer
        } else {
            Lineage::Unknown
        }
    }

    /// Where the bitmap begins on a device that has the superblock at `superblock_at`.
    #[must_use]
    pub fn bitmap_at(&self, superblock_at: u64) -> Option<u64> {
        superblock_at.checked_add_signed(i64::from(self.bitmap_sectors) * 512)
    }

    /// Where the activity log begins.
    #[must_use]
    pub fn log_at(&self, superblock_at: u64) -> Option<u64> {
        superblock_at.checked_add_signed(i64::from(self.log_sectors) * 512)
    }

    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.log_bytes
    }

    /// Bytes of the bitmap that tell of the volume.
    #[must_use]
    pub fn bitmap_bytes(&self) -> u64 {
        let bits = self.size_bytes.div_ceil(self.bytes_per_bit.into());
        bits.div_ceil(32) * u64::from(self.bitmap_slots) * 4
    }
}

/// A generation as drbdmeta prints it has a bit for the role of the node.
#[must_use]
pub fn without_role(generation: u64) -> u64 {
    generation & !ROLE_BIT
}

/// The bits that are set in one slot, in a part of the bitmap that begins with slot 0.
#[must_use]
pub fn marked_in(part: &[u8], slots: u32, slot: u32) -> u64 {
    let words = part.as_chunks::<4>().0.iter();
    let step = usize::try_from(slots).unwrap_or(usize::MAX);
    let first = usize::try_from(slot).unwrap_or(usize::MAX);
    let ones = |word: &[u8; 4]| u64::from(u32::from_le_bytes(*word).count_ones());
    words.skip(first).step_by(step.max(1)).map(ones).sum()
}

fn u32_at(block: &[u8; DRBD_SUPERBLOCK_BYTES], at: usize) -> u32 {
    let bytes = block[at..].first_chunk().expect("an offset in the block");
    u32::from_be_bytes(*bytes)
}

fn u64_at(block: &[u8; DRBD_SUPERBLOCK_BYTES], at: usize) -> u64 {
    let bytes = block[at..].first_chunk().expect("an offset in the block");
    u64::from_be_bytes(*bytes)
}
