//! Voters that change, a witness, and members that come and go while clients are at work.

use std::time::Duration;

use format::ids::{MemberSet, NodeId};
use replication::contract::{Command, PromoteMode};
use replication::quorum::Votes;
use simulator::cluster::{Configured, Replaced, SlowDisk, Way};
use simulator::scenario::Scenario;

/// Blocks of the volume.
const ALL: u64 = 20 * 1024;

/// Two replicas and a node without a disk.
fn with_witness() -> Scenario {
    Scenario::new(3, 1, 0)
}

/// Three replicas and a fourth node, which every configuration names from now on.
fn with_newcomer() -> Scenario {
    let mut it = Scenario::with_spares(4, 0, 1);
    it.must_write(0, 7, 1);
    it.configure(&[0, 1, 2, 3], &[0, 1, 2, 3]);
    it
}

#[test]
fn with_two_replicas_a_third_node_votes_by_itself() {
    let mut it = with_witness();
    assert_eq!(it.voters(0), [0, 1, 2]);
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
}

/// `peer-tiebreaker no`: then of two replicas each needs the other.
#[test]
fn a_member_that_may_not_be_the_witness_has_no_vote() {
    let mut it = with_witness();
    it.must_write(0, 7, 1);
    it.cluster.options.quirks.no_witness = true;
    it.configure(&[0, 1, 2], &[0, 1, 2]);
    it.until("two voters", |it| it.voters(0) == [0, 1]);
    it.cluster.kill(1);
    let waiting = it.write(0, 7, 2);
    it.run(Duration::from_secs(10));
    assert_eq!(it.ended(waiting), None);
    it.cluster.start(1);
    it.until("the write", |it| it.ended(waiting).is_some());
    it.cluster.options.quirks.no_witness = false;
    it.configure(&[0, 1, 2], &[0, 1, 2]);
    it.until("three voters", |it| it.voters(0) == [0, 1, 2]);
}

#[test]
fn with_a_witness_the_other_replica_takes_over() {
    let mut it = with_witness();
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 1);
    it.must_write(1, 7, 2);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    assert_eq!(it.on_disk(0, 7), 2);
}

/// Who was cut off must not be chosen against what the other replica and the witness know.
#[test]
fn a_witness_keeps_a_stale_replica_from_the_lead() {
    let mut it = with_witness();
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.cluster.kill(0);
    it.cluster.start(1);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the answer", |it| it.succeeded(promoted) || it.failed(promoted));
    assert!(it.failed(promoted), "what node 0 wrote alone is not at node 1");
}

#[test]
fn two_replicas_alone_wait_for_each_other() {
    let mut it = Scenario::new(2, 0, 0);
    assert_eq!(it.voters(0), [0, 1]);
    it.cluster.kill(1);
    let part = it.write(0, 7, 1);
    it.run(Duration::from_secs(5));
    assert!(it.ended(part).is_none());
    it.cluster.start(1);
    it.until("the write", |it| it.ended(part).is_some());
}

#[test]
fn a_third_replica_takes_the_place_of_the_witness() {
    let mut it = Scenario::with_spares(4, 1, 1);
    it.must_write(0, 7, 1);
    assert_eq!(it.voters(0), [0, 1, 3]);
    it.configure(&[0, 1, 2, 3], &[0, 1, 2, 3]);
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2]);
    assert!(it.is_in_sync(0, 2));
    it.configure(&[0, 1, 3], &[0, 1, 3]);
    it.until("the witness to vote again", |it| it.voters(0) == [0, 1, 3]);
}

#[test]
fn a_newcomer_is_copied_to_and_votes() {
    let mut it = with_newcomer();
    for value in 2..40 {
        it.must_write(0, value * 511 % ALL, value);
    }
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2, 3]);
    assert!(it.is_in_sync(0, 3));
    assert_eq!(it.on_disk(3, 7), 1);
    it.cluster.kill(0);
    it.promote(3);
    assert_eq!(it.must_read(3, 7), 1);
}

