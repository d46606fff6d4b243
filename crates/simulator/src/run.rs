//! One run: a workload, faults by chance, and a quiet end in which all must become equal.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::{
    Command, CommandId, GroupInput, PartId, PromoteMode, Request, RequestKind,
};
use stdx::random::Random;
use stdx::time::Time;

use crate::checker::Checker;
use crate::cluster::{Cluster, ClusterOptions, Outcome, Quirks};
use crate::oracle::{Oracle, ReadStart};

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub seed: u64,
    pub trace: bool,
    pub trace_lane: Option<u8>,
    /// Events in which faults may happen.
    pub events: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub events: u64,
    pub writes: u64,
    pub reads: u64,
    pub flushes: u64,
    pub sessions: u64,
    pub kills: u64,
    pub power_cuts: u64,
    pub cuts: u64,
    pub attaches: u64,
}

struct Run {
    cluster: Cluster,
    random: Random,
    oracle: Oracle,
    checker: Checker,
    report: Report,
    blocks: Vec<u64>,
    next_part: u64,
    next_value: u64,
    pending: BTreeMap<PartId, Pending>,
    /// The node that the client uses, while it is Primary.
    client: Option<usize>,
    promoting: Option<(usize, CommandId)>,
    /// Nobody wants the volume until then.
    idle_until: Time,
    next_command: u64,
    losses: u32,
    born: bool,
    down: BTreeSet<usize>,
    disks: Disks,
}

/// Whether disks are given up and taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disks {
    Stay,
    ComeAndGo,
}

enum Pending {
    Write { node: usize, blocks: Vec<(u64, u64)> },
    Read { node: usize, blocks: Vec<(u64, ReadStart)> },
    Flush { node: usize, began: BTreeMap<u64, BTreeSet<u64>> },
}

const IN_FLIGHT_MAX: usize = 24;
const END: Duration = Duration::from_secs(120);

/// Runs one seed; an error says what was violated.
pub fn run(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Disks::Stay)
}

/// The same, while operators give disks up and take them back.
pub fn run_with_detaches(options: &RunOptions) -> Result<Report, String> {
    run_with(options, Disks::ComeAndGo)
}

fn run_with(options: &RunOptions, disks: Disks) -> Result<Report, String> {
    let mut random = Random::new(options.seed ^ 0x5eed);
    let clients = u8::from(random.chance(1, 4));
    let nodes = 3 + clients;
    // Nodes differ in their cores, and a node may start again with other ones.
    let shards = match random.below(3) {
        0 => vec![vec![1]; usize::from(nodes)],
        1 => (0..nodes).map(|_| vec![shard_count(&mut random)]).collect(),
        _ => vec![vec![1, 2, 3, crate::process::SHARDS_MAX]; usize::from(nodes)],
    };
    let extents = 20;
    let cluster = Cluster::new(ClusterOptions {
        seed: options.seed,
        nodes,
        clients,
        shards,
        size_bytes: extents * EXTENT_BLOCKS * 4096,
        al_slots: 3 + usize::try_from(random.below(6)).expect("small"),
        trace: options.trace,
        trace_lane: options.trace_lane,
        quirks: Quirks { slow_mail: random.chance(1, 2) },
    });
    let blocks = (0..extents)
        .flat_map(|extent| (0..3).map(move |block| extent * EXTENT_BLOCKS + block * 7))
        .collect();
    let mut run = Run {
        cluster,
        random,
        oracle: Oracle::default(),
        checker: Checker::default(),
        report: Report::default(),
        blocks,
        next_part: 1,
        next_value: 1,
        pending: BTreeMap::new(),
        client: None,
        promoting: None,
        idle_until: Time::ZERO,
        next_command: 1,
        losses: 0,
        born: false,
        down: BTreeSet::new(),
        disks,
    };
    run.go(options.events)?;
    run.report.events = run.cluster.events_done;
    Ok(run.report)
}

fn shard_count(random: &mut Random) -> u8 {
    u8::try_from(1 + random.below(3)).expect("few")
}

