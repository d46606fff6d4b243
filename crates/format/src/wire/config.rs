//! The config value, as it stands in messages and in the register.

use crate::config::{
    ANCESTORS_MAX, Ancestor, Config, InSync, Primary, Purpose, Tenure, VolumeConfig, Voter,
};
use crate::error::DecodeError;
use crate::ids::NODES_MAX;
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

record!(Config {
    resource,
    branch,
    ancestors,
    epoch,
    value_id,
    previous,
    primary,
    tenure,
    volumes,
    voters,
    voters_old,
    members,
    by_receipt,
    followers,
    clean,
    losses,
});
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
