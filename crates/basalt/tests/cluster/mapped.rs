//! Metadata in a file of its own, and metadata that is written by stores, as on persistent memory:
//! what they said is there after all daemons were killed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;

use api::disk_state::DiskState;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES};
use crate::resize::{GROWN, size_of, wait_for_size};

const ENVIRONMENT: &[(&str, &str)] = &[("BASALT_METADATA", "mapped")];
const METADATA_BYTES: u64 = 4 << 20;
/// For 8 slots and 16 lanes, and up to 2 GiB of data: a second superblock right behind the bitmap.
const LEAST_BYTES: u64 = 2_629_632;
const PAGE_BYTES: u64 = 4096;
const LARGE: u64 = 2304 << 20;

fn metadata(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.directory.path().join(format!("metadata{index}"))
}

/// How often the superblock there was written.
fn write_counter(cluster: &Cluster, index: usize, offset: u64) -> Option<u64> {
    let mut block = [0; BLOCK];
    let file = File::open(metadata(cluster, index)).unwrap();
    file.read_exact_at(&mut block, offset).unwrap();
    let counter = block[512..].first_chunk().unwrap();
    block.starts_with(b"BASALTSB").then(|| u64::from_le_bytes(*counter))
}

fn lengthen(cluster: &Cluster, index: usize, (data_bytes, metadata_bytes): (u64, u64)) {
    let files = [(cluster.disk(index), data_bytes), (metadata(cluster, index), metadata_bytes)];
    for (path, size_bytes) in files {
        File::options().write(true).open(path).unwrap().set_len(size_bytes).unwrap();
    }
}

fn start(
    nodes: usize,
    environment: &[(&'static str, &'static str)],
    metadata_bytes: u64,
) -> Cluster {
    let mut cluster = Cluster::prepare(nodes, 0);
    for index in 0..nodes {
        let metadata = metadata(&cluster, index);
        File::create(&metadata).unwrap().set_len(metadata_bytes).unwrap();
        cluster.nodes[index].metadata = Some(metadata);
        cluster.nodes[index].environment.extend_from_slice(environment);
    }
    cluster.configure(&cluster.config_text("r0"));
    (0..nodes).for_each(|index| cluster.create_md(index, "r0", &["--force"]));
    cluster.begin();
    cluster.make_in_sync();
    cluster
}

/// A data file that was cut was made longer for the larger volume, over zeroes where it was cut.
#[test]
fn data_file_that_was_cut_is_given_up_and_not_made_longer() {
    let cluster = start(2, &[], METADATA_BYTES);
    let cut = DISK_BYTES / 2;
    File::options().write(true).open(cluster.disk(1)).unwrap().set_len(cut).unwrap();
    drop(cluster.adm(0, &["resize", "--size", "96M", "r0"]));
    cluster
        .wait(1, "end of the disk", |status| status.devices[0].disk_state == DiskState::Diskless);
    assert_eq!(File::open(cluster.disk(1)).unwrap().metadata().unwrap().len(), cut);
    let log = cluster.log(1);
    assert!(log.contains(&format!("has {cut} bytes, and had {DISK_BYTES} or more")), "{log}");
}

