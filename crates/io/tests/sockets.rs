//! Streams and listeners of a reactor against the real kernel.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests fail by panicking")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use io::{
    BackendKind, BackendWish, Class, Congestion, CongestionWish, Event, ListenAddr, Mailbox,
    Options, Parker, Reactor, SEGMENTS_MAX, Slice, SocketBuffers, SocketId, now,
};
use stdx::time::Time;

/// With the back end that the environment asks for: the same tests hold for both.
fn options() -> Options {
    Options { backend: BackendWish::from_environment().unwrap(), ..Options::default() }
}

fn reactor() -> Reactor {
    Reactor::new(options()).unwrap()
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Turns until `select` has found what it wants. A minute without is a failure.
fn wait_for<T>(reactor: &mut Reactor, mut select: impl FnMut(Event) -> Option<T>) -> T {
    let limit = now() + Duration::from_secs(60);
    let mut events = Vec::new();
    loop {
        reactor.turn(Some(limit), &mut events).unwrap();
        assert!(now() < limit, "nothing came for a minute");
        let mut found = None;
        for event in events.drain(..) {
            let selected = select(event);
            assert!(found.is_none() || selected.is_none(), "one was expected");
            found = found.or(selected);
        }
        if let Some(found) = found {
            return found;
        }
    }
}

fn accepted(reactor: &mut Reactor) -> SocketId {
    wait_for(reactor, |event| match event {
        Event::Accepted { socket, .. } => Some(socket),
        other => panic!("{other:?}"),
    })
}

fn received(reactor: &mut Reactor) -> std::io::Result<u32> {
    wait_for(reactor, |event| match event {
        Event::Received { result, .. } => Some(result),
        other => panic!("{other:?}"),
    })
}

fn sent(reactor: &mut Reactor) -> std::io::Result<u32> {
    wait_for(reactor, |event| match event {
        Event::Sent { result, .. } => Some(result),
        other => panic!("{other:?}"),
    })
}

/// A path that no other test uses.
fn socket_path(name: &str) -> PathBuf {
    let unique = io::random_u64();
    std::env::temp_dir().join(format!("io-test-{name}-{unique:x}.sock"))
}

/// Two connected sockets, one in the reactor and one outside.
fn pair(reactor: &mut Reactor) -> (SocketId, UnixStream) {
    let (inside, outside) = UnixStream::pair().unwrap();
    (reactor.adopt(inside.into()).unwrap(), outside)
}

/// The kernel doubles what it is asked for, for its own book-keeping.
#[test]
fn the_sizes_of_buffers_are_those_that_were_asked_for() {
    let mut reactor = reactor();
    let (socket, _other) = pair(&mut reactor);
    let before = reactor.buffers(socket).unwrap();
    let wanted = SocketBuffers { send_bytes: Some(32 << 10), receive_bytes: None };
    reactor.set_buffers(socket, wanted).unwrap();
    let now = reactor.buffers(socket).unwrap();
    assert_eq!(now, SocketBuffers { send_bytes: Some(64 << 10), ..before });
    let wanted = SocketBuffers { send_bytes: None, receive_bytes: Some(48 << 10) };
    reactor.set_buffers(socket, wanted).unwrap();
    let both = SocketBuffers { receive_bytes: Some(96 << 10), ..now };
    assert_eq!(reactor.buffers(socket), Some(both));
}

/// Echoes whatever comes, in as many segments as a send can take, until the stream ends.
fn echo(reactor: &mut Reactor, socket: SocketId) -> u64 {
    let buffer = reactor.pool().take(Class::Large).unwrap();
    let whole = reactor.pool().whole(buffer);
    let mut total = 0;
    reactor.recv(socket, whole, 1);
    loop {
        let count = received(reactor).unwrap();
        if count == 0 {
            break;
        }
        total += u64::from(count);
        let pieces = u32::try_from(SEGMENTS_MAX).unwrap().min(count);
        let segments: Vec<Slice> = (0..pieces)
            .map(|piece| {
                let start = u64::from(count) * u64::from(piece) / u64::from(pieces);
                let end = u64::from(count) * u64::from(piece + 1) / u64::from(pieces);
                whole.part(start.try_into().unwrap(), (end - start).try_into().unwrap())
            })
            .collect();
        reactor.send(socket, &segments, 2);
        assert_eq!(sent(reactor).unwrap(), count);
        reactor.recv(socket, whole, 1);
    }
    reactor.pool().release(buffer);
    total
}

/// Writes a pattern from one thread while reading it back in this one.
fn exchange(mut writer: impl Write + Send, mut reader: impl Read, end: impl FnOnce() + Send) {
    const TOTAL: usize = 8 << 20;
    let byte = |index: usize| u8::try_from(index * 7 % 251).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let bytes: Vec<u8> = (0..TOTAL).map(byte).collect();
            writer.write_all(&bytes).unwrap();
            end();
        });
        let mut back = Vec::new();
        reader.read_to_end(&mut back).unwrap();
        assert_eq!(back.len(), TOTAL);
        assert!(back.iter().enumerate().all(|(index, value)| *value == byte(index)));
    });
}

