//! The first disk of a node that its peers took for one without: what they send lies anywhere.

use std::fs::{self, File};

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;

use crate::BLOCK;
use crate::harness::Cluster;

const WRITES: usize = 200;

/// `r0` is up on all nodes, of which the last has no disk; `r1`, with a disk there, comes later.
#[test]
fn disk_that_comes_after_the_connections_gets_what_is_written() {
    let mut cluster = Cluster::prepare(3, 1);
    let first = cluster.config_text("r0");
    let place = |index: usize| cluster.disk(index).with_extension("r1");
    let mut second = cluster.config_text("r1").replace("minor 1;", "minor 2;");
    second = second[second.find("resource").unwrap()..].to_owned();
    let own = format!("disk {}; meta-disk internal;", place(2).display());
    second = second.replace("disk none;", &own);
    let size = fs::metadata(cluster.disk(0)).unwrap().len();
    for index in 0..3 {
        File::create(place(index)).unwrap().set_len(size).unwrap();
        let disk = format!("{};", cluster.disk(index).display());
        second = second.replace(&disk, &format!("{};", place(index).display()));
    }
    let places: Vec<_> = (0..3).map(place).collect();
    cluster.configure(&(first + &second));
    cluster.begin();
    cluster.make_in_sync();

    for index in 0..3 {
        cluster.create_md(index, "r1", &[]);
        cluster.adm_ok(index, &["up", "r1"]);
    }
    let status = |index: usize| {
        let mut all = cluster.status_of_all(index)?.into_iter();
        all.find(|resource| resource.name == "r1")
    };
    cluster.poll(0, "connections of r1", || {
        let mut states = status(0)?.connections.into_iter().map(|it| it.connection_state);
        states.all(|state| state == ConnectionState::Connected).then_some(())
    });
    cluster.adm_ok(0, &["primary", "--force", "r1"]);
    cluster.poll(2, "replica of r1", || {
        (status(2)?.devices[0].disk_state == DiskState::UpToDate).then_some(())
    });
    let mut client = cluster.client_of(0, "r1");
    for turn in 0..WRITES {
        let bytes: Vec<u8> = (0..=250).cycle().skip(turn).take((turn % 8 + 1) * BLOCK).collect();
        client.write(u64::try_from(turn * 8 * BLOCK).unwrap(), &bytes).unwrap();
    }
    client.close().unwrap();
    let links = cluster.log(2).lines().filter(|line| line.contains("link up")).count();
    assert_eq!(links, 2, "the connections are those of a node without a disk");
    for index in 0..3 {
        assert!(!cluster.log(index).contains("garbage"), "{}", cluster.log(index));
        cluster.terminate(index);
    }
    let written = WRITES * 8 * BLOCK;
    let data = |index: usize| fs::read(&places[index]).unwrap()[..written].to_vec();
    let (one, other) = (data(0), data(2));
    assert!(one.iter().any(|byte| *byte != 0), "something was written");
    assert!(one == other, "the replicas differ");
}
