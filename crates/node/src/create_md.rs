//! `create-md`: fresh metadata on a backing disk, and refusal to destroy what is not ours to lose.
//!
//! The disk is opened as the daemon opens it, exclusively, so a disk in use cannot be formatted.
//! What is on it decides next: someone's file system, or metadata of any resource, needs
//! [`Overwrite::Force`]. The order of writes lets a crash leave the disk either as it was, or
//! without valid metadata, or done: both superblocks are erased first, then the areas that they
//! would describe, then the superblocks are written; each step is durable before the next begins.
//!
//! A replica made here is Blank: it has no data that anybody may read until a member of the
//! resource copies it full, or the operator declares it the origin. The data area is not touched.

mod error;
mod disk;

use std::fmt;
use std::path::{Path, PathBuf};

use engine::definition::resource_id;
use format::activity_log::{AL_FIRST_NUMBER, AL_RECORD_BYTES, format_ring};
use format::ids::{Branch, Epoch, Incarnation, KernelBootId, MemberSet, NodeId};
pub use format::layout::LANES_DEFAULT;
use format::layout::{AL_RING_BYTES, Layout, LayoutError, PAGE_BYTES, Placement, SLOTS_DEFAULT};
use format::metadata::{
    AL_RINGS, Content, FurtherDisk, ReplicaState, Sealed, Slot, Superblock, VoteStamp,
};
use format::space::Place;
use format::superblock::{SUPERBLOCK_BYTES, encode_superblock};

use crate::attach::identity::has_history;
pub(crate) use crate::create_md::disk::{Disk, OldSuperblock};
pub use crate::create_md::error::CreateMdError;
use crate::state_dir::disk_size_in;

#[derive(Clone, Debug)]
pub struct CreateMdOptions {
    /// A block device, or a file of its final size.
    pub disk: PathBuf,
    /// Where to keep metadata, if not at the end of the disk itself.
    pub metadata_disk: Option<PathBuf>,
    pub resource_name: String,
    pub volume: u16,
    /// Of a volume behind the first: the disk of the first, which is made before.
    pub first: Option<FirstDisk>,
    pub node_id: u8,
    /// The node ids of all members of the resource, this node's included.
    pub member_ids: Vec<u8>,
    /// What the volume is to have; `None`: all that the disk can hold.
    pub size_bytes: Option<u64>,
    /// Room for so many peers, if that is more than there are now.
    pub peers_max: Option<u8>,
    /// What the disk of the metadata had when it was in use last, where a node noted it: on one
    /// that grew the metadata in use is there. See [`former_size`].
    pub former_bytes: Option<u64>,
    pub overwrite: Overwrite,
}

#[cfg(test)]
impl CreateMdOptions {
    /// Of the only volume and the only member of `r0`, on disks that are empty.
    pub(crate) fn of_r0(disk: PathBuf, metadata_disk: Option<PathBuf>) -> Self {
        Self {
            disk,
            metadata_disk,
            resource_name: "r0".to_owned(),
            volume: 0,
            first: None,
            node_id: 0,
            member_ids: vec![0],
            size_bytes: None,
            peers_max: None,
            former_bytes: None,
            overwrite: Overwrite::Refuse,
        }
    }
}

