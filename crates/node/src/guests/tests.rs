//! Monitors that come to the socket of a volume, and what they do before they ask.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use engine::clients::vhost::{GuestOrder, Line, Vhost};
use engine::contract::ToShard;
use engine::kit::Kit;
use io::mailbox::{Mailbox, Receiver};
use io::{Parker, Reactor};
use stdx::time::Time;
use tempfile::TempDir;

use super::*;
use crate::limits::GUESTS_ARRIVING_MAX;

/// The features of the device are asked for, as monitors begin.
const QUESTION: [u8; 12] = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];

/// The socket of a volume, of a node with one shard, and the mailbox of that.
struct House {
    socket: Arc<Socket>,
    mailbox: Receiver<ToShard>,
    _folder: TempDir,
}

impl House {
    fn open() -> Self {
        let parker = Parker::new().unwrap();
        let (sender, mailbox) = Mailbox::channel(64, parker.waker());
        let desk = Arc::new(Desk::new(vec![Mutex::new(sender)]));
        let folder = tempfile::tempdir().unwrap();
        let guests = Guests::new(desk, Some(folder.path().to_owned()));
        let path = folder.path().join("r0-0.sock");
        let socket = guests.listen(("r0", Place::FIRST), &path).unwrap();
        Self { socket, mailbox, _folder: folder }
    }

    fn come(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Refuses the session that wants to be served next, once it does.
    fn refuse_next(&mut self) {
        let line = self.next_order(|order| {
            let GuestOrder::Open { line, .. } = order else { return None };
            Some(line)
        });
        line.refuse("it was asked");
        let line = self.next_order(|order| {
            let GuestOrder::Close { line } = order else { return None };
            Some(line)
        });
        Vhost::new().close(&line, &mut kit());
    }

    fn next_order(&mut self, is_meant: impl Fn(GuestOrder) -> Option<Line>) -> Line {
        let until = ::io::now() + Duration::from_secs(60);
        loop {
            if let Some(ToShard::Guest(order)) = self.mailbox.pop() {
                return is_meant(order).expect("what a session says first, or last");
            }
            assert!(::io::now() < until, "nobody wants to be served");
            thread::yield_now();
        }
    }
}

/// What a data thread has of buffers, on a node with one.
fn kit() -> Kit {
    Kit::new(Reactor::new(::io::Options::default()).unwrap(), 0, Time::ZERO)
}

/// The ring of this thread may interrupt a read that has a deadline.
fn is_over(mut stream: &UnixStream) -> bool {
    loop {
        match stream.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return matches!(other, Ok(0)),
        }
    }
}

/// One that connected and said nothing, or half of a message, was served: the next one waited for
/// as long as it liked.
#[test]
fn monitor_that_asks_is_served_before_those_that_do_not() {
    let mut house = House::open();
    let silent = house.come();
    let mut half = house.come();
    half.write_all(&QUESTION[..5]).unwrap();
    let mut asks = house.come();
    asks.write_all(&QUESTION).unwrap();
    house.refuse_next();
    assert!(is_over(&asks));
    // It is whole now, and is served as well, with what it said before.
    half.write_all(&QUESTION[5..]).unwrap();
    house.refuse_next();
    assert!(is_over(&half));
    house.socket.end();
    assert!(is_over(&silent), "nobody waits at a socket that is gone");
}

#[test]
fn silent_monitors_are_so_many_and_the_one_that_came_first_gives_way() {
    let mut house = House::open();
    let silent: Vec<_> = (0..=GUESTS_ARRIVING_MAX).map(|_| house.come()).collect();
    assert!(is_over(&silent[0]));
    let mut last = &silent[GUESTS_ARRIVING_MAX];
    last.write_all(&QUESTION).unwrap();
    house.refuse_next();
    assert!(is_over(last));
    // Those in between are there yet.
    let mut second = &silent[1];
    second.write_all(&QUESTION).unwrap();
    house.refuse_next();
    house.socket.end();
}
