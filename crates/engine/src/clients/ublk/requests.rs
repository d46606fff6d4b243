//! Requests of the kernel: into parts for the core, and their answers back.
//!
//! Data is copied between the kernel's pages and buffers of the pool, part by part: into one when a
//! part of a write starts, out of one when a part of a read ends.

use frontend::block::{BLOCK_BYTES, Kind, Request as Wanted};
use frontend::ublk::request::{Errno, decode, success};
use io::Descriptor;
use replication::contract::{GroupInput, PartId, Payload, Request, RequestError, RequestKind};

use crate::clients::budget::{Wish, part_bytes};
use crate::clients::outstanding::{Orphanage, Outstanding};
use crate::clients::part_id::{self, FrontEnd};
use crate::clients::ublk::{Stage, Ublk};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::PARTS_PER_REQUEST_MAX;
use crate::slab::{Key, Slab};

#[derive(Debug)]
pub(crate) struct BlockRequest {
    hosted: HostedId,
    device: Key,
    tag: u16,
    wanted: Wanted,
    /// Where the next piece starts, and where the last one ends.
    next: u64,
    end: u64,
    in_flight: usize,
    /// Bytes of those parts that are read or written.
    bytes: u64,
    /// What each part under way holds of the buffers.
    part_bytes: usize,
    failed: Option<Errno>,
    is_starved: bool,
    /// The kernel has its answer, and the core goes on.
    is_orphan: bool,
}

/// Whether all of a request that may be under way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Issued {
    All,
    /// It waits for memory.
    Starved,
}

