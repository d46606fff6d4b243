//! Which data disk the metadata of a device of its own is about.
//!
//! All of such a data disk is its user's, so nothing can be stamped on it. The state directory
//! notes by what the kernel knows the disk, and which replica had it; of another disk, a blank one
//! in its place, say, the metadata says nothing, and is refused. A loop device is its file, from
//! where it begins in that; a zvol is its name, which udev links to it: one that was made anew by
//! the same name is not told from the former one. A disk of which nothing outlives a restart of the
//! machine (a loop device over another device, a zvol without a link) is not guarded.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
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

/// Where udev links the zvols by the names of their pools and data sets.
const ZVOLS: &str = "/dev/zvol";
/// Links and folders that are looked at there.
const ZVOLS_LOOKED_AT_MAX: usize = 65_536;

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
        let folder = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
        return identity_in(&folder, Path::new(ZVOLS));
    }
    Some(format!("file:{}", file_identity(&metadata)?))
}

/// A number is used again once the file is gone, but not with the same birth. The number of its
/// file system is another one after a restart, perhaps.
fn file_identity(metadata: &Metadata) -> Option<String> {
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", metadata.ino(), born.as_nanos()))
}

/// By the folder of a block device in sysfs, and the links to zvols.
fn identity_in(folder: &Path, zvols: &Path) -> Option<String> {
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
    });
    let identity = identity
        .or_else(|| loop_identity(&folder.join("loop")))
        .or_else(|| zvol_identity(&folder, zvols))?;
    Some(match start {
        Some(start) => format!("{identity}:{}", start.trim()),
        None => identity,
    })
}

/// Its file, and where the device begins in it.
fn loop_identity(folder: &Path) -> Option<String> {
    let line = |name| fs::read_to_string(folder.join(name)).ok();
    let file = line("backing_file")?;
    // One that was removed reads as a path at which there is nothing.
    let metadata = fs::metadata(file.strip_suffix('\n').unwrap_or(&file)).ok()?;
    let identity = file_identity(&metadata).filter(|_| metadata.is_file())?;
    Some(format!("loop:{identity}:{}", line("offset")?.trim()))
}

/// The name by which `zvols` links to it.
fn zvol_identity(folder: &Path, zvols: &Path) -> Option<String> {
    let device = fs::canonicalize(folder).ok()?;
    let name = device.file_name().filter(|name| name.as_encoded_bytes().starts_with(b"zd"))?;
    let mut folders: Vec<PathBuf> = vec![zvols.to_owned()];
    let mut left = ZVOLS_LOOKED_AT_MAX;
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_symlink() => {
                    let target = fs::read_link(entry.path()).ok();
                    let is_it = target.as_deref().and_then(Path::file_name) == Some(name);
                    names.extend(is_it.then(|| entry.path()));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    let name = names.into_iter().min()?;
    Some(format!("zvol:{}", name.strip_prefix(zvols).ok()?.to_str()?.replace(' ', "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity_in(folder: &Path) -> Option<String> {
        super::identity_in(folder, Path::new("/nowhere"))
    }

    #[test]
    fn a_loop_device_is_its_file_from_where_it_begins() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("loop3");
        fs::create_dir_all(folder.join("loop")).unwrap();
        let [file, other] = ["disk with a name", "other"].map(|name| place.path().join(name));
        let attach = |file: &Path, offset: &str| {
            fs::write(folder.join("loop/backing_file"), format!("{}\n", file.display())).unwrap();
            fs::write(folder.join("loop/offset"), format!("{offset}\n")).unwrap();
            identity_in(&folder)
        };
        assert_eq!(attach(&file, "0"), None, "there is no such file");
        fs::write(&file, "").unwrap();
        fs::write(&other, "").unwrap();
        let known = attach(&file, "0").unwrap();
        assert!(known.starts_with("loop:") && known.ends_with(":0"), "{known}");
        assert_ne!(attach(&file, "4096").unwrap(), known);
        assert_ne!(attach(&other, "0").unwrap(), known);
        // By another name, and through another device, it is what it was.
        fs::rename(&file, place.path().join("moved")).unwrap();
        assert_eq!(attach(&place.path().join("moved"), "0").unwrap(), known);
        assert_eq!(attach(place.path(), "0"), None, "of a folder nothing is known");
    }

    #[test]
    fn a_zvol_is_the_name_that_links_to_it() {
        let place = tempfile::tempdir().unwrap();
        let (sys, zvols) = (place.path().join("zd16"), place.path().join("zvol"));
        fs::create_dir_all(sys.join("zd16p1")).unwrap();
        assert_eq!(super::identity_in(&sys, &zvols), None);
        fs::create_dir_all(zvols.join("tank/vm")).unwrap();
        let link = |name: &str, target: &str| {
            std::os::unix::fs::symlink(target, zvols.join(name)).unwrap();
        };
        link("tank/vm/other", "../../../zd1");
        link("tank/vm/a-part1", "../../../zd16p1");
        assert_eq!(super::identity_in(&sys, &zvols), None);
        link("tank/vm/a", "../../../zd16");
        let known = Some("zvol:tank/vm/a".to_owned());
        assert_eq!(super::identity_in(&sys, &zvols), known);
        fs::write(sys.join("zd16p1/partition"), "1\n").unwrap();
        fs::write(sys.join("zd16p1/start"), "2048\n").unwrap();
        let partition = super::identity_in(&sys.join("zd16p1"), &zvols);
        assert_eq!(partition, Some("zvol:tank/vm/a:2048".to_owned()));
        // A disk that is none has no name there.
        let disk = place.path().join("sda");
        fs::create_dir_all(&disk).unwrap();
        link("tank/sda", "../../sda");
        assert_eq!(super::identity_in(&disk, &zvols), None);
    }

    #[test]
    fn disks_are_known_by_the_surest_name_and_partitions_by_their_start_too() {
        let sys = tempfile::tempdir().unwrap();
        let folder = sys.path().join("sda");
        fs::create_dir_all(folder.join("device")).unwrap();
        assert_eq!(identity_in(&folder), None);
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
