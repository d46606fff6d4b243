//! The pulse of a connection: a heartbeat in each interval, with the leases of all resources that
//! are at home at both its ends.
//!
//! A peer that says nothing at all for so long as `times` allows is lost, whatever TCP thinks.

use std::collections::VecDeque;

use format::frame::Message;
use format::ids::{NodeId, Nonce};
use format::message::{Heartbeat, HeartbeatAck, LeaseRequest, LinkMessage};
use replication::limits::{HEARTBEAT_INTERVAL, LEASE};
use stdx::time::Time;

use crate::limits::HEARTBEATS_MAX;
use crate::links::session::Session;
use crate::links::{Fact, HostedId, Link, Links, Pipe, Queued, Way};
use crate::payloads::Kit;

#[derive(Debug, Default)]
pub(super) struct Heart {
    /// When the peer was heard last.
    pub(super) heard_at: Time,
    beat_at: Time,
    next_id: u64,
    /// Heartbeats that the peer has not answered, oldest first.
    unanswered: VecDeque<Beat>,
    /// Memory for the lists of the next heartbeat.
    spare_leases: Vec<Lease>,
    pub(super) spare_requests: Vec<LeaseRequest>,
}

#[derive(Debug)]
struct Beat {
    id: u64,
    sent_at: Time,
    leases: Vec<Lease>,
}

/// One lease that a heartbeat asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) hosted: HostedId,
    pub(crate) peer: NodeId,
    /// The session's place among those of the link, unless one before it went meanwhile.
    pub(crate) place: usize,
    pub(crate) handle: u32,
    pub(crate) nonce: Nonce,
}

impl Heart {
    fn expect_answer(&mut self, id: u64, leases: &[Lease], now: Time) {
        if self.unanswered.len() == HEARTBEATS_MAX {
            self.unanswered.pop_front();
        }
        let mut kept = std::mem::take(&mut self.spare_leases);
        kept.clear();
        kept.extend_from_slice(leases);
        self.unanswered.push_back(Beat { id, sent_at: now, leases: kept });
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.heard_at = now;
        self.beat_at = now;
        self.unanswered.clear();
    }
}

impl Links {
    pub(super) fn tick_connected(&mut self, index: usize, kit: &mut Kit) -> Time {
        let link = &self.links[index];
        if link.is_up && link.has_no_handles() {
            self.lose_set(index, "its sessions were so many that their numbers begin anew", kit);
        }
        let mut next = self.retry_opens(index, kit.now);
        for shard in 0..u8::try_from(self.links[index].pipes.len()).expect("few shards") {
            next = next.min(self.tick_pipe(Way { link: index, shard }, kit));
        }
        next
    }

    fn tick_pipe(&mut self, way: Way, kit: &mut Kit) -> Time {
        let silent_max = self.links[way.link].silent_max();
        let pipe = &mut self.links[way.link].pipes[usize::from(way.shard)];
        let Some(key) = pipe.connection else { return Time::NEVER };
        let is_up = self.connections.get(key).is_some_and(|c| c.is_up());
        if !is_up {
            return Time::NEVER;
        }
        let silent_at = pipe.heart.heard_at + silent_max;
        if kit.now >= silent_at {
            let text = format!("no sign of life for {} ms", silent_max.as_millis());
            self.close_connection(key, &text, kit);
            return kit.now;
        }
        let heart = &mut pipe.heart;
        if kit.now >= heart.beat_at {
            heart.beat_at = kit.now + HEARTBEAT_INTERVAL;
            self.facts.push_back(Fact::HeartbeatDue { way });
        }
        heart.beat_at.min(silent_at)
    }

    /// The leases that are wanted of the sessions which are up and at home at both ends of a
    /// connection.
    pub(crate) fn leases(
        &self,
        way: Way,
        wanted: impl Fn(HostedId) -> Option<Nonce>,
    ) -> impl Iterator<Item = Lease> {
        let link = &self.links[way.link];
        link.sessions.iter().enumerate().filter_map(move |(place, session)| {
            if session.home_at(link) != way.shard {
                return None;
            }
            let handle = session.ours.filter(|_| session.is_up())?;
            let (hosted, peer) = (session.hosted, session.peer);
            Some(Lease { hosted, peer, place, handle, nonce: wanted(hosted)? })
        })
    }

    /// The next heartbeat of every link of the resource is due now.
    pub(crate) fn renew(&mut self, hosted: HostedId, now: Time) {
        for link in &mut self.links {
            let is_meant = |session: &&Session| session.hosted == hosted && session.is_up();
            if let Some(shard) = link.sessions.iter().find(is_meant).map(|s| s.home_at(link)) {
                link.pipe_mut(shard).heart.beat_at = now;
            }
        }
    }

