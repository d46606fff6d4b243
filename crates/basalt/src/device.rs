//! `basalt device`: block devices without a daemon.
//!
//! `remove` is for a person, where no daemon can be started. `supervise` is the process that a
//! daemon starts beside each of its devices, `claim` the one that it starts before it removes one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use node::{Served, Supervised};

/// Where devices have names of their own; made with the first one.
const LINKS: &str = "/dev/basalt/by-res";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Remove block devices whose daemon is gone: their users get errors, and need not wait for
    /// another daemon
    Remove(Remove),
    /// Watch over the device of a daemon
    #[command(hide = true)]
    Supervise(Supervise),
    /// Keep everybody else from the device of a daemon until the input ends
    #[command(hide = true)]
    Claim(Claim),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The N of /dev/ublkbN
    #[arg(value_name = "N", required = true)]
    devices: Vec<u32>,
    /// Remove one that a daemon serves, too
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Supervise {
    #[arg(long)]
    device: u32,
    #[arg(long)]
    mark: u64,
    #[arg(long)]
    resource: String,
    #[arg(long)]
    volume: u16,
    #[arg(long)]
    server: u32,
    #[arg(long)]
    timeout: u64,
    #[arg(long)]
    lock: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Claim {
    #[arg(long)]
    device: u32,
    #[arg(long)]
    lock: PathBuf,
}

pub(crate) fn main(command: Command) -> ExitCode {
    match command {
        Command::Remove(options) => remove(&options),
        Command::Supervise(options) => supervise(options),
        // Whoever does not hear the answer has ended.
        Command::Claim(options) => match node::claim_device(options.device, &options.lock) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
    }
}

fn remove(options: &Remove) -> ExitCode {
    let served = if options.force { Served::CutOff } else { Served::Refuse };
    let mut exit = ExitCode::SUCCESS;
    for &device in &options.devices {
        if let Err(reason) = node::remove_device(device, served) {
            // Without a standard error nobody can be told.
            writeln!(std::io::stderr(), "basalt device remove: {reason}").ok();
            exit = ExitCode::FAILURE;
        }
    }
    exit
}

fn supervise(options: Supervise) -> ExitCode {
    let supervised = Supervised {
        device: options.device,
        mark: options.mark,
        resource: options.resource,
        volume: options.volume,
        server: options.server,
        timeout: Duration::from_secs(options.timeout),
        lock: options.lock,
    };
    match node::supervise(&supervised) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            node::log_failure(&supervised.resource, &reason);
            ExitCode::FAILURE
        }
    }
}

/// Block devices that a daemon left have their names here, if it is a folder.
pub(crate) fn links() -> &'static Path {
    Path::new(LINKS)
}
