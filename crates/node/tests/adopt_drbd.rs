//! `adopt` and `give_back` on real files: what they refuse, what they write, and that every place
//! where they may end leaves a way forward and a way back. Superblocks are built by hand here; the
//! step `drbd-utils` of `cargo xtask test` does the same with those of Debian's drbdmeta.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod superblock;

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use format::config::Config;
use format::ids::{Ballot, Branch, Epoch, Nonce, VoteStoreId};
use format::layout::{Layout, Placement};
use format::metadata::{Register, ReplicaState, Sealed, Superblock};
use format::register::{
    REGISTER_FILE_BYTES, REGISTER_SLOT_BYTES, encode_register, register_slot_offset,
};
use format::superblock::{decode_superblock, encode_superblock};
use node::adopt_drbd::{
    AdoptError, AdoptOptions, Adopted, DrbdPlace, Resolve, Returned, Step, adopt, adopt_all,
    give_back, give_back_all,
};
use node::create_md::{CreateMdError, LANES_DEFAULT};
use stdx::random::Random;
use tempfile::TempDir;

const DISK_BYTES: usize = 8 << 20;
const GENERATION: u64 = 0x1122_3344_5566_7788;
const CLEAN: u32 = 0x91;

/// What DRBD leaves behind at the end of a disk.
#[derive(Clone)]
struct Drbd {
    disk_bytes: usize,
    /// Of the activity log, in pages of 4 KiB: with 1024 there is room for our metadata.
    log_pages: u32,
    generation: u64,
    flags: u32,
    node: u32,
    slots: u32,
    /// Of volume, in bytes; `None` is all that there is room for.
    size_bytes: Option<u64>,
    /// Its slot has these words, from the first on.
    marked: Vec<u32>,
}

impl Default for Drbd {
    fn default() -> Self {
        Self {
            disk_bytes: DISK_BYTES,
            log_pages: 1024,
            generation: GENERATION,
            flags: CLEAN,
            node: 1,
            slots: 2,
            size_bytes: None,
            marked: Vec::new(),
        }
    }
}

impl Drbd {
    fn bitmap_bytes(&self) -> usize {
        (self.disk_bytes / 32_768 * self.slots as usize).next_multiple_of(4096)
    }

    fn data_end(&self) -> usize {
        self.disk_bytes - 4096 - self.log_pages as usize * 4096 - self.bitmap_bytes()
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes.unwrap_or_else(|| self.data_end() as u64)
    }

    /// `log` and `bitmap` are sectors, counted from the superblock.
    fn superblock(&self, log: i32, bitmap: i32) -> Vec<u8> {
        let mut block = vec![0; 4096];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &(self.size_bytes() / 512).to_be_bytes());
        put(8, &self.generation.to_be_bytes());
        put(56, &self.flags.to_be_bytes());
        put(60, &0x8374_026d_u32.to_be_bytes());
        put(68, &log.to_be_bytes());
        put(76, &bitmap.to_be_bytes());
        put(80, &4096_u32.to_be_bytes());
        put(88, &self.slots.to_be_bytes());
        put(92, &self.node.to_be_bytes());
        put(96, &1_u32.to_be_bytes());
        put(100, &self.log_pages.to_be_bytes());
        for node in 0..32 {
            // Slots in order of node id, this node's own left out.
            let slot = i32::try_from(node).unwrap() - i32::from(node > self.node);
            let has_slot = node != self.node && slot < i32::try_from(self.slots).unwrap();
            let slot = if has_slot { slot } else { -1 };
            put(112 + node as usize * 32 + 20, &slot.to_be_bytes());
        }
        put(1136, &0xa1a1_a1a1_a1a1_a1a0_u64.to_be_bytes());
        block
    }

    fn bitmap(&self) -> Vec<u8> {
        let mut bitmap = vec![0; self.bitmap_bytes()];
        for (word, bits) in self.marked.iter().enumerate() {
            let at = word * self.slots as usize * 4;
            bitmap[at..at + 4].copy_from_slice(&bits.to_le_bytes());
        }
        bitmap
    }

    fn log(&self) -> Vec<u8> {
        (0..self.log_pages * 4096).map(|at| if at % 4096 < 4 { 0x69 } else { 0 }).collect()
    }

    /// A disk with data, and the metadata at its end.
    fn internal(&self) -> Vec<u8> {
        let mut disk: Vec<u8> =
            (0..self.data_end()).map(|at| u8::try_from(at / 512 % 251).unwrap()).collect();
        disk.extend(self.bitmap());
        disk.extend(self.log());
        let log = -i32::try_from(self.log_pages * 8).unwrap();
        let bitmap = log - i32::try_from(self.bitmap_bytes() / 512).unwrap();
        disk.extend(self.superblock(log, bitmap));
        assert_eq!(disk.len(), self.disk_bytes);
        disk
    }

    /// A device with the metadata alone.
    fn external(&self, device_bytes: usize) -> Vec<u8> {
        let bitmap = 8 + i32::try_from(self.log_pages * 8).unwrap();
        let mut device = self.superblock(8, bitmap);
        device.extend(self.log());
        device.extend(self.bitmap());
        device.resize(device_bytes, 0);
        device
    }
}

