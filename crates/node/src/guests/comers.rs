//! Monitors that have connected and not asked anything yet.
//!
//! One with a volume that nobody uses so far may be silent for long: that is no fault, and costs a
//! descriptor. It is served from its first whole message on, so it keeps nobody waiting until then,
//! and does not make this node Primary.

use std::cell::RefCell;
use std::io::{Result, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use frontend::vhost::wire::{HEADER_BYTES, Header, PAYLOAD_BYTES_MAX};
use io::descriptors::receive_files;

use crate::arrivals::{Bounds, End, Listening};
use crate::limits::{GUEST_FILES_MAX, GUESTS_ARRIVING_MAX};

pub(super) const BOUNDS: Bounds = Bounds {
    connections: GUESTS_ARRIVING_MAX,
    bytes: GUESTS_ARRIVING_MAX * MESSAGE_BYTES_MAX,
    request_bytes: MESSAGE_BYTES_MAX,
    deadline: None,
    end: End::Missing(missing),
};

const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + PAYLOAD_BYTES_MAX;

/// The socket of a volume.
#[derive(Debug)]
pub(super) struct Door(pub(super) UnixListener);

/// One that came, with the files that it sent along.
#[derive(Debug)]
pub(super) struct Comer {
    stream: UnixStream,
    files: RefCell<Vec<OwnedFd>>,
}

/// The first message of a monitor, as far as its session has not taken it.
#[derive(Debug, Default)]
pub(super) struct First {
    said: Vec<u8>,
    taken: usize,
    files: Vec<OwnedFd>,
}

impl Comer {
    /// The stream, which waits from here on, and what it said.
    pub(super) fn into_session(self, said: Vec<u8>) -> Result<(UnixStream, First)> {
        self.stream.set_nonblocking(false)?;
        Ok((self.stream, First { said, taken: 0, files: self.files.into_inner() }))
    }
}

impl First {
    /// As much as is left of it and fits, and its files with the first of that.
    pub(super) fn take(&mut self, into: &mut [u8], files: &mut Vec<OwnedFd>) -> usize {
        let rest = &self.said[self.taken..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        files.append(&mut self.files);
        length
    }
}

/// How much of a message is to come. Something that is none is whole: its session refuses it.
fn missing(said: &[u8]) -> usize {
    let Some(header) = said.first_chunk() else { return HEADER_BYTES - said.len() };
    let size = Header::decode(header).map_or(0, |header| header.size);
    (HEADER_BYTES + size).saturating_sub(said.len())
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for Comer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Listening for Door {
    type Stream = Comer;

    fn wait_for_nothing(&self) -> Result<()> {
        self.0.set_nonblocking(true)
    }

    fn accept_waiting(&self) -> Result<Comer> {
        let (stream, _) = self.0.accept()?;
        stream.set_nonblocking(true)?;
        Ok(Comer { stream, files: RefCell::default() })
    }

    fn read(comer: &Comer, bytes: &mut [u8]) -> Result<usize> {
        let mut files = comer.files.borrow_mut();
        // Every byte can bring some, and the daemon has only so many. Its session says so.
        if files.len() > GUEST_FILES_MAX {
            return Ok(0);
        }
        receive_files(&comer.stream, bytes, &mut files)
    }

    fn write(comer: &Comer, bytes: &[u8]) -> Result<usize> {
        (&comer.stream).write(bytes)
    }
}
