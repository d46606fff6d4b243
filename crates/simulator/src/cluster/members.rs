//! Who is a member as the nodes are configured, and nodes that lose what they had.

use format::ids::{MemberSet, NodeId};
use replication::adoption::{self, Obstacle, Remains, Verdict};
use replication::contract::{CommandId, Congestion, ResourceInput};

use crate::cluster::storage::new_disk;
use crate::cluster::{Cluster, Outcome};

/// What of a node is lost for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    VoteStore,
    Disk,
    Node,
}

/// What became of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    Complete,
    /// The node keeps somebody in reach who is needed still, and starts with what it had before.
    Incomplete,
    Refused,
    /// Nobody is there to be told.
    Down,
}

impl Cluster {
    /// The configuration of a node names other members now, or nobody: then the resource goes.
    pub fn configure(&mut self, node: usize, members: MemberSet) -> Configured {
        let is_new = self.configured[node].is_empty();
        if members.is_empty() || is_new {
            self.configured[node] = members;
            self.kill(node);
            return Configured::Complete;
        }
        if !self.is_up(node) || self.is_stopped(node) {
            return Configured::Down;
        }
        self.trace(|| format!("n{node} is configured with {members:?}"));
        if !self.tell_members(node, members) {
            return Configured::Refused;
        }
        self.peers[node] |= members;
        for other in 0..self.processes.len() {
            self.try_connect(node, other);
        }
        if !self.peers[node].is_subset_of(members) {
            return Configured::Incomplete;
        }
        self.configured[node] = members;
        Configured::Complete
    }

    /// Whether the node took them over.
    fn tell_members(&mut self, node: usize, members: MemberSet) -> bool {
        let id = CommandId(u64::MAX);
        let options = crate::process::member_options(&self.options, Self::node_id(node), members);
        self.step_resource(node, ResourceInput::Members { id, members: options });
        let is_ours = |it: &Outcome| matches!(it, Outcome::Answered { id: it, .. } if *it == id);
        let answer = self.outcomes.iter().position(is_ours).map(|at| self.outcomes.remove(at));
        matches!(answer, Some(Outcome::Answered { result: Ok(_), .. }))
    }

    /// From now on the node counts these members once they received a write.
    pub fn count_by_receipt(&mut self, node: usize, members: MemberSet) {
        let followers = self.options.followers.get(node).copied().unwrap_or_default();
        self.count_as(node, members, followers);
    }

    /// ... and calls those followers.
    pub fn count_as(&mut self, node: usize, by_receipt: MemberSet, followers: MemberSet) {
        if self.is_up(node) && self.is_stopped(node) {
            // It would not hear of it, and nobody would tell it again.
            return;
        }
        let count = self.processes.len();
        self.options.by_receipt.resize(count, MemberSet::EMPTY);
        self.options.by_receipt[node] = by_receipt;
        self.options.followers.resize(count, MemberSet::EMPTY);
        self.options.followers[node] = followers;
        let configured = self.configured[node];
        if self.is_up(node) && !self.is_stopped(node) && !configured.is_empty() {
            self.trace(|| {
                format!("n{node} counts {by_receipt:?} by receipt, {followers:?} follow")
            });
            self.tell_members(node, configured);
        }
    }

    /// From now on nobody is left behind for being slow.
    pub(crate) fn wait_for_followers(&mut self) {
        let was = std::mem::take(&mut self.options.quirks.congestion);
        for node in 0..self.processes.len() {
            let configured = self.configured[node];
            let is_told = self.is_up(node) && !self.is_stopped(node) && !configured.is_empty();
            if is_told && was != Congestion::default() {
                self.tell_members(node, configured);
            }
        }
    }

    pub(crate) fn is_writing(&self, member: NodeId, block: u64) -> bool {
        let process = self.processes[member.index()].as_ref();
        process.is_some_and(|process| process.group_of(block).is_writing(block))
    }

    pub(crate) fn may_count_receipts(&self) -> bool {
        !self.options.by_receipt.is_empty() || self.may_follow()
    }

    pub(crate) fn may_follow(&self) -> bool {
        !self.options.followers.is_empty()
    }

    /// Writes of its clients that `node` answered, and some member has not written.
    #[must_use]
    pub fn answered_early(&self, node: usize) -> u32 {
        let groups = self.processes[node].iter().flat_map(|process| &process.groups);
        groups.map(replication::group::LaneGroup::answered_early).sum()
    }

    /// A new disk, or a new state directory, in place of what the node had; it must be down.
    pub fn replace(&mut self, node: usize, part: Replaced) {
        assert!(!self.is_up(node), "in use");
        let new = new_disk(&self.options, Self::node_id(node), &mut self.random);
        let disk = &mut self.disks[node];
        match part {
            Replaced::VoteStore => disk.register = new.register,
            Replaced::Disk | Replaced::Node => {
                let touched: Vec<u64> = disk.blocks().collect();
                let register = std::mem::replace(&mut *disk, new).register;
                disk.touched = touched;
                if part == Replaced::Disk {
                    disk.register = register;
                }
            }
        }
        self.changes.of_life(Self::node_id(node));
    }

    /// What an operator learns who looks at all nodes but `given_up`.
    ///
    /// # Errors
    /// Where no value follows from the disks.
    pub fn judge(&self, given_up: MemberSet) -> Result<Verdict, Obstacle> {
        let configured = self.configured.iter().fold(MemberSet::EMPTY, |all, &them| all | them);
        let members = self.options.members();
        let remains: Vec<Remains> = members.iter().map(|node| self.remains(node)).collect();
        adoption::judge(&remains, configured, given_up)
    }

    /// Brings nodes that lost their vote stores back by what is on the disks. All have to be down
    /// for as long as a lease lasts.
    ///
    /// # Errors
    /// Where no value follows from the disks.
    pub fn adopt(&mut self, given_up: MemberSet) -> Result<Verdict, Obstacle> {
        let verdict = self.judge(given_up)?;
        for node in self.options.members().minus(given_up).iter() {
            assert!(!self.is_up(node.index()), "in use");
            let is_diskful = self.options.is_diskful(node);
            let disk = &mut self.disks[node.index()];
            let superblock = is_diskful.then_some(&mut disk.superblock);
            let register = adoption::install(&verdict, node, Some(&disk.register), superblock);
            if let Some(register) = register {
                disk.register = register;
            }
            self.changes.of_life(node);
        }
        self.trace(|| format!("adopted as {verdict:?}"));
        Ok(verdict)
    }

    fn remains(&self, node: NodeId) -> Remains {
        let disk = &self.disks[node.index()];
        let is_diskful = self.options.is_diskful(node);
        Remains {
            node,
            register: Some(disk.register.clone()),
            superblock: is_diskful.then(|| disk.superblock.clone()),
        }
    }
}
