//! What stays as it is before all is healed, while the others go on.
//!
//! In a share of the runs one member stays dead or cut off from all, or the link between two stays
//! cut. What the protocol promises then is asked for in a bounded time: a node that reaches a
//! quorum of the voters, and a replica that is in sync by the newest value that they have, can be
//! Primary, its clients' requests end, and the replicas that it reaches are brought up to date
//! (PROTOCOL.md 6, 7 and 8). Nothing is forwarded: whom the Primary does not reach is lost to it.
//!
//! All is drawn apart from what a run draws otherwise: the runs in which nothing stands are what
//! they were without this.

use std::time::Duration;

use format::config::{Config, VolumeConfig};
use format::ids::{MemberSet, NodeId};
use format::metadata::ReplicaState;
use replication::contract::{Command, Demands, PromoteMode, Share};
use replication::quorum;
use stdx::random::Random;
use stdx::time::Time;

use crate::run::{Run, STANDING};

/// In one of so many runs something stands.
const SHARE: u64 = 4;
/// What was under way when it began is over by then: restarts, stops, silent connections.
const SETTLES: Duration = Duration::from_secs(5);
/// A node that may be promised something is found by then, or none is.
const LOOKS: Duration = Duration::from_secs(20);
/// Who is promised that it goes on has gone on by then, members that rest included.
const LIMIT: Duration = Duration::from_secs(120);
/// A command that ends a session is answered by then: the time that it has, and a little more.
const ENDS_WITHIN: Duration = Duration::from_secs(12);
const STEP: Duration = Duration::from_millis(10);
/// Requests that are to be answered at the end.
const LAST_WRITES: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    #[default]
    Nothing,
    Dead(usize),
    CutOff(usize),
    LinkCut(usize, usize),
}

impl Standing {
    pub(super) fn cuts(self, a: usize, b: usize) -> bool {
        match self {
            Self::Nothing | Self::Dead(_) => false,
            Self::CutOff(node) => a == node || b == node,
            Self::LinkCut(from, to) => (a, b) == (from, to) || (b, a) == (from, to),
        }
    }

    fn is_gone(self, node: usize) -> bool {
        match self {
            Self::Nothing | Self::LinkCut(..) => false,
            Self::Dead(gone) | Self::CutOff(gone) => gone == node,
        }
    }
}

impl Run {
    /// Goes on beside what stays as it is, in some runs.
    pub(super) fn stand(&mut self) -> Result<(), String> {
        let standing = self.some_standing();
        if standing == Standing::Nothing {
            return Ok(());
        }
        if self.random.chance(3, 4) {
            self.become_whole()?;
        }
        self.standing = standing;
        self.cluster.trace(|| format!("{:?} from now on", self.standing));
        match self.standing {
            Standing::Nothing => {}
            Standing::Dead(node) => {
                self.cluster.away = MemberSet::of(id_of(node));
                if self.cluster.is_up(node) {
                    self.report.kills += 1;
                    self.cluster.kill(node);
                }
                self.forget_client(node);
                self.commands.retain(|_, (at, _)| *at != node);
            }
            Standing::CutOff(node) => {
                for other in 0..self.count() {
                    self.cluster.cut_link(node, other);
                }
                // What it was told is under way: who was to stop ends once it may.
                self.forget_client(node);
            }
            Standing::LinkCut(a, b) => self.cluster.cut_link(a, b),
        }
        self.go_on_beside()?;
        let standing = std::mem::take(&mut self.standing);
        if let Standing::Dead(node) = standing {
            self.cluster.away = MemberSet::EMPTY;
            self.cluster.start(node);
        }
        Ok(())
    }

    /// All is well when it begins, if that is to be had: somebody is Primary, and all are in sync.
    fn become_whole(&mut self) -> Result<(), String> {
        let until = self.cluster.now + LOOKS;
        while !self.is_settled() && self.cluster.now < until {
            self.find_primary();
            self.pass()?;
        }
        (0..LAST_WRITES).for_each(|_| self.write());
        Ok(())
    }

    fn some_standing(&self) -> Standing {
        let mut random = Random::new(self.cluster.options.seed ^ 0x57a2d);
        let Demands { quorum, redundancy, .. } = self.cluster.options.demands;
        // Where all have to be there nothing goes on without one.
        let asks_for_all = quorum == Share::All || redundancy == Share::All;
        if !random.chance(1, SHARE) || asks_for_all || self.skip & 1 << STANDING != 0 {
            return Standing::Nothing;
        }
        let mut nodes: Vec<usize> = self.wanted.iter().map(NodeId::index).collect();
        let mut take = || {
            let at = random.below(u64::try_from(nodes.len()).expect("few nodes"));
            nodes.swap_remove(usize::try_from(at).expect("few nodes"))
        };
        let (one, other) = (take(), take());
        match random.below(4) {
            0 => Standing::CutOff(one),
            1 if self.wanted.len() > 2 => Standing::LinkCut(one, other),
            _ => Standing::Dead(one),
        }
    }

