//! A split virtqueue, from the device's side (virtio 1.2, 2.7).
//!
//! ```text
//! descriptors   16 bytes each: address u64, length u32, flags u16, next u16
//! available     flags u16, index u16, heads u16 each, event u16      the driver writes
//! used          flags u16, index u16, {head, written} u32 each, event u16      we write
//! ```
//!
//! Requests are taken until there is none, and kicks are asked for only then; answers are written
//! one by one and shown together, with one signal at most (`publish`). A chain is read once, into a
//! [`Chain`], and what counts from then on is the copy.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::vhost::Broken;
use crate::vhost::config::{Features, RING_SIZE_MAX, SEGMENTS};
use crate::vhost::inflight::Slots;
use crate::vhost::memory::{GuestMemory, Shared};

/// The longest chain: the segments that drivers are offered, a header and a status, and two more
/// for drivers that count in another way.
pub const CHAIN_MAX: u32 = SEGMENTS + 4;

const FLAG_NEXT: u16 = 1;
const FLAG_WRITE: u16 = 2;
const FLAG_INDIRECT: u16 = 4;
const FLAG_NO_SIGNAL: u16 = 1;
const DESCRIPTOR_BYTES: u64 = 16;
const HEAD_BYTES: u64 = 4;

/// Where a ring lies, in the guest's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub size: u16,
    pub descriptors: u64,
    pub available: u64,
    pub used: u64,
}

/// Whether the driver is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Needed,
    Spared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    address: u64,
    length: u32,
}

/// One request's memory: what the driver wrote for us, and where it wants the answer.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    readable: Vec<Segment>,
    writable: Vec<Segment>,
    readable_bytes: u64,
    writable_bytes: u64,
    descriptors: u32,
}

#[derive(Debug)]
pub struct Ring<S> {
    memory: Arc<GuestMemory<S>>,
    place: Place,
    has_event_index: bool,
    slots: Option<Slots<S>>,
    next_available: u16,
    next_used: u16,
    /// The used index that the driver sees.
    published: u16,
    /// By head: taken, and not answered yet.
    is_taken: Vec<bool>,
    taken: u16,
    /// Answered and not published.
    batch: Vec<u16>,
    /// What an earlier server took and did not answer, the last one first.
    again: Vec<u16>,
}

impl<S: Shared> Ring<S> {
    /// A ring that goes on at the available index `base`, or where `slots` say.
    pub fn new(
        memory: Arc<GuestMemory<S>>,
        place: Place,
        base: u16,
        features: Features,
        mut slots: Option<Slots<S>>,
    ) -> Result<Self, Broken> {
        check_place(&memory, place)?;
        let used = memory.load(place.used + 2)?;
        let mut again = Vec::new();
        let mut next_available = base;
        if let Some(slots) = &mut slots {
            again = slots.recover(place.size, used)?;
            let count = u16::try_from(again.len()).expect("at most one for each head");
            next_available = used.wrapping_add(count);
        }
        let size = usize::from(place.size);
        Ok(Self {
            memory,
            place,
            has_event_index: features.has_event_index(),
            slots,
            next_available,
            next_used: used,
            published: used,
            is_taken: vec![false; size],
            taken: 0,
            batch: Vec::with_capacity(size),
            again,
        })
    }

    #[must_use]
    pub fn memory(&self) -> &GuestMemory<S> {
        &self.memory
    }

    /// The same guest's memory, mapped anew.
    pub fn set_memory(&mut self, memory: Arc<GuestMemory<S>>) -> Result<(), Broken> {
        check_place(&memory, self.place)?;
        self.memory = memory;
        Ok(())
    }

    /// Heads that are taken and not answered.
    #[must_use]
    pub fn taken(&self) -> u16 {
        self.taken
    }

    /// Where a later start goes on.
    #[must_use]
    pub fn next_available(&self) -> u16 {
        self.next_available
    }

    /// The next request, if there is one: its head, and its memory in `chain`.
    pub fn take(&mut self, chain: &mut Chain) -> Result<Option<u16>, Broken> {
        let (head, is_again) = match self.again.last() {
            Some(head) => (*head, true),
            None => match self.next_head()? {
                Some(head) => (head, false),
                None => return Ok(None),
            },
        };
        match self.is_taken.get(usize::from(head)) {
            Some(false) => {}
            Some(true) => return Err(Broken::driver(format!("sent request {head} twice"))),
            None => return Err(Broken::driver(format!("names descriptor {head}"))),
        }
        chain.fill(&self.memory, self.place, head)?;
        if is_again {
            self.again.pop();
        } else {
            self.next_available = self.next_available.wrapping_add(1);
            if let Some(slots) = &mut self.slots {
                slots.begin(head)?;
            }
        }
        self.is_taken[usize::from(head)] = true;
        self.taken += 1;
        Ok(Some(head))
    }

