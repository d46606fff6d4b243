//! Disks of a reactor: files in memory, files on a disk, with and without the page cache.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "tests fail by panicking")]

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use io::{
    BackendKind, BackendWish, BufferId, Class, Direct, DiskId, DiskOptions, Durability, Event,
    Options, PathMode, Persistent, Reactor, SharedDisk, Slice, Zero,
};
use stdx::testing::skip;
use stdx::time::Time;

const SIZE: u64 = 8 << 20;

/// A file of `SIZE` bytes that is removed in the end.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(directory: &Path) -> Self {
        let path = directory.join(format!("io-test-{:x}.disk", io::random_u64()));
        File::create_new(&path).unwrap().set_len(SIZE).unwrap();
        Self { path }
    }

    fn in_memory() -> Self {
        Self::new(Path::new("/dev/shm"))
    }

    fn on_disk() -> Self {
        Self::new(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_file(&self.path).unwrap();
    }
}

/// With the back end that the environment asks for: the same tests hold for both.
fn options() -> Options {
    Options { backend: BackendWish::from_environment().unwrap(), ..Options::default() }
}

fn reactor() -> Reactor {
    Reactor::new(options()).unwrap()
}

fn answer(reactor: &mut Reactor) -> std::io::Result<u32> {
    let mut events = Vec::new();
    while events.is_empty() {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
    }
    assert_eq!(events.len(), 1);
    match events.pop() {
        Some(Event::Disk { token: 1, result, .. }) => result,
        other => panic!("{other:?}"),
    }
}

fn fill(reactor: &mut Reactor, byte: u8) -> (BufferId, Slice) {
    let buffer = reactor.pool().take(Class::Medium).unwrap();
    let whole = reactor.pool().whole(buffer);
    reactor.pool().bytes_mut(whole).fill(byte);
    (buffer, whole)
}

fn read_back(reactor: &mut Reactor, disk: DiskId, offset: u64, into: Slice) -> Vec<u8> {
    reactor.read(disk, offset, into, 1);
    assert_eq!(answer(reactor).unwrap(), into.length);
    reactor.pool().bytes(into).to_vec()
}

/// Writes, flushes, reads and zeroes; every way of using a disk must pass it.
fn exercise(reactor: &mut Reactor, disk: DiskId) {
    let (buffer, whole) = fill(reactor, 7);
    for (offset, length, durability) in [
        (0, 65536, Durability::Cached),
        (65536, 4096, Durability::Fua),
        (SIZE - 4096, 4096, Durability::Cached),
    ] {
        reactor.write(disk, offset, whole.part(0, length), durability, 1);
        assert_eq!(answer(reactor).unwrap(), length);
    }
    reactor.flush(disk, 1);
    assert_eq!(answer(reactor).unwrap(), 0);
    reactor.pool().bytes_mut(whole).fill(0);
    assert!(read_back(reactor, disk, 0, whole).iter().all(|byte| *byte == 7));
    reactor.pool().bytes_mut(whole).fill(0);
    let tail = read_back(reactor, disk, SIZE - 65536, whole);
    assert_eq!(tail[..61440], vec![0; 61440]);
    assert_eq!(tail[61440..], [7; 4096]);
    for zero in [Zero::Deallocate, Zero::KeepAllocated] {
        reactor.pool().bytes_mut(whole).fill(7);
        reactor.write(disk, 0, whole, Durability::Cached, 1);
        assert_eq!(answer(reactor).unwrap(), 65536);
        reactor.zero(disk, 4096, 8192, zero, 1);
        assert_eq!(answer(reactor).unwrap(), 0);
        let bytes = read_back(reactor, disk, 0, whole);
        assert_eq!(bytes[..4096], [7; 4096], "{zero:?}");
        assert_eq!(bytes[4096..12288], [0; 8192], "{zero:?}");
        assert_eq!(bytes[12288..], [7; 53248], "{zero:?}");
    }
    for zero in [Zero::KeepAllocated, Zero::Deallocate] {
        reactor.zero(disk, 0, SIZE, zero, 1);
        assert_eq!(answer(reactor).unwrap(), 0);
        for offset in (0..SIZE).step_by(65536) {
            assert!(read_back(reactor, disk, offset, whole).iter().all(|byte| *byte == 0));
        }
    }
    assert_eq!(reactor.disk_info(disk).size_bytes, SIZE);
    assert_eq!(reactor.refresh_disk_size(disk).unwrap(), SIZE, "nothing made it grow");
    reactor.pool().release(buffer);
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn file_in_memory_is_used_inline() {
    let scratch = Scratch::in_memory();
    let mut reactor = reactor();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let info = reactor.disk_info(disk);
    assert_eq!(info.path_mode, PathMode::InlineMemory);
    assert_eq!((info.size_bytes, info.is_block_device, info.by_worker), (SIZE, false, false));
    exercise(&mut reactor, disk);
    assert!(reactor.counters().disk_inline > 100);
}

/// What is stored is in the file, for whoever reads it, and takes no turn of the ring.
#[test]
fn mapped_file_is_written_by_stores() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let options = DiskOptions { persistent: Persistent::Always, ..DiskOptions::default() };
        let opened = SharedDisk::open(&scratch.path, options).unwrap();
        let disk = reactor.adopt_disk(opened.clone()).unwrap();
        let info = reactor.disk_info(disk);
        assert_eq!((info.path_mode, info.offset_align), (PathMode::Mapped, 64));
        exercise(&mut reactor, disk);
        assert_eq!(reactor.counters().disk_ring, 0);

        let other = reactor.adopt_disk(opened).unwrap();
        let (_, whole) = fill(&mut reactor, 9);
        reactor.write(other, 4096, whole.part(0, 512), Durability::Fua, 1);
        assert_eq!(answer(&mut reactor).unwrap(), 512);
        reactor.close_disk(other);
        assert_eq!(fs::read(&scratch.path).unwrap()[4096..4608], [9; 512]);
        reactor.write(disk, 4096, whole.part(0, 32), Durability::Fua, 1);
        assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);
        reactor.write(disk, SIZE, whole.part(0, 64), Durability::Fua, 1);
        assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);

        File::options().write(true).open(&scratch.path).unwrap().set_len(2 * SIZE).unwrap();
        assert_eq!(reactor.refresh_disk_size(disk).unwrap(), 2 * SIZE);
        reactor.write(disk, 2 * SIZE - 64, whole.part(0, 64), Durability::Cached, 1);
        assert_eq!(answer(&mut reactor).unwrap(), 64);
        // All of it has its space, so that no store finds none.
        assert!(fs::metadata(&scratch.path).unwrap().blocks() * 512 >= 2 * SIZE);
    }
}

