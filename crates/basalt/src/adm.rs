//! `basalt adm`: the operator's command line, with drbdadm's verbs, words and exit codes.
//!
//! A run reads its arguments, turns targets (`all`, `RES`, `RES/VOL`, `RES:PEER`) into resources,
//! does the verb for one resource after the other, and prints; only `events2` prints as it hears.
//! Most verbs are a question to the daemon over the admin socket, with a deadline; `work` tells the
//! others. What touches disks is done by another process (`disk_work`), so that it ends in time,
//! too. A failure at one resource does not keep the others from their turn; the exit code is that
//! of the first failure. Nothing here needs a terminal.

pub(crate) mod arguments;
pub(crate) mod general;
mod drbd_options;
pub(crate) mod getopt;
pub(crate) mod target;
pub(crate) mod question;
mod verb;
mod work;
mod verbs;
mod up;
mod state_change;
mod patience;
mod showing;
mod minors;
mod events;
pub(crate) mod configuration;
pub(crate) mod metadata;
mod disk_work;
pub(crate) mod superblocks;
mod adopt_drbd;
mod adopt;
mod queries;
pub(crate) mod building;
pub(crate) mod upkeep;
pub(crate) mod typed_options;
pub(crate) mod helpers;
mod rehearsal;
pub(crate) mod explain;
mod promotion;
mod report;
pub(crate) mod waiting;
mod words;
pub(crate) mod status_text;
pub(crate) mod outcome;
pub(crate) mod failure;
mod advice;
mod dates;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;

use self::arguments::{CommandLine, Verb};
use self::failure::AdmError;
use self::getopt::{Line, in_order, read};
use self::outcome::{Form, Gathering, Outcome};
use crate::called::{self, Name};
use crate::values::asks_for_json;

/// Runs `basalt adm` with the words that follow `adm`.
pub(crate) fn main(name: Name, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    called::set(name);
    let definition = getopt::definition(CommandLine::command());
    let typed = std::iter::once(OsString::from(called::program())).chain(arguments);
    let Line { words, of_drbd } = in_order(typed.collect(), &definition);
    let read = |words: &[OsString]| parse(read::<CommandLine>(&definition, words), words);
    let parsed =
        read(&words).and_then(|(_, command_line)| match minors::named(&command_line, &words) {
            Ok(None) => Ok(command_line),
            Ok(Some(named)) => read(&named).map(|(_, command_line)| command_line),
            Err(error) => Err(print(&verbs::failed(&command_line, &error))),
        });
    match parsed {
        Ok(command_line) if of_drbd.is_empty() => run_verb(&command_line),
        Ok(command_line) => print(&verbs::with_options(&command_line, &of_drbd)),
        Err(exit) => exit,
    }
}

/// The command line, or what is left to do without one: help and version are not errors, and go
/// to standard output with exit code 0.
pub(crate) fn parse<T>(parsed: Result<T, clap::Error>, words: &[OsString]) -> Result<T, ExitCode> {
    parsed.map_err(|error| {
        let exit = if error.use_stderr() { called::usage_exit() } else { 0 };
        if exit != 0 && asks_for_json(words) {
            return print(&wrong_words(&error));
        }
        if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE }
    })
}

/// As a program reads it, beside the same for people.
fn wrong_words(error: &clap::Error) -> Outcome {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let mut gathering = Gathering::new("usage", Form::Json);
    gathering.failed_at_all(&AdmError::Usage(message));
    Outcome { complaints: text, ..gathering.finish() }
}

pub(crate) fn run_verb(command_line: &CommandLine) -> ExitCode {
    if let Verb::Events2(options) = &command_line.verb {
        return ExitCode::from(events::events2(&command_line.general, options));
    }
    print(&match disk_work::limit(command_line) {
        Some(limit) => disk_work::run(command_line, limit),
        None => verbs::run(command_line),
    })
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
