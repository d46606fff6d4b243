//! A data thread for tests, which they turn.

use std::time::Duration;

use format::ids::{BootId, KernelBootId};
use io::mailbox::{Mailbox, Receiver};
use io::{KeptBytes, Parker, PoolOptions, Reactor};

use crate::attach::attach;
use crate::contract::FromShard;
use crate::definition::Definition;
use crate::limits::MAILBOX_CAPACITY;
use crate::links::Identity;
use crate::memory::MemoryPlan;
use crate::patience::Patience;
use crate::shard::mesh::Mesh;
use crate::shard::{Ends, Shard};
use crate::state_dir::StateDir;

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
    let ends = Ends { mailbox, outbox, mesh: Mesh::new(0, vec![None]), neighbours: Vec::new() };
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
    let mut patience = Patience::new(Duration::ZERO);
    let state = StateDir::below(directory.path());
    let attached = attach(definition, &state, &mut patience).unwrap();
    shard.host(0, attached).unwrap();
}
