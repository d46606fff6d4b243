//! Sessions: a resource on a link, open when both sides sent OPEN.
//!
//! Every message of a resource carries the handle of its sender's OPEN. A set of connections uses
//! no handle twice: a message of an earlier session names one that is gone, and is dropped. A set
//! that has used them all up ends. CLOSE names the handle of its receiver's OPEN and ends the
//! session on both sides; what the peer sent before it saw our CLOSE is dropped likewise. All of
//! this is said between the home shards of the resource; the other shards hear of the outcome
//! ([`super::active`]).
//!
//! An OPEN that the peer did not answer yet cannot be closed: the handle to name is not known. Who
//! gives one up waits for its answer ([`Link::given_up`]), closes that, and only then sends again:
//!
//! ```text
//! OPEN 16 -->                  given up; what the peer says with 32 is meant for 16
//!              <-- OPEN 32     up there
//! CLOSE 32, OPEN 48 -->        the end of it there
//!              <-- OPEN 64     up on both sides
//! ```

use format::frame::Message;
use format::ids::{NodeId, ResourceId};
use format::message::{CloseReason, LinkMessage, Open, ReplicaReport};
use replication::contract::{Parting, PeerReport};
use stdx::time::Time;

use crate::definition::link::SharedSecret;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{MISBEHAVED_REST, OPEN_RETRY};
use crate::links::active::{HANDLE_COUNT_MAX, make_handle};
use crate::links::away::{Unopened, Unproved};
use crate::links::{Fact, Handles, Link, Links, Queued, Way};
use crate::log::{Scope, log};
use crate::placement;

/// Why our OPEN is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoProof {
    /// The peer's challenge is on its way.
    Waits,
    /// The peer knows of no proofs.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) hosted: HostedId,
    pub(super) resource: ResourceId,
    pub(super) resource_name: String,
    pub(super) me: NodeId,
    pub(super) peer: NodeId,
    /// Handle of our OPEN, while the peer did not close it.
    pub(super) ours: Option<u32>,
    theirs: Option<Theirs>,
    /// Of the set before, while the session moves to the next one: the resource knows of no end.
    pub(super) former: Option<Handles>,
    /// Our OPEN is not sent (again) before.
    open_at: Time,
    /// Neither is the peer's taken before: it misbehaved.
    rests_until: Time,
    /// The operator, or the core, wants no connection.
    held: bool,
    /// Why the peer refused, as it was logged.
    refusal: Option<CloseReason>,
    /// What both sides have to know.
    pub(super) secret: Option<SharedSecret>,
    /// The set and the handle of the peer's last OPEN that was proved.
    pub(super) proved: Option<(u64, u32)>,
    /// Why this side refused the peer, as it was logged.
    pub(super) turned_away: Option<Unproved>,
}

#[derive(Clone, Copy, Debug)]
struct Theirs {
    handle: u32,
    set: u64,
    replica: Option<ReplicaReport>,
}

/// A member of a resource, as the links know it.
#[derive(Clone, Debug)]
pub(crate) struct NewSession {
    pub(crate) hosted: HostedId,
    pub(crate) resource: ResourceId,
    pub(crate) resource_name: String,
    pub(crate) me: NodeId,
    pub(crate) peer: NodeId,
    pub(crate) secret: Option<SharedSecret>,
}

impl Session {
    pub(super) fn is_up(&self) -> bool {
        self.ours.is_some() && self.theirs.is_some()
    }

    fn is_kept_apart(&self, now: Time) -> bool {
        self.held || now < self.rests_until
    }

    /// The shard of the peer where the resource is at home.
    pub(super) fn home_at(&self, link: &Link) -> u8 {
        placement::home_shard(self.resource, link.peer_shards)
    }

    pub(super) fn handles(&self) -> Option<Handles> {
        let Theirs { handle, set, .. } = self.theirs?;
        Some(Handles { ours: self.ours?, theirs: handle, set })
    }
}

