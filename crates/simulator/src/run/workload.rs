//! What a client does: reads, whole and partial writes, discards, zeroes, flushes.
//!
//! Every write has an id of its own. The oracle keeps a register per quarter of a block, so that a
//! write of a part, or one that a crash tore, is judged exactly.

use std::collections::BTreeMap;

use format::ids::{EXTENT_BLOCKS, MemberSet};
use replication::contract::{GroupInput, PartId, Request, RequestKind};

use crate::contents::{SECTOR_BYTES, SECTORS};
use crate::oracle::{FlushStart, ReadStart};
use crate::run::Run;
use crate::run::protocols::Protocols;

const IN_FLIGHT_MAX: usize = 24;
/// The longest request, in blocks.
const BLOCKS_MAX: u64 = 5;
/// A sequential writer now and then: so many requests of so many blocks, one behind the other.
const STREAM_WRITES: u64 = 11;
const STREAM_BLOCKS: u64 = 32;

pub(super) enum Pending {
    /// Sectors, and the id that each is to hold.
    Write {
        node: usize,
        sectors: Vec<(u64, u64)>,
        fua: bool,
    },
    Read {
        node: usize,
        sectors: Vec<(u64, ReadStart)>,
    },
    Flush {
        node: usize,
        began: BTreeMap<u64, FlushStart>,
    },
}

impl Pending {
    pub(super) fn node(&self) -> usize {
        match self {
            Self::Write { node, .. } | Self::Read { node, .. } | Self::Flush { node, .. } => *node,
        }
    }
}

impl Run {
    fn part(&mut self) -> PartId {
        self.next_part += 1;
        PartId(self.next_part)
    }

    fn some_range(&mut self) -> (u64, u64) {
        let start = *self.random.pick(&self.blocks).expect("there are blocks");
        (start, 1 + self.random.below(BLOCKS_MAX))
    }

    /// The node to ask, if it takes one more request.
    fn ready_node(&mut self) -> Option<usize> {
        let node = *self.random.pick(&self.clients)?;
        let in_flight = self.pending.values().filter(|it| it.node() == node).count();
        (in_flight < IN_FLIGHT_MAX && !self.cluster.is_stopped(node)).then_some(node)
    }

    pub(super) fn write(&mut self) {
        let Some(node) = self.ready_node() else { return };
        let (start, count) = self.some_range();
        if !self.is_offered(node, (start, count)) {
            return;
        }
        let (first, end) = (start * SECTORS as u64, (start + count) * SECTORS as u64);
        if self.random.chance(1, 250) {
            return self.stream(node, start - start % EXTENT_BLOCKS);
        }
        match self.random.below(20) {
            0 => self.erase(node, (first, end), |fua| RequestKind::Discard { fua }),
            1 => self.erase(node, (first, end), |fua| RequestKind::Zeroes { fua }),
            2..10 => {
                // From any sector to any later one.
                let from = first + self.random.below(end - first);
                let to = from + 1 + self.random.below(end - from);
                self.write_sectors(node, from, to);
            }
            _ => self.write_sectors(node, first, end),
        }
    }

    fn stream(&mut self, node: usize, start: u64) {
        if !self.is_offered(node, (start, STREAM_WRITES * STREAM_BLOCKS)) {
            return;
        }
        for number in 0..STREAM_WRITES {
            let from = (start + number * STREAM_BLOCKS) * SECTORS as u64;
            self.write_sectors(node, from, from + STREAM_BLOCKS * SECTORS as u64);
        }
    }

    fn write_sectors(&mut self, node: usize, from: u64, to: u64) {
        let id = self.next_value;
        self.next_value += 1;
        let sectors: Vec<(u64, u64)> = (from..to).map(|sector| (sector, id)).collect();
        let per_block = SECTORS as u64;
        let whole = from.is_multiple_of(per_block) && to.is_multiple_of(per_block);
        // A payload of whole blocks has one number per block, any other one per sector.
        let count = if whole { (to - from) / SECTORS as u64 } else { to - from };
        self.report.partial_writes += u64::from(!whole);
        let values = vec![id; usize::try_from(count).expect("few")];
        let Some(payload) = self.cluster.payload(node, values) else { return };
        let fua = self.random.chance(1, 10);
        self.invoke(node, sectors, (from, to), RequestKind::Write { payload, fua });
    }

    /// Zeroes are told apart by nobody: they are written only where none may be read.
    fn erase(&mut self, node: usize, (from, to): (u64, u64), kind: impl Fn(bool) -> RequestKind) {
        if (from..to).any(|sector| self.oracle.may_hold(sector, 0)) {
            return;
        }
        let sectors = (from..to).map(|sector| (sector, 0)).collect();
        let fua = self.random.chance(1, 10);
        self.invoke(node, sectors, (from, to), kind(fua));
    }

    fn invoke(
        &mut self,
        node: usize,
        sectors: Vec<(u64, u64)>,
        bounds: (u64, u64),
        kind: RequestKind,
    ) {
        self.cluster.trace(|| format!("invoke {bounds:?} {kind:?} {:?}", sectors[0].1));
        for &(sector, id) in &sectors {
            self.oracle.invoke(sector, id);
        }
        self.answers.invoke(&sectors);
        let part = self.part();
        let fua = match kind {
            RequestKind::Read => false,
            RequestKind::Write { fua, .. }
            | RequestKind::Discard { fua }
            | RequestKind::Zeroes { fua } => fua,
        };
        self.pending.insert(part, Pending::Write { node, sectors, fua });
        self.report.writes += 1;
        self.submit(node, part, kind, bounds);
    }

