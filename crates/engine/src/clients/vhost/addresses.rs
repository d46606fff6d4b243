//! Addresses of this process that the memory of guests takes.
//!
//! A file in memory costs nobody anything, however long it says that it is. To map it takes
//! addresses, and a process has only so many: without any, the daemon ends. So there is a bound on
//! what one session has mapped, and on what all of them have.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{GUEST_MEMORY_TIMES, GUESTS_ADDRESSES_MAX};

/// What somebody may have mapped, and has.
#[derive(Clone, Debug)]
pub struct Addresses {
    own: Arc<Share>,
    /// Those of one session are of all guests' as well.
    all: Option<Arc<Share>>,
    session_max: u64,
}

#[derive(Debug)]
struct Share {
    taken: AtomicU64,
    max: u64,
}

/// Addresses that are taken, until dropped.
#[derive(Debug)]
pub struct Claim {
    shares: [Option<Arc<Share>>; 2],
    bytes: u64,
}

impl Addresses {
    pub fn of_all_guests(machine_bytes: u64) -> Self {
        let session_max = machine_bytes.saturating_mul(GUEST_MEMORY_TIMES);
        Self { own: Share::new(GUESTS_ADDRESSES_MAX), all: None, session_max }
    }

    pub fn of_one_session(&self) -> Self {
        let all = Some(Arc::clone(&self.own));
        Self { own: Share::new(self.session_max), all, session_max: self.session_max }
    }

    /// Room for so many bytes, or why there is none.
    pub fn claim(&self, bytes: u64) -> Result<Claim, String> {
        let too_much = |whose: &str, max: u64| {
            format!("{bytes} bytes more are too much: {whose} may have {} GiB mapped", max >> 30)
        };
        let mut claim = Claim { shares: [None, None], bytes };
        if !self.own.take(bytes) {
            return Err(too_much("a disk of a virtual machine", self.own.max));
        }
        claim.shares[0] = Some(Arc::clone(&self.own));
        if let Some(all) = &self.all {
            if !all.take(bytes) {
                return Err(too_much("all disks of virtual machines", all.max));
            }
            claim.shares[1] = Some(Arc::clone(all));
        }
        Ok(claim)
    }
}

impl Share {
    fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { taken: AtomicU64::new(0), max })
    }

    fn take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.max);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        for share in self.shares.iter().flatten() {
            share.taken.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_bounded_and_given_back() {
        let guests = Addresses::of_all_guests(GUESTS_ADDRESSES_MAX / 8);
        let (one, other, third) =
            (guests.of_one_session(), guests.of_one_session(), guests.of_one_session());
        let half = GUESTS_ADDRESSES_MAX / 2;
        let first = one.claim(half - 1).unwrap();
        let refusal = one.claim(2).unwrap_err();
        assert!(refusal.contains("a disk of a virtual machine may have 32768 GiB"), "{refusal}");
        let second = other.claim(half).unwrap();
        let refusal = third.claim(2).unwrap_err();
        assert!(refusal.contains("all disks of virtual machines may have 65536"), "{refusal}");
        third.claim(u64::MAX).unwrap_err();
        let last = third.claim(1).unwrap();
        drop((first, second, last));
        drop(third.claim(half).unwrap());
        third.claim(half).unwrap();
    }
}
