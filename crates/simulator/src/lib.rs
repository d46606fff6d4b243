//! A deterministic cluster around the real `replication` code: one seed is one run.
//!
//! Nodes, disks with volatile caches, connections that break, processes that are killed and
//! machines that lose power are simulated; the machines of `replication` are the ones that ship.
//! An oracle knows every value that a read may return. A run ends with all faults healed: then
//! everything has to become equal and empty again within a bounded time.
#![forbid(unsafe_code)]

mod contents;
mod checker;
pub mod cluster;
mod disk;
mod oracle;
mod process;
pub mod run;
pub mod seeds;
pub mod shrink;
pub mod sometimes;
pub mod scenario;
