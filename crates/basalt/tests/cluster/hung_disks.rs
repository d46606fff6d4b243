//! `disk-timeout`: a disk that stands still is given up, and its late requests harm nobody.
//!
//! A disk lies in a file system of its own, which is frozen: writes to it stand still, in the
//! kernel, until it is thawed. It takes root, and the programs `mkfs.ext4`, `mount` and `fsfreeze`;
//! without them it says so and shows nothing.

use std::fs;

use api::disk_state::DiskState;
use io::now;

use crate::BLOCK;
use crate::frozen::Place;
use crate::harness::Cluster;

/// Three nodes, of which one has a disk that can stand still.
fn start(index: usize) -> Option<(Cluster, Place)> {
    start_with(index, "disk { disk-timeout 15; }")
}

#[expect(clippy::print_stdout, reason = "it says that nothing was shown")]
fn start_with(index: usize, options: &str) -> Option<(Cluster, Place)> {
    let mut cluster = Cluster::prepare(3, 0);
    let place = Place::of_disk(&cluster, index);
    let Some(place) = place else {
        println!("skipped: a file system takes root, `mkfs.ext4`, `mount` and `fsfreeze`");
        return None;
    };
    let text = cluster.config_text("r0").replacen("r0 {", &format!("r0 {{ {options}"), 1);
    fs::write(cluster.config(), text).unwrap();
    for index in 0..3 {
        cluster.launch(index);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    Some((cluster, place))
}

/// Of the Primary, and of a secondary.
fn goes_on_without(index: usize) {
    // The place goes first, and thaws: a daemon whose disk stands still does not end.
    let Some((cluster, mut place)) = start(index) else { return };
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for block in 0..32 {
        client.write(block * 4096, &[1; BLOCK]).unwrap();
    }
    place.freeze();
    let began = now();
    client.write(0, &[2; BLOCK]).unwrap();
    let took = now().since(began);
    assert!(took.as_millis() > 1_000, "it waited for the disk: {took:?}");
    cluster.wait(index, "disk that was given up", |status| {
        matches!(status.devices[0].disk_state, DiskState::Failed | DiskState::Diskless)
    });
    assert!(cluster.log(index).contains("(disk-timeout)"), "{}", cluster.log(index));
    let mut bytes = [0; BLOCK];
    client.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [2; BLOCK]);
    // What the disk is to get late is older than this.
    client.write(0, &[3; BLOCK]).unwrap();
    place.thaw();
    cluster.adm_ok(index, &["attach", "r0"]);
    cluster.wait_up_to_date(0);
    client.write(4096, &[4; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// Nothing that an operator asks for waits for the disk.
#[test]
fn a_resource_whose_disk_stands_still_goes_down_and_comes_back() {
    let Some((cluster, mut place)) = start(1) else { return };
    let mut client = cluster.client(0);
    place.freeze();
    client.write(0, &[2; BLOCK]).unwrap();
    cluster.wait(1, "disk that was given up", |status| {
        matches!(status.devices[0].disk_state, DiskState::Failed | DiskState::Diskless)
    });
    // Its last request is with the kernel still: it is not taken again.
    cluster.adm_refused(1, &["attach", "r0"]);
    let began = now();
    cluster.adm_ok(1, &["down", "--force", "r0"]);
    assert!(now().since(began).as_secs() < 10);
    place.thaw();
    cluster.adm_ok(1, &["up", "r0"]);
    cluster.wait_up_to_date(0);
    client.write(4096, &[3; BLOCK]).unwrap();
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// The same without `disk-timeout`: nobody ever gives the disk up.
#[test]
fn down_by_force_waits_for_no_disk() {
    let Some((cluster, mut place)) = start_with(1, "") else { return };
    let mut client = cluster.client(0);
    place.freeze();
    client.write(0, &[2; BLOCK]).unwrap();
    for words in [&["status", "r0"][..], &["adjust", "r0"], &["down", "--force", "r0"]] {
        let began = now();
        cluster.adm_ok(1, words);
        assert!(now().since(began).as_secs() < 20, "{words:?}");
    }
    client.write(4096, &[3; BLOCK]).unwrap();
    place.thaw();
    cluster.poll(1, "disk that is free", || {
        cluster.adm(1, &["up", "r0"]).status.success().then_some(())
    });
    cluster.wait_up_to_date(0);
    let size = client.export().size_bytes;
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn the_others_go_on_when_a_disk_of_a_secondary_stands_still() {
    goes_on_without(1);
}

#[test]
fn a_primary_whose_own_disk_stands_still_goes_on_with_the_others() {
    goes_on_without(0);
}
