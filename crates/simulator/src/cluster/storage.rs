//! What nodes ask of their disks, and when it is done.

use std::time::Duration;

use format::ids::{
    BLOCK_BYTES, BlockMask, BlockRange, Branch, EXTENT_BLOCKS, Epoch, Incarnation, KernelBootId,
    NodeId, Nonce, ResourceId, VoteStoreId,
};
use format::metadata::{
    Content, FurtherDisk, Register, ReplicaState, Sealed, Slot, Superblock, VoteStamp,
};
use format::space::Place;
use replication::contract::{
    CommandId, DeviceError, DeviceResult, GroupInput, MetadataWrite, ResourceInput, RoundId,
    ToGroup,
};
use replication::limits;
use stdx::random::Random;

use crate::cluster::{Cluster, ClusterOptions, DiskImage, Event, Way, digests_of};
use crate::disk::Disk;
use crate::process::{Outstanding, group_disks};

impl Cluster {
    pub(super) fn ask_disk(&mut self, node: usize, outstanding: Outstanding) {
        let id = self.next_io;
        self.next_io += 1;
        let Some(process) = self.processes[node].as_mut() else { return };
        let boot = process.boot_id;
        let outstanding = outstanding.checked(&process.reaches_disk);
        if outstanding.is_synchronous() && std::mem::take(&mut self.bad[node].forgets) {
            self.disks[node].forget_cache();
            process.doomed.insert(id);
        }
        process.outstanding.insert(id, outstanding);
        let slow = self.slow[node];
        let extra = match &process.outstanding[&id] {
            Outstanding::Save { .. } => slow.save,
            Outstanding::Flush { .. } => slow.flush,
            Outstanding::Write { .. } => slow.write,
            Outstanding::Metadata { .. } => slow.metadata,
            Outstanding::Read { .. } | Outstanding::Digest { .. } => slow.read,
            Outstanding::Hash { .. } | Outstanding::Refused { .. } => Duration::ZERO,
        };
        let micros = Duration::from_micros(5 + self.random.below(300));
        self.schedule(micros + extra, Event::Disk { node, boot, id });
    }