/// It counted as larger than what is mapped: a write behind that ended the process.
#[test]
fn disk_that_cannot_be_mapped_at_its_new_size_keeps_the_former_one() {
    let scratch = Scratch::in_memory();
    let mut reactor = reactor();
    let options = DiskOptions { persistent: Persistent::Always, ..DiskOptions::default() };
    let disk = reactor.open_disk(&scratch.path, options).unwrap();
    let file = File::options().write(true).open(&scratch.path).unwrap();
    // No process has so much address space.
    file.set_len(1 << 50).unwrap();
    reactor.refresh_disk_size(disk).unwrap_err();
    assert_eq!(reactor.disk_info(disk).size_bytes, SIZE);
    let (_, whole) = fill(&mut reactor, 9);
    reactor.write(disk, SIZE, whole.part(0, 64), Durability::Fua, 1);
    assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);
    reactor.write(disk, SIZE - 64, whole.part(0, 64), Durability::Fua, 1);
    assert_eq!(answer(&mut reactor).unwrap(), 64);
}

/// Neither of these has memory that survives a loss of power.
#[test]
fn ordinary_file_is_not_taken_for_persistent_memory() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let options =
            DiskOptions { persistent: Persistent::WhereDurable, ..DiskOptions::default() };
        let disk = reactor.open_disk(&scratch.path, options).unwrap();
        let mode = reactor.disk_info(disk).path_mode;
        assert!(!matches!(mode, PathMode::Persistent | PathMode::Mapped), "{mode:?}");
    }
}

#[test]
fn inline_write_costs_no_turn_of_the_ring() {
    let scratch = Scratch::in_memory();
    let mut reactor = reactor();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let (_, whole) = fill(&mut reactor, 1);
    let mut events = Vec::new();
    for _ in 0..100 {
        reactor.write(disk, 0, whole, Durability::Fua, 1);
        reactor.flush(disk, 1);
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
        assert_eq!(events.len(), 2);
        events.clear();
    }
    // Without a ring, only asking tells what has become ready.
    let enters = if reactor.backend() == BackendKind::IoUring { 0 } else { 101 };
    assert!(reactor.counters().enters <= enters);
    assert_eq!(reactor.counters().disk_inline, 200);
}

