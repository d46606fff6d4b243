//! `basalt bench upgrade`: another version of this program and this one in one cluster, under the
//! checker's load.
//!
//! Three nodes begin as the other version, become this one node by node, and then the other one
//! again. Writes go on all the time, all replicas are up to date before the next node is touched,
//! and on each way the Primary dies twice in the mixed cluster: once it is of the version that
//! goes, once of the one that comes.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::checker::Run;
use crate::checker::plan::LoadOptions;
use crate::checker::report::Report;
use crate::cluster::{self, Node};
use crate::output::Output;
use crate::progress::Progress;
use crate::rig::{self, Rig};

const VOLUME_BYTES: u64 = 128 << 20;
/// How long the load goes on between two steps, so that each meets writes of its own.
const PAUSE: Duration = Duration::from_millis(500);
/// What a node that comes back may take until all replicas are up to date: versions that refuse
/// each other never are.
const RETURN_LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The binary of the other version
    #[arg(long)]
    other: PathBuf,
    /// Where the nodes' files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Other,
    This,
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Other => "the other version",
            Self::This => "this version",
        })
    }
}

struct Programs {
    other: PathBuf,
    this: PathBuf,
}

impl Programs {
    fn path(&self, version: Version) -> &Path {
        match version {
            Version::Other => &self.other,
            Version::This => &self.this,
        }
    }
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let other = fs::canonicalize(&options.other)
        .with_context(|| format!("there is no program {}", options.other.display()))?;
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    ensure!(other != this, "{} is this program: name another version", other.display());
    let report = run(&Programs { other, this }, options)?;
    report.print(options.output)
}

fn run(programs: &Programs, options: &Options) -> Result<Report> {
    cluster::check_room(&options.place, VOLUME_BYTES)?;
    let mut progress = Progress::new();
    progress.say(&format!("starting three nodes of {}", Version::Other));
    let plan = cluster::Plan {
        program: Some(programs.other.clone()),
        ..cluster::Plan::small(&options.place, VOLUME_BYTES)
    };
    let cluster = rig::start_cluster(&plan, &mut progress)?;
    let servers = cluster.nodes().iter().map(Node::local_uri).collect();
    let plan = options.load.plan(servers);
    let seed = plan.seed;
    let run = Run::start(plan).map_err(|error| error.context("before the first step"))?;
    let mut rig = Rig { cluster, run, progress };
    let outcome = walk(&mut rig, programs, Version::Other, Version::This)
        .and_then(|()| walk(&mut rig, programs, Version::This, Version::Other));
    match outcome {
        Ok(()) => rig.finish_schedule(seed),
        Err(error) => Err(rig.give_up(error)),
    }
}

/// All nodes from one version to the other, the Primary last.
fn walk(rig: &mut Rig, programs: &Programs, from: Version, to: Version) -> Result<()> {
    let [first, second, third] = [0, 1, 2];
    rig.serve_at(first)?;
    replace(rig, programs, second, to)?;
    kill_primary(rig, first, from)?;
    rig.serve_at(second)?;
    kill_primary(rig, second, to)?;
    rig.serve_at(first)?;
    replace(rig, programs, third, to)?;
    rig.serve_at(second)?;
    replace(rig, programs, first, to)
}

/// A node ends as an operator would end it, and comes back as `version`.
fn replace(rig: &mut Rig, programs: &Programs, index: usize, version: Version) -> Result<()> {
    let name = rig.cluster.nodes()[index].name;
    let what = format!("{name} becomes {version}");
    rig.progress.say(&what);
    rig.run.note_fault("replaced node", what.clone());
    let program = programs.path(version);
    rig.cluster.replace(index, program).with_context(|| what.clone())?;
    let running = rig.cluster.nodes()[index].running_program()?;
    ensure!(running == program, "{name} runs {}, not {version}", running.display());
    settle(rig).context(what)
}

/// The Primary dies and comes back as the same version.
fn kill_primary(rig: &mut Rig, index: usize, version: Version) -> Result<()> {
    let name = rig.cluster.nodes()[index].name;
    let what = format!("kill -9 of {name}, Primary, {version}");
    rig.progress.say(&what);
    rig.kill(index, "primary")?;
    rig.wait_for_next_write().with_context(|| what.clone())?;
    rig.go_on(PAUSE)?;
    rig.restart(index)?;
    settle(rig).context(what)
}

fn settle(rig: &mut Rig) -> Result<()> {
    rig.wait_for_next_write()?;
    rig.wait_until_whole_within(RETURN_LIMIT)?;
    rig.go_on(PAUSE)
}
