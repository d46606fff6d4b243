//! What can go wrong, in drbdadm's two classes and with its exit codes.
//!
//! DRBD tells a refused configuration (`Failure: (158) ...`, exit 10) from a refused change of
//! state (`State change failed: (-2) ...`, exit 11, for some states another). The class line comes
//! first, because scripts look for it; then what failed and where, and what to type next.

use std::fmt::Write;
use std::path::Path;

use api::client::AskError;
use api::response::{Failure, FailureCode};
use api::wire::WireError;
use config::diagnostic::{Diagnostic, ErrorKind, Errors};
use serde::Serialize;

use crate::adm::advice::Advice;
use crate::called;

const SYNTAX_EXIT: u8 = 2;
const WAIT_TIMEOUT_EXIT: u8 = 5;
const CONFIGURATION_EXIT: u8 = 10;
const STATE_EXIT: u8 = 11;
const NO_LOCAL_DISK_EXIT: u8 = 16;
const NO_UP_TO_DATE_DATA_EXIT: u8 = 17;
const OTHER_EXIT: u8 = 20;

/// Where block devices have names of their own; made with the first one.
const DEVICE_LINKS: &str = "/dev/basalt/by-res";

/// `status` of DRBD's has words of its own for a resource that it does not know.
const NOTHING_TO_SHOW: &str = "No such resource";

#[derive(Debug, thiserror::Error)]
pub(crate) enum AdmError {
    #[error("{0}")]
    Usage(String),
    /// The configuration file cannot be read or does not parse; the text is complete.
    #[error(transparent)]
    Parse(Errors),
    /// The configuration parses, and does not allow what is asked.
    #[error("{message}")]
    Configuration { message: String, hint: String },
    /// `wait-connect` and `wait-sync` gave up.
    #[error("{what} did not come: {reason}")]
    WaitTimeout { what: &'static str, reason: String, hint: String },
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("the node daemon answered `{verb}` with an answer to another question")]
    Confused { verb: &'static str },
    #[error(transparent)]
    CreateMd(#[from] node::create_md::CreateMdError),
    #[error(transparent)]
    AdoptDrbd(#[from] node::adopt_drbd::AdoptError),
    /// The process that works on a disk does not come back.
    #[error("it did not end within {} s", limit.as_secs_f64())]
    DiskTimeout { limit: std::time::Duration },
    #[error(
        "the configuration file {} was not read within {} s: its file system gives no answer",
        path.display(),
        limit.as_secs_f64()
    )]
    FileTimeout { path: std::path::PathBuf, limit: std::time::Duration },
    #[error("cannot have another process do it: {source}")]
    NoProcess { source: std::io::Error },
    /// The process that worked on a disk said nothing at its end.
    #[error("the process that did it was ended by {by}")]
    ProcessEnded { by: String },
    #[error("cannot learn the name of this host from {path}: {source}")]
    HostName { path: &'static str, source: std::io::Error },
}

/// An error as `--json` shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorObject {
    pub(crate) code: String,
    #[serde(rename = "drbd-code", skip_serializing_if = "Option::is_none")]
    pub(crate) drbd_code: Option<i32>,
    /// The place of a mistake of a file, from 1; absent where the error is of no file, and
    /// `line` and `column` where it is about the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    pub(crate) message: String,
    pub(crate) hint: String,
    /// The same as `hint`.
    #[serde(rename = "try")]
    pub(crate) to_try: String,
    /// Why the resource is as it is, of a command that waited in vain: what `status` says of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<String>,
    pub(crate) exit: u8,
}

/// The file names no such peer of this node.
pub(crate) fn no_peer(peer: &str, names: &[&str]) -> AdmError {
    let message = format!("the resource has no peer `{peer}`");
    AdmError::configuration(message, format!("one of {}", names.join(", ")))
}

impl AdmError {
    pub(crate) fn configuration(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Configuration { message: message.into(), hint: hint.into() }
    }