/// What was done at once has no event; what was not, or cannot be, is for `write`.
#[test]
fn write_that_takes_no_wait_is_done_at_once() {
    let scratch = Scratch::in_memory();
    let mut reactor = reactor();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let (_, whole) = fill(&mut reactor, 7);
    for (offset, durability) in [(4096, Durability::Cached), (65536, Durability::Fua)] {
        let part = whole.part(0, 4096);
        let done = reactor.write_now(disk, offset, part, durability).unwrap();
        assert_eq!(done.unwrap(), 4096);
    }
    assert!(reactor.write_now(disk, SIZE, whole, Durability::Cached).is_none(), "past its end");
    let mut events = Vec::new();
    reactor.turn(None, &mut events).unwrap();
    assert!(events.is_empty(), "{events:?}");
    let bytes = fs::read(&scratch.path).unwrap();
    assert_eq!((&bytes[..4096], &bytes[4096..8192]), (&[0; 4096][..], &[7; 4096][..]));
    assert_eq!(bytes[65536..69632], [7; 4096]);

    let buffered = Scratch::on_disk();
    let options = DiskOptions { direct: Direct::Never, ..DiskOptions::default() };
    let disk = reactor.open_disk(&buffered.path, options).unwrap();
    assert!(reactor.write_now(disk, 0, whole, Durability::Fua).is_none(), "it waits for the disk");
    reactor.close_disk(disk);
    assert!(reactor.write_now(disk, 0, whole, Durability::Cached).is_none(), "it is closed");
}

/// Whether the file system of the build directory has `O_DIRECT`; on some machines it has not.
fn has_direct(reactor: &mut Reactor, scratch: &Scratch) -> bool {
    let options = DiskOptions { direct: Direct::Required, ..DiskOptions::default() };
    match reactor.open_disk(&scratch.path, options) {
        Ok(disk) => {
            reactor.close_disk(disk);
            true
        }
        Err(error) => {
            skip(&error.to_string());
            false
        }
    }
}

#[test]
fn file_on_disk_is_used_past_the_page_cache() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    if !has_direct(&mut reactor, &scratch) {
        return;
    }
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let info = reactor.disk_info(disk);
    assert_eq!(info.path_mode, PathMode::Direct);
    assert!(info.offset_align.is_power_of_two() && info.mem_align.is_power_of_two());
    exercise(&mut reactor, disk);
    assert_eq!(reactor.counters().disk_inline, 0);
}

#[test]
fn file_on_disk_can_be_used_through_the_page_cache() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    let options = DiskOptions { direct: Direct::Never, ..DiskOptions::default() };
    let disk = reactor.open_disk(&scratch.path, options).unwrap();
    assert_eq!(reactor.disk_info(disk).path_mode, PathMode::InlineBuffered);
    exercise(&mut reactor, disk);
    let counters = reactor.counters();
    assert!(counters.disk_inline > 0 && counters.disk_ring > 0, "{counters:?}");
}

#[test]
fn deallocated_space_is_given_back_and_kept_space_is_not() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let (_, whole) = fill(&mut reactor, 1);
    for offset in (0..SIZE).step_by(65536) {
        reactor.write(disk, offset, whole, Durability::Cached, 1);
        answer(&mut reactor).unwrap();
    }
    reactor.flush(disk, 1);
    answer(&mut reactor).unwrap();
    let blocks = || fs::metadata(&scratch.path).unwrap().blocks() * 512;
    assert!(blocks() >= SIZE);
    reactor.zero(disk, 0, SIZE, Zero::KeepAllocated, 1);
    answer(&mut reactor).unwrap();
    assert!(blocks() >= SIZE);
    reactor.zero(disk, 0, SIZE, Zero::Deallocate, 1);
    answer(&mut reactor).unwrap();
    assert!(blocks() < SIZE / 2);
}

