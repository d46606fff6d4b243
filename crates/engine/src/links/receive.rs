//! The way in: bytes become messages, and payloads stay where they arrived.
//!
//! A connection receives into one buffer after the other. A frame is taken when all of it is
//! there; its payloads become slices of the buffer, without a copy, and keep the buffer alive. A
//! frame that the rest of a buffer cannot hold is moved to a fresh one. So that this is seldom, a
//! frame is expected to be as long as the one before.

use std::collections::VecDeque;
use std::io as stdio;

use format::frame::{FRAME_HEADER_BYTES, FrameHeader, FrameReader, Message, Received};
use format::message::{LeaseRequest, LinkClass, LinkMessage};
use io::{BufferId, Class, Pool, Slice};
use replication::contract::Payload;
use stdx::checksum::crc32c;
use stdx::time::Time;

use crate::kit::Kit;
use crate::limits::FRAME_BYTES_MAX;
use crate::links::active::Meant;
use crate::links::away::Away;
use crate::links::secure::Opened;
use crate::links::stage::Stage;
use crate::links::{Fact, Links, Way};
use crate::slab::Key;

/// A buffer with less room than this at its end is left for a fresh one.
const ROOM_MIN: u32 = 32 << 10;

#[derive(Debug, Default)]
pub(super) struct Receiver {
    buffer: Option<BufferId>,
    /// Bytes that are parsed, and bytes that have arrived.
    parsed: u32,
    pub(super) filled: u32,
    /// Payloads of this buffer were handed out: its first bytes cannot be used again.
    is_lent: bool,
    /// Length of the frame that begins at `parsed`, if that is known.
    frame_bytes: u32,
    /// Length of the frame before.
    last_bytes: u32,
    is_receiving: bool,
    /// Messages of the last frame that are not taken yet, and where their payloads are.
    messages: VecDeque<Received>,
    payloads: Option<Slice>,
    /// The first of them waits for word from another shard.
    pub(super) is_paused: bool,
}

impl Receiver {
    pub(super) fn dispose(&mut self, kit: &mut Kit) {
        if let Some(buffer) = self.buffer.take() {
            kit.reactor.pool().release(buffer);
        }
    }

    /// The buffer, and what of it is filled and not parsed.
    pub(super) fn give_up(&mut self) -> Option<(BufferId, u32, u32)> {
        let buffer = self.buffer.take()?;
        let (from, to) = (self.parsed, self.filled);
        (self.parsed, self.filled) = (0, 0);
        Some((buffer, from, to))
    }

    /// The first of the bytes that wait.
    pub(super) fn first_byte(&self, kit: &mut Kit) -> Option<u8> {
        let whole = kit.reactor.pool().whole(self.buffer?);
        let waiting = whole.part(self.parsed, self.filled - self.parsed);
        kit.reactor.pool().bytes(waiting).first().copied()
    }

    /// The free end of the buffer, after `make_room`.
    pub(super) fn room(&self, kit: &mut Kit) -> Slice {
        let whole = kit.reactor.pool().whole(self.buffer.expect("room is in a buffer"));
        whole.part(self.filled, whole.length - self.filled)
    }

    /// Makes room for the rest of the frame; false while no buffer is free.
    pub(super) fn make_room(&mut self, pool: &mut Pool) -> bool {
        if let Some(buffer) = self.buffer {
            if self.parsed == self.filled && !self.is_lent {
                self.parsed = 0;
                self.filled = 0;
            }
            let size = pool.size_of(buffer);
            let fits = self.parsed + self.frame_bytes <= size;
            // As long as nothing waits, a fresh buffer costs no copy.
            let nothing_waits = self.parsed == self.filled;
            let like_last = if nothing_waits { self.last_bytes.min(size) } else { 0 };
            let is_enough = size - self.filled >= like_last.max(ROOM_MIN);
            if fits && (is_enough || self.frame_bytes > 0) {
                return true;
            }
        }
        let class =
            if self.frame_bytes > Class::Large.size_bytes() { Class::Huge } else { Class::Large };
        let Some(fresh) = pool.take(class) else { return false };
        let rest = self.filled - self.parsed;
        if let Some(old) = self.buffer.replace(fresh) {
            let from = pool.whole(old).part(self.parsed, rest);
            let to = pool.whole(fresh).part(0, rest);
            pool.copy(from, to);
            pool.release(old);
        }
        self.parsed = 0;
        self.filled = rest;
        self.is_lent = false;
        true
    }

