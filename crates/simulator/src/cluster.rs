//! Nodes, connections and time: delivers one event after another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use format::ids::{
    BlockRange, BootId, Branch, Epoch, Incarnation, KernelBootId, MemberSet, NodeId, Nonce,
    ResourceId, VoteStoreId,
};
use format::message::{Control, Data, DataBody};
use format::metadata::{Register, ReplicaState, Sealed, Slot, Superblock, VoteStamp};
use replication::contract::{
    Command, CommandError, CommandId, DeviceResult, FromGroup, GroupAction, GroupInput,
    MetadataWrite, PartId, Payload, PeerReport, RequestError, ResourceAction, ResourceInput,
    ToGroup,
};
use replication::limits;
use stdx::random::Random;
use stdx::time::Time;

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

/// One connection between two nodes: lower node, higher node, count.
type LinkId = (usize, usize, u64);

#[derive(Debug, Default)]
struct Link {
    /// Both sides up: the current connection.
    current: Option<u64>,
    count: u64,
    /// Sides that have not noticed the end of the last connection.
    unnoticed: BTreeSet<usize>,
    cut: bool,
    connecting: bool,
    /// Nothing overtakes on a connection.
    last_delivery: [Time; 2],
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

    // ---- Disks.

    fn ask_disk(&mut self, node: usize, outstanding: Outstanding) {
        let id = self.next_io;
        self.next_io += 1;
        let Some(process) = self.processes[node].as_mut() else { return };
        let boot = process.boot_id;
        process.outstanding.insert(id, outstanding);
        let slow = self.slow[node];
        let extra = match &process.outstanding[&id] {
            Outstanding::Save { .. } => slow.save,
            Outstanding::Flush { .. } => slow.flush,
            Outstanding::Write { .. } => slow.write,
            Outstanding::Metadata { .. } => slow.metadata,
            Outstanding::Read { .. } => Duration::ZERO,
        };
        let micros = Duration::from_micros(5 + self.random.below(300));
        self.schedule(micros + extra, Event::Disk { node, boot, id });
    }

    fn disk_done(&mut self, node: usize, id: u64) {
        let Some(process) = self.processes[node].as_mut() else { return };
        let Some(outstanding) = process.outstanding.remove(&id) else { return };
        self.apply_to_disk(node, &outstanding);
        match outstanding {
            Outstanding::Save { save, .. } => {
                self.step_resource(node, ResourceInput::Saved { save });
            }
            Outstanding::Read { shard, token, range, detect_zero } => {
                let disk = &self.disks[node];
                let values: Vec<u64> = range.blocks().map(|block| disk.read(block)).collect();
                let zero = detect_zero && values.iter().all(|&value| value == 0);
                let Some(payload) = self.payload(node, values) else { return };
                let result = Ok(DeviceResult::Read { payload, zero });
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
            Outstanding::Write { shard, token, .. }
            | Outstanding::Flush { shard, token, .. }
            | Outstanding::Metadata { shard, token, .. } => {
                let result = Ok(DeviceResult::Done);
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
        }
    }

    fn apply_to_disk(&mut self, node: usize, outstanding: &Outstanding) {
        let disk = &mut self.disks[node];
        match outstanding {
            Outstanding::Read { .. } => {}
            Outstanding::Write { range, values, fua, .. } => {
                if *fua {
                    disk.write_durably(*range, values);
                } else {
                    disk.write(*range, values);
                }
            }
            Outstanding::Flush { snapshot, .. } => disk.finish_flush(snapshot),
            Outstanding::Metadata { write, .. } => match write.as_ref() {
                MetadataWrite::Activity(record) => disk.log(record),
                MetadataWrite::Bitmap { member, lane, page, bits } => {
                    disk.pages.insert((*member, *lane, *page), bits.clone());
                }
            },
            Outstanding::Save { register, superblock, .. } => {
                if let Some(register) = register {
                    disk.register = register.as_ref().clone();
                }
                if let Some(superblock) = superblock {
                    disk.superblock = superblock.as_ref().clone();
                }
            }
        }
    }

    // ---- Connections.

    fn link(&mut self, a: usize, b: usize) -> &mut Link {
        self.links.entry((a.min(b), a.max(b))).or_default()
    }

    fn current_link(&self, a: usize, b: usize) -> Option<LinkId> {
        let key = (a.min(b), a.max(b));
        let count = self.links.get(&key)?.current?;
        Some((key.0, key.1, count))
    }

    fn try_connect(&mut self, a: usize, b: usize) {
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

    fn link_up(&mut self, a: usize, b: usize) {
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

    fn peer_report(&self, node: usize) -> Option<PeerReport> {
        let process = self.processes[node].as_ref()?;
        let replica = process.resource.report();
        Some(PeerReport { boot_id: process.boot_id, shards: self.options.shards, replica })
    }

    fn break_link(&mut self, a: usize, b: usize, notice: Duration) {
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

    fn link_down(&mut self, id: LinkId, at: usize, other: usize) {
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

    fn transmit(&mut self, (a, b, _): LinkId, from: usize, event: Event) {
        let delay = Duration::from_micros(20 + self.random.below(400));
        let at = self.now + delay;
        let side = usize::from(from != a);
        let link = self.link(a, b);
        let at = at.max(link.last_delivery[side]);
        link.last_delivery[side] = at;
        self.schedule_at(at, event);
    }

    fn send_data(&mut self, from: usize, to: usize, message: Data, values: Option<Vec<u64>>) {
        if let Some(link) = self.current_link(from, to) {
            self.transmit(link, from, Event::Data { link, from, to, message, values });
        }
    }

    fn deliver_data(&mut self, from: usize, to: usize, message: Data, values: Option<Vec<u64>>) {
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

    fn ask_leases(&mut self, node: usize) {
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

fn brief(message: &Control) -> String {
    let text = format!("{message:?}");
    text.chars().take(110).collect()
}

fn lane_of(body: &DataBody) -> Option<u8> {
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

fn new_disk(options: &ClusterOptions, node: NodeId, random: &mut Random) -> Disk {
    let incarnation = Incarnation(u128::from(random.next_u64()));
    let store = VoteStoreId(random.next_u64() | 1);
    let members = options.members();
    let slots = members.iter().filter(|&member| options.is_diskful(member));
    let slot = |member| Slot {
        member,
        base_epoch: Epoch(0),
        base_incarnation: Incarnation(0),
        in_use: false,
    };
    let superblock = Superblock {
        resource: ResourceId(1),
        resource_name: "r0".to_owned(),
        volume: 0,
        node,
        branch: Branch(0),
        incarnation,
        sealed: Sealed::default(),
        joined: Epoch(0),
        candidate: None,
        state: ReplicaState::Blank,
        kernel_boot_id: KernelBootId(0),
        size_bytes: options.size_bytes,
        lanes: limits::LANES_DEFAULT,
        write_counter: 0,
        clean: true,
        vote_stamp: VoteStamp::default(),
        slots: slots.map(slot).collect(),
    };
    let register = Register {
        resource: ResourceId(1),
        store,
        promised: format::ids::Ballot::default(),
        promised_nonce: Nonce(0),
        accepted: None,
        write_counter: 0,
    };
    Disk::new(superblock, register)
}

/// Whole blocks of one extent, for the workload.
#[must_use]
pub fn range(start: u64, count: u32) -> BlockRange {
    BlockRange::new(start, count)
}
