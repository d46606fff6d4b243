//! The loads of the matrix.

use serde::Serialize;

use crate::fio::{Access, Pattern};

#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) access: Access,
    /// What it is run for.
    pub(super) metric: Metric,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Metric {
    Iops,
    MbPerSecond,
    MeanUs,
}

pub(super) const JOBS: &[Named] = &[
    named("random-read", Pattern::RandomRead, 4, 64, Metric::Iops),
    named("random-70-30", Pattern::RandomMixed, 4, 64, Metric::Iops),
    named("random-write", Pattern::RandomWrite, 4, 64, Metric::Iops),
    named("sequential-read", Pattern::SequentialRead, 128, 16, Metric::MbPerSecond),
    named("sequential-write", Pattern::SequentialWrite, 128, 16, Metric::MbPerSecond),
    named("read-latency", Pattern::RandomRead, 4, 1, Metric::MeanUs),
    named("write-latency", Pattern::RandomWrite, 4, 1, Metric::MeanUs),
];

const fn named(
    name: &'static str,
    pattern: Pattern,
    block_kib: u32,
    depth: u32,
    metric: Metric,
) -> Named {
    Named { name, access: Access { pattern, block_kib, depth }, metric }
}
