//! Why a replica is not taken over from DRBD, or not given back, and what to try.

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
    Unclean { disk: PathBuf, version: DrbdVersion },
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
    pub fn hint(&self) -> String {
        match self {
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
            Self::Damaged { .. } => "look at it with `drbdmeta .. dump-md`".to_owned(),
            Self::NeverUsed { .. } | Self::NotUpToDate { .. } => {
                "take the replica of a node that is UpToDate. This one: let it resync under DRBD \
                 first (`drbdadm up`, wait for UpToDate, `drbdadm down`); or give its data up, \
                 `drbdadm wipe-md` and `basalt adm create-md`, and it is copied anew"
                    .to_owned()
            }
            Self::Unclean { .. } => {
                "`drbdadm down` it, then `drbdadm apply-al` (without a configuration of DRBD: \
                 `drbdmeta 0 v09 DISK internal apply-al`)"
                    .to_owned()
            }
            Self::Node { .. } => {
                "is this the right disk? Or give this host that `node-id`".to_owned()
            }
            Self::Size { .. } => "nothing was written; the replica stays DRBD's".to_owned(),
            Self::Room { external_bytes, .. } => format!(
                "`meta-disk PATH;` for this host, with a disk or file of at least {external_bytes} \
                 bytes; DRBD's metadata is found where it is"
            ),
            Self::Shared { .. } => "`meta-disk` with another disk of its own for this host, and \
                 --drbd-meta-disk 'PATH[N]'"
                .to_owned(),
            Self::Occupied { .. } => "is this the right disk?".to_owned(),
            Self::Differs { .. } => {
                "take it over without --same-as; it is then compared and copied where it differs, \
                 once a node with the newest data was told `primary --force`"
                    .to_owned()
            }
            Self::Started { .. } => {
                "what was written since would be lost or mixed up: there is no way back to DRBD \
                 but a copy of the data"
                    .to_owned()
            }
            Self::NothingSaved { .. } => {
                "--state-dir with the folder that was used when it was taken over".to_owned()
            }
            Self::OtherDisk { .. } => "look at the `disk` of this host".to_owned(),
            Self::Saved { .. } => "is there room, and may this user write there?".to_owned(),
        }
    }
}
