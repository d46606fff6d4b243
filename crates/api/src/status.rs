//! The status of a node's resources: DRBD's `status --json`, then our own fields.
//!
//! Units are in DRBD's way: sizes and traffic in KiB, in-flight and `rs-` amounts in sectors of
//! 512 bytes. Statistics are `None` where the caller did not ask for them or there are none.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::connection_state::ConnectionState;
use crate::disk_state::DiskState;
use crate::latency::LatencyHistogram;
use crate::replication_state::ReplicationState;
use crate::role::Role;
use crate::write_ordering::WriteOrdering;

/// What DRBD reports for `estimated-seconds-to-finish` of a resync that does not move.
pub const STALLED_SECONDS: u64 = 987_654_321;

/// A reason begins so where requests of clients fail now.
pub const REQUESTS_FAIL: &str = "requests of clients fail";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusReply {
    pub node: NodeStatus,
    pub resources: Vec<ResourceStatus>,
}

/// The daemon itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct NodeStatus {
    /// The name that `on` sections call this node.
    pub name: String,
    pub version: String,
    /// `io_uring` or `poll`.
    pub io_backend: String,
    pub uptime_ms: u64,
    /// When other nodes stop to take this node's certificate, in seconds of the Unix epoch; the
    /// node sets this once it has read one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_end: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct ResourceStatus {
    pub name: String,
    pub node_id: u8,
    pub role: Role,
    /// Any of the four below.
    pub suspended: bool,
    pub suspended_user: bool,
    pub suspended_no_data: bool,
    pub suspended_fencing: bool,
    pub suspended_quorum: bool,
    pub force_io_failures: bool,
    pub write_ordering: WriteOrdering,
    pub devices: Vec<DeviceStatus>,
    pub connections: Vec<ConnectionStatus>,

    // Beyond DRBD's JSON, though in its events.
    /// A promotion of some node would be allowed as things stand.
    pub may_promote: bool,
    /// How well this node would do as Primary: see [`crate::events::promotion`].
    pub promotion_score: u64,

    // Beyond DRBD's.
    /// As `NodeStatus::io_backend`; empty from a daemon that does not say.
    pub io_backend: String,
    /// Why the state is not the good one, one sentence each; shown to the operator as they are.
    pub reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quorum_votes: Option<QuorumVotes>,
    /// The options decide this of a Primary without a quorum; absent from an older daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_quorum: Option<WithoutQuorum>,
    /// Requests of clients are answered with errors now, by `on-no-quorum` or
    /// `on-no-data-accessible`. The home shard of a Primary sets this, and clears it when requests
    /// go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fails_requests: bool,
    /// The last comparison of the replicas that this node led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseStatus>,
    /// The newest link of the config chain that this node knows to be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<EpochStatus>,
    /// The handlers that were called since the resource came up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<HandlerStatus>,
    /// What the configuration says and the daemon does not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_in_effect: Vec<String>,
    /// Counters of the node's shards, with `statistics`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<ShardStatus>,
}

impl ResourceStatus {
    /// A reason says that nobody brings the replica of this peer up to date as it is.
    #[must_use]
    pub fn stays_away(&self, peer: &str) -> bool {
        let starts = [
            format!("the replica of {peer} stays away"),
            format!("the data of {peer} has another history"),
        ];
        self.reasons.iter().any(|it| starts.iter().any(|start| it.starts_with(start)))
    }

