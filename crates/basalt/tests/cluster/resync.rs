//! What a resync moves, and what it leaves where it is.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};

use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::PeerDeviceStatus;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES};

/// Bytes that the file of a replica takes on the disk below.
fn allocated(cluster: &Cluster, index: usize) -> u64 {
    fs::metadata(cluster.disk(index)).unwrap().blocks() * 512
}

/// Puts an empty disk in the place of a replica's.
fn replace_disk(cluster: &Cluster, index: usize) {
    cluster.adm_ok(index, &["detach", "r0"]);
    fs::remove_file(cluster.disk(index)).unwrap();
    File::create(cluster.disk(index)).unwrap().set_len(DISK_BYTES).unwrap();
    cluster.create_md(index, "r0", &[]);
    cluster.adm_ok(index, &["attach", "r0"]);
}

fn wait_all(cluster: &Cluster) {
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
}

/// A block here and there does not make the whole volume allocated at the target.
#[test]
fn zeroes_take_no_space_after_a_full_resync() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for index in 0..360 {
        client.write(index * (128 << 10), &[5; BLOCK]).unwrap();
    }
    client.flush().unwrap();
    let before = allocated(&cluster, 2);
    replace_disk(&cluster, 2);
    wait_all(&cluster);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    let after = allocated(&cluster, 2);
    assert!(after <= before + (256 << 10), "{before} bytes before, {after} after");
}

/// What was discarded while the target was away gives its space back there too.
#[test]
fn space_is_given_back_at_the_target() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &vec![7; 8 << 20]).unwrap();
    cluster.adm_ok(2, &["detach", "r0"]);
    let full = allocated(&cluster, 2);
    // All but a block of every 64 KiB.
    for index in 0..128 {
        client.trim(index * (64 << 10) + 4096, 60 << 10).unwrap();
    }
    client.flush().unwrap();
    cluster.adm_ok(2, &["attach", "r0"]);
    wait_all(&cluster);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    let (source, after) = (allocated(&cluster, 0), allocated(&cluster, 2));
    // The activity log of a replica that returns is written anew, all 2 MiB of it.
    assert!(after <= source + (3 << 20), "{source} bytes at the source, {after} at the target");
    assert!(after + (5 << 20) <= full, "{full} bytes before, {after} after");
}

/// KiB that a node has written to its disk.
fn written_kib(cluster: &Cluster, index: usize) -> u64 {
    cluster.status(index).unwrap().devices[0].statistics.as_ref().unwrap().written
}

/// A replica whose metadata is new has to be copied in full, and has nearly all of it already.
#[test]
fn full_resync_leaves_what_is_equal() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let text: Vec<u8> = (1..=250_u8).cycle().take(2048).flat_map(|byte| [byte; BLOCK]).collect();
    client.write(8 << 20, &text).unwrap();
    cluster.adm_ok(2, &["detach", "r0"]);
    for index in 0..40 {
        client.write((8 << 20) + index * (200 << 10), &[0xee; BLOCK]).unwrap();
    }
    client.flush().unwrap();
    cluster.create_md(2, "r0", &["--force"]);
    cluster.adm_ok(2, &["attach", "r0"]);
    wait_all(&cluster);
    let written = written_kib(&cluster, 2);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    // 40 blocks, and metadata; counted from the attach on.
    assert!((160..1024).contains(&written), "{written} KiB");
}

/// With `csums-alg` what was written again with the same bytes is not moved.
#[test]
fn resync_with_checksums_leaves_what_is_equal() {
    let cluster = Cluster::plan(3).sections("net { csums-alg sha1; }").start_in_sync();
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &vec![9; 4 << 20]).unwrap();
    cluster.adm_ok(0, &["disconnect", "r0:n2"]);
    client.write(0, &vec![9; 4 << 20]).unwrap();
    client.write(1 << 20, &vec![8; 64 << 10]).unwrap();
    client.flush().unwrap();
    let before = written_kib(&cluster, 2);
    cluster.adm_ok(0, &["connect", "r0:n2"]);
    wait_all(&cluster);
    // What differed is copied while the replica counts as up to date.
    cluster.wait(0, "end of the copy", |status| {
        status.connections.iter().all(|peer| peer.peer_devices[0].out_of_sync == 0)
    });
    let written = written_kib(&cluster, 2) - before;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert!((64..512).contains(&written), "{written} KiB");
}

