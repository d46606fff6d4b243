//! With `--json` every failure is told on standard output in JSON, whatever the verb: a program
//! that reads the answers need not read standard error, too.

use api::request::Command;
use api::response::{FailureCode, Reply, Response, Running, RunningReply};
use serde_json::Value;

use crate::fake_node::{Place, Run};
use crate::{refused, status};

/// Every verb of `basalt adm`, with words that cannot be done without a daemon and without a
/// configuration file.
const ADM: &[&[&str]] = &[
    &["create-md", "r0"],
    &["adopt-drbd", "r0"],
    &["adopt", "r0"],
    &["up", "r0"],
    &["down", "r0"],
    &["adjust", "r0"],
    &["attach", "r0"],
    &["detach", "r0"],
    &["connect", "r0"],
    &["disconnect", "r0"],
    &["primary", "r0"],
    &["new-current-uuid", "--clear-bitmap", "r0"],
    &["secondary", "r0"],
    &["status", "r0"],
    &["explain", "r0"],
    &["report", "--dir", "DIR/none"],
    &["events2", "r0"],
    &["role", "r0"],
    &["cstate", "r0"],
    &["dstate", "r0"],
    &["wait-connect", "r0"],
    &["wait-con-int"],
    &["wait-sync", "r0"],
    &["dump", "r0"],
    &["dump-xml", "r0"],
    &["sh-nop"],
    &["sh-resources"],
    &["sh-list-adjustable"],
    &["sh-list-config-file"],
    &["sh-resource", "r0"],
    &["sh-dev", "r0"],
    &["sh-minor", "r0"],
    &["sh-ll-dev", "r0"],
    &["sh-md-dev", "r0"],
    &["sh-md-idx", "r0"],
    &["sh-ip", "r0"],
    &["sh-peers", "r0"],
    &["sh-udev", "r0"],
    &["sh-effective", "r0"],
    &["sh-lr-of", "r0"],
    &["new-resource", "r0"],
    &["new-minor", "r0"],
    &["new-peer", "r0"],
    &["new-path", "r0"],
    &["del-peer", "r0"],
    &["del-path", "r0"],
    &["del-minor", "r0"],
    &["check-resize", "r0"],
    &["outdate", "r0"],
    &["peer-role", "r0"],
    &["apply-al", "r0"],
    &["repair-md", "r0"],
    &["forget-peer", "r0:bob"],
    &["invalidate-remote", "r0"],
    &["pause-sync", "r0"],
    &["resume-sync", "r0"],
    &["disk-options", "r0"],
    &["net-options", "r0"],
    &["resource-options", "r0"],
    &["peer-device-options", "r0"],
    &["dump-md", "r0"],
    &["get-gi", "r0"],
    &["show-gi", "r0"],
    &["wipe-md", "r0"],
    &["set-gi", "r0"],
    &["invalidate", "r0"],
    &["verify", "r0"],
    &["suspend-io", "r0"],
    &["resume-io", "r0"],
    &["reopen", "r0"],
    &["forget", "r0"],
    &["resize", "r0"],
    &["fence-peer", "r0"],
    &["unfence-peer", "r0"],
    &["split-brain", "r0"],
    &["initial-split-brain", "r0"],
    &["pri-on-incon-degr", "r0"],
    &["pri-lost", "r0"],
    &["pri-lost-after-sb", "r0"],
    &["local-io-error", "r0"],
    &["before-resync-target", "r0"],
    &["after-resync-target", "r0"],
    &["before-resync-source", "r0"],
    &["out-of-sync", "r0"],
    &["quorum-lost", "r0"],
    &["disconnected", "r0"],
];

/// Nothing can go wrong with them.
const ADM_ALWAYS: &[&str] = &["hidden-commands", "sh-mod-parms", "help"];

