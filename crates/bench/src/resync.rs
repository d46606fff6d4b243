//! `basalt bench resync`: a node that was away for some seconds under load comes back, again and
//! again. How much is copied, how long it takes, and what is left for the clients meanwhile.
//!
//! Three nodes on this machine; fio writes 4 KiB blocks at random places over NBD without a pause.
//! Before each absence a window with nothing to copy is measured, so that the two kinds of windows
//! take turns. What clients do is the growth of the primary's own `written`: no clock is shared
//! with fio, and nothing but clients' writes is in it, for the primary is the source of all copies.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use io::clock;
use serde::Serialize;
use stdx::time::Time;

use crate::cluster::Signal;
use crate::fio::{self, Access, Job, Pattern};
use crate::fleet::{self, Fleet, Hosts, Members};
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;

const NODES: usize = 3;
const BLOCK_KIB: u32 = 4;
/// The one that goes away; node 0 serves.
const AWAY: usize = 2;
/// What the daemon keeps to where nothing else is configured (`c-max-rate`), in KiB a second.
const RATE_KIB: f64 = 102_400.0;
const UP_TO_DATE_LIMIT: Duration = Duration::from_secs(60);
/// For one return, a generous bound: the report judges how long it took.
const RETURN_LIMIT: Duration = Duration::from_secs(120);
/// After the load begins, and after a return.
const CALM: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Absences
    #[arg(long, default_value_t = 5, value_parser = needs::count())]
    rounds: usize,
    /// What happens to the node
    #[arg(long, value_enum, default_value_t = Absence::Frozen)]
    absence: Absence,
    /// Seconds of each absence
    #[arg(long, default_value_t = 10, value_parser = needs::seconds(1))]
    away: u64,
    /// Seconds of each window in which nothing is copied
    #[arg(long, default_value_t = 5, value_parser = needs::seconds(1))]
    base: u64,
    /// MiB of the volume, all of which is written before
    #[arg(long, default_value_t = 1024, value_parser = needs::size_mib(64))]
    size_mib: u64,
    /// Writes in flight
    #[arg(long, default_value_t = 32, value_parser = needs::depth())]
    depth: u32,
    /// Where the replicas go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Absence {
    /// It stands still, and goes on as if nothing had happened
    Frozen,
    /// Its daemon is killed, and starts again: what its activity log names is copied, too
    Killed,
}

#[derive(Debug, Serialize)]
struct Report {
    absence: Absence,
    size_mib: u64,
    depth: u32,
    away_seconds: u64,
    /// KiB a second.
    rate_kib: f64,
    rounds: Vec<Round>,
    /// Medians of the rounds.
    iops_share: f64,
    time_share: f64,
    /// The largest of all rounds.
    copied_share: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Round {
    base_iops: f64,
    resync_iops: f64,
    /// Marked when the copying began.
    marked_kib: u64,
    /// At most so much was copied, what was in flight at the last look included.
    copied_kib: u64,
    seconds: f64,
    /// Of the IOPS without a resync, what was left.
    iops_share: f64,
    /// Of the time that twice the marked bytes take at the rate.
    time_share: f64,
    /// Of what was marked and in flight.
    copied_share: f64,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let progress = Progress::new();
    progress.say("starting three nodes");
    let members = Members { replicas: (0..NODES).collect(), clients: Vec::new() };
    let mut fleet = Fleet::start(&fleet::Plan {
        place: options.place.clone(),
        nodes: NODES,
        hosts: Hosts::Loopback,
        shards: 1,
        // Metadata stands behind the data.
        backing_bytes: (options.size_mib + 8) << 20,
        volumes: vec![members],
    })?;
    let report = measure(&mut fleet, options, progress).map_err(|error| fleet.evidence(&error))?;
    options.output.print(&report, |out| report.print(out))?;
    Ok(ExitCode::SUCCESS)
}

fn measure(fleet: &mut Fleet, options: &Options, mut progress: Progress) -> Result<Report> {
    fleet.wait_until_up_to_date(UP_TO_DATE_LIMIT)?;
    fleet.promote(&[0])?;
    let targets = vec![fleet.uri(0, 0)];
    let span_bytes = options.size_mib << 20;
    let scratch = fleet.scratch().to_owned();
    progress.say("writing the whole volume once");
    fio::fill(&targets, span_bytes, &scratch, |_| ())?;
    let access =
        Access { pattern: Pattern::RandomWrite, block_kib: BLOCK_KIB, depth: options.depth };
    let (ramp, time) = (Duration::ZERO, Duration::ZERO);
    let job = Job { targets, span_bytes, access, cpu: None, ramp, time };
    let absence = Duration::from_secs(options.away + options.base) + CALM + RETURN_LIMIT;
    let limit = absence * u32::try_from(options.rounds).context("so many rounds")?;
    let mut watch = Watch { fleet, options, phase: Phase::calm(), rounds: Vec::new() };
    fio::load_while(&job, &scratch, "the node to come back", limit, || {
        let (round, rounds) = (watch.rounds.len() + 1, options.rounds);
        let words = watch.phase.words();
        progress.show(None, || format!("round {round} of {rounds}: {words}"));
        watch.look()?;
        Ok((watch.rounds.len() == rounds).then_some(()))
    })?;
    Ok(Report::of(options, watch.rounds))
}

struct Watch<'a> {
    fleet: &'a mut Fleet,
    options: &'a Options,
    phase: Phase,
    rounds: Vec<Round>,
}

