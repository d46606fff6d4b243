//! What a read may return, exactly, for every block of a volume.
//!
//! Every write has its own id and the id is in the block, so a read says which write it saw. Then
//! linearizability needs no search (Gibbons and Korach): all requests that wrote or returned one id
//! form a cluster, and two times decide: `first_end`, when the first of them had ended (from
//! then on the write has surely taken effect), and `last_start`, when the last of them started
//! (until then it has surely not been overwritten). A history of a block has no order that explains
//! it if and only if two ids each had taken effect before the other was last current:
//!
//! ```text
//! overlapping reigns     id a     first_end |-----------| last_start
//!                        id b               first_end |-----------| last_start
//! or one in the other    id a     first_end |-----------------| last_start
//!                        id b            last_start |----| first_end
//! ```
//!
//! A write without an answer (dead session, error) may or may not have taken effect: it counts
//! only from the moment that a read returned it. Its session is over before the next one begins, so
//! its end is the end of the session.
//!
//! Invariants: a candidate is dropped only if no outstanding or later read may return it; an id
//! that is no candidate is a violation. Pure: the order of the calls is the only clock. The caller
//! calls `start_` before it sends a request and `complete_` after it has the answer.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::{Content, WriteId};

/// The history of one volume, as far as it still decides what reads may return.
#[derive(Debug)]
pub(crate) struct Oracle {
    now: Tick,
    writes_started: u64,
    blocks: Vec<Block>,
    violations: Vec<Violation>,
    /// Violations of a block that a later read may still turn from lost to stale.
    open: BTreeMap<u64, Vec<usize>>,
}

/// A read that has started; without an answer it is handed to [`Oracle::abandon_read`].
#[derive(Debug)]
#[must_use = "a read that ends nowhere keeps old candidates for ever"]
pub(crate) struct Read {
    started: Tick,
    blocks: Range<u64>,
}

/// A write that has started.
#[derive(Debug)]
#[must_use = "a write without an end stays in flight for ever"]
pub(crate) struct Write {
    pub(crate) id: WriteId,
    blocks: Range<u64>,
}

/// One read of one block that no order of the requests explains.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) kind: ViolationKind,
    pub(crate) block: u64,
    pub(crate) got: Content,
    /// The ids that the read could have returned.
    pub(crate) allowed: Vec<WriteId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ViolationKind {
    /// An overwritten value, and no later read returned the right one.
    Lost,
    /// An overwritten value, but a later read returned the right one.
    Stale,
    Torn,
    Misdirected,
}

/// Position in the order of all calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tick(u64);

impl Tick {
    const NEVER: Self = Self(u64::MAX);
}

#[derive(Clone, Debug)]
struct Block {
    candidates: Vec<Candidate>,
    /// When each outstanding read of this block started.
    reads: Vec<Tick>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    write: WriteId,
    first_end: Tick,
    last_start: Tick,
    /// Whether it took effect for sure: it was acknowledged, or a read returned it.
    is_certain: bool,
}

impl Oracle {
    pub(crate) fn new(blocks: usize) -> Self {
        let initial = Candidate {
            write: WriteId::INITIAL,
            first_end: Tick(0),
            last_start: Tick(0),
            is_certain: true,
        };
        let block = Block { candidates: vec![initial], reads: Vec::new() };
        Self {
            now: Tick(0),
            writes_started: 0,
            blocks: vec![block; blocks],
            violations: Vec::new(),
            open: BTreeMap::new(),
        }
    }

    pub(crate) fn violations(&self) -> &[Violation] {
        &self.violations
    }

    pub(crate) fn count(&self, kind: ViolationKind) -> usize {
        self.violations.iter().filter(|violation| violation.kind == kind).count()
    }

    pub(crate) fn start_write(&mut self, blocks: Range<u64>) -> Write {
        let now = self.tick();
        self.writes_started += 1;
        let id = WriteId(self.writes_started);
        for block in &mut self.blocks[span(&blocks)] {
            block.candidates.push(Candidate {
                write: id,
                first_end: Tick::NEVER,
                last_start: now,
                is_certain: false,
            });
        }
        Write { id, blocks }
    }

    /// The write was acknowledged.
    pub(crate) fn complete_write(&mut self, write: Write) {
        let Write { id, blocks } = write;
        let now = self.tick();
        for number in blocks {
            let block = &mut self.blocks[index(number)];
            if let Some(candidate) = block.find(id) {
                candidate.first_end = candidate.first_end.min(now);
                candidate.is_certain = true;
            }
            block.drop_overwritten();
            // The place has a new content: what was missing before it stays lost.
            self.open.remove(&number);
        }
    }

