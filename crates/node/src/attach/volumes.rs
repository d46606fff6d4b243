//! The disks of one replica: that of the first volume, and one for each further volume.
//!
//! The first disk has the superblock that counts, the activity log of all volumes and a list of
//! the other disks. Each of these has the bitmap of its own volume, and a superblock of its own as
//! a stamp: whose disk it is, to which first disk it belongs, and the write counter of the first
//! disk's superblock. A stamp is written before that superblock, so it is as new, or one ahead
//! after a crash between the two. What is older is a copy of another day, and is not served; nor
//! is a disk that the list does not have. A disk enters the list while the replica has no data that
//! counts, or once, as an addition whose blocks `create-md` made zeroes.

use std::fs::File;

use api::response::Failure;
use engine::definition::{Definition, DiskPlace, FurtherVolume};
use engine::handover::NewVolume;
use format::layout::{Layout, PAGE_BYTES};
use format::metadata::{Content, FurtherDisk, Superblock};
use format::space::Place;
use format::superblock::{SUPERBLOCK_BYTES, encode_superblock, stamp, superblock_offset};

use crate::attach::Device;
use crate::attach::error::{AttachError, Misfit};
use crate::attach::finding::{find_superblock, is_in_own_place};
use crate::attach::identity::{check_data_disk, has_history};
use crate::attach::opening::{Version, open_further};
use crate::patience::Patience;
use crate::state_dir::StateDir;

/// The devices that hold the metadata of a replica, open for this thread alone.
pub(super) struct Volumes<'a> {
    first: (Device<'a>, Layout),
    further: Vec<(Place, Device<'a>, Layout)>,
    /// Devices that hold data alone: open, so that nobody else uses them.
    _data: Vec<File>,
}

/// One disk of a replica as it was found.
struct Found<'a> {
    device: Device<'a>,
    data: Option<File>,
    superblock: Superblock,
    layout: Layout,
}

