//! Activity-log records, and what a ring of them says after a crash.
//!
//! ```text
//!   0 magic(8) "BASALTAL"   8 version(4)  12 crc(4)
//!  16 number(8)  24 ring(1)  25 zero(1)  26 changes(2)  28 context start(2)  30 context count(2)
//!  32 incarnation(16)
//!  64 64 slots of changes(2 each)
//! 192 64 extents of changes(8 each), all ones: the slot is empty
//! 704 424 extents of the context(8 each): so many there may be; the rest is zero
//! ```
//! A record describes the table of its ring after its changes. The replica's incarnation keeps
//! records of an earlier formatting from being believed.

use std::collections::BTreeSet;

use crate::block::{Kind, seal};
use crate::error::{DecodeError, EncodeError};
use crate::ids::Incarnation;
use crate::layout::{AL_RING_BYTES, AL_RING_RECORDS};
use crate::metadata::{AL_CHANGES_MAX, AL_CONTEXT, AL_RINGS, AL_SLOTS_MAX, AlChange, AlRecord};
use crate::wire::{Reader, Wire, Writer};

/// Bytes of a record.
pub const AL_RECORD_BYTES: usize = 4096;
/// Any so many records in a row name every full slot of their ring.
pub const AL_CYCLE_RECORDS: u64 = AL_SLOTS_MAX.div_ceil(AL_CONTEXT) as u64;
/// The number of the first record of a ring, which `format_ring` writes.
pub const AL_FIRST_NUMBER: u64 = 1;

const KIND: Kind = Kind { what: "activity-log record", magic: *b"BASALTAL", version: 1 };
const SLOTS_AT: usize = 64;
const EXTENTS_AT: usize = SLOTS_AT + 2 * AL_CHANGES_MAX;
const CONTEXT_AT: usize = EXTENTS_AT + 8 * AL_CHANGES_MAX;
const CONTEXT_PLACES: usize = (AL_RECORD_BYTES - CONTEXT_AT) / 8;
const EMPTY: u64 = u64::MAX;

const _: () = assert!(AL_CONTEXT <= CONTEXT_PLACES, "a context fits into its record");
const _: () = assert!(AL_CYCLE_RECORDS < AL_RING_RECORDS, "a cycle fits into a ring");

/// Fills a block with a record of the replica that was formatted as `incarnation`.
///
/// # Errors
/// If it has too many changes, or too long a context.
///
/// # Panics
/// If an extent or a slot is beyond what there can be.
pub fn encode_al_record(
    record: &AlRecord,
    incarnation: Incarnation,
    block: &mut [u8; AL_RECORD_BYTES],
) -> Result<(), EncodeError> {
    let AlRecord { ring, number, changes, context_start, context } = record;
    let what = "activity-log record";
    if changes.len() > AL_CHANGES_MAX {
        return Err(EncodeError::TooLong { what, count: changes.len(), max: AL_CHANGES_MAX });
    }
    if context.len() > AL_CONTEXT {
        return Err(EncodeError::TooLong { what, count: context.len(), max: AL_CONTEXT });
    }
    assert!(usize::from(*ring) < AL_RINGS, "rings are numbered from 0");
    let end = usize::from(*context_start) + context.len();
    assert!(end <= AL_SLOTS_MAX, "a context is within the table");
    let count = |length: usize| u16::try_from(length).expect("checked against the limits");
    let mut writer = KIND.begin(block);
    number.put(&mut writer);
    ring.put(&mut writer);
    0_u8.put(&mut writer);
    count(changes.len()).put(&mut writer);
    context_start.put(&mut writer);
    count(context.len()).put(&mut writer);
    incarnation.put(&mut writer);
    writer.finish()?;
    let mut writer = Writer::new(block, SLOTS_AT);
    for change in changes {
        assert!(usize::from(change.slot) < AL_SLOTS_MAX, "a change is within the table");
        change.slot.put(&mut writer);
    }
    writer.finish()?;
    put_extents(block, EXTENTS_AT, changes.iter().map(|change| change.extent))?;
    put_extents(block, CONTEXT_AT, context.iter().copied())?;
    seal(block);
    Ok(())
}

