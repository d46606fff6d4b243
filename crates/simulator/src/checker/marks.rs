//! I13 and I14: what a syncing replica keeps, and how a mark goes away. Both are rules about steps,
//! so this remembers what it saw last.

use std::collections::BTreeMap;

use format::ids::{BootId, Branch, Epoch, Incarnation};
use format::message::SlotBase;
use format::metadata::ReplicaState;

/// What a superblock says of its replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) incarnation: Incarnation,
    pub(crate) branch: Branch,
    pub(crate) state: ReplicaState,
    pub(crate) joined: Epoch,
}

/// I13: a syncing replica keeps its joined epoch until it joins, and joins as a config says.
#[derive(Debug, Default)]
pub(crate) struct Standings {
    known: BTreeMap<usize, Standing>,
}

impl Standings {
    /// `may_join` says whether some config has this replica in sync since then.
    pub(crate) fn see(
        &mut self,
        node: usize,
        now: Standing,
        may_join: impl FnOnce(Epoch) -> bool,
    ) -> Result<(), String> {
        let Some(before) = self.known.insert(node, now) else { return Ok(()) };
        let same = (before.incarnation, before.branch) == (now.incarnation, now.branch);
        if !same || before.state != ReplicaState::Syncing || before == now {
            return Ok(());
        }
        let joins = now.state == ReplicaState::InSync && may_join(now.joined);
        if now.joined == before.joined && now.state != ReplicaState::InSync || joins {
            return Ok(());
        }
        Err(format!("I13: the syncing replica of n{node} went from {before:?} to {now:?}"))
    }
}

/// The marks that one member keeps of another, in one life and since one start of the slot.
#[derive(Debug)]
struct Marks {
    of: (BootId, BootId, Option<SlotBase>),
    /// By the index of a block that is marked, when it was last known not to be.
    since: Vec<Option<u64>>,
}

/// I14: a mark goes only after a durable write at the member that it was for, or where that one
/// has the same already.
#[derive(Debug, Default)]
pub(crate) struct Clearings {
    known: BTreeMap<(usize, usize), Marks>,
    last: BTreeMap<(usize, usize), u64>,
}

/// What one member says of another now.
pub(crate) struct View<'a> {
    /// Who keeps the slot, and for whom.
    pub(crate) pair: (usize, usize),
    /// The lives of both: one that begins anew has in its own slot what power loss took back.
    pub(crate) of: (BootId, BootId, Option<SlotBase>),
    /// By index, which of the blocks that were ever written are marked; more come with time.
    pub(crate) marked: &'a [bool],
    pub(crate) block: &'a dyn Fn(usize) -> u64,
    /// An operation on the block is under way: a loss marks what a copy may have written already.
    pub(crate) is_open: &'a dyn Fn(u64) -> bool,
    /// The member has the same as who keeps the slot, or is down and has it marked itself.
    pub(crate) is_same: &'a dyn Fn(u64) -> bool,
    /// A copy of it to the member is on its way: what it brings cannot be there yet.
    pub(crate) is_copied: &'a dyn Fn(u64) -> bool,
    /// When the block last became durable at the member that the slot is for.
    pub(crate) durable_at: &'a dyn Fn(u64) -> u64,
}

impl Clearings {
    pub(crate) fn see(&mut self, now: u64, view: &View<'_>) -> Result<(), String> {
        let last = self.last.insert(view.pair, now).unwrap_or(0);
        let marks =
            self.known.entry(view.pair).or_insert_with(|| Marks { of: view.of, since: Vec::new() });
        if marks.of != view.of {
            *marks = Marks { of: view.of, since: Vec::new() };
        }
        marks.since.resize(view.marked.len(), None);
        for (index, (known, &is_marked)) in marks.since.iter_mut().zip(view.marked).enumerate() {
            if known.is_some() == is_marked {
                continue;
            }
            let block = (view.block)(index);
            if is_marked {
                let since = || if (view.is_open)(block) { 0 } else { last };
                known.get_or_insert_with(since);
            } else if let Some(since) = known.take()
                && (view.durable_at)(block) < since
                && !(view.is_same)(block)
            {
                if (view.is_open)(block) && !(view.is_copied)(block) {
                    // A newer write may have come to one of them first: seen again later.
                    *known = Some(since);
                    continue;
                }
                let (at, of) = view.pair;
                return Err(format!("I14: n{at} cleared block {block} of n{of}, which lacks it"));
            }
        }
        Ok(())
    }

    /// The member is in sync, or the slot is not what it was: nothing is known.
    pub(crate) fn forget(&mut self, pair: (usize, usize)) {
        self.known.remove(&pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(state: ReplicaState, joined: u64) -> Standing {
        let (incarnation, branch) = (Incarnation(1), Branch(1));
        Standing { incarnation, branch, state, joined: Epoch(joined) }
    }

    #[test]
    fn a_syncing_replica_that_moves_its_joined_epoch_is_found() {
        let mut standings = Standings::default();
        let syncing = standing(ReplicaState::Syncing, 3);
        standings.see(0, syncing, |_| false).unwrap();
        standings.see(0, standing(ReplicaState::Syncing, 4), |_| true).unwrap_err();
        let mut standings = Standings::default();
        standings.see(0, syncing, |_| false).unwrap();
        standings.see(0, standing(ReplicaState::InSync, 5), |_| false).unwrap_err();
        let mut standings = Standings::default();
        standings.see(0, syncing, |_| false).unwrap();
        standings.see(0, standing(ReplicaState::InSync, 5), |at| at == Epoch(5)).unwrap();
    }

    #[test]
    fn a_mark_that_goes_without_a_copy_is_found() {
        let look = |clearings: &mut Clearings, now, marked: bool, (durable, same)| {
            clearings.see(
                now,
                &View {
                    pair: (0, 1),
                    of: (BootId(1), BootId(2), None),
                    marked: &[marked],
                    block: &|_| 7,
                    is_open: &|_| false,
                    is_same: &|_| same,
                    is_copied: &|_| false,
                    durable_at: &|_| durable,
                },
            )
        };
        let mut clearings = Clearings::default();
        look(&mut clearings, 10, false, (0, false)).unwrap();
        look(&mut clearings, 20, true, (5, false)).unwrap();
        look(&mut clearings, 30, false, (25, false)).expect("copied meanwhile");
        look(&mut clearings, 40, true, (25, false)).unwrap();
        look(&mut clearings, 50, false, (25, true)).expect("found equal");
        look(&mut clearings, 60, true, (25, false)).unwrap();
        look(&mut clearings, 70, false, (25, false)).expect_err("nothing was written since");
    }
}
