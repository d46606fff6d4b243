//! A run with `quorum off`: whoever loses the others goes on alone, lines part and meet, and an
//! operator says which of them gives way. Or with `fencing`: whoever wants to go on has the other
//! one killed first, and no lines part. Or with neither: an operator lets Primaries go on; in some
//! runs several operators give all kinds of commands at once (forks/ordered.rs).
//!
//! Every line has an oracle of its own, which begins as that of the line that it left, as it was
//! when the value that the fork names was the newest: so each line is judged by itself, and what
//! was acknowledged on one of them is lost by the operator's word only.

mod ordered;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use format::config::Ancestor;
use format::ids::{Branch, EXTENT_BLOCKS, Epoch, NodeId, ValueId};
use format::space::Space;
use replication::contract::{
    AfterSplit, Command, CommandId, Demands, FenceVerdict, GroupInput, Meanwhile, PartId,
    PromoteMode, Readmission, Request, RequestKind, WithOnePrimary, WithTwoPrimaries,
    WithoutPrimary, WithoutQuorum,
};
use stdx::random::Random;
use stdx::time::Time;

use crate::checker::{Checker, sources_of};
use crate::cluster::{Cluster, ClusterOptions, Outcome, Quirks};
use crate::contents::SECTORS;
use crate::oracle::{Oracle, ReadStart};
use crate::run::forks::ordered::Ordered;
use crate::run::{ORDERS, Report, RunOptions, some_readmission, unrelated};
use crate::sometimes::Mark;

/// Requests of one node at a time.
const IN_FLIGHT_MAX: usize = 8;
/// What is on the disks is compared with the oracles only so often, in events.
const LOOK_INTERVAL: u64 = 50;
const END: Duration = Duration::from_secs(200);

struct Pending {
    node: usize,
    branch: Branch,
    block: u64,
    kind: Kind,
}

enum Kind {
    Write {
        id: u64,
    },
    /// A register per quarter of the block: an end without notice tears it.
    Read {
        starts: Vec<ReadStart>,
    },
}

/// What is known before a node goes on alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    OthersAreOut,
    /// An operator says so.
    Word,
}

struct Forking {
    before_alone: Before,
    cluster: Cluster,
    checker: Checker,
    random: Random,
    report: Report,
    blocks: Vec<u64>,
    oracles: BTreeMap<Branch, Oracle>,
    /// How each value left the oracle of its line to the next one.
    before: BTreeMap<(Branch, Epoch), Oracle>,
    values: BTreeMap<(Branch, Epoch), ValueId>,
    losses: BTreeMap<Branch, u32>,
    pending: BTreeMap<PartId, Pending>,
    next: u64,
    born: Option<CommandId>,
    looked_at: u64,
    /// Whom everybody gives way to now, and until when nobody else is asked to.
    winner: Option<(usize, Time)>,
    /// Who was told to give up which line, and is not done; and who did.
    orders: BTreeMap<CommandId, (usize, Branch)>,
    gave_way: BTreeSet<(usize, Branch)>,
    /// Operators give commands to several nodes at once, and force.
    ordered: Option<Ordered>,
}

/// Runs one seed; an error says what was violated.
///
/// # Errors
/// A promise that was broken, on one line or between two.
pub fn run_forks(options: &RunOptions) -> Result<Report, String> {
    run_alone(options, Before::Nothing)
}

/// The same with `fencing`.
///
/// # Errors
/// A promise that was broken; and lines that parted: each that went on knew the other to be out.
pub fn run_fenced(options: &RunOptions) -> Result<Report, String> {
    run_alone(options, Before::OthersAreOut)
}

/// The same with a quorum to keep: who is Primary goes on without one by an operator's word.
///
/// # Errors
/// A promise that was broken, on one line or between two.
pub fn run_forced(options: &RunOptions) -> Result<Report, String> {
    run_alone(options, Before::Word)
}

