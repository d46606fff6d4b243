//! Volumes that grow while clients use them, with internal metadata that moves.

use std::fs;
use std::os::unix::fs::FileExt;

use frontend::nbd::client::Connection;
use node::create_md::{CreateMdOptions, Overwrite, create_md};

use crate::BLOCK;
use crate::harness::Cluster;
use crate::load::Load;

pub(crate) const GROWN: u64 = 160 << 20;

pub(crate) fn size_of(cluster: &Cluster, index: usize) -> Option<u64> {
    let size = cluster.status(index)?.devices.first()?.statistics?.size;
    Some(size * 1024)
}

pub(crate) fn wait_for_size(cluster: &Cluster, index: usize, size_bytes: u64) {
    cluster.poll(index, "new size", || {
        size_of(cluster, index).filter(|&size| size == size_bytes).map(drop)
    });
}

fn read(client: &mut Connection, offset: u64) -> [u8; BLOCK] {
    let mut block = [1; BLOCK];
    client.read(offset, &mut block).unwrap();
    block
}

fn grow(cluster: &Cluster, index: usize, size: &str) {
    cluster.adm_ok(index, &["resize", "--size", size, "r0"]);
}

/// `size`, less than the disks can hold, of `create-md` and later of `resize`; and `block-size`.
#[test]
fn a_volume_has_the_size_and_the_blocks_that_its_file_says() {
    let cluster = Cluster::plan(3).sections("disk { size 32M; block-size 4096; }").start_in_sync();
    let mut client = cluster.client(0);
    assert_eq!((client.export().size_bytes, client.export().block_min_bytes), (32 << 20, 4096));
    client.write((32 << 20) - BLOCK as u64, &[3; BLOCK]).unwrap();
    cluster.adjust_to("disk { size 48M; }");
    cluster.adm_ok(1, &["resize", "r0"]);
    for index in 0..3 {
        wait_for_size(&cluster, index, 48 << 20);
    }
    client.close().unwrap();
    let mut client = cluster.client(0);
    assert_eq!((client.export().size_bytes, client.export().block_min_bytes), (48 << 20, 1));
    assert_eq!(read(&mut client, (32 << 20) - BLOCK as u64), [3; BLOCK]);
    assert_eq!(read(&mut client, 32 << 20), [0; BLOCK]);
    client.close().unwrap();
    cluster.assert_replicas_equal(48 << 20);
}

/// The client that was there goes on, and one that comes sees what is new, which reads as zeroes.
#[test]
fn a_volume_grows_under_a_client_and_survives_the_death_of_all() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let before = client.export().size_bytes;
    for index in 0..64 {
        client.write(index * (512 << 10), &[5; BLOCK]).unwrap();
    }
    grow(&cluster, 1, "160M");
    for index in 0..64 {
        client.write(index * (512 << 10) + 4096, &[6; BLOCK]).unwrap();
    }
    for index in 0..3 {
        wait_for_size(&cluster, index, GROWN);
    }
    client.write(before - BLOCK as u64, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    let mut client = cluster.client(0);
    assert_eq!(client.export().size_bytes, GROWN);
    assert_eq!(read(&mut client, before), [0; BLOCK]);
    assert_eq!(read(&mut client, GROWN - BLOCK as u64), [0; BLOCK]);
    // Where the metadata was.
    for at in (before..before + (3 << 20)).step_by(BLOCK) {
        client.write(at, &[8; BLOCK]).unwrap();
    }
    client.flush().unwrap();
    for index in 0..3 {
        cluster.kill(index);
    }
    drop(client);
    for index in 0..3 {
        cluster.launch(index);
    }
    let mut client = cluster.client(1);
    assert_eq!(client.export().size_bytes, GROWN);
    assert_eq!(read(&mut client, before), [8; BLOCK]);
    assert_eq!(read(&mut client, 4096), [6; BLOCK]);
    client.close().unwrap();
    for index in 0..3 {
        cluster.wait_up_to_date(index);
    }
    cluster.assert_replicas_equal(GROWN);
}