enum Phase {
    Calm { since: Time },
    Base { from: Sample },
    Away { since: Time, base_iops: f64 },
    Returning { since: Time, base_iops: f64 },
    Copying { from: Sample, base_iops: f64, marked_kib: u64, copied_kib: u64 },
}

/// What clients had written at a time.
#[derive(Clone, Copy)]
struct Sample {
    at: Time,
    written_kib: u64,
}

impl Watch<'_> {
    fn look(&mut self) -> Result<()> {
        let now = clock::now();
        let state = self.fleet.status(0, 0)?;
        let sample = Sample { at: now, written_kib: written_kib(&state)? };
        let away = Duration::from_secs(self.options.away);
        self.phase = match std::mem::replace(&mut self.phase, Phase::calm()) {
            Phase::Calm { since } if now.since(since) >= CALM => Phase::Base { from: sample },
            Phase::Base { from } if now.since(from.at).as_secs() >= self.options.base => {
                match self.options.absence {
                    Absence::Frozen => self.fleet.signal(AWAY, Signal::Stop)?,
                    Absence::Killed => self.fleet.kill(AWAY)?,
                }
                Phase::Away { since: now, base_iops: sample.iops_since(from) }
            }
            Phase::Away { since, base_iops } if now.since(since) >= away => {
                match self.options.absence {
                    Absence::Frozen => self.fleet.signal(AWAY, Signal::Continue)?,
                    Absence::Killed => self.fleet.start_node(AWAY)?,
                }
                Phase::Returning { since: now, base_iops }
            }
            Phase::Returning { since, base_iops } => {
                ensure!(now.since(since) < RETURN_LIMIT, "no resync began");
                match copied(&state) {
                    Some((copied_kib, left_kib)) => {
                        let marked_kib = copied_kib + left_kib;
                        Phase::Copying { from: sample, base_iops, marked_kib, copied_kib }
                    }
                    None => Phase::Returning { since, base_iops },
                }
            }
            Phase::Copying { from, base_iops, marked_kib, copied_kib } => {
                ensure!(now.since(from.at) < RETURN_LIMIT, "the resync does not end");
                match copied(&state) {
                    Some((copied, left)) => {
                        let copied_kib = copied_kib.max(copied + left);
                        Phase::Copying { from, base_iops, marked_kib, copied_kib }
                    }
                    None => {
                        let resync_iops = sample.iops_since(from);
                        let seconds = now.since(from.at).as_secs_f64();
                        let iops = (base_iops, resync_iops);
                        let in_flight_kib = u64::from(self.options.depth * BLOCK_KIB);
                        let sizes = (marked_kib, copied_kib, in_flight_kib);
                        self.rounds.push(Round::of(iops, sizes, seconds));
                        Phase::calm()
                    }
                }
            }
            same @ (Phase::Calm { .. } | Phase::Base { .. } | Phase::Away { .. }) => same,
        };
        Ok(())
    }
}

