//! Reads of clients: each in-sync member may serve them, one that is late is not waited for, and
//! what comes late is nobody else's.

use std::ops::Range;
use std::time::Duration;

use format::ids::MemberSet;
use replication::balance::ReadPolicy;
use replication::contract::{Command, PartId, PromoteMode};
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

const CLIENT: usize = 3;
const BLOCKS: u64 = 32;

/// Three replicas and a Primary without a disk; block `n` holds `100 + n`.
fn with_client() -> Scenario {
    written(Scenario::new(4, 1, CLIENT), CLIENT)
}

fn written(mut it: Scenario, primary: usize) -> Scenario {
    for block in 0..BLOCKS {
        it.must_write(primary, block, 100 + block);
    }
    it
}

fn slow_reads(time: Duration) -> SlowDisk {
    SlowDisk { read: time, ..SlowDisk::default() }
}

/// Reads all blocks at once, and returns how long that took.
fn read_all(it: &mut Scenario) -> Duration {
    read_all_at(it, CLIENT)
}

fn read_all_at(it: &mut Scenario, primary: usize) -> Duration {
    let before = it.cluster.now;
    let parts: Vec<PartId> = (0..BLOCKS).map(|block| it.read(primary, block)).collect();
    it.until("all reads", |it| parts.iter().all(|part| it.ended(*part).is_some()));
    for (block, part) in (0..).zip(&parts) {
        assert_eq!(it.ended(*part), Some(&Ok(Some(vec![100 + block]))), "block {block}");
    }
    it.cluster.now.since(before)
}

#[test]
fn every_policy_reads_what_was_written_and_uses_the_members_it_names() {
    let policies = [
        ReadPolicy::PreferLocal,
        ReadPolicy::PreferRemote,
        ReadPolicy::RoundRobin,
        ReadPolicy::LeastPending,
        ReadPolicy::Striping { blocks: 8 },
        ReadPolicy::Weighted,
    ];
    // One that is no replica, and one that is.
    for primary in [CLIENT, 0] {
        for policy in policies {
            let mut it = match primary {
                CLIENT => with_client(),
                _ => written(Scenario::new(3, 0, primary), primary),
            };
            it.balance_reads(primary, policy);
            read_all_at(&mut it, primary);
            let served = [0, 1, 2].map(|member| it.served(primary, member));
            assert_eq!(served.iter().sum::<u64>(), BLOCKS, "{primary} {policy:?}");
            assert!(is_as_named(policy, primary, served), "{primary} {policy:?} {served:?}");
        }
    }
}

/// Whether the members served as many reads each as the policy says.
fn is_as_named(policy: ReadPolicy, primary: usize, served: [u64; 3]) -> bool {
    let is_alike = |served: &[u64], by: u64| {
        served.iter().max().zip(served.iter().min()).is_some_and(|(most, least)| most - least <= by)
    };
    let has_replica = primary != CLIENT;
    match policy {
        ReadPolicy::PreferLocal if has_replica => served == [BLOCKS, 0, 0],
        ReadPolicy::PreferRemote if has_replica => served[0] == 0 && is_alike(&served[1..], 4),
        // Nothing is known yet that makes one lighter.
        ReadPolicy::PreferLocal | ReadPolicy::PreferRemote | ReadPolicy::Weighted => {
            is_alike(&served, 4)
        }
        ReadPolicy::RoundRobin | ReadPolicy::LeastPending => is_alike(&served, 1),
        ReadPolicy::Striping { .. } => served == [16, 8, 8],
    }
}

/// The member that is late is asked nothing more, and what it says in the end is not taken for the
/// answer to a read that came meanwhile, and has its place.
#[test]
fn a_late_member_is_not_waited_for_and_its_answer_goes_nowhere() {
    let mut it = with_client();
    it.cluster.slow[1] = slow_reads(Duration::from_secs(2));
    let first = read_all(&mut it);
    assert!(first > Duration::from_millis(250) && first < Duration::from_millis(600), "{first:?}");
    // Many reads, before and when what the late member owes comes: it must not pass for theirs.
    it.cluster.slow[1] = SlowDisk::default();
    let end = it.cluster.now + Duration::from_secs(3);
    while it.cluster.now < end {
        let again = read_all(&mut it);
        assert!(again < Duration::from_millis(50), "{again:?}");
    }
    assert!(it.is_in_sync(CLIENT, 1) && it.served(CLIENT, 1) > 100, "it is asked again");
}