/// Where the first volume of a resource with several is.
#[derive(Clone, Debug)]
pub struct FirstDisk {
    pub disk: PathBuf,
    pub metadata_disk: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Only an empty disk is formatted.
    Refuse,
    /// What is on the disk is lost.
    Force,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateMdReport {
    pub disk: PathBuf,
    pub data_bytes: u64,
    pub metadata_bytes: u64,
    pub slots: u8,
    pub incarnation: Incarnation,
    /// What was there, if `Overwrite::Force` was needed.
    pub overwritten: Option<String>,
}

/// Writes fresh metadata.
///
/// # Errors
/// If the disk is not there, in use, too small, or holds something that may not be lost; and if
/// it fails.
pub fn create_md(options: &CreateMdOptions) -> Result<CreateMdReport, CreateMdError> {
    let (node, members) = members(options.node_id, &options.member_ids)?;
    let disks = Disks::open(options)?;
    let first = options.first.as_ref().map(|first| replica_of(first, options)).transpose()?;
    let slots_min = first.map_or(0, |first| first.slots);
    let layout = disks.layout(slots(options.peers_max, members).max(slots_min))?;
    let size_bytes = size_within(options, layout.data_bytes)?;
    let metadata_disk = disks.of_metadata();

    let mut old_superblocks = metadata_disk.superblocks(disks.placement())?;
    // Left where it is, it would be found beside the new one, and nothing would say which counts.
    old_superblocks.extend(disks.former_superblocks(options.former_bytes)?);
    let found = disks.content(&old_superblocks)?;
    if let (Some((disk, what)), Overwrite::Refuse) = (&found, options.overwrite) {
        return Err(CreateMdError::Occupied { disk: disk.clone(), what: what.clone() });
    }

    let incarnation = Incarnation(io::random_u128());
    let identity = Identity {
        resource_name: &options.resource_name,
        volume: options.volume,
        node,
        members,
        incarnation,
        size_bytes,
        further: first.iter().map(|first| first.disk).collect(),
        clean: first.is_none_or(|first| first.has_data),
    };
    let block = blank_block(&identity, &layout)?;
    for old in &old_superblocks {
        metadata_disk.erase(old.offset_bytes..old.offset_bytes + PAGE_BYTES)?;
    }
    metadata_disk.sync()?;
    if first.is_some_and(|first| first.has_data) {
        // What is added to replicas that are in use is equal on all of them from the start.
        disks.data.erase(0..layout.data_bytes)?;
        disks.data.sync()?;
    }
    write_metadata(metadata_disk, &layout, incarnation, &block)?;

    let [first, last] = layout.superblock_offsets;
    Ok(CreateMdReport {
        disk: metadata_disk.path.clone(),
        data_bytes: size_bytes,
        metadata_bytes: last + PAGE_BYTES - first,
        slots: layout.slots,
        incarnation,
        overwritten: found.map(|(_, what)| what),
    })
}

/// What is asked for, in whole blocks; the volume can grow to what the disk holds later.
fn size_within(options: &CreateMdOptions, data_bytes: u64) -> Result<u64, CreateMdError> {
    let wanted = options.size_bytes.map_or(data_bytes, |it| it.next_multiple_of(PAGE_BYTES));
    if wanted > data_bytes {
        let disk = options.disk.clone();
        let (size_bytes, needed_bytes) = (data_bytes, wanted);
        return Err(CreateMdError::TooSmall { disk, size_bytes, needed_bytes });
    }
    Ok(wanted)
}

/// Why a further volume cannot belong to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    Number,
    NoMetadata,
    /// It had a volume of this number.
    HasData,
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "15 is the last number",
            Self::NoMetadata => "that has no metadata yet",
            Self::HasData => "it has data, and a replica is made anew as a whole",
        })
    }
}

/// The replica that a further volume is to belong to.
#[derive(Clone, Copy)]
struct OfReplica {
    disk: FurtherDisk,
    /// It has data that counts, and never had this volume.
    has_data: bool,
    /// Its volumes have room for as many members, at least.
    slots: u8,
}

fn replica_of(first: &FirstDisk, options: &CreateMdOptions) -> Result<OfReplica, CreateMdError> {
    let CreateMdOptions { volume, resource_name, .. } = options;
    let refused = |reason| CreateMdError::OfReplica {
        volume: *volume,
        disk: first.disk.clone(),
        resource: resource_name.clone(),
        reason,
    };
    let place = Place::new(*volume).map_err(|_number| refused(WhyNot::Number))?;
    // The daemon may have it in use: then `adjust` gives it the new one.
    let data = Disk::open_to_read(&first.disk)?;
    let metadata = first.metadata_disk.as_deref().map(Disk::open_to_read).transpose()?;
    let disks = Disks { data, metadata };
    let disk = disks.of_metadata();
    let all = disk.superblocks(disks.placement())?;
    disk.refuse_newer(&all)?;
    // One that is being written just now is no good, and the other one is.
    let own = all.into_iter().filter_map(|old| old.superblock);
    let own = own.filter(|(it, _)| it.resource == resource_id(resource_name) && it.volume == 0);
    let newest = own.max_by_key(|(superblock, _)| superblock.write_counter);
    let (newest, layout) = newest.ok_or_else(|| refused(WhyNot::NoMetadata))?;
    let has_data = has_history(&newest);
    if has_data && newest.further.iter().any(|disk| disk.place == place) {
        return Err(refused(WhyNot::HasData));
    }
    let Superblock { incarnation, size_bytes, .. } = newest;
    let content = Content::OfHistory;
    let disk = FurtherDisk { place: Place::FIRST, incarnation, size_bytes, content };
    Ok(OfReplica { disk, has_data, slots: layout.slots })
}