    /// What requests are held back for: `no`, or the causes with commas.
    #[must_use]
    pub fn suspended_word(&self) -> String {
        let causes = [
            (self.suspended_user, "user"),
            (self.suspended_no_data, "no-data"),
            (self.suspended_fencing, "fencing"),
            (self.suspended_quorum, "quorum"),
        ];
        let words: Vec<&str> =
            causes.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect();
        if words.is_empty() { "no".to_owned() } else { words.join(",") }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct DeviceStatus {
    pub volume: u16,
    pub minor: u32,
    pub disk_state: DiskState,
    /// Without a disk by configuration.
    pub client: bool,
    pub open: bool,
    pub quorum: bool,
    #[serde(flatten)]
    pub statistics: Option<DeviceStatistics>,

    // Beyond DRBD's JSON, though in its text.
    /// Path of the backing disk or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_dev: Option<String>,
    pub al_suspended: bool,
    pub blocked: Blocked,
    /// Of writes since the resource came up, from their last byte to their answer; with
    /// `statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency: Option<LatencyHistogram>,
    /// What the disk of this node did for reads of this node; with `statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadsServed>,
    /// Who has it open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    /// Why the disk is out of use, or is going to be; until one is attached again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_failure: Option<DiskFailure>,
    /// How the disk is written: `io_uring`, `pwrite`, or `threads` where io_uring is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_io: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct DeviceStatistics {
    /// KiB.
    pub size: u64,
    /// KiB since the disk was attached.
    pub read: u64,
    /// KiB since the disk was attached.
    pub written: u64,
    pub al_writes: u64,
    pub bm_writes: u64,
    /// Requests of clients that are not answered yet.
    pub upper_pending: u32,
    /// Requests that the disk has not answered yet.
    pub lower_pending: u32,
}

/// A request that a disk failed, at the cost of its replica. The shard that saw it sets this; the
/// next attach clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct DiskFailure {
    /// Path of the disk: that of the data, or of the metadata.
    pub disk: String,
    /// The kind of request that the disk failed, in words: "a write to the disk".
    pub request: String,
    /// The error of the request, in the words of the system.
    pub error: String,
    /// An operator looks at this before the disk is attached again; one clause.
    pub hint: String,
    /// Milliseconds from that to the answer of the node.
    pub age_ms: u64,
}

/// What one replica did for the reads of this node's clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct ReadsServed {
    /// Since the resource came up.
    pub served: u64,
    pub in_flight: u32,
    /// How long they take lately, of the shard where they take longest.
    pub latency_us: u64,
}

/// A client that has a volume open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct Holder {
    /// Where it comes from, if it came over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The process, if it came over a unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of that process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Requests that are not answered yet.
    pub requests: u32,
}

/// What holds up requests of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Blocked {
    #[default]
    #[serde(rename = "no")]
    No,
    #[serde(rename = "upper")]
    Upper,
    #[serde(rename = "lower")]
    Lower,
    #[serde(rename = "upper,lower")]
    Both,
}

