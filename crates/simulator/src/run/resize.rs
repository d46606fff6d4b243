//! Operators who make volumes larger, while all else goes on.

use format::ids::{BLOCK_BYTES, BlockRange, EXTENT_BLOCKS};
use format::space::{Place, Space};
use replication::contract::{Command, NewArea, ResizeTask};

use crate::cluster::Replaced;
use crate::run::{Run, Sizes};

/// How much larger a volume gets at most.
pub(super) const SPARE_BYTES: u64 = 30 * EXTENT_BLOCKS * BLOCK_BYTES;
/// Sizes end within an extent, too.
const STEP_BLOCKS: u64 = EXTENT_BLOCKS / 4 + 3;

impl Run {
    /// Operators give one node after the other a disk for one more volume.
    pub(super) fn look_at_volumes(&mut self) {
        if !self.adds || !self.random.chance(1, 40) {
            return;
        }
        let place = Place::new(3).expect("a small number");
        let space = &mut self.cluster.options.space;
        *space = space.with(place, 2 * EXTENT_BLOCKS + 77);
        let (node, id) = (self.any_node(), self.command_id());
        self.cluster.add_disk(node, id, place);
    }

    /// A replica that lacks a volume of the value gets a disk for it, or is made anew where the
    /// content of its disk is not known. Its vote stays.
    pub(super) fn give_volumes(&mut self, node: usize) {
        let volumes = self.checker.volumes();
        let id = self.command_id();
        let disk = &self.cluster.disks[node];
        let Some(process) = self.cluster.processes[node].as_ref().filter(|_| self.adds) else {
            return;
        };
        let Some(replica) = process.resource.report() else { return };
        if replica.space.covers(&volumes) {
            return;
        }
        let listed = disk.superblock.space();
        let missing = volumes.places().find(|&place| listed.blocks_at(place) == 0);
        if let Some(place) = missing {
            return self.cluster.add_disk(node, id, place);
        }
        let register = disk.register.clone();
        self.cluster.kill(node);
        self.after_death(node);
        self.cluster.replace(node, Replaced::Node);
        self.cluster.disks[node].register = register;
    }

    pub(super) fn look_at_size(&mut self) {
        if self.sizes == Sizes::Stay || !self.random.chance(1, 50) {
            return;
        }
        let node = self.any_node();
        match self.random.below(4) {
            // The operator enlarges what disks are on: of one node, or of all.
            0 => {
                let spare = 1 + self.random.below(SPARE_BYTES / BLOCK_BYTES / STEP_BLOCKS);
                let more = spare * STEP_BLOCKS * BLOCK_BYTES;
                let most = self.cluster.options.space.bytes_at(Place::FIRST) + more;
                let all = self.random.chance(3, 4);
                for (index, backing) in self.cluster.backing.iter_mut().enumerate() {
                    if all || index == node {
                        *backing = (*backing).max(most);
                    }
                }
            }
            1 => self.ask_for_size(node, None),
            _ => {
                let more = 1 + self.random.below(20);
                self.ask_for_size(node, Some(more * STEP_BLOCKS));
            }
        }
    }

    /// So many blocks more than it has, or as many as there is room for.
    fn ask_for_size(&mut self, node: usize, more: Option<u64>) {
        if !self.cluster.is_up(node) {
            return;
        }
        let places: Vec<Place> = self.volumes.places().collect();
        let place = match places[..] {
            [place] => place,
            // A number of a volume that is not there, now and then.
            _ if self.random.chance(1, 20) => Place::new(15).expect("the last place"),
            _ => {
                let count = u64::try_from(places.len()).expect("few volumes");
                places[usize::try_from(self.random.below(count)).expect("few volumes")]
            }
        };
        let size = |more| (self.volumes.blocks_at(place) + more) * BLOCK_BYTES;
        let size_bytes = more.map_or(0, size);
        let id = self.command_id();
        let task = ResizeTask { place, size_bytes, new_area: NewArea::Zeroed };
        self.cluster.command(node, id, Command::Resize(task));
    }

    /// A disk that is too small for the volume keeps its replica away.
    pub(super) fn give_room(&mut self, node: usize) {
        if self.sizes == Sizes::Grow {
            self.cluster.backing[node] =
                self.cluster.options.space.bytes_at(Place::FIRST) + SPARE_BYTES;
        }
    }

    /// A size was chosen: clients use what is new, at both ends of each extent.
    pub(super) fn note_size(&mut self, space: &Space) {
        for place in space.places() {
            let first = place.first_block();
            let (before, after) = (self.volumes.blocks_at(place), space.blocks_at(place));
            if after <= before {
                continue;
            }
            let count = if before == 0 { &mut self.report.added } else { &mut self.report.grows };
            *count += 1;
            for extent in before / EXTENT_BLOCKS..after.div_ceil(EXTENT_BLOCKS) {
                let start = first + extent * EXTENT_BLOCKS;
                let ends = [start, start + 2, start + 7, start + EXTENT_BLOCKS - 6];
                let new = ends.into_iter().filter(|block| !self.blocks.contains(block));
                let new: Vec<u64> = new.filter(|block| block + 5 <= first + after).collect();
                self.blocks.extend(new);
            }
            self.volumes = self.volumes.with(place, after);
        }
    }

    /// What the front end of a node lets its clients use: the chosen size, once every shard knows.
    pub(super) fn is_offered(&self, node: usize, (start, count): (u64, u64)) -> bool {
        if self.sizes == Sizes::Stay && !self.adds {
            return true;
        }
        let Some(process) = self.cluster.processes[node].as_ref() else { return false };
        let range = BlockRange::new(start, u32::try_from(count).expect("a short range"));
        let config = process.resource.status().config;
        config.is_some_and(|config| config.space().contains(range))
            && process.groups.iter().all(|group| group.space().contains(range))
    }
}
