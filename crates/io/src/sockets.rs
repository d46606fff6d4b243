//! The sockets of a reactor: listeners and byte streams.
//!
//! A stream has at most one receive and one send outstanding. A receive names the place where the
//! bytes land, one request each, and not a ring of provided buffers: a payload must lie contiguous
//! and aligned for the disk, where the caller wants it. A send gathers up to 512 pieces and
//! completes once all of them went out.
//!
//! ```text
//! Open --close: cancel, shut down--> Closing --last completion--> Free (generation + 1)
//! ```
//!
//! A socket keeps its place until the kernel has answered everything asked of it, so an index in a
//! completion is never mistaken; its id carries a generation, so a late id of the caller is not
//! either. What is asked of a closed socket is answered with `ENOTCONN`.

mod sending;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::address::Address;
use crate::event::{Base, Event, SocketId, to_result};
use crate::memory::Lent;
use crate::operation::{Completion, Operation, Place, SocketCall, Tag};
use crate::pool::Slice;
use crate::socket_fd::{self, FileIdentity, TcpOptions, UNIX_LISTENER_MODE};
use sending::Sending;

pub use sending::SEGMENTS_MAX;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddr {
    /// Port 0 lets the kernel choose; see `Reactor::local_addr`.
    Tcp(SocketAddr),
    /// The file is made, replacing one that nobody listens on, and removed with the listener.
    Unix(PathBuf),
}

#[derive(Debug)]
pub(crate) struct Sockets {
    table: Vec<Socket>,
    free: Vec<u32>,
    /// Listeners that ran out of descriptors, to be armed again later.
    paused: Vec<u32>,
    tcp: TcpOptions,
}

#[derive(Debug)]
struct Socket {
    generation: u32,
    state: State,
    /// The descriptor and its place among the registered files; none while free.
    file: Option<(OwnedFd, Place)>,
    /// Requests whose last completion is still to come.
    outstanding: u32,
    accepting: Option<Accepting>,
    connecting: Option<Connecting>,
    receiving: Option<Receiving>,
    /// The last receive took less than it had room for: the next one has to wait.
    is_drained: bool,
    sending: Sending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Closing,
}

#[derive(Debug)]
struct Accepting {
    token: u64,
    /// The file of a unix listener.
    path: Option<(PathBuf, FileIdentity)>,
}

#[derive(Debug)]
struct Connecting {
    token: u64,
    address: Lent<Address>,
}

#[derive(Debug)]
struct Receiving {
    token: u64,
    into: Slice,
}

impl Sockets {
    pub(crate) fn new(tcp: TcpOptions) -> Self {
        Self { table: Vec::new(), free: Vec::new(), paused: Vec::new(), tcp }
    }

    pub(crate) fn listen(
        &mut self,
        base: &mut Base,
        address: &ListenAddr,
        token: u64,
    ) -> io::Result<SocketId> {
        let (fd, path) = match address {
            ListenAddr::Tcp(address) => {
                let fd = socket_fd::listen_tcp(*address, self.tcp)
                    .map_err(|error| explain(&error, format_args!("cannot listen on {address}")))?;
                (fd, None)
            }
            ListenAddr::Unix(path) => {
                let made = socket_fd::listen_unix(path, UNIX_LISTENER_MODE)
                    .and_then(|fd| Ok((fd, FileIdentity::of(path)?)));
                let (fd, identity) = made.map_err(|error| {
                    explain(&error, format_args!("cannot listen on {}", path.display()))
                })?;
                (fd, Some((path.clone(), identity)))
            }
        };
        let id = self.insert(base, fd)?;
        self.table[id.index as usize].accepting = Some(Accepting { token, path });
        self.arm_accept(base, id.index);
        Ok(id)
    }

    pub(crate) fn connect_tcp(
        &mut self,
        base: &mut Base,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        token: u64,
    ) -> io::Result<SocketId> {
        let fd = socket_fd::tcp_client(local, remote, self.tcp)
            .map_err(|error| explain(&error, format_args!("cannot connect to {remote}")))?;
        self.start_connect(base, fd, Address::from(remote), token)
    }

    pub(crate) fn connect_unix(
        &mut self,
        base: &mut Base,
        path: &Path,
        token: u64,
    ) -> io::Result<SocketId> {
        let address = Address::unix(path)?;
        self.start_connect(base, socket_fd::unix_client()?, address, token)
    }

