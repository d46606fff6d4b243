//! The replication core: sans-IO state machines of PROTOCOL.md.
//!
//! No clock, thread, socket, file, async, hash map or `unsafe`. Read in this order: `contract`
//! (what goes in and out), `lane` (the walk of a write), `resource` (who may serve).
#![forbid(unsafe_code)]

pub mod contract;
pub mod limits;
pub mod quorum;
pub mod ranges;
pub mod bitmap;
pub mod marks;
mod activity;
pub mod balance;
mod view;
mod lane;
pub mod group;
pub mod attach;
mod lineage;
mod voter;
pub mod resource;
pub mod adoption;

use format::ids::{Epoch, Incarnation};
use format::message::SlotBase;

/// The base epoch of a slot that marks everything: only a full resync will do.
pub const FULL: Epoch = Epoch(u64::MAX);
/// In a LOSS: each member keeps its slot of the lost one as it is, and only adds to it. So a
/// member that was being resynced keeps what is known of it.
pub const KEEP: Epoch = Epoch(u64::MAX - 1);
/// No replica was ever called so: a slot that begins here is good for none.
pub const UNUSED: SlotBase = SlotBase { epoch: Epoch(0), incarnation: Incarnation(0) };
