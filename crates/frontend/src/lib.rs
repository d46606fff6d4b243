//! Block protocols.