    pub(crate) fn adopt(&mut self, base: &mut Base, fd: OwnedFd) -> io::Result<SocketId> {
        socket_fd::prepare_adopted(&fd)?;
        self.insert(base, fd)
    }

    pub(crate) fn give_up(&mut self, base: &mut Base, id: SocketId) -> io::Result<OwnedFd> {
        let socket = self.open(id).ok_or_else(not_connected)?;
        assert_eq!(socket.outstanding, 0, "{id:?} is given up with requests outstanding");
        let fd = self.remove(base, id.index);
        Ok(fd)
    }

    pub(crate) fn recv(&mut self, base: &mut Base, id: SocketId, into: Slice, token: u64) {
        let Some(socket) = self.open(id) else {
            let result = Err(not_connected());
            base.ready.push_back(Event::Received { token, socket: id, result });
            return;
        };
        assert!(socket.receiving.is_none(), "{id:?} has a receive outstanding");
        socket.receiving = Some(Receiving { token, into });
        socket.outstanding += 1;
        base.counters.recvs += 1;
        base.pool.begin_fill(into);
        socket.submit_recv(base, id.index);
    }

    pub(crate) fn send(&mut self, base: &mut Base, id: SocketId, segments: &[Slice], token: u64) {
        let Some(socket) = self.open(id) else {
            base.ready.push_back(Event::Sent { token, socket: id, result: Err(not_connected()) });
            return;
        };
        socket.sending.start(&mut base.pool, segments, token);
        socket.outstanding += 1;
        base.counters.sends += 1;
        socket.submit_send(base, id.index);
    }

    /// Closing a closed socket does nothing.
    pub(crate) fn close(&mut self, base: &mut Base, id: SocketId) {
        let Some(socket) = self.open(id) else { return };
        socket.state = State::Closing;
        self.paused.retain(|index| *index != id.index);
        let socket = &mut self.table[id.index as usize];
        if let Some(Accepting { path: Some((path, identity)), .. }) = &socket.accepting {
            // The path is left alone if another process has put its own socket there.
            if FileIdentity::of(path).ok() == Some(*identity) {
                drop(std::fs::remove_file(path));
            }
        }
        if socket.outstanding > 0 {
            socket.cancel(base, id.index);
        } else if let (Some((fd, _)), None) = (&socket.file, &socket.accepting) {
            // The ring may keep the file open for a while: the other side is to hear now.
            socket_fd::shut_down(fd);
        }
        self.free_if_answered(base, id.index);
    }

    pub(crate) fn close_all(&mut self, base: &mut Base) {
        for index in 0..self.table.len() {
            let generation = self.table[index].generation;
            let index = u32::try_from(index).expect("indexes are 32 bits wide");
            self.close(base, SocketId { index, generation });
        }
    }

