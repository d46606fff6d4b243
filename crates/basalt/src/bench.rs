//! `basalt bench`: loads and checks of volumes; without a command of its own, the matrix.

pub(crate) mod output;
mod histogram;
mod needs;
pub(crate) mod checker;
mod verify;
pub(crate) mod fio;
mod cpu;
mod machine;
mod placement;
mod children;
mod systems;
mod measure;
mod course;
mod fleet;
mod matrix;
mod ram_server;
mod canary;
mod chaos;
mod failover;
mod upgrade;
mod write;
mod rows;
mod idle;
mod resync;
mod puppet;

use std::process::ExitCode;

use anyhow::Result;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Choice {
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

pub(crate) fn main(choice: Choice) -> Result<ExitCode> {
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
