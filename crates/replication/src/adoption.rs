//! A value for a resource whose vote stores are lost: from what its disks still say.
//!
//! Each disk has a copy of what the voter of its node accepted last, made before the vote counted
//! (format's `vote`). The newest of them is what is built on (PROTOCOL.md 7.1), and who is in sync
//! by it holds every acknowledged write, unless it was lost since: a voter whose disk failed votes
//! without a copy. But the record of a loss comes before the value that says so (6.1), on the disks
//! of all who are in sync then. So whose loss another one recorded is left out of the new value,
//! and nobody else was lost, if the disks of all replicas are here. If not, nothing is proved: one
//! that is not here may have gone on with the votes of such as had no disk at that time.
//!
//! What follows is a value on a new branch, of a new generation, with new vote stores, which every
//! node makes for itself from the same remains: they agree, or never count for each other. Members
//! that are not in it come back by the rules for any line that parted (9.5, 9.6).

use std::collections::BTreeMap;

use format::config::{Config, InSync, Voter};
use format::ids::{Ballot, Branch, Epoch, MemberSet, NodeId, Nonce, ValueId, VoteStoreId};
use format::metadata::{Register, ReplicaState, Superblock};
use stdx::hash::{HashKey, siphash128};
use stdx::random::Random;

use crate::limits;
use crate::lineage::relation::{ALONG, Kinship, continue_on, kinship};
use crate::lineage::stamp::{compare_stamp, copy_vote, make_blank};
use crate::lineage::standing::{has_joined, insync, report_of, shared_until};
use crate::quorum::is_quorum;

/// What one node still has; of a node that has neither, that it was looked at.
#[derive(Clone, Debug)]
pub struct Remains {
    pub node: NodeId,
    pub register: Option<Register>,
    pub superblock: Option<Superblock>,
}

/// What is to be done, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The newest value that is known to have been accepted.
    pub base: Config,
    pub ballot: Ballot,
    pub value: Config,
    pub proof: Proof,
    /// What becomes of the replica of each node that was looked at.
    pub fates: BTreeMap<NodeId, Fate>,
}

/// Whether every acknowledged write is known to be on the replicas that the value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No newer value can have been chosen.
    Complete,
    /// These may know of a newer one.
    Missing(MemberSet),
    /// The replicas that are in sync each recorded that another one of them was lost.
    Contradicting,
    /// The replicas that go on all acknowledged writes that they had in memory alone.
    InMemory(MemberSet),
}

/// What becomes of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It serves at once.
    InSync,
    /// It gets what it missed since.
    Incremental,
    /// It is compared with the others in full: what it is of is known, and not what it misses.
    Full,
    /// Nothing shows what it has in common with the others: it counts as an empty one, and is
    /// compared in full.
    Unknown,
    /// The node has none.
    NoReplica,
}

/// Why nothing is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No disk and no register knows of a value.
    NothingKnown,
    /// These nodes were neither looked at nor given up.
    NotLookedAt(MemberSet),
    /// These vote stores are a quorum: nothing was lost that needs this.
    HasQuorum(MemberSet),
    /// None of these, who were in sync last, has its disk here.
    NoData(MemberSet),
    /// The lines of these nodes and of the others parted: only one of them can go on.
    Parted(MemberSet),
}

/// What a node knows of the newest value.
struct Vote<'a> {
    node: NodeId,
    ballot: Ballot,
    value: &'a Config,
}

