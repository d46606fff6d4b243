//! A volume that comes while the resource is up and in use.

use std::fs::File;
use std::net::TcpListener;

use api::role::Role;

use crate::BLOCK;
use crate::adjust::steps;
use crate::harness::{Cluster, with_sections};
use crate::several::{SECOND_DISK_BYTES, assert_second_volumes_equal, second_disk, two_volumes};

/// The file names the second volume now, and its disks are there.
fn name_second(cluster: &Cluster) {
    cluster.configure(&two_volumes(cluster));
    for index in (0..cluster.nodes.len()).filter(|&index| cluster.nodes[index].has_disk) {
        File::create(second_disk(cluster, index)).unwrap().set_len(SECOND_DISK_BYTES).unwrap();
    }
}

fn create_md(cluster: &Cluster, index: usize) {
    cluster.create_md(index, "r0/1", &[]);
}

fn waits_for_disks(cluster: &Cluster, index: usize) -> bool {
    let reasons = cluster.status(index).unwrap().reasons;
    reasons.iter().any(|reason| reason.contains("volume 1 is not in use yet"))
}

fn wait_in_use(cluster: &Cluster, index: usize) {
    cluster.wait(index, "the second volume", |status| {
        let is_waiting = |reason: &String| reason.contains("is not in use yet");
        status.devices.len() == 2 && !status.reasons.iter().any(is_waiting)
    });
}

#[test]
fn a_volume_is_added_under_a_client_of_the_first() {
    let mut cluster = Cluster::start_in_sync(4, 1);
    let mut first = cluster.client(0);
    first.write(0, &[1; BLOCK]).unwrap();
    let epoch = cluster.status(0).unwrap().epoch;
    name_second(&cluster);
    let disk = second_disk(&cluster, 0).display().to_string();
    let wanted = [
        "drbdsetup new-minor r0 2 1".to_owned(),
        "drbdsetup peer-device-options r0 3 1 --set-defaults --bitmap=no".to_owned(),
        format!("drbdmeta 2 v09 {disk} internal apply-al"),
        format!("drbdsetup attach 2 {disk} {disk} internal"),
    ];
    assert_eq!(steps(&cluster, &["adjust", "--dry-run", "r0"]), wanted);
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("basalt adm create-md r0/1"), "{said}");
    assert_eq!(cluster.status(0).unwrap().devices.len(), 1, "nothing was changed");

    for index in 0..3 {
        create_md(&cluster, index);
        first.write(4096, &[2; BLOCK]).unwrap();
    }
    for index in [1, 2, 3] {
        cluster.adm_ok(index, &["adjust", "r0"]);
        first.write(8192, &[3; BLOCK]).unwrap();
    }
    assert!(waits_for_disks(&cluster, 1), "node 0 has no disk for it yet");
    assert_eq!(steps(&cluster, &["--verbose", "adjust", "r0"]), wanted);
    wait_in_use(&cluster, 0);
    assert_eq!(steps(&cluster, &["adjust", "--dry-run", "r0"]), [""; 0]);
    let mut second = cluster.client_of(0, "r0/1");
    let size = second.export().size_bytes;
    assert!(size > 32 << 20, "{size}");
    let mut block = [9; BLOCK];
    second.read(size - 4096, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK]);
    second.write(0, &[4; BLOCK]).unwrap();
    second.write(size - 4096, &[5; BLOCK]).unwrap();
    second.flush().unwrap();
    first.write(12_288, &[6; BLOCK]).unwrap();
    assert_eq!(cluster.role(0), Role::Primary);
    assert!(cluster.status(0).unwrap().epoch != epoch, "the volume is in the history");
    let first_size = first.export().size_bytes;
    first.close().unwrap();
    second.close().unwrap();
    cluster.assert_replicas_equal(first_size);
    assert_second_volumes_equal(&cluster, size);

    cluster.configure(&cluster.config_text("r0"));
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("volume 1 of \"r0\" is not taken out of it"), "{said}");
    cluster.configure(&two_volumes(&cluster));

    // Everyone has it, the member without a disk, too, and after a restart.
    cluster.kill(0);
    let mut second = cluster.client_of(3, "r0/1");
    second.read(0, &mut block).unwrap();
    assert_eq!(block, [4; BLOCK]);
    second.write(4096, &[7; BLOCK]).unwrap();
    second.flush().unwrap();
    cluster.launch(0);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, size);
}

