//! `resync-after` and `max-parallel-resyncs`: resources of a node that are brought up to date one
//! after the other, or a few at a time.
//!
//! A replica that is to be brought up to date asks (`replication::resource::gate`), and hears
//! nothing while a resource that it comes after is being brought up to date here, or brings
//! others up to date, or waits itself; or while as many as may are. What stands still keeps nobody
//! waiting: a resource whose disk is behind is given a moment to begin, and those that name each
//! other go by themselves. While somebody waits, a thread looks at the resources.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::status::ResourceStatus;
use engine::definition::Definition;
use engine::log::{Scope, log};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::control::Control;
use crate::limits::{RESYNC_ORDER_BEGIN, RESYNC_ORDER_INTERVAL};

/// What a replica asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) number: u64,
    pub(super) leader: Option<(u8, String)>,
    pub(super) is_image: bool,
}

/// A volume of a resource that another one comes after.
pub(super) type Before = (String, u16);

#[derive(Debug, Default)]
pub(crate) struct ResyncOrder {
    /// Of the whole node.
    at_most: Option<NonZeroU32>,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    after: BTreeMap<String, Vec<Before>>,
    /// By resource: what it asked, and since when it waits.
    waiting: BTreeMap<String, (Asked, Time)>,
    /// What was allowed of late, and until when that counts as being under way.
    begun: BTreeMap<String, Time>,
    is_looked_at: bool,
}

impl ResyncOrder {
    pub(super) fn new(at_most: Option<NonZeroU32>) -> Self {
        Self { at_most, shared: Mutex::default() }
    }

    /// Whether a resource may have to wait that comes after none.
    pub(super) fn is_bounded(&self) -> bool {
        self.at_most.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }

    /// The resource comes after these from now on. Returns those that it came after.
    pub(super) fn define(&self, definition: &Definition) -> Vec<Before> {
        self.set(&definition.name, definition.resync_after.clone())
    }

    /// The resource did not become what it was to be: it comes after these, as before.
    pub(super) fn restore(&self, resource: &str, before: Vec<Before>) {
        self.set(resource, before);
    }

    fn set(&self, resource: &str, before: Vec<Before>) -> Vec<Before> {
        let mut shared = self.lock();
        let former = match before.is_empty() {
            true => shared.after.remove(resource),
            false => shared.after.insert(resource.to_owned(), before),
        };
        former.unwrap_or_default()
    }

    /// It is down, or nothing may be allowed any more.
    pub(super) fn forget(&self, resource: &str) {
        let mut shared = self.lock();
        shared.after.remove(resource);
        shared.waiting.remove(resource);
        shared.begun.remove(resource);
    }

    pub(super) fn end(&self) {
        self.lock().waiting.clear();
    }

    /// Whether the question has to wait for its turn; then somebody has to look if nobody does.
    fn hold(&self, resource: &str, asked: &Asked, now: Time) -> Option<Look> {
        let mut shared = self.lock();
        let before = shared.after.get(resource).cloned().unwrap_or_default();
        if before.is_empty() && self.at_most.is_none() {
            return None;
        }
        let is_new = shared.waiting.insert(resource.to_owned(), (asked.clone(), now)).is_none();
        if is_new && !before.is_empty() {
            let names: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
            log!(
                Notice,
                Scope::resource(resource),
                "it is brought up to date when {} is not (`resync-after`)",
                names.join(", ")
            );
        }
        let is_looked_at = std::mem::replace(&mut shared.is_looked_at, true);
        Some(if is_looked_at { Look::GoesOn } else { Look::Begins })
    }

    /// Those whose turn it is; `None` if nobody waits any more.
    fn take_ready(&self, states: &[ResourceStatus], now: Time) -> Option<Vec<(String, Asked)>> {
        let mut shared = self.lock();
        if shared.waiting.is_empty() {
            shared.is_looked_at = false;
            return None;
        }
        shared.begun.retain(|_, until| now < *until);
        let mut ready = Vec::new();
        for name in shared.waiting.keys().cloned().collect::<Vec<_>>() {
            if !shared.has_to_wait(&name, states, now)
                && !shared.are_enough(self.at_most, &name, states)
                && let Some((asked, _)) = shared.waiting.remove(&name)
            {
                shared.begun.insert(name.clone(), now + RESYNC_ORDER_BEGIN);
                ready.push((name, asked));
            }
        }
        Some(ready)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Begins,
    GoesOn,
}

impl Shared {
    fn has_to_wait(&self, resource: &str, states: &[ResourceStatus], now: Time) -> bool {
        let is_fresh =
            self.waiting.get(resource).is_some_and(|(_, since)| now < *since + RESYNC_ORDER_BEGIN);
        let before = self.after.get(resource).into_iter().flatten();
        before.into_iter().any(|(name, volume)| {
            let of_name = states.iter().find(|state| state.name == *name);
            let may_begin = is_fresh && of_name.is_some_and(|state| is_behind(state, *volume));
            let is_next = self.waiting.contains_key(name) || self.begun.contains_key(name);
            let is_first = is_next || may_begin;
            of_name.is_some_and(|state| is_under_way(state, *volume))
                || is_first && !self.comes_after(name, resource)
        })
    }