impl Run {
    fn go(&mut self, events: u64) -> Result<(), String> {
        self.be_born()?;
        while self.cluster.events_done < events {
            self.act();
            for _ in 0..self.random.below(12) {
                let until = self.cluster.now + Duration::from_millis(5);
                self.cluster.step(until);
                self.take_outcomes()?;
            }
        }
        self.heal();
        self.finish()
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
        while self.client.is_none() {
            if !self.cluster.step(deadline) {
                return Err("no session within 30 s of birth".to_owned());
            }
            self.take_outcomes()?;
        }
        self.born = true;
        Ok(())
    }

    fn promote(&mut self, node: usize, mode: PromoteMode) {
        let id = CommandId(self.next_command);
        self.next_command += 1;
        self.promoting = Some((node, id));
        self.cluster.command(node, id, Command::Promote(mode));
    }

    // ---- The workload and the faults.

    fn act(&mut self) {
        match self.random.below(1000) {
            0..3 => self.kill(),
            3..4 => self.cut_power(),
            4..8 => self.cut(),
            8..40 => self.heal_one(),
            40..46 => {
                let (a, b) = (self.any_node(), self.any_node());
                if self.random.chance(1, 2) {
                    self.cluster.reset_link(a, b);
                } else {
                    self.cluster.break_one_connection(a, b);
                }
            }
            46..48 => {
                if self.random.chance(1, 2) {
                    let idle = Duration::from_millis(self.random.below(10_000));
                    self.idle_until = self.cluster.now + idle;
                }
                self.demote();
            }
            48..120 => self.flush(),
            120..180 if self.disks == Disks::ComeAndGo => self.move_disk(),
            120..450 => self.read(),
            _ => self.write(),
        }
        self.find_primary();
    }

    fn any_node(&mut self) -> usize {
        let count = u64::from(self.cluster.options.nodes);
        usize::try_from(self.random.below(count)).expect("few nodes")
    }

    fn kill(&mut self) {
        let node = self.any_node();
        if self.cluster.is_up(node) {
            self.report.kills += 1;
            self.cluster.kill(node);
            self.after_death(node);
        }
    }

    fn cut_power(&mut self) {
        let all = self.random.chance(1, 4);
        let victim = self.any_node();
        for node in 0..usize::from(self.cluster.options.nodes) {
            if (all || node == victim) && self.cluster.is_up(node) {
                self.report.power_cuts += 1;
                self.cluster.cut_power(node);
                self.after_death(node);
            }
        }
    }

    fn after_death(&mut self, node: usize) {
        let delay = Duration::from_millis(1 + self.random.below(3000));
        self.cluster.restart_later(node, delay);
        self.end_client(node);
    }

    /// Nothing that the client of `node` waits for will be answered any more.
    fn end_client(&mut self, node: usize) {
        if self.client == Some(node) {
            self.client = None;
        }
        if self.promoting.is_some_and(|(at, _)| at == node) {
            self.promoting = None;
        }
        self.pending.retain(|_, pending| pending.node() != node);
    }

    fn cut(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        if self.random.chance(1, 3) {
            for other in 0..usize::from(self.cluster.options.nodes) {
                self.cluster.cut_link(a, other);
            }
        } else {
            self.cluster.cut_link(a, b);
        }
        self.report.cuts += 1;
    }

    fn heal_one(&mut self) {
        let (a, b) = (self.any_node(), self.any_node());
        self.cluster.heal_link(a, b);
    }

    fn demote(&mut self) {
        if let Some(node) = self.client
            && self.pending.is_empty()
        {
            self.client = None;
            let id = CommandId(self.next_command);
            self.next_command += 1;
            self.cluster.command(node, id, Command::Demote);
        }
    }

    /// Gives a disk up, or offers it again.
    fn move_disk(&mut self) {
        let node = self.any_node();
        let id = CommandId(self.next_command);
        self.next_command += 1;
        // One at a time: two that go at once may both have been told that the other one stays, and
        // the last good disk is blank for a node that restarts without it.
        let diskful = self.cluster.options.nodes - self.cluster.options.clients;
        let all_there = (0..usize::from(diskful)).all(|node| self.cluster.has_open_disk(node));
        if all_there && self.random.chance(1, 2) {
            self.cluster.command(node, id, Command::Detach);
        } else {
            self.offer_disk(node, id);
        }
    }

    fn offer_disk(&mut self, node: usize, id: CommandId) {
        if self.cluster.attach(node, id) {
            self.report.attaches += 1;
        }
    }

