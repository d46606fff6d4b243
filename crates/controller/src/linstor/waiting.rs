//! These clients wait for what they ask for: a change is made, and its operation is waited for, for
//! a while.

use std::sync::Arc;
use std::time::Duration;

use api::cluster::{Begun, OperationState};
use tokio::time::Instant;

use crate::Controller;
use crate::core::{Changed, State};
use crate::linstor::answer::{Done, Note};
use crate::native::off_loop;
use crate::refusal::Refusal;

/// Below what clients wait for an answer.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// A request in work, and until when its client is kept.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    controller: Arc<Controller>,
    until: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Done,
    /// It goes on.
    Continues(u64),
}

impl Work {
    pub(crate) fn new(controller: Arc<Controller>) -> Self {
        Self { controller, until: Instant::now() + WAIT_MAX }
    }

    /// Once no other operation changes the same object.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        change: impl Fn(&State, u64) -> Changed<T> + Send + Sync + 'static,
    ) -> Result<T, Refusal> {
        let change = Arc::new(change);
        let mut revisions = self.controller.core.revisions();
        loop {
            revisions.mark_unchanged();
            let once = Arc::clone(&change);
            let changed = off_loop(Arc::clone(&self.controller), move |controller| {
                controller.core.change(|state, now| once(state, now))
            });
            match changed.await {
                Err(Refusal::Busy { name, operation }) => {
                    // How that one ends is of no concern here.
                    if let Ok(Waited::Continues(operation)) = self.wait(Begun { operation }).await {
                        return Err(Refusal::Busy { name, operation });
                    }
                }
                // It ends by itself, as soon as agents did their part.
                Err(refusal @ (Refusal::StillLeaving { .. } | Refusal::Going { .. })) => {
                    if tokio::time::timeout_at(self.until, revisions.changed()).await.is_err() {
                        return Err(refusal);
                    }
                }
                told => return told,
            }
        }
    }

    /// Until an operation ended, or the client was kept for long enough.
    pub(crate) async fn wait(&self, begun: Begun) -> Result<Waited, Refusal> {
        let id = begun.operation;
        let mut revisions = self.controller.core.revisions();
        loop {
            revisions.mark_unchanged();
            let told = self.controller.core.look(|state, _| {
                state.desired.operations.get(&id).map(|it| (it.state, it.reason.clone()))
            });
            match told.ok_or(Refusal::NoOperation { id })? {
                (OperationState::Done, _) => return Ok(Waited::Done),
                (OperationState::Failed, reason) => {
                    return Err(Refusal::CameToNothing { operation: id, reason });
                }
                (OperationState::Running, _) => {}
            }
            if tokio::time::timeout_at(self.until, revisions.changed()).await.is_err() {
                return Ok(Waited::Continues(id));
            }
        }
    }
}

/// Once an operation is over; of one that is not it is told.
pub(crate) async fn ended(work: &Work, begun: Begun, done: Done) -> Result<Done, Refusal> {
    Ok(match work.wait(begun).await? {
        Waited::Done => done,
        Waited::Continues(operation) => done.note([Note::Info(format!(
            "it goes on as operation {operation}: `basalt operation show {operation}`"
        ))]),
    })
}
