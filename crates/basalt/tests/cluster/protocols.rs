//! Protocol B between real processes: what is answered, who dies, and what is said of it.

use std::process::Command;
use std::thread;

use api::connection_state::ConnectionState;
use api::status::ResourceStatus;

use crate::BLOCK;
use crate::harness::{Cluster, pattern};

/// Gives all nodes that run a configuration with this protocol.
fn adjust(cluster: &Cluster, protocol: &str) {
    cluster.adjust_to(&format!("net {{ protocol {protocol}; }}"));
}

pub(crate) fn letters(status: &ResourceStatus) -> Vec<Option<&str>> {
    status.connections.iter().map(|connection| connection.protocol.as_deref()).collect()
}

fn losses(cluster: &Cluster, index: usize) -> u32 {
    cluster.status(index).unwrap().epoch.unwrap().losses
}

/// The Primary's configuration decides, under its clients; both ends say what is in effect.
#[test]
fn the_protocol_changes_under_a_client_and_is_told() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &pattern(0, 1)).unwrap();
    assert_eq!(letters(&cluster.status(0).unwrap()), [None, None]);
    adjust(&cluster, "B");
    cluster.wait(0, "protocol B", |status| letters(status) == [Some("B"), Some("B")]);
    cluster.wait(2, "protocol B at its end", |status| letters(status) == [Some("B"), None]);
    let shown = cluster.adm_told(0, &["status", "r0"]);
    assert!(shown.contains("n1 role:Secondary protocol:B"), "{shown}");
    let dumped = cluster.adm_told(0, &["dump", "r0"]);
    assert!(dumped.contains("protocol") && dumped.contains("B;"), "{dumped}");
    let mut show = Command::new(env!("CARGO_BIN_EXE_basalt"));
    show.args(["setup", "--node-socket"]).arg(cluster.state_dir(0).join("admin.sock"));
    let show = show.args(["show", "r0"]).output().unwrap();
    let show = String::from_utf8(show.stdout).unwrap();
    assert!(show.contains("protocol") && show.contains("B;"), "{show}");
    for index in 0..200 {
        client.write(index % 50 * 4096, &pattern(index, 2)).unwrap();
    }
    client.flush().unwrap();
    client.write_durably(0, &pattern(0, 3)).unwrap();
    adjust(&cluster, "C");
    cluster.wait(0, "protocol C", |status| letters(status) == [None, None]);
    client.write(4096, &pattern(1, 4)).unwrap();
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// Secondaries and the Primary are killed while a client writes; at any time a member is left that
/// stayed up.
#[test]
fn no_answered_write_is_lost_while_a_member_stays_up() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    adjust(&cluster, "B");
    let mut client = cluster.client(0);
    cluster.wait(0, "protocol B", |status| letters(status) == [Some("B"), Some("B")]);
    let size = client.export().size_bytes;
    let block = move |round: u64, index: u64| (round * 7 + index * 37) % (size / 4096) * 4096;
    for index in 0..300 {
        match index {
            60 => cluster.kill(1),
            140 => cluster.launch(1),
            _ => {}
        }
        client.write(block(0, index), &pattern(index, 1)).unwrap();
    }
    cluster.wait_up_to_date(0);
    // A writer that never rests, and loses its node.
    let (sender, receiver) = std::sync::mpsc::channel();
    let writer = thread::spawn(move || {
        let mut written = 0;
        while client.write(block(1, written), &pattern(written, 2)).is_ok() {
            written += 1;
            sender.send(written).ok();
        }
        written
    });
    let so_far = || receiver.try_iter().last().unwrap_or(0);
    cluster.poll(0, "300 writes", || (so_far() >= 300).then_some(()));
    cluster.kill(0);
    let written = writer.join().unwrap();
    let mut client = cluster.client(1);
    assert_eq!(losses(&cluster, 1), 0, "both that are left stayed up");
    let mut bytes = [0; BLOCK];
    for index in written.saturating_sub(size / 4096)..written {
        client.read(block(1, index), &mut bytes).unwrap();
        assert_eq!(bytes, pattern(index, 2), "write {index} of {written} was answered");
    }
    cluster.launch(0);
    cluster.wait_up_to_date(1);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// The only one in reach may have had in memory what a client was told is done.
#[test]
fn a_takeover_by_a_restarted_member_alone_says_that_writes_may_be_lost() {
    let mut cluster = Cluster::start_in_sync(3, 1);
    adjust(&cluster, "B");
    let mut client = cluster.client(0);
    cluster.wait(0, "protocol B", |status| letters(status)[0] == Some("B"));
    for index in 0..50 {
        client.write(index * 4096, &pattern(index, 1)).unwrap();
    }
    client.flush().unwrap();
    client.write(0, &pattern(0, 2)).unwrap();
    cluster.kill(0);
    cluster.kill(1);
    cluster.launch(1);
    cluster.wait(1, "the witness", |status| {
        status.connections[1].connection_state == ConnectionState::Connected
    });
    cluster.poll(1, "refusal that says why", || {
        let refusal = cluster.connect(1).err()?.to_string();
        refusal.contains("`basalt adm reopen r0`").then_some(())
    });
    cluster.adm_ok(1, &["reopen", "r0"]);
    let mut client = cluster.client(1);
    assert_eq!(losses(&cluster, 1), 1);
    let shown = cluster.adm_told(1, &["explain", "r0"]);
    assert!(shown.contains("once"), "{shown}");
    let mut bytes = [0; BLOCK];
    for index in 1..50 {
        client.read(index * 4096, &mut bytes).unwrap();
        assert_eq!(bytes, pattern(index, 1), "block {index} was flushed");
    }
    client.close().unwrap();
    cluster.launch(0);
    cluster.wait_up_to_date(1);
}
