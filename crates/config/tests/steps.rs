//! The commands between two configurations.

use config::parse_text;
use config::steps::{Reach, steps};

const BEFORE: &str = "resource r0 {
  options { quorum majority; auto-promote no; }
  net { max-buffers 8000; }
  disk { c-max-rate 200M; al-extents 1237; }
  volume 0 { device /dev/drbd0 minor 0; disk /dev/vg/r0; meta-disk internal; }
  volume 1 { device minor 1; disk /dev/vg/r1; meta-disk /dev/vg/md; }
  on alice { node-id 0; address 10.0.0.1:7789; }
  on bob   { node-id 1; address 10.0.0.2:7789; }
  on carol { node-id 2; address 10.0.0.3:7789; volume 0 { disk none; } volume 1 { disk none; } }
  connection-mesh { hosts alice bob carol; }
}";

fn told(before: Option<&str>, after: &str) -> Vec<(String, Reach)> {
    let read = |text: &str| parse_text("test", text).expect("it parses").resources.remove(0);
    let before = before.map(read);
    let steps = steps(before.as_ref(), &read(after), "alice");
    steps.into_iter().map(|step| (step.text, step.reach)).collect()
}

fn structure(lines: &[&str]) -> Vec<(String, Reach)> {
    lines.iter().map(|line| ((*line).to_owned(), Reach::Structure)).collect()
}

/// What drbdadm 9.22 prints for `-d up`.
#[test]
fn nothing_to_everything_is_up() {
    let expected = structure(&[
        "drbdsetup new-resource r0 0 --auto-promote=no --quorum=majority",
        "drbdsetup new-minor r0 0 0",
        "drbdsetup new-minor r0 1 1",
        "drbdsetup new-peer r0 1 --_name=bob --max-buffers=8000",
        "drbdsetup new-peer r0 2 --_name=carol --max-buffers=8000",
        "drbdsetup new-path r0 1 ipv4:10.0.0.1:7789 ipv4:10.0.0.2:7789",
        "drbdsetup new-path r0 2 ipv4:10.0.0.1:7789 ipv4:10.0.0.3:7789",
        "drbdsetup peer-device-options r0 1 0 --c-max-rate=200M",
        "drbdsetup peer-device-options r0 1 1 --c-max-rate=200M",
        "drbdsetup peer-device-options r0 2 0 --c-max-rate=200M --bitmap=no",
        "drbdsetup peer-device-options r0 2 1 --c-max-rate=200M --bitmap=no",
        "drbdmeta 0 v09 /dev/vg/r0 internal apply-al",
        "drbdsetup attach 0 /dev/vg/r0 /dev/vg/r0 internal --al-extents=1237",
        "drbdmeta 1 v09 /dev/vg/md flex-external apply-al",
        "drbdsetup attach 1 /dev/vg/r1 /dev/vg/md flexible --al-extents=1237",
        "drbdsetup connect r0 1",
        "drbdsetup connect r0 2",
    ]);
    assert_eq!(told(None, BEFORE), expected);
}

#[test]
fn same_configuration_in_other_words_needs_nothing() {
    let moved = BEFORE.replace("disk { c-max-rate 200M; al-extents 1237; }", "").replace(
        "resource r0 {",
        "common { disk { c-max-rate 204800; al-extents 1237; } } resource r0 {",
    );
    assert_eq!(told(Some(BEFORE), &moved), []);
}

