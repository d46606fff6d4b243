//! Metadata that is written by stores, as on persistent memory: what they said is there after all
//! daemons were killed.

use std::fs::{self, File};

use crate::BLOCK;
use crate::harness::Cluster;

const ENVIRONMENT: &[(&str, &str)] = &[("BASALT_METADATA", "mapped")];

fn start() -> Cluster {
    let mut cluster = Cluster::prepare(3, 0);
    let mut text = cluster.config_text("r0");
    for index in 0..3 {
        let metadata = cluster.directory.path().join(format!("metadata{index}"));
        File::create(&metadata).unwrap().set_len(4 << 20).unwrap();
        let disk = format!("disk {}; meta-disk", cluster.disk(index).display());
        let external = format!("{disk} {};", metadata.display());
        text = text.replace(&format!("{disk} internal;"), &external);
    }
    fs::write(cluster.config(), text).unwrap();
    for index in 0..3 {
        let name = cluster.nodes[index].name.clone();
        cluster.adm_ok(index, &["create-md", "--force", "--node", &name, "r0"]);
        cluster.launch_with(index, ENVIRONMENT);
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
    let mut cluster = start();
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
