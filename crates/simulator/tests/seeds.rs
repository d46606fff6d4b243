//! A fixed set of seeds: kills, power cuts, partitions, resets, bad disks, stopped processes,
//! clocks that drift, and a quiet end in which all replicas must be equal. All invariants are
//! checked after every event. Budget: 60 s on two cores.

use simulator::run::{
    are_forced, run, run_fenced, run_forks, run_with_lost_stores, run_with_protocols,
};
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

const SEEDS: u64 = 72;
/// Seeds in which operators force.
const FORCED: usize = 16;
/// Of these, two in which something is lost by that: one of some hundreds.
const LOST_BY_FORCE: [u64; 2] = [2_285, 2_327];
/// Each sees what one seed of thirty or fewer does: a member is added again; the answer on a change
/// of voters is in doubt (two seeds); both; a read that waits for a fence fails (two seeds); the
/// first and the last; a read waits for a lease while a member that was asked for it is late.
const RARE: [u64; 8] = [145, 114, 160, 85, 137, 153, 86, 112];
const EVENTS: u64 = 6_000;

#[test]
fn no_seed_of_the_fixed_set_breaks_a_promise() {
    let set = of_this_run(1..=SEEDS);
    let total = all_of((run, ""), set.seeds.chain(RARE), EVENTS);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        // The set means something only while the faults happen and requests are served.
        assert!(total.kills > 30 && total.power_cuts > 15 && total.cuts > 60, "{total:?}");
        assert!(total.disk_errors > 60 && total.stops > 30, "{total:?}");
        assert!(total.writes > 5_000 && total.reads > 3_000 && total.sessions > 60, "{total:?}");
        assert!(total.partial_writes > 2_000 && total.standing > 5, "{total:?}");
        let mut missing = total.missing();
        // Needs a Primary without a disk and a member that joined just now: for longer hunts. And
        // what is lost by force has a set of its own, below.
        missing.retain(|&mark| mark != Mark::ReadRefused && mark != Mark::LostByForce);
        assert_eq!(missing, [], "these never happened");
    }
}

/// Operators give all kinds of commands to several nodes at one moment, `primary --force` too: what
/// is lost is what a forced replica did not have, and could not be reached.
#[test]
fn what_force_gives_up_is_only_what_could_not_be_reached() {
    let forced = (1..).filter(|&seed| are_forced(seed)).take(FORCED).chain(LOST_BY_FORCE);
    let total = all_of((run, ""), forced, EVENTS);
    assert!(total.orders > 1_000 && total.sessions > 60 && total.kills > 30, "{total:?}");
    assert!(total.writes > 500 && total.reads > 500 && total.attaches > 10, "{total:?}");
    for mark in [Mark::ForceAsked, Mark::LostByForce, Mark::InvalidateAsked, Mark::DiskGivenUp] {
        assert!(total.marks.contains(&mark), "{mark:?} never happened: {total:?}");
    }
}

/// The others gave way to a Primary, with new votes: its line has no quorum, until it is forced.
#[test]
fn primary_whom_the_others_gave_way_to_goes_on_by_force() {
    all_of((run, ""), [13_058], 1_200);
}

/// A node that was told to take over while the leader stood still comes through when all is whole
/// again: the run has to wait for that.
#[test]
fn a_late_promotion_does_not_end_the_run() {
    all_of((run, ""), [86_164], 300);
}

/// The last one that waited for a block that nobody can read is gone: the time to read the block
/// again is over, and nobody looks at it.
#[test]
fn nobody_wakes_up_for_a_block_that_nobody_waits_for() {
    all_of((run, ""), [1836], 6_000);
}

/// The news fell into a hole on their way: who did not hear them is not late.
#[test]
fn news_that_a_hole_swallowed_are_not_late() {
    all_of((run, ""), [16_350], 1_200);
}

/// A member to be added waited for a session, and nobody led one: the last one's clean end was in
/// doubt.
#[test]
fn a_clean_end_in_doubt_does_not_rest() {
    all_of((run, ""), [40_637], 1_200);
}

/// A link that was cut a moment before the end looked settled: the lease ran out under the reads.
#[test]
fn what_was_cut_just_now_is_not_settled() {
    all_of((run_fenced, "--fenced"), [705_658, 707_001], 1_200);
}

/// It was told to stop, and then cut off from all: once it is let go its process ends.
#[test]
fn who_was_to_stop_before_it_was_cut_off_ends_afterwards() {
    all_of((run, ""), [78_805], 6_000);
}

/// Nobody announced the value after the one that a line left: what was acknowledged later is not in
/// that line.
#[test]
fn line_that_left_before_a_value_nobody_announced_has_nothing_of_later() {
    all_of((run_forks, "--forks"), [902_489], 6_000);
}

/// A replica that was lost when all was to be read has to be let back, where two are demanded.
#[test]
fn who_is_lost_while_all_is_read_may_return() {
    all_of((run_with_lost_stores, "--adopt"), [703_552], 300);
}

/// A disk that twelve adoptions passed by shows no kinship to the last one: nothing is adopted.
#[test]
fn a_disk_that_many_adoptions_passed_by_is_left_to_the_operator() {
    all_of((run_with_lost_stores, "--adopt"), [702_899], 6_000);
}

/// A disk failed while a connection was being made, which had been opened with it.
#[test]
fn a_disk_that_fails_while_nodes_meet_is_shown_as_gone() {
    all_of((run_with_lost_stores, "--adopt"), [45], 4_000);
}

/// It had recorded the loss of the one that is in sync, and no vote store speaks for it.
#[test]
fn a_replica_that_adoption_left_without_a_vote_follows() {
    all_of((run_with_lost_stores, "--adopt"), [930_028], 6_000);
}

/// A process that stands still is told of other options when it goes on.
#[test]
fn who_stands_still_is_not_taken_for_told() {
    all_of((run_with_protocols, "--protocols"), [700_062], 300);
}
