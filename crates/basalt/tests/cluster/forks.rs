//! `quorum off`: two nodes that lose each other both go on, and one gives way.

use std::fs;

use api::connection_state::ConnectionState;
use api::role::Role;

use crate::BLOCK;
use crate::harness::{Cluster, with_sections};

/// Two nodes without a quorum to keep, the first of them Primary.
fn without_quorum() -> Cluster {
    without_quorum_and_with("")
}

fn without_quorum_and_with(net: &str) -> Cluster {
    let sections = format!("options {{ quorum off; }} net {{ {net} }}");
    Cluster::plan(2).sections(&sections).start_in_sync()
}

#[test]
fn the_survivor_of_two_goes_on_and_copies_what_the_other_one_missed() {
    let mut cluster = without_quorum();
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.kill(1);
    client.write(0, &[2; BLOCK]).unwrap();
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [2; BLOCK]);
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    client.write(8192, &[3; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn a_split_brain_is_shown_and_ends_when_one_side_gives_its_data_up() {
    let cluster = without_quorum();
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for block in 0..64 {
        client.write(block * 4096, &[1; BLOCK]).unwrap();
    }
    cluster.adm_ok(0, &["disconnect", "r0"]);
    client.write(0, &[2; BLOCK]).unwrap();
    let mut other = cluster.client(1);
    let mut block = [0; BLOCK];
    other.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK], "what both had when they parted");
    other.write(0, &[3; BLOCK]).unwrap();
    other.write(1 << 20, &[4; BLOCK]).unwrap();
    other.close().unwrap();

    cluster.adm_ok(0, &["connect", "r0"]);
    for index in 0..2 {
        cluster.wait(index, "split brain", |status| {
            let [connection] = &status.connections[..] else { return false };
            let says = connection.reason.as_ref().is_some_and(|it| it.contains("discard-my-data"));
            connection.connection_state == ConnectionState::StandAlone
                && connection.split_brain
                && says
        });
    }
    let vain = cluster.adm_refused(0, &["wait-connect", "r0"]);
    assert!(vain.contains("connect --discard-my-data r0"), "{vain}");
    for verb in ["connect", "adjust", "up"] {
        let warned = cluster.adm_warned(0, &[verb, "r0"]);
        assert!(warned.contains("split brain"), "{verb}: {warned}");
    }
    let refused = cluster.adm_refused(0, &["connect", "--discard-my-data", "r0"]);
    assert!(refused.contains("is Primary"), "{refused}");
    // To try again never helped.
    assert!(refused.contains("`basalt adm secondary r0`"), "{refused}");
    let explained = cluster.adm_told(0, &["explain", "r0"]);
    assert!(explained.contains("acknowledged on this side is on n0;"), "{explained}");
    assert!(explained.contains("it goes on by its own vote alone"), "{explained}");
    assert!(!explained.contains("is copied when it comes back"), "{explained}");
    assert!(explained.contains("nothing is copied between this node and n1"), "{explained}");
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [2; BLOCK], "the Primary goes on");

    cluster.wait(1, "end of its session", |status| status.role == Role::Secondary);
    // A restart that is not about the connection: what keeps them apart is no operator's word.
    let text = fs::read_to_string(cluster.config()).unwrap();
    cluster.configure(&with_sections(&text, "disk { al-extents 127; }"));
    cluster.adm_ok(1, &["disk-options", "r0"]);
    cluster.wait(1, "split brain", |status| status.connections[0].split_brain);
    cluster.adm_ok(1, &["connect", "--discard-my-data", "r0"]);
    cluster.wait_up_to_date(0);
    cluster.wait_up_to_date(1);
    let received_kib = cluster.status(1).unwrap().connections[0].peer_devices[0].received;
    assert!(received_kib < 8192, "{received_kib} KiB came: all of it");
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(1, size)[..BLOCK], [2; BLOCK]);
    assert_eq!(cluster.data(1, size)[1 << 20..][..BLOCK], [0; BLOCK]);
    assert_clients_are_told(&cluster);
}

/// One of the other line might connect again, and find what it wrote gone.
fn assert_clients_are_told(cluster: &Cluster) {
    // n0 has nothing lost, and the clients of n1 must not go on.
    let sides = [
        "what clients wrote on n1 meanwhile is given up, and what they wrote on this node is here",
        "what clients wrote on this node meanwhile is given up, and what they wrote on n0 is here",
    ];
    for (index, side) in sides.into_iter().enumerate() {
        let refusal = cluster.connect(index).expect_err("it is let in").to_string();
        assert!(refusal.contains("adm reopen r0") && refusal.contains(side), "{refusal}");
        // That it is on this side is false for what this side gave up.
        let explained = cluster.adm_told(index, &["explain", "r0"]);
        assert!(explained.contains(side), "{explained}");
        assert!(!explained.contains("acknowledged on this side"), "{explained}");
        assert!(explained.contains("told lost or given up below"), "{explained}");
    }
    cluster.adm_ok(0, &["reopen", "r0"]);
    cluster.client(0).close().unwrap();
}

#[test]
fn after_a_split_brain_the_options_make_the_secondary_give_way() {
    give_way(When::Before);
}

/// They took a restart, for which the Primary had to have no client.
#[test]
fn options_that_come_after_a_split_brain_make_the_secondary_give_way() {
    give_way(When::After);
}

/// When the options come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    After,
}

fn give_way(options: When) {
    const NET: &str = "after-sb-1pri discard-secondary;";
    let cluster = without_quorum_and_with(if options == When::Before { NET } else { "" });
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.adm_ok(0, &["disconnect", "r0"]);
    client.write(0, &[2; BLOCK]).unwrap();
    let mut other = cluster.client(1);
    other.write(1 << 20, &[4; BLOCK]).unwrap();
    other.close().unwrap();
    cluster.wait(1, "end of its session", |status| status.role == Role::Secondary);

    cluster.adm_ok(0, &["connect", "r0"]);
    if options == When::After {
        cluster.wait(1, "split brain", |status| status.connections[0].split_brain);
        let text = fs::read_to_string(cluster.config()).unwrap();
        let changed = text.replace("net {  }", &format!("net {{ {NET} }}"));
        assert_ne!(changed, text);
        cluster.configure(&changed);
        cluster.adjust();
    }
    cluster.wait_up_to_date(0);
    cluster.wait_up_to_date(1);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(1, size)[..BLOCK], [2; BLOCK]);
    assert_eq!(cluster.data(1, size)[1 << 20..][..BLOCK], [0; BLOCK]);
    assert_clients_are_told(&cluster);
}
