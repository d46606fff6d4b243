//! Members that are not asked to return for a while, and those that did not stay for long.
//!
//! An admission that failed, a member that was too slow and a follower that fell behind are tried
//! again after their rest, or once the member connects anew. A member whose connection broke soon
//! after it returned rests as well, each time longer: the small messages of a return pass over a
//! connection that loses large ones, and each return holds the writes of all until it is lost
//! again. This rest outlives connections; another process of the member ends it, and so does an
//! end that one of the two nodes wanted. No rest keeps a member out that writes wait for.

use std::collections::BTreeMap;
use std::time::Duration;

use format::ids::{BootId, MemberSet, NodeId};
use stdx::time::Time;

use crate::contract::ResourceAction;
use crate::limits;
use crate::resource::Resource;

/// As the leader, of one session.
#[derive(Debug, Default)]
pub(crate) struct Rests {
    until: BTreeMap<NodeId, Rest>,
    /// How long a member that was too slow rests the next time.
    slow: BTreeMap<NodeId, Duration>,
    /// Members whose connection broke. An entry ends with the session, with the life of the
    /// member's process, and when one of the two nodes ends the connection.
    broken: BTreeMap<NodeId, Broken>,
}

#[derive(Clone, Copy, Debug)]
struct Rest {
    until: Time,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its admission failed.
    Retry,
    /// It kept writes waiting.
    Slow,
    /// It is a follower, and fell too far behind.
    Behind,
    /// It was lost soon after it returned.
    LostAgain,
}

#[derive(Clone, Copy, Debug)]
struct Broken {
    /// The member's process.
    boot: BootId,
    /// When it returned since; `None` from its loss on until then.
    returned_at: Option<Time>,
    /// How often in a row it was lost again before it had stayed for long.
    losses: u32,
}

/// A member that was lost again soon after it returned, and is asked back later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostAgain {
    pub until: Time,
    /// How often that happened, one after the other.
    pub losses: u32,
}

impl Rests {
    /// The member is asked back then at the earliest.
    pub(crate) fn rest(&mut self, member: NodeId, until: Time, why: Why) {
        let rest = Rest { until, why };
        let longest = self.until.get(&member).filter(|known| known.until > until).unwrap_or(&rest);
        self.until.insert(member, *longest);
    }

    pub(crate) fn end(&mut self, member: NodeId) {
        self.until.remove(&member);
    }

    pub(crate) fn end_those_over(&mut self, now: Time) {
        self.until.retain(|_, rest| rest.until > now);
    }

    pub(crate) fn is_resting(&self, member: NodeId, now: Time) -> bool {
        self.until.get(&member).is_some_and(|rest| now < rest.until)
    }

    fn is_lost_again(&self, member: NodeId, now: Time) -> bool {
        let rest = self.until.get(&member).filter(|rest| rest.why == Why::LostAgain);
        rest.is_some_and(|rest| now < rest.until)
    }

    pub(crate) fn wakes_at(&self) -> Time {
        self.until.values().map(|rest| rest.until).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn next_for_slow(&mut self, member: NodeId) -> Duration {
        let rest = self.slow.get(&member).copied().unwrap_or(limits::SLOW_MEMBER_REST_MIN);
        self.slow.insert(member, (rest * 2).min(limits::SLOW_MEMBER_REST_MAX));
        rest
    }

    /// A new connection is a reason to try again, but not for one that loses its connections.
    pub(crate) fn on_connected(&mut self, member: NodeId, boot: BootId) {
        if self.broken.get(&member).is_none_or(|known| known.boot != boot) {
            self.broken.remove(&member);
            self.end(member);
        }
        if self.until.get(&member).is_some_and(|rest| rest.why != Why::LostAgain) {
            self.end(member);
        }
    }

    /// Everything is sent to it again.
    pub(crate) fn note_return(&mut self, member: NodeId, now: Time) {
        if let Some(known) = self.broken.get_mut(&member) {
            known.returned_at = Some(now);
        }
    }

    /// Its connection broke: how long it rests, if it had not stayed for long.
    fn note_loss(&mut self, member: NodeId, boot: BootId, now: Time) -> Option<LostAgain> {
        let first = Broken { boot, returned_at: None, losses: 0 };
        let known = self.broken.entry(member).or_insert(first);
        let stayed = known.returned_at.take().map(|at| now.since(at));
        if stayed.is_none_or(|stayed| stayed >= limits::LOST_AGAIN_WITHIN) {
            *known = first;
            return None;
        }
        known.losses = known.losses.saturating_add(1);
        let losses = known.losses;
        let until = now + rest_after(losses);
        self.rest(member, until, Why::LostAgain);
        Some(LostAgain { until, losses })
    }

    fn lost_again(&self, member: NodeId, now: Time) -> Option<LostAgain> {
        let rest = self.until.get(&member).filter(|_| self.is_lost_again(member, now))?;
        let losses = self.broken.get(&member)?.losses;
        Some(LostAgain { until: rest.until, losses })
    }
}

/// Doubled with each loss.
fn rest_after(losses: u32) -> Duration {
    let doubled = 1_u32.checked_shl(losses.saturating_sub(1)).unwrap_or(u32::MAX);
    limits::LOST_AGAIN_REST_MIN.saturating_mul(doubled).min(limits::LOST_AGAIN_REST_MAX)
}

impl Resource {
    /// The connections of `member` broke, and its loss began.
    pub(crate) fn let_lost_rest(&mut self, member: NodeId) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        let Some(&boot) = session.boots.get(&member) else { return };
        if let Some(LostAgain { until, losses }) = session.rests.note_loss(member, boot, now) {
            let rest = until.since(now);
            self.actions.push(ResourceAction::LostAgain { member, rest, losses });
        }
    }

    /// Its connections ended because one of the two nodes wanted that.
    pub(crate) fn forget_returns_of(&mut self, member: NodeId) {
        if let Some(session) = self.session.as_mut() {
            session.rests.broken.remove(&member);
        }
    }

    /// It was lost again soon after it returned, and the others are enough without it.
    pub(crate) fn stays_away(&self, member: NodeId) -> bool {
        let Some(session) = self.session.as_ref() else { return false };
        let losing: MemberSet = session.losses.keys().copied().collect();
        session.rests.is_lost_again(member, self.now) && self.is_enough_without(losing.with(member))
    }

    /// Whether nothing speaks against asking it back now.
    pub(crate) fn is_rested(&self, member: NodeId) -> bool {
        let Some(session) = self.session.as_ref() else { return false };
        !session.rests.is_resting(member, self.now)
            || session.rests.is_lost_again(member, self.now) && !self.stays_away(member)
    }

    pub(crate) fn lost_again(&self, member: NodeId) -> Option<LostAgain> {
        let session = self.session.as_ref().filter(|it| !it.write_set.has(member))?;
        session.rests.lost_again(member, self.now)
    }
}
