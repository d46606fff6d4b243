//! A disk with a volatile cache, and the metadata beside it.
//!
//! A block's content is the id of the write that put it there; 0 is zeroes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use format::activity_log::{AL_FIRST_NUMBER, encode_al_record, format_ring, replay_ring};
use format::ids::{EXTENT_BLOCKS, Incarnation, LaneIndex, NodeId};
use format::layout::{AL_RING_BYTES, AL_RING_RECORDS, PAGE_BLOCKS};
use format::metadata::{AlRecord, Register, ReplicaState, Superblock};
use format::space::{Place, Space};
use replication::contract::BitmapBits;
use stdx::random::Random;

use crate::contents::Contents;

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    durable: BTreeMap<u64, u64>,
    cache: BTreeMap<u64, u64>,
    /// What it lost of the cache: it can be read until the disk is given up, and no flush makes it
    /// durable.
    forgotten: BTreeMap<u64, u64>,
    pub(crate) superblock: Superblock,
    pub(crate) register: Register,
    /// The tables of the activity log's rings, as their durable records make them.
    pub(crate) activity: BTreeMap<(u8, u16), u64>,
    /// The same as bytes, as the daemon writes and replays them.
    rings: BTreeMap<u8, Ring>,
    pub(crate) pages: BTreeMap<(NodeId, LaneIndex, u32), Box<BitmapBits>>,
    /// Blocks whose content may have changed since a checker looked.
    pub(crate) touched: Vec<u64>,
    /// When each block was last made durable, in events of the simulation.
    pub(crate) durable_at: BTreeMap<u64, u64>,
    /// The simulation's count of events.
    pub(crate) event: u64,
    /// The activity log changed since a checker looked.
    pub(crate) logged: bool,
    /// What else marks blocks after an end without notice changed since a checker looked at all.
    pub(crate) paged: bool,
    /// Flushes that began so far, of all shards.
    flushes: u64,
    /// In the cache, of a time when they were no blocks of the volume: who has them so was not
    /// asked to make them durable, or was not waited for.
    strays: BTreeSet<u64>,
    /// Became the volume's while the replica was not in sync, which it has not been since: it may
    /// make room there late, as a session of then asked.
    late: Vec<Range<u64>>,
    /// The flush that made each block durable last.
    flushed_by: BTreeMap<u64, u64>,
}

/// What becomes of the cache of a disk without power.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Kept,
    Lost,
    Mixed,
}

/// What was in the cache when a flush began.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    flush: u64,
    pub(crate) blocks: Vec<(u64, u64)>,
}

/// One ring of the activity log.
#[derive(Clone, Debug)]
struct Ring {
    bytes: Vec<u8>,
    newest: u64,
}

/// A replica that becomes another one keeps its log here.
const OF_RINGS: Incarnation = Incarnation(1);

impl Ring {
    fn empty(number: u8) -> Self {
        let mut bytes = vec![0; usize::try_from(AL_RING_BYTES).expect("128 KiB")];
        format_ring(number, OF_RINGS, &mut bytes);
        Self { bytes, newest: AL_FIRST_NUMBER }
    }

    fn append(&mut self, record: &AlRecord) {
        let place = usize::try_from(record.number % AL_RING_RECORDS).expect("few records");
        let block = self.bytes.as_chunks_mut().0.get_mut(place).expect("a ring has 32 records");
        encode_al_record(record, OF_RINGS, block).expect("the core keeps to the bounds");
        self.newest = record.number;
    }
}

impl Disk {
    pub(crate) fn new(superblock: Superblock, register: Register) -> Self {
        Self {
            durable: BTreeMap::new(),
            cache: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            superblock,
            register,
            activity: BTreeMap::new(),
            rings: BTreeMap::new(),
            pages: BTreeMap::new(),
            touched: Vec::new(),
            durable_at: BTreeMap::new(),
            event: 0,
            logged: false,
            paged: true,
            flushes: 0,
            strays: BTreeSet::new(),
            late: Vec::new(),
            flushed_by: BTreeMap::new(),
        }
    }

    pub(crate) fn read(&self, block: u64) -> u64 {
        let volatile = self.cache.get(&block).or_else(|| self.forgotten.get(&block));
        volatile.or_else(|| self.durable.get(&block)).copied().unwrap_or(0)
    }

