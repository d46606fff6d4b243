//! Connections that cannot be accepted, where a thread waits for them.
//!
//! Out of files, say, the kernel refuses at once, and keeps the connection for the next attempt:
//! without a rest such a thread takes a core and fills the log for as long as that lasts. It rests
//! after each error, and says it once until one is accepted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use engine::log::{Scope, log};

use crate::limits::ACCEPT_REST;

#[derive(Debug)]
pub(crate) struct Accepting<'a> {
    scope: Scope<'a>,
    /// Who connects.
    who: &'static str,
    is_failing: bool,
}

impl<'a> Accepting<'a> {
    pub(crate) fn new(scope: Scope<'a>, who: &'static str) -> Self {
        Self { scope, who, is_failing: false }
    }

    /// The connection; none, after a rest, where there is an error.
    pub(crate) fn take<S>(&mut self, accepted: io::Result<S>) -> Option<S> {
        let stream = self.note(accepted);
        if stream.is_none() {
            let until = ::io::now() + ACCEPT_REST;
            while ::io::now() < until {
                thread::park_timeout(until.since(::io::now()));
            }
        }
        stream
    }

    /// The connection; none where there is an error, after which the caller rests.
    pub(crate) fn note<S>(&mut self, accepted: io::Result<S>) -> Option<S> {
        let was_failing = std::mem::replace(&mut self.is_failing, accepted.is_err());
        let error = match accepted {
            Ok(stream) => return Some(stream),
            Err(error) => error,
        };
        if !was_failing {
            log!(
                Warning,
                self.scope,
                "{} was not accepted, which is tried again until it works: {error}",
                self.who
            );
        }
        None
    }
}

/// How many of those that were accepted are served at a time, each by a thread of its own.
#[derive(Debug)]
pub(crate) struct Served {
    count: Arc<AtomicUsize>,
    most: usize,
}

/// The place of one that is served, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    count: Arc<AtomicUsize>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Served {
    pub(crate) fn up_to(most: usize) -> Self {
        Self { count: Arc::default(), most }
    }

    /// A place, unless as many are served as may be.
    pub(crate) fn take(&self) -> Option<Place> {
        let is_free = self.count.fetch_add(1, Ordering::Relaxed) < self.most;
        let place = Place { count: Arc::clone(&self.count) };
        is_free.then_some(place)
    }

    /// Has a new thread do the work with a place, and gives the connection back where there is
    /// none. Where no thread can be started it ends.
    pub(crate) fn start<S: Send + 'static>(
        &self,
        name: &str,
        stream: S,
        work: impl FnOnce(&S, Place) + Send + 'static,
    ) -> Option<S> {
        let Some(place) = self.take() else { return Some(stream) };
        let work = move || work(&stream, place);
        drop(thread::Builder::new().name(name.to_owned()).spawn(work));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops asked again at once, and wrote a line each time.
    #[test]
    fn error_is_followed_by_a_rest_and_said_once() {
        let out_of_files = || io::Result::<()>::Err(io::Error::from_raw_os_error(libc::EMFILE));
        let mut accepting = Accepting::new(Scope::NODE, "a test");
        let began_at = ::io::now();
        for _ in 0..2 {
            assert!(accepting.take(out_of_files()).is_none());
            assert!(accepting.is_failing, "no further line");
        }
        assert!(::io::now() >= began_at + ACCEPT_REST * 2);
        assert!(accepting.take(Ok(())).is_some());
        assert!(!accepting.is_failing, "the next one is said");
    }
}
