//! Taking a replica and a vote store into use: reading them, and recovering after a crash.
//!
//! Runs on the control side with plain file calls, and opens the disks for the data threads at its
//! end (`opening`). After an unclean end the activity log names extents that may differ from what
//! the bitmaps say: they are marked in every slot, durably, then the log is emptied (PROTOCOL.md
//! 5.9). Nothing is said to a peer before that.

pub(crate) mod volumes;
pub(crate) mod finding;
pub(crate) mod identity;
pub(crate) mod opening;
mod advice;
mod error;
pub mod adopt;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io as stdio;
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;

use api::response::{Failure, FailureCode};
use engine::definition::{Definition, DiskPlace};
use engine::handover::{Apart, Attached, Replica};
use engine::log::{Scope, log};
use format::activity_log::{
    AL_FIRST_NUMBER, AL_RECORD_BYTES, ReplayError, RingReplay, format_ring, replay_ring,
};
use format::bitmap_page::{bits_of, bytes_of};
use format::error::{DecodeError, EncodeError};
use format::ids::{Incarnation, LaneIndex, MemberSet, NodeId, VoteStoreId};
use format::layout::{AL_BYTES, AL_RING_BYTES, Layout, PAGE_BYTES};
use format::metadata::{AL_RINGS, Register, Slot, Superblock};
use format::register::{
    REGISTER_FILE_BYTES, REGISTER_SLOT_BYTES, encode_register, newest_register,
    register_slot_offset,
};
use format::space::Place;
use format::superblock::SUPERBLOCK_BYTES;
use io::{DiskIdentity, SharedDisk, Uncached};
use replication::bitmap::Bitmap;
use replication::contract::LoadedPage;

use crate::attach::advice::cannot_open;
use crate::attach::error::AttachError;
use crate::attach::opening::{open_register, open_replica};
use crate::attach::volumes::Volumes;
use crate::disk_work::Claim;
use crate::error::is_full;
use crate::patience::{Patience, Steps};
use crate::sectors;
use crate::state_dir::{StateDir, sync_directory};

type Block = [u8; SUPERBLOCK_BYTES];

#[expect(clippy::cast_possible_truncation, reason = "128 KiB")]
const RING_BYTES: usize = AL_RING_BYTES as usize;

/// Bitmaps are read in pieces: that of a large volume does not fit in memory.
const CHUNK_BYTES: u64 = 1 << 20;

pub(crate) fn attach(
    definition: Definition,
    state: &StateDir,
    patience: &mut Patience,
) -> Result<Attached, Failure> {
    // A register that is no good is told of before a disk is read.
    read_register(&definition, state, patience)?;
    let place = definition.disk.as_ref();
    let replica =
        place.map(|place| read_replica(&definition, place, state, patience)).transpose()?;
    // Last: who waits for a disk does not keep the vote store from those who go on without it.
    let (register, register_disk) = hold_register(&definition, state, patience)?;
    if let Some(replica) = &replica
        && is_vote_missing(&register, &replica.superblock)
    {
        log!(
            Warning,
            Scope::resource(&definition.name),
            "the disk was in use with a vote that is not in the state directory {}: this node is a \
             new voter. If the former directory is still there (another `state-dir`, or a file \
             system that is not mounted), stop the daemon and start it with that one; if it is \
             gone, the other voters admit this node",
            state.path().display()
        );
    }
    Ok(Attached { definition, register, register_disk, replica, apart: Apart::NOBODY })
}

/// Whether this node voted with another store, as its disk knows, and with this one not yet.
fn is_vote_missing(register: &Register, superblock: &Superblock) -> bool {
    let former = superblock.vote_stamp.store;
    former != VoteStoreId::default() && former != register.store && register.accepted.is_none()
}

