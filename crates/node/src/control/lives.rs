//! `down` beside commands that bring the same resource up.
//!
//! These take long: they wait for disks and addresses, and `adjust` has the resource down in the
//! middle. What began before a `down` neither brings the resource up nor notes its text any more
//! once that began, nor anything else of it; it fails. What began later is the newer word: it waits
//! until that `down` is over, for what is up until then may not be any more, and so it keeps what
//! comes with it.
//!
//! A `down` may be refused, and then all goes on. So whoever comes to such a step while one is
//! under way waits until this is known. A data thread that has no time leaves it open for long
//! (`REMOVAL_ANSWER_DEADLINE`): what has done nothing yet that would have to be taken back, another
//! `down` among it, fails before that. What remains, as to store what runs, has to know.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::response::{Failure, FailureCode};

use crate::control::node_settings::NodeSettings;
use crate::limits::ADMIN_COMMAND_DEADLINE;

/// Of all resources that such commands were given for of late.
#[derive(Debug)]
pub(super) struct Lives {
    /// How long a command waits for a `down` that is under way.
    pub(super) patience: Duration,
    by_resource: Mutex<BTreeMap<String, Arc<Course>>>,
}

impl Default for Lives {
    fn default() -> Self {
        Self { patience: ADMIN_COMMAND_DEADLINE, by_resource: Mutex::default() }
    }
}

/// Of one resource.
#[derive(Debug)]
struct Course {
    resource: String,
    patience: Duration,
    counts: Mutex<Counts>,
    /// Rung when it is known of a `down` whether it was refused, and when it is over.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    /// Each that began has the next number.
    downs: u64,
    /// The last one that was not refused.
    last_down: u64,
    /// Of how many this is not known yet.
    undecided: usize,
    /// How many are not over.
    under_way: usize,
    /// Each orders that were given have the next number.
    orders: u64,
    /// NodeSettings of which it is not known yet whether they hold, each with those before it.
    trials: Vec<(u64, NodeSettings)>,
}

/// The right to bring a resource up, until somebody takes it down.
#[derive(Clone, Debug)]
pub(super) struct Life {
    course: Arc<Course>,
    downs: u64,
}

/// Of a `down` that began. Where this is dropped, it is over; refused unless it stands.
#[derive(Debug)]
pub(super) struct Ending {
    course: Arc<Course>,
    number: u64,
    stands: bool,
}

impl Lives {
    /// Waits until no `down` is under way, as long as a command may take.
    pub(super) fn begin(&self, resource: &str) -> Result<Life, Failure> {
        let course = self.course_of(resource);
        let counts = course.lock();
        let downs = counts.downs;
        drop(course.wait_while(counts, |counts| counts.under_way > 0)?);
        Ok(Life { course, downs })
    }

    /// Begins to end all that began so far; one that is just being brought up is up before. Fails
    /// where it is not known in time of another `down` whether it was refused: each would wait for
    /// the same data thread, and hold its place among the commands.
    pub(super) fn end(&self, resource: &str) -> Result<Ending, Failure> {
        let course = self.course_of(resource);
        let mut counts = course.lock_when_decided_in_time()?;
        let number = counts.begin_down();
        drop(counts);
        Ok(Ending { course, number, stands: false })
    }

    fn course_of(&self, resource: &str) -> Arc<Course> {
        let mut all = self.by_resource.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks any more about those that nobody else has.
        all.retain(|name, course| name == resource || Arc::strong_count(course) > 1);
        let course = || Arc::new(Course::new(resource, self.patience));
        Arc::clone(all.entry(resource.to_owned()).or_insert_with(course))
    }
}

impl Counts {
    /// Returns its number.
    fn begin_down(&mut self) -> u64 {
        self.downs += 1;
        self.undecided += 1;
        self.under_way += 1;
        self.downs
    }
}

impl Course {
    fn new(resource: &str, patience: Duration) -> Self {
        Self {
            resource: resource.to_owned(),
            patience,
            counts: Mutex::default(),
            bell: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Once it is known of each `down` whether it was refused.
    fn lock_when_decided(&self) -> MutexGuard<'_, Counts> {
        let decided = self.bell.wait_while(self.lock(), |counts| counts.undecided > 0);
        decided.unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, as long as a command may take.
    fn lock_when_decided_in_time(&self) -> Result<MutexGuard<'_, Counts>, Failure> {
        self.wait_while(self.lock(), |counts| counts.undecided > 0)
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
            let message = format!("a `down` of {:?} is under way", self.resource);
            let hint = "try again when it is done; where it does not end, a data thread is busy \
                        (`top -H` shows it as shard-N), or the disk of the state directory gives \
                        no answer (`dmesg | tail` may tell why)";
            return Err(Failure::new(FailureCode::StateRefused, message, hint));
        }
        Ok(counts)
    }
}

