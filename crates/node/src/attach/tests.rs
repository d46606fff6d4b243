//! Disks that are taken into use after damage.

use std::path::PathBuf;
use std::process::Command;

use format::activity_log::{AL_RECORD_BYTES, encode_al_record};
use format::ids::{BLOCK_BYTES, EXTENT_BLOCKS};
use format::metadata::{AlChange, AlRecord, ReplicaState};
use format::superblock::superblock_offset;
use stdx::testing::skip;
use tempfile::TempDir;

use super::*;
use crate::attach::volumes::{read_new_volume, write_at};
use crate::create_md::{CreateMdOptions, FirstDisk, Overwrite, create_md};
use crate::sectors::faults;
use crate::show_md::{read_md, wipe_md};

const DISK_BYTES: u64 = 64 << 20;
const RING: u8 = 3;

/// One replica of `r0` on node `a`.
struct Place {
    directory: TempDir,
    /// Of metadata on a disk of its own.
    meta: Option<PathBuf>,
    /// Of volume 1.
    further: Option<PathBuf>,
    /// Over the file that is the disk elsewhere.
    device: Option<PathBuf>,
}

impl Place {
    fn within(directory: TempDir, meta: Option<PathBuf>) -> Self {
        Self { directory, meta, further: None, device: None }
    }

    fn new() -> Self {
        let place = Self::within(tempfile::tempdir().unwrap(), None);
        File::create(place.disk()).unwrap().set_len(DISK_BYTES).unwrap();
        place.create(Overwrite::Refuse);
        place
    }

    fn with_external_metadata() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let meta = directory.path().join("meta");
        let place = Self::within(directory, Some(meta.clone()));
        for path in [place.disk(), meta] {
            File::create(path).unwrap().set_len(DISK_BYTES).unwrap();
        }
        place.create(Overwrite::Refuse);
        place
    }

    fn with_two_volumes() -> Self {
        let mut place = Self::new();
        place.further = Some(place.create_further());
        place
    }

    /// The disk of a second volume.
    fn create_further(&self) -> PathBuf {
        let disk = self.directory.path().join("further");
        File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
        create_md(&CreateMdOptions {
            disk: disk.clone(),
            volume: 1,
            first: Some(FirstDisk { disk: self.disk(), metadata_disk: None }),
            ..self.options(Overwrite::Refuse)
        })
        .unwrap();
        disk
    }

    fn options(&self, overwrite: Overwrite) -> CreateMdOptions {
        CreateMdOptions { overwrite, ..CreateMdOptions::of_r0(self.disk(), self.meta.clone()) }
    }

    fn create(&self, overwrite: Overwrite) {
        create_md(&self.options(overwrite)).unwrap();
    }

    fn disk(&self) -> PathBuf {
        self.device.clone().unwrap_or_else(|| self.directory.path().join("disk"))
    }

    /// Records 2 to 45 are in one ring of its activity log.
    fn with_records(&self) -> (Superblock, Layout) {
        let replica = self.attach();
        let (superblock, layout) = (replica.superblock.clone(), replica.disk.layout);
        drop(replica);
        let path = self.disk();
        let device = Device::share(&path).unwrap();
        for number in 2..=45 {
            append(&device, (&superblock, &layout), number);
        }
        (superblock, layout)
    }

    fn attach(&self) -> Replica {
        self.try_to_attach().unwrap()
    }

    fn try_to_attach(&self) -> Result<Replica, Failure> {
        let further = self.further.as_ref().map(|disk| {
            let disk = disk.display();
            format!("volume 1 {{ device minor 2; disk {disk}; meta-disk internal; }}")
        });
        let definition = self.definition(&further.unwrap_or_default());
        let place = definition.disk.clone().unwrap();
        read_replica(&definition, &place, &self.state(), &mut Patience::of_tests())
    }

    /// With the text of further volumes.
    fn definition(&self, further: &str) -> Definition {
        let meta = self.meta.as_ref().map(|it| it.display().to_string());
        let meta = meta.as_deref().unwrap_or("internal");
        let text = format!(
            "resource r0 {{ on a {{ node-id 0; address 127.0.0.1:1;
               volume 0 {{ device minor 1; disk {}; meta-disk {meta}; }} {further} }} }}",
            self.disk().display()
        );
        Definition::from_text("a", "r0", &text).unwrap()
    }

    fn state(&self) -> StateDir {
        StateDir::below(self.directory.path())
    }

    /// Another disk of the size that this one has is at its path; it is put aside.
    fn swap(path: &Path) -> PathBuf {
        let aside = path.with_extension("aside");
        std::fs::rename(path, &aside).unwrap();
        File::create(path).unwrap().set_len(DISK_BYTES).unwrap();
        aside
    }

    /// The replica has it from now on, as the data thread would write it.
    fn rewrite(&self, change: impl FnOnce(&mut Superblock)) {
        let replica = self.attach();
        let (mut superblock, layout) = (replica.superblock, replica.disk.layout);
        change(&mut superblock);
        superblock.write_counter += 1;
        let path = self.meta.clone().unwrap_or_else(|| self.disk());
        let device = Device::share(&path).unwrap();
        write_at(&device, &superblock, &layout, superblock_offset(&superblock, &layout)).unwrap();
    }
}