/// Writes empty areas, and then the superblocks that describe them.
pub(crate) fn write_metadata(
    disk: &Disk,
    layout: &Layout,
    incarnation: Incarnation,
    block: &[u8; SUPERBLOCK_BYTES],
) -> Result<(), CreateMdError> {
    let [first, last] = layout.superblock_offsets;
    disk.erase(first..last + PAGE_BYTES)?;
    // An activity log without its first record counts as damaged: everything could differ.
    let mut records = vec![0; usize::try_from(AL_RING_BYTES).expect("128 KiB")];
    for ring in 0..u8::try_from(AL_RINGS).expect("16 rings") {
        format_ring(ring, incarnation, &mut records);
        // The rest of the ring reads as zeroes already, and a sparse disk stays sparse.
        let offset = layout.al_record_offset(ring, AL_FIRST_NUMBER);
        let start = usize::try_from(offset - layout.al_ring_offset(ring)).expect("in a ring");
        let record = &records[start..start + AL_RECORD_BYTES];
        disk.write(offset, record)?;
    }
    disk.sync()?;
    disk.write(first, block)?;
    disk.write(last, block)?;
    disk.sync()
}

/// This node and all members, checked.
pub(crate) fn members(
    node_id: u8,
    member_ids: &[u8],
) -> Result<(NodeId, MemberSet), CreateMdError> {
    let checked = |node_id| {
        NodeId::new(node_id).ok_or(CreateMdError::Member { node_id, reason: "it is above 31" })
    };
    let own = checked(node_id)?;
    let members: MemberSet = member_ids.iter().copied().map(checked).collect::<Result<_, _>>()?;
    if !members.has(own) {
        let reason = "the list of members lacks this node itself";
        return Err(CreateMdError::Member { node_id, reason });
    }
    Ok((own, members))
}

/// Bitmap slots to make room for: of the members, of the wanted peers and this node itself, or,
/// where no number is wanted, of as many as a resource usually grows to.
pub(crate) fn slots(peers_max: Option<u8>, members: MemberSet) -> u8 {
    let present = u8::try_from(members.len()).expect("a set of node ids below 32");
    let wanted = peers_max.map_or(SLOTS_DEFAULT, |peers| peers.saturating_add(1));
    present.max(wanted)
}

/// Whose replica a new one is.
pub(crate) struct Identity<'a> {
    pub(crate) resource_name: &'a str,
    pub(crate) volume: u16,
    pub(crate) node: NodeId,
    pub(crate) members: MemberSet,
    pub(crate) incarnation: Incarnation,
    pub(crate) size_bytes: u64,
    pub(crate) further: Vec<FurtherDisk>,
    /// Of a volume behind the first: its blocks are zeroes.
    pub(crate) clean: bool,
}

/// The superblock of a replica without data that counts.
pub(crate) fn blank_block(
    identity: &Identity<'_>,
    layout: &Layout,
) -> Result<[u8; SUPERBLOCK_BYTES], CreateMdError> {
    let mut block = [0; SUPERBLOCK_BYTES];
    let written = encode_superblock(&blank(identity, layout), layout, &mut block);
    let name = || identity.resource_name.to_owned();
    written.map_err(|source| CreateMdError::Name { name: name(), source })?;
    Ok(block)
}

/// Its slots belong to the members in order of their node ids; nothing is marked in them, for a
/// Blank replica is copied full.
fn blank(identity: &Identity<'_>, layout: &Layout) -> Superblock {
    let slot = |member| Slot {
        member,
        base_epoch: Epoch::default(),
        base_incarnation: Incarnation::default(),
        in_use: false,
    };
    Superblock {
        resource: resource_id(identity.resource_name),
        resource_name: identity.resource_name.to_owned(),
        volume: identity.volume,
        node: identity.node,
        branch: Branch::default(),
        incarnation: identity.incarnation,
        sealed: Sealed::default(),
        joined: Epoch::default(),
        candidate: None,
        state: ReplicaState::Blank,
        kernel_boot_id: KernelBootId::default(),
        size_bytes: identity.size_bytes,
        lanes: layout.lanes,
        write_counter: 1,
        clean: identity.clean,
        vote_stamp: VoteStamp::default(),
        vote: None,
        log: None,
        slots: identity.members.iter().map(slot).collect(),
        further: identity.further.clone(),
    }
}

