//! I6 and I8, block by block: what the replicas hold, and what accounts for it where they differ.
//!
//! A verdict is kept, with the nodes whose groups it rests on. It is passed again when the block
//! was written, when one of these groups took a step, or when anything changed in what is known of
//! whole replicas.

use std::collections::BTreeMap;

use format::config::Config;
use format::ids::{EXTENT_BLOCKS, LaneIndex, MemberSet, NodeId};
use format::metadata::ReplicaState;
use format::space::Space;
use format::vote::VoteCopy;

use crate::checker::{diskful, intact, processes, sources_of};
use crate::cluster::Cluster;
use crate::cluster::changes::Changes;
use crate::process::Process;

/// The most replicas that a cluster has.
const REPLICAS_MAX: usize = 8;

/// Every block that was ever written.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    known: Vec<Block>,
    index: BTreeMap<u64, usize>,
    by_extent: BTreeMap<u64, Vec<usize>>,
    /// The disks differ in these.
    differing: Vec<usize>,
    /// The volumes: what is behind them is nobody's.
    volumes: Space,
    /// Of each line that was not continued by another one.
    replicas: Vec<Replicas>,
}

#[derive(Debug)]
struct Block {
    number: u64,
    lane: LaneIndex,
    /// Its place in its extent.
    bit: usize,
    values: [u64; REPLICAS_MAX],
    differs: bool,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug)]
enum Verdict {
    None,
    /// All is well as long as the groups of these nodes say what they said.
    Fine(MemberSet),
}

/// What the verdicts on all blocks rest on.
#[derive(Debug, PartialEq, Eq)]
struct Replicas {
    /// A block of another volume is nobody's yet.
    space: Space,
    in_sync: MemberSet,
    /// Members that are not: nobody owes a mark to a replica that is no member.
    absent: MemberSet,
    /// In sync, and the process of a disk that holds all that it acknowledged.
    sources: MemberSet,
    /// The same, and those that joined and have not heard of it.
    equal: MemberSet,
    /// By source, the members that would get only what it marks.
    incremental: [MemberSet; REPLICAS_MAX],
}

impl Blocks {
    pub(crate) fn differing(&self) -> impl Iterator<Item = u64> {
        let numbers = self.differing.iter().map(|&index| self.known[index].number);
        numbers.filter(|&number| self.volumes.has(number))
    }

    pub(crate) fn number(&self, index: usize) -> u64 {
        self.known[index].number
    }

    /// By index, whether `process` marks the block as one that `member` misses.
    pub(crate) fn marked(&self, process: &Process, member: NodeId) -> Vec<bool> {
        let mut marked = vec![false; self.known.len()];
        for (&extent, indices) in &self.by_extent {
            let group = process.group_of(extent * EXTENT_BLOCKS);
            let words = group.marks_of_extent(member, extent);
            for &index in indices {
                let bit = self.known[index].bit;
                marked[index] = words[bit / 64] >> (bit % 64) & 1 == 1;
            }
        }
        marked
    }

    /// These may have been written at `node`.
    pub(crate) fn note(&mut self, cluster: &Cluster, node: usize, touched: &[u64]) {
        for &number in touched {
            let next = self.known.len();
            let index = *self.index.entry(number).or_insert(next);
            if index == next {
                self.known.push(Block::new(cluster, number));
                self.by_extent.entry(number / EXTENT_BLOCKS).or_default().push(index);
                self.known[index].read_all(cluster);
            }
            let block = &mut self.known[index];
            block.values[node] = cluster.disks[node].read(number);
            block.verdict = Verdict::None;
            let values = &block.values[diskful(cluster)];
            // What was spoiled behind the machines' back is no fault of theirs.
            let differs = !cluster.spoiled.contains(&number)
                && values.iter().any(|&value| value != values[0]);
            if differs && !block.differs {
                self.differing.push(index);
            }
            block.differs = differs;
        }
        if !touched.is_empty() {
            self.differing.retain(|&index| self.known[index].differs);
        }
    }

