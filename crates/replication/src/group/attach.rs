//! A disk that is taken (back) into use while the group runs, and slots that begin and end on it.

use format::ids::{MemberSet, NodeId, Nonce};
use stdx::time::Time;

use crate::activity::{ActivityLog, Reach};
use crate::contract::GroupDisk;
use crate::contract::{GroupAction, LostMember, ReplicaRole, RoundId};
use crate::group::durable::Durable;
use crate::group::{LaneGroup, answer, load_pages, slots_of};
use crate::lane::seal::Released;
use crate::lane::{Lane, Slot};
use crate::marks::Marks;
use crate::view::View;

impl LaneGroup {
    /// Takes the disk once every request to the former one is answered. The group makes no new one
    /// meanwhile, for this member is out of the write set.
    pub(crate) fn settle_attach(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let Self { attaching, durable, lanes, .. } = self;
        let is_quiet = || durable.is_quiet() && lanes.iter().all(Lane::is_off_its_disk);
        if let Some((disk, round)) = attaching.take_if(|_| is_quiet()) {
            self.attach(now, *disk, round, actions);
        }
    }

    /// Forgets everything about the former disk: its marks are on it, or in the slots of the
    /// others. A session that this node leads goes on meanwhile.
    fn attach(
        &mut self,
        now: Time,
        disk: GroupDisk,
        round: RoundId,
        actions: &mut Vec<GroupAction>,
    ) {
        assert_eq!(self.view.replica, ReplicaRole::None, "the former disk was given up");
        assert_eq!(self.sizes.zeroes_in_flight, 0, "nothing is under way on the former disk");
        self.end_following();
        self.with_lanes(now, actions, |lane, turn| lane.drop_unsubmitted(turn, Released::Dropped));
        let (me, lanes, space) = (self.view.me, self.view.lanes.get(), disk.space);
        for lane in &mut self.lanes {
            assert!(lane.is_quiet(), "nothing is under way on the former disk");
            lane.take_disk(me, slots_of(&disk.slot_bases, lane.index, lanes, &space));
        }
        load_pages(&mut self.lanes, self.shards, disk.slots);
        self.sizes.held = Some(space);
        self.sizes.preparing = None;
        if self.view.space.is_empty() {
            self.view.space = space;
        }
        let reach = Reach::new(self.view.shard, self.shards, lanes, self.covered());
        self.shared.activity = ActivityLog::new(reach, self.al_slots, disk.al_next_number);
        self.durable = Durable::new(&disk.slot_bases);
        self.flushes.forget_device();
        self.view.disk_failed = false;
        self.sealing = None;
        self.holds_former_writes = true;
        self.view.admitted = false;
        self.view.replica = ReplicaRole::Syncing;
        if !self.view.leading {
            self.view.nonce = Nonce(0);
        }
        actions.push(answer(round));
    }

    /// The value names other members. New slots are empty and good for nothing, and so become those
    /// of members that it names no more.
    pub(crate) fn track(&mut self, members: MemberSet, slots: &[NodeId]) {
        self.view.tracked = members;
        let View { me, lanes, .. } = self.view;
        let space = self.covered();
        for &member in slots.iter().filter(|&&member| member != me) {
            let unused = LostMember { member, base: crate::UNUSED };
            let is_known = self.lanes.iter().any(|lane| lane.slot(member).is_some());
            if is_known && members.has(member) {
                continue;
            }
            for lane in &mut self.lanes {
                match lane.slot_mut(member) {
                    Some(slot) if slot.base != crate::UNUSED => {
                        slot.bits.set_none();
                        slot.base = crate::UNUSED;
                    }
                    Some(_) => {}
                    None => {
                        let bits = Marks::new(lane.index, lanes.get(), &space);
                        lane.replica.slots.push(Slot { member, base: crate::UNUSED, bits });
                    }
                }
            }
            self.durable.set_base(unused);
        }
    }
}