#[test]
fn options_that_disturb_nothing_are_told_apart() {
    let after = BEFORE.replace("auto-promote no", "auto-promote yes").replace("8000", "9000");
    let options = |text: &str| (text.to_owned(), Reach::Options);
    assert_eq!(
        told(Some(BEFORE), &after),
        [
            options(
                "drbdsetup resource-options r0 --set-defaults --auto-promote=yes --quorum=majority"
            ),
            options("drbdsetup net-options r0 1 --set-defaults --_name=bob --max-buffers=9000"),
            options("drbdsetup net-options r0 2 --set-defaults --_name=carol --max-buffers=9000"),
        ]
    );
    let after = BEFORE.replace("max-buffers 8000;", "max-buffers 8000; protocol B;");
    let net_options = |id: u8, name: &str| {
        let words = format!("--set-defaults --_name={name} --max-buffers=8000 --protocol=B");
        options(&format!("drbdsetup net-options r0 {id} {words}"))
    };
    assert_eq!(told(Some(BEFORE), &after), [net_options(1, "bob"), net_options(2, "carol")]);
    let after = BEFORE.replace("al-extents 1237;", "al-extents 1237; read-balancing weighted;");
    let disk_options = |minor: u8| {
        let words = "--set-defaults --al-extents=1237 --read-balancing=weighted";
        options(&format!("drbdsetup disk-options {minor} {words}"))
    };
    assert_eq!(told(Some(BEFORE), &after), [disk_options(0), disk_options(1)]);
    let after = BEFORE.replace("quorum majority;", "quorum majority; on-no-quorum io-error;");
    assert_eq!(
        told(Some(BEFORE), &after),
        [options(
            "drbdsetup resource-options r0 --set-defaults --auto-promote=no \
             --on-no-quorum=io-error --quorum=majority"
        )]
    );
    for (option, changed) in [
        ("al-extents 1237;", "al-extents 1237; on-io-error call-local-io-error;"),
        ("al-extents 1237;", "al-extents 1237; resync-after other/0;"),
        ("c-max-rate 200M;", "c-max-rate 100M; c-min-rate 1M; c-fill-target 1M;"),
        (
            "max-buffers 8000;",
            "max-buffers 8000; after-sb-0pri discard-zero-changes; after-sb-1pri consensus; \
             after-sb-2pri disconnect;",
        ),
    ] {
        let told = told(Some(BEFORE), &BEFORE.replace(option, changed));
        let is_live = told.iter().all(|(_, reach)| *reach == Reach::Options);
        assert!(!told.is_empty() && is_live, "{changed}: {told:?}");
    }
    let after = BEFORE.replace("al-extents 1237;", "al-extents 6433;");
    let disk = told(Some(BEFORE), &after);
    assert!(!disk.is_empty() && disk.iter().all(|(_, reach)| *reach == Reach::Structure));
}

#[test]
fn peers_paths_and_disks_are_exchanged_one_by_one() {
    let after = BEFORE
        .replace("10.0.0.2:7789", "10.9.0.2:7789")
        .replace("/dev/vg/r1", "/dev/vg/new")
        .replace("on carol { node-id 2", "on dave { node-id 3")
        .replace("alice bob carol", "alice bob dave");
    let member = |text: &str| (text.to_owned(), Reach::Members);
    let path = |text: &str| (text.to_owned(), Reach::Paths);
    let rest = |text: &str| (text.to_owned(), Reach::Structure);
    assert_eq!(
        told(Some(BEFORE), &after),
        [
            member("drbdsetup disconnect r0 2"),
            member("drbdsetup del-peer r0 2"),
            rest("drbdsetup detach 1"),
            path("drbdsetup del-path r0 1 ipv4:10.0.0.1:7789 ipv4:10.0.0.2:7789"),
            path("drbdsetup new-path r0 1 ipv4:10.0.0.1:7789 ipv4:10.9.0.2:7789"),
            member("drbdsetup new-peer r0 3 --_name=dave --max-buffers=8000"),
            member("drbdsetup new-path r0 3 ipv4:10.0.0.1:7789 ipv4:10.0.0.3:7789"),
            member(
                "drbdsetup peer-device-options r0 3 0 --set-defaults --c-max-rate=200M --bitmap=no"
            ),
            member(
                "drbdsetup peer-device-options r0 3 1 --set-defaults --c-max-rate=200M --bitmap=no"
            ),
            rest("drbdmeta 1 v09 /dev/vg/md flex-external apply-al"),
            rest("drbdsetup attach 1 /dev/vg/new /dev/vg/md flexible --al-extents=1237"),
            member("drbdsetup connect r0 3"),
        ]
    );
}

#[test]
fn volumes_come_and_go() {
    let without = BEFORE
        .replace("volume 1 { device minor 1; disk /dev/vg/r1; meta-disk /dev/vg/md; }", "")
        .replace(" volume 1 { disk none; }", "");
    assert_eq!(
        told(Some(BEFORE), &without),
        structure(&["drbdsetup detach 1", "drbdsetup del-minor 1"])
    );
    let comes = |text: &str| (text.to_owned(), Reach::Volumes);
    let all = told(Some(&without), BEFORE);
    let of_volume: Vec<_> = all.iter().filter(|(_, reach)| *reach == Reach::Volumes).collect();
    assert_eq!(
        of_volume,
        [
            &comes("drbdsetup new-minor r0 1 1"),
            &comes("drbdmeta 1 v09 /dev/vg/md flex-external apply-al"),
            &comes("drbdsetup attach 1 /dev/vg/r1 /dev/vg/md flexible --al-extents=1237"),
        ]
    );
    let rest: Vec<_> = all.iter().filter(|(_, reach)| *reach != Reach::Volumes).collect();
    let option =
        "drbdsetup peer-device-options r0 2 1 --set-defaults --c-max-rate=200M --bitmap=no";
    assert_eq!(rest, [&(option.to_owned(), Reach::Options)]);
}
