//! Why the disks of a replica, or the vote store of its node, are not taken into use, and what to
//! try. docs/operate/messages has the rows in attach.md.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use api::response::{Failure, FailureCode};
use format::error::{DecodeError, EncodeError};
use format::metadata::Superblock;

use crate::error::is_full;

/// Behind it stands how a replica is made anew.
const ONLY_THEN: &str = "while another replica is UpToDate, and only then,";

#[derive(Debug, thiserror::Error)]
pub(crate) enum AttachError {
    #[error("cannot {action} the metadata on {}: {source}", disk.display())]
    Io { action: &'static str, disk: PathBuf, source: Error },
    #[error("cannot write {part} {}: {source}", path.display())]
    Encode { part: &'static str, path: PathBuf, source: EncodeError },
    #[error("the {part} on {}: {source}", disk.display())]
    Newer { part: &'static str, disk: PathBuf, source: DecodeError },
    #[error("the metadata on {} is of {found}; wanted is {wanted}", disk.display())]
    OtherReplica { disk: PathBuf, found: OfVolume, wanted: OfVolume, target: String },
    #[error(
        "the metadata on {} is of {found}, but it was made for another `meta-disk` than the \
         configuration has",
        disk.display()
    )]
    OtherPlace { disk: PathBuf, found: OfVolume, target: String },
    #[error("no Basalt metadata was found on {}{place}", disk.display())]
    NothingFound { disk: PathBuf, place: LookedAt, target: String },
    #[error("no Basalt metadata was found on {}{place}: {wrong}", disk.display())]
    Damaged { disk: PathBuf, place: LookedAt, wrong: String, target: String },
    #[error(
        "{} cannot be read where a superblock may be, at byte {}, and nothing else says for \
         certain what is there",
        disk.display(),
        offsets.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    )]
    Unreadable { disk: PathBuf, offsets: Vec<u64>, target: String },
    #[error(
        "{} has grown from {former_bytes} to {size_bytes} bytes, and has metadata at both ends: \
         now {present}, before {former}; nothing says which of them is in use",
        disk.display()
    )]
    TwoFound {
        disk: PathBuf,
        former_bytes: u64,
        size_bytes: u64,
        present: OneOfTwo,
        former: OneOfTwo,
        target: String,
        /// The file of the state directory that tells of the former size.
        note: String,
    },
    #[error(
        "{} has {size_bytes} bytes, and its metadata was last where {former_bytes} bytes end: \
         what is found now is not all of it, or of an earlier day",
        disk.display()
    )]
    Shrunk { disk: PathBuf, size_bytes: u64, former_bytes: u64, target: String },
    #[error(
        "disk {} has {size_bytes} bytes, but its volume has {needed_bytes}",
        disk.display()
    )]
    DataShrunk { disk: PathBuf, size_bytes: u64, needed_bytes: u64, resource: String },
    #[error(
        "the metadata on {} is about another data disk than {}: about {}, and {}",
        meta.display(),
        data.display(),
        before.join(", "),
        of_this(now)
    )]
    OtherDataDisk {
        meta: PathBuf,
        data: PathBuf,
        before: Vec<String>,
        now: Vec<String>,
        resource: String,
        /// The file of the state directory that names the data disk.
        note: String,
    },
    #[error(
        "another program wrote the metadata on {} while it was taken into use",
        disk.display()
    )]
    Written { disk: PathBuf, resource: String },
    #[error("the disk of volume {volume}, {}, {why}", disk.display())]
    NotOfReplica { volume: u16, disk: PathBuf, resource: String, why: Misfit },
    #[error("this replica of {resource:?} has a volume {volume}, and the configuration has not")]
    VolumeNotNamed { resource: String, volume: u8 },
    #[error("{source}")]
    Variable { source: Error },
    #[error("cannot {action} the config register {}: {source}", path.display())]
    Register { action: &'static str, path: PathBuf, resource: String, source: Error },
    #[error("cannot read the config register {}: {source}", path.display())]
    RegisterNewer { path: PathBuf, source: DecodeError },
    #[error("cannot read the config register {}: {source}", path.display())]
    RegisterDamaged { path: PathBuf, resource: String, source: DecodeError },
    #[error("cannot use the config register {}: it belongs to another resource", path.display())]
    RegisterOfOther { path: PathBuf, resource: String },
    #[error("the remains of this node cannot be read: {reason}")]
    Remains { reason: String, resource: String },
    #[error("this node is not any more as it was when its remains were saved")]
    SavedEarlier { resource: String },
}

