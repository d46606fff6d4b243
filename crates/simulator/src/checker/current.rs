//! What a node shows is of now, or it says since when it is old (PROTOCOL.md 7d).
//!
//! The network is quiet around a node while no process and no connection comes or goes among those
//! that it is connected with, over third nodes too. Then, within a bound: it knows what any of
//! these knows to be chosen; and where none of them reaches a quorum, and who leads is not among
//! them, it says that it is out of touch.
//!
//! What was chosen, and nobody who is left knows to be, is found out by the next session, and not
//! before.

use std::collections::BTreeMap;
use std::time::Duration;

use format::config::Config;
use format::ids::{BootId, Epoch, MemberSet};
use replication::contract::WithoutQuorum;
use replication::limits;
use replication::quorum::is_quorum;
use stdx::time::Time;

use crate::checker::{Checker, is_of, processes, register_node};
use crate::cluster::Cluster;

/// The voters of a value that nobody who is left knows to be chosen are found out by a session,
/// which replicas try to lead in turn; before that a silent peer has to be lost.
const SHOWN_WITHIN: Duration = limits::CARETAKER_WAIT
    .saturating_add(limits::CARETAKER_STEP.saturating_mul(4))
    .saturating_add(limits::SEAL_DEADLINE)
    .saturating_add(limits::PEER_SILENT_MAX)
    .saturating_add(ON_THE_WAY_MAX);
const ON_THE_WAY_MAX: Duration = Duration::from_secs(1);
/// All nodes are looked at only so often, in events.
const INTERVAL: u64 = 10;

#[derive(Debug, Default)]
pub(super) struct Current {
    looked_at: u64,
    seen: BTreeMap<usize, Seen>,
}

/// One node with what it is connected with.
#[derive(Clone, Debug)]
struct Seen {
    around: Around,
    /// Does not know what was chosen: of that epoch, since then.
    behind: Option<(Epoch, Time)>,
    /// Is in touch with nobody who knows, and does not say so, since then.
    deluded: Option<Time>,
}

/// Whom a node reaches, over third nodes too, and over which connections.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Around {
    nodes: MemberSet,
    boots: Vec<BootId>,
    connections: Vec<(usize, usize, u64)>,
}

impl Checker {
    pub(super) fn check_current(&mut self, cluster: &Cluster) -> Result<(), String> {
        let is_due = cluster.events_done >= self.current.looked_at + INTERVAL;
        // Of lines that parted none is the newest, and who forges what is said counts for nobody.
        let is_one_line = self.leaves().count() == 1 && cluster.forger.is_none();
        let Some(newest) = self.newest().filter(|_| is_due && is_one_line).cloned() else {
            return Ok(());
        };
        self.current.looked_at = cluster.events_done;
        // With proof that the others are out, or by its options, a node decides without a quorum.
        let waits_for_quorum = cluster.options.demands.without_quorum == WithoutQuorum::Wait;
        let mut before = std::mem::take(&mut self.current.seen);
        for (node, process) in processes(cluster).filter(|&(node, _)| !cluster.is_stopped(node)) {
            let around = around(cluster, node);
            let seen = before.remove(&node).filter(|seen| seen.around == around);
            let (behind, deluded) = seen.map_or((None, None), |it| (it.behind, it.deluded));
            let known = process.resource.chosen();
            let is_of_line = known.is_none_or(|known| known.branch == newest.branch);
            let epoch = known.map_or(Epoch(0), |known| known.epoch);
            let wanted = wanted(cluster, &around, &newest);
            let behind = behind.filter(|&(wanted, _)| is_of_line && epoch < wanted);
            let lacks = waits_for_quorum && is_of_line && epoch < wanted;
            let behind = behind.or_else(|| lacks.then_some((wanted, cluster.now)));
            let says_so = process.resource.out_of_touch_since().is_some();
            let is_deluded = waits_for_quorum && !says_so && !may_know(cluster, node, &newest);
            let deluded = is_deluded.then(|| deluded.unwrap_or(cluster.now));
            if let Some((wanted, since)) = behind
                && cluster.now.since(since) > SHOWN_WITHIN
            {
                return Err(format!(
                    "7d: n{node} knows of {epoch:?}, and {wanted:?} was chosen {:?} ago by those \
                     whom it reaches",
                    cluster.now.since(since)
                ));
            }
            if let Some(since) = deluded
                && cluster.now.since(since) > SHOWN_WITHIN
            {
                return Err(format!(
                    "7d: n{node} reaches neither a quorum nor who leads for {:?}, and shows \
                     {epoch:?} as if it were of now",
                    cluster.now.since(since)
                ));
            }
            self.current.seen.insert(node, Seen { around, behind, deluded });
        }
        Ok(())
    }
}

