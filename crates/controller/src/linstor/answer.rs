//! Answers: to each change, and to each refusal, a list of entries.
//!
//! Some clients look at the status of HTTP alone, some at the numbers of the entries alone: both
//! say the same. The first entry is that of the object that was asked for, with its names; what
//! else there is to say comes after it.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use serde::Serialize;

use crate::linstor::codes::{
    ABSENT, Kind, NO_EFFECT, NOT_IMPLEMENTED, NOTHING_TO_DO, SNAPSHOTS_UNSUPPORTED, Thing,
    UNKNOWN_ERROR, Verb, number,
};
use crate::refusal::Refusal;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    pub(crate) ret_code: i64,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) correction: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) obj_refs: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) entries: Vec<Entry>,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.status, Json(self.entries)).into_response()
    }
}

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) verb: Verb,
    pub(crate) thing: Thing,
}

/// The result of a request that was not refused.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    kind: Kind,
    code: Option<u16>,
    message: String,
    refs: BTreeMap<String, String>,
    notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Info(String),
    /// A property is kept, and nobody acts on it.
    NoEffect(String),
}

impl Done {
    /// `refs` name the object, in the words that clients look for.
    pub(crate) fn new(message: String, refs: &[(&str, &str)]) -> Self {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let refs = refs.iter().map(owned).collect();
        Self { kind: Kind::Success, code: None, message, refs, notes: Vec::new() }
    }

    /// Nothing was there to be deleted: that is no error.
    pub(crate) fn absent(refusal: &Refusal) -> Self {
        let done = Self::new(refusal.to_string(), &[]);
        Self { kind: Kind::Warning, code: Some(ABSENT), ..done }
    }

    /// An operation of it goes on.
    pub(crate) fn continues(&self) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::Info(_)))
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.kind == Kind::Warning
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    pub(crate) fn warning(self, code: u16) -> Self {
        Self { kind: Kind::Warning, code: Some(code), ..self }
    }

    pub(crate) fn note(mut self, notes: impl IntoIterator<Item = Note>) -> Self {
        self.notes.extend(notes);
        self
    }
}

impl Subject {
    pub(crate) const fn new(verb: Verb, thing: Thing) -> Self {
        Self { verb, thing }
    }

    /// `success` is what the client of this request expects; some look at it exactly.
    pub(crate) fn answer(self, success: StatusCode, told: Result<Done, Refusal>) -> Answer {
        let done = match told {
            Ok(done) => done,
            Err(refusal) => return self.refusal(&refusal),
        };
        let code = done.code.unwrap_or_else(|| self.verb.done());
        let ret_code = number(done.kind, self.verb, self.thing, code);
        let (message, obj_refs) = (done.message, done.refs);
        let first = Entry { ret_code, message, details: None, correction: None, obj_refs };
        let note = |note| {
            let (kind, code, message) = match note {
                Note::Info(message) => (Kind::Info, NOTHING_TO_DO, message),
                Note::NoEffect(key) => {
                    (Kind::Warning, NO_EFFECT, format!("{key} is kept, and has no effect"))
                }
            };
            let ret_code = number(kind, self.verb, self.thing, code);
            let obj_refs = first.obj_refs.clone();
            Entry { ret_code, message, details: None, correction: None, obj_refs }
        };
        let notes: Vec<Entry> = done.notes.into_iter().map(note).collect();
        let entries = std::iter::once(first.clone()).chain(notes).collect();
        Answer { status: success, entries }
    }

    pub(crate) fn created(self, told: Result<Done, Refusal>) -> Answer {
        self.answer(StatusCode::CREATED, told)
    }

    pub(crate) fn ok(self, told: Result<Done, Refusal>) -> Answer {
        self.answer(StatusCode::OK, told)
    }

    pub(crate) fn refusal(self, refusal: &Refusal) -> Answer {
        let code = code_of(refusal);
        let told = refusal.answer();
        let lines = told.candidates.iter().map(|it| {
            let pool = it.pool.as_ref().map_or_else(String::new, |pool| format!("/{pool}"));
            format!("{}{pool}: {}", it.node, it.rule)
        });
        let details = lines.collect::<Vec<_>>().join("\n");
        let entry = Entry {
            ret_code: number(Kind::Error, self.verb, self.thing, code),
            message: told.message,
            details: (!details.is_empty()).then_some(details),
            correction: Some(told.to_try),
            obj_refs: BTreeMap::new(),
        };
        Answer { status: status_of(refusal, code), entries: vec![entry] }
    }
}

/// An object that is shown, or the reason why it is not.
pub(crate) fn shown<T: Serialize>(thing: Thing, told: Result<T, Refusal>) -> Response {
    match told {
        Ok(shown) => Json(shown).into_response(),
        Err(refusal) => Subject::new(Verb::Show, thing).refusal(&refusal).into_response(),
    }
}

