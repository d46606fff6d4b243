//! What other shards say, and the fence that keeps a resource's machine in step with its parts.
//!
//! The home broadcasts what it decides to the parts on other shards; each answers every message
//! once it has applied it. What the machine says to the outside after such a decision waits until
//! all parts have: so nobody hears of a session's end while a part still answers reads of it, of
//! a role before the lanes have it, or of a connection that some shard does not know yet.
//!
//! ```text
//! home     StandDown ->-+          LeaseRelease (waits) ............ sent to the voters
//! part 1                +-> applied ->-+                             ^
//! part 2                +-> applied ----+----------------------------+
//! ```
//!
//! With one shard there is no part elsewhere, and nothing waits.

use std::collections::VecDeque;

use format::ids::NodeId;
use replication::contract::{
    GroupInput, Parting, PeerReport, Request, RequestKind, ResourceAction, ResourceInput, ToGroup,
};

use crate::contract::{Change, Cross, FromPart, Hosting, ToPart};
use crate::hosted_id::HostedId;
use crate::limits::SHARDS_MAX;
use crate::links::Handles;
use crate::placement;
use crate::shard::demand::Answered;
use crate::shard::{Input, Shard};

/// What has effects outside of this node, in order.
#[derive(Debug)]
pub(super) enum Effect {
    /// The parts may be told of a connection: they have all heard of the end of the one before.
    Connect {
        peer: NodeId,
        handles: Handles,
        report: PeerReport,
    },
    /// All of them were.
    Connected {
        peer: NodeId,
        handles: Handles,
        report: PeerReport,
    },
    Disconnected {
        peer: NodeId,
        parting: Parting,
    },
    Action(ResourceAction),
}

/// Which effects wait for which broadcast.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// Broadcasts so far, and how many of them each shard has applied.
    told: u64,
    applied: [u64; SHARDS_MAX as usize],
    waiting: VecDeque<(u64, Effect)>,
}

impl Fence {
    /// One more message goes to all other shards.
    pub(super) fn has_told(&mut self) {
        self.told += 1;
    }

    fn is_reached(&self, fence: u64, mut others: impl Iterator<Item = u8>) -> bool {
        others.all(|shard| self.applied[usize::from(shard)] >= fence)
    }

    /// True if this connection is one that nobody was told of yet.
    fn withdraw_connect(&mut self, of: NodeId, its: Handles) -> bool {
        let place = self.waiting.iter().position(|(_, effect)| {
            let Effect::Connect { peer, handles, .. } = effect else { return false };
            (*peer, *handles) == (of, its)
        });
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }
}

impl Shard {
    pub(super) fn on_cross(&mut self, from: u8, message: Cross) {
        match message {
            Cross::Request { hosted, request, loan } => self.on_request(hosted, request, loan),
            Cross::Complete { part, result } => {
                let kit = &mut self.rim.kit;
                let result = result.map(|loan| loan.map(|loan| kit.borrow(loan)));
                self.rim.complete(part, result);
            }
            Cross::Returned(loan) => self.rim.kit.take_back(loan),
            Cross::Allocation { hosted, request, range } => {
                self.on_allocation_of(from, hosted, request, range);
            }
            Cross::Allocated { request, extents } => {
                self.rim.nbd.tell_allocation(request, &extents, &mut self.rim.kit);
            }
            Cross::Client(socket, secrecy) => {
                self.rim.nbd.on_passed(socket, secrecy, &mut self.rim.kit);
            }
            Cross::Link(news) => self.rim.links.on_news(from, *news, &mut self.rim.kit),
            Cross::ToPart(id, message) => {
                self.on_to_part(id, message);
                self.rim.tell(from, Cross::FromPart(id, FromPart::Applied));
            }
            Cross::FromPart(id, message) => self.on_from_part(from, id, message),
            Cross::Hosting(id, Hosting::Host(new)) => {
                let hosted = self.host_part(id, *new).map_err(Box::new);
                self.rim.tell(from, Cross::FromPart(id, FromPart::Hosted(hosted)));
            }
            Cross::Hosting(id, Hosting::Remove) => {
                self.remove_part(id);
                self.rim.tell(from, Cross::FromPart(id, FromPart::Removed));
            }
        }
    }

    // ---- Requests of clients.

    /// Hands a part of a client's request to the shard of its lane.
    pub(super) fn submit(&mut self, hosted: HostedId, request: Request) {
        let shard = self.shard_of(hosted, request.offset);
        let is_here = shard == self.rim.mesh.me();
        let is_for_members = is_here && request.kind != RequestKind::Read;
        self.demand.on_request(if is_for_members {
            Answered::ByMembers
        } else {
            Answered::Otherwise
        });
        if is_here {
            self.rim.inbox.push_back((hosted, Input::Group(GroupInput::Request(request))));
            return;
        }
        let loan = match request.kind {
            RequestKind::Write { payload, .. } => Some(self.rim.kit.lend(payload)),
            RequestKind::Read | RequestKind::Discard { .. } | RequestKind::Zeroes { .. } => None,
        };
        self.rim.tell(shard, Cross::Request { hosted, request, loan });
    }

