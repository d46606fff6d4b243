//! `basalt setup`, the names `drbdadm` and `drbdsetup`, and the verbs that wait.

use std::fs;
use std::io::BufReader;
use std::os::unix::net::UnixListener;
use std::process::Command as Process;
use std::thread;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::request::{Command, Request};
use api::response::{Reply, Response, Running, RunningReply};
use api::status::{NodeStatus, PathStatus, ResourceStatus, StatusReply};
use api::subscription::Update;
use api::wire::{read_message, write_message};

use crate::fake_node::{Place, Run, silent_daemon};
use crate::{ask_status, done, quiet, r0, resource, status};

fn expect(words: &[&str], answers: Vec<Response>, expected: &Run) {
    let run = Place::new().run_tool("setup", words, answers);
    assert_eq!(&run, expected, "of {words:?}");
}

#[test]
fn minors_and_node_ids_become_names() {
    let asked = |names: &[&str], command| quiet(vec![ask_status(names), command]);
    expect(
        &["disconnect", "r0", "1", "--force"],
        vec![status(&["r0"]), done()],
        &asked(
            &["r0"],
            Command::Disconnect { resource: r0(), peer: Some("bob".to_owned()), force: true },
        ),
    );
    let attached = Command::Detach { resource: r0(), force: false };
    let expected = quiet(vec![ask_status(&[]), ask_status(&["r0"]), attached]);
    expect(&["detach", "0"], vec![status(&["r0"]), status(&["r0"]), done()], &expected);
    expect(
        &["primary", "r0", "--force"],
        vec![done()],
        &quiet(vec![Command::Primary { resource: r0(), force: true }]),
    );
    let states = Run { stdout: "Connecting\n".to_owned(), ..asked(&["r0"], ask_status(&["r0"])) };
    expect(&["cstate", "r0", "2"], vec![status(&["r0"]), status(&["r0"])], &states);
    let unknown = Run {
        exit: 10,
        stderr: "basalt setup: dstate: no volume has the minor 9\n  try: basalt setup status \
                 --verbose\n"
            .to_owned(),
        ..quiet(vec![ask_status(&[])])
    };
    expect(&["dstate", "9"], vec![status(&["r0"])], &unknown);
}