#[test]
fn many_requests_at_once_overflow_both_queues_and_all_complete() {
    const COUNT: u32 = 3000;
    let scratch = Scratch::on_disk();
    // The completion queue of so short a submission queue holds 1024.
    let mut reactor = Reactor::new(Options { queue_entries: 8, ..options() }).unwrap();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let buffers: Vec<_> = (0..COUNT)
        .map(|number| {
            let slice = reactor.pool().take_for(4096).unwrap();
            reactor.pool().bytes_mut(slice).fill(u8::try_from(number % 251).unwrap());
            slice
        })
        .collect();
    let block = |number: u32| u64::from(number) % (SIZE / 4096) * 4096;
    let mut events = Vec::new();
    for round in 0..2 {
        let mut seen = vec![false; COUNT as usize];
        for (number, slice) in (0..COUNT).zip(&buffers) {
            if round == 0 {
                let token = u64::from(number);
                reactor.write(disk, block(number), *slice, Durability::Cached, token);
            } else {
                reactor.read(disk, block(number), *slice, u64::from(number));
            }
        }
        while !seen.iter().all(|seen| *seen) {
            reactor.turn(Some(Time::NEVER), &mut events).unwrap();
            for event in events.drain(..) {
                let Event::Disk { token, result, .. } = event else { panic!("{event:?}") };
                assert_eq!(result.unwrap(), 4096);
                assert!(!std::mem::replace(&mut seen[usize::try_from(token).unwrap()], true));
            }
        }
    }
    for slice in buffers {
        reactor.pool().release(slice.buffer);
    }
    assert_eq!(reactor.pool_ref().in_use(), 0);
}

#[test]
fn exclusive_disk_is_refused_to_a_second() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let disk = reactor.open_disk(&scratch.path, exclusive).unwrap();
    let error = reactor.open_disk(&scratch.path, exclusive).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    let path = scratch.path.display().to_string();
    assert!(error.to_string().contains(&path), "{error}");
    reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    reactor.close_disk(disk);
    reactor.open_disk(&scratch.path, exclusive).unwrap();
}

/// A block device over a scratch file, which takes root and the loop driver.
struct Loop {
    device: String,
    _scratch: Scratch,
}

impl Loop {
    fn new() -> Option<Self> {
        let scratch = Scratch::on_disk();
        let made = Command::new("losetup").args(["-f", "--show"]).arg(&scratch.path).output();
        match made {
            Ok(output) if output.status.success() => {
                let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
                Some(Self { device, _scratch: scratch })
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
        let status = Command::new("losetup").args(["-d", &self.device]).status().unwrap();
        assert!(status.success());
    }
}

#[test]
fn block_device_is_used_past_the_page_cache_and_claimed() {
    let Some(device) = Loop::new() else { return };
    let mut reactor = reactor();
    let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let disk = reactor.open_disk(&device.device, exclusive).unwrap();
    let info = reactor.disk_info(disk);
    assert!(info.is_block_device && info.path_mode == PathMode::Direct && !info.by_worker);
    let error = reactor.open_disk(&device.device, exclusive).unwrap_err();
    assert_eq!(error.raw_os_error(), None, "it is explained");
    assert!(error.to_string().contains("another program holds it"), "{error}");
    exercise(&mut reactor, disk);
    assert_eq!(reactor.counters().disk_inline, 0);
}

#[test]
fn disk_that_is_not_there_is_named() {
    let mut reactor = reactor();
    for (path, text) in [("/nonexistent/disk", "No such file"), ("/dev/null", "no block device")] {
        let error = reactor.open_disk(path, DiskOptions::default()).unwrap_err();
        assert!(error.to_string().contains(path) && error.to_string().contains(text), "{error}");
    }
    let scratch = Scratch::in_memory();
    let options = DiskOptions { direct: Direct::Required, ..DiskOptions::default() };
    let error = reactor.open_disk(&scratch.path, options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn range_outside_of_the_disk_is_refused() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
        let (_, whole) = fill(&mut reactor, 1);
        for offset in [SIZE, SIZE - 4096, u64::MAX - 4096, u64::MAX] {
            reactor.write(disk, offset, whole, Durability::Cached, 1);
            assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);
            reactor.read(disk, offset, whole, 1);
            assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);
            reactor.zero(disk, offset, 8192, Zero::Deallocate, 1);
            assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(fs::metadata(&scratch.path).unwrap().len(), SIZE);
    }
}

#[test]
fn disk_that_shrank_answers_with_an_error() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
        let file = OpenOptions::new().write(true).open(&scratch.path).unwrap();
        file.set_len(SIZE / 2).unwrap();
        let (_, whole) = fill(&mut reactor, 1);
        reactor.read(disk, SIZE - 65536, whole, 1);
        assert_eq!(answer(&mut reactor).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(reactor.refresh_disk_size(disk).unwrap(), SIZE / 2);
    }
}

