//! One client session: its stage, its stream and what it has in flight.

use frontend::nbd::handshake::{Agreement, Handshake};
use frontend::nbd::reply::ReplyEncoder;
use frontend::nbd::transmission::Transmission;
use io::{Slice, SocketId};
use stdx::time::Time;

use crate::links::HostedId;
use crate::nbd::outbox::Outbox;
use crate::payloads::Kit;
use crate::slab::Key;
use crate::stream::Stream;

/// A rest of a payload of at least this is received where it is to lie; less than this comes with
/// what follows it, and is copied.
const DIRECT_BYTES_MIN: u32 = 16 << 10;
/// With less room than this the rest of a request moves to the front of the buffer.
const ROOM_BYTES_LEAST: u32 = 16 << 10;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: SocketId,
    pub(super) stage: Stage,
    pub(super) hosted: Option<HostedId>,
    pub(super) outbox: Outbox,
    /// Once it is served.
    pub(super) replies: Option<ReplyEncoder>,
    /// Requests that are not answered, and the bytes they hold.
    pub(super) requests: usize,
    pub(super) bytes: usize,
    pub(super) is_dirty: bool,
    stream: Stream,
    receiving: Receiving,
}

#[derive(Debug)]
pub(super) enum Stage {
    Handshake {
        machine: Box<Handshake>,
        deadline: Time,
    },
    /// An export is chosen; `output` says so, once the resource is Primary.
    Waiting {
        agreement: Box<Agreement>,
        output: Vec<u8>,
        deadline: Time,
    },
    Serving {
        machine: Transmission,
        agreement: Box<Agreement>,
        write: Option<Write>,
    },
    /// Nothing more is taken; what is in flight is answered, then the connection closed.
    Leaving,
}

/// A write whose payload is still arriving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) request: Key,
    /// The part that is being filled.
    pub(super) part: u16,
    pub(super) payload: Option<Filling>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    pub(super) slice: Slice,
    pub(super) filled: u32,
}

/// Where the receive that is on its way puts its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Receiving {
    #[default]
    Nothing,
    Stream,
    /// Straight into the part that is being filled.
    Payload,
}

impl Client {
    pub(super) fn new(socket: SocketId, stage: Stage) -> Self {
        Self {
            socket,
            stage,
            hosted: None,
            outbox: Outbox::default(),
            replies: None,
            requests: 0,
            bytes: 0,
            is_dirty: false,
            stream: Stream::default(),
            receiving: Receiving::default(),
        }
    }

    pub(super) fn is_served(&self) -> bool {
        matches!(self.stage, Stage::Serving { .. } | Stage::Leaving)
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Leaving) && self.requests == 0 && self.outbox.is_empty()
    }

    pub(super) fn export_name(&self) -> &str {
        match &self.stage {
            Stage::Waiting { agreement, .. } | Stage::Serving { agreement, .. } => {
                &agreement.export.name
            }
            Stage::Handshake { .. } | Stage::Leaving => "",
        }
    }

    /// The bytes that wait to be taken.
    pub(super) fn available(&self, kit: &mut Kit) -> Option<Slice> {
        self.stream.available(kit)
    }

    pub(super) fn take(&mut self, length: u32) {
        self.stream.take(length);
    }

    /// Bytes arrived where the last receive was to put them.
    pub(super) fn on_bytes(&mut self, length: u32) {
        match std::mem::take(&mut self.receiving) {
            Receiving::Nothing => {}
            Receiving::Stream => self.stream.on_bytes(length),
            Receiving::Payload => {
                if let Stage::Serving { machine, write: Some(write), .. } = &mut self.stage
                    && let Some(filling) = &mut write.payload
                {
                    filling.filled += length;
                    machine.advance_payload(length.into());
                }
            }
        }
    }

    /// Asks for more bytes, unless some are on their way; false while no buffer is free.
    pub(super) fn receive(&mut self, token: u64, kit: &mut Kit) -> bool {
        if self.receiving != Receiving::Nothing
            || matches!(self.stage, Stage::Waiting { .. } | Stage::Leaving)
        {
            return true;
        }
        let is_empty = self.stream.is_empty();
        if let Stage::Serving { write: Some(Write { payload: Some(filling), .. }), .. } =
            &self.stage
        {
            let rest = filling.slice.length - filling.filled;
            if is_empty && rest >= DIRECT_BYTES_MIN {
                let room = filling.slice.part(filling.filled, rest);
                self.receiving = Receiving::Payload;
                kit.reactor.recv(self.socket, room, token);
                return true;
            }
        }
        let Some(room) = self.stream.room(ROOM_BYTES_LEAST, kit) else { return false };
        if room.length > 0 {
            self.receiving = Receiving::Stream;
            kit.reactor.recv(self.socket, room, token);
        }
        true
    }

    pub(super) fn dispose(&mut self, kit: &mut Kit) {
        self.outbox.dispose(kit);
        if let Stage::Serving { write: Some(Write { payload: Some(filling), .. }), .. } =
            &self.stage
        {
            kit.reactor.pool().release(filling.slice.buffer);
        }
        self.stream.dispose(kit);
    }
}
