//! Records on stable storage: golden bytes, two copies, torn and foreign ones, activity-log rings.

use std::collections::BTreeSet;

use stdx::random::Random;

use format::activity_log::{
    AL_RECORD_BYTES, ReplayError, RingReplay, decode_al_record, encode_al_record, format_ring,
    replay_ring,
};
use format::config::Config;
use format::error::DecodeError;
use format::ids::{
    Branch, Epoch, Incarnation, KernelBootId, Nonce, ResourceId, ValueId, VoteStoreId,
};
use format::layout::{AL_RING_BYTES, Layout, Placement};
use format::metadata::{
    AL_CHANGES_MAX, AL_CONTEXT, AL_SLOTS_MAX, AlChange, AlRecord, Candidate, Content, FurtherDisk,
    Register, ReplicaState, Sealed, Slot, Superblock, VoteStamp,
};
use format::register::{
    REGISTER_FILE_BYTES, REGISTER_SLOT_BYTES, decode_register, encode_register, newest_register,
    register_slot_offset,
};
use format::space::Place;
use format::superblock::{SUPERBLOCK_BYTES, decode_superblock, encode_superblock};
use format::vote::VoteCopy;
use stdx::checksum::{crc32c, crc32c_append};

use crate::damage::damage;
use crate::golden::check;
use crate::samples;

const SEED: u64 = 0x00d1_5cba;
const INCARNATION: Incarnation = Incarnation(0x0102_0304);

fn layout() -> Layout {
    Layout::new(Placement::Internal { device_bytes: (1 << 30) + 5 }, 8, 16).unwrap()
}

fn superblock() -> Superblock {
    let slot = |id, in_use| Slot {
        member: samples::node(id),
        base_epoch: Epoch(0x10 + u64::from(id)),
        base_incarnation: Incarnation(0x20 + u128::from(id)),
        in_use,
    };
    Superblock {
        resource: ResourceId(0x31),
        resource_name: "database".to_owned(),
        volume: 0x0302,
        node: samples::node(2),
        branch: Branch(0x33),
        incarnation: INCARNATION,
        sealed: Sealed { ballot: samples::ballot(0x34), nonce: Nonce(0x35) },
        joined: Epoch(0x36),
        candidate: Some(Candidate { epoch: Epoch(0x37), value_id: ValueId(0x38) }),
        state: ReplicaState::Outdated,
        kernel_boot_id: KernelBootId(0x39),
        size_bytes: 64 << 20,
        lanes: 16,
        write_counter: 0x3a,
        clean: true,
        vote_stamp: VoteStamp {
            store: VoteStoreId(0x3b),
            promised: samples::ballot(0x3c),
            epoch: Epoch(0x3d),
            write_counter: 0x3e,
        },
        vote: None,
        log: None,
        slots: vec![slot(0, true), slot(1, false), slot(2, true)],
        further: Vec::new(),
    }
}

/// The first disk of a replica with three volumes.
fn several() -> Superblock {
    let further = |number, incarnation, content| FurtherDisk {
        place: Place::new(number).unwrap(),
        incarnation: Incarnation(incarnation),
        size_bytes: u64::from(number) << 20,
        content,
    };
    let used = further(1, 0x71, Content::OfHistory);
    let fresh = further(15, 0x72, Content::Zeroes);
    Superblock { further: vec![used, fresh], ..superblock() }
}

fn superblock_bytes(superblock: &Superblock) -> [u8; SUPERBLOCK_BYTES] {
    let mut block = [0xaa; SUPERBLOCK_BYTES];
    encode_superblock(superblock, &layout(), &mut block).unwrap();
    block
}

fn register(write_counter: u64) -> Register {
    Register {
        resource: ResourceId(0x41),
        store: VoteStoreId(0x42),
        promised: samples::ballot(0x43),
        promised_nonce: Nonce(0x44),
        accepted: Some((samples::ballot(0x45), samples::config())),
        write_counter,
        disk_left_at: Some(0x39),
    }
}

