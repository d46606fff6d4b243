//! `adjust`: a resource as its configuration wants it, with as little disturbed as can be.

use std::iter;

use api::request::AdjustScope;
use api::response::{Failure, FailureCode, Reply};
use api::role::Role;
use config::steps::{Reach, Skipped, Step, steps_but};
use engine::contract::{Force, ToShard};
use engine::definition::{Definition, DiskPlace};
use engine::handover::{Apart, NewVolume};
use engine::limits::DISK_STALL_MAX;
use replication::contract::PromoteMode;

use crate::control::Control;
use crate::control::addresses::missing_addresses;
use crate::control::notes::with_note;
use crate::control::parts::{Missing, MissingPeer, Parts, ids_of};
use crate::control::texts::{NewText, read_text, state_failure};
use crate::control::up::{BringUp, DiskWait, or_without_disk};
use crate::control::up_lock::UpPermit;
use crate::limits::{ADMIN_COMMAND_DEADLINE, COMMAND_PATIENCE, MEMBERS_PATIENCE};
use crate::patience::Patience;
use crate::refusal::Refusal;
use crate::state_dir::Unfinished;

/// Whether `adjust` does what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    DryRun,
    Do,
}

const REST_COMES_LATER: &str = "disks and peers that are missing come with another `adjust` then";

/// What lies between a running resource and a text.
struct Differences {
    wanted: Definition,
    running: Option<String>,
    steps: Vec<Step>,
}

/// What is to be done about them.
struct Change {
    wanted: Definition,
    /// What runs, where that is not stored yet.
    waiting: Option<String>,
    missing: Missing,
    added: Vec<NewVolume>,
    /// The text, which is written and has not taken its place.
    fresh: Unfinished,
}

/// What a resource was that goes down for a change.
struct Former {
    text: String,
    parts: Parts,
    was_primary: bool,
    /// Peers that it is to meet again once it is Primary.
    split: Vec<MissingPeer>,
    /// Why it is without the disk that it should have.
    no_disk: Option<Failure>,
}

impl Control {
    /// What `adjust` would do, and the text that is running.
    fn differences(
        &self,
        resource: &str,
        text: &str,
        scope: &AdjustScope,
    ) -> Result<Differences, Failure> {
        let wanted = Definition::from_text(&self.name, resource, text)
            .map_err(|failure| self.left_out(resource, failure))?;
        let running = self.stored_text(resource)?.filter(|_| self.is_up(resource).is_some());
        let read = |text: &str| read_text(resource, text);
        let before = running.as_deref().map(read).transpose()?;
        let skipped = Skipped { disks: scope.skip_disk, connections: scope.skip_net };
        let steps = steps_but(before.as_ref(), &read(text)?, &self.name, skipped);
        Ok(Differences { wanted, running, steps })
    }

    /// Makes a resource follow a text. What cannot change while it is up makes it go down and up
    /// again; if that fails, the running state stays what it was.
    pub(super) fn adjust(
        &self,
        resource: &str,
        text: &str,
        mode: Mode,
        scope: &AdjustScope,
    ) -> Result<Reply, Failure> {
        let permit = self.up_locks.begin_up(resource)?;
        let waiting = self.unsettled.text(resource);
        let Differences { wanted, running, steps } = self.differences(resource, text, scope)?;
        let is_restart = steps.iter().any(|step| step.reach == Reach::Structure);
        let missing = match &running {
            Some(_) => self.missing(resource, scope)?,
            None => Missing::default(),
        };
        let mut changes: Vec<_> = steps.into_iter().map(|step| step.text).collect();
        if !is_restart {
            changes.extend(self.completing_steps(resource, text, &missing)?);
        }
        let mut warnings = wanted.warnings.clone();
        warnings.extend(missing_addresses(&wanted));
        if mode == Mode::DryRun {
            return Ok(Reply::Adjusted { changes, warnings });
        }
        if let Some(running) = running.as_deref().filter(|_| is_restart) {
            waiting.iter().try_for_each(|it| check_nothing_waits(resource, running, it))?;
            self.check_volumes_stay(resource, running, &wanted)?;
        }
        let added = match &running {
            Some(running) if !scope.skip_disk => self.added_disks(resource, running, &wanted)?,
            Some(_) | None => Vec::new(),
        };
        if running.as_deref() == Some(text) && waiting.is_none() {
            warnings.extend(self.complete(resource, &missing)?);
            self.add_volumes(&wanted, added)?;
            return Ok(Reply::Adjusted { changes, warnings });
        }
        let change = Change {
            fresh: self.state.prepare_text(resource, text).map_err(state_failure)?,
            waiting,
            wanted,
            missing,
            added,
        };
        let new = NewText { resource, text, permit: &permit };
        let done = match running {
            None => self.bring_up_adjusted(new, change.fresh, scope),
            Some(running) if is_restart => self.adjust_by_restart(new, running, scope, change),
            Some(running) => self.adjust_running(new, running, change),
        };
        // Whatever became of it: some of it may be done.
        self.follow_text(resource, &permit);
        warnings.extend(done?);
        Ok(Reply::Adjusted { changes, warnings })
    }

