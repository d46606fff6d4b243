//! What is asked of the configuration file alone: `sh-*`, `dump-xml`, and the steps of an `up`.
//! The lines are those of drbdadm 9.22 for the same file.

use crate::fake_node::{Place, Run};
use crate::quiet;

const TWO_RESOURCES: &str = "\
resource r0 {
    options { quorum majority; }
    net { max-buffers 8000; }
    disk { c-max-rate 200M; al-extents 1237; }
    volume 0 { device /dev/drbd0 minor 0; disk /dev/vg/r0; meta-disk internal; }
    volume 1 { device minor 1; disk /dev/vg/r1; meta-disk /dev/vg/md; }
    on alice { node-id 0; address 10.0.0.1:7789; }
    on bob   { node-id 1; address 10.0.0.2:7789; }
    on carol { node-id 2; address 10.0.0.3:7789; volume 0 { disk none; } volume 1 { disk none; } }
    connection-mesh { hosts alice bob carol; }
}
resource r1 {
    device /dev/drbd5; disk /dev/vg/x; meta-disk /dev/vg/y [2];
    on alice { address 10.0.0.1:7000; }
    on bob { address 10.0.0.2:7000; }
}
";

fn place() -> Place {
    let place = Place::new();
    place.write("basalt.conf", TWO_RESOURCES);
    place
}

/// What a run on the node `alice` prints; it must exit with 0 and complain of nothing.
fn printed(words: &[&str]) -> String {
    let mut arguments = vec!["-c", "DIR/basalt.conf"];
    arguments.extend(words);
    let run = place().run_alone(&arguments);
    assert_eq!(run, Run { stdout: run.stdout.clone(), ..quiet(Vec::new()) });
    run.stdout
}

#[test]
fn sh_verbs_answer_in_lines() {
    for (verb, target, expected) in [
        ("sh-resource", "r0", "r0\n"),
        ("sh-dev", "r0", "/dev/drbd0\n/dev/drbd1\n"),
        ("sh-dev", "r0/1", "/dev/drbd1\n"),
        ("sh-minor", "r0", "0\n1\n"),
        ("sh-minor", "r1", "5\n"),
        ("sh-ll-dev", "r0/1", "/dev/vg/r1\n"),
        ("sh-md-dev", "r0", "/dev/vg/r0\n/dev/vg/md\n"),
        ("sh-md-idx", "r0", "internal\nflexible\n"),
        ("sh-md-idx", "r1", "2\n"),
        ("sh-ip", "r0/1", "10.0.0.1\n10.0.0.1\n"),
        (
            "sh-udev",
            "r0/1",
            "DEVICE=drbd1\nSYMLINK=drbd/by-res/r0/1\nSYMLINK_BY_RES=drbd/by-res/r0/1\n\
             SYMLINK_BY_DISK=drbd/by-disk/vg/r1\n",
        ),
        (
            "sh-udev",
            "r1",
            "DEVICE=drbd5\nSYMLINK=drbd/by-res/r1\nSYMLINK_BY_RES=drbd/by-res/r1\n\
             SYMLINK_BY_DISK=drbd/by-disk/vg/x\n",
        ),
    ] {
        assert_eq!(printed(&[verb, "--node", "alice", target]), expected, "{verb} {target}");
    }
    assert_eq!(printed(&["sh-resources", "--node", "alice"]), "r0\nr1\n");
    assert_eq!(printed(&["sh-mod-parms"]), "minor_count=32\n");
    assert_eq!(printed(&["sh-nop"]), "");
    assert_eq!(printed(&["sh-list-config-file"]), "DIR/basalt.conf\n");
    assert_eq!(
        printed(&["--json", "sh-dev", "--node", "alice", "r0"]),
        "[\n  \"/dev/drbd0\",\n  \"/dev/drbd1\"\n]\n"
    );
}

#[test]
fn wrong_questions_are_told_apart() {
    let place = place();
    let run = |words: &[&str]| {
        let mut arguments = vec!["-c", "DIR/basalt.conf"];
        arguments.extend(words);
        let run = place.run_alone(&arguments);
        assert_eq!(run.stdout, "");
        (run.exit, run.stderr)
    };
    let (exit, said) = run(&["sh-udev", "--node", "alice", "r0"]);
    assert_eq!(exit, 1);
    assert!(said.contains("requires a specific volume id"), "{said}");
    let (exit, said) = run(&["sh-dev", "--node", "alice", "r0/7"]);
    assert_eq!(
        (exit, said.lines().next().unwrap()),
        (10, "r0: sh-dev: the resource has no volume 7")
    );
    let (exit, said) = run(&["sh-dev", "--node", "erin", "r0"]);
    assert_eq!(exit, 10);
    assert!(said.contains("this node, `erin`, is not a host of it"), "{said}");
    assert_eq!(run(&["sh-lr-of", "r0"]).0, 1);
    let (exit, said) = run(&["--dry-run", "invalidate", "r0"]);
    assert_eq!(exit, 1);
    assert!(said.contains("can tell what they would do"), "{said}");
    let (exit, said) = run(&["--stacked", "sh-dev", "--node", "alice", "r0"]);
    assert_eq!(exit, 1);
    assert!(said.contains("no stacked resources"), "{said}");
    place.write("wrong.res", "resource {");
    let (exit, said) = run(&["-t", "DIR/wrong.res", "sh-nop"]);
    assert_eq!(exit, 2);
    assert!(said.contains("wrong.res:1:"), "{said}");
}

