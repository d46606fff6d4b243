//! What clients hold of a shard's buffers.
//!
//! The pool ends, and what ends a hold is not in our hands: what others asked waits for a quorum,
//! one client does not send the rest of a write, another one does not take its answers. So there
//! are three pots, and what stands still in one takes nothing from the others:
//!
//! ```text
//! core      what the core has: it gives it back as soon as replicas answer    by resource
//! arriving  buffers for data of writes that a client is still sending         by session
//! replies   what is read for clients, from when it is asked of the core       by session
//!           until the client has taken it
//! ```
//!
//! What the core has of a resource, and of all of them, has a bound. Beside it, who holds little
//! gets a little more: those that hold much cannot keep it from what was just given back. And where
//! the core has all that it may, each resource goes on with little, and does not stand still for
//! others.
//!
//! Of the other two pots a session may have as much as it leaves to all others, up to a reserve.
//! From that everybody gets a little, however few took the rest and stand still with it: nobody has
//! to be let go before there are very many. And who holds nothing of a pot may always begin one
//! thing.
//!
//! It counts bytes of the sizes that buffers have. What was read on another shard counts on that of
//! the client, and a part of a peer's frame as if it had a buffer of its own.

use std::ops::Range;
use std::time::Duration;

use frontend::block::{BLOCK_BYTES, Kind, PART_BYTES, Request as Block};
use io::Class;
use stdx::time::Time;

use crate::hosted_id::HostedId;
use crate::limits::{
    ARRIVING_BYTES_MAX, CLIENT_BYTES_LEAST, CLIENT_BYTES_PER_SECOND_LEAST, CLIENT_BYTES_RESERVED,
    CLIENT_STALL_MAX, CLIENTS_BYTES_MAX, REPLIES_BYTES_MAX, RESERVED_BYTES, RESOURCE_BYTES_LEAST,
    RESOURCE_BYTES_MAX,
};

const _: () = assert!(BLOCK_BYTES == format::ids::BLOCK_BYTES, "front ends cut as the core does");

#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// All that the core has, and by resource.
    core: usize,
    requests: Vec<usize>,
    arriving: usize,
    replies: usize,
    /// How often something was given back.
    returns: u64,
}

/// What somebody is about to begin, beside the work of the core that it is: how much of a pot he
/// holds, and how much more he wants of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing: its data is here, or lies in memory of the client.
    Work,
    Arrival {
        own: usize,
        bytes: usize,
    },
    Reply {
        own: usize,
        bytes: usize,
    },
}

/// Somebody did not get what he wanted, and looks again once something was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Crowded {
    returns: u64,
}

/// Those that wait for what others give back.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    /// Since the first of them found no room.
    since: Option<Crowded>,
}

impl Crowd {
    /// Whether a session that holds so much may begin something; if not, it waits.
    #[inline]
    pub(crate) fn has_room(
        &mut self,
        budget: &Budget,
        hosted: HostedId,
        own: usize,
        wish: Wish,
    ) -> bool {
        let crowded = budget.room(hosted, own, wish).err();
        self.since = self.since.or(crowded);
        crowded.is_none()
    }

    /// Something was given back since then.
    #[inline]
    pub(crate) fn may_go_on(&self, budget: &Budget) -> bool {
        self.since.is_some_and(|since| budget.has_changed(since))
    }

    /// All of them look again.
    pub(crate) fn disperse(&mut self) {
        self.since = None;
    }
}

impl Budget {
    /// Whether a session that holds so much may begin something.
    fn room(&self, hosted: HostedId, own: usize, wish: Wish) -> Result<(), Crowded> {
        let has_little = own < CLIENT_BYTES_LEAST;
        let bound = match (self.core >= CLIENTS_BYTES_MAX, has_little) {
            (false, false) => RESOURCE_BYTES_MAX,
            (false, true) => RESOURCE_BYTES_MAX + RESOURCE_BYTES_LEAST,
            (true, false) => 0,
            (true, true) => RESOURCE_BYTES_LEAST,
        };
        let (own, bytes, left) = match wish {
            Wish::Work => (0, 0, 0),
            Wish::Arrival { own, bytes } => (own, bytes, self.left_to_arrive()),
            Wish::Reply { own, bytes } => (own, bytes, self.left_for_replies()),
        };
        let wanted = own + bytes;
        let is_share = own == 0
            || wanted <= left.saturating_sub(RESERVED_BYTES)
            || (wanted <= CLIENT_BYTES_RESERVED && bytes <= left);
        if is_share && self.requests_of(hosted) < bound {
            return Ok(());
        }
        Err(Crowded { returns: self.returns })
    }

    fn left_to_arrive(&self) -> usize {
        ARRIVING_BYTES_MAX.saturating_sub(self.arriving)
    }

    fn left_for_replies(&self) -> usize {
        REPLIES_BYTES_MAX.saturating_sub(self.replies)
    }

