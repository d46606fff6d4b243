//! What the home and the groups say to each other of flushes of the device.

use crate::contract::RoundId;

/// A device that lost what it had not flushed tells one request, and calls the next flush done: so
/// the groups are asked before one is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboutFlushes {
    /// The device called a flush of some group done. Answered when all is over that this group has
    /// asked of the device by now, and that may be told of what the device lost.
    Doubt { round: RoundId },
    /// All groups answered, and none was told of a loss: flush `number` of the group of `shard`
    /// counts.
    Believe { shard: u8, number: u64 },
}