fn al_record() -> AlRecord {
    AlRecord {
        ring: 15,
        number: 0x51,
        changes: vec![
            AlChange { slot: 3, extent: Some(0x52) },
            AlChange { slot: 1023, extent: None },
        ],
        context_start: 256,
        context: vec![Some(0x53), None, Some(0x54)],
    }
}

/// Makes the checksum of a changed block right again.
pub(crate) fn reseal(bytes: &mut [u8]) {
    let crc = crc32c_append(crc32c(&bytes[..12]), &bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn superblock_has_its_golden_bytes() {
    let block = superblock_bytes(&superblock());
    assert_eq!(decode_superblock(&block).unwrap(), (superblock(), layout()));
    check("superblock_1.bin", &block);
    let fresh = Superblock { candidate: None, slots: Vec::new(), clean: false, ..superblock() };
    let block = superblock_bytes(&fresh);
    assert_eq!(decode_superblock(&block).unwrap(), (fresh, layout()));
    check("superblock_1_fresh.bin", &block);
    let value = Config { resource: superblock().resource, ..samples::config() };
    let voted = VoteCopy::new(VoteStoreId(0x3f), samples::ballot(0x40), &value);
    let voted = Superblock { vote: voted.map(Box::new), ..superblock() };
    let block = superblock_bytes(&voted);
    assert_eq!(decode_superblock(&block).unwrap(), (voted, layout()));
    check("superblock_1_vote.bin", &block);
    let several = several();
    let block = superblock_bytes(&several);
    assert_eq!(decode_superblock(&block).unwrap(), (several.clone(), layout()));
    check("superblock_1_several.bin", &block);
    assert_eq!(several.space().blocks(), (64 << 8) + (1 << 8) + (15 << 8));
}

#[test]
fn register_has_its_golden_bytes() {
    let empty = Register { accepted: None, ..register(1) };
    for (name, register) in [("register_1.bin", register(2)), ("register_1_empty.bin", empty)] {
        let mut slot = vec![0xaa; REGISTER_SLOT_BYTES];
        let length = encode_register(&register, slot.first_chunk_mut().unwrap()).unwrap();
        assert_eq!(length, 4096);
        assert_eq!(decode_register(slot.first_chunk().unwrap()).unwrap(), register);
        check(name, &slot[..length]);
    }
}

#[test]
fn largest_register_fits_into_its_slot() {
    let mut large = register(1);
    let config = &mut large.accepted.as_mut().unwrap().1;
    let member = |id| format::config::InSync {
        node: samples::node(id),
        incarnation: INCARNATION,
        joined: Epoch(1),
    };
    config.ancestors = vec![config.ancestors[0]; format::config::ANCESTORS_MAX];
    config.volumes[0].insync = (0..32).map(member).collect();
    config.volumes = vec![config.volumes[0].clone(); 64];
    config.voters = vec![config.voters[0]; 32];
    config.voters_old = vec![config.voters[0]; 32];
    let mut slot = vec![0; REGISTER_SLOT_BYTES];
    let length = encode_register(&large, slot.first_chunk_mut().unwrap()).unwrap();
    assert!(length > 48 << 10);
    assert_eq!(decode_register(slot.first_chunk().unwrap()).unwrap(), large);
}

/// What a disk has room for, of clusters as they are and of larger ones.
#[test]
fn copy_of_a_vote_keeps_what_fits_and_is_left_out_where_little_does() {
    let copied = |members: u8, volumes: usize, forks: usize| {
        let mut value = samples::config();
        let member = |id| format::config::InSync {
            node: samples::node(id),
            incarnation: INCARNATION,
            joined: Epoch(1),
        };
        value.ancestors = vec![value.ancestors[0]; forks];
        value.ancestors.extend(samples::config().ancestors.last());
        value.volumes[0].insync = (0..members).map(member).collect();
        value.volumes = vec![value.volumes[0].clone(); volumes];
        value.voters = vec![value.voters[0]; members.into()];
        value.voters_old = Vec::new();
        let copy = VoteCopy::new(VoteStoreId(1), samples::ballot(2), &value)?;
        let block =
            superblock_bytes(&Superblock { vote: Some(Box::new(copy.clone())), ..superblock() });
        let found = decode_superblock(&block).unwrap().0.vote.unwrap();
        let expected = Config { resource: superblock().resource, ..copy.value().clone() };
        assert_eq!((found.ballot, found.value()), (copy.ballot, &expected));
        assert_eq!(found.value().ancestors.last(), value.ancestors.last());
        Some(found.value().ancestors.len())
    };
    assert_eq!(copied(3, 1, 2), Some(3));
    assert_eq!(copied(3, 4, 15), Some(4));
    assert_eq!(copied(5, 2, 15), Some(2));
    assert!(copied(6, 1, 15).is_some());
    let mut value = samples::config();
    value.voters = vec![value.voters[0]; 32];
    assert_eq!(VoteCopy::new(VoteStoreId(1), samples::ballot(2), &value), None);
}

#[test]
fn al_record_has_its_golden_bytes() {
    let mut block = [0xaa; AL_RECORD_BYTES];
    encode_al_record(&al_record(), INCARNATION, &mut block).unwrap();
    assert_eq!(decode_al_record(&block).unwrap(), (al_record(), INCARNATION));
    check("al_record_1.bin", &block);
    let full = AlRecord {
        changes: vec![AlChange { slot: 7, extent: Some(8) }; AL_CHANGES_MAX],
        context: (0..AL_CONTEXT as u64).map(Some).collect(),
        context_start: u16::try_from(AL_SLOTS_MAX - AL_CONTEXT).unwrap(),
        ..al_record()
    };
    encode_al_record(&full, INCARNATION, &mut block).unwrap();
    assert_eq!(decode_al_record(&block).unwrap(), (full, INCARNATION));
}

#[test]
fn newer_version_or_feature_is_told_from_damage() {
    let whole = superblock_bytes(&superblock());
    for (at, value) in [(8, 2), (24, 2)] {
        let mut block = whole;
        block[at] = value;
        let fault = decode_superblock(&block).unwrap_err();
        assert!(matches!(fault, DecodeError::WrongChecksum { .. }), "{fault}");
        reseal(&mut block);
        let fault = decode_superblock(&block).unwrap_err();
        assert!(matches!(fault, DecodeError::NewerVersion { .. }), "{fault}");
    }
    let mut compatible = whole;
    compatible[16] = 1;
    reseal(&mut compatible);
    decode_superblock(&compatible).unwrap();
}

/// An older release skips what it does not know, for the feature is one that it may leave out.
#[test]
fn superblock_tells_of_a_log_that_names_another_incarnation() {
    let former = Incarnation(u128::MAX - 7);
    let told = Superblock { log: Some(former), ..superblock() };
    let whole = superblock_bytes(&told);
    assert_eq!(whole[16], 2);
    assert_eq!(decode_superblock(&whole).unwrap().0, told);
    assert_eq!((told.log_incarnation(), superblock().log_incarnation()), (former, INCARNATION));
    // It writes the replica without.
    let mut without = whole;
    without[16] = 1;
    reseal(&mut without);
    assert_eq!(decode_superblock(&without).unwrap().0, superblock());
}

#[test]
fn torn_register_write_leaves_the_version_before() {
    let mut file = vec![0; REGISTER_FILE_BYTES];
    assert!(newest_register(&file).is_err(), "an empty file is no register");
    for counter in 1..5 {
        let at = usize::try_from(register_slot_offset(counter)).unwrap();
        let slot = file[at..].first_chunk_mut().unwrap();
        encode_register(&register(counter), slot).unwrap();
        assert_eq!(newest_register(&file).unwrap().write_counter, counter);
    }
    file[usize::try_from(register_slot_offset(4)).unwrap() + 100] ^= 1;
    assert_eq!(newest_register(&file).unwrap().write_counter, 3);
    let short = newest_register(&file[..REGISTER_FILE_BYTES - 1]).unwrap_err();
    assert!(matches!(short, DecodeError::Truncated { value: 1, .. }));
}

/// A ring and the table that its writer has in mind.
struct Ring {
    bytes: Vec<u8>,
    table: Vec<Option<u64>>,
    number: u64,
    start: usize,
}

impl Ring {
    fn new(slots: usize) -> Self {
        let mut bytes = vec![0xaa; usize::try_from(AL_RING_BYTES).unwrap()];
        format_ring(3, INCARNATION, &mut bytes);
        Self { bytes, table: vec![None; slots], number: 1, start: 0 }
    }
    /// The process starts again: all was taken over into bitmaps, the table starts empty.
    fn restart(&mut self, slots: usize) {
        self.number = replay_ring(3, INCARNATION, &self.bytes).unwrap().newest;
        self.table = vec![None; slots];
        self.start = 0;
    }
    fn place(&mut self, number: u64) -> &mut [u8; AL_RECORD_BYTES] {
        let place = usize::try_from(number % 32).unwrap();
        self.bytes[place * AL_RECORD_BYTES..].first_chunk_mut().unwrap()
    }
    fn log(&mut self, changes: &[(usize, Option<u64>)]) {
        for (slot, extent) in changes {
            self.table[*slot] = *extent;
        }
        let end = (self.start + AL_CONTEXT).min(self.table.len());
        self.number += 1;
        let change = |(slot, extent): &(usize, Option<u64>)| AlChange {
            slot: u16::try_from(*slot).unwrap(),
            extent: *extent,
        };
        let record = AlRecord {
            ring: 3,
            number: self.number,
            changes: changes.iter().map(change).collect(),
            context_start: u16::try_from(self.start).unwrap(),
            context: self.table[self.start..end].to_vec(),
        };
        self.start = if end == self.table.len() { 0 } else { end };
        encode_al_record(&record, INCARNATION, self.place(record.number)).unwrap();
    }
    fn log_random(&mut self, random: &mut Random) {
        let slots = self.table.len() as u64;
        let changes: Vec<_> = (0..1 + random.below(64))
            .map(|_| {
                let slot = usize::try_from(random.below(slots)).unwrap();
                (slot, Some(random.below(100_000)).filter(|_| !random.chance(1, 8)))
            })
            .collect();
        self.log(&changes);
    }
    fn hot(&self) -> BTreeSet<u64> {
        self.table.iter().flatten().copied().collect()
    }
    fn replay(&self) -> Result<RingReplay, ReplayError> {
        replay_ring(3, INCARNATION, &self.bytes)
    }
}

#[test]
fn replay_gives_the_table_back_at_every_record() {
    let mut random = Random::new(SEED);
    for slots in [1, 64, 255, 256, 257, 600, AL_SLOTS_MAX] {
        let mut ring = Ring::new(slots);
        assert_eq!(ring.replay(), Ok(RingReplay { extents: BTreeSet::new(), newest: 1 }));
        for number in 2..200 {
            ring.log_random(&mut random);
            let replay = ring.replay().unwrap();
            assert_eq!((&replay.extents, replay.newest), (&ring.hot(), number), "{slots} slots");
        }
    }
}

#[test]
fn replay_after_restarts_with_other_tables_is_a_superset() {
    let mut random = Random::new(SEED + 1);
    let mut ring = Ring::new(AL_SLOTS_MAX);
    for _ in 0..200 {
        for _ in 0..random.below(9) {
            ring.log_random(&mut random);
            let replay = ring.replay().unwrap();
            assert!(ring.hot().is_subset(&replay.extents));
        }
        ring.restart(1 + usize::try_from(random.below(AL_SLOTS_MAX as u64)).unwrap());
    }
}

/// S22: a crash in mid-write of a record. Data writes that need it were not issued yet.
#[test]
fn torn_newest_record_is_ignored() {
    let mut random = Random::new(SEED + 2);
    let mut ring = Ring::new(AL_SLOTS_MAX);
    for _ in 0..100 {
        ring.log_random(&mut random);
        let (before, hot) = (ring.bytes.clone(), ring.hot());
        let (table, start, number) = (ring.table.clone(), ring.start, ring.number);
        ring.log_random(&mut random);
        // The first sectors are new, the rest is what was there.
        let at = usize::try_from(ring.number % 32).unwrap() * AL_RECORD_BYTES;
        let sectors = 512 * usize::try_from(1 + random.below(7)).unwrap();
        let whole = at..at + AL_RECORD_BYTES;
        let is_torn = ring.bytes[at + sectors..whole.end] != before[at + sectors..whole.end];
        ring.bytes[at + sectors..whole.end].copy_from_slice(&before[at + sectors..whole.end]);
        if is_torn {
            let replay = ring.replay().unwrap();
            assert_eq!((replay.extents, replay.newest), (hot, number));
        }
        // The next life of the process writes the same number again.
        ring.bytes[whole].fill(0);
        assert_eq!(ring.replay().unwrap().newest, number);
        (ring.table, ring.start, ring.number) = (table, start, number);
    }
}

#[test]
fn hole_before_the_newest_record_is_damage() {
    let mut random = Random::new(SEED + 3);
    let mut ring = Ring::new(AL_SLOTS_MAX);
    for _ in 0..50 {
        ring.log_random(&mut random);
    }
    let newest = ring.number;
    for back in 1..31 {
        let (whole, missing) = (ring.bytes.clone(), newest - back);
        ring.place(missing)[2000] ^= 1;
        let expected = Err(ReplayError::Damaged { ring: 3, missing });
        if back < 4 {
            assert_eq!(ring.replay(), expected, "{back} before the newest");
        } else {
            assert_eq!(ring.replay().unwrap().extents, ring.hot(), "{back} before the newest");
        }
        ring.bytes = whole;
    }
}

#[test]
fn ring_without_records_is_damage_and_not_clean() {
    let missing = Err(ReplayError::Damaged { ring: 3, missing: 1 });
    let mut ring = Ring::new(8);
    let other = Incarnation(INCARNATION.0 + 1);
    let earlier = Err(ReplayError::OfEarlier { ring: 3 });
    assert_eq!(replay_ring(3, other, &ring.bytes), earlier, "of an earlier formatting");
    let misplaced = Err(ReplayError::Damaged { ring: 4, missing: 1 });
    assert_eq!(replay_ring(4, INCARNATION, &ring.bytes), misplaced, "of another ring");
    ring.bytes.rotate_right(AL_RECORD_BYTES);
    assert_eq!(ring.replay(), missing, "in another place");
    ring.bytes.fill(0);
    assert_eq!(ring.replay(), missing, "all zeroes");
}

#[test]
fn newer_record_keeps_the_ring_closed() {
    let mut ring = Ring::new(8);
    let block = ring.place(1);
    block[8] = 2;
    reseal(block);
    assert!(matches!(ring.replay(), Err(ReplayError::Newer { ring: 3, .. })));
}

#[test]
fn damaged_records_do_not_panic() {
    let mut random = Random::new(crate::damage::seed(SEED + 4));
    let superblock_block = superblock_bytes(&several());
    let mut al_block = [0; AL_RECORD_BYTES];
    encode_al_record(&al_record(), INCARNATION, &mut al_block).unwrap();
    let mut slot = vec![0; REGISTER_SLOT_BYTES];
    encode_register(&register(1), slot.first_chunk_mut().unwrap()).unwrap();
    let (mut read, mut refused) = (0, 0);
    let mut count = |is_read: bool| if is_read { read += 1 } else { refused += 1 };
    for _ in 0..5_000 {
        let mut block = superblock_block;
        damage(&mut block[..900], 8, &mut random);
        reseal(&mut block);
        count(decode_superblock(&block).is_ok());
        let mut block = al_block;
        damage(&mut block, 8, &mut random);
        reseal(&mut block);
        count(decode_al_record(&block).is_ok());
        let mut bytes = slot.clone();
        damage(&mut bytes[..400], 8, &mut random);
        reseal(&mut bytes[..4096]);
        count(decode_register(bytes.first_chunk().unwrap()).is_ok());
    }
    assert!(read > 1000 && refused > 1000, "both happen: {read} read, {refused} refused");
}