/// What a node is to know that is connected with these.
fn wanted(cluster: &Cluster, around: &Around, newest: &Config) -> Epoch {
    let known = processes(cluster).filter(|&(it, _)| around.nodes.has(register_node(it)));
    let known = known.filter_map(|(_, process)| process.resource.chosen());
    let known = known.filter(|value| value.branch == newest.branch).map(|value| value.epoch);
    known.max().unwrap_or(Epoch(0))
}

fn around(cluster: &Cluster, node: usize) -> Around {
    let mut connections = Vec::new();
    let nodes = reached(cluster, node, |a, b| {
        let connection = cluster.conversation(a, b);
        connections.extend(connection.map(|it| (a, b, it)));
        connection.is_some()
    });
    let boots = processes(cluster).filter(|&(it, _)| nodes.has(register_node(it)));
    Around { nodes, boots: boots.map(|(_, process)| process.boot_id).collect(), connections }
}

/// `node`, and whom it reaches by such steps.
fn reached(
    cluster: &Cluster,
    node: usize,
    mut is_step: impl FnMut(usize, usize) -> bool,
) -> MemberSet {
    let mut nodes = MemberSet::of(register_node(node));
    let mut new = vec![node];
    while let Some(from) = new.pop() {
        for (to, _) in processes(cluster).filter(|&(to, _)| to != from) {
            let is_reached = is_step(from, to);
            if is_reached && !nodes.has(register_node(to)) {
                nodes = nodes.with(register_node(to));
                new.push(to);
            }
        }
    }
    nodes
}

/// It hears what a quorum of the value's voters says.
pub(crate) fn reaches_quorum(cluster: &Cluster, node: usize, newest: &Config) -> bool {
    are_quorum(cluster, newest, |voter| {
        let is_heard = voter == node || cluster.conversation(node, voter).is_some();
        is_heard && !cluster.is_mute(voter) && !cluster.is_stopped(voter)
    })
}

/// Even by connections of which one side alone knows it may be in touch with who knows.
fn may_know(cluster: &Cluster, node: usize, newest: &Config) -> bool {
    let sees = |a: usize, b: usize| {
        let process = cluster.processes[a].as_ref();
        process.is_some_and(|it| it.resource.is_connected(register_node(b)))
    };
    let nodes = reached(cluster, node, |a, b| sees(a, b) || sees(b, a));
    let leads = |it: usize| {
        let process = cluster.processes[it].as_ref();
        process.is_some_and(|process| {
            let mut sessions = process.groups.iter().filter_map(|group| group.served());
            sessions.any(|(nonce, _)| is_of(newest, nonce))
        })
    };
    are_quorum(cluster, newest, |voter| nodes.has(register_node(voter)))
        || nodes.iter().any(|it| leads(it.index()))
}

fn are_quorum(cluster: &Cluster, value: &Config, is_there: impl Fn(usize) -> bool) -> bool {
    let voters = processes(cluster).filter(|&(voter, _)| is_there(voter));
    let votes: Vec<_> = voters
        .map(|(voter, _)| (register_node(voter), cluster.disks[voter].register.store))
        .collect();
    is_quorum(value, &votes.iter().copied())
}