/// A disk, perhaps another for metadata, and a state directory.
struct Place {
    directory: TempDir,
    options: AdoptOptions,
}

impl Place {
    fn new(disk: &[u8], metadata: Option<&[u8]>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("disk"), disk).unwrap();
        if let Some(metadata) = metadata {
            fs::write(path("metadata"), metadata).unwrap();
        }
        fs::create_dir(path("state")).unwrap();
        let options = AdoptOptions {
            disk: path("disk"),
            metadata_disk: metadata.map(|_| path("metadata")),
            drbd: DrbdPlace::Found,
            resource_name: "r0".to_owned(),
            volume: 0,
            node_id: 1,
            member_ids: vec![0, 1, 2],
            replica_ids: vec![0, 1, 2],
            peers_max: None,
            state_dir: path("state"),
            same_as: None,
        };
        Self { directory, options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn disk(&self) -> Vec<u8> {
        fs::read(self.path("disk")).unwrap()
    }

    #[track_caller]
    fn adopt(&self) -> Adopted {
        adopt(&self.options, Resolve::Do, &mut |_| ()).unwrap().outcome
    }

    #[track_caller]
    fn give_back(&self) -> Returned {
        give_back(&self.options, Resolve::Do, &mut |_| ()).unwrap().outcome
    }

    /// Refused, with a hint, and nothing is written.
    #[track_caller]
    fn refused(&self) -> AdoptError {
        let before = self.snapshot();
        let error = adopt(&self.options, Resolve::Do, &mut |_| ()).unwrap_err();
        assert!(error.is_refusal() && !error.hint().is_empty(), "{error}");
        assert!(self.snapshot() == before, "a refusal wrote: {error}");
        error
    }

    /// Our superblocks; both say the same.
    fn superblock(&self) -> (Superblock, Layout) {
        let (placement, file) = self.placement();
        let bytes = fs::read(file).unwrap();
        let find = |slots| {
            let layout = Layout::new(placement, slots, LANES_DEFAULT).ok()?;
            let [first, last] = layout.superblock_offsets.map(|at| {
                let at = usize::try_from(at).unwrap();
                decode_superblock(bytes[at..].first_chunk().unwrap()).ok()
            });
            assert!(first.is_none() || first == last, "the copies differ");
            first
        };
        (1..=32).find_map(find).expect("metadata of ours")
    }

    fn placement(&self) -> (Placement, PathBuf) {
        let size = |name: &str| fs::metadata(self.path(name)).unwrap().len();
        let disk_bytes = size("disk");
        if self.options.metadata_disk.is_none() {
            return (Placement::Internal { device_bytes: disk_bytes }, self.path("disk"));
        }
        let metadata_device_bytes = size("metadata");
        let placement =
            Placement::External { data_device_bytes: disk_bytes, metadata_device_bytes };
        (placement, self.path("metadata"))
    }

    fn rewrite_superblock(&self, change: impl FnOnce(&mut Superblock)) {
        let (mut superblock, layout) = self.superblock();
        change(&mut superblock);
        superblock.write_counter += 1;
        let mut block = [0; 4096];
        encode_superblock(&superblock, &layout, &mut block).unwrap();
        let (_, path) = self.placement();
        let mut bytes = fs::read(&path).unwrap();
        // The other copy is older: the newer one counts.
        let at = usize::try_from(layout.superblock_offsets[1]).unwrap();
        bytes[at..at + 4096].copy_from_slice(&block);
        fs::write(path, bytes).unwrap();
    }

    /// All files by their path.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn gather(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    gather(&path, files);
                } else {
                    files.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        let mut files = Vec::new();
        gather(self.directory.path(), &mut files);
        files.sort();
        files
    }

