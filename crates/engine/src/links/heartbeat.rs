//! The pulse of a connection: a heartbeat in each interval, with the leases of all resources that
//! are at home at both its ends. Only one that asks for leases is answered.
//!
//! One that goes out, or comes in, takes along all that are due within half an interval: so nodes
//! that hear each other come to beat together, and wake up for all of them at once.
//!
//! A peer that says nothing at all for so long as `times` allows is lost, whatever TCP thinks.

use std::collections::VecDeque;

use format::frame::Message;
use format::ids::{NodeId, Nonce};
use format::message::{Heartbeat, HeartbeatAck, LeaseRequest, LinkMessage};
use replication::limits::{HEARTBEAT_INTERVAL, LEASE};
use stdx::time::Time;

use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::HEARTBEATS_MAX;
use crate::links::away::Away;
use crate::links::session::Session;
use crate::links::{Fact, Link, Links, Pipe, Queued, Way};

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
            self.lose_set(index, &Away::ManySessions, kit);
        }
        let mut next = self.retry_opens(index, kit.now);
        for shard in 0..u8::try_from(self.links[index].pipes.len()).expect("few shards") {
            next = next.min(self.tick_pipe(Way { link: index, shard }, kit));
        }
        next
    }

    fn tick_pipe(&mut self, way: Way, kit: &mut Kit) -> Time {
        let silent_max = self.links[way.link].silent_max();
        let pipe = &self.links[way.link].pipes[usize::from(way.shard)];
        let Some(key) = pipe.connection.filter(|_| self.is_up(pipe)) else { return Time::NEVER };
        let silent_at = pipe.heart.heard_at + silent_max;
        if kit.now >= silent_at {
            let reason = Away::Silent { silent_ms: silent_max.as_millis() };
            self.close_connection(key, &reason, kit);
            return kit.now;
        }
        pipe.heart.beat_at.min(silent_at)
    }

    /// Beats, if one of the hearts is to by now.
    pub(super) fn beat_if_due(&mut self, now: Time) {
        let mut pipes = self.links.iter().flat_map(|link| &link.pipes);
        if pipes.any(|pipe| pipe.heart.beat_at <= now && self.is_up(pipe)) {
            self.beat_soon(now);
        }
    }

    /// The heartbeats that are due soon are due now. Says whether there is any.
    fn beat_soon(&mut self, now: Time) -> bool {
        let before = self.facts.len();
        for link in 0..self.links.len() {
            for shard in 0..self.links[link].pipes.len() {
                let pipe = &self.links[link].pipes[shard];
                if pipe.heart.beat_at <= now + HEARTBEAT_INTERVAL / 2 && self.is_up(pipe) {
                    self.links[link].pipes[shard].heart.beat_at = now + HEARTBEAT_INTERVAL;
                    let way = Way { link, shard: u8::try_from(shard).expect("few shards") };
                    self.facts.push_back(Fact::HeartbeatDue { way });
                }
            }
        }
        self.facts.len() > before
    }

    fn is_up(&self, pipe: &Pipe) -> bool {
        let connection = pipe.connection.and_then(|key| self.connections.get(key));
        connection.is_some_and(|connection| connection.is_up())
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
        if !leases.is_empty() {
            heart.expect_answer(id, leases, now);
        }
        let heartbeat = Heartbeat { id, sent_at_ns: now.0, leases: requests };
        pipe.push_urgent(LinkMessage::Heartbeat(heartbeat));
    }

    /// Says which leases the peer does not get, if it asked for any. Ours go with the answer where
    /// they are due soon.
    pub(crate) fn answer_heartbeat(
        &mut self,
        way: Way,
        heartbeat: Heartbeat,
        refused: Vec<u32>,
        now: Time,
    ) {
        let Heartbeat { id, sent_at_ns, leases } = heartbeat;
        if !leases.is_empty() {
            let ack = HeartbeatAck { id, sent_at_ns, refused };
            self.links[way.link].pipe_mut(way.shard).push_urgent(LinkMessage::HeartbeatAck(ack));
        }
        self.spare_requests = leases;
        self.is_due |= self.beat_soon(now);
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
    use crate::links::connection::Connection;
    use crate::links::fixture::connected;
    use crate::links::stage::Stage;

    const NOW: Time = Time(1_000_000_000);
    const WAY: Way = Way { link: 0, shard: LEAD };

    fn theirs(leases: Vec<LeaseRequest>) -> Heartbeat {
        Heartbeat { id: 7, sent_at_ns: 1, leases }
    }

    /// Whether our heartbeat goes with the answer, where it is due after so long.
    fn goes_with_answer(due_after: Duration) -> bool {
        let (mut links, _) = connected();
        links.links[0].pipe_mut(LEAD).heart.beat_at = NOW + due_after;
        links.answer_heartbeat(WAY, theirs(Vec::new()), Vec::new(), NOW);
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
        links.tick(&mut kit);
        assert!(matches!(links.pop_fact(), Some(Fact::HeartbeatDue { way: WAY })));
        links.send_heartbeat(WAY, &[], kit.now);
        links.answer_heartbeat(WAY, theirs(Vec::new()), Vec::new(), kit.now);
        assert!(links.pop_fact().is_none(), "ours has just been sent");
    }

    /// A node at rest would else wake up for the answer of each peer.
    #[test]
    fn only_who_asks_for_leases_is_answered() {
        let (mut links, _) = connected();
        links.links[0].pipe_mut(LEAD).heart.beat_at = NOW + HEARTBEAT_INTERVAL;
        links.answer_heartbeat(WAY, theirs(Vec::new()), Vec::new(), NOW);
        assert!(links.links[0].pipe_mut(LEAD).queue.is_empty());
        let lease = LeaseRequest { handle: 16, nonce: Nonce(1), length_ms: 1500 };
        links.answer_heartbeat(WAY, theirs(vec![lease]), vec![16], NOW);
        let queue = &links.links[0].pipe_mut(LEAD).queue;
        let Message::Link(LinkMessage::HeartbeatAck(ack)) = &queue[0].message else {
            panic!("{queue:?}");
        };
        assert_eq!((ack.id, ack.refused.as_slice()), (7, [16].as_slice()));
    }

    /// Two peers whose times lie apart are heard, and told, at one time from then on.
    #[test]
    fn peers_whose_heartbeats_are_due_soon_are_told_together() {
        let (mut links, _) = connected();
        let mut charlie = Link::new("charlie".to_owned(), NOW);
        (charlie.is_up, charlie.set) = (true, 1);
        let connection = Connection::new(Some(1), LEAD, Stage::Up, NOW);
        charlie.pipe_mut(LEAD).connection = Some(links.connections.insert(connection));
        links.links.push(charlie);
        let at = |links: &mut Links, bravo: Duration, charlie: Duration| {
            links.links[0].pipe_mut(LEAD).heart.beat_at = NOW + bravo;
            links.links[1].pipe_mut(LEAD).heart.beat_at = NOW + charlie;
            links.beat_if_due(NOW);
            std::iter::from_fn(|| links.pop_fact()).count()
        };
        assert_eq!(at(&mut links, Duration::ZERO, HEARTBEAT_INTERVAL / 2), 2);
        assert_eq!(at(&mut links, HEARTBEAT_INTERVAL, Duration::ZERO), 1, "bravo was just told");
        assert_eq!(at(&mut links, HEARTBEAT_INTERVAL / 2, HEARTBEAT_INTERVAL / 2), 0);
        links.links[1].pipe_mut(LEAD).connection = None;
        assert_eq!(at(&mut links, HEARTBEAT_INTERVAL, Duration::ZERO), 0, "who is not there");
    }
}
