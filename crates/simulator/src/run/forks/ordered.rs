//! Operators give commands to several nodes at once, `primary --force` among them.
//!
//! By force a node goes on from what its own replica has. Where the value that it goes on from has
//! that replica in sync, nothing is lost, and its line is judged like any other. Where it does not,
//! what is on its disk then is what the line has: the operator's word is for the rest. It is no
//! word for what could be reached: a node that reached a quorum and a replica with all of the data
//! for long enough had to take the ordinary way.

use std::collections::BTreeSet;
use std::time::Duration;

use format::config::Config;
use format::ids::{Branch, NodeId};
use replication::contract::{Command, PromoteMode};
use replication::limits;
use stdx::random::Random;
use stdx::time::Time;

use crate::checker::{current, sources_of};
use crate::oracle::Oracle;
use crate::run::forks::{Forking, Kind, sectors_of};
use crate::run::orders::{Order, draws_of, some_at_once};
use crate::sometimes::Mark;

const ALL: [Order; 6] =
    [Order::Invalidate, Order::Detach, Order::Attach, Order::Promote, Order::Adjust, Order::Force];
/// The ordinary way is tried for so long, and a little is needed to find whom to ask.
const REACHED_FOR: Duration = limits::UNFORCED_PATIENCE.saturating_add(Duration::from_secs(2));

pub(super) struct Ordered {
    random: Random,
    /// By node: since when it reaches all that an ordinary promotion takes.
    able_since: Vec<Option<Time>>,
    /// Branches that began with less than all.
    pub(super) lossy: BTreeSet<Branch>,
}

impl Ordered {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: draws_of(seed), able_since: Vec::new(), lossy: BTreeSet::new() }
    }
}

impl Forking {
    pub(super) fn order_at_once(&mut self) {
        let count = self.count();
        let is_idle = !(0..count).any(|node| self.cluster.is_primary(node));
        let Some(ordered) = self.ordered.as_mut() else { return };
        let told = some_at_once(&mut ordered.random, count, (is_idle, &ALL));
        let reopens = ordered.random.chance(1, 60);
        self.report.orders += u64::from(!told.is_empty());
        for (node, order) in told {
            if self.cluster.is_up(node) {
                self.order(node, order);
            }
        }
        if reopens {
            self.reopen();
        }
    }

    fn order(&mut self, node: usize, order: Order) {
        match order {
            Order::Invalidate => {
                self.cluster.marks.insert(Mark::InvalidateAsked);
                self.command(node, Command::Invalidate);
            }
            Order::Detach => {
                self.command(node, Command::Detach);
            }
            Order::Attach => self.offer_disk(node),
            Order::Promote => {
                self.command(node, Command::Promote(PromoteMode::Normal));
            }
            Order::Force => {
                self.cluster.marks.insert(Mark::ForceAsked);
                self.command(node, Command::Promote(PromoteMode::Force));
            }
            Order::Adjust => {
                let members = self.cluster.options.first_members();
                self.cluster.configure(node, members);
            }
        }
    }

    fn offer_disk(&mut self, node: usize) {
        let id = self.next_command();
        if self.cluster.attach(node, id) {
            self.report.attaches += 1;
        }
    }

    /// An operator looks at the data after losses.
    fn reopen(&mut self) {
        for node in 0..self.count() {
            let process = self.cluster.processes[node].as_ref();
            if process.is_some_and(|process| process.resource.awaits_reopen()) {
                self.command(node, Command::Reopen);
            }
        }
    }

    /// Disks that were given up are taken back: of the last replica that is in sync only another
    /// process can tell.
    pub(super) fn take_disks_back(&mut self) {
        for node in 0..self.count() {
            if !self.cluster.lost_its_disk(node) {
                continue;
            }
            let is_last = self.checker.newest_of_lines().any(|leaf| {
                let in_sync = leaf.volumes[0].insync_set();
                in_sync.len() == 1 && in_sync.iter().all(|it| it.index() == node)
            });
            if is_last {
                self.kill(node);
            } else {
                self.offer_disk(node);
            }
        }
        self.reopen();
    }

    /// Those of its line gave way to it, with new votes: its Primary has no quorum any more, and
    /// waits for the operator's word.
    pub(super) fn force_who_is_stuck(&mut self) {
        if self.ordered.is_none() {
            return;
        }
        for node in 0..self.count() {
            if self.is_stuck(node) && self.random.chance(1, 20) {
                // One that waits to be Secondary is not forced: `down --force` and `up` end that.
                if self.random.chance(1, 2) {
                    self.command(node, Command::Promote(PromoteMode::Force));
                } else {
                    self.kill(node);
                }
            }
        }
        let is_led = (0..self.count()).any(|node| self.cluster.is_primary(node));
        let Some((winner, _)) = self.winner.filter(|_| !is_led) else { return };
        if self.cluster.is_up(winner) && self.random.chance(1, 40) {
            self.command(winner, Command::Promote(PromoteMode::Force));
        }
    }