    fn find_primary(&mut self) {
        if self.client.is_some() {
            return;
        }
        let is_wanted = self.cluster.now >= self.idle_until;
        if is_wanted && self.promoting.is_none() && self.random.chance(1, 5) {
            let node = self.any_node();
            if self.cluster.is_up(node) {
                self.promote(node, PromoteMode::Normal);
            }
        }
    }

    fn part(&mut self) -> PartId {
        self.next_part += 1;
        PartId(self.next_part)
    }

    fn some_range(&mut self) -> (u64, u32) {
        let start = *self.random.pick(&self.blocks).expect("there are blocks");
        (start, 1 + u32::try_from(self.random.below(4)).expect("small"))
    }

    fn write(&mut self) {
        let Some(node) = self.client.filter(|_| self.pending.len() < IN_FLIGHT_MAX) else { return };
        let (start, count) = self.some_range();
        let discard = self.random.chance(1, 20);
        let fua = self.random.chance(1, 10);
        let mut blocks = Vec::new();
        for block in start..start + u64::from(count) {
            // Zeroes of a discard are told apart by nobody: the oracle sees them as value 0.
            let value = if discard { 0 } else { self.next_value };
            self.next_value += 1;
            blocks.push((block, value));
        }
        if discard && blocks.iter().any(|&(block, _)| self.oracle.may_hold(block, 0)) {
            return;
        }
        let values = blocks.iter().map(|&(_, value)| value).collect();
        let kind = if discard {
            RequestKind::Discard { fua }
        } else {
            let Some(payload) = self.cluster.payload(node, values) else { return };
            RequestKind::Write { payload, fua }
        };
        self.trace(|| format!("invoke {blocks:?}"));
        for &(block, value) in &blocks {
            self.oracle.invoke(block, value);
        }
        let part = self.part();
        self.pending.insert(part, Pending::Write { node, blocks });
        self.report.writes += 1;
        self.submit(node, part, kind, start, count);
    }

    fn read(&mut self) {
        let Some(node) = self.client.filter(|_| self.pending.len() < IN_FLIGHT_MAX) else { return };
        let (start, count) = self.some_range();
        let begin = |block| (block, self.oracle.begin_read(block));
        let blocks = (start..start + u64::from(count)).map(begin).collect();
        let part = self.part();
        self.pending.insert(part, Pending::Read { node, blocks });
        self.report.reads += 1;
        self.submit(node, part, RequestKind::Read, start, count);
    }

    fn flush(&mut self) {
        let Some(node) = self.client.filter(|_| self.pending.len() < IN_FLIGHT_MAX) else { return };
        let part = self.part();
        let began = self.oracle.flushable();
        self.pending.insert(part, Pending::Flush { node, began });
        self.report.flushes += 1;
        self.cluster.request(node, 0, GroupInput::Flush(part));
    }

    fn submit(&mut self, node: usize, part: PartId, kind: RequestKind, start: u64, count: u32) {
        let (offset, length) = (start * 4096, count * 4096);
        let request = Request { part, kind, offset, length };
        self.cluster.request(node, start, GroupInput::Request(request));
    }

    fn trace(&self, text: impl FnOnce() -> String) {
        if self.cluster.options.trace {
            crate::cluster::trace(self.cluster.now, &text());
        }
    }

    // ---- What comes back.