/// Whose a superblock is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfVolume {
    pub(crate) resource: String,
    pub(crate) node: u8,
    pub(crate) volume: u16,
}

/// Of the superblocks at both ends of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneOfTwo {
    pub(crate) of: OfVolume,
    pub(crate) incarnation: u128,
    pub(crate) write_counter: u64,
}

/// By which sizes metadata was looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LookedAt {
    pub(crate) size_bytes: u64,
    /// The size when the disk was last in use, if it was another one.
    pub(crate) former_bytes: Option<u64>,
    /// The disk that the metadata would be about, where that is another one, and its size, by
    /// which the metadata is looked for.
    pub(crate) data: Option<(PathBuf, u64)>,
}

/// Why the disk of a further volume does not belong to that of the first. Numbers are those of the
/// disk, then those of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Lanes {
        own: u8,
        first: u8,
    },
    /// The replica has it in use, and data.
    Members {
        own: u8,
        first: u8,
    },
    /// Nothing of it is in use.
    MembersOfNew {
        own: u8,
        first: u8,
    },
    Older {
        own: u64,
        first: u64,
    },
    Newer {
        own: u64,
        first: u64,
    },
    NotItsDisk,
    OfAnotherFirst,
    NoLonger,
    NotZeroes,
}

impl AttachError {
    pub(super) fn register(
        action: &'static str,
        path: &Path,
        resource: &str,
        source: Error,
    ) -> Self {
        Self::Register { action, path: path.to_owned(), resource: resource.to_owned(), source }
    }

    fn code(&self) -> FailureCode {
        match self {
            Self::NothingFound { .. } | Self::Damaged { .. } => FailureCode::NoMetadata,
            Self::Newer { .. }
            | Self::OtherReplica { .. }
            | Self::OtherPlace { .. }
            | Self::NotOfReplica { .. }
            | Self::VolumeNotNamed { .. } => FailureCode::MetadataMismatch,
            Self::Io { .. }
            | Self::Encode { .. }
            | Self::Unreadable { .. }
            | Self::TwoFound { .. }
            | Self::Shrunk { .. }
            | Self::DataShrunk { .. }
            | Self::OtherDataDisk { .. }
            | Self::Written { .. }
            | Self::Variable { .. } => FailureCode::DiskFailed,
            Self::Register { .. }
            | Self::RegisterNewer { .. }
            | Self::RegisterDamaged { .. }
            | Self::RegisterOfOther { .. } => FailureCode::Internal,
            Self::Remains { .. } => FailureCode::BadRequest,
            Self::SavedEarlier { .. } => FailureCode::StateRefused,
        }
    }

