//! Block devices on a data thread that is short of buffers.

use std::io::{Read as _, Write as _};

use io::{Descriptor, Parker, QueueId};

use crate::clients::nvme::tests::{serve as serve_initiator, write};
use crate::clients::ublk::tests::serve;
use crate::hosted_id::HostedId;
use crate::shard::fixture::shard;

/// Nobody hosts it here: what is asked of it gives its buffer back.
const GONE: HostedId = HostedId(0);
const BLOCK_SECTORS: u64 = 8;
const PART_BYTES: u64 = 128 << 10;
/// The type of the PDU that asks an initiator for data.
const READY: u8 = 9;

/// Zeroes within a block, which are written from a buffer.
fn zeroes(block: u64) -> Descriptor {
    const WRITE_ZEROES: u32 = 5;
    let start_sector = block * BLOCK_SECTORS + 1;
    Descriptor { operation_and_flags: WRITE_ZEROES, sectors: 1, start_sector }
}

/// What a turn gave back last was not seen: the request waited until something else happened.
#[test]
fn request_that_waits_for_a_buffer_is_tried_again_without_another_event() {
    let parker = Parker::new().unwrap();
    let (mut shard, _answers) = shard(&parker);
    let pool = shard.rim.kit.reactor.pool();
    let mut taken: Vec<_> = std::iter::from_fn(|| pool.take_for_client(512)).collect();
    pool.release(taken.pop().expect("the pool was full").buffer);
    let (device, _news) = serve(&mut shard.rim.ublk, GONE);
    for tag in 0..3 {
        let (ublk, kit) = (&mut shard.rim.ublk, &mut shard.rim.kit);
        ublk.on_fetched(device, QueueId::default(), tag, zeroes(tag.into()), kit);
    }
    // The first one has the buffer, the second one gets it in this turn, and gives it back.
    shard.turn().unwrap();
    assert!(shard.rim.ublk.is_starved(), "the third one waits");
    assert!(shard.wait_until() <= shard.rim.kit.now, "nothing else comes");
    shard.turn().unwrap();
    assert!(!shard.rim.ublk.is_starved());
    assert!(shard.wait_until() > shard.rim.kit.now, "a data thread without work sleeps");
    for slice in taken {
        shard.rim.kit.reactor.pool().release(slice.buffer);
    }
}

/// It waited for two, and did not hear that one came back last in a turn: with that the data thread
/// slept, whatever there was by then.
#[test]
fn leave_that_waits_for_buffers_is_looked_at_after_the_last_of_a_turn_came_back() {
    let parker = Parker::new().unwrap();
    let (mut shard, _answers) = shard(&parker);
    let (nvme, kit) = (&mut shard.rim.nvme, &mut shard.rim.kit);
    let (_, mut initiator) = serve_initiator(nvme, kit);
    let pool = shard.rim.kit.reactor.pool();
    let mut taken: Vec<_> = std::iter::from_fn(|| pool.take_for_client(512)).collect();
    pool.release(taken.pop().expect("the pool was full").buffer);
    // A block on either side of where parts meet.
    initiator.write_all(&write(7, PART_BYTES / 512 - BLOCK_SECTORS, 8192)).unwrap();
    while shard.rim.nvme.requests_in_progress() == 0 {
        shard.turn().unwrap();
    }
    let (device, _news) = serve(&mut shard.rim.ublk, GONE);
    for tag in 0..2 {
        let (ublk, kit) = (&mut shard.rim.ublk, &mut shard.rim.kit);
        ublk.on_fetched(device, QueueId::default(), tag, zeroes(tag.into()), kit);
    }
    // The one is given back before initiators are looked at, and taken and given back after that.
    shard.next_tick = shard.rim.kit.now;
    shard.turn().unwrap();
    assert!(!shard.rim.ublk.is_starved());
    assert!(shard.wait_until() <= shard.rim.kit.now, "nothing else comes");
    shard.turn().unwrap();
    assert!(shard.wait_until() > shard.rim.kit.now, "a data thread without work sleeps");
    shard.rim.kit.reactor.pool().release(taken.pop().expect("the pool was full").buffer);
    for _ in 0..2 {
        shard.next_tick = shard.rim.kit.now;
        shard.turn().unwrap();
    }
    let mut leave = [0; 24];
    initiator.read_exact(&mut leave).unwrap();
    assert_eq!(leave[0], READY, "it has both");
    for slice in taken {
        shard.rim.kit.reactor.pool().release(slice.buffer);
    }
}
