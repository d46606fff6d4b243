//! `basalt adm` as an operator and a script see it: arguments in, text and exit code out, with a
//! daemon that answers from a script. The rules of the text of `status` have their own tests.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod fake_node;
mod configured;
mod events;
mod queries;
mod building;
mod upkeep;
mod helpers;
mod superblocks;
mod explain;
mod advice;
mod gathered;
mod setup;
mod typed;
mod failures;
mod golden;

use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::request::{Command, Request};
use api::response::{Failure, FailureCode, Reply, Response};
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatus, NodeStatus, PeerDeviceStatus, ResourceStatus, StatusReply,
};
use api::wire::{read_message, write_message};

use crate::fake_node::{Place, Run, silent_daemon};

fn resource(name: &str) -> ResourceStatus {
    let peer = |peer_node_id, name: &str| ConnectionStatus {
        peer_node_id,
        name: name.to_owned(),
        connection_state: ConnectionState::Connected,
        peer_role: Role::Secondary,
        peer_devices: vec![PeerDeviceStatus {
            replication_state: ReplicationState::Established,
            peer_disk_state: DiskState::UpToDate,
            ..PeerDeviceStatus::default()
        }],
        ..ConnectionStatus::default()
    };
    let mut carol = peer(2, "carol");
    carol.connection_state = ConnectionState::Connecting;
    carol.peer_devices[0].peer_disk_state = DiskState::DUnknown;
    ResourceStatus {
        name: name.to_owned(),
        role: Role::Primary,
        devices: vec![DeviceStatus {
            disk_state: DiskState::UpToDate,
            quorum: true,
            ..DeviceStatus::default()
        }],
        connections: vec![peer(1, "bob"), carol],
        ..ResourceStatus::default()
    }
}

fn status(names: &[&str]) -> Response {
    Response::Ok(Reply::Status(StatusReply {
        node: NodeStatus { name: "alice".to_owned(), ..NodeStatus::default() },
        resources: names.iter().map(|name| resource(name)).collect(),
    }))
}

fn done() -> Response {
    Response::Ok(Reply::done())
}

fn refused(code: FailureCode, message: &str, hint: &str) -> Response {
    Response::Err(Failure::new(code, message, hint))
}

fn ask_status(names: &[&str]) -> Command {
    let resources = names.iter().map(|&name| name.to_owned()).collect();
    Command::Status { resources, statistics: false }
}

fn r0() -> String {
    "r0".to_owned()
}

/// Runs and compares everything that came out.
fn expect(arguments: &[&str], answers: Vec<Response>, expected: &Run) {
    let run = Place::new().run(arguments, answers);
    assert_eq!(&run, expected, "of {arguments:?}");
}

fn quiet(asked: Vec<Command>) -> Run {
    Run { exit: 0, stdout: String::new(), stderr: String::new(), asked }
}

#[test]
fn each_state_verb_asks_its_question_and_is_quiet_when_done() {
    let bob = || Some("bob".to_owned());
    for (arguments, command) in [
        (vec!["down", "r0"], Command::Down { resource: r0(), force: false }),
        (vec!["down", "--force", "r0"], Command::Down { resource: r0(), force: true }),
        (vec!["attach", "r0"], Command::Attach { resource: r0() }),
        (
            vec!["verify", "r0", "--start", "8", "--stop", "1M", "--repair"],
            Command::Verify {
                volume: None,
                resource: r0(),
                start: Some(4096),
                stop: Some(1 << 20),
                repair: true,
            },
        ),
        (vec!["detach", "r0", "--force"], Command::Detach { resource: r0(), force: true }),
        (
            vec!["connect", "r0"],
            Command::Connect { resource: r0(), peer: None, discard_my_data: false },
        ),
        (
            vec!["connect", "--discard-my-data", "r0"],
            Command::Connect { resource: r0(), peer: None, discard_my_data: true },
        ),
        (
            vec!["connect", "r0:bob"],
            Command::Connect { resource: r0(), peer: bob(), discard_my_data: false },
        ),
        (
            vec!["disconnect", "r0:bob"],
            Command::Disconnect { resource: r0(), peer: bob(), force: false },
        ),
        (vec!["primary", "r0"], Command::Primary { resource: r0(), force: false }),
        (vec!["primary", "--force", "r0"], Command::Primary { resource: r0(), force: true }),
        (
            vec!["new-current-uuid", "--clear-bitmap", "r0"],
            Command::NewCurrentUuid { resource: r0() },
        ),
        (vec!["secondary", "r0"], Command::Secondary { resource: r0(), force: false }),
        (vec!["invalidate", "r0"], Command::Invalidate { resource: r0() }),
        (
            vec!["invalidate", "--reset-bitmap=yes", "--sync-from-peer-node-id=1", "r0"],
            Command::Invalidate { resource: r0() },
        ),
        (vec!["suspend-io", "r0"], Command::SuspendIo { resource: r0() }),
        (vec!["suspend-io", "--bdev-freeze=no", "r0"], Command::SuspendIo { resource: r0() }),
        (vec!["resume-io", "r0"], Command::ResumeIo { resource: r0() }),
        (vec!["reopen", "r0"], Command::Reopen { resource: r0() }),
        (vec!["forget", "r0"], Command::Forget { resource: r0() }),
    ] {
        expect(&arguments, vec![done()], &quiet(vec![command]));
    }
}

