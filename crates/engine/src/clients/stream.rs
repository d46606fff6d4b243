//! What was received of a client's connection and not taken yet, and how large the buffer for it
//! is.
//!
//! A session that has nothing to say holds one of the smallest buffers, for the kernel has to know
//! where the next bytes go: so all sessions that may be here at a time find one. When a receive
//! fills its buffer more waits behind it, and a receive of a larger piece takes fewer of them: the
//! session gets a wide buffer, and keeps it while it sends much. Clients that can do without one
//! have `WIDE_CLIENTS_MAX` of these; the others are served through small ones.

use io::{BufferId, Class, Slice};

use crate::kit::Kit;
use crate::limits::{STREAM_CALM_AFTER, WIDE_CLIENTS_MAX};

/// How large the buffer is that a session receives in.
#[derive(Debug, Default)]
pub(crate) struct Width {
    is_wide: bool,
    /// The last receive filled its buffer.
    is_pressed: bool,
    /// Receives in turn that a small buffer would have held twice over.
    calm: u32,
    need: Need,
}

/// What a wide buffer is to a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Need {
    /// It takes less of the processor with one.
    #[default]
    Wish,
    /// It has messages that have to lie in one piece, and there is a wide buffer for each such
    /// session.
    Must,
}

impl Width {
    pub(crate) fn of(need: Need) -> Self {
        Self { need, ..Self::default() }
    }

    pub(crate) const fn class(&self) -> Class {
        if self.is_wide { Class::Medium } else { Class::Small }
    }

    /// A receive brought so much of what its buffer had room for.
    pub(crate) fn on_bytes(&mut self, length: u32, room: u32) {
        self.is_pressed = length == room;
        let is_little = length <= Class::Small.size_bytes() / 2;
        self.calm = if is_little { self.calm.saturating_add(1) } else { 0 };
    }

    /// More waits than a small buffer takes: from now on it is to be a wide one, if there may be
    /// one more.
    fn rise(&mut self, kit: &mut Kit) {
        let is_bounded = self.need == Need::Wish;
        let may_rise = !is_bounded || kit.wide_clients < WIDE_CLIENTS_MAX;
        if self.is_pressed && !self.is_wide && may_rise {
            kit.wide_clients += usize::from(is_bounded);
            *self = Self { is_wide: true, ..Self::of(self.need) };
        }
    }

    /// From now on the buffer is to be a small one.
    fn fall(&mut self, kit: &mut Kit) {
        if self.is_wide && self.need == Need::Wish {
            kit.wide_clients -= 1;
        }
        *self = Self::of(self.need);
    }

    /// A buffer to receive in, where there is none, or one that is empty and of the other size; and
    /// the size that it has.
    pub(crate) fn renew(&mut self, held: Option<BufferId>, kit: &mut Kit) -> Option<Slice> {
        self.rise(kit);
        if self.calm >= STREAM_CALM_AFTER {
            self.fall(kit);
        }
        let pool = kit.reactor.pool();
        if let Some(held) = held {
            if pool.size_of(held) == self.class().size_bytes() {
                return Some(pool.whole(held));
            }
            pool.release(held);
        }
        self.take(kit)
    }

    /// A small one, where there is none of the size that it is to have.
    fn take(&mut self, kit: &mut Kit) -> Option<Slice> {
        let taken = kit.reactor.pool().take_for_client(self.class().size_bytes());
        if taken.is_some() || !self.is_wide {
            return taken;
        }
        self.fall(kit);
        kit.reactor.pool().take_for_client(self.class().size_bytes())
    }

    /// The session holds no buffer any more.
    pub(crate) fn dispose(&mut self, kit: &mut Kit) {
        self.fall(kit);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// All of it.
    buffer: Option<Slice>,
    taken: u32,
    filled: u32,
    width: Width,
}

impl Stream {
    pub(crate) fn of(need: Need) -> Self {
        Self { width: Width::of(need), ..Self::default() }
    }

    /// The bytes that wait to be taken; no buffer is held while there are none.
    pub(crate) fn available(&self) -> Option<Slice> {
        Some(self.buffer?.part(self.taken, self.filled - self.taken))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.filled
    }

    /// The size of the buffer that it has or is to have.
    pub(crate) fn size_bytes(&self) -> u32 {
        self.width.class().size_bytes()
    }

    pub(crate) fn take(&mut self, length: u32) {
        self.taken += length;
        debug_assert!(self.taken <= self.filled, "no more is taken than came");
    }

    pub(crate) fn on_bytes(&mut self, length: u32) {
        let room = self.buffer.map_or(0, |whole| whole.length - self.filled);
        self.width.on_bytes(length, room);
        self.filled += length;
    }

