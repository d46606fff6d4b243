//! Requests that are held back, or fail, though the lease holds: what the options ask for beyond
//! the majority (PROTOCOL.md 6.3), an in-sync replica that nobody reaches, and an operator who says
//! so.
//!
//! The majority of the voters alone decides what is safe; nothing here makes it less. What is asked
//! for on top says when a Primary answers its clients: groups that are told to hold neither admit a
//! request nor answer a write. A suspension by an operator lets what is under way finish first, so
//! that the disks stay as they are.

use std::fmt;

use format::config::{Config, Purpose};
use format::ids::{Branch, MemberSet};
use stdx::time::Time;

use crate::contract::{
    CommandErrorCode, CommandId, Demands, OnNoQuorum, ResourceAction, Share, ToGroup,
};
use crate::limits;
use crate::lineage::standing::insync;
use crate::quorum::{Tally, Votes};
use crate::resource::voters::voters_of;
use crate::resource::{Resource, RoundKind};

/// What there is too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    Votes { have: usize, needed: usize },
    Replicas { have: usize, needed: usize },
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Votes { have, needed } => {
                write!(f, "{have} voters are in reach, and `quorum` asks for {needed}")
            }
            Self::Replicas { have, needed } => write!(
                f,
                "{have} replicas in reach are up to date, and `quorum-minimum-redundancy` asks for \
                 {needed}"
            ),
        }
    }
}

/// What the groups of a session were told, and an operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub(super) hold: bool,
    fail: bool,
    /// That it is cut off.
    pub(super) lost: bool,
}

/// An operator holds requests back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ByUser {
    #[default]
    No,
    /// Until then what is under way finishes.
    Finishing {
        id: CommandId,
        until: Time,
    },
    Yes,
}

impl Resource {
    // ---- What the options ask for.

    /// The votes in reach for this value, and how many have to be. Of voters that go with the end
    /// of a change a majority is all that is asked for.
    pub(crate) fn votes(&self, config: &Config) -> Tally {
        let mut votes = self.votes_in_reach_of(config);
        votes.new.needed = votes.new.needed.max(self.options.demands.quorum.of(votes.new.all));
        votes
    }

    /// What is missing beyond the majority, if anything is.
    pub(crate) fn shortage(&self) -> Option<Shortage> {
        let config = self.config().filter(|config| config.branch != Branch(0))?;
        let Votes { have, needed, .. } = self.votes(config).new;
        if self.options.demands.quorum != Share::Majority && have < needed {
            return Some(Shortage::Votes { have, needed });
        }
        let have = count(self.in_sync_in_reach(config));
        let needed = self.replicas_needed(config);
        // Without any, data is what is missing.
        (needed > 1 && have < needed).then_some(Shortage::Replicas { have, needed })
    }

    fn replicas_needed(&self, config: &Config) -> usize {
        let replicas = voters_of(config).and(self.replicas_by(config));
        let replicas = replicas.minus(self.wanted_followers());
        self.options.demands.redundancy.of(count(replicas))
    }

    /// Whether replicas that stay are there, and as many as `quorum-minimum-redundancy` asks for.
    pub(crate) fn is_enough_without(&self, members: MemberSet) -> bool {
        let Some(config) = self.config() else { return false };
        count(self.in_sync_in_reach(config).minus(members)) >= self.replicas_needed(config).max(1)
    }

    fn in_sync_in_reach(&self, config: &Config) -> MemberSet {
        let me = self.me();
        // A follower has what it has later.
        let in_reach = insync(config).minus(self.wanted_followers()).and(self.connected());
        if self.member.disk_failed { in_reach.without(me) } else { in_reach }
    }

    /// There is a quorum, and none of its members has data that may be served.
    pub(crate) fn has_no_data(&self) -> bool {
        let Some(config) = self.config().filter(|_| self.serves_clients()) else { return false };
        let only_here = insync(config) == MemberSet::of(self.me());
        self.in_sync_in_reach(config).is_empty() && (only_here || self.reaches_majority())
    }

    /// The options changed.
    pub(crate) fn on_demands(&mut self, demands: Demands) {
        let before = std::mem::replace(&mut self.options.demands, demands);
        self.review_proofs(before.without_quorum);
    }

    /// Tells the groups what holds now; before they hear of a smaller write set.
    pub(crate) fn review_suspension(&mut self) {
        if !self.serves_clients() {
            return;
        }
        let shortage = self.shortage();
        let (hold, fail) = (shortage.is_some(), self.fails_requests(shortage));
        let Some(session) = self.session.as_mut() else { return };
        let told = session.told;
        session.told = Told { hold, fail, ..told };
        if told.hold != hold {
            self.tell_groups(ToGroup::Hold { hold });
        }
        if told.fail != fail {
            self.tell_groups(ToGroup::OnNoQuorum { fail });
        }
    }

