//! Invariants over all nodes at once (PROTOCOL.md section 12), checked after every event.
//!
//! The oracle sees what clients see, and so late; these fire where the cause is. What may be
//! different between replicas is what an operation in flight, a window or U covers; what an absent
//! replica misses has to be marked at every in-sync one, or privately at the absent one itself.

pub(crate) mod blocks;
pub(crate) mod marks;
pub(crate) mod current;
mod news;
mod promises;
mod receipts;
mod shown;
mod voters;

use std::collections::{BTreeMap, BTreeSet};

use format::config::{Ancestor, Config, Purpose, Voter};
use format::ids::{
    Ballot, BootId, Branch, Epoch, Incarnation, MemberSet, NodeId, Nonce, ValueId, VoteStoreId,
};
use format::metadata::ReplicaState;
use format::space::Space;

use crate::checker::blocks::{Blocks, has_parted, open_at};
use crate::checker::current::Current;
use crate::checker::marks::{Clearings, Standing, Standings, View};
use crate::checker::news::News;
use crate::checker::promises::Promises;
use crate::checker::shown::Shown;
use crate::checker::voters::VoterChanges;
use crate::cluster::Cluster;
use crate::process::Process;
use replication::adoption::{Proof, Verdict};
use replication::quorum::is_quorum;

#[derive(Debug, Default)]
pub(crate) struct Checker {
    /// What voters ever accepted durably, by ballot.
    accepted: BTreeMap<Ballot, (Config, BTreeSet<(NodeId, VoteStoreId)>)>,
    chosen: BTreeMap<(Branch, Epoch), Config>,
    /// Each branch that has a chosen value.
    lines: BTreeMap<Branch, Line>,
    /// The line of each disk.
    branches: BTreeMap<usize, (Incarnation, Branch)>,
    blocks: Blocks,
    standings: Standings,
    promises: Promises,
    clearings: Clearings,
    looked_at_marks: u64,
    changes: VoterChanges,
    news: News,
    current: Current,
    shown: Shown,
}

/// One branch, as far as it is chosen.
#[derive(Clone, Debug)]
struct Line {
    ballot: Ballot,
    newest: Config,
    /// Tenures that another one followed: none of them may come back.
    ended: BTreeSet<Nonce>,
}

/// Marks of all blocks are looked at only so often, in events.
const MARKS_INTERVAL: u64 = 50;

impl Checker {
    pub(crate) fn check(&mut self, cluster: &mut Cluster) -> Result<(), String> {
        if !cluster.changes.any {
            return Ok(());
        }
        let changes = cluster.changes.take();
        if let Some(text) = cluster.violation.take() {
            return Err(text);
        }
        let size = self.volumes();
        self.note_disks(cluster)?;
        for member in changes.lives.iter() {
            self.promises.forget_member(member.index());
        }
        if changes.saved {
            self.note_promises(cluster)?;
            self.note_registers(cluster)?;
            self.note_standings(cluster)?;
            self.note_growth(cluster, size);
        }
        self.check_known(cluster)?;
        self.check_moves(cluster)?;
        self.check_fences(cluster)?;
        self.check_news(cluster)?;
        self.check_current(cluster)?;
        self.check_shown(cluster)?;
        let leaves: Vec<Config> = self.leaves().map(|line| line.newest.clone()).collect();
        if leaves.is_empty() {
            return Ok(());
        }
        self.check_write_sets(cluster)?;
        Self::check_stable(cluster)?;
        self.blocks.check(cluster, &changes, &leaves)?;
        if changes.saved || !changes.resources.is_empty() {
            for newest in &leaves {
                check_bases(cluster, newest)?;
            }
        }
        if cluster.events_done >= self.looked_at_marks + MARKS_INTERVAL {
            self.looked_at_marks = cluster.events_done;
            self.note_clearings(cluster, &leaves)?;
            Self::check_verifies(cluster)?;
        }
        Ok(())
    }

    /// I1: what a node holds for chosen, a quorum has on its disks.
    fn check_known(&self, cluster: &Cluster) -> Result<(), String> {
        for (node, process) in processes(cluster) {
            let Some(known) = process.resource.chosen() else { continue };
            let chosen = self.chosen.get(&(known.branch, known.epoch));
            if chosen.is_none_or(|chosen| chosen.value_id != known.value_id) {
                return Err(format!("I1: n{node} holds for chosen what is not: {known:?}"));
            }
        }
        Ok(())
    }

