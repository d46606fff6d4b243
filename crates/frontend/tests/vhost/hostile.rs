//! A driver and a monitor that mean ill: the device is broken off with a reason, and nothing
//! panics, loops or is touched outside of the memory.
#![expect(clippy::cast_possible_truncation, reason = "small numbers, made from random ones")]

use frontend::vhost::config::Disk;
use frontend::vhost::memory::{GuestMemory, Region};
use frontend::vhost::request::Wanted;
use frontend::vhost::ring::{CHAIN_MAX, Chain, Place};
use frontend::vhost::session::{Passed, Session};
use frontend::vhost::wire::{HEADER_BYTES, Header};
use stdx::random::Random;

use crate::guest::{BORDER, Bytes, END, EVENTS, Guest, INDIRECT, NEXT, PLACE, SIZE, WRITE};
use crate::inflight::{LAYOUT, slots};
use crate::monitor::other_file;

/// What a ring says of descriptors that `prepare` wrote, whose first one is 0.
fn refusal(prepare: impl FnOnce(&Guest)) -> String {
    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    prepare(&guest);
    guest.offer(0);
    ring.take(&mut Chain::default()).unwrap_err().to_string()
}

#[test]
fn chain_without_an_end_is_broken_off() {
    let said = refusal(|guest| guest.describe(PLACE.descriptors, 0, 0x4000, 16, [NEXT, 0]));
    assert_eq!(said, "the guest's driver sent a chain of more than 130 descriptors");
    let said = refusal(|guest| {
        guest.describe(PLACE.descriptors, 0, 0x5000, 32, [INDIRECT, 0]);
        guest.describe(0x5000, 0, 0x4000, 1, [NEXT, 1]);
        guest.describe(0x5000, 1, 0x4000, 1, [NEXT, 0]);
    });
    assert_eq!(said, "the guest's driver sent a chain of more than 130 descriptors");
}

/// Drivers hear how many segments they may send, and two more make no difference. The memory of a
/// chain, and the time that it takes, follow its length.
#[test]
fn chain_that_is_longer_than_what_is_offered_is_broken_off() {
    let of = |length: u16| {
        let mut guest = Guest::new();
        guest.describe(PLACE.descriptors, 0, 0x5000, 16 * u32::from(length), [INDIRECT, 0]);
        for index in 0..length {
            let next = if index + 1 < length { NEXT } else { WRITE };
            guest.describe(0x5000, index, 0x4000, 16, [next, index + 1]);
        }
        let mut ring = guest.ring(EVENTS, None);
        guest.offer(0);
        let mut chain = Chain::default();
        ring.take(&mut chain).map(|_| chain.descriptors())
    };
    assert_eq!(of(CHAIN_MAX as u16).unwrap(), CHAIN_MAX + 1, "and the one that names the table");
    for length in [CHAIN_MAX as u16 + 1, 1024] {
        let said = of(length).unwrap_err().to_string();
        assert_eq!(said, "the guest's driver sent a chain of more than 130 descriptors");
    }
}

#[test]
fn addresses_outside_of_the_memory_are_broken_off() {
    for (address, length) in [
        (END, 1),
        (END - 1, 2),
        (u64::MAX, 1),
        (u64::MAX - 15, 16),
        (u64::MAX - 15, u32::MAX),
        (0, u32::MAX),
        (BORDER - 1, u32::MAX),
    ] {
        for flags in [0, WRITE] {
            let said = refusal(|guest| {
                guest.describe(PLACE.descriptors, 0, address, length, [flags, 0]);
            });
            assert!(said.contains("where there is no memory"), "{address:#x} {length}: {said}");
        }
    }
}

