//! How one write is kept behind another on the backing device, in DRBD's words.

words! {
    pub enum WriteOrdering {
        #[default]
        None = "none",
        Drain = "drain",
        Flush = "flush",
        Barrier = "barrier",
    }
}