    /// The resource is not up.
    pub(crate) fn is_of_unknown_resource(&self) -> bool {
        matches!(self, Self::Ask(AskError::Refused(failure))
            if failure.code == FailureCode::UnknownResource)
    }

    pub(crate) fn exit(&self) -> u8 {
        match self {
            Self::Usage(_) => called::usage_exit(),
            Self::Parse(errors) => parse_exit(errors),
            Self::Configuration { .. } => CONFIGURATION_EXIT,
            Self::WaitTimeout { .. } => WAIT_TIMEOUT_EXIT,
            Self::Ask(AskError::Refused(failure)) => class(failure.code).exit,
            Self::Ask(_) | Self::Confused { .. } | Self::HostName { .. } => OTHER_EXIT,
            Self::CreateMd(error) if error.is_refusal() => CONFIGURATION_EXIT,
            Self::AdoptDrbd(error) if error.is_refusal() => CONFIGURATION_EXIT,
            Self::CreateMd(_)
            | Self::AdoptDrbd(_)
            | Self::DiskTimeout { .. }
            | Self::FileTimeout { .. }
            | Self::ProcessEnded { .. }
            | Self::NoProcess { .. } => OTHER_EXIT,
        }
    }

    /// Lines for standard error. `place` is the resource, or the program where there is none.
    pub(crate) fn text(&self, place: &str, verb: &str) -> String {
        let mut text = String::new();
        let written = match self {
            Self::Parse(errors) => writeln!(text, "{errors}"),
            Self::Usage(_)
            | Self::Configuration { .. }
            | Self::WaitTimeout { .. }
            | Self::DiskTimeout { .. }
            | Self::ProcessEnded { .. }
            | Self::NoProcess { .. }
            | Self::AdoptDrbd(_)
            | Self::CreateMd(_) => {
                writeln!(text, "{place}: {verb}: {self}")
            }
            Self::Ask(AskError::Refused(failure)) => {
                let class = match (failure.code, verb) {
                    (FailureCode::UnknownResource, "status") => NOTHING_TO_SHOW,
                    (code, _) => class(code).text,
                };
                writeln!(text, "{place}: {class}\n  {verb}: {}", failure.message)
            }
            Self::Ask(_)
            | Self::Confused { .. }
            | Self::FileTimeout { .. }
            | Self::HostName { .. } => {
                writeln!(text, "{}: {self}", called::program())
            }
        };
        written.expect("writing to a string does not fail");
        // What stands in a file stays as it stands there.
        if !matches!(self, Self::Parse(_)) {
            text = called::in_its_words(&text);
        }
        let hint = called::in_its_words(&self.hint());
        if !hint.is_empty() {
            writeln!(text, "  try: {hint}").expect("writing to a string does not fail");
        }
        text
    }

    /// One for each mistake of a file, else one.
    pub(crate) fn objects(&self) -> Vec<ErrorObject> {
        if let Self::Parse(errors) = self {
            return errors.list.iter().map(|mistake| self.of_mistake(mistake)).collect();
        }
        vec![self.object()]
    }

    fn of_mistake(&self, mistake: &Diagnostic) -> ErrorObject {
        let hint = called::in_its_words(&to_try(mistake));
        let of_place = |number: usize| Some(number).filter(|number| *number > 0);
        ErrorObject {
            code: "syntax".to_owned(),
            drbd_code: None,
            file: Some(mistake.file.clone()),
            line: of_place(mistake.line),
            column: of_place(mistake.column),
            message: mistake.message.clone(),
            to_try: hint.clone(),
            hint,
            exit: self.exit(),
            reasons: Vec::new(),
        }
    }

