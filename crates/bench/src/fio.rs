//! Runs fio with its NBD engine: what a run does, to which volumes, for how long.
//!
//! All figures of the benches are fio's own. One process of fio opens every volume of a run in a
//! thread of its own, begins with all of them at once, and forgets what it saw while it warmed up.

mod report;

use self::report::Steps;
pub(crate) use self::report::{Moment, Outcome};

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use frontend::nbd::client::uri::Uri;
use io::clock;
use serde::Serialize;

use crate::children;
use crate::needs::Program;
use crate::waiting;

pub(crate) const PROGRAM: Program = Program { name: "fio", package: "fio" };

/// A volume is written once within this, on a slow machine.
const FILL_LIMIT: Duration = Duration::from_secs(1800);
/// What fio may take beside the time of its load: to start, to connect, to write its report.
const SLACK: Duration = Duration::from_secs(120);
/// How far apart the moments of a series are.
const SERIES_STEP_MS: u32 = 250;
/// fio's own names; this is how they begin, in the directory of the run.
const LOG_PREFIX: &str = "series";

/// One kind of request, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Access {
    pub(crate) pattern: Pattern,
    pub(crate) block_kib: u32,
    /// Requests in flight on each connection.
    pub(crate) depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pattern {
    RandomRead,
    RandomWrite,
    /// Seven reads to three writes.
    RandomMixed,
    SequentialRead,
    SequentialWrite,
    /// A random write and then a flush: what a database does to commit.
    Commit,
}

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// A connection to each, all at once; a volume that is named twice has two.
    pub(crate) targets: Vec<Uri>,
    /// The part of each volume that is used.
    pub(crate) span_bytes: u64,
    pub(crate) access: Access,
    /// The one that fio runs on; none is any.
    pub(crate) cpu: Option<usize>,
    /// Before the measured time.
    pub(crate) ramp: Duration,
    pub(crate) time: Duration,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = match self.pattern {
            Pattern::RandomRead => "random read",
            Pattern::RandomWrite => "random write",
            Pattern::RandomMixed => "random read and write 70/30",
            Pattern::SequentialRead => "sequential read",
            Pattern::SequentialWrite => "sequential write",
            Pattern::Commit => "random write and flush",
        };
        write!(f, "{pattern} {} KiB QD{}", self.block_kib, self.depth)
    }
}

/// fio's version, or what to do when it cannot be run.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("fio").arg("--version").output();
    let output = output.context("cannot run fio; install it, on Debian: apt install fio")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Writes the whole span of each volume once, so that no run pays for the first touch of memory and
/// none reads what was never written; `at` hears how long it has been at it.
pub(crate) fn fill(
    targets: &[Uri],
    span_bytes: u64,
    directory: &Path,
    at: impl FnMut(Duration),
) -> Result<()> {
    let access = Access { pattern: Pattern::SequentialWrite, block_kib: 1024, depth: 4 };
    let text = job_file(targets, span_bytes, access, "end_fsync=1\n");
    let outcome = run(&text, access, directory, FILL_LIMIT, at)?;
    let whole = span_bytes.saturating_mul(targets.len() as u64);
    if outcome.bytes < whole {
        bail!("fio wrote {} of {whole} bytes to fill the volumes", outcome.bytes);
    }
    Ok(())
}

/// Runs the job; `at` hears how long fio has been running, about twenty times a second.
pub(crate) fn measure(job: &Job, directory: &Path, at: impl FnMut(Duration)) -> Result<Outcome> {
    let cpu = job.cpu.map(|cpu| format!("cpus_allowed={cpu}\n")).unwrap_or_default();
    let timing = format!(
        "time_based\nramp_time={}ms\nruntime={}ms\n{cpu}\
         write_iops_log={LOG_PREFIX}\nwrite_lat_log={LOG_PREFIX}\nlog_avg_msec={SERIES_STEP_MS}\n",
        job.ramp.as_millis(),
        job.time.as_millis()
    );
    let text = job_file(&job.targets, job.span_bytes, job.access, &timing);
    let mut outcome = run(&text, job.access, directory, job.ramp + job.time + SLACK, at)?;
    let count = job.time.as_millis() / u128::from(SERIES_STEP_MS);
    let steps = Steps { each_ms: SERIES_STEP_MS, count: u64::try_from(count)? };
    outcome.series = report::read_series(directory, LOG_PREFIX, steps)?;
    Ok(outcome)
}

