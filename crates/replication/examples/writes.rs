//! Steady requests through three nodes in one process, for counting what one of them costs the
//! core.
//!
//! `writes COUNT [KIND [DEPTH [BLOCKS SLOTS [SHARDS]]]]`: COUNT requests, DEPTH (32) in flight, of
//! one block each at random; with KIND `read` by a node with a replica, with `remote-read` by one
//! without, with `sequential` writes of 128 KiB one behind the other. The volume has BLOCKS and its
//! activity log SLOTS; without these all extents are hot after the first round. The lanes are
//! spread over SHARDS groups (1) of each node. Devices and network answer at once and in order;
//! each group settles once for all that waits for it, as a shard does. With BLOCKS it says what the
//! activity log of one node cost. `cargo xtask test instructions` runs this under callgrind.

use std::collections::VecDeque;

use format::ids::{BlockMask, BootId, Epoch, Incarnation, MemberSet, NodeId, Nonce};
use format::message::SlotBase;
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutFlushes, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember, MetadataWrite,
    PartId, Payload, ReplicaRole, Request, RequestKind, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use stdx::random::Random;
use stdx::time::Time;

const NODES: u8 = 3;
const LANES: u8 = 16;
const BLOCKS: u64 = 64 * 1024;
const SLOTS: usize = 1237;
/// Blocks of a sequential write.
const RUN: u32 = 32;
const SESSION: Nonce = Nonce(9);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Sequential,
    Read,
    /// The leader has no replica.
    RemoteRead,
}

impl Kind {
    fn of(word: &str) -> Self {
        match word {
            "write" => Self::Write,
            "sequential" => Self::Sequential,
            "read" => Self::Read,
            "remote-read" => Self::RemoteRead,
            other => panic!("{other:?} is not write, sequential, read or remote-read"),
        }
    }

    /// The members with a replica.
    fn replicas(self) -> MemberSet {
        MemberSet(if self == Self::RemoteRead { 0b110 } else { 0b111 })
    }
}

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

struct Member {
    /// One for each shard.
    groups: Vec<LaneGroup>,
    inbox: VecDeque<(usize, GroupInput)>,
}

struct Cluster {
    kind: Kind,
    members: Vec<Member>,
    actions: Vec<GroupAction>,
    completed: u64,
    now: Time,
    /// Of the first node.
    log: Log,
}

/// What was asked of one node's metadata and device.
#[derive(Debug, Default)]
struct Log {
    records: u64,
    extents: u64,
    pages: u64,
    flushes: u64,
    /// Writes in flight, added up over all turns.
    waits: u64,
}

impl Log {
    fn count(&mut self, action: &GroupAction) {
        if let GroupAction::WriteMetadata { write, .. } = action {
            if let MetadataWrite::Activity(record) = write {
                self.records += 1;
                self.extents += u64::try_from(record.changes.len()).expect("at most 64");
            } else {
                self.pages += 1;
            }
        } else if matches!(action, GroupAction::FlushDevice { .. }) {
            self.flushes += 1;
        }
    }

    #[expect(clippy::print_stdout, reason = "it is an example, and this is what it found")]
    fn print(&self, writes: u64) {
        let per_thousand = |count: u64| count * 1000 / writes;
        println!(
            "per 1000 writes: {} records with {} extents, {} bitmap pages, {} flushes; \
             {} hundredths of a turn per write",
            per_thousand(self.records),
            per_thousand(self.extents),
            per_thousand(self.pages),
            per_thousand(self.flushes),
            self.waits * 100 / writes,
        );
    }
}

