//! Invariants over all nodes at once (PROTOCOL.md section 12), checked after every event.
//!
//! The oracle sees what clients see, and so late; these fire where the cause is. What may be
//! different between replicas is what an operation in flight, a window or U covers; what an absent
//! replica misses has to be marked at every in-sync one, or privately at the absent one itself.

pub(crate) mod marks;

use std::collections::{BTreeMap, BTreeSet};

use format::config::{Config, Purpose};
use format::ids::{
    Ballot, BootId, Branch, EXTENT_BLOCKS, Epoch, MemberSet, NodeId, Nonce, ValueId,
};

use crate::checker::marks::{Clearings, Standing, Standings, View};
use crate::cluster::Cluster;
use crate::process::Process;

#[derive(Debug, Default)]
pub(crate) struct Checker {
    /// What voters ever accepted durably, by ballot.
    accepted: BTreeMap<Ballot, (Config, BTreeSet<usize>)>,
    chosen: BTreeMap<(Branch, Epoch), Config>,
    newest: Option<(Ballot, Config)>,
    /// Tenures that another one followed: none of them may come back.
    ended: BTreeSet<Nonce>,
    /// Blocks in which the disks differ.
    differing: BTreeSet<u64>,
    /// Blocks that were ever written.
    written: BTreeSet<u64>,
    standings: Standings,
    clearings: Clearings,
    looked_at_marks: u64,
}

/// Marks of all blocks are looked at only so often, in events.
const MARKS_INTERVAL: u64 = 50;