#[test]
fn dry_run_of_up_tells_drbdadms_steps() {
    let expected = "\
drbdsetup new-resource r1 0
drbdsetup new-minor r1 5 0
drbdsetup new-peer r1 1 --_name=bob
drbdsetup new-path r1 1 ipv4:10.0.0.1:7000 ipv4:10.0.0.2:7000
drbdmeta 5 v09 /dev/vg/y 2 apply-al
drbdsetup attach 5 /dev/vg/x /dev/vg/y 2
drbdsetup connect r1 1
";
    assert_eq!(printed(&["-d", "up", "--node", "alice", "r1"]), expected);
}

/// As drbdadm 9.22 prints them: the number is left out of the name of a volume that has no section
/// of its own, and of no other.
#[test]
fn names_for_udev_are_drbdadms() {
    let place = Place::new();
    let text = "\
resource a { device minor 1; disk /dev/vg/a; on alice { address 10.0.0.1:1; } \
    on bob { address 10.0.0.2:1; } }
resource b { volume 0 { device minor 2; disk /dev/vg/b; } on alice { address 10.0.0.1:2; } \
    on bob { address 10.0.0.2:2; } }
resource c { volume 0 { device minor 3; disk /dev/vg/c; } on bob { address 10.0.0.2:3; } \
    volume 3 { device /dev/drbd_c minor 4; disk /images/d; } on alice { address 10.0.0.1:3; } }
";
    let printed = |head: &str, target: &str| {
        place.write("basalt.conf", &format!("{head}{text}"));
        let words = ["-c", "DIR/basalt.conf", "sh-udev", "--node", "alice", target];
        let run = place.run_alone(&words);
        (run.exit, run.stdout)
    };
    let lines = |device: &str, link: &str, disk: &str| {
        format!(
            "DEVICE={device}\nSYMLINK=drbd/by-res/{link}\nSYMLINK_BY_RES=drbd/by-res/{link}\n\
             SYMLINK_BY_DISK=drbd/by-disk/{disk}\n"
        )
    };
    for (target, device, link, disk) in [
        ("a", "drbd1", "a", "vg/a"),
        ("a/0", "drbd1", "a", "vg/a"),
        ("minor-1", "drbd1", "a", "vg/a"),
        ("b/0", "drbd2", "b/0", "vg/b"),
        ("minor-2", "drbd2", "b/0", "vg/b"),
        ("c/0", "drbd3", "c/0", "vg/c"),
        ("c/3", "drbd_c", "c/3", "/images/d"),
    ] {
        assert_eq!(printed("", target), (0, lines(device, link, disk)), "{target}");
    }
    let always = "global { udev-always-use-vnr; }\n";
    assert_eq!(printed(always, "a"), (0, lines("drbd1", "a/0", "vg/a")));
    assert_eq!(printed("", "c").0, 1);
}

#[test]
fn dump_xml_has_drbdadms_elements() {
    let expected = r#"<config file="DIR/basalt.conf">
    <resource name="r1">
        <host name="alice">
            <volume vnr="0">
                <device minor="5"></device>
                <disk>/dev/vg/x</disk>
                <meta-disk index="2">/dev/vg/y</meta-disk>
            </volume>
            <address family="ipv4" port="7000">10.0.0.1</address>
        </host>
        <host name="bob">
            <volume vnr="0">
                <device minor="5"></device>
                <disk>/dev/vg/x</disk>
                <meta-disk index="2">/dev/vg/y</meta-disk>
            </volume>
            <address family="ipv4" port="7000">10.0.0.2</address>
        </host>
        <connection>
            <host name="alice"><address family="ipv4" port="7000">10.0.0.1</address></host>
            <host name="bob"><address family="ipv4" port="7000">10.0.0.2</address></host>
        </connection>
    </resource>
</config>
"#;
    assert_eq!(printed(&["dump-xml", "r1"]), expected);
}

/// What takes effect is that of the node, whatever section said it.
#[test]
fn what_takes_effect_is_told_by_option() {
    let told = printed(&["sh-effective", "--node", "alice", "r0"]);
    for line in [
        "resource quorum majority",
        "peer 1 protocol C",
        "peer 2 ping-int own",
        "peer-device 1 1 c-max-rate 209715200",
        "disk 0 al-extents 1237",
    ] {
        assert!(told.lines().any(|known| known == line), "{line}: {told}");
    }
}

#[test]
fn a_strict_dump_refuses_what_drbdadm_calls_ambiguous() {
    let place = place();
    let dump = |words: &[&str]| {
        let run = place.run_alone(&[&["-c", "DIR/basalt.conf"], words].concat());
        (run.exit, run.stdout.contains("resource r0"), run.stderr)
    };
    let (exit, is_dumped, said) = dump(&["dump", "--strict"]);
    assert_eq!((exit, is_dumped), (0, true), "{said}");
    let inner = "meta-disk internal; disk { al-extents 700; } }\n    volume 1";
    let text = TWO_RESOURCES.replace("meta-disk internal; }\n    volume 1", inner);
    assert_ne!(text, TWO_RESOURCES);
    place.write("basalt.conf", &text);
    let (exit, is_dumped, said) = dump(&["dump"]);
    assert_eq!((exit, is_dumped, said.contains("ambiguous")), (0, true, false), "{said}");
    let (exit, is_dumped, said) = dump(&["dump", "--strict"]);
    assert_eq!((exit, is_dumped), (10, false), "{said}");
    assert!(said.contains("basalt.conf:5:") && said.contains("`al-extents 1237`"), "{said}");
    assert_eq!(dump(&["dump-xml", "--strict"]).0, 10);
}
