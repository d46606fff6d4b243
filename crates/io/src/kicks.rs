//! Eventfds of others, watched through the ring: each signal that comes is an event.
//!
//! A watch is one poll that goes on by itself. The count of the eventfd is never read, for every
//! signal wakes the poll anew; several that come together may be one event. So whoever is kicked
//! looks for all there is to do. The other way, a [`Bell`] signals an eventfd of another process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use crate::backend::{Completion, Operation, Tag};
use crate::reactor::{Base, Event};

/// A watch of one reactor. The id of a closed one never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KickId {
    index: u32,
    generation: u32,
}

/// Signals an eventfd of another process, and never waits for it.
#[derive(Debug)]
pub struct Bell {
    file: File,
}

impl Bell {
    pub fn new(eventfd: OwnedFd) -> io::Result<Self> {
        // SAFETY: no pointer is passed.
        let flags = unsafe { libc::fcntl(eventfd.as_raw_fd(), libc::F_GETFL) };
        let flags = flags | libc::O_NONBLOCK;
        // SAFETY: no pointer is passed.
        if unsafe { libc::fcntl(eventfd.as_raw_fd(), libc::F_SETFL, flags) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file: File::from(eventfd) })
    }

    /// One that cannot be signalled any more is full, and so was not heard yet, or is gone with
    /// its process, whose connection tells so.
    pub fn ring(&self) {
        // Any number but zero will do, so the order of its bytes does not matter.
        drop((&self.file).write(&1_u64.to_le_bytes()));
    }
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
    file: OwnedFd,
    is_closing: bool,
}

impl Kicks {
    pub(crate) fn watch(&mut self, base: &mut Base, file: OwnedFd, token: u64) -> KickId {
        let open = Some(Open { token, file, is_closing: false });
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
            // A poll that fails is one of a file that cannot be polled, which its owner chose.
            watch.open = None;
            watch.generation = watch.generation.wrapping_add(1);
            self.free.push(index);
        } else {
            self.arm(base, index);
        }
    }

    fn arm(&self, base: &mut Base, index: u32) {
        let open = self.table[index as usize].open.as_ref().expect("the watch is open");
        let watch = Operation::Watch { eventfd: open.file.as_raw_fd() };
        // SAFETY: the request names no memory.
        unsafe { base.backend.push(watch, Tag::Kick(index)) };
    }
}
