//! The steps of `test`, in the order in which they run: cheap and telling ones first.
//!
//! To add one: write a function that returns what it counted, and an entry here. What a step
//! prints goes straight to the terminal.

use super::{
    bench, chaos, drbd_utils, failover, fio, idle, images, instructions, kills, libtest,
    monitoring, packages, python_linstor, units, upgrade,
};
use crate::outcome::Outcome;
use crate::packages::Package;
use crate::process;
use crate::{check, commit, container, fuzz, guest, model, mutate, sim, tidy};
use anyhow::{Context as _, Result};
use std::{fmt, thread};

#[derive(Debug)]
pub(crate) struct Step {
    /// The word after `cargo xtask test`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) packages: &'static [Package],
    pub(crate) tier: Tier,
    /// Seconds that it may take on two CPUs, the build aside.
    pub(crate) budget_s: u64,
    /// Files and folders of the repository whose change asks for it again; or [`WHOLE`], which
    /// every change touches.
    pub(crate) guards: &'static [&'static str],
    pub(crate) run: fn() -> Result<Outcome>,
}

/// When a step runs unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// By `test --quick` and `test`.
    Quick,
    /// By `test`.
    Commit,
    /// By `test --long`; a short one by `test` too, after a change of what it guards.
    Long,
}

impl fmt::Display for Tier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Quick => "quick",
            Self::Commit => "commit",
            Self::Long => "long",
        })
    }
}

/// Of a step that guards all of the product, and the documents and examples that tests type.
pub(crate) const WHOLE: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "clippy.toml",
    "crates",
    "docs/config.md",
    "docs/man",
    "docs/monitoring",
    "docs/operate",
    "docs/options.md",
    "docs/systemd",
    "examples",
    "rust-toolchain.toml",
    "tests/guest",
    "tests/packages",
    "tests/upgrade",
    "xtask",
];

/// The budget up to which a long step is short enough for `test`.
const GUARD_BUDGET_MAX_S: u64 = 300;
/// Of a part of the long tier: a machine may be lent for no longer.
#[cfg(test)]
const BUDGET_MAX_S: u64 = 2700;

impl Step {
    /// Does `test` run this long step after a change of what it guards?
    pub(crate) fn is_guard(&self) -> bool {
        self.tier == Tier::Long && self.guards != WHOLE && self.budget_s <= GUARD_BUDGET_MAX_S
    }

    /// Does a change of this file or folder ask for it?
    pub(crate) fn guards(&self, path: &str) -> bool {
        let is_in = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.guards.iter().any(|guarded| is_in(path, guarded) || is_in(guarded, path))
    }
}

pub(crate) fn named(name: &str) -> Option<&'static Step> {
    ALL.iter().find(|step| step.name == name)
}

/// What the documents of the repository say of the steps, for `tidy`.
pub(crate) fn named_elsewhere() -> tidy::Named {
    let packages = ALL.iter().flat_map(|step| step.packages).copied();
    tidy::Named {
        steps: ALL.iter().map(|step| step.name).collect(),
        container: container::list(packages),
    }
}

