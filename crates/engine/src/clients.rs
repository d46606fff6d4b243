//! The clients of a shard: one room for each front end, and what the front ends share.
//!
//! What a client asks becomes a [`fact::Fact`] for the shard, in parts that bear a `part_id`; the
//! core's answers come back by it. A client that found no room waits (`waiting`) until the `budget`
//! of buffers has some, and what the core still has of one that is gone is `outstanding`.

pub(crate) mod fact;
pub(crate) mod part_id;
pub(crate) mod budget;
mod waiting;
pub(crate) mod outstanding;
mod stream;
mod outbox;
pub(crate) mod nbd;
pub mod nvme;
pub mod ublk;
pub mod vhost;