const SETUP: &[&[&str]] = &[
    &["status", "r0"],
    &["events2", "r0"],
    &["show", "r0"],
    &["role", "r0"],
    &["cstate", "r0", "1"],
    &["dstate", "1"],
    &["down", "r0"],
    &["primary", "r0"],
    &["secondary", "r0"],
    &["connect", "r0", "1"],
    &["disconnect", "r0", "1"],
    &["detach", "1"],
    &["resize", "1"],
    &["invalidate", "1"],
    &["suspend-io", "1"],
    &["resume-io", "1"],
    &["new-current-uuid", "1"],
    &["invalidate-remote", "r0", "1", "0"],
    &["outdate", "1"],
    &["verify", "r0", "1", "0"],
    &["get-gi", "r0", "1", "0"],
    &["show-gi", "r0", "1", "0"],
    &["check-resize", "1"],
    &["pause-sync", "r0", "1", "0"],
    &["resume-sync", "r0", "1", "0"],
    &["udev", "1"],
    &["del-minor", "1"],
    &["del-peer", "r0", "1"],
    &["forget-peer", "r0", "1"],
    &["del-resource", "r0"],
    &["rename-resource", "r0", "r1"],
    &["new-resource", "r0", "0"],
    &["new-minor", "r0", "1", "0"],
    &["new-peer", "r0", "1"],
    &["new-path", "r0", "1", "10.0.0.1:1", "10.0.0.2:1"],
    &["del-path", "r0", "1", "10.0.0.1:1", "10.0.0.2:1"],
    &["attach", "1", "/dev/a", "/dev/a", "internal"],
    &["resource-options", "r0", "--quorum=off"],
    &["disk-options", "1", "--al-extents=67"],
    &["net-options", "r0", "1", "--timeout=60"],
    &["peer-device-options", "r0", "1", "0", "--c-max-rate=1M"],
    &["wait-connect-resource", "r0"],
    &["wait-connect-connection", "r0", "1"],
    &["wait-connect-volume", "r0", "1", "0"],
    &["wait-sync-resource", "r0"],
    &["wait-sync-connection", "r0", "1"],
    &["wait-sync-volume", "r0", "1", "0"],
];

/// The names that the tool itself lists.
fn verbs_of(tool: &str) -> Vec<String> {
    let help = Place::new().run_tool_alone(tool, &["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if tool == "adm" {
        let hidden = Place::new().run_alone(&["hidden-commands"]).stdout;
        names.extend(hidden.lines().map(str::to_owned));
    }
    names
}

/// The failure that is told, in a list of answers or in a line of its own.
fn failure(run: &Run) -> Option<Value> {
    let lines = run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
    let found: Vec<Value> = serde_json::from_str(&run.stdout).unwrap_or_else(|_| lines.collect());
    found.into_iter().find(|answer| answer["ok"] == false)
}

#[track_caller]
fn assert_told(tool: &str, words: &[&str], run: &Run) {
    assert_ne!(run.exit, 0, "{tool} {words:?}: {run:?}");
    let told = failure(run).unwrap_or_else(|| panic!("{tool} {words:?} tells nothing: {run:?}"));
    assert_eq!(told["error"]["exit"], run.exit, "{tool} {words:?}: {told}");
    assert_eq!(told["error"]["try"], told["error"]["hint"], "{tool} {words:?}");
    for field in ["code", "message"] {
        let text = told["error"][field].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{tool} {words:?} has no {field}: {told}");
    }
    assert!(!run.stderr.is_empty(), "{tool} {words:?}: people are told, too");
}

/// An empty list looked as if nothing was wrong.
#[test]
fn resource_that_is_not_up_is_a_failure_of_every_verb_that_names_it() {
    // `events2` tells of it once it comes, as DRBD does.
    let others = ["events2", "report", "wait-con-int", "sh-nop", "sh-resources", "set-gi"];
    let others = [&others[..], &["sh-list-adjustable", "sh-list-config-file"]].concat();
    // Scripts of DRBD's ask these before the resource is there, and after it went.
    let others = [&others[..], &["check-resize", "outdate"]].concat();
    let refusal = || refused(FailureCode::UnknownResource, "no such resource is up", "look");
    for (tool, table) in [("adm", ADM), ("setup", SETUP)] {
        for words in table.iter().filter(|words| !others.contains(&words[0])) {
            // As with DRBD, what is down already is no failure.
            if tool == "setup" && ["down", "del-resource"].contains(&words[0]) {
                continue;
            }
            let place = Place::new();
            place.write("one.res", ONE_OTHER);
            let general = ["--json", "--timeout", "5", "-c", "DIR/one.res"];
            let general = if tool == "setup" { &general[..3] } else { &general };
            let words = [general, words].concat();
            let run = place.run_tool_beside(tool, &words, move |command| {
                if matches!(command, Command::Status { resources, .. } if resources.is_empty()) {
                    status(&["r1"])
                } else if matches!(command, Command::Show { .. }) {
                    Response::Ok(Reply::Running(RunningReply {
                        node: "alice".to_owned(),
                        resources: vec![Running {
                            resource: "r1".to_owned(),
                            config_text: ONE_OTHER.to_owned(),
                        }],
                    }))
                } else {
                    refusal()
                }
            });
            assert_told(tool, &words, &run);
        }
    }
}

/// A configuration without `r0`.
const ONE_OTHER: &str = "\
resource r1 {
  volume 0 { device minor 0; disk /dev/none; meta-disk internal; }
  on alice { node-id 0; address 127.0.0.1:7900; }
}
";