    fn restore(&self, files: &[(PathBuf, Vec<u8>)]) {
        for (path, _) in self.snapshot() {
            fs::remove_file(path).unwrap();
        }
        for (path, bytes) in files {
            fs::write(path, bytes).unwrap();
        }
    }
}

fn internal() -> Place {
    Place::new(&Drbd::default().internal(), None)
}

/// DRBD's metadata at the end of the disk, and another disk for ours.
fn beside() -> Place {
    let drbd = Drbd { log_pages: 8, ..Drbd::default() };
    Place::new(&drbd.internal(), Some(&vec![0; 4 << 20]))
}

/// DRBD's metadata on another disk, where ours goes too.
fn external() -> Place {
    let drbd = Drbd {
        disk_bytes: DISK_BYTES,
        log_pages: 8,
        size_bytes: Some(DISK_BYTES as u64),
        ..Drbd::default()
    };
    let data: Vec<u8> = (0..DISK_BYTES).map(|at| u8::try_from(at / 512 % 241).unwrap()).collect();
    Place::new(&data, Some(&drbd.external(4 << 20)))
}

#[test]
fn replica_keeps_its_data_and_its_exact_size() {
    let size_bytes = Drbd::default().size_bytes();
    for (name, place, expected) in [
        ("in place", internal(), size_bytes),
        ("beside", beside(), Drbd { log_pages: 8, ..Drbd::default() }.size_bytes()),
        ("external", external(), DISK_BYTES as u64),
    ] {
        let before = place.disk();
        let report = adopt(&place.options, Resolve::Do, &mut |_| ()).unwrap();
        assert_eq!((report.outcome, report.generation), (Adopted::Now, GENERATION), "{name}");
        assert!(report.is_settled, "{name}: {:?}", report.unsettled);
        assert_eq!(report.size_bytes, expected, "{name}");
        let after = place.disk();
        let data = usize::try_from(expected).unwrap();
        assert!(before[..data] == after[..data], "{name}: data was written over");
        let (superblock, layout) = place.superblock();
        assert_eq!(superblock.size_bytes, expected, "{name}");
        assert!(layout.data_bytes >= expected, "{name}");
        assert_eq!(superblock.state, ReplicaState::Blank, "{name}");
        assert_eq!((superblock.node.get(), superblock.slots.len()), (1, 3), "{name}");
        assert_ne!(&after[DISK_BYTES - 4096 + 60..][..4], b"\x83\x74\x02\x6d", "{name}");
        assert!(report.saved.exists(), "{name}");
        assert_eq!(place.adopt(), Adopted::Before, "{name}: it may be repeated");
    }
}

#[test]
fn replica_goes_back_as_it_was() {
    for (name, place) in [("in place", internal()), ("beside", beside()), ("external", external())]
    {
        let before = place.snapshot();
        place.adopt();
        assert_ne!(place.snapshot(), before, "{name}");
        assert_eq!(place.give_back(), Returned::Now, "{name}");
        assert!(place.snapshot() == before, "{name}: something differs");
        let again = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
        assert!(matches!(again, AdoptError::NothingSaved { .. }), "{name}: {again}");
        assert_eq!(place.adopt(), Adopted::Now, "{name}: and forth again");
    }
}

