//! `basalt adm`: the operator's command line, with drbdadm's verbs, words and exit codes.
//!
//! A run reads its arguments, turns targets (`all`, `RES`, `RES/VOL`, `RES:PEER`) into resources,
//! does the verb for one resource after the other, and prints; only `events2` prints as it hears.
//! Only `create-md`, `dump-md` and its like, `adopt-drbd`, `dump` and the `sh-` verbs work without
//! the daemon; every other verb is a question to it over the admin socket, with a deadline. A
//! failure at one resource does not keep the others from their turn; the exit code is that of the
//! first failure. Nothing here needs a terminal.

pub(crate) mod arguments;
pub(crate) mod target;
pub(crate) mod question;
mod verbs;
mod events;
mod configuration;
mod metadata;
pub(crate) mod superblocks;
mod adoption;
mod orphans;
mod queries;
pub(crate) mod building;
pub(crate) mod upkeep;
pub(crate) mod helpers;
mod rehearsal;
mod explain;
mod promotion;
mod report;
pub(crate) mod waiting;
mod words;
pub(crate) mod status_text;
pub(crate) mod outcome;
pub(crate) mod failure;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::arguments::{CommandLine, Verb};
use self::failure::USAGE_EXIT;
use self::outcome::Outcome;

/// Runs `basalt adm` with the words that follow `adm`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from("basalt adm")).chain(in_order(arguments));
    match parse(CommandLine::try_parse_from(words), USAGE_EXIT) {
        Ok(command_line) => run_verb(&command_line, USAGE_EXIT),
        Err(exit) => exit,
    }
}

/// drbdadm hands what follows `--` on to the program that does the work: options of the verb,
/// behind the targets or, as once, before the verb.
fn in_order(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    if let Some(at) = words.iter().position(|word| word == "--") {
        words.remove(at);
        let command = CommandLine::command();
        let is_verb = |word: &OsString| {
            word.to_str().is_some_and(|word| command.find_subcommand(word).is_some())
        };
        if let Some(verb) = words[at..].iter().position(is_verb) {
            words[at..].rotate_left(verb);
        }
    }
    words
}

/// The command line, or what is left to do without one: help and version are not errors, and go
/// to standard output with exit code 0.
pub(crate) fn parse<T>(parsed: Result<T, clap::Error>, usage_exit: u8) -> Result<T, ExitCode> {
    parsed.map_err(|error| {
        let exit = if error.use_stderr() { usage_exit } else { 0 };
        if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE }
    })
}

/// `usage_exit` is what the tool says to words that it does not understand.
pub(crate) fn run_verb(command_line: &CommandLine, usage_exit: u8) -> ExitCode {
    if let Verb::Events2(options) = &command_line.verb {
        let exit = events::events2(&command_line.general, options);
        return ExitCode::from(if exit == USAGE_EXIT { usage_exit } else { exit });
    }
    let mut outcome = verbs::run(command_line);
    if outcome.exit == USAGE_EXIT {
        outcome.exit = usage_exit;
    }
    print(&outcome)
}

pub(crate) fn print(outcome: &Outcome) -> ExitCode {
    let written = io::stderr()
        .write_all(outcome.complaints.as_bytes())
        .and_then(|()| io::stdout().write_all(outcome.output.as_bytes()))
        .and_then(|()| io::stdout().flush());
    match written {
        Ok(()) => ExitCode::from(outcome.exit),
        // Nobody reads any more, as with `status | head`: the verb was done all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(outcome.exit),
        Err(_) => ExitCode::FAILURE,
    }
}
