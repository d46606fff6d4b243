//! Commands of the operator: from the control thread to the machines, and the answers back.

use std::sync::Arc;

use api::response::{Failure, FailureCode, Reply};
use config::host_name::meant;
use format::ids::NodeId;
use format::metadata::ReplicaState;
use io::ListenAddr;
use replication::contract::{
    Command, CommandDone, CommandError, CommandId, FenceVerdict, PromoteMode, ResourceInput,
};
use replication::resource::MemberStatus;
use stdx::time::Time;

use crate::contract::{Fact, Force, FromShard, OwnData, Ticket, ToPart, ToShard};
use crate::definition::Definition;
use crate::definition::link::Secrecy;
use crate::hosted_id::HostedId;
use crate::limits::SHUTDOWN_DEADLINE;
use crate::links::session::Held;
use crate::log::{Scope, log};
use crate::shard::hosted::{Asker, CommandKind, Hosted, OwnDisk, PendingCommand, Removal};
use crate::shard::refusals::{
    Asked, VerifiesNothing, address_failure, busy, failure, nothing_to_compare, unknown_resource,
};
use crate::shard::status::Statistics;
use crate::shard::{Input, Rim, Shard};
use crate::tls::credentials::Credentials;

const FORCE_NOT_NEEDED: &str = "--force was not needed: `primary` does it without, and nothing was \
                                given up";

/// The daemon ends: every resource goes down first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    ticket: Ticket,
}

impl Hosted {
    pub(crate) fn is_changing_role(&self) -> bool {
        self.commands.iter().any(|command| command.kind.is_of_role())
    }

    /// The peer of this name, or all of them.
    fn peers_meant(&self, name: Option<&str>) -> Result<Vec<NodeId>, Failure> {
        let Some(name) = name else { return Ok(self.peers.iter().map(|it| it.node).collect()) };
        let hint = || format!("`basalt adm status {}` names them", self.name());
        let unknown = |message| Failure::new(FailureCode::UnknownPeer, message, hint());
        match meant(name, &self.peers, |peer| [peer.name.as_str()]) {
            Ok(Some(peer)) => Ok(vec![peer.node]),
            Ok(None) => Err(unknown(format!("{} has no peer {name:?}", self.name()))),
            Err(ambiguous) => Err(unknown(format!("{}: {ambiguous}", self.name()))),
        }
    }

    /// These facts decide which advice helps against a refusal.
    fn asked(&self, kind: CommandKind) -> Asked {
        let status = self.resource.status();
        let primary = status.primary.filter(|node| *node != self.definition.me);
        Asked {
            kind,
            resource: self.name().to_owned(),
            is_primary: self.is_primary,
            disk: match (&self.definition.disk, status.replica) {
                (None, _) => OwnDisk::None,
                (Some(_), None) => OwnDisk::OutOfUse,
                (Some(_), Some(_)) => OwnDisk::InUse,
            },
            is_up_to_date: status.replica == Some(ReplicaState::InSync),
            has_majority: status.votes.is_quorum(),
            is_mute: self.register_failed,
            primary: primary.and_then(|node| Some(self.peer(node)?.name.clone())),
        }
    }

    /// Why a verify would find nothing to compare. Another node that leads and is in reach does it
    /// itself, and sees more.
    fn verifies_nothing(&self) -> Option<VerifiesNothing> {
        let (status, me) = (self.resource.status(), self.definition.me);
        let facts_of = |node| status.members.iter().find(|facts| facts.node == node);
        let leader = status.leader.filter(|leader| *leader != me);
        if leader.and_then(facts_of).is_some_and(|facts| facts.connected) {
            return None;
        }
        if self.is_primary && !status.has_majority {
            let lacking = self.lacking_of_quorum(&status)?.to_string();
            return Some(VerifiesNothing::NoQuorum { lacking });
        }
        let is_there = |facts: &&MemberStatus| {
            let is_in_reach = facts.connected || facts.node == me;
            is_in_reach && facts.in_sync && facts.has_replica && !facts.is_made_anew
        };
        let leads = self.is_primary || status.has_majority;
        let is_vain = leads && status.members.iter().filter(is_there).count() < 2;
        is_vain.then_some(VerifiesNothing::NobodyElse)
    }

    /// The node that leads compares nothing while it has no quorum, and says so to nobody here.
    fn warnings_of_verify(&self) -> Vec<String> {
        let status = self.resource.status();
        let leader = status.leader.filter(|leader| *leader != self.definition.me);
        let Some(leader) = leader.filter(|_| !status.has_majority) else { return Vec::new() };
        let (leader, resource) = (self.name_of(leader), self.name());
        vec![format!(
            "this node reaches no quorum: {leader}, which compares, does so only once {leader} \
             reaches one; there `basalt adm status {resource}` says how far it is"
        )]
    }

