//! `adopt-drbd`: takes a replica over from DRBD where it lies, and gives it back.
//!
//! The data stays where it is, and the volume keeps its exact size. What changes is the metadata:
//! ours comes beside DRBD's, or into its place, and DRBD's is taken out of use, so that nobody can
//! bring up both. The order of writes lets a crash leave the disk as DRBD left it, or in between
//! with all that is needed in the saved file, or done; each step is durable before the next:
//!
//! ```text
//! adopt:    save DRBD's area -> zero its signature (one sector) -> write ours -> mark as adopted
//! return:   mark as returning -> erase ours -> put the area back -> its signature (one sector)
//! ```
//! In between the disk has metadata of nobody, and neither program takes it; both ways go on from
//! there. Who has the disk is read off the disk itself, never off the file alone.
//!
//! Returning is possible until the first session of the resource: every write needs one, and the
//! replica's superblock names it before (PROTOCOL.md, 7.2); what the others began without this
//! node, its config register tells.

mod error;
mod places;
mod saved;
mod several;

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use engine::definition::resource_id;
use format::adopt_drbd::Adoption;
use format::drbd::{
    DRBD_SIGNATURE_BYTES, DrbdCondition, DrbdSuperblock, Lineage, Unsettled, without_role,
};
use format::ids::{BLOCK_BYTES, Branch, Epoch, Incarnation, MemberSet, NodeId};
use format::layout::{Layout, LayoutError, PAGE_BYTES, Placement};
use format::metadata::{ReplicaState, Sealed, Superblock};
use format::register::{REGISTER_FILE_BYTES, newest_register};

pub use self::error::AdoptError;
use self::places::{Places, Spot, bitmap_start};
use self::saved::{SavedFile, Stage, is_back};
use self::several::Common;
pub use self::several::{adopt_all, give_back_all};
use crate::create_md::{
    CreateMdError, Identity, LANES_DEFAULT, blank_block, members, slots, write_metadata,
};
pub use format::drbd::DrbdVersion;

#[derive(Clone, Debug)]
pub struct AdoptOptions {
    /// The disk with the data.
    pub disk: PathBuf,
    /// Where our metadata goes, if not to the end of that disk.
    pub metadata_disk: Option<PathBuf>,
    pub drbd: DrbdPlace,
    pub resource_name: String,
    pub volume: u16,
    pub node_id: u8,
    /// The node ids of all members, and of those that have a disk; this node's included.
    pub member_ids: Vec<u8>,
    pub replica_ids: Vec<u8>,
    pub peers_max: Option<u8>,
    pub state_dir: PathBuf,
    /// Refuse unless the data is known to be that of this generation.
    pub same_as: Option<u64>,
}

