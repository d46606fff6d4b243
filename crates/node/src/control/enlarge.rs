//! More room for data on a disk that is in use.
//!
//! A file is made longer as far as is asked for; a block device is as large as the operator made
//! it. What is found is divided anew: with internal metadata everything but the data has a new
//! place behind the old one, which becomes a part of the data area and stays as it is until a
//! larger volume has it. In this order, so that a crash at any point leaves a disk that the next
//! start finds (the state directory knows the size that it had):
//!
//! 1. The file is extended, the new places are zeroes, durably; but for a superblock in them that
//!    is in use, as the second one of external metadata can be whose device became longer.
//! 2. No shard writes metadata any more (engine/shard/moving.rs), and each uses the disk at its new
//!    size; all but zeroes is copied, durably.
//! 3. The superblock is written as it is to both of its new places: a start looks there first, so
//!    from here on they count. A start that finds it only where the next one is to be writes it to
//!    its own place before. The former ones are made zeroes. Where a crash leaves one in the new
//!    bitmap, it is marks too many: more is copied than has to be. Whoever stops the work, `down`
//!    say, waits for all of this step, as long as the disk answers.
//! 4. The shards write to the new places.
//!
//! What fails before step 3 leaves everything as it was, but for a flush that fails for more than
//! want of room: the disk tells of what it lost but once, be it of what clients wrote. From step 3
//! on nobody knows which places count until the disk is read again. In both cases the replica is
//! given up, as by any failed write.
//!
//! The stamp of a further volume's disk is copied like a superblock, with the number that it has:
//! it still is as new as that of the first disk, or one ahead.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use api::response::{Failure, FailureCode};
use engine::contract::ToShard;
use engine::definition::{Definition, DiskPlace};
use engine::handover::{GrowingDisk, Moved};
use engine::log::{Scope, log};
use format::ids::{BLOCK_BYTES, LaneIndex};
use format::layout::{AL_RING_BYTES, Layout, LayoutError, MetadataPlace, PAGE_BYTES, Placement};
use format::metadata::{AL_RINGS, Superblock};
use format::space::{Place, VOLUME_BYTES};
use format::superblock::superblock_offset;
use stdx::mutex::lock;

use crate::attach::finding::read_superblock;
use crate::attach::volumes::write_at;
use crate::attach::{Device, Lost, end_of};
use crate::control::Control;
use crate::desk::overloaded;
use crate::disk_work::Claim;
use crate::limits::{ADMIN_COMMAND_DEADLINE, COMMAND_PATIENCE};
use crate::patience::Patience;
use crate::refusal::Refusal;

#[derive(Debug)]
pub(super) struct RoomWanted {
    pub(super) resource: String,
    /// Of which volume.
    pub(super) place: Place,
    /// How its disk is divided, as the data threads use it.
    pub(super) layout: Layout,
    /// Of data; 0 is all that there is.
    pub(super) size_bytes: u64,
}

/// Why a disk got no room, as it was said last: only another reason is said again.
type Told = Mutex<HashMap<(String, u8), String>>;

impl Control {
    /// Enlarges disks for as long as the daemon lives, each by a thread of its own: it may hang
    /// with its disk. Of a resource there is one at a time, which holds the claim.
    pub(super) fn make_room(self: &Arc<Self>, wanted: &mpsc::Receiver<RoomWanted>) {
        let told = Arc::<Told>::default();
        for wanted in wanted {
            let (resource, place) = (wanted.resource.clone(), wanted.place);
            let (control, told) = (Arc::clone(self), Arc::clone(&told));
            let work = move || control.make_room_for(&wanted, &told);
            if let Err(error) = thread::Builder::new().name("room".to_owned()).spawn(work) {
                let scope = Scope::resource(&resource);
                log!(Error, scope, "the disk gets no more room: cannot start a thread: {error}");
                self.tell_enlarged(&resource, place, 0);
            }
        }
    }

