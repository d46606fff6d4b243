//! What is written down of members that are lost, and who says so of which loss.

use std::time::Duration;

use replication::contract::{Command, Repair, VerifyTask};
use simulator::cluster::{SlowDisk, Way};
use simulator::scenario::Scenario;

/// The Primary, which has no disk.
const CLIENT: usize = 3;

/// Node 2 is lost, is back before anything came of it, and is lost once more. What node 0 says of
/// the first loss comes late, and is no word about the second: it has not heard of that, nor of the
/// write that node 2 misses, and loses its connections before it does. That of a member that is
/// back is not repeated, for its value is chosen.
#[test]
fn a_late_word_about_a_loss_is_none_about_the_next() {
    let ms = Duration::from_millis;
    for offset in (0..8).map(|step| Duration::from_micros(130 * step)) {
        let mut it = Scenario::new(4, 1, CLIENT);
        it.must_write(CLIENT, 7, 1);
        it.run(ms(300));
        it.cluster.delay_lane(0, CLIENT, 0, ms(60));
        it.cluster.reset_link(CLIENT, 2);
        it.until("the first loss", |it| it.explains(CLIENT, "losses: {n2: Recording}"));
        it.until("its end", |it| it.explains(CLIENT, "losses: {}"));
        it.run(ms(5) + offset);
        it.cluster.delay_lane(CLIENT, 0, 0, ms(500));
        it.cluster.silence(CLIENT, 2, 0);
        let part = it.write(CLIENT, 5 * 1024, 2);
        it.cluster.reset_link(CLIENT, 2);
        it.cluster.cut_link(CLIENT, 2);
        it.until("the second loss", |it| !it.is_in_sync(CLIENT, 2));
        it.cluster.slow[1] = SlowDisk { save: ms(200), ..SlowDisk::default() };
        it.cluster.delay_lane(CLIENT, 0, 0, ms(0));
        it.cluster.reset_link(CLIENT, 0);
        it.until("the write", |it| it.ended(part).is_some());
        it.cluster.slow[1] = SlowDisk::default();
        it.cluster.heal_link(CLIENT, 2);
        it.until("the return of node 2", |it| it.is_in_sync(CLIENT, 2));
        assert_eq!(it.on_disk(2, 5 * 1024), 2, "{offset:?}");
    }
}

/// Node 0 is slow to say that it wrote down a loss, which was withdrawn: by then it is sealed to
/// the next session of the same node. That one has a loss of its own for it to write down, with
/// what node 0 got since and node 1 did not; and does not get through with it.
#[test]
fn a_word_about_a_loss_of_an_earlier_session_is_none_about_one_of_this() {
    const CLIENT: usize = 2;
    let ms = Duration::from_millis;
    for late in (0..30).map(|step| ms(1500 + 50 * step)) {
        let mut it = Scenario::new(3, 1, CLIENT);
        it.must_write(CLIENT, 7, 1);
        it.run(ms(300));
        it.cluster.slow_mail.insert((0, 0, Way::FromGroup), late);
        it.cluster.reset_link(CLIENT, 1);
        it.until("the first loss", |it| it.explains(CLIENT, "losses: {n1: Recording}"));
        it.until("its end", |it| it.explains(CLIENT, "losses: {}"));
        it.run(ms(2));
        it.cluster.silence(CLIENT, 1, 0);
        it.write(CLIENT, 5 * 1024, 2);
        it.run(ms(3));
        assert_eq!((it.on_disk(0, 5 * 1024), it.on_disk(1, 5 * 1024)), (2, 0));
        it.cluster.kill(1);
        it.cluster.kill(CLIENT);
        it.cluster.slow_mail.clear();
        it.cluster.slow[0] = SlowDisk { save: ms(20), ..SlowDisk::default() };
        it.cluster.start(CLIENT);
        it.cluster.delay_lane(CLIENT, 0, 0, ms(800));
        it.promote(CLIENT);
        it.cluster.reset_link(CLIENT, 0);
        it.cluster.delay_lane(CLIENT, 0, 0, ms(0));
        it.cluster.start(1);
        it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
        assert_eq!(it.on_disk(1, 5 * 1024), 2, "{late:?}");
    }
}

