//! A save is written once, and is said to be durable when it is.
#![expect(clippy::disallowed_methods, reason = "a test may wait for its disk")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use api::response::{Failure, FailureCode};
use format::ids::{BLOCK_BYTES, Ballot, BlockRange, Incarnation, Nonce, VoteStoreId};
use format::layout::Layout;
use format::metadata::{Content, FurtherDisk, Register, Superblock};
use format::space::Place as Volume;
use format::superblock::{SUPERBLOCK_BYTES, decode_superblock};
use io::mailbox::Receiver;
use io::{DiskId, DiskIdentity, DiskOptions, Parker, Persistent, Slice};
use replication::contract::{DiskEnd, GroupAction, GroupInput, ResourceInput, SaveId, Token};
use stdx::time::Time;
use tempfile::TempDir;

use crate::contract::{FromShard, Ticket};
use crate::definition::Definition;
use crate::handover::{Attached, GrowingDisk, Moved};
use crate::hosted_id::HostedId;
use crate::limits::REGISTER_PATIENCE;
use crate::shard::disk::PAGE_BYTES;
use crate::shard::fixture::{attached, replica, shard};
use crate::shard::hosted::{Save, StampPlace};
use crate::shard::{Input, Shard};

const HOLD: Ticket = 2;
const DISK_BYTES: u64 = 64 << 20;

