//! The way out: what waits for a peer leaves as one frame, in one send per turn.

use std::io as stdio;

use format::error::EncodeError;
use format::frame::{FrameWriter, Message};
use format::message::{FEATURE_QUESTIONS, LinkMessage, ResourceMessage};
use io::{Class, Slice};
use replication::contract::Payload;
use stdx::checksum::crc32c;

use crate::kit::Kit;
use crate::limits::{FRAME_BYTES_MAX, FRAME_PAYLOAD_MAX, FRAME_SEGMENTS_MAX, LINK_QUEUE_MAX};
use crate::links::active::Route;
use crate::links::away::Away;
use crate::links::connection::{Connection, Sending};
use crate::links::stage::Stage;
use crate::links::{Link, Links, Pipe, Queued};
use crate::log::{Scope, log};
use crate::slab::Key;

impl Links {
    /// Queues a message of a resource; the queue takes a reference of its own to the payload.
    pub(crate) fn send(
        &mut self,
        route: Route,
        message: ResourceMessage,
        payload: Option<Payload>,
        kit: &mut Kit,
    ) {
        let Some(pipe) = self.links[route.way.link].pipes.get_mut(usize::from(route.way.shard))
        else {
            return;
        };
        // The core hears of the loss.
        let Some(key) = pipe.connection else { return };
        if let ResourceMessage::Control(control) = &message
            && let needed = control.needed_features()
            && self.connections.get(key).is_none_or(|it| needed & !it.features != 0)
        {
            // A peer that does not know of it does without.
            return;
        }
        let payload = payload.map(|payload| {
            (payload, kit.payloads.retain_for_message(payload, kit.reactor.pool(), crc32c))
        });
        let message = Message::Resource(message);
        pipe.queue.push_back(Queued { handle: route.handle, message, payload });
    }

    /// The one send of this turn for each link that has something to say and is not saying it yet.
    pub(crate) fn flush(&mut self, kit: &mut Kit) {
        for index in 0..self.links.len() {
            for place in 0..self.links[index].pipes.len() {
                self.flush_pipe(index, place, kit);
            }
        }
    }

    fn flush_pipe(&mut self, index: usize, place: usize, kit: &mut Kit) {
        let Link { name, pipes, .. } = &mut self.links[index];
        let pipe = &mut pipes[place];
        let Some(key) = pipe.connection else { return pipe.clear(kit) };
        // Before all else: a peer that reads nothing lets no send end.
        if pipe.queue.len() > LINK_QUEUE_MAX {
            let reason = Away::TooSlow { waiting: pipe.queue.len() };
            self.close_connection(key, &reason, kit);
            return;
        }
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.tls.as_ref().is_some_and(|tls| tls.wants_send()) {
            return self.send_sealed(key, kit);
        }
        if connection.stage == Stage::Probing {
            return self.go_on_with_probe(key, kit);
        }
        if pipe.queue.is_empty() || !connection.is_up() || connection.sending.busy {
            return;
        }
        pipe.sends += 1;
        pipe.fill_frame(name, connection, kit);
        self.submit(key, kit);
    }

    /// Sends a message of the handshake, before the link's queue is of use.
    pub(super) fn send_alone(&mut self, key: Key, message: &LinkMessage, kit: &mut Kit) {
        // Without a free buffer the handshake's deadline closes the connection.
        let room_bytes = Class::Small.size_bytes();
        self.send_in_room(key, message, room_bytes, kit);
    }

    /// Sends a message that a frame of so many bytes holds; `None` while no buffer is free.
    pub(super) fn send_in_room(
        &mut self,
        key: Key,
        message: &LinkMessage,
        room_bytes: u32,
        kit: &mut Kit,
    ) -> Option<()> {
        let connection = self.connections.get_mut(key)?;
        let frame = kit.reactor.pool().take_for(room_bytes)?;
        let (bytes, quantum) = (kit.reactor.pool().bytes_mut(frame), connection.quanta.leaving);
        let mut writer = FrameWriter::new(bytes, quantum);
        writer.push_link(message).expect("there is room for it");
        let (_, length) = writer.finish();
        connection.sending.add_frame(frame, length);
        self.submit(key, kit);
        Some(())
    }

    fn submit(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let Some(socket) = connection.socket else { return };
        if connection.sending.segments.is_empty() {
            return;
        }
        if let Some(tls) = &mut connection.tls {
            let pieces = connection.sending.segments.iter().copied();
            let sealed = tls.write(pieces, kit.reactor.pool());
            connection.sending.release(kit);
            return match sealed {
                Ok(()) => self.send_sealed(key, kit),
                Err(error) => self.close_connection(key, &error.into(), kit),
            };
        }
        connection.sending.busy = true;
        kit.reactor.send(socket, &connection.sending.segments, Self::token(key));
    }

    pub(crate) fn on_sent(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.sending.finish(kit);
        if let Err(error) = result {
            let reason = self.lost_large(key, kit);
            let reason = reason.unwrap_or_else(|| Away::CannotSend { error: (&error).into() });
            self.close_connection(key, &reason, kit);
        } else {
            self.send_sealed(key, kit);
            self.go_on_with_probe(key, kit);
        }
    }
}

impl Sending {
    fn add_frame(&mut self, frame: Slice, length: usize) {
        let length = u32::try_from(length).expect("a header part is at most 1 MiB");
        self.segments.push(frame.part(0, length));
        self.frames.push(frame);
    }
}

