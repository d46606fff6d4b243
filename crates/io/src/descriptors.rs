//! Bytes and open files over a unix socket, for threads that may wait.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::socket_fd;

/// Room for the files of one message, at most 28, in words of the control data's alignment.
const CONTROL_WORDS: usize = 16;

/// Receives at least one byte, and the files that came with it. Zero is the end of the stream.
pub fn receive_files(
    stream: &UnixStream,
    into: &mut [u8],
    files: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let mut message = empty_message();
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    let length = loop {
        // SAFETY: the message names one buffer and one room for control data, both alive and ours.
        let result =
            unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match usize::try_from(result) {
            Ok(length) => break length,
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    };
    take_files(&message, files);
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message carries too many files"));
    }
    Ok(length)
}

/// The process at the other end.
#[must_use]
pub fn peer_process(stream: &UnixStream) -> Option<u32> {
    socket_fd::peer_process(stream.as_raw_fd()).ok().flatten()
}

fn take_files(message: &libc::msghdr, files: &mut Vec<OwnedFd>) {
    // SAFETY: the kernel filled the control data of the message.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: the kernel's header, or null.
    while let Some(control) = unsafe { header.as_ref() } {
        if control.cmsg_level == libc::SOL_SOCKET && control.cmsg_type == libc::SCM_RIGHTS {
            // SAFETY: no memory is touched.
            let head = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = control.cmsg_len.saturating_sub(head) / size_of::<RawFd>();
            // SAFETY: the header is followed by its data.
            let data = unsafe { libc::CMSG_DATA(header) };
            for index in 0..count {
                // SAFETY: so many descriptors lie there.
                let place = unsafe { data.cast::<RawFd>().add(index) };
                // SAFETY: as above; the place may not be aligned.
                let fd = unsafe { place.read_unaligned() };
                // SAFETY: the kernel made this descriptor for us with the message.
                files.push(unsafe { OwnedFd::from_raw_fd(fd) });
            }
        }
        // SAFETY: the message, and a header in its control data.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
}

/// Sends all bytes, the file with the first of them.
pub fn send_file(stream: &UnixStream, bytes: &[u8], file: Option<RawFd>) -> io::Result<()> {
    let mut file = file;
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut control = [0_u64; CONTROL_WORDS];
        let base = rest.as_ptr().cast_mut().cast();
        let mut part = libc::iovec { iov_base: base, iov_len: rest.len() };
        let mut message = empty_message();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if let Some(fd) = file {
            put_file(&mut message, &mut control, fd);
        }
        // SAFETY: the message names bytes that are only read, and control data of our own.
        let result =
            unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
        match usize::try_from(result) {
            Ok(sent) => {
                rest = &rest[sent..];
                file = None;
            }
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "the size of a descriptor")]
fn put_file(message: &mut libc::msghdr, control: &mut [u64; CONTROL_WORDS], fd: RawFd) {
    const BYTES: u32 = size_of::<RawFd>() as u32;
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: no memory is touched.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(BYTES) } as usize;
    // SAFETY: the control data has room for a header.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: no memory is touched.
    let length = unsafe { libc::CMSG_LEN(BYTES) } as usize;
    let head = libc::cmsghdr {
        cmsg_len: length,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    // SAFETY: the first header lies at the start of the control data, which is ours and aligned.
    unsafe { header.write(head) };
    // SAFETY: the header is followed by room for one descriptor.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: as above; the place may not be aligned.
    unsafe { data.cast::<RawFd>().write_unaligned(fd) };
}

fn empty_message() -> libc::msghdr {
    // SAFETY: a msghdr is pointers and numbers, for which zeroes are a value.
    unsafe { std::mem::MaybeUninit::zeroed().assume_init() }
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
        send_file(&ours, b"hello", Some(file.as_raw_fd())).unwrap();
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
