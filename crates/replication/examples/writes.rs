//! Steady writes through three groups in one process, for counting what one of them costs the core.
//!
//! `writes COUNT [DEPTH]`: random writes of one block each, DEPTH (32) in flight, over extents that
//! are all hot after the first round. Devices and network answer at once and in order; each group
//! settles once for all that waits for it, as a shard does. `cargo xtask test instructions` runs
//! this under callgrind.

use std::collections::VecDeque;

use format::ids::{BootId, Epoch, Incarnation, MemberSet, NodeId, Nonce};
use format::message::SlotBase;
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
const ALL: MemberSet = MemberSet(0b111);

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

struct Member {
    group: LaneGroup,
    inbox: VecDeque<GroupInput>,
}

struct Cluster {
    members: Vec<Member>,
    actions: Vec<GroupAction>,
    completed: u64,
}

impl Cluster {
    fn new() -> Self {
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
                has_disk: true,
                al_slots: 1237,
                al_next_number: 1,
                tracked: ALL,
                slots: Vec::new(),
                slot_bases: (0..NODES).map(|id| LostMember { member: node(id), base }).collect(),
            });
            Member { group, inbox: VecDeque::new() }
        });
        Self { members: members.collect(), actions: Vec::new(), completed: 0 }
    }

    fn tell(&mut self, to: usize, message: ToGroup) {
        self.members[to].inbox.push_back(GroupInput::Home(message));
    }

    fn begin(&mut self) {
        for me in 0..NODES {
            let at = usize::from(me);
            for peer in (0..NODES).filter(|peer| *peer != me) {
                self.members[at].inbox.push_back(GroupInput::PeerUp { peer: node(peer) });
            }
            self.tell(at, ToGroup::Replica(ReplicaRole::InSync));
            self.tell(at, ToGroup::Seal { nonce: SESSION, round: RoundId(1) });
            let (ranges, round) = (Vec::new(), RoundId(2));
            self.tell(at, ToGroup::Inherit { nonce: SESSION, ranges, round });
        }
        let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let boots = ALL.iter().map(|member| (member, BootId(1))).collect();
        let lead = ToGroup::Lead { nonce: SESSION, write_set: ALL, boots, outdated, missed, lost };
        self.tell(0, lead);
        self.tell(0, ToGroup::Serve { epoch: Epoch(2), in_sync: ALL, round: RoundId(3) });
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
                    assert!(result.is_ok(), "a write failed");
                    self.completed += 1;
                }
                GroupAction::Release(_) | GroupAction::Home(_) => {}
                other @ (GroupAction::ReadDevice { .. }
                | GroupAction::DigestDevice { .. }
                | GroupAction::CopyDevice { .. }
                | GroupAction::Overlay { .. }
                | GroupAction::DigestPayload { .. }
                | GroupAction::KeepBlocks { .. }) => {
                    panic!("a steady write needs nothing like {other:?}")
                }
            }
        }
        self.actions = actions;
    }

    fn id(&self, me: usize) -> NodeId {
        node(u8::try_from(me).expect("three nodes"))
    }

    fn write(&mut self, number: u64, block: u64) {
        let request = Request {
            part: PartId(number),
            kind: RequestKind::Write { payload: Payload(1), fua: false },
            offset: block * 4096,
            length: 4096,
        };
        self.members[0].inbox.push_back(GroupInput::Request(request));
    }
}

fn main() {
    let mut arguments =
        std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let count = arguments.next().unwrap_or(10_000);
    let depth = arguments.next().unwrap_or(32);
    let mut random = Random::new(7);
    let mut cluster = Cluster::new();
    cluster.begin();
    let mut started = 0;
    while cluster.completed < count {
        while started < count && started - cluster.completed < depth {
            started += 1;
            cluster.write(started, random.below(BLOCKS));
        }
        let before = cluster.completed;
        let went_on = cluster.turn();
        assert!(went_on || cluster.completed > before, "{} of {count} writes", cluster.completed);
    }
}
