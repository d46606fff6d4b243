//! Answers of the core to the parts of requests, and the replies that clients get.

use format::ids::BLOCK_BYTES;
use frontend::nbd::parts::Send;
use frontend::nbd::reply::{REPLY_BYTES_MAX, block_status_bytes};
use frontend::nbd::transmission::{Kind, Request as Wanted};
use frontend::nbd::wire::{Errno, Extent};
use io::Slice;
use replication::contract::{PartId, Payload, RequestError};
use stdx::time::Time;

use crate::clients::nbd::Nbd;
use crate::clients::nbd::work::{ClientRequest, Work};
use crate::clients::outstanding::{Orphanage, Outstanding};
use crate::clients::part_id;
use crate::kit::Kit;
use crate::limits::STATUS_EXTENTS_MAX;
use crate::slab::{Key, Slab};

#[expect(clippy::cast_possible_truncation, reason = "below 1 KiB")]
pub(super) const HEAD_BYTES: u32 = REPLY_BYTES_MAX as u32;
#[expect(clippy::cast_possible_truncation, reason = "below 4 KiB")]
const STATUS_BYTES: u32 = block_status_bytes(STATUS_EXTENTS_MAX) as u32;

impl Nbd {
    /// The core's answer to a part. The payload, if there is one, comes with a reference.
    pub(crate) fn complete(
        &mut self,
        part: PartId,
        result: Result<Option<Payload>, RequestError>,
        kit: &mut Kit,
    ) {
        let (key, index) = part_id::decode(part);
        let result = result.map_err(errno);
        let Some(request) = self.requests.get_mut(key) else {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return;
        };
        let before = request.reading();
        request.in_flight -= 1;
        let read = before - request.reading();
        let client = request.client;
        let part = request.give_back(kit);
        kit.budget.give_up(read);
        let Some(session) = self.clients.get_mut(client) else {
            if let Ok(Some(payload)) = result {
                kit.release(payload);
            }
            return self.end_orphan(key, kit);
        };
        session.held -= part;
        session.reading -= read;
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
                    session.set_aside += kit.held_by(payload);
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
                        session.set_aside -= kit.held_by(payload);
                        outbox.data(payload, slice, kit);
                    }
                    said
                }
                Send::WholeHead { end } => outbox.open(HEAD_BYTES, kit, |out| {
                    replies.read_head(&wanted, wanted.offset, wanted.length, end, out)
                }),
                Send::Data { part, .. } => {
                    if let Some((payload, slice)) = held.take(part) {
                        session.set_aside -= kit.held_by(payload);
                        outbox.open_data(payload, slice, kit);
                    }
                    Some(())
                }
                Send::Zeroes { part } => zeroes(split.part(part).length, kit).map(|slice| {
                    let payload = kit.payloads.adopt(slice);
                    kit.keep(payload);
                    outbox.open_data(payload, slice, kit);
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
            let aside = held.release(kit);
            if let Some(session) = self.clients.get_mut(request.client) {
                session.set_aside -= aside;
            }
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

    pub(super) fn reply(
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
            if request.is_arriving {
                kit.budget.end_arrival(request.room.part);
            }
            // Nobody is to have what the core still reads.
            kit.budget.give_up(request.reading());
            self.orphan(key, kit);
        }
    }
}

impl Orphanage for Nbd {
    type Request = ClientRequest;

    fn requests(&mut self) -> &mut Slab<ClientRequest> {
        &mut self.requests
    }

    fn outstanding(request: &mut ClientRequest) -> Outstanding<'_> {
        Outstanding {
            hosted: request.hosted,
            is_orphan: &mut request.is_orphan,
            in_flight: &mut request.in_flight,
            part_bytes: request.room.part,
            is_counted: request.room.part > 0,
        }
    }

    fn orphans(&mut self) -> &mut usize {
        &mut self.orphans
    }

    fn take_out(&mut self, key: Key, _kit: &mut Kit) {
        self.forget(key);
    }
}

fn errno(error: RequestError) -> Errno {
    match error {
        RequestError::Io => Errno::Io,
        RequestError::NotPrimary => Errno::Shutdown,
    }
}

fn zeroes(length: u32, kit: &mut Kit) -> Option<Slice> {
    let slice = kit.reactor.pool().take_for(length)?;
    kit.reactor.pool().bytes_mut(slice).fill(0);
    Some(slice)
}
