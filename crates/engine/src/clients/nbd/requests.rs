//! Requests of clients, into parts for the core.

use format::ids::BLOCK_BYTES;
use frontend::nbd::parts::{ReadAssembly, Split, WriteAssembly};
use frontend::nbd::transmission::{Kind, Parsed, Request as Wanted};
use replication::contract::{Request, RequestKind};

use crate::clients::budget::Wish;
use crate::clients::fact::Fact;
use crate::clients::nbd::Nbd;
use crate::clients::nbd::answers::HEAD_BYTES;
use crate::clients::nbd::client::{Filling, Stage, Write};
use crate::clients::nbd::pieces::{Held, piece, whole_blocks};
use crate::clients::nbd::work::{ClientRequest, Room, Work};
use crate::clients::part_id::FrontEnd;
use crate::kit::Kit;
use crate::limits::{
    CLIENT_BYTES_MAX, CLIENT_HEAD_BYTES_MAX, PARTS_PER_REQUEST_MAX, REQUESTS_PER_CLIENT_MAX,
};
use crate::slab::Key;

impl Nbd {
    pub(super) fn step_transmission(&mut self, key: Key, kit: &mut Kit) {
        loop {
            if !self.take_payload(key, kit) {
                return;
            }
            let Some(client) = self.clients.get_mut(key) else { return };
            // One that does not read what it is sent gets no more to read.
            let unsent = client.outbox.unsent();
            if client.requests >= REQUESTS_PER_CLIENT_MAX
                || client.bytes + unsent.all_data() >= CLIENT_BYTES_MAX
                || unsent.heads >= CLIENT_HEAD_BYTES_MAX
            {
                return;
            }
            let bytes = client.available();
            let Some(replies) = client.replies else { return };
            let Stage::Serving { machine, .. } = &mut client.stage else { return };
            let parsed = match bytes {
                Some(bytes) => machine.next(kit.reactor.pool_ref().bytes(bytes)),
                None => machine.next(&[]),
            };
            match parsed {
                Parsed::NeedMore(_) => return,
                Parsed::Skipped { consumed } => client.take(length(consumed)),
                Parsed::Request { consumed, request } => {
                    client.take(length(consumed));
                    self.start(key, request, kit);
                }
                Parsed::Refused { consumed, refusal } => {
                    client.take(length(consumed));
                    let write = |out: &mut [u8]| replies.refusal(&refusal, out);
                    self.reply(key, HEAD_BYTES, kit, write);
                }
                Parsed::Disconnect => {
                    return self.leave(key, kit);
                }
                Parsed::Invalid(reason) => {
                    self.close(key, &reason.to_string(), kit);
                    return;
                }
            }
        }
    }

