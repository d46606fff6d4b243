//! One event as a line: DRBD's words, or an object of JSON.
//!
//! ```text
//! [TIMESTAMP ]ACTION OBJECT key:value ..
//! change resource name:r0 role:Secondary->Primary may_promote:yes->no promotion_score:10102
//! ```
//! A change tells the groups of fields that differ, a removal the key alone.

use api::events::{Action, Event, Field, Group, Object, Value};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use crate::adm::dates::timestamp;
use crate::adm::outcome::Form;

/// How much a line tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) form: Form,
    pub(crate) stamps: Stamps,
    pub(crate) fields: Fields,
    pub(crate) changes: Changes,
    pub(crate) counters: Counters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamps {
    Hidden,
    Shown,
}

/// Of a change: what differs, or everything (`--full`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    Changed,
    All,
}

/// Of a change: the new value alone, or `old->new` (`--diff`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    New,
    OldAndNew,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counters {
    Hidden,
    Shown,
}

impl Style {
    /// The line of an event, if it has anything to tell in this style.
    pub(crate) fn line(&self, at_us: u64, event: &Event) -> Option<String> {
        let before = event.before.as_ref();
        let groups = match event.action {
            Action::Destroy => Vec::new(),
            Action::Exists | Action::Create | Action::Call | Action::Response => {
                self.groups(&event.object)
            }
            Action::Change => {
                let old = before.map(|old| self.groups(old)).unwrap_or_default();
                let all = self.groups(&event.object);
                let differs =
                    |(index, group): &(usize, &Group)| old.get(*index).copied() != Some(*group);
                let changed = || all.iter().copied().enumerate().filter(differs);
                changed().next()?;
                match self.fields {
                    Fields::All => all,
                    Fields::Changed => changed().map(|(_, group)| group).collect(),
                }
            }
        };
        let object = &event.object;
        let name = if event.action == Action::Destroy { &[][..] } else { &object.name[..] };
        let key: Vec<&Field> = object.key.iter().chain(name).collect();
        let fields: Vec<&Field> = groups.into_iter().flatten().collect();
        let (action, kind) = (event.action.as_str(), object.kind.as_str());
        let old = before.filter(|_| self.changes == Changes::OldAndNew);
        Some(match self.form {
            Form::Text => {
                let mut words = vec![action.to_owned(), kind.to_owned()];
                words.extend(key.iter().map(|field| format!("{}:{}", field.name, field.value)));
                words.extend(fields.iter().map(|field| text(field, old)));
                self.stamped(at_us, &words.join(" "))
            }
            Form::Json => {
                let mut line = self.head(at_us, action, kind);
                for field in key.into_iter().chain(fields.iter().copied()) {
                    line.push((field.name, json(&field.value)));
                }
                if let Some(old) = old {
                    line.push(("before", before_json(&fields, old)));
                }
                object_text(&line)
            }
        })
    }

    /// The line after the last one that `exists`.
    pub(crate) fn end_of_existing(&self, at_us: u64) -> String {
        match self.form {
            Form::Text => self.stamped(at_us, "exists -"),
            Form::Json => object_text(&self.head(at_us, "exists", "-")),
        }
    }

    /// Changes were lost; text has no word for it, so that it is told elsewhere.
    pub(crate) fn lost(&self, at_us: u64, lost: u64) -> Option<String> {
        (self.form == Form::Json).then(|| {
            let mut line = self.head(at_us, "lost", "-");
            line.push(("count", lost.into()));
            object_text(&line)
        })
    }

    fn groups<'o>(&self, object: &'o Object) -> Vec<&'o Group> {
        let counters = (self.counters == Counters::Shown).then_some(&object.statistics);
        let extra = (self.form == Form::Json).then_some(&object.extra);
        object.state.iter().chain(counters).chain(extra.into_iter().flatten()).collect()
    }

    fn stamped(&self, at_us: u64, text: &str) -> String {
        match self.stamps {
            Stamps::Hidden => format!("{text}\n"),
            Stamps::Shown => format!("{} {text}\n", timestamp(at_us)),
        }
    }

    fn head(&self, at_us: u64, action: &str, object: &str) -> Vec<(&'static str, Json)> {
        let mut line = Vec::new();
        if self.stamps == Stamps::Shown {
            line.push(("timestamp", timestamp(at_us).into()));
        }
        line.push(("action", action.into()));
        line.push(("object", object.into()));
        line
    }
}

fn field_of<'o>(object: &'o Object, name: &str) -> Option<&'o Field> {
    let state = object.state.iter().chain([&object.statistics]).chain(&object.extra);
    state.flatten().find(|field| field.name == name)
}

/// `key:value`, or `key:old->new` where that is wanted and differs.
fn text(field: &Field, old: Option<&Object>) -> String {
    let Field { name, value } = field;
    match old.map(|old| field_of(old, name)) {
        None => format!("{name}:{value}"),
        Some(Some(before)) if before.value == *value => format!("{name}:{value}"),
        Some(Some(before)) => format!("{name}:{}->{value}", before.value),
        Some(None) => format!("{name}:UNKNOWN->{value}"),
    }
}

fn before_json(fields: &[&Field], old: &Object) -> Json {
    let changed = fields.iter().filter_map(|field| {
        let before = field_of(old, field.name)?;
        (before.value != field.value).then(|| (field.name.to_owned(), json(&before.value)))
    });
    Json::Object(changed.collect::<Map<String, Json>>())
}

fn json(value: &Value) -> Json {
    match value {
        Value::Word(word) => word.as_str().into(),
        Value::Flag(flag) => (*flag).into(),
        Value::Number(number) => (*number).into(),
        Value::Decimal(number) => ((number * 100.0).round() / 100.0).into(),
        Value::List(words) => words.clone().into(),
    }
}

/// An object with its fields in the order in which they are given.
struct Ordered<'l>(&'l [(&'static str, Json)]);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn object_text(fields: &[(&'static str, Json)]) -> String {
    let text = serde_json::to_string(&Ordered(fields)).expect("JSON has a text for each value");
    text + "\n"
}
