//! `bench compare BASE`: is this tree faster or cheaper than a commit of before?
//!
//! The commit is built in a folder of its own, then both binaries take turns at `bench write`, the
//! first of a round being the second of the next one. A ratio is taken within a round, where both
//! met the same machine. What the rounds disagree about is noise, and is printed beside it. Each
//! binary brings its own bench: where that has changed in between, the load may have too, and it is
//! said.

use super::release_binary;
use crate::{commit, metadata, process};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const USAGE: &str = "\
cargo xtask bench compare BASE [--rounds N] [--seconds S] [--depth D,..]

  BASE       a commit, branch or tag to compare this tree with
  --rounds   how often both run (8, of which a verdict needs as many)
  --seconds  measured time of a run (4)
  --depth    writes in flight, one comparison each (1,32)";

#[derive(Debug, PartialEq, Eq)]
struct Wishes<'a> {
    base: &'a str,
    rounds: usize,
    seconds: u64,
    depths: &'a str,
}

/// Where nothing differs but the noise, so many rounds agree about a figure once in 128 times, and
/// five did once in 16: of the six figures of a comparison, one often.
const ROUNDS_FOR_A_VERDICT: usize = 8;
/// What drives the load and counts.
const BENCH: &str = "crates/bench/src";

/// One run of one binary at one depth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    depth: u64,
    iops: f64,
    mean_us: f64,
    cpu_us: f64,
}

/// A name, a figure of a run, and whether more of it is better.
type Metric = (&'static str, fn(&Run) -> f64, Better);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    More,
    Less,
}

const METRICS: [Metric; 3] = [
    ("CPU us per write", |run| run.cpu_us, Better::Less),
    ("mean latency us", |run| run.mean_us, Better::Less),
    ("writes per second", |run| run.iops, Better::More),
];

pub(super) fn run(words: &[&str]) -> Result<ExitCode> {
    let wishes = parse(words)?;
    let commit = commit::find(wishes.base)?;
    let commit = commit.with_context(|| format!("git knows no commit {:?} here", wishes.base))?;
    let base = build_base(&commit)?;
    let own = release_binary()?;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut durability = String::new();
    for round in 0..wishes.rounds {
        println!("round {} of {}", round + 1, wishes.rounds);
        // Whoever runs second may meet what the first left behind.
        let order = if round % 2 == 0 { [&base, &own] } else { [&own, &base] };
        for binary in order {
            let report = measure(binary, &wishes)?;
            let runs = read(&report).with_context(|| format!("the report of {binary:?}"))?;
            if *binary == base {
                before.extend(runs);
            } else {
                durability = durability_of(&report);
                after.extend(runs);
            }
        }
    }
    println!("\nbase {} ({commit}), {} rounds of {} s", wishes.base, wishes.rounds, wishes.seconds);
    println!("durability of a write, both: {durability}");
    print(&before, &after)?;
    if is_other_bench(&commit)? {
        println!("\nwarning: {BENCH} differs from the base: the load or the counting may, too");
    }
    Ok(ExitCode::SUCCESS)
}

fn parse<'a>(words: &[&'a str]) -> Result<Wishes<'a>> {
    let mut wishes = Wishes { base: "", rounds: ROUNDS_FOR_A_VERDICT, seconds: 4, depths: "1,32" };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let mut value =
            || rest.next().with_context(|| format!("{word} lacks its value\n\n{USAGE}"));
        match *word {
            "--rounds" => wishes.rounds = value()?.parse().context("--rounds takes a number")?,
            "--seconds" => wishes.seconds = value()?.parse().context("--seconds takes a number")?,
            "--depth" => wishes.depths = value()?,
            base if wishes.base.is_empty() && !base.starts_with('-') => wishes.base = base,
            strange => bail!("what is {strange:?}?\n\n{USAGE}"),
        }
    }
    ensure!(!wishes.base.is_empty(), "no commit to compare with\n\n{USAGE}");
    ensure!(wishes.rounds > 0 && wishes.seconds >= 2, "at least one round of 2 s\n\n{USAGE}");
    Ok(wishes)
}

