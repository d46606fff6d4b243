//! Processes of the control plane die, and machines are away.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Plane, is_empty};

#[test]
fn volumes_are_served_without_a_controller_and_the_next_one_knows_all() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    let before = plane.json(&["volume", "show", "db"]);
    plane.kill_controller();
    let mut client = plane.client(0, "db");
    client.write(0, &[1; 4096]).unwrap();
    let told = plane.refused(&["volume", "list"]);
    assert!(told.contains("cannot reach the controller at 127.0.0.1:"), "{told}");
    assert!(told.contains("`basalt cluster start` on the machine of the controller"), "{told}");
    plane.launch_controller();
    client.write(4096, &[2; 4096]).unwrap();
    client.close().unwrap();
    (0..3).for_each(|index| plane.wait_online(index));
    let after = plane.poll("what the agents tell", || {
        let volume = plane.json(&["volume", "show", "db"]);
        (volume["placements"] == before["placements"]).then_some(volume)
    });
    assert_eq!(after, before);
}

#[test]
fn volume_is_deleted_while_a_machine_is_away_which_takes_its_part_away_later() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "db"]);
    plane.kill_machine(2);
    plane.wait_offline(2);
    plane.ok(&["volume", "delete", "db"]);
    assert_eq!(plane.json(&["volume", "list"]), json!([]));
    assert!(is_empty(&plane.pool(0)) && is_empty(&plane.pool(1)));
    assert!(!is_empty(&plane.pool(2)));
    // Its name is free at once, and the new volume is another one.
    let words = ["volume", "create", "--size", "16M", "--replicas", "1", "--on", "n0", "db"];
    plane.ok(&words);
    plane.launch_daemon(2);
    plane.launch_agent(2);
    plane.poll("an empty pool", || is_empty(&plane.pool(2)).then_some(()));
    assert_eq!(plane.json(&["volume", "list"]).as_array().unwrap().len(), 1);
}

/// The pool of a machine is not mounted after a start: nothing blank takes its place.
#[test]
fn disk_that_is_away_is_told_and_counts_again_when_it_is_back() {
    let mut plane = Plane::of(3);
    plane.ok(&["volume", "create", "--size", "16M", "--attach", "n0", "db"]);
    let mut client = plane.client(0, "db");
    client.write(0, &[5; 4096]).unwrap();
    client.close().unwrap();
    plane.kill_machine(2);
    let (pool, away) = (plane.pool(2), plane.root("n2").join("away"));
    std::fs::rename(&pool, &away).unwrap();
    plane.launch_daemon(2);
    plane.launch_agent(2);
    plane.poll("word of the disk", || {
        let volume = plane.json(&["volume", "show", "db"]);
        let problem = volume["placements"][2]["problem"].as_str()?.to_owned();
        problem.contains("is gone: see whether the file system").then_some(())
    });
    assert!(is_empty(&pool), "nothing was made");
    plane.kill_machine(2);
    std::fs::remove_dir(&pool).ok();
    std::fs::rename(&away, &pool).unwrap();
    plane.launch_daemon(2);
    plane.launch_agent(2);
    plane.poll("the replica", || {
        let volume = plane.json(&["volume", "show", "db"]);
        let replica = &volume["placements"][2];
        (replica["disk"] == "UpToDate" && replica["problem"].is_null()).then_some(())
    });
}

#[test]
fn node_that_is_offline_gets_no_replica_and_the_refusal_says_since_when() {
    let mut plane = Plane::of(2);
    plane.kill_machine(1);
    plane.wait_offline(1);
    let told = plane.refused(&["volume", "create", "--size", "16M", "--replicas", "2", "db"]);
    assert!(told.contains("n1 default: it is offline: its agent called last "), "{told}");
    plane.ok(&["volume", "create", "--size", "16M", "--replicas", "1", "db"]);
}

/// Wherever it dies, what it had begun is made anew or gone on with.
#[test]
fn agents_that_die_again_and_again_make_each_volume_once() {
    let mut plane = Plane::of(3);
    for round in 0..6u64 {
        let name = format!("v{round}");
        let wish = json!({ "name": name, "size_bytes": 16 << 20, "replicas": 3 });
        let (listen, body) = (plane.listen, wish.to_string());
        let asked = std::thread::spawn(move || post(listen, "volumes", &body));
        for death in 0..3 {
            std::thread::park_timeout(Duration::from_millis(30 * round + 20 * death));
            let index = usize::try_from((round + death) % 3).unwrap();
            plane.kill_agent(index);
            plane.launch_agent(index);
        }
        assert!(asked.join().unwrap().starts_with("HTTP/1.1 202"));
        plane.poll("the volume ready", || {
            let volume = plane.json(&["volume", "show", &name]);
            (volume["state"] == "ready").then_some(())
        });
    }
    let operations = plane.json(&["operation", "list"]);
    let all_done = operations.as_array().unwrap().iter().all(|it| it["state"] == "done");
    assert!(all_done, "{operations}");
    for round in 0..6 {
        plane.ok(&["volume", "delete", &format!("v{round}")]);
    }
    (0..3).for_each(|index| assert!(is_empty(&plane.pool(index)), "n{index}"));
}

/// The answer to a request of HTTP in clear text.
pub(crate) fn post(to: std::net::SocketAddr, path: &str, body: &str) -> String {
    ask(to, &format!("POST /basalt/v1/{path}"), "Host: localhost\r\n", body)
}

/// The answer to a request whose first line and headers are the caller's.
pub(crate) fn ask(to: std::net::SocketAddr, line: &str, headers: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(to).unwrap();
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
