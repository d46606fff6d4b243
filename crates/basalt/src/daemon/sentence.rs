//! What is wrong with the file of `basalt node --config`, or with the words beside it, and what to
//! type. docs/operate/messages has the rows in node-conf.md.

use std::fmt;
use std::path::PathBuf;

/// A mistake in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Line(Flaw),
    MoreLines {
        count: usize,
    },
    Unreadable {
        path: PathBuf,
        error: String,
    },
    NoFile,
    Large {
        path: PathBuf,
        kib: u64,
    },
    Twice {
        name: String,
        first: usize,
    },
    TypedOnly {
        name: String,
    },
    Unknown {
        name: String,
        nearest: Option<String>,
    },
    Value {
        name: String,
        value: String,
        /// In the words of the parser.
        reason: Option<String>,
        form: String,
    },
    /// In the words of the parser.
    Words {
        told: String,
    },
    NoStateDir {
        way: Way,
    },
    NoNvmeAddress {
        way: Way,
    },
    NoName {
        error: String,
        way: Way,
    },
}

/// Each of these makes a line unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Foreign,
    Control,
    NoEquals,
    NoName,
    NoValue,
    OpenQuote,
    BehindQuote,
    QuoteInside,
}

/// Where an option that is missing may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    InFile { option: &'static str, value: String },
    InWords { option: &'static str, value: String },
}

impl Wrong {
    /// An operator types this.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Line(flaw) => flaw.hint().to_owned(),
            Self::MoreLines { .. } => "look whether it is the right file: `basalt node --config \
                                       FILE` names another one"
                .to_owned(),
            Self::Unreadable { path, .. } => format!(
                "`ls -l {}` shows whether it is there, and who may read it; `basalt node --config \
                 FILE` names another file",
                path.display()
            ),
            Self::NoFile => "write the options into a file; `basalt node --config FILE` names \
                             another file"
                .to_owned(),
            Self::Large { path, .. } => format!(
                "a file with every option has a tenth of that: `head {}` shows what it is; `basalt \
                 node --config FILE` names another file",
                path.display()
            ),
            Self::Twice { first, .. } => {
                format!("it was first given at line {first}: take one of both lines out")
            }
            Self::TypedOnly { .. } => "take the line out".to_owned(),
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { nearest: None, .. } => {
                "`basalt node --help` lists the options; here they stand without dashes".to_owned()
            }
            Self::Value { name, form, .. } => {
                format!("write `{name} = {form}`; `basalt node --help` says what it means")
            }
            Self::Words { .. } => "`basalt node --help` lists the options".to_owned(),
            Self::NoStateDir { way } | Self::NoNvmeAddress { way } | Self::NoName { way, .. } => {
                way.to_string()
            }
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(flaw) => flaw.fmt(f),
            Self::MoreLines { count } => write!(f, "{count} more lines cannot be read"),
            Self::Unreadable { error, .. } => write!(f, "cannot read it: {error}"),
            Self::NoFile => f.write_str("it is no regular file"),
            Self::Large { kib, .. } => write!(f, "it has more than {kib} KiB"),
            Self::Twice { name, .. } => write!(f, "{name} is given a second time"),
            Self::TypedOnly { name } => write!(f, "{name} is for the command line alone"),
            Self::Unknown { name, .. } => write!(f, "there is no option {name:?}"),
            Self::Value { name, value, reason, .. } => {
                write!(f, "{name} cannot be {value:?}")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Self::Words { told } => f.write_str(told),
            Self::NoStateDir { .. } => {
                f.write_str("no state directory is given; it is /var/lib/basalt for most")
            }
            Self::NoNvmeAddress { .. } => {
                f.write_str("nvme-auth is given, and there is no address to serve NVMe/TCP at")
            }
            Self::NoName { error, .. } => f.write_str(error),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => "this line is not UTF-8",
            Self::Control => "this line has a control character in it",
            Self::NoEquals => "there is no `=` in this line",
            Self::NoName => "there is no name in front of the `=`",
            Self::NoValue => "there is no value behind the `=`",
            Self::OpenQuote => "the quote at the start of the value is not closed",
            Self::BehindQuote => "something stands behind the closing quote",
            Self::QuoteInside => "there is a quote inside of the value",
        })
    }
}

