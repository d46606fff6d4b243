//! The up lock of a resource: the order between a `down` and commands that bring the resource up.
//!
//! Commands that bring a resource up take long: they wait for disks and addresses, and `adjust` has
//! the resource down in the middle. Each holds an [`UpPermit`] from its beginning. A `down` ends
//! all permits that were given before it began: their commands fail, and change nothing of the
//! resource any more. A command that begins after a `down` waits until that `down` is over.
//!
//! A `down` may be refused, and then the permits stay valid. So a command that comes to a step of
//! its permit while a `down` is under way waits until it is known whether the `down` is refused. A
//! data thread that has no time leaves this open for long (`REMOVAL_ANSWER_DEADLINE`). Steps with
//! nothing to take back fail before that, and so does another `down`. The other steps, as to store
//! the text that runs, wait until it is known.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::response::Failure;

use crate::control::node_settings::NodeSettings;
use crate::limits::ADMIN_COMMAND_DEADLINE;
use crate::refusal::Refusal;

/// The up locks of all resources that a command is about, or that a permit is kept of.
#[derive(Debug)]
pub(super) struct UpLocks {
    /// How long a command waits for a `down` that is under way.
    pub(super) patience: Duration,
    by_resource: Mutex<BTreeMap<String, Arc<UpLock>>>,
}

impl Default for UpLocks {
    fn default() -> Self {
        Self { patience: ADMIN_COMMAND_DEADLINE, by_resource: Mutex::default() }
    }
}

/// The up lock of one resource.
#[derive(Debug)]
struct UpLock {
    resource: String,
    patience: Duration,
    counts: Mutex<Counts>,
    /// Rung when it is known of a `down` whether it was refused, and when it is over.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    /// How many `down`s began: each has the next number.
    downs: u64,
    /// The number of the last `down` that was not refused.
    last_down: u64,
    /// Of how many `down`s it is not known yet whether they are refused.
    undecided: usize,
    /// How many `down`s are not over.
    under_way: usize,
    /// How many node settings were given on trial: each has the next number.
    settings: u64,
    /// Settings of which it is not known yet whether they hold: the number, and those before them.
    /// Emptied when the resource comes up, or is down.
    trials: Vec<(u64, NodeSettings)>,
}

/// The right to bring a resource up, until a `down` that begins later.
#[derive(Clone, Debug)]
pub(super) struct UpPermit {
    lock: Arc<UpLock>,
    /// How many `down`s had begun when this was given.
    downs: u64,
}

/// A `down` that began. It is over when this is dropped, and was refused unless it is confirmed.
#[derive(Debug)]
pub(super) struct DownGuard {
    lock: Arc<UpLock>,
    number: u64,
    is_confirmed: bool,
}

impl UpLocks {
    /// Gives the permit of a command that brings the resource up. Waits until no `down` is under
    /// way, as long as a command may take.
    pub(super) fn begin_up(&self, resource: &str) -> Result<UpPermit, Failure> {
        let lock = self.lock_of(resource);
        let counts = lock.counts();
        let downs = counts.downs;
        drop(lock.wait_while(counts, |counts| counts.under_way > 0)?);
        Ok(UpPermit { lock, downs })
    }

    /// Begins a `down`, which ends all permits given so far; a resource that is just being brought
    /// up is up before. Fails where it is not known in time whether another `down` was refused:
    /// each would wait for the same data thread, and hold its place among the commands.
    pub(super) fn begin_down(&self, resource: &str) -> Result<DownGuard, Failure> {
        let lock = self.lock_of(resource);
        let mut counts = lock.lock_when_decided_in_time()?;
        let number = counts.number_down();
        drop(counts);
        Ok(DownGuard { lock, number, is_confirmed: false })
    }

    fn lock_of(&self, resource: &str) -> Arc<UpLock> {
        let mut all = self.by_resource.lock().unwrap_or_else(PoisonError::into_inner);
        // A lock that nobody else has belongs to no command and no permit.
        all.retain(|name, lock| name == resource || Arc::strong_count(lock) > 1);
        let lock = || Arc::new(UpLock::new(resource, self.patience));
        Arc::clone(all.entry(resource.to_owned()).or_insert_with(lock))
    }
}

impl Counts {
    /// Counts a `down` that begins; returns its number.
    fn number_down(&mut self) -> u64 {
        self.downs += 1;
        self.undecided += 1;
        self.under_way += 1;
        self.downs
    }
}

