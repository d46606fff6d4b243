//! The kill schedule: a seed decides which node of an own cluster dies when, and for how long.
//!
//! Every kind of victim comes equally often, in an order drawn by the seed. Before each kill
//! all replicas are up to date, so that each kind meets the situation that it names.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use stdx::random::Random;

use crate::checker::Run;
use crate::checker::plan::LoadOptions;
use crate::checker::report::Report;
use crate::cluster;
use crate::needs;
use crate::progress::Progress;
use crate::rig::{self, Rig};
use crate::waiting;

const VOLUME_BYTES: u64 = 256 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Victim {
    /// The node that serves
    Primary,
    /// One of the others
    Secondary,
    /// A secondary that has just come back and is being filled
    SyncTarget,
    /// Too few are left to go on, until one is back
    BothSecondaries,
    /// All at once
    Everyone,
}

impl Victim {
    const ALL: [Self; 5] =
        [Self::Primary, Self::Secondary, Self::SyncTarget, Self::BothSecondaries, Self::Everyone];
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KillOptions {
    /// How many rounds of killing
    #[arg(long, default_value_t = 20, conflicts_with = "nbd", value_parser = needs::kills())]
    kills: u32,
    /// Whom to kill, each equally often
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Victim::ALL)]
    #[arg(conflicts_with = "nbd")]
    victims: Vec<Victim>,
    /// Where the nodes' files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    #[arg(conflicts_with = "nbd")]
    place: PathBuf,
    /// Threads that carry data, of the nodes in turn
    #[arg(long, value_delimiter = ',', default_values_t = [1], conflicts_with = "nbd",
        value_parser = needs::shards())]
    shards: Vec<u8>,
}

/// Runs all rounds against a cluster that is made for it.
pub(crate) fn run(seed: u64, options: &KillOptions, load: &LoadOptions) -> Result<Report> {
    let KillOptions { kills, victims, place, shards } = options;
    cluster::check_room(place, VOLUME_BYTES)?;
    let mut random = Random::new(seed);
    let mut progress = Progress::new();
    progress.say("starting three nodes");
    let small = cluster::Plan::small(place, VOLUME_BYTES);
    let plan = cluster::Plan { shards: shards.clone(), ..small };
    let cluster = rig::start_cluster(&plan, &mut progress)?;
    let servers = cluster.nodes().iter().map(cluster::Node::uri).collect();
    let mut plan = load.plan(servers);
    plan.seed = seed;
    let mut rig = Rig { cluster, run: Run::start(plan)?, progress };
    let outcome =
        (0..*kills).zip(order(victims, random.clone())).try_for_each(|(round, victim)| {
            rig.progress.say(&format!("round {} of {kills}: {victim:?}", round + 1));
            strike(&mut rig, victim, &mut random)
        });
    let outcome = outcome.and_then(|()| rig.wait_until_whole().context("after the last kill"));
    if let Err(error) = outcome {
        return Err(rig.give_up(error.context(format!("kill schedule {seed}"))));
    }
    rig.finish_schedule(seed)
}

/// All kinds of victims over and over, each round of them shuffled.
fn order(victims: &[Victim], mut random: Random) -> impl Iterator<Item = Victim> {
    let mut left: Vec<Victim> = Vec::new();
    std::iter::from_fn(move || {
        if left.is_empty() {
            left.extend(victims);
        }
        let index = random.below(left.len() as u64);
        Some(left.swap_remove(usize::try_from(index).expect("an index of a short list")))
    })
}

fn strike(rig: &mut Rig, victim: Victim, random: &mut Random) -> Result<()> {
    rig.wait_until_whole()?;
    rig.go_on(waiting::random_millis(random, 200, 1200))?;
    let primary = primary(rig)?;
    let count = rig.cluster.nodes().len();
    let others: Vec<usize> = (0..count).filter(|index| *index != primary).collect();
    let other = *random.pick(&others).context("a cluster has more than one node")?;
    match victim {
        Victim::Primary => {
            rig.kill(primary, "primary")?;
            rig.wait_for_next_write()?;
            rig.go_on(waiting::random_millis(random, 100, 1000))?;
            rig.restart(primary)
        }
        Victim::Secondary => {
            rig.kill(other, "secondary")?;
            rig.wait_for_next_write()?;
            rig.go_on(waiting::random_millis(random, 100, 1000))?;
            rig.restart(other)
        }
        Victim::SyncTarget => {
            rig.kill(other, "secondary")?;
            rig.wait_for_next_write()?;
            rig.go_on(waiting::random_millis(random, 500, 1500))?;
            rig.restart(other)?;
            rig.go_on(waiting::random_millis(random, 0, 300))?;
            rig.kill(other, "returning secondary")?;
            rig.wait_for_next_write()?;
            rig.restart(other)
        }
        Victim::BothSecondaries => {
            for index in &others {
                rig.kill(*index, "one of both secondaries")?;
            }
            rig.go_on(waiting::random_millis(random, 0, 500))?;
            others.iter().try_for_each(|index| rig.restart(*index))?;
            rig.wait_for_next_write()
        }
        Victim::Everyone => {
            for index in [primary].iter().chain(&others) {
                rig.kill(*index, "everyone")?;
            }
            (0..count).try_for_each(|index| rig.restart(index))?;
            rig.wait_for_next_write()
        }
    }
}

/// The node that is primary now; right after a take-over it may take a moment to be seen.
fn primary(rig: &Rig) -> Result<usize> {
    let limit = Duration::from_secs(10);
    waiting::wait_for("exactly one primary", limit, || Ok(rig.cluster.primary()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_victim_comes_equally_often() {
        let drawn: Vec<Victim> = order(&Victim::ALL, Random::new(5)).take(20).collect();
        for victim in Victim::ALL {
            assert_eq!(drawn.iter().filter(|one| **one == victim).count(), 4, "{victim:?}");
        }
        assert_eq!(drawn, order(&Victim::ALL, Random::new(5)).take(20).collect::<Vec<_>>());
    }
}
