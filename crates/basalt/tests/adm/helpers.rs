//! Handlers by hand: the script of the file, DRBD's environment, and its exit code.

use api::response::{Reply, Response};

use crate::fake_node::Place;
use crate::status;

const CONFIG: [&str; 2] = ["-c", "DIR/basalt.conf"];

fn place(handlers: &str) -> Place {
    place_of(handlers, "alice")
}

fn place_of(handlers: &str, own_name: &str) -> Place {
    let place = Place::new();
    let text = format!(
        "resource r0 {{
            handlers {{ {handlers} }}
            volume 0 {{ device minor 1; disk /dev/vg/r0; meta-disk internal; }}
            on {own_name} {{ node-id 0; address 10.0.0.1:7900; }}
            on bob {{ node-id 1; address 10.0.0.2:7900; }}
        }}"
    );
    place.write("basalt.conf", &text);
    place
}

/// A status in which the replica of this node alone is up to date.
fn state() -> Response {
    status(&["r0"])
}

#[test]
fn a_handler_runs_with_drbds_environment_and_exit_code() {
    let script = "echo $DRBD_RESOURCE $DRBD_PEER $DRBD_PEER_NODE_ID $DRBD_MINOR \
                  $UP_TO_DATE_NODES; exit 4";
    let place = place(&format!("fence-peer \"{script}\";"));
    let Response::Ok(Reply::Status(reply)) = state() else { panic!("a status") };
    let known = &reply.resources[0];
    let peer = &known.connections[0];
    let said = format!("r0 {} {} {} ", peer.name, peer.peer_node_id, known.devices[0].minor);
    for verb in ["fence-peer", "outdate-peer"] {
        let target = format!("r0:{}", peer.name);
        let run = place.run(&[CONFIG[0], CONFIG[1], verb, &target], vec![state()]);
        assert_eq!((run.exit, run.stderr.as_str()), (4, ""), "{verb}");
        assert!(run.stdout.starts_with(&said) && run.stdout.contains(" 0x"), "{}", run.stdout);
    }
    let run = place.run(&[CONFIG[0], CONFIG[1], "--json", "fence-peer", "r0"], vec![state()]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.exit, &json[0]["exit-code"]), (4, &serde_json::json!(4)), "{json}");
    assert_eq!(json[0]["verb"], "fence-peer");
}

/// Every name that a `handlers` section may have.
#[test]
fn every_handler_is_a_verb_and_hidden() {
    let spec = config::options::table::TABLE.iter();
    let names = spec.filter(|spec| spec.section == config::options::Section::Handlers);
    let names: Vec<_> = names.map(|spec| spec.name).collect();
    assert!(names.len() >= 14, "{names:?}");
    let hidden = Place::new().run_alone(&["hidden-commands"]).stdout;
    for name in names {
        assert!(hidden.lines().any(|line| line == name), "{name}");
        let place = place(&format!("{name} \"echo did {name}\";"));
        let run = place.run(&[CONFIG[0], CONFIG[1], name, "r0/0"], vec![state()]);
        assert_eq!((run.exit, run.stdout), (0, format!("did {name}\n")), "{}", run.stderr);
    }
}

#[test]
fn what_is_not_configured_is_nothing_to_do() {
    let run = place("").run_alone(&[CONFIG[0], CONFIG[1], "split-brain", "r0"]);
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let run = place("").run_alone(&[CONFIG[0], CONFIG[1], "split-brain", "r7"]);
    assert_eq!(run.exit, 10, "{run:?}");
}

/// It is called when the daemon is gone, too, and it has a deadline.
#[test]
fn a_handler_needs_no_daemon_and_has_a_deadline() {
    let script = "echo $DRBD_RESOURCE $DRBD_MINOR $DRBD_VOLUME $DRBD_LL_DISK $DRBD_NODE_ID_1 \
                  $DRBD_PEER_ADDRESS $DRBD_CONF; exit 3";
    let text = format!("split-brain \"{script}\"; quorum-lost \"sleep 1000\";");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let place = place_of(&text, host.trim());
    let run = place.run_alone(&[CONFIG[0], CONFIG[1], "split-brain", "r0"]);
    let told = "r0 1 0 /dev/vg/r0 bob 10.0.0.2 DIR/basalt.conf\n";
    assert_eq!((run.exit, run.stdout.as_str()), (3, told), "{run:?}");
    assert!(run.stderr.contains("what the file says"), "{}", run.stderr);
    let run = place.run_alone(&[CONFIG[0], CONFIG[1], "--timeout", "0.3", "quorum-lost", "r0"]);
    assert_eq!(run.exit, 124, "{run:?}");
    assert!(run.stderr.contains("did not end within"), "{}", run.stderr);
}

#[test]
fn a_rehearsal_prints_the_script() {
    let place = place("pri-lost \"echo 1\";");
    let run = place.run_alone(&[CONFIG[0], CONFIG[1], "-d", "pri-lost", "r0"]);
    assert_eq!((run.exit, run.stdout.as_str()), (0, "/bin/sh -c 'echo 1'\n"));
}