    /// Of the newest value that was chosen; what is behind them belongs to nobody.
    pub(crate) fn volumes(&self) -> Space {
        self.newest().map_or(Space::EMPTY, Config::space)
    }

    /// What was nobody's may be the volume's now.
    fn note_growth(&self, cluster: &mut Cluster, before: Space) {
        let Some(newest) = self.newest().filter(|_| !before.covers(&self.volumes())) else {
            return;
        };
        let after = self.volumes();
        let in_sync = newest.volumes[0].insync_set();
        for (node, disk) in (0..).zip(&mut cluster.disks) {
            disk.paged = true;
            if !in_sync.iter().any(|member| member.index() == node) {
                for place in after.places() {
                    let block = |space: &Space| place.first_block() + space.blocks_at(place);
                    disk.note_new_blocks(block(&before), block(&after));
                }
            }
        }
    }

    fn note_promises(&mut self, cluster: &Cluster) -> Result<(), String> {
        // A member without data may vote.
        for (node, disk) in cluster.disks.iter().enumerate() {
            let is_put_back = cluster.registers_put_back.get(&node) == Some(&disk.register.store);
            if !is_put_back {
                self.promises.see_voter(node, &disk.register)?;
            }
        }
        for node in diskful(cluster) {
            self.promises.see_member(node, &cluster.disks[node].superblock)?;
        }
        Ok(())
    }

    /// Members that are in sync, and whose disks hold all that they acknowledged.
    pub(crate) fn sources(&self, cluster: &Cluster) -> MemberSet {
        self.newest().map_or(MemberSet::EMPTY, |newest| sources_of(cluster, newest))
    }

    /// Blocks in which the disks differ.
    pub(crate) fn differing(&self) -> impl Iterator<Item = u64> {
        self.blocks.differing()
    }

    /// I19: a replica goes over to another line only with what that line has of its own, or by the
    /// operator's word.
    fn check_moves(&mut self, cluster: &mut Cluster) -> Result<(), String> {
        for node in diskful(cluster) {
            let superblock = &cluster.disks[node].superblock;
            let now = (superblock.incarnation, superblock.branch);
            let Some(before) = self.branches.insert(node, now) else { continue };
            let is_left = before.1 != now.1 && before.1 != Branch(0);
            let gave_way = superblock.state != ReplicaState::InSync;
            let is_moved = before.0 == now.0 && is_left && gave_way;
            if !is_moved {
                continue;
            }
            let Some(line) = self.lines.get(&now.1) else { continue };
            let left = line.newest.ancestors.iter().find(|known| known.branch == before.1);
            let in_sync = |value: &Config| value.volumes[0].insync_set();
            let mut of_line = self.chosen.range((now.1, Epoch(0))..);
            let begun_by = of_line.next().map_or(MemberSet::EMPTY, |(_, value)| in_sync(value));
            // Then this replica may have what nobody had who began the line.
            let is_later = |(&(branch, epoch), value): (&(Branch, Epoch), &Config)| {
                branch == before.1
                    && left.is_none_or(|left| epoch > left.epoch)
                    && in_sync(value).has(register_node(node))
                    && !begun_by.is_subset_of(in_sync(value))
            };
            if let Some(((branch, epoch), _)) = self.chosen.iter().find(|it| is_later(*it)) {
                // One word is for one line.
                if cluster.told_to_discard.has(register_node(node)) {
                    cluster.told_to_discard.remove(register_node(node));
                    continue;
                }
                return Err(format!(
                    "I19: n{node} was in sync at {epoch:?} of {branch:?}, and goes over to {:?}, \
                     which left it at {left:?}",
                    now.1
                ));
            }
        }
        Ok(())
    }

    fn note_standings(&mut self, cluster: &Cluster) -> Result<(), String> {
        for node in diskful(cluster) {
            let superblock = &cluster.disks[node].superblock;
            let now = Standing {
                incarnation: superblock.incarnation,
                branch: superblock.branch,
                state: superblock.state,
                joined: superblock.joined,
            };
            let accepted = &self.accepted;
            self.standings.see(node, now, |joined| {
                let members = accepted.values().flat_map(|(value, _)| &value.volumes[0].insync);
                members.into_iter().any(|it| {
                    it.node.index() == node
                        && it.joined == joined
                        && it.incarnation == now.incarnation
                })
            })?;
        }
        Ok(())
    }

