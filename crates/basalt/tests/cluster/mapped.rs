//! Metadata in a file of its own, and metadata that is written by stores, as on persistent memory:
//! what they said is there after all daemons were killed.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::resize::{GROWN, size_of, wait_for_size};

const ENVIRONMENT: &[(&str, &str)] = &[("BASALT_METADATA", "mapped")];

fn metadata(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.directory.path().join(format!("metadata{index}"))
}

fn start(environment: &[(&str, &str)]) -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    let mut text = cluster.config_text("r0");
    for index in 0..3 {
        let metadata = metadata(&cluster, index);
        File::create(&metadata).unwrap().set_len(4 << 20).unwrap();
        let disk = format!("disk {}; meta-disk", cluster.disk(index).display());
        let external = format!("{disk} {};", metadata.display());
        text = text.replace(&format!("{disk} internal;"), &external);
    }
    fs::write(cluster.config(), text).unwrap();
    for index in 0..3 {
        let name = cluster.nodes[index].name.clone();
        cluster.adm_ok(index, &["create-md", "--force", "--node", &name, "r0"]);
        cluster.launch_with(index, environment);
        cluster.adm_ok(index, &["up", "r0"]);
    }
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    for index in 1..3 {
        cluster.wait_up_to_date(index);
    }
    cluster
}

#[test]
fn what_was_written_outlives_all_daemons() {
    let mut cluster = start(ENVIRONMENT);
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
            cluster.launch_with(index, ENVIRONMENT);
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
        let mut cluster = start(environment);
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
            cluster.launch_with(2, environment);
            (0..3).for_each(|index| cluster.wait_up_to_date(index));
        }
        (0..3).for_each(|index| cluster.kill(index));
        (0..3).for_each(|index| cluster.launch_with(index, environment));
        let mut client = cluster.client(0);
        let mut found = [0; BLOCK];
        client.read(before, &mut found).unwrap();
        assert_eq!(found, [5; BLOCK]);
        client.close().unwrap();
        (0..3).for_each(|index| cluster.wait_up_to_date(index));
        cluster.assert_replicas_equal(GROWN);
    }
}