impl Link {
    pub(super) fn session_mut(&mut self, hosted: HostedId, peer: NodeId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|s| s.hosted == hosted && s.peer == peer)
    }

    /// Sessions need another set before there is one more.
    pub(super) fn has_no_handles(&self) -> bool {
        self.next_handle > HANDLE_COUNT_MAX
    }

    /// Queues a message of the link for a shard of the peer.
    pub(super) fn push(&mut self, shard: u8, message: LinkMessage) {
        let queue = &mut self.pipe_mut(shard).queue;
        queue.push_back(Queued { handle: 0, message: Message::Link(message), payload: None });
    }
}

impl Links {
    /// Makes a resource's member known over its link, and connects to it.
    pub(crate) fn add_session(&mut self, index: usize, new: NewSession, now: Time) {
        let link = &mut self.links[index];
        let is_up = link.is_up;
        link.opens_from = link.opens_from.min(now);
        link.sessions.push(Session {
            hosted: new.hosted,
            resource: new.resource,
            resource_name: new.resource_name,
            me: new.me,
            peer: new.peer,
            ours: None,
            theirs: None,
            former: None,
            open_at: now,
            rests_until: now,
            held: false,
            refusal: None,
            secret: new.secret,
            proved: None,
            turned_away: None,
        });
        if is_up {
            self.facts.push_back(Fact::OpenDue { hosted: new.hosted, peer: new.peer });
        }
    }

    /// Forgets a resource's members.
    pub(crate) fn remove_sessions(&mut self, hosted: HostedId) {
        for (index, link) in self.links.iter_mut().enumerate() {
            while let Some(place) = link.sessions.iter().position(|s| s.hosted == hosted) {
                let session = link.sessions.swap_remove(place);
                if let Some(Theirs { handle, set, .. }) = session.theirs {
                    let reason = CloseReason::Down;
                    link.push(session.home_at(link), LinkMessage::Close { handle, reason });
                    self.facts.push_back(Fact::Void { link: index, set, handle });
                } else if let Some(ours) = session.ours {
                    link.given_up.push((session.resource, ours));
                }
            }
        }
    }

    /// Forgets one member of a resource.
    pub(crate) fn remove_session(&mut self, hosted: HostedId, peer: NodeId) {
        self.close_session(hosted, peer);
        for link in &mut self.links {
            link.sessions.retain(|it| it.hosted != hosted || it.peer != peer);
        }
    }

    /// The link came up: every resource is to be opened.
    pub(super) fn sessions_due(&mut self, index: usize, now: Time) {
        self.links[index].opens_from = now;
        for session in &mut self.links[index].sessions {
            session.open_at = now.max(session.rests_until);
            if !session.held {
                let (hosted, peer) = (session.hosted, session.peer);
                self.facts.push_back(Fact::OpenDue { hosted, peer });
            }
        }
    }

    pub(super) fn retry_opens(&mut self, index: usize, now: Time) -> Time {
        let Link { is_up, sessions, opens_from, .. } = &mut self.links[index];
        if !*is_up {
            return Time::NEVER;
        }
        // Sessions are many, and nearly always open: they are not looked through in every tick.
        if now < *opens_from {
            return *opens_from;
        }
        *opens_from = Time::NEVER;
        for session in sessions.iter_mut().filter(|it| it.ours.is_none() && !it.held) {
            if now >= session.open_at {
                session.open_at = now + OPEN_RETRY;
                let (hosted, peer) = (session.hosted, session.peer);
                self.facts.push_back(Fact::OpenDue { hosted, peer });
            }
            *opens_from = (*opens_from).min(session.open_at);
        }
        *opens_from
    }