/// `allow-remote-read no`: what a client reads comes from the others, or from nobody; writes and
/// resyncs are as ever.
#[test]
fn no_read_goes_to_a_member_that_is_written_to_only() {
    let only = |members: u32| MemberSet(members);
    let mut it = with_client();
    it.cluster.read_nothing_from(CLIENT, only(0b011));
    read_all(&mut it);
    let served: Vec<u64> = (0..3).map(|member| it.served(CLIENT, member)).collect();
    assert_eq!(served, [0, 0, BLOCKS]);
    // The one that is left is late: nobody else is asked.
    it.cluster.slow[2] = slow_reads(Duration::from_secs(1));
    let took = read_all(&mut it);
    assert!(took >= Duration::from_secs(1), "{took:?}");
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.read_nothing_from(CLIENT, only(0b111));
    let refused = it.read(CLIENT, 7);
    it.until("the answer", |it| it.ended(refused).is_some());
    assert!(matches!(it.ended(refused), Some(Err(_))), "{:?}", it.ended(refused));
    it.cluster.kill(1);
    it.must_write(CLIENT, 7, 107);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
    assert_eq!(it.on_disk(1, 7), 107);
    it.cluster.read_nothing_from(CLIENT, only(0));
    read_all(&mut it);
}

#[test]
fn reads_go_on_elsewhere_when_their_member_dies() {
    let mut it = with_client();
    // Killed with reads under way, each of them has to be asked again.
    it.cluster.slow[1] = slow_reads(Duration::from_secs(1));
    let parts: Vec<PartId> = (0..BLOCKS).map(|block| it.read(CLIENT, block)).collect();
    it.run(Duration::from_millis(20));
    assert!(parts.iter().any(|part| it.ended(*part).is_none()), "node 1 keeps some waiting");
    it.cluster.kill(1);
    it.until("all reads", |it| parts.iter().all(|part| it.ended(*part).is_some()));
    for (block, part) in (0..).zip(&parts) {
        assert_eq!(it.ended(*part), Some(&Ok(Some(vec![100 + block]))), "block {block}");
    }
}

/// Nobody writes: only its reads can show that its disk hangs.
#[test]
fn a_member_that_answers_no_read_is_taken_out() {
    let mut it = with_client();
    it.cluster.slow[1] = slow_reads(Duration::from_secs(60));
    read_all(&mut it);
    let before = it.cluster.now;
    it.until("the eviction of node 1", |it| !it.is_in_sync(CLIENT, 1));
    let took = it.cluster.now.since(before);
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(8), "{took:?}");
    read_all(&mut it);
    it.must_write(CLIENT, 0, 100);
}

/// A read of another member's disk while the block is being written returns nothing that is not
/// on all members yet: it is held until the write is.
#[test]
fn a_remote_read_waits_for_writes_that_overtake_it() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.balance_reads(0, ReadPolicy::PreferRemote);
    // The bytes come from a disk that has the write already; the own one does not.
    it.cluster.slow[0] = SlowDisk { write: Duration::from_millis(200), ..SlowDisk::default() };
    it.cluster.slow[1] = slow_reads(Duration::from_millis(20));
    it.cluster.slow[2] = slow_reads(Duration::from_millis(20));
    let read = it.read(0, 7);
    let write = it.write(0, 7, 2);
    it.until("the read", |it| it.ended(read).is_some());
    assert_eq!(it.ended(read), Some(&Ok(Some(vec![2]))));
    assert!(it.ended(write).is_some(), "what was read is on all members");
}

/// Node 1 died while node 3 was becoming Primary, which learns of the last vote when it is back: it
/// is connected then, in the session, and another process.
#[test]
fn what_was_asked_of_a_process_that_is_gone_is_asked_of_another() {
    for save in (10..90).map(|tens| Duration::from_millis(10 * tens)) {
        let mut it = Scenario::new(4, 1, 0);
        it.must_write(0, 0, 100);
        it.cluster.slow[1].write = Duration::from_secs(1);
        for block in 0..BLOCKS {
            it.write(0, block, 200 + block);
        }
        it.run(Duration::from_millis(5));
        it.cluster.kill(0);
        it.cluster.slow[1] = SlowDisk::default();
        let promoted = it.command(CLIENT, Command::Promote(PromoteMode::Normal));
        it.until("a proposal", |it| it.explains(CLIENT, "Accepting"));
        it.cluster.slow[2].save = save;
        it.run(Duration::from_millis(2));
        it.cluster.kill(1);
        it.cluster.start(1);
        it.until("the promotion", |it| it.succeeded(promoted));
        it.cluster.slow[2] = SlowDisk::default();
        let parts: Vec<PartId> = (0..BLOCKS).map(|block| it.read(CLIENT, block)).collect();
        it.until("all reads", |it| parts.iter().all(|part| it.ended(*part).is_some()));
        it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
    }
}

