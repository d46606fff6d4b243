//! Why a command about the cluster fails, with what to type. docs/operate/messages has the rows in
//! cluster-tools.md.

use std::fmt;
use std::net::SocketAddr;

use api::cluster::ApiError;

/// Why there is no answer, or not the wanted one.
#[derive(Debug)]
pub(crate) enum Trouble {
    Unreachable {
        controller: SocketAddr,
        reason: String,
    },
    Refused(ApiError),
    NotUnderstood {
        reason: String,
    },
    /// The operation failed.
    Failed {
        kind: String,
        object: String,
        reason: String,
    },
    /// It takes longer than anybody waits.
    Unfinished {
        operation: u64,
        told: String,
    },
    /// Of this machine.
    Local {
        message: String,
        to_try: String,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { controller, reason } => {
                write!(f, "cannot reach the controller at {controller}: {reason}")
            }
            Self::Refused(error) => {
                f.write_str(&error.message)?;
                for candidate in &error.candidates {
                    let pool = candidate.pool.as_deref().unwrap_or("-");
                    write!(f, "\n  {} {pool}: {}", candidate.node, candidate.rule)?;
                }
                Ok(())
            }
            Self::NotUnderstood { reason } => {
                write!(f, "the controller answered what this tool cannot read: {reason}")
            }
            Self::Failed { kind, object, reason } => write!(f, "{kind} of {object}: {reason}"),
            Self::Unfinished { operation, told } => {
                write!(f, "operation {operation} goes on; it waits: {told}")
            }
            Self::Local { message, .. } => f.write_str(message),
        }
    }
}

impl Trouble {
    pub(crate) fn local(message: impl Into<String>, to_try: impl Into<String>) -> Self {
        Self::Local { message: message.into(), to_try: to_try.into() }
    }

    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Refused(_) => "refused",
            Self::NotUnderstood { .. } => "not-understood",
            Self::Failed { .. } => "failed",
            Self::Unfinished { .. } => "unfinished",
            Self::Local { .. } => "local",
        }
    }

    pub(crate) fn to_try(&self) -> String {
        match self {
            Self::Unreachable { .. } => {
                "`basalt cluster start` on the machine of the controller; --controller names \
                 another address"
                    .to_owned()
            }
            Self::Refused(error) => error.to_try.clone(),
            Self::NotUnderstood { .. } => {
                "compare `basalt --version` with that of the controller".to_owned()
            }
            Self::Failed { .. } => "mend what it names, and type it again".to_owned(),
            Self::Unfinished { operation, .. } => {
                format!("`basalt operation show {operation}` says how far it is")
            }
            Self::Local { to_try, .. } => to_try.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adm::explain::rows::{self, Row};

    fn troubles() -> Vec<(&'static str, Trouble)> {
        let refused = ApiError {
            code: "not-found".to_owned(),
            message: "there is no volume \"db\"".to_owned(),
            to_try: "`basalt volume list` shows those that there are".to_owned(),
            candidates: Vec::new(),
        };
        let candidates = vec![api::cluster::Candidate {
            node: "bob".to_owned(),
            pool: None,
            taken: false,
            rule: "it has no pool".to_owned(),
        }];
        vec![
            (
                "no controller runs here",
                Trouble::Unreachable {
                    controller: ([127, 0, 0, 1], 3370).into(),
                    reason: "Connection refused".to_owned(),
                },
            ),
            ("the controller refuses", Trouble::Refused(refused.clone())),
            (
                "the controller finds no place",
                Trouble::Refused(ApiError {
                    message: "there are not enough places for the replicas of \"db\"".to_owned(),
                    candidates,
                    ..refused
                }),
            ),
            (
                "another program answers there",
                Trouble::NotUnderstood { reason: "expected value at line 1 column 1".to_owned() },
            ),
            (
                "a node cannot do its part",
                Trouble::Failed {
                    kind: "create".to_owned(),
                    object: "db".to_owned(),
                    reason: "not made within 60 s: bob: cannot make /pool: no storage space"
                        .to_owned(),
                },
            ),
            (
                "it takes longer than the command waits",
                Trouble::Unfinished { operation: 7, told: "bob is at it".to_owned() },
            ),
            (
                "a process of this machine does not start",
                Trouble::local("the controller does not answer", "look at its log"),
            ),
        ]
    }

    #[test]
    fn rows_of_troubles_are_those_of_the_page() {
        let rows = troubles().into_iter().map(|(situation, trouble)| Row {
            variant: rows::variant_of(&trouble),
            situation: situation.to_owned(),
            sentence: format!("{trouble}; try: {}", trouble.to_try()).replace('\n', " "),
        });
        let title = "Why a command about the cluster fails";
        rows::check(("cluster-tools.md", title), rows.collect());
    }
}