    pub(super) fn disk_done(&mut self, node: usize, id: u64) {
        let Some(process) = self.processes[node].as_mut() else { return };
        let Some(outstanding) = process.outstanding.remove(&id) else { return };
        if matches!(outstanding, Outstanding::Save { register: Some(_), .. })
            && std::mem::take(&mut self.bad[node].register)
        {
            return self.fail_register(node, outstanding);
        }
        if process.doomed.remove(&id) || self.fails(node, &outstanding) {
            return self.fail(node, outstanding);
        }
        self.apply_to_disk(node, &outstanding);
        match outstanding {
            Outstanding::Save { save, .. } => {
                self.step_resource(node, ResourceInput::Saved { save });
            }
            Outstanding::Read { shard, token, range, detect_zero } => {
                let disk = &self.disks[node];
                let values: Vec<u64> = range.blocks().map(|block| disk.read(block)).collect();
                let zeroes = if detect_zero { zero_blocks(&values) } else { BlockMask::EMPTY };
                let Some(payload) = self.payload(node, values) else { return };
                let result = Ok(DeviceResult::Read { payload, zeroes });
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
            Outstanding::Digest { shard, token, range } => {
                let disk = &self.disks[node];
                let values: Vec<u64> = range.blocks().map(|block| disk.read(block)).collect();
                let result = Ok(DeviceResult::Digests(digests_of(&values)));
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
            Outstanding::Hash { shard, token, digests } => {
                let result = Ok(DeviceResult::Digests(digests));
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
            Outstanding::Refused { shard, token } => {
                let result = Err(DeviceError);
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
            Outstanding::Write { shard, token, .. }
            | Outstanding::Flush { shard, token, .. }
            | Outstanding::Metadata { shard, token, .. } => {
                let result = Ok(DeviceResult::Done);
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
        }
    }

    /// Whether the disk does not do this; it fails each kind once.
    fn fails(&mut self, node: usize, outstanding: &Outstanding) -> bool {
        let bad = &mut self.bad[node];
        let holds = |range: &BlockRange| {
            bad.unreadable.is_some_and(|block| range.contains(BlockRange::new(block, 1)))
        };
        std::mem::take(match outstanding {
            Outstanding::Read { range, .. } | Outstanding::Digest { range, .. } if holds(range) => {
                return true;
            }
            Outstanding::Read { .. } | Outstanding::Digest { .. } => &mut bad.read,
            Outstanding::Write { range, .. } => {
                if holds(range) {
                    bad.unreadable = None;
                }
                &mut bad.write
            }
            Outstanding::Flush { .. } => &mut bad.flush,
            Outstanding::Metadata { .. } => &mut bad.metadata,
            Outstanding::Save { superblock: Some(_), .. } => &mut bad.save,
            Outstanding::Save { superblock: None, .. }
            | Outstanding::Hash { .. }
            | Outstanding::Refused { .. } => {
                return false;
            }
        })
    }

    /// The write of the register may have happened all the same.
    fn fail_register(&mut self, node: usize, outstanding: Outstanding) {
        self.trace(|| format!("n{node} fails the register of {outstanding:?}"));
        let Outstanding::Save { save, register, .. } = outstanding else { return };
        if self.random.chance(1, 2) {
            self.apply_to_disk(node, &Outstanding::Save { save, register, superblock: None });
        }
        if let Some(process) = self.processes[node].as_mut() {
            process.register_failed = true;
        }
        self.step_resource(node, ResourceInput::RegisterFailed { save });
    }

    fn fail(&mut self, node: usize, outstanding: Outstanding) {
        self.trace(|| format!("n{node} fails {outstanding:?}"));
        match outstanding {
            Outstanding::Save { save, register, .. } => {
                // The register goes first.
                let half = Outstanding::Save { save, register, superblock: None };
                self.apply_to_disk(node, &half);
                self.step_resource(node, ResourceInput::SaveFailed { save });
            }
            Outstanding::Read { shard, token, .. }
            | Outstanding::Digest { shard, token, .. }
            | Outstanding::Hash { shard, token, .. }
            | Outstanding::Write { shard, token, .. }
            | Outstanding::Flush { shard, token, .. }
            | Outstanding::Refused { shard, token }
            | Outstanding::Metadata { shard, token, .. } => {
                self.abandon(node, outstanding);
                let result = Err(DeviceError);
                self.step_group(node, shard, GroupInput::Device { token, result });
            }
        }
    }

    /// Whether the voter of `node` says nothing more until it is started again.
    #[must_use]
    pub fn is_mute(&self, node: usize) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.register_failed)
    }

    /// Of what the node's disk was asked to write, and has not, nothing happens when the process
    /// dies.
    pub fn lose_what_is_written(&mut self, node: usize) {
        if let Some(process) = self.processes[node].as_mut() {
            process.outstanding.retain(|_, it| !matches!(it, Outstanding::Write { .. }));
        }
    }

    /// Nobody hears what became of it: it happens, or not, or in part.
    pub(super) fn abandon(&mut self, node: usize, outstanding: Outstanding) {
        match self.random.below(3) {
            0 => {}
            1 => self.apply_to_disk(node, &outstanding),
            _ => match outstanding {
                Outstanding::Write { range, values, .. } => {
                    for (block, new) in range.blocks().zip(values) {
                        let Some(new) = new else { continue };
                        let disk = &mut self.disks[node];
                        let random = &mut self.random;
                        let left =
                            self.contents.torn(disk.read(block), new, || random.chance(1, 2));
                        disk.write(block, left);
                    }
                }
                Outstanding::Flush { mut snapshot, .. } => {
                    snapshot.blocks.retain(|_| self.random.chance(1, 2));
                    self.disks[node].finish_flush(&snapshot);
                }
                Outstanding::Save { save, register, .. } => {
                    let half = Outstanding::Save { save, register, superblock: None };
                    self.apply_to_disk(node, &half);
                }
                // A torn page or record is found by its checksum, and the old one is used.
                Outstanding::Read { .. }
                | Outstanding::Digest { .. }
                | Outstanding::Hash { .. }
                | Outstanding::Refused { .. }
                | Outstanding::Metadata { .. } => {}
            },
        }
    }

    pub(super) fn apply_to_disk(&mut self, node: usize, outstanding: &Outstanding) {
        let disk = &mut self.disks[node];
        disk.event = self.events_done;
        match outstanding {
            Outstanding::Read { .. }
            | Outstanding::Digest { .. }
            | Outstanding::Hash { .. }
            | Outstanding::Refused { .. } => {}
            Outstanding::Write { range, values, fua, .. } => {
                let bad = &mut self.bad[node];
                for (block, value) in range.blocks().zip(values) {
                    if let Some(wrong) = bad.misplaces.take_if(|it| it.block == block) {
                        self.spoiled.extend([block].into_iter().chain(wrong.to));
                        disk.write(block, disk.read(block));
                        if let (Some(value), Some(to)) = (value, wrong.to) {
                            disk.write(to, *value);
                        }
                        continue;
                    }
                    match (value, fua) {
                        (Some(value), true) => disk.write_durably(block, *value),
                        (Some(value), false) => disk.write(block, *value),
                        (None, _) => {}
                    }
                }
            }
            Outstanding::Flush { snapshot, .. } => disk.finish_flush(snapshot),
            Outstanding::Metadata { write, .. } => match write.as_ref() {
                MetadataWrite::Activity(record) => disk.log(record),
                MetadataWrite::Bitmap { member, lane, page, bits } => {
                    disk.paged = true;
                    disk.pages.insert((*member, *lane, *page), bits.clone());
                }
            },
            Outstanding::Save { register, superblock, .. } => {
                self.changes.saved = true;
                if let Some(register) = register {
                    disk.register = register.as_ref().clone();
                }
                if let Some(superblock) = superblock {
                    disk.set_superblock(superblock);
                }
            }
        }
    }

    /// Offers a node the disk that it gave up; false while something is under way on it.
    pub fn attach(&mut self, node: usize, id: CommandId) -> bool {
        let is_diskful = self.options.is_diskful(Self::node_id(node));
        let Some(process) = self.processes[node].as_mut().filter(|_| is_diskful) else {
            return false;
        };
        let is_over = |outstanding: &Outstanding| match outstanding {
            Outstanding::Save { superblock, .. } => superblock.is_none(),
            Outstanding::Read { .. }
            | Outstanding::Digest { .. }
            | Outstanding::Hash { .. }
            | Outstanding::Write { .. }
            | Outstanding::Flush { .. }
            | Outstanding::Metadata { .. }
            | Outstanding::Refused { .. } => false,
        };
        if process.disk_open || !process.outstanding.values().all(is_over) {
            return false;
        }
        let disk = &mut self.disks[node];
        let shards = u8::try_from(process.groups.len()).expect("few shards");
        process.offered = group_disks(disk, shards);
        disk.paged = true;
        self.changes.of_life(Self::node_id(node));
        let superblock = Box::new(disk.superblock.clone());
        self.forget_permit(node);
        self.trace(|| format!("n{node} is offered its disk"));
        let slots_max = self.options.slots_max(Self::node_id(node));
        self.step_resource(node, ResourceInput::Attach { id, superblock, slots_max });
        true
    }

    /// Gives a node the disk of one more volume, as `create-md` makes it beside those that it has.
    pub fn add_disk(&mut self, node: usize, id: CommandId, place: Place) {
        let superblock = &self.disks[node].superblock;
        let is_known = superblock.further.iter().any(|known| known.place == place);
        if is_known || !self.options.is_diskful(Self::node_id(node)) {
            return;
        }
        let has_data = superblock.state != ReplicaState::Blank || superblock.joined != Epoch(0);
        let disk = FurtherDisk {
            place,
            incarnation: superblock.incarnation,
            size_bytes: self.options.space.bytes_at(place),
            content: if has_data { Content::Zeroes } else { Content::Unknown },
        };
        self.trace(|| format!("n{node} gets {disk:?}"));
        match &self.processes[node] {
            None => self.disks[node].superblock.further.push(disk),
            Some(process) if process.disk_open => {
                self.step_resource(node, ResourceInput::AddDisk { id, disk });
            }
            Some(_) => {}
        }
    }

    /// Makes room on a disk, as far as its backing goes.
    pub(super) fn enlarge(&mut self, node: usize, place: Place, wanted: u64) {
        let Some(process) = &self.processes[node] else { return };
        let space = &self.options.space;
        let spare = self.backing[node] - space.bytes_at(Place::FIRST);
        let (boot, has) = (process.boot_id, space.bytes_at(place) + spare);
        let size_bytes = if wanted <= has { has } else { 0 };
        let delay = Duration::from_micros(50 + self.random.below(20_000));
        self.trace(|| format!("n{node} makes room for {wanted} at {place:?}, its disk has {has}"));
        self.schedule(delay, Event::Enlarged { node, boot, place, size_bytes });
    }

    /// A disk does not hold what was written there any more.
    pub fn spoil(&mut self, node: usize, block: u64, value: u64) {
        self.spoiled.insert(block);
        self.disks[node].write_durably(block, value);
    }

    #[must_use]
    pub fn has_open_disk(&self, node: usize) -> bool {
        self.processes[node].as_ref().is_some_and(|process| process.disk_open)
    }

    /// What the disk of `node` was asked to write to `block`, and has not.
    pub(crate) fn writes_under_way(&self, node: usize, block: u64) -> Vec<u64> {
        let Some(process) = self.processes[node].as_ref() else { return Vec::new() };
        let of_block = |outstanding: &Outstanding| match outstanding {
            Outstanding::Write { range, values, .. } => {
                let place = usize::try_from(block.checked_sub(range.start)?).ok()?;
                values.get(place).copied().flatten()
            }
            Outstanding::Save { .. }
            | Outstanding::Read { .. }
            | Outstanding::Digest { .. }
            | Outstanding::Hash { .. }
            | Outstanding::Flush { .. }
            | Outstanding::Metadata { .. }
            | Outstanding::Refused { .. } => None,
        };
        process.outstanding.values().filter_map(of_block).collect()
    }

    /// A copy of all that is on a node's disk.
    #[must_use]
    pub fn disk_image(&self, node: usize) -> DiskImage {
        DiskImage(self.disks[node].clone())
    }

    /// Puts an older content on the disk; the register is elsewhere.
    pub fn put_disk_image(&mut self, node: usize, DiskImage(mut image): DiskImage) {
        image.register = self.disks[node].register.clone();
        self.disks[node] = image;
        self.disks_put_back.insert(Self::node_id(node));
        self.changes.of_life(Self::node_id(node));
    }

    /// Puts the register back as it was when the image was made; the disk stays.
    pub fn put_register_back(&mut self, node: usize, DiskImage(image): &DiskImage) {
        self.disks[node].register = image.register.clone();
        self.registers_put_back.insert(node, image.register.store);
        self.changes.of_life(Self::node_id(node));
    }

    pub(super) fn hand_out_disk(&mut self, node: usize, round: RoundId) {
        let Some(process) = self.processes[node].as_mut() else { return };
        let boot = process.boot_id;
        process.disk_open = true;
        for (shard, disk) in (0..).zip(std::mem::take(&mut process.offered)) {
            let message = Box::new(ToGroup::Attach { disk: Box::new(disk), round });
            let at = self.internal_delivery(node, shard, Way::ToGroup);
            self.schedule_at(at, Event::ToGroup { node, boot, shard, message });
        }
    }
}

fn zero_blocks(values: &[u64]) -> BlockMask {
    let zeroes = (0..).zip(values).filter(|&(_, &value)| value == 0);
    zeroes.fold(BlockMask::EMPTY, |mask, (place, _)| mask | BlockMask::of(place))
}

pub(super) fn new_disk(options: &ClusterOptions, node: NodeId, random: &mut Random) -> Disk {
    let incarnation = Incarnation(u128::from(random.next_u64()));
    let store = VoteStoreId(random.next_u64() | 1);
    let own = Slot {
        member: node,
        base_epoch: Epoch(0),
        base_incarnation: Incarnation(0),
        in_use: false,
    };
    let further = options.space.places().filter(|&place| place != Place::FIRST);
    let further = further.map(|place| FurtherDisk {
        place,
        incarnation,
        size_bytes: options.space.bytes_at(place),
        content: Content::Unknown,
    });
    let superblock = Superblock {
        resource: ResourceId(1),
        resource_name: "r0".to_owned(),
        volume: 0,
        node,
        branch: Branch(0),
        incarnation,
        sealed: Sealed::default(),
        joined: Epoch(0),
        candidate: None,
        state: ReplicaState::Blank,
        kernel_boot_id: KernelBootId(0),
        size_bytes: options.space.bytes_at(Place::FIRST),
        lanes: limits::LANES_DEFAULT,
        write_counter: 0,
        clean: true,
        vote_stamp: VoteStamp::default(),
        vote: None,
        log: None,
        slots: vec![own],
        further: further.collect(),
    };
    let register = Register {
        resource: ResourceId(1),
        store,
        promised: format::ids::Ballot::default(),
        promised_nonce: Nonce(0),
        accepted: None,
        write_counter: 0,
        disk_left_at: None,
    };
    let mut disk = Disk::new(superblock, register);
    // What a disk holds where no volume was is anything.
    let spare = options.spare_bytes / BLOCK_BYTES;
    for place in options.space.places() {
        let from = place.first_block() + options.space.blocks_at(place);
        for block in (from..from + spare).filter(|block| is_of_interest(*block)) {
            disk.write_durably(block, GARBAGE + u64::from(node.get()));
        }
    }
    disk.touched.clear();
    disk
}

/// What was there before is no write of a client.
pub(crate) const GARBAGE: u64 = 1 << 40;

/// At the ends of each extent.
fn is_of_interest(block: u64) -> bool {
    !(13..EXTENT_BLOCKS - 8).contains(&(block % EXTENT_BLOCKS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Quirks};
    use format::metadata::{AlChange, AlRecord};
    use format::space::Space;
    use replication::contract::{Demands, Readmission};

    fn disk() -> Disk {
        let options = ClusterOptions {
            seed: 1,
            nodes: 1,
            clients: 0,
            spares: 0,
            shards: vec![vec![1]],
            space: Space::of_one(20 * 1024),
            spare_bytes: 0,
            al_slots: 8,
            trace: false,
            trace_lane: None,
            reads: None,
            demands: Demands::default(),
            by_receipt: Vec::new(),
            followers: Vec::new(),
            readmission: Readmission::AtOnce,
            quirks: Quirks::default(),
        };
        new_disk(&options, Cluster::node_id(0), &mut Random::new(1))
    }

    #[test]
    fn a_flush_that_ends_late_takes_nothing_back() {
        let mut disk = disk();
        disk.write(7, 1);
        let early = disk.flush_snapshot();
        disk.write(7, 2);
        let late = disk.flush_snapshot();
        disk.write(7, 3);
        disk.finish_flush(&late);
        disk.finish_flush(&early);
        assert_eq!(disk.unflushed().collect::<Vec<_>>(), [(7, 2)]);
    }

    #[test]
    fn a_flush_that_began_before_a_durable_write_takes_nothing_back() {
        let mut disk = disk();
        disk.write(7, 1);
        let flush = disk.flush_snapshot();
        disk.write_durably(7, 2);
        disk.write(7, 3);
        disk.finish_flush(&flush);
        assert_eq!(disk.unflushed().collect::<Vec<_>>(), [(7, 2)]);
    }

    /// Room was made for an extent that did not come: the record says so in its context alone.
    #[test]
    fn what_the_context_of_a_record_drops_is_not_in_the_log() {
        let mut disk = disk();
        let change = |slot, extent| AlChange { slot, extent: Some(extent) };
        let record = |number, changes, context| AlRecord {
            ring: 0,
            number,
            changes,
            context_start: 0,
            context,
        };
        disk.log(&record(2, vec![change(0, 5), change(1, 15)], vec![Some(5), Some(15)]));
        disk.log(&record(3, vec![change(0, 6)], vec![Some(6), None]));
        assert_eq!(disk.activity.values().copied().collect::<Vec<_>>(), [6]);
        disk.replay_log();
    }
}
