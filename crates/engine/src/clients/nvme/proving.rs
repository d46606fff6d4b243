//! Queues whose hosts have to prove that they know a secret, before anything else.
//!
//! A queue that has not proved itself can do nothing to others: it takes no command, and its end is
//! not that of the controller that it says to belong to. What takes long is done by a thread of its
//! own, and the queue waits for it.

use std::sync::Arc;

use frontend::nvme::auth::proof::Parties;
use frontend::nvme::auth::{
    Exchange, Failure, Finding, RANDOM_BYTES, Received, Sent, Task, is_part,
};
use frontend::nvme::connect::Connect;
use frontend::nvme::send::Completion;
use frontend::nvme::status::Status;
use frontend::nvme::wire::{FABRICS_AUTHENTICATION_SEND, SUBSYSTEM_NQN_PREFIX, Sqe};
use stdx::time::Time;

use crate::clients::nvme::admin::Session;
use crate::clients::nvme::hosts::{HostCheck, Job};
use crate::clients::nvme::queue::{Proving, Queue, Stage};
use crate::clients::nvme::{Nvme, Offer};
use crate::kit::Kit;
use crate::limits::{NVME_PROOF_DEADLINE, NVME_PROOFS_MAX};
use crate::log::{Scope, log};
use crate::slab::Key;

impl Proving {
    pub(super) fn new(parties: Arc<Parties>) -> Self {
        let name = parties.subsystem.strip_prefix(SUBSYSTEM_NQN_PREFIX);
        let resource = name.unwrap_or(&parties.subsystem).to_owned();
        let host = parties.host.clone();
        Self { exchange: Exchange::new(parties), host, resource, waiting: None }
    }
}

impl Queue {
    /// It has to prove itself first.
    pub(super) fn is_locked(&self) -> bool {
        self.proving.as_ref().is_some_and(|proving| !proving.exchange.is_proved())
    }

    /// It takes no command for now.
    pub(super) fn is_proving(&self) -> bool {
        self.proving.as_ref().is_some_and(|proving| proving.exchange.is_working())
    }
}

impl HostCheck {
    /// Whether a host is told of a resource. Who it is, is not proved by then.
    pub(super) fn may_hear(&self, session: &Session, offer: &Offer) -> bool {
        self.hosts.may_use(&session.machine.host, &offer.subsystem.name)
    }
}

impl Nvme {
    pub(crate) fn set_host_check(&mut self, check: Arc<HostCheck>) {
        self.host_check = Some(check);
    }

    /// What a host that connects has to prove; none where nothing is asked. Discovery is open.
    pub(super) fn parties_of(&self, connect: &Connect) -> Result<Option<Arc<Parties>>, Completion> {
        let resource = connect.subsystem.strip_prefix(SUBSYSTEM_NQN_PREFIX);
        let (Some(check), Some(resource)) = (&self.host_check, resource) else { return Ok(None) };
        let parties = check.hosts.parties(&connect.host, resource);
        if parties.is_none() {
            let host = &connect.host;
            log!(
                Warning,
                Scope::NODE,
                "NVMe host {host} may not use {resource:?}: the file of --nvme-auth has no line \
                 for them"
            );
            return Err(Completion::of(connect.command, Status::CONNECT_HOST));
        }
        Ok(parties)
    }

    pub(super) fn begin_proof(&mut self, key: Key, parties: Arc<Parties>, kit: &Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        queue.proving = Some(Box::new(Proving::new(parties)));
        queue.deadline = kit.now + NVME_PROOF_DEADLINE;
        self.waiting.come_by(queue.deadline);
    }

    /// Takes a command that is one of the exchange, or comes before it is over. False if it is to
    /// be carried out.
    pub(super) fn take_part(&mut self, key: Key, sqe: &Sqe, data: &[u8], kit: &mut Kit) -> bool {
        let Some(queue) = self.queues.get(key) else { return true };
        if queue.proving.is_none() {
            return false;
        }
        if is_part(sqe) {
            self.note_sign_of_life(key, kit);
            if sqe.fabrics_kind() == FABRICS_AUTHENTICATION_SEND {
                self.on_part_sent(key, sqe, data, kit);
            } else {
                self.on_part_wanted(key, sqe, kit);
            }
            return true;
        }
        let is_locked = queue.is_locked();
        if is_locked {
            let end = Completion::of(sqe.command(), Status::AUTHENTICATION_REQUIRED);
            self.answer(key, &end, kit);
        }
        is_locked
    }

    /// A host that proves itself queue by queue says nothing on the admin queue meanwhile.
    fn note_sign_of_life(&mut self, key: Key, kit: &Kit) {
        let controller = self.queues.get(key).and_then(Queue::ends_with_it);
        if let Some(session) = controller.and_then(|it| self.controllers.get_mut(it)) {
            session.heard_at = kit.now;
        }
    }

