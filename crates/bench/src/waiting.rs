//! The one way to wait for another process, which tells nobody when it has changed.
//!
//! Each wait has a deadline and says what it waited for.

use std::time::Duration;

use anyhow::{Result, bail};
use io::now;
use stdx::random::Random;

/// How long a poll of another process rests before it looks again.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A time that a seed draws.
pub(crate) fn random_millis(random: &mut Random, from: u64, below: u64) -> Duration {
    Duration::from_millis(from + random.below(below - from))
}

/// Rests for one poll interval.
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
