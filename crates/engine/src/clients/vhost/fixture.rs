//! Guests for tests: a ring in memory of their own, which they fill as they like.

use std::sync::Arc;

use frontend::vhost::config::{Cache, Disk, Features};
use frontend::vhost::memory::{GuestMemory, Region};
use frontend::vhost::ring::{Place as RingPlace, Ring};
use io::{Eventfd, SharedMemory, eventfd, memory_file};

use crate::clients::vhost::addresses::Addresses;
use crate::clients::vhost::{Line, NewRing, Vhost, Window};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::Key;

pub(crate) const HELD: HostedId = HostedId(0);
const MEMORY_BYTES: u64 = 1 << 20;
pub(super) const SIZE: u16 = 1024;
const PLACE: RingPlace = RingPlace { size: SIZE, descriptors: 0, available: 0x4000, used: 0x5000 };
/// A table of descriptors that all requests have in common, what they point to, and features.
const TABLE: u64 = 0x8000;
const HEADER: u64 = 0xa000;
const STATUS: u64 = 0xb000;
const DATA: u64 = 0x2_0000;
const FEATURES: u64 = 1 << 32 | 1 << 28;
/// Descriptors of a request: the one in the ring, and those in the table.
pub(super) const PER_REQUEST: u32 = 3;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
/// A type of request that nobody offered: it is answered at once.
pub(crate) const UNKNOWN: u32 = 99;
pub(super) const FLUSH: u32 = 4;
/// Each of so much data, at the beginning of the volume.
pub(super) const WRITES: u32 = 1;
pub(super) const DATA_BYTES: u32 = 128 << 10;
/// Each of a gibibyte.
pub(super) const DISCARDS: u32 = 11;
const DISCARDED_SECTORS: u32 = 1 << 21;

/// A session with one ring, of requests of one type, which the guest fills as it likes.
#[derive(Debug)]
pub(crate) struct Guest {
    memory: Arc<GuestMemory<Window>>,
    pub(super) key: Key,
}

impl Guest {
    pub(crate) fn start_on(line: Line, vhost: &mut Vhost, kit: &mut Kit, kind: u32) -> Self {
        Self::start((HELD, line, 0), vhost, kit, kind)
    }

    /// One more ring of a session.
    pub(super) fn start(
        (hosted, line, number): (HostedId, Line, u16),
        vhost: &mut Vhost,
        kit: &mut Kit,
        kind: u32,
    ) -> Self {
        let file = memory_file(MEMORY_BYTES).unwrap();
        let claim = Addresses::of_all_guests(MEMORY_BYTES).claim(MEMORY_BYTES).unwrap();
        let window = Window::new(SharedMemory::map(&file, 0, MEMORY_BYTES).unwrap(), claim);
        let region =
            Region { guest_address: 0, length: MEMORY_BYTES, user_address: 0, file_offset: 0 };
        let memory = Arc::new(GuestMemory::new(vec![(region, window)]).unwrap());
        let describe = |at: u64, address: u64, length: u32, ends: [u16; 2]| {
            let ends = ends.map(u16::to_le_bytes).concat();
            let bytes = [&address.to_le_bytes()[..], &length.to_le_bytes(), &ends].concat();
            memory.write(at, &bytes).unwrap();
        };
        let data_bytes = match kind {
            WRITES => DATA_BYTES,
            DISCARDS => 16,
            _ => 0,
        };
        let table = if data_bytes > 0 { 3 } else { 2 };
        for head in 0..SIZE {
            describe(16 * u64::from(head), TABLE, 16 * table, [INDIRECT, 0]);
            let slot = PLACE.available + 4 + 2 * u64::from(head);
            memory.write(slot, &head.to_le_bytes()).unwrap();
        }
        describe(TABLE, HEADER, 16, [NEXT, 1]);
        if data_bytes > 0 {
            describe(TABLE + 16, DATA, data_bytes, [NEXT, 2]);
        }
        if kind == DISCARDS {
            // From the first sector on.
            memory.write(DATA + 8, &DISCARDED_SECTORS.to_le_bytes()).unwrap();
        }
        describe(TABLE + 16 * u64::from(table - 1), STATUS, 1, [WRITE, 0]);
        memory.write(HEADER, &kind.to_le_bytes()).unwrap();
        let session = line.session;
        let features = Features::of(FEATURES);
        let ring = Ring::new(Arc::clone(&memory), PLACE, 0, features, None).unwrap();
        vhost.start_ring(
            NewRing {
                hosted,
                base: 0,
                line,
                number,
                ring,
                disk: Disk { size_bytes: 1 << 30, block_bytes: 512, queues_max: 1 },
                name: "r0".to_owned(),
                features,
                cache: Cache::WriteBack,
                kick: Eventfd::of(eventfd().unwrap()).unwrap(),
                call: None,
            },
            kit,
        );
        let key = vhost.find(session, number).unwrap();
        Self { memory, key }
    }

    /// How many requests were taken since it began.
    pub(super) fn taken(&self, vhost: &Vhost) -> u16 {
        vhost.queues.get(self.key).unwrap().ring.next_available()
    }

    /// As many requests as there is room for.
    pub(super) fn fill(&self, vhost: &Vhost) {
        let index = self.taken(vhost).wrapping_add(SIZE);
        self.memory.store(PLACE.available + 2, index).unwrap();
    }
}
