//! The daemon's log as JSON: every line is an object, whatever it is about.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use stdx::child::HeldChild;

use crate::harness::own_port;

#[test]
fn every_line_of_the_log_is_json_and_says_what_it_is_about() {
    let home = tempfile::tempdir().unwrap();
    let disk = home.path().join("disk");
    std::fs::File::create(&disk).unwrap().set_len(64 << 20).unwrap();
    let config = home.path().join("r0.res");
    let text = format!(
        "resource r0 {{ volume 0 {{ device minor 1; disk {}; meta-disk internal; }}
           on alfa {{ node-id 0; address {}; }}
           on bravo {{ node-id 1; address 127.0.0.1:1; }} }}",
        disk.display(),
        own_port()
    );
    std::fs::write(&config, text).unwrap();
    let state = home.path().join("state");
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_basalt"));
    daemon.args(["node", "--name", "alfa", "--shards", "1", "--log-format", "json"]);
    daemon.args(["--exit-with-parent", "--state-dir"]).arg(&state);
    daemon.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut daemon = HeldChild::from(daemon.spawn().unwrap());
    let mut lines = BufReader::new(daemon.stderr.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let is_ready = |line: &Value| line["message"].as_str().unwrap().contains("is ready");
    let mut line = next();
    while !is_ready(&line) {
        line = next();
    }
    assert_eq!(line["level"], "notice");
    assert!(line.get("resource").is_none(), "{line}");
    let time = line["time"].as_str().unwrap();
    assert!(time.len() == "2026-01-31T12:00:00.123Z".len() && time.ends_with('Z'), "{time}");
    for verb in ["create-md", "up"] {
        let mut adm = Command::new(env!("CARGO_BIN_EXE_basalt"));
        adm.args(["adm", "--node-socket"]).arg(state.join("admin.sock"));
        adm.arg("-c").arg(&config).arg(verb);
        if verb == "create-md" {
            adm.args(["--node", "alfa"]);
        }
        let output = adm.arg("r0").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    while line["resource"] != "r0" {
        line = next();
    }
    while line["peer"] != "bravo" {
        line = next();
    }
    assert_eq!(line["level"], "warning", "it cannot be reached: {line}");
}
