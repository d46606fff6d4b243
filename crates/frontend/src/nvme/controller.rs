//! A controller: what one initiator set up on this node, and its admin commands.
//!
//! Commands come one after the other and are answered at once, but for requests for events, which
//! wait for one. The daemon owns the clock: it counts how long an initiator was silent.

mod identify;
mod logs;
mod looks;

use crate::nvme::connect::Connect;
use crate::nvme::controller::looks::Looks;
use crate::nvme::limits::{
    ADMIN_DATA_BYTES_MAX, EVENT_REQUESTS_MAX, IO_QUEUES_MAX, KEEP_ALIVE_UNIT_MS, QUEUE_ENTRIES_MAX,
};
use crate::nvme::send::Completion;
use crate::nvme::status::Status;
use crate::nvme::view::{Subsystem, View};
use crate::nvme::wire::{
    ADMIN_ABORT, ADMIN_ASYNC_EVENT, ADMIN_GET_FEATURES, ADMIN_GET_LOG, ADMIN_IDENTIFY,
    ADMIN_KEEP_ALIVE, ADMIN_SET_FEATURES, DataPointer, FABRICS, FABRICS_PROPERTY_GET,
    FABRICS_PROPERTY_SET, FEATURE_EVENTS, FEATURE_HOST_ID, FEATURE_KEEP_ALIVE, FEATURE_QUEUES,
    FEATURE_VOLATILE_CACHE, LOG_ANA, LOG_CHANGED_NAMESPACES, LOG_DISCOVERY, PROPERTY_CAP,
    PROPERTY_CC, PROPERTY_CSTS, PROPERTY_VS, Sqe, VERSION,
};

const CC_ENABLE: u32 = 1;
const CC_SHUTDOWN: u32 = 3 << 14;
/// Entries of 64 and of 16 bytes, pages of 4 KiB, commands of the NVM set.
const CC_SIZES_MASK: u32 = 0x00ff_07f0;
const CC_SIZES: u32 = 0x0046_0000;
const CSTS_READY: u32 = 1;
const CSTS_SHUT_DOWN: u32 = 2 << 2;

/// What an initiator may be told of without having asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The size of a namespace, its name, or which ones there are.
    Namespace,
    /// The path became better or worse.
    Path,
    /// What can be connected to.
    Discovery,
}

impl Event {
    const ALL: [Self; 3] = [Self::Namespace, Self::Path, Self::Discovery];

    fn mask(self) -> u32 {
        match self {
            Self::Namespace => 1 << 8,
            Self::Path => 1 << 11,
            Self::Discovery => 1 << 31,
        }
    }

    fn of_log(page: u8) -> Option<Self> {
        match page {
            LOG_CHANGED_NAMESPACES => Some(Self::Namespace),
            LOG_ANA => Some(Self::Path),
            LOG_DISCOVERY => Some(Self::Discovery),
            _ => None,
        }
    }

    /// A notice, which one, and the page to read then.
    fn result(self) -> u64 {
        let (which, page) = match self {
            Self::Namespace => (0x00, LOG_CHANGED_NAMESPACES),
            Self::Path => (0x03, LOG_ANA),
            Self::Discovery => (0xf0, LOG_DISCOVERY),
        };
        2 | which << 8 | u64::from(page) << 16
    }
}

/// What becomes of an admin command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With what was written to `out`, if anything.
    Now(Completion),
    /// When there is an event.
    Later,
}

#[derive(Debug)]
pub struct Controller {
    pub id: u16,
    pub host: String,
    host_id: [u8; 16],
    configuration: u32,
    status: u32,
    keep_alive_ms: u32,
    /// I/O queues that the initiator may make.
    pub queues: u16,
    /// Events that it wants to hear of, those that it was told and has not looked at, and those
    /// that it is to be told.
    wanted: u32,
    told: u32,
    pending: u32,
    waiting: [Option<u16>; EVENT_REQUESTS_MAX],
    /// A size or a name changed since they were looked at.
    has_resized: bool,
    looks: Looks,
}

