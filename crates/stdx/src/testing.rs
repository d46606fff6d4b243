//! What tests of all crates need: a word for whoever counts them.

use std::io::Write as _;

/// Says that a test does nothing here, and why. `cargo xtask test` counts it as skipped: for
/// libtest it passed, and keeps to itself what a passing test prints, so this goes past that.
///
/// # Panics
/// If there is no standard error: then nobody would know.
pub fn skip(reason: &str) {
    // In one write, so that tests at the same time do not mix their lines.
    let line = format!("skipped: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("there is a standard error");
}
