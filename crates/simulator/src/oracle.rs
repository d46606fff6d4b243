//! What a read may return: the history of every block, by unique write ids.
//!
//! `candidates` are the values that a read may return now. A completed write leaves itself and
//! what overlapped it; a read that nothing overlapped leaves what it returned and what is in
//! flight: so a value that was seen never goes away again. A write that nobody waits for any more
//! may have happened or not, but not later than what is invoked after that. Only a promotion that
//! says so (`losses` in the config grew) brings back what was not flushed.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    blocks: BTreeMap<u64, History>,
}

#[derive(Clone, Debug)]
struct History {
    candidates: BTreeSet<u64>,
    in_flight: BTreeSet<u64>,
    /// When each candidate was invoked.
    invoked: BTreeMap<u64, u64>,
    /// Values that were current at some time since the last flush, the flushed one included.
    since_flush: BTreeSet<u64>,
    /// All replicas lost their power, and nothing was written since: what is read now is on a disk.
    survived: bool,
    clock: u64,
}

/// What a read saw when it began.
#[derive(Clone, Debug)]
pub(crate) struct ReadStart {
    candidates: BTreeSet<u64>,
    overlapped: bool,
    clock: u64,
}

/// What was current when a flush began.
#[derive(Clone, Debug)]
pub(crate) struct FlushStart {
    candidates: BTreeSet<u64>,
    /// When the oldest of these was invoked. A later erasure is invoked under the number of the
    /// first content, and must not make that look younger.
    lowest: u64,
}

impl Default for History {
    fn default() -> Self {
        Self {
            candidates: BTreeSet::from([0]),
            in_flight: BTreeSet::new(),
            invoked: BTreeMap::from([(0, 0)]),
            since_flush: BTreeSet::from([0]),
            survived: false,
            clock: 0,
        }
    }
}

impl Oracle {
    /// That of a line that begins here: of the writes in flight only those of `kept` are waited
    /// for, the others may have happened.
    pub(crate) fn fork(&self, kept: &BTreeSet<u64>) -> Self {
        let mut fork = self.clone();
        for (&block, history) in &self.blocks {
            for &id in history.in_flight.difference(kept) {
                fork.give_up(block, id);
            }
        }
        fork
    }

    pub(crate) fn invoke(&mut self, block: u64, id: u64) {
        let history = self.blocks.entry(block).or_default();
        history.clock += 1;
        history.invoked.insert(id, history.clock);
        history.candidates.insert(id);
        history.in_flight.insert(id);
        history.since_flush.insert(id);
        history.survived = false;
    }

    /// Nobody waits for the write any more: it failed, or its client is gone. It may have happened;
    /// what is read or written from now on decides.
    pub(crate) fn give_up(&mut self, block: u64, id: u64) {
        let history = self.blocks.entry(block).or_default();
        if history.in_flight.remove(&id) {
            history.clock += 1;
            history.invoked.insert(id | DONE, history.clock);
        }
    }

    pub(crate) fn complete(&mut self, block: u64, id: u64) {
        let history = self.blocks.entry(block).or_default();
        let invoked = history.invoked.get(&id).copied().unwrap_or(0);
        history.in_flight.remove(&id);
        // Overlapping writes may be ordered either way; what completed before this one began, and
        // was current then, is gone.
        let overlapping: BTreeSet<u64> = history
            .candidates
            .iter()
            .copied()
            .filter(|other| {
                *other != id
                    && (history.in_flight.contains(other)
                        || history.invoked.get(other).copied().unwrap_or(0) > invoked)
            })
            .collect();
        let concurrent_done: BTreeSet<u64> = history
            .candidates
            .iter()
            .copied()
            .filter(|other| history.completed_during(*other, invoked))
            .collect();
        history.candidates = overlapping;
        history.candidates.extend(concurrent_done);
        history.candidates.insert(id);
        history.clock += 1;
        history.invoked.insert(id | DONE, history.clock);
    }