impl<'a> Volumes<'a> {
    /// Opens and checks the disks of all volumes; the superblock is that of the replica.
    pub(super) fn open(
        definition: &'a Definition,
        (place, former): (&'a DiskPlace, impl Fn(Place) -> Option<u64>),
        patience: &mut Patience,
    ) -> Result<(Self, Superblock), Failure> {
        let target = (definition.volume, place);
        let first = open(definition, target, former(Place::FIRST), patience)?;
        let Found { device, data, mut superblock, layout } = first;
        let mut volumes = Self {
            first: (device, layout),
            further: Vec::new(),
            _data: data.into_iter().collect(),
        };
        for volume in &definition.further {
            let Some(place) = &volume.disk else { continue };
            let target = (volume.number(), place);
            let mut found = open(definition, target, former(volume.place), patience)?;
            renew_lost_stamp(&superblock, volume.place, &mut found)?;
            bind(&mut superblock, &layout, volume, &found)?;
            volumes.further.push((volume.place, found.device, found.layout));
            volumes._data.extend(found.data);
        }
        check_all_named(&superblock, definition)?;
        Ok((volumes, superblock))
    }

    pub(super) fn first(&self) -> (&Device<'a>, &Layout) {
        (&self.first.0, &self.first.1)
    }

    /// The device and the layout of each volume.
    pub(super) fn all(&self) -> impl Iterator<Item = (Place, &Device<'a>, &Layout)> {
        let further = self.further.iter().map(|(place, device, layout)| (*place, device, layout));
        std::iter::once((Place::FIRST, &self.first.0, &self.first.1)).chain(further)
    }

    pub(super) fn at(&self, place: Place) -> (&Device<'a>, &Layout) {
        let found = self.all().find(|(known, ..)| *known == place);
        let (_, device, layout) = found.expect("pages are of volumes that have a disk");
        (device, layout)
    }

    pub(super) fn layouts(&self) -> Vec<(Place, Layout)> {
        self.further.iter().map(|(place, _, layout)| (*place, *layout)).collect()
    }

    pub(super) fn has_several(&self) -> bool {
        !self.further.is_empty()
    }

    pub(super) fn sync(&self) -> Result<(), Failure> {
        self.all().try_for_each(|(_, device, _)| device.sync())
    }

    /// Writes the superblock anew, the stamps of the other disks before it.
    pub(super) fn write_superblock(&self, superblock: &mut Superblock) -> Result<(), Failure> {
        superblock.write_counter += 1;
        for (place, device, layout) in &self.further {
            write(device, &stamp(superblock, *place), layout)?;
        }
        write(&self.first.0, superblock, &self.first.1)
    }
}

/// Reads it; the data threads have the first disk, and that of the new volume is nobody's yet.
pub(crate) fn read_new_volume(
    definition: &Definition,
    (first, volume): (&DiskPlace, &FurtherVolume),
    state: &StateDir,
    patience: &mut Patience,
) -> Result<Option<NewVolume>, Failure> {
    let former = |place| state.disk_size((&definition.name, place));
    let Some(at) = &volume.disk else { return Ok(None) };
    let data = Device::share(&first.data)?;
    let meta = first.meta.as_deref().map(Device::share).transpose()?;
    let (sizes, target) = ((data.size_bytes, former(Place::FIRST)), (definition.volume, first));
    let device = meta.as_ref().unwrap_or(&data);
    let (mut superblock, layout) = find_superblock(device, sizes, definition, target)?;
    let target = (volume.number(), at);
    let found = open(definition, target, former(volume.place), patience)?;
    bind(&mut superblock, &layout, volume, &found)?;
    check_data_disk(definition, (volume.place, at), &superblock, state)?;
    let (layout, version) = (found.layout, Version::of(&found.superblock));
    // Nobody else may have it: the data threads least of all while it is open here.
    drop(found);
    let disk = superblock.further.iter().find(|disk| disk.place == volume.place).copied();
    let Some(disk) = disk else { return Ok(None) };
    let opened = open_further(definition, volume.place, (layout, version), patience)?;
    Ok(Some(NewVolume { disk, opened }))
}

fn write(device: &Device<'_>, superblock: &Superblock, layout: &Layout) -> Result<(), Failure> {
    write_at(device, superblock, layout, superblock_offset(superblock, layout))
}

pub(crate) fn write_at(
    device: &Device<'_>,
    superblock: &Superblock,
    layout: &Layout,
    offset: u64,
) -> Result<(), Failure> {
    let mut block = [0; SUPERBLOCK_BYTES];
    encode_superblock(superblock, layout, &mut block).map_err(|error| device.not_encoded(error))?;
    device.write(offset, &block)?;
    device.sync()
}

fn open<'a>(
    definition: &Definition,
    (volume, place): (u16, &'a DiskPlace),
    former_bytes: Option<u64>,
    patience: &mut Patience,
) -> Result<Found<'a>, Failure> {
    let data = Device::open(&place.data, patience)?;
    let data_bytes = data.size_bytes;
    let (device, data) = match &place.meta {
        None => (data, None),
        Some(path) => (Device::open(path, patience)?, Some(data.file)),
    };
    let sizes = (data_bytes, former_bytes);
    let (superblock, layout) = find_superblock(&device, sizes, definition, (volume, place))?;
    if data_bytes < superblock.size_bytes {
        return Err(AttachError::DataShrunk {
            disk: place.data.clone(),
            size_bytes: data_bytes,
            needed_bytes: superblock.size_bytes,
            resource: definition.name.clone(),
        }
        .into());
    }
    // A crash while metadata moved, or was made, may have kept it from there. The next write would
    // be over the only copy, and a torn one leave none.
    if !is_in_own_place(&device, &superblock, &layout)? {
        write(&device, &superblock, &layout)?;
    }
    Ok(Found { device, data, superblock, layout })
}

/// A stamp that cannot be read leaves the one before it, which says that the disk is an older copy.
/// It is written again where the disk has all else of this replica, and is one behind.
fn renew_lost_stamp(
    first: &Superblock,
    place: Place,
    found: &mut Found<'_>,
) -> Result<(), Failure> {
    let Found { device, superblock: own, layout, .. } = found;
    let is_known = first.further.iter().any(|disk| {
        (disk.place, disk.incarnation, disk.size_bytes) == (place, own.incarnation, own.size_bytes)
    });
    let is_of_this_replica = own
        .further
        .iter()
        .any(|disk| (disk.place, disk.incarnation) == (Place::FIRST, first.incarnation));
    if !is_known || !is_of_this_replica || own.write_counter + 1 != first.write_counter {
        return Ok(());
    }
    if device.read_unless_lost(superblock_offset(first, layout), PAGE_BYTES)?.is_some() {
        return Ok(());
    }
    *own = stamp(first, place);
    write(device, own, layout)
}

