//! What the threads of a run share: the oracle, the tally, and which request is to come next.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, Result, bail};
use frontend::nbd::client::{Reply, Request};
use frontend::nbd::wire::{CMD_FLAG_FUA, Command};
use io::clock;
use stdx::mutex::lock;
use stdx::random::Random;
use stdx::time::Time;

use super::block::{self, BLOCK_BYTES, Stamp};
use super::mix::{self, Durability, Intent, Writes};
use super::oracle::{self, Oracle};
use super::plan::Plan;
use super::tally::{Kind, Tally};

/// Blocks of one read when everything is read back.
const READ_BACK_BLOCKS: u64 = 64;
/// How often a wrong block is read once more, to tell a stale one from a lost one.
const SECOND_LOOKS_MAX: u64 = 1000;

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

impl Shared {
    /// For a load of an export of `volume_bytes`.
    pub(crate) fn new(plan: Plan, volume_bytes: u64) -> Result<Self> {
        let span_blocks = plan.span_bytes.min(volume_bytes) / BLOCK_BYTES as u64;
        if span_blocks == 0 {
            bail!("the export has {volume_bytes} bytes: it needs at least {BLOCK_BYTES}");
        }
        let blocks = usize::try_from(span_blocks).context("the span does not fit memory")?;
        Ok(Self {
            run: Random::new(plan.seed ^ clock::random_u64()).next_u64(),
            span_blocks,
            volume_bytes,
            oracle: Mutex::new(Oracle::new(blocks)),
            tally: Mutex::new(Tally::new()),
            is_stopping: AtomicBool::new(false),
            wanted: Mutex::new(None),
            writes: Mutex::new(Writes::Mixed),
            again: Mutex::new(Vec::new()),
            second_looks: AtomicU64::new(0),
            next_read_back: AtomicU64::new(0),
            plan,
        })
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }

    pub(crate) fn oracle(&self) -> MutexGuard<'_, Oracle> {
        lock(&self.oracle)
    }

    pub(crate) fn span_bytes(&self) -> u64 {
        self.span_blocks * BLOCK_BYTES as u64
    }

    /// Ends the session once all is answered, and begins the next one at `server`.
    pub(super) fn move_to(&self, server: usize) {
        *lock(&self.wanted) = Some(server);
    }

    /// Where the next session is to begin, if a server is wanted; nobody hears of it twice.
    pub(super) fn take_wanted(&self) -> Option<usize> {
        lock(&self.wanted).take()
    }

    /// What is sent from now on; what is on its way stays as it is.
    pub(super) fn write(&self, writes: Writes) {
        *lock(&self.writes) = writes;
    }

    /// The mix ends when what is on its way is answered.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    /// From now on [`Work::ReadBack`] begins with the first block.
    pub(super) fn begin_read_back(&self) {
        lock(&self.again).clear();
        self.next_read_back.store(0, Ordering::SeqCst);
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

    pub(super) fn is_done(&self, work: Work) -> bool {
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