    /// What to try.
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn hint(&self) -> String {
        match self {
            Self::Io { disk, source, .. } if is_full(source) => format!(
                "make room below it: `df -h {}` shows that of a file, `lvs` that of a thin pool",
                disk.display()
            ),
            Self::Io { .. } => "look at the kernel's log: `dmesg | tail`. If the disk stays so, \
                                docs/operate/repair.md tells how it is replaced"
                .to_owned(),
            Self::Encode { .. } => {
                "that is an error of Basalt: `basalt report` collects what its developers need"
                    .to_owned()
            }
            Self::Newer { .. } | Self::RegisterNewer { .. } => {
                "start the daemon of the release that wrote it, or of a later one; `basalt \
                 --version` tells which one this is"
                    .to_owned()
            }
            Self::OtherReplica { disk, target, .. } => format!(
                "check `disk` and `meta-disk` of this host, and which disk is at {}. Only if \
                 nobody needs what is on it any more, `basalt adm create-md --force {target}` \
                 makes it a new, empty replica",
                disk.display()
            ),
            Self::OtherPlace { target, .. } => format!(
                "have `disk` and `meta-disk` of this host as they were when the metadata was made. \
                 Only if nobody needs what is on it any more, `basalt adm create-md --force \
                 {target}` makes it a new, empty replica"
            ),
            Self::NothingFound { target, .. } => format!(
                "a new replica needs `basalt adm create-md {target}`. If the disk held one, type \
                 no `create-md`, which gives it up: the path leads to another disk now, or its \
                 size changed while this node did not know it: give it its former one"
            ),
            Self::Damaged { target, .. } => format!(
                "put back what it held, if there is an image of it; or, {ONLY_THEN} `basalt adm \
                 create-md --force {target}` makes a new replica that is copied from the others"
            ),
            Self::Unreadable { target, .. } => format!(
                "look at the kernel's log: `dmesg | tail`. If it stays so, and {ONLY_THEN} replace \
                 the disk, or have it written over: `basalt adm create-md --force {target}` makes \
                 a new replica that is copied from the others"
            ),
            Self::TwoFound { target, note, .. } => format!(
                "`basalt adm dump-md {target}` shows both. If it is the former one, `basalt adm \
                 wipe-md --force {target}` takes the other off; if it is the one at the end that \
                 the disk has now, remove {note} from the state directory, which tells of the \
                 former size; then `attach` it. If neither, and {ONLY_THEN} `create-md --force \
                 {target}` makes a new replica, and takes off both"
            ),
            Self::Shrunk { target, .. } => format!(
                "give the disk its former size again. What `truncate` or `lvreduce` cut off does \
                 not come back with it: then, and of another disk, {ONLY_THEN} `basalt adm \
                 create-md --force {target}` makes a new replica that is copied from the others"
            ),
            Self::DataShrunk { resource, .. } => format!(
                "name the right disk, or restore its size. What `truncate` or `lvreduce` cut off \
                 does not come back with it: then, {ONLY_THEN} `basalt adm create-md --force \
                 {resource}` makes a new replica that is copied from the others"
            ),
            Self::OtherDataDisk { resource, note, .. } => format!(
                "give it that disk again; or, {ONLY_THEN} make this one a new replica: `basalt adm \
                 create-md --force {resource}`. If it is that disk by another name, or the data \
                 was copied here whole, remove {note} from the state directory, and `attach` it"
            ),
            Self::Written { resource, .. } => format!(
                "see what it is now: `basalt adm dump-md {resource}`; then `basalt adm attach \
                 {resource}`, or `up` where it is down"
            ),
            Self::NotOfReplica { volume, resource, why, .. } => why.hint(*volume, resource),
            Self::VolumeNotNamed { volume, .. } => format!(
                "name volume {volume} and its disk in the `.res` file again: a volume is not taken \
                 out of a resource"
            ),
            Self::Variable { .. } => "put one of these, or nothing, into its environment \
                                      (`systemctl edit basalt-node`), then `systemctl restart \
                                      basalt-node`"
                .to_owned(),
            Self::Register { path, resource, source, .. } => of_register(path, resource, source),
            Self::RegisterDamaged { resource, .. } => format!(
                "type `basalt adm up {resource}` again: if it is damaged still, a new one is made, \
                 and the other voters admit this node as a new voter"
            ),
            Self::RegisterOfOther { path, resource } => format!(
                "check `--state-dir`; if that is the right one, `mv {path} {path}.other`, then \
                 `basalt adm up {resource}`: this node is a new voter, which the others admit",
                path = path.display()
            ),
            Self::Remains { resource, .. } => {
                format!("save them again: `basalt adm adopt {resource} --save FILE`")
            }
            Self::SavedEarlier { resource } => format!(
                "the resource was up since, or was adopted. With it down on all nodes, save the \
                 remains again, on each node: `basalt adm adopt {resource} --save FILE`; then \
                 judge those files"
            ),
        }
    }
}

/// Of the file of votes.
fn of_register(path: &Path, resource: &str, source: &Error) -> String {
    let shown = path.display();
    if is_full(source) {
        return format!("make room: `df -h {}` shows how much there is", folder(path));
    }
    let kind = source.kind();
    if kind == ErrorKind::ResourceBusy || kind == ErrorKind::WouldBlock {
        return format!(
            "`fuser -v {shown}` tells who has it: a daemon gives it back by `basalt adm down \
             {resource}`, and `adopt` once it has ended"
        );
    }
    if kind == ErrorKind::PermissionDenied {
        return format!("let this user read and write it: `ls -l {shown}` shows who may");
    }
    if kind == ErrorKind::ReadOnlyFilesystem {
        return format!(
            "`mount -o remount,rw` of the file system that `findmnt -T {}` names",
            folder(path)
        );
    }
    format!(
        "look at what is there (`ls -l {shown}`), and at the kernel's log: `dmesg | tail`; a file \
         system that failed has to be mended before"
    )
}

