//! One run: a workload, faults by chance, and a quiet end in which all must become equal.

mod workload;
mod faults;
mod rough;
mod forged;
mod members;
mod resize;
mod forks;
mod protocols;
mod followers;
mod standing;
mod holes;
mod orders;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use format::ids::{EXTENT_BLOCKS, MemberSet, NodeId};
use format::space::{Place, Space};
use replication::contract::{
    Command, CommandDone, CommandError, CommandId, Congestion, Demands, OnNoQuorum, PartId,
    PromoteMode, Readmission, Share,
};
use replication::group::LaneGroup;
use replication::resource::ResizeState;
use stdx::random::Random;
use stdx::time::Time;

use crate::checker::Checker;
use crate::cluster::{BadDisk, Cluster, ClusterOptions, Outcome, Quirks, SlowDisk};
use crate::contents::SECTORS;
use crate::oracle::Oracle;
use crate::run::followers::Answers;
use crate::run::forks::run_forced_at_once;
use crate::run::holes::{has_probes, some_holes};
use crate::run::orders::some_orders;
use crate::run::protocols::{Protocols, some_congestion, some_protocols};
use crate::run::standing::Standing;
use crate::run::workload::Pending;
use crate::sometimes::Mark;

/// In one of so many runs replicas ask before they are brought up to date, in every fifth one of
/// these always.
const ASKING_SEEDS: u64 = 8;

fn some_quirks(random: &mut Random, congestion: Congestion) -> Quirks {
    let (slow_mail, clocks) = (random.chance(1, 2), random.chance(1, 2));
    Quirks { slow_mail, clocks, congestion, ..Quirks::default() }
}

fn some_readmission(seed: u64) -> Readmission {
    if !seed.is_multiple_of(ASKING_SEEDS) {
        Readmission::AtOnce
    } else if seed.is_multiple_of(5) {
        Readmission::AskAlways
    } else {
        Readmission::Ask
    }
}

/// Bits of `RunOptions::skip` behind those of faults: for what stays as it is while the others go
/// on, for ways that swallow messages, and for orders to several nodes at once.
const STANDING: u32 = 12;
const HOLES: u32 = STANDING + 1;
const ORDERS: u32 = HOLES + 1;
pub const FAULT_KINDS: u32 = ORDERS + 1;

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub seed: u64,
    pub trace: bool,
    pub trace_lane: Option<u8>,
    /// Events in which faults may happen.
    pub events: u64,
    /// Kinds of faults that do not happen, a bit for each of `FAULT_KINDS`.
    pub skip: u32,
    /// Nodes want to be Primary while another one is. Without it the seed decides.
    pub rough: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub events: u64,
    pub writes: u64,
    /// Those that did not fail.
    pub written: u64,
    pub reads: u64,
    pub flushes: u64,
    pub sessions: u64,
    pub kills: u64,
    pub power_cuts: u64,
    pub cuts: u64,
    pub holes: u64,
    pub orders: u64,
    pub attaches: u64,
    pub disk_errors: u64,
    pub stops: u64,
    pub partial_writes: u64,
    pub member_changes: u64,
    /// Sizes that were chosen.
    pub grows: u64,
    /// Volumes that came into use.
    pub added: u64,
    pub lost_stores: u64,
    pub adoptions: u64,
    /// Runs in which somebody went on beside what stayed as it was.
    pub standing: u64,
    pub marks: BTreeSet<Mark>,
}

pub use crate::run::forged::run_forged;
pub use crate::run::forks::{run_fenced, run_forced, run_forks};
pub use crate::run::orders::are_forced;

