//! The role of a node in a resource, in DRBD's words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who may write: at most one member of a resource is Primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Role {
    /// A peer that is not connected.
    #[default]
    Unknown,
    Primary,
    Secondary,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Primary, Self::Secondary];

    /// DRBD's word for it, which is also its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Primary => "Primary",
            Self::Secondary => "Secondary",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_name_is_the_displayed_word() {
        for state in Role::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
    }
}