    /// So many do not send what they are to send that others feel it.
    pub(crate) fn is_crowded_with_arrivals(&self) -> bool {
        self.left_to_arrive() < CLIENT_BYTES_LEAST
    }

    /// So many do not take what was read for them that others feel it.
    pub(crate) fn is_crowded_with_replies(&self) -> bool {
        self.left_for_replies() < CLIENT_BYTES_LEAST
    }

    /// Whoever holds so much of what is read has more than others could get.
    pub(crate) fn much_of_replies(&self) -> usize {
        CLIENT_BYTES_LEAST.min(self.left_for_replies() / 2)
    }

    /// One of the two.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded_with_arrivals() || self.is_crowded_with_replies()
    }

    fn requests_of(&self, hosted: HostedId) -> usize {
        self.requests.get(hosted.0 as usize).copied().unwrap_or(0)
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.core + self.arriving + self.replies
    }

    /// Something was given back since then.
    fn has_changed(&self, since: Crowded) -> bool {
        self.returns != since.returns
    }

    /// The core gets something that holds so much, or is to.
    pub(crate) fn take(&mut self, hosted: HostedId, bytes: usize) {
        let index = hosted.0 as usize;
        if index >= self.requests.len() {
            self.requests.resize(index + 1, 0);
        }
        self.requests[index] += bytes;
        self.core += bytes;
    }

    /// The core answered it.
    pub(crate) fn give_back(&mut self, hosted: HostedId, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.requests[hosted.0 as usize] -= bytes;
        self.core -= bytes;
        self.returns += 1;
    }

    /// There are buffers for data that a client is to send.
    pub(crate) fn await_arrival(&mut self, bytes: usize) {
        self.arriving += bytes;
    }

    /// It is here, and the core's from now on; or nobody waits for it any more.
    pub(crate) fn end_arrival(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.arriving -= bytes;
        self.returns += 1;
    }

    /// What is read, or to be read, is kept until it is sent.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.replies += bytes;
    }

    /// It was sent, or nobody is to have it.
    pub(crate) fn give_up(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.replies -= bytes;
        self.returns += 1;
    }
}

/// The size of the buffer that so much takes.
pub(crate) fn buffer_bytes(length: u32) -> usize {
    let class = Class::that_holds(length).unwrap_or(Class::Huge);
    class.size_bytes() as usize
}

/// Whether a range of bytes ends within no block.
pub(crate) const fn is_of_whole_blocks(range: &Range<u64>) -> bool {
    (range.start | range.end).is_multiple_of(BLOCK_BYTES)
}

/// What each part of a read of this range holds: its blocks are read as wholes.
pub(crate) fn bytes_of_read(range: &Range<u64>) -> usize {
    let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
    bytes_of_part((blocks.end - blocks.start) * BLOCK_BYTES)
}

/// What each part of a write of this range holds: what came, and where a block is written in part,
/// what is read to put that over it.
pub(crate) fn bytes_of_write(range: &Range<u64>) -> usize {
    let read = if is_of_whole_blocks(range) { 0 } else { bytes_of_read(range) };
    bytes_of_part(range.end - range.start) + read
}

fn bytes_of_part(length: u64) -> usize {
    buffer_bytes(u32::try_from(length.min(PART_BYTES)).expect("at most a part"))
}

/// What each part of a request with data holds, as the size of buffers.
pub(crate) fn part_bytes(wanted: &Block) -> usize {
    let range = wanted.covered();
    match wanted.kind {
        Kind::Read => bytes_of_read(&range),
        Kind::Write { .. } => bytes_of_write(&range),
        // Its first and its last block are written; the others count as if they were.
        Kind::Zeroes { .. } if !is_of_whole_blocks(&range) => bytes_of_write(&(0..1)),
        Kind::Zeroes { .. } | Kind::Discard | Kind::Flush => 0,
    }
}

