//! Replies as bytes, in the form that the session agreed on.
//!
//! ```text
//!  simple       magic 4 | error 4  | cookie 8                            | data of a read
//!  structured   magic 4 | flags 2  | type 2 | cookie 8 | length 4        | payload
//!  extended     magic 4 | flags 2  | type 2 | cookie 8 | offset 8 | length 8 | payload
//! ```
//!
//! Everything is written into a buffer of the caller; the data of a read is never touched here,
//! it follows the head that [`ReplyEncoder::read_head`] writes. A request that is not a read is
//! answered by a simple reply when it succeeds, also among structured ones: it is the shortest.

use crate::nbd::limits::MESSAGE_BYTES_MAX;
use crate::nbd::transmission::{Kind, Refusal, Request};
use crate::nbd::wire::{
    EXTENDED_REPLY_BYTES, EXTENDED_REPLY_MAGIC, Errno, Extent, REPLY_FLAG_DONE,
    REPLY_TYPE_BLOCK_STATUS, REPLY_TYPE_BLOCK_STATUS_EXT, REPLY_TYPE_ERROR, REPLY_TYPE_NONE,
    REPLY_TYPE_OFFSET_DATA, ReplyForm, SIMPLE_REPLY_BYTES, SIMPLE_REPLY_MAGIC,
    STRUCTURED_REPLY_BYTES, STRUCTURED_REPLY_MAGIC,
};

/// Room for every reply but block status.
pub const REPLY_BYTES_MAX: usize = EXTENDED_REPLY_BYTES + 6 + MESSAGE_BYTES_MAX;

/// Room for a block status of so many extents.
#[must_use]
pub const fn block_status_bytes(extents: usize) -> usize {
    EXTENDED_REPLY_BYTES + 8 + extents * 16
}

/// An extent of a compact reply has 32 bits for its length. A longer one is cut here: a multiple
/// of every block size.
const COMPACT_EXTENT_BYTES_MAX: u64 = 0xffff_0000;

/// Writes replies. Each function gives the number of bytes written.
///
/// # Panics
/// All of them when the buffer is too short; [`REPLY_BYTES_MAX`] is always enough, or
/// [`block_status_bytes`] of one extent for block status.
#[derive(Clone, Copy, Debug)]
pub struct ReplyEncoder {
    form: ReplyForm,
}

/// Whether more chunks of the same reply will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEnd {
    More,
    Done,
}

impl ChunkEnd {
    fn flags(self) -> u16 {
        match self {
            Self::More => 0,
            Self::Done => REPLY_FLAG_DONE,
        }
    }
}

impl ReplyEncoder {
    #[must_use]
    pub fn new(form: ReplyForm) -> Self {
        Self { form }
    }

    /// The request is done. For a read this ends the chunks that went out before.
    #[must_use]
    pub fn success(self, request: &Request, out: &mut [u8]) -> usize {
        let is_read = matches!(request.kind, Kind::Read { .. });
        assert!(!(is_read && self.form == ReplyForm::Simple), "a simple reply to a read has data");
        if self.form != ReplyForm::Extended && !is_read {
            return simple_head(out, request.cookie, 0);
        }
        self.chunk_head(out, request, ChunkEnd::Done, REPLY_TYPE_NONE, 0)
    }

    /// The request has failed, as a whole or after some chunks.
    #[must_use]
    pub fn error(self, request: &Request, errno: Errno, message: &str, out: &mut [u8]) -> usize {
        let Request { cookie, offset, .. } = *request;
        self.error_to(out, cookie, offset, errno, message)
    }

    /// The answer to a request that was not carried out.
    #[must_use]
    pub fn refusal(self, refusal: &Refusal, out: &mut [u8]) -> usize {
        let Refusal { cookie, offset, errno, message } = *refusal;
        self.error_to(out, cookie, offset, errno, message)
    }