impl UpLock {
    fn new(resource: &str, patience: Duration) -> Self {
        Self {
            resource: resource.to_owned(),
            patience,
            counts: Mutex::default(),
            bell: Condvar::new(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Once it is known of each `down` whether it was refused.
    fn lock_when_decided(&self) -> MutexGuard<'_, Counts> {
        let decided = self.bell.wait_while(self.counts(), |counts| counts.undecided > 0);
        decided.unwrap_or_else(PoisonError::into_inner)
    }

    /// As `lock_when_decided`, for as long as a command may take.
    fn lock_when_decided_in_time(&self) -> Result<MutexGuard<'_, Counts>, Failure> {
        self.wait_while(self.counts(), |counts| counts.undecided > 0)
    }

    fn wait_while<'a>(
        &self,
        counts: MutexGuard<'a, Counts>,
        mut is_waiting: impl FnMut(&Counts) -> bool,
    ) -> Result<MutexGuard<'a, Counts>, Failure> {
        let waited =
            self.bell.wait_timeout_while(counts, self.patience, |counts| is_waiting(counts));
        let (counts, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(Refusal::DownUnderWay { resource: self.resource.clone() }.into());
        }
        Ok(counts)
    }
}

#[cfg(test)]
impl UpPermit {
    /// How many permits and `down`s of this resource there are.
    pub(super) fn holders(&self) -> usize {
        Arc::strong_count(&self.lock)
    }
}

impl UpPermit {
    /// Brings it up; a `down` that begins meanwhile comes after that. Fails where it is not known
    /// in time of one that began before whether it was refused.
    pub(super) fn bring_up<T>(
        &self,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut counts = self.if_up(self.lock.lock_when_decided_in_time()?)?;
        let result = work()?;
        // What it came up with holds.
        counts.trials.clear();
        Ok(result)
    }

    /// Notes its text, likewise, but waits for as long as it takes: it runs with that.
    pub(super) fn note<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let _counts = self.lock_if_up()?;
        work()
    }

    /// Gives it node settings, as `bring_up`, on trial: they are kept or failed by the number that
    /// this returns. `give` returns the settings that the resource had.
    pub(super) fn try_settings(&self, give: impl FnOnce() -> NodeSettings) -> Result<u64, Failure> {
        let mut counts = self.if_up(self.lock.lock_when_decided_in_time()?)?;
        counts.settings += 1;
        let number = counts.settings;
        counts.trials.push((number, give()));
        Ok(number)
    }

    /// Settings hold that were given on trial: older ones cannot be taken back to any more.
    pub(super) fn keep_settings(&self, number: u64) {
        self.lock.counts().trials.retain(|(known, _)| *known > number);
    }

    /// Takes back settings that were given on trial. Where newer ones were given since, those are
    /// to be taken back to the settings before both.
    pub(super) fn fail_settings(&self, number: u64, take_back: impl FnOnce(NodeSettings)) {
        let Ok(mut counts) = self.lock_if_up() else { return };
        let Some(index) = counts.trials.iter().position(|(known, _)| *known == number) else {
            return;
        };
        let (_, before) = counts.trials.remove(index);
        match counts.trials.get_mut(index) {
            Some((_, next)) => *next = before,
            None => take_back(before),
        }
    }

    /// Does something else about the resource, as `note`.
    pub(super) fn unless_over<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let _counts = self.lock_if_up()?;
        Ok(work())
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock.lock_when_decided().last_down > self.downs
    }

    /// Begins a `down` of what this permit brought up. Waits as `note` does, for that must not stay
    /// up.
    pub(super) fn begin_down(&self) -> Result<DownGuard, Failure> {
        let mut counts = self.lock_if_up()?;
        let number = counts.number_down();
        drop(counts);
        Ok(DownGuard { lock: Arc::clone(&self.lock), number, is_confirmed: false })
    }

    fn lock_if_up(&self) -> Result<MutexGuard<'_, Counts>, Failure> {
        self.if_up(self.lock.lock_when_decided())
    }

    fn if_up<'a>(&self, counts: MutexGuard<'a, Counts>) -> Result<MutexGuard<'a, Counts>, Failure> {
        if counts.last_down > self.downs {
            return Err(Refusal::TakenDown.into());
        }
        Ok(counts)
    }
}

