//! The rim of a shard: its io_uring reactor, its buffers, its clock, its mailboxes.
//!
//! This is the only crate that may say `unsafe`. What it hands out is safe: a buffer that the
//! kernel fills cannot be looked at, a late completion cannot reach a newer socket, and dropping
//! the reactor waits for everything the kernel still holds.
//!
//! Read in this order: `reactor` (the loop and its events), `sockets`, `disks`, `ublk` and `kicks`
//! (what can be asked), `event` (what is answered), `signals` (the other way), `pool` (where the
//! bytes live), `backend` and `operation` (how the kernel is spoken to), `ring` and `poll` (the two
//! ways to do so), `probe` (which one this machine gets), then the small ones.
#![expect(unsafe_code, reason = "the one crate that speaks to the kernel")]

pub mod reactor;
mod sockets;
mod socket_fd;
mod address;
mod disks;
mod disk_open;
mod uncached;
mod device_node;
mod ublk;
mod kicks;
mod event;
mod signals;
mod command;
pub mod pool;
mod backend;
mod operation;
mod ring;
mod poll;
mod memory;
mod shared;
pub mod descriptors;
mod probe;
pub mod mailbox;
mod sync;
mod congestion;
mod spin;
mod waker;
mod readable;
pub mod clock;
pub mod process;

pub use address::UNIX_PATH_BYTES_MAX;
pub use clock::{kernel_boot_id, now, random_u64, random_u128};
pub use command::{Command, Commander};
pub use congestion::{Congestion, CongestionChoice, CongestionWish};
pub use device_node::{block_node_numbers, make_block_node};
pub use disk_open::{
    Direct, DiskIdentity, DiskInfo, DiskOptions, PathMode, Persistent, extend_file, next_data,
};
pub use disks::{Durability, SharedDisk, Zero, has_shrunk};
pub use event::{Counters, Descriptor, DiskId, Event, KickId, QueueId, SocketId};
pub use mailbox::Mailbox;
pub use pool::{BufferId, Class, KeptBytes, Loan, Pool, PoolOptions, Slice};
pub use probe::{BackendKind, BackendWish, SetupError};
pub use reactor::{Options, Reactor};
pub use readable::wait_for_input_of_any;
pub use shared::{SharedMemory, memory_file};
pub use signals::{Eventfd, Ringer};
pub use socket_fd::{SocketBuffers, is_listened_on, listen_unix};
pub use sockets::{ListenAddr, SEGMENTS_MAX};
pub use spin::Outlook;
pub use uncached::Uncached;
pub use waker::{Parker, Waker, eventfd};