#[test]
fn all_means_what_the_daemon_runs_and_a_volume_is_checked() {
    let asked = vec![
        ask_status(&[]),
        Command::Attach { resource: r0() },
        Command::Attach { resource: "r1".to_owned() },
    ];
    expect(&["attach", "all"], vec![status(&["r0", "r1"]), done(), done()], &quiet(asked));

    let asked = vec![ask_status(&["r0"]), Command::Attach { resource: r0() }];
    expect(&["attach", "r0/0"], vec![status(&["r0"]), done()], &quiet(asked));
    let missing = Run {
        exit: 10,
        stderr: "r0: attach: the resource has no volume 3\n  try: basalt adm status r0\n"
            .to_owned(),
        ..quiet(vec![ask_status(&["r0"])])
    };
    expect(&["attach", "r0/3"], vec![status(&["r0"])], &missing);
}

#[test]
fn refusals_have_drbds_class_line_and_exit_code() {
    use FailureCode as Code;
    for (code, class, exit) in [
        (Code::UnknownResource, "Failure: (158) Unknown resource", 10),
        (Code::InvalidConfig, "Failure: (162) Invalid configuration request", 10),
        (Code::NoMetadata, "Failure: (119) No valid meta data found", 10),
        (Code::AddressInUse, "Failure: (102) Local address(port) already in use", 10),
        (
            Code::MultiplePrimaries,
            "State change failed: (-1) Multiple primaries not allowed by config",
            11,
        ),
        (Code::NoUpToDateData, "State change failed: (-2) Need access to UpToDate data", 17),
        (Code::NoLocalDisk, "State change failed: (-4) Need a local disk", 16),
        (Code::DeviceInUse, "State change failed: (-12) Device is held open by someone", 11),
        (Code::NoQuorum, "State change failed: (-25) No quorum", 11),
        (Code::StateRefused, "State change failed", 11),
        (Code::Internal, "Failure", 20),
    ] {
        let answer = refused(code, "what and where", "what next");
        let expected = Run {
            exit,
            stderr: format!("r0: {class}\n  primary: what and where\n  try: what next\n"),
            ..quiet(vec![Command::Primary { resource: r0(), force: false }])
        };
        expect(&["primary", "r0"], vec![answer], &expected);
    }
}

#[test]
fn one_failure_keeps_no_other_resource_from_its_turn() {
    let answers = vec![
        refused(FailureCode::NoUpToDateData, "no disk is up to date", ""),
        refused(FailureCode::NoQuorum, "1 of 3 votes", "start bob"),
        Response::Ok(Reply::Done { warnings: vec!["`tcp-cork no` changes nothing".to_owned()] }),
    ];
    let primary = |resource: &str| Command::Primary { resource: resource.to_owned(), force: false };
    let expected = Run {
        exit: 17,
        stdout: String::new(),
        stderr: "r0: State change failed: (-2) Need access to UpToDate data\n  \
                 primary: no disk is up to date\n\
                 r1: State change failed: (-25) No quorum\n  primary: 1 of 3 votes\n  \
                 try: start bob\n\
                 r2: warning: `tcp-cork no` changes nothing\n"
            .to_owned(),
        asked: vec![primary("r0"), primary("r1"), primary("r2")],
    };
    expect(&["primary", "r0", "r1", "r2"], answers, &expected);
}

