//! `simulator [--seed N] [--seeds N] [--events N] [--threads N] [--skip MASK] [--rough] [--trace]
//! [--shrink]`: hunts, or replays one seed. A hunt of ten million events or more fails if something
//! rare never happened. With `--rough` nodes want to be Primary while another one is, whatever the
//! seed draws. Without `--events` the seed draws how long its run is. Other kinds of runs, of which
//! a seed is shown again with the same word: `--adopt`, vote stores are lost; `--detach`, disks
//! come and go; `--fenced`, with `fencing`; `--forced`, Primaries go on by an operator's word;
//! `--forks`, with `quorum off`; `--grow`, the volume becomes larger; `--volumes`, several volumes,
//! each on a disk of its own; `--protocols`, members that count once they received a write.

mod hunt;

use std::process::ExitCode;
use std::thread;

use simulator::run::{
    Report, RunOptions, events_of, run, run_fenced, run_forced, run_forks, run_with_detaches,
    run_with_grows, run_with_lost_stores, run_with_protocols, run_with_volumes,
};
use simulator::shrink::shrink;
use simulator::sometimes::Mark;

type Kind = fn(&RunOptions) -> Result<Report, String>;

/// By the word that asks for them.
const OTHER_KINDS: [(&str, Kind); 8] = [
    ("--adopt", run_with_lost_stores),
    ("--detach", run_with_detaches),
    ("--fenced", run_fenced),
    ("--forced", run_forced),
    ("--forks", run_forks),
    ("--grow", run_with_grows),
    ("--volumes", run_with_volumes),
    ("--protocols", run_with_protocols),
];
const EVENTS_FOR_MARKS: u64 = 10_000_000;
/// In one of twenty seeds operators force, and in one of two hundred of these something is lost.
const EVENTS_FOR_LOST_BY_FORCE: u64 = 10 * EVENTS_FOR_MARKS;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let events = value("--events");
    let seeds = value("--seeds").unwrap_or(1);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = value("--threads").and_then(|it| usize::try_from(it).ok()).unwrap_or(cores);
    let options = RunOptions {
        seed: value("--seed").unwrap_or(1),
        trace: has("--trace"),
        trace_lane: value("--lane").and_then(|lane| u8::try_from(lane).ok()),
        events: 0,
        skip: value("--skip").and_then(|mask| u32::try_from(mask).ok()).unwrap_or(0),
        rough: has("--rough"),
    };
    hunt::name_seeds_in_panics();
    let other = OTHER_KINDS.into_iter().find(|(word, _)| has(word));
    if let Some((word, _)) = other
        && has("--shrink")
    {
        eprintln!("--shrink knows no runs of {word}: leave one of the two out");
        return ExitCode::FAILURE;
    }
    let (word, kind) = other.unwrap_or(("", run));
    let found = hunt::hunt(&options, seeds, threads.max(1), (word, kind), |seed| {
        events.unwrap_or_else(|| events_of(seed))
    });
    let (tried, failed) = (found.seeds, found.failures.len());
    println!("{tried} seeds, {failed} violations: {:?}", found.total);
    if let Some(failure) = found.failures.into_iter().next() {
        if has("--shrink") {
            let (options, text) = shrink(&failure.options, failure.text);
            eprintln!("seed {}: {text}\nagain: {}", options.seed, options.again());
        }
        return ExitCode::FAILURE;
    }
    let mut missing = found.total.missing();
    let is_long = found.total.events >= EVENTS_FOR_LOST_BY_FORCE;
    missing.retain(|&mark| is_long || mark != Mark::LostByForce);
    if found.total.events >= EVENTS_FOR_MARKS && !missing.is_empty() && other.is_none() {
        eprintln!("these never happened: {missing:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
