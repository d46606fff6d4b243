//! Sessions: a resource on a link, open when both sides sent OPEN.
//!
//! Every message of a resource carries the handle of its sender's OPEN. Handles are never used
//! twice: a message of an earlier session names a handle that is gone, and is dropped. CLOSE names
//! the handle of its receiver's OPEN and ends the session on both sides; what the peer sent
//! before it saw our CLOSE is dropped likewise.

use format::frame::Message;
use format::ids::{NodeId, ResourceId};
use format::message::{CloseReason, LinkMessage, Open, ReplicaReport};
use replication::contract::PeerReport;
use stdx::time::Time;

use crate::limits::OPEN_RETRY;
use crate::links::paths::PeerPaths;
use crate::links::{Fact, HostedId, Link, Links, Queued};
use crate::log::{Scope, log};
use crate::payloads::Kit;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) hosted: HostedId,
    pub(super) resource: ResourceId,
    pub(super) resource_name: String,
    pub(super) me: NodeId,
    pub(super) peer: NodeId,
    paths: PeerPaths,
    /// Handle of our OPEN, while the peer did not close it.
    pub(super) ours: Option<u32>,
    theirs: Option<Theirs>,
    /// Our OPEN is not sent (again) before.
    open_at: Time,
    /// The operator, or the core, wants no connection.
    held: bool,
    /// Why the peer refused, as it was logged.
    refusal: Option<CloseReason>,
}

#[derive(Clone, Copy, Debug)]
struct Theirs {
    handle: u32,
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
    pub(crate) paths: PeerPaths,
}

/// Where a message of a resource goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) link: usize,
    pub(crate) handle: u32,
}

impl Session {
    pub(super) fn is_up(&self) -> bool {
        self.ours.is_some() && self.theirs.is_some()
    }
}

impl Link {
    pub(super) fn session_of_their_handle(&self, handle: u32) -> Option<&Session> {
        self.sessions.iter().find(|s| s.theirs.is_some_and(|theirs| theirs.handle == handle))
    }

    fn session_mut(&mut self, hosted: HostedId, peer: NodeId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|s| s.hosted == hosted && s.peer == peer)
    }

    pub(super) fn push(&mut self, message: LinkMessage) {
        self.queue.push_back(Queued { handle: 0, message: Message::Link(message), payload: None });
    }
}

impl Links {
    /// Makes a resource's member known, and connects to it. Returns the number of its link.
    pub(crate) fn add_session(&mut self, new: NewSession, now: Time) -> usize {
        let index = self.link_for(&new.paths, now);
        let is_up = self.link_is_up(index);
        self.links[index].sessions.push(Session {
            hosted: new.hosted,
            resource: new.resource,
            resource_name: new.resource_name,
            me: new.me,
            peer: new.peer,
            paths: new.paths,
            ours: None,
            theirs: None,
            open_at: now,
            held: false,
            refusal: None,
        });
        if is_up {
            self.facts.push_back(Fact::OpenDue { hosted: new.hosted, peer: new.peer });
        }
        index
    }

    /// Forgets a resource's members; the last one of a link takes the connection with it.
    pub(crate) fn remove_sessions(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.links.len() {
            while let Some(place) =
                self.links[index].sessions.iter().position(|s| s.hosted == hosted)
            {
                let session = self.links[index].sessions.swap_remove(place);
                if let Some(theirs) = session.theirs {
                    let reason = CloseReason::Down;
                    self.links[index].push(LinkMessage::Close { handle: theirs.handle, reason });
                }
                self.drop_targets(index, &session.paths);
            }
            if self.links[index].sessions.is_empty()
                && let Some(key) = self.links[index].connection
            {
                self.close_connection(key, "no resource is left", kit);
            }
        }
    }

    fn link_is_up(&self, index: usize) -> bool {
        let connection = self.links[index].connection.and_then(|key| self.connections.get(key));
        connection.is_some_and(|c| c.is_up())
    }

    /// The connection of a link came up: every resource is to be opened.
    pub(super) fn sessions_due(&mut self, index: usize, now: Time) {
        for session in &mut self.links[index].sessions {
            session.open_at = now;
            if !session.held {
                let (hosted, peer) = (session.hosted, session.peer);
                self.facts.push_back(Fact::OpenDue { hosted, peer });
            }
        }
    }

