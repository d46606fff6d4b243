//! Monitors that do what they must not, as the thread of their session sees them.

use format::ids::Nonce;
use io::Parker;
use io::mailbox::{Mailbox, Receiver};
use replication::resource::Reign;

use super::*;
use crate::limits::GUESTS_ADDRESSES_MAX;
use crate::links::HostedId;

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
    (Monitor::new(desk, volume, present, guests), mailbox, outside)
}

fn facts() -> Facts {
    Facts {
        hosted: HostedId(0),
        place: Place::FIRST,
        size_bytes: 1 << 30,
        block_bytes: 512,
        reign: Reign { tenure: Nonce(1), losses: 0 },
    }
}

fn region(guest_address: u64, length: u64, file_offset: u64) -> Region {
    Region { guest_address, length, user_address: guest_address, file_offset }
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
