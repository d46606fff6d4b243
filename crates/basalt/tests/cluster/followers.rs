//! Protocol A between real processes: what waits for nobody, who takes over, and what is said of
//! it.

use std::fs;
use std::process::Command;

use api::status::ResourceStatus;

use crate::BLOCK;
use crate::harness::Cluster;

/// Gives all nodes that run a configuration with protocol A between the first and the last one.
fn follow(cluster: &Cluster) {
    let text = cluster.config_text("r0").replacen("r0 {", "r0 {\n  net { protocol A; }", 1);
    fs::write(cluster.config(), text).unwrap();
    for index in 0..cluster.nodes.len() {
        cluster.adm_ok(index, &["adjust", "r0"]);
    }
}

fn letters(status: &ResourceStatus) -> Vec<Option<&str>> {
    status.connections.iter().map(|connection| connection.protocol.as_deref()).collect()
}

/// Distinct content for each block and round.
fn pattern(index: u64, round: u8) -> [u8; BLOCK] {
    let mut block = [round; BLOCK];
    block[..8].copy_from_slice(&index.to_le_bytes());
    block
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
    let shown = String::from_utf8(cluster.adm(0, &["status", "r0"]).stdout).unwrap();
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
    let refused = cluster.adm(1, &["primary", "r0"]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("protocol A") && said.contains("--force"), "{said}");
    cluster.adm_ok(1, &["primary", "--force", "r0"]);
    assert_eq!(cluster.status(1).unwrap().epoch.unwrap().losses, 1);
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
