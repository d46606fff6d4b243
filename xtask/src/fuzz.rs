//! `fuzz`: the tests that feed seeded garbage, again and again with new seeds.
//!
//! In `test` each runs with its fixed seeds, for some seconds; here for as long as is asked for. A
//! failure prints the seed, and how to see it once more.

use crate::outcome::Outcome;
use crate::process::{self, Stopwatch};
use anyhow::{Context as _, Result, bail};
use std::process::ExitCode;
use std::time::Duration;

struct Target {
    name: &'static str,
    package: &'static str,
    /// The test binary, and the test in it.
    test: (&'static str, &'static str),
    /// Seeds of one run: the next one begins where it ended.
    seeds: u64,
}

const fn target(
    name: &'static str,
    package: &'static str,
    test: (&'static str, &'static str),
    seeds: u64,
) -> Target {
    Target { name, package, test, seeds }
}

const TARGETS: [Target; 12] = [
    target("group", "simulator", ("all", "forged::no_message_of_a_lane_breaks_a_group"), 40),
    target("resource", "simulator", ("all", "forged::no_message_of_a_home_breaks_a_resource"), 40),
    target("frames", "format", ("formats", "damage::damaged_frames_do_not_panic"), 1),
    target("messages", "format", ("formats", "damage::random_messages_do_not_panic"), 1),
    target("records", "format", ("formats", "records::damaged_records_do_not_panic"), 1),
    target("drbd", "format", ("formats", "drbd::damaged_metadata_does_not_panic"), 1),
    target("nbd-handshake", "frontend", ("nbd", "fuzz::a_handshake_survives_any_bytes"), 20_000),
    target("nbd-requests", "frontend", ("nbd", "fuzz::a_transmission_survives_any_bytes"), 30_000),
    target("nbd-server", "frontend", ("nbd", "fuzz::a_server_survives_mutated_sessions"), 1_500),
    target("nbd-client", "frontend", ("nbd", "fuzz::a_client_survives_mutated_servers"), 5_000),
    target(
        "res",
        "config",
        ("all", "roundtrip::mutated_text_is_refused_or_read_but_never_breaks_the_reader"),
        400,
    ),
    target("res-bytes", "config", ("all", "roundtrip::random_bytes_never_break_the_reader"), 400),
];

/// `fuzz [--seconds N] [NAME..]`, each for so long; `fuzz --list`.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    if words == ["--list"] {
        for target in &TARGETS {
            println!("{:<14} {}: {}", target.name, target.package, target.test.1);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (seconds, names) = match words {
        ["--seconds", seconds, rest @ ..] => {
            (seconds.parse().with_context(|| format!("not a number: {seconds:?}"))?, rest)
        }
        rest => (60, rest),
    };
    for name in names {
        if !TARGETS.iter().any(|target| target.name == *name) {
            bail!("there is no target `{name}`; `cargo xtask fuzz --list` names them");
        }
    }
    let chosen = |target: &&Target| names.is_empty() || names.contains(&target.name);
    for target in TARGETS.iter().filter(chosen) {
        if !feed(target, Duration::from_secs(seconds))? {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Each target for so many seconds, as a step of `test`.
pub(crate) fn each(seconds: u64) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for target in &TARGETS {
        let has_stood = feed(target, Duration::from_secs(seconds))?;
        outcome += if has_stood { Outcome::PASSED } else { Outcome::FAILED };
    }
    Ok(outcome)
}

/// Whether the target stood all of it.
fn feed(target: &Target, time: Duration) -> Result<bool> {
    let watch = Stopwatch::start();
    let mut first = 1;
    while watch.elapsed() < time {
        let (binary, test) = target.test;
        let mut words = vec!["test", "--release", "--locked", "--quiet"];
        words.extend(["--package", target.package, "--test", binary, "--", "--exact", test]);
        let mut command = process::cargo(&words)?;
        command.env("FUZZ_FIRST", first.to_string());
        let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
        let told = String::from_utf8_lossy(&output.stdout);
        // A name that no test has is no error to libtest.
        if !output.status.success() || !told.contains("1 passed") {
            print!("{told}");
            print!("{}", String::from_utf8_lossy(&output.stderr));
            println!(
                "fuzz {}: failed; again: FUZZ_FIRST={first} cargo {}",
                target.name,
                words.join(" ")
            );
            return Ok(false);
        }
        first += target.seeds;
    }
    println!("fuzz {:<14} {} seeds, no failure", target.name, first - 1);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_a_test_that_exists() {
        let root = process::repository().expect("a root");
        for target in &TARGETS {
            let folder = root.join("crates").join(target.package).join("tests");
            let (binary, test) = target.test;
            // `all` is the files of the folder itself.
            let folder = if binary == "all" { folder } else { folder.join(binary) };
            let (module, test) = test.split_once("::").expect("each stands in a module");
            let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(read("main.rs").contains(&format!("mod {module};")), "{}", target.name);
            let text = read(&format!("{module}.rs"));
            assert!(text.contains(&format!("fn {test}()")), "{}: {module}.rs", target.name);
        }
    }
}
