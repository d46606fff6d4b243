//! Requests of clients: into parts for the core, and their answers into replies.

use format::ids::BLOCK_BYTES;
use frontend::nbd::limits::PART_BYTES;
use frontend::nbd::parts::{ReadAssembly, Send, Split, WriteAssembly};
use frontend::nbd::reply::{REPLY_BYTES_MAX, block_status_bytes};
use frontend::nbd::transmission::{Kind, Parsed, Request as Wanted};
use frontend::nbd::wire::{Errno, Extent};
use io::Slice;
use replication::contract::{PartId, Payload, Request, RequestError, RequestKind};
use stdx::time::Time;

use crate::budget::buffer_bytes;
use crate::limits::{
    CLIENT_BYTES_MAX, CLIENT_HEAD_BYTES_MAX, PARTS_PER_REQUEST_MAX, REQUESTS_PER_CLIENT_MAX,
    SHARDS_MAX, STATUS_EXTENTS_MAX,
};
use crate::links::HostedId;
use crate::nbd::client::{Filling, Stage, Write};
use crate::nbd::pieces::{Held, piece, whole_blocks};
use crate::nbd::{Fact, Nbd};
use crate::payloads::Kit;
use crate::slab::Key;

#[expect(clippy::cast_possible_truncation, reason = "below 1 KiB")]
const HEAD_BYTES: u32 = REPLY_BYTES_MAX as u32;
#[expect(clippy::cast_possible_truncation, reason = "below 4 KiB")]
const STATUS_BYTES: u32 = block_status_bytes(STATUS_EXTENTS_MAX) as u32;

#[derive(Debug)]
pub(super) struct ClientRequest {
    client: Key,
    hosted: HostedId,
    /// Where its volume begins in the block space.
    base: u64,
    wanted: Wanted,
    /// A write whose bytes are all here, since then; the others since they came.
    since: Time,
    /// Parts that the core has.
    in_flight: usize,
    /// One of a write has its buffer, and is not whole yet.
    is_arriving: bool,
    room: Room,
    work: Work,
}

/// Bytes of the buffers that a request takes: for a part, and at most at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    part: usize,
    most: usize,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it lies in a slab; a box would be an allocation")]
enum Work {
    Read {
        assembly: ReadAssembly,
        split: Split,
        next: u16,
        held: Held,
    },
    Write {
        assembly: WriteAssembly,
    },
    /// Without payload, extent by extent; the next piece starts at `next`.
    Range {
        kind: RequestKind,
        next: u64,
        end: u64,
        failed: Option<Errno>,
    },
    Flush,
    Allocation {
        context: u32,
    },
}

/// Bits of the number of the part; the shard of the client has the rest of 16.
const PART_BITS: u32 = 13;

/// Index and generation of the request, 24 bits each, the shard of its client, and the number of
/// the part.
fn part_id(request: Key, shard: u8, part: u16) -> PartId {
    // The highest three bits mark the parts of other front ends.
    assert!(request.index < 1 << 21, "requests are bounded far below this");
    assert!(part < 1 << PART_BITS, "a request has far fewer parts");
    let low = u64::from(shard) << PART_BITS | u64::from(part);
    PartId(u64::from(request.index) << 40 | u64::from(request.generation) << 16 | low)
}

fn cut(value: u64, bits: u32) -> u32 {
    u32::try_from(value & ((1 << bits) - 1)).expect("cut to fewer than 32 bits")
}

fn of_part_id(part: PartId) -> (Key, u16) {
    let key = Key { index: cut(part.0 >> 40, 24), generation: cut(part.0 >> 16, 24) };
    (key, u16::try_from(cut(part.0, PART_BITS)).expect("cut to fewer than 16 bits"))
}

/// The shard whose client asked.
pub(crate) fn origin_of(part: PartId) -> u8 {
    u8::try_from(cut(part.0 >> PART_BITS, 16 - PART_BITS)).expect("cut to fewer than 8 bits")
}

