//! The steps of `test`, in the order in which they run: cheap and telling ones first.
//!
//! Times in the texts are budgets on two CPUs, the build aside.
//!
//! To add one: write a function that returns what it counted, and an entry here. What a step
//! prints goes straight to the terminal.

use super::{
    Outcome, bench, chaos, drbd_utils, failover, fio, idle, images, instructions, kills, libtest,
    monitoring, upgrade,
};
use crate::check;
use crate::guest;
use crate::mutate;
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
        packages: &[
            ("nbdkit", "our NBD client against a server of others"),
            ("libnbd-bin", "our NBD server and its holes against nbdinfo, any byte with nbdfuse"),
            ("python3-libnbd", "the same with nbdsh"),
            ("qemu-utils", "holes against qemu-img, any byte with qemu-io"),
            ("tmux", "`basalt top` in a terminal"),
        ],
        is_quick: true,
        run: workspace,
    },
    Step {
        name: "poll",
        about: "the reactor's and the cluster's tests without io_uring (70 s)",
        packages: &[],
        is_quick: false,
        run: poll,
    },
    Step {
        name: "instructions",
        about: "what a write costs the core, counted by callgrind (40 s)",
        packages: &[("valgrind", "counts the instructions of the core")],
        is_quick: false,
        run: instructions::run,
    },
    Step {
        name: "mutations",
        about: "the simulator sees six planted faults of the core (3 min)",
        packages: &[],
        is_quick: false,
        run: mutate::fixed,
    },
    Step {
        name: "checker-canary",
        about: "the checker finds each flaw of a server that has one (10 s)",
        packages: &[],
        is_quick: false,
        run: kills::canary,
    },
    Step {
        name: "demo",
        about: "the demo, shortened: a secondary and the primary die (30 s)",
        packages: &[],
        is_quick: false,
        run: kills::demo,
    },
    Step {
        name: "kills",
        about: "nodes of every role die under the checker (40 s)",
        packages: &[],
        is_quick: false,
        run: kills::some,
    },
    Step {
        name: "kill-all",
        about: "all three nodes die at once under the checker, four times (40 s)",
        packages: &[],
        is_quick: false,
        run: kills::everyone,
    },
    Step {
        name: "upgrade",
        about: "nodes go to this version and back one by one, beside the base's (40 s)",
        packages: &[],
        is_quick: false,
        run: upgrade::run,
    },
    Step {
        name: "failover-short",
        about: "the primary dies, vanishes, hands over; a secondary stands still (100 s)",
        packages: CHAOS_PACKAGES,
        is_quick: false,
        run: failover::short,
    },
    Step {
        name: "images",
        about: "ext4 and xfs images survive the death of each node (60 s)",
        packages: &[
            ("libnbd-bin", "copying images with nbdcopy"),
            ("qemu-utils", "comparing images with qemu-img"),
            ("e2fsprogs", "an ext4 image and its check"),
            ("xfsprogs", "an xfs image and its check"),
        ],
        is_quick: false,
        run: images::run,
    },
    Step {
        name: "drbd-utils",
        about: "drbdadm of Debian agrees with us, and drbdmeta's replicas are taken over (20 s)",
        packages: &[("drbd-utils", "comparing with drbdadm, metadata by drbdmeta")],
        is_quick: false,
        run: drbd_utils::run,
    },
    Step {
        name: "monitoring",
        about: "promtool accepts the metrics of a daemon, and the alert rules (10 s)",
        packages: &[("prometheus", "checking metrics and alert rules with promtool")],
        is_quick: false,
        run: monitoring::run,
    },
    Step {
        name: "fio-verify",
        about: "fio reads back what it wrote while the other nodes die (30 s)",
        packages: &[("fio", "writes that are read back and checked")],
        is_quick: false,
        run: fio::verify,
    },
    Step {
        name: "chaos",
        about: "nodes die, freeze, lose each other, their power and their disks (150 s)",
        packages: CHAOS_PACKAGES,
        is_quick: false,
        run: chaos::short,
    },
    Step {
        name: "idle",
        about: "memory, CPU and start of nodes with 1 TiB, 100 TiB and 100 volumes (100 s)",
        packages: &[],
        is_quick: false,
        run: idle::short,
    },
    Step {
        name: "bench",
        about: "the matrix of loads, shortened: all run, and the report is whole (60 s)",
        packages: &[
            ("fio", "the loads"),
            ("qemu-system-common", "qemu-storage-daemon, which runs the same loads"),
        ],
        is_quick: false,
        run: bench::short,
    },
    Step {
        name: "guest",
        about: "real kernels: file systems on our devices, and nodes that die under them (4 min)",
        packages: guest::PACKAGES,
        is_quick: false,
        run: guest::short,
    },
];

const CHAOS_PACKAGES: &[Package] = &[
    ("iproute2", "hosts in network namespaces"),
    ("nftables", "cutting the network between them"),
    ("procps", "stopping processes with kill"),
    ("mount", "mounting the disks that fail"),
];

/// Longer forms, which run only when they are named.
pub(crate) const ON_REQUEST: &[Step] = &[
    Step {
        name: "kills-full",
        about: "twenty kills of nodes of every role under the checker (10 min)",
        packages: &[],
        is_quick: false,
        run: kills::many,
    },
    Step {
        name: "failover",
        about: "the same, twenty times each (6 min)",
        packages: CHAOS_PACKAGES,
        is_quick: false,
        run: failover::long,
    },
    Step {
        name: "chaos-full",
        about: "the same for ten minutes, with three and with five replicas",
        packages: CHAOS_PACKAGES,
        is_quick: false,
        run: chaos::long,
    },
    Step {
        name: "idle-full",
        about: "as idle, after a minute of rest (150 s)",
        packages: &[],
        is_quick: false,
        run: idle::long,
    },
];

fn workspace() -> Result<Outcome> {
    libtest::run(&mut process::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])?)
}

/// What needs nothing but a kernel that has no `io_uring`, or will not give it.
fn poll() -> Result<Outcome> {
    let words = ["test", "--locked", "--no-fail-fast", "-p", "io", "-p", "basalt"];
    let mut cargo = process::cargo(&words)?;
    cargo.args(["--lib", "--test", "sockets", "--test", "disks", "--test", "kicks"]);
    cargo.args(["--test", "allocations", "--test", "cluster"]);
    libtest::run(cargo.env("BASALT_IO_BACKEND", "poll"))
}
