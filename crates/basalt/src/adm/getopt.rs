//! A command line as getopt_long takes it, by which DRBD's tools read theirs.
//!
//! A flag takes `=yes` and `=no`, and of what is repeated the last one counts. Options stand
//! anywhere, before the verb or behind the targets. A name may be cut short where no other option
//! begins so, or only some whose names go on from this one's. clap wants the program's options, the
//! verb, the verb's options: [`in_order`] puts the words so, with whole names. Behind the first
//! `--` are words of the verb, which may be among them: drbdadm hands them on to the program that
//! does the work. A word that is no option of the verb stays where it is, and is refused there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, FromArgMatches};
use config::options::{Kind, OptionSpec};

use crate::adm::drbd_options;
use crate::called;
use crate::values::flag_with_value;

/// The definition of a tool, ready to read words.
pub(crate) fn definition(command: Command) -> Command {
    let mut command = command
        .mut_args(flag_with_value)
        .mut_subcommands(|verb| verb.mut_args(flag_with_value))
        .args_override_self(true)
        .bin_name(called::program());
    command.build();
    command
}

/// The name of the verb, and the command line.
pub(crate) fn read<T: FromArgMatches>(
    command: &Command,
    words: &[OsString],
) -> Result<(String, T), clap::Error> {
    let mut command = command.clone();
    let found = command.try_get_matches_from_mut(words)?;
    let verb = found.subcommand_name().unwrap_or_default().to_owned();
    let read = T::from_arg_matches(&found).map_err(|error| error.format(&mut command))?;
    Ok((verb, read))
}

/// A command line in clap's order.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The program, its options, the verb, and the verb's options and targets.
    pub(crate) words: Vec<OsString>,
    /// Options of DRBD's configuration that were typed with a verb that takes them there.
    pub(crate) of_drbd: Vec<OsString>,
}

/// The first of the words is the program.
pub(crate) fn in_order(words: Vec<OsString>, command: &Command) -> Line {
    let found = verb_at(&words, command).and_then(|at| {
        let verb = command.find_subcommand(words[at].to_str()?)?;
        Some((at, verb))
    });
    let Some((at, verb)) = found else { return Line { words, of_drbd: Vec::new() } };
    let of_program = Options::of(command.get_arguments(), Owner::Program);
    let of_verb = Options::of(verb.get_arguments(), Owner::Verb);
    let of_drbd = Options::of_drbd(verb.get_name());
    // A name that several have is the program's before the verb. Behind it is DRBD's, whatever our
    // own options are called.
    let before = of_program.clone().or(of_drbd.clone()).or(of_verb.clone());
    let behind = of_drbd.or(of_verb).or(of_program);

    let mut line = Line::default();
    let mut rest = Vec::new();
    let mut handed_on = Vec::new();
    let mut is_handed_on = false;
    let mut words = words.into_iter().enumerate();
    line.words.extend(words.next().map(|(_, program)| program));
    while let Some((index, word)) = words.next() {
        if index == at {
            rest.insert(0, word);
            continue;
        }
        if word == "--" && !is_handed_on {
            is_handed_on = true;
            continue;
        }
        if word == "--" {
            // The words behind a second `--` are no options of anybody's.
            rest.push(word);
            rest.extend(words.map(|(_, word)| word));
            break;
        }
        let is_programs = index < at && !is_handed_on;
        let (options, home) =
            if is_programs { (&before, Owner::Program) } else { (&behind, Owner::Verb) };
        let (word, known) =
            options.read(&word).unwrap_or((word, Known { owner: home, ..VERBS_OWN }));
        if let Some(value) = setup_option(&word) {
            handed_on.extend(match known.value {
                Value::InWord => Some(value),
                Value::NextWord => words.next().map(|(_, word)| word),
            });
            continue;
        }
        let part = match known.owner {
            Owner::Program => &mut line.words,
            Owner::Verb => &mut rest,
            Owner::Drbd => &mut line.of_drbd,
        };
        part.push(word);
        if known.value == Value::NextWord {
            part.extend(words.next().map(|(_, word)| word));
        }
    }
    let mut place = 1;
    for word in handed_on {
        let (word, known) = behind.read(&word).unwrap_or((word, VERBS_OWN));
        match known.owner {
            Owner::Drbd => line.of_drbd.push(word),
            Owner::Program | Owner::Verb => {
                rest.insert(place, word);
                place += 1;
            }
        }
    }
    line.words.extend(rest);
    line
}