/// All ways of using a file, which is full of sevens and then loses its second half.
fn each_that_shrinks(test: impl Fn(&mut Reactor, DiskId, &File)) {
    let ways = [
        (Scratch::in_memory(), Direct::Auto),
        (Scratch::on_disk(), Direct::Auto),
        (Scratch::on_disk(), Direct::Never),
    ];
    for (scratch, direct) in ways {
        let mut reactor = reactor();
        let options = DiskOptions { direct, ..DiskOptions::default() };
        fs::write(&scratch.path, vec![7; usize::try_from(SIZE).unwrap()]).unwrap();
        let disk = reactor.open_disk(&scratch.path, options).unwrap();
        let file = OpenOptions::new().write(true).open(&scratch.path).unwrap();
        file.set_len(SIZE / 2).unwrap();
        test(&mut reactor, disk, &file);
    }
}

/// It was not noticed where something was written behind the new end since: that made the file
/// longer again.
#[test]
fn flush_of_a_file_that_shrank_is_an_error_whatever_was_written_since() {
    each_that_shrinks(|reactor, disk, _| {
        let (_, whole) = fill(reactor, 1);
        reactor.write(disk, SIZE - 65536 - 4096, whole, Durability::Cached, 1);
        assert_eq!(answer(reactor).unwrap(), 65536);
        reactor.flush(disk, 1);
        let error = answer(reactor).unwrap_err();
        assert!(io::has_shrunk(&error), "{error}");
        let said = error.to_string();
        assert!(said.contains(&SIZE.to_string()), "{said}");
        assert!(said.contains(&(SIZE - 4096).to_string()), "{said}");
    });
}

/// Nothing else makes it as long as it was.
#[test]
fn write_up_to_the_end_hides_no_loss() {
    each_that_shrinks(|reactor, disk, file| {
        let (_, whole) = fill(reactor, 1);
        reactor.write(disk, SIZE - 65536, whole, Durability::Cached, 1);
        assert!(io::has_shrunk(&answer(reactor).unwrap_err()));
        assert!(reactor.write_now(disk, SIZE - 65536, whole, Durability::Cached).is_none());
        reactor.write(disk, SIZE - 65536, whole, Durability::Fua, 1);
        assert!(io::has_shrunk(&answer(reactor).unwrap_err()));
        for zero in [Zero::Deallocate, Zero::KeepAllocated] {
            reactor.zero(disk, SIZE - 65536, 65536, zero, 1);
            assert!(io::has_shrunk(&answer(reactor).unwrap_err()));
        }
        assert_eq!(file.metadata().unwrap().len(), SIZE / 2);
    });
}

/// Merged with a part of a block they went to all replicas.
#[test]
fn zeroes_of_a_file_that_shrank_are_not_believed() {
    each_that_shrinks(|reactor, disk, _| {
        let (_, whole) = fill(reactor, 1);
        reactor.write(disk, SIZE - 65536 - 4096, whole, Durability::Cached, 1);
        assert_eq!(answer(reactor).unwrap(), 65536);
        let end = SIZE / 2;
        for offset in [end, end - 4096, end + 65536, SIZE - 2 * 65536, SIZE - 4096 - 512] {
            reactor.read(disk, offset, whole.part(0, 4096 + 512), 1);
            let error = answer(reactor).unwrap_err();
            assert!(io::has_shrunk(&error), "{offset}: {error}");
        }
        assert_eq!(read_back(reactor, disk, end - 65536, whole), vec![7; 65536]);
    });
}

#[test]
fn file_that_grew_is_believed() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
        let file = OpenOptions::new().write(true).open(&scratch.path).unwrap();
        file.set_len(2 * SIZE).unwrap();
        exercise_end(&mut reactor, disk);
    }
}

/// Zeroes are read, and something is written to the end and flushed.
fn exercise_end(reactor: &mut Reactor, disk: DiskId) {
    let (_, whole) = fill(reactor, 3);
    assert_eq!(read_back(reactor, disk, SIZE - 65536, whole), vec![0; 65536]);
    reactor.pool().bytes_mut(whole).fill(3);
    reactor.write(disk, SIZE - 65536, whole, Durability::Cached, 1);
    assert_eq!(answer(reactor).unwrap(), 65536);
    reactor.flush(disk, 1);
    assert_eq!(answer(reactor).unwrap(), 0);
}

#[test]
fn read_only_disk_takes_no_write() {
    for scratch in [Scratch::in_memory(), Scratch::on_disk()] {
        let mut reactor = reactor();
        let options = DiskOptions { read_only: true, ..DiskOptions::default() };
        let disk = reactor.open_disk(&scratch.path, options).unwrap();
        let (_, whole) = fill(&mut reactor, 1);
        reactor.write(disk, 0, whole, Durability::Cached, 1);
        answer(&mut reactor).unwrap_err();
        assert_eq!(read_back(&mut reactor, disk, 0, whole), vec![0; 65536]);
    }
}

