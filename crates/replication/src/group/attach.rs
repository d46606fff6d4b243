//! A disk that is taken (back) into use while the group runs.

use format::ids::{BLOCK_BYTES, Nonce};
use stdx::time::Time;

use crate::activity::ActivityLog;
use crate::attach::GroupDisk;
use crate::contract::{GroupAction, ReplicaRole, RoundId};
use crate::group::durable::Durable;
use crate::group::{LaneGroup, answer, load_pages, slots_of};
use crate::lane::Lane;

impl LaneGroup {
    /// Takes the disk once every request to the former one was answered. The group makes no new
    /// one meanwhile: this member left the write set before.
    pub(crate) fn settle_attach(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let Self { attaching, durable, lanes, .. } = self;
        let is_quiet = || durable.is_quiet() && lanes.iter().all(Lane::is_off_its_disk);
        if let Some((disk, round)) = attaching.take_if(|_| is_quiet()) {
            self.attach(now, *disk, round, actions);
        }
    }

    /// Everything that the former disk left behind is forgotten: what it knew stands on it, or in
    /// the slots of the others. A session that this node leads goes on meanwhile.
    fn attach(
        &mut self,
        now: Time,
        disk: GroupDisk,
        round: RoundId,
        actions: &mut Vec<GroupAction>,
    ) {
        assert_eq!(self.view.replica, ReplicaRole::None, "the former disk was given up");
        self.with_lanes(now, actions, Lane::drop_unsubmitted);
        let (lanes, blocks) = (self.view.lanes, disk.size_bytes / BLOCK_BYTES);
        for lane in &mut self.lanes {
            assert!(lane.is_quiet(), "nothing is under way on the former disk");
            lane.take_disk(slots_of(&disk.slot_bases, lane.index, lanes, blocks));
        }
        load_pages(&mut self.lanes, self.shards, disk.slots);
        if self.view.blocks == 0 {
            self.view.blocks = blocks;
        } else {
            self.cover_volume();
        }
        self.activity = ActivityLog::new(self.view.shard % 16, self.al_slots, disk.al_next_number);
        self.durable = Durable::new(&disk.slot_bases);
        self.flushes.forget_device();
        self.sealing = None;
        self.holds_former_writes = true;
        self.view.admitted = false;
        self.view.replica = ReplicaRole::Syncing;
        if !self.view.leading {
            self.view.nonce = Nonce(0);
        }
        actions.push(answer(round));
    }
}
