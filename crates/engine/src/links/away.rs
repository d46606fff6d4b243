//! Why a peer is away, for an operator: why no connection of its link is there, why a resource is
//! not open over one, and why nobody comes in here. docs/operate/messages has the rows in
//! connections.md.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use api::status::Endpoint;
use format::message::CloseReason;

use crate::definition::link::Path;
use crate::links::stage::Stage;
use crate::tls::TlsError;

/// For an operator whose hosts differ in the domain alone.
pub(super) const WHOLE_NAME: &str = "give such hosts their whole names everywhere: in the \
                                     configurations, as the --name of their daemons, and in \
                                     certificates";

/// Why a connection of a link is over, or never came up. Names are those of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Away {
    Connect {
        remote: Option<SocketAddr>,
        error: SystemError,
    },
    /// Nothing came back from the attempt to connect.
    NoAnswer {
        remote: Option<IpAddr>,
    },
    /// It is connected, and says too little until the handshake has to be over.
    SaysNothing,
    /// A stranger, and others came.
    CrowdedOut,
    Lost {
        error: SystemError,
    },
    CannotSend {
        error: SystemError,
    },
    Closed(Closed),
    Silent {
        silent_ms: u128,
    },
    /// The set moves to another path.
    SilentPath {
        silent_ms: u128,
        path: Path,
    },
    TooSlow {
        waiting: usize,
    },
    LargePackets {
        way: Direction,
        remote: SocketAddr,
    },
    Tls(String),
    NoCertificate,
    NoCertificateForPeer {
        remote: Option<IpAddr>,
    },
    OtherCertificate {
        name: String,
    },
    ShortCertificate {
        name: String,
        expected: String,
    },
    ClearText {
        name: String,
    },
    UnwantedTls {
        name: String,
    },
    OwnName {
        name: String,
    },
    Ambiguous {
        told: String,
    },
    NotAMember {
        name: String,
    },
    NoAddress,
    OtherAddress {
        remote: IpAddr,
        name: String,
        addresses: String,
    },
    OtherNode {
        expected: String,
        name: String,
    },
    Rival {
        name: String,
    },
    OldStart {
        now: u64,
        seen: u64,
    },
    Versions {
        name: String,
        theirs: (u16, u16),
        ours: u16,
    },
    Checksum {
        length_bytes: u32,
        computed: u32,
        wanted: u32,
    },
    Garbage {
        told: String,
    },
    OutOfTurn {
        told: String,
    },
    /// This side made or took the next one.
    Replaced,
    NoResource,
    PathGone,
    Unwatched,
    OnePath,
    AllPaths,
    Incomplete,
    SeveralProcesses,
    CannotHandOver {
        error: SystemError,
    },
    ManySessions,
}

/// Of a peer that closed the connection: how far that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Late,
    InTls,
    WithoutAnswer,
    BeforeItCounts,
}

/// Which way large packets do not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HereFromThere,
    ThereFromHere,
}

/// In the words of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SystemError {
    kind: ErrorKind,
    text: String,
}

impl SystemError {
    fn is_of_network(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::NetworkDown
                | ErrorKind::TimedOut
        )
    }
}

impl From<&Error> for SystemError {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind(), text: error.to_string() }
    }
}

impl From<TlsError> for Away {
    fn from(error: TlsError) -> Self {
        Self::Tls(error.to_string())
    }
}

impl Away {
    /// What a peer that keeps to the protocol does not do.
    pub(super) fn out_of_turn(told: impl Into<String>) -> Self {
        Self::OutOfTurn { told: told.into() }
    }

    /// Of a connection that is closed by the peer.
    pub(super) fn closed_at(stage: Stage) -> Self {
        Self::Closed(match stage {
            Stage::Connecting | Stage::AwaitHello | Stage::Up | Stage::Refused => Closed::Late,
            Stage::Securing => Closed::InTls,
            Stage::Probing => Closed::BeforeItCounts,
            Stage::AwaitWelcome => Closed::WithoutAnswer,
        })
    }

