//! Steady requests through three groups in one process, for counting what one of them costs the
//! core.
//!
//! `writes COUNT [KIND [DEPTH]]`: random writes of one block each, DEPTH (32) in flight, over
//! extents that are all hot after the first round; with KIND `read` as many reads by a node with a
//! replica, with `remote-read` by one without. Devices and network answer at once and in order;
//! each group settles once for all that waits for it, as a shard does. `cargo xtask test
//! instructions` runs this under callgrind.

use std::collections::VecDeque;

use format::ids::{BlockMask, BootId, Epoch, Incarnation, MemberSet, NodeId, Nonce};
use format::message::SlotBase;
use replication::balance::ReadPolicy;
use replication::contract::{
    DeviceResult, GroupAction, GroupInput, LostMember, PartId, Payload, ReplicaRole, Request,
    RequestKind, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use stdx::random::Random;
use stdx::time::Time;

const NODES: u8 = 3;
const BLOCKS: u64 = 64 * 1024;
const SESSION: Nonce = Nonce(9);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Read,
    /// The leader has no replica.
    RemoteRead,
}

impl Kind {
    /// The members with a replica.
    fn replicas(self) -> MemberSet {
        MemberSet(if self == Self::RemoteRead { 0b110 } else { 0b111 })
    }
}

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

struct Member {
    group: LaneGroup,
    inbox: VecDeque<GroupInput>,
}

struct Cluster {
    kind: Kind,
    members: Vec<Member>,
    actions: Vec<GroupAction>,
    completed: u64,
}

impl Cluster {
    fn new(kind: Kind) -> Self {
        let replicas = kind.replicas();
        let base = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };
        let members = (0..NODES).map(|me| {
            let group = LaneGroup::new(GroupOptions {
                me: node(me),
                boot_id: BootId(1),
                shard: 0,
                shards: 1,
                volume: 0,
                lanes: 16,
                size_bytes: BLOCKS * 4096,
                has_disk: replicas.has(node(me)),
                al_slots: 1237,
                al_next_number: 1,
                tracked: replicas,
                read_policy: ReadPolicy::default(),
                slots: Vec::new(),
                slot_bases: replicas.iter().map(|member| LostMember { member, base }).collect(),
            });
            Member { group, inbox: VecDeque::new() }
        });
        Self { kind, members: members.collect(), actions: Vec::new(), completed: 0 }
    }

    fn tell(&mut self, to: usize, message: ToGroup) {
        self.members[to].inbox.push_back(GroupInput::Home(message));
    }

    fn begin(&mut self) {
        let replicas = self.kind.replicas();
        for me in 0..NODES {
            let at = usize::from(me);
            for peer in (0..NODES).filter(|peer| *peer != me) {
                self.members[at].inbox.push_back(GroupInput::PeerUp { peer: node(peer) });
            }
            let has_disk = replicas.has(node(me));
            let role = if has_disk { ReplicaRole::InSync } else { ReplicaRole::None };
            self.tell(at, ToGroup::Replica(role));
            self.tell(at, ToGroup::Seal { nonce: SESSION, round: RoundId(1) });
            if has_disk {
                let (ranges, round) = (Vec::new(), RoundId(2));
                self.tell(at, ToGroup::Inherit { nonce: SESSION, ranges, round });
            }
        }
        let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let boots = replicas.iter().map(|member| (member, BootId(1))).collect();
        let (nonce, write_set) = (SESSION, replicas);
        self.tell(0, ToGroup::Lead { nonce, write_set, boots, outdated, missed, lost });
        self.tell(0, ToGroup::Serve { epoch: Epoch(2), in_sync: replicas, round: RoundId(3) });
        self.tell(0, ToGroup::Lease { until: Time::NEVER });
        while self.turn() {}
    }

    /// One turn of each member; false if nobody had anything to do.
    fn turn(&mut self) -> bool {
        let mut was_busy = false;
        for me in 0..self.members.len() {
            let waiting = self.members[me].inbox.len();
            was_busy |= waiting > 0;
            for _ in 0..waiting {
                let Member { group, inbox } = &mut self.members[me];
                let input = inbox.pop_front().expect("it was counted");
                group.step(Time(1), input, &mut self.actions);
                self.perform(me);
            }
            self.members[me].group.settle(Time(1), &mut self.actions);
            self.perform(me);
        }
        was_busy
    }

    fn perform(&mut self, me: usize) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                GroupAction::WriteDevice { token, .. }
                | GroupAction::ZeroDevice { token, .. }
                | GroupAction::FlushDevice { token }
                | GroupAction::WriteMetadata { token, .. } => {
                    let result = Ok(DeviceResult::Done);
                    self.members[me].inbox.push_back(GroupInput::Device { token, result });
                }
                GroupAction::ReadDevice { token, .. } => {
                    let (payload, zeroes) = (Payload(1), BlockMask::EMPTY);
                    let result = Ok(DeviceResult::Read { payload, zeroes });
                    self.members[me].inbox.push_back(GroupInput::Device { token, result });
                }
                GroupAction::Send { to, message, payload } => {
                    let input = GroupInput::Peer { from: self.id(me), message, payload };
                    self.members[usize::from(to.get())].inbox.push_back(input);
                }
                GroupAction::SendWrite { to, message, payload } => {
                    for member in to.iter() {
                        let (from, message) = (self.id(me), message.clone());
                        let input = GroupInput::Peer { from, message, payload };
                        self.members[usize::from(member.get())].inbox.push_back(input);
                    }
                }
                GroupAction::Complete { result, .. } => {
                    assert!(result.is_ok(), "a request failed");
                    self.completed += 1;
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

    fn ask(&mut self, number: u64, block: u64) {
        let kind = match self.kind {
            Kind::Write => RequestKind::Write { payload: Payload(1), fua: false },
            Kind::Read | Kind::RemoteRead => RequestKind::Read,
        };
        let (part, offset, length) = (PartId(number), block * 4096, 4096);
        let request = Request { part, kind, offset, length };
        self.members[0].inbox.push_back(GroupInput::Request(request));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|argument| argument.parse::<u64>().ok());
    let (count, depth) = (number(0).unwrap_or(10_000), number(2).unwrap_or(32));
    let kind = match arguments.get(1).map(String::as_str) {
        None | Some("write") => Kind::Write,
        Some("read") => Kind::Read,
        Some("remote-read") => Kind::RemoteRead,
        Some(other) => panic!("{other:?} is not write, read or remote-read"),
    };
    let mut random = Random::new(7);
    let mut cluster = Cluster::new(kind);
    cluster.begin();
    let mut started = 0;
    while cluster.completed < count {
        while started < count && started - cluster.completed < depth {
            started += 1;
            cluster.ask(started, random.below(BLOCKS));
        }
        let before = cluster.completed;
        let went_on = cluster.turn();
        assert!(went_on || cluster.completed > before, "{} of {count}", cluster.completed);
    }
}
