//! What is written when metadata moves, and in which order.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use format::layout::SLOTS_DEFAULT;
use format::superblock::{SUPERBLOCK_BYTES, decode_superblock};
use tempfile::TempDir;

use super::*;
use crate::attach::read_replica;
use crate::create_md::{CreateMdOptions, LANES_DEFAULT, create_md};
use crate::disk_work::DiskWork;
use crate::sectors::faults;
use crate::state_dir::StateDir;

const MIB: u64 = 1 << 20;
const DATA_BYTES: u64 = 128 * MIB;
/// The second superblock is right behind the bitmap.
const LEAST_BYTES: u64 = 2_629_632;

fn external(data_bytes: u64, metadata_bytes: u64) -> Layout {
    let placement = Placement::External {
        data_device_bytes: data_bytes,
        metadata_device_bytes: metadata_bytes,
    };
    Layout::new(placement, SLOTS_DEFAULT, LANES_DEFAULT).unwrap()
}

fn internal(device_bytes: u64) -> Layout {
    Layout::new(Placement::Internal { device_bytes }, SLOTS_DEFAULT, LANES_DEFAULT).unwrap()
}

fn claim() -> (DiskWork, Claim) {
    let disk_work = DiskWork::default();
    let claim = disk_work.claim("r0", Duration::ZERO).unwrap();
    (disk_work, claim)
}

struct Replica {
    directory: TempDir,
    disk: DiskPlace,
    definition: Definition,
    layout: Layout,
}

impl Replica {
    /// With metadata on a device of its own.
    fn new() -> Self {
        Self::laid_out(external(DATA_BYTES, LEAST_BYTES))
    }

    fn laid_out(layout: Layout) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [data, meta] = ["data", "meta"].map(|name| directory.path().join(name));
        let is_external = layout.metadata == MetadataPlace::External;
        let meta = is_external.then_some(meta);
        let data_bytes = if is_external { layout.data_bytes } else { end_of(&layout) };
        File::create(&data).unwrap().set_len(data_bytes).unwrap();
        if let Some(meta) = &meta {
            File::create(meta).unwrap().set_len(end_of(&layout)).unwrap();
        }
        create_md(&CreateMdOptions::of_r0(data.clone(), meta.clone())).unwrap();
        let place = meta.as_ref().map_or_else(|| "internal".into(), |it| it.display().to_string());
        let text = format!(
            "resource r0 {{ on a {{ node-id 0; address 127.0.0.1:1;
               volume 0 {{ device minor 1; disk {}; meta-disk {place}; }} }} }}",
            data.display(),
        );
        let definition = Definition::from_text("a", "r0", &text).unwrap();
        Self { directory, disk: DiskPlace { data, meta }, definition, layout }
    }

    fn meta(&self) -> &PathBuf {
        self.disk.meta.as_ref().unwrap_or(&self.disk.data)
    }

    fn state(&self) -> StateDir {
        StateDir::below(self.directory.path())
    }

    /// What a start finds.
    fn start(&self) -> (u64, Layout) {
        let state = self.state();
        let mut patience = Patience::of_tests();
        let found = read_replica(&self.definition, &self.disk, &state, &mut patience).unwrap();
        (found.superblock.write_counter, found.disk.layout)
    }

    /// The devices have the sizes of that layout.
    fn resize_to(&self, new: &Layout) {
        let resize = |path: &PathBuf, bytes| {
            File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
        };
        resize(self.meta(), end_of(new));
        if self.disk.meta.is_some() {
            resize(&self.disk.data, new.data_bytes);
        }
    }

    /// All that is done before the new places count.
    fn prepare(&self, new: &Layout) {
        self.resize_to(new);
        let (old, device) = (&self.layout, self.device());
        for range in new_places(old, new) {
            device.zero(range).unwrap();
        }
        copy(&device, Place::FIRST, (old, new)).unwrap();
    }

    /// The next write of a superblock is torn.
    fn tear_next(&self, counter: u64, layout: &Layout) {
        let next = Superblock { write_counter: counter + 1, ..self.superblock(layout) };
        let at = superblock_offset(&next, layout);
        faults::cut_power_after(0);
        write_at(&self.device(), &next, layout, at).unwrap_err();
        assert!(faults::restore_power());
    }

    fn device(&self) -> Device<'_> {
        Device::share(self.meta()).unwrap()
    }

    /// The newer of the superblocks.
    fn superblock(&self, layout: &Layout) -> Superblock {
        read_superblock(&self.device(), layout, &self.definition, (0, &self.disk)).unwrap()
    }

    /// Writes one that is newer than all before, into the second place.
    fn save_in_second_place(&self) -> Superblock {
        let saves = 1 + self.superblock(&self.layout).write_counter % 2;
        let newest = self.save(saves);
        let second = self.layout.superblock_offsets[1];
        assert_eq!(superblock_offset(&newest, &self.layout), second);
        newest
    }

    fn save(&self, times: u64) -> Superblock {
        let mut newest = Superblock { clean: false, ..self.superblock(&self.layout) };
        for _ in 0..times {
            newest.write_counter += 1;
            let at = superblock_offset(&newest, &self.layout);
            write_at(&self.device(), &newest, &self.layout, at).unwrap();
        }
        newest
    }

    fn lengthen(&self) -> Layout {
        let file = File::options().write(true).open(self.meta()).unwrap();
        file.set_len(4 * MIB).unwrap();
        external(4096 * MIB, 4 * MIB)
    }
}