/// Judges the remains of `all`, one of each node, in any order. `expected` are the nodes that the
/// configuration names, `given_up` those whose remains nobody has, or wants.
///
/// # Errors
/// Where no value follows from the remains, or none is needed.
pub fn judge(
    all: &[Remains],
    expected: MemberSet,
    given_up: MemberSet,
) -> Result<Verdict, Obstacle> {
    let mut remains: Vec<&Remains> = all.iter().filter(|one| !given_up.has(one.node)).collect();
    remains.sort_by_key(|one| one.node);
    let votes: Vec<Vote<'_>> = remains.iter().copied().flat_map(votes_of).collect();
    let newest = votes.iter().max_by_key(|vote| vote.ballot).ok_or(Obstacle::NothingKnown)?;
    let base = with_forks(newest.value, &votes);
    let looked_at: MemberSet = remains.iter().map(|one| one.node).collect();
    let needed = expected | base.members | nodes(&base.voters) | nodes(&base.voters_old);
    let missing = needed.minus(looked_at | given_up);
    if !missing.is_empty() {
        return Err(Obstacle::NotLookedAt(missing));
    }
    let parted = parted_from(&base, remains.iter().copied());
    if !parted.is_empty() {
        return Err(Obstacle::Parted(parted));
    }
    if let Some(stores) = stores_that_go_on(&remains) {
        return Err(Obstacle::HasQuorum(stores));
    }
    let in_sync = in_sync_here(&base, &remains);
    if in_sync.is_empty() {
        return Err(Obstacle::NoData(insync(&base)));
    }
    let undisputed: Vec<InSync> = in_sync
        .iter()
        .filter(|one| !is_disputed(one, &base, &in_sync, &remains))
        .copied()
        .collect();
    let unknown =
        (needed.minus(looked_at) | without_disk(&base, &remains)).minus(parted_from(&base, all));
    let proof = proof_of(&base, &undisputed, unknown, &remains);
    let kept = if undisputed.is_empty() { in_sync } else { undisputed };
    let (ballot, value) = next_value(&base, proof, &kept, &remains);
    let fates = remains.iter().map(|one| (one.node, fate(one, &value, &remains))).collect();
    Ok(Verdict { base, ballot, value, proof, fates })
}

/// Makes a verdict the state of a node: its register and, where it has a disk, its superblock,
/// both to be made durable in this order. `None` of a node without a vote.
///
/// A replica of which nothing is known becomes another one: the operator's word lets it leave the
/// line that it was of (I19).
#[must_use]
pub fn install(
    verdict: &Verdict,
    node: NodeId,
    register: Option<&Register>,
    superblock: Option<&mut Superblock>,
) -> Option<Register> {
    let voter = verdict.value.voters.iter().find(|voter| voter.node == node)?;
    let stamped = superblock.as_ref().map_or(0, |it| it.vote_stamp.write_counter);
    let counted = register.map_or(0, |register| register.write_counter);
    // Above both, and of the other slot than the version that is there: that one stays until this
    // one is written.
    let next = stamped.max(counted) + 1;
    let write_counter = next + (next - counted + 1) % 2;
    let register = Register {
        resource: verdict.value.resource,
        store: voter.store,
        promised: verdict.ballot,
        promised_nonce: Nonce(0),
        accepted: Some((verdict.ballot, verdict.value.clone())),
        write_counter,
        disk_left_at: None,
    };
    if let Some(superblock) = superblock {
        superblock.vote_stamp.store = register.store;
        superblock.vote_stamp.promised = register.promised;
        superblock.vote_stamp.epoch = verdict.value.epoch;
        superblock.vote_stamp.write_counter = register.write_counter;
        copy_vote(&register, superblock);
        if verdict.fates.get(&node) == Some(&Fate::Unknown) {
            let name = draw(u128::from(verdict.value.branch.0), node.get().into());
            make_blank(superblock, &mut Random::new(name));
        }
    }
    Some(register)
}

// ---- What is known.

fn votes_of(one: &Remains) -> impl Iterator<Item = Vote<'_>> {
    let node = one.node;
    let of_register = one.register.as_ref().and_then(|register| {
        let (ballot, value) = register.accepted.as_ref()?;
        Some(Vote { node, ballot: *ballot, value })
    });
    let of_disk = one.superblock.as_ref().and_then(|superblock| superblock.vote.as_ref());
    let of_disk = of_disk.map(|vote| Vote { node, ballot: vote.ballot, value: vote.value() });
    of_register.into_iter().chain(of_disk)
}

