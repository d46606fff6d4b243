//! `down` beside commands that bring the same resource up.
//!
//! These take long: they wait for disks and addresses, and `adjust` has the resource down in the
//! middle. What began before a `down` neither brings the resource up nor notes its text any more
//! once that began, nor anything else of it; it fails. What began later is the newer word, and what
//! it brought up keeps what came with it.

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
    /// How often it was brought up.
    ups: u64,
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
    ups: u64,
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
        let (ups, texts) = (own.ups, own.texts);
        drop(own);
        End { counts, ups, texts }
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
        let mut counts = self.lock_if_up()?;
        let result = work()?;
        counts.ups += 1;
        Ok(result)
    }

    /// Notes its text, likewise.
    pub(super) fn note<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let mut counts = self.lock_if_up()?;
        counts.texts += 1;
        work()
    }

    /// Does something else about it, likewise.
    pub(super) fn unless_over<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let _counts = self.lock_if_up()?;
        Ok(work())
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
    /// Forgets what came with it when it was brought up, unless somebody did so since.
    pub(super) fn unless_up_again(&self, forget: impl FnOnce()) {
        let counts = lock(&self.counts);
        if counts.ups == self.ups {
            forget();
        }
    }

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
        before.unless_over(|| panic!("it is over")).unwrap_err();
        after.unless_over(|| ()).unwrap();
        let refuse = || Err::<(), _>(Failure::new(FailureCode::Internal, "it fails", ""));
        after.bring_up(refuse).unwrap_err();
        let mut forgotten = 0;
        end.unless_up_again(|| forgotten += 1);
        assert_eq!(forgotten, 1);
        after.bring_up(nothing).unwrap();
        end.unless_up_again(|| panic!("it is up again"));
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
