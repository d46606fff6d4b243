//! What a client is to be sent: heads that are packed together, and data where it lies.
//!
//! A message whose data comes bit by bit is *open* from its head to its last data. What else there
//! is to say meanwhile stands behind it: in the middle it would be taken for data.

use std::collections::VecDeque;

use io::{Class, Pool, Slice, SocketId};
use replication::contract::Payload;
use stdx::time::Time;

use crate::clients::budget::patience;
use crate::kit::Kit;
use crate::limits::{FRAME_SEGMENTS_MAX, SEALED_BYTES_MAX};
use crate::tls::{SEALED_BUFFERS_MAX, Session, TlsError};

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<Piece>,
    /// What follows the open message.
    behind: VecDeque<Piece>,
    is_open: bool,
    in_flight: Vec<Piece>,
    /// When that was given to the kernel.
    sent_at: Time,
    /// About how many bytes TLS has that wait for a buffer.
    to_seal: u32,
    segments: Vec<Slice>,
    /// Where the next head goes: the unused rest of a buffer, of which one reference is held.
    room: Option<Slice>,
    unsent: Unsent,
}

/// Bytes of heads, and of the buffers that data takes: of what can be sent, and of what stands
/// behind an open message; and of those with what is sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsent {
    pub(crate) heads: usize,
    pub(crate) data: usize,
    pub(crate) behind: usize,
    sealed: usize,
}

/// What is left of the buffers for others when one is taken for a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Of a session that is not served yet.
    Greeting,
    Answer,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    slice: Slice,
    /// The payload that the slice is of; otherwise one reference to its buffer is held.
    payload: Option<Payload>,
    /// Bytes of TLS, which stand for pieces that were released.
    is_sealed: bool,
}

impl Outbox {
    pub(crate) fn unsent(&self) -> Unsent {
        self.unsent
    }