    fn make_room_for(&self, wanted: &RoomWanted, told: &Told) {
        let RoomWanted { resource, place, layout, size_bytes } = wanted;
        let (scope, key) = (Scope::resource(resource), (resource.clone(), place.number()));
        // Kept until the data thread hears of the room: it is of the disk that is there now.
        let claim = self.disks_of(resource);
        let enlarged = match &claim {
            Ok(claim) => self.enlarge((resource, *place), layout, *size_bytes, claim),
            Err(failure) => Err(failure.clone()),
        };
        let mut told = lock(told);
        let size_bytes = match enlarged {
            Ok(size_bytes) => {
                told.remove(&key);
                log!(Notice, scope, "the disk has room for {size_bytes} bytes of data");
                size_bytes
            }
            Err(failure) => {
                let text = failure.to_string();
                if told.get(&key) != Some(&text) {
                    log!(Warning, scope, "the disk gets no more room: {text}");
                    told.insert(key, text);
                }
                0
            }
        };
        drop(told);
        self.tell_enlarged(resource, *place, size_bytes);
        drop(claim);
    }

    fn tell_enlarged(&self, resource: &str, place: Place, size_bytes: u64) {
        let home = self.desk().home_of(resource);
        self.tell_surely(home, || {
            let resource = resource.to_owned();
            ToShard::Enlarged { resource, place, size_bytes }
        });
    }

    /// All that is read is read under the claim: before, it may be of a disk that is another's by
    /// now.
    fn enlarge(
        &self,
        (resource, place): (&str, Place),
        old: &Layout,
        wanted: u64,
        claim: &Claim,
    ) -> Result<u64, Failure> {
        let name = || resource.to_owned();
        let text = self.stored_text(resource)?;
        let text = text.ok_or_else(|| Refusal::GrowsDown { resource: name() })?;
        let definition = Definition::from_text(&self.name, resource, &text)?;
        let volume = definition.volumes().find(|volume| volume.place == place);
        let (number, disk) = volume
            .and_then(|volume| Some((volume.number, volume.disk?)))
            .ok_or_else(|| Refusal::GrowsWithoutDisk { resource: name() })?;
        let share = |path| Device::share(path).map(|device| device.under(claim));
        let data = share(&disk.data)?;
        let meta = disk.meta.as_deref().map(share).transpose()?;
        let device = meta.as_ref().unwrap_or(&data);
        let identities = (data.identity()?, device.identity()?);
        let growing = GrowingDisk { place, layout: *old, data: identities.0, meta: identities.1 };
        // From here on nobody gives it back before the claim has ended.
        let question =
            |ticket| ToShard::CheckRoom { ticket, resource: resource.to_owned(), disk: growing };
        self.desk().ask(self.desk().home_of(resource), question, ADMIN_COMMAND_DEADLINE)?;
        claim.check()?;
        let read = || read_superblock(device, old, &definition, (number, disk));
        // What stands at the end that the disk has now may be of an earlier use of it.
        read()?;
        // Made longer it would have zeroes where it was cut.
        check_length(resource, &data, meta.as_ref(), old)
            .inspect_err(|_| self.release(resource, Moved::Lost))?;
        let (device_bytes, new) = plan(disk, &data, meta.as_ref(), old, wanted)?;
        if new.data_bytes <= old.data_bytes {
            return Ok(old.data_bytes);
        }
        // Under the hold as well: what is refused anyway is refused before anything is written.
        check_marks(device, (old, &new))?;
        if device_bytes > data.size_bytes {
            self.note_size((resource, place), end_of(old));
            claim.check()?;
            extend(&disk.data, &data, device_bytes)?;
            self.flush(resource, &data)?;
        }
        for range in new_places(old, &new) {
            device.zero(range)?;
        }
        self.flush(resource, device)?;
        let copied = self.hold(resource, growing).and_then(|()| {
            claim.check()?;
            let superblock = read()?;
            copy(device, place, (old, &new))?;
            Ok(superblock)
        });
        let counts = copied
            .map_err(|failure| (Moved::Not, failure))
            .and_then(|superblock| make_count(device, &superblock, (old, &new), claim));
        if counts.is_ok() {
            self.note_size((resource, place), end_of(&new));
        }
        let (moved, result) = match counts {
            Ok(()) => (Moved::To(place, new), Ok(new.data_bytes)),
            Err((moved, failure)) => (moved, Err(failure)),
        };
        self.release(resource, moved);
        result
    }

    fn flush(&self, resource: &str, device: &Device<'_>) -> Result<(), Failure> {
        device.flush().map_err(|(failure, lost)| {
            if lost == Lost::Anything {
                self.release(resource, Moved::Lost);
            }
            failure
        })
    }

