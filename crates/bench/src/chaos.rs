//! `basalt bench chaos`: nodes that die, freeze and lose each other, under the checker's load.
//!
//! Each node is a process on a host of its own in a network of namespaces. A seed draws what
//! strikes, whom, for how long, and whether the next blow comes before the last one has healed.
//! The nodes' disks may be made so that they strike, too: see [`Disks`].
//! When all is healed a write has to go through, now and then all replicas have to be up to date;
//! at the end everything is read back and the replicas are compared byte for byte.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use io::clock;
use stdx::random::Random;

use crate::checker::Run;
use crate::checker::mix::Writes;
use crate::checker::plan::LoadOptions;
use crate::checker::report::Report;
use crate::cluster::disks::{Disks, Refusal};
use crate::cluster::{self, Direction, NODES_MAX, Node, Shape, Signal};
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;
use crate::rig::{self, Rig};
use crate::waiting;

const VOLUME_BYTES: u64 = 128 << 20;
/// A client that waits longer turns to another node.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long to strike
    #[arg(long, default_value_t = 60, value_parser = needs::long_seconds())]
    seconds: u64,
    /// Nodes with a replica
    #[arg(long, default_value_t = 3, value_parser = needs::nodes(3))]
    replicas: usize,
    /// Nodes without one
    #[arg(long, default_value_t = 1, value_parser = needs::nodes(0))]
    clients: usize,
    /// Threads that carry data, of the nodes in turn
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_parser = needs::shards())]
    shards: Vec<u8>,
    /// The disks of the nodes; other than plain ones are FUSE mounts, and so slower
    #[arg(long, value_enum, default_value_t = Disks::Plain)]
    disks: Disks,
    /// Seed of the schedule; random when left out
    #[arg(long, value_name = "SEED", value_parser = needs::any("a seed"))]
    schedule: Option<u64>,
    /// Where the nodes' files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    output: Output,
}

/// What strikes, by the numbers of nodes.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Kill(usize),
    /// The process stands still, its connections stay.
    Freeze(usize),
    Cut(usize, usize, Direction),
    /// From every other node.
    Isolate(usize),
    /// The host vanishes from the network.
    Unplug(usize),
    /// A link that comes and goes.
    Flap(usize, usize),
    /// The machine loses its power, and its disk what it had not written.
    CutPower(usize),
    CutPowerOfAll,
    /// The disk refuses, until it is healed.
    Refuse(usize, Refusal),
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let count = options.replicas + options.clients;
    if options.replicas < 3 || count > NODES_MAX {
        bail!("at least 3 replicas and at most {NODES_MAX} nodes can be struck");
    }
    let seed = options.schedule.unwrap_or_else(|| clock::random_u64() >> 32);
    let report = run(seed, options)?;
    report.print(options.output)
}

fn run(seed: u64, options: &Options) -> Result<Report> {
    cluster::check_room(&options.place, VOLUME_BYTES)?;
    let mut progress = Progress::new();
    let Options { replicas, clients, .. } = *options;
    progress.say(&format!("starting {replicas} replicas and {clients} clients, schedule {seed}"));
    let plan = cluster::Plan {
        shape: Shape { replicas, clients, has_network: true },
        shards: options.shards.clone(),
        disks: options.disks,
        ..cluster::Plan::small(&options.place, VOLUME_BYTES)
    };
    let cluster = rig::start_cluster(&plan, &mut progress)?;
    let servers = cluster.nodes().iter().map(Node::local_uri).collect();
    let mut plan = options.load.plan(servers);
    plan.seed = seed;
    plan.answer_limit = plan.answer_limit.min(ANSWER_LIMIT);
    let run = Run::start(plan).map_err(|error| error.context("before the first blow"))?;
    let mut rig = Rig { cluster, run, progress };
    let time = Duration::from_secs(options.seconds);
    let outcome = strike_for(&mut rig, time, options.disks, &mut Random::new(seed));
    let outcome = outcome.and_then(|()| check_that_disks_struck(&mut rig, options.disks));
    if let Err(error) = outcome {
        return Err(rig.give_up(error.context(format!("chaos schedule {seed}"))));
    }
    if options.disks == Disks::Lying {
        // That it fails is what is wanted: nobody needs its files.
        let (mut report, _) = rig.finish()?;
        report.seed = seed;
        return Ok(report);
    }
    rig.finish_schedule(seed)
}

