//! One client session: its stage, its stream and what it has in flight.

use std::collections::VecDeque;

use format::space::Place;
use frontend::nbd::handshake::{Agreement, Handshake};
use frontend::nbd::reply::ReplyEncoder;
use frontend::nbd::transmission::Transmission;
use io::{Slice, SocketId};
use stdx::time::Time;

use crate::clients::outbox::Outbox;
use crate::clients::stream::{Stream, Width};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::Key;
use crate::tls::grants::Grant;
use crate::tls::{Session, TlsError};

/// A rest of a payload of at least this, or of a whole buffer of the stream, is received where it
/// is to lie; less than this comes with what follows it, and is copied.
const DIRECT_BYTES_MIN: u32 = 16 << 10;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: SocketId,
    pub(super) stage: Stage,
    pub(super) hosted: Option<HostedId>,
    /// The volume of it that was chosen.
    pub(super) place: Place,
    pub(super) outbox: Outbox,
    /// Reads whose reply may begin when the open one is whole.
    pub(super) next_replies: VecDeque<Key>,
    /// Requests that go on when there is room for more of them.
    pub(super) paused: VecDeque<Key>,
    pub(super) tls: Option<Box<Session>>,
    /// What a client with a certificate may use; the others may use everything.
    pub(super) grants: Option<Vec<Grant>>,
    /// Once it is served.
    pub(super) replies: Option<ReplyEncoder>,
    /// Requests that are not answered, and the bytes of buffers they may hold at a time.
    pub(super) requests: usize,
    pub(super) bytes: usize,
    /// Those of the parts that the core has, or that are arriving.
    pub(super) held: usize,
    /// Of these, those that are read; and those that were read and wait for their place in a reply.
    pub(super) reading: usize,
    pub(super) set_aside: usize,
    pub(super) is_dirty: bool,
    /// It is one too many: it is told so when it chooses an export. Set when it comes, and for
    /// good.
    pub(super) is_surplus: bool,
    pub(super) stream: Stream,
    /// Of what comes sealed, before it is opened into the stream.
    sealed: Width,
    receiving: Receiving,
}

#[derive(Debug)]
pub(super) enum Stage {
    Handshake {
        machine: Box<Handshake>,
        deadline: Time,
    },
    /// TLS was agreed on; it begins once that answer is sent, and goes on until the client has
    /// shown its certificate.
    Securing {
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
    /// Nothing more is taken; what is in flight is answered, then the connection closed. See
    /// `Nbd::leave`.
    Leaving {
        deadline: Time,
    },
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
    pub(super) since: Time,
}

/// Where the receive that is on its way puts its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Receiving {
    #[default]
    Nothing,
    Stream,
    /// Straight into the part that is being filled.
    Payload,
    /// To be opened first.
    Sealed,
}

impl Client {
    pub(super) fn new(socket: SocketId, stage: Stage) -> Self {
        Self {
            socket,
            stage,
            hosted: None,
            place: Place::FIRST,
            outbox: Outbox::default(),
            next_replies: VecDeque::new(),
            paused: VecDeque::new(),
            tls: None,
            grants: None,
            replies: None,
            requests: 0,
            bytes: 0,
            held: 0,
            reading: 0,
            set_aside: 0,
            is_dirty: false,
            is_surplus: false,
            stream: Stream::default(),
            sealed: Width::default(),
            receiving: Receiving::default(),
        }
    }

