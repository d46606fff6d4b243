//! Who wants to hear of changes, and what each of them has not been told yet.
//!
//! One thread looks: when a shard says that a resource may be other than it was, and now and then
//! without being told, for what moves by itself. It alone asks for states, so that what
//! subscribers are given is in order. Each subscriber has a queue of at most
//! [`SUBSCRIBER_QUEUE_MAX`] states; one that falls behind loses its queue and gets the whole state
//! again, with the number of changes that it missed. Without subscribers the thread sleeps, and
//! shards are told to keep silent.
//!
//! ```text
//! shard --Changed--> Watch.changed --look--> states --publish--> queue --> socket
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use api::events::{HelperCall, is_changed};
use api::response::Failure;
use api::status::ResourceStatus;
use api::subscription::{ALIVE_WITHIN, Update};
use stdx::mutex::{lock, unpoisoned};

use crate::limits::{SUBSCRIBER_QUEUE_MAX, SUBSCRIBERS_MAX};
use crate::refusal::Refusal;

#[derive(Debug, Default)]
pub(super) struct Watch {
    shared: Mutex<Shared>,
    /// For the thread that looks.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Shared {
    changed: BTreeSet<String>,
    subscribers: Vec<Arc<Subscriber>>,
    /// As subscribers were last told, or could have been.
    known: BTreeMap<String, Arc<ResourceStatus>>,
    /// Something was looked at since nobody watched.
    is_active: bool,
    is_ended: bool,
}

/// What is to be looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nobody watches any more: shards need not tell.
    Nothing,
    Some {
        names: Vec<String>,
        with_counters: bool,
    },
    All {
        with_counters: bool,
    },
}

/// What came of a look: the states, and the names of those that are gone.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) at_us: u64,
    pub(super) resources: Vec<ResourceStatus>,
    pub(super) gone: Vec<String>,
}

/// One who wants to hear of changes.
#[derive(Debug)]
pub(crate) struct Subscriber {
    /// None for all.
    resources: BTreeSet<String>,
    wants_counters: bool,
    queue: Mutex<Queue>,
    /// For the thread that writes to it.
    bell: Condvar,
}

#[derive(Debug)]
struct Queue {
    updates: VecDeque<Delivery>,
    needs: Needs,
    polls: bool,
    /// Everything was begun to be looked at since it asked for that: what an older look finds may
    /// be older than what it knows.
    is_heeded: bool,
    lost: u64,
    is_closed: bool,
}

/// Whether the whole state is to come. What changes until then is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Changes,
    FirstState,
    StateAgain,
}

/// An update as it waits: a state is shared by all who wait for it.
#[derive(Clone, Debug)]
pub(crate) enum Delivery {
    All {
        at_us: u64,
        lost: u64,
        resources: Vec<Arc<ResourceStatus>>,
    },
    Changed {
        at_us: u64,
        polled: bool,
        resource: Arc<ResourceStatus>,
    },
    Gone {
        at_us: u64,
        resource: String,
    },
    Helper {
        at_us: u64,
        call: HelperCall,
    },
    /// All that was wanted with a poll came before.
    Polled,
}

impl From<Delivery> for Update {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::All { at_us, lost, resources } => {
                let resources = resources.into_iter().map(Arc::unwrap_or_clone).collect();
                Self::All { at_us, lost, resources }
            }
            Delivery::Changed { at_us, polled, resource } => {
                Self::Changed { at_us, polled, resource: Box::new(Arc::unwrap_or_clone(resource)) }
            }
            Delivery::Gone { at_us, resource } => Self::Gone { at_us, resource },
            Delivery::Helper { at_us, call } => Self::Helper { at_us, call },
            Delivery::Polled => Self::Polled,
        }
    }
}

impl Shared {
    /// A look at everything begins.
    fn heed(&self) {
        self.subscribers.iter().for_each(|it| it.lock().is_heeded = true);
    }
}

