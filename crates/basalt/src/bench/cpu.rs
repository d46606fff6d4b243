//! CPU time of processes, from `/proc/PID/stat`, sorted by whose they are.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use stdx::time::Time;

use crate::clock;

/// The kernel counts in these for user space, on every architecture (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;
/// The parent of the kernel's own threads.
const KTHREADD: u32 = 2;

/// All processes at one moment.
#[derive(Debug)]
pub(crate) struct Sample {
    at: Time,
    processes: BTreeMap<u32, Process>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    owner: Owner,
    ticks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Server,
    Fio,
    Kernel,
    /// This process: it only waits and counts.
    Bench,
    Other,
}

/// CPUs used between two samples: 1.0 is one CPU all the time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) servers: f64,
    pub(crate) fio: f64,
    pub(crate) others: f64,
}

impl Sample {
    pub(crate) fn take(servers: &[u32]) -> Result<Self> {
        let mut processes = BTreeMap::new();
        let entries = fs::read_dir("/proc").context("cannot list /proc")?;
        let at = clock::now();
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // A process may end between the listing and the look.
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            let process = parse(&stat).with_context(|| format!("/proc/{pid}/stat: {stat}"))?;
            processes.insert(pid, process);
        }
        let owners: Vec<(u32, Owner)> =
            processes.keys().map(|pid| (*pid, owner(*pid, servers, &processes))).collect();
        for (pid, owner) in owners {
            processes.entry(pid).and_modify(|process| process.owner = owner);
        }
        Ok(Self { at, processes })
    }
}

impl Shares {
    pub(crate) fn between(first: &Sample, last: &Sample) -> Self {
        let seconds = last.at.since(first.at).as_secs_f64();
        let used = |wanted: Owner| {
            let mine = last.processes.iter().filter(|(_, process)| process.owner == wanted);
            let ticks: u64 = mine
                .map(|(pid, process)| {
                    let before = first.processes.get(pid).map_or(0, |process| process.ticks);
                    process.ticks.saturating_sub(before)
                })
                .sum();
            float(ticks) / TICKS_PER_SECOND / seconds
        };
        Self { servers: used(Owner::Server), fio: used(Owner::Fio), others: used(Owner::Other) }
    }
}

/// Servers are named; fio and what it started are children of this process beside them.
fn owner(pid: u32, servers: &[u32], processes: &BTreeMap<u32, Process>) -> Owner {
    let own = std::process::id();
    let mut ancestor = pid;
    // No chain of parents is longer than the number of processes.
    for _ in 0..processes.len() {
        if servers.contains(&ancestor) {
            return Owner::Server;
        }
        let Some(process) = processes.get(&ancestor) else { break };
        if process.parent == own {
            return Owner::Fio;
        }
        if ancestor == KTHREADD || process.parent == KTHREADD {
            return Owner::Kernel;
        }
        ancestor = process.parent;
    }
    if pid == own { Owner::Bench } else { Owner::Other }
}

/// Fields 4, 14 and 15 of proc(5); the command in field 2 may hold blanks and brackets.
fn parse(stat: &str) -> Option<Process> {
    let after = stat.get(stat.rfind(')')? + 2..)?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let parent = u32::try_from(number(1)?).ok()?;
    Some(Process { parent, owner: Owner::Other, ticks: number(11)? + number(12)? })
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a short time")]
fn float(ticks: u64) -> f64 {
    ticks as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_brackets_is_no_trap() {
        let stat = "17 (a) b) S 4 17 17 0 -1 0 9 9 0 0 250 50 0 0 20 0 1 0 100 1 1";
        assert_eq!(parse(stat), Some(Process { parent: 4, owner: Owner::Other, ticks: 300 }));
        assert_eq!(parse("17 (a"), None);
    }

    #[test]
    fn cpu_time_goes_to_its_owner() {
        let own = std::process::id();
        let process = |parent, ticks| Process { parent, owner: Owner::Other, ticks };
        let at = |seconds: u64, ticks: u64| {
            let mut processes = BTreeMap::from([
                (1, process(0, ticks)),
                (own, process(1, ticks)),
                (900_001, process(own, 2 * ticks)),
                (900_002, process(own, 3 * ticks)),
                (900_003, process(900_002, 4 * ticks)),
            ]);
            let pids: Vec<u32> = processes.keys().copied().collect();
            for pid in pids {
                let owner = owner(pid, &[900_001], &processes);
                processes.get_mut(&pid).unwrap().owner = owner;
            }
            Sample { at: Time(seconds * 1_000_000_000), processes }
        };
        let shares = Shares::between(&at(0, 0), &at(2, 20));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(shares.servers, 0.2), "{shares:?}");
        assert!(close(shares.fio, 0.7), "{shares:?}");
        assert!(close(shares.others, 0.1), "{shares:?}");
    }

    #[test]
    fn this_process_is_found() {
        let sample = Sample::take(&[]).unwrap();
        assert_eq!(sample.processes[&std::process::id()].owner, Owner::Bench);
    }
}
