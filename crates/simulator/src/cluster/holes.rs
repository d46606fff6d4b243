//! Ways between two nodes that swallow messages, in one direction.
//!
//! A connection keeps its order, so behind a message that was swallowed nothing arrives on that
//! connection, and the receiver closes all of them once it was silent for too long. A new one is
//! made with small messages, which pass where only larger ones vanish.

use format::ids::BLOCK_BYTES;
use replication::limits;

use crate::cluster::forger::framed;
use crate::cluster::network::{Channel, Message};
use crate::cluster::{Cluster, Event};

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: usize = BLOCK_BYTES as usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// Nothing arrives, and no connection can be made.
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

    pub(super) fn swallows_all(&self, a: usize, b: usize) -> bool {
        [(a, b), (b, a)].iter().any(|way| self.holes.get(way) == Some(&Hole::All))
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
