//! A deterministic cluster.
