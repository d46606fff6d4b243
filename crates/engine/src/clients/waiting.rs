//! Who waits in a front end whose clients come over the network: for the turn in which it is
//! looked at, for a buffer, for room, and for the end of its time.
//!
//! Whoever has something to say or to go on with is marked, and looked at once in a turn. Who
//! found no buffer, or no room among all clients (budget.rs), is not remembered: when there may
//! be some, everybody is looked at. What belongs to whom, and what a look does, is the front
//! end's.

use std::collections::VecDeque;

use stdx::time::Time;

use crate::clients::budget::{Crowd, Wish};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::CLIENT_STALL_LOOK;
use crate::slab::{Key, Rotation, Slab};

#[derive(Debug)]
pub(crate) struct WaitingRoom {
    /// With something to send, or to go on with.
    marked: Vec<Key>,
    /// Somebody found no buffer.
    pub(crate) is_starved: bool,
    /// Somebody found no room.
    crowd: Crowd,
    /// Since when others have to give buffers back, at a look.
    crowded_since: Time,
    /// Who is the first to look again.
    rotation: Rotation,
    /// Requests with a piece that found no buffer.
    pub(crate) stalled: VecDeque<Key>,
    /// Not later than the first deadline of anybody.
    deadline: Time,
}

/// Who is to be looked at in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Nobody,
    /// Those that are marked; all if somebody found no buffer.
    Marked,
    /// Something was given back.
    All,
}

/// Whether deadlines are to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    NotYet,
    Due,
    /// And whoever keeps others from their buffers has to be in time, too.
    DueInCrowd,
}

impl WaitingRoom {
    pub(crate) fn new() -> Self {
        Self {
            marked: Vec::with_capacity(256),
            is_starved: false,
            crowd: Crowd::default(),
            crowded_since: Time::NEVER,
            rotation: Rotation::default(),
            stalled: VecDeque::new(),
            deadline: Time::NEVER,
        }
    }

    /// It is to be looked at; `is_marked` is its own note of that.
    #[inline]
    pub(crate) fn mark(&mut self, key: Key, is_marked: &mut bool) {
        if !*is_marked {
            *is_marked = true;
            self.marked.push(key);
        }
    }

    /// Whether somebody waits for the next turn without an event of its own.
    #[inline]
    pub(crate) fn is_waiting(&self, kit: &Kit) -> bool {
        !self.marked.is_empty() || !self.stalled.is_empty() || self.crowd.may_go_on(&kit.budget)
    }

    /// Whether a session that holds so much may begin something; if not, it waits for what others
    /// give back.
    #[inline]
    pub(crate) fn has_room(&mut self, hosted: HostedId, own: usize, wish: Wish, kit: &Kit) -> bool {
        self.crowd.has_room(&kit.budget, hosted, own, wish)
    }

    /// A turn begins.
    #[inline]
    pub(crate) fn wake(&mut self, kit: &Kit) -> Wake {
        if kit.budget.is_crowded() {
            self.come_by(kit.now + CLIENT_STALL_LOOK);
        }
        if self.crowd.may_go_on(&kit.budget) {
            self.crowd.disperse();
            return Wake::All;
        }
        let is_anybody = !self.marked.is_empty() || !self.stalled.is_empty() || self.is_starved;
        if is_anybody { Wake::Marked } else { Wake::Nobody }
    }

    /// Those to look at, of `all`. Who waits for room comes before those that are marked, and
    /// each of them is the first in its turn: it finds the most room. Says how many these are.
    #[inline]
    pub(crate) fn line_up<T>(&mut self, wake: Wake, all: &Slab<T>) -> (Vec<Key>, usize) {
        let mut line = std::mem::take(&mut self.marked);
        let marked = line.len();
        if std::mem::take(&mut self.is_starved) || wake == Wake::All {
            let indices = self.rotation.next_round(all.end());
            line.extend(indices.filter_map(|index| all.key_at(index)));
            line.rotate_left(marked);
        }
        let waiting = line.len() - marked;
        (line, waiting)
    }