    fn next_head(&self) -> Result<Option<u16>, Broken> {
        let ahead = self.memory.load(self.place.available + 2)?.wrapping_sub(self.next_available);
        if ahead == 0 {
            return Ok(None);
        }
        if ahead > self.place.size {
            return Err(Broken::driver(format!("is {ahead} requests ahead in its ring")));
        }
        let slot = u64::from(self.next_available % self.place.size);
        self.memory.load(self.place.available + HEAD_BYTES + 2 * slot).map(Some)
    }

    /// Asks to be kicked for the next request; true if it is there already.
    pub fn ask_for_kick(&mut self) -> Result<bool, Broken> {
        if self.has_event_index {
            let event = self.place.used + HEAD_BYTES + 8 * u64::from(self.place.size);
            self.memory.store(event, self.next_available)?;
        }
        // The driver first shows its request and then looks whether we want a kick.
        fence(Ordering::SeqCst);
        Ok(self.memory.load(self.place.available + 2)? != self.next_available)
    }

    /// Writes the answer to a request that was taken: so many bytes are in its memory.
    pub fn put(&mut self, head: u16, written: u32) -> Result<(), Broken> {
        let is_taken = std::mem::take(&mut self.is_taken[usize::from(head)]);
        assert!(is_taken, "an answer belongs to a request");
        self.taken -= 1;
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        entry[4..].copy_from_slice(&written.to_le_bytes());
        let slot = u64::from(self.next_used % self.place.size);
        self.memory.write(self.place.used + HEAD_BYTES + 8 * slot, &entry)?;
        self.next_used = self.next_used.wrapping_add(1);
        if let Some(slots) = &self.slots {
            slots.link(head)?;
        }
        self.batch.push(head);
        Ok(())
    }

    /// Shows the driver what was put since the last time.
    pub fn publish(&mut self) -> Result<Signal, Broken> {
        if self.batch.is_empty() {
            return Ok(Signal::Spared);
        }
        self.memory.store(self.place.used + 2, self.next_used)?;
        let before = std::mem::replace(&mut self.published, self.next_used);
        // The driver first says when it wants a signal and then looks for answers.
        fence(Ordering::SeqCst);
        if let Some(slots) = &self.slots {
            slots.end(&self.batch, self.next_used)?;
        }
        self.batch.clear();
        let is_needed = if self.has_event_index {
            let event = self.place.available + HEAD_BYTES + 2 * u64::from(self.place.size);
            is_passed(self.memory.load(event)?, before, self.published)
        } else {
            self.memory.load(self.place.available)? & FLAG_NO_SIGNAL == 0
        };
        Ok(if is_needed { Signal::Needed } else { Signal::Spared })
    }
}

/// Whether the index that the other side waits for lies among the new ones.
fn is_passed(event: u16, before: u16, now: u16) -> bool {
    now.wrapping_sub(event).wrapping_sub(1) < now.wrapping_sub(before)
}

fn check_place<S: Shared>(memory: &GuestMemory<S>, place: Place) -> Result<(), Broken> {
    let size = u64::from(place.size);
    if !place.size.is_power_of_two() || place.size > RING_SIZE_MAX {
        return Err(Broken::monitor(format!("makes a ring of {size} descriptors")));
    }
    for (what, address, align, length) in [
        ("descriptors", place.descriptors, 16, DESCRIPTOR_BYTES * size),
        ("available ring", place.available, 2, HEAD_BYTES + 2 * size + 2),
        ("used ring", place.used, 4, HEAD_BYTES + 8 * size + 2),
    ] {
        if !address.is_multiple_of(align) || !memory.contains(address, length) {
            let text = format!("puts the {what} at {address:#x}, where they cannot be");
            return Err(Broken::monitor(text));
        }
    }
    Ok(())
}

impl Chain {
    #[must_use]
    pub fn readable_bytes(&self) -> u64 {
        self.readable_bytes
    }

    #[must_use]
    pub fn writable_bytes(&self) -> u64 {
        self.writable_bytes
    }

    /// How many descriptors were read for it.
    #[must_use]
    pub fn descriptors(&self) -> u32 {
        self.descriptors
    }

    /// Copies what the driver wrote, from byte `at` on.
    pub fn read<S: Shared>(
        &self,
        memory: &GuestMemory<S>,
        at: u64,
        into: &mut [u8],
    ) -> Result<(), Broken> {
        let mut rest = into;
        for (address, length) in pieces(&self.readable, at, rest.len()) {
            let (now, later) = rest.split_at_mut(length);
            memory.read(address, now)?;
            rest = later;
        }
        Ok(())
    }

