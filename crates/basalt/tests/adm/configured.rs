//! The verbs that read the configuration: `up`, `adjust`, `dump`, `create-md`.

use std::fs::{self, File};

use api::request::Command;
use api::response::{FailureCode, Reply, Response};

use crate::fake_node::{Place, Run};
use crate::{ask_status, done, r0, refused, status};

const THREE_NODES: &str = "\
resource r0 {
    volume 0 { device minor 1; disk DIR/disk; meta-disk internal; }
    on alice { node-id 0; address 127.0.0.1:7900; }
    on bob   { node-id 1; address 127.0.0.2:7900; }
    on carol { node-id 2; address 127.0.0.3:7900; }
    connection-mesh { hosts alice bob carol; }
}
resource elsewhere {
    volume 0 { device minor 2; disk DIR/disk; meta-disk internal; }
    on dave  { node-id 0; address 127.0.0.4:7901; }
    on erin  { node-id 1; address 127.0.0.5:7901; }
}
";

fn configured(text: &str) -> Place {
    let place = Place::new();
    place.write("basalt.conf", text);
    place
}

/// The arguments after `-c FILE`.
fn with_config<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["-c", "DIR/basalt.conf"];
    all.extend(arguments);
    all
}

/// The text that `dump` prints of a resource: what `up` must send.
fn dumped(place: &Place, resource: &str) -> String {
    let run = place.run_alone(&with_config(&["dump", "--json", resource]));
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    let parsed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    parsed[0]["config"].as_str().unwrap().to_owned()
}

/// The same, with the directory where its name was replaced for the test.
fn in_place(place: &Place, text: &str) -> String {
    text.replace("DIR", place.path("").display().to_string().trim_end_matches('/'))
}

#[test]
fn up_sends_the_canonical_text_of_one_resource() {
    let place = configured(THREE_NODES);
    let config_text = in_place(&place, &dumped(&place, "r0"));
    assert!(config_text.contains("r0") && !config_text.contains("elsewhere"), "{config_text}");
    let run = place.run(&with_config(&["up", "r0"]), vec![done()]);
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    assert_eq!(run.asked, [Command::Up { resource: r0(), config_text, fresh: false }]);
}

#[test]
fn up_all_takes_the_resources_of_the_daemons_node() {
    let place = configured(THREE_NODES);
    let run = place.run(&with_config(&["up", "all"]), vec![status(&[]), done()]);
    assert_eq!(run.exit, 0, "{run:?}");
    assert_eq!(run.asked[0], ask_status(&[]));
    assert!(
        matches!(&run.asked[1..], [Command::Up { resource, .. }] if resource == "r0"),
        "{run:?}"
    );
}

#[test]
fn adjust_prints_what_it_changed_or_would_change() {
    let place = configured(THREE_NODES);
    let answer = Response::Ok(Reply::Adjusted {
        changes: vec!["drbdsetup connect r0 2".to_owned()],
        warnings: vec!["`tcp-cork no` changes nothing".to_owned()],
    });
    let step = "drbdsetup connect r0 2\n";
    for (arguments, dry, stdout) in [
        (&["adjust", "r0"][..], false, ""),
        (&["adjust", "--verbose", "r0"], false, step),
        (&["--dry-run", "adjust", "r0"], true, step),
        (&["adjust", "-d", "r0"], true, step),
    ] {
        let run = place.run(&with_config(arguments), vec![answer.clone()]);
        assert_eq!(run.stdout, stdout);
        assert_eq!(run.stderr, "r0: warning: `tcp-cork no` changes nothing\n");
        assert!(
            matches!(&run.asked[..], [Command::Adjust { dry_run, .. }] if *dry_run == dry),
            "{run:?}"
        );
    }
}

#[test]
fn unknown_resource_is_told_with_those_that_there_are() {
    let place = configured(THREE_NODES);
    let run = place.run_alone(&with_config(&["up", "r7"]));
    assert_eq!(run.exit, 10);
    assert_eq!(
        run.stderr,
        "r7: up: `r7` is not defined in DIR/basalt.conf\n  \
         try: one of the resources defined there: r0, elsewhere\n"
    );
}

