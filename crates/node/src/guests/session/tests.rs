//! Monitors that do what they must not, as the thread of their session sees them.

use std::sync::Weak;

use engine::clients::vhost::Vhost;
use engine::hosted_id::HostedId;
use engine::kit::Kit;
use engine::limits::GUESTS_ADDRESSES_MAX;
use format::ids::Nonce;
use frontend::vhost::config::Features;
use frontend::vhost::ring::Place as RingPlace;
use io::mailbox::{Mailbox, Receiver};
use io::{Parker, Reactor};
use replication::resource::Reign;
use stdx::time::Time;

use super::*;

const HELD: HostedId = HostedId(0);
const MACHINE_BYTES: u64 = 1 << 30;
const MAILBOX: usize = 4;

/// A session of a node with one shard, and the mailbox of that.
fn session(number: u64) -> (Monitor, Receiver<ToShard>, UnixStream) {
    let parker = Parker::new().unwrap();
    let (sender, mailbox) = Mailbox::channel(MAILBOX, parker.waker());
    let desk = Arc::new(Desk::new(vec![Mutex::new(sender)]));
    let (stream, outside) = UnixStream::pair().unwrap();
    let present = Arc::new(Present::new(SessionNumber(number), stream));
    let guests = Addresses::of_all_guests(MACHINE_BYTES);
    let volume = ("r0".to_owned(), Place::FIRST);
    (Monitor::new(desk, volume, (present, First::default()), guests), mailbox, outside)
}

fn facts() -> Facts {
    Facts {
        hosted: HELD,
        place: Place::FIRST,
        size_bytes: 1 << 30,
        block_bytes: 512,
        reign: Reign { tenure: Nonce(1), losses: 0 },
    }
}

fn region(guest_address: u64, length: u64, file_offset: u64) -> Region {
    Region { guest_address, length, user_address: guest_address, file_offset }
}

/// What a data thread has of buffers, on a node with one.
fn kit() -> Kit {
    Kit::new(Reactor::new(io::Options::default()).unwrap(), 0, Time::ZERO)
}

/// Begins a ring of a guest that asks for nothing. Its memory is there for as long as the shard has
/// the ring.
fn start_ring(line: Line, vhost: &mut Vhost, kit: &mut Kit) -> Weak<GuestMemory<Window>> {
    const BYTES: u64 = 1 << 20;
    let file = memory_file(BYTES).unwrap();
    let claim = Addresses::of_all_guests(BYTES).claim(BYTES).unwrap();
    let window = Window::new(SharedMemory::map(&file, 0, BYTES).unwrap(), claim);
    let memory = Arc::new(GuestMemory::new(vec![(region(0, BYTES, 0), window)]).unwrap());
    let held = Arc::downgrade(&memory);
    let features = Features::of(1 << 32);
    let place = RingPlace { size: 8, descriptors: 0, available: 0x4000, used: 0x5000 };
    let new = NewRing {
        hosted: HELD,
        base: 0,
        line,
        number: 0,
        ring: Ring::new(memory, place, 0, features, None).unwrap(),
        disk: Disk { size_bytes: 1 << 30, block_bytes: 512, queues_max: 1 },
        name: "r0".to_owned(),
        features,
        cache: Cache::WriteBack,
        kick: Eventfd::of(io::eventfd().unwrap()).unwrap(),
        call: None,
    };
    vhost.start_ring(new, kit);
    held
}

