//! One connection, which is one queue: its stage, its stream and what it has in flight.

use frontend::nvme::auth::Exchange;
use frontend::nvme::connect::Connect;
use frontend::nvme::receive::Receiver;
use frontend::nvme::send::{Completion, DataEnd, Encoder, PDU_BYTES_MAX, Stretch};
use frontend::nvme::transfers::Transfers;
use io::{Slice, SocketId};
use stdx::time::Time;

use crate::clients::outbox::Outbox;
use crate::clients::stream::{Need, Stream};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{CLIENT_GOODBYE_DEADLINE, CLIENT_HEAD_BYTES_MAX, NVME_CONNECT_DEADLINE};
use crate::slab::Key;

/// A rest of a part of at least this is received where it is to lie; less than this comes with
/// what follows it, and is copied.
const DIRECT_BYTES_MIN: u32 = 16 << 10;
/// Data of admin commands leaves in pieces of this size.
const ADMIN_PIECE: usize = 4096;

#[derive(Debug)]
pub(super) struct Queue {
    pub(super) socket: SocketId,
    pub(super) stage: Stage,
    pub(super) receiver: Receiver,
    /// Since the greeting.
    pub(super) encoder: Option<Encoder>,
    pub(super) outbox: Outbox,
    pub(super) stream: Stream,
    pub(super) is_dirty: bool,
    /// It is one too many: it is told so when it connects. Set when it comes, and for good.
    pub(super) is_surplus: bool,
    /// It has to be part of a controller by then, to have proved itself, or to be gone.
    pub(super) deadline: Time,
    pub(super) proving: Option<Box<Proving>>,
    number: u16,
    entries: u16,
    /// How far the initiator's entries were taken.
    head: u16,
    receiving: Receiving,
}

/// What a queue has to prove.
#[derive(Debug)]
pub(super) struct Proving {
    pub(super) exchange: Exchange,
    pub(super) host: String,
    pub(super) resource: String,
    /// The command that is answered when its work is done.
    pub(super) waiting: Option<u16>,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// Before its Connect.
    Greeting,
    Admin {
        controller: Key,
    },
    Io(IoQueue),
    /// Nothing more is taken; what is to be said is said, then the connection closed.
    Leaving,
}

#[derive(Debug)]
pub(super) struct IoQueue {
    pub(super) controller: Key,
    pub(super) hosted: HostedId,
    pub(super) admission: Admission,
    pub(super) transfers: Transfers<Key>,
    pub(super) filling: Option<Filling>,
    /// Commands that are not answered.
    pub(super) requests: usize,
    /// The initiator takes the last data of a read for its success.
    pub(super) last_data: DataEnd,
}

/// Whether this node serves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It has not asked for anything.
    Idle,
    /// Its first command waits for this node to be Primary.
    Waiting,
    Admitted,
}

/// A PDU with data of a long write that is arriving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    pub(super) request: Key,
    pub(super) tag: u16,
    /// Where the next byte goes: the rest of a part.
    pub(super) room: Option<Slice>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Receiving {
    #[default]
    Nothing,
    Stream,
    /// Straight to where it is to lie.
    Payload(Slice),
}

impl Queue {
    pub(super) fn new(socket: SocketId, now: Time) -> Self {
        Self {
            socket,
            stage: Stage::Greeting,
            receiver: Receiver::default(),
            encoder: None,
            outbox: Outbox::default(),
            // Commands have to lie in one piece, with the data that comes with them.
            stream: Stream::of(Need::Must),
            is_dirty: false,
            is_surplus: false,
            deadline: now + NVME_CONNECT_DEADLINE,
            proving: None,
            number: 0,
            entries: u16::MAX,
            head: 0,
            receiving: Receiving::Nothing,
        }
    }

    pub(super) fn connect(&mut self, connect: &Connect) {
        self.number = connect.queue;
        self.entries = connect.entries;
        // The Connect itself was the first entry.
        self.head = 1;
        self.deadline = Time::NEVER;
    }

    /// Nothing more is taken. Gives what it was before.
    pub(super) fn begin_goodbye(&mut self, now: Time) -> Stage {
        self.deadline = now + CLIENT_GOODBYE_DEADLINE;
        std::mem::replace(&mut self.stage, Stage::Leaving)
    }