    /// The free end of the buffer, for the next receive; it may be empty. Only here is what was
    /// taken made free: what an earlier receive still brings goes where it was told to. With less
    /// than a half of the buffer free the rest moves to the front.
    pub(crate) fn room(&mut self, kit: &mut Kit) -> Option<Slice> {
        if self.is_empty() {
            self.taken = 0;
            self.filled = 0;
            let held = self.buffer.map(|whole| whole.buffer);
            self.buffer = self.width.renew(held, kit);
            return self.buffer;
        }
        let whole = self.buffer?;
        let rest = self.filled - self.taken;
        let was_wide = self.width.is_wide;
        self.width.rise(kit);
        let whole = match self.width.is_wide && !was_wide {
            true => self.widen(whole, rest, kit)?,
            false => whole,
        };
        if self.taken > 0 && whole.length - self.filled < whole.length / 2 {
            kit.reactor.pool().copy(whole.part(self.taken, rest), whole.part(0, rest));
            self.taken = 0;
            self.filled = rest;
        }
        Some(whole.part(self.filled, whole.length - self.filled))
    }

    /// Goes on in a wide buffer; in the small one while there is none and it is not needed.
    fn widen(&mut self, narrow: Slice, rest: u32, kit: &mut Kit) -> Option<Slice> {
        let pool = kit.reactor.pool();
        let Some(wide) = pool.take_for_client(Class::Medium.size_bytes()) else {
            self.width.fall(kit);
            self.width.is_pressed = true;
            return (self.width.need == Need::Wish || rest < narrow.length).then_some(narrow);
        };
        pool.copy(narrow.part(self.taken, rest), wide.part(0, rest));
        pool.release(narrow.buffer);
        self.buffer = Some(wide);
        self.taken = 0;
        self.filled = rest;
        Some(wide)
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
        self.width.dispose(kit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: u32 = Class::Small.size_bytes();
    const WIDE: u32 = Class::Medium.size_bytes();

    /// How much could come, of which so much did.
    fn receive(stream: &mut Stream, length: u32, kit: &mut Kit) -> u32 {
        let room = stream.room(kit).unwrap();
        stream.on_bytes(length);
        room.length
    }

    fn receive_and_take(stream: &mut Stream, length: u32, kit: &mut Kit) -> u32 {
        let room = receive(stream, length, kit);
        stream.take(length);
        room
    }

    #[test]
    fn session_has_a_wide_buffer_while_it_sends_much() {
        let (mut stream, mut kit) = (Stream::default(), Kit::of_lone_shard());
        assert_eq!(receive_and_take(&mut stream, 28, &mut kit), SMALL);
        assert_eq!(receive_and_take(&mut stream, SMALL, &mut kit), SMALL);
        for _ in 0..STREAM_CALM_AFTER {
            assert_eq!(receive_and_take(&mut stream, 28, &mut kit), WIDE);
        }
        assert_eq!((stream.room(&mut kit).unwrap().length, kit.wide_clients), (SMALL, 0));
        stream.dispose(&mut kit);
        assert_eq!(kit.reactor.pool().in_use(), 0);
    }

    #[test]
    fn what_waits_goes_on_in_a_wide_buffer() {
        let (mut stream, mut kit) = (Stream::default(), Kit::of_lone_shard());
        let room = stream.room(&mut kit).unwrap();
        kit.reactor.pool().bytes_mut(room).fill(7);
        stream.on_bytes(SMALL);
        stream.take(100);
        assert_eq!(stream.room(&mut kit).unwrap().length, WIDE - SMALL + 100);
        let rest = stream.available().unwrap();
        assert_eq!(kit.reactor.pool().bytes(rest), [7; SMALL as usize - 100]);
        assert_eq!((kit.wide_clients, kit.reactor.pool().in_use()), (1, 1));
        stream.dispose(&mut kit);
        assert_eq!((kit.wide_clients, kit.reactor.pool().in_use()), (0, 0));
    }

    #[test]
    fn who_can_do_without_has_a_wide_buffer_within_a_bound_and_who_cannot_beside_it() {
        let mut kit = Kit::of_lone_shard();
        kit.wide_clients = WIDE_CLIENTS_MAX;
        for (need, wide) in [(Need::Wish, SMALL), (Need::Must, WIDE)] {
            let mut stream = Stream::of(need);
            receive_and_take(&mut stream, SMALL, &mut kit);
            assert_eq!(receive(&mut stream, SMALL, &mut kit), wide, "{need:?}");
            // One that is full takes nothing more, and waits for nothing.
            assert_eq!(stream.room(&mut kit).unwrap().length, wide - SMALL);
            stream.dispose(&mut kit);
        }
        assert_eq!(kit.wide_clients, WIDE_CLIENTS_MAX);
    }
}
