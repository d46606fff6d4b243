//! The one binary: each subcommand is a tool of its own.
//!
//! Called as `drbdadm` (a link of that name), it is `basalt adm`.

mod daemon;
mod adm;
mod clock;
mod loopback;
mod progress;
mod cluster;
mod rig;
mod bench;
mod demo;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

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
    /// Load and check volumes
    #[command(subcommand)]
    Bench(bench::Command),
    /// Watch a three-node volume survive the loss of its nodes
    Demo(demo::Options),
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if words.next().is_some_and(|program| Path::new(&program).ends_with("drbdadm")) {
        return adm::main(words);
    }
    let result = match Arguments::parse().command {
        Command::Node { words } => return daemon::main(words),
        Command::Adm { words } => return adm::main(words),
        Command::Bench(command) => bench::main(command),
        Command::Demo(options) => demo::main(&options),
    };
    result.unwrap_or_else(|error| {
        // Without a standard error nobody can be told.
        writeln!(std::io::stderr(), "basalt: {error:#}").ok();
        ExitCode::FAILURE
    })
}
