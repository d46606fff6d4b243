//! Connections: they carry messages in order, break, and come back.

use std::collections::BTreeSet;
use std::time::Duration;

use format::message::{Control, Data, DataBody};
use replication::contract::{GroupInput, PeerReport, ResourceInput};
use stdx::time::Time;

use crate::cluster::{Cluster, Event};

/// One connection between two nodes: lower node, higher node, count.
pub(super) type LinkId = (usize, usize, u64);

#[derive(Debug, Default)]
pub(super) struct Link {
    /// Both sides up: the current connection.
    pub(super) current: Option<u64>,
    count: u64,
    /// Sides that have not noticed the end of the last connection.
    unnoticed: BTreeSet<usize>,
    pub(super) cut: bool,
    connecting: bool,
    /// Nothing overtakes on a connection.
    last_delivery: [Time; 2],
}

impl Cluster {
    pub(super) fn link(&mut self, a: usize, b: usize) -> &mut Link {
        self.links.entry((a.min(b), a.max(b))).or_default()
    }

    pub(super) fn current_link(&self, a: usize, b: usize) -> Option<LinkId> {
        let key = (a.min(b), a.max(b));
        let count = self.links.get(&key)?.current?;
        Some((key.0, key.1, count))
    }

    pub(super) fn try_connect(&mut self, a: usize, b: usize) {
        if a == b || !self.is_up(a) || !self.is_up(b) {
            return;
        }
        let delay = Duration::from_micros(500 + self.random.below(20_000));
        let link = self.link(a, b);
        if link.cut || link.connecting || link.current.is_some() || !link.unnoticed.is_empty() {
            return;
        }
        link.connecting = true;
        self.schedule(delay, Event::LinkUp { a: a.min(b), b: a.max(b) });
    }

    pub(super) fn link_up(&mut self, a: usize, b: usize) {
        let both = self.is_up(a) && self.is_up(b);
        let link = self.link(a, b);
        link.connecting = false;
        if !both || link.cut || link.current.is_some() || !link.unnoticed.is_empty() {
            return;
        }
        link.count += 1;
        link.current = Some(link.count);
        let reports = [self.peer_report(a), self.peer_report(b)];
        self.trace(|| format!("link n{a} n{b} up"));
        for (here, there, report) in [(a, b, reports[1]), (b, a, reports[0])] {
            let peer = Self::node_id(there);
            for shard in 0..self.options.shards {
                self.step_group(here, shard, GroupInput::PeerUp { peer });
            }
            if let Some(report) = report {
                self.step_resource(here, ResourceInput::Connected { peer, report });
            }
        }
    }

    pub(super) fn peer_report(&self, node: usize) -> Option<PeerReport> {
        let process = self.processes[node].as_ref()?;
        let replica = process.resource.report();
        Some(PeerReport { boot_id: process.boot_id, shards: self.options.shards, replica })
    }

    pub(super) fn break_link(&mut self, a: usize, b: usize, notice: Duration) {
        if a == b {
            return;
        }
        let Some(id) = self.current_link(a, b) else { return };
        let link = self.link(a, b);
        link.current = None;
        link.unnoticed = BTreeSet::from([a, b]);
        for (at, other) in [(a, b), (b, a)] {
            let nanos = u64::try_from(notice.as_nanos()).expect("a short time");
            let delay = Duration::from_nanos(self.random.below(nanos + 1));
            self.schedule(delay, Event::LinkDown { link: id, at, other });
        }
    }

    pub(super) fn link_down(&mut self, id: LinkId, at: usize, other: usize) {
        let peer = Self::node_id(other);
        // A process that started since never knew of this connection.
        let known =
            self.link(at, other).unnoticed.remove(&at) && id.2 == self.link(at, other).count;
        if known && self.is_up(at) {
            for shard in 0..self.options.shards {
                self.step_group(at, shard, GroupInput::PeerDown { peer });
            }
            self.step_resource(at, ResourceInput::Disconnected { peer });
        }
        self.try_connect(at, other);
    }

    pub(super) fn transmit(&mut self, (a, b, _): LinkId, from: usize, event: Event) {
        let delay = Duration::from_micros(20 + self.random.below(400));
        let at = self.now + delay;
        let side = usize::from(from != a);
        let link = self.link(a, b);
        let at = at.max(link.last_delivery[side]);
        link.last_delivery[side] = at;
        self.schedule_at(at, event);
    }

    pub(super) fn send_data(
        &mut self,
        from: usize,
        to: usize,
        message: Data,
        values: Option<Vec<u64>>,
    ) {
        if let Some(link) = self.current_link(from, to) {
            self.transmit(link, from, Event::Data { link, from, to, message, values });
        }
    }

    pub(super) fn deliver_data(
        &mut self,
        from: usize,
        to: usize,
        message: Data,
        values: Option<Vec<u64>>,
    ) {
        let shards = self.options.shards;
        let shard = match &message.body {
            DataBody::Write(write) => write.lane.0 % shards,
            DataBody::Ack { lane, .. }
            | DataBody::Stable { lane, .. }
            | DataBody::Read { lane, .. }
            | DataBody::ReadDone { lane, .. }
            | DataBody::Loss { lane, .. }
            | DataBody::LossDone { lane, .. }
            | DataBody::SlotRead { lane, .. }
            | DataBody::SlotData { lane, .. }
            | DataBody::Clear { lane, .. } => lane.0 % shards,
            DataBody::Flush { shard, .. } | DataBody::FlushDone { shard, .. } => shard % shards,
        };
        if self.options.trace_lane.is_some_and(|lane| lane_of(&message.body) == Some(lane)) {
            self.trace(|| format!("n{from} => n{to} {:?} {values:?}", message.body));
        }
        let payload = values.and_then(|values| self.payload(to, values));
        let from = Self::node_id(from);
        self.step_group(to, shard, GroupInput::Peer { from, message, payload });
    }

    pub(super) fn ask_leases(&mut self, node: usize) {
        let sent_at = self.now;
        let Some(nonce) = self.processes[node].as_ref().and_then(|it| it.resource.lease_wanted())
        else {
            return;
        };
        for to in 0..self.processes.len() {
            if let Some(link) = self.current_link(node, to) {
                let event = Event::LeaseAsked { link, from: node, to, nonce, sent_at };
                self.transmit(link, node, event);
            }
        }
    }
}

pub(super) fn brief(message: &Control) -> String {
    let text = format!("{message:?}");
    text.chars().take(110).collect()
}

pub(super) fn lane_of(body: &DataBody) -> Option<u8> {
    match body {
        DataBody::Write(write) => Some(write.lane.0),
        DataBody::Ack { lane, .. }
        | DataBody::Stable { lane, .. }
        | DataBody::Read { lane, .. }
        | DataBody::ReadDone { lane, .. }
        | DataBody::Loss { lane, .. }
        | DataBody::LossDone { lane, .. }
        | DataBody::SlotRead { lane, .. }
        | DataBody::SlotData { lane, .. }
        | DataBody::Clear { lane, .. } => Some(lane.0),
        DataBody::Flush { .. } | DataBody::FlushDone { .. } => None,
    }
}
