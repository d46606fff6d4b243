//! The quorum in sentences: who votes, what one more loss would do, and what ends the lack of one.
//!
//! Options (`quorum`, `on-no-quorum`, `fencing`) decide over requests without a quorum, and so
//! which sentence is true. `tests` prints each sentence for each of them, and
//! docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use api::status::{
    GoesOn, PeerDeviceStatus, QuorumVotes, RequestsWithoutQuorum, ResourceStatus, VoterStatus,
    WithoutQuorum,
};

use crate::adm::explain::{list, out_of_touch};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    /// A daemon of another version.
    NobodyKnown,
    Votes {
        verb: &'static str,
        have: u32,
        all: usize,
        needed: u32,
        there: Vec<String>,
    },
    VotesBefore {
        have: u32,
        all: usize,
        needed: u32,
        there: Vec<String>,
    },
    Missing {
        names: Vec<String>,
        why: String,
    },
    NoneToLose(OneMore),
    AloneByOwnVote,
    /// The daemon's own words.
    Told(String),
    WayOn {
        nodes: String,
        way: Way,
    },
    KnownAsOf(String),
}

/// The next loss of a voter brings one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneMore {
    SecondaryLacksQuorum,
    WritesAreHeld,
    RequestsFail,
    GoesOnAlone,
    WritesAreHeldUntilFenced,
    RequestsFailUntilFenced,
    /// A daemon of another version does not say what its options make of it.
    NoQuorum,
}

/// How a node that lacks a quorum gets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    HeldWritesGoOn,
    HeldWritesGoOnUnlessTakenOver,
    RequestsFailUntilThen,
    RequestsFailUnlessTakenOver,
    GoesOnAlone,
    /// It may not, for want of a replica with every write.
    NotWhole,
    HeldUntilFenced,
    FailUntilFenced,
    /// A daemon of another version does not say what its options make of it.
    BringBack,
    SecondaryWaits,
    SecondaryAlone,
    SecondaryFenced,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyKnown => f.write_str("who votes is not known"),
            Self::Votes { verb, have, all, needed, there } => write!(
                f,
                "it {verb} quorum: {have} of {all} voters answer, {needed} are needed; here {} \
                 ({})",
                if there.len() == 1 { "is one" } else { "are" },
                list(there)
            ),
            Self::VotesBefore { have, all, needed, there } => write!(
                f,
                "the voters change, and until then those before decide as well: {have} of {all} \
                 answer, {needed} are needed ({})",
                list(there)
            ),
            Self::Missing { names, why } => write!(f, "no vote from {}: {why}", list(names)),
            Self::NoneToLose(then) => {
                write!(f, "none may be lost on top of this: one more, and {then}")
            }
            Self::AloneByOwnVote => f.write_str(
                "it goes on by its own vote alone, as `quorum off` allows: where another node was \
                 cut off and not stopped, that one may do the same, and the data parts (split \
                 brain)",
            ),
            Self::Told(text) => f.write_str(text),
            Self::WayOn { nodes, way } => way.write(f, nodes),
            Self::KnownAsOf(when) => {
                write!(f, "who votes is known here as of {when}; it may have changed since")
            }
        }
    }
}

impl fmt::Display for OneMore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecondaryLacksQuorum => "this node lacks quorum",
            Self::WritesAreHeld => "writes are held",
            Self::RequestsFail => "requests of clients fail (`on-no-quorum io-error`)",
            Self::GoesOnAlone => {
                "this node goes on alone (`quorum off`), and the others may do the same: split \
                 brain is possible then"
            }
            Self::WritesAreHeldUntilFenced => {
                "writes are held until `fence-peer` says that the node that is lost is out"
            }
            Self::RequestsFailUntilFenced => {
                "requests of clients fail until `fence-peer` says that the node that is lost is out"
            }
            Self::NoQuorum => "this node has no quorum",
        })
    }
}

