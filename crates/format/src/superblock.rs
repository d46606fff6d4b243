//! The superblock of a replica: what it is, and where its metadata lies.
//!
//! ```text
//!   0 magic(8) "BASALTSB"   8 version(4)   12 crc(4)
//!  16 compatible features(8): an older release may use the replica, and leaves them out
//!  24 incompatible features(8): a release that does not know one keeps away
//!  32 metadata place(1), 0 internal, 1 external
//!  33 bitmap slots(1)  34 number of areas(2)  36 zero(4)
//!  40 areas of { kind(4) zero(4) offset(8) length(8) }:
//!     1 data (offset on the data device), 2 superblock (twice), 3 activity log, 4 bitmap,
//!     5 with feature 2 and no area: the incarnation that records of the activity log name, its
//!     lower half in place of the offset, its upper one of the length (at most 6; then zero)
//! 184 with feature 1: the copy of the vote, in the order of docs/formats.md, then zeroes
//! 512 the record, in the order of docs/formats.md, then zeroes
//! ```
//! There are two copies. Both are written at each change, one after the other, so that one of them
//! is whole at any time; whoever looks for them chooses (`attach::finding` in `node`): the one with
//! the higher write counter, and none beside one that a newer release wrote.

use crate::block::{CONTENT_AT, Kind, seal};
use crate::error::{DecodeError, EncodeError};
use crate::ids::Incarnation;
use crate::layout::{AL_BYTES, Layout, MetadataPlace, PAGE_BYTES};
use crate::metadata::{Content, FurtherDisk, Superblock};
use crate::space::Place;
use crate::vote::{VOTE_AT, VOTE_END, VoteCopy};
use crate::wire::{Reader, Wire, Writer};

/// Bytes of a superblock.
pub const SUPERBLOCK_BYTES: usize = 4096;

const KIND: Kind = Kind { what: "superblock", magic: *MAGIC, version: 1 };
pub(crate) const MAGIC: &[u8; 8] = b"BASALTSB";
const AREAS_AT: usize = 40;
const AREAS_MAX: usize = 6;
const AREA_BYTES: usize = 24;
const RECORD_AT: usize = 512;
/// Features whose absence in a reader would harm the replica.
const INCOMPATIBLE_KNOWN: u64 = SEVERAL_VOLUMES;
/// The replica has more than one volume: this disk is one of several.
const SEVERAL_VOLUMES: u64 = 1;

/// Features that a reader may ignore, and leaves out when it writes.
const VOTE_COPIED: u64 = 1;
/// The activity log is of another incarnation: a reader that does not know takes all of the replica
/// for different after an unclean end.
const LOG_NAMED: u64 = 2;

const _: () = assert!(AREAS_AT + AREAS_MAX * AREA_BYTES <= VOTE_AT, "areas end before the vote");
const _: () = assert!(VOTE_END == RECORD_AT, "the vote ends before the record");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    kind: u32,
    offset: u64,
    length: u64,
}

const DATA: u32 = 1;
const SUPERBLOCK: u32 = 2;
const ACTIVITY_LOG: u32 = 3;
const BITMAP: u32 = 4;
const LOG_INCARNATION: u32 = 5;

/// Where the copy of this number lies: they are written in turn.
#[must_use]
pub fn superblock_offset(superblock: &Superblock, layout: &Layout) -> u64 {
    layout.superblock_offsets[usize::from(superblock.write_counter % 2 == 1)]
}

/// What the disk of a further volume says of itself, beside this superblock of the first.
///
/// # Panics
/// If the superblock does not list such a disk.
#[must_use]
pub fn stamp(superblock: &Superblock, place: Place) -> Superblock {
    let Superblock { incarnation, size_bytes, .. } = *superblock;
    let own = superblock.further.iter().find(|disk| disk.place == place);
    let own = own.expect("the list has every disk that is in use");
    Superblock {
        volume: place.number().into(),
        incarnation: own.incarnation,
        size_bytes: own.size_bytes,
        // Of zeroes only `create-md` speaks.
        clean: false,
        further: vec![FurtherDisk {
            place: Place::FIRST,
            incarnation,
            size_bytes,
            content: Content::OfHistory,
        }],
        ..superblock.clone()
    }
}

/// Fills a block with the superblock; both copies are the same.
///
/// # Errors
/// If the resource name or the list of slots is too long.
///
/// # Panics
/// If the superblock and the layout do not belong together.
pub fn encode_superblock(
    superblock: &Superblock,
    layout: &Layout,
    block: &mut [u8; SUPERBLOCK_BYTES],
) -> Result<(), EncodeError> {
    assert_eq!(superblock.lanes, layout.lanes, "the bitmap is laid out by the volume's lanes");
    assert!(superblock.slots.len() <= layout.slots.into(), "each slot has its place in the bitmap");
    assert!(superblock.size_bytes <= layout.data_bytes, "the volume fits into the data area");
    let mut areas = areas_of(layout).to_vec();
    areas.extend(superblock.log.map(area_of_log));
    let mut writer = KIND.begin(block);
    let mut compatible = if superblock.vote.is_some() { VOTE_COPIED } else { 0 };
    compatible |= if superblock.log.is_some() { LOG_NAMED } else { 0 };
    compatible.put(&mut writer);
    let features = if superblock.further.is_empty() { 0 } else { SEVERAL_VOLUMES };
    features.put(&mut writer);
    layout.metadata.put(&mut writer);
    layout.slots.put(&mut writer);
    u16::try_from(areas.len()).expect("at most six areas").put(&mut writer);
    0_u32.put(&mut writer);
    for Area { kind, offset, length } in areas {
        kind.put(&mut writer);
        0_u32.put(&mut writer);
        offset.put(&mut writer);
        length.put(&mut writer);
    }
    writer.finish()?;
    if let Some(vote) = &superblock.vote {
        vote.encode(&mut block[..VOTE_END], VOTE_AT)?;
    }
    let mut writer = Writer::new(block, RECORD_AT);
    superblock.put(&mut writer);
    writer.finish()?;
    seal(block);
    Ok(())
}

