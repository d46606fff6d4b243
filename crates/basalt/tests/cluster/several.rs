//! Two volumes in one resource: one role and one history, a disk and an export each.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use api::disk_state::DiskState;
use api::role::Role;
use api::status::ResourceStatus;
use frontend::nvme::wire::le64;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::initiator::{Digests, Initiator};
use crate::load::Load;
use crate::machine::{Answer, Machine, NAME, WRITE};

pub(crate) const SECOND_DISK_BYTES: u64 = 48 << 20;

pub(crate) fn second_disk(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.directory.path().join(format!("second{index}"))
}

/// The configuration with a second volume at every node that has a disk.
pub(crate) fn two_volumes(cluster: &Cluster) -> String {
    let mut text = cluster.config_text("r0");
    for (index, node) in cluster.nodes.iter().enumerate().filter(|(_, node)| node.has_disk) {
        let first = format!("disk {}; meta-disk internal; }}", cluster.disk(index).display());
        let second = second_disk(cluster, index);
        let both = format!(
            "{first} volume 1 {{ device minor 2; disk {}; meta-disk internal; }}",
            second.display()
        );
        assert!(text.contains(&first), "{} in {text}", node.name);
        text = text.replace(&first, &both);
    }
    text.replace("disk none; }", "disk none; } volume 1 { device minor 2; disk none; }")
}

fn make_second_disks(cluster: &Cluster) {
    cluster.configure(&two_volumes(cluster));
    for index in (0..cluster.nodes.len()).filter(|&index| cluster.nodes[index].has_disk) {
        File::create(second_disk(cluster, index)).unwrap().set_len(SECOND_DISK_BYTES).unwrap();
        cluster.create_md(index, "r0/1", &[]);
    }
}

/// Daemons that run, with two volumes that are in sync everywhere and the first node Primary.
fn start(nodes: usize, clients: usize) -> Cluster {
    let mut cluster = Cluster::prepare(nodes, clients);
    make_second_disks(&cluster);
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

fn data(path: PathBuf, size_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(size_bytes).unwrap()];
    File::open(path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

pub(crate) fn assert_second_volumes_equal(cluster: &Cluster, size_bytes: u64) {
    let first = data(second_disk(cluster, 0), size_bytes);
    for index in (1..cluster.nodes.len()).filter(|&index| cluster.nodes[index].has_disk) {
        let other = data(second_disk(cluster, index), size_bytes);
        let block = first.chunks(4096).zip(other.chunks(4096)).position(|(a, b)| a != b);
        assert_eq!(block, None, "replica {index} of volume 1 differs in this block");
    }
}

#[test]
fn each_volume_is_served_by_itself_and_ends_where_it_ends() {
    let cluster = start(3, 0);
    let (mut first, mut second) = (cluster.client_of(0, "r0"), cluster.client_of(0, "r0/1"));
    let (size, second_size) = (first.export().size_bytes, second.export().size_bytes);
    assert!(second_size < size && second_size > 32 << 20, "{size} {second_size}");
    first.write(0, &[1; BLOCK]).unwrap();
    second.write(0, &[2; BLOCK]).unwrap();
    second.write(second_size - BLOCK as u64, &[3; BLOCK]).unwrap();
    first.write_durably(8 << 20, &vec![4; 3 << 20]).unwrap();
    second.trim(0, 4096).unwrap();
    second.flush().unwrap();
    let mut block = [0; BLOCK];
    first.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
    second.read(0, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK], "what was discarded reads as zeroes");
    second.read(8 << 20, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK], "a write of one volume is none of the other");
    for (volume, end) in [(&mut first, size), (&mut second, second_size)] {
        volume.write(end, &[9; BLOCK]).unwrap_err();
        volume.write(end - 512, &[9; BLOCK]).unwrap_err();
        volume.read(end, &mut block).unwrap_err();
    }
    let status = cluster.status(0).unwrap();
    let seen: Vec<_> = status.devices.iter().map(|it| (it.volume, it.minor)).collect();
    assert_eq!(seen, [(0, 1), (1, 2)]);
    assert!(status.connections.iter().all(|it| it.peer_devices.len() == 2), "{status:?}");
    let written = |it: &ResourceStatus, volume: usize| {
        it.devices[volume].statistics.as_ref().unwrap().written
    };
    assert!(written(&status, 0) >= 3 << 10 && written(&status, 1) >= 8, "{status:?}");
    first.close().unwrap();
    second.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_second_volumes_equal(&cluster, second_size);
}

