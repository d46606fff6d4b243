//! `basalt node`: the daemon.
//!
//! Its options come from the command line and from a file (`--config`), whose lines become words in
//! front of those that were typed: one parser judges both. What is wrong is told with the line of
//! the file, all of it at once, and nothing starts; `--check-config` ends there in any case. A
//! start that ends because of an option says so in the same words, with the same exit code.

mod sentence;
mod file;
mod given;
mod report;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use config::number::number;
use node::{CongestionWish, LogFormat, NodeError, SHARDS_MAX};

use self::given::{Given, Lack, Lacking};
use self::report::{Form, Report, WRONG_WORDS_EXIT};
use crate::adm::configuration::host_name;
use crate::pki;
use crate::values::{address, asks_for_json};

/// It ended on request, and disks that answer nothing were not waited for.
const DISKS_HANG_EXIT: u8 = 3;
/// In place of a state directory that is not given: there is none.
const NOWHERE: &str = "/dev/null/none";
const EXITS: &str = "Exit codes: 0, it was told to end (SIGTERM, SIGINT) and ended cleanly; 1, it \
    could not start, or had to give up; 2, wrong words, a wrong file of --config, or an address or \
    path to listen at that another process has; 3, it was told to end and did not wait for disks \
    that give no answer, which it names: the kernel keeps what is left of the process until they \
    do, and the next daemon can be started meanwhile.";

/// Runs the daemon of this machine: it keeps the resources that were brought up with
/// `basalt adm up`, and serves their volumes over NBD and NVMe/TCP.
#[derive(Debug, Parser)]
#[command(name = "basalt node", version, after_help = EXITS)]
struct Arguments {
    /// Read options from this file, too: lines `name = value`, with the names of these options.
    /// An option of the command line replaces all lines of the file for that option. Without
    /// --config no file is read.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Say what the daemon would use and where it is from, and what is wrong or worth a look, with
    /// the line of the file; start nothing. Exit code 0, or 2 if something is wrong.
    #[arg(long)]
    check_config: bool,

    /// With --check-config: say it in JSON.
    #[arg(long, requires = "check_config")]
    json: bool,

    /// Name of this node, as in the `on` sections of the configuration [default: the host name, as
    /// `uname -n` prints it]
    #[arg(long)]
    name: Option<String>,

    /// Directory for what the node must not lose; it is made if it is not there. It has to be given
    /// here or in the file of --config.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    /// Answer `basalt adm` on this unix socket [default: admin.sock in the state directory]
    #[arg(long, value_name = "PATH")]
    admin_socket: Option<PathBuf>,

    /// Let this group, by name or number, use that socket too; without it only the daemon's own
    /// user may. Who may use it may do anything to the resources.
    #[arg(long, value_name = "GROUP")]
    admin_group: Option<String>,

    /// Serve NBD clients on this address; may be given more than once.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    nbd: Vec<SocketAddr>,

    /// Serve NBD clients on this address that use TLS and show a certificate (`basalt pki
    /// issue-client`); the file `clients` in the directory of --pki says what they may use. May be
    /// given more than once.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    nbd_tls: Vec<SocketAddr>,

    /// Serve NBD clients on this unix socket; may be given more than once.
    #[arg(long, value_name = "PATH")]
    nbd_unix: Vec<PathBuf>,

    /// Serve NVMe/TCP initiators on this address, usually on port 4420 and, for discovery, on 8009;
    /// may be given more than once. There is no encryption, and without --nvme-auth no password.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    nvme: Vec<SocketAddr>,

    /// Have NVMe/TCP initiators prove that they know a secret (DH-HMAC-CHAP). The file has a line
    /// for each host and resource: NQN of the host, resource or `*`, secret (`DHHC-1:..:`, made by
    /// `nvme gen-dhchap-key`), and a second secret for hosts that want a proof of this node, too.
    /// It is for the daemon's user alone, and is read again when it changes.
    #[arg(long, value_name = "FILE")]
    nvme_auth: Option<PathBuf>,

    /// Serve virtual machines (vhost-user-blk) on a unix socket for each volume in this directory,
    /// named RESOURCE-VOLUME.sock; its group may use them.
    #[arg(long, value_name = "DIR")]
    vhost: Option<PathBuf>,