#[test]
fn mistake_in_the_file_is_told_with_its_place_and_asks_nothing() {
    let place = configured("resource r0 {\n    protocl C;\n}\n");
    let run = place.run_alone(&with_config(&["up", "r0"]));
    assert_eq!(run.exit, 2, "{run:?}");
    assert!(run.stderr.contains("DIR/basalt.conf:2:5: "), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `protocol`?"), "{}", run.stderr);

    let run = Place::new().run_alone(&with_config(&["up", "r0"]));
    assert_eq!(run.exit, 10, "{run:?}");
    assert!(run.stderr.contains("DIR/basalt.conf"), "{}", run.stderr);
}

#[test]
fn metadata_of_two_volumes_is_made_for_both_or_for_one() {
    let second = "volume 1 { device minor 5; disk DIR/disk2; meta-disk internal; }\n    on alice";
    let place = configured(&THREE_NODES.replacen("on alice", second, 1));
    for name in ["disk", "disk2"] {
        File::create(place.path(name)).unwrap().set_len(32 << 20).unwrap();
    }
    let create = |words: &[&str]| {
        let words = [&["create-md", "--node", "alice"], words].concat();
        place.run_alone(&with_config(&words))
    };
    let early = create(&["r0/1"]);
    assert_eq!(early.exit, 10, "{early:?}");
    assert!(early.stderr.contains("DIR/disk: that has no metadata yet"), "{early:?}");
    let both = create(&["r0"]);
    let lines: Vec<&str> = both.stdout.lines().collect();
    assert_eq!((both.exit, lines.len()), (0, 2), "{both:?}");
    assert!(lines[0].contains("on DIR/disk:") && lines[1].contains("on DIR/disk2:"), "{both:?}");
    assert_eq!(create(&["--force", "r0/1"]).exit, 0);
    let missing = create(&["r0/2"]);
    assert!(missing.stderr.contains("no volume 2, but volume 0, 1"), "{missing:?}");
    let run = place.run(&with_config(&["up", "r0"]), vec![done()]);
    assert_eq!((run.exit, run.asked.len()), (0, 1), "{run:?}");
}

#[test]
fn daemons_refusal_of_a_text_is_a_configuration_failure() {
    let place = configured(THREE_NODES);
    let answer = refused(FailureCode::AddressInUse, "127.0.0.1:7900 is taken", "another port");
    let run = place.run(&with_config(&["up", "r0"]), vec![answer]);
    assert_eq!(run.exit, 10);
    assert_eq!(
        run.stderr,
        "r0: Failure: (102) Local address(port) already in use\n  \
         up: 127.0.0.1:7900 is taken\n  try: another port\n"
    );
}

#[test]
fn create_md_formats_once_and_then_only_by_force() {
    let place = configured(THREE_NODES);
    let create = |options: &[&str]| {
        let mut arguments = with_config(&["create-md", "--node", "alice"]);
        arguments.extend(options);
        place.run_alone(&arguments)
    };
    let missing = create(&["r0"]);
    assert_eq!(missing.exit, 10);
    assert_eq!(
        missing.stderr,
        "r0: create-md: DIR/disk does not exist\n  try: check the name; `fallocate -l 1G DIR/disk` \
         makes a new file\n"
    );
    File::create(place.path("disk")).unwrap().set_len(64 << 20).unwrap();
    let first = create(&["r0"]);
    assert_eq!((first.exit, first.stderr.as_str()), (0, ""));
    assert!(first.stdout.starts_with("r0: wrote metadata on DIR/disk: "), "{}", first.stdout);
    let written = fs::read(place.path("disk")).unwrap();

    let second = create(&["r0"]);
    assert_eq!(second.exit, 10);
    assert!(second.stderr.contains("holds metadata of resource `r0`"), "{}", second.stderr);
    assert!(second.stderr.contains("--force"), "{}", second.stderr);
    assert!(fs::read(place.path("disk")).unwrap() == written, "a refusal wrote to the disk");

    let forced = create(&["r0", "--force"]);
    assert_eq!((forced.exit, forced.stderr.as_str()), (0, ""));
    assert!(fs::read(place.path("disk")).unwrap() != written, "the incarnation is not new");
}

#[test]
fn create_md_all_is_about_this_node_only() {
    let place = configured(THREE_NODES);
    let run = place.run_alone(&with_config(&["create-md", "--node", "nobody", "all"]));
    let stderr = "basalt adm: create-md: DIR/basalt.conf: no resource has a host `nobody`\n  \
                  try: --node with one of the hosts: alice, bob, carol, dave, erin\n"
        .to_owned();
    assert_eq!(run, Run { exit: 10, stdout: String::new(), stderr, asked: Vec::new() });
    let run = place.run_alone(&with_config(&["create-md", "--node", "nobody", "r0"]));
    assert_eq!(run.exit, 10);
    assert_eq!(
        run.stderr,
        "r0: create-md: this node, `nobody`, is not a host of it\n  \
         try: --node with one of its hosts: alice, bob, carol\n"
    );
}

/// Hosts by their addresses; the first is this machine.
const FLOATING: &str = "\
resource r0 {
    volume 0 { device minor 1; disk DIR/disk; meta-disk internal; }
    floating 127.0.0.1:7900 { node-id 0; }
    floating 198.51.100.1:7900 { node-id 1; }
}
";

