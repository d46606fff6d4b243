//! The controller's state, and the one way to change it: under its lock, into the store, and then
//! into memory. Whoever waits for a change is woken by the new revision.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use api::agent::{Document, Observed};
use io::clock;
use tokio::sync::watch;
use uuid::Uuid;

use crate::documents::document;
use crate::model::{Change, Desired};
use crate::refusal::Refusal;
use crate::seen::Seen;
use crate::settle::settle;
use crate::store::{Store, StoreError};

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) cluster: Uuid,
    store: Store,
    state: Mutex<State>,
    revision: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) desired: Desired,
    pub(crate) seen: Seen,
}

/// Changes, and the answer to whoever asked for them.
pub(crate) type Changed<T> = Result<(Vec<Change>, T), Refusal>;

impl Core {
    /// With the objects that cannot be read.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<String>), StoreError> {
        let (store, loaded) = Store::open(path)?;
        let revision = watch::Sender::new(loaded.desired.revision);
        let state = Mutex::new(State { desired: loaded.desired, seen: Seen::default() });
        Ok((Self { cluster: loaded.cluster, store, state, revision }, loaded.unreadable))
    }

    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&State, u64) -> T) -> T {
        look(&self.lock(), now_ms())
    }

    pub(crate) fn document(&self, node: Uuid) -> Document {
        self.look(|state, _| document(&state.desired, node))
    }

    /// Durable when it returns.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&State, u64) -> Changed<T>,
    ) -> Result<T, Refusal> {
        let mut state = self.lock();
        let (changes, answer) = change(&state, now_ms())?;
        self.commit(&mut state, changes)?;
        Ok(answer)
    }

    /// What an agent says of its node, and what follows from it.
    pub(crate) fn hear(&self, node: Uuid, observed: Observed) -> Result<(), Refusal> {
        let mut state = self.lock();
        state.seen.hear(node, observed, now_ms());
        self.settle_in(&mut state)
    }

    /// Time goes by.
    pub(crate) fn settle(&self) -> Result<(), Refusal> {
        self.settle_in(&mut self.lock())
    }

    fn settle_in(&self, state: &mut State) -> Result<(), Refusal> {
        let changes = settle(&state.desired, &state.seen, now_ms());
        self.commit(state, changes)
    }

    fn commit(&self, state: &mut State, mut changes: Vec<Change>) -> Result<(), Refusal> {
        if changes.is_empty() {
            return Ok(());
        }
        let revision = state.desired.revision + 1;
        state.desired.stamp(&mut changes, revision);
        let committed = self.store.commit(&changes, revision);
        committed.map_err(|error| Refusal::Failed { reason: error.to_string() })?;
        changes.into_iter().for_each(|change| state.desired.apply(change));
        state.desired.revision = revision;
        self.revision.send_replace(revision);
        Ok(())
    }

    /// Who panicked had changed nothing yet: a change is applied after it is stored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now_ms() -> u64 {
    u64::try_from(clock::unix_time().as_millis()).unwrap_or(u64::MAX)
}