/// A record that puts one extent into the slot of its number.
fn append(device: &Device<'_>, (superblock, layout): (&Superblock, &Layout), number: u64) {
    let slot = u16::try_from(number).unwrap();
    let changes = vec![AlChange { slot, extent: Some(number % 4) }];
    let record = AlRecord { ring: RING, number, changes, context_start: 0, context: Vec::new() };
    let mut block = [0; AL_RECORD_BYTES];
    encode_al_record(&record, superblock.incarnation, &mut block).unwrap();
    device.write(layout.al_record_offset(RING, number), &block).unwrap();
}

/// Over the older copy.
fn write_superblock(device: &Device<'_>, (superblock, layout): (&mut Superblock, &Layout)) {
    superblock.write_counter += 1;
    write_at(device, superblock, layout, superblock_offset(superblock, layout)).unwrap();
}

/// The ring was damaged when the node started after a clean end; what it names after that counts,
/// and not what it named before.
#[test]
fn records_behind_damage_are_believed_and_those_before_it_are_not() {
    let place = Place::new();
    let (mut superblock, layout) = place.with_records();
    let path = place.disk();
    let device = Device::share(&path).unwrap();
    device.write(layout.al_record_offset(RING, 44), &[0; AL_RECORD_BYTES]).unwrap();
    superblock.clean = true;
    write_superblock(&device, (&mut superblock, &layout));

    let next = place.attach().al_next_numbers[usize::from(RING)];
    let mut replayed = 0;
    for number in next..next + 40 {
        append(&device, (&superblock, &layout), number);
        let bytes = device.read(layout.al_ring_offset(RING), AL_RING_BYTES).unwrap();
        // That it is damaged would be the truth: all is compared.
        let Ok(replay) = replay_ring(RING, superblock.incarnation, &bytes) else { continue };
        assert_eq!(replay.newest, number);
        replayed += 1;
    }
    assert_eq!(replayed, 40);
}

/// `invalidate` makes it another replica while its log is in use.
#[test]
fn records_of_a_replica_that_was_made_anew_in_use_are_believed() {
    let place = Place::new();
    let (mut superblock, layout) = place.with_records();
    let device_path = place.disk();
    let device = Device::share(&device_path).unwrap();
    superblock.log = Some(superblock.incarnation);
    superblock.incarnation = Incarnation(0xabc);
    superblock.clean = false;
    write_superblock(&device, (&mut superblock, &layout));
    // The records put extents 0 to 3 into slots.
    let marked = |replica: &Replica| {
        let pages = replica.pages.iter();
        pages.flat_map(|page| page.bits.iter()).map(|word| word.count_ones()).sum::<u32>()
    };
    let replica = place.attach();
    let extents = superblock.space().extents().count();
    assert!(extents > 4, "{extents} extents are no more than the records name");
    assert_eq!(u64::from(marked(&replica)), 4 * EXTENT_BLOCKS);
}

