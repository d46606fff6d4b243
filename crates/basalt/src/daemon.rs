//! `basalt node`: the daemon.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use node::CongestionWish;

use crate::pki;

/// It ended on request, and disks that answer nothing were not waited for.
const DISKS_HANG_EXIT: u8 = 3;
const EXITS: &str = "Exit codes: 0, it was told to end (SIGTERM, SIGINT) and ended cleanly; 1, it \
    could not start, or had to give up; 2, wrong words; 3, it was told to end and did not wait for \
    disks that give no answer, which it names: the kernel keeps what is left of the process until \
    they do, and the next daemon can be started meanwhile.";

/// Runs the daemon of this machine: it keeps the resources that were brought up with
/// `basalt adm up`, and serves their volumes over NBD and NVMe/TCP.
#[derive(Debug, Parser)]
#[command(name = "basalt node", version, after_help = EXITS)]
struct Arguments {
    /// Name of this node, as in the `on` sections of the configuration.
    #[arg(long)]
    name: String,

    /// Directory for what the node must not lose; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    state_dir: PathBuf,

    /// Answer `basalt adm` on this unix socket [default: admin.sock in the state directory]
    #[arg(long, value_name = "PATH")]
    admin_socket: Option<PathBuf>,

    /// Let this group, by name or number, use that socket too; without it only the daemon's own
    /// user may. Who may use it may do anything to the resources.
    #[arg(long, value_name = "GROUP")]
    admin_group: Option<String>,

    /// Serve NBD clients on this address; may be given more than once.
    #[arg(long, value_name = "ADDRESS:PORT")]
    nbd: Vec<SocketAddr>,

    /// Serve NBD clients on this address that use TLS and show a certificate (`basalt pki
    /// issue-client`); the file `clients` in the directory of --pki says what they may use. May be
    /// given more than once.
    #[arg(long, value_name = "ADDRESS:PORT")]
    nbd_tls: Vec<SocketAddr>,

    /// Serve NBD clients on this unix socket; may be given more than once.
    #[arg(long, value_name = "PATH")]
    nbd_unix: Vec<PathBuf>,

    /// Serve NVMe/TCP initiators on this address, usually on port 4420 and, for discovery, on 8009;
    /// may be given more than once. There is no encryption, and without --nvme-auth no password.
    #[arg(long, value_name = "ADDRESS:PORT")]
    nvme: Vec<SocketAddr>,

    /// Have NVMe/TCP initiators prove that they know a secret (DH-HMAC-CHAP). The file has a line
    /// for each host and resource: NQN of the host, resource or `*`, secret (`DHHC-1:..:`, made by
    /// `nvme gen-dhchap-key`), and a second secret for hosts that want a proof of this node, too.
    /// It is for the daemon's user alone, and is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "nvme")]
    nvme_auth: Option<PathBuf>,

    /// Serve virtual machines (vhost-user-blk) on a unix socket for each volume in this directory,
    /// named RESOURCE-VOLUME.sock; its group may use them.
    #[arg(long, value_name = "DIR")]
    vhost: Option<PathBuf>,

    /// Serve metrics for Prometheus on this address, under /metrics. There is neither a password
    /// nor encryption: take a loopback address, such as 127.0.0.1:9942.
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,

    /// Directory with the certificates of this node: ca.crt, node.crt and node.key, as
    /// `basalt pki issue` writes them. They are read again when they change.
    #[arg(long, value_name = "DIR", default_value = pki::DIR_DEFAULT)]
    pki: PathBuf,

    /// Threads that carry data; as many as the machine has cores, at most 8, if not given.
    #[arg(long)]
    shards: Option<u8>,

    /// For how many microseconds a data thread whose clients ask for little at a time looks for the
    /// next event before it sleeps: the processor that takes is paid back in latency, and on a
    /// virtual machine in wake-ups. 0: not at all. A thread never looks on a machine of one core.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(0..=1000))]
    spin_us: u64,

    /// Congestion control of TCP connections: a name that the kernel has (`sysctl
    /// net.ipv4.tcp_available_congestion_control`), `system` for the system's own, or `auto` for
    /// that, but cubic (or reno) where that is BBR, which spreads over time what it sends and so
    /// costs replication throughput over a short way.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    tcp_congestion: CongestionWish,

    /// How many seconds the users of a block device wait when this daemon died. If no daemon has
    /// taken the device over by then, their requests fail and the device goes.
    #[arg(long, value_name = "SECONDS", default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    device_timeout: u64,

    /// How many resources may be brought up to date at a time on this node; 0 is any number. The
    /// others wait for their turn, and show `PausedSyncT`.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    max_parallel_resyncs: u32,

    /// Give the volumes that are up DRBD's names, too: /dev/drbdN for `device minor N`, from `up`
    /// to `down`, and /dev/drbd/by-res/RESOURCE/VOLUME. On a Secondary they cannot be opened.
    #[arg(long)]
    drbd_names: bool,

    /// End when the process that started the daemon ends.
    #[arg(long)]
    exit_with_parent: bool,
}

/// The definition of the command line.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}

/// Runs `basalt node` with the words that follow `node`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from("basalt node")).chain(arguments);
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { 2 } else { 0 };
            return if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE };
        }
    };
    let options = node::Options {
        name: arguments.name,
        state_dir: arguments.state_dir,
        admin_socket: arguments.admin_socket,
        admin_group: arguments.admin_group,
        nbd: arguments.nbd,
        nbd_tls: arguments.nbd_tls,
        nbd_unix: arguments.nbd_unix,
        nvme: arguments.nvme,
        nvme_auth: arguments.nvme_auth,
        vhost: arguments.vhost,
        metrics: arguments.metrics,
        pki: arguments.pki,
        shards: arguments.shards,
        spin: Duration::from_micros(arguments.spin_us),
        congestion: arguments.tcp_congestion,
        device_timeout: Duration::from_secs(arguments.device_timeout),
        max_parallel_resyncs: NonZeroU32::new(arguments.max_parallel_resyncs),
        drbd_names: arguments.drbd_names,
        exit_with_parent: arguments.exit_with_parent,
    };
    match node::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            node::log_fatal(&error);
            let is_late = matches!(error, node::NodeError::DisksHang { .. });
            if is_late { ExitCode::from(DISKS_HANG_EXIT) } else { ExitCode::FAILURE }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the unit as it is shipped, `basalt adm` finds the daemon without an option.
    #[test]
    fn unit_starts_the_daemon_where_its_tools_look() {
        let unit = include_str!("../../../docs/systemd/basalt-node.service");
        let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/"));
        let words = line.expect("the unit starts the daemon").split(' ').skip(1).map(|word| {
            word.replace("%t", "/run").replace("%S", "/var/lib").replace("%H", "alice")
        });
        let arguments = Arguments::try_parse_from(words).expect("the unit gives good options");
        assert_eq!(arguments.name, "alice");
        let socket = arguments.admin_socket.expect("the unit names the socket");
        assert_eq!(socket, PathBuf::from(api::client::SOCKET_PATH_DEFAULT));
        assert!(unit.contains("RuntimeDirectory=basalt\n"), "the folder of the socket is made");
    }
}