    pub(crate) fn check(
        &mut self,
        cluster: &Cluster,
        changes: &Changes,
        leaves: &[Config],
    ) -> Result<(), String> {
        if !changes.lives.is_empty() {
            for block in &mut self.known {
                block.read_all(cluster);
            }
        }
        let is_anew = self.is_anew(cluster, changes, leaves);
        let volumes = leaves.iter().map(Config::space).reduce(|one, other| one.common(&other));
        self.volumes = volumes.unwrap_or_default();
        for &index in &self.differing {
            let block = &mut self.known[index];
            match block.verdict {
                Verdict::Fine(on) if !is_anew && !changes.touch(on, block.lane.0) => {}
                Verdict::Fine(_) | Verdict::None => {
                    let mut on = MemberSet::EMPTY;
                    for replicas in self.replicas.iter().filter(|it| it.space.has(block.number)) {
                        check_in_sync(cluster, replicas, block, &mut on)?;
                        check_marks(cluster, replicas, block, &mut on)?;
                    }
                    block.verdict = Verdict::Fine(on);
                }
            }
        }
        Ok(())
    }

    /// Whether all verdicts are to be passed again.
    fn is_anew(&mut self, cluster: &Cluster, changes: &Changes, leaves: &[Config]) -> bool {
        if !self.replicas.is_empty() && changes.resources.is_empty() && !changes.saved {
            return false;
        }
        let replicas = leaves.iter().map(|newest| Replicas::of(cluster, newest)).collect();
        if replicas == self.replicas && changes.lives.is_empty() {
            return false;
        }
        self.replicas = replicas;
        true
    }
}

impl Block {
    fn new(cluster: &Cluster, number: u64) -> Self {
        let lanes = cluster.disks[0].superblock.lanes;
        Self {
            number,
            lane: format::ids::lane_of_block(number, lanes),
            bit: usize::try_from(number % EXTENT_BLOCKS).expect("within an extent"),
            values: [0; REPLICAS_MAX],
            differs: false,
            verdict: Verdict::None,
        }
    }

    fn read_all(&mut self, cluster: &Cluster) {
        for node in diskful(cluster) {
            self.values[node] = cluster.disks[node].read(self.number);
        }
    }

    fn value(&self, member: NodeId) -> u64 {
        self.values[member.index()]
    }
}

impl Replicas {
    fn of(cluster: &Cluster, newest: &Config) -> Self {
        let in_sync = newest.volumes[0].insync_set();
        let sources = sources_of(cluster, newest);
        let absent: MemberSet = absent(cluster, newest).collect();
        let mut incremental = [MemberSet::EMPTY; REPLICAS_MAX];
        for source in sources.iter() {
            let Some(process) = intact(cluster, source) else { continue };
            incremental[source.index()] =
                absent.iter().filter(|&it| is_incremental(cluster, newest, process, it)).collect();
        }
        let joined = in_sync.iter().filter(|&it| has_just_joined(cluster, newest, it));
        let equal = sources | joined.collect();
        Self { space: newest.space(), in_sync, absent, sources, equal, incremental }
    }
}

/// The value has the replica in sync for which this process made it durable, in its session.
fn has_just_joined(cluster: &Cluster, newest: &Config, member: NodeId) -> bool {
    let Some(process) = &cluster.processes[member.index()] else { return false };
    let superblock = &cluster.disks[member.index()].superblock;
    let known = newest.volumes[0].insync_member(member);
    let is_member = known.zip(superblock.candidate).is_some_and(|(known, candidate)| {
        known.incarnation == superblock.incarnation
            && known.joined == candidate.epoch
            && (candidate.epoch != newest.epoch || candidate.value_id == newest.value_id)
    });
    let obeys = |session| process.groups.iter().all(|group| group.session() == session);
    let is_of_session = newest.primary.is_some_and(|primary| obeys(primary.nonce));
    is_member && is_of_session && process.disk_open && superblock.branch == newest.branch
}

fn absent(cluster: &Cluster, newest: &Config) -> impl Iterator<Item = NodeId> {
    let absent = newest.members.minus(newest.volumes[0].insync_set());
    let nodes = diskful(cluster).filter_map(|node| NodeId::new(u8::try_from(node).ok()?));
    nodes.filter(move |&node| absent.has(node))
}

