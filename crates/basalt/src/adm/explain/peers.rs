//! The sentences about the connections: who is away, why, and which path does not work.
//!
//! `tests` prints each sentence in each situation, and docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::connection_state::ConnectionState;
use api::latency::LatencyHistogram;
use api::status::{ConnectionStatus, Endpoint, LostAgainStatus, PathStatus, ResourceStatus};

use crate::adm::explain::down_since;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    AllConnected,
    /// The daemon's own words about a split brain.
    Told(String),
    /// `target` is what is typed behind `connect`.
    StandAlone {
        name: String,
        target: String,
        reason: Option<String>,
    },
    Away {
        name: String,
        state: ConnectionState,
        since: Option<String>,
        reason: Option<String>,
    },
    Rests {
        name: String,
        target: String,
        known: LostAgainStatus,
        how_to_see: String,
    },
    RestsWhileSuspended {
        name: String,
        target: String,
        known: LostAgainStatus,
        how_to_see: String,
    },
    PathDown(DeadPath),
    OnePathDown(DeadPath),
    Slowest {
        name: String,
        us: u64,
        others: Vec<(String, u64)>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeadPath {
    name: String,
    here: Endpoint,
    there: Endpoint,
    /// Whole seconds.
    down_seconds: Option<u64>,
    reason: Option<String>,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllConnected => f.write_str("all are connected"),
            Self::Told(text) => f.write_str(text),
            Self::StandAlone { name, target, reason } => {
                write!(f, "{name} is StandAlone")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, " ({reason})"))?;
                write!(f, ": this node connects to it once you type `basalt adm connect {target}`")
            }
            Self::Away { name, state, since, reason } => {
                write!(f, "{name} is {state}")?;
                since.as_ref().map_or(Ok(()), |when| write!(f, ", since {when}"))?;
                write!(f, ": {}", reason.as_deref().unwrap_or("no reason is known"))
            }
            Self::Rests { name, target, known, how_to_see } => {
                write_rest(f, (name, ", and writes go on without it"), target, known, how_to_see)
            }
            Self::RestsWhileSuspended { name, target, known, how_to_see } => {
                write_rest(f, (name, ""), target, known, how_to_see)
            }
            Self::PathDown(path) => path.fmt(f),
            Self::OnePathDown(path) => write!(
                f,
                "{path}; another path carries; check cable, address and firewall of this one, it \
                 is tried again by itself"
            ),
            Self::Slowest { name, us, others } => {
                write!(f, "{name} acknowledges slowest, after {us} us on average")?;
                let others: Vec<_> =
                    others.iter().map(|(name, us)| format!("{name} {us} us")).collect();
                if others.is_empty() { Ok(()) } else { write!(f, "; {}", others.join(", ")) }
            }
        }
    }
}

/// Small packets pass, and so it connects; what holds everybody up each time is more than that.
fn write_rest(
    f: &mut fmt::Formatter<'_>,
    (name, writes): (&str, &str),
    target: &str,
    known: &LostAgainStatus,
    how_to_see: &str,
) -> fmt::Result {
    write!(
        f,
        "{name} rests for {} s{writes}: {} times in a row its connection broke soon after it \
         returned, and held writes up; often a network on the way loses large packets (MTU): \
         {how_to_see}; `basalt adm disconnect {target}`, then `connect`, ends the rest",
        known.rest_ms.div_ceil(1000),
        known.losses,
    )
}

impl fmt::Display for DeadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, here, there, down_seconds, reason } = self;
        write!(
            f,
            "the path from {}:{} to {name} at {}:{} is down",
            here.address, here.port, there.address, there.port
        )?;
        down_seconds.map_or(Ok(()), |seconds| write!(f, " for {seconds} s"))?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

pub(super) fn peers(resource: &ResourceStatus) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for connection in &resource.connections {
        let (name, reason) = (connection.name.clone(), connection.reason.clone());
        let state = connection.connection_state;
        if connection.split_brain {
            sentences.push(Sentence::Told(reason.unwrap_or_default()));
        } else if state == ConnectionState::StandAlone {
            let target = format!("{}:{name}", resource.name);
            sentences.push(Sentence::StandAlone { name, target, reason });
        } else if state != ConnectionState::Connected {
            let since = down_since(connection);
            sentences.push(Sentence::Away { name, state, since, reason });
        }
        sentences.extend(rests(resource, connection));
        // The only path has the reason of the connection, which is told already.
        let is_told = state != ConnectionState::Connected && connection.paths.len() == 1;
        let dead = connection.paths.iter().filter(|path| !path.established && !is_told);
        sentences.extend(dead.map(|path| dead_path(connection, path)));
    }
    sentences.extend(slowest(resource));
    if sentences.is_empty() {
        sentences.push(Sentence::AllConnected);
    }
    sentences
}

fn rests(resource: &ResourceStatus, connection: &ConnectionStatus) -> Option<Sentence> {
    let known = connection.lost_again.clone()?;
    let mut paths = connection.paths.iter();
    let path = paths.clone().find(|path| path.in_use).or_else(|| paths.next())?;
    let (name, how_to_see) = (connection.name.clone(), path.remote_host.how_to_see_large_packets());
    let target = format!("{}:{name}", resource.name);
    Some(match resource.suspended {
        false => Sentence::Rests { name, target, known, how_to_see },
        true => Sentence::RestsWhileSuspended { name, target, known, how_to_see },
    })
}

/// The sentence about a path that does not work: since when, why, and where to look.
fn dead_path(connection: &ConnectionStatus, path: &PathStatus) -> Sentence {
    let dead = DeadPath {
        name: connection.name.clone(),
        here: path.this_host.clone(),
        there: path.remote_host.clone(),
        down_seconds: path.down_ms.map(|ms| ms / 1000),
        reason: path.reason.clone(),
    };
    let another_carries = connection.paths.iter().any(|other| other.in_use);
    if another_carries { Sentence::OnePathDown(dead) } else { Sentence::PathDown(dead) }
}

/// The peer that sets the pace of writes, where the times are known.
fn slowest(resource: &ResourceStatus) -> Option<Sentence> {
    let in_touch = resource.connections.iter();
    let in_touch = in_touch.filter(|it| it.connection_state == ConnectionState::Connected);
    let timed = in_touch.filter_map(|connection| {
        let mut devices = connection.peer_devices.iter();
        let latency = devices.find_map(|device| device.ack_latency.as_ref())?;
        Some((mean_us(latency)?, &connection.name))
    });
    let mut timed: Vec<_> = timed.collect();
    timed.sort_unstable();
    let (us, name) = timed.pop()?;
    let others = timed.into_iter().rev().map(|(us, name)| (name.clone(), us)).collect();
    Some(Sentence::Slowest { name: name.clone(), us, others })
}

fn mean_us(latency: &LatencyHistogram) -> Option<u64> {
    latency.sum_us.checked_div(latency.count())
}
