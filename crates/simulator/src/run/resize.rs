//! Operators who make the volume larger, while all else goes on.

use format::ids::{BLOCK_BYTES, EXTENT_BLOCKS};
use replication::contract::{Command, NewArea, ResizeTask};

use crate::run::{Run, Sizes};

/// How much larger the volume gets at most.
pub(super) const SPARE_BYTES: u64 = 30 * EXTENT_BLOCKS * BLOCK_BYTES;
/// Sizes end within an extent, too.
const STEP_BLOCKS: u64 = EXTENT_BLOCKS / 4 + 3;

impl Run {
    pub(super) fn look_at_size(&mut self) {
        if self.sizes == Sizes::Stay || !self.random.chance(1, 50) {
            return;
        }
        let node = self.any_node();
        match self.random.below(4) {
            // The operator enlarges what a disk is on: one node, or all.
            0 => {
                let spare = 1 + self.random.below(SPARE_BYTES / BLOCK_BYTES / STEP_BLOCKS);
                let more = spare * STEP_BLOCKS * BLOCK_BYTES;
                let most = self.cluster.options.size_bytes + more;
                let all = self.random.chance(3, 4);
                for (index, backing) in self.cluster.backing.iter_mut().enumerate() {
                    if all || index == node {
                        *backing = (*backing).max(most);
                    }
                }
            }
            1 => self.ask_for_size(node, 0),
            _ => {
                let more = 1 + self.random.below(20);
                self.ask_for_size(node, (self.volume + more * STEP_BLOCKS) * BLOCK_BYTES);
            }
        }
    }

    fn ask_for_size(&mut self, node: usize, size_bytes: u64) {
        if self.cluster.is_up(node) {
            let id = self.command_id();
            let task = ResizeTask { size_bytes, new_area: NewArea::Zeroed };
            self.cluster.command(node, id, Command::Resize(task));
        }
    }

    /// A disk that is too small for the volume keeps its replica away.
    pub(super) fn give_room(&mut self, node: usize) {
        if self.sizes == Sizes::Grow {
            self.cluster.backing[node] = self.cluster.options.size_bytes + SPARE_BYTES;
        }
    }

    /// A size was chosen: clients use what is new, at both ends of each extent.
    pub(super) fn note_size(&mut self, size_bytes: u64) {
        let blocks = size_bytes / BLOCK_BYTES;
        if blocks <= self.volume {
            return;
        }
        self.report.grows += 1;
        for extent in self.volume / EXTENT_BLOCKS..blocks.div_ceil(EXTENT_BLOCKS) {
            let start = extent * EXTENT_BLOCKS;
            let ends = [start, start + 2, start + 7, start + EXTENT_BLOCKS - 6];
            let new = ends.into_iter().filter(|block| !self.blocks.contains(block));
            let new: Vec<u64> = new.filter(|block| block + 5 <= blocks).collect();
            self.blocks.extend(new);
        }
        self.volume = blocks;
    }

    /// What the front end of a node lets its clients use: the chosen size, once every shard knows.
    pub(super) fn is_offered(&self, node: usize, end: u64) -> bool {
        if self.sizes == Sizes::Stay {
            return true;
        }
        let Some(process) = self.cluster.processes[node].as_ref() else { return false };
        let config = process.resource.status().config;
        let chosen = config.map_or(0, |config| config.volumes[0].size_bytes / BLOCK_BYTES);
        end <= chosen && process.groups.iter().all(|group| end <= group.blocks())
    }
}