/// A disk that hangs when it reads keeps the writes whose blocks it was asked for. Nobody else
/// reads, and it takes all that is written.
#[test]
fn a_member_that_a_write_of_a_part_waits_for_is_taken_out() {
    let mut it = with_client();
    it.cluster.slow[1] = slow_reads(Duration::from_secs(60));
    let write = |block| it.write_sector(CLIENT, block, 200 + block);
    let parts: Vec<PartId> = (0..BLOCKS).map(write).collect();
    let before = it.cluster.now;
    it.until("all writes", |it| parts.iter().all(|part| it.ended(*part).is_some()));
    assert!(parts.iter().all(|part| it.ended(*part) == Some(&Ok(None))));
    assert!(!it.is_in_sync(CLIENT, 1));
    let took = it.cluster.now.since(before);
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(8), "{took:?}");
    it.cluster.slow[1] = SlowDisk::default();
    it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
    for block in 0..BLOCKS {
        assert_eq!(it.on_disk(1, block), it.on_disk(0, block));
    }
}

/// Blocks whose first sector is written with what all of the block holds already: one that is
/// merged into the bytes of another block shows.
fn write_sectors_again(it: &mut Scenario, node: usize, blocks: Range<u64>) {
    let write = |block| it.write_sector(node, block, 100 + block);
    let parts: Vec<PartId> = blocks.clone().map(write).collect();
    it.until("all writes of sectors", |it| parts.iter().all(|part| it.ended(*part).is_some()));
    assert!(parts.iter().all(|part| it.ended(*part) == Some(&Ok(None))));
    for block in blocks {
        assert_eq!(it.must_read(node, block), 100 + block, "block {block}");
    }
}

/// It is taken out without losing its connection, and returns as the same process into the same
/// session: what its disk answers only then is of writes that are over, and others have their
/// places.
#[test]
fn what_a_member_that_returned_answers_late_is_nobody_elses() {
    let mut it = with_client();
    for block in BLOCKS..2 * BLOCKS {
        it.must_write(CLIENT, block, 100 + block);
    }
    it.cluster.slow[1] = slow_reads(Duration::from_secs(60));
    let late = it.cluster.now + Duration::from_secs(60);
    write_sectors_again(&mut it, CLIENT, 0..BLOCKS);
    assert!(!it.is_in_sync(CLIENT, 1));
    it.cluster.slow[1] = SlowDisk::default();
    it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
    it.cluster.slow[1] = slow_reads(Duration::from_millis(300));
    let left = late.since(it.cluster.now);
    it.run(left - Duration::from_millis(100));
    write_sectors_again(&mut it, CLIENT, BLOCKS..2 * BLOCKS);
    assert!(it.cluster.now > late, "they were under way when the late answers came");
}

/// The same of the Primary's own disk, which nobody has to ask over a connection; and what was
/// asked of it is asked of others once it is out.
#[test]
fn what_the_own_disk_answers_late_is_nobody_elses() {
    let mut it = Scenario::new(3, 0, 0);
    for block in 0..2 * BLOCKS {
        it.must_write(0, block, 100 + block);
    }
    it.cluster.slow[0] = slow_reads(Duration::from_secs(60));
    let before = it.cluster.now;
    let late = before + Duration::from_secs(60);
    write_sectors_again(&mut it, 0, 0..BLOCKS);
    let took = it.cluster.now.since(before);
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(8), "{took:?}");
    assert!(!it.is_in_sync(0, 0));
    it.cluster.slow[0] = SlowDisk::default();
    it.until("the return of the own disk", |it| it.is_in_sync(0, 0));
    it.cluster.slow[0] = slow_reads(Duration::from_millis(300));
    let left = late.since(it.cluster.now);
    it.run(left - Duration::from_millis(100));
    write_sectors_again(&mut it, 0, BLOCKS..2 * BLOCKS);
    assert!(it.cluster.now > late, "they were under way when the late answers came");
}

/// A replica that is copied to is asked what it has already. The answer that comes when another
/// copy is under way says nothing of that one's blocks.
#[test]
fn digests_that_come_late_vouch_for_no_other_blocks() {
    const VOLUME_BLOCKS: u64 = 20_480;
    let mut it = Scenario::new(4, 1, CLIENT);
    // Zeroes everywhere, but in the second half of node 1.
    for block in (VOLUME_BLOCKS / 2..VOLUME_BLOCKS).step_by(8) {
        it.cluster.spoil(1, block, 77);
    }
    it.cluster.slow[1] = slow_reads(Duration::from_secs(60));
    let late = it.cluster.now + Duration::from_secs(60);
    let told = it.command(1, Command::Invalidate);
    it.until("its invalidation", |it| it.succeeded(told));
    it.until("the resync", |it| it.explains(CLIENT, "Comparing"));
    it.until("its end", |it| !it.explains(CLIENT, "Comparing"));
    it.cluster.slow[1] = slow_reads(Duration::from_millis(1500));
    it.run(late.since(it.cluster.now));
    assert!(!it.is_in_sync(CLIENT, 1), "it is copied to when the late answers come");
    it.cluster.slow[1] = SlowDisk::default();
    it.until("the return of node 1", |it| it.is_in_sync(CLIENT, 1));
    for block in 0..VOLUME_BLOCKS {
        assert_eq!(it.on_disk(1, block), 0, "block {block}");
    }
}
