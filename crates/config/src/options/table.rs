//! Every option there is. One row each; the order is the one in which DRBD's manual has them.
//!
//! Ranges and defaults are DRBD's, with four exceptions. Rates reach 64 GiB/s, because a limit
//! below the speed of the link is no limit that anybody wants. The default of `quorum` is
//! `majority`: two parts of a cluster must never both go on. `read-balancing` may be `weighted`.
//! `auto-promote-timeout` is 5 s by default: as long as a failover takes at worst.

use crate::limits::NODE_ID_MAX;
use crate::options::{Kind, OptionSpec, Section, Status, Unit};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// In KiB per second.
const RATE_MAX: u64 = 64 * MIB;

/// Any value describes what happens anyway: the option has no object here.
const ANY: &[&str] = &["*"];
const QUORUM_WORDS: &[&str] = &["off", "majority", "all"];
const IN_EFFECT: Status = Status::InEffect;
const NOTHING: Status = Status::Nothing { holds: &[] };

const fn holds(values: &'static [&'static str]) -> Status {
    Status::Nothing { holds: values }
}

const fn refused_but(works: &'static [&'static str]) -> Status {
    Status::Refused { works }
}

const fn row(
    section: Section,
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    status: Status,
) -> OptionSpec {
    OptionSpec { name, section, kind, default, status, is_per_peer: false }
}

const fn disk(name: &'static str, kind: Kind, default: &'static str, s: Status) -> OptionSpec {
    row(Section::Disk, name, kind, Some(default), s)
}

const fn peer(name: &'static str, kind: Kind, default: &'static str, s: Status) -> OptionSpec {
    let mut spec = row(Section::Disk, name, kind, Some(default), s);
    spec.is_per_peer = true;
    spec
}

const fn net(name: &'static str, kind: Kind, default: &'static str, s: Status) -> OptionSpec {
    row(Section::Net, name, kind, Some(default), s)
}

const fn net_text(name: &'static str, s: Status) -> OptionSpec {
    row(Section::Net, name, Kind::Text { bytes_max: 64 }, None, s)
}

const fn resource(name: &'static str, kind: Kind, default: &'static str, s: Status) -> OptionSpec {
    row(Section::Options, name, kind, Some(default), s)
}

const fn startup(name: &'static str, kind: Kind, default: &'static str, s: Status) -> OptionSpec {
    row(Section::Startup, name, kind, Some(default), s)
}

const fn handler(name: &'static str, status: Status) -> OptionSpec {
    row(Section::Handlers, name, Kind::Text { bytes_max: 255 }, None, status)
}

const fn global(name: &'static str, kind: Kind, default: &'static str) -> OptionSpec {
    row(Section::Global, name, kind, Some(default), holds(ANY))
}

const fn count(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Count }
}
const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Bytes }
}
const fn sectors(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Sectors }
}
const fn rate(min: u64) -> Kind {
    Kind::Number { min, max: RATE_MAX, unit: Unit::Kibibytes }
}
const fn seconds(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Seconds }
}
const fn tenths(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Tenths }
}
const fn milliseconds(min: u64, max: u64) -> Kind {
    Kind::Number { min, max, unit: Unit::Milliseconds }
}

const READ_BALANCING: &[&str] = &[
    "prefer-local",
    "prefer-remote",
    "round-robin",
    "least-pending",
    "when-congested-remote",
    "32K-striping",
    "64K-striping",
    "128K-striping",
    "256K-striping",
    "512K-striping",
    "1M-striping",
    "weighted",
];
const AFTER_SB_0PRI: &[&str] = &[
    "disconnect",
    "discard-younger-primary",
    "discard-older-primary",
    "discard-zero-changes",
    "discard-least-changes",
    "discard-local",
    "discard-remote",
    "discard-node-*",
];
const AFTER_SB_1PRI: &[&str] =
    &["disconnect", "consensus", "violently-as0p", "discard-secondary", "call-pri-lost-after-sb"];
const AFTER_SB_2PRI: &[&str] = &["disconnect", "violently-as0p", "call-pri-lost-after-sb"];
const RR_CONFLICT: &[&str] =
    &["disconnect", "retry-connect", "violently", "call-pri-lost", "auto-discard"];

