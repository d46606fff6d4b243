//! The options that a daemon was given: by the command line, by a file, and by default.
//!
//! An option of the command line replaces all lines of the file that name it, those of an option
//! that may be given more than once, too: what was typed is what counts, and nothing is added.

use std::error::Error as _;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::daemon::file::{Code, Entry, File, Mistake};
use crate::daemon::sentence::{Way, Wrong};
use crate::values::with_values;

/// Which options make no sense in a file.
const TYPED_ONLY: [&str; 5] = ["config", "check-config", "json", "help", "version"];

/// The options of one start, from the command line and from the file.
#[derive(Debug)]
pub(super) struct Given {
    command: Command,
    /// Of the words that were typed.
    typed: ArgMatches,
    pub(super) file: Option<File>,
    pub(super) mistakes: Vec<Mistake>,
    /// Options that wrong lines name.
    wrong: Vec<String>,
    /// Of all, but for the lines with mistakes; `None` if the rest makes no sense without them.
    pub(super) matches: Option<ArgMatches>,
}

/// An option that is needed and is not given.
#[derive(Debug)]
pub(super) struct Lack {
    pub(super) option: &'static str,
    pub(super) why: Lacking,
}

/// Why it is needed.
#[derive(Debug)]
pub(super) enum Lacking {
    StateDir,
    NvmeAddress,
    Name(String),
}

/// Where the value of an option is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Origin {
    CommandLine,
    File,
    Default,
}

impl Given {
    /// Reads the words that were typed, the program's name among them, and the file they name.
    ///
    /// # Errors
    /// Of the words alone: what is wrong with the file is in `mistakes`.
    pub(super) fn read(command: Command, typed: &[OsString]) -> Result<Self, clap::Error> {
        let command = with_values(command);
        let (program, words) = typed.split_first().expect("the name of the program comes first");
        let of_words = command.clone().try_get_matches_from(typed)?;
        let path = of_words.get_one::<PathBuf>("config").cloned();
        let (file, mistakes) = path.map(|path| File::read(&path)).unzip();
        let mut given = Self {
            command,
            typed: of_words,
            file,
            mistakes: mistakes.unwrap_or_default(),
            wrong: Vec::new(),
            matches: None,
        };
        let mut all = vec![program.clone()];
        all.extend(given.words_of_file());
        all.extend(words.iter().cloned());
        let matches = given.command.clone().try_get_matches_from(all);
        given.matches = if given.mistakes.is_empty() { Some(matches?) } else { matches.ok() };
        Ok(given)
    }

    /// Whether a flag was typed.
    pub(super) fn is_set(&self, flag: &str) -> bool {
        self.typed.get_flag(flag)
    }

    /// Whether the option is named by a line that is wrong, be it one that cannot be read.
    pub(super) fn is_wrong(&self, option: &str) -> bool {
        let begins = |mistake: &Mistake| {
            let rest = mistake.text.as_deref().and_then(|text| text.strip_prefix(option));
            mistake.code == Code::Syntax
                && rest.is_some_and(|rest| {
                    !rest.starts_with(|it: char| it.is_alphanumeric() || it == '-')
                })
        };
        self.wrong.iter().any(|name| name == option) || self.mistakes.iter().any(begins)
    }

    /// The options that a file may name, in the order of the help.
    pub(super) fn options(&self) -> impl Iterator<Item = &Arg> {
        self.command.get_arguments().filter(|arg| name_of(arg).is_some())
    }

    pub(super) fn origin(&self, arg: &Arg) -> Origin {
        let name = name_of(arg).unwrap_or_default();
        if self.typed.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine) {
            Origin::CommandLine
        } else if self.entries().any(|entry| entry.name == name) {
            Origin::File
        } else {
            Origin::Default
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.file.iter().flat_map(|file| &file.entries)
    }

    /// That something is missing, where it may be written.
    pub(super) fn mistake(&self, lack: &Lack) -> Mistake {
        let Lack { option, why } = lack;
        let arg = self.options().find(|arg| name_of(arg) == Some(*option));
        let value = arg.map(value_of).unwrap_or_default();
        let way = match &self.file {
            Some(_) => Way::InFile { option, value },
            None => Way::InWords { option, value },
        };
        let wrong = match why {
            Lacking::StateDir => Wrong::NoStateDir { way },
            Lacking::NvmeAddress => Wrong::NoNvmeAddress { way },
            Lacking::Name(error) => Wrong::NoName { error: error.clone(), way },
        };
        let file = self.file.as_ref().map(|file| file.path.clone());
        Mistake { file, ..Mistake::of(Code::Missing, &wrong) }
    }

