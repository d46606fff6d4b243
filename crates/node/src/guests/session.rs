//! One monitor's connection, from its first message to its last.
//!
//! What the messages mean is `frontend::vhost::session`'s; here files become memory, and rings go
//! to the shards and come back. Whatever goes wrong ends the connection, and the reason is logged:
//! the protocol has no words for it. A monitor comes back by itself, and brings along what was not
//! answered; it goes on only if the data is still that which its guest has seen.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::Duration;

use engine::clients::vhost::addresses::Addresses;
use engine::clients::vhost::{Facts, GuestOrder, Line, NewRing, News, SessionNumber, Window};
use engine::contract::ToShard;
use engine::log::{Scope, log};
use format::space::Place;
use frontend::vhost::config::{Cache, Disk};
use frontend::vhost::inflight::{Layout, Mark, Slots};
use frontend::vhost::memory::{GuestMemory, Region};
use frontend::vhost::ring::Ring;
use frontend::vhost::session::{Answer, Passed, Session, Step, Task};
use frontend::vhost::wire::{HEADER_BYTES, Header, PAYLOAD_BYTES_MAX, config_changed};
use io::descriptors::{peer_process, receive_files, send_file};
use io::{Eventfd, SharedMemory, memory_file};
use stdx::mutex::lock;

use crate::desk::{Desk, overloaded};
use crate::guests::comers::First;
use crate::limits::{
    GUEST_ADMISSION_DEADLINE, GUEST_FILES_MAX, GUEST_QUEUES_MAX, GUEST_SEND_DEADLINE,
    GUEST_SHARD_DEADLINE, GUEST_STOP_DEADLINE,
};

#[derive(Debug)]
pub(super) struct Monitor {
    desk: Arc<Desk>,
    resource: String,
    place: Place,
    line: Line,
    news: mpsc::Receiver<News>,
    present: Arc<Present>,
    /// Its first message, until it is taken.
    first: RefCell<First>,
    /// What the memory of all guests may take.
    guests: Addresses,
}

/// The monitor of a socket, as others know it.
#[derive(Debug)]
pub(super) struct Present {
    session: SessionNumber,
    stream: Arc<UnixStream>,
    /// Of the disk; 0 until it is known. A ring is handed to its shard under this lock, so that
    /// each ring hears of the newest size.
    size_bytes: Mutex<u64>,
    /// Where the monitor wants to hear of another size.
    channel: Mutex<Option<UnixStream>>,
}

impl Present {
    pub(super) fn new(session: SessionNumber, stream: UnixStream) -> Self {
        let stream = Arc::new(stream);
        Self { session, stream, size_bytes: Mutex::default(), channel: Mutex::default() }
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    fn size(&self) -> MutexGuard<'_, u64> {
        lock(&self.size_bytes)
    }

    fn channel(&self) -> MutexGuard<'_, Option<UnixStream>> {
        lock(&self.channel)
    }

    /// The volume is larger: every ring takes requests up to its new end before the guest hears of
    /// it.
    pub(super) fn grow(&self, desk: &Desk, size_bytes: u64) -> Result<(), String> {
        let (news, done) = mpsc::channel();
        let line = Line { session: self.session, news, stream: Arc::clone(&self.stream) };
        {
            let mut size = self.size();
            let was_known = *size > 0;
            *size = size_bytes.max(*size);
            if !was_known {
                return Ok(());
            }
            let order = || ToShard::Guest(GuestOrder::SetSize { line: line.clone(), size_bytes });
            if !desk.tell_all(order) {
                return Err(overloaded().to_string());
            }
        }
        for _ in 0..desk.shards() {
            let answer = done.recv_timeout(GUEST_SHARD_DEADLINE);
            answer.map_err(|error| format!("a data thread did not answer: {error}"))?;
        }
        match &*self.channel() {
            None => Err("its monitor gave no channel for that".to_owned()),
            Some(channel) => send_file(channel, &config_changed(), None)
                .map_err(|error| format!("cannot tell its monitor: {error}")),
        }
    }
}

