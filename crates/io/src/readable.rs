//! Waiting for input of many descriptors at once, for a thread that has no reactor.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Of each of them whether there is something to read, or its end; at latest after `limit`, if
/// there is one. A signal ends the wait early.
pub fn wait_for_input_of_any(
    descriptors: &[BorrowedFd<'_>],
    limit: Option<Duration>,
) -> io::Result<Vec<bool>> {
    let limit = limit.and_then(|it| Timespec::try_from(it).ok());
    let wanted = descriptors.iter().map(|it| PollFd::from_borrowed_fd(*it, PollFlags::IN));
    let mut wanted: Vec<PollFd<'_>> = wanted.collect();
    match poll(&mut wanted, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(wanted.iter().map(|it| !it.revents().is_empty()).collect())
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
