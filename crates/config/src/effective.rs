//! What holds in the end: the options that the daemon heeds, typed, with defaults filled in.
//!
//! An option that says how long something may take is `None` here unless it was set: Basalt's own
//! times then apply, which are shorter than DRBD's.

mod lines;

use std::collections::BTreeMap;
use std::fmt;

use crate::model::Resource;
use crate::options::value::Value;
use crate::options::{OptionSet, spec_of};

/// What becomes of requests while there is no quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNoQuorum {
    /// They wait.
    SuspendIo,
    /// They fail.
    IoError,
}

/// How many voters must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    Off,
    Majority,
    All,
    AtLeast(u8),
}

/// When a member's share in a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckWhen {
    /// Protocol A.
    Sent,
    /// Protocol B.
    Received,
    /// Protocol C.
    Durable,
}

/// Of a resource, on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceOptions {
    pub quorum: Quorum,
    /// In-sync replicas that have to be there.
    pub redundancy: Quorum,
    pub on_no_quorum: OnNoQuorum,
    /// What becomes of requests while no replica with good data is in reach.
    pub on_no_data: OnNoQuorum,
    pub auto_promote: bool,
    /// How long who opens the volume waits for that.
    pub auto_promote_ms: u64,
}

/// How long the peer may take for a request: `timeout` times `ko-count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Neither was set.
    Own,
    Milliseconds(u64),
    /// `ko-count 0`
    Endless,
}

/// Of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetOptions {
    pub ack_when: AckWhen,
    pub congestion: Congestion,
    pub patience: Patience,
    pub connect_interval_ms: Option<u64>,
    pub ping_interval_ms: Option<u64>,
    pub ping_timeout_ms: Option<u64>,
    /// Any name will do: digests are Basalt's own.
    pub csums_alg: Option<String>,
    /// Only for what comes back after a crash.
    pub csums_after_crash_only: bool,
    /// Reads of clients may go to the peer.
    pub allow_remote_read: bool,
    /// What the two hosts say to each other is sealed.
    pub tls: bool,
    /// Traffic uses all paths that work.
    pub load_balance_paths: bool,
    pub after_split: AfterSplit,
    /// Bytes; `None` leaves it to the kernel.
    pub send_buffer_bytes: Option<u32>,
    pub receive_buffer_bytes: Option<u32>,
    pub fencing: Fencing,
    /// The digest of the HMAC with which hosts prove that they know the secret.
    pub cram_hmac_alg: Option<String>,
    pub shared_secret: Option<Secret>,
}

/// What becomes of an asynchronous peer that falls behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    pub then: OnCongestion,
    /// 0: any number.
    pub fill_bytes: u64,
    pub extents: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCongestion {
    Block,
    PullAhead,
    Disconnect,
}

/// What a Primary needs to know of a peer that it lost. Each asks for more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fencing {
    DontCare,
    ResourceOnly,
    /// Requests wait until it is known.
    ResourceAndStonith,
}

/// A text that is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a secret)")
    }
}

/// Who gives way after both hosts went on alone: what `after-sb-0pri`, `-1pri` and `-2pri` say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterSplit {
    pub none: String,
    pub one: String,
    pub two: String,
}

/// Of a volume, on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    pub al_extents: u32,
    pub read_balancing: ReadBalancing,
    pub on_io_error: OnIoError,
    /// How long a request may take before the disk counts as failed.
    pub disk_timeout_ms: Option<u64>,
    /// What the volume is to have, if that is not all that the smallest disk can hold.
    pub size_bytes: Option<u64>,
    /// The logical block of devices, a power of two.
    pub block_bytes: u32,
    /// What the block device says of discards; 0: it has none.
    pub discard_granularity_bytes: Option<u32>,
}

/// What a failed write of the own disk leads to; the replica is given up in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnIoError {
    Detach,
    /// `local-io-error` is called, too.
    CallHandler,
}

/// Which replica a read goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBalancing {
    /// `when-congested-remote` as well: DRBD has read the own disk then since Linux 5.18.
    PreferLocal,
    PreferRemote,
    RoundRobin,
    LeastPending,
    Striping {
        kib: u32,
    },
    Weighted,
}

/// Of a volume, over one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerDiskOptions {
    /// Bytes per second of resync; `None` is as fast as it goes.
    pub c_max_rate_bytes: Option<u64>,
    /// The peer may be the witness, if it has no disk.
    pub peer_tiebreaker: bool,
}

impl Resource {
    /// All hosts of the resource have these options: what `on` says of one host has no effect.
    #[must_use]
    pub fn resource_options(&self) -> ResourceOptions {
        let set = &self.options;
        let policy = |name| match word(set, name).as_str() {
            "io-error" => OnNoQuorum::IoError,
            _ => OnNoQuorum::SuspendIo,
        };
        ResourceOptions {
            quorum: quorum(set, "quorum"),
            redundancy: quorum(set, "quorum-minimum-redundancy"),
            on_no_quorum: policy("on-no-quorum"),
            on_no_data: policy("on-no-data-accessible"),
            auto_promote: flag(set, "auto-promote"),
            auto_promote_ms: number(set, "auto-promote-timeout") * 100,
        }
    }