    /// Sends our OPEN, with what our replica is now.
    pub(crate) fn open(
        &mut self,
        hosted: HostedId,
        peer: NodeId,
        replica: Option<ReplicaReport>,
        now: Time,
    ) {
        let Some(index) = self.link_of(hosted, peer) else { return };
        let link = &mut self.links[index];
        if !link.is_up || link.has_no_handles() {
            return;
        }
        let shards = link.peer_shards;
        let place = link.sessions.iter().position(|s| s.hosted == hosted && s.peer == peer);
        let place = place.expect("the link was found by this session");
        let session = &link.sessions[place];
        let resource = session.resource;
        let waits = link.given_up.iter().any(|(of, _)| *of == resource);
        if session.ours.is_some() || session.is_kept_apart(now) || waits {
            return;
        }
        let home_lane = placement::home_lane(session.resource);
        let handle = make_handle(link.next_handle, home_lane);
        let proof = match link.prove(place, handle) {
            Ok(proof) => proof,
            Err(NoProof::Waits) => return,
            Err(NoProof::Unknown) => return link.turn_away(place, Unproved::Release),
        };
        let session = &mut link.sessions[place];
        session.ours = Some(handle);
        session.open_at = now + OPEN_RETRY;
        let open = Open {
            handle,
            resource: session.resource,
            resource_name: session.resource_name.clone(),
            sender: session.me,
            receiver: session.peer,
            replica,
        };
        link.next_handle += 1;
        if let Some(proof) = proof {
            link.push(home_lane % shards, LinkMessage::Proof(proof));
        }
        link.push(home_lane % shards, LinkMessage::Open(Box::new(open)));
        self.note_up(index, hosted, peer);
    }

    pub(super) fn link_of(&self, hosted: HostedId, peer: NodeId) -> Option<usize> {
        self.links
            .iter()
            .position(|link| link.sessions.iter().any(|s| s.hosted == hosted && s.peer == peer))
    }

    fn note_up(&mut self, index: usize, hosted: HostedId, peer: NodeId) {
        let link = &mut self.links[index];
        let boot_id = link.boot_id.unwrap_or_default();
        let (shards, features) = (link.peer_shards, link.peer_features);
        let name = link.name.clone();
        let Some(session) = link.session_mut(hosted, peer) else { return };
        let Some(theirs) = session.theirs.filter(|_| session.ours.is_some()) else { return };
        session.refusal = None;
        let proved = if session.secret.is_some() { ", and knows the `shared-secret`" } else { "" };
        let scope = Scope { resource: &session.resource_name, peer: &name };
        let report = Box::new(PeerReport { boot_id, shards, features, replica: theirs.replica });
        let Some(handles) = session.handles() else { return };
        match session.former.take() {
            None => log!(Notice, scope, "connected{proved}"),
            Some(former) => {
                log!(Notice, scope, "connected over another path{proved}");
                let parting = Parting::Moved;
                self.facts.push_back(Fact::Down { hosted, peer, handles: former, parting });
            }
        }
        self.facts.push_back(Fact::Up { hosted, peer, handles, report });
    }

