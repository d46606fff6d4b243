//! Disks that are given up and taken back, while the checker loads the volume.

use std::fs::{self, File};

use api::disk_state::DiskState;
use api::role::Role;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES};
use crate::load::Load;

/// At the first node, which is Primary.
fn start_load(cluster: &Cluster) -> Load {
    Load::start(cluster, "r0", 1, 8)
}

/// All of it was one session without an error, and nothing was lost.
fn passes(load: Load) {
    let report = load.loses_nothing(500);
    for field in ["refused", "unanswered"] {
        assert_eq!(report[field], 0, "{field} in {report}");
    }
    assert_eq!(report["sessions"].as_array().unwrap().len(), 1, "{report}");
}

pub(crate) fn disk_state(cluster: &Cluster, index: usize) -> DiskState {
    cluster.status(index).unwrap().devices[0].disk_state
}

/// Gives the disk of a node up, and takes it back, a few times.
fn detach_and_attach(cluster: &Cluster, index: usize) {
    for _ in 0..3 {
        cluster.adm_ok(index, &["detach", "r0"]);
        cluster.wait(index, "goodbye to the disk", |status| {
            status.devices[0].disk_state == DiskState::Diskless
        });
        cluster.wait(0, "config without the disk", |status| {
            status.epoch.as_ref().is_some_and(|epoch| epoch.insync.len() == 2)
        });
        cluster.adm_ok(index, &["attach", "r0"]);
        for other in 0..3 {
            cluster.wait_up_to_date(other);
        }
    }
}

#[test]
fn primary_goes_on_without_its_disk_and_takes_it_back() {
    let cluster = Cluster::start_in_sync(3, 0);
    let size = cluster.client(0).export().size_bytes;
    let load = start_load(&cluster);
    detach_and_attach(&cluster, 0);
    assert_eq!(cluster.role(0), Role::Primary);
    passes(load);
    cluster.assert_replicas_equal(size);
    cluster.poll(0, "three lines of a disk that was attached", || {
        (cluster.log(0).matches("the disk was attached").count() == 3).then_some(())
    });
}

#[test]
fn secondary_gives_its_disk_up_and_takes_it_back() {
    let cluster = Cluster::start_in_sync(3, 0);
    let size = cluster.client(0).export().size_bytes;
    let load = start_load(&cluster);
    detach_and_attach(&cluster, 1);
    passes(load);
    cluster.assert_replicas_equal(size);
}

/// The node votes and serves without its disk, and takes it when it is there again.
#[test]
fn disk_that_was_missing_at_the_start_is_attached_later() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let size = cluster.client(0).export().size_bytes;
    let load = start_load(&cluster);
    cluster.kill(1);
    let (disk, kept) = (cluster.disk(1), cluster.disk(1).with_extension("kept"));
    fs::rename(&disk, &kept).unwrap();
    cluster.launch(1);
    cluster.wait_connected(1);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    let reasons = cluster.status(1).unwrap().reasons.join("\n");
    assert!(
        reasons.contains("its disk is not attached") && reasons.contains("attach"),
        "{reasons}"
    );
    let said = cluster.adm_refused(1, &["attach", "r0"]);
    assert!(said.contains("(104)") && said.contains("is it there"), "{said}");
    fs::rename(&kept, &disk).unwrap();
    cluster.adm_ok(1, &["attach", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    assert_eq!(cluster.status(1).unwrap().reasons, Vec::<String>::new());
    passes(load);
    cluster.assert_replicas_equal(size);
}

/// The words are those of `up`, and the resource goes on.
#[test]
fn wrong_disks_are_not_attached() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let said = cluster.adm_refused(1, &["attach", "r0"]);
    assert!(said.contains("(124)") && said.contains("attached already"), "{said}");
    cluster.adm_ok(1, &["detach", "r0"]);
    let (disk, kept) = (cluster.disk(1), cluster.disk(1).with_extension("kept"));
    fs::rename(&disk, &kept).unwrap();

    let refused = |parts: &[&str]| {
        let said = cluster.adm_refused(1, &["attach", "r0"]);
        for part in parts {
            assert!(said.contains(part), "no {part:?} in {said}");
        }
        assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    };
    refused(&["(104)", "cannot open disk", "is it there"]);
    File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
    refused(&["(119)", "no Basalt metadata", "create-md"]);
    fs::copy(cluster.disk(2), &disk).unwrap();
    refused(&["(119)", "node 2", "node 1"]);

    client.write(0, &[9; BLOCK]).unwrap();
    fs::rename(&kept, &disk).unwrap();
    cluster.adm_ok(1, &["attach", "r0"]);
    cluster.wait_up_to_date(0);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// A replaced disk comes in while the resource is up.
#[test]
fn fresh_disk_is_attached_and_filled() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(1 << 20, &[5; BLOCK]).unwrap();
    cluster.adm_ok(2, &["detach", "r0"]);
    client.write(2 << 20, &[6; BLOCK]).unwrap();
    fs::remove_file(cluster.disk(2)).unwrap();
    File::create(cluster.disk(2)).unwrap().set_len(DISK_BYTES).unwrap();
    cluster.create_md(2, "r0", &[]);
    cluster.adm_ok(2, &["attach", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(2, size)[1 << 20..][..BLOCK], [5; BLOCK]);
}