    /// The lease ran out, or is back.
    pub(crate) fn tell_of_lease(&mut self) {
        let fail = self.fails_requests(self.shortage());
        if let Some(session) = self.session.as_mut() {
            session.told.fail = fail;
            self.tell_groups(ToGroup::OnNoQuorum { fail });
        }
    }

    /// Once for each time that nobody is answered.
    pub(crate) fn tell_of_quorum(&mut self) {
        let now = self.now;
        let serving = self.session.as_mut().filter(|it| it.purpose == Purpose::Clients);
        let Some(session) = serving else { return };
        let lost = session.is_cut_off(now);
        if std::mem::replace(&mut session.told.lost, lost) != lost {
            let action = if lost { ResourceAction::QuorumLost } else { ResourceAction::QuorumBack };
            self.actions.push(action);
        }
    }

    /// Requests are answered with an error rather than kept.
    fn fails_requests(&self, shortage: Option<Shortage>) -> bool {
        let demands = &self.options.demands;
        // Who goes on alone is about to have a lease by its own vote.
        let lapsed = !self.holds_for_fencing()
            && self.session.as_ref().is_some_and(|session| session.misses_lease(self.now));
        let without_quorum = lapsed || shortage.is_some();
        without_quorum && demands.on_no_quorum == OnNoQuorum::IoError
            || self.has_no_data() && demands.on_no_data == OnNoQuorum::IoError
    }

    // ---- An operator.

    pub(crate) fn on_suspend(&mut self, id: CommandId) {
        let is_busy = matches!(self.by_user, ByUser::Finishing { .. });
        if is_busy || self.session.as_ref().is_some_and(|session| session.is_draining()) {
            let message = "requests are finishing for another command";
            return self.refuse(id, CommandErrorCode::Busy, message);
        }
        if !self.serves_clients() || self.by_user == ByUser::Yes {
            self.by_user = ByUser::Yes;
            return self.answer(id, Ok(()));
        }
        self.by_user = ByUser::Finishing { id, until: self.now + limits::DRAIN_DEADLINE };
        self.ask_groups(RoundKind::Suspended, |round| ToGroup::Drain { round });
    }

    pub(crate) fn on_resume(&mut self, id: CommandId) {
        if let ByUser::Finishing { id, .. } = self.by_user {
            self.refuse(id, CommandErrorCode::Busy, "it was resumed meanwhile");
        }
        let was_suspended = std::mem::take(&mut self.by_user) != ByUser::No;
        self.drop_round(RoundKind::Suspended);
        let drains = self.session.as_ref().is_some_and(|session| session.is_draining());
        if was_suspended && !drains && self.serves_clients() {
            self.tell_groups(ToGroup::Resume);
        }
        self.answer(id, Ok(()));
    }

    /// Nothing is under way any more.
    pub(crate) fn on_suspended(&mut self) {
        if let ByUser::Finishing { id, .. } = self.by_user {
            self.by_user = ByUser::Yes;
            self.answer(id, Ok(()));
        }
    }

    /// A session begins or ends under it: nothing of an older one is under way, and the next finds
    /// it suspended.
    pub(crate) fn suspend_session(&mut self) {
        self.on_suspended();
        if self.by_user == ByUser::Yes && self.serves_clients() {
            self.ask_groups(RoundKind::Suspended, |round| ToGroup::Drain { round });
        }
    }

    pub(crate) fn is_suspended_by_user(&self) -> bool {
        self.by_user != ByUser::No
    }

    pub(crate) fn advance_suspension(&mut self) {
        self.review_suspension();
        if let ByUser::Finishing { id, until } = self.by_user
            && self.now >= until
        {
            self.by_user = ByUser::No;
            self.drop_round(RoundKind::Suspended);
            self.tell_groups(ToGroup::Resume);
            let message = "requests are still under way: no quorum, or a member does not answer";
            self.refuse(id, CommandErrorCode::TimedOut, message);
        }
    }

    pub(crate) fn suspension_wakes_at(&self) -> Time {
        match self.by_user {
            ByUser::Finishing { until, .. } => until,
            ByUser::No | ByUser::Yes => Time::NEVER,
        }
    }
}

fn count(members: MemberSet) -> usize {
    usize::try_from(members.len()).expect("few members")
}
