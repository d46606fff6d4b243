//! `up`: a resource is brought up, and comes up with the daemon from then on.
//!
//! In this order: the text is read into a definition, the disk of this node is read and locked by a
//! thread of its own, the home shard hosts the resource (it makes the groups and the links), and
//! the text is stored. A resource that is up with the same text gets what it is without: its disk,
//! and peers that are StandAlone.
//!
//! Also here: the same for `new-resource`, `adjust` and the start of the daemon, which bring a
//! resource up with fewer [`Parts`], or again.

use std::sync::Arc;
use std::time::Duration;

use api::request::AdjustScope;
use api::response::{Failure, FailureCode, Reply};
use engine::contract::ToShard;
use engine::definition::Definition;
use engine::handover::NewVolume;
use engine::limits::DISK_STALL_MAX;
use engine::log::{Scope, log};

use crate::attach::{attach, attach_without_disk, is_about_disk};
use crate::control::Control;
use crate::control::addresses::{missing_addresses, once_address_is_free};
use crate::control::notes::{with_note, with_warnings};
use crate::control::parts::{Missing, Parts};
use crate::control::texts::NewText;
use crate::control::up_lock::UpPermit;
use crate::crash;
use crate::limits::COMMAND_PATIENCE;
use crate::patience::Patience;
use crate::refusal::Refusal;

/// What is brought up.
#[derive(Clone, Copy, Debug)]
pub(super) struct BringUp<'a> {
    pub(super) new: NewText<'a>,
    pub(super) parts: Parts,
    /// Disks that it is to have, and gets once it is up: until then nothing says that they are its.
    pub(super) added: &'a [NewVolume],
}

/// How long to wait for disks.
#[derive(Debug)]
pub(super) struct DiskWait<'a> {
    /// For disks and addresses that something else has.
    pub(super) patience: &'a mut Patience,
    /// For a disk that gives no answer.
    pub(super) stall_max: Duration,
}

impl Control {
    /// Brings a resource up, and remembers that it is.
    /// A new resource may not have a name whose vote this node keeps: it would answer with that.
    pub(super) fn check_fresh(&self, resource: &str) -> Result<(), Failure> {
        if self.state.keeps_vote(resource) && self.is_up(resource).is_none() {
            return Err(Refusal::KeepsVote { resource: resource.to_owned() }.into());
        }
        Ok(())
    }

    pub(super) fn up(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        let permit = self.up_locks.begin_up(resource)?;
        Definition::from_text(&self.name, resource, text)
            .map_err(|failure| self.left_out(resource, failure))?;
        if let Some(running) = self.stored_text(resource)?
            && let Some(reply) = self.is_up(resource)
        {
            if running != text {
                return Err(Refusal::UpOtherwise { resource: resource.to_owned() }.into());
            }
            let missing = self.missing(resource, &AdjustScope::default())?;
            let warnings = self.complete(resource, &missing)?;
            return Ok(with_warnings(reply, warnings));
        }
        let new = NewText { resource, text, permit: &permit };
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        let whole = BringUp { new, parts: Parts::ALL, added: &[] };
        let brought = self.bring_up(whole, wait);
        let reply = brought.map_err(|failure| or_without_disk(resource, failure))?;
        let stored = self.store_text_of_new(new);
        self.follow_text(resource, &permit);
        stored.map(|()| reply)
    }

    /// Attaches and connects what is missing; says what a connection alone does not end.
    pub(super) fn complete(
        &self,
        resource: &str,
        missing: &Missing,
    ) -> Result<Vec<String>, Failure> {
        if missing.disk {
            self.attach(resource)?;
        }
        let peers = missing.peers.iter();
        let warnings: Result<Vec<_>, _> =
            peers.map(|peer| self.connect_peer(resource, &peer.name)).collect();
        Ok(warnings?.concat())
    }

    /// On a node that the text names no more its own name is not what is wrong.
    pub(super) fn left_out(&self, resource: &str, failure: Failure) -> Failure {
        if failure.code != FailureCode::NotOnThisNode || self.is_up(resource).is_none() {
            return failure;
        }
        let hint = format!("it is up here: `basalt adm down {resource}` once the others follow");
        Failure { hint, ..failure }
    }

