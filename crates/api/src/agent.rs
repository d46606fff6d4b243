//! What the controller and the agents of the nodes say to each other, in JSON over HTTP and TLS.
//!
//! An agent calls. `POST /agent/v1/join` brings it in, once, with a join word; `GET
//! /agent/v1/document?after=REVISION` waits for what its node is to have, and `POST
//! /agent/v1/observed` says what it has. The certificate says which node speaks: no message does.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::cluster::PoolKind;

/// Longest time that a question for a newer document is kept.
pub const DOCUMENT_WAIT_MS: u64 = 2_000;
/// An agent says this often what its node has, even if nothing changed.
pub const OBSERVED_EVERY_MS: u64 = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The secret of the join word, in hexadecimal digits.
    pub secret: String,
    pub name: String,
    /// Of the machine, for the other nodes' data.
    pub address: IpAddr,
    pub data_port: u16,
    /// Where its daemon serves NBD clients of that machine: a URI with [`VOLUME`] for the name.
    pub nbd: String,
    /// A point of the curve P-256, not compressed, in hexadecimal digits.
    pub public_key: String,
    pub pool: Option<JoinPool>,
}

/// The first pool of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinPool {
    pub name: String,
    pub kind: PoolKind,
    pub location: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    pub cluster: String,
    pub node: String,
    /// In PEM.
    pub certificate: String,
    pub authority: String,
}

/// What a node is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub revision: u64,
    pub pools: Vec<WantedPool>,
    pub volumes: Vec<WantedVolume>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedPool {
    pub id: String,
    pub kind: PoolKind,
    pub location: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedVolume {
    pub id: String,
    /// As the daemon calls the resource.
    pub name: String,
    pub want: Want,
    /// Text of a `.res` file with this resource alone; empty of one that is to go. In it
    /// [`data_path`] and [`metadata_path`] stand for the files of this node.
    pub config_text: String,
    /// One for each of its parts; none of a witness.
    pub disks: Vec<WantedDisk>,
    /// The part that this node's daemon is to make larger. The controller sets it on one node
    /// alone, and clears it with the end of the operation.
    #[serde(default)]
    pub grow_to: Option<WantedSize>,
}

/// In place of the name of a volume in a URI.
pub const VOLUME: &str = "VOLUME";
/// Parts of a volume, each a device of its own with one role and one history.
pub const PARTS_MAX: usize = 16;

/// In place of the path of the data of a part.
#[must_use]
pub fn data_path(number: u16) -> String {
    format!("/basalt/{number}/data")
}

/// In place of the path of its metadata.
#[must_use]
pub fn metadata_path(number: u16) -> String {
    format!("/basalt/{number}/metadata")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// Up, and no more.
    Up,
    /// Up; and this node says that all replicas are equal, once all are connected.
    Birth,
    /// Up, and the role Primary here.
    Attached,
    /// Down, and its disk as it is: the others are to go on without it first.
    Leave,
    /// Down, and nothing of it left.
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedDisk {
    /// Of the part, as its section `volume` in the text.
    pub number: u16,
    /// Of the pool.
    pub pool: String,
    pub size_bytes: u64,
    /// It is to be made if it is not there. Of a volume that was born its loss is told: a file
    /// system that is not mounted looks the same.
    pub new: bool,
}

/// A part becomes larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedSize {
    pub number: u16,
    pub size_bytes: u64,
}

/// What a node has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Of the document that this is after.
    pub revision: u64,
    /// Why the agent cannot work: the daemon does not answer, say.
    pub problem: Option<String>,
    pub pools: Vec<ObservedPool>,
    pub volumes: Vec<ObservedVolume>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedPool {
    pub id: String,
    pub total_bytes: u64,
    pub free_bytes: u64,
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedVolume {
    pub id: String,
    pub state: ObservedState,
    /// DRBD's words; empty while it is not up.
    pub disk: String,
    pub role: String,
    pub in_use: bool,
    /// All peers of the resource are connected.
    pub connected: bool,
    /// Another node that the daemon knows to be Primary.
    #[serde(default)]
    pub primary_peer: Option<String>,
    /// Nodes that the daemon's configuration of it has beside this one.
    #[serde(default)]
    pub peers: Vec<String>,
    /// Nodes that must acknowledge a write, as the daemon knows; empty while it knows none, or is
    /// out of touch with whoever leads and with a quorum.
    #[serde(default)]
    pub insync: Vec<String>,
    /// Bytes that clients have of the part that this node is to make larger; absent else, and while
    /// that is not known.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Share of the disk that is in sync, in thousandths, while it gets what others have.
    #[serde(default)]
    pub synced: Option<u16>,
    pub problem: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservedState {
    /// Its disk is made, or it comes up.
    Making,
    Up,
    /// Nothing of it is left.
    Gone,
}
