//! How long the members take to acknowledge writes of this shard's lanes, and how much is written
//! over the connections to them.

use format::ids::{LaneIndex, Seq};
use format::message::{Write, WriteKind};
use format::space::{Place, VOLUMES_MAX};
use stdx::time::Time;

use crate::histogram::Histogram;
use crate::limits::ACK_FOLLOWED_MAX;

/// How long a peer takes to acknowledge: one write at a time is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    pub(crate) latency: Histogram,
    followed: Option<Followed>,
}

/// Bytes of writes and copies that went to a peer, and came from it, by volume.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    sent: [u64; VOLUMES_MAX],
    received: [u64; VOLUMES_MAX],
}

impl Traffic {
    pub(crate) fn on_sent(&mut self, write: &Write) {
        Self::count(&mut self.sent, write);
    }

    pub(crate) fn on_received(&mut self, write: &Write) {
        Self::count(&mut self.received, write);
    }

    fn count(bytes: &mut [u64; VOLUMES_MAX], write: &Write) {
        if let Some(place) = Place::of_block(write.range.start) {
            bytes[place.index()] += write.payload_bytes();
        }
    }

    pub(crate) fn sent_kib(&self, place: Place) -> u64 {
        self.sent[place.index()] / 1024
    }

    pub(crate) fn received_kib(&self, place: Place) -> u64 {
        self.received[place.index()] / 1024
    }
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