    pub(super) fn on_open(&mut self, way: Way, open: &Open, now: Time) {
        let index = way.link;
        let link = &mut self.links[index];
        link.opened.note(open.handle);
        let name = link.name.clone();
        let place = link.sessions.iter().position(|s| s.resource == open.resource);
        let given_up = link.given_up.iter().position(|(of, _)| *of == open.resource);
        let answers_former = given_up.map(|at| link.given_up.swap_remove(at)).is_some();
        let refusal = match place.map(|place| &link.sessions[place]) {
            None => Some(CloseReason::UnknownResource),
            Some(session) if session.me != open.receiver || session.peer != open.sender => {
                let scope = Scope { resource: &session.resource_name, peer: &name };
                log!(
                    Error,
                    scope,
                    "refused: it calls itself node {} and this node {}, here they are {} and {}; \
                     compare the node-id lines of both configurations",
                    open.sender,
                    open.receiver,
                    session.peer,
                    session.me
                );
                Some(CloseReason::NodeIdMismatch)
            }
            Some(session) if session.is_kept_apart(now) || answers_former => {
                Some(CloseReason::Down)
            }
            Some(_) => None,
        };
        let refusal =
            refusal.or_else(|| place.and_then(|place| link.check_proof(place, way.shard, open)));
        // No peer says OPEN twice without a CLOSE between; what it means by it is not guessed.
        let is_second = refusal.is_none() && place.is_some_and(|at| link.sessions[at].is_up());
        let refusal = refusal.or_else(|| is_second.then_some(CloseReason::Down));
        if let Some(reason) = refusal {
            link.push(way.shard, LinkMessage::Close { handle: open.handle, reason });
            let set = link.set;
            self.facts.push_back(Fact::Void { link: index, set, handle: open.handle });
            if let Some(place) = place.filter(|_| answers_former || is_second) {
                self.begin_anew(index, place);
            }
            return;
        }
        let place = place.expect("a session that was not refused");
        let session = &link.sessions[place];
        let (hosted, peer) = (session.hosted, session.peer);
        let set = self.links[index].set;
        let session = &mut self.links[index].sessions[place];
        let theirs = Theirs { handle: open.handle, set, replica: open.replica };
        if let Some(Theirs { handle, set, .. }) = session.theirs.replace(theirs) {
            self.facts.push_back(Fact::Void { link: index, set, handle });
        }
        if session.ours.is_some() {
            self.note_up(index, hosted, peer);
        } else {
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
    }

    /// Ends what there is of the session; our OPEN is due.
    fn begin_anew(&mut self, index: usize, place: usize) {
        self.end_session(index, place, Parting::Closed);
        let session = &self.links[index].sessions[place];
        let (hosted, peer) = (session.hosted, session.peer);
        self.facts.push_back(Fact::OpenDue { hosted, peer });
    }

    pub(super) fn on_close(&mut self, index: usize, handle: u32, reason: CloseReason, now: Time) {
        let link = &mut self.links[index];
        let name = link.name.clone();
        link.given_up.retain(|(_, ours)| *ours != handle);
        let Some(place) = link.sessions.iter().position(|s| s.ours == Some(handle)) else {
            return;
        };
        let session = &mut link.sessions[place];
        if session.is_up() {
            let (hosted, peer) = (session.hosted, session.peer);
            self.end_session(index, place, Parting::Closed);
            if reason == CloseReason::UnrelatedData {
                // A release that does not stay connected: at once it would refuse again.
                self.links[index].sessions[place].open_at = now + OPEN_RETRY;
                return;
            }
            // A peer that is only starting anew is met again at once, one that went down refuses.
            self.facts.push_back(Fact::OpenDue { hosted, peer });
            return;
        }
        session.ours = None;
        session.open_at = now + OPEN_RETRY;
        link.opens_from = link.opens_from.min(session.open_at);
        if session.refusal != Some(reason) {
            session.refusal = Some(reason);
            let scope = Scope { resource: &session.resource_name, peer: &name };
            log!(Warning, scope, "the peer refused the connection: {}", Unopened::said(reason));
        }
    }

    /// Takes a session down on this side: its handles are gone.
    fn end_session(&mut self, index: usize, place: usize, parting: Parting) {
        let link = &mut self.links[index];
        let session = &mut link.sessions[place];
        let handles = session.handles();
        link.opens_from = link.opens_from.min(session.open_at);
        if let Some(ours) = session.ours.take().filter(|_| handles.is_none()) {
            link.given_up.push((session.resource, ours));
        }
        let theirs = session.theirs.take();
        if let Some(handles) = session.former.take().or(handles) {
            let scope = Scope { resource: &session.resource_name, peer: &link.name };
            log!(Notice, scope, "disconnected");
            let (hosted, peer) = (session.hosted, session.peer);
            // Nothing follows a CLOSE, neither from here nor from there.
            link.actives.remove((hosted, peer));
            self.facts.push_back(Fact::Down { hosted, peer, handles, parting });
        }
        if let Some(Theirs { handle, set, .. }) = theirs {
            self.facts.push_back(Fact::Void { link: index, set, handle });
        }
    }

    /// What was agreed on over the former set does not hold; the resource does not hear of it yet.
    pub(super) fn suspend_sessions(&mut self, index: usize) {
        for session in &mut self.links[index].sessions {
            session.former = session.former.or_else(|| session.handles());
            session.ours = None;
            session.theirs = None;
        }
        self.links[index].given_up.clear();
    }

    pub(super) fn sessions_down(&mut self, index: usize) {
        for place in 0..self.links[index].sessions.len() {
            self.end_session(index, place, Parting::Broken);
        }
        self.links[index].given_up.clear();
    }

    /// Ends the session and starts it anew at once, or after its rest.
    pub(crate) fn reset(&mut self, hosted: HostedId, peer: NodeId) {
        self.close_session(hosted, peer);
        self.facts.push_back(Fact::OpenDue { hosted, peer });
    }

    /// The member misbehaves: it is met again, but not at once, for it may do the same for ever.
    pub(crate) fn let_rest(&mut self, hosted: HostedId, peer: NodeId, now: Time) {
        let Some(index) = self.link_of(hosted, peer) else { return };
        let Some(session) = self.links[index].session_mut(hosted, peer) else { return };
        session.rests_until = now + MISBEHAVED_REST;
        session.open_at = session.open_at.max(session.rests_until);
    }

    /// Keeps a member disconnected, or lets it connect again.
    pub(crate) fn hold(&mut self, hosted: HostedId, peer: NodeId, held: Held, kit: &mut Kit) {
        if held == Held::Yes {
            self.close_session(hosted, peer);
        }
        let Some(index) = self.link_of(hosted, peer) else { return };
        let Some(session) = self.links[index].session_mut(hosted, peer) else { return };
        session.held = held == Held::Yes;
        if held == Held::No {
            session.rests_until = kit.now;
            self.links[index].opens_from = kit.now;
            // The operator says that whatever was seen before was not this node.
            self.forget_start(index);
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
    }

    fn close_session(&mut self, hosted: HostedId, peer: NodeId) {
        let Some(index) = self.link_of(hosted, peer) else { return };
        let link = &mut self.links[index];
        let place = link.sessions.iter().position(|s| s.hosted == hosted && s.peer == peer);
        let place = place.expect("the link was found by this session");
        if let Some(theirs) = link.sessions[place].theirs {
            let home = link.sessions[place].home_at(link);
            let (handle, reason) = (theirs.handle, CloseReason::Down);
            link.push(home, LinkMessage::Close { handle, reason });
        }
        self.end_session(index, place, Parting::Closed);
    }

    /// Whether these are still the handles of the session.
    pub(crate) fn has_handles(&self, hosted: HostedId, peer: NodeId, handles: Handles) -> bool {
        let sessions = self.links.iter().flat_map(|link| &link.sessions);
        let mut mine = sessions.filter(|s| s.hosted == hosted && s.peer == peer);
        mine.any(|session| session.handles() == Some(handles))
    }

    /// The sessions of the resources that are meant, by resource and member.
    pub(crate) fn session_facts(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
    ) -> impl Iterator<Item = ((HostedId, NodeId), SessionFacts)> {
        let sessions = self.links.iter().flat_map(|link| &link.sessions);
        sessions.filter(move |session| is_meant(session.hosted)).map(|session| {
            let said = || session.refusal.map(Unopened::said);
            let refusal = session.turned_away.map(Unopened::TurnedAway).or_else(said);
            ((session.hosted, session.peer), SessionFacts { is_held: session.held, refusal })
        })
    }
}

/// A session as `status` shows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionFacts {
    /// The operator, or the core, wants no connection.
    pub(crate) is_held: bool,
    /// What the peer said when it refused this resource, or why this node refused the peer.
    pub(crate) refusal: Option<Unopened>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use format::ids::BootId;
    use stdx::random::Random;

    use super::*;
    use crate::links::Identity;

    const HOSTED: HostedId = HostedId(0);
    const RESOURCE: ResourceId = ResourceId(32);
    const NOW: Time = Time::ZERO;

    /// One end of a link that is up, and the resource on it.
    struct End {
        links: Links,
        me: NodeId,
        peer: NodeId,
        /// By our handle: those of the peer that this end was connected with by it.
        partners: BTreeMap<u32, u32>,
        opens: usize,
        now: Time,
    }

    impl End {
        fn new(me: u8, peer: u8) -> Self {
            let name = format!("node{me}");
            let identity = Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 };
            let mut links = Links::new(identity, 0);
            let mut link = Link::new(format!("node{peer}"), NOW);
            link.is_up = true;
            link.set = 1;
            // Of two ends no two handles are the same.
            link.next_handle = 1 + 1_000_000 * u32::from(me);
            links.links.push(link);
            let (me, peer) = (NodeId::new(me).unwrap(), NodeId::new(peer).unwrap());
            let mut end = Self { links, me, peer, partners: BTreeMap::new(), opens: 0, now: NOW };
            end.begin();
            end
        }

        fn begin(&mut self) {
            let resource_name = "r0".to_owned();
            let (hosted, resource, me, peer) = (HOSTED, RESOURCE, self.me, self.peer);
            let new = NewSession { hosted, resource, resource_name, me, peer, secret: None };
            self.links.add_session(0, new, NOW);
        }

        fn hold(&mut self, held: Held) {
            if held == Held::Yes {
                self.links.close_session(HOSTED, self.peer);
            }
            self.links.links[0].sessions[0].held = held == Held::Yes;
            if held == Held::No {
                let (hosted, peer) = (HOSTED, self.peer);
                self.links.facts.push_back(Fact::OpenDue { hosted, peer });
            }
        }

        /// Whether there was something to do for the resource.
        fn hear(&mut self) -> bool {
            match self.links.pop_fact() {
                Some(Fact::OpenDue { hosted, peer }) => {
                    self.links.open(hosted, peer, None, self.now);
                }
                Some(Fact::Void { link, handle, .. }) => {
                    self.links.links[link].opened.settle(handle);
                }
                Some(Fact::Up { handles, .. }) => {
                    self.links.links[0].opened.settle(handles.theirs);
                    let before = self.partners.insert(handles.ours, handles.theirs);
                    assert_eq!(before, None, "a handle of ours leads to one session");
                }
                Some(_) => {}
                None => return false,
            }
            true
        }

        /// The next message arrives at the other end.
        fn deliver(&mut self, to: &mut End) -> bool {
            let Some(queued) = self.links.links[0].pipe_mut(0).queue.pop_front() else {
                return false;
            };
            match queued.message {
                Message::Link(LinkMessage::Open(open)) => {
                    self.opens += 1;
                    to.links.on_open(Way { link: 0, shard: 0 }, &open, to.now);
                }
                Message::Link(LinkMessage::Close { handle, reason }) => {
                    to.links.on_close(0, handle, reason, to.now);
                }
                Message::Link(_) | Message::Resource(_) => panic!("only sessions are spoken of"),
            }
            true
        }

        fn retry(&mut self) {
            self.links.retry_opens(0, self.now + OPEN_RETRY * 2);
        }

        fn handles(&self) -> Option<Handles> {
            self.links.links[0].sessions[0].handles()
        }
    }

