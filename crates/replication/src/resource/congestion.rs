//! Followers that fall behind (`on-congestion`, PROTOCOL.md 10.1).
//!
//! What is kept for a follower is bounded; where that bound is reached, or one that the
//! configuration sets, the leader does not wait (unless the configuration says so): the follower is
//! lost like one that does not keep up, nothing is sent to it, and it returns by a resync. It is
//! asked to return after a rest, and its answer to the seal says that all it was sent before is
//! done with. The rests grow while it falls behind again and again.
//!
//! A follower that is being brought up to date keeps no answer waiting either.

use std::collections::BTreeMap;
use std::time::Duration;

use format::config::Purpose;
use format::ids::{MemberSet, NodeId};
use stdx::time::Time;

use crate::contract::{
    AboutCuts, AckWhen, Congestion, Lag, LagLimits, MemberOptions, OnCongestion, ResourceAction,
    Stay, ToGroup,
};
use crate::limits;
use crate::lineage::standing::insync;
use crate::resource::Resource;
use crate::resource::rests::Why;

/// As the leader.
#[derive(Debug, Default)]
pub(crate) struct Congested {
    /// By member and shard, as the groups told.
    lags: BTreeMap<(NodeId, u8), Lag>,
    behind: BTreeMap<NodeId, Behind>,
}

/// When a follower was left behind.
#[derive(Clone, Copy, Debug)]
struct Behind {
    at: Time,
    rest: Duration,
}

impl Congested {
    /// The next rest of a member: short again once it kept up for long.
    fn leave_behind(&mut self, member: NodeId, now: Time) -> Duration {
        let rest = match self.behind.get(&member) {
            Some(last) if now.since(last.at) < 2 * limits::CONGESTED_REST_MAX => {
                (last.rest * 2).min(limits::CONGESTED_REST_MAX)
            }
            Some(_) | None => limits::CONGESTED_REST_MIN,
        };
        self.behind.insert(member, Behind { at: now, rest });
        rest
    }

    fn forget_lag(&mut self, member: NodeId) {
        self.lags.retain(|(node, _), _| *node != member);
    }
}

impl Resource {
    fn congestion_of(&self, member: NodeId) -> Congestion {
        let mut members = self.options.members.iter();
        let known = members.find(|it| it.node == member);
        known.map_or_else(Congestion::default, |it| it.congestion)
    }

    /// The configuration changed: who was left behind, and would not be any more, rests no longer.
    pub(crate) fn review_congestion(&mut self) {
        self.watch_lag(self.told_followers.1);
        let then = |it: &MemberOptions| (it.ack_when, it.congestion.then);
        let pulls = (AckWhen::Sent, OnCongestion::PullAhead);
        let members = self.options.members.iter();
        let stay = members.filter(|&it| then(it) != pulls).map(|it| it.node);
        let stay: MemberSet = stay.collect();
        let Some(session) = self.session.as_mut() else { return };
        for member in stay.iter() {
            if session.congested.behind.remove(&member).is_some() {
                session.rests.end(member);
            }
        }
    }

    /// The groups look at those for whom no answer waits.
    pub(crate) fn watch_lag(&mut self, followers: MemberSet) {
        for member in followers.iter() {
            let limits = match self.congestion_of(member) {
                Congestion { then: OnCongestion::Block, .. } => LagLimits::default(),
                Congestion { fill_bytes, extents, .. } => {
                    LagLimits { is_any: true, bytes: fill_bytes, extents: extents.into() }
                }
            };
            self.tell_groups(ToGroup::Cuts(AboutCuts::WatchLag { member, limits }));
        }
    }

    pub(crate) fn on_lag(&mut self, shard: u8, stay: Stay, lag: Lag) {
        let member = stay.member;
        let Congestion { then, fill_bytes, extents } = self.congestion_of(member);
        // Its lag is that of all its stays in the session: it is told when it changes.
        let session = self.session.as_mut().filter(|session| session.nonce == stay.nonce);
        let Some(session) = session else { return };
        let lags = &mut session.congested.lags;
        lags.insert((member, shard), lag);
        let of_member = || lags.iter().filter(|((node, _), _)| *node == member).map(|it| it.1);
        let bytes: u64 = of_member().map(|lag| lag.bytes).sum();
        let in_use: u64 = of_member().map(|lag| lag.extents).sum();
        let is_congested = of_member().any(|lag| lag.is_full)
            || fill_bytes > 0 && bytes >= fill_bytes
            || extents > 0 && in_use >= u64::from(extents);
        let is_known = !session.write_set.has(member) || session.losses.contains_key(&member);
        if !is_congested || is_known {
            return;
        }
        match then {
            OnCongestion::Block => {}
            OnCongestion::PullAhead => self.leave_behind(member),
            OnCongestion::Disconnect => {
                session.congested.forget_lag(member);
                self.actions.push(ResourceAction::Disconnect { peer: member });
            }
        }
    }

    /// Others wait for what a follower has to write down: it counts for nothing that they need.
    pub(crate) fn on_loss_late(&mut self, stay: Stay) {
        let is_here = self.session.as_ref().is_some_and(|session| session.is_here(stay));
        if self.told_followers.1.has(stay.member) && is_here {
            self.leave_behind(stay.member);
        }
    }

    fn leave_behind(&mut self, member: NodeId) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        session.congested.forget_lag(member);
        let rest = session.congested.leave_behind(member, now);
        session.rests.rest(member, now + rest, Why::Behind);
        self.actions.push(ResourceAction::PulledAhead { member, rest });
        self.begin_loss(member);
    }

    /// It was admitted: it gets everything, and no answer waits for it if the value calls it a
    /// follower. It knows itself that it holds no cut before the first one that came as a whole.
    pub(crate) fn spare_returning(&mut self, member: NodeId) {
        let is_named = self.config().is_some_and(|config| config.followers.has(member));
        if let Some(session) = self.session.as_mut().filter(|_| is_named) {
            session.following.insert(member);
            self.count_followers();
        }
    }

    /// Clients write without the replica of `member`, a follower: it was left behind, and returns
    /// later. At both ends.
    pub(crate) fn is_behind(&self, member: NodeId) -> bool {
        let Some(config) = self.config() else { return false };
        let Some(primary) = config.primary.filter(|it| it.purpose == Purpose::Clients) else {
            return false;
        };
        let peer = self.peers.get(&primary.node);
        let is_led = self.leads(primary.nonce)
            || peer.is_some_and(|it| it.report.is_some() && it.session == Some(primary.nonce));
        let is_written_to = self.session.as_ref().is_some_and(|it| it.write_set.has(member));
        let is_away = !insync(config).has(member) && !is_written_to;
        is_led && config.followers.has(member) && is_away && self.replica_of(member).is_some()
    }
}