    /// Why clients of a node that is Primary by an operator's command are served less than that
    /// may be thought to say.
    fn warnings_of_primary(&self) -> Vec<String> {
        let held = self.shortage_of_options(&self.resource.status());
        held.into_iter().chain(self.barred()).map(|reason| reason.to_string()).collect()
    }
}

impl Rim {
    pub(crate) fn reply(&mut self, ticket: Ticket, answer: Result<Reply, Failure>) {
        // A full mailbox means that nobody reads answers any more; the asker has a deadline.
        drop(self.outbox.push(FromShard::Answer { ticket, answer }));
    }

    fn set_credentials(&mut self, credentials: &Arc<Credentials>) {
        self.nbd.set_credentials(Arc::clone(credentials));
        self.links.set_credentials(Arc::clone(credentials));
    }

    /// For the handlers of the resource.
    pub(crate) fn tell_fact(&mut self, resource: &str, fact: Fact) {
        // Who reads it is slow only where everything is.
        drop(self.outbox.push(FromShard::Happened { resource: resource.to_owned(), fact }));
    }

    pub(crate) fn tell_changed(&mut self, resource: &str) {
        // If the mailbox is full, the next look at everything finds it.
        drop(self.outbox.push(FromShard::Changed { resource: resource.to_owned() }));
    }
}

