//! Leaving for a while: the last one that stands still serves (PROTOCOL.md 9.3).
//!
//! A member that is to be stopped asks to be outdated, and to have no vote, before it goes: then
//! nobody waits for it, and it can tell nobody anything but that it left. Whoever leads loses it
//! like one that went away, and takes its vote by an ordinary change of the voters; where nobody
//! leads, an in-sync replica does for that. Until it is told that it is out the leaver does its
//! part as before. It comes back like any member that returns.

use format::config::Config;
use format::ids::{MemberSet, NodeId};
use format::message::Control;
use stdx::time::Time;

use crate::limits;
use crate::resource::voters::voters_of;
use crate::resource::{Resource, insync};

impl Resource {
    // ---- As the leaver.

    /// The role is given up, if there was one: leaves, where the others can go on without, and
    /// stops.
    pub(crate) fn start_leave(&mut self) {
        self.leave_until = Some(self.now + limits::LEAVE_DEADLINE);
        if !self.may_leave() {
            return self.end_leave();
        }
        for peer in self.connected().without(self.me()).iter() {
            self.send(peer, Control::Leave);
        }
    }

    pub(crate) fn advance_leave(&mut self) {
        let Some(until) = self.leave_until else { return };
        if self.now >= until || !self.may_leave() {
            self.end_leave();
        }
    }

    /// It is out, or nobody can see to that now: then it goes as one that crashed would.
    fn end_leave(&mut self) {
        self.leave_until = None;
        self.stop_groups();
    }

    /// It has a part still, and an in-sync member in reach stays, with which the others are a
    /// quorum.
    fn may_leave(&self) -> bool {
        let Some(config) = self.config() else { return false };
        let votes = voters_of(config).has(self.me());
        let has_part = votes || insync(config).has(self.me());
        let staying = insync(config).and(self.connected()).minus(self.leavers());
        has_part && !staying.is_empty() && (!votes || self.next_voters(config).is_some())
    }

    pub(crate) fn leave_wakes_at(&self) -> Time {
        self.leave_until.unwrap_or(Time::NEVER)
    }

    /// A connection came up in the middle of it.
    pub(crate) fn repeat_leave(&mut self, peer: NodeId) {
        if self.leave_until.is_some() {
            self.send(peer, Control::Leave);
        }
    }

    // ---- As the others.

    pub(crate) fn on_leave(&mut self, from: NodeId) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.is_leaving = true;
            // Somebody is to lead soon, for this.
            self.caretake_at = Time::NEVER;
        }
    }

    /// Members in reach that are about to stop.
    fn leavers(&self) -> MemberSet {
        let peers = self.peers.iter().filter(|(_, peer)| peer.is_leaving);
        let leavers = peers.map(|(&node, _)| node).collect::<MemberSet>();
        if self.leave_until.is_some() { leavers.with(self.me()) } else { leavers }
    }

    /// Those that can be let go: somebody stays in sync.
    pub(crate) fn leaving(&self, config: &Config) -> MemberSet {
        let (leavers, in_sync) = (self.leavers(), insync(config));
        if in_sync.is_subset_of(leavers) { leavers.minus(in_sync) } else { leavers }
    }

    /// Somebody waits to be let go.
    pub(crate) fn has_leavers(&self, config: &Config) -> bool {
        let parts = insync(config) | voters_of(config);
        !self.leaving(config).and(parts).is_empty()
    }

    /// As the leader: they are lost like members that went away, before their votes go.
    pub(crate) fn lose_leavers(&mut self) {
        let (Some(session), Some(config)) = (&self.session, self.config()) else { return };
        // Whoever leads next has the work then.
        if session.is_draining() || !self.reaches_majority() {
            return;
        }
        let admitted: MemberSet = session.admissions.keys().copied().collect();
        for member in self.leaving(config).and(session.write_set | admitted).iter() {
            self.begin_loss(member);
        }
    }
}
