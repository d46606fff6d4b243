//! A resource at which the daemon aborts again and again.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use api::disk_state::DiskState;

use crate::cluster::{Cluster, METADATA_ROOM_BYTES, Node, RESOURCE, VOLUME_BYTES, wait_for};

const BLOCK_BYTES: usize = 4096;
const CRC_AT: usize = 12;
const WRITE_COUNTER_AT: usize = 512;

/// A superblock that is whole, and whose next save is one too many for its counter.
fn exhaust_counter(disk: &Path) {
    let content = fs::read(disk).unwrap();
    let file = File::options().write(true).open(disk).unwrap();
    let mut found = 0;
    for (index, block) in content.chunks(BLOCK_BYTES).enumerate() {
        if !block.starts_with(b"BASALTSB") {
            continue;
        }
        let mut block = block.to_vec();
        block[WRITE_COUNTER_AT..WRITE_COUNTER_AT + 8].copy_from_slice(&[0xff; 8]);
        let crc = crc32c::crc32c_append(crc32c::crc32c(&block[..CRC_AT]), &block[CRC_AT + 4..]);
        block[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        file.write_all_at(&block, u64::try_from(index * BLOCK_BYTES).unwrap()).unwrap();
        found += 1;
    }
    assert_eq!(found, 2, "two copies of the superblock");
}

/// Two resources of one node: `r0`, and `other` on a disk of its own.
fn prepare() -> Cluster {
    let cluster = Cluster::prepare(1);
    let text = cluster.text();
    let other = text.replace("resource r0", "resource other").replace("minor 0", "minor 1");
    let other = other.replace("/disk\"", "/other\"");
    cluster.configure(&(text + &other));
    let disk = cluster.nodes[0].home.join("other");
    File::create(disk).unwrap().set_len(VOLUME_BYTES + METADATA_ROOM_BYTES).unwrap();
    cluster.create_md(0);
    cluster.adm(0, &["create-md", "--node", "alfa", "other"]).exits(0);
    cluster
}

fn abort_at_promotion(cluster: &mut Cluster) {
    cluster.nodes[0].start();
    assert_ne!(cluster.adm(0, &["primary", RESOURCE]).exit, 0, "there is nobody to answer");
    let node = &mut cluster.nodes[0];
    wait_for("the daemon to abort", || node.has_ended().then_some(()));
    node.kill();
}

fn shown(node: &Node, cluster: &Cluster, resource: &str) -> String {
    node.adm(&cluster.config, &["status", resource]).stdout
}

#[test]
fn resource_that_aborts_the_daemon_twice_is_held_down_and_the_others_are_served() {
    let mut cluster = prepare();
    cluster.nodes[0].start();
    for resource in [RESOURCE, "other"] {
        cluster.adm(0, &["up", resource]).ok();
        cluster.adm(0, &["primary", "--force", resource]).ok();
        cluster.adm(0, &["secondary", resource]).ok();
    }
    cluster.nodes[0].stop();
    let disk = cluster.nodes[0].disk();
    let good = fs::read(&disk).unwrap();
    exhaust_counter(&disk);

    abort_at_promotion(&mut cluster);
    abort_at_promotion(&mut cluster);
    cluster.nodes[0].start();
    let node = &cluster.nodes[0];
    let status = shown(node, &cluster, RESOURCE);
    for part in ["it stays down", "aborted twice within 60 s", "panicked", "basalt adm up r0"] {
        assert!(status.contains(part), "no {part:?} in {status}");
    }
    node.wait_for_log("r0: it stays down: the daemon aborted twice");
    let note = node.state_dir().join("resources/r0.held");
    let text = fs::read_to_string(&note).unwrap();
    assert!(text.contains("on resource r0") && text.contains("`basalt adm up r0`"), "{text}");
    cluster.adm(0, &["primary", "other"]).ok();
    assert!(shown(node, &cluster, "other").contains("disk:UpToDate"));

    // It is held over a restart, and for good as far as nobody lifts it.
    cluster.nodes[0].stop();
    cluster.nodes[0].start();
    let status = shown(&cluster.nodes[0], &cluster, RESOURCE);
    assert!(status.contains("it stays down"), "{status}");
    fs::write(&disk, &good).unwrap();
    cluster.adm(0, &["up", RESOURCE]).ok();
    assert!(!note.exists(), "lifted");
    cluster.nodes[0].serves();
    cluster.nodes[0].wait_for_disk(DiskState::UpToDate);
}
