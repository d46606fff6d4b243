//! The state of a replica's disk, in DRBD's words and in DRBD's order.

words! {
    /// Ascending: a later variant is a better disk, and comparisons rely on it.
    #[derive(PartialOrd, Ord)]
    pub enum DiskState {
        /// No replica here: a client, a detached or a failed one.
        #[default]
        Diskless = "Diskless",
        Attaching = "Attaching",
        Detaching = "Detaching",
        /// The device refused a write or a flush.
        Failed = "Failed",
        Negotiating = "Negotiating",
        /// Blank, or being resynced: not readable as a whole.
        Inconsistent = "Inconsistent",
        /// Whole, but of an older epoch.
        Outdated = "Outdated",
        /// A peer that is not connected.
        DUnknown = "DUnknown",
        /// Whole; whether it is the newest is not known yet.
        Consistent = "Consistent",
        /// In sync.
        UpToDate = "UpToDate",
    }
}
