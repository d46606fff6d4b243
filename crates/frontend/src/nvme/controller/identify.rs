//! Identify: what the controller and the namespace are.
//!
//! ```text
//! controller  4 serial (20)  24 model (40)  64 release (8)  76 paths  77 MDTS  78 id (2)
//!             80 version (4)  92 events (4)  96 attributes (4)  111 kind  258 aborts  259 events
//!             261 log pages  262 errors  320 keep-alive (2)  342 ANA: seconds, abilities
//!             344, 348 groups (4, 4)  512 entry sizes (2)  514 commands (2)  516 namespaces (4)
//!             520 optional commands (2)  525 cache  536 SGLs (4)  540 namespaces (4)
//!             768 name (256)  1792 capsule (4)  1796 answer (4)
//! namespace   0 size (8)  8 capacity (8)  16 use (8)  24 features  30 shared  33 zeroes
//!             64 preferred sizes (2 each)  92 ANA group (4)  104 NGUID (16)  128 block format (4)
//! ```

use crate::nvme::controller::{Controller, fit};
use crate::nvme::limits::{
    ADMIN_ENTRIES_MAX, CAPSULE_DATA_BYTES_MAX, EVENT_REQUESTS_MAX, LBA_BYTES, LBA_SHIFT, MDTS,
    QUEUE_ENTRIES_MAX, WRITE_ZEROES_SHIFT,
};
use crate::nvme::status::Status;
use crate::nvme::view::{Namespace, Subsystem, View};
use crate::nvme::wire::{
    CQE_BYTES, DISCOVERY_NQN, NAMESPACES_ALL, SQE_BYTES, Sqe, VERSION, put16, put32, put64,
};

const PAGE: usize = 4096;
/// Blocks of the volume that make one of its own, less one.
const PREFERRED: u16 = 7;

impl Controller {
    pub(super) fn identify(
        &mut self,
        sqe: &Sqe,
        view: &View<'_>,
        out: &mut Vec<u8>,
    ) -> Result<u64, Status> {
        out.resize(PAGE, 0);
        let set = sqe.byte(47);
        match (sqe.byte(40), view) {
            (0x01, _) => self.identify_controller(view, out),
            (0x02, View::Volume(subsystem)) => list_namespaces(sqe.namespace(), subsystem, out)?,
            (0x06, View::Volume(_)) if set == 0 => out[1] = WRITE_ZEROES_SHIFT,
            (what @ (0x00 | 0x03 | 0x05), View::Volume(subsystem)) => {
                let namespace = subsystem.namespace(sqe.namespace());
                let namespace = namespace.ok_or(Status::INVALID_NAMESPACE)?;
                match what {
                    0x00 => {
                        self.looks.on_description(namespace.number, subsystem);
                        identify_namespace(subsystem, namespace, out);
                    }
                    0x03 => {
                        self.looks.on_name(namespace.number, subsystem);
                        describe_namespace(subsystem, namespace, out);
                    }
                    _ if set == 0 => {}
                    _ => return Err(Status::INVALID_NAMESPACE),
                }
            }
            _ => return Err(Status::INVALID_FIELD),
        }
        fit(sqe, out)?;
        Ok(0)
    }

    fn identify_controller(&self, view: &View<'_>, out: &mut [u8]) {
        let events = u8::try_from(EVENT_REQUESTS_MAX - 1).expect("few");
        put_text(&mut out[24..64], "Basalt");
        put_text(&mut out[64..72], env!("CARGO_PKG_VERSION"));
        out[77] = MDTS;
        put16(out, 78, self.id);
        put32(out, 80, VERSION);
        out[258] = 3;
        out[259] = events;
        // Parts of a log page can be read.
        out[261] = 1 << 2;
        put16(out, 320, 10);
        put32(out, 536, 1 | 1 << 20);
        match view {
            View::Discovery { .. } => {
                put_text(&mut out[4..24], "discovery");
                put32(out, 92, 1 << 31);
                out[111] = 2;
                put16(out, 514, ADMIN_ENTRIES_MAX);
                out[768..768 + DISCOVERY_NQN.len()].copy_from_slice(DISCOVERY_NQN.as_bytes());
            }
            View::Volume(subsystem) => self.identify_volume(subsystem, out),
        }
    }

    fn identify_volume(&self, subsystem: &Subsystem, out: &mut [u8]) {
        put_text(&mut out[4..24], &subsystem.serial());
        // Several ports, several controllers, and ANA.
        out[76] = 1 | 1 << 1 | 1 << 3;
        put32(out, 92, 1 << 8 | 1 << 11);
        // Host ids have 128 bits.
        put32(out, 96, 1);
        out[111] = 1;
        out[342] = 10;
        // Optimized, non-optimized and inaccessible are said; a group does not change.
        out[343] = 1 | 1 << 1 | 1 << 2;
        put32(out, 344, 1);
        put32(out, 348, 1);
        out[512] = 0x66;
        out[513] = 0x44;
        put16(out, 514, QUEUE_ENTRIES_MAX);
        put32(out, 516, subsystem.last_number());
        // Deallocate, and zeroes.
        put16(out, 520, 1 << 2 | 1 << 3);
        // There is a cache, and a flush of all namespaces is one of this.
        out[525] = 1 | 3 << 1;
        put32(out, 540, subsystem.last_number());
        let nqn = subsystem.nqn();
        out[768..768 + nqn.len()].copy_from_slice(nqn.as_bytes());
        let sixteenths = |bytes: usize| u32::try_from(bytes / 16).expect("a few KiB");
        put32(out, 1792, sixteenths(SQE_BYTES) + CAPSULE_DATA_BYTES_MAX / 16);
        put32(out, 1796, sixteenths(CQE_BYTES));
        // One descriptor says where data is.
        out[1803] = 1;
    }
}

/// The numbers above one.
fn list_namespaces(after: u32, subsystem: &Subsystem, out: &mut [u8]) -> Result<(), Status> {
    if after >= NAMESPACES_ALL - 1 {
        return Err(Status::INVALID_NAMESPACE);
    }
    let numbers = subsystem.namespaces.iter().map(|it| it.number).filter(|&it| it > after);
    for (place, number) in numbers.enumerate() {
        put32(out, 4 * place, number);
    }
    Ok(())
}

/// NGUID, and then the command set.
fn describe_namespace(subsystem: &Subsystem, namespace: Namespace, out: &mut [u8]) {
    out[..4].copy_from_slice(&[2, 16, 0, 0]);
    out[4..20].copy_from_slice(&subsystem.nguid(namespace));
    out[20..24].copy_from_slice(&[4, 1, 0, 0]);
}

fn identify_namespace(subsystem: &Subsystem, namespace: Namespace, out: &mut [u8]) {
    let blocks = namespace.size_bytes / LBA_BYTES;
    put64(out, 0, blocks);
    put64(out, 8, blocks);
    put64(out, 16, blocks);
    // Space is given back, and the preferred sizes hold.
    out[24] = 1 | 1 << 4;
    out[30] = 1;
    // What was deallocated reads as zeroes, and Write Zeroes may deallocate.
    out[33] = 1 | 1 << 3;
    for at in [64, 66, 68, 70, 72] {
        put16(out, at, PREFERRED);
    }
    put32(out, 92, 1);
    out[104..120].copy_from_slice(&subsystem.nguid(namespace));
    out[130] = LBA_SHIFT;
}

/// Text is filled up with spaces.
fn put_text(out: &mut [u8], text: &str) {
    out.fill(b' ');
    let length = text.len().min(out.len());
    out[..length].copy_from_slice(&text.as_bytes()[..length]);
}
