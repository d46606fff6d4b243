//! Nodes, connections and time: delivers one event after another.

pub(crate) mod changes;
mod clock;
mod forger;
mod holes;
mod members;
mod network;
pub(crate) mod options;
mod perform;
mod permits;
mod storage;
mod wakes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use format::config::Ancestor;
use format::ids::{BlockRange, BootId, Digest, KernelBootId, MemberSet, NodeId, VoteStoreId};
use format::space::{Place, Space};
use replication::balance::ReadPolicy;
use replication::contract::{
    Command, CommandDone, CommandError, CommandId, Demands, FromGroup, GroupAction, GroupInput,
    PartId, Payload, RequestError, ResourceAction, ResourceInput, ToGroup,
};
use replication::limits;
use stdx::random::Random;
use stdx::time::Time;

use crate::cluster::changes::Changes;
use crate::cluster::clock::{Clock, DRIFT_MAX_PPM};
use crate::cluster::forger::Forger;
pub use crate::cluster::members::{Configured, Replaced};
use crate::cluster::network::{Ear, End, Letter, Link, LinkId};
use crate::cluster::permits::Permit;
use crate::cluster::storage::new_disk;
use crate::contents::Contents;
use crate::disk::Disk;
use crate::process::Process;
use crate::sometimes::Mark;

pub use crate::cluster::forger::Forged;
pub use crate::cluster::holes::Hole;
pub use crate::cluster::options::{ClusterOptions, Quirks};

/// What a disk fails next, once each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadDisk {
    pub read: bool,
    pub write: bool,
    pub flush: bool,
    /// The disk loses what was not flushed, and tells one request of one shard: the next one that
    /// makes something durable. That one it answers late, if it is slow then.
    pub forgets: bool,
    pub metadata: bool,
    pub save: bool,
    /// Of the state directory: the register is written no more.
    pub register: bool,
    /// A block that cannot be read until it is written.
    pub unreadable: Option<u64>,
    /// The next write of this block is acknowledged, and goes to another place.
    pub misplaces: Option<Misplaced>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    pub block: u64,
    /// Where it goes; nowhere if there is none.
    pub to: Option<u64>,
}

/// What happens, and to whom.
#[derive(Debug)]
enum Event {
    /// The settle of a group, or a deadline.
    Wake {
        node: usize,
        boot: BootId,
    },
    Letter(Box<Letter>),
    Heartbeat {
        node: usize,
        boot: BootId,
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
    /// Someone is told that a link began, or ended.
    EarUp {
        link: LinkId,
        node: usize,
        ear: Ear,
    },
    EarDown {
        link: LinkId,
        node: usize,
        ear: Ear,
    },
    /// Somebody noticed that a connection broke.
    Torn {
        link: LinkId,
    },
    Restart {
        node: usize,
    },
    /// Of a disk.
    Enlarged {
        node: usize,
        boot: BootId,
        place: Place,
        size_bytes: u64,
    },
}

/// Between the home shard and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    ToGroup,
    FromGroup,
}

/// What the outside hears of a node.
#[derive(Debug)]
pub enum Outcome {
    Completed {
        node: usize,
        part: PartId,
        result: Result<Option<Vec<u64>>, RequestError>,
    },
    Answered {
        node: usize,
        id: CommandId,
        result: Result<CommandDone, CommandError>,
    },
    Role {
        node: usize,
        primary: bool,
    },
    Config {
        node: usize,
        losses: u32,
        value: Ancestor,
        space: Space,
    },
    /// What an operator of a Primary is told.
    Quorum {
        node: usize,
        is_there: bool,
    },
    /// It does not connect to that one: its data is of no history that is known here.
    Unrelated {
        node: usize,
        peer: NodeId,
    },
}

/// What a disk takes longer for.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowDisk {
    pub read: Duration,
    pub save: Duration,
    pub flush: Duration,
    pub write: Duration,
    pub metadata: Duration,
}

/// All that was on a disk at some time.
#[derive(Clone, Debug)]
pub struct DiskImage(Disk);

