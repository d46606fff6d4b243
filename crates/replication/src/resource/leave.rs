//! Leaving: for a while, the last one that stands still serves, or with the replica alone
//! (PROTOCOL.md 9.3).
//!
//! A member that is to be stopped asks to be outdated, and to have no vote, before it goes: then
//! nobody waits for it, and it can tell nobody anything but that it left. One whose replica is to
//! be given up (`give_up`) asks to be outdated alone. Whoever leads loses both like one that went
//! away, and takes the vote of the first by an ordinary change of the voters; where nobody leads,
//! an in-sync replica does for that. Until it is told that it is out the leaver does its part as
//! before. It comes back like any member that returns.

use format::config::Config;
use format::ids::{MemberSet, NodeId};
use format::message::{Control, OwnReplica};
use stdx::time::Time;

use crate::contract::CommandId;
use crate::limits;
use crate::lineage::standing::insync;
use crate::resource::voters::voters_of;
use crate::resource::{Peer, Resource};

/// What this node is about to leave with, and for how long it waits to be let go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leave {
    pub(crate) until: Time,
    pub(crate) end: LeaveEnd,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LeaveEnd {
    /// The resource is being stopped.
    Stop,
    /// The command is answered then.
    GiveUp(GiveUp, CommandId),
}

/// How the local replica is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GiveUp {
    /// It becomes another one, which knows nothing.
    Invalidate,
    /// Its disk goes out of use.
    Detach,
}

/// What a member leaves with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaver {
    /// It stops: its vote goes, too.
    Node,
    Replica,
}

impl Resource {
    // ---- As the leaver.

    /// The role is given up, if there was one: leaves, where the others can go on without, and
    /// stops.
    pub(crate) fn start_leave(&mut self) {
        self.leave = Some(Leave { until: self.now + limits::LEAVE_DEADLINE, end: LeaveEnd::Stop });
        if !self.may_leave() {
            return self.end_leave();
        }
        self.tell_leave();
    }

    pub(crate) fn advance_leave(&mut self) {
        match self.leave {
            Some(Leave { until, end: LeaveEnd::Stop })
                if self.now >= until || !self.may_leave() =>
            {
                self.end_leave();
            }
            Some(Leave { until, end: LeaveEnd::GiveUp(how, id) }) => {
                self.advance_giving_up(how, id, until);
            }
            Some(Leave { end: LeaveEnd::Stop, .. }) | None => {}
        }
    }

    /// It is out, or nobody can see to that now: then it goes as one that crashed would.
    fn end_leave(&mut self) {
        self.leave = None;
        self.stop_groups();
    }

    /// It has a part still, and an in-sync member in reach stays, with which the others are a
    /// quorum.
    fn may_leave(&self) -> bool {
        let Some(config) = self.config() else { return false };
        let votes = voters_of(config).has(self.me());
        let has_part = votes || insync(config).has(self.me());
        let staying = insync(config).and(self.connected()).minus(self.leavers(config));
        has_part && !staying.is_empty() && (!votes || self.next_voters(config).is_some())
    }

    pub(crate) fn leave_wakes_at(&self) -> Time {
        self.leave.map_or(Time::NEVER, |leave| leave.until)
    }

    pub(crate) fn tell_leave(&mut self) {
        for peer in self.connected().without(self.me()).iter() {
            self.repeat_leave(peer);
        }
    }

    /// A connection came up in the middle of it.
    pub(crate) fn repeat_leave(&mut self, peer: NodeId) {
        match self.leave.map(|leave| leave.end) {
            Some(LeaveEnd::Stop) => self.send(peer, Control::Leave),
            Some(LeaveEnd::GiveUp(..)) => {
                self.send(peer, Control::OwnReplica(OwnReplica::Leaves));
            }
            None => {}
        }
    }

    // ---- As the others.

    pub(crate) fn on_leave(&mut self, from: NodeId) {
        self.note_leaver(from, Some(Leaver::Node));
    }

    pub(crate) fn on_own_replica(&mut self, from: NodeId, what: OwnReplica) {
        match what {
            OwnReplica::Leaves => self.note_leaver(from, Some(Leaver::Replica)),
            OwnReplica::Stays => self.note_leaver(from, None),
            OwnReplica::Gone => {
                self.note_leaver(from, None);
                if let Some(report) = self.peers.get_mut(&from).and_then(|it| it.report.as_mut()) {
                    report.replica = None;
                }
            }
        }
    }

    fn note_leaver(&mut self, from: NodeId, leaver: Option<Leaver>) {
        // One that is about to stop goes, whatever becomes of its replica before.
        let is_news = |peer: &&mut Peer| peer.leaver != Some(Leaver::Node) && peer.leaver != leaver;
        if let Some(peer) = self.peers.get_mut(&from).filter(is_news) {
            peer.leaver = leaver;
            // Somebody is to lead soon, for this.
            self.caretake_at = Time::NEVER;
        }
    }

    /// Members in reach that are about to leave in this way.
    fn all_leavers(&self, how: Leaver) -> MemberSet {
        let peers = self.peers.iter().filter(|(_, peer)| peer.leaver == Some(how));
        let leavers = peers.map(|(&node, _)| node).collect::<MemberSet>();
        let own = self.leave.map(|leave| match leave.end {
            LeaveEnd::Stop => Leaver::Node,
            LeaveEnd::GiveUp(..) => Leaver::Replica,
        });
        if own == Some(how) { leavers.with(self.me()) } else { leavers }
    }

    /// Members in reach that are about to leave. Where all in sync are, one whose replica alone
    /// was to go keeps it.
    fn leavers(&self, config: &Config) -> MemberSet {
        let (replicas, in_sync) = (self.all_leavers(Leaver::Replica), insync(config));
        let leavers = self.all_leavers(Leaver::Node) | replicas;
        let kept = replicas.and(in_sync).first().filter(|_| in_sync.is_subset_of(leavers));
        kept.map_or(leavers, |kept| leavers.without(kept))
    }

    /// Those that can be let go: somebody stays in sync.
    pub(crate) fn leaving(&self, config: &Config) -> MemberSet {
        let (leavers, in_sync) = (self.leavers(config), insync(config));
        if in_sync.is_subset_of(leavers) { leavers.minus(in_sync) } else { leavers }
    }

    /// Those of them whose votes go, too.
    pub(crate) fn stopping(&self, config: &Config) -> MemberSet {
        self.leaving(config).minus(self.all_leavers(Leaver::Replica))
    }

    /// Somebody waits to be let go.
    pub(crate) fn has_leavers(&self, config: &Config) -> bool {
        let votes = self.stopping(config).and(voters_of(config));
        !votes.is_empty() || !self.leaving(config).and(insync(config)).is_empty()
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
            if !self.is_last_complete(member) {
                self.begin_loss(member);
            }
        }
    }
}
