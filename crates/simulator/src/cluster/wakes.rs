//! When a process wakes up though nothing happened: for a settle of its groups, or a deadline.
//!
//! What is due is done by the turn that it is due in. A group or a resource that names a time that
//! is over would be asked again at once, and the thread of a node would do nothing else.

use stdx::time::Time;

use crate::cluster::{Cluster, Event};
use replication::contract::ResourceInput;
use replication::group::LaneGroup;

impl Cluster {
    pub(super) fn wake(&mut self, node: usize) {
        let now = self.local_time(node);
        match self.processes[node].as_mut() {
            Some(process) if process.wakes_at <= self.now => process.wakes_at = Time::NEVER,
            // Replaced by an earlier one.
            Some(_) | None => return,
        }
        for shard in 0..self.shards_of(node).unwrap_or(0) {
            let mut actions = std::mem::take(&mut self.group_actions);
            if let Some(process) = self.processes[node].as_mut() {
                let group = &mut process.groups[usize::from(shard)];
                let unsettled = std::mem::take(&mut process.unsettled[usize::from(shard)]) > 0;
                if unsettled || group.wake_at() <= now {
                    self.changes.of_group(node, shard, process.shards);
                    group.settle(now, &mut actions);
                    if group.wake_at() <= now {
                        self.violation = Some(for_nothing(node));
                    }
                }
            }
            for action in actions.drain(..) {
                self.perform_group(node, shard, action);
            }
            self.group_actions = actions;
        }
        if self.processes[node].as_ref().is_some_and(|process| process.resource.wake_at() <= now) {
            self.step_resource(node, ResourceInput::Tick);
        }
        self.schedule_wake(node);
    }

    /// The resource took a step because it was time to. It may ask for another one at once, which
    /// begins what this one decided, and not for a third. Messages that came while the process
    /// stood still are steps before that: a grant of the lease moves no other time that is over.
    pub(super) fn check_rest_of_resource(&mut self, node: usize, now: Time) {
        let Some(process) = self.processes[node].as_mut() else { return };
        let rests = process.resource.wake_at() > now;
        if !std::mem::replace(&mut process.rests, rests) && !rests {
            self.violation = Some(for_nothing(node));
        }
    }

    /// The resource took a step for another reason. If it asks for nothing at once after that, what
    /// it asked for before was done.
    pub(super) fn note_rest_of_resource(&mut self, node: usize, now: Time) {
        if let Some(process) = self.processes[node].as_mut() {
            process.rests |= process.resource.wake_at() > now;
        }
    }

    /// One wake is under way per process: an earlier one replaces it.
    pub(super) fn wake_by(&mut self, node: usize, at: Time) {
        let at = at.max(self.now);
        let Some(process) = self.processes[node].as_mut() else { return };
        if at < process.wakes_at {
            process.wakes_at = at;
            let boot = process.boot_id;
            self.schedule_at(at, Event::Wake { node, boot });
        }
    }

    pub(super) fn schedule_wake(&mut self, node: usize) {
        let Some(process) = self.processes[node].as_ref() else { return };
        let groups = process.groups.iter().map(LaneGroup::wake_at);
        let at = groups.chain([process.resource.wake_at()]).min().unwrap_or(Time::NEVER);
        let at = self.clocks[node].when(self.now, at);
        if at != Time::NEVER {
            self.wake_by(node, at);
        }
    }
}

/// What a turn that changes nothing is told as.
pub(super) fn for_nothing(node: usize) -> String {
    format!("n{node} wakes up again at once, and has nothing to do")
}
