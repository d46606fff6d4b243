//! The ring.
