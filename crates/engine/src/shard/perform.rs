//! The decisions of the machines, carried out.

use std::time::Duration;

use api::role::Role;
use format::ids::{Branch, MemberSet, NodeId};
use format::message::{Control, Data, DataBody, ResourceMessage, WriteKind};
use replication::contract::{
    AfterSplitBrain, FromGroup, GiveWayReason, GroupAction, Misbehaviour, PartId, Payload,
    RequestError, ResourceAction, ResourceInput, WithoutQuorum,
};

use crate::clients::part_id::{self, FrontEnd};
use crate::contract::{Cross, DiskTrouble, Fact, FromPart, Unreachable};
use crate::hosted_id::HostedId;
use crate::limits::MISBEHAVED_REST;
use crate::links::session::Held;
use crate::log::{Scope, log};
use crate::placement;
use crate::shard::fence::Effect;
use crate::shard::hosted::{Hosted, Save, SplitEnd};
use crate::shard::part::Part;
use crate::shard::status::{after_split_brain, split_brain};
use crate::shard::{Input, Rim, Shard};

impl Part {
    /// Half of all steps leave no action: most acknowledgements are not the last of their write.
    #[inline]
    pub(crate) fn perform_group(&mut self, actions: &mut Vec<GroupAction>, rim: &mut Rim) {
        if !actions.is_empty() {
            self.perform_each(actions, rim);
        }
    }

    fn perform_each(&mut self, actions: &mut Vec<GroupAction>, rim: &mut Rim) {
        for action in actions.drain(..) {
            match action {
                GroupAction::ReadDevice { .. }
                | GroupAction::WriteDevice { .. }
                | GroupAction::DigestDevice { .. }
                | GroupAction::CopyDevice { .. }
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
                GroupAction::DigestPayload { token, payload, key } => {
                    rim.digest(self.id, token, payload, key);
                }
                GroupAction::KeepBlocks { payload, keep } => {
                    rim.kit.payloads.keep_blocks(payload, keep, rim.kit.reactor.pool());
                }
                GroupAction::Complete { part, result } => self.complete(part, result, rim),
                GroupAction::Release(payload) => {
                    rim.kit.release(payload);
                }
                GroupAction::Home(fact) => self.tell_home(fact, rim),
            }
        }
    }

