//! Which superblock of a disk is the one that counts.
//!
//! Metadata stands at the end of its disk. A disk that has grown while the node did not know it has
//! it where it ended before, which the state directory tells; and at the end that it has now there
//! may be anything: what an earlier use of that place left behind, too. Both ends are looked at.
//! What is said there is compared by what goes on with each write: copies of one replica by their
//! write counter, two replicas by the stamp of the vote store that both had. Where nothing can be
//! compared the disk is not used until somebody says which of the two it is.
//!
//! Of a place only the likeliest superblock is believed, and the other one of its layout: the rest
//! of the disk is data, in which clients write what they like.
//!
//! A copy that cannot be read leaves the other one, where it is certain which end is in use. It may
//! have been the newer one, so what the other one says of others is not believed (`doubt`).

use std::collections::BTreeSet;

use api::response::Failure;
use engine::definition::{Definition, DiskPlace};
use engine::log::{Scope, log};
use format::error::DecodeError;
use format::ids::VoteStoreId;
use format::layout::{Layout, MetadataPlace, PAGE_BYTES, Placement};
use format::metadata::Superblock;
use format::space::Place;
use format::superblock::{decode_superblock, superblock_offset};

use crate::attach::error::{AttachError, LookedAt, OfVolume, OneOfTwo};
use crate::attach::{Block, Device, end_of};
use crate::sectors;
use crate::state_dir::disk_size_name;

/// A good superblock, and where it was.
#[derive(Clone, Debug)]
struct Found {
    offset: u64,
    superblock: Superblock,
    layout: Layout,
}

/// Where the metadata of this replica is, by the size that the disk has and the one that it had.
pub(crate) fn find_superblock(
    device: &Device<'_>,
    (data_bytes, former_bytes): (u64, Option<u64>),
    definition: &Definition,
    target: (u16, &DiskPlace),
) -> Result<(Superblock, Layout), Failure> {
    let is_internal = target.1.meta.is_none();
    let placement = |device_bytes| match is_internal {
        true => Placement::Internal { device_bytes },
        false => Placement::External {
            data_device_bytes: data_bytes,
            metadata_device_bytes: device_bytes,
        },
    };
    let mut seen = NoGood::default();
    let mut look =
        |device_bytes| look(device, &Layout::superblock_places(placement(device_bytes)), &mut seen);
    let mut present = look(device.size_bytes)?;
    // The device of its own that shrank and grew may have another replica's at its end.
    let is_one_end = former_bytes.map_or(is_internal, |it| it >= whole_pages(device.size_bytes));
    let former_bytes = former_bytes.unwrap_or(device.size_bytes);
    let mut former =
        if former_bytes < device.size_bytes { look(former_bytes)? } else { Vec::new() };
    if !is_internal && let Some(start) = present.iter().find(|it| it.offset == 0) {
        // Whatever its size, such a device begins with a superblock of the replica that it is of.
        let incarnation = start.superblock.incarnation;
        present.retain(|it| it.superblock.incarnation == incarnation);
        former.retain(|it| it.superblock.incarnation == incarnation);
    }
    let NoGood { lost, damaged } = seen;
    let disk = || device.path.to_owned();
    let name = || target_name(definition, target.0);
    if !lost.is_empty() && (!is_one_end || present.is_empty() && former.is_empty()) {
        let offsets = lost.iter().copied().collect();
        return Err(AttachError::Unreadable { disk: disk(), offsets, target: name() }.into());
    }
    let is_own = |it: &Found| mismatch(it, definition, target).is_none();
    let mut found = match (newest(present, is_own), newest(former, is_own)) {
        (None, None) => {
            let place = LookedAt {
                size_bytes: device.size_bytes,
                former_bytes: Some(former_bytes).filter(|it| *it != device.size_bytes),
                data: (!is_internal).then(|| (target.1.data.clone(), data_bytes)),
            };
            return Err(nothing_found(device, place, damaged, name()).into());
        }
        (Some(found), None) | (None, Some(found)) => found,
        (Some(present), Some(former)) => match choose(&present, &former, is_own) {
            Some(End::Present) => present,
            Some(End::Former) => former,
            None => {
                let both = (&present, &former);
                return Err(two_found(device, both, former_bytes, (definition, target.0)).into());
            }
        },
    };
    if let Some(kind) = mismatch(&found, definition, target) {
        return Err(not_of_replica(device, &found, kind, (definition, target.0)).into());
    }
    let end = end_of(&found.layout);
    let is_of_less = is_internal && whole_pages(former_bytes) > end;
    let shrunk = |former_bytes| {
        let (disk, size_bytes, target) = (disk(), device.size_bytes, name());
        Err(AttachError::Shrunk { disk, size_bytes, former_bytes, target }.into())
    };
    if is_of_less && has_votes(&found.superblock) {
        return shrunk(former_bytes);
    }
    if end > device.size_bytes {
        return shrunk(end);
    }
    let is_stamp = target.0 != definition.volume;
    for offset in found.layout.superblock_offsets.into_iter().filter(|at| lost.contains(at)) {
        use_other_copy(device, &mut found, offset, (definition, is_stamp));
    }
    Ok((found.superblock, found.layout))
}