/// Where DRBD keeps its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrbdPlace {
    /// At the end of the disk, or at the start of our metadata disk: where it is found.
    Found,
    Internal,
    External {
        path: PathBuf,
        /// The place on a device that several volumes share.
        index: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolve {
    Do,
    Tell,
}

/// What is durable now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Saved,
    SignatureErased,
    MetadataWritten,
    Adopted,
    Returning,
    MetadataErased,
    AreaRestored,
    SignatureRestored,
    Returned,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptReport {
    pub volume: u16,
    pub disk: PathBuf,
    pub metadata_disk: PathBuf,
    pub size_bytes: u64,
    pub metadata_bytes: u64,
    pub slots: u8,
    pub generation: u64,
    /// Every settled replica of this generation has the same data.
    pub is_settled: bool,
    /// Why it is not; not known any more once the replica was taken over.
    pub unsettled: Option<Unsettled>,
    pub version: Option<DrbdVersion>,
    pub saved: PathBuf,
    pub outcome: Adopted,
    pub(crate) incarnation: Incarnation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopted {
    Now,
    /// An interrupted run was finished.
    Finished,
    Before,
    Possible,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnReport {
    pub volume: u16,
    pub disk: PathBuf,
    pub generation: u64,
    pub outcome: Returned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    Now,
    Before,
    Possible,
}

/// Takes a replica of one volume over. `told` hears of each step when it is durable.
///
/// # Errors
/// If the replica is not one of DRBD that is clean and up to date, if the metadata has no room, if
/// a disk is not there or in use, and if one fails. It can be repeated after any end.
pub fn adopt(
    options: &AdoptOptions,
    resolve: Resolve,
    told: &mut dyn FnMut(Step),
) -> Result<AdoptReport, AdoptError> {
    adopt_volume(options, Common::default(), resolve, told)
}

fn adopt_volume(
    options: &AdoptOptions,
    common: Common,
    resolve: Resolve,
    told: &mut dyn FnMut(Step),
) -> Result<AdoptReport, AdoptError> {
    let mut job = Job::open(options, common)?;
    let drbd = job.find_drbd()?;
    let own = job.find_own()?;
    let mut run = Run { resolve, told };
    match (drbd, own, job.noted.clone()) {
        (Some(_), Own::Replica { .. } | Own::Other | Own::Torn, _)
        | (None, Own::Other, _)
        | (None, Own::Replica { .. } | Own::Torn, None)
        | (None, Own::Torn, Some((Stage::Adopted, _))) => Err(job.occupied()),
        (Some((spot, superblock)), Own::Nothing, _) => {
            let adoption = job.examine(spot, &superblock)?;
            job.begin(spot, &superblock, adoption, &mut run)
        }
        (None, Own::Replica { is_untouched: false }, Some((stage, adoption)))
        | (None, Own::Replica { is_untouched: true }, Some((stage @ Stage::Adopted, adoption))) => {
            job.check_same(&adoption, None)?;
            if resolve == Resolve::Do {
                job.advance(stage, Stage::Adopted)?;
            }
            job.report(&adoption, None, Adopted::Before)
        }
        (None, _, Some((stage @ (Stage::Saved | Stage::Returning), adoption))) => {
            job.check_same(&adoption, None)?;
            let spot = job.noted_spot(&adoption)?;
            job.write(spot, stage, &adoption, &mut run)?;
            let outcome =
                if resolve == Resolve::Do { Adopted::Finished } else { Adopted::Possible };
            job.report(&adoption, None, outcome)
        }
        (None, Own::Nothing, Some((Stage::Adopted, _)) | None) => {
            Err(AdoptError::NotDrbd { looked: job.looked })
        }
    }
}

/// Gives the replica of a volume back to DRBD, as it was.
///
/// # Errors
/// If the resource has begun since, if nothing is saved, if a disk is not there or in use, and if
/// one fails. It can be repeated after any end.
pub fn give_back(
    options: &AdoptOptions,
    resolve: Resolve,
    told: &mut dyn FnMut(Step),
) -> Result<ReturnReport, AdoptError> {
    let mut job = Job::open(options, Common::default())?;
    let Some((stage, adoption)) = job.noted.clone() else {
        return Err(AdoptError::NothingSaved {
            name: options.resource_name.clone(),
            volume: options.volume,
            folder: options.state_dir.clone(),
        });
    };
    let spot = job.noted_spot(&adoption)?;
    let drbd = job.places.drbd_at(spot)?;
    let report = |outcome| ReturnReport {
        volume: options.volume,
        disk: options.disk.clone(),
        generation: adoption.generation,
        outcome,
    };
    match (drbd, job.find_own()?) {
        (Some(_), Own::Nothing) => {
            if resolve == Resolve::Do {
                job.saved.remove().map_err(job.failed("removing", stage))?;
                told(Step::Returned);
            }
            return Ok(report(Returned::Before));
        }
        (Some(_), _) | (None, Own::Other) => return Err(job.occupied()),
        (None, Own::Replica { is_untouched: false }) => {
            return Err(job.started("its replica has been part of a session"));
        }
        (None, Own::Nothing | Own::Torn) if stage == Stage::Adopted => {
            let disk = job.places.ours().path.clone();
            let reason = "the metadata of the replica is not on it".to_owned();
            return Err(AdoptError::OtherDisk { disk, reason });
        }
        (None, Own::Replica { is_untouched: true } | Own::Nothing | Own::Torn) => {}
    }
    job.check_not_started()?;
    job.saved.check(stage, &adoption).map_err(job.failed("reading", stage))?;
    if resolve == Resolve::Tell {
        return Ok(report(Returned::Possible));
    }
    job.put_back(spot, stage, &adoption, told)?;
    Ok(report(Returned::Now))
}

/// What there is of our own metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Nothing,
    /// A write that did not end; nothing that could be used.
    Torn,
    /// The replica that was made of DRBD's.
    Replica {
        is_untouched: bool,
    },
    Other,
}

struct Run<'a> {
    resolve: Resolve,
    told: &'a mut dyn FnMut(Step),
}

/// One replica, its disks open and locked, and what is noted of it.
struct Job<'a> {
    options: &'a AdoptOptions,
    common: Common,
    node: NodeId,
    members: MemberSet,
    places: Places,
    saved: SavedFile,
    noted: Option<(Stage, Adoption)>,
    looked: Vec<String>,
}