pub(crate) fn too_many_subscribers() -> Failure {
    Refusal::ManySubscribers { max: SUBSCRIBERS_MAX }.into()
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }

    pub(super) fn subscribe(
        &self,
        resources: Vec<String>,
        counters: Counters,
    ) -> Result<Arc<Subscriber>, Failure> {
        let mut shared = self.lock();
        if shared.subscribers.len() >= SUBSCRIBERS_MAX {
            return Err(too_many_subscribers());
        }
        Ok(self.add(&mut shared, Subscriber::new(resources, counters)))
    }

    /// For the daemon itself, which finds room however many programs watch.
    pub(super) fn subscribe_own(&self) -> Arc<Subscriber> {
        let mut shared = self.lock();
        self.add(&mut shared, Subscriber::new(Vec::new(), Counters::Without))
    }

    fn add(&self, shared: &mut Shared, subscriber: Subscriber) -> Arc<Subscriber> {
        let subscriber = Arc::new(subscriber);
        if shared.is_ended {
            subscriber.close();
            return subscriber;
        }
        shared.subscribers.push(Arc::clone(&subscriber));
        self.bell.notify_all();
        subscriber
    }

    /// A handler was called, or has ended.
    pub(super) fn tell_of_helper(&self, at_us: u64, call: &HelperCall) {
        let update = Delivery::Helper { at_us, call: call.clone() };
        self.lock().subscribers.iter().for_each(|it| it.offer(&update));
    }

    pub(super) fn unsubscribe(&self, subscriber: &Arc<Subscriber>) {
        subscriber.close();
        let mut shared = self.lock();
        shared.subscribers.retain(|other| !Arc::ptr_eq(other, subscriber));
        self.bell.notify_all();
    }

    /// A shard has something new to tell about a resource.
    pub(super) fn note(&self, resource: String) {
        self.lock().changed.insert(resource);
        self.bell.notify_all();
    }

    pub(super) fn poll(&self, subscriber: &Subscriber) {
        {
            let mut queue = subscriber.lock();
            (queue.polls, queue.is_heeded) = (true, false);
        }
        // With the lock held the looking thread cannot miss it between its look and its sleep.
        let _shared = self.lock();
        self.bell.notify_all();
    }

    /// The daemon ends: so do all subscriptions.
    pub(super) fn end(&self) {
        let mut shared = self.lock();
        shared.is_ended = true;
        shared.subscribers.drain(..).for_each(|subscriber| subscriber.close());
        self.bell.notify_all();
    }

    /// Waits until there is something to look at; nothing more comes once the daemon ends. While
    /// somebody watches, everything is looked at after `interval` at the latest.
    pub(super) fn next_look(&self, interval: Duration) -> Option<Look> {
        let mut shared = self.lock();
        loop {
            if shared.is_ended {
                return None;
            }
            if shared.subscribers.is_empty() {
                shared.changed.clear();
                shared.known.clear();
                if std::mem::take(&mut shared.is_active) {
                    return Some(Look::Nothing);
                }
                shared = unpoisoned(self.bell.wait(shared));
                continue;
            }
            let with_counters = shared.subscribers.iter().any(|it| it.wants_counters);
            shared.is_active = true;
            if shared.subscribers.iter().any(|it| it.wants_all()) {
                shared.changed.clear();
                shared.heed();
                return Some(Look::All { with_counters });
            }
            if !shared.changed.is_empty() {
                let names = std::mem::take(&mut shared.changed).into_iter().collect();
                return Some(Look::Some { names, with_counters });
            }
            let (guard, timeout) = unpoisoned(self.bell.wait_timeout(shared, interval));
            shared = guard;
            if timeout.timed_out() {
                shared.heed();
                return Some(Look::All { with_counters });
            }
        }
    }

    /// Tells the subscribers what a look found. `gone` of a look at everything is found here.
    pub(super) fn publish(&self, look: &Look, mut seen: Seen) {
        let mut shared = self.lock();
        let shared = &mut *shared;
        if matches!(look, Look::All { .. }) {
            let there: BTreeSet<&str> = seen.resources.iter().map(|it| &*it.name).collect();
            let gone = shared.known.keys().filter(|name| !there.contains(name.as_str()));
            seen.gone = gone.cloned().collect();
        }
        let at_us = seen.at_us;
        for resource in seen.gone {
            if shared.known.remove(&resource).is_some() {
                let update = Delivery::Gone { at_us, resource };
                shared.subscribers.iter().for_each(|it| it.offer(&update));
            }
        }
        for resource in seen.resources {
            let known = shared.known.get(&resource.name);
            let is_new = known.is_none_or(|known| is_changed(known, &resource));
            let resource = Arc::new(resource);
            shared.known.insert(resource.name.clone(), Arc::clone(&resource));
            for subscriber in &shared.subscribers {
                let polled = subscriber.is_polled() && matches!(look, Look::All { .. });
                if is_new || polled {
                    let resource = Arc::clone(&resource);
                    subscriber.offer(&Delivery::Changed { at_us, polled, resource });
                }
            }
        }
        if matches!(look, Look::All { .. }) {
            for subscriber in &shared.subscribers {
                subscriber.refresh(at_us, &shared.known);
            }
        }
    }
}

/// Whether states are wanted with their counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counters {
    Without,
    With,
}