impl Blocked {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Both => "upper,lower",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct ConnectionStatus {
    pub peer_node_id: u8,
    /// The peer's name.
    pub name: String,
    pub connection_state: ConnectionState,
    pub congested: bool,
    pub peer_role: Role,
    pub tls: bool,
    /// `A` or `B` where a write counts for the client once it was sent, or received, over this
    /// connection; not there where it has to be written, as with `C`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Sectors of application writes sent and not acknowledged.
    pub ap_in_flight: u64,
    /// Sectors of resync sent and not acknowledged.
    pub rs_in_flight: u64,
    pub paths: Vec<PathStatus>,
    /// There while this node, which leads, asks the peer back later: its connection broke again and
    /// again soon after it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_again: Option<LostAgainStatus>,
    #[serde(rename = "peer_devices")]
    pub peer_devices: Vec<PeerDeviceStatus>,
    /// Both nodes went on by themselves after they lost each other: one has to give way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split_brain: bool,
    /// For how many milliseconds no link to the peer has been up; the links of the node set it, and
    /// it is absent while one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_ms: Option<u64>,
    /// Why it is not connected: the last error, or the peer's refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct LostAgainStatus {
    /// How often, one after the other.
    pub losses: u32,
    /// Until it is asked back.
    pub rest_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathStatus {
    pub this_host: Endpoint,
    pub remote_host: Endpoint,
    /// It works, as far as is known.
    pub established: bool,
    /// It carries what the nodes say; others wait, and are watched.
    #[serde(default, rename = "in-use", skip_serializing_if = "std::ops::Not::not")]
    pub in_use: bool,
    /// How long it has not worked.
    #[serde(default, rename = "down-ms", skip_serializing_if = "Option::is_none")]
    pub down_ms: Option<u64>,
    /// Why it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Endpoint {
    pub address: String,
    pub port: u16,
    /// `ipv4` or `ipv6`.
    pub family: String,
}

impl From<std::net::SocketAddr> for Endpoint {
    fn from(address: std::net::SocketAddr) -> Self {
        let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
        Self { address: address.ip().to_string(), port: address.port(), family: family.to_owned() }
    }
}

impl Endpoint {
    /// An operator types this to see whether the network loses large packets on the way there.
    #[must_use]
    pub fn how_to_see_large_packets(&self) -> String {
        // A packet of 1,500 bytes has room for so many bytes behind its headers.
        let bytes = if self.family == "ipv6" { 1452 } else { 1472 };
        format!(
            "see whether `ping -M do -s {bytes} {}` is answered, with 7500 more for jumbo frames, \
             and the same from there",
            self.address
        )
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct PeerDeviceStatus {
    pub volume: u16,
    pub replication_state: ReplicationState,
    pub peer_disk_state: DiskState,
    pub peer_client: bool,
    /// Why the peer's disk is out of use, as the peer says; without its path and a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_failure: Option<DiskFailure>,
    /// `no`, or the causes with commas: `user,peer,dependency,max-parallel`.
    pub resync_suspended: String,
    /// KiB.
    pub received: u64,
    /// KiB.
    pub sent: u64,
    /// KiB.
    pub out_of_sync: u64,
    pub pending: u32,
    pub unacked: u32,
    /// True where `sync` is present: see [`Self::with_sync`].
    pub has_sync_details: bool,
    pub has_online_verify_details: bool,
    #[serde(serialize_with = "two_decimals")]
    pub percent_in_sync: f64,
    #[serde(flatten)]
    pub sync: Option<SyncDetails>,

    // Beyond DRBD's.
    /// From sending a write to its acknowledgement, of one write at a time; with `statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_latency: Option<LatencyHistogram>,
    /// What the peer did for reads of this node; with `statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReadsServed>,
}

impl ReadsServed {
    /// Adds what another shard counted.
    pub fn add(&mut self, other: &Self) {
        self.served += other.served;
        self.in_flight += other.in_flight;
        self.latency_us = self.latency_us.max(other.latency_us);
    }
}

impl Default for PeerDeviceStatus {
    fn default() -> Self {
        Self {
            volume: 0,
            replication_state: ReplicationState::Off,
            peer_disk_state: DiskState::DUnknown,
            peer_client: false,
            disk_failure: None,
            resync_suspended: "no".to_owned(),
            received: 0,
            sent: 0,
            out_of_sync: 0,
            pending: 0,
            unacked: 0,
            has_sync_details: false,
            has_online_verify_details: false,
            percent_in_sync: 100.0,
            sync: None,
            ack_latency: None,
            reads: None,
        }
    }
}

impl PeerDeviceStatus {
    /// How far a resync is, where there is one and that is known: an older peer does not tell its
    /// target.
    #[must_use]
    pub fn done_percent(&self) -> Option<f64> {
        let known = self.replication_state.has_progress() && self.percent_in_sync < 100.0;
        self.sync
            .as_ref()
            .map(|sync| sync.percent_resync_done)
            .or_else(|| known.then_some(self.percent_in_sync))
    }

    /// Adds the progress of a resync.
    #[must_use]
    pub fn with_sync(mut self, sync: SyncDetails) -> Self {
        self.has_sync_details = true;
        self.sync = Some(sync);
        self
    }
}

/// Progress of one resync. Rates are in MiB/s: over all of it, over the last seconds (`db1`), and
/// over the last tick (`db0`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SyncDetails {
    /// Sectors that were to be copied when it began.
    pub rs_total: u64,
    pub rs_dt_start_ms: u64,
    pub rs_paused_ms: u64,
    pub rs_dt0_ms: u64,
    pub rs_db0_sectors: u64,
    pub rs_dt1_ms: u64,
    pub rs_db1_sectors: u64,
    pub rs_failed: u64,
    /// Sectors found equal by checksum, so not sent.
    pub rs_same_csum: u64,
    #[serde(serialize_with = "two_decimals")]
    pub want: f64,
    #[serde(rename = "db0/dt0 [MiB/s]", serialize_with = "two_decimals")]
    pub rate_tick: f64,
    #[serde(rename = "db1/dt1 [MiB/s]", serialize_with = "two_decimals")]
    pub rate_recent: f64,
    /// [`STALLED_SECONDS`] if it does not move.
    pub estimated_seconds_to_finish: u64,
    #[serde(rename = "db/dt [MiB/s]", serialize_with = "two_decimals")]
    pub rate_overall: f64,
    #[serde(serialize_with = "two_decimals")]
    pub percent_resync_done: f64,
}

/// A comparison of the replicas. All but names and times are KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct VerifyReport {
    /// `waiting`, `running`, `done`, `interrupted`.
    pub state: String,
    /// The only one that it is about, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<u16>,
    pub start: u64,
    pub stop: u64,
    /// All before it is compared: where to go on.
    pub position: u64,
    pub verified: u64,
    /// Nobody was there to compare with.
    pub skipped: u64,
    pub repaired: bool,
    /// The nodes whose replicas differ, and how much of them.
    pub differing: Vec<(String, u64)>,
    /// Milliseconds from its beginning to the answer of the node, which sets this each time.
    pub age_ms: u64,
    /// Milliseconds from its beginning to its end, or to the answer while it waits or runs. The
    /// node sets this each time.
    pub took_ms: u64,
    /// Milliseconds from its end to the answer of the node, which sets this each time; absent while
    /// it waits or runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_age_ms: Option<u64>,
}

impl VerifyReport {
    /// This report without its times: two that tell of the same comparison are equal so.
    #[must_use]
    pub fn without_times(&self) -> Self {
        Self { age_ms: 0, took_ms: 0, ended_age_ms: None, ..self.clone() }
    }
}

/// What came of the calls of one handler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct HandlerStatus {
    pub name: String,
    /// Those that ended.
    pub calls: u64,
    /// Those that ended with another status than 0, or not by themselves.
    pub failures: u64,
    /// It is running, or waits for its turn.
    pub pending: u32,
    /// Of the last call; see [`crate::events::HelperCall::status`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u8>,
}

/// Who votes in this resource, and who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct QuorumVotes {
    /// Of the voters that there are, or will be when a change of them is complete.
    pub have: u32,
    pub needed: u32,
    /// Those, and the ones that retire.
    pub voters: Vec<VoterStatus>,
    /// Present while a change of the voters is under way: a majority of those before it is needed
    /// as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_change: Option<VotesBefore>,
}