/// The vote store alone: the disk may come later.
pub(crate) fn attach_without_disk(
    definition: Definition,
    state: &StateDir,
    patience: &mut Patience,
) -> Result<Attached, Failure> {
    read_register(&definition, state, patience)?;
    let (register, register_disk) = hold_register(&definition, state, patience)?;
    Ok(Attached { definition, register, register_disk, replica: None, apart: Apart::NOBODY })
}

/// Whether it is the disk that is no good, for whatever reason. The vote store needs none.
pub(crate) fn is_about_disk(failure: &Failure) -> bool {
    matches!(
        failure.code,
        FailureCode::DiskFailed | FailureCode::NoMetadata | FailureCode::MetadataMismatch
    )
}

/// The vote store, for this process alone from here on, and what it holds: `adopt` may have had it
/// since it was looked at.
fn hold_register(
    definition: &Definition,
    state: &StateDir,
    patience: &mut Patience,
) -> Result<(Register, SharedDisk), Failure> {
    let (path, name) = (state.register_path(&definition.name), &definition.name);
    let disk = open_register(&path, name, patience)?;
    let bytes =
        std::fs::read(&path).map_err(|error| AttachError::register("read", &path, name, error))?;
    let register = newest_register(&bytes).map_err(|error| not_read(&path, name, error))?;
    Ok((register, disk))
}

fn not_read(path: &Path, name: &str, source: DecodeError) -> AttachError {
    let path = path.to_owned();
    match source {
        DecodeError::NewerVersion { .. } => AttachError::RegisterNewer { path, source },
        DecodeError::Truncated { .. }
        | DecodeError::WrongMagic { .. }
        | DecodeError::WrongChecksum { .. }
        | DecodeError::UnknownTag { .. }
        | DecodeError::OutOfRange { .. }
        | DecodeError::Trailing { .. } => {
            AttachError::RegisterDamaged { path, resource: name.to_owned(), source }
        }
    }
}

/// Reads the vote store, or makes a new one where none is: then the node is a new voter.
fn read_register(
    definition: &Definition,
    state: &StateDir,
    patience: &mut Patience,
) -> Result<Register, Failure> {
    let (path, name) = (&state.register_path(&definition.name), &definition.name);
    let failed = |what, error| AttachError::register(what, path, name, error);
    let fresh = || Register {
        resource: definition.id,
        store: VoteStoreId(io::random_u64()),
        promised: format::ids::Ballot::default(),
        promised_nonce: format::ids::Nonce::default(),
        accepted: None,
        write_counter: 0,
        disk_left_at: None,
    };
    let bytes = match read_locked(path, patience) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == stdio::ErrorKind::NotFound => {
            let register = fresh();
            write_register(&register, path).map_err(|error| failed("make", error))?;
            return Ok(register);
        }
        Err(error) => return Err(failed("read", error).into()),
    };
    match newest_register(&bytes) {
        Ok(register) if register.resource == definition.id => Ok(register),
        Ok(_) => {
            let (path, resource) = (path.clone(), name.clone());
            Err(AttachError::RegisterOfOther { path, resource }.into())
        }
        Err(error @ DecodeError::NewerVersion { .. }) => Err(not_read(path, name, error).into()),
        Err(error) => {
            let scope = Scope::resource(name);
            log!(Error, scope, "the config register is lost ({error}): this node is a new voter");
            let register = fresh();
            write_register(&register, path).map_err(|error| failed("make", error))?;
            Ok(register)
        }
    }
}

/// The content of a file that no other process has locked.
fn read_locked(path: &Path, patience: &mut Patience) -> stdio::Result<Vec<u8>> {
    lock_and_read(&File::open(path)?, patience)
}

fn lock_and_read(mut file: &File, patience: &mut Patience) -> stdio::Result<Vec<u8>> {
    patience.lock(file)?;
    let mut bytes = Vec::new();
    stdio::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

fn write_register(register: &Register, path: &Path) -> stdio::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    write_version(&file, register)?;
    sync_directory(path.parent().unwrap_or_else(|| Path::new(".")))
}

