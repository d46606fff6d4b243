//! Texts that run and are not stored yet: somebody whom they dropped is needed still.
//!
//! A start in between has to know of him (decision 0011), so the former text counts for one until
//! no value names him any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use api::response::Failure;
use stdx::mutex::lock;

use crate::control::configuring::state_failure;
use crate::control::lives::Life;
use crate::control::{Control, spawn};
use crate::log::{Scope, log};
use crate::state_dir::StateDir;

/// The texts, and the right to store them.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    texts: Mutex<BTreeMap<String, (String, Life)>>,
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

    pub(super) fn note(&self, resource: &str, text: &str, life: Life) {
        life.await_down();
        let mut texts = self.lock();
        // A `down` that ends it from here on removes what is noted.
        if !life.is_over() {
            texts.insert(resource.to_owned(), (text.to_owned(), life));
        }
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

    /// Stores what waited. Nobody stores another text meanwhile.
    fn settle(&self, resource: &str, state: &StateDir) -> Result<(), Failure> {
        let life = self.lock().get(resource).map(|(_, life)| life.clone());
        life.iter().for_each(Life::await_down);
        let mut texts = self.lock();
        match texts.remove(resource) {
            Some((text, life)) if !life.is_over() => {
                life.note(|| state.store_text(resource, &text).map_err(state_failure))
            }
            Some(_) => {
                let scope = Scope::resource(resource);
                log!(Notice, scope, "it was taken down before its last change was stored");
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (String, Life)>> {
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
            if let Err(failure) = control.unsettled.settle(&resource, &control.state) {
                failed(&resource, &failure);
            }
            control.name_devices(&resource);
            control.place_threads();
        };
        if let Err(error) = spawn("settled", work) {
            failed(&name, &error);
        }
    }
}