#[test]
fn telling_writes_nothing() {
    let place = internal();
    let before = place.snapshot();
    let report = adopt(&place.options, Resolve::Tell, &mut |_| ()).unwrap();
    assert_eq!(report.outcome, Adopted::Possible);
    assert!(place.snapshot() == before);
    place.adopt();
    let before = place.snapshot();
    let report = give_back(&place.options, Resolve::Tell, &mut |_| ()).unwrap();
    assert_eq!(report.outcome, Returned::Possible);
    assert!(place.snapshot() == before);
}

#[test]
fn only_a_clean_replica_that_was_up_to_date_is_taken() {
    for (drbd, part) in [
        (Drbd { flags: 0x11, ..Drbd::default() }, "activity log was not applied"),
        (Drbd { flags: 0x90, ..Drbd::default() }, "was Inconsistent"),
        (Drbd { flags: 0x81, ..Drbd::default() }, "was Outdated"),
        (Drbd { generation: 4, ..Drbd::default() }, "was never used"),
        (Drbd { size_bytes: Some(0), ..Drbd::default() }, "was never used"),
        (Drbd { node: 2, ..Drbd::default() }, "is of DRBD's node 2, and this one is node 1"),
        (Drbd { size_bytes: Some(1 << 20 | 512), ..Drbd::default() }, "no whole blocks"),
        (Drbd { size_bytes: Some(DISK_BYTES as u64), ..Drbd::default() }, "has only"),
    ] {
        let place = Place::new(&drbd.internal(), None);
        let error = place.refused().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let place = Place::new(&vec![7; DISK_BYTES], None);
    let error = place.refused().to_string();
    assert!(error.starts_with("no metadata of DRBD 8.4 or 9 was found at the end of"), "{error}");
    let place = internal();
    let user = File::open(place.path("disk")).unwrap();
    user.lock().unwrap();
    let error = place.refused().to_string();
    assert!(error.contains("is in use by another program"), "{error}");
}

#[test]
fn too_little_room_is_told_with_the_numbers_and_another_disk_helps() {
    let drbd = Drbd { log_pages: 8, ..Drbd::default() };
    let place = Place::new(&drbd.internal(), None);
    let error = place.refused();
    let AdoptError::Room { size_bytes, room_bytes, needed_bytes, external_bytes, .. } = error
    else {
        panic!("{error}");
    };
    assert_eq!((size_bytes, room_bytes), (drbd.size_bytes(), 4096 + 32_768 + 4096));
    assert!(needed_bytes > 2 << 20, "{needed_bytes}");
    let external_bytes = usize::try_from(external_bytes).unwrap();
    let short = Place::new(&drbd.internal(), Some(&vec![0; external_bytes - 1]));
    assert!(matches!(short.refused(), AdoptError::Room { .. }));
    Place::new(&drbd.internal(), Some(&vec![0; external_bytes])).adopt();
}

#[test]
fn what_is_on_the_other_disk_is_not_written_over() {
    let drbd = Drbd { log_pages: 8, ..Drbd::default() };
    let mut foreign = vec![0; 4 << 20];
    foreign[..4].copy_from_slice(b"XFSB");
    let place = Place::new(&drbd.internal(), Some(&foreign));
    assert!(place.refused().to_string().contains("XFS"));

    let twice = Place::new(&drbd.internal(), Some(&drbd.external(4 << 20)));
    let error = twice.refused();
    assert!(matches!(error, AdoptError::Ambiguous { .. }), "{error}");

    let adopted = internal();
    adopted.adopt();
    fs::remove_dir_all(adopted.path("state/adopted")).unwrap();
    let error = adopted.refused();
    assert!(matches!(error, AdoptError::Occupied { .. }), "{error}");
}

#[test]
fn equality_is_what_drbd_knew_of_it() {
    let same_as = |drbd: Drbd, generation| {
        let mut place = Place::new(&drbd.internal(), None);
        place.options.same_as = Some(generation);
        place
    };
    same_as(Drbd::default(), GENERATION).adopt();
    same_as(Drbd { generation: GENERATION | 1, ..Drbd::default() }, GENERATION | 1).adopt();
    let marked = Drbd { marked: vec![0, 0, 3], ..Drbd::default() };
    for (drbd, generation, part) in [
        (Drbd::default(), 0x77, "nothing here knows of that one"),
        (Drbd::default(), 0xa1a1_a1a1_a1a1_a1a0, "is the newer one"),
        (marked.clone(), GENERATION, "2 blocks are marked as different from node 0"),
        (Drbd { flags: CLEAN | 2, ..Drbd::default() }, GENERATION, "it was Primary"),
    ] {
        let error = same_as(drbd, generation).refused().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let place = Place::new(&marked.internal(), None);
    let report = adopt(&place.options, Resolve::Do, &mut |_| ()).unwrap();
    assert!(!report.is_settled, "its data is taken, and not called equal");
    let mut again = place.options.clone();
    again.same_as = Some(GENERATION);
    let error = adopt(&again, Resolve::Do, &mut |_| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Differs { .. }), "{error}");
}

#[test]
fn there_is_no_way_back_once_a_session_had_the_replica() {
    let changes: [fn(&mut Superblock); 4] = [
        |it| it.sealed = Sealed { ballot: Ballot { counter: 1, random: 2 }, nonce: Nonce(3) },
        |it| it.state = ReplicaState::InSync,
        |it| it.joined = Epoch(1),
        |it| it.branch = Branch(1),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        for place in [internal(), beside()] {
            place.adopt();
            place.rewrite_superblock(change);
            let before = place.snapshot();
            let error = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
            assert!(matches!(error, AdoptError::Started { .. }), "{index}: {error}");
            assert!(place.snapshot() == before, "{index}: a refusal wrote");
            assert_eq!(place.adopt(), Adopted::Before, "{index}: it is left as it is");
        }
    }
    let place = internal();
    place.adopt();
    place.rewrite_superblock(|it| it.vote_stamp.write_counter = 9);
    assert_eq!(place.give_back(), Returned::Now, "a vote alone is no use of the data");
}

#[test]
fn there_is_no_way_back_once_the_register_names_an_epoch() {
    let place = internal();
    place.adopt();
    let folder = place.path("state/resources");
    fs::create_dir(&folder).unwrap();
    let write = |epoch| {
        let register = Register {
            resource: node::resource_id("r0"),
            store: VoteStoreId(1),
            promised: Ballot::default(),
            promised_nonce: Nonce(0),
            accepted: Some((Ballot { counter: 1, random: 1 }, config(epoch))),
            write_counter: 1,
            disk_left_at: None,
        };
        let mut slot = vec![0; REGISTER_SLOT_BYTES];
        let length = encode_register(&register, slot.first_chunk_mut().unwrap()).unwrap();
        let mut file = vec![0; REGISTER_FILE_BYTES];
        let at = usize::try_from(register_slot_offset(1)).unwrap();
        file[at..at + length].copy_from_slice(&slot[..length]);
        fs::write(folder.join("r0.register"), file).unwrap();
    };
    write(1);
    let error = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("knows epoch 1"), "{error}");
    fs::write(folder.join("r0.register"), vec![0; REGISTER_FILE_BYTES]).unwrap();
    let error = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Started { .. }), "what cannot be read is not guessed");
    write(0);
    assert_eq!(place.give_back(), Returned::Now, "the birth alone is no use of the data");
    write(1);
    let error = adopt(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Started { .. }), "an old register is not mixed in");
}