/// A monitor that was admitted.
#[derive(Debug)]
struct Served<'a> {
    monitor: &'a Monitor,
    facts: Facts,
    disk: Disk,
    session: Session<Eventfd>,
    memory: Option<Arc<GuestMemory<Window>>>,
    kept: Option<(Arc<Window>, Layout)>,
    /// Where its memory is mapped.
    addresses: Addresses,
    /// By ring: it is with its shard.
    is_running: Vec<bool>,
}

impl Monitor {
    pub(super) fn new(
        desk: Arc<Desk>,
        (resource, place): (String, Place),
        (present, first): (Arc<Present>, First),
        guests: Addresses,
    ) -> Self {
        let (sender, news) = mpsc::channel();
        let (session, stream) = (present.session, Arc::clone(&present.stream));
        let line = Line { session, news: sender, stream };
        Self { desk, resource, place, line, news, present, first: RefCell::new(first), guests }
    }

    pub(super) fn run(&self) {
        let scope = Scope::resource(&self.resource);
        let mut served = None;
        let result = self.admit().and_then(|facts| {
            log!(Info, scope, "a virtual machine's session began");
            served.insert(Served::new(self, facts)).serve()
        });
        // Why the shards ended it is more than that the stream ended.
        let reason = match (self.over(), result) {
            (Some(reason), _) | (None, Err(reason)) => reason,
            (None, Ok(())) => "the monitor closed the connection".to_owned(),
        };
        self.close();
        // To unmap a guest's memory takes its time, so no shard is the last to have it.
        drop(served);
        log!(Info, scope, "a virtual machine's session ended: {reason}");
    }

    /// Waits until this node may serve the volume.
    fn admit(&self) -> Result<Facts, String> {
        let stream = &self.line.stream;
        let sending = stream.set_write_timeout(Some(GUEST_SEND_DEADLINE));
        sending.map_err(|error| format!("its socket cannot be used: {error}"))?;
        let (resource, line) = (self.resource.clone(), self.line.clone());
        let pid = peer_process(stream);
        self.tell(self.home(), GuestOrder::Open { resource, place: self.place, line, pid })?;
        match self.news.recv_timeout(GUEST_ADMISSION_DEADLINE) {
            Ok(News::Admitted(facts)) => Ok(facts),
            Ok(News::Refused(reason) | News::Over(reason)) => Err(reason),
            Ok(News::Stopped { .. } | News::Done | News::Closed) | Err(_) => {
                Err("this node could not become Primary in time; see the status".to_owned())
            }
        }
    }

    /// No shard touches anything of it after this. Each is told, however long that takes: a ring
    /// that it went on with would be served twice once the monitor comes back.
    fn close(&self) {
        let scope = Scope::resource(&self.resource);
        let order = || ToShard::Guest(GuestOrder::Close { line: self.line.clone() });
        let mut open = 0;
        for shard in 0..self.desk.shards() {
            open += u8::from(self.desk.insist(shard, order, || {
                log!(Warning, scope, "a virtual machine's end waits for an overloaded data thread");
            }));
        }
        let until = io::now() + GUEST_SHARD_DEADLINE;
        while open > 0 {
            match self.news.recv_timeout(until.since(io::now())) {
                Ok(News::Closed) => open -= 1,
                Ok(_) => {}
                Err(_) => {
                    log!(Warning, scope, "a data thread did not let a virtual machine go in time");
                    return;
                }
            }
        }
    }

    fn over(&self) -> Option<String> {
        self.news.try_iter().find_map(|news| match news {
            News::Over(reason) | News::Refused(reason) => Some(reason),
            News::Admitted(_) | News::Stopped { .. } | News::Done | News::Closed => None,
        })
    }

    fn tell(&self, shard: u8, order: GuestOrder) -> Result<(), String> {
        let is_told = self.desk.tell(shard, ToShard::Guest(order));
        is_told.then_some(()).ok_or_else(|| overloaded().to_string())
    }

