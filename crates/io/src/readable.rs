//! Waiting for input of many descriptors at once, for a thread that has no reactor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Of each of them whether there is something to read, or its end; at latest after `limit`, if
/// there is one. A signal ends the wait early.
pub fn wait_for_input_of_any(
    descriptors: &[BorrowedFd<'_>],
    limit: Option<Duration>,
) -> io::Result<Vec<bool>> {
    // Rounded up: else the last millisecond would be waited for without a rest.
    let limit_ms = limit.map_or(-1, |it| {
        libc::c_int::try_from(it.as_micros().div_ceil(1000)).unwrap_or(libc::c_int::MAX)
    });
    let wanted =
        |it: &BorrowedFd<'_>| libc::pollfd { fd: it.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut wanted: Vec<libc::pollfd> = descriptors.iter().map(wanted).collect();
    let count = libc::nfds_t::try_from(wanted.len()).map_err(io::Error::other)?;
    // SAFETY: the set has `count` valid entries, whose descriptors are open while they are
    // borrowed.
    if unsafe { libc::poll(wanted.as_mut_ptr(), count, limit_ms) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(wanted.iter().map(|it| it.revents != 0).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn those_with_input_or_at_their_end_are_told() {
        let [silent, talking, ended] = [(); 3].map(|()| UnixStream::pair().unwrap());
        (&talking.1).write_all(&[1]).unwrap();
        drop(ended.1);
        let all = [silent.0.as_fd(), talking.0.as_fd(), ended.0.as_fd()];
        assert_eq!(wait_for_input_of_any(&all, None).unwrap(), [false, true, true]);
        let before = crate::now();
        let limit = Duration::from_millis(5);
        assert_eq!(wait_for_input_of_any(&all[..1], Some(limit)).unwrap(), [false]);
        assert!(crate::now() >= before + limit);
    }
}
