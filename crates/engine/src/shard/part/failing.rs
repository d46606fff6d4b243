//! Why a disk is out of use: the first request that it failed at the cost of its replica.
//!
//! The core hears that a request failed, and asks no more. What the system said is kept here, and
//! shown in the status until a disk is attached again. Each shard keeps its own.

use std::io as stdio;
use std::path::Path;

use api::status::DiskFailure;
use format::message::{DiskFailed, NAME_BYTES_MAX};
use format::space::Place;
use stdx::time::Time;

use crate::contract::DiskTrouble;
use crate::definition::DiskPlace;
use crate::log::{Scope, log};
use crate::shard::Rim;
use crate::shard::operation::{Area, Operation};
use crate::shard::part::Part;

/// A request that a disk failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failing {
    pub(crate) trouble: DiskTrouble,
    area: Area,
    hint: &'static str,
}

impl Part {
    /// Keeps the error that costs the replica, unless an earlier one did.
    pub(crate) fn note_failure(
        &mut self,
        (place, area): (Place, Area),
        what: &'static str,
        error: &stdio::Error,
        rim: &mut Rim,
    ) {
        self.note_trouble((place, area), what, error.to_string(), hint_of(error), rim);
    }

    /// The same of a disk that this shard could not open.
    pub(crate) fn note_unusable(&mut self, place: Place, error: &stdio::Error, rim: &mut Rim) {
        self.note_failure((place, Area::Data), "opening the disk for a data thread", error, rim);
    }

    /// The same of the superblock, or of the stamp of a further volume.
    pub(crate) fn note_failed_save(
        &mut self,
        failed: &Operation,
        error: &stdio::Error,
        rim: &mut Rim,
    ) {
        self.note_failure((failed.place, Area::Metadata), failed.kind.name(), error, rim);
    }

    /// The same of a disk that gives no answer.
    pub(crate) fn note_silence(&mut self, place: Place, limit_s: f32, rim: &mut Rim) {
        let error = format!("no answer within {limit_s} s (disk-timeout)");
        let hint = "`dmesg` may say why; it is attached again once what is under way has ended";
        self.note_trouble((place, Area::Data), "a request to the disk", error, hint, rim);
    }

    fn note_trouble(
        &mut self,
        (place, area): (Place, Area),
        request: &'static str,
        error: String,
        hint: &'static str,
        rim: &mut Rim,
    ) {
        if self.failing.is_some() {
            return;
        }
        let trouble = DiskTrouble { place, at: rim.kit.now, request, error };
        self.tell_home_of(&trouble, rim);
        let failing = Failing { trouble, area, hint };
        let (disk, error) = (self.path_of(&failing), &failing.trouble.error);
        log!(Error, Scope::resource(&self.name), "{request} failed: {error} ({disk}); {hint}");
        self.failing = Some(failing);
    }

    /// A request of this shard failed at a disk, and none was attached since.
    pub(crate) fn has_failed_disk(&self) -> bool {
        self.failing.is_some()
    }

    /// What is known of the disk of that volume.
    pub(crate) fn describe_failure(&self, place: Place, now: Time) -> Option<DiskFailure> {
        let failing = self.failing.as_ref().filter(|failing| failing.trouble.place == place)?;
        let DiskTrouble { at, request, error, .. } = &failing.trouble;
        Some(DiskFailure {
            disk: self.path_of(failing),
            request: (*request).to_owned(),
            error: error.clone(),
            hint: failing.hint.to_owned(),
            age_ms: age_ms(*at, now),
        })
    }

    fn path_of(&self, failing: &Failing) -> String {
        let mut volumes = self.definition.volumes();
        let volume = volumes.find(|volume| volume.place == failing.trouble.place);
        let path = |disk: &DiskPlace| match (&disk.meta, failing.area) {
            (Some(meta), Area::Metadata) => show(meta),
            (Some(_), Area::Data) | (None, _) => show(&disk.data),
        };
        volume.and_then(|volume| volume.disk).map_or_else(String::new, path)
    }
}

impl DiskTrouble {
    /// The same for a peer, which names the replica by this handle.
    pub(crate) fn told(&self, handle: u32, now: Time) -> DiskFailed {
        let Self { place, at, request, error } = self;
        DiskFailed {
            handle,
            place: *place,
            request: (*request).to_owned(),
            error: cut(error).to_owned(),
            age_ms: age_ms(*at, now),
        }
    }
}

/// As much of it as a message holds.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAME_BYTES_MAX)]
}

fn age_ms(then: Time, now: Time) -> u64 {
    u64::try_from(now.since(then).as_millis()).unwrap_or(u64::MAX)
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
