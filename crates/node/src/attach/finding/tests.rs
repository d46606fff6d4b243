//! Disks that grew or shrank, with superblocks of an earlier use of them at either end.

use std::fs::File;
use std::path::PathBuf;

use format::ids::BLOCK_BYTES;
use format::layout::SLOTS_DEFAULT;
use format::metadata::VoteStamp;
use stdx::checksum::{crc32c, crc32c_append};
use tempfile::TempDir;

use super::{
    Definition, Device, DiskPlace, Failure, Layout, PAGE_BYTES, Placement, Superblock, VoteStoreId,
    find_superblock, superblock_at,
};
use crate::attach::volumes::write_at;
use crate::create_md::{CreateMdOptions, LANES_DEFAULT, Overwrite, create_md};
use crate::sectors::faults;
use crate::show_md::{Metadata, read_md, wipe_md};

const SMALL: u64 = 64 << 20;
const LARGE: u64 = 96 << 20;

struct Place {
    directory: TempDir,
    meta: Option<DiskPlace>,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap(), meta: None };
        File::create(place.disk()).unwrap();
        place
    }

    /// With metadata on a disk of its own, which is the one that changes.
    fn with_external_metadata() -> Self {
        let mut place = Self::new();
        let data = place.directory.path().join("data");
        File::create(&data).unwrap().set_len(SMALL).unwrap();
        place.meta = Some(DiskPlace { data, meta: Some(place.disk()) });
        place
    }

    fn disk(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    fn resize(&self, size_bytes: u64) {
        File::options().write(true).open(self.disk()).unwrap().set_len(size_bytes).unwrap();
    }

    /// A new replica of a resource at the end that the disk has.
    fn create(&self, resource: &str) -> (Superblock, Layout) {
        self.create_after(resource, None)
    }

    /// The same where it is known where the disk ended before.
    fn create_after(&self, resource: &str, former_bytes: Option<u64>) -> (Superblock, Layout) {
        create_md(&self.options(resource, former_bytes, Overwrite::Force)).unwrap();
        let path = self.disk();
        let device = Device::share(&path).unwrap();
        let layout = self.layout(device.size_bytes);
        let [_, last] = layout.superblock_offsets;
        (superblock_at(&device, last).unwrap().unwrap().superblock, layout)
    }

    fn options(
        &self,
        resource: &str,
        former_bytes: Option<u64>,
        overwrite: Overwrite,
    ) -> CreateMdOptions {
        let (disk, metadata_disk) = self.disks();
        CreateMdOptions {
            disk,
            metadata_disk,
            resource_name: resource.to_owned(),
            volume: 0,
            first: None,
            node_id: 0,
            member_ids: vec![0, 1],
            size_bytes: None,
            peers_max: None,
            former_bytes,
            overwrite,
        }
    }

    fn placement(&self, size_bytes: u64) -> Placement {
        match self.meta {
            None => Placement::Internal { device_bytes: size_bytes },
            Some(_) => {
                Placement::External { data_device_bytes: SMALL, metadata_device_bytes: size_bytes }
            }
        }
    }

    fn layout(&self, size_bytes: u64) -> Layout {
        Layout::new(self.placement(size_bytes), SLOTS_DEFAULT, LANES_DEFAULT).unwrap()
    }

    fn disks(&self) -> (PathBuf, Option<PathBuf>) {
        match &self.meta {
            Some(place) => (place.data.clone(), place.meta.clone()),
            None => (self.disk(), None),
        }
    }

    fn wipe(&self) -> Option<String> {
        let (data, meta) = self.disks();
        wipe_md(&data, meta.as_deref(), Overwrite::Force).unwrap()
    }

    fn show(&self) -> Vec<Metadata> {
        let (data, meta) = self.disks();
        read_md(&data, meta.as_deref(), None).unwrap()
    }

    /// The same replica, written so often, with a vote of the store so late.
    fn write(&self, (superblock, layout): &(Superblock, Layout), counter: u64, vote: (u64, u64)) {
        let mut superblock = superblock.clone();
        superblock.write_counter = counter;
        superblock.vote_stamp =
            VoteStamp { store: VoteStoreId(vote.0), write_counter: vote.1, ..VoteStamp::default() };
        superblock.size_bytes = superblock.size_bytes.min(8 * BLOCK_BYTES);
        let path = self.disk();
        let device = Device::share(&path).unwrap();
        for offset in layout.superblock_offsets {
            write_at(&device, &superblock, layout, offset).unwrap();
        }
    }

    fn find(&self, former_bytes: Option<u64>) -> Result<(Superblock, Layout), Failure> {
        let meta = match &self.meta {
            None => "internal".to_owned(),
            Some(_) => self.disk().display().to_string(),
        };
        let data = self.meta.as_ref().map_or_else(|| self.disk(), |it| it.data.clone());
        let text = format!(
            "resource r0 {{ on a {{ node-id 0; address 127.0.0.1:1;
               volume 0 {{ device minor 1; disk {}; meta-disk {meta}; }} }} }}",
            data.display()
        );
        let definition = Definition::from_text("a", "r0", &text).unwrap();
        let place = definition.disk.as_ref().unwrap();
        let mut patience = crate::patience::Patience::of_tests();
        let path = self.disk();
        let device = Device::open(&path, &mut patience).unwrap();
        let data_bytes = if self.meta.is_some() { SMALL } else { device.size_bytes };
        find_superblock(&device, (data_bytes, former_bytes), &definition, (0, place))
    }

    /// An old replica at the end of a large disk, and one in use at that of the small one it was
    /// made since; now it is large again.
    fn grown(&self, old_resource: &str) -> [(Superblock, Layout); 2] {
        self.resize(LARGE);
        let old = self.create(old_resource);
        let live = (self.create("r0").0, self.layout(SMALL));
        self.write(&old, 0, (0, 0));
        [old, live]
    }

    fn assert_refused(&self, former_bytes: Option<u64>, parts: &[&str]) {
        let said = self.find(former_bytes).unwrap_err().to_string();
        for part in parts {
            assert!(said.contains(part), "{said}");
        }
    }
}