fn folder(path: &Path) -> std::path::Display<'_> {
    path.parent().unwrap_or_else(|| Path::new(".")).display()
}

fn of_this(names: &[String]) -> String {
    if names.is_empty() {
        "of this one the kernel has no lasting name".to_owned()
    } else {
        format!("this is {}", names.join(", "))
    }
}

impl OfVolume {
    pub(super) fn of(superblock: &Superblock) -> Self {
        let Superblock { resource_name, node, volume, .. } = superblock;
        Self { resource: resource_name.clone(), node: node.get(), volume: *volume }
    }
}

impl fmt::Display for OfVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, node, volume } = self;
        write!(f, "resource {resource:?}, node {node}, volume {volume}")
    }
}

impl fmt::Display for OneOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, incarnation, write_counter } = self;
        write!(f, "of {of} (incarnation {incarnation:032x}, written {write_counter} times)")
    }
}

impl fmt::Display for LookedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " ({} bytes", self.size_bytes)?;
        if let Some(former_bytes) = self.former_bytes {
            write!(f, ", {former_bytes} when it was last in use")?;
        }
        f.write_str(")")?;
        match &self.data {
            Some((path, size_bytes)) => {
                write!(f, " about the data on {} ({size_bytes} bytes)", path.display())
            }
            None => Ok(()),
        }
    }
}

impl Misfit {
    fn hint(self, volume: u16, resource: &str) -> String {
        let whole = format!(
            "or, {ONLY_THEN} make the replica anew, all of its volumes: `basalt adm create-md \
             --force {resource}`"
        );
        let alone = format!("`basalt adm create-md --force {resource}/{volume}");
        let unused = "this replica has nothing of it in use yet, so make it anew";
        match self {
            Self::Lanes { .. } | Self::Members { .. } | Self::Older { .. } | Self::NotItsDisk => {
                format!("give it the disk that belongs to it; {whole}")
            }
            Self::Newer { .. } => {
                format!("give volume 0 the disk that it had last, not a copy; {whole}")
            }
            Self::MembersOfNew { first, .. } => {
                format!("{unused}: {alone} --max-peers {}`", first - 1)
            }
            Self::NotZeroes => format!("{unused}: {alone}`"),
            Self::OfAnotherFirst | Self::NoLonger => format!(
                "check the disks of volume 0 and of this one: either may be another one, or an \
                 older copy. Only if volume 0 has the right one, and nobody needs what is on this \
                 one, {alone}` makes it anew"
            ),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lanes { own, first } => write!(f, "has {own} lanes, that of volume 0 {first}"),
            Self::Members { own, first } | Self::MembersOfNew { own, first } => {
                write!(f, "was made for {own} members, that of volume 0 for {first}")
            }
            Self::Older { own, first } => write!(
                f,
                "is an older copy: its stamp has the number {own}, that of volume 0 {first}"
            ),
            Self::Newer { own, first } => write!(
                f,
                "is newer than that of volume 0, which is an older copy: the stamps have the \
                 numbers {own} and {first}"
            ),
            Self::NotItsDisk => f.write_str(
                "is not the one that belongs to this replica: a replica keeps its disks, or is \
                 made anew as a whole",
            ),
            Self::OfAnotherFirst => f.write_str("was not made for this replica of volume 0"),
            Self::NoLonger => f.write_str("belonged to this replica, and no longer does"),
            Self::NotZeroes => f.write_str(
                "was made before the replica had data, and is added now: its blocks are not known \
                 to be zeroes",
            ),
        }
    }
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        Self::new(error.code(), error.to_string(), error.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, Row};

    fn disk() -> PathBuf {
        PathBuf::from("/dev/vg/r0")
    }

    fn r0() -> String {
        "r0".to_owned()
    }

    fn of(resource: &str, node: u8, volume: u16) -> OfVolume {
        OfVolume { resource: resource.to_owned(), node, volume }
    }

    /// Newer than this release knows.
    fn newer(what: &'static str) -> DecodeError {
        DecodeError::NewerVersion { what, offset: 8, value: 9 }
    }

