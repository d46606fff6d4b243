//! One connection of a monitor: what was agreed on, and what each message asks of the daemon.
//!
//! ```text
//! features, configuration -> memory -> kept requests -> for each ring: size, base, address,
//!   kick, call -> enabled: it runs -> its base is asked for: it is stopped
//! ```
//!
//! A ring runs while it has a kick and is enabled. A step changes only what is remembered; its
//! [`Task`] is done by the daemon, and then the answer is sent, if the message has one.
//!
//! Whoever receives the files looks which ones are eventfds: nothing else is polled or signalled,
//! for that could take as long as the monitor likes.

use std::os::fd::OwnedFd;

use crate::vhost::Broken;
use crate::vhost::config::{Cache, Disk, Features, OFFERED, RING_SIZE_MAX, WRITE_BACK_AT};
use crate::vhost::inflight::Layout;
use crate::vhost::memory::{GuestMemory, Region, Shared};
use crate::vhost::ring::Place;
use crate::vhost::wire::{self, Header, Inflight, Message, RingAddress, RingFile, RingNumber};

const PROTOCOL_MQ: u64 = 1 << 0;
const PROTOCOL_REPLY_ACK: u64 = 1 << 3;
/// The monitor gives a channel, for what it did not ask for.
const PROTOCOL_CHANNEL: u64 = 1 << 5;
const PROTOCOL_CONFIG: u64 = 1 << 9;
const PROTOCOL_INFLIGHT: u64 = 1 << 12;
const PROTOCOL_OFFERED: u64 =
    PROTOCOL_MQ | PROTOCOL_REPLY_ACK | PROTOCOL_CHANNEL | PROTOCOL_CONFIG | PROTOCOL_INFLIGHT;

/// `E` is an eventfd, known to be one.
#[derive(Debug)]
pub struct Session<E> {
    disk: Disk,
    features: Features,
    protocol_features: u64,
    cache: Cache,
    rings: Vec<RingState<E>>,
}

#[derive(Debug)]
struct RingState<E> {
    size: u32,
    base: u32,
    address: Option<RingAddress>,
    kick: Option<E>,
    call: Option<E>,
    is_enabled: bool,
}

/// A file that came with a message.
#[derive(Debug)]
pub enum Passed<E> {
    Eventfd(E),
    Other(OwnedFd),
}

/// What the daemon has to do before the answer is sent.
#[derive(Debug)]
pub enum Task {
    Nothing,
    /// Map this memory for all rings, also those that run.
    Map(Vec<(Region, OwnedFd)>),
    /// Serve a ring; if it runs, stop it first.
    Start(u16),
    /// Answer all requests of a ring and stop it; `stopped` is to be told where it goes on.
    Stop(u16),
    StopAll,
    /// Signal a ring that may run from now on by `call`.
    SetCall(u16),
    SetCache(Cache),
    /// Say there when the disk has another size.
    SetChannel(OwnedFd),
    /// Make memory for requests that are taken and not answered, and send its file.
    MakeInflight(Layout),
    /// Keep them in this memory from now on.
    UseInflight {
        file: OwnedFd,
        offset: u64,
        length: u64,
        layout: Layout,
    },
}

/// What is sent when the task is done.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Nothing,
    Bytes(Vec<u8>),
    /// `base_answer` of this ring.
    Base(u16),
    /// `inflight_answer`, with the file.
    Inflight,
}

#[derive(Debug)]
pub struct Step {
    pub task: Task,
    pub answer: Answer,
}