pub(crate) const ALL: &[Step] = &[
    Step {
        name: "check",
        about: "fmt, clippy, tidy, deny",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 300,
        guards: WHOLE,
        run: || check::run_parts(&named_elsewhere()),
    },
    Step {
        name: "workspace",
        about: "every test of every crate, in one build",
        packages: &[
            ("nbdkit", "our NBD client against a server of others"),
            ("libnbd-bin", "our NBD server and its holes against nbdinfo, any byte with nbdfuse"),
            ("python3-libnbd", "the same with nbdsh"),
            ("qemu-utils", "holes against qemu-img, any byte with qemu-io"),
            ("e2fsprogs", "a disk on a file system that is full"),
            ("tmux", "`basalt top` in a terminal"),
            ("python3", "the NBD client of the examples"),
            ("zsh", "reading the completions for it"),
            ("fish", "reading the completions for it"),
        ],
        tier: Tier::Quick,
        budget_s: 1200,
        guards: WHOLE,
        run: workspace,
    },
    Step {
        name: "poll",
        about: "the reactor's tests without io_uring",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 70,
        guards: WHOLE,
        run: poll,
    },
    Step {
        name: "instructions",
        about: "what a write costs the core, counted by callgrind",
        packages: &[("valgrind", "counts the instructions of the core")],
        tier: Tier::Commit,
        budget_s: 40,
        guards: WHOLE,
        run: instructions::run,
    },
    Step {
        name: "mutations",
        about: "the simulator sees six planted faults of the core",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 180,
        guards: WHOLE,
        run: mutate::fixed,
    },
    Step {
        name: "checker-canary",
        about: "the checker finds each flaw of a server that has one",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 10,
        guards: WHOLE,
        run: kills::canary,
    },
    Step {
        name: "demo",
        about: "the demo, shortened: a secondary and the primary die",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 30,
        guards: WHOLE,
        run: kills::demo,
    },
    Step {
        name: "kills",
        about: "nodes of every role die under the checker",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 40,
        guards: WHOLE,
        run: kills::some,
    },
    Step {
        name: "kill-all",
        about: "all three nodes die at once under the checker, four times",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 40,
        guards: WHOLE,
        run: kills::everyone,
    },
    Step {
        name: "upgrade",
        about: "nodes go to this version and back one by one, beside the base's",
        packages: &[],
        tier: Tier::Commit,
        budget_s: 40,
        guards: WHOLE,
        run: upgrade::run,
    },
    Step {
        name: "failover-short",
        about: "the primary dies, vanishes, hands over; a secondary stands still",
        packages: CHAOS_PACKAGES,
        tier: Tier::Commit,
        budget_s: 100,
        guards: WHOLE,
        run: failover::short,
    },
    Step {
        name: "images",
        about: "ext4 and xfs images survive the death of each node",
        packages: &[
            ("libnbd-bin", "copying images with nbdcopy"),
            ("qemu-utils", "comparing images with qemu-img"),
            ("e2fsprogs", "an ext4 image and its check"),
            ("xfsprogs", "an xfs image and its check"),
        ],
        tier: Tier::Long,
        budget_s: 60,
        guards: &[
            "crates/frontend/src/nbd",
            "crates/frontend/src/nbd.rs",
            "crates/engine/src/clients/nbd",
            "crates/engine/src/clients/nbd.rs",
            "crates/engine/src/clients/outbox.rs",
        ],
        run: images::run,
    },
    Step {
        name: "drbd-utils",
        about: "drbdadm of Debian agrees with us, and drbdmeta's replicas are taken over",
        packages: &[("drbd-utils", "comparing with drbdadm, metadata by drbdmeta")],
        tier: Tier::Commit,
        budget_s: 20,
        guards: WHOLE,
        run: drbd_utils::run,
    },
    Step {
        name: "python-linstor",
        about: "LINSTOR's client in Python works unmodified with the controller",
        packages: &[("python3-venv", "an environment for python-linstor")],
        tier: Tier::Commit,
        budget_s: 60,
        guards: WHOLE,
        run: python_linstor::run,
    },
    Step {
        name: "monitoring",
        about: "promtool accepts the metrics of a daemon, and the alert rules",
        packages: &[("prometheus", "checking metrics and alert rules with promtool")],
        tier: Tier::Commit,
        budget_s: 10,
        guards: WHOLE,
        run: monitoring::run,
    },
    Step {
        name: "units",
        about: "systemd takes the units as they are, and the daemon its file",
        packages: &[("systemd", "checking the units with systemd-analyze")],
        tier: Tier::Commit,
        budget_s: 10,
        guards: WHOLE,
        run: units::run,
    },
    Step {
        name: "fio-verify",
        about: "fio reads back what it wrote while the other nodes die",
        packages: &[("fio", "writes that are read back and checked")],
        tier: Tier::Commit,
        budget_s: 30,
        guards: WHOLE,
        run: fio::verify,
    },
    Step {
        name: "chaos",
        about: "nodes die, freeze, lose each other, their power and their disks",
        packages: CHAOS_PACKAGES,
        tier: Tier::Long,
        budget_s: 150,
        guards: &[
            "crates/bench/src/chaos.rs",
            "crates/bench/src/cluster",
            "crates/bench/src/cluster.rs",
            "crates/io/src",
            "crates/engine/src/contract.rs",
            "crates/engine/src/definition/link.rs",
            "crates/engine/src/links",
            "crates/engine/src/links.rs",
            "crates/engine/src/shard",
            "crates/engine/src/shard.rs",
        ],
        run: chaos::short,
    },
    Step {
        name: "idle",
        about: "memory, CPU and start of nodes with 1 TiB, 100 TiB and 100 volumes",
        packages: &[],
        tier: Tier::Long,
        budget_s: 100,
        guards: &[
            "crates/bench/src/idle.rs",
            "crates/node/src/attach",
            "crates/node/src/attach.rs",
            "crates/node/src/control",
            "crates/node/src/control.rs",
        ],
        run: idle::short,
    },
    Step {
        name: "bench",
        about: "the matrix of loads, shortened: all run, and the report is whole",
        packages: &[
            ("fio", "the loads"),
            ("qemu-system-common", "qemu-storage-daemon, which runs the same loads"),
        ],
        tier: Tier::Long,
        budget_s: 60,
        guards: &[
            "crates/bench/src/fio",
            "crates/bench/src/fio.rs",
            "crates/bench/src/matrix",
            "crates/bench/src/matrix.rs",
            "crates/bench/src/systems.rs",
        ],
        run: bench::short,
    },
    Step {
        name: "packages",
        about: "packages: same bytes twice, installed, upgraded in use, removed, purged",
        packages: &[
            ("ansible-core", "the Ansible role of the examples"),
            ("binutils", "debug files of packages"),
            ("dpkg-dev", "the libraries that a Debian package depends on"),
            ("iproute2", "hosts in network namespaces"),
            ("lintian", "the rules of Debian for packages"),
            ("mmdebstrap", "the Debian in which packages are tried"),
            ("mount", "mounting what a Debian root needs"),
            ("procps", "the first process of a Debian root"),
            ("rpm", "making and installing RPMs"),
            ("shellcheck", "the scripts of packages"),
        ],
        tier: Tier::Long,
        budget_s: 250,
        guards: &[
            "crates/basalt/src/daemon",
            "crates/basalt/src/daemon.rs",
            "docs/systemd",
            "examples",
            "tests/packages",
            "xtask/package",
            "xtask/src/package",
            "xtask/src/package.rs",
            "xtask/src/test/packages.rs",
        ],
        run: packages::run,
    },
    Step {
        name: "guest",
        about: "real kernels: file systems on our devices, and nodes that die under them",
        packages: guest::PACKAGES,
        tier: Tier::Long,
        budget_s: 240,
        guards: &[
            "crates/engine/src/links",
            "crates/engine/src/links.rs",
            "crates/engine/src/definition/link.rs",
            "crates/engine/src/clients/nvme",
            "crates/engine/src/clients/nvme.rs",
            "crates/engine/src/clients/ublk",
            "crates/engine/src/clients/ublk.rs",
            "crates/engine/src/clients/vhost",
            "crates/engine/src/clients/vhost.rs",
            "tests/guest",
            "xtask/src/guest",
            "xtask/src/guest.rs",
        ],
        run: guest::short,
    },
    Step {
        name: "kills-full",
        about: "twenty kills of nodes of every role under the checker",
        packages: &[],
        tier: Tier::Long,
        budget_s: 600,
        guards: WHOLE,
        run: kills::many,
    },
    Step {
        name: "failover",
        about: "the same, twenty times each",
        packages: CHAOS_PACKAGES,
        tier: Tier::Long,
        budget_s: 360,
        guards: WHOLE,
        run: failover::long,
    },
    Step {
        name: "chaos-full",
        about: "the same for ten minutes, with three and with five replicas",
        packages: CHAOS_PACKAGES,
        tier: Tier::Long,
        budget_s: 640,
        guards: WHOLE,
        run: chaos::long,
    },
    Step {
        name: "idle-full",
        about: "as idle, after a minute of rest",
        packages: &[],
        tier: Tier::Long,
        budget_s: 150,
        guards: WHOLE,
        run: idle::long,
    },
    Step {
        name: "doc",
        about: "rustdoc of every crate, without a warning",
        packages: &[],
        tier: Tier::Long,
        budget_s: 240,
        guards: WHOLE,
        run: check::doc,
    },
    Step {
        name: "cluster-plain",
        about: "every process test with one shard",
        packages: PROCESS_PACKAGES,
        tier: Tier::Long,
        budget_s: 600,
        guards: WHOLE,
        run: || cluster("plain"),
    },
    Step {
        name: "cluster-shards",
        about: "every process test with two, one and three shards",
        packages: PROCESS_PACKAGES,
        tier: Tier::Long,
        budget_s: 600,
        guards: WHOLE,
        run: || cluster("shards"),
    },
    Step {
        name: "cluster-tls",
        about: "every process test with TLS, and two, one and three shards",
        packages: PROCESS_PACKAGES,
        tier: Tier::Long,
        budget_s: 600,
        guards: WHOLE,
        run: || cluster("tls"),
    },
    Step {
        name: "cluster-poll",
        about: "every process test without io_uring",
        packages: PROCESS_PACKAGES,
        tier: Tier::Long,
        budget_s: 600,
        guards: WHOLE,
        run: || cluster("poll"),
    },
    Step {
        name: "guest-all",
        about: "every chapter that needs a kernel of its own",
        packages: guest::PACKAGES,
        tier: Tier::Long,
        budget_s: 2700,
        guards: WHOLE,
        run: guest::all,
    },
    Step {
        name: "model-large",
        about: "the large models of the protocol, to the last state",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: &["crates/model"],
        run: || model::searched("large"),
    },
    Step {
        name: "fuzz",
        about: "seeded garbage for every decoder and the core, a minute each",
        packages: &[],
        tier: Tier::Long,
        budget_s: 1200,
        guards: &[
            "crates/config",
            "crates/format",
            "crates/frontend",
            "crates/replication",
            "crates/simulator",
            "crates/stdx",
        ],
        run: || fuzz::each(60),
    },
    Step {
        name: "planner",
        about: "a million steps of users, machines and agents around the planner of a cluster",
        packages: &[],
        tier: Tier::Long,
        budget_s: 900,
        guards: &["crates/api/src/agent.rs", "crates/controller/src"],
        run: planner,
    },
    Step {
        name: "simulator",
        about: "the whole sets of seeds of the simulator's tests, and that rare things happen",
        packages: &[],
        tier: Tier::Long,
        budget_s: 600,
        guards: CORE,
        run: simulator,
    },
    Step {
        name: "hunt-1",
        about: "25,000 seeds of the simulator's default kind, from 1",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2400,
        guards: CORE,
        run: || sim::hunted(&[], 1, 25_000),
    },
    Step {
        name: "hunt-2",
        about: "25,000 seeds of the simulator's default kind, from 25,001",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2400,
        guards: CORE,
        run: || sim::hunted(&[], 25001, 25_000),
    },
    Step {
        name: "hunt-3",
        about: "25,000 seeds of the simulator's default kind, from 50,001",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2400,
        guards: CORE,
        run: || sim::hunted(&[], 50001, 25_000),
    },
    Step {
        name: "hunt-4",
        about: "25,000 seeds of the simulator's default kind, from 75,001",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2400,
        guards: CORE,
        run: || sim::hunted(&[], 75001, 25_000),
    },
    Step {
        name: "hunt-kinds",
        about: "2,000 seeds of each other kind of run of the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2400,
        guards: CORE,
        run: sim::hunted_by_kind,
    },
    Step {
        name: "mutate-1",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(0, 6),
    },
    Step {
        name: "mutate-2",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(1, 6),
    },
    Step {
        name: "mutate-3",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(2, 6),
    },
    Step {
        name: "mutate-4",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(3, 6),
    },
    Step {
        name: "mutate-5",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(4, 6),
    },
    Step {
        name: "mutate-6",
        about: "a sixth of the planted faults, each seen by the simulator",
        packages: &[],
        tier: Tier::Long,
        budget_s: 2700,
        guards: CORE,
        run: || mutate::share(5, 6),
    },
];