    /// Of a connection whose handshake is not over in time.
    pub(super) fn late_at(stage: Stage, path: Option<Path>) -> Self {
        match stage {
            Stage::Connecting => Self::NoAnswer { remote: path.map(|(_, remote)| remote.ip()) },
            Stage::Securing
            | Stage::AwaitHello
            | Stage::AwaitWelcome
            | Stage::Probing
            | Stage::Up
            | Stage::Refused => Self::SaysNothing,
        }
    }

    /// With what to type at which node, for `status`.
    pub(crate) fn told(&self, peer: &str, resource: &str) -> String {
        match self.advice(peer, resource) {
            Some(advice) => format!("{self}: {advice}"),
            None => self.to_string(),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say what to do, or pass")]
    fn advice(&self, peer: &str, resource: &str) -> Option<String> {
        Some(match self {
            // A machine that refuses is up, and its daemon is not, or not with this resource.
            Self::Connect { error, .. } if error.kind == ErrorKind::ConnectionRefused => format!(
                "the machine is up, and nothing listens there for {resource}: on {peer} `systemctl \
                 start basalt-node`, then `basalt adm up {resource}`"
            ),
            Self::Connect { error, .. } if error.kind == ErrorKind::AddrNotAvailable => {
                "compare `ip addr` of this machine with its `address` line".to_owned()
            }
            Self::Connect { error, .. } if error.is_of_network() => no_way(None, peer),
            Self::NoAnswer { remote } => no_way(remote.map(|it| it.to_canonical()), peer),
            Self::Silent { .. } => format!(
                "{peer} is off or hangs, or the network is down: see whether `ping` of its address \
                 is answered, and on {peer} `systemctl status basalt-node`"
            ),
            Self::SaysNothing => format!(
                "something listens there: look at the log of {peer} (`journalctl -u basalt-node`), \
                 and whether the port of its `address` line is that of Basalt"
            ),
            Self::Closed(Closed::InTls | Closed::WithoutAnswer) => {
                format!("on {peer} `journalctl -u basalt-node` shows it")
            }
            Self::TooSlow { .. } => format!("look at the load of {peer}, and at the network"),
            _ => return None,
        })
    }
}

fn no_way(remote: Option<IpAddr>, peer: &str) -> String {
    let what = format!("{peer} is off, or the network or a firewall lets nothing through");
    match remote {
        Some(remote) => format!(
            "{what}: see whether `ping {remote}` is answered, and which way `ip route get \
             {remote}` shows"
        ),
        None => format!(
            "{what}: see whether `ping` of its address is answered, and which way `ip route get` \
             shows"
        ),
    }
}

impl fmt::Display for Away {
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { remote: Some(remote), error } => {
                write!(f, "cannot connect to {remote}: {error}")
            }
            Self::Connect { remote: None, error } => write!(f, "cannot connect: {error}"),
            Self::NoAnswer { .. } => f.write_str("no answer to the connection attempt"),
            Self::SaysNothing => f.write_str("the peer did not say in time what it has to"),
            Self::CrowdedOut => f.write_str("it did not say who it is, and others came"),
            Self::Lost { error } => write!(f, "connection lost: {error}"),
            Self::CannotSend { error } => write!(f, "cannot send: {error}"),
            Self::Closed(at) => at.fmt(f),
            Self::Silent { silent_ms } => write!(f, "no sign of life for {silent_ms} ms"),
            Self::SilentPath { silent_ms, path: (local, remote) } => write!(
                f,
                "no sign of life for {silent_ms} ms on path {local} to {remote}, and there is \
                 another one"
            ),
            Self::TooSlow { waiting } => {
                write!(f, "{waiting} messages wait for it; it is too slow")
            }
            Self::LargePackets { way, remote } => write!(
                f,
                "large packets do not arrive {way}, and small ones do (MTU): {}",
                Endpoint::from(*remote).how_to_see_large_packets()
            ),
            Self::Tls(told) => f.write_str(told),
            Self::NoCertificate => {
                f.write_str("this node has no certificate for TLS: `basalt pki issue` makes one")
            }
            Self::NoCertificateForPeer { remote } => write!(
                f,
                "a peer{} connects with TLS, and this node has no certificate: `basalt pki issue` \
                 makes one, and `tls yes` has to be set on all nodes or on none",
                remote.map_or_else(String::new, |remote| format!(" at {remote}"))
            ),
            Self::OtherCertificate { name } => write!(
                f,
                "a peer calls itself {name:?}, and its certificate is for another name: see which \
                 one was copied there, or `basalt pki issue {name}`"
            ),
            Self::ShortCertificate { name, expected } => write!(
                f,
                "a peer calls itself {name:?}, and its certificate is not for the whole name, as \
                 it has to be where two hosts differ in the domain alone: `basalt pki issue \
                 {expected}`"
            ),
            Self::ClearText { name } => write!(
                f,
                "node {name:?} connects in clear text, and this node has `tls yes` for it: set it \
                 in the configuration of all nodes"
            ),
            Self::UnwantedTls { name } => write!(
                f,
                "node {name:?} connects with TLS, and this node has no `tls yes` for it: set it in \
                 the configuration of all nodes"
            ),
            Self::OwnName { name } => write!(
                f,
                "the peer calls itself {name:?}, which is this node; two nodes have one name, or \
                 an address is wrong"
            ),
            Self::Ambiguous { told } => {
                write!(f, "the name of a peer is ambiguous: {told}; {WHOLE_NAME}")
            }
            Self::NotAMember { name } => write!(
                f,
                "node {name:?} is no member of a resource here: `basalt adm up` of a resource that \
                 names it, or `adjust`, lets it in"
            ),
            Self::NoAddress => f.write_str("its address cannot be told"),
            Self::OtherAddress { remote, name, addresses } => write!(
                f,
                "a peer at {remote} calls itself {name:?}, whose address is {addresses}; compare \
                 the `address` lines of both configurations"
            ),
            Self::OtherNode { expected, name } => write!(
                f,
                "the node at the address of {expected:?} calls itself {name:?}; compare the \
                 address and `on` lines of both configurations"
            ),
            Self::Rival { name } => write!(
                f,
                "another process calls itself {name:?} while that node is connected; two nodes may \
                 have one name"
            ),
            Self::OldStart { now, seen } => write!(
                f,
                "its start count is {now}, but {seen} was seen before: its state directory is an \
                 old copy, or a new one; put the newest one back. If that is lost, start the node \
                 with a new one. Then, or if it was another node that said so, `disconnect` and \
                 `connect` make this one forget it"
            ),
            Self::Versions { name, theirs: (min, max), ours } => write!(
                f,
                "node {name:?} speaks protocol versions {min} to {max}, this node {ours} to \
                 {ours}: update the older one"
            ),
            Self::Checksum { length_bytes, computed, wanted } => write!(
                f,
                "a payload of {length_bytes} bytes has checksum {computed:#010x} and should have \
                 {wanted:#010x}: the network or the memory of a node corrupts data"
            ),
            Self::Garbage { told } => write!(f, "it sent garbage: {told}"),
            Self::OutOfTurn { told } => f.write_str(told),
            Self::Replaced => f.write_str("replaced by a new connection"),
            Self::NoResource => f.write_str("no resource is left"),
            Self::PathGone => f.write_str("its path was taken out of the configuration"),
            Self::Unwatched => f.write_str("nobody wants its path watched"),
            Self::OnePath => f.write_str("it is to keep to one path"),
            Self::AllPaths => f.write_str("another path works, and traffic is to use all of them"),
            Self::Incomplete => f.write_str("not all of its connections came up"),
            Self::SeveralProcesses => f.write_str("its connections lead to different processes"),
            Self::CannotHandOver { error } => {
                write!(f, "a connection cannot be passed on: {error}")
            }
            Self::ManySessions => {
                f.write_str("its sessions were so many that their numbers begin anew")
            }
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Late => "the peer closed the connection",
            Self::InTls => {
                "the peer closed the connection in the TLS handshake; its log says why (is `tls` \
                 the same on all nodes?)"
            }
            Self::BeforeItCounts => "the peer closed the connection before it counted",
            Self::WithoutAnswer => {
                "the peer closed the connection without an answer; its log says why (is `tls` the \
                 same on all nodes?)"
            }
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HereFromThere => "here from there",
            Self::ThereFromHere => "there from here",
        })
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a resource is not open with a peer whose link is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// An operator typed `disconnect`.
    ByOperator,
    Congested,
    /// The peer says so.
    NotThere,
    NodeIds,
    OtherHistory,
    Sizes,
    Apart,
    NoSecretHere,
    NoSecretThere,
    OtherAlgorithm,
    OtherSecret,
    /// This node refuses the peer.
    TurnedAway(Unproved),
}

