//! Room for the data of reads and long writes: controllers get it in turns.
//!
//! Each has a bound of its own, beside those of its resource and of the shard (budget.rs). Who
//! waits here looks again in each turn.

use std::ops::Range;

use frontend::block::{Kind, Request as Wanted};
use frontend::nvme::command::What;
use frontend::nvme::send::Stretch;

use crate::clients::budget::{Wish, bytes_of_read, bytes_of_write, part_bytes, patience};
use crate::clients::nvme::Nvme;
use crate::clients::nvme::admin::Session;
use crate::clients::nvme::work::{Hold, IoRequest, Parts, Step, Work};
use crate::kit::Kit;
use crate::limits::CLIENT_BYTES_MAX;
use crate::slab::Key;

impl Nvme {
    /// A request waits for room behind the others of its controller.
    pub(super) fn wait_for_room(&mut self, controller: Key, request: Key) {
        self.take_a_turn(controller);
        if let Some(session) = self.controllers.get_mut(controller) {
            session.waiting.push_back(request);
        }
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
        if is_full && request.hold == Hold::Nothing {
            return Turn::NoRoom;
        }
        if request.hold == Hold::Arriving {
            if !self.may_go_to_core(key, kit) {
                return Turn::NoRoom;
            }
            if let Some(session) = self.controllers.get_mut(controller) {
                session.waiting.pop_front();
            }
            self.give_to_core(key, kit);
            return Turn::Begun;
        }
        let is_read = matches!(request.work, Work::Read { .. });
        let bytes = request.held_bytes;
        let wish = match is_read {
            true => Wish::Reply { own: session.reading + session.unsent, bytes },
            false => Wish::Arrival { own: session.arriving, bytes },
        };
        if !self.waiting.has_room(request.hosted, own, wish, kit) {
            return Turn::NoRoom;
        }
        if is_read {
            request.step = Step::Working;
        } else if !self.give_leave(key, kit) {
            return Turn::NoRoom;
        }
        self.hold(key, if is_read { Hold::Core } else { Hold::Arriving }, kit);
        if let Some(session) = self.controllers.get_mut(controller) {
            session.waiting.pop_front();
        }
        if is_read {
            self.issue(key, kit);
        }
        Turn::Begun
    }

    /// The request has its buffers, or is about to.
    pub(super) fn hold(&mut self, key: Key, hold: Hold, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        let bytes = request.held_bytes;
        let is_read = matches!(request.work, Work::Read { .. });
        request.hold = hold;
        request.reply_bytes = if is_read { bytes } else { 0 };
        let mut arriving = 0;
        match hold {
            Hold::Nothing => return,
            Hold::Arriving => {
                kit.budget.await_arrival(bytes);
                arriving = bytes;
            }
            Hold::Core => kit.budget.take(request.hosted, bytes),
        }
        kit.budget.keep(request.reply_bytes);
        if let Some(session) = self.controllers.get_mut(request.controller) {
            session.held += bytes;
            session.arriving += arriving;
            session.reading += request.reply_bytes;
        }
    }

    /// The buffers of a request that is forgotten are others' again.
    pub(super) fn let_go(&mut self, request: &IoRequest, kit: &mut Kit) {
        let bytes = request.held_bytes;
        let mut arriving = 0;
        match request.hold {
            Hold::Nothing => return,
            Hold::Arriving => {
                kit.budget.end_arrival(bytes);
                arriving = bytes;
            }
            Hold::Core => kit.budget.give_back(request.hosted, bytes),
        }
        kit.budget.give_up(request.reply_bytes);
        if let Some(session) = self.controllers.get_mut(request.controller) {
            session.held -= bytes;
            session.arriving -= arriving;
            session.reading -= request.reply_bytes;
        }
    }

    /// Whether the core has room for a request whose data is here.
    pub(super) fn may_go_to_core(&mut self, key: Key, kit: &Kit) -> bool {
        let Some(request) = self.requests.get(key) else { return false };
        let session = self.controllers.get(request.controller);
        let own = session.map_or(0, |it| it.held_bytes() - request.held_bytes);
        self.waiting.has_room(request.hosted, own, Wish::Work, kit)
    }

    /// Hands a request whose data is here to the core.
    pub(super) fn give_to_core(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        request.step = Step::Working;
        request.hold = Hold::Core;
        kit.budget.end_arrival(request.held_bytes);
        kit.budget.take(request.hosted, request.held_bytes);
        if let Some(session) = self.controllers.get_mut(request.controller) {
            session.arriving -= request.held_bytes;
        }
        self.issue(key, kit);
    }

    /// A request whose data is here waits until the core gives something back: before those of its
    /// controller that have nothing yet, for these wait for what it holds.
    pub(super) fn wait_for_core(&mut self, key: Key) {
        let Some(request) = self.requests.get_mut(key) else { return };
        request.step = Step::Waiting;
        let controller = request.controller;
        self.take_a_turn(controller);
        if let Some(session) = self.controllers.get_mut(controller) {
            session.waiting.push_front(key);
        }
    }

    fn take_a_turn(&mut self, controller: Key) {
        if !self.turns.contains(&controller) {
            self.turns.push_back(controller);
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
            if request.step != Step::Arriving || !kit.budget.is_crowded_with_arrivals() {
                continue;
            }
            if kit.now >= patience(request.since.max(crowded_since), request.to_come) {
                let reason = "the data of a write does not come, and others wait for the buffers";
                self.close(request.queue, reason, kit);
            }
        }
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            let much = kit.budget.much_of_replies();
            let until = self.queues.get(key).and_then(|it| it.outbox.patience(crowded_since, much));
            if kit.budget.is_crowded_with_replies() && until.is_some_and(|until| kit.now >= until) {
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