    fn on_part_sent(&mut self, key: Key, sqe: &Sqe, data: &[u8], kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let Some(proving) = queue.proving.as_mut() else { return };
        let sent = proving.exchange.on_send(sqe, data, &random());
        // A host that proves itself again has as long as at first.
        if proving.exchange.is_under_way() && queue.deadline == Time::NEVER {
            queue.deadline = kit.now + NVME_PROOF_DEADLINE;
            self.waiting.come_by(queue.deadline);
        }
        let end = |status| Completion::of(sqe.command(), status);
        match sent {
            Sent::Work(task) => {
                proving.waiting = Some(sqe.command());
                self.hand_over(key, task, kit);
            }
            Sent::Taken => self.answer(key, &end(Status::SUCCESS), kit),
            Sent::Refused(status) => self.answer(key, &end(status), kit),
            Sent::Proved => {
                self.answer(key, &end(Status::SUCCESS), kit);
                self.on_proved(key, kit);
            }
            Sent::GivenUp { explanation } => {
                let scope = Scope::resource(&proving.resource);
                let host = &proving.host;
                log!(
                    Warning,
                    scope,
                    "NVMe host {host} ended the authentication, reason {explanation}: compare its \
                     --dhchap-ctrl-secret with the second secret of its line in the file of \
                     --nvme-auth"
                );
                self.answer(key, &end(Status::SUCCESS), kit);
                self.end_unproved(key, kit);
            }
        }
    }

    /// Has the work done elsewhere.
    fn hand_over(&mut self, key: Key, task: Task, kit: &mut Kit) {
        let is_room = Arc::strong_count(&self.jobs) <= NVME_PROOFS_MAX;
        let Some(check) = self.host_check.as_ref().filter(|_| is_room) else {
            return self.close(key, "too many hosts prove themselves at a time", kit);
        };
        let count = Arc::clone(&self.jobs);
        let job = Job { shard: kit.me, queue: key, task, count };
        if check.prover.send(job).is_err() {
            self.close(key, "the thread that checks proofs is gone", kit);
        }
    }

    /// The work of a queue is done.
    pub(crate) fn on_finding(&mut self, key: Key, finding: Finding, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let Some(proving) = queue.proving.as_mut() else { return };
        proving.exchange.on_finding(finding);
        if let Some(command) = proving.waiting.take() {
            self.answer(key, &Completion::of(command, Status::SUCCESS), kit);
        }
        self.mark(key);
    }

    fn on_part_wanted(&mut self, key: Key, sqe: &Sqe, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let Some(proving) = queue.proving.as_mut() else { return };
        let mut told = Vec::new();
        let received = proving.exchange.on_receive(sqe, &mut told);
        let status = match received {
            Received::Refused(status) => status,
            Received::Told | Received::Proved | Received::Failed(_) => Status::SUCCESS,
        };
        let end = Completion::of(sqe.command(), status);
        if !queue.give(end.command, &told, kit) || !queue.complete(&end, kit) {
            return self.close(key, "no buffer is free", kit);
        }
        self.mark(key);
        match received {
            Received::Told | Received::Refused(_) => {}
            Received::Proved => self.on_proved(key, kit),
            Received::Failed(why) => self.on_refuted(key, why, kit),
        }
    }

    fn on_refuted(&mut self, key: Key, why: Failure, kit: &mut Kit) {
        if let Some(proving) = self.queues.get(key).and_then(|queue| queue.proving.as_ref()) {
            let (scope, host) = (Scope::resource(&proving.resource), &proving.host);
            log!(Warning, scope, "NVMe host {host} was refused: {}", why.in_words());
        }
        self.end_unproved(key, kit);
    }

    /// What is to be said is said, and then the connection ends.
    fn end_unproved(&mut self, key: Key, kit: &mut Kit) {
        if let Some(controller) = self.leave(key, kit) {
            self.end_controller(controller, "its host has not proved itself", kit);
        }
        self.mark(key);
    }

    fn on_proved(&mut self, key: Key, kit: &mut Kit) {
        self.note_sign_of_life(key, kit);
        let Some(queue) = self.queues.get_mut(key) else { return };
        queue.deadline = Time::NEVER;
        let number = queue.number();
        let controller = match &queue.stage {
            Stage::Io(it) => it.controller,
            Stage::Admin { .. } => {
                if let Some(proving) = &queue.proving {
                    let (scope, host) = (Scope::resource(&proving.resource), &proving.host);
                    log!(Info, scope, "NVMe host {host} has proved itself");
                }
                // Only now it is certain that it is the same host.
                return self.end_former(key, kit);
            }
            Stage::Greeting | Stage::Leaving => return,
        };
        if self.is_taken(controller, number, key) {
            log!(Info, Scope::NODE, "an initiator was let go: it has queue {number} already");
            // The controller and its other queue go on.
            self.leave(key, kit);
        }
    }
}

fn random() -> [u8; RANDOM_BYTES] {
    let words = [(); RANDOM_BYTES / 16].map(|()| io::random_u128().to_le_bytes());
    words.as_flattened().try_into().expect("so many words")
}
