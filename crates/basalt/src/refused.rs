//! Refusals of the tools that have no verbs of DRBD's, `device` and `pki`: for people on standard
//! error, and with `--json` on standard output too, in the shape that `basalt adm` has.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crate::adm::failure::ErrorObject;
pub(crate) use crate::adm::outcome::Form;

/// A refusal, with what to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// As `device remove`, for people.
    pub(crate) verb: &'static str,
    pub(crate) code: &'static str,
    /// The file that it is about, if it is about one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) message: String,
    pub(crate) to_try: String,
    pub(crate) exit: u8,
}

/// An element of the list that `--json` prints.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Done { verb: &'a str, ok: bool, lines: Vec<&'a str> },
    Failed { verb: &'a str, ok: bool, error: ErrorObject },
}

/// The refusal of words that clap cannot read.
pub(crate) fn of_words(error: &clap::Error, exit: u8) -> Refusal {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let to_try = "`--help` lists the words that are known".to_owned();
    Refusal { verb: "usage", code: "usage", file: None, message, to_try, exit }
}

/// Tells them, and gives the exit code of the first.
pub(crate) fn tell(refusals: &[Refusal], form: Form) -> ExitCode {
    let exit = refusals.first().map_or(ExitCode::SUCCESS, |first| ExitCode::from(first.exit));
    let text = |it: &Refusal| format!("basalt {}: {}\n  try: {}\n", it.verb, it.message, it.to_try);
    let told: String = refusals.iter().map(text).collect();
    // Without a standard error nobody can be told.
    io::stderr().write_all(told.as_bytes()).ok();
    if form == Form::Text {
        return exit;
    }
    let failed: Vec<_> = refusals.iter().map(Refusal::answer).collect();
    if print(&failed) { exit } else { ExitCode::FAILURE }
}

impl Refusal {
    fn answer(&self) -> Answer<'_> {
        let error = ErrorObject {
            code: self.code.to_owned(),
            drbd_code: None,
            file: self.file.as_ref().map(|file| file.display().to_string()),
            // There is no line in a file of these tools.
            line: None,
            column: None,
            message: self.message.clone(),
            hint: self.to_try.clone(),
            to_try: self.to_try.clone(),
            reasons: Vec::new(),
            exit: self.exit,
        };
        Answer::Failed { verb: self.verb, ok: false, error }
    }
}

/// What was done.
pub(crate) fn done(verb: &str, text: &str, form: Form) -> ExitCode {
    let is_written = match form {
        Form::Text => io::stdout().write_all(text.as_bytes()).is_ok(),
        Form::Json => print(&[Answer::Done { verb, ok: true, lines: text.lines().collect() }]),
    };
    if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(answers: &[Answer<'_>]) -> bool {
    let text = serde_json::to_string_pretty(answers);
    let text = text.expect("an answer is made of strings, numbers and lists of them");
    writeln!(io::stdout(), "{text}").is_ok()
}