    pub(super) fn retry_opens(&mut self, index: usize, now: Time) -> Time {
        let mut next = Time::NEVER;
        for session in &mut self.links[index].sessions {
            if session.ours.is_some() || session.held {
                continue;
            }
            if now >= session.open_at {
                session.open_at = now + OPEN_RETRY;
                let (hosted, peer) = (session.hosted, session.peer);
                self.facts.push_back(Fact::OpenDue { hosted, peer });
            }
            next = next.min(session.open_at);
        }
        next
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
        if !self.link_is_up(index) {
            return;
        }
        let handle = self.next_handle;
        let link = &mut self.links[index];
        let Some(session) = link.session_mut(hosted, peer) else { return };
        if session.ours.is_some() || session.held {
            return;
        }
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
        self.next_handle += 1;
        link.push(LinkMessage::Open(open));
        self.note_up(index, hosted, peer);
    }

    fn link_of(&self, hosted: HostedId, peer: NodeId) -> Option<usize> {
        self.links
            .iter()
            .position(|link| link.sessions.iter().any(|s| s.hosted == hosted && s.peer == peer))
    }

    fn note_up(&mut self, index: usize, hosted: HostedId, peer: NodeId) {
        let link = &mut self.links[index];
        let boot_id = link.boot_id.unwrap_or_default();
        let shards = link.peer_shards;
        let name = link.name.clone();
        let Some(session) = link.session_mut(hosted, peer) else { return };
        let Some(theirs) = session.theirs.filter(|_| session.ours.is_some()) else { return };
        session.refusal = None;
        let scope = Scope { resource: &session.resource_name, peer: &name };
        log!(Notice, scope, "connected");
        let report = PeerReport { boot_id, shards, replica: theirs.replica };
        self.facts.push_back(Fact::Up { hosted, peer, report });
    }

    pub(super) fn on_open(&mut self, index: usize, open: &Open) {
        let link = &mut self.links[index];
        let name = link.name.clone();
        let place = link.sessions.iter().position(|s| s.resource == open.resource);
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
            Some(session) if session.held => Some(CloseReason::Down),
            Some(_) => None,
        };
        if let Some(reason) = refusal {
            link.push(LinkMessage::Close { handle: open.handle, reason });
            return;
        }
        let place = place.expect("a session that was not refused");
        let session = &link.sessions[place];
        let (hosted, peer) = (session.hosted, session.peer);
        if session.is_up() {
            // The peer began anew without a word: so does this side.
            self.end_session(index, place);
        }
        let session = &mut self.links[index].sessions[place];
        session.theirs = Some(Theirs { handle: open.handle, replica: open.replica });
        if session.ours.is_some() {
            self.note_up(index, hosted, peer);
        } else {
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
    }

    pub(super) fn on_close(&mut self, index: usize, handle: u32, reason: CloseReason, now: Time) {
        let link = &mut self.links[index];
        let name = link.name.clone();
        let Some(place) = link.sessions.iter().position(|s| s.ours == Some(handle)) else {
            return;
        };
        let session = &mut link.sessions[place];
        if session.is_up() {
            let (hosted, peer) = (session.hosted, session.peer);
            self.end_session(index, place);
            // A peer that is only starting anew is met again at once, one that went down refuses.
            self.facts.push_back(Fact::OpenDue { hosted, peer });
            return;
        }
        session.ours = None;
        session.open_at = now + OPEN_RETRY;
        if session.refusal != Some(reason) {
            session.refusal = Some(reason);
            let scope = Scope { resource: &session.resource_name, peer: &name };
            log!(Warning, scope, "the peer refused the connection: {}", refusal_text(reason));
        }
    }

    /// Takes a session down on this side: its handles are gone.
    fn end_session(&mut self, index: usize, place: usize) {
        let link = &mut self.links[index];
        let session = &mut link.sessions[place];
        let was_up = session.is_up();
        session.ours = None;
        session.theirs = None;
        if was_up {
            let scope = Scope { resource: &session.resource_name, peer: &link.name };
            log!(Notice, scope, "disconnected");
            let (hosted, peer) = (session.hosted, session.peer);
            self.facts.push_back(Fact::Down { hosted, peer });
        }
    }

