//! `create_md` on real files: what it refuses, that a refusal writes nothing, and what it writes.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod superblock;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use format::activity_log::replay_ring;
use format::ids::NodeId;
use format::layout::{AL_RING_BYTES, Layout, Placement, SLOTS_DEFAULT};
use format::metadata::{ReplicaState, Superblock};
use format::superblock::decode_superblock;
use node::create_md::{
    CreateMdError, CreateMdOptions, CreateMdReport, FirstDisk, LANES_DEFAULT, Overwrite, create_md,
};
use node::show_md::read_md;
use tempfile::TempDir;

const DISK_BYTES: u64 = 64 << 20;

struct Place {
    directory: TempDir,
}

impl Place {
    /// A directory with a sparse disk of `size_bytes` in it.
    fn with_disk(size_bytes: u64) -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        File::create(place.disk()).unwrap().set_len(size_bytes).unwrap();
        place
    }

    fn disk(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    fn options(&self, overwrite: Overwrite) -> CreateMdOptions {
        CreateMdOptions {
            disk: self.disk(),
            metadata_disk: None,
            resource_name: "r0".to_owned(),
            volume: 0,
            first: None,
            node_id: 1,
            member_ids: vec![0, 1, 2],
            size_bytes: None,
            peers_max: None,
            former_bytes: None,
            overwrite,
        }
    }

    fn put(&self, offset_bytes: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(self.disk()).unwrap();
        file.write_all_at(bytes, offset_bytes).unwrap();
    }

    /// The superblock there is as one of a newer release.
    fn make_newer(&self, offset: u64) {
        let at = usize::try_from(offset).unwrap();
        let mut block = self.content()[at..][..4096].to_vec();
        superblock::make_newer(&mut block);
        self.put(offset, &block);
    }

    fn content(&self) -> Vec<u8> {
        fs::read(self.disk()).unwrap()
    }

    fn create(&self, overwrite: Overwrite) -> Result<CreateMdReport, CreateMdError> {
        create_md(&self.options(overwrite))
    }

    /// What stands in the places of both superblocks of a file.
    fn superblocks(path: &PathBuf, layout: &Layout) -> [(Superblock, Layout); 2] {
        let file = File::open(path).unwrap();
        layout.superblock_offsets.map(|offset_bytes| {
            let mut block = [0; 4096];
            file.read_exact_at(&mut block, offset_bytes).unwrap();
            decode_superblock(&block).unwrap()
        })
    }

    /// Creates, expects a refusal, and that nothing was written.
    fn refusal(&self) -> CreateMdError {
        let before = self.content();
        let error = self.create(Overwrite::Refuse).unwrap_err();
        assert!(error.is_refusal(), "{error}");
        assert!(!error.hint().is_empty());
        assert!(self.content() == before, "a refusal wrote to the disk");
        error
    }
}

#[test]
fn missing_disk_is_told_with_the_way_to_make_one() {
    let place = Place::with_disk(DISK_BYTES);
    fs::remove_file(place.disk()).unwrap();
    let error = place.create(Overwrite::Refuse).unwrap_err();
    assert!(matches!(error, CreateMdError::Missing { .. }), "{error}");
    assert!(error.hint().contains("fallocate -l"), "{}", error.hint());
    assert!(!place.disk().exists(), "it must not make the file itself");
}

#[test]
fn directory_is_not_a_disk() {
    let place = Place::with_disk(DISK_BYTES);
    fs::remove_file(place.disk()).unwrap();
    fs::create_dir(place.disk()).unwrap();
    let error = place.create(Overwrite::Force).unwrap_err();
    assert!(matches!(error, CreateMdError::WrongKind { .. }), "{error}");
}

#[test]
fn disk_in_use_is_refused_even_with_force() {
    let place = Place::with_disk(DISK_BYTES);
    let user = File::open(place.disk()).unwrap();
    user.lock().unwrap();
    let error = place.create(Overwrite::Force).unwrap_err();
    assert!(matches!(error, CreateMdError::InUse { .. }), "{error}");
    user.unlock().unwrap();
    place.create(Overwrite::Refuse).unwrap();
}