    pub(crate) fn begin_read(&mut self, block: u64) -> ReadStart {
        let history = self.blocks.entry(block).or_default();
        history.clock += 1;
        ReadStart {
            candidates: history.candidates.clone(),
            overlapped: !history.in_flight.is_empty(),
            clock: history.clock,
        }
    }

    pub(crate) fn end_read(
        &mut self,
        block: u64,
        start: &ReadStart,
        value: u64,
    ) -> Result<(), String> {
        let history = self.blocks.entry(block).or_default();
        let began_since = history.invoked.get(&value).is_some_and(|&at| at > start.clock);
        if !start.candidates.contains(&value) && !began_since {
            return Err(format!(
                "a read of block {block} returned {value}, allowed are {:?}",
                start.candidates
            ));
        }
        let quiet = history.clock == start.clock && !start.overlapped;
        if quiet {
            history.candidates.retain(|id| *id == value || history.in_flight.contains(id));
            if std::mem::take(&mut history.survived) {
                history.since_flush = BTreeSet::from([value]);
            }
        }
        Ok(())
    }

    pub(crate) fn flushable(&self) -> BTreeMap<u64, FlushStart> {
        let current = |(&block, history): (&u64, &History)| {
            let candidates = history.candidates.clone();
            let lowest = candidates.iter().filter_map(|id| history.invoked.get(id)).min().copied();
            (block, FlushStart { candidates, lowest: lowest.unwrap_or(0) })
        };
        self.blocks.iter().map(current).collect()
    }

    /// A flush completed that began when `flushable` said this.
    pub(crate) fn flushed(&mut self, began: &BTreeMap<u64, FlushStart>) {
        for (block, start) in began {
            let history = self.blocks.entry(*block).or_default();
            let keep = |id: &u64| {
                start.candidates.contains(id)
                    || history.in_flight.contains(id)
                    || history.invoked.get(id).is_some_and(|&at| at > start.lowest)
            };
            history.since_flush = history.since_flush.iter().copied().filter(keep).collect();
        }
    }

    /// The write that completed last was durable first: what came before it is on no disk any more.
    pub(crate) fn made_durable(&mut self, block: u64) {
        let history = self.blocks.entry(block).or_default();
        let History { since_flush, candidates, .. } = history;
        since_flush.retain(|id| candidates.contains(id));
    }

    /// The cluster says that it may have lost what was not flushed.
    pub(crate) fn on_losses(&mut self) {
        for history in self.blocks.values_mut() {
            history.candidates.extend(history.since_flush.iter().copied());
            history.survived = history.in_flight.is_empty();
        }
    }

    /// An operator made what one replica holds the truth: that, and what is under way there.
    pub(crate) fn on_forced(
        &mut self,
        block: u64,
        held: u64,
        coming: impl Iterator<Item = u64>,
    ) -> Result<(), String> {
        let history = self.blocks.entry(block).or_default();
        if !history.since_flush.contains(&held) {
            return Err(format!(
                "block {block} is forced to be {held}, which it never was: {:?}",
                history.since_flush
            ));
        }
        history.clock += 1;
        history.candidates = BTreeSet::from([held]);
        history.candidates.extend(coming);
        history.candidates.extend(history.in_flight.iter().copied());
        Ok(())
    }

    pub(crate) fn may_hold(&self, block: u64, value: u64) -> bool {
        match self.blocks.get(&block) {
            Some(history) => history.candidates.contains(&value),
            None => value == 0,
        }
    }

    /// Whether the last flush left room for `value` to be what is durable.
    pub(crate) fn may_be_durable(&self, block: u64, value: u64) -> bool {
        match self.blocks.get(&block) {
            Some(history) => history.since_flush.contains(&value),
            None => value == 0,
        }
    }

    pub(crate) fn registers(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.keys().copied()
    }
}

const DONE: u64 = 1 << 63;