fn config(epoch: u64) -> Config {
    Config {
        resource: node::resource_id("r0"),
        branch: Branch(0),
        ancestors: Vec::new(),
        epoch: Epoch(epoch),
        value_id: format::ids::ValueId(1),
        previous: format::ids::ValueId(0),
        primary: None,
        tenure: None,
        volumes: Vec::new(),
        voters: Vec::new(),
        voters_old: Vec::new(),
        members: format::ids::MemberSet::default(),
        by_receipt: format::ids::MemberSet::default(),
        followers: format::ids::MemberSet::default(),
        clean: true,
        losses: 0,
        awaits_reopen: false,
    }
}

/// The older copy beside it was believed: a replica that a session of that release had went back.
#[test]
fn replica_of_a_newer_release_is_not_judged_by_an_older_copy_beside_it() {
    for place in [internal(), beside(), external()] {
        place.adopt();
        let ((_, layout), (_, path)) = (place.superblock(), place.placement());
        let mut bytes = fs::read(&path).unwrap();
        let at = usize::try_from(layout.superblock_offsets[1]).unwrap();
        superblock::make_newer(&mut bytes[at..at + 4096]);
        fs::write(&path, &bytes).unwrap();
        let newer =
            |error: &AdoptError| matches!(error, AdoptError::Disk(CreateMdError::Newer { .. }));
        let error = place.refused();
        assert!(newer(&error), "{error}");
        let error = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
        assert!(newer(&error), "{error}");
        assert!(fs::read(&path).unwrap() == bytes, "a refusal wrote");
    }
}