impl<'a> Job<'a> {
    fn open(options: &'a AdoptOptions, common: Common) -> Result<Self, AdoptError> {
        let (node, members) = members(options.node_id, &options.member_ids)?;
        let places = Places::open(options)?;
        let saved = SavedFile::new(&options.state_dir, &options.resource_name, options.volume);
        let looked = Vec::new();
        let mut job = Self { options, common, node, members, places, saved, noted: None, looked };
        job.noted = job.saved.find().map_err(job.failed("reading", Stage::Saved))?;
        if let Some((stage, adoption)) = &job.noted
            && (adoption.resource != resource_id(&options.resource_name)
                || adoption.volume != options.volume)
        {
            let reason = format!("it was saved for resource `{}`", adoption.resource_name);
            return Err(job.failed("using", *stage)(std::io::Error::other(reason)));
        }
        Ok(job)
    }

    /// The only place that has a superblock of DRBD.
    fn find_drbd(&mut self) -> Result<Option<(Spot, DrbdSuperblock)>, AdoptError> {
        let mut spots = self.places.spots(&self.options.drbd)?;
        // A note of another disk keeps nobody from what is found on this one.
        if let Some((_, adoption)) = self.noted.clone()
            && let Ok(noted) = self.noted_spot(&adoption)
            && !spots.contains(&noted)
        {
            spots.push(noted);
        }
        let mut found = Vec::new();
        for &spot in &spots {
            if let Some(superblock) = self.places.drbd_at(spot)? {
                found.push((spot, superblock));
            }
        }
        if found.len() > 1 {
            let places = found.iter().map(|(spot, _)| self.places.name(*spot)).collect();
            return Err(AdoptError::Ambiguous { places });
        }
        self.looked = spots.iter().map(|spot| self.places.name(*spot)).collect();
        Ok(found.pop())
    }

    fn find_own(&self) -> Result<Own, AdoptError> {
        let found = self.places.own_superblocks()?;
        self.places.ours().refuse_newer(&found)?;
        let whole: Vec<&Superblock> =
            found.iter().filter_map(|own| own.superblock.as_ref().map(|(it, _)| it)).collect();
        if whole.is_empty() {
            return Ok(if found.is_empty() { Own::Nothing } else { Own::Torn });
        }
        let noted = self.noted.as_ref().map(|(_, adoption)| adoption.incarnation);
        let is_ours = |own: &&Superblock| Some(own.incarnation) == noted && self.is_bound(own);
        Ok(if whole.iter().all(is_ours) {
            Own::Replica { is_untouched: whole.iter().all(|own| is_untouched(own)) }
        } else {
            Own::Other
        })
    }

    /// A volume behind the first is of the replica that the first one is now.
    fn is_bound(&self, own: &Superblock) -> bool {
        self.common.first.is_none_or(|first| {
            let mut disks = own.further.iter();
            disks.any(|it| (it.place, it.incarnation) == (first.place, first.incarnation))
        })
    }

