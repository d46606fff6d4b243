//! What the agents told of their nodes. It is kept in memory alone: they tell it again each second.

use std::collections::BTreeMap;

use api::agent::{Observed, ObservedPool, ObservedVolume};
use uuid::Uuid;

use crate::model::{Placement, Volume};

/// A node counts as online for so long after its agent was heard.
pub(crate) const ONLINE_MS: u64 = 5_000;

/// DRBD's words.
pub(crate) const UP_TO_DATE: &str = "UpToDate";
pub(crate) const PRIMARY: &str = "Primary";

#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// When the controller began to hear, in milliseconds since 1970.
    began_ms: u64,
    nodes: BTreeMap<Uuid, Heard>,
}

#[derive(Clone, Debug)]
struct Heard {
    at_ms: u64,
    /// Of the document that this is after.
    revision: u64,
    problem: Option<String>,
    pools: BTreeMap<String, ObservedPool>,
    volumes: BTreeMap<String, ObservedVolume>,
}

impl Seen {
    pub(crate) fn since(began_ms: u64) -> Self {
        Self { began_ms, ..Self::default() }
    }

    /// For how long something that began then was under way before the eyes of this controller.
    pub(crate) fn age_ms(&self, began_ms: u64, now_ms: u64) -> u64 {
        // Of a time to come: the system's clock was set back between two starts.
        let known = if began_ms > now_ms { self.began_ms } else { began_ms.max(self.began_ms) };
        now_ms.saturating_sub(known)
    }

    /// An agent that did not call yet may be about to: right after a start nobody is offline.
    pub(crate) fn is_offline(&self, node: Uuid, now_ms: u64) -> bool {
        let may_call = now_ms.saturating_sub(self.began_ms) < 2 * ONLINE_MS;
        !self.is_online(node, now_ms) && (self.nodes.contains_key(&node) || !may_call)
    }

    pub(crate) fn hear(&mut self, node: Uuid, observed: Observed, now_ms: u64) {
        let heard = Heard {
            at_ms: now_ms,
            revision: observed.revision,
            problem: observed.problem,
            pools: observed.pools.into_iter().map(|it| (it.id.clone(), it)).collect(),
            volumes: observed.volumes.into_iter().map(|it| (it.id.clone(), it)).collect(),
        };
        self.nodes.insert(node, heard);
    }

    pub(crate) fn is_online(&self, node: Uuid, now_ms: u64) -> bool {
        self.heard_ms_ago(node, now_ms).is_some_and(|ago| ago < ONLINE_MS)
    }

    pub(crate) fn heard_ms_ago(&self, node: Uuid, now_ms: u64) -> Option<u64> {
        self.nodes.get(&node).map(|heard| now_ms.saturating_sub(heard.at_ms))
    }

    /// That any node was told.
    pub(crate) fn highest_revision(&self) -> u64 {
        self.nodes.values().map(|heard| heard.revision).max().unwrap_or_default()
    }

    pub(crate) fn problem(&self, node: Uuid) -> Option<&str> {
        self.nodes.get(&node)?.problem.as_deref()
    }

    pub(crate) fn pool(&self, node: Uuid, pool: Uuid) -> Option<&ObservedPool> {
        self.nodes.get(&node)?.pools.get(&pool.to_string())
    }

    /// As the agent told of it by a document of this revision, or a later one.
    pub(crate) fn volume(&self, node: Uuid, volume: Uuid, since: u64) -> Option<&ObservedVolume> {
        let heard = self.nodes.get(&node).filter(|heard| heard.revision >= since)?;
        heard.volumes.get(&volume.to_string())
    }

    /// A part of a volume.
    pub(crate) fn part(&self, volume: &Volume, part: &Placement) -> Option<&ObservedVolume> {
        self.volume(part.node, volume.id, part.since)
    }
}

/// Replicas that were born or brought up to date, on nodes that are online.
pub(crate) fn up_to_date<'a>(
    volume: &'a Volume,
    seen: &'a Seen,
    now_ms: u64,
) -> impl Iterator<Item = &'a Placement> {
    volume.replicas().filter(move |it| {
        let is_whole = seen.part(volume, it).is_some_and(|it| it.disk == UP_TO_DATE);
        is_whole && seen.is_online(it.node, now_ms)
    })
}