    /// The named peer is connected once the text is stored: else it stays up without one.
    fn bring_up_adjusted(
        &self,
        new: NewText<'_>,
        fresh: Unfinished,
        scope: &AdjustScope,
    ) -> Result<Vec<String>, Failure> {
        let NewText { resource, permit, .. } = new;
        self.bring_up_for(new, scope)?;
        let stored = self.keep_text(resource, fresh, permit);
        stored.map_err(|failure| self.down_unless_stored(new, failure))?;
        self.connect_named(resource, scope)?;
        Ok(Vec::new())
    }

    /// `adjust` of a resource that is not up.
    fn bring_up_for(&self, new: NewText<'_>, scope: &AdjustScope) -> Result<(), Failure> {
        let is_partial = scope.skip_net || scope.peer.is_some();
        let apart = if is_partial { Apart::All } else { Apart::NOBODY };
        let parts = Parts { has_disk: !scope.skip_disk, apart };
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        let brought = self.bring_up(BringUp { new, parts, added: &[] }, wait);
        brought.map(drop).map_err(|failure| or_without_disk(new.resource, failure))
    }

    /// The peer that it is about, once it is up.
    fn connect_named(&self, resource: &str, scope: &AdjustScope) -> Result<(), Failure> {
        match &scope.peer {
            Some(peer) if !scope.skip_net => self.connect_peer(resource, peer).map(drop),
            Some(_) | None => Ok(()),
        }
    }

    /// Without disturbing it. Warnings come of it.
    fn adjust_running(
        &self,
        new: NewText<'_>,
        running: String,
        change: Change,
    ) -> Result<Vec<String>, Failure> {
        let Change { wanted, missing, added, fresh, waiting } = change;
        let NewText { resource, permit, .. } = new;
        if let Some(waits) = self.redefine(new, &wanted)? {
            // Until then a restart must know of everyone who is needed.
            let is_more = !(missing.is_empty() && added.is_empty());
            let rest = is_more.then(|| REST_COMES_LATER.to_owned());
            return Ok([waits].into_iter().chain(rest).collect());
        }
        // Whoever starts from here on finds the volumes that the replica has.
        let former = waiting.unwrap_or(running);
        self.keep_text(resource, fresh, permit)
            .map_err(|failure| self.define_back(new, &former, failure))?;
        let warnings = self.complete(resource, &missing)?;
        self.add_volumes(&wanted, added)?;
        Ok(warnings)
    }

    fn adjust_by_restart(
        &self,
        new: NewText<'_>,
        running: String,
        scope: &AdjustScope,
        change: Change,
    ) -> Result<Vec<String>, Failure> {
        let Change { wanted, added, fresh, .. } = change;
        let resource = new.resource;
        let former = self.former(resource, running)?;
        let parts = former.parts.after_change(scope, &wanted, ids_of(&former.split));
        self.restart(&former, BringUp { new, parts, added: &added }, fresh)?;
        let is_more = !added.is_empty();
        let in_use = if is_more { self.add_volumes(&wanted, added) } else { Ok(()) };
        let warnings = self.primary_again(resource, &former);
        in_use.map(|()| warnings)
    }

    fn former(&self, resource: &str, text: String) -> Result<Former, Failure> {
        let was_primary = self.is_primary(resource)?;
        let role = if was_primary { Role::Primary } else { Role::Secondary };
        let (parts, split) = self.parts_of(resource, role)?;
        Ok(Former {
            text,
            parts,
            was_primary,
            split,
            no_disk: self.without_disk().get(resource).cloned(),
        })
    }