/// A run in which the disks did no harm has shown nothing of them.
fn check_that_disks_struck(rig: &mut Rig, disks: Disks) -> Result<()> {
    let (refused, lost_bytes) = rig.cluster.disk_faults();
    rig.progress.say(&format!("the disks refused {refused} requests and lost {lost_bytes} bytes"));
    match disks {
        Disks::Plain => {}
        Disks::Volatile | Disks::Lying => ensure!(lost_bytes > 0, "no disk lost anything"),
        Disks::Failing => ensure!(refused > 0, "no disk refused anything"),
    }
    Ok(())
}

fn strike_for(rig: &mut Rig, time: Duration, disks: Disks, random: &mut Random) -> Result<()> {
    let until = clock::now() + time;
    let mut first = open(disks, random);
    rig.go_on(Duration::from_millis(500))?;
    while clock::now() < until {
        let mut struck = Vec::new();
        let second = random.chance(1, 3).then(|| draw(rig, random));
        for blow in std::iter::once(first).chain(second) {
            strike(rig, blow, random)?;
            struck.push(blow);
            rig.go_on(waiting::random_millis(random, 0, 800))?;
        }
        rig.go_on(waiting::random_millis(random, 200, 4000))?;
        heal(rig, &struck)?;
        match random.below(4) {
            // The next blow meets what this one left.
            0 => rig.go_on(waiting::random_millis(random, 0, 1000))?,
            1 => rig.wait_until_whole().context("after the blows were healed")?,
            _ => rig.wait_for_next_write().context("after the blows were healed")?,
        }
        first = draw_first(rig, disks, random);
    }
    rig.wait_until_whole().context("after the last blow")
}

/// What no run may end without.
fn open(disks: Disks, random: &mut Random) -> Blow {
    let node = usize::try_from(random.below(3)).expect("few nodes");
    match disks {
        Disks::Plain => Blow::Kill(node),
        Disks::Volatile => Blow::CutPower(node),
        Disks::Lying => Blow::CutPowerOfAll,
        Disks::Failing => Blow::Refuse(node, Refusal::Writes(1)),
    }
}

/// Where the disks may strike, they do so in half of the rounds.
fn draw_first(rig: &Rig, disks: Disks, random: &mut Random) -> Blow {
    let replicas = rig.cluster.replicas().len();
    let node = usize::try_from(random.below(replicas as u64)).expect("few nodes");
    match disks {
        // Nothing else may stand between what was promised and what is found.
        Disks::Lying => Blow::CutPowerOfAll,
        Disks::Volatile if random.chance(1, 8) => Blow::CutPowerOfAll,
        Disks::Volatile if random.chance(1, 2) => Blow::CutPower(node),
        Disks::Failing if random.chance(1, 2) => {
            // The Primary reads from its own disk alone.
            let primary = rig.cluster.primary().filter(|index| *index < replicas);
            let node = primary.filter(|_| random.chance(1, 2)).unwrap_or(node);
            Blow::Refuse(node, draw_refusal(random))
        }
        Disks::Plain | Disks::Volatile | Disks::Failing => draw(rig, random),
    }
}

fn draw_refusal(random: &mut Random) -> Refusal {
    match random.below(6) {
        0 | 1 => Refusal::Writes(random.below(50) + 1),
        2 | 3 => Refusal::Reads(random.below(50) + 1),
        4 => Refusal::Flushes,
        _ => Refusal::Everything,
    }
}

