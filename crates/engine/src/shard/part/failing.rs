//! Why a disk is out of use: the first request that it failed at the cost of its replica.
//!
//! The core hears that a request failed, and asks no more. What the system said is kept here, and
//! shown in the status until a disk is attached again. Each shard keeps its own.

use std::io as stdio;
use std::path::Path;

use api::status::DiskFailure;
use format::space::Place;
use stdx::time::Time;

use crate::definition::DiskPlace;
use crate::log::{Scope, log};
use crate::shard::operation::{Area, Operation};
use crate::shard::part::Part;

/// A request that a disk failed.
#[derive(Debug)]
pub(crate) struct Failing {
    /// Whose disk it is.
    place: Place,
    area: Area,
    at: Time,
    what: &'static str,
    error: String,
    hint: &'static str,
}

impl Part {
    /// Keeps the error that costs the replica, unless an earlier one did.
    pub(crate) fn note_failure(
        &mut self,
        (place, area): (Place, Area),
        what: &'static str,
        error: &stdio::Error,
        now: Time,
    ) {
        self.note_trouble((place, area), what, error.to_string(), hint_of(error), now);
    }

    /// The same of a disk that this shard could not open.
    pub(crate) fn note_unusable(&mut self, place: Place, error: &stdio::Error, now: Time) {
        self.note_failure((place, Area::Data), "opening the disk for a data thread", error, now);
    }

    /// The same of the superblock, or of the stamp of a further volume.
    pub(crate) fn note_failed_save(&mut self, failed: &Operation, error: &stdio::Error, now: Time) {
        self.note_failure((failed.place, Area::Metadata), failed.kind.name(), error, now);
    }

    /// The same of a disk that gives no answer.
    pub(crate) fn note_silence(&mut self, place: Place, limit_s: f32, now: Time) {
        let error = format!("no answer within {limit_s} s (disk-timeout)");
        let hint = "`dmesg` may say why; it is attached again once what is under way has ended";
        self.note_trouble((place, Area::Data), "a request to the disk", error, hint, now);
    }

    fn note_trouble(
        &mut self,
        (place, area): (Place, Area),
        what: &'static str,
        error: String,
        hint: &'static str,
        at: Time,
    ) {
        if self.failing.is_some() {
            return;
        }
        let failing = Failing { place, area, at, what, error, hint };
        let disk = self.path_of(&failing);
        let error = &failing.error;
        log!(Error, Scope::resource(&self.name), "{what} failed: {error} ({disk}); {hint}");
        self.failing = Some(failing);
    }

    /// What is known of the disk of that volume.
    /// A request of this shard failed at a disk, and none was attached since.
    pub(crate) fn has_failed_disk(&self) -> bool {
        self.failing.is_some()
    }

    pub(crate) fn describe_failure(&self, place: Place, now: Time) -> Option<DiskFailure> {
        let failing = self.failing.as_ref().filter(|failing| failing.place == place)?;
        Some(DiskFailure {
            disk: self.path_of(failing),
            request: failing.what.to_owned(),
            error: failing.error.clone(),
            hint: failing.hint.to_owned(),
            age_ms: u64::try_from(now.since(failing.at).as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn path_of(&self, failing: &Failing) -> String {
        let mut volumes = self.definition.volumes();
        let volume = volumes.find(|volume| volume.place == failing.place);
        let path = |disk: &DiskPlace| match (&disk.meta, failing.area) {
            (Some(meta), Area::Metadata) => show(meta),
            (Some(_), Area::Data) | (None, _) => show(&disk.data),
        };
        volume.and_then(|volume| volume.disk).map_or_else(String::new, path)
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// What to look at, by what the system said.
fn hint_of(error: &stdio::Error) -> &'static str {
    if io::has_shrunk(error) {
        return "look for what made it shorter in use; it is not to be believed any more";
    }
    let kind = error.kind();
    if matches!(kind, stdio::ErrorKind::StorageFull | stdio::ErrorKind::QuotaExceeded) {
        "make room where it lies: `df` tells of a file, `lvs` of a thin pool"
    } else if kind == stdio::ErrorKind::ReadOnlyFilesystem {
        "what it lies on takes no writes any more: `dmesg` may say why"
    } else {
        "`dmesg` and `smartctl` may say more; exchange it if it fails again"
    }
}
