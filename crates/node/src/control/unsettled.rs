//! Texts that run and are not stored yet: somebody whom they dropped is needed still.
//!
//! A start in between has to know of him (decision 0011), so the former text counts for one until
//! no value names him any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use api::response::Failure;
use engine::log::{Scope, log};
use stdx::mutex::lock;

use crate::control::texts::state_failure;
use crate::control::up_lock::UpPermit;
use crate::control::{Control, spawn};
use crate::state_dir::StateDir;

/// The texts, and the right to store them. Who waits for a `down` of one resource must not keep it
/// from others: the up lock is taken first, and the texts after it.
///
/// A store that hangs keeps them from every `adjust` and the end of every `down`, without a bound:
/// these read and write in the same directory, and hang there by themselves. Who did not wait could
/// store a text that a late one then takes the place of. The node has no vote any more by then, and
/// a restart is what helps; `status`, roles and clients need none of the texts.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    texts: Mutex<BTreeMap<String, (String, UpPermit)>>,
}

impl Unsettled {
    /// What runs and waits to be stored.
    pub(super) fn text(&self, resource: &str) -> Option<String> {
        self.lock().get(resource).map(|(text, _)| text.clone())
    }

    /// All that run so, by resource.
    pub(super) fn all(&self) -> Vec<(String, String)> {
        let texts = self.lock();
        texts.iter().map(|(resource, (text, _))| (resource.clone(), text.clone())).collect()
    }

    pub(super) fn note(&self, resource: &str, text: &str, permit: &UpPermit) {
        // A `down` that ends it from here on removes what is noted.
        let note = || self.lock().insert(resource.to_owned(), (text.to_owned(), permit.clone()));
        drop(permit.unless_over(note));
    }

    /// Another text takes the place of one that waits, or none; where that fails it waits on.
    pub(super) fn end_with(
        &self,
        resource: &str,
        store: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut texts = self.lock();
        store()?;
        texts.remove(resource);
        Ok(())
    }

    /// What ran with it is down.
    pub(super) fn forget(&self, resource: &str) {
        self.lock().remove(resource);
    }

    /// Stores what waited, and says whose it is. Nobody stores another text meanwhile.
    fn settle(&self, resource: &str, state: &StateDir) -> Option<(UpPermit, Result<(), Failure>)> {
        let permit = self.lock().get(resource).map(|(_, permit)| permit.clone())?;
        // While this one is not over, no text is of one that began after a `down`.
        let settled = permit.unless_over(|| {
            let mut texts = self.lock();
            let Some((text, _)) = texts.remove(resource) else { return Ok(()) };
            state.store_text(resource, &text).map_err(state_failure)
        });
        let settled = settled.unwrap_or_else(|_| {
            let scope = Scope::resource(resource);
            log!(Notice, scope, "it was taken down before its last change was stored");
            Ok(())
        });
        Some((permit, settled))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (String, UpPermit)>> {
        lock(&self.texts)
    }
}

impl Control {
    /// Nobody is needed any more whom its definition dropped. Another thread stores the text: that
    /// waits for those who wait for answers, which this one hands out.
    pub(super) fn on_settled(self: &Arc<Self>, resource: String) {
        let control = Arc::clone(self);
        let failed = |resource: &str, reason: &dyn std::fmt::Display| {
            let scope = Scope::resource(resource);
            log!(
                Error,
                scope,
                "its configuration is not stored, a restart takes the former one: {reason}; \
                 `adjust` it again"
            );
        };
        let name = resource.clone();
        let work = move || {
            // Where none waits, whoever stored it, or took it down, sees to the rest.
            let Some((permit, settled)) = control.unsettled.settle(&resource, &control.state)
            else {
                return;
            };
            if let Err(failure) = settled {
                failed(&resource, &failure);
            }
            control.follow_text(&resource, &permit);
        };
        if let Err(error) = spawn("settled", work) {
            failed(&name, &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::control::tests::rest;
    use crate::control::up_lock::UpLocks;

    /// `adjust` of all resources waited with one of them for its `down`.
    #[test]
    fn texts_of_others_are_free_while_a_down_is_under_way() {
        let (unsettled, up_locks) = (Unsettled::default(), UpLocks::default());
        let permit = up_locks.begin_up("r0").unwrap();
        let ((begun, has_begun), (end, ends)) = (mpsc::channel(), mpsc::channel());
        let (told, heard) = mpsc::channel();
        let texts = unsettled.lock();
        thread::scope(|scope| {
            let unsettled = &unsettled;
            scope.spawn(move || unsettled.note("r0", "text", &permit));
            rest();
            let up_locks = &up_locks;
            scope.spawn(move || {
                let ending = up_locks.begin_down("r0").unwrap();
                begun.send(()).unwrap();
                ends.recv().unwrap();
                drop(ending);
            });
            // It may wait for who notes that text.
            rest();
            drop(texts);
            has_begun.recv().unwrap();
            rest();
            scope.spawn(move || told.send(unsettled.all()));
            let all = heard.recv_timeout(Duration::from_secs(5));
            end.send(()).unwrap();
            all.expect("who waits for a `down` keeps them from nobody");
        });
    }

    /// A `down`, an `up` and another change came in between: that one waits for others.
    #[test]
    fn what_is_settled_late_stores_no_text_of_a_newer_life() {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDir::below(directory.path());
        let (unsettled, up_locks) = (Unsettled::default(), UpLocks::default());
        let permit = up_locks.begin_up("r0").unwrap();
        unsettled.note("r0", "older", &permit);
        let mut ending = up_locks.begin_down("r0").unwrap();
        let holders = permit.holders();
        thread::scope(|scope| {
            let settling = scope.spawn(|| unsettled.settle("r0", &state));
            // It waits until it is known whether that is refused.
            while permit.holders() == holders {
                thread::yield_now();
            }
            let mut texts = unsettled.lock();
            ending.confirm();
            drop(ending);
            texts.insert("r0".to_owned(), ("newer".to_owned(), up_locks.begin_up("r0").unwrap()));
            drop(texts);
            settling.join().unwrap().expect("one waits").1.unwrap();
        });
        assert_eq!(unsettled.text("r0").as_deref(), Some("newer"));
        assert_eq!(state.stored_text("r0").unwrap(), None);
    }
}