    /// Copies to where the driver wants the answer, from its byte `at` on.
    pub fn write<S: Shared>(
        &self,
        memory: &GuestMemory<S>,
        at: u64,
        from: &[u8],
    ) -> Result<(), Broken> {
        let mut rest = from;
        for (address, length) in pieces(&self.writable, at, rest.len()) {
            let (now, later) = rest.split_at(length);
            memory.write(address, now)?;
            rest = later;
        }
        Ok(())
    }

    /// Reads the chain that begins at `head`.
    fn fill<S: Shared>(
        &mut self,
        memory: &GuestMemory<S>,
        place: Place,
        head: u16,
    ) -> Result<(), Broken> {
        self.readable.clear();
        self.writable.clear();
        (self.readable_bytes, self.writable_bytes, self.descriptors) = (0, 0, 0);
        let mut table = (place.descriptors, place.size);
        let mut is_indirect = false;
        let mut index = head;
        // Beside the one that names a table.
        for _ in 0..=CHAIN_MAX {
            let (start, size) = table;
            if index >= size {
                let text = format!("names descriptor {index} of a table of {size}");
                return Err(Broken::driver(text));
            }
            let mut bytes = [0; 16];
            memory.read(start + DESCRIPTOR_BYTES * u64::from(index), &mut bytes)?;
            let descriptor = Descriptor::decode(bytes);
            self.descriptors += 1;
            if descriptor.flags & FLAG_INDIRECT != 0 {
                let is_odd = is_indirect || descriptor.flags & FLAG_NEXT != 0;
                table = descriptor.table(memory).filter(|_| !is_odd).ok_or_else(|| {
                    Broken::driver("sent a table of descriptors that cannot be".to_owned())
                })?;
                (is_indirect, index) = (true, 0);
                continue;
            }
            self.push(descriptor, memory)?;
            if descriptor.flags & FLAG_NEXT == 0 {
                return Ok(());
            }
            index = descriptor.next;
        }
        Err(Broken::driver(format!("sent a chain of more than {CHAIN_MAX} descriptors")))
    }

    fn push<S: Shared>(
        &mut self,
        descriptor: Descriptor,
        memory: &GuestMemory<S>,
    ) -> Result<(), Broken> {
        let Descriptor { address, length, flags, .. } = descriptor;
        if !memory.contains(address, length.into()) {
            let text = format!("names {length} bytes at {address:#x}, where there is no memory");
            return Err(Broken::driver(text));
        }
        let is_writable = flags & FLAG_WRITE != 0;
        if !is_writable && !self.writable.is_empty() {
            return Err(Broken::driver("sent a chain whose order cannot be".to_owned()));
        }
        let (segments, bytes) = if is_writable {
            (&mut self.writable, &mut self.writable_bytes)
        } else {
            (&mut self.readable, &mut self.readable_bytes)
        };
        segments.push(Segment { address, length });
        *bytes += u64::from(length);
        Ok(())
    }
}

/// The memory of `length` bytes from byte `at` of some segments on. What is beyond them is left
/// out: callers stay within the bytes of the chain.
fn pieces(
    segments: &[Segment],
    at: u64,
    length: usize,
) -> impl Iterator<Item = (u64, usize)> + use<'_> {
    let mut skip = at;
    let mut rest = length;
    segments.iter().filter_map(move |segment| {
        let size = u64::from(segment.length);
        if rest == 0 || skip >= size {
            skip = skip.saturating_sub(size);
            return None;
        }
        let start = segment.address + skip;
        let here = usize::try_from(size - skip).map_or(rest, |here| here.min(rest));
        skip = 0;
        rest -= here;
        Some((start, here))
    })
}

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    address: u64,
    length: u32,
    flags: u16,
    next: u16,
}

impl Descriptor {
    fn decode(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        Self {
            address: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            length: u32::from_le_bytes([i, j, k, l]),
            flags: u16::from_le_bytes([m, n]),
            next: u16::from_le_bytes([o, p]),
        }
    }

    /// The table that an indirect descriptor names.
    fn table<S: Shared>(self, memory: &GuestMemory<S>) -> Option<(u64, u16)> {
        let length = u64::from(self.length);
        let size = u16::try_from(length / DESCRIPTOR_BYTES).ok()?;
        let is_whole = length.is_multiple_of(DESCRIPTOR_BYTES) && size > 0 && size <= RING_SIZE_MAX;
        (is_whole && memory.contains(self.address, length)).then_some((self.address, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_is_needed_when_the_awaited_index_is_passed() {
        assert!(is_passed(4, 4, 5), "the answer at index 4 is the awaited one");
        assert!(!is_passed(5, 4, 5));
        assert!(!is_passed(3, 4, 5), "that one was there before");
        assert!(is_passed(u16::MAX, u16::MAX - 1, 1), "over the end of the numbers");
    }
}
