//! The rings between shards and their doorbells under loom: every order in which two threads may
//! see each other's steps, as the memory model allows them, with the sources of the crate itself.
//!
//! Loom fails where a slot is read and written without an order between the two, where a message
//! leaks, and where everybody sleeps: a wake that was lost.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(unsafe_code, reason = "the sources of the crate")]
#![expect(unreachable_pub, reason = "the sources have more than is used here")]

mod sync {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::Arc;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
}

#[path = "../src/mailbox.rs"]
mod mailbox;

#[path = "../src/waker/state.rs"]
mod state;

/// A waker whose eventfd is a lock and a condition.
mod waker {
    use loom::sync::{Arc, Condvar, Mutex};

    use crate::state::State;

    #[derive(Clone, Debug)]
    pub(crate) struct Waker(Arc<Shared>);

    #[derive(Debug)]
    struct Shared {
        state: State,
        is_signalled: Mutex<bool>,
        signal: Condvar,
    }

    impl Waker {
        pub(crate) fn new() -> Self {
            let is_signalled = Mutex::new(false);
            Self(Arc::new(Shared { state: State::awake(), is_signalled, signal: Condvar::new() }))
        }

        pub(crate) fn wake(&self) {
            if self.0.state.notify() {
                *self.0.is_signalled.lock().unwrap() = true;
                self.0.signal.notify_one();
            }
        }

        /// One wait of the owner, as a turn or a parker does it. Whoever looks first sees a wake.
        pub(crate) fn park(&self) {
            if !self.0.state.is_notified() && self.0.state.fall_asleep() {
                let mut is_signalled = self.0.is_signalled.lock().unwrap();
                while !*is_signalled {
                    is_signalled = self.0.signal.wait(is_signalled).unwrap();
                }
                *is_signalled = false;
            }
            self.0.state.wake_up();
        }
    }
}

use loom::thread;

use mailbox::Mailbox;
use waker::Waker;

#[test]
fn messages_arrive_in_order_through_a_ring_that_is_full_now_and_then() {
    loom::model(|| {
        let (mut sender, mut receiver) = Mailbox::channel(2, Waker::new());
        let far = thread::spawn(move || {
            let mut next = 0;
            while next < 3 {
                // A message on the heap: one that is lost or read twice is seen.
                if sender.push(Box::new(next)).is_ok() {
                    next += 1;
                }
                if next != 1 {
                    sender.publish();
                    thread::yield_now();
                }
            }
        });
        let mut expected = 0;
        while expected < 3 {
            match receiver.pop() {
                Some(message) => {
                    assert_eq!(*message, expected);
                    expected += 1;
                }
                None => thread::yield_now(),
            }
        }
        far.join().unwrap();
        assert!(receiver.pop().is_none() && receiver.is_closed());
    });
}

#[test]
fn a_message_ends_the_sleep_of_its_receiver_whenever_it_comes() {
    loom::model(|| {
        let waker = Waker::new();
        let (mut sender, mut receiver) = Mailbox::channel(4, waker.clone());
        let far = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.push(2).unwrap();
            sender.push(3).unwrap();
            sender.publish();
            sender
        });
        let mut sum = 0;
        while sum < 6 {
            waker.park();
            while let Some(message) = receiver.pop() {
                sum += message;
            }
        }
        drop(far.join().unwrap());
    });
}

#[test]
fn the_end_of_either_side_is_seen_and_what_is_left_is_dropped() {
    loom::model(|| {
        let waker = Waker::new();
        let (mut sender, mut receiver) = Mailbox::channel(4, waker.clone());
        let far = thread::spawn(move || {
            sender.push(Box::new(1)).unwrap();
            drop(sender);
        });
        while !receiver.is_closed() {
            waker.park();
            // One is taken, if it is there by now, and the rest left to the last one out.
            if let Some(message) = receiver.pop() {
                assert_eq!(*message, 1);
            }
        }
        far.join().unwrap();
    });
    loom::model(|| {
        let (mut sender, receiver) = Mailbox::channel(4, Waker::new());
        let far = thread::spawn(move || drop(receiver));
        sender.send(loom::sync::Arc::new(1)).unwrap();
        far.join().unwrap();
        assert!(sender.is_closed());
    });
}
