//! Opening disks for the data threads.
//!
//! An `open` waits for a disk that answers nothing, and cannot be ended. So no data thread opens
//! one: that would stop every resource that it serves. They get what is open already.

use std::io as stdio;
use std::path::Path;

use api::response::{Failure, FailureCode};
use format::layout::Layout;
use format::metadata::Superblock;
use format::space::Place;
use io::{DiskOptions, PathMode, Persistent, SharedDisk};

use crate::definition::{Definition, DiskPlace};
use crate::log::{Scope, log};
use crate::patience::Patience;
use crate::shard::further::NewFurther;
use crate::shard::part::NewDisk;

const ALONE: DiskOptions = DiskOptions {
    exclusive: true,
    read_only: false,
    direct: io::Direct::Auto,
    resident: false,
    persistent: Persistent::No,
};

/// All disks of a replica that was read.
pub(super) fn open_replica(
    (definition, place): (&Definition, &DiskPlace),
    superblock: &Superblock,
    (layout, layouts): (Layout, Vec<(Place, Layout)>),
    patience: &mut Patience,
) -> Result<NewDisk, Failure> {
    let (data, meta) = open_pair(place, patience)?;
    let mut further = Vec::with_capacity(layouts.len());
    for (place, layout) in layouts {
        let volume = definition.further.iter().find(|volume| volume.place == place);
        let disk = volume.and_then(|volume| volume.disk.as_ref());
        let disk = disk.expect("a replica was read from it");
        further.push(open_further((place, disk), layout, patience)?);
    }
    let slots = superblock.slots.iter().map(|slot| slot.member).collect();
    Ok(NewDisk { data, meta, layout, incarnation: superblock.incarnation, slots, further })
}

/// The disk of a volume behind the first.
pub(super) fn open_further(
    (place, disk): (Place, &DiskPlace),
    layout: Layout,
    patience: &mut Patience,
) -> Result<NewFurther, Failure> {
    let (data, meta) = open_pair(disk, patience)?;
    Ok(NewFurther { place, data, meta, layout })
}

/// The file of a vote store.
pub(super) fn open_register(path: &Path, patience: &mut Patience) -> Result<SharedDisk, Failure> {
    open(path, DiskOptions { resident: true, ..ALONE }, patience)
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
    let persistent = Persistent::from_environment().map_err(|error| failed(&error))?;
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
    loop {
        match SharedDisk::open(path, options) {
            // Whoever read it may hold it for a moment longer: a child before its `exec`.
            Err(error)
                if error.kind() == stdio::ErrorKind::ResourceBusy && patience.rest(&error) => {}
            result => {
                patience.steps().add_one();
                return result.map_err(|error| failed(&error));
            }
        }
    }
}

fn failed(error: &stdio::Error) -> Failure {
    Failure::new(FailureCode::DiskFailed, error.to_string(), "is it in use?")
}