const _: () = assert!(SHARDS_MAX as u32 <= 1 << (16 - PART_BITS), "a shard fits beside a part");

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
                    let own = client.held + client.outbox.unsent().all_data();
                    if let Err(crowded) = kit.budget.room(request.hosted, own) {
                        self.crowded.get_or_insert(crowded);
                        return false;
                    }
                    let Some(slice) = kit.reactor.pool().take_for_client(part.length) else {
                        self.starved = true;
                        return false;
                    };
                    request.is_arriving = true;
                    client.held += request.room.part;
                    kit.budget.take(request.hosted, request.room.part);
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
            if filling.filled < part.length {
                current.payload = Some(filling);
                return false;
            }
            let payload = kit.payloads.adopt(filling.slice);
            request.is_arriving = false;
            request.in_flight += 1;
            request.since = kit.now;
            let kind = RequestKind::Write { payload, fua: request.wanted.fua };
            let id = part_id(current.request, kit.mesh.me(), current.part);
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
    fn issue(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let (hosted, base) = (request.hosted, request.base);
        match &mut request.work {
            Work::Write { .. } => {}
            Work::Flush => {
                request.in_flight += 1;
                self.facts.push_back(Fact::Flush { hosted, part: part_id(key, kit.mesh.me(), 0) });
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
            let own = match assembly.is_open() {
                true => request.in_flight * room.part + unsent.data,
                false => client.held + unsent.all_data(),
            };
            let crowded = kit.budget.room(hosted, own).err();
            if own >= CLIENT_BYTES_MAX || crowded.is_some() {
                self.crowded = self.crowded.or(crowded);
                return client.pause(key);
            }
            let part = split.part(*next);
            *next += 1;
            request.in_flight += 1;
            client.held += room.part;
            kit.budget.take(hosted, room.part);
            let (offset, length) = (base + part.offset, part.length);
            let part = part_id(key, kit.mesh.me(), part.index);
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
            let crowded = kit.budget.room(hosted, own).err();
            if room.part > 0 && crowded.is_some() {
                self.crowded = self.crowded.or(crowded);
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
                    self.stalled.push_back(key);
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
            let (part, offset) = (part_id(key, kit.mesh.me(), 0), base + piece.start);
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
        for _ in 0..self.stalled.len() {
            let Some(key) = self.stalled.pop_front() else { break };
            self.issue(key, kit);
        }
    }

    /// The core's answer to a part. The payload, if there is one, comes with a reference.
    pub(crate) fn complete(
        &mut self,
        part: PartId,
        result: Result<Option<Payload>, RequestError>,
        kit: &mut Kit,
    ) {
        let (key, index) = of_part_id(part);
        let result = result.map_err(errno);
        let Some(request) = self.requests.get_mut(key) else {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return;
        };
        request.in_flight -= 1;
        let client = request.client;
        let part = request.give_back(1, kit);
        let Some(session) = self.clients.get_mut(client) else {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return self.end_orphan(key);
        };
        session.held -= part;
        let plain = result.map(|_| ());
        match &mut request.work {
            Work::Flush | Work::Allocation { .. } => self.finish(key, plain, kit),
            Work::Write { assembly } => {
                if let Some(whole) = assembly.on_part(plain) {
                    self.finish(key, whole, kit);
                }
            }
            Work::Range { next, end, failed, .. } => {
                *failed = failed.or(plain.err());
                let is_done = *next >= *end;
                if is_done && request.in_flight == 0 {
                    let whole = failed.map_or(Ok(()), Err);
                    self.finish(key, whole, kit);
                } else {
                    self.issue(key, kit);
                }
            }
            Work::Read { assembly, split, held, .. } => {
                if let Ok(Some(payload)) = result {
                    // Whole blocks were read; the client may want less of the first and last.
                    let part = split.part(index);
                    let skip = u32::try_from(part.offset % BLOCK_BYTES).expect("below a block");
                    let slice = kit.payloads.slice(payload).part(skip, part.length);
                    held.put(index, payload, slice, kit);
                }
                assembly.on_part(index, plain);
                self.send_read(key, kit);
                self.begin_replies(client, kit);
                self.go_on(client, kit);
            }
        }
        self.mark(client);
    }

    /// Sends what may be sent of a read, then asks for more of it.
    fn send_read(&mut self, key: Key, kit: &mut Kit) {
        loop {
            let Some(request) = self.requests.get_mut(key) else { return };
            let (wanted, client) = (request.wanted, request.client);
            let Work::Read { assembly, split, held, .. } = &mut request.work else { return };
            let Some(session) = self.clients.get_mut(client) else { return };
            let Some(replies) = session.replies else { return };
            let outbox = &mut session.outbox;
            if assembly.is_to_open() && outbox.is_open() {
                if !session.next_replies.contains(&key) {
                    session.next_replies.push_back(key);
                }
                break;
            }
            let was_open = assembly.is_open();
            let send = assembly.next_send();
            let said = match send {
                Send::Wait => break,
                Send::Chunk { part, end } => {
                    let place = split.part(part);
                    let (start, length) = (place.offset, u64::from(place.length));
                    let said = outbox.head(HEAD_BYTES, kit, |out| {
                        replies.read_head(&wanted, start, length, end, out)
                    });
                    if let Some((payload, slice)) = held.take(part) {
                        outbox.data(payload, slice);
                    }
                    said
                }
                Send::WholeHead { end } => outbox.open(HEAD_BYTES, kit, |out| {
                    replies.read_head(&wanted, wanted.offset, wanted.length, end, out)
                }),
                Send::Data { part, .. } => {
                    if let Some((payload, slice)) = held.take(part) {
                        outbox.open_data(payload, slice);
                    }
                    Some(())
                }
                Send::Zeroes { part } => zeroes(split.part(part).length, kit).map(|slice| {
                    let payload = kit.payloads.adopt(slice);
                    kit.keep(slice);
                    outbox.open_data(payload, slice);
                }),
                Send::Success => outbox.head(HEAD_BYTES, kit, |out| replies.success(&wanted, out)),
                Send::Error(errno) => {
                    outbox.head(HEAD_BYTES, kit, |out| replies.error(&wanted, errno, "", out))
                }
                Send::HangUp => None,
            };
            if said.is_none() {
                let reason = "a read failed in the middle of its reply, or no buffer was free";
                self.close(client, reason, kit);
                return;
            }
            if was_open && !assembly.is_open() {
                outbox.close();
            }
        }
        let Some(request) = self.requests.get_mut(key) else { return };
        let Work::Read { assembly, held, .. } = &mut request.work else { return };
        if assembly.is_over() && request.in_flight == 0 {
            held.release(kit);
            self.forget(key);
        } else {
            self.issue(key, kit);
        }
    }

    /// Reads that waited for the end of another one's reply begin theirs, in order.
    fn begin_replies(&mut self, client: Key, kit: &mut Kit) {
        loop {
            let Some(session) = self.clients.get_mut(client) else { return };
            if session.outbox.is_open() {
                return;
            }
            let Some(next) = session.next_replies.pop_front() else { return };
            self.send_read(next, kit);
        }
    }

    /// Answers a request without data.
    fn finish(&mut self, key: Key, result: Result<(), Errno>, kit: &mut Kit) {
        self.record(key, kit.now);
        let Some((client, wanted)) = self.forget(key) else { return };
        let Some(session) = self.clients.get(client) else { return };
        let Some(replies) = session.replies else { return };
        let write = |out: &mut [u8]| match result {
            Ok(()) => replies.success(&wanted, out),
            Err(errno) => replies.error(&wanted, errno, "", out),
        };
        self.reply(client, HEAD_BYTES, kit, write);
    }

    /// Answers a question for the state of blocks.
    pub(crate) fn tell_allocation(&mut self, key: Key, extents: &[Extent], kit: &mut Kit) {
        let Some(request) = self.requests.get(key) else { return };
        let Work::Allocation { context } = request.work else { return };
        let Some((client, wanted)) = self.forget(key) else { return };
        let Some(replies) = self.clients.get(client).and_then(|session| session.replies) else {
            return;
        };
        let extents = extents.iter().copied();
        let write = |out: &mut [u8]| replies.block_status(&wanted, context, extents, out);
        self.reply(client, STATUS_BYTES, kit, write);
    }

    /// Counts how long a write took.
    fn record(&mut self, key: Key, now: Time) {
        let Some(request) = self.requests.get(key) else { return };
        if request.wanted.kind == Kind::Write
            && let Some(counted) = self.write_latency.get_mut(request.hosted.0 as usize)
        {
            counted.record(now.since(request.since));
        }
    }

    fn forget(&mut self, key: Key) -> Option<(Key, Wanted)> {
        // It is large, for it has the parts of reads: it goes where it lies.
        let request = self.requests.get(key)?;
        let (client, wanted, room) = (request.client, request.wanted, request.room);
        self.requests.remove(key)?;
        if let Some(client) = self.clients.get_mut(client) {
            client.requests -= 1;
            client.bytes -= room.most;
        }
        Some((client, wanted))
    }

    fn reply(
        &mut self,
        key: Key,
        length_max: u32,
        kit: &mut Kit,
        write: impl FnOnce(&mut [u8]) -> usize,
    ) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if client.outbox.head(length_max, kit, write).is_none() {
            self.close(key, "no buffer is free", kit);
            return;
        }
        self.mark(key);
    }

    /// Forgets what a client that is gone had asked; what holds buffers in the core, when it is
    /// answered.
    pub(super) fn drop_requests(&mut self, client: Key, kit: &mut Kit) {
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get_mut(key).filter(|it| it.client == client) else {
                continue;
            };
            if let Work::Read { held, .. } = &mut request.work {
                held.release(kit);
            }
            request.give_back(usize::from(request.is_arriving), kit);
            if request.room.part == 0 {
                // The answer of the core will find nobody.
                request.in_flight = 0;
            }
            self.orphans += 1;
            self.end_orphan(key);
        }
    }

    /// The resource is gone: of what nobody waits for any more, nothing is answered.
    pub(crate) fn forget_orphans(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get_mut(key).filter(|it| it.hosted == hosted) else {
                continue;
            };
            if self.clients.get(request.client).is_some() {
                continue;
            }
            request.give_back(request.in_flight, kit);
            request.in_flight = 0;
            self.end_orphan(key);
        }
    }

    /// Forgets a request whose client is gone, once the core has nothing of it any more.
    fn end_orphan(&mut self, key: Key) {
        if self.requests.get(key).is_some_and(|request| request.in_flight == 0) {
            self.forget(key);
            self.orphans -= 1;
        }
    }
}

