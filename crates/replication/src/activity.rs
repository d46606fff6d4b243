//! The activity log of one group: the extents that may differ after a crash.
//!
//! A write goes to a device only while its extent is in the durable log (I10). A hot extent costs
//! a counter; cold ones wait and are logged together, up to 64 in one 4 KiB record, while the next
//! ones gather. An extent leaves the log only when nothing in it is unstable, its writes are
//! flushed, and the bitmap pages that cover it are on disk (PROTOCOL.md 5.8).
//!
//! A sequential writer finds its next extent logged: once the writes of an extent have followed
//! each other for [`RUN_BLOCKS`], the extent behind it is logged too, while the log has room to
//! spare.
//!
//! A write keeps its extent until it is stable, which needs every earlier write of its lane, on
//! every member. So that two members never wait for each other's slots, a write may overtake
//! waiting ones only while there is a slot for each of them; else all are served in their order.

use std::collections::VecDeque;
use std::ops::Range;

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex, Seq};
use format::metadata::{AL_CHANGES_MAX, AL_CONTEXT, AL_SLOTS_MAX, AlChange, AlRecord};
use format::space::Space;
use stdx::index::Index;

use crate::limits::{AHEAD_MAX, RUN_BLOCKS, RUN_SLACK_BLOCKS};

/// The extents that a group logs: those of its shard's lanes, within the volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    shard: u8,
    shards: u8,
    lanes: u8,
    space: Space,
}

impl Reach {
    pub(crate) fn new(shard: u8, shards: u8, lanes: u8, space: Space) -> Self {
        Self { shard, shards, lanes, space }
    }

    /// The first extent of the group behind `extent`.
    fn next(&self, extent: u64) -> Option<u64> {
        let (lanes, shards) = (u64::from(self.lanes), u64::from(self.shards));
        let end = self.space.end_behind(extent * EXTENT_BLOCKS).div_ceil(EXTENT_BLOCKS);
        let end = (extent + 1 + lanes).min(end);
        (extent + 1..end).find(|next| next % lanes % shards == u64::from(self.shard))
    }
}

#[derive(Debug)]
pub(crate) struct ActivityLog {
    ring: u8,
    /// Those that are free have the extent [`NONE`].
    table: Vec<Hot>,
    index: Index,
    free: Vec<u16>,
    /// Where the search for extents that may leave goes on. It goes round and passes those over
    /// that were used since it was there the last time, so a use costs no more than a mark.
    hand: usize,
    /// Extents with a user.
    in_use: usize,
    reach: Reach,
    /// Extents to be logged before anybody waits for them.
    ahead: VecDeque<u64>,
    /// In order of arrival.
    waiting: VecDeque<Waiter>,
    /// Those that wait for something else first: a follower's, in order of arrival.
    held: VecDeque<Waiter>,
    /// Writes that wait for the record that is being written.
    logging: Vec<Waiter>,
    writing: Vec<(u16, u64)>,
    next_number: u64,
    context_start: u16,
    /// Cold extents of the writes that wait; empty between plans.
    cold: Vec<u64>,
}

/// Where the durable log has the extent of a write that uses it: only the log gives one out, and
/// nothing goes to a device without one (I10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HotSlot(u16);

/// A write that waits for its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) extent: u64,
    /// The blocks of the extent that are written, from the first to behind the last.
    pub(crate) start: u16,
    pub(crate) end: u16,
    pub(crate) lane: LaneIndex,
    pub(crate) seq: Seq,
}

impl Waiter {
    #[inline]
    pub(crate) fn new(range: BlockRange, lane: LaneIndex, seq: Seq) -> Self {
        let Range { start, end } = blocks_in_extent(range);
        Self { extent: range.extent(), start, end, lane, seq }
    }
}

/// Where a range within one extent lies in it.
#[inline(always)]
fn blocks_in_extent(range: BlockRange) -> Range<u16> {
    let block = |at: u64| u16::try_from(at).expect("an extent has 1,024 blocks");
    let start = range.start % EXTENT_BLOCKS;
    block(start)..block(start + u64::from(range.count))
}