fn put_extents(
    block: &mut [u8; AL_RECORD_BYTES],
    at: usize,
    extents: impl Iterator<Item = Option<u64>>,
) -> Result<(), EncodeError> {
    let mut writer = Writer::new(block, at);
    for extent in extents {
        assert!(extent != Some(EMPTY), "no device has so many extents");
        extent.unwrap_or(EMPTY).put(&mut writer);
    }
    writer.finish().map(|_| ())
}

/// Reads a record, and the incarnation that it belongs to.
///
/// # Errors
/// `NewerVersion` if a newer release wrote it; all others mean that it is torn or damaged, or no
/// record.
pub fn decode_al_record(
    block: &[u8; AL_RECORD_BYTES],
) -> Result<(AlRecord, Incarnation), DecodeError> {
    let mut reader = KIND.open(block)?;
    let number = reader.field("AlRecord.number")?;
    let ring: u8 = reader.field("AlRecord.ring")?;
    if usize::from(ring) >= AL_RINGS {
        return Err(reader.out_of_range(1, ring.into()));
    }
    let zero: u8 = reader.field("AlRecord")?;
    if zero != 0 {
        return Err(reader.out_of_range(1, zero.into()));
    }
    let change_count = read_count(&mut reader, "AlRecord.changes", AL_CHANGES_MAX)?;
    let context_start: u16 = reader.field("AlRecord.context_start")?;
    let context_count = read_count(&mut reader, "AlRecord.context", AL_CONTEXT)?;
    if usize::from(context_start) + context_count > AL_SLOTS_MAX {
        return Err(reader.out_of_range(4, context_start.into()));
    }
    let incarnation = reader.field("AlRecord.incarnation")?;
    Reader::new(&block[..SLOTS_AT], reader.position(), "AlRecord").finish_zeroes()?;

    let mut slots = Reader::new(&block[..EXTENTS_AT], SLOTS_AT, "AlRecord.changes");
    let mut extents = Reader::new(&block[..CONTEXT_AT], EXTENTS_AT, "AlRecord.changes");
    let mut changes = Vec::with_capacity(change_count);
    for _ in 0..change_count {
        let slot = u16::get(&mut slots)?;
        if usize::from(slot) >= AL_SLOTS_MAX {
            return Err(slots.out_of_range(2, slot.into()));
        }
        changes.push(AlChange { slot, extent: read_extent(&mut extents)? });
    }
    slots.finish_zeroes()?;
    extents.finish_zeroes()?;
    let mut reader = Reader::new(block, CONTEXT_AT, "AlRecord.context");
    let mut context = Vec::with_capacity(context_count);
    for _ in 0..context_count {
        context.push(read_extent(&mut reader)?);
    }
    reader.finish_zeroes()?;
    Ok((AlRecord { ring, number, changes, context_start, context }, incarnation))
}

fn read_count(
    reader: &mut Reader<'_>,
    what: &'static str,
    max: usize,
) -> Result<usize, DecodeError> {
    let count: u16 = reader.field(what)?;
    if usize::from(count) > max {
        return Err(reader.out_of_range(2, count.into()));
    }
    Ok(count.into())
}

fn read_extent(reader: &mut Reader<'_>) -> Result<Option<u64>, DecodeError> {
    u64::get(reader).map(|extent| (extent != EMPTY).then_some(extent))
}

/// Fills the bytes of a whole ring for a new replica: a first record that says "empty".
///
/// A ring without any readable record is damaged, never empty: a device that lost it, or reads as
/// zeroes, must not pass for a clean one.
///
/// # Panics
/// If `bytes` are not `AL_RING_BYTES`.
pub fn format_ring(ring: u8, incarnation: Incarnation, bytes: &mut [u8]) {
    assert_eq!(bytes.len() as u64, AL_RING_BYTES, "a ring has 32 records");
    bytes.fill(0);
    let (number, changes, context) = (AL_FIRST_NUMBER, Vec::new(), Vec::new());
    let record = AlRecord { ring, number, changes, context_start: 0, context };
    let block = bytes.as_chunks_mut().0.get_mut(place_of(AL_FIRST_NUMBER));
    encode_al_record(&record, incarnation, block.expect("a ring has 32 records"))
        .expect("an empty record fits");
}

