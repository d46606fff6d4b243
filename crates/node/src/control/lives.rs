//! `down` beside commands that bring the same resource up.
//!
//! These take long: they wait for disks and addresses, and `adjust` has the resource down in the
//! middle. What began before a `down` neither brings the resource up nor notes its text any more
//! once that began; it fails. What began later is the newer word.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::response::{Failure, FailureCode};

/// Of all resources that such commands were given for of late.
#[derive(Debug, Default)]
pub(super) struct Lives {
    by_resource: Mutex<BTreeMap<String, Arc<Mutex<Counts>>>>,
}

#[derive(Debug, Default)]
struct Counts {
    downs: u64,
    /// Texts that were noted.
    texts: u64,
}

/// The right to bring a resource up, until somebody takes it down.
#[derive(Clone, Debug)]
pub(super) struct Life {
    counts: Arc<Mutex<Counts>>,
    downs: u64,
}

/// Of a `down` that began.
#[derive(Debug)]
pub(super) struct End {
    counts: Arc<Mutex<Counts>>,
    texts: u64,
}

impl Lives {
    pub(super) fn begin(&self, resource: &str) -> Life {
        let counts = self.counts_of(resource);
        let downs = lock(&counts).downs;
        Life { counts, downs }
    }

    /// Ends all that began so far; one that is just being brought up is up before.
    pub(super) fn end(&self, resource: &str) -> End {
        let counts = self.counts_of(resource);
        let mut own = lock(&counts);
        own.downs += 1;
        let texts = own.texts;
        drop(own);
        End { counts, texts }
    }

    fn counts_of(&self, resource: &str) -> Arc<Mutex<Counts>> {
        let mut all = self.by_resource.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks any more about those that nobody else has.
        all.retain(|name, counts| name == resource || Arc::strong_count(counts) > 1);
        Arc::clone(all.entry(resource.to_owned()).or_default())
    }
}

impl Life {
    /// Brings it up; a `down` that begins meanwhile comes after that.
    pub(super) fn bring_up<T>(
        &self,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _counts = self.lock_if_up()?;
        work()
    }

    /// Notes its text, likewise.
    pub(super) fn note<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let mut counts = self.lock_if_up()?;
        counts.texts += 1;
        work()
    }

    /// Says that it stays down, likewise: one that was taken down is not to be up.
    pub(super) fn hold_down(&self, say: impl FnOnce()) {
        if let Ok(_counts) = self.lock_if_up() {
            say();
        }
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.counts).downs != self.downs
    }

    fn lock_if_up(&self) -> Result<MutexGuard<'_, Counts>, Failure> {
        let counts = lock(&self.counts);
        if counts.downs != self.downs {
            let message = "it was taken down meanwhile";
            return Err(Failure::new(FailureCode::StateRefused, message, ""));
        }
        Ok(counts)
    }
}

impl End {
    /// Forgets its text, unless somebody noted one since.
    pub(super) fn forget<T>(
        &self,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(), Failure> {
        let counts = lock(&self.counts);
        if counts.texts == self.texts { work().map(drop) } else { Ok(()) }
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Result<(), Failure> {
        Ok(())
    }

    #[test]
    fn what_began_before_a_down_is_over_and_what_began_later_is_not() {
        let lives = Lives::default();
        let (before, other) = (lives.begin("r0"), lives.begin("r1"));
        let end = lives.end("r0");
        let after = lives.begin("r0");
        assert!(before.is_over() && !after.is_over() && !other.is_over());
        before.bring_up(nothing).unwrap_err();
        before.note(nothing).unwrap_err();
        after.bring_up(nothing).unwrap();
        after.note(nothing).unwrap();
        end.forget(|| -> Result<(), Failure> { panic!("its text is newer") }).unwrap();
        let mut is_forgotten = false;
        let forget = || {
            is_forgotten = true;
            Ok(())
        };
        lives.end("r0").forget(forget).unwrap();
        assert!(is_forgotten);
    }

    #[test]
    fn nothing_is_kept_of_resources_that_nobody_asks_about() {
        let lives = Lives::default();
        let kept = lives.begin("r0");
        for number in 0..100 {
            lives.end(&format!("other-{number}"));
        }
        assert_eq!(lives.by_resource.lock().unwrap().len(), 2);
        lives.end("r0");
        assert!(kept.is_over());
    }
}
