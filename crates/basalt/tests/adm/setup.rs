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
use api::status::ResourceStatus;
use api::subscription::Update;
use api::wire::{read_message, write_message};

use crate::fake_node::{Place, Run};
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
        stderr: "basalt adm: setup: no volume has the minor 9\n  try: basalt setup status \
                 --verbose\n"
            .to_owned(),
        ..quiet(vec![ask_status(&[])])
    };
    expect(&["dstate", "9"], vec![status(&["r0"])], &unknown);
    let run = Place::new().run_tool("setup", &["new-peer", "r0", "1"], Vec::new());
    assert_eq!(run.exit, 20, "{run:?}");
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
        stderr: "r0: wait: the connections did not come: 0.05 s are up\n  try: basalt adm status \
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

    fs::remove_file(bin.join("drbdadm")).unwrap();
    fs::write(bin.join("drbdadm"), "another program").unwrap();
    let output = install(&[]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("use --force to replace it"), "{said}");
    assert!(install(&["--force"]).status.success());
    assert_eq!(run("drbdadm", &["--help"]).0, Some(0));
}