/// What a ring says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingReplay {
    /// Extents whose writes may differ from the other members: all that were hot, perhaps more.
    pub extents: BTreeSet<u64>,
    /// The number of the newest record; the next one written is this plus one.
    pub newest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// A newer release wrote to this ring.
    #[error("ring {ring} of the activity log: {source}")]
    Newer { ring: u8, source: DecodeError },
    /// Which extents were hot cannot be said: every block of the replica may differ.
    #[error("ring {ring} of the activity log is damaged: no record {missing} in its place")]
    Damaged { ring: u8, missing: u64 },
    /// Nothing but records of an earlier formatting: the replica was made anew since. What was hot
    /// cannot be said either.
    #[error("ring {ring} of the activity log is of an earlier formatting of this disk")]
    OfEarlier { ring: u8 },
}

/// Finds the extents that were hot when ring `ring` was last written, from all its bytes.
///
/// The newest `AL_CYCLE_RECORDS` records, or all since the first, have to be there; for each slot
/// the newest word wins. Blocks that cannot be read are ignored elsewhere: the place after the
/// newest record is the one that a crash may tear, and no data was written yet on the word of a
/// record that was not durable, since a ring has one record in flight at a time. What that record
/// would have evicted is still in the table, so the result is a superset. A hole before the newest
/// record is damage instead: the extents it put into slots that no later record repeats are
/// unknown, and no union of the others names them.
///
/// # Errors
/// `Newer` must keep the replica detached; `Damaged` and `OfEarlier` mean that all of it counts as
/// different.
///
/// # Panics
/// If `bytes` are not `AL_RING_BYTES`.
pub fn replay_ring(
    ring: u8,
    incarnation: Incarnation,
    bytes: &[u8],
) -> Result<RingReplay, ReplayError> {
    assert_eq!(bytes.len() as u64, AL_RING_BYTES, "a ring has 32 records");
    let mut records: Vec<Option<AlRecord>> = Vec::new();
    let mut has_earlier = false;
    for (place, block) in bytes.as_chunks().0.iter().enumerate() {
        records.push(match decode_al_record(block) {
            Err(source @ DecodeError::NewerVersion { .. }) => {
                return Err(ReplayError::Newer { ring, source });
            }
            Err(_) => None,
            // One that belongs elsewhere was misdirected, or is of an earlier formatting.
            Ok((record, written_as)) => {
                let is_here = record.ring == ring && place_of(record.number) == place;
                has_earlier |= is_here && written_as != incarnation;
                Some(record).filter(|_| is_here && written_as == incarnation)
            }
        });
    }
    let newest = records.iter().flatten().map(|record| record.number).max();
    let Some(newest) = newest else {
        return Err(match has_earlier {
            true => ReplayError::OfEarlier { ring },
            false => ReplayError::Damaged { ring, missing: AL_FIRST_NUMBER },
        });
    };
    let oldest = newest.saturating_sub(AL_CYCLE_RECORDS - 1).max(AL_FIRST_NUMBER);
    let mut table: Vec<Option<u64>> = vec![None; AL_SLOTS_MAX];
    for number in oldest..=newest {
        let record = records[place_of(number)].as_ref().filter(|record| record.number == number);
        apply(record.ok_or(ReplayError::Damaged { ring, missing: number })?, &mut table);
    }
    Ok(RingReplay { extents: table.into_iter().flatten().collect(), newest })
}

/// The changes come last: they are part of the context where both name a slot.
fn apply(record: &AlRecord, table: &mut [Option<u64>]) {
    let start = usize::from(record.context_start);
    table[start..start + record.context.len()].copy_from_slice(&record.context);
    for change in &record.changes {
        table[usize::from(change.slot)] = change.extent;
    }
}

fn place_of(number: u64) -> usize {
    usize::try_from(number % AL_RING_RECORDS).expect("a place of 32")
}
