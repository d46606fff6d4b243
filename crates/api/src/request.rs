//! Commands from an operator to a node.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Version of the contract of this crate; raised when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;
/// What an answer may take on its way.
const ANSWER_MARGIN_MAX: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Request {
    pub version: u32,
    /// How long whoever asks waits for the answer, in milliseconds. A command that takes longer is
    /// answered before that: it goes on ([`FailureCode::Unfinished`]).
    ///
    /// [`FailureCode::Unfinished`]: crate::response::FailureCode::Unfinished
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<u64>,
    pub command: Command,
}

impl Request {
    #[must_use]
    pub fn new(command: Command) -> Self {
        Self { version: VERSION, within_ms: None, command }
    }

    #[must_use]
    pub fn within(self, wait: Duration) -> Self {
        Self { within_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)), ..self }
    }

    /// When the answer is to be there at the latest, from when it was asked: a little before
    /// nobody waits any more.
    #[must_use]
    pub fn answered_within(&self) -> Option<Duration> {
        let wait = Duration::from_millis(self.within_ms?);
        Some(wait - ANSWER_MARGIN_MAX.min(wait / 10))
    }
}

/// What the daemon is asked to do. Every command but `Status`, `Events`, `Show` and `Shutdown`
/// names one resource; each may be repeated: a state that already holds is success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Command {
    /// Configures the resource from `config_text` (canonical `.res` text of exactly this one),
    /// attaches its disk and connects. The text is stored and used again after a restart.
    /// With `fresh` it is refused where the node keeps the vote of a resource of this name.
    Up {
        resource: String,
        config_text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fresh: bool,
    },
    /// As `Up`, but the disk stays out of use and no peer is called: `Attach` and `Connect`, or
    /// `Adjust`, do the rest. One that is up stays as it is.
    NewResource {
        resource: String,
        config_text: String,
    },
    /// Takes the resource down and forgets its stored text. Refused while it is Primary and in
    /// use, unless `force`.
    Down {
        resource: String,
        force: bool,
    },
    /// Removes what the node keeps of a resource that is down: its vote above all. It is for one
    /// that is deleted everywhere: a new one of its name begins without the old one's votes.
    Forget {
        resource: String,
    },
    /// Makes the running state follow `config_text`: also a disk that was detached, and a peer that
    /// was disconnected; with `dry_run` only tells what would change.
    Adjust {
        resource: String,
        config_text: String,
        dry_run: bool,
        #[serde(default)]
        scope: AdjustScope,
    },
    Attach {
        resource: String,
    },
    /// `force` does not wait for requests that the disk still owes.
    Detach {
        resource: String,
        force: bool,
    },
    /// To `peer` (a node's name), or to all. With `discard_my_data`: after a split brain what this
    /// node wrote since then is given up.
    Connect {
        resource: String,
        peer: Option<String>,
        #[serde(default)]
        discard_my_data: bool,
    },
    Disconnect {
        resource: String,
        peer: Option<String>,
        force: bool,
    },
    /// With `force`: takes the role although no replica is known to be up to date. Starts a new
    /// branch of history.
    Primary {
        resource: String,
        force: bool,
    },
    /// Birth of a volume without a copy: the operator says that all replicas hold the same, which
    /// fresh zeros do. Refused once the volume has data, and unless all peers are connected.
    NewCurrentUuid {
        resource: String,
    },
    /// With `force`: fails the requests that are still open.
    Secondary {
        resource: String,
        force: bool,
    },
    /// Of the named resources, or of all if none is named. Unknown names are a failure.
    Status {
        resources: Vec<String>,
        statistics: bool,
    },
    /// Tells of every change of the named resources, or of all, until the connection ends: see
    /// [`crate::subscription`]. With `statistics` the states come with counters.
    Events {
        resources: Vec<String>,
        statistics: bool,
    },
    /// The configuration that the named resources run with, or all that are up.
    Show {
        resources: Vec<String>,
    },
    /// Gives up the data of the local replica and copies it all again from a peer.
    Invalidate {
        resource: String,
    },
    /// Compares the replicas while they are in use, from byte `start` to byte `stop`; with `repair`
    /// what differs is made equal. Of a volume, or of all of them from end to end.
    Verify {
        resource: String,
        #[serde(default)]
        volume: Option<u16>,
        start: Option<u64>,
        stop: Option<u64>,
        repair: bool,
    },
    /// Keeps what clients ask for from now on, once what is under way is done.
    SuspendIo {
        resource: String,
    },
    /// Lets it go on.
    ResumeIo {
        resource: String,
    },
    /// After losses: lets clients go on that cannot tell of them.
    Reopen {
        resource: String,
    },
    /// Makes a volume larger while it is in use: `size` in bytes, or all that the replicas have
    /// room for. With `assume_clean` the new area stays as it is.
    Resize {
        resource: String,
        /// Where the resource has several.
        volume: Option<u16>,
        size: Option<u64>,
        assume_clean: bool,
    },
    /// Demotes, flushes and ends the daemon.
    Shutdown,
}

