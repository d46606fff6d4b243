//! Where the processes of a row run. The kernel moves them between CPUs as it likes, and which of
//! them share one by chance decides what a wake costs: a placement takes that chance away, for all
//! systems of a row alike.

use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::needs::Program;

pub(crate) const TASKSET: Program = Program { name: "taskset", package: "util-linux" };

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Placement {
    /// The kernel decides, and changes its mind
    Any,
    /// fio and the server that it asks have one CPU, all other servers another one
    Split,
    /// All of them have one CPU
    One,
}

/// The CPUs of a row's processes; none is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cpus {
    /// Of fio, and of the server that it asks.
    pub(crate) front: Option<usize>,
    pub(crate) others: Option<usize>,
}

impl Placement {
    /// Of those that this process may use.
    pub(crate) fn cpus(self) -> Result<Cpus> {
        if self == Self::Any {
            return Ok(Cpus::default());
        }
        let status = fs::read_to_string("/proc/self/status").context("cannot read its status")?;
        self.among(&allowed(&status))
    }

    fn among(self, allowed: &[usize]) -> Result<Cpus> {
        let front = allowed.first().copied();
        let others = match self {
            Self::Any => return Ok(Cpus::default()),
            Self::Split => allowed.get(1).copied(),
            Self::One => front,
        };
        others.context("--placement split takes two CPUs, and this machine has one")?;
        Ok(Cpus { front, others })
    }

    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Any => "the kernel decides which CPU each process is on",
            Self::Split => "fio and the server that it asks on one CPU, other servers on another",
            Self::One => "fio and all servers on one CPU",
        }
    }
}

/// `Cpus_allowed_list` of proc(5): numbers and ranges of them.
fn allowed(status: &str) -> Vec<usize> {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let ranges = line.unwrap_or_default().trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_of_those_that_may_be_used() {
        let cpus = allowed("Name:\tx\nCpus_allowed_list:\t2-3,6\n");
        assert_eq!(cpus, [2, 3, 6]);
        let on = |front, others| Cpus { front: Some(front), others: Some(others) };
        assert_eq!(Placement::Any.among(&cpus).unwrap(), Cpus::default());
        assert_eq!(Placement::Split.among(&cpus).unwrap(), on(2, 3));
        assert_eq!(Placement::One.among(&cpus).unwrap(), on(2, 2));
        assert_eq!(Placement::One.among(&[5]).unwrap(), on(5, 5));
        let error = Placement::Split.among(&[5]).unwrap_err().to_string();
        assert!(error.contains("takes two CPUs"), "{error}");
    }
}
