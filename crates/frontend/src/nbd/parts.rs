//! A long request in parts: where it is split, and when the reply may go out.
//!
//! Parts end on multiples of the part size in the export, not in the request, so that two
//! requests never make two different parts of one place. Parts may be carried out in any order.
//!
//! A write is answered when all its parts are; the first error stays the answer, whatever comes
//! after it. A read's data goes out as its form of replies allows:
//!
//! | form                 | order of parts   | a part fails before the head | after it          |
//! |----------------------|------------------|------------------------------|-------------------|
//! | chunks               | as they are read | error, after all other parts | the same          |
//! | chunks, read with DF | ascending        | error                        | zeroes, then error|
//! | simple replies       | ascending        | error                        | hang up           |
//!
//! Of the lower two forms a reply is one message from its head to its last data: until it is whole,
//! nothing of another reply may go out on that connection ([`ReadAssembly::is_open`]).
//!
//! Nothing here allocates.

use crate::nbd::limits::{PART_BYTES, PARTS_MAX};
use crate::nbd::reply::ChunkEnd;
use crate::nbd::transmission::{Kind, Request};
use crate::nbd::wire::{Errno, ReplyForm};

/// One request's range, cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    offset: u64,
    length: u64,
}

/// A piece of a request. The first has index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub index: u16,
    pub offset: u64,
    pub length: u32,
}

impl Split {
    /// # Panics
    /// When the request moves no data or more than [`PARTS_MAX`] parts.
    #[inline]
    #[must_use]
    pub fn new(request: &Request) -> Self {
        assert!(matches!(request.kind, Kind::Read { .. } | Kind::Write), "{:?}", request.kind);
        assert!(request.length > 0, "nothing to split");
        let split = Self { offset: request.offset, length: request.length };
        assert!(split.last_block() - split.first_block() < u64::from(PARTS_MAX), "{request:?}");
        split
    }

    #[inline]
    #[must_use]
    pub fn count(&self) -> u16 {
        let count = self.last_block() - self.first_block() + 1;
        u16::try_from(count).expect("checked when it was split")
    }

    /// # Panics
    /// When there is no such part.
    #[inline]
    #[must_use]
    pub fn part(&self, index: u16) -> Part {
        assert!(index < self.count(), "part {index} of {}", self.count());
        let part_bytes = u64::from(PART_BYTES);
        let start = self.offset.max((self.first_block() + u64::from(index)) * part_bytes);
        let left = self.length - (start - self.offset);
        let length = left.min(part_bytes - start % part_bytes);
        let length = u32::try_from(length).expect("at most one block");
        Part { index, offset: start, length }
    }

    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        (0..self.count()).map(|index| self.part(index))
    }

    fn first_block(&self) -> u64 {
        self.offset / u64::from(PART_BYTES)
    }

    fn last_block(&self) -> u64 {
        (self.offset + self.length - 1) / u64::from(PART_BYTES)
    }
}

/// The parts of a write that are still under way, and the first error.
#[derive(Clone, Copy, Debug)]
pub struct WriteAssembly {
    left: u16,
    failed: Option<Errno>,
}

impl WriteAssembly {
    #[must_use]
    pub fn new(split: &Split) -> Self {
        Self { left: split.count(), failed: None }
    }

    /// A part is done. With the last one comes the answer to the whole.
    pub fn on_part(&mut self, result: Result<(), Errno>) -> Option<Result<(), Errno>> {
        assert!(self.left > 0, "more parts are done than there were");
        self.left -= 1;
        if let Err(errno) = result {
            self.failed.get_or_insert(errno);
        }
        (self.left == 0).then(|| self.failed.map_or(Ok(()), Err))
    }
}

/// A set of part numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Parts([u64; 5]);

const _: () = assert!(PARTS_MAX as usize <= 5 * 64);

impl Parts {
    fn insert(&mut self, index: u16) {
        assert!(!self.contains(index), "part {index} is done twice");
        self.0[usize::from(index / 64)] |= 1 << (index % 64);
    }

    fn contains(&self, index: u16) -> bool {
        self.0[usize::from(index / 64)] & (1 << (index % 64)) != 0
    }

    fn remove(&mut self, index: u16) {
        self.0[usize::from(index / 64)] &= !(1 << (index % 64));
    }

    fn first(&self) -> Option<u16> {
        let words = self.0.iter().zip(0_u16..);
        let mut set = words.filter(|(word, _)| **word != 0);
        let (word, at) = set.next()?;
        let bit = u16::try_from(word.trailing_zeros()).expect("less than 64");
        Some(at * 64 + bit)
    }
}

/// Decides what of a read may be sent next.
///
/// After each part's end and after each thing sent, ask [`ReadAssembly::next_send`] until it says
/// [`Send::Wait`] or the read is over. Keep a part's data from its end until it has been sent; when
/// the read is over, the data of all parts that ended is free.
#[derive(Clone, Copy, Debug)]
pub struct ReadAssembly {
    order: Order,
    count: u16,
    /// Parts that were read and are not sent.
    ready: Parts,
    failed_parts: Parts,
    failed: Option<Errno>,
    /// Parts that ended, well or not.
    ended: u16,
    sent: u16,
    head: Head,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// A chunk for each part.
    Any,
    /// One chunk with all parts.
    OneChunk,
    /// One simple reply with all parts.
    OneReply,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    NotSent,
    Sent(ChunkEnd),
    /// The reply is complete; nothing more may be sent for it.
    Over,
}