struct Run {
    skip: u32,
    rough: bool,
    cluster: Cluster,
    random: Random,
    oracle: Oracle,
    answers: Answers,
    checker: Checker,
    report: Report,
    blocks: Vec<u64>,
    next_part: u64,
    next_value: u64,
    pending: BTreeMap<PartId, Pending>,
    /// The nodes that clients use while these think that they are Primary, the latest one last.
    clients: Vec<usize>,
    promoting: BTreeMap<CommandId, usize>,
    /// Nobody wants the volume until then.
    idle_until: Time,
    next_command: u64,
    /// Stops and detachments that were asked for.
    commands: BTreeMap<CommandId, (usize, Command)>,
    losses: u32,
    born: bool,
    disks: Disks,
    protocols: Protocols,
    looked_at_candidates: u64,
    /// Who is to be a member, as the operator wants it.
    wanted: MemberSet,
    sizes: Sizes,
    /// One more volume comes while all else goes on.
    adds: bool,
    standing: Standing,
    /// Draws the ways that swallow messages.
    holes: Option<Random>,
    /// Draws the commands that several nodes get at once.
    orders: Option<Random>,
    /// Of what is in it `blocks` has some.
    volumes: Space,
}

/// What happens in a run beside what happens in all of them.
#[derive(Clone, Copy, Debug, Default)]
struct Story {
    disks: Disks,
    sizes: Sizes,
    protocols: Protocols,
}

/// Whether operators make the volume larger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sizes {
    #[default]
    Stay,
    Grow,
}

/// Whether operators give disks up and take them back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Disks {
    #[default]
    Stay,
    ComeAndGo,
    /// They stay, and each volume of the resource has one of its own.
    OfSeveralVolumes,
    /// They stay, and the vote stores do not.
    OutliveVoteStores,
}

/// What in-sync members hold is compared with the oracle only so often, in events.
const CANDIDATES_INTERVAL: u64 = 50;
const END: Duration = Duration::from_secs(120);

/// Runs one seed; an error says what was violated.
pub fn run(options: &RunOptions) -> Result<Report, String> {
    if are_forced(options.seed) {
        return run_forced_at_once(options);
    }
    run_with(options, Story::default())
}

/// How many events with faults a seed draws, where nobody says: most runs are short, for the birth
/// and the quiet end see the most of small states, and some go where only long histories lead.
#[must_use]
pub fn events_of(seed: u64) -> u64 {
    match Random::new(seed ^ 0x1e46).below(20) {
        0 => 6_000,
        1..5 => 1_200,
        _ => 300,
    }
}

/// The same, while operators give disks up and take them back.
pub fn run_with_detaches(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Story { disks: Disks::ComeAndGo, ..Story::default() })
}

/// The same with several volumes in the resource, each on a disk with a cache of its own: a loss of
/// power may take what one of them had not flushed, and leave what another had not.
pub fn run_with_volumes(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Story { disks: Disks::OfSeveralVolumes, ..Story::default() })
}

/// The same, while now and then all die, and state directories are lost, of a majority, too: then
/// the disks say what goes on.
pub fn run_with_lost_stores(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Story { disks: Disks::OutliveVoteStores, ..Story::default() })
}

/// The same, while operators make volumes larger; some seeds with disks that come and go, some with
/// several volumes.
pub fn run_with_grows(options: &RunOptions) -> Result<Report, String> {
    let disks = match options.seed % 3 {
        0 => Disks::ComeAndGo,
        1 => Disks::Stay,
        _ => Disks::OfSeveralVolumes,
    };
    run_with(options, Story { disks, sizes: Sizes::Grow, ..Story::default() })
}

/// The same, while members count once they received a write: they die with what they have in
/// memory, and operators change their minds.
pub fn run_with_protocols(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Story { protocols: Protocols::Mixed, ..Story::default() })
}

fn run_with(options: &RunOptions, story: Story) -> Result<Report, String> {
    let mut run = Run::new(options, story);
    run.go(options.events)?;
    run.report.events = run.cluster.events_done;
    if run.cluster.contents.has_torn() {
        run.cluster.marks.insert(Mark::BlockTorn);
    }
    run.report.marks = std::mem::take(&mut run.cluster.marks);
    Ok(run.report)
}

/// Nodes of one resource would not connect until an operator came.
fn unrelated(node: usize, peer: NodeId) -> String {
    format!("n{node} takes the data of {peer} for that of another resource")
}

