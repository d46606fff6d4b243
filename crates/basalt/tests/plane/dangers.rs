//! Dangers for data, or for the way to it: a delete under a client, a machine that dies with a
//! volume open, a store that is an old copy, a name that a hand-made resource has.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::deaths::{ask, post};
use crate::harness::{PROGRAM, Plane, is_empty};

const BLOCK: usize = 4096;

/// The replicas of the two other nodes were deleted, and the client's writes went to one.
#[test]
fn volume_is_not_deleted_under_a_client_whose_agent_is_dead() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    let mut client = plane.client(0, "db");
    plane.kill_agent(0);
    plane.wait_offline(0);
    let told = ask(plane.listen, "DELETE /basalt/v1/volumes/db", "Host: localhost\r\n", "");
    assert!(told.starts_with("HTTP/1.1 202"), "{told}");
    plane.poll("the wish at the other nodes", || {
        let operation = plane.json(&["operation", "list"]);
        let waits = operation.as_array()?.last()?["told"].as_str()?.to_owned();
        waits.contains("n1 is at it").then_some(())
    });
    client.write(0, &[7; BLOCK]).unwrap();
    for index in 0..3 {
        assert!(!is_empty(&plane.pool(index)), "n{index} deleted it under the client");
    }
    client.close().unwrap();
    plane.launch_agent(0);
    plane.poll("an end of the volume", || {
        (plane.json(&["volume", "list"]) == json!([])).then_some(())
    });
    plane.poll("an end of its disks", || {
        (0..3).all(|index| is_empty(&plane.pool(index))).then_some(())
    });
}

#[test]
fn volume_of_a_machine_that_died_with_it_open_goes_to_another_one() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    let mut client = plane.client(0, "db");
    client.write(0, &[7; BLOCK]).unwrap();
    plane.poll("word of the client", || {
        (plane.json(&["volume", "show", "db"])["placements"][0]["in_use"] == true).then_some(())
    });
    plane.kill_machine(0);
    plane.wait_offline(0);
    let shown = plane.json(&["volume", "show", "db"]);
    assert_eq!(shown["placements"][0]["disk"], json!(null), "{shown}");
    plane.ok(&["volume", "detach", "db"]);
    plane.ok(&["volume", "attach", "--on", "n1", "db"]);
    let mut read = [0; BLOCK];
    plane.client(1, "db").read(0, &mut read).unwrap();
    assert_eq!(read, [7; BLOCK]);
}

#[test]
fn store_that_is_an_old_copy_is_believed_only_when_somebody_says_so() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "old"]);
    let store = plane.root("controller").join("store.redb");
    plane.kill_controller();
    let copy = fs::read(&store).unwrap();
    plane.launch_controller();
    (0..3).for_each(|index| plane.wait_online(index));
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "new"]);
    plane.ok(&["volume", "delete", "old"]);
    plane.kill_controller();
    fs::write(&store, copy).unwrap();
    plane.launch_controller();
    (0..3).for_each(|index| plane.wait_online(index));
    plane.poll("word of the old copy", || {
        let nodes = plane.json(&["node", "list"]);
        let told = |it: &serde_json::Value| {
            it["problem"].as_str().is_some_and(|it| it.contains("`basalt cluster restored`"))
        };
        nodes.as_array()?.iter().all(told).then_some(())
    });
    plane.client(0, "new").write(0, &[7; BLOCK]).unwrap();
    let refused = plane.refused(&["volume", "create", "--size", "16M", "other"]);
    assert!(refused.contains("`basalt cluster restored` goes on with that"), "{refused}");
    plane.ok(&["cluster", "restored"]);
    let refused = plane.refused(&["cluster", "restored"]);
    assert!(refused.contains("the store is no old copy"), "{refused}");
    plane.poll("a volume by it", || {
        let words = ["volume", "create", "--size", "16M", "other"];
        plane.basalt(&words).status.success().then_some(())
    });
    let mut read = [0; BLOCK];
    plane.client(0, "new").read(0, &mut read).unwrap();
    assert_eq!(read, [7; BLOCK], "nobody takes away what the store does not know");
}

/// A birth under its name took its vote away, and it was refused by its own peers from then on.
#[test]
fn resource_that_somebody_made_by_hand_and_took_down_keeps_its_vote() {
    let plane = Plane::of(1);
    let folder = plane.root("hand");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("byhand.res");
    let (data, socket) = (folder.join("data"), plane.socket(0));
    fs::File::create(&data).unwrap().set_len(64 << 20).unwrap();
    let text = format!(
        "resource byhand {{ on n0 {{ node-id 0; address 127.0.0.1:{}; volume 0 {{ device minor 1; \
         disk {}; meta-disk internal; }} }} }}",
        crate::harness::own_port(),
        data.display()
    );
    fs::write(&file, text).unwrap();
    let adm = |words: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(["adm", "--node-socket", socket.to_str().unwrap()]);
        let output = command.args(["--config-file", file.to_str().unwrap()]).args(words).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    adm(&["create-md", "--node", "n0", "byhand"]);
    for verb in ["up", "new-current-uuid", "down"] {
        let clear = if verb == "new-current-uuid" { &["--clear-bitmap"][..] } else { &[] };
        adm(&[&[verb], clear, &["byhand"]].concat());
    }
    let wish = json!({ "name": "byhand", "size_bytes": 16 << 20, "replicas": 1 });
    let told = post(plane.listen, "volumes", &wish.to_string());
    assert!(told.starts_with("HTTP/1.1 202"), "{told}");
    plane.poll("word of the vote", || {
        let shown = plane.basalt(&["volume", "show", "byhand"]);
        String::from_utf8_lossy(&shown.stdout)
            .contains("this node keeps the vote of a resource \"byhand\", which is down")
            .then_some(())
    });
    adm(&["up", "byhand"]);
    adm(&["primary", "byhand"]);
}