    fn home(&self) -> u8 {
        self.desk.home_of(&self.resource)
    }

    /// The shard that serves a ring: they are spread over all of them.
    fn shard_of(&self, ring: u16) -> u8 {
        let place = (u16::from(self.home()) + ring) % u16::from(self.desk.shards());
        u8::try_from(place).expect("below the number of shards")
    }

    /// The next message of the shards that is meant; their end of the session counts as failure.
    fn hear<T>(
        &self,
        limit: Duration,
        what: &str,
        select: impl Fn(&News) -> Option<T>,
    ) -> Result<T, String> {
        let until = io::now() + limit;
        loop {
            match self.news.recv_timeout(until.since(io::now())) {
                Ok(News::Over(reason)) => return Err(reason),
                Ok(news) => {
                    if let Some(found) = select(&news) {
                        return Ok(found);
                    }
                }
                Err(_) => return Err(format!("{what} within {} s", limit.as_secs())),
            }
        }
    }

    /// Receives all of `into`; false at the end of the stream.
    fn receive(&self, into: &mut [u8], files: &mut Vec<OwnedFd>) -> Result<bool, String> {
        let mut filled = 0;
        while filled < into.len() {
            let said_before = self.first.borrow_mut().take(&mut into[filled..], files);
            filled += said_before;
            if said_before == 0 {
                match receive_files(&self.line.stream, &mut into[filled..], files) {
                    Ok(0) if filled == 0 => return Ok(false),
                    Ok(0) => {
                        return Err("the monitor went away in the middle of a message".to_owned());
                    }
                    Ok(length) => filled += length,
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                    Err(error) => return Err(format!("cannot receive: {error}")),
                }
            }
            // Every byte can bring some, and the daemon has only so many.
            if files.len() > GUEST_FILES_MAX {
                let limit = GUEST_FILES_MAX;
                return Err(format!("the monitor sends more than {limit} files with a message"));
            }
        }
        Ok(true)
    }

    fn send(&self, bytes: &[u8], file: Option<BorrowedFd<'_>>) -> Result<(), String> {
        send_file(&self.line.stream, bytes, file).map_err(|error| format!("cannot send: {error}"))
    }
}

impl<'a> Served<'a> {
    fn new(monitor: &'a Monitor, facts: Facts) -> Self {
        let size_bytes = {
            let mut size = monitor.present.size();
            *size = facts.size_bytes.max(*size);
            *size
        };
        let disk =
            Disk { size_bytes, block_bytes: facts.block_bytes, queues_max: GUEST_QUEUES_MAX };
        Self {
            monitor,
            facts,
            session: Session::new(disk.clone()),
            disk,
            memory: None,
            kept: None,
            addresses: monitor.guests.of_one_session(),
            is_running: vec![false; usize::from(GUEST_QUEUES_MAX)],
        }
    }

    fn serve(&mut self) -> Result<(), String> {
        loop {
            let mut bytes = [0; HEADER_BYTES];
            let mut files = Vec::new();
            if !self.monitor.receive(&mut bytes, &mut files)? {
                return Ok(());
            }
            self.disk.size_bytes = *self.monitor.present.size();
            self.session.set_size(self.disk.size_bytes);
            let header = Header::decode(&bytes).map_err(|broken| broken.to_string())?;
            let mut room = [0; PAYLOAD_BYTES_MAX];
            let payload = &mut room[..header.size];
            if !self.monitor.receive(payload, &mut files)? {
                return Ok(());
            }
            let files = files.into_iter().map(sort).collect();
            let Step { task, answer } =
                self.session.step(header, payload, files).map_err(|broken| broken.to_string())?;
            self.act(task, answer)?;
        }
    }