#[test]
fn tcp_stream_is_echoed_whole() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 7).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let client = thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        let (writer, end) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
        exchange(writer, stream, move || end.shutdown(Shutdown::Write).unwrap());
    });
    let socket = accepted(&mut reactor);
    assert!(reactor.peer_addr(socket).is_some());
    assert_eq!(reactor.local_addr(socket), Some(address));
    assert_eq!(echo(&mut reactor, socket), 8 << 20);
    reactor.close(socket);
    client.join().unwrap();
    assert_eq!(reactor.pool_ref().in_use(), 0);
    let counters = reactor.counters();
    assert_eq!(counters.send_bytes, 8 << 20);
    assert_eq!(counters.recv_bytes, 8 << 20);
    let most = match reactor.backend() {
        BackendKind::IoUring => counters.turns + 4,
        // A wait per turn, and a call per send and receive that may find the socket not ready.
        BackendKind::Poll => counters.turns + 2 * (counters.sends + counters.recvs) + 8,
    };
    assert!(counters.enters <= most, "at most {most} syscalls: {counters:?}");
}

#[test]
fn unix_stream_is_echoed_whole() {
    let mut reactor = reactor();
    let path = socket_path("echo");
    let listener = reactor.listen(ListenAddr::Unix(path.clone()), 7).unwrap();
    let address = path.clone();
    let client = thread::spawn(move || {
        let stream = UnixStream::connect(address).unwrap();
        let (writer, end) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
        exchange(writer, stream, move || end.shutdown(Shutdown::Write).unwrap());
    });
    let socket = accepted(&mut reactor);
    assert_eq!(echo(&mut reactor, socket), 8 << 20);
    reactor.close(socket);
    client.join().unwrap();
    reactor.close(listener);
    assert!(!path.exists(), "a listener removes its file");
}

#[test]
fn accepted_socket_sends_at_once() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 7).unwrap();
    let _client = TcpStream::connect(reactor.local_addr(listener).unwrap()).unwrap();
    let socket = accepted(&mut reactor);
    let stream = TcpStream::from(reactor.give_up(socket).unwrap());
    assert!(stream.nodelay().unwrap());
}

#[test]
fn connections_both_ways_have_the_congestion_control_that_was_chosen() {
    let system = CongestionWish::System.choose().unwrap().system;
    let named = |name: &str| CongestionWish::from(name).choose().unwrap().chosen.unwrap();
    let chosen = if system == named("reno") { named("cubic") } else { named("reno") };
    let mut reactor = Reactor::new(Options { congestion: Some(chosen), ..options() }).unwrap();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let ours = reactor.connect(None, address, 2).unwrap();
    let (mut theirs, mut is_connected) = (None, false);
    wait_for(&mut reactor, |event| {
        match event {
            Event::Accepted { socket, .. } => theirs = Some(socket),
            Event::Connected { result, .. } => is_connected = result.is_ok(),
            other => panic!("{other:?}"),
        }
        (theirs.is_some() && is_connected).then_some(())
    });
    for socket in [ours, theirs.unwrap()] {
        let socket = reactor.give_up(socket).unwrap();
        assert_eq!(Congestion::of(&socket).unwrap(), chosen, "the system has {system}");
    }
}

#[test]
fn many_connections_come_from_one_listen() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 42).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let clients: Vec<_> = (0..50).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut sockets = Vec::new();
    let mut events = Vec::new();
    while sockets.len() < clients.len() {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        for event in events.drain(..) {
            let Event::Accepted { token: 42, listener: from, socket } = event else {
                panic!("{event:?}");
            };
            assert_eq!(from, listener);
            assert!(!sockets.contains(&socket));
            sockets.push(socket);
        }
    }
}

