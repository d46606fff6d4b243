//! Values as they are typed behind flags, and written in `node.conf`: one parser reads both.
//!
//! A flag takes `=yes` and `=no`, and counts as `yes` without either.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::{Arg, ArgAction, Command};

const YES: [&str; 6] = ["yes", "y", "true", "t", "on", "1"];
const NO: [&str; 6] = ["no", "n", "false", "f", "off", "0"];

pub(crate) fn yes_or_no(text: &str) -> Result<bool, String> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (is_one_of(&YES), is_one_of(&NO)) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => Err("it is yes or no".to_owned()),
    }
}

/// The definition of a tool whose flags, and those of its verbs, take yes and no.
pub(crate) fn with_values(command: Command) -> Command {
    command.mut_args(flag_with_value).mut_subcommands(with_values)
}

pub(crate) fn flag_with_value(argument: Arg) -> Arg {
    if !matches!(argument.get_action(), ArgAction::SetTrue) {
        return argument;
    }
    let argument = argument.num_args(0..=1).require_equals(true).value_name("yes|no");
    argument.value_parser(yes_or_no)
}

/// Whether these words, which need not be right, ask for an answer in JSON.
pub(crate) fn asks_for_json(words: &[OsString]) -> bool {
    let own = words.iter().take_while(|word| *word != "--");
    let asked = own.filter_map(|word| match word.to_str()?.strip_prefix("--json")? {
        "" => Some(true),
        value => yes_or_no(value.strip_prefix('=')?).ok(),
    });
    asked.last().unwrap_or(false)
}

pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_no_address| {
        "it takes an IP address and a port from 0 to 65535, as 127.0.0.1:10809 or [::1]:10809"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{Arguments, adm, daemon, setup};

    /// The program's own definition, and those of the tools that read their own words.
    fn tools() -> Vec<Command> {
        let adm = adm::arguments::CommandLine::command();
        vec![Arguments::command(), adm, setup::command(), daemon::command()]
    }

    /// Each tool and each of its verbs, without what they need besides.
    fn verbs(command: &Command) -> Vec<Command> {
        let own = command.get_subcommands().flat_map(verbs);
        std::iter::once(command.clone().ignore_errors(true)).chain(own).collect()
    }

    fn all_verbs() -> Vec<Command> {
        tools().into_iter().map(with_values).flat_map(|tool| verbs(&tool)).collect()
    }

    #[test]
    fn every_flag_of_every_tool_takes_yes_and_no() {
        let mut flags = 0;
        for verb in all_verbs() {
            let is_flag = |it: &&Arg| matches!(it.get_action(), ArgAction::SetTrue);
            for flag in verb.get_arguments().filter(is_flag) {
                let Some(name) = flag.get_long() else { continue };
                flags += 1;
                for (value, is_set) in
                    [("", true), ("=yes", true), ("=no", false), ("=off", false), ("=ON", true)]
                {
                    let words = ["x".to_owned(), format!("--{name}{value}")];
                    let found = verb.clone().try_get_matches_from(words).unwrap();
                    let found = found.get_flag(flag.get_id().as_str());
                    assert_eq!(found, is_set, "{} --{name}{value}", verb.get_name());
                }
            }
        }
        assert!(flags > 60, "{flags} flags");
    }

    /// What a parser of Rust's own says of a number has neither its range nor its unit.
    #[test]
    fn every_number_is_refused_with_its_range() {
        let of_rust =
            ["invalid digit", "too large to fit", "too small to fit", "is not in ", "empty string"];
        let mut ranges = 0;
        for verb in all_verbs() {
            let verb = verb.ignore_errors(false);
            for arg in verb.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                for word in ["x1", "99999999999999999999999", "1.5.1", "-1"] {
                    let mut words = vec!["x".to_owned()];
                    match arg.get_long() {
                        Some(name) => words.push(format!("--{name}={word}")),
                        None => words.extend([word.to_owned()]),
                    }
                    // It may lack other words; of this one alone is asked here.
                    let Err(error) = verb.clone().try_get_matches_from(words) else { continue };
                    let told = error.to_string();
                    for part in of_rust.iter().chain(&["invalid float", "invalid socket"]) {
                        let name = verb.get_name();
                        assert!(!told.contains(part), "{name} of {:?}: {told}", arg.get_id());
                    }
                    ranges += usize::from(told.contains("it takes a number from"));
                }
            }
        }
        assert!(ranges > 60, "{ranges} numbers");
    }

    #[test]
    fn json_is_asked_for_by_the_last_word_of_it() {
        for (typed, is_asked) in [
            ("x", false),
            ("x --json", true),
            ("x --json=no", false),
            ("x --json=no --json", true),
            ("x -- --json", false),
            ("x --jsonify", false),
        ] {
            let words: Vec<_> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(asks_for_json(&words), is_asked, "{typed}");
        }
    }

    #[test]
    fn word_that_is_no_address_is_told_so_with_an_example() {
        assert_eq!(address("[::1]:7").unwrap().port(), 7);
        for text in ["", "here", "127.0.0.1", "127.0.0.1:65536", "localhost:1"] {
            assert!(address(text).unwrap_err().contains("127.0.0.1:10809"), "{text}");
        }
    }
}