    /// The head of read data; the data must follow at once. Among simple replies it heads all
    /// data of the request, otherwise the `length` bytes from `start` on.
    #[must_use]
    pub fn read_head(
        self,
        request: &Request,
        start: u64,
        length: u64,
        end: ChunkEnd,
        out: &mut [u8],
    ) -> usize {
        assert!(matches!(request.kind, Kind::Read { .. }), "data for {:?}", request.kind);
        assert_within(request, start, length);
        if self.form == ReplyForm::Simple {
            assert!(length == request.length, "a simple reply is not split");
            return simple_head(out, request.cookie, 0);
        }
        let at = self.chunk_head(out, request, end, REPLY_TYPE_OFFSET_DATA, 8 + length);
        put(out, at, &start.to_be_bytes())
    }

    /// Answers block status by the extents from the request's offset on. Neighbours of one state
    /// become one extent; what the buffer or the request has no room for is left out. Without any
    /// extent the state is unknown, which the protocol says as data.
    #[must_use]
    pub fn block_status(
        self,
        request: &Request,
        context: u32,
        extents: impl IntoIterator<Item = Extent>,
        out: &mut [u8],
    ) -> usize {
        let Kind::BlockStatus { req_one } = request.kind else {
            panic!("block status for {:?}", request.kind);
        };
        let (head_bytes, each_bytes, kind, start) = match self.form {
            ReplyForm::Simple => panic!("block status needs chunks"),
            ReplyForm::Structured => (STRUCTURED_REPLY_BYTES, 8, REPLY_TYPE_BLOCK_STATUS, 4),
            ReplyForm::Extended => (EXTENDED_REPLY_BYTES, 16, REPLY_TYPE_BLOCK_STATUS_EXT, 8),
        };
        let first = head_bytes + start;
        let room = if req_one { 1 } else { out.len().saturating_sub(first) / each_bytes };
        let unknown = [Extent { length_bytes: request.length, state: 0 }];
        let mut count = self.put_extents(request, Merged::new(extents), room, &mut out[first..]);
        if count == 0 {
            count = self.put_extents(request, Merged::new(unknown), room, &mut out[first..]);
        }
        let length = start + count * each_bytes;
        let at = self.chunk_head(out, request, ChunkEnd::Done, kind, length as u64);
        let at = put(out, at, &context.to_be_bytes());
        if self.form == ReplyForm::Extended {
            let count = u32::try_from(count).expect("a buffer holds fewer extents");
            put(out, at, &count.to_be_bytes());
        }
        head_bytes + length
    }

    /// Writes up to `room` extents and gives their number. The last may reach past the request,
    /// unless only one was asked for.
    fn put_extents(
        self,
        request: &Request,
        extents: impl Iterator<Item = Extent>,
        room: usize,
        out: &mut [u8],
    ) -> usize {
        assert!(room > 0, "the buffer has no room for one extent");
        let is_one = request.kind == Kind::BlockStatus { req_one: true };
        let (mut told, mut count, mut at) = (0_u64, 0, 0);
        for extent in extents.take(room) {
            let max = match (self.form, is_one) {
                (ReplyForm::Extended, false) => u64::MAX,
                (ReplyForm::Extended, true) => request.length,
                (ReplyForm::Simple | ReplyForm::Structured, false) => COMPACT_EXTENT_BYTES_MAX,
                (ReplyForm::Simple | ReplyForm::Structured, true) => {
                    request.length.min(COMPACT_EXTENT_BYTES_MAX)
                }
            };
            let length = extent.length_bytes.min(max);
            at = if self.form == ReplyForm::Extended {
                let at = put(out, at, &length.to_be_bytes());
                put(out, at, &u64::from(extent.state).to_be_bytes())
            } else {
                let compact = u32::try_from(length).expect("cut to what fits");
                let at = put(out, at, &compact.to_be_bytes());
                put(out, at, &extent.state.to_be_bytes())
            };
            count += 1;
            told = told.saturating_add(length);
            if told >= request.length || length < extent.length_bytes {
                break;
            }
        }
        count
    }

