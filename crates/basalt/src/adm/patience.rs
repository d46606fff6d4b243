//! `primary` that takes long: standard error says meanwhile what it waits for.
//!
//! The daemon answers once, at the end: until then its reasons, which `status` prints as well, are
//! asked for beside that. The verb waits on until its deadline, and its failure has the reasons,
//! too.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use api::client::ask;
use api::request::Command;
use api::response::Reply;

use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::question::{socket, usual_limit};
use crate::called;

/// So long an operator waits without a word.
const SILENT_MAX: Duration = Duration::from_secs(2);
/// A daemon that is busy with the command answers a question about the state at once.
const REASONS_WITHIN: Duration = Duration::from_secs(2);

/// An answer, and what the resource lacked where that came late.
pub(crate) struct Waited {
    pub(crate) answer: Result<Reply, AdmError>,
    pub(crate) reasons: Vec<String>,
}

/// Gives the daemon a command about `resource`.
pub(crate) fn ask_aloud(general: &General, resource: &str, command: Command) -> Waited {
    let path = socket(general);
    let limit = general.timeout.unwrap_or_else(|| usual_limit(&command));
    let verb = command.verb();
    let (sender, answers) = mpsc::channel();
    let of_asker = path.clone();
    // Whoever gave up hears no answer, and misses none.
    let asks = move || drop(sender.send(ask(&of_asker, command, limit)));
    let started = thread::Builder::new().name(verb.to_owned()).spawn(asks);
    if let Err(source) = started {
        return Waited { answer: Err(AdmError::NoProcess { source }), reasons: Vec::new() };
    }
    let mut told = Vec::new();
    let answer = answers.recv_timeout(SILENT_MAX.min(limit / 2)).or_else(|_| {
        if let Some(reasons) = reasons(&path, resource, REASONS_WITHIN.min(limit / 4)) {
            let text = called::in_its_words(&sentence(resource, verb, &reasons));
            // Without a standard error nobody can be told.
            io::stderr().write_all(text.as_bytes()).ok();
            told = reasons;
        }
        answers.recv()
    });
    let answer = answer.expect("the asker always answers, by its deadline at the latest");
    Waited { answer: answer.map_err(AdmError::from), reasons: told }
}

/// Why the resource is as it is, if the daemon says so.
fn reasons(socket: &Path, resource: &str, within: Duration) -> Option<Vec<String>> {
    let question = Command::Status { resources: vec![resource.to_owned()], statistics: false };
    let Ok(Reply::Status(reply)) = ask(socket, question, within) else { return None };
    Some(reply.resources.into_iter().flat_map(|resource| resource.reasons).collect())
}

fn sentence(resource: &str, verb: &str, reasons: &[String]) -> String {
    let mut text = format!("{resource}: {verb}: not done yet, it waits on");
    if reasons.is_empty() {
        return text + &format!("; `basalt adm explain {resource}` says more\n");
    }
    text += ":\n";
    for reason in reasons {
        text += &format!("  {reason}\n");
    }
    text
}
