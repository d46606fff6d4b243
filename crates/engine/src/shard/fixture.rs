//! A data thread for tests, which they turn.
#![expect(clippy::disallowed_methods, reason = "a test may wait for its disk")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use format::activity_log::AL_FIRST_NUMBER;
use format::ids::{Ballot, BootId, Branch, Epoch, Incarnation, KernelBootId, Nonce, VoteStoreId};
use format::layout::{LANES_DEFAULT, Layout, Placement, SLOTS_DEFAULT};
use format::metadata::{AL_RINGS, Register, ReplicaState, Sealed, Slot, Superblock, VoteStamp};
use format::register::REGISTER_FILE_BYTES;
use format::superblock::{SUPERBLOCK_BYTES, encode_superblock};
use io::mailbox::{Mailbox, Receiver};
use io::{DiskOptions, KeptBytes, Parker, PoolOptions, Reactor, SharedDisk};

use crate::contract::FromShard;
use crate::definition::Definition;
use crate::handover::{Apart, Attached, NewDisk, Replica};
use crate::limits::MAILBOX_CAPACITY;
use crate::links::Identity;
use crate::memory::MemoryPlan;
use crate::shard::mesh::make_ways;
use crate::shard::{Ends, Shard};

/// Of the pool's smallest kind, which superblocks are written from.
const SMALL_BYTES: usize = 1 << 20;

pub(super) fn shard(parker: &Parker) -> (Shard, Receiver<FromShard>) {
    let pool = PoolOptions {
        small_bytes_max: SMALL_BYTES,
        kept: KeptBytes::default(),
        ..PoolOptions::default()
    };
    let options = io::reactor::Options { pool, ..io::reactor::Options::default() };
    let reactor = Reactor::new(options).unwrap();
    let (_sender, mailbox) = Mailbox::channel(MAILBOX_CAPACITY, reactor.waker());
    let (outbox, answers) = Mailbox::channel(MAILBOX_CAPACITY, parker.waker());
    let ends = Ends { mailbox, outbox, ways: make_ways(&[reactor.waker()]).remove(0) };
    let identity = Identity { name: "a".to_owned(), boot_id: BootId(1), start_count: 1, shards: 1 };
    let memory = MemoryPlan::of_this_machine(1);
    (Shard::new(reactor, identity, KernelBootId(1), memory, ends), answers)
}

/// Hosts a resource `r0` without a disk, of which the state directory is kept in `directory`.
pub(super) fn host_diskless(shard: &mut Shard, directory: &tempfile::TempDir) {
    let text = "resource r0 { volume 0 { device minor 1; disk none; }
                  on a { node-id 0; address 127.0.0.1:1; } }";
    host(shard, directory, text);
}

/// Hosts the resource `r0` of this text, as node `a` has it.
pub(super) fn host(shard: &mut Shard, directory: &tempfile::TempDir, text: &str) {
    let definition = Definition::from_text("a", "r0", text).unwrap();
    shard.host(0, attached(definition, directory.path())).unwrap();
}

/// A resource without a disk as it is handed over, with a new vote store in `folder`.
pub(super) fn attached(definition: Definition, folder: &Path) -> Attached {
    let register = Register {
        resource: definition.id,
        store: VoteStoreId(1),
        promised: Ballot::default(),
        promised_nonce: Nonce::default(),
        accepted: None,
        write_counter: 0,
        disk_left_at: None,
    };
    let path = folder.join(format!("{}.register", definition.name));
    fs::write(&path, [0; REGISTER_FILE_BYTES]).unwrap();
    let options = DiskOptions { exclusive: true, resident: true, ..DiskOptions::default() };
    let register_disk = SharedDisk::open(&path, options).unwrap();
    Attached { definition, register, register_disk, replica: None, apart: Apart::NOBODY }
}

/// A replica as `create-md` makes it, on a disk that is zeroes.
pub(super) fn replica(definition: &Definition, disk: &Path) -> Replica {
    let file = File::options().write(true).open(disk).unwrap();
    let device_bytes = file.metadata().unwrap().len();
    let placement = Placement::Internal { device_bytes };
    let layout = Layout::new(placement, SLOTS_DEFAULT, LANES_DEFAULT).unwrap();
    let slot = |member| Slot {
        member,
        base_epoch: Epoch::default(),
        base_incarnation: Incarnation::default(),
        in_use: false,
    };
    let superblock = Superblock {
        resource: definition.id,
        resource_name: definition.name.clone(),
        volume: definition.volume,
        node: definition.me,
        branch: Branch::default(),
        incarnation: Incarnation(7),
        sealed: Sealed::default(),
        joined: Epoch::default(),
        candidate: None,
        state: ReplicaState::Blank,
        kernel_boot_id: KernelBootId::default(),
        size_bytes: layout.data_bytes,
        lanes: layout.lanes,
        write_counter: 1,
        clean: false,
        vote_stamp: VoteStamp::default(),
        vote: None,
        log: None,
        slots: vec![slot(definition.me)],
        further: Vec::new(),
    };
    let mut block = [0; SUPERBLOCK_BYTES];
    encode_superblock(&superblock, &layout, &mut block).unwrap();
    for offset in layout.superblock_offsets {
        file.write_all_at(&block, offset).unwrap();
    }
    let options = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let data = SharedDisk::open(disk, options).unwrap();
    let (log, slots) = (superblock.log_incarnation(), vec![definition.me]);
    let disk = NewDisk { data, meta: None, layout, log, slots, further: Vec::new() };
    let al_next_numbers = [AL_FIRST_NUMBER + 1; AL_RINGS];
    Replica { superblock, disk, pages: Vec::new(), al_next_numbers }
}
