//! The daemon.
pub mod create_md;