#[expect(missing_debug_implementations, reason = "it is watched by its trace")]
pub struct Cluster {
    pub options: ClusterOptions,
    pub now: Time,
    pub random: Random,
    pub(crate) disks: Vec<Disk>,
    pub(crate) processes: Vec<Option<Process>>,
    kernel_boots: Vec<u128>,
    /// The members that each node's configuration names; nobody where the resource is not.
    pub(crate) configured: Vec<MemberSet>,
    /// Whom each process takes for a member.
    pub(crate) peers: Vec<MemberSet>,
    links: BTreeMap<(usize, usize), Link>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    events: BTreeMap<u64, Event>,
    next_event: u64,
    next_io: u64,
    /// In order per sender and shard.
    last_internal: BTreeMap<(usize, u8, Way), Time>,
    /// How much longer the mailboxes between home and shards take, beyond chance.
    pub slow_mail: BTreeMap<(usize, u8, Way), Duration>,
    pub outcomes: Vec<Outcome>,
    /// Blocks that a disk changed behind everybody's back: no replica has to be equal there.
    pub spoiled: BTreeSet<u64>,
    /// Nodes whose operator said to give up what they have.
    pub(crate) told_to_discard: MemberSet,
    /// Losses after which an operator let clients go on that cannot tell.
    pub(crate) reopened: BTreeSet<u32>,
    pub events_done: u64,
    pub(crate) changes: Changes,
    /// How long each node's disk takes for what it is asked, beyond chance: saves, flushes, writes.
    pub slow: Vec<SlowDisk>,
    /// How much longer every message takes.
    pub far_apart: Duration,
    pub bad: Vec<BadDisk>,
    /// How large each node's disk of the first volume can be made; those of the others by as much.
    pub backing: Vec<u64>,
    clocks: Vec<Clock>,
    /// Until when a process does nothing at all.
    stopped_until: Vec<Time>,
    /// These do not start.
    pub(crate) away: MemberSet,
    /// Their disks were put back to an older day.
    pub(crate) disks_put_back: MemberSet,
    /// The vote stores of nodes whose registers were put back to an older day.
    pub(crate) registers_put_back: BTreeMap<usize, VoteStoreId>,
    pub(crate) contents: Contents,
    pub(crate) marks: BTreeSet<Mark>,
    /// How many shards each node had last.
    shards_before: Vec<Option<u8>>,
    /// Of each node: control messages to it whose text begins so are lost, and with them the
    /// connection.
    pub deaf_to: Vec<Option<&'static str>>,
    /// Data from the first node to the second is late on the connection of this lane.
    late_lane: Option<(usize, usize, u8, Duration)>,
    /// What the way from the first node to the second swallows.
    holes: BTreeMap<(usize, usize), Hole>,
    /// Large messages have to pass both ways before connections count; not so between nodes of a
    /// release that knows of no probes.
    pub probes: bool,
    /// Of each node: the question of its replica that nobody answered.
    pub asked: Vec<Option<u64>>,
    permits: Vec<Permit>,
    /// Of each node: whom it asked to be put out, and the number of the question; the newest last.
    pub fence_asked: Vec<Vec<(u64, usize)>>,
    /// Between the connections and who reads from them.
    pub(crate) forger: Option<Forger>,
    /// What a step did that it may not do.
    pub(crate) violation: Option<String>,
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
            configured: vec![MemberSet::EMPTY; count],
            peers: vec![MemberSet::EMPTY; count],
            links: BTreeMap::new(),
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            next_event: 0,
            next_io: 0,
            last_internal: BTreeMap::new(),
            slow_mail: BTreeMap::new(),
            spoiled: BTreeSet::new(),
            told_to_discard: MemberSet::EMPTY,
            reopened: BTreeSet::new(),
            outcomes: Vec::new(),
            events_done: 0,
            changes: Changes::new(options.nodes),
            slow: vec![SlowDisk::default(); count],
            far_apart: Duration::ZERO,
            bad: vec![BadDisk::default(); count],
            backing: vec![options.space.bytes_at(Place::FIRST); count],
            clocks: vec![Clock::exact(); count],
            stopped_until: vec![Time::ZERO; count],
            away: MemberSet::EMPTY,
            disks_put_back: MemberSet::EMPTY,
            registers_put_back: BTreeMap::new(),
            contents: Contents::default(),
            marks: BTreeSet::new(),
            shards_before: vec![None; count],
            late_lane: None,
            holes: BTreeMap::new(),
            probes: true,
            deaf_to: vec![None; count],
            asked: vec![None; count],
            permits: vec![Permit::default(); count],
            fence_asked: vec![Vec::new(); count],
            forger: None,
            violation: None,
            resource_actions: Vec::new(),
            group_actions: Vec::new(),
            random,
            options,
        };
        for node in 0..count {
            if cluster.options.quirks.clocks {
                let ahead = cluster.random.below(1 << 40);
                cluster.clocks[node].set_ahead(ahead);
                cluster.drift(node);
            }
        }
        let members = cluster.options.first_members();
        for node in members.iter() {
            cluster.configured[node.index()] = members;
            cluster.start(node.index());
        }
        cluster
    }

    fn node_id(node: usize) -> NodeId {
        NodeId::new(u8::try_from(node).expect("few nodes")).expect("few nodes")
    }

    pub fn is_up(&self, node: usize) -> bool {
        self.processes[node].is_some()
    }

    /// The process runs without the disk that it began with.
    pub(crate) fn lost_its_disk(&self, node: usize) -> bool {
        let diskful = self.options.is_diskful(Self::node_id(node));
        diskful && self.processes[node].as_ref().is_some_and(|process| !process.disk_open)
    }

    pub fn is_primary(&self, node: usize) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.primary)
    }

    // ---- Faults.

    pub fn start(&mut self, node: usize) {
        let is_away = self.away.has(Self::node_id(node));
        if self.processes[node].is_some() || self.configured[node].is_empty() || is_away {
            return;
        }
        self.peers[node] = self.configured[node];
        self.begin_permits(node);
        let members = self.configured[node];
        let boot_id = BootId(self.random.next_u64());
        let kernel = KernelBootId(self.kernel_boots[node]);
        let seed = self.random.next_u64();
        let boots = (boot_id, kernel, seed);
        let id = Self::node_id(node);
        let shards = *self.random.pick(&self.options.shards[node]).expect("a count of shards");
        if self.shards_before[node].replace(shards).is_some_and(|before| before != shards) {
            self.marks.insert(Mark::ShardsChanged);
        }
        let local = self.local_time(node);
        let disk = &mut self.disks[node];
        let process = Process::start(&self.options, (id, shards, members), disk, boots, local);
        self.disks[node].paged = true;
        self.processes[node] = Some(process);
        self.changes.of_life(id);
        self.trace(|| format!("start n{node}"));
        self.wake_by(node, self.now + Duration::from_millis(1));
        self.schedule(Duration::from_millis(250), Event::Heartbeat { node, boot: boot_id });
        for other in 0..self.processes.len() {
            self.try_connect(node, other);
        }
    }

    /// The process dies; what it had asked of its disk happens, or does not.
    pub fn kill(&mut self, node: usize) {
        self.end_process(node, End::Broken);
    }

    fn end_process(&mut self, node: usize, end: End) {
        let Some(process) = self.processes[node].take() else { return };
        self.changes.of_life(Self::node_id(node));
        self.trace(|| format!("kill n{node}"));
        for outstanding in process.outstanding.into_values() {
            self.abandon(node, outstanding);
        }
        self.disks[node].forget_nothing();
        self.stopped_until[node] = Time::ZERO;
        for other in 0..self.processes.len() {
            self.tear(node, other, end);
        }
    }

    pub fn cut_power(&mut self, node: usize) {
        self.end_process(node, End::Silent);
        self.trace(|| format!("power cut n{node}"));
        self.kernel_boots[node] = u128::from(self.random.next_u64());
        self.disks[node].cut_power(&mut self.random, &mut self.contents);
    }

    /// The process is stopped as by SIGSTOP; its peers hear nothing of it.
    pub fn stop_for(&mut self, node: usize, time: Duration) {
        if !self.is_up(node) {
            return;
        }
        self.trace(|| format!("stop n{node} for {time:?}"));
        self.stopped_until[node] = self.stopped_until[node].max(self.now + time);
        for other in (0..self.processes.len()).filter(|&other| other != node) {
            self.fall_silent(node, other, time);
        }
    }

    pub fn is_stopped(&self, node: usize) -> bool {
        self.now < self.stopped_until[node]
    }

    /// The machine's clock changes its rate.
    pub fn drift(&mut self, node: usize) {
        let ppm = self.random.below(2 * DRIFT_MAX_PPM + 1);
        self.clocks[node].drift(self.now, ppm);
    }

    pub(crate) fn local_time(&self, node: usize) -> Time {
        self.clocks[node].local(self.now)
    }

    pub(crate) fn balance_reads(&mut self, node: usize, policy: ReadPolicy) {
        let shards = self.processes[node].as_ref().map_or(0, |process| process.shards);
        for shard in 0..shards {
            self.step_group(node, shard, GroupInput::Home(ToGroup::ReadPolicy(policy)));
        }
    }

    /// No read of a client of `node` goes to these.
    pub fn read_nothing_from(&mut self, node: usize, members: MemberSet) {
        for shard in 0..self.shards_of(node).unwrap_or(0) {
            self.step_group(node, shard, GroupInput::Home(ToGroup::NoReadsFrom(members)));
        }
    }

    pub fn restart_later(&mut self, node: usize, delay: Duration) {
        self.schedule(delay, Event::Restart { node });
    }

    // ---- The outside.

    pub fn command(&mut self, node: usize, id: CommandId, command: Command) {
        if matches!(command, Command::DiscardData { .. }) {
            self.told_to_discard.insert(Self::node_id(node));
        }
        if command == Command::Reopen
            && let Some(process) = &self.processes[node]
            && let Some(config) = process.resource.status().config
        {
            self.reopened.insert(config.losses);
        }
        self.step_resource(node, ResourceInput::Command { id, command });
    }

    /// The configuration of a node asks for something else now.
    pub fn demand(&mut self, node: usize, demands: Demands) {
        self.options.demands = demands;
        self.step_resource(node, ResourceInput::Demands(demands));
    }

    /// How long `node` waits for a member that does not answer, while it leads.
    pub fn be_patient(&mut self, node: usize, limit: Duration) {
        for shard in 0..self.shards_of(node).unwrap_or(0) {
            self.step_group(node, shard, GroupInput::Home(ToGroup::SlowLimit(limit)));
        }
    }

    pub fn payload(&mut self, node: usize, values: Vec<u64>) -> Option<Payload> {
        let process = self.processes[node].as_mut()?;
        Some(Payload(process.payloads.insert(values)))
    }

    pub fn request(&mut self, node: usize, block: u64, input: GroupInput) {
        let lanes = self.disks[node].superblock.lanes;
        let lane = format::ids::lane_of_block(block, lanes);
        let Some(shards) = self.shards_of(node) else { return };
        self.step_group(node, lane.0 % shards, input);
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
        if let Some(resumes) = self.put_off_until(&event) {
            self.schedule_at(resumes, event);
            return true;
        }
        self.events_done += 1;
        self.deliver(event);
        true
    }

    /// What concerns a stopped process waits, in its order.
    fn put_off_until(&self, event: &Event) -> Option<Time> {
        let node = match event {
            Event::Wake { node, .. }
            | Event::Heartbeat { node, .. }
            | Event::ToGroup { node, .. }
            | Event::FromGroup { node, .. }
            | Event::Disk { node, .. }
            | Event::EarUp { node, .. }
            | Event::EarDown { node, .. } => *node,
            Event::Letter(letter) => letter.to(),
            Event::LinkUp { a, b } => {
                let until = self.stopped_until[*a].max(self.stopped_until[*b]);
                return (self.now < until).then_some(until);
            }
            Event::Enlarged { node, .. } => *node,
            Event::Torn { .. } | Event::Restart { .. } => return None,
        };
        self.is_stopped(node).then(|| self.stopped_until[node])
    }

    fn deliver(&mut self, event: Event) {
        match event {
            Event::Wake { node, boot } if self.is_alive(node, boot) => self.wake(node),
            Event::Heartbeat { node, boot } if self.is_alive(node, boot) => {
                self.ask_leases(node);
                let event = Event::Heartbeat { node, boot };
                self.schedule(limits::HEARTBEAT_INTERVAL, event);
            }
            Event::Letter(letter) => self.deliver_letter(*letter),
            Event::ToGroup { node, boot, shard, message } if self.is_alive(node, boot) => {
                self.marks.extend(Mark::of_home(&message));
                if let Some(process) = self.processes[node].as_ref() {
                    let group = &process.groups[usize::from(shard)];
                    self.marks.extend(Mark::of_fence(&message, group));
                }
                if let (ToGroup::Attach { .. }, Some(process)) =
                    (message.as_ref(), self.processes[node].as_mut())
                {
                    process.reaches_disk[usize::from(shard)] = true;
                }
                self.step_group(node, shard, GroupInput::Home(*message));
            }
            Event::FromGroup { node, boot, shard, fact } if self.is_alive(node, boot) => {
                self.step_resource(node, ResourceInput::Group { shard, fact });
            }
            Event::Disk { node, boot, id } if self.is_alive(node, boot) => self.disk_done(node, id),
            Event::LinkUp { a, b } => self.link_up(a, b),
            Event::EarUp { link, node, ear } => self.ear_up(link, node, ear),
            Event::EarDown { link, node, ear } => self.ear_down(link, node, ear),
            Event::Torn { link } => self.torn(link),
            Event::Restart { node } => self.start(node),
            Event::Enlarged { node, boot, place, size_bytes } if self.is_alive(node, boot) => {
                self.step_resource(node, ResourceInput::DiskEnlarged { place, size_bytes });
            }
            // Of a process or a connection that is gone.
            Event::Wake { .. }
            | Event::Heartbeat { .. }
            | Event::ToGroup { .. }
            | Event::FromGroup { .. }
            | Event::Enlarged { .. }
            | Event::Disk { .. } => {}
        }
    }

    fn is_alive(&self, node: usize, boot: BootId) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.boot_id == boot)
    }

    // ---- Inputs and actions.

    pub fn step_resource(&mut self, node: usize, input: ResourceInput) {
        self.changes.of_resource(Self::node_id(node));
        let now = self.local_time(node);
        let is_tick = matches!(input, ResourceInput::Tick);
        let mut actions = std::mem::take(&mut self.resource_actions);
        if let Some(process) = self.processes[node].as_mut() {
            process.resource.step(now, input, &mut actions);
        }
        if is_tick {
            self.check_rest_of_resource(node, now);
        } else {
            self.note_rest_of_resource(node, now);
        }
        for action in actions.drain(..) {
            self.perform_resource(node, action);
        }
        self.resource_actions = actions;
        self.schedule_wake(node);
    }

    fn step_group(&mut self, node: usize, shard: u8, input: GroupInput) {
        let now = self.local_time(node);
        let settle = self.random.chance(1, 3);
        let mut actions = std::mem::take(&mut self.group_actions);
        if let Some(process) = self.processes[node].as_mut() {
            self.changes.of_group(node, shard, process.shards);
            let group = &mut process.groups[usize::from(shard)];
            let session = group.session();
            let foreign = input.session().filter(|&nonce| nonce != session);
            group.step(now, input, &mut actions);
            let is_used = |action: &GroupAction| !matches!(action, GroupAction::Release(_));
            if let Some(nonce) = foreign.filter(|_| actions.iter().any(is_used)) {
                let text = format!("I4: n{node} obeys {session:?} and uses a message of {nonce:?}");
                self.violation = Some(text);
            }
            process.unsettled[usize::from(shard)] += 1;
            if settle {
                group.settle(now, &mut actions);
                process.unsettled[usize::from(shard)] = 0;
            }
            let rests = !settle || group.wake_at() > now;
            if group.forgets_errands() {
                self.violation = Some(format!("n{node} is not done, and does not go on"));
            } else if !rests {
                self.violation = Some(wakes::for_nothing(node));
            }
        }
        for action in actions.drain(..) {
            self.perform_group(node, shard, action);
        }
        self.group_actions = actions;
        if settle {
            self.schedule_wake(node);
        } else {
            self.wake_by(node, self.now + Duration::from_micros(20));
        }
    }

    // ---- Time.

    fn internal_delivery(&mut self, node: usize, shard: u8, way: Way) -> Time {
        let extra = self.slow_mail.get(&(node, shard, way)).copied().unwrap_or_default();
        let at = self.now + self.mailbox_delay() + extra;
        let last = self.last_internal.entry((node, shard, way)).or_default();
        *last = at.max(*last);
        *last
    }

    /// How long a message between two shards takes: mostly nothing, and now and then long enough
    /// for a round trip between nodes.
    fn mailbox_delay(&mut self) -> Duration {
        let most = match self.random.below(100) {
            0..70 => 10,
            70..95 if self.options.quirks.slow_mail => 500,
            95..100 if self.options.quirks.slow_mail => 6_000,
            _ => 20,
        };
        Duration::from_micros(self.random.below(most))
    }

    /// A random time up to `most`.
    fn within(&mut self, most: Duration) -> Duration {
        let nanos = u64::try_from(most.as_nanos()).expect("a short time");
        Duration::from_nanos(self.random.below(nanos + 1))
    }

    fn shards_of(&self, node: usize) -> Option<u8> {
        Some(self.processes[node].as_ref()?.shards)
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

    #[expect(clippy::print_stderr, reason = "a trace is what `--trace` asks for")]
    pub(crate) fn trace(&self, text: impl FnOnce() -> String) {
        if self.options.trace {
            eprintln!("{:?} {}", self.now, text());
        }
    }

    pub(crate) fn any_node(&self, random: &mut Random) -> usize {
        let count = u64::from(self.options.nodes);
        usize::try_from(random.below(count)).expect("few nodes")
    }
}

/// A block's content is told by its number.
pub(crate) fn digests_of(values: &[u64]) -> Vec<Digest> {
    values.iter().map(|&value| Digest(u128::from(value))).collect()
}

/// Whole blocks of one extent, for the workload.
#[must_use]
pub fn range(start: u64, count: u32) -> BlockRange {
    BlockRange::new(start, count)
}