    /// Device requests start in order: one that waits for memory keeps the later ones waiting. A
    /// read keeps reads alone waiting, for it may wait for what writes release. Without a disk none
    /// waits: the next disk is not meant.
    fn submit(&mut self, action: GroupAction, rim: &mut Rim) {
        if self.disk.is_some() && !rim.starved_like(&action).is_empty() {
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
        if let DataBody::Write(write) = &message.body
            && write.kind == WriteKind::Data
        {
            // Each member answers, be it to several writes at a time. Nobody waits for the answer
            // of a follower by protocol A.
            rim.asked = rim.asked.max(self.group.answering(to).len());
        }
        for member in to.iter() {
            let peer = self.peers.iter_mut().find(|peer| peer.node == member);
            let Some(peer) = peer else { continue };
            if let DataBody::Write(write) = &message.body {
                peer.acks.on_sent(write, rim.kit.now);
                peer.traffic.on_sent(write);
            }
            let link = peer.link;
            self.send_over(link, member, message.clone(), payload, rim);
        }
    }

    fn send_data(&self, to: NodeId, message: Data, payload: Option<Payload>, rim: &mut Rim) {
        let Some(link) = self.peer(to).map(|peer| peer.link) else { return };
        self.send_over(link, to, message, payload, rim);
    }

    fn send_over(
        &self,
        link: usize,
        to: NodeId,
        message: Data,
        payload: Option<Payload>,
        rim: &mut Rim,
    ) {
        let Rim { links, kit, .. } = rim;
        let me = kit.me;
        let shard = |shards| placement::shard_of_message(&message.body, me, shards);
        // A message to a member that is not connected is dropped: the core hears of the loss.
        if let Some(route) = links.route(link, (self.id, to), shard) {
            links.send(route, ResourceMessage::Data(message), payload, kit);
        }
    }

    /// The answer to a part of a request goes to the shard where it was asked, that of the client
    /// or, of a block device, the home shard; what was read is lent.
    fn complete(&self, part: PartId, result: Result<Option<Payload>, RequestError>, rim: &mut Rim) {
        let origin = part_id::origin_of(part);
        if origin == rim.mesh.me() {
            return rim.complete(part, result);
        }
        let result = result.map(|payload| payload.map(|payload| rim.kit.lend(payload)));
        rim.tell(origin, Cross::Complete { part, result });
    }

    pub(super) fn tell_home(&self, fact: FromGroup, rim: &mut Rim) {
        let home = self.home_shard(rim.mesh.shards());
        if home == rim.mesh.me() {
            let input = ResourceInput::Group { shard: home, fact };
            rim.inbox.push_back((self.id, Input::Resource(input)));
        } else {
            rim.tell(home, Cross::FromPart(self.id, FromPart::Fact(Box::new(fact))));
        }
    }

    /// The home has what it saw itself, and is told of the rest.
    pub(super) fn tell_home_of(&self, trouble: &DiskTrouble, rim: &mut Rim) {
        let home = self.home_shard(rim.mesh.shards());
        if home != rim.mesh.me() {
            let message = FromPart::DiskFailed(Box::new(trouble.clone()));
            rim.tell(home, Cross::FromPart(self.id, message));
        }
    }
}

impl Rim {
    /// Hands the answer to a part to the front end that asked.
    pub(super) fn complete(&mut self, part: PartId, result: Result<Option<Payload>, RequestError>) {
        let Self { nbd, nvme, ublk, vhost, kit, .. } = self;
        match FrontEnd::of(part) {
            FrontEnd::Nbd => nbd.complete(part, result, kit),
            FrontEnd::Nvme => nvme.complete(part, result, kit),
            FrontEnd::Vhost => vhost.complete(part, result, kit),
            FrontEnd::Ublk => ublk.complete(part, result, kit),
        }
    }
}

impl Shard {
    pub(super) fn perform_resource(&mut self, id: HostedId) {
        let mut actions = std::mem::take(&mut self.resource_actions);
        for action in actions.drain(..) {
            match action {
                // What the outside hears follows what the lanes were told; so does a size that
                // clients may use.
                ResourceAction::Send { .. }
                | ResourceAction::Answer { .. }
                | ResourceAction::ConfigChanged(_)
                | ResourceAction::RoleChanged { .. } => {
                    self.after_parts(id, Effect::Action(action));
                }
                ResourceAction::Save { .. }
                | ResourceAction::Group(_)
                | ResourceAction::Reset { .. }
                | ResourceAction::Misbehaved { .. }
                | ResourceAction::CloseDisk(_)
                | ResourceAction::TakeDisk { .. }
                | ResourceAction::EnlargeDisk { .. }
                | ResourceAction::RenewLease
                | ResourceAction::Forget { .. }
                | ResourceAction::Evicted { .. }
                | ResourceAction::PulledAhead { .. }
                | ResourceAction::LostAgain { .. }
                | ResourceAction::Disconnect { .. }
                | ResourceAction::QuorumLost
                | ResourceAction::QuorumBack
                | ResourceAction::WentAlone
                | ResourceAction::AskToResync { .. }
                | ResourceAction::AskToFence { .. }
                | ResourceAction::SplitBrain { .. }
                | ResourceAction::AfterSplit { .. }
                | ResourceAction::Unrelated { .. } => self.perform_action(id, action),
            }
        }
        self.resource_actions = actions;
    }

