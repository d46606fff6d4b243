//! Mailboxes between real threads, with their doorbells.

use std::sync::{Arc, Weak};
use std::thread;

use io::{Mailbox, Parker};
use stdx::time::Time;

#[test]
fn messages_cross_threads_in_order_and_none_is_lost() {
    const COUNT: u64 = 300_000;
    let parker = Parker::new().unwrap();
    let (mut sender, mut receiver) = Mailbox::channel(64, parker.waker());
    let room = Parker::new().unwrap();
    let (mut credit, mut credits) = Mailbox::channel(64, room.waker());
    let thread = thread::spawn(move || {
        for number in 0..COUNT {
            let mut message = Box::new(number);
            while let Err(back) = sender.push(message) {
                sender.publish();
                message = back;
                while credits.pop().is_none() {
                    room.park(Time::NEVER);
                }
            }
            if number % 7 == 0 {
                sender.publish();
            }
        }
    });
    let mut expected = 0;
    while !receiver.is_closed() {
        parker.park(Time::NEVER);
        while let Some(number) = receiver.pop() {
            assert_eq!(*number, expected);
            expected += 1;
        }
        if credit.send(()).is_err() {
            // A full mailbox of credits has woken the sender already.
        }
    }
    thread.join().unwrap();
    assert_eq!(expected, COUNT);
}

#[test]
fn full_mailbox_gives_the_message_back() {
    let parker = Parker::new().unwrap();
    let (mut sender, mut receiver) = Mailbox::channel(2, parker.waker());
    assert_eq!(sender.send(1), Ok(()));
    assert_eq!(sender.push(2), Ok(()));
    assert_eq!(sender.push(3), Err(3));
    assert_eq!(receiver.pop(), Some(1));
    assert_eq!(receiver.pop(), None, "the second was not published");
    assert_eq!(sender.send(3), Ok(()));
    assert_eq!((receiver.pop(), receiver.pop(), receiver.pop()), (Some(2), Some(3), None));
}

#[test]
fn ends_learn_of_each_other_and_drop_what_is_left() {
    let parker = Parker::new().unwrap();
    let (mut sender, mut receiver) = Mailbox::channel(8, parker.waker());
    let messages: Vec<Arc<u32>> = (0..4).map(Arc::new).collect();
    for message in &messages {
        sender.push(Arc::clone(message)).unwrap();
    }
    let weak: Vec<Weak<u32>> = messages.iter().map(Arc::downgrade).collect();
    drop(messages);
    assert!(!receiver.is_closed());
    drop(sender);
    assert_eq!(receiver.pop().as_deref(), Some(&0));
    assert!(!receiver.is_closed());
    drop(receiver);
    assert!(weak.iter().all(|message| message.upgrade().is_none()));

    let (sender, receiver) = Mailbox::<u32>::channel(8, parker.waker());
    assert!(!sender.is_closed());
    drop(receiver);
    assert!(sender.is_closed());
}
