//! The one binary: each subcommand is a tool of its own.
//!
//! Called as `drbdadm` or `drbdsetup` (links of these names), it is `basalt adm` or `basalt setup`.

mod daemon;
mod called;
mod device;
mod adm;
mod setup;
mod links;
mod pki;
mod top;
mod plane;
mod manuals;
mod values;
mod refused;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use self::called::Name;

/// Replicated block storage in user space
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run the daemon of this machine
    #[command(disable_help_flag = true)]
    Node {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Administer volumes: drbdadm's verbs
    #[command(disable_help_flag = true)]
    Adm {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Say in words why a resource is as it is, what it waits for, and what to do
    #[command(disable_help_flag = true)]
    Explain {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Gather what somebody who is to help needs, of this node or (`--cluster`) of all
    #[command(disable_help_flag = true)]
    Report {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    #[command(flatten)]
    Plane(plane::Command),
    /// Watch the volumes of this node in a terminal
    Top(top::Options),
    /// Administer what runs: drbdsetup's verbs
    #[command(disable_help_flag = true)]
    Setup {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Remove block devices whose daemon is gone
    #[command(subcommand)]
    Device(device::Command),
    /// Make the certificates with which nodes and clients prove who they are
    #[command(subcommand)]
    Pki(pki::Command),
    /// Make links to this program under the names `drbdadm` and `drbdsetup`
    InstallLinks(links::Options),
    /// Write man pages and completions of shells
    #[command(hide = true)]
    Manuals(manuals::Options),
    /// Load and check volumes; by itself, measure a matrix of loads on volumes of several nodes
    Bench(Box<bench::Choice>),
    /// Watch a three-node volume survive the loss of its nodes
    Demo(bench::demo::Options),
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next();
    match program.as_ref().and_then(|path| Path::new(path).file_name()?.to_str()) {
        Some("drbdadm") => return links::drbdadm(words.collect()),
        Some("drbdsetup") => return setup::main(Name::Drbdsetup, words),
        Some(_) | None => {}
    }
    // Its words are its own, a `--` at their beginning, too.
    if std::env::args_os().nth(1).is_some_and(|tool| tool == "adm") {
        return adm::main(Name::BasaltAdm, words.skip(1));
    }
    let arguments = match read(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    let result = match arguments.command {
        Command::Node { words } => return node(words),
        Command::Plane(command) => return plane::main(command),
        Command::Adm { words } => return adm::main(Name::BasaltAdm, words),
        Command::Explain { words } => {
            let words = std::iter::once(OsString::from("explain")).chain(words);
            return adm::main(Name::BasaltAdm, words);
        }
        Command::Report { words } => {
            let words = std::iter::once(OsString::from("report")).chain(words);
            return adm::main(Name::BasaltAdm, words);
        }
        Command::Setup { words } => return setup::main(Name::BasaltSetup, words),
        Command::Manuals(options) => manuals::main(&options),
        Command::Top(options) => top::main(&options),
        Command::Device(command) => Ok(device::main(command)),
        Command::Pki(command) => Ok(pki::main(&command)),
        Command::InstallLinks(options) => links::install(&options),
        Command::Bench(choice) => bench::main(*choice),
        Command::Demo(options) => bench::demo::main(&options),
    };
    result.unwrap_or_else(|error| {
        // Without a standard error nobody can be told.
        writeln!(std::io::stderr(), "basalt: {error:#}").ok();
        ExitCode::FAILURE
    })
}

/// `basalt node list` and `lost` ask the controller; all else is the daemon of this machine.
fn node(words: Vec<OsString>) -> ExitCode {
    if words.first().is_none_or(|word| word != "list" && word != "lost") {
        return daemon::main(words);
    }
    let words = std::iter::once(OsString::from("basalt node")).chain(words);
    match NodeOfCluster::try_parse_from(words) {
        Ok(NodeOfCluster { verb, common }) => plane::node(verb, &common),
        Err(error) => {
            let exit = u8::try_from(error.exit_code()).unwrap_or(1);
            if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE }
        }
    }
}

#[derive(Debug, Parser)]
#[command(name = "basalt node")]
struct NodeOfCluster {
    #[command(subcommand)]
    verb: plane::Node,
    #[command(flatten)]
    common: plane::Common,
}

/// The command line, or how this run ends: help and version are no errors.
fn read(words: Vec<OsString>) -> Result<Arguments, ExitCode> {
    let is_json = values::asks_for_json(&words);
    let tool = words.get(1).cloned().unwrap_or_default();
    let read = values::with_values(Arguments::command())
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    read.map_err(|error| {
        let exit = u8::try_from(error.exit_code()).unwrap_or(1);
        // These answer in JSON; without a standard error nobody can be told of the others.
        if error.use_stderr() && is_json && (tool == "device" || tool == "pki") {
            return refused::tell(&[refused::of_words(&error, exit)], refused::Form::Json);
        }
        if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE }
    })
}
