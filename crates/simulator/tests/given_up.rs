//! Copies that operators give up at one moment on several nodes (PROTOCOL.md 9.3): one that is up
//! to date always stays, whoever is Primary, and all of them are up to date again in the end.
//! Budget: 60 s on two cores.

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::{Command, CommandId, PromoteMode};
use replication::limits;
use simulator::scenario::Scenario;

const INVALIDATE: Command = Command::Invalidate;
const DETACH: Command = Command::Detach;
const STOP: Command = Command::Stop;
const FORCE: Command = Command::Promote(PromoteMode::Force);
const VERBS: [Command; 3] = [INVALIDATE, DETACH, STOP];

/// What the last one that is up to date is answered.
const LAST: [&str; 2] =
    ["no other UpToDate replica is connected", "it is the last UpToDate replica in reach"];

/// How much later the second node is told than the first: less than a message takes, as much, and
/// about as much as it takes until one of them leads.
const GAPS: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_micros(150),
    Duration::from_micros(600),
    Duration::from_millis(5),
    Duration::from_millis(299),
    Duration::from_millis(305),
];

/// Who leads while copies are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Led {
    ByNobody,
    /// A replica.
    ByNode0,
    /// The last node, which has none.
    Diskless,
}

const LED: [Led; 3] = [Led::ByNobody, Led::ByNode0, Led::Diskless];

/// So many replicas, and a node without a disk.
fn replicas(count: u8, led: Led) -> Scenario {
    let diskless = usize::from(count);
    let mut it = Scenario::new(count + 1, 1, if led == Led::Diskless { diskless } else { 0 });
    it.must_write(if led == Led::Diskless { diskless } else { 0 }, 7, 1);
    if led == Led::ByNobody {
        it.demote(0);
        it.run(Duration::from_secs(1));
    }
    it
}

fn give(it: &mut Scenario, orders: &[(usize, Command)], gap: Duration) -> Vec<CommandId> {
    let mut ids = Vec::new();
    for (place, &(node, command)) in orders.iter().enumerate() {
        if place > 0 && gap > Duration::ZERO {
            it.run(gap);
        }
        ids.push(it.command(node, command));
    }
    ids
}

fn until_answered(it: &mut Scenario, ids: &[CommandId]) {
    it.until("the answers", |it| ids.iter().all(|&id| it.succeeded(id) || it.failed(id)));
}

/// The replicas that the newest value has in sync, as `node` knows it.
fn in_sync(it: &Scenario, node: usize) -> Vec<NodeId> {
    let config = it.status(node).and_then(|status| status.config);
    let volumes = config.map_or_else(Vec::new, |config| config.volumes);
    volumes.first().map_or_else(Vec::new, |volume| volume.insync_set().iter().collect())
}

/// The replica of `node` is the one that the newest value has in sync, not only in name.
fn holds_what_is_in_sync(it: &Scenario, node: usize) -> bool {
    let config = it.status(node).and_then(|status| status.config);
    let member = NodeId::new(u8::try_from(node).expect("a few")).expect("a small id");
    let known = config.and_then(|it| it.volumes.first()?.insync_member(member).copied());
    it.cluster.has_open_disk(node)
        && known.is_some_and(|known| known.incarnation.0 == it.incarnation(node))
}

/// All nodes that are up show the same of each other, and that is how it is.
fn views_agree(it: &Scenario, nodes: usize) -> bool {
    let is_shown = |by: usize, member: usize| {
        let status = it.status(by)?;
        let known = status.members.iter().find(|known| known.node.index() == member)?;
        Some((known.in_sync, known.has_replica))
    };
    let up = |node: &usize| it.status(*node).is_some();
    (0..nodes).filter(up).all(|by| {
        (0..nodes).filter(up).all(|member| {
            let truth = (holds_what_is_in_sync(it, member), it.cluster.has_open_disk(member));
            is_shown(by, member) == Some(truth)
        })
    })
}

/// What went comes back, all become equal, and what was written is there on each of them.
fn until_whole(it: &mut Scenario, count: u8, led: Led, what: &str) {
    let nodes = usize::from(count);
    it.until("views that agree", |it| views_agree(it, nodes + 1));
    for node in 0..nodes {
        if it.status(node).is_none() {
            it.cluster.start(node);
        } else if !it.cluster.has_open_disk(node) {
            it.attach(node);
        }
    }
    it.until(what, |it| {
        (0..nodes).all(|node| in_sync(it, node).len() == nodes && holds_what_is_in_sync(it, node))
            && views_agree(it, nodes + 1)
    });
    let leader = if led == Led::Diskless { nodes } else { 0 };
    if !it.cluster.is_primary(leader) {
        it.promote(leader);
    }
    assert_eq!(it.must_read(leader, 7), 1, "{what}");
    assert!((0..nodes).all(|node| it.on_disk(node, 7) == 1), "{what}");
}

