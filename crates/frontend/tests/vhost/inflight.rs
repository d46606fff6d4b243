//! Requests that are kept for the next server.

use std::sync::Arc;

use frontend::vhost::config::Cache;
use frontend::vhost::inflight::{Layout, Mark, Slots};
use frontend::vhost::ring::{Chain, Ring};

use crate::guest::{Bytes, EVENTS, Guest, PLACE, SIZE, WRITE};

pub(crate) const LAYOUT: Layout = Layout { queues: 2, size: SIZE };

pub(crate) fn slots(kept: &Bytes) -> Slots<Bytes> {
    Slots::new(Arc::new(kept.clone()), LAYOUT, 1).unwrap()
}

fn take(ring: &mut Ring<Bytes>) -> Option<u16> {
    ring.take(&mut Chain::default()).unwrap()
}

fn offer(guest: &mut Guest, head: u16) {
    guest.request(head, 0, 0, (0x5000, 512, WRITE));
}

#[test]
fn what_was_not_answered_is_taken_again_in_its_order_and_the_rest_after_it() {
    let (mut guest, kept) = (Guest::new(), Bytes::new(8192));
    let mut first = guest.ring(EVENTS, Some(slots(&kept)));
    for head in [4, 1, 5] {
        offer(&mut guest, head);
        assert_eq!(take(&mut first), Some(head));
    }
    // The one in the middle is answered, and the first server dies.
    first.put(1, 1).unwrap();
    first.publish().unwrap();
    offer(&mut guest, 0);
    drop(first);
    let mut second = guest.ring(EVENTS, Some(slots(&kept)));
    assert_eq!([take(&mut second), take(&mut second)], [Some(4), Some(5)]);
    assert_eq!([take(&mut second), take(&mut second)], [Some(0), None]);
    second.put(5, 1).unwrap();
    second.publish().unwrap();
    assert_eq!(guest.used_index(), 2);
    // The order of what is taken by different servers holds, too.
    let mut third = guest.ring(EVENTS, Some(slots(&kept)));
    assert_eq!([take(&mut third), take(&mut third), take(&mut third)], [Some(4), Some(0), None]);
    for head in [0, 4] {
        third.put(head, 1).unwrap();
    }
    third.publish().unwrap();
    let mut fourth = guest.ring(EVENTS, Some(slots(&kept)));
    assert_eq!((take(&mut fourth), fourth.next_available()), (None, 4));
}

#[test]
fn answer_that_was_written_and_not_shown_is_done_again() {
    let (mut guest, kept) = (Guest::new(), Bytes::new(8192));
    let mut first = guest.ring(EVENTS, Some(slots(&kept)));
    offer(&mut guest, 4);
    take(&mut first);
    first.put(4, 1).unwrap();
    drop(first);
    assert_eq!(take(&mut guest.ring(EVENTS, Some(slots(&kept)))), Some(4));
}

#[test]
fn answers_that_were_shown_and_not_taken_out_are_not_done_again() {
    let (mut guest, kept) = (Guest::new(), Bytes::new(8192));
    let mut first = guest.ring(EVENTS, Some(slots(&kept)));
    for head in [4, 1, 5] {
        offer(&mut guest, head);
        take(&mut first);
    }
    for head in [5, 4] {
        first.put(head, 1).unwrap();
    }
    // As `publish` begins: the driver sees the answers, and the server dies.
    guest.put(PLACE.used + 2, &2_u16.to_le_bytes());
    drop(first);
    let mut second = guest.ring(EVENTS, Some(slots(&kept)));
    assert_eq!([take(&mut second), take(&mut second)], [Some(1), None]);
}

#[test]
fn memory_has_the_layout_of_the_specification() {
    let (mut guest, kept) = (Guest::new(), Bytes::new(8192));
    let mut ring = guest.ring(EVENTS, Some(slots(&kept)));
    for head in [2, 5] {
        offer(&mut guest, head);
        take(&mut ring);
    }
    ring.put(2, 1).unwrap();
    ring.publish().unwrap();
    // One queue is 16 and 8 times 16 bytes, which are 192 with what makes 64 of the last ones.
    let bytes = kept.0.lock().unwrap().clone();
    assert!(bytes[..192].iter().all(|byte| *byte == 0), "another queue's");
    let queue = &bytes[192..];
    assert_eq!(queue[..16], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, SIZE.to_le_bytes()[0], 0, 2, 0, 1, 0]);
    let slot = |head: usize| &queue[16 + 16 * head..][..16];
    assert_eq!(slot(2), [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(slot(5), [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn mark_is_read_as_it_was_written_and_has_its_golden_bytes() {
    let kept = Bytes::new(8192);
    LAYOUT.read_mark(&kept).unwrap_err();
    for cache in [Cache::WriteThrough, Cache::WriteBack] {
        let mark = Mark { tenure: 0x0102_0304_0506_0708, losses: 9, cache };
        LAYOUT.write_mark(&kept, mark).unwrap();
        assert_eq!(LAYOUT.read_mark(&kept), Ok(mark));
    }
    let bytes = kept.0.lock().unwrap().clone();
    assert_eq!(bytes[384..405], *b"basalt\0\x01\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\x01");
    assert_eq!(LAYOUT.bytes(), 4096);
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    for (queues, size) in [(0, 8), (1, 0), (5, 8), (1, 1025)] {
        Layout::new(queues, size, 4).unwrap_err();
    }
    Layout::new(4, 1024, 4).unwrap();
    assert!(Slots::new(Arc::new(Bytes::new(8192)), LAYOUT, 2).is_none());
    let short = Slots::new(Arc::new(Bytes::new(100)), LAYOUT, 1);
    Guest::new().try_ring(PLACE, EVENTS, short).unwrap_err();
}