impl Subscriber {
    fn new(resources: Vec<String>, counters: Counters) -> Self {
        let queue = Queue {
            updates: VecDeque::new(),
            needs: Needs::FirstState,
            polls: false,
            is_heeded: false,
            lost: 0,
            is_closed: false,
        };
        Self {
            resources: resources.into_iter().collect(),
            wants_counters: counters == Counters::With,
            queue: Mutex::new(queue),
            bell: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    fn wants_all(&self) -> bool {
        let queue = self.lock();
        (queue.needs != Needs::Changes && queue.updates.is_empty()) || queue.polls
    }

    fn is_for(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.contains(resource)
    }

    /// Puts an update into the queue, or gives the queue up.
    fn offer(&self, update: &Delivery) {
        let name = match update {
            Delivery::Changed { resource, .. } => &resource.name,
            Delivery::Gone { resource, .. } => resource,
            Delivery::Helper { call, .. } => &call.resource,
            Delivery::All { .. } | Delivery::Polled => return,
        };
        if !self.is_for(name) {
            return;
        }
        let mut queue = self.lock();
        match queue.needs {
            Needs::Changes => {}
            Needs::FirstState => return,
            Needs::StateAgain => {
                queue.lost += 1;
                return;
            }
        }
        if queue.updates.len() >= SUBSCRIBER_QUEUE_MAX {
            queue.lost += queue.updates.len() as u64 + 1;
            queue.updates.clear();
            queue.needs = Needs::StateAgain;
        } else {
            queue.updates.push_back(update.clone());
        }
        self.bell.notify_all();
    }

    fn refresh(&self, at_us: u64, known: &BTreeMap<String, Arc<ResourceStatus>>) {
        let mut queue = self.lock();
        if !std::mem::take(&mut queue.is_heeded) {
            return;
        }
        let is_polled = std::mem::take(&mut queue.polls);
        let is_told = matches!(queue.updates.back(), Some(Delivery::Polled));
        // The whole state is an answer too.
        if is_polled && queue.needs == Needs::Changes && !is_told {
            queue.updates.push_back(Delivery::Polled);
            self.bell.notify_all();
        }
        if queue.needs == Needs::Changes || !queue.updates.is_empty() {
            return;
        }
        queue.needs = Needs::Changes;
        let resources = known.values().filter(|it| self.is_for(&it.name)).cloned().collect();
        let lost = std::mem::take(&mut queue.lost);
        queue.updates.push_back(Delivery::All { at_us, lost, resources });
        self.bell.notify_all();
    }

    fn is_polled(&self) -> bool {
        let queue = self.lock();
        queue.polls && queue.is_heeded
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.bell.notify_all();
    }

    /// The next thing to write; `Alive` if there is none for a while, `None` at the end.
    pub(crate) fn next(&self) -> Option<Update> {
        let mut queue = self.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(delivery) = queue.updates.pop_front() {
                return Some(delivery.into());
            }
            let (guard, timeout) = unpoisoned(self.bell.wait_timeout(queue, ALIVE_WITHIN));
            queue = guard;
            if timeout.timed_out() && queue.updates.is_empty() && !queue.is_closed {
                return Some(Update::Alive);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use api::response::FailureCode;

    use super::*;
    use api::role::Role;

    fn resource(name: &str, role: Role) -> ResourceStatus {
        ResourceStatus { name: name.to_owned(), role, ..ResourceStatus::default() }
    }

    fn seen(resources: Vec<ResourceStatus>) -> Seen {
        Seen { at_us: 7, resources, gone: Vec::new() }
    }

    fn look_at_all(watch: &Watch, resources: Vec<ResourceStatus>) {
        let look = watch.next_look(Duration::ZERO).unwrap();
        assert!(matches!(look, Look::All { .. }));
        watch.publish(&look, seen(resources));
    }

    fn one(name: &str) -> Look {
        Look::Some { names: vec![name.to_owned()], with_counters: false }
    }

    #[test]
    fn subscriber_gets_the_whole_state_and_then_what_changes() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(Vec::new(), Counters::Without).unwrap();
        look_at_all(&watch, vec![resource("r0", Role::Secondary)]);
        let Some(Update::All { lost: 0, resources, .. }) = subscriber.next() else {
            panic!("the whole state comes first");
        };
        assert_eq!(resources, [resource("r0", Role::Secondary)]);
        // The same state again is no news.
        watch.publish(&one("r0"), seen(vec![resource("r0", Role::Secondary)]));
        watch.publish(&one("r0"), seen(vec![resource("r0", Role::Primary)]));
        watch.publish(&one("r0"), Seen { gone: vec!["r0".to_owned()], ..Seen::default() });
        let Some(Update::Changed { resource: changed, .. }) = subscriber.next() else {
            panic!("the role changed");
        };
        assert_eq!(*changed, resource("r0", Role::Primary));
        assert!(
            matches!(subscriber.next(), Some(Update::Gone { resource, .. }) if resource == "r0")
        );
    }

    #[test]
    fn resource_that_a_look_at_everything_does_not_find_is_gone() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(Vec::new(), Counters::Without).unwrap();
        let resources = ["r0", "r1", "r2"].map(|name| resource(name, Role::Secondary)).to_vec();
        look_at_all(&watch, resources.clone());
        assert!(matches!(subscriber.next(), Some(Update::All { .. })));
        look_at_all(&watch, vec![resources[2].clone(), resources[0].clone()]);
        assert!(
            matches!(subscriber.next(), Some(Update::Gone { resource, .. }) if resource == "r1")
        );
        assert!(subscriber.lock().updates.is_empty());
    }

    #[test]
    fn slow_reader_loses_its_queue_and_is_told_how_much() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(Vec::new(), Counters::Without).unwrap();
        look_at_all(&watch, vec![resource("r0", Role::Secondary)]);
        assert!(matches!(subscriber.next(), Some(Update::All { lost: 0, .. })));
        let changes = 3 * SUBSCRIBER_QUEUE_MAX as u64 + 1;
        for turn in 0..changes {
            let role = if turn % 2 == 0 { Role::Primary } else { Role::Secondary };
            watch.publish(&one("r0"), seen(vec![resource("r0", role)]));
            assert!(subscriber.lock().updates.len() <= SUBSCRIBER_QUEUE_MAX);
        }
        look_at_all(&watch, vec![resource("r0", Role::Primary)]);
        let Some(Update::All { lost, resources, .. }) = subscriber.next() else {
            panic!("the whole state comes again");
        };
        assert_eq!((lost, resources[0].role), (changes, Role::Primary));
    }

    #[test]
    fn resource_that_nobody_asked_for_is_not_told() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(vec!["r1".to_owned()], Counters::Without).unwrap();
        look_at_all(&watch, vec![resource("r0", Role::Primary)]);
        let all = subscriber.next();
        assert!(matches!(all, Some(Update::All { resources, .. }) if resources.is_empty()));
        watch.publish(&one("r0"), seen(vec![resource("r0", Role::Secondary)]));
        assert!(subscriber.lock().updates.is_empty());
    }

