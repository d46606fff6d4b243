//! The role of a node in a resource, in DRBD's words.

words! {
    /// Says whether a node may write: at most one member of a resource is Primary.
    pub enum Role {
        /// A peer that is not connected.
        #[default]
        Unknown = "Unknown",
        Primary = "Primary",
        Secondary = "Secondary",
    }
}
