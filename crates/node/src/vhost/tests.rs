//! Guests that do what they must not, as a shard sees them.

use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use super::fixture::{FLUSH, Guest, PER_REQUEST, SIZE, UNKNOWN, kit};
use super::*;
use crate::limits::{
    GUEST_CHAINS_SPARE_MAX, GUEST_DESCRIPTORS_PER_LOOK, GUEST_DESCRIPTORS_PER_TURN,
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
    let (mut kit, mut vhost) = (kit(), Vhost::new());
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
    let (mut kit, mut vhost) = (kit(), Vhost::new());
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

/// What guests once had under way all together was kept as long as the daemon ran.
#[test]
fn memory_of_chains_is_kept_for_so_many_and_no_more() {
    let (mut kit, mut vhost) = (kit(), Vhost::new());
    let guests: Vec<_> =
        (0..3).map(|session| start(&mut vhost, &mut kit, session, FLUSH)).collect();
    for guest in &guests {
        guest.fill(&vhost);
        vhost.on_kicked(guest.key, &mut kit);
    }
    while vhost.is_waiting() {
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
    let (mut kit, mut vhost) = (kit(), Vhost::new());
    let (line, news) = line(1);
    let guest = Guest::start_on(line.clone(), &mut vhost, &mut kit, UNKNOWN);
    let error = std::io::Error::from_raw_os_error(libc::ENOMEM);
    vhost.on_kicks_failed(guest.key, &error, &mut kit);
    let Ok(News::Over(reason)) = news.try_recv() else { panic!("its thread is told") };
    assert!(reason.contains("ring 0: its kicks are not heard"), "{reason}");
    assert_eq!(vhost.rings(), 0);
    assert!(vhost.find(line.session, 0).is_none());
}