/// The client of the node that was Primary before is served.
fn is_served(it: &mut Scenario, count: u8, led: Led) {
    let leader = match led {
        Led::ByNobody => return,
        Led::ByNode0 => 0,
        Led::Diskless => usize::from(count),
    };
    assert!(it.cluster.is_primary(leader), "its client was cut off");
    it.must_write(leader, 9, 5);
    assert_eq!(it.must_read(leader, 7), 1);
}

#[test]
fn all_are_invalidated_at_once_and_one_keeps_its_copy() {
    for (count, led, gap) in each_case() {
        let mut it = replicas(count, led);
        let first = if led == Led::ByNode0 { 1 } else { 0 };
        let orders: Vec<_> = (first..usize::from(count)).map(|node| (node, INVALIDATE)).collect();
        let ids = give(&mut it, &orders, gap);
        until_answered(&mut it, &ids);
        is_served(&mut it, count, led);
        let refused: Vec<_> = ids.iter().filter_map(|&id| it.refusal(id)).collect();
        assert!(
            refused.iter().all(|text| *text == LAST[0]),
            "{count} {led:?} {gap:?}: {refused:?}"
        );
        if led != Led::ByNode0 && gap < Duration::from_millis(100) {
            assert_eq!(refused.len(), 1, "{count} {led:?} {gap:?}: one copy stays, and no more");
        }
        until_whole(&mut it, count, led, &format!("{count} {led:?} {gap:?}"));
    }
}

#[test]
fn all_are_detached_at_once_and_one_keeps_its_disk() {
    for (count, led, gap) in each_case() {
        let mut it = replicas(count, led);
        let orders: Vec<_> = (0..usize::from(count)).map(|node| (node, DETACH)).collect();
        let ids = give(&mut it, &orders, gap);
        until_answered(&mut it, &ids);
        is_served(&mut it, count, led);
        let refused: Vec<_> = ids.iter().filter_map(|&id| it.refusal(id)).collect();
        assert_eq!(refused, [LAST[1]], "{count} {led:?} {gap:?}: one disk stays, and no more");
        until_whole(&mut it, count, led, &format!("{count} {led:?} {gap:?}"));
    }
}

fn each_case() -> impl Iterator<Item = (u8, Led, Duration)> {
    let gaps = |count, led| GAPS.into_iter().map(move |gap| (count, led, gap));
    let leads = move |count| LED.into_iter().flat_map(move |led| gaps(count, led));
    [2, 3].into_iter().flat_map(leads)
}

/// Any two verbs, on any two of two or three replicas; of two, one keeps its copy in the end.
#[test]
fn every_pair_of_verbs_at_once_leaves_what_is_up_to_date() {
    for (one, other) in VERBS.iter().flat_map(|one| VERBS.iter().map(move |other| (one, other))) {
        for (count, led, gap) in each_case() {
            for nodes in [[0, 1], [1, 0], [1, usize::from(count) - 1]] {
                let (first, second) = ((nodes[0], *one), (nodes[1], *other));
                if nodes[0] == nodes[1] || led == Led::ByNode0 && serves(first, second) {
                    continue;
                }
                let mut it = replicas(count, led);
                let ids = give(&mut it, &[first, second], gap);
                until_answered(&mut it, &ids);
                for (id, (node, command)) in ids.into_iter().zip([first, second]) {
                    if command == STOP && it.succeeded(id) {
                        it.cluster.kill(node);
                    }
                    if let Some(text) = it.refusal(id) {
                        assert!(LAST.contains(&text), "{first:?} {second:?}: {text}");
                    }
                }
                let what = format!("{first:?} {second:?} {led:?} {gap:?} of {count}");
                until_whole(&mut it, count, led, &what);
            }
        }
    }
}

/// Who is Primary is not stopped, nor is its copy invalidated.
fn serves(first: (usize, Command), second: (usize, Command)) -> bool {
    [first, second].iter().any(|&(node, command)| node == 0 && command != DETACH)
}

/// A copy that is made the truth by force while others are given up.
#[test]
fn one_is_forced_while_the_others_are_given_up() {
    for given in [INVALIDATE, DETACH] {
        for gap in GAPS {
            for nodes in [[0, 1, 2], [1, 0, 2], [1, 2, 0]] {
                for forced in 0..3 {
                    let mut it = replicas(3, Led::ByNobody);
                    let order =
                        |place: usize| (nodes[place], if place == forced { FORCE } else { given });
                    let ids = give(&mut it, &[order(0), order(1), order(2)], gap);
                    until_answered(&mut it, &ids);
                    let what = format!("{given:?} on {nodes:?} but for {forced}, {gap:?}");
                    until_whole_of_forced(&mut it, nodes[forced], &what);
                }
            }
        }
    }
}

fn until_whole_of_forced(it: &mut Scenario, forced: usize, what: &str) {
    if it.cluster.is_primary(forced) {
        assert_eq!(it.must_read(forced, 7), 1, "{what}");
        it.demote(forced);
    }
    until_whole(it, 3, Led::ByNobody, what);
}

