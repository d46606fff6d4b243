//! `model [--size small|large]`: searches every model, and says how many states each has.

use std::process::ExitCode;

use model::register::{Register, Size};
use model::{Finding, data, forks, search};

#[expect(clippy::print_stdout, reason = "a command line tool")]
#[expect(clippy::print_stderr, reason = "a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (register, data, forks) = match words[..] {
        [] | ["--size", "small"] => {
            (&Size::SMALL[..], &data::Size::SMALL[..], &forks::Size::SMALL[..])
        }
        ["--size", "large"] => (&Size::LARGE[..], &data::Size::LARGE[..], &forks::Size::LARGE[..]),
        _ => {
            eprintln!("usage: model [--size small|large]");
            return ExitCode::FAILURE;
        }
    };
    let mut is_good = true;
    let mut report = |name: String, finding: Finding| {
        println!("{name}: {} states", finding.states);
        if let Some((property, way)) = &finding.broken {
            println!("  broken: {property}, after\n    {}", way.join("\n    "));
        }
        for name in &finding.unreached {
            println!("  never seen: {name}");
        }
        is_good &= finding.is_good();
    };
    for &size in register {
        report(format!("register, {}", size.name), search(Register { size, without: None }));
    }
    for &size in data {
        report(format!("data, {}", size.name), search(data::Data { size, without: None }));
    }
    for &size in forks {
        report(format!("forks, {}", size.name), search(forks::Forks { size, without: None }));
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
