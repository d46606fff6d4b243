//! More room for data on a disk that is in use.
//!
//! A file is made longer as far as is asked for; a block device is as large as the operator made
//! it. What is found is divided anew: with internal metadata everything but the data has a new
//! place behind the old one, which becomes a part of the data area and stays as it is until a
//! larger volume has it. In this order, so that a crash at any point leaves a disk that the next
//! start finds (the state directory knows the size that it had):
//!
//! 1. The file is extended, the new places are zeroes, durably.
//! 2. No shard writes metadata any more (`shard/moving`); what is in use of it is copied, durably.
//! 3. Both superblocks are written to their new places, each with a higher count of writes than any
//!    before: from here on the new ones count.
//! 4. The shards write to the new places.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc;

use api::response::{Failure, FailureCode};
use format::ids::BLOCK_BYTES;
use format::layout::{AL_RING_BYTES, Layout, LayoutError, MetadataPlace, Placement};
use format::metadata::{AL_RINGS, Superblock};
use format::superblock::SUPERBLOCK_BYTES;

use crate::attach::{Device, bytes_of, end_of, find_superblock, read_pages, write_superblock};
use crate::control::Control;
use crate::definition::{Definition, DiskPlace};
use crate::limits::{ADMIN_COMMAND_DEADLINE, COMMAND_PATIENCE};
use crate::log::{Scope, log};
use crate::patience::Patience;
use crate::shard::messages::ToShard;
use crate::shard::moving::WRITES_OF_A_MOVE;

#[derive(Debug)]
pub(crate) struct RoomWanted {
    pub(crate) resource: String,
    /// Of data; 0 is all that there is.
    pub(crate) size_bytes: u64,
}

impl Control {
    /// Enlarges disks, one after the other, for as long as the daemon lives.
    pub(crate) fn make_room(&self, wanted: &mpsc::Receiver<RoomWanted>) {
        // Why it was refused: said again only if the reason is another one.
        let mut told = HashMap::new();
        for RoomWanted { resource, size_bytes } in wanted {
            let scope = Scope::resource(&resource);
            let size_bytes = match self.enlarge(&resource, size_bytes) {
                Ok(size_bytes) => {
                    told.remove(&resource);
                    log!(Notice, scope, "the disk has room for {size_bytes} bytes of data");
                    size_bytes
                }
                Err(failure) => {
                    let text = failure.to_string();
                    if told.get(&resource) != Some(&text) {
                        log!(Warning, scope, "the disk gets no more room: {text}");
                        told.insert(resource.clone(), text);
                    }
                    0
                }
            };
            self.enlarged(resource, size_bytes);
        }
    }

    fn enlarge(&self, resource: &str, wanted: u64) -> Result<u64, Failure> {
        let refused = |text: &str| Failure::new(FailureCode::StateRefused, text, "");
        let text = self.stored_text(resource)?.ok_or_else(|| refused("the resource is down"))?;
        let definition = Definition::from_text(&self.name, resource, &text)?;
        let place = definition.disk.clone().ok_or_else(|| refused("there is no disk here"))?;
        let _moving = self.moving();
        let data = Device::share(&place.data)?;
        let meta = place.meta.as_deref().map(Device::share).transpose()?;
        let known = self.state().disk_size(resource);
        let (_, old) =
            find_superblock(meta.as_ref().unwrap_or(&data), data.size_bytes, known, &definition)?;
        let (device_bytes, new) = plan(&place, &data, meta.as_ref(), &old, wanted)?;
        if new.data_bytes <= old.data_bytes {
            return Ok(old.data_bytes);
        }
        if device_bytes > data.size_bytes {
            self.note_size(resource, end_of(&old));
            extend(&place.data, &data, device_bytes)?;
        }
        let device = meta.as_ref().unwrap_or(&data);
        match old.metadata {
            MetadataPlace::Internal => device.zero(new.data_bytes..end_of(&new))?,
            MetadataPlace::External => {
                let end = |layout: &Layout| layout.bitmap_offset + layout.bitmap_bytes();
                device.zero(end(&old)..end(&new))?;
            }
        }
        device.sync()?;
        let moved = self.hold(resource).and_then(|()| {
            let (superblock, old) = find_superblock(device, data.size_bytes, known, &definition)?;
            copy(device, superblock, &old, &new)
        });
        let layout = moved.is_ok().then_some(new);
        for shard in 0..self.desk().shards() {
            let resource = resource.to_owned();
            self.desk().tell(shard, ToShard::ReleaseMetadata { resource, layout });
        }
        moved?;
        self.note_size(resource, end_of(&new));
        Ok(new.data_bytes)
    }