    #[test]
    fn subscribers_are_bounded_and_leave_room_when_they_go() {
        let watch = Watch::default();
        let all: Vec<_> = (0..SUBSCRIBERS_MAX)
            .map(|_| watch.subscribe(Vec::new(), Counters::Without).unwrap())
            .collect();
        let failure = watch.subscribe(Vec::new(), Counters::Without).unwrap_err();
        assert_eq!(failure.code, FailureCode::StateRefused);
        watch.unsubscribe(&all[0]);
        watch.subscribe(Vec::new(), Counters::Without).unwrap();
        assert!(all[0].next().is_none());
    }

    #[test]
    fn poll_brings_a_state_that_did_not_change() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(Vec::new(), Counters::With).unwrap();
        look_at_all(&watch, vec![resource("r0", Role::Primary)]);
        assert!(subscriber.next().is_some());
        watch.poll(&subscriber);
        look_at_all(&watch, vec![resource("r0", Role::Primary)]);
        assert!(matches!(subscriber.next(), Some(Update::Changed { polled: true, .. })));
        assert!(matches!(subscriber.next(), Some(Update::Polled)));
        look_at_all(&watch, vec![resource("r0", Role::Primary)]);
        assert!(subscriber.lock().updates.is_empty());
    }

    /// A reader that polls and takes nothing does not fill the queue.
    #[test]
    fn polls_that_nobody_reads_the_answers_of_do_not_add_up() {
        let watch = Watch::default();
        let subscriber = watch.subscribe(Vec::new(), Counters::With).unwrap();
        look_at_all(&watch, Vec::new());
        assert!(subscriber.next().is_some());
        for _ in 0..3 {
            watch.poll(&subscriber);
            look_at_all(&watch, Vec::new());
        }
        assert!(matches!(subscriber.next(), Some(Update::Polled)));
        assert!(subscriber.lock().updates.is_empty());
    }

    /// A look at many resources takes a while, and one that came up meanwhile is not in it: who
    /// waits for that one was told that it went down.
    #[test]
    fn look_that_began_before_somebody_asked_is_not_for_him() {
        let watch = Watch::default();
        let first = watch.subscribe(Vec::new(), Counters::Without).unwrap();
        let look = watch.next_look(Duration::ZERO).unwrap();
        let late = watch.subscribe(vec!["r5".to_owned()], Counters::Without).unwrap();
        watch.publish(&look, seen(Vec::new()));
        assert!(matches!(first.next(), Some(Update::All { .. })));
        assert!(late.lock().updates.is_empty(), "r5 came up after that");
        look_at_all(&watch, vec![resource("r5", Role::Secondary)]);
        let all = late.next();
        assert!(matches!(all, Some(Update::All { resources, .. }) if resources.len() == 1));
    }
}
