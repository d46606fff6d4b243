//! Operators who add and remove members, and nodes that lose their vote store.

use format::config::{Config, VolumeConfig, Voter};
use format::ids::{MemberSet, NodeId};
use format::metadata::Register;
use replication::adoption::{Obstacle, Proof};
use replication::contract::Command;

use crate::cluster::{Configured, Replaced};
use crate::run::Run;
use crate::sometimes::Mark;

/// So many forks of a line have room in the copy of a vote, whatever else it says.
const FORKS_IN_COPY: u64 = 4;

impl Run {
    pub(super) fn is_wanted(&self, node: usize) -> bool {
        self.wanted.iter().any(|wanted| wanted.index() == node)
    }

    pub(super) fn wanted_replicas(&self) -> MemberSet {
        self.wanted.iter().filter(|&node| self.cluster.options.is_diskful(node)).collect()
    }

    /// Every node has the configuration that is wanted, and it is what the value says.
    fn is_as_wanted(&self) -> bool {
        let is_told = |node: NodeId| self.cluster.configured[node.index()] == self.wanted;
        let is_chosen = self.checker.newest().is_some_and(|newest| {
            newest.members == self.wanted_replicas() && newest.voters_old.is_empty()
        });
        let gone = self.cluster.options.members().minus(self.wanted);
        is_chosen
            && self.wanted.iter().all(is_told)
            && gone.iter().all(|node| self.cluster.configured[node.index()].is_empty())
    }

    /// One change at a time, as an operator would.
    pub(super) fn change_members(&mut self) {
        if !self.is_as_wanted() {
            return;
        }
        let replicas = self.wanted_replicas();
        let options = &self.cluster.options;
        let able = options.members().iter().filter(|&node| options.is_diskful(node));
        let absent: MemberSet = able.filter(|&node| !replicas.has(node)).collect();
        let busy: Vec<usize> =
            self.clients.iter().chain(self.promoting.values()).copied().collect();
        if let Some(node) = absent.first() {
            self.add(node);
        } else if replicas.len() > 2 {
            let nodes: Vec<NodeId> = replicas.iter().collect();
            let node = *self.random.pick(&nodes).expect("some");
            if !busy.contains(&node.index()) {
                self.report.member_changes += 1;
                self.wanted.remove(node);
            }
        }
    }

    /// With a new disk, or with the one that it left with.
    fn add(&mut self, node: NodeId) {
        self.report.member_changes += 1;
        let was_member = self.cluster.disks[node.index()].superblock.joined.0 > 0;
        if was_member && self.random.chance(1, 2) {
            self.cluster.replace(node.index(), Replaced::Node);
        } else if was_member {
            self.cluster.marks.insert(Mark::MemberAddedAgain);
        }
        self.wanted.insert(node);
    }

    pub(super) fn adjust_one(&mut self) {
        let node = self.any_node();
        self.adjust(node);
    }

    /// Gives one node the configuration that is wanted, or takes the resource away from it.
    pub(super) fn adjust(&mut self, node: usize) {
        let wanted = if self.is_wanted(node) { self.wanted } else { MemberSet::EMPTY };
        if self.cluster.configured[node] == wanted || self.cluster.is_stopped(node) {
            return;
        }
        let is_new = self.cluster.configured[node].is_empty();
        if wanted.is_empty() {
            // Not before nobody needs what only it may have.
            let is_needed = |it: &Config| {
                let voters = it.voters.iter().chain(&it.voters_old).map(|voter| voter.node);
                it.members.iter().chain(voters).any(|member| member.index() == node)
            };
            if self.checker.newest().is_none_or(is_needed) {
                // A Primary leads on until it is told; its client may be gone.
                if self.cluster.is_primary(node) && !self.clients.contains(&node) {
                    let id = self.command_id();
                    self.cluster.command(node, id, Command::Demote);
                }
                return;
            }
            self.cluster.configure(node, wanted);
            self.end_client(node);
            self.commands.retain(|_, (at, _)| *at != node);
        } else if self.cluster.configure(node, wanted) == Configured::Complete && is_new {
            self.cluster.start(node);
        }
    }

