//! The activity log of one group: the extents that may differ after a crash.
//!
//! A write goes to a device only while its extent is in the durable log (I10). A hot extent costs
//! a counter; cold ones wait and are logged together, up to 64 in one 4 KiB record, while the next
//! ones gather. An extent leaves the log only when nothing in it is unstable, its writes are
//! flushed, and the bitmap pages that cover it are on disk (PROTOCOL.md 5.8).
//!
//! A write keeps its extent until it is stable, which needs every earlier write of its lane, on
//! every member. So that two members never wait for each other's slots, a write may overtake
//! waiting ones only while there is a slot for each of them; else all are served in their order.

use std::collections::VecDeque;

use format::ids::{LaneIndex, Seq};
use format::metadata::{AL_CHANGES_MAX, AL_CONTEXT, AL_SLOTS_MAX, AlChange, AlRecord};
use stdx::index::Index;

#[derive(Debug)]
pub(crate) struct ActivityLog {
    ring: u8,
    table: Vec<Option<Hot>>,
    index: Index,
    free: Vec<u16>,
    /// Extents with a user.
    in_use: usize,
    /// In order of arrival.
    waiting: VecDeque<Waiter>,
    /// Writes that wait for the record that is being written.
    logging: Vec<Waiter>,
    writing: Vec<(u16, u64)>,
    next_number: u64,
    context_start: u16,
    clock: u64,
}

/// A write that waits for its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) extent: u64,
    pub(crate) lane: LaneIndex,
    pub(crate) seq: Seq,
}

#[derive(Clone, Copy, Debug)]
struct Hot {
    extent: u64,
    /// Writes that are not stable yet.
    users: u32,
    /// Device flushes started when the last write completed: the next one makes it durable.
    written_before_flush: u64,
    used_at: u64,
    /// Its record is durable.
    logged: bool,
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
    pub(crate) fn new(ring: u8, slots: usize, next_number: u64) -> Self {
        let slots = slots.clamp(1, AL_SLOTS_MAX);
        let count = u16::try_from(slots).expect("clamped to the table");
        Self {
            ring,
            table: vec![None; slots],
            index: Index::with_capacity(slots),
            free: (0..count).rev().collect(),
            in_use: 0,
            waiting: VecDeque::new(),
            logging: Vec::new(),
            writing: Vec::new(),
            next_number,
            context_start: 0,
            clock: 0,
        }
    }

    /// Uses an extent for one more write, if it is hot and nobody would starve for it. Otherwise
    /// the write is named by a later `plan` or `on_record_written`.
    pub(crate) fn acquire(&mut self, waiter: Waiter) -> bool {
        let waiting = self.waiting.len() + self.logging.len();
        if let Some(slot) = self.index.get(waiter.extent) {
            let hot = self.table[usize::from(slot)].expect("the index names full slots");
            let needed = self.in_use + usize::from(hot.users == 0) + waiting;
            if hot.logged && (waiting == 0 || needed <= self.table.len()) {
                self.grant(slot);
                return true;
            }
        }
        self.waiting.push_back(waiter);
        false
    }

    /// The write will never be done: nobody is to wait behind it.
    pub(crate) fn forget(&mut self, lane: LaneIndex, seq: Seq) {
        self.waiting.retain(|waiter| (waiter.lane, waiter.seq) != (lane, seq));
        self.logging.retain(|waiter| (waiter.lane, waiter.seq) != (lane, seq));
    }

    fn grant(&mut self, slot: u16) {
        self.clock += 1;
        let hot = self.table[usize::from(slot)].as_mut().expect("only full slots are granted");
        self.in_use += usize::from(hot.users == 0);
        hot.users += 1;
        hot.used_at = self.clock;
    }

    /// A write that used `extent` is stable, or will never be done.
    pub(crate) fn release(&mut self, extent: u64) {
        let hot = self.hot_mut(extent);
        assert!(hot.users > 0, "an extent is released as often as it was acquired");
        hot.users -= 1;
        let is_idle = hot.users == 0;
        self.in_use -= usize::from(is_idle);
    }

    /// A device write in `extent` completed, after `flushes_started` device flushes had begun.
    pub(crate) fn on_written(&mut self, extent: u64, flushes_started: u64) {
        self.hot_mut(extent).written_before_flush = flushes_started;
    }

    #[must_use]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() && self.writing.is_empty()
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
                if self.table[usize::from(slot)].is_some_and(|hot| hot.logged) {
                    self.grant(slot);
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
        if !self.writing.is_empty() {
            plan.record = Some(self.record());
        }
        plan
    }

