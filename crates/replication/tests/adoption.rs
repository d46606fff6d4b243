//! What the remains of nodes prove, by hand: replicas that say of each other that they are lost.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use format::config::{Config, InSync, VolumeConfig, Voter};
use format::ids::{
    Ballot, Branch, Epoch, Incarnation, KernelBootId, MemberSet, NodeId, Nonce, ResourceId,
    ValueId, VoteStoreId,
};
use format::metadata::{Candidate, Register, ReplicaState, Sealed, Slot, Superblock, VoteStamp};
use format::vote::VoteCopy;
use replication::adoption::{Fate, Obstacle, Proof, Remains, install, judge};

fn node(id: u8) -> NodeId {
    NodeId::new(id).unwrap()
}

fn all() -> MemberSet {
    (0..3).map(node).collect()
}

fn in_sync(id: u8) -> InSync {
    InSync { node: node(id), incarnation: Incarnation(id.into()), joined: Epoch(2) }
}

fn value() -> Config {
    Config {
        resource: ResourceId(1),
        branch: Branch(0x50),
        ancestors: Vec::new(),
        epoch: Epoch(9),
        value_id: ValueId(0x51),
        previous: ValueId(0),
        primary: None,
        tenure: None,
        volumes: vec![VolumeConfig {
            number: 0,
            size_bytes: 1 << 30,
            lanes: 16,
            insync: (0..3).map(in_sync).collect(),
        }],
        voters: (0..3).map(|id| Voter { node: node(id), store: VoteStoreId(7) }).collect(),
        voters_old: Vec::new(),
        members: all(),
        by_receipt: MemberSet::EMPTY,
        followers: MemberSet::EMPTY,
        clean: false,
        losses: 0,
        awaits_reopen: false,
    }
}

/// The disk of a node whose register is lost, and which recorded the loss of `lost`.
fn disk(id: u8, lost: &[u8]) -> Remains {
    disk_of(id, lost, &value())
}

fn disk_of(id: u8, lost: &[u8], value: &Config) -> Remains {
    let ballot = Ballot { counter: 5, random: 0 };
    let slot = |lost: u8| Slot {
        member: node(lost),
        base_epoch: Epoch(2),
        base_incarnation: Incarnation(lost.into()),
        in_use: true,
    };
    let superblock = Superblock {
        resource: ResourceId(1),
        resource_name: "r0".to_owned(),
        volume: 0,
        node: node(id),
        branch: Branch(0x50),
        incarnation: Incarnation(id.into()),
        sealed: Sealed { ballot: Ballot { counter: 7, random: 0 }, ..Sealed::default() },
        joined: Epoch(2),
        candidate: None,
        state: ReplicaState::InSync,
        kernel_boot_id: KernelBootId(0),
        size_bytes: 1 << 30,
        lanes: 16,
        write_counter: 3,
        clean: false,
        vote_stamp: VoteStamp { store: VoteStoreId(7), write_counter: 4, ..VoteStamp::default() },
        log: None,
        vote: VoteCopy::new(VoteStoreId(7), ballot, value).map(Box::new),
        slots: lost.iter().copied().map(slot).collect(),
        further: Vec::new(),
    };
    Remains { node: node(id), register: None, superblock: Some(superblock) }
}

fn names(value: &Config) -> Vec<u8> {
    value.volumes[0].insync.iter().map(|known| known.node.get()).collect()
}

#[test]
fn who_was_recorded_as_lost_is_left_out_if_nobody_recorded_that_of_another() {
    let remains = [disk(0, &[2]), disk(1, &[2]), disk(2, &[])];
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    assert_eq!((verdict.proof, names(&verdict.value)), (Proof::Complete, vec![0, 1]));
    assert_eq!(verdict.fates[&node(2)], Fate::Incremental);
}

/// What it was copied to may have been written behind the value from which the others go on.
#[test]
fn a_replica_in_mid_copy_is_compared_in_full() {
    let mut remains = [disk(0, &[2]), disk(1, &[2]), disk(2, &[])];
    let in_mid_copy = remains[2].superblock.as_mut().unwrap();
    in_mid_copy.state = ReplicaState::Syncing;
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    assert_eq!(verdict.fates[&node(2)], Fate::Full);
}

/// Its vote did not hear of that: its voter was mute.
#[test]
fn a_replica_that_went_over_to_another_line_is_not_in_sync_on_this_one() {
    let mut remains = [disk(0, &[]), disk(1, &[]), disk(2, &[])];
    remains[2].superblock.as_mut().unwrap().branch = Branch(0x60);
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    assert_eq!(names(&verdict.value), [0, 1]);
    assert_eq!(verdict.fates[&node(2)], Fate::Unknown);
    // Nor does it say any more whom it recorded as lost here.
    assert_eq!(verdict.proof, Proof::Missing(MemberSet::of(node(2))));
}

/// No register tells that the disk is one of an older day: the value that it joined by does.
#[test]
fn an_older_image_of_a_disk_is_not_in_sync() {
    let mut remains = [disk(0, &[]), disk(1, &[]), disk(2, &[])];
    let superblock = remains[2].superblock.as_mut().unwrap();
    superblock.joined.0 -= 1;
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    assert_eq!(names(&verdict.value), [0, 1]);
}

#[test]
fn replicas_that_all_recorded_losses_prove_nothing_and_all_stay() {
    let remains = [disk(0, &[1]), disk(1, &[2]), disk(2, &[0])];
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    assert_eq!((verdict.proof, names(&verdict.value)), (Proof::Contradicting, vec![0, 1, 2]));
    assert_eq!(verdict.value.losses, 1);
}

