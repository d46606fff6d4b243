//! Every option of DRBD 9.2 is known, and it is said of each what becomes of it.

use config::options::reasons::{
    CONDITIONS, NOT_APPLICABLE, not_applicable, not_applicable_value, why_refused,
};
use config::options::table::TABLE;
use config::options::{Kind, OptionSpec, Section, Status};
use config::parse_text;

/// As DRBD's manual has them, by section.
const OF_DRBD: [(Section, &str); 6] = [
    (
        Section::Disk,
        "size on-io-error disk-barrier disk-flushes disk-drain md-flushes resync-after al-extents \
         al-updates discard-zeroes-if-aligned disable-write-same disk-timeout read-balancing \
         rs-discard-granularity bitmap max-bio-size block-size discard-granularity resync-rate \
         c-plan-ahead c-delay-target c-fill-target c-max-rate c-min-rate \
         resync-without-replication peer-tiebreaker",
    ),
    (
        Section::Net,
        "transport load-balance-paths protocol timeout max-epoch-size connect-int ping-int \
         ping-timeout sndbuf-size rcvbuf-size ko-count max-buffers allow-two-primaries \
         cram-hmac-alg shared-secret after-sb-0pri after-sb-1pri after-sb-2pri always-asbp \
         rr-conflict data-integrity-alg tcp-cork on-congestion congestion-fill congestion-extents \
         csums-alg csums-after-crash-only verify-alg use-rle socket-check-timeout fencing \
         allow-remote-read tls tls-keyring tls-privkey tls-certificate rdma-ctrl-rcvbuf-size \
         rdma-ctrl-sndbuf-size _name discard-my-data tentative",
    ),
    (
        Section::Options,
        "cpu-mask on-no-data-accessible auto-promote peer-ack-window peer-ack-delay twopc-timeout \
         twopc-retry-timeout auto-promote-timeout max-io-depth quorum on-no-quorum \
         quorum-minimum-redundancy on-suspended-primary-outdated drbd8-api-compatibility",
    ),
    (
        Section::Startup,
        "wfc-timeout degr-wfc-timeout outdated-wfc-timeout wait-after-sb stacked-timeouts",
    ),
    (
        Section::Handlers,
        "pri-on-incon-degr pri-lost-after-sb pri-lost initial-split-brain split-brain fence-peer \
         unfence-peer local-io-error before-resync-target after-resync-target before-resync-source \
         out-of-sync quorum-lost disconnected",
    ),
    (
        Section::Global,
        "usage-count dialog-refresh minor-count disable-ip-verification udev-always-use-vnr \
         cmd-timeout-short cmd-timeout-medium cmd-timeout-long",
    ),
];

#[test]
fn every_option_of_drbd_is_in_the_table() {
    for (section, names) in OF_DRBD {
        for name in names.split_whitespace() {
            let found = TABLE.iter().any(|spec| spec.name == name && spec.section == section);
            assert!(found, "{name} of {}", section.keyword());
        }
    }
}

#[test]
fn what_is_not_applicable_is_accepted_and_does_nothing() {
    for (name, reason) in NOT_APPLICABLE {
        let spec = TABLE.iter().find(|spec| spec.name == *name).unwrap();
        assert!(matches!(spec.status, Status::Nothing { .. }), "{name} does something");
        assert!(!reason.is_empty() && !reason.ends_with('.'), "{name}");
    }
    let names: Vec<_> = NOT_APPLICABLE.iter().map(|(name, _)| name).collect();
    for (place, name) in names.iter().enumerate() {
        assert!(!names[..place].contains(name), "{name} is there twice");
    }
}

