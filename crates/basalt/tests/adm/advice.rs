//! `primary --dry-run` and `report`: what is told before something is done, and to those who help.

use std::fs;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::response::{FailureCode, Reply, Response, Running, RunningReply};
use api::role::Role;
use api::status::{EpochStatus, NodeStatus, ResourceStatus, StatusReply};

use crate::fake_node::Place;
use crate::{ask_status, refused, resource, status};

/// alice, Secondary and alone; bob and carol are out of reach.
fn alone(insync: &[&str], disk_state: DiskState) -> ResourceStatus {
    let mut resource = resource("r0");
    resource.role = Role::Secondary;
    resource.devices[0].quorum = false;
    resource.devices[0].disk_state = disk_state;
    for peer in &mut resource.connections {
        peer.connection_state = ConnectionState::Connecting;
        peer.reason = Some("no sign of life for 1200 ms".to_owned());
        peer.peer_devices[0].peer_disk_state = DiskState::DUnknown;
    }
    resource.connections[0].peer_devices[0].out_of_sync = 12;
    let insync = insync.iter().map(|&name| name.to_owned()).collect();
    let branch = "00000000000000ab".to_owned();
    resource.epoch = Some(EpochStatus {
        epoch: 7,
        branch,
        insync,
        primary: None,
        losses: 0,
        awaits_reopen: false,
        age_ms: None,
    });
    resource
}

