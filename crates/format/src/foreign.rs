//! Recognises what others keep on a device, so that nobody's data is formatted over by mistake.
//!
//! Signatures as their projects publish them. The device's size is not known here, so that what
//! lies relative to its end is looked for at every sector of the tail.

use crate::superblock;

/// How much of the start and of the end of a device to read.
pub const PROBE_BYTES: usize = 128 << 10;

const SECTOR: usize = 512;

/// What is on a device, or `None` if nothing known is; `head` and `tail` are its first and last
/// `PROBE_BYTES` (both the whole of a smaller device).
#[must_use]
pub fn detect_foreign(head: &[u8], tail: &[u8]) -> Option<&'static str> {
    in_sectors(head)
        .or_else(|| in_sectors(tail))
        .or_else(|| at_fixed_places(head))
        .or_else(|| extended_file_system(head))
        .or_else(|| partition_table(head, tail))
}

/// Signatures that say where they are: {offset, bytes, what}.
const FIXED: &[(usize, &[u8], &str)] = &[
    (0, b"XFSB", "an XFS file system"),
    (0x1_0040, b"_BHRfS_M", "a Btrfs file system"),
    (0, b"LUKS\xba\xbe", "a LUKS encrypted volume"),
    (0x4000, b"SKUL\xba\xbe", "a LUKS encrypted volume"),
    (4096 - 10, b"SWAPSPACE2", "swap space"),
    (4096 - 10, b"SWAP-SPACE", "swap space"),
    (16_384 - 10, b"SWAPSPACE2", "swap space"),
    (65_536 - 10, b"SWAPSPACE2", "swap space"),
    (16_384 + 114_688 - 40, b"\x11\x7a\x0c\xb1\x7a\xda\x10\x02", "a ZFS pool member"),
    (16_384 + 114_688 - 40, b"\x02\x10\xda\x7a\xb1\x0c\x7a\x11", "a ZFS pool member"),
    (1024, b"\x10\x20\xf5\xf2", "an F2FS file system"),
    (4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", "bcache"),
    (0, b"bluestore block device", "a Ceph OSD"),
    (32_769, b"CD001", "an ISO 9660 file system"),
    (3, b"NTFS    ", "an NTFS file system"),
    (3, b"EXFAT   ", "an exFAT file system"),
    (54, b"FAT1", "a FAT file system"),
    (82, b"FAT32", "a FAT file system"),
    (0, b"QFI\xfb", "a QCOW2 disk image"),
    (0, b"hsqs", "a SquashFS file system"),
];

fn at_fixed_places(head: &[u8]) -> Option<&'static str> {
    FIXED.iter().find(|(at, bytes, _)| is_at(head, *at, bytes)).map(|(_, _, what)| *what)
}

/// What starts a sector somewhere: which one depends on the size, or on how it was made.
fn in_sectors(bytes: &[u8]) -> Option<&'static str> {
    bytes.chunks(SECTOR).find_map(|sector| {
        if sector.starts_with(superblock::MAGIC) {
            Some("Basalt metadata")
        } else if sector.starts_with(b"LABELONE") && is_at(sector, 24, b"LVM2 001") {
            Some("an LVM2 physical volume")
        } else if is_md_member(sector) {
            Some("a Linux RAID (md) member")
        } else if is_drbd(sector) {
            Some("DRBD metadata")
        } else if sector.starts_with(&ZFS_UBERBLOCK) || sector.starts_with(&ZFS_UBERBLOCK_BIG) {
            Some("a ZFS pool member")
        } else {
            None
        }
    })
}

const ZFS_UBERBLOCK: [u8; 8] = 0x00ba_b10c_u64.to_le_bytes();
const ZFS_UBERBLOCK_BIG: [u8; 8] = [0, 0, 0, 0, 0x00, 0xba, 0xb1, 0x0c];

/// Version 0.90 lies at the last 64 KiB border but one, 1.0 some 8 KiB from the end, 1.1 at byte 0,
/// 1.2 at 4 KiB; the major version follows the magic number.
fn is_md_member(sector: &[u8]) -> bool {
    const MAGIC: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
    let is_major = |version: u32| is_at(sector, 4, &version.to_le_bytes());
    sector.starts_with(&MAGIC) && (is_major(0) || is_major(1))
}

/// The magic numbers of 0.7 to 8.4 and of 9, big-endian, at byte 60 of the superblock.
fn is_drbd(sector: &[u8]) -> bool {
    (0x6a..=0x6d).any(|last| is_at(sector, 60, &[0x83, 0x74, 0x02, last]))
}

fn extended_file_system(head: &[u8]) -> Option<&'static str> {
    const SUPERBLOCK_AT: usize = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    /// Extents, 64 bit, flex_bg and what came with them.
    const OF_EXT4: u32 = 0x40 | 0x80 | 0x200;
    if !is_at(head, SUPERBLOCK_AT + 56, &[0x53, 0xef]) {
        return None;
    }
    let word = |at: usize| {
        let bytes = head.get(SUPERBLOCK_AT + at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    Some(if word(96) & OF_EXT4 != 0 {
        "an ext4 file system"
    } else if word(92) & HAS_JOURNAL != 0 {
        "an ext3 file system"
    } else {
        "an ext2 file system"
    })
}

/// Last of all: boot sectors of file systems have the signature of an MBR too.
fn partition_table(head: &[u8], tail: &[u8]) -> Option<&'static str> {
    let backup_at = |sector: usize| tail.len().checked_sub(sector);
    let is_backup =
        [512, 4096].into_iter().filter_map(backup_at).any(|at| is_at(tail, at, b"EFI PART"));
    if is_backup || is_at(head, 512, b"EFI PART") || is_at(head, 4096, b"EFI PART") {
        return Some("a GPT partition table");
    }
    is_at(head, 510, &[0x55, 0xaa]).then_some("an MBR partition table or a boot sector")
}

fn is_at(bytes: &[u8], at: usize, signature: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(signature))
}
