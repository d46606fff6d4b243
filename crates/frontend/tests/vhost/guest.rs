//! A guest of two regions of memory, with a driver that puts requests into a ring.

use std::sync::{Arc, Mutex};

use frontend::vhost::Broken;
use frontend::vhost::config::Features;
use frontend::vhost::inflight::Slots;
use frontend::vhost::memory::{GuestMemory, Region, Shared};
use frontend::vhost::ring::{Place, Ring};

/// Bytes that both sides hold.
#[derive(Clone, Debug)]
pub(crate) struct Bytes(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Bytes {
    pub(crate) fn new(length: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![0; length])))
    }

    fn with<T>(&self, at: u64, length: usize, f: impl FnOnce(&mut [u8]) -> T) -> Option<T> {
        let at = usize::try_from(at).ok()?;
        let mut bytes = self.0.lock().unwrap();
        bytes.get_mut(at..at.checked_add(length)?).map(f)
    }
}

impl Shared for Bytes {
    fn length(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Option<()> {
        self.with(at, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, at: u64, from: &[u8]) -> Option<()> {
        self.with(at, from.len(), |bytes| bytes.copy_from_slice(from))
    }

    fn load(&self, at: u64) -> Option<u16> {
        let two = |bytes: &mut [u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        if at.is_multiple_of(2) { self.with(at, 2, two) } else { None }
    }

    fn store(&self, at: u64, value: u16) -> Option<()> {
        if at.is_multiple_of(2) { self.write(at, &value.to_le_bytes()) } else { None }
    }
}

pub(crate) const SIZE: u16 = 8;
pub(crate) const PLACE: Place =
    Place { size: SIZE, descriptors: 0x1000, available: 0x2000, used: 0x3000 };
/// Where the second region follows the first.
pub(crate) const BORDER: u64 = 0x1_0000;
pub(crate) const END: u64 = 0x2_0000;

pub(crate) const NEXT: u16 = 1;
pub(crate) const WRITE: u16 = 2;
pub(crate) const INDIRECT: u16 = 4;

/// Features of a driver that speaks of events, and of one that does not.
pub(crate) const EVENTS: u64 = 1 << 29 | 1 << 9;
pub(crate) const PLAIN: u64 = 1 << 9;

#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) memory: Arc<GuestMemory<Bytes>>,
    pub(crate) available: u16,
}

impl Guest {
    pub(crate) fn new() -> Self {
        let region = |guest_address, length| Region {
            guest_address,
            length,
            user_address: 0x7f00_0000 + guest_address,
            file_offset: 0,
        };
        let part = |start: u64, end: u64| {
            (region(start, end - start), Bytes::new(usize::try_from(end - start).unwrap()))
        };
        let memory = GuestMemory::new(vec![part(0, BORDER), part(BORDER, END)]).unwrap();
        Self { memory: Arc::new(memory), available: 0 }
    }

    pub(crate) fn ring(&self, features: u64, slots: Option<Slots<Bytes>>) -> Ring<Bytes> {
        self.try_ring(PLACE, features, slots).unwrap()
    }

    pub(crate) fn try_ring(
        &self,
        place: Place,
        features: u64,
        slots: Option<Slots<Bytes>>,
    ) -> Result<Ring<Bytes>, Broken> {
        Ring::new(Arc::clone(&self.memory), place, 0, Features::of(features), slots)
    }

    pub(crate) fn put(&self, at: u64, bytes: &[u8]) {
        self.memory.write(at, bytes).unwrap();
    }

    pub(crate) fn get<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut bytes = [0; N];
        self.memory.read(at, &mut bytes).unwrap();
        bytes
    }

    /// Writes a descriptor into the table at `table`.
    pub(crate) fn describe(
        &self,
        table: u64,
        index: u16,
        address: u64,
        length: u32,
        end: [u16; 2],
    ) {
        let [flags, next] = end;
        let bytes = [
            &address.to_le_bytes()[..],
            &length.to_le_bytes(),
            &flags.to_le_bytes(),
            &next.to_le_bytes(),
        ]
        .concat();
        self.put(table + 16 * u64::from(index), &bytes);
    }

    /// Shows the device one more request.
    pub(crate) fn offer(&mut self, head: u16) {
        self.put(PLACE.available + 4 + 2 * u64::from(self.available % SIZE), &head.to_le_bytes());
        self.available = self.available.wrapping_add(1);
        self.put(PLACE.available + 2, &self.available.to_le_bytes());
    }

    /// A chain at `head` of a header, data and a status, in three descriptors from `head` on.
    pub(crate) fn request(&mut self, head: u16, kind: u32, sector: u64, data: (u64, u32, u16)) {
        let header = 0x4000 + 0x100 * u64::from(head);
        self.put(header, &[&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes()].concat());
        let (address, length, flags) = data;
        let table = PLACE.descriptors;
        self.describe(table, head, header, 16, [NEXT, head + 1]);
        self.describe(table, head + 1, address, length, [NEXT | flags, head + 2]);
        self.describe(table, head + 2, header + 0x20, 1, [WRITE, 0]);
        self.offer(head);
    }

    pub(crate) fn used_index(&self) -> u16 {
        u16::from_le_bytes(self.get(PLACE.used + 2))
    }

    /// Head and bytes of an answer.
    pub(crate) fn answer(&self, index: u16) -> (u32, u32) {
        let at = PLACE.used + 4 + 8 * u64::from(index % SIZE);
        (u32::from_le_bytes(self.get(at)), u32::from_le_bytes(self.get(at + 4)))
    }
}