#[test]
fn a_newcomer_is_copied_to_without_a_primary() {
    let mut it = Scenario::with_spares(4, 0, 1);
    it.must_write(0, 7, 1);
    it.demote(0);
    it.configure(&[0, 1, 2, 3], &[0, 1, 2, 3]);
    it.until("the new voters", |it| it.voters(3) == [0, 1, 2, 3] && it.leader(3).is_none());
    assert!((0..4).all(|node| !it.cluster.is_primary(node)));
    assert_eq!(it.on_disk(3, 7), 1);
}

/// Whoever leads marks what a member of the value misses, even if its own configuration does not
/// name the member yet.
#[test]
fn a_leader_that_was_not_told_of_a_member_marks_what_it_misses() {
    let mut it = Scenario::with_spares(4, 0, 1);
    it.must_write(0, 7, 1);
    it.configure(&[0, 3], &[0, 1, 2, 3]);
    it.until("node 3 to be in sync", |it| it.is_in_sync(0, 3));
    it.cluster.kill(3);
    it.until("its loss", |it| !it.is_in_sync(0, 3));
    it.demote(0);
    it.promote(1);
    it.must_write(1, 7, 2);
    it.demote(1);
    it.promote(0);
    it.cluster.start(3);
    let copied = it.copied_until_in_sync(0, 3);
    assert!(copied < ALL / 2, "{copied} blocks were copied");
    assert_eq!(it.on_disk(3, 7), 2);
}

/// Node 0 has an older file, in which node 3 has no disk.
fn with_an_older_file() -> Scenario {
    let mut it = Scenario::new(4, 0, 1);
    it.must_write(1, 7, 1);
    it.cluster.options.clients = 1;
    it.configure(&[0], &[0, 1, 2, 3]);
    it.cluster.options.clients = 0;
    it
}

/// Nor if it takes the member for one without a disk: it may die before the value says so, and who
/// leads next copies what is marked.
#[test]
fn a_leader_that_calls_a_member_diskless_marks_what_it_misses() {
    let mut it = with_an_older_file();
    it.demote_and_promote(1, 0);
    it.until("other voters", |it| it.voters(0) == [0, 1, 2]);
    it.cluster.kill(3);
    it.until("its loss", |it| !it.is_in_sync(0, 3));
    for voter in [1, 2] {
        it.cluster.slow[voter].save = Duration::from_secs(3);
    }
    // The member's own log does not name the extent.
    for block in 9_000..9_010 {
        it.must_write(0, block, 2);
    }
    it.cluster.kill(0);
    for voter in [1, 2] {
        it.cluster.slow[voter] = SlowDisk::default();
    }
    it.promote(1);
    it.cluster.start(3);
    it.until("its return", |it| it.is_in_sync(1, 3));
    assert_eq!(it.on_disk(3, 9_000), 2);
}

/// The same for what a promotion writes down.
#[test]
fn a_promotion_that_calls_a_member_diskless_records_its_loss() {
    let mut it = with_an_older_file();
    it.demote(1);
    it.cluster.kill(3);
    it.promote(0);
    let lost = NodeId::new(3).expect("a node");
    assert!([0, 1, 2].iter().all(|&node| it.recorded_losses(node).has(lost)));
}

/// Node 4 is Primary, without data. Replica `node` has an older file, in which node 3 has no disk,
/// and was away when that became a member: it has no slot for it. Node 3 is away now.
fn without_a_slot_at(node: usize) -> Scenario {
    let mut it = Scenario::with_spares(5, 1, 1);
    it.demote_and_promote(0, 4);
    it.must_write(4, 7, 1);
    it.cluster.options.clients = 2;
    it.configure(&[node], &[0, 1, 2, 3, 4]);
    it.cluster.options.clients = 1;
    lose(&mut it, node);
    let others: Vec<usize> = (0..5).filter(|&other| other != node).collect();
    it.configure(&others, &[0, 1, 2, 3, 4]);
    it.until("the newcomer", |it| it.is_in_sync(4, 3));
    it.cluster.options.clients = 2;
    it.cluster.start(node);
    it.cluster.options.clients = 1;
    it.until("its return", |it| it.is_in_sync(4, node));
    it.until("five voters", |it| it.voters(4) == [0, 1, 2, 3, 4]);
    assert!(!it.has_slot(node, 3));
    lose(&mut it, 3);
    it
}