/// The nodes whose vote stores are a quorum by what these know themselves: what the copy on a disk
/// says beyond that, nobody tells them.
fn stores_that_go_on(remains: &[&Remains]) -> Option<MemberSet> {
    let stores = remains.iter().filter_map(|one| Some((one.node, accepting_store(one)?)));
    let is_kept = |one: &&&Remains| accepting_store(one).is_some();
    let registers = remains.iter().filter(is_kept).filter_map(|one| one.register.as_ref());
    let newest = registers.filter_map(|it| it.accepted.as_ref()).max_by_key(|(ballot, _)| *ballot);
    newest
        .is_some_and(|(_, value)| is_quorum(value, &stores))
        .then(|| stores.map(|(node, _)| node).collect())
}

/// The vote store of a node, if it is whole, and one that may have voted for what the disks say.
fn accepting_store(one: &Remains) -> Option<VoteStoreId> {
    let register = one.register.as_ref().filter(|register| register.accepted.is_some())?;
    (!is_older(one).0).then_some(register.store)
}

/// Whether the register, and whether the disk, comes from an older day than the other (M4).
fn is_older(one: &Remains) -> (bool, bool) {
    let (Some(register), Some(superblock)) = (&one.register, &one.superblock) else {
        return (false, false);
    };
    let (mut voter, mut replica) = (register.clone(), superblock.clone());
    compare_stamp(&mut voter, &mut replica, &mut Random::new(1));
    (voter.store != register.store, replica.incarnation != superblock.incarnation)
}

/// A copy may lack the older forks of its line, and another vote have them.
fn with_forks(newest: &Config, votes: &[Vote<'_>]) -> Config {
    let of_branch = votes.iter().filter(|vote| vote.value.branch == newest.branch);
    let longest = of_branch.map(|vote| &vote.value.ancestors).max_by_key(|forks| forks.len());
    let mut base = newest.clone();
    base.ancestors = longest.cloned().unwrap_or_default();
    base
}

/// Nodes that voted on a line which is not that of `base`: none of them serves this one again
/// without a word of the operator's (I19).
fn parted_from<'a>(base: &Config, all: impl IntoIterator<Item = &'a Remains>) -> MemberSet {
    let is_of_line =
        |value: &Config| matches!(kinship(value, base), Kinship::Same | Kinship::Older);
    let votes = all.into_iter().flat_map(votes_of);
    votes.filter(|vote| !is_of_line(vote.value)).map(|vote| vote.node).collect()
}

fn nodes(voters: &[Voter]) -> MemberSet {
    voters.iter().map(|voter| voter.node).collect()
}

/// The replicas that `base` calls in sync, as far as their disks are here and say nothing else: one
/// that went over to another line has data of that.
fn in_sync_here(base: &Config, remains: &[&Remains]) -> Vec<InSync> {
    let known = base.volumes.first().map_or(&[][..], |volume| &volume.insync);
    let is_here = |known: &&InSync| {
        let superblock = superblock_of(known.node, remains);
        superblock.is_some_and(|superblock| {
            let is_member = superblock.incarnation == known.incarnation;
            let has_joined = match superblock.state {
                // An image of an older day knows less, also where no register tells.
                ReplicaState::InSync => has_joined(base, known, &report_of(superblock)),
                ReplicaState::Syncing | ReplicaState::Outdated => {
                    superblock.candidate.is_some_and(|it| it.epoch == known.joined)
                }
                ReplicaState::Blank | ReplicaState::Failed => false,
            };
            is_member && has_joined && is_of_line(base, superblock)
        })
    };
    known.iter().filter(is_here).copied().collect()
}

/// What the disk holds is of the line of `value`, as far as that came.
fn is_of_line(value: &Config, superblock: &Superblock) -> bool {
    shared_until(value, &report_of(superblock)).is_some()
}

