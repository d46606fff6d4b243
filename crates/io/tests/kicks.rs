//! Eventfds that others signal, watched by a reactor of the real kernel.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use io::{
    BackendKind, BackendWish, Event, Eventfd, Options, Outlook, Reactor, Ringer, eventfd, now,
};

/// With the back end that the environment asks for: the same tests hold for both.
fn options() -> Options {
    Options { backend: BackendWish::from_environment().unwrap(), ..Options::default() }
}

/// Turns until a kick comes, for a minute at most, and gives its token.
fn kicked(reactor: &mut Reactor) -> u64 {
    let limit = now() + Duration::from_secs(60);
    let mut events = Vec::new();
    while events.is_empty() {
        reactor.turn(Some(limit), &mut events).unwrap();
        assert!(now() < limit, "nothing came for a minute");
    }
    let [Event::Kicked { token }] = events[..] else { panic!("{events:?}") };
    token
}

/// Whether a kick comes within a few turns that do not wait.
fn is_kicked(reactor: &mut Reactor) -> bool {
    let mut events = Vec::new();
    for _ in 0..10 {
        reactor.turn(Some(now() + Duration::from_millis(1)), &mut events).unwrap();
    }
    !events.is_empty()
}

/// The other process, which writes as it likes.
struct Bell(File);

impl Bell {
    fn ring(&self) {
        (&self.0).write_all(&1_u64.to_le_bytes()).unwrap();
    }
}

fn pair() -> (Eventfd, Bell) {
    let file = eventfd().unwrap();
    let bell = Bell(File::from(file.try_clone().unwrap()));
    (Eventfd::of(file).unwrap(), bell)
}

#[test]
fn each_signal_is_heard_though_nobody_reads_the_count() {
    let mut reactor = Reactor::new(options()).unwrap();
    let (ours, bell) = pair();
    bell.ring();
    let watch = reactor.watch_kicks(ours, 77);
    assert_eq!(kicked(&mut reactor), 77, "what came before the watch is heard");
    for _ in 0..100 {
        bell.ring();
        assert_eq!(kicked(&mut reactor), 77);
    }
    let far = thread::spawn(move || {
        bell.ring();
        bell
    });
    assert_eq!(kicked(&mut reactor), 77);
    let bell = far.join().unwrap();
    reactor.close_kicks(watch);
    bell.ring();
    assert!(!is_kicked(&mut reactor), "a closed watch tells nothing");
    reactor.close_kicks(watch);
}

#[test]
fn closed_watch_does_not_end_the_one_in_its_place() {
    let mut reactor = Reactor::new(options()).unwrap();
    let (first, _) = pair();
    let old = reactor.watch_kicks(first, 1);
    reactor.close_kicks(old);
    assert!(!is_kicked(&mut reactor));
    let (second, bell) = pair();
    reactor.watch_kicks(second, 2);
    reactor.close_kicks(old);
    bell.ring();
    assert_eq!(kicked(&mut reactor), 2);
}

/// The look is longer than the kick takes, so that it ends by the kick and not by a sleep.
#[test]
fn what_is_expected_is_looked_for_before_a_sleep_and_nothing_else_is() {
    let spin = Duration::from_secs(20);
    let mut reactor = Reactor::new(Options { spin, ..options() }).unwrap();
    let (ours, bell) = pair();
    reactor.watch_kicks(ours, 3);
    let kick_later = |reactor: &mut Reactor| {
        thread::scope(|scope| {
            // It comes when the reactor has begun to look, or to sleep.
            let (_silent, nothing) = mpsc::channel::<()>();
            let bell = &bell;
            scope.spawn(move || {
                nothing.recv_timeout(Duration::from_millis(20)).unwrap_err();
                bell.ring();
            });
            assert_eq!(kicked(reactor), 3);
        });
    };
    for _ in 0..40 {
        kick_later(&mut reactor);
    }
    assert_eq!(reactor.counters().spins, 0, "nothing was expected");
    reactor.expect(Outlook::Request);
    for _ in 0..40 {
        kick_later(&mut reactor);
    }
    let counters = reactor.counters();
    match reactor.backend() {
        BackendKind::IoUring => assert!(counters.spins_lucky > 0, "{counters:?}"),
        BackendKind::Poll => assert_eq!(counters.spins, 0, "{counters:?}"),
    }
    assert_eq!(counters.spins, counters.spins_lucky, "each look found its kick");
}

