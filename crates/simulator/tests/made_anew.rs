//! A replica that is made anew while a value has its former one in sync: it has nothing of that,
//! and no node takes it for what is meant, whether somebody leads or not.

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::Command;
use replication::limits;
use simulator::cluster::Replaced;
use simulator::scenario::Scenario;

const SOON: Duration = Duration::from_millis(100);

/// What `by` shows of the replica of `member`: that there is one, and that it is up to date.
fn shown(it: &Scenario, by: usize, member: usize) -> Option<(bool, bool)> {
    let status = it.status(by)?;
    let known = status.members.iter().find(|known| known.node.index() == member)?;
    Some((known.has_replica, known.in_sync && !known.is_made_anew))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Led {
    ByNode0,
    ByNobody,
}

/// Node 1 dies, its disk is formatted, and it is back before anybody decided without it.
fn made_anew(nodes: u8, clients: u8, led: Led) -> Scenario {
    let mut it = Scenario::new(nodes, clients, 0);
    it.must_write(0, 7, 1);
    if led == Led::ByNobody {
        it.demote(0);
        it.run(Duration::from_secs(1));
    }
    it.cluster.kill(1);
    it.cluster.replace(1, Replaced::Disk);
    it.cluster.start(1);
    it
}

#[test]
fn a_replica_that_is_made_anew_is_shown_as_that_at_once() {
    for (nodes, clients) in [(2, 0), (3, 0), (3, 1), (5, 0)] {
        for led in [Led::ByNobody, Led::ByNode0] {
            let mut it = made_anew(nodes, clients, led);
            it.run(SOON);
            for by in (0..usize::from(nodes)).filter(|&by| by != 1) {
                let what = format!("{nodes} nodes, {clients} without a disk, led {led:?}");
                let seen = shown(&it, by, 1);
                let is_whole = it.on_disk(1, 7) == 1;
                assert!(seen == Some((true, false)) || is_whole, "node {by}: {seen:?}, {what}");
            }
            it.until("a copy", |it| shown(it, 0, 1) == Some((true, true)));
            it.until("the end of the copy", |it| it.on_disk(1, 7) == 1);
        }
    }
}

/// It was the only other one, and counted as one that is up to date.
#[test]
fn the_last_copy_is_not_given_up_for_one_that_was_made_anew() {
    for verb in [Command::Invalidate, Command::Detach] {
        let mut it = made_anew(3, 1, Led::ByNobody);
        it.run(SOON);
        assert!(it.is_in_sync(0, 1), "nobody decided without it yet");
        let began = it.cluster.now;
        let id = it.command(0, verb);
        it.until("the answer", |it| it.failed(id) || it.succeeded(id));
        let refusal = it.refusal(id).expect("the last copy is not given up");
        assert!(refusal.contains("UpToDate replica"), "{refusal}");
        let took = it.cluster.now.since(began);
        assert!(took < limits::GIVE_UP_DEADLINE / 2, "the answer took {took:?}");
        it.until("the copy", |it| shown(it, 0, 1) == Some((true, true)));
        let member = NodeId::new(1).expect("a small id");
        assert!(it.status(1).is_some_and(|it| it.members.iter().any(|it| it.node == member)));
        assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (1, 1));
    }
}