/// A word of `-W`, of which the verb is to read what it holds.
fn setup_option(word: &OsStr) -> Option<OsString> {
    let text = word.to_str()?;
    let held = text.strip_prefix("-W").or_else(|| text.strip_prefix("--setup-option"))?;
    Some(held.strip_prefix('=').unwrap_or(held).into())
}

/// Behind the options that stand before it and their values, of whatever verb they are.
fn verb_at(words: &[OsString], command: &Command) -> Option<usize> {
    let of_program = Options::of(command.get_arguments(), Owner::Program);
    let all = command.get_subcommands().fold(of_program, |all, verb| {
        let of_verb = Options::of(verb.get_arguments(), Owner::Verb);
        all.or(of_verb).or(Options::of_drbd(verb.get_name()))
    });
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.to_str()?.starts_with('-') {
            return Some(at);
        }
        at += if all.takes_next(word) { 2 } else { 1 };
    }
    None
}

/// The part of the command line that an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Program,
    Verb,
    Drbd,
}

/// Where the value of an option is, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    InWord,
    NextWord,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    owner: Owner,
    value: Value,
}

/// What a verb has to make something of, or to refuse.
const VERBS_OWN: Known = Known { owner: Owner::Verb, value: Value::InWord };

/// Options by what they are called.
#[derive(Clone, Debug, Default)]
struct Options {
    long: BTreeMap<String, Known>,
    short: BTreeMap<char, Known>,
}

