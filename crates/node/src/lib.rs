//! The control side of the daemon, which may wait: for files, disks, processes and people.
//!
//! The control thread (`control`) keeps the state directory, attaches disks and answers the admin
//! socket; threads of their own make and remove block devices (`devices`) and speak with virtual
//! machines (`guests`). The data threads are `engine`'s: this crate starts them (`start`) and talks
//! with them by mailboxes (`desk`). All decisions are those of `replication`.

pub mod create_md;
pub mod show_md;
pub mod adopt_drbd;
mod options;
mod error;
mod remark;
mod limits;
mod log_writer;
mod patience;
mod notify;
mod holder;
mod pressure;
mod state_dir;
mod key_files;
mod sectors;
mod crash;
mod disk_work;
mod refusal;
mod attach;
mod cores;
mod start;
mod desk;
mod devices;
mod accepting;
mod arrivals;
mod guests;
mod control;
mod admin;
#[cfg(test)]
#[path = "../../engine/src/shard/rows.rs"]
mod rows;

use engine::log::{Level, Scope, line};

/// Scripts of the operator, called by the operator.
pub mod handlers {
    pub use crate::control::handlers::by_hand::{ByHand, Called, call_handler};
}

pub use engine::definition::resource_id;
pub use engine::limits::SHARDS_MAX;
pub use engine::log::Format as LogFormat;
pub use engine::tls::{client_domain_name, node_domain_name};

pub use crate::attach::adopt;
pub use crate::devices::claim::claim_device;
pub use crate::devices::supervise::{Served, Supervised, remove_device, supervise};
pub use crate::error::NodeError;
pub use crate::limits::PRIMARY_COMMAND_DEADLINE;
pub use crate::options::Options;
pub use crate::remark::{Remark, Weight};
pub use io::CongestionWish;

/// Runs a daemon until it is told to end.
///
/// # Errors
/// If it cannot start, or has to give up.
pub fn run(options: &Options) -> Result<(), NodeError> {
    engine::log::set_format(options.log_format);
    control::daemon::run(options)
}

/// Says on standard error why a process of ours that is no daemon ends.
pub fn log_failure(resource: &str, reason: &str) {
    line(Level::Error, Scope::resource(resource), reason);
}

/// Waits until what was logged is written: the caller has a last word.
pub fn flush_log() {
    log_writer::flush();
}

/// Says on standard error why the daemon ends.
pub fn log_fatal(error: &NodeError) {
    line(Level::Error, Scope::NODE, &error.to_string());
    // The process ends now, and with it the thread that writes.
    log_writer::flush();
}
