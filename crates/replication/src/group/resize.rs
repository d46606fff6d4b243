//! The size of the volume, and making ready for a larger one.
//!
//! A member takes operations on new blocks as soon as it is asked to make ready for them. For the
//! leader serves them as soon as the value with the new size is chosen, and the first write may
//! come before that news, over another connection. Until then no client uses the blocks, so they
//! are made zeroes without a lock. The zeroes are durable before the answer, and so are the marks
//! for absent members. Zeroes that are under way end before a later task is answered, and before a
//! seal is (I25): no block becomes zero once it may hold data.

use format::ids::{BlockRange, EXTENT_BLOCKS};
use format::space::Space;

use crate::contract::{DeviceError, FromGroup, GroupAction, NewArea, RoundId, SizeOrder, SizeTask};
use crate::group::LaneGroup;
use crate::group::durable::{CheckpointReason, DurableUse};
use crate::limits;

/// What a group knows of sizes beside those of the volumes.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// The blocks that the disk holds, perhaps more than the volumes have; `None` without a disk.
    pub(crate) held: Option<Space>,
    /// A larger size for which this member makes ready, or has.
    pub(crate) preparing: Option<Preparing>,
    /// Requests with which new blocks are made zeroes.
    pub(crate) zeroes_in_flight: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Preparing {
    task: SizeTask,
    /// All new blocks before this one are zeroes, or about to be.
    next_block: u64,
    /// The round to answer; `None` once it is answered. The task is kept then, so that no block is
    /// made zeroes twice in a session.
    round: Option<RoundId>,
}

impl Sizes {
    pub(crate) fn new(held: Option<Space>) -> Self {
        Self { held, preparing: None, zeroes_in_flight: 0 }
    }

    /// A round waits for this member to be ready for a larger size.
    pub(super) fn is_preparing(&self) -> bool {
        self.preparing.is_some_and(|preparing| preparing.round.is_some())
    }
}

impl LaneGroup {
    pub(super) fn on_size(&mut self, order: SizeOrder) {
        match order {
            SizeOrder::Volume { space } => {
                self.sizes.preparing = None;
                self.view.space = space;
                self.cover_volume();
            }
            SizeOrder::AtLeast { space } => {
                self.view.space = self.view.space.or(&space);
                self.extend_slots();
            }
            SizeOrder::Disk { space } => {
                self.sizes.held = Some(space);
                self.extend_slots();
            }
            SizeOrder::Prepare { task, round } => self.prepare_size(task, round),
        }
    }

    /// Lets the slots cover the blocks of the volumes. If the disk is smaller, they cover what it
    /// holds: such a member is in no write set, but its node may lead.
    fn cover_volume(&mut self) {
        let space = self.covered();
        for lane in &mut self.lanes {
            lane.replica.slots.iter_mut().for_each(|slot| slot.bits.cover(&space));
        }
        self.shared.activity.reach_to(space);
    }

    /// The blocks that the volumes have and the disk holds.
    pub(super) fn covered(&self) -> Space {
        self.sizes.held.map_or(self.view.space, |held| held.common(&self.view.space))
    }

    /// Lets the slots cover more, and drops no mark. A replica that starts, or comes back, keeps
    /// marks for all that its disk holds until a session tells it the size. The size that it knows
    /// may be older than its slots.
    fn extend_slots(&mut self) {
        let space = self.covered();
        for lane in &mut self.lanes {
            for slot in &mut lane.replica.slots {
                slot.bits.cover(&space.or(&slot.bits.space()));
            }
        }
        self.shared.activity.reach_to(space);
    }

    fn prepare_size(&mut self, task: SizeTask, round: RoundId) {
        let known = self.sizes.preparing.filter(|known| {
            let SizeTask { from_block, until_block, new_area, .. } = known.task;
            (from_block, until_block, new_area)
                == (task.from_block, task.until_block, task.new_area)
        });
        let next_block = known.map_or(task.from_block, |known| known.next_block);
        self.sizes.preparing = Some(Preparing { task, next_block, round: Some(round) });
        let blocks = task.until_block - task.place.first_block();
        self.view.space = self.view.space.with(task.place, blocks);
        self.cover_volume();
    }

    /// Starts what makes new blocks zeroes; when all of it is done, the marks and the flush.
    pub(super) fn settle_resize(&mut self, actions: &mut Vec<GroupAction>) {
        let Some(round) = self.sizes.preparing.as_ref().and_then(|it| it.round) else { return };
        let Some(mut preparing) = self.sizes.preparing.take() else { return };
        while self.sizes.zeroes_in_flight < limits::ZEROES_IN_FLIGHT_MAX {
            let Some(range) = self.next_new_range(&mut preparing) else { break };
            self.sizes.zeroes_in_flight += 1;
            let token = self.durable.token(DurableUse::Zeroes);
            // The space stays allocated: a volume that has it does not run out of it later.
            let zero = GroupAction::ZeroDevice { token, range, deallocate: false, fua: false };
            actions.push(zero);
        }
        let SizeTask { from_block, until_block, absent, .. } = preparing.task;
        if preparing.next_block >= until_block && self.sizes.zeroes_in_flight == 0 {
            preparing.round = None;
            let slots = self.lanes.iter_mut().flat_map(|lane| &mut lane.replica.slots);
            for slot in slots.filter(|slot| absent.has(slot.member)) {
                slot.bits.set_from(from_block);
            }
            self.start_checkpoint(CheckpointReason::Round(round));
        }
        self.sizes.preparing = Some(preparing);
    }

    /// The next piece of the new area that is of this group, within one extent.
    fn next_new_range(&self, preparing: &mut Preparing) -> Option<BlockRange> {
        let until_block = preparing.task.until_block;
        if preparing.task.new_area == NewArea::AsItIs {
            preparing.next_block = until_block;
        }
        while preparing.next_block < until_block {
            let start = preparing.next_block;
            let end = (start / EXTENT_BLOCKS + 1).saturating_mul(EXTENT_BLOCKS).min(until_block);
            preparing.next_block = end;
            let lane = format::ids::lane_of_block(start, self.view.lanes.get());
            if lane.0 % self.shards == self.view.shard {
                let count = u32::try_from(end - start).expect("within an extent");
                return Some(BlockRange::new(start, count));
            }
        }
        None
    }

    pub(super) fn on_zeroed(
        &mut self,
        result: Result<(), DeviceError>,
        actions: &mut Vec<GroupAction>,
    ) {
        self.sizes.zeroes_in_flight -= 1;
        if result.is_err() {
            self.sizes.preparing = None;
            let fact = FromGroup::MemberFailed { member: self.view.me };
            actions.push(GroupAction::Home(fact));
        }
    }
}
