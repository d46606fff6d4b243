//! The kernel's own block devices: what the ublk driver and its server say to each other.
//!
//! ```text
//! control device   add, parameters, start .. stop, delete        `control`
//!                  start recovery, end recovery                  (after a server died)
//! a queue          descriptor -> Request -> parts of the core    `request`
//! ```
//!
//! Only meaning is here: numbers to requests, and wishes to bytes. The rings, the mapped memory and
//! the files are the daemon's.

pub mod control;
pub mod request;
