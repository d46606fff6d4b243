//! What was received of a client's connection and not taken yet.

use io::{Class, Slice};

use crate::payloads::Kit;

#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// All of it.
    buffer: Option<Slice>,
    taken: u32,
    filled: u32,
}

impl Stream {
    /// The bytes that wait to be taken; no buffer is held while there are none.
    pub(crate) fn available(&self) -> Option<Slice> {
        Some(self.buffer?.part(self.taken, self.filled - self.taken))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.filled
    }

    pub(crate) fn take(&mut self, length: u32) {
        self.taken += length;
        debug_assert!(self.taken <= self.filled, "no more is taken than came");
    }

    pub(crate) fn on_bytes(&mut self, length: u32) {
        self.filled += length;
    }

    /// The free end of the buffer, for the next receive. Only here is what was taken made free:
    /// what an earlier receive still brings goes where it was told to. With less than `least` bytes
    /// of room the rest moves to the front.
    pub(crate) fn room(&mut self, least: u32, kit: &mut Kit) -> Option<Slice> {
        let pool = kit.reactor.pool();
        let whole = match self.buffer {
            Some(whole) => whole,
            None => *self.buffer.insert(pool.take_for_client(Class::Medium.size_bytes())?),
        };
        let rest = self.filled - self.taken;
        if rest == 0 {
            self.taken = 0;
            self.filled = 0;
        } else if self.taken > 0 && whole.length - self.filled < least {
            pool.copy(whole.part(self.taken, rest), whole.part(0, rest));
            self.taken = 0;
            self.filled = rest;
        }
        Some(whole.part(self.filled, whole.length - self.filled))
    }

    /// The buffer with the bytes that wait in it, for somebody else.
    pub(crate) fn give_up(&mut self) -> Option<Slice> {
        let rest = self.buffer.take()?.part(self.taken, self.filled - self.taken);
        self.taken = 0;
        self.filled = 0;
        Some(rest)
    }

    pub(crate) fn dispose(&mut self, kit: &mut Kit) {
        if let Some(whole) = self.buffer.take() {
            kit.reactor.pool().release(whole.buffer);
        }
    }
}