    /// The file adds these to the words that were typed. Each of its lines is judged, those that
    /// are replaced as well.
    fn words_of_file(&mut self) -> Vec<OsString> {
        let Some(file) = &self.file else { return Vec::new() };
        let mut words = Vec::new();
        let (mut mistakes, mut wrong) = (Vec::new(), Vec::new());
        for (at, entry) in file.entries.iter().enumerate() {
            let place = (entry.line, &*entry.text);
            let judged = self.option_named(&entry.name).and_then(|arg| {
                let first = file.entries[..at].iter().find(|it| it.name == entry.name);
                if let Some(first) = first.filter(|_| !may_repeat(arg)) {
                    let wrong = Wrong::Twice { name: entry.name.clone(), first: first.line };
                    return Err(Box::new(Mistake::of(Code::Duplicate, &wrong)));
                }
                Ok((arg, self.word(arg, entry)?))
            });
            match judged {
                Ok((arg, word)) if self.origin(arg) == Origin::File => words.push(word),
                Ok(_) => {}
                Err(mistake) => {
                    let is_value = mistake.code == Code::BadValue;
                    let column = if is_value { entry.value_column } else { entry.name_column };
                    let mistake = Mistake { column: Some(column), ..*mistake };
                    mistakes.push(file.at(place, mistake));
                    wrong.push(entry.name.clone());
                }
            }
        }
        self.mistakes.extend(mistakes);
        self.wrong = wrong;
        self.mistakes.sort_by_key(|mistake| mistake.line);
        words
    }

    /// The option of this name, or what is wrong with the name.
    fn option_named(&self, name: &str) -> Result<&Arg, Box<Mistake>> {
        if let Some(arg) = self.options().find(|arg| name_of(arg) == Some(name)) {
            return Ok(arg);
        }
        if TYPED_ONLY.contains(&name) {
            let wrong = Wrong::TypedOnly { name: name.to_owned() };
            return Err(Box::new(Mistake::of(Code::UnknownOption, &wrong)));
        }
        let plain = name.trim_start_matches('-').replace('_', "-");
        let nearest = self.options().filter_map(name_of).find(|known| *known == plain);
        let nearest = nearest.map(str::to_owned).or_else(|| self.nearest(&plain));
        let wrong = Wrong::Unknown { name: name.to_owned(), nearest };
        Err(Box::new(Mistake::of(Code::UnknownOption, &wrong)))
    }

    /// The parser proposes this name in place of one that it does not know.
    fn nearest(&self, name: &str) -> Option<String> {
        let words = ["basalt node".to_owned(), format!("--{name}")];
        let error = self.command.clone().try_get_matches_from(words).err()?;
        let Some(ContextValue::String(proposed)) = error.get(ContextKind::SuggestedArg) else {
            return None;
        };
        let proposed = proposed.trim_start_matches('-');
        let is_known = self.options().any(|arg| name_of(arg) == Some(proposed));
        is_known.then(|| proposed.to_owned())
    }

    /// The word of a line, or what is wrong with its value.
    fn word(&self, arg: &Arg, entry: &Entry) -> Result<OsString, Box<Mistake>> {
        let Entry { name, value, .. } = entry;
        let word = format!("--{name}={value}");
        let judged = self.command.clone().try_get_matches_from(["basalt node", &word]);
        let Err(error) = judged else { return Ok(word.into()) };
        let wrong = Wrong::Value {
            name: name.clone(),
            value: value.clone(),
            reason: error.source().map(ToString::to_string),
            form: value_of(arg),
        };
        Err(Box::new(Mistake::of(Code::BadValue, &wrong)))
    }
}

/// The name that an option has in a file, if it may be there.
pub(super) fn name_of(arg: &Arg) -> Option<&str> {
    arg.get_long().filter(|name| !TYPED_ONLY.contains(name))
}

