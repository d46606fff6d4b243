//! Eventfds of others, watched through the ring: each signal that comes is an event.
//!
//! A watch is one poll that goes on by itself. The count of the eventfd is never read, for every
//! signal wakes the poll anew; several that come together may be one event. So whoever is kicked
//! looks for all there is to do. The other way goes [`Ringer`](crate::Ringer).

use std::os::fd::{AsFd, AsRawFd};

use crate::backend::{Completion, Operation, Tag};
use crate::reactor::{Base, Event};
use crate::signals::Eventfd;

/// A watch of one reactor. The id of a closed one never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KickId {
    index: u32,
    generation: u32,
}

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

    pub(crate) fn on_completion(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let watch = &mut self.table[index as usize];
        let open = watch.open.as_mut().expect("a watch stays while its poll is with the kernel");
        if !open.is_closing && completion.result >= 0 {
            base.ready.push_back(Event::Kicked { token: open.token });
        }
        if completion.more {
            return;
        }
        if open.is_closing || completion.result < 0 {
            // The kernel had no room for the poll, and whoever signals is not heard.
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