    fn go_on_beside(&mut self) -> Result<(), String> {
        // Who is left behind is back when the load is over, and here it never is.
        self.cluster.wait_for_followers();
        self.idle_until = self.cluster.now;
        let settled = self.cluster.now + SETTLES;
        while self.cluster.now < settled {
            self.pass()?;
            if self.random.chance(1, 4) {
                self.write();
            }
        }
        if !self.expect_progress()? {
            return Ok(());
        }
        self.report.standing += 1;
        if self.random.chance(1, 2) {
            self.end_session()?;
            let promised = self.expect_progress()?;
            if !promised {
                return Err(format!("nobody is promised to go on any more: {}", self.explain()));
            }
        }
        Ok(())
    }

    fn pass(&mut self) -> Result<(), String> {
        self.heal();
        let until = self.cluster.now + STEP;
        while self.cluster.step(until) {
            self.take_outcomes()?;
        }
        Ok(())
    }

    /// Somebody who is promised that it can go on does so; false if nobody is.
    fn expect_progress(&mut self) -> Result<bool, String> {
        let begin = self.cluster.now;
        let (mut since, mut asked): (_, Option<(u64, Time)>) = (None, None);
        loop {
            let leader = self.promised_leader();
            let from = match (leader, since) {
                (None, None) if self.cluster.now > begin + LOOKS => return Ok(false),
                (None, None) => {
                    self.pass()?;
                    continue;
                }
                (Some(_), None) => *since.insert(self.cluster.now),
                (_, Some(from)) => from,
            };
            if self.cluster.now > from + LIMIT {
                return Err(format!(
                    "{:?}, and {leader:?} does not go on: {}",
                    self.standing,
                    self.explain()
                ));
            }
            if let Some(leader) = leader {
                self.lead_with(leader);
                let (written, now) = (self.report.written, self.cluster.now);
                if self.goes_on(leader) && asked.is_some_and(|(before, _)| written > before) {
                    return Ok(true);
                }
                // What failed is asked again, and not all the time.
                if self.goes_on(leader) && asked.is_none_or(|(_, at)| now > at + SETTLES) {
                    asked = Some((written, now));
                    (0..LAST_WRITES).for_each(|_| self.write());
                    self.flush();
                    self.read_at(leader);
                }
            }
            self.pass()?;
        }
    }

    /// Whoever is Primary gives the role up.
    fn end_session(&mut self) -> Result<(), String> {
        let until = self.cluster.now + LIMIT;
        let leader = self.clients.last().copied();
        let mut asked = self.cluster.now;
        self.demote();
        while leader.is_some_and(|node| self.cluster.is_primary(node)) {
            if self.cluster.now > until {
                return Err(format!("{leader:?} does not end its session: {}", self.explain()));
            }
            // It was refused: replicas on slow disks are not made equal in the time that it has.
            if self.cluster.now > asked + ENDS_WITHIN {
                asked = self.cluster.now;
                self.clients.extend(leader);
                self.demote();
            }
            self.pass()?;
        }
        Ok(())
    }

    /// Its client is the only one, once it is Primary.
    fn lead_with(&mut self, leader: usize) {
        let others = self.clients.iter().copied().filter(|&node| node != leader);
        for other in others.collect::<Vec<_>>() {
            self.end_client(other);
        }
        let is_free = self.promoting.is_empty() && self.clients.is_empty();
        if is_free && self.cluster.is_up(leader) && self.random.chance(1, 5) {
            self.promote(leader, PromoteMode::Normal);
        }
    }

    /// Its clients' requests have ended, and all replicas that it reaches are in sync.
    fn goes_on(&self, leader: usize) -> bool {
        let status = self.cluster.processes[leader].as_ref().map(|it| it.resource.status());
        let Some(status) = status.filter(|_| self.clients[..] == [leader]) else { return false };
        let in_sync = status.members.iter().filter(|member| member.in_sync);
        let in_sync: MemberSet = in_sync.map(|member| member.node).collect();
        let is_pending = self.pending.values().any(|pending| pending.node() == leader);
        let in_reach = self.wanted_replicas().and(self.reach(leader));
        !is_pending && in_reach.is_subset_of(in_sync)
    }

