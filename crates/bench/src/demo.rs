//! `basalt demo`: a three-node volume on this machine, written without a break while its nodes die.
//!
//! Steps, in order: start and first fill; load; kill a secondary, go on, bring it back; kill the
//! primary, go on at another node, bring it back; read everything back; compare the replicas.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use io::clock;
use serde::Serialize;

use crate::checker::Run;
use crate::checker::plan::Plan;
use crate::checker::report::Report;
use crate::cluster::{self, Cluster, Node};
use crate::fio::{self, Access, Pattern};
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;
use crate::rig::{self, Rig};

/// The longest pause of writes that a demo with a killed primary may have.
const TAKE_OVER_LIMIT_MS: f64 = 2500.0;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Also measure random 4 KiB writes with fio, which must be installed
    #[arg(long)]
    fio: bool,
    /// Stretches or shortens the load between the steps
    #[arg(long, default_value_t = 1.0, value_parser = needs::scale)]
    seconds_scale: f64,
    /// MiB of the volume
    #[arg(long, default_value_t = 1024, value_parser = needs::size_mib(1))]
    size_mib: u64,
    /// Where the three backing files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Serialize)]
struct DemoReport {
    passed: bool,
    volume_bytes: u64,
    total_seconds: f64,
    first_fill_seconds: f64,
    resyncs: Vec<Resync>,
    fio: Option<fio::Outcome>,
    take_over_ms: Option<f64>,
    checker: Report,
}

#[derive(Debug, Serialize)]
struct Resync {
    node: String,
    seconds: f64,
}

/// Plays it all; success is a volume that lost nothing and was served again in time.
///
/// # Errors
/// A node did not come up or back, or there is no room or no fio.
pub fn main(options: &Options) -> Result<ExitCode> {
    let volume_bytes = options.size_mib << 20;
    cluster::check_room(&options.place, volume_bytes)?;
    if options.fio {
        fio::version()?;
    }
    let report = run(options, volume_bytes)?;
    let mut out = std::io::stdout();
    if options.output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        report.print(&mut out)?;
    }
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(options: &Options, volume_bytes: u64) -> Result<DemoReport> {
    let started = clock::now();
    let mut progress = Progress::new();
    progress.say("starting three nodes: alfa, bravo, charlie");
    let plan = cluster::Plan::small(&options.place, volume_bytes);
    let mut cluster = rig::start_cluster(&plan, &mut progress)?;
    let first_fill_seconds = clock::now().since(started).as_secs_f64();
    progress.say(&format!("all three replicas are up to date after {first_fill_seconds:.1} s"));
    let fio = match options.fio.then(|| measure(&cluster, options, volume_bytes, &mut progress)) {
        Some(Err(error)) => return Err(cluster.with_evidence(&error)),
        Some(Ok(outcome)) => Some(outcome),
        None => None,
    };
    let servers = cluster.nodes().iter().map(Node::uri).collect();
    let run = match Run::start(Plan::new(servers, clock::random_u64() >> 32, volume_bytes)) {
        Ok(run) => run,
        Err(error) => return Err(cluster.with_evidence(&error)),
    };
    let mut rig = Rig { cluster, run, progress };
    let resyncs = match act(&mut rig, options.seconds_scale) {
        Ok(resyncs) => resyncs,
        Err(error) => return Err(rig.give_up(error)),
    };
    rig.progress.say("reading everything back, then comparing the replicas");
    let (mut checker, mut cluster) = rig.finish()?;
    let take_over_ms = checker.pause_p95_ms("primary");
    let passed = checker.passed && take_over_ms.is_some_and(|ms| ms <= TAKE_OVER_LIMIT_MS);
    if !checker.passed {
        let kept = cluster.keep_files().display().to_string();
        checker.violations.push(format!("files and logs are kept in {kept}"));
    }
    let total_seconds = clock::now().since(started).as_secs_f64();
    Ok(DemoReport {
        passed,
        volume_bytes,
        total_seconds,
        first_fill_seconds,
        resyncs,
        fio,
        take_over_ms,
        checker,
    })
}

