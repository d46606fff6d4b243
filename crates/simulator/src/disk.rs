//! A disk with a volatile cache, and the metadata beside it.
//!
//! A block's content is the id of the write that put it there; 0 is zeroes.

use std::collections::BTreeMap;

use format::ids::{BlockRange, LaneIndex, NodeId};
use format::metadata::{AlRecord, Register, Superblock};
use replication::contract::BitmapBits;
use stdx::random::Random;

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    durable: BTreeMap<u64, u64>,
    cache: BTreeMap<u64, u64>,
    pub(crate) superblock: Superblock,
    pub(crate) register: Register,
    /// The tables of the activity log's rings, as their durable records make them.
    pub(crate) activity: BTreeMap<(u8, u16), u64>,
    pub(crate) al_number: u64,
    pub(crate) pages: BTreeMap<(NodeId, LaneIndex, u32), Box<BitmapBits>>,
}

impl Disk {
    pub(crate) fn new(superblock: Superblock, register: Register) -> Self {
        Self {
            durable: BTreeMap::new(),
            cache: BTreeMap::new(),
            superblock,
            register,
            activity: BTreeMap::new(),
            al_number: 1,
            pages: BTreeMap::new(),
        }
    }

    pub(crate) fn read(&self, block: u64) -> u64 {
        let cached = self.cache.get(&block).or_else(|| self.durable.get(&block));
        cached.copied().unwrap_or(0)
    }

    pub(crate) fn write(&mut self, range: BlockRange, values: &[u64]) {
        self.cache.extend(range.blocks().zip(values.iter().copied()));
    }

    pub(crate) fn write_durably(&mut self, range: BlockRange, values: &[u64]) {
        for (block, &value) in range.blocks().zip(values) {
            self.cache.remove(&block);
            self.durable.insert(block, value);
        }
    }

    /// What a flush that starts now will have made durable when it ends.
    pub(crate) fn flush_snapshot(&self) -> Vec<(u64, u64)> {
        self.cache.iter().map(|(&block, &value)| (block, value)).collect()
    }

    pub(crate) fn finish_flush(&mut self, snapshot: &[(u64, u64)]) {
        for &(block, value) in snapshot {
            // A durable write that came in between is newer than the snapshot.
            let Some(&cached) = self.cache.get(&block) else { continue };
            self.durable.insert(block, value);
            if cached == value {
                self.cache.remove(&block);
            }
        }
    }

    pub(crate) fn log(&mut self, record: &AlRecord) {
        for change in &record.changes {
            match change.extent {
                Some(extent) => self.activity.insert((record.ring, change.slot), extent),
                None => self.activity.remove(&(record.ring, change.slot)),
            };
        }
        self.al_number = self.al_number.max(record.number + 1);
    }

    /// The machine lost power: of what was not flushed, chance decides.
    pub(crate) fn cut_power(&mut self, random: &mut Random) {
        for (block, value) in std::mem::take(&mut self.cache) {
            if random.chance(1, 2) {
                self.durable.insert(block, value);
            }
        }
    }
}