/// Where metadata is, on its own disk or on that of the data.
pub(crate) fn placement(data: &Disk, metadata: Option<&Disk>) -> Placement {
    match metadata {
        None => Placement::Internal { device_bytes: data.size_bytes },
        Some(metadata) => Placement::External {
            data_device_bytes: data.size_bytes,
            metadata_device_bytes: metadata.size_bytes,
        },
    }
}

/// Of a disk that had another size: superblocks in use there, on one that grew since; and those of
/// a newer release, of which nobody knows.
pub(crate) fn former_superblocks(
    data: &Disk,
    metadata: Option<&Disk>,
    former_bytes: Option<u64>,
) -> Result<Vec<OldSuperblock>, CreateMdError> {
    let disk = metadata.unwrap_or(data);
    let Some(device_bytes) = former_bytes.filter(|&former| former < disk.size_bytes) else {
        return Ok(Vec::new());
    };
    let placement = match metadata {
        None => Placement::Internal { device_bytes },
        Some(_) => Placement::External {
            data_device_bytes: data.size_bytes,
            metadata_device_bytes: device_bytes,
        },
    };
    let mut found = disk.superblocks(placement)?;
    found.retain(|old| old.is_in_place || old.newer.is_some());
    let where_it_ended = |old: OldSuperblock| {
        let what = format!("{}, where it ended when it had {device_bytes} bytes", old.what);
        OldSuperblock { what, ..old }
    };
    Ok(found.into_iter().map(where_it_ended).collect())
}

/// What the disk of a volume's metadata had when it was in use last, as the state directory of a
/// daemon says, if it can be read. Nobody has to hold it for that. `further` is the number of a
/// volume behind the first; the first one, whatever its number is, has none.
#[must_use]
pub fn former_size(state_dir: &Path, resource: &str, further: Option<u16>) -> Option<u64> {
    let place = further.map_or(Ok(Place::FIRST), Place::new).ok()?;
    disk_size_in(state_dir, (resource, place))
}

/// The disk of the data, and that of the metadata where it is another.
struct Disks {
    data: Disk,
    metadata: Option<Disk>,
}

impl Disks {
    fn open(options: &CreateMdOptions) -> Result<Self, CreateMdError> {
        let data = Disk::open(&options.disk)?;
        let metadata = options.metadata_disk.as_deref().map(Disk::open).transpose()?;
        Ok(Self { data, metadata })
    }

    fn of_metadata(&self) -> &Disk {
        self.metadata.as_ref().unwrap_or(&self.data)
    }

    fn placement(&self) -> Placement {
        placement(&self.data, self.metadata.as_ref())
    }

    /// On a disk that grew, what is where it ended.
    fn former_superblocks(
        &self,
        former_bytes: Option<u64>,
    ) -> Result<Vec<OldSuperblock>, CreateMdError> {
        former_superblocks(&self.data, self.metadata.as_ref(), former_bytes)
    }

    fn layout(&self, slots: u8) -> Result<Layout, CreateMdError> {
        let disk = self.of_metadata().path.clone();
        Layout::new(self.placement(), slots, LANES_DEFAULT).map_err(|source| match source {
            LayoutError::TooSmall { size_bytes, needed_bytes } => {
                CreateMdError::TooSmall { disk, size_bytes, needed_bytes }
            }
            LayoutError::TooLarge { .. }
            | LayoutError::Slots { .. }
            | LayoutError::Lanes { .. } => CreateMdError::Layout { disk, source },
        })
    }

    /// What must not be lost, and on which disk it is.
    fn content(
        &self,
        old_superblocks: &[OldSuperblock],
    ) -> Result<Option<(PathBuf, String)>, CreateMdError> {
        if let Some(old) = old_superblocks.first() {
            return Ok(Some((self.of_metadata().path.clone(), old.what.clone())));
        }
        for disk in std::iter::once(&self.data).chain(&self.metadata) {
            if let Some(what) = disk.foreign()? {
                return Ok(Some((disk.path.clone(), what.to_owned())));
            }
        }
        Ok(None)
    }
}
