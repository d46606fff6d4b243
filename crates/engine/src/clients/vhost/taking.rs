//! How much of what guests ask for is taken in a turn.
//!
//! A guest can bring requests as fast as they are answered, and kick as often as it likes: what it
//! has is taken share by share. Whoever has more than a share stands in a queue, in which each ring
//! is once and which nobody passes; and a turn takes so much of all rings together. So no guest
//! makes a turn long, and none keeps another one from its share.

use std::collections::VecDeque;

use frontend::vhost::ring::Chain;

use crate::clients::vhost::Vhost;
use crate::kit::Kit;
use crate::limits::{
    GUEST_CHAINS_SPARE_MAX, GUEST_DESCRIPTORS_PER_LOOK, GUEST_DESCRIPTORS_PER_TURN,
    GUEST_PART_DESCRIPTORS, PARTS_PER_REQUEST_MAX,
};
use crate::slab::Key;

const _: () = assert!(GUEST_DESCRIPTORS_PER_LOOK <= GUEST_DESCRIPTORS_PER_TURN);

/// Rings with requests that are not taken yet.
#[derive(Debug)]
pub(super) struct Unread {
    /// Those that are gone meanwhile are passed over.
    pub(super) rings: VecDeque<Key>,
    /// Descriptors that this turn may still read.
    left: u32,
}

impl Default for Unread {
    fn default() -> Self {
        Self { rings: VecDeque::new(), left: GUEST_DESCRIPTORS_PER_TURN }
    }
}

impl Vhost {
    /// The guest has asked for something.
    pub(crate) fn on_kicked(&mut self, key: Key, kit: &mut Kit) {
        if self.unread.rings.is_empty() {
            self.look(key, kit);
        } else {
            self.line_up(key);
        }
    }

    /// Looks at rings that had more requests than their share, once in a turn.
    pub(crate) fn look_again(&mut self, kit: &mut Kit) {
        for _ in 0..self.unread.rings.len() {
            if self.unread.left == 0 {
                break;
            }
            let Some(key) = self.unread.rings.pop_front() else { break };
            if let Some(queue) = self.queues.get_mut(key) {
                queue.is_unread = false;
                self.look(key, kit);
            }
        }
        self.unread.left = GUEST_DESCRIPTORS_PER_TURN;
    }

    /// Whether there is something to do without a kick.
    pub(crate) fn is_waiting(&self, kit: &Kit) -> bool {
        !self.unread.rings.is_empty() || self.room.is_more(kit)
    }

    pub(super) fn line_up(&mut self, key: Key) {
        if let Some(queue) = self.queues.get_mut(key)
            && !queue.is_unread
        {
            queue.is_unread = true;
            self.unread.rings.push_back(key);
        }
    }

    /// Keeps the memory of a chain, if there is not enough of it.
    pub(super) fn keep(&mut self, chain: Chain) {
        if self.spare.len() < GUEST_CHAINS_SPARE_MAX {
            self.spare.push(chain);
        }
    }

    /// Takes a share of the requests that a ring has, and asks for a kick when there is none.
    fn look(&mut self, key: Key, kit: &mut Kit) {
        let mut chain = self.spare.pop().unwrap_or_default();
        let mut left = GUEST_DESCRIPTORS_PER_LOOK;
        while let Some(queue) = self.queues.get_mut(key).filter(|queue| !queue.is_stopping) {
            if left == 0 || self.unread.left == 0 {
                self.line_up(key);
                break;
            }
            if !self.room.may_take(queue.account) {
                self.pause(key);
                break;
            }
            let mut cost = 1;
            match queue.ring.take(&mut chain) {
                Ok(Some(head)) => {
                    cost = chain.descriptors();
                    let next = self.spare.pop().unwrap_or_default();
                    let before = self.facts.len();
                    self.start(key, head, std::mem::replace(&mut chain, next), kit);
                    cost += parts(self.facts.len() - before) * GUEST_PART_DESCRIPTORS;
                }
                Ok(None) => match queue.ring.ask_for_kick() {
                    // A driver that takes its request back each time does not keep us here, either.
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(broken) => self.break_off(key, &broken, kit),
                },
                Err(broken) => self.break_off(key, &broken, kit),
            }
            left = left.saturating_sub(cost);
            self.unread.left = self.unread.left.saturating_sub(cost);
        }
        self.keep(chain);
    }
}

/// What one request gave the core.
fn parts(count: usize) -> u32 {
    u32::try_from(count.min(PARTS_PER_REQUEST_MAX)).expect("a small bound")
}
