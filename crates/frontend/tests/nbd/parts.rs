//! Parts of reads and writes: every order and every set of failures of a few parts.

use frontend::nbd::limits::{PART_BYTES, PARTS_MAX};
use frontend::nbd::parts::{ReadAssembly, Send, Split, WriteAssembly};
use frontend::nbd::reply::ChunkEnd;
use frontend::nbd::transmission::{Kind, Request};
use frontend::nbd::wire::{Errno, ReplyForm};

const PART: u64 = PART_BYTES as u64;

const READ: Kind = Kind::Read { df: false };
const READ_DF: Kind = Kind::Read { df: true };

fn request(kind: Kind, offset: u64, length: u64) -> Request {
    Request { cookie: 1, kind, offset, length, fua: false }
}

#[test]
fn parts_cover_the_request_and_end_on_boundaries() {
    let longest = 32 << 20;
    let cases = [
        (0, 512, 1),
        (0, PART, 1),
        (512, PART, 2),
        (PART - 512, 512, 1),
        (PART - 512, 1024, 2),
        (0, longest, PARTS_MAX - 1),
        (512, longest, PARTS_MAX),
        (PART * 1000 - 512, longest, PARTS_MAX),
        (u64::MAX - longest, longest, PARTS_MAX),
    ];
    for (offset, length, count) in cases {
        let split = Split::new(&request(READ, offset, length));
        assert_eq!(split.count(), count);
        let mut at = offset;
        for (part, index) in split.parts().zip(0..) {
            assert_eq!((part.index, part.offset), (index, at));
            at += u64::from(part.length);
            assert!(part.length > 0 && u64::from(part.length) <= PART);
            assert!(at == offset + length || at.is_multiple_of(PART));
        }
        assert_eq!(at, offset + length);
    }
}

#[test]
fn the_first_error_of_a_write_stays_its_answer() {
    let split = Split::new(&request(Kind::Write, 0, 3 * PART));
    let mut write = WriteAssembly::new(&split);
    assert_eq!(write.on_part(Ok(())), None);
    assert_eq!(write.on_part(Err(Errno::NoSpace)), None);
    assert_eq!(write.on_part(Err(Errno::Io)), Some(Err(Errno::NoSpace)));
    let mut write = WriteAssembly::new(&split);
    assert_eq!(write.on_part(Err(Errno::Io)), None);
    assert_eq!(write.on_part(Ok(())), None);
    assert_eq!(write.on_part(Ok(())), Some(Err(Errno::Io)));
}

/// All orders of the numbers below `count`.
fn orders(count: u16) -> Vec<Vec<u16>> {
    let mut orders = vec![vec![]];
    for next in 0..count {
        let insert = |order: &Vec<u16>, at| {
            let mut order = order.clone();
            order.insert(at, next);
            order
        };
        orders = orders.iter().flat_map(|o| (0..=o.len()).map(move |at| insert(o, at))).collect();
    }
    orders
}

/// What a client of the assembly would see on the wire.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    sent: Vec<u16>,
    zeroed: Vec<u16>,
    heads: u32,
    dones: u32,
    error: bool,
    hung_up: bool,
}

fn run(mut assembly: ReadAssembly, order: &[u16], failing: u16) -> Seen {
    let mut seen = Seen::default();
    let mut ready = 0_u16;
    for index in order {
        let fails = failing & (1 << index) != 0;
        ready |= u16::from(!fails) << index;
        assembly.on_part(*index, if fails { Err(Errno::Io) } else { Ok(()) });
        loop {
            let was_over = assembly.is_over();
            let send = assembly.next_send();
            assert!(!was_over || send == Send::Wait, "{send:?} after the end");
            match send {
                Send::Wait => break,
                Send::Chunk { part, end } => {
                    assert!(ready & (1 << part) != 0, "part {part} is not there");
                    seen.sent.push(part);
                    seen.heads += 1;
                    seen.dones += u32::from(end == ChunkEnd::Done);
                }
                Send::WholeHead { end } => {
                    seen.heads += 1;
                    seen.dones += u32::from(end == ChunkEnd::Done);
                }
                Send::Data { part, .. } => {
                    assert!(ready & (1 << part) != 0, "part {part} is not there");
                    seen.sent.push(part);
                }
                Send::Zeroes { part } => seen.zeroed.push(part),
                Send::Success => seen.dones += 1,
                Send::Error(_) => (seen.error, seen.dones) = (true, seen.dones + 1),
                Send::HangUp => seen.hung_up = true,
            }
        }
    }
    assert!(assembly.is_over() && assembly.is_drained());
    seen
}

#[test]
fn every_order_and_every_failure_ends_in_one_whole_reply() {
    for count in 1..=5_u16 {
        for order in orders(count) {
            for failing in 0..1_u16 << count {
                for (form, kind) in [
                    (ReplyForm::Simple, READ),
                    (ReplyForm::Structured, READ),
                    (ReplyForm::Extended, READ_DF),
                ] {
                    let request = request(kind, 0, u64::from(count) * PART);
                    let seen = run(ReadAssembly::new(&request, form), &order, failing);
                    check(&seen, form, kind, count, failing);
                }
            }
        }
    }
}

fn check(seen: &Seen, form: ReplyForm, kind: Kind, count: u16, failing: u16) {
    let all: Vec<u16> = (0..count).collect();
    let is_ascending = seen.sent.is_sorted_by(|a, b| a < b);
    let is_one_head = form == ReplyForm::Simple || kind == READ_DF;
    assert_eq!(seen.error || seen.hung_up, failing != 0, "{seen:?}");
    assert!(!seen.hung_up || form == ReplyForm::Simple, "{seen:?}");
    assert!(!is_one_head || (is_ascending && seen.heads <= 1), "{seen:?}");
    if failing == 0 {
        let mut sent = seen.sent.clone();
        sent.sort_unstable();
        assert_eq!(sent, all);
        assert!(seen.zeroed.is_empty() && seen.dones == 1, "{seen:?}");
        return;
    }
    match (form, kind) {
        (ReplyForm::Simple, _) => {
            assert!(seen.zeroed.is_empty());
            // A head promises all data; the promise is kept or the connection ends.
            assert_eq!(seen.hung_up, seen.heads == 1, "{seen:?}");
        }
        (_, READ_DF) => {
            // A chunk that was begun is as long as it said.
            let told = seen.sent.len() + seen.zeroed.len();
            assert_eq!(told, if seen.heads == 1 { usize::from(count) } else { 0 }, "{seen:?}");
            assert_eq!(seen.dones, 1, "{seen:?}");
        }
        (_, _) => {
            let sound = usize::from(count) - failing.count_ones() as usize;
            assert_eq!(seen.sent.len(), sound, "{seen:?}");
            assert_eq!(seen.dones, 1, "{seen:?}");
        }
    }
}