    /// From here on no shard writes metadata.
    fn hold(&self, resource: &str) -> Result<(), Failure> {
        let mut patience = Patience::new(COMMAND_PATIENCE);
        loop {
            let question = |ticket| ToShard::HoldMetadata { ticket, resource: resource.to_owned() };
            let answers = self.desk().ask_all(question, ADMIN_COMMAND_DEADLINE);
            match answers.into_iter().collect::<Result<Vec<_>, _>>() {
                Ok(_) => return Ok(()),
                Err(failure) if patience.rest(&failure) => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Where the metadata is found, should the process end before it has moved.
    fn note_size(&self, resource: &str, size_bytes: u64) {
        if let Err(error) = self.state().store_disk_size(resource, size_bytes) {
            log!(Warning, Scope::resource(resource), "cannot note the size of the disk: {error}");
        }
    }

    fn enlarged(&self, resource: String, size_bytes: u64) {
        let home = self.desk().home_of(&resource);
        self.desk().tell(home, ToShard::Enlarged { resource, size_bytes });
    }
}

fn extend(path: &Path, data: &Device<'_>, device_bytes: u64) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let more = device_bytes - data.size_bytes;
        let message = format!("cannot make {} {more} bytes longer: {error}", path.display());
        let hint = "everything stays as it is; make room on its file system";
        Failure::new(FailureCode::DiskFailed, message, hint)
    };
    io::extend_file(&data.file, data.size_bytes..device_bytes).map_err(failed)?;
    data.file.sync_all().map_err(failed)
}

/// How long the data device is to be, and how it is divided then.
fn plan(
    place: &DiskPlace,
    data: &Device<'_>,
    meta: Option<&Device<'_>>,
    old: &Layout,
    wanted: u64,
) -> Result<(u64, Layout), Failure> {
    let is_file = std::fs::metadata(&place.data).is_ok_and(|it| it.is_file());
    let divide = |device_bytes| {
        let placement = match meta {
            None => Placement::Internal { device_bytes },
            Some(meta) => Placement::External {
                data_device_bytes: device_bytes,
                metadata_device_bytes: meta.size_bytes,
            },
        };
        Layout::new(placement, old.slots, old.lanes).map_err(|error| too_small(place, &error))
    };
    let mut device_bytes = data.size_bytes;
    let mut new = divide(device_bytes)?;
    // With internal metadata the new one must not touch the old one.
    let end = if meta.is_none() { end_of(old) } else { 0 };
    if is_file && wanted > new.data_bytes {
        let goal = wanted.max(end);
        // The metadata grows a little with the data.
        while new.data_bytes < goal {
            device_bytes += (goal - new.data_bytes).next_multiple_of(BLOCK_BYTES);
            new = divide(device_bytes)?;
        }
    }
    if new.data_bytes > old.data_bytes && new.data_bytes < end {
        let message = format!(
            "{} has grown by less than its metadata takes: {} bytes more are needed",
            place.data.display(),
            end - new.data_bytes
        );
        return Err(Failure::new(FailureCode::DiskFailed, message, "enlarge it further"));
    }
    Ok((device_bytes, new))
}

fn too_small(place: &DiskPlace, error: &LayoutError) -> Failure {
    let path = place.meta.as_ref().unwrap_or(&place.data).display();
    let message = format!("the metadata on {path} has no room for a larger volume: {error}");
    let hint = "exchange it: detach the disk, give it a larger `meta-disk`, `create-md`";
    Failure::new(FailureCode::DiskFailed, message, hint)
}

/// Copies what is in use, and then has the new places count.
fn copy(
    device: &Device<'_>,
    mut superblock: Superblock,
    old: &Layout,
    new: &Layout,
) -> Result<(), Failure> {
    let pages = read_pages(device, &superblock, old)?;
    if old.metadata == MetadataPlace::External {
        let is_divided_anew = old.pages_per_lane() != new.pages_per_lane();
        if is_divided_anew && !pages.is_empty() {
            let message = "the bitmap would be divided anew, and it marks what members miss";
            let hint = "bring all members up to date first";
            return Err(Failure::new(FailureCode::StateRefused, message, hint));
        }
    } else {
        for ring in 0..u8::try_from(AL_RINGS).expect("16 rings") {
            let bytes = device.read(old.al_ring_offset(ring), AL_RING_BYTES)?;
            device.write(new.al_ring_offset(ring), &bytes)?;
        }
        let mut block = [0; SUPERBLOCK_BYTES];
        for page in pages {
            let slot = superblock.slots.iter().position(|slot| slot.member == page.member);
            let slot = slot.and_then(|slot| u8::try_from(slot).ok());
            let slot = slot.expect("pages are of slots of the superblock");
            bytes_of(&page.bits, &mut block);
            device.write(new.bitmap_page_offset(slot, page.lane, page.page), &block)?;
        }
    }
    device.sync()?;
    for _ in 0..WRITES_OF_A_MOVE {
        write_superblock(device, &mut superblock, new)?;
    }
    Ok(())
}
