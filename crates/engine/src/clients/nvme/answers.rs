//! Requests in the core: their parts, and their answers into completions.
//!
//! A read's data leaves in order: initiators put what comes where the last piece ended.
//!
//! A request that fails is not answered at once. It may be the first thing that is heard of the
//! end of this node's reign, and then another node can carry it out: an error would reach the file
//! system.

use format::ids::BLOCK_BYTES;
use frontend::block::{Kind, Request as Wanted};
use frontend::nvme::command::range;
use frontend::nvme::send::{Completion, DataEnd, Stretch};
use frontend::nvme::status::Status;
use replication::contract::{PartId, Payload, Request, RequestError, RequestKind};

use crate::clients::fact::Fact;
use crate::clients::nvme::Nvme;
use crate::clients::nvme::requests::namespace_of;
use crate::clients::nvme::work::{IoRequest, Step, Work};
use crate::clients::outstanding::Orphanage;
use crate::clients::part_id::{self, FrontEnd};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{NVME_DOUBT, PARTS_PER_REQUEST_MAX};
use crate::slab::Key;

impl Nvme {
    /// Hands the core as many parts as may be under way.
    pub(super) fn issue(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let (hosted, base) = (request.hosted, request.place.first_byte());
        match &mut request.work {
            Work::Flush if request.in_flight == 0 && request.failed.is_none() => {
                request.in_flight = 1;
                let part = FrontEnd::Nvme.part(key, kit.me, 0);
                self.facts.push_back(Fact::Flush { hosted, part });
            }
            Work::Flush => {}
            Work::Read { request: wanted, next, .. } => {
                let end = wanted.offset + wanted.length;
                while *next < end {
                    let piece = wanted.piece(*next, end);
                    let part = FrontEnd::Nvme.part(key, kit.me, wanted.part_at(piece.start));
                    let (offset, length) = (base + piece.start, length_of(&piece));
                    *next = piece.end;
                    request.in_flight += 1;
                    let request = Request { part, kind: RequestKind::Read, offset, length };
                    self.facts.push_back(Fact::Request { hosted, request });
                }
            }
            Work::Write { request: wanted, fua, parts } => {
                let mut offset = base + wanted.offset;
                for slice in parts.drain() {
                    let part = FrontEnd::Nvme.part(key, kit.me, 0);
                    let length = slice.length;
                    let kind = RequestKind::Write { payload: kit.payloads.adopt(slice), fua: *fua };
                    request.in_flight += 1;
                    let request = Request { part, kind, offset, length };
                    self.facts.push_back(Fact::Request { hosted, request });
                    offset += u64::from(length);
                }
            }
            Work::Range { .. } | Work::Ranges { .. } => self.issue_ranges(key, kit),
        }
    }