#[test]
fn a_member_that_was_away_grows_when_it_returns() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let before = client.export().size_bytes;
    client.write(0, &[5; BLOCK]).unwrap();
    cluster.kill(2);
    client.write(BLOCK as u64, &[6; BLOCK]).unwrap();
    grow(&cluster, 0, "160M");
    wait_for_size(&cluster, 0, GROWN);
    client.close().unwrap();
    let mut client = cluster.client(0);
    client.write(before, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.launch(2);
    for index in 0..3 {
        cluster.wait_up_to_date(index);
        wait_for_size(&cluster, index, GROWN);
    }
    cluster.assert_replicas_equal(GROWN);
}

/// The process dies while its metadata is on the move, or shortly before or after.
#[test]
fn a_member_that_is_killed_meanwhile_finds_its_metadata() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    for (round, size) in [96, 128, 192, 256].into_iter().enumerate() {
        let mut client = cluster.client(0);
        client.write((round * BLOCK) as u64, &[5; BLOCK]).unwrap();
        let length = || fs::metadata(cluster.disk(2)).unwrap().len();
        let before = length();
        let mut asked = cluster.adm_started(0, &["resize", "--size", &format!("{size}M"), "r0"]);
        // From the moment at which the file is longer the metadata is moved.
        cluster.poll(2, "longer file", || (length() > before).then_some(()));
        for _ in 0..round * 2 {
            assert!(cluster.status(2).is_some());
        }
        cluster.kill(2);
        asked.wait().unwrap();
        // Whether it goes on depends on how far node 2 came.
        let size = size << 20;
        cluster.poll(0, "new size", || {
            if size_of(&cluster, 0) == Some(size) {
                return Some(());
            }
            drop(cluster.adm(0, &["resize", "--size", &(size / 512).to_string(), "r0"]));
            None
        });
        client.write((round * BLOCK + (1 << 20)) as u64, &[6; BLOCK]).unwrap();
        client.close().unwrap();
        cluster.launch(2);
        for index in 0..3 {
            cluster.wait_up_to_date(index);
        }
        cluster.assert_replicas_equal(size);
    }
}

