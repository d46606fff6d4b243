//! The load: one client with several connections, which asks the oracle about every answer.
//!
//! A client is at one server at a time. Its connections form a session: when one of them fails, all
//! are closed, what was not answered is given up (a write then may have taken effect or not), and a
//! new session begins at the next server of the list that lets it in. So a write of an old session
//! must never show up after the new one has read or written its block.

use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};
use io::clock;

use super::mix::Writes;
use super::plan::Plan;
use super::session::{self, SessionEnd};
use super::shared::{Shared, Work};
use crate::waiting;

/// A running load.
#[derive(Debug)]
pub(crate) struct Load {
    shared: Arc<Shared>,
    client: JoinHandle<Result<()>>,
}

impl Load {
    /// Connects, so that a wrong address fails here, and starts the mix.
    pub(crate) fn start(plan: Plan) -> Result<Self> {
        let export = session::probe(&plan)?;
        let shared = Arc::new(Shared::new(plan, export.size_bytes)?);
        let client = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || run_client(&shared, Work::Mix)
        });
        Ok(Self { shared, client })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Ends the session once all is answered, and begins the next one at `server`.
    pub(crate) fn move_to(&self, server: usize) {
        self.shared.move_to(server);
    }

    /// What is sent from now on; what is on its way stays as it is.
    pub(crate) fn write(&self, writes: Writes) {
        self.shared.write(writes);
    }

    /// True if it has ended by itself, which it only does when it failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.client.is_finished()
    }

    /// Takes the answers that are still out and ends the sessions.
    pub(crate) fn stop(self) -> Result<Arc<Shared>> {
        self.shared.stop();
        match self.client.join() {
            Ok(result) => result.map(|()| self.shared),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Reads every block of the span and compares; the load must have stopped.
pub(crate) fn read_back(shared: &Shared) -> Result<()> {
    shared.begin_read_back();
    run_client(shared, Work::ReadBack).context("cannot read everything back")
}

/// Sessions, one after the other, until the work is done.
fn run_client(shared: &Shared, work: Work) -> Result<()> {
    let mut server = 0;
    let mut deadline = clock::now() + shared.plan.reconnect_limit;
    while !shared.is_done(work) {
        let opened = session::open_anywhere(shared, server, deadline)?;
        let Some(opened) = opened else { return Ok(()) };
        server = opened.server;
        shared.tally().on_session(server, clock::now());
        match session::run(shared, opened, work) {
            // Another one begins where the last answer of all asked for a second look.
            SessionEnd::Done => server = shared.take_wanted().unwrap_or(server),
            SessionEnd::Broken { why, answers } => {
                if answers > 0 {
                    deadline = clock::now() + shared.plan.reconnect_limit;
                } else if clock::now() > deadline {
                    bail!("servers let the checker in, but answer no request: {why}");
                } else {
                    waiting::rest();
                }
                shared.tally().on_session_end(why);
                server += 1;
            }
        }
    }
    Ok(())
}