    fn note_clearings(&mut self, cluster: &Cluster, leaves: &[Config]) -> Result<(), String> {
        let volumes = self.volumes();
        for of in diskful(cluster) {
            for at in diskful(cluster).filter(|&at| at != of) {
                let node = |index: usize| NodeId::new(u8::try_from(index).ok()?);
                let (Some(member), Some(keeper)) = (node(of), node(at)) else { continue };
                let keeps = |leaf: &&Config| sources_of(cluster, leaf).has(keeper);
                let is_absent = leaves.iter().find(keeps).is_some_and(|leaf| {
                    leaf.members.has(member) && !leaf.volumes[0].insync_set().has(member)
                });
                let Some(process) = intact(cluster, keeper).filter(|_| is_absent) else {
                    self.clearings.forget((at, of));
                    continue;
                };
                let life = cluster.processes[of].as_ref().map_or(BootId(0), |it| it.boot_id);
                let view = View {
                    pair: (at, of),
                    of: (process.boot_id, life, process.resource.slot_base(member)),
                    marked: &self.blocks.marked(process, member),
                    block: &|index| self.blocks.number(index),
                    is_open: &|block| open_at(cluster, block).is_some(),
                    is_same: &|block| {
                        // What power loss took back since, or nobody else has of what the member
                        // wrote since, it will mark itself.
                        let is_lost = !cluster.is_up(of) && cluster.disks[of].is_private(block);
                        let own = cluster.processes[of].as_ref();
                        let is_own = own.is_some_and(|it| it.group_of(block).holds_unequal(block));
                        is_lost
                            || is_own
                            || !volumes.has(block)
                            || cluster.disks[of].read(block) == cluster.disks[at].read(block)
                    },
                    is_copied: &|block| {
                        processes(cluster)
                            .any(|(_, it)| it.group_of(block).is_copying(member, block))
                    },
                    durable_at: &|block| {
                        cluster.disks[of].durable_at.get(&block).copied().unwrap_or(0)
                    },
                };
                self.clearings.see(cluster.events_done, &view)?;
            }
        }
        Ok(())
    }

    /// What a verify of the replicas says is so.
    fn check_verifies(cluster: &Cluster) -> Result<(), String> {
        if !cluster.spoiled.is_empty() {
            return Ok(());
        }
        for (node, process) in processes(cluster) {
            let Some(verify) = process.resource.verify_status() else { continue };
            if !verify.differing.is_empty() {
                let found = verify.differing;
                return Err(format!("a verify of {node} found differences: {found:?}"));
            }
        }
        Ok(())
    }

    fn note_disks(&mut self, cluster: &mut Cluster) -> Result<(), String> {
        let count = diskful(cluster).count();
        let volumes = self.volumes();
        for node in 0..count {
            let is_up = cluster.is_up(node);
            let disk = &mut cluster.disks[node];
            let touched = std::mem::take(&mut disk.touched);
            let looks = !touched.is_empty() || disk.logged || disk.paged && is_up;
            let all = looks && (disk.logged || disk.paged);
            if looks {
                (disk.logged, disk.paged) = (false, disk.paged && !is_up);
            }
            let unprotected = match (all, is_up) {
                (_, false) => None,
                (true, true) => disk.unprotected(&volumes),
                (false, true) => disk.unprotected_of(&touched, &volumes),
            };
            if let Some(block) = unprotected {
                return Err(format!("I10: n{node} may lose block {block} without a mark"));
            }
            self.blocks.note(cluster, node, &touched);
        }
        Ok(())
    }