/// Protocol B: a client was answered for what such a member had in memory alone.
#[test]
fn members_that_answered_by_receipt_prove_nothing_alone() {
    let by_receipt = |ids: &[u8]| {
        let members = ids.iter().copied().map(node).collect();
        let value = Config { by_receipt: members, ..value() };
        let remains = [disk_of(0, &[2], &value), disk_of(1, &[2], &value), disk_of(2, &[], &value)];
        judge(&remains, all(), MemberSet::EMPTY).unwrap()
    };
    assert_eq!(by_receipt(&[1, 2]).proof, Proof::Complete, "node 0 has all");
    let verdict = by_receipt(&[0, 1]);
    assert_eq!(verdict.proof, Proof::InMemory(MemberSet::of(node(0)).with(node(1))));
    assert_eq!((verdict.value.losses, verdict.value.by_receipt), (1, verdict.base.by_receipt));
}

#[test]
fn what_follows_does_not_depend_on_the_order_and_names_new_stores_of_a_new_generation() {
    let mut remains = vec![disk(0, &[]), disk(1, &[]), disk(2, &[])];
    let verdict = judge(&remains, all(), MemberSet::EMPTY).unwrap();
    remains.reverse();
    assert_eq!(judge(&remains, all(), MemberSet::EMPTY).unwrap(), verdict);
    let Config { branch, epoch, ancestors, voters, .. } = &verdict.value;
    assert_eq!((*epoch, ancestors.last().unwrap().branch), (Epoch(10), Branch(0x50)));
    assert_ne!(*branch, Branch(0x50));
    assert_eq!(branch.0 & 1, 0, "no session went along");
    assert!(verdict.ballot.counter >= 1 << 32);
    assert!(voters.iter().all(|voter| ![0, 7].contains(&voter.store.0)), "{voters:?}");
    // Other remains, even of one node, are another line.
    remains[0].superblock.as_mut().unwrap().write_counter += 1;
    assert_ne!(judge(&remains, all(), MemberSet::EMPTY).unwrap().value.branch, *branch);

    let mut superblock = remains[2].superblock.clone();
    let register = install(&verdict, node(0), None, superblock.as_mut()).unwrap();
    let superblock = superblock.unwrap();
    assert_eq!(register.write_counter, superblock.vote_stamp.write_counter);
    assert_eq!(register.store, superblock.vote_stamp.store);
    assert_eq!(superblock.vote.unwrap().ballot, verdict.ballot);
    assert_eq!(superblock.branch, Branch(0x50), "the first session moves it");
}

#[test]
fn a_replica_that_was_about_to_join_counts_if_the_value_says_so() {
    let state = |candidate| {
        let mut last = disk(2, &[]);
        let superblock = last.superblock.as_mut().unwrap();
        superblock.state = ReplicaState::Syncing;
        superblock.candidate = Some(Candidate { epoch: Epoch(candidate), value_id: ValueId(1) });
        judge(&[disk(0, &[]), disk(1, &[]), last], all(), MemberSet::EMPTY).unwrap()
    };
    assert_eq!(names(&state(2).value), [0, 1, 2]);
    assert_eq!(names(&state(3).value), [0, 1]);
}

/// A vote of a store that the value does not name is no proof.
#[test]
fn a_disk_of_another_vote_store_does_not_vote() {
    let mut other = disk(1, &[]);
    let superblock = other.superblock.as_mut().unwrap();
    superblock.vote.as_mut().unwrap().store = VoteStoreId(8);
    let remains = [disk(0, &[]), other.clone()];
    let given_up = MemberSet::of(node(2));
    let verdict = judge(&remains, all(), given_up).unwrap();
    assert_eq!(verdict.proof, Proof::Missing(MemberSet::of(node(2))));
    let empty = Remains { node: node(1), register: None, superblock: None };
    let refused = judge(&[empty], all(), given_up.with(node(0)));
    assert_eq!(refused, Err(Obstacle::NothingKnown));
}

/// The name of a voter's store is in the newest value, which the disk of another one has alone: the
/// stores that are left do not know it, and so do not go on.
#[test]
fn stores_are_a_quorum_only_by_what_they_know_themselves() {
    let register = |id: u8, value: Config| {
        let ballot = Ballot { counter: value.epoch.0 - 4, random: 0 };
        let register = Register {
            resource: ResourceId(1),
            store: VoteStoreId(7),
            promised: ballot,
            promised_nonce: Nonce(0),
            accepted: Some((ballot, value)),
            write_counter: 4,
            disk_left_at: None,
        };
        Remains { register: Some(register), ..disk(id, &[]) }
    };
    let mut unnamed = value();
    unnamed.epoch = Epoch(8);
    unnamed.voters[1].store = VoteStoreId(0);
    let known = |first, second| {
        judge(&[disk(0, &[]), register(1, first), register(2, second)], all(), MemberSet::EMPTY)
    };
    let verdict = known(unnamed.clone(), unnamed.clone()).unwrap();
    assert_eq!((verdict.proof, verdict.base.epoch), (Proof::Complete, Epoch(9)));
    let left: MemberSet = [1, 2].map(node).into_iter().collect();
    for (first, second) in [(unnamed, value()), (value(), value())] {
        assert_eq!(known(first, second), Err(Obstacle::HasQuorum(left)));
    }
}
