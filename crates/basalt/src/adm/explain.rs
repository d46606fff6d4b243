//! `explain`: the state of a resource in sentences, with what to do about it.
//!
//! Everything said here is in the status too; this is the reading of it, for one who does not know
//! which figure matters. Sentences are grouped by the question that they answer; a question whose
//! answer is that all is well gets one sentence.
//!
//! Sentences are rows of an enum for each question: docs/operate/messages has each of them beside
//! the situations that print it.

mod role;
mod quorum;
mod data;
mod resync;
mod peers;
mod verify;
mod open;
#[cfg(test)]
#[path = "../../../engine/src/shard/rows.rs"]
pub(crate) mod rows;

use api::connection_state::ConnectionState;
use api::status::{ConnectionStatus, DiskFailure, REQUESTS_FAIL, ResourceStatus};
use serde::Serialize;

use crate::adm::dates::as_of;
use crate::called;

/// A question and the sentences that answer it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answered {
    pub(crate) about: &'static str,
    pub(crate) sentences: Vec<String>,
}

pub(crate) fn explain(resource: &ResourceStatus) -> Vec<Answered> {
    let about = |about, sentences: Vec<String>| Answered { about, sentences };
    let mut all = vec![about("role", words(&role::role(resource)))];
    if resource.devices.is_empty() {
        all = vec![about("state", resource.reasons.clone())];
    } else {
        all.push(about("quorum", words(&quorum::quorum(resource))));
        all.push(about("data", words(&data::data(resource))));
        all.push(about("resync", words(&resync::resyncs(resource))));
        all.push(about("peers", words(&peers::peers(resource))));
        all.extend(verify(resource).map(|sentence| about("verify", vec![sentence])));
        all.push(about("open", words(&open::openers(resource))));
    }
    all.push(about("options", options(resource)));
    for sentence in all.iter_mut().flat_map(|answered| &mut answered.sentences) {
        *sentence = called::in_its_words(sentence);
    }
    all
}

/// The last comparison of the replicas that this node led, or the one under way.
pub(crate) fn verify(resource: &ResourceStatus) -> Option<String> {
    resource.verify.as_ref().map(|it| verify::verify(it).to_string())
}

fn words(sentences: &[impl ToString]) -> Vec<String> {
    sentences.iter().map(ToString::to_string).collect()
}

/// The answers as text, a paragraph for each question.
pub(crate) fn text(resource: &ResourceStatus) -> String {
    let mut text = format!("{}\n", resource.name);
    for Answered { about, sentences } in explain(resource) {
        for (index, sentence) in sentences.iter().enumerate() {
            let label = if index == 0 { format!("{about}:") } else { String::new() };
            text += &format!("  {label:<9}{sentence}\n");
        }
    }
    text.push('\n');
    text
}

/// Since when what this node knows of the others is old; `None` where it is of now.
fn out_of_touch(resource: &ResourceStatus) -> Option<String> {
    resource.epoch.as_ref()?.age_ms.map(as_of)
}

/// A reason of the daemon that is about requests of clients now.
fn is_of_requests(reason: &str) -> bool {
    reason.starts_with(REQUESTS_FAIL)
}

/// One sentence tells which request failed, on which disk, when, and what to look at.
pub(crate) fn disk_failure(failure: &DiskFailure) -> String {
    let DiskFailure { disk, request, error, hint, age_ms } = failure;
    format!("{request} failed at {} ({disk}): {error}; {hint}", as_of(*age_ms))
}

/// One sentence tells which request the disk of a peer failed, and when, as the peer says.
pub(crate) fn disk_failure_at(name: &str, failure: &DiskFailure) -> String {
    let DiskFailure { request, error, age_ms, .. } = failure;
    format!("{request} failed at {}, on {name}: {error}", as_of(*age_ms))
}

/// Since when no link to the peer is up, where that is known.
pub(crate) fn down_since(connection: &ConnectionStatus) -> Option<String> {
    let is_down = connection.connection_state != ConnectionState::Connected;
    connection.down_ms.filter(|_| is_down).map(as_of)
}

fn options(resource: &ResourceStatus) -> Vec<String> {
    if resource.not_in_effect.is_empty() {
        return vec!["all that are set are in effect".to_owned()];
    }
    resource.not_in_effect.clone()
}

fn list<N: AsRef<str>>(names: &[N]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}