/// Each value of an option takes effect, or has nothing to do for a reason.
#[test]
fn nothing_is_without_effect_and_without_a_reason() {
    // Where it is about one value of several, the others are those that hold.
    let has_reason_for_one = |spec: &OptionSpec, holds: &[&str]| {
        let Kind::Words(words) = spec.kind else { return false };
        let rest: Vec<&str> = words.iter().copied().filter(|it| !holds.contains(it)).collect();
        not_applicable_value(spec.name).is_some_and(|(value, _)| rest == [value])
    };
    let is_open = |spec: &OptionSpec| match spec.status {
        Status::InEffect | Status::Nothing { holds: ["*"] } => false,
        Status::Nothing { holds } => {
            not_applicable(spec.name).is_none() && !has_reason_for_one(spec, holds)
        }
        Status::Refused { works } => works.is_empty() || why_refused(spec.name).is_empty(),
    };
    let open = TABLE.iter().filter(|spec| is_open(spec)).map(|spec| spec.name);
    assert_eq!(open.collect::<Vec<_>>(), Vec::<&str>::new());
    for (name, condition) in CONDITIONS {
        let spec = TABLE.iter().find(|spec| spec.name == *name).unwrap();
        assert_eq!((spec.status, condition.is_empty()), (Status::InEffect, false), "{name}");
    }
}

#[test]
fn warning_says_why_an_option_changes_nothing() {
    let warnings = |line: &str| -> Vec<String> {
        let text = format!(
            "resource r {{ net {{ {line} }} volume 0 {{ disk /d; }} \
             on a {{ node-id 0; address 10.0.0.1:1; }} on b {{ node-id 1; address 10.0.0.2:1; }} }}"
        );
        parse_text("r.res", &text).unwrap().warnings.iter().map(ToString::to_string).collect()
    };
    let [ref one] = warnings("tcp-cork no;")[..] else { panic!("one warning") };
    assert!(one.contains(not_applicable("tcp-cork").unwrap()), "{one}");
    let [ref other] = warnings("protocol B; on-congestion pull-ahead;")[..] else {
        panic!("one warning")
    };
    assert!(other.contains("changes nothing") && other.contains("protocol A"), "{other}");
    assert_eq!(warnings("protocol A; on-congestion pull-ahead;").len(), 0);
    assert_eq!(warnings("tcp-cork yes;").len(), 0, "it describes what happens anyway");
}

/// A word that was none of its numbers was refused without a word of those that are.
#[test]
fn every_number_of_a_file_is_refused_with_the_word_and_its_range() {
    let message = |spec: &OptionSpec, word: &str| {
        let section = spec.section.keyword();
        let setting = format!("{section} {{ {} {word}; }}", spec.name);
        let is_global = spec.section == Section::Global;
        let text = if is_global { setting } else { format!("resource r {{ {setting} }}") };
        let errors = parse_text("r.res", &text).unwrap_err();
        errors.list[0].message.clone()
    };
    let mut numbers = 0;
    for spec in TABLE.iter() {
        let (Kind::Number { .. } | Kind::Clamped { .. } | Kind::WordsOrNumber { .. }) = spec.kind
        else {
            continue;
        };
        numbers += 1;
        for word in ["x1", "1.5", "1x", "99999999999999999999", "-1"] {
            let told = message(spec, word);
            assert!(told.contains(word) && told.contains(" to "), "{}: {told}", spec.name);
        }
    }
    assert!(numbers > 30, "{numbers} numbers");
    for (body, range) in [
        ("on a { node-id x; }", "a node id, the range is 0 to 31"),
        ("on a { node-id 32; }", "a node id, the range is 0 to 31"),
        ("volume x { disk /d; }", "a volume number, the range is 0 to 65534"),
        ("volume 0 { device minor x; }", "a minor, the range is 0 to 1048575"),
        ("on a { address 10.0.0.1:x; }", "a port, the range is 1 to 65535"),
        ("on a { address 10.0.0.1:0; }", "a port, the range is 1 to 65535"),
        ("on a { address 10.0.0.1:65536; }", "a port, the range is 1 to 65535"),
        ("volume 0 { disk /d; meta-disk /m [x]; }", "an index, the range is 0 to 1048575"),
    ] {
        let errors = parse_text("r.res", &format!("resource r {{ {body} }}")).unwrap_err();
        assert!(errors.list[0].message.contains(range), "{body}: {errors}");
    }
}