/// With `csums-after-crash-only` bytes are compared where the log of a crash marks more than
/// differs, and not after a connection was lost.
#[test]
fn checksums_after_a_crash_only_leave_what_is_equal_after_a_crash() {
    let net = "net { csums-alg sha1; csums-after-crash-only yes; }";
    let mut cluster = Cluster::plan(3).sections(net).start_in_sync();
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &vec![9; 4 << 20]).unwrap();
    let before = written_kib(&cluster, 2);
    cluster.adm_ok(0, &["disconnect", "r0:n2"]);
    client.write(0, &vec![9; 4 << 20]).unwrap();
    cluster.adm_ok(0, &["connect", "r0:n2"]);
    let copied = |cluster: &Cluster| {
        wait_all(cluster);
        cluster.wait(0, "end of the copy", |status| {
            status.connections.iter().all(|peer| peer.peer_devices[0].out_of_sync == 0)
        });
    };
    copied(&cluster);
    let written = written_kib(&cluster, 2) - before;
    assert!(written >= 4096, "nothing is compared: {written} KiB");
    cluster.kill(2);
    client.write(0, &vec![9; 4 << 20]).unwrap();
    cluster.launch(2);
    copied(&cluster);
    let written = written_kib(&cluster, 2);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert!(written < 3072, "{written} KiB of it are metadata");
}

/// Changes a block of a replica behind everybody's back.
fn spoil(cluster: &Cluster, index: usize, offset: u64) {
    let disk = File::options().write(true).open(cluster.disk(index)).unwrap();
    disk.write_all_at(&[0x5a; BLOCK], offset).unwrap();
    disk.sync_all().unwrap();
}

/// Compares the replicas, as asked of `index`, and waits for what the Primary found.
fn verify(cluster: &Cluster, index: usize, words: &[&str]) -> Vec<(String, u64)> {
    cluster.adm_ok(index, &[&["verify", "r0"], words].concat());
    cluster.poll(0, "end of the verify", || {
        let verify = cluster.status(0)?.verify?;
        (verify.state == "done").then_some(verify.differing)
    })
}

#[test]
fn verify_finds_what_differs_and_a_reconnect_or_a_repair_mends_it() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(4 << 20, &vec![3; 1 << 20]).unwrap();
    client.flush().unwrap();
    assert_eq!(verify(&cluster, 0, &[]), []);
    // It had to be guessed whether it had run, and for how long.
    let told = cluster.status(0).unwrap().verify.unwrap();
    let ended_age_ms = told.ended_age_ms.unwrap();
    assert_eq!(told.age_ms, told.took_ms + ended_age_ms, "{told:?}");
    let later = cluster.poll(0, "a later look", || {
        let later = cluster.status(0)?.verify?;
        (later.ended_age_ms? > ended_age_ms).then_some(later)
    });
    assert!(later.took_ms.abs_diff(told.took_ms) <= 1, "{told:?} {later:?}");
    let explained = cluster.adm_told(0, &["explain", "r0"]);
    assert!(explained.contains("  verify:  the last verify, of KiB 0 to "), "{explained}");

    spoil(&cluster, 2, (4 << 20) + 8192);
    assert_eq!(verify(&cluster, 0, &["--stop", "4M"]), []);
    assert_eq!(verify(&cluster, 0, &["--start", "4M"]), [("n2".to_owned(), 4)]);
    let reasons = cluster.status(0).unwrap().reasons.join("\n");
    let told = "4 KiB of the replica of n2 that differ from the others: decide first which side";
    assert!(reasons.contains(told) && !reasons.contains("--repair"), "{reasons}");
    cluster.adm_ok(0, &["disconnect", "r0:n2"]);
    cluster.adm_ok(0, &["connect", "r0:n2"]);
    // In one look: until its loss is chosen it counts as up to date, and the counter tells why not.
    cluster.wait(0, "end of the copy of what differed", |status| {
        let peers = status.connections.iter().map(|peer| &peer.peer_devices[0]);
        let is_mended = |peer: &PeerDeviceStatus| {
            peer.peer_disk_state == DiskState::UpToDate && peer.out_of_sync == 0
        };
        peers.clone().count() == 2 && peers.clone().all(is_mended)
    });
    let reasons = cluster.status(0).unwrap().reasons.join("\n");
    assert!(!reasons.contains("differ"), "{reasons}");
    cluster.assert_replicas_equal(size);

    spoil(&cluster, 0, (4 << 20) + 4096);
    spoil(&cluster, 1, 20 << 20);
    let found = verify(&cluster, 0, &["--repair"]);
    assert_eq!(found, [("n0".to_owned(), 4), ("n1".to_owned(), 4)]);
    let reasons = cluster.status(0).unwrap().reasons.join("\n");
    assert!(reasons.contains("4 KiB of the replica of this node that differ"), "{reasons}");
    client.close().unwrap();
    cluster.poll(0, "equal replicas", || {
        (cluster.data(0, size) == cluster.data(2, size)
            && cluster.data(1, size) == cluster.data(2, size))
        .then_some(())
    });
    assert_eq!(cluster.data(0, size)[(4 << 20) + 4096], 3);
}

