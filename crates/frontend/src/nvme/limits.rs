//! What one initiator may make a node hold or wait for.

/// Blocks as an initiator counts them; the volume's own are 4 KiB, and it is told to prefer those.
pub const LBA_BYTES: u64 = 512;
pub const LBA_SHIFT: u8 = 9;

/// The unit of MDTS.
const PAGE_BYTES: u32 = 4096;
/// A longer read or write is refused: 2^8 pages, which is 1 MiB.
pub const MDTS: u8 = 8;
pub const TRANSFER_BYTES_MAX: u32 = PAGE_BYTES << MDTS;
/// A longer write without data is refused: all that 16 bits of blocks can say.
pub const WRITE_ZEROES_SHIFT: u8 = 13;

/// Data that comes with a command; a longer write waits for leave to send.
pub const CAPSULE_DATA_BYTES_MAX: u32 = 16 << 10;
/// Data of one PDU of a longer write.
pub const DATA_PDU_BYTES_MAX: u32 = 128 << 10;
/// Data that an admin command gives back.
pub const ADMIN_DATA_BYTES_MAX: u32 = 64 << 10;

/// Entries of a queue, and of the admin queue.
pub const QUEUE_ENTRIES_MAX: u16 = 128;
pub const ADMIN_ENTRIES_MAX: u16 = 32;
/// I/O queues of one controller.
pub const IO_QUEUES_MAX: u16 = 16;
/// Requests for events that wait at a controller.
pub const EVENT_REQUESTS_MAX: usize = 4;
/// Ranges of one deallocation.
pub const RANGES_MAX: u32 = 256;
pub const RANGE_BYTES: u32 = 16;

/// Controller ids of one node of a subsystem.
pub const CONTROLLERS_PER_NODE: u16 = 2000;

/// A keep-alive interval is rounded up to this.
pub const KEEP_ALIVE_UNIT_MS: u32 = 1000;

const _: () = {
    assert!(RANGES_MAX * RANGE_BYTES <= CAPSULE_DATA_BYTES_MAX);
    assert!(TRANSFER_BYTES_MAX == 1 << 20);
    assert!((PAGE_BYTES as u64) << WRITE_ZEROES_SHIFT == LBA_BYTES << 16);
    // 32 nodes, and ids from 0xfff0 on mean something else.
    assert!(32 * CONTROLLERS_PER_NODE as u32 <= 0xffef);
};
