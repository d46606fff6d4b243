//! The group of a node, what it is told, and what is seen of what it does.
//!
//! All nodes are in the one session `SESSION`, and `boot` says which process each of them is. A
//! test that needs a group of another kind says in which options it differs.

use std::time::Duration;

use format::ids::{
    BlockRange, BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce, QuestionId, Seq,
};
use format::message::{Data, DataBody, SlotBase, Write, WriteKind};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutFlushes, DeviceError, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember,
    Misbehaviour, PartId, Payload, ReplicaRole, Request, RequestKind, RoundId, ToGroup, Token,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits;
use stdx::time::Time;

pub(crate) const SESSION: Nonce = Nonce(9);
/// That of the first blocks.
pub(crate) const LANE: LaneIndex = LaneIndex(0);
pub(crate) const WRITE: RequestKind = RequestKind::Write { payload: Payload(1), fua: false };

/// What becomes of what the disk is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    /// It is among the actions, and the test answers it.
    ByHand,
    /// All but reads is done at once, and the home believes each flush.
    Works,
    /// The same, and every read fails.
    ReadsNothing,
}

pub(crate) struct Group {
    pub(crate) lanes: LaneGroup,
    disk: Disk,
    me: NodeId,
    now: Time,
    /// All that it did, but for what its disk answered.
    pub(crate) actions: Vec<GroupAction>,
}

impl Group {
    pub(crate) fn new(disk: Disk, options: GroupOptions) -> Self {
        let me = options.me;
        Self { lanes: LaneGroup::new(options), disk, me, now: Time(1), actions: Vec::new() }
    }

    /// As an in-sync member of the session of another node.
    pub(crate) fn into_member(mut self) -> Self {
        self.seal();
        self.inherit();
        self
    }

    /// As the leader, which serves the session with these members.
    pub(crate) fn into_leader(mut self, members: &[u8]) -> Self {
        let in_sync = set(members);
        for peer in in_sync.without(self.me).iter() {
            self.step(GroupInput::PeerUp { peer });
        }
        if in_sync.has(self.me) {
            self.step(ToGroup::Replica(ReplicaRole::InSync));
            self.seal();
            self.inherit();
        }
        self.lead(members, Vec::new(), Vec::new());
        self.step(ToGroup::Serve { epoch: Epoch(2), in_sync, round: RoundId(3) });
        self.step(ToGroup::Lease { until: Time::NEVER });
        self
    }

    pub(crate) fn seal(&mut self) -> &[GroupAction] {
        self.step(ToGroup::Seal { nonce: SESSION, round: RoundId(1) })
    }

    pub(crate) fn inherit(&mut self) -> &[GroupAction] {
        self.step(ToGroup::Inherit { nonce: SESSION, ranges: Vec::new(), round: RoundId(2) })
    }

    pub(crate) fn lead(
        &mut self,
        members: &[u8],
        missed: Vec<BlockRange>,
        lost: Vec<(LostMember, RoundId)>,
    ) -> &[GroupAction] {
        let (nonce, write_set, outdated) = (SESSION, set(members), Vec::new());
        let boots = members.iter().map(|&id| (node(id), boot(id))).collect();
        self.step(ToGroup::Lead { nonce, write_set, boots, outdated, missed, lost })
    }

    pub(crate) fn hear(&mut self, from: u8, body: DataBody) -> &[GroupAction] {
        self.hear_with(from, body, None)
    }

    /// A write of node 0, which leads.
    pub(crate) fn hear_write(&mut self, write: Write) -> &[GroupAction] {
        let payload = (write.kind == WriteKind::Data).then_some(Payload(1));
        self.hear_with(0, DataBody::Write(write), payload)
    }

    pub(crate) fn hear_with(
        &mut self,
        from: u8,
        body: DataBody,
        payload: Option<Payload>,
    ) -> &[GroupAction] {
        let message = Data { nonce: SESSION, volume: 0, body };
        self.step(GroupInput::Peer { from: node(from), message, payload })
    }

    /// A client asks for one block.
    pub(crate) fn ask(&mut self, part: u64, kind: RequestKind, block: u64) -> &[GroupAction] {
        let (part, offset) = (PartId(part), block * 4096);
        self.step(GroupInput::Request(Request { part, kind, offset, length: 4096 }))
    }

    /// The disk did what was asked as `token`.
    pub(crate) fn done(&mut self, token: Token) -> &[GroupAction] {
        self.step(GroupInput::Device { token, result: Ok(DeviceResult::Done) })
    }

    /// All that follows from an input, without any time going by.
    pub(crate) fn step(&mut self, input: impl Into<GroupInput>) -> &[GroupAction] {
        let first = self.actions.len();
        self.take_all(vec![input.into()]);
        &self.actions[first..]
    }