fn is_other_bench(commit: &str) -> Result<bool> {
    let mut git = Command::new("git");
    git.args(["diff", "--quiet", commit, "--", BENCH]).current_dir(process::repository()?);
    Ok(!process::status(&mut git)?.success())
}

/// Its tree is laid out below the target folder, and built into a target folder of its own, so that
/// neither build throws away what the other one can use again.
fn build_base(commit: &str) -> Result<PathBuf> {
    let place = metadata::read()?.target_directory.join("bench-compare");
    let (source, target) = (place.join("source"), place.join("target"));
    let stamp = place.join("commit");
    if fs::read_to_string(&stamp).is_ok_and(|laid_out| laid_out == commit) {
        println!("{commit} is laid out in {}", source.display());
    } else {
        commit::lay_out(commit, &source)?;
        fs::write(&stamp, commit).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    let mut cargo = commit::cargo(&source, &target);
    cargo.args(["build", "--release", "--locked", "--package", "basalt"]);
    process::must_succeed(&mut cargo)?;
    Ok(target.join("release/basalt"))
}

fn measure(binary: &Path, wishes: &Wishes<'_>) -> Result<Value> {
    let mut command = Command::new(binary);
    command.args(["bench", "write", "--systems", "basalt", "--repeat", "1", "--size-mib", "256"]);
    command.args(["--depth", wishes.depths, "--seconds", &wishes.seconds.to_string(), "--json"]);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| format!("{command:?} printed no report"))
}

/// As this tree's report tells it.
fn durability_of(report: &Value) -> String {
    report["systems"][0]["durability"].as_str().unwrap_or("not known").to_owned()
}

fn read(report: &Value) -> Result<Vec<Run>> {
    let rows = report["rows"].as_array().context("no rows")?;
    let run = |row: &Value| {
        let number = |name: &str| row[name].as_f64().with_context(|| format!("no {name}: {row}"));
        Ok(Run {
            depth: row["depth"].as_u64().context("no depth")?,
            iops: number("iops")?,
            mean_us: number("mean_us")?,
            cpu_us: number("server_cpu_us")?,
        })
    };
    rows.iter().map(run).collect()
}

fn print(before: &[Run], after: &[Run]) -> Result<()> {
    let mut depths: Vec<u64> = before.iter().map(|run| run.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    println!(
        "{:<26} {:>10} {:>10} {:>7} {:>17}  verdict",
        "random 4 KiB writes", "base", "this tree", "ratio", "ratios of rounds"
    );
    let figures = depths.len() * METRICS.len();
    let rounds = before.len() / depths.len().max(1);
    for depth in depths {
        for (name, get, better) in METRICS {
            let of = |runs: &[Run]| -> Vec<f64> {
                runs.iter().filter(|run| run.depth == depth).map(get).collect()
            };
            let summary = Summary::of(&of(before), &of(after)).context("no rounds to compare")?;
            println!(
                "{:<26} {:>10.1} {:>10.1} {:>7.3} {:>8.3} .. {:<5.3}  {}",
                format!("QD{depth}: {name}"),
                summary.before,
                summary.after,
                summary.ratio,
                summary.least,
                summary.most,
                summary.verdict(better)
            );
        }
    }
    println!("{}", chance(rounds, figures));
    Ok(())
}

/// How much a verdict says: where two builds do not differ, each round falls like a coin.
fn chance(rounds: usize, figures: usize) -> String {
    let of_one = 2.0 * 0.5_f64.powi(i32::try_from(rounds).unwrap_or(i32::MAX));
    let of_any = of_one * f64::from(u32::try_from(figures).unwrap_or(u32::MAX));
    let percent = |probability: f64| 100.0 * probability.min(1.0);
    format!(
        "two equal builds: all {rounds} rounds agree about a figure with {:.1} %, about any of \
         these {figures} with {:.0} % at most",
        percent(of_one),
        percent(of_any)
    )
}

/// Medians of both, and the ratio of this tree to the base: its median and range over the rounds.
#[derive(Debug, PartialEq)]
struct Summary {
    before: f64,
    after: f64,
    ratio: f64,
    least: f64,
    most: f64,
    rounds: usize,
}

impl Summary {
    /// The values of each round, in the order of the rounds.
    fn of(before: &[f64], after: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = before.iter().zip(after).map(|(old, new)| new / old).collect();
        Some(Self {
            before: median(before)?,
            after: median(after)?,
            ratio: median(&ratios)?,
            least: ratios.iter().copied().reduce(f64::min)?,
            most: ratios.iter().copied().reduce(f64::max)?,
            rounds: ratios.len(),
        })
    }

    /// Only what every round says alike is more than noise.
    fn verdict(&self, better: Better) -> &'static str {
        if self.rounds < ROUNDS_FOR_A_VERDICT {
            return "too few rounds to tell";
        }
        let is_more = self.least > 1.0;
        let is_less = self.most < 1.0;
        match (is_more, is_less, better) {
            (true, _, Better::More) | (_, true, Better::Less) => "better in every round",
            (true, _, Better::Less) | (_, true, Better::More) => "WORSE in every round",
            (false, false, _) => "within the noise",
        }
    }
}