    /// Blocks that were ever written.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u64> {
        self.durable.keys().chain(self.cache.keys()).chain(self.forgotten.keys()).copied()
    }

    pub(crate) fn write(&mut self, block: u64, value: u64) {
        self.touched.push(block);
        self.strays.remove(&block);
        self.forgotten.remove(&block);
        self.cache.insert(block, value);
    }

    pub(crate) fn write_durably(&mut self, block: u64, value: u64) {
        self.touched.push(block);
        self.cache.remove(&block);
        self.forgotten.remove(&block);
        self.durable_at.insert(block, self.event);
        // Only a flush that begins from now on may put something else there.
        self.flushed_by.insert(block, self.flushes + 1);
        self.durable.insert(block, value);
    }

    /// What a flush that starts now will have made durable when it ends.
    pub(crate) fn flush_snapshot(&mut self) -> Snapshot {
        self.flushes += 1;
        let blocks = self.cache.iter().map(|(&block, &value)| (block, value)).collect();
        Snapshot { flush: self.flushes, blocks }
    }

    pub(crate) fn finish_flush(&mut self, snapshot: &Snapshot) {
        for &(block, value) in &snapshot.blocks {
            // A durable write that came in between is newer than the snapshot.
            let Some(&cached) = self.cache.get(&block) else { continue };
            // So is what a flush took that began later and ended before.
            let newest = self.flushed_by.entry(block).or_default();
            if *newest > snapshot.flush {
                continue;
            }
            *newest = snapshot.flush;
            self.durable.insert(block, value);
            if cached == value {
                self.cache.remove(&block);
            }
        }
    }

    /// The cache is gone, of which one request will tell, and no other: a flush that begins from
    /// now on finds nothing to do.
    pub(crate) fn forget_cache(&mut self) {
        self.forgotten.append(&mut self.cache);
    }

    /// The process dies, and perhaps nobody was told: a disk that tells nobody is beyond help, so
    /// this one lost nothing.
    pub(crate) fn forget_nothing(&mut self) {
        let forgotten = std::mem::take(&mut self.forgotten);
        for (block, value) in forgotten {
            self.cache.entry(block).or_insert(value);
        }
    }

    /// It was given up: what it forgot is not read again.
    pub(crate) fn drop_forgotten(&mut self) {
        self.touched.extend(std::mem::take(&mut self.forgotten).into_keys());
    }

    pub(crate) fn log(&mut self, record: &AlRecord) {
        self.logged = true;
        // The context comes first. A slot may be free there that no change names: room was made for
        // an extent that is not logged yet.
        let context = (record.context_start..).zip(record.context.iter().copied());
        let changes = record.changes.iter().map(|change| (change.slot, change.extent));
        for (slot, extent) in context.chain(changes) {
            match extent {
                Some(extent) => self.activity.insert((record.ring, slot), extent),
                None => self.activity.remove(&(record.ring, slot)),
            };
        }
        self.rings.entry(record.ring).or_insert_with(|| Ring::empty(record.ring)).append(record);
    }

    /// The number of the next record of a ring.
    pub(crate) fn next_number(&self, ring: u8) -> u64 {
        self.rings.get(&ring).map_or(AL_FIRST_NUMBER, |ring| ring.newest) + 1
    }

    /// What the bytes of the rings say after an end without notice names no less than their tables;
    /// then they are empty.
    pub(crate) fn replay_log(&mut self) {
        for (&number, ring) in &self.rings {
            let replay = replay_ring(number, OF_RINGS, &ring.bytes).expect("every record is there");
            let tables = self.activity.range((number, 0)..=(number, u16::MAX));
            for extent in tables.map(|(_, extent)| extent) {
                assert!(replay.extents.contains(extent), "ring {number} forgot extent {extent}");
            }
        }
        self.rings.clear();
    }

    /// Whether the durable metadata would mark `block` as private after an end without notice.
    pub(crate) fn is_private(&self, block: u64) -> bool {
        let extent = block / EXTENT_BLOCKS;
        let lanes = u64::from(self.superblock.lanes);
        let lane = LaneIndex(u8::try_from(extent % lanes).expect("few lanes"));
        let place = Place::of_block(block).expect("blocks are of volumes");
        let within = (block - place.first_block()) / EXTENT_BLOCKS;
        let local = within / lanes * EXTENT_BLOCKS + block % EXTENT_BLOCKS;
        let page = u32::try_from(local / PAGE_BLOCKS).expect("a small volume");
        let page = place.first_page() + page;
        let bit = usize::try_from(local % PAGE_BLOCKS).expect("within a page");
        let marked = |bits: &BitmapBits| bits[bit / 64] >> (bit % 64) & 1 == 1;
        let own = self.pages.get(&(self.superblock.node, lane, page));
        self.activity.values().any(|&active| active == extent) || own.is_some_and(|it| marked(it))
    }

    /// I10: a block of the volume that power loss would take back, and that nothing durable marks.
    pub(crate) fn unprotected(&self, volumes: &Space) -> Option<u64> {
        let volatile = self.cache.keys().chain(self.forgotten.keys()).copied();
        let mut volatile = volatile.filter(|&block| volumes.has(block));
        volatile.find(|&block| !self.is_kept_in_mind(block))
    }

    /// The same of some blocks alone.
    pub(crate) fn unprotected_of(&self, blocks: &[u64], volumes: &Space) -> Option<u64> {
        let is_volatile =
            |block: &u64| self.cache.contains_key(block) || self.forgotten.contains_key(block);
        let is_looked_at = |block: &&u64| volumes.has(**block) && is_volatile(block);
        blocks.iter().filter(is_looked_at).copied().find(|&block| !self.is_kept_in_mind(block))
    }

    fn is_kept_in_mind(&self, block: u64) -> bool {
        let is_late = self.late.iter().any(|range| range.contains(&block));
        is_late || self.strays.contains(&block) || self.is_private(block)
    }

    /// These blocks became the volume's while this replica was not in sync. No session wrote them
    /// here: what a loss of power makes of them is a matter for the slots of those in sync, which
    /// mark all that is new (I8).
    pub(crate) fn note_new_blocks(&mut self, from: u64, until: u64) {
        self.strays.extend(self.cache.range(from..until).map(|(&block, _)| block));
        self.late.push(from..until);
    }

    /// Two copies are written in turn, by whether their number is odd: over the older one as long
    /// as the numbers have no gap. So a write that is torn leaves the newer one, which is the one
    /// that is kept here.
    pub(crate) fn set_superblock(&mut self, superblock: &Superblock) {
        let next = self.superblock.write_counter + 1;
        assert_eq!(superblock.write_counter, next, "it is written over the older copy");
        self.superblock = superblock.clone();
        if superblock.state == ReplicaState::InSync {
            self.late.clear();
        }
    }

    /// Blocks whose cached content is not durable, and what is.
    pub(crate) fn unflushed(&self) -> impl Iterator<Item = (u64, u64)> {
        let volatile = self.cache.keys().chain(self.forgotten.keys());
        volatile.map(|&block| (block, self.durable.get(&block).copied().unwrap_or(0)))
    }

    /// Disks of several volumes may keep all of their cache, or lose all of it.
    fn fates(&self, random: &mut Random) -> BTreeMap<u8, Fate> {
        let space = self.superblock.space();
        if space.places().count() < 2 {
            return BTreeMap::new();
        }
        let fate = |random: &mut Random| match random.below(3) {
            0 => Fate::Kept,
            1 => Fate::Lost,
            _ => Fate::Mixed,
        };
        space.places().map(|place| (place.number(), fate(random))).collect()
    }

    /// The machine lost power: of what was not flushed, chance decides.
    pub(crate) fn cut_power(&mut self, random: &mut Random, contents: &mut Contents) {
        let fates = self.fates(random);
        for (block, value) in std::mem::take(&mut self.cache) {
            self.touched.push(block);
            let old = self.durable.get(&block).copied().unwrap_or(0);
            let place = Place::of_block(block).expect("blocks are of volumes");
            let fate = fates.get(&place.number()).copied().unwrap_or(Fate::Mixed);
            let drawn = match fate {
                Fate::Kept => 0,
                Fate::Lost => 4,
                Fate::Mixed => random.below(8),
            };
            let left = match drawn {
                0..4 => value,
                4..7 => old,
                _ => contents.torn(old, value, || random.chance(1, 2)),
            };
            self.durable.insert(block, left);
        }
    }
}