    /// What was on its way arrives, and what follows from it, until nothing does.
    fn settle(one: &mut End, other: &mut End) {
        for _ in 0..4 {
            let mut steps = 0;
            while one.hear() || other.hear() || one.deliver(other) || other.deliver(one) {
                steps += 1;
                assert!(steps < 100, "they begin anew for ever");
            }
            one.retry();
            other.retry();
        }
    }

    /// Connected, and no frame of one session was ever taken for one of another.
    fn check(one: &End, other: &End) {
        let handles = one.handles().expect("connected");
        let there = other.handles().expect("connected");
        assert_eq!((handles.ours, handles.theirs), (there.theirs, there.ours));
        for end in [one, other] {
            assert!(
                end.links.links[0].opened.unsettled.is_empty(),
                "a handle is not accounted for"
            );
        }
        for (ours, theirs) in &one.partners {
            let seen = other.partners.get(theirs).unwrap_or(ours);
            assert_eq!(seen, ours, "{theirs} was sent to one session, and taken by another");
        }
    }

    #[test]
    fn opens_that_cross_one_given_up_end() {
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        one.hear();
        other.hear();
        one.links.reset(HOSTED, one.peer);
        settle(&mut one, &mut other);
        check(&one, &other);
        assert!(one.opens + other.opens <= 5, "{} and {} OPENs", one.opens, other.opens);
    }