/// In place of that at `lost`, which cannot be read.
fn use_other_copy(
    device: &Device<'_>,
    found: &mut Found,
    lost: u64,
    (definition, is_stamp): (&Definition, bool),
) {
    let (disk, at) = (device.path.display(), found.offset);
    let used = format!("cannot be read; that at byte {at} is used, which may be older");
    // What a stamp says of members is not used, and its `clean` is of `create-md`.
    let doubted = if is_stamp { "" } else { ": members that are away are copied in full" };
    let scope = Scope::resource(&definition.name);
    log!(Warning, scope, "{disk}: the superblock at byte {lost} {used}{doubted}");
    if !is_stamp {
        doubt(&mut found.superblock);
    }
}

/// It may lack what was written last: that writes are under way, which the activity log names, and
/// that members were lost, whose slots would not be read or begin too late.
fn doubt(superblock: &mut Superblock) {
    superblock.clean = false;
    let me = superblock.node;
    for slot in superblock.slots.iter_mut().filter(|slot| slot.member != me) {
        slot.base_epoch = replication::FULL;
    }
}

fn whole_pages(bytes: u64) -> u64 {
    bytes - bytes % PAGE_BYTES
}

/// The newer superblock of a disk that is in use, of which it is known how it is divided.
pub(crate) fn read_superblock(
    device: &Device<'_>,
    layout: &Layout,
    definition: &Definition,
    target: (u16, &DiskPlace),
) -> Result<Superblock, Failure> {
    let [first, last] = layout.superblock_offsets;
    let mut copies = Vec::new();
    for offset in [last, first] {
        copies.extend(superblock_at(device, offset)?);
    }
    copies.retain(|it| it.layout == *layout && mismatch(it, definition, target).is_none());
    let newest = newest(copies, |_| true);
    let place = LookedAt { size_bytes: device.size_bytes, ..LookedAt::default() };
    let nothing = || nothing_found(device, place, None, target_name(definition, target.0));
    Ok(newest.map(|it| it.superblock).ok_or_else(nothing)?)
}

/// Whether a superblock that was found is in its own place, which the next one leaves as it is.
pub(super) fn is_in_own_place(
    device: &Device<'_>,
    superblock: &Superblock,
    layout: &Layout,
) -> Result<bool, Failure> {
    let own = superblock_offset(superblock, layout);
    let Some(bytes) = device.read_unless_lost(own, PAGE_BYTES)? else { return Ok(false) };
    let found = superblock_in(device, own, &bytes)?;
    let name = |it: &Superblock| (it.incarnation, it.write_counter);
    Ok(found.is_some_and(|it| name(&it.superblock) == name(superblock) && it.layout == *layout))
}

/// What was seen in places for superblocks, beside those that are good.
#[derive(Debug, Default)]
struct NoGood {
    /// Places of which nothing is known, as they cannot be read.
    lost: BTreeSet<u64>,
    /// Of the first place that has a superblock's beginning: what is wrong with the rest.
    damaged: Option<String>,
}

/// The superblocks of one size, the one that was found first in front.
fn look(device: &Device<'_>, places: &[u64], no_good: &mut NoGood) -> Result<Vec<Found>, Failure> {
    let mut look_at = |offset| {
        let Some(bytes) = device.read_unless_lost(offset, PAGE_BYTES)? else {
            no_good.lost.insert(offset);
            if no_good.lost.len() > sectors::LOST_MAX {
                // The disk fails as a whole, and each try may take it long.
                return Err(device.lost());
            }
            return Ok(None);
        };
        let found = superblock_in(device, offset, &bytes)?;
        if found.is_none() && no_good.damaged.is_none() {
            no_good.damaged = damage_of(offset, &bytes);
        }
        Ok(found)
    };
    let mut found: Vec<Found> = Vec::new();
    for &offset in places {
        found.extend(look_at(offset)?);
        if !found.is_empty() {
            break;
        }
    }
    // Metadata of a device of its own may begin with a superblock of another layout.
    for _ in 0..2 {
        let places: Vec<u64> = found.iter().flat_map(|it| it.layout.superblock_offsets).collect();
        for offset in places {
            let is_there = offset + PAGE_BYTES <= device.size_bytes;
            if is_there && found.iter().all(|it| it.offset != offset) {
                found.extend(look_at(offset)?);
            }
        }
    }
    Ok(found)
}

/// Of a disk in use both copies have to be there: the newer one is to be found.
fn superblock_at(device: &Device<'_>, offset: u64) -> Result<Option<Found>, Failure> {
    superblock_in(device, offset, &device.read(offset, PAGE_BYTES)?)
}

