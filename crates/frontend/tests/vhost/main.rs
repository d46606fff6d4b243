//! The vhost-user module through its public face, without a monitor and without a guest.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod guest;
mod monitor;
mod ring;
mod request;
mod hostile;
mod inflight;
