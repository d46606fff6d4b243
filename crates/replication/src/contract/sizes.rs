//! Sizes of volumes, and of what holds them.

use format::ids::{BLOCK_BYTES, MemberSet};
use format::space::{Place, Space};

use crate::contract::RoundId;

/// Another size of a volume, as an operator asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResizeTask {
    pub place: Place,
    /// 0: all that every in-sync member has room for.
    pub size_bytes: u64,
    pub new_area: NewArea,
}

/// What a group is told of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrder {
    /// The volumes are so large by the value of a session which this node leads, or which admitted
    /// it. Marks behind their ends are of a size that was never chosen, and never will be.
    Volume { space: Space },
    /// The volumes are at least so large by some value. It may be an old one, so no mark is
    /// dropped.
    AtLeast { space: Space },
    /// The disk has room for so many blocks of each volume now.
    Disk { space: Space },
    /// As a member: make ready for a larger volume, and take operations on the new blocks from now
    /// on. Answered when that is durable.
    Prepare { task: SizeTask, round: RoundId },
}

/// Making ready for another size of the volume at a place: the blocks from `from_block` on, of the
/// block space, are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeTask {
    pub place: Place,
    pub from_block: u64,
    /// Exclusive: the new size. The same as `from_block` to go back to that size.
    pub until_block: u64,
    /// The members for whom the new blocks are marked.
    pub absent: MemberSet,
    pub new_area: NewArea,
}

impl SizeTask {
    /// From and until so many bytes of the volume.
    #[must_use]
    pub fn of_bytes(
        place: Place,
        (from, until): (u64, u64),
        absent: MemberSet,
        new_area: NewArea,
    ) -> Self {
        let block = |bytes: u64| place.first_block() + bytes / BLOCK_BYTES;
        let (from_block, until_block) = (block(from.min(until)), block(until));
        Self { place, from_block, until_block, absent, new_area }
    }
}

/// What a device does, by which a node serves a volume, when the volume becomes larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceSize {
    Follows,
    /// As long as it is there.
    Stays,
}

/// What becomes of the blocks that a larger size adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewArea {
    /// They read as zeroes, durably, before they are offered.
    Zeroed,
    /// They stay as they are: the operator says that all replicas hold the same.
    AsItIs,
}