#[test]
fn too_small_disk_is_told_with_both_sizes() {
    for size_bytes in [0, 4096, 100_000] {
        let place = Place::with_disk(size_bytes);
        let error = place.refusal();
        let CreateMdError::TooSmall { size_bytes: told, needed_bytes, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(told, size_bytes);
        let enough = Place::with_disk(needed_bytes);
        enough.create(Overwrite::Refuse).unwrap();
        let short = Place::with_disk(needed_bytes - 1);
        assert!(matches!(short.refusal(), CreateMdError::TooSmall { .. }));
    }
}

#[test]
fn foreign_content_is_refused_by_name_and_overwritten_by_force() {
    for (offset_bytes, magic, name) in
        [(1080, &[0x53, 0xef][..], "ext"), (0, b"XFSB", "xfs"), (4086, b"SWAPSPACE2", "swap")]
    {
        let place = Place::with_disk(DISK_BYTES);
        place.put(offset_bytes, magic);
        let error = place.refusal();
        assert!(matches!(error, CreateMdError::Occupied { .. }), "{name}: {error}");
        assert!(error.to_string().to_lowercase().contains(name), "{name}: {error}");
        let report = place.create(Overwrite::Force).unwrap();
        let overwritten = report.overwritten.unwrap();
        assert!(overwritten.to_lowercase().contains(name), "{name}: {overwritten}");
    }
}

#[test]
fn second_run_is_refused_and_force_makes_a_new_incarnation() {
    let place = Place::with_disk(DISK_BYTES);
    let first = place.create(Overwrite::Refuse).unwrap();
    assert_eq!(first.overwritten, None);
    let error = place.refusal();
    assert!(error.to_string().contains("metadata of resource `r0`, volume 0"), "{error}");
    let second = place.create(Overwrite::Force).unwrap();
    assert!(second.overwritten.unwrap().contains("metadata of resource `r0`"));
    assert_ne!(second.incarnation, first.incarnation);
}

#[test]
fn both_superblocks_tell_of_a_blank_replica_and_its_members() {
    let place = Place::with_disk(DISK_BYTES);
    let report = place.create(Overwrite::Refuse).unwrap();
    let placement = Placement::Internal { device_bytes: DISK_BYTES };
    let layout = Layout::new(placement, report.slots, LANES_DEFAULT).unwrap();
    let [first, last] = Place::superblocks(&place.disk(), &layout);
    assert_eq!(first, last);
    let (superblock, written_layout) = first;
    assert_eq!(written_layout, layout);
    assert_eq!(superblock.state, ReplicaState::Blank);
    assert_eq!(superblock.resource_name, "r0");
    assert_eq!(superblock.node.get(), 1);
    assert_eq!(superblock.incarnation, report.incarnation);
    assert_eq!((superblock.size_bytes, superblock.lanes), (report.data_bytes, LANES_DEFAULT));
    assert!(superblock.clean);
    let members: Vec<NodeId> = superblock.slots.iter().map(|slot| slot.member).collect();
    assert_eq!(members, [0, 1, 2].map(|id| NodeId::new(id).unwrap()));
    assert!(superblock.slots.iter().all(|slot| !slot.in_use));
}

/// `size`: less than the disk can hold, and never more.
#[test]
fn a_replica_is_as_large_as_it_is_to_be() {
    let place = Place::with_disk(DISK_BYTES);
    let wanted = |size_bytes| CreateMdOptions {
        size_bytes: Some(size_bytes),
        ..place.options(Overwrite::Force)
    };
    let report = create_md(&wanted((5 << 20) + 512)).unwrap();
    assert_eq!(report.data_bytes, (5 << 20) + 4096);
    let placement = Placement::Internal { device_bytes: DISK_BYTES };
    let layout = Layout::new(placement, report.slots, LANES_DEFAULT).unwrap();
    let [(superblock, _), _] = Place::superblocks(&place.disk(), &layout);
    assert_eq!(superblock.size_bytes, (5 << 20) + 4096);
    let refused = create_md(&wanted(DISK_BYTES)).unwrap_err();
    assert!(matches!(refused, CreateMdError::TooSmall { .. }), "{refused}");
}

#[test]
fn force_leaves_no_trace_of_older_metadata_of_another_shape() {
    let place = Place::with_disk(DISK_BYTES);
    let many = CreateMdOptions { peers_max: Some(31), ..place.options(Overwrite::Refuse) };
    let old = create_md(&many).unwrap();
    assert_eq!(old.slots, 32);
    // What a used replica has between its superblocks.
    place.put(old.data_bytes + 4096, &vec![0xa5; 1 << 20]);
    let few = CreateMdOptions { peers_max: Some(2), ..place.options(Overwrite::Force) };
    let new = create_md(&few).unwrap();
    assert_eq!(new.slots, 3);
    assert!(new.data_bytes > old.data_bytes, "fewer slots leave more room");
    let content = place.content();
    let usize_of = |offset: u64| usize::try_from(offset).unwrap();
    let placement = Placement::Internal { device_bytes: DISK_BYTES };
    let layout = Layout::new(placement, new.slots, LANES_DEFAULT).unwrap();
    let bitmap = &content[usize_of(layout.bitmap_offset)..usize_of(DISK_BYTES) - 4096];
    assert!(bitmap.iter().all(|byte| *byte == 0), "the bitmap is not empty");
    for ring in 0..16 {
        let start = usize_of(layout.al_ring_offset(ring));
        let bytes = &content[start..start + usize_of(AL_RING_BYTES)];
        let replay = replay_ring(ring, new.incarnation, bytes).unwrap();
        assert!(replay.extents.is_empty(), "ring {ring} is not empty");
    }
    let old_first = usize_of(old.data_bytes);
    assert!(
        content[old_first..old_first + 4096].iter().all(|byte| *byte == 0),
        "the older superblock would be found again"
    );
}

/// It had room for 8 members, and was refused beside a first one with room for 32 once all of its
/// data had been made zeroes.
#[test]
fn a_further_volume_has_room_for_as_many_members_as_the_first() {
    for (first, own, slots) in [(31, None, 32), (31, Some(3), 32), (3, Some(31), 32)] {
        let place = Place::with_disk(DISK_BYTES);
        let many = CreateMdOptions { peers_max: Some(first), ..place.options(Overwrite::Refuse) };
        create_md(&many).unwrap();
        let second = place.directory.path().join("second");
        File::create(&second).unwrap().set_len(DISK_BYTES).unwrap();
        let further = CreateMdOptions {
            disk: second,
            volume: 1,
            first: Some(FirstDisk { disk: place.disk(), metadata_disk: None }),
            peers_max: own,
            ..place.options(Overwrite::Refuse)
        };
        assert_eq!(create_md(&further).unwrap().slots, slots);
    }
}

/// Of metadata on the data disk, of the default layout.
fn superblock_offsets() -> [u64; 2] {
    let placement = Placement::Internal { device_bytes: DISK_BYTES };
    Layout::new(placement, SLOTS_DEFAULT, LANES_DEFAULT).unwrap().superblock_offsets
}

/// The older copy beside it was believed: it may lack the data that the replica got since, and then
/// the new volume would have been told to be equal everywhere.
#[test]
fn metadata_of_a_newer_release_is_not_judged_by_an_older_copy_beside_it() {
    let place = Place::with_disk(DISK_BYTES);
    place.create(Overwrite::Refuse).unwrap();
    let second = place.directory.path().join("second");
    File::create(&second).unwrap().set_len(DISK_BYTES).unwrap();
    let further = CreateMdOptions {
        disk: second.clone(),
        volume: 1,
        first: Some(FirstDisk { disk: place.disk(), metadata_disk: None }),
        ..place.options(Overwrite::Refuse)
    };
    // One of them, and then the other one as well.
    let [first, last] = superblock_offsets();
    for offset in [last, first] {
        place.make_newer(offset);
        let blank = fs::read(&second).unwrap();
        for error in
            [create_md(&further).unwrap_err(), read_md(&place.disk(), None, None).unwrap_err()]
        {
            assert!(matches!(error, CreateMdError::Newer { .. }), "{error}");
            assert!(error.to_string().contains("version or feature 0x9"), "{error}");
            assert!(error.is_refusal() && !error.hint().contains("create-md"), "{}", error.hint());
        }
        assert!(fs::read(&second).unwrap() == blank, "a refusal wrote to the disk");
    }
    // Who says that all of it may be lost gets a new replica.
    assert!(matches!(place.refusal(), CreateMdError::Occupied { .. }));
    place.create(Overwrite::Force).unwrap();
    create_md(&further).unwrap();
}

/// The same where a disk that grew ended before: of two such copies nothing was found, and
/// `create-md` made new metadata beside them.
#[test]
fn metadata_of_a_newer_release_counts_where_a_disk_that_grew_ended() {
    let place = Place::with_disk(DISK_BYTES);
    place.create(Overwrite::Refuse).unwrap();
    File::options().write(true).open(place.disk()).unwrap().set_len(2 * DISK_BYTES).unwrap();
    let former_bytes = Some(DISK_BYTES);
    let [first, last] = superblock_offsets();
    for offset in [last, first] {
        place.make_newer(offset);
        let error = read_md(&place.disk(), None, former_bytes).unwrap_err();
        assert!(matches!(error, CreateMdError::Newer { .. }), "{error}");
        let options = CreateMdOptions { former_bytes, ..place.options(Overwrite::Refuse) };
        let error = create_md(&options).unwrap_err();
        assert!(matches!(error, CreateMdError::Occupied { .. }), "{error}");
    }
}

#[test]
fn data_area_is_not_touched() {
    let place = Place::with_disk(DISK_BYTES);
    let data: Vec<u8> = (0..1 << 20).map(|index: u32| u8::try_from(index % 251).unwrap()).collect();
    place.put(0, &data);
    let report = place.create(Overwrite::Refuse).unwrap();
    let content = place.content();
    assert!(content[..data.len()] == data[..], "data was written over");
    let end = usize::try_from(report.data_bytes).unwrap();
    assert!(content[data.len()..end].iter().all(|byte| *byte == 0));
}

#[test]
fn metadata_on_a_disk_of_its_own_leaves_the_data_disk_whole() {
    let place = Place::with_disk(DISK_BYTES);
    let metadata_disk = place.directory.path().join("metadata");
    File::create(&metadata_disk).unwrap().set_len(8 << 20).unwrap();
    let options = CreateMdOptions {
        metadata_disk: Some(metadata_disk.clone()),
        ..place.options(Overwrite::Refuse)
    };
    let report = create_md(&options).unwrap();
    assert_eq!((report.disk, report.data_bytes), (metadata_disk.clone(), DISK_BYTES));
    assert!(place.content().iter().all(|byte| *byte == 0), "the data disk was written");
    let placement =
        Placement::External { data_device_bytes: DISK_BYTES, metadata_device_bytes: 8 << 20 };
    let layout = Layout::new(placement, report.slots, LANES_DEFAULT).unwrap();
    let [(superblock, _), _] = Place::superblocks(&metadata_disk, &layout);
    assert_eq!(superblock.size_bytes, DISK_BYTES);
    let again = create_md(&options).unwrap_err();
    assert!(again.to_string().contains("metadata of resource `r0`"), "{again}");

    place.put(0, b"XFSB");
    fs::write(&metadata_disk, vec![0; 8 << 20]).unwrap();
    let foreign = create_md(&options).unwrap_err();
    assert!(foreign.to_string().contains("disk holds an XFS"), "{foreign}");
}

#[test]
fn sparse_disk_stays_sparse() {
    let place = Place::with_disk(8 << 30);
    place.create(Overwrite::Refuse).unwrap();
    let allocated = fs::metadata(place.disk()).unwrap().blocks() * 512;
    assert!(allocated < 1 << 20, "{allocated} bytes are allocated");
}

#[test]
fn node_ids_are_checked() {
    let place = Place::with_disk(DISK_BYTES);
    for (node_id, member_ids) in [(3, vec![0, 1, 2]), (32, vec![0, 32]), (0, vec![0, 40])] {
        let options = CreateMdOptions { node_id, member_ids, ..place.options(Overwrite::Refuse) };
        let error = create_md(&options).unwrap_err();
        assert!(matches!(error, CreateMdError::Member { .. }), "{error}");
    }
}