    /// All shards hear of what became of the metadata, and of the disk.
    fn release(&self, resource: &str, moved: Moved) {
        for shard in 0..self.desk().shards() {
            self.tell_surely(shard, || {
                let resource = resource.to_owned();
                ToShard::ReleaseMetadata { resource, moved }
            });
        }
    }

    /// From here on no shard writes metadata. One that has the disk no more, or cannot use it as
    /// it is now, refuses for good.
    fn hold(&self, resource: &str, disk: GrowingDisk) -> Result<(), Failure> {
        let mut patience = Patience::new(COMMAND_PATIENCE);
        loop {
            let resource = || resource.to_owned();
            let question = |ticket| ToShard::HoldMetadata { ticket, resource: resource(), disk };
            let answers = self.desk().ask_all(question, ADMIN_COMMAND_DEADLINE);
            let is_final = |it: &Failure| {
                matches!(it.code, FailureCode::NoLocalDisk | FailureCode::DiskFailed)
            };
            match answers.into_iter().collect::<Result<Vec<_>, _>>() {
                Ok(_) => return Ok(()),
                Err(failure) if !is_final(&failure) && patience.rest(&failure) => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Where the metadata is found, should the process end before it has moved.
    fn note_size(&self, (resource, place): (&str, Place), size_bytes: u64) {
        if let Err(error) = self.state().store_disk_size((resource, place), size_bytes) {
            log!(Warning, Scope::resource(resource), "cannot note the size of the disk: {error}");
        }
    }

    /// What a shard has to hear, however long it takes nothing: what it holds back waits for that.
    fn tell_surely(&self, shard: u8, message: impl Fn() -> ToShard) {
        self.desk().insist(shard, message, || {
            let failure = overloaded();
            log!(Warning, Scope::NODE, "data thread {shard} is to hear of a disk: {failure}");
        });
    }
}

/// Neither the data nor its metadata lost its end since the data threads took them into use.
fn check_length(
    resource: &str,
    data: &Device<'_>,
    meta: Option<&Device<'_>>,
    layout: &Layout,
) -> Result<(), Failure> {
    let wanted = match meta {
        None => vec![(data, end_of(layout))],
        Some(meta) => vec![(data, layout.data_bytes), (meta, end_of(layout))],
    };
    let cut = wanted.into_iter().find(|(device, least_bytes)| device.size_bytes < *least_bytes);
    let Some((device, least_bytes)) = cut else { return Ok(()) };
    let (disk, size_bytes) = (device.path.to_owned(), device.size_bytes);
    Err(Refusal::Cut { disk, size_bytes, least_bytes, resource: resource.to_owned() }.into())
}

fn extend(path: &Path, data: &Device<'_>, device_bytes: u64) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let (disk, more_bytes) = (path.to_owned(), device_bytes - data.size_bytes);
        Refusal::NotLonger { disk, more_bytes, error }
    };
    Ok(io::extend_file(&data.file, data.size_bytes..device_bytes).map_err(failed)?)
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
    if is_file && wanted > new.data_bytes && wanted <= VOLUME_BYTES {
        let goal = wanted.max(end);
        // The metadata grows a little with the data.
        while new.data_bytes < goal {
            device_bytes += (goal - new.data_bytes).next_multiple_of(BLOCK_BYTES);
            new = divide(device_bytes)?;
        }
    }
    if new.data_bytes > old.data_bytes && new.data_bytes < end {
        let (disk, missing_bytes) = (place.data.clone(), end - new.data_bytes);
        return Err(Refusal::GrownTooLittle { disk, missing_bytes }.into());
    }
    Ok((device_bytes, new))
}

fn too_small(place: &DiskPlace, error: &LayoutError) -> Failure {
    let disk = place.meta.as_ref().unwrap_or(&place.data).clone();
    Refusal::NoRoomForMetadata { disk, reason: error.to_string() }.into()
}

/// What has to be zeroes before it counts. The second superblock of metadata on a longer device may
/// be where its bitmap is to be: it is left out, for it counts until the new ones do.
fn new_places(old: &Layout, new: &Layout) -> [Range<u64>; 2] {
    let all = match old.metadata {
        MetadataPlace::Internal => new.data_bytes..end_of(new),
        MetadataPlace::External => bitmap_end(old)..bitmap_end(new),
    };
    let inside = |offset: u64| offset.clamp(all.start, all.end);
    let used = old.superblock_offsets[1];
    [all.start..inside(used), inside(used + PAGE_BYTES)..all.end]
}

fn bitmap_end(layout: &Layout) -> u64 {
    layout.bitmap_offset + layout.bitmap_bytes()
}

/// External metadata stays where it is: its bitmap is divided anew only while it has no marks.
fn check_marks(device: &Device<'_>, (old, new): (&Layout, &Layout)) -> Result<(), Failure> {
    let stays = old.metadata == MetadataPlace::External;
    if !stays || old.pages_per_lane() == new.pages_per_lane() {
        return Ok(());
    }
    let mut has_marks = false;
    device.read_data(old.bitmap_offset..bitmap_end(old), |_, block| {
        has_marks |= block.iter().any(|byte| *byte != 0);
    })?;
    if has_marks {
        return Err(Refusal::MembersMiss.into());
    }
    Ok(())
}

/// Copies everything that is not zeroes.
fn copy(device: &Device<'_>, place: Place, (old, new): (&Layout, &Layout)) -> Result<(), Failure> {
    if old.metadata == MetadataPlace::External {
        return check_marks(device, (old, new));
    }
    // The activity log of all volumes is on the disk of the first.
    if place == Place::FIRST {
        for ring in 0..u8::try_from(AL_RINGS).expect("16 rings") {
            let bytes = device.read(old.al_ring_offset(ring), AL_RING_BYTES)?;
            device.write(new.al_ring_offset(ring), &bytes)?;
        }
    }
    for slot in 0..old.slots {
        copy_slot(device, slot, old, new)?;
    }
    Ok(())
}

fn copy_slot(device: &Device<'_>, slot: u8, old: &Layout, new: &Layout) -> Result<(), Failure> {
    let per_lane = u64::from(old.pages_per_lane());
    let begin = old.bitmap_page_offset(slot, LaneIndex(0), 0);
    let end = begin + u64::from(old.lanes) * per_lane * PAGE_BYTES;
    let mut result = Ok(());
    device.read_data(begin..end, |offset, block| {
        if result.is_err() || block.iter().all(|byte| *byte == 0) {
            return;
        }
        let number = (offset - begin) / PAGE_BYTES;
        let lane = u8::try_from(number / per_lane).expect("a lane of the layout");
        let page = u32::try_from(number % per_lane).expect("a page of the layout");
        result = device.write(new.bitmap_page_offset(slot, LaneIndex(lane), page), block);
    })?;
    result
}

/// The new places count from here on; or what is left of the former ones.
fn make_count(
    device: &Device<'_>,
    superblock: &Superblock,
    layouts: (&Layout, &Layout),
    claim: &Claim,
) -> Result<(), (Moved, Failure)> {
    device.flush().map_err(|(failure, lost)| match lost {
        Lost::Nothing => (Moved::Not, failure),
        Lost::Anything => (Moved::Lost, failure),
    })?;
    // Which can take as long as nobody waits for. From here on both places are written, or none.
    claim.begin_last_steps().map_err(|failure| (Moved::Not, failure))?;
    write_superblocks(device, superblock, layouts).map_err(|failure| (Moved::Lost, failure))
}

/// Writes the superblock as it is to both of its places: first to its own, by its number, for the
/// next one is written over the other, and would be torn over the only one. But where external
/// metadata has the newest one of now in that place it goes last, for a torn one would leave an
/// older one. What is left behind is found no more, however large the disk becomes, and marks
/// nothing where the bitmap is now.
fn write_superblocks(
    device: &Device<'_>,
    superblock: &Superblock,
    (old, new): (&Layout, &Layout),
) -> Result<(), Failure> {
    let own = superblock_offset(superblock, new);
    let [first, second] = new.superblock_offsets;
    let other = if own == first { second } else { first };
    let order = if superblock_offset(superblock, old) == own { [other, own] } else { [own, other] };
    for offset in order {
        write_at(device, superblock, new, offset)?;
    }
    for offset in old.superblock_offsets {
        if !new.superblock_offsets.contains(&offset) {
            device.zero(offset..offset + PAGE_BYTES)?;
        }
    }
    device.sync()
}

#[cfg(test)]
mod tests;
