//! What fio's JSON and its logs say of a run over several volumes.
//!
//! IOPS and bandwidth of the volumes are summed, their mean latencies are averaged, and percentiles
//! are those of all requests together, from fio's own histograms.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::Pattern;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Outcome {
    pub(crate) iops: f64,
    pub(crate) bytes_per_second: f64,
    /// All that was read and written.
    pub(crate) bytes: u64,
    /// Of a commit: of the write and its flush together.
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// Nanoseconds and how many requests took about that; of commits, of the flushes alone.
    #[serde(skip)]
    bins: BTreeMap<u64, u64>,
    #[serde(skip)]
    pub(crate) series: Vec<Moment>,
}

/// What a short while of the measured time was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Moment {
    /// Of its end, from the begin of the measured time.
    pub(crate) seconds: f64,
    /// Of all volumes.
    pub(crate) iops: f64,
    /// None where no request ended.
    pub(crate) mean_us: Option<f64>,
}

/// How a series is laid out in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) each_ms: u32,
    /// Of the measured time; at least these are in the series.
    pub(super) count: u64,
}

/// What fio logged of one volume in one step: of reads, writes and trims.
#[derive(Clone, Copy, Debug, Default)]
struct Logged {
    iops: [f64; DIRECTIONS],
    /// Microseconds, and how many lines they are the sum of.
    latencies: [(f64, f64); DIRECTIONS],
}

/// What fio calls 3 is a flush, which is no request of its own.
const DIRECTIONS: usize = 3;

impl Outcome {
    pub(super) fn parse(report: &str, pattern: Pattern) -> Result<Self> {
        let report: Value = serde_json::from_str(report).context("fio's report")?;
        let jobs = report["jobs"].as_array().context("fio's report names no job")?;
        let mut all = Self::default();
        for job in jobs {
            if job["error"].as_i64() != Some(0) {
                bail!("fio met error {}", job["error"]);
            }
            all.add(job, pattern).context("fio's report of a volume")?;
        }
        if jobs.is_empty() || all.bins.is_empty() {
            bail!("fio counted no request");
        }
        all.mean_us /= float(jobs.len() as u64);
        all.p50_us = all.percentile_us(50_000);
        all.p99_us = all.percentile_us(99_000);
        Ok(all)
    }

    /// One volume; its mean latency is that of all its requests.
    fn add(&mut self, job: &Value, pattern: Pattern) -> Result<()> {
        let mut latencies = Vec::new();
        for direction in ["read", "write"] {
            let part = &job[direction];
            let count = whole(&part["total_ios"])?;
            if count == 0 {
                continue;
            }
            self.iops += number(&part["iops"])?;
            self.bytes_per_second += number(&part["bw_bytes"])?;
            self.bytes += whole(&part["io_bytes"])?;
            latencies.push((count, &part["lat_ns"]));
        }
        let requests: u64 = latencies.iter().map(|(count, _)| count).sum();
        let mut mean_us = 0.0;
        for (count, latency) in &latencies {
            mean_us += number(&latency["mean"])? / 1e3 * float(*count) / float(requests);
            self.max_us = self.max_us.max(number(&latency["max"])? / 1e3);
        }
        if pattern == Pattern::Commit {
            let flush = &job["sync"]["lat_ns"];
            mean_us += number(&flush["mean"])? / 1e3;
            self.max_us = self.max_us.max(number(&flush["max"])? / 1e3);
            latencies = vec![(requests, flush)];
        }
        self.mean_us += mean_us;
        for (_, latency) in latencies {
            let bins = latency["bins"].as_object().context("a histogram of latencies")?;
            for (ns, count) in bins {
                *self.bins.entry(ns.parse().context("a latency")?).or_default() += whole(count)?;
            }
        }
        Ok(())
    }

