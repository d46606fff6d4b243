//! What clients hold of a shard's buffers.
//!
//! The pool ends, and clients say for how long they hold what they have: one does not read its
//! answers, what others asked waits for a quorum. So what the core has of a resource, and what all
//! clients hold, has a bound. Beside it, who holds little gets a little more: those that hold much
//! cannot keep it from what was just given back. And where all clients have what they may, each
//! resource goes on with little, and does not stand still for others.
//!
//! It counts bytes of the sizes that buffers have. What was read on another shard counts on that of
//! the client, and a part of a peer's frame as if it had a buffer of its own.

use std::ops::Range;
use std::time::Duration;

use frontend::block::{BLOCK_BYTES, Kind, PART_BYTES, Request as Block};
use io::Class;
use stdx::time::Time;

use crate::limits::{
    CLIENT_BYTES_LEAST, CLIENT_BYTES_PER_SECOND_LEAST, CLIENT_STALL_MAX, CLIENTS_BYTES_MAX,
    RESOURCE_BYTES_LEAST, RESOURCE_BYTES_MAX,
};
use crate::links::HostedId;

const _: () = assert!(BLOCK_BYTES == format::ids::BLOCK_BYTES, "front ends cut as the core does");

#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// All that is counted: what the core has, and what was read and is not sent.
    held: usize,
    /// What the core has, or waits for its data, by resource.
    requests: Vec<usize>,
    /// Resources that have what they may.
    crowded: usize,
    /// How often something was given back.
    returns: u64,
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
    pub(crate) fn has_room(&mut self, budget: &Budget, hosted: HostedId, own: usize) -> bool {
        let crowded = budget.room(hosted, own).err();
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
    fn room(&self, hosted: HostedId, own: usize) -> Result<(), Crowded> {
        let has_little = own < CLIENT_BYTES_LEAST;
        let bound = match (self.is_full(), has_little) {
            (false, false) => RESOURCE_BYTES_MAX,
            (false, true) => RESOURCE_BYTES_MAX + RESOURCE_BYTES_LEAST,
            (true, false) => 0,
            (true, true) => RESOURCE_BYTES_LEAST,
        };
        if self.requests_of(hosted) < bound {
            return Ok(());
        }
        Err(Crowded { returns: self.returns })
    }

    /// All clients have what they may.
    pub(crate) fn is_full(&self) -> bool {
        self.held >= CLIENTS_BYTES_MAX
    }

    /// Somebody has to wait for what clients of this resource hold in the core, or would have to.
    pub(crate) fn is_crowded_by(&self, hosted: HostedId) -> bool {
        self.is_full() || self.requests_of(hosted) >= RESOURCE_BYTES_MAX
    }

    /// The same of any resource.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_full() || self.crowded > 0
    }

    fn requests_of(&self, hosted: HostedId) -> usize {
        self.requests.get(hosted.0 as usize).copied().unwrap_or(0)
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Something was given back since then.
    fn has_changed(&self, since: Crowded) -> bool {
        self.returns != since.returns
    }

    /// Something begins that holds so much, or is to.
    pub(crate) fn take(&mut self, hosted: HostedId, bytes: usize) {
        let index = hosted.0 as usize;
        if index >= self.requests.len() {
            self.requests.resize(index + 1, 0);
        }
        let before = self.requests[index];
        self.requests[index] = before + bytes;
        let is_new = before < RESOURCE_BYTES_MAX && before + bytes >= RESOURCE_BYTES_MAX;
        self.crowded += usize::from(is_new);
        self.held += bytes;
    }

    /// The core answered it.
    pub(crate) fn give_back(&mut self, hosted: HostedId, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let requests = &mut self.requests[hosted.0 as usize];
        let before = *requests;
        *requests -= bytes;
        let is_over = before >= RESOURCE_BYTES_MAX && *requests < RESOURCE_BYTES_MAX;
        self.crowded -= usize::from(is_over);
        self.held -= bytes;
        self.returns += 1;
    }

    /// What was read is kept until it is sent.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// It was sent, or nobody is to have it.
    pub(crate) fn give_up(&mut self, bytes: usize) {
        self.held -= bytes;
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
        let crowded = budget.room(HELD, CLIENT_BYTES_LEAST).unwrap_err();
        assert!(budget.is_crowded() && budget.is_crowded_by(HELD) && !budget.is_crowded_by(OTHER));
        assert_eq!(budget.room(OTHER, CLIENTS_BYTES_MAX), Ok(()));
        assert!(!budget.has_changed(crowded));
        budget.give_back(HELD, 1);
        assert!(budget.has_changed(crowded));
        assert_eq!(budget.room(HELD, CLIENT_BYTES_LEAST), Ok(()));
        assert!(!budget.is_crowded());
    }

    #[test]
    fn who_has_little_finds_room_beside_those_that_have_much() {
        let mut budget = Budget::default();
        budget.take(HELD, RESOURCE_BYTES_MAX);
        assert_eq!(budget.room(HELD, CLIENT_BYTES_LEAST - 1), Ok(()));
        budget.take(HELD, RESOURCE_BYTES_LEAST);
        assert!(budget.room(HELD, 0).is_err());
    }

    #[test]
    fn where_all_is_given_out_each_resource_goes_on_slowly() {
        let mut budget = Budget::default();
        budget.keep(CLIENTS_BYTES_MAX);
        assert!(budget.room(OTHER, CLIENT_BYTES_LEAST).is_err());
        budget.take(OTHER, RESOURCE_BYTES_LEAST - 1);
        assert_eq!(budget.room(OTHER, CLIENT_BYTES_LEAST - 1), Ok(()));
        budget.take(OTHER, 1);
        assert!(budget.room(OTHER, 0).is_err());
        budget.give_up(CLIENTS_BYTES_MAX);
        assert_eq!(budget.room(OTHER, CLIENT_BYTES_LEAST), Ok(()));
    }

    #[test]
    fn client_has_time_by_what_it_is_to_send() {
        assert_eq!(patience(Time::ZERO, 0), Time::ZERO + Duration::from_secs(30));
        assert_eq!(patience(Time::ZERO, 1 << 20), Time::ZERO + Duration::from_secs(34));
    }
}
