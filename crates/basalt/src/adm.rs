//! `basalt adm`: the operator's command line, with drbdadm's verbs, words and exit codes.
//!
//! A run reads its arguments, turns targets (`all`, `RES`, `RES/VOL`, `RES:PEER`) into resources,
//! does the verb for one resource after the other, and prints; only `events2` prints as it hears.
//! Only `create-md` and `dump` work without the daemon; every other verb is a question to it over
//! the admin socket, with a deadline. A failure at one resource does not keep the others from their
//! turn; the exit code is that of the first failure. Nothing here needs a terminal.

mod arguments;
mod target;
mod question;
mod verbs;
mod events;
mod configuration;
mod metadata;
mod words;
mod status_text;
mod outcome;
mod failure;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use self::arguments::{CommandLine, Verb};
use self::failure::USAGE_EXIT;

/// Runs `basalt adm` with the words that follow `adm`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from("basalt adm")).chain(arguments);
    let command_line = match CommandLine::try_parse_from(words) {
        Ok(command_line) => command_line,
        Err(error) => {
            // Help and version are not errors; they go to standard output with exit code 0.
            let exit = if error.use_stderr() { USAGE_EXIT } else { 0 };
            return if error.print().is_ok() { ExitCode::from(exit) } else { ExitCode::FAILURE };
        }
    };
    if let Verb::Events2(options) = &command_line.verb {
        return events::events2(&command_line.general, options);
    }
    let outcome = verbs::run(&command_line);
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