/// The same, while operators give commands to several nodes at once.
///
/// # Errors
/// A promise that was broken, on one line or between two.
pub(super) fn run_forced_at_once(options: &RunOptions) -> Result<Report, String> {
    let mut run = Forking::new(options, Before::Word);
    run.ordered = (options.skip & 1 << ORDERS == 0).then(|| Ordered::new(options.seed));
    go(run, options.events)
}

fn run_alone(options: &RunOptions, before: Before) -> Result<Report, String> {
    go(Forking::new(options, before), options.events)
}

fn go(mut run: Forking, events: u64) -> Result<Report, String> {
    run.be_born()?;
    while run.cluster.events_done < events {
        run.order_at_once();
        run.act();
        run.answer_some();
        let turns = 1 + run.random.below(12);
        run.turn(turns, Duration::from_millis(5))?;
    }
    run.finish()?;
    run.report.events = run.cluster.events_done;
    run.report.marks = std::mem::take(&mut run.cluster.marks);
    Ok(run.report)
}

impl Forking {
    fn new(options: &RunOptions, before_alone: Before) -> Self {
        let mut random = Random::new(options.seed ^ 0xf0_4c5);
        let replicas = 2 + u8::from(random.chance(2, 3));
        let clients = u8::from(random.chance(1, 5));
        let nodes = replicas + clients;
        let shards = u8::try_from(1 + random.below(2)).expect("few");
        let cluster = Cluster::new(ClusterOptions {
            seed: options.seed,
            nodes,
            clients,
            spares: 0,
            shards: vec![vec![shards]; usize::from(nodes)],
            space: Space::of_one(20 * EXTENT_BLOCKS),
            spare_bytes: 0,
            al_slots: 3 + usize::try_from(random.below(6)).expect("small"),
            trace: options.trace,
            trace_lane: options.trace_lane,
            reads: None,
            demands: Demands {
                without_quorum: match before_alone {
                    Before::Nothing => WithoutQuorum::GoOn,
                    Before::OthersAreOut => WithoutQuorum::Prove(Meanwhile::Hold),
                    Before::Word => WithoutQuorum::Wait,
                },
                after_split: any_policy(&mut random),
                ..Demands::default()
            },
            by_receipt: Vec::new(),
            followers: Vec::new(),
            readmission: asked_readmission(options.seed),
            quirks: Quirks { slow_mail: random.chance(1, 2), ..Quirks::default() },
        });
        let blocks = (0..20).flat_map(|extent| {
            let start = extent * EXTENT_BLOCKS;
            [start, start + 7]
        });
        Self {
            before_alone,
            cluster,
            checker: Checker::default(),
            random,
            report: Report::default(),
            blocks: blocks.collect(),
            oracles: BTreeMap::new(),
            before: BTreeMap::new(),
            values: BTreeMap::new(),
            losses: BTreeMap::new(),
            pending: BTreeMap::new(),
            next: 1,
            born: None,
            looked_at: 0,
            winner: None,
            orders: BTreeMap::new(),
            gave_way: BTreeSet::new(),
            ordered: None,
        }
    }

    /// Replicas that ask before they are brought up to date wait, some of them for long.
    fn answer_some(&mut self) {
        for node in 0..self.count() {
            if self.cluster.asked[node].is_some() && self.random.chance(1, 16) {
                self.cluster.allow_resync(node);
            }
            if !self.cluster.fence_asked[node].is_empty() && self.random.chance(1, 32) {
                self.fence(node);
            }
        }
    }

