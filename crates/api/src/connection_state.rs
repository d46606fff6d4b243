//! The state of the connection to one peer, in DRBD's words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Only `Connected` carries data.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub enum ConnectionState {
    /// Told not to connect, or refused for good; the reason is in the status.
    #[default]
    StandAlone,
    Disconnecting,
    Unconnected,
    Timeout,
    BrokenPipe,
    NetworkFailure,
    ProtocolError,
    TearDown,
    /// Trying, again and again.
    Connecting,
    Connected,
}

impl ConnectionState {
    pub const ALL: [Self; 10] = [
        Self::StandAlone,
        Self::Disconnecting,
        Self::Unconnected,
        Self::Timeout,
        Self::BrokenPipe,
        Self::NetworkFailure,
        Self::ProtocolError,
        Self::TearDown,
        Self::Connecting,
        Self::Connected,
    ];

    /// DRBD's word for it, which is also its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StandAlone => "StandAlone",
            Self::Disconnecting => "Disconnecting",
            Self::Unconnected => "Unconnected",
            Self::Timeout => "Timeout",
            Self::BrokenPipe => "BrokenPipe",
            Self::NetworkFailure => "NetworkFailure",
            Self::ProtocolError => "ProtocolError",
            Self::TearDown => "TearDown",
            Self::Connecting => "Connecting",
            Self::Connected => "Connected",
        }
    }
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_name_is_the_displayed_word() {
        for state in ConnectionState::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
    }
}