    fn object(&self) -> ErrorObject {
        let (code, drbd_code, message) = match self {
            Self::Ask(AskError::Refused(failure)) => {
                (code_word(failure), class(failure.code).number, failure.message.clone())
            }
            Self::Usage(_) => ("usage".to_owned(), None, self.to_string()),
            Self::Parse(_) => ("syntax".to_owned(), None, self.to_string()),
            Self::Configuration { .. } => ("configuration".to_owned(), None, self.to_string()),
            Self::WaitTimeout { .. } | Self::DiskTimeout { .. } | Self::FileTimeout { .. } => {
                ("timeout".to_owned(), None, self.to_string())
            }
            Self::Ask(AskError::Unreachable { .. } | AskError::ConnectTimeout { .. }) => {
                ("unreachable".to_owned(), None, self.to_string())
            }
            Self::Ask(AskError::AnswerTimeout { .. }) => {
                ("no-answer".to_owned(), None, self.to_string())
            }
            Self::Ask(AskError::Wire { .. }) | Self::Confused { .. } => {
                ("protocol".to_owned(), None, self.to_string())
            }
            Self::CreateMd(_) | Self::AdoptDrbd(_) => {
                ("metadata".to_owned(), None, self.to_string())
            }
            Self::HostName { .. } => ("host-name".to_owned(), None, self.to_string()),
            Self::NoProcess { .. } | Self::ProcessEnded { .. } => {
                ("no-process".to_owned(), None, self.to_string())
            }
        };
        let message = called::in_its_words(&message);
        let hint = called::in_its_words(&self.hint());
        ErrorObject {
            code,
            drbd_code,
            file: None,
            line: None,
            column: None,
            message,
            to_try: hint.clone(),
            hint,
            reasons: Vec::new(),
            exit: self.exit(),
        }
    }

    fn hint(&self) -> String {
        let advice = match self {
            Self::Parse(_) => return String::new(),
            Self::Configuration { hint, .. } | Self::WaitTimeout { hint, .. } => {
                return hint.clone();
            }
            Self::Ask(AskError::Refused(failure)) => return failure.hint.clone(),
            Self::CreateMd(error) => return error.hint(),
            Self::AdoptDrbd(error) => return error.hint(),
            Self::Usage(_) => Advice::Help(called::program()),
            Self::Ask(AskError::Unreachable { source, .. })
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Advice::AsItsUser
            }
            Self::Ask(AskError::Unreachable { socket, .. }) => {
                Advice::unreached(socket, Path::new(DEVICE_LINKS))
            }
            Self::Ask(AskError::AnswerTimeout { verb, .. }) if !is_question(verb) => {
                Advice::MayTakeEffect
            }
            Self::Ask(AskError::ConnectTimeout { .. } | AskError::AnswerTimeout { .. }) => {
                Advice::WaitLonger
            }
            Self::Ask(AskError::Wire {
                source: WireError::Closed | WireError::Cut | WireError::Io(_),
                ..
            }) => Advice::DaemonEnded,
            Self::Ask(AskError::Wire { .. }) | Self::Confused { .. } => Advice::CompareVersions,
            Self::DiskTimeout { .. } => Advice::LookAtDisk,
            Self::FileTimeout { .. } => Advice::AnotherFile,
            Self::HostName { .. } => Advice::NameNode,
            Self::ProcessEnded { .. } => Advice::Repeat,
            Self::NoProcess { .. } => Advice::LookAtMemory,
        };
        advice.to_string()
    }
}

/// An operator tries this about a mistake of a file.
fn to_try(mistake: &Diagnostic) -> String {
    let words = match &mistake.suggestion {
        Some(word) => Some(format!("did you mean `{word}`?")),
        None if mistake.allowed.is_empty() => None,
        None => Some(format!("one of {}", mistake.allowed.join(", "))),
    };
    words.into_iter().chain(mistake.hint.clone()).collect::<Vec<_>>().join("; ")
}