    /// Who is Primary, or else anybody, and can be one for what it reaches.
    fn promised_leader(&mut self) -> Option<usize> {
        let (standing, wanted) = (self.standing, self.wanted);
        let mut commands = self.commands.values();
        let is_leaving =
            commands.any(|&(at, command)| command == Command::Stop && !standing.is_gone(at));
        let present = wanted.iter().map(NodeId::index).filter(|&node| !standing.is_gone(node));
        let present: Vec<usize> = present.collect();
        for &node in &present {
            // A promotion came through whose client was gone by then.
            if self.cluster.is_primary(node) && self.clients.is_empty() {
                self.clients.push(node);
            }
        }
        let able = present.into_iter().filter(|&node| self.is_promised(node));
        let able: Vec<usize> = able.collect();
        let primary = self.clients.last().filter(|node| able.contains(node));
        let asked = self.promoting.values().find(|node| able.contains(node));
        if is_leaving {
            return None;
        }
        primary.or(asked).copied().or_else(|| self.random.pick(&able).copied())
    }

    /// It reaches a quorum of the voters of the newest value that they have, and as many replicas
    /// as the options ask for that have what this value says. And nobody else is Primary, who keeps
    /// the voters that it reaches, be it without data, or with too few of them.
    fn is_promised(&self, node: usize) -> bool {
        let reach = self.reach(node);
        let is_present = |&it: &usize| it != node && !self.standing.is_gone(it);
        if (0..self.count()).filter(is_present).any(|it| self.cluster.is_primary(it)) {
            return false;
        }
        let disks = || reach.iter().map(|node| (node, &self.cluster.disks[node.index()]));
        let accepted = disks().filter_map(|(_, disk)| disk.register.accepted.as_ref());
        let Some((_, value)) = accepted.max_by_key(|(ballot, _)| *ballot) else { return false };
        let votes: Vec<_> = disks().map(|(node, disk)| (node, disk.register.store)).collect();
        let needed = match self.cluster.options.demands.redundancy {
            Share::AtLeast(count) => usize::from(count),
            Share::Majority | Share::All => usize::MAX,
        };
        // Whom the operator takes out is soon no replica any more. And a session that goes on waits
        // for the last one that it began with.
        let stays = |node: NodeId| needed == 1 || self.wanted.has(node);
        let followers = self.cluster.options.followers.get(node).copied().unwrap_or_default();
        let goes_on = self.cluster.is_primary(node);
        let is_here = |node: NodeId| {
            let process = self.cluster.processes[node.index()].as_ref();
            !goes_on || process.is_some_and(|process| process.resource.is_intact())
        };
        let able = disks().map(|(node, _)| node).filter(|&node| self.has_data(node, value));
        let able = able.filter(|&it| stays(it) && is_here(it) && !followers.has(it)).count();
        quorum::is_quorum(value, &votes.iter().copied()) && able >= needed
    }

    /// Its replica is what the value says is in sync.
    fn has_data(&self, node: NodeId, value: &Config) -> bool {
        let volume: Option<&VolumeConfig> = value.volumes.first();
        let named = volume.and_then(|volume| volume.insync_member(node));
        let is_behind = !value.clean && value.followers.has(node);
        let superblock = &self.cluster.disks[node.index()].superblock;
        let is_whole = match superblock.state {
            ReplicaState::InSync | ReplicaState::Outdated | ReplicaState::Failed => true,
            ReplicaState::Syncing => superblock.candidate.is_some(),
            ReplicaState::Blank => false,
        };
        named.is_some_and(|it| it.incarnation == superblock.incarnation) && is_whole && !is_behind
    }

    /// Whom `node` is connected with, in the end; itself too.
    fn reach(&self, node: usize) -> MemberSet {
        let is_there = |&it: &usize| {
            let is_cut = it != node && self.standing.cuts(node, it);
            let is_dead = self.standing == Standing::Dead(it);
            !is_cut && !is_dead && !self.cluster.configured[it].is_empty()
        };
        (0..self.count()).filter(is_there).map(id_of).collect()
    }

    fn forget_client(&mut self, node: usize) {
        self.end_client(node);
        self.promoting.retain(|_, at| *at != node);
    }

    fn count(&self) -> usize {
        usize::from(self.cluster.options.nodes)
    }
}

fn id_of(node: usize) -> NodeId {
    NodeId::new(u8::try_from(node).expect("few nodes")).expect("few nodes")
}
