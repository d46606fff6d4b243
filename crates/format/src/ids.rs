//! Names of things, each its own type, so that a block number never passes for a byte offset.

use std::fmt;
use std::ops::{BitOr, BitOrAssign, Not};

/// Bytes in a block: the unit of out-of-sync tracking and of atomicity.
pub const BLOCK_BYTES: u64 = 4096;
/// Bytes in an extent: the unit of the activity log and of lane assignment.
pub const EXTENT_BYTES: u64 = 4 << 20;
/// Blocks in an extent.
pub const EXTENT_BLOCKS: u64 = EXTENT_BYTES / BLOCK_BYTES;
/// The most members a resource can have: node ids are 0..=31.
pub const NODES_MAX: u32 = 32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:x}", self.0)
            }
        }
    };
}

id! { /// Names a resource: derived from its name, the same on every node.
ResourceId(u128) }
id! { /// One run of a daemon process: random at each start.
BootId(u64) }
id! { /// One boot of the machine, from the kernel: a device cache survives while it stays.
KernelBootId(u128) }
id! { /// One reign of one primary: random, never reused.
Nonce(u64) }
id! { /// Names one value proposed for the config register: random.
ValueId(u64) }
id! { /// One line of history: a fork or a forced promotion starts another.
Branch(u64) }
id! { /// One formatting of one replica: 128 random bits, new with each `create-md`.
Incarnation(u128) }
id! { /// One vote store: random, new when the state directory of a voter was lost.
VoteStoreId(u64) }
id! { /// Number of a link in the config chain.
Epoch(u64) }
id! { /// Position of an operation in its lane, from 1 in each session.
Seq(u64) }
id! { /// A keyed hash of one block: two that are equal say that the blocks are.
Digest(u128) }
id! { /// A lane of a volume: extent number modulo the lanes of the volume.
LaneIndex(u8) }

impl Epoch {
    /// No value has a higher one: a chain with a link in each microsecond gets there in a hundred
    /// thousand years. Some behind it have a meaning of their own at the start of a slot.
    pub const VALUE_MAX: Self = Self(1 << 62);

    /// That of the next value. Who builds on the highest, which a voter can only have made up, gets
    /// it once more: nobody takes that value, and this node lives.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1)).min(Self::VALUE_MAX)
    }
}

/// A member's number in its resource, 0..=31 (DRBD's `node-id`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u8);

impl NodeId {
    /// `None` if `id` is above 31.
    #[must_use]
    pub fn new(id: u8) -> Option<Self> {
        (u32::from(id) < NODES_MAX).then_some(Self(id))
    }
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The asker's name for a question, which its answer names again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionId(pub u32);

impl QuestionId {
    /// Of a question, or an answer, of somebody who knows of no such names.
    pub const UNNAMED: Self = Self(0);

    /// A name for one question, out of random bits.
    #[must_use]
    pub fn of(random: u64) -> Self {
        Self(u32::try_from(random >> 32).expect("the upper half").max(1))
    }

    /// The one after this; never unnamed.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1).max(1))
    }

    /// An answer that names `self` is one to the question `asked`.
    #[must_use]
    pub fn answers(self, asked: Self) -> bool {
        self == asked || self == Self::UNNAMED
    }
}

/// A set of members, one bit per node id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MemberSet(pub u32);

impl MemberSet {
    pub const EMPTY: Self = Self(0);

    #[must_use]
    pub fn of(member: NodeId) -> Self {
        // An id is below 32: nothing is shifted out, and nobody need look.
        Self(1_u32.wrapping_shl(member.0.into()))
    }
    #[must_use]
    pub fn has(self, member: NodeId) -> bool {
        self.0 & Self::of(member).0 != 0
    }
    #[must_use]
    pub fn with(self, member: NodeId) -> Self {
        Self(self.0 | Self::of(member).0)
    }
    #[must_use]
    pub fn without(self, member: NodeId) -> Self {
        Self(self.0 & !Self::of(member).0)
    }
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// The members of `self` that are not in `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    #[must_use]
    pub fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }
    pub fn insert(&mut self, member: NodeId) {
        self.0 |= Self::of(member).0;
    }
    pub fn remove(&mut self, member: NodeId) {
        self.0 &= !Self::of(member).0;
    }
    /// Lowest node id first.
    pub fn iter(self) -> impl Iterator<Item = NodeId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            u8::try_from(bit).ok().and_then(NodeId::new)
        })
    }
    #[must_use]
    pub fn first(self) -> Option<NodeId> {
        self.iter().next()
    }
}

