//! The one binary: `basalt adm|node|...`.

mod adm;
mod daemon;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "adm" => adm::main(words),
        Some(word) if word == "node" => daemon::main(words),
        _ => ExitCode::from(1),
    }
}