/// The middle one; of an even number the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let is_odd = sorted.len() % 2 == 1;
    Some(if is_odd { upper } else { f64::midpoint(sorted[sorted.len() / 2 - 1], upper) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ratios_are_taken_within_a_round() {
        // The second round was disturbed for both.
        let before = [10.0, 40.0, 10.0, 20.0, 10.0, 10.0, 10.0, 10.0];
        let after = [9.0, 34.0, 8.0, 17.0, 8.5, 9.0, 9.0, 8.0];
        let summary = Summary::of(&before, &after).expect("eight rounds");
        assert_eq!((summary.before, summary.after), (10.0, 9.0));
        assert!((summary.ratio - 0.85).abs() < 1e-9, "{summary:?}");
        assert!((summary.least - 0.8).abs() < 1e-9, "{summary:?}");
        assert!((summary.most - 0.9).abs() < 1e-9, "{summary:?}");
        assert_eq!(summary.verdict(Better::Less), "better in every round");
        assert_eq!(summary.verdict(Better::More), "WORSE in every round");
        assert_eq!(Summary::of(&[], &[]), None);
    }

    #[test]
    fn rounds_that_disagree_are_noise() {
        let mut after = [9.0; 8];
        after[3] = 11.0;
        let summary = Summary::of(&[10.0; 8], &after).expect("eight rounds");
        assert_eq!(summary.verdict(Better::Less), "within the noise");
        let summary = Summary::of(&[10.0; 7], &[9.0; 7]).expect("seven rounds");
        assert_eq!(summary.verdict(Better::Less), "too few rounds to tell");
    }

    #[test]
    fn what_chance_does_is_told_beside_the_verdicts() {
        let words = chance(8, 6);
        assert!(words.contains("with 0.8 %, about any of these 6 with 5 % at most"), "{words}");
        assert!(chance(1, 6).contains("with 100.0 %"), "{}", chance(1, 6));
    }

    #[test]
    fn wishes_are_read_in_any_order_and_strange_words_refused() {
        let wishes = parse(&["--depth", "32", "main", "--rounds", "9"]).expect("good words");
        assert_eq!(wishes, Wishes { base: "main", rounds: 9, seconds: 4, depths: "32" });
        for words in [&["main", "other"][..], &[], &["--rounds"], &["main", "--rounds", "0"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_report_is_read_row_by_row() {
        let row = json!({ "depth": 32, "iops": 9.5, "mean_us": 3.0, "server_cpu_us": 2.0 });
        let runs = read(&json!({ "rows": [row] })).expect("a good report");
        assert_eq!(runs, [Run { depth: 32, iops: 9.5, mean_us: 3.0, cpu_us: 2.0 }]);
        read(&json!({ "rows": [{ "depth": 1 }] })).expect_err("a row without figures");
    }
}
