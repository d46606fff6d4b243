//! Guests that do what they must not, as a shard sees them.

use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use replication::contract::{PartId, Payload, RequestKind};

use super::fixture::{
    DATA_BYTES, DISCARDS, FLUSH, Guest, HELD, PER_REQUEST, SIZE, UNKNOWN, WRITES,
};
use super::*;
use crate::clients::budget::buffer_bytes;
use crate::clients::outstanding::Orphanage;
use crate::limits::{
    GUEST_CHAINS_SPARE_MAX, GUEST_DESCRIPTORS_PER_LOOK, GUEST_DESCRIPTORS_PER_TURN,
    GUEST_PART_DESCRIPTORS, GUEST_REQUESTS_MAX, RESOURCE_BYTES_MAX,
};

/// A line to the thread of a session, and what is told there.
fn line(session: u64) -> (Line, mpsc::Receiver<News>) {
    let (stream, _) = UnixStream::pair().unwrap();
    let (sender, news) = mpsc::channel();
    (Line { session: SessionNumber(session), news: sender, stream: Arc::new(stream) }, news)
}

fn start(vhost: &mut Vhost, kit: &mut Kit, session: u64, kind: u32) -> Guest {
    Guest::start_on(line(session).0, vhost, kit, kind)
}

/// A kick had the ring looked at beside its place among those that wait, where it got one more:
/// each turn took a ring's share once more than the one before.
#[test]
fn ring_that_stays_full_makes_no_turn_longer() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let (line, news) = line(1);
    let guest = Guest::start_on(line.clone(), &mut vhost, &mut kit, UNKNOWN);
    for round in 0..50 {
        let before = guest.taken(&vhost);
        guest.fill(&vhost);
        for _ in 0..3 {
            vhost.on_kicked(guest.key, &mut kit);
        }
        guest.fill(&vhost);
        vhost.look_again(&mut kit);
        vhost.flush(&mut kit);
        let taken = u32::from(guest.taken(&vhost).wrapping_sub(before));
        let share = GUEST_DESCRIPTORS_PER_LOOK.div_ceil(PER_REQUEST);
        assert!(vhost.unread.rings.len() <= 1, "round {round}");
        assert!(taken <= 2 * share, "round {round}: {taken}");
        assert!(taken > 0, "round {round}");
    }
    assert!(news.try_recv().is_err(), "nothing of that is forbidden");
}

#[test]
fn turn_takes_so_much_of_all_rings_and_each_has_its_share() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let guests: Vec<_> =
        (0..20).map(|session| start(&mut vhost, &mut kit, session, UNKNOWN)).collect();
    let taken = |vhost: &Vhost| -> Vec<u32> {
        guests.iter().map(|guest| guest.taken(vhost).into()).collect()
    };
    // Few enough rounds that no count of 16 bits wraps.
    for round in 0..50 {
        let before = taken(&vhost);
        for guest in &guests {
            guest.fill(&vhost);
            vhost.on_kicked(guest.key, &mut kit);
        }
        vhost.look_again(&mut kit);
        vhost.flush(&mut kit);
        let after = taken(&vhost);
        let all: u32 = after.iter().sum::<u32>() - before.iter().sum::<u32>();
        assert!(all <= GUEST_DESCRIPTORS_PER_TURN.div_ceil(PER_REQUEST), "round {round}: {all}");
    }
    let (least, most) =
        (*taken(&vhost).iter().min().unwrap(), *taken(&vhost).iter().max().unwrap());
    let share = GUEST_DESCRIPTORS_PER_LOOK.div_ceil(PER_REQUEST);
    // The first one to kick has another share, before anybody waits.
    assert!(most - least <= 2 * share, "{least} to {most}");
}

/// One descriptor can name a gibibyte, which is many parts for the core.
#[test]
fn turn_hands_the_core_so_many_parts() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let guests: Vec<_> =
        (0..20).map(|session| start(&mut vhost, &mut kit, session, DISCARDS)).collect();
    for guest in &guests {
        guest.fill(&vhost);
        vhost.on_kicked(guest.key, &mut kit);
    }
    vhost.look_again(&mut kit);
    let mut parts = 0;
    while vhost.pop_fact().is_some() {
        parts += 1;
    }
    let most = GUEST_DESCRIPTORS_PER_TURN / GUEST_PART_DESCRIPTORS;
    assert!((most / 2..=most).contains(&parts), "{parts} of {most}");
}

/// What guests once had under way all together was kept as long as the daemon ran.
#[test]
fn memory_of_chains_is_kept_for_so_many_and_no_more() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let guests: Vec<_> =
        (0..3).map(|session| start(&mut vhost, &mut kit, session, FLUSH)).collect();
    for guest in &guests {
        guest.fill(&vhost);
        vhost.on_kicked(guest.key, &mut kit);
    }
    while vhost.is_waiting(&kit) {
        vhost.look_again(&mut kit);
    }
    assert_eq!(vhost.requests_in_progress(), 3 * usize::from(SIZE));
    while let Some(fact) = vhost.pop_fact() {
        if let Fact::Flush { part, .. } = fact {
            vhost.complete(part, Ok(None), &mut kit);
        }
    }
    vhost.flush(&mut kit);
    assert_eq!(vhost.requests_in_progress(), 0);
    assert_eq!(vhost.spare.len(), GUEST_CHAINS_SPARE_MAX);
}