/// One data thread with one resource, whose machine is not stepped.
struct Place {
    directory: TempDir,
    shard: Shard,
    answers: Receiver<FromShard>,
    superblock: Superblock,
    layout: Layout,
    _parker: Parker,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("disk");
        File::create(&disk).unwrap().set_len(DISK_BYTES).unwrap();
        let text = format!(
            "resource r0 {{ on a {{ node-id 0; address 127.0.0.1:1;
               volume 0 {{ device minor 1; disk {}; meta-disk internal; }} }} }}",
            disk.display()
        );
        let definition = Definition::from_text("a", "r0", &text).unwrap();
        let replica = replica(&definition, &disk);
        let (superblock, layout) = (replica.superblock.clone(), replica.disk.layout);
        let parker = Parker::new().unwrap();
        let (mut shard, answers) = shard(&parker);
        let attached = attached(definition, directory.path());
        shard.host(1, Attached { replica: Some(replica), ..attached }).unwrap();
        Self { directory, shard, answers, superblock, layout, _parker: parker }
    }

    fn save(&mut self, number: u64) {
        self.save_with(number, Vec::new());
    }

    fn save_with(&mut self, number: u64, further: Vec<FurtherDisk>) {
        self.save_all(number, None, further);
    }

    /// The same with a vote.
    fn save_register(&mut self, number: u64) {
        let register = Register {
            resource: self.superblock.resource,
            store: VoteStoreId(1),
            promised: Ballot::default(),
            promised_nonce: Nonce(0),
            accepted: None,
            write_counter: number,
            disk_left_at: None,
        };
        self.save_all(number, Some(Box::new(register)), Vec::new());
    }

    fn save_all(
        &mut self,
        number: u64,
        register: Option<Box<Register>>,
        further: Vec<FurtherDisk>,
    ) {
        let superblock = Superblock { write_counter: number, further, ..self.superblock.clone() };
        let save = Save {
            save: SaveId(number),
            register,
            superblock: Some(Box::new(superblock)),
            stamps: 0,
            under_way: None,
        };
        let hosted = self.shard.hosted[0].as_mut().unwrap();
        hosted.save(save, &mut self.shard.rim);
    }

    /// The saves that are said to be durable since it was asked last.
    fn durable(&mut self) -> Vec<u64> {
        let inbox = self.shard.rim.inbox.drain(..);
        let saves = inbox.filter_map(|(_, input)| match input {
            Input::Resource(ResourceInput::Saved { save }) => Some(save.0),
            Input::Resource(_) | Input::Group(_) => None,
        });
        saves.collect()
    }

    /// The saves of which it is said that the register was not written since it was asked last.
    fn without_register(&mut self) -> Vec<u64> {
        let inbox = self.shard.rim.inbox.drain(..);
        let saves = inbox.filter_map(|(_, input)| match input {
            Input::Resource(ResourceInput::RegisterFailed { save }) => Some(save.0),
            Input::Resource(ResourceInput::Saved { save }) => panic!("{save:?} is durable"),
            Input::Resource(_) | Input::Group(_) => None,
        });
        saves.collect()
    }

    /// The state directory takes no write any more.
    fn break_register(&mut self) {
        let path = self.directory.path().join("read-only");
        File::create(&path).unwrap().set_len(1 << 20).unwrap();
        let options = DiskOptions { read_only: true, ..DiskOptions::default() };
        let disk = self.shard.rim.kit.reactor.open_disk(path, options).unwrap();
        self.shard.hosted[0].as_mut().unwrap().register_disk = disk;
    }

    fn writes_under_way(&self) -> usize {
        self.shard.rim.operations.iter().filter(|(_, it)| it.is_of_save()).count()
    }

    /// Of the newest superblock that the disk has.
    fn write_counter(&self) -> u64 {
        let disk = File::open(self.directory.path().join("disk")).unwrap();
        let counters = self.layout.superblock_offsets.map(|offset| {
            let mut block = [0; SUPERBLOCK_BYTES];
            disk.read_exact_at(&mut block, offset).unwrap();
            decode_superblock(&block).map_or(0, |(superblock, _)| superblock.write_counter)
        });
        counters.into_iter().max().unwrap()
    }

    fn turn(&mut self) {
        let wait_until = Some(io::now() + Duration::from_secs(1));
        self.shard.rim.kit.reactor.turn(wait_until, &mut self.shard.events).unwrap();
        self.shard.take_events();
    }

    /// Turns until all saves are durable; each is on the disk when it is said to be.
    fn finish(&mut self, expected: &[u64]) {
        let mut seen = Vec::new();
        let mut rounds = 0;
        while self.writes_under_way() > 0 {
            self.turn();
            for save in self.durable() {
                assert!(self.write_counter() >= save, "save {save} is not on the disk");
                seen.push(save);
            }
            rounds += 1;
            assert!(rounds < 100, "writes do not end");
        }
        assert_eq!(seen, expected);
        assert!(self.shard.hosted[0].as_ref().unwrap().saves.is_empty());
    }

    fn take_small_buffers(&mut self) -> Vec<Slice> {
        let pool = self.shard.rim.kit.reactor.pool();
        std::iter::from_fn(|| pool.take_for(PAGE_BYTES)).collect()
    }

    /// Whether no metadata was being written.
    fn hold(&mut self) -> bool {
        self.hold_as(&self.growing()).is_ok()
    }

    /// The disk that it has, for whoever is to enlarge it.
    fn growing(&self) -> GrowingDisk {
        let identity = |name| {
            let file = File::open(self.directory.path().join(name)).ok()?;
            Some(DiskIdentity::of(&file).unwrap())
        };
        let data = identity("disk").unwrap();
        let meta = identity("meta").unwrap_or(data);
        GrowingDisk { place: Volume::FIRST, layout: self.layout, data, meta }
    }

    fn hold_as(&mut self, disk: &GrowingDisk) -> Result<(), Failure> {
        self.shard.hold_metadata(HOLD, "r0", disk);
        self.shard.rim.outbox.publish();
        let answers = std::iter::from_fn(|| self.answers.pop());
        let is_own = |it: &FromShard| matches!(it, FromShard::Answer { ticket: HOLD, .. });
        match answers.filter(is_own).last() {
            Some(FromShard::Answer { answer, .. }) => answer.map(drop),
            other => panic!("{other:?}"),
        }
    }

    /// The metadata has a disk of its own, a file that is as long.
    fn with_metadata_apart(&mut self, persistent: Persistent) -> (File, DiskId) {
        let path = self.directory.path().join("meta");
        File::create(&path).unwrap().set_len(DISK_BYTES).unwrap();
        let options = DiskOptions { persistent, ..DiskOptions::default() };
        let meta = self.shard.rim.kit.reactor.open_disk(&path, options).unwrap();
        self.shard.parts[0].as_mut().unwrap().disk.as_mut().unwrap().meta = meta;
        (File::options().write(true).open(&path).unwrap(), meta)
    }

    /// Whether nothing waits for the metadata to be moved.
    fn is_free(&self) -> bool {
        let part = self.shard.parts[0].as_ref().unwrap();
        let is_held = part.disk.as_ref().is_some_and(|disk| disk.held.is_some());
        !is_held && !self.shard.hosted[0].as_ref().unwrap().is_metadata_held
    }

    fn check_room(&self, disk: &GrowingDisk) -> bool {
        self.shard.on_check_room(HostedId(0), disk).is_ok()
    }
}

/// A disk that was slow when its metadata was to be moved: that was given up, and the write that
/// was in its way is still under way.
#[test]
fn save_under_way_is_not_written_again_when_a_move_is_given_up() {
    let mut place = Place::new();
    place.save(10);
    assert!(!place.hold(), "a write is under way");
    place.save(11);
    place.shard.release_metadata("r0", Moved::Not);
    assert_eq!(place.writes_under_way(), 1);
    place.finish(&[10, 11]);
}