/// The operator made the disk larger, which had a replica of this resource at that end once before.
#[test]
fn a_volume_grows_over_an_older_superblock_at_the_new_end_of_its_disk() {
    let mut cluster = Cluster::start_in_sync(1, 0);
    let mut client = cluster.client(0);
    let before = client.export().size_bytes;
    client.write(before - BLOCK as u64, &[5; BLOCK]).unwrap();
    client.close().unwrap();
    let older = cluster.directory.path().join("older");
    fs::File::create(&older).unwrap().set_len(GROWN).unwrap();
    let report = create_md(&CreateMdOptions {
        disk: older.clone(),
        metadata_disk: None,
        resource_name: "r0".to_owned(),
        volume: 0,
        first: None,
        node_id: 0,
        member_ids: vec![0],
        size_bytes: None,
        peers_max: None,
        former_bytes: None,
        overwrite: Overwrite::Refuse,
    })
    .unwrap();
    let metadata = usize::try_from(report.data_bytes).unwrap()..;
    let disk = fs::OpenOptions::new().write(true).open(cluster.disk(0)).unwrap();
    disk.set_len(GROWN).unwrap();
    disk.write_all_at(&fs::read(&older).unwrap()[metadata], report.data_bytes).unwrap();
    cluster.adm_ok(0, &["resize", "r0"]);
    wait_for_size(&cluster, 0, report.data_bytes);
    let mut client = cluster.client(0);
    assert_eq!(read(&mut client, before), [0; BLOCK]);
    client.write(before, &[6; BLOCK]).unwrap();
    client.write(report.data_bytes - BLOCK as u64, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.kill(0);
    cluster.launch(0);
    let mut client = cluster.client(0);
    assert_eq!(client.export().size_bytes, report.data_bytes);
    for (at, byte) in
        [(before - BLOCK as u64, 5), (before, 6), (report.data_bytes - BLOCK as u64, 7)]
    {
        assert_eq!(read(&mut client, at), [byte; BLOCK]);
    }
    client.close().unwrap();
}

/// A file that cannot be made longer stays as it is, and so does the volume.
#[test]
fn a_size_that_cannot_be_had_is_refused_and_changes_nothing() {
    let cluster = Cluster::start_in_sync(2, 0);
    let before = size_of(&cluster, 0).unwrap();
    let length = fs::metadata(cluster.disk(1)).unwrap().len();
    // More than any file may have on most file systems.
    let said = cluster.adm_refused(0, &["resize", "--size", "9000000G", "r0"]);
    assert!(said.contains("has room for"), "{said}");
    let said = cluster.adm_refused(0, &["resize", "--size", "16M", "r0"]);
    assert!(said.contains("cannot be made smaller"), "{said}");
    assert_eq!(size_of(&cluster, 0), Some(before));
    assert_eq!(fs::metadata(cluster.disk(1)).unwrap().len(), length);
    cluster.wait_for_log(1, "bytes longer");
    let mut client = cluster.client(0);
    client.write(0, &[5; BLOCK]).unwrap();
    client.close().unwrap();
}

/// Twice in a row: the node that serves is killed in the middle of the first time, another one in
/// that of the second. Either size is a good one; asked again, it is the new one.
#[test]
fn a_volume_grows_twice_under_load_while_nodes_die() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let load = Load::start(&cluster, "r0", 3, 12);
    cluster.poll(0, "writes", || {
        let status = cluster.status(0)?;
        (status.devices[0].statistics.as_ref()?.written > 1000).then_some(())
    });
    let before = size_of(&cluster, 0).unwrap();
    let mut last = before;
    for (victim, size_mib) in [(0, 96_u64), (2, 160)] {
        let size = size_mib << 20;
        let length = || fs::metadata(cluster.disk(victim)).unwrap().len();
        let had = length();
        let mut asked =
            cluster.adm_started(1, &["resize", "--size", &format!("{size_mib}M"), "r0"]);
        cluster.poll(1, "longer file", || (length() > had).then_some(()));
        cluster.kill(victim);
        asked.wait().unwrap();
        cluster.launch(victim);
        cluster.poll(1, "old size or the new one", || {
            size_of(&cluster, 1).filter(|known| [last, size].contains(known)).map(drop)
        });
        cluster.poll(1, "new size", || {
            if size_of(&cluster, 1) == Some(size) {
                return Some(());
            }
            drop(cluster.adm(1, &["resize", "--size", &format!("{size_mib}M"), "r0"]));
            None
        });
        (0..3).for_each(|index| cluster.wait_up_to_date(index));
        last = size;
    }
    load.loses_nothing(100);
    let mut client = cluster.client(1);
    assert_eq!(client.export().size_bytes, last);
    for at in [before, 96 << 20, last - BLOCK as u64] {
        assert_eq!(read(&mut client, at), [0; BLOCK]);
        client.write(at, &[9; BLOCK]).unwrap();
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(last);
}

/// Its file cannot become as long as the volume: it stays away, everybody says why and what to do,
/// and it returns once there is room.
#[test]
fn a_member_without_room_stays_away_until_it_has_some() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.kill(2);
    cluster.client(0).write(0, &[5; BLOCK]).unwrap();
    grow(&cluster, 0, "160M");
    wait_for_size(&cluster, 0, GROWN);
    // 100 MiB; without the signal the daemon hears of it as of a full file system.
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 204800; exec \"$@\"", "sh"];
    cluster.nodes[2].entry = limited.map(str::to_owned).into();
    cluster.launch(2);
    let said = cluster.poll(0, "reason", || {
        let status = cluster.status(0)?;
        status.reasons.iter().find(|reason| reason.contains("stays away")).cloned()
    });
    assert!(
        said.contains(&format!("the volume has {GROWN}")) && said.contains("enlarge"),
        "{said}"
    );
    cluster.wait_for_log(2, "bytes longer");
    let mut client = cluster.client(0);
    client.write(GROWN - BLOCK as u64, &[6; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.kill(2);
    cluster.nodes[2].entry.clear();
    cluster.launch(2);
    (0..3).for_each(|index| cluster.wait_up_to_date(index));
    wait_for_size(&cluster, 2, GROWN);
    cluster.assert_replicas_equal(GROWN);
}