#[derive(Clone, Debug)]
struct Hot {
    extent: u64,
    /// Writes that are not stable yet.
    users: u32,
    /// Device flushes started when the last write completed: the next one makes it durable.
    written_before_flush: u64,
    /// Its record is durable.
    logged: bool,
    /// Somebody used it since the hand was here.
    is_fresh: bool,
    /// The blocks of the writes that followed each other, from the first to behind the last.
    run: Range<u16>,
}

/// No volume has so many extents.
const NONE: u64 = u64::MAX;

impl Hot {
    /// Of an extent that is not logged yet.
    fn at(extent: u64) -> Self {
        Self { extent, users: 0, written_before_flush: 0, logged: false, is_fresh: true, run: 0..0 }
    }

    fn is_free(&self) -> bool {
        self.extent == NONE
    }

    /// Takes a write to the run that it goes on with, or begins another one; true where the run
    /// reaches the length at which the next extent is logged, which it does once.
    #[inline(always)]
    fn lengthen_run(&mut self, blocks: Range<u16>) -> bool {
        // An extent has 1,024 blocks, so there is nothing to overflow.
        let ahead = blocks.start.wrapping_add(RUN_SLACK_BLOCKS).wrapping_sub(self.run.end);
        if ahead > 2 * RUN_SLACK_BLOCKS {
            self.run = blocks;
            return self.run.len() >= RUN_BLOCKS;
        }
        let former = self.run.len();
        self.run = self.run.start.min(blocks.start)..self.run.end.max(blocks.end);
        self.run.len() >= RUN_BLOCKS && former < RUN_BLOCKS
    }
}

/// What stands between an extent and its leaving the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Nothing,
    /// Bitmap pages that cover it are not on disk.
    UnsavedPages,
}

/// What the log wants done now.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Writes that have their extent now.
    pub(crate) granted: Vec<Waiter>,
    pub(crate) record: Option<AlRecord>,
    pub(crate) flush: bool,
    /// Extents whose bitmap pages are to be written.
    pub(crate) save_pages: Vec<u64>,
}

impl ActivityLog {
    /// A log with no hot extent; `slots` is how many there may be at a time.
    #[must_use]
    pub(crate) fn new(reach: Reach, slots: usize, next_number: u64) -> Self {
        let slots = slots.clamp(1, AL_SLOTS_MAX);
        let count = u16::try_from(slots).expect("clamped to the table");
        Self {
            ring: reach.shard % 16,
            table: vec![Hot::at(NONE); slots],
            index: Index::with_capacity(slots),
            free: (0..count).rev().collect(),
            hand: 0,
            in_use: 0,
            reach,
            ahead: VecDeque::with_capacity(AHEAD_MAX),
            waiting: VecDeque::new(),
            held: VecDeque::new(),
            logging: Vec::new(),
            writing: Vec::new(),
            next_number,
            context_start: 0,
            cold: Vec::new(),
        }
    }

    /// The blocks that it may log.
    pub(crate) fn space(&self) -> &Space {
        &self.reach.space
    }

    /// The volumes have so many blocks now.
    pub(crate) fn reach_to(&mut self, space: Space) {
        self.reach.space = space;
    }

    /// Uses an extent for one more write, if it is hot and nobody would starve for it; its place in
    /// the log is kept until the write releases it.
    #[inline(always)]
    pub(crate) fn acquire(&mut self, range: BlockRange) -> Option<HotSlot> {
        if let Some(slot) = self.index.get(range.extent())
            && self.hot_at(slot).logged
            && self.has_room_beside_waiting(slot)
        {
            self.grant(slot, range.extent(), blocks_in_extent(range));
            return Some(HotSlot(slot));
        }
        None
    }

    /// The same; if it cannot be now, the write is named by a later `plan` or `on_record_written`.
    pub(crate) fn acquire_or_wait(
        &mut self,
        range: BlockRange,
        lane: LaneIndex,
        seq: Seq,
    ) -> Option<HotSlot> {
        let slot = self.acquire(range);
        if slot.is_none() {
            self.waiting.push_back(Waiter::new(range, lane, seq));
        }
        slot
    }

