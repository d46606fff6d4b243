//! CPU time, sorted by whose it is: of the servers and of fio from `/proc/PID/stat`, of everybody
//! else as what is left of the machine's own count in `/proc/stat`. Nobody has to be seen for that:
//! processes that came and went count, and so do the kernel's threads and interrupts.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use io::clock;
use stdx::time::Time;

/// The kernel counts in these for user space, on every architecture (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// All processes at one moment.
#[derive(Debug)]
pub(crate) struct Sample {
    at: Time,
    machine: Machine,
    processes: BTreeMap<u32, Process>,
}

/// Ticks of all CPUs since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    busy: u64,
    /// Taken by the host of a virtual machine while somebody here wanted to run.
    stolen: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    is_fio: bool,
    owner: Owner,
    ticks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Server,
    Fio,
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
    pub(crate) stolen: f64,
}

impl Sample {
    pub(crate) fn take(servers: &[u32]) -> Result<Self> {
        let mut processes = BTreeMap::new();
        let entries = fs::read_dir("/proc").context("cannot list /proc")?;
        let at = clock::now();
        let stat = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        let machine = parse_machine(&stat).with_context(|| format!("/proc/stat: {stat}"))?;
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
        Ok(Self { at, machine, processes })
    }
}

impl Shares {
    pub(crate) fn between(first: &Sample, last: &Sample) -> Self {
        let seconds = last.at.since(first.at).as_secs_f64();
        let cpus = |ticks: u64| float(ticks) / TICKS_PER_SECOND / seconds;
        let used = |wanted: Owner| -> u64 {
            let mine = last.processes.iter().filter(|(_, process)| process.owner == wanted);
            mine.map(|(pid, process)| {
                let before = first.processes.get(pid).map_or(0, |process| process.ticks);
                process.ticks.saturating_sub(before)
            })
            .sum()
        };
        let (servers, fio) = (used(Owner::Server), used(Owner::Fio));
        let known = servers + fio + used(Owner::Bench);
        let busy = last.machine.busy.saturating_sub(first.machine.busy);
        Self {
            servers: cpus(servers),
            fio: cpus(fio),
            // The kernel counts the two in different ways: less than nothing may be left.
            others: cpus(busy.saturating_sub(known)),
            stolen: cpus(last.machine.stolen.saturating_sub(first.machine.stolen)),
        }
    }
}

/// Servers are named; fio and what it started are children of this process. Its other children are
/// systems whose turn it is not.
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
            return if process.is_fio { Owner::Fio } else { Owner::Other };
        }
        ancestor = process.parent;
    }
    if pid == own { Owner::Bench } else { Owner::Other }
}

/// Fields 2, 4, 14 and 15 of proc(5); the command in field 2 may hold blanks and brackets.
fn parse(stat: &str) -> Option<Process> {
    let (begin, end) = (stat.find('(')?, stat.rfind(')')?);
    let is_fio = stat.get(begin + 1..end)? == "fio";
    let fields: Vec<&str> = stat.get(end + 2..)?.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let parent = u32::try_from(number(1)?).ok()?;
    let ticks = number(11)? + number(12)?;
    Some(Process { parent, is_fio, owner: Owner::Other, ticks })
}

/// The first line of proc(5): user, nice, system, idle, iowait, irq, softirq, steal. What guests of
/// this machine used is within the first two.
fn parse_machine(stat: &str) -> Option<Machine> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _idle, _wait, interrupts, soft, stolen, ..] = ticks[..] else {
        return None;
    };
    Some(Machine { busy: user + nice + system + interrupts + soft, stolen })
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a short time")]
fn float(ticks: u64) -> f64 {
    ticks as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(parent: u32, ticks: u64) -> Process {
        Process { parent, is_fio: false, owner: Owner::Other, ticks }
    }

    /// Servers 900,001; fio 900,002 and its child; a system that waits for its turn.
    fn sample(seconds: u64, ticks: u64, machine: Machine) -> Sample {
        let own = std::process::id();
        let mut processes = BTreeMap::from([
            (1, process(0, 0)),
            (own, process(1, ticks)),
            (900_001, process(own, 2 * ticks)),
            (900_002, Process { is_fio: true, ..process(own, 3 * ticks) }),
            (900_003, process(900_002, 4 * ticks)),
            (900_004, process(own, 5 * ticks)),
        ]);
        let pids: Vec<u32> = processes.keys().copied().collect();
        for pid in pids {
            let owner = owner(pid, &[900_001], &processes);
            processes.get_mut(&pid).unwrap().owner = owner;
        }
        Sample { at: Time(seconds * 1_000_000_000), machine, processes }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_command_with_brackets_is_no_trap() {
        let stat = "17 (a) b) S 4 17 17 0 -1 0 9 9 0 0 250 50 0 0 20 0 1 0 100 1 1";
        assert_eq!(parse(stat), Some(process(4, 300)));
        assert!(parse(&stat.replace("a) b", "fio")).unwrap().is_fio);
        assert_eq!(parse("17 (a"), None);
    }

    #[test]
    fn the_machines_own_count_is_read_without_what_was_idle_or_stolen() {
        let stat = "cpu  1 20 300 4000 5000 60 7 800 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse_machine(stat), Some(Machine { busy: 388, stolen: 800 }));
        assert_eq!(parse_machine("cpu  1 2 3\n"), None);
    }

    #[test]
    fn cpu_time_goes_to_its_owner_and_what_is_left_to_the_others() {
        let first = sample(0, 0, Machine { busy: 1000, stolen: 50 });
        // 300 of whom nobody was seen, beside a system that should have been quiet.
        let last = sample(2, 20, Machine { busy: 1000 + 15 * 20 + 300, stolen: 70 });
        let shares = Shares::between(&first, &last);
        assert!(close(shares.servers, 0.2), "{shares:?}");
        assert!(close(shares.fio, 0.7), "{shares:?}");
        assert!(close(shares.others, 0.5 + 1.5), "{shares:?}");
        assert!(close(shares.stolen, 0.1), "{shares:?}");
    }

    #[test]
    fn a_count_that_lags_behind_is_no_negative_disturbance() {
        let none = Machine { busy: 0, stolen: 0 };
        let shares = Shares::between(&sample(0, 0, none), &sample(1, 20, none));
        assert!(close(shares.others, 0.0), "{shares:?}");
    }

    #[test]
    fn this_process_is_found() {
        let sample = Sample::take(&[]).unwrap();
        assert_eq!(sample.processes[&std::process::id()].owner, Owner::Bench);
        assert!(sample.machine.busy > 0, "{sample:?}");
    }
}