impl Ublk {
    pub(super) fn start(&mut self, device: Key, tag: u16, descriptor: Descriptor, kit: &mut Kit) {
        let Some(known) = self.devices.get(device) else { return };
        let Descriptor { operation_and_flags, sectors, start_sector } = descriptor;
        let wanted = decode(operation_and_flags, start_sector, sectors, known.size_bytes);
        let queue = known.queue.expect("a device that fetches has its queue");
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(errno) => return kit.reactor.commit_request(queue, tag, errno.result()),
        };
        let covered = wanted.covered();
        if covered.is_empty() && wanted.kind != Kind::Flush {
            return kit.reactor.commit_request(queue, tag, success(&wanted));
        }
        let request = BlockRequest {
            hosted: known.hosted,
            device,
            tag,
            wanted,
            next: covered.start,
            end: covered.end,
            in_flight: 0,
            bytes: 0,
            part_bytes: part_bytes(&wanted),
            failed: None,
            is_starved: false,
            is_orphan: false,
        };
        let key = self.requests.insert(request);
        if wanted.kind == Kind::Flush {
            let (part, hosted) = (FrontEnd::Ublk.part(key, kit.me, 0), known.hosted);
            self.requests.get_mut(key).expect("just put in").in_flight = 1;
            self.facts.push_back((hosted, GroupInput::Flush(part)));
        } else if holds_data(wanted.kind) && !known.starved.is_empty() {
            self.wait(key);
        } else {
            self.go_on(key, kit);
        }
    }

    fn go_on(&mut self, key: Key, kit: &mut Kit) {
        if self.issue(key, kit) == Issued::Starved {
            self.wait(key);
        }
    }

    /// The request is tried again after those that wait already.
    fn wait(&mut self, key: Key) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let Some(device) = self.devices.get_mut(request.device) else { return };
        if !std::mem::replace(&mut request.is_starved, true) {
            device.starved.push_back(key);
            self.starved_count += 1;
        }
    }

    /// Hands the core as many parts as may be under way.
    fn issue(&mut self, key: Key, kit: &mut Kit) -> Issued {
        let Some(request) = self.requests.get_mut(key) else { return Issued::All };
        let Some(device) = self.devices.get_mut(request.device) else { return Issued::All };
        if request.is_orphan {
            return Issued::All;
        }
        let queue = device.queue.expect("a device that fetches has its queue");
        while request.next < request.end && request.in_flight < PARTS_PER_REQUEST_MAX {
            let piece = request.wanted.piece(request.next, request.end);
            let length = u32::try_from(piece.end - piece.start).expect("at most an extent");
            let bytes = if holds_data(request.wanted.kind) { u64::from(length) } else { 0 };
            if bytes > 0 && device.bytes > 0 && device.bytes + bytes > self.bytes_max {
                return Issued::Starved;
            }
            let own = usize::try_from(device.bytes).unwrap_or(usize::MAX);
            if request.part_bytes > 0
                && !self.crowd.has_room(&kit.budget, request.hosted, own, Wish::Work)
            {
                return Issued::Starved;
            }
            let is_whole = (piece.start | piece.end).is_multiple_of(BLOCK_BYTES);
            let kind = match request.wanted.kind {
                Kind::Read | Kind::Flush => RequestKind::Read,
                Kind::Discard => RequestKind::Discard { fua: false },
                Kind::Zeroes { deallocate: true } if is_whole => {
                    RequestKind::Discard { fua: false }
                }
                Kind::Zeroes { .. } if is_whole => RequestKind::Zeroes { fua: false },
                // A block that is zeroed in part is written.
                Kind::Write { .. } | Kind::Zeroes { .. } => {
                    let Some(slice) = kit.reactor.pool().take_for_client(length) else {
                        return Issued::Starved;
                    };
                    let fua = request.wanted.kind == Kind::Write { fua: true };
                    if matches!(request.wanted.kind, Kind::Zeroes { .. }) {
                        kit.reactor.pool().bytes_mut(slice).fill(0);
                    } else {
                        let at = within(piece.start, &request.wanted);
                        let tag = request.tag;
                        let copied = kit.reactor.copy_from_request(queue, tag, at, slice);
                        if copied.is_err() {
                            kit.reactor.pool().release(slice.buffer);
                            request.failed = Some(Errno::Io);
                            request.next = request.end;
                            break;
                        }
                    }
                    RequestKind::Write { payload: kit.payloads.adopt(slice), fua }
                }
            };
            let has_data = holds_data(request.wanted.kind);
            let part = if has_data { request.wanted.part_at(piece.start) } else { 0 };
            let part = FrontEnd::Ublk.part(key, kit.me, part);
            request.next = piece.end;
            request.in_flight += 1;
            request.bytes += bytes;
            device.bytes += bytes;
            kit.budget.take(request.hosted, request.part_bytes);
            let offset = device.place.first_byte() + piece.start;
            let part = Request { part, kind, offset, length };
            self.facts.push_back((device.hosted, GroupInput::Request(part)));
        }
        self.finish_if_done(key, kit);
        Issued::All
    }

    /// The core's answer to a part. The payload, if there is one, comes with a reference.
    pub(crate) fn complete(
        &mut self,
        part: PartId,
        result: Result<Option<Payload>, RequestError>,
        kit: &mut Kit,
    ) {
        let (key, part) = part_id::decode(part);
        let payload = result.as_ref().ok().copied().flatten();
        if let Some(request) = self.requests.get_mut(key) {
            request.in_flight -= 1;
            kit.budget.give_back(request.hosted, request.part_bytes);
            if request.is_orphan {
                self.end_orphan(key, kit);
                return drop_payload(payload, kit);
            }
            if holds_data(request.wanted.kind) {
                let bytes = request.bytes_of(part);
                request.bytes -= bytes;
                if let Some(device) = self.devices.get_mut(request.device) {
                    device.bytes -= bytes;
                }
            }
            if result.is_err() {
                request.failed = Some(Errno::Io);
                request.next = request.end;
            }
            if let Some(payload) = payload {
                self.put(key, part, payload, kit);
            }
            self.go_on(key, kit);
        }
        drop_payload(payload, kit);
    }

    /// Copies what was read to its place. Whole blocks were read; the kernel may want less of the
    /// first and of the last.
    fn put(&mut self, key: Key, part: u16, payload: Payload, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let Some(queue) = self.devices.get(request.device).and_then(|device| device.queue) else {
            return;
        };
        let wanted = request.wanted;
        let piece = wanted.part(part);
        let skip = u32::try_from(piece.start % BLOCK_BYTES).expect("below a block");
        let length = u32::try_from(piece.end - piece.start).expect("at most a part");
        let slice = kit.payloads.slice(payload).part(skip, length);
        let at = within(piece.start, &wanted);
        if kit.reactor.copy_to_request(queue, request.tag, at, slice).is_err() {
            request.failed = Some(Errno::Io);
        }
    }

    fn finish_if_done(&mut self, key: Key, kit: &mut Kit) {
        let is_done = |request: &BlockRequest| {
            request.in_flight == 0 && (request.next >= request.end || request.failed.is_some())
        };
        if !self.requests.get(key).is_some_and(is_done) {
            return;
        }
        let Some(request) = self.requests.remove(key) else { return };
        let result = request.failed.map_or_else(|| success(&request.wanted), Errno::result);
        self.commit(&request, result, kit);
    }

    fn commit(&self, request: &BlockRequest, result: i32, kit: &mut Kit) {
        let Some(device) = self.devices.get(request.device) else { return };
        if let Some(queue) = device.queue
            && device.stage != Stage::Left
        {
            kit.reactor.commit_request(queue, request.tag, result);
        }
    }

    /// Requests that wait for memory are tried again, in order.
    pub(crate) fn retry_starved(&mut self, kit: &mut Kit) {
        if !self.is_starved() {
            return;
        }
        self.crowd.disperse();
        for index in self.rotation.next_round(self.devices.end()) {
            let Some(device) = self.devices.key_at(index) else { continue };
            while let Some(&key) = self.devices.get(device).and_then(|it| it.starved.front()) {
                if self.issue(key, kit) == Issued::Starved {
                    break;
                }
                if let Some(device) = self.devices.get_mut(device) {
                    device.starved.pop_front();
                    self.starved_count -= 1;
                }
                if let Some(request) = self.requests.get_mut(key) {
                    request.is_starved = false;
                }
            }
        }
    }

    /// Answers everything that the kernel still waits for with an error. What the core has goes on;
    /// its answers find nobody. Says how many were answered.
    pub(super) fn fail_requests(&mut self, device: Key, kit: &mut Kit) -> usize {
        if let Some(device) = self.devices.get_mut(device) {
            self.starved_count -= device.starved.len();
            device.starved.clear();
            device.bytes = 0;
        }
        let mut count = 0;
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get(key) else { continue };
            if request.device != device || request.is_orphan {
                continue;
            }
            self.commit(request, Errno::Io.result(), kit);
            self.orphan(key, kit);
            count += 1;
        }
        count
    }
}

