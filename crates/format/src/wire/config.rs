//! The config value, as it stands in messages and in the register.

use crate::config::{
    ANCESTORS_MAX, Ancestor, Config, InSync, Primary, Purpose, Tenure, VolumeConfig, Voter,
};
use crate::error::DecodeError;
use crate::ids::{MemberSet, NODES_MAX};
use crate::wire::{ListItem, Reader, Wire, Writer, ids, record, tags};

/// Volumes of a resource: so many fit into a register slot, with all members in each.
pub(crate) const VOLUMES_MAX: usize = 64;

/// The longest encoding of a value: every list full, as the tables below add up.
pub(crate) const CONFIG_BYTES_MAX: usize = {
    let members = NODES_MAX as usize;
    let volume = 2 + 8 + 1 + 4 + members * (1 + 16 + 8);
    let lists = 4 + ANCESTORS_MAX * 24 + 4 + VOLUMES_MAX * volume + 2 * (4 + members * 9);
    16 + 8 + 8 + 8 + 8 + (1 + 1 + 8 + 1) + (1 + 1 + 8) + lists + 4 + 4 + 4 + 1 + 4
};

/// The end of a value: followers, whether it is clean, losses. Nodes that know of no followers read
/// and write values without any, so these have no field for them. Those that know of no `reopen`
/// carry the bit for it along as a part of the losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) followers: MemberSet,
    pub(crate) clean: bool,
    pub(crate) losses: u32,
    pub(crate) awaits_reopen: bool,
}

/// Bits of the byte that is a bool where nobody follows.
const CLEAN: u8 = 1;
const HAS_FOLLOWERS: u8 = 2;

/// The bit of the losses that says that they wait for `reopen`.
const AWAITS_REOPEN: u32 = 1 << 31;

impl Wire for End {
    fn put(&self, writer: &mut Writer<'_>) {
        let &Self { followers, clean, losses, awaits_reopen } = self;
        let clean = if clean { CLEAN } else { 0 };
        let has_followers = if followers.is_empty() { 0 } else { HAS_FOLLOWERS };
        (clean | has_followers).put(writer);
        if !followers.is_empty() {
            followers.put(writer);
        }
        let waits = if awaits_reopen { AWAITS_REOPEN } else { 0 };
        (losses & !AWAITS_REOPEN | waits).put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let bits = u8::get(reader)?;
        if bits > CLEAN | HAS_FOLLOWERS {
            return Err(reader.out_of_range(1, bits.into()));
        }
        let followers = match bits & HAS_FOLLOWERS {
            0 => MemberSet::EMPTY,
            _ => reader.field("followers")?,
        };
        if bits & HAS_FOLLOWERS != 0 && followers.is_empty() {
            return Err(reader.out_of_range(4, 0));
        }
        let losses: u32 = reader.field("losses")?;
        Ok(Self {
            followers,
            clean: bits & CLEAN != 0,
            losses: losses & !AWAITS_REOPEN,
            awaits_reopen: losses & AWAITS_REOPEN != 0,
        })
    }
}

impl Wire for Config {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { resource, branch, ancestors, epoch, value_id, previous, .. } = self;
        let Self { primary, tenure, volumes, voters, voters_old, members, by_receipt, .. } = self;
        resource.put(writer);
        branch.put(writer);
        ancestors.put(writer);
        epoch.put(writer);
        value_id.put(writer);
        previous.put(writer);
        primary.put(writer);
        tenure.put(writer);
        volumes.put(writer);
        voters.put(writer);
        voters_old.put(writer);
        members.put(writer);
        by_receipt.put(writer);
        let &Self { followers, clean, losses, awaits_reopen, .. } = self;
        End { followers, clean, losses, awaits_reopen }.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut value = Self {
            resource: reader.field("Config.resource")?,
            branch: reader.field("Config.branch")?,
            ancestors: reader.field("Config.ancestors")?,
            epoch: ids::get_value_epoch(reader)?,
            value_id: reader.field("Config.value_id")?,
            previous: reader.field("Config.previous")?,
            primary: reader.field("Config.primary")?,
            tenure: reader.field("Config.tenure")?,
            volumes: reader.field("Config.volumes")?,
            voters: reader.field("Config.voters")?,
            voters_old: reader.field("Config.voters_old")?,
            members: reader.field("Config.members")?,
            by_receipt: reader.field("Config.by_receipt")?,
            followers: MemberSet::EMPTY,
            clean: false,
            losses: 0,
            awaits_reopen: false,
        };
        let End { followers, clean, losses, awaits_reopen } = reader.field("Config.end")?;
        (value.followers, value.clean) = (followers, clean);
        (value.losses, value.awaits_reopen) = (losses, awaits_reopen);
        Ok(value)
    }
}

