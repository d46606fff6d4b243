//! The life of a volume: it grows, gets replicas and loses them, and goes on without
//! a node that is lost.

use frontend::nbd::client::Connection;
use serde_json::{Value, json};

use crate::harness::{Plane, is_empty};

const BLOCK: usize = 4096;

fn write(client: &mut Connection, block: u64, byte: u8) {
    client.write(block * BLOCK as u64, &[byte; BLOCK]).unwrap();
}

#[track_caller]
fn read(client: &mut Connection, block: u64) -> u8 {
    let mut bytes = [0; BLOCK];
    client.read(block * BLOCK as u64, &mut bytes).unwrap();
    assert!(bytes.iter().all(|it| *it == bytes[0]), "one block of one write");
    bytes[0]
}

fn placement(plane: &Plane, node: &str) -> Option<Value> {
    let volume = plane.json(&["volume", "show", "db"]);
    let placements = volume["placements"].as_array().unwrap();
    placements.iter().find(|it| it["node"] == node).cloned()
}

#[track_caller]
fn wait_up_to_date(plane: &Plane, node: &str) {
    plane.poll("a replica that is up to date", || {
        let placement = placement(plane, node)?;
        (placement["disk"] == "UpToDate" && placement["stage"] == "in").then_some(())
    });
}

#[test]
fn volume_grows_under_its_client_and_what_is_new_is_zero() {
    let plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    let mut client = plane.client(0, "db");
    write(&mut client, 4095, 7);
    assert_eq!(plane.ok(&["volume", "grow", "--size", "3G", "db"]), "db has 3 GiB\n");
    assert_eq!(plane.json(&["volume", "show", "db"])["size_bytes"], json!(3_u64 << 30));
    write(&mut client, 4094, 8);
    client.close().unwrap();
    let mut client = plane.client(0, "db");
    assert_eq!(client.export().size_bytes, 3 << 30);
    write(&mut client, (3 << 18) - 1, 9);
    let found = [4094, 4095, 4096, (3 << 18) - 1].map(|block| read(&mut client, block));
    assert_eq!(found, [8, 7, 0, 9]);
    for (size, told) in
        [("3G", "are not more"), ("1M", "are not more"), ("900T", "\"db\" has room for more")]
    {
        let refused = plane.refused(&["volume", "grow", "--size", size, "db"]);
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn replica_that_was_away_while_the_volume_grew_gets_all_of_it() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    plane.kill_machine(2);
    plane.wait_offline(2);
    plane.ok(&["volume", "grow", "--size", "2G", "db"]);
    let mut client = plane.client(0, "db");
    write(&mut client, (2 << 18) - 1, 9);
    plane.launch_daemon(2);
    plane.launch_agent(2);
    wait_up_to_date(&plane, "n2");
}

#[test]
fn replica_is_added_under_a_client_and_another_one_dropped_and_the_data_stays() {
    let plane = Plane::of(4);
    let words = "volume create --size 16M --replicas 2 --on n0 --on n1 --attach n0 db";
    plane.ok(&words.split(' ').collect::<Vec<_>>());
    let mut client = plane.client(0, "db");
    write(&mut client, 1, 7);
    let witness = plane.json(&["volume", "show", "db"])["placements"][2]["node"].clone();
    let witness = witness.as_str().unwrap();
    // Once with the node that votes already, and once with the other.
    for (on, other) in [("n2", "n3"), ("n3", "n2")] {
        let told = plane.ok(&["volume", "add-replica", "--on", on, "db"]);
        assert!(told.starts_with(&format!("{on} gets the data of db from the others\n")), "{told}");
        wait_up_to_date(&plane, on);
        if on != witness {
            // Three replicas take no witness.
            plane
                .poll("an end of the witness", || placement(&plane, other).is_none().then_some(()));
        }
        plane.ok(&["volume", "drop-replica", "--on", on, "db"]);
    }
    let told = plane.ok(&["volume", "add-replica", "--on", "n3", "db"]);
    assert!(told.starts_with("n3 gets the data of db from the others\n"), "{told}");
    wait_up_to_date(&plane, "n3");
    // Three replicas take no witness.
    plane.poll("an end of the witness", || placement(&plane, "n2").is_none().then_some(()));
    write(&mut client, 2, 8);
    plane.ok(&["volume", "drop-replica", "--on", "n1", "db"]);
    assert!(is_empty(&plane.pool(1)), "n1 has something left");
    // Two take one again.
    plane.poll("a witness", || {
        let volume = plane.json(&["volume", "show", "db"]);
        let kinds = volume["placements"].as_array()?.iter().map(|it| it["kind"].clone());
        (kinds.collect::<Vec<_>>() == ["replica", "replica", "witness"]).then_some(())
    });
    write(&mut client, 3, 9);
    client.close().unwrap();
    plane.poll("its end", || {
        plane.basalt(&["volume", "detach", "db"]).status.success().then_some(())
    });
    plane.ok(&["volume", "attach", "--on", "n3", "db"]);
    let mut client = plane.client(3, "db");
    assert_eq!([1, 2, 3].map(|block| read(&mut client, block)), [7, 8, 9]);
}

#[test]
fn replica_is_dropped_while_nobody_has_the_volume() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "db"]);
    plane.ok(&["volume", "drop-replica", "--on", "n2", "db"]);
    assert!(is_empty(&plane.pool(2)), "n2 has something left");
    plane.poll("a witness in its place", || {
        (placement(&plane, "n2")?["kind"] == "witness").then_some(())
    });
    plane.ok(&["volume", "add-replica", "--on", "n2", "db"]);
    wait_up_to_date(&plane, "n2");
    // A machine that is off is in sync as far as anybody knows: it is waited for.
    plane.kill_machine(2);
    plane.wait_offline(2);
    plane.ok(&["volume", "attach", "--on", "n0", "db"]);
    write(&mut plane.client(0, "db"), 1, 7);
    plane.ok(&["volume", "drop-replica", "--on", "n2", "db"]);
    assert!(!is_empty(&plane.pool(2)), "its machine is off");
    plane.launch_daemon(2);
    plane.launch_agent(2);
    plane.poll("an end of its disk", || is_empty(&plane.pool(2)).then_some(()));
    assert_eq!(read(&mut plane.client(0, "db"), 1), 7);
}

