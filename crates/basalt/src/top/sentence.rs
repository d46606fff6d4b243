//! The sentences that the screen has beside its tables: of a daemon that owes an answer, and of
//! rows that are not there.
//!
//! docs/operate/messages/top.md has them all, and tidy asks for each variant there.

use std::fmt;
use std::io::ErrorKind;

use api::client::AskError;
use api::wire::WireError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    NoTerminal,
    Waiting,
    /// No question was answered for so long.
    Silent {
        seconds: u64,
    },
    Unreachable {
        reason: String,
    },
    NotAllowed {
        reason: String,
    },
    Ended,
    NotUnderstood {
        reason: String,
    },
    /// The answer is to another question.
    Confused,
    /// The daemon answered with its own words.
    Refused {
        reason: String,
    },
    NothingUp,
    NoneMatches {
        filter: String,
    },
    /// So many lines of the chosen row have no room.
    More {
        lines: usize,
        resource: String,
    },
}

impl Sentence {
    /// Why a question has no answer. The seconds are for the screen to fill in.
    pub(super) fn of(error: &AskError) -> Self {
        let reason = error.to_string();
        match error {
            AskError::Unreachable { source, .. }
                if source.kind() == ErrorKind::PermissionDenied =>
            {
                Self::NotAllowed { reason }
            }
            AskError::Unreachable { .. } => Self::Unreachable { reason },
            AskError::ConnectTimeout { .. } | AskError::AnswerTimeout { .. } => {
                Self::Silent { seconds: 0 }
            }
            AskError::Wire {
                source: WireError::Closed | WireError::Cut | WireError::Io(_),
                ..
            } => Self::Ended,
            AskError::Wire { .. } => Self::NotUnderstood { reason },
            AskError::Refused(_) => Self::Refused { reason },
        }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => f.write_str(
                "standard output is no terminal; `basalt adm status` is for pipes and files",
            ),
            Self::Waiting => f.write_str("basalt top: waiting for the daemon"),
            Self::Silent { seconds } => write!(
                f,
                "no answer for {seconds} s: `journalctl -u basalt-node` tells what the daemon did \
                 last, `systemctl restart basalt-node` ends and starts one that hangs"
            ),
            Self::Unreachable { reason } => write!(
                f,
                "{reason}: `systemctl start basalt-node` starts it; --node-socket names the socket \
                 of another one"
            ),
            Self::NotAllowed { reason } => {
                write!(f, "{reason}: run `basalt top` as the user of the daemon, or as root")
            }
            Self::Ended => f.write_str(
                "the daemon ended meanwhile: `systemctl status basalt-node` and its log say why",
            ),
            Self::NotUnderstood { reason } => write!(
                f,
                "{reason}: compare `basalt --version` with the version of the daemon, whose log \
                 may say more"
            ),
            Self::Confused => f.write_str(
                "the daemon answered another question: compare `basalt --version` with the version \
                 of the daemon",
            ),
            Self::Refused { reason } => f.write_str(reason),
            Self::NothingUp => f.write_str(
                "no resource is up on this node: `basalt adm up all` takes those up that the \
                 configuration has",
            ),
            Self::NoneMatches { filter } => {
                write!(f, "no name here has `{filter}` in it: Esc ends the filter")
            }
            Self::More { lines, resource } => {
                write!(f, "lines without room: {lines}; `basalt explain {resource}` tells all")
            }
        }
    }
}
