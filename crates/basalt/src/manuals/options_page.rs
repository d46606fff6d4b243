//! docs/options.md: each option of the configuration, and what becomes of it.

use std::fmt::Write;

use config::options::reasons::{VALUES_NOT_APPLICABLE, condition_of, never, not_applicable};
use config::options::table::TABLE;
use config::options::{OptionSpec, Section, Status};

const SECTIONS: [Section; 6] = [
    Section::Options,
    Section::Net,
    Section::Disk,
    Section::Startup,
    Section::Handlers,
    Section::Global,
];

pub(super) fn text() -> String {
    let mut text = String::from(
        "# Options\n\nEvery option of DRBD 9.2's configuration, and what becomes of it. This file \
         is made from the table that the parser reads\n(`cargo run -p basalt -- manuals docs`). An \
         option that changes nothing is accepted, and reported once where a file sets it to\n\
         another value than what happens anyway.\n",
    );
    for section in SECTIONS {
        let heads = "| option | default | here |\n|---|---|---|";
        write!(text, "\n## {}\n\n{heads}\n", section.keyword()).expect("writing to a string");
        for spec in TABLE.iter().filter(|spec| spec.section == section) {
            let default = spec.default.map_or_else(String::new, |text| format!("`{text}`"));
            writeln!(text, "| `{}` | {default} | {} |", spec.name, fate(spec))
                .expect("writing to a string");
        }
    }
    text
}

/// A value that has nothing to do, and why.
fn value_of(spec: &OptionSpec) -> Option<(&'static str, &'static str)> {
    let mut rows = VALUES_NOT_APPLICABLE.iter();
    rows.find(|(name, ..)| *name == spec.name).map(|(_, value, reason)| (*value, *reason))
}

fn fate(spec: &OptionSpec) -> String {
    let words = |values: &[&str]| {
        values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    match (spec.status, not_applicable(spec.name)) {
        (Status::InEffect, _) => match condition_of(spec.name) {
            Some(condition) => format!("in effect {condition}"),
            None => "in effect".to_owned(),
        },
        (Status::NotYet { .. }, Some(reason)) => format!("not applicable: {reason}"),
        (Status::RefusedUntilBuilt { works: [] }, _) => "refused: not built yet".to_owned(),
        (Status::RefusedUntilBuilt { works }, _) if let Some(reason) = never(spec.name) => {
            format!("{}; else refused: {reason}", words(works))
        }
        (Status::RefusedUntilBuilt { works }, _) => {
            format!("{}; else refused: not built yet", words(works))
        }
        (Status::NotYet { holds: [] }, None) => "not built yet: changes nothing".to_owned(),
        (Status::NotYet { holds: ["*"] }, None) => "nothing to do".to_owned(),
        (Status::NotYet { holds }, None) if let Some((value, reason)) = value_of(spec) => {
            format!("{} is what happens; `{value}` is not applicable: {reason}", words(holds))
        }
        (Status::NotYet { holds }, None) => {
            format!("{} is what happens; else not built yet: changes nothing", words(holds))
        }
    }
}
