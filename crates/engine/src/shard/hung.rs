//! Disks that do not answer: `disk-timeout`.
//!
//! A request that a disk does not complete within the time is answered as failed, and with it all
//! others of the replica on this shard; the core then gives the disk up like one that failed.
//! The requests themselves stay with the kernel, and so does what they hold until they end, however
//! late: memory that a late read fills is nobody else's meanwhile; a late write brings to a disk
//! that is not believed what the others have marked for it; and the disk stays open, and its lock
//! held, so that nobody takes it into use in between. It can be attached again once all have ended.
//!
//! The register file is not on that disk. A write of it that does not end within 20 s counts as one
//! that failed, whatever that says of disks: the node votes no more until it is restarted.

use std::collections::BTreeSet;
use std::time::Duration;

use format::space::Place;
use replication::contract::{DeviceError, FromGroup};
use stdx::time::Time;

use crate::contract::FromShard;
use crate::hosted_id::HostedId;
use crate::limits::{HUNG_LOOK_MAX, HUNG_LOOK_MIN, REGISTER_PATIENCE, STOOD_STILL};
use crate::log::{Scope, log};
use crate::shard::Shard;
use crate::shard::operation::{Operation, Waiting};

impl Operation {
    /// It is under way on the disk of a replica, and somebody waits for it.
    fn may_hang(&self) -> bool {
        !self.is_abandoned() && !self.is_of_register()
    }
}

impl Shard {
    /// Gives up disks that let a request wait for too long; says when to look again.
    pub(super) fn give_up_hung_disks(&mut self) -> Time {
        let now = self.rim.kit.now;
        let limits = self.parts.iter().flatten().filter_map(|part| part.disk_timeout());
        let Some(least) = limits.min() else { return Time::NEVER };
        let again = now + (least / 8).clamp(HUNG_LOOK_MIN, HUNG_LOOK_MAX);
        let late = now.since(self.hung_look_at);
        self.excuse(late, Operation::may_hang);
        let waiting = self.rim.operations.iter().filter(|(_, it)| it.may_hang());
        let hung: BTreeSet<HostedId> = waiting
            .filter(|(_, it)| {
                let limit = self.part(it.hosted()).and_then(|part| part.disk_timeout());
                limit.is_some_and(|limit| now >= it.since + limit)
            })
            .map(|(_, it)| it.hosted())
            .collect();
        for id in hung {
            self.give_up_hung_disk(id);
        }
        again
    }

    /// Of a look that comes this late the thread did not run meanwhile: that time is not the
    /// disk's. What it ran counts, however late it always is.
    fn excuse(&mut self, late: Duration, waits: impl Fn(&Operation) -> bool) {
        if late <= STOOD_STILL {
            return;
        }
        let now = self.rim.kit.now;
        let operations = &mut self.rim.operations;
        for index in 0..operations.end() {
            if let Some(key) = operations.key_at(index)
                && let Some(operation) = operations.get_mut(key).filter(|it| waits(it))
            {
                operation.since = (operation.since + late).min(now);
            }
        }
    }

    /// State directories that do not answer: nobody waits for them for ever.
    pub(super) fn give_up_hung_registers(&mut self) {
        let now = self.rim.kit.now;
        let is_waited_for = |it: &Operation| it.is_of_register() && !it.is_abandoned();
        let late = now.since(self.rim.register_due);
        self.excuse(late, is_waited_for);
        // What ended while it did not run it hears of by the next look.
        let grace = if late > STOOD_STILL { HUNG_LOOK_MAX } else { Duration::ZERO };
        let due = |it: &Operation| it.since + REGISTER_PATIENCE + grace;
        let waiting = self.rim.operations.iter().filter(|(_, it)| is_waited_for(it));
        let (hung, waiting): (Vec<_>, Vec<_>) = waiting.partition(|(_, it)| now >= due(it));
        self.rim.register_due = waiting.iter().map(|(_, it)| due(it)).min().unwrap_or(Time::NEVER);
        let hung: Vec<_> = hung.into_iter().map(|(key, it)| (key, it.hosted())).collect();
        for (key, id) in hung {
            let Some(operation) = self.rim.operations.get_mut(key) else { continue };
            let Waiting::Save(save) = operation.abandon() else { continue };
            let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
            let Some(hosted) = hosted else { continue };
            log!(
                Error,
                Scope::resource(hosted.name()),
                "the state directory did not complete a write to the register file within {} s",
                REGISTER_PATIENCE.as_secs()
            );
            hosted.on_register_hung(save, &mut self.rim);
        }
    }

    fn give_up_hung_disk(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let rim = &mut self.rim;
        let is_own = |it: &Operation| it.hosted() == id && it.may_hang();
        let keys: Vec<_> =
            rim.operations.iter().filter(|(_, it)| is_own(it)).map(|(key, _)| key).collect();
        let count = keys.len();
        // The one that waits the longest tells which disk it is.
        let oldest = keys.iter().filter_map(|key| rim.operations.get(*key));
        let hung_at = oldest.min_by_key(|it| it.since).map_or(Place::FIRST, |it| it.place);
        for key in keys {
            let Some(operation) = rim.operations.get_mut(key) else { continue };
            let token = match operation.abandon() {
                Waiting::Core(token) => Some(token),
                Waiting::Copy(copy) => rim.abandon_copy(copy),
                Waiting::Save(save) => {
                    if let Some(hosted) = self.hosted.get_mut(place).and_then(Option::as_deref_mut)
                    {
                        hosted.on_superblock_hung(save, rim);
                    }
                    None
                }
            };
            if let Some(token) = token {
                rim.answer(id, token, Err(DeviceError));
            }
        }
        let Some(part) = self.parts.get_mut(place).and_then(Option::as_deref_mut) else { return };
        let limit_s = part.disk_timeout().unwrap_or_default().as_secs_f32();
        log!(
            Error,
            Scope::resource(&part.name),
            "the disk did not complete a request within {limit_s} s (disk-timeout): it is given \
             up, and kept open until the {count} requests that are under way have ended"
        );
        part.note_silence(hung_at, limit_s, rim);
        let member = part.own_node();
        part.tell_home(FromGroup::MemberFailed { member }, rim);
    }

    /// A resource went down while the kernel had requests to its disk, which may never end.
    pub(super) fn note_left_disk(&mut self, id: HostedId, name: String) {
        let rim = &self.rim;
        self.left_disks.retain(|(id, _)| rim.is_using_disk(*id));
        if rim.is_using_disk(id) {
            self.left_disks.push((id, name));
        }
    }

    /// What keeps this thread when it is to end.
    pub(super) fn tell_of_left_disks(&mut self) {
        let left = self.left_disks.iter().map(|(id, name)| (*id, name));
        let parts = self.parts.iter().flatten().map(|part| (part.id, &part.name));
        let is_left = |(id, _): &(HostedId, &String)| self.rim.is_using_disk(*id);
        let names: Vec<_> = left.chain(parts).filter(is_left).map(|(_, it)| it.clone()).collect();
        for resource in names {
            // Without it the end does not name the disk.
            drop(self.rim.outbox.push(FromShard::DiskLeft { resource }));
        }
    }

    /// An operation that nobody waited for any more has ended.
    pub(super) fn end_abandoned(&mut self, operation: Operation) {
        let id = operation.hosted();
        let part = self.parts.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        if let Some(disk) = part.and_then(|part| part.disk.as_mut())
            && !operation.is_of_save()
        {
            disk.counters.in_flight -= 1;
        }
        operation.discard(&mut self.rim);
        self.finish_closing(id);
    }
}