#[test]
fn empty_transfer_completes() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let (_, whole) = fill(&mut reactor, 1);
    reactor.write(disk, 0, whole.part(0, 0), Durability::Cached, 1);
    assert_eq!(answer(&mut reactor).unwrap(), 0);
    reactor.read(disk, SIZE, whole.part(0, 0), 1);
    assert_eq!(answer(&mut reactor).unwrap(), 0);
    reactor.zero(disk, 0, 0, Zero::Deallocate, 1);
    assert_eq!(answer(&mut reactor).unwrap(), 0);
}

#[test]
fn closing_waits_for_what_is_outstanding() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let disk = reactor.open_disk(&scratch.path, exclusive).unwrap();
    let (buffer, whole) = fill(&mut reactor, 5);
    reactor.write(disk, 0, whole, Durability::Fua, 1);
    reactor.close_disk(disk);
    reactor.pool().release(buffer);
    reactor.flush(disk, 2);
    let mut events = Vec::new();
    while events.len() < 2 {
        reactor.turn(Some(Time::NEVER), &mut events).unwrap();
    }
    for event in events {
        match event {
            Event::Disk { token: 1, result, .. } => assert_eq!(result.unwrap(), 65536),
            Event::Disk { token: 2, result, .. } => {
                assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EBADF));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(reactor.pool_ref().in_use(), 0);
    let again = reactor.open_disk(&scratch.path, exclusive).unwrap();
    assert_ne!(again, disk);
}

#[test]
fn dropping_the_reactor_waits_for_writes() {
    let later = vec![7; 65536];
    let offsets: Vec<u64> = (0..SIZE).step_by(later.len()).collect();
    for round in 0..20 {
        let scratch = Scratch::on_disk();
        let mut reactor = reactor();
        let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
        let file = File::options().write(true).open(&scratch.path).unwrap();
        let (_, whole) = fill(&mut reactor, 9);
        for &offset in &offsets {
            reactor.write(disk, offset, whole, Durability::Cached, 1);
        }
        reactor.turn(None, &mut Vec::new()).unwrap();
        drop(reactor);
        if round % 2 == 0 {
            // What the drop did not cancel is on the disk whole.
            let bytes = fs::read(&scratch.path).unwrap();
            assert!(bytes.chunks(4096).all(|block| block == [9; 4096] || block == [0; 4096]));
        }
        // Nothing is written any more, which would lie on top of this; what was asked for last
        // would come last.
        for offset in offsets.iter().rev() {
            file.write_all_at(&later, *offset).unwrap();
        }
        file.sync_all().unwrap();
        let bytes = fs::read(&scratch.path).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 7), "round {round}");
    }
}

#[test]
fn looking_at_a_read_asserts() {
    let scratch = Scratch::on_disk();
    let mut reactor = reactor();
    // Through the ring for sure: a page cache would answer inline.
    if !has_direct(&mut reactor, &scratch) {
        return;
    }
    let disk = reactor.open_disk(&scratch.path, DiskOptions::default()).unwrap();
    let (_, whole) = fill(&mut reactor, 9);
    reactor.read(disk, 0, whole, 1);
    let look = AssertUnwindSafe(|| reactor.pool_ref().bytes(whole).len());
    let panic = catch_unwind(look).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("kernel is filling"));
    assert_eq!(answer(&mut reactor).unwrap(), 65536);
    assert_eq!(reactor.pool_ref().bytes(whole), [0; 65536]);
}

#[test]
fn shared_disk_stays_exclusive_until_both_reactors_closed_it() {
    let scratch = Scratch::on_disk();
    let mut first = reactor();
    let mut second = reactor();
    let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let opened = SharedDisk::open(&scratch.path, exclusive).unwrap();
    let disk = first.adopt_disk(opened.clone()).unwrap();
    let shared = second.adopt_disk(opened).unwrap();
    assert_eq!(second.disk_info(shared).size_bytes, first.disk_info(disk).size_bytes);
    first.close_disk(disk);
    let error = first.open_disk(&scratch.path, exclusive).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    exercise(&mut second, shared);
    second.close_disk(shared);
    first.open_disk(&scratch.path, exclusive).unwrap();
}
