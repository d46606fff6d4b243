//! The decisions of the machines, carried out.

use api::role::Role;
use format::ids::{MemberSet, NodeId};
use format::message::{CloseReason, Data, DataBody, ResourceMessage};
use replication::contract::{GroupAction, GroupInput, Payload, ResourceAction, ResourceInput};
use replication::limits::SLOW_MEMBER_LIMIT;

use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::hosted::{Hosted, Save};
use crate::shard::{Input, Rim, Shard};
use crate::ublk;

impl Hosted {
    pub(crate) fn perform_group(&mut self, actions: &mut Vec<GroupAction>, rim: &mut Rim) {
        for action in actions.drain(..) {
            match action {
                GroupAction::ReadDevice { .. }
                | GroupAction::WriteDevice { .. }
                | GroupAction::ZeroDevice { .. }
                | GroupAction::FlushDevice { .. }
                | GroupAction::WriteMetadata { .. } => self.submit(action, rim),
                GroupAction::Send { to, message, payload } => {
                    self.send_data(to, message, payload, rim);
                }
                GroupAction::SendWrite { to, message, payload } => {
                    self.send_to_all(to, &message, payload, rim);
                }
                GroupAction::Overlay { base, patch, at } => {
                    rim.kit.payloads.overlay(base, patch, at, rim.kit.reactor.pool());
                }
                GroupAction::Complete { part, result } => {
                    let Rim { nbd, ublk, kit, .. } = rim;
                    if ublk::is_ours(part) {
                        ublk.complete(part, result, kit);
                    } else {
                        nbd.complete(part, result, kit);
                    }
                }
                GroupAction::Release(payload) => {
                    rim.kit.release(payload);
                }
                GroupAction::Home(fact) => {
                    let input = ResourceInput::Group { shard: 0, fact };
                    rim.inbox.push_back((self.id, Input::Resource(input)));
                }
            }
        }
    }

    /// Device requests start in order: one that waits for memory keeps the later ones waiting.
    fn submit(&mut self, action: GroupAction, rim: &mut Rim) {
        if !rim.starved.is_empty() {
            rim.starve(self.id, action);
        } else if let Some(action) = self.start_device(action, rim) {
            rim.starve(self.id, action);
        }
    }

    fn send_to_all(
        &mut self,
        to: MemberSet,
        message: &Data,
        payload: Option<Payload>,
        rim: &mut Rim,
    ) {
        for member in to.iter() {
            if let DataBody::Write(write) = &message.body
                && let Some(peer) = self.peers.iter_mut().find(|peer| peer.node == member)
            {
                peer.acks.on_sent(write, rim.kit.now);
            }
            self.send_data(member, message.clone(), payload, rim);
        }
    }

    fn send_data(&mut self, to: NodeId, message: Data, payload: Option<Payload>, rim: &mut Rim) {
        self.send(to, ResourceMessage::Data(message), payload, rim);
    }

    /// A message to a member that is not connected is dropped: the core hears of the loss.
    fn send(
        &mut self,
        to: NodeId,
        message: ResourceMessage,
        payload: Option<Payload>,
        rim: &mut Rim,
    ) {
        let Some(link) = self.peer(to).map(|peer| peer.link) else { return };
        let Rim { links, kit, .. } = rim;
        if let Some(route) = links.route(link, self.id, to) {
            links.send(route, message, payload, kit);
        }
    }
}

impl Shard {
    pub(super) fn perform_resource(&mut self, id: HostedId) {
        let mut actions = std::mem::take(&mut self.resource_actions);
        for action in actions.drain(..) {
            let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
                break;
            };
            let rim = &mut self.rim;
            match action {
                ResourceAction::Send { to, message } => {
                    hosted.send(to, ResourceMessage::Control(message), None, rim);
                }
                ResourceAction::Save { save, register, superblock } => {
                    hosted.save(Save { save, register, superblock }, rim);
                }
                ResourceAction::Group(message) => {
                    rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
                }
                ResourceAction::Reset { peer } => rim.links.reset(id, peer),
                ResourceAction::CloseDisk => hosted.close_disk(rim),
                ResourceAction::TakeDisk { round } => hosted.take_disk(round, rim),
                ResourceAction::RenewLease => {
                    rim.links.renew(id, rim.kit.now);
                    self.next_tick = rim.kit.now;
                }
                ResourceAction::Answer { id: command, result } => {
                    self.on_answer(id, command, result);
                }
                ResourceAction::RoleChanged { primary } => {
                    let role = if primary { Role::Primary } else { Role::Secondary };
                    self.on_role_changed(id, role);
                }
                ResourceAction::ConfigChanged(config) => self.on_config_changed(id, &config),
                ResourceAction::Evicted { member, rest } => {
                    let name = hosted.peer(member).map_or("", |peer| &peer.name);
                    let scope = Scope { resource: hosted.name(), peer: name };
                    log!(
                        Warning,
                        scope,
                        "its disk or connection keeps writes waiting for more than {} s: they go \
                         on without it, and it is brought up to date in {} s; look at the disk",
                        SLOW_MEMBER_LIMIT.as_secs(),
                        rest.as_secs()
                    );
                }
                ResourceAction::Unrelated { peer, branch } => {
                    let name = hosted.peer(peer).map_or("", |peer| &peer.name);
                    let scope = Scope { resource: hosted.name(), peer: name };
                    log!(
                        Error,
                        scope,
                        "its data has another history (branch {branch:?}): not connected; give one \
                         of the two up with `invalidate`"
                    );
                    rim.links.refuse(id, peer, CloseReason::UnrelatedData, rim.kit.now);
                }
            }
        }
        actions.clear();
        self.resource_actions = actions;
    }
}