    /// Who could take the ordinary way now.
    pub(super) fn note_who_is_able(&mut self) {
        let Some(ordered) = self.ordered.as_mut() else { return };
        let now = self.cluster.now;
        let newest = self.checker.newest().filter(|_| self.checker.newest_of_lines().count() == 1);
        // Not beside another one.
        let primaries = (0..usize::from(self.cluster.options.nodes))
            .filter(|&node| self.cluster.is_primary(node))
            .count();
        let newest = newest.filter(|_| primaries == 0);
        let sources = newest.map(|newest| sources_of(&self.cluster, newest));
        ordered.able_since.resize(usize::from(self.cluster.options.nodes), None);
        for (node, since) in ordered.able_since.iter_mut().enumerate() {
            let is_able = newest.zip(sources).is_some_and(|(newest, sources)| {
                let reaches = |it: NodeId| {
                    it.index() == node || self.cluster.conversation(node, it.index()).is_some()
                };
                current::reaches_quorum(&self.cluster, node, newest) && sources.iter().any(reaches)
            });
            *since = is_able.then(|| since.unwrap_or(now));
        }
    }

    /// The oracle of a line that may have begun by force. `before` is that of the line it left, as
    /// it was when the value was the newest that it goes on from.
    ///
    /// # Errors
    /// Force was used where the ordinary way leads there, or has what was never written.
    pub(super) fn after_force(&mut self, branch: Branch, before: Oracle) -> Result<Oracle, String> {
        let mut oracle = before;
        let Some((node, base)) = self.forced(branch) else { return Ok(oracle) };
        let had_all = self.had_all(branch, &base);
        let Some(ordered) = self.ordered.as_mut() else { return Ok(oracle) };
        let able = ordered.able_since.get(node).copied().flatten();
        if let Some(since) = able.filter(|&since| self.cluster.now.since(since) > REACHED_FOR) {
            return Err(format!(
                "n{node} begins {branch:?} by force, and reached a quorum and all that {:?} has \
                 for {:?}",
                base.epoch,
                self.cluster.now.since(since)
            ));
        }
        if had_all {
            return Ok(oracle);
        }
        ordered.lossy.insert(branch);
        self.cluster.marks.insert(Mark::LostByForce);
        for &block in &self.blocks {
            let ids = self.cluster.contents.sectors(self.cluster.disks[node].read(block));
            let may_come = self.cluster.writes_under_way(node, block);
            let may_come: Vec<_> =
                may_come.into_iter().map(|value| self.cluster.contents.sectors(value)).collect();
            for (place, (sector, id)) in sectors_of(block).zip(ids).enumerate() {
                let coming = may_come.iter().filter_map(|ids| ids.get(place).copied());
                oracle
                    .on_forced(sector, id, coming)
                    .map_err(|text| format!("{text} (node {node}, line {branch:?})"))?;
            }
        }
        Ok(oracle)
    }

    /// Who began the line by force, and the value that it went on from.
    fn forced(&self, branch: Branch) -> Option<(usize, Config)> {
        let first = self.checker.first_of(branch)?;
        let base = self.checker.value(first.previous)?;
        let is_forced = first.losses > base.losses;
        let begun_by = first.volumes[0].insync.first()?;
        is_forced.then(|| (begun_by.node.index(), base.clone()))
    }

    /// That value has the replica in sync from which the line goes on.
    fn had_all(&self, branch: Branch, base: &Config) -> bool {
        let first = self.checker.first_of(branch).and_then(|first| first.volumes.first());
        let begun_by = first.and_then(|volume| volume.insync.first());
        begun_by.is_some_and(|begun_by| {
            let known = base.volumes.first().and_then(|it| it.insync_member(begun_by.node));
            known.is_some_and(|known| known.incarnation == begun_by.incarnation)
        })
    }

    /// What was asked of the former line is answered by the new one.
    pub(super) fn begin_reads_anew(&mut self, node: usize, branch: Branch) {
        let Self { pending, oracles, .. } = self;
        let oracle = oracles.entry(branch).or_default();
        for pending in pending.values_mut().filter(|it| it.node == node && it.branch == branch) {
            if let Kind::Read { starts } = &mut pending.kind {
                *starts = sectors_of(pending.block).map(|it| oracle.begin_read(it)).collect();
            }
        }
    }
}