#[cfg(test)]
impl Life {
    /// How many have to do with lives of this resource.
    pub(super) fn holders(&self) -> usize {
        Arc::strong_count(&self.course)
    }
}

impl Life {
    /// Brings it up; a `down` that begins meanwhile comes after that. Fails where it is not known
    /// in time of one that began before whether it was refused.
    pub(super) fn bring_up<T>(
        &self,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut counts = self.if_up(self.course.lock_when_decided_in_time()?)?;
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

    /// Gives it orders, as `bring_up`, on trial: they hold or fail by the number that this returns.
    /// `give` returns those that it had.
    pub(super) fn try_settings(&self, give: impl FnOnce() -> NodeSettings) -> Result<u64, Failure> {
        let mut counts = self.if_up(self.course.lock_when_decided_in_time()?)?;
        counts.orders += 1;
        let number = counts.orders;
        counts.trials.push((number, give()));
        Ok(number)
    }

    /// Nobody takes them back any more who gave others before.
    pub(super) fn keep_settings(&self, number: u64) {
        self.course.lock().trials.retain(|(known, _)| *known > number);
    }

    /// Takes them back. Who gave others since is to take those back to what it had before these.
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

    /// Does something else about it, as `note`.
    pub(super) fn unless_over<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let _counts = self.lock_if_up()?;
        Ok(work())
    }

    pub(super) fn is_over(&self) -> bool {
        self.course.lock_when_decided().last_down > self.downs
    }

    /// Begins to take down what it brought up itself; as `note`, for that must not stay up.
    pub(super) fn end(&self) -> Result<Ending, Failure> {
        let mut counts = self.lock_if_up()?;
        let number = counts.begin_down();
        drop(counts);
        Ok(Ending { course: Arc::clone(&self.course), number, stands: false })
    }

    fn lock_if_up(&self) -> Result<MutexGuard<'_, Counts>, Failure> {
        self.if_up(self.course.lock_when_decided())
    }

    fn if_up<'a>(&self, counts: MutexGuard<'a, Counts>) -> Result<MutexGuard<'a, Counts>, Failure> {
        if counts.last_down > self.downs {
            let message = "it was taken down meanwhile";
            return Err(Failure::new(FailureCode::StateRefused, message, ""));
        }
        Ok(counts)
    }
}