/// What `Adjust` is about; without anything said, all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdjustScope {
    /// A disk that is out of use stays so.
    #[serde(default)]
    pub skip_disk: bool,
    /// A peer that is disconnected stays so.
    #[serde(default)]
    pub skip_net: bool,
    /// Of the peers that are disconnected, this one alone is connected; no disk is attached.
    #[serde(default)]
    pub peer: Option<String>,
}

impl Command {
    /// The verb as the operator types it.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Up { .. } => "up",
            Self::NewResource { .. } => "new-resource",
            Self::Down { .. } => "down",
            Self::Forget { .. } => "forget",
            Self::Adjust { .. } => "adjust",
            Self::Attach { .. } => "attach",
            Self::Detach { .. } => "detach",
            Self::Connect { .. } => "connect",
            Self::Disconnect { .. } => "disconnect",
            Self::Primary { .. } => "primary",
            Self::NewCurrentUuid { .. } => "new-current-uuid",
            Self::Secondary { .. } => "secondary",
            Self::Status { .. } => "status",
            Self::Events { .. } => "events",
            Self::Show { .. } => "show",
            Self::Invalidate { .. } => "invalidate",
            Self::Verify { .. } => "verify",
            Self::SuspendIo { .. } => "suspend-io",
            Self::ResumeIo { .. } => "resume-io",
            Self::Reopen { .. } => "reopen",
            Self::Resize { .. } => "resize",
            Self::Shutdown => "shutdown",
        }
    }

    /// It changes nothing.
    #[must_use]
    pub fn is_question(&self) -> bool {
        match self {
            Self::Status { .. } | Self::Events { .. } | Self::Show { .. } => true,
            Self::Up { .. }
            | Self::NewResource { .. }
            | Self::Down { .. }
            | Self::Forget { .. }
            | Self::Adjust { .. }
            | Self::Attach { .. }
            | Self::Detach { .. }
            | Self::Connect { .. }
            | Self::Disconnect { .. }
            | Self::Primary { .. }
            | Self::NewCurrentUuid { .. }
            | Self::Secondary { .. }
            | Self::Invalidate { .. }
            | Self::Verify { .. }
            | Self::SuspendIo { .. }
            | Self::ResumeIo { .. }
            | Self::Reopen { .. }
            | Self::Resize { .. }
            | Self::Shutdown => false,
        }
    }

    /// The one resource that the command names.
    #[must_use]
    pub fn resource(&self) -> Option<&str> {
        match self {
            Self::Up { resource, .. }
            | Self::NewResource { resource, .. }
            | Self::Down { resource, .. }
            | Self::Forget { resource }
            | Self::Adjust { resource, .. }
            | Self::Attach { resource }
            | Self::Detach { resource, .. }
            | Self::Connect { resource, .. }
            | Self::Disconnect { resource, .. }
            | Self::Primary { resource, .. }
            | Self::NewCurrentUuid { resource }
            | Self::Secondary { resource, .. }
            | Self::Invalidate { resource }
            | Self::SuspendIo { resource }
            | Self::ResumeIo { resource }
            | Self::Reopen { resource }
            | Self::Verify { resource, .. }
            | Self::Resize { resource, .. } => Some(resource),
            Self::Status { .. } | Self::Events { .. } | Self::Show { .. } | Self::Shutdown => None,
        }
    }
}
