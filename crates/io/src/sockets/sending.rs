//! One gathered send: the pieces, the vector that the kernel reads, and how far it got.

use std::io;
use std::mem;

use crate::memory::Lent;
use crate::pool::{Pool, Slice};

/// How many pieces one send may gather.
pub const SEGMENTS_MAX: usize = 512;
/// There is room for so many from the start: the headers and the payloads of 256 KiB of blocks.
const SEGMENTS_USUAL: usize = 160;

/// The send of one socket. Its vectors keep their capacity from one send to the next.
#[derive(Debug)]
pub(super) struct Sending {
    token: u64,
    /// The pieces of the send outstanding, each with a reference on its buffer; empty if none.
    segments: Vec<Slice>,
    vector: Vec<libc::iovec>,
    /// The first entry of `vector` that has bytes left.
    first: usize,
    total: u32,
    sent: u32,
    message: Lent<libc::msghdr>,
}

impl Sending {
    pub(super) fn new() -> Self {
        // SAFETY: a msghdr is integers and pointers, for which zeroes are a value.
        let message = unsafe { mem::zeroed() };
        Self {
            token: 0,
            segments: Vec::with_capacity(SEGMENTS_USUAL),
            vector: Vec::with_capacity(SEGMENTS_USUAL),
            first: 0,
            total: 0,
            sent: 0,
            message: Lent::new(message),
        }
    }

    pub(super) fn start(&mut self, pool: &mut Pool, segments: &[Slice], token: u64) {
        assert!(self.segments.is_empty(), "the socket has a send outstanding");
        assert!(segments.len() <= SEGMENTS_MAX, "{} pieces are too many", segments.len());
        self.vector.clear();
        self.total = 0;
        for segment in segments {
            let address = pool.lend(*segment);
            self.segments.push(*segment);
            self.total = self.total.checked_add(segment.length).expect("a send is below 4 GiB");
            let length = segment.length as usize;
            self.vector.push(libc::iovec { iov_base: address.cast_mut().cast(), iov_len: length });
        }
        assert!(self.total > 0, "a send has at least one byte");
        self.token = token;
        self.first = 0;
        self.sent = 0;
    }

    /// What the kernel is to send now, valid until the completion.
    pub(super) fn message(&mut self) -> *const libc::msghdr {
        let rest = &mut self.vector[self.first..];
        let message = self.message.get_mut();
        message.msg_iov = rest.as_mut_ptr();
        message.msg_iovlen = rest.len();
        self.message.address()
    }

    /// Takes in the kernel's answer. `None` means that there is more to send.
    pub(super) fn advance(&mut self, result: io::Result<u32>) -> Option<io::Result<u32>> {
        match result {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) => None,
            Err(error) => Some(Err(error)),
            Ok(0) => Some(Err(io::Error::from_raw_os_error(libc::EPIPE))),
            Ok(count) => {
                self.sent += count;
                assert!(self.sent <= self.total, "the kernel sent more than it was given");
                if self.sent == self.total {
                    return Some(Ok(self.total));
                }
                self.first += skip(&mut self.vector[self.first..], count as usize);
                None
            }
        }
    }

    /// Releases the buffers and returns the token.
    pub(super) fn finish(&mut self, pool: &mut Pool) -> u64 {
        assert!(!self.segments.is_empty(), "a send was outstanding");
        for segment in self.segments.drain(..) {
            pool.release(segment.buffer);
        }
        self.token
    }
}

/// Takes `count` bytes off the front of a vector; how many entries have nothing left.
fn skip(vector: &mut [libc::iovec], mut count: usize) -> usize {
    for (index, entry) in vector.iter_mut().enumerate() {
        if count < entry.iov_len {
            entry.iov_base = entry.iov_base.wrapping_byte_add(count);
            entry.iov_len -= count;
            return index;
        }
        count -= entry.iov_len;
    }
    assert_eq!(count, 0, "more bytes were taken off than there are");
    vector.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{Class, PoolOptions};

    /// The bytes that the message names now.
    fn rest(sending: &mut Sending, base: usize) -> Vec<(usize, usize)> {
        sending.message();
        let vector = &sending.vector[sending.first..];
        vector.iter().map(|entry| (entry.iov_base.addr() - base, entry.iov_len)).collect()
    }

    #[test]
    fn short_sends_go_on_where_they_stopped() {
        let mut pool = Pool::new(PoolOptions::default()).unwrap();
        let buffer = pool.take(Class::Small).unwrap();
        let whole = pool.whole(buffer);
        let base = pool.bytes(whole).as_ptr().addr();
        let mut sending = Sending::new();
        let segments = [whole.part(0, 10), whole.part(20, 0), whole.part(30, 5), whole.part(40, 1)];
        sending.start(&mut pool, &segments, 7);
        assert_eq!(rest(&mut sending, base), [(0, 10), (20, 0), (30, 5), (40, 1)]);
        assert!(sending.advance(Ok(3)).is_none());
        assert_eq!(rest(&mut sending, base), [(3, 7), (20, 0), (30, 5), (40, 1)]);
        assert!(sending.advance(Err(io::Error::from_raw_os_error(libc::EINTR))).is_none());
        assert!(sending.advance(Ok(7)).is_none());
        assert_eq!(rest(&mut sending, base), [(30, 5), (40, 1)]);
        assert!(sending.advance(Ok(5)).is_none());
        assert_eq!(rest(&mut sending, base), [(40, 1)]);
        assert_eq!(sending.advance(Ok(1)).unwrap().unwrap(), 16);
        pool.release(buffer);
        assert_eq!(pool.in_use(), 1, "the send still holds the buffer");
        assert_eq!(sending.finish(&mut pool), 7);
        assert_eq!(pool.in_use(), 0);
    }
}
