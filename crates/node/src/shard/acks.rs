//! How long the members take to acknowledge writes of this shard's lanes.

use format::ids::{LaneIndex, Seq};
use format::message::{Write, WriteKind};
use stdx::time::Time;

use crate::histogram::Histogram;
use crate::limits::ACK_FOLLOWED_MAX;

/// How long a peer takes to acknowledge: one write at a time is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    pub(crate) latency: Histogram,
    followed: Option<Followed>,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    lane: LaneIndex,
    seq: Seq,
    sent_at: Time,
}

impl Acks {
    pub(crate) fn on_sent(&mut self, write: &Write, now: Time) {
        // A copy is larger and may wait: what counts is what clients wait for.
        if write.kind != WriteKind::Data {
            return;
        }
        // One that was never answered, because the peer went away, is given up.
        if self.followed.is_none_or(|it| now.since(it.sent_at) >= ACK_FOLLOWED_MAX) {
            self.followed = Some(Followed { lane: write.lane, seq: write.seq, sent_at: now });
        }
    }

    pub(crate) fn on_ack(&mut self, lane: LaneIndex, base: Seq, mask: u64, now: Time) {
        let Some(Followed { lane: own, seq, sent_at }) = self.followed else { return };
        let place = seq.0.wrapping_sub(base.0);
        if own == lane && place < 64 && mask & (1 << place) != 0 {
            self.followed = None;
            self.latency.record(now.since(sent_at));
        }
    }
}