#[test]
fn node_without_a_replica_gets_the_device_and_nothing_of_it_stays() {
    let plane = Plane::of(4);
    let words = "volume create --size 16M --on n0 --on n1 --on n2 --attach n3 db";
    let told = plane.ok(&words.split(' ').collect::<Vec<_>>());
    assert!(told.contains("device on n3: "), "{told}");
    let mut client = plane.client(3, "db");
    write(&mut client, 1, 7);
    assert_eq!(placement(&plane, "n3").unwrap()["kind"], "client");
    client.close().unwrap();
    plane.poll("its end", || {
        plane.basalt(&["volume", "detach", "db"]).status.success().then_some(())
    });
    plane.poll("an end of the client", || placement(&plane, "n3").is_none().then_some(()));
    plane.poll("a device there again", || {
        plane.basalt(&["volume", "attach", "--on", "n3", "db"]).status.success().then_some(())
    });
    assert_eq!(read(&mut plane.client(3, "db"), 1), 7);
}

#[test]
fn last_copy_is_neither_dropped_nor_lost_with_its_node() {
    let mut plane = Plane::of(3);
    let words = "volume create --size 16M --replicas 1 --on n0 one";
    plane.ok(&words.split(' ').collect::<Vec<_>>());
    plane.ok(&["volume", "create", "--size", "16M", "db"]);
    let refused = plane.refused(&["volume", "drop-replica", "--on", "n0", "one"]);
    assert!(refused.contains("no replica of \"one\" but that on n0 is UpToDate"), "{refused}");
    let refused = plane.refused(&["node", "lost", "n0"]);
    assert!(refused.contains("n0 is online, and not lost"), "{refused}");
    plane.kill_machine(0);
    plane.wait_offline(0);
    let refused = plane.refused(&["node", "lost", "n0"]);
    assert!(refused.contains("has an UpToDate replica of one\n"), "{refused}");
    plane.ok(&["volume", "delete", "one"]);
    plane.ok(&["node", "lost", "n0"]);
    let nodes = plane.json(&["node", "list"]);
    assert_eq!(nodes.as_array().unwrap().len(), 2, "{nodes}");
    assert!(placement(&plane, "n0").is_none());
    // Two of two: without a third there is no witness.
    plane.ok(&["volume", "attach", "--on", "n1", "db"]);
    write(&mut plane.client(1, "db"), 1, 7);
    // A machine of the old name is a new node.
    plane.launch_agent(0);
    plane.poll("a word for the old agent", || {
        plane.logs().contains("is of no node of this cluster").then_some(())
    });
}