/// DRBD tells a text that is not of the grammar from one that is and cannot be meant.
fn parse_exit(errors: &Errors) -> u8 {
    let is_syntax = errors.list.iter().any(|diagnostic| match diagnostic.kind {
        ErrorKind::BadCharacter
        | ErrorKind::UnterminatedString
        | ErrorKind::TooLong
        | ErrorKind::UnexpectedToken
        | ErrorKind::UnexpectedEnd
        | ErrorKind::UnknownWord
        | ErrorKind::NotText => true,
        ErrorKind::Unreadable
        | ErrorKind::TooLarge
        | ErrorKind::IncludeDepth
        | ErrorKind::IncludeMissing
        | ErrorKind::BadValue
        | ErrorKind::OutOfRange
        | ErrorKind::BadAddress
        | ErrorKind::NotSupported
        | ErrorKind::Duplicate
        | ErrorKind::Missing
        | ErrorKind::UnknownHost
        | ErrorKind::Contradiction => false,
    });
    if is_syntax { SYNTAX_EXIT } else { CONFIGURATION_EXIT }
}

/// It changes nothing.
fn is_question(verb: &str) -> bool {
    matches!(verb, "status" | "show" | "events2")
}

/// The code as the daemon sent it.
fn code_word(failure: &Failure) -> String {
    match serde_json::to_value(failure.code) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => "other".to_owned(),
    }
}

/// DRBD's class of a refusal: its line, its number and its exit code.
struct Class {
    text: &'static str,
    number: Option<i32>,
    exit: u8,
}

fn class(code: FailureCode) -> Class {
    let configuration = |text, number| Class { text, number, exit: CONFIGURATION_EXIT };
    let state = |text, exit| Class { text, number: code.drbd_number(), exit };
    match code {
        FailureCode::AddressInUse => {
            configuration("Failure: (102) Local address(port) already in use", Some(102))
        }
        FailureCode::DiskFailed => {
            configuration("Failure: (104) Can not open or use the backing device", Some(104))
        }
        FailureCode::AlreadyAttached => configuration(
            "Failure: (124) Device is attached to a disk (use detach first)",
            Some(124),
        ),
        FailureCode::NoMetadata => {
            configuration("Failure: (119) No valid meta data found", Some(119))
        }
        FailureCode::MetadataMismatch => {
            configuration("Failure: (119) Meta data of something else found", Some(119))
        }
        FailureCode::UnknownResource => configuration("Failure: (158) Unknown resource", Some(158)),
        FailureCode::UnknownPeer
        | FailureCode::InvalidConfig
        | FailureCode::NotOnThisNode
        | FailureCode::NotSupported => {
            configuration("Failure: (162) Invalid configuration request", Some(162))
        }
        FailureCode::MultiplePrimaries => {
            state("State change failed: (-1) Multiple primaries not allowed by config", STATE_EXIT)
        }
        FailureCode::NoUpToDateData => {
            state("State change failed: (-2) Need access to UpToDate data", NO_UP_TO_DATE_DATA_EXIT)
        }
        FailureCode::NoLocalDisk => {
            state("State change failed: (-4) Need a local disk", NO_LOCAL_DISK_EXIT)
        }
        FailureCode::PeerRefused => {
            state("State change failed: (-10) State change was refused by peer node", STATE_EXIT)
        }
        FailureCode::DeviceInUse => {
            state("State change failed: (-12) Device is held open by someone", STATE_EXIT)
        }
        FailureCode::Timeout => {
            state("State change failed: (-23) Timeout in operation", STATE_EXIT)
        }
        FailureCode::Unfinished => state("Not done yet", WAIT_TIMEOUT_EXIT),
        FailureCode::NoQuorum => state("State change failed: (-25) No quorum", STATE_EXIT),
        FailureCode::StateRefused => state("State change failed", STATE_EXIT),
        FailureCode::BadRequest
        | FailureCode::VersionMismatch
        | FailureCode::Internal
        | FailureCode::Other => Class { text: "Failure", number: None, exit: OTHER_EXIT },
    }
}