/// Of a disk that is no image of an older day.
fn superblock_of<'a>(node: NodeId, remains: &[&'a Remains]) -> Option<&'a Superblock> {
    let one = remains.iter().find(|one| one.node == node)?;
    one.superblock.as_ref().filter(|_| !is_older(one).1)
}

/// Another one was told that this one is lost, since it joined: one of those in sync, or one that
/// joined later, and may have been alone in the end.
fn is_disputed(one: &InSync, base: &Config, in_sync: &[InSync], remains: &[&Remains]) -> bool {
    let others = remains.iter().filter(|other| other.node != one.node);
    let disks = others.filter_map(|other| superblock_of(other.node, remains));
    let has_joined_since = |disk: &Superblock| {
        let candidate = disk.candidate.map_or(Epoch(0), |it| it.epoch);
        disk.branch == base.branch && disk.joined.max(candidate) > base.epoch
    };
    let is_in_sync = |disk: &Superblock| in_sync.iter().any(|known| known.node == disk.node);
    disks.filter(|disk| is_in_sync(disk) || has_joined_since(disk)).any(|disk| {
        disk.slots.iter().any(|slot| {
            slot.member == one.node
                && slot.base_epoch >= one.joined
                && slot.base_incarnation == one.incarnation
        })
    })
}

/// Replicas whose disks say nothing, or nothing of this line any more: whom they recorded as lost
/// is not known.
fn without_disk(base: &Config, remains: &[&Remains]) -> MemberSet {
    let says = |node: &NodeId| {
        let disk = superblock_of(*node, remains);
        disk.is_some_and(|disk| disk.state != ReplicaState::Blank && is_of_line(base, disk))
    };
    base.members.iter().filter(|node| !says(node)).collect()
}

/// `unknown` are those of whom nothing is known that is of this line.
fn proof_of(
    base: &Config,
    undisputed: &[InSync],
    unknown: MemberSet,
    remains: &[&Remains],
) -> Proof {
    if !unknown.is_empty() {
        return Proof::Missing(unknown);
    }
    if undisputed.is_empty() {
        return Proof::Contradicting;
    }
    let going_on: MemberSet = undisputed.iter().map(|known| known.node).collect();
    if going_on.is_subset_of(base.by_receipt | base.followers) {
        return Proof::InMemory(going_on);
    }
    // A size that grew by votes without a copy would be on all of these disks.
    let is_full = |known: &InSync| {
        let disk = superblock_of(known.node, remains);
        disk.is_some_and(|disk| base.space().covers(&disk.usable_space()))
    };
    let votes = remains.iter().filter_map(|one| {
        let is_trusted = undisputed.iter().any(|known| known.node == one.node);
        let copy = one.superblock.as_ref().and_then(|disk| disk.vote.as_ref());
        let copy = copy.filter(|_| is_trusted).map(|copy| copy.store);
        let register = one.register.as_ref().filter(|_| !is_older(one).0).map(|it| it.store);
        Some((one.node, register.filter(|&store| has_store(base, store)).or(copy)?))
    });
    if undisputed.iter().any(is_full) || is_quorum(base, &votes) {
        Proof::Complete
    } else {
        let all = nodes(&base.voters) | nodes(&base.voters_old);
        Proof::Missing(all.minus(votes.map(|(node, _)| node).collect()))
    }
}

fn has_store(base: &Config, store: VoteStoreId) -> bool {
    base.voters.iter().chain(&base.voters_old).any(|voter| voter.store == store)
}

// ---- What follows.

