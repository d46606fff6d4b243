//! The activity log of one group: the extents that may differ after a crash.
//!
//! A write goes to a device only while its extent is in the durable log (I10). A hot extent costs
//! a counter; cold ones wait and are logged together, up to 64 in one 4 KiB record, while the next
//! ones gather. An extent leaves the log only when nothing in it is unstable, its writes are
//! flushed, and the bitmap pages that cover it are on disk (PROTOCOL.md 5.8).

use std::collections::{BTreeMap, VecDeque};

use format::metadata::{AL_CHANGES_MAX, AL_CONTEXT, AL_SLOTS_MAX, AlChange, AlRecord};

#[derive(Debug)]
pub(crate) struct ActivityLog {
    ring: u8,
    table: Vec<Option<Hot>>,
    index: BTreeMap<u64, u16>,
    free: Vec<u16>,
    waiting: VecDeque<u64>,
    /// Slots and extents of the record that is being written.
    writing: Vec<(u16, u64)>,
    next_number: u64,
    context_start: u16,
    clock: u64,
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
    /// Blocks in it may differ between the members.
    Inherited,
}

/// What the log wants done now.
#[derive(Debug, Default)]
pub(crate) struct Plan {
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
            index: BTreeMap::new(),
            free: (0..count).rev().collect(),
            waiting: VecDeque::new(),
            writing: Vec::new(),
            next_number,
            context_start: 0,
            clock: 0,
        }
    }

    /// Uses `extent` for one more write if it is hot. Otherwise it is logged, and the caller asks
    /// again when `on_record_written` names it.
    pub(crate) fn acquire(&mut self, extent: u64) -> bool {
        self.clock += 1;
        if let Some(&slot) = self.index.get(&extent) {
            let hot = self.table[usize::from(slot)].as_mut().expect("the index names full slots");
            if hot.logged {
                hot.users += 1;
                hot.used_at = self.clock;
                return true;
            }
            return false;
        }
        if !self.waiting.contains(&extent) {
            self.waiting.push_back(extent);
        }
        false
    }

    /// A write that used `extent` is stable.
    pub(crate) fn release(&mut self, extent: u64) {
        let hot = self.hot_mut(extent);
        assert!(hot.users > 0, "an extent is released as often as it was acquired");
        hot.users -= 1;
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
        self.index.contains_key(&extent)
    }

    /// All extents of the log.
    pub(crate) fn extents(&self) -> impl Iterator<Item = u64> + '_ {
        self.index.keys().copied()
    }

    /// Decides what to do for the extents that wait. `flushes_done` counts completed flushes.
    pub(crate) fn plan(&mut self, flushes_done: u64, mut hold: impl FnMut(u64) -> Hold) -> Plan {
        let mut plan = Plan::default();
        if !self.is_waiting() {
            return plan;
        }
        let wanted = self.waiting.len().min(AL_CHANGES_MAX);
        if self.free.len() < wanted {
            self.evict(wanted - self.free.len(), flushes_done, &mut hold, &mut plan);
        }
        let count = wanted.min(self.free.len());
        if count == 0 {
            return plan;
        }
        for _ in 0..count {
            let extent = self.waiting.pop_front().expect("counted above");
            let slot = self.free.pop().expect("counted above");
            let hot = Hot {
                extent,
                users: 0,
                written_before_flush: 0,
                used_at: self.clock,
                logged: false,
            };
            self.table[usize::from(slot)] = Some(hot);
            self.index.insert(extent, slot);
            self.writing.push((slot, extent));
        }
        plan.record = Some(self.record());
        plan
    }

    /// The record of `plan` is durable: calls `hot` for each extent that may be used now.
    pub(crate) fn on_record_written(&mut self, mut hot: impl FnMut(u64)) {
        for (slot, extent) in std::mem::take(&mut self.writing) {
            self.table[usize::from(slot)].as_mut().expect("logged above").logged = true;
            hot(extent);
        }
    }

    /// Frees slots of the least recently used extents that nothing holds; says what holds others.
    fn evict(
        &mut self,
        wanted: usize,
        flushes_done: u64,
        hold: &mut impl FnMut(u64) -> Hold,
        plan: &mut Plan,
    ) {
        let mut idle: Vec<(u64, u64, u64)> = self
            .table
            .iter()
            .flatten()
            .filter(|hot| hot.users == 0 && hot.logged)
            .map(|hot| (hot.used_at, hot.extent, hot.written_before_flush))
            .collect();
        idle.sort_unstable();
        let mut considered = 0;
        for (_, extent, written_before_flush) in idle {
            if considered == wanted {
                break;
            }
            let held = hold(extent);
            if held == Hold::Inherited {
                continue;
            }
            considered += 1;
            if written_before_flush >= flushes_done {
                plan.flush = true;
            } else if held == Hold::UnsavedPages {
                plan.save_pages.push(extent);
            } else {
                let slot = self.index.remove(&extent).expect("taken from the table");
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
        let slot = self.index.get(&extent).copied().expect("a used extent is in the log");
        self.table[usize::from(slot)].as_mut().expect("the index names full slots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hot(log: &mut ActivityLog, extents: &[u64], flushes_done: u64) {
        for &extent in extents {
            assert!(!log.acquire(extent));
        }
        let plan = log.plan(flushes_done, |_| Hold::Nothing);
        assert_eq!(plan.record.unwrap().changes.len(), extents.len());
        log.on_record_written(|_| {});
    }

    #[test]
    fn cold_extents_share_a_record_and_are_hot_only_when_it_is_durable() {
        let mut log = ActivityLog::new(0, 8, 1);
        assert!(!log.acquire(1) && !log.acquire(2) && !log.acquire(1));
        let record = log.plan(0, |_| Hold::Nothing).record.unwrap();
        assert_eq!(record.changes.len(), 2);
        assert!(!log.acquire(1), "not durable yet");
        let mut now_hot = Vec::new();
        log.on_record_written(|extent| now_hot.push(extent));
        assert_eq!(now_hot, [1, 2]);
        assert!(log.acquire(1));
    }

    #[test]
    fn an_extent_leaves_only_when_stable_flushed_and_saved() {
        let mut log = ActivityLog::new(0, 2, 1);
        hot(&mut log, &[1, 2], 0);
        assert!(log.acquire(1) && log.acquire(2));
        log.on_written(1, 0);
        log.on_written(2, 0);
        assert!(!log.acquire(3));
        assert!(log.plan(0, |_| Hold::Nothing).record.is_none(), "both are in use");
        log.release(1);
        let plan = log.plan(0, |_| Hold::Nothing);
        assert!(plan.flush && plan.record.is_none(), "written, not flushed");
        let plan = log.plan(1, |_| Hold::UnsavedPages);
        assert_eq!((plan.save_pages, plan.record), (vec![1], None));
        assert!(log.plan(1, |_| Hold::Inherited).record.is_none());
        let record = log.plan(1, |_| Hold::Nothing).record.unwrap();
        assert_eq!(record.changes[0].extent, Some(3), "one change evicts and inserts");
        assert!(!log.contains(1) && log.contains(2));
    }
}
