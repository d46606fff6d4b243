//! `cargo xtask`: the one door to every task of the repository.
//!
//! One file per command. A command prints what it does as it goes, returns what it found, and
//! never hides the output of the program that it calls. Nothing here is part of the product.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a task talks to the person who started it")]
#![expect(clippy::print_stderr, reason = "a task talks to the person who started it")]

mod check;
mod test;
mod demo;
mod sim;
mod mutate;
mod fuzz;
mod model;
mod bench;
mod guest;
mod tidy;
mod container;
mod packages;
mod package;
mod metadata;
mod outcome;
mod commit;
mod process;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  check            what must pass before a commit: fmt, clippy, doc, tidy
  tidy             the rules of STYLE.md and ARCHITECTURE.md that a program can check
  test             what CI runs: check, the tests of the workspace, then longer process tests
  test --quick     the tests of the workspace alone
  test NAME..      only the named steps
  test .. --json   what the steps came to, and their measurements, as JSON on standard output
  test --long      every step that was not seen green on this tree; goes on where it was ended
  test --long NAME..   only these; what was green is kept in tests/long-tier
  test --list [PATH..]   the steps, or those that a change of these paths asks for: tier, name,
                   budget, the command that runs it
  test --table     each step with tier, guarded paths, tests and seconds of the last runs
  sim SEED         replays one seed of the simulator, with its trace
  sim --seeds N    hunts, on all cores; prints each seed that fails
      --events N   of each run; --shrink takes faults and events out of one that fails;
                   --skip MASK leaves kinds of faults out; --lane N traces one lane
      --adopt | --detach | --fenced | --forced | --forks | --grow | --protocols | --rough |
      --volumes    other kinds of runs
  chaos            ten minutes of nodes that die, freeze, lose each other, their power, their disks
  mutate           plants each fault of crates/simulator/mutations/: the simulator must see it
  mutate [--seeds N] --fixed | --unseen | --list | NAME..
  fuzz             feeds seeded garbage to the core and to decoders for a minute each
  fuzz [--seconds N] NAME.. | --list
  model            searches the models of the protocol to the last state (--size large)
  guest            every chapter that needs a kernel of its own, in a guest under QEMU
  guest NAME..     only the named chapters; `guest --list` tells them
  bench            the matrix of public loads on nodes with volumes (--peer quorum)
  bench write      CPU per replicated write beside QEMU quorum and nbdkit (--json)
  bench rows       every goal for speed and cost beside its peer (--row NAME, --json)
  bench compare BASE   this tree against a commit, in turns, with the noise
  package [deb|rpm|all] [--binary FILE] [--out DIR]
                   what an operator installs: packages, debug files, bill of materials, checksums
  packages         the Debian packages that these commands may install, each with its reason
  demo             three nodes, a volume, load, nodes killed under it, and a report
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> anyhow::Result<ExitCode> {
    match words {
        ["check"] => check::run(&test::steps::named_elsewhere()),
        ["tidy"] => tidy::run(&test::steps::named_elsewhere()),
        ["packages"] => {
            print!("{}", test::steps::named_elsewhere().container);
            Ok(ExitCode::SUCCESS)
        }
        ["package", rest @ ..] => package::run(rest),
        ["demo"] => demo::run(),
        ["sim", rest @ ..] => sim::run(rest),
        ["chaos"] => test::run(&["chaos-full"]),
        ["mutate", rest @ ..] => mutate::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["model", rest @ ..] => model::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["guest", rest @ ..] => guest::run(rest),
        ["test", rest @ ..] => test::run(rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        [] => anyhow::bail!("no command given\n\n{USAGE}"),
        _ => anyhow::bail!("unknown command {words:?}\n\n{USAGE}"),
    }
}
