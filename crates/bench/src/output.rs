//! The option `--json`, and results as text or as JSON.

use std::io::{Stdout, Write as _};

use anyhow::Result;
use serde::Serialize;

/// How the result is printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Output {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Output {
    /// Prints the report to standard output, as `text` does or as JSON.
    pub(crate) fn print(
        self,
        report: &impl Serialize,
        text: impl FnOnce(&mut Stdout) -> Result<()>,
    ) -> Result<()> {
        let mut out = std::io::stdout();
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(report)?)?;
            return Ok(());
        }
        text(&mut out)
    }
}
