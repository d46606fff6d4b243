//! What the metadata of a disk says, and taking it off the disk, without the daemon.

use std::path::{Path, PathBuf};

use format::layout::PAGE_BYTES;
pub use format::metadata::{ReplicaState, Slot, Superblock};

use crate::create_md::{
    CreateMdError, Disk, OldSuperblock, Overwrite, former_superblocks, placement,
};

/// The newer of the two copies that one end of a disk holds.
#[derive(Debug)]
pub struct Metadata {
    /// Where it is.
    pub disk: PathBuf,
    /// The size of the disk at whose end it stands.
    pub end_bytes: u64,
    pub superblock: Superblock,
    /// Copies that can be read; 2 on a disk in good order.
    pub copies: usize,
}

/// Reads it, also while the daemon uses the disk: what it says then is of some moment of late.
/// First what stands at the end that the disk has; on one that grew, by the size that a node noted
/// of it, what is where it ended before, if that says something else.
///
/// # Errors
/// If the disk is not there, holds no metadata that can be read, or some of a newer release; and
/// if it fails.
pub fn read_md(
    disk: &Path,
    metadata_disk: Option<&Path>,
    former_bytes: Option<u64>,
) -> Result<Vec<Metadata>, CreateMdError> {
    let data = Disk::open_to_read(disk)?;
    let metadata = metadata_disk.map(Disk::open_to_read).transpose()?;
    let (disk, present) = superblocks(&data, metadata.as_ref())?;
    let former = former_superblocks(&data, metadata.as_ref(), former_bytes)?;
    disk.refuse_newer(&present)?;
    disk.refuse_newer(&former)?;
    let newest = |all: Vec<OldSuperblock>, end_bytes| {
        let all: Vec<_> = all.into_iter().filter_map(|old| old.superblock).collect();
        let copies = all.len();
        let (superblock, _) = all.into_iter().max_by_key(|(it, _)| it.write_counter)?;
        Some(Metadata { disk: disk.path.clone(), end_bytes, superblock, copies })
    };
    let present = newest(present, disk.size_bytes);
    let former = former_bytes.and_then(|bytes| newest(former, bytes)).filter(|former| {
        present.as_ref().is_none_or(|present| present.superblock != former.superblock)
    });
    let found: Vec<Metadata> = present.into_iter().chain(former).collect();
    if found.is_empty() {
        return Err(CreateMdError::NoMetadata { disk: disk.path.clone() });
    }
    Ok(found)
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
