//! Why a replica is not taken over from DRBD, or not given back, and what to try.
//! docs/operate/messages has the rows in adopt-drbd.md.

use std::path::PathBuf;

use format::drbd::{DrbdCondition, DrbdVersion};
use format::error::DecodeError;

use crate::create_md::CreateMdError;

#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    #[error(transparent)]
    Disk(#[from] CreateMdError),
    #[error("no metadata of DRBD 8.4 or 9 was found {}", looked.join(", nor "))]
    NotDrbd { looked: Vec<String> },
    #[error("metadata of DRBD was found in two places: {}", places.join(" and "))]
    Ambiguous { places: Vec<String> },
    #[error("{}: the metadata is damaged: {source}", disk.display())]
    Damaged { disk: PathBuf, source: DecodeError },
    #[error("{} is a replica of DRBD that was never used: it has no data", disk.display())]
    NeverUsed { disk: PathBuf },
    #[error("{}: DRBD's activity log was not applied after the last use", disk.display())]
    Unclean {
        disk: PathBuf,
        version: DrbdVersion,
        /// Where it is, in the words of drbdmeta.
        metadata: String,
    },
    #[error("{} was {} when DRBD left it", disk.display(), word(*condition))]
    NotUpToDate { disk: PathBuf, condition: DrbdCondition },
    #[error("{} is of DRBD's node {found}, and this one is node {wanted}", disk.display())]
    Node { disk: PathBuf, found: u8, wanted: u8 },
    #[error("DRBD's volume has {size_bytes} bytes, {reason}")]
    Size { size_bytes: u64, reason: String },
    #[error(
        "{}: {room_bytes} bytes are left behind the volume's {size_bytes}, and the metadata needs \
         {needed_bytes}",
        disk.display()
    )]
    Room {
        disk: PathBuf,
        size_bytes: u64,
        room_bytes: u64,
        needed_bytes: u64,
        /// Of another disk for the metadata.
        external_bytes: u64,
    },
    #[error("{} is shared by the metadata of several volumes of DRBD", disk.display())]
    Shared { disk: PathBuf },
    #[error("{} holds {what}; nothing was written", disk.display())]
    Occupied { disk: PathBuf, what: String },
    #[error("the data is of generation {own:016X}, not of {wanted:016X}: {reason}")]
    Differs { own: u64, wanted: u64, reason: String },
    #[error("resource `{name}` is in use here: {reason}")]
    Started { name: String, reason: String },
    #[error("nothing is saved for resource `{name}`, volume {volume}, in {}", folder.display())]
    NothingSaved { name: String, volume: u16, folder: PathBuf },
    #[error("{} is not the disk that was taken over: {reason}", disk.display())]
    OtherDisk { disk: PathBuf, reason: String },
    #[error("{action} {}: {source}", path.display())]
    Saved { action: &'static str, path: PathBuf, source: std::io::Error },
}

fn word(condition: DrbdCondition) -> &'static str {
    match condition {
        DrbdCondition::NeverUsed => "without data",
        DrbdCondition::Unclean => "unclean",
        DrbdCondition::Inconsistent => "Inconsistent",
        DrbdCondition::Outdated => "Outdated",
        DrbdCondition::UpToDate => "UpToDate",
    }
}

