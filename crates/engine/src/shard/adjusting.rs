//! A resource that follows a changed configuration while it is in use: members and paths that come
//! and go.
//!
//! A new member gets its links once the home has taken it in. One that the configuration dropped
//! keeps them until no value needs its vote or its data.

use api::response::{Failure, FailureCode, Reply};
use format::ids::NodeId;
use replication::contract::{CommandId, MemberOptions, ResourceInput, ToGroup};

use crate::contract::{FromShard, Ticket, ToPart};
use crate::definition::link::PeerPaths;
use crate::definition::{Definition, Member};
use crate::hosted_id::HostedId;
use crate::links::session::NewSession;
use crate::log::{Scope, log};
use crate::shard::acks::{Acks, Traffic};
use crate::shard::addresses::own_addresses;
use crate::shard::hosted::{Asker, CommandKind, Hosted, Peer, PendingCommand};
use crate::shard::part::{self, Part};
use crate::shard::{Input, Rim, Shard};

/// The members of a definition, as the machines know them.
pub(super) fn member_options(definition: &Definition) -> Vec<MemberOptions> {
    let options = |member: &Member| MemberOptions {
        node: member.node,
        diskful: member.is_diskful,
        may_witness: member.may_witness,
        ack_when: member.ack_when,
        congestion: member.congestion,
    };
    definition.members.iter().map(options).collect()
}

impl Shard {
    /// Answers when the machines have taken the members in; with a warning, while somebody whom
    /// the definition dropped is needed.
    pub(super) fn on_redefine(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        definition: Definition,
    ) -> Result<Option<Reply>, Failure> {
        let peers = definition.peers().filter(|member| !member.paths.is_empty());
        peers.map(PeerPaths::of).try_for_each(|peer| self.rim.links.check_peer(&peer))?;
        let hosted = self.hosted_mut(id);
        if hosted.redefinition.is_some() {
            let message = "another change of this resource is under way";
            return Err(Failure::new(FailureCode::StateRefused, message, "try again"));
        }
        let members = member_options(&definition);
        let command = CommandId(hosted.next_command);
        hosted.next_command += 1;
        let (asker, kind) = (Asker::Admin(ticket), CommandKind::Redefine);
        hosted.commands.push(PendingCommand { id: command, asker, kind });
        hosted.redefinition = Some(Box::new(definition));
        let input = ResourceInput::Members { id: command, members };
        self.rim.inbox.push_back((id, Input::Resource(input)));
        Ok(None)
    }

    /// The machines follow the definition that was wanted.
    pub(super) fn on_redefined(&mut self, id: HostedId) -> Result<Reply, Failure> {
        let hosted = self.hosted_mut(id);
        let Some(definition) = hosted.redefinition.take() else { return Ok(Reply::done()) };
        let has_other_volumes = hosted.definition.further != definition.further;
        hosted.definition = (*definition).clone();
        self.broadcast(id, || ToPart::Redefine(definition.clone()));
        self.redefine_part(id, &definition);
        self.tell_of_reads(id);
        self.tell_groups(id, ToGroup::SlowLimit(definition.slow_limit));
        let demands = ResourceInput::Demands(definition.demands);
        self.rim.inbox.push_back((id, Input::Resource(demands)));
        let readmission = ResourceInput::Readmission(definition.readmission());
        self.rim.inbox.push_back((id, Input::Resource(readmission)));
        let rate = ResourceInput::ResyncRate { bytes_per_second: definition.resync_rate };
        self.rim.inbox.push_back((id, Input::Resource(rate)));
        self.offer(id);
        if has_other_volumes {
            self.note_cut(id);
        }
        self.connect_new_peers(id);
        for member in definition.peers() {
            self.rim.links.set_secret(id, member.node, member.secret.as_ref());
        }
        let Some(hosted) = self.hosted(id) else { return Ok(Reply::done()) };
        let leaving: Vec<&str> = hosted.leaving().map(|peer| peer.name.as_str()).collect();
        if leaving.is_empty() {
            return Ok(Reply::done());
        }
        let warning = format!(
            "{} of {:?} is needed still, for its vote or what only it has: `adjust` the other \
             nodes too, and what changed here is stored by itself; until then a restart takes the \
             former configuration, and `adjust` is to be repeated after it; `explain` tells more",
            leaving.join(", "),
            hosted.name()
        );
        Ok(Reply::Done { warnings: vec![warning] })
    }

    /// On each shard: links to members that it has none to yet.
    pub(super) fn redefine_part(&mut self, id: HostedId, definition: &Definition) {
        let place = id.0 as usize;
        if let Some(part) = self.parts.get_mut(place).and_then(Option::as_deref_mut) {
            part.redefine(definition, &mut self.rim);
            self.hung_look_at = self.rim.kit.now;
        }
    }