impl Shard {
    #[expect(clippy::too_many_lines, reason = "one flat match, a message each")]
    pub(super) fn on_message(&mut self, message: ToShard) {
        match message {
            ToShard::Host { ticket, attached } => {
                if let Err(failure) = self.host(ticket, *attached) {
                    self.rim.reply(ticket, Err(failure));
                }
            }
            ToShard::Remove { ticket, resource, force } => {
                self.remove(ticket, &resource, force);
            }
            ToShard::Redefine { ticket, definition } => {
                let name = definition.name.clone();
                self.with_resource(ticket, &name, |shard, id| {
                    shard.on_redefine(id, ticket, *definition)
                });
            }
            ToShard::Promote { ticket, resource, mode } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.on_promote(id, ticket, mode)
                });
            }
            ToShard::Demote { ticket, resource, force } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.on_demote(id, ticket, force)
                });
            }
            ToShard::Ask { ticket, resource, command } => {
                self.ask_resource(ticket, &resource, command);
            }
            ToShard::CheckRoom { ticket, resource, disk } => {
                self.with_resource(ticket, &resource, |shard, id| shard.on_check_room(id, &disk));
            }
            ToShard::HoldMetadata { ticket, resource, disk } => {
                self.hold_metadata(ticket, &resource, &disk);
            }
            ToShard::ReleaseMetadata { resource, moved } => {
                self.release_metadata(&resource, moved);
            }
            ToShard::Enlarged { resource, place, size_bytes } => {
                self.on_enlarged(&resource, place, size_bytes);
            }
            ToShard::Detach { ticket, resource } => {
                self.with_resource(ticket, &resource, |shard, id| Ok(shard.on_detach(id, ticket)));
            }
            ToShard::CheckAttach { ticket, resource } => self.on_check_attach(ticket, &resource),
            ToShard::Attach { ticket, resource, replica } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.on_attach(id, ticket, *replica)
                });
            }
            ToShard::CheckVolume { ticket, resource, place } => {
                self.on_check_volume(ticket, &resource, place);
            }
            ToShard::AddVolume { ticket, resource, volume } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.on_add_volume(id, ticket, *volume)
                });
            }
            ToShard::Connect { ticket, resource, peer, own_data } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.on_connect(id, ticket, peer.as_deref(), own_data)
                });
            }
            ToShard::Disconnect { ticket, resource, peer } => {
                self.with_resource(ticket, &resource, |shard, id| {
                    shard.hold(id, peer.as_deref(), Held::Yes)
                });
            }
            ToShard::Status { ticket, resources, statistics } => {
                let shown = if statistics { Statistics::Shown } else { Statistics::Hidden };
                let answer = self.status(&resources, shown).map(Reply::Status);
                self.rim.reply(ticket, answer);
            }
            ToShard::StatusOfKnown { ticket, resources, statistics } => {
                let shown = if statistics { Statistics::Shown } else { Statistics::Hidden };
                let status = self.status_of_known(&resources, shown);
                self.rim.reply(ticket, Ok(Reply::Status(status)));
            }
            ToShard::Names { ticket } => {
                let names = self.names();
                self.rim.reply(ticket, Ok(Reply::Status(names)));
            }
            ToShard::Watch { is_on } => self.is_watched = is_on,
            ToShard::Credentials(credentials) => self.rim.set_credentials(&credentials),
            ToShard::NvmeHosts(check) => self.rim.nvme.set_host_check(check),
            ToShard::Proved { queue, finding } => {
                let Rim { nvme, kit, .. } = &mut self.rim;
                nvme.on_finding(queue, finding, kit);
            }
            ToShard::ListenNbd { ticket, address, secrecy } => {
                self.listen_nbd(ticket, address, secrecy);
            }
            ToShard::ListenNvme { ticket, address } => self.listen_nvme(ticket, address),
            ToShard::ResyncAnswer { resource, number, allowed } => {
                self.tell(&resource, ResourceInput::ResyncAnswer { number, allowed });
            }
            ToShard::CheckFence { ticket, resource, number } => {
                self.with_resource(ticket, &resource, |shard, id| shard.on_check_fence(id, number));
            }
            ToShard::FenceAnswer { resource, number, verdict } => {
                self.tell(&resource, ResourceInput::FenceAnswer { number, verdict });
            }
            ToShard::Device { resource, order } => self.on_device_order(&resource, order),
            ToShard::Guest(order) => self.on_guest_order(order),
            ToShard::Stop { ticket } => self.stop(ticket),
            ToShard::Exit => {
                self.tell_of_left_disks();
                self.is_done = true;
            }
        }
    }

    fn tell(&mut self, resource: &str, input: ResourceInput) {
        if let Some(id) = self.find(resource) {
            self.rim.inbox.push_back((id, Input::Resource(input)));
        }
    }

    /// Has the machine of a resource answer an administrator's command.
    fn ask_resource(&mut self, ticket: Ticket, resource: &str, command: Command) {
        self.with_resource(ticket, resource, |shard, id| {
            if matches!(command, Command::Verify(_)) {
                let hosted = shard.hosted_mut(id);
                if let Some(why) = hosted.verifies_nothing() {
                    return Err(nothing_to_compare(&why, &hosted.asked(CommandKind::Verify)));
                }
            }
            shard.command(id, command, Asker::Admin(ticket));
            Ok(None)
        });
    }

    fn listen_nbd(&mut self, ticket: Ticket, address: ListenAddr, secrecy: Secrecy) {
        let Rim { nbd, kit, .. } = &mut self.rim;
        let listening = nbd.listen(address, secrecy, kit);
        let answer = listening.map(|_| Reply::done()).map_err(|error| address_failure(&error));
        self.rim.reply(ticket, answer);
    }

    /// Runs `command` for a resource; its answer follows later unless it is there at once.
    pub(super) fn with_resource(
        &mut self,
        ticket: Ticket,
        name: &str,
        command: impl FnOnce(&mut Self, HostedId) -> Result<Option<Reply>, Failure>,
    ) {
        let answer = match self.find(name) {
            // What was done for it now would be told as done, and gone with it.
            Some(id) if self.hosted_mut(id).removal.is_some() => Err(busy()),
            Some(id) => command(self, id),
            None => Err(unknown_resource(name)),
        };
        if let Some(answer) = answer.transpose() {
            self.rim.reply(ticket, answer);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<HostedId> {
        self.hosted.iter().flatten().find(|hosted| hosted.name() == name).map(|hosted| hosted.id)
    }

    /// Gives the resource a command; `asker` hears of the end.
    pub(super) fn command(&mut self, id: HostedId, command: Command, asker: Asker) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let kind = match command {
            Command::Promote(_) => CommandKind::Promote,
            Command::Demote => CommandKind::Demote,
            Command::Invalidate | Command::DiscardData { .. } => CommandKind::GiveUp,
            Command::Resize(_) => CommandKind::Resize,
            Command::Verify(_) => CommandKind::Verify,
            Command::Reopen => CommandKind::Reopen,
            Command::Detach | Command::Stop | Command::Suspend | Command::Resume => {
                CommandKind::Other
            }
        };
        let command_id = CommandId(hosted.next_command);
        hosted.next_command += 1;
        hosted.commands.push(PendingCommand { id: command_id, asker, kind });
        let input = ResourceInput::Command { id: command_id, command };
        self.rim.inbox.push_back((id, Input::Resource(input)));
    }

    pub(super) fn on_answer(
        &mut self,
        id: HostedId,
        command: CommandId,
        result: Result<CommandDone, CommandError>,
    ) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let Some(place) = hosted.commands.iter().position(|pending| pending.id == command) else {
            return;
        };
        let pending = hosted.commands.swap_remove(place);
        let asked = hosted.asked(pending.kind);
        if pending.kind == CommandKind::Redefine {
            hosted.redefinition.take_if(|_| result.is_err());
            if let Asker::Admin(ticket) = pending.asker {
                let answer = result
                    .map_err(|error| failure(error, &asked))
                    .and_then(|_| self.on_redefined(id));
                self.rim.reply(ticket, answer);
            }
            return;
        }
        if pending.kind == CommandKind::Attach && result.is_err() {
            hosted.withdraw_offer(&mut self.rim);
        }
        let result = result.map_err(|error| CommandError {
            message: in_names(&error.message, &hosted.definition),
            ..error
        });
        let told = result.as_ref().map(|_| ()).map_err(|error| error.message.clone());
        match pending.asker {
            Asker::Admin(ticket) => {
                if result.is_ok() && pending.kind.is_of_role() {
                    hosted.clients.is_explicit = pending.kind == CommandKind::Promote;
                }
                let mut warnings = match pending.kind {
                    CommandKind::Promote => hosted.warnings_of_primary(),
                    CommandKind::Verify => hosted.warnings_of_verify(),
                    CommandKind::Demote
                    | CommandKind::Attach
                    | CommandKind::Redefine
                    | CommandKind::GiveUp
                    | CommandKind::Resize
                    | CommandKind::Reopen
                    | CommandKind::Other => Vec::new(),
                };
                if result == Ok(CommandDone::WithoutForce) {
                    warnings.push(FORCE_NOT_NEEDED.to_owned());
                }
                let answer = result.map(|_| Reply::Done { warnings });
                self.rim.reply(ticket, answer.map_err(|error| failure(error, &asked)));
            }
            Asker::Device(ticket, place) => {
                hosted.clients.devices[place.index()] |= result.is_ok();
                let answer = result.map(|_| Reply::done());
                self.rim.reply(ticket, answer.map_err(|error| failure(error, &asked)));
            }
            Asker::Clients => {}
            Asker::Grace => {
                if let Err(reason) = &told {
                    log!(Warning, Scope::resource(hosted.name()), "it stays Primary: {reason}");
                }
            }
            Asker::Removal => {
                if let Err(reason) = &told {
                    log!(Warning, Scope::resource(hosted.name()), "it did not stop: {reason}");
                }
                self.remove_hosted(id);
                return;
            }
        }
        if pending.kind.is_of_role() {
            self.after_role_command(id, pending.kind, &told);
        }
    }

    /// Who asks puts nobody out unless this says that it is to be.
    fn on_check_fence(&mut self, id: HostedId, number: u64) -> Result<Option<Reply>, Failure> {
        if self.hosted_mut(id).resource.is_asking_to_fence(number) {
            return Ok(Some(Reply::done()));
        }
        let answer = ResourceInput::FenceAnswer { number, verdict: FenceVerdict::NotAsked };
        self.rim.inbox.push_back((id, Input::Resource(answer)));
        Err(fence_is_void())
    }

    fn on_promote(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        mode: PromoteMode,
    ) -> Result<Option<Reply>, Failure> {
        let hosted = self.hosted_mut(id);
        if hosted.is_changing_role() {
            return Err(busy());
        }
        if hosted.is_primary && mode == PromoteMode::Normal {
            hosted.clients.is_explicit = true;
            hosted.clients.grace_until = Time::NEVER;
            // Without a quorum it asks for proof again that the others are out.
            if hosted.resource.has_majority() {
                return Ok(Some(Reply::done()));
            }
        }
        self.command(id, Command::Promote(mode), Asker::Admin(ticket));
        Ok(None)
    }

    /// A disk that is given up already is no failure; a member without one by configuration is.
    fn on_detach(&mut self, id: HostedId, ticket: Ticket) -> Option<Reply> {
        let hosted = self.hosted_mut(id);
        if hosted.superblock_at.is_none() && hosted.definition.disk.is_some() {
            return Some(Reply::done());
        }
        self.command(id, Command::Detach, Asker::Admin(ticket));
        None
    }

    fn on_demote(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        force: Force,
    ) -> Result<Option<Reply>, Failure> {
        let clients = self.clients_of(id);
        let hosted = self.hosted_mut(id);
        if hosted.is_changing_role() {
            return Err(busy());
        }
        if !hosted.is_primary {
            return Ok(Some(Reply::done()));
        }
        if clients > 0 && force == Force::No {
            return Err(in_use(clients, "close them, or use --force to cut them off"));
        }
        self.end_sessions(id, "the operator made this node Secondary");
        self.command(id, Command::Demote, Asker::Admin(ticket));
        Ok(None)
    }

    pub(super) fn on_remove(
        &mut self,
        id: HostedId,
        ticket: Option<Ticket>,
        force: Force,
    ) -> Result<Option<Reply>, Failure> {
        let clients = self.clients_of(id);
        let now = self.rim.kit.now;
        let deadline = now + SHUTDOWN_DEADLINE / 2;
        let hosted = self.hosted_mut(id);
        if hosted.removal.is_some() {
            return Err(busy());
        }
        if clients > 0 && hosted.is_primary && force == Force::No {
            return Err(in_use(clients, "close them first"));
        }
        hosted.removal = Some(Removal { ticket, deadline, quorum_at: now, look_at: now });
        // Whoever holds the metadata of its disk lets go of it. If the mailbox is full, the
        // resource goes all the same, unclean at its deadline.
        let going = FromShard::Going { resource: hosted.name().to_owned() };
        drop(self.rim.outbox.push(going));
        self.broadcast(id, || ToPart::Withdraw);
        self.rim.withdraw(id);
        self.refuse_clients(id, "the resource is going down");
        self.end_sessions(id, "the resource is going down");
        self.command(id, Command::Stop, Asker::Removal);
        Ok(None)
    }

    fn on_connect(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        peer: Option<&str>,
        own_data: OwnData,
    ) -> Result<Option<Reply>, Failure> {
        let meant = self.hosted_mut(id).peers_meant(peer)?;
        let warnings = self.hosted_mut(id).split_brains(&meant);
        self.hold(id, peer, Held::No)?;
        if own_data == OwnData::Kept {
            return Ok(Some(Reply::Done { warnings }));
        }
        let peer = peer.and_then(|_| meant.first().copied());
        self.command(id, Command::DiscardData { peer }, Asker::Admin(ticket));
        Ok(None)
    }

    pub(super) fn hold(
        &mut self,
        id: HostedId,
        peer: Option<&str>,
        held: Held,
    ) -> Result<Option<Reply>, Failure> {
        let peers = self.hosted_mut(id).peers_meant(peer)?;
        for known in &mut self.hosted_mut(id).peers {
            known.is_congested &= !peers.contains(&known.node);
        }
        for peer in peers {
            self.rim.links.hold(id, peer, held, &mut self.rim.kit);
        }
        self.note_news(id);
        Ok(Some(Reply::done()))
    }

    fn stop(&mut self, ticket: Ticket) {
        if self.stopping.is_some() {
            return;
        }
        self.stopping = Some(Stopping { ticket });
        self.rim.stop_listening();
        let ids: Vec<_> = self.hosted.iter().flatten().map(|hosted| hosted.id).collect();
        for id in ids {
            // One that goes down already goes on doing so.
            drop(self.on_remove(id, None, Force::Yes));
        }
        self.finish_stopping();
    }

    /// Says so once no resource is at home here any more. The parts of others go on until they
    /// are told.
    pub(super) fn finish_stopping(&mut self) {
        if let Some(Stopping { ticket }) = self.stopping
            && self.hosted.iter().all(Option::is_none)
            && self.passing.is_empty()
        {
            self.rim.reply(ticket, Ok(Reply::done()));
        }
    }

    pub(super) fn hosted_mut(&mut self, id: HostedId) -> &mut Hosted {
        self.hosted[id.0 as usize].as_mut().expect("a resource that was found by its name")
    }
}

/// The core knows nodes by their numbers.
fn in_names(text: &str, definition: &Definition) -> String {
    let mut members: Vec<_> = definition.members.iter().collect();
    // That of node 10 begins as that of node 1.
    members.sort_unstable_by_key(|member| std::cmp::Reverse(member.node));
    members.iter().fold(text.to_owned(), |text, member| {
        text.replace(&format!("node {}", member.node), &member.name)
    })
}

fn fence_is_void() -> Failure {
    let message = "nobody asks any more whether the peer is out";
    Failure::new(FailureCode::StateRefused, message, "leave the peer alone")
}

fn in_use(clients: usize, hint: &str) -> Failure {
    Failure::new(FailureCode::DeviceInUse, format!("{clients} clients have it open"), hint)
}

#[cfg(test)]
mod tests;