#[test]
fn a_member_that_was_away_gets_the_volume_when_it_is_adjusted() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let first = cluster.client(0);
    cluster.kill(2);
    name_second(&cluster);
    for index in [0, 1] {
        create_md(&cluster, index);
        cluster.adm_ok(index, &["adjust", "r0"]);
    }
    wait_in_use(&cluster, 0);
    let mut second = cluster.client_of(0, "r0/1");
    let size = second.export().size_bytes;
    second.write(1 << 20, &vec![4; 1 << 20]).unwrap();
    second.flush().unwrap();

    cluster.launch(2);
    cluster.wait(0, "what keeps node 2 away", |status| {
        let is_told = |it: &String| it.contains("n2 stays away: it has no disk for volume 1");
        status.reasons.iter().any(is_told)
    });
    create_md(&cluster, 2);
    cluster.adm_ok(2, &["adjust", "r0"]);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    second.write(0, &[5; BLOCK]).unwrap();
    second.flush().unwrap();
    second.close().unwrap();
    let first_size = first.export().size_bytes;
    first.close().unwrap();
    cluster.assert_replicas_equal(first_size);
    assert_second_volumes_equal(&cluster, size);
}

/// Some have a disk for it and some have not: a start of all finds the volume as it was, and the
/// last disk brings it into use with the next Primary.
#[test]
fn a_volume_that_is_half_added_outlives_a_restart_of_all() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    name_second(&cluster);
    for index in 0..3 {
        create_md(&cluster, index);
    }
    for index in [0, 1] {
        cluster.adm_ok(index, &["adjust", "r0"]);
    }
    assert!(waits_for_disks(&cluster, 0));
    (0..3).for_each(|index| cluster.kill(index));
    (0..3).for_each(|index| cluster.launch(index));
    (0..3).for_each(|index| cluster.wait_connected(index));
    cluster.adm_ok(0, &["primary", "r0"]);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    assert!(waits_for_disks(&cluster, 0));
    cluster.adm_ok(2, &["adjust", "r0"]);
    wait_in_use(&cluster, 0);
    let mut second = cluster.client_of(0, "r0/1");
    let size = second.export().size_bytes;
    second.write(1 << 20, &[4; BLOCK]).unwrap();
    second.flush().unwrap();
    second.close().unwrap();
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    assert_second_volumes_equal(&cluster, size);
}

/// What has to go down for the change comes back as it was where the change cannot be had: the disk
/// of the volume was the replica's already, and the text that it went back to does not name it.
#[test]
fn a_volume_that_comes_with_a_failing_restart_is_added_later() {
    let cluster = Cluster::start_in_sync(2, 0);
    name_second(&cluster);
    (0..2).for_each(|index| create_md(&cluster, index));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = cluster.nodes[0].address.to_string();
    // This is what makes it go down for a change, and the address what is refused then.
    let wanted = with_sections(&two_volumes(&cluster), "disk { al-extents 127; }");
    let other = wanted.replace(&own, &taken.local_addr().unwrap().to_string());
    assert_ne!(other, wanted);
    cluster.configure(&other);
    let said = cluster.adm_refused(0, &["adjust", "r0"]);
    assert!(said.contains("cannot listen on"), "{said}");
    cluster.wait_up_to_date(0);
    assert_eq!(cluster.status(0).unwrap().devices.len(), 1);

    // Once it can be had, both come at once.
    drop(taken);
    cluster.adjust();
    wait_in_use(&cluster, 0);
    let mut second = cluster.client_of(0, "r0/1");
    second.write(0, &[5; BLOCK]).unwrap();
    second.flush().unwrap();
    second.close().unwrap();
}
