//! The options of a resource that say what the link to a peer is to be like.

use std::net::SocketAddr;
use std::time::Duration;

use config::effective::{NetOptions, Secret};
use format::message::ProofAlgorithm;

use crate::definition::Member;
use crate::limits::PEER_SILENT_MIN;

/// Whether what is said between two nodes can be read and forged by others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    #[default]
    ClearText,
    Tls,
}

impl Secrecy {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::ClearText => "in clear text",
            Self::Tls => "with TLS",
        }
    }
}

/// Over how many paths a link goes at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    #[default]
    One,
    /// Each pair of shards keeps to one path, so that no order changes; the pairs take turns.
    All,
}

/// How patient a link is to be, where the options of a connection say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTimes {
    pub(crate) silent_max: Option<Duration>,
    pub(crate) redial_max: Option<Duration>,
}

impl LinkTimes {
    /// DRBD asks a peer that says nothing for `ping-int`, and waits `ping-timeout` for the answer.
    pub(crate) fn of(options: &NetOptions) -> Self {
        let NetOptions { ping_interval_ms, ping_timeout_ms, connect_interval_ms, .. } = options;
        let silent_ms = match (*ping_interval_ms, *ping_timeout_ms) {
            (None, None) => None,
            (interval, answer) => Some(interval.unwrap_or(0) + answer.unwrap_or(PING_TIMEOUT_MS)),
        };
        Self {
            silent_max: silent_ms.map(|ms| Duration::from_millis(ms).max(PEER_SILENT_MIN)),
            redial_max: connect_interval_ms.map(Duration::from_millis),
        }
    }
}

/// DRBD's default.
const PING_TIMEOUT_MS: u64 = 500;

/// The sizes of the buffers of a connection; `None` of what is left to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    pub(crate) send_bytes: Option<u32>,
    pub(crate) receive_bytes: Option<u32>,
}

impl Buffers {
    pub(crate) fn of(options: &NetOptions) -> Self {
        let NetOptions { send_buffer_bytes, receive_buffer_bytes, .. } = *options;
        Self { send_bytes: send_buffer_bytes, receive_bytes: receive_buffer_bytes }
    }
}

/// What a node proves itself with, and asks of the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSecret {
    pub(crate) algorithm: ProofAlgorithm,
    pub(crate) secret: Secret,
}

/// One way to a peer: from which own address, to which of its.
pub(crate) type Path = (SocketAddr, SocketAddr);

/// How a resource reaches a member, as its definition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerPaths {
    pub(crate) peer_name: String,
    pub(crate) paths: Vec<Path>,
    pub(crate) secrecy: Secrecy,
    pub(crate) times: LinkTimes,
    pub(crate) spread: Spread,
    pub(crate) buffers: Buffers,
}

impl PeerPaths {
    pub(crate) fn of(member: &Member) -> Self {
        let Member { name, paths, secrecy, times, spread, buffers, .. } = member;
        let (peer_name, paths) = (name.clone(), paths.clone());
        let (secrecy, times, spread, buffers) = (*secrecy, *times, *spread, *buffers);
        Self { peer_name, paths, secrecy, times, spread, buffers }
    }
}