    /// Does what a message asks for, and answers it.
    fn act(&mut self, task: Task, answer: Answer) -> Result<(), String> {
        match task {
            Task::Nothing => {}
            Task::Map(regions) => self.map(regions)?,
            Task::Start(ring) => self.start(ring)?,
            Task::Stop(ring) => self.stop(ring)?,
            Task::StopAll => (0..GUEST_QUEUES_MAX).try_for_each(|ring| self.stop(ring))?,
            Task::SetCall(ring) => self.set_call(ring)?,
            Task::SetCache(cache) => self.set_cache(cache)?,
            Task::SetChannel(file) => {
                let channel = UnixStream::from(file);
                let sending = channel.set_write_timeout(Some(GUEST_SEND_DEADLINE));
                sending.map_err(|error| format!("its channel cannot be used: {error}"))?;
                *self.monitor.present.channel() = Some(channel);
            }
            Task::MakeInflight(layout) => {
                let file = self.make_kept(layout)?;
                let answer = Session::<Eventfd>::inflight_answer(layout);
                return self.monitor.send(&answer, Some(file.as_fd()));
            }
            Task::UseInflight { file, offset, length, layout } => {
                let window = self.window(&File::from(file), offset, length).map_err(|error| {
                    format!("the memory of requests that are not answered cannot be used: {error}")
                })?;
                self.use_kept(window, layout)?;
            }
        }
        match answer {
            Answer::Nothing | Answer::Inflight => Ok(()),
            Answer::Bytes(bytes) => self.monitor.send(&bytes, None),
            Answer::Base(ring) => self.monitor.send(&self.session.base_answer(ring), None),
        }
    }

    fn map(&mut self, regions: Vec<(Region, OwnedFd)>) -> Result<(), String> {
        if !self.is_running.contains(&true) {
            // Nobody looks at it: what replaces it need not have its place beside it.
            self.memory = None;
        }
        let parts: Result<Vec<_>, String> = regions
            .into_iter()
            .map(|(region, file)| {
                let window = self.window(&File::from(file), region.file_offset, region.length)?;
                Ok((region, window))
            })
            .collect();
        let parts = parts.map_err(|reason| format!("cannot share its memory: {reason}"))?;
        let memory = Arc::new(GuestMemory::new(parts).map_err(|broken| broken.to_string())?);
        let before = self.memory.replace(Arc::clone(&memory));
        if self.is_running.contains(&true) {
            self.tell_all(|line| GuestOrder::SetMemory { line, memory: Arc::clone(&memory) })?;
        }
        drop(before);
        Ok(())
    }

    fn start(&mut self, number: u16) -> Result<(), String> {
        self.stop(number)?;
        let memory = self.memory.clone().ok_or("a ring is started before memory is shared")?;
        let (place, base) =
            self.session.place(number, &memory).map_err(|broken| broken.to_string())?;
        let slots = match &self.kept {
            None => None,
            Some((window, layout)) => {
                let slots = Slots::new(Arc::clone(window), *layout, number);
                Some(slots.ok_or("it does not keep the requests of all its rings")?)
            }
        };
        let features = self.session.features();
        let ring =
            Ring::new(memory, place, base, features, slots).map_err(|broken| broken.to_string())?;
        let kick = self.session.kick(number).ok_or("a ring is started without a kick")?;
        let kick = kick.try_clone().map_err(no_file)?;
        let size = self.monitor.present.size();
        let new = NewRing {
            hosted: self.facts.hosted,
            base: self.facts.place.first_byte(),
            line: self.monitor.line.clone(),
            number,
            ring,
            disk: Disk { size_bytes: *size, ..self.disk.clone() },
            name: match self.monitor.place {
                Place::FIRST => self.monitor.resource.clone(),
                further => format!("{}/{}", self.monitor.resource, further.number()),
            },
            features,
            cache: self.session.cache(),
            kick,
            call: self.call(number)?,
        };
        self.is_running[usize::from(number)] = true;
        self.monitor.tell(self.monitor.shard_of(number), GuestOrder::Start(Box::new(new)))
    }