fn status_of(refusal: &Refusal, code: u16) -> StatusCode {
    let by_code = match code {
        300..=323 => StatusCode::NOT_FOUND,
        400..=424 => StatusCode::FORBIDDEN,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let not_read = matches!(refusal, Refusal::BadJson { .. });
    let not_there = code == NOT_IMPLEMENTED || code == SNAPSHOTS_UNSUPPORTED;
    match (not_read, not_there) {
        (true, _) => StatusCode::BAD_REQUEST,
        (false, true) => StatusCode::NOT_IMPLEMENTED,
        (false, false) => by_code,
    }
}

fn code_of(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::NoNode { .. } => 300,
        Refusal::NoVolume { .. } => 301,
        Refusal::NoReplica { .. } => 302,
        Refusal::NoPart { .. } => 303,
        Refusal::NoInterface { .. } => 305,
        Refusal::NoPool { .. } => 310,
        Refusal::NoSnapshot { .. } => 315,
        Refusal::NoKeyValue { .. } => 316,
        Refusal::NoGroup { .. } => 317,
        Refusal::NoTemplate { .. } => 318,
        Refusal::UnknownWord | Refusal::NotANode | Refusal::OtherHost { .. } | Refusal::OfAPage => {
            400
        }
        Refusal::NodeExists { .. } => 500,
        // A group that has volumes has the code of a definition that exists: drivers look for it.
        Refusal::VolumeExists { .. } | Refusal::GroupHasVolumes { .. } => 501,
        Refusal::ReplicaExists { .. } => 502,
        Refusal::PartExists { .. } => 503,
        Refusal::PoolExists { .. } => 510,
        Refusal::ExternalNameExists { .. } => 517,
        Refusal::GroupExists { .. } => 522,
        Refusal::TemplateExists { .. } => 523,
        Refusal::BadName { kind, .. } => match *kind {
            "node" => 200,
            "volume" => 202,
            "pool" => 208,
            "resource group" => 237,
            _ => 234,
        },
        Refusal::BadSize { .. } | Refusal::NotLarger { .. } => 206,
        Refusal::LastCopies { .. } => 233,
        Refusal::TooMany { .. } => 803,
        Refusal::NoRoom { .. } => 980,
        Refusal::NoCopy { .. } => 974,
        Refusal::MinorTaken { .. } => 207,
        Refusal::BadProperties { .. } => 213,
        Refusal::BadReplicas { .. } => 219,
        Refusal::BadLocation { .. } => 221,
        Refusal::TooManyParts { .. } | Refusal::NoParts { .. } => 229,
        Refusal::BadJson { .. }
        | Refusal::BadValue { .. }
        | Refusal::BadWord { .. }
        | Refusal::BadKey
        | Refusal::BadUri { .. }
        | Refusal::NotPlaced { .. }
        | Refusal::NodeIsOnline { .. }
        | Refusal::NotAmongPlacements { .. } => 234,
        Refusal::NoMinor => 801,
        Refusal::Busy { .. }
        | Refusal::NotBorn { .. }
        | Refusal::Going { .. }
        | Refusal::StillLeaving { .. } => 992,
        Refusal::Offline { .. } => 995,
        Refusal::NoPlace { .. } => 996,
        Refusal::InUse { .. }
        | Refusal::AttachedElsewhere { .. }
        | Refusal::LastCopy { .. }
        | Refusal::PoolHasReplicas { .. } => 997,
        Refusal::NotBuilt { what } if *what == SNAPSHOTS => SNAPSHOTS_UNSUPPORTED,
        Refusal::NotBuilt { .. } | Refusal::NoRoute { .. } | Refusal::JoinsByItself { .. } => {
            NOT_IMPLEMENTED
        }
        Refusal::NoOperation { .. }
        | Refusal::TooManyObjects { .. }
        | Refusal::CameToNothing { .. }
        | Refusal::NotBehind { .. }
        | Refusal::Unreadable { .. }
        | Refusal::Failed { .. } => UNKNOWN_ERROR,
    }
}

/// As refusals call them.
pub(crate) const SNAPSHOTS: &str = "snapshots";

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: Subject = Subject::new(Verb::Create, Thing::Definition);

    #[test]
    fn success_comes_first_with_its_names_and_notes_come_after_it() {
        let done = Done::new("made".to_owned(), &[("RscDfn", "db")]);
        let done = done.note([Note::NoEffect("DrbdOptions/x".to_owned())]);
        let answer = CREATE.created(Ok(done));
        assert_eq!(answer.status, StatusCode::CREATED);
        assert_eq!(answer.entries[0].ret_code, 0x0100_0000 | 0x0038_0000 | 1);
        assert_eq!(answer.entries[0].obj_refs["RscDfn"], "db");
        assert_eq!(answer.entries[1].ret_code & 0x7FFF, 3001);
        assert!(answer.entries[1].message.starts_with("DrbdOptions/x is kept"));
    }

    /// Of a status of success clients in Go read no entry; of an error those in Python no status.
    #[test]
    fn status_and_number_of_a_refusal_agree() {
        let name = || "db".to_owned();
        for (refusal, status, code) in [
            (Refusal::NoVolume { name: name() }, 404, 301),
            (Refusal::VolumeExists { name: name() }, 500, 501),
            (Refusal::GroupHasVolumes { name: name(), count: 1 }, 500, 501),
            (Refusal::InUse { name: name(), node: name() }, 500, 997),
            (Refusal::BadJson { reason: name() }, 400, 234),
            (Refusal::NotBuilt { what: "clones" }, 501, 999),
            (Refusal::NotBuilt { what: SNAPSHOTS }, 501, 994),
            (Refusal::NotANode, 403, 400),
        ] {
            let answer = CREATE.refusal(&refusal);
            assert_eq!(answer.status, status, "{refusal:?}");
            assert_eq!(answer.entries.len(), 1);
            assert_eq!(answer.entries[0].ret_code & 0x7FFF, code, "{refusal:?}");
            assert_eq!(answer.entries[0].ret_code >> 62, -1, "an error: {refusal:?}");
            assert!(answer.entries[0].correction.is_some());
        }
    }
}
