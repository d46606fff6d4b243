//! Rings: what is taken, what is shown, and when the other side is told.

use frontend::vhost::ring::{Chain, Signal};

use crate::guest::{BORDER, EVENTS, Guest, INDIRECT, NEXT, PLACE, PLAIN, SIZE, WRITE};

#[test]
fn request_is_taken_once_and_its_answer_shown_when_published() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    let mut chain = Chain::default();
    assert_eq!(ring.take(&mut chain), Ok(None));
    guest.put(0x5000, b"data of a write");
    guest.request(2, 1, 0, (0x5000, 15, 0));
    assert_eq!(ring.take(&mut chain), Ok(Some(2)));
    assert_eq!(ring.take(&mut Chain::default()), Ok(None));
    assert_eq!((chain.readable_bytes(), chain.writable_bytes(), ring.taken()), (31, 1, 1));
    let mut data = [0; 9];
    chain.read(&guest.memory, 22, &mut data).unwrap();
    assert_eq!(&data, b"f a write");
    chain.write(&guest.memory, 0, &[7]).unwrap();
    ring.put(2, 1).unwrap();
    assert_eq!((guest.used_index(), ring.taken()), (0, 0), "not shown yet");
    assert_eq!(ring.publish(), Ok(Signal::Needed));
    assert_eq!((guest.used_index(), guest.answer(0)), (1, (2, 1)));
    assert_eq!(ring.publish(), Ok(Signal::Spared), "there is nothing new");
    assert_eq!(guest.get::<1>(0x4220), [7]);
}

#[test]
fn many_answers_need_one_signal_and_only_when_it_is_awaited() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    let used_event = PLACE.available + 4 + 2 * u64::from(SIZE);
    for round in 0..50_u16 {
        for head in [0, 3] {
            guest.request(head, 0, 0, (0x5000, 512, WRITE));
            assert_eq!(ring.take(&mut Chain::default()), Ok(Some(head)));
        }
        for head in [3, 0] {
            ring.put(head, 513).unwrap();
        }
        let index = round.wrapping_mul(2);
        // Every other round waits for its second answer, and the rest for one that is far away.
        let awaited = if round % 2 == 0 { index + 1 } else { index + 100 };
        guest.put(used_event, &awaited.to_le_bytes());
        let wanted = if round % 2 == 0 { Signal::Needed } else { Signal::Spared };
        assert_eq!(ring.publish(), Ok(wanted), "round {round}");
        assert_eq!(guest.used_index(), index + 2);
        assert_eq!((guest.answer(index).0, guest.answer(index + 1).0), (3, 0));
    }
}

#[test]
fn driver_without_events_says_by_a_flag_that_it_wants_no_signal() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(PLAIN, None);
    for flag in [0_u16, 1, 0] {
        guest.put(PLACE.available, &flag.to_le_bytes());
        guest.request(0, 0, 0, (0x5000, 512, WRITE));
        ring.take(&mut Chain::default()).unwrap();
        ring.put(0, 513).unwrap();
        let wanted = if flag == 0 { Signal::Needed } else { Signal::Spared };
        assert_eq!(ring.publish(), Ok(wanted));
    }
}

#[test]
fn kick_is_asked_for_at_the_next_request() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    let available_event = PLACE.used + 4 + 8 * u64::from(SIZE);
    assert_eq!(ring.ask_for_kick(), Ok(false));
    assert_eq!(guest.get::<2>(available_event), [0, 0]);
    guest.request(0, 0, 0, (0x5000, 512, WRITE));
    assert_eq!(ring.ask_for_kick(), Ok(true), "it came before the asking");
    ring.take(&mut Chain::default()).unwrap();
    assert_eq!(ring.ask_for_kick(), Ok(false));
    assert_eq!(guest.get::<2>(available_event), [1, 0]);
}

#[test]
fn indices_go_on_over_the_end_of_their_numbers() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    for round in 0..70_000_u32 {
        guest.request(3, 0, 0, (0x5000, 512, WRITE));
        assert_eq!(ring.take(&mut Chain::default()), Ok(Some(3)), "round {round}");
        ring.put(3, 1).unwrap();
        ring.publish().unwrap();
    }
    assert_eq!(u32::from(guest.used_index()), 70_000 % (1 << 16));
}

#[test]
fn indirect_chain_may_lie_over_the_border_of_two_regions() {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    let table = BORDER - 16;
    guest.put(0x4000, &[0; 16]);
    guest.describe(table, 0, 0x4000, 16, [NEXT, 2]);
    guest.describe(table, 2, BORDER + 0x100 - 0x200, 0x400, [NEXT | WRITE, 1]);
    guest.describe(table, 1, 0x4020, 1, [WRITE, 0]);
    guest.describe(PLACE.descriptors, 5, table, 48, [INDIRECT, 0]);
    guest.offer(5);
    let mut chain = Chain::default();
    assert_eq!(ring.take(&mut chain), Ok(Some(5)));
    assert_eq!((chain.readable_bytes(), chain.writable_bytes()), (16, 0x401));
    let answer: Vec<u8> = (0..0x401_u32).map(|n| (n % 251) as u8).collect();
    chain.write(&guest.memory, 0, &answer).unwrap();
    assert_eq!(guest.get::<0x400>(BORDER - 0x100)[..], answer[..0x400]);
    assert_eq!(guest.get::<1>(0x4020), answer[0x400..]);
}