impl RunOptions {
    /// A run in which nothing but its length is not drawn from the seed.
    #[must_use]
    pub fn of(seed: u64, events: u64) -> Self {
        Self { seed, trace: false, trace_lane: None, events, skip: 0, rough: false }
    }

    /// What an operator types to see the run again.
    #[must_use]
    pub fn again(&self) -> String {
        let Self { seed, events, skip, rough, .. } = *self;
        let skip = if skip == 0 { String::new() } else { format!(" --skip {skip}") };
        let rough = if rough { " --rough" } else { "" };
        format!("cargo xtask sim {seed} --events {events}{skip}{rough}")
    }
}

fn space_of(disks: Disks) -> Space {
    match disks {
        Disks::Stay | Disks::ComeAndGo | Disks::OutliveVoteStores => {
            Space::of_one(20 * EXTENT_BLOCKS)
        }
        Disks::OfSeveralVolumes => {
            let further = [(1, 9), (6, 4)];
            further.into_iter().fold(
                Space::of_one(7 * EXTENT_BLOCKS),
                |space, (number, extents)| {
                    let place = Place::new(number).expect("a small number");
                    space.with(place, extents * EXTENT_BLOCKS)
                },
            )
        }
    }
}

/// Few blocks, so that requests overlap, at both ends of each extent.
fn blocks_of(space: &Space) -> Vec<u64> {
    let ends = |extent| {
        let start = extent * EXTENT_BLOCKS;
        [start, start + 2, start + 7, start + EXTENT_BLOCKS - 6]
    };
    space.extents().flat_map(ends).collect()
}

/// Odd seeds are what they were before volumes came.
fn adds_volume(seed: u64, disks: Disks, sizes: Sizes) -> bool {
    disks == Disks::OfSeveralVolumes && sizes == Sizes::Stay && seed.is_multiple_of(2)
}

fn shard_count(random: &mut Random) -> u8 {
    u8::try_from(1 + random.below(3)).expect("few")
}

/// Most configurations ask for a majority alone.
fn some_demands(random: &mut Random) -> Demands {
    let demands = Demands::default();
    match random.below(12) {
        0 => Demands { quorum: Share::All, ..demands },
        1 => Demands { redundancy: Share::AtLeast(2), ..demands },
        2 => Demands { redundancy: Share::All, on_no_quorum: OnNoQuorum::IoError, ..demands },
        _ => demands,
    }
}

impl Run {
    fn new(options: &RunOptions, story: Story) -> Self {
        let Story { disks, sizes, protocols } = story;
        let mut random = Random::new(options.seed ^ 0x5eed);
        let clients = u8::from(random.chance(1, 3));
        // Two replicas need a witness.
        let replicas = if clients > 0 && random.chance(1, 2) { 2 } else { 3 };
        let spares = u8::from(random.chance(1, 2));
        let nodes = replicas + spares + clients;
        // Nodes differ in their cores, and a node may start again with other ones.
        let shards = match random.below(3) {
            0 => vec![vec![1]; usize::from(nodes)],
            1 => (0..nodes).map(|_| vec![shard_count(&mut random)]).collect(),
            _ => vec![vec![1, 2, 3, crate::process::SHARDS_MAX]; usize::from(nodes)],
        };
        let space = space_of(disks);
        let (by_receipt, followers) = match protocols {
            Protocols::Durable => (Vec::new(), Vec::new()),
            Protocols::Mixed => some_protocols(&mut random, nodes),
        };
        let mut cluster = Cluster::new(ClusterOptions {
            seed: options.seed,
            nodes,
            clients,
            spares,
            shards,
            space,
            spare_bytes: if sizes == Sizes::Grow { resize::SPARE_BYTES } else { 0 },
            al_slots: 3 + usize::try_from(random.below(6)).expect("small"),
            trace: options.trace,
            trace_lane: options.trace_lane,
            reads: None,
            demands: some_demands(&mut random),
            by_receipt,
            followers,
            readmission: some_readmission(options.seed),
            quirks: some_quirks(&mut random, some_congestion(protocols, options.seed)),
        });
        cluster.probes = has_probes(options.seed);
        let rough = random.chance(1, 3) || options.rough;
        let wanted = cluster.options.first_members();
        Self {
            skip: options.skip,
            rough,
            cluster,
            random,
            oracle: Oracle::default(),
            answers: Answers::default(),
            checker: Checker::default(),
            report: Report::default(),
            blocks: blocks_of(&space),
            next_part: 1,
            next_value: 1,
            pending: BTreeMap::new(),
            clients: Vec::new(),
            promoting: BTreeMap::new(),
            idle_until: Time::ZERO,
            next_command: 1,
            commands: BTreeMap::new(),
            losses: 0,
            born: false,
            disks,
            protocols,
            looked_at_candidates: 0,
            wanted,
            sizes,
            adds: adds_volume(options.seed, disks, sizes),
            standing: Standing::Nothing,
            holes: some_holes(options.seed),
            orders: some_orders(options.seed, disks),
            volumes: space,
        }
    }

