//! How much memory a daemon takes at its start and keeps, by the machine that it runs on.
//!
//! A node may be asked to write so that the kernel gets memory back: then there is none to be had,
//! neither for a buffer nor for a page of one (docs/decisions/0029). So the data threads have from
//! the start what the requests of block devices need, and no more of those are taken in at a time.

use io::{Class, KeptBytes, PoolOptions};

use crate::limits::{
    ARRIVING_BYTES_MAX, CLIENTS_BYTES_MAX, CLIENTS_MAX, CLIENTS_SURPLUS_MAX, NVME_QUEUES_MAX,
    NVME_QUEUES_SURPLUS_MAX, REPLIES_BYTES_MAX, WIDE_CLIENTS_MAX,
};

/// What is assumed where the kernel does not say what the machine has.
pub const MACHINE_BYTES: u64 = 1 << 30;
/// Bytes of buffers of each kind that a data thread may take; memory is used when it is touched.
/// Clients leave a quarter of each. In the rest all sessions that may be here at a time receive,
/// and the data that clients may hold lies there (budget.rs), of whatever kind it is.
const SMALL_BYTES: usize = 200 << 20;
const MEDIUM_BYTES: usize = 320 << 20;
const LARGE_BYTES: usize = 192 << 20;
const DATA_BYTES: usize = CLIENTS_BYTES_MAX + ARRIVING_BYTES_MAX + REPLIES_BYTES_MAX;
const _: () = {
    let receiving_nbd = CLIENTS_MAX + CLIENTS_SURPLUS_MAX;
    let receiving_nvme = NVME_QUEUES_MAX + NVME_QUEUES_SURPLUS_MAX;
    // What is sealed is received, and then opened to another place.
    let small = (2 * receiving_nbd + receiving_nvme) * Class::Small.size_bytes() as usize;
    assert!(small + DATA_BYTES <= SMALL_BYTES / 4 * 3);
    let medium = (WIDE_CLIENTS_MAX + receiving_nvme) * Class::Medium.size_bytes() as usize;
    assert!(medium + DATA_BYTES <= MEDIUM_BYTES / 4 * 3);
    assert!(DATA_BYTES <= LARGE_BYTES / 4 * 3);
};
/// Buffers of each data thread that are kept: of the smallest kind, of the next, and of those that
/// parts of requests and frames lie in.
const SMALL_KEPT: usize = 1 << 20;
const MEDIUM_KEPT: usize = 2 << 20;
const LARGE_KEPT_MIN: u64 = 8 << 20;
const LARGE_KEPT_MAX: u64 = 16 << 20;
/// The part of the machine's memory that all of the latter are, within these bounds.
const LARGE_KEPT_PART: u64 = 64;
/// Bytes of the requests of a block device that are worked on at a time, as such a part: a
/// part of a request takes twice its bytes of the least that is kept, and links need buffers too.
const DEVICE_BYTES_MIN: u64 = 3 << 20;
const DEVICE_BYTES_MAX: u64 = 32 << 20;
const DEVICE_BYTES_PART: u64 = 512;

/// What each data thread gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    kept: KeptBytes,
    /// Bytes that requests of one block device may have under way.
    pub(crate) device_bytes_max: u64,
}

impl MemoryPlan {
    /// For a daemon with so many data threads on this machine.
    pub fn of_this_machine(shards: u8) -> Self {
        Self::of(io::process::machine_memory().unwrap_or(MACHINE_BYTES), shards)
    }

    fn of(machine_bytes: u64, shards: u8) -> Self {
        let large = machine_bytes / LARGE_KEPT_PART / u64::from(shards.max(1));
        let large = large.clamp(LARGE_KEPT_MIN, LARGE_KEPT_MAX);
        let large = usize::try_from(large).expect("far below 4 GiB");
        Self {
            kept: KeptBytes { small: SMALL_KEPT, medium: MEDIUM_KEPT, large },
            device_bytes_max: (machine_bytes / DEVICE_BYTES_PART)
                .clamp(DEVICE_BYTES_MIN, DEVICE_BYTES_MAX),
        }
    }

    pub fn pool(&self) -> PoolOptions {
        PoolOptions {
            small_bytes_max: SMALL_BYTES,
            medium_bytes_max: MEDIUM_BYTES,
            large_bytes_max: LARGE_BYTES,
            kept: self.kept,
            ..PoolOptions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_machine_gives_little_and_a_large_one_no_more_than_is_of_use() {
        let small = MemoryPlan::of(464 << 20, 2);
        assert_eq!((small.kept.large, small.device_bytes_max), (8 << 20, 3 << 20));
        let middle = MemoryPlan::of(4 << 30, 8);
        assert_eq!((middle.kept.large, middle.device_bytes_max), (8 << 20, 8 << 20));
        let large = MemoryPlan::of(1 << 40, 8);
        assert_eq!((large.kept.large, large.device_bytes_max), (16 << 20, 32 << 20));
    }
}
