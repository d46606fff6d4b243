//! A bounded queue from one thread to another.
use std::marker::PhantomData;

use crate::waker::Waker;

#[derive(Debug)]
pub struct Mailbox<T>(PhantomData<T>);
#[derive(Debug)]
pub struct Sender<T>(PhantomData<T>);
#[derive(Debug)]
pub struct Receiver<T>(PhantomData<T>);

impl<T: Send> Mailbox<T> {
    /// `waker` wakes the thread that holds the receiver.
    #[must_use]
    pub fn channel(capacity: usize, waker: Waker) -> (Sender<T>, Receiver<T>) {
        unimplemented!("{capacity} {waker:?}")
    }
}
impl<T: Send> Sender<T> {
    /// Puts one message in; nobody sees it before `publish`. A full mailbox gives it back.
    pub fn push(&mut self, message: T) -> Result<(), T> {
        Err(message)
    }
    /// Shows everything pushed so far to the receiver, and wakes it if it sleeps.
    pub fn publish(&mut self) {}
    /// `push` and `publish`.
    pub fn send(&mut self, message: T) -> Result<(), T> {
        Err(message)
    }
    /// Whether the receiver is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        false
    }
}
impl<T: Send> Receiver<T> {
    /// The oldest message. Drain with this after every turn of the reactor.
    pub fn pop(&mut self) -> Option<T> {
        None
    }
    /// Whether the sender is gone and everything it sent has been popped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        false
    }
}