/// What `drbdadm -d` prints can be typed: a step that would change nothing is done.
#[test]
fn steps_of_an_up_are_compared_with_what_is_there() {
    for (words, exit, part) in [
        (&["new-resource", "r0", "0", "--quorum=majority"][..], 0, ""),
        (&["new-resource", "r0", "4"], 10, "has the node id 0"),
        (&["new-minor", "r0", "1", "0"], 0, ""),
        (&["new-minor", "r0", "8", "1"], 10, "no volume 1 with the minor 8"),
        (&["new-peer", "r0", "2", "--_name=carol"], 0, ""),
        (&["new-peer", "r0", "9", "--_name=x"], 10, "basalt adm adjust r0"),
        (&["new-peer", "r0", "2", "--timeout=60", "--_name=carol"], 0, ""),
        (&["net-options", "r0", "1", "--timeout=60"], 10, "come from the configuration"),
        (&["net-options", "r0", "1", "--timeout", "60", "--json"], 10, "come from the"),
        (&["net-options", "r0", "1", "--json"], 0, ""),
        (&["--timeout", "9", "net-options", "r0", "1"], 0, ""),
        (&["new-path", "r0", "1", "ipv4:10.0.0.1:7789", "ipv4:10.0.0.2:7789"], 0, ""),
        (&["new-path", "r0", "1", "10.0.0.1:7789", "10.0.0.3:7789"], 10, "no path from"),
        (&["del-path", "r0", "1", "10.0.0.1:7789", "10.0.0.3:7789"], 0, ""),
        (&["attach", "1", "/dev/vg/other", "/dev/vg/other", "internal"], 10, "is /dev/vg/lv"),
        (&["disk-options", "1", "--c-max-rate=1M"], 10, "basalt adm adjust r0"),
        (&["net-options", "r0", "1", "--ping-int=5"], 10, "come from the configuration"),
        (&["peer-device-options", "r0", "1", "0"], 0, ""),
        (&["check-resize", "1"], 0, ""),
    ] {
        let run = told(words);
        assert_eq!(run.exit, exit, "{words:?}: {run:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
    let words = ["attach", "1", "/dev/vg/lv", "/dev/vg/lv", "internal"];
    let asked = told(&words).asked;
    assert_eq!(asked.last(), Some(&Command::Attach { resource: r0() }));
    let words = ["del-path", "r0", "1", "ipv4:10.0.0.1:7789", "ipv4:10.0.0.2:7789"];
    assert!(told(&words).stderr.contains("not taken away by itself"));
    let size = Some(1 << 30);
    let (resource, volume) = (r0(), Some(0));
    let resize = Command::Resize { resource, volume, size, assume_clean: true };
    assert_eq!(told(&["resize", "1", "--size=1G", "--assume-clean"]).asked.last(), Some(&resize));
}

/// DRBD has a `timeout`, too, in tenths of a second.
#[test]
fn a_timeout_of_drbds_is_not_how_long_the_command_may_take() {
    for (tool, words) in [
        ("setup", &["--timeout", "0.1", "net-options", "r0", "1", "--timeout=600"][..]),
        ("setup", &["--timeout", "0.1", "new-peer", "r0", "1", "--timeout=600"]),
        ("adm", &["--timeout", "0.1", "new-peer", "r0:bob"]),
    ] {
        let place = Place::new();
        let _listener = silent_daemon(&place.path("admin.sock"));
        let run = place.run_tool_alone(tool, words);
        assert_eq!(run.exit, 20, "{words:?}: {run:?}");
        assert!(run.stderr.contains("within 0.1 s"), "{words:?}: {}", run.stderr);
    }
    for words in [
        &["net-options", "--timeout=600", "r0"][..],
        &["net-options", "r0", "--timeout", "600"],
        &["new-peer", "--timeout=600", "r0"],
    ] {
        let run = Place::new().run_alone(words);
        assert_eq!(run.exit, 10, "{words:?}: {run:?}");
        assert!(run.stderr.contains("options come from the configuration, not from `--timeout"));
    }
}

/// With a daemon that says the same of `r0` whatever it is asked, and does all that it is told.
fn told(words: &[&str]) -> Run {
    let mut found = resource("r0");
    found.devices[0].minor = 1;
    found.devices[0].backing_dev = Some("/dev/vg/lv".to_owned());
    let end = |last: u8| std::net::SocketAddr::from(([10, 0, 0, last], 7789)).into();
    let path = PathStatus { this_host: end(1), remote_host: end(2), ..PathStatus::default() };
    found.connections[0].paths = vec![path];
    Place::new().run_tool_beside("setup", words, move |command| {
        let Command::Status { .. } = command else { return done() };
        let node = NodeStatus { name: "alice".to_owned(), ..NodeStatus::default() };
        Response::Ok(Reply::Status(StatusReply { node, resources: vec![found.clone()] }))
    })
}

/// `drbdsetup` needs no file: what runs is asked of the daemon.
#[test]
fn names_for_udev_are_those_of_what_runs() {
    let mut answers = vec![status(&["r0"]), status(&["r0"])];
    answers.push(running().remove(0));
    let run = Place::new().run_tool("setup", &["udev", "0"], answers);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.starts_with("DEVICE=drbd1\n"), "{run:?}");
}

#[test]
fn verbs_without_a_meaning_here_say_what_to_do() {
    for (words, questions, exit, part) in [
        (&["rename-resource", "r0", "r1"][..], 0, 10, "stands in the metadata"),
        (&["pause-sync", "r0", "1", "0"], 2, 10, "c-max-rate"),
        (&["resume-sync", "r0", "1", "0"], 2, 0, ""),
        (&["invalidate-remote", "r0", "1", "0"], 2, 10, "on the peer"),
        (&["forget-peer", "r0", "9"], 2, 0, ""),
        (&["del-minor", "0"], 2, 10, ""),
    ] {
        let answers = (0..questions).map(|_| status(&["r0"])).collect();
        let run = Place::new().run_tool("setup", words, answers);
        assert_eq!(run.exit, exit, "{words:?}: {run:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
    }
    let verify =
        Command::Verify { resource: r0(), volume: Some(0), start: None, stop: None, repair: false };
    let expected = quiet(vec![ask_status(&["r0"]), verify]);
    expect(&["verify", "r0", "1", "0"], vec![status(&["r0"]), done()], &expected);
    let down = Command::Down { resource: r0(), force: false };
    expect(&["del-resource", "r0"], vec![done()], &quiet(vec![down]));
}

/// Units and agents of drbd-utils type these while a resource is in use.
#[test]
fn typed_options_of_a_resource_are_taken_over_by_an_adjust() {
    let beside = |tool: &str, line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Place::new().run_tool_beside(tool, &words, |command| {
            if matches!(command, Command::Show { .. }) {
                return running().remove(0);
            }
            assert!(matches!(command, Command::Adjust { .. }), "{command:?}");
            let (changes, warnings) = (vec!["a step".to_owned()], Vec::new());
            Response::Ok(Reply::Adjusted { changes, warnings })
        })
    };
    let kept = "auto-promote no;";
    for (tool, line, expected) in [
        ("setup", "r0 --on-no-quorum=io-error", &[kept, "on-no-quorum io-error;"][..]),
        ("setup", "--on-no-quorum io-error r0", &[kept, "on-no-quorum io-error;"]),
        ("setup", "r0 --auto-promote", &["auto-promote yes;"]),
        ("setup", "r0 --no-auto-promote --on-no-data=io-error", &[kept, "-accessible io-error;"]),
        ("setup", "r0 --set-defaults --quorum=majority", &["quorum majority;"]),
        ("setup", "r0 --quorum=majority --cpu-mask=3", &[kept, "cpu-mask 3;"]),
        ("adm", "--auto-promote-timeout=9 r0", &[kept, "auto-promote-timeout 9;"]),
    ] {
        let run = beside(tool, &format!("resource-options {line}"));
        assert_eq!((run.exit, run.stdout.as_str()), (0, ""), "{line}: {run:?}");
        assert!(run.stderr.contains("counts on this node alone"), "{line}: {run:?}");
        let Some(Command::Adjust { config_text, dry_run: false, scope, .. }) = run.asked.last()
        else {
            panic!("{line}: {:?}", run.asked)
        };
        assert!(scope.skip_disk && scope.skip_net, "{line}");
        let text = config_text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(expected.iter().all(|part| text.contains(part)), "{line}: {config_text}");
        let has_kept = text.contains(kept);
        assert_eq!(has_kept, expected.contains(&kept), "{line}: {config_text}");
    }
    for (line, exit, part) in [
        ("r0 --quorum=off", 10, "`quorum` holds for all nodes"),
        ("r0 --quorum-minimum-redundancy=1", 10, "holds for all nodes"),
        ("r0 --set-defaults", 10, "`quorum` holds for all nodes"),
        ("r0 --on-no-quorum=nosuch", 20, "nosuch"),
        ("r0 --auto-promote=maybe", 20, "maybe"),
    ] {
        let run = beside("setup", &format!("resource-options {line}"));
        assert_eq!(run.exit, exit, "{line}: {run:?}");
        assert!(run.stderr.contains(part), "{line}: {run:?}");
        let changes = run.asked.iter().any(|it| matches!(it, Command::Adjust { .. }));
        assert!(!changes, "{line}: {:?}", run.asked);
    }
}

const RUNNING: &str = "resource r0 {
    options { quorum majority; auto-promote no; }
    net { max-buffers 8000; }
    disk { al-extents 1237; c-max-rate 200M; }
    volume 0 { device minor 1; disk /dev/vg/lv; meta-disk internal; }
    on alice { node-id 0; address 10.0.0.1:7789; }
    on bob { node-id 1; address 10.0.0.2:7789; }
}";