    pub(super) fn read(&mut self) {
        if let Some(node) = self.ready_node() {
            self.read_at(node);
        }
    }

    pub(super) fn read_at(&mut self, node: usize) {
        let (start, count) = self.some_range();
        if !self.is_offered(node, (start, count)) {
            return;
        }
        self.report.reads += 1;
        self.start_read(node, start, count);
    }

    pub(super) fn start_read(&mut self, node: usize, start: u64, count: u64) -> PartId {
        let bounds = (start * SECTORS as u64, (start + count) * SECTORS as u64);
        let begin = |sector| (sector, self.oracle.begin_read(sector));
        let sectors = (bounds.0..bounds.1).map(begin).collect();
        let part = self.part();
        self.pending.insert(part, Pending::Read { node, sectors });
        self.submit(node, part, RequestKind::Read, bounds);
        part
    }

    pub(super) fn flush(&mut self) {
        let Some(node) = self.ready_node() else { return };
        let part = self.part();
        let began = self.oracle.flushable();
        self.pending.insert(part, Pending::Flush { node, began });
        self.report.flushes += 1;
        // Any shard may get it.
        let block = *self.random.pick(&self.blocks).expect("there are blocks");
        self.cluster.request(node, block, GroupInput::Flush(part));
    }

    fn submit(&mut self, node: usize, part: PartId, kind: RequestKind, (from, to): (u64, u64)) {
        let offset = from * u64::from(SECTOR_BYTES);
        let length = u32::try_from(to - from).expect("few") * SECTOR_BYTES;
        let request = Request { part, kind, offset, length };
        self.cluster.request(node, from / SECTORS as u64, GroupInput::Request(request));
    }

    /// Nobody waits for its answer any more.
    pub(super) fn give_up(&mut self, pending: &Pending) {
        if let Pending::Write { sectors, .. } = pending {
            for &(sector, id) in sectors {
                self.oracle.give_up(sector, id);
            }
        }
    }

    /// A write of a session that is over may have been in a cache that is gone. All members had it:
    /// its node may still say so, when it goes on after a stop.
    pub(super) fn give_up_what_was_before_losses(&mut self) {
        let leader = self.checker.newest().and_then(|newest| newest.primary);
        let is_former = |it: &Pending| {
            let is_led = leader.is_some_and(|leader| leader.node.index() == it.node());
            matches!(it, Pending::Write { .. }) && !is_led
        };
        let former = self.pending.extract_if(.., |_, it| is_former(it)).map(|it| it.1);
        for pending in former.collect::<Vec<_>>() {
            self.give_up(&pending);
        }
    }

    /// A follower may have what is older: `check_followers` looks at it.
    fn complete_sources(&self) -> MemberSet {
        let followers = self.checker.newest().map_or(MemberSet::EMPTY, |newest| newest.followers);
        self.checker.sources(&self.cluster).minus(followers)
    }

    /// C2: what in-sync members would hold after a loss of power is not older than the flush.
    fn check_durable(&self) -> Result<(), String> {
        for member in self.complete_sources().iter() {
            let volumes = self.checker.volumes();
            let unflushed = self.cluster.disks[member.index()].unflushed();
            for (block, durable) in unflushed.filter(|&(block, _)| volumes.has(block)) {
                let sectors = self.cluster.contents.sectors(durable);
                for (sector, id) in (block * SECTORS as u64..).zip(sectors) {
                    if !self.oracle.may_be_durable(sector, id) {
                        return Err(format!(
                            "C2: after a flush {id} is durable at n{member} in block {block}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// C3: where in-sync members differ, each holds what a read may return.
    pub(super) fn check_candidates(&self) -> Result<(), String> {
        let sources = self.complete_sources();
        for block in self.checker.differing() {
            for member in sources.iter() {
                // What it received is on its way to its disk, and read from nobody before.
                if self.protocols == Protocols::Mixed && self.cluster.is_writing(member, block) {
                    continue;
                }
                let held = self.cluster.disks[member.index()].read(block);
                let sectors = self.cluster.contents.sectors(held);
                for (sector, id) in (block * SECTORS as u64..).zip(sectors) {
                    if !self.oracle.may_hold(sector, id) {
                        return Err(format!(
                            "C3: n{member} is in sync and holds {id} in block {block}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn completed(
        &mut self,
        pending: Pending,
        values: Option<Vec<u64>>,
    ) -> Result<(), String> {
        match pending {
            Pending::Write { sectors, fua, .. } => {
                self.report.written += 1;
                self.cluster.trace(|| format!("complete {:?} {:?}", sectors[0], sectors.len()));
                self.answers.answer(&sectors);
                for (sector, id) in sectors {
                    self.oracle.complete(sector, id);
                    if fua {
                        self.oracle.made_durable(sector);
                    }
                }
                if fua {
                    self.check_durable()?;
                }
            }
            Pending::Read { sectors, node } => {
                let values = values.ok_or("a read was answered without bytes")?;
                let contents = &self.cluster.contents;
                let ids = values.iter().flat_map(|&value| contents.sectors(value));
                for ((sector, start), id) in sectors.iter().zip(ids) {
                    self.oracle
                        .end_read(*sector, start, id)
                        .map_err(|text| format!("{text} (node {node}, {:?})", self.cluster.now))?;
                }
            }
            Pending::Flush { began, .. } => {
                self.oracle.flushed(&began);
                self.check_durable()?;
            }
        }
        Ok(())
    }
}
