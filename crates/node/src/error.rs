//! The errors that keep a daemon from starting, or end it.

use std::io as stdio;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use engine::limits::SHARDS_MAX;

use crate::remark::Remark;

/// Why a daemon does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    #[error("cannot {what} state directory {}: {source}{}", path.display(), way_out(path, source))]
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
    #[error("{0} shards were asked for; this release runs 1 to {max}", max = SHARDS_MAX)]
    TooManyShards(u8),
    #[error("this node cannot have its name: {0}; give it another one with --name")]
    BadName(String),
    #[error("{0}")]
    Reactor(#[from] io::SetupError),
    #[error(
        "cannot {what}: {source}; `free -m` and `systemctl status basalt-node` show whether memory \
         or threads have run out"
    )]
    System { what: &'static str, source: stdio::Error },
    /// In the words of the data threads, or of a check.
    #[error("{0}")]
    Listen(String),
    #[error(
        "cannot listen on the admin socket {}: {reason}; `ls -ld` of its folder shows who may make \
         it",
        path.display()
    )]
    AdminSocket { path: PathBuf, reason: String },
    #[error(
        "cannot serve metrics on {address}: {source}; `ip addr` shows the addresses of this machine"
    )]
    Metrics { address: SocketAddr, source: stdio::Error },
    /// An option keeps it from starting: its place in a file is told.
    #[error("{0}")]
    Refused(Remark),
    #[error(
        "TCP connections cannot have congestion control {name}: {source}; `sysctl \
         net.ipv4.tcp_available_congestion_control` lists what the kernel has (others come with \
         `modprobe tcp_NAME`), and who is not root may use those of \
         net.ipv4.tcp_allowed_congestion_control alone"
    )]
    Congestion { name: String, source: stdio::Error },
    #[error("the file of --nvme-auth, {}, cannot be used: {reason}", path.display())]
    NvmeHosts { path: PathBuf, reason: String },
    #[error(
        "a data thread ended: {0}; the log before this may say why, and `basalt report` collects \
         what the developers of Basalt need"
    )]
    Shard(String),
    /// It ended on request, but for threads that wait for these.
    #[error(
        "ended without waiting for disks that give no answer: {disks}; what is left of the process \
         stays until they do (`dmesg | tail` may say why), and the next daemon can be started \
         meanwhile"
    )]
    DisksHang { disks: String },
}

/// What to do where a start cannot use its directory.
fn way_out(path: &Path, source: &stdio::Error) -> String {
    let shown = path.display();
    let kind = source.kind();
    if is_full(source) {
        "; make room there, and where systemd has given the service up: `systemctl reset-failed \
         basalt-node`, then `systemctl start basalt-node`"
            .to_owned()
    } else if kind == stdio::ErrorKind::PermissionDenied {
        format!("; let the user of the daemon write there: `ls -ld {shown}` shows who may")
    } else if kind == stdio::ErrorKind::ReadOnlyFilesystem {
        format!("; `mount -o remount,rw` of the file system that `findmnt -T {shown}` names")
    } else {
        format!(
            "; look at what is there (`ls -la {shown}`), and at the kernel's log: `dmesg | tail`"
        )
    }
}

/// There is no room for what was to be written.
pub(crate) fn is_full(error: &stdio::Error) -> bool {
    [stdio::ErrorKind::StorageFull, stdio::ErrorKind::QuotaExceeded].contains(&error.kind())
}