    fn error_to(
        self,
        out: &mut [u8],
        cookie: u64,
        offset: u64,
        errno: Errno,
        message: &str,
    ) -> usize {
        if self.form == ReplyForm::Simple {
            return simple_head(out, cookie, errno.number());
        }
        let message = &message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)];
        let message_bytes = u16::try_from(message.len()).expect("a message is cut short");
        let length = 6 + u64::from(message_bytes);
        let at = self.chunk(out, cookie, offset, ChunkEnd::Done, (REPLY_TYPE_ERROR, length));
        let at = put(out, at, &errno.number().to_be_bytes());
        let at = put(out, at, &message_bytes.to_be_bytes());
        put(out, at, message.as_bytes())
    }

    fn chunk_head(
        self,
        out: &mut [u8],
        request: &Request,
        end: ChunkEnd,
        kind: u16,
        length: u64,
    ) -> usize {
        self.chunk(out, request.cookie, request.offset, end, (kind, length))
    }

    /// The head of a chunk with a payload of a type and a length.
    fn chunk(
        self,
        out: &mut [u8],
        cookie: u64,
        offset: u64,
        end: ChunkEnd,
        (kind, length): (u16, u64),
    ) -> usize {
        let is_extended = self.form == ReplyForm::Extended;
        assert!(self.form != ReplyForm::Simple, "chunks were not agreed");
        let magic = if is_extended { EXTENDED_REPLY_MAGIC } else { STRUCTURED_REPLY_MAGIC };
        let at = put(out, 0, &magic.to_be_bytes());
        let at = put(out, at, &end.flags().to_be_bytes());
        let at = put(out, at, &kind.to_be_bytes());
        let at = put(out, at, &cookie.to_be_bytes());
        if is_extended {
            let at = put(out, at, &offset.to_be_bytes());
            return put(out, at, &length.to_be_bytes());
        }
        let length = u32::try_from(length).expect("a payload is at most 32 MiB and a head");
        put(out, at, &length.to_be_bytes())
    }
}

/// Extents with equal neighbours joined and empty ones left out.
struct Merged<I> {
    extents: I,
    held: Option<Extent>,
}

impl<I: Iterator<Item = Extent>> Merged<I> {
    fn new(extents: impl IntoIterator<IntoIter = I>) -> Self {
        Self { extents: extents.into_iter(), held: None }
    }
}

impl<I: Iterator<Item = Extent>> Iterator for Merged<I> {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        for extent in self.extents.by_ref() {
            match &mut self.held {
                _ if extent.length_bytes == 0 => {}
                Some(held) if held.state == extent.state => {
                    held.length_bytes = held.length_bytes.saturating_add(extent.length_bytes);
                }
                Some(held) => return Some(std::mem::replace(held, extent)),
                None => self.held = Some(extent),
            }
        }
        self.held.take()
    }
}

fn simple_head(out: &mut [u8], cookie: u64, error: u32) -> usize {
    let at = put(out, 0, &SIMPLE_REPLY_MAGIC.to_be_bytes());
    let at = put(out, at, &error.to_be_bytes());
    let at = put(out, at, &cookie.to_be_bytes());
    assert!(at == SIMPLE_REPLY_BYTES);
    at
}

fn assert_within(request: &Request, start: u64, length: u64) {
    assert!(length > 0, "a chunk describes one byte at least");
    assert!(start >= request.offset, "a chunk at {start} for {request:?}");
    let end = request.offset + request.length;
    assert!(start + length <= end, "a chunk up to {} for {request:?}", start + length);
}

/// Writes at a place and gives the place after it.
fn put(out: &mut [u8], at: usize, bytes: &[u8]) -> usize {
    let end = at + bytes.len();
    out[at..end].copy_from_slice(bytes);
    end
}
