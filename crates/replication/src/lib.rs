//! The replication core.
