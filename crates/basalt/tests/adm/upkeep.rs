//! Verbs whose work is done in another way here, and options that are taken over alone.

use api::request::{AdjustScope, Command};
use api::response::{Reply, Response};

use crate::fake_node::Place;
use crate::status;

const CONFIG: [&str; 2] = ["-c", "DIR/basalt.conf"];

fn place() -> Place {
    let place = Place::new();
    place.write(
        "basalt.conf",
        "resource r0 {
            volume 0 { device minor 1; disk /dev/vg/r0; meta-disk internal; }
            on alice { node-id 0; address 10.0.0.1:7900; }
            on bob { node-id 1; address 10.0.0.2:7900; }
        }",
    );
    place
}

#[test]
fn what_is_done_by_itself_is_no_error() {
    for words in [["apply-al", "r0"], ["repair-md", "r0/0"]] {
        let run = place().run_alone(&[CONFIG[0], CONFIG[1], words[0], words[1]]);
        assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{words:?}");
        let run = place().run_alone(&[CONFIG[0], CONFIG[1], words[0], "r7"]);
        assert_eq!(run.exit, 10, "{words:?}");
    }
    for words in [["resume-sync", "r0:bob"], ["forget-peer", "r0:gone"]] {
        let run = Place::new().run(&words, vec![status(&["r0"])]);
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{words:?}");
    }
}

#[test]
fn what_is_done_in_another_way_is_refused_with_it() {
    for (words, part) in [
        (["forget-peer", "r0:bob"], "take it out of the configuration"),
        (["invalidate-remote", "r0:bob"], "on the peer: `basalt adm invalidate r0`"),
        (["pause-sync", "r0:bob"], "c-max-rate 10M"),
    ] {
        let run = Place::new().run(&words, vec![status(&["r0"])]);
        assert_eq!(run.exit, 10, "{words:?}");
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let run = Place::new().run(&["forget-peer", "r0"], vec![status(&["r0"])]);
    assert_eq!(run.exit, 1, "{run:?}");
}

#[test]
fn options_are_taken_over_if_nothing_else_differs() {
    let steps = |lines: &[&str]| {
        let changes = lines.iter().map(|&line| line.to_owned()).collect();
        Response::Ok(Reply::Adjusted { changes, warnings: Vec::new() })
    };
    let option = "drbdsetup net-options r0 1 --set-defaults --_name=bob --ping-int=5";
    let words = [CONFIG[0], CONFIG[1], "-v", "net-options", "--set-defaults", "r0"];
    let run = place().run(&words, vec![steps(&[option]), steps(&[option])]);
    assert_eq!((run.exit, run.stdout), (0, format!("{option}\n")));
    let wanted = AdjustScope { skip_disk: true, skip_net: true, peer: None };
    let is_adjust = |command: &Command, dry: bool| {
        let Command::Adjust { dry_run, scope, .. } = command else { return false };
        *dry_run == dry && *scope == wanted
    };
    assert!(is_adjust(&run.asked[0], true) && is_adjust(&run.asked[1], false), "{:?}", run.asked);
    let other = "drbdsetup detach 1";
    let run = place().run(&words, vec![steps(&[option, other])]);
    assert_eq!((run.exit, run.asked.len()), (10, 1));
    assert!(run.stderr.contains("adjust r0"), "{}", run.stderr);
}

/// What systemd runs once a month, as it is shipped.
#[test]
fn the_unit_that_compares_asks_for_all_resources() {
    let unit = include_str!("../../../../docs/systemd/basalt-verify.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/basalt "));
    let words: Vec<&str> = line.expect("it starts the tool").split(' ').collect();
    let done = || Response::Ok(Reply::done());
    let answers = vec![status(&["r0", "r1"]), done(), done()];
    let run = Place::new().run_tool(words[0], &words[1..], answers);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    let verify = |resource: &str| Command::Verify {
        resource: resource.to_owned(),
        volume: None,
        start: None,
        stop: None,
        repair: false,
    };
    assert_eq!(run.asked[1..], [verify("r0"), verify("r1")]);
    let timer = include_str!("../../../../docs/systemd/basalt-verify.timer");
    assert!(timer.contains("\nOnCalendar=monthly\n") && timer.contains("WantedBy=timers.target"));
}
