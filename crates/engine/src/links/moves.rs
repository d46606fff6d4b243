//! Moves: a set whose path died is made anew over one that lives; the resources hear of it late.
//!
//! ```text
//! Up over A ... A dies: set down, sessions held ... Up over B: OPEN, OPEN -> Down, Up in one turn
//!                              |
//!                              +-- 500 ms, no path lives, another process answers: Down
//! ```
//!
//! What the former set lost is not known, so nothing is added to its sessions: messages name the
//! set of their handle, and those of a former one are neither sent nor taken ([`super::active`]).
//! A resource is told of the end of the session and of the next one together, which is the short
//! interruption of PROTOCOL.md 6.5: what was not acknowledged is sent again, and the loss that
//! began is withdrawn. To hear of a loss late is always safe; `MOVE_MAX` bounds how late.

use replication::contract::Parting;
use stdx::time::Time;

use crate::kit::Kit;
use crate::limits::MOVE_MAX;
use crate::links::news::News;
use crate::links::{Fact, Links};
use crate::log::{Scope, log};

impl Links {
    /// The sessions wait for the next set. One that waits already waits no longer for it.
    pub(super) fn hold_sessions(&mut self, index: usize, now: Time) {
        let link = &mut self.links[index];
        let is_held = link.sessions.iter().any(|session| session.former.is_some());
        if !is_held {
            link.moving_until = Some(now + MOVE_MAX);
        }
        self.suspend_sessions(index);
    }

    /// At shard 0: no session is held any longer, on any shard.
    pub(super) fn stop_moves(&mut self, index: usize) {
        if self.links[index].moving_until.is_some() {
            self.tell_others(index, || News::MovesEnd);
            self.end_moves(index);
        }
    }

    /// Who is held still is lost.
    pub(super) fn end_moves(&mut self, index: usize) {
        let link = &mut self.links[index];
        link.moving_until = None;
        for session in &mut link.sessions {
            if let Some(handles) = session.former.take() {
                let scope = Scope { resource: &session.resource_name, peer: &link.name };
                log!(Notice, scope, "disconnected");
                let (hosted, peer) = (session.hosted, session.peer);
                let parting = Parting::Broken;
                self.facts.push_back(Fact::Down { hosted, peer, handles, parting });
            }
        }
    }

    pub(super) fn tick_moves(&mut self, index: usize, kit: &Kit) -> Time {
        match self.links[index].moving_until {
            Some(until) if kit.now >= until => {
                self.end_moves(index);
                Time::NEVER
            }
            Some(until) => until,
            None => Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Handles;
    use crate::links::active::{Active, Meant};
    use crate::links::fixture::{HOSTED, RESOURCE, node, on_open, with_resource};

    const NOW: Time = Time::ZERO;

    /// Both sides say OPEN over the set that is up.
    fn open(links: &mut Links, handle: u32) {
        links.open(HOSTED, node(1), None, NOW);
        on_open(links, RESOURCE, handle);
    }

    /// The beginnings and ends that the resource was told of, by the peer's handle.
    fn told(links: &mut Links) -> Vec<(&'static str, u32)> {
        let facts = std::iter::from_fn(|| links.pop_fact());
        let ends = facts.filter_map(|fact| match fact {
            Fact::Up { handles, .. } => Some(("up", handles.theirs)),
            Fact::Down { handles, .. } => Some(("down", handles.theirs)),
            Fact::Message { .. }
            | Fact::Void { .. }
            | Fact::DiskFailed { .. }
            | Fact::PathChanged { .. }
            | Fact::OpenDue { .. }
            | Fact::HeartbeatDue { .. }
            | Fact::Heartbeat { .. }
            | Fact::Lease { .. } => None,
        });
        ends.collect()
    }

    fn lose_set(links: &mut Links) {
        links.hold_sessions(0, NOW);
        links.links[0].set += 2;
    }

    #[test]
    fn resource_hears_of_the_end_together_with_the_next_beginning() {
        let mut links = with_resource();
        open(&mut links, 16);
        assert_eq!(told(&mut links), [("up", 16)]);
        lose_set(&mut links);
        assert_eq!(told(&mut links), []);
        open(&mut links, 32);
        assert_eq!(told(&mut links), [("down", 16), ("up", 32)]);
        links.end_moves(0);
        assert_eq!(told(&mut links), [], "nobody is held any more");
    }

    #[test]
    fn who_is_held_for_nothing_is_lost_once() {
        let mut links = with_resource();
        open(&mut links, 16);
        told(&mut links);
        lose_set(&mut links);
        let until = links.links[0].moving_until.unwrap();
        assert_eq!(until, NOW + MOVE_MAX);
        // The next set is lost, too, before the peer said OPEN: nobody waits longer for that.
        links.hold_sessions(0, NOW + MOVE_MAX / 2);
        assert_eq!(links.links[0].moving_until, Some(until));
        links.end_moves(0);
        assert_eq!(told(&mut links), [("down", 16)]);
        links.end_moves(0);
        open(&mut links, 32);
        assert_eq!(told(&mut links), [("up", 32)]);
    }

    #[test]
    fn nothing_is_added_to_a_session_of_a_former_set() {
        let mut links = with_resource();
        let handles = Handles { ours: 48, theirs: 16, set: 1 };
        links.links[0].actives.insert(Active { hosted: HOSTED, peer: node(1), handles });
        let route = |links: &Links| links.route(0, (HOSTED, node(1)), |_| 0);
        assert_eq!(links.meant_by(0, 16), Meant::Member(HOSTED, node(1)));
        assert!(route(&links).is_some());
        links.links[0].set += 2;
        assert_eq!(links.meant_by(0, 16), Meant::Unsettled, "it waits for word from the home");
        assert!(route(&links).is_none());
    }
}
