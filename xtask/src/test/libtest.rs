//! Counting what `cargo test` did, from the lines that libtest prints.
//!
//! Each test binary opens with `running N tests` and closes with `test result: ...`. One that
//! opened and never closed died on the way: that is a failure, whatever its tests had said so far.
//! A test that found nothing to do says so on standard error, past the capture of its output, in
//! one line `skipped: why` (`stdx::testing::skip`); for libtest it passed, here it is a skip.

use crate::outcome::Outcome;
use anyhow::{Context as _, Result};
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;

/// Runs a `cargo test` and passes its output on, but for the lines of tests that passed.
pub(crate) fn run(command: &mut Command) -> Result<Outcome> {
    let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.with_context(|| format!("cannot start {command:?}"))?;
    let stdout = child.stdout.take().context("a piped child has an output")?;
    let stderr = child.stderr.take().context("a piped child has an error output")?;
    let skips = thread::spawn(|| pass_on_and_count_skips(stderr));
    let mut tally = Tally::default();
    for line in BufReader::new(stdout).split(b'\n') {
        // A test may print any bytes; the lines that count are plain ASCII.
        let line = line.context("cannot read the output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        tally.read(&line);
        if is_news(&line) {
            println!("{line}");
        }
    }
    let status = child.wait().context("cannot wait for cargo test")?;
    let skips = skips.join().expect("reading lines does not panic")?;
    let outcome = tally.finish(if status.success() { Exit::Success } else { Exit::Failure });
    Ok(without_skips(outcome, skips))
}

fn pass_on_and_count_skips(stderr: impl Read) -> Result<u64> {
    let mut skips = 0;
    for line in BufReader::new(stderr).split(b'\n') {
        let line = line.context("cannot read the error output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        skips += u64::from(line.starts_with("skipped: "));
        eprintln!("{line}");
    }
    Ok(skips)
}

/// Tests that skipped their work had ended well, as far as libtest can tell.
fn without_skips(mut outcome: Outcome, skips: u64) -> Outcome {
    let skips = skips.min(outcome.passed);
    outcome.passed -= skips;
    outcome.skipped += skips;
    outcome
}

#[derive(Debug, Default)]
struct Tally {
    outcome: Outcome,
    is_open: bool,
}

#[derive(Debug, Clone, Copy)]
enum Exit {
    Success,
    Failure,
}

impl Tally {
    fn read(&mut self, line: &str) {
        if is_opening(line) {
            self.close_dead_binary();
            self.is_open = true;
        } else if let Some(outcome) = closing(line) {
            self.is_open = false;
            self.outcome += outcome;
        }
    }

    /// A failure without a failed test is one of the build, or of a binary that never opened.
    fn finish(mut self, exit: Exit) -> Outcome {
        self.close_dead_binary();
        match exit {
            Exit::Failure if self.outcome.failed == 0 => self.outcome += Outcome::FAILED,
            Exit::Failure | Exit::Success => {}
        }
        self.outcome
    }

    fn close_dead_binary(&mut self) {
        if self.is_open {
            println!("a test binary died before it had finished");
            self.outcome += Outcome::FAILED;
        }
        self.is_open = false;
    }
}

fn is_opening(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    matches!(words[..], ["running", count, "test" | "tests"] if count.parse::<u64>().is_ok())
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; ...`.
fn closing(line: &str) -> Option<Outcome> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut outcome = Outcome::default();
    let mut found = 0;
    for part in counts.split("; ") {
        let Some((number, word)) = part.split_once(' ') else { continue };
        let target = match word {
            "passed" => &mut outcome.passed,
            "failed" => &mut outcome.failed,
            "ignored" => &mut outcome.skipped,
            _ => continue,
        };
        *target = number.parse().ok()?;
        found += 1;
    }
    (found == 3).then_some(outcome)
}

fn is_news(line: &str) -> bool {
    let is_pass = line.starts_with("test ") && line.ends_with(" ... ok");
    let is_empty = closing(line) == Some(Outcome::default());
    !is_pass && !is_empty && !is_opening(line) && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(text: &str, exit: Exit) -> Outcome {
        let mut tally = Tally::default();
        text.lines().for_each(|line| tally.read(line));
        tally.finish(exit)
    }

    const GOOD: &str = "
running 4 tests
test a ... ok
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 1.20s
";

    #[test]
    fn binaries_are_summed_and_filtered_tests_are_not_counted() {
        let outcome = tally(GOOD, Exit::Success);
        assert_eq!(outcome, Outcome { passed: 4, failed: 0, skipped: 1 });
    }

    #[test]
    fn failed_tests_are_counted_once() {
        let text = "running 2 tests\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 \
                    measured; 0 filtered out; finished in 0.00s";
        assert_eq!(tally(text, Exit::Failure), Outcome { passed: 1, failed: 1, skipped: 0 });
    }

    #[test]
    fn binary_that_dies_in_the_middle_is_a_failure() {
        let last = format!("{GOOD}running 3 tests\ntest b ... ok\n");
        assert_eq!(tally(&last, Exit::Failure), Outcome { passed: 4, failed: 1, skipped: 1 });
        let first = format!("running 3 tests\ntest b ... ok\n{GOOD}");
        assert_eq!(tally(&first, Exit::Failure), Outcome { passed: 4, failed: 1, skipped: 1 });
    }

    #[test]
    fn skipped_work_is_no_passed_test() {
        let said = "   Compiling x\nskipped: there is no qemu-nbd\nnote: skipped: not this\n";
        let skips = pass_on_and_count_skips(said.as_bytes()).expect("readable");
        let outcome = without_skips(tally(GOOD, Exit::Success), skips);
        assert_eq!(outcome, Outcome { passed: 3, failed: 0, skipped: 2 });
        let none = without_skips(Outcome::FAILED, skips);
        assert_eq!(none, Outcome::FAILED, "a failure is never a skip");
    }

    #[test]
    fn build_error_is_a_failure() {
        assert_eq!(tally("", Exit::Failure), Outcome::FAILED);
        assert_eq!(tally("", Exit::Success), Outcome::default());
    }

    #[test]
    fn line_of_another_form_counts_nothing() {
        assert_eq!(closing("test result: ok. many passed; 0 failed; 0 ignored"), None);
        assert_eq!(closing("test result: ok. 1 passed; 0 failed"), None);
        assert_eq!(closing("the test result: ok. 1 passed; 0 failed; 0 ignored"), None);
        assert!(!is_opening("running late for 3 tests"));
    }

    #[test]
    fn passed_tests_and_empty_binaries_are_not_repeated() {
        assert!(!is_news("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured"));
        assert!(is_news("test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured"));
        assert!(!is_news("test lane::acked_write_survives ... ok"));
        assert!(is_news("test lane::acked_write_survives ... FAILED"));
        assert!(is_news("thread 'a' panicked at src/lib.rs:3:5:"));
    }
}