    /// Several runs of the same load, each of this time, as one: rates and means over all of it,
    /// and percentiles of all requests together.
    pub(crate) fn of_rounds(rounds: &[&Self], seconds: f64) -> Self {
        let mut all = Self::default();
        let count = float(rounds.len() as u64);
        let iops: f64 = rounds.iter().map(|round| round.iops).sum();
        for (number, round) in rounds.iter().enumerate() {
            all.iops += round.iops / count;
            all.bytes_per_second += round.bytes_per_second / count;
            all.bytes += round.bytes;
            all.mean_us += round.mean_us * round.iops / iops;
            all.max_us = all.max_us.max(round.max_us);
            for (ns, requests) in &round.bins {
                *all.bins.entry(*ns).or_default() += requests;
            }
            let began = float(number as u64) * seconds;
            let later = |at: &Moment| Moment { seconds: began + at.seconds, ..*at };
            // A step that ended just after its round would lie in the next one.
            let is_within = |at: &&Moment| rounds.len() == 1 || at.seconds <= seconds * 1.000_001;
            all.series.extend(round.series.iter().filter(is_within).map(later));
        }
        all.p50_us = all.percentile_us(50_000);
        all.p99_us = all.percentile_us(99_000);
        all
    }

    /// So many of 100,000 requests took no longer, as exactly as fio counts.
    pub(crate) fn percentile_us(&self, per_100_000: u64) -> f64 {
        let all: u64 = self.bins.values().sum();
        let wanted = (u128::from(all) * u128::from(per_100_000)).div_ceil(100_000);
        let mut seen = 0;
        for (ns, count) in &self.bins {
            seen += u128::from(*count);
            if seen >= wanted {
                return float(*ns) / 1e3;
            }
        }
        self.max_us
    }
}

/// Removes what an earlier run left, which may have had more volumes.
pub(super) fn remove_series(directory: &Path, prefix: &str) -> Result<()> {
    for Log { path, .. } in logs(directory, prefix)? {
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// Sums the rates and averages the latencies of all volumes, step by step. fio logs no step in
/// which nothing was done: such a step has a rate of nothing, and no latency.
pub(super) fn read_series(directory: &Path, prefix: &str, steps: Steps) -> Result<Vec<Moment>> {
    let mut logged: BTreeMap<u64, BTreeMap<String, Logged>> = BTreeMap::new();
    for Log { path, what, volume } in logs(directory, prefix)? {
        if what == What::Other {
            continue;
        }
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        for line in text.lines() {
            let (ms, value, direction) =
                parse_line(line).with_context(|| format!("{}: {line:?}", path.display()))?;
            if direction >= DIRECTIONS {
                continue;
            }
            let step = (ms + u64::from(steps.each_ms) / 2) / u64::from(steps.each_ms);
            let volumes = logged.entry(step).or_default();
            let one = volumes.entry(volume.clone()).or_default();
            if what == What::Rates {
                one.iops[direction] += value;
            } else {
                let sum = &mut one.latencies[direction];
                *sum = (sum.0 + value / 1e3, sum.1 + 1.0);
            }
        }
    }
    let Some(last) = logged.keys().next_back().copied() else { return Ok(Vec::new()) };
    // The last step may have ended just after fio did; where more are missing, nothing was done.
    let end = if last + 1 == steps.count { last } else { last.max(steps.count) };
    let first = logged.keys().next().copied().unwrap_or(1).min(1);
    let moment = |step: u64| {
        let seconds = float(step * u64::from(steps.each_ms)) / 1e3;
        let volumes: Vec<&Logged> =
            logged.get(&step).into_iter().flat_map(BTreeMap::values).collect();
        let iops = volumes.iter().map(|one| one.iops.iter().sum::<f64>()).sum();
        let means: Vec<f64> = volumes.iter().filter_map(|one| one.mean_us(steps.each_ms)).collect();
        let count = float(means.len() as u64);
        let mean_us = (!means.is_empty()).then(|| means.iter().sum::<f64>() / count);
        Moment { seconds, iops, mean_us }
    };
    Ok((first..=end).map(moment).collect())
}

impl Logged {
    /// Of all requests, whatever their direction.
    fn mean_us(&self, step_ms: u32) -> Option<f64> {
        // A latency tells of one request at least, though its rate may be in the next step.
        let least = 1e3 / f64::from(step_ms);
        let (mut sum, mut weight) = (0.0, 0.0);
        for (iops, (us, lines)) in self.iops.iter().zip(self.latencies) {
            if lines > 0.0 {
                sum += us / lines * iops.max(least);
                weight += iops.max(least);
            }
        }
        (weight > 0.0).then(|| sum / weight)
    }
}

/// Milliseconds, value and direction.
fn parse_line(line: &str) -> Option<(u64, f64, usize)> {
    let mut fields = line.split(',').map(str::trim);
    let mut next = || fields.next();
    Some((next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?))
}

#[derive(Debug)]
struct Log {
    path: PathBuf,
    what: What,
    /// The end of its name, which is the same for all logs of a volume.
    volume: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Rates,
    Latencies,
    /// fio writes the parts of a latency too.
    Other,
}

fn logs(directory: &Path, prefix: &str) -> Result<Vec<Log>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).context("cannot list the logs of fio")? {
        let path = entry.context("cannot list the logs of fio")?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let (kind, volume) = rest.split_once('.').unwrap_or((rest, ""));
        let what = match kind {
            "_iops" => What::Rates,
            "_lat" => What::Latencies,
            _ => What::Other,
        };
        let volume = volume.to_owned();
        found.push(Log { path, what, volume });
    }
    Ok(found)
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().context("fio's report lacks a number")
}