#[test]
fn metadata_elsewhere_is_not_believed_of_another_data_disk() {
    let place = Place::with_external_metadata();
    drop(place.attach());
    let (disk, kept) = (place.disk(), place.disk().with_extension("kept"));
    std::fs::rename(&disk, &kept).unwrap();
    File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
    let said = place.try_to_attach().unwrap_err().to_string();
    for part in ["about another data disk", "create-md --force r0", "remove resources/r0.data"] {
        assert!(said.contains(part), "{said}");
    }
    // The right one again; then the other one after all, as a new replica.
    let other = disk.with_extension("other");
    std::fs::rename(&disk, &other).unwrap();
    std::fs::rename(&kept, &disk).unwrap();
    drop(place.attach());
    std::fs::rename(&other, &disk).unwrap();
    place.try_to_attach().unwrap_err();
    place.create(Overwrite::Force);
    drop(place.attach());
    drop(place.attach());
}

/// A name of another kind than the one that was noted was believed, and noted in its place.
#[test]
fn data_disk_with_a_name_of_another_kind_is_refused() {
    let place = Place::with_external_metadata();
    let incarnation = place.attach().superblock.incarnation;
    let note = format!("{:032x} wwid:naa.5\n", incarnation.0);
    let first = ("r0", format::space::Place::FIRST);
    place.state().store_data_disk(first, &note).unwrap();
    let said = place.try_to_attach().unwrap_err().to_string();
    assert!(said.contains("about wwid:naa.5, and this is file:"), "{said}");
    assert_eq!(place.state().data_disk(first), Some(note));
}

/// A replica that is an old image of itself gets another incarnation once it is in use: what was
/// noted was of the one before, and did not count at the next start.
#[test]
fn data_disk_is_known_after_a_change_of_incarnation() {
    let place = Place::with_external_metadata();
    place.rewrite(|superblock| {
        superblock.incarnation = Incarnation(0xabc);
        superblock.state = ReplicaState::InSync;
        superblock.joined = format::ids::Epoch(3);
    });
    let aside = Place::swap(&place.disk());
    let said = place.try_to_attach().unwrap_err().to_string();
    assert!(said.contains("about another data disk"), "{said}");
    std::fs::rename(aside, place.disk()).unwrap();
    drop(place.attach());
    let note = place.state().data_disk(("r0", format::space::Place::FIRST)).unwrap();
    assert!(note.starts_with(&format!("{:032x} file:", 0xabc)), "{note}");
}

/// Of a volume that was added in use nothing was noted before the next attach: a blank disk in its
/// place was served then.
#[test]
fn data_disk_of_an_added_volume_is_known_from_the_start() {
    let place = Place::new();
    drop(place.attach());
    let [disk, meta] = ["disk1", "meta1"].map(|name| place.directory.path().join(name));
    for path in [&disk, &meta] {
        File::create(path).unwrap().set_len(DISK_BYTES).unwrap();
    }
    create_md(&CreateMdOptions {
        disk: disk.clone(),
        metadata_disk: Some(meta.clone()),
        volume: 1,
        first: Some(FirstDisk { disk: place.disk(), metadata_disk: None }),
        ..place.options(Overwrite::Refuse)
    })
    .unwrap();
    let further = format!(
        "volume 1 {{ device minor 2; disk {}; meta-disk {}; }}",
        disk.display(),
        meta.display()
    );
    let definition = place.definition(&further);
    let add = || {
        let target = (definition.disk.as_ref().unwrap(), &definition.further[0]);
        read_new_volume(&definition, target, &place.state(), &mut Patience::of_tests())
    };
    drop(add().unwrap().unwrap());
    let aside = Place::swap(&disk);
    let said = add().unwrap_err().to_string();
    for part in ["about another data disk", "remove resources/r0@1.data"] {
        assert!(said.contains(part), "{said}");
    }
    std::fs::rename(aside, &disk).unwrap();
    assert!(add().unwrap().is_some());
}