    fn issue_ranges(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get(key) else { return };
        if request.is_orphan {
            return;
        }
        let (hosted, place) = (request.hosted, request.place);
        let size_bytes = self.size_of(hosted, namespace_of(place)).unwrap_or(0);
        while let Some(request) = self.requests.get_mut(key)
            && request.in_flight < PARTS_PER_REQUEST_MAX
            && request.failed.is_none()
        {
            let (wanted, fua, start) = match next_piece(request, size_bytes, kit) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(status) => {
                    request.failed = Some(status);
                    break;
                }
            };
            let end = wanted.covered().end;
            let piece = wanted.piece(start, end);
            let is_whole = (piece.start | piece.end).is_multiple_of(BLOCK_BYTES);
            let length = length_of(&piece);
            let kind = match wanted.kind {
                Kind::Discard => RequestKind::Discard { fua },
                Kind::Zeroes { deallocate: true } if is_whole => RequestKind::Discard { fua },
                Kind::Zeroes { .. } if is_whole => RequestKind::Zeroes { fua },
                Kind::Zeroes { .. } | Kind::Read | Kind::Write { .. } | Kind::Flush => {
                    // A block that is zeroed in part is written.
                    let Some(slice) = kit.reactor.pool().take_for_client(length) else {
                        self.waiting.stalled.push_back(key);
                        break;
                    };
                    kit.reactor.pool().bytes_mut(slice).fill(0);
                    RequestKind::Write { payload: kit.payloads.adopt(slice), fua }
                }
            };
            request.work.advance(piece.end);
            request.in_flight += 1;
            let part = FrontEnd::Nvme.part(key, kit.me, 0);
            let offset = place.first_byte() + piece.start;
            let request = Request { part, kind, offset, length };
            self.facts.push_back(Fact::Request { hosted, request });
        }
        self.finish_if_done(key, kit);
    }

    /// The core's answer to a part. The payload, if there is one, comes with a reference.
    pub(crate) fn complete(
        &mut self,
        part: PartId,
        result: Result<Option<Payload>, RequestError>,
        kit: &mut Kit,
    ) {
        let (key, number) = part_id::decode(part);
        let Some(request) = self.requests.get_mut(key) else {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return;
        };
        request.in_flight -= 1;
        if request.is_orphan {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return self.end_orphan(key, kit);
        }
        match (result, &mut request.work) {
            (Ok(Some(payload)), Work::Read { request: wanted, ready, .. }) => {
                // Whole blocks were read; the initiator may want less of the first and last.
                let piece = wanted.part(number);
                let skip = u32::try_from(piece.start % BLOCK_BYTES).expect("below a block");
                let slice = kit.payloads.slice(payload).part(skip, length_of(&piece));
                ready[usize::from(number)] = Some((payload, slice));
                self.send_ready(key, kit);
            }
            (Ok(payload), _) => {
                if let Some(payload) = payload {
                    kit.release(payload);
                }
            }
            (Err(error), work) => {
                let fault = work.fault();
                request.failed.get_or_insert(match error {
                    RequestError::Io => fault,
                    RequestError::NotPrimary => Status::PATH_INACCESSIBLE,
                });
            }
        }
        match self.requests.get(key).map(|request| &request.work) {
            Some(Work::Range { .. } | Work::Ranges { .. }) => self.issue_ranges(key, kit),
            Some(Work::Read { .. } | Work::Write { .. } | Work::Flush) => {
                self.finish_if_done(key, kit);
            }
            None => {}
        }
    }

    /// Sends what may be sent of a read.
    fn send_ready(&mut self, key: Key, kit: &mut Kit) {
        while let Some(request) = self.requests.get_mut(key) {
            let (queue, command) = (request.queue, request.command);
            let controller = request.controller;
            let Work::Read { request: wanted, to_send, ready, .. } = &mut request.work else {
                return;
            };
            let end = wanted.offset + wanted.length;
            if *to_send >= end || request.failed.is_some() {
                return;
            }
            let number = usize::from(wanted.part_at(*to_send));
            let Some((payload, slice)) = ready[number].take() else { return };
            let offset = u32::try_from(*to_send - wanted.offset).expect("bounded by MDTS");
            *to_send += u64::from(slice.length);
            // From here on its connection has it.
            let read = kit.held_by(payload).min(request.reply_bytes);
            request.reply_bytes -= read;
            kit.budget.give_up(read);
            let is_last = *to_send >= end;
            let stretch = Stretch { command, offset, length: slice.length };
            let last = self.io_queue(queue).map_or(DataEnd::Last, |it| it.last_data);
            let data_end = if is_last { last } else { DataEnd::More };
            let Some(it) = self.queues.get_mut(queue) else { return };
            let before = it.outbox.unsent().data;
            let is_given = it.give_part(stretch, data_end, (payload, slice), kit);
            if let Some(session) = self.controllers.get_mut(controller) {
                session.unsent += it.outbox.unsent().data - before;
                session.reading -= read;
            }
            if !is_given {
                return self.close(queue, "no buffer is free", kit);
            }
            self.mark(queue);
            if is_last && data_end == DataEnd::Success {
                self.forget(key, kit);
            }
        }
    }

    fn finish_if_done(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        if request.in_flight > 0 || request.step != Step::Working {
            return;
        }
        match request.failed {
            None if !request.work.is_done() => {}
            None => self.finish(key, Status::SUCCESS, kit),
            Some(status) if status == request.work.fault() => {
                request.step = Step::Doubtful;
                self.doubtful.push_back((kit.now + NVME_DOUBT, key));
            }
            Some(status) => self.finish(key, status, kit),
        }
    }

    pub(super) fn finish(&mut self, key: Key, status: Status, kit: &mut Kit) {
        let Some(IoRequest { queue, command, .. }) = self.forget(key, kit) else { return };
        self.answer(queue, &Completion::of(command, status), kit);
    }

    /// What failed a while ago, and has not turned out to be another node's by now, has failed.
    pub(super) fn judge_doubtful(&mut self, kit: &mut Kit) {
        while let Some((until, key)) = self.doubtful.front().copied()
            && until <= kit.now
        {
            self.doubtful.pop_front();
            let Some(request) = self.requests.get(key) else { continue };
            let status = request.failed.unwrap_or(Status::INTERNAL);
            self.finish(key, status, kit);
        }
    }

    /// Pieces that found no buffer are tried again.
    pub(super) fn retry_stalled(&mut self, kit: &mut Kit) {
        for _ in 0..self.waiting.stalled.len() {
            let Some(key) = self.waiting.stalled.pop_front() else { break };
            self.issue_ranges(key, kit);
        }
    }

    /// Everything that was asked of this resource is for another node now.
    pub(super) fn send_back(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get_mut(key) else { continue };
            if request.hosted != hosted || request.is_orphan {
                continue;
            }
            match request.step {
                // The initiator is sending: it gets its answer behind that.
                Step::Arriving => request.failed = Some(Status::PATH_INACCESSIBLE),
                Step::Waiting | Step::Working | Step::Doubtful => {
                    self.finish(key, Status::PATH_INACCESSIBLE, kit);
                }
            }
        }
    }
}

/// Which part of which range is next, and whether it is to be durable at once.
fn next_piece(
    request: &mut IoRequest,
    size_bytes: u64,
    kit: &Kit,
) -> Result<Option<(Wanted, bool, u64)>, Status> {
    match &mut request.work {
        Work::Range { request: wanted, fua, next, end } => {
            Ok((*next < *end).then_some((*wanted, *fua, *next)))
        }
        Work::Ranges { data, count, taken, range: current } => loop {
            if let Some((wanted, next)) = current
                && *next < wanted.covered().end
            {
                return Ok(Some((*wanted, false, *next)));
            }
            if *taken == *count {
                return Ok(None);
            }
            let Some(slice) = data.first() else { return Err(Status::INTERNAL) };
            let bytes = kit.reactor.pool_ref().bytes(slice);
            *current = range(bytes, *taken, size_bytes)?.map(|it| (it, it.covered().start));
            *taken += 1;
        },
        Work::Read { .. } | Work::Write { .. } | Work::Flush => Ok(None),
    }
}

fn length_of(piece: &std::ops::Range<u64>) -> u32 {
    u32::try_from(piece.end - piece.start).expect("at most an extent")
}
