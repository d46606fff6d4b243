//! Records on stable storage, without the blocks around them.

use crate::error::DecodeError;
use crate::ids::NODES_MAX;
use crate::layout::MetadataPlace;
use crate::metadata::{
    AL_SLOTS_MAX, Candidate, Content, FurtherDisk, Register, ReplicaState, Sealed, Slot,
    Superblock, VoteStamp,
};
use crate::space::VOLUMES_MAX;
use crate::wire::{ListItem, Reader, Wire, Writer, ids, record, tags};

record!(Candidate { epoch, value_id });
record!(Sealed { ballot, nonce });
record!(VoteStamp { store, promised, epoch, write_counter });
record!(FurtherDisk { place, incarnation, size_bytes, content });
record!(Slot { member, base_epoch, base_incarnation, in_use });
record!(Register {
    resource,
    store,
    promised,
    promised_nonce,
    accepted,
    write_counter,
    disk_left_at,
});
tags!(MetadataPlace { 0 Internal, 1 External });
tags!(Content { 0 Unknown, 1 Zeroes, 2 OfHistory });
tags!(ReplicaState { 0 Blank, 1 Syncing, 2 InSync, 3 Outdated, 4 Failed });

impl Wire for Superblock {
    fn put(&self, writer: &mut Writer<'_>) {
        let Self { resource, resource_name, volume, node, branch, incarnation, sealed, .. } = self;
        let Self { joined, candidate, state, kernel_boot_id, size_bytes, lanes, .. } = self;
        let Self { write_counter, clean, vote_stamp, slots, further, .. } = self;
        write_counter.put(writer);
        resource.put(writer);
        volume.put(writer);
        node.put(writer);
        lanes.put(writer);
        state.put(writer);
        clean.put(writer);
        size_bytes.put(writer);
        incarnation.put(writer);
        branch.put(writer);
        joined.put(writer);
        sealed.put(writer);
        kernel_boot_id.put(writer);
        vote_stamp.put(writer);
        candidate.put(writer);
        resource_name.put(writer);
        slots.put(writer);
        further.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            write_counter: reader.field("Superblock.write_counter")?,
            resource: reader.field("Superblock.resource")?,
            volume: reader.field("Superblock.volume")?,
            node: reader.field("Superblock.node")?,
            lanes: ids::get_lanes(reader)?,
            state: reader.field("Superblock.state")?,
            clean: reader.field("Superblock.clean")?,
            size_bytes: reader.field("Superblock.size_bytes")?,
            incarnation: reader.field("Superblock.incarnation")?,
            branch: reader.field("Superblock.branch")?,
            joined: reader.field("Superblock.joined")?,
            sealed: reader.field("Superblock.sealed")?,
            kernel_boot_id: reader.field("Superblock.kernel_boot_id")?,
            vote_stamp: reader.field("Superblock.vote_stamp")?,
            // These lie elsewhere in the block.
            log: None,
            vote: None,
            candidate: reader.field("Superblock.candidate")?,
            resource_name: reader.field("Superblock.resource_name")?,
            slots: reader.field("Superblock.slots")?,
            // Behind the record there are zeroes: where it ended here, there are none.
            further: reader.field("Superblock.further")?,
        })
    }
}

/// The ballot and the value that a voter accepted.
impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, writer: &mut Writer<'_>) {
        self.0.put(writer);
        self.1.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::get(reader)?, B::get(reader)?))
    }
}

impl ListItem for FurtherDisk {
    const COUNT_MAX: usize = VOLUMES_MAX - 1;
}
impl ListItem for Slot {
    const COUNT_MAX: usize = NODES_MAX as usize;
}

const _: () = assert!(AL_SLOTS_MAX <= u16::MAX as usize, "slots of a ring are numbered in 16 bits");
