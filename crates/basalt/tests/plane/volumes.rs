//! What a user does with volumes.

use serde_json::json;

use crate::harness::{Plane, is_empty};

const BLOCK: usize = 4096;

#[test]
fn volume_comes_from_nothing_is_written_and_goes_without_a_trace() {
    let plane = Plane::of(3);
    let told = plane.ok(&["volume", "create", "--size", "64M", "--attach", "n1", "db"]);
    assert!(told.starts_with("db is ready, on n0, n1, n2\n"), "{told}");
    assert!(told.contains("device on n1: /dev/basalt/by-res/db/0\n"), "{told}");
    let mut client = plane.client(1, "db");
    assert_eq!(client.export().size_bytes, 64 << 20);
    client.write(0, &[7; BLOCK]).unwrap();
    let mut read = vec![0; BLOCK];
    client.read(0, &mut read).unwrap();
    assert_eq!(read, [7; BLOCK]);
    plane.poll("word of the client", || {
        let volume = plane.json(&["volume", "show", "db"]);
        (volume["placements"][1]["in_use"] == true).then_some(())
    });
    let refused = plane.refused(&["volume", "delete", "db"]);
    assert!(refused.contains("somebody has \"db\" open on n1"), "{refused}");
    assert!(refused.contains("try: on n1 end what uses it"), "{refused}");
    client.close().unwrap();
    plane.poll("its end", || {
        plane.basalt(&["volume", "delete", "db"]).status.success().then_some(())
    });
    assert_eq!(plane.json(&["volume", "list"]), json!([]));
    for index in 0..3 {
        assert!(is_empty(&plane.pool(index)), "n{index} has something left");
    }
}

#[test]
fn every_replica_is_up_to_date_from_the_start_and_each_node_serves_it() {
    let plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "db"]);
    let volume = plane.json(&["volume", "show", "db"]);
    for index in 0..3 {
        assert_eq!(volume["placements"][index]["disk"], "UpToDate", "{volume}");
    }
    for index in 0..3 {
        plane.ok(&["volume", "attach", "--on", &format!("n{index}"), "db"]);
        let mut client = plane.client(index, "db");
        let mut read = vec![0; BLOCK];
        client.read(0, &mut read).unwrap();
        assert!(read.iter().all(|byte| usize::from(*byte) == index), "of the one before");
        client.write(0, &vec![u8::try_from(index + 1).unwrap(); BLOCK]).unwrap();
        client.close().unwrap();
        let other = if index == 0 { "n1" } else { "n0" };
        let refused = plane.refused(&["volume", "attach", "--on", other, "db"]);
        assert!(refused.contains(&format!("\"db\" is attached to n{index}")), "{refused}");
        plane.poll("its end", || {
            plane.basalt(&["volume", "detach", "db"]).status.success().then_some(())
        });
    }
}

#[test]
fn two_replicas_get_a_witness_and_a_dry_run_says_so_and_makes_nothing() {
    let plane = Plane::of(3);
    let words = ["volume", "create", "--size", "16M", "--replicas", "2", "--dry-run", "db"];
    let told = plane.ok(&words);
    assert!(told.contains("it votes, for the replicas are even in number"), "{told}");
    assert_eq!(plane.json(&["volume", "list"]), json!([]));
    plane.ok(&["volume", "create", "--size", "16M", "--replicas", "2", "db"]);
    let kinds = plane.json(&["volume", "show", "db"]);
    let kinds: Vec<_> = (0..3).map(|at| kinds["placements"][at]["kind"].clone()).collect();
    assert_eq!(kinds, ["replica", "replica", "witness"]);
}

#[test]
fn wrong_wishes_are_refused_with_what_to_type() {
    let plane = Plane::of(1);
    plane.ok(&["volume", "create", "--size", "16M", "--replicas", "1", "db"]);
    for (words, message, to_try) in [
        ("create --size 16M --replicas 1 DB", "there is a volume \"DB\" already", "volume list"),
        ("create --size 16M db2", "not enough places for the replicas", "cluster join"),
        ("create --size 16M --replicas 1 --on n9 db2", "there is no node \"n9\"", "node list"),
        (
            "create --size 16M --replicas 1 --pool fast db2",
            "it is not the pool that was",
            "pool add",
        ),
        ("create --size 1K --replicas 1 db2", "a volume has 1048576 to", "10G"),
        ("create --size 900T --replicas 1 db2", "no room: ", "pool add"),
        ("create --size 16M --replicas 1 a/b", "\"a/b\" is no name for a volume", "another name"),
        ("create --size 16M --replicas 1 all", "\"all\" is no name for a volume", "another name"),
        ("delete nosuch", "there is no volume \"nosuch\"", "volume list"),
        ("delete ../nodes", "there is no volume \"../nodes\"", "volume list"),
        ("show nosuch", "there is no volume \"nosuch\"", "volume list"),
        ("attach --on n9 db", "there is no node \"n9\"", "node list"),
        ("detach nosuch", "there is no volume \"nosuch\"", "volume list"),
    ] {
        let words: Vec<&str> = std::iter::once("volume").chain(words.split(' ')).collect();
        let told = plane.refused(&words);
        assert!(told.contains(message), "{words:?}: {told}");
        assert!(told.contains("\n  try: ") && told.contains(to_try), "{words:?}: {told}");
        let listed = plane.basalt(&[&words[..], &["--json"]].concat());
        let answer: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        assert_eq!(answer[0]["ok"], false, "{answer}");
    }
    let told = plane.refused(&["pool", "add", "n0", "fast", "relative/path"]);
    assert!(told.contains("\"relative/path\" is no whole path of a folder"), "{told}");
    let told = plane.refused(&["operation", "show", "99"]);
    assert!(told.contains("there is no operation 99"), "{told}");
    assert_eq!(plane.json(&["volume", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn pool_that_is_added_takes_volumes() {
    let plane = Plane::of(1);
    let folder = plane.root("n0").join("fast");
    plane.ok(&["pool", "add", "--full", "n0", "fast", folder.to_str().unwrap()]);
    let words = ["volume", "create", "--size", "16M", "--replicas", "1", "--pool", "fast", "db"];
    plane.poll("room in it", || plane.basalt(&words).status.success().then_some(()));
    assert!(!is_empty(&folder));
    let pools = plane.json(&["pool", "list"]);
    assert_eq!((&pools[1]["name"], &pools[1]["kind"]), (&json!("fast"), &json!("FILE")));
    assert_eq!((&pools[1]["promised_bytes"], &pools[1]["replicas"]), (&json!(16 << 20), &json!(1)));
}