/// What the simulator runs.
const CORE: &[&str] = &["crates/format", "crates/replication", "crates/simulator", "crates/stdx"];

const PROCESS_PACKAGES: &[Package] = &[
    ("iproute2", "hosts in network namespaces"),
    ("nftables", "cutting the network between them"),
    ("nbdkit", "our NBD client against a server of others"),
    ("libnbd-bin", "our NBD server and its holes against nbdinfo"),
    ("qemu-utils", "the same against qemu-img"),
];

const CHAOS_PACKAGES: &[Package] = &[
    ("iproute2", "hosts in network namespaces"),
    ("nftables", "cutting the network between them"),
    ("procps", "stopping processes with kill"),
    ("mount", "mounting the disks that fail"),
];

/// Names the variant of every process test; see crates/basalt/tests/cluster/variant.rs.
const VARIANT: &str = "BASALT_TEST_VARIANT";

/// How many tests libtest runs at a time.
const THREADS: &str = "RUST_TEST_THREADS";

/// Says which seeds the sets of the simulator's tests have; see crates/simulator/src/seeds.rs.
const SEEDS: &str = "BASALT_SEEDS";

/// Each process test runs once, in a variant that it draws from its name and the commit.
fn workspace() -> Result<Outcome> {
    let commit = commit::find("HEAD")?.context("this clone has no commit")?;
    let mut cargo = process::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])?;
    cargo.env(VARIANT, format!("drawn:{commit}")).env(SEEDS, format!("moving:{commit}"));
    libtest::run(cargo.env(THREADS, threads()?))
}