    fn shard_of(&self, hosted: HostedId, offset: u64) -> u8 {
        let mesh = &self.rim.mesh;
        match self.part(hosted) {
            Some(part) if !mesh.is_alone() => {
                placement::shard_of_offset(offset, part.lanes, mesh.shards())
            }
            Some(_) | None => mesh.me(),
        }
    }

    fn on_request(&mut self, hosted: HostedId, mut request: Request, loan: Option<io::Loan>) {
        if let (RequestKind::Write { payload, .. }, Some(loan)) = (&mut request.kind, loan) {
            *payload = self.rim.kit.borrow(loan);
        }
        self.rim.inbox.push_back((hosted, Input::Group(GroupInput::Request(request))));
    }

    // ---- As a part.

    fn on_to_part(&mut self, id: HostedId, message: ToPart) {
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        let rim = &mut self.rim;
        let kit = &mut rim.kit;
        match message {
            ToPart::Group(message) => {
                rim.inbox.push_back((id, Input::Group(GroupInput::Home(*message))));
            }
            ToPart::Lease { until } => {
                let message = ToGroup::Lease { until };
                rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
            }
            ToPart::Connected { peer, handles } => {
                rim.inbox.push_back((id, Input::Group(GroupInput::PeerUp { peer })));
                if let Some(link) = part.peer(peer).map(|peer| peer.link) {
                    rim.links.connect(link, (id, peer), handles, kit);
                }
            }
            ToPart::Disconnected { peer, handles } => {
                rim.links.disconnect((id, peer), handles);
                // What arrived over it is taken before: nothing of it follows the end.
                self.take_facts();
                self.rim.inbox.push_back((id, Input::Group(GroupInput::PeerDown { peer })));
            }
            ToPart::Redefine(definition) => self.redefine_part(id, &definition),
            ToPart::Forget { peer } => self.forget_peer_of_part(id, peer),
            ToPart::CloseDisk => {
                part.close_disk(rim);
                part.is_closing = true;
                self.finish_closing(id);
            }
            ToPart::Attach { disk, group, round } => self.on_part_attach(id, *disk, group, round),
            ToPart::AddVolume(further) => self.on_part_add_volume(id, *further),
            ToPart::Offer(offer) => rim.nbd.offer(*offer),
            ToPart::Path(subsystem) => rim.offer_path(id, *subsystem),
            ToPart::Withdraw => rim.withdraw(id),
            ToPart::Admit(exports) => rim.admit(id, &exports),
            ToPart::Refuse(reason) => rim.refuse(id, &reason),
            ToPart::Bar(reason) => rim.bar(id, &reason),
            ToPart::EndSessions(reason) => rim.end_sessions(id, &reason),
        }
    }

    /// Tells the home of a resource that a client came, or left.
    pub(super) fn report_clients(&mut self, id: HostedId, change: Change) {
        let home = self.home_of(id);
        if home == self.rim.mesh.me() {
            match change {
                Change::Wanted(by) => self.on_wanted(id, by),
                Change::Left => self.on_left(id),
            }
            return;
        }
        let count = u32::try_from(self.rim.clients_of(id)).unwrap_or(u32::MAX);
        let message = Cross::FromPart(id, FromPart::Clients { count, change });
        self.rim.tell(home, message);
    }

    /// The home shard of a resource, which numbered it.
    pub(super) fn home_of(&self, id: HostedId) -> u8 {
        let shards = u32::from(self.rim.mesh.shards());
        u8::try_from(id.0 % shards).expect("below the number of shards")
    }

    // ---- As the home.

    fn on_from_part(&mut self, from: u8, id: HostedId, message: FromPart) {
        let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        match message {
            FromPart::Hosted(result) => self.on_part_hosted(id, result.map_err(|it| *it)),
            FromPart::Removed => self.on_part_removed(id),
            FromPart::Applied => {
                if let Some(hosted) = hosted {
                    hosted.fence.applied[usize::from(from)] += 1;
                    self.run_effects(id);
                }
            }
            FromPart::Fact(fact) => {
                let input = ResourceInput::Group { shard: from, fact: *fact };
                self.rim.inbox.push_back((id, Input::Resource(input)));
            }
            FromPart::DiskClosed => {
                if let Some(hosted) = hosted {
                    hosted.closing[usize::from(from)] = false;
                }
            }
            FromPart::Clients { count, change } => {
                let Some(hosted) = hosted else { return };
                hosted.clients_elsewhere[usize::from(from)] = count;
                match change {
                    Change::Wanted(by) => self.on_wanted(id, by),
                    Change::Left => self.on_left(id),
                }
            }
        }
    }