fn draw(rig: &Rig, random: &mut Random) -> Blow {
    let count = rig.cluster.nodes().len();
    let mut node = || usize::try_from(random.below(count as u64)).expect("few nodes");
    let (first, other) = (node(), node());
    let second = if other == first { (first + 1) % count } else { other };
    match random.below(12) {
        0..4 => Blow::Kill(first),
        4..6 => Blow::Freeze(first),
        6 => Blow::Cut(first, second, Direction::Both),
        7..9 => Blow::Cut(first, second, Direction::OneWay),
        9 => Blow::Isolate(first),
        10 => Blow::Unplug(first),
        _ => Blow::Flap(first, second),
    }
}

fn strike(rig: &mut Rig, blow: Blow, random: &mut Random) -> Result<()> {
    let name = |rig: &Rig, index: usize| rig.cluster.nodes()[index].name;
    match blow {
        Blow::CutPower(index) => {
            // Or the only copy of a write that no flush followed might go.
            rig.wait_until_whole()?;
            note(rig, "node without power", format!("{} loses its power", name(rig, index)));
            rig.cluster.cut_power(index)
        }
        Blow::CutPowerOfAll => {
            rig.wait_until_whole()?;
            rig.write_durably()?;
            note(rig, "cluster without power", "all lose their power".to_owned());
            (0..rig.cluster.nodes().len()).try_for_each(|index| rig.cluster.cut_power(index))
        }
        Blow::Refuse(index, refusal) => {
            if matches!(refusal, Refusal::Flushes | Refusal::Everything) {
                // The disk loses what it cannot flush: others are to have it.
                rig.wait_until_whole()?;
            }
            let text = format!("the disk of {} refuses {refusal:?}", name(rig, index));
            note(rig, "refusing disk", text);
            rig.cluster.refuse(index, Some(refusal));
            Ok(())
        }
        Blow::Kill(index) if rig.cluster.nodes()[index].pid().is_none() => Ok(()),
        Blow::Kill(index) => rig.kill(index, "node"),
        Blow::Freeze(index) if rig.cluster.nodes()[index].pid().is_none() => Ok(()),
        Blow::Freeze(index) => {
            rig.cluster.nodes()[index].signal(Signal::Stop)?;
            note(rig, "frozen node", format!("{} stands still", name(rig, index)));
            Ok(())
        }
        Blow::Cut(from, to, direction) => {
            rig.cluster.network()?.cut(from, to, direction)?;
            let text = format!("{} and {} cut ({direction:?})", name(rig, from), name(rig, to));
            note(rig, "cut", text);
            Ok(())
        }
        Blow::Isolate(index) => {
            for other in (0..rig.cluster.nodes().len()).filter(|other| *other != index) {
                rig.cluster.network()?.cut(index, other, Direction::Both)?;
            }
            note(rig, "isolated node", format!("{} isolated", name(rig, index)));
            Ok(())
        }
        Blow::Unplug(index) => {
            rig.cluster.network()?.unplug(index)?;
            note(rig, "vanished host", format!("the host of {} vanished", name(rig, index)));
            Ok(())
        }
        Blow::Flap(from, to) => {
            note(rig, "flapping link", format!("{} and {} flap", name(rig, from), name(rig, to)));
            for _ in 0..5 {
                rig.cluster.network()?.cut(from, to, Direction::Both)?;
                rig.go_on(waiting::random_millis(random, 50, 400))?;
                rig.cluster.network()?.heal()?;
                rig.go_on(waiting::random_millis(random, 50, 400))?;
            }
            Ok(())
        }
    }
}

fn heal(rig: &mut Rig, struck: &[Blow]) -> Result<()> {
    rig.cluster.network()?.heal()?;
    for blow in struck {
        if let Blow::Freeze(index) = blow
            && rig.cluster.nodes()[*index].pid().is_some()
        {
            rig.cluster.nodes()[*index].signal(Signal::Continue)?;
        }
    }
    for index in 0..rig.cluster.nodes().len() {
        rig.cluster.refuse(index, None);
        if rig.cluster.nodes()[index].pid().is_none() {
            rig.restart(index)?;
        }
    }
    rig.run.load.write(Writes::Mixed);
    Ok(())
}

fn note(rig: &Rig, role: &str, what: String) {
    rig.run.note_fault(role, what);
}
