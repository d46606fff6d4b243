//! Requests that are held back: for too few replicas or voters, and at an operator's word.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use api::status::ResourceStatus;
use frontend::nbd::client::Connection;

use crate::BLOCK;
use crate::harness::Cluster;

/// Gives all nodes that run a configuration with these options; what the first one was told.
fn adjust(cluster: &Cluster, nodes: &[usize], options: &str) -> String {
    cluster.configure(&cluster.config_with(&format!("options {{ {options} }}")));
    let said = nodes.iter().map(|&node| cluster.adm_warned(node, &["adjust", "r0"]));
    said.collect::<Vec<_>>().swap_remove(0)
}

/// A write that may have to wait.
fn write(mut client: Connection, offset: u64) -> JoinHandle<(Connection, bool)> {
    thread::spawn(move || {
        let is_done = client.write(offset, &[9; BLOCK]).is_ok();
        (client, is_done)
    })
}

fn rest() {
    thread::park_timeout(Duration::from_secs(1));
}

fn has_reason(status: &ResourceStatus, text: &str) -> bool {
    status.reasons.iter().any(|reason| reason.contains(text))
}

#[test]
fn a_write_waits_for_as_many_replicas_as_are_asked_for() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[7; BLOCK]).unwrap();
    // Under the client.
    adjust(&cluster, &[0, 1, 2], "quorum-minimum-redundancy 2;");
    cluster.adm_ok(2, &["down", "r0"]);
    client.write(4096, &[8; BLOCK]).unwrap();
    cluster.terminate(1);
    let status = cluster.status(0).unwrap();
    assert!(status.suspended_quorum && !status.devices[0].quorum);
    assert!(has_reason(&status, "no quorum: 1 replica in reach is up to date"), "{status:?}");
    let explained = cluster.adm_told(0, &["explain", "r0"]);
    assert!(explained.contains("`quorum-minimum-redundancy` asks for 2"), "{explained}");
    let waiting = write(client, 8192);
    rest();
    assert!(!waiting.is_finished());
    cluster.launch(1);
    let (mut client, is_done) = waiting.join().unwrap();
    assert!(is_done);
    let status = cluster.status(0).unwrap();
    assert!(!status.suspended && status.devices[0].quorum);

    // And all voters, of which the first that left is none.
    adjust(&cluster, &[0, 1], "quorum all;");
    cluster.wait(0, "the second node's vote", |status| {
        status.quorum_votes.as_ref().is_some_and(|votes| votes.voters.len() == 2)
    });
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.kill(1);
    cluster.wait(0, "its loss", |status| !status.devices[0].quorum);
    let waiting = write(client, 8192);
    rest();
    assert!(!waiting.is_finished());
    // What waits is let go when it is to fail, and nothing is said to be held back then.
    adjust(&cluster, &[0], "quorum all; on-no-quorum io-error;");
    let (_, is_done) = waiting.join().unwrap();
    assert!(!is_done);
    let status = cluster.status(0).unwrap();
    assert!(!status.suspended && !status.suspended_quorum && status.fails_requests, "{status:?}");
    let explained = cluster.adm_told(0, &["explain", "r0"]);
    assert!(explained.contains("requests of clients fail until there is a quorum"), "{explained}");
    assert!(!explained.contains("held"), "{explained}");
}

/// Nothing said that an option holds its requests still, nor which.
#[test]
fn a_primary_that_is_forced_says_which_option_holds_its_requests() {
    for (option, less) in [
        ("quorum 2", "quorum majority"),
        ("quorum-minimum-redundancy 2", "quorum-minimum-redundancy 1"),
    ] {
        let mut cluster = Cluster::start_in_sync(3, 0);
        adjust(&cluster, &[0, 1, 2], &format!("{option};"));
        let client = cluster.client(0);
        cluster.kill(1);
        cluster.kill(2);
        cluster.wait(0, "the loss of both", |status| status.suspended_quorum);
        let waiting = write(client, 0);
        let said = cluster.adm_warned(0, &["primary", "--force", "r0"]);
        let name = option.split(' ').next().unwrap();
        let told = format!("to go on with fewer: `{name} ");
        assert!(said.contains(&told), "{said}");
        rest();
        assert!(!waiting.is_finished());
        let status = cluster.status(0).unwrap();
        assert!(status.suspended_quorum && has_reason(&status, &told), "{status:?}");
        let explained = cluster.adm_told(0, &["explain", "r0"]);
        assert!(explained.contains(&told), "{explained}");
        assert!(!explained.contains("to go on, bring"), "{explained}");
        // As it says.
        assert!(explained.contains(&format!("`{less}`")), "{explained}");
        adjust(&cluster, &[0], &format!("{less};"));
        assert!(waiting.join().unwrap().1);
    }
}

#[test]
fn a_quorum_below_the_majority_is_accepted_aloud_and_is_the_majority() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let said = adjust(&cluster, &[0, 1, 2], "quorum 1;");
    assert!(said.contains("below the majority of 3 voters: 2 are needed"), "{said}");
    let client = cluster.client(0);
    cluster.kill(1);
    cluster.kill(2);
    cluster.wait(0, "the loss of both", |status| status.suspended_quorum);
    let waiting = write(client, 0);
    rest();
    assert!(!waiting.is_finished());
    let said = "r0: no quorum: 1 of 3 voters answer, 2 are needed (missing: n1, n2): requests wait";
    cluster.wait_for_log(0, said);
    cluster.launch(1);
    assert!(waiting.join().unwrap().1);
    cluster.wait_for_log(0, "r0: there is a quorum again");
}

#[test]
fn an_operator_suspends_and_resumes() {
    let cluster = Cluster::start_in_sync(3, 0);
    let client = cluster.client(0);
    cluster.adm_ok(0, &["suspend-io", "r0"]);
    let status = cluster.status(0).unwrap();
    assert!(status.suspended_user && status.suspended && status.devices[0].quorum);
    assert!(has_reason(&status, "`basalt adm resume-io r0` ends that"));
    let shown = cluster.adm_told(0, &["status", "r0"]);
    assert!(shown.contains("suspended:user"), "{shown}");
    let events = cluster.adm_told(0, &["events2", "--now", "r0"]);
    assert!(events.contains("suspended:user"), "{events}");
    let waiting = write(client, 0);
    rest();
    assert!(!waiting.is_finished());
    // Once more is no change.
    cluster.adm_ok(0, &["suspend-io", "r0"]);
    cluster.adm_ok(0, &["resume-io", "r0"]);
    let (mut client, is_done) = waiting.join().unwrap();
    assert!(is_done);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [9; BLOCK]);
    assert!(!cluster.status(0).unwrap().suspended);
}
