//! Superblocks that Debian's drbdmeta 9.22 wrote (`create-md`, then `restore-md` of a dump with a
//! value of its own in each field), and the record of what was saved of one.

use stdx::random::Random;

use format::adopt_drbd::{ADOPTION_HEADER_BYTES, Adoption, decode_adoption, encode_adoption};
use format::drbd::{
    DRBD_SUPERBLOCK_BYTES, DrbdCondition, DrbdPeer, DrbdSuperblock, DrbdVersion, Lineage,
    Unsettled, decode_drbd, marked_in,
};
use format::error::DecodeError;
use format::ids::{Incarnation, ResourceId};

use crate::damage::damage;
use crate::golden::check;

type Block = [u8; DRBD_SUPERBLOCK_BYTES];

/// On a disk of 64 MiB, three slots; node 2, which was left beside node 0.
const V09: &Block = include_bytes!("../golden/drbd_v09.bin");
/// On a disk of 64 MiB.
const V08: &Block = include_bytes!("../golden/drbd_v08.bin");
const SUPERBLOCK_AT: u64 = (64 << 20) - 4096;

const FLAGS_AT: usize = 56;
const MAGIC_AT: usize = 60;

fn with(block: &Block, changes: &[(usize, &[u8])]) -> Block {
    let mut block = *block;
    for (at, bytes) in changes {
        block[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    block
}

fn read(block: &Block, changes: &[(usize, &[u8])]) -> DrbdSuperblock {
    decode_drbd(&with(block, changes)).unwrap()
}

/// No node was left behind.
fn settled_v09() -> DrbdSuperblock {
    read(V09, &[(112, &[0; 8])])
}

#[test]
fn fields_of_version_9_are_where_drbdmeta_writes_them() {
    let superblock = decode_drbd(V09).unwrap();
    assert_eq!(superblock.version, DrbdVersion::V09);
    assert_eq!(superblock.size_bytes, 130_000 * 512);
    assert_eq!(superblock.generation, 0x1122_3344_5566_7788);
    assert_eq!((superblock.node, superblock.bitmap_slots), (Some(2), 3));
    assert_eq!(superblock.bytes_per_bit, 4096);
    assert_eq!(superblock.log_bytes(), 32 << 10);
    // What dump-md of the same disk says.
    assert_eq!(superblock.log_at(SUPERBLOCK_AT), Some(67_072_000));
    assert_eq!(superblock.bitmap_at(SUPERBLOCK_AT), Some(67_063_808));
    assert_eq!(superblock.bitmap_bytes(), 16_250_u64.div_ceil(32) * 3 * 4);
    let bitmap_generation = 0xaabb_ccdd_eeff_0010;
    let peer = DrbdPeer { node: Some(0), slot: 1, bitmap_generation, is_full: false };
    assert_eq!(superblock.peers, [peer]);
    assert_eq!(superblock.condition(), DrbdCondition::UpToDate);
    assert_eq!(superblock.lineage(0xa1a1_a1a1_a1a1_a1a1), Lineage::Newer, "it is in the history");
    assert_eq!(superblock.lineage(0xaabb_ccdd_eeff_0011), Lineage::Newer);
    assert_eq!(superblock.lineage(0x1122_3344_5566_7789), Lineage::Same);
    assert_eq!(superblock.lineage(0x1122_3344_5566_7780), Lineage::Unknown);
    assert_eq!(superblock.lineage(0), Lineage::Unknown);
}

#[test]
fn fields_of_version_8_are_where_drbdmeta_writes_them() {
    let superblock = decode_drbd(V08).unwrap();
    assert_eq!(superblock.version, DrbdVersion::V08);
    assert_eq!(superblock.size_bytes, 130_000 * 512);
    assert_eq!(superblock.generation, 0x1111_1111_1111_1110);
    assert_eq!((superblock.node, superblock.bitmap_slots), (None, 1));
    assert_eq!((superblock.bytes_per_bit, superblock.log_bytes()), (4096, 32 << 10));
    assert_eq!(superblock.log_at(SUPERBLOCK_AT), Some(67_072_000));
    assert_eq!(superblock.bitmap_at(SUPERBLOCK_AT), Some(67_067_904));
    let bitmap_generation = 0x2222_2222_2222_2222;
    let peer = DrbdPeer { node: None, slot: 0, bitmap_generation, is_full: false };
    assert_eq!(superblock.peers, [peer]);
    assert_eq!(superblock.condition(), DrbdCondition::UpToDate);
    assert_eq!(superblock.lineage(0x4444_4444_4444_4444), Lineage::Newer);
}

#[test]
fn condition_is_the_worst_that_the_flags_say() {
    for (changes, condition) in [
        (&[(FLAGS_AT, &[0, 0, 0, 0x11][..])][..], DrbdCondition::Unclean),
        (&[(FLAGS_AT, &[0, 0, 0, 0x90])], DrbdCondition::Inconsistent),
        (&[(FLAGS_AT, &[0, 0, 0, 0x81])], DrbdCondition::Outdated),
        (&[(FLAGS_AT, &[0, 0, 0, 0])], DrbdCondition::Inconsistent),
        (&[(0, &[0; 8])], DrbdCondition::NeverUsed),
        (&[(8, &[0, 0, 0, 0, 0, 0, 0, 4])], DrbdCondition::NeverUsed),
        (&[(8, &[0, 0, 0, 0, 0, 0, 0, 5])], DrbdCondition::NeverUsed),
        (&[(8, &[0; 8])], DrbdCondition::NeverUsed),
    ] {
        for block in [V08, V09] {
            assert_eq!(read(block, changes).condition(), condition, "{changes:?}");
        }
    }
    let unclean = read(V08, &[(MAGIC_AT, &[0x83, 0x74, 0x02, 0x6c])]);
    assert_eq!(unclean.condition(), DrbdCondition::Unclean);
}

#[test]
fn replica_is_settled_only_if_nothing_speaks_against_it() {
    let nothing = |_| 0;
    assert_eq!(settled_v09().settled(&[0], nothing), Ok(()));
    let alone = Unsettled::Alone { node: Some(0), generation: 0xaabb_ccdd_eeff_0010 };
    assert_eq!(decode_drbd(V09).unwrap().settled(&[0], nothing), Err(alone));
    assert_eq!(
        decode_drbd(V09).unwrap().settled(&[], nothing),
        Ok(()),
        "of who is no member any more nothing is asked"
    );
    assert_eq!(settled_v09().settled(&[0, 1], nothing), Err(Unsettled::Unknown { node: 1 }));
    let marked = |slot| if slot == 1 { 7 } else { 0 };
    let differs = Unsettled::Marked { node: Some(0), blocks: 7 };
    assert_eq!(settled_v09().settled(&[0], marked), Err(differs));
    assert_eq!(
        settled_v09().settled(&[0], |slot| u64::from(slot != 1)),
        Ok(()),
        "slots of nobody are those of a time before the first peer"
    );
    for (flags, reason) in [
        ([0, 0, 0, 0x93], Unsettled::CrashedPrimary),
        ([0, 0, 0, 0xd1], Unsettled::CrashedPrimary),
        ([0, 0, 2, 0x91], Unsettled::CrashedPrimary),
        ([0, 0, 1, 0x91], Unsettled::LogDisabled),
    ] {
        let superblock = read(V09, &[(112, &[0; 8]), (FLAGS_AT, &flags)]);
        assert_eq!(superblock.settled(&[0], nothing), Err(reason));
    }
    let full = read(V09, &[(112, &[0; 8]), (128, &[0, 1, 0, 0x08])]);
    assert_eq!(full.settled(&[0], nothing), Err(Unsettled::Full { node: Some(0) }));

    let old = read(V08, &[(16, &[0; 8])]);
    assert_eq!(old.settled(&[1], nothing), Ok(()));
    assert_eq!(old.settled(&[1], |_| 1), Err(Unsettled::Marked { node: None, blocks: 1 }));
    let full = read(V08, &[(16, &[0; 8]), (FLAGS_AT, &[0, 0, 0, 0x99])]);
    assert_eq!(full.settled(&[1], nothing), Err(Unsettled::Full { node: None }));
}

/// dump-md showed 0x010000FF00000000 for slot 1 of a bitmap that has ff 00 00 01 in its fifth word.
#[test]
fn bits_are_counted_for_each_slot() {
    let mut bitmap = [0; 48];
    bitmap[16..20].copy_from_slice(&[0xff, 0, 0, 1]);
    assert_eq!([0, 1, 2].map(|slot| marked_in(&bitmap, 3, slot)), [0, 9, 0]);
    assert_eq!(marked_in(&bitmap, 1, 0), 9);
    assert_eq!(marked_in(&[], 3, 1), 0);
}

#[test]
fn damage_is_told_from_what_others_keep() {
    for (changes, offset) in [
        (&[(80, &[0, 0, 16, 1][..])][..], 80),
        (&[(88, &[0, 0, 0, 33])], 88),
        (&[(88, &[0, 0, 0, 0])], 88),
        (&[(96, &[0, 0, 0, 0])], 96),
        (&[(0, &[0xff; 8])], 0),
        (&[(132, &[0, 0, 0, 3])], 112),
    ] {
        let error = decode_drbd(&with(V09, changes)).unwrap_err();
        assert!(matches!(error, DecodeError::OutOfRange { offset: it, .. } if it == offset));
    }
    let older = decode_drbd(&with(V09, &[(MAGIC_AT, &[0x83, 0x74, 0x02, 0x6a])]));
    assert!(matches!(older, Err(DecodeError::WrongMagic { .. })), "of version 0.7");
}

fn adoption() -> Adoption {
    Adoption {
        resource: ResourceId(0x61),
        resource_name: "database".to_owned(),
        volume: 0x0605,
        incarnation: Incarnation(0x62),
        slots: 3,
        size_bytes: 0x63_0000,
        generation: 0x64,
        is_settled: true,
        is_in_place: false,
        device: b"/dev/vg/database".to_vec(),
        device_bytes: 0x66_0000,
        superblock_at: 0x65_f000,
        area_at: 0x65_0000,
        area_bytes: 0x1_0000,
        area_crc: 0x67,
    }
}

#[test]
fn saved_metadata_has_its_golden_bytes() {
    let mut header = [0xaa; ADOPTION_HEADER_BYTES];
    encode_adoption(&adoption(), &mut header).unwrap();
    assert_eq!(decode_adoption(&header).unwrap(), adoption());
    check("adoption_1.bin", &header);
    let beyond = Adoption { area_bytes: 0x1_0001, ..adoption() };
    encode_adoption(&beyond, &mut header).unwrap();
    assert!(matches!(decode_adoption(&header), Err(DecodeError::OutOfRange { .. })));
}

#[test]
fn damaged_metadata_does_not_panic() {
    let mut random = Random::new(crate::damage::seed(0x0d7b_d000));
    let mut header = [0; ADOPTION_HEADER_BYTES];
    encode_adoption(&adoption(), &mut header).unwrap();
    let (mut read, mut refused) = (0, 0);
    let mut count = |is_read: bool| if is_read { read += 1 } else { refused += 1 };
    for block in [V08, V09].into_iter().cycle().take(10_000) {
        let mut block = *block;
        damage(&mut block[..200], 8, &mut random);
        let superblock = decode_drbd(&block);
        count(superblock.is_ok());
        if let Ok(superblock) = superblock {
            let everybody: Vec<u8> = (0..32).collect();
            let said = (superblock.settled(&everybody, u64::from), superblock.condition());
            let places = [superblock.bitmap_at(4096), superblock.log_at(u64::MAX)];
            assert!(superblock.bitmap_bytes() < 1 << 50, "{said:?} {places:?}");
        }
        let mut bytes = header;
        damage(&mut bytes[..300], 4, &mut random);
        crate::records::reseal(&mut bytes);
        count(decode_adoption(&bytes).is_ok());
    }
    assert!(read > 1000 && refused > 1000, "both happen: {read} read, {refused} refused");
}