/// The second superblock was made zeroes where the bitmap grows over it, and with it what the node
/// had told others since the first one was written.
#[test]
fn what_is_in_use_is_in_no_place_that_is_made_zeroes() {
    let layouts = [
        (external(DATA_BYTES, LEAST_BYTES), external(4096 * MIB, 4 * MIB)),
        (external(DATA_BYTES, 3 * MIB), external(4096 * MIB, 4 * MIB)),
        (external(DATA_BYTES, 4 * MIB), external(4096 * MIB, 4 * MIB)),
        (external(DATA_BYTES, 4 * MIB), external(2 * DATA_BYTES, 8 * MIB)),
        (external(DATA_BYTES, 2_633_728), external(1 << 40, 1 << 30)),
        (internal(64 * MIB), internal(72 * MIB)),
        (internal(64 * MIB), internal(1 << 40)),
    ];
    for (old, new) in layouts {
        let ranges = new_places(&old, &new);
        let is_zeroed = |at: u64| ranges.iter().any(|range| range.contains(&at));
        for at in old.superblock_offsets {
            let is_free = !is_zeroed(at) && !is_zeroed(at + PAGE_BYTES - 1);
            assert!(is_free, "{ranges:?} of {old:?} and {new:?}");
        }
        assert!(!is_zeroed(old.al_offset) && !is_zeroed(bitmap_end(&old) - 1), "{ranges:?}");
        // Beside it there is all of the new bitmap.
        for at in (new.bitmap_offset..bitmap_end(&new)).step_by(1 << 20) {
            let is_old = old.metadata == MetadataPlace::External && at < bitmap_end(&old);
            let is_superblock = old.superblock_offsets.contains(&at);
            assert_eq!(is_zeroed(at), !is_old && !is_superblock, "{at} {ranges:?}");
        }
        assert!(bitmap_end(&old) == bitmap_end(&new) || is_zeroed(bitmap_end(&new) - 1));
    }
}

#[test]
fn the_newer_superblock_is_the_one_that_moves() {
    let replica = Replica::new();
    let newest = replica.save_in_second_place();
    let (old, new) = (replica.layout, replica.lengthen());
    let device = replica.device();
    for range in new_places(&old, &new) {
        device.zero(range).unwrap();
    }
    let superblock = replica.superblock(&old);
    assert_eq!(superblock.write_counter, newest.write_counter);
    let (_disk_work, claim) = claim();
    make_count(&device, &superblock, (&old, &new), &claim).unwrap();
    assert_eq!(replica.superblock(&new).write_counter, newest.write_counter);
    // It is a part of the bitmap by now.
    let left = device.read(old.superblock_offsets[1], PAGE_BYTES).unwrap();
    assert!(left.iter().all(|byte| *byte == 0));
}

/// A bitmap that is not divided anew leaves both places where they are.
#[test]
fn superblocks_that_stay_in_their_places_are_no_zeroes() {
    let replica = Replica::new();
    let newest = replica.save_in_second_place();
    let (old, new) = (replica.layout, external(2 * DATA_BYTES, LEAST_BYTES));
    let (_disk_work, claim) = claim();
    make_count(&replica.device(), &newest, (&old, &new), &claim).unwrap();
    for offset in new.superblock_offsets {
        let block = replica.device().read(offset, PAGE_BYTES).unwrap();
        assert!(block.iter().any(|byte| *byte != 0), "at {offset}");
    }
    assert_eq!(replica.superblock(&new).write_counter, newest.write_counter);
}

#[test]
fn marks_refuse_a_bitmap_that_would_be_divided_anew() {
    let replica = Replica::new();
    let (old, new) = (replica.layout, replica.lengthen());
    let device = replica.device();
    check_marks(&device, (&old, &new)).unwrap();
    device.write(bitmap_end(&old) - PAGE_BYTES, &[1; SUPERBLOCK_BYTES]).unwrap();
    let failure = check_marks(&device, (&old, &new)).unwrap_err();
    assert_eq!(failure.code, FailureCode::StateRefused, "{failure}");
    check_marks(&device, (&old, &external(2 * DATA_BYTES, 4 * MIB))).unwrap();
}

