//! One io_uring: requests in, completions out, one syscall per turn.
//!
//! The ring is made with `SINGLE_ISSUER | DEFER_TASKRUN`: the kernel finishes work only when the
//! owner enters, on the owner's thread, so a completion never interrupts a turn. The ring's own
//! descriptor and every file are registered, which saves a lookup each per request (`Naming`).
//!
//! Nothing is lost when a queue is full. A full submission queue is submitted at once; if the
//! kernel takes nothing just now, the request waits in `unsubmitted`. A full completion queue
//! makes the kernel keep the rest and say so (`EBUSY`, a flag); then what is there is put aside
//! and the kernel entered again.
//!
//! A send to a peer that keeps up is over when the kernel took it in: it completes within the enter
//! that submits it. Its completion is no reason to come back at once, so an enter that waits asks
//! for one completion more than it submits sends. So it does where several completions are of use
//! together only. The alarm ends a wait that is for too many.
//!
//! Left to others: what a request means. This file knows tags and counts.

mod alarm;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use stdx::time::Time;

use crate::operation::{Completion, DiskCall, Operation, Place, SocketCall, Tag, Wait};
use alarm::{Alarm, Needs};

/// A flag of a receive (Linux 5.19): to wait for something to come before the first try.
const POLL_FIRST: u16 = 1 << 0;

pub(crate) struct Ring {
    uring: IoUring,
    /// The number under which the kernel knows the ring's descriptor on this thread.
    registered: libc::c_int,
    /// Requests that the kernel did not take yet.
    unsubmitted: VecDeque<squeue::Entry>,
    /// Completions that made room for others.
    put_aside: VecDeque<Completion>,
    naming: Naming,
    /// Free places in the table of registered files.
    free_files: Vec<u32>,
    /// Requests whose last completion is still to come.
    in_flight: u64,
    /// Sends among them, and those of them that are not submitted.
    sends: u32,
    sends_queued: u32,
    alarm: Alarm,
    enters: u64,
}

/// How requests name their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By their places in the table, which saves a lookup; what waits for another side does not.
    Places,
    /// For kernels that keep every file which is taken out of the table open until all requests
    /// have ended that name one by its place: one that hangs, and one that a client does not
    /// receive, would hold an exclusive block device that was closed long ago.
    Descriptors,
}

