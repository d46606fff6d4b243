//! The NBD module through its public face.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is test code")]

mod uri;
mod foreign_server;
