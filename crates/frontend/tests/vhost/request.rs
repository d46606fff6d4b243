//! Chains as requests of a disk, and what the disk says of itself.

use frontend::block::{Kind, Request};
use frontend::vhost::config::{Cache, Disk, Features};
use frontend::vhost::request::{Status, Wanted};
use frontend::vhost::ring::Chain;

use crate::guest::{EVENTS, Guest, WRITE};

const DISK: Disk = Disk { size_bytes: 64 << 20, block_bytes: 512, queues_max: 4 };
const SECTORS: u64 = DISK.size_bytes / 512;

fn wanted(kind: u32, sector: u64, data: (u64, u32, u16)) -> Wanted {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    guest.request(0, kind, sector, data);
    let mut chain = Chain::default();
    ring.take(&mut chain).unwrap();
    Wanted::read(&chain, &guest.memory, &DISK).unwrap()
}

/// A request whose data is one range.
fn range(kind: u32, sector: u64, sectors: u32, flags: u32) -> Wanted {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    let words = [&sector.to_le_bytes()[..], &sectors.to_le_bytes(), &flags.to_le_bytes()];
    guest.put(0x6000, &words.concat());
    guest.request(0, kind, 0, (0x6000, 16, 0));
    let mut chain = Chain::default();
    ring.take(&mut chain).unwrap();
    Wanted::read(&chain, &guest.memory, &DISK).unwrap()
}

fn block(kind: Kind, offset: u64, length: u64) -> Wanted {
    Wanted::Block(Request { kind, offset, length })
}

const REFUSED: Wanted = Wanted::Refused(Status::IoError);
const UNKNOWN: Wanted = Wanted::Refused(Status::Unsupported);

#[test]
fn types_of_requests_are_read() {
    assert_eq!(wanted(0, 8, (0x5000, 1024, WRITE)), block(Kind::Read, 4096, 1024));
    let write = Kind::Write { fua: false };
    assert_eq!(wanted(1, 1, (0x5000, 512, 0)), block(write, 512, 512));
    assert_eq!(wanted(4, 0, (0x5000, 0, 0)), block(Kind::Flush, 0, 0));
    assert_eq!(wanted(8, 0, (0x5000, 20, WRITE)), Wanted::Name);
    assert_eq!(range(11, 8, 16, 0), block(Kind::Discard, 4096, 8192));
    assert_eq!(range(13, 8, 16, 0), block(Kind::Zeroes { deallocate: false }, 4096, 8192));
    assert_eq!(range(13, 1, 2, 1), block(Kind::Zeroes { deallocate: true }, 512, 1024));
    for unknown in [2, 3, 5, 10, 14, u32::MAX] {
        assert_eq!(wanted(unknown, 0, (0x5000, 512, WRITE)), UNKNOWN, "{unknown}");
    }
}

#[test]
fn what_is_not_whole_or_not_inside_is_refused() {
    for (sector, length) in [(SECTORS, 512), (SECTORS - 1, 1024), (u64::MAX, 512), (0, 511), (0, 0)]
    {
        assert_eq!(wanted(0, sector, (0x5000, length, WRITE)), REFUSED, "{sector} {length}");
        assert_eq!(wanted(1, sector, (0x5000, length, 0)), REFUSED, "{sector} {length}");
    }
    assert_eq!(
        wanted(0, SECTORS - 1, (0x5000, 512, WRITE)),
        block(Kind::Read, (64 << 20) - 512, 512)
    );
    assert_eq!(wanted(8, 0, (0x5000, 19, WRITE)), REFUSED, "no room for the name");
    for (sector, sectors) in [(SECTORS, 1), (0, 0), (u64::MAX, u32::MAX), (1, u32::MAX)] {
        assert_eq!(range(11, sector, sectors, 0), REFUSED, "{sector} {sectors}");
        assert_eq!(range(13, sector, sectors, 1), REFUSED, "{sector} {sectors}");
    }
    assert_eq!(range(11, 0, 8, 1), UNKNOWN, "a discard has no flag");
    assert_eq!(range(13, 0, 8, 2), UNKNOWN);
    assert_eq!(wanted(11, 0, (0x6000, 32, 0)), UNKNOWN, "two ranges were not offered");
    assert_eq!(wanted(11, 0, (0x6000, 15, 0)), UNKNOWN);
}

#[test]
fn request_without_header_or_status_breaks_the_device_off() {
    for (readable, writable) in [(15, 1), (16, 0)] {
        let mut guest = Guest::new();
        let mut ring = guest.ring(EVENTS, None);
        let table = crate::guest::PLACE.descriptors;
        guest.describe(table, 0, 0x4000, readable, [u16::from(writable > 0), 1]);
        guest.describe(table, 1, 0x4020, writable, [WRITE, 0]);
        guest.offer(0);
        let mut chain = Chain::default();
        ring.take(&mut chain).unwrap();
        Wanted::read(&chain, &guest.memory, &DISK).unwrap_err();
    }
}

#[test]
fn writes_are_durable_where_nobody_flushes() {
    let (flushes, does_not) = (Features::of(1 << 9), Features::of(0));
    assert!(!flushes.needs_durable_writes(Cache::WriteBack));
    assert!(flushes.needs_durable_writes(Cache::WriteThrough));
    assert!(does_not.needs_durable_writes(Cache::WriteBack));
}

#[test]
fn configuration_space_has_its_golden_bytes() {
    let mut golden = [0; 60];
    golden[..8].copy_from_slice(&(SECTORS).to_le_bytes());
    golden[12] = 126;
    golden[20..22].copy_from_slice(&[0, 2]);
    // Eight sectors are a block, and 256 are best.
    golden[24..32].copy_from_slice(&[3, 0, 8, 0, 0, 1, 0, 0]);
    golden[32] = 1;
    golden[34] = 4;
    golden[36..48].copy_from_slice(&[0, 0, 0x20, 0, 1, 0, 0, 0, 8, 0, 0, 0]);
    golden[48..57].copy_from_slice(&[0, 0, 0x20, 0, 1, 0, 0, 0, 1]);
    assert_eq!(DISK.encode(Cache::WriteBack), golden);
    golden[32] = 0;
    assert_eq!(DISK.encode(Cache::WriteThrough), golden);
    // A logical block is a physical one, and 32 of them are a part.
    golden[20..32].copy_from_slice(&[0, 16, 0, 0, 0, 0, 1, 0, 32, 0, 0, 0]);
    assert_eq!(Disk { block_bytes: 4096, ..DISK }.encode(Cache::WriteThrough), golden);
}