impl Ring {
    /// Wraps a ring that `probe` made on this thread.
    pub(crate) fn new(uring: IoUring, registered: libc::c_int, files: u32, naming: Naming) -> Self {
        Self {
            uring,
            registered,
            naming,
            unsubmitted: VecDeque::with_capacity(64),
            put_aside: VecDeque::with_capacity(64),
            free_files: (0..files).rev().collect(),
            in_flight: 0,
            sends: 0,
            sends_queued: 0,
            alarm: Alarm::Off(Needs::NONE),
            enters: 0,
        }
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(crate) fn enters(&self) -> u64 {
        self.enters
    }

    /// Registers a file; requests name it by the number returned.
    pub(crate) fn install(&mut self, fd: RawFd) -> io::Result<Place> {
        let Some(place) = self.free_files.pop() else {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        };
        match self.uring.submitter().register_files_update(place, &[fd]) {
            Ok(_) => Ok(Place(place)),
            Err(error) => {
                self.free_files.push(place);
                Err(error)
            }
        }
    }

    /// Takes a file out of the table. No request on it is outstanding.
    pub(crate) fn uninstall(&mut self, file: Place) {
        let result = self.uring.submitter().register_files_update(file.0, &[-1]);
        // A place that could not be emptied is emptied by the next `install` into it.
        drop(result);
        self.free_files.push(file.0);
    }

    /// Queues a request. It goes to the kernel with the next enter.
    ///
    /// # Safety
    /// Whatever memory the request names stays valid, and untouched where the kernel writes, until
    /// its last completion has been popped.
    #[inline]
    pub(crate) unsafe fn push(&mut self, operation: Operation, tag: Tag) {
        let request = to_entry(operation, self.naming);
        self.in_flight += 1;
        if let Tag::Send(_) = tag {
            self.sends += 1;
            self.sends_queued += 1;
        }
        let request = request.user_data(encode(tag));
        if self.unsubmitted.is_empty() {
            if self.uring.submission().is_full() {
                self.make_room();
            }
            // SAFETY: the caller vouches for the memory of the request.
            if unsafe { self.uring.submission().push(&request) }.is_ok() {
                return;
            }
        }
        self.unsubmitted.push_back(request);
    }

    /// Submits without waiting, because the submission queue is full.
    fn make_room(&mut self) {
        if matches!(self.call_enter(Wait::No), Err(error) if is_busy(&error)) {
            self.put_completions_aside();
            // Refused again, the request waits in `unsubmitted` for the next turn.
            drop(self.call_enter(Wait::No));
        }
    }

    /// Whether there is a reason to enter the kernel although nobody wants to wait.
    pub(crate) fn wants_enter(&mut self) -> bool {
        let queue = self.uring.submission();
        !queue.is_empty() || queue.taskrun() || queue.cq_overflow() || !self.unsubmitted.is_empty()
    }

    /// Whether a completion can be popped without entering the kernel.
    pub(crate) fn has_completion(&mut self) -> bool {
        !self.put_aside.is_empty() || !self.uring.completion().is_empty()
    }

    /// How many completions can be popped without entering the kernel.
    pub(crate) fn completions(&mut self) -> usize {
        self.put_aside.len() + self.uring.completion().len()
    }

    /// How many sends the next enter submits, and is likely to complete: while an earlier one is
    /// stuck, these may be, too.
    pub(crate) fn prompt_sends(&self) -> u32 {
        if self.sends == self.sends_queued { self.sends_queued } else { 0 }
    }

    /// Submits everything queued, lets the kernel finish what it can, and waits for one completion
    /// if asked to. A signal and a full completion queue end it early; neither is an error.
    pub(crate) fn enter(&mut self, wait: Wait) -> io::Result<()> {
        self.submit_waiting_requests();
        // With requests left over the kernel is to be asked again soon.
        let wait = if self.unsubmitted.is_empty() { wait } else { Wait::No };
        match self.call_enter(wait) {
            Err(error) if is_busy(&error) => {
                self.put_completions_aside();
                Ok(())
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR) => Ok(()),
                _ => Err(error),
            },
            Ok(()) => Ok(()),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Completion> {
        let completion = match self.put_aside.pop_front() {
            Some(completion) => completion,
            None => self.take()?,
        };
        if !completion.more {
            self.in_flight -= 1;
        }
        if let Tag::Send(_) = completion.tag {
            self.sends -= 1;
        }
        Some(completion)
    }

    fn submit_waiting_requests(&mut self) {
        while let Some(request) = self.unsubmitted.front() {
            // SAFETY: whoever gave the request to `push` vouched for its memory until the
            // completion, which has not come.
            if unsafe { self.uring.submission().push(request) }.is_err() {
                return;
            }
            self.unsubmitted.pop_front();
        }
    }

    fn put_completions_aside(&mut self) {
        while let Some(completion) = self.take() {
            self.put_aside.push_back(completion);
        }
    }

    /// The next completion of a request in the kernel's queue.
    fn take(&mut self) -> Option<Completion> {
        loop {
            let entry = self.uring.completion().next()?;
            if !Alarm::is_its(&entry) {
                return Some(read_completion(&entry));
            }
            self.alarm.on_completion(&entry, &mut self.uring.submission());
        }
    }

    /// How many completions a wait is for, at least, and how long it may take; `None` if something
    /// else ends it in time.
    fn terms(&mut self, now: Time, limit: Duration, together: u32) -> (u32, Option<Duration>) {
        let least = together.max(1) + self.prompt_sends();
        let is_met = least == 1 || self.alarm.need(now, &mut self.uring.submission());
        let is_near = limit < alarm::PERIOD;
        let limit = Some(limit).filter(|_| is_near || !self.alarm.is_on());
        (if is_met { least } else { 1 }, limit)
    }

    fn call_enter(&mut self, wait: Wait) -> io::Result<()> {
        self.enters += 1;
        let (least, limit) = match wait {
            Wait::No => (0, None),
            Wait::Forever => (1, None),
            Wait::For { now, limit, together } => self.terms(now, limit, together),
        };
        let queued = u32::try_from(self.uring.submission().len()).expect("below the queue's size");
        let mut flags = enter_flag::GETEVENTS | enter_flag::REGISTERED_RING;
        let mut argument = types::SubmitArgs::new();
        let timespec;
        if let Some(limit) = limit {
            flags |= enter_flag::EXT_ARG;
            timespec = types::Timespec::from(limit);
            argument = argument.timespec(&timespec);
        }
        self.sends_queued = 0;
        let (pointer, size) = if flags & enter_flag::EXT_ARG == 0 {
            (std::ptr::null(), 0)
        } else {
            ((&raw const argument).cast::<libc::c_void>(), size_of_val(&argument))
        };
        // SAFETY: the number is the ring's own, registered on this thread; the argument is null or
        // an extended argument of the size given, alive during the call; the memory of the queued
        // requests is valid as `push` requires.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.registered,
                queued,
                least,
                flags,
                pointer,
                size,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// A request in the words of the ring.
#[inline]
fn to_entry(operation: Operation, naming: Naming) -> squeue::Entry {
    match operation {
        Operation::Socket { socket, fd, call } => to_socket_entry((socket, fd), call, naming),
        Operation::Disk { file, fd, call } => to_disk_entry(naming.name(file, fd), call),
        Operation::TakeCount { eventfd, into } => {
            opcode::Read::new(types::Fd(eventfd), into.cast(), 8).build()
        }
        Operation::Watch { eventfd } => {
            let events = u32::try_from(libc::POLLIN).expect("a small positive flag");
            opcode::PollAdd::new(types::Fd(eventfd), events).multi(true).build()
        }
        Operation::Unwatch { tag } => opcode::PollRemove::new(encode(tag)).build(),
        Operation::Command { device, operation, bytes } => {
            opcode::UringCmd16::new(types::Fd(device), operation).cmd(bytes).build()
        }
        Operation::Cancel { socket } => {
            let which = types::CancelBuilder::fd(fixed(socket)).all();
            opcode::AsyncCancel2::new(which).build()
        }
        Operation::CancelAll => opcode::AsyncCancel2::new(types::CancelBuilder::any()).build(),
    }
}

impl Naming {
    /// The number of a file, and the flag that says what kind of number it is.
    #[inline]
    fn name(self, place: Place, fd: RawFd) -> (types::Fd, squeue::Flags) {
        match self {
            Self::Places => (types::Fd(place.0.cast_signed()), squeue::Flags::FIXED_FILE),
            Self::Descriptors => (types::Fd(fd), squeue::Flags::empty()),
        }
    }
}

#[inline]
fn to_socket_entry(
    (socket, fd): (Place, RawFd),
    call: SocketCall,
    naming: Naming,
) -> squeue::Entry {
    let waiting = types::Fd(fd);
    match call {
        SocketCall::Accept => opcode::AcceptMulti::new(waiting).flags(libc::SOCK_CLOEXEC).build(),
        SocketCall::Connect { address, length } => {
            opcode::Connect::new(waiting, address, length).build()
        }
        SocketCall::Receive { into, length, is_early } => {
            let priority = if is_early { POLL_FIRST } else { 0 };
            opcode::Recv::new(waiting, into, length).ioprio(priority).build()
        }
        SocketCall::Send { message } => {
            // The kernel goes on by itself after a short send; errors and signals end it early.
            let flags = (libc::MSG_NOSIGNAL | libc::MSG_WAITALL).cast_unsigned();
            let (socket, kind) = naming.name(socket, fd);
            opcode::SendMsg::new(socket, message).flags(flags).build().flags(kind)
        }
    }
}

#[inline]
fn to_disk_entry((file, kind): (types::Fd, squeue::Flags), call: DiskCall) -> squeue::Entry {
    let entry = match call {
        DiskCall::Read { offset, into, length } => {
            opcode::Read::new(file, into, length).offset(offset).build()
        }
        DiskCall::Write { offset, from, length, flags } => {
            opcode::Write::new(file, from, length).offset(offset).rw_flags(flags).build()
        }
        DiskCall::Sync => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
        DiskCall::Allocate { offset, length, mode } => {
            opcode::Fallocate::new(file, length).offset(offset).mode(mode).build()
        }
    };
    entry.flags(kind)
}

fn fixed(place: Place) -> types::Fixed {
    types::Fixed(place.0)
}

fn encode(tag: Tag) -> u64 {
    let (kind, index) = match tag {
        Tag::Wake => (0, 0),
        Tag::CancelAll => (1, 0),
        Tag::Cancel(socket) => (2, socket),
        Tag::Accept(socket) => (3, socket),
        Tag::Connect(socket) => (4, socket),
        Tag::Recv(socket) => (5, socket),
        Tag::Send(socket) => (6, socket),
        Tag::Disk(request) => (7, request),
        Tag::Block(place) => (8, place),
        Tag::Kick(watch) => (9, watch),
    };
    (kind << 32) | u64::from(index)
}

fn decode(user_data: u64) -> Tag {
    let index = u32::try_from(user_data & u64::from(u32::MAX)).expect("masked to 32 bits");
    match user_data >> 32 {
        0 => Tag::Wake,
        1 => Tag::CancelAll,
        2 => Tag::Cancel(index),
        3 => Tag::Accept(index),
        4 => Tag::Connect(index),
        5 => Tag::Recv(index),
        6 => Tag::Send(index),
        7 => Tag::Disk(index),
        8 => Tag::Block(index),
        9 => Tag::Kick(index),
        kind => panic!("the kernel handed back a tag of kind {kind} that was never given"),
    }
}

/// Flags of the enter call, as the kernel's header has them.
mod enter_flag {
    pub(super) const GETEVENTS: u32 = 1 << 0;
    pub(super) const EXT_ARG: u32 = 1 << 3;
    pub(super) const REGISTERED_RING: u32 = 1 << 4;
}

impl Drop for Ring {
    /// The thread's table of rings holds the ring open until this.
    fn drop(&mut self) {
        /// `struct io_uring_rsrc_update` of the kernel.
        #[repr(C)]
        struct Update {
            offset: libc::c_int,
            reserved: u32,
            data: u64,
        }
        const UNREGISTER_RING_FDS: libc::c_uint = 21;
        let fd = self.uring.as_raw_fd();
        let update = Update { offset: self.registered, reserved: 0, data: 0 };
        // SAFETY: the descriptor is a live ring, and one update of the kernel's layout is passed.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_uring_register,
                fd,
                UNREGISTER_RING_FDS,
                &raw const update,
                1,
            )
        };
        debug_assert_eq!(result, 1, "a registered ring can be taken out");
    }
}

fn is_busy(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EAGAIN))
}