/// It was done at once, and compared nothing.
#[test]
fn verify_that_has_nothing_to_compare_is_refused_with_the_reason() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let client = cluster.client(0);
    cluster.kill(1);
    cluster.adm_ok(0, &["verify", "r0"]);
    cluster.kill(2);
    cluster.wait(0, "want of a quorum", |status| !status.devices[0].quorum);
    let refused = cluster.adm(0, &["verify", "r0"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(11), "{said}");
    for part in ["no quorum: 1 of 3 voters answer, 2 are needed (missing: n1, n2)", "explain r0"] {
        assert!(said.contains(part), "{said}");
    }
    drop(client);
}

#[test]
fn verify_of_the_only_replica_that_is_up_to_date_is_refused() {
    let mut cluster = Cluster::plan(2).sections("options { quorum off; }").start_in_sync();
    let client = cluster.client(0);
    cluster.kill(1);
    cluster.wait(0, "the end of the wait for n1", |status| {
        status.epoch.as_ref().is_some_and(|epoch| epoch.insync == ["n0"])
    });
    let refused = cluster.adm(0, &["verify", "r0"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(17), "{said}");
    assert!(said.contains("there is nothing to compare"), "{said}");
    let reason = "n1 has no vote: it is not connected, and who votes goes on without it, as \
                  `quorum off` or `fencing` allows";
    let status = cluster.status(0).unwrap();
    assert!(status.reasons.iter().any(|it| it.starts_with(reason)), "{:?}", status.reasons);
    drop(client);
}

/// Its disk is not up to date, and it says from where that is mended. Before it has heard of the
/// voters what counts it does not call for an origin, which would give up what it missed.
#[test]
fn a_primary_that_missed_writes_shows_its_own_copy() {
    let mut cluster = Cluster::plan(3).sections("disk { c-max-rate 8M; }").start_in_sync();
    let mut client = cluster.client(0);
    cluster.kill(2);
    for mib in 0..24 {
        client.write(mib << 20, &vec![9; 1 << 20]).unwrap();
    }
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    cluster.launch(2);
    cluster.poll(2, "config that counts", || {
        let status = cluster.status(2)?;
        let calls = status.reasons.iter().any(|reason| reason.contains("whose data counts"));
        assert!(!calls, "{:?}", status.reasons);
        status.epoch.filter(|epoch| !epoch.insync.is_empty())
    });
    cluster.adm_ok(2, &["primary", "r0"]);
    let copied = cluster.poll(2, "copy of its own", || {
        let status = cluster.status(2)?;
        let devices = status.connections.iter().flat_map(|it| &it.peer_devices);
        let sources: Vec<_> = devices
            .filter(|it| it.replication_state == ReplicationState::SyncTarget)
            .cloned()
            .collect();
        (!sources.is_empty()).then_some((status, sources))
    });
    let (status, sources) = copied;
    assert_eq!(sources.len(), 1, "{status:#?}");
    assert_eq!(status.role, Role::Primary);
    assert_eq!(status.devices[0].disk_state, DiskState::Inconsistent);
    let told = cluster.adm_told(2, &["explain", "r0"]);
    assert!(told.contains("volume 0 is being copied here from n0"), "{told}");
    cluster.wait_up_to_date(2);
    let status = cluster.status(2).unwrap();
    let mut devices = status.connections.iter().flat_map(|it| &it.peer_devices);
    assert!(devices.all(|it| it.replication_state == ReplicationState::Established));
}