    /// One more write in the extent at `slot` leaves a slot for each that waits.
    #[inline(always)]
    fn has_room_beside_waiting(&mut self, slot: u16) -> bool {
        let waiting = self.waiting.len() + self.logging.len();
        let needs_slot = self.hot_at(slot).users == 0;
        waiting == 0 || self.in_use + usize::from(needs_slot) + waiting <= self.table.len()
    }

    /// The write will never be done: nobody is to wait behind it.
    pub(crate) fn forget(&mut self, lane: LaneIndex, seq: Seq) {
        self.waiting.retain(|waiter| (waiter.lane, waiter.seq) != (lane, seq));
        self.logging.retain(|waiter| (waiter.lane, waiter.seq) != (lane, seq));
    }

    #[inline(always)]
    fn grant(&mut self, slot: u16, extent: u64, blocks: Range<u16>) {
        let hot = self.hot_at(slot);
        hot.users += 1;
        hot.is_fresh = true;
        let is_first = hot.users == 1;
        let is_run = hot.lengthen_run(blocks);
        self.in_use += usize::from(is_first);
        if is_run {
            self.look_ahead(extent);
        }
    }

    /// A run has come far into `extent`: the next one is to be logged too.
    #[cold]
    fn look_ahead(&mut self, extent: u64) {
        let Some(extent) = self.reach.next(extent) else { return };
        let is_known = self.contains(extent) || self.ahead.contains(&extent);
        if is_known || self.in_use > self.table.len() / 2 {
            return;
        }
        if self.ahead.len() == AHEAD_MAX {
            self.ahead.pop_front();
        }
        self.ahead.push_back(extent);
    }

    /// A write that used the extent at `slot` is stable, or will never be done.
    #[inline(always)]
    pub(crate) fn release(&mut self, slot: HotSlot) {
        let hot = self.hot_at(slot.0);
        assert!(hot.users > 0, "an extent is released as often as it was acquired");
        hot.users -= 1;
        let is_idle = hot.users == 0;
        self.in_use -= usize::from(is_idle);
    }

    /// A device write in the extent at `slot` completed, after `flushes_started` device flushes had
    /// begun.
    #[inline(always)]
    pub(crate) fn on_written(&mut self, slot: HotSlot, flushes_started: u64) {
        self.hot_at(slot.0).written_before_flush = flushes_started;
    }

    #[cold]
    pub(crate) fn hold(&mut self, waiter: Waiter) {
        self.held.push_back(waiter);
    }

    pub(crate) fn take_held(&mut self) -> VecDeque<Waiter> {
        std::mem::take(&mut self.held)
    }

    /// Extents that hold what is not stable.
    pub(crate) fn in_use(&self) -> u64 {
        self.in_use as u64
    }

    /// Writes wait for an extent that others hold.
    pub(crate) fn is_starving(&self) -> bool {
        !self.waiting.is_empty() && self.in_use == self.table.len()
    }

    /// All that wait find room, though nothing that is used now is released.
    pub(crate) fn has_room_for_all(&self) -> bool {
        let is_used = |extent: u64| {
            let slot = self.index.get(extent);
            slot.is_some_and(|slot| self.table[usize::from(slot)].users > 0)
        };
        let waiters = self.waiting.iter().chain(&self.logging).map(|waiter| waiter.extent);
        let mut unused: Vec<u64> = waiters.filter(|&extent| !is_used(extent)).collect();
        unused.sort_unstable();
        unused.dedup();
        self.in_use + unused.len() <= self.table.len()
    }

    /// Whether a plan may find something to do.
    #[must_use]
    pub(crate) fn is_waiting(&self) -> bool {
        !(self.waiting.is_empty() && self.ahead.is_empty()) && self.writing.is_empty()
    }

    #[must_use]
    pub(crate) fn contains(&self, extent: u64) -> bool {
        self.index.get(extent).is_some()
    }