    /// The scripts that are run when something happens, by the name of the handler.
    #[must_use]
    pub fn handler_scripts(&self) -> BTreeMap<&'static str, String> {
        let given = self.handlers.iter().map(|(name, script)| (name, script.to_string()));
        given.filter(|(_, script)| !script.trim().is_empty()).collect()
    }

    /// Of the connection between two hosts; if there is none, what the resource says for all.
    #[must_use]
    pub fn net_options(&self, left: &str, right: &str) -> NetOptions {
        let set = match self.connection_between(left, right) {
            Some(connection) => self.net.overlaid(&connection.net),
            None => self.net.clone(),
        };
        let ack_when = match word(&set, "protocol").as_str() {
            "A" => AckWhen::Sent,
            "B" => AckWhen::Received,
            _ => AckWhen::Durable,
        };
        let given_ms = |name, unit_ms| set.given(name)?.as_number().map(|value| value * unit_ms);
        let bytes_asked = |name| u32::try_from(number(&set, name)).ok().filter(|&bytes| bytes > 0);
        let given_text = |name| set.given(name).map(Value::to_string).filter(|it| !it.is_empty());
        let congestion = Congestion {
            then: match word(&set, "on-congestion").as_str() {
                "pull-ahead" => OnCongestion::PullAhead,
                "disconnect" => OnCongestion::Disconnect,
                _ => OnCongestion::Block,
            },
            fill_bytes: number(&set, "congestion-fill") * 512,
            extents: u32::try_from(number(&set, "congestion-extents")).unwrap_or(u32::MAX),
        };
        NetOptions {
            ack_when,
            congestion,
            patience: patience(&set),
            connect_interval_ms: given_ms("connect-int", 1000),
            ping_interval_ms: given_ms("ping-int", 1000),
            ping_timeout_ms: given_ms("ping-timeout", 100),
            csums_alg: given_text("csums-alg"),
            csums_after_crash_only: flag(&set, "csums-after-crash-only"),
            allow_remote_read: flag(&set, "allow-remote-read"),
            send_buffer_bytes: bytes_asked("sndbuf-size"),
            receive_buffer_bytes: bytes_asked("rcvbuf-size"),
            fencing: match word(&set, "fencing").as_str() {
                "resource-only" => Fencing::ResourceOnly,
                "resource-and-stonith" => Fencing::ResourceAndStonith,
                _ => Fencing::DontCare,
            },
            cram_hmac_alg: given_text("cram-hmac-alg"),
            shared_secret: given_text("shared-secret").map(Secret),
            tls: flag(&set, "tls"),
            after_split: AfterSplit {
                none: word(&set, "after-sb-0pri"),
                one: word(&set, "after-sb-1pri"),
                two: word(&set, "after-sb-2pri"),
            },
            load_balance_paths: flag(&set, "load-balance-paths")
                || word(&set, "transport") == "lb-tcp",
        }
    }

    /// Whether `become-primary-on` names a host.
    #[must_use]
    pub fn becomes_primary(&self, node_name: &str) -> bool {
        let names = self.startup.given("become-primary-on").map(Value::to_string);
        let Some(host) = self.host_by_name(node_name) else { return false };
        let names = names.unwrap_or_default();
        let is_own = |name| self.host_by_name(name).is_some_and(|it| it.node_id == host.node_id);
        names.split_whitespace().any(|name| name == "both" || is_own(name))
    }

    /// The cores that `cpu-mask` names, in order; `None` if it names none or is no mask.
    /// A mask is hexadecimal; commas stand between groups of 32 cores.
    #[must_use]
    pub fn cpu_mask(&self) -> Option<Vec<usize>> {
        cores_of_mask(&self.options.given("cpu-mask")?.to_string())
    }

    #[must_use]
    pub fn disk_options(&self, node_name: &str, volume: u16) -> DiskOptions {
        let set = self.volume_set(node_name, volume);
        let al_extents = u32::try_from(number(&set, "al-extents"));
        DiskOptions {
            al_extents: al_extents.expect("al-extents is clamped below 2^16"),
            read_balancing: read_balancing(&word(&set, "read-balancing")),
            disk_timeout_ms: Some(number(&set, "disk-timeout") * 100).filter(|&ms| ms > 0),
            block_bytes: if number(&set, "block-size") > 512 { 4096 } else { 512 },
            discard_granularity_bytes: set
                .given("discard-granularity")
                .and_then(Value::as_number)
                .and_then(|bytes| u32::try_from(bytes).ok()),
            size_bytes: Some(number(&set, "size") * 512).filter(|&bytes| bytes > 0),
            on_io_error: match word(&set, "on-io-error").as_str() {
                "call-local-io-error" => OnIoError::CallHandler,
                _ => OnIoError::Detach,
            },
        }
    }

    /// What comes before a resync of this volume: a resource, and its volume.
    #[must_use]
    pub fn resync_after(&self, node_name: &str, volume: u16) -> Option<(String, u16)> {
        let set = self.volume_set(node_name, volume);
        let Value::Text(text) = set.given("resync-after")? else { return None };
        let (resource, number) = text.split_once('/').unwrap_or((text, "0"));
        Some((resource.to_owned(), number.parse().ok()?))
    }

    #[must_use]
    pub fn peer_disk_options(&self, node_name: &str, peer: &str, volume: u16) -> PeerDiskOptions {
        let set = self.peer_disk_set(node_name, peer, volume);
        let rate = number(&set, "c-max-rate");
        PeerDiskOptions {
            c_max_rate_bytes: (rate > 0).then_some(rate * 1024),
            peer_tiebreaker: flag(&set, "peer-tiebreaker"),
        }
    }

    /// What was said of the volume between the two nodes, as the first one sees it.
    pub(crate) fn peer_disk_set(&self, node_name: &str, peer: &str, volume: u16) -> OptionSet {
        let mut set = self.volume_set(node_name, volume);
        if let Some(connection) = self.connection_between(node_name, peer) {
            set = set.overlaid(&connection.disk);
            if let Some(own) = connection.volumes.iter().find(|own| own.number == volume) {
                set = set.overlaid(&own.disk);
            }
        }
        let there = self.host_by_name(peer).and_then(|host| host.volume(volume));
        if there.is_some_and(|volume| volume.is_tiebreaker == Some(false)) {
            // The peer's own `tiebreaker no`, to each of the others.
            set.set(spec_of("peer-tiebreaker").expect("a row of the table"), Value::Flag(false));
        }
        set
    }

    fn volume_set(&self, node_name: &str, volume: u16) -> OptionSet {
        match self.host_by_name(node_name).and_then(|host| host.volume(volume)) {
            Some(own) => self.disk.overlaid(&own.options),
            None => self.disk.clone(),
        }
    }
}