#[test]
fn metadata_of_a_disk_that_grew_is_found_where_it_was() {
    let place = Place::new();
    place.resize(SMALL);
    let (live, layout) = place.create("r0");
    place.resize(LARGE);
    let found = place.find(Some(SMALL)).unwrap();
    assert_eq!((found.0.incarnation, found.1), (live.incarnation, layout));
    place.assert_refused(None, &["no Basalt metadata was found"]);
}

/// The end that it has now was the end once before.
#[test]
fn older_superblock_at_the_new_end_is_not_the_one_in_use() {
    let place = Place::new();
    let [old, live] = place.grown("r0");
    place.write(&old, 7, (5, 20));
    place.write(&live, 3, (5, 21));
    let found = place.find(Some(SMALL)).unwrap();
    assert_eq!((found.0.incarnation, found.1), (live.0.incarnation, live.1));
    // The other way round: of two that voted with one store the later one.
    place.write(&old, 7, (5, 22));
    assert_eq!(place.find(Some(SMALL)).unwrap().0.incarnation, old.0.incarnation);
}

#[test]
fn of_one_replica_at_both_ends_the_copy_that_was_written_last_counts() {
    let place = Place::new();
    let [old, mut live] = place.grown("r0");
    live.0.incarnation = old.0.incarnation;
    place.write(&old, 7, (5, 20));
    place.write(&live, 8, (5, 20));
    assert_eq!(place.find(Some(SMALL)).unwrap().1, live.1);
    // A move that was not noted any more: it copies the superblock as it is.
    place.write(&old, 8, (5, 20));
    assert_eq!(place.find(Some(SMALL)).unwrap().1, old.1);
}

#[test]
fn two_replicas_that_cannot_be_compared_are_refused_with_what_to_type() {
    let place = Place::new();
    let [old, live] = place.grown("r0");
    let hints = ["nothing says which", "wipe-md --force r0", "remove resources/r0.disk"];
    // Of two stores; one that was never in use; the same moment.
    for (of_old, of_live) in [((5, 20), (6, 10)), ((0, 0), (6, 10)), ((6, 10), (6, 10))] {
        place.write(&old, 7, of_old);
        place.write(&live, 8, of_live);
        place.assert_refused(Some(SMALL), &hints);
    }
    // As the hint says.
    assert_eq!(place.find(None).unwrap().0.incarnation, old.0.incarnation);
    place.wipe();
    assert_eq!(place.find(Some(SMALL)).unwrap().0.incarnation, live.0.incarnation);
}

/// One of the places that metadata of the size that the disk has could begin at is where it ended.
#[test]
fn wiping_what_is_at_the_new_end_leaves_what_is_in_use() {
    let place = Place::new();
    place.resize(LARGE);
    let old = place.create("r0");
    let places = Layout::superblock_places(place.placement(LARGE));
    let at = places.into_iter().rfind(|at| !old.1.superblock_offsets.contains(at)).unwrap();
    let former_bytes = at + PAGE_BYTES;
    let live = (place.create("r0").0, place.layout(former_bytes));
    place.write(&live, 8, (5, 21));
    place.wipe();
    let path = place.disk();
    let device = Device::share(&path).unwrap();
    for offset in live.1.superblock_offsets {
        assert!(superblock_at(&device, offset).unwrap().is_some(), "at {offset}");
    }
    for offset in old.1.superblock_offsets {
        assert!(superblock_at(&device, offset).unwrap().is_none(), "at {offset}");
    }
}