fn lose(it: &mut Scenario, node: usize) {
    it.cluster.kill(node);
    it.until("its loss", |it| !it.is_in_sync(4, node));
}

/// Node 4 copies to `node`, and asked node 0 what that one misses; node 0 dies before it answers.
fn start_and_kill_source(it: &mut Scenario, node: usize) {
    it.cluster.start(node);
    let begun = format!("n{node}: Admission {{ step: Copying");
    it.until("its copy", |it| it.explains(4, &begun));
    lose(it, 0);
    it.until("its return", |it| it.is_in_sync(4, node));
}

/// Such a replica cannot tell one that returns what the member missed meanwhile: what that one
/// noted before is good for nothing then.
#[test]
fn a_source_without_a_slot_for_a_member_leaves_no_old_marks() {
    let mut it = without_a_slot_at(0);
    lose(&mut it, 1);
    it.must_write(4, 9000, 2);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(4, 1));
    lose(&mut it, 0);
    it.cluster.start(3);
    it.until("its return", |it| it.is_in_sync(4, 3));
    assert_eq!(it.on_disk(3, 9000), 2);
}

/// Nor can it take the place of the one that was asked.
#[test]
fn a_further_source_without_a_slot_for_a_member_leaves_no_old_marks() {
    let mut it = without_a_slot_at(1);
    lose(&mut it, 2);
    it.must_write(4, 9000, 2);
    start_and_kill_source(&mut it, 2);
    // Of five voters three are left with node 3.
    it.cluster.kill(1);
    it.cluster.start(3);
    it.until("its return", |it| it.is_in_sync(4, 3));
    assert_eq!(it.on_disk(3, 9000), 2);
}

/// Nor can it tell what the member itself is to get.
#[test]
fn a_further_source_without_a_slot_for_who_returns_copies_all() {
    let mut it = without_a_slot_at(1);
    it.must_write(4, 9000, 2);
    start_and_kill_source(&mut it, 3);
    assert_eq!(it.on_disk(3, 9000), 2);
}

#[test]
fn a_member_is_removed_and_the_others_go_on_alone() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.configure(&[0], &[0, 1]);
    it.run(Duration::from_secs(2));
    assert_eq!(it.voters(0), [0, 1, 2], "node 1 still names node 2");
    it.configure(&[1], &[0, 1]);
    it.until("the new voters", |it| it.voters(0) == [0, 1]);
    assert!(!it.is_in_sync(0, 2));
    it.configure(&[2], &[]);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
}

#[test]
fn the_second_of_two_replicas_can_be_removed() {
    let mut it = Scenario::new(2, 0, 0);
    it.must_write(0, 7, 1);
    it.configure(&[0], &[0]);
    it.until("the new voters", |it| it.voters(0) == [0]);
    it.configure(&[1], &[]);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
}

/// S14: a slot that was given up and is used again must not be believed.
#[test]
fn a_member_that_was_removed_and_is_added_again_is_copied_in_full() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.configure(&[0, 1], &[0, 1]);
    it.until("the new voters", |it| it.voters(0) == [0, 1]);
    it.must_write(0, 7, 2);
    it.must_write(0, 9000, 3);
    it.configure(&[0, 1], &[0, 1, 2]);
    it.cluster.start(2);
    let copied = it.copied_until_in_sync(0, 2);
    assert!(copied > ALL / 2, "{copied} blocks were copied");
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 9000)), (2, 3));
    it.until("the voters", |it| it.voters(0) == [0, 1, 2]);
}