    /// Decides what to do for the writes that wait. `flushes_done` counts completed flushes.
    pub(crate) fn plan(&mut self, flushes_done: u64, hold: impl FnMut(u64) -> Hold) -> Plan {
        let mut plan = Plan::default();
        if !self.is_waiting() {
            return plan;
        }
        self.make_room(flushes_done, hold, &mut plan);
        while let Some(&waiter) = self.waiting.front() {
            if let Some(slot) = self.index.get(waiter.extent) {
                self.waiting.pop_front();
                if self.hot_at(slot).logged {
                    self.grant(slot, waiter.extent, waiter.start..waiter.end);
                    plan.granted.push(waiter);
                } else {
                    self.logging.push(waiter);
                }
            } else if self.writing.len() < AL_CHANGES_MAX
                && let Some(slot) = self.free.pop()
            {
                self.waiting.pop_front();
                self.insert(slot, waiter.extent);
                self.logging.push(waiter);
            } else {
                break;
            }
        }
        if self.waiting.is_empty() {
            self.log_ahead();
        }
        if !self.writing.is_empty() {
            plan.record = Some(self.record());
        }
        plan
    }

    /// Adds to the record what nobody waits for yet, where that takes a slot from nobody.
    fn log_ahead(&mut self) {
        while let Some(&extent) = self.ahead.front() {
            if self.index.get(extent).is_none() && self.in_use <= self.table.len() / 2 {
                if self.writing.len() == AL_CHANGES_MAX {
                    return;
                }
                let Some(slot) = self.free.pop() else { return };
                self.insert(slot, extent);
            }
            self.ahead.pop_front();
        }
    }

    fn insert(&mut self, slot: u16, extent: u64) {
        self.table[usize::from(slot)] = Hot::at(extent);
        self.index.insert(extent, slot);
        self.writing.push((slot, extent));
    }

    /// The record of `plan` is durable: the writes that waited for it have their extents.
    pub(crate) fn on_record_written(&mut self) -> Vec<Waiter> {
        for (slot, _) in std::mem::take(&mut self.writing) {
            self.hot_at(slot).logged = true;
        }
        let granted = std::mem::take(&mut self.logging);
        for waiter in &granted {
            let slot = self.index.get(waiter.extent).expect("its record names the extent");
            self.grant(slot, waiter.extent, waiter.start..waiter.end);
        }
        granted
    }

    /// Makes room for what waits, as far as nothing holds what is there; says what holds it.
    fn make_room(&mut self, flushes_done: u64, hold: impl FnMut(u64) -> Hold, plan: &mut Plan) {
        let mut cold = std::mem::take(&mut self.cold);
        let waiting = self.waiting.iter().map(|waiter| waiter.extent);
        let wanted = waiting.chain(self.ahead.iter().copied());
        cold.extend(wanted.filter(|&extent| self.index.get(extent).is_none()));
        cold.sort_unstable();
        cold.dedup();
        let wanted = cold.len().min(AL_CHANGES_MAX).saturating_sub(self.free.len());
        cold.clear();
        self.cold = cold;
        self.evict(wanted, flushes_done, hold, plan);
    }

    /// Frees `wanted` slots of extents that were not used for long, where nothing holds them.
    fn evict(
        &mut self,
        mut wanted: usize,
        flushes_done: u64,
        mut hold: impl FnMut(u64) -> Hold,
        plan: &mut Plan,
    ) {
        let (slots, mut at) = (self.table.len(), self.hand);
        let mut has_held = false;
        // Once round to pass the fresh ones over, and once more.
        for _ in 0..2 * slots {
            if wanted == 0 {
                break;
            }
            let slot = at;
            at = if at + 1 == slots { 0 } else { at + 1 };
            let hot = &mut self.table[slot];
            if hot.users == 0 && hot.logged && !std::mem::take(&mut hot.is_fresh) {
                wanted -= 1;
                let extent = hot.extent;
                if hot.written_before_flush >= flushes_done {
                    plan.flush = true;
                    has_held = true;
                } else if hold(extent) == Hold::UnsavedPages {
                    plan.save_pages.push(extent);
                    has_held = true;
                } else {
                    self.index.remove(extent);
                    self.table[slot] = Hot::at(NONE);
                    self.free.push(u16::try_from(slot).expect("in the table"));
                }
            }
            if !has_held {
                // Who is held goes first the next time.
                self.hand = at;
            }
        }
    }

