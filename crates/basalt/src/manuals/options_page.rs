//! docs/options.md: each option of the configuration, and what becomes of it.

use std::fmt::Write;

use config::options::reasons::{condition_of, not_applicable, not_applicable_value, why_refused};
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

fn fate(spec: &OptionSpec) -> String {
    let words = |values: &[&str]| {
        values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    match (spec.status, not_applicable(spec.name)) {
        (Status::InEffect, _) => match condition_of(spec.name) {
            Some(condition) => format!("in effect {condition}"),
            None => "in effect".to_owned(),
        },
        (Status::Nothing { .. }, Some(reason)) => format!("not applicable: {reason}"),
        (Status::Nothing { holds }, None) => match not_applicable_value(spec.name) {
            Some((value, reason)) => {
                format!("{} is what happens; `{value}` is not applicable: {reason}", words(holds))
            }
            None => "nothing to do".to_owned(),
        },
        (Status::Refused { works }, _) => {
            format!("{}; else refused: {}", words(works), why_refused(spec.name))
        }
    }
}