/// Whoever waited for the disk may have it between reading and opening: what it wrote was written
/// over with what was read before.
#[test]
fn disk_that_was_written_since_it_was_read_is_refused() {
    let writers: [fn(&Place); 3] = [
        |place| place.create(Overwrite::Force),
        |place| place.rewrite(|superblock| superblock.clean = false),
        |place| drop(wipe_md(&place.disk(), None, Overwrite::Force).unwrap()),
    ];
    for write in writers {
        let place = Place::new();
        let Replica { superblock, disk, .. } = place.attach();
        let layout = disk.layout;
        drop(disk);
        let definition = place.definition("");
        let open = || {
            let layouts = (layout, Vec::new());
            open_replica(&definition, &superblock, layouts, &mut Patience::of_tests())
        };
        drop(open().unwrap());
        write(&place);
        let failure = open().unwrap_err();
        assert_eq!(failure.code, FailureCode::DiskFailed);
        let said = failure.to_string();
        assert!(said.contains("another program wrote the metadata"), "{said}");
    }
}

/// What becomes of a disk.
#[derive(Clone, Copy, Debug)]
enum Harm {
    CutTo(u64),
    FilledWith(u8),
}

const HARMS: [Harm; 9] = [
    Harm::CutTo(0),
    Harm::CutTo(1),
    Harm::CutTo(4095),
    Harm::CutTo(4096),
    Harm::CutTo(64 << 10),
    Harm::CutTo(DISK_BYTES / 2),
    Harm::CutTo(DISK_BYTES - 1),
    Harm::FilledWith(0),
    Harm::FilledWith(0xa5),
];

impl Harm {
    fn befall(self, disk: &Path) {
        match self {
            Self::CutTo(bytes) => {
                File::options().write(true).open(disk).unwrap().set_len(bytes).unwrap();
            }
            Self::FilledWith(byte) => {
                std::fs::write(disk, vec![byte; usize::try_from(DISK_BYTES).unwrap()]).unwrap();
            }
        }
    }
}

/// A replica, and which of its files.
type Shape = (&'static str, fn() -> Place, &'static str);

/// A disk that was wiped or cut kept its whole resource down, and the vote of its node with it.
/// Whichever disk of a replica it is: the disk is what is no good, and nothing is written to it.
#[test]
fn a_disk_that_is_not_the_replicas_any_more_is_refused_as_a_disk_and_left_alone() {
    let shapes: [Shape; 5] = [
        ("all in one", Place::new, "disk"),
        ("data alone", Place::with_external_metadata, "disk"),
        ("metadata alone", Place::with_external_metadata, "meta"),
        ("first of two volumes", Place::with_two_volumes, "disk"),
        ("second of two volumes", Place::with_two_volumes, "further"),
    ];
    for (shape, make, name) in shapes {
        for harm in HARMS {
            // What data alone is, is the client's matter.
            if shape == "data alone" && matches!(harm, Harm::FilledWith(_)) {
                continue;
            }
            let place = make();
            drop(place.attach());
            let disk = place.directory.path().join(name);
            harm.befall(&disk);
            let before = std::fs::read(&disk).unwrap();
            let failure = place.try_to_attach().unwrap_err();
            assert!(is_about_disk(&failure), "{shape}, {harm:?}: {failure}");
            let (said, path) = (failure.to_string(), disk.display().to_string());
            assert!(said.contains(&path), "{shape}, {harm:?}: no {path} in {said}");
            assert!(
                std::fs::read(&disk).unwrap() == before,
                "{shape}, {harm:?}: it was written to"
            );
        }
    }
}