impl Flaw {
    fn hint(self) -> &'static str {
        match self {
            Self::Foreign | Self::Control => "type the line anew, in an editor",
            Self::NoEquals | Self::NoName => {
                "write `name = value`, or `name = yes` for a flag without a value; `#` begins a \
                 comment"
            }
            Self::NoValue => "write the value, or take the line out to leave the option as it is",
            Self::OpenQuote | Self::BehindQuote => "write `name = \"value\"`",
            Self::QuoteInside => "a value has quotes around it, or none; there is no escape",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InFile { option, value } => write!(f, "write a line `{option} = {value}`"),
            Self::InWords { option, value } => {
                write!(f, "type --{option} {value}, or name a file of options with --config")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adm::explain::rows::{self, Row};

    fn wrongs() -> Vec<(&'static str, Wrong)> {
        let path = || PathBuf::from("/etc/basalt/node.conf");
        let flaws = [
            ("bytes of another encoding", Flaw::Foreign),
            ("an escape sequence", Flaw::Control),
            ("`nbd 127.0.0.1:10809`", Flaw::NoEquals),
            ("`= 127.0.0.1:10809`", Flaw::NoName),
            ("`nbd =`", Flaw::NoValue),
            ("`vhost = \"/srv`", Flaw::OpenQuote),
            ("`vhost = \"/srv\" x`", Flaw::BehindQuote),
            ("`vhost = /s\"rv\"`", Flaw::QuoteInside),
        ];
        let flaws = flaws.map(|(situation, flaw)| (situation, Wrong::Line(flaw)));
        let unknown = |nearest: Option<&str>| Wrong::Unknown {
            name: "nmae".to_owned(),
            nearest: nearest.map(str::to_owned),
        };
        let in_file = |option, value: &str| Way::InFile { option, value: value.to_owned() };
        let in_words = |option, value: &str| Way::InWords { option, value: value.to_owned() };
        let error = "the host name of this machine is no name of a host".to_owned();
        let others = vec![
            ("a file of another kind", Wrong::MoreLines { count: 980 }),
            (
                "the file is not there",
                Wrong::Unreadable {
                    path: path(),
                    error: "No such file or directory (os error 2)".to_owned(),
                },
            ),
            ("`--config` of a folder", Wrong::NoFile),
            ("a large file", Wrong::Large { path: path(), kib: 64 }),
            ("two lines of an option", Wrong::Twice { name: "name".to_owned(), first: 1 }),
            ("`config = a`", Wrong::TypedOnly { name: "config".to_owned() }),
            ("a name that is nearly one", unknown(Some("name"))),
            ("a name that is none", unknown(None)),
            (
                "a value out of bounds",
                Wrong::Value {
                    name: "shards".to_owned(),
                    value: "many".to_owned(),
                    reason: Some("it takes a number from 1 to 8: threads".to_owned()),
                    form: "SHARDS".to_owned(),
                },
            ),
            (
                "`--nonsense`",
                Wrong::Words { told: "unexpected argument '--nonsense' found".to_owned() },
            ),
            ("with a file", Wrong::NoStateDir { way: in_file("state-dir", "DIR") }),
            ("without a file", Wrong::NoStateDir { way: in_words("state-dir", "DIR") }),
            ("with a file", Wrong::NoNvmeAddress { way: in_file("nvme", "ADDRESS:PORT") }),
            ("the host name cannot be told", Wrong::NoName { error, way: in_file("name", "NAME") }),
        ];
        flaws.into_iter().chain(others).collect()
    }

    #[test]
    fn rows_of_the_file_of_options_are_those_of_the_page() {
        let rows = wrongs().into_iter().map(|(situation, wrong)| Row {
            variant: rows::variant_of(&wrong),
            situation: situation.to_owned(),
            sentence: format!("{wrong}; try: {}", wrong.hint()),
        });
        rows::check(("node-conf.md", "What is wrong with `node.conf`"), rows.collect());
    }
}
