//! What a guest is told of its disk: features, and the configuration space.
//!
//! ```text
//!  0  capacity    u64, sectors of 512 bytes   36  discard: sectors, segments, alignment  3 u32
//! 12  segments    u32, of one request         48  zeroes: sectors, segments              2 u32
//! 20  block size  u32                         56  zeroes may give space back             u8
//! 24  topology    u8 exponent, u8, u16, u32   all little-endian (virtio 1.2, 5.2.4)
//! 32  write back    u8
//! 34  queues        u16
//! ```

use crate::block::{BLOCK_BYTES, PART_BYTES};

pub const CONFIG_BYTES: usize = 60;
/// Where the driver may write: whether the disk has a cache that is written back.
pub(crate) const WRITE_BACK_AT: u32 = 32;

const SECTOR_BYTES: u64 = 512;
const SECTOR_BYTES_WORD: u32 = 512;
/// Data segments of one request, beside its header and its status: what fits into a ring of 128,
/// the smallest that monitors make.
pub(crate) const SEGMENTS: u32 = 126;
/// The largest ring, and the largest table.
pub const RING_SIZE_MAX: u16 = 1024;
/// A gibibyte at a time.
const RANGE_SECTORS_MAX: u32 = (1 << 30) / SECTOR_BYTES_WORD;

// Of virtio-blk, of rings, and of vhost-user.
const SEG_MAX: u64 = 1 << 2;
const BLK_SIZE: u64 = 1 << 6;
const FLUSH: u64 = 1 << 9;
const TOPOLOGY: u64 = 1 << 10;
const CONFIG_WCE: u64 = 1 << 11;
const MQ: u64 = 1 << 12;
const DISCARD: u64 = 1 << 13;
const WRITE_ZEROES: u64 = 1 << 14;
const INDIRECT: u64 = 1 << 28;
const EVENT_INDEX: u64 = 1 << 29;
const PROTOCOL_FEATURES: u64 = 1 << 30;
const VERSION_1: u64 = 1 << 32;

pub(crate) const OFFERED: u64 = SEG_MAX
    | BLK_SIZE
    | FLUSH
    | TOPOLOGY
    | CONFIG_WCE
    | MQ
    | DISCARD
    | WRITE_ZEROES
    | INDIRECT
    | EVENT_INDEX
    | PROTOCOL_FEATURES
    | VERSION_1;

/// The features that both sides have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    #[must_use]
    pub fn of(bits: u64) -> Self {
        Self(bits)
    }

    fn has(self, feature: u64) -> bool {
        self.0 & feature != 0
    }

    pub(crate) fn has_event_index(self) -> bool {
        self.has(EVENT_INDEX)
    }

    pub(crate) fn has_protocol_features(self) -> bool {
        self.has(PROTOCOL_FEATURES)
    }

    /// A driver that cannot flush, or was told that there is no cache, relies on every write.
    #[must_use]
    pub fn needs_durable_writes(self, cache: Cache) -> bool {
        !self.has(FLUSH) || cache == Cache::WriteThrough
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    WriteBack,
    WriteThrough,
}

/// A volume as guests see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    pub size_bytes: u64,
    /// The unit of requests: 512 or 4096.
    pub block_bytes: u32,
    pub queues_max: u16,
}

impl Disk {
    /// The configuration space.
    #[must_use]
    pub fn encode(&self, cache: Cache) -> [u8; CONFIG_BYTES] {
        let mut space = [0; CONFIG_BYTES];
        let mut put = |at: usize, bytes: &[u8]| space[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &(self.size_bytes / SECTOR_BYTES).to_le_bytes());
        put(12, &SEGMENTS.to_le_bytes());
        put(20, &self.block_bytes.to_le_bytes());
        let sectors = |bytes: u64| u32::try_from(bytes / SECTOR_BYTES).expect("a constant");
        // 4 KiB are a physical block, which begin at the first, and the least; optimal is a part.
        // All in logical blocks.
        let logical = u64::from(self.block_bytes);
        let per_block = u8::try_from(BLOCK_BYTES / logical).expect("1 or 8");
        put(24, &[u8::try_from(per_block.ilog2()).expect("0 or 3"), 0]);
        put(26, &u16::from(per_block).to_le_bytes());
        put(28, &u32::try_from(PART_BYTES / logical).expect("a constant").to_le_bytes());
        put(32, &[u8::from(cache == Cache::WriteBack)]);
        put(34, &self.queues_max.to_le_bytes());
        put(36, &RANGE_SECTORS_MAX.to_le_bytes());
        put(40, &1_u32.to_le_bytes());
        put(44, &sectors(BLOCK_BYTES).to_le_bytes());
        put(48, &RANGE_SECTORS_MAX.to_le_bytes());
        put(52, &1_u32.to_le_bytes());
        put(56, &[1]);
        space
    }
}