/// What to send next for one read. "Over" means that the reply is complete with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Send {
    /// Nothing until another part ends.
    Wait,
    /// The head of a chunk for this part, and its data. Over when `end` is `Done`.
    Chunk { part: u16, end: ChunkEnd },
    /// The head of the whole read.
    WholeHead { end: ChunkEnd },
    /// The data of this part, without a head of its own. Over when `is_last` and the head said
    /// `Done`; a simple reply's head always does.
    Data { part: u16, is_last: bool },
    /// Zeroes in place of this part, whose data is lost; the error follows later.
    Zeroes { part: u16 },
    /// A success after all data. Over.
    Success,
    /// An error. Over; parts may still be under way, and their ends must still be reported.
    Error(Errno),
    /// The reply has begun and cannot be ended: close the connection. Over.
    HangUp,
}

impl ReadAssembly {
    #[must_use]
    pub fn new(request: &Request, form: ReplyForm) -> Self {
        let order = match (form, request.kind) {
            (ReplyForm::Simple, _) => Order::OneReply,
            (_, Kind::Read { df: true }) => Order::OneChunk,
            (ReplyForm::Structured | ReplyForm::Extended, _) => Order::Any,
        };
        Self {
            order,
            count: Split::new(request).count(),
            ready: Parts::default(),
            failed_parts: Parts::default(),
            failed: None,
            ended: 0,
            sent: 0,
            head: Head::NotSent,
        }
    }

    /// A part's data is there, or will never be.
    pub fn on_part(&mut self, index: u16, result: Result<(), Errno>) {
        assert!(index < self.count, "part {index} of {}", self.count);
        assert!(!self.failed_parts.contains(index), "part {index} is done twice");
        match result {
            Ok(()) => self.ready.insert(index),
            Err(errno) => {
                self.failed_parts.insert(index);
                self.failed.get_or_insert(errno);
            }
        }
        self.ended += 1;
    }

    /// The reply is complete. Parts may still be under way when it ended by an error.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.head == Head::Over
    }

    /// The next thing sent would be the head of one message with all data.
    #[must_use]
    pub fn is_to_open(&self) -> bool {
        self.order != Order::Any && self.head == Head::NotSent
    }

    /// The head is sent, and not all of the data behind it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.head, Head::Sent(_)) && self.sent < self.count
    }

    /// No part is under way any more.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.ended == self.count
    }

    /// What to send now. What it returns counts as sent.
    #[must_use]
    pub fn next_send(&mut self) -> Send {
        match (self.order, self.head) {
            (_, Head::Over) => Send::Wait,
            (Order::Any, _) => self.next_chunk(),
            (Order::OneChunk | Order::OneReply, Head::NotSent) => self.next_head(),
            (Order::OneChunk | Order::OneReply, Head::Sent(end)) => self.next_data(end),
        }
    }

    fn next_chunk(&mut self) -> Send {
        if let Some(part) = self.ready.first() {
            self.ready.remove(part);
            self.sent += 1;
            let is_last = self.sent == self.count;
            if is_last {
                self.head = Head::Over;
            }
            return Send::Chunk {
                part,
                end: if is_last { ChunkEnd::Done } else { ChunkEnd::More },
            };
        }
        match self.failed {
            Some(errno) if self.is_drained() => self.over(Send::Error(errno)),
            Some(_) | None => Send::Wait,
        }
    }

    /// The head waits for the first part only, so that few parts are held.
    fn next_head(&mut self) -> Send {
        if let Some(errno) = self.failed {
            return self.over(Send::Error(errno));
        }
        if !self.ready.contains(0) {
            return Send::Wait;
        }
        // Among chunks, "done" may be said ahead only when no part can fail any more.
        let is_certain = self.order == Order::OneReply || self.is_drained();
        let end = if is_certain { ChunkEnd::Done } else { ChunkEnd::More };
        self.head = Head::Sent(end);
        Send::WholeHead { end }
    }

    fn next_data(&mut self, end: ChunkEnd) -> Send {
        if self.order == Order::OneReply && self.failed.is_some() {
            return self.over(Send::HangUp);
        }
        if self.sent == self.count {
            let send = self.failed.map_or(Send::Success, Send::Error);
            return self.over(send);
        }
        let part = self.sent;
        if self.failed_parts.contains(part) {
            self.sent += 1;
            return Send::Zeroes { part };
        }
        if !self.ready.contains(part) {
            return Send::Wait;
        }
        self.ready.remove(part);
        self.sent += 1;
        let is_last = self.sent == self.count;
        if is_last && end == ChunkEnd::Done {
            self.head = Head::Over;
        }
        Send::Data { part, is_last }
    }

    fn over(&mut self, send: Send) -> Send {
        self.head = Head::Over;
        send
    }
}