/// Waits a moment for a thread that is to end, or is not to.
fn has_ended<T>(thread: &std::thread::JoinHandle<T>) -> bool {
    for _ in 0..100 {
        if thread.is_finished() {
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    false
}

/// The end of a session was told once, and a full mailbox forgot it: the shard went on with the
/// ring, and the monitor that came back was served by two.
#[test]
fn end_of_a_session_is_told_to_a_shard_that_has_no_room_for_it() {
    let (mut kit, mut vhost): (Kit, Vhost) = (kit(), Vhost::new());
    let (monitor, mut mailbox, _outside) = session(7);
    let line = monitor.line.clone();
    vhost.open((HELD, Place::FIRST), line.clone(), None);
    vhost.admit(facts());
    let memory = start_ring(line.clone(), &mut vhost, &mut kit);
    assert_eq!((vhost.clients_of(HELD), memory.strong_count()), (1, 1));
    let another = || GuestOrder::Stop { session: SessionNumber(8), ring: 0 };
    while monitor.tell(0, another()).is_ok() {}

    let ending = std::thread::spawn(move || monitor.close());
    assert!(!has_ended(&ending), "it is told, or not over");
    // The shard goes on.
    let until = io::now() + Duration::from_secs(60);
    while !ending.is_finished() {
        assert!(io::now() < until);
        match mailbox.pop() {
            Some(ToShard::Guest(GuestOrder::Close { line })) => vhost.close(&line, &mut kit),
            Some(ToShard::Guest(GuestOrder::Stop { session, ring })) => {
                vhost.stop_ring(session, ring);
            }
            Some(other) => panic!("{other:?}"),
            None => std::thread::yield_now(),
        }
    }
    ending.join().unwrap();
    assert_eq!((vhost.clients_of(HELD), memory.strong_count()), (0, 0));
}

#[test]
fn end_of_a_session_does_not_wait_for_a_shard_that_is_gone() {
    let (monitor, mailbox, _outside) = session(7);
    while monitor.tell(0, GuestOrder::Stop { session: SessionNumber(8), ring: 0 }).is_ok() {}
    drop(mailbox);
    let ending = std::thread::spawn(move || monitor.close());
    ending.join().unwrap();
}

/// A monitor that gave its ring one eventfd after the other filled the shard's mailbox with them.
#[test]
fn monitor_has_one_order_under_way() {
    let (monitor, mut mailbox, outside) = session(7);
    let serving = std::thread::spawn(move || {
        let mut served = Served::new(&monitor, facts());
        served.is_running[0] = true;
        (served.set_call(0), served.set_call(0))
    });
    let mut answered = 0;
    let until = io::now() + Duration::from_secs(60);
    while !serving.is_finished() {
        assert!(io::now() < until);
        let Some(order) = mailbox.pop() else {
            std::thread::yield_now();
            continue;
        };
        let ToShard::Guest(GuestOrder::SetCall { line, .. }) = order else { panic!("{order:?}") };
        if answered == 0 {
            assert!(!has_ended(&serving) && mailbox.pop().is_none(), "it waits for the first");
        }
        Vhost::new().set_call(&line, 0, None, &mut kit());
        answered += 1;
    }
    assert_eq!(serving.join().unwrap(), (Ok(()), Ok(())));
    assert_eq!(answered, 2);
    drop(outside);
}

/// A file in memory may say that it is longer than all addresses that a process has.
#[test]
fn monitor_that_shares_more_than_there_can_be_is_refused() {
    let (monitor, _mailbox, _outside) = session(7);
    let mut served = Served::new(&monitor, facts());
    let file = |length| OwnedFd::from(memory_file(length).unwrap());
    let huge = 64 << 40;
    assert_eq!(huge, GUESTS_ADDRESSES_MAX);
    let refusal = served.map(vec![(region(0, huge, 0), file(huge))]).unwrap_err();
    assert!(refusal.contains("a disk of a virtual machine may have 4 GiB mapped"), "{refusal}");
    let many = (0..5).map(|part| (region(part << 30, 1 << 30, part << 20), file(2 << 30)));
    served.map(many.collect()).unwrap_err();

    // What was refused takes nothing, nor does the rest of a file.
    let far = |guest, at| (region(guest, 1 << 30, at), file(huge));
    served.map(vec![far(0, huge / 2 + 512), far(1 << 30, 8 << 30)]).unwrap();
    served.map(vec![far(0, huge / 2 + 512), far(1 << 30, 8 << 30)]).unwrap();
    let memory = served.memory.as_ref().unwrap();
    memory.write((1 << 30) - 3, b"over the border").unwrap();
    let mut seen = [0; 15];
    memory.read((1 << 30) - 3, &mut seen).unwrap();
    assert_eq!(&seen, b"over the border");
}
