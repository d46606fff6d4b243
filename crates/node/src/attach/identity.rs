//! Which data disk the metadata of a device of its own is about.
//!
//! All of such a data disk is its user's, so nothing can be stamped on it. The state directory
//! notes by what names the kernel knows the disk, and which replica had it; of another disk, a
//! blank one in its place, say, the metadata says nothing, and is refused, and so is one of which
//! nothing is known. Kernels differ in the names that they have for a disk: all are noted, and the
//! surest one that is known both then and now decides. A loop device is its file, from where it
//! begins in that; a zvol is its name, which udev links to it: one that was made anew by the same
//! name is not told from the former one. A disk of which nothing outlives a restart of the machine
//! (a loop device over another device, a zvol without a link) is not guarded.
//!
//! The note is a line: the incarnation of the replica, then the names, each behind a space.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use api::response::Failure;
use engine::definition::{Definition, DiskPlace};
use engine::log::{Scope, log};
use format::ids::{Epoch, Incarnation};
use format::metadata::{ReplicaState, Superblock};
use format::space::Place;

use crate::attach::error::AttachError;
use crate::state_dir::{StateDir, data_disk_name};

/// The kinds of names, the surest first.
const KINDS: [&str; 7] = ["dm", "md", "wwid", "serial", "loop", "zvol", "file"];
/// Where those are that sysfs has as they are, below the folder of a disk.
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
    definition.volumes().try_for_each(|volume| match volume.disk {
        Some(disk) => check_data_disk(definition, (volume.place, disk), superblock, state),
        None => Ok(()),
    })
}

/// The same for one of its volumes.
pub(super) fn check_data_disk(
    definition: &Definition,
    (place, disk): (Place, &DiskPlace),
    superblock: &Superblock,
    state: &StateDir,
) -> Result<(), Failure> {
    let name = &definition.name;
    let (Some(meta), Some(of)) = (&disk.meta, incarnation_at(superblock, place)) else {
        return Ok(());
    };
    let now = Note { of, names: names_of(&disk.data) };
    let before = state.data_disk((name, place)).and_then(|text| Note::read(&text));
    if before.as_ref() == Some(&now) {
        return Ok(());
    }
    // A replica that was an old image is blanked by another incarnation once it is in use: on the
    // disk that it has. One that was made anew has no history yet.
    let is_same_replica =
        |note: &&Note| note.of == of || place == Place::FIRST && has_history(superblock);
    let noted = before.as_ref().filter(is_same_replica);
    if let Some(before) = noted.filter(|note| !are_of_one_disk(&note.names, &now.names)) {
        return Err(AttachError::OtherDataDisk {
            meta: meta.clone(),
            data: disk.data.clone(),
            before: before.names.clone(),
            now: now.names,
            resource: name.clone(),
            note: format!("resources/{}", data_disk_name(name, place)),
        }
        .into());
    }
    if let Err(error) = state.store_data_disk((name, place), &now.text()) {
        log!(Warning, Scope::resource(name), "cannot note which data disk it has: {error}");
    }
    Ok(())
}

/// What the state directory has of a data disk.
#[derive(Debug, PartialEq, Eq)]
struct Note {
    of: Incarnation,
    /// The surest first.
    names: Vec<String>,
}

impl Note {
    /// `None` if it is none.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let of = u128::from_str_radix(words.next()?, 16).ok().map(Incarnation)?;
        let names = words.rev().map(str::to_owned).collect();
        Some(Self { of, names })
    }

    /// The surest name last: releases that know of one alone take several for one of another kind
    /// than theirs, and note theirs.
    fn text(&self) -> String {
        let names: String = self.names.iter().rev().map(|name| format!(" {name}")).collect();
        format!("{:032x}{names}\n", self.of.0)
    }
}

/// By the surest kind of name that both have. Where nothing was known, any disk will do.
fn are_of_one_disk(before: &[String], now: &[String]) -> bool {
    let of_kind =
        |names: &[String], kind| names.iter().find(|name| kind_of(name) == Some(kind)).cloned();
    let both = |kind| of_kind(before, kind).zip(of_kind(now, kind));
    let decides = KINDS.iter().find_map(|kind| both(kind));
    before.is_empty() || decides.is_some_and(|(before, now)| before == now)
}

fn kind_of(name: &str) -> Option<&str> {
    name.split_once(':').map(|(kind, _)| kind)
}

/// The names by which the kernel knows it over restarts of the machine, each with its kind; the
/// surest first.
fn names_of(path: &Path) -> Vec<String> {
    let Ok(metadata) = fs::metadata(path) else { return Vec::new() };
    if metadata.file_type().is_block_device() {
        let (major, minor) = (libc::major(metadata.rdev()), libc::minor(metadata.rdev()));
        let folder = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
        return names_in(&folder, Path::new(ZVOLS));
    }
    file_identity(&metadata).map(|identity| format!("file:{identity}")).into_iter().collect()
}

/// A number is used again once the file is gone, but not with the same birth. The number of its
/// file system is another one after a restart, perhaps.
fn file_identity(metadata: &Metadata) -> Option<String> {
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", metadata.ino(), born.as_nanos()))
}

