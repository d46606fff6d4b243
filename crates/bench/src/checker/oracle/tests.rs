//! Planted histories that must be reported, and random ones judged by a search over all orders.

use stdx::random::Random;

use super::*;

/// One block, so that a test reads as a history.
struct OneBlock(Oracle);

impl OneBlock {
    fn new() -> Self {
        Self(Oracle::new(1))
    }

    fn start_write(&mut self) -> Write {
        self.0.start_write(0..1)
    }

    fn write(&mut self) -> WriteId {
        let write = self.start_write();
        let id = write.id;
        self.0.complete_write(write);
        id
    }

    fn start_read(&mut self) -> Read {
        self.0.start_read(0..1)
    }

    fn read(&mut self, content: Content) -> usize {
        let read = self.start_read();
        self.0.complete_read(read, &[content])
    }

    fn kinds(&self) -> Vec<ViolationKind> {
        self.0.violations().iter().map(|violation| violation.kind).collect()
    }
}

#[test]
fn what_was_written_last_may_be_read() {
    let mut block = OneBlock::new();
    assert_eq!(block.read(Content::Foreign), 0);
    let first = block.write();
    assert_eq!(block.read(Content::Written(first)), 0);
    let second = block.write();
    assert_eq!(block.read(Content::Written(second)), 0);
}

#[test]
fn a_lost_write_is_reported_once() {
    let mut block = OneBlock::new();
    let first = block.write();
    let _second = block.write();
    assert_eq!(block.read(Content::Written(first)), 1);
    assert_eq!(block.read(Content::Written(first)), 0, "the same damage is counted once");
    assert_eq!(block.kinds(), [ViolationKind::Lost]);
}

#[test]
fn a_first_write_that_left_zeroes_is_lost() {
    let mut block = OneBlock::new();
    let _first = block.write();
    assert_eq!(block.read(Content::Foreign), 1);
    assert_eq!(block.kinds(), [ViolationKind::Lost]);
}

#[test]
fn an_old_value_that_is_gone_at_the_next_read_is_stale() {
    let mut block = OneBlock::new();
    let first = block.write();
    let second = block.write();
    assert_eq!(block.read(Content::Written(first)), 1);
    assert_eq!(block.read(Content::Written(second)), 0);
    assert_eq!(block.kinds(), [ViolationKind::Stale]);
}

#[test]
fn a_flip_flop_between_concurrent_writes_is_reported() {
    let mut block = OneBlock::new();
    let (first, second) = (block.start_write(), block.start_write());
    let (one, two) = (first.id, second.id);
    block.0.complete_write(first);
    block.0.complete_write(second);
    assert_eq!(block.read(Content::Written(one)), 0);
    assert_eq!(block.read(Content::Written(two)), 1);
    assert_eq!(block.read(Content::Written(one)), 0);
    assert_eq!(block.kinds(), [ViolationKind::Stale]);
}

#[test]
fn a_flip_flop_is_reported_while_both_writes_are_in_flight() {
    let mut block = OneBlock::new();
    let (first, second) = (block.start_write(), block.start_write());
    assert_eq!(block.read(Content::Written(first.id)), 0);
    assert_eq!(block.read(Content::Written(second.id)), 0);
    assert_eq!(block.read(Content::Written(first.id)), 1);
}

#[test]
fn a_torn_and_a_misdirected_block_are_reported() {
    let mut block = OneBlock::new();
    let write = block.write();
    assert_eq!(block.read(Content::Torn), 1);
    assert_eq!(block.read(Content::Misdirected { from: 3, write }), 1);
    assert_eq!(block.read(Content::Written(write)), 0, "the next read may be whole");
    assert_eq!(block.kinds(), [ViolationKind::Torn, ViolationKind::Misdirected]);
}

#[test]
fn a_write_of_a_dead_session_may_show_or_not_but_only_once_decided() {
    for shows in [false, true] {
        let mut block = OneBlock::new();
        let old = block.write();
        let dead = block.start_write();
        let dead_id = dead.id;
        block.0.abandon_write(dead);
        let (seen, other) = if shows { (dead_id, old) } else { (old, dead_id) };
        assert_eq!(block.read(Content::Written(seen)), 0);
        assert_eq!(block.read(Content::Written(other)), 1, "a decided block never changes back");
    }
}

#[test]
fn a_write_of_a_dead_session_that_lands_after_a_newer_write_is_reported() {
    let mut block = OneBlock::new();
    let dead = block.start_write();
    let dead_id = dead.id;
    block.0.abandon_write(dead);
    block.write();
    assert_eq!(block.read(Content::Written(dead_id)), 1);
}

#[test]
fn a_read_that_overlaps_a_write_may_return_old_or_new() {
    for returns_new in [false, true] {
        let mut block = OneBlock::new();
        let old = block.write();
        let read = block.start_read();
        let new = block.write();
        let got = if returns_new { new } else { old };
        assert_eq!(block.0.complete_read(read, &[Content::Written(got)]), 0);
        assert_eq!(block.read(Content::Written(new)), 0);
    }
}