/// What is told, without the name of the resource; nothing is done.
fn told(resource: ResourceStatus) -> Vec<String> {
    let node = NodeStatus { name: "alice".to_owned(), ..NodeStatus::default() };
    let reply = Response::Ok(Reply::Status(StatusReply { node, resources: vec![resource] }));
    let run = Place::new().run(&["primary", "--force", "--dry-run", "r0"], vec![reply]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    let api::request::Command::Status { .. } = run.asked[0] else { panic!("{:?}", run.asked) };
    assert_eq!(run.asked.len(), 1, "a dry run changes nothing");
    run.stdout.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

/// It is not in reach, and may serve clients all the same.
#[test]
fn primary_out_of_reach_is_named_before_force_is_used() {
    let mut resource = alone(&["alice", "bob"], DiskState::Consistent);
    let is_named = |resource: &ResourceStatus, when: &str| {
        let lines = told(resource.clone());
        lines.iter().any(|line| line.starts_with(&format!("bob was Primary {when}")))
    };
    resource.epoch.as_mut().unwrap().primary = Some("bob".to_owned());
    assert!(is_named(&resource, "by that one, and is out of reach: while it serves clients"));
    resource.epoch.as_mut().unwrap().age_ms = Some(5_000);
    assert!(is_named(&resource, "as of 20"));
    // This node itself, before it was started again.
    resource.epoch.as_mut().unwrap().primary = Some("alice".to_owned());
    assert!(!told(resource).iter().any(|line| line.contains("was Primary")));
}

#[test]
fn force_on_a_replica_that_missed_writes_is_said_to_lose_them() {
    let lines = told(alone(&["bob", "carol"], DiskState::Outdated));
    assert_eq!(
        lines,
        [
            "--force LOSES acknowledged writes: all that were made since this replica was in sync \
             last. bob, carol had them: bring one of these back instead",
            "the newest configuration that is known here is epoch 7 of branch 00000000000000ab: \
             every acknowledged write was on bob, carol",
            "alice (this node): Outdated, it misses writes of epoch 7 or before",
            "bob: out of reach (no sign of life for 1200 ms); it has every acknowledged write of \
             epoch 7; 12 KiB differ from this node's, as far as is noted",
            "carol: out of reach (no sign of life for 1200 ms); it has every acknowledged write of \
             epoch 7",
        ]
    );
}

#[test]
fn force_on_a_replica_in_sync_says_what_cannot_be_seen_from_here() {
    let lines = told(alone(&["alice", "bob"], DiskState::Consistent));
    assert!(lines[0].contains("It had every acknowledged write of the epoch below"), "{lines:?}");
    assert!(lines[0].contains("a majority without this node"), "{lines:?}");
    assert!(lines[2].contains("it has every acknowledged write of epoch 7"), "{lines:?}");
    assert!(lines[4].contains("it misses writes of epoch 7 or before"), "{lines:?}");
}

/// The register outlives the disk: it still names the node in sync.
#[test]
fn force_on_a_new_disk_is_said_to_lose_what_the_former_one_had() {
    let lines = told(alone(&["alice", "bob"], DiskState::Inconsistent));
    let loses = "--force LOSES acknowledged writes: alice, bob had them, and the disk";
    assert!(lines[0].starts_with(loses), "{lines:?}");
    let had = "it had every acknowledged write of epoch 7, on another disk";
    assert!(lines[2].ends_with(had), "{lines:?}");
}

#[test]
fn promotion_that_needs_no_force_or_gets_none_says_so() {
    let mut good = alone(&["alice", "bob"], DiskState::UpToDate);
    good.devices[0].quorum = true;
    good.may_promote = true;
    assert!(told(good.clone())[0].contains("without --force, and nothing is lost"));
    good.connections[0].peer_role = Role::Primary;
    assert!(told(good)[0].contains("bob is Primary: `primary` is refused"));
    let diskless = alone(&["bob"], DiskState::Diskless);
    assert!(told(diskless)[0].contains("no disk to go on from"));
    let unborn = alone(&[], DiskState::Inconsistent);
    assert!(told(unborn)[0].contains("no replica has data that counts yet"));
}

#[test]
fn report_gathers_everything_but_secrets() {
    let place = Place::new();
    // A secret in a file that is refused, for the error shows the line.
    place.write("basalt.conf", "resource r0 { net { shared-secret \"hunter2\"; } }\n");
    place.write("log", "one line\n");
    fs::create_dir_all(place.path("state/resources")).unwrap();
    place.write("state/resources/r0.res", "net { shared-secret \"hunter2\"; }\n");
    fs::write(place.path("state/resources/r0.register"), [0xff, 0, 1]).unwrap();
    let config_text = "resource r0 {\n  net {\n    shared-secret \"hunter2\";\n  }\n}\n".to_owned();
    let running = Running { resource: "r0".to_owned(), config_text };
    let node = "alice".to_owned();
    let answers = vec![
        status(&["r0"]),
        Response::Ok(Reply::Running(RunningReply { node, resources: vec![running] })),
    ];
    let words =
        ["-c", "DIR/basalt.conf", "report", "--dir", "DIR", "--state-dir", "DIR/state", "--log"];
    let run = place.run(&[&words[..], &["DIR/log"]].concat(), answers);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run:?}");
    let name = run.stdout.trim().strip_prefix("DIR/").unwrap();
    assert!(name.starts_with("basalt-report-alice-"), "{name}");
    let folder = place.path(name);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(read("status.json").contains("\"connection-state\": \"Connecting\""));
    assert!(read("explain.txt").starts_with("r0\n"));
    assert!(read("running.res").contains("shared-secret \"(left out)\";\n  }\n}\n"));
    assert_eq!(read("log.txt"), "one line\n");
    assert!(read("system.txt").contains("== /proc/version\nLinux"));
    assert_eq!(fs::read(folder.join("state/r0.register")).unwrap(), [0xff, 0, 1]);
    let readme = read("README");
    assert!(readme.contains("not read: configured.res:"), "{readme}");
    let every = ["status.json", "running.res", "README", "state/r0.res", "state/LIST"];
    for name in every {
        assert!(!read(name).contains("hunter2"), "{name} has a secret");
    }
}

#[test]
fn report_of_a_daemon_that_refuses_has_the_rest() {
    let place = Place::new();
    place.write("log", "last words\n");
    let refusal = || refused(FailureCode::Internal, "out of order", "");
    let words = ["report", "--dir", "DIR", "--state-dir", "DIR/none", "--log", "DIR/log"];
    let run = place.run(&words, vec![refusal(), refusal()]);
    assert_eq!(run.exit, 0, "{run:?}");
    let folder = place.path(run.stdout.trim().strip_prefix("DIR/").unwrap());
    let readme = fs::read_to_string(folder.join("README")).unwrap();
    for part in ["status.json, explain.txt: ", "running.res: ", "out of order", "state: "] {
        assert!(readme.contains(part), "no {part} in {readme}");
    }
    assert_eq!(fs::read_to_string(folder.join("log.txt")).unwrap(), "last words\n");
    assert_eq!(run.asked[0], {
        let api::request::Command::Status { resources, .. } = ask_status(&[]) else { panic!() };
        api::request::Command::Status { resources, statistics: true }
    });
}