#[test]
fn status_prints_drbds_text() {
    let expected = Run {
        stdout: "\
r0 role:Primary
  disk:UpToDate open:no
  bob role:Secondary
    peer-disk:UpToDate
  carol connection:Connecting

"
        .to_owned(),
        ..quiet(vec![ask_status(&["r0"])])
    };
    expect(&["status", "r0"], vec![status(&["r0"])], &expected);
    let nothing = Run {
        stdout: "# No resource is up on this node: `basalt adm up all` brings up those of its \
                 configuration.\n"
            .to_owned(),
        ..quiet(vec![ask_status(&[])])
    };
    expect(&["status"], vec![status(&[])], &nothing);
    let run = Place::new().run(&["status", "--statistics", "--verbose"], vec![status(&["r0"])]);
    assert_eq!(run.asked, [Command::Status { resources: Vec::new(), statistics: true }]);
    assert!(run.stdout.contains("\n    write-ordering:none\n"), "{}", run.stdout);
}

#[test]
fn status_of_an_unknown_resource_is_a_failure_of_that_resource() {
    let answer =
        refused(FailureCode::UnknownResource, "no such resource is up", "basalt adm up r0");
    let expected = Run {
        exit: 10,
        stderr: "r0: No such resource\n  status: no such resource is up\n  \
                 try: basalt adm up r0\n"
            .to_owned(),
        ..quiet(vec![ask_status(&["r0"])])
    };
    expect(&["status", "r0"], vec![answer.clone()], &expected);
    let run = Place::new().run(&["status", "r0", "--json"], vec![answer]);
    assert_eq!((run.exit, run.stderr.as_str()), (10, expected.stderr.as_str()));
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&told[0]["resource"], &told[0]["ok"]), (&"r0".into(), &false.into()), "{told}");
    assert_eq!(told[0]["error"]["message"], "no such resource is up", "{told}");
}

#[test]
fn one_that_is_not_up_keeps_no_other_from_being_told() {
    let unknown = || refused(FailureCode::UnknownResource, "no such resource is up", "");
    for (verb, part) in [
        ("status", "r0 role:Primary\n"),
        ("role", "Primary\n"),
        ("cstate", "Connected\n"),
        ("dstate", "UpToDate/UpToDate"),
        ("explain", "r0"),
    ] {
        for (names, answers) in [
            (["r7", "r0"], vec![unknown(), status(&["r0"])]),
            (["r0", "r7"], vec![status(&["r0"]), unknown()]),
        ] {
            let run = Place::new().run(&[&[verb][..], &names].concat(), answers);
            assert_eq!(run.exit, 10, "{verb} {names:?}: {run:?}");
            assert!(run.stderr.starts_with("r7: "), "{verb} {names:?}: {run:?}");
            assert!(run.stdout.contains(part), "{verb} {names:?}: {run:?}");
            assert!(!run.stdout.contains("No resource is up"), "{verb} {names:?}: {run:?}");
        }
    }
}

