//! Bringing members up to date while no node is Primary: PROTOCOL.md section 8.
//!
//! An in-sync replica that sees work and no leader for a while leads a session without clients:
//! an ordinary one, but without a lease, so that whoever wants to be Primary takes over at once.
//! It ends, cleanly, when nothing is left to copy.

use format::config::{Config, Purpose};
use format::ids::{MemberSet, NodeId};
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::limits;
use crate::lineage::standing::{insync, lacks_answers};
use crate::resource::Resource;

impl Resource {
    pub(crate) fn advance_caretaker(&mut self) {
        if self.chosen.is_none() && self.attempt.is_none() && self.newest_value().voters.len() == 1
        {
            // Nobody else will say what is chosen. What this node proposes now may not be durable.
            self.observe_chosen();
        }
        match self.session.as_ref().map(|session| session.purpose) {
            Some(Purpose::Clients) => self.caretake_at = Time::NEVER,
            Some(Purpose::Resync) => self.advance_resync_session(),
            None if self.promotion.is_some() => self.caretake_at = Time::NEVER,
            None => self.look_for_work(),
        }
    }

    fn look_for_work(&mut self) {
        if self.stop.is_some() || !self.has_work() {
            self.caretake_at = Time::NEVER;
        } else if self.caretake_at == Time::NEVER {
            let is_prompt = self.config().is_some_and(|config| {
                // No client was cut off that may be on its way to another node; or somebody
                // cannot wait for it.
                config.primary.is_none() || self.has_leavers(config)
            });
            let (wait, step) = if is_prompt {
                (limits::CARETAKER_PROMPT_WAIT, limits::CARETAKER_PROMPT_STEP)
            } else {
                (limits::CARETAKER_WAIT, limits::CARETAKER_STEP)
            };
            self.caretake_at = self.now + wait + step * self.turn();
        } else if self.now >= self.caretake_at {
            self.caretake_at = Time::NEVER;
            self.promote_for_resync();
        }
    }

    /// One after the other: the first one usually sees all that the next one sees.
    fn turn(&self) -> u32 {
        let leaving = self.config().map_or(MemberSet::EMPTY, |config| self.leaving(config));
        let leads_here = self.in_sync().and(self.connected()).minus(leaving);
        let before = leads_here.iter().take_while(|&it| it < self.me());
        u32::try_from(before.count()).expect("few members")
    }

    /// Another node is about to lead, and waits for members that do not answer, perhaps: an attempt
    /// of this one would undo it, and be undone by the next one.
    pub(crate) fn leave_it_to_another(&mut self) {
        if self.promotion.as_ref().is_some_and(|promotion| promotion.purpose == Purpose::Resync) {
            self.give_up_promotion();
        } else if self.caretake_at == Time::NEVER {
            return;
        }
        self.caretake_at = self.now + limits::CARETAKER_WAIT + limits::CARETAKER_STEP * self.turn();
    }

    /// Who sealed this replica is not about to lead any more: the wait begins anew.
    pub(crate) fn note_sealer_gone(&mut self, node: NodeId) {
        if self.member.sealed_by == Some(node) {
            self.caretake_at = Time::NEVER;
        }
    }

    fn advance_resync_session(&mut self) {
        if !self.reaches_majority() {
            return self.end_session();
        }
        let Some(session) = &self.session else { return };
        let is_done = session.reconciled && self.is_quiet() && !self.is_verifying();
        let is_done = is_done && !self.is_resizing();
        let absent = self.replicas().minus(session.write_set);
        let is_settled = self.config().is_none_or(|it| !self.has_work_with_members(it));
        if is_done && is_settled && !absent.iter().any(|member| self.could_return(member)) {
            self.start_drain();
        }
    }

    /// Members that wait for a copy, or a session whose end nobody has cleared up; and this node
    /// may lead, and no other does.
    fn has_work(&self) -> bool {
        let in_doubt: Config;
        let config = if let Some(config) = self.config() {
            config
        } else {
            // Nobody may be left who knows what was chosen before: to lead is to find it out.
            in_doubt = self.newest_value();
            &in_doubt
        };
        if self.replica_state() != Some(ReplicaState::InSync) || self.report().is_none() {
            return false;
        }
        let members = insync(config);
        if !members.has(self.me()) || !self.reaches_majority() || self.is_led(config) {
            return false;
        }
        // Adopted by the disks: nobody leads, and nobody ended what they remember.
        let is_open = config.primary.is_some() || !config.clean;
        // What only a missing member remembers must not be given up while nobody asks for the
        // volume, unless this process remembers it too.
        let remembers = !is_open || self.is_intact() || members.is_subset_of(self.connected());
        let mut absent =
            self.replicas().iter().filter(|&node| !self.holds_replica_of(config, node));
        // What is in doubt, only a session finds out.
        let is_open = is_open || self.config().is_none();
        let is_asked_for = self.wants_verify() || self.wants_resize();
        let is_wanted = is_open || is_asked_for || self.has_work_with_members(config);
        let may_lead = lacks_answers(config, members.and(self.connected())).is_none();
        remembers && may_lead && (is_wanted || absent.any(|member| self.could_return(member)))
    }

    /// The member is in sync with the replica that it has now, as far as is known.
    pub(crate) fn holds_replica_of(&self, config: &Config, node: NodeId) -> bool {
        let known = config.volumes.first().and_then(|volume| volume.insync_member(node));
        let replica = self.replica_of(node);
        known.is_some_and(|known| replica.is_none_or(|it| it.incarnation == known.incarnation))
    }

    fn could_return(&self, member: NodeId) -> bool {
        let is_leaving = self.config().is_some_and(|it| self.leaving(it).has(member));
        let is_wanted = !self.gone().has(member) && !is_leaving;
        let is_able = self.may_return(member) && !self.is_left_out(member);
        self.is_connected(member) && is_wanted && is_able
    }

    /// The leader of the newest session is in reach, and did not say that it leads no more.
    pub(crate) fn is_led(&self, config: &Config) -> bool {
        let Some(primary) = config.primary else { return false };
        self.peers
            .get(&primary.node)
            .is_some_and(|peer| peer.report.is_some() && peer.session == Some(primary.nonce))
    }

    /// Somebody wants to be Primary: what was begun for a resync gives way.
    pub(crate) fn yield_role(&mut self) {
        if self.session.as_ref().is_some_and(|session| session.purpose == Purpose::Resync) {
            self.end_session();
        }
        if self.promotion.as_ref().is_some_and(|promotion| promotion.purpose == Purpose::Resync) {
            self.attempt = None;
            self.promotion = None;
            self.give_up_lead();
        }
    }

    /// A peer leads no session (any more).
    pub(crate) fn note_unled(&mut self, peer: NodeId) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.session = None;
        }
    }

    /// A peer told the value by which it leads. Of another one nobody knows whether it still does.
    pub(crate) fn note_leader(&mut self, from: NodeId, config: &Config) {
        let Some(primary) = config.primary.filter(|primary| primary.node == from) else { return };
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.session = Some(primary.nonce);
        }
    }
}