/// Until when a client may take or send so much, if others wait for that.
pub(crate) fn patience(since: Time, bytes: usize) -> Time {
    let seconds = bytes / CLIENT_BYTES_PER_SECOND_LEAST;
    since + CLIENT_STALL_MAX + Duration::from_secs(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CLIENT_BYTES_MAX;

    const HELD: HostedId = HostedId(0);
    const OTHER: HostedId = HostedId(3);

    #[test]
    fn what_is_no_whole_block_holds_the_blocks_around_it() {
        let (small, medium) = (buffer_bytes(4096), buffer_bytes(2 * 4096));
        let whole =
            [(0..4096, small), (4096..12_288, medium), (0..1 << 30, buffer_bytes(128 << 10))];
        for (range, held) in whole {
            assert_eq!((bytes_of_read(&range), bytes_of_write(&range)), (held, held), "{range:?}");
        }
        for (range, read, came) in [
            (0..1, small, small),
            (4095..4096, small, small),
            (4095..4097, medium, small),
            (1..4097, medium, small),
            (1..(1 << 30) - 1, buffer_bytes(128 << 10), buffer_bytes(128 << 10)),
        ] {
            let held = (bytes_of_read(&range), bytes_of_write(&range));
            assert_eq!(held, (read, read + came), "{range:?}");
        }
    }

    #[test]
    fn resource_that_is_held_up_leaves_room_to_the_others() {
        let mut budget = Budget::default();
        budget.take(HELD, RESOURCE_BYTES_MAX);
        let crowded = budget.room(HELD, CLIENT_BYTES_LEAST, Wish::Work).unwrap_err();
        assert_eq!(budget.room(OTHER, CLIENTS_BYTES_MAX, Wish::Work), Ok(()));
        assert!(!budget.has_changed(crowded));
        budget.give_back(HELD, 1);
        assert!(budget.has_changed(crowded));
        assert_eq!(budget.room(HELD, CLIENT_BYTES_LEAST, Wish::Work), Ok(()));
    }

    #[test]
    fn who_has_little_finds_room_beside_those_that_have_much() {
        let mut budget = Budget::default();
        budget.take(HELD, RESOURCE_BYTES_MAX);
        assert_eq!(budget.room(HELD, CLIENT_BYTES_LEAST - 1, Wish::Work), Ok(()));
        budget.take(HELD, RESOURCE_BYTES_LEAST);
        assert!(budget.room(HELD, 0, Wish::Work).is_err());
    }

    #[test]
    fn where_all_is_given_out_each_resource_goes_on_slowly() {
        let mut budget = Budget::default();
        budget.take(HELD, CLIENTS_BYTES_MAX);
        assert!(budget.room(OTHER, CLIENT_BYTES_LEAST, Wish::Work).is_err());
        budget.take(OTHER, RESOURCE_BYTES_LEAST - 1);
        assert_eq!(budget.room(OTHER, CLIENT_BYTES_LEAST - 1, Wish::Work), Ok(()));
        budget.take(OTHER, 1);
        assert!(budget.room(OTHER, 0, Wish::Work).is_err());
        budget.give_back(HELD, CLIENTS_BYTES_MAX);
        assert_eq!(budget.room(OTHER, CLIENT_BYTES_LEAST, Wish::Work), Ok(()));
    }

    /// One after the other so many take all that they may, and keep it: what the next one gets.
    fn left_by_greedy(count: usize, wish: fn(usize, usize) -> Wish) -> usize {
        const STEP: usize = 4096;
        let mut budget = Budget::default();
        let mut own = 0;
        for _ in 0..=count {
            own = 0;
            while own < CLIENT_BYTES_MAX && budget.room(HELD, 0, wish(own, STEP)).is_ok() {
                own += STEP;
                match wish(0, 0) {
                    Wish::Arrival { .. } => budget.await_arrival(STEP),
                    Wish::Reply { .. } => budget.keep(STEP),
                    Wish::Work => panic!("it has no pot"),
                }
            }
        }
        own
    }

    #[test]
    fn sessions_that_stand_still_leave_something_to_the_next_one() {
        let arrival = |own, bytes| Wish::Arrival { own, bytes };
        let reply = |own, bytes| Wish::Reply { own, bytes };
        for (count, least) in [(0, CLIENT_BYTES_MAX), (1, 8 << 20), (30, 512 << 10), (999, 4096)] {
            for wish in [arrival as fn(usize, usize) -> Wish, reply] {
                let left = left_by_greedy(count, wish);
                assert!(left >= least, "{count} leave {left}");
            }
        }
    }

    #[test]
    fn what_stands_still_takes_nothing_from_the_core() {
        let mut budget = Budget::default();
        budget.await_arrival(2 * ARRIVING_BYTES_MAX);
        budget.keep(2 * REPLIES_BYTES_MAX);
        assert!(budget.is_crowded_with_arrivals() && budget.is_crowded_with_replies());
        assert_eq!(budget.room(HELD, CLIENT_BYTES_MAX, Wish::Work), Ok(()));
        let bytes = 1;
        assert_eq!(budget.room(HELD, 0, Wish::Arrival { own: 0, bytes }), Ok(()));
        assert_eq!(budget.room(HELD, 0, Wish::Reply { own: 0, bytes }), Ok(()));
        assert!(budget.room(HELD, 0, Wish::Arrival { own: 1, bytes }).is_err());
        assert!(budget.room(HELD, 0, Wish::Reply { own: 1, bytes }).is_err());
    }

    #[test]
    fn client_has_time_by_what_it_is_to_send() {
        assert_eq!(patience(Time::ZERO, 0), Time::ZERO + Duration::from_secs(30));
        assert_eq!(patience(Time::ZERO, 1 << 20), Time::ZERO + Duration::from_secs(34));
    }
}