impl AdoptError {
    /// The disk or the options do not allow it, as against a disk that failed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Saved { .. }) && !matches!(self, Self::Disk(it) if !it.is_refusal())
    }

    /// What to try.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    pub fn hint(&self) -> String {
        match self {
            Self::Disk(CreateMdError::Missing { .. }) => {
                "check the name; `lsblk` lists the devices, and `lvs` shows a volume that is not \
                 active (`lvchange -ay`)"
                    .to_owned()
            }
            Self::Disk(error) => error.hint(),
            Self::NotDrbd { .. } => {
                "--drbd-meta-disk with what DRBD's configuration has as `meta-disk`; `create-md` \
                 for a replica that has no data"
                    .to_owned()
            }
            Self::Ambiguous { .. } => {
                "--drbd-meta-disk with the one that DRBD used last: `internal`, PATH or PATH[N]"
                    .to_owned()
            }
            Self::Damaged { .. } => {
                "`drbdadm dump-md` of the resource says what DRBD makes of it; \
                 or give this replica up, `drbdadm wipe-md` and `basalt adm create-md`, and it is \
                 copied anew from that of a node that is UpToDate"
                    .to_owned()
            }
            Self::NeverUsed { .. } | Self::NotUpToDate { .. } => {
                "take the replica of a node that is UpToDate. This one: let it resync under DRBD \
                 first (`drbdadm up`, wait for UpToDate, `drbdadm down`); or give its data up, \
                 `drbdadm wipe-md` and `basalt adm create-md`, and it is copied anew"
                    .to_owned()
            }
            Self::Unclean { version, metadata, .. } => format!(
                "`drbdadm down` it, then `drbdadm apply-al` (without a configuration of DRBD: \
                 `drbdmeta 0 {} {metadata} apply-al`)",
                version.as_str()
            ),
            Self::Node { .. } => {
                "name the disk of this node in `disk`; or give this host that `node-id`".to_owned()
            }
            Self::Size { .. } => "nothing was written; the replica stays DRBD's".to_owned(),
            Self::Room { external_bytes, .. } => format!(
                "`meta-disk PATH;` for this host, with a disk or file of at least {external_bytes} \
                 bytes; DRBD's metadata is found where it is"
            ),
            Self::Shared { .. } => "`meta-disk` with another disk of its own for this host, and \
                 --drbd-meta-disk 'PATH[N]'"
                .to_owned(),
            Self::Occupied { disk, .. } => format!(
                "name the right one in `disk` or `meta-disk`: `lsblk -f {}` shows what is on this \
                 one",
                disk.display()
            ),
            Self::Differs { .. } => {
                "take it over without --same-as; it is then compared and copied where it differs, \
                 once a node with the newest data was told `primary --force`; do not type \
                 `new-current-uuid --clear-bitmap`, which would leave it as it differs"
                    .to_owned()
            }
            Self::Started { .. } => {
                "nothing was written: clients wrote to it since, and DRBD knows nothing of that; \
                 copy the data from the volume to a new device of DRBD"
                    .to_owned()
            }
            Self::NothingSaved { .. } => {
                "--state-dir with the folder that was used when it was taken over; a replica that \
                 `create-md` made was never DRBD's"
                    .to_owned()
            }
            Self::OtherDisk { .. } => {
                "let `disk` and `meta-disk` of this host name the disks that \
                 they named when it was taken over"
                    .to_owned()
            }
            Self::Saved { path, .. } => {
                let folder = path.parent().unwrap_or(path).display();
                format!("`df -h {folder}` shows the room, `ls -ld {folder}` who may write there")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, Row};

    /// One of each kind.
    #[expect(clippy::too_many_lines, reason = "one flat list")]
    fn errors() -> Vec<(&'static str, AdoptError)> {
        let disk = || PathBuf::from("/dev/vg/r0");
        let name = || "r0".to_owned();
        let missing = CreateMdError::Missing { disk: disk() };
        let source = DecodeError::WrongMagic { what: "DRBD's superblock", offset: 0, value: 0 };
        let condition = |condition| AdoptError::NotUpToDate { disk: disk(), condition };
        vec![
            ("as with `create-md`", AdoptError::Disk(missing)),
            (
                "no metadata where it is looked for",
                AdoptError::NotDrbd { looked: vec!["at the end of /dev/vg/r0".to_owned()] },
            ),
            (
                "metadata in two places",
                AdoptError::Ambiguous {
                    places: vec!["/dev/vg/r0".to_owned(), "/dev/vg/r0-meta".to_owned()],
                },
            ),
            ("metadata that is damaged", AdoptError::Damaged { disk: disk(), source }),
            ("a replica without data", AdoptError::NeverUsed { disk: disk() }),
            (
                "a replica that was in use when its node died",
                AdoptError::Unclean {
                    disk: disk(),
                    version: DrbdVersion::V09,
                    metadata: "/dev/vg/r0 internal".to_owned(),
                },
            ),
            (
                "so it was, with its metadata elsewhere",
                AdoptError::Unclean {
                    disk: disk(),
                    version: DrbdVersion::V08,
                    metadata: "/dev/vg/r0-meta flex-external".to_owned(),
                },
            ),
            ("a replica in the middle of a resync", condition(DrbdCondition::Inconsistent)),
            ("a replica that misses writes", condition(DrbdCondition::Outdated)),
            ("the disk of another node", AdoptError::Node { disk: disk(), found: 1, wanted: 0 }),
            (
                "a size that the volume cannot have",
                AdoptError::Size { size_bytes: 1000, reason: "no whole blocks".to_owned() },
            ),
            (
                "a disk without room for the metadata",
                AdoptError::Room {
                    disk: disk(),
                    size_bytes: 1 << 30,
                    room_bytes: 1 << 15,
                    needed_bytes: 1 << 20,
                    external_bytes: 1 << 21,
                },
            ),
            ("an indexed disk of metadata", AdoptError::Shared { disk: disk() }),
            (
                "something is where the metadata goes",
                AdoptError::Occupied { disk: disk(), what: "an ext4 file system".to_owned() },
            ),
            (
                "`--same-as` of other data",
                AdoptError::Differs {
                    own: 1,
                    wanted: 2,
                    reason: "neither knows the other".to_owned(),
                },
            ),
            (
                "`--rollback` after the replica was in use",
                AdoptError::Started { name: name(), reason: "it has an epoch".to_owned() },
            ),
            (
                "`--rollback` with nothing to give back",
                AdoptError::NothingSaved {
                    name: name(),
                    volume: 0,
                    folder: PathBuf::from("/var/lib/basalt/from-drbd"),
                },
            ),
            (
                "`--rollback` with another disk",
                AdoptError::OtherDisk { disk: disk(), reason: "its size differs".to_owned() },
            ),
            (
                "the state directory takes no write",
                AdoptError::Saved {
                    action: "cannot write",
                    path: PathBuf::from("/var/lib/basalt/from-drbd/r0.0"),
                    source: std::io::ErrorKind::StorageFull.into(),
                },
            ),
        ]
    }

    #[test]
    fn rows_of_adopt_drbd_are_those_of_the_page() {
        let rows = errors().into_iter().map(|(situation, error)| Row {
            variant: rows::variant_of(&error),
            situation: situation.to_owned(),
            sentence: format!("{error}; try: {}", error.hint()),
        });
        let title = "Why a replica of DRBD is not taken over or not given back";
        rows::check(("adopt-drbd.md", title), rows.collect());
    }
}
