//! Runs fio with its NBD engine and reads its JSON.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use frontend::nbd::client::uri::Uri;
use serde::Serialize;
use serde_json::Value;

use crate::clock;

/// One run of random 4 KiB writes.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) uri: Uri,
    /// The part of the volume that is written.
    pub(crate) span_bytes: u64,
    pub(crate) depth: u32,
    /// Before the measured time.
    pub(crate) ramp: Duration,
    pub(crate) time: Duration,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) iops: f64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// fio's version, or what to do when it cannot be run.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("fio").arg("--version").output();
    let output = output.context("cannot run fio; install it, on Debian: apt install fio")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Writes the whole span once, so that no run pays for the first touch of memory.
pub(crate) fn fill(uri: &Uri, span_bytes: u64, directory: &Path) -> Result<()> {
    let fill = ["--rw=write", "--bs=1m", "--iodepth=4"];
    let mut command = command(uri, span_bytes, directory);
    run(command.args(fill), directory, Duration::from_secs(600), |_| ()).map(drop)
}

/// Runs the job; `at` hears how long fio has been running, about twenty times a second.
pub(crate) fn random_writes(
    job: &Job,
    directory: &Path,
    at: impl FnMut(Duration),
) -> Result<Outcome> {
    let mut command = command(&job.uri, job.span_bytes, directory);
    command.args(["--rw=randwrite", "--bs=4k", "--time_based"]).args([
        format!("--iodepth={}", job.depth),
        format!("--ramp_time={}ms", job.ramp.as_millis()),
        format!("--runtime={}ms", job.time.as_millis()),
    ]);
    let limit = job.ramp + job.time + Duration::from_secs(60);
    let write = run(&mut command, directory, limit, at)?;
    let number = |value: &Value| value.as_f64().context("fio's report lacks a number");
    let percentile = |name: &str| number(&write["lat_ns"]["percentile"][name]);
    Ok(Outcome {
        iops: number(&write["iops"])?,
        mean_us: number(&write["lat_ns"]["mean"])? / 1e3,
        p50_us: percentile("50.000000")? / 1e3,
        p99_us: percentile("99.000000")? / 1e3,
        max_us: number(&write["lat_ns"]["max"])? / 1e3,
    })
}

fn command(uri: &Uri, span_bytes: u64, directory: &Path) -> Command {
    let mut command = Command::new("fio");
    command.current_dir(directory).args([
        "--name=write",
        "--ioengine=nbd",
        &format!("--uri={uri}"),
        &format!("--size={span_bytes}"),
        "--randrepeat=0",
        "--norandommap=1",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--percentile_list=50:99",
        "--output-format=json",
        &format!("--output={}", directory.join("fio.json").display()),
    ]);
    command
}

/// Runs fio to its end and gives the write part of its report.
fn run(
    command: &mut Command,
    directory: &Path,
    limit: Duration,
    mut at: impl FnMut(Duration),
) -> Result<Value> {
    let log = directory.join("fio.log");
    let output = std::fs::File::create(&log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn().context("cannot run fio")?;
    let started = clock::now();
    let ended = clock::wait_for("fio to end", limit, || {
        at(clock::now().since(started));
        Ok(child.try_wait()?)
    });
    let Ok(status) = ended else {
        child.kill().ok();
        child.wait()?;
        bail!("fio did not end within {} s", limit.as_secs());
    };
    let report = std::fs::read_to_string(directory.join("fio.json")).unwrap_or_default();
    let begin = report.find('{').unwrap_or(report.len());
    if !status.success() || begin == report.len() {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        bail!("fio ended with {status}: {}{}", said.trim(), report.trim());
    }
    let mut report: Value = serde_json::from_str(&report[begin..]).context("fio's report")?;
    let job = report["jobs"][0].take();
    if job["error"].as_i64() != Some(0) {
        bail!("fio met error {}", job["error"]);
    }
    Ok(job["write"].clone())
}