    /// Takes it down, and up with another text; where that cannot be had, or not be stored, it goes
    /// back, and what failed first is told.
    fn restart(
        &self,
        former: &Former,
        changed: BringUp<'_>,
        fresh: Unfinished,
    ) -> Result<(), Failure> {
        let new = changed.new;
        let NewText { resource, text, permit } = new;
        self.remove(resource, Force::No)?;
        self.unsettled.forget(resource);
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        self.bring_up(changed, wait)
            .map_err(|failure| self.go_back(resource, former, permit, failure))?;
        if !changed.parts.has_disk
            && let Some(why) = &former.no_disk
            && self.disks_in(resource, &former.text) == self.disks_in(resource, text)
        {
            self.note_without_disk(resource, why, permit);
        }
        let Err(failure) = self.keep_text(resource, fresh, permit) else { return Ok(()) };
        if !self.is_stored_otherwise(new) {
            let notes = self.primary_again(resource, former).into_iter();
            return Err(notes.fold(failure, |failure, note| with_note(failure, &note)));
        }
        if let Err(second) = self.remove(resource, Force::No) {
            return Err(with_note(failure, &runs_otherwise(&second)));
        }
        Err(self.go_back(resource, former, permit, failure))
    }

    /// Those that a text names for this node.
    fn disks_in(&self, resource: &str, text: &str) -> Option<Vec<Option<DiskPlace>>> {
        let definition = Definition::from_text(&self.name, resource, text).ok()?;
        Some(definition.volumes().map(|volume| volume.disk.cloned()).collect())
    }

    /// Whether another text than the one that runs comes up with the daemon.
    fn is_stored_otherwise(&self, new: NewText<'_>) -> bool {
        let NewText { resource, text, permit } = new;
        // Where the file took its place, and only that this is durable is not known, they agree.
        !permit.is_over() && self.stored_text(resource).is_ok_and(|it| it.as_deref() != Some(text))
    }

    /// What was taken over could not be stored: what is stored, or waits to be, runs again. What
    /// failed, and what else there is to know of it.
    fn define_back(&self, new: NewText<'_>, former: &str, failure: Failure) -> Failure {
        if !self.is_stored_otherwise(new) {
            return failure;
        }
        let former = NewText { text: former, ..new };
        let back = Definition::from_text(&self.name, former.resource, former.text)
            .and_then(|definition| self.redefine(former, &definition));
        match back {
            Ok(_) => failure,
            Err(second) => with_note(failure, &runs_otherwise(&second)),
        }
    }

    /// What failed, and what else there is to know of it.
    fn go_back(
        &self,
        resource: &str,
        former: &Former,
        permit: &UpPermit,
        failure: Failure,
    ) -> Failure {
        let Former { text, parts, no_disk, .. } = former;
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let back = BringUp { new: NewText { resource, text, permit }, parts: *parts, added: &[] };
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        if let Err(second) = self.bring_up_or_without_disk(back, wait) {
            if permit.is_over() {
                return second;
            }
            let up = format!("then `basalt adm up {resource}`");
            let note = format!("it stays down, the former configuration fails too: {second}; {up}");
            let hold_down = || {
                // Who brought it up while it was down for the change has it with all that it needs.
                let is_anothers = self.is_up(resource).is_some();
                if !is_anothers {
                    self.guests.close(resource);
                    self.forget_settings(resource);
                    self.hold_down(resource.to_owned(), with_note(second, &up));
                }
                is_anothers
            };
            return match permit.unless_over(hold_down) {
                Ok(true) => with_note(failure, "another command brought it up meanwhile"),
                Ok(false) | Err(_) => with_note(failure, &note),
            };
        }
        if let Some(why) = no_disk {
            self.note_without_disk(resource, why, permit);
        }
        let lost = self.without_disk().get(resource).filter(|_| parts.has_disk).cloned();
        let lost = lost.map(|why| format!("it runs without its former disk: {why}"));
        let notes = lost.into_iter().chain(self.primary_again(resource, former));
        notes.fold(failure, |failure, note| with_note(failure, &note))
    }