fn running() -> Vec<Response> {
    let resources = vec![Running { resource: r0(), config_text: RUNNING.to_owned() }];
    let reply = RunningReply { node: "alice".to_owned(), resources };
    vec![Response::Ok(Reply::Running(reply)), status(&["r0"])]
}

#[test]
fn show_prints_what_runs() {
    let stdout = "\
resource \"r0\" {
    options {
        auto-promote    \tno;
        quorum          \tmajority;
    }
    _this_host {
        node-id\t\t\t0;
        volume 0 {
            device\t\t\tminor 1;
            disk\t\t\t\"/dev/vg/lv\";
            meta-disk\t\t\tinternal;
            disk {
                al-extents      \t1237;
            }
        }
    }
    connection {
        _peer_node_id 1;
        path {
            _this_host ipv4 10.0.0.1:7789;
            _remote_host ipv4 10.0.0.2:7789;
        }
        _cstate Connected;
        net {
            _name           \t\"bob\";
            max-buffers     \t8000;
        }
        volume 0 {
            disk {
                c-max-rate      \t200M;
            }
        }
    }
}

";
    let asked = vec![Command::Show { resources: vec![r0()] }, ask_status(&["r0"])];
    expect(&["show", "r0"], running(), &Run { stdout: stdout.to_owned(), ..quiet(asked) });
    let run = Place::new().run_tool("setup", &["show", "--show-defaults"], running());
    assert!(run.stdout.contains("on-no-quorum    \tsuspend-io; # default\n"), "{}", run.stdout);
    let run = Place::new().run_tool("setup", &["--json", "show"], running());
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown[0]["resource"], "r0");
    assert_eq!(shown[0]["options"]["auto-promote"], false);
    assert_eq!(shown[0]["_this_host"]["volumes"][0]["backing-disk"], "/dev/vg/lv");
    let connection = &shown[0]["connections"][0];
    assert_eq!(connection["_cstate"], "Connected");
    assert_eq!(connection["net"]["max-buffers"], "8000");
    assert_eq!(connection["volumes"][0]["disk"]["c-max-rate"], "200M");
}

