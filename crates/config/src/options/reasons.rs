//! Why an option of DRBD has nothing to do here: what it is about does not exist in user space, or
//! happens in another way. Such an option is accepted, and what sets it is told this once.
//!
//! What would be less safe than the file says is refused. Every option of the table that is not in
//! effect, and whose values do not all say what happens anyway, has its reason here.

/// By name of the option.
pub static NOT_APPLICABLE: &[(&str, &str)] = &[
    ("disk-barrier", "there are no barriers in the kernel any more; a flush orders writes"),
    ("disk-flushes", "flushes are never left out: a completed one is durable on every member"),
    ("disk-drain", "writes need no draining: each is ordered by its number"),
    ("md-flushes", "metadata is always written durably"),
    ("al-updates", "the activity log is always written: a crash would cost a full copy without it"),
    (
        "discard-zeroes-if-aligned",
        "a discard reads as zeroes on every replica, whatever the disks do with it",
    ),
    ("disable-write-same", "no front end has such a command"),
    (
        "rs-discard-granularity",
        "a resync leaves blocks of zeroes unallocated anyway, each 4 KiB for itself",
    ),
    ("max-bio-size", "requests of any size are split at 128 KiB"),
    ("resync-rate", "there is no controller: `c-max-rate` holds while clients are at work"),
    ("c-plan-ahead", "there is no controller: `c-max-rate` holds while clients are at work"),
    ("c-delay-target", "there is no controller: `c-max-rate` holds while clients are at work"),
    ("c-fill-target", "there is no controller: `c-max-rate` holds while clients are at work"),
    ("c-min-rate", "there is no controller: `c-max-rate` holds while clients are at work"),
    ("bitmap", "what is not dirty takes no memory, so there is nothing to save"),
    ("resync-without-replication", "writes go to a member that is being copied to, too"),
    ("max-epoch-size", "writes carry numbers; there are no epochs on the wire"),
    ("max-buffers", "buffers are a bounded pool of the daemon, for all resources"),
    (
        "rr-conflict",
        "a Primary is never copied to: one whose line parted is for `after-sb-*`, and one that \
         hears of a newer session steps down",
    ),
    ("data-integrity-alg", "each payload carries a CRC-32C, which is always checked"),
    ("tcp-cork", "all that is said in a turn leaves in one send"),
    ("verify-alg", "digests are Basalt's own"),
    ("use-rle", "bitmaps are not exchanged"),
    ("socket-check-timeout", "heartbeats find a dead peer within 1.2 s"),
    ("tls-keyring", "it names keys of the kernel; certificates are files (`basalt node --pki`)"),
    ("tls-privkey", "it names keys of the kernel; certificates are files (`basalt node --pki`)"),
    (
        "tls-certificate",
        "it names keys of the kernel; certificates are files (`basalt node --pki`)",
    ),
    ("discard-my-data", "it is said to one `connect`, where it is in effect, and not for good"),
    (
        "tentative",
        "a connection for a try would not last; `primary --force --dry-run` tells who has what",
    ),
    ("rdma-ctrl-rcvbuf-size", "there is no RDMA"),
    ("rdma-ctrl-sndbuf-size", "there is no RDMA"),
    ("_name", "it is what drbdadm tells the kernel; peers have the names of their hosts"),
    ("peer-ack-window", "each write says what is stable already; there is nothing to gather"),
    ("peer-ack-delay", "each write says what is stable already; there is nothing to gather"),
    ("twopc-timeout", "changes are ballots at the voters, not a commit in two phases"),
    ("twopc-retry-timeout", "changes are ballots at the voters, not a commit in two phases"),
    ("max-io-depth", "requests are bounded for each client: 256, or 16 MiB of buffers"),
    ("drbd8-api-compatibility", "there is no interface of a kernel module"),
    (
        "on-suspended-primary-outdated",
        "a Primary that hears of a newer session steps down, and its held requests fail",
    ),
    ("stacked-timeouts", "there are no stacked resources"),
    ("usage-count", "nothing is counted, and nobody is asked"),
    ("dialog-refresh", "there is no dialog"),
    ("minor-count", "there is no kernel module"),
    ("disable-ip-verification", "an address that is missing is told of, and keeps nothing down"),
    (
        "udev-always-use-vnr",
        "links to devices always have the number of the volume; `sh-udev` prints it",
    ),
    ("cmd-timeout-short", "`basalt adm --timeout` bounds a command"),
    ("cmd-timeout-medium", "`basalt adm --timeout` bounds a command"),
    ("cmd-timeout-long", "`basalt adm --timeout` bounds a command"),
];

/// The same of single values, by name of the option and value.
pub static VALUES_NOT_APPLICABLE: &[(&str, &str, &str)] = &[
    (
        "on-io-error",
        "pass_on",
        "a replica that failed a write is never believed again; a failed read is served by another \
         replica and written back",
    ),
    ("transport", "rdma", "there is no RDMA; TCP connects the nodes"),
];

const OWN_TIME: &str =
    "where a file sets it; otherwise Basalt's own time counts (config.md, Times of a connection)";

/// What an option that is in effect needs, or how far it is so, by its name.
pub static CONDITIONS: &[(&str, &str)] = &[
    (
        "on-congestion",
        "with `protocol A` on that connection: with B and C each write waits for the peer, so \
         nothing gathers that one could be ahead of",
    ),
    ("congestion-fill", "with `protocol A` and an `on-congestion` that is not `block`"),
    (
        "congestion-extents",
        "with `protocol A` and an `on-congestion` that is not `block`; values above 1,024, so the \
         default too, are never reached",
    ),
    ("al-extents", "up to 1,024: a greater value counts as that"),
    ("timeout", OWN_TIME),
    ("ko-count", OWN_TIME),
    ("ping-int", OWN_TIME),
    ("ping-timeout", OWN_TIME),
    ("connect-int", OWN_TIME),
];

/// What the option needs, if it is not in effect by itself.
#[must_use]
pub fn condition_of(name: &str) -> Option<&'static str> {
    CONDITIONS.iter().find(|(option, _)| *option == name).map(|(_, condition)| *condition)
}

/// What is refused, by name of the option.
pub static NEVER: &[(&str, &str)] = &[(
    "allow-two-primaries",
    "one node at a time is Primary: nothing would give the writes of two the same order on all \
     replicas. Every node can be a path to the volume by NVMe/TCP, and `auto-promote` moves it",
)];

/// Why the table refuses values of the option.
///
/// # Panics
/// If it refuses none.
#[must_use]
pub fn why_refused(name: &str) -> &'static str {
    let row = NEVER.iter().find(|(option, _)| *option == name);
    row.map(|(_, reason)| *reason).expect("the tests of the table want a reason for each")
}

/// Why values of the option change nothing.
///
/// # Panics
/// If all of them are in effect, or say what happens anyway.
#[must_use]
pub fn why_nothing(name: &str) -> &'static str {
    let of_value = || not_applicable_value(name).map(|(_, reason)| reason);
    not_applicable(name).or_else(of_value).expect("the tests of the table want a reason for each")
}

/// The value of the option that has nothing to do where others do, and why.
#[must_use]
pub fn not_applicable_value(name: &str) -> Option<(&'static str, &'static str)> {
    let mut rows = VALUES_NOT_APPLICABLE.iter();
    rows.find(|(option, ..)| *option == name).map(|(_, value, reason)| (*value, *reason))
}

/// Why the option has nothing to do, if that is so.
#[must_use]
pub fn not_applicable(name: &str) -> Option<&'static str> {
    NOT_APPLICABLE.iter().find(|(option, _)| *option == name).map(|(_, reason)| *reason)
}
