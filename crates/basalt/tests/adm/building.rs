//! The steps of `up` and `down` as verbs of their own, and what they would do.

use std::fs;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::request::{AdjustScope, Command};
use api::response::{FailureCode, Reply, Response};
use api::role::Role;
use api::status::{NodeStatus, StatusReply};

use crate::fake_node::{Place, Run};
use crate::{ask_status, done, quiet, r0, refused, resource, status};

fn asked_once() -> Run {
    quiet(vec![ask_status(&["r0"])])
}

/// A place whose configuration names this machine as the first host.
fn place() -> Place {
    let place = Place::new();
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let text = format!(
        "resource r0 {{
            volume 0 {{ device minor 1; disk /dev/vg/r0; meta-disk internal; }}
            on {} {{ node-id 0; address 10.0.0.1:7900; }}
            on bob {{ node-id 1; address 10.0.0.2:7900; }}
            on carol {{ node-id 2; address 10.0.0.3:7900; }}
            connection-mesh {{ hosts {} bob carol; }}
        }}",
        name.trim(),
        name.trim()
    );
    place.write("basalt.conf", &text);
    place
}

#[test]
fn dry_runs_print_the_lines_that_drbdadm_gives() {
    for (words, expected) in [
        (&["connect", "r0:carol"][..], "drbdsetup connect r0 2\n"),
        (&["connect", "r0"], "drbdsetup connect r0 1\ndrbdsetup connect r0 2\n"),
        (&["disconnect", "--force", "r0:bob"], "drbdsetup disconnect r0 1 --force\n"),
        (&["detach", "r0"], "drbdsetup detach 1\n"),
        (&["down", "r0"], "drbdsetup down r0\n"),
        (&["secondary", "r0"], "drbdsetup secondary r0\n"),
        (&["new-resource", "r0"], "drbdsetup new-resource r0 0\n"),
        (&["new-minor", "r0"], "drbdsetup new-minor r0 1 0\n"),
        (&["new-peer", "r0:bob"], "drbdsetup new-peer r0 1 --_name=bob\n"),
        (
            &["new-path", "r0:bob"],
            "drbdsetup new-path r0 1 ipv4:10.0.0.1:7900 ipv4:10.0.0.2:7900\n",
        ),
    ] {
        let mut all = vec!["-c", "DIR/basalt.conf", "-d"];
        all.extend(words);
        let run = place().run_alone(&all);
        assert_eq!(run, Run { stdout: expected.to_owned(), ..quiet(Vec::new()) }, "{words:?}");
    }
    // A script makes the line of another verb of it; without a peer there is none.
    let run = place().run_alone(&["-c", "DIR/basalt.conf", "-d", "connect", "r0:dave"]);
    assert_eq!((run.exit, run.stdout.as_str()), (10, ""));
    assert!(run.stderr.contains("no peer `dave`") && run.stderr.contains("bob"), "{}", run.stderr);
}

#[test]
fn new_resource_sends_the_text_and_adjust_its_scope() {
    let place = place();
    let config = ["-c", "DIR/basalt.conf"];
    let run = place.run(&[config[0], config[1], "new-resource", "r0"], vec![done()]);
    assert_eq!((run.exit, run.stdout.as_str()), (0, ""));
    assert!(matches!(&run.asked[..], [Command::NewResource { .. }]), "{run:?}");
    let words = [config[0], config[1], "-v", "adjust", "--skip-net", "r0:bob"];
    let answer = Reply::Adjusted { changes: vec!["a step".to_owned()], warnings: Vec::new() };
    let run = place.run(&words, vec![Response::Ok(answer)]);
    assert_eq!(run.stdout, "a step\n");
    let bob = Some("bob".to_owned());
    let wanted = AdjustScope { skip_disk: false, skip_net: true, peer: bob };
    assert!(
        matches!(&run.asked[..], [Command::Adjust { scope, .. }] if *scope == wanted),
        "{run:?}"
    );
    let run = place.run_alone(&[config[0], config[1], "new-resource", "r0/0"]);
    assert_eq!(run.exit, 1, "{run:?}");
}