    pub(super) fn sessions_down(&mut self, index: usize) {
        for place in 0..self.links[index].sessions.len() {
            self.end_session(index, place);
        }
    }

    /// Ends the session and starts it anew at once.
    pub(crate) fn reset(&mut self, hosted: HostedId, peer: NodeId) {
        self.close_session(hosted, peer, CloseReason::Down);
        self.facts.push_back(Fact::OpenDue { hosted, peer });
    }

    /// Ends the session, to be tried again after a while.
    pub(crate) fn refuse(
        &mut self,
        hosted: HostedId,
        peer: NodeId,
        reason: CloseReason,
        now: Time,
    ) {
        self.close_session(hosted, peer, reason);
        if let Some(index) = self.link_of(hosted, peer)
            && let Some(session) = self.links[index].session_mut(hosted, peer)
        {
            session.open_at = now + OPEN_RETRY;
        }
    }

    /// Keeps a member disconnected, or lets it connect again.
    pub(crate) fn hold(&mut self, hosted: HostedId, peer: NodeId, held: Held) {
        if held == Held::Yes {
            self.close_session(hosted, peer, CloseReason::Down);
        }
        let Some(index) = self.link_of(hosted, peer) else { return };
        let Some(session) = self.links[index].session_mut(hosted, peer) else { return };
        session.held = held == Held::Yes;
        if held == Held::No {
            let link = &mut self.links[index];
            if link.connection.is_none() {
                // The operator says that whatever was seen before was not this node.
                link.start_count = 0;
            }
            self.facts.push_back(Fact::OpenDue { hosted, peer });
        }
    }

    fn close_session(&mut self, hosted: HostedId, peer: NodeId, reason: CloseReason) {
        let Some(index) = self.link_of(hosted, peer) else { return };
        let link = &mut self.links[index];
        let place = link.sessions.iter().position(|s| s.hosted == hosted && s.peer == peer);
        let place = place.expect("the link was found by this session");
        if let Some(theirs) = link.sessions[place].theirs {
            link.push(LinkMessage::Close { handle: theirs.handle, reason });
        }
        self.end_session(index, place);
    }

    /// Where messages to this member go, while it is connected.
    pub(crate) fn route(&self, link: usize, hosted: HostedId, peer: NodeId) -> Option<Route> {
        let sessions = &self.links.get(link)?.sessions;
        let session = sessions.iter().find(|s| s.hosted == hosted && s.peer == peer)?;
        let handle = session.ours.filter(|_| session.is_up())?;
        Some(Route { link, handle })
    }

    /// Whom a message of the peer is for, and from.
    pub(crate) fn session_of_handle(
        &self,
        index: usize,
        handle: u32,
    ) -> Option<(HostedId, NodeId)> {
        let session = self.links[index].session_of_their_handle(handle)?;
        session.is_up().then_some((session.hosted, session.peer))
    }

    /// What the peer said when it refused this resource.
    pub(crate) fn refusal(&self, hosted: HostedId, peer: NodeId) -> Option<&'static str> {
        let index = self.link_of(hosted, peer)?;
        let session =
            self.links[index].sessions.iter().find(|s| s.hosted == hosted && s.peer == peer)?;
        session.refusal.map(refusal_text)
    }

    pub(crate) fn is_held(&self, hosted: HostedId, peer: NodeId) -> bool {
        self.link_of(hosted, peer).is_some_and(|index| {
            self.links[index]
                .sessions
                .iter()
                .any(|s| s.hosted == hosted && s.peer == peer && s.held)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Yes,
    No,
}

fn refusal_text(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::UnknownResource => "it does not have this resource; bring it up there",
        CloseReason::NodeIdMismatch => {
            "the node ids differ; compare the node-id lines of both configurations"
        }
        CloseReason::UnrelatedData => "its data has another history",
        CloseReason::SizeTooSmall => "the disks differ in size",
        CloseReason::Down => "the resource is down or disconnected there",
    }
}