/// Its operator is answered in time, and it keeps what it has: others may have gone, too.
#[test]
fn who_is_cut_off_from_a_majority_gives_nothing_up() {
    for verb in [INVALIDATE, DETACH] {
        let mut it = replicas(5, Led::ByNobody);
        it.part(&[0, 1, 2, 5], &[3, 4]);
        let began = it.cluster.now;
        let ids = give(&mut it, &[(3, verb)], Duration::ZERO);
        until_answered(&mut it, &ids);
        let took = it.cluster.now.since(began);
        assert!(it.refusal(ids[0]).is_some_and(|text| text.contains("majority")), "{verb:?}");
        let most = limits::GIVE_UP_DEADLINE + Duration::from_millis(200);
        assert!(took >= limits::GIVE_UP_DEADLINE && took < most, "{verb:?}: {took:?}");
        assert!(it.cluster.has_open_disk(3) && it.on_disk(3, 7) == 1, "it stays as it is");
        let before = it.incarnation(3);
        it.meet(&[0, 1, 2, 5], &[3, 4]);
        until_whole(&mut it, 5, Led::ByNobody, "all of five");
        it.run(limits::GIVE_UP_DEADLINE * 2);
        assert_eq!(it.incarnation(3), before, "nothing is left of the word that was refused");
        assert!((0..5).all(|node| in_sync(&it, node).len() == 5));
    }
}

/// It has a connection to another one that is up to date, and hears of nothing newer.
#[test]
fn who_is_cut_off_from_the_primary_does_not_take_the_last_copy() {
    for verb in [INVALIDATE, DETACH] {
        for gap in GAPS {
            let mut it = replicas(2, Led::Diskless);
            it.part(&[2], &[0]);
            let ids = give(&mut it, &[(1, verb), (0, verb)], gap);
            until_answered(&mut it, &ids);
            assert!(ids.iter().any(|&id| it.failed(id)), "{verb:?} {gap:?}");
            it.meet(&[2], &[0]);
            it.run(Duration::from_secs(2));
            until_whole(&mut it, 2, Led::Diskless, &format!("{verb:?} {gap:?}"));
        }
    }
}

/// Whoever dies in the middle of it, the copies that stay are enough.
#[test]
fn a_crash_while_copies_are_given_up_is_survived() {
    for verb in [INVALIDATE, DETACH] {
        for victim in 0..3 {
            for millis in [0, 1, 2, 5, 299, 300, 301, 302, 303, 305, 310] {
                let mut it = replicas(3, Led::ByNobody);
                for node in 0..3 {
                    it.command(node, verb);
                }
                it.run(Duration::from_millis(millis));
                it.cluster.kill(victim);
                it.run(limits::GIVE_UP_DEADLINE * 2);
                it.cluster.start(victim);
                let what = format!("{verb:?}, node {victim} dies after {millis} ms");
                until_whole(&mut it, 3, Led::ByNobody, &what);
            }
        }
    }
}

/// It was admitted, and is about to join: whoever counts on it finds it as it was.
#[test]
fn one_that_is_about_to_join_is_not_given_up_before_that_is_settled() {
    for verb in [INVALIDATE, DETACH] {
        for micros in [0, 100, 300, 1_000, 3_000] {
            let mut it = replicas(2, Led::Diskless);
            it.cluster.kill(1);
            it.until("the loss of node 1", |it| !it.is_in_sync(2, 1));
            it.must_write(2, 11, 3);
            it.cluster.start(1);
            it.until("its candidacy", |it| it.is_about_to_join(1));
            it.run(Duration::from_micros(micros));
            let ids = give(&mut it, &[(1, verb), (0, verb)], Duration::ZERO);
            until_answered(&mut it, &ids);
            assert!(ids.iter().any(|&id| it.failed(id)), "{verb:?} {micros}");
            is_served(&mut it, 2, Led::Diskless);
            until_whole(&mut it, 2, Led::Diskless, &format!("{verb:?} {micros}"));
        }
    }
}

/// The vote of its node is needed, and waits for the disk: detaching is what an operator can do.
#[test]
fn a_disk_that_stands_still_can_be_detached() {
    let mut it = Scenario::new(2, 0, 0);
    it.must_write(0, 7, 1);
    it.demote(0);
    it.run(Duration::from_secs(1));
    it.cluster.slow[1].save = limits::GIVE_UP_DEADLINE * 2;
    let began = it.cluster.now;
    let detached = it.command(1, DETACH);
    it.until("the answer", |it| it.succeeded(detached) || it.failed(detached));
    assert_eq!(it.refusal(detached), None);
    assert!(it.cluster.now.since(began) < limits::GIVE_UP_DEADLINE + Duration::from_millis(200));
    it.until("the end of the disk", |it| !it.cluster.has_open_disk(1));
    // The register is elsewhere.
    it.cluster.slow[1].save = Duration::ZERO;
    it.promote(0);
    assert!(!it.is_in_sync(0, 1));
    assert_eq!(it.must_read(0, 7), 1);
}
