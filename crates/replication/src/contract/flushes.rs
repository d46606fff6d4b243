//! What the home and the groups say to each other of flushes of the device.

use crate::contract::RoundId;

/// A device that lost what it had not flushed tells one request, and calls the next flush done: so
/// the groups are asked before one is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboutFlushes {
    /// A flush of some group ended well: answer when all is over that was asked of the device by
    /// now, and that would be told of what it lost.
    Doubt { round: RoundId },
    /// All groups answered, and none was told: that flush of the group of `shard` counts.
    Believe { shard: u8, number: u64 },
}
