//! Failures and replies with more to tell.

use api::response::{Failure, Reply};

pub(super) fn with_note(failure: Failure, note: &str) -> Failure {
    let hint = match failure.hint.as_str() {
        "" => note.to_owned(),
        hint => format!("{hint}; {note}"),
    };
    Failure { hint, ..failure }
}

/// A reply with more to tell.
pub(super) fn with_warnings(reply: Reply, more: impl IntoIterator<Item = String>) -> Reply {
    match reply {
        Reply::Done { mut warnings } => {
            warnings.extend(more);
            Reply::Done { warnings }
        }
        Reply::Adjusted { .. } | Reply::Running(_) | Reply::Status(_) => reply,
    }
}