#[test]
fn saved_file_that_is_damaged_is_not_put_back() {
    let place = internal();
    let saved = adopt(&place.options, Resolve::Do, &mut |_| ()).unwrap().saved;
    let mut bytes = fs::read(&saved).unwrap();
    let last = bytes.len() - 1000;
    bytes[last] ^= 1;
    fs::write(&saved, bytes).unwrap();
    let before = place.snapshot();
    let error = give_back(&place.options, Resolve::Do, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
    assert!(place.snapshot() == before);
}

type Files = Vec<(PathBuf, Vec<u8>)>;
type Work = fn(&AdoptOptions, &mut dyn FnMut(Step));

fn do_adopt(options: &AdoptOptions, told: &mut dyn FnMut(Step)) {
    adopt(options, Resolve::Do, told).unwrap();
}

fn do_give_back(options: &AdoptOptions, told: &mut dyn FnMut(Step)) {
    give_back(options, Resolve::Do, told).unwrap();
}

/// The files after each step, and those at the start.
fn steps_of(place: &Place, work: Work) -> Vec<Files> {
    let mut steps = vec![place.snapshot()];
    work(&place.options, &mut |_| steps.push(place.snapshot()));
    steps
}

/// From every place where a run can end, another run goes on, in either direction.
#[test]
fn every_end_between_two_steps_leaves_both_ways_open() {
    for place in [internal(), beside(), external()] {
        let original = place.snapshot();
        for (work, count) in [(do_adopt as Work, 4), (do_give_back as Work, 5)] {
            let start = place.snapshot();
            for stop in 0..count {
                for other in [do_adopt as Work, do_give_back as Work] {
                    place.restore(&start);
                    let mut steps = 0;
                    let ended = catch_unwind(AssertUnwindSafe(|| {
                        work(&place.options, &mut |_| {
                            assert_ne!(steps, stop, "the end of this run");
                            steps += 1;
                        });
                    }));
                    assert!(ended.is_err(), "it has more than {stop} steps");
                    goes_on(&place, &original, other);
                }
            }
            place.restore(&start);
            work(&place.options, &mut |_| ());
        }
        assert!(place.snapshot() == original);
    }
}

/// A power cut in a step leaves any of its sectors, old or new.
#[test]
fn every_mix_of_sectors_leaves_both_ways_open() {
    let mut random = Random::new(0xad0b7);
    for place in [internal(), beside(), external()] {
        let original = place.snapshot();
        for work in [do_adopt as Work, do_give_back as Work] {
            let steps = steps_of(&place, work);
            let end = place.snapshot();
            for pair in steps.windows(2) {
                for other in [do_adopt as Work, do_give_back as Work, do_adopt, do_give_back] {
                    place.restore(&mixed(&pair[0], &pair[1], &mut random));
                    goes_on(&place, &original, other);
                }
            }
            place.restore(&end);
        }
    }
}

/// The files as before the step, but some sectors of the disks as after it.
fn mixed(before: &Files, after: &Files, random: &mut Random) -> Files {
    let mut files = before.clone();
    for (path, bytes) in &mut files {
        let is_disk = path.ends_with("disk") || path.ends_with("metadata");
        let Some((_, new)) = after.iter().find(|(it, _)| it == path).filter(|_| is_disk) else {
            continue;
        };
        for (old, new) in bytes.chunks_mut(512).zip(new.chunks(512)) {
            if old != new && random.next_u64() & 1 == 1 {
                old.copy_from_slice(new);
            }
        }
    }
    files
}

/// Whatever the disks look like, they become ours or DRBD's, whole.
#[track_caller]
fn goes_on(place: &Place, original: &Files, work: Work) {
    let has_saved = ["saved", "adopted", "returning"]
        .iter()
        .any(|stage| place.path("state/adopted").join(format!("r0-0.{stage}")).exists());
    if !has_saved {
        let disks = |files: &Files| -> Files {
            files
                .iter()
                .filter(|(path, _)| !path.starts_with(place.path("state")))
                .cloned()
                .collect()
        };
        assert!(disks(&place.snapshot()) == disks(original), "without a saved file it is DRBD's");
        return;
    }
    work(&place.options, &mut |_| ());
    if place.path("state/adopted/r0-0.adopted").exists() {
        let (superblock, _) = place.superblock();
        assert_eq!(superblock.state, ReplicaState::Blank);
        do_give_back(&place.options, &mut |_| ());
    }
    assert!(place.snapshot() == *original, "DRBD's replica is not what it was");
}

/// Two volumes of one replica, the second with its metadata beside it and less room for members.
fn two() -> (Place, [AdoptOptions; 2]) {
    let place = internal();
    let drbd = Drbd { log_pages: 8, generation: GENERATION + 16, ..Drbd::default() };
    fs::write(place.path("disk1"), drbd.internal()).unwrap();
    fs::write(place.path("ours1"), vec![0; 2_301_952]).unwrap();
    let second = AdoptOptions {
        disk: place.path("disk1"),
        metadata_disk: Some(place.path("ours1")),
        volume: 1,
        ..place.options.clone()
    };
    let both = [place.options.clone(), second];
    (place, both)
}

type WorkOfAll = fn(&[AdoptOptions], &mut dyn FnMut(u16, Step)) -> Result<(), AdoptError>;

fn adopt_both(both: &[AdoptOptions], told: &mut dyn FnMut(u16, Step)) -> Result<(), AdoptError> {
    adopt_all(both, Resolve::Do, told).map(|_| ())
}

fn give_both_back(
    both: &[AdoptOptions],
    told: &mut dyn FnMut(u16, Step),
) -> Result<(), AdoptError> {
    give_back_all(both, Resolve::Do, told).map(|_| ())
}

/// The metadata of the second volume: its own superblock, as a stamp.
fn stamp(place: &Place) -> (Superblock, u8) {
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    let placement = Placement::External {
        data_device_bytes: size("disk1"),
        metadata_device_bytes: size("ours1"),
    };
    let bytes = fs::read(place.path("ours1")).unwrap();
    let find = |slots| {
        let layout = Layout::new(placement, slots, LANES_DEFAULT).ok()?;
        let at = usize::try_from(layout.superblock_offsets[0]).unwrap();
        let (superblock, layout) = decode_superblock(bytes[at..].first_chunk()?).ok()?;
        Some((superblock, layout.slots))
    };
    (1..=32).find_map(find).expect("metadata of ours")
}

#[test]
fn volumes_of_a_replica_go_together_and_belong_together() {
    let (place, both) = two();
    let before = place.snapshot();
    let reports = adopt_all(&both, Resolve::Tell, &mut |_, _| ()).unwrap();
    assert!(reports.iter().all(|report| report.outcome == Adopted::Possible));
    assert!(place.snapshot() == before, "telling wrote");
    let reports = adopt_all(&both, Resolve::Do, &mut |_, _| ()).unwrap();
    let generations: Vec<u64> = reports.iter().map(|report| report.generation).collect();
    assert_eq!(generations, [GENERATION, GENERATION + 16]);
    let ((first, layout), (second, slots)) = (place.superblock(), stamp(&place));
    assert_eq!(slots, layout.slots, "an attach wants room for as many members on each");
    let named = &second.further[0];
    assert_eq!((second.volume, named.incarnation), (1, first.incarnation));
    assert!(!second.clean, "its blocks are data, not zeroes");
    let again = adopt_all(&both, Resolve::Do, &mut |_, _| ()).unwrap();
    assert!(again.iter().all(|report| report.outcome == Adopted::Before));
    give_back_all(&both, Resolve::Do, &mut |_, _| ()).unwrap();
    assert!(place.snapshot() == before, "something differs");
    let nothing = give_back_all(&both, Resolve::Do, &mut |_, _| ()).unwrap_err();
    assert!(matches!(nothing, AdoptError::NothingSaved { .. }), "{nothing}");
}

#[test]
fn one_volume_that_is_not_to_be_taken_keeps_all_with_drbd() {
    let (place, mut both) = two();
    let unclean = Drbd { log_pages: 8, flags: 0x11, ..Drbd::default() };
    fs::write(place.path("disk1"), unclean.internal()).unwrap();
    let before = place.snapshot();
    let error = adopt_both(&both, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Unclean { .. }), "{error}");
    assert!(place.snapshot() == before, "a refusal wrote");

    fs::write(place.path("disk1"), Drbd { log_pages: 8, ..Drbd::default() }.internal()).unwrap();
    let before = place.snapshot();
    both[0].same_as = Some(GENERATION);
    both[1].same_as = Some(GENERATION + 16);
    let error = adopt_both(&both, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Differs { .. }), "{error}");
    assert!(place.snapshot() == before, "a refusal wrote");
}