#[test]
fn status_in_json_is_a_list_of_resources_in_drbds_order() {
    let run = Place::new().run(&["status", "--json"], vec![status(&["r0", "r1"])]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    // Programs get DRBD's counters without asking for them.
    assert_eq!(run.asked, [Command::Status { resources: Vec::new(), statistics: true }]);
    let parsed: Vec<ResourceStatus> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(parsed, [resource("r0"), resource("r1")]);
    let mut last = 0;
    for name in [
        "name",
        "node-id",
        "role",
        "suspended",
        "suspended-user",
        "suspended-no-data",
        "suspended-fencing",
        "suspended-quorum",
        "force-io-failures",
        "write-ordering",
        "devices",
        "connections",
    ] {
        let at = run.stdout.find(&format!("\"{name}\"")).unwrap();
        assert!(at > last, "{name} is out of order");
        last = at;
    }
    let run = Place::new().run(&["--json", "status"], vec![status(&[])]);
    assert_eq!(run.stdout, "[]\n");
}

#[test]
fn role_cstate_and_dstate_are_one_line_each() {
    for (arguments, stdout) in [
        (["role", "r0"], "Primary\n"),
        (["cstate", "r0"], "Connected\nConnecting\n"),
        (["cstate", "r0:carol"], "Connecting\n"),
        (["dstate", "r0"], "UpToDate/UpToDate/DUnknown\n"),
        (["dstate", "r0/0"], "UpToDate/UpToDate/DUnknown\n"),
    ] {
        let expected = Run { stdout: stdout.to_owned(), ..quiet(vec![ask_status(&["r0"])]) };
        expect(&arguments, vec![status(&["r0"])], &expected);
    }
    let expected = Run {
        exit: 10,
        stderr: "r0: cstate: the resource has no peer `dave`\n  try: basalt adm status r0\n"
            .to_owned(),
        ..quiet(vec![ask_status(&["r0"])])
    };
    expect(&["cstate", "r0:dave"], vec![status(&["r0"])], &expected);
    let run = Place::new().run(&["dstate", "r0", "--json"], vec![status(&["r0"])]);
    let parsed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(parsed[0]["peers"][1]["peer-disk-state"], "DUnknown");
}

#[test]
fn json_tells_success_and_failure_for_each_resource() {
    let answers = vec![done(), refused(FailureCode::NoQuorum, "1 of 3 votes", "start bob")];
    let run = Place::new().run(&["--json", "secondary", "r0", "r1"], answers);
    assert_eq!(run.exit, 11);
    let parsed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = serde_json::json!([
        {"resource": "r0", "verb": "secondary", "ok": true, "changes": [], "warnings": []},
        {"resource": "r1", "verb": "secondary", "ok": false, "error": {
            "code": "no-quorum", "drbd-code": -25, "message": "1 of 3 votes",
            "hint": "start bob", "try": "start bob", "exit": 11,
        }},
    ]);
    assert_eq!(parsed, expected);
}

/// It was silent until its deadline, and its failure did not say what was missing.
#[test]
fn primary_that_takes_long_says_meanwhile_what_it_waits_on() {
    let reason = "no quorum: 1 of 3 voters answer, 2 are needed (missing: bob, carol)";
    let place = Place::new();
    let socket = UnixListener::bind(place.path("admin.sock")).unwrap();
    let daemon = thread::spawn(move || {
        // It answers a question about the state, and then the command, which came first.
        let (command, _) = socket.accept().unwrap();
        let asked: Request = read_message(BufReader::new(&command)).unwrap();
        let (question, _) = socket.accept().unwrap();
        let beside: Request = read_message(BufReader::new(&question)).unwrap();
        let mut state = resource("r0");
        state.reasons = vec![reason.to_owned()];
        let reply = StatusReply { node: NodeStatus::default(), resources: vec![state] };
        write_message(&question, &Response::Ok(Reply::Status(reply))).unwrap();
        // It is told before the answer comes.
        let end = refused(FailureCode::NoQuorum, "no quorum: 1 votes, 2 are needed", "look");
        write_message(&command, &end).unwrap();
        (asked.command, beside.command)
    });
    let run = place.run_alone(&["--json", "--timeout", "2", "primary", "r0"]);
    // Where nobody asked, the daemon waits no longer.
    drop(UnixStream::connect(place.path("admin.sock")));
    let asked = daemon.join().expect("the state is asked for beside the command");
    let primary = Command::Primary { resource: r0(), force: false };
    assert_eq!(asked, (primary, ask_status(&["r0"])));
    let meanwhile = format!("r0: primary: not done yet, it waits on:\n  {reason}\n");
    assert!(run.stderr.starts_with(&meanwhile), "{}", run.stderr);
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.exit, &told[0]["error"]["reasons"][0]), (11, &reason.into()), "{told}");
}

/// One that takes long is told from one that failed, and from a daemon that hangs.
#[test]
fn command_that_goes_on_has_an_exit_code_of_its_own() {
    let hint = "`basalt adm status r0` tells what has become of it";
    let goes_on = refused(FailureCode::Unfinished, "it takes longer than 27 s, and goes on", hint);
    let run = Place::new().run(&["down", "r0"], vec![goes_on.clone()]);
    assert_eq!(run.exit, 5);
    assert_eq!(
        run.stderr,
        "r0: Not done yet\n  down: it takes longer than 27 s, and goes on\n  try: `basalt adm \
         status r0` tells what has become of it\n"
    );
    let run = Place::new().run(&["--json", "down", "r0"], vec![goes_on]);
    let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let error = &told[0]["error"];
    assert_eq!((run.exit, &error["code"]), (5, &"unfinished".into()));
    // DRBD has no number for what has not failed.
    assert_eq!(error.get("drbd-code"), None);
}