/// What the peer lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unproved {
    NoSecret,
    HasSecret,
    Algorithm,
    Secret,
    Release,
}

impl Unopened {
    pub(super) fn said(reason: CloseReason) -> Self {
        match reason {
            CloseReason::UnknownResource => Self::NotThere,
            CloseReason::NodeIdMismatch => Self::NodeIds,
            CloseReason::UnrelatedData => Self::OtherHistory,
            CloseReason::SizeTooSmall => Self::Sizes,
            CloseReason::Down => Self::Apart,
            CloseReason::ProofMissing => Self::NoSecretHere,
            CloseReason::ProofUnexpected => Self::NoSecretThere,
            CloseReason::ProofAlgorithmDiffers => Self::OtherAlgorithm,
            CloseReason::ProofWrong => Self::OtherSecret,
        }
    }

    /// With what to type at which node, for `status`.
    pub(crate) fn told(self, peer: &str, resource: &str) -> String {
        let advice = match self {
            Self::NotThere => format!(
                "on {peer} `basalt adm up {resource}`, or `adjust {resource}` where it is up by a \
                 configuration without this node"
            ),
            Self::Apart => format!("on {peer} `basalt adm status {resource}` says why"),
            Self::OtherHistory | Self::Sizes => {
                format!("update Basalt on {peer}; then `status` says what helps")
            }
            Self::ByOperator
            | Self::Congested
            | Self::NodeIds
            | Self::NoSecretHere
            | Self::NoSecretThere
            | Self::OtherAlgorithm
            | Self::OtherSecret
            | Self::TurnedAway(_) => return self.to_string(),
        };
        format!("{self}: {advice}")
    }
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByOperator => "disconnected by the operator",
            Self::Congested => "congested: `on-congestion disconnect` ended it, `connect` resumes",
            Self::NotThere => "it does not have this resource up with this node",
            Self::NodeIds => {
                "the node ids differ; compare the node-id lines of both configurations"
            }
            Self::OtherHistory => {
                "its data has another history, and its release refuses such a peer"
            }
            Self::Sizes => "the disks differ in size, and its release refuses such a peer",
            Self::Apart => "the resource is disconnected there, or rests before it connects anew",
            Self::NoSecretHere => {
                "it has a `shared-secret` and this node has none; set the same `cram-hmac-alg` and \
                 `shared-secret` on both, then `adjust`"
            }
            Self::NoSecretThere => {
                "it has no `shared-secret` and this node has one; set the same `cram-hmac-alg` and \
                 `shared-secret` on both, then `adjust`"
            }
            Self::OtherAlgorithm => {
                "its `cram-hmac-alg` is another one; set the same on both nodes, then `adjust`"
            }
            Self::OtherSecret => {
                "its `shared-secret` is another one; set the same on both nodes, then `adjust`"
            }
            Self::TurnedAway(unproved) => return unproved.fmt(f),
        })
    }
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("authentication of the peer failed: ")?;
        f.write_str(match self {
            Self::NoSecret => {
                "it has no `shared-secret` and this node has one; set the same `cram-hmac-alg` and \
                 `shared-secret` on both, then `adjust`"
            }
            Self::HasSecret => {
                "it has a `shared-secret` and this node has none; set the same `cram-hmac-alg` and \
                 `shared-secret` on both, then `adjust`"
            }
            Self::Algorithm => {
                "its `cram-hmac-alg` is another one; set the same on both nodes, then `adjust`"
            }
            Self::Secret => {
                "its `shared-secret` is another one, or somebody sends what he overheard; set the \
                 same on both nodes, then `adjust`"
            }
            Self::Release => "its version knows of no `shared-secret`; update it",
        })
    }
}

