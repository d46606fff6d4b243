//! The admin socket of a node: what an operator's tool and the daemon say to each other.
//!
//! One connection carries one request and one response, each a line of JSON that ends with a
//! newline ([`wire`]); only a [`subscription`] goes on after them.
//!
//! A [`request::Request`] names the version of this contract; a daemon that does not speak it
//! answers with [`response::FailureCode::VersionMismatch`] and its own version. Within one version
//! fields are only ever added, and a reader ignores fields that it does not know, so a newer tool
//! reads an older daemon's status.
//!
//! The typed status ([`status`]) is DRBD's `status --json`: the same names, units and order, with
//! our own fields after the known ones. DRBD's state words are enums, one in each file.
//!
//! Beside it stand the types of the control plane: its REST API ([`cluster`]), and the words
//! between it and the agents of the nodes ([`agent`]).
#![forbid(unsafe_code)]

#[macro_use]
mod words;
pub mod request;
pub mod response;
pub mod latency;
pub mod status;
pub mod role;
pub mod disk_state;
pub mod replication_state;
pub mod connection_state;
pub mod write_ordering;
pub mod wire;
pub mod client;
pub mod subscription;
pub mod events;
pub mod log_line;
pub mod cluster;
pub mod agent;
#[cfg(test)]
mod schema;