impl Way {
    fn write(self, f: &mut fmt::Formatter<'_>, nodes: &str) -> fmt::Result {
        match self {
            Self::HeldWritesGoOn => {
                write!(f, "to go on, bring {nodes} back; held writes then go on by themselves")
            }
            Self::HeldWritesGoOnUnlessTakenOver => write!(
                f,
                "to go on, bring {nodes} back; held writes then go on by themselves, if no other \
                 node took over"
            ),
            Self::RequestsFailUntilThen => write!(
                f,
                "to go on, bring {nodes} back; requests of clients fail until then (`on-no-quorum \
                 io-error`)"
            ),
            Self::RequestsFailUnlessTakenOver => write!(
                f,
                "to go on, bring {nodes} back; requests of clients fail until then (`on-no-quorum \
                 io-error`), and longer if another node took over"
            ),
            Self::GoesOnAlone => f.write_str("it goes on alone in a moment (`quorum off`)"),
            Self::NotWhole => write!(
                f,
                "to go on, bring {nodes} back: `quorum off` lets a node go on alone whose replica \
                 is UpToDate, and that of this node is not"
            ),
            Self::HeldUntilFenced => write!(
                f,
                "it goes on once `fence-peer` says that the others are out, or once you bring \
                 {nodes} back; writes are held until then"
            ),
            Self::FailUntilFenced => write!(
                f,
                "it goes on once `fence-peer` says that the others are out, or once you bring \
                 {nodes} back; requests of clients fail until then"
            ),
            Self::BringBack => write!(f, "to go on, bring {nodes} back"),
            Self::SecondaryWaits => write!(
                f,
                "bring {nodes} back into reach: before, this node cannot become Primary, nor tell \
                 what is newest"
            ),
            Self::SecondaryAlone => write!(
                f,
                "bring {nodes} back into reach to learn what is newest; without it this node may \
                 become Primary alone (`quorum off`), and split brain is possible then"
            ),
            Self::SecondaryFenced => write!(
                f,
                "bring {nodes} back into reach to learn what is newest; without it this node \
                 becomes Primary only if `fence-peer` says that the others are out"
            ),
        }
    }
}

pub(super) fn quorum(resource: &ResourceStatus) -> Vec<Sentence> {
    let Some(votes) = &resource.quorum_votes else { return vec![Sentence::NobodyKnown] };
    let names = |voters: &mut dyn Iterator<Item = &VoterStatus>| -> Vec<String> {
        voters.map(|voter| voter.name.clone()).collect()
    };
    let there = names(&mut votes.voters.iter().filter(|voter| voter.present));
    let missing = names(&mut votes.voters.iter().filter(|voter| !voter.present));
    let has_quorum = resource.devices.iter().all(|device| device.quorum);
    let all = votes.staying().count();
    let verb = if has_quorum { "has" } else { "lacks" };
    let (have, needed) = (votes.have, votes.needed);
    let mut sentences = vec![Sentence::Votes { verb, have, all, needed, there }];
    if let Some(before) = votes.before_change {
        let (have, needed, all) = (before.have, before.needed, votes.former().count());
        let there = names(&mut votes.former().filter(|voter| voter.present));
        sentences.push(Sentence::VotesBefore { have, all, needed, there });
    }
    if !missing.is_empty() {
        let (names, why) = (missing.clone(), why_missing(resource, &missing));
        sentences.push(Sentence::Missing { names, why });
    }
    if has_quorum && votes.margin() == 0 && all > 1 {
        sentences.push(Sentence::NoneToLose(one_more(resource)));
    }
    if has_quorum && all == 1 && is_alone(resource) {
        sentences.push(Sentence::AloneByOwnVote);
    }
    let told = resource.reasons.iter().filter_map(|reason| reason.strip_prefix("no quorum: "));
    // By options that are named; or else the votes alone do not say what is missing.
    let is_short = votes.margin() >= 0;
    let told = told.filter(|text| is_short || text.contains("`quorum"));
    if !has_quorum {
        sentences.extend(told.map(|text| Sentence::Told(text.to_owned())));
    }
    if !has_quorum && !is_short && !missing.is_empty() {
        let (nodes, way) = (wanted(votes), way_on(resource));
        sentences.push(Sentence::WayOn { nodes, way });
    }
    sentences.extend(out_of_touch(resource).map(Sentence::KnownAsOf));
    sentences
}

/// A Primary with `quorum off` is the only voter, and there are other replicas.
fn is_alone(resource: &ResourceStatus) -> bool {
    let goes_on = resource.without_quorum.map(|it| it.goes_on);
    let is_replica =
        |devices: &[PeerDeviceStatus]| devices.iter().any(|device| !device.peer_client);
    resource.role == Role::Primary
        && goes_on == Some(GoesOn::Alone)
        && resource.connections.iter().any(|peer| is_replica(&peer.peer_devices))
}

