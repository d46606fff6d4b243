//! Once its tables have grown to the load, the data path allocates nothing: a payload goes over a
//! TCP connection of the loopback and to two disks, 10,000 writes in all, and the heap is not
//! touched.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::cell::Cell;
use std::fs::{self, File};
use std::path::Path;

use io::{
    BackendWish, DiskId, DiskOptions, Durability, Event, ListenAddr, Options, Reactor, Slice,
    SocketId,
};
use stdx::time::Time;

#[path = "allocator/counting.rs"]
mod counting;

use crate::counting::Counting;

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting(count);

const WRITES: u32 = 10_000;
/// Writes per message: four blocks to each of two disks.
const WRITES_PER_ROUND: u32 = 8;
/// A block, so that the payload behind it is aligned for every disk.
const HEADER: u32 = 4096;
const PAYLOAD: u32 = 4 * 4096;

/// With the back end that the environment asks for: the same tests hold for both.
fn options() -> Options {
    Options { backend: BackendWish::from_environment().unwrap(), ..Options::default() }
}

struct Setup {
    reactor: Reactor,
    source: SocketId,
    target: SocketId,
    disks: [DiskId; 2],
    header: Slice,
    events: Vec<Event>,
}

impl Setup {
    fn new(paths: [&Path; 2]) -> Self {
        let mut reactor = Reactor::new(options()).unwrap();
        let any = ListenAddr::Tcp("127.0.0.1:0".parse().unwrap());
        let listener = reactor.listen(any, 1).unwrap();
        let address = reactor.local_addr(listener).unwrap();
        let source = reactor.connect(None, address, 2).unwrap();
        let disks = paths.map(|path| {
            File::create(path).unwrap().set_len(1 << 20).unwrap();
            reactor.open_disk(path, DiskOptions::default()).unwrap()
        });
        let mut events = Vec::with_capacity(64);
        let mut target = None;
        let mut is_connected = false;
        while target.is_none() || !is_connected {
            reactor.turn(Some(Time::NEVER), &mut events).unwrap();
            for event in events.drain(..) {
                if let Event::Accepted { socket, .. } = event {
                    target = Some(socket);
                } else if let Event::Connected { result, .. } = event {
                    result.unwrap();
                    is_connected = true;
                }
            }
        }
        let header = reactor.pool().take_for(HEADER).unwrap();
        Self { reactor, source, target: target.unwrap(), disks, header, events }
    }

    /// One message from a socket to the other, and its payload to the disks.
    fn round(&mut self) {
        let Self { reactor, source, target, disks, header, events } = self;
        let payload = reactor.pool().take_for(PAYLOAD).unwrap();
        reactor.send(*source, &[*header, payload], 3);
        reactor.pool().release(payload.buffer);
        let into = reactor.pool().take_for(HEADER + PAYLOAD).unwrap();
        let mut received = 0;
        let mut written = 0;
        reactor.recv(*target, into, 4);
        while written < WRITES_PER_ROUND {
            reactor.turn(Some(Time::NEVER), events).unwrap();
            for event in events.drain(..) {
                if let Event::Received { result, .. } = event {
                    received += result.unwrap();
                    if received < into.length {
                        reactor.recv(*target, into.part(received, into.length - received), 4);
                        continue;
                    }
                    for block in 0..WRITES_PER_ROUND / 2 {
                        let from = into.part(HEADER + block * 4096, 4096);
                        let offset = u64::from(block) * 4096;
                        for disk in &*disks {
                            reactor.write(*disk, offset, from, Durability::Cached, 5);
                        }
                    }
                } else if let Event::Disk { result, .. } = event {
                    assert_eq!(result.unwrap(), 4096);
                    written += 1;
                } else {
                    assert!(matches!(event, Event::Sent { result: Ok(_), .. }), "{event:?}");
                }
            }
        }
        reactor.pool().release(into.buffer);
    }
}

#[test]
fn ten_thousand_writes_allocate_nothing() {
    let unique = io::random_u64();
    let in_memory = Path::new("/dev/shm").join(format!("io-test-{unique:x}.disk"));
    let on_disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("io-test-{unique:x}.disk"));
    let mut setup = Setup::new([&in_memory, &on_disk]);
    for _ in 0..10 {
        setup.round();
    }
    let before = COUNT.get();
    for _ in 0..WRITES / WRITES_PER_ROUND {
        setup.round();
    }
    let allocations = COUNT.get() - before;
    drop(Box::new(1));
    assert!(COUNT.get() > before + allocations, "the counter counts");
    fs::remove_file(in_memory).unwrap();
    fs::remove_file(on_disk).unwrap();
    assert_eq!(allocations, 0);
}
