//! Which data disk the metadata of a device of its own is about.
//!
//! All of such a data disk is its user's, so nothing can be stamped on it. The state directory
//! notes by what the kernel knows the disk, and which replica had it; of another disk, a blank one
//! in its place, say, the metadata says nothing, and is refused. Of some disks the kernel knows
//! nothing that outlives a restart of the machine (loop devices, zvols): these are not guarded.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::UNIX_EPOCH;

use api::response::{Failure, FailureCode};
use format::ids::Incarnation;
use format::metadata::Superblock;
use format::space::Place;

use crate::definition::{Definition, DiskPlace};
use crate::log::{Scope, log};
use crate::state_dir::{StateDir, data_disk_name};

/// What tells disks apart, below the folder of one in sysfs; the surest first.
const NAMES: [(&str, &str); 5] = [
    ("dm", "dm/uuid"),
    ("md", "md/uuid"),
    ("wwid", "wwid"),
    ("wwid", "device/wwid"),
    ("serial", "serial"),
];

/// Checks the data disks of a replica, and notes them.
pub(super) fn check_data_disks(
    definition: &Definition,
    superblock: &Superblock,
    state: &StateDir,
) -> Result<(), Failure> {
    for volume in definition.volumes() {
        let Some(disk) = volume.disk else { continue };
        let further = superblock.further.iter().find(|it| it.place == volume.place);
        let incarnation = match volume.place {
            Place::FIRST => Some(superblock.incarnation),
            _ => further.map(|it| it.incarnation),
        };
        if let Some(incarnation) = incarnation {
            check_data_disk(definition, (volume.place, disk), incarnation, state)?;
        }
    }
    Ok(())
}

fn check_data_disk(
    definition: &Definition,
    (place, disk): (Place, &DiskPlace),
    incarnation: Incarnation,
    state: &StateDir,
) -> Result<(), Failure> {
    let name = &definition.name;
    let (Some(meta), Some(now)) = (&disk.meta, identity_of(&disk.data)) else { return Ok(()) };
    let note = format!("{:032x} {now}\n", incarnation.0);
    let noted = state.data_disk((name, place)).unwrap_or_default();
    if noted == note {
        return Ok(());
    }
    let kind = |identity: &str| identity.split(':').next().map(str::to_owned);
    if let Some((of, before)) = noted.trim_end().split_once(' ')
        && of == format!("{:032x}", incarnation.0)
        && kind(before) == kind(&now)
    {
        let message = format!(
            "the metadata on {} is about another data disk than {}: about {before}, and this is \
             {now}",
            meta.display(),
            disk.data.display()
        );
        let hint = format!(
            "give it that disk again; or make this one a new replica: `basalt adm create-md \
             --force {name}`. If the data was copied here whole, remove resources/{} from the \
             state directory, and `attach` it",
            data_disk_name(name, place)
        );
        return Err(Failure::new(FailureCode::DiskFailed, message, hint));
    }
    if let Err(error) = state.store_data_disk((name, place), &note) {
        log!(Warning, Scope::resource(name), "cannot note which data disk it has: {error}");
    }
    Ok(())
}

/// Of a kind, and the name by which the kernel knows it over restarts of the machine.
fn identity_of(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if metadata.file_type().is_block_device() {
        let (major, minor) = (libc::major(metadata.rdev()), libc::minor(metadata.rdev()));
        return identity_in(&Path::new("/sys/dev/block").join(format!("{major}:{minor}")));
    }
    // A number is used again once the file is gone, but not with the same birth.
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("file:{}:{}", metadata.ino(), born.as_nanos()))
}

/// By the folder of a block device in sysfs.
fn identity_in(folder: &Path) -> Option<String> {
    // A partition lies in the folder of its disk.
    let start = fs::read_to_string(folder.join("partition"))
        .ok()
        .and_then(|_| fs::read_to_string(folder.join("start")).ok());
    let folder = match start {
        Some(_) => fs::canonicalize(folder).ok()?.parent()?.to_owned(),
        None => folder.to_owned(),
    };
    let identity = NAMES.iter().find_map(|(kind, name)| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        let words: Vec<_> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| format!("{kind}:{}", words.join("-")))
    })?;
    Some(match start {
        Some(start) => format!("{identity}:{}", start.trim()),
        None => identity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_known_by_the_surest_name_and_partitions_by_their_start_too() {
        let sys = tempfile::tempdir().unwrap();
        let folder = sys.path().join("sda");
        fs::create_dir_all(folder.join("device")).unwrap();
        assert_eq!(identity_in(&folder), None, "of a loop device nothing is known");
        fs::write(folder.join("serial"), "\n").unwrap();
        assert_eq!(identity_in(&folder), None);
        fs::write(folder.join("device/wwid"), "t10.ATA  disk   7\n").unwrap();
        assert_eq!(identity_in(&folder), Some("wwid:t10.ATA-disk-7".to_owned()));
        fs::create_dir_all(folder.join("sda2")).unwrap();
        fs::write(folder.join("sda2/partition"), "2\n").unwrap();
        fs::write(folder.join("sda2/start"), "2048\n").unwrap();
        let link = sys.path().join("8:2");
        std::os::unix::fs::symlink(folder.join("sda2"), &link).unwrap();
        assert_eq!(identity_in(&link), Some("wwid:t10.ATA-disk-7:2048".to_owned()));
        fs::create_dir_all(folder.join("dm")).unwrap();
        fs::write(folder.join("dm/uuid"), "LVM-x\n").unwrap();
        assert_eq!(identity_in(&folder), Some("dm:LVM-x".to_owned()));
    }
}