fn next_value(
    base: &Config,
    proof: Proof,
    in_sync: &[InSync],
    remains: &[&Remains],
) -> (Ballot, Config) {
    let name = name_of(base, in_sync, remains);
    let voters = nodes(&base.voters) | nodes(&base.voters_old);
    let voter = |node: NodeId| Voter {
        node,
        store: VoteStoreId(draw(name, 3 + u64::from(node.get())) | 1),
    };
    let voters: Vec<Voter> =
        remains.iter().filter(|one| voters.has(one.node)).map(|one| voter(one.node)).collect();
    // No session of the old line goes along. Whom the other bits name as its beginner is all one:
    // nobody has a vote store of that time.
    let branch = Branch(draw(name, 0) & !ALONG);
    let mut value = continue_on(base, branch, voters);
    value.epoch = base.epoch.next();
    value.previous = base.value_id;
    value.value_id = ValueId(draw(name, 1));
    value.primary = None;
    value.tenure = None;
    value.clean = false;
    value.losses += u32::from(proof != Proof::Complete);
    value.awaits_reopen |= proof != Proof::Complete;
    for volume in &mut value.volumes {
        in_sync.clone_into(&mut volume.insync);
    }
    let highest = remains.iter().flat_map(|one| ballots_of(one)).max().unwrap_or_default();
    let generation = highest.counter / limits::GENERATION_BALLOTS + 1;
    let counter = generation.saturating_mul(limits::GENERATION_BALLOTS);
    (Ballot { counter, random: draw(name, 2) }, value)
}

/// Every ballot that a node obeyed.
fn ballots_of(one: &Remains) -> Vec<Ballot> {
    let mut ballots: Vec<Ballot> = votes_of(one).map(|vote| vote.ballot).collect();
    ballots.extend(one.register.as_ref().map(|register| register.promised));
    if let Some(superblock) = &one.superblock {
        ballots.extend([superblock.sealed.ballot, superblock.vote_stamp.promised]);
    }
    ballots
}

/// The same at every node that judges the same remains, and at no other.
fn name_of(base: &Config, in_sync: &[InSync], remains: &[&Remains]) -> u128 {
    let mut words = vec![u128::from(base.branch.0), base.epoch.0.into(), base.value_id.0.into()];
    words.extend(in_sync.iter().flat_map(|one| [u128::from(one.node.get()), one.joined.0.into()]));
    for one in remains {
        words.push(one.node.get().into());
        let register = one.register.as_ref();
        words.extend(
            register.into_iter().flat_map(|it| [it.store.0, it.write_counter]).map(u128::from),
        );
        let superblock = one.superblock.as_ref();
        words.extend(
            superblock.into_iter().flat_map(|it| [it.incarnation.0, it.write_counter.into()]),
        );
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u128::to_le_bytes).collect();
    siphash128(HashKey(0, 0), &bytes)
}

fn draw(name: u128, number: u64) -> u64 {
    let drawn = siphash128(HashKey(number, 0), &name.to_le_bytes());
    u64::try_from(drawn >> 64).expect("the upper half")
}

fn fate(one: &Remains, value: &Config, remains: &[&Remains]) -> Fate {
    let Some(superblock) = &one.superblock else { return Fate::NoReplica };
    let in_sync = value.volumes.first().map_or(&[][..], |volume| &volume.insync);
    if in_sync.iter().any(|known| known.node == one.node) {
        return Fate::InSync;
    }
    if superblock.branch == Branch(0) {
        return Fate::Full;
    }
    let Some(shared) = shared_until(value, &report_of(superblock)) else { return Fate::Unknown };
    if superblock.state == ReplicaState::Syncing {
        // What it was copied to may have been written behind the last value that is known.
        return Fate::Full;
    }
    let joined = superblock.joined.min(shared);
    let suits = |source: &Superblock| {
        source.slots.iter().any(|slot| {
            slot.member == one.node
                && slot.base_epoch <= joined
                && slot.base_incarnation == superblock.incarnation
        })
    };
    let mut sources = in_sync.iter().filter_map(|known| superblock_of(known.node, remains));
    if sources.all(suits) { Fate::Incremental } else { Fate::Full }
}