    /// A peer that opened and closed sessions for hours ended the daemon: a number overflowed.
    #[test]
    fn session_after_the_last_handle_begins_with_a_new_set() {
        let mut kit = Kit::of_lone_shard();
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        one.links.links[0].next_handle = u32::MAX / 16;
        settle(&mut one, &mut other);
        check(&one, &other);
        assert_eq!(one.handles().unwrap().ours, u32::MAX - 15, "the last one");
        one.links.reset(HOSTED, one.peer);
        settle(&mut one, &mut other);
        assert_eq!(one.handles(), None, "no handle is left");
        one.links.tick_connected(0, &mut kit);
        let link = &mut one.links.links[0];
        assert!(!link.is_up && link.set > 1, "the set ends");
        link.is_up = true;
        one.links.sessions_due(0, NOW);
        while one.hear() {}
        assert_eq!(one.links.links[0].sessions[0].ours, Some(16), "they begin anew");
    }

    /// A member that misbehaves was met again at once, as often as messages travel in a second.
    #[test]
    fn who_misbehaved_is_met_again_after_a_rest() {
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        settle(&mut one, &mut other);
        one.links.let_rest(HOSTED, one.peer, NOW);
        one.links.reset(HOSTED, one.peer);
        settle(&mut one, &mut other);
        assert_eq!((one.handles(), other.handles()), (None, None));
        one.links.sessions_due(0, NOW);
        settle(&mut one, &mut other);
        assert_eq!(one.handles(), None, "nor over another connection");
        assert_eq!(one.opens, 1, "and it is not asked");
        for end in [&mut one, &mut other] {
            end.now = NOW + MISBEHAVED_REST;
        }
        settle(&mut one, &mut other);
        check(&one, &other);
    }