impl Checker {
    pub(crate) fn check(&mut self, cluster: &mut Cluster) -> Result<(), String> {
        if !std::mem::take(&mut cluster.changed) {
            return Ok(());
        }
        self.note_disks(cluster)?;
        self.note_registers(cluster)?;
        self.note_standings(cluster)?;
        let now = |node| cluster.local_time(node);
        let groups =
            processes(cluster).flat_map(|(node, it)| it.groups.iter().map(move |g| (node, g)));
        check_fence(
            groups.filter_map(|(node, group)| Some((node, group.answers_reads(now(node))?))),
        )?;
        let Some((_, newest)) = self.newest.clone() else { return Ok(()) };
        self.check_write_sets(cluster)?;
        let in_sync = newest.volumes[0].insync_set();
        for &block in &self.differing {
            check_in_sync(cluster, in_sync, block)?;
            check_marks(cluster, &newest, block)?;
        }
        check_bases(cluster, &newest)?;
        if cluster.events_done >= self.looked_at_marks + MARKS_INTERVAL {
            self.looked_at_marks = cluster.events_done;
            self.note_clearings(cluster, in_sync)?;
            Self::check_verifies(cluster)?;
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

    fn note_clearings(&mut self, cluster: &Cluster, in_sync: MemberSet) -> Result<(), String> {
        for of in diskful(cluster) {
            for at in diskful(cluster).filter(|&at| at != of) {
                let node = |index: usize| NodeId::new(u8::try_from(index).ok()?);
                let (Some(member), Some(keeper)) = (node(of), node(at)) else { continue };
                let process = intact(cluster, keeper).filter(|_| in_sync.has(keeper));
                let Some(process) = process.filter(|_| !in_sync.has(member)) else {
                    self.clearings.forget((at, of));
                    continue;
                };
                let life = cluster.processes[of].as_ref().map_or(BootId(0), |it| it.boot_id);
                let view = View {
                    pair: (at, of),
                    of: (process.boot_id, life, process.resource.slot_base(member)),
                    blocks: &mut self.written.iter().copied(),
                    is_marked: &|block| process.group_of(block).is_marked(member, block),
                    is_open: &|block| is_open(cluster, block),
                    is_same: &|block| {
                        cluster.disks[of].read(block) == cluster.disks[at].read(block)
                    },
                    is_copied: &|block| {
                        processes(cluster)
                            .any(|(_, it)| it.group_of(block).is_copying(member, block))
                    },
                    durable_at: &|block| {
                        cluster.disks[of].durable_at.get(&block).copied().unwrap_or(0)
                    },
                };
                self.clearings.see(cluster.events_done, view)?;
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
        let mut touched = BTreeSet::new();
        for node in 0..count {
            let disk = &mut cluster.disks[node];
            if disk.touched.is_empty() && !std::mem::take(&mut disk.logged) {
                continue;
            }
            touched.extend(disk.touched.drain(..));
            if let Some(block) = disk.unprotected().filter(|_| cluster.is_up(node)) {
                return Err(format!("I10: n{node} may lose block {block} without a mark"));
            }
        }
        self.written.extend(&touched);
        for block in touched {
            let first = cluster.disks[0].read(block);
            if cluster.disks[..count].iter().all(|disk| disk.read(block) == first) {
                self.differing.remove(&block);
            } else if !cluster.spoiled.contains(&block) {
                self.differing.insert(block);
            }
        }
        Ok(())
    }

    /// I1: chosen values form a chain on their branch, and none shares its place with another.
    fn note_registers(&mut self, cluster: &Cluster) -> Result<(), String> {
        let nodes: Vec<usize> = diskful(cluster).collect();
        for &node in &nodes {
            let Some((ballot, value)) = &cluster.disks[node].register.accepted else { continue };
            let known =
                self.accepted.entry(*ballot).or_insert_with(|| (value.clone(), BTreeSet::new()));
            if known.0.value_id != value.value_id {
                return Err(format!("I1: two values have ballot {ballot:?}"));
            }
            if !known.1.insert(node) || known.1.len() * 2 <= nodes.len() {
                continue;
            }
            let value = known.0.clone();
            self.note_chosen(*ballot, value)?;
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
                if let Some((newest, _)) = self.newest.as_mut().filter(|(_, it)| same(it.value_id))
                {
                    *newest = ballot.max(*newest);
                }
                return Ok(());
            }
            None => {}
        }
        if let Some((_, newest)) = &self.newest
            && !same(newest.value_id)
            && !self.descends(&value, newest.value_id)
        {
            return Err(format!("I1: {value:?} does not build on what was chosen, {newest:?}"));
        }
        self.chosen.insert(place, value.clone());
        if self.newest.as_ref().is_none_or(|(known, _)| *known < ballot) {
            self.note_tenure(&value)?;
            self.newest = Some((ballot, value));
        }
        Ok(())
    }

    /// C5: a tenure is of whoever serves clients, and is over when another node did.
    fn note_tenure(&mut self, value: &Config) -> Result<(), String> {
        let served = value.primary.filter(|primary| primary.purpose == Purpose::Clients);
        let holder = value.tenure.map(|tenure| tenure.node);
        if served.is_some_and(|primary| holder != Some(primary.node)) {
            return Err(format!("C5: {served:?} serves in the tenure {:?}", value.tenure));
        }
        let before = self.newest.as_ref().and_then(|(_, newest)| newest.tenure);
        if before != value.tenure {
            self.ended.extend(before.map(|tenure| tenure.id));
        }
        match value.tenure {
            Some(tenure) if self.ended.contains(&tenure.id) => {
                Err(format!("C5: {tenure:?} goes on after another node's"))
            }
            Some(_) | None => Ok(()),
        }
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
        let Some((newest_ballot, newest)) = &self.newest else { return Ok(()) };
        for (node, process) in processes(cluster) {
            for group in &process.groups {
                let Some((nonce, write_set)) = group.served() else { continue };
                if !is_of(newest, nonce) {
                    continue;
                }
                let later = self.accepted.range(newest_ballot..).map(|(_, (value, _))| value);
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

fn is_of(value: &Config, nonce: Nonce) -> bool {
    value.primary.is_some_and(|primary| primary.nonce == nonce)
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

/// The block is in flight, in a window, or in U: replicas may differ in it.
fn is_open(cluster: &Cluster, block: u64) -> bool {
    processes(cluster).any(|(_, process)| {
        let group = process.group_of(block);
        group.leads_unequal(block) || group.holds_unequal(block)
    })
}

/// I6: in-sync members are equal outside of what is open.
fn check_in_sync(cluster: &Cluster, in_sync: MemberSet, block: u64) -> Result<(), String> {
    let values = || {
        let there = in_sync.iter().filter(|&member| intact(cluster, member).is_some());
        there.map(|member| (member, cluster.disks[member.index()].read(block)))
    };
    let Some((_, first)) = values().next() else { return Ok(()) };
    if values().all(|(_, value)| value == first) || is_open(cluster, block) {
        return Ok(());
    }
    let values: Vec<(NodeId, u64)> = values().collect();
    Err(format!("I6: in-sync members differ in block {block}: {values:?}"))
}

/// I8: where an absent or syncing member differs, every in-sync one marks it, or it does itself.
fn check_marks(cluster: &Cluster, newest: &Config, block: u64) -> Result<(), String> {
    let in_sync = newest.volumes[0].insync_set();
    for absent in diskful(cluster).filter_map(|node| NodeId::new(u8::try_from(node).ok()?)) {
        let value = cluster.disks[absent.index()].read(block);
        let differs = |member: NodeId| cluster.disks[member.index()].read(block) != value;
        if in_sync.has(absent)
            || !in_sync.iter().any(differs)
            || is_known_privately(cluster, absent, block)
        {
            continue;
        }
        for member in in_sync.iter() {
            let Some(process) = intact(cluster, member) else { continue };
            let (disks, at) = (&cluster.disks, absent.index());
            let (theirs, ours) = (disks[at].read(block), disks[member.index()].read(block));
            let marked = process.group_of(block).is_marked(absent, block);
            if theirs == ours || marked || !is_incremental(cluster, newest, process, absent) {
                continue;
            }
            if !is_open(cluster, block) {
                return Err(format!(
                    "I8: block {block} is {theirs} at n{absent} and {ours} at n{member}, which \
                     does not mark it"
                ));
            }
        }
    }
    Ok(())
}

fn is_known_privately(cluster: &Cluster, member: NodeId, block: u64) -> bool {
    let extent = block / EXTENT_BLOCKS;
    match &cluster.processes[member.index()] {
        Some(process) => {
            let group = process.group_of(block);
            group.is_marked(member, block) || group.is_active(extent) || group.holds_unequal(block)
        }
        None => cluster.disks[member.index()].is_private(block),
    }
}

/// Whether the absent member would get only what is marked.
fn is_incremental(cluster: &Cluster, newest: &Config, source: &Process, absent: NodeId) -> bool {
    let superblock = &cluster.disks[absent.index()].superblock;
    let Some(base) = source.resource.slot_base(absent) else { return false };
    let joined = superblock.candidate.is_some_and(|candidate| candidate.epoch == base.epoch);
    superblock.branch == newest.branch
        && base.incarnation == superblock.incarnation
        && (base.epoch <= superblock.joined || joined)
}

/// I9: no slot begins after its member was last in sync, unless it says that it is good for
/// nothing.
fn check_bases(cluster: &Cluster, newest: &Config) -> Result<(), String> {
    let in_sync = newest.volumes[0].insync_set();
    for absent in diskful(cluster).filter_map(|node| NodeId::new(u8::try_from(node).ok()?)) {
        let superblock = &cluster.disks[absent.index()].superblock;
        if in_sync.has(absent) || superblock.branch != newest.branch {
            continue;
        }
        for member in in_sync.iter() {
            let Some(process) = intact(cluster, member) else { continue };
            let Some(base) = process.resource.slot_base(absent) else { continue };
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
            clean: false,
            losses: 0,
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