    /// Serve metrics for Prometheus on this address, under /metrics. There is neither a password
    /// nor encryption: take a loopback address, such as 127.0.0.1:9942.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    metrics: Option<SocketAddr>,

    /// Directory with the certificates of this node: ca.crt, node.crt and node.key, as
    /// `basalt pki issue` writes them. They are read again when they change.
    #[arg(long, value_name = "DIR", default_value = pki::DIR_DEFAULT)]
    pki: PathBuf,

    /// Threads that carry data; as many as the machine has cores, at most 8, if not given.
    #[arg(long, value_parser = number::<u8>(1, SHARDS_MAX.into(), "threads"))]
    shards: Option<u8>,

    /// For how many microseconds a data thread whose clients ask for little at a time looks for the
    /// next event before it sleeps: the processor that takes is paid back in latency, and on a
    /// virtual machine in wake-ups. 0: not at all. A thread never looks on a machine of one core.
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 30,
        value_parser = number::<u64>(0, 1000, "microseconds"))]
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
        value_parser = number::<u64>(1, 86_400, "seconds"))]
    device_timeout: u64,

    /// How many resources may be brought up to date at a time on this node; 0 is any number. The
    /// others wait for their turn, and show `PausedSyncT`.
    #[arg(long, value_name = "NUMBER", default_value_t = 0,
        value_parser = number::<u32>(0, u32::MAX.into(), "resources"))]
    max_parallel_resyncs: u32,

    /// Give the volumes that are up DRBD's names, too: /dev/drbdN for `device minor N`, from `up`
    /// to `down`, and /dev/drbd/by-res/RESOURCE/VOLUME. On a Secondary they cannot be opened.
    #[arg(long)]
    drbd_names: bool,

    /// How the daemon's log is written: `text` for people, or `json`, an object in each line with
    /// time, level, resource, peer and message.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

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
    let typed: Vec<_> = std::iter::once(OsString::from("basalt node")).chain(arguments).collect();
    let form = if asks_for_json(&typed) { Form::Json } else { Form::Text };
    let given = match Given::read(command(), &typed) {
        Ok(given) => given,
        Err(error) if error.use_stderr() && form == Form::Json => {
            return Report::of_words(&error).print(form);
        }
        Err(error) => {
            let exit = if error.use_stderr() { WRONG_WORDS_EXIT } else { 0 };
            return if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE };
        }
    };
    let mut report = Report::of(&given);
    let does_check = given.is_set("check_config");
    let Some((options, lacks)) = given.matches.as_ref().map(Arguments::read) else {
        return if does_check { report.print(form) } else { report.refuse() };
    };
    report.add_lacks(&given, &lacks);
    // With a mistake all others are told as well.
    if does_check || report.is_wrong() || !options.flaws().is_empty() {
        report.judge(&given, &options, &lacks);
        return if does_check { report.print(form) } else { report.refuse() };
    }
    run(&given, &options, report)
}

fn run(given: &Given, options: &node::Options, mut report: Report) -> ExitCode {
    match node::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(NodeError::Refused(remark)) => {
            node::flush_log();
            report.add_remark(given, &remark);
            report.refuse()
        }
        Err(error) => {
            node::log_fatal(&error);
            let is_late = matches!(error, NodeError::DisksHang { .. });
            if is_late { ExitCode::from(DISKS_HANG_EXIT) } else { ExitCode::FAILURE }
        }
    }
}