fn superblock_in(device: &Device<'_>, offset: u64, bytes: &[u8]) -> Result<Option<Found>, Failure> {
    let block: &Block = bytes.first_chunk().expect("read as long as a block");
    match decode_superblock(block) {
        Ok((superblock, layout)) if layout.superblock_offsets.contains(&offset) => {
            Ok(Some(Found { offset, superblock, layout }))
        }
        Err(error @ DecodeError::NewerVersion { .. }) => {
            let disk = device.path.to_owned();
            Err(AttachError::Newer { part: "metadata", disk, source: error }.into())
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// What is wrong with a superblock that begins like one; `None` of other bytes.
fn damage_of(offset: u64, bytes: &[u8]) -> Option<String> {
    let block: &Block = bytes.first_chunk().expect("read as long as a block");
    let error = decode_superblock(block).err()?;
    let is_one = !matches!(error, DecodeError::WrongMagic { .. });
    is_one.then(|| format!("the superblock at byte {offset} is damaged ({error})"))
}

/// Of two that are equally new the one that was found first.
fn newest(found: Vec<Found>, is_own: impl Fn(&Found) -> bool) -> Option<Found> {
    let age = |it: &Found| (is_own(it), it.superblock.write_counter);
    found.into_iter().reduce(|first, next| if age(&next) > age(&first) { next } else { first })
}

/// Of a disk that grew.
enum End {
    Present,
    Former,
}

/// Which of them is in use, if anything says so.
fn choose(present: &Found, former: &Found, is_own: impl Fn(&Found) -> bool) -> Option<End> {
    let (new, old) = (&present.superblock, &former.superblock);
    let former_is_newer = match (is_own(present), is_own(former)) {
        (_, false) => false,
        (false, true) => return None,
        // A move copies the superblock as it is, and the copy counts.
        (true, true) if new.incarnation == old.incarnation => old.write_counter > new.write_counter,
        (true, true) => {
            let (new, old) = (&new.vote_stamp, &old.vote_stamp);
            let is_comparable = new.store == old.store
                && new.store != VoteStoreId::default()
                && new.write_counter != old.write_counter;
            if !is_comparable {
                return None;
            }
            old.write_counter > new.write_counter
        }
    };
    Some(if former_is_newer { End::Former } else { End::Present })
}

/// Whether it was in use: `create-md` leaves no stamp.
fn has_votes(superblock: &Superblock) -> bool {
    superblock.vote_stamp.store != VoteStoreId::default()
}

/// How it is not of this replica.
#[derive(Clone, Copy)]
enum Mismatch {
    /// It is of another resource, node or volume.
    Replica,
    /// It was made for another kind of `meta-disk`.
    Place,
}

fn mismatch(
    found: &Found,
    definition: &Definition,
    (volume, place): (u16, &DiskPlace),
) -> Option<Mismatch> {
    let Superblock { resource, node, volume: of_volume, .. } = &found.superblock;
    let is_external = place.meta.is_some();
    if *resource != definition.id || *node != definition.me || *of_volume != volume {
        Some(Mismatch::Replica)
    } else if (found.layout.metadata == MetadataPlace::External) != is_external {
        Some(Mismatch::Place)
    } else {
        None
    }
}

fn not_of_replica(
    device: &Device<'_>,
    found: &Found,
    kind: Mismatch,
    (definition, volume): (&Definition, u16),
) -> AttachError {
    let Definition { name, me, .. } = definition;
    let (disk, target) = (device.path.to_owned(), target_name(definition, volume));
    let found = OfVolume::of(&found.superblock);
    let wanted = OfVolume { resource: name.clone(), node: me.get(), volume };
    match kind {
        Mismatch::Replica => AttachError::OtherReplica { disk, found, wanted, target },
        Mismatch::Place => AttachError::OtherPlace { disk, found, target },
    }
}

fn target_name(definition: &Definition, volume: u16) -> String {
    let name = &definition.name;
    if volume == definition.volume { name.clone() } else { format!("{name}/{volume}") }
}

fn nothing_found(
    device: &Device<'_>,
    place: LookedAt,
    damaged: Option<String>,
    target: String,
) -> AttachError {
    let disk = device.path.to_owned();
    match damaged {
        Some(wrong) => AttachError::Damaged { disk, place, wrong, target },
        None => AttachError::NothingFound { disk, place, target },
    }
}

fn two_found(
    device: &Device<'_>,
    (present, former): (&Found, &Found),
    former_bytes: u64,
    (definition, volume): (&Definition, u16),
) -> AttachError {
    let one = |it: &Found| {
        let Superblock { incarnation, write_counter, .. } = it.superblock;
        OneOfTwo { of: OfVolume::of(&it.superblock), incarnation: incarnation.0, write_counter }
    };
    AttachError::TwoFound {
        disk: device.path.to_owned(),
        former_bytes,
        size_bytes: device.size_bytes,
        present: one(present),
        former: one(former),
        target: target_name(definition, volume),
        note: note_name(definition, volume),
    }
}

fn note_name(definition: &Definition, volume: u16) -> String {
    let place = definition.volumes().find(|it| it.number == volume).map(|it| it.place);
    format!("resources/{}", disk_size_name(&definition.name, place.unwrap_or(Place::FIRST)))
}

#[cfg(test)]
mod tests;
