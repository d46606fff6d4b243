//! A node's answer to a command.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::status::StatusReply;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    Ok(Reply),
    Err(Failure),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// It is so now. `warnings` tell what is understood but changes nothing.
    Done {
        #[serde(default)]
        warnings: Vec<String>,
    },
    /// The steps that `adjust` took, or would take, in drbdsetup's words; none if nothing differed.
    Adjusted {
        changes: Vec<String>,
        #[serde(default)]
        warnings: Vec<String>,
    },
    Status(StatusReply),
    Running(RunningReply),
}

/// What `Show` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunningReply {
    /// The name of this node in the texts.
    pub node: String,
    /// In order of name.
    pub resources: Vec<Running>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Running {
    pub resource: String,
    /// Canonical `.res` text.
    pub config_text: String,
}

impl Reply {
    #[must_use]
    pub fn done() -> Self {
        Self::Done { warnings: Vec::new() }
    }
}

/// Why a command was not carried out. The running state is as before, unless it takes longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    pub code: FailureCode,
    /// What failed and where, with the values; lower case, no full stop.
    pub message: String,
    /// What to try next; empty if there is nothing better to say than the message.
    #[serde(default)]
    pub hint: String,
}

impl Failure {
    #[must_use]
    pub fn new(code: FailureCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " ({})", self.hint) }
    }
}

/// The class of a failure: what a script acts on. DRBD's number of it is in [`Self::drbd_number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailureCode {
    /// The request could not be read: not JSON, an unknown verb, a line too long.
    BadRequest,
    /// The daemon speaks another version of this contract.
    VersionMismatch,
    UnknownResource,
    UnknownPeer,
    /// The `.res` text does not parse, or asks for what this daemon cannot do safely.
    InvalidConfig,
    /// The resource has no `on` section for this node.
    NotOnThisNode,
    /// An address or a port is taken, or not of this machine.
    AddressInUse,
    /// The backing disk has no metadata of ours.
    NoMetadata,
    /// The metadata is of another resource, node or size.
    MetadataMismatch,
    /// A disk is attached already.
    AlreadyAttached,
    /// The disk is missing, too small, in use, or answered with an error.
    DiskFailed,
    /// Another node is Primary.
    MultiplePrimaries,
    NoUpToDateData,
    NoLocalDisk,
    NoQuorum,
    /// A client still has the volume open.
    DeviceInUse,
    /// A peer refused the change.
    PeerRefused,
    Timeout,
    /// It takes longer than whoever asked waits, and goes on.
    Unfinished,
    /// Understood, not possible in the present state, and none of the above.
    StateRefused,
    /// Not built.
    NotSupported,
    /// A failure of the daemon itself.
    Internal,
    /// A code of a newer daemon.
    #[serde(other)]
    Other,
}

impl FailureCode {
    /// The number that DRBD gives to this refused change of state, negative as DRBD prints it.
    #[must_use]
    pub fn drbd_number(self) -> Option<i32> {
        match self {
            Self::MultiplePrimaries => Some(-1),
            Self::NoUpToDateData => Some(-2),
            Self::NoLocalDisk => Some(-4),
            Self::PeerRefused => Some(-10),
            Self::DeviceInUse => Some(-12),
            Self::Timeout => Some(-23),
            Self::NoQuorum => Some(-25),
            Self::BadRequest
            | Self::VersionMismatch
            | Self::UnknownResource
            | Self::UnknownPeer
            | Self::InvalidConfig
            | Self::NotOnThisNode
            | Self::AddressInUse
            | Self::NoMetadata
            | Self::MetadataMismatch
            | Self::AlreadyAttached
            | Self::DiskFailed
            | Self::Unfinished
            | Self::StateRefused
            | Self::NotSupported
            | Self::Internal
            | Self::Other => None,
        }
    }
}
