//! What other shards say: requests and answers, and what a resource's home and its parts on other
//! shards tell each other.

use replication::contract::{GroupInput, ResourceInput, ToGroup};

use crate::contract::{Change, Cross, FromPart, Hosting, ToPart};
use crate::hosted_id::HostedId;
use crate::shard::{Input, Shard};

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
                    hosted.fence.has_applied(from);
                    self.run_effects(id);
                }
            }
            FromPart::Fact(fact) => {
                let input = ResourceInput::Group { shard: from, fact: *fact };
                self.rim.inbox.push_back((id, Input::Resource(input)));
            }
            FromPart::DiskFailed(trouble) => {
                if let Some(hosted) = hosted {
                    hosted.trouble_elsewhere.get_or_insert(trouble);
                }
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
}
