//! Flushes of the device that a group had, and what the home and the other groups know of it (I15).
//!
//! The home writes the superblock by itself: a write of it that is under way may be the request
//! that is told of what the device lost.

use crate::contract::{AboutFlushes, RoundId, ToGroup};
use crate::resource::saves::AfterSave;
use crate::resource::{Resource, RoundKind};

impl Resource {
    /// The device called a flush of this group done.
    pub(crate) fn on_device_flushed(&mut self, shard: u8, number: u64) {
        if !self.after_stamp(AfterSave::Doubt { shard, number }) {
            self.doubt_flush(shard, number);
        }
    }

    pub(crate) fn doubt_flush(&mut self, shard: u8, number: u64) {
        if !self.member.disk_failed {
            let doubt = |round: RoundId| ToGroup::Flushes(AboutFlushes::Doubt { round });
            self.ask_groups(RoundKind::FlushDoubted { shard, number }, doubt);
        }
    }

    /// Every group heard what became of its requests; what went wrong it said before.
    pub(crate) fn believe_flush(&mut self, shard: u8, number: u64) {
        if !self.member.disk_failed {
            self.tell_groups(ToGroup::Flushes(AboutFlushes::Believe { shard, number }));
        }
    }
}