/// Into the slot of its number. The other one stays, or is empty. All of the file is written once:
/// a directory that is full must not keep a vote from being written later.
fn write_version(file: &File, register: &Register) -> stdio::Result<()> {
    let mut slot = vec![0; REGISTER_SLOT_BYTES];
    let place = slot.first_chunk_mut().expect("made as long as a slot");
    encode_register(register, place).map_err(stdio::Error::other)?;
    if file.metadata()?.len() < REGISTER_FILE_BYTES as u64 {
        file.write_all_at(&[0; REGISTER_FILE_BYTES], 0)?;
    }
    file.write_all_at(&slot, register_slot_offset(register.write_counter))?;
    file.sync_all()
}

/// What a disk may have lost whose flush failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Nothing,
    Anything,
}

/// A metadata device that is open for this thread.
pub(crate) struct Device<'a> {
    pub(crate) file: File,
    reads: Uncached,
    pub(crate) path: &'a Path,
    pub(crate) size_bytes: u64,
    steps: Steps,
    /// Without which nothing is read or written.
    claim: Option<&'a Claim>,
}

impl<'a> Device<'a> {
    fn open(path: &'a Path, patience: &mut Patience) -> Result<Self, Failure> {
        let failed = |error: stdio::Error| cannot_open(path, &error);
        let file = open_alone(path, patience).map_err(failed)?;
        Self::opened(path, file, patience.steps()).map_err(failed)
    }

    /// One that the data threads have open for this process alone.
    pub(crate) fn share(path: &'a Path) -> Result<Self, Failure> {
        let failed = |error: stdio::Error| cannot_open(path, &error);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        Self::opened(path, file, Steps::default()).map_err(failed)
    }

    fn opened(path: &'a Path, file: File, steps: Steps) -> stdio::Result<Self> {
        let size_bytes = stdio::Seek::seek(&mut &file, stdio::SeekFrom::End(0))?;
        let reads = Uncached::beside(&file, path)?;
        Ok(Self { file, reads, path, size_bytes, steps, claim: None })
    }

    /// The same, for work whose steps are watched.
    pub(crate) fn counted_by(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }

    /// The same, and nothing is done any more once the disk may be another's.
    pub(crate) fn under(self, claim: &'a Claim) -> Self {
        Self { steps: claim.steps(), claim: Some(claim), ..self }
    }

    pub(crate) fn identity(&self) -> Result<DiskIdentity, Failure> {
        DiskIdentity::of(&self.file).map_err(|error| self.failure("look at", error))
    }

    pub(crate) fn zero(&self, range: Range<u64>) -> Result<(), Failure> {
        let zeroes = vec![0; usize::try_from(CHUNK_BYTES).expect("1 MiB")];
        let mut at = range.start;
        while at < range.end {
            let length = usize::try_from((range.end - at).min(CHUNK_BYTES)).expect("1 MiB");
            self.write(at, &zeroes[..length])?;
            at += length as u64;
        }
        Ok(())
    }

    pub(crate) fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, Failure> {
        self.claim.map_or(Ok(()), Claim::check)?;
        let length = usize::try_from(length).expect("metadata is far smaller than memory");
        let bytes = sectors::read_whole(&self.reads, offset, length)
            .map_err(|error| self.failure("read", error))?;
        self.steps.add_one();
        Ok(bytes)
    }

    /// `None` where sectors of it cannot be read, also a while later: a write gives them back.
    pub(crate) fn read_unless_lost(
        &self,
        offset: u64,
        length: u64,
    ) -> Result<Option<Vec<u8>>, Failure> {
        for _ in 0..sectors::TRIES {
            if let Some(bytes) = self.try_to_read(offset, length)? {
                return Ok(Some(bytes));
            }
            // It is said of a path that is away for a moment, too.
            thread::park_timeout(sectors::REST);
        }
        Ok(None)
    }

