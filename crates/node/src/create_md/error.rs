//! Why metadata is not made or not read, and what to try. docs/operate/messages has the rows in
//! create-md.md.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use format::error::{DecodeError, EncodeError};
use format::layout::LayoutError;

use crate::create_md::WhyNot;

#[derive(Debug, thiserror::Error)]
pub enum CreateMdError {
    #[error("{} does not exist", disk.display())]
    Missing { disk: PathBuf },
    #[error("{} is neither a block device nor a regular file", disk.display())]
    WrongKind { disk: PathBuf },
    #[error("{} is in use by another program", disk.display())]
    InUse { disk: PathBuf },
    #[error("{} holds {what}; nothing was written", disk.display())]
    Occupied { disk: PathBuf, what: String },
    #[error(
        "{} is too small: {size_bytes} bytes, at least {needed_bytes} are needed",
        disk.display()
    )]
    TooSmall { disk: PathBuf, size_bytes: u64, needed_bytes: u64 },
    #[error("{}: {source}", disk.display())]
    Layout { disk: PathBuf, source: LayoutError },
    #[error("the resource name `{name}` does not fit into the metadata: {source}")]
    Name { name: String, source: EncodeError },
    #[error("node id {node_id} is not of a member: {reason}")]
    Member { node_id: u8, reason: &'static str },
    #[error(
        "volume {volume} belongs to the replica whose volume 0 is on {}: {reason}",
        disk.display()
    )]
    OfReplica { volume: u16, disk: PathBuf, resource: String, reason: WhyNot },
    #[error("{} holds no metadata that can be read", disk.display())]
    NoMetadata { disk: PathBuf },
    #[error("the metadata on {}: {source}", disk.display())]
    Newer { disk: PathBuf, source: DecodeError },
    #[error("{action} {}: {source}", disk.display())]
    Io { action: &'static str, disk: PathBuf, source: Error },
}

impl CreateMdError {
    /// The disk or the options do not allow it, as against a disk that failed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }

