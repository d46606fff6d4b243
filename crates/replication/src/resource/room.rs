//! What a member does for another size of a volume: room on its disk, and making ready for it, as
//! the session's leader asks (`resize`, PROTOCOL.md 10.3).
//!
//! A member whose disk is smaller than the volume, because the volume grew while it was away, makes
//! room as soon as it hears of that, and reports anew. Until then it is not admitted.

use format::config::Config;
use format::ids::{NodeId, Nonce};
use format::message::Control;
use format::space::{Place, Space};
use stdx::time::Time;

use crate::contract::{DeviceSize, ResourceAction, SizeOrder, SizeTask, ToGroup};
use crate::limits;
use crate::resource::{AfterSave, Resource, RoundKind};

/// What the disks of a member have, or make, room for.
#[derive(Debug)]
pub(crate) struct DiskRoom {
    /// The blocks that the groups were told of last.
    told: Space,
    /// The disk of a volume is being enlarged.
    enlarging: Option<Enlarging>,
    /// Who asked for room meanwhile, on which volume's disk, and for how much.
    next: Option<((NodeId, Nonce), Place, u64)>,
    /// Room that a volume needs was not to be had: it is asked for again then.
    ask_again_at: Time,
    preparing: Option<(NodeId, Nonce, u32)>,
    /// A volume was on its way into the value: the next try is not before.
    pub(super) add_again_at: Time,
    /// The volumes that this node serves by a device which keeps its size.
    fixed: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Enlarging {
    place: Place,
    /// Who is to hear what it holds then.
    asker: Option<(NodeId, Nonce)>,
}

impl Default for DiskRoom {
    fn default() -> Self {
        Self {
            told: Space::EMPTY,
            enlarging: None,
            next: None,
            ask_again_at: Time::NEVER,
            preparing: None,
            add_again_at: Time::ZERO,
            fixed: Vec::new(),
        }
    }
}

impl DiskRoom {
    /// When room that was not to be had is asked for again: not beside an enlargement.
    pub(crate) fn ask_again_at(&self) -> Time {
        if self.enlarging.is_some() { Time::NEVER } else { self.ask_again_at }
    }

    /// The volume is served by a device here that cannot follow.
    pub(crate) fn keeps_size(&self, place: Place) -> bool {
        self.fixed.contains(&place)
    }

    /// Another disk is taken into use.
    pub(crate) fn begin_anew(&mut self) {
        let fixed = std::mem::take(&mut self.fixed);
        *self = Self { told: self.told, fixed, ..Self::default() };
    }
}

impl Resource {
    /// A value was chosen; it may be an old one, so the groups only ever reach farther by it. Who
    /// prepared for its size does so already.
    pub(crate) fn tell_size(&mut self, value: &Config) {
        let space = value.space();
        if !self.room.told.covers(&space) {
            self.room.told = self.room.told.or(&space);
            self.tell_groups(ToGroup::Size(Box::new(SizeOrder::AtLeast { space })));
        }
    }

    /// A session that takes this member in, or that this node leads, says how large the volume is.
    /// A promotion read a quorum before: no larger size was chosen, and none that was made ready
    /// for in an earlier session ever will be. So what was marked for one is forgotten.
    pub(crate) fn settle_size(&mut self, value: &Config) {
        let space = value.space();
        // Behind what the disk holds nobody has marks; of a volume that no value names it may.
        let has_no_more = self.superblock.as_ref().is_none_or(|disk| space.covers(&disk.space()));
        if space.is_empty() || has_no_more && self.room.told == space {
            return;
        }
        self.room.told = space;
        self.tell_groups(ToGroup::Size(Box::new(SizeOrder::Volume { space })));
    }

    /// A volume grew while this member was away: without room for all of it, it is admitted to
    /// nothing. A volume that it does not have at all, only `create-md` gives it.
    pub(crate) fn make_room(&mut self) {
        let wanted = self.config().map_or(Space::EMPTY, Config::space);
        let short = self.report().and_then(|replica| {
            let held = |&place: &Place| replica.space.blocks_at(place);
            replica.space.places().find(|place| held(place) < wanted.blocks_at(*place))
        });
        let Some(place) = short else {
            self.room.ask_again_at = Time::NEVER;
            return;
        };
        if self.room.enlarging.is_none()
            && (self.room.ask_again_at == Time::NEVER || self.now >= self.room.ask_again_at)
        {
            self.room.ask_again_at = self.now + limits::ROOM_RETRY;
            self.room.enlarging = Some(Enlarging { place, asker: None });
            let size_bytes = wanted.bytes_at(place);
            self.actions.push(ResourceAction::EnlargeDisk { place, size_bytes });
        }
    }