/// What stood where the disk ended before was found beside the new one, and a note in the state
/// directory had to be removed by hand.
#[test]
fn replica_that_is_made_anew_on_a_disk_that_grew_is_the_only_one() {
    for place in [Place::new(), Place::with_external_metadata()] {
        place.resize(SMALL);
        let former = place.create("r0");
        place.write(&former, 8, (5, 21));
        place.resize(LARGE);
        let (new, layout) = place.create_after("r0", Some(SMALL));
        let found = place.find(Some(SMALL)).unwrap();
        assert_eq!((found.0.incarnation, found.1), (new.incarnation, layout));
    }
}

#[test]
fn metadata_of_another_resource_at_the_new_end_is_told_of() {
    let place = Place::new();
    let [old, live] = place.grown("r9");
    place.write(&old, 7, (5, 20));
    place.write(&live, 8, (5, 21));
    place.assert_refused(Some(SMALL), &["\"r9\"", "nothing says which", "wipe-md --force r0"]);
}

/// What it left there when it was made larger.
#[test]
fn older_superblock_of_a_disk_that_shrank_is_refused() {
    let place = Place::new();
    place.resize(SMALL);
    let small = place.create("r0");
    place.write(&small, 7, (5, 20));
    place.assert_refused(Some(LARGE), &["of an earlier day", "create-md --force r0"]);
    // A smaller disk in its place, that was never in use.
    place.write(&small, 0, (0, 0));
    assert_eq!(place.find(Some(LARGE)).unwrap().0.incarnation, small.0.incarnation);
}

#[test]
fn metadata_disk_that_shrank_is_refused() {
    let place = Place::with_external_metadata();
    place.resize(LARGE);
    place.create("r0");
    place.resize(SMALL);
    for former_bytes in [Some(LARGE), None] {
        place.assert_refused(former_bytes, &["not all of it", "former size"]);
    }
}

/// It begins with the one in use, wherever the other copy of that is.
#[test]
fn end_of_a_metadata_disk_that_grew_is_not_believed() {
    let place = Place::with_external_metadata();
    place.resize(LARGE);
    let old = place.create("r0");
    place.resize(SMALL);
    let live = place.create("r0");
    assert_ne!(old.0.incarnation, live.0.incarnation);
    place.write(&live, 8, (5, 21));
    place.resize(LARGE);
    let path = place.disk();
    let device = Device::share(&path).unwrap();
    let stale = Superblock { write_counter: 9, ..old.0.clone() };
    write_at(&device, &stale, &old.1, old.1.superblock_offsets[1]).unwrap();
    for former_bytes in [Some(SMALL), None] {
        let found = place.find(former_bytes).unwrap();
        assert_eq!((found.0.incarnation, found.1), (live.0.incarnation, live.1));
    }
}

/// A change writes one copy and then the other: one is whole at any time.
#[test]
fn superblock_with_higher_write_counter_wins_and_a_torn_one_loses() {
    for place in [Place::new(), Place::with_external_metadata()] {
        place.resize(SMALL);
        let (live, layout) = place.create("r0");
        let path = place.disk();
        let device = Device::share(&path).unwrap();
        let counter = || place.find(Some(SMALL)).unwrap().0.write_counter;
        let [first, last] = layout.superblock_offsets;
        for (newer, older) in [(first, last), (last, first)] {
            for (offset, write_counter) in [(older, 7), (newer, 8)] {
                let superblock = Superblock { write_counter, ..live.clone() };
                write_at(&device, &superblock, &layout, offset).unwrap();
            }
            assert_eq!(counter(), 8);
            // Torn before what changed; a tear in equal bytes is no tear.
            let mut torn = device.read(newer, PAGE_BYTES).unwrap().to_vec();
            torn[512..].copy_from_slice(&device.read(older, PAGE_BYTES).unwrap()[512..]);
            device.write(newer, &torn).unwrap();
            assert_eq!(counter(), 7);
            device.write(newer, &[0; 4096]).unwrap();
            assert_eq!(counter(), 7);
            device.write(older, &torn).unwrap();
            place.assert_refused(Some(SMALL), &["no Basalt metadata was found"]);
        }
    }
}

/// What an older copy says beside it is not how things stand.
#[test]
fn copy_of_a_newer_release_is_refused_whatever_stands_beside_it() {
    for place in [Place::new(), Place::with_external_metadata()] {
        place.resize(SMALL);
        let live = place.create("r0");
        let path = place.disk();
        let device = Device::share(&path).unwrap();
        for offset in live.1.superblock_offsets {
            place.write(&live, 8, (5, 21));
            let mut block = device.read(offset, PAGE_BYTES).unwrap().to_vec();
            block[8] = 2;
            let crc = crc32c_append(crc32c(&block[..12]), &block[16..]);
            block[12..16].copy_from_slice(&crc.to_le_bytes());
            device.write(offset, &block).unwrap();
            place.assert_refused(Some(SMALL), &["which this release does not know"]);
        }
    }
}

