//! Room for the data of reads and long writes: controllers get it in turns.
//!
//! Each has a bound of its own, beside those of its resource and of the shard (budget.rs). Who
//! waits here looks again in each turn.

use std::ops::Range;

use frontend::block::{Kind, Request as Wanted};
use frontend::nvme::command::What;
use frontend::nvme::send::Stretch;

use crate::budget::{bytes_of_read, bytes_of_write, part_bytes, patience};
use crate::limits::CLIENT_BYTES_MAX;
use crate::nvme::Nvme;
use crate::nvme::admin::Session;
use crate::nvme::requests::Step;
use crate::nvme::work::{Parts, Work};
use crate::payloads::Kit;
use crate::slab::Key;

impl Nvme {
    /// A request waits for room behind the others of its controller.
    pub(super) fn wait_for_room(&mut self, controller: Key, request: Key) {
        let Some(session) = self.controllers.get_mut(controller) else { return };
        if !self.turns.contains(&controller) {
            self.turns.push_back(controller);
        }
        session.waiting.push_back(request);
    }

    /// Begins what waits for room, as far as there is some: one of each controller in turns.
    pub(super) fn grant(&mut self, kit: &mut Kit) {
        let mut refused = 0;
        self.lacks_buffer = false;
        while refused < self.turns.len() {
            let Some(controller) = self.turns.pop_front() else { break };
            match self.grant_one(controller, kit) {
                Turn::NothingWaits => {}
                Turn::Begun => {
                    self.turns.push_back(controller);
                    refused = 0;
                }
                Turn::NoRoom => {
                    self.turns.push_back(controller);
                    refused += 1;
                }
            }
        }
    }

    /// Begins the next request of a controller.
    fn grant_one(&mut self, controller: Key, kit: &mut Kit) -> Turn {
        let Some(session) = self.controllers.get_mut(controller) else { return Turn::NothingWaits };
        let next = loop {
            let Some(key) = session.waiting.front().copied() else { return Turn::NothingWaits };
            if let Some(request) = self.requests.get_mut(key) {
                break (key, request);
            }
            session.waiting.pop_front();
        };
        let (key, request) = next;
        // An initiator that does not read what it is sent gets no more to read.
        let own = session.held_bytes();
        let is_full = own > 0 && own + request.held_bytes > CLIENT_BYTES_MAX;
        if is_full {
            return Turn::NoRoom;
        }
        if !self.waiting.has_room(request.hosted, own, kit) {
            return Turn::NoRoom;
        }
        let is_read = matches!(request.work, Work::Read { .. });
        if is_read {
            request.step = Step::Working;
        } else if !self.give_leave(key, kit) {
            return Turn::NoRoom;
        }
        self.hold(key, kit);
        if let Some(session) = self.controllers.get_mut(controller) {
            session.waiting.pop_front();
        }
        if is_read {
            self.issue(key, kit);
        }
        Turn::Begun
    }

    /// The request has its buffers, or is about to.
    pub(super) fn hold(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        request.is_held = true;
        kit.budget.take(request.hosted, request.held_bytes);
        if let Some(session) = self.controllers.get_mut(request.controller) {
            session.held += request.held_bytes;
        }
    }

    /// Lets the initiator send the data of a write; false while a buffer is missing.
    fn give_leave(&mut self, key: Key, kit: &mut Kit) -> bool {
        let Some(request) = self.requests.get_mut(key) else { return true };
        let (queue, command, length) = (request.queue, request.command, request.length);
        let what = match &request.work {
            Work::Write { request, .. } => What::Block(*request),
            Work::Ranges { count, .. } => What::Deallocate { ranges: *count },
            Work::Read { .. } | Work::Range { .. } | Work::Flush => return true,
        };
        let Some(taken) = Parts::take(lengths(&what, length), kit) else {
            self.lacks_buffer = true;
            return false;
        };
        // What got leave before it comes before it.
        let before = self.controllers.get(request.controller).map_or(0, |it| it.held);
        request.to_come = before + length as usize;
        (request.step, request.since) = (Step::Arriving, kit.now);
        if let Some(parts) = self.places(key) {
            *parts = taken;
        }
        let Some(it) = self.io_queue(queue) else { return true };
        // There are as many tags as entries.
        let Some(tag) = it.transfers.begin(key, command, length) else { return true };
        let stretch = Stretch { command, offset: 0, length };
        if let Some(queue) = self.queues.get_mut(queue) {
            // Without a buffer for it the initiator's own deadline ends the session.
            queue.say(kit, |encoder, out| encoder.ready(stretch, tag, out));
        }
        self.mark(queue);
        true
    }

    /// Who does not send the data of a write, or does not take what it is sent, has to make room
    /// for others.
    pub(super) fn judge_stalls(&mut self, kit: &mut Kit) {
        let crowded_since = self.waiting.crowded_since();
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get(key) else { continue };
            if request.step != Step::Arriving || !kit.budget.is_crowded_by(request.hosted) {
                continue;
            }
            if kit.now >= patience(request.since.max(crowded_since), request.to_come) {
                let reason = "the data of a write does not come, and others wait for the buffers";
                self.close(request.queue, reason, kit);
            }
        }
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            let until = self.queues.get(key).and_then(|it| it.outbox.patience(crowded_since));
            if kit.budget.is_full() && until.is_some_and(|until| kit.now >= until) {
                let reason = "it does not take what it is sent, and others wait for the buffers";
                self.close(key, reason, kit);
            }
        }
    }
}

impl Session {
    /// Bytes of the buffers that it holds.
    pub(super) const fn held_bytes(&self) -> usize {
        self.held + self.unsent
    }
}

/// What came of the turn of a controller.
enum Turn {
    Begun,
    NoRoom,
    NothingWaits,
}

/// Bytes of the buffers for a command with so much data.
pub(super) fn held_bytes(what: &What, length: u32) -> usize {
    match what {
        // Its first and its last block are written.
        What::Block(wanted) if matches!(wanted.kind, Kind::Zeroes { .. }) => 2 * part_bytes(wanted),
        _ if length == 0 => 0,
        What::Block(wanted) if matches!(wanted.kind, Kind::Write { .. }) => {
            pieces(what, length).map(|piece| bytes_of_write(&piece)).sum()
        }
        What::Block(_) | What::Deallocate { .. } | What::Nothing => {
            pieces(what, length).map(|piece| bytes_of_read(&piece)).sum()
        }
    }
}

/// The lengths of the places for a command's data.
pub(super) fn lengths(what: &What, whole: u32) -> impl Iterator<Item = u32> + use<> {
    let length = |piece: Range<u64>| u32::try_from(piece.end - piece.start);
    pieces(what, whole).map(move |piece| length(piece).expect("at most a part"))
}

fn pieces(what: &What, whole: u32) -> impl Iterator<Item = Range<u64>> + use<> {
    let wanted = match what {
        What::Block(request) => *request,
        What::Deallocate { .. } | What::Nothing => {
            Wanted { kind: Kind::Read, offset: 0, length: whole.into() }
        }
    };
    let end = wanted.offset + wanted.length;
    let mut next = wanted.offset;
    std::iter::from_fn(move || {
        let piece = (next < end).then(|| wanted.piece(next, end))?;
        next = piece.end;
        Some(piece)
    })
}