    /// Moves what arrived of a write's payload to its place, part by part. False while it waits
    /// for bytes, for a buffer, or for parts that are under way.
    fn take_payload(&mut self, key: Key, kit: &mut Kit) -> bool {
        loop {
            let Some(client) = self.clients.get_mut(key) else { return false };
            let Stage::Serving { machine, write, .. } = &mut client.stage else { return false };
            let Some(current) = write else { return true };
            let Some(request) = self.requests.get_mut(current.request) else { return false };
            let split = Split::new(&request.wanted);
            let part = split.part(current.part);
            let mut filling = match current.payload {
                Some(filling) => filling,
                None if request.in_flight >= PARTS_PER_REQUEST_MAX => return false,
                None => {
                    // It has no other part on its way. What it does not take does not count: it may
                    // be about to take it once all is sent.
                    let own = client.held + client.outbox.unsent().all_data();
                    let wish = Wish::Arrival { own: 0, bytes: request.room.part };
                    if !self.waiting.has_room(request.hosted, own, wish, kit) {
                        return false;
                    }
                    let Some(slice) = kit.reactor.pool().take_for_client(part.length) else {
                        self.waiting.is_starved = true;
                        return false;
                    };
                    request.is_arriving = true;
                    client.held += request.room.part;
                    kit.budget.await_arrival(request.room.part);
                    Filling { slice, filled: 0, since: kit.now }
                }
            };
            let rest = part.length - filling.filled;
            if rest > 0
                && let Some(bytes) = client.stream.available()
            {
                let arrived = bytes.length.min(rest);
                let place = filling.slice.part(filling.filled, arrived);
                kit.reactor.pool().copy(bytes.part(0, arrived), place);
                filling.filled += arrived;
                machine.advance_payload(arrived.into());
                client.stream.take(arrived);
            }
            let own = client.held - request.room.part + client.outbox.unsent().all_data();
            if filling.filled < part.length
                || !self.waiting.has_room(request.hosted, own, Wish::Work, kit)
            {
                current.payload = Some(filling);
                return false;
            }
            kit.budget.end_arrival(request.room.part);
            kit.budget.take(request.hosted, request.room.part);
            let payload = kit.payloads.adopt(filling.slice);
            request.is_arriving = false;
            request.in_flight += 1;
            request.since = kit.now;
            let kind = RequestKind::Write { payload, fua: request.wanted.fua };
            let id = FrontEnd::Nbd.part(current.request, kit.me, current.part);
            let (hosted, offset) = (request.hosted, request.base + part.offset);
            let next = current.part + 1;
            *write = (next < split.count()).then_some(Write {
                request: current.request,
                part: next,
                payload: None,
            });
            let is_last = write.is_none();
            let request = Request { part: id, kind, offset, length: part.length };
            self.facts.push_back(Fact::Request { hosted, request });
            if is_last {
                return true;
            }
        }
    }

    fn start(&mut self, key: Key, wanted: Wanted, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let Some(replies) = client.replies else { return };
        let Stage::Serving { agreement, write, .. } = &mut client.stage else { return };
        let hosted = client.hosted.expect("a client that is served has a resource");
        let base = client.place.first_byte();
        let work = match wanted.kind {
            Kind::Read { .. } => Work::Read {
                assembly: ReadAssembly::new(&wanted, agreement.replies),
                split: Split::new(&wanted),
                next: 0,
                held: Held::default(),
            },
            Kind::Write => Work::Write { assembly: WriteAssembly::new(&Split::new(&wanted)) },
            Kind::Flush => Work::Flush,
            // Blocks that are discarded in part only keep what they hold.
            Kind::Trim if whole_blocks(&wanted).is_empty() => {
                let write = |out: &mut [u8]| replies.success(&wanted, out);
                return self.reply(key, HEAD_BYTES, kit, write);
            }
            Kind::Trim => Work::Range {
                kind: RequestKind::Discard { fua: wanted.fua },
                next: whole_blocks(&wanted).start,
                end: whole_blocks(&wanted).end,
                failed: None,
            },
            Kind::WriteZeroes { no_hole, .. } => Work::Range {
                kind: if no_hole {
                    RequestKind::Zeroes { fua: wanted.fua }
                } else {
                    RequestKind::Discard { fua: wanted.fua }
                },
                next: wanted.offset,
                end: wanted.offset + wanted.length,
                failed: None,
            },
            Kind::Cache => {
                let write = |out: &mut [u8]| replies.success(&wanted, out);
                return self.reply(key, HEAD_BYTES, kit, write);
            }
            Kind::BlockStatus { .. } => {
                Work::Allocation { context: agreement.allocation_context.unwrap_or_default() }
            }
        };
        client.requests += 1;
        let room = Room::of(&wanted);
        client.bytes += room.most;
        let since = kit.now;
        let request = self.requests.insert(ClientRequest {
            client: key,
            hosted,
            base,
            wanted,
            since,
            in_flight: 0,
            is_arriving: false,
            is_orphan: false,
            room,
            work,
        });
        if wanted.kind == Kind::Write {
            *write = Some(Write { request, part: 0, payload: None });
        } else {
            self.issue(request, kit);
        }
    }