record!(Ancestor { branch, epoch, value_id });
record!(Primary { node, nonce, purpose });
record!(Tenure { node, id });
tags!(Purpose { 0 Clients, 1 Resync });
record!(InSync { node, incarnation, joined });
record!(Voter { node, store });

impl Wire for VolumeConfig {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { number, size_bytes, lanes, insync } = self;
        number.put(writer);
        size_bytes.put(writer);
        lanes.put(writer);
        insync.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let number = reader.field("VolumeConfig.number")?;
        let size_bytes = reader.field("VolumeConfig.size_bytes")?;
        let lanes = ids::get_lanes(reader)?;
        let insync: Vec<InSync> = reader.field("VolumeConfig.insync")?;
        if !insync.is_sorted_by(|member, next| member.node < next.node) {
            return Err(reader.out_of_range(0, insync.len() as u64));
        }
        Ok(Self { number, size_bytes, lanes, insync })
    }
}

impl ListItem for Ancestor {
    const COUNT_MAX: usize = ANCESTORS_MAX;
}
impl ListItem for VolumeConfig {
    const COUNT_MAX: usize = VOLUMES_MAX;
}
impl ListItem for InSync {
    const COUNT_MAX: usize = NODES_MAX as usize;
}
impl ListItem for Voter {
    const COUNT_MAX: usize = NODES_MAX as usize;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;

    fn bytes_of(end: End) -> Vec<u8> {
        let mut bytes = [0xee; 16];
        let mut writer = Writer::new(&mut bytes, 0);
        end.put(&mut writer);
        let length = writer.position;
        bytes[..length].to_vec()
    }

    /// Those that know of no followers read a bool and the losses.
    #[test]
    fn a_value_without_followers_is_as_it_was() {
        let end = |followers, clean| End { followers, clean, losses: 4, awaits_reopen: false };
        assert_eq!(bytes_of(end(MemberSet::EMPTY, false)), [0, 4, 0, 0, 0]);
        assert_eq!(bytes_of(end(MemberSet::EMPTY, true)), [1, 4, 0, 0, 0]);
        let one = MemberSet::of(NodeId::new(1).expect("a small number"));
        assert_eq!(bytes_of(end(one, true)), [3, 2, 0, 0, 0, 4, 0, 0, 0]);
    }

    /// Those that know of no `reopen` keep what they read, and count on from there.
    #[test]
    fn losses_that_wait_for_reopen_are_losses_to_who_does_not_know_of_it() {
        let end = |losses, awaits_reopen| End {
            followers: MemberSet::EMPTY,
            clean: false,
            losses,
            awaits_reopen,
        };
        assert_eq!(bytes_of(end(4, true)), [0, 4, 0, 0, 0x80]);
        let read = End::get(&mut Reader::new(&[0, 5, 0, 0, 0x80], 0, "a value"));
        let read = read.expect("one more loss");
        assert_eq!((read.losses, read.awaits_reopen), (5, true));
        assert_eq!(bytes_of(end(5, false)), [0, 5, 0, 0, 0]);
    }

    #[test]
    fn no_two_encodings_say_the_same() {
        let read = |bytes: &[u8]| End::get(&mut Reader::new(bytes, 0, "a value"));
        assert!(read(&[2, 0, 0, 0, 0, 4, 0, 0, 0]).is_err(), "followers, and nobody");
        assert!(read(&[4, 4, 0, 0, 0]).is_err(), "an unknown bit");
        let end = read(&[2, 1, 0, 0, 0, 4, 0, 0, 0]).expect("node 0 follows");
        assert_eq!((end.followers, end.clean, end.losses), (MemberSet(1), false, 4));
    }
}