impl History {
    /// Whether `id` completed after the time `since`: then it overlapped a write invoked then.
    fn completed_during(&self, id: u64, since: u64) -> bool {
        self.invoked.get(&(id | DONE)).is_some_and(|&at| at > since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completed_write_replaces_what_came_before() {
        let mut oracle = Oracle::default();
        oracle.invoke(1, 10);
        let start = oracle.begin_read(1);
        assert!(oracle.end_read(1, &start, 0).is_ok() && oracle.end_read(1, &start, 10).is_ok());
        oracle.complete(1, 10);
        let start = oracle.begin_read(1);
        assert!(oracle.end_read(1, &start, 0).is_err(), "stale");
        assert!(oracle.end_read(1, &start, 11).is_err(), "never written");
    }

    #[test]
    fn an_erasure_after_the_begin_of_a_flush_is_not_what_it_found() {
        let mut oracle = Oracle::default();
        oracle.begin_read(1);
        let start = oracle.flushable();
        for id in [10, 0] {
            oracle.invoke(1, id);
            oracle.complete(1, id);
        }
        oracle.flushed(&start);
        assert!(oracle.may_be_durable(1, 10), "the flush need not cover the erasure");
    }

    #[test]
    fn a_loss_brings_nothing_back_from_before_a_durable_write() {
        let mut oracle = Oracle::default();
        for id in [10, 11, 12] {
            oracle.invoke(1, id);
            oracle.complete(1, id);
            if id == 11 {
                oracle.made_durable(1);
            }
        }
        oracle.on_losses();
        assert!(oracle.may_hold(1, 12) && oracle.may_hold(1, 11));
        assert!(!oracle.may_hold(1, 10) && !oracle.may_hold(1, 0));
    }

    #[test]
    fn a_value_that_was_read_is_final() {
        let mut oracle = Oracle::default();
        oracle.invoke(1, 10);
        oracle.complete(1, 10);
        oracle.invoke(1, 11);
        oracle.give_up(1, 11);
        let start = oracle.begin_read(1);
        oracle.end_read(1, &start, 10).unwrap();
        let start = oracle.begin_read(1);
        assert!(oracle.end_read(1, &start, 11).is_err(), "flip-flop");
    }

    #[test]
    fn a_write_that_was_given_up_does_not_happen_after_a_later_one() {
        let mut oracle = Oracle::default();
        oracle.invoke(1, 10);
        oracle.give_up(1, 10);
        assert!(oracle.may_hold(1, 10) && oracle.may_hold(1, 0));
        oracle.invoke(1, 11);
        assert!(oracle.may_hold(1, 10), "the later one may come to nothing as well");
        oracle.complete(1, 11);
        assert!(!oracle.may_hold(1, 10) && !oracle.may_hold(1, 0));
    }

    #[test]
    fn what_is_read_after_a_loss_of_power_outlives_the_next_one() {
        let mut oracle = Oracle::default();
        for id in [10, 11] {
            oracle.invoke(1, id);
            oracle.complete(1, id);
        }
        oracle.on_losses();
        let start = oracle.begin_read(1);
        oracle.end_read(1, &start, 11).unwrap();
        oracle.on_losses();
        assert!(oracle.may_hold(1, 11) && !oracle.may_hold(1, 10));
    }

    #[test]
    fn concurrent_writes_may_end_either_way() {
        let mut oracle = Oracle::default();
        oracle.invoke(1, 10);
        oracle.invoke(1, 11);
        oracle.complete(1, 10);
        oracle.complete(1, 11);
        let start = oracle.begin_read(1);
        oracle.end_read(1, &start, 10).unwrap();
    }

    #[test]
    fn a_loss_brings_back_only_what_was_not_flushed() {
        let mut oracle = Oracle::default();
        for id in [10, 11, 12] {
            oracle.invoke(1, id);
            oracle.complete(1, id);
            if id == 11 {
                let began = oracle.flushable();
                oracle.flushed(&began);
            }
        }
        oracle.on_losses();
        assert!(oracle.may_hold(1, 12) && oracle.may_hold(1, 11));
        assert!(!oracle.may_hold(1, 10), "flushed away");
    }
}