#[test]
fn tables_of_descriptors_that_cannot_be_are_broken_off() {
    let table = PLACE.descriptors;
    for (address, length, flags) in [
        (0x5000, 0, INDIRECT),
        (0x5000, 17, INDIRECT),
        (0x5000, 16 * 1025, INDIRECT),
        (0x5000, !15, INDIRECT),
        (END - 16, 32, INDIRECT),
        (u64::MAX - 7, 16, INDIRECT),
        (0x5000, 16, INDIRECT | NEXT),
    ] {
        let said = refusal(|guest| guest.describe(table, 0, address, length, [flags, 1]));
        assert!(said.contains("table of descriptors that cannot be"), "{address:#x}: {said}");
    }
    let said = refusal(|guest| {
        guest.describe(table, 0, 0x5000, 16, [INDIRECT, 0]);
        guest.describe(0x5000, 0, 0x5000, 16, [INDIRECT, 0]);
    });
    assert!(said.contains("table of descriptors that cannot be"), "a table in a table: {said}");
    for next in [SIZE, u16::MAX] {
        let said = refusal(|guest| guest.describe(table, 0, 0x4000, 16, [NEXT, next]));
        assert!(said.contains(&format!("names descriptor {next} of a table of 8")), "{said}");
    }
    let said = refusal(|guest| {
        guest.describe(table, 0, 0x4000, 1, [WRITE | NEXT, 1]);
        guest.describe(table, 1, 0x4000, 16, [0, 0]);
    });
    assert!(said.contains("whose order cannot be"), "{said}");
}

#[test]
fn indices_that_cannot_be_are_broken_off() {
    let guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    guest.put(PLACE.available + 2, &(SIZE + 1).to_le_bytes());
    let said = ring.take(&mut Chain::default()).unwrap_err().to_string();
    assert_eq!(said, "the guest's driver is 9 requests ahead in its ring");

    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    guest.offer(SIZE);
    ring.take(&mut Chain::default()).unwrap_err();

    let mut guest = Guest::new();
    let mut ring = guest.ring(EVENTS, None);
    guest.request(0, 0, 0, (0x5000, 512, WRITE));
    guest.offer(0);
    ring.take(&mut Chain::default()).unwrap();
    let said = ring.take(&mut Chain::default()).unwrap_err().to_string();
    assert_eq!(said, "the guest's driver sent request 0 twice");
}

#[test]
fn rings_that_cannot_be_are_refused() {
    let guest = Guest::new();
    for place in [
        Place { size: 0, ..PLACE },
        Place { size: 7, ..PLACE },
        Place { size: 2048, ..PLACE },
        Place { descriptors: PLACE.descriptors + 8, ..PLACE },
        Place { descriptors: END - 16, ..PLACE },
        Place { available: PLACE.available + 1, ..PLACE },
        Place { available: u64::MAX - 1, ..PLACE },
        Place { used: PLACE.used + 2, ..PLACE },
        Place { used: END - 68, ..PLACE },
    ] {
        guest.try_ring(place, EVENTS, None).unwrap_err();
    }
    guest.try_ring(Place { used: END - 72, ..PLACE }, EVENTS, None).unwrap();
}

#[test]
fn memory_that_cannot_be_is_refused() {
    let region = |guest_address, length, user_address, file_offset| Region {
        guest_address,
        length,
        user_address,
        file_offset,
    };
    let good = region(0, 4096, 0, 0);
    for bad in [
        region(0, 0, 0, 0),
        region(u64::MAX, 2, 0, 0),
        region(8192, 2, u64::MAX, 0),
        region(8192, 2, 0, u64::MAX),
        region(4095, 2, 0, 0),
        region(0, 1, 0, 0),
        region(8192, 5000, 0, 0),
    ] {
        let parts = vec![(good, Bytes::new(4096)), (bad, Bytes::new(4096))];
        GuestMemory::new(parts).unwrap_err();
    }
}

/// Bytes of a guest that was well, and then had some of them changed, again and again.
#[test]
fn garbage_in_the_guest_s_memory_ends_well() {
    let disk = Disk { size_bytes: 1 << 20, block_bytes: 512, queues_max: 1 };
    let mut broken = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut guest = Guest::new();
        let mut ring = guest.ring(EVENTS, Some(slots(&Bytes::new(8192))));
        guest.request(0, random.below(14) as u32, random.below(3000), (0x5000, 4096, WRITE));
        guest.request(4, 1, 8, (0x5000, 4096, 0));
        for _ in 0..random.below(12) {
            let at = [PLACE.descriptors, PLACE.available, PLACE.used, 0x4000];
            let at = at[random.below(4) as usize] + random.below(120);
            let byte = [0, 1, 2, 4, 0x10, 0x80, 0xff, random.below(256) as u8];
            guest.put(at, &[byte[random.below(8) as usize]]);
        }
        let mut chain = Chain::default();
        for _ in 0..20 {
            let step = ring.take(&mut chain).and_then(|head| {
                let Some(head) = head else { return Ok(false) };
                Wanted::read(&chain, &guest.memory, &disk)?;
                chain.write(
                    &guest.memory,
                    0,
                    &[0; 4097][..chain.writable_bytes().min(4097) as usize],
                )?;
                ring.put(head, 1)?;
                ring.publish()?;
                ring.ask_for_kick()
            });
            match step {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    broken += 1;
                    break;
                }
            }
        }
    }
    assert!((300..2990).contains(&broken), "{broken} of 3000 guests were broken off");
}