#[test]
fn daemon_that_is_not_there_or_silent_is_told_with_its_socket() {
    let place = Place::new();
    let run = place.run_alone(&["status"]);
    assert_eq!(run.exit, 20);
    assert_eq!(
        run.stderr,
        "basalt adm: cannot reach the node daemon at DIR/admin.sock: No such file or directory \
         (os error 2)\n  try: nothing is at that path, which --node-socket or \
         BASALT_ADMIN_SOCKET names: a daemon listens at its --admin-socket, else at admin.sock in \
         its --state-dir: `ps -C basalt -o args` shows both; that of the service `basalt-node` is \
         /run/basalt/admin.sock\n"
    );
    let _listener = silent_daemon(&place.path("other.sock"));
    let arguments = ["--node-socket", "DIR/other.sock", "--timeout", "0.05", "primary", "r0"];
    let run = place.run_alone(&arguments);
    assert_eq!(run.exit, 20);
    assert_eq!(
        run.stderr,
        "basalt adm: the node daemon at DIR/other.sock gave no answer to `primary` within \
         0.05 s\n  try: the command may still take effect: look with `basalt adm status`, wait \
         longer with --timeout\n"
    );
}

#[test]
fn wrong_usage_exits_with_1_and_asks_nothing() {
    let place = Place::new();
    for (arguments, part) in [
        (&["promote", "r0"][..], "unrecognized subcommand"),
        (&["primary"], "required"),
        (&["primary", "r0:bob"], "takes no peer"),
        (&["new-current-uuid", "r0"], "--clear-bitmap is required"),
        (&["--timeout", "0", "status"], "it takes a number above 0 and up to 31536000 (a year)"),
        (&[], "Usage"),
    ] {
        let run = place.run_alone(arguments);
        assert_eq!(run.exit, 1, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(part), "{arguments:?}: {}", run.stderr);
    }
    for (tool, exit) in [("adm", 1), ("setup", 20)] {
        let run = place.run_tool_alone(tool, &["--json", "primary"]);
        let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.exit, &told[0]["error"]["code"]), (exit, &"usage".into()));
        let message = told[0]["error"]["message"].as_str().unwrap();
        assert!(message.contains("required arguments were not provided: <"), "{message}");
    }
    let run = place.run_alone(&["--help"]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    for verb in ["create-md", "adjust", "invalidate", "cstate"] {
        assert!(run.stdout.contains(verb), "{verb} is not in the help");
    }
}

const TWO_RESOURCES: &str = "resource r0 {
    on alice { node-id 0; address 10.0.0.1:7789;
        volume 0 { device minor 3; disk /dev/vg/r0; meta-disk internal; }
        volume 1 { device minor 4; disk /dev/vg/r0-1; meta-disk internal; } }
    on bob { node-id 1; address 10.0.0.2:7789;
        volume 0 { device minor 3; disk /dev/vg/r0; meta-disk internal; }
        volume 1 { device minor 5; disk /dev/vg/r0-1; meta-disk internal; } }
}
resource r1 {
    on alice { node-id 0; address 10.0.0.1:7790;
        volume 0 { device minor 5; disk /dev/vg/r1; meta-disk internal; } }
    on bob { node-id 1; address 10.0.0.2:7790;
        volume 0 { device minor 6; disk /dev/vg/r1; meta-disk internal; } }
}";

/// udev's rules and DRBD's own scripts name a volume by its minor.
#[test]
fn minors_name_volumes_and_their_resources() {
    let place = Place::new();
    place.write("two.res", TWO_RESOURCES);
    let udev = place.run_alone(&["-c", "DIR/two.res", "sh-udev", "--node", "alice", "minor-4"]);
    assert_eq!((udev.exit, udev.stderr.as_str()), (0, ""), "{udev:?}");
    assert!(udev.stdout.starts_with("DEVICE=drbd4\n"), "{udev:?}");
    let run = place.run(&["-c", "DIR/two.res", "primary", "minor-6"], vec![done()]);
    assert_eq!(run.asked, [Command::Primary { resource: "r1".to_owned(), force: false }]);
    for (target, part) in [("minor-9", "no volume has the minor 9"), ("minor-5", "r0/1 and r1/0")] {
        let run = place.run_alone(&["-c", "DIR/two.res", "--json", "detach", target]);
        assert!(run.exit == 10 && run.stderr.contains(part), "{target}: {run:?}");
        assert!(run.stdout.contains(part), "{target}: {run:?}");
    }
}