    /// Whoever is to be out is killed before anybody hears of it; or nobody could do it.
    fn fence(&mut self, node: usize) {
        let Some(&(_, peer)) = self.cluster.fence_asked[node].last() else { return };
        let can = self.random.chance(3, 4);
        if can {
            self.kill(peer);
        }
        let verdict = if can { FenceVerdict::Out } else { FenceVerdict::Unproven };
        self.cluster.answer_fence(node, verdict);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn count(&self) -> usize {
        usize::from(self.cluster.options.nodes)
    }

    fn be_born(&mut self) -> Result<(), String> {
        self.turn(u64::MAX, Duration::from_millis(100))?;
        let id = self.command(0, Command::Promote(PromoteMode::ForceAllEqual));
        self.born = Some(id);
        let deadline = self.cluster.now + Duration::from_secs(30);
        while !self.cluster.is_primary(0) {
            if self.cluster.now >= deadline {
                return Err("no session within 30 s of birth".to_owned());
            }
            self.turn(10, Duration::from_millis(10))?;
        }
        Ok(())
    }

    fn next_command(&mut self) -> CommandId {
        CommandId(self.number())
    }

    fn command(&mut self, node: usize, command: Command) -> CommandId {
        let id = self.next_command();
        self.cluster.command(node, id, command);
        id
    }

    fn any_node(&mut self) -> usize {
        self.cluster.any_node(&mut self.random)
    }

    // ---- What happens by chance.

    fn act(&mut self) {
        let node = self.any_node();
        if self.before_alone == Before::Word && self.is_stuck(node) && self.random.chance(1, 8) {
            return self.promote(node);
        }
        match self.random.below(1000) {
            0..3 => self.kill(node),
            3..9 => self.part(node),
            9..13 => {
                let other = self.any_node();
                self.cluster.reset_link(node, other);
            }
            13..25 => {
                for other in 0..self.count() {
                    self.cluster.heal_link(node, other);
                }
            }
            25..37 => self.promote(node),
            37..40 => self.demote(node),
            40..45 => self.give_way(),
            45 => self.give_all_way(),
            46..60 => self.give_way(),
            60..500 => self.read(node),
            _ => self.write(node),
        }
    }

    /// It is Primary, and answers nobody.
    fn is_stuck(&self, node: usize) -> bool {
        let process = self.cluster.processes[node].as_ref();
        let has_majority = process.is_some_and(|process| process.resource.has_majority());
        self.cluster.is_primary(node) && !has_majority
    }

    fn kill(&mut self, node: usize) {
        if self.cluster.is_up(node) {
            self.report.kills += 1;
            self.cluster.kill(node);
            self.end_clients(node);
            let delay = Duration::from_millis(1 + self.random.below(6_000));
            self.cluster.restart_later(node, delay);
        }
    }

    /// Loses sight of all others, or of one.
    fn part(&mut self, node: usize) {
        self.report.cuts += 1;
        let one = self.any_node();
        let all = self.random.chance(1, 2);
        for other in 0..self.count() {
            if all || other == one {
                self.cluster.cut_link(node, other);
            }
        }
    }

    fn promote(&mut self, node: usize) {
        if self.cluster.is_up(node) && !self.cluster.is_primary(node) {
            self.report.sessions += 1;
            self.command(node, Command::Promote(PromoteMode::Normal));
        } else if self.cluster.is_primary(node) && self.before_alone == Before::Word {
            self.command(node, Command::Promote(PromoteMode::Force));
        }
    }

    fn demote(&mut self, node: usize) {
        if self.cluster.is_primary(node) && !self.pending.values().any(|it| it.node == node) {
            self.command(node, Command::Demote);
        }
    }

    /// Each that sees that it parted from any other is told to give way to it: not both will.
    fn give_all_way(&mut self) {
        for node in 0..self.count() {
            let is_split = (0..self.count()).any(|peer| self.is_split(node, peer));
            if is_split && !self.cluster.is_primary(node) {
                self.command(node, Command::DiscardData { peer: None });
            }
        }
    }

    /// All that see that they parted from one that has the data of its line give way to it.
    fn give_way(&mut self) {
        let now = self.cluster.now;
        let winner = self.winner.filter(|&(winner, until)| now < until && self.may_win(winner));
        let Some((winner, until)) = winner.or_else(|| self.new_winner()) else { return };
        self.winner = Some((winner, until));
        for node in 0..self.count() {
            if node != winner && self.is_split(node, winner) {
                self.demote(node);
                if !self.cluster.is_primary(node) {
                    let peer = NodeId::new(u8::try_from(winner).expect("few nodes"));
                    let line = self.cluster.processes[node].as_ref();
                    let line = line.map(|process| process.resource.status().branch);
                    let id = self.command(node, Command::DiscardData { peer });
                    self.orders.extend(line.map(|line| (id, (node, line))));
                }
            }
        }
    }

    fn new_winner(&mut self) -> Option<(usize, Time)> {
        // Long enough for those that give way to be done: two must not give way to each other.
        if self.winner.is_some_and(|(_, until)| self.cluster.now < until) {
            return None;
        }
        let node = self.any_node();
        let until = self.cluster.now + Duration::from_secs(20);
        self.may_win(node).then_some((node, until))
    }

    /// It is up, and its disk has all of a line that nobody went on from.
    fn may_win(&self, node: usize) -> bool {
        let is_source = |leaf| sources_of(&self.cluster, leaf).iter().any(|it| it.index() == node);
        self.cluster.is_up(node) && self.checker.newest_of_lines().any(is_source)
    }

    fn is_split(&self, node: usize, peer: usize) -> bool {
        let process = self.cluster.processes[node].as_ref();
        process.is_some_and(|process| {
            let members = process.resource.status().members;
            members.iter().any(|it| it.node.index() == peer && it.split.is_some())
        })
    }

    // ---- Requests.

    /// The line of the session that `node` leads.
    fn line_at(&mut self, node: usize) -> Option<Branch> {
        let in_flight = self.pending.values().filter(|it| it.node == node).count();
        let is_free = self.cluster.is_primary(node) && in_flight < IN_FLIGHT_MAX;
        let process = self.cluster.processes[node].as_ref().filter(|_| is_free)?;
        let branch = process.resource.status().branch;
        self.oracles.contains_key(&branch).then_some(branch)
    }

    fn write(&mut self, node: usize) {
        let Some(branch) = self.line_at(node) else { return };
        let block = *self.random.pick(&self.blocks).expect("there are blocks");
        let id = self.number();
        let Some(payload) = self.cluster.payload(node, vec![id]) else { return };
        self.cluster.trace(|| format!("n{node} writes {id} to block {block} on {branch:?}"));
        for sector in sectors_of(block) {
            self.oracle(branch).invoke(sector, id);
        }
        self.report.writes += 1;
        let fua = self.random.chance(1, 10);
        let pending = Pending { node, branch, block, kind: Kind::Write { id } };
        self.submit(pending, RequestKind::Write { payload, fua });
    }

    fn read(&mut self, node: usize) {
        let Some(branch) = self.line_at(node) else { return };
        let block = *self.random.pick(&self.blocks).expect("there are blocks");
        self.read_block(node, branch, block);
    }

    fn read_block(&mut self, node: usize, branch: Branch, block: u64) {
        let oracle = self.oracle(branch);
        let starts = sectors_of(block).map(|sector| oracle.begin_read(sector)).collect();
        self.report.reads += 1;
        self.submit(
            Pending { node, branch, block, kind: Kind::Read { starts } },
            RequestKind::Read,
        );
    }

    fn submit(&mut self, pending: Pending, kind: RequestKind) {
        let part = PartId(self.number());
        let (node, block) = (pending.node, pending.block);
        self.pending.insert(part, pending);
        let request = Request { part, kind, offset: block * 4096, length: 4096 };
        self.cluster.request(node, block, GroupInput::Request(request));
    }

    fn oracle(&mut self, branch: Branch) -> &mut Oracle {
        self.oracles.entry(branch).or_default()
    }

    /// Nothing that the clients of `node` wait for is answered any more.
    fn end_clients(&mut self, node: usize) {
        let ended: Vec<Pending> =
            self.pending.extract_if(.., |_, it| it.node == node).map(|it| it.1).collect();
        for pending in ended {
            self.give_up(&pending);
        }
    }

    fn give_up(&mut self, pending: &Pending) {
        if let Kind::Write { id } = pending.kind {
            for sector in sectors_of(pending.block) {
                self.oracle(pending.branch).give_up(sector, id);
            }
        }
    }

    /// What all members of a line had, and lost; its node may still say that it was written.
    fn give_up_what_was_before_losses(&mut self, branch: Branch) {
        let newest = self.checker.newest_of_lines().find(|leaf| leaf.branch == branch);
        let leader = newest.and_then(|newest| newest.primary);
        let is_former = |it: &Pending| {
            let is_led = leader.is_some_and(|leader| leader.node.index() == it.node);
            matches!(it.kind, Kind::Write { .. }) && it.branch == branch && !is_led
        };
        let former = self.pending.extract_if(.., |_, it| is_former(it)).map(|it| it.1);
        for pending in former.collect::<Vec<_>>() {
            self.give_up(&pending);
        }
    }

    // ---- What comes back.

    fn turn(&mut self, steps: u64, most: Duration) -> Result<(), String> {
        let until = self.cluster.now + most;
        for _ in 0..steps {
            let went_on = self.cluster.step(until);
            self.take_outcomes().map_err(|text| format!("{text} ({:?})", self.cluster.now))?;
            if !went_on {
                break;
            }
        }
        Ok(())
    }

    fn take_outcomes(&mut self) -> Result<(), String> {
        self.checker.check(&mut self.cluster)?;
        self.note_who_is_able();
        let is_parted = self.cluster.marks.contains(&Mark::SplitBrain);
        if is_parted && self.before_alone == Before::OthersAreOut {
            return Err(
                "lines parted, though each that went on knew the other to be out".to_owned()
            );
        }
        if self.cluster.events_done >= self.looked_at + LOOK_INTERVAL {
            self.looked_at = self.cluster.events_done;
            self.check_disks()?;
        }
        for outcome in std::mem::take(&mut self.cluster.outcomes) {
            match outcome {
                Outcome::Config { node, losses, value, .. } => {
                    self.see_value(node, value)?;
                    let branch = value.branch;
                    let known = self.losses.entry(branch).or_insert(losses);
                    if losses > *known {
                        *known = losses;
                        self.oracle(branch).on_losses();
                        self.give_up_what_was_before_losses(branch);
                    }
                }
                Outcome::Role { node, primary: false } => self.end_clients(node),
                Outcome::Answered { id, result, .. } => {
                    let order = self.orders.remove(&id).filter(|_| result.is_ok());
                    self.gave_way.extend(order);
                    self.report.member_changes = self.gave_way.len() as u64;
                }
                Outcome::Role { .. } | Outcome::Quorum { .. } => {}
                Outcome::Unrelated { node, peer } => return Err(unrelated(node, peer)),
                Outcome::Completed { part, result, .. } => {
                    let Some(pending) = self.pending.remove(&part) else { continue };
                    match result {
                        Ok(values) => self.completed(&pending, values)?,
                        Err(_) => self.give_up(&pending),
                    }
                }
            }
        }
        Ok(())
    }

    fn completed(&mut self, pending: &Pending, values: Option<Vec<u64>>) -> Result<(), String> {
        let Pending { node, branch, block, .. } = *pending;
        match &pending.kind {
            &Kind::Write { id } => {
                for sector in sectors_of(block) {
                    self.oracle(branch).complete(sector, id);
                }
                Ok(())
            }
            Kind::Read { starts } => {
                let value = values.and_then(|values| values.first().copied());
                let value = value.ok_or("a read was answered without bytes")?;
                let ids: Vec<u64> = self.cluster.contents.sectors(value).into_iter().collect();
                for ((sector, start), id) in sectors_of(block).zip(starts).zip(ids) {
                    let judged = self.oracle(branch).end_read(sector, start, id);
                    judged.map_err(|text| format!("{text} (node {node}, line {branch:?})"))?;
                }
                Ok(())
            }
        }
    }

    /// A node knows of a value: perhaps nobody did before.
    fn see_value(&mut self, node: usize, value: Ancestor) -> Result<(), String> {
        let Ancestor { branch, epoch, value_id } = value;
        self.values.entry((branch, epoch)).or_insert(value_id);
        if let Some(oracle) = self.oracles.get(&branch) {
            let last = (branch, Epoch(epoch.0.saturating_sub(1)));
            self.before.entry(last).or_insert_with(|| oracle.clone());
            return Ok(());
        }
        let mine = |it: &&Pending| it.node == node;
        let kept: BTreeSet<u64> =
            self.pending.values().filter(mine).filter_map(Pending::written).collect();
        let base = self.checker.base_of(branch);
        let from = base.and_then(|base| {
            // One that accepted a value which was not chosen went on from it all the same: what
            // was acknowledged since another one was chosen is not in its line.
            let chosen = self.values.get(&(base.branch, base.epoch));
            let is_other = chosen.is_some_and(|&chosen| chosen != base.value_id);
            let last = Epoch(base.epoch.0 - u64::from(is_other));
            // Nobody may have announced the value after it: then the next one that somebody did.
            let later = self.before.range((base.branch, last)..=(base.branch, Epoch(u64::MAX)));
            later.map(|(_, oracle)| oracle).next().or_else(|| self.oracles.get(&base.branch))
        });
        self.cluster
            .trace(|| format!("n{node} begins {branch:?} from {base:?}, {kept:?} in flight"));
        let oracle = from.map_or_else(Oracle::default, |oracle| oracle.fork(&kept));
        let oracle = self.after_force(branch, oracle)?;
        self.oracles.insert(branch, oracle);
        for pending in self.pending.values_mut().filter(|it| it.node == node) {
            pending.branch = branch;
        }
        if self.ordered.as_ref().is_some_and(|it| it.lossy.contains(&branch)) {
            self.begin_reads_anew(node, branch);
        }
        Ok(())
    }

    /// C3: what replicas of a line hold that are in sync may be read there.
    fn check_disks(&self) -> Result<(), String> {
        for leaf in self.checker.newest_of_lines() {
            let Some(oracle) = self.oracles.get(&leaf.branch) else { continue };
            for member in sources_of(&self.cluster, leaf).iter() {
                let disk = &self.cluster.disks[member.index()];
                let mut held = self.blocks.iter().flat_map(|&block| {
                    let ids = self.cluster.contents.sectors(disk.read(block));
                    sectors_of(block).zip(ids)
                });
                if let Some((sector, value)) = held.find(|&(at, it)| !oracle.may_hold(at, it)) {
                    let branch = leaf.branch;
                    return Err(format!(
                        "C3: n{member}, in sync on {branch:?}, holds {value} in sector {sector}"
                    ));
                }
            }
        }
        Ok(())
    }

    // ---- The end.

    /// Nothing fails any more: all lines but one give way, and all replicas become equal.
    fn finish(&mut self) -> Result<(), String> {
        self.heal_all();
        // What was cut a moment ago looks settled until it is noticed.
        self.turn(u64::MAX, Duration::from_secs(2))?;
        let deadline = self.cluster.now + END;
        while !self.is_settled() {
            self.heal_all();
            self.take_disks_back();
            self.force_who_is_stuck();
            self.give_way();
            (0..self.count()).for_each(|node| self.cluster.allow_resync(node));
            let unproven = FenceVerdict::Unproven;
            (0..self.count()).for_each(|node| self.cluster.answer_fence(node, unproven));
            let primaries = (0..self.count()).filter(|&node| self.cluster.is_primary(node)).count();
            if primaries == 0 && self.random.chance(1, 20) {
                let node = self.any_node();
                self.promote(node);
            }
            self.turn(u64::MAX, Duration::from_millis(50))?;
            if self.cluster.now > deadline {
                let processes = self.cluster.processes.iter().flatten();
                let text: Vec<String> = processes.map(|process| process.explain()).collect();
                let leaves: Vec<_> = self.checker.newest_of_lines().collect();
                let all = || 0..self.count();
                let split: Vec<_> = all()
                    .flat_map(|a| all().map(move |b| (a, b)))
                    .filter(|&(a, b)| self.is_split(a, b))
                    .collect();
                return Err(format!(
                    "not settled: parted are {split:?}, winner {:?}: {leaves:?}\n{}",
                    self.winner,
                    text.join("\n")
                ));
            }
        }
        let node = (0..self.count()).find(|&node| self.cluster.is_primary(node));
        let node = node.ok_or("the session ended though nothing failed")?;
        for block in self.blocks.clone() {
            let branch = self.line_at(node).ok_or("the line of the last session is not known")?;
            self.read_block(node, branch, block);
            self.turn(u64::MAX, Duration::from_secs(1))?;
            if !self.pending.is_empty() {
                return Err(format!("a read of block {block} was not answered within 1 s"));
            }
        }
        Ok(())
    }

    fn heal_all(&mut self) {
        for (a, b) in (0..self.count()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            self.cluster.heal_link(a, b);
        }
    }

    fn is_settled(&self) -> bool {
        let replicas = self.count() - usize::from(self.cluster.options.clients);
        let nodes = || 0..self.count();
        let mut primaries = nodes().filter(|&node| self.cluster.is_primary(node));
        let (Some(primary), None) = (primaries.next(), primaries.next()) else { return false };
        let Some(process) = self.cluster.processes[primary].as_ref() else { return false };
        let in_sync = process.resource.status().members.iter().filter(|it| it.in_sync).count();
        let is_split = nodes().any(|a| nodes().any(|b| self.is_split(a, b)));
        let is_equal = |&block: &u64| {
            let mut values = (0..replicas).map(|node| self.cluster.disks[node].read(block));
            let first = values.next();
            values.all(|value| Some(value) == first)
        };
        in_sync == replicas
            && !is_split
            && self.pending.is_empty()
            && process.resource.is_quiet()
            && self.blocks.iter().all(is_equal)
    }
}

/// The first seeds do not ask: a test counts what gives way in them.
fn asked_readmission(seed: u64) -> Readmission {
    if seed > 40 { some_readmission(seed) } else { Readmission::AtOnce }
}

/// Nobody gives way by itself in every other run.
fn any_policy(random: &mut Random) -> AfterSplit {
    if random.chance(1, 2) {
        return AfterSplit::default();
    }
    let node = NodeId::new(u8::from(random.chance(1, 2))).expect("a node");
    let none = [
        WithoutPrimary::Disconnect,
        WithoutPrimary::YoungerPrimary,
        WithoutPrimary::OlderPrimary,
        WithoutPrimary::ZeroChanges,
        WithoutPrimary::LeastChanges,
        WithoutPrimary::Node(node),
    ];
    AfterSplit {
        none: *random.pick(&none).expect("a few"),
        one: *random.pick(&WithOnePrimary::ALL).expect("a few"),
        two: *random.pick(&WithTwoPrimaries::ALL).expect("a few"),
    }
}

fn sectors_of(block: u64) -> std::ops::Range<u64> {
    block * SECTORS as u64..(block + 1) * SECTORS as u64
}

impl Pending {
    fn written(&self) -> Option<u64> {
        match self.kind {
            Kind::Write { id } => Some(id),
            Kind::Read { .. } => None,
        }
    }
}