/// It was seen at the end of the look only.
#[test]
fn a_wake_ends_a_look() {
    let spin = Duration::from_secs(5);
    let mut reactor = Reactor::new(Options { spin, ..options() }).unwrap();
    let waker = reactor.waker();
    reactor.expect(Outlook::Answer);
    let begun = now();
    // One of so many is a look, though none of them found anything.
    for _ in 0..40 {
        waker.wake();
        reactor.turn(Some(now() + 4 * spin), &mut Vec::new()).unwrap();
    }
    assert!(now().since(begun) < spin, "{:?}", now().since(begun));
    let counters = reactor.counters();
    assert_eq!(
        (counters.spins > 0, counters.waits),
        (reactor.backend() == BackendKind::IoUring, 0)
    );
}

/// The second one never comes: a reactor that waits for it would tell nothing for a minute.
#[test]
fn what_is_slept_for_together_is_told_alone_where_the_rest_is_late() {
    let mut reactor = Reactor::new(options()).unwrap();
    let (ours, bell) = pair();
    reactor.watch_kicks(ours, 4);
    reactor.sleep_for(2);
    for round in 0..200 {
        // Also where the alarm that ends such a wait goes off between two of them.
        let pause = now() + Duration::from_micros(11 * round);
        let mut events = Vec::new();
        while now() < pause {
            reactor.turn(Some(pause), &mut events).unwrap();
        }
        assert!(events.is_empty(), "{events:?} before the bell rang");
        bell.ring();
        let asked = now();
        assert_eq!(kicked(&mut reactor), 4);
        let waited = now().since(asked);
        assert!(waited < Duration::from_secs(2), "round {round}: {waited:?}");
    }
}

#[test]
fn each_signal_is_counted_and_heard() {
    let (eventfd, bell) = pair();
    let mut reactor = Reactor::new(options()).unwrap();
    let mut ringer = Ringer::new().unwrap();
    reactor.watch_kicks(eventfd.try_clone().unwrap(), 5);
    // Far more than a context has room for.
    for _ in 0..1000 {
        ringer.ring(&eventfd).unwrap();
        assert_eq!(kicked(&mut reactor), 5);
    }
    let mut count = [0; 8];
    (&bell.0).read_exact(&mut count).unwrap();
    assert_eq!(u64::from_le_bytes(count), 1000);
}

/// The flag that says whether a write waits is the other side's as well, and it may take it back.
#[test]
fn full_eventfd_makes_nobody_wait() {
    let (eventfd, Bell(other)) = pair();
    UnixStream::from(OwnedFd::from(other.try_clone().unwrap())).set_nonblocking(false).unwrap();
    (&other).write_all(&(u64::MAX - 1).to_le_bytes()).unwrap();
    let (done, rung) = mpsc::channel();
    thread::spawn(move || {
        let mut ringer = Ringer::new().unwrap();
        for _ in 0..100 {
            ringer.ring(&eventfd).unwrap();
        }
        done.send(()).unwrap();
    });
    rung.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut count = [0; 8];
    (&other).read_exact(&mut count).unwrap();
    assert_eq!(u64::from_le_bytes(count), u64::MAX, "it is as full as can be");
}

#[test]
fn other_files_are_no_eventfds() {
    let (one, other) = UnixStream::pair().unwrap();
    for file in [File::open("/dev/null").unwrap().into(), one.into(), other.into()] {
        Eventfd::of(file).unwrap_err();
    }
    let named = std::env::temp_dir().join(format!("basalt-kicks-{}", io::random_u64()));
    std::fs::create_dir(&named).unwrap();
    let named = named.join("anon_inode:[eventfd]");
    Eventfd::of(File::create(&named).unwrap().into()).unwrap_err();
    std::fs::remove_dir_all(named.parent().unwrap()).unwrap();
}