/// A monitor's messages with any content: refused or taken, and never a panic.
#[test]
fn garbage_from_the_monitor_ends_well() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut session =
            Session::new(Disk { size_bytes: 1 << 20, block_bytes: 512, queues_max: 2 });
        let guest = Guest::new();
        for _ in 0..60 {
            let mut bytes = [0; HEADER_BYTES];
            bytes[0] = random.below(40) as u8;
            bytes[4] = [1, 1, 1, 9, 5, 0][random.below(6) as usize];
            bytes[8] = [0, 4, 8, 13, 20, 24, 40, 72][random.below(8) as usize];
            let Ok(header) = Header::decode(&bytes) else {
                refused += 1;
                continue;
            };
            let small = random.chance(3, 4);
            let byte = |_| if small { random.below(3) as u8 } else { random.below(256) as u8 };
            let payload: Vec<u8> = (0..header.size).map(byte).collect();
            let is_eventfd = random.chance(1, 2);
            let file = |_| if is_eventfd { Passed::Eventfd(()) } else { other_file() };
            let files = (0..random.below(3)).map(file);
            match session.step(header, &payload, files.collect()) {
                Ok(_) => taken += 1,
                Err(_) => refused += 1,
            }
            for ring in 0..2 {
                drop(session.place(ring, &guest.memory));
            }
        }
    }
    assert!(taken > 2000 && refused > 2000, "{taken} taken, {refused} refused");
}

/// To poll another file, or to write it, may take as long as its owner likes.
#[test]
fn files_that_are_no_eventfds_are_refused_where_one_is_wanted() {
    for (request, role) in [(12, "kick of ring 1"), (13, "call of ring 1"), (14, "error of a ring")]
    {
        let mut session =
            Session::new(Disk { size_bytes: 1 << 20, block_bytes: 512, queues_max: 2 });
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[4], bytes[8]) = (request, 1, 8);
        let mut send = |file| {
            let header = Header::decode(&bytes).unwrap();
            session.step(header, &1_u64.to_le_bytes(), vec![file]).map(|_| ())
        };
        send(Passed::Eventfd(())).unwrap();
        let said = send(other_file()).unwrap_err().to_string();
        assert_eq!(said, format!("the monitor gives a file that is no eventfd as the {role}"));
    }
    let mut session: Session<()> =
        Session::new(Disk { size_bytes: 1 << 20, block_bytes: 512, queues_max: 2 });
    let mut bytes = [0; HEADER_BYTES];
    (bytes[0], bytes[4], bytes[8]) = (5, 1, 40);
    let table = [1_u64, 0, 4096, 0, 0].map(u64::to_le_bytes).concat();
    let header = Header::decode(&bytes).unwrap();
    let said = session.step(header, &table, vec![Passed::Eventfd(())]).unwrap_err().to_string();
    assert_eq!(said, "the monitor shares memory of an eventfd");
}

/// Kept requests are the monitor's memory, too.
#[test]
fn garbage_in_kept_requests_ends_well() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let kept = Bytes::new(8192);
        let byte =
            |byte: &mut u8| *byte = [0, 1, 7, random.below(256) as u8][random.below(4) as usize];
        kept.0.lock().unwrap().iter_mut().for_each(byte);
        let mut guest = Guest::new();
        guest.request(0, 0, 0, (0x5000, 512, WRITE));
        let mut ring = guest.ring(EVENTS, Some(slots(&kept)));
        let mut chain = Chain::default();
        while let Ok(Some(head)) = ring.take(&mut chain) {
            ring.put(head, 1).unwrap();
        }
        ring.publish().unwrap();
        LAYOUT.read_mark(&kept).unwrap_err();
    }
}