    /// The write got an error, or its session died: it took effect by now, or never will.
    pub(crate) fn abandon_write(&mut self, write: Write) {
        let Write { id, blocks } = write;
        let now = self.tick();
        for block in &mut self.blocks[span(&blocks)] {
            if let Some(candidate) = block.find(id) {
                candidate.first_end = candidate.first_end.min(now);
            }
            block.drop_overwritten();
        }
    }

    pub(crate) fn start_read(&mut self, blocks: Range<u64>) -> Read {
        let started = self.tick();
        for block in &mut self.blocks[span(&blocks)] {
            block.reads.push(started);
        }
        Read { started, blocks }
    }

    /// The read returned `contents`, one per block. Returns how many violations are new.
    pub(crate) fn complete_read(&mut self, read: Read, contents: &[Content]) -> usize {
        let Read { started, blocks } = read;
        assert_eq!(contents.len(), span(&blocks).len());
        let now = self.tick();
        let before = self.violations.len();
        for (number, content) in blocks.zip(contents) {
            self.check(number, *content, started, now);
            self.blocks[index(number)].end_read(started);
        }
        self.violations.len() - before
    }

    /// The read got no answer and taught nothing.
    pub(crate) fn abandon_read(&mut self, read: Read) {
        let Read { started, blocks } = read;
        for block in &mut self.blocks[span(&blocks)] {
            block.end_read(started);
        }
    }

    fn check(&mut self, number: u64, got: Content, started: Tick, now: Tick) {
        let block = &mut self.blocks[index(number)];
        let kind = match got {
            Content::Written(write) if block.observe(write, started, now) => None,
            Content::Foreign if block.observe(WriteId::INITIAL, started, now) => None,
            Content::Written(_) | Content::Foreign => Some(ViolationKind::Lost),
            Content::Torn => Some(ViolationKind::Torn),
            Content::Misdirected { .. } => Some(ViolationKind::Misdirected),
        };
        let Some(kind) = kind else {
            for index in self.open.remove(&number).unwrap_or_default() {
                if self.violations[index].kind == ViolationKind::Lost {
                    self.violations[index].kind = ViolationKind::Stale;
                }
            }
            return;
        };
        let open = self.open.entry(number).or_default();
        if open.iter().any(|index| self.violations[*index].got == got) {
            return; // The same wrong content again is the same damage.
        }
        open.push(self.violations.len());
        let allowed = block.candidates.iter().map(|candidate| candidate.write).collect();
        self.violations.push(Violation { kind, block: number, got, allowed });
    }

    fn tick(&mut self) -> Tick {
        self.now.0 += 1;
        self.now
    }
}

impl Block {
    fn find(&mut self, write: WriteId) -> Option<&mut Candidate> {
        self.candidates.iter_mut().find(|candidate| candidate.write == write)
    }

    /// Takes note that a read from `started` to `now` returned `write`; false if that cannot be.
    fn observe(&mut self, write: WriteId, started: Tick, now: Tick) -> bool {
        let Some(position) = self.candidates.iter().position(|one| one.write == write) else {
            return false;
        };
        let mut seen = self.candidates[position];
        seen.first_end = seen.first_end.min(now);
        seen.last_start = seen.last_start.max(started);
        seen.is_certain = true;
        let contradicts = |other: &Candidate| other.is_certain && seen.contradicts(*other);
        if self.candidates.iter().any(|other| other.write != write && contradicts(other)) {
            return false;
        }
        self.candidates[position] = seen;
        true
    }

    fn end_read(&mut self, started: Tick) {
        let position = self.reads.iter().position(|read| *read == started);
        self.reads.swap_remove(position.expect("a read ends once, and was noted when it started"));
        self.drop_overwritten();
    }

    /// Drops every candidate that was overwritten before the oldest outstanding read started.
    fn drop_overwritten(&mut self) {
        let horizon = self.reads.iter().copied().min().unwrap_or(Tick::NEVER);
        let mut kept = 0;
        for position in 0..self.candidates.len() {
            let old = self.candidates[position];
            let overwrites = |new: &Candidate| {
                new.is_certain && old.first_end < new.last_start && new.first_end < horizon
            };
            if !self.candidates.iter().any(|new| new.write != old.write && overwrites(new)) {
                self.candidates.swap(kept, position);
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
        assert!(kept > 0, "a block always has a content");
    }
}

impl Candidate {
    /// Each surely took effect while the other was still to be read: there is no order of the two.
    fn contradicts(self, other: Self) -> bool {
        self.first_end < other.last_start && other.first_end < self.last_start
    }
}

fn index(block: u64) -> usize {
    usize::try_from(block).expect("a block number below the length of a vector")
}

fn span(blocks: &Range<u64>) -> Range<usize> {
    index(blocks.start)..index(blocks.end)
}

#[cfg(test)]
mod tests;