/// The options decide so much of a Primary that has no quorum. The node fills it in from the
/// configuration at each question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct WithoutQuorum {
    pub requests: RequestsWithoutQuorum,
    pub goes_on: GoesOn,
}

/// `on-no-quorum` decides this of the requests that clients make meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestsWithoutQuorum {
    Wait,
    Fail,
}

/// Whether the node goes on by its own vote alone: `quorum` and `fencing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GoesOn {
    No,
    /// `quorum off`.
    Alone,
    /// `quorum off`, once `fence-peer` says that the others are out, or that nobody reaches them.
    Fenced,
    /// With two voters, once `fence-peer` says that the other one is out.
    Proved,
}

/// Of the voters that do not join by the change under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct VotesBefore {
    pub have: u32,
    pub needed: u32,
}

impl QuorumVotes {
    /// The voters that count from the change under way on, if there is one.
    pub fn staying(&self) -> impl Iterator<Item = &VoterStatus> {
        self.voters.iter().filter(|voter| !voter.retiring)
    }

    /// Those of before it.
    pub fn former(&self) -> impl Iterator<Item = &VoterStatus> {
        self.voters.iter().filter(|voter| !voter.joining)
    }

    /// How many may be lost before there is no majority; less than none if there is none.
    #[must_use]
    pub fn margin(&self) -> i64 {
        let left = |have: u32, needed: u32| i64::from(have) - i64::from(needed);
        let before = self.before_change.map(|before| left(before.have, before.needed));
        let now = left(self.have, self.needed);
        before.map_or(now, |before| before.min(now))
    }
}

/// What decides, and who is missing of it.
impl fmt::Display for QuorumVotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (have, needed) = (self.have, self.needed);
        write!(f, "{have} of {} voters answer, {needed} are needed", self.staying().count())?;
        write_missing(f, self.staying())?;
        let Some(VotesBefore { have, needed }) = self.before_change else { return Ok(()) };
        let all = self.former().count();
        write!(
            f,
            "; the voters change, and of the {all} before {have} answer, {needed} are needed"
        )?;
        write_missing(f, self.former())
    }
}

