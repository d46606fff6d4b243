//! Proof that nobody else goes on: `fencing`, PROTOCOL.md 9.4b.
//!
//! A node that reaches no quorum cannot tell whether the others died or go on without it. Where the
//! options say so its own node is asked to see to it (`fence-peer`: a script that cuts the power of
//! the peer, or takes its resource down over another way), once for each peer that is gone; and
//! when all of them are out, this node goes on alone as with `quorum off`, on a branch of its own.
//!
//! With a quorum (`Prove`) that is as safe as a quorum is, for two more reasons:
//! - The others make no quorum without this node, and could decide nothing of which its own voter
//!   does not know, neither before nor when they are back. That is so of two voters, and not while
//!   a third one may have left, or may not.
//! - This process was admitted to a session. A peer that went on alone before had proof that this
//!   process was out: one that lives was not, one that was started since may have been.
//!
//! A proof is about one absence of a quorum, and about the peer as it was left. It ends when the
//! peer is connected again, for then it is admitted anew; and when there is a quorum without the
//! peer, which may be back by the next loss, behind those who are lost then. One that helped nobody
//! to go on counts for a promotion that begins soon, and is asked for again by a later one. It is
//! what the options asked for: it ends when they ask for another one. A proof that was a lie makes
//! a fork, which is found like any other (9.5).

use std::collections::BTreeMap;

use format::config::Config;
use format::ids::{Epoch, MemberSet, NodeId};
use stdx::time::Time;

use crate::contract::{FenceVerdict, Meanwhile, PromoteMode, ResourceAction, WithoutQuorum};
use crate::limits;
use crate::lineage::relation::is_needed;
use crate::lineage::standing::insync;
use crate::resource::Resource;
use crate::resource::voters::voters_of;

/// What is known of peers that are not connected.
#[derive(Debug, Default)]
pub(crate) struct Fencing {
    peers: BTreeMap<NodeId, Fenced>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fenced {
    /// Until then: a question, or its answer, may get lost between the core and its node.
    Asked { number: u64, until: Time },
    /// As of then.
    Out { since: Time },
    /// Nobody says so; as of then. An answer to the same question may yet.
    NotOut { number: u64, since: Time },
}

impl Fenced {
    /// An answer to that question is one about this peer, and about this absence.
    fn may_be_answered_by(&self, question: u64) -> bool {
        match self {
            Self::Asked { number, .. } | Self::NotOut { number, .. } => *number == question,
            Self::Out { .. } => false,
        }
    }
}

impl Resource {
    /// Whether this node may go on without a quorum, now or once the others are out.
    pub(crate) fn may_go_alone(&self) -> bool {
        match self.options.demands.without_quorum {
            WithoutQuorum::Wait => false,
            WithoutQuorum::GoOn | WithoutQuorum::GoOnFenced => true,
            WithoutQuorum::Prove(_) => self.may_prove(),
        }
    }

    fn may_prove(&self) -> bool {
        self.member.admitted && self.newest_own().is_some_and(|head| self.decides_about(head))
    }

    /// Nothing is decided that this value does not know of without the vote of this node, and of
    /// the store that it has now. A change of voters may not be chosen, and then those before it
    /// decide without the new ones.
    pub(crate) fn decides_about(&self, config: &Config) -> bool {
        let voters = config.voters.iter().chain(&config.voters_old);
        let mut own = voters.filter(|voter| voter.node == self.me());
        let mut before = config.clone();
        if !before.voters_old.is_empty() {
            before.voters = std::mem::take(&mut before.voters_old);
        }
        own.all(|voter| voter.store == self.voter.register.store) && is_needed(&before, self.me())
    }

    /// Whether nobody else goes on, as far as that has to be known; asks for what is not known.
    pub(crate) fn are_others_out(&mut self) -> bool {
        let is_forced = self.promotion.as_ref().is_some_and(|promotion| promotion.is_by_force())
            || self.is_to_go_alone();
        match self.options.demands.without_quorum {
            WithoutQuorum::Wait | WithoutQuorum::GoOn => return true,
            WithoutQuorum::GoOnFenced | WithoutQuorum::Prove(_) if is_forced => return true,
            WithoutQuorum::GoOnFenced | WithoutQuorum::Prove(_) => {}
        }
        let Some(head) = self.newest_own() else { return true };
        // Nobody is put out for what is refused anyway, perhaps the only one that is up to date.
        let mode = self.promotion.as_ref().map(|promotion| promotion.mode);
        if mode.is_some_and(|mode| self.is_refused_anyway(mode, head)) {
            return true;
        }
        let others = (voters_of(head) | insync(head)).without(self.me());
        let mut all = true;
        for peer in others.minus(self.connected()).iter() {
            all &= self.is_out(peer);
        }
        all
    }

    /// Whatever is said of the others, a promotion is refused.
    fn is_refused_anyway(&self, mode: PromoteMode, head: &Config) -> bool {
        let has_history = head.epoch != Epoch(0);
        match mode {
            PromoteMode::Normal => !has_history || self.lack_of_data().is_some(),
            PromoteMode::ForceAllEqual => has_history,
            PromoteMode::Force => false,
        }
    }

    fn is_out(&mut self, peer: NodeId) -> bool {
        let number = match self.fencing.peers.get(&peer) {
            Some(Fenced::Out { .. }) => return true,
            Some(Fenced::NotOut { .. }) => return false,
            Some(Fenced::Asked { until, .. }) if self.now < *until => return false,
            // It is about the same absence: an answer that comes late is one all the same.
            Some(Fenced::Asked { number, .. }) => *number,
            // Another life of the resource may be answered late: its numbers are others.
            None => self.random.next_u64(),
        };
        let until = self.now + limits::FENCE_PATIENCE;
        self.fencing.peers.insert(peer, Fenced::Asked { number, until });
        self.actions.push(ResourceAction::AskToFence { number, peer });
        false
    }

