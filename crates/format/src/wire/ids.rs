//! Names and ranges: fixed widths, and the checks that keep later arithmetic from overflowing.

use crate::error::DecodeError;
use crate::ids::{
    BLOCK_BYTES, Ballot, BlockMask, BlockRange, BootId, Branch, Digest, Epoch, Incarnation,
    KernelBootId, LaneIndex, MemberSet, NodeId, Nonce, QuestionId, ResourceId, Seq, ValueId,
    VoteStoreId,
};
use crate::limits::RANGES_MAX;
use crate::space::Place;
use crate::wire::{ListItem, Reader, Wire, Writer, record};

/// No volume has more blocks: its size in bytes stays below 2^63.
pub(crate) const BLOCKS_MAX: u64 = (1 << 63) / BLOCK_BYTES;

impl Wire for Place {
    fn put(&self, writer: &mut Writer<'_>) {
        self.number().put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let number: u8 = Wire::get(reader)?;
        Self::new(number.into()).map_err(|number| reader.out_of_range(1, number.into()))
    }
}

macro_rules! newtypes {
    ($($name:ident),*) => {$(
        impl Wire for $name {
            #[inline]
            fn put(&self, writer: &mut Writer<'_>) {
                self.0.put(writer);
            }
            #[inline]
            fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Wire::get(reader).map(Self)
            }
        }
    )*};
}
newtypes!(
    ResourceId,
    BootId,
    KernelBootId,
    Nonce,
    ValueId,
    Branch,
    Incarnation,
    VoteStoreId,
    Epoch,
    Seq,
    LaneIndex,
    MemberSet,
    BlockMask,
    Digest
);

impl Wire for NodeId {
    fn put(&self, writer: &mut Writer<'_>) {
        NodeId::get(*self).put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let id = u8::get(reader)?;
        NodeId::new(id).ok_or_else(|| reader.out_of_range(1, id.into()))
    }
}

/// The last field of a message. Who knows nothing of it neither sends it nor is sent it.
impl Wire for QuestionId {
    fn put(&self, writer: &mut Writer<'_>) {
        if writer.names_questions && *self != Self::UNNAMED {
            self.0.put(writer);
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if reader.left() == 0 {
            return Ok(Self::UNNAMED);
        }
        match u32::get(reader)? {
            0 => Err(reader.out_of_range(4, 0)),
            id => Ok(Self(id)),
        }
    }
}

record!(Ballot { counter, random });

/// Never empty, never past the largest volume: `end()` and `length_bytes()` of what was read
/// cannot overflow.
impl Wire for BlockRange {
    fn put(&self, writer: &mut Writer<'_>) {
        assert!(self.count > 0, "an empty range says nothing and is not sent");
        self.start.put(writer);
        self.count.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = u64::get(reader)?;
        let count = u32::get(reader)?;
        check_range(reader, start, count)
    }
}

/// The range of `start` and `count`, if both are possible.
#[inline]
pub(crate) fn check_range(
    reader: &Reader<'_>,
    start: u64,
    count: u32,
) -> Result<BlockRange, DecodeError> {
    if count == 0 {
        return Err(reader.out_of_range(4, 0));
    }
    if start > BLOCKS_MAX || start + u64::from(count) > BLOCKS_MAX {
        return Err(reader.out_of_range(12, start));
    }
    Ok(BlockRange { start, count })
}

/// The epoch of a value: there are numbers behind it.
pub(crate) fn get_value_epoch(reader: &mut Reader<'_>) -> Result<Epoch, DecodeError> {
    let epoch: Epoch = reader.field("epoch of a value")?;
    if epoch > Epoch::VALUE_MAX { Err(reader.out_of_range(8, epoch.0)) } else { Ok(epoch) }
}

/// The lanes of a volume are a power of two.
pub(crate) fn get_lanes(reader: &mut Reader<'_>) -> Result<u8, DecodeError> {
    let lanes = u8::get(reader)?;
    if lanes.is_power_of_two() { Ok(lanes) } else { Err(reader.out_of_range(1, lanes.into())) }
}

impl ListItem for BlockRange {
    const COUNT_MAX: usize = RANGES_MAX;
}
/// One per block of a payload.
impl ListItem for Digest {
    const COUNT_MAX: usize = 32;
}
/// One per lane.
impl ListItem for Seq {
    const COUNT_MAX: usize = 256;
}
/// Handles.
impl ListItem for u32 {
    const COUNT_MAX: usize = 16_384;
}