    /// `None` where sectors of it cannot be read now.
    fn try_to_read(&self, offset: u64, length: u64) -> Result<Option<Vec<u8>>, Failure> {
        let length = usize::try_from(length).expect("far smaller than memory");
        let result = sectors::read_whole(&self.reads, offset, length);
        self.steps.add_one();
        match result {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if sectors::is_unreadable(&error) => Ok(None),
            Err(error) => Err(self.failure("read", error)),
        }
    }

    fn lost(&self) -> Failure {
        self.failure("read", stdio::Error::from_raw_os_error(libc::EIO))
    }

    /// Shows the blocks of `range` that are not in a hole of a file, with their offsets. Both ends
    /// of `range` are on whole blocks.
    pub(crate) fn read_data(
        &self,
        range: Range<u64>,
        mut look: impl FnMut(u64, &Block),
    ) -> Result<(), Failure> {
        let mut at = range.start;
        loop {
            let data = io::next_data(&self.file, at..range.end);
            let Some(data) = data.map_err(|error| self.failure("read", error))? else {
                return Ok(());
            };
            at = data.start - data.start % PAGE_BYTES;
            let end = data.end.next_multiple_of(PAGE_BYTES).min(range.end);
            while at < end {
                let bytes = self.read(at, CHUNK_BYTES.min(end - at))?;
                for block in bytes.as_chunks::<SUPERBLOCK_BYTES>().0 {
                    look(at, block);
                    at += PAGE_BYTES;
                }
            }
        }
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        self.claim.map_or(Ok(()), Claim::check)?;
        sectors::write(&self.file, offset, bytes).map_err(|error| self.failure("write", error))?;
        self.steps.add_one();
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<(), Failure> {
        self.flush().map_err(|(failure, _)| failure)
    }

    /// The same, and what the disk may have lost where it fails. That there is no room for what was
    /// written through this file says nothing of what others wrote.
    pub(crate) fn flush(&self) -> Result<(), (Failure, Lost)> {
        self.file.sync_data().map_err(|error| {
            let lost = if is_full(&error) { Lost::Nothing } else { Lost::Anything };
            (self.failure("write", error), lost)
        })?;
        self.steps.add_one();
        Ok(())
    }

    fn failure(&self, action: &'static str, source: stdio::Error) -> Failure {
        AttachError::Io { action, disk: self.path.to_owned(), source }.into()
    }

    fn not_encoded(&self, source: EncodeError) -> Failure {
        let path = self.path.to_owned();
        AttachError::Encode { part: "the metadata on", path, source }.into()
    }
}

/// Opens a disk that nobody else uses: a file by its lock, a block device by the kernel's claim,
/// which a mounted file system holds too.
fn open_alone(path: &Path, patience: &mut Patience) -> stdio::Result<File> {
    let is_block_device = std::fs::metadata(path)?.file_type().is_block_device();
    let flags = if is_block_device { libc::O_EXCL } else { 0 };
    let mut open = OpenOptions::new();
    open.read(true).write(true).custom_flags(flags);
    let file = loop {
        match open.open(path) {
            Err(error)
                if error.kind() == stdio::ErrorKind::ResourceBusy && patience.rest(&error) => {}
            result => break result?,
        }
    };
    patience.lock(&file)?;
    Ok(file)
}

/// Reads a replica, and recovers it after an unclean end.
pub(crate) fn read_replica(
    definition: &Definition,
    place: &DiskPlace,
    state: &StateDir,
    patience: &mut Patience,
) -> Result<Replica, Failure> {
    let former = |volume| state.disk_size((&definition.name, volume));
    let (volumes, mut superblock) = Volumes::open(definition, (place, former), patience)?;
    identity::check_data_disks(definition, &superblock, state)?;
    let (device, layout) = volumes.first();
    add_slots(&mut superblock, layout, definition);
    let mut pages = Vec::new();
    for (place, device, layout) in volumes.all() {
        read_pages(device, &superblock, (place, layout), &mut pages)?;
    }
    let Activity { active, newest, damaged } =
        read_activity(device, &superblock, layout, definition)?;
    let mut al_next_numbers = newest.map(|number| number + 1);
    // After a clean end every write is on all members, and what is still listed says nothing.
    if !superblock.clean && !active.is_empty() {
        mark_active(&volumes, &mut superblock, &mut pages, &active)?;
        al_next_numbers = [AL_FIRST_NUMBER + 1; AL_RINGS];
        let scope = Scope::resource(&definition.name);
        log!(Notice, scope, "unclean end: {} extents were active and are marked", active.len());
    } else if !damaged.is_empty() {
        // Its numbers begin anew: no record of higher ones is to be believed later.
        empty_rings(device, layout, superblock.log_incarnation(), damaged.iter().copied())?;
        for ring in damaged {
            al_next_numbers[usize::from(ring)] = AL_FIRST_NUMBER + 1;
        }
    }
    let mut has_lost_copy = false;
    for offset in layout.superblock_offsets {
        has_lost_copy |= device.read_unless_lost(offset, PAGE_BYTES)?.is_none();
    }
    if volumes.has_several() || has_lost_copy {
        // From here on a copy of an earlier day is known by its stamp; and one that cannot be read
        // is there again.
        volumes.write_superblock(&mut superblock)?;
    }
    let (layout, further) = (*layout, volumes.layouts());
    for &(place, layout) in further.iter().chain([&(Place::FIRST, layout)]) {
        if let Err(error) = state.store_disk_size((&definition.name, place), end_of(&layout)) {
            let scope = Scope::resource(&definition.name);
            log!(Warning, scope, "cannot note the size of a disk: {error}");
        }
    }
    // Nobody else may have it: the data threads least of all while it is open here.
    drop(volumes);
    let disk = open_replica(definition, &superblock, (layout, further), patience)?;
    Ok(Replica { superblock, disk, pages, al_next_numbers })
}

/// Behind the last superblock: of internal metadata, the size of the disk that it was made for.
pub(crate) fn end_of(layout: &Layout) -> u64 {
    layout.superblock_offsets[1] + PAGE_BYTES
}

/// Gives a bitmap slot to members that have none yet; such a member needs a full resync. Where none
/// is free, one that nobody has any more is taken: what its pages still mark is copied for nothing.
fn add_slots(superblock: &mut Superblock, layout: &Layout, definition: &Definition) {
    let known = superblock.slotted();
    let replicas = || definition.members.iter().filter(|member| member.is_diskful);
    let named: MemberSet = replicas().map(|member| member.node).collect();
    for member in replicas().filter(|member| !known.has(member.node)) {
        let slot = Slot {
            member: member.node,
            base_epoch: replication::FULL,
            base_incarnation: Incarnation::default(),
            in_use: false,
        };
        if superblock.slots.len() < usize::from(layout.slots) {
            superblock.slots.push(slot);
        } else if let Some(place) = slot_of_nobody(superblock, named) {
            superblock.slots[place] = slot;
        } else {
            // The others are not to wait for it.
            log!(
                Error,
                Scope::resource(&definition.name),
                "its metadata has room for {} members, and none for {}, which gets no replica: \
                 `adjust` says what can be done once it is taken out of the configuration",
                layout.slots,
                member.name
            );
        }
    }
}

/// That of a member which neither the configuration nor the value names, as far as this node knows.
fn slot_of_nobody(superblock: &Superblock, named: MemberSet) -> Option<usize> {
    let value = superblock.vote.as_ref()?.value();
    let in_sync = value.volumes.iter().flat_map(|volume| volume.insync.iter());
    let needed: MemberSet = in_sync.map(|member| member.node).collect();
    let needed = (needed | value.members | named).with(superblock.node);
    superblock.slots.iter().position(|slot| !slot.in_use && !needed.has(slot.member))
}

fn read_pages(
    device: &Device<'_>,
    superblock: &Superblock,
    (place, layout): (Place, &Layout),
    pages: &mut Vec<LoadedPage>,
) -> Result<(), Failure> {
    let blocks = superblock.space().blocks_at(place);
    for (index, slot) in (0_u8..).zip(&superblock.slots) {
        if !replication::attach::may_have_marks(superblock, slot) {
            continue;
        }
        let per_lane = u64::from(layout.pages_per_lane());
        let begin = layout.bitmap_page_offset(index, LaneIndex(0), 0);
        let end = begin + u64::from(layout.lanes) * per_lane * PAGE_BYTES;
        let mut decayed = 0;
        device.read_data(begin..end, |offset, block| {
            if block.iter().any(|byte| *byte != 0) {
                let number = (offset - begin) / PAGE_BYTES;
                let lane = u8::try_from(number / per_lane).expect("a lane of the layout");
                let page = u32::try_from(number % per_lane).expect("a page of the layout");
                let (member, lane) = (slot.member, LaneIndex(lane));
                let mut bits = bits_of(block);
                decayed +=
                    u32::from(Bitmap::new(lane, layout.lanes, blocks).cut_off(page, &mut bits));
                if bits.iter().any(|word| *word != 0) {
                    pages.push(LoadedPage { member, lane, page: place.first_page() + page, bits });
                }
            }
        })?;
        if decayed > 0 {
            log!(
                Warning,
                Scope::resource(&superblock.resource_name),
                "{}: {decayed} pages of the bitmap of node {} mark blocks behind the end of the \
                 volume, which is ignored: that is damage, and what else they mark may be too",
                device.path.display(),
                slot.member
            );
        }
    }
    Ok(())
}

/// What the activity log says.
struct Activity {
    /// The extents that were active in any ring.
    active: BTreeSet<u64>,
    /// The number of the newest record of each ring.
    newest: [u64; AL_RINGS],
    damaged: Vec<u8>,
}

fn read_activity(
    device: &Device<'_>,
    superblock: &Superblock,
    layout: &Layout,
    definition: &Definition,
) -> Result<Activity, Failure> {
    let mut active = BTreeSet::new();
    let mut newest = [0; AL_RINGS];
    let mut damaged = Vec::new();
    let mut is_of_earlier = false;
    // All of them at once: one wait for the disk in place of sixteen.
    let rings = device.try_to_read(layout.al_ring_offset(0), AL_BYTES)?;
    for ring in 0..u8::try_from(AL_RINGS).expect("16 rings") {
        let alone;
        let (bytes, unreadable) = match &rings {
            Some(rings) => (&rings[usize::from(ring) * RING_BYTES..][..RING_BYTES], Vec::new()),
            None => {
                let (bytes, unreadable) = read_ring(device, layout, ring, definition)?;
                alone = bytes;
                (alone.as_slice(), unreadable)
            }
        };
        let mut replayed = replay_ring(ring, superblock.log_incarnation(), bytes);
        if let Ok(RingReplay { newest, .. }) = replayed
            && unreadable.contains(&layout.al_record_offset(ring, newest + 1))
        {
            // A torn one was not durable when it was written, and no data on its word; this one may
            // have been for long.
            replayed = Err(ReplayError::Damaged { ring, missing: newest + 1 });
        }
        match replayed {
            Ok(replay) => {
                active.extend(replay.extents);
                newest[usize::from(ring)] = replay.newest;
            }
            Err(ReplayError::Newer { source, .. }) => {
                let disk = device.path.to_owned();
                return Err(AttachError::Newer { part: "activity log", disk, source }.into());
            }
            // Who made the replica another one did not say what its log names.
            Err(ReplayError::OfEarlier { .. }) => is_of_earlier = true,
            Err(error @ ReplayError::Damaged { .. }) => {
                let scope = Scope::resource(&definition.name);
                log!(Error, scope, "{error}: all of the replica may differ and is compared");
                active.extend(superblock.space().extents());
                damaged.push(ring);
            }
        }
    }
    if is_of_earlier {
        let scope = Scope::resource(&definition.name);
        log!(Info, scope, "the replica was made anew: all of it may differ and is compared");
        active.extend(superblock.space().extents());
    }
    Ok(Activity { active, newest, damaged })
}

/// All bytes of a ring. Where a record cannot be read they are zeroes, and its place is listed.
fn read_ring(
    device: &Device<'_>,
    layout: &Layout,
    ring: u8,
    definition: &Definition,
) -> Result<(Vec<u8>, Vec<u64>), Failure> {
    let start = layout.al_ring_offset(ring);
    if let Some(bytes) = device.read_unless_lost(start, AL_RING_BYTES)? {
        return Ok((bytes, Vec::new()));
    }
    let mut bytes = Vec::new();
    let mut unreadable = Vec::new();
    for offset in (start..start + AL_RING_BYTES).step_by(AL_RECORD_BYTES) {
        // A ring of which so much is lost is damaged, whatever is in the rest.
        let is_hopeless = unreadable.len() >= sectors::LOST_MAX;
        let record = match is_hopeless {
            true => None,
            false => device.read_unless_lost(offset, AL_RECORD_BYTES as u64)?,
        };
        if record.is_none() {
            let disk = device.path.display();
            log!(
                Warning,
                Scope::resource(&definition.name),
                "{disk}: the record of the activity log at byte {offset} cannot be read"
            );
            unreadable.push(offset);
        }
        bytes.extend(record.unwrap_or_else(|| vec![0; AL_RECORD_BYTES]));
    }
    Ok((bytes, unreadable))
}

/// Marks the active extents for everybody, durably, and empties the activity log.
fn mark_active(
    volumes: &Volumes<'_>,
    superblock: &mut Superblock,
    pages: &mut Vec<LoadedPage>,
    active: &BTreeSet<u64>,
) -> Result<(), Failure> {
    let members: Vec<NodeId> = superblock.slots.iter().map(|slot| slot.member).collect();
    let (space, lanes) = (superblock.space(), superblock.lanes);
    let changed = replication::attach::recover(pages, active, &members, lanes, &space);
    let mut block = [0; SUPERBLOCK_BYTES];
    for page in &changed {
        let slot = members.iter().position(|member| *member == page.member);
        let slot = slot.expect("pages are of the members that were given");
        // Pages of a slot that is not in use read as zeroes since `create-md`, or have bits of a
        // save that was not finished: then more is copied than had to be.
        superblock.slots[slot].in_use = true;
        let slot = u8::try_from(slot).expect("at most 32 slots");
        bytes_of(&page.bits, &mut block);
        let (place, number) = Place::of_page(page.page);
        let (device, layout) = volumes.at(place.expect("pages are of volumes"));
        device.write(layout.bitmap_page_offset(slot, page.lane, number), &block)?;
    }
    volumes.sync()?;
    volumes.write_superblock(superblock)?;
    let (device, layout) = volumes.first();
    let rings = 0..u8::try_from(AL_RINGS).expect("16 rings");
    empty_rings(device, layout, superblock.log_incarnation(), rings)
}

/// Durably.
fn empty_rings(
    device: &Device<'_>,
    layout: &Layout,
    incarnation: Incarnation,
    rings: impl Iterator<Item = u8>,
) -> Result<(), Failure> {
    for ring in rings {
        let mut bytes = vec![0; RING_BYTES];
        format_ring(ring, incarnation, &mut bytes);
        device.write(layout.al_ring_offset(ring), &bytes)?;
    }
    device.sync()
}

#[cfg(test)]
mod tests;