/// It was told to make all of the replica anew, though nothing of the new disk was in use.
#[test]
fn volume_with_too_little_room_is_told_how_to_be_made() {
    let place = Place::new();
    let disk = place.directory.path().join("disk1");
    File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
    let second = |overwrite| CreateMdOptions {
        disk: disk.clone(),
        volume: 1,
        first: Some(FirstDisk { disk: place.disk(), metadata_disk: None }),
        ..place.options(overwrite)
    };
    create_md(&second(Overwrite::Refuse)).unwrap();
    let many = CreateMdOptions { peers_max: Some(31), ..place.options(Overwrite::Force) };
    assert_eq!(create_md(&many).unwrap().slots, 32);
    let text =
        format!("volume 1 {{ device minor 2; disk {}; meta-disk internal; }}", disk.display());
    let definition = place.definition(&text);
    let attach = || {
        let first = definition.disk.as_ref().unwrap();
        read_replica(&definition, first, &place.state(), &mut Patience::of_tests())
    };
    let said = attach().unwrap_err().to_string();
    assert!(said.contains("create-md --force r0/1 --max-peers 31`"), "{said}");
    // Without being told, too, it has the room of the first.
    assert_eq!(create_md(&second(Overwrite::Force)).unwrap().slots, 32);
    drop(attach().unwrap());
}

/// No loss tells the header of the own slot that it is in use: its marks were not read after a
/// clean end, and what this replica alone had was never copied over.
#[test]
fn marks_of_the_own_slot_are_read_whatever_its_header_says() {
    let place = Place::new();
    let replica = place.attach();
    let (superblock, layout) = (&replica.superblock, replica.disk.layout);
    let own = superblock.slots.iter().position(|slot| slot.member == superblock.node);
    assert!(!superblock.slots[own.unwrap()].in_use);
    let own = u8::try_from(own.unwrap()).unwrap();
    drop(replica);
    let path = place.disk();
    let device = Device::share(&path).unwrap();
    let mut block = [0; SUPERBLOCK_BYTES];
    block[5] = 4;
    device.write(layout.bitmap_page_offset(own, LaneIndex(3), 0), &block).unwrap();
    let pages = place.attach().pages;
    let found: Vec<_> = pages.iter().map(|it| (it.member.get(), it.lane, it.page)).collect();
    assert_eq!(found, [(0, LaneIndex(3), 0)]);
    assert_eq!(pages[0].bits[0], 4 << 40);
}

/// A record that cannot be read failed the attach, whatever the others said. Which one was the
/// newest is not known if it may be that one: what it named would be left out.
#[test]
fn record_that_cannot_be_read_counts_as_any_where_it_may_have_counted() {
    // Records 42 to 45 name what is active; 46 would be the next one.
    for (number, is_all) in [(20, false), (41, false), (42, true), (45, true), (46, true)] {
        let place = Place::new();
        let (mut superblock, layout) = place.with_records();
        let path = place.disk();
        let device = Device::share(&path).unwrap();
        superblock.clean = false;
        write_superblock(&device, (&mut superblock, &layout));
        let lost = layout.al_record_offset(RING, number);
        faults::lose_page(&path, lost);
        let pages = place.attach().pages;
        let words = pages.iter().flat_map(|page| page.bits.iter());
        let marked: u64 = words.map(|word| u64::from(word.count_ones())).sum();
        let all = superblock.size_bytes / BLOCK_BYTES;
        assert_eq!(marked, if is_all { all } else { 4 * EXTENT_BLOCKS }, "without {number}");
        assert!(!faults::is_lost(&path, lost), "the log was made empty");
        drop(place.attach());
    }
}

/// A stamp that is behind the superblock is a copy of another day, unless the one that was not is
/// what cannot be read.
#[test]
fn stamp_that_cannot_be_read_is_written_anew() {
    let place = Place::with_two_volumes();
    let path = place.further.clone().unwrap();
    let replica = place.attach();
    let counter = replica.superblock.write_counter;
    let layout = replica.disk.further[0].layout;
    drop(replica);
    let place_of = |counter: u64| layout.superblock_offsets[usize::from(counter % 2 == 1)];
    faults::lose_page(&path, place_of(counter));
    assert_eq!(place.attach().superblock.write_counter, counter + 1);
    assert!(!faults::is_lost(&path, place_of(counter)));
    // The older one may be lost too; where it stands in place of the newer one, that was not lost.
    faults::lose_page(&path, place_of(counter));
    assert_eq!(place.attach().superblock.write_counter, counter + 2);
    let device = Device::share(&path).unwrap();
    let older = device.read(place_of(counter + 1), PAGE_BYTES).unwrap();
    device.write(place_of(counter + 2), &older).unwrap();
    let said = place.try_to_attach().unwrap_err().to_string();
    assert!(said.contains("is an older copy"), "{said}");
}