/// One sector gave a replica up of which a second superblock was there. What the other one may
/// have said of later is not made good by believing this one: it may lack the loss of a member.
#[test]
fn copy_that_cannot_be_read_leaves_the_other_one() {
    for place in [Place::new(), Place::with_external_metadata()] {
        place.resize(SMALL);
        let mut live = place.create("r0");
        live.0.clean = true;
        place.write(&live, 8, (5, 21));
        let [first, last] = live.1.superblock_offsets;
        for lost in [first, last] {
            faults::lose_page(&place.disk(), lost);
            let (found, layout) = place.find(Some(SMALL)).unwrap();
            assert_eq!((found.incarnation, found.write_counter), (live.0.incarnation, 8));
            assert_eq!(layout, live.1);
            assert!(!found.clean, "the log is replayed");
            let bases: Vec<_> = found.slots.iter().map(|slot| slot.base_epoch).collect();
            assert_eq!(bases, [format::ids::Epoch(0), replication::FULL]);
            place.write(&live, 8, (5, 21));
        }
        assert!(place.find(Some(SMALL)).unwrap().0.clean, "both are there again");
        faults::lose_page(&place.disk(), first);
        faults::lose_page(&place.disk(), last);
        place.assert_refused(Some(SMALL), &["cannot be read", "create-md --force r0"]);
    }
}

/// The one in use may be at the end that cannot be read.
#[test]
fn copy_that_cannot_be_read_is_no_word_on_which_end_is_in_use() {
    let place = Place::new();
    let [old, live] = place.grown("r0");
    place.write(&old, 7, (5, 20));
    place.write(&live, 3, (5, 21));
    faults::lose_page(&place.disk(), live.1.superblock_offsets[1]);
    place.assert_refused(Some(SMALL), &["cannot be read"]);
    let place = Place::with_external_metadata();
    place.resize(SMALL);
    let live = place.create("r0");
    faults::lose_page(&place.disk(), live.1.superblock_offsets[0]);
    // What the end of such a device says counts if the start says the same, or a note.
    place.assert_refused(None, &["cannot be read"]);
}

#[test]
fn new_metadata_is_written_over_what_cannot_be_read() {
    for place in [Place::new(), Place::with_external_metadata()] {
        place.resize(SMALL);
        let (_, layout) = place.create("r0");
        let [first, last] = layout.superblock_offsets;
        faults::lose_page(&place.disk(), first);
        let said = create_md(&place.options("r0", None, Overwrite::Refuse)).unwrap_err();
        assert!(said.to_string().contains("metadata of resource `r0`"), "{said}");
        let shown = place.show();
        assert_eq!((shown.len(), shown[0].copies), (1, 1));
        faults::lose_page(&place.disk(), last);
        let said = create_md(&place.options("r0", None, Overwrite::Refuse)).unwrap_err();
        assert!(said.to_string().contains("metadata that cannot be read"), "{said}");
        faults::lose_page(&place.disk(), layout.al_record_offset(3, 1));
        place.create("r0");
        assert_eq!(place.show()[0].copies, 2);
        place.find(Some(SMALL)).unwrap();
        // Without a superblock nothing says whose sectors these are.
        place.wipe();
        let path = place.disk();
        let device = Device::share(&path).unwrap();
        device.write(last - PAGE_BYTES, &[7; 4096]).unwrap();
        for lost in [layout.al_record_offset(3, 1), last - PAGE_BYTES] {
            faults::lose_page(&place.disk(), lost);
        }
        let said = create_md(&place.options("r0", None, Overwrite::Refuse)).unwrap_err();
        assert!(said.to_string().contains("sectors that cannot be read"), "{said}");
        place.create("r0");
        device.read(first, last + PAGE_BYTES - first).unwrap();
    }
}

/// Superblocks of other layouts could be there: of data it is, and zeroes are not what it was.
#[test]
fn data_that_cannot_be_read_is_not_wiped() {
    let place = Place::new();
    place.resize(SMALL);
    let (_, layout) = place.create("r0");
    let [first, last] = layout.superblock_offsets;
    let places = Layout::superblock_places(place.placement(SMALL));
    let data = places.into_iter().find(|at| *at < first).unwrap();
    for lost in [data, last] {
        faults::lose_page(&place.disk(), lost);
    }
    assert_eq!(place.wipe(), Some("metadata of resource `r0`, volume 0".to_owned()));
    assert!(faults::is_lost(&place.disk(), data) && !faults::is_lost(&place.disk(), last));
}