#[test]
fn full_table_of_files_refuses_a_connection_and_accepts_again_later() {
    let mut reactor = Reactor::new(Options { files_max: 2, ..options() }).unwrap();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let _first = TcpStream::connect(address).unwrap();
    let socket = accepted(&mut reactor);
    let mut second = TcpStream::connect(address).unwrap();
    let error = wait_for(&mut reactor, |event| match event {
        Event::AcceptFailed { error, token: 1, .. } => Some(error),
        other => panic!("{other:?}"),
    });
    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    assert_eq!(second.read(&mut [0]).unwrap_or(0), 0, "it was closed");
    reactor.close(socket);
    let _third = TcpStream::connect(address).unwrap();
    let later = accepted(&mut reactor);
    assert_ne!(later, socket, "the place is the same, the generation is not");
}

#[test]
fn connect_reaches_a_listener_from_the_address_asked_for() {
    let mut reactor = reactor();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = listener.local_addr().unwrap();
    let local = "127.0.0.2:0".parse().unwrap();
    let socket = reactor.connect(Some(local), remote, 9).unwrap();
    wait_for(&mut reactor, |event| match event {
        Event::Connected { token: 9, socket: connected, result } => {
            assert_eq!(connected, socket);
            result.unwrap();
            Some(())
        }
        other => panic!("{other:?}"),
    });
    let (_stream, peer) = listener.accept().unwrap();
    assert_eq!(peer.ip().to_string(), "127.0.0.2");
    assert_eq!(reactor.local_addr(socket), Some(peer));
    assert_eq!(reactor.peer_addr(socket), Some(remote));
}

#[test]
fn connect_to_nobody_fails_and_the_socket_can_be_closed() {
    let mut reactor = reactor();
    let remote = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let socket = reactor.connect(None, remote, 9).unwrap();
    let error = wait_for(&mut reactor, |event| match event {
        Event::Connected { result, .. } => Some(result.unwrap_err()),
        other => panic!("{other:?}"),
    });
    assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
    reactor.close(socket);

    let path = socket_path("nobody");
    let socket = reactor.connect_unix(&path, 9).unwrap();
    let error = wait_for(&mut reactor, |event| match event {
        Event::Connected { result, .. } => Some(result.unwrap_err()),
        other => panic!("{other:?}"),
    });
    assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    reactor.close(socket);
}