/// Keeps the load of the job up while `look` has not seen what it waits for, some twenty looks a
/// second, and ends it then; its ramp and time count for nothing.
pub(crate) fn load_while<T>(
    job: &Job,
    directory: &Path,
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let timing = format!("time_based\nruntime={}s\n", (limit + SLACK).as_secs());
    let text = job_file(&job.targets, job.span_bytes, job.access, &timing);
    let (mut child, log) = spawn(&text, directory)?;
    let seen = waiting::wait_for(what, limit, || match child.try_wait()? {
        None => look(),
        Some(status) => {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            bail!("fio ended with {status}: {}", said.trim())
        }
    });
    child.kill().ok();
    child.wait()?;
    seen
}

fn job_file(targets: &[Uri], span_bytes: u64, access: Access, more: &str) -> String {
    let pattern = match access.pattern {
        Pattern::RandomRead => "rw=randread",
        Pattern::RandomWrite => "rw=randwrite",
        Pattern::RandomMixed => "rw=randrw\nrwmixread=70",
        Pattern::SequentialRead => "rw=read",
        Pattern::SequentialWrite => "rw=write",
        Pattern::Commit => "rw=randwrite\nfsync=1",
    };
    let Access { block_kib, depth, .. } = access;
    let mut text = format!(
        "[global]\nioengine=nbd\nthread\ndirect=1\nsize={span_bytes}\n{pattern}\nbs={block_kib}k\n\
         iodepth={depth}\nrandrepeat=0\nnorandommap=1\nlat_percentiles=1\nclat_percentiles=0\n\
         per_job_logs=1\n{more}"
    );
    for (number, target) in targets.iter().enumerate() {
        write!(text, "[volume{number}]\nuri={target}\n").expect("writing to a string");
    }
    text
}

/// fio with a job, and the file that holds what it says.
fn spawn(text: &str, directory: &Path) -> Result<(Child, PathBuf)> {
    let file = directory.join("job.fio");
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    report::remove_series(directory, LOG_PREFIX)?;
    let log = directory.join("fio.log");
    let said = std::fs::File::create(&log)?;
    let mut command = children::command(PROGRAM.name, None);
    command.current_dir(directory).args(["--output-format=json+", "--output=fio.json", "job.fio"]);
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    Ok((command.spawn().context("cannot run fio")?, log))
}

/// Runs fio to its end and reads what it found.
fn run(
    text: &str,
    access: Access,
    directory: &Path,
    limit: Duration,
    mut at: impl FnMut(Duration),
) -> Result<Outcome> {
    let (mut child, log) = spawn(text, directory)?;
    let started = clock::now();
    let ended = waiting::wait_for("fio to end", limit, || {
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
    Outcome::parse(&report[begin..], access.pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend::nbd::client::uri::Address;

    #[test]
    fn a_job_file_names_every_volume_and_repeats_no_seed() {
        let uri = |name: &str| Uri {
            address: Address::Unix("/run/a.sock".into()),
            export: name.to_owned(),
        };
        let access = Access { pattern: Pattern::RandomMixed, block_kib: 4, depth: 64 };
        let text = job_file(&[uri("a"), uri("b")], 4096, access, "time_based\n");
        assert!(text.contains("rw=randrw\nrwmixread=70\nbs=4k\niodepth=64\nrandrepeat=0\n"));
        assert!(text.ends_with(
            "time_based\n[volume0]\nuri=nbd+unix:///a?socket=/run/a.sock\n\
             [volume1]\nuri=nbd+unix:///b?socket=/run/a.sock\n"
        ));
        assert_eq!(access.to_string(), "random read and write 70/30 4 KiB QD64");
    }
}