impl Ending {
    /// The resource is down: what began before is over. What begins later waits until there is
    /// nothing left of it.
    pub(super) fn stand(&mut self) {
        self.stands = true;
        let mut counts = self.course.lock();
        counts.undecided -= 1;
        counts.last_down = counts.last_down.max(self.number);
        counts.trials.clear();
        drop(counts);
        self.course.bell.notify_all();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut counts = self.course.lock();
        counts.undecided -= usize::from(!self.stands);
        counts.under_way -= 1;
        drop(counts);
        self.course.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::control::tests::rest;

    fn nothing() -> Result<(), Failure> {
        Ok(())
    }

    /// Those of commands that wait for next to nothing.
    fn impatient() -> Lives {
        Lives { patience: Duration::from_millis(10), ..Lives::default() }
    }

    fn stand(mut ending: Ending) {
        ending.stand();
    }

    #[test]
    fn what_began_before_a_down_is_over_and_what_began_later_is_not() {
        let lives = Lives::default();
        let (before, other) = (lives.begin("r0").unwrap(), lives.begin("r1").unwrap());
        stand(lives.end("r0").unwrap());
        let after = lives.begin("r0").unwrap();
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
        let lives = Lives::default();
        let kept = lives.begin("r0").unwrap();
        for number in 0..100 {
            lives.end(&format!("other-{number}")).unwrap();
        }
        assert_eq!(lives.by_resource.lock().unwrap().len(), 2);
        stand(lives.end("r0").unwrap());
        assert!(kept.is_over());
    }

    /// Of two that fail the second one put back what the first one had given.
    #[test]
    fn orders_that_fail_are_taken_back_to_the_last_ones_that_hold() {
        let lives = Lives::default();
        let orders =
            |name: &str| NodeSettings { comes_after: vec![(name.to_owned(), 0)], ..NodeSettings::default() };
        for order in [[0, 1], [1, 0]] {
            let life = lives.begin("r0").unwrap();
            let present = RefCell::new(orders("own"));
            let numbers = ["first", "second"]
                .map(|name| life.try_settings(|| present.replace(orders(name))).unwrap());
            for number in order.map(|index| numbers[index]) {
                life.fail_settings(number, |before| drop(present.replace(before)));
            }
            assert_eq!(present.take().comes_after[0].0, "own");
        }
        let life = lives.begin("r0").unwrap();
        let first = life.try_settings(|| orders("own")).unwrap();
        let second = life.try_settings(|| orders("first")).unwrap();
        life.keep_settings(second);
        life.fail_settings(first, |_| panic!("it has newer ones"));
    }

    #[test]
    fn down_that_is_refused_ends_nothing() {
        let lives = Lives::default();
        let before = lives.begin("r0").unwrap();
        drop(lives.end("r0").unwrap());
        assert!(!before.is_over());
        before.bring_up(nothing).unwrap();
        drop(lives.end("r0").unwrap());
        stand(lives.end("r0").unwrap());
        assert!(before.is_over());
    }

    /// The `down` took away what came up after it had begun, and both were said to be done.
    #[test]
    fn what_would_come_up_waits_until_it_is_known_whether_a_down_is_refused() {
        for is_refused in [false, true] {
            let lives = Lives::default();
            let before = lives.begin("r0").unwrap();
            let mut ending = lives.end("r0").unwrap();
            let (is_known, begun) = (AtomicBool::new(false), Barrier::new(3));
            thread::scope(|scope| {
                for (life, comes_up) in [(Some(before), is_refused), (None, true)] {
                    let (lives, is_known, begun) = (&lives, &is_known, &begun);
                    scope.spawn(move || {
                        begun.wait();
                        let life = life.unwrap_or_else(|| lives.begin("r0").unwrap());
                        let brought = life.bring_up(nothing);
                        assert!(is_known.load(Ordering::SeqCst), "it waits");
                        assert_eq!(brought.is_ok(), comes_up);
                    });
                }
                begun.wait();
                // Whoever does not wait is done by then.
                rest();
                is_known.store(true, Ordering::SeqCst);
                if !is_refused {
                    ending.stand();
                }
                drop(ending);
            });
        }
    }
    /// It was told that the resource is up already, or lost what it worked on to that `down`.
    #[test]
    fn what_begins_before_a_down_is_over_waits_for_that() {
        let lives = Lives::default();
        let before = lives.begin("r0").unwrap();
        let mut ending = lives.end("r0").unwrap();
        let (is_over, begun) = (AtomicBool::new(false), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                begun.wait();
                lives.begin("r0").unwrap().bring_up(nothing).unwrap();
                assert!(is_over.load(Ordering::SeqCst), "it waits");
            });
            begun.wait();
            ending.stand();
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
        let lives = impatient();
        let mut ending = lives.end("r0").unwrap();
        let begin = || lives.begin("r0");
        let failure = begin().unwrap_err();
        assert_eq!(failure.code, FailureCode::StateRefused);
        assert!(failure.message.contains("a `down` of \"r0\" is under way"), "{failure}");
        ending.stand();
        begin().unwrap_err();
        drop(ending);
        begin().unwrap().bring_up(nothing).unwrap();
    }

    /// Each waited ten minutes for the same data thread, and held its place among the commands.
    #[test]
    fn down_fails_while_it_is_not_known_whether_another_one_is_refused() {
        let lives = impatient();
        let ending = lives.end("r0").unwrap();
        let failure = lives.end("r0").unwrap_err();
        assert_eq!(failure.code, FailureCode::StateRefused);
        assert!(failure.message.contains("a `down` of \"r0\" is under way"), "{failure}");
        assert!(failure.hint.contains("a data thread is busy"), "{failure}");
        lives.end("r1").unwrap();
        drop(ending);
        let mut ending = lives.end("r0").unwrap();
        ending.stand();
        // What is down is told to be so, whatever else of it has to end yet.
        stand(lives.end("r0").unwrap());
    }

    /// It waited ten minutes; where the daemon starts, all other resources with it.
    #[test]
    fn what_would_come_up_fails_where_it_stays_unknown_whether_a_down_is_refused() {
        let lives = impatient();
        let before = lives.begin("r0").unwrap();
        let ending = lives.end("r0").unwrap();
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
        let lives = impatient();
        let life = lives.begin("r0").unwrap();
        let ending = life.end().unwrap();
        lives.begin("r0").unwrap_err();
        lives.end("r0").unwrap_err();
        drop(ending);
        stand(life.end().unwrap());
        life.end().unwrap_err();
        lives.begin("r0").unwrap();
    }
}