    /// Where the reads of clients go.
    pub(super) fn tell_of_reads(&mut self, id: HostedId) {
        let Some(Hosted { definition, .. }) = self.hosted(id) else { return };
        let policy = definition.read_policy;
        let closed = definition.peers().filter(|peer| !peer.may_be_read);
        let closed = closed.map(|peer| peer.node).collect();
        self.tell_groups(id, ToGroup::ReadPolicy(policy));
        self.tell_groups(id, ToGroup::NoReadsFrom(closed));
    }

    fn connect_new_peers(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let (Some(hosted), Some(part)) = (&mut self.hosted[place], &self.parts[place]) else {
            return;
        };
        for peer in &part.peers {
            if hosted.peer(peer.node).is_none() {
                connect(hosted, peer, &mut self.rim);
            }
        }
    }

    /// A member that no value names any more.
    pub(super) fn forget_peer(&mut self, id: HostedId, peer: NodeId) {
        self.rim.links.remove_session(id, peer);
        if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) {
            if let Some(gone) = hosted.peer(peer) {
                let scope = Scope { resource: hosted.name(), peer: &gone.name };
                log!(Notice, scope, "it is no member any more");
            }
            let was_settled = hosted.leaving().next().is_none();
            hosted.peers.retain(|known| known.node != peer);
            let is_settled = hosted.leaving().next().is_none();
            let settled = FromShard::Settled { resource: hosted.name().to_owned() };
            if is_settled && !was_settled && self.rim.outbox.push(settled).is_err() {
                let scope = Scope::resource(hosted.name());
                log!(Warning, scope, "what changed is not stored: `adjust` it again");
            }
        }
        self.broadcast(id, || ToPart::Forget { peer });
        self.forget_peer_of_part(id, peer);
    }

    pub(super) fn forget_peer_of_part(&mut self, id: HostedId, peer: NodeId) {
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        if let Some(place) = part.peers.iter().position(|known| known.node == peer) {
            let gone = part.peers.swap_remove(place);
            self.rim.links.forget_peer(gone.link, &gone.paths, &mut self.rim.kit);
        }
    }
}

impl Hosted {
    /// Peers that the definition does not name any more.
    fn leaving(&self) -> impl Iterator<Item = &Peer> {
        let members = &self.definition.members;
        self.peers.iter().filter(|peer| members.iter().all(|member| member.node != peer.node))
    }
}

impl Part {
    fn redefine(&mut self, definition: &Definition, rim: &mut Rim) {
        let (before, now) = (own_addresses(&self.definition), own_addresses(definition));
        if rim.links.leads() {
            for address in now.iter().filter(|address| !before.contains(address)) {
                if let Err(error) = rim.links.listen(*address, &mut rim.kit) {
                    rim.links.listen_later(*address, &error, rim.kit.now);
                }
            }
            for address in before.iter().filter(|address| !now.contains(address)) {
                rim.links.unlisten(*address, &mut rim.kit);
            }
        }
        for member in definition.peers().filter(|member| !member.paths.is_empty()) {
            let known = self.peers.iter_mut().find(|peer| peer.node == member.node);
            if let Some(peer) = known {
                let paths = PeerPaths::of(member);
                rim.links.change_peer(peer.link, (&peer.paths, &paths), &mut rim.kit);
                peer.paths = paths;
            } else {
                let paths = PeerPaths::of(member);
                let link = rim.links.add_peer(&paths, rim.kit.now);
                let node = member.node;
                let (acks, traffic) = (Acks::default(), Traffic::default());
                self.peers.push(part::Peer { node, link, acks, traffic, paths });
            }
        }
        if definition.disk.is_some() {
            rim.links.note_disk();
        }
        self.definition = definition.clone();
    }
}

/// At the home: opens the resource to a member.
pub(super) fn connect(hosted: &mut Hosted, peer: &part::Peer, rim: &mut Rim) {
    let definition = &hosted.definition;
    let member = definition.members.iter().find(|member| member.node == peer.node);
    let Some(member) = member else { return };
    let session = NewSession {
        hosted: hosted.id,
        resource: definition.id,
        resource_name: definition.name.clone(),
        me: definition.me,
        peer: peer.node,
        secret: member.secret.clone(),
    };
    rim.links.add_session(peer.link, session, rim.kit.now);
    hosted.peers.push(Peer {
        node: peer.node,
        name: member.name.clone(),
        pace: None,
        is_congested: false,
        disks_failed: Vec::new(),
    });
}
