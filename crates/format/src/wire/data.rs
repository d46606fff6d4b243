//! Messages of a lane or a group of lanes. `Write`, the hottest, has its layout written out; the
//! others are tables of fixed fields, which the compiler folds into a few moves each.

use crate::error::DecodeError;
use crate::ids::{BLOCK_BYTES, BlockMask, BlockRange, EXTENT_BLOCKS, LaneIndex, MemberSet, Seq};
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::message::{Data, DataBody, ReadStatus, Write, WriteKind};
use crate::wire::{Reader, Wire, Writer, ids, messages, tags};

/// Tags of data messages start here.
pub(crate) const DATA_TAG_MIN: u16 = 0x0200;

messages!(DataBody, DATA_TAGS {
    0x0201 Write(write)
    0x0202 Ack { lane, base, mask, boot_id }
    0x0203 Stable { lane, stable }
    0x0204 Read { lane, id, range }
    0x0205 ReadDone { lane, id, status, length_bytes, zeroes }
    0x0208 Digest { lane, id, range }
    0x0209 DigestDone { lane, id, status, digests }
    0x020b Cut { lane, number, seq, stable, skipped }
    0x020a Received { lane, base, mask, boot_id }
    0x0206 Flush { id, shard }
    0x0207 FlushDone { id, shard, boot_id }
    0x0210 Loss { lane, member, base, ranges, id }
    0x0211 LossDone { lane, member, boot_id, id }
    0x0212 SlotRead { lane, slot, from }
    0x0213 SlotData { lane, slot, from, next, ranges }
    0x0214 Clear { lane, seq, slot, range }
});

tags!(ReadStatus { 0 Ok, 1 DeviceError, 2 Refused });

pub(crate) fn tag_of_data(data: &Data) -> u16 {
    data.body.tag()
}

#[inline]
pub(crate) fn put_data(data: &Data, writer: &mut Writer<'_>) {
    data.nonce.put(writer);
    data.volume.put(writer);
    data.body.put_body(writer);
}

#[inline]
pub(crate) fn get_data(tag: u16, reader: &mut Reader<'_>) -> Result<Data, DecodeError> {
    let nonce = reader.field("Data.nonce")?;
    let volume = reader.field("Data.volume")?;
    let body = DataBody::get_body(tag, reader)?;
    check(&body, reader)?;
    Ok(Data { nonce, volume, body })
}

/// What a lane relies on: an operation is within one extent, a payload within its bound.
fn check(body: &DataBody, reader: &Reader<'_>) -> Result<(), DecodeError> {
    match body {
        DataBody::Write(write) => match write.kind {
            WriteKind::Data => check_payload_range(write.range, reader),
            WriteKind::Copy { given, zeroes } => {
                check_payload_range(write.range, reader)?;
                let foreign = (given | zeroes).minus(BlockMask::all(write.range.count));
                let of_both = given.and(zeroes);
                if foreign.is_empty() && of_both.is_empty() && !(given | zeroes).is_empty() {
                    Ok(())
                } else {
                    Err(reader.out_of_range(8, given.0.into()))
                }
            }
            WriteKind::Discard | WriteKind::Zeroes => check_extent(write.range, reader),
        },
        DataBody::Read { range, .. } | DataBody::Digest { range, .. } => {
            check_payload_range(*range, reader)
        }
        DataBody::Clear { range, .. } => check_extent(*range, reader),
        DataBody::ReadDone { length_bytes, status, zeroes, .. } => {
            let blocks = u64::from(*length_bytes) / BLOCK_BYTES;
            let is_possible = match status {
                ReadStatus::Ok => *length_bytes > 0 && *length_bytes <= PAYLOAD_BYTES_MAX,
                ReadStatus::DeviceError | ReadStatus::Refused => *length_bytes == 0,
            };
            let is_possible = is_possible && u64::from(zeroes.0) >> blocks == 0;
            if is_possible { Ok(()) } else { Err(reader.out_of_range(4, (*length_bytes).into())) }
        }
        DataBody::Ack { .. }
        | DataBody::Received { .. }
        | DataBody::Stable { .. }
        | DataBody::Cut { .. }
        | DataBody::DigestDone { .. }
        | DataBody::Flush { .. }
        | DataBody::FlushDone { .. }
        | DataBody::Loss { .. }
        | DataBody::LossDone { .. }
        | DataBody::SlotRead { .. }
        | DataBody::SlotData { .. } => Ok(()),
    }
}

