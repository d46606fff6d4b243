//! Options and targets that verbs have in common.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Where the daemon keeps its state, unless it is told otherwise.
pub(crate) const STATE_DIR: &str = "/var/lib/basalt";

#[derive(Debug, Args)]
pub(crate) struct General {
    /// Configuration file [default: /etc/basalt.conf, then /etc/drbd.conf]
    #[arg(short = 'c', long, global = true, value_name = "FILE")]
    pub(crate) config_file: Option<PathBuf>,
    /// Admin socket of the daemon [default: $BASALT_ADMIN_SOCKET, then /run/basalt/admin.sock]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) node_socket: Option<PathBuf>,
    /// Only tell the steps of `up` and `adjust` and of what takes a resource up or down in steps,
    /// what `primary` would find and give up, and whether `adopt` and `adopt-drbd` are possible
    #[arg(short = 'd', long, global = true)]
    pub(crate) dry_run: bool,
    /// Tell more: the steps of `adjust`, and what `status` leaves out; there also twice
    #[arg(short = 'v', long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Give up after so long [default: 30; `primary` 170; `new-current-uuid` 60; `create-md`,
    /// `adopt`, `adopt-drbd` 600, for they may have much to write]; before the verb
    /// where that takes options of DRBD, which has a `timeout`, too
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Where the configuration is taken from without --config-file.
    #[arg(skip)]
    pub(crate) source: Source,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    #[default]
    Files,
    /// The daemon says which configuration it runs with.
    Daemon,
}

#[derive(Debug, Args)]
pub(crate) struct Targets {
    /// `all`, RES, RES/VOL or RES:PEER
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Forcible {
    /// Do it also where it is refused for safety
    #[arg(long)]
    pub(crate) force: bool,
    /// `all`, RES, RES/VOL or RES:PEER
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

/// The longest wait that is taken: a year.
pub(crate) const SECONDS_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|it| Duration::try_from_secs_f64(it).ok());
    // A deadline is a time of now and this duration: their sum must not overflow.
    seconds.filter(|it| !it.is_zero() && *it <= SECONDS_MAX).ok_or_else(|| {
        let max = SECONDS_MAX.as_secs();
        format!("it takes a number above 0 and up to {max} (a year): seconds, as 30 or 0.5")
    })
}