    /// The controller that ends with this connection, unless the initiator closes it.
    pub(super) fn ends_with_it(&self) -> Option<Key> {
        match &self.stage {
            Stage::Admin { controller } => Some(*controller),
            // Anybody can name a controller.
            Stage::Io(it) => (!self.is_locked()).then_some(it.controller),
            Stage::Greeting | Stage::Leaving => None,
        }
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn entries(&self) -> usize {
        self.entries.into()
    }

    /// A command was taken out of the stream.
    pub(super) fn take_command(&mut self, length: usize) {
        self.take(length);
        self.head = (self.head + 1) % self.entries;
    }

    pub(super) fn take(&mut self, length: usize) {
        self.stream.take(u32::try_from(length).expect("not more than was given"));
    }

    /// Queues the end of a command; false while no buffer is free.
    pub(super) fn complete(&mut self, end: &Completion, kit: &mut Kit) -> bool {
        let (number, head) = (self.number, self.head);
        self.say(kit, |encoder, out| encoder.completion(end, number, head, out))
    }

    /// Queues a PDU without data; false while no buffer is free.
    pub(super) fn say(
        &mut self,
        kit: &mut Kit,
        write: impl FnOnce(&Encoder, &mut [u8]) -> usize,
    ) -> bool {
        let Some(encoder) = &self.encoder else { return true };
        self.outbox.head(PDU_BYTES_MAX, kit, |out| write(encoder, out)).is_some()
    }

    /// Queues the data of an admin command; false while no buffer is free.
    pub(super) fn give(&mut self, command: u16, data: &[u8], kit: &mut Kit) -> bool {
        let Some(encoder) = &self.encoder else { return true };
        let count = data.len().div_ceil(ADMIN_PIECE);
        data.chunks(ADMIN_PIECE).enumerate().all(|(index, piece)| {
            let number = |value: usize| u32::try_from(value).expect("within the bound of a log");
            let length = number(piece.len());
            let stretch = Stretch { command, offset: number(index * ADMIN_PIECE), length };
            let end = if index + 1 == count { DataEnd::Last } else { DataEnd::More };
            let write = |out: &mut [u8]| {
                let start = encoder.data_head(stretch, end, out);
                let digest = start + piece.len();
                out[start..digest].copy_from_slice(piece);
                digest + encoder.data_digest(piece, &mut out[digest..])
            };
            self.outbox.head(PDU_BYTES_MAX + length, kit, write).is_some()
        })
    }

    /// Queues a stretch of what a read gave.
    pub(super) fn give_part(
        &mut self,
        stretch: Stretch,
        end: DataEnd,
        (payload, slice): (replication::contract::Payload, Slice),
        kit: &mut Kit,
    ) -> bool {
        let Some(encoder) = self.encoder else {
            kit.release(payload);
            return false;
        };
        let write = |out: &mut [u8]| encoder.data_head(stretch, end, out);
        if self.outbox.head(PDU_BYTES_MAX, kit, write).is_none() {
            kit.release(payload);
            return false;
        }
        kit.keep(payload);
        self.outbox.data(payload, slice, kit);
        if !encoder.has_data_digest() {
            return true;
        }
        let mut digest = [0; 4];
        encoder.data_digest(kit.reactor.pool_ref().bytes(slice), &mut digest);
        let write = |out: &mut [u8]| {
            out[..4].copy_from_slice(&digest);
            4
        };
        self.outbox.head(PDU_BYTES_MAX, kit, write).is_some()
    }

    /// It takes commands: not while it waits for a proof, nor while its answers are not read.
    pub(super) fn is_listening(&self) -> bool {
        !self.is_proving() && self.outbox.unsent().heads < CLIENT_HEAD_BYTES_MAX
    }

    /// Bytes arrived where the last receive was to put them.
    pub(super) fn on_bytes(&mut self, length: u32, kit: &mut Kit) {
        match std::mem::take(&mut self.receiving) {
            Receiving::Nothing => {}
            Receiving::Stream => self.stream.on_bytes(length),
            Receiving::Payload(place) => {
                let bytes = kit.reactor.pool_ref().bytes(place.part(0, length));
                self.receiver.advance(bytes);
                if let Stage::Io(IoQueue { filling: Some(filling), .. }) = &mut self.stage {
                    filling.room = filling.room.map(|room| room.part(length, room.length - length));
                }
            }
        }
    }

    /// Asks for more bytes, unless some are on their way; false while no buffer is free.
    pub(super) fn receive(&mut self, token: u64, kit: &mut Kit) -> bool {
        if self.receiving != Receiving::Nothing || matches!(self.stage, Stage::Leaving) {
            return true;
        }
        if let Stage::Io(IoQueue { filling: Some(Filling { room: Some(room), .. }), .. }) =
            &self.stage
            && self.stream.is_empty()
        {
            let length = room.length.min(self.receiver.payload_left());
            if length >= DIRECT_BYTES_MIN {
                let place = room.part(0, length);
                self.receiving = Receiving::Payload(place);
                kit.reactor.recv(self.socket, place, token);
                return true;
            }
        }
        let Some(room) = self.stream.room(kit) else { return false };
        if room.length > 0 {
            self.receiving = Receiving::Stream;
            kit.reactor.recv(self.socket, room, token);
        }
        true
    }

    pub(super) fn dispose(&mut self, kit: &mut Kit) {
        self.outbox.dispose(kit);
        self.stream.dispose(kit);
    }
}