#[test]
fn unix_sockets_connect() {
    let mut reactor = reactor();
    let path = socket_path("connect");
    reactor.listen(ListenAddr::Unix(path.clone()), 1).unwrap();
    reactor.connect_unix(&path, 2).unwrap();
    let (mut is_accepted, mut is_connected) = (false, false);
    let mut events = Vec::new();
    while !is_accepted || !is_connected {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        for event in events.drain(..) {
            match event {
                Event::Accepted { token: 1, .. } => is_accepted = true,
                Event::Connected { token: 2, result, .. } => {
                    result.unwrap();
                    is_connected = true;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn stale_unix_socket_is_replaced_and_a_used_one_is_not() {
    let mut reactor = reactor();
    let path = socket_path("stale");
    drop(UnixListener::bind(&path).unwrap());
    assert!(fs::metadata(&path).unwrap().file_type().is_socket(), "the file outlives its process");
    let listener = reactor.listen(ListenAddr::Unix(path.clone()), 1).unwrap();
    let error = reactor.listen(ListenAddr::Unix(path.clone()), 2).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains("another process listens"), "{error}");
    reactor.close(listener);
    fs::write(&path, "precious").unwrap();
    let error = reactor.listen(ListenAddr::Unix(path.clone()), 3).unwrap_err();
    assert!(error.to_string().contains("is no socket"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    fs::remove_file(&path).unwrap();
}

#[test]
fn listener_leaves_the_file_of_its_successor() {
    let mut reactor = reactor();
    let path = socket_path("successor");
    let listener = reactor.listen(ListenAddr::Unix(path.clone()), 1).unwrap();
    fs::remove_file(&path).unwrap();
    let _successor = UnixListener::bind(&path).unwrap();
    reactor.close(listener);
    assert!(path.exists());
    fs::remove_file(&path).unwrap();
}

#[test]
fn used_tcp_port_is_refused_by_name() {
    let mut reactor = reactor();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let error = reactor.listen(ListenAddr::Tcp(address), 1).unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn close_answers_what_is_outstanding_and_frees_its_buffers() {
    let mut reactor = reactor();
    let (socket, _outside) = pair(&mut reactor);
    let into = reactor.pool().take_for(4096).unwrap();
    let from = reactor.pool().take_for(1 << 20).unwrap();
    reactor.recv(socket, into, 1);
    // Nobody reads, so this cannot all go out.
    reactor.send(socket, &[from], 2);
    let mut events = Vec::new();
    reactor.turn(None, &mut events).unwrap();
    assert!(events.is_empty(), "{events:?}");
    reactor.close(socket);
    reactor.pool().release(into.buffer);
    reactor.pool().release(from.buffer);
    let mut answered = Vec::new();
    while answered.len() < 2 {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        for event in events.drain(..) {
            match event {
                Event::Received { token, result, .. } | Event::Sent { token, result, .. } => {
                    assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::ECANCELED));
                    answered.push(token);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2]);
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn close_in_the_turn_of_the_request_answers_it_too() {
    let mut reactor = reactor();
    for _ in 0..100 {
        let (socket, mut outside) = pair(&mut reactor);
        let into = reactor.pool().take_for(4096).unwrap();
        reactor.recv(socket, into, 1);
        reactor.close(socket);
        assert_eq!(received(&mut reactor).unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        reactor.pool().release(into.buffer);
        assert_eq!(outside.read(&mut [0]).unwrap(), 0, "the descriptor is closed");
    }
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn close_ends_a_connect_under_way() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let socket = reactor.connect(None, address, 2).unwrap();
    reactor.close(socket);
    let error = wait_for(&mut reactor, |event| match event {
        Event::Connected { token: 2, result, .. } => Some(result.unwrap_err()),
        Event::Accepted { .. } => None,
        other => panic!("{other:?}"),
    });
    assert_eq!(error.raw_os_error(), Some(libc::ECANCELED));
}

#[test]
fn closed_listener_accepts_nobody() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let mut events = Vec::new();
    reactor.turn(None, &mut events).unwrap();
    reactor.close(listener);
    for _ in 0..10 {
        reactor.turn(Some(now() + Duration::from_millis(1)), &mut events).unwrap();
    }
    assert!(events.is_empty(), "{events:?}");
    TcpStream::connect(address).unwrap_err();
    assert_eq!(reactor.local_addr(listener), None);
}

#[test]
fn closed_socket_answers_that_it_is_not_connected() {
    let mut reactor = reactor();
    let (socket, _outside) = pair(&mut reactor);
    reactor.close(socket);
    reactor.close(socket);
    let (_reuses_the_place, _outside) = pair(&mut reactor);
    let slice = reactor.pool().take_for(100).unwrap();
    reactor.recv(socket, slice, 1);
    assert_eq!(received(&mut reactor).unwrap_err().raw_os_error(), Some(libc::ENOTCONN));
    reactor.send(socket, &[slice], 1);
    assert_eq!(sent(&mut reactor).unwrap_err().raw_os_error(), Some(libc::ENOTCONN));
    reactor.pool().release(slice.buffer);
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn send_to_a_peer_that_goes_away_fails_and_frees_its_buffers() {
    let mut reactor = reactor();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (inside, _) = listener.accept().unwrap();
    let socket = reactor.adopt(inside.into()).unwrap();
    let slices: Vec<Slice> = (0..16).map(|_| reactor.pool().take_for(1 << 20).unwrap()).collect();
    reactor.send(socket, &slices, 5);
    let mut events = Vec::new();
    reactor.turn(None, &mut events).unwrap();
    assert!(events.is_empty(), "{events:?}");
    drop(outside);
    let error = sent(&mut reactor).unwrap_err();
    assert!(matches!(error.raw_os_error(), Some(libc::EPIPE | libc::ECONNRESET)), "{error}");
    for slice in slices {
        reactor.pool().release(slice.buffer);
    }
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn buffer_lives_until_the_send_is_done() {
    let mut reactor = reactor();
    let (socket, mut outside) = pair(&mut reactor);
    let from = reactor.pool().take_for(1 << 20).unwrap();
    reactor.pool().bytes_mut(from).fill(3);
    reactor.send(socket, &[from], 1);
    reactor.pool().release(from.buffer);
    assert_eq!(reactor.pool_ref().in_use(), 1);
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; 1 << 20];
        outside.read_exact(&mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 3));
    });
    assert_eq!(sent(&mut reactor).unwrap(), 1 << 20);
    assert_eq!(reactor.pool_ref().in_use(), 0);
    reader.join().unwrap();
}

#[test]
#[should_panic(expected = "receive outstanding")]
fn second_receive_asserts() {
    let mut reactor = reactor();
    let (socket, _outside) = pair(&mut reactor);
    let first = reactor.pool().take_for(100).unwrap();
    let second = reactor.pool().take_for(100).unwrap();
    reactor.recv(socket, first, 1);
    reactor.recv(socket, second, 2);
}

#[test]
#[should_panic(expected = "kernel is filling")]
fn looking_at_a_receive_asserts() {
    let mut reactor = reactor();
    let (socket, _outside) = pair(&mut reactor);
    let into = reactor.pool().take_for(100).unwrap();
    reactor.recv(socket, into, 1);
    let _bytes = reactor.pool_ref().bytes(into);
}

#[test]
fn dropped_reactor_has_closed_everything() {
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let (socket, mut outside) = pair(&mut reactor);
    let (unsubmitted, mut other) = pair(&mut reactor);
    let into = reactor.pool().take_for(100).unwrap();
    reactor.recv(socket, into, 1);
    reactor.turn(Some(now() + Duration::from_millis(1)), &mut Vec::new()).unwrap();
    let into = reactor.pool().take_for(100).unwrap();
    reactor.recv(unsubmitted, into, 1);
    drop(reactor);
    assert_eq!(outside.read(&mut [0]).unwrap(), 0);
    assert_eq!(other.read(&mut [0]).unwrap(), 0);
    TcpStream::connect(address).unwrap_err();
}

#[test]
fn socket_moves_from_one_reactor_to_another() {
    let mut first = reactor();
    let (socket, mut outside) = pair(&mut first);
    let descriptor = first.give_up(socket).unwrap();
    let mover = thread::spawn(move || {
        let mut second = reactor();
        let socket = second.adopt(descriptor).unwrap();
        let slice = second.pool().take_for(5).unwrap();
        second.pool().bytes_mut(slice).copy_from_slice(b"moved");
        second.send(socket, &[slice], 1);
        assert_eq!(sent(&mut second).unwrap(), 5);
    });
    let mut bytes = [0; 5];
    outside.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"moved");
    mover.join().unwrap();
    first.give_up(socket).unwrap_err();
}

#[test]
fn more_requests_than_the_queue_holds_all_complete() {
    let options = Options { queue_entries: 4, ..options() };
    let mut reactor = Reactor::new(options).unwrap();
    let mut outside = Vec::new();
    for _ in 0..200 {
        let (socket, stream) = pair(&mut reactor);
        let into = reactor.pool().take_for(100).unwrap();
        reactor.recv(socket, into, 1);
        outside.push(stream);
    }
    for stream in &mut outside {
        stream.write_all(b"x").unwrap();
    }
    let mut count = 0;
    let mut events = Vec::new();
    while count < outside.len() {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        for event in events.drain(..) {
            let Event::Received { result, .. } = event else { panic!("{event:?}") };
            assert_eq!(result.unwrap(), 1);
            count += 1;
        }
    }
}

#[test]
fn waker_ends_a_wait_from_another_thread() {
    let mut reactor = reactor();
    let parker = Parker::new().unwrap();
    let (mut requests, mut inbox) = Mailbox::channel(16, reactor.waker());
    let (mut replies, mut answers) = Mailbox::channel(16, parker.waker());
    let other = thread::spawn(move || {
        for number in 0_u32..2000 {
            requests.send(number).unwrap();
            while answers.pop() != Some(number) {
                parker.park(Time::NEVER);
            }
        }
    });
    let mut events = Vec::new();
    while !inbox.is_closed() {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        while let Some(number) = inbox.pop() {
            replies.send(number).unwrap();
        }
    }
    assert!(events.is_empty());
    other.join().unwrap();
}

#[test]
fn wake_while_awake_costs_no_syscall() {
    let mut reactor = reactor();
    let waker = reactor.waker();
    let mut events = Vec::new();
    for _ in 0..100 {
        waker.wake();
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
    }
    // Polling looks at its sockets once a turn.
    let most = if reactor.backend() == BackendKind::IoUring { 0 } else { 101 };
    assert!(reactor.counters().enters <= most, "{:?}", reactor.counters());
    assert_eq!(reactor.counters().turns, 100);
}

#[test]
fn wait_ends_at_its_time() {
    let mut reactor = reactor();
    let mut events = Vec::new();
    let until = now() + Duration::from_millis(5);
    while now() < until {
        reactor.turn(Some(until), &mut events).unwrap();
    }
    let before = reactor.counters();
    reactor.turn(Some(Time::ZERO), &mut events).unwrap();
    assert_eq!(reactor.counters().waits, before.waits, "a time that has passed is no wait");
}

#[test]
fn exhausted_descriptors_pause_a_listener_and_do_not_stop_it() {
    // Lowering the limit of a whole test process would disturb its other tests, so a child does.
    if std::env::var_os("IO_TEST_CHILD").is_none() {
        let name = "exhausted_descriptors_pause_a_listener_and_do_not_stop_it";
        let program = std::env::current_exe().unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -n 24 && exec \"$0\" --exact \"$1\" --test-threads=1"])
            .arg(program)
            .arg(name)
            .env("IO_TEST_CHILD", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        return;
    }
    let mut reactor = reactor();
    let listener = reactor.listen(ListenAddr::Tcp(any_port()), 1).unwrap();
    let address = reactor.local_addr(listener).unwrap();
    let client = TcpStream::connect(address).unwrap();
    let first = accepted(&mut reactor);
    let waiting = TcpStream::connect(address).unwrap();
    let mut ballast = Vec::new();
    while let Ok(file) = fs::File::open("/dev/null") {
        ballast.push(file);
    }
    wait_for(&mut reactor, |event| match event {
        Event::AcceptFailed { error, .. } => Some(error),
        other => panic!("{other:?}"),
    });
    drop(ballast);
    let second = accepted(&mut reactor);
    assert_ne!(first, second);
    drop((client, waiting));
}

/// Receives into a fresh buffer.
fn arm(reactor: &mut Reactor, socket: SocketId) {
    let buffer = reactor.pool().take(Class::Small).unwrap();
    let whole = reactor.pool().whole(buffer);
    reactor.recv(socket, whole, 2);
}

#[test]
fn a_send_that_ends_at_once_ends_no_wait() {
    let mut reactor = reactor();
    let (socket, mut outside) = pair(&mut reactor);
    let buffer = reactor.pool().take(Class::Small).unwrap();
    let whole = reactor.pool().whole(buffer);
    let answerer = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while outside.read_exact(&mut bytes).is_ok() {
            outside.write_all(b"answer").unwrap();
        }
    });
    let wanted = match reactor.backend() {
        BackendKind::IoUring if kernel_is_at_least(6, 12) => 1,
        BackendKind::IoUring => 2,
        // The send, a receive that finds nothing, the wait, and the receive.
        BackendKind::Poll => 4,
    };
    // An answer may take longer than the kernel waits for both, on a busy machine many times in a
    // row: the quickest round counts.
    let end = now() + Duration::from_secs(10);
    let mut enters = u64::MAX;
    while enters > wanted && now() < end {
        enters = enters.min(enters_of_a_round(&mut reactor, socket, whole));
    }
    assert!(enters <= wanted, "{enters} enters for a send and its answer");
    reactor.close(socket);
    answerer.join().unwrap();
}

/// Sends `whole` and waits for the answer to it.
fn enters_of_a_round(reactor: &mut Reactor, socket: SocketId, whole: Slice) -> u64 {
    arm(reactor, socket);
    reactor.send(socket, &[whole], 1);
    let mut events = Vec::new();
    let before = reactor.counters().enters;
    let mut parts_left = 2;
    while parts_left > 0 {
        reactor.turn(Some(now() + Duration::from_secs(60)), &mut events).unwrap();
        parts_left -= events
            .drain(..)
            .filter(|event| matches!(event, Event::Received { .. } | Event::Sent { .. }))
            .count();
    }
    reactor.counters().enters - before
}

/// Older kernels end a wait with the first completion.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap()) >= (major, minor)
}

#[test]
fn a_full_socket_keeps_no_other_event_waiting() {
    let mut reactor = reactor();
    let (full, _stuck) = pair(&mut reactor);
    let (other, mut outside) = pair(&mut reactor);
    let buffer = reactor.pool().take(Class::Huge).unwrap();
    let whole = reactor.pool().whole(buffer);
    let segments = vec![whole; 8];
    reactor.send(full, &segments, 1);
    for _ in 0..3 {
        arm(&mut reactor, other);
        outside.write_all(b"bytes").unwrap();
        let begun = now();
        assert_eq!(received(&mut reactor).unwrap(), 5);
        assert!(now().since(begun) < Duration::from_millis(500), "{:?}", now().since(begun));
    }
}