    /// Whether as many others as may are brought up to date.
    fn are_enough(
        &self,
        at_most: Option<NonZeroU32>,
        resource: &str,
        states: &[ResourceStatus],
    ) -> bool {
        let moving = states
            .iter()
            .filter(|state| state.devices.iter().any(|device| is_under_way(state, device.volume)));
        let mut others: BTreeSet<&str> = moving.map(|state| state.name.as_str()).collect();
        others.extend(self.begun.keys().map(String::as_str));
        others.remove(resource);
        at_most.is_some_and(|most| others.len() >= most.get() as usize)
    }

    /// Whether `later` names `earlier`, or something that does.
    fn comes_after(&self, later: &str, earlier: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut left = vec![later];
        while let Some(name) = left.pop() {
            if name == earlier {
                return true;
            }
            if seen.insert(name) {
                let before = self.after.get(name).into_iter().flatten();
                left.extend(before.map(|(name, _)| name.as_str()));
            }
        }
        false
    }
}

fn is_under_way(state: &ResourceStatus, volume: u16) -> bool {
    let peers = state.connections.iter().flat_map(|connection| &connection.peer_devices);
    let mut states = peers.filter(|it| it.volume == volume).map(|it| it.replication_state);
    states.any(|it| matches!(it, ReplicationState::SyncSource | ReplicationState::SyncTarget))
}

fn is_behind(state: &ResourceStatus, volume: u16) -> bool {
    let mut devices = state.devices.iter().filter(|device| device.volume == volume);
    devices.any(|device| {
        matches!(
            device.disk_state,
            DiskState::Inconsistent | DiskState::Outdated | DiskState::Consistent
        )
    })
}

impl Control {
    /// Holds the question of a resource that comes after others; false if it comes after none.
    pub(super) fn waits_for_turn(self: &Arc<Self>, resource: &str, asked: &Asked) -> bool {
        let Some(look) = self.resync_order.hold(resource, asked, io::now()) else { return false };
        if look == Look::Begins {
            let control = Arc::clone(self);
            let work = move || control.look_whose_turn_it_is();
            if let Err(error) = thread::Builder::new().name("resync-order".to_owned()).spawn(work) {
                log!(Error, Scope::resource(resource), "no thread for its turn: {error}");
                self.resync_order.lock().is_looked_at = false;
                return false;
            }
        }
        true
    }