#[test]
fn what_came_with_the_resource_is_looked_for() {
    for verb in ["new-minor", "new-peer", "new-path", "check-resize"] {
        let run = Place::new().run(&[verb, "r0"], vec![status(&["r0"])]);
        assert_eq!(run, asked_once(), "{verb}");
    }
    let run = Place::new().run(&["new-minor", "r0/3"], vec![status(&["r0"])]);
    assert_eq!(run.exit, 10);
    assert!(run.stderr.contains("without a volume 3") && run.stderr.contains("adjust r0"));
    let run = Place::new().run(&["new-peer", "r0:dave"], vec![status(&["r0"])]);
    assert_eq!(run.exit, 10);
    assert!(run.stderr.contains("without a peer `dave`"), "{}", run.stderr);
    let unknown = || refused(FailureCode::UnknownResource, "no resource \"r0\" is up", "look");
    let run = Place::new().run(&["new-minor", "r0"], vec![unknown()]);
    assert_eq!(run.exit, 10);
    assert!(run.stderr.starts_with("r0: Failure: (158) Unknown resource\n"), "{}", run.stderr);
    let run = Place::new().run(&["check-resize", "r0"], vec![unknown()]);
    assert_eq!(run, asked_once());
    let run = Place::new().run(&["peer-role", "r0"], vec![status(&["r0"])]);
    assert_eq!(run.stdout, "Secondary\nSecondary\n");
    let run = Place::new().run_alone(&["hidden-commands"]);
    assert_eq!((run.exit, run.stdout.lines().next()), (0, Some("sh-lr-of")));
}

#[test]
fn what_goes_with_the_configuration_is_said() {
    let run = Place::new().run(&["del-peer", "r0:bob"], vec![status(&["r0"]), done()]);
    let peer = Some("bob".to_owned());
    let asked =
        vec![ask_status(&["r0"]), Command::Disconnect { resource: r0(), peer, force: false }];
    assert_eq!((run.exit, run.asked), (0, asked));
    assert!(run.stderr.contains("it stays a member"), "{}", run.stderr);
    for (verb, part) in [("del-path", "adjust r0"), ("del-minor", "down r0")] {
        let run = Place::new().run(&[verb, "r0"], vec![status(&["r0"])]);
        assert_eq!(run.exit, 10, "{verb}");
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn outdate_refuses_what_drbd_refuses() {
    let with = |role, disk: DiskState, is_connected: bool| {
        let mut resource = resource("r0");
        resource.role = role;
        resource.devices[0].disk_state = disk;
        for connection in resource.connections.iter_mut().filter(|_| !is_connected) {
            connection.connection_state = ConnectionState::StandAlone;
            connection.peer_devices[0].peer_disk_state = DiskState::DUnknown;
        }
        let reply = StatusReply { node: NodeStatus::default(), resources: vec![resource] };
        Place::new().run(&["outdate", "r0"], vec![Response::Ok(Reply::Status(reply))])
    };
    let run = with(Role::Primary, DiskState::UpToDate, true);
    assert_eq!(run.exit, 11);
    assert!(run.stderr.contains("this node is Primary"), "{}", run.stderr);
    let run = with(Role::Secondary, DiskState::UpToDate, true);
    assert_eq!(run.exit, 11);
    assert!(run.stderr.contains("disconnect r0"), "{}", run.stderr);
    assert_eq!(with(Role::Secondary, DiskState::Diskless, false).exit, 16);
    assert_eq!(with(Role::Secondary, DiskState::Outdated, false), asked_once());
    let run = with(Role::Secondary, DiskState::UpToDate, false);
    assert_eq!(run.exit, 0);
    assert!(run.stderr.contains("nothing is marked"), "{}", run.stderr);
}
