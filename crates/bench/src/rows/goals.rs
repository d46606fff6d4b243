//! The goals: what is done, by whom, and how much is good enough.
//!
//! Goals in microseconds were set on a machine with two virtual CPUs of 2.5 GHz, where QEMU's
//! quorum made the requests per second that stand beside them. Instructions per write are no row of
//! these: `cargo xtask test instructions` counts them.

use std::fmt;

use crate::fio::{Access, Pattern};
use crate::needs::Program;
use crate::systems;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Random writes, 32 in flight
    #[value(name = "write-32")]
    Write32,
    /// The same, 128 in flight over four connections
    #[value(name = "write-128")]
    Write128,
    /// One write after the other
    #[value(name = "write-1")]
    Write1,
    /// Random reads where the serving node has a replica
    ReadLocal,
    /// Random reads where it has none
    ReadClient,
    /// Large writes in a row
    SequentialWrite,
    /// Large reads in a row from hosts whose links are slow
    SequentialReadLinks,
    /// One write and flush after the other, on a disk
    Commit,
}

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// Three replicas, served by a node that has one.
    Basalt,
    /// Three replicas, served by a fourth node.
    BasaltClient,
    Quorum,
    Nbdkit,
    /// Replicas on hosts of their own with slow links, served by a node without one.
    BehindLinks {
        replicas: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Memory,
    Disk,
}

/// What is asked of the first system of a row; a ratio is to the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// Microseconds of all servers, per request.
    CpuAtMost(f64),
    EntersAtMost(f64),
    RateAtLeast(f64),
    LatencyAtMost(f64),
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) access: Access,
    pub(super) connections: usize,
    pub(super) place: Place,
    pub(super) systems: &'static [Contender],
    pub(super) goals: &'static [Goal],
    /// Of quorum, on the machine that the goals were set on.
    pub(super) quorum_iops: Option<f64>,
}

const WITH_QUORUM: &[Contender] = &[Contender::Basalt, Contender::Quorum];
const BEHIND_LINKS: &[Contender] =
    &[Contender::BehindLinks { replicas: 3 }, Contender::BehindLinks { replicas: 1 }];

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Write32,
        Self::Write128,
        Self::Write1,
        Self::SequentialWrite,
        Self::ReadLocal,
        Self::ReadClient,
        Self::Commit,
        Self::SequentialReadLinks,
    ];

    pub(super) fn row(self) -> Row {
        let access = |pattern, block_kib, depth| Access { pattern, block_kib, depth };
        let row = |name, access, systems, goals| Row {
            name,
            access,
            connections: 1,
            place: Place::Memory,
            systems,
            goals,
            quorum_iops: None,
        };
        let small_writes = |depth| access(Pattern::RandomWrite, 4, depth);
        let small_reads = access(Pattern::RandomRead, 4, 32);
        match self {
            Self::Write32 => {
                let goals =
                    &[Goal::CpuAtMost(16.0), Goal::RateAtLeast(5.0), Goal::EntersAtMost(0.5)];
                let row = row("write-32", small_writes(32), WITH_QUORUM, goals);
                Row { quorum_iops: Some(12_240.0), ..row }
            }
            Self::Write128 => {
                let row = row("write-128", small_writes(32), WITH_QUORUM, &[Goal::CpuAtMost(12.0)]);
                Row { connections: 4, ..row }
            }
            Self::Write1 => {
                let goals = &[Goal::LatencyAtMost(0.5), Goal::CpuAtMost(60.0)];
                let row = row("write-1", small_writes(1), WITH_QUORUM, goals);
                Row { quorum_iops: Some(6_118.0), ..row }
            }
            Self::ReadLocal => {
                let systems = &[Contender::Basalt, Contender::Nbdkit];
                row("read-local", small_reads, systems, &[Goal::RateAtLeast(1.0)])
            }
            Self::ReadClient => {
                let systems = &[Contender::BasaltClient, Contender::Quorum];
                let row = row("read-client", small_reads, systems, &[Goal::CpuAtMost(20.0)]);
                Row { quorum_iops: Some(14_758.0), ..row }
            }
            Self::SequentialWrite => {
                let access = access(Pattern::SequentialWrite, 128, 16);
                row("sequential-write", access, WITH_QUORUM, &[Goal::RateAtLeast(4.0)])
            }
            Self::SequentialReadLinks => {
                let access = access(Pattern::SequentialRead, 128, 16);
                let goals = &[Goal::RateAtLeast(2.5)];
                row("sequential-read-links", access, BEHIND_LINKS, goals)
            }
            Self::Commit => {
                let access = access(Pattern::Commit, 4, 1);
                let row = row("commit", access, WITH_QUORUM, &[Goal::LatencyAtMost(0.7)]);
                Row { place: Place::Disk, ..row }
            }
        }
    }
}