/// A verify found more pieces that node 2 lost than one message names. The Primary's own replica is
/// told of all of them in one call, and answers once.
#[test]
fn a_leader_writes_down_itself_however_much_is_missed() {
    let mut it = Scenario::new(3, 0, 0);
    // Every other block of two extents of one lane.
    for block in (0..1024).step_by(2).flat_map(|block| [block, 16 * 1024 + block]) {
        it.cluster.spoil(2, block, 9);
    }
    let task = VerifyTask { from_block: 0, until_block: u64::MAX, repair: Repair::No };
    let told = it.command(0, Command::Verify(task));
    it.until("a verify that is under way", |it| it.succeeded(told));
    it.run(Duration::from_secs(2));
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 1);
    // Nor is it left behind by itself, as one that never says so.
    assert!(it.is_in_sync(0, 0) && it.is_in_sync(0, 1));
    it.cluster.start(2);
    assert_eq!(it.copied_until_in_sync(0, 2), 1024 + 1);
}

/// Node 1 does what it is asked with data, and its metadata takes no write any more: it never says
/// that it wrote a loss down. All writes wait for that, so it is left behind like one that does not
/// answer them.
#[test]
fn a_member_that_never_writes_a_loss_down_keeps_no_writes_waiting() {
    let mut it = Scenario::new(5, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[1].save = Duration::from_secs(3600);
    it.cluster.kill(2);
    it.run(Duration::from_secs(1));
    let part = it.write(0, 7, 2);
    it.run(Duration::from_secs(10));
    assert_eq!(it.ended(part), Some(&Ok(None)));
    assert!(!it.is_in_sync(0, 1) && !it.is_in_sync(0, 2));
}

/// Node 2 returns while node 3 is away, and its metadata takes no write any more just when it is to
/// write down what node 3 misses. It gets all that it missed itself, and every write; and would be
/// brought up to date for ever.
#[test]
fn a_returning_member_that_never_writes_a_loss_down_is_left_behind() {
    let mut it = Scenario::new(5, 0, 0);
    it.must_write(0, 7, 1);
    for node in [2, 3] {
        it.cluster.kill(node);
        it.until("a loss", |it| !it.is_in_sync(0, node));
    }
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it.until("a copy", |it| it.explains(0, "step: Copying"));
    it.cluster.slow[2].save = Duration::from_secs(3600);
    it.run(Duration::from_secs(10));
    assert!(!it.explains(0, "step: Copying"), "it is waited for");
    it.cluster.kill(2);
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.start(2);
    it.until("its return", |it| it.is_in_sync(0, 2));
}

/// Of two replicas in sync the Primary, which has no data, leaves the slow one behind. The other
/// one dies before it has written down what that one misses: the slow one is there, and has all.
/// The volume stood still until the dead one was back.
#[test]
fn who_is_being_left_behind_stays_when_the_last_other_one_dies() {
    let mut it = Scenario::new(3, 1, 2);
    it.must_write(2, 7, 1);
    it.cluster.slow[0].write = Duration::from_secs(20);
    it.cluster.slow[1].save = Duration::from_secs(5);
    let late = it.write(2, 7, 2);
    it.until("the loss of node 0 to begin", |it| it.explains(2, "losses: {n0: Recording}"));
    it.cluster.kill(1);
    it.until("the late write", |it| it.ended(late).is_some());
    assert_eq!(it.ended(late), Some(&Ok(None)));
    it.must_write(2, 9, 3);
    assert_eq!((it.must_read(2, 7), it.is_in_sync(2, 0), it.is_in_sync(2, 1)), (2, true, false));
    it.cluster.slow[0] = SlowDisk::default();
    it.cluster.slow[1] = SlowDisk::default();
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(2, 1));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9)), (2, 3));
}