    fn go(&mut self, events: u64) -> Result<(), String> {
        self.be_born()?;
        while self.cluster.events_done < events {
            self.act();
            self.answer_some();
            for _ in 0..self.random.below(12) {
                let until = self.cluster.now + Duration::from_millis(5);
                self.cluster.step(until);
                self.take_outcomes()?;
            }
        }
        self.stand()?;
        self.heal();
        self.finish()
    }

    /// Replicas that ask before they are brought up to date wait, some of them for long.
    fn answer_some(&mut self) {
        for node in 0..self.cluster.asked.len() {
            if self.cluster.asked[node].is_some() {
                match self.random.below(48) {
                    0 => self.cluster.allow_resync(node),
                    1 => self.cluster.refuse_resync(node),
                    _ => {}
                }
            }
        }
    }

    fn be_born(&mut self) -> Result<(), String> {
        let settle = self.cluster.now + Duration::from_millis(100);
        while self.cluster.step(settle) {
            self.take_outcomes()?;
        }
        let mode =
            if self.random.chance(7, 8) { PromoteMode::ForceAllEqual } else { PromoteMode::Force };
        self.promote(0, mode);
        let deadline = self.cluster.now + Duration::from_secs(30);
        while self.clients.is_empty() {
            if !self.cluster.step(deadline) {
                return Err("no session within 30 s of birth".to_owned());
            }
            self.take_outcomes()?;
        }
        self.born = true;
        Ok(())
    }

    // ---- What comes back.