pub static TABLE: &[OptionSpec] = &[
    // disk: of a device
    disk("size", sectors(0, 1 << 41), "0", IN_EFFECT),
    disk(
        "on-io-error",
        Kind::Words(&["detach", "pass_on", "call-local-io-error"]),
        "detach",
        holds(&["detach", "call-local-io-error"]),
    ),
    disk("disk-barrier", Kind::Flag, "no", holds(&["no"])),
    disk("disk-flushes", Kind::Flag, "yes", holds(&["yes"])),
    disk("disk-drain", Kind::Flag, "yes", holds(&["yes"])),
    disk("md-flushes", Kind::Flag, "yes", holds(&["yes"])),
    row(Section::Disk, "resync-after", Kind::Text { bytes_max: 255 }, None, IN_EFFECT),
    disk("al-extents", Kind::Clamped { min: 67, max: 65_534 }, "1237", IN_EFFECT),
    disk("al-updates", Kind::Flag, "yes", holds(&["yes"])),
    disk("discard-zeroes-if-aligned", Kind::Flag, "yes", holds(&["yes"])),
    disk("disable-write-same", Kind::Flag, "no", holds(ANY)),
    disk("disk-timeout", tenths(0, 6000), "0", IN_EFFECT),
    disk("read-balancing", Kind::Words(READ_BALANCING), "prefer-local", IN_EFFECT),
    disk("rs-discard-granularity", bytes(0, MIB), "0", holds(&["0"])),
    disk("max-bio-size", bytes(4 * KIB, MIB), "1M", NOTHING),
    disk("block-size", bytes(512, 4 * KIB), "512", IN_EFFECT),
    row(Section::Disk, "discard-granularity", bytes(0, 128 * MIB), None, IN_EFFECT),
    // disk: of a device, as one peer sees it
    peer("resync-rate", rate(1), "250K", NOTHING),
    peer("c-plan-ahead", tenths(0, 300), "20", NOTHING),
    peer("c-delay-target", tenths(1, 100), "10", NOTHING),
    peer("c-fill-target", sectors(0, MIB), "100s", NOTHING),
    peer("c-max-rate", rate(0), "100M", IN_EFFECT),
    peer("c-min-rate", rate(0), "250K", NOTHING),
    peer("bitmap", Kind::Flag, "yes", holds(&["yes"])),
    peer("resync-without-replication", Kind::Flag, "yes", holds(&["no"])),
    peer("peer-tiebreaker", Kind::Flag, "yes", IN_EFFECT),
    // net
    net("transport", Kind::Words(&["tcp", "lb-tcp", "rdma"]), "tcp", holds(&["tcp", "lb-tcp"])),
    net("load-balance-paths", Kind::Flag, "no", IN_EFFECT),
    net("protocol", Kind::Letters(&["A", "B", "C"]), "C", IN_EFFECT),
    net("timeout", tenths(1, 600), "60", IN_EFFECT),
    net("max-epoch-size", count(1, 20_000), "2048", NOTHING),
    net("connect-int", seconds(1, 120), "10", IN_EFFECT),
    net("ping-int", seconds(1, 120), "10", IN_EFFECT),
    net("ping-timeout", tenths(1, 300), "5", IN_EFFECT),
    net("sndbuf-size", bytes(0, 128 * MIB), "0", IN_EFFECT),
    net("rcvbuf-size", bytes(0, 128 * MIB), "0", IN_EFFECT),
    net("ko-count", count(0, 200), "7", IN_EFFECT),
    net("max-buffers", count(32, 131_072), "2048", NOTHING),
    net("allow-two-primaries", Kind::Flag, "no", refused_but(&["no"])),
    net_text("cram-hmac-alg", IN_EFFECT),
    net_text("shared-secret", IN_EFFECT),
    net("after-sb-0pri", Kind::Words(AFTER_SB_0PRI), "disconnect", IN_EFFECT),
    net("after-sb-1pri", Kind::Words(AFTER_SB_1PRI), "disconnect", IN_EFFECT),
    net("after-sb-2pri", Kind::Words(AFTER_SB_2PRI), "disconnect", IN_EFFECT),
    net("always-asbp", Kind::Flag, "no", holds(ANY)),
    net("rr-conflict", Kind::Words(RR_CONFLICT), "disconnect", holds(&["disconnect"])),
    net_text("data-integrity-alg", NOTHING),
    net("tcp-cork", Kind::Flag, "yes", holds(&["yes"])),
    net("on-congestion", Kind::Words(&["block", "pull-ahead", "disconnect"]), "block", IN_EFFECT),
    net("congestion-fill", sectors(0, 20 * MIB), "0", IN_EFFECT),
    net("congestion-extents", Kind::Clamped { min: 67, max: 65_534 }, "1237", IN_EFFECT),
    net_text("csums-alg", IN_EFFECT),
    net("csums-after-crash-only", Kind::Flag, "no", IN_EFFECT),
    net_text("verify-alg", holds(ANY)),
    net("use-rle", Kind::Flag, "yes", holds(ANY)),
    net("socket-check-timeout", tenths(0, 300), "0", holds(&["0"])),
    net(
        "fencing",
        Kind::Words(&["dont-care", "resource-only", "resource-and-stonith"]),
        "dont-care",
        IN_EFFECT,
    ),
    net("allow-remote-read", Kind::Flag, "yes", IN_EFFECT),
    net("tls", Kind::Flag, "no", IN_EFFECT),
    net_text("tls-keyring", NOTHING),
    net_text("tls-privkey", NOTHING),
    net_text("tls-certificate", NOTHING),
    net("rdma-ctrl-rcvbuf-size", bytes(0, 10 * MIB), "0", holds(&["0"])),
    net("rdma-ctrl-sndbuf-size", bytes(0, 10 * MIB), "0", holds(&["0"])),
    net_text("_name", holds(ANY)),
    net("discard-my-data", Kind::Flag, "no", holds(&["no"])),
    net("tentative", Kind::Flag, "no", holds(&["no"])),
    // options
    row(Section::Options, "cpu-mask", Kind::Text { bytes_max: 256 }, None, IN_EFFECT),
    resource(
        "on-no-data-accessible",
        Kind::Words(&["io-error", "suspend-io"]),
        "io-error",
        IN_EFFECT,
    ),
    resource("auto-promote", Kind::Flag, "yes", IN_EFFECT),
    resource("peer-ack-window", sectors(2 * KIB, 200 * KIB), "4096s", NOTHING),
    resource("peer-ack-delay", milliseconds(1, 10_000), "100", NOTHING),
    resource("twopc-timeout", tenths(50, 600), "300", NOTHING),
    resource("twopc-retry-timeout", tenths(1, 50), "1", NOTHING),
    resource("auto-promote-timeout", tenths(0, 600), "50", IN_EFFECT),
    resource("max-io-depth", count(4, 0xffff_ffff), "8000", NOTHING),
    resource(
        "quorum",
        Kind::WordsOrNumber { words: QUORUM_WORDS, min: 1, max: NODE_ID_MAX + 1 },
        "majority",
        IN_EFFECT,
    ),
    resource("on-no-quorum", Kind::Words(&["suspend-io", "io-error"]), "suspend-io", IN_EFFECT),
    resource(
        "quorum-minimum-redundancy",
        Kind::WordsOrNumber { words: QUORUM_WORDS, min: 1, max: NODE_ID_MAX + 1 },
        "off",
        IN_EFFECT,
    ),
    resource(
        "on-suspended-primary-outdated",
        Kind::Words(&["disconnect", "force-secondary"]),
        "disconnect",
        holds(&["force-secondary"]),
    ),
    resource("drbd8-api-compatibility", Kind::Flag, "no", holds(ANY)),
    // startup
    startup("wfc-timeout", seconds(0, 300_000), "0", IN_EFFECT),
    startup("degr-wfc-timeout", seconds(0, 300_000), "0", IN_EFFECT),
    startup("outdated-wfc-timeout", seconds(0, 300_000), "0", IN_EFFECT),
    startup("wait-after-sb", Kind::Flag, "no", IN_EFFECT),
    startup("stacked-timeouts", Kind::Flag, "no", NOTHING),
    row(Section::Startup, "become-primary-on", Kind::Names, None, IN_EFFECT),
    // handlers
    handler("pri-on-incon-degr", IN_EFFECT),
    handler("pri-lost-after-sb", IN_EFFECT),
    handler("pri-lost", IN_EFFECT),
    handler("initial-split-brain", IN_EFFECT),
    handler("split-brain", IN_EFFECT),
    handler("fence-peer", IN_EFFECT),
    handler("unfence-peer", IN_EFFECT),
    handler("local-io-error", IN_EFFECT),
    handler("before-resync-target", IN_EFFECT),
    handler("after-resync-target", IN_EFFECT),
    handler("before-resync-source", IN_EFFECT),
    handler("out-of-sync", IN_EFFECT),
    handler("quorum-lost", IN_EFFECT),
    handler("disconnected", IN_EFFECT),
    // global
    global("usage-count", Kind::Words(&["yes", "no", "ask"]), "no"),
    global("dialog-refresh", seconds(0, 600), "1"),
    global("minor-count", count(1, 255), "32"),
    global("disable-ip-verification", Kind::Flag, "no"),
    global("udev-always-use-vnr", Kind::Flag, "no"),
    global("cmd-timeout-short", seconds(0, 900), "5"),
    global("cmd-timeout-medium", seconds(0, 900), "121"),
    global("cmd-timeout-long", seconds(0, 900), "600"),
];
