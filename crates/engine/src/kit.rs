//! The payload bytes that the core knows by number.
//!
//! An entry is a slice of one pool buffer and a count of references: the core's own, and one for
//! each device request and each send that uses the bytes. Several payloads may lie in one buffer
//! (messages that arrived together); the buffer goes back when the last of them does.

use format::frame::PayloadRef;
use format::ids::BlockMask;
use io::{Loan, Pool, Reactor, Slice};
use replication::contract::Payload;
use stdx::time::Time;

use crate::clients::budget::{Budget, buffer_bytes};

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: u32 = format::ids::BLOCK_BYTES as u32;

/// What every part of a shard works with.
#[derive(Debug)]
pub struct Kit {
    pub(crate) reactor: Reactor,
    pub(crate) payloads: Payloads,
    /// What clients hold of the reactors' buffers.
    pub(crate) budget: Budget,
    /// Sessions of clients that receive in a wide buffer and could do without (stream.rs).
    pub(crate) wide_clients: usize,
    /// The shard.
    pub(crate) me: u8,
    /// The time of this turn.
    pub(crate) now: Time,
}

#[cfg(test)]
impl Kit {
    /// Of a node with one shard.
    pub(crate) fn of_lone_shard() -> Self {
        Self::new(Reactor::new(io::Options::default()).unwrap(), 0, Time::ZERO)
    }

    /// Waits for something to happen, to a socket say.
    pub(crate) fn wait_for_events(&mut self) -> Vec<io::Event> {
        let mut events = Vec::new();
        let deadline = io::now() + std::time::Duration::from_secs(60);
        while events.is_empty() {
            assert!(io::now() < deadline, "nothing happens");
            self.reactor.turn(Some(deadline), &mut events).unwrap();
        }
        events
    }
}

impl Kit {
    /// Of the shard with this number.
    pub fn new(reactor: Reactor, me: u8, now: Time) -> Self {
        let (payloads, budget) = (Payloads::default(), Budget::default());
        Self { reactor, payloads, budget, wide_clients: 0, me, now }
    }

    /// Gives one reference back.
    pub(crate) fn release(&mut self, payload: Payload) {
        self.payloads.release(payload, self.reactor.pool());
    }

    /// What was read is kept for a client: the budget counts it until `give_up`.
    pub(crate) fn keep(&mut self, payload: Payload) {
        self.budget.keep(self.held_by(payload));
    }

    /// It was sent, or nobody is to have it.
    pub(crate) fn give_up(&mut self, payload: Payload) {
        self.budget.give_up(self.held_by(payload));
        self.release(payload);
    }

    /// The buffer that it takes, however little of it somebody wants.
    pub(crate) fn held_by(&self, payload: Payload) -> usize {
        buffer_bytes(self.payloads.slice(payload).length)
    }

    /// Lends a payload to another shard, and with it the caller's reference.
    pub(crate) fn lend(&mut self, payload: Payload) -> Loan {
        let slice = self.payloads.slice(payload);
        let tag = u64::from(self.me) << 32 | u64::from(payload.0);
        self.reactor.pool().lend_out(slice, tag)
    }

    /// Names what another shard lent, with one reference.
    pub(crate) fn borrow(&mut self, loan: Loan) -> Payload {
        let slice = self.reactor.pool().borrow(loan);
        self.payloads.adopt(slice)
    }

    /// A loan came back.
    pub(crate) fn take_back(&mut self, loan: Loan) {
        let low = loan.tag() & u64::from(u32::MAX);
        let payload = Payload(u32::try_from(low).expect("cut to 32 bits"));
        self.reactor.pool().take_back(loan);
        self.release(payload);
    }

    /// What is borrowed and not used any more, and the shard that lent it.
    pub(crate) fn pop_returned(&mut self) -> Option<(u8, Loan)> {
        let loan = self.reactor.pool().pop_returned()?;
        let owner = u8::try_from(loan.tag() >> 32).expect("the number of a shard");
        Some((owner, loan))
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    slice: Slice,
    references: u32,
    /// Of the whole slice, once somebody computed it.
    checksum: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Payloads {
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
}

impl Payloads {
    /// Names `slice`, of whose buffer the caller gives up one reference, with one reference.
    pub(crate) fn adopt(&mut self, slice: Slice) -> Payload {
        let entry = Some(Entry { slice, references: 1, checksum: None });
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            return Payload(index);
        }
        let index = u32::try_from(self.entries.len()).expect("bounded by the pool");
        self.entries.push(entry);
        self.free.reserve(self.entries.len());
        Payload(index)
    }

    pub(crate) fn retain(&mut self, payload: Payload) {
        self.entry_mut(payload).references += 1;
    }

    pub(crate) fn release(&mut self, payload: Payload, pool: &mut Pool) {
        let entry = self.entry_mut(payload);
        entry.references -= 1;
        if entry.references == 0 {
            let buffer = entry.slice.buffer;
            self.entries[payload.0 as usize] = None;
            self.free.push(payload.0);
            pool.release(buffer);
        }
    }

    pub(crate) fn slice(&self, payload: Payload) -> Slice {
        self.entry(payload).slice
    }

    pub(crate) fn set_checksum(&mut self, payload: Payload, checksum: u32) {
        self.entry_mut(payload).checksum = Some(checksum);
    }

    /// One more reference, for a message: what it says of the bytes. Their CRC-32C is computed at
    /// most once.
    pub(crate) fn retain_for_message(
        &mut self,
        payload: Payload,
        pool: &Pool,
        compute: impl FnOnce(&[u8]) -> u32,
    ) -> PayloadRef {
        let entry = self.entry_mut(payload);
        entry.references += 1;
        let crc = *entry.checksum.get_or_insert_with(|| compute(pool.bytes(entry.slice)));
        PayloadRef { length_bytes: entry.slice.length, crc }
    }

    /// Copies all of `patch` over `base` from byte `at` on.
    pub(crate) fn overlay(&mut self, base: Payload, patch: Payload, at: u32, pool: &mut Pool) {
        let from = self.slice(patch);
        let entry = self.entry_mut(base);
        entry.checksum = None;
        let to = entry.slice.part(at, from.length);
        pool.copy(from, to);
    }

    /// Moves the blocks of `keep` to the beginning, and forgets the others.
    pub(crate) fn keep_blocks(&mut self, payload: Payload, keep: BlockMask, pool: &mut Pool) {
        let entry = self.entry_mut(payload);
        assert_eq!(entry.references, 1, "only the core uses what it cuts");
        let slice = entry.slice;
        let mut kept = 0;
        for (start, count) in keep.runs() {
            for block in start..start + count {
                if block > kept {
                    let from = slice.part(block * BLOCK, BLOCK);
                    pool.copy(from, slice.part(kept * BLOCK, BLOCK));
                }
                kept += 1;
            }
        }
        entry.slice = slice.part(0, kept * BLOCK);
        entry.checksum = None;
    }

    fn entry(&self, payload: Payload) -> &Entry {
        self.entries[payload.0 as usize].as_ref().expect("the core names payloads that it holds")
    }

    fn entry_mut(&mut self, payload: Payload) -> &mut Entry {
        self.entries[payload.0 as usize].as_mut().expect("the core names payloads that it holds")
    }
}
