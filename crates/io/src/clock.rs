//! The only place that reads a clock or asks the kernel for chance.
//!
//! Time is `CLOCK_BOOTTIME`: it never steps and it counts while the machine sleeps, so a lease
//! cannot outlive a suspend. The wall clock is offered for people to read, never to decide by.

use std::fs;
use std::time::Duration;

use rustix::rand::{GetRandomFlags, getrandom};
use stdx::time::Time;

/// The present, in nanoseconds since the kernel started.
#[must_use]
pub fn now() -> Time {
    let time = read(libc::CLOCK_BOOTTIME);
    Time(u64::try_from(time.as_nanos()).expect("584 years of uptime fit"))
}

/// The wall clock as the time since 1970, for logs and status texts only.
#[must_use]
pub fn unix_time() -> Duration {
    read(libc::CLOCK_REALTIME)
}

/// Which start of the kernel this is: two processes see the same value exactly if the kernel did
/// not restart between them.
///
/// # Panics
/// If `/proc` is not mounted: without this value a daemon cannot tell a crash of its process from
/// a loss of power.
#[must_use]
pub fn kernel_boot_id() -> u128 {
    let path = "/proc/sys/kernel/random/boot_id";
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {path}: {error}; is /proc mounted?"));
    parse_boot_id(&text).unwrap_or_else(|| panic!("{path} holds no UUID: {text:?}"))
}

fn parse_boot_id(text: &str) -> Option<u128> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    (digits.len() == 32).then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

/// Chance from the kernel's generator.
#[must_use]
pub fn random_u64() -> u64 {
    let mut bytes = [0; 8];
    fill_random(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Chance from the kernel's generator, wide enough to never meet twice.
#[must_use]
pub fn random_u128() -> u128 {
    let mut bytes = [0; 16];
    fill_random(&mut bytes);
    u128::from_le_bytes(bytes)
}

fn fill_random(bytes: &mut [u8]) {
    let filled = getrandom(&mut *bytes, GetRandomFlags::empty());
    // Up to 256 bytes arrive whole once the generator is seeded, signals or not.
    assert_eq!(filled, Ok(bytes.len()), "getrandom gave too little");
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut spec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `spec` is a valid place for one timespec.
    let result = unsafe { libc::clock_gettime(clock, &raw mut spec) };
    assert_eq!(result, 0, "both clocks exist since Linux 2.6.39");
    let seconds = u64::try_from(spec.tv_sec).expect("a clock after 1970");
    let nanos = u32::try_from(spec.tv_nsec).expect("below a second");
    Duration::new(seconds, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let first = now();
        assert!(now() >= first);
        assert!(first > Time::ZERO);
    }

    #[test]
    fn boot_id_is_read_whole_and_stays() {
        assert_eq!(kernel_boot_id(), kernel_boot_id());
        assert_eq!(
            parse_boot_id("01234567-89ab-cdef-0123-456789abcdef\n"),
            Some(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)
        );
        assert_eq!(parse_boot_id("01234567"), None);
        assert_eq!(parse_boot_id("0123456789abcdef0123456789abcdeg"), None);
    }

    #[test]
    fn chance_differs() {
        assert_ne!(random_u128(), random_u128());
        assert_ne!(random_u64(), random_u64());
    }
}