/// An end without notice marks what was active in all slots, that of nobody, too: it is given to
/// another member all the same.
#[test]
fn the_slot_of_a_member_that_was_removed_is_free_after_an_end_without_notice() {
    let mut it = Scenario::new(4, 0, 0);
    it.cluster.kill(3);
    it.must_write(0, 7, 1);
    it.configure(&[0, 1, 2], &[0, 1, 2]);
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2]);
    it.run(Duration::from_secs(1));
    assert!(!it.uses_slot(1, 3));
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.run(Duration::from_secs(1));
    assert!(!it.uses_slot(1, 3));
}

/// The same, with a replica that was away while the member was removed.
#[test]
fn a_slot_at_a_member_that_missed_the_removal_is_not_believed() {
    let mut it = Scenario::new(5, 1, 0);
    it.must_write(0, 7, 1);
    for node in [3, 2] {
        it.cluster.kill(node);
        it.until("the loss", |it| !it.is_in_sync(0, node));
    }
    it.configure(&[0, 1, 4], &[0, 1, 2, 4]);
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2]);
    it.must_write(0, 7, 2);
    it.configure(&[0, 1, 4], &[0, 1, 2, 3, 4]);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    it.cluster.kill(0);
    it.promote(2);
    it.cluster.start(3);
    it.until("the return of node 3", |it| it.is_in_sync(2, 3));
    assert_eq!(it.on_disk(3, 7), 2);
}

#[test]
fn the_last_up_to_date_replica_is_not_removed() {
    let mut it = with_witness();
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.until("the loss", |it| !it.is_in_sync(0, 1));
    it.must_write(0, 7, 2);
    it.cluster.slow[1].write = Duration::from_secs(20);
    it.cluster.start(1);
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[1].syncing));
    let others = [1, 2].into_iter().filter_map(NodeId::new).collect();
    assert_eq!(it.cluster.configure(1, others), Configured::Refused, "node 0 alone has the data");
    it.cluster.kill(0);
    it.run(Duration::from_secs(2));
    for node in [1, 2] {
        assert_eq!(it.cluster.configure(node, others), Configured::Refused, "it has it still");
    }
    it.cluster.start(0);
    it.promote(0);
    it.cluster.slow[1].write = Duration::ZERO;
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.run(Duration::from_secs(1));
}

#[test]
fn a_voter_that_lost_its_store_is_replaced() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let store = |it: &Scenario| it.status(0)?.config?.voters.get(2).map(|voter| voter.store);
    let before = store(&it);
    it.cluster.kill(2);
    it.cluster.replace(2, Replaced::VoteStore);
    it.cluster.start(2);
    it.until("the new voter", |it| it.voters(0).len() == 3 && store(it) != before);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
}

/// Node 2 left and came back: for now both nodes 0 and 1 have to agree, for they voted before.
fn in_change() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.stop(2);
    it.until("two voters", |it| it.voters(0) == [0, 1]);
    it.cluster.start(2);
    it.until("the change", |it| it.status(0).is_some_and(|status| status.votes.old.is_some()));
    it
}

/// One node died in the middle of it, and two of three are no quorum: what the status says is what
/// decides.
#[test]
fn while_the_voters_change_the_votes_of_both_sets_are_told() {
    let mut it = in_change();
    it.cluster.kill(1);
    let waiting = it.write(0, 7, 2);
    let has_quorum = |it: &Scenario| it.status(0).is_some_and(|status| status.has_quorum);
    it.until("the end of the lease", |it| !has_quorum(it));
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
    let status = it.status(0).expect("it is up");
    assert_eq!(status.votes.new, Votes { have: 2, needed: 2, all: 3 });
    assert_eq!(status.votes.old, Some(Votes { have: 1, needed: 2, all: 2 }));
    assert!(!status.votes.is_quorum());
    let joining = status.voters.iter().filter(|voter| voter.is_joining);
    assert_eq!(joining.map(|voter| voter.node.get()).collect::<Vec<_>>(), [2]);
    assert_eq!(it.told_of_quorum(0), [false]);
    it.cluster.start(1);
    it.until("the write", |it| it.ended(waiting).is_some());
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2]);
    it.until("its lease", has_quorum);
    assert_eq!(it.told_of_quorum(0), [false, true]);
}