fn may_repeat(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// The form of its value.
fn value_of(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| arg.get_id().to_string().to_uppercase(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// With a file of these lines, and these words beside it.
    fn given(lines: &str, words: &[&str]) -> Given {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.conf");
        fs::write(&path, lines).unwrap();
        let mut typed = vec!["basalt node".into(), "--config".into(), path.into_os_string()];
        typed.extend(words.iter().map(OsString::from));
        Given::read(crate::daemon::command(), &typed).unwrap()
    }

    fn values(given: &Given, id: &str) -> Vec<String> {
        let matches = given.matches.as_ref().unwrap_or_else(|| panic!("{:?}", given.mistakes));
        let raw = matches.get_raw(id).into_iter().flatten();
        raw.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn lines_are_options_and_a_typed_one_replaces_all_of_its_name() {
        let lines = "state-dir = /s\nnbd = 127.0.0.1:1\nnbd = 127.0.0.1:2\nspin-us = 5\n\
             drbd-names = yes\nexit-with-parent = no\n";
        let it = given(lines, &[]);
        assert_eq!(values(&it, "nbd"), ["127.0.0.1:1", "127.0.0.1:2"]);
        assert_eq!(
            (values(&it, "spin_us"), values(&it, "device_timeout")),
            (vec!["5".to_owned()], vec!["30".to_owned()],)
        );
        let matches = it.matches.as_ref().unwrap();
        assert!(matches.get_flag("drbd_names") && !matches.get_flag("exit_with_parent"));
        let origin = |given: &Given, name: &str| {
            given.options().find(|arg| name_of(arg) == Some(name)).map(|arg| given.origin(arg))
        };
        assert_eq!(origin(&it, "nbd"), Some(Origin::File));
        assert_eq!(origin(&it, "device-timeout"), Some(Origin::Default));
        let it = given(lines, &["--nbd", "127.0.0.1:3", "--spin-us=6"]);
        assert_eq!(values(&it, "nbd"), ["127.0.0.1:3"], "those of the file are replaced");
        assert_eq!(values(&it, "spin_us"), ["6"]);
        assert_eq!(values(&it, "state_dir"), ["/s"]);
        assert_eq!(origin(&it, "nbd"), Some(Origin::CommandLine));
    }

    #[test]
    fn a_line_that_is_no_option_is_told_with_its_place_and_what_to_type() {
        for (line, message, hint) in [
            ("nmae = a", "no option \"nmae\"", "did you mean `name`?"),
            ("--nbd = 127.0.0.1:1", "no option \"--nbd\"", "did you mean `nbd`?"),
            ("state_dir = /s", "no option \"state_dir\"", "did you mean `state-dir`?"),
            ("qqqqqqq = a", "no option \"qqqqqqq\"", "--help` lists the options"),
            ("config = a", "config is for the command line alone", "take the line out"),
            ("help = yes", "help is for the command line alone", "take the line out"),
            ("jsn = yes", "no option", "--help` lists the options"),
            ("metrics = here", "metrics cannot be \"here\": it takes an IP", "<ADDRESS:PORT>"),
            ("nbd = 127.0.0.1", "nbd cannot be", "`nbd = <ADDRESS:PORT>`"),
            (
                "spin-us = 1001",
                "\"1001\": it takes a number from 0 to 1000: microseconds",
                "`spin-us = <MICROSECONDS>`",
            ),
            (
                "shards = many",
                "shards cannot be \"many\": it takes a number from 1 to 8: threads",
                "`shards = <SHARDS>`",
            ),
            ("max-parallel-resyncs = -1", "from 0 to 4294967295: resources", "= <NUMBER>`"),
            ("vhost = \"\"", "vhost cannot be \"\"", "`vhost = <DIR>`"),
            (
                "drbd-names = perhaps",
                "drbd-names cannot be \"perhaps\": it is yes or no",
                "`drbd-names = <yes|no>`",
            ),
            ("name = b", "name is given a second time", "line 1"),
        ] {
            let it = given(&format!("name = a\n{line}\nstate-dir = /s\n"), &[]);
            let [mistake] = &it.mistakes[..] else { panic!("{line}: {:?}", it.mistakes) };
            assert_eq!((mistake.line, mistake.text.as_deref()), (Some(2), Some(line)));
            assert!(mistake.message.contains(message), "no {message:?} in {mistake}");
            let told = mistake.hint.as_deref().unwrap_or_default();
            assert!(told.contains(&hint.replace(['<', '>'], "")), "no {hint:?} in {mistake}");
            assert!(it.matches.is_some(), "the other lines are judged all the same");
            assert!(mistake.column.is_some_and(|column| column <= line.len()), "{mistake:?}");
        }
    }

    /// `--drbd-names=no` was refused, and turned nothing off that the file turns on.
    #[test]
    fn flag_takes_yes_and_no_on_the_command_line_as_in_the_file() {
        for (line, words, is_on) in [
            ("drbd-names = yes", &[][..], true),
            ("drbd-names = off", &[], false),
            ("drbd-names = yes", &["--drbd-names=no"], false),
            ("drbd-names = no", &["--drbd-names"], true),
            ("drbd-names = no", &["--drbd-names=on"], true),
        ] {
            let it = given(line, words);
            assert_eq!(it.mistakes, [], "{line} {words:?}");
            assert_eq!(it.matches.unwrap().get_flag("drbd_names"), is_on, "{line} {words:?}");
        }
    }

    #[test]
    fn option_of_a_wrong_line_is_not_missing() {
        for line in ["state-dir = \"\"", "state-dir /s", "state-dir"] {
            assert!(given(line, &[]).is_wrong("state-dir"), "{line}");
        }
        for line in ["state-dirs /s", "# state-dir", "name = state-dir"] {
            assert!(!given(line, &[]).is_wrong("state-dir"), "{line}");
        }
    }

    #[test]
    fn what_is_replaced_is_judged_all_the_same_and_all_mistakes_are_told_in_order() {
        let it = given("spin-us = x\nnonsense\nmetrics = y\n", &["--spin-us", "1"]);
        let lines: Vec<_> = it.mistakes.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [Some(1), Some(2), Some(3)]);
    }
}