    /// Whether an answer to that question would still say anything, and this node would go on by
    /// it: what was not begun for it is in vain otherwise.
    #[must_use]
    pub fn is_asking_to_fence(&self, number: u64) -> bool {
        let mut known = self.fencing.peers.values();
        self.wants_to_go_alone() && known.any(|known| known.may_be_answered_by(number))
    }

    pub(crate) fn on_fence_answer(&mut self, number: u64, verdict: FenceVerdict) {
        let now = self.now;
        let mut known = self.fencing.peers.iter_mut();
        let answered = known.find(|(_, known)| known.may_be_answered_by(number));
        let Some((&peer, known)) = answered else { return };
        match verdict {
            FenceVerdict::Out => {
                *known = Fenced::Out { since: now };
                self.prolong_promotion();
            }
            FenceVerdict::Unproven => *known = Fenced::NotOut { number, since: now },
            // Nobody is about to answer: it is asked for anew where it is needed again.
            FenceVerdict::NotAsked if matches!(known, Fenced::Asked { .. }) => {
                self.fencing.peers.remove(&peer);
            }
            FenceVerdict::NotAsked => {}
        }
    }

    /// The peer is connected: what was known of it before is over.
    pub(crate) fn forget_fenced(&mut self, peer: NodeId) {
        if self.fencing.peers.remove(&peer).is_some() {
            self.prolong_promotion();
        }
    }

    /// The options changed. Where they ask for another proof than before, what is known, and what
    /// is being found out, may be of the former one: a script that called an unreachable peer out
    /// gave no proof to a quorum.
    pub(crate) fn review_proofs(&mut self, before: WithoutQuorum) {
        if proof_of(before) != proof_of(self.options.demands.without_quorum) {
            self.end_wait_for_proof();
            self.fencing.peers.clear();
        }
    }

    /// Nobody has to be out any more: there is a quorum, or nothing here to go on with alone.
    pub(crate) fn end_wait_for_proof(&mut self) {
        if !self.fencing.peers.is_empty() {
            self.prolong_promotion();
        }
    }

    /// With a quorum nothing has to be known of who is missing, and what was known is of before:
    /// who is lost next may have the peer back behind it. An answer that is on its way is none.
    pub(crate) fn end_proofs_with_quorum(&mut self) {
        if !self.fencing.peers.is_empty() && self.reaches_quorum_of(&self.newest_value()) {
            self.fencing.peers.clear();
        }
    }

    /// Somebody wants to be Primary: what nobody could do before is asked for again, and so is what
    /// was of no use then. Who was out may be back by now, and lead behind a third one.
    pub(crate) fn retry_fencing(&mut self) {
        let now = self.now;
        self.fencing.peers.retain(|_, known| match *known {
            Fenced::Out { since } => now < since + limits::FENCED_FOR,
            Fenced::NotOut { number, since } => {
                if now >= since + limits::FENCE_RETRY {
                    *known = Fenced::Asked { number, until: now };
                }
                true
            }
            Fenced::Asked { .. } => true,
        });
    }

    fn answers_due(&self) -> impl Iterator<Item = Time> {
        let known = self.fencing.peers.values();
        known.filter_map(|it| match it {
            Fenced::Asked { until, .. } => Some(*until),
            Fenced::NotOut { .. } | Fenced::Out { .. } => None,
        })
    }

    /// Until then an answer may be on its way that is waited for.
    pub(crate) fn fencing_until(&self) -> Time {
        let due = self.answers_due().filter(|_| self.wants_to_go_alone());
        due.max().unwrap_or(Time::ZERO)
    }

    /// When a question that was not answered is to be asked again.
    pub(crate) fn fencing_wakes_at(&self) -> Time {
        if !self.wants_to_go_alone() {
            return Time::NEVER;
        }
        self.answers_due().filter(|until| *until > self.now).min().unwrap_or(Time::NEVER)
    }

    /// Those of whom nobody says that they are out.
    pub(crate) fn not_out(&self) -> MemberSet {
        let known = self.fencing.peers.iter();
        known.filter(|(_, it)| matches!(it, Fenced::NotOut { .. })).map(|(&node, _)| node).collect()
    }

    /// Requests are held rather than failed, for this node may be about to go on: by its own vote,
    /// if that can still be had, and with its own replica, if that has all of its session.
    pub(crate) fn holds_for_fencing(&self) -> bool {
        if self.voter.is_mute || !self.has_data_of_session() {
            return false;
        }
        match self.options.demands.without_quorum {
            WithoutQuorum::Wait | WithoutQuorum::Prove(Meanwhile::AsDemanded) => false,
            WithoutQuorum::GoOn => true,
            WithoutQuorum::GoOnFenced => self.not_out().is_empty(),
            WithoutQuorum::Prove(Meanwhile::Hold) => self.may_prove() && self.not_out().is_empty(),
        }
    }
}

/// What has to be said of a peer, so that it is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// That nobody reaches it.
    Unreachable,
    /// That it does not go on.
    Out,
}

fn proof_of(without_quorum: WithoutQuorum) -> Option<Proof> {
    match without_quorum {
        WithoutQuorum::Wait | WithoutQuorum::GoOn => None,
        WithoutQuorum::GoOnFenced => Some(Proof::Unreachable),
        WithoutQuorum::Prove(Meanwhile::AsDemanded | Meanwhile::Hold) => Some(Proof::Out),
    }
}