/// By the folder of a block device in sysfs, and the links to zvols.
fn names_in(folder: &Path, zvols: &Path) -> Vec<String> {
    // A partition lies in the folder of its disk.
    let start = fs::read_to_string(folder.join("partition"))
        .ok()
        .and_then(|_| fs::read_to_string(folder.join("start")).ok());
    let folder = match start {
        Some(_) => fs::canonicalize(folder).ok().and_then(|it| Some(it.parent()?.to_owned())),
        None => Some(folder.to_owned()),
    };
    let Some(folder) = folder else { return Vec::new() };
    let said = NAMES.iter().filter_map(|(kind, name)| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        let words: Vec<_> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| format!("{kind}:{}", words.join("-")))
    });
    let found =
        said.chain(loop_identity(&folder.join("loop"))).chain(zvol_identity(&folder, zvols));
    let mut names: Vec<String> = found.collect();
    // Of one kind the first: what is in two places is the surer in the first of them.
    names.dedup_by(|next, first| kind_of(next) == kind_of(first));
    if let Some(start) = start {
        names.iter_mut().for_each(|name| name.extend([":", start.trim()]));
    }
    names
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

/// Of the disk of a volume; `None` if the replica has none.
pub(super) fn incarnation_at(superblock: &Superblock, place: Place) -> Option<Incarnation> {
    match place {
        Place::FIRST => Some(superblock.incarnation),
        _ => superblock.further.iter().find(|disk| disk.place == place).map(|it| it.incarnation),
    }
}

/// Whether the replica has data that anybody may count on.
pub(crate) fn has_history(superblock: &Superblock) -> bool {
    superblock.state != ReplicaState::Blank || superblock.joined != Epoch::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a disk that has one name at most.
    fn identity_in(folder: &Path) -> Option<String> {
        the_one(names_in(folder, Path::new("/nowhere")))
    }

    fn the_one(names: Vec<String>) -> Option<String> {
        assert!(names.len() <= 1, "{names:?}");
        names.into_iter().next()
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
        assert_eq!(the_one(names_in(&sys, &zvols)), None);
        fs::create_dir_all(zvols.join("tank/vm")).unwrap();
        let link = |name: &str, target: &str| {
            std::os::unix::fs::symlink(target, zvols.join(name)).unwrap();
        };
        link("tank/vm/other", "../../../zd1");
        link("tank/vm/a-part1", "../../../zd16p1");
        assert_eq!(the_one(names_in(&sys, &zvols)), None);
        link("tank/vm/a", "../../../zd16");
        let known = Some("zvol:tank/vm/a".to_owned());
        assert_eq!(the_one(names_in(&sys, &zvols)), known);
        fs::write(sys.join("zd16p1/partition"), "1\n").unwrap();
        fs::write(sys.join("zd16p1/start"), "2048\n").unwrap();
        let partition = the_one(names_in(&sys.join("zd16p1"), &zvols));
        assert_eq!(partition, Some("zvol:tank/vm/a:2048".to_owned()));
        // A disk that is none has no name there.
        let disk = place.path().join("sda");
        fs::create_dir_all(&disk).unwrap();
        link("tank/sda", "../../sda");
        assert_eq!(the_one(names_in(&disk, &zvols)), None);
    }

    #[test]
    fn disks_are_known_by_all_of_their_names_and_partitions_by_their_start_too() {
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
        fs::write(folder.join("wwid"), "naa.5\n").unwrap();
        assert_eq!(identity_in(&folder), Some("wwid:naa.5".to_owned()));
        fs::write(folder.join("serial"), "S1\n").unwrap();
        fs::create_dir_all(folder.join("dm")).unwrap();
        fs::write(folder.join("dm/uuid"), "LVM-x\n").unwrap();
        let names = |folder: &Path| names_in(folder, Path::new("/nowhere"));
        assert_eq!(names(&folder), ["dm:LVM-x", "wwid:naa.5", "serial:S1"]);
        assert_eq!(names(&link), ["dm:LVM-x:2048", "wwid:naa.5:2048", "serial:S1:2048"]);
    }

    #[test]
    fn the_surest_name_that_is_known_then_and_now_decides() {
        let is_same = |before: &[&str], now: &[&str]| {
            let [before, now] =
                [before, now].map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
            are_of_one_disk(&before, &now)
        };
        assert!(is_same(&["wwid:a"], &["wwid:a"]));
        assert!(is_same(&["wwid:a", "serial:s"], &["serial:s"]), "another kernel knows less");
        assert!(is_same(&["serial:s"], &["wwid:a", "serial:s"]), "or more");
        assert!(!is_same(&["wwid:a", "serial:s"], &["wwid:b", "serial:s"]));
        assert!(!is_same(&["wwid:a"], &["dm:a"]), "nothing that both have");
        assert!(!is_same(&["wwid:a"], &[]));
        assert!(is_same(&[], &["wwid:a"]));
    }

    #[test]
    fn a_note_is_read_as_it_was_written_and_as_earlier_releases_wrote_it() {
        let names = ["dm:LVM-x", "wwid:naa.5"].map(str::to_owned);
        let note = Note { of: Incarnation(0xabc), names: names.to_vec() };
        assert_eq!(note.text(), format!("{:032x} wwid:naa.5 dm:LVM-x\n", 0xabc));
        assert_eq!(Note::read(&note.text()), Some(note));
        let one = Note { of: Incarnation(7), names: vec!["file:12:34".to_owned()] };
        assert_eq!(one.text(), format!("{:032x} file:12:34\n", 7));
        assert_eq!(Note::read(&one.text()), Some(one));
        assert_eq!(Note::read("not a note\n"), None);
    }
}
