//! `basalt bench` and `basalt demo`: loads and checks of volumes, on clusters that they start.
//!
//! The nodes are processes of the program that calls this crate, driven from outside as an operator
//! drives them. In reading order: what all commands use, the cluster and the checker, the rig that
//! joins both, what measures, and the commands; without one of its own, `basalt bench` measures the
//! matrix.
#![forbid(unsafe_code)]

mod output;
mod needs;
mod progress;
mod waiting;
mod ports;
mod loopback;
mod histogram;
mod cluster;
mod checker;
mod rig;
pub mod demo;
mod verify;
mod chaos;
mod upgrade;
mod failover;
mod puppet;
mod ram_server;
mod canary;
mod children;
mod fio;
mod cpu;
mod machine;
mod placement;
mod measure;
mod systems;
mod course;
mod matrix;
mod write;
mod rows;
mod fleet;
mod idle;
mod resync;

use std::process::ExitCode;

use anyhow::Result;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Choice {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    matrix: matrix::Options,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Load a volume over NBD and check every answer
    Verify(verify::Options),
    /// Check the checker against servers with one flaw each
    Canary(canary::Options),
    /// Measure what a replicated write costs, beside two other systems
    Write(write::Options),
    /// Measure each goal for speed and cost beside what it is compared with
    Rows(rows::Options),
    /// Measure memory, CPU and start of nodes that have volumes and nothing to do
    Idle(idle::Options),
    /// Measure what the return of a node costs its clients, and how long it takes
    Resync(resync::Options),
    /// Strike nodes and the network between them, under the checker's load
    Chaos(chaos::Options),
    /// Measure how long a volume stands still when nodes die, vanish or stand still
    Failover(failover::Options),
    /// Upgrade and downgrade nodes one by one beside another version, under the checker's load
    Upgrade(upgrade::Options),
    /// Start three nodes, then kill and restart them as standard input says
    Puppet(puppet::Options),
}

/// Does what was chosen, and says how it ended.
///
/// # Errors
/// Something is missing on this machine, or what was started did not come up or ended early.
pub fn main(choice: Choice) -> Result<ExitCode> {
    let Some(command) = choice.command else { return matrix::main(&choice.matrix) };
    match command {
        Command::Verify(options) => verify::main(options),
        Command::Canary(options) => canary::main(&options),
        Command::Write(options) => write::main(&options),
        Command::Rows(options) => rows::main(&options),
        Command::Idle(options) => idle::main(&options),
        Command::Resync(options) => resync::main(&options),
        Command::Chaos(options) => chaos::main(&options),
        Command::Failover(options) => failover::main(&options),
        Command::Upgrade(options) => upgrade::main(&options),
        Command::Puppet(options) => puppet::main(&options),
    }
}