    /// Has everything answered that a ring has under way, if it runs.
    fn stop(&mut self, ring: u16) -> Result<(), String> {
        if !std::mem::take(&mut self.is_running[usize::from(ring)]) {
            return Ok(());
        }
        let session = self.monitor.line.session;
        self.monitor.tell(self.monitor.shard_of(ring), GuestOrder::Stop { session, ring })?;
        let what = "requests under way were not answered";
        let next = self.monitor.hear(GUEST_STOP_DEADLINE, what, |news| {
            let News::Stopped { ring: stopped, next_available } = news else { return None };
            (*stopped == ring).then_some(*next_available)
        })?;
        self.session.stopped(ring, next);
        Ok(())
    }

    fn set_call(&mut self, ring: u16) -> Result<(), String> {
        if !self.is_running[usize::from(ring)] {
            return Ok(());
        }
        let (line, call) = (self.monitor.line.clone(), self.call(ring)?);
        self.monitor.tell(self.monitor.shard_of(ring), GuestOrder::SetCall { line, ring, call })?;
        self.await_done()
    }

    fn call(&self, ring: u16) -> Result<Option<Eventfd>, String> {
        self.session.call(ring).map(Eventfd::try_clone).transpose().map_err(no_file)
    }

    fn set_cache(&mut self, cache: Cache) -> Result<(), String> {
        if let Some((window, layout)) = &self.kept {
            self.write_mark(window, *layout)?;
        }
        self.tell_all(|line| GuestOrder::SetCache { line, cache })
    }

    /// Memory that the monitor keeps for the next server.
    fn make_kept(&mut self, layout: Layout) -> Result<File, String> {
        let failed = |reason: &dyn Display| format!("cannot make memory for requests: {reason}");
        let file = memory_file(layout.bytes()).map_err(|error| failed(&error))?;
        let window = self.window(&file, 0, layout.bytes()).map_err(|error| failed(&error))?;
        self.write_mark(&window, layout)?;
        Ok(file)
    }

    fn write_mark(&self, window: &Window, layout: Layout) -> Result<(), String> {
        let mark = Mark {
            tenure: self.facts.reign.tenure.0,
            losses: self.facts.reign.losses,
            cache: self.session.cache(),
        };
        layout.write_mark(window, mark).map_err(|broken| broken.to_string())
    }

    /// Goes on where the last server ended, if the guest's data is still the volume's.
    fn use_kept(&mut self, window: Window, layout: Layout) -> Result<(), String> {
        let mark = layout.read_mark(&window).map_err(|broken| broken.to_string())?;
        let reign = self.facts.reign;
        if mark.tenure != reign.tenure.0 {
            let text = "another node was Primary since it last wrote: restart the virtual machine";
            return Err(text.to_owned());
        }
        if mark.losses != reign.losses {
            let text = "completed writes may be lost: restart the virtual machine";
            return Err(text.to_owned());
        }
        self.session.restore_cache(mark.cache);
        self.kept = Some((Arc::new(window), layout));
        Ok(())
    }

    /// Maps a stretch of a file.
    fn window(&self, file: &File, offset: u64, length: u64) -> Result<Window, String> {
        let claim = self.addresses.claim(length)?;
        let memory = SharedMemory::map(file, offset, length).map_err(|error| error.to_string())?;
        Ok(Window::new(memory, claim))
    }

    /// Has all shards do something, and waits for it.
    fn tell_all(&self, order: impl Fn(Line) -> GuestOrder) -> Result<(), String> {
        let shards = self.monitor.desk.shards();
        for shard in 0..shards {
            self.monitor.tell(shard, order(self.monitor.line.clone()))?;
        }
        (0..shards).try_for_each(|_| self.await_done())
    }

    /// Waits until a shard has done what it was asked.
    fn await_done(&self) -> Result<(), String> {
        let select = |news: &News| matches!(news, News::Done).then_some(());
        self.monitor.hear(GUEST_SHARD_DEADLINE, "a data thread did not answer", select)
    }
}

fn sort(file: OwnedFd) -> Passed<Eventfd> {
    Eventfd::of(file).map_or_else(Passed::Other, Passed::Eventfd)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn no_file(error: std::io::Error) -> String {
    format!("its eventfd cannot be used: {error}")
}

#[cfg(test)]
mod tests;
