//! The daemon: dull wiring between the core and the world.
//!
//! One thread per shard carries data (`shard`); the control thread (`control`) keeps the state
//! directory, attaches disks and answers the admin socket; threads of their own make and remove
//! block devices (`devices`) and speak with virtual machines (`guests`). They talk by mailboxes.
//! What a shard owns: its links to other nodes (`links`), its clients (`nbd`, `nvme`, `ublk`,
//! `vhost`), its disks and payloads. All decisions are those of `replication`; this crate carries
//! them out, and asserts nothing about bytes from outside.

pub mod create_md;
pub mod show_md;
pub mod adopt_drbd;
mod options;
mod error;
mod limits;
mod log;
mod log_writer;
mod slab;
mod hosted_id;
mod stepping;
mod payloads;
mod budget;
mod waiting;
mod outstanding;
mod part_id;
mod tls;
mod stream;
mod definition;
mod handover;
mod contract;
mod placement;
mod patience;
mod holder;
mod histogram;
mod memory;
mod pressure;
mod state_dir;
mod key_files;
mod sectors;
mod crash;
mod disk_work;
mod attach;
mod links;
mod nbd;
mod nvme;
mod ublk;
mod vhost;
mod shard;
mod cores;
mod start;
mod desk;
mod devices;
mod accepting;
mod arrivals;
mod guests;
mod control;
mod admin;

/// Scripts of the operator, called by the operator.
pub mod handlers {
    pub use crate::control::handlers::by_hand::{ByHand, Called, call_handler};
}
pub use crate::attach::adopt;
pub use crate::definition::resource_id;
pub use crate::devices::claim::claim_device;
pub use crate::devices::supervise::{Served, Supervised, remove_device, supervise};
pub use crate::error::NodeError;
pub use crate::limits::PRIMARY_COMMAND_DEADLINE;
pub use crate::options::Options;
pub use crate::tls::{client_domain_name, node_domain_name};
pub use io::CongestionWish;

/// Runs a daemon until it is told to end.
///
/// # Errors
/// If it cannot start, or has to give up.
pub fn run(options: &Options) -> Result<(), NodeError> {
    control::daemon::run(options)
}

/// Says on standard error why a process of ours that is no daemon ends.
pub fn log_failure(resource: &str, reason: &str) {
    log::line(log::Level::Error, log::Scope::resource(resource), reason);
}

/// Says on standard error why the daemon ends.
pub fn log_fatal(error: &NodeError) {
    log::line(log::Level::Error, log::Scope::NODE, &error.to_string());
    // The process ends now, and with it the thread that writes.
    log_writer::flush();
}
