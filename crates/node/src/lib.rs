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
mod limits;
mod log;
mod slab;
mod hosted_id;
mod payloads;
mod budget;
mod waiting;
mod outstanding;
mod part_id;
mod tls;
mod stream;
mod definition;
mod placement;
mod patience;
mod holder;
mod histogram;
mod memory;
mod pressure;
mod state_dir;
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

use std::io as stdio;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Scripts of the operator, called by the operator.
pub mod handlers {
    pub use crate::control::handlers::by_hand::{ByHand, Called, call_handler};
}
pub use crate::attach::adopt;
pub use crate::definition::resource_id;
pub use crate::devices::claim::claim_device;
pub use crate::devices::supervise::{Served, Supervised, remove_device, supervise};
pub use crate::limits::PRIMARY_COMMAND_DEADLINE;
pub use crate::tls::{client_domain_name, node_domain_name};
pub use io::CongestionWish;

/// How a daemon is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that `on` sections call this node.
    pub name: String,
    pub state_dir: PathBuf,
    /// `None`: in the state directory.
    pub admin_socket: Option<PathBuf>,
    /// Who may use it beside the daemon's user: the name of a group, or its number.
    pub admin_group: Option<String>,
    pub nbd: Vec<SocketAddr>,
    /// Where clients have to use TLS.
    pub nbd_tls: Vec<SocketAddr>,
    pub nbd_unix: Vec<PathBuf>,
    pub nvme: Vec<SocketAddr>,
    /// The hosts that may use NVMe/TCP, with their secrets; any may without such a file.
    pub nvme_auth: Option<PathBuf>,
    /// Where virtual machines find a socket for each volume; nowhere by default.
    pub vhost: Option<PathBuf>,
    /// Where Prometheus may ask for metrics; nowhere by default.
    pub metrics: Option<SocketAddr>,
    /// Where certificates and keys are, if there are any.
    pub pki: PathBuf,
    /// Data threads; `None` is one for each core that there is for them, at most 8.
    pub shards: Option<u8>,
    /// How long a data thread whose clients ask for little at a time looks for the next event
    /// before it sleeps. Zero: not at all, as on a machine with one core.
    pub spin: Duration,
    /// Congestion control of all TCP connections that carry data.
    pub congestion: CongestionWish,
    /// How long the users of a block device wait for the next daemon when this one died.
    pub device_timeout: Duration,
    /// Resources of this node that are brought up to date at a time; `None` is any number.
    pub max_parallel_resyncs: Option<NonZeroU32>,
    /// Volumes that are up have DRBD's names in /dev, too.
    pub drbd_names: bool,
    /// End when the process that started this one does.
    pub exit_with_parent: bool,
}

/// Why a daemon does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    #[error("cannot {what} state directory {}: {source}{}", path.display(), room_hint(source))]
    StateDir { what: &'static str, path: PathBuf, source: stdio::Error },
    #[error(
        "state directory {} is in use by {holder}; each daemon has a --state-dir of its own",
        path.display()
    )]
    StateDirInUse { path: PathBuf, holder: String },
    #[error(
        "state directory {} has layout {found}, this release knows up to {known}: use the release \
         that wrote it, or a newer one",
        path.display()
    )]
    NewerStateDir { path: PathBuf, found: u64, known: u32 },
    #[error("{0} shards were asked for; this release runs {max}", max = limits::SHARDS_MAX)]
    TooManyShards(u8),
    #[error("the name of this node is longer than {0} bytes; give it another one with --name")]
    LongName(usize),
    #[error("{0}")]
    Reactor(#[from] io::SetupError),
    #[error("cannot {what}: {source}")]
    System { what: &'static str, source: stdio::Error },
    #[error("{0}")]
    Listen(String),
    #[error(
        "TCP connections cannot have congestion control {name}: {source}; `sysctl \
         net.ipv4.tcp_available_congestion_control` lists what the kernel has (others come with \
         `modprobe tcp_NAME`), and who is not root may use those of \
         net.ipv4.tcp_allowed_congestion_control alone"
    )]
    Congestion { name: String, source: stdio::Error },
    #[error("the file of --nvme-auth, {}, cannot be used: {reason}", path.display())]
    NvmeHosts { path: PathBuf, reason: String },
    #[error("a data thread ended: {0}")]
    Shard(String),
    /// It ended on request, but for threads that wait for these.
    #[error(
        "ended without waiting for disks that give no answer: {disks}; what is left of the process \
         stays until they do (`dmesg | tail` may say why), and the next daemon can be started \
         meanwhile"
    )]
    DisksHang { disks: String },
}

/// What to do where a start found no room.
fn room_hint(source: &stdio::Error) -> &'static str {
    if state_dir::is_full(source) {
        "; make room there, and where systemd has given the service up: `systemctl reset-failed \
         basalt-node`, then `systemctl start basalt-node`"
    } else {
        ""
    }
}

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
    log::flush();
}
