//! `base:allocation`: holes are told where the local replica is the volume, and nowhere else.

use std::process::Command;

use frontend::nbd::client::{BlockStatus, Connection, Wishes};
use frontend::nbd::wire::{Extent, ReplyForm, STATE_HOLE, STATE_ZERO};
use stdx::testing::skip;

use crate::BLOCK;
use crate::harness::Cluster;

const HOLE: u32 = STATE_HOLE | STATE_ZERO;
const MIB: u64 = 1 << 20;

fn ask(cluster: &Cluster, index: usize, replies: ReplyForm) -> Connection {
    let wishes = Wishes { replies, block_status: BlockStatus::Ask, ..Wishes::default() };
    let connection = Connection::open(&cluster.uri(index), &wishes).unwrap();
    assert_eq!(connection.export().replies, replies);
    assert!(connection.export().allocation_context.is_some());
    connection
}

fn extent(length_bytes: u64, state: u32) -> Extent {
    Extent { length_bytes, state }
}

/// The map of the whole volume, as a client puts it together.
fn map(client: &mut Connection) -> Vec<(u64, Extent)> {
    let size = client.export().size_bytes;
    let (mut at, mut map) = (0, Vec::new());
    while at < size {
        for found in client.block_status(at, size - at).unwrap() {
            map.push((at, found));
            at += found.length_bytes;
        }
    }
    assert_eq!(at, size);
    map
}

fn written(map: &[(u64, Extent)]) -> Vec<(u64, u64)> {
    let data = map.iter().filter(|(_, extent)| extent.state == 0);
    data.map(|&(at, extent)| (at, extent.length_bytes)).collect()
}

#[test]
fn holes_of_the_local_replica_are_told_in_both_forms() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = ask(&cluster, 0, ReplyForm::Extended);
    let size = client.export().size_bytes;
    assert_eq!(client.block_status(0, size).unwrap(), [extent(size, HOLE)]);
    client.write(MIB, &vec![7; 64 << 10]).unwrap();
    client.write(5 * MIB, &[7; BLOCK]).unwrap();
    let wanted = [
        extent(MIB, HOLE),
        extent(64 << 10, 0),
        extent(4 * MIB - (64 << 10), HOLE),
        extent(4096, 0),
        extent(size - 5 * MIB - 4096, HOLE),
    ];
    assert_eq!(client.block_status(0, size).unwrap(), wanted);
    let mut structured = ask(&cluster, 0, ReplyForm::Structured);
    assert_eq!(structured.block_status(0, size).unwrap(), wanted);
    // A part of it, from the middle of a stretch on.
    assert_eq!(client.block_status_one(MIB + 4096, MIB).unwrap(), extent(60 << 10, 0));
    client.trim(MIB, 32 << 10).unwrap();
    assert_eq!(client.block_status_one(MIB, MIB).unwrap(), extent(32 << 10, HOLE));
}

/// More extents than one answer tells: the client asks on.
#[test]
fn many_extents_are_told_in_several_answers() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = ask(&cluster, 0, ReplyForm::Extended);
    let size = client.export().size_bytes;
    for index in 0..400 {
        client.write(index * 16_384, &[1; BLOCK]).unwrap();
    }
    let first = client.block_status(0, size).unwrap();
    assert!((2..=128).contains(&first.len()), "{} extents", first.len());
    let expected: Vec<_> = (0..400).map(|index| (index * 16_384, 4096)).collect();
    assert_eq!(written(&map(&mut client)), expected);
}

/// A node without a replica, or with one that is not in sync, knows of no hole.
#[test]
fn hole_is_no_word_of_a_node_that_does_not_have_the_data() {
    let cluster = Cluster::start_in_sync(3, 1);
    let mut client = cluster.client(0);
    client.write(MIB, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = ask(&cluster, 2, ReplyForm::Extended);
    let size = client.export().size_bytes;
    assert_eq!(client.block_status(0, size).unwrap(), [extent(size, 0)], "it has no disk");
    client.close().unwrap();
    cluster.wait(2, "way back", |status| status.role == api::role::Role::Secondary);

    // A replica that was written to elsewhere while it was away, and that is not copied to yet.
    let mut client = ask(&cluster, 0, ReplyForm::Extended);
    // Before its first lease it cannot tell what others wrote.
    cluster.wait(0, "first lease", |status| status.devices[0].quorum);
    assert_eq!(written(&map(&mut client)), [(MIB, 4096)]);
    cluster.adm_ok(0, &["detach", "r0"]);
    for index in 0..24 {
        client.write((2 + index) * MIB, &vec![8; 1 << 20]).unwrap();
    }
    assert_eq!(client.block_status(0, size).unwrap(), [extent(size, 0)], "it gave its disk up");
    cluster.adm_ok(0, &["attach", "r0"]);
    let during = map(&mut client);
    let is_data = |at| {
        let found = during.iter().rfind(|(start, _)| *start <= at).unwrap();
        found.1.state == 0
    };
    assert!((1..26).all(|index| is_data(index * MIB)), "{during:?}");
    cluster.wait_up_to_date(0);
    let after = map(&mut client);
    assert_eq!(after.last().unwrap().1.state, HOLE, "what nobody wrote: {after:?}");
}

#[test]
fn qemu_and_libnbd_read_the_map() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(3 * MIB, &vec![7; 128 << 10]).unwrap();
    let uri = cluster.uri(0).to_string();
    let mut missing = Vec::new();
    for (program, words, parts) in [
        ("qemu-img", ["map", "--output=json"], ["\"start\": 3145728, \"length\": 131072", "true"]),
        ("nbdinfo", ["--map", "--no-content"], ["3145728      131072    0  data", "hole,zero"]),
    ] {
        match Command::new(program).args(words).arg(&uri).output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{program}: {output:?}");
                for part in parts {
                    assert!(said.contains(part), "no {part:?} in {program}: {said}");
                }
            }
            Err(error) => missing.push(format!("{program}: {error}")),
        }
    }
    if !missing.is_empty() {
        skip(&missing.join("; "));
    }
}