/// A save that found no buffer is tried again by itself.
#[test]
fn save_that_waited_for_a_buffer_is_written_once_after_a_move() {
    let mut place = Place::new();
    let taken = place.take_small_buffers();
    place.save(10);
    assert_eq!(place.writes_under_way(), 0, "there is no buffer");
    assert!(place.hold());
    for buffer in taken {
        place.shard.rim.kit.reactor.pool().release(buffer.buffer);
    }
    place.shard.release_metadata("r0", Moved::Not);
    place.shard.retry_starved();
    assert_eq!(place.writes_under_way(), 1);
    place.save(11);
    place.finish(&[10, 11]);
}

/// Others wait for what the replica writes down, and nobody for a vote of this node.
#[test]
fn saves_go_on_where_the_register_takes_no_write() {
    let mut place = Place::new();
    place.break_register();
    place.save_register(10);
    while place.writes_under_way() > 0 {
        place.turn();
    }
    assert_eq!(place.without_register(), [10], "nothing of it was written: the core repeats it");
    place.save(11);
    place.finish(&[11]);
    place.save_register(12);
    assert_eq!(
        (place.writes_under_way(), place.without_register()),
        (0, vec![12]),
        "it is not tried again"
    );
    place.save(13);
    place.finish(&[13]);
}

/// The write is with the kernel still, and may end at any time.
#[test]
fn a_register_whose_write_does_not_end_is_given_up() {
    let mut place = Place::new();
    place.save_register(10);
    assert_eq!(place.writes_under_way(), 1);
    let rim = &mut place.shard.rim;
    assert_eq!(rim.register_due, rim.kit.now + REGISTER_PATIENCE);
    rim.kit.now = rim.register_due;
    place.shard.give_up_hung_registers();
    assert_eq!(place.without_register(), [10]);
    assert_eq!(place.shard.rim.register_due, Time::NEVER, "nothing else is waited for");
    place.save(11);
    place.finish(&[11]);
    assert!(place.shard.hosted[0].as_ref().unwrap().register_failed);
}

/// Of a replica with several volumes the stamps come before the superblock: that of a disk which is
/// given up between the two was not written.
#[test]
fn save_of_which_only_a_stamp_was_written_failed() {
    let mut place = Place::new();
    let volume = format::space::Place::new(1).unwrap();
    let hosted = place.shard.hosted[0].as_mut().unwrap();
    let places = hosted.superblock_at.as_mut().unwrap();
    let (disk, layout) = places.first;
    places.further.push(StampPlace { place: volume, disk, layout });
    let further = FurtherDisk {
        place: volume,
        incarnation: Incarnation(1),
        size_bytes: place.superblock.size_bytes,
        content: Content::OfHistory,
    };
    place.save_with(10, vec![further]);
    place.shard.hosted[0].as_mut().unwrap().superblock_at = None;
    while place.writes_under_way() > 0 {
        place.turn();
    }
    let inbox: Vec<_> = place.shard.rim.inbox.drain(..).collect();
    let is_failure = |input: &(_, Input)| {
        matches!(input.1, Input::Resource(ResourceInput::SaveFailed { save: SaveId(10) }))
    };
    assert!(inbox.iter().any(is_failure), "{inbox:?}");
}

/// The thread that moves the metadata hangs with the disk: votes do not wait for it.
#[test]
fn save_that_waits_for_a_move_ends_with_the_disk() {
    let mut place = Place::new();
    assert!(place.hold());
    place.save_register(10);
    while place.writes_under_way() > 0 {
        place.turn();
    }
    assert!(place.durable().is_empty(), "its superblock is held");
    place.shard.close_disk(place.shard.hosted[0].as_ref().unwrap().id, DiskEnd::Failed);
    let ends = place.shard.rim.inbox.drain(..).filter(|(_, input)| {
        matches!(input, Input::Resource(ResourceInput::SaveFailed { save: SaveId(10) }))
    });
    assert_eq!(ends.count(), 1);
    place.shard.release_metadata("r0", Moved::Not);
    assert_eq!((place.writes_under_way(), place.durable()), (0, Vec::new()));
}

