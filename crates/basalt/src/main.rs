//! The one binary: `basalt adm|...`.

mod adm;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "adm" => adm::main(words),
        _ => ExitCode::from(1),
    }
}
