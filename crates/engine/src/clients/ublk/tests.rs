//! Devices whose kernel says nothing more, and what they hold of the buffers.

use std::sync::mpsc;

use format::ids::Nonce;
use replication::contract::PartId;

use super::*;
use crate::clients::budget::buffer_bytes;
use crate::clients::outstanding::Orphanage;
use crate::limits::RESOURCE_BYTES_MAX;

const HELD: HostedId = HostedId(0);
const OTHER: HostedId = HostedId(1);
const PART_BYTES: u32 = 128 << 10;
/// Of one read: eight parts.
const SECTORS: u32 = 2048;

/// A device that is served, by a queue that the kernel does not have.
pub(crate) fn serve(ublk: &mut Ublk, hosted: HostedId) -> (Key, mpsc::Receiver<News>) {
    let (sender, news) = mpsc::channel();
    let reign = Reign { tenure: Nonce(1), losses: 0 };
    let volume = (hosted, Place::FIRST);
    ublk.prepare(volume, Facts { size_bytes: 1 << 30, reign }, sender);
    let key = ublk.device_of(volume).unwrap();
    let device = ublk.devices.get_mut(key).unwrap();
    (device.queue, device.stage) = (Some(QueueId::default()), Stage::Serving);
    assert!(matches!(news.try_recv(), Ok(News::Prepared(_))));
    (key, news)
}

fn read_all(ublk: &mut Ublk, device: Key, kit: &mut Kit) {
    for tag in 0..DEVICE_DEPTH {
        let start_sector = u64::from(tag) * u64::from(SECTORS);
        let descriptor = Descriptor { operation_and_flags: 0, sectors: SECTORS, start_sector };
        ublk.on_fetched(device, QueueId::default(), tag, descriptor, kit);
    }
}

/// The parts that the core was asked for.
fn asked(ublk: &mut Ublk, meant: HostedId) -> Vec<PartId> {
    let mut parts = Vec::new();
    while let Some((hosted, input)) = ublk.pop_fact() {
        if let GroupInput::Request(request) = input
            && hosted == meant
        {
            parts.push(request.part);
        }
    }
    parts
}

/// What a resource may have, as buffers, and how many parts that are.
fn most() -> (usize, usize) {
    let part = buffer_bytes(PART_BYTES);
    let parts = RESOURCE_BYTES_MAX.div_ceil(part);
    (parts, parts * part)
}

/// Its queue was closed before its requests were failed: none of the answers went out, and the
/// kernel, which waits for them, never let the device go.
#[test]
fn device_that_the_kernel_stops_is_served_until_it_has_its_answers() {
    let (mut kit, mut ublk) = (Kit::of_lone_shard(), Ublk::new(1 << 30));
    let (device, news) = serve(&mut ublk, HELD);
    read_all(&mut ublk, device, &mut kit);
    assert_eq!(ublk.on_ended(device, QueueId::default(), &mut kit), None);
    assert!(matches!(news.try_recv(), Ok(News::Over(_))));
    assert!(news.try_recv().is_err(), "the kernel has commands of ours");
    assert_eq!(ublk.requests_in_progress(), 0);
    let ended = ublk.on_ended(device, QueueId::default(), &mut kit);
    assert_eq!(ended, Some((HELD, Place::FIRST)));
    assert!(matches!(news.try_recv(), Ok(News::Ended)));
}

/// What a volume without a quorum is asked waits, and holds what it has.
#[test]
fn device_of_a_volume_that_is_held_up_leaves_buffers_to_others() {
    let (mut kit, mut ublk) = (Kit::of_lone_shard(), Ublk::new(1 << 30));
    let (held_up, _news) = serve(&mut ublk, HELD);
    read_all(&mut ublk, held_up, &mut kit);
    let mut parts = asked(&mut ublk, HELD);
    assert_eq!((parts.len(), kit.budget.held()), most());
    let (other, _news) = serve(&mut ublk, OTHER);
    read_all(&mut ublk, other, &mut kit);
    assert_eq!(asked(&mut ublk, OTHER).len(), most().0);

    // The quorum is back.
    let mut answered = 0;
    while let Some(part) = parts.pop() {
        ublk.complete(part, Ok(None), &mut kit);
        answered += 1;
        assert!(ublk.starved_count == 0 || ublk.is_waiting(&kit));
        ublk.retry_starved(&mut kit);
        parts.extend(asked(&mut ublk, HELD));
    }
    assert_eq!(answered, u32::from(DEVICE_DEPTH) * SECTORS * 512 / PART_BYTES);
}

#[test]
fn requests_of_a_device_that_ended_count_until_the_core_answers_them() {
    let (mut kit, mut ublk) = (Kit::of_lone_shard(), Ublk::new(1 << 30));
    for is_answered in [true, false] {
        let (device, _news) = serve(&mut ublk, HELD);
        read_all(&mut ublk, device, &mut kit);
        let parts = asked(&mut ublk, HELD);
        ublk.end(HELD, "it is over", &mut kit);
        assert_eq!((ublk.requests_in_progress(), kit.budget.held()), (0, most().1));
        ublk.forget_orphans(OTHER, &mut kit);
        assert_eq!(kit.budget.held(), most().1);
        if !is_answered {
            ublk.forget_orphans(HELD, &mut kit);
            assert_eq!(kit.budget.held(), 0);
        }
        assert!(ublk.on_ended(device, QueueId::default(), &mut kit).is_some());
        // What another data thread had of them comes too late.
        for part in parts {
            ublk.complete(part, Ok(None), &mut kit);
        }
        assert_eq!((kit.budget.held(), ublk.requests.len(), ublk.orphans), (0, 0, 0));
    }
}