    pub(crate) fn on_enlarge(&mut self, asker: (NodeId, Nonce), place: Place, size_bytes: u64) {
        let Some(replica) = self.report().filter(|_| self.obeys(asker.1)) else { return };
        if self.room.enlarging.is_some() {
            self.room.next = Some((asker, place, size_bytes));
            return;
        }
        self.room.enlarging = Some(Enlarging { place, asker: Some(asker) });
        let held = replica.space.bytes_at(place);
        if held == 0 || size_bytes != 0 && held >= size_bytes {
            return self.on_disk_enlarged(place, held);
        }
        self.actions.push(ResourceAction::EnlargeDisk { place, size_bytes });
    }

    pub(crate) fn on_disk_enlarged(&mut self, place: Place, size_bytes: u64) {
        let Some(enlarging) = self.room.enlarging.take_if(|it| it.place == place) else { return };
        self.note_room(place, enlarging.asker, size_bytes);
        if let Some((asker, place, size_bytes)) = self.room.next.take() {
            self.on_enlarge(asker, place, size_bytes);
        }
    }

    fn note_room(&mut self, place: Place, asker: Option<(NodeId, Nonce)>, size_bytes: u64) {
        let Some(held) = self.report().map(|replica| replica.space.bytes_at(place)) else { return };
        if size_bytes > held
            && let Some(superblock) = self.superblock.as_mut()
        {
            match superblock.further.iter_mut().find(|disk| disk.place == place) {
                Some(further) => further.size_bytes = size_bytes,
                None => superblock.size_bytes = size_bytes,
            }
            let space = superblock.space();
            self.tell_groups(ToGroup::Size(Box::new(SizeOrder::Disk { space })));
        }
        let boot_id = self.options.boot_id;
        let size_bytes = size_bytes.max(held);
        let Some((asker, nonce)) = asker else {
            // Whoever leads is to hear that there is room now.
            if size_bytes > held {
                self.save_superblock(AfterSave::Reconnect);
            }
            return;
        };
        // The others too: they may lead next, on the connections of today.
        for to in self.connected().with(asker).iter() {
            let message = Control::Enlarged { nonce, boot_id, place, size_bytes };
            self.save_superblock(AfterSave::Send { to, message });
        }
        self.note_who_lacks_sizes();
    }

    /// A connection that is being made may have told of the replica already, as it was.
    pub(crate) fn note_who_lacks_sizes(&mut self) {
        for peer in self.peers.values_mut().filter(|peer| peer.report.is_none()) {
            peer.lacks_sizes = true;
        }
    }

    pub(crate) fn tell_sizes(&mut self, to: NodeId) {
        let Some(replica) = self.report() else { return };
        let boot_id = self.options.boot_id;
        for place in replica.space.places() {
            let size_bytes = replica.space.bytes_at(place);
            let message = Control::Enlarged { nonce: replica.sealed, boot_id, place, size_bytes };
            self.save_superblock(AfterSave::Send { to, message });
        }
    }

    pub(crate) fn on_prepare_size(&mut self, asked: (NodeId, Nonce, u32), mut task: SizeTask) {
        let (_, nonce, _) = asked;
        let held = self.report().map_or(0, |replica| replica.space.blocks_at(task.place));
        let blocks = task.until_block - task.place.first_block();
        let is_possible = task.from_block <= task.until_block && blocks <= held;
        if !self.obeys(nonce) || !is_possible || self.stop.is_some() {
            return;
        }
        self.room.preparing = Some(asked);
        self.room.told = self.room.told.with(task.place, blocks);
        let is_new = task.from_block == task.place.first_block();
        let Some(new_area) = is_new.then(|| self.begin_history_of(task.place)).flatten() else {
            let prepare = |round| ToGroup::Size(Box::new(SizeOrder::Prepare { task, round }));
            return self.ask_groups(RoundKind::SizePrepared, prepare);
        };
        task.new_area = new_area;
        let round = self.start_round(RoundKind::SizePrepared);
        let prepare = ToGroup::Size(Box::new(SizeOrder::Prepare { task, round }));
        self.save_superblock(AfterSave::Groups(prepare));
    }

    pub(crate) fn on_size_prepared(&mut self) {
        let Some((from, nonce, id)) = self.room.preparing.take() else { return };
        if self.obeys(nonce) {
            let boot_id = self.options.boot_id;
            self.send(from, Control::SizePrepared { nonce, id, boot_id });
        }
    }

    pub(crate) fn on_device(&mut self, place: Place, size: DeviceSize) {
        self.room.fixed.retain(|&known| known != place);
        match size {
            DeviceSize::Stays => self.room.fixed.push(place),
            DeviceSize::Follows => {}
        }
    }

    /// Another session, or the same one anew: what was asked before is asked again.
    pub(crate) fn forget_size_asked(&mut self) {
        self.room.preparing = None;
        self.drop_round(RoundKind::SizePrepared);
    }
}