/// The disk is given up before the thread that moves its metadata asks for the hold: that was
/// granted, and the thread wrote to a disk that was somebody else's.
#[test]
fn a_hold_that_comes_after_the_disk_is_gone_is_refused() {
    for moved in [Moved::Lost, Moved::Not] {
        let mut place = Place::new();
        place.save_register(10);
        place.shard.close_disk(place.shard.hosted[0].as_ref().unwrap().id, DiskEnd::Failed);
        let disk = place.growing();
        let failure = place.hold_as(&disk).unwrap_err();
        assert_eq!(failure.code, FailureCode::NoLocalDisk, "{failure}");
        assert!(place.is_free() && !place.check_room(&disk));
        while place.writes_under_way() > 0 {
            place.turn();
        }
        place.shard.release_metadata("r0", moved);
        assert!(place.shard.hosted[0].as_ref().unwrap().saves.is_empty(), "{moved:?}");
    }
}

/// What waited for a buffer was done on the next disk.
#[test]
fn nothing_waits_that_is_asked_of_no_disk() {
    let mut place = Place::new();
    let (other, token) = (HostedId(1), Token(1));
    place.shard.rim.starve(other, GroupAction::FlushDevice { token });
    let part = place.shard.parts[0].as_mut().unwrap();
    part.close_disk(&mut place.shard.rim);
    let token = Token(2);
    part.perform_group(&mut vec![GroupAction::FlushDevice { token }], &mut place.shard.rim);
    assert_eq!(place.shard.rim.starved.len(), 1);
    assert!(matches!(
        place.shard.rim.inbox.pop_back(),
        Some((_, Input::Group(GroupInput::Device { token: Token(2), result: Err(_) })))
    ));
}

/// A data thread that could not open the disk of a further volume has nothing to do with that of
/// the first.
#[test]
fn a_volume_without_a_disk_is_not_written_to_that_of_another() {
    let mut place = Place::new();
    let block = format::space::Place::new(1).unwrap().first_block();
    let range = BlockRange { start: block, count: 1 };
    let part = place.shard.parts[0].as_mut().unwrap();
    let action = GroupAction::ZeroDevice { token: Token(3), range, deallocate: false, fua: false };
    part.perform_group(&mut vec![action], &mut place.shard.rim);
    assert!(matches!(
        place.shard.rim.inbox.pop_back(),
        Some((_, Input::Group(GroupInput::Device { token: Token(3), result: Err(_) })))
    ));
}

/// The thread that is to enlarge a disk waited, and another disk is in its place.
#[test]
fn a_disk_that_is_divided_otherwise_is_not_the_one_that_is_to_grow() {
    let mut place = Place::new();
    let mut other = place.growing();
    other.layout.data_bytes -= BLOCK_BYTES;
    assert!(place.check_room(&place.growing()) && !place.check_room(&other));
    let failure = place.hold_as(&other).unwrap_err();
    assert_eq!(failure.code, FailureCode::NoLocalDisk, "{failure}");
    assert!(place.is_free());
    assert!(place.hold() && !place.is_free());
}

/// The disk in its place is a copy of it: what was moved on the one was looked for on the other.
#[test]
fn a_copy_of_the_disk_is_not_the_one_that_is_to_grow() {
    let mut place = Place::new();
    let former = place.directory.path().join("former");
    std::fs::copy(place.directory.path().join("disk"), &former).unwrap();
    let copy = DiskIdentity::of(&File::open(&former).unwrap()).unwrap();
    let own = place.growing();
    for other in [GrowingDisk { data: copy, ..own }, GrowingDisk { meta: copy, ..own }] {
        assert!(!place.check_room(&other));
        let failure = place.hold_as(&other).unwrap_err();
        assert_eq!(failure.code, FailureCode::NoLocalDisk, "{failure}");
        assert!(place.is_free());
    }
    assert!(place.hold());
}

/// The first write behind its former end was an error of the disk: the replica was given up.
#[test]
fn metadata_on_a_disk_that_became_longer_is_used_to_its_end() {
    let mut place = Place::new();
    let (file, meta) = place.with_metadata_apart(Persistent::No);
    file.set_len(2 * DISK_BYTES).unwrap();
    assert!(place.hold());
    assert_eq!(place.shard.rim.kit.reactor.disk_info(meta).size_bytes, 2 * DISK_BYTES);
}

/// It was found out when the new places counted already.
#[test]
fn metadata_that_cannot_be_mapped_at_its_new_size_is_not_moved() {
    let mut place = Place::new();
    let (file, meta) = place.with_metadata_apart(Persistent::Always);
    // Nothing can be mapped of that.
    file.set_len(0).unwrap();
    let failure = place.hold_as(&place.growing()).unwrap_err();
    assert_eq!(failure.code, FailureCode::DiskFailed, "{failure}");
    assert!(place.is_free());
    assert_eq!(place.shard.rim.kit.reactor.disk_info(meta).size_bytes, DISK_BYTES);
}
