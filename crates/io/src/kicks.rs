//! Eventfds of others, watched through the ring: each signal that comes is an event.
//!
//! A watch is one poll that goes on by itself. The count of the eventfd is never read, for every
//! signal wakes the poll anew; several that come together may be one event. So whoever is kicked
//! looks for all there is to do. The other way goes [`Ringer`](crate::Ringer).

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::event::{Base, Event, KickId};
use crate::operation::{Completion, Operation, Tag};
use crate::signals::Eventfd;

#[derive(Debug, Default)]
pub(crate) struct Kicks {
    table: Vec<Watch>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Watch {
    generation: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    token: u64,
    eventfd: Eventfd,
    is_closing: bool,
}

impl Kicks {
    pub(crate) fn watch(&mut self, base: &mut Base, eventfd: Eventfd, token: u64) -> KickId {
        let open = Some(Open { token, eventfd, is_closing: false });
        let index = if let Some(index) = self.free.pop() {
            self.table[index as usize].open = open;
            index
        } else {
            self.table.push(Watch { generation: 0, open });
            u32::try_from(self.table.len() - 1).expect("fewer watches than files")
        };
        self.arm(base, index);
        KickId { index, generation: self.table[index as usize].generation }
    }

    /// Tells nothing more. The file is closed when the kernel has let go of it.
    pub(crate) fn close(&mut self, base: &mut Base, id: KickId) {
        let Some(watch) = self.table.get_mut(id.index as usize) else { return };
        let Some(open) = watch.open.as_mut() else { return };
        if watch.generation == id.generation && !open.is_closing {
            open.is_closing = true;
            let cancel = Operation::Unwatch { tag: Tag::Kick(id.index) };
            // SAFETY: the request names no memory.
            unsafe { base.backend.push(cancel, Tag::CancelAll) };
        }
    }

    /// None of them is watched anew. Somebody else cancels what the kernel has.
    pub(crate) fn close_all(&mut self) {
        self.table.iter_mut().filter_map(|watch| watch.open.as_mut()).for_each(|open| {
            open.is_closing = true;
        });
    }

    pub(crate) fn on_completion(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let watch = &mut self.table[index as usize];
        let open = watch.open.as_mut().expect("a watch stays while its poll is with the kernel");
        let token = open.token;
        if !open.is_closing {
            base.ready.push_back(if completion.result >= 0 {
                Event::Kicked { token }
            } else {
                // The kernel had no room for the poll, say, and whoever signals is not heard.
                let error = io::Error::from_raw_os_error(-completion.result);
                Event::KicksFailed { token, error }
            });
        }
        if completion.more {
            return;
        }
        if open.is_closing || completion.result < 0 {
            watch.open = None;
            watch.generation = watch.generation.wrapping_add(1);
            self.free.push(index);
        } else {
            self.arm(base, index);
        }
    }

    fn arm(&self, base: &mut Base, index: u32) {
        let open = self.table[index as usize].open.as_ref().expect("the watch is open");
        let watch = Operation::Watch { eventfd: open.eventfd.as_fd().as_raw_fd() };
        // SAFETY: the request names no memory.
        unsafe { base.backend.push(watch, Tag::Kick(index)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Reactor, eventfd};

    /// Nobody heard of it, and waited for kicks that could not come.
    #[test]
    fn watch_that_fails_is_told_and_over() {
        let mut reactor = Reactor::new(Options::default()).unwrap();
        let base = reactor.base();
        let eventfd = Eventfd::of(eventfd().unwrap()).unwrap();
        let open = Some(Open { token: 7, eventfd, is_closing: false });
        // The kernel does not have its poll any more.
        let mut kicks = Kicks { table: vec![Watch { generation: 0, open }], free: Vec::new() };
        let failure = Completion { tag: Tag::Kick(0), result: -libc::ENOMEM, more: false };
        kicks.on_completion(base, 0, failure);
        let told = base.ready.pop_front();
        let Some(Event::KicksFailed { token: 7, error }) = told else { panic!("{told:?}") };
        assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
        assert!(base.ready.is_empty() && kicks.table[0].open.is_none());
        kicks.close(base, KickId { index: 0, generation: 0 });
    }

    /// It was watched anew while the reactor ended, which then waited for it for ever.
    #[test]
    fn watch_whose_poll_ended_by_itself_is_not_taken_up_at_the_end() {
        let mut reactor = Reactor::new(Options::default()).unwrap();
        let base = reactor.base();
        let eventfd = Eventfd::of(eventfd().unwrap()).unwrap();
        let open = Some(Open { token: 7, eventfd, is_closing: false });
        let mut kicks = Kicks { table: vec![Watch { generation: 0, open }], free: Vec::new() };
        kicks.close_all();
        let ended = Completion { tag: Tag::Kick(0), result: libc::POLLIN.into(), more: false };
        kicks.on_completion(base, 0, ended);
        assert_eq!((base.backend.in_flight(), base.ready.len()), (0, 0));
        assert!(kicks.table[0].open.is_none());
    }
}