    fn record(&mut self) -> AlRecord {
        let changes = self
            .writing
            .iter()
            .map(|&(slot, extent)| AlChange { slot, extent: Some(extent) })
            .collect();
        let start = usize::from(self.context_start);
        let end = (start + AL_CONTEXT).min(self.table.len());
        let context = self.table[start..end].iter();
        let context = context.map(|hot| (!hot.is_free()).then_some(hot.extent)).collect();
        let number = self.next_number;
        let record = AlRecord {
            ring: self.ring,
            number,
            changes,
            context_start: self.context_start,
            context,
        };
        self.next_number += 1;
        self.context_start =
            if end == self.table.len() { 0 } else { u16::try_from(end).expect("in the table") };
        record
    }

    /// Where the extent is that a write was granted.
    pub(crate) fn granted_slot(&mut self, extent: u64) -> HotSlot {
        let slot = self.index.get(extent).expect("a granted extent is in the log");
        let hot = self.hot_at(slot);
        assert!(hot.extent == extent && hot.logged && hot.users > 0, "I10");
        HotSlot(slot)
    }

    #[inline(always)]
    fn hot_at(&mut self, slot: u16) -> &mut Hot {
        &mut self.table[usize::from(slot)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(extent: u64) -> Waiter {
        blocks(extent * EXTENT_BLOCKS, 1)
    }

    fn blocks(start: u64, count: u32) -> Waiter {
        Waiter::new(BlockRange { start, count }, LaneIndex(0), Seq(start / EXTENT_BLOCKS))
    }

    fn acquire(log: &mut ActivityLog, waiter: Waiter) -> Option<HotSlot> {
        let start = waiter.extent * EXTENT_BLOCKS + u64::from(waiter.start);
        let count = u32::from(waiter.end - waiter.start);
        log.acquire_or_wait(BlockRange { start, count }, waiter.lane, waiter.seq)
    }

    fn slot_of(log: &ActivityLog, extent: u64) -> HotSlot {
        HotSlot(log.index.get(extent).unwrap())
    }

    fn log(slots: usize) -> ActivityLog {
        let reach = Reach::new(0, 1, 16, Space::of_one(1000 * EXTENT_BLOCKS));
        ActivityLog::new(reach, slots, 1)
    }

    fn make_hot(log: &mut ActivityLog, extents: &[u64], flushes_done: u64) {
        for &extent in extents {
            assert!(acquire(log, waiter(extent)).is_none());
        }
        let plan = log.plan(flushes_done, |_| Hold::Nothing);
        assert_eq!(plan.record.unwrap().changes.len(), extents.len());
        assert_eq!(log.on_record_written().len(), extents.len());
    }

    #[test]
    fn cold_extents_share_a_record_and_are_hot_only_when_it_is_durable() {
        let mut log = log(8);
        for extent in [1, 2, 1] {
            assert_eq!(acquire(&mut log, waiter(extent)), None);
        }
        let record = log.plan(0, |_| Hold::Nothing).record.unwrap();
        assert_eq!(record.changes.len(), 2);
        assert!(acquire(&mut log, waiter(1)).is_none(), "not durable yet");
        assert_eq!(log.on_record_written(), [waiter(1), waiter(2), waiter(1)]);
        assert!(acquire(&mut log, waiter(1)).is_some(), "there is a slot for everyone who waits");
    }

    #[test]
    fn an_extent_leaves_only_when_stable_flushed_and_saved() {
        let mut log = log(2);
        make_hot(&mut log, &[1, 2], 0);
        log.on_written(slot_of(&log, 1), 0);
        log.on_written(slot_of(&log, 2), 0);
        assert!(acquire(&mut log, waiter(3)).is_none());
        assert!(log.plan(0, |_| Hold::Nothing).record.is_none(), "both are in use");
        log.release(slot_of(&log, 1));
        let plan = log.plan(0, |_| Hold::Nothing);
        assert!(plan.flush && plan.record.is_none(), "written, not flushed");
        let plan = log.plan(1, |_| Hold::UnsavedPages);
        assert_eq!((plan.save_pages, plan.record), (vec![1], None));
        let record = log.plan(1, |_| Hold::Nothing).record.unwrap();
        assert_eq!(record.changes[0].extent, Some(3), "one change evicts and inserts");
        assert!(!log.contains(1) && log.contains(2));
    }

    #[test]
    fn nobody_overtakes_when_slots_are_scarce() {
        let mut log = log(2);
        make_hot(&mut log, &[1, 2], 0);
        log.release(slot_of(&log, 1));
        assert!(acquire(&mut log, waiter(3)).is_none(), "cold");
        assert!(acquire(&mut log, waiter(2)).is_some(), "it takes no slot from the one who waits");
        assert!(
            acquire(&mut log, waiter(1)).is_none(),
            "the slot that is left belongs to the first in line"
        );
        assert!(acquire(&mut log, waiter(2)).is_none(), "now its end would be put off");
        log.on_written(slot_of(&log, 1), 0);
        let plan = log.plan(1, |_| Hold::Nothing);
        assert_eq!(plan.record.unwrap().changes[0].extent, Some(3));
        assert!(plan.granted.is_empty(), "extent 1 left the log, and the last one is behind it");
    }

    /// Writes `count` blocks from `start` on, 32 at a time, as soon as each has its extent. The
    /// writes that had to wait for a record.
    fn write_on(log: &mut ActivityLog, start: u64, count: u64) -> u64 {
        let mut waits = 0;
        for start in (start..start + count).step_by(32) {
            let waiter = blocks(start, 32);
            if acquire(log, waiter).is_none() {
                waits += 1;
                assert!(log.plan(0, |_| Hold::Nothing).record.is_some());
                assert_eq!(log.on_record_written(), [waiter]);
            }
            log.on_written(slot_of(log, waiter.extent), 0);
            log.release(slot_of(log, waiter.extent));
            if log.plan(0, |_| Hold::Nothing).record.is_some() {
                assert_eq!(log.on_record_written(), []);
            }
        }
        waits
    }

    #[test]
    fn a_sequential_writer_waits_for_its_first_extent_only() {
        let mut log = log(64);
        assert_eq!(write_on(&mut log, 0, 20 * EXTENT_BLOCKS), 1);
        assert!(log.contains(20) && !log.contains(21));
        let (mut random, before) = (stdx::random::Random::new(1), log.next_number);
        for count in 1..500 {
            let start = (100 + random.below(4)) * EXTENT_BLOCKS + random.below(EXTENT_BLOCKS - 32);
            write_on(&mut log, start, 32);
            assert!(log.next_number - before <= 4, "no order is seen in {count} writes without");
        }
    }

    #[test]
    fn what_is_logged_ahead_takes_a_slot_from_nobody() {
        let mut log = log(4);
        make_hot(&mut log, &[7, 8, 9], 0);
        for at in (0..EXTENT_BLOCKS).step_by(32) {
            assert!(acquire(&mut log, blocks(7 * EXTENT_BLOCKS + at, 32)).is_some());
        }
        assert!(log.plan(0, |_| Hold::Nothing).record.is_none(), "three of four are in use");
        let mut log = self::log(1);
        write_on(&mut log, 0, EXTENT_BLOCKS);
        assert!(log.contains(0) && !log.contains(1), "it would have to leave for its successor");
    }

    #[test]
    fn the_next_extent_is_one_of_the_same_shard_and_of_the_volume() {
        let reach = Reach::new(1, 3, 16, Space::of_one(39 * EXTENT_BLOCKS + 1));
        // Lanes 1, 4, 7, 10 and 13 are those of shard 1.
        assert_eq!([1, 4, 13, 29].map(|extent| reach.next(extent)), [4, 7, 17, 33].map(Some));
        assert_eq!(reach.next(39), None, "the volume ends");
    }
}
