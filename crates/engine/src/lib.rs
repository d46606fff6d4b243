//! The data threads of the daemon: dull wiring between the core and the world, which never waits.
//!
//! A shard is one loop over one reactor (`shard`). It owns its links to other nodes (`links`), its
//! clients (`clients`), its disks and payloads. The control side hands it what it needs, open and
//! checked (`handover`), and both talk by mailboxes (`contract`). All decisions are those of
//! `replication`; this crate carries them out, and asserts nothing about bytes from outside. It
//! opens no file, starts no thread and takes no lock: its `clippy.toml` refuses what waits.

pub mod contract;
pub mod handover;
pub mod definition;
pub mod limits;
pub mod hosted_id;
pub mod log;
pub mod stepping;
pub mod slab;
pub mod placement;
pub mod memory;
pub mod kit;
mod histogram;
pub mod tls;
pub mod links;
pub mod clients;
pub mod shard;
