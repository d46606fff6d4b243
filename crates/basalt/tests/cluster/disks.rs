//! Disks that are given up and taken back, while the checker loads the volume.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

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
    assert!(said.contains("(104)") && said.contains("ls -lL"), "{said}");
    fs::rename(&kept, &disk).unwrap();
    cluster.adm_ok(1, &["attach", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    assert_eq!(cluster.status(1).unwrap().reasons, Vec::<String>::new());
    passes(load);
    cluster.assert_replicas_equal(size);
}

/// What becomes of a disk, and what is said of it.
type Harm<'a> = (&'a dyn Fn(&Path), &'a [&'a str]);

/// A disk that was there, and was not the one of the replica any more, kept the resource of its
/// node down, and its vote with it: one more node that was lost, and writes stopped.
#[test]
fn disk_that_was_wiped_or_cut_costs_the_replica_and_not_the_vote() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(1 << 20, &[5; BLOCK]).unwrap();
    let (disk, kept) = (cluster.disk(1), cluster.disk(1).with_extension("kept"));
    let foreign = cluster.disk(2);
    let be_foreign = |disk: &Path| {
        fs::copy(&foreign, disk).unwrap();
    };
    let whole = DISK_BYTES.to_string();
    let damage_superblocks = |disk: &Path| {
        fs::copy(&kept, disk).unwrap();
        let file = File::options().read(true).write(true).open(disk).unwrap();
        let places = [size, DISK_BYTES - BLOCK as u64];
        let begins = places.map(|place| {
            let mut begin = [0; 8];
            file.read_exact_at(&mut begin, place).unwrap();
            file.write_all_at(&[0x5a; 64], place + 64).unwrap();
            begin
        });
        assert_eq!(begins[0], begins[1], "both are superblocks");
    };
    let cut_to = |disk: &Path, bytes| {
        fs::copy(&kept, disk).unwrap();
        File::options().write(true).open(disk).unwrap().set_len(bytes).unwrap();
    };
    let harms: [Harm<'_>; 5] = [
        (
            &|disk| File::create(disk).unwrap().set_len(DISK_BYTES).unwrap(),
            &["no Basalt metadata", "create-md r0"],
        ),
        (&|disk| cut_to(disk, 0), &["no Basalt metadata", "(0 bytes", &whole]),
        (&|disk| cut_to(disk, DISK_BYTES / 2), &["no Basalt metadata", &whole]),
        (&damage_superblocks, &["is damaged", "create-md --force r0"]),
        (&be_foreign, &["node 2", "create-md --force"]),
    ];
    for (round, (harm, parts)) in (0_u8..).zip(harms) {
        cluster.kill(1);
        fs::rename(&disk, &kept).unwrap();
        harm(&disk);
        cluster.launch(1);
        cluster.wait_connected(1);
        assert_eq!(disk_state(&cluster, 1), DiskState::Diskless, "{parts:?}");
        let told = [
            cluster.status(1).unwrap().reasons.join("\n"),
            cluster.adm_told(1, &["explain", "r0"]),
            cluster.log(1),
            cluster.adm_refused(1, &["attach", "r0"]),
            cluster.adm_refused(1, &["up", "r0"]),
        ];
        for told in told {
            assert!(told.contains(disk.to_str().unwrap()), "{told}");
            for part in parts {
                assert!(told.contains(part), "no {part:?} in {told}");
            }
        }
        // Its vote is needed.
        cluster.kill(2);
        client.write(2 << 20, &[round; BLOCK]).unwrap();
        cluster.launch(2);
        cluster.wait(2, "disk that is up to date", |status| {
            status.devices.iter().all(|it| it.disk_state == DiskState::UpToDate)
        });
        cluster.kill(1);
        fs::rename(&kept, &disk).unwrap();
        cluster.launch(1);
        cluster.wait_up_to_date(1);
        assert_eq!(cluster.status(1).unwrap().reasons, Vec::<String>::new());
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// It takes clients as one without a disk does, stays without one until somebody makes the disk a
/// replica, and is then copied in full.
#[test]
fn node_whose_disk_was_wiped_serves_and_is_filled_once_it_is_told_to() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(1 << 20, &[5; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    assert_eq!(cluster.terminate(1), Some(0));
    File::create(cluster.disk(1)).unwrap().set_len(DISK_BYTES).unwrap();
    cluster.launch(1);
    cluster.wait_connected(1);
    cluster.adm_ok(1, &["primary", "r0"]);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(1 << 20, &mut block).unwrap();
    assert_eq!(block, [5; BLOCK]);
    client.write(2 << 20, &[6; BLOCK]).unwrap();
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    // A restart more makes no replica of it, either.
    client.close().unwrap();
    cluster.kill(1);
    cluster.launch(1);
    cluster.wait_connected(1);
    assert_eq!(disk_state(&cluster, 1), DiskState::Diskless);
    let untouched = fs::read(cluster.disk(1)).unwrap();
    assert!(untouched.iter().all(|byte| *byte == 0), "the disk was written to");
    cluster.create_md(1, "r0", &[]);
    cluster.adm_ok(1, &["attach", "r0"]);
    cluster.adm_ok(0, &["primary", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(1, size)[2 << 20..][..BLOCK], [6; BLOCK]);
}

fn assert_shown_as_shrunk(cluster: &Cluster, index: usize) {
    let log = cluster.log(index);
    assert!(log.contains("what was behind the new end is lost"), "{log}");
    let failure = cluster.status(index).unwrap().devices[0].disk_failure.clone().unwrap();
    assert!(failure.error.contains("what was behind the new end is lost"), "{failure:?}");
}

/// The zeroes that a file had where it was cut were merged with a part of a block, and given to all
/// replicas.
#[test]
fn nothing_is_merged_from_behind_the_end_of_a_disk_that_shrank() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let places = [size - (4 << 20), size - (8 << 20), size / 2 + (4 << 20)];
    for place in places {
        client.write(place, &[5; BLOCK]).unwrap();
    }
    client.flush().unwrap();
    File::options().write(true).open(cluster.disk(0)).unwrap().set_len(DISK_BYTES / 2).unwrap();
    // The log of the extent that becomes active makes it longer again.
    client.write(1 << 20, &[6; BLOCK]).unwrap();
    let mut expected = [5; BLOCK];
    expected[512..1024].fill(7);
    for place in places {
        client.write(place + 512, &[7; 512]).unwrap();
        let mut block = [0; BLOCK];
        client.read(place, &mut block).unwrap();
        assert!(block == expected, "at {place}");
    }
    cluster
        .wait(0, "end of the disk", |status| status.devices[0].disk_state == DiskState::Diskless);
    assert_shown_as_shrunk(&cluster, 0);
    client.close().unwrap();
    for index in [1, 2] {
        let data = cluster.data(index, size);
        for place in places {
            let at = usize::try_from(place).unwrap();
            assert!(data[at..][..BLOCK] == expected, "node {index} at {place}");
        }
    }
}

/// Nothing but a flush came to a disk that became shorter under writes of whole blocks.
#[test]
fn disk_that_shrank_fails_with_the_next_flush_and_the_others_have_all() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let place = size - (4 << 20);
    client.write(place, &[5; BLOCK]).unwrap();
    client.flush().unwrap();
    File::options().write(true).open(cluster.disk(1)).unwrap().set_len(DISK_BYTES / 2).unwrap();
    client.write(place, &[6; BLOCK]).unwrap();
    client.flush().unwrap();
    cluster
        .wait(1, "end of the disk", |status| status.devices[0].disk_state == DiskState::Diskless);
    assert_shown_as_shrunk(&cluster, 1);
    client.write(place, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    let said = cluster.adm_refused(1, &["attach", "r0"]);
    assert!(said.contains("no Basalt metadata") || said.contains("superblock"), "{said}");
    for index in [0, 2] {
        let at = usize::try_from(place).unwrap();
        assert_eq!(cluster.data(index, size)[at..][..BLOCK], [7; BLOCK]);
    }
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
    refused(&["(104)", "cannot open disk", "ls -lL"]);
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