    fn insert(&mut self, slot: u16, extent: u64) {
        let used_at = self.clock;
        let hot = Hot { extent, users: 0, written_before_flush: 0, used_at, logged: false };
        self.table[usize::from(slot)] = Some(hot);
        self.index.insert(extent, slot);
        self.writing.push((slot, extent));
    }

    /// The record of `plan` is durable: the writes that waited for it have their extents.
    pub(crate) fn on_record_written(&mut self) -> Vec<Waiter> {
        for (slot, _) in std::mem::take(&mut self.writing) {
            self.table[usize::from(slot)].as_mut().expect("logged above").logged = true;
        }
        let granted = std::mem::take(&mut self.logging);
        for waiter in &granted {
            let slot = self.index.get(waiter.extent).expect("logged just now");
            self.grant(slot);
        }
        granted
    }

    /// Frees slots of the least recently used extents that nothing holds; says what holds others.
    fn make_room(&mut self, flushes_done: u64, mut hold: impl FnMut(u64) -> Hold, plan: &mut Plan) {
        let mut cold: Vec<u64> = self
            .waiting
            .iter()
            .map(|waiter| waiter.extent)
            .filter(|&extent| self.index.get(extent).is_none())
            .collect();
        cold.sort_unstable();
        cold.dedup();
        let wanted = cold.len().min(AL_CHANGES_MAX).saturating_sub(self.free.len());
        if wanted == 0 {
            return;
        }
        let mut idle: Vec<(u64, u64, u64)> = self
            .table
            .iter()
            .flatten()
            .filter(|hot| hot.users == 0 && hot.logged)
            .map(|hot| (hot.used_at, hot.extent, hot.written_before_flush))
            .collect();
        idle.sort_unstable();
        for &(_, extent, written_before_flush) in idle.iter().take(wanted) {
            if written_before_flush >= flushes_done {
                plan.flush = true;
            } else if hold(extent) == Hold::UnsavedPages {
                plan.save_pages.push(extent);
            } else {
                let slot = self.index.remove(extent).expect("taken from the table");
                self.table[usize::from(slot)] = None;
                self.free.push(slot);
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
        let context = self.table[start..end].iter().map(|hot| hot.map(|hot| hot.extent)).collect();
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

    fn hot_mut(&mut self, extent: u64) -> &mut Hot {
        let slot = self.index.get(extent).expect("a used extent is in the log");
        self.table[usize::from(slot)].as_mut().expect("the index names full slots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(extent: u64) -> Waiter {
        Waiter { extent, lane: LaneIndex(0), seq: Seq(extent) }
    }

    fn make_hot(log: &mut ActivityLog, extents: &[u64], flushes_done: u64) {
        for &extent in extents {
            assert!(!log.acquire(waiter(extent)));
        }
        let plan = log.plan(flushes_done, |_| Hold::Nothing);
        assert_eq!(plan.record.unwrap().changes.len(), extents.len());
        assert_eq!(log.on_record_written().len(), extents.len());
    }

    #[test]
    fn cold_extents_share_a_record_and_are_hot_only_when_it_is_durable() {
        let mut log = ActivityLog::new(0, 8, 1);
        assert!(!log.acquire(waiter(1)) && !log.acquire(waiter(2)) && !log.acquire(waiter(1)));
        let record = log.plan(0, |_| Hold::Nothing).record.unwrap();
        assert_eq!(record.changes.len(), 2);
        assert!(!log.acquire(waiter(1)), "not durable yet");
        assert_eq!(log.on_record_written(), [waiter(1), waiter(2), waiter(1)]);
        assert!(log.acquire(waiter(1)), "there is a slot for everyone who waits");
    }

    #[test]
    fn an_extent_leaves_only_when_stable_flushed_and_saved() {
        let mut log = ActivityLog::new(0, 2, 1);
        make_hot(&mut log, &[1, 2], 0);
        log.on_written(1, 0);
        log.on_written(2, 0);
        assert!(!log.acquire(waiter(3)));
        assert!(log.plan(0, |_| Hold::Nothing).record.is_none(), "both are in use");
        log.release(1);
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
        let mut log = ActivityLog::new(0, 2, 1);
        make_hot(&mut log, &[1, 2], 0);
        log.release(1);
        assert!(!log.acquire(waiter(3)), "cold");
        assert!(log.acquire(waiter(2)), "it takes no slot from the one who waits");
        assert!(!log.acquire(waiter(1)), "the slot that is left belongs to the first in line");
        assert!(!log.acquire(waiter(2)), "now its end would be put off");
        log.on_written(1, 0);
        let plan = log.plan(1, |_| Hold::Nothing);
        assert_eq!(plan.record.unwrap().changes[0].extent, Some(3));
        assert!(plan.granted.is_empty(), "extent 1 left the log, and the last one is behind it");
    }
}
