//! Requests of guests: into parts for the core, and their answers back.

use frontend::block::{BLOCK_BYTES, Kind, Request as Block};
use frontend::vhost::Broken;
use frontend::vhost::request::{HEADER_BYTES, NAME_BYTES, Status, Wanted};
use frontend::vhost::ring::Chain;
use replication::contract::{PartId, Payload, Request, RequestError, RequestKind};

use crate::clients::budget::part_bytes;
use crate::clients::fact::Fact;
use crate::clients::outstanding::{Orphanage, Outstanding};
use crate::clients::part_id::{self, FrontEnd};
use crate::clients::vhost::{Queue, Vhost};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::PARTS_PER_REQUEST_MAX;
use crate::slab::{Key, Slab};

#[derive(Debug)]
pub(crate) struct GuestRequest {
    hosted: HostedId,
    queue: Key,
    account: Key,
    head: u16,
    chain: Chain,
    wanted: Block,
    /// Where the next piece starts, and where the last one ends.
    next: u64,
    end: u64,
    in_flight: usize,
    /// What each part under way holds of the buffers.
    part_bytes: usize,
    has_failed: bool,
    /// It stands among those that found no room.
    pub(super) is_waiting: bool,
    /// Its ring is gone.
    is_orphan: bool,
}

/// Whether all of a request that may be under way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Issued {
    All,
    /// It waits for room, or for a buffer.
    Waits,
}

impl Vhost {
    /// Begins with a request that was taken.
    pub(super) fn start(&mut self, key: Key, head: u16, chain: Chain, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let wanted = match Wanted::read(&chain, queue.ring.memory(), &queue.disk) {
            Ok(Wanted::Block(wanted)) => wanted,
            Ok(Wanted::Name) => {
                let written = queue.write_name(&chain);
                let answered = written.and_then(|()| queue.answer(head, &chain, Status::Ok));
                return self.after_answer(key, chain, answered, kit);
            }
            Ok(Wanted::Refused(status)) => {
                let answered = queue.answer(head, &chain, status);
                return self.after_answer(key, chain, answered, kit);
            }
            Err(broken) => {
                self.keep(chain);
                return self.break_off(key, &broken, kit);
            }
        };
        let (hosted, account) = (queue.hosted, queue.account);
        let covered = wanted.covered();
        let request = GuestRequest {
            hosted,
            queue: key,
            account,
            head,
            chain,
            wanted,
            next: covered.start,
            end: covered.end,
            in_flight: 0,
            part_bytes: part_bytes(&wanted),
            has_failed: false,
            is_waiting: false,
            is_orphan: false,
        };
        let request = self.requests.insert(request);
        self.room.begin(account);
        if wanted.kind == Kind::Flush {
            self.requests.get_mut(request).expect("just put in").in_flight = 1;
            let part = FrontEnd::Vhost.part(request, kit.me, 0);
            self.facts.push_back(Fact::Flush { hosted, part });
        } else {
            self.go_on(request, kit);
        }
    }

    fn go_on(&mut self, key: Key, kit: &mut Kit) {
        if self.issue(key, kit) == Issued::Waits
            && let Some(request) = self.requests.get_mut(key)
            && !std::mem::replace(&mut request.is_waiting, true)
        {
            self.room.wait(request.account, key);
        }
    }

    /// Hands the core as many parts as may be under way.
    pub(super) fn issue(&mut self, key: Key, kit: &mut Kit) -> Issued {
        let Some(request) = self.requests.get_mut(key) else { return Issued::All };
        let Some(queue) = self.queues.get(request.queue) else { return Issued::All };
        let (hosted, account) = (request.hosted, request.account);
        while request.next < request.end && request.in_flight < PARTS_PER_REQUEST_MAX {
            if request.part_bytes > 0 && !self.room.has(account, hosted, kit) {
                return Issued::Waits;
            }
            let piece = request.wanted.piece(request.next, request.end);
            let length = u32::try_from(piece.end - piece.start).expect("at most an extent");
            let is_whole = (piece.start | piece.end).is_multiple_of(BLOCK_BYTES);
            let kind = match request.wanted.kind {
                Kind::Read | Kind::Flush => RequestKind::Read,
                Kind::Discard => RequestKind::Discard { fua: queue.fua() },
                Kind::Zeroes { deallocate: true } if is_whole => {
                    RequestKind::Discard { fua: queue.fua() }
                }
                Kind::Zeroes { .. } if is_whole => RequestKind::Zeroes { fua: queue.fua() },
                // A block that is zeroed in part is written.
                Kind::Write { .. } | Kind::Zeroes { .. } => {
                    let Some(slice) = kit.reactor.pool().take_for_client(length) else {
                        return Issued::Waits;
                    };
                    let bytes = kit.reactor.pool().bytes_mut(slice);
                    if matches!(request.wanted.kind, Kind::Zeroes { .. }) {
                        bytes.fill(0);
                    } else {
                        let at = HEADER_BYTES + piece.start - request.wanted.offset;
                        let read = request.chain.read(queue.ring.memory(), at, bytes);
                        if let Err(broken) = read {
                            kit.reactor.pool().release(slice.buffer);
                            let queue = request.queue;
                            self.break_off(queue, &broken, kit);
                            return Issued::All;
                        }
                    }
                    RequestKind::Write { payload: kit.payloads.adopt(slice), fua: queue.fua() }
                }
            };
            let part = if request.wanted.kind == Kind::Read {
                request.wanted.part_at(piece.start)
            } else {
                0
            };
            let part = FrontEnd::Vhost.part(key, kit.me, part);
            request.next = piece.end;
            request.in_flight += 1;
            self.room.take(account, hosted, request.part_bytes, kit);
            let request = Request { part, kind, offset: queue.base + piece.start, length };
            self.facts.push_back(Fact::Request { hosted, request });
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
            self.room.give_back(request.account, request.hosted, request.part_bytes, kit);
            if result.is_err() {
                request.has_failed = true;
                request.next = request.end;
            }
            if request.is_orphan {
                self.end_orphan(key, kit);
            } else {
                if let Some(payload) = payload {
                    self.put(key, part, payload, kit);
                }
                self.go_on(key, kit);
            }
        }
        if let Some(payload) = payload {
            kit.release(payload);
        }
    }