    fn noted_spot(&mut self, adoption: &Adoption) -> Result<Spot, AdoptError> {
        let path = PathBuf::from(OsStr::from_bytes(&adoption.device));
        let spot = self.places.noted(&path, adoption.superblock_at)?;
        let disk = self.places.disk_of(spot);
        let reason = if disk.size_bytes != adoption.device_bytes {
            format!("it has {} bytes, and had {}", disk.size_bytes, adoption.device_bytes)
        } else if self.places.is_in_place(spot) != adoption.is_in_place {
            "`meta-disk` of this host was another then".to_owned()
        } else {
            return Ok(spot);
        };
        Err(AdoptError::OtherDisk { disk: disk.path.clone(), reason })
    }

    /// All that has to be so before the first write.
    fn examine(
        &self,
        spot: Spot,
        superblock: &DrbdSuperblock,
    ) -> Result<(Adoption, Option<Unsettled>), AdoptError> {
        let options = self.options;
        let disk = self.places.data().path.clone();
        check_condition(&disk, superblock, || self.places.in_drbdmeta(spot, &options.drbd))?;
        if let Some(found) = superblock.node.filter(|&found| found != self.node.get()) {
            return Err(AdoptError::Node { disk, found, wanted: self.node.get() });
        }
        let area = self.area(spot, superblock)?;
        let layout = self.layout(spot, superblock.size_bytes)?;
        self.check_not_started()?;
        self.check_free(spot)?;
        let marked = self.places.marked(spot, superblock)?;
        let others: Vec<u8> =
            options.replica_ids.iter().copied().filter(|&id| id != self.node.get()).collect();
        let marked = |slot: u32| marked[usize::try_from(slot).expect("a slot of the bitmap")];
        let unsettled = superblock.settled(&others, marked).err();
        let is_in_place = self.places.is_in_place(spot);
        let device = self.places.disk_of(spot);
        let [first, last] = layout.superblock_offsets;
        let area = if is_in_place {
            area.start.min(first)..area.end.max(last + PAGE_BYTES)
        } else {
            spot.superblock_at..spot.superblock_at + PAGE_BYTES
        };
        let adoption = Adoption {
            resource: resource_id(&options.resource_name),
            resource_name: options.resource_name.clone(),
            volume: options.volume,
            incarnation: Incarnation(io::random_u128()),
            slots: layout.slots,
            size_bytes: superblock.size_bytes,
            generation: superblock.generation,
            is_settled: unsettled.is_none(),
            is_in_place,
            device: device.path.as_os_str().as_bytes().to_vec(),
            device_bytes: device.size_bytes,
            superblock_at: spot.superblock_at,
            area_at: area.start,
            area_bytes: area.end - area.start,
            area_crc: 0,
        };
        self.check_same(&adoption, Some((superblock, unsettled)))?;
        Ok((adoption, unsettled))
    }

    /// Where DRBD's metadata lies, in whole pages; behind the data where they share a disk.
    fn area(&self, spot: Spot, superblock: &DrbdSuperblock) -> Result<Range<u64>, AdoptError> {
        let size_bytes = superblock.size_bytes;
        let wrong = |reason: &str| AdoptError::Size { size_bytes, reason: reason.to_owned() };
        let bitmap_at = bitmap_start(&self.places, spot, superblock)?;
        let log_at = superblock.log_at(spot.superblock_at);
        let log_at = log_at.ok_or_else(|| wrong("and its activity log lies nowhere"))?;
        let start = bitmap_at.min(log_at).min(spot.superblock_at);
        let end = (bitmap_at + superblock.bitmap_bytes())
            .max(log_at.saturating_add(superblock.log_bytes()))
            .max(spot.superblock_at + PAGE_BYTES)
            .next_multiple_of(PAGE_BYTES);
        let device = self.places.disk_of(spot);
        if end > device.size_bytes - device.size_bytes % PAGE_BYTES {
            return Err(wrong("and its activity log does not fit the device"));
        }
        let data_end =
            if self.places.is_internal(spot) { start } else { self.places.data().size_bytes };
        if size_bytes > data_end {
            return Err(wrong(&format!("but its disk has only {data_end} for it")));
        }
        if !size_bytes.is_multiple_of(BLOCK_BYTES) {
            return Err(wrong("which are no whole blocks of 4096"));
        }
        Ok(start - start % PAGE_BYTES..end)
    }