    /// Takes in the next whole frame, if there is one: its messages are left in `messages`. A
    /// heartbeat takes the memory of `requests`.
    fn next_frame(
        &mut self,
        quantum: u16,
        requests: &mut Vec<LeaseRequest>,
        kit: &mut Kit,
    ) -> Result<bool, Away> {
        let Some(buffer) = self.buffer else { return Ok(false) };
        let here = kit.reactor.pool().whole(buffer).part(self.parsed, self.filled - self.parsed);
        let bytes = kit.reactor.pool().bytes(here);
        let Some(fixed) = bytes.first_chunk::<FRAME_HEADER_BYTES>() else {
            self.frame_bytes = 0;
            return Ok(false);
        };
        let header = FrameHeader::parse(fixed, quantum).map_err(garbage)?;
        self.frame_bytes = header.header_bytes + header.payload_bytes;
        if self.frame_bytes > FRAME_BYTES_MAX {
            let told = format!("a frame of {} bytes is longer than allowed", self.frame_bytes);
            return Err(Away::Garbage { told });
        }
        if here.length < self.frame_bytes {
            return Ok(false);
        }
        let part = &bytes[..header.header_bytes as usize];
        let frame = FrameReader::new(part, quantum).map_err(garbage)?;
        let mut frame = frame.with_leases(std::mem::take(requests));
        for message in &mut frame {
            self.messages.push_back(message.map_err(garbage)?);
        }
        let unused = frame.into_leases();
        if unused.capacity() > 0 {
            *requests = unused;
        }
        self.payloads = Some(here.part(header.header_bytes, header.payload_bytes));
        self.parsed += self.frame_bytes;
        self.last_bytes = self.frame_bytes;
        self.frame_bytes = 0;
        Ok(true)
    }
}

impl Links {
    pub(super) fn start_receive(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.receiver.is_receiving || connection.receiver.is_paused {
            return;
        }
        if connection.tls.is_some() && connection.stage != Stage::Refused {
            match self.receive_sealed(key, kit) {
                Ok(Opened::All) => {}
                Ok(Opened::Waits) => return,
                Err(reason) => return self.refuse_connection(key, reason, kit),
            }
        }
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some(socket) = connection.socket else { return };
        let receiver = &mut connection.receiver;
        let room = match &mut connection.tls {
            Some(tls) => {
                let pool = kit.reactor.pool();
                tls.room(|held| {
                    let buffer = held.or_else(|| pool.take(Class::Large))?;
                    Some(pool.whole(buffer))
                })
            }
            None => receiver.make_room(kit.reactor.pool()).then(|| receiver.room(kit)),
        };
        let Some(room) = room else {
            self.starved = true;
            return;
        };
        receiver.is_receiving = true;
        kit.reactor.recv(socket, room, Self::token(key));
    }

    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// Goes on with connections that found no free buffer.
    pub(crate) fn retry_starved(&mut self, kit: &mut Kit) {
        if !std::mem::take(&mut self.starved) {
            return;
        }
        for index in 0..self.connections.end() {
            let Some(key) = self.connections.key_at(index) else { continue };
            let stage = self.connections.get(key).map(|connection| connection.stage);
            if stage != Some(Stage::Connecting) {
                self.start_receive(key, kit);
            }
        }
    }

