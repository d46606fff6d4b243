//! The replication core: sans-IO state machines of PROTOCOL.md.
//!
//! No clock, thread, socket, file, async, hash map or `unsafe`. Read in this order: `contract`
//! (what goes in and out), `lane` (the walk of a write), `resource` (who may serve).
#![forbid(unsafe_code)]

pub mod contract;
pub mod limits;