    pub(crate) fn descriptor(&self, id: SocketId) -> Option<BorrowedFd<'_>> {
        let socket = self.table.get(id.index as usize)?;
        let found = socket.generation == id.generation && socket.state == State::Open;
        found.then(|| socket.file.as_ref().map(|(fd, _)| fd.as_fd())).flatten()
    }

    pub(crate) fn has_paused_listener(&self) -> bool {
        !self.paused.is_empty()
    }

    pub(crate) fn resume_paused_listeners(&mut self, base: &mut Base) {
        while let Some(index) = self.paused.pop() {
            self.arm_accept(base, index);
        }
    }

    pub(crate) fn on_accept(&mut self, base: &mut Base, index: u32, completion: Completion) {
        // Owned before anything else, so that no way out of here loses the descriptor.
        let accepted = to_result(completion.result).map(|fd| {
            let fd = RawFd::try_from(fd).expect("descriptors are small numbers");
            // SAFETY: the kernel made this descriptor for us, and nobody else knows it.
            unsafe { OwnedFd::from_raw_fd(fd) }
        });
        let socket = &mut self.table[index as usize];
        let listener = SocketId { index, generation: socket.generation };
        let token = socket.accepting.as_ref().map_or(0, |accepting| accepting.token);
        let is_open = socket.state == State::Open;
        if !completion.more {
            socket.outstanding -= 1;
        }
        let mut is_exhausted = false;
        match accepted {
            _ if !is_open => {}
            Ok(fd) => match self.insert(base, fd) {
                Ok(socket) => {
                    base.counters.accepts += 1;
                    base.ready.push_back(Event::Accepted { token, listener, socket });
                }
                Err(error) => {
                    base.ready.push_back(Event::AcceptFailed { token, listener, error });
                }
            },
            // The client was gone before it was accepted.
            Err(error) if is_passing(&error) => {}
            Err(error) => {
                is_exhausted = true;
                base.ready.push_back(Event::AcceptFailed { token, listener, error });
            }
        }
        if is_open && !completion.more {
            if is_exhausted {
                self.paused.push(index);
            } else {
                self.arm_accept(base, index);
            }
        }
        self.free_if_answered(base, index);
    }

    pub(crate) fn on_connect(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let (id, is_closing) = self.answered(index);
        let connecting = self.table[index as usize].connecting.take();
        let token = connecting.expect("a connect was outstanding").token;
        let result = to_result(completion.result).map(drop);
        let result = if is_closing { Err(cancelled()) } else { result };
        base.counters.connects += u64::from(result.is_ok());
        base.ready.push_back(Event::Connected { token, socket: id, result });
        self.free_if_answered(base, index);
    }

    pub(crate) fn on_recv(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let socket = &mut self.table[index as usize];
        let is_interrupted =
            matches!(completion.result.saturating_neg(), libc::EINTR | libc::EAGAIN);
        if is_interrupted && socket.state == State::Open {
            socket.submit_recv(base, index);
            return;
        }
        let (id, is_closing) = self.answered(index);
        let receiving = self.table[index as usize].receiving.take();
        let Receiving { token, into } = receiving.expect("a receive was outstanding");
        base.pool.end_fill(into);
        let result = to_result(completion.result);
        self.table[index as usize].is_drained =
            result.as_ref().is_ok_and(|received| *received < into.length);
        base.counters.recv_bytes += u64::from(*result.as_ref().unwrap_or(&0));
        let result = if is_closing { Err(cancelled()) } else { result };
        base.ready.push_back(Event::Received { token, socket: id, result });
        self.free_if_answered(base, index);
    }

    pub(crate) fn on_send(&mut self, base: &mut Base, index: u32, completion: Completion) {
        let socket = &mut self.table[index as usize];
        let is_closing = socket.state == State::Closing;
        let result = match socket.sending.advance(to_result(completion.result)) {
            Some(result) => result,
            None if is_closing => Err(cancelled()),
            None => {
                base.counters.sends_continued += 1;
                socket.submit_send(base, index);
                return;
            }
        };
        let token = socket.sending.finish(&mut base.pool);
        let (id, _) = self.answered(index);
        base.counters.send_bytes += u64::from(*result.as_ref().unwrap_or(&0));
        let result = if is_closing { Err(cancelled()) } else { result };
        base.ready.push_back(Event::Sent { token, socket: id, result });
        self.free_if_answered(base, index);
    }

    pub(crate) fn on_cancelled(&mut self, base: &mut Base, index: u32) {
        self.answered(index);
        self.free_if_answered(base, index);
    }

    fn start_connect(
        &mut self,
        base: &mut Base,
        fd: OwnedFd,
        address: Address,
        token: u64,
    ) -> io::Result<SocketId> {
        let id = self.insert(base, fd)?;
        let socket = &mut self.table[id.index as usize];
        let connecting = Connecting { token, address: Lent::new(address) };
        let (raw, length) = connecting.address.get().as_raw();
        socket.connecting = Some(connecting);
        socket.outstanding += 1;
        let request = socket.request(SocketCall::Connect { address: raw, length });
        // SAFETY: `raw` points into the lent address, which the socket keeps until `on_connect`.
        unsafe { base.backend.push(request, Tag::Connect(id.index)) };
        Ok(id)
    }

    fn arm_accept(&mut self, base: &mut Base, index: u32) {
        let socket = &mut self.table[index as usize];
        socket.outstanding += 1;
        let request = socket.request(SocketCall::Accept);
        // SAFETY: the request names no memory.
        unsafe { base.backend.push(request, Tag::Accept(index)) };
    }

    /// A place for an open socket. On error the descriptor is closed.
    fn insert(&mut self, base: &mut Base, fd: OwnedFd) -> io::Result<SocketId> {
        let place = base.backend.install(fd.as_raw_fd())?;
        let index = self.free.pop().unwrap_or_else(|| {
            self.table.push(Socket::new());
            // So that closing never allocates.
            self.free.reserve(self.table.len());
            u32::try_from(self.table.len() - 1).expect("fewer sockets than files")
        });
        let socket = &mut self.table[index as usize];
        assert_eq!(socket.state, State::Free, "a free place holds no socket");
        socket.state = State::Open;
        socket.file = Some((fd, place));
        Ok(SocketId { index, generation: socket.generation })
    }

    fn open(&mut self, id: SocketId) -> Option<&mut Socket> {
        let socket = self.table.get_mut(id.index as usize)?;
        (socket.generation == id.generation && socket.state == State::Open).then_some(socket)
    }

    /// Notes the last completion of one request. The socket's id, and whether it is being closed.
    fn answered(&mut self, index: u32) -> (SocketId, bool) {
        let socket = &mut self.table[index as usize];
        socket.outstanding -= 1;
        let id = SocketId { index, generation: socket.generation };
        (id, socket.state == State::Closing)
    }

    fn free_if_answered(&mut self, base: &mut Base, index: u32) {
        let socket = &self.table[index as usize];
        if socket.state == State::Closing && socket.outstanding == 0 {
            drop(self.remove(base, index));
        }
    }

    fn remove(&mut self, base: &mut Base, index: u32) -> OwnedFd {
        let socket = &mut self.table[index as usize];
        let (fd, place) = socket.file.take().expect("a socket in use has a descriptor");
        base.backend.uninstall(place);
        socket.state = State::Free;
        socket.is_drained = false;
        socket.generation = socket.generation.wrapping_add(1);
        socket.accepting = None;
        assert!(socket.receiving.is_none() && socket.connecting.is_none(), "all was answered");
        self.free.push(index);
        fd
    }
}

