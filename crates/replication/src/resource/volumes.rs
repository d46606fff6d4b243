//! A volume that is added while the resource is in use (PROTOCOL.md 10.5).
//!
//! Each replica is given a disk for it, one after the other, and says so to all. Once everyone who
//! has data and is in reach has one, who leads has the value name the volume, with a size of 0: it
//! is of the resource now, and nobody has a block of it. From there it grows as any volume does:
//! made ready by all of the write set, marked for who is away, then its size is chosen.

use format::config::{Config, VolumeConfig};
use format::message::Control;
use format::metadata::{Content, FurtherDisk, ReplicaState};
use format::space::{Place, Space};
use stdx::time::Time;

use crate::contract::{CommandErrorCode, CommandId, NewArea, ResizeTask, SizeOrder, ToGroup};
use crate::limits;
use crate::resource::change::Change;
use crate::resource::{AfterSave, Resource};

/// The value has this volume, whether it has a size yet or not.
pub(crate) fn names(config: &Config, place: Place) -> bool {
    config.volumes.iter().any(|volume| volume.number == place.number().into())
}

// ---- As a member.

impl Resource {
    /// Why a disk for one more volume cannot be the replica's.
    #[must_use]
    pub fn obstacle_to_disk(&self, disk: &FurtherDisk) -> Option<&'static str> {
        let Some(superblock) = self.superblock.as_ref().filter(|_| !self.member.disk_failed) else {
            return Some("the replica has no disk now: `attach` takes those of all volumes");
        };
        if self.stop.is_some() {
            return Some("the resource is being stopped");
        }
        if superblock.further.iter().any(|known| known.place == disk.place) {
            return Some("the replica has a disk for it");
        }
        let is_blank = superblock.state == ReplicaState::Blank;
        (!is_blank && disk.content != Content::Zeroes)
            .then_some("its metadata is older than the data of the replica: make it anew")
    }

    pub(crate) fn on_add_disk(&mut self, id: CommandId, disk: FurtherDisk) {
        let obstacle = self.obstacle_to_disk(&disk);
        let Some(superblock) = self.superblock.as_mut().filter(|_| obstacle.is_none()) else {
            let text = obstacle.unwrap_or("the replica has no disk now");
            return self.refuse(id, CommandErrorCode::NoDisk, text);
        };
        superblock.further.push(disk);
        superblock.further.sort_unstable_by_key(|known| known.place.number());
        let (space, nonce) = (superblock.space(), superblock.sealed.nonce);
        self.tell_groups(ToGroup::Size(Box::new(SizeOrder::Disk { space })));
        self.save_superblock(AfterSave::Answer(id));
        let boot_id = self.options.boot_id;
        let FurtherDisk { place, size_bytes, .. } = disk;
        for to in self.connected().without(self.me()).iter() {
            let message = Control::Enlarged { nonce, boot_id, place, size_bytes };
            self.save_superblock(AfterSave::Send { to, message });
        }
        self.note_who_lacks_sizes();
    }

    /// It makes a new volume ready: from here on the blocks are what the history says. Zeroes of
    /// `create-md` need not be made again.
    pub(crate) fn begin_history_of(&mut self, place: Place) -> Option<NewArea> {
        let mut disks = self.superblock.as_mut()?.further.iter_mut();
        let disk = disks.find(|disk| disk.place == place)?;
        let before = std::mem::replace(&mut disk.content, Content::OfHistory);
        Some(if before == Content::Zeroes { NewArea::AsItIs } else { NewArea::Zeroed })
    }
}

// ---- As the leader.

impl Resource {
    /// The first volume that everyone who has data and is in reach has a disk for, and the value
    /// has no size of.
    fn volume_to_add(&self) -> Option<Place> {
        let session = self.session.as_ref()?;
        let config = self.config()?;
        let write_set = session.write_set;
        let members = write_set | self.replicas().and(self.connected());
        let held = members.iter().filter_map(|member| match self.replica_of(member) {
            Some(replica) => Some(replica.space),
            None => write_set.has(member).then_some(Space::EMPTY),
        });
        let held = held.reduce(|one, other| one.common(&other))?;
        held.places().find(|&place| config.space().blocks_at(place) == 0)
    }

    pub(crate) fn volume_wakes_at(&self) -> Time {
        let again = self.room.add_again_at;
        if self.session.is_some() && again > self.now { again } else { Time::NEVER }
    }

    /// The value names the volume first. Nothing else is under way.
    pub(crate) fn propose_volume(&mut self) -> bool {
        if self.is_resizing() || self.stop.is_some() || self.now < self.room.add_again_at {
            return false;
        }
        let Some(place) = self.volume_to_add() else {
            self.room.add_again_at = Time::ZERO;
            return false;
        };
        if self.config().is_some_and(|config| names(config, place)) {
            // Members that hesitate, or die in the middle, are not asked all the time.
            self.room.add_again_at = self.now + limits::VOLUME_RETRY;
            let new_area = NewArea::Zeroed;
            self.start_first_size(ResizeTask { place, size_bytes: 0, new_area });
            return false;
        }
        if let Some(session) = self.session.as_mut() {
            session.change = Some(Change::Naming);
        }
        self.propose(|config| {
            let Some(first) = config.volumes.first() else { return };
            let number = place.number().into();
            config.volumes.push(VolumeConfig { number, size_bytes: 0, ..first.clone() });
            config.volumes.sort_unstable_by_key(|volume| volume.number);
        });
        true
    }
}