    /// Its stage, for the caller to put another one in its place.
    pub(super) fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Leaving { deadline: Time::NEVER })
    }

    pub(super) fn is_served(&self) -> bool {
        matches!(self.stage, Stage::Serving { .. } | Stage::Leaving { .. })
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Leaving { .. }) && self.requests == 0 && !self.has_to_send()
    }

    pub(super) fn export_name(&self) -> &str {
        match &self.stage {
            Stage::Waiting { agreement, .. } | Stage::Serving { agreement, .. } => {
                &agreement.export.name
            }
            Stage::Handshake { .. } | Stage::Securing { .. } | Stage::Leaving { .. } => "",
        }
    }

    /// The request waits for room.
    pub(super) fn pause(&mut self, request: Key) {
        if !self.paused.contains(&request) {
            self.paused.push_back(request);
        }
    }

    /// The part of a write that is arriving; one that is here and waits for others is not.
    pub(super) fn arriving(&self) -> Option<&Filling> {
        match &self.stage {
            Stage::Serving { write: Some(write), .. } => {
                write.payload.as_ref().filter(|it| it.filled < it.slice.length)
            }
            Stage::Serving { .. }
            | Stage::Handshake { .. }
            | Stage::Securing { .. }
            | Stage::Waiting { .. }
            | Stage::Leaving { .. } => None,
        }
    }

    /// Bytes of the buffers for what it asked to read and has not taken.
    pub(super) fn replies(&self) -> usize {
        self.reading + self.set_aside + self.outbox.unsent().all_data()
    }

    /// The bytes that wait to be taken.
    pub(super) fn available(&self) -> Option<Slice> {
        self.stream.available()
    }

    pub(super) fn take(&mut self, length: u32) {
        self.stream.take(length);
    }

    pub(super) fn has_to_send(&self) -> bool {
        !self.outbox.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_send())
    }

    /// There is something to send by TLS, and nothing on its way whose end would say so.
    pub(super) fn has_to_seal(&self) -> bool {
        self.tls.is_some() && self.has_to_send() && !self.outbox.is_sending()
    }

    /// All that came is taken, and more is on its way: only its arrival has the client go on.
    pub(super) fn is_up_to_date(&self) -> bool {
        let is_between = matches!(self.stage, Stage::Serving { write: None, .. });
        is_between
            && self.receiving == Receiving::Stream
            && self.tls.is_none()
            && self.stream.is_empty()
    }

    pub(super) fn submit(&mut self, token: u64, kit: &mut Kit) -> Result<(), TlsError> {
        match &mut self.tls {
            None => self.outbox.submit(self.socket, token, kit),
            Some(tls) => self.outbox.submit_sealed(self.socket, token, tls, kit)?,
        }
        Ok(())
    }

    /// The answer to STARTTLS is sent: what came after it, and all from now on, is TLS.
    pub(super) fn begin_tls(&mut self, mut tls: Session) {
        if let Some(rest) = self.stream.give_up() {
            tls.take_over(rest.buffer, rest.offset, rest.offset + rest.length);
        }
        self.tls = Some(Box::new(tls));
    }

    /// Opens what came to where it is to lie; false if nothing comes of it now.
    pub(super) fn open(&mut self, kit: &mut Kit) -> Result<bool, TlsError> {
        if self.tls.is_none() || !self.takes_bytes() {
            return Ok(false);
        }
        let Some((kind, room)) = self.place(kit) else { return Ok(false) };
        let Some(tls) = &mut self.tls else { return Ok(false) };
        let was_handshaking = tls.is_handshaking();
        let count = tls.read(room, kit.reactor.pool())?;
        let is_changed = count > 0 || was_handshaking != tls.is_handshaking();
        self.on_arrival(kind, count);
        Ok(is_changed)
    }

    /// The kernel brought bytes.
    pub(super) fn on_bytes(&mut self, length: u32) {
        let kind = std::mem::take(&mut self.receiving);
        match &mut self.tls {
            Some(tls) => {
                self.sealed.on_bytes(length, self.sealed.class().size_bytes());
                tls.on_bytes(length);
            }
            None => self.on_arrival(kind, length),
        }
    }

    /// Bytes arrived where they were to lie.
    fn on_arrival(&mut self, kind: Receiving, length: u32) {
        match kind {
            Receiving::Nothing | Receiving::Sealed => {}
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
        if self.receiving != Receiving::Nothing || !self.takes_bytes() {
            return true;
        }
        let place = match &mut self.tls {
            // Its bytes wait for a place of their own.
            Some(tls) if !tls.is_drained() => return self.place(kit).is_some(),
            Some(tls) => {
                let room = tls.room(|held| self.sealed.renew(held, kit));
                room.map(|room| (Receiving::Sealed, room))
            }
            None => self.place(kit),
        };
        let Some((kind, room)) = place else { return false };
        if room.length > 0 {
            self.receiving = kind;
            kit.reactor.recv(self.socket, room, token);
        }
        true
    }

    fn takes_bytes(&self) -> bool {
        match self.stage {
            Stage::Handshake { .. } | Stage::Serving { .. } => true,
            Stage::Securing { .. } => self.tls.is_some(),
            Stage::Waiting { .. } | Stage::Leaving { .. } => false,
        }
    }

    /// Where the next bytes of the client are to lie; none while no buffer is free.
    fn place(&mut self, kit: &mut Kit) -> Option<(Receiving, Slice)> {
        let is_empty = self.stream.is_empty();
        if let Stage::Serving { write: Some(Write { payload: Some(filling), .. }), .. } =
            &self.stage
        {
            let rest = filling.slice.length - filling.filled;
            if is_empty && rest >= DIRECT_BYTES_MIN.min(self.stream.size_bytes()) {
                return Some((Receiving::Payload, filling.slice.part(filling.filled, rest)));
            }
        }
        let room = self.stream.room(kit)?;
        Some((Receiving::Stream, room))
    }

    pub(super) fn dispose(&mut self, kit: &mut Kit) {
        self.outbox.dispose(kit);
        if let Some(tls) = &mut self.tls {
            tls.dispose(kit.reactor.pool());
        }
        if let Stage::Serving { write: Some(Write { payload: Some(filling), .. }), .. } =
            &self.stage
        {
            kit.reactor.pool().release(filling.slice.buffer);
        }
        self.stream.dispose(kit);
        self.sealed.dispose(kit);
    }
}
