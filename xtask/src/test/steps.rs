//! The steps of `test`, in the order in which they run: cheap and telling ones first.
//!
//! To add one: write a function that returns what it counted, and an entry here. What a step
//! prints goes straight to the terminal.

use super::{Outcome, libtest};
use crate::check;
use crate::packages::Package;
use crate::process;
use anyhow::Result;

#[derive(Debug)]
pub(crate) struct Step {
    /// The word after `cargo xtask test`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) packages: &'static [Package],
    /// Does `test --quick` run it too?
    pub(crate) is_quick: bool,
    pub(crate) run: fn() -> Result<Outcome>,
}

pub(crate) const ALL: &[Step] = &[
    Step {
        name: "check",
        about: "fmt, clippy, doc, tidy, deny",
        packages: &[],
        is_quick: false,
        run: check::run_parts,
    },
    Step {
        name: "workspace",
        about: "every test of every crate, in one build",
        packages: &[],
        is_quick: true,
        run: workspace,
    },
];

fn workspace() -> Result<Outcome> {
    libtest::run(&mut process::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])?)
}