/// The load figure, before the checker starts: fio's blocks are none of the checker's.
fn measure(
    cluster: &Cluster,
    options: &Options,
    volume_bytes: u64,
    progress: &mut Progress,
) -> Result<fio::Outcome> {
    let time = Duration::from_secs(5).mul_f64(options.seconds_scale);
    let job = fio::Job {
        targets: vec![cluster.nodes()[0].local_uri()],
        span_bytes: volume_bytes,
        access: Access { pattern: Pattern::RandomWrite, block_kib: 4, depth: 32 },
        cpu: None,
        ramp: Duration::from_secs(1),
        time,
    };
    let scratch = tempfile::tempdir().context("cannot make a directory for fio")?;
    let outcome = fio::measure(&job, scratch.path(), |elapsed| {
        let share = elapsed.as_secs_f64() / (job.ramp + job.time).as_secs_f64();
        progress.show(Some(share), || "fio: random 4 KiB writes, 32 in flight".to_owned());
    })?;
    progress.say(&format!("fio: {:.0} IOPS, mean {:.0} us", outcome.iops, outcome.mean_us));
    Ok(outcome)
}

/// The play: who dies when.
fn act(rig: &mut Rig, scale: f64) -> Result<Vec<Resync>> {
    let load = Duration::from_secs(6).mul_f64(scale);
    let mut resyncs = Vec::new();
    rig.progress.say("the checker loads the volume");
    rig.go_on(load)?;

    let primary = rig.cluster.primary().context("no node is primary under load")?;
    let secondary = (primary + 1) % rig.cluster.nodes().len();
    let name = rig.cluster.nodes()[secondary].name;
    rig.progress.say(&format!("killing the secondary {name} with SIGKILL; the load goes on"));
    rig.kill(secondary, "secondary")?;
    rig.wait_for_next_write()?;
    rig.go_on(load)?;
    resyncs.push(bring_back(rig, secondary)?);

    let name = rig.cluster.nodes()[primary].name;
    rig.progress.say(&format!("killing the primary {name} with SIGKILL; another node takes over"));
    rig.kill(primary, "primary")?;
    rig.wait_for_next_write()?;
    rig.go_on(load)?;
    let successor = rig.cluster.primary().context("no node took over")?;
    ensure!(successor != primary, "the killed node is still primary");
    rig.progress.say(&format!("{} has taken over", rig.cluster.nodes()[successor].name));
    resyncs.push(bring_back(rig, primary)?);
    Ok(resyncs)
}

fn bring_back(rig: &mut Rig, index: usize) -> Result<Resync> {
    let node = rig.cluster.nodes()[index].name.to_owned();
    rig.progress.say(&format!("starting {node} again; only what it missed is copied"));
    let started = clock::now();
    rig.restart(index)?;
    rig.wait_until_whole()?;
    let seconds = clock::now().since(started).as_secs_f64();
    rig.progress.say(&format!("{node} is up to date again after {seconds:.1} s"));
    Ok(Resync { node, seconds })
}

impl DemoReport {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        let mib = self.volume_bytes >> 20;
        writeln!(
            out,
            "\nA volume of {mib} MiB on three nodes, {:.0} s in all",
            self.total_seconds
        )?;
        writeln!(out, "start and first fill of two replicas: {:.1} s", self.first_fill_seconds)?;
        if let Some(fio) = &self.fio {
            let fio::Outcome { iops, mean_us, p99_us, .. } = fio;
            writeln!(
                out,
                "fio: {iops:.0} random 4 KiB writes/s, mean {mean_us:.0} us, p99 {p99_us:.0} us"
            )?;
        }
        for Resync { node, seconds } in &self.resyncs {
            writeln!(out, "{node} was up to date {seconds:.1} s after its start")?;
        }
        if let Some(ms) = self.take_over_ms {
            writeln!(out, "take-over: first write through another node {ms:.0} ms after the kill")?;
        }
        writeln!(out, "checker: {}", self.checker)?;
        writeln!(out, "{}", if self.passed { "PASSED" } else { "FAILED" })?;
        Ok(())
    }
}
