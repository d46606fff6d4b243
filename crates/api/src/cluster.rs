//! The native API of the control plane, under `/basalt/v1`: what the controller and whoever asks it
//! say to each other, in JSON over HTTP.
//!
//! A volume here is what a `.res` file calls a resource. Sizes are in bytes, times in milliseconds
//! since 1970 where nothing else is said. Within version 1 fields are only ever added, and a reader
//! ignores fields that it does not know.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Where the controller answers unless it was told otherwise.
pub const LISTEN_DEFAULT: &str = "127.0.0.1:3370";
/// Where agents find it.
pub const AGENT_PORT_DEFAULT: u16 = 3372;

/// `GET cluster`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterView {
    pub id: String,
    /// Of the controller.
    pub version: String,
    /// Changes so far: one more with each.
    pub revision: u64,
    pub nodes: usize,
    pub volumes: usize,
}

/// An element of `GET nodes`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    pub id: String,
    pub name: String,
    pub address: String,
    /// Its agent was heard within the last seconds.
    pub online: bool,
    /// When its agent was heard last, milliseconds ago; absent if never since the controller began.
    pub heard_ms_ago: Option<u64>,
    /// What its agent cannot do, in words; absent if nothing is wrong.
    pub problem: Option<String>,
    pub pools: Vec<PoolView>,
}

/// An element of `GET pools`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolView {
    pub name: String,
    pub node: String,
    pub kind: PoolKind,
    /// The folder of one made of files.
    pub location: String,
    /// Of the file system; absent until the agent told.
    pub total_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    /// What its volumes may come to need, all together.
    pub promised_bytes: u64,
    pub replicas: usize,
}

/// How a pool keeps what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PoolKind {
    /// Files that are as large as their volumes from the start.
    File,
    /// Sparse files.
    FileThin,
}

/// `POST pools`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewPool {
    pub node: String,
    pub name: String,
    pub kind: PoolKind,
    pub location: String,
}

/// `POST volumes`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewVolume {
    pub name: String,
    pub size_bytes: u64,
    pub replicas: u8,
    /// Only pools of this name.
    #[serde(default)]
    pub pool: Option<String>,
    /// Only these nodes; none named: any.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// The node that is to have the device.
    #[serde(default)]
    pub attach: Option<String>,
    /// Only say where it would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer to `POST volumes`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// Absent of a dry run.
    pub operation: Option<u64>,
    /// Each pool that was looked at.
    pub candidates: Vec<Candidate>,
}

/// A place for a replica, and the rule that took or refused it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub node: String,
    /// Absent of a witness, and of a node without a pool.
    pub pool: Option<String>,
    pub taken: bool,
    pub rule: String,
}

/// `GET volumes/NAME`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeView {
    pub id: String,
    pub name: String,
    /// Of all its parts.
    pub size_bytes: u64,
    pub state: VolumeState,
    /// The operation that changes it now.
    pub operation: Option<u64>,
    pub placements: Vec<PlacementView>,
    pub attached_to: Option<String>,
    /// The same on all nodes; there where it is attached.
    pub device: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeState {
    /// On no node yet.
    Defined,
    Creating,
    Ready,
    Deleting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementKind {
    Replica,
    /// It votes, and has no data.
    Witness,
    /// It has the device and no data, for as long as the volume is attached to it.
    Client,
}

/// How far a node's part of a volume is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementStage {
    In,
    /// It gets what the others have, and does not count yet.
    Joining,
    /// It goes, once the others go on without it.
    Leaving,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementView {
    pub node: String,
    pub kind: PlacementKind,
    pub stage: PlacementStage,
    pub pool: Option<String>,
    /// DRBD's words; absent until the agent told.
    pub disk: Option<String>,
    pub role: Option<String>,
    /// Somebody has it open there.
    pub in_use: bool,
    /// Thousandths of its disk that are in sync, while others bring it the rest.
    pub synced: Option<u16>,
    /// What the agent waits for or failed at.
    pub problem: Option<String>,
    /// URIs that NBD clients on that node may use.
    pub nbd: Vec<String>,
}

/// `POST volumes/NAME/attach`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    pub node: String,
}

/// `POST volumes/NAME/grow`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grow {
    /// All of it, and not what is added.
    pub size_bytes: u64,
}

/// `POST volumes/NAME/replicas`, answered as `POST volumes`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewReplica {
    /// Only this node.
    #[serde(default)]
    pub node: Option<String>,
    /// Only pools of this name.
    #[serde(default)]
    pub pool: Option<String>,
    /// Only say where it would go.
    #[serde(default)]
    pub dry_run: bool,
}

/// The answer to a change that takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    pub operation: u64,
}

/// An element of `GET operations`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationView {
    pub id: u64,
    pub kind: OperationKind,
    /// The volume's name.
    pub object: String,
    pub state: OperationState,
    /// What it waits for, or why it failed.
    pub told: String,
    pub began_ms: u64,
    pub ended_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    Create,
    Delete,
    Attach,
    Detach,
    Grow,
    AddReplica,
    DropReplica,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationState {
    Running,
    Done,
    Failed,
}

/// `POST words`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewWord {
    pub valid_seconds: u32,
    /// Machines that it lets in.
    pub uses: u32,
}

/// The answer to it
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordView {
    pub word: String,
    pub expires_ms: u64,
    pub uses: u32,
}

/// In place of what was asked for, with a status of 4xx or 5xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// For programs: `not-found`, `exists`, `bad-request`, `no-place`, `in-use`, `busy`,
    /// `last-copy`, `forbidden`, `internal`.
    pub code: String,
    pub message: String,
    /// What to type.
    #[serde(rename = "try")]
    pub to_try: String,
    /// Where no place was found: each that was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// Whether an address is of this machine alone.
#[must_use]
pub fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().is_loopback()
}
