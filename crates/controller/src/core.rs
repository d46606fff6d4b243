//! The controller's state, and the one way to change it: under its lock, into the store, and then
//! into memory. Whoever waits for a change is woken by the new revision.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use api::agent::{Document, Observed};
use io::clock;
use stdx::time::Time;
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
    clock: Steady,
    store: Store,
    /// Objects of the store that cannot be read, and that others lean on. While there are any
    /// nothing is changed and no agent is told anything: what is missing is not gone.
    unreadable: Vec<String>,
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
        let clock = Steady::begin();
        let seen = Seen::since(clock.began_ms);
        let state = Mutex::new(State { desired: loaded.desired, seen });
        let is_leant_on =
            |key: &&String| !key.starts_with("operation/") && !key.starts_with("word/");
        let unreadable: Vec<String> =
            loaded.unreadable.iter().filter(is_leant_on).cloned().collect();
        let cluster = loaded.cluster;
        let core = Self { cluster, clock, store, unreadable, state, revision };
        Ok((core, loaded.unreadable))
    }

    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&State, u64) -> T) -> T {
        look(&self.lock(), self.clock.now_ms())
    }

    pub(crate) fn document(&self, node: Uuid) -> Result<Document, Refusal> {
        self.check_readable()?;
        Ok(self.look(|state, _| document(&state.desired, node)))
    }

    fn check_readable(&self) -> Result<(), Refusal> {
        match self.unreadable.is_empty() {
            true => Ok(()),
            false => Err(Refusal::Unreadable { keys: self.unreadable.clone() }),
        }
    }

    /// Durable when it returns.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&State, u64) -> Changed<T>,
    ) -> Result<T, Refusal> {
        self.check_readable()?;
        let mut state = self.lock();
        let (changes, answer) = change(&state, self.clock.now_ms())?;
        self.commit(&mut state, changes)?;
        Ok(answer)
    }

    /// What an agent says of its node, and what follows from it.
    pub(crate) fn hear(&self, node: Uuid, observed: Observed) -> Result<(), Refusal> {
        let mut state = self.lock();
        let mut observed = observed;
        if observed.revision > state.desired.revision {
            observed.problem = Some(format!(
                "it was told of revision {}, and the controller's store has {}, which is an old \
                 copy: `basalt cluster restored` goes on with that",
                observed.revision, state.desired.revision
            ));
        }
        state.seen.hear(node, observed, self.clock.now_ms());
        self.settle_in(&mut state)
    }

    /// The store is a copy that was put back, and the nodes are to believe it: its revision becomes
    /// the highest that any of them was told.
    pub(crate) fn go_on_restored(&self) -> Result<u64, Refusal> {
        self.check_readable()?;
        let mut state = self.lock();
        let (has, told) = (state.desired.revision, state.seen.highest_revision());
        if told <= has {
            return Err(Refusal::NotBehind { revision: has });
        }
        let revision = told + 1;
        let committed = self.store.commit(&[], revision);
        committed.map_err(|error| Refusal::Failed { reason: error.to_string() })?;
        state.desired.revision = revision;
        self.revision.send_replace(revision);
        Ok(revision)
    }

    /// Time goes by.
    pub(crate) fn settle(&self) -> Result<(), Refusal> {
        self.settle_in(&mut self.lock())
    }

    fn settle_in(&self, state: &mut State) -> Result<(), Refusal> {
        if !self.unreadable.is_empty() {
            return Ok(());
        }
        let changes = settle(&state.desired, &state.seen, self.clock.now_ms());
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

/// Milliseconds since 1970 as the system's clock had them at the start, and what went by since:
/// whoever sets that clock moves no deadline.
#[derive(Clone, Copy, Debug)]
struct Steady {
    began: Time,
    began_ms: u64,
}

impl Steady {
    fn begin() -> Self {
        let began_ms = u64::try_from(clock::unix_time().as_millis()).unwrap_or(u64::MAX);
        Self { began: clock::now(), began_ms }
    }

    fn now_ms(&self) -> u64 {
        let went_by = clock::now().since(self.began);
        self.began_ms.saturating_add(u64::try_from(went_by.as_millis()).unwrap_or(u64::MAX))
    }
}