/// The name was ignored: the verb was about the host that has an address of this machine.
#[test]
fn node_that_no_host_is_called_by_is_refused_with_the_names_that_there_are() {
    let place = configured(FLOATING);
    for words in [
        &["create-md", "--node", "zed", "r0"][..],
        &["adopt-drbd", "--node", "zed", "r0"],
        &["adopt", "--node", "zed", "r0"],
        &["--dry-run", "up", "--node", "zed", "r0"],
        &["dump-md", "--node", "zed", "r0"],
        &["get-gi", "--node", "zed", "r0"],
        &["wipe-md", "--node", "zed", "r0"],
        &["sh-dev", "--node", "zed", "r0"],
        &["sh-ip", "--node", "zed", "r0"],
        &["sh-resources", "--node", "zed"],
        &["sh-list-adjustable", "--node", "zed"],
        &["create-md", "--node", "zed", "all"],
        &["sh-dev", "--node", "zed", "all"],
    ] {
        let run = place.run_alone(&with_config(words));
        assert_eq!((run.exit, run.stdout.as_str()), (10, ""), "{words:?}: {run:?}");
        assert!(run.stderr.contains("`zed`"), "{words:?}: {run:?}");
        let names = ": 127.0.0.1:7900, 198.51.100.1:7900\n";
        assert!(run.stderr.contains(names), "{words:?}: {run:?}");
    }
    // Without a name, and with the host's own, it is that one.
    let words = ["sh-dev", "--node", "127.0.0.1:7900", "r0"];
    let run = place.run_alone(&with_config(&words));
    assert_eq!((run.exit, run.stdout.as_str()), (0, "/dev/drbd1\n"), "{run:?}");
    let run = place.run_alone(&with_config(&["sh-dev", "r0"]));
    assert_eq!((run.exit, run.stdout.as_str()), (0, "/dev/drbd1\n"), "{run:?}");
}

/// The daemon took the part of its own host, whatever was typed.
#[test]
fn up_for_another_node_than_the_daemons_is_refused() {
    let place = configured(THREE_NODES);
    let run = place.run(&with_config(&["up", "--node", "zed", "r0"]), vec![status(&[])]);
    assert_eq!(run.exit, 10, "{run:?}");
    assert!(run.stderr.contains("the daemon that is asked is `alice`, and not `zed`"), "{run:?}");
    let run = place.run(&with_config(&["up", "--node", "alice", "r0"]), vec![status(&[]), done()]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run:?}");
}