impl<E> Session<E> {
    #[must_use]
    pub fn new(disk: Disk) -> Self {
        let state = |_| RingState {
            size: 0,
            base: 0,
            address: None,
            kick: None,
            call: None,
            is_enabled: false,
        };
        let rings = (0..disk.queues_max).map(state).collect();
        Self {
            disk,
            features: Features::default(),
            protocol_features: 0,
            cache: Cache::WriteBack,
            rings,
        }
    }

    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }

    #[must_use]
    pub fn cache(&self) -> Cache {
        self.cache
    }

    /// The disk has this size now.
    pub fn set_size(&mut self, size_bytes: u64) {
        self.disk.size_bytes = size_bytes;
    }

    /// Goes on with what an earlier server was told.
    pub fn restore_cache(&mut self, cache: Cache) {
        self.cache = cache;
    }

    /// Where a ring lies for the guest, and where it begins.
    pub fn place<S: Shared>(
        &self,
        ring: u16,
        memory: &GuestMemory<S>,
    ) -> Result<(Place, u16), Broken> {
        let state = &self.rings[usize::from(ring)];
        let translate = |address| {
            memory.guest_address(address).ok_or_else(|| {
                Broken::monitor(format!("puts ring {ring} at {address:#x}, outside of the memory"))
            })
        };
        let address = state.address.ok_or_else(|| {
            Broken::monitor(format!("starts ring {ring} without saying where it lies"))
        })?;
        let size = u16::try_from(state.size).unwrap_or(u16::MAX);
        let base = u16::try_from(state.base & 0xffff).expect("cut to sixteen bits");
        let place = Place {
            size,
            descriptors: translate(address.descriptors)?,
            available: translate(address.available)?,
            used: translate(address.used)?,
        };
        Ok((place, base))
    }

    #[must_use]
    pub fn kick(&self, ring: u16) -> Option<&E> {
        self.rings.get(usize::from(ring))?.kick.as_ref()
    }

    #[must_use]
    pub fn call(&self, ring: u16) -> Option<&E> {
        self.rings.get(usize::from(ring))?.call.as_ref()
    }

    /// A ring was stopped, and goes on here when it is started again.
    pub fn stopped(&mut self, ring: u16, next_available: u16) {
        self.rings[usize::from(ring)].base = next_available.into();
    }

    /// The answer to the question where a ring that was stopped goes on.
    #[must_use]
    pub fn base_answer(&self, ring: u16) -> Vec<u8> {
        let base = u16::try_from(self.rings[usize::from(ring)].base & 0xffff).expect("cut");
        wire::answer(11, &wire::ring_number_answer(ring.into(), base))
    }

    #[must_use]
    pub fn inflight_answer(layout: Layout) -> Vec<u8> {
        let Layout { queues, size } = layout;
        let inflight = Inflight { length: layout.bytes(), offset: 0, queues, size };
        wire::answer(31, &wire::inflight_answer(inflight))
    }

    /// Takes a message with its files.
    pub fn step(
        &mut self,
        header: Header,
        payload: &[u8],
        files: Vec<Passed<E>>,
    ) -> Result<Step, Broken> {
        let message = Message::decode(header.request, payload)?;
        let Step { task, answer } = self.take(message, files)?;
        let acknowledges = header.wants_answer && self.protocol_features & PROTOCOL_REPLY_ACK != 0;
        if answer == Answer::Nothing && acknowledges {
            let done = wire::answer(header.request, &0_u64.to_le_bytes());
            return Ok(Step { task, answer: Answer::Bytes(done) });
        }
        Ok(Step { task, answer })
    }

    fn take(&mut self, message: Message, files: Vec<Passed<E>>) -> Result<Step, Broken> {
        let quiet = |task| Ok(Step { task, answer: Answer::Nothing });
        let number = |request, number: u64| {
            let answer = Answer::Bytes(wire::answer(request, &number.to_le_bytes()));
            Ok(Step { task: Task::Nothing, answer })
        };
        match message {
            Message::GetFeatures => number(1, OFFERED),
            Message::SetFeatures(features) => self.set_features(features).and_then(quiet),
            Message::GetProtocolFeatures => number(15, PROTOCOL_OFFERED),
            Message::SetProtocolFeatures(features) => {
                self.protocol_features = features & PROTOCOL_OFFERED;
                quiet(Task::Nothing)
            }
            Message::GetQueueCount => number(17, self.disk.queues_max.into()),
            Message::SetOwner => quiet(Task::Nothing),
            Message::SetRingError => {
                only_eventfd(files, "error of a ring")?;
                quiet(Task::Nothing)
            }
            Message::SetChannel => match only_file(files) {
                Some(file) => quiet(Task::SetChannel(file)),
                None => Err(Broken::monitor("gives a channel without a file")),
            },
            Message::ResetOwner => {
                self.rings.iter_mut().for_each(|ring| ring.kick = None);
                quiet(Task::StopAll)
            }
            Message::GetConfig { offset, size } => {
                let payload = wire::config_answer(offset, size, &self.disk.encode(self.cache))?;
                let answer = Answer::Bytes(wire::answer(24, &payload));
                Ok(Step { task: Task::Nothing, answer })
            }
            Message::SetConfig { offset, bytes } => self.set_config(offset, &bytes).and_then(quiet),
            Message::SetMemory(regions) => map(regions, files).and_then(quiet),
            Message::GetInflight { queues, size } => {
                let layout = Layout::new(queues, size, self.disk.queues_max)?;
                Ok(Step { task: Task::MakeInflight(layout), answer: Answer::Inflight })
            }
            Message::SetInflight(inflight) => self.set_inflight(inflight, files).and_then(quiet),
            Message::SetRingSize(_)
            | Message::SetRingAddress(_)
            | Message::SetRingBase(_)
            | Message::GetRingBase(_)
            | Message::SetRingKick(_)
            | Message::SetRingCall(_)
            | Message::EnableRing(_) => self.take_of_ring(message, files),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the caller passes what is of a ring")]
    fn take_of_ring(&mut self, message: Message, files: Vec<Passed<E>>) -> Result<Step, Broken> {
        let quiet = |task| Ok(Step { task, answer: Answer::Nothing });
        match message {
            Message::SetRingSize(RingNumber { ring, number }) => {
                let (_, state) = self.ring(ring)?;
                if number > RING_SIZE_MAX.into() || !number.is_power_of_two() {
                    let text = format!("makes a ring of {number} descriptors");
                    return Err(Broken::monitor(text));
                }
                state.size = number;
                quiet(Task::Nothing)
            }
            Message::SetRingAddress(address) => {
                self.ring(address.ring)?.1.address = Some(address);
                quiet(Task::Nothing)
            }
            Message::SetRingBase(RingNumber { ring, number }) => {
                self.ring(ring)?.1.base = number;
                quiet(Task::Nothing)
            }
            Message::GetRingBase(ring) => {
                let (ring, state) = self.ring(ring)?;
                state.kick = None;
                Ok(Step { task: Task::Stop(ring), answer: Answer::Base(ring) })
            }
            Message::SetRingKick(RingFile { ring, has_file }) => {
                let file = only_eventfd(files, &format!("kick of ring {ring}"))?;
                let file = file.filter(|_| has_file).ok_or_else(|| {
                    Broken::monitor("wants a ring to be polled, which is not done here")
                })?;
                // Without the protocol's features, there is nothing that enables a ring.
                let is_always_enabled = !self.features.has_protocol_features();
                let (ring, state) = self.ring(ring)?;
                state.kick = Some(file);
                state.is_enabled |= is_always_enabled;
                quiet(if state.is_enabled { Task::Start(ring) } else { Task::Nothing })
            }
            Message::SetRingCall(RingFile { ring, has_file }) => {
                let file = only_eventfd(files, &format!("call of ring {ring}"))?;
                let (ring, state) = self.ring(ring)?;
                state.call = file.filter(|_| has_file);
                quiet(Task::SetCall(ring))
            }
            Message::EnableRing(RingNumber { ring, number }) => {
                let (ring, state) = self.ring(ring)?;
                let was_enabled = std::mem::replace(&mut state.is_enabled, number != 0);
                let has_kick = state.kick.is_some();
                quiet(match (was_enabled, state.is_enabled) {
                    (false, true) if has_kick => Task::Start(ring),
                    (true, false) => Task::Stop(ring),
                    (false, true) | (true, true) | (false, false) => Task::Nothing,
                })
            }
            other => Err(Broken::monitor(format!("sent {other:?} out of place"))),
        }
    }

    fn set_features(&mut self, features: u64) -> Result<Task, Broken> {
        if features & !OFFERED != 0 {
            let unknown = features & !OFFERED;
            return Err(Broken::monitor(format!("wants the features {unknown:#x}")));
        }
        self.features = Features::of(features);
        Ok(Task::Nothing)
    }

    fn set_config(&mut self, offset: u32, bytes: &[u8]) -> Result<Task, Broken> {
        match (offset, bytes) {
            (WRITE_BACK_AT, [value]) => {
                self.cache = if *value == 0 { Cache::WriteThrough } else { Cache::WriteBack };
                Ok(Task::SetCache(self.cache))
            }
            _ => Err(Broken::monitor(format!(
                "writes {} bytes of configuration at {offset}",
                bytes.len()
            ))),
        }
    }

    fn set_inflight(&self, inflight: Inflight, files: Vec<Passed<E>>) -> Result<Task, Broken> {
        let Inflight { length, offset, queues, size } = inflight;
        let layout = Layout::new(queues, size, self.disk.queues_max)?;
        match only_file(files) {
            Some(file) if length >= layout.bytes() => {
                Ok(Task::UseInflight { file, offset, length, layout })
            }
            _ => Err(Broken::monitor("hands over requests without memory for them")),
        }
    }

    fn ring(&mut self, ring: u32) -> Result<(u16, &mut RingState<E>), Broken> {
        let place = usize::try_from(ring).unwrap_or(usize::MAX);
        let number = u16::try_from(ring).ok();
        match (number, self.rings.get_mut(place)) {
            (Some(number), Some(state)) => Ok((number, state)),
            _ => Err(Broken::monitor(format!("names ring {ring}, which is not there"))),
        }
    }
}

fn map<E>(regions: Vec<Region>, files: Vec<Passed<E>>) -> Result<Task, Broken> {
    if regions.len() != files.len() || !regions.iter().all(Region::is_sound) {
        let (regions, files) = (regions.len(), files.len());
        return Err(Broken::monitor(format!(
            "shares {regions} regions of memory in {files} files, which cannot be"
        )));
    }
    let files: Option<Vec<OwnedFd>> = files.into_iter().map(Passed::other).collect();
    let files = files.ok_or_else(|| Broken::monitor("shares memory of an eventfd"))?;
    Ok(Task::Map(regions.into_iter().zip(files).collect()))
}

fn only<E>(files: Vec<Passed<E>>) -> Option<Passed<E>> {
    <[Passed<E>; 1]>::try_from(files).ok().map(|[file]| file)
}

fn only_file<E>(files: Vec<Passed<E>>) -> Option<OwnedFd> {
    only(files).and_then(Passed::other)
}

fn only_eventfd<E>(files: Vec<Passed<E>>, role: &str) -> Result<Option<E>, Broken> {
    match only(files) {
        None => Ok(None),
        Some(Passed::Eventfd(file)) => Ok(Some(file)),
        Some(Passed::Other(_)) => {
            Err(Broken::monitor(format!("gives a file that is no eventfd as the {role}")))
        }
    }
}

impl<E> Passed<E> {
    fn other(self) -> Option<OwnedFd> {
        match self {
            Self::Other(file) => Some(file),
            Self::Eventfd(_) => None,
        }
    }
}
