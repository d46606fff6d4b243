//! How many instructions of the core a replicated write costs, and a read, and that it stays so.
//!
//! Callgrind counts them for the example `writes` of `replication`: three groups in one process,
//! 32 requests in flight. The difference between a long and a short run is free of the beginning;
//! what the example itself does is left out. The count is the same on every machine with the
//! toolchain of this repository, so more than [`TOLERANCE_PERCENT`] of change come from the code:
//! mend it, or set [`EXPECTED`] anew and say why in the commit.

use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::{metadata, process};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Instructions of `replication`, with what it uses of `stdx`, `format` and the standard library,
/// per request on all nodes, by the kind that the example is given.
const EXPECTED: [(&str, u64); 3] = [(WRITE, 1_992), ("read", 741), ("remote-read", 1_458)];
const WRITE: &str = "write";
const TOLERANCE_PERCENT: u64 = 3;
const SHORT: u64 = 2_000;
const LONG: u64 = 12_000;
/// Words of the example after the kind: the lanes over the groups of eight shards, each with as
/// much to do at a time as the one has otherwise.
const EIGHT_SHARDS: &str = "256 65536 1237 8";

pub(super) fn run() -> Result<Outcome> {
    let example = build()?;
    let scratch = Scratch::new("instructions")?;
    let mut outcome = Outcome::default();
    let mut of_a_write = 0;
    for (kind, expected) in EXPECTED {
        let per_request = per_request(&example, kind, scratch.path())?;
        if kind == WRITE {
            of_a_write = per_request;
        }
        let change = per_request.abs_diff(expected) * 1000 / expected;
        println!(
            "{per_request} instructions of the core per {kind} on all nodes; {expected} are \
             expected, {}.{} % apart",
            change / 10,
            change % 10
        );
        let is_same = change <= TOLERANCE_PERCENT * 10;
        if !is_same {
            println!("more than {TOLERANCE_PERCENT} %: see {}", file!());
        }
        outcome += if is_same { Outcome::PASSED } else { Outcome::FAILED };
    }
    outcome += over_shards(&example, of_a_write, scratch.path())?;
    Ok(outcome)
}

/// More shards are to add room, and no work: less of it is welcome. `one` is the cost with one.
fn over_shards(example: &Path, one: u64, place: &Path) -> Result<Outcome> {
    let eight = per_request(example, &format!("{WRITE} {EIGHT_SHARDS}"), place)?;
    let does_scale = eight <= one + one * TOLERANCE_PERCENT / 100;
    println!("over eight shards a write costs {eight} instructions, over one {one}");
    if !does_scale {
        println!("more than {TOLERANCE_PERCENT} % more: see {}", file!());
    }
    Ok(if does_scale { Outcome::PASSED } else { Outcome::FAILED })
}

fn per_request(example: &Path, words: &str, place: &Path) -> Result<u64> {
    let short = count(example, SHORT, words, place)?;
    let long = count(example, LONG, words, place)?;
    Ok((long - short) / (LONG - SHORT))
}

fn build() -> Result<PathBuf> {
    let words = ["build", "--release", "--package", "replication", "--example", "writes"];
    process::must_succeed(&mut process::cargo(&words)?)?;
    Ok(metadata::read()?.target_directory.join("release/examples/writes"))
}

/// Instructions in functions of ours, or of the standard library for ours, in a run of `writes`.
fn count(example: &Path, requests: u64, words: &str, place: &Path) -> Result<u64> {
    let profile = place.join(format!("writes.{requests}"));
    let mut valgrind = Command::new("valgrind");
    // The name of a function is then that of its caller, too.
    valgrind.args(["--quiet", "--tool=callgrind", "--separate-callers=2"]);
    valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
    valgrind.arg(example).arg(requests.to_string()).args(words.split(' '));
    process::must_succeed(&mut valgrind)?;
    let text = fs::read_to_string(&profile).context("callgrind left no profile")?;
    let total = count_in(&text);
    ensure!(total > 0, "{} names no function of the core", profile.display());
    Ok(total)
}

/// Sums the costs of lines in functions of the core, `NAME'CALLER`. A line `fn=(ID) NAME` opens a
/// function (the name is given once), `LINE COST` is its own cost, and the line after `calls=` that
/// of a callee.
fn count_in(profile: &str) -> u64 {
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    let (mut is_ours, mut is_callee, mut total) = (false, false, 0);
    for line in profile.lines() {
        let function = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="));
        if let Some(function) = function {
            let (id, name) = function.split_once(' ').unwrap_or((function, ""));
            let known = names.entry(id).or_insert_with(|| is_of_core(name));
            if line.starts_with("fn=") {
                is_ours = *known;
            }
        } else if line.starts_with("calls=") {
            is_callee = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
            if !std::mem::take(&mut is_callee) && is_ours {
                total += cost.unwrap_or(0);
            }
        }
    }
    total
}

/// The example itself is not the core's, nor what it calls but the core, nor the C library.
fn is_of_core(name: &str) -> bool {
    let (function, caller) = name.split_once('\'').unwrap_or((name, ""));
    let is_of = |parts: &[&str]| parts.iter().any(|of| function.contains(of));
    let is_used = is_of(&["stdx::", "format::", "alloc::", "core::"]);
    !function.contains("writes::")
        && (is_of(&["replication::"]) || is_used && !caller.starts_with("writes::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_costs_of_the_core_are_summed() {
        let profile = "events: Ir\n\
            fn=(1) writes::main'start\n16 400\n\
            cfn=(2) replication::group::LaneGroup::step'writes::main\n\
            calls=3 20\n17 5000\n\n\
            fn=(2)\n20 30\n+1 7\nfi=(9) vec.rs\n* 3\n\
            cfn=(3) <alloc::vec::Vec<T>>::push'replication::group::LaneGroup::step\n\
            calls=1 1\n22 90\n\nfn=(3)\n5 60\n\
            fn=(5) <alloc::vec::Vec<T>>::push'writes::main\n5 700\n\
            fn=(4) malloc'alloc::alloc::alloc\n1 1000\n";
        assert_eq!(count_in(profile), 30 + 7 + 3 + 60);
    }
}