/// One wiped disk of two kept the resource of its node down, and the vote with it.
#[test]
fn replica_of_two_disks_that_lost_either_leaves_its_node_the_vote() {
    let mut cluster = start(3, 0);
    let mut client = cluster.client_of(0, "r0/1");
    for (round, path) in (1..).zip([second_disk(&cluster, 1), cluster.disk(1)]) {
        let kept = path.with_extension("kept");
        cluster.kill(1);
        fs::rename(&path, &kept).unwrap();
        File::create(&path).unwrap().set_len(fs::metadata(&kept).unwrap().len()).unwrap();
        cluster.launch(1);
        cluster.wait_connected(1);
        let status = cluster.status(1).unwrap();
        let states: Vec<_> = status.devices.iter().map(|it| it.disk_state).collect();
        assert_eq!(states, [DiskState::Diskless; 2]);
        let reasons = status.reasons.join("\n");
        assert!(reasons.contains(path.to_str().unwrap()), "{reasons}");
        cluster.kill(2);
        client.write(0, &[round; BLOCK]).unwrap();
        cluster.launch(2);
        cluster.wait(2, "disk that is up to date", |status| {
            status.devices.iter().all(|it| it.disk_state == DiskState::UpToDate)
        });
        cluster.kill(1);
        fs::rename(&kept, &path).unwrap();
        cluster.launch(1);
        cluster.wait_up_to_date(1);
    }
    let size = client.export().size_bytes;
    client.close().unwrap();
    assert_second_volumes_equal(&cluster, size);
}

#[test]
fn each_volume_is_a_namespace_of_its_own() {
    let cluster = start(3, 0);
    let mut initiator = Initiator::connect(cluster.nodes[0].nvme, Digests::None, 0);
    let sizes = [1, 2].map(|namespace| {
        initiator.namespace = namespace;
        le64(&initiator.identify(0), 0) * 512
    });
    for (size, export) in sizes.into_iter().zip(["r0", "r0/1"]) {
        let volume = cluster.client_of(0, export);
        assert_eq!(volume.export().size_bytes, size, "{export}");
        volume.close().unwrap();
    }
    for namespace in [1, 2] {
        initiator.namespace = namespace;
        assert_eq!(initiator.write(0, &[namespace; 4096]), 0);
        assert_eq!(initiator.write_durably(sizes[usize::from(namespace) - 1] - 512, &[9; 512]), 0);
        assert_eq!(initiator.write(1 << 20, &vec![7; 300 << 10]), 0);
    }
    assert_eq!(initiator.deallocate(&[(1 << 20, 8192)]), 0);
    assert_eq!(initiator.zero((1 << 20) + 8192, 4096), 0);
    assert_eq!(initiator.flush(), 0);
    assert_eq!(initiator.write(sizes[1], &[1; 512]), 0x080, "behind the end of the second one");
    initiator.namespace = 1;
    assert_eq!(initiator.read(0, 4096), [1; 4096]);
    assert_eq!(initiator.read(1 << 20, 300 << 10), vec![7; 300 << 10]);
    let mut second = cluster.client_of(0, "r0/1");
    let mut bytes = vec![0; 16 << 10];
    second.read(1 << 20, &mut bytes).unwrap();
    assert_eq!((&bytes[..12 << 10], &bytes[12 << 10..]), (&[0; 12 << 10][..], &[7; 4 << 10][..]));
    second.close().unwrap();
    drop(initiator);
    cluster.assert_replicas_equal(sizes[0]);
    assert_second_volumes_equal(&cluster, sizes[1]);
}

#[test]
fn both_volumes_outlive_a_primary_that_dies_under_load() {
    let mut cluster = start(3, 0);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let size = cluster.client_of(0, "r0").export().size_bytes;
    let second_size = cluster.client_of(0, "r0/1").export().size_bytes;
    let loads = ["r0", "r0/1"].map(|export| Load::start(&cluster, export, 3, 14));
    for round in 0..2 {
        let is_loaded = |index: usize| {
            let status = cluster.status(index)?;
            let is_used = status.devices.iter().all(|device| !device.holders.is_empty());
            (status.role == Role::Primary && is_used).then_some(index)
        };
        let primary =
            cluster.poll(round, "a Primary with both clients", || (0..3).find_map(is_loaded));
        std::thread::park_timeout(std::time::Duration::from_secs(2));
        cluster.kill(primary);
        std::thread::park_timeout(std::time::Duration::from_secs(1));
        cluster.launch(primary);
    }
    for load in loads {
        let report = load.loses_nothing(200);
        assert!(report["sessions"].as_array().unwrap().len() > 1, "no client lost its node");
    }
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    cluster.assert_replicas_equal(size);
    assert_second_volumes_equal(&cluster, second_size);
}