    /// I1: chosen values form a chain on their branch, and none shares its place with another.
    fn note_registers(&mut self, cluster: &mut Cluster) -> Result<(), String> {
        for node in 0..cluster.disks.len() {
            let register = &cluster.disks[node].register;
            let Some((ballot, value)) = &register.accepted else { continue };
            let voter = (register_node(node), register.store);
            let known =
                self.accepted.entry(*ballot).or_insert_with(|| (value.clone(), BTreeSet::new()));
            if known.0.value_id != value.value_id {
                return Err(format!("I1: two values have ballot {ballot:?}"));
            }
            if !known.1.insert(voter) {
                continue;
            }
            self.changes.note_accepted(&known.0);
            if !is_quorum(&known.0, &known.1.iter().copied()) {
                continue;
            }
            let (value, voters) = known.clone();
            let is_new = !self.chosen.contains_key(&(value.branch, value.epoch));
            if is_new {
                self.check_reopen(*ballot, &value, &cluster.reopened)?;
            }
            self.note_chosen(*ballot, value.clone())?;
            if is_new {
                cluster.marks.extend(self.changes.note_chosen(&value, &voters));
            }
        }
        Ok(())
    }

    /// C5: clients that cannot tell of losses wait for an operator who could know of all of them.
    fn check_reopen(
        &self,
        ballot: Ballot,
        value: &Config,
        reopened: &BTreeSet<u32>,
    ) -> Result<(), String> {
        let line = self.lines.get(&value.branch).cloned().or_else(|| self.line_at_base(value));
        let Some(before) = line.filter(|line| line.ballot < ballot) else { return Ok(()) };
        let before = before.newest;
        let awaited = before.awaits_reopen || value.losses > before.losses;
        if awaited && !value.awaits_reopen && !reopened.contains(&value.losses) {
            return Err(format!("C5: nobody said so, and {value:?} is open after {before:?}"));
        }
        Ok(())
    }

    fn note_chosen(&mut self, ballot: Ballot, value: Config) -> Result<(), String> {
        let place = (value.branch, value.epoch);
        let same = |id: ValueId| id == value.value_id;
        match self.chosen.get(&place) {
            Some(known) if !same(known.value_id) => {
                return Err(format!("I1: two chosen values at {place:?}: {known:?} and {value:?}"));
            }
            // A voter that learns it late, or the same value once more.
            Some(_) => {
                let line = self.lines.get_mut(&value.branch);
                if let Some(line) = line.filter(|line| same(line.newest.value_id)) {
                    line.ballot = ballot.max(line.ballot);
                }
                return Ok(());
            }
            None => {}
        }
        self.check_place(&value)?;
        let nobody = |config: &Config| config.volumes.iter().any(|it| it.insync.is_empty());
        if value.epoch.0 > 0 && nobody(&value) {
            return Err(format!("6.2: nobody is in sync any more in {value:?}"));
        }
        let line = self.lines.get(&value.branch).cloned();
        if line.as_ref().is_none_or(|known| known.ballot < ballot) {
            let before = line.or_else(|| self.line_at_base(&value));
            let ended = note_tenure(before, &value)?;
            let line = Line { ballot, newest: value.clone(), ended };
            self.lines.insert(value.branch, line);
        }
        self.chosen.insert(place, value);
        Ok(())
    }

    /// Vote stores are lost, and what goes on was taken from the disks. Votes that no disk has a
    /// copy of are forgotten with them: what they chose counts no more, if nobody serves who was
    /// not in sync by it.
    pub(crate) fn note_adopted(&mut self, verdict: &Verdict) -> Result<(), String> {
        let (base, serving) = (&verdict.base, verdict.value.volumes[0].insync_set());
        let Some(line) = self.lines.get_mut(&base.branch) else { return Ok(()) };
        if line.newest.epoch <= base.epoch {
            return Ok(());
        }
        let in_sync = line.newest.volumes[0].insync_set();
        if verdict.proof == Proof::Complete && !serving.is_subset_of(in_sync) {
            return Err(format!("M1: {serving:?} serve, and {:?} was chosen", line.newest));
        }
        line.newest = base.clone();
        self.chosen.retain(|&(branch, epoch), _| branch != base.branch || epoch <= base.epoch);
        Ok(())
    }

    /// The branch that the value's branch began from, as it was then.
    fn line_at_base(&self, value: &Config) -> Option<Line> {
        let (from, line) = (value.ancestors.last()?, self.base_line(value)?);
        let mut line = line.clone();
        if line.newest.value_id != from.value_id {
            // It went on, perhaps with another value of that epoch: what ended there since did not
            // end here.
            let mut accepted = self.accepted.values().map(|(known, _)| known);
            line.newest = accepted.find(|known| known.value_id == from.value_id)?.clone();
            line.ended.clear();
        }
        Some(line)
    }