    fn is_primary(&self, resource: &str) -> Result<bool, Failure> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        let Reply::Status(status) = self.ask(resource, question)? else { return Ok(false) };
        Ok(status.resources.iter().any(|it| it.role == Role::Primary))
    }

    /// The role, which a restart took away, is what the operator gave: no client had it open.
    /// Warnings come of it.
    fn primary_again(&self, resource: &str, former: &Former) -> Vec<String> {
        if !former.was_primary {
            return Vec::new();
        }
        let mut warnings = match self.primary(resource, PromoteMode::Normal, ADMIN_COMMAND_DEADLINE)
        {
            Ok(Reply::Done { warnings }) => warnings,
            Ok(_) => Vec::new(),
            Err(failure) => {
                let role = if failure.code == FailureCode::Timeout {
                    // A promotion that ended has another reason.
                    format!(
                        "it was Primary, and its promotion takes long, and goes on: \
                         `basalt adm primary {resource}` makes the block device once `status` \
                         tells that it is Primary"
                    )
                } else {
                    format!("it was Primary, and is Secondary now: {failure}")
                };
                // As a Secondary it could be the one that gives way.
                let apart = former.split.iter().map(|peer| {
                    let name = &peer.name;
                    format!(
                        "{name} is kept apart: `basalt adm connect {resource}:{name}` once this \
                         node is Primary again"
                    )
                });
                return iter::once(role).chain(apart).collect();
            }
        };
        for peer in &former.split {
            if let Err(failure) = self.connect_peer(resource, &peer.name) {
                warnings.push(format!("{} is kept apart: {failure}", peer.name));
            }
        }
        warnings
    }

    /// Gives a running resource another definition, without disturbing it; says who keeps the text
    /// of it from being stored.
    fn redefine(&self, new: NewText<'_>, wanted: &Definition) -> Result<Option<String>, Failure> {
        let NewText { resource, text, permit } = new;
        self.check_secrecy(wanted)?;
        self.check_addresses(wanted)?;
        let mut patience = Patience::new(MEMBERS_PATIENCE);
        let mut is_noted = false;
        // Before the shard is told: what it asks then is for these.
        let settings = permit.try_settings(|| self.apply_settings(wanted))?;
        loop {
            let question = |ticket| {
                let mut definition = Box::new(wanted.clone());
                definition.takes_turns |= self.resync_order.is_bounded();
                ToShard::Redefine { ticket, definition }
            };
            let reply = match self.ask_until_ready(resource, &mut patience, question) {
                Ok(reply) => {
                    permit.keep_settings(settings);
                    reply
                }
                Err(failure) if is_noted => return Err(failure),
                Err(failure) => {
                    let is_gone = failure.code == FailureCode::UnknownResource;
                    // Whoever took it down has forgotten them, or does so.
                    permit.fail_settings(settings, |before| match is_gone {
                        true => self.forget_settings(resource),
                        false => self.restore_settings(resource, before),
                    });
                    return Err(failure);
                }
            };
            let Reply::Done { mut warnings } = reply else { return Ok(None) };
            let Some(waits) = warnings.pop() else { return Ok(None) };
            if is_noted && !patience.rest(&waits) {
                return Ok(Some(waits));
            }
            // Before it is asked again: who was waited for may be gone since it answered.
            self.unsettled.note(resource, text, permit);
            is_noted = true;
        }
    }
}

fn runs_otherwise(second: &Failure) -> String {
    format!("it runs with what was to be stored, a restart takes the former: {second}")
}

/// A restart begins with the stored text, and would undo without a word what runs and waits to be
/// stored: refused before anything ends.
fn check_nothing_waits(resource: &str, stored: &str, waiting: &str) -> Result<(), Failure> {
    if stored == waiting {
        // It was stored a moment ago.
        return Ok(());
    }
    let (stored, waiting) = (read_text(resource, stored)?, read_text(resource, waiting)?);
    let dropped: Vec<String> = stored
        .hosts
        .iter()
        .filter_map(|host| match waiting.host_by_name(&host.name) {
            None => Some(host.name.clone()),
            Some(other) if other.node_id == host.node_id => None,
            Some(_) => Some(format!("{} (node-id {})", host.name, host.node_id)),
        })
        .collect();
    let (resource, needed) = (resource.to_owned(), dropped.join(", "));
    Err(Refusal::ChangeWaits { resource, needed }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resource of these nodes, by name and id.
    fn text(nodes: &[(&str, u8)]) -> String {
        let host = |(name, id): &(&str, u8)| {
            format!("on {name} {{ node-id {id}; address 127.0.0.1:{}; }}", 7900 + u16::from(*id))
        };
        let hosts: Vec<_> = nodes.iter().map(host).collect();
        let names: Vec<_> = nodes.iter().map(|(name, _)| *name).collect();
        format!(
            "resource r0 {{ volume 0 {{ disk none; }} {} connection-mesh {{ hosts {}; }} }}",
            hosts.join(" "),
            names.join(" ")
        )
    }

    /// It was refused for nobody where the number of a node had changed, and where what waited was
    /// stored just before.
    #[test]
    fn change_that_waits_is_told_with_who_is_needed_still() {
        let stored = text(&[("a", 0), ("b", 1), ("c", 2)]);
        let cases = [
            (text(&[("a", 0), ("c", 2)]), "b is needed still"),
            (text(&[("a", 0), ("b", 3), ("c", 2)]), "b (node-id 1) is needed still"),
            (text(&[("a", 0), ("d", 3)]), "b, c is needed still"),
        ];
        for (waiting, named) in cases {
            let failure = check_nothing_waits("r0", &stored, &waiting).unwrap_err();
            assert!(failure.message.contains(named), "{failure}");
        }
        check_nothing_waits("r0", &stored, &stored).unwrap();
    }
}