/// The same of a promotion, which counts as the voters do.
#[test]
fn a_promotion_while_the_voters_change_says_whose_votes_are_missing() {
    let mut it = in_change();
    for node in [0, 1] {
        it.cluster.kill(node);
    }
    it.cluster.start(0);
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    it.until("a refusal", |it| it.failed(promoted));
    let told = "no quorum: 2 of 3 voters answer, 2 are needed; the voters change, and of the 2 \
                before 1 answer, 2 are needed";
    assert_eq!(it.refusal(promoted), Some(told));
    it.cluster.start(1);
    it.promote(0);
    it.until("the new voters", |it| it.voters(0) == [0, 1, 2]);
    assert_eq!(it.told_of_quorum(0), [false; 0], "its first lease came in time");
}

/// Whoever finds a change of the voters half done finishes it, at whatever point its proposer died.
#[test]
fn a_change_of_voters_is_finished_by_another_node() {
    for died_after in 0..24 {
        let mut it = with_newcomer();
        it.until("node 3 to be in sync", |it| it.is_in_sync(0, 3));
        let change = "change: Some(Members";
        it.until("the change", |it| it.explains(0, change));
        it.run(Duration::from_micros(100 * died_after));
        it.cluster.kill(0);
        it.promote(1);
        it.until("the new voters", |it| it.voters(1) == [0, 1, 2, 3]);
        assert_eq!(it.must_read(1, 7), 1);
        it.cluster.start(0);
        it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    }
}

/// Whether the last value was chosen does not know who starts again: the replica leads to find it
/// out, though no client asks for the volume.
#[test]
fn a_value_in_doubt_is_found_out_without_clients() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let detached = it.command(2, Command::Detach);
    it.until("the loss of node 2", |it| it.succeeded(detached) && !it.is_in_sync(0, 2));
    it.configure(&[0, 1], &[0, 1]);
    // Nodes 0 and 2 accept it, and of the new voters node 1 is missing.
    it.cluster.stop_for(1, Duration::from_millis(500));
    it.until("the change", |it| it.explains(0, "change: Some(Members"));
    it.run(Duration::from_millis(20));
    for node in [0, 1] {
        it.cluster.kill(node);
        it.cluster.start(node);
    }
    it.until("a clean end", |it| {
        let config = it.status(0).and_then(|status| status.config);
        config.is_some_and(|config| config.clean)
    });
    it.promote(0);
    assert_eq!(it.must_read(0, 7), 1);
}

/// Its return had begun before it was removed, and goes on when it is added again; meanwhile a
/// value without it is chosen once more. What the in-sync replicas were asked to mark for its
/// return does not outlive that, nor may what their slots begin with.
#[test]
fn a_member_that_is_removed_and_added_again_at_once_is_copied_in_full() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    // Its own log does not name these extents.
    it.must_write(0, 5000, 2);
    it.cluster.slow[2].save = Duration::from_millis(500);
    it.cluster.start(2);
    it.until("its return", |it| it.explains(0, "n2: Admission { step: Sealing"));
    let members = |it: &Scenario| it.status(0).unwrap().config.unwrap().members;
    it.configure(&[0, 1], &[0, 1]);
    it.until("its removal", |it| members(it).len() == 2);
    it.cluster.slow_mail.insert((0, 0, Way::FromGroup), Duration::from_secs(2));
    it.configure(&[0, 1], &[0, 1, 2]);
    it.until("its return", |it| it.explains(0, "n2: Admission { step: MarkingFull"));
    let before = it.accepted(0);
    it.cluster.count_as(0, MemberSet::EMPTY, MemberSet::of(NodeId::new(1).unwrap()));
    it.until("another value", |it| it.accepted(0) > before);
    assert_eq!(members(&it).len(), 2);
    it.must_write(0, 6000, 3);
    it.cluster.slow_mail.clear();
    it.cluster.slow[2].save = Duration::ZERO;
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 5000), it.on_disk(2, 6000)), (2, 3));
}

