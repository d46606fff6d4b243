//! What initiators are told of this node as a way to a volume, and the front ends as one.

use api::response::Reply;
use format::ids::NodeId;
use frontend::nvme::view::{Namespace, Path, Subsystem};
use io::ListenAddr;
use stdx::time::Time;

use crate::clients::fact::Fact;
use crate::clients::nvme::{Offer, namespace_of};
use crate::clients::outstanding::Orphanage;
use crate::contract::{Exports, Ticket, ToPart};
use crate::hosted_id::HostedId;
use crate::limits::NVME_REFUSAL_REST;
use crate::shard::hosted::{CommandKind, Hosted};
use crate::shard::refusals::address_failure;
use crate::shard::{Rim, Shard};

impl Hosted {
    /// Primary means optimized: the node that was it before is sealed out by then. While another
    /// node is Primary, as far as one can tell here, it alone is the way.
    fn path(&self, now: Time) -> Path {
        if self.commands.iter().any(|command| command.kind == CommandKind::Demote) {
            return Path::Inaccessible;
        }
        if self.is_primary {
            return Path::Optimized;
        }
        let is_shut = self.way.shut_until != Time::NEVER && now < self.way.shut_until;
        if is_shut || !self.definition.auto_promote || self.removal.is_some() {
            return Path::Inaccessible;
        }
        let is_other = |node: &NodeId| *node != self.definition.me;
        let primary = self.resource.primary().filter(is_other);
        if primary.is_some_and(|primary| self.resource.is_connected(primary)) {
            return Path::Inaccessible;
        }
        Path::NonOptimized
    }
}

impl Hosted {
    /// One for each volume that is in use, and the first in any case.
    fn namespaces(&self) -> Vec<Namespace> {
        let volumes = self.definition.volumes().map(|volume| Namespace {
            number: namespace_of(volume.place),
            size_bytes: self.space.bytes_at(volume.place),
        });
        volumes.filter(|it| it.number == 1 || it.size_bytes > 0).collect()
    }
}

impl Shard {
    pub(super) fn listen_nvme(&mut self, ticket: Ticket, address: ListenAddr) {
        let Rim { nvme, kit, .. } = &mut self.rim;
        let listening = nvme.listen(address, kit);
        let answer = listening.map(|()| Reply::done()).map_err(|error| address_failure(&error));
        self.rim.reply(ticket, answer);
    }

    /// Tells the initiators when the resource became a better or worse way, or got another size or
    /// other names.
    pub(super) fn look_at_path(&mut self, id: HostedId) {
        let now = self.rim.kit.now;
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        if now >= hosted.way.shut_until {
            hosted.way.shut_until = Time::NEVER;
        }
        let (path, space, losses) = (hosted.path(now), hosted.space, hosted.resource.losses());
        if hosted.way.told == Some((path, space, losses)) {
            return;
        }
        hosted.way.told = Some((path, space, losses));
        hosted.way.changes += 1;
        let subsystem = Subsystem {
            name: hosted.name().to_owned(),
            id: hosted.definition.id.0,
            node: hosted.definition.me.get(),
            namespaces: hosted.namespaces(),
            path,
            changes: hosted.way.changes,
            losses,
        };
        self.broadcast(id, || ToPart::Path(Box::new(subsystem.clone())));
        self.rim.offer_path(id, subsystem);
    }

    /// This node could not become Primary, or is it no more: initiators try another one first.
    pub(super) fn shut_way(&mut self, id: HostedId) {
        let until = self.rim.kit.now + NVME_REFUSAL_REST;
        if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) {
            hosted.way.shut_until = until;
            self.note_cut(id);
            self.set_wake(id);
        }
    }

    /// The front ends take the way for closed: what it is now has to be told again.
    pub(super) fn note_cut(&mut self, id: HostedId) {
        if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) {
            hosted.way.told = None;
        }
        self.look_at_path(id);
    }
}

impl Rim {
    pub(super) fn pop_client_fact(&mut self) -> Option<Fact> {
        let fact = self.nbd.pop_fact().or_else(|| self.nvme.pop_fact());
        fact.or_else(|| self.vhost.pop_fact())
    }

    pub(super) fn clients_of(&self, id: HostedId) -> usize {
        self.nbd.clients_of(id) + self.nvme.clients_of(id) + self.vhost.clients_of(id)
    }

    pub(super) fn offer_path(&mut self, hosted: HostedId, subsystem: Subsystem) {
        self.nvme.offer(Offer { hosted, subsystem });
    }

    pub(super) fn withdraw(&mut self, id: HostedId) {
        self.nbd.withdraw(id);
        self.nvme.withdraw(id, &mut self.kit);
    }

    pub(super) fn admit(&mut self, id: HostedId, exports: &Exports) {
        match exports {
            Exports::Open => self.nbd.admit(id, &mut self.kit),
            Exports::Barred(reason) => self.bar(id, reason),
        }
        self.nvme.admit(id);
    }

    pub(super) fn bar(&mut self, id: HostedId, reason: &str) {
        self.nbd.refuse(id, reason, &mut self.kit);
    }

    pub(super) fn refuse(&mut self, id: HostedId, reason: &str) {
        self.nbd.refuse(id, reason, &mut self.kit);
        self.nvme.refuse(id);
        self.vhost.refuse(id, reason);
    }

    pub(super) fn end_sessions(&mut self, id: HostedId, reason: &str) {
        self.nbd.end_sessions(id, reason, &mut self.kit);
        self.nvme.end_sessions(id, &mut self.kit);
        self.vhost.end(id, reason, &mut self.kit);
    }

    pub(super) fn forget_orphans(&mut self, id: HostedId) {
        self.nbd.forget_orphans(id, &mut self.kit);
        self.nvme.forget_orphans(id, &mut self.kit);
        self.vhost.forget_orphans(id, &mut self.kit);
        self.ublk.forget_orphans(id, &mut self.kit);
    }

    pub(super) fn stop_listening(&mut self) {
        self.nbd.stop_listening(&mut self.kit);
        self.nvme.stop_listening(&mut self.kit);
    }
}
