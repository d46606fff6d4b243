//! Memory that outlives a server: which requests it took and did not answer.
//!
//! The monitor keeps it and hands it to the next server, which does those requests again. For each
//! queue, as the vhost-user specification has it, and behind all queues a mark of ours:
//!
//! ```text
//! queue   features u64, version u16, size u16, last head u16, used index u16
//!         for each head: in flight u8, 5 unused, next u16, order u64
//! mark    "basalt\0" and version u8, tenure u64, losses u32, write back u8      little-endian
//! ```
//!
//! Answers of one batch are linked from the last head on before the used index moves, and only
//! then taken out: so a server that died between knows which of them the driver has.
//!
//! The mark says whose data the guest has seen. A server may go on only where nobody else wrote
//! meanwhile and nothing was lost; else the guest's cache would belong to another history.

use std::sync::Arc;

use crate::vhost::Broken;
use crate::vhost::config::{Cache, RING_SIZE_MAX};
use crate::vhost::memory::Shared;

const HEAD_BYTES: u64 = 16;
const SLOT_BYTES: u64 = 16;
const ALIGNMENT: u64 = 64;
const VERSION: u16 = 1;
const SIGN: [u8; 8] = *b"basalt\0\x01";
const MARK_BYTES: usize = 21;

/// How the memory is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub queues: u16,
    pub size: u16,
}

/// What binds a guest to the data that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub tenure: u64,
    pub losses: u32,
    pub cache: Cache,
}

impl Layout {
    pub fn new(queues: u16, size: u16, queues_max: u16) -> Result<Self, Broken> {
        if queues == 0 || queues > queues_max || size == 0 || size > RING_SIZE_MAX {
            let text = format!("keeps the requests of {queues} queues of {size}");
            return Err(Broken::monitor(text));
        }
        Ok(Self { queues, size })
    }

    fn stride(self) -> u64 {
        (HEAD_BYTES + SLOT_BYTES * u64::from(self.size)).next_multiple_of(ALIGNMENT)
    }

    fn mark_at(self) -> u64 {
        self.stride() * u64::from(self.queues)
    }

    #[must_use]
    pub fn bytes(self) -> u64 {
        (self.mark_at() + MARK_BYTES as u64).next_multiple_of(4096)
    }

    pub fn write_mark<S: Shared>(self, memory: &S, mark: Mark) -> Result<(), Broken> {
        let mut bytes = [0; MARK_BYTES];
        bytes[..8].copy_from_slice(&SIGN);
        bytes[8..16].copy_from_slice(&mark.tenure.to_le_bytes());
        bytes[16..20].copy_from_slice(&mark.losses.to_le_bytes());
        bytes[20] = u8::from(mark.cache == Cache::WriteBack);
        check(memory.write(self.mark_at(), &bytes))
    }

    pub fn read_mark<S: Shared>(self, memory: &S) -> Result<Mark, Broken> {
        let mut bytes = [0; MARK_BYTES];
        check(memory.read(self.mark_at(), &mut bytes))?;
        if bytes[..8] != SIGN {
            return Err(Broken::monitor("hands over requests that were not kept here"));
        }
        let tenure = u64::from_le_bytes(*bytes[8..].first_chunk().expect("eight bytes"));
        let losses = u32::from_le_bytes(*bytes[16..].first_chunk().expect("four bytes"));
        let cache = if bytes[20] == 0 { Cache::WriteThrough } else { Cache::WriteBack };
        Ok(Mark { tenure, losses, cache })
    }
}

/// The part of one queue.
#[derive(Debug)]
pub struct Slots<S> {
    memory: Arc<S>,
    at: u64,
    size: u16,
    order: u64,
}

impl<S: Shared> Slots<S> {
    #[must_use]
    pub fn new(memory: Arc<S>, layout: Layout, queue: u16) -> Option<Self> {
        let at = layout.stride() * u64::from(queue);
        (queue < layout.queues).then_some(Self { memory, at, size: layout.size, order: 0 })
    }

    /// What was taken and not answered when the driver's used index was `used`: the last one
    /// first.
    pub(crate) fn recover(&mut self, size: u16, used: u16) -> Result<Vec<u16>, Broken> {
        if size > self.size {
            return Err(Broken::monitor("keeps fewer requests than its ring has"));
        }
        check(self.memory.write(self.at + 8, &VERSION.to_le_bytes()))?;
        check(self.memory.write(self.at + 10, &self.size.to_le_bytes()))?;
        let mut head = self.load(self.at + 12)?;
        let shown = used.wrapping_sub(self.load(self.at + 14)?).min(self.size);
        for _ in 0..shown {
            if head >= self.size {
                break;
            }
            check(self.memory.write(self.slot(head), &[0]))?;
            head = self.load(self.slot(head) + 6)?;
        }
        check(self.memory.store(self.at + 14, used))?;
        let mut found = Vec::new();
        for head in 0..size {
            let mut slot = [0; 16];
            check(self.memory.read(self.slot(head), &mut slot))?;
            if slot[0] != 0 {
                found.push((u64::from_le_bytes(*slot[8..].first_chunk().expect("eight")), head));
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        self.order = found.first().map_or(0, |(order, _)| *order);
        Ok(found.into_iter().map(|(_, head)| head).collect())
    }

    /// A request was taken.
    pub(crate) fn begin(&mut self, head: u16) -> Result<(), Broken> {
        self.order = self.order.wrapping_add(1);
        check(self.memory.write(self.slot(head) + 8, &self.order.to_le_bytes()))?;
        check(self.memory.write(self.slot(head), &[1]))
    }

    /// An answer is written that the driver does not see yet.
    pub(crate) fn link(&self, head: u16) -> Result<(), Broken> {
        let last = self.load(self.at + 12)?;
        check(self.memory.store(self.slot(head) + 6, last))?;
        check(self.memory.store(self.at + 12, head))
    }

    /// The driver sees these answers.
    pub(crate) fn end(&self, heads: &[u16], used: u16) -> Result<(), Broken> {
        for head in heads {
            check(self.memory.write(self.slot(*head), &[0]))?;
        }
        check(self.memory.store(self.at + 14, used))
    }

    fn slot(&self, head: u16) -> u64 {
        self.at + HEAD_BYTES + SLOT_BYTES * u64::from(head)
    }

    fn load(&self, at: u64) -> Result<u16, Broken> {
        self.memory.load(at).ok_or_else(too_short)
    }
}

fn check(inside: Option<()>) -> Result<(), Broken> {
    inside.ok_or_else(too_short)
}

fn too_short() -> Broken {
    Broken::monitor("hands over too little memory for the requests that it keeps")
}