fn patience(set: &OptionSet) -> Patience {
    let is_said = set.given("timeout").is_some() || set.given("ko-count").is_some();
    match number(set, "ko-count") {
        _ if !is_said => Patience::Own,
        0 => Patience::Endless,
        count => Patience::Milliseconds(number(set, "timeout") * 100 * count),
    }
}

fn cores_of_mask(mask: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for (group, digits) in mask.rsplit(',').enumerate() {
        if digits.len() > 8 && mask.contains(',') {
            return None;
        }
        for (place, digit) in digits.chars().rev().enumerate() {
            let bits = digit.to_digit(16)?;
            let first = 32 * group + 4 * place;
            cores.extend((0..4).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit));
        }
    }
    cores.sort_unstable();
    (!cores.is_empty()).then_some(cores)
}

fn quorum(set: &OptionSet, name: &str) -> Quorum {
    let value = set.value(name).expect("it has a default");
    if let Some(count) = value.as_number() {
        return Quorum::AtLeast(u8::try_from(count).expect("quorum is at most 32"));
    }
    match value.to_string().as_str() {
        "off" => Quorum::Off,
        "all" => Quorum::All,
        _ => Quorum::Majority,
    }
}

fn read_balancing(word: &str) -> ReadBalancing {
    match word {
        "prefer-remote" => ReadBalancing::PreferRemote,
        "round-robin" => ReadBalancing::RoundRobin,
        "least-pending" => ReadBalancing::LeastPending,
        "32K-striping" => ReadBalancing::Striping { kib: 32 },
        "64K-striping" => ReadBalancing::Striping { kib: 64 },
        "128K-striping" => ReadBalancing::Striping { kib: 128 },
        "256K-striping" => ReadBalancing::Striping { kib: 256 },
        "512K-striping" => ReadBalancing::Striping { kib: 512 },
        "1M-striping" => ReadBalancing::Striping { kib: 1024 },
        "weighted" => ReadBalancing::Weighted,
        _ => ReadBalancing::PreferLocal,
    }
}

fn word(set: &OptionSet, name: &str) -> String {
    set.value(name).expect("an option that is asked for has a default").to_string()
}

fn number(set: &OptionSet, name: &str) -> u64 {
    set.value(name).as_ref().and_then(Value::as_number).expect("it is a number with a default")
}

fn flag(set: &OptionSet, name: &str) -> bool {
    set.value(name).as_ref().and_then(Value::as_flag).expect("it is a flag with a default")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_name_cores() {
        assert_eq!(cores_of_mask("1"), Some(vec![0]));
        assert_eq!(cores_of_mask("f0"), Some(vec![4, 5, 6, 7]));
        assert_eq!(cores_of_mask("1,00000003"), Some(vec![0, 1, 32]));
        assert_eq!(cores_of_mask("100000003"), Some(vec![0, 1, 32]), "without a comma");
        for nothing in ["", "0", "0,0", "0x3", "fz", "1,000000003"] {
            assert_eq!(cores_of_mask(nothing), None, "{nothing:?}");
        }
    }
}