    pub(crate) fn on_received(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.receiver.is_receiving = false;
        if matches!(result, Ok(0) | Err(_))
            && let Some(reason) = self.lost_large(key, kit)
        {
            return self.close_connection(key, &reason, kit);
        }
        let Some(connection) = self.connections.get_mut(key) else { return };
        let outcome = match result {
            Ok(0) => Err(Away::closed_at(connection.stage)),
            Err(error) => Err(Away::Lost { error: (&error).into() }),
            Ok(length) => {
                if let Some(index) = connection.link {
                    let link = &mut self.links[index];
                    match connection.class {
                        LinkClass::Watch => link.note_heard(key, kit.now),
                        LinkClass::Data | LinkClass::Bulk => {
                            link.pipe_mut(connection.shard).heart.heard_at = kit.now;
                        }
                    }
                }
                match &mut connection.tls {
                    // What a peer says that was refused is not looked at.
                    Some(tls) if connection.stage == Stage::Refused => tls.forget(),
                    Some(tls) => tls.on_bytes(length),
                    None => connection.receiver.filled += length,
                }
                if connection.tls.is_some() { Ok(()) } else { self.take_clear(key, kit) }
            }
        };
        self.go_on(key, outcome, kit);
    }

    fn take_clear(&mut self, key: Key, kit: &mut Kit) -> Result<(), Away> {
        if self.begins_with_tls(key, kit) {
            return self.accept_tls(key, kit);
        }
        self.take_frames(key, kit)
    }

    fn go_on(&mut self, key: Key, outcome: Result<(), Away>, kit: &mut Kit) {
        match outcome {
            Ok(()) => self.start_receive(key, kit),
            Err(reason) => self.close_connection(key, &reason, kit),
        }
    }

    /// Goes on with a connection that waited for word from another shard.
    pub(super) fn resume(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if std::mem::take(&mut connection.receiver.is_paused) {
            let outcome = self.take_frames(key, kit);
            self.go_on(key, outcome, kit);
        }
    }

    pub(super) fn take_frames(&mut self, key: Key, kit: &mut Kit) -> Result<(), Away> {
        loop {
            let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
            let (receiver, quantum) = (&mut connection.receiver, connection.quanta.arriving);
            let Some(received) = receiver.messages.pop_front() else {
                let requests = &mut self.spare_requests;
                if receiver.next_frame(quantum, requests, kit)? {
                    continue;
                }
                return Ok(());
            };
            if let Some(received) = self.take_message(key, received, kit)? {
                if let Some(connection) = self.connections.get_mut(key) {
                    connection.receiver.messages.push_front(received);
                    connection.receiver.is_paused = true;
                }
                return Ok(());
            }
        }
    }

