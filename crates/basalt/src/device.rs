//! `basalt device`: block devices without a daemon.
//!
//! `remove` is for a person, where no daemon can be started. `supervise` is the process that a
//! daemon starts beside each of its devices, `claim` the one that it starts before it removes one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use config::limits::MINOR_MAX;
use config::number::number;
use node::{Served, Supervised};

use crate::refused::{self, Form, Refusal};

const VERB: &str = "device remove";

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
    #[arg(value_name = "N", required = true,
        value_parser = number::<u32>(0, MINOR_MAX, "the N of /dev/ublkbN"))]
    devices: Vec<u32>,
    /// Remove one that a daemon serves, too
    #[arg(long)]
    force: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Supervise {
    #[arg(long, value_parser = number::<u32>(0, u32::MAX.into(), "a device"))]
    device: u32,
    #[arg(long, value_parser = number::<u64>(0, u64::MAX, "a mark"))]
    mark: u64,
    #[arg(long)]
    resource: String,
    #[arg(long, value_parser = number::<u16>(0, u16::MAX.into(), "a volume number"))]
    volume: u16,
    #[arg(long, value_parser = number::<u32>(0, u32::MAX.into(), "a process"))]
    server: u32,
    #[arg(long, value_parser = number::<u64>(0, u64::MAX, "seconds"))]
    timeout: u64,
    #[arg(long)]
    lock: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Claim {
    #[arg(long, value_parser = number::<u32>(0, u32::MAX.into(), "a device"))]
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
    let form = if options.json { Form::Json } else { Form::Text };
    let mut refusals = Vec::new();
    let mut removed = String::new();
    for &device in &options.devices {
        match node::remove_device(device, served) {
            Ok(()) => removed.push_str(&format!("removed /dev/ublkb{device}\n")),
            Err(message) => refusals.push(Refusal {
                verb: VERB,
                code: "device",
                file: Some(format!("/dev/ublkb{device}").into()),
                message,
                to_try: "`ls /dev/ublkb*` lists the devices, and `basalt adm status` those of a \
                         daemon"
                    .to_owned(),
                exit: 1,
            }),
        }
    }
    match (refusals.is_empty(), form) {
        (false, _) => refused::tell(&refusals, form),
        (true, Form::Text) => ExitCode::SUCCESS,
        (true, Form::Json) => refused::done(VERB, &removed, form),
    }
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
