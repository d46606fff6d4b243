//! The load: one client with several connections, which asks the oracle about every answer.
//!
//! A client is at one server at a time. Its connections form a session: when one of them fails, all
//! are closed, what was not answered is given up (a write then may have taken effect or not), and a
//! new session begins at the next server of the list that lets it in. So a write of an old session
//! must never show up after the new one has read or written its block.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{Reply, Request};
use frontend::nbd::wire::{CMD_FLAG_FUA, Command};
use io::clock;
use stdx::mutex::lock;
use stdx::random::Random;
use stdx::time::Time;

use super::block::{self, BLOCK_BYTES, Stamp};
use super::mix::{self, Durability, Intent, Writes};
use super::oracle::{self, Oracle};
use super::session::{self, SessionEnd};
use super::tally::{Kind, Tally};
use crate::waiting;

/// Blocks of one read when everything is read back.
const READ_BACK_BLOCKS: u64 = 64;
/// How often a wrong block is read once more, to tell a stale one from a lost one.
const SECOND_LOOKS_MAX: u64 = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) servers: Vec<Uri>,
    pub(crate) seed: u64,
    /// Only this much from the start of the volume is touched.
    pub(crate) span_bytes: u64,
    pub(crate) connections: usize,
    /// Requests in flight per connection.
    pub(crate) depth: usize,
    /// An answer that takes longer ends the session.
    pub(crate) answer_limit: Duration,
    /// Without any session for this long the run has failed.
    pub(crate) reconnect_limit: Duration,
}

impl Plan {
    /// A moderate load on the first `span_bytes`.
    pub(crate) fn new(servers: Vec<Uri>, seed: u64, span_bytes: u64) -> Self {
        Self {
            servers,
            seed,
            span_bytes,
            connections: 4,
            depth: 8,
            answer_limit: Duration::from_secs(30),
            reconnect_limit: Duration::from_secs(60),
        }
    }
}

/// A running load.
#[derive(Debug)]
pub(crate) struct Load {
    shared: Arc<Shared>,
    client: JoinHandle<Result<()>>,
}

/// What the threads of a run share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    /// Marks the blocks of this run.
    run: u64,
    span_blocks: u64,
    pub(crate) volume_bytes: u64,
    oracle: Mutex<Oracle>,
    tally: Mutex<Tally>,
    is_stopping: AtomicBool,
    /// The server that the next session is to begin at; the present one ends for it.
    wanted: Mutex<Option<usize>>,
    writes: Mutex<Writes>,
    /// Ranges to read before anything else.
    again: Mutex<Vec<Range<u64>>>,
    second_looks: AtomicU64,
    next_read_back: AtomicU64,
}

/// What the client is there for at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The mix, until it is told to stop.
    Mix,
    /// Every block of the span once.
    ReadBack,
}

/// A request on its way.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) started: Time,
    note: Note,
}

#[derive(Debug)]
enum Note {
    Read(oracle::Read, Range<u64>),
    Write(oracle::Write),
    Flush,
}

impl Load {
    /// Connects, so that a wrong address fails here, and starts the mix.
    pub(crate) fn start(plan: Plan) -> Result<Self> {
        let export = session::probe(&plan)?;
        let span_blocks = plan.span_bytes.min(export.size_bytes) / BLOCK_BYTES as u64;
        if span_blocks == 0 {
            bail!("the export has {} bytes: it needs at least {BLOCK_BYTES}", export.size_bytes);
        }
        let blocks = usize::try_from(span_blocks).context("the span does not fit memory")?;
        let shared = Arc::new(Shared {
            run: Random::new(plan.seed ^ clock::random_u64()).next_u64(),
            span_blocks,
            volume_bytes: export.size_bytes,
            oracle: Mutex::new(Oracle::new(blocks)),
            tally: Mutex::new(Tally::new()),
            is_stopping: AtomicBool::new(false),
            wanted: Mutex::new(None),
            writes: Mutex::new(Writes::Mixed),
            again: Mutex::new(Vec::new()),
            second_looks: AtomicU64::new(0),
            next_read_back: AtomicU64::new(0),
            plan,
        });
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
        *lock(&self.shared.wanted) = Some(server);
    }

    /// What is sent from now on; what is on its way stays as it is.
    pub(crate) fn write(&self, writes: Writes) {
        *lock(&self.shared.writes) = writes;
    }

