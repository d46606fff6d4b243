//! Ways between two nodes that swallow messages, in one direction.
//!
//! A connection keeps its order, so behind a message that was swallowed nothing arrives on that
//! connection, and the receiver closes all of them once it was silent for too long. A new one is
//! made with small messages, which pass where only larger ones vanish; but then a probe, as large
//! as any message, has to pass each way ([`Cluster::probes`]), and is sent again until it does.

use format::ids::BLOCK_BYTES;
use format::message::PROBE_PADDING_BYTES_MAX;
use replication::limits;

use crate::cluster::forger::framed;
use crate::cluster::network::{Channel, Message};
use crate::cluster::{Cluster, Event};

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: usize = BLOCK_BYTES as usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// Nothing arrives.
    All,
    /// What has more bytes does not arrive.
    Larger(usize),
}

impl Cluster {
    /// From now on the way from `from` to `to` swallows messages.
    pub fn make_hole(&mut self, from: usize, to: usize, hole: Hole) {
        if from == to {
            return;
        }
        self.trace(|| format!("hole n{from} -> n{to}: {hole:?}"));
        self.holes.insert((from, to), hole);
        if hole == Hole::All {
            for channel in self.channels(from.min(to), from.max(to)) {
                self.fall_into(from, to, channel);
            }
        }
    }

    /// All arrives again.
    pub fn fill_hole(&mut self, from: usize, to: usize) {
        if self.holes.remove(&(from, to)).is_some() {
            self.trace(|| format!("no hole n{from} -> n{to}"));
            self.try_connect(from, to);
        }
    }

    /// A new connection of the two would not count: what it has to carry is swallowed.
    pub(super) fn are_kept_apart(&self, a: usize, b: usize) -> bool {
        let swallows = |hole: &Hole| match *hole {
            Hole::All => true,
            Hole::Larger(most) => self.probes && most < PROBE_PADDING_BYTES_MAX as usize,
        };
        [(a, b), (b, a)].iter().any(|way| self.holes.get(way).is_some_and(swallows))
    }

    /// Whether this message does not arrive: it is swallowed, or another one before it was.
    pub(super) fn is_swallowed(
        &mut self,
        (from, to): (usize, usize),
        channel: Channel,
        message: &Message,
    ) -> bool {
        let Some(Hole::Larger(most)) = self.holes.get(&(from, to)).copied() else {
            return self.is_stuck(from, to, channel);
        };
        if size_bytes(message) > most {
            self.fall_into(from, to, channel);
        }
        self.is_stuck(from, to, channel)
    }

    /// Whoever waits for this connection notices that it is silent.
    fn fall_into(&mut self, from: usize, to: usize, channel: Channel) {
        if let Some(link) = self.stick(from, to, channel) {
            self.schedule(limits::PEER_SILENT_MAX, Event::Torn { link });
        }
    }
}

fn size_bytes(message: &Message) -> usize {
    let payload = match message {
        Message::Data { values: Some(values), .. } => values.len() * BLOCK,
        Message::Data { values: None, .. }
        | Message::Control(_)
        | Message::LeaseAsked { .. }
        | Message::LeaseAnswered { .. } => 0,
    };
    framed(message).map_or(0, |header| header.len()) + payload
}