impl Contender {
    /// What it consists of, beside this program.
    pub(super) fn programs(self) -> &'static [Program] {
        match self {
            Self::Basalt | Self::BasaltClient => &[],
            Self::Quorum => &[systems::QEMU, systems::IP],
            Self::Nbdkit => &[systems::NBDKIT],
            Self::BehindLinks { .. } => &[systems::IP, systems::TC],
        }
    }

    pub(super) fn needs_root(self) -> bool {
        matches!(self, Self::BehindLinks { .. })
    }

    /// What all copies of a volume take; for nbdkit in memory, which for tmpfs is the same.
    pub(super) fn room_bytes(self, volume_bytes: u64) -> u64 {
        match self {
            Self::Basalt | Self::BasaltClient => systems::replicas_bytes(3, volume_bytes),
            Self::BehindLinks { replicas } => systems::replicas_bytes(replicas, volume_bytes),
            Self::Quorum => 3 * volume_bytes,
            Self::Nbdkit => volume_bytes,
        }
    }
}

impl Row {
    /// What a write is worth in this row, on a system that keeps it so.
    pub(super) fn durability(&self, of_system: &str) -> String {
        let flushed = match self.access.pattern {
            Pattern::Commit => "; each flush waits until every replica has flushed its disk",
            Pattern::RandomRead
            | Pattern::RandomWrite
            | Pattern::RandomMixed
            | Pattern::SequentialRead
            | Pattern::SequentialWrite => "",
        };
        format!("{of_system}{flushed}")
    }

    pub(super) fn what(&self) -> String {
        match self.connections {
            1 => self.access.to_string(),
            more => format!("{} on each of {more} connections", self.access),
        }
    }

    pub(super) fn note(&self) -> Option<&'static str> {
        let is_commit = self.access.pattern == Pattern::Commit;
        is_commit.then_some("the mean is of write and flush together, p50 and p99 of the flush")
    }
}

impl Goal {
    pub(super) fn is_met(self, found: f64) -> bool {
        match self {
            Self::CpuAtMost(most) | Self::EntersAtMost(most) | Self::LatencyAtMost(most) => {
                found <= most
            }
            Self::RateAtLeast(least) => found >= least,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CpuAtMost(most) => write!(f, "CPU us per request at most {most}"),
            Self::EntersAtMost(most) => write!(
                f,
                "io_uring_enter per request, all daemons (without tmpfs pwrites), at most {most}"
            ),
            Self::RateAtLeast(least) => write!(f, "rate at least {least} times the other's"),
            Self::LatencyAtMost(most) => {
                write!(f, "mean latency at most {most} times the other's")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_row_is_called_as_its_word_on_the_command_line_and_has_a_goal() {
        assert_eq!(Kind::value_variants().len(), Kind::ALL.len());
        for kind in Kind::ALL {
            let row = kind.row();
            assert_eq!(kind.to_possible_value().unwrap().get_name(), row.name);
            assert!(!row.goals.is_empty() && row.systems.len() == 2, "{row:?}");
        }
    }
}