/// Waits with a daemon that shows one state after the other, and then nothing more.
fn waited(words: &[&str], states: Vec<ResourceStatus>) -> Run {
    let place = Place::new();
    let listener = UnixListener::bind(place.path("admin.sock")).unwrap();
    let daemon = thread::spawn(move || {
        let request = |stream: &_| -> Request { read_message(BufReader::new(stream)).unwrap() };
        let (stream, _) = listener.accept().unwrap();
        assert!(matches!(request(&stream).command, Command::Status { .. }));
        write_message(&stream, &status(&["r0"])).unwrap();
        let (stream, _) = listener.accept().unwrap();
        assert!(matches!(request(&stream).command, Command::Events { .. }));
        write_message(&stream, &done()).unwrap();
        for resource in states {
            let resource = Box::new(resource);
            write_message(&stream, &Update::Changed { at_us: 0, polled: false, resource }).unwrap();
        }
        // Held until the tool has enough.
        drop(read_message::<Request>(BufReader::new(&stream)));
    });
    let run = place.run_tool_alone("setup", words);
    daemon.join().unwrap();
    run
}

fn connected() -> ResourceStatus {
    let mut resource = resource("r0");
    resource.connections[1].connection_state = ConnectionState::Connected;
    resource.connections[1].peer_devices[0].peer_disk_state = DiskState::UpToDate;
    resource
}

#[test]
fn waiting_ends_with_the_state_or_with_the_time() {
    let lost = || resource("r0");
    let run = waited(&["wait-connect-resource", "r0"], vec![lost(), connected()]);
    assert_eq!(run, quiet(Vec::new()));
    let run = waited(&["wait-connect-connection", "r0", "1"], vec![lost()]);
    assert_eq!(run, quiet(Vec::new()));
    let run = waited(&["--timeout", "0.05", "wait-connect-resource", "r0"], vec![lost()]);
    let expected = Run {
        exit: 5,
        stderr: "r0: wait-connect-resource: the connections did not come: 0.05 s are up, and \
                 carol is Connecting\n  try: basalt setup status \
                 r0\n"
            .to_owned(),
        ..quiet(Vec::new())
    };
    assert_eq!(run, expected);
    let run = waited(&["wait-connect-resource", "--wfc-timeout", "1", "r0"], vec![lost()]);
    assert_eq!(run.exit, 5, "{run:?}");

    let mut alone = lost();
    alone.connections[1].connection_state = ConnectionState::StandAlone;
    let run = waited(&["wait-connect-resource", "r0"], vec![alone.clone()]);
    assert_eq!(run.exit, 5);
    assert!(run.stderr.contains("try: basalt adm connect r0"), "{}", run.stderr);
    let words = ["wait-connect-resource", "--wait-after-sb=yes", "r0"];
    assert_eq!(waited(&words, vec![alone, connected()]).exit, 0);

    let mut syncing = connected();
    syncing.connections[0].peer_devices[0].peer_disk_state = DiskState::Inconsistent;
    let run = waited(&["wait-sync-resource", "r0"], vec![syncing.clone(), connected()]);
    assert_eq!(run, quiet(Vec::new()));
    let run = waited(&["wait-sync-connection", "r0", "2"], vec![syncing]);
    assert_eq!(run, quiet(Vec::new()));
}