    /// True if it has ended by itself, which it only does when it failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.client.is_finished()
    }

    /// Takes the answers that are still out and ends the sessions.
    pub(crate) fn stop(self) -> Result<Arc<Shared>> {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        match self.client.join() {
            Ok(result) => result.map(|()| self.shared),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Reads every block of the span and compares; the load must have stopped.
pub(crate) fn read_back(shared: &Shared) -> Result<()> {
    lock(&shared.again).clear();
    shared.next_read_back.store(0, Ordering::SeqCst);
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
        lock(&shared.tally).on_session(server, clock::now());
        match session::run(shared, opened, work) {
            // Another one begins where the last answer of all asked for a second look.
            SessionEnd::Done => server = lock(&shared.wanted).take().unwrap_or(server),
            SessionEnd::Broken { why, answers } => {
                if answers > 0 {
                    deadline = clock::now() + shared.plan.reconnect_limit;
                } else if clock::now() > deadline {
                    bail!("servers let the checker in, but answer no request: {why}");
                } else {
                    waiting::rest();
                }
                lock(&shared.tally).on_session_end(why);
                server += 1;
            }
        }
    }
    Ok(())
}

impl Shared {
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }

    pub(crate) fn oracle(&self) -> MutexGuard<'_, Oracle> {
        lock(&self.oracle)
    }

    pub(crate) fn span_bytes(&self) -> u64 {
        self.span_blocks * BLOCK_BYTES as u64
    }

    /// The share of the span that was read back, from 0 to 1.
    pub(crate) fn read_back_share(&self) -> f64 {
        let next = self.next_read_back.load(Ordering::Relaxed).min(self.span_blocks);
        float(next) / float(self.span_blocks)
    }

    pub(crate) fn is_stopping(&self, work: Work) -> bool {
        match work {
            Work::Mix => self.is_stopping.load(Ordering::SeqCst),
            Work::ReadBack => false,
        }
    }

    fn is_done(&self, work: Work) -> bool {
        match work {
            Work::Mix => self.is_stopping(work),
            Work::ReadBack => {
                self.next_read_back.load(Ordering::SeqCst) >= self.span_blocks
                    && lock(&self.again).is_empty()
            }
        }
    }

    /// What to send next; nothing once the work is done or all of it is on its way.
    pub(crate) fn next_intent(&self, work: Work, random: &mut Random) -> Option<Intent> {
        if self.is_stopping(work) || lock(&self.wanted).is_some() {
            return None;
        }
        if let Some(blocks) = lock(&self.again).pop() {
            return Some(Intent::Read(blocks));
        }
        match work {
            Work::Mix => Some(mix::next_intent(random, self.span_blocks, *lock(&self.writes))),
            Work::ReadBack => {
                let start = self.next_read_back.fetch_add(READ_BACK_BLOCKS, Ordering::SeqCst);
                let end = (start + READ_BACK_BLOCKS).min(self.span_blocks);
                (start < end).then_some(Intent::Read(start..end))
            }
        }
    }

    /// Tells the oracle that the request starts, and makes its bytes.
    pub(crate) fn start(
        &self,
        intent: Intent,
        cookie: u64,
        payload: &mut Vec<u8>,
    ) -> (Request, InFlight) {
        payload.clear();
        let request = |command, flags, blocks: &Range<u64>| {
            let bytes = BLOCK_BYTES as u64;
            let (offset, length) = (blocks.start * bytes, (blocks.end - blocks.start) * bytes);
            Request { command, flags, cookie, offset, length }
        };
        let (request, note) = match intent {
            Intent::Read(blocks) => {
                let read = self.oracle().start_read(blocks.clone());
                (request(Command::Read, 0, &blocks), Note::Read(read, blocks))
            }
            Intent::Write { blocks, durability } => {
                let write = self.oracle().start_write(blocks.clone());
                self.fill(payload, &blocks, &write);
                let flags = if durability == Durability::Now { CMD_FLAG_FUA } else { 0 };
                (request(Command::Write, flags, &blocks), Note::Write(write))
            }
            Intent::Flush => (request(Command::Flush, 0, &(0..0)), Note::Flush),
        };
        (request, InFlight { started: clock::now(), note })
    }

    fn fill(&self, payload: &mut Vec<u8>, blocks: &Range<u64>, write: &oracle::Write) {
        let count = usize::try_from(blocks.end - blocks.start).expect("a request fits memory");
        payload.resize(count * BLOCK_BYTES, 0);
        for (number, bytes) in blocks.clone().zip(payload.chunks_exact_mut(BLOCK_BYTES)) {
            block::fill(bytes, Stamp { run: self.run, block: number, write: write.id });
        }
    }

    /// The request was answered with success.
    pub(crate) fn complete(&self, in_flight: InFlight, reply: &Reply) {
        let now = clock::now();
        let kind = match in_flight.note {
            Note::Flush => Kind::Flush,
            Note::Write(write) => {
                self.oracle().complete_write(write);
                Kind::Write
            }
            Note::Read(read, blocks) => {
                self.check(read, &blocks, &reply.data);
                Kind::Read
            }
        };
        lock(&self.tally).on_success(kind, reply.request.length, in_flight.started, now);
    }

    fn check(&self, read: oracle::Read, blocks: &Range<u64>, bytes: &[u8]) {
        let contents: Vec<block::Content> = blocks
            .clone()
            .zip(bytes.chunks_exact(BLOCK_BYTES))
            .map(|(number, bytes)| block::inspect(bytes, self.run, number))
            .collect();
        let new = self.oracle().complete_read(read, &contents);
        if new > 0 && self.second_looks.fetch_add(1, Ordering::SeqCst) < SECOND_LOOKS_MAX {
            lock(&self.again).push(blocks.clone());
        }
    }

    /// The request got an error, or no answer before its session ended.
    pub(crate) fn abandon(&self, in_flight: InFlight, work: Work) {
        match in_flight.note {
            Note::Flush => {}
            Note::Write(write) => self.oracle().abandon_write(write),
            Note::Read(read, blocks) => {
                self.oracle().abandon_read(read);
                if work == Work::ReadBack {
                    lock(&self.again).push(blocks);
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn float(number: u64) -> f64 {
    number as f64
}
