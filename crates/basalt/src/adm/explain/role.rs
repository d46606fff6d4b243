//! The sentences about the Primary, as far as this node can know it, and about requests of clients.
//!
//! A node out of touch says of when its knowledge is. `tests` prints each sentence in each
//! situation, and docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use api::status::{ConnectionStatus, RequestsWithoutQuorum, ResourceStatus};

use crate::adm::explain::{is_of_requests, out_of_touch};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    Primary,
    PrimaryAsOf {
        when: String,
    },
    SecondaryAsOf {
        when: String,
        primary: String,
    },
    NobodyAsOf {
        when: String,
    },
    Secondary {
        primary: String,
    },
    PrimaryAway {
        primary: String,
        why: Instead,
    },
    ThisOneMay,
    NobodyMay,
    NobodyInReach,
    Held {
        word: String,
    },
    HeldUnlessTakenOver {
        word: String,
    },
    HeldUntilDecided {
        word: String,
    },
    /// The daemon's own words about requests.
    Told(String),
    FailUntilClosed,
}

/// These nodes may take the place of a Primary that is out of reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    AnyNode,
    Peer(String),
    Nobody,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("this node is Primary: clients write here"),
            Self::PrimaryAsOf { when } => write!(
                f,
                "this node is Primary as of {when}; another one may have taken over since, out of \
                 reach"
            ),
            Self::SecondaryAsOf { when, primary } => write!(
                f,
                "this node is Secondary; as of {when} {primary} was Primary; it, or another node, \
                 may serve clients now, out of reach of this one"
            ),
            Self::NobodyAsOf { when } => write!(
                f,
                "this node is Secondary; as of {when} no other node was Primary; one may serve \
                 clients now, out of reach of this one"
            ),
            Self::Secondary { primary } => {
                write!(f, "this node is Secondary; {primary} is Primary")
            }
            Self::PrimaryAway { primary, why } => write!(
                f,
                "this node is Secondary; {primary} is Primary by the newest that is known here, \
                 and is out of reach of this node; {why}"
            ),
            Self::ThisOneMay => f.write_str(
                "no node is Primary; this one may become it, by a client or by `basalt adm \
                 primary`",
            ),
            Self::NobodyMay => f.write_str(
                "no node is Primary, and none could become it as seen from here: see quorum and \
                 data",
            ),
            Self::NobodyInReach => f.write_str(
                "this node is Secondary; no node in its reach is Primary, and what the others do \
                 is not known here",
            ),
            Self::Held { word } => {
                write!(f, "requests of clients are held back ({word}); they are not lost")
            }
            Self::HeldUnlessTakenOver { word } => write!(
                f,
                "requests of clients are held back ({word}); they fail if another node took over \
                 meanwhile"
            ),
            Self::HeldUntilDecided { word } => write!(
                f,
                "requests of clients are held back ({word}) until it is decided whether this node \
                 goes on; they fail if it does not (`on-no-quorum io-error`)"
            ),
            Self::Told(text) => f.write_str(text),
            Self::FailUntilClosed => {
                f.write_str("requests of clients fail until all clients have closed it")
            }
        }
    }
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyNode => f.write_str(
                "if it ended, another one may become Primary, by a client or by `basalt adm \
                 primary`",
            ),
            Self::Peer(peer) => write!(
                f,
                "if it ended, {peer} may become Primary, which is up to date: there by a client or \
                 by `basalt adm primary`"
            ),
            Self::Nobody => f.write_str(
                "none could be promoted in its place as seen from here: see quorum and data",
            ),
        }
    }
}

pub(super) fn role(resource: &ResourceStatus) -> Vec<Sentence> {
    let mut sentences = vec![roles(resource)];
    sentences.extend(resource.suspended.then(|| held(resource)));
    let told = resource.reasons.iter().filter(|it| is_of_requests(it));
    sentences.extend(told.cloned().map(Sentence::Told));
    sentences.extend(resource.force_io_failures.then_some(Sentence::FailUntilClosed));
    sentences
}

fn held(resource: &ResourceStatus) -> Sentence {
    let word = resource.suspended_word();
    let fails = |it: api::status::WithoutQuorum| it.requests == RequestsWithoutQuorum::Fail;
    if resource.suspended_quorum && resource.without_quorum.is_some_and(fails) {
        Sentence::HeldUntilDecided { word }
    } else if out_of_touch(resource).is_some() {
        Sentence::HeldUnlessTakenOver { word }
    } else {
        Sentence::Held { word }
    }
}

/// One sentence names the Primary, as far as this node can know of one.
fn roles(resource: &ResourceStatus) -> Sentence {
    let is_primary = resource.role == Role::Primary;
    let in_reach = resource.connections.iter().find(|it| it.peer_role == Role::Primary);
    let named = resource.epoch.as_ref().and_then(|epoch| epoch.primary.clone());
    // Its own name: it was Primary before it was started again.
    let named = named.filter(|name| resource.connections.iter().any(|it| it.name == *name));
    let has_quorum = resource.devices.iter().all(|device| device.quorum);
    match (out_of_touch(resource), in_reach.map(|it| it.name.clone()).or(named)) {
        (None, _) if is_primary => Sentence::Primary,
        (Some(when), _) if is_primary => Sentence::PrimaryAsOf { when },
        (Some(when), Some(primary)) => Sentence::SecondaryAsOf { when, primary },
        (Some(when), None) => Sentence::NobodyAsOf { when },
        (None, Some(primary)) if in_reach.is_some() => Sentence::Secondary { primary },
        (None, Some(primary)) => Sentence::PrimaryAway { primary, why: instead(resource) },
        (None, None) if resource.may_promote => Sentence::ThisOneMay,
        (None, None) if resource.epoch.is_some() || has_quorum => Sentence::NobodyMay,
        (None, None) => Sentence::NobodyInReach,
    }
}

fn instead(resource: &ResourceStatus) -> Instead {
    if resource.may_promote {
        return Instead::AnyNode;
    }
    let is_whole = |it: &&ConnectionStatus| {
        let mut devices = it.peer_devices.iter();
        it.connection_state == ConnectionState::Connected
            && !it.peer_devices.is_empty()
            && devices.all(|device| device.peer_disk_state == DiskState::UpToDate)
    };
    let has_quorum = resource.devices.iter().all(|device| device.quorum);
    let peer = resource.connections.iter().find(is_whole).filter(|_| has_quorum);
    peer.map_or(Instead::Nobody, |peer| Instead::Peer(peer.name.clone()))
}