    fn of_disks() -> Vec<(&'static str, AttachError)> {
        let io = |action, source: Error| AttachError::Io { action, disk: disk(), source };
        let part = "the metadata on";
        let too_long = EncodeError::TooLong { what: "slots", count: 40, max: 32 };
        vec![
            ("the disk fails", io("read", Error::from_raw_os_error(5))),
            ("no room is left below the disk", io("write", ErrorKind::StorageFull.into())),
            (
                "values that do not fit",
                AttachError::Encode { part, path: disk(), source: too_long },
            ),
            (
                "a superblock of a newer release",
                AttachError::Newer { part: "metadata", disk: disk(), source: newer("superblock") },
            ),
            (
                "an activity log of a newer release",
                AttachError::Newer {
                    part: "activity log",
                    disk: disk(),
                    source: newer("activity log"),
                },
            ),
            (
                "the disk of another resource, node or volume",
                AttachError::OtherReplica {
                    disk: disk(),
                    found: of("r0", 2, 0),
                    wanted: of("r0", 1, 0),
                    target: r0(),
                },
            ),
            (
                "`meta-disk` is internal now, and was not, or the other way round",
                AttachError::OtherPlace { disk: disk(), found: of("r0", 1, 0), target: r0() },
            ),
            (
                "the sectors of all superblocks cannot be read",
                AttachError::Unreadable {
                    disk: disk(),
                    offsets: vec![66_846_720, 67_104_768],
                    target: r0(),
                },
            ),
            (
                "another program wrote meanwhile",
                AttachError::Written { disk: disk(), resource: r0() },
            ),
            (
                "a wrong value of the variable",
                AttachError::Variable {
                    source: Error::other(
                        "BASALT_METADATA is \"on\": it is one of auto, written, mapped",
                    ),
                },
            ),
        ]
    }

    fn of_sizes() -> Vec<(&'static str, AttachError)> {
        let size_bytes = 67_108_864;
        let place = LookedAt { size_bytes, ..LookedAt::default() };
        let grown = LookedAt { former_bytes: Some(33_554_432), ..place.clone() };
        let about = Some((PathBuf::from("/dev/vg/data"), 1 << 30));
        let external = LookedAt { data: about, ..place.clone() };
        let nothing = |place: &LookedAt, target: &str| AttachError::NothingFound {
            disk: disk(),
            place: place.clone(),
            target: target.to_owned(),
        };
        let one = |incarnation, write_counter| OneOfTwo {
            of: of("r0", 1, 0),
            incarnation,
            write_counter,
        };
        vec![
            ("a blank disk, or one that grew unseen", nothing(&place, "r0")),
            ("the disk has another size than when it was last in use", nothing(&grown, "r0")),
            ("a metadata disk of its own, of a further volume", nothing(&external, "r0/1")),
            (
                "both superblocks are damaged",
                AttachError::Damaged {
                    disk: disk(),
                    place: place.clone(),
                    wrong: "the superblock at byte 67104768 is damaged (superblock: the checksum \
                            0x12345678 at byte 12 does not match the content)"
                        .to_owned(),
                    target: r0(),
                },
            ),
            (
                "the disk grew, and has old metadata at its new end",
                AttachError::TwoFound {
                    disk: disk(),
                    former_bytes: size_bytes,
                    size_bytes: 100_663_296,
                    present: one(0xabc, 7),
                    former: one(0xdef, 8),
                    target: r0(),
                    note: "resources/r0.disk".to_owned(),
                },
            ),
            (
                "the disk is smaller than it was",
                AttachError::Shrunk {
                    disk: disk(),
                    size_bytes,
                    former_bytes: 100_663_296,
                    target: r0(),
                },
            ),
            (
                "the data disk of external metadata is smaller than its volume",
                AttachError::DataShrunk {
                    disk: disk(),
                    size_bytes,
                    needed_bytes: 100_663_296,
                    resource: r0(),
                },
            ),
        ]
    }

    fn of_other_data_disk(now: &[&str]) -> AttachError {
        AttachError::OtherDataDisk {
            meta: PathBuf::from("/dev/vg/meta"),
            data: disk(),
            before: vec!["wwid:naa.5".to_owned()],
            now: now.iter().map(|name| (*name).to_owned()).collect(),
            resource: r0(),
            note: "resources/r0.data".to_owned(),
        }
    }

