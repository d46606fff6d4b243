//! The answer of `basalt node --check-config`, and that of a start that is refused.

use std::io::{self, Write};
use std::process::ExitCode;

use node::{Remark, Weight};
use serde::Serialize;

use crate::daemon::file::{Code, Mistake};
use crate::daemon::given::{Given, Lack, Origin, name_of};
use crate::daemon::sentence::Wrong;

pub(super) const WRONG_WORDS_EXIT: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

/// The outcome of a check.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// The daemon would use these; an option without a value is left out.
    settings: Vec<Setting>,
    /// The daemon does not start with these.
    mistakes: Vec<Mistake>,
    /// It starts with these.
    notes: Vec<Mistake>,
}

#[derive(Debug, Serialize)]
struct Setting {
    name: String,
    values: Vec<String>,
    from: Origin,
    /// Of the file that it is from.
    lines: Vec<usize>,
}

impl Report {
    pub(super) fn of(given: &Given) -> Self {
        Self { mistakes: given.mistakes.clone(), ..Self::default() }
    }

    /// Of words that cannot be read.
    pub(super) fn of_words(error: &clap::Error) -> Self {
        let text = error.to_string();
        let lines: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
        let message = lines.join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
        let mistake = Mistake::of(Code::Usage, &Wrong::Words { told: message });
        Self { mistakes: vec![mistake], ..Self::default() }
    }

    pub(super) fn is_wrong(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// Options that are missing; one that a wrong line names is told of there, and a file that
    /// cannot be read may have them all.
    pub(super) fn add_lacks(&mut self, given: &Given, lacks: &[Lack]) {
        if given.mistakes.iter().any(|mistake| mistake.code == Code::File) {
            return;
        }
        let missing = lacks.iter().filter(|lack| !given.is_wrong(lack.option));
        self.mistakes.extend(missing.map(|lack| given.mistake(lack)));
    }

    /// A mistake that the daemon met.
    pub(super) fn add_remark(&mut self, given: &Given, remark: &Remark) {
        self.mistakes.push(place(given, remark));
    }

    /// Looks at what the options name, but for those that are missing or wrong themselves.
    pub(super) fn judge(&mut self, given: &Given, options: &node::Options, lacks: &[Lack]) {
        let is_whole = !self.is_wrong();
        for remark in options.remarks() {
            let is_missing = lacks.iter().any(|lack| lack.option == remark.option);
            if is_missing || given.is_wrong(remark.option) {
                continue;
            }
            let told = place(given, &remark);
            match remark.weight {
                Weight::Wrong => self.mistakes.push(told),
                Weight::Note => self.notes.push(told),
            }
        }
        // In the order of the file; what is of no line comes last.
        self.mistakes.sort_by_key(|mistake| (mistake.line.is_none(), mistake.line));
        if is_whole {
            self.settings = settings(given, options);
        }
    }

    /// Says what is wrong, to who started a daemon.
    pub(super) fn refuse(&self) -> ExitCode {
        let mut text: String = self.mistakes.iter().map(|it| format!("{it}\n")).collect();
        text.push_str(
            "basalt node: not started; `--check-config` tells whether all is well then\n",
        );
        // Without a standard error nobody can be told.
        io::stderr().write_all(text.as_bytes()).ok();
        ExitCode::from(WRONG_WORDS_EXIT)
    }

    pub(super) fn print(&self, form: Form) -> ExitCode {
        let written = match form {
            Form::Json => serde_json::to_string_pretty(self)
                .map_err(io::Error::other)
                .and_then(|text| writeln!(io::stdout(), "{text}")),
            Form::Text => self.print_text(),
        };
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
            Ok(()) | Err(_) if self.mistakes.is_empty() => ExitCode::SUCCESS,
            Ok(()) | Err(_) => ExitCode::from(WRONG_WORDS_EXIT),
        }
    }

    fn print_text(&self) -> io::Result<()> {
        let mut told: String = self.notes.iter().map(|it| format!("note: {it}\n")).collect();
        told.extend(self.mistakes.iter().map(|it| format!("{it}\n")));
        let shown: String = self.settings.iter().map(Setting::lines).collect();
        io::stdout().write_all(shown.as_bytes())?;
        io::stdout().flush()?;
        io::stderr().write_all(told.as_bytes())
    }
}

impl Setting {
    /// As a file may have them, with where they are from.
    fn lines(&self) -> String {
        let line = |(at, value): (usize, &String)| {
            let origin = match (self.from, self.lines.get(at)) {
                (Origin::CommandLine, _) => "command line".to_owned(),
                (Origin::File, Some(line)) => format!("line {line}"),
                (Origin::File, None) => "the file".to_owned(),
                (Origin::Default, _) => "default".to_owned(),
            };
            let needs_quotes = value.trim() != value || value.is_empty() || value.contains('#');
            let value = if needs_quotes { format!("\"{value}\"") } else { value.clone() };
            format!("{:<40} # {origin}\n", format!("{} = {value}", self.name))
        };
        self.values.iter().enumerate().map(line).collect()
    }
}

fn settings(given: &Given, options: &node::Options) -> Vec<Setting> {
    let Some(matches) = &given.matches else { return Vec::new() };
    let read = |arg: &clap::Arg| {
        let name = name_of(arg)?.to_owned();
        let id = arg.get_id().as_str();
        let values = match &*name {
            "name" => vec![options.name.clone()],
            "admin-socket" if options.admin_socket.is_none() => {
                vec![options.state_dir.join("admin.sock").display().to_string()]
            }
            _ if !arg.get_action().takes_values() => {
                vec![if matches.get_flag(id) { "yes" } else { "no" }.to_owned()]
            }
            _ => {
                let raw = matches.get_raw(id)?;
                raw.map(|value| value.to_string_lossy().into_owned()).collect()
            }
        };
        let lines = given.entries().filter(|entry| entry.name == name).map(|entry| entry.line);
        let from = given.origin(arg);
        let lines = lines.filter(|_| from == Origin::File).collect();
        Some(Setting { name, values, from, lines })
    };
    given.options().filter_map(read).collect()
}

/// A remark beside the line that it is about.
fn place(given: &Given, remark: &Remark) -> Mistake {
    let Remark { option, value, text, .. } = remark;
    let arg = given.options().find(|arg| name_of(arg) == Some(option));
    let origin = arg.map_or(Origin::Default, |arg| given.origin(arg));
    let named = || given.entries().filter(|entry| entry.name == *option);
    let meant = named().find(|entry| value.as_ref().is_some_and(|value| *value == entry.value));
    let entry = meant.or_else(|| named().next()).filter(|_| origin == Origin::File);
    let file = given.file.as_ref().filter(|_| entry.is_some()).map(|file| file.path.clone());
    let (line, text_there) = entry.map(|entry| (entry.line, entry.text.clone())).unzip();
    let column = entry.map(|entry| entry.value_column);
    let code = match remark.weight {
        Weight::Wrong => Code::Configuration,
        Weight::Note => Code::Note,
    };
    let message = format!("{option}: {text}");
    Mistake { file, line, column, text: text_there, ..Mistake::new(code, message) }
}
