//! The devices that have a thread, and how far each of them is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::time::Duration;

use engine::clients::ublk::{self, News};
use stdx::mutex::{lock, unpoisoned};
use stdx::time::Time;

use crate::devices::claim::Claim;

/// How to speak of a device, and to its thread.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) label: String,
    pub(super) resource: String,
    pub(super) device: u32,
    pub(super) news: mpsc::Sender<News>,
    /// One for each time that it is made: a later device may have the same label.
    pub(super) life: Arc<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is being made, or taken over.
    Coming,
    There,
    Going,
}

/// What is neither coming nor going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    There,
    Nowhere,
}

/// By label; an entry goes when its thread is done.
#[derive(Debug, Default)]
pub(super) struct AllKept {
    all: Mutex<BTreeMap<String, (Kept, Stage)>>,
    changed: Condvar,
}

impl AllKept {
    /// A device is coming; false if there is one already.
    pub(super) fn add(&self, kept: Kept) -> bool {
        let mut all = self.lock();
        let is_new = !all.contains_key(&kept.label);
        if is_new {
            all.insert(kept.label.clone(), (kept, Stage::Coming));
        }
        is_new
    }

    pub(super) fn note(&self, label: &str, stage: Stage) {
        if let Some((_, known)) = self.lock().get_mut(label) {
            *known = stage;
        }
        self.changed.notify_all();
    }

    /// Tells it to go, unless another one has its place by now.
    pub(super) fn send_away(&self, kept: &Kept, claim: Option<Claim>) {
        let mut all = self.lock();
        let known = all.get_mut(&kept.label).filter(|(it, _)| Arc::ptr_eq(&it.life, &kept.life));
        if let Some((_, stage)) = known {
            *stage = Stage::Going;
        }
        // The thread may just be done with it.
        let claim = claim.map(|claim| Box::new(claim) as ublk::Claim);
        drop(kept.news.send(News::Remove(claim)));
        drop(all);
        self.changed.notify_all();
    }

    pub(super) fn remove(&self, label: &str) {
        self.lock().remove(label);
        self.changed.notify_all();
    }

    pub(super) fn is_kept(&self, label: &str) -> bool {
        self.lock().contains_key(label)
    }

    pub(super) fn of(&self, resource: &str) -> Vec<Kept> {
        self.select(|kept, _| kept.resource == resource)
    }

    /// The devices of a resource that nobody has told to go.
    pub(super) fn staying(&self, resource: &str) -> Vec<Kept> {
        self.select(|kept, stage| kept.resource == resource && stage != Stage::Going)
    }

    fn select(&self, is_meant: impl Fn(&Kept, Stage) -> bool) -> Vec<Kept> {
        let all = self.lock();
        let meant = all.values().filter(|(kept, stage)| is_meant(kept, *stage));
        meant.map(|(kept, _)| kept.clone()).collect()
    }

    pub(super) fn resources(&self) -> BTreeSet<String> {
        self.lock().values().map(|(kept, _)| kept.resource.clone()).collect()
    }

    /// Waits until a device is neither coming nor going; `None` if that does not end in time.
    pub(super) fn find_settled(&self, label: &str, until: Time) -> Option<Settled> {
        self.watch(until, |all| match all.get(label) {
            Some((_, Stage::Coming | Stage::Going)) => None,
            Some((_, Stage::There)) => Some(Settled::There),
            None => Some(Settled::Nowhere),
        })
    }

    /// A device of the resource that is coming, and still is at the given time.
    pub(super) fn find_coming(&self, resource: &str, until: Time) -> Option<Kept> {
        let coming = |all: &BTreeMap<String, (Kept, Stage)>| {
            let mut all = all.values();
            let coming = |it: &&(Kept, Stage)| it.0.resource == resource && it.1 == Stage::Coming;
            all.find(coming).map(|(kept, _)| kept.clone())
        };
        self.watch(until, |all| coming(all).is_none().then_some(()));
        coming(&self.lock())
    }

    pub(super) fn is_gone_by(&self, label: &str, until: Time) -> bool {
        self.watch(until, |all| (!all.contains_key(label)).then_some(())).is_some()
    }

    /// Waits until what is looked for is so.
    fn watch<T>(
        &self,
        until: Time,
        look: impl Fn(&BTreeMap<String, (Kept, Stage)>) -> Option<T>,
    ) -> Option<T> {
        let mut all = self.lock();
        loop {
            let found = look(&all);
            let rest = until.since(io::now());
            if found.is_some() || rest == Duration::ZERO {
                return found;
            }
            let waited = self.changed.wait_timeout(all, rest);
            all = unpoisoned(waited).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (Kept, Stage)>> {
        lock(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn kept(label: &str) -> Kept {
        let (resource, news) = ("r0".to_owned(), mpsc::channel().0);
        Kept { label: label.to_owned(), resource, device: 0, news, life: Arc::default() }
    }

    /// `primary` said that a device is there which an earlier thread had yet to take over, and
    /// did not get, or was just taking away.
    /// A late command of its was meant for the device that was there before.
    #[test]
    fn a_device_that_was_made_anew_does_not_go_with_the_one_before() {
        let all = AllKept::default();
        let (former, next) = (kept("r0"), kept("r0"));
        assert!(all.add(former.clone()));
        all.remove("r0");
        assert!(all.add(next.clone()));
        all.note("r0", Stage::There);
        all.send_away(&former, None);
        assert_eq!(all.staying("r0").len(), 1);
        all.send_away(&next, None);
        assert!(all.staying("r0").is_empty());
    }

    #[test]
    fn device_that_comes_or_goes_is_waited_for() {
        let all = AllKept::default();
        assert!(all.add(kept("r0")));
        assert!(!all.add(kept("r0")), "it has a thread");
        for stage in [Stage::Coming, Stage::Going] {
            all.note("r0", stage);
            assert_eq!(all.find_settled("r0", io::now()), None, "{stage:?}");
        }
        all.note("r0", Stage::Coming);
        thread::scope(|scope| {
            let there = scope.spawn(|| all.find_settled("r0", io::now() + LONG));
            all.note("r0", Stage::There);
            assert_eq!(there.join().unwrap(), Some(Settled::There));
            all.note("r0", Stage::Going);
            let gone = scope.spawn(|| all.find_settled("r0", io::now() + LONG));
            all.remove("r0");
            assert_eq!(gone.join().unwrap(), Some(Settled::Nowhere));
        });
    }

    #[test]
    fn devices_of_a_resource_are_removed_when_all_have_come() {
        let all = AllKept::default();
        assert!(all.add(kept("r0")) && all.add(kept("r0@1")));
        all.note("r0", Stage::There);
        let coming = all.find_coming("r0", io::now()).unwrap();
        assert_eq!(coming.label, "r0@1");
        assert!(all.find_coming("r1", io::now() + LONG).is_none());
        all.remove("r0@1");
        assert!(all.find_coming("r0", io::now() + LONG).is_none());
        assert!(!all.is_gone_by("r0", io::now()));
        assert!(all.is_gone_by("r0@1", io::now() + LONG));
    }
}