    /// Time goes by.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.now = until.min(self.now + Duration::from_millis(100));
            self.take_all(Vec::new());
        }
    }

    fn take_all(&mut self, mut inputs: Vec<GroupInput>) {
        let mut actions = Vec::new();
        loop {
            for input in inputs.drain(..) {
                self.lanes.step(self.now, input, &mut actions);
            }
            self.lanes.settle(self.now, &mut actions);
            assert!(!self.lanes.forgets_errands());
            assert!(self.lanes.wake_at() > self.now, "it would wake up for nothing");
            for action in actions.drain(..) {
                match self.disk.answer(&action) {
                    Some(input) => inputs.push(input),
                    None => self.actions.push(action),
                }
            }
            if inputs.is_empty() {
                return;
            }
        }
    }
}

impl Disk {
    fn answer(self, action: &GroupAction) -> Option<GroupInput> {
        if self == Self::ByHand {
            None
        } else if let GroupAction::WriteDevice { token, .. }
        | GroupAction::ZeroDevice { token, .. }
        | GroupAction::FlushDevice { token }
        | GroupAction::WriteMetadata { token, .. } = *action
        {
            Some(GroupInput::Device { token, result: Ok(DeviceResult::Done) })
        } else if let GroupAction::Home(FromGroup::DeviceFlushed { number }) = *action {
            Some(ToGroup::Flushes(AboutFlushes::Believe { shard: 0, number }).into())
        } else if let GroupAction::ReadDevice { token, .. } = *action
            && self == Self::ReadsNothing
        {
            Some(GroupInput::Device { token, result: Err(DeviceError) })
        } else {
            None
        }
    }
}

/// The only group of node `me`, of a volume of 1 GiB. The nodes `members` have the data, each with
/// a slot for every one of them.
pub(crate) fn options(me: u8, members: &[u8]) -> GroupOptions {
    let has_disk = members.contains(&me);
    GroupOptions {
        me: node(me),
        boot_id: boot(me),
        shard: 0,
        shards: 1,
        volume: 0,
        lanes: 16,
        space: Space::of_one(1 << 18),
        has_disk,
        al_slots: 8,
        al_next_number: 1,
        tracked: set(members),
        read_policy: ReadPolicy::default(),
        slow_limit: limits::SLOW_MEMBER_LIMIT,
        slots: Vec::new(),
        slot_bases: members.iter().filter(|_| has_disk).map(|&id| lost(id, 1)).collect(),
    }
}

pub(crate) fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

pub(crate) fn set(ids: &[u8]) -> MemberSet {
    ids.iter().map(|&id| node(id)).collect()
}

/// The process that a node is.
pub(crate) fn boot(id: u8) -> BootId {
    BootId(u64::from(id) + 1)
}

/// A member whose slot starts in this epoch.
pub(crate) fn lost(member: u8, epoch: u64) -> LostMember {
    let base = SlotBase { epoch: Epoch(epoch), incarnation: Incarnation(5) };
    LostMember { member: node(member), base }
}

/// A write that needs no payload, of the first block.
pub(crate) fn discard(seq: u64) -> Write {
    Write {
        lane: LANE,
        seq: Seq(seq),
        order: 0,
        range: BlockRange::new(0, 1),
        kind: WriteKind::Discard,
        fua: false,
        stable: Seq(0),
        absent: MemberSet::EMPTY,
    }
}

/// The word that a member is lost, and what of the lane it misses.
pub(crate) fn loss(id: QuestionId, lost: LostMember, ranges: Vec<BlockRange>) -> DataBody {
    let LostMember { member, base } = lost;
    DataBody::Loss { lane: LANE, member, base, ranges, id }
}

pub(crate) fn sent(actions: &[GroupAction]) -> impl Iterator<Item = (NodeId, &DataBody)> {
    actions.iter().filter_map(|action| {
        let GroupAction::Send { to, message, .. } = action else { return None };
        Some((*to, &message.body))
    })
}

/// What the home is told.
pub(crate) fn told(actions: &[GroupAction]) -> impl Iterator<Item = &FromGroup> {
    actions.iter().filter_map(|action| {
        let GroupAction::Home(fact) = action else { return None };
        Some(fact)
    })
}

/// Which member is asked for what a client reads, and the name of the question.
pub(crate) fn asked(actions: &[GroupAction]) -> Option<(NodeId, u32)> {
    sent(actions).find_map(|(to, body)| {
        let DataBody::Read { id, .. } = body else { return None };
        Some((to, *id))
    })
}

/// A request of a client is answered.
pub(crate) fn answers(actions: &[GroupAction]) -> bool {
    actions.iter().any(|action| matches!(action, GroupAction::Complete { .. }))
}

/// How node 0 misbehaved, if it did, so that its connection is made anew.
pub(crate) fn misbehaviour(actions: &[GroupAction]) -> Option<Misbehaviour> {
    told(actions).find_map(|fact| {
        let FromGroup::Misbehaved { member, how } = fact else { return None };
        assert_eq!(*member, node(0));
        Some(*how)
    })
}

pub(crate) fn resets(actions: &[GroupAction]) -> bool {
    misbehaviour(actions).is_some()
}