/// Most process tests wait for others and for deadlines: a processor has time for two of them.
fn threads() -> Result<String> {
    let processors = thread::available_parallelism().context("cannot count the processors")?;
    Ok((2 * processors.get()).to_string())
}

/// What needs nothing but a kernel that has no `io_uring`, or will not give it.
fn poll() -> Result<Outcome> {
    let words = ["test", "--locked", "--no-fail-fast", "-p", "io"];
    let mut cargo = process::cargo(&words)?;
    cargo.args(["--lib", "--test", "sockets", "--test", "disks", "--test", "kicks"]);
    libtest::run(cargo.args(["--test", "allocations"]).env("BASALT_IO_BACKEND", "poll"))
}

fn simulator() -> Result<Outcome> {
    let words = ["test", "--locked", "--no-fail-fast", "-p", "simulator"];
    libtest::run(&mut process::cargo(&words)?)
}

/// Of 400 steps each.
const COURSES: &str = "2500";

fn planner() -> Result<Outcome> {
    let words = ["test", "--locked", "-p", "controller", "course::"];
    libtest::run(process::cargo(&words)?.env("BASALT_COURSES", COURSES))
}

fn cluster(variant: &str) -> Result<Outcome> {
    let words = ["test", "--locked", "--no-fail-fast", "-p", "basalt", "--test", "cluster"];
    libtest::run(process::cargo(&words)?.env(VARIANT, variant).env(THREADS, threads()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_step_is_a_part_that_a_machine_has_time_for() {
        for (index, step) in ALL.iter().enumerate() {
            assert!((1..=BUDGET_MAX_S).contains(&step.budget_s), "{}", step.name);
            let mut others = ALL.iter().take(index);
            assert!(others.all(|other| other.name != step.name), "{} stands twice", step.name);
        }
    }

    /// A module is its file and the folder beside it.
    #[test]
    fn who_guards_a_folder_guards_the_file_of_that_name() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for step in ALL {
            for path in step.guards {
                let file = format!("{path}.rs");
                assert!(
                    !root.join(&file).exists() || step.guards(&file),
                    "{} guards {path} without {file}",
                    step.name
                );
            }
        }
    }

    #[test]
    fn a_change_asks_for_the_steps_that_guard_it() {
        let asked_for = |path: &str| -> Vec<_> {
            ALL.iter().filter(|step| step.guards(path)).map(|step| step.name).collect()
        };
        assert!(asked_for("crates/config/src/parser/resource.rs").contains(&"fuzz"));
        assert!(asked_for("crates/engine/src/shard").contains(&"chaos"), "of the folder");
        assert!(asked_for("crates/engine/src/shard/submit.rs").contains(&"chaos"), "of a file");
        assert!(!asked_for("crates/engine/src/shards.rs").contains(&"chaos"), "of a like name");
        assert_eq!(asked_for("nowhere"), Vec::<&str>::new());
    }
}
