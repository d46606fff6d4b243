//! Nodes, connections and time: delivers one event after another.

mod network;
mod storage;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use format::ids::{BlockRange, BootId, Branch, Epoch, KernelBootId, MemberSet, NodeId, Nonce};
use format::message::{Control, Data};
use replication::contract::{
    Command, CommandError, CommandId, FromGroup, GroupAction, GroupInput, PartId, Payload,
    RequestError, ResourceAction, ResourceInput, ToGroup,
};
use replication::limits;
use stdx::random::Random;
use stdx::time::Time;

use crate::cluster::network::{Link, LinkId, brief};
use crate::cluster::storage::new_disk;
use crate::disk::Disk;
use crate::process::{Outstanding, Process};

#[derive(Clone, Debug)]
pub struct ClusterOptions {
    pub seed: u64,
    pub nodes: u8,
    /// The last so many nodes have no disk.
    pub clients: u8,
    pub shards: u8,
    pub size_bytes: u64,
    pub al_slots: usize,
    pub trace: bool,
    /// Trace the messages of this lane, too.
    pub trace_lane: Option<u8>,
}

impl ClusterOptions {
    pub(crate) fn members(&self) -> MemberSet {
        (0..self.nodes).filter_map(NodeId::new).collect()
    }

    pub(crate) fn is_diskful(&self, node: NodeId) -> bool {
        node.get() < self.nodes - self.clients
    }
}

/// What happens, and to whom.
#[derive(Debug)]
enum Event {
    /// The settle of a group, or a deadline.
    Wake {
        node: usize,
        boot: BootId,
    },
    Control {
        link: LinkId,
        from: usize,
        to: usize,
        message: Control,
    },
    Data {
        link: LinkId,
        from: usize,
        to: usize,
        message: Data,
        values: Option<Vec<u64>>,
    },
    Heartbeat {
        node: usize,
        boot: BootId,
    },
    LeaseAsked {
        link: LinkId,
        from: usize,
        to: usize,
        nonce: Nonce,
        sent_at: Time,
    },
    LeaseAnswered {
        link: LinkId,
        from: usize,
        to: usize,
        nonce: Nonce,
        sent_at: Time,
        granted: bool,
    },
    ToGroup {
        node: usize,
        boot: BootId,
        shard: u8,
        message: Box<ToGroup>,
    },
    FromGroup {
        node: usize,
        boot: BootId,
        shard: u8,
        fact: FromGroup,
    },
    Disk {
        node: usize,
        boot: BootId,
        id: u64,
    },
    LinkUp {
        a: usize,
        b: usize,
    },
    LinkDown {
        link: LinkId,
        at: usize,
        other: usize,
    },
    Restart {
        node: usize,
    },
}

/// Between the home shard and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    ToGroup,
    FromGroup,
}

/// What the outside hears of a node.
#[derive(Debug)]
pub enum Outcome {
    Completed { node: usize, part: PartId, result: Result<Option<Vec<u64>>, RequestError> },
    Answered { node: usize, id: CommandId, result: Result<(), CommandError> },
    Role { node: usize, primary: bool },
    Config { node: usize, losses: u32, branch: Branch, epoch: Epoch },
}

/// What a disk takes longer for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowDisk {
    pub save: Duration,
    pub flush: Duration,
    pub write: Duration,
    pub metadata: Duration,
}

#[expect(missing_debug_implementations, reason = "it is watched by its trace")]
pub struct Cluster {
    pub options: ClusterOptions,
    pub now: Time,
    pub random: Random,
    pub(crate) disks: Vec<Disk>,
    pub(crate) processes: Vec<Option<Process>>,
    kernel_boots: Vec<u128>,
    links: BTreeMap<(usize, usize), Link>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    events: BTreeMap<u64, Event>,
    next_event: u64,
    next_io: u64,
    /// In order per sender and shard.
    last_internal: BTreeMap<(usize, u8, Way), Time>,
    pub outcomes: Vec<Outcome>,
    pub events_done: u64,
    /// How long each node's disk takes for what it is asked, beyond chance: saves, flushes, writes.
    pub slow: Vec<SlowDisk>,
    /// Of each node: control messages to it whose text begins so are lost, and with them the
    /// connection.
    pub deaf_to: Vec<Option<&'static str>>,
    resource_actions: Vec<ResourceAction>,
    group_actions: Vec<GroupAction>,
}