#[test]
fn volumes_come_back_from_a_crash_of_all_nodes() {
    let mut cluster = start(3, 0);
    let mut second = cluster.client_of(0, "r0/1");
    let second_size = second.export().size_bytes;
    for place in 0..30 {
        second.write(place * (1 << 20), &[u8::try_from(place).unwrap(); BLOCK]).unwrap();
    }
    (0..3).for_each(|index| cluster.kill(index));
    (0..3).for_each(|index| cluster.launch(index));
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    let mut second = cluster.client_of(2, "r0/1");
    let mut block = [0; BLOCK];
    for place in 0..30 {
        second.read(place * (1 << 20), &mut block).unwrap();
        assert_eq!(block, [u8::try_from(place).unwrap(); BLOCK], "block at {place} MiB");
    }
    cluster.wait_for_log(1, "unclean end");
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, second_size);
}

/// What `up` of node 2, which is down, says after a change.
fn refused_with(cluster: &Cluster, change: impl FnOnce()) -> String {
    change();
    cluster.adm_refused(2, &["up", "r0"])
}

#[test]
fn a_disk_that_is_not_the_one_of_its_volume_is_never_served() {
    let cluster = start(3, 0);
    let mut second = cluster.client_of(0, "r0/1");
    second.write(0, &[1; BLOCK]).unwrap();
    let (own, kept) = (second_disk(&cluster, 2), second_disk(&cluster, 2).with_extension("kept"));
    let older = second_disk(&cluster, 2).with_extension("older");
    fs::copy(&own, &older).unwrap();
    cluster.adm_ok(2, &["down", "r0"]);
    second.write(0, &[2; BLOCK]).unwrap();

    let text = two_volumes(&cluster);
    let (first_name, second_name) =
        (cluster.disk(2).display().to_string(), own.display().to_string());
    let swapped = text.replace(&first_name, "X").replace(&second_name, &first_name);
    let swapped = swapped.replace('X', &second_name);
    let said = refused_with(&cluster, || cluster.configure(&swapped));
    assert!(said.contains("volume 1; wanted is") && said.contains("volume 0"), "{said}");
    cluster.configure(&text);

    fs::rename(&own, &kept).unwrap();
    let said = refused_with(&cluster, || ());
    assert!(said.contains("cannot open disk"), "{said}");
    let put = |from: &Path| assert!(fs::copy(from, &own).unwrap() > 0);
    let said = refused_with(&cluster, || put(&older));
    assert!(said.contains("older copy") && said.contains("create-md --force r0"), "{said}");
    let of_other = second_disk(&cluster, 1);
    let said = refused_with(&cluster, || put(&of_other));
    assert!(said.contains("node 1") && said.contains("node 2"), "{said}");

    // A new disk in its place is none of the replica either.
    fs::remove_file(&own).unwrap();
    File::create(&own).unwrap().set_len(SECOND_DISK_BYTES).unwrap();
    let said = refused_with(&cluster, || ());
    assert!(said.contains("create-md r0/1"), "{said}");
    let said = cluster.adm_refused(2, &["create-md", "--node", "n2", "r0/1"]);
    assert!(said.contains("anew as a whole") && said.contains("create-md --force r0"), "{said}");

    fs::rename(&kept, &own).unwrap();
    cluster.adm_ok(2, &["up", "r0"]);
    cluster.wait_up_to_date(0);
    let second_size = second.export().size_bytes;
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, second_size);
    assert_eq!(data(own, second_size)[..BLOCK], [2; BLOCK]);
}

#[test]
fn a_replica_is_made_anew_with_all_of_its_disks() {
    let cluster = start(3, 0);
    let mut first = cluster.client_of(0, "r0");
    let mut second = cluster.client_of(0, "r0/1");
    second.write(5 << 20, &[7; BLOCK]).unwrap();
    first.write(6 << 20, &[8; BLOCK]).unwrap();
    cluster.adm_ok(2, &["down", "r0"]);
    fs::remove_file(second_disk(&cluster, 2)).unwrap();
    File::create(second_disk(&cluster, 2)).unwrap().set_len(SECOND_DISK_BYTES).unwrap();
    cluster.create_md(2, "r0", &["--force"]);
    cluster.adm_ok(2, &["up", "r0"]);
    cluster.wait_up_to_date(0);
    let (size, second_size) = (first.export().size_bytes, second.export().size_bytes);
    first.close().unwrap();
    second.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_second_volumes_equal(&cluster, second_size);
    assert_eq!(data(second_disk(&cluster, 2), second_size)[5 << 20..][..BLOCK], [7; BLOCK]);
}