    /// Takes a message, or gives it back if it has to wait.
    fn take_message(
        &mut self,
        key: Key,
        received: Received,
        kit: &mut Kit,
    ) -> Result<Option<Received>, Away> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(None) };
        let (link, shard) = (connection.link, connection.shard);
        if connection.class == LinkClass::Watch && connection.stage == Stage::Up {
            return self.take_beat(received.message).map(|()| None);
        }
        match (connection.stage, received.message) {
            (Stage::AwaitHello, Message::Link(LinkMessage::Hello(hello))) => {
                self.on_hello(key, &hello, kit)?;
            }
            (Stage::AwaitWelcome, Message::Link(LinkMessage::Welcome(hello))) => {
                self.on_welcome(key, &hello, kit)?;
            }
            (Stage::Probing, Message::Link(LinkMessage::Probe(probe))) => {
                self.on_probe(key, &probe, kit)?;
            }
            (Stage::Probing, Message::Link(LinkMessage::Probed { padding_bytes })) => {
                self.on_probed(key, padding_bytes, kit)?;
            }
            (Stage::Up, Message::Link(message)) => {
                let link = link.expect("a connection that is up has a link");
                self.on_link_message(Way { link, shard }, message, kit.now)?;
            }
            (Stage::Up, Message::Resource(message)) => {
                let area = connection.receiver.payloads;
                let index = link.expect("a connection that is up has a link");
                let (hosted, from) = match self.meant_by(index, received.handle) {
                    Meant::Member(hosted, from) => (hosted, from),
                    Meant::Gone => return Ok(None),
                    Meant::Unsettled => {
                        let message = Message::Resource(message);
                        return Ok(Some(Received { message, ..received }));
                    }
                };
                let payload = match received.payload {
                    None => None,
                    Some(place) => {
                        let area = area.expect("the frame of a message was taken in");
                        let slice = area.part(place.offset_bytes, place.length_bytes);
                        Some(self.take_payload(key, slice, place.crc, kit)?)
                    }
                };
                self.facts.push_back(Fact::Message { hosted, from, message, payload });
            }
            (stage, _) => {
                let told = format!("it sent a message out of turn ({stage:?})");
                return Err(Away::OutOfTurn { told });
            }
        }
        Ok(None)
    }

    fn take_payload(
        &mut self,
        key: Key,
        slice: Slice,
        crc: u32,
        kit: &mut Kit,
    ) -> Result<Payload, Away> {
        let computed = crc32c(kit.reactor.pool().bytes(slice));
        if computed != crc {
            return Err(Away::Checksum { length_bytes: slice.length, computed, wanted: crc });
        }
        kit.reactor.pool().retain(slice.buffer);
        let payload = kit.payloads.adopt(slice);
        kit.payloads.set_checksum(payload, crc);
        if let Some(connection) = self.connections.get_mut(key) {
            connection.receiver.is_lent = true;
        }
        Ok(payload)
    }

    fn on_link_message(&mut self, way: Way, message: LinkMessage, now: Time) -> Result<(), Away> {
        match message {
            LinkMessage::Hello(_) | LinkMessage::Welcome(_) => {
                return Err(Away::out_of_turn("it greeted twice"));
            }
            LinkMessage::Probe(_) | LinkMessage::Probed { .. } => {
                let told = "it sent a probe over a connection that counts already";
                return Err(Away::out_of_turn(told));
            }
            LinkMessage::Open(open) => self.on_open(way, &open, now),
            LinkMessage::Close { handle, reason } => {
                self.on_close(way.link, handle, reason, now);
            }
            LinkMessage::DiskFailed(failed) => self.on_disk_failed(way.link, failed),
            LinkMessage::Heartbeat(heartbeat) => {
                self.facts.push_back(Fact::Heartbeat { way, heartbeat });
            }
            LinkMessage::HeartbeatAck(ack) => self.on_heartbeat_ack(way, &ack),
            LinkMessage::Challenge { challenge } => self.on_challenge(way, challenge)?,
            LinkMessage::Proof(proof) => self.on_proof(way, proof),
        }
        Ok(())
    }
}

fn garbage(error: impl std::fmt::Display) -> Away {
    Away::Garbage { told: error.to_string() }
}

#[cfg(test)]
mod tests {
    use io::PoolOptions;

    use super::*;

    /// What the buffer is like after a frame of so many bytes that was lent out.
    fn take_frame(receiver: &mut Receiver, bytes: u32) {
        receiver.filled += bytes;
        receiver.parsed += bytes;
        receiver.last_bytes = bytes;
        receiver.is_lent = true;
    }

    #[test]
    fn frame_like_the_last_is_received_where_it_fits_whole() {
        let mut pool = Pool::new(PoolOptions::default()).unwrap();
        let mut receiver = Receiver::default();
        assert!(receiver.make_room(&mut pool));
        let first = receiver.buffer.unwrap();
        take_frame(&mut receiver, 100 << 10);
        assert!(receiver.make_room(&mut pool));
        assert_eq!(receiver.buffer, Some(first), "there is room for another one");
        take_frame(&mut receiver, 100 << 10);
        assert!(receiver.make_room(&mut pool));
        assert_ne!(receiver.buffer, Some(first), "60 KiB would be moved when the rest comes");
        assert_eq!((receiver.parsed, receiver.filled), (0, 0));
    }

    #[test]
    fn rest_of_a_frame_stays_with_its_beginning() {
        let mut pool = Pool::new(PoolOptions::default()).unwrap();
        let mut receiver = Receiver::default();
        assert!(receiver.make_room(&mut pool));
        let first = receiver.buffer.unwrap();
        take_frame(&mut receiver, 200 << 10);
        // The beginning of the next frame, which fits, has come with it.
        receiver.filled += 8 << 10;
        receiver.frame_bytes = 40 << 10;
        assert!(receiver.make_room(&mut pool));
        assert_eq!(receiver.buffer, Some(first));
    }
}