#[test]
fn no_volume_goes_back_once_a_session_had_the_replica() {
    let (place, both) = two();
    adopt_both(&both, &mut |_, _| ()).unwrap();
    place.rewrite_superblock(|superblock| superblock.state = ReplicaState::InSync);
    let before = place.snapshot();
    let error = give_both_back(&both, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, AdoptError::Started { .. }), "{error}");
    assert!(place.snapshot() == before, "a refusal wrote");
}

#[test]
fn every_end_between_the_steps_of_two_volumes_leaves_both_ways_open() {
    let (place, both) = two();
    let original = place.snapshot();
    for (work, count) in [(adopt_both as WorkOfAll, 8), (give_both_back as WorkOfAll, 10)] {
        let start = place.snapshot();
        for stop in 0..count {
            for other in [adopt_both as WorkOfAll, give_both_back as WorkOfAll] {
                place.restore(&start);
                let mut steps = 0;
                let ended = catch_unwind(AssertUnwindSafe(|| {
                    work(&both, &mut |_, _| {
                        assert_ne!(steps, stop, "the end of this run");
                        steps += 1;
                    })
                }));
                assert!(ended.is_err(), "it has more than {stop} steps");
                match other(&both, &mut |_, _| ()) {
                    Ok(()) | Err(AdoptError::NothingSaved { .. }) => {}
                    Err(error) => panic!("after {stop} steps: {error}"),
                }
                if place.snapshot() != original {
                    let ((first, _), (second, _)) = (place.superblock(), stamp(&place));
                    assert_eq!(second.further[0].incarnation, first.incarnation);
                    give_both_back(&both, &mut |_, _| ()).unwrap();
                }
                assert!(place.snapshot() == original, "DRBD's replica is not what it was");
            }
        }
        place.restore(&start);
        work(&both, &mut |_, _| ()).unwrap();
    }
    assert!(place.snapshot() == original);
}