    /// The end of the turn: whoever was marked meanwhile is looked at in the next one.
    #[inline]
    pub(crate) fn put_away(&mut self, mut line: Vec<Key>) {
        debug_assert!(line.is_empty(), "all of them were looked at");
        line.append(&mut self.marked);
        self.marked = line;
    }

    /// Somebody has a deadline, or is to be looked at by then.
    #[inline]
    pub(crate) fn come_by(&mut self, deadline: Time) {
        self.deadline = self.deadline.min(deadline);
    }

    /// When to come again.
    pub(crate) const fn deadline(&self) -> Time {
        self.deadline
    }

    /// Since when others wait for buffers that clients hold.
    pub(crate) const fn crowded_since(&self) -> Time {
        self.crowded_since
    }

    /// Says whether deadlines are to be looked at; each that is not over is to be told anew with
    /// `come_by`.
    pub(crate) fn tick(&mut self, kit: &Kit) -> Tick {
        if kit.now < self.deadline {
            return Tick::NotYet;
        }
        if kit.budget.is_crowded() {
            self.crowded_since = self.crowded_since.min(kit.now);
            self.deadline = kit.now + CLIENT_STALL_LOOK;
            return Tick::DueInCrowd;
        }
        self.crowded_since = Time::NEVER;
        self.deadline = Time::NEVER;
        Tick::Due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{ARRIVING_BYTES_MAX, RESOURCE_BYTES_MAX};

    const HELD: HostedId = HostedId(0);

    #[test]
    fn who_found_no_room_is_looked_at_before_those_that_are_marked() {
        let (mut kit, mut room) = (Kit::of_lone_shard(), WaitingRoom::new());
        let mut all = Slab::default();
        let [a, b, c] = [false; 3].map(|is_marked| all.insert(is_marked));
        assert_eq!(room.wake(&kit), Wake::Nobody);
        for _ in 0..2 {
            room.mark(b, all.get_mut(b).unwrap());
        }
        let wake = room.wake(&kit);
        assert_eq!((wake, room.line_up(wake, &all)), (Wake::Marked, (vec![b], 0)));

        kit.budget.take(HELD, RESOURCE_BYTES_MAX);
        assert!(!room.has_room(HELD, RESOURCE_BYTES_MAX, Wish::Work, &kit));
        room.mark(c, &mut false);
        assert_eq!(room.wake(&kit), Wake::Marked, "nothing was given back");
        kit.budget.give_back(HELD, 1);
        for line in [vec![b, c, a, c], vec![c, a, b]] {
            let wake = room.wake(&kit);
            let (mut found, waiting) = room.line_up(wake, &all);
            assert_eq!((&found, waiting), (&line, 3));
            found.clear();
            room.put_away(found);
            room.is_starved = true;
        }
    }

    #[test]
    fn deadlines_are_looked_at_once_and_again_in_a_crowd() {
        let (mut kit, mut room) = (Kit::of_lone_shard(), WaitingRoom::new());
        assert_eq!(room.tick(&kit), Tick::NotYet);
        room.come_by(kit.now);
        assert_eq!((room.tick(&kit), room.deadline()), (Tick::Due, Time::NEVER));
        kit.budget.await_arrival(ARRIVING_BYTES_MAX);
        room.wake(&kit);
        let since = kit.now + CLIENT_STALL_LOOK;
        assert_eq!((room.tick(&kit), room.deadline()), (Tick::NotYet, since));
        for _ in 0..2 {
            kit.now = kit.now + CLIENT_STALL_LOOK;
            assert_eq!((room.tick(&kit), room.crowded_since()), (Tick::DueInCrowd, since));
        }
        kit.budget.end_arrival(ARRIVING_BYTES_MAX);
        kit.now = kit.now + CLIENT_STALL_LOOK;
        assert_eq!((room.tick(&kit), room.crowded_since()), (Tick::Due, Time::NEVER));
    }
}