    /// Room for as many members as there is, and all of the data before it.
    fn layout(&self, spot: Spot, size_bytes: u64) -> Result<Layout, AdoptError> {
        if self.places.is_in_place(spot) && !self.places.is_internal(spot) && self.is_shared(spot) {
            return Err(AdoptError::Shared { disk: self.places.disk_of(spot).path.clone() });
        }
        let placement = self.places.placement();
        let most = self.common.slots.unwrap_or(u8::MAX);
        let wanted = slots(self.options.peers_max, self.members).min(most);
        let least = slots(Some(self.options.peers_max.unwrap_or(0)), self.members);
        for slots in [wanted, least] {
            if let Ok(layout) = Layout::new(placement, slots, LANES_DEFAULT)
                && layout.data_bytes >= size_bytes
            {
                return Ok(layout);
            }
        }
        Err(self.no_room(placement, least, size_bytes))
    }

    fn is_shared(&self, spot: Spot) -> bool {
        let is_indexed = matches!(self.options.drbd, DrbdPlace::External { index: Some(_), .. });
        is_indexed || spot.superblock_at != 0
    }

    fn no_room(&self, placement: Placement, slots: u8, size_bytes: u64) -> AdoptError {
        let disk = self.places.ours().path.clone();
        let data_device_bytes = self.places.data().size_bytes;
        let external = Placement::External { data_device_bytes, metadata_device_bytes: 0 };
        let external_bytes = match Layout::new(external, slots, LANES_DEFAULT) {
            Err(LayoutError::TooSmall { needed_bytes, .. }) => needed_bytes,
            Ok(_) | Err(_) => 0,
        };
        let (room_bytes, needed_bytes) = match Layout::new(placement, slots, LANES_DEFAULT) {
            Ok(layout) => {
                let whole = data_device_bytes - data_device_bytes % PAGE_BYTES;
                (whole - size_bytes, whole - layout.data_bytes)
            }
            Err(LayoutError::TooSmall { size_bytes, needed_bytes }) => (size_bytes, needed_bytes),
            Err(source) => return CreateMdError::Layout { disk, source }.into(),
        };
        AdoptError::Room { disk, size_bytes, room_bytes, needed_bytes, external_bytes }
    }

    /// Nothing of anybody else's is on the disk that our metadata gets.
    fn check_free(&self, spot: Spot) -> Result<(), AdoptError> {
        let ours = self.places.ours();
        if self.places.is_in_place(spot)
            || matches!(self.places.placement(), Placement::Internal { .. })
        {
            return Ok(());
        }
        match ours.foreign()? {
            None => Ok(()),
            Some(what) => {
                Err(AdoptError::Occupied { disk: ours.path.clone(), what: what.to_owned() })
            }
        }
    }

    /// With `--same-as`: the data is known to be that of the generation.
    fn check_same(
        &self,
        adoption: &Adoption,
        found: Option<(&DrbdSuperblock, Option<Unsettled>)>,
    ) -> Result<(), AdoptError> {
        let Some(wanted) = self.options.same_as.map(without_role) else { return Ok(()) };
        let own = adoption.generation;
        let reason = match found {
            _ if own == wanted && adoption.is_settled => return Ok(()),
            Some((_, Some(unsettled))) if own == wanted => unsettled.to_string(),
            Some((superblock, _)) if superblock.lineage(wanted) == Lineage::Newer => {
                "this replica was of that generation once, and is the newer one".to_owned()
            }
            Some(_) | None if own != wanted => "nothing here knows of that one".to_owned(),
            Some(_) | None => "it was marked as different from a peer".to_owned(),
        };
        Err(AdoptError::Differs { own, wanted, reason })
    }

