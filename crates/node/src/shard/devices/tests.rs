//! Block devices on a data thread that is short of buffers.

use io::{Descriptor, Parker, QueueId};

use crate::links::HostedId;
use crate::shard::fixture::shard;
use crate::ublk::tests::serve;

/// Nobody hosts it here: what is asked of it gives its buffer back.
const GONE: HostedId = HostedId(0);
const BLOCK_SECTORS: u64 = 8;

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