/// The disk has to be the one that the first disk knows, as new as that one is; or a new one.
fn bind(
    first: &mut Superblock,
    layout: &Layout,
    volume: &FurtherVolume,
    found: &Found<'_>,
) -> Result<(), Failure> {
    let own = &found.superblock;
    check_shape(first, layout, volume, found)?;
    let name = first.resource_name.clone();
    let refused = |why| Err(not_of_replica(volume, found, &name, why));
    let wanted = FurtherDisk {
        place: volume.place,
        incarnation: own.incarnation,
        size_bytes: own.size_bytes,
        // What is added to a replica with data was made zeroes for it.
        content: if has_history(first) { Content::Zeroes } else { Content::Unknown },
    };
    let is_of_this_replica = own
        .further
        .iter()
        .any(|disk| disk.place == Place::FIRST && disk.incarnation == first.incarnation);
    let counter = first.write_counter;
    take_size_over(first, volume.place, own);
    let known = first.further.iter().find(|disk| disk.place == volume.place);
    match known {
        Some(known) if is_same(known, &wanted) => {
            let (own, first) = (own.write_counter, counter);
            if own < first {
                refused(Misfit::Older { own, first })
            } else if own > first + 1 {
                refused(Misfit::Newer { own, first })
            } else {
                Ok(())
            }
        }
        Some(_) if has_history(first) => refused(Misfit::NotItsDisk),
        _ if !is_of_this_replica => refused(Misfit::OfAnotherFirst),
        // One ahead: a crash came after the stamp that took it in, before the superblock.
        _ if has_history(own) && own.write_counter != counter + 1 => refused(Misfit::NoLonger),
        // Elsewhere it begins with zeroes.
        _ if has_history(first) && !has_history(own) && !own.clean => refused(Misfit::NotZeroes),
        Some(_) | None => {
            first.further.retain(|disk| disk.place != volume.place);
            first.further.push(wanted);
            first.further.sort_unstable_by_key(|disk| disk.place.number());
            Ok(())
        }
    }
}

/// It has room for as many members as the first disk, and is divided like that one.
fn check_shape(
    first: &Superblock,
    layout: &Layout,
    volume: &FurtherVolume,
    found: &Found<'_>,
) -> Result<(), Failure> {
    let (name, own) = (&first.resource_name, &found.layout);
    if own.lanes != layout.lanes {
        let why = Misfit::Lanes { own: own.lanes, first: layout.lanes };
        return Err(not_of_replica(volume, found, name, why));
    }
    if own.slots >= layout.slots {
        return Ok(());
    }
    let is_listed = first.further.iter().any(|disk| disk.place == volume.place);
    let (own, of_first) = (own.slots, layout.slots);
    let why = match is_listed && has_history(first) {
        true => Misfit::Members { own, first: of_first },
        false => Misfit::MembersOfNew { own, first: of_first },
    };
    Err(not_of_replica(volume, found, name, why))
}

fn not_of_replica(volume: &FurtherVolume, found: &Found<'_>, name: &str, why: Misfit) -> Failure {
    let (disk, resource) = (found.device.path.to_owned(), name.to_owned());
    AttachError::NotOfReplica { volume: volume.number(), disk, resource, why }.into()
}

/// It was enlarged, and a crash came after its stamp, before the superblock.
fn take_size_over(first: &mut Superblock, place: Place, own: &Superblock) {
    let is_one_ahead = own.write_counter == first.write_counter + 1;
    let known = first.further.iter_mut().find(|disk| disk.place == place);
    if let Some(known) = known.filter(|it| is_one_ahead && it.incarnation == own.incarnation) {
        known.size_bytes = own.size_bytes.max(known.size_bytes);
    }
}

fn is_same(known: &FurtherDisk, found: &FurtherDisk) -> bool {
    (known.incarnation, known.size_bytes) == (found.incarnation, found.size_bytes)
}

/// A replica that had a volume cannot do without it.
fn check_all_named(first: &Superblock, definition: &Definition) -> Result<(), Failure> {
    let is_named = |disk: &&FurtherDisk| definition.further.iter().any(|it| it.place == disk.place);
    let Some(lost) = first.further.iter().find(|disk| !is_named(disk)) else { return Ok(()) };
    let (resource, volume) = (definition.name.clone(), lost.place.number());
    Err(AttachError::VolumeNotNamed { resource, volume }.into())
}
