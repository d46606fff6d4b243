//! Command lines as people and tools type them at DRBD's, whose options getopt_long reads.

use api::request::Command;
use api::response::Response;

use crate::fake_node::Place;
use crate::{done, r0, status};

/// What a command line comes to, beside a daemon that does all that it is told.
fn asked(tool: &str, line: &str) -> Vec<Command> {
    let words: Vec<&str> = line.split(' ').collect();
    let run = Place::new().run_tool_beside(tool, &words, obliging);
    assert_eq!(run.exit, 0, "{tool} {line}: {run:?}");
    run.asked
}

fn obliging(command: &Command) -> Response {
    if matches!(command, Command::Status { .. }) { status(&["r0"]) } else { done() }
}

/// drbd-utils' service shim types `secondary --force=yes`, and restarts the machine if it fails.
#[test]
fn flags_take_yes_and_no() {
    let promotion = |force| Command::Primary { resource: r0(), force };
    let demotion = |force| Command::Secondary { resource: r0(), force };
    let bob = || Some("bob".to_owned());
    let parted = |force| Command::Disconnect { resource: r0(), peer: bob(), force };
    let connected = Command::Connect { resource: r0(), peer: bob(), discard_my_data: false };
    let down = Command::Down { resource: r0(), force: true };
    let detached = |force| Command::Detach { resource: r0(), force };
    let resized = |assume_clean| Command::Resize {
        resource: r0(),
        volume: Some(0),
        size: None,
        assume_clean,
    };
    for (tool, line, command) in [
        ("setup", "secondary --force=yes r0", demotion(true)),
        ("setup", "secondary --force=no r0", demotion(false)),
        ("setup", "secondary r0 --force", demotion(true)),
        ("setup", "primary r0 --force=yes", promotion(true)),
        ("setup", "disconnect r0 1 --force=no", parted(false)),
        ("setup", "connect r0 1 --discard-my-data=no --tentative=no", connected),
        ("setup", "detach 0 --force=yes --diskless=no", detached(true)),
        ("setup", "resize 0 --assume-clean=yes --assume-peer-has-space=yes", resized(true)),
        ("setup", "suspend-io 0 --bdev-freeze=no", Command::SuspendIo { resource: r0() }),
        ("setup", "new-current-uuid 0 --clear-bitmap=yes --force-resync=no", born()),
        ("adm", "secondary --force=yes r0", demotion(true)),
        ("adm", "primary --force=no r0", promotion(false)),
        ("adm", "down --force=yes r0", down),
        ("adm", "disconnect --force=yes r0:bob", parted(true)),
        ("adm", "detach --force=no r0/0", detached(false)),
        ("adm", "resize --assume-clean=no r0/0", resized(false)),
        ("adm", "new-current-uuid --clear-bitmap=yes r0/0", born()),
        // The last one counts.
        ("adm", "primary --force=no --force r0", promotion(true)),
        ("setup", "primary --force r0 --force=no", promotion(false)),
    ] {
        assert_eq!(asked(tool, line).last(), Some(&command), "{tool} {line}");
    }
    for tool in ["adm", "setup"] {
        let run = Place::new().run_tool_alone(tool, &["secondary", "--force=maybe", "r0"]);
        assert_ne!(run.exit, 0, "{run:?}");
        assert!(run.stderr.contains("--force"), "{run:?}");
        // What follows a flag without `=` is a name.
        let run = Place::new().run_tool_alone(tool, &["primary", "--force", "yes", "--bad"]);
        assert!(run.exit != 0 && run.stderr.contains("--bad"), "{run:?}");
    }
}

fn born() -> Command {
    Command::NewCurrentUuid { resource: r0() }
}

