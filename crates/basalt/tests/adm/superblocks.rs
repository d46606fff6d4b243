//! What metadata says, and wiping it, without a daemon.

use std::fs::{File, create_dir_all};

use crate::fake_node::{Place, Run};

fn place() -> Place {
    let place = Place::new();
    place.write(
        "basalt.conf",
        "resource r0 {
            volume 0 { device minor 1; disk DIR/disk; meta-disk internal; }
            on alice { node-id 0; address 10.0.0.1:7900; }
            on bob { node-id 1; address 10.0.0.2:7900; }
        }",
    );
    File::create(place.path("disk")).unwrap().set_len(64 << 20).unwrap();
    place
}

fn run(place: &Place, words: &[&str]) -> Run {
    let config = ["-c", "DIR/basalt.conf"];
    place.run_alone(&[&config, words].concat())
}

fn create(place: &Place) {
    assert_eq!(run(place, &["create-md", "--node", "alice", "r0"]).exit, 0);
}

const BLANK: &str = "0000000000000000:0000000000000000:0000000000000000:0000000000000000:0:0:1\n";

#[test]
fn metadata_is_shown_without_a_daemon() {
    let place = place();
    let nothing = run(&place, &["dump-md", "--node", "alice", "r0"]);
    assert_eq!((nothing.exit, nothing.stdout.as_str()), (10, ""));
    assert!(nothing.stderr.contains("holds no metadata that can be read"), "{}", nothing.stderr);
    create(&place);
    let shown = run(&place, &["dump-md", "--node", "alice", "r0"]);
    assert_eq!((shown.exit, shown.stderr.as_str()), (0, ""));
    for line in ["resource: r0\n", "state: blank\n", "readable-copies: 2\n", "    member: 1\n"] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    let shown = run(&place, &["--json", "dump-md", "--node", "alice", "r0/0"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((&shown[0]["node-id"], &shown[0]["slots"][1]["member"]), (&0.into(), &1.into()));
}

#[test]
fn the_generation_is_a_line_for_each_peer() {
    let place = place();
    create(&place);
    let line = run(&place, &["get-gi", "--node", "alice", "r0:bob"]);
    assert_eq!((line.exit, line.stdout.as_str()), (0, BLANK));
    let words = run(&place, &["show-gi", "--node", "alice", "r0"]);
    assert!(words.stdout.contains("bob lacks nothing"), "{}", words.stdout);
    let unknown = run(&place, &["get-gi", "--node", "alice", "r0:carol"]);
    assert_eq!(unknown.exit, 10);
    assert!(unknown.stderr.contains("one of bob"), "{}", unknown.stderr);
    let refused = run(&place, &["set-gi", "r0", "1:2:3:4"]);
    assert_eq!(refused.exit, 10);
    assert!(refused.stderr.contains("a majority of the voters chose"), "{}", refused.stderr);
}

#[test]
fn wiping_asks_for_force_and_can_be_repeated() {
    let place = place();
    create(&place);
    let refused = run(&place, &["wipe-md", "--node", "alice", "r0"]);
    assert_eq!(refused.exit, 10);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(run(&place, &["get-gi", "--node", "alice", "r0"]).exit, 0, "it is still there");
    // As with drbdadm: what follows `--` belongs to the verb.
    let wiped = run(&place, &["wipe-md", "--node", "alice", "r0", "--", "--force"]);
    assert_eq!(wiped.exit, 0);
    assert!(wiped.stdout.contains("wiped metadata of resource `r0`"), "{}", wiped.stdout);
    assert_eq!(run(&place, &["get-gi", "--node", "alice", "r0"]).exit, 10);
    let again = run(&place, &["--", "--force", "wipe-md", "--node", "alice", "r0"]);
    assert_eq!((again.exit, again.stdout.as_str(), again.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_disk_in_use_is_read_and_not_wiped() {
    let place = place();
    create(&place);
    let disk = File::open(place.path("disk")).unwrap();
    disk.lock().unwrap();
    assert_eq!(run(&place, &["get-gi", "--node", "alice", "r0"]).stdout, BLANK);
    let refused = run(&place, &["wipe-md", "--force", "--node", "alice", "r0"]);
    assert_eq!(refused.exit, 10);
    assert!(refused.stderr.contains("in use"), "{}", refused.stderr);
}

/// The disk is larger now than when its metadata was made, as the daemon noted it.
fn grow(place: &Place) {
    create_dir_all(place.path("state/resources")).unwrap();
    place.write("state/resources/r0.disk", "67108864\n");
    File::options().write(true).open(place.path("disk")).unwrap().set_len(96 << 20).unwrap();
}

/// A disk that grew has metadata at its end, and may have some where it ended before.
#[test]
fn both_ends_of_a_disk_that_grew_are_shown_and_made_anew() {
    let place = place();
    create(&place);
    grow(&place);
    let of_alice = |verb: &[&str]| {
        let words = ["--state-dir", "DIR/state", "--node", "alice", "r0"];
        run(&place, &[verb, &words].concat())
    };
    let json = || -> serde_json::Value {
        let shown = of_alice(&["--json", "dump-md"]);
        assert_eq!((shown.exit, shown.stderr.as_str()), (0, ""));
        serde_json::from_str(&shown.stdout).unwrap()
    };
    assert_eq!(json()[0]["end-bytes"], 64 << 20, "it is where the disk ended");
    let refused = of_alice(&["create-md"]);
    assert_eq!(refused.exit, 10);
    assert!(refused.stderr.contains("when it had 67108864 bytes"), "{}", refused.stderr);
    // Where nobody knows the former size there is nothing.
    assert_eq!(run(&place, &["create-md", "--node", "alice", "r0"]).exit, 0);
    let both = json();
    let former = &both[0]["where-it-ended-before"];
    assert_eq!(
        (&both[0]["end-bytes"], &former["end-bytes"]),
        (&(96 << 20).into(), &(64 << 20).into())
    );
    assert_ne!(both[0]["incarnation"], former["incarnation"]);
    let shown = of_alice(&["dump-md"]);
    assert!(shown.stdout.contains("where-it-ended-before:\n    branch: "), "{}", shown.stdout);
    assert!(shown.stdout.contains("\n    end-bytes: 67108864\n"), "{}", shown.stdout);
    assert_eq!(of_alice(&["create-md", "--force"]).exit, 0);
    assert_eq!(json()[0]["where-it-ended-before"], serde_json::Value::Null);
    assert_eq!(json()[0]["end-bytes"], 96 << 20);
}

/// The daemon notes the size of an only volume in one place, whatever its number is, and it was
/// looked for in another: metadata stayed where the disk had ended, and `attach` found two then.
#[test]
fn an_only_volume_of_another_number_is_looked_for_where_its_disk_ended_too() {
    let place = place();
    let text = std::fs::read_to_string(place.path("basalt.conf")).unwrap();
    place.write("basalt.conf", &text.replace("volume 0", "volume 5"));
    create(&place);
    grow(&place);
    let of_alice = |verb: &[&str]| {
        let words = ["--state-dir", "DIR/state", "--node", "alice", "r0"];
        run(&place, &[verb, &words].concat())
    };
    let shown = of_alice(&["dump-md"]);
    assert!(shown.stdout.contains("end-bytes: 67108864\n"), "{} {}", shown.stdout, shown.stderr);
    assert_eq!(of_alice(&["create-md", "--force"]).exit, 0);
    let shown = of_alice(&["dump-md"]);
    assert!(shown.stdout.contains("end-bytes: 100663296\n"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("where-it-ended-before"), "{}", shown.stdout);
}
