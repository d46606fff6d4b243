//! What a checker of invariants may see of a group. Nothing here changes anything.

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex, MemberSet, NodeId, Nonce, Seq};
use format::space::Space;
use stdx::time::Time;

use crate::balance::ReadLoad;
use crate::bitmap::EXTENT_WORDS;
use crate::group::{Draining, LaneGroup};
use crate::lane::{Applied, Lane, OperationKind, OperationState};

impl LaneGroup {
    /// A copy of `block` to `member` is on its way.
    #[must_use]
    pub fn is_copying(&self, member: NodeId, block: u64) -> bool {
        let range = BlockRange::new(block, 1);
        self.lane_of(block).and_then(|lane| lane.leader.as_ref()).is_some_and(|leader| {
            leader.operations.iter().any(|(_, operation)| {
                let OperationKind::Resync { member: to, .. } = operation.kind else { return false };
                let is_sent = matches!(operation.state, OperationState::Sent { .. });
                to == member && is_sent && operation.range.overlaps(range)
            })
        })
    }

    /// Something is to be done, or said, that no settle will look for.
    #[must_use]
    pub fn forgets_errands(&self) -> bool {
        let is_forgotten =
            |lane: &Lane| lane.needs_settle() && !self.shared.touched.has(lane.position);
        !self.has_errands && self.finds_errands() || self.lanes.iter().any(is_forgotten)
    }

    /// The blocks on which this group takes requests.
    #[must_use]
    pub fn space(&self) -> Space {
        self.view.space
    }

    /// The session that this group leads and serves, and whose acknowledgement a write needs.
    #[must_use]
    pub fn served(&self) -> Option<(Nonce, MemberSet)> {
        let view = &self.view;
        (view.leading && view.serving).then_some((view.nonce, view.write_set))
    }

    /// As the leader: writes that clients were told of, and some member has not written.
    #[must_use]
    pub fn answered_early(&self) -> u32 {
        let leaders = self.lanes.iter().filter_map(|lane| lane.leader.as_ref());
        leaders.map(|leader| leader.early.count).sum()
    }

    /// As the leader: what it says is on every member of its session, by lane.
    pub fn stable(&self) -> impl Iterator<Item = (LaneIndex, Seq)> + '_ {
        let leading = self.lanes.iter().filter(|_| self.view.leading);
        leading.filter_map(|lane| Some((lane.index, Seq(lane.leader.as_ref()?.stable))))
    }

    /// As a member: the first write of its window in that lane that its device does not have.
    #[must_use]
    pub fn first_unwritten(&self, lane: LaneIndex) -> Option<Seq> {
        let lane = self.lanes.iter().find(|it| it.index == lane)?;
        let is_open = |known: &&Applied| !known.state.is_done();
        lane.replica.window.iter().find(is_open).map(|known| known.seq)
    }

    /// As a member: a write of `block` is on its way to the device.
    #[must_use]
    pub fn is_writing(&self, block: u64) -> bool {
        let range = BlockRange::new(block, 1);
        self.lane_of(block).is_some_and(|lane| {
            let mut window = lane.replica.window.iter();
            window.any(|it| !it.state.is_done() && it.range.overlaps(range))
        })
    }

    /// The session that this group obeys.
    #[must_use]
    pub fn session(&self) -> Nonce {
        self.view.nonce
    }

    /// The session whose reads this group would answer now: once all is drained there are none.
    #[must_use]
    pub fn answers_reads(&self, now: Time) -> Option<Nonce> {
        let is_drained = self.view.draining && self.draining == Draining::No;
        (self.view.may_answer_reads(now) && !is_drained).then_some(self.view.nonce)
    }

    /// As the leader: an operation on `block` was sent and is not finished, or U holds the block.
    #[must_use]
    pub fn leads_unequal(&self, block: u64) -> bool {
        let range = BlockRange::new(block, 1);
        self.lane_of(block).and_then(|lane| lane.leader.as_ref()).is_some_and(|leader| {
            leader.outdated.overlaps(range)
                || leader.operations.iter().any(|(_, operation)| {
                    matches!(operation.state, OperationState::Sent { .. })
                        && operation.range.overlaps(range)
                })
        })
    }

    /// As a replica: `block` is in the window or inherited.
    #[must_use]
    pub fn holds_unequal(&self, block: u64) -> bool {
        let range = BlockRange::new(block, 1);
        self.lane_of(block).is_some_and(|lane| {
            lane.replica.inherited.overlaps(range)
                || lane.replica.window.iter().any(|known| known.range.overlaps(range))
        })
    }

    /// Reads have their bytes, and the lease that would let them out is over.
    #[must_use]
    pub fn has_lapsed_reads(&self) -> bool {
        let mut leaders = self.lanes.iter().filter_map(|lane| lane.leader.as_ref());
        self.view.lease_until > Time::ZERO
            && leaders.any(|leader| leader.reads.iter().any(|(_, read)| read.is_fenced()))
    }

    /// A client has its read, and a member that was asked for it has not answered yet.
    #[must_use]
    pub fn awaits_late_reads(&self) -> bool {
        let mut leaders = self.lanes.iter().filter_map(|lane| lane.leader.as_ref());
        leaders.any(|leader| leader.answered_reads > 0)
    }

    /// As a member: those who wait for a flush of its disk.
    #[must_use]
    pub fn flushes_waiting(&self) -> usize {
        self.flushes.waiting()
    }

    /// What `member` did for reads of clients.
    #[must_use]
    pub fn read_load(&self, member: NodeId) -> ReadLoad {
        self.shared.balance.load(member)
    }

    /// No operation is under way, a client waiting for it or not.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(Lane::is_idle)
    }

    /// A client waits for a write that members were sent.
    #[must_use]
    pub fn has_sent_writes(&self) -> bool {
        let mut leaders = self.lanes.iter().filter_map(|lane| lane.leader.as_ref());
        leaders.any(|leader| {
            leader.operations.iter().any(|(_, operation)| {
                let is_sent = matches!(operation.state, OperationState::Sent { .. });
                is_sent && operation.part.is_some()
            })
        })
    }

    /// Whether the slot that tracks `member` marks `block`.
    #[must_use]
    pub fn is_marked(&self, member: NodeId, block: u64) -> bool {
        let slot = self.lane_of(block).and_then(|lane| lane.slot(member));
        slot.is_some_and(|slot| slot.bits.contains(block))
    }

    /// The marks of the slot that tracks `member` in one extent, 64 blocks a word.
    #[must_use]
    pub fn marks_of_extent(&self, member: NodeId, extent: u64) -> [u64; EXTENT_WORDS] {
        let slot = self.lane_of(extent * EXTENT_BLOCKS).and_then(|lane| lane.slot(member));
        slot.map_or([0; EXTENT_WORDS], |slot| slot.bits.extent(extent))
    }

    /// Whether `extent` is in the activity log.
    #[must_use]
    pub fn is_active(&self, extent: u64) -> bool {
        self.shared.activity.contains(extent)
    }

    /// Whether a write of this member's window lies in `extent`.
    #[must_use]
    pub fn has_write_in(&self, extent: u64) -> bool {
        self.lane_of(extent * EXTENT_BLOCKS).is_some_and(|lane| {
            lane.replica.window.iter().any(|known| known.range.extent() == extent)
        })
    }

    fn lane_of(&self, block: u64) -> Option<&Lane> {
        let index = format::ids::lane_of_block(block, self.view.lanes.get());
        let lane = self.lanes.get(usize::from(index.0 / self.shards))?;
        (lane.index == index).then_some(lane)
    }
}
