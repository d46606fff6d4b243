//! The NBD module through its public face.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod ram_server;
mod uri;
mod golden;
mod handshake;
mod parts;
mod two_party;
mod strict_client;
mod fuzz;
mod foreign_server;
mod foreign_client;