impl Phase {
    fn calm() -> Self {
        Self::Calm { since: clock::now() }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Calm { .. } => "waiting for a steady load",
            Self::Base { .. } => "measuring without a resync",
            Self::Away { .. } => "a node is away",
            Self::Returning { .. } => "the node comes back",
            Self::Copying { .. } => "measuring during the resync",
        }
    }
}

impl Sample {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn iops_since(self, from: Self) -> f64 {
        let blocks = (self.written_kib - from.written_kib) / u64::from(BLOCK_KIB);
        blocks as f64 / self.at.since(from.at).as_secs_f64()
    }
}

fn written_kib(state: &ResourceStatus) -> Result<u64> {
    let device = state.devices.first().context("the volume has no device")?;
    Ok(device.statistics.as_ref().context("a status without statistics")?.written)
}

/// KiB that were copied to the node and that are left, while it is copied to.
fn copied(state: &ResourceStatus) -> Option<(u64, u64)> {
    let devices = state.connections.iter().flat_map(|peer| &peer.peer_devices);
    let mut sources = devices.filter(|it| it.replication_state == ReplicationState::SyncSource);
    let device = sources.next()?;
    let total_kib = device.sync.as_ref().map_or(device.out_of_sync, |sync| sync.rs_total / 2);
    Some((total_kib.saturating_sub(device.out_of_sync), device.out_of_sync))
}

impl Round {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn of(
        (base_iops, resync_iops): (f64, f64),
        (marked_kib, copied_kib, in_flight_kib): (u64, u64, u64),
        seconds: f64,
    ) -> Self {
        Self {
            base_iops,
            resync_iops,
            marked_kib,
            copied_kib,
            seconds,
            iops_share: resync_iops / base_iops,
            time_share: seconds / (2.0 * marked_kib as f64 / RATE_KIB),
            copied_share: copied_kib as f64 / (marked_kib + in_flight_kib) as f64,
        }
    }
}

impl Report {
    fn of(options: &Options, rounds: Vec<Round>) -> Self {
        let Options { absence, size_mib, depth, away: away_seconds, .. } = *options;
        let all = |of: fn(&Round) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let median = |of: fn(&Round) -> f64| {
            let all = all(of);
            all[all.len() / 2]
        };
        let iops_share = median(|round| round.iops_share);
        let time_share = median(|round| round.time_share);
        let copied_share = all(|round| round.copied_share).last().copied().unwrap_or_default();
        let rate_kib = RATE_KIB;
        Self {
            absence,
            size_mib,
            depth,
            away_seconds,
            rate_kib,
            rounds,
            iops_share,
            time_share,
            copied_share,
        }
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Self { away_seconds, depth, size_mib, .. } = self;
        writeln!(
            out,
            "random writes of {BLOCK_KIB} KiB over {size_mib} MiB, {depth} in flight; a node is \
             {} for {away_seconds} s",
            match self.absence {
                Absence::Frozen => "frozen",
                Absence::Killed => "dead",
            }
        )?;
        writeln!(out, "  IOPS   in a resync   share   marked KiB   copied KiB   seconds   bound")?;
        for round in &self.rounds {
            writeln!(
                out,
                "{:>6.0} {:>13.0} {:>7.2} {:>12} {:>12} {:>9.2} {:>7.2}",
                round.base_iops,
                round.resync_iops,
                round.iops_share,
                round.marked_kib,
                round.copied_kib,
                round.seconds,
                round.seconds / round.time_share,
            )?;
        }
        writeln!(
            out,
            "medians: {:.2} of the IOPS are left, {:.2} of the time bound is used; at most {:.3} \
             of what was marked and in flight was copied",
            self.iops_share, self.time_share, self.copied_share
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_base_of_the_bound_and_of_the_marks() {
        let round = Round::of((1000.0, 750.0), (102_400, 51_200, 0), 1.0);
        assert!((round.iops_share - 0.75).abs() < 1e-9);
        assert!((round.time_share - 0.5).abs() < 1e-9);
        assert!((round.copied_share - 0.5).abs() < 1e-9);
    }
}