/// The block is in flight, in a window, or in U: replicas may differ in it.
pub(crate) fn open_at(cluster: &Cluster, block: u64) -> Option<usize> {
    let is_led = |session| {
        let is_of = |(led, _)| led == session;
        processes(cluster).any(|(_, it)| it.group_of(block).served().is_some_and(is_of))
    };
    let is_open = |&(_, process): &(usize, &Process)| {
        let group = process.group_of(block);
        // While a session is led its leader knows: members hear late of what is stable.
        group.leads_unequal(block) || group.holds_unequal(block) && !is_led(group.session())
    };
    processes(cluster).find(is_open).map(|(node, _)| node)
}

/// Whether the block is open, which the verdict then rests on.
fn is_open(cluster: &Cluster, block: u64, on: &mut MemberSet) -> bool {
    let at = open_at(cluster, block);
    on.0 |= at.map_or(0, |node| 1 << node);
    at.is_some()
}

/// I6: in-sync members are equal outside of what is open.
fn check_in_sync(
    cluster: &Cluster,
    replicas: &Replicas,
    block: &Block,
    on: &mut MemberSet,
) -> Result<(), String> {
    let mut values = replicas.equal.iter().map(|member| block.value(member));
    let Some(first) = values.next() else { return Ok(()) };
    if values.all(|value| value == first) || is_open(cluster, block.number, on) {
        return Ok(());
    }
    let values: Vec<(NodeId, u64)> =
        replicas.equal.iter().map(|member| (member, block.value(member))).collect();
    Err(format!("I6: in-sync members differ in block {}: {values:?}", block.number))
}

/// I8: where an absent or syncing member differs, every in-sync one marks it, or it does itself.
fn check_marks(
    cluster: &Cluster,
    replicas: &Replicas,
    block: &Block,
    on: &mut MemberSet,
) -> Result<(), String> {
    for absent in replicas.absent.iter() {
        let theirs = block.value(absent);
        let differs = |member: NodeId| block.value(member) != theirs;
        if !replicas.in_sync.iter().any(differs) {
            continue;
        }
        if is_known_privately(cluster, absent, block.number) {
            on.insert(absent);
            continue;
        }
        for member in replicas.sources.iter().filter(|&member| differs(member)) {
            if !replicas.incremental[member.index()].has(absent) {
                continue;
            }
            let process = intact(cluster, member).expect("it is a source");
            if process.group_of(block.number).is_marked(absent, block.number) {
                on.insert(member);
            } else if !is_open(cluster, block.number, on) {
                return Err(format!(
                    "I8: block {} is {theirs} at n{absent} and {} at n{member}, which does not \
                     mark it",
                    block.number,
                    block.value(member)
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
    let is_same = superblock.branch == newest.branch;
    let is_behind = newest.ancestors.iter().any(|ancestor| {
        superblock.branch == ancestor.branch && superblock.joined <= ancestor.epoch
    });
    // What was copied to it on the line that was left, behind the fork, no slot has.
    let is_behind = is_behind && superblock.state != ReplicaState::Syncing;
    (is_same || is_behind)
        && !has_parted(cluster, newest, absent)
        && base.incarnation == superblock.incarnation
        && (base.epoch <= superblock.joined || is_same && joined)
}

/// The newest value that the member accepted, or that its disk has of another vote store, is not of
/// the line of `newest`: it is not copied to before what it has is given up, or all of it is.
pub(crate) fn has_parted(cluster: &Cluster, newest: &Config, member: NodeId) -> bool {
    let disk = &cluster.disks[member.index()];
    let register = &disk.register;
    // Of a store that is lost; or a register of an older day is there, which becomes a new one.
    let is_lost = |vote: &&VoteCopy| {
        let accepted = register.accepted.as_ref().map(|(ballot, _)| *ballot);
        vote.store != register.store || accepted < Some(vote.ballot)
    };
    let vote = disk.superblock.vote.as_deref().filter(is_lost);
    let accepted = register.accepted.as_ref().map(|(_, head)| head);
    accepted.into_iter().chain(vote.map(|vote| vote.value())).any(|head| {
        // Of the epoch of the fork there may be another value, which was chosen there.
        let led = head.primary.map(|primary| primary.nonce);
        let is_same_session = led.is_some() && led == newest.primary.map(|primary| primary.nonce);
        let is_left = newest.ancestors.iter().any(|ancestor| {
            ancestor.branch == head.branch
                && (head.epoch < ancestor.epoch
                    || head.value_id == ancestor.value_id
                    || head.epoch == ancestor.epoch && is_same_session)
        });
        head.branch != newest.branch && !is_left
    })
}