    pub(super) fn perform_action(&mut self, id: HostedId, action: ResourceAction) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let rim = &mut self.rim;
        match action {
            ResourceAction::Send { to, message } => self.send_control(id, to, message),
            ResourceAction::Save { save, register, superblock } => {
                let save = Save { save, register, superblock, stamps: 0, under_way: None };
                hosted.save(save, rim);
            }
            ResourceAction::Group(message) => self.tell_groups(id, message),
            ResourceAction::Reset { peer } => rim.links.reset(id, peer),
            ResourceAction::Misbehaved { peer, how } => rest_from(hosted, (id, peer), how, rim),
            ResourceAction::CloseDisk(why) => self.close_disk(id, why),
            ResourceAction::TakeDisk { round } => self.take_disk(id, round),
            ResourceAction::EnlargeDisk { place, size_bytes } => {
                let layout = hosted.superblock_at.as_ref().and_then(|it| it.layout_at(place));
                rim.ask_for_room(id, hosted.name().to_owned(), (place, layout), size_bytes);
            }
            ResourceAction::RenewLease => {
                rim.links.renew(id, rim.kit.now);
                self.next_tick = rim.kit.now;
            }
            ResourceAction::Forget { peer } => self.forget_peer(id, peer),
            ResourceAction::Answer { id: command, result } => self.on_answer(id, command, result),
            ResourceAction::RoleChanged { primary } => {
                let role = if primary { Role::Primary } else { Role::Secondary };
                self.on_role_changed(id, role);
            }
            ResourceAction::ConfigChanged(config) => self.on_config_changed(id, &config),
            ResourceAction::Evicted { member, rest } => say_that_it_is_slow(hosted, member, rest),
            ResourceAction::PulledAhead { member, rest } => {
                say_that_it_is_behind(hosted, member, rest);
            }
            ResourceAction::LostAgain { member, rest, losses } => {
                say_that_it_was_lost_again(hosted, (member, losses), rest);
            }
            ResourceAction::Disconnect { peer } => self.end_congested(id, peer),
            ResourceAction::QuorumLost => hosted.say_quorum_lost(),
            ResourceAction::QuorumBack => hosted.say_quorum_back(),
            ResourceAction::WentAlone => say_that_it_goes_alone(hosted.name()),
            ResourceAction::AskToResync { number, from, is_image } => {
                let leader = hosted.peer(from).map(|peer| (from.get(), peer.name.clone()));
                rim.tell_fact(hosted.name(), Fact::ResyncWanted { number, leader, is_image });
            }
            ResourceAction::AskToFence { number, peer } => {
                rim.tell_fact(hosted.name(), fence_wanted(hosted, number, peer));
            }
            ResourceAction::SplitBrain { peer, fork } => {
                let name = hosted.peer(peer).map_or("", |peer| &peer.name);
                let scope = Scope { resource: hosted.name(), peer: name };
                log!(Error, scope, "{}", split_brain(hosted.name(), name, fork));
                hosted.split_end = Some(SplitEnd::Kept { peer });
            }
            ResourceAction::AfterSplit { peer, outcome } => rim.after_split(hosted, peer, outcome),
            ResourceAction::Unrelated { peer, branch } => {
                say_that_it_is_unrelated(hosted, peer, branch);
            }
        }
    }

    /// As an operator would end it, who was not there.
    fn end_congested(&mut self, id: HostedId, peer: NodeId) {
        let hosted = self.hosted_mut(id);
        let resource = hosted.name().to_owned();
        let Some(known) = hosted.peers.iter_mut().find(|known| known.node == peer) else { return };
        known.is_congested = true;
        let name = known.name.clone();
        let scope = Scope { resource: &resource, peer: &name };
        log!(Warning, scope, "it fell too far behind: disconnected, until `connect`");
        self.rim.links.hold(id, peer, Held::Yes, &mut self.rim.kit);
        self.note_news(id);
    }

    /// From home to home: on the connection of the home lane.
    fn send_control(&mut self, id: HostedId, to: NodeId, message: Control) {
        let Some(hosted) = self.hosted.get(id.0 as usize).and_then(Option::as_ref) else { return };
        let resource = hosted.definition.id;
        let link = self.part(id).and_then(|part| part.peer(to)).map(|peer| peer.link);
        let Some(link) = link else { return };
        let Rim { links, kit, .. } = &mut self.rim;
        let shard = |shards| placement::home_shard(resource, shards);
        if let Some(route) = links.route(link, (id, to), shard) {
            links.send(route, ResourceMessage::Control(Box::new(message)), None, kit);
        }
    }
}