/// The flush before it took so long that whoever ended the resource waited no longer: the disk was
/// written to when it was said to be free.
#[test]
fn nothing_is_written_to_a_disk_that_was_given_up_meanwhile() {
    let replica = Replica::new();
    let newest = replica.save_in_second_place();
    let (old, new) = (replica.layout, replica.lengthen());
    let before = std::fs::read(replica.meta()).unwrap();
    let (disk_work, claim) = claim();
    let device = replica.device().under(&claim);
    device.write(new.superblock_offsets[1], &[0; SUPERBLOCK_BYTES]).unwrap();
    disk_work.cancel("r0");
    let result = make_count(&device, &newest, (&old, &new), &claim);
    assert!(matches!(result, Err((Moved::Not, _))), "{result:?}");
    device.zero(0..PAGE_BYTES).unwrap_err();
    device.write(0, &[1; SUPERBLOCK_BYTES]).unwrap_err();
    // Nor is whoever waits for it kept by what is read.
    device.read(0, PAGE_BYTES).unwrap_err();
    assert!(std::fs::read(replica.meta()).unwrap() == before, "something was written");
}

/// The ways in which superblocks move: both to new places, the second one, and none.
fn moves() -> [(Layout, Layout); 4] {
    [
        (internal(64 * MIB), internal(72 * MIB)),
        (external(DATA_BYTES, LEAST_BYTES), external(4096 * MIB, 4 * MIB)),
        (external(DATA_BYTES, 4 * MIB), external(2 * DATA_BYTES, 8 * MIB)),
        (external(DATA_BYTES, 4 * MIB), external(2 * DATA_BYTES, 4 * MIB)),
    ]
}

/// The only copy at the new places was in the one that is written next, which a second loss of
/// power tore: the replica was found no more.
#[test]
fn a_torn_write_after_a_crash_between_the_superblocks_loses_neither() {
    for (old, new) in moves() {
        for (saves, writes) in (1..=2).flat_map(|saves| (0..5).map(move |writes| (saves, writes))) {
            let replica = Replica::laid_out(old);
            let newest = replica.save(saves);
            assert_eq!(replica.start(), (newest.write_counter, old));
            replica.prepare(&new);
            let (_disk_work, claim) = claim();
            let device = replica.device().under(&claim);
            faults::cut_power_after(writes);
            let result = make_count(&device, &newest, (&old, &new), &claim);
            let case = format!("{saves} saves, {writes} writes from {old:?} to {new:?}");
            assert_eq!(faults::restore_power(), result.is_err(), "{case}");
            let found = replica.start();
            assert_eq!(found.0, newest.write_counter, "{case}");
            assert!(found.1 == new || result.is_err(), "{case}");
            replica.tear_next(found.0, &found.1);
            assert_eq!(replica.start(), found, "{case}");
        }
    }
}

/// `detach`, `down` or the end of the daemon came between them, and the replica was given up.
#[test]
fn who_stops_the_work_between_the_superblocks_waits_for_both() {
    for ((old, new), writes) in moves().into_iter().flat_map(|it| (1..4).map(move |at| (it, at))) {
        let replica = Replica::laid_out(old);
        let newest = replica.save(1);
        replica.prepare(&new);
        let (disk_work, claim) = claim();
        let device = replica.device().under(&claim);
        faults::act_after(writes, move || disk_work.cancel("r0"));
        make_count(&device, &newest, (&old, &new), &claim).unwrap();
        faults::forget_act();
        assert_eq!(replica.start(), (newest.write_counter, new));
        for at in new.superblock_offsets {
            let found = device.read(at, PAGE_BYTES).unwrap();
            assert!(decode_superblock(found.first_chunk().unwrap()).unwrap().1 == new);
        }
    }
}

/// The disk gave no answer for so long that it was said to be free.
#[test]
fn nothing_more_is_written_once_who_waits_has_given_up() {
    let (old, new) = moves()[0];
    let replica = Replica::laid_out(old);
    let newest = replica.save(1);
    replica.prepare(&new);
    let (disk_work, claim) = claim();
    let device = replica.device().under(&claim);
    faults::act_after(1, move || {
        disk_work.end("r0", Duration::ZERO).unwrap_err();
    });
    let result = make_count(&device, &newest, (&old, &new), &claim);
    assert!(matches!(result, Err((Moved::Lost, _))), "{result:?}");
    assert_eq!(replica.start(), (newest.write_counter, new));
}