/// LINSTOR's satellite types the options of `create-md` before the verb.
#[test]
fn options_stand_anywhere_and_may_be_cut_short() {
    let promotion = |force| Command::Primary { resource: r0(), force };
    let demotion = |force| Command::Secondary { resource: r0(), force };
    for (tool, line, command) in [
        ("adm", "--force primary r0", promotion(true)),
        ("adm", "--force=yes primary r0", promotion(true)),
        ("adm", "primary --forc r0", promotion(true)),
        ("adm", "--forc primary r0", promotion(true)),
        ("adm", "-- --force primary r0", promotion(true)),
        ("adm", "--clear-bitmap new-current-uuid r0/0", born()),
        ("adm", "-vv --force secondary r0", demotion(true)),
        ("adm", "secondary r0 --drbdsetup /sbin/drbdsetup", demotion(false)),
        ("setup", "secondary r0 --forc", demotion(true)),
        ("setup", "new-current-uuid 0 --clear", born()),
    ] {
        assert_eq!(asked(tool, line).last(), Some(&command), "{tool} {line}");
    }
    let place = Place::new();
    place.write("r0.res", MIRROR);
    let disk = std::fs::File::create(place.path("disk")).unwrap();
    disk.set_len(32 << 20).unwrap();
    for line in [
        "-c DIR/r0.res -vvv --max-peers 7 -- --force create-md r0/0 --node alice",
        "-c DIR/r0.res --force create-md r0 --node=alice",
        "--force --max-p=7 create-md -c DIR/r0.res --nod alice r0",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let run = place.run_alone(&words);
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{line}");
        assert!(run.stdout.contains("wrote metadata "), "{line}: {run:?}");
    }
    // What the verb does not take is refused, wherever it stands.
    for line in ["--max-peers 7 primary r0", "--force status r0", "--nosuch 7 up r0"] {
        let words: Vec<&str> = line.split(' ').collect();
        let run = Place::new().run_alone(&words);
        assert_eq!(run.exit, 1, "{line}: {run:?}");
        assert!(run.stderr.contains(words[0]), "{line}: {run:?}");
    }
    let typed = Place::new().run_alone(&["net-options", "--tls=no", "r0"]);
    let said = "options come from the configuration, not from `--tls=no`";
    assert!(typed.exit == 10 && typed.stderr.contains(said), "{typed:?}");
}

#[test]
fn wait_con_int_is_about_all_resources() {
    for words in
        [&["wait-con-int"][..], &["wait-con-int", "--wfc-timeout=5"], &["wait-con-int", "r0"]]
    {
        let run = Place::new().run(words, vec![status(&[])]);
        assert_eq!((run.exit, run.stdout.as_str()), (0, ""), "{words:?}: {run:?}");
        assert_eq!(run.asked, [Command::Status { resources: Vec::new(), statistics: false }]);
        assert_eq!(
            run.stderr.contains("the names change nothing"),
            words.len() == 2 && words[1] == "r0"
        );
    }
}

#[test]
fn colours_may_be_asked_for_and_there_are_none() {
    let plain = Place::new().run(&["status"], vec![status(&["r0"])]);
    for (tool, verb) in [("adm", "status"), ("setup", "status")] {
        for word in ["--color", "--color=always", "--color=auto", "--color=never", "--col"] {
            let run = Place::new().run_tool(tool, &[verb, word, "r0"], vec![status(&["r0"])]);
            assert_eq!((run.exit, &run.stdout), (0, &plain.stdout), "{tool} {word}: {run:?}");
        }
        let run = Place::new().run_tool_alone(tool, &[verb, "--color=sometimes"]);
        assert!(run.exit != 0 && run.stderr.contains("sometimes"), "{run:?}");
    }
}

#[test]
fn adjust_of_a_volume_is_of_its_resource() {
    let place = Place::new();
    place.write("r0.res", MIRROR);
    for target in ["r0", "r0/0", "r0:bob/0"] {
        let run = place.run(&["-c", "DIR/r0.res", "adjust", target], vec![done()]);
        let [Command::Adjust { resource, scope, .. }] = &run.asked[..] else { panic!("{run:?}") };
        let peer = target.contains(':').then_some("bob");
        assert_eq!((resource.as_str(), scope.peer.as_deref()), ("r0", peer), "{target}");
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{target}");
    }
    let run = place.run_alone(&["-c", "DIR/r0.res", "adjust", "r0/7"]);
    assert!(run.exit == 10 && run.stderr.contains("no volume 7"), "{run:?}");
}

const MIRROR: &str = "resource r0 {
    volume 0 { device minor 1; disk DIR/disk; meta-disk internal; }
    on alice { node-id 0; address 127.0.0.1:7900; }
    on bob   { node-id 1; address 127.0.0.2:7900; }
}";