impl Rim {
    /// Says what becomes of a split brain, and what that costs on this node.
    fn after_split(&mut self, hosted: &mut Hosted, peer: NodeId, outcome: AfterSplitBrain) {
        let name = hosted.peer(peer).map_or("", |peer| &peer.name);
        let scope = Scope { resource: hosted.name(), peer: name };
        log!(Error, scope, "{}", after_split_brain(hosted.name(), name, outcome));
        match outcome {
            AfterSplitBrain::PrimaryLost => {
                self.tell_fact(hosted.name(), Fact::ShouldGiveWay);
            }
            AfterSplitBrain::GivesWay { by: GiveWayReason::Operator | GiveWayReason::Policy } => {
                hosted.split_end = Some(SplitEnd::GaveUp { peer });
            }
            AfterSplitBrain::GivesWay { by: GiveWayReason::NoData }
            | AfterSplitBrain::KeepsData
            | AfterSplitBrain::PoliciesDiffer => {}
        }
    }
}

/// This peer is to be out, by whatever `fence-peer` does.
fn fence_wanted(hosted: &Hosted, number: u64, peer: NodeId) -> Fact {
    let unreachable = match hosted.definition.demands.without_quorum {
        WithoutQuorum::GoOn | WithoutQuorum::GoOnFenced => Unreachable::IsEnough,
        WithoutQuorum::Wait | WithoutQuorum::Prove(_) => Unreachable::IsNoProof,
    };
    let peer = hosted.peer(peer).map(|known| (peer.get(), known.name.clone()));
    Fact::FenceWanted { number, peer, unreachable }
}

fn say_that_it_is_slow(hosted: &Hosted, member: NodeId, rest: Duration) {
    let name = hosted.peer(member).map_or("", |peer| &peer.name);
    log!(
        Warning,
        Scope { resource: hosted.name(), peer: name },
        "its disk or connection keeps writes waiting for more than {} s: they go on without it, \
         and it is brought up to date in {} s; look at the disk",
        hosted.definition.slow_limit.as_secs(),
        rest.as_secs()
    );
}

/// Its session is reset for this, too.
fn rest_from(hosted: &Hosted, (id, peer): (HostedId, NodeId), how: Misbehaviour, rim: &mut Rim) {
    rim.links.let_rest(id, peer, rim.kit.now);
    let name = hosted.peer(peer).map_or("", |peer| &peer.name);
    let what = match how {
        Misbehaviour::Nonsense => "what makes no sense here",
        Misbehaviour::TooManyWrites => "more writes than may be under way",
        Misbehaviour::TooManyFlushes => "more flushes than may be under way",
        Misbehaviour::TooManyLosses => "more about lost members than may wait to be written down",
    };
    let scope = Scope { resource: hosted.name(), peer: name };
    let rest = MISBEHAVED_REST.as_secs();
    log!(Warning, scope, "it sent {what}: the connection is made anew in {rest} s");
}

fn say_that_it_is_behind(hosted: &Hosted, member: NodeId, rest: Duration) {
    let name = hosted.peer(member).map_or("", |peer| &peer.name);
    log!(
        Notice,
        Scope { resource: hosted.name(), peer: name },
        "it fell too far behind: writes go on without it, and it is asked to return in {} s",
        rest.as_secs()
    );
}

fn say_that_it_was_lost_again(hosted: &Hosted, (member, losses): (NodeId, u32), rest: Duration) {
    let name = hosted.peer(member).map_or("", |peer| &peer.name);
    log!(
        Warning,
        Scope { resource: hosted.name(), peer: name },
        "its connection broke soon after it returned, for the {losses}. time in a row: writes go \
         on without it for {} s; see `basalt adm explain {}`",
        rest.as_secs(),
        hosted.name()
    );
}

fn say_that_it_is_unrelated(hosted: &Hosted, peer: NodeId, branch: Branch) {
    let name = hosted.peer(peer).map_or("", |peer| &peer.name);
    log!(
        Error,
        Scope { resource: hosted.name(), peer: name },
        "its data has another history (branch {branch:?}): it is not brought up to date; on that \
         node `basalt adm invalidate {}` gives its data up for that of the others",
        hosted.name()
    );
}

fn say_that_it_goes_alone(resource: &str) {
    log!(
        Warning,
        Scope::resource(resource),
        "no quorum: this node goes on alone, as `quorum off`, a handler fence-peer, or `primary \
         --force` allows; what other nodes decide meanwhile makes a split brain"
    );
}
