//! The bytes that two nodes, or two versions of one node, must agree on.
//!
//! Peer messages and on-disk records as plain types, and their encoding by hand: little-endian,
//! versioned, CRC-32C over every block. Pure: no clock, no I/O, no state.
#![forbid(unsafe_code)]

pub mod ids;
pub mod space;
pub mod config;
pub mod limits;
pub mod message;
pub mod metadata;
pub mod error;
mod wire;
pub mod frame;
mod block;
pub mod layout;
pub mod vote;
pub mod superblock;
pub mod bitmap_page;
pub mod activity_log;
pub mod register;
pub mod foreign;
pub mod drbd;
pub mod adopt_drbd;