/// In so many of a hundred seconds somebody leads, as node 0 knows.
fn led_seconds(it: &mut Scenario) -> usize {
    let is_led = |it: &mut Scenario| {
        it.run(Duration::from_secs(1));
        it.leader(0).is_some()
    };
    (0..100).filter(|_| is_led(it)).count()
}

/// From now on node 1 runs with metadata that have room for three members, and with a configuration
/// that names four.
fn crowd_node_1(it: &mut Scenario) {
    it.cluster.options.quirks.few_slots = Some((1, 3));
    it.configure(&[1], &[]);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.configure(&[1], &[0, 1, 2, 3]);
}

/// Node 3 became a member while node 1 was away, whose metadata have no room for that.
fn without_a_slot_at_node_1() -> Scenario {
    let mut it = Scenario::with_spares(4, 0, 1);
    it.cluster.kill(1);
    it.must_write(0, 7, 1);
    it.configure(&[0, 2, 3], &[0, 1, 2, 3]);
    it.until("the newcomer", |it| it.is_in_sync(0, 3));
    crowd_node_1(&mut it);
    it.run(Duration::from_secs(1));
    it
}

/// Node 1 gets metadata with more room.
fn give_node_1_room(it: &mut Scenario) {
    it.cluster.options.quirks.few_slots = None;
    it.cluster.kill(1);
    it.cluster.start(1);
}

/// An in-sync replica has no slot for a newcomer, which gets no replica: whoever leads asked again
/// and again, and led a session for that alone without an end.
#[test]
fn who_is_left_out_for_want_of_a_slot_keeps_no_session() {
    let mut it = Scenario::with_spares(4, 0, 1);
    it.must_write(0, 7, 1);
    crowd_node_1(&mut it);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.configure(&[0, 2, 3], &[0, 1, 2, 3]);
    it.run(Duration::from_secs(1));
    it.demote(0);
    assert!(led_seconds(&mut it) < 10);
    it.promote(0);
    it.must_write(0, 7, 2);
    assert!(!it.is_in_sync(0, 3));
    give_node_1_room(&mut it);
    it.until("the newcomer", |it| it.is_in_sync(0, 3) && it.is_in_sync(0, 1));
    assert_eq!(it.on_disk(3, 7), 2);
}

/// A replica that was away while a member was added has no slot for that one: it is not admitted,
/// and was asked for ever.
#[test]
fn who_returns_without_a_slot_for_a_member_keeps_no_session() {
    let mut it = without_a_slot_at_node_1();
    it.demote(0);
    assert!(led_seconds(&mut it) < 10);
    it.promote(0);
    assert!(!it.is_in_sync(0, 1));
    give_node_1_room(&mut it);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!(it.on_disk(1, 7), 1);
}

/// The member is removed for which the one that returns has no slot: it is asked at once, and not
/// only when its rest is over.
#[test]
fn who_was_left_out_for_want_of_a_slot_returns_when_that_member_is_gone() {
    let mut it = without_a_slot_at_node_1();
    assert!(!it.is_in_sync(0, 1));
    it.stop(3);
    it.configure(&[0, 1, 2], &[0, 1, 2]);
    let before = it.cluster.now;
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    let waited = it.cluster.now.since(before);
    assert!(waited < Duration::from_secs(10), "{waited:?}");
}