    fn take_outcomes(&mut self) -> Result<(), String> {
        self.checker
            .check(&mut self.cluster)
            .map_err(|text| format!("{text} ({:?})", self.cluster.now))?;
        for outcome in std::mem::take(&mut self.cluster.outcomes) {
            match outcome {
                Outcome::Completed { part, result, .. } => {
                    let Some(pending) = self.pending.remove(&part) else { continue };
                    if let Ok(values) = result {
                        self.completed(pending, values)?;
                    }
                }
                Outcome::Answered { node, id, result } => {
                    if self.promoting == Some((node, id)) {
                        self.promoting = None;
                        if result.is_ok() && self.cluster.is_primary(node) {
                            self.report.sessions += 1;
                            self.client = Some(node);
                        }
                    }
                }
                Outcome::Role { node, primary } => {
                    if !primary {
                        self.end_client(node);
                    }
                }
                Outcome::Config { losses, .. } => {
                    if losses > self.losses {
                        self.losses = losses;
                        if self.born {
                            self.oracle.on_losses();
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn completed(&mut self, pending: Pending, values: Option<Vec<u64>>) -> Result<(), String> {
        match pending {
            Pending::Write { blocks, .. } => {
                self.trace(|| format!("complete {blocks:?}"));
                for (block, value) in blocks {
                    self.oracle.complete(block, value);
                }
            }
            Pending::Read { blocks, node } => {
                let values = values.ok_or("a read was answered without bytes")?;
                for ((block, start), value) in blocks.iter().zip(values) {
                    self.oracle
                        .end_read(*block, start, value)
                        .map_err(|text| format!("{text} (node {node}, {:?})", self.cluster.now))?;
                }
            }
            Pending::Flush { began, .. } => self.oracle.flushed(&began),
        }
        Ok(())
    }

    // ---- The end.

    fn heal(&mut self) {
        let count = usize::from(self.cluster.options.nodes);
        for a in 0..count {
            for b in 0..count {
                self.cluster.heal_link(a, b);
            }
            let id = CommandId(self.next_command);
            self.next_command += 1;
            self.offer_disk(a, id);
        }
        self.down.clear();
    }

    /// Nothing fails any more: one session, all in sync, all equal, nothing marked.
    fn finish(&mut self) -> Result<(), String> {
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
            if self.pending.is_empty() && self.client.is_some() && self.is_settled() {
                break;
            }
            if self.cluster.now > deadline {
                return Err(format!("not settled: {}", self.explain()));
            }
        }
        self.read_everything()?;
        self.compare_replicas()
    }

    /// Nobody uses the volume: the replicas become equal all the same, if a majority knows of one
    /// that is in sync.
    fn settle_without_clients(&mut self) -> Result<(), String> {
        let deadline = self.cluster.now + END;
        while !self.is_settled_at(0) || self.client.is_some() || self.promoting.is_some() {
            self.heal();
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
        self.client.is_some_and(|node| self.is_settled_at(node))
    }

    fn is_settled_at(&self, node: usize) -> bool {
        let diskful = self.cluster.options.nodes - self.cluster.options.clients;
        let Some(process) = self.cluster.processes[node].as_ref() else { return false };
        let status = process.resource.status();
        let in_sync = status.members.iter().filter(|member| member.in_sync).count();
        in_sync == usize::from(diskful) && process.resource.is_quiet()
    }

    fn explain(&self) -> String {
        let statuses = self.cluster.processes.iter().flatten();
        let lines: Vec<String> = statuses.map(|process| process.explain()).collect();
        let text = lines.join("\n");
        format!("client {:?}, {} pending\n{text}", self.client, self.pending.len())
    }

    fn read_everything(&mut self) -> Result<(), String> {
        let blocks: Vec<u64> = self.oracle.blocks().collect();
        for block in blocks {
            let Some(node) = self.client else {
                return Err("the session ended though nothing failed".to_owned());
            };
            let part = self.part();
            let start = self.oracle.begin_read(block);
            self.pending.insert(part, Pending::Read { node, blocks: vec![(block, start)] });
            self.submit(node, part, RequestKind::Read, block, 1);
            let deadline = self.cluster.now + Duration::from_secs(10);
            while self.pending.contains_key(&part) {
                if !self.cluster.step(deadline) {
                    return Err(format!("a read of block {block} was not answered within 10 s"));
                }
                self.take_outcomes()?;
            }
        }
        Ok(())
    }

    fn compare_replicas(&self) -> Result<(), String> {
        let diskful = usize::from(self.cluster.options.nodes - self.cluster.options.clients);
        for block in self.oracle.blocks() {
            let values: Vec<u64> =
                self.cluster.disks[..diskful].iter().map(|disk| disk.read(block)).collect();
            if values.iter().any(|&value| value != values[0]) {
                return Err(format!("replicas differ in block {block}: {values:?}"));
            }
        }
        Ok(())
    }
}

impl Report {
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.writes += other.writes;
        self.reads += other.reads;
        self.flushes += other.flushes;
        self.sessions += other.sessions;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.cuts += other.cuts;
        self.attaches += other.attaches;
    }
}

impl Pending {
    fn node(&self) -> usize {
        match self {
            Self::Write { node, .. } | Self::Read { node, .. } | Self::Flush { node, .. } => *node,
        }
    }
}
