//! What others keep on a device is recognised, and an empty device is not.

use format::foreign::{PROBE_BYTES, detect_foreign};
use stdx::random::Random;

/// Bytes written at an offset from the start, or (negative) from the end, and what they mean.
type Case = (i64, &'static [u8], &'static str);

const CASES: &[Case] = &[
    (0, b"XFSB\0\0\x10\0", "XFS"),
    (0x1_0040, b"_BHRfS_M", "Btrfs"),
    (512, b"LABELONE\x01\0\0\0\0\0\0\0\x7f\x35\x15\x9d\x20\0\0\0LVM2 001", "LVM2"),
    (0, b"LUKS\xba\xbe\0\x01", "LUKS"),
    (0, b"LUKS\xba\xbe\0\x02", "LUKS"),
    (4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0", "md"),
    (0, b"\xfc\x4e\x2b\xa9\x01\0\0\0", "md"),
    (-8192, b"\xfc\x4e\x2b\xa9\x01\0\0\0", "md"),
    (-65_536, b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0", "md"),
    (131_032, b"\x11\x7a\x0c\xb1\x7a\xda\x10\x02", "ZFS"),
    (-131_072, b"\x0c\xb1\xba\0\0\0\0\0", "ZFS"),
    (4086, b"SWAPSPACE2", "swap"),
    (512, b"EFI PART\0\0\x01\0", "GPT"),
    (-512, b"EFI PART\0\0\x01\0", "GPT"),
    (510, b"\x55\xaa", "MBR"),
    (-4096 + 60, b"\x83\x74\x02\x6b", "DRBD"),
    (-4096 + 60, b"\x83\x74\x02\x6c", "DRBD"),
    (-4096 + 60, b"\x83\x74\x02\x6d", "DRBD"),
    (60, b"\x83\x74\x02\x6d", "DRBD"),
    (-4096, b"BASALTSB", "Basalt"),
    (0, b"BASALTSB", "Basalt"),
    (1080, b"\x53\xef", "ext2"),
];

fn probe(changes: &[(i64, &[u8])]) -> Option<&'static str> {
    let (mut head, mut tail) = (vec![0; PROBE_BYTES], vec![0; PROBE_BYTES]);
    for (at, bytes) in changes {
        let (part, at) = match usize::try_from(*at) {
            Ok(at) => (&mut head, at),
            Err(_) => (&mut tail, PROBE_BYTES - usize::try_from(-at).unwrap()),
        };
        part[at..at + bytes.len()].copy_from_slice(bytes);
    }
    detect_foreign(&head, &tail)
}

#[test]
fn each_signature_is_recognised() {
    for (at, bytes, word) in CASES {
        let found = probe(&[(*at, bytes)]);
        assert!(found.is_some_and(|what| what.contains(word)), "{word} at {at}: {found:?}");
    }
}

#[test]
fn generations_of_ext_are_told_apart() {
    let magic: (i64, &[u8]) = (1080, b"\x53\xef");
    let journal: (i64, &[u8]) = (1024 + 92, b"\x3c\0\0\0");
    let extents: (i64, &[u8]) = (1024 + 96, b"\xc2\x02\0\0");
    assert_eq!(probe(&[magic]), Some("an ext2 file system"));
    assert_eq!(probe(&[magic, journal]), Some("an ext3 file system"));
    assert_eq!(probe(&[magic, journal, extents]), Some("an ext4 file system"));
}

#[test]
fn boot_sector_of_a_file_system_is_not_called_a_partition_table() {
    let fat: &[(i64, &[u8])] = &[(510, b"\x55\xaa"), (82, b"FAT32   ")];
    assert_eq!(probe(fat), Some("a FAT file system"));
}

#[test]
fn empty_and_random_devices_hold_nothing_known() {
    assert_eq!(probe(&[]), None);
    assert_eq!(detect_foreign(&[], &[]), None);
    let mut random = Random::new(5);
    let noise: Vec<u8> =
        (0..PROBE_BYTES / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    assert_eq!(detect_foreign(&noise, &noise), None);
}