impl Orphanage for Ublk {
    type Request = BlockRequest;

    fn requests(&mut self) -> &mut Slab<BlockRequest> {
        &mut self.requests
    }

    fn outstanding(request: &mut BlockRequest) -> Outstanding<'_> {
        Outstanding {
            hosted: request.hosted,
            is_orphan: &mut request.is_orphan,
            in_flight: &mut request.in_flight,
            part_bytes: request.part_bytes,
            is_counted: request.part_bytes > 0,
        }
    }

    fn orphans(&mut self) -> &mut usize {
        &mut self.orphans
    }
}

impl BlockRequest {
    fn bytes_of(&self, part: u16) -> u64 {
        let piece = self.wanted.part(part);
        piece.end - piece.start
    }
}

fn drop_payload(payload: Option<Payload>, kit: &mut Kit) {
    if let Some(payload) = payload {
        kit.release(payload);
    }
}

/// Whether the parts of such a request hold memory as long as they are under way, and are known
/// again by their place.
fn holds_data(kind: Kind) -> bool {
    match kind {
        Kind::Read | Kind::Write { .. } => true,
        Kind::Flush | Kind::Discard | Kind::Zeroes { .. } => false,
    }
}

/// Where in the request's data a place of the volume lies.
fn within(place: u64, wanted: &Wanted) -> u32 {
    u32::try_from(place - wanted.offset).expect("a request with data is short")
}