    /// Tells the parts on the other shards.
    pub(super) fn broadcast(&mut self, id: HostedId, message: impl Fn() -> ToPart) {
        let rim = &mut self.rim;
        if rim.mesh.is_alone() {
            return;
        }
        if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) {
            hosted.fence.has_told();
            for shard in rim.mesh.others() {
                rim.tell(shard, Cross::ToPart(id, message()));
            }
        }
    }

    /// To the groups of all shards.
    pub(super) fn tell_groups(&mut self, id: HostedId, message: ToGroup) {
        let shards = u64::from(self.rim.mesh.shards());
        let message = if let ToGroup::ResyncRate { bytes_per_second } = message {
            // Each shard copies its own lanes: together they keep to the rate.
            ToGroup::ResyncRate { bytes_per_second: bytes_per_second.div_ceil(shards) }
        } else {
            message
        };
        self.broadcast(id, || {
            if let ToGroup::Lease { until } = message {
                ToPart::Lease { until }
            } else {
                ToPart::Group(Box::new(message.clone()))
            }
        });
        self.rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
    }

    /// Has an effect once all parts have applied what was broadcast before it.
    pub(super) fn after_parts(&mut self, id: HostedId, effect: Effect) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        let fence = &mut hosted.fence;
        if fence.waiting.is_empty() && fence.is_reached(fence.told, self.rim.mesh.others()) {
            self.take_effect(id, effect);
        } else {
            fence.waiting.push_back((fence.told, effect));
        }
    }

    /// The same, ahead of what waits already.
    fn after_parts_first(&mut self, id: HostedId, effect: Effect) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        let fence = &mut hosted.fence;
        if fence.is_reached(fence.told, self.rim.mesh.others()) {
            self.take_effect(id, effect);
        } else {
            fence.waiting.push_front((fence.told, effect));
        }
    }

    /// A connection ended before anybody was told of it, which nobody is now.
    pub(super) fn was_not_told(&mut self, id: HostedId, peer: NodeId, handles: Handles) -> bool {
        let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        hosted.is_some_and(|hosted| hosted.fence.withdraw_connect(peer, handles))
    }

    fn run_effects(&mut self, id: HostedId) {
        while let Some(effect) = self.next_effect(id) {
            self.take_effect(id, effect);
        }
    }

    fn next_effect(&mut self, id: HostedId) -> Option<Effect> {
        let fence = &mut self.hosted.get_mut(id.0 as usize)?.as_mut()?.fence;
        let (reached_at, _) = fence.waiting.front()?;
        if !fence.is_reached(*reached_at, self.rim.mesh.others()) {
            return None;
        }
        fence.waiting.pop_front().map(|(_, effect)| effect)
    }

    fn take_effect(&mut self, id: HostedId, effect: Effect) {
        match effect {
            Effect::Connect { peer, handles, report } => {
                self.broadcast(id, || ToPart::Connected { peer, handles });
                self.after_parts_first(id, Effect::Connected { peer, handles, report });
            }
            Effect::Connected { peer, handles, report } => {
                let link = self.part(id).and_then(|part| part.peer(peer)).map(|peer| peer.link);
                let rim = &mut self.rim;
                rim.inbox.push_back((id, Input::Group(GroupInput::PeerUp { peer })));
                let input = ResourceInput::Connected { peer, report: Box::new(report) };
                rim.inbox.push_back((id, Input::Resource(input)));
                // A session that ended meanwhile leads nowhere; the machine hears so next.
                if let Some(link) = link.filter(|_| rim.links.has_handles(id, peer, handles)) {
                    rim.links.connect(link, (id, peer), handles, &mut rim.kit);
                    rim.links.settle(link, handles.set, handles.theirs, &mut rim.kit);
                }
            }
            Effect::Disconnected { peer, parting } => {
                let rim = &mut self.rim;
                rim.inbox.push_back((id, Input::Group(GroupInput::PeerDown { peer })));
                let input = ResourceInput::Disconnected { peer, parting };
                rim.inbox.push_back((id, Input::Resource(input)));
            }
            Effect::Action(action) => {
                self.perform_action(id, action);
                // The way of initiators follows what was under way until now.
                self.look_at_path(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use format::ids::BootId;

    use super::*;

    fn connect(peer: u8, theirs: u32) -> Effect {
        let handles = Handles { ours: 16, theirs, set: 1 };
        let report = PeerReport { boot_id: BootId(1), shards: 2, features: 0, replica: None };
        Effect::Connect { peer: NodeId::new(peer).unwrap(), handles, report }
    }

    /// The parts would hear of the end first, and keep what is told to them after it for ever.
    #[test]
    fn nobody_hears_of_a_connection_after_its_end() {
        let mut fence = Fence::default();
        let peer = NodeId::new(1).unwrap();
        fence.waiting.extend([connect(1, 16), connect(2, 32), connect(1, 48)].map(|it| (7, it)));
        let handles = Handles { ours: 16, theirs: 48, set: 1 };
        assert!(fence.withdraw_connect(peer, handles));
        assert!(!fence.withdraw_connect(peer, handles), "it is gone");
        assert_eq!(fence.waiting.len(), 2);
        let told = Effect::Connected {
            peer,
            handles,
            report: PeerReport { boot_id: BootId(1), shards: 2, features: 0, replica: None },
        };
        fence.waiting.push_back((8, told));
        assert!(
            !fence.withdraw_connect(peer, handles),
            "the parts know of it, and hear of its end"
        );
    }
}
