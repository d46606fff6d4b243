//! Block protocols: what a client speaks to a node.
//!
//! Each protocol is a module of state machines over bytes. They read no socket, no clock and no
//! file; the daemon moves the bytes and owns the buffers.
#![forbid(unsafe_code)]

pub mod block;
pub mod nbd;
pub mod nvme;
pub mod ublk;
pub mod vhost;