fn write_missing<'a>(
    f: &mut fmt::Formatter<'_>,
    voters: impl Iterator<Item = &'a VoterStatus>,
) -> fmt::Result {
    let missing = voters.filter(|voter| !voter.present).map(|voter| voter.name.as_str());
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() { Ok(()) } else { write!(f, " (missing: {})", missing.join(", ")) }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct VoterStatus {
    pub node_id: u8,
    pub name: String,
    pub present: bool,
    /// It votes, and holds no data.
    pub witness: bool,
    /// It votes only until a change of the voters is complete.
    pub retiring: bool,
    /// It is one of those whom that change adds.
    pub joining: bool,
}

/// The primary's right to serve reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct LeaseStatus {
    pub held: bool,
    pub remaining_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct EpochStatus {
    /// Sixteen hexadecimal digits.
    pub branch: String,
    pub epoch: u64,
    /// Names of the members that must acknowledge a write.
    pub insync: Vec<String>,
    /// The node whose clients are served by this link, as far as is known here: it may have ended
    /// since, and need not be in reach. Absent where the link names nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<String>,
    /// Grows when a promotion may have lost completed writes.
    pub losses: u32,
    /// It grew, and clients that cannot tell are refused until `reopen`.
    pub awaits_reopen: bool,
    /// For how long neither a quorum nor the leader was in reach: all this is of then. Absent while
    /// one of them is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

/// Counters of one data-plane thread since it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct ShardStatus {
    pub shard: u8,
    /// Rounds of the event loop that had work.
    pub turns: u64,
    /// Calls of `io_uring_enter`; of the `poll` back end, all calls for sockets and waiting.
    pub enters: u64,
    pub peers: Vec<ShardPeerStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct ShardPeerStatus {
    pub name: String,
    pub sendmsg: u64,
}

/// DRBD prints two decimals; more would only be noise in a comparison of two outputs.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn two_decimals<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn resource_has_exactly_drbds_names_and_ours() {
        let drbds = [
            "name",
            "node-id",
            "role",
            "suspended",
            "suspended-user",
            "suspended-no-data",
            "suspended-fencing",
            "suspended-quorum",
            "force-io-failures",
            "write-ordering",
            "devices",
            "connections",
        ];
        let ours = ["may-promote", "promotion-score", "io-backend", "reasons"];
        let value = serde_json::to_value(ResourceStatus::default()).unwrap();
        assert_eq!(keys(&value), drbds.into_iter().chain(ours).collect());
    }

    #[test]
    fn syncing_peer_device_has_exactly_drbds_names() {
        let sync = SyncDetails { rate_recent: 98.396, ..SyncDetails::default() };
        let peer_device = PeerDeviceStatus::default().with_sync(sync);
        let text = serde_json::to_string(&peer_device).unwrap();
        assert_eq!(
            text,
            "{\"volume\":0,\"replication-state\":\"Off\",\"peer-disk-state\":\"DUnknown\",\
             \"peer-client\":false,\"resync-suspended\":\"no\",\"received\":0,\"sent\":0,\
             \"out-of-sync\":0,\"pending\":0,\"unacked\":0,\"has-sync-details\":true,\
             \"has-online-verify-details\":false,\"percent-in-sync\":100.0,\"rs-total\":0,\
             \"rs-dt-start-ms\":0,\"rs-paused-ms\":0,\"rs-dt0-ms\":0,\"rs-db0-sectors\":0,\
             \"rs-dt1-ms\":0,\"rs-db1-sectors\":0,\"rs-failed\":0,\"rs-same-csum\":0,\
             \"want\":0.0,\"db0/dt0 [MiB/s]\":0.0,\"db1/dt1 [MiB/s]\":98.4,\
             \"estimated-seconds-to-finish\":0,\"db/dt [MiB/s]\":0.0,\
             \"percent-resync-done\":0.0}"
        );
    }

    #[test]
    fn status_with_and_without_statistics_reads_back() {
        let mut resource = ResourceStatus {
            devices: vec![DeviceStatus::default()],
            connections: vec![ConnectionStatus {
                peer_devices: vec![PeerDeviceStatus::default()],
                paths: vec![PathStatus::default()],
                ..ConnectionStatus::default()
            }],
            ..ResourceStatus::default()
        };
        for _ in 0..2 {
            let text = serde_json::to_string(&resource).unwrap();
            assert_eq!(serde_json::from_str::<ResourceStatus>(&text).unwrap(), resource);
            resource.devices[0].statistics = Some(DeviceStatistics::default());
            resource.connections[0].peer_devices[0].sync = Some(SyncDetails::default());
            resource.shards.push(ShardStatus::default());
        }
    }
}
