//! What the metadata of a disk says, and taking it off the disk, without the daemon.

use std::path::{Path, PathBuf};

use format::layout::PAGE_BYTES;
pub use format::metadata::{ReplicaState, Slot, Superblock};

use crate::create_md::{CreateMdError, Disk, OldSuperblock, Overwrite, placement};

/// The newer of the two copies that a disk holds.
#[derive(Debug)]
pub struct Metadata {
    /// Where it is.
    pub disk: PathBuf,
    pub superblock: Superblock,
    /// Copies that can be read; 2 on a disk in good order.
    pub copies: usize,
}

/// Reads it, also while the daemon uses the disk: what it says then is of some moment of late.
///
/// # Errors
/// If the disk is not there, holds no metadata that can be read, or fails.
pub fn read_md(disk: &Path, metadata_disk: Option<&Path>) -> Result<Metadata, CreateMdError> {
    let data = Disk::open_to_read(disk)?;
    let metadata = metadata_disk.map(Disk::open_to_read).transpose()?;
    let (disk, all) = superblocks(&data, metadata.as_ref())?;
    let readable: Vec<Superblock> = all.into_iter().filter_map(|old| old.superblock).collect();
    let copies = readable.len();
    let newest = readable.into_iter().max_by_key(|superblock| superblock.write_counter);
    let disk = disk.path.clone();
    match newest {
        Some(superblock) => Ok(Metadata { disk, superblock, copies }),
        None => Err(CreateMdError::NoMetadata { disk }),
    }
}

/// Erases both superblocks: nothing finds the rest any more, and the data stays. Says what was
/// there, if anything.
///
/// # Errors
/// If the disk is not there, in use, or fails; and, without [`Overwrite::Force`], if it has
/// metadata.
pub fn wipe_md(
    disk: &Path,
    metadata_disk: Option<&Path>,
    overwrite: Overwrite,
) -> Result<Option<String>, CreateMdError> {
    let data = Disk::open(disk)?;
    let metadata = metadata_disk.map(Disk::open).transpose()?;
    let (disk, mut all) = superblocks(&data, metadata.as_ref())?;
    // One that is of another size of this disk may be in use there, or lie in the data.
    all.retain(|old| old.is_in_place || old.superblock.is_none());
    let Some(what) = all.first().map(|old| old.what.clone()) else {
        return Ok(None);
    };
    if overwrite == Overwrite::Refuse {
        return Err(CreateMdError::Occupied { disk: disk.path.clone(), what });
    }
    for old in &all {
        disk.erase(old.offset_bytes..old.offset_bytes + PAGE_BYTES)?;
    }
    disk.sync()?;
    Ok(Some(what))
}

fn superblocks<'a>(
    data: &'a Disk,
    metadata: Option<&'a Disk>,
) -> Result<(&'a Disk, Vec<OldSuperblock>), CreateMdError> {
    let disk = metadata.unwrap_or(data);
    Ok((disk, disk.superblocks(placement(data, metadata))?))
}