    pub(super) fn is_up(&self, resource: &str) -> Option<Reply> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        self.ask(resource, question).ok().map(|_| Reply::done())
    }

    /// As `store_text`, of one that was just brought up.
    pub(super) fn store_text_of_new(&self, new: NewText<'_>) -> Result<(), Failure> {
        self.store_text(new).map_err(|failure| self.down_unless_stored(new, failure))
    }

    /// Attaches the disk, and has the home shard host the resource. The text is stored by whoever
    /// calls this.
    pub(super) fn bring_up(
        &self,
        BringUp { new, parts, added }: BringUp<'_>,
        DiskWait { patience, stall_max }: DiskWait<'_>,
    ) -> Result<Reply, Failure> {
        let NewText { resource, text, permit } = new;
        let mut definition = Definition::from_text(&self.name, resource, text)?;
        definition.takes_turns |= self.resync_order.is_bounded();
        self.check_secrecy(&definition)?;
        let reply = once_address_is_free(patience, |patience| {
            let mut wanted = definition.clone();
            let is_added = |place| added.iter().any(|new| new.disk.place == place);
            wanted.further.retain(|volume| !is_added(volume.place));
            let (_claim, attached) = if parts.has_disk {
                let claim = self.disk_work.claim(resource, stall_max)?;
                let state = Arc::clone(&self.state);
                let work = move |patience: &mut Patience| attach(wanted, &state, patience);
                let (claim, attached) = claim.done_in_time(patience, stall_max, work)?;
                (Some(claim), attached)
            } else {
                (None, attach_without_disk(wanted, &self.state, patience)?)
            };
            let mut attached = Box::new(attached);
            attached.definition = definition.clone();
            attached.apart = parts.apart;
            permit.bring_up(|| {
                // The resource may ask for its handlers as soon as it is there.
                let before = self.apply_settings(&definition);
                let hosted = self.ask(resource, |ticket| ToShard::Host { ticket, attached });
                let reply = hosted.inspect_err(|_| self.restore_settings(resource, before))?;
                // A `down` that comes after this ends these, too.
                if parts.has_disk || parts == Parts::NONE {
                    crash::lift(&self.state, resource);
                }
                self.without_disk().remove(resource);
                self.held_down().remove(resource);
                self.guests.open(&definition);
                Ok(reply)
            })
        })?;
        Ok(with_warnings(reply, missing_addresses(&definition)))
    }

    /// As it is to be; where its disk fails, or is not the one of its replica, without that: its
    /// vote, and the way to the others' data, need none.
    pub(super) fn bring_up_or_without_disk(
        &self,
        whole: BringUp<'_>,
        wait: DiskWait<'_>,
    ) -> Result<(), Failure> {
        let DiskWait { patience, stall_max } = wait;
        let Err(failure) = self.bring_up(whole, DiskWait { patience, stall_max }) else {
            return Ok(());
        };
        if !is_about_disk(&failure) || !whole.parts.has_disk {
            return Err(failure);
        }
        let parts = Parts { has_disk: false, ..whole.parts };
        let diskless = BringUp { parts, ..whole };
        if self.bring_up(diskless, DiskWait { patience, stall_max }).is_err() {
            return Err(failure);
        }
        let NewText { resource, permit, .. } = whole.new;
        log!(Error, Scope::resource(resource), "it is up without its disk: {failure}");
        self.note_without_disk(resource, &failure, permit);
        Ok(())
    }

    /// Why it is up without the disk that it should have.
    pub(super) fn note_without_disk(&self, resource: &str, why: &Failure, permit: &UpPermit) {
        let note = || self.without_disk().insert(resource.to_owned(), why.clone());
        drop(permit.unless_over(note));
    }
}

/// Whoever brings a resource up by hand is refused a wrong disk, and can go on without it.
pub(super) fn or_without_disk(resource: &str, failure: Failure) -> Failure {
    if !is_about_disk(&failure) {
        return failure;
    }
    let without = format!(
        "`basalt adm adjust --skip-disk {resource}` brings it up without its disk meanwhile: its \
         node votes then, and serves what the others have"
    );
    with_note(failure, &without)
}
