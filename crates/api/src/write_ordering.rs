//! How one write is kept behind another on the backing device, in DRBD's words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The JSON names are lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteOrdering {
    #[default]
    None,
    Drain,
    Flush,
    Barrier,
}

impl WriteOrdering {
    pub const ALL: [Self; 4] = [Self::None, Self::Drain, Self::Flush, Self::Barrier];

    /// DRBD's word for it, which is also its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Drain => "drain",
            Self::Flush => "flush",
            Self::Barrier => "barrier",
        }
    }
}

impl fmt::Display for WriteOrdering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_name_is_the_displayed_word() {
        for state in WriteOrdering::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
    }
}