    /// The branch that the value's branch began from.
    fn base_line(&self, value: &Config) -> Option<&Line> {
        self.lines.get(&value.ancestors.last()?.branch)
    }

    /// I1 and I19: a value builds on what was chosen before on its branch. Without the votes that
    /// this takes it begins a branch, and says from where.
    fn check_place(&self, value: &Config) -> Result<(), String> {
        let before = self.accepted.values().map(|(known, _)| known);
        let before = before.clone().find(|known| known.value_id == value.previous);
        let is_decided = before.is_none_or(|before| keeps_voters(before, value));
        let is_begun = !self.lines.contains_key(&value.branch);
        if let (true, Some(before)) = (is_begun && before.is_some(), before) {
            let from =
                Ancestor { branch: before.branch, epoch: before.epoch, value_id: before.value_id };
            if value.ancestors.last() != Some(&from) {
                return Err(format!("I19: {value:?} does not say that it began from {from:?}"));
            }
        }
        let base = if is_begun { self.base_line(value) } else { self.lines.get(&value.branch) };
        if !is_decided {
            return if is_begun {
                Ok(())
            } else {
                Err(format!("I19: {value:?} was decided without a quorum, on an old branch"))
            };
        }
        match base.map(|line| &line.newest) {
            Some(newest)
                if newest.value_id != value.value_id
                    && !self.descends(value, newest.value_id)
                    // The last acceptance that made it chosen may come after that of its successor.
                    && !self.descends(newest, value.value_id) =>
            {
                Err(format!("I1: {value:?} does not build on what was chosen, {newest:?}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The branches that no other one went on from, or that went on themselves since.
    fn leaves(&self) -> impl Iterator<Item = &Line> {
        self.lines.values().filter(|line| {
            let Config { branch, epoch, .. } = line.newest;
            let goes_on = |other: &Line| {
                let mut ancestors = other.newest.ancestors.iter();
                ancestors.any(|known| known.branch == branch && known.epoch >= epoch)
            };
            !self.lines.values().any(goes_on)
        })
    }

    /// The newest value that was chosen; where lines parted, of the one with the highest ballot.
    pub(crate) fn newest(&self) -> Option<&Config> {
        let newest = self.leaves().max_by_key(|line| line.ballot);
        newest.map(|line| &line.newest)
    }

    /// The newest value of each line that no other one went on from.
    pub(crate) fn newest_of_lines(&self) -> impl Iterator<Item = &Config> {
        self.leaves().map(|line| &line.newest)
    }

    /// The value that a branch began from.
    pub(crate) fn base_of(&self, branch: Branch) -> Option<Ancestor> {
        self.lines.get(&branch)?.newest.ancestors.last().copied()
    }

    /// The first value of a branch.
    pub(crate) fn first_of(&self, branch: Branch) -> Option<&Config> {
        self.chosen.range((branch, Epoch(0))..).next().map(|(_, value)| value)
    }

    /// One that somebody accepted.
    pub(crate) fn value(&self, id: ValueId) -> Option<&Config> {
        self.accepted.values().map(|(value, _)| value).find(|value| value.value_id == id)
    }

    /// A value may build on one that was accepted, and not chosen: then that one counts as chosen.
    fn descends(&self, value: &Config, from: ValueId) -> bool {
        let mut previous = value.previous;
        while previous != from {
            let known = self.accepted.values().find(|(known, _)| known.value_id == previous);
            let Some((known, _)) = known else { return false };
            previous = known.previous;
        }
        true
    }

    /// I2: whoever leads waits for all members of every value of its session that may be chosen.
    fn check_write_sets(&self, cluster: &Cluster) -> Result<(), String> {
        for (node, process) in processes(cluster) {
            for group in &process.groups {
                let Some((nonce, write_set)) = group.served() else { continue };
                let line = self.leaves().find(|line| is_of(&line.newest, nonce));
                let Some(Line { ballot, newest, .. }) = line else { continue };
                let later = self.accepted.range(ballot..).map(|(_, (value, _))| value);
                for value in later.filter(|value| is_of(value, nonce)).chain([newest]) {
                    let in_sync = value.volumes[0].insync_set();
                    if !in_sync.is_subset_of(write_set) {
                        return Err(format!(
                            "I2: n{node} waits for {write_set:?}, and {in_sync:?} may be in sync \
                             in {:?}",
                            value.epoch
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// C5: a tenure is of whoever serves clients, and is over when another node did. Returns those that
/// are over.
fn note_tenure(before: Option<Line>, value: &Config) -> Result<BTreeSet<Nonce>, String> {
    let served = value.primary.filter(|primary| primary.purpose == Purpose::Clients);
    let holder = value.tenure.map(|tenure| tenure.node);
    if served.is_some_and(|primary| holder != Some(primary.node)) {
        return Err(format!("C5: {served:?} serves in the tenure {:?}", value.tenure));
    }
    let last = before.as_ref().and_then(|line| line.newest.tenure);
    let mut ended = before.map_or_else(BTreeSet::new, |line| line.ended);
    if last != value.tenure {
        ended.extend(last.map(|tenure| tenure.id));
    }
    match value.tenure {
        Some(tenure) if ended.contains(&tenure.id) => {
            Err(format!("C5: {tenure:?} goes on after another node's"))
        }
        Some(_) | None => Ok(ended),
    }
}

/// The voters of one value decide about the next, which names them (9.2).
fn keeps_voters(before: &Config, value: &Config) -> bool {
    let nodes = |voters: &[Voter]| voters.iter().map(|voter| voter.node).collect::<MemberSet>();
    let old = nodes(&before.voters);
    nodes(&value.voters) == old || nodes(&value.voters_old) == old
}

/// Members that are in sync by a value, and whose disks hold all that they acknowledged on its
/// line.
pub(crate) fn sources_of(cluster: &Cluster, newest: &Config) -> MemberSet {
    let is_source = |&member: &NodeId| {
        let superblock = &cluster.disks[member.index()].superblock;
        // It may not have been told yet; or it gave way to the line that this one left.
        let is_behind = superblock.state == ReplicaState::InSync
            && !has_parted(cluster, newest, member)
            && newest.ancestors.iter().any(|ancestor| ancestor.branch == superblock.branch);
        let is_of_line = superblock.branch == newest.branch || is_behind;
        is_of_line && intact(cluster, member).is_some()
    };
    newest.volumes[0].insync_set().iter().filter(is_source).collect()
}

fn is_of(value: &Config, nonce: Nonce) -> bool {
    value.primary.is_some_and(|primary| primary.nonce == nonce)
}

fn register_node(index: usize) -> NodeId {
    NodeId::new(u8::try_from(index).expect("few nodes")).expect("few nodes")
}

fn diskful(cluster: &Cluster) -> std::ops::Range<usize> {
    0..usize::from(cluster.options.nodes - cluster.options.clients)
}

fn processes(cluster: &Cluster) -> impl Iterator<Item = (usize, &Process)> {
    let processes = cluster.processes.iter().enumerate();
    processes.filter_map(|(node, process)| Some((node, process.as_ref()?)))
}

/// The process of a member whose disk holds all that it acknowledged.
fn intact(cluster: &Cluster, member: NodeId) -> Option<&Process> {
    let process = cluster.processes[member.index()].as_ref()?;
    (process.disk_open && process.resource.is_intact()).then_some(process)
}

impl Checker {
    /// I12 over all groups that would answer a read now, branch by branch.
    fn check_fences(&self, cluster: &Cluster) -> Result<(), String> {
        let answering = processes(cluster).flat_map(|(node, process)| {
            let serving = process.groups.iter().filter(|group| group.served().is_some());
            serving.filter_map(move |group| {
                Some((node, group.answers_reads(cluster.local_time(node))?))
            })
        });
        let branch_of = |nonce: Nonce| {
            let mut newest_first = self.accepted.values().rev();
            newest_first.find(|(value, _)| is_of(value, nonce)).map(|(value, _)| value.branch)
        };
        let mut branches: BTreeMap<Option<Branch>, Vec<(usize, Nonce)>> = BTreeMap::new();
        for (node, nonce) in answering {
            let is_one_line = self.lines.len() < 2;
            let branch = if is_one_line { None } else { branch_of(nonce) };
            branches.entry(branch).or_default().push((node, nonce));
        }
        branches.into_values().try_for_each(|answering| check_fence(answering.into_iter()))
    }
}

/// I12: reads of one session only are answered at a time, whatever the nodes' clocks say.
fn check_fence(answering: impl Iterator<Item = (usize, Nonce)>) -> Result<(), String> {
    let mut first: Option<(usize, Nonce)> = None;
    for (node, nonce) in answering {
        match first {
            Some((other, known)) if known != nonce => {
                return Err(format!("I12: n{node} and n{other} both answer reads"));
            }
            Some(_) | None => first = Some((node, nonce)),
        }
    }
    Ok(())
}

/// I9: no slot begins after its member was last in sync, unless it says that it is good for
/// nothing.
fn check_bases(cluster: &Cluster, newest: &Config) -> Result<(), String> {
    let in_sync = newest.volumes[0].insync_set();
    for absent in diskful(cluster).filter_map(|node| NodeId::new(u8::try_from(node).ok()?)) {
        let superblock = &cluster.disks[absent.index()].superblock;
        let is_tracked = newest.members.has(absent);
        if in_sync.has(absent) || !is_tracked || superblock.branch != newest.branch {
            continue;
        }
        if cluster.disks_put_back.has(absent) {
            // It forgot that it joined: what its slots begin with, it does not know.
            continue;
        }
        for member in in_sync.iter() {
            let Some(process) = intact(cluster, member) else { continue };
            let Some(base) = process.resource.slot_base(absent) else { continue };
            // It may have left for another line.
            let line = cluster.disks[member.index()].superblock.branch;
            if line != newest.branch && newest.ancestors.iter().all(|it| it.branch != line) {
                continue;
            }
            let candidate = superblock.candidate.map_or(Epoch(0), |candidate| candidate.epoch);
            let last = superblock.joined.max(candidate);
            if base.incarnation == superblock.incarnation {
                check_base(base.epoch, last)
                    .map_err(|text| format!("{text}: the slot of n{absent} at n{member}"))?;
            }
        }
    }
    Ok(())
}

fn check_base(base: Epoch, joined: Epoch) -> Result<(), String> {
    let is_marker = base == replication::FULL || base == replication::KEEP;
    if is_marker || base <= joined {
        return Ok(());
    }
    Err(format!("I9: a slot begins at {base:?}, and its member joined at {joined:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::ResourceId;

    fn value(epoch: u64, id: u64, previous: u64) -> Config {
        Config {
            resource: ResourceId(1),
            branch: Branch(1),
            ancestors: Vec::new(),
            epoch: Epoch(epoch),
            value_id: ValueId(id),
            previous: ValueId(previous),
            primary: None,
            volumes: Vec::new(),
            voters: Vec::new(),
            voters_old: Vec::new(),
            members: MemberSet::EMPTY,
            tenure: None,
            by_receipt: MemberSet::EMPTY,
            followers: MemberSet::EMPTY,
            clean: false,
            losses: 0,
            awaits_reopen: false,
        }
    }

    fn ballot(counter: u64) -> Ballot {
        Ballot { counter, random: 0 }
    }

    #[test]
    fn a_chain_that_forks_is_found() {
        let mut checker = Checker::default();
        checker.note_chosen(ballot(1), value(1, 10, 0)).unwrap();
        checker.note_chosen(ballot(2), value(2, 20, 10)).unwrap();
        checker.note_chosen(ballot(3), value(2, 20, 10)).expect("the same once more");
        checker.note_chosen(ballot(4), value(2, 21, 10)).expect_err("two in one place");
        checker.note_chosen(ballot(5), value(3, 31, 10)).expect_err("built on an old one");
    }

    #[test]
    fn a_slot_that_begins_too_late_is_found() {
        check_base(Epoch(3), Epoch(3)).unwrap();
        check_base(replication::FULL, Epoch(3)).unwrap();
        check_base(Epoch(4), Epoch(3)).unwrap_err();
    }

    #[test]
    fn two_sessions_that_answer_reads_are_found() {
        let fence = |nonces: &[u64]| {
            check_fence(nonces.iter().enumerate().map(|(node, &nonce)| (node, Nonce(nonce))))
        };
        fence(&[7, 7]).expect("two shards, or two members, of one session");
        fence(&[7, 8]).unwrap_err();
    }
}
