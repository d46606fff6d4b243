//! The times of a `net` section: how long a peer that says nothing is waited for.

use std::process::Command;
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;

use crate::harness::Cluster;

pub(crate) fn signal(cluster: &Cluster, index: usize, word: &str) {
    let id = cluster.nodes[index].daemon.as_ref().unwrap().id().to_string();
    assert!(Command::new("kill").args([word, &id]).status().unwrap().success());
}

fn adjust(cluster: &Cluster, options: &str) {
    cluster.adjust_to(&format!("net {{ {options} }}"));
}

fn epoch(cluster: &Cluster) -> u64 {
    cluster.status(0).unwrap().epoch.unwrap().epoch
}

/// Longer than Basalt itself waits, and shorter than the file says.
#[test]
fn a_node_that_stands_still_is_waited_for_as_the_file_says() {
    let cluster = Cluster::start_in_sync(3, 0);
    let _client = cluster.client(0);
    adjust(&cluster, "ping-int 8; ping-timeout 20; connect-int 2;");
    let before = epoch(&cluster);
    signal(&cluster, 1, "-STOP");
    thread::park_timeout(Duration::from_secs(3));
    let connections = cluster.status(0).unwrap().connections;
    signal(&cluster, 1, "-CONT");
    assert_eq!(connections[0].connection_state, ConnectionState::Connected);
    cluster.wait_up_to_date(0);
    assert_eq!(epoch(&cluster), before, "nobody was lost");

    adjust(&cluster, "ping-timeout 10;");
    signal(&cluster, 1, "-STOP");
    cluster.wait(0, "loss of the node", |status| {
        status.connections[0].connection_state != ConnectionState::Connected
    });
    signal(&cluster, 1, "-CONT");
    cluster.wait_up_to_date(0);
}