    /// What to try.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { disk } if disk.starts_with("/dev") => {
                "check the name; `lsblk` lists the devices, and `lvs` shows a volume that is not \
                 active (`lvchange -ay`)"
                    .to_owned()
            }
            Self::Missing { disk } => {
                format!("check the name; `fallocate -l 1G {}` makes a new file", disk.display())
            }
            Self::WrongKind { .. } => "name a block device, or a file of its final size".to_owned(),
            Self::InUse { disk } => format!(
                "`fuser -v {}` tells who it is: a daemon of Basalt gives it back by `basalt adm \
                 down` of the resource, a mount by `umount`",
                disk.display()
            ),
            Self::Occupied { .. } => {
                "another disk; or, if what is on it may be lost, --force".to_owned()
            }
            Self::TooSmall { disk, needed_bytes, .. } => format!(
                "make it larger: a file by `truncate -s '>{needed_bytes}' {}`, which shortens \
                 nothing, a logical volume by `lvextend`; or a smaller `size`",
                disk.display()
            ),
            Self::Layout { source, .. } => match source {
                LayoutError::TooSmall { .. } => "a larger disk",
                LayoutError::TooLarge { .. } => "a smaller disk",
                LayoutError::Slots { .. } => "--max-peers from 1 to 31",
                LayoutError::Lanes { .. } => "lanes that are a power of two",
            }
            .to_owned(),
            Self::Name { .. } => "a shorter name".to_owned(),
            Self::Member { .. } => "`node-id` from 0 to 31 in the `on` sections".to_owned(),
            Self::OfReplica { reason: WhyNot::Number, .. } => "a number up to 15".to_owned(),
            Self::OfReplica { reason: WhyNot::NoMetadata, resource, .. } => {
                format!("`basalt adm create-md {resource}` first")
            }
            Self::OfReplica { reason: WhyNot::HasData, resource, .. } => format!(
                "while another replica is UpToDate, and only then: `basalt adm detach {resource}`, \
                 `create-md --force {resource}` and `attach {resource}`; all of its volumes are \
                 copied from that one"
            ),
            Self::NoMetadata { .. } => {
                "check `disk` and `meta-disk`; `basalt adm create-md` makes a new replica, without \
                 what was on the old one"
                    .to_owned()
            }
            Self::Newer { .. } => {
                "the release that wrote it; `basalt --version` tells which one this is".to_owned()
            }
            Self::Io { disk, source, .. } if source.kind() == ErrorKind::StorageFull => {
                format!("make room: `df -h {}` shows how much there is", disk.display())
            }
            Self::Io { .. } => "look at the kernel's log: `dmesg | tail`".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, Row};

    /// One of each kind.
    fn errors() -> Vec<(&'static str, CreateMdError)> {
        let disk = || PathBuf::from("/dev/vg/r0");
        let resource = || "r0".to_owned();
        let layout = |source| CreateMdError::Layout { disk: disk(), source };
        let of_replica = |volume, reason| CreateMdError::OfReplica {
            volume,
            disk: disk(),
            resource: resource(),
            reason,
        };
        vec![
            ("the device is not there", CreateMdError::Missing { disk: disk() }),
            ("the file is not there", CreateMdError::Missing { disk: "/srv/r0".into() }),
            ("the path is a folder", CreateMdError::WrongKind { disk: disk() }),
            ("another program has the disk", CreateMdError::InUse { disk: disk() }),
            (
                "something is on the disk",
                CreateMdError::Occupied { disk: disk(), what: "an ext4 file system".to_owned() },
            ),
            (
                "a small disk",
                CreateMdError::TooSmall { disk: disk(), size_bytes: 4096, needed_bytes: 1 << 20 },
            ),
            ("a disk that is too large", layout(LayoutError::TooLarge { size_bytes: 1 << 60 })),
            ("room for too many peers", layout(LayoutError::Slots { slots: 33 })),
            (
                "a long name",
                CreateMdError::Name {
                    name: resource(),
                    source: EncodeError::TooLong { what: "resource name", count: 200, max: 128 },
                },
            ),
            (
                "a node id that is not of a member",
                CreateMdError::Member { node_id: 32, reason: "it is above 31" },
            ),
            ("a volume that no replica can have", of_replica(16, WhyNot::Number)),
            ("volume 0 has no metadata yet", of_replica(1, WhyNot::NoMetadata)),
            ("the replica has a volume of this number", of_replica(1, WhyNot::HasData)),
            ("no metadata to read", CreateMdError::NoMetadata { disk: disk() }),
            (
                "metadata of a newer release",
                CreateMdError::Newer {
                    disk: disk(),
                    source: DecodeError::NewerVersion { what: "superblock", offset: 8, value: 9 },
                },
            ),
            (
                "the disk fails",
                CreateMdError::Io {
                    action: "cannot write to",
                    disk: disk(),
                    source: Error::from_raw_os_error(5),
                },
            ),
            (
                "the file system of the file is full",
                CreateMdError::Io {
                    action: "cannot write to",
                    disk: "/srv/r0".into(),
                    source: ErrorKind::StorageFull.into(),
                },
            ),
        ]
    }

    /// It was advised to take a smaller disk.
    #[test]
    fn advice_about_the_size_of_a_disk_is_the_right_way_round() {
        let hint = |source| CreateMdError::Layout { disk: PathBuf::new(), source }.hint();
        let small = hint(LayoutError::TooSmall { size_bytes: 1, needed_bytes: 2 });
        assert_eq!(small, "a larger disk");
        assert_eq!(hint(LayoutError::TooLarge { size_bytes: 1 }), "a smaller disk");
        assert_eq!(hint(LayoutError::Slots { slots: 33 }), "--max-peers from 1 to 31");
    }

    #[test]
    fn rows_of_create_md_are_those_of_the_page() {
        let rows = errors().into_iter().map(|(situation, error)| Row {
            variant: rows::variant_of(&error),
            situation: situation.to_owned(),
            sentence: format!("{error}; try: {}", error.hint()),
        });
        let title = "Why metadata is not made or not read";
        rows::check(("create-md.md", title), rows.collect());
    }
}
