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

/// Says that a test did nothing, past the capture of what tests print.
fn skip(reason: &str) {
    use std::io::Write;
    // In one write, so that tests at the same time do not mix their lines.
    let line = format!("skipped: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("there is a standard error");
}
