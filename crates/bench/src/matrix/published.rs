//! Figures that others published of the same loads on twelve servers. Only figures stand here that
//! the text of the source gives.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Published {
    pub(super) who: &'static str,
    pub(super) what: &'static str,
    pub(super) hardware: &'static str,
    pub(super) source: &'static str,
    pub(super) cells: &'static [Cell],
    pub(super) remark: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Cell {
    pub(super) job: &'static str,
    pub(super) text: &'static str,
}

const fn cell(job: &'static str, text: &'static str) -> Cell {
    Cell { job, text }
}

pub(super) const ALL: [Published; 2] = [
    Published {
        who: "LINBIT, DRBD 9",
        what: "three synchronous replicas; 8 loads in containers on each of 12 servers, 96 in all; \
               the figure is of remote reads, to stand beside ours without a local replica",
        hardware: "12 standard servers of the Intel Data Center Builders program; the text that \
                   could be read names neither processors, drives nor network",
        source: "https://linbit.com/blog/iops-world-record-broken-linbit-tops-14-8-million-iops/",
        cells: &[cell("random-read", "14,800,000 IOPS")],
        remark: "The source has figures for the other loads too, and for local replicas; they \
                 could not be read and checked, so they are left out rather than recalled. It \
                 calls its latencies a fraction of a millisecond.",
    },
    Published {
        who: "StorPool",
        what: "three replicas; virtual machines (KVM) on each of 12 servers, which also hold the \
               drives",
        hardware: "12 servers and 48 NVMe drives of the Intel Data Center Builders program; the \
                   text that could be read names neither processors nor network",
        source: "https://storpool.com/blog/the-iops-challenge-is-over-storpool-holds-the-new-\
                 world-record-13-8-mln-iops",
        cells: &[
            cell("random-read", "13,800,000 IOPS (404 us)"),
            cell("sequential-write", "20,800 MB/s"),
            cell("read-latency", "137 us"),
            cell("write-latency", "95 us"),
        ],
        remark: "Latencies are those that the source gives for a low load; its block sizes and \
                 depths for each figure were not in the text that could be read.",
    },
];
