//! What a run prints and how it exits, gathered first and written once.

use std::borrow::Cow;
use std::fmt::Write;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use api::status::ResourceStatus;
use serde::Serialize;

use crate::adm::explain::Answered;
use crate::adm::failure::{AdmError, ErrorObject};
use crate::called;

/// The form in which answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// Whether the steps of a change are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    Hidden,
    Shown,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// For standard output.
    pub(crate) output: String,
    /// For standard error.
    pub(crate) complaints: String,
    /// That of the first failure.
    pub(crate) exit: u8,
}

/// One element of the list that `--json` prints.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Done {
        resource: String,
        verb: Cow<'static, str>,
        ok: bool,
        changes: Vec<String>,
        warnings: Vec<String>,
    },
    Failed {
        #[serde(skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        verb: Cow<'static, str>,
        ok: bool,
        error: ErrorObject,
    },
    Status(Box<ResourceStatus>),
    Role {
        resource: String,
        role: Role,
    },
    #[serde(rename_all = "kebab-case")]
    Connection {
        resource: String,
        name: String,
        connection_state: ConnectionState,
    },
    #[serde(rename_all = "kebab-case")]
    Disk {
        resource: String,
        volume: u16,
        disk_state: DiskState,
        peers: Vec<PeerDisk>,
    },
    Text {
        resource: String,
        config: String,
    },
    Explained {
        resource: String,
        answers: Vec<Answered>,
    },
    Prospect {
        resource: String,
        sentences: Vec<String>,
    },
    Lines {
        lines: Vec<String>,
    },
    #[serde(rename_all = "kebab-case")]
    Called {
        resource: String,
        verb: &'static str,
        exit_code: u8,
        output: Vec<String>,
    },
    Json(serde_json::Value),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct PeerDisk {
    pub(crate) name: String,
    pub(crate) peer_disk_state: DiskState,
}

/// Gathers the results of one verb over its resources.
#[derive(Debug)]
pub(crate) struct Gathering {
    verb: Cow<'static, str>,
    form: Form,
    outcome: Outcome,
    answers: Vec<Answer>,
}

impl Gathering {
    pub(crate) fn new(verb: impl Into<Cow<'static, str>>, form: Form) -> Self {
        Self { verb: verb.into(), form, outcome: Outcome::default(), answers: Vec::new() }
    }

    /// The verb is done for `resource`: `changes` say what, `warnings` what to know about it.
    pub(crate) fn done(&mut self, resource: &str, changes: Vec<String>, warnings: Vec<String>) {
        let warnings = self.warned(resource, warnings);
        if self.form == Form::Text {
            for change in &changes {
                line(&mut self.outcome.output, format_args!("{resource}: {change}"));
            }
        }
        self.add_done(resource, changes, warnings);
    }

    /// The verb is done, or would be: the steps are told as they are.
    pub(crate) fn stepped(
        &mut self,
        resource: &str,
        shown: Steps,
        changes: Vec<String>,
        warnings: Vec<String>,
    ) {
        if self.form == Form::Text && shown == Steps::Shown {
            for change in &changes {
                line(&mut self.outcome.output, format_args!("{change}"));
            }
        }
        let warnings = self.warned(resource, warnings);
        self.add_done(resource, changes, warnings);
    }

    /// A line of the answer; in JSON one string of its list.
    pub(crate) fn line(&mut self, text: &str) {
        self.answer(&format!("{text}\n"), Answer::Json(text.into()));
    }

    pub(crate) fn failed(&mut self, resource: &str, error: &AdmError) {
        self.complain(resource, error);
        self.answers.extend(failures(self.verb.clone(), Some(resource), error));
    }

    /// The same, with what the resource lacked as the daemon told it.
    pub(crate) fn failed_for(&mut self, resource: &str, error: &AdmError, reasons: &[String]) {
        self.failed(resource, error);
        if let Some(Answer::Failed { error, .. }) = self.answers.last_mut() {
            error.reasons = reasons.iter().map(|reason| called::in_its_words(reason)).collect();
        }
    }

    /// There is nothing to show of it. Programs that call the tools by DRBD's names know objects of
    /// DRBD's shape alone.
    pub(crate) fn missed(&mut self, resource: &str, error: &AdmError) {
        if called::is_of_drbd() {
            return self.complain(resource, error);
        }
        self.failed(resource, error);
    }

    /// A failure that is about no single resource.
    pub(crate) fn failed_at_all(&mut self, error: &AdmError) {
        self.complain(called::program(), error);
        self.answers.extend(failures(self.verb.clone(), None, error));
    }

    /// A part of the answer in both forms.
    pub(crate) fn answer(&mut self, text: &str, answer: Answer) {
        if self.form == Form::Text {
            self.outcome.output.push_str(text);
        }
        self.answers.push(answer);
    }

    /// Something about the configuration that keeps nothing from being done.
    pub(crate) fn warn(&mut self, warning: &str) {
        line(&mut self.outcome.complaints, format_args!("{warning}"));
    }

    /// Something to know that changes nothing about the answer.
    pub(crate) fn note(&mut self, text: &str) {
        if self.form == Form::Text {
            self.outcome.output.push_str(text);
        }
    }

    /// What was called ended with this, unless something ended worse before.
    pub(crate) fn exit_with(&mut self, code: u8) {
        if self.outcome.exit == 0 {
            self.outcome.exit = code;
        }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        if self.form == Form::Json {
            let text = serde_json::to_string_pretty(&self.answers);
            self.outcome.output =
                text.expect("an answer is made of strings, numbers and lists of them");
            self.outcome.output.push('\n');
        }
        self.outcome
    }

    fn add_done(&mut self, resource: &str, changes: Vec<String>, warnings: Vec<String>) {
        let (resource, verb) = (resource.to_owned(), self.verb.clone());
        self.answers.push(Answer::Done { resource, verb, ok: true, changes, warnings });
    }

    /// The warnings as they were told.
    fn warned(&mut self, resource: &str, warnings: Vec<String>) -> Vec<String> {
        let warnings: Vec<_> = warnings.into_iter().map(|it| called::in_its_words(&it)).collect();
        for warning in &warnings {
            line(&mut self.outcome.complaints, format_args!("{resource}: warning: {warning}"));
        }
        warnings
    }

    fn complain(&mut self, place: &str, error: &AdmError) {
        self.outcome.complaints.push_str(&error.text(place, &self.verb));
        if self.outcome.exit == 0 {
            self.outcome.exit = error.exit();
        }
    }
}

/// An answer for each thing that is wrong.
fn failures(
    verb: Cow<'static, str>,
    resource: Option<&str>,
    error: &AdmError,
) -> impl Iterator<Item = Answer> {
    let resource = resource.map(str::to_owned);
    error.objects().into_iter().map(move |error| Answer::Failed {
        resource: resource.clone(),
        verb: verb.clone(),
        ok: false,
        error,
    })
}

/// The failure of a verb whose answer is one line of JSON after the other.
pub(crate) fn failure_lines(
    verb: &'static str,
    resource: Option<&str>,
    error: &AdmError,
) -> String {
    let line = |answer| {
        let text = serde_json::to_string(&answer);
        text.expect("an answer is made of strings, numbers and lists of them") + "\n"
    };
    failures(verb.into(), resource, error).map(line).collect()
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("writing to a string does not fail");
}