#[test]
fn what_was_written_outlives_all_daemons() {
    let mut cluster = start(3, ENVIRONMENT, METADATA_BYTES);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    let last = size / (1 << 20) - 1;
    for round in 0..3_u8 {
        for mib in 0..last {
            client.write(mib << 20, &[round + 1; BLOCK]).unwrap();
        }
        // A member that is away makes bits, and they are stored as well.
        cluster.kill(2);
        client.write(last << 20, &[round + 11; BLOCK]).unwrap();
        cluster.kill(0);
        cluster.kill(1);
        for index in 0..3 {
            cluster.launch(index);
            cluster.wait_for_log(index, "the metadata is mapped");
        }
        client = cluster.client(0);
        let mut found = [0; BLOCK];
        for mib in 0..=last {
            client.read(mib << 20, &mut found).unwrap();
            let written = if mib == last { round + 11 } else { round + 1 };
            assert_eq!(found, [written; BLOCK], "MiB {mib} in round {round}");
        }
        for index in 1..3 {
            cluster.wait_up_to_date(index);
        }
    }
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

/// The second superblock is at the end of that file: each replica was given up at the first write
/// there, for the data threads used the file as long as it was.
#[test]
fn a_volume_grows_after_the_file_of_its_metadata_did() {
    for environment in [&[], ENVIRONMENT] {
        let mut cluster = start(3, environment, METADATA_BYTES);
        let before = size_of(&cluster, 0).unwrap();
        for index in 0..3 {
            let file = File::options().write(true).open(metadata(&cluster, index)).unwrap();
            file.set_len(8 << 20).unwrap();
        }
        cluster.adm_ok(1, &["resize", "--size", "160M", "r0"]);
        for index in 0..3 {
            wait_for_size(&cluster, index, GROWN);
        }
        for round in 0..2_u64 {
            // Each loss and each return is written down, in one place and the other.
            cluster.kill(2);
            let mut client = cluster.client(0);
            client.write(before + (round << 20), &[5; BLOCK]).unwrap();
            client.close().unwrap();
            cluster.launch(2);
            (0..3).for_each(|index| cluster.wait_up_to_date(index));
        }
        (0..3).for_each(|index| cluster.kill(index));
        (0..3).for_each(|index| cluster.launch(index));
        let mut client = cluster.client(0);
        let mut found = [0; BLOCK];
        client.read(before, &mut found).unwrap();
        assert_eq!(found, [5; BLOCK]);
        client.close().unwrap();
        (0..3).for_each(|index| cluster.wait_up_to_date(index));
        cluster.assert_replicas_equal(GROWN);
    }
}

/// The bitmap of the larger volume goes over the second superblock, which was made zeroes before
/// anything else said what it did.
#[test]
fn a_bitmap_that_does_not_grow_leaves_the_second_superblock() {
    let mut cluster = start(3, &[], LEAST_BYTES);
    cluster.kill(2);
    let mut client = cluster.client(0);
    client.write(0, &[5; BLOCK]).unwrap();
    client.close().unwrap();
    // What the activity log names becomes marks, and those of the member that is away stay.
    cluster.kill(0);
    cluster.launch(0);
    (0..2).for_each(|index| lengthen(&cluster, index, (LARGE, METADATA_BYTES)));
    let second = LEAST_BYTES - PAGE_BYTES;
    thread::scope(|scope| {
        // It is asked once it is up to date again, or refuses by itself when it returns.
        let asking = scope.spawn(|| {
            cluster.poll(0, "growth that is refused", || {
                drop(cluster.adm(0, &["resize", "--size", "2304M", "r0"]));
                cluster.log(0).contains("it marks what members miss").then_some(())
            });
        });
        // Any later save could bring it back.
        while !asking.is_finished() {
            assert!(write_counter(&cluster, 0, second).is_some(), "it is away for a moment");
        }
        asking.join().unwrap();
    });
    cluster.kill(0);
    assert!([0, second].iter().all(|&offset| write_counter(&cluster, 0, offset).is_some()));
}

/// The same where it grows: nothing of that superblock is left in the bitmap.
#[test]
fn a_bitmap_grows_over_the_second_superblock() {
    let mut cluster = start(1, &[], LEAST_BYTES);
    lengthen(&cluster, 0, (LARGE, METADATA_BYTES));
    cluster.adm_ok(0, &["resize", "--size", "2304M", "r0"]);
    wait_for_size(&cluster, 0, LARGE);
    let mut client = cluster.client(0);
    client.write(LARGE - BLOCK as u64, &[6; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.kill(0);
    let counter = |offset| write_counter(&cluster, 0, offset);
    assert!([0, METADATA_BYTES - PAGE_BYTES].map(counter).iter().all(Option::is_some));
    assert_eq!(counter(LEAST_BYTES - PAGE_BYTES), None);
    cluster.launch(0);
    let mut client = cluster.client(0);
    let mut found = [0; BLOCK];
    client.read(LARGE - BLOCK as u64, &mut found).unwrap();
    assert_eq!(found, [6; BLOCK]);
    client.close().unwrap();
}
