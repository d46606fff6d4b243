//! The role follows the clients: Primary when one comes, Secondary after the last one left.

use api::role::Role;
use replication::contract::{Command, PromoteMode};
use stdx::time::Time;

use crate::clients::fact::Comer;
use crate::contract::{Exports, Fact, ToPart};
use crate::hosted_id::HostedId;
use crate::limits::{AUTO_DEMOTE_GRACE, REMOVAL_POLL_INTERVAL, REMOVAL_WITHOUT_QUORUM};
use crate::log::{Scope, log};
use crate::shard::hosted::{Asker, Clients, CommandKind, Hosted};
use crate::shard::{Rim, Shard};

impl Clients {
    /// Whether the node stays Primary without clients.
    fn is_kept(&self) -> bool {
        self.is_explicit || self.devices.contains(&true)
    }
}

impl Shard {
    /// A client waits for the resource to be Primary here.
    pub(super) fn on_wanted(&mut self, id: HostedId, by: Comer) {
        self.note_news(id);
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            self.refuse_clients(id, "the resource went down");
            return;
        };
        if hosted.removal.is_some() {
            self.refuse_clients(id, "the resource is going down");
            return;
        }
        if hosted.is_changing_role() {
            // The answer of that command looks at the clients again.
            hosted.clients.wanted_by = hosted.clients.wanted_by.max(Some(by));
            return;
        }
        if by == Comer::Export
            && let Some(reason) = hosted.barred().map(|reason| reason.to_string())
        {
            // It changes no role: one that tries again and again would keep another node from it.
            self.broadcast(id, || ToPart::Bar(reason.as_str().into()));
            self.rim.bar(id, &reason);
            return;
        }
        hosted.clients.grace_until = Time::NEVER;
        if hosted.is_primary {
            hosted.clients.wanted_by = None;
            let barred = hosted.barred();
            let exports =
                barred.map_or(Exports::Open, |reason| Exports::Barred(reason.to_string().into()));
            self.broadcast(id, || ToPart::Admit(exports.clone()));
            self.rim.admit(id, &exports);
            self.admit_guests(id);
        } else if hosted.definition.auto_promote {
            hosted.clients.wanted_by = Some(by);
            self.command(id, Command::Promote(PromoteMode::Normal), Asker::Clients);
        } else {
            let text = "this node is Secondary and `auto-promote` is off; use `basalt adm primary`";
            self.refuse_clients(id, text);
        }
    }

    /// Sends the clients of all shards away that wait for the resource.
    pub(super) fn refuse_clients(&mut self, id: HostedId, reason: &str) {
        self.broadcast(id, || ToPart::Refuse(reason.into()));
        self.rim.refuse(id, reason);
        self.shut_way(id);
    }

    /// Cuts the clients of all shards off that use the resource.
    pub(super) fn end_sessions(&mut self, id: HostedId, reason: &str) {
        self.broadcast(id, || ToPart::EndSessions(reason.into()));
        self.rim.end_sessions(id, reason);
        self.note_cut(id);
    }

    /// Clients of the resource that wait or are served, on all shards.
    pub(super) fn clients_of(&self, id: HostedId) -> usize {
        let hosted = self.hosted.get(id.0 as usize).and_then(Option::as_ref);
        let elsewhere = hosted.map_or(0, |hosted| hosted.clients_elsewhere.iter().sum());
        self.rim.clients_of(id) + usize::try_from(elsewhere).unwrap_or(usize::MAX)
    }

    pub(super) fn on_left(&mut self, id: HostedId) {
        self.note_news(id);
        let now = self.rim.kit.now;
        let has_clients = self.clients_of(id) > 0;
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        if has_clients {
            return;
        }
        hosted.clients.wanted_by = None;
        if hosted.is_primary && !hosted.clients.is_kept() {
            // Those that were refused meanwhile prolong nothing.
            let until = now + AUTO_DEMOTE_GRACE;
            hosted.clients.grace_until = hosted.clients.grace_until.min(until);
            self.set_wake(id);
        }
    }

    /// What a resource waits for, beside its machines.
    pub(super) fn tick_hosted(&mut self, id: HostedId) {
        let now = self.rim.kit.now;
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        if let Some(reason) = hosted.stuck_removal(now) {
            log!(
                Warning,
                Scope::resource(hosted.name()),
                "it did not stop cleanly, {reason}: what is not clean is recovered at the next \
                     start"
            );
            self.remove_hosted(id);
            return;
        }
        if now >= hosted.clients.grace_until {
            hosted.clients.grace_until = Time::NEVER;
            let goes_back =
                hosted.is_primary && !hosted.clients.is_kept() && !hosted.is_changing_role();
            if goes_back && self.clients_of(id) == 0 {
                self.command(id, Command::Demote, Asker::Grace);
            }
        }
        self.look_at_path(id);
    }

    pub(super) fn on_role_changed(&mut self, id: HostedId, role: Role) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let is_primary = role == Role::Primary;
        if hosted.is_primary == is_primary {
            return;
        }
        hosted.is_primary = is_primary;
        log!(Notice, Scope::resource(hosted.name()), "this node is {role}");
        if !is_primary {
            hosted.fails_requests = false;
            let is_asked = hosted.commands.iter().any(|it| it.kind == CommandKind::Demote);
            if !is_asked && hosted.removal.is_none() {
                self.rim.tell_fact(&hosted.definition.name, Fact::PrimaryLost);
            }
            hosted.clients = Clients { wanted_by: hosted.clients.wanted_by, ..Clients::default() };
            self.end_sessions(id, "this node is no longer Primary");
            let Rim { kit, ublk, .. } = &mut self.rim;
            ublk.end(id, "this node is no longer Primary", kit);
            self.shut_way(id);
        }
        self.look_at_path(id);
        self.note_news(id);
    }

    /// The role may have changed, or could not: clients that wait are served or sent away.
    pub(super) fn after_role_command(
        &mut self,
        id: HostedId,
        kind: CommandKind,
        result: &Result<(), String>,
    ) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let Some(by) = hosted.clients.wanted_by.take() else {
            // Nobody waits any more: after the grace time the node goes back.
            self.on_left(id);
            return;
        };
        // It may be Primary all the same: then it could not go on alone.
        let is_primary = hosted.is_primary;
        match (kind, result) {
            (CommandKind::Promote, Err(reason)) if !is_primary => {
                self.refuse_clients(id, reason);
            }
            _ => self.on_wanted(id, by),
        }
    }
}

impl Hosted {
    /// Why the resource cannot be waited for any longer, if it goes down and does not get there.
    fn stuck_removal(&mut self, now: Time) -> Option<&'static str> {
        let removal = self.removal.as_mut()?;
        if now >= removal.deadline {
            return Some("it took too long");
        }
        if now < removal.look_at {
            return None;
        }
        removal.look_at = now + REMOVAL_POLL_INTERVAL;
        if !self.is_primary || self.resource.status().has_majority {
            removal.quorum_at = now;
        }
        let is_alone = now.since(removal.quorum_at) >= REMOVAL_WITHOUT_QUORUM;
        is_alone.then_some("there is no quorum to step down with")
    }
}