fn whole(value: &Value) -> Result<u64> {
    value.as_u64().context("fio's report lacks a count")
}

#[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn latency(mean: f64, bins: &Value) -> Value {
        json!({ "mean": mean, "max": mean * 2.0, "bins": bins })
    }

    fn part(count: u64, mean: f64, bins: &Value) -> Value {
        json!({ "total_ios": count, "iops": count, "bw_bytes": count * 4096,
                "io_bytes": count * 4096, "lat_ns": latency(mean, bins) })
    }

    fn job(read: &Value, write: &Value, sync: &Value) -> Value {
        json!({ "error": 0, "read": read, "write": write, "sync": { "lat_ns": sync } })
    }

    #[test]
    fn volumes_are_summed_their_latencies_averaged_and_their_histograms_joined() {
        let none = part(0, 0.0, &json!({}));
        let first = job(
            &part(30, 100_000.0, &json!({ "90000": 20, "120000": 10 })),
            &part(10, 200_000.0, &json!({ "200000": 10 })),
            &json!({}),
        );
        let second = job(&part(60, 300_000.0, &json!({ "300000": 60 })), &none, &json!({}));
        let text = json!({ "jobs": [first, second] }).to_string();
        let outcome = Outcome::parse(&text, Pattern::RandomMixed).unwrap();
        assert!((outcome.iops - 100.0).abs() < 1e-9, "{outcome:?}");
        assert!((outcome.bytes_per_second - 409_600.0).abs() < 1e-9, "{outcome:?}");
        // The first volume has a mean of 125, the second of 300.
        assert!((outcome.mean_us - 212.5).abs() < 1e-9, "{outcome:?}");
        assert!((outcome.max_us - 600.0).abs() < 1e-9, "{outcome:?}");
        let percentiles = [20_000, 20_001, 40_000, 99_999].map(|of| outcome.percentile_us(of));
        assert_eq!(percentiles, [90.0, 120.0, 200.0, 300.0]);
    }

    #[test]
    fn a_commit_takes_as_long_as_its_write_and_its_flush() {
        let none = part(0, 0.0, &json!({}));
        let write = part(10, 50_000.0, &json!({ "50000": 10 }));
        let one = job(&none, &write, &latency(70_000.0, &json!({ "70000": 10 })));
        let text = json!({ "jobs": [one] }).to_string();
        let outcome = Outcome::parse(&text, Pattern::Commit).unwrap();
        assert!((outcome.mean_us - 120.0).abs() < 1e-9, "{outcome:?}");
        assert!((outcome.percentile_us(50_000) - 70.0).abs() < 1e-9, "{outcome:?}");
    }

    #[test]
    fn an_error_or_an_empty_run_is_no_result() {
        let none = part(0, 0.0, &json!({}));
        let empty = job(&none, &none, &json!({}));
        let text = json!({ "jobs": [empty] }).to_string();
        Outcome::parse(&text, Pattern::RandomRead).unwrap_err();
        let text = json!({ "jobs": [{ "error": 5 }] }).to_string();
        let error = Outcome::parse(&text, Pattern::RandomRead).unwrap_err();
        assert!(error.to_string().contains("error 5"), "{error:#}");
    }

    /// The logs of a run, whose measured time had so many steps of 250 ms.
    fn series(logs: &[(&str, &str)], count: u64) -> Vec<Moment> {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in logs {
            fs::write(place.path().join(name), text).unwrap();
        }
        let steps = Steps { each_ms: 250, count };
        let series = read_series(place.path(), "s", steps).unwrap();
        remove_series(place.path(), "s").unwrap();
        assert_eq!(read_series(place.path(), "s", steps).unwrap(), []);
        series
    }

    fn moment(seconds: f64, iops: f64, mean_us: impl Into<Option<f64>>) -> Moment {
        Moment { seconds, iops, mean_us: mean_us.into() }
    }

    #[test]
    fn series_join_volumes_and_directions_at_the_same_time() {
        let logs = [
            ("s_iops.1.log", "250, 100, 0, 0, 0\n251, 50, 1, 0, 0\n500, 80, 0, 0, 0\n"),
            ("s_iops.2.log", "252, 10, 0, 0, 0\n"),
            ("s_lat.2.log", "250, 5000, 0, 0, 0\n"),
            ("s_lat.1.log", "250, 1000, 0, 0, 0\n250, 4000, 1, 0, 0\n500, 5000, 0, 0, 0\n"),
            ("s_clat.1.log", "250, 9, 0, 0, 0\n"),
        ];
        // Twice as many reads as writes: the first volume's mean is 2, the second's 5.
        assert_eq!(series(&logs, 2), [moment(0.25, 160.0, 3.5), moment(0.5, 80.0, 5.0)]);
    }

    #[test]
    fn a_step_in_which_nothing_was_done_is_there_without_a_latency() {
        let logs = [
            ("s_iops.1.log", "500, 4, 0, 0, 0\n1250, 4, 0, 0, 0\n"),
            ("s_lat.1.log", "500, 1000, 0, 0, 0\n1000, 3000, 0, 0, 0\n"),
        ];
        let all = series(&logs, 8);
        assert_eq!(all.iter().map(|one| one.seconds).next_back(), Some(2.0));
        let rates: Vec<f64> = all.iter().map(|one| one.iops).collect();
        assert_eq!(rates, [0.0, 4.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
        let means: Vec<Option<f64>> = all.iter().map(|one| one.mean_us).collect();
        assert_eq!(means, [None, Some(1.0), None, Some(3.0), None, None, None, None]);
    }

    #[test]
    fn a_last_step_that_fio_did_not_see_the_end_of_is_none() {
        let logs = [("s_iops.1.log", "250, 4, 0, 0, 0\n500, 4, 0, 0, 0\n")];
        assert_eq!(series(&logs, 3).len(), 2);
        assert_eq!(series(&logs, 4).len(), 4);
    }

    #[test]
    fn rounds_are_summed_up_as_one_run() {
        let round = |iops: f64, mean_us: f64, bins: &[(u64, u64)]| Outcome {
            iops,
            mean_us,
            bytes_per_second: iops * 4096.0,
            bytes: 4096,
            max_us: mean_us * 2.0,
            bins: bins.iter().copied().collect(),
            series: [0.5, 1.0, 1.5]
                .map(|seconds| Moment { seconds, iops, mean_us: Some(mean_us) })
                .to_vec(),
            ..Outcome::default()
        };
        let (first, second) =
            (round(300.0, 10.0, &[(10_000, 3)]), round(100.0, 50.0, &[(10_000, 1), (90_000, 1)]));
        let all = Outcome::of_rounds(&[&first, &second], 1.0);
        assert!((all.iops - 200.0).abs() < 1e-9 && all.bytes == 8192, "{all:?}");
        // Three quarters of the requests were in the first round.
        assert!((all.mean_us - 20.0).abs() < 1e-9, "{all:?}");
        assert_eq!((all.p50_us, all.p99_us, all.max_us), (10.0, 90.0, 100.0));
        let times: Vec<f64> = all.series.iter().map(|at| at.seconds).collect();
        assert_eq!(times, [0.5, 1.0, 1.5, 2.0]);
        let alone = Outcome::of_rounds(&[&first], 1.0);
        assert_eq!((alone.mean_us, alone.series.len()), (10.0, 3));
    }
}