    fn take_outcomes(&mut self) -> Result<(), String> {
        self.checker
            .check(&mut self.cluster)
            .map_err(|text| format!("{text} ({:?})", self.cluster.now))?;
        self.check_followers()?;
        if self.cluster.events_done >= self.looked_at_candidates + CANDIDATES_INTERVAL {
            self.looked_at_candidates = self.cluster.events_done;
            self.check_candidates()?;
        }
        for outcome in std::mem::take(&mut self.cluster.outcomes) {
            match outcome {
                Outcome::Completed { part, result, .. } => {
                    let Some(pending) = self.pending.remove(&part) else { continue };
                    match result {
                        Ok(values) => self.completed(pending, values)?,
                        Err(_) => self.give_up(&pending),
                    }
                }
                Outcome::Answered { node, id, result } => {
                    self.answered(node, id, &result);
                }
                Outcome::Role { node, primary } => {
                    if !primary {
                        self.end_client(node);
                    }
                }
                Outcome::Quorum { .. } => {}
                Outcome::Unrelated { node, peer } => return Err(unrelated(node, peer)),
                Outcome::Config { losses, space, .. } => {
                    self.note_size(&space);
                    if losses > self.losses {
                        self.losses = losses;
                        if self.born {
                            self.cluster.marks.insert(Mark::LossesCounted);
                            self.oracle.on_losses();
                            self.answers.forget();
                            self.give_up_what_was_before_losses();
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn answered(&mut self, node: usize, id: CommandId, result: &Result<CommandDone, CommandError>) {
        if self.promoting.remove(&id).is_some() && result.is_ok() && self.cluster.is_primary(node) {
            self.report.sessions += 1;
            self.clients.retain(|&at| at != node);
            self.clients.push(node);
            self.move_in(node);
        }
        if let Some((node, command)) = self.commands.remove(&id)
            && result.is_ok()
        {
            self.after_command(node, command);
        }
    }

    // ---- The end.

    fn heal(&mut self) {
        let count = usize::from(self.cluster.options.nodes);
        for a in 0..count {
            for b in (0..count).filter(|&b| !self.standing.cuts(a, b)) {
                self.cluster.heal_link(a, b);
            }
            self.adjust(a);
            self.have_enough(a);
            self.cluster.allow_resync(a);
            self.cluster.bad[a] = BadDisk::default();
            self.cluster.slow[a] = SlowDisk::default();
            self.give_room(a);
            self.give_volumes(a);
            self.unmute(a);
            match self.disks {
                Disks::Stay | Disks::OfSeveralVolumes | Disks::OutliveVoteStores => self.attach(a),
                // Of the last replica that is in sync only another process can tell.
                Disks::ComeAndGo if self.is_last_in_sync(a) => self.attach(a),
                Disks::ComeAndGo => self.offer_disk(a),
            }
        }
    }

    fn is_last_in_sync(&self, node: usize) -> bool {
        let in_sync = self.checker.newest().map(|newest| newest.volumes[0].insync_set());
        in_sync.is_some_and(|set| set.len() == 1 && set.iter().all(|it| it.index() == node))
    }

    /// Nothing fails any more: one session, all in sync, all equal, nothing marked.
    fn finish(&mut self) -> Result<(), String> {
        // Who is left behind is back when the load is over, and here it never is.
        self.cluster.wait_for_followers();
        if self.random.chance(1, 3) {
            self.settle_without_clients()?;
        }
        let deadline = self.cluster.now + END;
        loop {
            self.heal();
            self.find_primary();
            let until = self.cluster.now + Duration::from_millis(10);
            while self.cluster.step(until) {
                self.take_outcomes()?;
            }
            // Who was told to take over while the leader stood still may come through yet.
            if self.pending.is_empty() && self.promoting.is_empty() && self.is_settled() {
                break;
            }
            if self.cluster.now > deadline {
                return Err(format!("not settled: {}", self.explain()));
            }
        }
        self.read_everything()?;
        self.compare_replicas()
    }

    /// Nobody uses the volume: the replicas become equal all the same.
    fn settle_without_clients(&mut self) -> Result<(), String> {
        let deadline = self.cluster.now + END;
        let looker = self.wanted.first().map_or(0, NodeId::index);
        // While a write is under way replicas differ, and after a session that did not end cleanly
        // they may, until somebody clears up after it.
        while !self.is_settled_at(looker)
            || !self.knows_newest(looker)
            || !self.checker.newest().is_some_and(|newest| newest.clean)
            || !self.clients.is_empty()
            || !self.promoting.is_empty()
            || !self.pending.is_empty()
        {
            self.heal();
            // A promotion may have come through whose client was gone by then.
            for node in 0..usize::from(self.cluster.options.nodes) {
                if self.cluster.is_primary(node) && !self.clients.contains(&node) {
                    self.clients.push(node);
                }
            }
            self.demote();
            let until = self.cluster.now + Duration::from_millis(10);
            while self.cluster.step(until) {
                self.take_outcomes()?;
            }
            if self.cluster.now > deadline {
                return Err(format!("not settled without clients: {}", self.explain()));
            }
        }
        self.compare_replicas()
    }

    fn is_settled(&self) -> bool {
        matches!(self.clients[..], [node] if self.is_settled_at(node))
    }

    /// What the node says is not what was true some time ago.
    fn knows_newest(&self, node: usize) -> bool {
        let process = self.cluster.processes[node].as_ref();
        let known = process.and_then(|process| process.resource.status().config);
        known.as_ref() == self.checker.newest()
    }

    fn is_settled_at(&self, node: usize) -> bool {
        let Some(process) = self.cluster.processes[node].as_ref() else { return false };
        let status = process.resource.status();
        let in_sync = status.members.iter().filter(|member| member.in_sync);
        let in_sync: MemberSet = in_sync.map(|member| member.node).collect();
        let replicas = self.wanted_replicas();
        // An odd number of voters, wherever somebody can be the witness.
        let able = self.wanted.minus(replicas);
        let is_odd = status.voters.len() % 2 == 1 || able.is_empty();
        let votes_count = status.voters.iter().all(|it| it.is_reachable && !it.is_retiring);
        // A write that was answered with an error may go on.
        let is_idle = process.groups.iter().all(LaneGroup::is_idle);
        let is_grown = status.resize.is_none_or(|resize| {
            !matches!(
                resize.state,
                ResizeState::Asking | ResizeState::Preparing | ResizeState::Proposing
            )
        });
        let is_whole = in_sync == replicas && votes_count && is_odd && is_grown;
        is_whole && is_idle && process.resource.is_quiet()
    }

    fn explain(&self) -> String {
        let statuses = self.cluster.processes.iter().flatten();
        let lines: Vec<String> = statuses.map(|process| process.explain()).collect();
        let text = lines.join("\n");
        let (wanted, told) = (self.wanted, &self.cluster.configured);
        let newest = self.checker.newest();
        let pending = self.pending.len();
        format!(
            "clients {:?}, {pending} pending, wanted {wanted:?}, configured {told:?}, \
             {newest:?}\n{text}",
            self.clients
        )
    }

    fn read_everything(&mut self) -> Result<(), String> {
        let sectors = self.oracle.registers();
        let mut blocks: Vec<u64> = sectors.map(|sector| sector / SECTORS as u64).collect();
        blocks.dedup();
        for block in blocks {
            let Some(&node) = self.clients.last() else {
                return Err("the session ended though nothing failed".to_owned());
            };
            let part = self.start_read(node, block, 1);
            let deadline = self.cluster.now + Duration::from_secs(10);
            while self.pending.contains_key(&part) {
                if !self.cluster.step(deadline) {
                    return Err(format!("a read of block {block} was not answered within 10 s"));
                }
                self.take_outcomes()?;
                // A replica that was lost meanwhile may be one that has to be there for it.
                let count = usize::from(self.cluster.options.nodes);
                (0..count).for_each(|node| self.cluster.allow_resync(node));
            }
        }
        Ok(())
    }

    fn compare_replicas(&self) -> Result<(), String> {
        let replicas = self.wanted_replicas();
        for block in self.oracle.registers().map(|sector| sector / SECTORS as u64) {
            let values: Vec<u64> =
                replicas.iter().map(|node| self.cluster.disks[node.index()].read(block)).collect();
            if values.iter().any(|&value| value != values[0]) {
                return Err(format!("replicas differ in block {block}: {values:?}"));
            }
        }
        Ok(())
    }
}

impl Report {
    /// What never happened.
    #[must_use]
    pub fn missing(&self) -> Vec<Mark> {
        Mark::ALL.into_iter().filter(|mark| !self.marks.contains(mark)).collect()
    }

    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.writes += other.writes;
        self.written += other.written;
        self.reads += other.reads;
        self.flushes += other.flushes;
        self.sessions += other.sessions;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.cuts += other.cuts;
        self.holes += other.holes;
        self.orders += other.orders;
        self.attaches += other.attaches;
        self.disk_errors += other.disk_errors;
        self.stops += other.stops;
        self.partial_writes += other.partial_writes;
        self.member_changes += other.member_changes;
        self.grows += other.grows;
        self.added += other.added;
        self.lost_stores += other.lost_stores;
        self.adoptions += other.adoptions;
        self.standing += other.standing;
        self.marks.extend(&other.marks);
    }
}
