//! The clock of the commands, and the one way to wait for another process.
//!
//! A command looks at daemons from outside: it measures real time, and what it waits for has often
//! no event to wait on. Each wait has a deadline and says what it waited for.

use std::time::Duration;

use anyhow::{Result, bail};
use stdx::random::Random;
use stdx::time::Time;

/// How long a poll of another process rests before it looks again.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Now, on this process's monotonic clock.
#[expect(clippy::disallowed_methods, reason = "the clock of the commands; daemons use io::clock")]
pub(crate) fn now() -> Time {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    Time::ZERO + START.get_or_init(Instant::now).elapsed()
}

/// Microseconds since 1970, for people and logs.
#[expect(clippy::disallowed_methods, reason = "a stamp to show, not to measure with")]
pub(crate) fn unix_us() -> u64 {
    use std::time::SystemTime;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A random number, different in each process.
#[expect(clippy::disallowed_methods, reason = "the time of day is no clock here, but a seed")]
pub(crate) fn entropy() -> u64 {
    use std::time::SystemTime;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanos = since.as_secs().wrapping_mul(1_000_000_000) + u64::from(since.subsec_nanos());
    Random::new(nanos ^ (u64::from(std::process::id()) << 40)).next_u64()
}

/// A time that a seed draws.
pub(crate) fn random_millis(random: &mut Random, from: u64, below: u64) -> Duration {
    Duration::from_millis(from + random.below(below - from))
}

/// Rests for one poll interval, since another process tells nobody when it has changed.
pub(crate) fn rest() {
    std::thread::park_timeout(POLL_INTERVAL);
}

/// Looks until `look` finds something; after `limit` it fails, naming `what` was waited for.
pub(crate) fn wait_for<T>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = now() + limit;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if now() > deadline {
            bail!("waited {} s in vain for {what}", limit.as_secs());
        }
        rest();
    }
}
