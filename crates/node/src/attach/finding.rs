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
use std::path::PathBuf;

use api::response::{Failure, FailureCode};
use engine::definition::{Definition, DiskPlace};
use engine::log::{Scope, log};
use format::error::DecodeError;
use format::ids::VoteStoreId;
use format::layout::{Layout, MetadataPlace, PAGE_BYTES, Placement};
use format::metadata::Superblock;
use format::space::Place;
use format::superblock::{decode_superblock, superblock_offset};

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
    if !lost.is_empty() && (!is_one_end || present.is_empty() && former.is_empty()) {
        return Err(unreadable(device, &lost, (definition, target.0)));
    }
    let is_own = |it: &Found| mismatch(it, definition, target).is_none();
    let mut found = match (newest(present, is_own), newest(former, is_own)) {
        (None, None) => {
            let known = Known {
                former_bytes: Some(former_bytes).filter(|it| *it != device.size_bytes),
                data: (!is_internal).then_some((&target.1.data, data_bytes)),
                damaged,
            };
            return Err(nothing_found(device, &known, (definition, target.0)));
        }
        (Some(found), None) | (None, Some(found)) => found,
        (Some(present), Some(former)) => match choose(&present, &former, is_own) {
            Some(End::Present) => present,
            Some(End::Former) => former,
            None => {
                let both = (&present, &former);
                return Err(two_found(device, both, former_bytes, (definition, target.0)));
            }
        },
    };
    if let Some(what) = mismatch(&found, definition, target) {
        let message = format!("the metadata on {} {what}", device.path.display());
        let hint = "is this the right disk? `create-md --force` would make it a new, empty replica";
        return Err(Failure::new(FailureCode::MetadataMismatch, message, hint));
    }
    let end = end_of(&found.layout);
    let is_of_less = is_internal && whole_pages(former_bytes) > end;
    if is_of_less && has_votes(&found.superblock) {
        return Err(shrunk(device, former_bytes, (definition, target.0)));
    }
    if end > device.size_bytes {
        return Err(shrunk(device, end, (definition, target.0)));
    }
    // What a stamp says of members is not used, and its `clean` is of `create-md`.
    let is_stamp = target.0 != definition.volume;
    for offset in found.layout.superblock_offsets.iter().filter(|offset| lost.contains(offset)) {
        let (disk, at) = (device.path.display(), found.offset);
        let used = format!("cannot be read; that at byte {at} is used, which may be older");
        let doubted = if is_stamp { "" } else { ": members that are away are copied in full" };
        let scope = Scope::resource(&definition.name);
        log!(Warning, scope, "{disk}: the superblock at byte {offset} {used}{doubted}");
        if !is_stamp {
            doubt(&mut found.superblock);
        }
    }
    Ok((found.superblock, found.layout))
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
    let nothing = || nothing_found(device, &Known::default(), (definition, target.0));
    newest.map(|it| it.superblock).ok_or_else(nothing)
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
            let message = format!("the metadata on {}: {error}", device.path.display());
            Err(Failure::new(FailureCode::MetadataMismatch, message, ""))
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

/// Why it is not of this replica.
fn mismatch(
    found: &Found,
    definition: &Definition,
    (volume, place): (u16, &DiskPlace),
) -> Option<String> {
    let Definition { name, me, .. } = definition;
    let Superblock { resource, node, volume: of_volume, .. } = &found.superblock;
    let is_external = place.meta.is_some();
    let whose = whose(&found.superblock);
    if *resource != definition.id || *node != *me || *of_volume != volume {
        Some(format!("is {whose}; wanted is resource {name:?}, node {me}, volume {volume}"))
    } else if (found.layout.metadata == MetadataPlace::External) != is_external {
        Some(format!(
            "is {whose}, but it was made for another `meta-disk` than the configuration has"
        ))
    } else {
        None
    }
}

fn whose(superblock: &Superblock) -> String {
    let Superblock { resource_name, node, volume, .. } = superblock;
    format!("of resource {resource_name:?}, node {node}, volume {volume}")
}

fn target_name(definition: &Definition, volume: u16) -> String {
    let name = &definition.name;
    if volume == definition.volume { name.clone() } else { format!("{name}/{volume}") }
}