impl Controller {
    #[must_use]
    pub fn new(id: u16, connect: &Connect) -> Self {
        Self {
            id,
            host: connect.host.clone(),
            host_id: connect.host_id,
            configuration: 0,
            status: 0,
            keep_alive_ms: rounded(connect.keep_alive_ms),
            queues: IO_QUEUES_MAX,
            wanted: 0,
            told: 0,
            pending: 0,
            waiting: [None; EVENT_REQUESTS_MAX],
            has_resized: false,
            looks: Looks::default(),
        }
    }

    /// The initiator began to read the names that the namespaces have now.
    #[must_use]
    pub fn looks_at_names(&self, subsystem: &Subsystem) -> bool {
        self.looks.have_begun(subsystem)
    }

    /// It took all of them by these names.
    #[must_use]
    pub fn has_taken_names(&self, subsystem: &Subsystem) -> bool {
        self.looks.have_taken_all(subsystem)
    }

    /// Whether the same host made both.
    #[must_use]
    pub fn is_of_host(&self, other: &Self) -> bool {
        self.host == other.host && self.host_id == other.host_id
    }

    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.status & CSTS_READY != 0
    }

    /// An initiator that says nothing for so long is gone; zero is no limit.
    #[must_use]
    pub fn keep_alive_ms(&self) -> u32 {
        self.keep_alive_ms
    }

    /// The initiator is to hear of this, if it wants to.
    pub fn on_event(&mut self, event: Event) {
        self.has_resized |= event == Event::Namespace;
        self.pending |= event.mask() & self.wanted;
    }

    /// The answer to a request for events that is due now.
    pub fn next_event(&mut self) -> Option<Completion> {
        let due = self.pending & !self.told;
        let event = Event::ALL.into_iter().find(|event| due & event.mask() != 0)?;
        let command = self.waiting.iter_mut().find_map(Option::take)?;
        self.pending &= !event.mask();
        self.told |= event.mask();
        Some(Completion { command, result: event.result(), status: Status::SUCCESS })
    }

    /// Carries out one command of the admin queue; what it gives back goes to `out`.
    pub fn on_command(
        &mut self,
        sqe: &Sqe,
        data: &[u8],
        view: &View<'_>,
        out: &mut Vec<u8>,
    ) -> Answer {
        let command = sqe.command();
        out.clear();
        let result = match sqe.opcode() {
            _ if sqe.is_fused() => Err(Status::INVALID_FIELD),
            FABRICS => self.on_property(sqe),
            ADMIN_KEEP_ALIVE => Ok(0),
            // Nothing that came is taken back.
            ADMIN_ABORT => Ok(1),
            _ if !self.is_ready() => Err(Status::SEQUENCE_ERROR),
            ADMIN_IDENTIFY => self.identify(sqe, view, out),
            ADMIN_GET_LOG => self.log_page(sqe, view, out),
            ADMIN_SET_FEATURES => self.set_feature(sqe, data),
            ADMIN_GET_FEATURES => self.feature(sqe, out),
            ADMIN_ASYNC_EVENT => match self.waiting.iter_mut().find(|place| place.is_none()) {
                Some(place) => {
                    *place = Some(command);
                    return Answer::Later;
                }
                None => Err(Status::EVENT_LIMIT),
            },
            _ => Err(Status::INVALID_OPCODE),
        };
        match result {
            Ok(result) => Answer::Now(Completion { command, result, status: Status::SUCCESS }),
            Err(status) => {
                out.clear();
                Answer::Now(Completion::of(command, status))
            }
        }
    }

    fn on_property(&mut self, sqe: &Sqe) -> Result<u64, Status> {
        let (is_long, property) = (sqe.byte(40) & 7 == 1, sqe.word(44));
        match (sqe.fabrics_kind(), property) {
            (FABRICS_PROPERTY_GET, PROPERTY_CAP) if is_long => Ok(capabilities()),
            (FABRICS_PROPERTY_GET, PROPERTY_VS) if !is_long => Ok(VERSION.into()),
            (FABRICS_PROPERTY_GET, PROPERTY_CC) if !is_long => Ok(self.configuration.into()),
            (FABRICS_PROPERTY_GET, PROPERTY_CSTS) if !is_long => Ok(self.status.into()),
            (FABRICS_PROPERTY_SET, PROPERTY_CC) if !is_long => self.configure(sqe.word(48)),
            (FABRICS_PROPERTY_GET | FABRICS_PROPERTY_SET, _) => Err(Status::INVALID_FIELD),
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    fn configure(&mut self, value: u32) -> Result<u64, Status> {
        let is_enabled = value & CC_ENABLE != 0;
        // A discovery controller has no I/O queues, and initiators leave the sizes out for it.
        if is_enabled && !matches!(value & CC_SIZES_MASK, CC_SIZES | 0) {
            return Err(Status::INVALID_FIELD);
        }
        self.configuration = value;
        self.status = if is_enabled { CSTS_READY } else { 0 };
        if value & CC_SHUTDOWN != 0 {
            self.status |= CSTS_SHUT_DOWN;
        }
        if !is_enabled {
            (self.wanted, self.told, self.pending) = (0, 0, 0);
            self.waiting = [None; EVENT_REQUESTS_MAX];
        }
        Ok(0)
    }

    fn set_feature(&mut self, sqe: &Sqe, _data: &[u8]) -> Result<u64, Status> {
        let value = sqe.word(44);
        match sqe.byte(40) {
            FEATURE_QUEUES => {
                let asked = (value & 0xffff).min(value >> 16);
                let last = asked.min(u32::from(IO_QUEUES_MAX) - 1);
                self.queues = u16::try_from(last + 1).expect("few queues");
                Ok(u64::from(last << 16 | last))
            }
            FEATURE_EVENTS => {
                self.wanted = value;
                Ok(0)
            }
            FEATURE_KEEP_ALIVE => {
                self.keep_alive_ms = rounded(value);
                Ok(0)
            }
            FEATURE_VOLATILE_CACHE if value & 1 != 0 => Ok(0),
            0x01..=0x06 | 0x0a => Err(Status::NOT_CHANGEABLE),
            FEATURE_HOST_ID => Err(Status::SEQUENCE_ERROR),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn feature(&self, sqe: &Sqe, out: &mut Vec<u8>) -> Result<u64, Status> {
        // Only what holds now: nothing is saved, and nothing has another default.
        match sqe.byte(40) {
            FEATURE_QUEUES => {
                let last = u64::from(self.queues - 1);
                Ok(last << 16 | last)
            }
            FEATURE_EVENTS => Ok(self.wanted.into()),
            FEATURE_KEEP_ALIVE => Ok(self.keep_alive_ms.into()),
            FEATURE_VOLATILE_CACHE => Ok(1),
            FEATURE_HOST_ID => {
                out.extend_from_slice(&self.host_id);
                fit(sqe, out)?;
                Ok(0)
            }
            0x01..=0x05 | 0x0a => Ok(0),
            _ => Err(Status::INVALID_FIELD),
        }
    }
}

/// Queues of so many entries in one piece, ready within ten seconds, the NVM command set.
fn capabilities() -> u64 {
    u64::from(QUEUE_ENTRIES_MAX - 1) | 1 << 16 | 20 << 24 | 1 << 37
}

fn rounded(keep_alive_ms: u32) -> u32 {
    keep_alive_ms.checked_next_multiple_of(KEEP_ALIVE_UNIT_MS).unwrap_or(keep_alive_ms)
}

/// Cuts or fills what is given back to the length that was asked for.
fn fit(sqe: &Sqe, out: &mut Vec<u8>) -> Result<(), Status> {
    let DataPointer::Transport { length } = sqe.data() else {
        return Err(Status::SGL_TYPE_INVALID);
    };
    if length == 0 || length > ADMIN_DATA_BYTES_MAX {
        return Err(Status::DATA_LENGTH_INVALID);
    }
    out.resize(usize::try_from(length).expect("within the bound"), 0);
    Ok(())
}