fn errno(error: RequestError) -> Errno {
    match error {
        RequestError::Io => Errno::Io,
        RequestError::NotPrimary => Errno::Shutdown,
    }
}

impl ClientRequest {
    /// So many parts hold nothing any more; gives their bytes.
    fn give_back(&self, parts: usize, kit: &mut Kit) -> usize {
        let bytes = parts * self.room.part;
        kit.budget.give_back(self.hosted, bytes);
        bytes
    }
}

impl Room {
    fn of(wanted: &Wanted) -> Self {
        match wanted.kind {
            Kind::Read { .. } | Kind::Write => {
                let longest = wanted.length.min(PART_BYTES.into());
                let part = buffer_bytes(u32::try_from(longest).expect("at most a part"));
                let count = usize::from(Split::new(wanted).count()).min(PARTS_PER_REQUEST_MAX);
                Self { part, most: count * part }
            }
            // Its first and its last block are written; the others count as if they were.
            Kind::WriteZeroes { .. }
                if !(wanted.offset | wanted.length).is_multiple_of(BLOCK_BYTES) =>
            {
                let part = buffer_bytes(1);
                Self { part, most: 2 * part }
            }
            Kind::WriteZeroes { .. }
            | Kind::Flush
            | Kind::Trim
            | Kind::Cache
            | Kind::BlockStatus { .. } => Self::default(),
        }
    }
}

fn zeroes(length: u32, kit: &mut Kit) -> Option<Slice> {
    let slice = kit.reactor.pool().take_for(length)?;
    kit.reactor.pool().bytes_mut(slice).fill(0);
    Some(slice)
}

fn length(consumed: usize) -> u32 {
    u32::try_from(consumed).expect("not more than was given")
}