/// Why nobody comes in at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deaf {
    /// No interface of the machine has it.
    NotHere {
        address: SocketAddr,
    },
    Refused {
        error: SystemError,
    },
}

impl fmt::Display for Deaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere { address } => write!(
                f,
                "the address {address} is not of this machine: no peer comes in or is reached \
                 there until it is, which is tried each second; compare `ip addr` with its \
                 `address` line"
            ),
            Self::Refused { error } => write!(
                f,
                "{error}; that is tried each second, and `ss -ltnp` shows who listens where"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::rows::{self, Row};

    fn address() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 2], 7789))
    }

    fn error(text: &str, kind: ErrorKind) -> SystemError {
        SystemError { kind, text: text.to_owned() }
    }

    fn reset() -> SystemError {
        error("Connection reset by peer (os error 104)", ErrorKind::ConnectionReset)
    }

    fn bob() -> String {
        "bob".to_owned()
    }

    fn of_ways() -> Vec<(&'static str, Away)> {
        // Of a socket that did not connect the system does not say where it was to lead.
        let connect = |text, kind| Away::Connect { remote: None, error: error(text, kind) };
        let path = (SocketAddr::from(([10, 0, 0, 1], 7789)), address());
        let large = |way| Away::LargePackets { way, remote: address() };
        vec![
            (
                "nothing listens at the peer's address",
                connect("Connection refused (os error 111)", ErrorKind::ConnectionRefused),
            ),
            (
                "the network knows no way",
                connect("No route to host (os error 113)", ErrorKind::HostUnreachable),
            ),
            (
                "this machine does not have the address of its `address` line",
                Away::Connect {
                    remote: Some(address()),
                    error: error(
                        "Cannot assign requested address (os error 99)",
                        ErrorKind::AddrNotAvailable,
                    ),
                },
            ),
            ("another service ends it at once", Away::Connect { remote: None, error: reset() }),
            (
                "the machine is off, or a firewall drops what comes",
                Away::NoAnswer { remote: Some(address().ip()) },
            ),
            ("another service listens there, or a daemon that hangs", Away::SaysNothing),
            ("strangers connect and say nothing", Away::CrowdedOut),
            ("the connection breaks", Away::Lost { error: reset() }),
            ("the connection breaks while something is sent", Away::CannotSend { error: reset() }),
            ("the peer's daemon ends", Away::Closed(Closed::Late)),
            ("the peer turns this node away", Away::Closed(Closed::WithoutAnswer)),
            ("the peer turns this node's certificate away", Away::Closed(Closed::InTls)),
            ("the peer ends before large packets passed", Away::Closed(Closed::BeforeItCounts)),
            ("the machine dies, or the network does", Away::Silent { silent_ms: 1200 }),
            ("one of two networks dies", Away::SilentPath { silent_ms: 600, path }),
            ("the peer reads nothing", Away::TooSlow { waiting: 70_000 }),
            ("a network with a smaller MTU, on the way here", large(Direction::HereFromThere)),
            ("the same on the way there", large(Direction::ThereFromHere)),
        ]
    }

    fn of_names() -> Vec<(&'static str, Away)> {
        let name = bob;
        vec![
            ("`tls yes`, and no certificate", Away::NoCertificate),
            (
                "a peer has `tls yes`, and this node has no certificate",
                Away::NoCertificateForPeer { remote: Some(address().ip()) },
            ),
            ("a certificate was copied to the wrong node", Away::OtherCertificate { name: name() }),
            (
                "two hosts differ in the domain alone",
                Away::ShortCertificate { name: name(), expected: "bob.example.com".to_owned() },
            ),
            ("`tls yes` on one of two nodes: here", Away::ClearText { name: name() }),
            ("`tls yes` on one of two nodes: there", Away::UnwantedTls { name: name() }),
            ("two nodes of one name", Away::OwnName { name: name() }),
            (
                "a short name that two hosts have",
                Away::Ambiguous { told: "`bob` could be bob.a or bob.b".to_owned() },
            ),
            ("no resource here names the node", Away::NotAMember { name: name() }),
            ("the connection is over already", Away::NoAddress),
            (
                "a node comes from another address than it is configured with",
                Away::OtherAddress {
                    remote: IpAddr::from([10, 0, 0, 7]),
                    name: name(),
                    addresses: "10.0.0.2".to_owned(),
                },
            ),
            (
                "the address of a node is that of another one",
                Away::OtherNode { expected: name(), name: "carol".to_owned() },
            ),
            ("a second daemon of one name", Away::Rival { name: name() }),
            ("an old copy of a state directory", Away::OldStart { now: 1, seen: 2 }),
            ("a later release", Away::Versions { name: name(), theirs: (2, 3), ours: 1 }),
        ]
    }

    fn of_protocol() -> Vec<(&'static str, Away)> {
        let (length_bytes, computed, wanted) = (4096, 0x1234, 0x5678);
        vec![
            ("bytes change on their way", Away::Checksum { length_bytes, computed, wanted }),
            (
                "something else than Basalt speaks",
                Away::Garbage { told: "frame: no magic number at byte 0, but 0x47".to_owned() },
            ),
            ("an error of a peer's release", Away::out_of_turn("it greeted twice")),
            ("a newer connection took its place", Away::Replaced),
            ("`down` of the last resource", Away::NoResource),
            ("`adjust` took a path out", Away::PathGone),
            ("`adjust` left one path", Away::Unwatched),
            ("`load-balance-paths` was taken out", Away::OnePath),
            ("`load-balance-paths`, and a path came back", Away::AllPaths),
            ("only some connections of the pair came up", Away::Incomplete),
            ("the peer's daemon started anew meanwhile", Away::SeveralProcesses),
            ("the system has no descriptor left", Away::CannotHandOver { error: reset() }),
            ("very many sessions", Away::ManySessions),
        ]
    }

    fn of_tls() -> Vec<(&'static str, Away)> {
        use rustls::{AlertDescription as Alert, CertificateError as Certificate, Error};
        let tls = |error| Away::from(TlsError::Refused(error));
        vec![
            (
                "a certificate of another cluster",
                tls(Error::InvalidCertificate(Certificate::UnknownIssuer)),
            ),
            (
                "the peer's certificate is too old",
                tls(Error::InvalidCertificate(Certificate::Expired)),
            ),
            ("a clock is late", tls(Error::InvalidCertificate(Certificate::NotValidYet))),
            (
                "a certificate of another node",
                tls(Error::InvalidCertificate(Certificate::NotValidForName)),
            ),
            (
                "a certificate of a client",
                tls(Error::InvalidCertificate(Certificate::InvalidPurpose)),
            ),
            ("the peer has none", tls(Error::NoCertificatesPresented)),
            ("bytes change on their way", tls(Error::DecryptError)),
            ("the peer knows another CA", tls(Error::AlertReceived(Alert::UnknownCA))),
            (
                "this node's certificate is too old",
                tls(Error::AlertReceived(Alert::CertificateExpired)),
            ),
            ("it wants one", tls(Error::AlertReceived(Alert::CertificateRequired))),
            ("it takes another one alone", tls(Error::AlertReceived(Alert::BadCertificate))),
            ("an old TLS", tls(Error::AlertReceived(Alert::ProtocolVersion))),
        ]
    }

    const UNOPENED: [(&str, Unopened); 16] = [
        ("`disconnect`", Unopened::ByOperator),
        ("`on-congestion disconnect`", Unopened::Congested),
        ("the resource is down there, or names other nodes", Unopened::NotThere),
        ("`node-id` differs", Unopened::NodeIds),
        ("a peer of an older release, with other data", Unopened::OtherHistory),
        ("a peer of an older release, with a smaller disk", Unopened::Sizes),
        ("`disconnect` there", Unopened::Apart),
        ("`shared-secret` there alone", Unopened::NoSecretHere),
        ("`shared-secret` here alone", Unopened::NoSecretThere),
        ("`cram-hmac-alg` differs", Unopened::OtherAlgorithm),
        ("`shared-secret` differs", Unopened::OtherSecret),
        ("`shared-secret` here alone", Unopened::TurnedAway(Unproved::NoSecret)),
        ("`shared-secret` there alone", Unopened::TurnedAway(Unproved::HasSecret)),
        ("`cram-hmac-alg` differs", Unopened::TurnedAway(Unproved::Algorithm)),
        ("`shared-secret` differs", Unopened::TurnedAway(Unproved::Secret)),
        (
            "`shared-secret`, and a peer of an older release",
            Unopened::TurnedAway(Unproved::Release),
        ),
    ];

    #[test]
    fn rows_of_connections_are_those_of_the_page() {
        let row = |variant: String, situation: &str, sentence: String| {
            let situation = situation.to_owned();
            Row { variant, situation, sentence }
        };
        let links = [of_ways(), of_names(), of_protocol(), of_tls()];
        let of_links = links.into_iter().flatten().map(|(situation, away)| {
            row(rows::variant_of(&away), situation, away.told("bob", "r0"))
        });
        let of_sessions = UNOPENED.into_iter().map(|(situation, unopened)| {
            row(rows::variant_of(&unopened), situation, unopened.told("bob", "r0"))
        });
        let taken = error(
            "another process listens on 10.0.0.1:7789: Address already in use (os error 98)",
            ErrorKind::AddrInUse,
        );
        let deaf = [
            ("the network is not up yet", Deaf::NotHere { address: address() }),
            ("another service took the port", Deaf::Refused { error: taken }),
        ];
        let of_addresses = deaf
            .into_iter()
            .map(|(situation, deaf)| row(rows::variant_of(&deaf), situation, deaf.to_string()));
        let all = of_links.chain(of_sessions).chain(of_addresses).collect();
        rows::check(("connections.md", "Why a peer is away"), all);
    }

    /// "No answer to the connection attempt" was said of a peer that had accepted the connection,
    /// and "it does not have this resource" of one that had it, by another configuration.
    #[test]
    fn who_accepts_and_says_nothing_is_not_said_to_give_no_answer() {
        let path = Some((address(), address()));
        let silent = |stage| Away::late_at(stage, path).told("bob", "r0");
        assert!(silent(Stage::Connecting).contains("`ping 10.0.0.2`"));
        let welcome = silent(Stage::AwaitWelcome);
        assert!(!welcome.contains("no answer") && welcome.contains("journalctl"), "{welcome}");
        let there = Unopened::NotThere.told("bob", "r0");
        assert!(there.contains("on bob `basalt adm up r0`, or `adjust r0`"), "{there}");
    }
}