    /// The state directory of a node is lost. Not of two before the first is a voter again: what
    /// only they knew would be gone. Nor of the last replica that is in sync: without its vote
    /// store its disk counts as an old image, and only an operator can say that it is none. Nor
    /// while a member leaves: of two voters both are needed, and the value with two may be chosen
    /// already.
    pub(super) fn lose_vote_store(&mut self) {
        let node = self.any_node();
        let is_whole = self.checker.newest().is_some_and(|newest| {
            let volume = newest.volumes.first();
            let in_sync = volume.map_or(MemberSet::EMPTY, VolumeConfig::insync_set);
            newest.voters.len() > 2
                && in_sync.iter().any(|member| member.index() != node)
                && self.has_all_stores(newest)
                && newest.voters.iter().any(|voter| voter.node.index() == node)
        });
        let registers = self.cluster.disks.iter().map(|disk| &disk.register);
        // By an older value, which is all that some know, a vote may not be there yet: then this
        // one is the second that is lost, and no node begins a session unasked.
        let may_be_few = registers
            .filter_map(|register| register.accepted.as_ref())
            .any(|(_, value)| value.voters.len() <= 2 || !self.has_all_stores(value));
        // Who was stopped is down, and what its leaving comes to may be on its way still.
        let is_quiet = |node| self.cluster.is_up(node) && !self.cluster.is_stopped(node);
        let is_left = self.commands.values().any(|(_, command)| *command == Command::Stop)
            || !(0..self.cluster.processes.len()).filter(|&it| self.is_wanted(it)).all(is_quiet);
        let is_whole = is_whole && !may_be_few && !is_left;
        if is_whole && self.is_as_wanted() && self.cluster.is_up(node) {
            self.report.lost_stores += 1;
            self.cluster.kill(node);
            self.cluster.replace(node, Replaced::VoteStore);
            self.after_death(node);
        }
    }

    /// The vote stores that the value names are all there.
    fn has_all_stores(&self, value: &Config) -> bool {
        // A forged value may name nodes that are not there.
        let disk_of = |node: NodeId| self.cluster.disks.get(node.index());
        let has_store =
            |voter: &Voter| disk_of(voter.node).is_some_and(|it| it.register.store == voter.store);
        value.voters.iter().all(has_store)
    }

    /// A member that leaves may leave two voters, of which both are needed.
    pub(super) fn may_leave(&self) -> bool {
        self.checker.newest().is_none_or(|newest| self.has_all_stores(newest))
    }

    /// All die at once, and some lose their state directories. Where these were a majority the
    /// operator has the disks judged, all of them.
    pub(super) fn lose_stores(&mut self) {
        let count = usize::from(self.cluster.options.nodes);
        let has_power = self.random.chance(2, 3);
        for node in (0..count).filter(|&node| self.cluster.is_up(node)).collect::<Vec<_>>() {
            if has_power {
                self.report.kills += 1;
                self.cluster.kill(node);
            } else {
                self.report.power_cuts += 1;
                self.cluster.cut_power(node);
            }
            self.after_death(node);
        }
        // What was under way at the end is done by now, or never will be.
        if let Err(text) = self.checker.check(&mut self.cluster) {
            self.cluster.violation = Some(text);
            return;
        }
        let kept: Vec<Register> =
            self.cluster.disks.iter().map(|disk| disk.register.clone()).collect();
        let all = self.random.chance(1, 3);
        for node in 0..count {
            if all || self.random.chance(2, 3) {
                self.cluster.replace(node, Replaced::VoteStore);
            }
        }
        match self.cluster.judge(MemberSet::EMPTY) {
            Ok(verdict) if verdict.proof == Proof::Complete => {
                let adopted = self.cluster.adopt(MemberSet::EMPTY);
                assert!(adopted.is_ok(), "the same was judged just now");
                if let Err(text) = self.checker.note_adopted(&verdict) {
                    self.cluster.violation = Some(text);
                }
                self.report.adoptions += 1;
                self.report.lost_stores += 1;
            }
            // Acknowledged writes may be lost by then, and are not to be here: a voter without a
            // disk was needed, for one.
            Ok(_) => self.put_back(kept),
            // A disk whose vote was never renewed, or whose replica nobody led since, shows no
            // kinship to what was adopted so often since: the operator chooses.
            Err(Obstacle::Parted(_) | Obstacle::NoData(_))
                if self.report.adoptions >= FORKS_IN_COPY =>
            {
                self.put_back(kept);
            }
            // The vote stores that are left go on by themselves.
            Err(Obstacle::HasQuorum(_)) => self.report.lost_stores += 1,
            Err(refused) => {
                let text = format!("all disks are there, and prove nothing: {refused:?}");
                self.cluster.violation = Some(text);
            }
        }
    }

    fn put_back(&mut self, kept: Vec<Register>) {
        for (disk, register) in self.cluster.disks.iter_mut().zip(kept) {
            disk.register = register;
        }
    }
}