    fn of_further_volumes() -> Vec<(&'static str, AttachError)> {
        let misfits = [
            ("lanes differ", Misfit::Lanes { own: 16, first: 8 }),
            ("less room, of a disk in use", Misfit::Members { own: 8, first: 32 }),
            ("less room, of a new disk", Misfit::MembersOfNew { own: 8, first: 32 }),
            ("a copy of an earlier day", Misfit::Older { own: 7, first: 9 }),
            ("volume 0 is a copy of an earlier day", Misfit::Newer { own: 9, first: 7 }),
            ("another disk than the replica has in use", Misfit::NotItsDisk),
            ("volume 0 was made anew, or is another disk", Misfit::OfAnotherFirst),
            ("volume 0 does not know the disk any more", Misfit::NoLonger),
            ("made with the replica, and added much later", Misfit::NotZeroes),
        ];
        let misfits = misfits.map(|(situation, why)| {
            let (disk, resource) = (PathBuf::from("/dev/vg/r0-1"), r0());
            (situation, AttachError::NotOfReplica { volume: 1, disk, resource, why })
        });
        let other = [
            (
                "a volume was taken out of the configuration",
                AttachError::VolumeNotNamed { resource: r0(), volume: 1 },
            ),
            ("another data disk", of_other_data_disk(&["wwid:naa.6", "serial:S1"])),
            ("a data disk without a name", of_other_data_disk(&[])),
        ];
        misfits.into_iter().chain(other).collect()
    }

    fn of_votes() -> Vec<(&'static str, AttachError)> {
        let path = || PathBuf::from("/var/lib/basalt/resources/r0.register");
        let register = |action, kind: ErrorKind| {
            AttachError::register(action, &path(), "r0", Error::from(kind))
        };
        let damaged = DecodeError::Truncated { what: "register", offset: 0, value: 512 };
        vec![
            ("no room is left", register("make", ErrorKind::StorageFull)),
            ("another program has it", register("read", ErrorKind::ResourceBusy)),
            ("the user may not", register("read", ErrorKind::PermissionDenied)),
            ("the file system takes no writes", register("open", ErrorKind::ReadOnlyFilesystem)),
            ("another error", register("read", ErrorKind::IsADirectory)),
            (
                "it is of a newer release",
                AttachError::RegisterNewer { path: path(), source: newer("register") },
            ),
            (
                "it was damaged after it was read",
                AttachError::RegisterDamaged { path: path(), resource: r0(), source: damaged },
            ),
            (
                "it was copied from another resource",
                AttachError::RegisterOfOther { path: path(), resource: r0() },
            ),
            (
                "`adopt`: a file of remains is damaged",
                AttachError::Remains { reason: "it is too short".to_owned(), resource: r0() },
            ),
            (
                "`adopt`: the remains are of an earlier day",
                AttachError::SavedEarlier { resource: r0() },
            ),
        ]
    }

    #[test]
    fn rows_of_attach_are_those_of_the_page() {
        let all = [of_disks(), of_sizes(), of_further_volumes(), of_votes()];
        let rows = all.into_iter().flatten().map(|(situation, error)| Row {
            variant: rows::variant_of(&error),
            situation: situation.to_owned(),
            sentence: format!("{error}; try: {}", error.hint()),
        });
        let title = "Why a disk or a vote store is not taken into use";
        rows::check(("attach.md", title), rows.collect());
    }

    /// "It makes a new replica that is copied from the others" was all that was said of a way that
    /// loses the data where no other replica has it; and some hints were empty.
    #[test]
    fn no_hint_is_empty_and_none_gives_up_data_without_saying_when() {
        let all = [of_disks(), of_sizes(), of_further_volumes(), of_votes()];
        for (situation, error) in all.into_iter().flatten() {
            let hint = error.hint();
            assert!(hint.len() > 20 && !hint.ends_with('?'), "{situation}: {hint}");
            let says_when = [ONLY_THEN, "nobody needs what is on", "has nothing of it in use yet"];
            let is_forced = hint.contains("create-md --force");
            assert!(
                !is_forced || says_when.iter().any(|it| hint.contains(it)),
                "{situation}: {hint}"
            );
        }
    }
}