#[test]
fn an_id_that_was_never_written_is_reported() {
    let mut block = OneBlock::new();
    assert_eq!(block.read(Content::Written(WriteId(99))), 1);
}

#[test]
fn a_request_over_several_blocks_is_judged_block_by_block() {
    let mut oracle = Oracle::new(4);
    let first = oracle.start_write(0..4);
    let one = Content::Written(first.id);
    oracle.complete_write(first);
    let second = oracle.start_write(1..3);
    let two = Content::Written(second.id);
    oracle.complete_write(second);
    let read = oracle.start_read(0..4);
    assert_eq!(oracle.complete_read(read, &[one, two, one, one]), 1);
    assert_eq!(oracle.violations()[0].block, 2);
}

#[test]
fn old_candidates_do_not_pile_up() {
    let mut block = OneBlock::new();
    for _ in 0..100 {
        block.write();
        assert_eq!(block.0.blocks[0].candidates.len(), 1);
    }
}

/// A request of a random history; times are its position in the order of starts and ends.
#[derive(Clone, Copy, Debug)]
struct Request {
    start: usize,
    /// Position past every other one for a write without an answer.
    end: usize,
    action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Write(u64),
    Read(u64),
}

/// Judges by trying every order: the requests left, and the value before them.
fn is_explained(requests: &[Request], done: u32, value: u64, pending: usize) -> bool {
    let left = |index: usize| done & (1 << index) == 0;
    let is_settled = |index: usize| !left(index) || requests[index].end == pending;
    if (0..requests.len()).all(is_settled) {
        return true;
    }
    let first_end =
        (0..requests.len()).filter(|i| left(*i)).map(|i| requests[i].end).min().unwrap_or(pending);
    (0..requests.len()).filter(|i| left(*i) && requests[*i].start < first_end).any(|i| {
        let next = done | (1 << i);
        match requests[i].action {
            Action::Write(id) => is_explained(requests, next, id, pending),
            Action::Read(id) => id == value && is_explained(requests, next, value, pending),
        }
    })
}

/// Requests with random overlaps; a write may stay without an answer.
fn random_history(random: &mut Random) -> (Vec<Request>, usize) {
    let count = 3 + usize::try_from(random.below(5)).unwrap();
    let mut events: Vec<usize> = (0..count).chain(0..count).collect();
    // Mostly short requests: a full shuffle makes nearly everything overlap.
    let reach = 2 + random.below(events.len() as u64);
    events.sort_by_key(|request| *request as u64 * 2 + random.below(reach * 2));
    let pending = events.len();
    let mut writes = 0;
    let mut requests = Vec::new();
    for request in 0..count {
        let mut at = (0..pending).filter(|position| events[*position] == request);
        let (start, mut end) = (at.next().unwrap(), at.next().unwrap());
        let action = if random.chance(1, 2) {
            writes += 1;
            if random.chance(1, 5) {
                end = pending;
            }
            Action::Write(writes)
        } else {
            Action::Read(0)
        };
        requests.push(Request { start, end, action });
    }
    for request in &mut requests {
        if let Action::Read(id) = &mut request.action {
            *id = random.below(writes + 1);
        }
    }
    (requests, pending)
}

fn is_accepted_by_the_oracle(requests: &[Request], pending: usize) -> bool {
    let mut block = OneBlock::new();
    let mut ids = BTreeMap::from([(0, Content::Foreign)]);
    let mut writes = BTreeMap::new();
    let mut reads = BTreeMap::new();
    for now in 0..pending {
        for (index, request) in requests.iter().enumerate() {
            match request.action {
                Action::Write(id) if request.start == now => {
                    let write = block.start_write();
                    ids.insert(id, Content::Written(write.id));
                    writes.insert(index, write);
                }
                Action::Read(_) if request.start == now => {
                    reads.insert(index, block.start_read());
                }
                Action::Write(_) if request.end == now => {
                    block.0.complete_write(writes.remove(&index).unwrap());
                }
                Action::Read(id) if request.end == now => {
                    let unknown = Content::Written(WriteId(1 << 40));
                    let content = ids.get(&id).copied().unwrap_or(unknown);
                    block.0.complete_read(reads.remove(&index).unwrap(), &[content]);
                }
                Action::Write(_) | Action::Read(_) => {}
            }
        }
    }
    block.0.violations().is_empty()
}

#[test]
fn the_oracle_agrees_with_a_search_over_all_orders() {
    let mut explained = 0u32;
    let histories = 200_000;
    for seed in 0..histories {
        let (requests, pending) = random_history(&mut Random::new(seed));
        let expected = is_explained(&requests, 0, 0, pending);
        let accepted = is_accepted_by_the_oracle(&requests, pending);
        assert_eq!(accepted, expected, "history of seed {seed}: {requests:?}");
        explained += u32::from(expected);
    }
    let share = f64::from(explained) / f64::from(u32::try_from(histories).unwrap());
    assert!((0.1..0.9).contains(&share), "one-sided histories prove little: {share}");
}