impl Cluster {
    #[must_use]
    pub fn new(options: ClusterOptions) -> Self {
        let mut random = Random::new(options.seed);
        let count = usize::from(options.nodes);
        let disks = options.members().iter().map(|node| new_disk(&options, node, &mut random));
        let disks = disks.collect();
        let mut cluster = Self {
            now: Time(1),
            disks,
            processes: (0..count).map(|_| None).collect(),
            kernel_boots: (0..count).map(|_| u128::from(random.next_u64())).collect(),
            links: BTreeMap::new(),
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next_event: 0,
            next_io: 0,
            last_internal: BTreeMap::new(),
            outcomes: Vec::new(),
            events_done: 0,
            slow: vec![SlowDisk::default(); count],
            deaf_to: vec![None; count],
            resource_actions: Vec::new(),
            group_actions: Vec::new(),
            random,
            options,
        };
        for node in 0..count {
            cluster.start(node);
        }
        cluster
    }

    fn node_id(node: usize) -> NodeId {
        NodeId::new(u8::try_from(node).expect("few nodes")).expect("few nodes")
    }

    pub fn is_up(&self, node: usize) -> bool {
        self.processes[node].is_some()
    }

    pub fn is_primary(&self, node: usize) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.primary)
    }

    // ---- Faults.

    pub fn start(&mut self, node: usize) {
        if self.processes[node].is_some() {
            return;
        }
        let boot_id = BootId(self.random.next_u64());
        let kernel = KernelBootId(self.kernel_boots[node]);
        let seed = self.random.next_u64();
        let boots = (boot_id, kernel, seed);
        let id = Self::node_id(node);
        let process = Process::start(&self.options, id, &mut self.disks[node], boots, self.now);
        self.processes[node] = Some(process);
        self.trace(|| format!("start n{node}"));
        self.schedule(Duration::from_millis(1), Event::Wake { node, boot: boot_id });
        self.schedule(Duration::from_millis(250), Event::Heartbeat { node, boot: boot_id });
        for other in 0..self.processes.len() {
            self.try_connect(node, other);
        }
    }

    /// The process dies; what it had asked of its disk happens, or does not.
    pub fn kill(&mut self, node: usize) {
        let Some(process) = self.processes[node].take() else { return };
        self.trace(|| format!("kill n{node}"));
        for outstanding in process.outstanding.into_values() {
            if self.random.chance(1, 2) {
                self.apply_to_disk(node, &outstanding);
            }
        }
        for other in 0..self.processes.len() {
            self.break_link(node, other, Duration::from_millis(1));
        }
    }

    pub fn cut_power(&mut self, node: usize) {
        self.kill(node);
        self.trace(|| format!("power cut n{node}"));
        self.kernel_boots[node] = u128::from(self.random.next_u64());
        self.disks[node].cut_power(&mut self.random);
        for other in 0..self.processes.len() {
            self.break_link(node, other, limits::PEER_SILENT_MAX);
        }
    }

    /// Nothing passes between the two any more; each side notices by silence.
    pub fn cut_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.trace(|| format!("cut n{a} n{b}"));
            self.link(a, b).cut = true;
            self.break_link(a, b, limits::PEER_SILENT_MAX);
        }
    }

    pub fn heal_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.link(a, b).cut = false;
            self.try_connect(a, b);
        }
    }

    /// A connection breaks and comes back.
    pub fn reset_link(&mut self, a: usize, b: usize) {
        if a != b {
            self.trace(|| format!("reset n{a} n{b}"));
            self.break_link(a, b, Duration::from_millis(2));
        }
    }

    pub fn restart_later(&mut self, node: usize, delay: Duration) {
        self.schedule(delay, Event::Restart { node });
    }

    // ---- The outside.

    pub fn command(&mut self, node: usize, id: CommandId, command: Command) {
        self.step_resource(node, ResourceInput::Command { id, command });
    }

    pub fn payload(&mut self, node: usize, values: Vec<u64>) -> Option<Payload> {
        let process = self.processes[node].as_mut()?;
        Some(Payload(process.payloads.insert(values)))
    }

    pub fn request(&mut self, node: usize, block: u64, input: GroupInput) {
        let lanes = self.disks[node].superblock.lanes;
        let lane = format::ids::lane_of_block(block, lanes);
        let shard = lane.0 % self.options.shards;
        self.step_group(node, shard, input);
    }

    /// Delivers the next event; false if there is none before `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let Some(&Reverse((at, id))) = self.queue.peek() else { return false };
        if at > until {
            self.now = until;
            return false;
        }
        self.queue.pop();
        let Some(event) = self.events.remove(&id) else { return true };
        self.now = self.now.max(at);
        self.events_done += 1;
        self.deliver(event);
        true
    }

    fn deliver(&mut self, event: Event) {
        match event {
            Event::Wake { node, boot } if self.is_alive(node, boot) => self.wake(node),
            Event::Heartbeat { node, boot } if self.is_alive(node, boot) => {
                self.ask_leases(node);
                let event = Event::Heartbeat { node, boot };
                self.schedule(limits::HEARTBEAT_INTERVAL, event);
            }
            Event::Control { link, from, to, message } if self.is_current(link) => {
                self.trace(|| format!("n{from} -> n{to} {}", brief(&message)));
                if self.deaf_to[to].is_some_and(|name| brief(&message).starts_with(name)) {
                    self.deaf_to[to] = None;
                    return self.reset_link(from, to);
                }
                let from = Self::node_id(from);
                self.step_resource(to, ResourceInput::Control { from, message });
            }
            Event::Data { link, from, to, message, values } if self.is_current(link) => {
                self.deliver_data(from, to, message, values);
            }
            Event::LeaseAsked { link, from, to, nonce, sent_at } if self.is_current(link) => {
                let now = self.now;
                let Some(process) = self.processes[to].as_mut() else { return };
                let from_id = Self::node_id(from);
                let granted = process.resource.grant(now, from_id, nonce, limits::LEASE);
                let event =
                    Event::LeaseAnswered { link, from: to, to: from, nonce, sent_at, granted };
                self.transmit(link, to, event);
            }
            Event::LeaseAnswered { link, from, to, nonce, sent_at, granted }
                if self.is_current(link) =>
            {
                let peer = Self::node_id(from);
                self.step_resource(to, ResourceInput::Lease { peer, nonce, sent_at, granted });
            }
            Event::ToGroup { node, boot, shard, message } if self.is_alive(node, boot) => {
                self.step_group(node, shard, GroupInput::Home(*message));
            }
            Event::FromGroup { node, boot, shard, fact } if self.is_alive(node, boot) => {
                self.step_resource(node, ResourceInput::Group { shard, fact });
            }
            Event::Disk { node, boot, id } if self.is_alive(node, boot) => self.disk_done(node, id),
            Event::LinkUp { a, b } => self.link_up(a, b),
            Event::LinkDown { link, at, other } => self.link_down(link, at, other),
            Event::Restart { node } => self.start(node),
            // Of a process or a connection that is gone.
            Event::Wake { .. }
            | Event::Control { .. }
            | Event::Data { .. }
            | Event::Heartbeat { .. }
            | Event::LeaseAsked { .. }
            | Event::LeaseAnswered { .. }
            | Event::ToGroup { .. }
            | Event::FromGroup { .. }
            | Event::Disk { .. } => {}
        }
    }

    fn is_alive(&self, node: usize, boot: BootId) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.boot_id == boot)
    }

    fn is_current(&self, (a, b, count): LinkId) -> bool {
        self.links.get(&(a, b)).is_some_and(|link| link.current == Some(count))
    }

    // ---- Inputs and actions.

    fn step_resource(&mut self, node: usize, input: ResourceInput) {
        let now = self.now;
        let mut actions = std::mem::take(&mut self.resource_actions);
        if let Some(process) = self.processes[node].as_mut() {
            process.resource.step(now, input, &mut actions);
        }
        for action in actions.drain(..) {
            self.perform_resource(node, action);
        }
        self.resource_actions = actions;
        self.schedule_wake(node);
    }

    fn step_group(&mut self, node: usize, shard: u8, input: GroupInput) {
        let now = self.now;
        let settle = self.random.chance(1, 3);
        let mut actions = std::mem::take(&mut self.group_actions);
        if let Some(process) = self.processes[node].as_mut() {
            let group = &mut process.groups[usize::from(shard)];
            group.step(now, input, &mut actions);
            process.unsettled[usize::from(shard)] += 1;
            if settle {
                group.settle(now, &mut actions);
                process.unsettled[usize::from(shard)] = 0;
            }
        }
        for action in actions.drain(..) {
            self.perform_group(node, shard, action);
        }
        self.group_actions = actions;
        if settle {
            self.schedule_wake(node);
        } else if let Some(boot) = self.processes[node].as_ref().map(|process| process.boot_id) {
            self.schedule(Duration::from_micros(20), Event::Wake { node, boot });
        }
    }

    fn wake(&mut self, node: usize) {
        let now = self.now;
        for shard in 0..self.options.shards {
            let mut actions = std::mem::take(&mut self.group_actions);
            if let Some(process) = self.processes[node].as_mut() {
                let group = &mut process.groups[usize::from(shard)];
                let unsettled = std::mem::take(&mut process.unsettled[usize::from(shard)]) > 0;
                if unsettled || group.wake_at() <= now {
                    group.settle(now, &mut actions);
                }
            }
            for action in actions.drain(..) {
                self.perform_group(node, shard, action);
            }
            self.group_actions = actions;
        }
        if self.processes[node].as_ref().is_some_and(|process| process.resource.wake_at() <= now) {
            self.step_resource(node, ResourceInput::Tick);
        }
        self.schedule_wake(node);
    }

    fn schedule_wake(&mut self, node: usize) {
        let Some(process) = self.processes[node].as_ref() else { return };
        let groups = process.groups.iter().map(replication::group::LaneGroup::wake_at);
        let at = groups.chain([process.resource.wake_at()]).min().unwrap_or(Time::NEVER);
        if at != Time::NEVER {
            let boot = process.boot_id;
            self.schedule_at(at.max(self.now), Event::Wake { node, boot });
        }
    }

    fn perform_resource(&mut self, node: usize, action: ResourceAction) {
        match action {
            ResourceAction::Send { to, message } => {
                let to = to.index();
                if let Some(link) = self.current_link(node, to) {
                    self.transmit(link, node, Event::Control { link, from: node, to, message });
                }
            }
            ResourceAction::Save { save, register, superblock } => {
                self.ask_disk(node, Outstanding::Save { save, register, superblock });
            }
            ResourceAction::Group(message) => {
                let Some(boot) = self.processes[node].as_ref().map(|it| it.boot_id) else { return };
                for shard in 0..self.options.shards {
                    let message = Box::new(message.clone());
                    let at = self.internal_delivery(node, shard, Way::ToGroup);
                    self.schedule_at(at, Event::ToGroup { node, boot, shard, message });
                }
            }
            ResourceAction::Reset { peer } => self.reset_link(node, peer.index()),
            ResourceAction::CloseDisk => {
                if let Some(process) = self.processes[node].as_mut() {
                    process.disk_open = false;
                }
            }
            ResourceAction::Answer { id, result } => {
                self.trace(|| format!("n{node} answers {id:?} {result:?}"));
                self.outcomes.push(Outcome::Answered { node, id, result });
            }
            ResourceAction::RoleChanged { primary } => {
                self.trace(|| format!("n{node} primary {primary}"));
                if let Some(process) = self.processes[node].as_mut() {
                    process.primary = primary;
                }
                self.outcomes.push(Outcome::Role { node, primary });
            }
            ResourceAction::ConfigChanged(config) => {
                let (losses, branch, epoch) = (config.losses, config.branch, config.epoch);
                self.trace(|| {
                    format!("n{node} config {epoch:?} insync {:?}", config.volumes[0].insync_set())
                });
                self.outcomes.push(Outcome::Config { node, losses, branch, epoch });
            }
            ResourceAction::RenewLease => self.ask_leases(node),
            ResourceAction::Unrelated { .. } => {}
        }
    }

    fn perform_group(&mut self, node: usize, shard: u8, action: GroupAction) {
        match action {
            GroupAction::ReadDevice { token, range, detect_zero } => {
                self.ask_disk(node, Outstanding::Read { shard, token, range, detect_zero });
            }
            GroupAction::WriteDevice { token, range, payload, fua } => {
                let values = self.values(node, payload);
                assert_eq!(values.len(), range.count as usize, "a payload fits its range");
                self.ask_disk(node, Outstanding::Write { shard, token, range, values, fua });
            }
            GroupAction::ZeroDevice { token, range, fua, .. } => {
                let values = vec![0; range.count as usize];
                self.ask_disk(node, Outstanding::Write { shard, token, range, values, fua });
            }
            GroupAction::FlushDevice { token } => {
                let snapshot = self.disks[node].flush_snapshot();
                self.ask_disk(node, Outstanding::Flush { shard, token, snapshot });
            }
            GroupAction::WriteMetadata { token, write } => {
                let write = Box::new(write);
                self.ask_disk(node, Outstanding::Metadata { shard, token, write });
            }
            GroupAction::Send { to, message, payload } => {
                let values = payload.map(|payload| self.values(node, payload));
                self.send_data(node, to.index(), message, values);
            }
            GroupAction::SendWrite { to, message, payload } => {
                let values = payload.map(|payload| self.values(node, payload));
                for to in to.iter() {
                    self.send_data(node, to.index(), message.clone(), values.clone());
                }
            }
            GroupAction::Overlay { .. } => unreachable!("the workload writes whole blocks"),
            GroupAction::Complete { part, result } => {
                let result = result.map(|payload| payload.map(|payload| self.take(node, payload)));
                self.outcomes.push(Outcome::Completed { node, part, result });
            }
            GroupAction::Release(payload) => drop(self.take(node, payload)),
            GroupAction::Home(fact) => {
                let Some(boot) = self.processes[node].as_ref().map(|it| it.boot_id) else { return };
                let at = self.internal_delivery(node, shard, Way::FromGroup);
                self.schedule_at(at, Event::FromGroup { node, boot, shard, fact });
            }
        }
    }

    fn values(&self, node: usize, payload: Payload) -> Vec<u64> {
        let process = self.processes[node].as_ref().expect("it acts");
        process.payload(payload).to_vec()
    }

    fn take(&mut self, node: usize, payload: Payload) -> Vec<u64> {
        let process = self.processes[node].as_mut().expect("it acts");
        process.payloads.remove(payload.0).expect("a payload is released exactly once")
    }

    // ---- Time.

    fn internal_delivery(&mut self, node: usize, shard: u8, way: Way) -> Time {
        let at = self.now + Duration::from_micros(self.random.below(10));
        let last = self.last_internal.entry((node, shard, way)).or_default();
        *last = at.max(*last);
        *last
    }

    fn schedule(&mut self, delay: Duration, event: Event) {
        self.schedule_at(self.now + delay, event);
    }

    fn schedule_at(&mut self, at: Time, event: Event) {
        let id = self.next_event;
        self.next_event += 1;
        self.queue.push(Reverse((at, id)));
        self.events.insert(id, event);
    }

    fn trace(&self, text: impl FnOnce() -> String) {
        if self.options.trace {
            trace(self.now, &text());
        }
    }
}

#[expect(clippy::print_stderr, reason = "a trace is what `--trace` asks for")]
pub(crate) fn trace(now: Time, text: &str) {
    eprintln!("{now:?} {text}");
}

/// Whole blocks of one extent, for the workload.
#[must_use]
pub fn range(start: u64, count: u32) -> BlockRange {
    BlockRange::new(start, count)
}