impl Socket {
    fn new() -> Self {
        Self {
            generation: 0,
            state: State::Free,
            file: None,
            outstanding: 0,
            accepting: None,
            connecting: None,
            receiving: None,
            is_drained: false,
            sending: Sending::new(),
        }
    }

    fn place(&self) -> Place {
        self.file.as_ref().expect("a socket in use has a descriptor").1
    }

    fn request(&self, call: SocketCall) -> Operation {
        let (fd, socket) = self.file.as_ref().expect("a socket in use has a descriptor");
        Operation::Socket { socket: *socket, fd: fd.as_raw_fd(), call }
    }

    fn submit_recv(&mut self, base: &mut Base, index: u32) {
        let into = self.receiving.as_ref().expect("a receive was started").into;
        let address = base.pool.fill_address(into);
        let (length, is_early) = (into.length, self.is_drained);
        let request = self.request(SocketCall::Receive { into: address, length, is_early });
        // SAFETY: the region is marked as a fill, with a reference on its buffer, until `on_recv`.
        unsafe { base.backend.push(request, Tag::Recv(index)) };
    }

    fn submit_send(&mut self, base: &mut Base, index: u32) {
        let message = self.sending.message();
        let request = self.request(SocketCall::Send { message });
        // SAFETY: the message, its vector and its buffers are kept by `sending` until `on_send`.
        unsafe { base.backend.push(request, Tag::Send(index)) };
    }

    /// Asks the kernel to end everything outstanding. The cancel request misses what is just then
    /// between two attempts; shutting down ends that at its next one.
    fn cancel(&mut self, base: &mut Base, index: u32) {
        self.outstanding += 1;
        let request = Operation::Cancel { socket: self.place() };
        // SAFETY: the request names no memory.
        unsafe { base.backend.push(request, Tag::Cancel(index)) };
        if let Some((fd, _)) = &self.file {
            socket_fd::shut_down(fd);
        }
    }
}

/// The errors after which accepting goes on at once.
fn is_passing(error: &io::Error) -> bool {
    !matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM | libc::EINVAL)
    )
}

fn cancelled() -> io::Error {
    io::Error::from_raw_os_error(libc::ECANCELED)
}

fn not_connected() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOTCONN)
}

fn explain(error: &io::Error, what: std::fmt::Arguments<'_>) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