#[test]
fn one_failed_disk_takes_the_replica_and_the_others_go_on() {
    let cluster = start(3, 0);
    let mut second = cluster.client_of(0, "r0/1");
    second.write(0, &[1; BLOCK]).unwrap();
    cluster.adm_ok(0, &["detach", "r0"]);
    cluster.wait(0, "goodbye to both disks", |status| {
        status.devices.iter().all(|it| it.disk_state == DiskState::Diskless)
    });
    second.write(4096, &[2; BLOCK]).unwrap();
    let mut block = [0; BLOCK];
    second.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
    cluster.adm_ok(0, &["attach", "r0"]);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    let second_size = second.export().size_bytes;
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, second_size);
}

/// Both go with it, and the one that failed is named.
#[test]
fn disk_of_one_volume_that_fails_is_shown_with_that_volume() {
    let cluster = start(3, 0);
    let mut second = cluster.client_of(0, "r0/1");
    let disk = second_disk(&cluster, 1);
    let file = File::options().write(true).open(&disk).unwrap();
    file.set_len(SECOND_DISK_BYTES / 2).unwrap();
    second.write(0, &[1; BLOCK]).unwrap();
    second.flush().unwrap();
    cluster.wait(1, "goodbye to both disks", |status| {
        status.devices.iter().all(|it| it.disk_state == DiskState::Diskless)
    });
    let devices = cluster.status(1).unwrap().devices;
    assert_eq!(devices[0].disk_failure, None);
    let failure = devices[1].disk_failure.as_ref().unwrap();
    assert_eq!(
        (&failure.disk[..], &failure.request[..]),
        (disk.to_str().unwrap(), "a flush of the disk")
    );
    assert!(failure.error.contains("what was behind the new end is lost"), "{failure:?}");
    second.write(4096, &[2; BLOCK]).unwrap();
}

/// The disks are made while the resource is down on all nodes; what was on them is gone.
#[test]
fn a_volume_that_is_added_while_all_are_down_starts_equal() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut first = cluster.client(0);
    first.write(1 << 20, &[5; BLOCK]).unwrap();
    first.close().unwrap();
    for index in 0..3 {
        File::create(second_disk(&cluster, index)).unwrap().set_len(SECOND_DISK_BYTES).unwrap();
        let old = File::options().write(true).open(second_disk(&cluster, index)).unwrap();
        old.write_all_at(&[0xa0 | u8::try_from(index).unwrap(); BLOCK], 3 << 20).unwrap();
    }
    cluster.configure(&two_volumes(&cluster));
    for index in [2, 1, 0] {
        cluster.adm_ok(index, &["down", "r0"]);
    }
    for index in 0..3 {
        cluster.create_md(index, "r0/1", &[]);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    let mut second = cluster.client_of(1, "r0/1");
    let mut block = [7; BLOCK];
    second.read(3 << 20, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK], "an added volume is zeroes");
    second.write(9 << 20, &[6; BLOCK]).unwrap();
    cluster.wait_for_votes(1);
    cluster.kill(2);
    second.write(10 << 20, &[7; BLOCK]).unwrap();
    cluster.launch(2);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    let second_size = second.export().size_bytes;
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, second_size);
    let mut first = cluster.client(1);
    first.read(1 << 20, &mut block).unwrap();
    assert_eq!(block, [5; BLOCK]);
    let size = first.export().size_bytes;
    first.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn one_volume_is_compared_by_itself() {
    let cluster = start(3, 0);
    let mut second = cluster.client_of(0, "r0/1");
    second.write(2 << 20, &[1; BLOCK]).unwrap();
    second.flush().unwrap();
    let disk = File::options().write(true).open(second_disk(&cluster, 1)).unwrap();
    disk.write_all_at(&[9; BLOCK], 2 << 20).unwrap();
    disk.sync_all().unwrap();
    let verified = |words: &[&str]| {
        cluster.adm_ok(0, words);
        cluster.poll(0, "end of the comparison", || {
            cluster.status(0)?.verify.filter(|verify| verify.state == "done")
        })
    };
    let first = verified(&["verify", "r0/0"]);
    assert_eq!((first.volume, first.start, first.differing.len()), (Some(0), 0, 0), "{first:?}");
    let second_size = second.export().size_bytes;
    let found = verified(&["verify", "--repair", "r0/1"]);
    assert_eq!((found.volume, found.start), (Some(1), 0), "{found:?}");
    assert_eq!((found.stop, found.verified), (second_size >> 10, second_size >> 10), "{found:?}");
    assert_eq!(found.differing, [("n1".to_owned(), 4)], "{found:?}");
    let both = verified(&["verify", "r0"]);
    assert_eq!(both.volume, None, "{both:?}");
    let size = cluster.client(0).export().size_bytes;
    assert_eq!(both.verified, (size + second_size) >> 10, "{both:?}");
    let said = cluster.adm_refused(0, &["verify", "--start", "4096", "r0"]);
    assert!(said.contains("several volumes") && said.contains("r0/0"), "{said}");
    second.close().unwrap();
    assert_second_volumes_equal(&cluster, second_size);
}