    pub(crate) fn send_heartbeat(&mut self, way: Way, leases: &[Lease], now: Time) {
        let length_ms = u16::try_from(LEASE.as_millis()).expect("a lease of seconds");
        let pipe = self.links[way.link].pipe_mut(way.shard);
        let heart = &mut pipe.heart;
        let mut requests = std::mem::take(&mut heart.spare_requests);
        requests.clear();
        requests.extend(leases.iter().map(|lease| LeaseRequest {
            handle: lease.handle,
            nonce: lease.nonce,
            length_ms,
        }));
        let id = heart.next_id;
        heart.next_id += 1;
        heart.expect_answer(id, leases, now);
        let heartbeat = Heartbeat { id, sent_at_ns: now.0, leases: requests };
        pipe.push_urgent(LinkMessage::Heartbeat(heartbeat));
    }

    /// Ours goes with the answer where it is due soon: two messages in one, for each end.
    pub(crate) fn answer_heartbeat(
        &mut self,
        way: Way,
        heartbeat: Heartbeat,
        refused: Vec<u32>,
        now: Time,
    ) {
        let Heartbeat { id, sent_at_ns, leases } = heartbeat;
        self.spare_requests = leases;
        let ack = HeartbeatAck { id, sent_at_ns, refused };
        let pipe = self.links[way.link].pipe_mut(way.shard);
        pipe.push_urgent(LinkMessage::HeartbeatAck(ack));
        if pipe.heart.beat_at <= now + HEARTBEAT_INTERVAL / 2 {
            pipe.heart.beat_at = now + HEARTBEAT_INTERVAL;
            self.facts.push_back(Fact::HeartbeatDue { way });
            self.is_due = true;
        }
    }

    pub(super) fn on_heartbeat_ack(&mut self, way: Way, ack: &HeartbeatAck) {
        let Link { pipes, sessions, .. } = &mut self.links[way.link];
        let heart = &mut pipes[usize::from(way.shard)].heart;
        let Some(place) = heart.unanswered.iter().position(|beat| beat.id == ack.id) else {
            return;
        };
        let Some(beat) = heart.unanswered.remove(place) else { return };
        for lease in &beat.leases {
            let is_its = |one: &Session| one.is_up() && one.ours == Some(lease.handle);
            let is_in_place = sessions.get(lease.place).is_some_and(is_its);
            if is_in_place || sessions.iter().any(is_its) {
                self.facts.push_back(Fact::Lease {
                    hosted: lease.hosted,
                    peer: lease.peer,
                    nonce: lease.nonce,
                    sent_at: beat.sent_at,
                    granted: !ack.refused.contains(&lease.handle),
                });
            }
        }
        heart.spare_leases = beat.leases;
    }
}

impl Pipe {
    /// Ahead of what waits: a long queue must not look like a dead node.
    fn push_urgent(&mut self, message: LinkMessage) {
        if self.connection.is_some() {
            let message = Message::Link(message);
            self.queue.push_front(Queued { handle: 0, message, payload: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::links::LEAD;
    use crate::links::fixture::connected;

    const NOW: Time = Time(1_000_000_000);
    const WAY: Way = Way { link: 0, shard: LEAD };

    /// Whether our heartbeat goes with the answer, where it is due after so long.
    fn goes_with_answer(due_after: Duration) -> bool {
        let (mut links, _) = connected();
        links.links[0].pipe_mut(LEAD).heart.beat_at = NOW + due_after;
        let theirs = Heartbeat { id: 7, sent_at_ns: 1, leases: Vec::new() };
        links.answer_heartbeat(WAY, theirs, Vec::new(), NOW);
        let is_due = matches!(links.pop_fact(), Some(Fact::HeartbeatDue { way: WAY }));
        let beat_at = links.links[0].pipe_mut(LEAD).heart.beat_at;
        let expected = if is_due { HEARTBEAT_INTERVAL } else { due_after };
        assert_eq!(beat_at, NOW + expected);
        assert!(links.pop_fact().is_none());
        is_due
    }

    #[test]
    fn heartbeat_that_is_due_soon_goes_with_the_answer_to_the_other() {
        assert!(goes_with_answer(Duration::ZERO));
        assert!(goes_with_answer(HEARTBEAT_INTERVAL / 2));
        assert!(!goes_with_answer(HEARTBEAT_INTERVAL * 3 / 4));
        assert!(!goes_with_answer(HEARTBEAT_INTERVAL));
    }

    /// What is sent beside the answer is no reason to send one again at once.
    #[test]
    fn heartbeats_of_both_ends_do_not_chase_each_other() {
        let (mut links, _) = connected();
        let mut kit = Kit::of_lone_shard();
        links.tick_connected(0, &mut kit);
        while let Some(fact) = links.pop_fact() {
            let Fact::HeartbeatDue { way } = fact else { continue };
            links.send_heartbeat(way, &[], kit.now);
        }
        let theirs = Heartbeat { id: 7, sent_at_ns: 1, leases: Vec::new() };
        links.answer_heartbeat(WAY, theirs, Vec::new(), kit.now);
        assert!(links.pop_fact().is_none(), "ours has just been sent");
    }
}
