//! `basalt bench verify`: the checker on volumes that are there, or on a cluster of its own whose
//! nodes are killed as a seed says.

mod kills;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use frontend::nbd::client::uri::Uri;

use crate::checker::Run;
use crate::checker::plan::LoadOptions;
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;
use crate::waiting;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Exports of one volume, comma separated; the checker moves on when one fails
    #[arg(long, value_delimiter = ',', required_unless_present = "kill_schedule")]
    nbd: Vec<Uri>,
    /// How long to load the volume
    #[arg(long, default_value_t = 20, value_parser = needs::long_seconds())]
    seconds: u64,
    /// Start three nodes, and kill and restart them as this seed says, instead of --nbd
    #[arg(long, value_name = "SEED", conflicts_with_all = ["nbd", "seconds", "seed"],
        value_parser = needs::any("a seed"))]
    kill_schedule: Option<u64>,
    #[command(flatten)]
    kills: kills::KillOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    output: Output,
}

/// Runs the checker; the exit code tells whether all was well.
pub(crate) fn main(options: Options) -> Result<ExitCode> {
    if let Some(seed) = options.kill_schedule {
        let report = kills::run(seed, &options.kills, &options.load)?;
        return report.print(options.output);
    }
    let plan = options.load.plan(options.nbd);
    let mut progress = Progress::new();
    progress.say(&format!("connecting to {}", plan.servers[0]));
    let run = Run::start(plan)?;
    let limit = Duration::from_secs(options.seconds);
    while !run.load.has_failed() && run.elapsed() < limit {
        let share = run.elapsed().as_secs_f64() / limit.as_secs_f64();
        progress.show(Some(share), || run.line());
        waiting::rest();
    }
    let report = run.finish(&mut progress)?;
    drop(progress);
    report.print(options.output)
}
