//! What replication to one peer does, in DRBD's words.

words! {
    /// Beyond `Established` a copy or a comparison is under way.
    #[derive(PartialOrd, Ord)]
    pub enum ReplicationState {
        /// No connection, or no replica on either side.
        #[default]
        Off = "Off",
        /// Writes are mirrored; nothing is copied.
        Established = "Established",
        StartingSyncS = "StartingSyncS",
        StartingSyncT = "StartingSyncT",
        WFBitMapS = "WFBitMapS",
        WFBitMapT = "WFBitMapT",
        WFSyncUUID = "WFSyncUUID",
        /// The peer gets what it missed from here.
        SyncSource = "SyncSource",
        /// This replica gets what it missed from the peer.
        SyncTarget = "SyncTarget",
        VerifyS = "VerifyS",
        VerifyT = "VerifyT",
        PausedSyncS = "PausedSyncS",
        PausedSyncT = "PausedSyncT",
        Ahead = "Ahead",
        Behind = "Behind",
    }
}

impl ReplicationState {
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