fn read_completion(entry: &cqueue::Entry) -> Completion {
    Completion {
        tag: decode(entry.user_data()),
        result: entry.result(),
        more: cqueue::more(entry.flags()),
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("fd", &self.uring.as_raw_fd())
            .field("in_flight", &self.in_flight)
            .field("enters", &self.enters)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before Linux 6.13 a block device that was closed stayed in use while a client did not read.
    #[test]
    fn registered_files_are_named_where_nothing_holds_what_was_closed() {
        let send = Operation::Socket {
            socket: Place(3),
            fd: 7,
            call: SocketCall::Send { message: std::ptr::null() },
        };
        let sync = Operation::Disk { file: Place(3), fd: 7, call: DiskCall::Sync };
        let is_registered = |operation, naming| {
            let entry = format!("{:?}", to_entry(operation, naming));
            assert_eq!(entry.matches("flags: 0").count() + entry.matches("flags: 1").count(), 1);
            entry.contains("flags: 1")
        };
        for operation in [send, sync] {
            assert!(is_registered(operation, Naming::Places));
            assert!(!is_registered(operation, Naming::Descriptors));
        }
    }

    #[test]
    fn tags_survive_the_kernel() {
        for tag in [
            Tag::Wake,
            Tag::CancelAll,
            Tag::Cancel(0),
            Tag::Accept(1),
            Tag::Connect(u32::MAX),
            Tag::Recv(77),
            Tag::Send(u32::MAX - 1),
            Tag::Disk(3),
            Tag::Block(4097),
            Tag::Kick(2),
        ] {
            assert_eq!(decode(encode(tag)), tag);
        }
    }
}