/// A virtual machine has the second volume as a disk of its own.
#[test]
fn a_monitor_finds_a_socket_for_each_volume() {
    let cluster = start(3, 0);
    let socket = cluster.vhost_folder(0).join("r0-1.sock");
    let mut machine = Machine::new();
    let stream = cluster.poll(0, "disk of a machine", || machine.attach(&socket).ok());
    machine.does(0, WRITE, 1 << 20, &[0x5a; BLOCK]);
    assert_eq!(machine.reads(1, 1 << 20), [0x5a; BLOCK]);
    let head = machine.does(0, NAME, 0, &[0; 20]);
    assert_eq!(machine.data(0, head), *b"r0/1\0\0");
    let beyond = machine.submit(0, WRITE, SECOND_DISK_BYTES, &[1; BLOCK]);
    assert_eq!(machine.answer(0), Answer { head: beyond, status: 1 });
    drop(stream);
    let mut second = cluster.client_of(0, "r0/1");
    let mut block = [0; BLOCK];
    second.read(1 << 20, &mut block).unwrap();
    assert_eq!(block, [0x5a; BLOCK]);
    let mut first = cluster.client_of(0, "r0");
    first.read(1 << 20, &mut block).unwrap();
    assert_eq!(block, [0; BLOCK]);
}

/// The second volume, then the first: metadata of the one whose disk becomes longer moves, that of
/// the other stays, and the stamps that bind the disks to each other hold.
#[test]
fn volumes_grow_one_by_one_and_all_nodes_find_their_disks() {
    let mut cluster = start(3, 0);
    let size_of = |cluster: &Cluster, index: usize, volume: usize| {
        let statistics = cluster.status(index)?.devices[volume].statistics?;
        Some(statistics.size * 1024)
    };
    let first_size = size_of(&cluster, 0, 0).unwrap();
    let said = cluster.adm_refused(0, &["resize", "--size", "96M", "r0"]);
    assert!(said.contains("several volumes") && said.contains("r0/0"), "{said}");
    let mut sizes = [first_size, size_of(&cluster, 0, 1).unwrap()];
    for (round, (volume, size_mib)) in [(1, 96), (0, 128), (1, 112)].into_iter().enumerate() {
        let export = ["r0", "r0/1"][volume];
        let before = sizes[volume];
        let mut user = cluster.client_of(0, export);
        user.write(before - BLOCK as u64, &[1; BLOCK]).unwrap();
        let size = format!("{size_mib}M");
        let target = format!("r0/{volume}");
        cluster.adm_ok(1, &["resize", "--size", &size, &target]);
        sizes[volume] = size_mib << 20;
        for index in 0..3 {
            cluster.poll(index, "new size", || {
                (size_of(&cluster, index, volume)? == sizes[volume]).then_some(())
            });
        }
        assert_eq!(size_of(&cluster, 0, 1 - volume), Some(sizes[1 - volume]));
        user.close().unwrap();
        let mut user = cluster.client_of(0, export);
        let mut block = [1; BLOCK];
        user.read(before, &mut block).unwrap();
        assert_eq!(block, [0; BLOCK], "what is new reads as zeroes");
        user.write(sizes[volume] - BLOCK as u64, &[2; BLOCK]).unwrap();
        user.flush().unwrap();
        drop(user);
        // One, then all: the disks of each are of one replica still.
        let victims = if round == 0 { 2..3 } else { 0..3 };
        victims.clone().for_each(|index| cluster.kill(index));
        victims.for_each(|index| cluster.launch(index));
        drop(cluster.client_of(0, export));
        (0..3).for_each(|index| cluster.wait_up_to_date(index));
    }
    cluster.assert_replicas_equal(sizes[0]);
    assert_second_volumes_equal(&cluster, sizes[1]);
}
