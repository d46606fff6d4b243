//! What an option is: its name, its values, and whether it does anything.
//!
//! The table itself is in `options/table.rs`, the reading and writing of values in
//! `options/value.rs`. An [`OptionSet`] holds what was said in the file and nothing else; what
//! holds in the end, defaults included, is asked of [`OptionSet::value`] or of the typed views in
//! `effective.rs`.

pub mod table;
pub mod reasons;
pub mod value;

use std::collections::BTreeMap;

use table::TABLE;
use value::Value;

/// The option whose value is shown by nothing but a dump of the file.
pub const SECRET_OPTION: &str = "shared-secret";

/// The options that decide when a node may answer without the others, or what its clients hear
/// meanwhile. The section of a single host may not have them.
pub const ALIKE_ON_ALL_HOSTS: [&str; 5] = [
    "quorum",
    "quorum-minimum-redundancy",
    "on-no-quorum",
    "on-no-data-accessible",
    "on-suspended-primary-outdated",
];

/// Where an option belongs. DRBD accepts some of them in other sections, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Options,
    Net,
    Disk,
    Startup,
    Handlers,
    Global,
}

impl Section {
    /// The sections of a resource, in the order in which they are written.
    pub const OF_RESOURCE: [Self; 5] =
        [Self::Options, Self::Net, Self::Disk, Self::Startup, Self::Handlers];

    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Options => "options",
            Self::Net => "net",
            Self::Disk => "disk",
            Self::Startup => "startup",
            Self::Handlers => "handlers",
            Self::Global => "global",
        }
    }
}

/// How far an option is heeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    InEffect,
    /// Accepted, and what sets it is told once why it changes nothing, unless the value is one that
    /// describes what happens anyway. The list `["*"]` stands for every value.
    Nothing {
        holds: &'static [&'static str],
    },
    /// To ignore it would promise a safety that is not there: only these values are accepted.
    Refused {
        works: &'static [&'static str],
    },
}

/// What a number counts, and so what a suffix on it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    /// KiB, or KiB per second.
    Kibibytes,
    /// 512 bytes.
    Sectors,
    Seconds,
    /// Tenths of a second.
    Tenths,
    Milliseconds,
}

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `name;`, `no-name;`, `name yes;` or `name no;`
    Flag,
    Number {
        min: u64,
        max: u64,
        unit: Unit,
    },
    /// A number that is brought into its range rather than refused.
    Clamped {
        min: u64,
        max: u64,
    },
    /// One of these words. A word that ends in `*` stands for all that begin so.
    Words(&'static [&'static str]),
    /// One of these words, in capitals or not.
    Letters(&'static [&'static str]),
    WordsOrNumber {
        words: &'static [&'static str],
        min: u64,
        max: u64,
    },
    /// A word or a quoted string of at most so many bytes.
    Text {
        bytes_max: usize,
    },
    /// One or more words.
    Names,
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionSpec {
    pub name: &'static str,
    pub section: Section,
    pub kind: Kind,
    /// As it would be written in a file; `None` if there is none.
    pub default: Option<&'static str>,
    pub status: Status,
    /// May also stand in the `disk` section of a connection.
    pub is_per_peer: bool,
}

/// Where in a file options may stand. It decides which are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Section(Section),
    /// The `disk` section of a connection, or of a volume in it.
    PeerDisk,
    /// `syncer`, of old: its options now have homes elsewhere.
    Syncer,
}

impl Place {
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Section(section) => section.keyword(),
            Self::PeerDisk => "disk of a connection",
            Self::Syncer => "syncer",
        }
    }

    pub(crate) fn accepts(self, spec: &OptionSpec) -> bool {
        match self {
            // `fencing` moved from disk to net; both are understood.
            Self::Section(Section::Disk) => spec.section == Section::Disk || spec.name == "fencing",
            Self::Section(section) => spec.section == section,
            Self::PeerDisk => spec.is_per_peer,
            Self::Syncer => spec.is_per_peer || SYNCER_NAMES.contains(&spec.name),
        }
    }

    /// The names accepted here, without those that only old files use.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        TABLE.iter().filter(move |spec| self.accepts(spec)).map(|spec| spec.name)
    }

    /// The option called `name` here, under its present name or a former one.
    pub(crate) fn find(self, name: &str) -> Option<&'static OptionSpec> {
        let present = match (self, name) {
            (Self::Section(Section::Handlers), "outdate-peer") => "fence-peer",
            (Self::Syncer, "rate") => "resync-rate",
            (Self::Syncer, "after") => "resync-after",
            (Self::Section(Section::Disk), "rate") => "resync-rate",
            _ => name,
        };
        TABLE.iter().find(|spec| spec.name == present && self.accepts(spec))
    }
}

const SYNCER_NAMES: [&str; 8] = [
    "al-extents",
    "resync-after",
    "csums-alg",
    "verify-alg",
    "use-rle",
    "cpu-mask",
    "on-no-data-accessible",
    "data-integrity-alg",
];

/// The options of one section that were given, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionSet {
    values: BTreeMap<&'static str, Value>,
}

impl OptionSet {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What was said in the file, if anything was.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// What was said, or else the default, or `None` where there is none.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value> {
        self.given(name).cloned().or_else(|| default_of(name))
    }

    /// In order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    pub(crate) fn set(&mut self, spec: &'static OptionSpec, value: Value) {
        self.values.insert(spec.name, value);
    }

    /// This set, with what `over` says taking precedence.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        let mut values = self.values.clone();
        values.extend(over.values.iter().map(|(name, value)| (*name, value.clone())));
        Self { values }
    }
}

/// The row of an option outside of `global`.
#[must_use]
pub fn spec_of(name: &str) -> Option<&'static OptionSpec> {
    TABLE.iter().find(|spec| spec.name == name)
}

fn default_of(name: &str) -> Option<Value> {
    let spec = spec_of(name)?;
    value::parse(spec.kind, spec.default?).ok()
}
