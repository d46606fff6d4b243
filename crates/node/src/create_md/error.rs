//! Why metadata is not made or not read, and what to try. docs/operate/messages has the rows in
//! create-md.md.

use std::io::Error;
use std::path::PathBuf;

use format::error::{DecodeError, EncodeError};
use format::layout::LayoutError;

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
    OfReplica { volume: u16, disk: PathBuf, resource: String, reason: &'static str },
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
            Self::Missing { disk } => format!(
                "`fallocate -l 1G {}` makes a file to keep data in; of a device, check the name",
                disk.display()
            ),
            Self::WrongKind { .. } => "name a block device, or a file of its final size".to_owned(),
            Self::InUse { disk } => format!(
                "stop what uses it, `basalt adm down` or `umount`; `fuser -v {}` tells who it is",
                disk.display()
            ),
            Self::Occupied { .. } => {
                "another disk; or, if what is on it may be lost, --force".to_owned()
            }
            Self::TooSmall { disk, .. } => {
                format!("`truncate -s 1G {}`, of a file; or a smaller `size`", disk.display())
            }
            Self::Layout { source, .. } => match source {
                LayoutError::TooSmall { .. } => "a larger disk",
                LayoutError::TooLarge { .. } => "a smaller disk",
                LayoutError::Slots { .. } | LayoutError::Lanes { .. } => "--max-peers from 1 to 31",
            }
            .to_owned(),
            Self::Name { .. } => "a shorter name".to_owned(),
            Self::Member { .. } => "`node-id` from 0 to 31 in the `on` sections".to_owned(),
            Self::OfReplica { resource, .. } => format!(
                "`basalt adm create-md --force {resource}` for all of its volumes; what was on \
                 them is copied from the other replicas"
            ),
            Self::NoMetadata { .. } => {
                "check `disk` and `meta-disk`; `basalt adm create-md` makes it".to_owned()
            }
            Self::Newer { .. } => {
                "the release that wrote it; `basalt --version` tells which one this is".to_owned()
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
        vec![
            ("the disk is not there", CreateMdError::Missing { disk: disk() }),
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
            (
                "a further volume whose replica is in use",
                CreateMdError::OfReplica {
                    volume: 1,
                    disk: disk(),
                    resource: resource(),
                    reason: "that one has been in use",
                },
            ),
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
                    source: std::io::ErrorKind::StorageFull.into(),
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