#[test]
fn peer_and_volume_may_be_named_together() {
    let verify =
        Command::Verify { resource: r0(), volume: Some(0), start: None, stop: None, repair: false };
    let expected = Run {
        stderr: "r0: warning: `verify` chooses its peers itself: not bob alone\n".to_owned(),
        ..quiet(vec![ask_status(&["r0"]), verify])
    };
    expect(&["verify", "r0:bob/0"], vec![status(&["r0"]), done()], &expected);
    for (words, part) in [
        (["invalidate", "r0:dave"], "no peer `dave`"),
        (["verify", "r0:bob/3"], "no volume 3"),
        (["pause-sync", "r0:bob/0"], "c-max-rate"),
        (["invalidate-remote", "r0:bob/0"], "on the peer"),
    ] {
        let run = Place::new().run(&words, vec![status(&["r0"])]);
        assert!(run.exit == 10 && run.stderr.contains(part), "{words:?}: {run:?}");
    }
    expect(&["resume-sync", "r0:bob/0"], vec![status(&["r0"])], &quiet(vec![ask_status(&["r0"])]));
}

/// As with DRBD; but a name that the configuration does not know is a slip.
#[test]
fn down_of_what_is_down_is_no_failure() {
    let unknown = || vec![refused(FailureCode::UnknownResource, "no resource is up", "")];
    let place = Place::new();
    place.write("two.res", TWO_RESOURCES);
    for force in [false, true] {
        let words = ["-c", "DIR/two.res", "down", "r0", "--force"];
        let words = if force { &words[..] } else { &words[..4] };
        let run = place.run(words, unknown());
        let said = "r0: warning: it is not up on this node: there is nothing to take down\n";
        assert_eq!((run.exit, run.stderr.as_str()), (0, said));
        assert_eq!(run.asked, [Command::Down { resource: r0(), force }]);
    }
    let slip = place.run(&["-c", "DIR/two.res", "down", "r00"], unknown());
    assert!(slip.exit == 10 && slip.stderr.contains("`r00` is not defined in"), "{slip:?}");
    // And it keeps no other resource from its turn.
    let both = unknown().into_iter().chain(unknown()).collect();
    let slip = place.run(&["-c", "DIR/two.res", "down", "r00", "r0"], both);
    assert!(slip.exit == 10 && slip.stderr.contains("`r00` is not defined in"), "{slip:?}");
    let down = |name: &str| Command::Down { resource: name.to_owned(), force: false };
    assert_eq!(slip.asked, [down("r00"), down("r0")]);
    let setup = place.run_tool("setup", &["down", "r7"], unknown());
    assert!(setup.exit == 0 && setup.stderr.contains("nothing to take down"), "{setup:?}");
}

#[test]
fn what_drbd_can_and_this_cannot_is_refused_with_another_way() {
    for (words, part) in [
        (&["connect", "--tentative", "r0"][..], "primary --force --dry-run"),
        (&["detach", "--diskless", "r0"], "disk none"),
        (&["invalidate", "--reset-bitmap=no", "r0"], "verify --repair"),
        (&["new-current-uuid", "--force-resync", "r0"], "primary --force"),
        (&["create-md", "--initial-current-uuid", "AB", "r0"], "--clear-bitmap"),
    ] {
        let run = Place::new().run_alone(words);
        assert!(run.exit == 10 && run.stderr.contains(part), "{words:?}: {run:?}");
        assert!(run.asked.is_empty());
    }
}

/// Whatever hangs is told as such, `events2` like the others.
#[test]
fn commands_that_follow_a_silent_daemon_end_in_time() {
    for verb in [&["events2"][..], &["events2", "--now"], &["wait-connect", "r0"], &["role", "r0"]]
    {
        let place = Place::new();
        let _listener = silent_daemon(&place.path("admin.sock"));
        let run = place.run_alone(&[&["--timeout", "0.1"][..], verb].concat());
        assert_eq!(run.exit, 20, "{verb:?}: {run:?}");
        assert!(run.stderr.contains("gave no answer to"), "{verb:?}: {}", run.stderr);
        assert!(run.stderr.contains("within 0.1 s"), "{verb:?}: {}", run.stderr);
        assert!(run.stderr.contains("restart basalt-node"), "{verb:?}: {}", run.stderr);
    }
}