    /// Hands the core as many parts as may be under way. A write's follow its payload instead.
    pub(super) fn issue(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let (hosted, base) = (request.hosted, request.base);
        match &mut request.work {
            Work::Write { .. } => {}
            Work::Flush => {
                request.in_flight += 1;
                self.facts
                    .push_back(Fact::Flush { hosted, part: FrontEnd::Nbd.part(key, kit.me, 0) });
            }
            Work::Allocation { .. } => {
                let (offset, length) = (base + request.wanted.offset, request.wanted.length);
                self.facts.push_back(Fact::Allocation { hosted, request: key, offset, length });
            }
            Work::Read { .. } => self.issue_read(key, kit),
            Work::Range { .. } => self.issue_range(key, kit),
        }
    }

    fn issue_read(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let Some(client) = self.clients.get_mut(request.client) else { return };
        let (hosted, base, room) = (request.hosted, request.base, request.room);
        let Work::Read { assembly, split, next, held } = &mut request.work else { return };
        while *next < split.count()
            && !assembly.is_over()
            && request.in_flight + held.len() < PARTS_PER_REQUEST_MAX
        {
            // One that does not read what it has gets no more of it, either. What stands behind an
            // open reply is sent once that is whole.
            let unsent = client.outbox.unsent();
            let ahead = request.in_flight * room.part + unsent.data;
            let (own, replies) = match assembly.is_open() {
                true => (ahead, ahead),
                false => (client.held + unsent.all_data(), client.replies()),
            };
            let wish = Wish::Reply { own: replies, bytes: room.part };
            if !self.waiting.has_room(hosted, own, wish, kit) || own >= CLIENT_BYTES_MAX {
                return client.pause(key);
            }
            let part = split.part(*next);
            *next += 1;
            request.in_flight += 1;
            client.held += room.part;
            client.reading += room.part;
            kit.budget.take(hosted, room.part);
            kit.budget.keep(room.part);
            let (offset, length) = (base + part.offset, part.length);
            let part = FrontEnd::Nbd.part(key, kit.me, part.index);
            let request = Request { part, kind: RequestKind::Read, offset, length };
            self.facts.push_back(Fact::Request { hosted, request });
        }
    }

    fn issue_range(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let Some(client) = self.clients.get_mut(request.client) else { return };
        let (hosted, base, room) = (request.hosted, request.base, request.room);
        let Work::Range { kind, next, end, .. } = &mut request.work else { return };
        while *next < *end && request.in_flight < PARTS_PER_REQUEST_MAX {
            let own = client.held + client.outbox.unsent().all_data();
            if room.part > 0 && !self.waiting.has_room(hosted, own, Wish::Work, kit) {
                return client.pause(key);
            }
            let piece = piece(*next, *end);
            let length = u32::try_from(piece.end - piece.start).expect("at most an extent");
            let is_whole = (piece.start | piece.end).is_multiple_of(BLOCK_BYTES);
            let kind = if is_whole {
                *kind
            } else {
                // A block that is zeroed in part is written.
                let Some(slice) = kit.reactor.pool().take_for_client(length) else {
                    self.waiting.stalled.push_back(key);
                    return;
                };
                kit.reactor.pool().bytes_mut(slice).fill(0);
                let payload = kit.payloads.adopt(slice);
                RequestKind::Write { payload, fua: request.wanted.fua }
            };
            *next = piece.end;
            request.in_flight += 1;
            client.held += room.part;
            kit.budget.take(hosted, room.part);
            let (part, offset) = (FrontEnd::Nbd.part(key, kit.me, 0), base + piece.start);
            let request = Request { part, kind, offset, length };
            self.facts.push_back(Fact::Request { hosted, request });
        }
    }

    /// The core answered, the client took what it was sent, or others gave something back: what
    /// waits for that goes on.
    pub(super) fn go_on(&mut self, key: Key, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key).filter(|it| !it.paused.is_empty()) else {
            return;
        };
        for request in std::mem::take(&mut client.paused) {
            self.issue(request, kit);
        }
    }

    /// Pieces that found no buffer are tried again.
    pub(super) fn retry_stalled(&mut self, kit: &mut Kit) {
        for _ in 0..self.waiting.stalled.len() {
            let Some(key) = self.waiting.stalled.pop_front() else { break };
            self.issue(key, kit);
        }
    }
}

fn length(consumed: usize) -> u32 {
    u32::try_from(consumed).expect("not more than was given")
}
