//! Replicas that ask before they are brought up to date: what was asked, and whether one was
//! admitted that nobody allowed.

use format::ids::NodeId;
use format::metadata::{ReplicaState, Superblock};
use replication::contract::{FenceVerdict, Readmission, ResourceInput, ToGroup};

use crate::cluster::Cluster;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Permit {
    /// This process asks.
    asks: bool,
    allowed: bool,
    /// It was admitted before, and did not join since: it is an image of no moment already.
    is_begun: bool,
    /// It asks all the same.
    always: bool,
}

impl Cluster {
    /// Allows what the replica of `node` asked for, if it asked: to be brought up to date.
    pub fn allow_resync(&mut self, node: usize) {
        if let Some(number) = self.asked[node].take() {
            self.permits[node].allowed = true;
            self.step_resource(node, ResourceInput::ResyncAnswer { number, allowed: true });
        }
    }

    /// Refuses it, for this once.
    pub fn refuse_resync(&mut self, node: usize) {
        if let Some(number) = self.asked[node].take() {
            self.step_resource(node, ResourceInput::ResyncAnswer { number, allowed: false });
        }
    }

    pub(crate) fn note_fence(&mut self, node: usize, number: u64, peer: NodeId) {
        self.trace(|| format!("n{node} asks to put {peer} out"));
        self.fence_asked[node].retain(|&(_, asked)| asked != peer.index());
        self.fence_asked[node].push((number, peer.index()));
    }

    /// Answers what `node` asked last about a peer, if it asked: whether that is out.
    pub fn answer_fence(&mut self, node: usize, verdict: FenceVerdict) {
        if let Some(&(_, peer)) = self.fence_asked[node].last() {
            self.answer_fence_about(node, peer, verdict);
        }
    }

    /// Answers what `node` asked about this peer, if it asked.
    pub fn answer_fence_about(&mut self, node: usize, peer: usize, verdict: FenceVerdict) {
        let asked = self.fence_asked[node].iter().position(|&(_, asked)| asked == peer);
        if let Some(place) = asked {
            let (number, _) = self.fence_asked[node].remove(place);
            self.trace(|| format!("n{node} is told of n{peer}: {verdict:?}"));
            self.step_resource(node, ResourceInput::FenceAnswer { number, verdict });
        }
    }

    pub(crate) fn note_question(&mut self, node: usize, number: u64) {
        self.trace(|| format!("n{node} asks to be brought up to date"));
        self.asked[node] = Some(number);
    }

    /// Of this node: what was asked and allowed of a replica that is not there any more is over.
    pub(crate) fn begin_permits(&mut self, node: usize) {
        let is_begun = self.disks[node].superblock.state == ReplicaState::Syncing;
        let asks = self.options.readmission != Readmission::AtOnce;
        let always = self.options.readmission == Readmission::AskAlways;
        self.permits[node] = Permit { asks, allowed: false, is_begun, always };
        self.asked[node] = None;
        self.fence_asked[node].clear();
    }

    /// The same of one whose disk is another one, or was given up.
    pub(crate) fn forget_permit(&mut self, node: usize) {
        let Permit { asks, always, .. } = self.permits[node];
        self.begin_permits(node);
        self.permits[node].asks = asks;
        self.permits[node].always = always;
    }

    pub(crate) fn note_replica(&mut self, node: usize, superblock: &Superblock) {
        let permit = &mut self.permits[node];
        match superblock.state {
            ReplicaState::Syncing => {}
            ReplicaState::Blank | ReplicaState::Outdated | ReplicaState::Failed => {
                permit.is_begun = false;
            }
            ReplicaState::InSync => {
                *permit = Permit { is_begun: false, allowed: false, ..*permit };
                self.asked[node] = None;
            }
        }
    }

    /// From here on the replica takes writes and copies.
    pub(crate) fn check_permit(&mut self, node: usize, message: &ToGroup) {
        if !matches!(message, ToGroup::Admit { .. }) {
            return;
        }
        let permit = &mut self.permits[node];
        if permit.asks && (permit.always || !permit.is_begun) && !permit.allowed {
            let text = format!("n{node} is brought up to date and nobody allowed it");
            self.violation.get_or_insert(text);
        }
        (permit.is_begun, permit.allowed) = (true, false);
    }
}