    /// The configurations that this node knows of leave the replica alone.
    fn check_not_started(&self) -> Result<(), AdoptError> {
        let name = &self.options.resource_name;
        let path = self.options.state_dir.join("resources").join(format!("{name}.register"));
        let bytes = match std::fs::read(&path) {
            Ok(bytes) if bytes.len() == REGISTER_FILE_BYTES => bytes,
            Ok(bytes) => {
                let reason = format!("{} has {} bytes", path.display(), bytes.len());
                return Err(self.started(&reason));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(AdoptError::Saved { action: "reading", path, source }),
        };
        let register = newest_register(&bytes)
            .map_err(|error| self.started(&format!("{}: {error}", path.display())))?;
        match register.accepted {
            Some((_, config)) if config.epoch != Epoch::default() => Err(self.started(&format!(
                "{} knows epoch {} of it",
                path.display(),
                config.epoch.0
            ))),
            Some(_) | None => Ok(()),
        }
    }

    fn begin(
        &self,
        spot: Spot,
        superblock: &DrbdSuperblock,
        (mut adoption, unsettled): (Adoption, Option<Unsettled>),
        run: &mut Run<'_>,
    ) -> Result<AdoptReport, AdoptError> {
        let found = Some((superblock, unsettled));
        if run.resolve == Resolve::Tell {
            return self.report(&adoption, found, Adopted::Possible);
        }
        let device = self.places.disk_of(spot);
        let written = self.saved.write(&mut adoption, device);
        written.map_err(self.failed("writing", Stage::Saved))?;
        (run.told)(Step::Saved);
        self.write(spot, Stage::Saved, &adoption, run)?;
        self.report(&adoption, found, Adopted::Now)
    }

    /// From the saved file to our metadata.
    fn write(
        &self,
        spot: Spot,
        stage: Stage,
        adoption: &Adoption,
        run: &mut Run<'_>,
    ) -> Result<(), AdoptError> {
        let layout = Layout::new(self.places.placement(), adoption.slots, LANES_DEFAULT);
        let disk = || self.places.ours().path.clone();
        let layout = layout.map_err(|source| CreateMdError::Layout { disk: disk(), source })?;
        if layout.data_bytes < adoption.size_bytes {
            let reason = format!("it has no room for {} bytes any more", adoption.size_bytes);
            return Err(AdoptError::OtherDisk { disk: disk(), reason });
        }
        let identity = Identity {
            resource_name: &self.options.resource_name,
            volume: self.options.volume,
            node: self.node,
            members: self.members,
            incarnation: adoption.incarnation,
            size_bytes: adoption.size_bytes,
            further: self.common.first.into_iter().collect(),
            clean: self.common.first.is_none(),
        };
        let block = blank_block(&identity, &layout)?;
        if run.resolve == Resolve::Tell {
            return Ok(());
        }
        self.advance(stage, Stage::Saved)?;
        let device = self.places.disk_of(spot);
        device.write(adoption.superblock_at, &[0; DRBD_SIGNATURE_BYTES])?;
        device.sync()?;
        (run.told)(Step::SignatureErased);
        write_metadata(self.places.ours(), &layout, adoption.incarnation, &block)?;
        (run.told)(Step::MetadataWritten);
        self.advance(Stage::Saved, Stage::Adopted)?;
        (run.told)(Step::Adopted);
        Ok(())
    }

    /// From our metadata to DRBD's.
    fn put_back(
        &self,
        spot: Spot,
        stage: Stage,
        adoption: &Adoption,
        told: &mut dyn FnMut(Step),
    ) -> Result<(), AdoptError> {
        self.advance(stage, Stage::Returning)?;
        told(Step::Returning);
        let layout = Layout::new(self.places.placement(), adoption.slots, LANES_DEFAULT);
        let ours = self.places.ours();
        let layout =
            layout.map_err(|source| CreateMdError::Layout { disk: ours.path.clone(), source })?;
        let [first, last] = layout.superblock_offsets;
        for superblock_at in [first, last] {
            ours.erase(superblock_at..superblock_at + PAGE_BYTES)?;
        }
        ours.sync()?;
        ours.erase(first..last + PAGE_BYTES)?;
        ours.sync()?;
        told(Step::MetadataErased);

        let device = self.places.disk_of(spot);
        device.erase(adoption.area_at..adoption.area_at + adoption.area_bytes)?;
        let mut signature = [0; DRBD_SIGNATURE_BYTES];
        let restored =
            self.saved.each_saved_page(Stage::Returning, adoption, &mut |offset, page| {
                let mut page = *page;
                if offset == adoption.superblock_at {
                    signature.copy_from_slice(&page[..DRBD_SIGNATURE_BYTES]);
                    page[..DRBD_SIGNATURE_BYTES].fill(0);
                }
                device.write(offset, &page).map_err(std::io::Error::other)
            });
        restored.map_err(self.failed("putting back", Stage::Returning))?;
        device.sync()?;
        told(Step::AreaRestored);
        device.write(adoption.superblock_at, &signature)?;
        device.sync()?;
        told(Step::SignatureRestored);
        match is_back(device, adoption) {
            Ok(true) => {}
            Ok(false) => {
                let reason = "what was put back reads differently".to_owned();
                return Err(AdoptError::OtherDisk { disk: device.path.clone(), reason });
            }
            Err(error) => return Err(device.failed("reading", error).into()),
        }
        self.saved.remove().map_err(self.failed("removing", Stage::Returning))?;
        told(Step::Returned);
        Ok(())
    }

    fn advance(&self, from: Stage, to: Stage) -> Result<(), AdoptError> {
        self.saved.advance(from, to).map_err(self.failed("renaming", from))
    }

    fn report(
        &self,
        adoption: &Adoption,
        found: Option<(&DrbdSuperblock, Option<Unsettled>)>,
        outcome: Adopted,
    ) -> Result<AdoptReport, AdoptError> {
        let layout = Layout::new(self.places.placement(), adoption.slots, LANES_DEFAULT);
        let disk = self.places.ours().path.clone();
        let layout =
            layout.map_err(|source| CreateMdError::Layout { disk: disk.clone(), source })?;
        let [first, last] = layout.superblock_offsets;
        Ok(AdoptReport {
            volume: adoption.volume,
            disk: self.places.data().path.clone(),
            metadata_disk: disk,
            size_bytes: adoption.size_bytes,
            metadata_bytes: last + PAGE_BYTES - first,
            slots: adoption.slots,
            generation: adoption.generation,
            is_settled: adoption.is_settled,
            unsettled: found.and_then(|(_, unsettled)| unsettled),
            version: found.map(|(superblock, _)| superblock.version),
            saved: self.saved.path(Stage::Adopted),
            outcome,
            incarnation: adoption.incarnation,
        })
    }

    fn occupied(&self) -> AdoptError {
        let disk = self.places.ours().path.clone();
        let what = "metadata of Basalt that is not of this replica of DRBD".to_owned();
        AdoptError::Occupied { disk, what }
    }

    fn started(&self, reason: &str) -> AdoptError {
        AdoptError::Started { name: self.options.resource_name.clone(), reason: reason.to_owned() }
    }

    fn failed(
        &self,
        action: &'static str,
        stage: Stage,
    ) -> impl FnOnce(std::io::Error) -> AdoptError + use<> {
        let path = self.saved.path(stage);
        move |source| AdoptError::Saved { action, path, source }
    }
}

fn check_condition(
    disk: &Path,
    superblock: &DrbdSuperblock,
    metadata: impl FnOnce() -> String,
) -> Result<(), AdoptError> {
    let disk = || disk.to_owned();
    match superblock.condition() {
        DrbdCondition::NeverUsed => Err(AdoptError::NeverUsed { disk: disk() }),
        DrbdCondition::Unclean => {
            let (version, metadata) = (superblock.version, metadata());
            Err(AdoptError::Unclean { disk: disk(), version, metadata })
        }
        condition @ (DrbdCondition::Inconsistent | DrbdCondition::Outdated) => {
            Err(AdoptError::NotUpToDate { disk: disk(), condition })
        }
        DrbdCondition::UpToDate => Ok(()),
    }
}

/// No session ever had this replica: before one writes, it is sealed to it.
fn is_untouched(superblock: &Superblock) -> bool {
    superblock.state == ReplicaState::Blank
        && superblock.sealed == Sealed::default()
        && superblock.joined == Epoch::default()
        && superblock.branch == Branch::default()
        && superblock.candidate.is_none()
}