fn one_more(resource: &ResourceStatus) -> OneMore {
    if resource.role != Role::Primary {
        return OneMore::SecondaryLacksQuorum;
    }
    let Some(WithoutQuorum { requests, goes_on }) = resource.without_quorum else {
        return OneMore::NoQuorum;
    };
    match (if is_whole(resource) { goes_on } else { GoesOn::No }, requests) {
        (GoesOn::No, RequestsWithoutQuorum::Wait) => OneMore::WritesAreHeld,
        (GoesOn::No, RequestsWithoutQuorum::Fail) => OneMore::RequestsFail,
        (GoesOn::Alone, _) => OneMore::GoesOnAlone,
        (GoesOn::Fenced | GoesOn::Proved, RequestsWithoutQuorum::Wait) => {
            OneMore::WritesAreHeldUntilFenced
        }
        (GoesOn::Fenced | GoesOn::Proved, RequestsWithoutQuorum::Fail) => {
            OneMore::RequestsFailUntilFenced
        }
    }
}

/// Without every write here nobody goes on here.
fn is_whole(resource: &ResourceStatus) -> bool {
    resource.devices.iter().all(|device| device.disk_state == DiskState::UpToDate)
}

fn way_on(resource: &ResourceStatus) -> Way {
    let options = resource.without_quorum;
    if resource.role == Role::Primary && options.is_none() {
        return Way::BringBack;
    }
    let goes_on = options.map_or(GoesOn::No, |it| it.goes_on);
    let fails = options.is_some_and(|it| it.requests == RequestsWithoutQuorum::Fail);
    let is_in_touch = out_of_touch(resource).is_none();
    match (resource.role, goes_on) {
        (Role::Secondary | Role::Unknown, GoesOn::No) => Way::SecondaryWaits,
        (Role::Secondary | Role::Unknown, GoesOn::Alone) => Way::SecondaryAlone,
        (Role::Secondary | Role::Unknown, GoesOn::Fenced | GoesOn::Proved) => Way::SecondaryFenced,
        (Role::Primary, GoesOn::Alone) if is_whole(resource) => Way::GoesOnAlone,
        (Role::Primary, GoesOn::Alone) => Way::NotWhole,
        (Role::Primary, GoesOn::Fenced | GoesOn::Proved) if fails => Way::FailUntilFenced,
        (Role::Primary, GoesOn::Fenced | GoesOn::Proved) => Way::HeldUntilFenced,
        (Role::Primary, GoesOn::No) => match (fails, is_in_touch) {
            (false, true) => Way::HeldWritesGoOn,
            (false, false) => Way::HeldWritesGoOnUnlessTakenOver,
            (true, true) => Way::RequestsFailUntilThen,
            (true, false) => Way::RequestsFailUnlessTakenOver,
        },
    }
}

/// Names the voters that would make a quorum with those who answer; while the voters change, of
/// both sets.
fn wanted(votes: &QuorumVotes) -> String {
    let Some(before) = votes.before_change else {
        let is_one = votes.margin() == -1;
        return if is_one { "one of them" } else { "as many as are needed" }.to_owned();
    };
    let missing = |voters: &mut dyn Iterator<Item = &VoterStatus>| -> Vec<String> {
        voters.filter(|voter| !voter.present).map(|voter| voter.name.clone()).collect()
    };
    let (new, old) = (missing(&mut votes.staying()), missing(&mut votes.former()));
    let sets = [
        (votes.have, votes.needed, new, ""),
        (before.have, before.needed, old, " (who voted before)"),
    ];
    let short = sets.iter().filter(|(have, needed, ..)| have < needed);
    let words = short.map(|(have, needed, missing, of)| match (needed - have, &missing[..]) {
        (_, [only]) => format!("{only}{of}"),
        (1, names) => format!("one of {}{of}", list(names)),
        (more, names) => format!("{more} of {}{of}", list(names)),
    });
    words.collect::<Vec<_>>().join(", and ")
}

/// The connection of each; the reason of that is told with the peers.
fn why_missing(resource: &ResourceStatus, missing: &[String]) -> String {
    let state_of = |name: &String| {
        let connection = resource.connections.iter().find(|it| it.name == *name);
        match connection.map(|it| it.connection_state) {
            Some(ConnectionState::Connected) => {
                format!("{name} is connected, and its vote does not count yet")
            }
            Some(state) => format!("{name} is {state} (see peers)"),
            None => format!("{name} is this node, and its vote does not count (see data)"),
        }
    };
    missing.iter().map(state_of).collect::<Vec<_>>().join(", ")
}