impl Options {
    fn of<'a>(arguments: impl Iterator<Item = &'a Arg>, owner: Owner) -> Self {
        let mut options = Self::default();
        for argument in arguments {
            let takes_next =
                argument.get_action().takes_values() && !argument.is_require_equals_set();
            let value = if takes_next { Value::NextWord } else { Value::InWord };
            let known = Known { owner, value };
            let aliases = argument.get_all_aliases().unwrap_or_default();
            let names = argument.get_long().into_iter().chain(aliases);
            options.long.extend(names.map(|name| (name.to_owned(), known)));
            options.short.extend(argument.get_short().map(|letter| (letter, known)));
        }
        options
    }

    /// The options that a verb takes from DRBD's configuration.
    fn of_drbd(verb: &str) -> Self {
        let known = |spec: &OptionSpec| {
            let value = if spec.kind == Kind::Flag { Value::InWord } else { Value::NextWord };
            Known { owner: Owner::Drbd, value }
        };
        let specs = drbd_options::of_verb(verb);
        Self {
            long: specs.map(|(name, spec)| (name, known(spec))).collect(),
            short: BTreeMap::new(),
        }
    }

    /// The options of `other` count where a name is not taken.
    fn or(mut self, other: Self) -> Self {
        for (name, known) in other.long {
            self.long.entry(name).or_insert(known);
        }
        for (letter, known) in other.short {
            self.short.entry(letter).or_insert(known);
        }
        self
    }

    /// The word with the whole name of the option.
    fn read(&self, word: &OsStr) -> Option<(OsString, Known)> {
        let text = word.to_str()?;
        let Some(long) = text.strip_prefix("--") else { return self.read_letters(text) };
        let (typed, value) = match long.split_once('=') {
            Some((typed, value)) => (typed, Some(value)),
            None => (long, None),
        };
        let mut meant = self.meant(typed);
        // The shortest is the first, and is meant where the others are longer forms of it.
        let (name, known) =
            meant.next().filter(|(name, _)| meant.all(|it| it.0.starts_with(name)))?;
        Some(match value {
            Some(value) => {
                (format!("--{name}={value}").into(), Known { value: Value::InWord, ..known })
            }
            None => (format!("--{name}").into(), known),
        })
    }

    /// The options that a name can mean: the one that is called so, or all that begin so.
    fn meant(&self, typed: &str) -> impl Iterator<Item = (&str, Known)> {
        let is_whole = self.long.contains_key(typed);
        let begins = self.long.range(typed.to_owned()..);
        let meant = begins.take_while(move |(name, _)| name.starts_with(typed));
        let meant = meant.map(|(name, known)| (name.as_str(), *known));
        meant.take(if is_whole { 1 } else { usize::MAX })
    }

    /// Several letters may share a word; the first that takes a value has the rest of it.
    fn read_letters(&self, text: &str) -> Option<(OsString, Known)> {
        let mut letters = text.strip_prefix('-')?.chars();
        let first = *self.short.get(&letters.clone().next()?)?;
        let takes =
            |letter: &char| self.short.get(letter).is_some_and(|it| it.value == Value::NextWord);
        let is_open = letters.by_ref().any(|it| takes(&it)) && letters.next().is_none();
        let value = if is_open { Value::NextWord } else { Value::InWord };
        Some((text.into(), Known { value, ..first }))
    }

    /// Whether the next word is the value of this one, if all that it can mean agree.
    fn takes_next(&self, word: &OsStr) -> bool {
        let text = word.to_str().unwrap_or_default();
        match text.strip_prefix("--") {
            Some(long) if long.is_empty() || long.contains('=') => false,
            Some(long) => {
                let mut meant = self.meant(long).peekable();
                meant.peek().is_some() && meant.all(|(_, it)| it.value == Value::NextWord)
            }
            None => self.read_letters(text).is_some_and(|(_, it)| it.value == Value::NextWord),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, CommandFactory};

    use super::*;
    use crate::adm::arguments::CommandLine;

    fn tools() -> [Command; 2] {
        [definition(CommandLine::command()), definition(crate::setup::command())]
    }

    /// The words, with `|` before DRBD's options.
    fn line(typed: &str) -> String {
        let words = typed.split(' ').map(OsString::from).collect();
        let Line { words, of_drbd } = in_order(words, &tools()[0]);
        let text = |words: Vec<OsString>| words.join(" ".as_ref()).into_string().unwrap();
        if of_drbd.is_empty() {
            return text(words);
        }
        format!("{} | {}", text(words), text(of_drbd))
    }

    #[test]
    fn options_of_the_verb_may_stand_before_it() {
        for (typed, meant) in [
            ("x --force create-md r", "x create-md --force r"),
            (
                "x -vvv --max-peers 7 --force create-md r/0",
                "x -vvv create-md --max-peers 7 --force r/0",
            ),
            ("x --max-peers=7 create-md r/0", "x create-md --max-peers=7 r/0"),
            ("x --clear-bitmap new-current-uuid r/0", "x new-current-uuid --clear-bitmap r/0"),
            ("x -c F --discard-my-data connect r", "x -c F connect --discard-my-data r"),
            ("x --start 0 --stop 8 verify r", "x verify --start 0 --stop 8 r"),
            ("x -dvc F up r", "x -dvc F up r"),
            ("x up -c F r", "x up -c F r"),
            // And the program's behind it.
            ("x sh-nop -t F", "x -t F sh-nop"),
            ("x up r -S", "x -S up r"),
            ("x up r --drbdsetup P --drbdmeta=Q", "x --drbdsetup P --drbdmeta=Q up r"),
            // Which letter is whose depends on the verb.
            ("x verify -s 0 -S 8 r", "x verify -s 0 -S 8 r"),
            ("x -s P verify -s 0 r", "x -s P verify -s 0 r"),
            // An option that nobody knows stays where it is, and clap refuses it there.
            ("x --max-peers 7 primary r", "x --max-peers 7 primary r"),
            ("x nosuch --forc r", "x nosuch --forc r"),
            ("x", "x"),
            ("x --force", "x --force"),
        ] {
            assert_eq!(line(typed), meant, "of {typed}");
        }
    }

    #[test]
    fn what_follows_two_dashes_belongs_to_the_verb() {
        for (typed, meant) in [
            ("x -- --force primary r", "x primary --force r"),
            ("x -c F -- --discard-my-data connect r", "x -c F connect --discard-my-data r"),
            ("x connect r -- --discard-my-data", "x connect r --discard-my-data"),
            ("x -- --size 10G resize r", "x resize --size 10G r"),
            (
                "x -vvv --max-peers 7 -- --force create-md r/0",
                "x -vvv create-md --max-peers 7 --force r/0",
            ),
            ("x -- --overwrite-data-of-peer primary all", "x primary --overwrite-data-of-peer all"),
            ("x -- --overwrite primary all", "x primary --overwrite-data-of-peer all"),
            ("x -- --overwrite-data-of-peer down r", "x down --overwrite-data-of-peer r"),
            ("x down r -- -- --force", "x down r -- --force"),
            // drbdadm's other way to hand words on, one at a time.
            ("x -W--force primary r", "x primary --force r"),
            ("x -W --force primary r", "x primary --force r"),
            ("x --setup-option=--force primary r", "x primary --force r"),
            ("x --setup-o --force primary r", "x primary --force r"),
            ("x primary r -W--forc", "x primary --force r"),
            ("x -W--start=0 -W--stop=8 verify r", "x verify --start=0 --stop=8 r"),
            ("x -W--quorum=off resource-options r", "x resource-options r | --quorum=off"),
            ("x -W--nosuch up r", "x up --nosuch r"),
        ] {
            assert_eq!(line(typed), meant, "of {typed}");
        }
    }

    #[test]
    fn names_of_options_may_be_cut_short() {
        for (typed, meant) in [
            ("x primary --forc r", "x primary --force r"),
            ("x primary --f=yes r", "x primary --force=yes r"),
            ("x --forc primary r", "x primary --force r"),
            ("x --max-p 7 create-md r", "x create-md --max-peers 7 r"),
            ("x --verb up r", "x --verbose up r"),
            ("x adjust --skip-d r", "x adjust --skip-disk r"),
            ("x net-options --timeo=60 r", "x net-options r | --timeout=60"),
            // Of names that begin so, one is the beginning of the others.
            ("x resource-options --quo off r", "x resource-options r | --quorum off"),
            ("x new-resource r --quorum-m=2", "x new-resource r | --quorum-minimum-redundancy=2"),
            // Two begin so.
            ("x adjust --skip r", "x adjust --skip r"),
            ("x events2 --n r", "x events2 --n r"),
        ] {
            assert_eq!(line(typed), meant, "of {typed}");
        }
    }

    #[test]
    fn behind_such_a_verb_a_name_of_drbds_is_drbds() {
        for (typed, meant) in [
            ("x net-options r --timeout=60", "x net-options r | --timeout=60"),
            ("x net-options --timeout 60 r", "x net-options r | --timeout 60"),
            ("x --timeout 5 net-options r", "x --timeout 5 net-options r"),
            (
                "x -c net-options new-peer r --timeout=6",
                "x -c net-options new-peer r | --timeout=6",
            ),
            ("x net-options --json --tls r", "x net-options --json r | --tls"),
            ("x --quorum=off resource-options r", "x resource-options r | --quorum=off"),
            ("x --quorum off resource-options r", "x resource-options r | --quorum off"),
            ("x disk-options --no-md-flushes 1", "x disk-options 1 | --no-md-flushes"),
            ("x disk-options --timeout=5 1", "x disk-options --timeout=5 1"),
            ("x status --timeout=5 r", "x status --timeout=5 r"),
            ("x -- --timeout=6 net-options r", "x net-options r | --timeout=6"),
            ("x net-options r -- --timeout=6", "x net-options r | --timeout=6"),
            ("x net-options r -- -- --timeout=6", "x net-options r -- --timeout=6"),
        ] {
            assert_eq!(line(typed), meant, "of {typed}");
        }
    }

    /// A verb is found behind a value that is not known to be one otherwise.
    #[test]
    fn an_option_takes_a_value_in_all_verbs_or_in_none() {
        for tool in tools() {
            let mut all: BTreeMap<String, (Value, String)> = BTreeMap::new();
            for verb in tool.get_subcommands() {
                let own = Options::of(verb.get_arguments(), Owner::Verb);
                for (name, known) in Options::of_drbd(verb.get_name()).or(own).long {
                    let of = verb.get_name().to_owned();
                    let (value, other) =
                        all.entry(name.clone()).or_insert_with(|| (known.value, of.clone()));
                    assert_eq!(known.value, *value, "--{name} of {of} and of {other}");
                }
            }
            assert!(all.len() > 20, "{all:?}");
        }
    }

    #[test]
    fn every_flag_takes_yes_and_no() {
        for tool in tools() {
            let mut flags = 0;
            for verb in tool.get_subcommands() {
                let is_flag = |it: &&Arg| matches!(it.get_action(), ArgAction::SetTrue);
                for flag in verb.get_arguments().filter(is_flag) {
                    let Some(name) = flag.get_long() else { continue };
                    flags += 1;
                    for (values, is_set) in [
                        (&[""][..], true),
                        (&["=yes"], true),
                        (&["=no"], false),
                        (&["=yes", "=no"], false),
                        (&["=no", ""], true),
                    ] {
                        let words = values.iter().map(|value| format!("--{name}{value}"));
                        let words = std::iter::once("x".to_owned()).chain(words);
                        // Without the names that the verb needs.
                        let verb = verb.clone().ignore_errors(true);
                        let found = verb.try_get_matches_from(words).unwrap();
                        let found = found.get_flag(flag.get_id().as_str());
                        assert_eq!(found, is_set, "--{name} with {values:?}");
                    }
                }
            }
            assert!(flags > 20, "{flags} flags");
        }
    }
}
