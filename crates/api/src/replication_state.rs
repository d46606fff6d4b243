//! What replication to one peer does, in DRBD's words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Beyond `Established` a copy or a comparison is under way.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub enum ReplicationState {
    /// No connection, or no replica on either side.
    #[default]
    Off,
    /// Writes are mirrored; nothing is copied.
    Established,
    StartingSyncS,
    StartingSyncT,
    WFBitMapS,
    WFBitMapT,
    WFSyncUUID,
    /// The peer gets what it missed from here.
    SyncSource,
    /// This replica gets what it missed from the peer.
    SyncTarget,
    VerifyS,
    VerifyT,
    PausedSyncS,
    PausedSyncT,
    Ahead,
    Behind,
}

impl ReplicationState {
    pub const ALL: [Self; 15] = [
        Self::Off,
        Self::Established,
        Self::StartingSyncS,
        Self::StartingSyncT,
        Self::WFBitMapS,
        Self::WFBitMapT,
        Self::WFSyncUUID,
        Self::SyncSource,
        Self::SyncTarget,
        Self::VerifyS,
        Self::VerifyT,
        Self::PausedSyncS,
        Self::PausedSyncT,
        Self::Ahead,
        Self::Behind,
    ];

    /// DRBD's word for it, which is also its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Established => "Established",
            Self::StartingSyncS => "StartingSyncS",
            Self::StartingSyncT => "StartingSyncT",
            Self::WFBitMapS => "WFBitMapS",
            Self::WFBitMapT => "WFBitMapT",
            Self::WFSyncUUID => "WFSyncUUID",
            Self::SyncSource => "SyncSource",
            Self::SyncTarget => "SyncTarget",
            Self::VerifyS => "VerifyS",
            Self::VerifyT => "VerifyT",
            Self::PausedSyncS => "PausedSyncS",
            Self::PausedSyncT => "PausedSyncT",
            Self::Ahead => "Ahead",
            Self::Behind => "Behind",
        }
    }

    /// A resync or a verification is under way, so progress is worth showing.
    #[must_use]
    pub fn has_progress(self) -> bool {
        matches!(
            self,
            Self::SyncSource
                | Self::SyncTarget
                | Self::VerifyS
                | Self::VerifyT
                | Self::PausedSyncS
                | Self::PausedSyncT
        )
    }
}

impl fmt::Display for ReplicationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_name_is_the_displayed_word() {
        for state in ReplicationState::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        }
    }
}