#[test]
fn links_are_the_tools_under_drbds_names() {
    let place = Place::new();
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    let install = |words: &[&str]| {
        let mut command = Process::new(env!("CARGO_BIN_EXE_basalt"));
        command.arg("install-links").args(words).arg(&bin).output().unwrap()
    };
    for _ in 0..2 {
        let output = install(&[]);
        assert!(output.status.success(), "{output:?}");
    }
    let run = |name: &str, words: &[&str]| {
        let output = Process::new(bin.join(name)).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (exit, help) = run("drbdadm", &["--help"]);
    assert!(exit == Some(0) && help.contains("create-md"), "{help}");
    let (exit, help) = run("drbdsetup", &["--help"]);
    assert!(exit == Some(0) && help.contains("wait-connect-resource"), "{help}");
    let (exit, version) = run("drbdadm", &["--version"]);
    assert_eq!(exit, Some(0));
    assert!(version.contains("\nDRBD_KERNEL_VERSION_CODE=0x090303\n"), "{version}");

    // What they tell to be typed goes by the names that they were called by.
    let socket = place.path("no.sock");
    let complaint = |name: &str, words: &[&str]| {
        let mut command = Process::new(bin.join(name));
        command.args(words).env("BASALT_ADMIN_SOCKET", &socket);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    for (name, words, part) in [
        ("drbdsetup", &["dstate", "0"][..], "drbdsetup: cannot"),
        ("drbdsetup", &["status", "a/b"], "try: drbdsetup --help"),
        ("drbdadm", &["status", "a/b"], "try: drbdadm --help"),
        ("drbdsetup", &["rolle", "r0"], "Usage: drbdsetup "),
        ("drbdadm", &["rolle", "r0"], "Usage: drbdadm "),
        ("drbdadm", &["set-gi", "r0"], "drbdadm: set-gi: "),
        ("drbdadm", &["--", "--timeout=600", "net-options", "r0"], "not from `--timeout=600`"),
        ("drbdadm", &["--", "--overwrite-data-of-peer", "primary", "r0"], "cannot reach"),
    ] {
        let said = complaint(name, words);
        assert!(said.contains(part) && !said.contains("basalt adm"), "{name} {words:?}: {said}");
    }
    let mut own = Process::new(env!("CARGO_BIN_EXE_basalt"));
    own.args(["adm", "--", "--force", "primary", "r0"]).env("BASALT_ADMIN_SOCKET", &socket);
    let said = String::from_utf8(own.output().unwrap().stderr).unwrap();
    assert!(said.contains("cannot reach"), "{said}");
    let _listener = silent_daemon(&socket);
    let said = complaint("drbdsetup", &["--timeout", "0.05", "down", "r0"]);
    assert!(said.contains("look with `drbdsetup status`"), "{said}");
    let said = complaint("drbdadm", &["--timeout", "0.05", "down", "r0"]);
    assert!(said.contains("look with `drbdadm status`"), "{said}");

    fs::remove_file(bin.join("drbdadm")).unwrap();
    fs::write(bin.join("drbdadm"), "another program").unwrap();
    let output = install(&[]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("use --force to replace it"), "{said}");
    assert!(install(&["--force"]).status.success());
    assert_eq!(run("drbdadm", &["--help"]).0, Some(0));
}
