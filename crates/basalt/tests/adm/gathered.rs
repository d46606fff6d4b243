//! `report --cluster` and `report --stdout`: other nodes are played by this machine, and ssh by a
//! script that reaches some of them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use api::request::Command;
use api::response::{Reply, Response, Running, RunningReply};

use crate::fake_node::{Place, Run};
use crate::status;

/// Bob tells all, carol is out of reach, dave falls silent before the end, and eve greets first.
const SSH: &str = r#"#!/bin/sh
echo "$@" >> DIR/asked
export PATH="DIR/bin:$PATH"
case $1 in
bob) BASALT_ADMIN_SOCKET=DIR/none.sock sh -c "$2" | tee DIR/bob.stream ;;
carol) echo "ssh: connect to host carol port 22: No route to host" >&2; exit 255 ;;
dave) BASALT_ADMIN_SOCKET=DIR/none.sock sh -c "$2" | head -c -1100; exec sleep 600 ;;
eve) echo "welcome to eve: $(printf '%600s' x)" ;;
esac
"#;

fn configuration(names: &[&str]) -> String {
    let host = |(id, name): (usize, &&str)| {
        format!(
            "on {name} {{ node-id {id}; address 10.255.255.{id}:7700;
               volume 0 {{ device minor 0; disk /dev/none; meta-disk internal; }} }}\n"
        )
    };
    let hosts: String = names.iter().enumerate().map(host).collect();
    let names = names.join(" ");
    format!(
        "resource r0 {{ net {{ shared-secret \"hunter2\"; }}
         {hosts} connection-mesh {{ hosts {names}; }} }}\n"
    )
}

