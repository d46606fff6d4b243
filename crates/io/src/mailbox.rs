//! A bounded queue from one thread to another, with a doorbell only when the receiver sleeps.
//!
//! One ring of slots; the sender owns `tail`, the receiver owns `head`, and each keeps a copy of
//! the other's index so that a full or empty look is the only one that touches the shared line.
//! Pushing does not publish: a turn pushes what it has and publishes once.
//!
//! `tests/rings.rs` compiles this file against loom and searches the orders in which two threads
//! may see each other's steps.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};

use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell};
use crate::waker::Waker;

/// Makes channels; see [`Mailbox::channel`].
#[derive(Debug)]
pub struct Mailbox<T>(PhantomData<T>);

impl<T: Send> Mailbox<T> {
    /// A channel of at least `capacity` messages to the owner of `waker`.
    ///
    /// # Panics
    /// If `capacity` is zero.
    #[must_use]
    pub fn channel(capacity: usize, waker: Waker) -> (Sender<T>, Receiver<T>) {
        assert!(capacity > 0, "a mailbox holds something");
        let size = capacity.next_power_of_two();
        let slots = (0..size).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
        let shared = Arc::new(Shared {
            slots,
            head: Index::default(),
            tail: Index::default(),
            sender_gone: AtomicBool::new(false),
            receiver_gone: AtomicBool::new(false),
        });
        let sender =
            Sender { shared: Arc::clone(&shared), tail: 0, published: 0, head_seen: 0, waker };
        let receiver = Receiver { shared, head: 0, tail_seen: 0 };
        (sender, receiver)
    }
}

/// Positions count up for ever and wrap; the slot is the position modulo the size.
struct Shared<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// The next position to read. Written by the receiver only.
    head: Index,
    /// The next position to write. Written by the sender only.
    tail: Index,
    sender_gone: AtomicBool,
    receiver_gone: AtomicBool,
}

/// On a cache line of its own, so that sender and receiver do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Index(AtomicUsize);

/// The distance at which two cores do not disturb each other: a line, and the one beside it that is
/// fetched with it.
const APART: usize = 128;
const _: () = {
    let (head, tail) = (mem::offset_of!(Shared<u64>, head), mem::offset_of!(Shared<u64>, tail));
    let slots = mem::offset_of!(Shared<u64>, slots);
    let gone = mem::offset_of!(Shared<u64>, sender_gone);
    assert!(align_of::<Shared<u64>>().is_multiple_of(APART));
    assert!(head.is_multiple_of(APART) && tail.is_multiple_of(APART));
    assert!(head.abs_diff(tail) >= APART, "the two sides write to lines of their own");
    assert!(slots / APART != head / APART && slots / APART != tail / APART);
    assert!(gone / APART != head / APART && gone / APART != tail / APART);
};

// SAFETY: a slot is touched by the sender only while its position is in `tail..head + size`, and by
// the receiver only while it is in `head..tail`. The two ranges are disjoint, and a slot passes
// from one to the other by a release store that the other side reads with acquire. There is one
// sender and one receiver, for neither can be cloned.
unsafe impl<T: Send> Sync for Shared<T> {}

// SAFETY: the messages inside may move to another thread, and nothing else in it is bound to one.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    fn slot(&self, position: usize) -> &UnsafeCell<MaybeUninit<T>> {
        &self.slots[position & (self.slots.len() - 1)]
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Both sides are gone, and the last one to go has seen what the other one did.
        let tail = self.tail.0.load(Ordering::Relaxed);
        let mut head = self.head.0.load(Ordering::Relaxed);
        while head != tail {
            self.slot(head).with_mut(|slot| {
                // SAFETY: both sides are gone, so nobody else looks at the slot.
                let message = unsafe { &mut *slot };
                // SAFETY: positions in `head..tail` hold a message each, and this one is passed
                // once.
                unsafe { message.assume_init_drop() };
            });
            head = head.wrapping_add(1);
        }
    }
}

/// The writing end. Dropping it publishes what was pushed and lets the receiver know.
pub struct Sender<T: Send> {
    shared: Arc<Shared<T>>,
    /// The next position to write; what is below and not published is ours alone.
    tail: usize,
    published: usize,
    head_seen: usize,
    waker: Waker,
}

impl<T: Send> Sender<T> {
    /// Puts one message in; the receiver sees it after `publish`. A full mailbox gives it back.
    pub fn push(&mut self, message: T) -> Result<(), T> {
        let size = self.shared.slots.len();
        if self.tail.wrapping_sub(self.head_seen) == size {
            self.head_seen = self.shared.head.0.load(Ordering::Acquire);
            if self.tail.wrapping_sub(self.head_seen) == size {
                return Err(message);
            }
        }
        self.shared.slot(self.tail).with_mut(|slot| {
            // SAFETY: the position is not published and the receiver has left it (`head_seen` was
            // read with acquire), so the slot is ours and holds no message.
            unsafe { slot.write(MaybeUninit::new(message)) };
        });
        self.tail = self.tail.wrapping_add(1);
        Ok(())
    }

    /// Shows everything pushed so far to the receiver, and wakes it if it sleeps.
    pub fn publish(&mut self) {
        if self.published == self.tail {
            return;
        }
        self.shared.tail.0.store(self.tail, Ordering::Release);
        self.published = self.tail;
        self.waker.wake();
    }

    /// `push` and `publish` in one.
    pub fn send(&mut self, message: T) -> Result<(), T> {
        let result = self.push(message);
        self.publish();
        result
    }

    /// Whether the receiver is gone: nothing pushed will be read.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.receiver_gone.load(Ordering::Acquire)
    }
}

impl<T: Send> Drop for Sender<T> {
    fn drop(&mut self) {
        self.publish();
        self.shared.sender_gone.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// The reading end.
pub struct Receiver<T: Send> {
    shared: Arc<Shared<T>>,
    head: usize,
    tail_seen: usize,
}

impl<T: Send> Receiver<T> {
    /// The oldest message. Pop until `None` after every turn of the reactor.
    pub fn pop(&mut self) -> Option<T> {
        if self.head == self.tail_seen {
            self.tail_seen = self.shared.tail.0.load(Ordering::Acquire);
            if self.head == self.tail_seen {
                return None;
            }
        }
        // SAFETY: the position is below a tail that was read with acquire, so the sender has
        // written the slot and left it; after the read the message is ours and `head` moves on.
        let message = self.shared.slot(self.head).with(|slot| unsafe { slot.read() });
        // SAFETY: as above, the slot held a written message.
        let message = unsafe { message.assume_init() };
        self.head = self.head.wrapping_add(1);
        self.shared.head.0.store(self.head, Ordering::Release);
        Some(message)
    }

    /// Whether the sender is gone and everything it sent has been popped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.sender_gone.load(Ordering::Acquire)
            && self.head == self.shared.tail.0.load(Ordering::Acquire)
    }
}

impl<T: Send> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.receiver_gone.store(true, Ordering::Release);
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("tail", &self.tail).finish_non_exhaustive()
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("head", &self.head).finish_non_exhaustive()
    }
}
