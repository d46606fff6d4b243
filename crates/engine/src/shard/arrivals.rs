//! What links and clients report, translated into inputs of the machines.

use format::ids::NodeId;
use format::message::{DataBody, DiskFailed, ResourceMessage};
use replication::contract::{GroupAction, GroupInput, ResourceInput};

use crate::clients::fact::Fact as ClientFact;
use crate::contract::{Change, ToPart};
use crate::hosted_id::HostedId;
use crate::links;
use crate::shard::disk::payload_of;
use crate::shard::fence::Effect;
use crate::shard::hosted::{DiskFailedThere, Peer};
use crate::shard::{Input, Rim, Shard, Starved};

impl Shard {
    /// Takes over all facts of links and clients, each in order. Nearly always there is none: that
    /// is asked after every event and every step.
    #[inline]
    pub(super) fn take_facts(&mut self) {
        if self.rim.has_fact() {
            self.take_each_fact();
        }
    }

    /// Apart, or each question would save and restore what this one needs.
    #[inline(never)]
    fn take_each_fact(&mut self) {
        while let Some(fact) = self.rim.links.pop_fact() {
            self.on_link_fact(fact);
        }
        while let Some(fact) = self.rim.pop_client_fact() {
            match fact {
                ClientFact::Request { hosted, request } => self.submit(hosted, request),
                ClientFact::Flush { hosted, part } => {
                    self.rim.inbox.push_back((hosted, Input::Group(GroupInput::Flush(part))));
                }
                ClientFact::Allocation { hosted, request, offset, length } => {
                    self.on_allocation(hosted, request, offset..offset + length);
                }
                ClientFact::Wanted { hosted, by } => {
                    self.report_clients(hosted, Change::Wanted(by));
                }
                ClientFact::Left { hosted } => self.report_clients(hosted, Change::Left),
            }
        }
        while let Some((hosted, input)) = self.rim.ublk.pop_fact() {
            if let GroupInput::Request(request) = input {
                self.submit(hosted, request);
            } else {
                self.rim.inbox.push_back((hosted, Input::Group(input)));
            }
        }
    }

    fn on_link_fact(&mut self, fact: links::Fact) {
        if let links::Fact::Message { hosted, from, message, .. } = &fact
            && let ResourceMessage::Data(message) = message
        {
            self.note(*hosted, *from, &message.body);
        }
        let rim = &mut self.rim;
        match fact {
            links::Fact::Message { hosted, from, message, payload } => {
                let input = match message {
                    ResourceMessage::Control(message) => {
                        Input::Resource(ResourceInput::Control { from, message })
                    }
                    ResourceMessage::Data(message) => {
                        Input::Group(GroupInput::Peer { from, message, payload })
                    }
                };
                rim.inbox.push_back((hosted, input));
            }
            links::Fact::Up { hosted, peer, handles, report } => {
                self.after_parts(hosted, Effect::Connect { peer, handles, report: *report });
            }
            links::Fact::Down { hosted, peer, handles, parting } => {
                if let Some(peer) = self.peer_of(hosted, peer) {
                    peer.disks_failed.clear();
                }
                if self.was_not_told(hosted, peer, handles) {
                    return;
                }
                self.rim.links.disconnect((hosted, peer), handles);
                self.broadcast(hosted, || ToPart::Disconnected { peer, handles });
                self.after_parts(hosted, Effect::Disconnected { peer, parting });
            }
            links::Fact::Void { link, set, handle } => {
                let Rim { links, kit, .. } = rim;
                links.settle(link, set, handle, kit);
            }
            links::Fact::DiskFailed { hosted, peer, failed } => {
                self.on_disk_failed_there(hosted, peer, *failed);
            }
            links::Fact::PathChanged { hosted } => {
                let hosted = self.hosted.get(hosted.0 as usize).and_then(Option::as_ref);
                if let Some(hosted) = hosted {
                    rim.tell_changed(hosted.name());
                }
            }
            links::Fact::OpenDue { hosted, peer } => {
                if let Some(it) = self.hosted.get(hosted.0 as usize).and_then(Option::as_ref) {
                    rim.links.open(hosted, peer, it.resource.report(), rim.kit.now);
                }
            }
            links::Fact::HeartbeatDue { way } => self.send_heartbeat(way),
            links::Fact::Heartbeat { way, heartbeat } => self.on_heartbeat(way, heartbeat),
            links::Fact::Lease { hosted, peer, nonce, sent_at, granted } => {
                let input = ResourceInput::Lease { peer, nonce, sent_at, granted };
                rim.inbox.push_back((hosted, Input::Resource(input)));
            }
        }
    }

    fn peer_of(&mut self, id: HostedId, node: NodeId) -> Option<&mut Peer> {
        let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut)?;
        hosted.peers.iter_mut().find(|peer| peer.node == node)
    }

    /// For people alone: nothing is decided by it.
    fn on_disk_failed_there(&mut self, id: HostedId, from: NodeId, failed: DiskFailed) {
        let DiskFailed { place, request, error, age_ms, .. } = failed;
        let told_at = self.rim.kit.now;
        let Some(peer) = self.peer_of(id, from) else { return };
        peer.disks_failed.retain(|known| known.place != place);
        peer.disks_failed.push(DiskFailedThere { place, told_at, age_ms, request, error });
        let hosted = self.hosted.get(id.0 as usize).and_then(Option::as_deref);
        if let Some(hosted) = hosted {
            self.rim.tell_changed(hosted.name());
        }
    }

    /// Counts what a peer writes here, and whether it answers the write whose time is taken.
    fn note(&mut self, id: HostedId, from: NodeId, body: &DataBody) {
        if !matches!(body, DataBody::Ack { .. } | DataBody::Write(_)) {
            return;
        }
        let now = self.rim.kit.now;
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let Some(peer) = part.peers.iter_mut().find(|peer| peer.node == from) else { return };
        if let DataBody::Ack { lane, base, mask, .. } = body {
            peer.acks.on_ack(*lane, *base, *mask, now);
        } else if let DataBody::Write(write) = body {
            peer.traffic.on_received(write);
        }
    }
}

impl Rim {
    pub(super) fn has_fact(&self) -> bool {
        self.links.has_fact()
            || self.nbd.has_fact()
            || self.nvme.has_fact()
            || self.vhost.has_fact()
            || self.ublk.has_fact()
    }

    /// Something of this shard waits for a buffer.
    pub(super) fn has_starved(&self) -> bool {
        !self.starved.is_empty() || !self.starved_reads.is_empty() || !self.blocked_saves.is_empty()
    }

    /// Something that was sent here, by whomever, waits for a buffer.
    pub(super) fn has_starved_senders(&self) -> bool {
        self.links.is_starved()
            || self.nbd.is_starved()
            || self.nvme.is_starved()
            || self.ublk.is_starved()
            || self.vhost.is_starved()
    }

    /// Keeps a device request for later, and its payload with it.
    pub(crate) fn starve(&mut self, hosted: HostedId, action: GroupAction) {
        if let Some(payload) = payload_of(&action) {
            self.kit.payloads.retain(payload);
        }
        self.starved_like(&action).push_back((hosted, action));
    }

    pub(crate) fn starved_like(&mut self, action: &GroupAction) -> &mut Starved {
        let is_read =
            matches!(action, GroupAction::ReadDevice { .. } | GroupAction::DigestDevice { .. });
        if is_read { &mut self.starved_reads } else { &mut self.starved }
    }
}
