//! The copy of a voter's newest vote in the superblock of its disk.
//!
//! A vote is written to the config register and, with the stamp, to the disk, before it counts. So
//! the disks of the voters know together what their registers knew: enough to take a resource into
//! use again whose state directories are gone (PROTOCOL.md, M1). What the next value needs is in
//! it, and no more: the copy lies in the first 512 bytes of the superblock, behind the areas, where
//! releases that do not know it neither look nor leave anything.

use crate::config::{ANCESTORS_MAX, Config, VolumeConfig};
use crate::error::{DecodeError, EncodeError};
use crate::ids::{Ballot, MemberSet, ResourceId, ValueId, VoteStoreId};
use crate::wire::{End, Reader, Wire, Writer};

/// Where it begins and ends in the superblock.
pub(crate) const VOTE_AT: usize = 184;
pub(crate) const VOTE_END: usize = 512;

/// What a voter accepted, without what only its session needed: who led it, whose tenure it was,
/// and the value before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteCopy {
    /// The vote store that accepted it.
    pub store: VoteStoreId,
    pub ballot: Ballot,
    value: Config,
}

impl VoteCopy {
    /// `None` of a value with more members and volumes than there is room for. Of the list of forks
    /// the newest stay that there is room for.
    #[must_use]
    pub fn new(store: VoteStoreId, ballot: Ballot, value: &Config) -> Option<Self> {
        let mut value = value.clone();
        value.primary = None;
        value.tenure = None;
        value.previous = ValueId(0);
        let first = value.volumes.first()?.clone();
        let is_alike =
            |volume: &VolumeConfig| volume.insync == first.insync && volume.lanes == first.lanes;
        if !value.volumes.iter().all(is_alike) {
            return None;
        }
        let mut copy = Self { store, ballot, value };
        for _ in 0..=ANCESTORS_MAX {
            let mut room = [0; VOTE_END - VOTE_AT];
            if copy.encode(&mut room, 0).is_ok() {
                return Some(copy);
            }
            if copy.value.ancestors.is_empty() {
                return None;
            }
            copy.value.ancestors.remove(0);
        }
        None
    }

    #[must_use]
    pub fn value(&self) -> &Config {
        &self.value
    }

    /// Writes it to its place, which ends with `bytes`.
    pub(crate) fn encode(&self, bytes: &mut [u8], at: usize) -> Result<(), EncodeError> {
        let Self { store, ballot, value } = self;
        let Config { branch, ancestors, epoch, value_id, volumes, .. } = value;
        let Config { voters, voters_old, members, by_receipt, .. } = value;
        let &Config { followers, clean, losses, awaits_reopen, .. } = value;
        let mut writer = Writer::new(bytes, at);
        store.put(&mut writer);
        ballot.put(&mut writer);
        branch.put(&mut writer);
        epoch.put(&mut writer);
        value_id.put(&mut writer);
        ancestors.put(&mut writer);
        voters.put(&mut writer);
        voters_old.put(&mut writer);
        members.put(&mut writer);
        by_receipt.put(&mut writer);
        End { followers, clean, losses, awaits_reopen }.put(&mut writer);
        let first = volumes.first().expect("a value has its volume");
        first.insync.put(&mut writer);
        first.lanes.put(&mut writer);
        u8::try_from(volumes.len()).expect("at most 64 volumes").put(&mut writer);
        for volume in volumes {
            volume.number.put(&mut writer);
            volume.size_bytes.put(&mut writer);
        }
        writer.finish().map(drop)
    }

    pub(crate) fn decode(bytes: &[u8], resource: ResourceId) -> Result<Self, DecodeError> {
        let reader = &mut Reader::new(bytes, VOTE_AT, "copy of the vote");
        let store = reader.field("VoteCopy.store")?;
        let ballot = reader.field("VoteCopy.ballot")?;
        let mut value = Config {
            resource,
            branch: reader.field("VoteCopy.branch")?,
            epoch: crate::wire::ids::get_value_epoch(reader)?,
            value_id: reader.field("VoteCopy.value_id")?,
            ancestors: reader.field("VoteCopy.ancestors")?,
            voters: reader.field("VoteCopy.voters")?,
            voters_old: reader.field("VoteCopy.voters_old")?,
            members: reader.field("VoteCopy.members")?,
            by_receipt: reader.field("VoteCopy.by_receipt")?,
            followers: MemberSet::EMPTY,
            clean: false,
            losses: 0,
            awaits_reopen: false,
            previous: ValueId(0),
            primary: None,
            tenure: None,
            volumes: Vec::new(),
        };
        let End { followers, clean, losses, awaits_reopen } = reader.field("VoteCopy.end")?;
        (value.followers, value.clean) = (followers, clean);
        (value.losses, value.awaits_reopen) = (losses, awaits_reopen);
        let insync: Vec<_> = reader.field("VoteCopy.insync")?;
        let lanes = crate::wire::ids::get_lanes(reader)?;
        let count: u8 = reader.field("VoteCopy.volumes")?;
        for _ in 0..count {
            let number = reader.field("VoteCopy.number")?;
            let size_bytes = reader.field("VoteCopy.size_bytes")?;
            value.volumes.push(VolumeConfig { number, size_bytes, lanes, insync: insync.clone() });
        }
        if value.volumes.is_empty() {
            return Err(reader.out_of_range(1, 0));
        }
        Ok(Self { store, ballot, value })
    }
}