/// Pages have no checksum: bits of one that decayed ended the daemon at each of its starts.
#[test]
fn marks_behind_the_end_of_the_volume_are_ignored() {
    let place = Place::new();
    let replica = place.attach();
    let (mut superblock, layout) = (replica.superblock.clone(), replica.disk.layout);
    // The lane behind the tenth has none of its blocks.
    superblock.size_bytes = (10 * EXTENT_BLOCKS + 7) * BLOCK_BYTES;
    let own = superblock.slots.iter().position(|slot| slot.member == superblock.node);
    let own = u8::try_from(own.unwrap()).unwrap();
    let path = place.disk();
    let device = Device::share(&path).unwrap();
    // Something is active, so that the pages are gone through.
    append(&device, (&superblock, &layout), 2);
    superblock.clean = false;
    write_superblock(&device, (&mut superblock, &layout));
    let decayed = [0xff; SUPERBLOCK_BYTES];
    for lane in [9, 10, 11] {
        device.write(layout.bitmap_page_offset(own, LaneIndex(lane), 0), &decayed).unwrap();
    }
    drop(replica);
    let pages = place.attach().pages;
    let ones = |page: &LoadedPage| page.bits.iter().map(|word| u64::from(word.count_ones())).sum();
    let found: Vec<(u8, u64)> = pages.iter().map(|page| (page.lane.0, ones(page))).collect();
    assert_eq!(found, [(2, EXTENT_BLOCKS), (9, EXTENT_BLOCKS), (10, 7)]);
}

/// It is written anew, where nothing else had to be, and found as one of two from then on.
#[test]
fn replica_of_which_one_copy_of_the_superblock_is_lost_is_used_and_has_two_again() {
    let place = Place::new();
    let offsets = place.attach().disk.layout.superblock_offsets;
    for offset in offsets {
        faults::lose_page(&place.disk(), offset);
        drop(place.attach());
        assert!(!faults::is_lost(&place.disk(), offset));
    }
}

/// A path that fails for a moment says of what is there what a lost sector does.
#[test]
fn disk_that_is_away_for_a_moment_has_lost_nothing() {
    let place = Place::new();
    let before = place.attach().superblock;
    faults::lose_path(2);
    assert_eq!(place.attach().superblock, before);
}

/// A block device over a file, which takes root and the loop driver.
struct Loop(String);

impl Loop {
    fn over(file: &Path) -> Option<Self> {
        let made = Command::new("losetup").args(["-f", "--show"]).arg(file).output();
        match made {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
            }
            refused => {
                skip(&format!("no loop device: {refused:?}"));
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let status = Command::new("losetup").args(["-d", &self.0]).status().unwrap();
        assert!(status.success());
    }
}

/// The page cache of a block device can keep what its holder wrote over since: a start, `dump-md`
/// and `create-md` took it for what is there.
#[test]
fn what_decides_is_on_the_disk_and_not_what_its_page_cache_kept() {
    let place = Place::new();
    let Some(device) = Loop::over(&place.disk()) else { return };
    let disk = PathBuf::from(&device.0);
    // As long as somebody has it open the pages stay that were read.
    let kept = File::open(&disk).unwrap();
    let mut bytes = vec![0; usize::try_from(DISK_BYTES).unwrap()];
    kept.read_exact_at(&mut bytes, 0).unwrap();
    place.rewrite(|superblock| superblock.state = ReplicaState::InSync);
    kept.read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes != std::fs::read(place.disk()).unwrap(), "nothing is stale");
    let on_device = Place { device: Some(disk.clone()), ..place };
    let found = read_md(&disk, None, None).unwrap();
    assert_eq!(found[0].superblock.write_counter, 2);
    let further = on_device.create_further();
    let is_zeroed = read_md(&further, None, None).unwrap()[0].superblock.clean;
    assert!(is_zeroed, "the replica has data");
    assert_eq!(on_device.attach().superblock.write_counter, 2);
}