fn place(nodes: &[&str]) -> Place {
    let place = Place::new();
    place.write("basalt.conf", &configuration(nodes));
    place.write("log", "one line\n");
    place.write("ssh", SSH);
    fs::set_permissions(place.path("ssh"), Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(place.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_basalt"), place.path("bin/basalt")).unwrap();
    fs::create_dir_all(place.path("state/resources")).unwrap();
    place.write("state/resources/r0.res", "net { shared-secret \"hunter2\"; }\n");
    fs::write(place.path("state/resources/r0.register"), [0xff, 0, 1]).unwrap();
    place
}

/// Beside alice's daemon.
fn run(place: &Place, words: &[&str]) -> Run {
    let files = ["--state-dir", "DIR/state", "--log", "DIR/log"];
    let words = [&["-c", "DIR/basalt.conf", "report"][..], words, &files].concat();
    place.run_tool_beside("adm", &words, |command| {
        if !matches!(command, Command::Show { .. }) {
            return status(&["r0"]);
        }
        let config_text = "net { shared-secret \"hunter2\"; }\n".to_owned();
        let running = Running { resource: "r0".to_owned(), config_text };
        let node = "alice".to_owned();
        Response::Ok(Reply::Running(RunningReply { node, resources: vec![running] }))
    })
}

/// Unpacks an archive that a run named; the only folder in it.
fn unpacked(place: &Place, archive: &str) -> PathBuf {
    let archive = place.path(archive.trim().strip_prefix("DIR/").unwrap());
    let bytes = fs::read(&archive).unwrap();
    assert!(!contains(&bytes, b"hunter2"), "a secret is in the archive");
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o777, 0o600);
    untar(place, &archive)
}

fn untar(place: &Place, archive: &Path) -> PathBuf {
    let out = place.path("out");
    fs::create_dir(&out).unwrap();
    let mut tar = Process::new("tar");
    let output = tar.arg("-xf").arg(archive).arg("-C").arg(&out).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    out
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn report_of_a_cluster_has_a_folder_for_each_node_that_told() {
    let place = place(&["alice", "bob"]);
    let run = run(&place, &["--cluster", "--ssh", "DIR/ssh", "--dir", "DIR"]);
    // A machine that is busy takes more than two seconds.
    let is_progress = |line: &str| line.contains(" nodes are done; waiting for ");
    assert!(run.exit == 0 && run.stderr.lines().all(is_progress), "{run:?}");
    let out = unpacked(&place, &run.stdout);
    let top = out.join(&names_in(&out)[0]);
    assert_eq!(names_in(&top), ["README", "alice", "bob"]);
    for node in ["alice", "bob"] {
        let read = |name: &str| fs::read_to_string(top.join(node).join(name)).unwrap();
        assert_eq!(read("log.txt"), "one line\n");
        assert!(read("configured.res").contains("shared-secret    left-out;"), "{node}");
        let register = fs::read(top.join(node).join("state/r0.register")).unwrap();
        assert_eq!(register, [0xff, 0, 1]);
    }
    assert!(top.join("alice/status.json").exists() && !top.join("bob/status.json").exists());
    let of_bob = fs::read_to_string(top.join("bob/README")).unwrap();
    assert!(of_bob.contains("not read: status.json, explain.txt: cannot reach"), "{of_bob}");
    let readme = fs::read_to_string(top.join("README")).unwrap();
    assert!(readme.contains("\nbob: bob: its report is whole: "), "{readme}");
    let stream = fs::read(place.path("bob.stream")).unwrap();
    assert!(!contains(&stream, b"hunter2"), "a secret left its node");
    let asked = fs::read_to_string(place.path("asked")).unwrap();
    assert!(asked.starts_with("bob basalt adm report --stdout --timeout 10 --config-file /"));
}

#[test]
fn nodes_that_do_not_tell_all_are_named_and_the_others_are_there() {
    let place = place(&["alice", "bob", "carol", "dave", "eve"]);
    let words = ["--cluster", "--ssh", "DIR/ssh", "--dir", "DIR", "--json", "--timeout", "6"];
    let run = run(&place, &words);
    assert_eq!(run.exit, 20, "{run:?}");
    let answers: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answers[0]["ok"], false, "{answers}");
    let nodes = answers[0]["nodes"].as_array().unwrap();
    let told: Vec<_> = nodes.iter().map(|it| (it["name"].as_str(), it["ok"].as_bool())).collect();
    let expected =
        [("alice", true), ("bob", true), ("carol", false), ("dave", false), ("eve", false)];
    assert_eq!(told, expected.map(|(name, ok)| (Some(name), Some(ok))), "{answers}");
    for part in [
        "basalt adm: report: ",
        " nodes are done; waiting for ",
        "carol: nothing came: the command ended too soon; its last words: ssh: connect to host",
        "dave: only ",
        " files came: the node did not tell all within 6 s; wait longer with --timeout",
        "eve: nothing came: the command said something else than a report (not of tar: a header)",
        "not all of the cluster is in the archive: see carol, dave, eve in its README\n",
    ] {
        assert!(run.stderr.contains(part), "no {part:?} in {}", run.stderr);
    }
    let out = unpacked(&place, answers[0]["archive"].as_str().unwrap());
    let top = out.join(&names_in(&out)[0]);
    assert_eq!(names_in(&top), ["README", "alice", "bob", "dave"]);
    let readme = fs::read_to_string(top.join("README")).unwrap();
    assert!(readme.contains("\ncarol: carol: nothing came: "), "{readme}");
}

/// The disaster that the report is wanted for may have taken the configuration with it.
#[test]
fn report_of_a_cluster_without_a_configuration_has_this_node() {
    let place = place(&["alice"]);
    place.write("basalt.conf", "resource r0 { net { shared-secret \"hunter2\"; } }\n");
    let words =
        ["-c", "DIR/basalt.conf", "report", "--cluster", "--dir", "DIR", "--log", "DIR/log"];
    let run = place.run_alone(&words);
    assert_eq!(run.exit, 20, "{run:?}");
    assert!(run.stderr.contains("other nodes: nothing came: the configuration"), "{run:?}");
    assert!(!run.stderr.contains("hunter2"), "{run:?}");
    let out = unpacked(&place, &run.stdout);
    let top = out.join(&names_in(&out)[0]);
    assert_eq!(names_in(&top).len(), 2, "{:?}", names_in(&top));
}

#[test]
fn report_on_standard_output_is_an_archive_of_this_node() {
    let place = place(&["alice", "bob"]);
    let words =
        "-c DIR/basalt.conf report --stdout --state-dir DIR/state --log DIR/log > DIR/a.tar";
    let words = words.replace("DIR", &place.path("").display().to_string());
    let command = format!("{} {words}", env!("CARGO_BIN_EXE_basalt").to_owned() + " adm");
    let socket = place.path("none.sock");
    let mut shell = Process::new("sh");
    shell.args(["-c", &command]).env("BASALT_ADMIN_SOCKET", socket);
    let output = shell.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let out = untar(&place, &place.path("a.tar"));
    let names = ["README", "configured.res", "log.txt", "state", "system.txt"];
    assert_eq!(names_in(&out), names);
    let run = place.run_alone(&["report", "--stdout", "--json"]);
    assert_eq!(run.exit, 1, "{run:?}");
    assert!(run.stderr.contains("--stdout writes an archive"), "{run:?}");
}