    fn look_whose_turn_it_is(self: &Arc<Self>) {
        loop {
            // Shards that do not answer now are asked again.
            let states = self.states(&[], false);
            let now = io::now();
            let ready = match &states {
                Ok(states) => self.resync_order.take_ready(states, now),
                Err(_) => Some(Vec::new()),
            };
            let Some(ready) = ready else { return };
            for (resource, asked) in ready {
                self.begin_resync(&resource, asked);
            }
            let until = now + RESYNC_ORDER_INTERVAL;
            while io::now() < until {
                thread::park_timeout(until.since(io::now()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use api::status::{ConnectionStatus, DeviceStatus, PeerDeviceStatus};

    use super::*;

    fn state(name: &str, disk_state: DiskState, replication: ReplicationState) -> ResourceStatus {
        let replication_state = replication;
        ResourceStatus {
            name: name.to_owned(),
            devices: vec![DeviceStatus { disk_state, ..DeviceStatus::default() }],
            connections: vec![ConnectionStatus {
                peer_devices: vec![PeerDeviceStatus {
                    replication_state,
                    ..PeerDeviceStatus::default()
                }],
                ..ConnectionStatus::default()
            }],
            ..ResourceStatus::default()
        }
    }

    fn quiet(name: &str) -> ResourceStatus {
        state(name, DiskState::UpToDate, ReplicationState::Established)
    }

    fn target(name: &str) -> ResourceStatus {
        state(name, DiskState::Inconsistent, ReplicationState::SyncTarget)
    }

    /// Each of the first names comes after the second.
    fn order(pairs: &[(&str, &str)]) -> ResyncOrder {
        let order = ResyncOrder::default();
        for (name, before) in pairs {
            let before = vec![((*before).to_owned(), 0)];
            order.lock().after.insert((*name).to_owned(), before);
        }
        order
    }

    const NOW: Time = Time::ZERO;

    fn ask(order: &ResyncOrder, resource: &str) -> bool {
        let asked = Asked { number: 7, leader: None, is_image: true };
        order.hold(resource, &asked, NOW).is_some()
    }

    fn ready(order: &ResyncOrder, states: &[ResourceStatus], after: Duration) -> Vec<String> {
        let ready = order.take_ready(states, NOW + after).unwrap_or_default();
        ready.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_resource_waits_while_another_one_is_copied() {
        let order = order(&[("b", "a")]);
        assert!(!ask(&order, "a"));
        assert!(ask(&order, "b"));
        let later = RESYNC_ORDER_BEGIN * 2;
        let source = state("a", DiskState::UpToDate, ReplicationState::SyncSource);
        assert!(ready(&order, &[target("a"), quiet("b")], later).is_empty());
        assert!(ready(&order, &[source, quiet("b")], later).is_empty());
        assert_eq!(ready(&order, &[quiet("a"), quiet("b")], later), ["b"]);
        assert!(order.take_ready(&[], NOW).is_none());
    }

    #[test]
    fn one_that_is_behind_has_a_moment_to_begin() {
        let order = order(&[("b", "a")]);
        let behind = state("a", DiskState::Outdated, ReplicationState::Off);
        assert!(ask(&order, "b"));
        assert!(ready(&order, std::slice::from_ref(&behind), Duration::ZERO).is_empty());
        assert_eq!(ready(&order, &[behind], RESYNC_ORDER_BEGIN), ["b"]);
    }

    /// The first is allowed, and is not seen to be copied yet.
    #[test]
    fn a_row_goes_one_by_one() {
        let order = order(&[("b", "a"), ("c", "b")]);
        assert!(ask(&order, "b") && ask(&order, "c"));
        let quiet = [quiet("a"), quiet("b"), quiet("c")];
        assert_eq!(ready(&order, &quiet, Duration::ZERO), ["b"]);
        assert!(ready(&order, &quiet, Duration::ZERO).is_empty());
        let copied = [target("b")];
        assert!(ready(&order, &copied, RESYNC_ORDER_BEGIN).is_empty());
        assert_eq!(ready(&order, &quiet, RESYNC_ORDER_BEGIN), ["c"]);
    }

    #[test]
    fn those_that_wait_for_each_other_wait_for_copies_alone() {
        let order = order(&[("b", "a"), ("a", "b")]);
        assert!(ask(&order, "a") && ask(&order, "b"));
        assert!(ready(&order, &[target("a"), target("b")], Duration::ZERO).is_empty());
        assert_eq!(ready(&order, &[], Duration::ZERO), ["a", "b"]);
    }

    #[test]
    fn no_more_are_under_way_than_may_be() {
        let order = ResyncOrder::new(NonZeroU32::new(2));
        for name in ["a", "b", "c", "d"] {
            assert!(ask(&order, name));
        }
        let quiet = ["a", "b", "c", "d"].map(quiet);
        assert_eq!(ready(&order, &quiet, Duration::ZERO), ["a", "b"]);
        assert!(ready(&order, &quiet, Duration::ZERO).is_empty());
        let [_, _, c, d] = quiet.clone();
        let source = state("b", DiskState::UpToDate, ReplicationState::SyncSource);
        let both = [target("a"), source, c, d];
        assert!(ready(&order, &both, RESYNC_ORDER_BEGIN).is_empty());
        let [a, _, c, d] = both;
        assert_eq!(ready(&order, &[a, self::quiet("b"), c, d], RESYNC_ORDER_BEGIN), ["c"]);
        assert_eq!(ready(&order, &quiet, RESYNC_ORDER_BEGIN * 2), ["d"]);
    }

    #[test]
    fn what_nobody_knows_keeps_nobody() {
        let order = order(&[("b", "gone")]);
        assert!(ask(&order, "b"));
        assert_eq!(ready(&order, &[quiet("b")], Duration::ZERO), ["b"]);
    }
}