impl DownGuard {
    /// The resource is down: permits given before are over. A command that begins later waits until
    /// this is dropped.
    pub(super) fn confirm(&mut self) {
        self.is_confirmed = true;
        let mut counts = self.lock.counts();
        counts.undecided -= 1;
        counts.last_down = counts.last_down.max(self.number);
        counts.trials.clear();
        drop(counts);
        self.lock.bell.notify_all();
    }
}

impl Drop for DownGuard {
    fn drop(&mut self) {
        let mut counts = self.lock.counts();
        counts.undecided -= usize::from(!self.is_confirmed);
        counts.under_way -= 1;
        drop(counts);
        self.lock.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use api::response::FailureCode;

    use super::*;
    use crate::control::tests::rest;

    fn nothing() -> Result<(), Failure> {
        Ok(())
    }

    /// Those of commands that wait for next to nothing.
    fn impatient() -> UpLocks {
        UpLocks { patience: Duration::from_millis(10), ..UpLocks::default() }
    }

    fn confirm(mut down: DownGuard) {
        down.confirm();
    }

    #[test]
    fn what_began_before_a_down_is_over_and_what_began_later_is_not() {
        let up_locks = UpLocks::default();
        let (before, other) = (up_locks.begin_up("r0").unwrap(), up_locks.begin_up("r1").unwrap());
        confirm(up_locks.begin_down("r0").unwrap());
        let after = up_locks.begin_up("r0").unwrap();
        assert!(before.is_over() && !after.is_over() && !other.is_over());
        before.bring_up(nothing).unwrap_err();
        before.note(nothing).unwrap_err();
        before.unless_over(|| panic!("it is over")).unwrap_err();
        after.unless_over(|| ()).unwrap();
        let refuse = || Err::<(), _>(Failure::new(FailureCode::Internal, "it fails", ""));
        after.bring_up(refuse).unwrap_err();
        after.bring_up(nothing).unwrap();
        after.note(nothing).unwrap();
    }

    #[test]
    fn nothing_is_kept_of_resources_that_nobody_asks_about() {
        let up_locks = UpLocks::default();
        let kept = up_locks.begin_up("r0").unwrap();
        for number in 0..100 {
            up_locks.begin_down(&format!("other-{number}")).unwrap();
        }
        assert_eq!(up_locks.by_resource.lock().unwrap().len(), 2);
        confirm(up_locks.begin_down("r0").unwrap());
        assert!(kept.is_over());
    }

    /// Of two that fail the second one put back what the first one had given.
    #[test]
    fn orders_that_fail_are_taken_back_to_the_last_ones_that_hold() {
        let up_locks = UpLocks::default();
        let settings = |name: &str| NodeSettings {
            comes_after: vec![(name.to_owned(), 0)],
            ..NodeSettings::default()
        };
        for order in [[0, 1], [1, 0]] {
            let permit = up_locks.begin_up("r0").unwrap();
            let present = RefCell::new(settings("own"));
            let numbers = ["first", "second"]
                .map(|name| permit.try_settings(|| present.replace(settings(name))).unwrap());
            for number in order.map(|index| numbers[index]) {
                permit.fail_settings(number, |before| drop(present.replace(before)));
            }
            assert_eq!(present.take().comes_after[0].0, "own");
        }
        let permit = up_locks.begin_up("r0").unwrap();
        let first = permit.try_settings(|| settings("own")).unwrap();
        let second = permit.try_settings(|| settings("first")).unwrap();
        permit.keep_settings(second);
        permit.fail_settings(first, |_| panic!("it has newer ones"));
    }

    #[test]
    fn down_that_is_refused_ends_nothing() {
        let up_locks = UpLocks::default();
        let before = up_locks.begin_up("r0").unwrap();
        drop(up_locks.begin_down("r0").unwrap());
        assert!(!before.is_over());
        before.bring_up(nothing).unwrap();
        drop(up_locks.begin_down("r0").unwrap());
        confirm(up_locks.begin_down("r0").unwrap());
        assert!(before.is_over());
    }

    /// The `down` took away what came up after it had begun, and both were said to be done.
    #[test]
    fn what_would_come_up_waits_until_it_is_known_whether_a_down_is_refused() {
        for is_refused in [false, true] {
            let up_locks = UpLocks::default();
            let before = up_locks.begin_up("r0").unwrap();
            let mut ending = up_locks.begin_down("r0").unwrap();
            let (is_known, begun) = (AtomicBool::new(false), Barrier::new(3));
            thread::scope(|scope| {
                for (permit, comes_up) in [(Some(before), is_refused), (None, true)] {
                    let (up_locks, is_known, begun) = (&up_locks, &is_known, &begun);
                    scope.spawn(move || {
                        begun.wait();
                        let permit = permit.unwrap_or_else(|| up_locks.begin_up("r0").unwrap());
                        let brought = permit.bring_up(nothing);
                        assert!(is_known.load(Ordering::SeqCst), "it waits");
                        assert_eq!(brought.is_ok(), comes_up);
                    });
                }
                begun.wait();
                // Whoever does not wait is done by then.
                rest();
                is_known.store(true, Ordering::SeqCst);
                if !is_refused {
                    ending.confirm();
                }
                drop(ending);
            });
        }
    }
    /// It was told that the resource is up already, or lost what it worked on to that `down`.
    #[test]
    fn what_begins_before_a_down_is_over_waits_for_that() {
        let up_locks = UpLocks::default();
        let before = up_locks.begin_up("r0").unwrap();
        let mut ending = up_locks.begin_down("r0").unwrap();
        let (is_over, begun) = (AtomicBool::new(false), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                begun.wait();
                up_locks.begin_up("r0").unwrap().bring_up(nothing).unwrap();
                assert!(is_over.load(Ordering::SeqCst), "it waits");
            });
            begun.wait();
            ending.confirm();
            // Who holds what the `down` waits for does not wait for it.
            before.bring_up(nothing).unwrap_err();
            rest();
            is_over.store(true, Ordering::SeqCst);
            drop(ending);
        });
    }

    /// It waited for ever where a state directory hung, and held its place among the commands.
    #[test]
    fn what_waits_for_a_down_that_does_not_end_fails() {
        let up_locks = impatient();
        let mut ending = up_locks.begin_down("r0").unwrap();
        let begin = || up_locks.begin_up("r0");
        let failure = begin().unwrap_err();
        assert_eq!(failure.code, FailureCode::StateRefused);
        assert!(failure.message.contains("a `down` of \"r0\" is under way"), "{failure}");
        ending.confirm();
        begin().unwrap_err();
        drop(ending);
        begin().unwrap().bring_up(nothing).unwrap();
    }

    /// Each waited ten minutes for the same data thread, and held its place among the commands.
    #[test]
    fn down_fails_while_it_is_not_known_whether_another_one_is_refused() {
        let up_locks = impatient();
        let ending = up_locks.begin_down("r0").unwrap();
        let failure = up_locks.begin_down("r0").unwrap_err();
        assert_eq!(failure.code, FailureCode::StateRefused);
        assert!(failure.message.contains("a `down` of \"r0\" is under way"), "{failure}");
        assert!(failure.hint.contains("a data thread is busy"), "{failure}");
        up_locks.begin_down("r1").unwrap();
        drop(ending);
        let mut ending = up_locks.begin_down("r0").unwrap();
        ending.confirm();
        // What is down is told to be so, whatever else of it has to end yet.
        confirm(up_locks.begin_down("r0").unwrap());
    }

    /// It waited ten minutes; where the daemon starts, all other resources with it.
    #[test]
    fn what_would_come_up_fails_where_it_stays_unknown_whether_a_down_is_refused() {
        let up_locks = impatient();
        let before = up_locks.begin_up("r0").unwrap();
        let ending = up_locks.begin_down("r0").unwrap();
        let brought = before.bring_up::<()>(|| panic!("it may be over"));
        let ordered = before.try_settings(|| panic!("it may be over"));
        for failure in [brought.unwrap_err(), ordered.unwrap_err()] {
            assert!(failure.message.contains("a `down` of \"r0\" is under way"), "{failure}");
        }
        drop(ending);
        before.bring_up(nothing).unwrap();
    }

    /// Whoever came next waited for a lock as long as that took.
    #[test]
    fn what_takes_down_what_it_brought_up_keeps_nobody_waiting_for_long() {
        let up_locks = impatient();
        let permit = up_locks.begin_up("r0").unwrap();
        let ending = permit.begin_down().unwrap();
        up_locks.begin_up("r0").unwrap_err();
        up_locks.begin_down("r0").unwrap_err();
        drop(ending);
        confirm(permit.begin_down().unwrap());
        permit.begin_down().unwrap_err();
        up_locks.begin_up("r0").unwrap();
    }
}
