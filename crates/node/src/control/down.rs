//! `down`: a resource is taken down, and does not come up with the daemon any more.
//!
//! In this order: a `down` begins at the up lock, block devices go, the home shard removes the
//! resource (or refuses), work on its disks ends, and what the node keeps of it is forgotten: the
//! text last. Also here: the removal that `adjust` and a failed `up` need, and what it takes to
//! hold a resource down that cannot come up.

use api::response::{Failure, FailureCode, Reply};
use engine::contract::{Force, ToShard};
use engine::log::{Scope, log};

use crate::control::Control;
use crate::control::notes::with_note;
use crate::control::texts::{NewText, state_failure};
use crate::crash;
use crate::limits::{DISK_END_STALL_MAX, REMOVAL_ANSWER_DEADLINE};
use crate::refusal::Refusal;

impl Control {
    /// Takes a resource down, and forgets it; also one that was to be up and is not.
    pub(super) fn down(&self, resource: &str, force: Force) -> Result<Reply, Failure> {
        let mut ending = self.up_locks.begin_down(resource)?;
        let removed = self.remove(resource, force);
        let is_to_be_up = match &removed {
            Err(failure) if failure.code == FailureCode::UnknownResource => {
                self.stored_text(resource)?.is_some()
            }
            Err(_) => return removed,
            Ok(_) => true,
        };
        // Who is to bring it up does not.
        ending.confirm();
        self.end_disk_work(resource);
        if !is_to_be_up {
            return removed;
        }
        self.guests.close(resource);
        self.forget_settings(resource);
        self.held_down().remove(resource);
        self.without_disk().remove(resource);
        crash::lift(&self.state, resource);
        self.unname_devices(resource);
        let forget = || self.state.forget_text(resource).map_err(state_failure);
        self.unsettled.end_with(resource, forget)?;
        self.place_threads();
        Ok(removed.unwrap_or_else(|_| Reply::done()))
    }

    /// Removes what the node keeps of a resource that is down, and is to come up no more.
    pub(super) fn forget(&self, resource: &str) -> Result<Reply, Failure> {
        let mut ending = self.up_locks.begin_down(resource)?;
        if self.stored_text(resource)?.is_some() {
            return Err(Refusal::StillUp { resource: resource.to_owned() }.into());
        }
        ending.confirm();
        self.state.forget(resource).map_err(state_failure)?;
        Ok(Reply::done())
    }

    /// Ends to serve a resource, its block device first. A data thread that has no time takes it
    /// down when it has some, whoever waits for that: only an answer says what becomes of it.
    pub(super) fn remove(&self, resource: &str, force: Force) -> Result<Reply, Failure> {
        self.without_device(resource, force, |name| {
            let resource = name.to_owned();
            let question = |ticket| ToShard::Remove { ticket, resource, force };
            self.desk.ask(self.desk.home_of(name), question, REMOVAL_ANSWER_DEADLINE)
        })
    }

    /// The disk is free: it may be given to something else, so nothing writes to it any more.
    pub(super) fn end_disk_work(&self, resource: &str) {
        if let Err(failure) = self.disk_work.end(resource, DISK_END_STALL_MAX) {
            log!(Warning, Scope::resource(resource), "something may yet be written: {failure}");
        }
    }

    /// What would not come up with the daemon does not stay up, either. What failed, and what
    /// became of it.
    pub(super) fn down_unless_stored(&self, new: NewText<'_>, failure: Failure) -> Failure {
        let NewText { resource, text, permit } = new;
        let stored = || self.stored_text(resource).ok().flatten();
        if !permit.is_over() && stored().as_deref() == Some(text) {
            // The file took its place, and only that this is durable is not known.
            return with_note(failure, "it stays up, and is to come up with the daemon");
        }
        // Where a `down` began, what is up by now is somebody else's.
        let Ok(mut ending) = permit.begin_down() else { return failure };
        match self.remove(resource, Force::Yes) {
            Ok(_) => {
                self.guests.close(resource);
                self.forget_settings(resource);
                self.without_disk().remove(resource);
                if stored().is_some() {
                    // With another text it is to be up all the same.
                    let up = format!("then `basalt adm up {resource}`");
                    self.hold_down(resource.to_owned(), with_note(failure.clone(), &up));
                }
                ending.confirm();
            }
            Err(second) => log!(Error, Scope::resource(resource), "it stays up: {second}"),
        }
        failure
    }

    pub(super) fn hold_down(&self, name: String, failure: Failure) {
        log!(Error, Scope::resource(&name), "it stays down: {failure}");
        self.held_down().insert(name, failure);
    }
}
