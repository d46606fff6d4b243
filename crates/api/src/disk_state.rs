//! The state of a replica's disk, in DRBD's words and in DRBD's order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Ascending: a later variant is a better disk, and comparisons rely on it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub enum DiskState {
    /// No replica here: a client, a detached or a failed one.
    #[default]
    Diskless,
    Attaching,
    Detaching,
    /// The device refused a write or a flush.
    Failed,
    Negotiating,
    /// Blank, or being resynced: not readable as a whole.
    Inconsistent,
    /// Whole, but of an older epoch.
    Outdated,
    /// A peer that is not connected.
    DUnknown,
    /// Whole; whether it is the newest is not known yet.
    Consistent,
    /// In sync.
    UpToDate,
}

impl DiskState {
    pub const ALL: [Self; 10] = [
        Self::Diskless,
        Self::Attaching,
        Self::Detaching,
        Self::Failed,
        Self::Negotiating,
        Self::Inconsistent,
        Self::Outdated,
        Self::DUnknown,
        Self::Consistent,
        Self::UpToDate,
    ];

    /// DRBD's word for it, which is also its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Diskless => "Diskless",
            Self::Attaching => "Attaching",
            Self::Detaching => "Detaching",
            Self::Failed => "Failed",
            Self::Negotiating => "Negotiating",
            Self::Inconsistent => "Inconsistent",
            Self::Outdated => "Outdated",
            Self::DUnknown => "DUnknown",
            Self::Consistent => "Consistent",
            Self::UpToDate => "UpToDate",
        }
    }
}

impl fmt::Display for DiskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_name_is_the_displayed_word() {
        for state in DiskState::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
    }
}