/// What else is known of a disk without a superblock.
#[derive(Default)]
struct Known<'a> {
    /// Its size when it was last in use, if it was another one.
    former_bytes: Option<u64>,
    /// The disk that the metadata would be about, where that is another one, and its size, by
    /// which the metadata is looked for.
    data: Option<(&'a PathBuf, u64)>,
    /// What is wrong with a superblock that is damaged.
    damaged: Option<String>,
}

fn nothing_found(
    device: &Device<'_>,
    Known { former_bytes, data, damaged }: &Known<'_>,
    (definition, volume): (&Definition, u16),
) -> Failure {
    let (path, size_bytes) = (device.path.display(), device.size_bytes);
    let former = former_bytes.map(|it| format!(", {it} when it was last in use"));
    let about = data.map(|(path, size_bytes)| {
        format!(" about the data on {} ({size_bytes} bytes)", path.display())
    });
    let wrong = damaged.as_ref().map(|what| format!(": {what}"));
    let [former, about, wrong] = [former, about, wrong].map(Option::unwrap_or_default);
    let message = format!(
        "no Basalt metadata was found on {path} ({size_bytes} bytes{former}){about}{wrong}"
    );
    let target = target_name(definition, volume);
    let hint = match damaged {
        None => format!(
            "run `basalt adm create-md {target}` for a new replica; if the disk held one, its \
             size changed while this node did not know it: give it its former one"
        ),
        Some(_) => format!(
            "put back what it held, if there is an image of it; or `basalt adm create-md --force \
             {target}` makes a new replica that is copied from the others"
        ),
    };
    Failure::new(FailureCode::NoMetadata, message, hint)
}

fn unreadable(
    device: &Device<'_>,
    lost: &BTreeSet<u64>,
    (definition, volume): (&Definition, u16),
) -> Failure {
    let places: Vec<String> = lost.iter().map(u64::to_string).collect();
    let message = format!(
        "{} cannot be read where a superblock may be, at byte {}, and nothing else says for \
         certain what is there",
        device.path.display(),
        places.join(", ")
    );
    let hint = format!(
        "replace the disk if it stays so; `basalt adm create-md --force {}`, which writes over it, \
         makes a new replica that is copied from the others",
        target_name(definition, volume)
    );
    Failure::new(FailureCode::DiskFailed, message, hint)
}

fn two_found(
    device: &Device<'_>,
    (present, former): (&Found, &Found),
    former_bytes: u64,
    (definition, volume): (&Definition, u16),
) -> Failure {
    let describe = |it: &Found| {
        let Superblock { incarnation, write_counter, .. } = it.superblock;
        let whose = whose(&it.superblock);
        format!("{whose} (incarnation {:032x}, written {write_counter} times)", incarnation.0)
    };
    let message = format!(
        "{} has grown from {former_bytes} to {} bytes, and has metadata at both ends: now {}, \
         before {}; nothing says which of them is in use",
        device.path.display(),
        device.size_bytes,
        describe(present),
        describe(former)
    );
    let target = target_name(definition, volume);
    let note = note_name(definition, volume);
    let hint = format!(
        "`basalt adm dump-md {target}` shows both. If it is the former one, `basalt adm wipe-md \
         --force {target}` takes the other off; if it is the one at the end that the disk has now, \
         remove {note} from the state directory, which tells of the former size; then `attach` it. \
         If neither, `create-md --force {target}` makes a new replica, and takes off both"
    );
    Failure::new(FailureCode::DiskFailed, message, hint)
}

fn shrunk(
    device: &Device<'_>,
    former_bytes: u64,
    (definition, volume): (&Definition, u16),
) -> Failure {
    let message = format!(
        "{} has {} bytes, and its metadata was last where {former_bytes} bytes end: what is found \
         now is not all of it, or of an earlier day",
        device.path.display(),
        device.size_bytes
    );
    let target = target_name(definition, volume);
    let hint = format!(
        "give the disk its former size again; of another disk, or if that is not possible, \
         `basalt adm create-md --force {target}` makes a new replica that is copied from the others"
    );
    Failure::new(FailureCode::DiskFailed, message, hint)
}

fn note_name(definition: &Definition, volume: u16) -> String {
    let place = definition.volumes().find(|it| it.number == volume).map(|it| it.place);
    format!("resources/{}", disk_size_name(&definition.name, place.unwrap_or(Place::FIRST)))
}

#[cfg(test)]
mod tests;
