//! Options of DRBD on the command line, as in `net-options --timeout=60`.
//!
//! The verbs that take them take ours before the verb: behind it a name that DRBD has an option of
//! is DRBD's, whatever our own options are called. Their values come from the configuration.

use std::ffi::OsString;

use config::options::table::TABLE;
use config::options::{Kind, OptionSpec, Section};

use crate::adm::failure::AdmError;

/// The verbs, and the section of which they take the options.
const VERBS: [(&str, Section); 8] = [
    ("net-options", Section::Net),
    ("new-peer", Section::Net),
    ("disk-options", Section::Disk),
    ("peer-device-options", Section::Disk),
    ("attach", Section::Disk),
    ("new-minor", Section::Disk),
    ("resource-options", Section::Options),
    ("new-resource", Section::Options),
];

/// The names of the options that a verb takes from DRBD's configuration.
pub(crate) fn of_verb(verb: &str) -> impl Iterator<Item = (String, &'static OptionSpec)> {
    let section = VERBS.iter().find(|(name, _)| *name == verb).map(|(_, section)| *section);
    let specs = TABLE.iter().filter(move |spec| Some(spec.section) == section);
    specs.flat_map(|spec| {
        let refused = (spec.kind == Kind::Flag).then(|| format!("no-{}", spec.name));
        std::iter::once(spec.name.to_owned()).chain(refused).map(move |name| (name, spec))
    })
}

/// Why nothing is done with them.
pub(crate) fn refusal(options: &[OsString], verb: &str, resource: &str) -> AdmError {
    let words: Vec<_> = options.iter().map(|word| word.to_string_lossy()).collect();
    let message = format!("options come from the configuration, not from `{}`", words.join(" "));
    let hint = format!("change it there, then `basalt adm {verb} {resource}`");
    AdmError::configuration(message, hint)
}