    /// Copies what was read to its place. Whole blocks were read; the guest may want less of the
    /// first and of the last.
    fn put(&mut self, key: Key, part: u16, payload: Payload, kit: &mut Kit) {
        let Some(request) = self.requests.get(key) else { return };
        let Some(queue) = self.queues.get(request.queue) else { return };
        let piece = request.wanted.part(part);
        let skip = u32::try_from(piece.start % BLOCK_BYTES).expect("below a block");
        let length = u32::try_from(piece.end - piece.start).expect("at most a part");
        let slice = kit.payloads.slice(payload).part(skip, length);
        let bytes = kit.reactor.pool_ref().bytes(slice);
        let at = piece.start - request.wanted.offset;
        let written = request.chain.write(queue.ring.memory(), at, bytes);
        self.check(request.queue, written, kit);
    }

    fn finish_if_done(&mut self, key: Key, kit: &mut Kit) {
        let is_done = |request: &GuestRequest| {
            request.in_flight == 0 && (request.next >= request.end || request.has_failed)
        };
        if !self.requests.get(key).is_some_and(is_done) {
            return;
        }
        let Some(request) = self.requests.remove(key) else { return };
        self.room.end(request.account);
        let status = if request.has_failed { Status::IoError } else { Status::Ok };
        if let Some(queue) = self.queues.get_mut(request.queue) {
            let answered = queue.answer(request.head, &request.chain, status);
            self.after_answer(request.queue, request.chain, answered, kit);
        }
        self.resume(request.account);
    }

    fn after_answer(
        &mut self,
        queue: Key,
        chain: Chain,
        answered: Result<(), Broken>,
        kit: &mut Kit,
    ) {
        self.keep(chain);
        self.mark(queue);
        self.check(queue, answered, kit);
    }

    /// What rings that are gone had asked is nobody's any more. What holds buffers in the core does
    /// so until it is answered.
    pub(super) fn orphan_requests(&mut self, kit: &mut Kit) {
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get_mut(key).filter(|it| !it.is_orphan) else {
                continue;
            };
            if self.queues.get(request.queue).is_some() {
                continue;
            }
            request.chain = Chain::default();
            self.room.end(request.account);
            self.orphan(key, kit);
        }
    }
}

impl Orphanage for Vhost {
    type Request = GuestRequest;

    fn requests(&mut self) -> &mut Slab<GuestRequest> {
        &mut self.requests
    }

    fn outstanding(request: &mut GuestRequest) -> Outstanding<'_> {
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

impl Queue {
    /// Whether a write is to be durable when it is answered.
    fn fua(&self) -> bool {
        self.features.needs_durable_writes(self.cache)
    }

    fn answer(&mut self, head: u16, chain: &Chain, status: Status) -> Result<(), Broken> {
        let last = chain.writable_bytes() - 1;
        chain.write(self.ring.memory(), last, &[status as u8])?;
        let written = u32::try_from(chain.writable_bytes()).unwrap_or(u32::MAX);
        self.ring.put(head, written)
    }

    fn write_name(&self, chain: &Chain) -> Result<(), Broken> {
        let mut name = [0; NAME_BYTES];
        for (to, from) in name.iter_mut().zip(self.name.bytes()) {
            *to = from;
        }
        chain.write(self.ring.memory(), 0, &name)
    }
}
