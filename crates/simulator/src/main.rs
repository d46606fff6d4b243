//! `simulator [--seed N] [--seeds N] [--events N] [--trace]`: hunts, or replays one seed.

use std::process::ExitCode;

use simulator::run::{Report, RunOptions, run};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let trace = arguments.iter().any(|argument| argument == "--trace");
    let trace_lane = value("--lane").and_then(|lane| u8::try_from(lane).ok());
    let events = value("--events").unwrap_or(20_000);
    let first = value("--seed").unwrap_or(1);
    let seeds = value("--seeds").unwrap_or(1);
    let mut total = Report::default();
    for seed in first..first + seeds {
        std::panic::set_hook(Box::new(move |panic| {
            eprintln!("seed {seed}: {panic}");
            eprintln!("again: cargo xtask sim {seed} --events {events}");
        }));
        match run(&RunOptions { seed, trace, trace_lane, events }) {
            Ok(report) => total.add(&report),
            Err(text) => {
                eprintln!("seed {seed}: {text}");
                eprintln!("again: cargo xtask sim {seed} --events {events}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{seeds} seeds, 0 violations: {total:?}");
    ExitCode::SUCCESS
}
