//! The sentences about the nodes of a cluster's report: on standard error while it is made, in its
//! README, and in the answer.
//!
//! docs/operate/messages/report.md has them all, and tidy asks for each variant there.

use std::fmt;

/// How far the report of a node came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Whole { files: usize },
    Part { files: usize, why: Missing },
    Nothing { why: Missing },
}

/// Why the rest is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    NotInTime {
        seconds: u64,
    },
    /// In the last words of the command, if there were any.
    Ended {
        words: String,
    },
    NotStarted {
        command: String,
        error: String,
    },
    /// It said something else than a report.
    NotAReport {
        error: String,
        words: String,
    },
    TooMuch,
    /// Neither a file nor the daemon tells which other nodes there are.
    NotNamed {
        error: String,
    },
}

/// What the command says of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Waits { told: usize, all: usize, nodes: String },
    Lacks { nodes: String },
    Contents { version: &'static str },
}

impl Told {
    pub(super) fn files(&self) -> usize {
        match self {
            Self::Whole { files } | Self::Part { files, .. } => *files,
            Self::Nothing { .. } => 0,
        }
    }

    pub(super) fn missing(&self) -> Option<&Missing> {
        match self {
            Self::Whole { .. } => None,
            Self::Part { why, .. } | Self::Nothing { why } => Some(why),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { files } => write!(f, "its report is whole: {files} files"),
            Self::Part { files, why } => write!(f, "only {files} files came: {why}"),
            Self::Nothing { why } => write!(f, "nothing came: {why}"),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |words: &str| {
            if words.is_empty() { String::new() } else { format!("; its last words: {words}") }
        };
        match self {
            Self::NotInTime { seconds } => write!(
                f,
                "the node did not tell all within {seconds} s; wait longer with --timeout, or \
                 type `basalt adm report` on it"
            ),
            Self::Ended { words } => write!(
                f,
                "the command ended too soon{}; --ssh names another command to reach the node with",
                last(words)
            ),
            Self::NotStarted { command, error } => write!(
                f,
                "cannot start `{command}`: {error}; --ssh names another command to reach the node \
                 with"
            ),
            Self::NotAReport { error, words } => write!(
                f,
                "the command said something else than a report ({error}){}; compare `basalt \
                 --version` on both nodes",
                last(words)
            ),
            Self::TooMuch => f.write_str(
                "it has more files than one archive takes; type `basalt adm report` on the node",
            ),
            Self::NotNamed { error } => write!(
                f,
                "the configuration that names them cannot be read: {error}; -c names another file"
            ),
        }
    }
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits { told, all, nodes } => {
                write!(f, "{told} of {all} nodes are done; waiting for {nodes}")
            }
            Self::Lacks { nodes } => {
                write!(f, "not all of the cluster is in the archive: see {nodes} in its README")
            }
            Self::Contents { version } => write!(
                f,
                "The reports of the nodes of a cluster, gathered by version {version} of Basalt: a \
                 folder for each node. Each node left its keys and secrets out before it sent \
                 anything. Names and addresses of hosts, clients and disks are in it: look at it \
                 before you give it away."
            ),
        }
    }
}