/// A program had to read the place out of the message.
#[test]
fn mistake_of_a_file_is_told_with_its_place_and_what_to_try() {
    let place = Place::new();
    place.write("bad.res", "resource r0 {\n  net { protocol D; }\n}\n");
    let run = place.run_tool_alone("adm", &["--json", "-c", "DIR/bad.res", "dump", "all"]);
    let error = &failure(&run).unwrap()["error"];
    let file = error["file"].as_str().unwrap();
    assert!(file.ends_with("bad.res"), "{error}");
    assert_eq!((&error["line"], &error["column"]), (&2.into(), &18.into()), "{error}");
    assert_eq!(error["try"], "one of A, B, C; the default of `protocol` is C", "{error}");
    let run = place.run_tool_alone("adm", &["--json", "-c", "DIR/none.res", "dump", "all"]);
    let error = &failure(&run).unwrap()["error"];
    assert!(error["line"].is_null(), "a file that is not there has no line: {error}");
}

/// Three mistakes were one object, whose place was that of the first.
#[test]
fn each_mistake_of_a_file_is_an_answer_of_its_own() {
    let place = Place::new();
    let text = "resource r0 {\n  net { protocol D; }\n  disk { al-extents x; }\n  on a { node-id \
                99; }\n}\n";
    place.write("bad.res", text);
    let run = place.run_tool_alone("adm", &["--json", "-c", "DIR/bad.res", "dump", "r0"]);
    let told: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let place_of = |it: &Value| {
        let number = |field: &str| it["error"][field].as_u64().unwrap();
        (number("line"), number("column"))
    };
    let places: Vec<_> = told.iter().map(place_of).collect();
    assert_eq!(places, [(2, 18), (3, 21), (4, 18)], "{run:?}");
    let message = told[1]["error"]["message"].as_str().unwrap();
    let wanted = "bad value of `al-extents`: `x` is not a number, the range is 67 to 65534";
    assert_eq!(message, wanted);
    assert!(told.iter().all(|it| it["ok"] == false && it["error"]["exit"] == 10), "{run:?}");
}

/// They answered in words alone, with --json or without.
#[test]
fn certificates_and_devices_are_refused_in_json_as_well() {
    let place = Place::new();
    place.write("ca.crt", "there");
    let run = |tool: &str, words: &[&str]| place.run_tool_alone(tool, words);
    let made = run("pki", &["init", "--json", "--dir", "DIR/new"]);
    let told: Vec<Value> = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!((&told[0]["ok"], &told[0]["verb"]), (&true.into(), &"pki init".into()), "{made:?}");
    for (tool, words, code, has_file) in [
        ("pki", &["init", "--json", "--dir", "DIR/new"][..], "exists", true),
        ("pki", &["issue", "--json", "--dir", "DIR", "alice"], "no-authority", true),
        ("pki", &["issue", "--json", "--dir", "DIR/new", "a b"], "bad-name", false),
        ("pki", &["issue", "--json", "--days", "0", "alice"], "usage", false),
        ("pki", &["issue", "--json"], "usage", false),
        ("device", &["remove", "--json", "1048575"], "device", true),
        ("device", &["remove", "--json", "x"], "usage", false),
    ] {
        let run = run(tool, words);
        assert_told(tool, words, &run);
        let error = &failure(&run).unwrap()["error"];
        assert_eq!(error["code"], code, "{tool} {words:?}: {error}");
        assert_eq!(error["file"].is_string(), has_file, "{tool} {words:?}: {error}");
    }
}

#[test]
fn every_failure_is_told_in_json() {
    for (tool, table, always) in [("adm", ADM, ADM_ALWAYS), ("setup", SETUP, &["help"][..])] {
        let place = Place::new();
        let mut verbs = verbs_of(tool);
        verbs.retain(|verb| !always.contains(&verb.as_str()));
        let mut known: Vec<&str> = table.iter().map(|words| words[0]).collect();
        known.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(verbs, known, "the table has every verb of {tool}");
        for words in table {
            let general = ["--json", "--timeout", "2", "-c", "DIR/none.res"];
            // A setup asks the daemon for its configuration.
            let general = if tool == "setup" { &general[..3] } else { &general };
            assert_told(tool, words, &place.run_tool_alone(tool, &[general, words].concat()));
            // What is not understood is told so, too; behind the words of a step all is accepted.
            let wrong = [words[0], "--json", "--nonsense"];
            assert_told(tool, &wrong, &place.run_tool_alone(tool, &wrong));
        }
    }
}
