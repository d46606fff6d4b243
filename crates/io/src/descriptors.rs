//! Bytes and open files over a unix socket, for threads that may wait.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::socket_fd;

/// Of one message at least; one or two more fit where no room goes to alignment.
const FILES_MAX: usize = 28;
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(FILES_MAX));

/// Receives at least one byte, and the files that came with it. Zero is the end of the stream.
pub fn receive_files(
    stream: &UnixStream,
    into: &mut [u8],
    files: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut room = [MaybeUninit::uninit(); CONTROL_BYTES];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut parts = [IoSliceMut::new(into)];
    let message = loop {
        match recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            result => break result?,
        }
    };
    for told in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = told {
            files.extend(sent);
        }
    }
    if message.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message carries too many files"));
    }
    Ok(message.bytes)
}

/// The process at the other end.
#[must_use]
pub fn peer_process(stream: &UnixStream) -> Option<u32> {
    socket_fd::peer_process(stream.as_fd()).ok().flatten()
}

/// Sends all bytes, the file with the first of them.
pub fn send_file(
    stream: &UnixStream,
    bytes: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut file = file;
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        if let Some(file) = &file {
            let is_taken =
                control.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(file)));
            assert!(is_taken, "there is room for one file");
        }
        match sendmsg(stream, &[IoSlice::new(rest)], &mut control, SendFlags::NOSIGNAL) {
            Ok(sent) => {
                rest = &rest[sent..];
                file = None;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn file_arrives_with_its_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut file = crate::memory_file(16).unwrap();
        file.write_all(b"shared").unwrap();
        send_file(&ours, b"hello", Some(file.as_fd())).unwrap();
        send_file(&ours, b"!", None).unwrap();
        let (mut bytes, mut files) = ([0; 5], Vec::new());
        assert_eq!(receive_files(&theirs, &mut bytes, &mut files).unwrap(), 5);
        assert_eq!((&bytes, files.len()), (b"hello", 1));
        let mut got = File::from(files.remove(0));
        got.rewind().unwrap();
        let mut content = [0; 6];
        got.read_exact(&mut content).unwrap();
        assert_eq!(&content, b"shared");
        assert_eq!(receive_files(&theirs, &mut bytes, &mut files).unwrap(), 1);
        assert!(files.is_empty());
        drop(ours);
        assert_eq!(receive_files(&theirs, &mut bytes, &mut files).unwrap(), 0);
    }
}