/// The ring was let stand, and its guest waited for ever.
#[test]
fn ring_whose_kicks_are_not_heard_is_broken_off() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let (line, news) = line(1);
    let guest = Guest::start_on(line.clone(), &mut vhost, &mut kit, UNKNOWN);
    let error = std::io::Error::from_raw_os_error(libc::ENOMEM);
    vhost.on_kicks_failed(guest.key, &error, &mut kit);
    let Ok(News::Over(reason)) = news.try_recv() else { panic!("its thread is told") };
    assert!(reason.contains("ring 0: its kicks are not heard"), "{reason}");
    assert_eq!(vhost.rings(), 0);
    assert!(vhost.find(line.session, 0).is_none());
}

const OTHER: HostedId = HostedId(1);

/// What a resource may have, as buffers, and how many parts that are.
fn most() -> (usize, usize) {
    let part = buffer_bytes(DATA_BYTES);
    let parts = RESOURCE_BYTES_MAX.div_ceil(part);
    (parts, parts * part)
}

/// Goes on until nothing is left to do without an event.
fn settle(vhost: &mut Vhost, kit: &mut Kit) {
    while vhost.is_waiting(kit) {
        vhost.retry_starved(kit);
        vhost.look_again(kit);
    }
    vhost.flush(kit);
}

/// Answers a part as the core does, which is done with the data then.
fn answer(part: PartId, data: Payload, vhost: &mut Vhost, kit: &mut Kit) {
    kit.release(data);
    vhost.complete(part, Ok(None), kit);
}

/// Payloads of writes that the core has.
fn held_writes(vhost: &mut Vhost, meant: HostedId) -> Vec<(PartId, Payload)> {
    let mut parts = Vec::new();
    while let Some(fact) = vhost.pop_fact() {
        if let Fact::Request { hosted, request } = fact
            && hosted == meant
            && let RequestKind::Write { payload, .. } = request.kind
        {
            assert_eq!(request.length, DATA_BYTES);
            parts.push((request.part, payload));
        }
    }
    parts
}

/// A volume without a quorum answers nothing: one guest of it took every buffer of the shard that
/// clients may have, and all other volumes stood still.
#[test]
fn guest_of_a_volume_that_is_held_up_leaves_buffers_to_others() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let held_up = start(&mut vhost, &mut kit, 1, WRITES);
    held_up.fill(&vhost);
    vhost.on_kicked(held_up.key, &mut kit);
    settle(&mut vhost, &mut kit);
    let mut parts = held_writes(&mut vhost, HELD);
    assert_eq!((parts.len(), kit.budget.held()), most());
    assert_eq!(vhost.requests_in_progress(), parts.len() + 1, "the others are in the ring");

    let other = Guest::start((OTHER, line(2).0, 0), &mut vhost, &mut kit, WRITES);
    other.fill(&vhost);
    vhost.on_kicked(other.key, &mut kit);
    settle(&mut vhost, &mut kit);
    let others = held_writes(&mut vhost, OTHER);
    assert_eq!(others.len(), most().0);
    for (part, data) in others {
        answer(part, data, &mut vhost, &mut kit);
    }

    // The quorum is back, and each request is answered once.
    let mut answered = 0;
    while let Some((part, data)) = parts.pop() {
        answer(part, data, &mut vhost, &mut kit);
        answered += 1;
        settle(&mut vhost, &mut kit);
        parts.extend(held_writes(&mut vhost, HELD));
    }
    assert_eq!((answered, held_up.taken(&vhost)), (SIZE, SIZE));
}

#[test]
fn requests_of_a_guest_that_is_gone_count_until_the_core_answers_them() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let (_, held) = most();
    for is_answered in [true, false] {
        let line = line(1).0;
        let guest = Guest::start_on(line.clone(), &mut vhost, &mut kit, WRITES);
        guest.fill(&vhost);
        vhost.on_kicked(guest.key, &mut kit);
        settle(&mut vhost, &mut kit);
        let parts = held_writes(&mut vhost, HELD);
        vhost.close(&line, &mut kit);
        assert_eq!((vhost.rings(), vhost.requests_in_progress()), (0, 0));
        assert_eq!(kit.budget.held(), held);
        vhost.forget_orphans(OTHER, &mut kit);
        assert_eq!(kit.budget.held(), held);
        if !is_answered {
            vhost.forget_orphans(HELD, &mut kit);
            assert_eq!(kit.budget.held(), 0);
        }
        // What another data thread had of them comes too late.
        for (part, data) in parts {
            answer(part, data, &mut vhost, &mut kit);
        }
        assert_eq!((kit.budget.held(), vhost.requests.len(), vhost.orphans), (0, 0, 0));
    }
}

/// What holds no buffer was without a bound: rings of it took memory of the daemon, and its numbers
/// of requests, which end it.
#[test]
fn disk_has_so_many_requests_under_way_and_no_more() {
    let (mut kit, mut vhost) = (Kit::of_lone_shard(), Vhost::new());
    let line = line(1).0;
    let rings: Vec<_> = (0..4)
        .map(|number| Guest::start((HELD, line.clone(), number), &mut vhost, &mut kit, FLUSH))
        .collect();
    for ring in &rings {
        ring.fill(&vhost);
        vhost.on_kicked(ring.key, &mut kit);
    }
    let mut answered = 0;
    loop {
        settle(&mut vhost, &mut kit);
        assert!(vhost.requests_in_progress() <= GUEST_REQUESTS_MAX);
        let Some(Fact::Flush { part, .. }) = vhost.pop_fact() else { break };
        vhost.complete(part, Ok(None), &mut kit);
        answered += 1;
    }
    assert_eq!(answered, 4 * u32::from(SIZE));
    for ring in &rings {
        assert_eq!(ring.taken(&vhost), SIZE);
    }
}
