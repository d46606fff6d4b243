//! Get Log Page: paths, errors, health, what there is to connect to.
//!
//! ```text
//! ANA        0 changes (8)  8 groups (2)  16 group (4)  20 namespaces (4)  24 changes (8)
//!            32 state  48 the numbers of the namespaces (4 each)
//! discovery  0 changes (8)  8 records (8)  16 format (2)  then 1024 bytes each:
//!            0 transport  1 address family  2 kind  3 secure channel  4 port (2)
//!            6 controller (2)  8 entries (2)  32 service (32)  256 name (256)  512 address (256)
//! ```

use std::net::SocketAddr;

use crate::nvme::controller::{Controller, Event, fit};
use crate::nvme::limits::ADMIN_ENTRIES_MAX;
use crate::nvme::status::Status;
use crate::nvme::view::{Record, Subsystem, View};
use crate::nvme::wire::{
    CONTROLLER_DYNAMIC, LOG_ANA, LOG_CHANGED_NAMESPACES, LOG_DISCOVERY, LOG_ERROR, LOG_FIRMWARE,
    LOG_SMART, Sqe, put16, put32, put64,
};

const RECORD_BYTES: usize = 1024;
const TRANSPORT_TCP: u8 = 3;
const KIND_SUBSYSTEM: u8 = 2;
const CHANGED_BYTES: usize = 4096;
/// "Retain": the event that led here stays told.
const RETAIN: u8 = 1 << 7;

impl Controller {
    pub(super) fn log_page(
        &mut self,
        sqe: &Sqe,
        view: &View<'_>,
        out: &mut Vec<u8>,
    ) -> Result<u64, Status> {
        let page = sqe.byte(40);
        match (page, view) {
            (LOG_ERROR, _) => out.resize(64, 0),
            (LOG_SMART, View::Volume(_)) => health(out),
            (LOG_FIRMWARE, View::Volume(_)) => firmware(out),
            (LOG_CHANGED_NAMESPACES, View::Volume(subsystem)) => {
                out.resize(CHANGED_BYTES, 0);
                // Which one it was is not kept: they are few.
                if std::mem::take(&mut self.has_resized) {
                    put_numbers(subsystem, out);
                }
            }
            (LOG_ANA, View::Volume(subsystem)) => paths(subsystem, out),
            (LOG_DISCOVERY, View::Discovery { records, changes }) => {
                discovery(records, *changes, out);
            }
            _ => return Err(Status::INVALID_LOG_PAGE),
        }
        let offset = usize::try_from(sqe.double(48)).map_or(usize::MAX, |offset| offset);
        if !offset.is_multiple_of(4) || offset > out.len() {
            return Err(Status::INVALID_FIELD);
        }
        out.drain(..offset);
        fit(sqe, out)?;
        if let Some(event) = Event::of_log(page)
            && sqe.byte(41) & RETAIN == 0
        {
            self.told &= !event.mask();
        }
        Ok(0)
    }
}

fn paths(subsystem: &Subsystem, out: &mut Vec<u8>) {
    let namespaces = subsystem.namespaces.len();
    out.resize(48 + 4 * namespaces, 0);
    put64(out, 0, subsystem.changes);
    put16(out, 8, 1);
    put32(out, 16, 1);
    put32(out, 20, u32::try_from(namespaces).expect("few volumes"));
    put64(out, 24, subsystem.changes);
    out[32] = subsystem.path.number();
    put_numbers(subsystem, &mut out[48..]);
}

fn put_numbers(subsystem: &Subsystem, out: &mut [u8]) {
    for (place, namespace) in subsystem.namespaces.iter().enumerate() {
        put32(out, 4 * place, namespace.number);
    }
}

fn health(out: &mut Vec<u8>) {
    out.resize(512, 0);
    // Room temperature in kelvin, and all of the spare space, of which a tenth would be little.
    put16(out, 1, 293);
    out[3] = 100;
    out[4] = 10;
}

fn firmware(out: &mut Vec<u8>) {
    out.resize(512, 0);
    out[0] = 1;
    let release = env!("CARGO_PKG_VERSION").as_bytes();
    let length = release.len().min(8);
    out[8..16].fill(b' ');
    out[8..8 + length].copy_from_slice(&release[..length]);
}

fn discovery(records: &[Record], changes: u64, out: &mut Vec<u8>) {
    out.resize(RECORD_BYTES * (records.len() + 1), 0);
    put64(out, 0, changes);
    put64(out, 8, records.len() as u64);
    for (record, out) in records.iter().zip(out.chunks_exact_mut(RECORD_BYTES).skip(1)) {
        out[0] = TRANSPORT_TCP;
        out[1] = match record.address {
            SocketAddr::V4(_) => 1,
            SocketAddr::V6(_) => 2,
        };
        out[2] = KIND_SUBSYSTEM;
        put16(out, 4, record.address.port());
        put16(out, 6, CONTROLLER_DYNAMIC);
        put16(out, 8, ADMIN_ENTRIES_MAX);
        let mut put = |at: usize, text: &str| {
            out[at..at + text.len()].copy_from_slice(text.as_bytes());
        };
        put(32, &format!("{:<32}", record.address.port()));
        put(256, &record.nqn);
        put(512, &format!("{:<256}", record.address.ip()));
    }
}