    #[test]
    fn who_misbehaved_is_met_at_once_where_the_operator_says_so() {
        let mut kit = Kit::of_lone_shard();
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        settle(&mut one, &mut other);
        one.links.let_rest(HOSTED, one.peer, NOW);
        one.links.reset(HOSTED, one.peer);
        settle(&mut one, &mut other);
        one.links.hold(HOSTED, one.peer, Held::No, &mut kit);
        settle(&mut one, &mut other);
        check(&one, &other);
    }

    /// It would be taken behind the end, for the peer takes what arrives in order.
    #[test]
    fn nothing_follows_a_close() {
        let mut kit = Kit::of_lone_shard();
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        settle(&mut one, &mut other);
        let handles = one.handles().unwrap();
        one.links.connect(0, (HOSTED, one.peer), handles, &mut kit);
        let route = |end: &End| end.links.route(0, (HOSTED, end.peer), |_| 0);
        assert!(route(&one).is_some());
        one.links.reset(HOSTED, one.peer);
        assert!(route(&one).is_none());
    }

    #[test]
    fn second_open_without_a_close_ends_what_was_up() {
        let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
        settle(&mut one, &mut other);
        let before = one.handles();
        let link = &mut other.links.links[0];
        (link.sessions[0].ours, link.sessions[0].theirs) = (None, None);
        link.opens_from = NOW;
        other.retry();
        settle(&mut one, &mut other);
        assert_ne!(one.handles(), before);
        check(&one, &other);
    }

    #[test]
    fn what_answers_an_open_given_up_is_not_of_the_next() {
        for seed in 0..2_000 {
            let mut random = Random::new(seed);
            let (mut one, mut other) = (End::new(0, 1), End::new(1, 0));
            for _ in 0..random.below(40) {
                let (this, that) = if random.chance(1, 2) {
                    (&mut one, &mut other)
                } else {
                    (&mut other, &mut one)
                };
                match random.below(12) {
                    0 => this.links.reset(HOSTED, this.peer),
                    1 => this.hold(Held::Yes),
                    2 => this.hold(Held::No),
                    3 => {
                        this.links.remove_sessions(HOSTED);
                        this.begin();
                    }
                    4 => this.retry(),
                    5..=7 => drop(this.hear()),
                    _ => drop(this.deliver(that)),
                }
            }
            one.hold(Held::No);
            other.hold(Held::No);
            settle(&mut one, &mut other);
            check(&one, &other);
        }
    }
}