impl Pipe {
    /// Packs as much of the queue as one frame takes. Nothing is packed while no buffer is free.
    fn fill_frame(&mut self, peer: &str, connection: &mut Connection, kit: &mut Kit) {
        let (quantum, features) = (connection.quanta.leaving, connection.features);
        let sending = &mut connection.sending;
        let pool = kit.reactor.pool();
        for class in [Class::Medium, Class::Huge] {
            let Some(frame) = pool.take(class).map(|buffer| pool.whole(buffer)) else { return };
            let mut writer =
                FrameWriter::new(pool.bytes_mut(frame), quantum).within(FRAME_BYTES_MAX);
            if features & FEATURE_QUESTIONS == 0 {
                writer = writer.without_questions();
            }
            if let Some(length) = self.pack(peer, writer, sending) {
                sending.add_frame(frame, length);
                let slices = sending.payloads.iter().map(|payload| kit.payloads.slice(*payload));
                sending.segments.extend(slices);
                return;
            }
            pool.release(frame.buffer);
        }
    }

    /// The length of the header part, or `None` if not even the first message fits.
    fn pack(
        &mut self,
        peer: &str,
        mut writer: FrameWriter<&mut [u8]>,
        sending: &mut Sending,
    ) -> Option<usize> {
        while let Some(queued) = self.queue.front() {
            let payload = queued.payload.map(|(_, reference)| reference);
            let length = payload.map_or(0, |payload| payload.length_bytes);
            if !writer.is_empty() && writer.payload_bytes() + length > FRAME_PAYLOAD_MAX
                || sending.payloads.len() + 1 >= FRAME_SEGMENTS_MAX
            {
                break;
            }
            match writer.push(queued.handle, &queued.message, payload) {
                Ok(()) => {}
                Err(EncodeError::Full) => break,
                Err(error @ EncodeError::TooLong { .. }) => {
                    log!(Error, Scope::peer(peer), "a message was not sent: {error}");
                }
            }
            let queued = self.queue.pop_front().expect("the front was looked at");
            sending.payloads.extend(queued.payload.map(|(payload, _)| payload));
            if let Message::Link(LinkMessage::Heartbeat(heartbeat)) = queued.message {
                self.heart.spare_requests = heartbeat.leases;
            }
        }
        if writer.is_empty() { None } else { Some(writer.finish().1) }
    }
}

#[cfg(test)]
mod tests {
    use format::ids::{BlockMask, BlockRange, LaneIndex, NodeId, Nonce};
    use format::limits::PAYLOAD_BYTES_MAX;
    use format::message::{Data, DataBody, ReadStatus};

    use super::*;
    use crate::links::fixture::connected;

    /// A peer that says its heartbeats and reads nothing leaves a send outstanding for ever: what
    /// waited behind it had no bound.
    #[test]
    fn queue_behind_a_send_that_does_not_end_is_bounded() {
        let (mut kit, (mut links, key)) = (Kit::of_lone_shard(), connected());
        links.connections.get_mut(key).unwrap().sending.busy = true;
        let message = LinkMessage::Challenge { challenge: 1 };
        for _ in 0..LINK_QUEUE_MAX {
            links.links[0].push(0, message.clone());
        }
        links.flush(&mut kit);
        assert!(links.connections.get(key).is_some(), "so much may wait");
        links.links[0].push(0, message);
        links.flush(&mut kit);
        assert!(links.connections.get(key).is_none(), "it is too slow");
        assert!(links.links[0].pipes[0].queue.is_empty(), "what waited is given up");
    }

    fn queue(body: DataBody, payload: Option<Payload>, links: &mut Links, kit: &mut Kit) {
        let data = Data { nonce: Nonce::default(), volume: 0, body };
        let message = Message::Resource(ResourceMessage::Data(data));
        let payload = payload.map(|it| {
            // Nothing but the queue holds it.
            let reference = kit.payloads.retain_for_message(it, kit.reactor.pool(), |_| 0);
            kit.release(it);
            (it, reference)
        });
        links.links[0].pipe_mut(0).queue.push_back(Queued { handle: 1, message, payload });
    }

    /// Long lists and payloads that wait together went out as one frame, which no peer takes.
    #[test]
    fn frame_of_long_lists_is_not_longer_than_its_receiver_takes() {
        let (mut kit, (mut links, key)) = (Kit::of_lone_shard(), connected());
        let lane = LaneIndex::default();
        for number in 0..40 {
            if number % 20 < 14 {
                let (slot, ranges) = (NodeId::new(1).unwrap(), vec![BlockRange::new(0, 1); 6000]);
                let body = DataBody::SlotData { lane, slot, from: 0, ranges, next: None };
                queue(body, None, &mut links, &mut kit);
            } else {
                let slice = kit.reactor.pool().take_for(PAYLOAD_BYTES_MAX).unwrap();
                let payload = kit.payloads.adopt(slice);
                let (status, zeroes) = (ReadStatus::Ok, BlockMask::EMPTY);
                let length_bytes = PAYLOAD_BYTES_MAX;
                let body = DataBody::ReadDone { lane, id: 1, status, length_bytes, zeroes };
                queue(body, Some(payload), &mut links, &mut kit);
            }
        }
        let mut sent = 0;
        while !links.links[0].pipes[0].queue.is_empty() {
            let before = links.links[0].pipes[0].queue.len();
            links.flush(&mut kit);
            let sending = &mut links.connections.get_mut(key).unwrap().sending;
            let bytes: u32 = sending.segments.iter().map(|segment| segment.length).sum();
            assert!(bytes <= FRAME_BYTES_MAX, "a frame of {bytes} bytes");
            assert!(links.links[0].pipes[0].queue.len() < before, "it goes on");
            sent += sending.payloads.len();
            sending.finish(&mut kit);
        }
        assert_eq!(sent, 12, "all of them went out");
    }
}