impl Cluster {
    fn new(kind: Kind, blocks: u64, al_slots: usize, shards: u8) -> Self {
        let replicas = kind.replicas();
        let base = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };
        let members = (0..NODES).map(|me| {
            let group = |shard| {
                LaneGroup::new(GroupOptions {
                    me: node(me),
                    boot_id: BootId(1),
                    shard,
                    shards,
                    volume: 0,
                    lanes: LANES,
                    space: Space::of_one(blocks),
                    has_disk: replicas.has(node(me)),
                    al_slots: al_slots / usize::from(shards),
                    al_next_number: 1,
                    tracked: replicas,
                    read_policy: ReadPolicy::default(),
                    slow_limit: replication::limits::SLOW_MEMBER_LIMIT,
                    slots: Vec::new(),
                    slot_bases: replicas.iter().map(|member| LostMember { member, base }).collect(),
                })
            };
            Member { groups: (0..shards).map(group).collect(), inbox: VecDeque::new() }
        });
        Self {
            kind,
            members: members.collect(),
            actions: Vec::new(),
            completed: 0,
            now: Time(1),
            log: Log::default(),
        }
    }

    fn tell(&mut self, to: usize, message: &ToGroup) {
        let Member { groups, inbox } = &mut self.members[to];
        inbox.extend((0..groups.len()).map(|shard| (shard, GroupInput::Home(message.clone()))));
    }

    fn begin(&mut self) {
        let replicas = self.kind.replicas();
        for me in 0..NODES {
            let at = usize::from(me);
            for peer in (0..NODES).filter(|peer| *peer != me) {
                let Member { groups, inbox } = &mut self.members[at];
                let up = GroupInput::PeerUp { peer: node(peer) };
                inbox.extend((0..groups.len()).map(|shard| (shard, up.clone())));
            }
            let has_disk = replicas.has(node(me));
            let role = if has_disk { ReplicaRole::InSync } else { ReplicaRole::None };
            self.tell(at, &ToGroup::Replica(role));
            self.tell(at, &ToGroup::Seal { nonce: SESSION, round: RoundId(1) });
            if has_disk {
                let (ranges, round) = (Vec::new(), RoundId(2));
                self.tell(at, &ToGroup::Inherit { nonce: SESSION, ranges, round });
            }
        }
        let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let boots = replicas.iter().map(|member| (member, BootId(1))).collect();
        let (nonce, write_set) = (SESSION, replicas);
        self.tell(0, &ToGroup::Lead { nonce, write_set, boots, outdated, missed, lost });
        self.tell(0, &ToGroup::Serve { epoch: Epoch(2), in_sync: replicas, round: RoundId(3) });
        self.tell(0, &ToGroup::Lease { until: Time::NEVER });
        while self.turn() {}
    }

    /// One turn of each member; false if nobody had anything to do.
    fn turn(&mut self) -> bool {
        let mut was_busy = false;
        for me in 0..self.members.len() {
            let (now, waiting) = (self.now, self.members[me].inbox.len());
            was_busy |= waiting > 0;
            for _ in 0..waiting {
                let Member { groups, inbox } = &mut self.members[me];
                let (shard, input) = inbox.pop_front().expect("it was counted");
                groups[shard].step(now, input, &mut self.actions);
                self.perform(me, shard);
            }
            for shard in 0..self.members[me].groups.len() {
                self.members[me].groups[shard].settle(now, &mut self.actions);
                self.perform(me, shard);
            }
        }
        was_busy
    }

    fn perform(&mut self, me: usize, shard: usize) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            if me == 0 {
                self.log.count(&action);
            }
            match action {
                GroupAction::WriteDevice { token, .. }
                | GroupAction::ZeroDevice { token, .. }
                | GroupAction::FlushDevice { token }
                | GroupAction::WriteMetadata { token, .. } => {
                    let result = Ok(DeviceResult::Done);
                    self.members[me].inbox.push_back((shard, GroupInput::Device { token, result }));
                }
                GroupAction::ReadDevice { token, .. } => {
                    let (payload, zeroes) = (Payload(1), BlockMask::EMPTY);
                    let result = Ok(DeviceResult::Read { payload, zeroes });
                    self.members[me].inbox.push_back((shard, GroupInput::Device { token, result }));
                }
                GroupAction::Send { to, message, payload } => {
                    let input = GroupInput::Peer { from: self.id(me), message, payload };
                    self.members[usize::from(to.get())].inbox.push_back((shard, input));
                }
                GroupAction::SendWrite { to, message, payload } => {
                    for member in to.iter() {
                        let (from, message) = (self.id(me), message.clone());
                        let input = GroupInput::Peer { from, message, payload };
                        self.members[usize::from(member.get())].inbox.push_back((shard, input));
                    }
                }
                GroupAction::Complete { result, .. } => {
                    assert!(result.is_ok(), "a request failed");
                    self.completed += 1;
                }
                GroupAction::Home(FromGroup::DeviceFlushed { number }) => {
                    let shard = u8::try_from(shard).expect("few shards");
                    let believe = ToGroup::Flushes(AboutFlushes::Believe { shard, number });
                    self.members[me].inbox.push_back((usize::from(shard), believe.into()));
                }
                GroupAction::Release(_) | GroupAction::Home(_) => {}
                other @ (GroupAction::DigestDevice { .. }
                | GroupAction::CopyDevice { .. }
                | GroupAction::Overlay { .. }
                | GroupAction::DigestPayload { .. }
                | GroupAction::KeepBlocks { .. }) => {
                    panic!("a steady request needs nothing like {other:?}")
                }
            }
        }
        self.actions = actions;
    }

    fn id(&self, me: usize) -> NodeId {
        node(u8::try_from(me).expect("three nodes"))
    }

    fn ask(&mut self, number: u64, block: u64, count: u32) {
        let kind = match self.kind {
            Kind::Write | Kind::Sequential => {
                RequestKind::Write { payload: Payload(1), fua: false }
            }
            Kind::Read | Kind::RemoteRead => RequestKind::Read,
        };
        let (offset, length) = (block * 4096, count * 4096);
        let request = Request { part: PartId(number), kind, offset, length };
        let shards = u8::try_from(self.members[0].groups.len()).expect("few shards");
        let shard = format::ids::lane_of_block(block, LANES).0 % shards;
        let input = GroupInput::Request(request);
        self.members[0].inbox.push_back((usize::from(shard), input));
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let count = number(0).unwrap_or(10_000);
    let kind = Kind::of(words.get(1).map_or("write", String::as_str));
    let depth = number(2).unwrap_or(32);
    let blocks = number(3).unwrap_or(BLOCKS);
    let slots = number(4).map_or(SLOTS, |slots| usize::try_from(slots).expect("a few"));
    let shards = number(5).map_or(1, |shards| u8::try_from(shards).expect("a few"));
    let mut random = Random::new(7);
    let mut cluster = Cluster::new(kind, blocks, slots, shards);
    cluster.begin();
    cluster.log = Log::default();
    let mut started = 0;
    while cluster.completed < count {
        while started < count && started - cluster.completed < depth {
            if kind == Kind::Sequential {
                cluster.ask(started + 1, started * u64::from(RUN) % blocks, RUN);
            } else {
                cluster.ask(started + 1, random.below(blocks), 1);
            }
            started += 1;
        }
        let before = cluster.completed;
        if cluster.members.iter().all(|member| member.inbox.is_empty()) {
            // Something waits for its time.
            let groups = cluster.members.iter().flat_map(|member| &member.groups);
            let next = groups.map(LaneGroup::wake_at).min();
            cluster.now = cluster.now.max(next.expect("three members"));
        }
        let went_on = cluster.turn();
        cluster.log.waits += started - before;
        let is_waiting = cluster.members.iter().any(|member| !member.inbox.is_empty());
        assert!(
            went_on || is_waiting || cluster.completed > before,
            "stuck at {before} of {count}"
        );
    }
    if number(3).is_some() {
        cluster.log.print(count);
    }
}
