//! Members that wait for room in somebody's metadata (PROTOCOL.md 9.2).
//!
//! A member is added, and one that returns is admitted, only where every replica has a bitmap slot
//! for all the others. Where one has no room nothing but an operator helps. So whoever leads asks
//! again after a rest that grows, and leads no session for that meanwhile.

use std::collections::BTreeMap;
use std::time::Duration;

use format::ids::{MemberSet, NodeId};
use format::message::Control;
use stdx::time::Time;

use crate::limits;
use crate::resource::Resource;

#[derive(Debug, Default)]
pub(crate) struct LeftOut(BTreeMap<NodeId, Rest>);

#[derive(Clone, Copy, Debug)]
struct Rest {
    until: Time,
    length: Duration,
}

impl LeftOut {
    pub(crate) fn wakes_at(&self, now: Time) -> Time {
        let rests = self.0.values().map(|rest| rest.until).filter(|&until| until > now);
        rests.min().unwrap_or(Time::NEVER)
    }

    fn leave_out(&mut self, member: NodeId, now: Time) {
        let former = self.0.get(&member).map(|rest| rest.length * 2);
        self.rest(member, now, former.unwrap_or(limits::SLOW_MEMBER_REST_MIN));
    }

    fn rest(&mut self, member: NodeId, now: Time, length: Duration) {
        let length = length.min(limits::SLOW_MEMBER_REST_MAX);
        self.0.insert(member, Rest { until: now + length, length });
    }
}

impl Resource {
    // ---- As the leader.

    /// There was no room for it, and nothing is known to have changed.
    pub(crate) fn is_left_out(&self, member: NodeId) -> bool {
        self.left_out.0.get(&member).is_some_and(|rest| self.now < rest.until)
    }

    pub(crate) fn leave_out(&mut self, members: MemberSet) {
        for member in members.iter() {
            self.left_out.leave_out(member, self.now);
        }
    }

    /// Nobody refused it: somebody's disk was slow, perhaps, which may be over soon.
    pub(crate) fn let_late_rest(&mut self, member: NodeId) {
        self.left_out.rest(member, self.now, limits::SLOW_MEMBER_REST_MIN);
    }

    /// The members are others, or one of them has other metadata, perhaps.
    pub(crate) fn leave_nobody_out(&mut self) {
        self.left_out = LeftOut::default();
    }

    // ---- As a member.

    /// Who leads asked for a slot that there is no room for.
    pub(crate) fn refuse_slot(&mut self, leader: NodeId) {
        let superblock = self.superblock.as_ref().expect("asked of a member with data");
        let sealed = superblock.sealed.ballot;
        self.send(leader, Control::SealRefused { ballot: sealed, sealed });
    }
}