impl Arguments {
    /// The options of the daemon, and what is missing: each of these has a value that stands in for
    /// it, with which no daemon is to start.
    fn read(matches: &ArgMatches) -> (node::Options, Vec<Lack>) {
        let it = Self::from_arg_matches(matches).expect("the matches are of this definition");
        let mut lacks = Vec::new();
        let mut lack = |option, why| lacks.push(Lack { option, why });
        let state_dir = it.state_dir.unwrap_or_else(|| {
            lack("state-dir", Lacking::StateDir);
            PathBuf::from(NOWHERE)
        });
        if it.nvme_auth.is_some() && it.nvme.is_empty() {
            lack("nvme", Lacking::NvmeAddress);
        }
        let name = it.name.map_or_else(host_name, Ok).unwrap_or_else(|error| {
            lack("name", Lacking::Name(error.to_string()));
            "unknown".to_owned()
        });
        let options = node::Options {
            name,
            state_dir,
            admin_socket: it.admin_socket,
            admin_group: it.admin_group,
            nbd: it.nbd,
            nbd_tls: it.nbd_tls,
            nbd_unix: it.nbd_unix,
            nvme: it.nvme,
            nvme_auth: it.nvme_auth,
            vhost: it.vhost,
            metrics: it.metrics,
            pki: it.pki,
            shards: it.shards,
            spin: Duration::from_micros(it.spin_us),
            congestion: it.tcp_congestion,
            device_timeout: Duration::from_secs(it.device_timeout),
            max_parallel_resyncs: NonZeroU32::new(it.max_parallel_resyncs),
            drbd_names: it.drbd_names,
            log_format: it.log_format,
            exit_with_parent: it.exit_with_parent,
        };
        (options, lacks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = include_str!("../../../docs/systemd/basalt-node.service");
    const SHIPPED: &str = include_str!("../../../docs/systemd/node.conf");

    fn given(file: &str, words: &[&str]) -> Given {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.conf");
        std::fs::write(&path, file).unwrap();
        let words = words.iter().map(|word| match *word {
            "/etc/basalt/node.conf" => path.clone().into_os_string(),
            word => OsString::from(word),
        });
        let typed: Vec<_> = std::iter::once("basalt node".into()).chain(words).collect();
        Given::read(command(), &typed).unwrap()
    }

    /// With the unit and the file as they are shipped, `basalt adm` finds the daemon without an
    /// option, and so does Prometheus.
    #[test]
    fn unit_starts_the_daemon_where_its_tools_look() {
        let line = UNIT.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/basalt "));
        let words: Vec<&str> = line.expect("the unit starts the daemon").split(' ').collect();
        assert_eq!(words[0], "node");
        let given = given(SHIPPED, &words[1..]);
        let matches = given.matches.as_ref().unwrap_or_else(|| panic!("{:?}", given.mistakes));
        let (options, lacks) = Arguments::read(matches);
        assert!(lacks.is_empty(), "{lacks:?}");
        assert_eq!(options.name, host_name().unwrap());
        assert_eq!(options.state_dir, PathBuf::from("/var/lib/basalt"));
        assert_eq!(options.admin_socket, Some(PathBuf::from(api::client::SOCKET_PATH_DEFAULT)));
        assert_eq!(options.metrics, Some("127.0.0.1:9942".parse().unwrap()));
        assert!(UNIT.contains("\nRuntimeDirectory=basalt\n"), "the folder of the socket is made");
        assert!(UNIT.contains("\nStateDirectory=basalt\n"), "the state directory is made");
        let wrong_words = format!("\nRestartPreventExitStatus={WRONG_WORDS_EXIT}\n");
        assert!(UNIT.contains(&wrong_words), "a wrong file is no reason to start again");
        // What is of this machine, such as the name, is no part of what is looked at.
        let remarks = options.remarks();
        assert!(remarks.iter().all(|it| it.weight == node::Weight::Note), "{remarks:?}");
    }

    /// A line that is commented out there can be taken in, and says the default if there is one.
    #[test]
    fn shipped_file_names_every_option_with_a_value_that_it_can_have() {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let uncommented = SHIPPED.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split_once(" = ").is_some_and(|(name, _)| is_name(name)) => rest,
            Some(_) | None => line,
        });
        let text: String = uncommented.map(|line| format!("{line}\n")).collect();
        let given = given(&text, &["--config", "/etc/basalt/node.conf"]);
        assert_eq!(given.mistakes, []);
        let there: std::collections::BTreeSet<&str> =
            given.entries().map(|entry| &*entry.name).collect();
        let all = given.options().filter_map(given::name_of).collect();
        assert_eq!(there, all, "of the file, and of `basalt node --help`");
        for arg in command().get_arguments().filter(|arg| !arg.get_default_values().is_empty()) {
            let Some(name) = given::name_of(arg) else { continue };
            let entry = given.entries().find(|entry| entry.name == name).unwrap();
            let has_value = arg.get_action().takes_values();
            let default = arg.get_default_values()[0].to_str().unwrap();
            let default = if has_value { default } else { "no" };
            assert_eq!(entry.value, default, "the default of {name}");
        }
    }
}
