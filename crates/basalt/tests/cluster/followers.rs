//! Protocol A between real processes: what waits for nobody, who takes over, and what is said of
//! it.

use std::process::Command;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use frontend::nbd::client::Connection;
use io::now;

use crate::BLOCK;
use crate::frozen::Place;
use crate::harness::{Cluster, pattern};
use crate::protocols::letters;

/// Gives all nodes that run a configuration with protocol A between the first and the last one.
fn follow(cluster: &Cluster) {
    cluster.adjust_to("net { protocol A; }");
}

/// A follower that stands still keeps nobody waiting, for as long as the bound holds.
#[test]
fn nobody_waits_for_a_follower_and_both_ends_say_so() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &pattern(0, 1)).unwrap();
    follow(&cluster);
    cluster.wait(0, "protocol A", |status| letters(status) == [Some("A"), Some("A")]);
    cluster.wait(2, "protocol A at its end", |status| letters(status) == [Some("A"), None]);
    let shown = cluster.adm_told(0, &["status", "r0"]);
    assert!(shown.contains("n1 role:Secondary protocol:A"), "{shown}");
    let mut show = Command::new(env!("CARGO_BIN_EXE_basalt"));
    show.args(["setup", "--node-socket"]).arg(cluster.state_dir(0).join("admin.sock"));
    let show = String::from_utf8(show.args(["show", "r0"]).output().unwrap().stdout).unwrap();
    assert!(show.contains("protocol") && show.contains("A;"), "{show}");
    for index in 0..200 {
        client.write(index % 50 * 4096, &pattern(index, 2)).unwrap();
    }
    client.flush().unwrap();
    client.write_durably(0, &pattern(0, 3)).unwrap();
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// Each write is asked for when the one before was answered, in a lane of its own: whatever the
/// follower has, it has all that came before.
#[test]
fn a_follower_alone_takes_over_by_force_with_what_came_first() {
    let mut cluster = Cluster::start_in_sync(3, 1);
    let mut client = cluster.client(0);
    follow(&cluster);
    cluster.wait(0, "protocol A", |status| letters(status)[0] == Some("A"));
    let size = client.export().size_bytes;
    let count = 400;
    let place = move |index: u64| index * (size / 4096 / count) * 4096;
    for index in 0..count {
        client.write(place(index), &pattern(index, 1)).unwrap();
    }
    cluster.kill(0);
    drop(client);
    let said = cluster.adm_refused(1, &["primary", "r0"]);
    assert!(said.contains("protocol A") && said.contains("--force"), "{said}");
    cluster.adm_ok(1, &["primary", "--force", "r0"]);
    assert_eq!(cluster.status(1).unwrap().epoch.unwrap().losses, 1);
    cluster.adm_ok(1, &["reopen", "r0"]);
    let mut client = cluster.client(1);
    let mut bytes = [0; BLOCK];
    let mut is_there = Vec::new();
    for index in 0..count {
        client.read(place(index), &mut bytes).unwrap();
        is_there.push(bytes == pattern(index, 1));
    }
    assert!(is_there.is_sorted_by(|before, after| before >= after), "{is_there:?}");
    client.write(0, &pattern(0, 2)).unwrap();
    client.close().unwrap();
    cluster.launch(0);
    cluster.wait_up_to_date(1);
    cluster.assert_replicas_equal(size);
}

/// What `index` says of replication to the other end of its connection at this place.
fn replication(status: &ResourceStatus, connection: usize) -> ReplicationState {
    status.connections[connection].peer_devices[0].replication_state
}

/// The connection between the first and the last node has this policy.
fn congest(cluster: &Cluster, then: &str) {
    let net = format!("net {{ protocol A; on-congestion {then}; congestion-fill 1M; }}");
    let connections = format!(
        "connection-mesh {{ hosts n0 n1; }} connection {{ host n1; host n2; }}\n  \
         connection {{ host n0; host n2; {net} }}"
    );
    let text = cluster.config_text("r0");
    assert!(text.contains("connection-mesh { hosts n0 n1 n2; }"));
    let text = text.replace("connection-mesh { hosts n0 n1 n2; }", &connections);
    cluster.configure(&text);
}

/// More than the limit, without a wait for who stands still.
fn write_ahead(client: &mut Connection, round: u8) {
    let before = now();
    for index in 0..400 {
        let place = (u64::from(round) * 400 + index) * 4096;
        client.write(place, &pattern(index, round)).unwrap();
    }
    assert!(now().since(before).as_secs() < 4, "writes waited for the follower");
}

/// The disk of the follower stands still, and is thawed later.
#[test]
fn a_follower_that_stands_still_falls_behind_and_returns() {
    let mut cluster = Cluster::prepare(3, 0);
    let Some(mut place) = Place::of_disk(&cluster, 2) else { return };
    congest(&cluster, "pull-ahead");
    cluster.begin();
    cluster.make_in_sync();
    cluster.wait(0, "the follower", |status| letters(status) == [None, Some("A")]);
    let mut client = cluster.client(0);
    client.write(0, &pattern(0, 1)).unwrap();

    place.freeze();
    write_ahead(&mut client, 2);
    cluster.wait(0, "Ahead", |status| {
        let follower = &status.connections[1];
        let is_connected = follower.connection_state == ConnectionState::Connected;
        replication(status, 1) == ReplicationState::Ahead && is_connected && follower.congested
    });
    cluster.wait(2, "Behind", |status| {
        replication(status, 0) == ReplicationState::Behind
            && status.devices[0].disk_state == DiskState::Outdated
    });
    let shown = cluster.adm_told(0, &["status", "--verbose", "r0"]);
    assert!(shown.contains("replication:Ahead") && shown.contains("congested:yes"), "{shown}");
    let shown = cluster.adm_told(2, &["events2", "--now", "r0"]);
    assert!(shown.contains("replication:Behind"), "{shown}");
    let shown = cluster.adm_told(0, &["status", "--json", "r0"]);
    assert!(shown.contains("\"replication-state\": \"Ahead\""), "{shown}");
    write_ahead(&mut client, 3);
    place.thaw();
    cluster.wait_up_to_date(0);
    cluster.wait(2, "its return", |status| replication(status, 0) == ReplicationState::Established);

    congest(&cluster, "disconnect");
    cluster.adm_ok(0, &["adjust", "r0"]);
    cluster.wait(0, "the follower", |status| letters(status)[1] == Some("A"));
    place.freeze();
    write_ahead(&mut client, 4);
    cluster.wait(0, "the end of the connection", |status| {
        let follower = &status.connections[1];
        let reason = follower.reason.as_deref().unwrap_or_default();
        follower.connection_state == ConnectionState::StandAlone && reason.contains("congested")
    });
    place.thaw();
    cluster.adm_ok(0, &["connect", "r0"]);
    cluster.wait_up_to_date(0);
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}
