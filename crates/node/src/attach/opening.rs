//! Opening disks for the data threads.
//!
//! An `open` waits for a disk that answers nothing, and cannot be ended. So no data thread opens
//! one: that would stop every resource that it serves. They get what is open already.
//!
//! What was read of a disk is let go before it is opened here: whoever waited for it, `adopt` or
//! `create-md`, may have it in between. So what is on it is looked at again under the new lock.

use std::io as stdio;
use std::path::Path;

use api::response::{Failure, FailureCode};
use engine::definition::{Definition, DiskPlace};
use engine::handover::{NewDisk, NewFurther};
use engine::log::{Scope, log};
use format::ids::Incarnation;
use format::layout::Layout;
use format::metadata::Superblock;
use format::space::Place;
use io::{DiskOptions, PathMode, Persistent, SharedDisk};

use crate::attach::Device;
use crate::attach::advice::cannot_open;
use crate::attach::error::AttachError;
use crate::attach::finding::read_superblock;
use crate::attach::identity::incarnation_at;
use crate::patience::Patience;

const ALONE: DiskOptions = DiskOptions {
    exclusive: true,
    read_only: false,
    direct: io::Direct::Auto,
    resident: false,
    persistent: Persistent::No,
};

/// Which metadata of a disk it is: any that is written later, by whomever, has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    incarnation: Incarnation,
    write_counter: u64,
}

impl Version {
    pub(super) fn of(superblock: &Superblock) -> Self {
        let &Superblock { incarnation, write_counter, .. } = superblock;
        Self { incarnation, write_counter }
    }
}

/// All disks of a replica that was read.
pub(super) fn open_replica(
    definition: &Definition,
    superblock: &Superblock,
    (layout, layouts): (Layout, Vec<(Place, Layout)>),
    patience: &mut Patience,
) -> Result<NewDisk, Failure> {
    let version = |place| {
        let incarnation = incarnation_at(superblock, place).expect("a replica was read from it");
        Version { incarnation, write_counter: superblock.write_counter }
    };
    let first = (layout, version(Place::FIRST));
    let (data, meta) = open_unchanged(definition, Place::FIRST, first, patience)?;
    let mut further = Vec::with_capacity(layouts.len());
    for (place, layout) in layouts {
        let read = (layout, version(place));
        further.push(open_further(definition, place, read, patience)?);
    }
    let slots = superblock.slots.iter().map(|slot| slot.member).collect();
    let log = superblock.log_incarnation();
    Ok(NewDisk { data, meta, layout, log, slots, further })
}

/// The disk of a volume behind the first.
pub(super) fn open_further(
    definition: &Definition,
    place: Place,
    (layout, version): (Layout, Version),
    patience: &mut Patience,
) -> Result<NewFurther, Failure> {
    let (data, meta) = open_unchanged(definition, place, (layout, version), patience)?;
    Ok(NewFurther { place, data, meta, layout })
}

/// That of the data, and that of the metadata if it is another one, as they were read.
fn open_unchanged(
    definition: &Definition,
    place: Place,
    (layout, version): (Layout, Version),
    patience: &mut Patience,
) -> Result<(SharedDisk, Option<SharedDisk>), Failure> {
    let volume = definition.volumes().find(|volume| volume.place == place);
    let (number, disk) = volume.and_then(|it| Some((it.number, it.disk?))).expect("it was read");
    let opened = open_pair(disk, patience)?;
    let path = disk.meta.as_ref().unwrap_or(&disk.data);
    let device = Device::share(path)?.counted_by(patience.steps());
    match read_superblock(&device, &layout, definition, (number, disk)) {
        Ok(now) if Version::of(&now) == version => Ok(opened),
        Err(failure) if failure.code != FailureCode::NoMetadata => Err(failure),
        Ok(_) | Err(_) => {
            let (disk, resource) = (path.clone(), definition.name.clone());
            Err(AttachError::Written { disk, resource }.into())
        }
    }
}

/// The file of a vote store.
pub(super) fn open_register(
    path: &Path,
    resource: &str,
    patience: &mut Patience,
) -> Result<SharedDisk, Failure> {
    let opened = try_to_open(path, DiskOptions { resident: true, ..ALONE }, patience);
    opened.map_err(|error| AttachError::register("open", path, resource, error).into())
}

/// That of the data, and that of the metadata if it is another one.
fn open_pair(
    DiskPlace { data, meta }: &DiskPlace,
    patience: &mut Patience,
) -> Result<(SharedDisk, Option<SharedDisk>), Failure> {
    let data = open(data, ALONE, patience)?;
    let meta = meta.as_ref().map(|path| open_metadata(path, patience)).transpose()?;
    Ok((data, meta))
}

/// Metadata of its own is small and always to be durable: on persistent memory by stores.
fn open_metadata(path: &Path, patience: &mut Patience) -> Result<SharedDisk, Failure> {
    let persistent =
        Persistent::from_environment().map_err(|source| AttachError::Variable { source })?;
    let disk = open(path, DiskOptions { persistent, ..ALONE }, patience)?;
    let place = path.display();
    match disk.info().path_mode {
        PathMode::Persistent => {
            log!(Notice, Scope::NODE, "{place}: the metadata is on persistent memory");
        }
        PathMode::Mapped => log!(
            Warning,
            Scope::NODE,
            "{place}: the metadata is mapped, as {} says, and is not on persistent memory: it \
             does not survive a loss of power",
            Persistent::VARIABLE
        ),
        PathMode::Direct | PathMode::InlineMemory | PathMode::InlineBuffered => {}
    }
    Ok(disk)
}

fn open(path: &Path, options: DiskOptions, patience: &mut Patience) -> Result<SharedDisk, Failure> {
    try_to_open(path, options, patience).map_err(|error| cannot_open(path, &error))
}

fn try_to_open(
    path: &Path,
    options: DiskOptions,
    patience: &mut Patience,
) -> stdio::Result<SharedDisk> {
    loop {
        match SharedDisk::open(path, options) {
            // Whoever read it may hold it for a moment longer: a child before its `exec`.
            Err(error)
                if error.kind() == stdio::ErrorKind::ResourceBusy && patience.rest(&error) => {}
            result => {
                patience.steps().add_one();
                return result;
            }
        }
    }
}