    pub(crate) fn is_sending(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// A message is open: another one cannot be opened.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Writes the head of a message whose data comes bit by bit.
    pub(crate) fn open(
        &mut self,
        length_max: u32,
        kit: &mut Kit,
        write: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<()> {
        assert!(!self.is_open, "one message at a time");
        self.head(length_max, kit, write)?;
        self.is_open = true;
        Some(())
    }

    /// More data of the open message: see `data`.
    pub(crate) fn open_data(&mut self, payload: Payload, slice: Slice, kit: &Kit) {
        assert!(self.is_open, "a head comes first");
        self.unsent.data += kit.held_by(payload);
        self.waiting.push_back(Piece::of_data(payload, slice));
    }

    /// The open message is whole.
    pub(crate) fn close(&mut self) {
        assert!(self.is_open, "a message was open");
        self.is_open = false;
        self.waiting.append(&mut self.behind);
        self.unsent.data += std::mem::take(&mut self.unsent.behind);
    }

    fn queue(&mut self) -> &mut VecDeque<Piece> {
        if self.is_open { &mut self.behind } else { &mut self.waiting }
    }

    /// Writes a head of at most `length_max` bytes, or gives `None` while no buffer is free.
    pub(crate) fn head(
        &mut self,
        length_max: u32,
        kit: &mut Kit,
        write: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<()> {
        self.head_of(Head::Answer, length_max, kit, write)
    }

    pub(crate) fn head_of(
        &mut self,
        kind: Head,
        length_max: u32,
        kit: &mut Kit,
        write: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<()> {
        let pool = kit.reactor.pool();
        if self.room.is_none_or(|room| room.length < length_max) {
            let class = Class::that_holds(length_max)?;
            let fresh = match kind {
                Head::Greeting => pool.take_for_client(class.size_bytes()),
                Head::Answer => pool.take_for_answer(class.size_bytes()),
            }?;
            if let Some(old) = self.room.replace(fresh) {
                pool.release(old.buffer);
            }
        }
        let room = self.room.expect("room was made");
        let used = write(pool.bytes_mut(room.part(0, length_max)));
        let used = u32::try_from(used).expect("within the head's bound");
        self.room = Some(room.part(used, room.length - used));
        let slice = room.part(0, used);
        self.unsent.heads += used as usize;
        let queue = self.queue();
        if let Some(last) = queue.back_mut()
            && last.payload.is_none()
            && last.slice.buffer == slice.buffer
            && last.slice.offset + last.slice.length == slice.offset
        {
            last.slice.length += used;
        } else {
            queue.push_back(Piece { slice, payload: None, is_sealed: false });
            pool.retain(slice.buffer);
        }
        Some(())
    }

    /// Data behind the last head; the outbox takes over one reference of the payload, and what the
    /// budget keeps for it.
    pub(crate) fn data(&mut self, payload: Payload, slice: Slice, kit: &Kit) {
        let unsent = &mut self.unsent;
        let counted = if self.is_open { &mut unsent.behind } else { &mut unsent.data };
        *counted += kit.held_by(payload);
        self.queue().push_back(Piece::of_data(payload, slice));
    }

    /// Seals what waits, and sends it; nothing more is sealed before that is on its way.
    pub(super) fn submit_sealed(
        &mut self,
        socket: SocketId,
        token: u64,
        tls: &mut Session,
        kit: &mut Kit,
    ) -> Result<(), TlsError> {
        if !self.in_flight.is_empty() {
            return Ok(());
        }
        if !tls.wants_send() && !tls.is_handshaking() && !self.waiting.is_empty() {
            let mut bytes = 0;
            let fits = |piece: &&Piece| {
                bytes += piece.slice.length;
                bytes <= SEALED_BYTES_MAX
            };
            let count = self.waiting.iter().take(FRAME_SEGMENTS_MAX).take_while(fits).count();
            let pieces = self.waiting.iter().take(count.max(1)).map(|piece| piece.slice);
            let sealed = tls.write(pieces, kit.reactor.pool());
            self.to_seal += bytes.min(SEALED_BYTES_MAX);
            for piece in self.waiting.drain(..count.max(1)) {
                self.unsent.release(piece, kit);
            }
            sealed?;
        }
        self.segments.clear();
        while self.in_flight.len() < SEALED_BUFFERS_MAX {
            // A small one is always to be had: what waits to be sealed may hold all of the others.
            let is_first = self.in_flight.is_empty();
            let wanted = self.to_seal.clamp(1, Class::Large.size_bytes());
            let room = |pool: &mut Pool| {
                let fitting = pool.take_for_client(wanted).map(|slice| pool.whole(slice.buffer));
                let small = |pool: &mut Pool| pool.take_for_answer(Class::Small.size_bytes());
                fitting.or_else(|| is_first.then(|| small(pool)).flatten())
            };
            let Some(slice) = tls.sealed(room, kit.reactor.pool()) else { break };
            self.to_seal = self.to_seal.saturating_sub(slice.length);
            let bytes = kit.reactor.pool_ref().size_of(slice.buffer) as usize;
            self.unsent.sealed += bytes;
            kit.budget.keep(bytes);
            self.in_flight.push(Piece { slice, payload: None, is_sealed: true });
            self.segments.push(slice);
        }
        if !self.in_flight.is_empty() {
            self.sent_at = kit.now;
            kit.reactor.send(socket, &self.segments, token);
        }
        Ok(())
    }

    /// Nothing can be sent now. What stands behind an open message waits with its request.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    pub(crate) fn submit(&mut self, socket: SocketId, token: u64, kit: &mut Kit) {
        if !self.in_flight.is_empty() || self.waiting.is_empty() {
            return;
        }
        let count = self.waiting.len().min(FRAME_SEGMENTS_MAX);
        self.in_flight.extend(self.waiting.drain(..count));
        self.segments.clear();
        self.segments.extend(self.in_flight.iter().map(|piece| piece.slice));
        self.sent_at = kit.now;
        kit.reactor.send(socket, &self.segments, token);
    }

    /// Until when the peer may take what is being sent, if others wait for that since so long; one
    /// that holds less than `least` keeps nobody from it.
    pub(crate) fn patience(&self, crowded_since: Time, least: usize) -> Option<Time> {
        let bytes: usize = self.in_flight.iter().map(|piece| piece.slice.length as usize).sum();
        let is_meant = bytes > 0 && self.unsent.all_data() >= least;
        is_meant.then(|| patience(self.sent_at.max(crowded_since), bytes))
    }

    /// The send is done. Who has nothing to say holds no buffer.
    pub(crate) fn finish(&mut self, kit: &mut Kit) {
        for piece in self.in_flight.drain(..) {
            self.unsent.release(piece, kit);
        }
        if self.waiting.is_empty()
            && self.behind.is_empty()
            && let Some(room) = self.room.take()
        {
            kit.reactor.pool().release(room.buffer);
        }
    }

    pub(crate) fn dispose(&mut self, kit: &mut Kit) {
        self.finish(kit);
        self.waiting.append(&mut self.behind);
        self.unsent.data += std::mem::take(&mut self.unsent.behind);
        for piece in self.waiting.drain(..) {
            self.unsent.release(piece, kit);
        }
        if let Some(room) = self.room.take() {
            kit.reactor.pool().release(room.buffer);
        }
    }
}

impl Piece {
    const fn of_data(payload: Payload, slice: Slice) -> Self {
        Self { slice, payload: Some(payload), is_sealed: false }
    }
}

impl Unsent {
    /// Bytes of buffers with data.
    pub(crate) fn all_data(self) -> usize {
        self.data + self.behind + self.sealed
    }

    fn release(&mut self, piece: Piece, kit: &mut Kit) {
        let Piece { slice, payload, is_sealed } = piece;
        match payload {
            Some(payload) => {
                self.data -= kit.held_by(payload);
                kit.give_up(payload);
            }
            None => {
                if is_sealed {
                    let bytes = kit.reactor.pool_ref().size_of(slice.buffer) as usize;
                    self.sealed -= bytes;
                    kit.budget.give_up(bytes);
                } else {
                    self.heads -= slice.length as usize;
                }
                kit.reactor.pool().release(slice.buffer);
            }
        }
    }
}