fn check_payload_range(range: BlockRange, reader: &Reader<'_>) -> Result<(), DecodeError> {
    if range.length_bytes() > PAYLOAD_BYTES_MAX.into() {
        return Err(reader.out_of_range(0, range.length_bytes()));
    }
    check_extent(range, reader)
}

fn check_extent(range: BlockRange, reader: &Reader<'_>) -> Result<(), DecodeError> {
    if range.start % EXTENT_BLOCKS + u64::from(range.count) > EXTENT_BLOCKS {
        return Err(reader.out_of_range(0, range.start));
    }
    Ok(())
}

const WRITE_BYTES: usize = 48;

/// ```text
///  0 lane  1 kind  2 fua  3 zero  4 absent(4)  8 seq(8)  16 order(8)  24 stable(8)
/// 32 start(8)  40 count(4)  44 given(4)
/// ```
/// A copy has four bytes more: 48 zeroes(4).
impl Wire for Write {
    #[inline]
    fn put(&self, writer: &mut Writer<'_>) {
        let Some(place) = writer.array::<WRITE_BYTES>() else { return };
        *place = [0; WRITE_BYTES];
        place[0] = self.lane.0;
        place[1] = match self.kind {
            WriteKind::Data => 0,
            WriteKind::Copy { .. } => 1,
            WriteKind::Discard => 2,
            WriteKind::Zeroes => 3,
        };
        place[2] = u8::from(self.fua);
        place[4..8].copy_from_slice(&self.absent.0.to_le_bytes());
        place[8..16].copy_from_slice(&self.seq.0.to_le_bytes());
        place[16..24].copy_from_slice(&self.order.to_le_bytes());
        place[24..32].copy_from_slice(&self.stable.0.to_le_bytes());
        place[32..40].copy_from_slice(&self.range.start.to_le_bytes());
        place[40..44].copy_from_slice(&self.range.count.to_le_bytes());
        if let WriteKind::Copy { given, zeroes } = self.kind {
            place[44..48].copy_from_slice(&given.0.to_le_bytes());
            zeroes.put(writer);
        }
    }
    #[inline]
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bytes = reader.array::<WRITE_BYTES>()?;
        let given = u32_at(bytes, 44);
        let kind = match bytes[1] {
            0 => WriteKind::Data,
            1 => WriteKind::Copy { given: BlockMask(given), zeroes: reader.field("Write.zeroes")? },
            2 => WriteKind::Discard,
            3 => WriteKind::Zeroes,
            other => return Err(reader.unknown_tag(WRITE_BYTES - 1, other.into())),
        };
        let fua = match bytes[2] {
            0 => false,
            1 => true,
            other => return Err(reader.out_of_range(WRITE_BYTES - 2, other.into())),
        };
        if bytes[3] != 0 || given != 0 && !matches!(kind, WriteKind::Copy { .. }) {
            return Err(reader.out_of_range(WRITE_BYTES - 3, bytes[3].into()));
        }
        Ok(Self {
            lane: LaneIndex(bytes[0]),
            kind,
            fua,
            absent: MemberSet(u32_at(bytes, 4)),
            seq: Seq(u64_at(bytes, 8)),
            order: u64_at(bytes, 16),
            stable: Seq(u64_at(bytes, 24)),
            range: ids::check_range(reader, u64_at(bytes, 32), u32_at(bytes, 40))?,
        })
    }
}

#[inline]
fn u32_at(bytes: &[u8; WRITE_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}

#[inline]
fn u64_at(bytes: &[u8; WRITE_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}
