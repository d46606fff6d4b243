//! `simulator [--seed N] [--seeds N] [--events N] [--skip MASK] [--rough] [--trace] [--shrink]`:
//! hunts, or replays one seed. A hunt of 100 seeds or more fails if something rare never happened.
//! With `--rough` nodes want to be Primary while another one is, whatever the seed draws.

use std::process::ExitCode;

use simulator::run::{Report, RunOptions, run};
use simulator::shrink::shrink;

const SEEDS_FOR_ALL_MARKS: u64 = 100;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let trace_lane = value("--lane").and_then(|lane| u8::try_from(lane).ok());
    let events = value("--events").unwrap_or(20_000);
    let skip = value("--skip").and_then(|mask| u32::try_from(mask).ok()).unwrap_or(0);
    let first = value("--seed").unwrap_or(1);
    let seeds = value("--seeds").unwrap_or(1);
    let rough = has("--rough");
    let mut total = Report::default();
    for seed in first..first + seeds {
        let options = RunOptions { seed, trace: has("--trace"), trace_lane, events, skip, rough };
        let hook_options = options.clone();
        std::panic::set_hook(Box::new(move |panic| {
            eprintln!("seed {seed}: {panic}");
            eprintln!("again: {}", again(&hook_options));
        }));
        match run(&options) {
            Ok(report) => total.add(&report),
            Err(text) => {
                let (options, text) =
                    if has("--shrink") { shrink(&options, text) } else { (options, text) };
                eprintln!("seed {seed}: {text}");
                eprintln!("again: {}", again(&options));
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{seeds} seeds, 0 violations: {total:?}");
    let missing = total.missing();
    if seeds >= SEEDS_FOR_ALL_MARKS && !missing.is_empty() {
        eprintln!("these never happened: {missing:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn again(options: &RunOptions) -> String {
    let RunOptions { seed, events, skip, rough, .. } = *options;
    let skip = if skip == 0 { String::new() } else { format!(" --skip {skip}") };
    let rough = if rough { " --rough" } else { "" };
    format!("cargo xtask sim {seed} --events {events}{skip}{rough}")
}