/// Reads one copy.
///
/// # Errors
/// `NewerVersion` if a newer release wrote it; all others mean damage or other content.
pub fn decode_superblock(
    block: &[u8; SUPERBLOCK_BYTES],
) -> Result<(Superblock, Layout), DecodeError> {
    let mut reader = KIND.open(block)?;
    let compatible: u64 = reader.field("superblock features")?;
    let incompatible: u64 = reader.field("superblock features")?;
    let unknown = incompatible & !INCOMPATIBLE_KNOWN;
    if unknown != 0 {
        let (what, offset) = ("superblock features", CONTENT_AT + 8);
        return Err(DecodeError::NewerVersion { what, offset, value: unknown });
    }
    let metadata = reader.field("superblock external")?;
    let slots = reader.field("superblock slots")?;
    let areas = read_areas(reader, compatible)?;

    let mut reader = Reader::new(block, RECORD_AT, KIND.what);
    let mut superblock = Superblock::get(&mut reader)?;
    reader.finish_zeroes()?;
    let layout = layout_of(&areas, metadata, slots, superblock.lanes)?;
    let impossible = |what, value| DecodeError::OutOfRange { what, offset: RECORD_AT, value };
    if superblock.size_bytes > layout.data_bytes {
        return Err(impossible("Superblock.size_bytes", superblock.size_bytes));
    }
    if superblock.slots.len() > layout.slots.into() {
        return Err(impossible("Superblock.slots", superblock.slots.len() as u64));
    }
    if compatible & LOG_NAMED != 0 {
        superblock.log = areas.iter().find(|area| area.kind == LOG_INCARNATION).map(log_of);
    }
    if compatible & VOTE_COPIED != 0 {
        // The replica is whole without it.
        let vote = VoteCopy::decode(&block[..VOTE_END], superblock.resource).ok();
        superblock.vote = vote.map(Box::new);
    }
    Ok((superblock, layout))
}

fn areas_of(layout: &Layout) -> [Area; 5] {
    let [first, last] = layout.superblock_offsets;
    let area = |kind, offset, length| Area { kind, offset, length };
    [
        area(DATA, 0, layout.data_bytes),
        area(SUPERBLOCK, first, PAGE_BYTES),
        area(ACTIVITY_LOG, layout.al_offset, AL_BYTES),
        area(BITMAP, layout.bitmap_offset, layout.bitmap_bytes()),
        area(SUPERBLOCK, last, PAGE_BYTES),
    ]
}

fn area_of_log(Incarnation(number): Incarnation) -> Area {
    let [offset, length] = [number, number >> 64]
        .map(|half| u64::try_from(half & u128::from(u64::MAX)).expect("cut to 64 bits"));
    Area { kind: LOG_INCARNATION, offset, length }
}

fn log_of(area: &Area) -> Incarnation {
    Incarnation(u128::from(area.length) << 64 | u128::from(area.offset))
}

/// The areas of known kinds. Others are there only with a feature that may be ignored.
fn read_areas(mut reader: Reader<'_>, compatible: u64) -> Result<Vec<Area>, DecodeError> {
    let count: u16 = reader.field("superblock areas")?;
    if usize::from(count) > AREAS_MAX {
        return Err(reader.out_of_range(2, count.into()));
    }
    let zero: u32 = reader.field("superblock areas")?;
    if zero != 0 {
        return Err(reader.out_of_range(4, zero.into()));
    }
    let mut areas = Vec::with_capacity(count.into());
    for _ in 0..count {
        let kind: u32 = reader.field("superblock area")?;
        if ![DATA, SUPERBLOCK, ACTIVITY_LOG, BITMAP].contains(&kind) && compatible == 0 {
            return Err(reader.unknown_tag(4, kind.into()));
        }
        let zero: u32 = reader.field("superblock area")?;
        if zero != 0 {
            return Err(reader.out_of_range(4, zero.into()));
        }
        let offset = reader.field("superblock area")?;
        let length = reader.field("superblock area")?;
        areas.push(Area { kind, offset, length });
    }
    Ok(areas)
}

fn layout_of(
    areas: &[Area],
    metadata: MetadataPlace,
    slots: u8,
    lanes: u8,
) -> Result<Layout, DecodeError> {
    let impossible =
        |value| DecodeError::OutOfRange { what: "superblock areas", offset: AREAS_AT, value };
    let find = |kind| areas.iter().find(|area| area.kind == kind).copied();
    let last_superblock = areas.iter().rfind(|area| area.kind == SUPERBLOCK);
    let (Some(data), Some(first), Some(log), Some(bitmap), Some(last)) =
        (find(DATA), find(SUPERBLOCK), find(ACTIVITY_LOG), find(BITMAP), last_superblock)
    else {
        return Err(impossible(areas.len() as u64));
    };
    let layout = Layout {
        metadata,
        data_bytes: data.length,
        superblock_offsets: [first.offset, last.offset],
        al_offset: log.offset,
        bitmap_offset: bitmap.offset,
        slots,
        lanes,
    };
    if !layout.is_possible() {
        return Err(impossible(data.length));
    }
    // Lengths and the data's offset are not free: they are written for those who only look.
    let known = areas.iter().filter(|area| area.kind <= BITMAP).copied();
    if known.eq(areas_of(&layout)) { Ok(layout) } else { Err(impossible(bitmap.length)) }
}