impl FromIterator<NodeId> for MemberSet {
    fn from_iter<T: IntoIterator<Item = NodeId>>(members: T) -> Self {
        members.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl BitOr for MemberSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for MemberSet {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Not for MemberSet {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for MemberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// One attempt at the config register: fresh for every attempt, ordered by counter, then by chance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ballot {
    pub counter: u64,
    pub random: u64,
}

impl fmt::Debug for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:x}", self.counter, self.random & 0xffff)
    }
}

/// Whole blocks of a volume, in absolute block numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BlockRange {
    pub start: u64,
    pub count: u32,
}

impl BlockRange {
    #[must_use]
    pub fn new(start: u64, count: u32) -> Self {
        Self { start, count }
    }
    /// The blocks that the bytes `offset..offset + length` touch. `length` is at most an extent.
    #[must_use]
    #[inline]
    pub fn covering(offset: u64, length: u32) -> Self {
        let start = offset / BLOCK_BYTES;
        let end = (offset + u64::from(length)).div_ceil(BLOCK_BYTES);
        let count = u32::try_from(end - start).expect("a length of 32 bits spans fewer blocks");
        Self { start, count }
    }
    #[must_use]
    pub fn end(self) -> u64 {
        self.start + u64::from(self.count)
    }
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end() && other.start < self.end()
    }
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }
    #[must_use]
    pub fn offset_bytes(self) -> u64 {
        self.start * BLOCK_BYTES
    }
    #[must_use]
    pub fn length_bytes(self) -> u64 {
        u64::from(self.count) * BLOCK_BYTES
    }
    /// The extent of the first block.
    #[must_use]
    pub fn extent(self) -> u64 {
        self.start / EXTENT_BLOCKS
    }
    pub fn blocks(self) -> impl Iterator<Item = u64> {
        self.start..self.end()
    }
}

/// Some blocks of a range of at most 32: bit n is the n-th of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BlockMask(pub u32);

impl BlockMask {
    pub const EMPTY: Self = Self(0);

    /// All blocks of a range of `count`, which is at most 32.
    #[must_use]
    pub fn all(count: u32) -> Self {
        assert!(count <= 32, "a mask has 32 bits");
        Self(u32::try_from((1_u64 << count) - 1).expect("at most 32 bits"))
    }
    #[must_use]
    pub fn of(index: u32) -> Self {
        Self(1 << index)
    }
    #[must_use]
    pub fn has(self, index: u32) -> bool {
        self.0 >> index & 1 == 1
    }
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }
    /// The runs of blocks in it: first block, and how many.
    pub fn runs(self) -> impl Iterator<Item = (u32, u32)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = u64::from(self.0) >> at;
            if rest == 0 {
                return None;
            }
            let start = at + rest.trailing_zeros();
            let count = (u64::from(self.0) >> start).trailing_ones();
            at = start + count;
            Some((start, count))
        })
    }
}

impl BitOr for BlockMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for BlockMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#b}", self.0)
    }
}

impl fmt::Debug for BlockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.start, self.count)
    }
}

/// The lane of an absolute block number in a volume of `lanes` lanes.
#[must_use]
#[inline]
pub fn lane_of_block(block: u64, lanes: u8) -> LaneIndex {
    let lane = block / EXTENT_BLOCKS % u64::from(lanes);
    LaneIndex(u8::try_from(lane).expect("a remainder is smaller than its u8 divisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_mask_are_its_blocks() {
        let runs = |mask: u32| BlockMask(mask).runs().collect::<Vec<_>>();
        assert_eq!(runs(0), []);
        assert_eq!(runs(u32::MAX), [(0, 32)]);
        assert_eq!(runs(1 << 31 | 0b1101), [(0, 1), (2, 2), (31, 1)]);
        for count in 0..=32 {
            assert_eq!(BlockMask::all(count).len(), count);
        }
    }
}
