//! The thread of one device, from its making to its end.

use std::fs::{File, TryLockError};
use std::io as stdio;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use api::response::FailureCode;
use engine::clients::ublk::{Claim, Facts, News};
use engine::contract::{DeviceOrder, ToShard};
use engine::limits::DEVICE_DEPTH;
use engine::log::{Scope, log};
use frontend::ublk::control::DeviceState;

use crate::desk::{Desk, overloaded};
use crate::devices::Plan;
use crate::devices::driver::{Driver, is_passing};
use crate::devices::kept::Stage;
use crate::devices::links::{self, Link};
use crate::devices::names::Names;
use crate::devices::supervise::Supervised;
use crate::devices::supervisor::Supervisor;
use crate::limits::{
    DEVICE_BUSY_PATIENCE, DEVICE_PEER_LOOK, DEVICE_POLL_INTERVAL, DEVICE_PROMOTION_LOOK,
    DEVICE_RECOVERY_DEADLINE, DEVICE_SHARD_DEADLINE, DEVICE_SUPERVISORS_MAX,
};
use crate::state_dir::{DeviceRecord, StateDir};

/// A taking over that fails like this is tried again: the last daemon still has the device's file,
/// or the kernel can do nothing just now.
const RECOVERY_PASSING: &[i32] = &[libc::EBUSY, libc::EAGAIN, libc::ENOMEM, libc::EINTR];

/// How a device comes into this daemon's hands.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Begin,
    /// The last daemon left it.
    Recover(DeviceRecord),
    /// It was left, and is to go.
    Remove,
}

/// Why a device is not served.
#[derive(Debug)]
enum Refusal {
    /// Its users may have no other answer than an error: it goes.
    Final(String),
    /// Whoever had to do his part did not: the driver, the data thread, the state directory. That
    /// says nothing of the device: it waits, with its requests and its record, for another attempt.
    Passing(String),
}

impl Refusal {
    fn into_reason(self) -> String {
        let (Self::Final(reason) | Self::Passing(reason)) = self;
        reason
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Passing(reason)
    }
}

/// What the last daemon left.
#[derive(Debug)]
enum Found {
    /// A device that waits for a server.
    Waiting,
    /// There is none of ours any more.
    Nothing,
    /// It cannot be said, or it does not go.
    Unknown(stdio::Error),
    /// This daemon ends, and the next one looks.
    Unwatched,
}

/// What becomes of a device that was served.
#[derive(Debug)]
enum Fate {
    /// The next daemon has it.
    Left,
    /// It goes; the claim keeps others from it.
    Goes(Option<Claim>),
}

#[derive(Debug)]
pub(super) struct Keeper {
    desk: Arc<Desk>,
    state: Arc<StateDir>,
    plan: Plan,
    /// How long the device's users wait for the next daemon.
    timeout: Duration,
    names: Names,
    news: mpsc::Sender<News>,
    inbox: mpsc::Receiver<News>,
    supervisor: Option<Supervisor>,
    supervisors_started: u32,
    /// Something came in that ends the device before it was served.
    ending: Option<News>,
    /// What the volume grew to while the device was being made.
    grown: Option<u64>,
    /// The data thread waits for requests of it, which ends with the device or the daemon.
    is_fetched_for: bool,
}

impl Keeper {
    pub(super) fn new(
        desk: Arc<Desk>,
        state: Arc<StateDir>,
        plan: Plan,
        (timeout, names): (Duration, Names),
        (news, inbox): (mpsc::Sender<News>, mpsc::Receiver<News>),
    ) -> Self {
        Self {
            desk,
            state,
            plan,
            timeout,
            names,
            news,
            inbox,
            supervisor: None,
            supervisors_started: 0,
            ending: None,
            grown: None,
            is_fetched_for: false,
        }
    }

    /// Returns when the device is gone, or left to the next daemon.
    pub(super) fn run(
        mut self,
        how: How,
        driver: Result<Driver, String>,
        ready: &mpsc::Sender<Result<(), String>>,
        note: impl Fn(Stage),
    ) {
        let name = self.plan.resource.clone();
        let scope = Scope::resource(&name);
        let device = self.plan.device;
        let mut driver = match driver {
            Ok(driver) => driver,
            Err(reason) => {
                log!(Error, scope, "no block device /dev/ublkb{device}: {reason}");
                return drop(ready.send(Err(reason)));
            }
        };
        if matches!(how, How::Begin | How::Recover(_)) {
            self.supervise();
        }
        let made = match how {
            How::Begin => self.begin_or_go_on(&mut driver),
            How::Recover(record) => self.recover(&mut driver, record),
            How::Remove => {
                self.undo(&mut driver);
                return;
            }
        };
        let file = match made {
            Ok(Some(file)) => file,
            // What was left is gone by itself, or is left again.
            Ok(None) => return,
            Err(reason) => {
                log!(Error, scope, "no block device /dev/ublkb{device}: {reason}");
                // Whoever asked may have given up.
                drop(ready.send(Err(format!("no block device /dev/ublkb{device}: {reason}"))));
                return;
            }
        };
        if let Err(error) = self.link().make().and_then(|()| self.names.open(&self.plan)) {
            log!(Warning, scope, "no link leads to /dev/ublkb{device}: {error}");
        }
        log!(Notice, scope, "block device /dev/ublkb{device}");
        note(Stage::There);
        drop(ready.send(Ok(())));
        if let Fate::Goes(claim) = self.keep(&mut driver) {
            note(Stage::Going);
            self.end(&mut driver, claim, file);
        }
    }

    /// One that an earlier attempt could not take over, or not take away, may still be there.
    fn begin_or_go_on(&mut self, driver: &mut Driver) -> Result<Option<Arc<File>>, String> {
        let record = self.state.device_record(&self.plan.label());
        if let Some(record) = record.filter(|record| record.device == self.plan.device) {
            let taken = self.recover(driver, record)?;
            if taken.is_some() || self.ending.is_some() {
                return Ok(taken);
            }
            self.supervise();
        }
        self.begin(driver)
    }

    /// Makes and starts a device.
    fn begin(&mut self, driver: &mut Driver) -> Result<Option<Arc<File>>, String> {
        let facts = self.prepare().map_err(Refusal::into_reason)?;
        let made = self
            .add(driver, facts)
            .and_then(|()| self.serve(driver, &[], Driver::start).map_err(Refusal::into_reason));
        if made.is_ok()
            && let Err(error) = driver.drop_default_scheduler()
        {
            let (scope, device) = (Scope::resource(&self.plan.resource), self.plan.device);
            log!(Warning, scope, "/dev/ublkb{device} keeps the kernel's I/O scheduler: {error}");
        }
        if made.is_err() {
            self.undo(driver);
        }
        made.map(Some)
    }

    fn add(&mut self, driver: &mut Driver, facts: Facts) -> Result<(), String> {
        if self.supervisor.is_none() {
            return Err("nobody would end it if the daemon died; see the log".to_owned());
        }
        let (mark, device) = (self.plan.mark, self.plan.device);
        // One that was just removed keeps its number for a moment.
        let add = || driver.add(1, DEVICE_DEPTH, mark);
        let added = self.while_it_fails_with(&[libc::EEXIST], DEVICE_BUSY_PATIENCE, add);
        let info = added.map_err(|error| match error.raw_os_error() {
            Some(libc::EEXIST) => format!(
                "device number {device} is taken: give the volume another minor, or unmount what \
                 an earlier device of that number still holds"
            ),
            _ => format!("the driver does not add it: {error}"),
        })?;
        if info.depth != DEVICE_DEPTH || info.queues != 1 {
            return Err(format!("the driver made it with {} tags", info.depth));
        }
        let failed = |error: stdio::Error| format!("the driver refuses its parameters: {error}");
        driver.set_parameters(facts.size_bytes, self.plan.shape).map_err(failed)?;
        self.record(facts)
    }

    /// Opens the device's file, has the shard serve it, and starts it, which is tried again while
    /// it fails with one of these errors.
    fn serve(
        &mut self,
        driver: &mut Driver,
        passing: &[i32],
        start: fn(&mut Driver) -> stdio::Result<()>,
    ) -> Result<Arc<File>, Refusal> {
        let open = || driver.open_char();
        let opened = self.while_it_fails_with(&[libc::ENOENT], DEVICE_BUSY_PATIENCE, open);
        let file = opened.map_err(|error| format!("cannot open its queues: {error}"))?;
        let file = Arc::new(file);
        let (place, served) = (self.plan.place, Arc::clone(&file));
        let size = driver.size();
        self.tell(DeviceOrder::Serve { place, file: served, depth: DEVICE_DEPTH, size })?;
        match self.next_news(DEVICE_SHARD_DEADLINE) {
            Some(News::Serving) => self.is_fetched_for = true,
            other => return Err(self.refusal_of(other)),
        }
        let start = || start(driver);
        let started = self.while_it_fails_with(passing, DEVICE_RECOVERY_DEADLINE, start);
        started.map_err(|error| format!("it does not start: {error}"))?;
        Ok(file)
    }

    /// Takes over what the last daemon left. `None` if there is nothing to keep.
    fn recover(
        &mut self,
        driver: &mut Driver,
        record: DeviceRecord,
    ) -> Result<Option<Arc<File>>, String> {
        let (device, name) = (self.plan.device, self.plan.resource.clone());
        let scope = Scope::resource(&name);
        match self.wait_until_quiesced(driver) {
            Found::Waiting => {}
            Found::Nothing => {
                log!(
                    Notice,
                    scope,
                    "/dev/ublkb{device} is gone since: no daemon took it over in time, or the \
                     machine was restarted; `basalt adm primary {name}` makes it again"
                );
                return Ok(None);
            }
            Found::Unknown(error) => {
                return Err(self.kept(&format!("the driver failed: {error}")));
            }
            Found::Unwatched => return Ok(None),
        }
        log!(Notice, scope, "taking /dev/ublkb{device} over");
        let made = self.promote(record).and_then(|()| self.take_over(driver, record));
        // A device that is served hears of it later, of all in its order.
        if matches!(made, Err(Refusal::Passing(_))) {
            self.hear_of_an_end();
        }
        if matches!(self.ending, Some(News::Leave)) {
            return Ok(None);
        }
        let made = match made {
            Ok(file) => return Ok(Some(file)),
            Err(Refusal::Passing(reason)) if self.ending.is_none() => {
                self.post_end();
                Err(self.kept(&reason))
            }
            Err(refusal) => {
                self.undo(driver);
                Err(refusal.into_reason())
            }
        };
        self.give_role_up();
        made
    }

    /// Says why a device of the last daemon is not served, and is left as it is.
    fn kept(&self, reason: &str) -> String {
        let Plan { device, resource, .. } = &self.plan;
        let way = match self.is_fetched_for {
            true => "this daemon cannot try again, its restart has it taken over".to_owned(),
            false => format!("`basalt adm primary {resource}` tries again to take it over"),
        };
        format!(
            "{reason}; what an earlier daemon left is kept as it is for up to {} s, until a \
             supervisor ends it: {way}, or end it by `basalt device remove {device}`",
            self.timeout.as_secs()
        )
    }

    /// Serves the device as Primary.
    fn take_over(
        &mut self,
        driver: &mut Driver,
        record: DeviceRecord,
    ) -> Result<Arc<File>, Refusal> {
        let facts = self.prepare()?;
        Self::check_tenure(record, facts)?;
        self.record(facts)?;
        let _held = self.hold_for_takeover(driver)?;
        let begin = || driver.start_recovery();
        let begun = self.while_it_fails_with(RECOVERY_PASSING, DEVICE_RECOVERY_DEADLINE, begin);
        begun.map_err(|error| format!("the driver does not let it be taken: {error}"))?;
        let file = self.serve(driver, RECOVERY_PASSING, Driver::end_recovery)?;
        // The last daemon may have died before it did.
        self.follow(driver, facts.size_bytes);
        Ok(file)
    }

    fn follow(&self, driver: &mut Driver, size_bytes: u64) {
        if let Err(error) = driver.follow(size_bytes) {
            let (scope, device) = (Scope::resource(&self.plan.resource), self.plan.device);
            log!(
                Warning,
                scope,
                "/dev/ublkb{device} keeps its size until it is made anew by `secondary` and \
                 `primary`: {error}"
            );
        }
    }

    /// Keeps the supervisor of the last daemon from ending the device while it is being taken.
    fn hold_for_takeover(&mut self, driver: &mut Driver) -> Result<File, Refusal> {
        let path = self.state.takeover_path(&self.plan.label());
        let failed = |error| format!("cannot lock {}: {error}", path.display());
        let lock = File::create(&path).map_err(failed)?;
        let late = |what| Refusal::Final(format!("its users waited too long: it {what} removed"));
        // A supervisor has it for a moment, too, to see whether the last attempt is over.
        let take = || {
            lock.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => stdio::Error::from_raw_os_error(libc::EWOULDBLOCK),
                TryLockError::Error(error) => error,
            })
        };
        let taken = self.while_it_fails_with(&[libc::EWOULDBLOCK], DEVICE_BUSY_PATIENCE, take);
        taken.map_err(|error| match error.raw_os_error() {
            Some(libc::EWOULDBLOCK) => late("is being"),
            _ => failed(error).into(),
        })?;
        match driver.find(self.plan.mark) {
            Ok(Some(_)) => Ok(lock),
            Ok(None) => Err(late("was")),
            Err(error) => Err(format!("the driver does not tell of it: {error}").into()),
        }
    }

    /// Looks for a device of ours that waits for a server, and takes away what waits for none. The
    /// last daemon may still be on its way out.
    fn wait_until_quiesced(&mut self, driver: &mut Driver) -> Found {
        let until = io::now() + DEVICE_RECOVERY_DEADLINE;
        let gone = loop {
            if matches!(self.ending, Some(News::Leave)) {
                return Found::Unwatched;
            }
            let is_early = io::now() < until && self.ending.is_none();
            match driver.find(self.plan.mark).map(|info| info.map(|info| info.state)) {
                Ok(None) => {
                    self.forget();
                    break Ok(());
                }
                Ok(Some(DeviceState::Quiesced)) => return Found::Waiting,
                Ok(Some(DeviceState::Live)) if is_early => self.rest(DEVICE_POLL_INTERVAL),
                Ok(Some(DeviceState::Dead | DeviceState::Live | DeviceState::Other(_))) => {
                    break self.take_away(driver);
                }
                Err(error) if is_early && is_passing(&error) => self.rest(DEVICE_POLL_INTERVAL),
                Err(error) => break Err(error),
            }
        };
        match gone {
            Ok(()) => Found::Nothing,
            Err(error) => Found::Unknown(error),
        }
    }

    /// Becomes Primary again, for as long as the device's users may be kept waiting.
    fn promote(&mut self, record: DeviceRecord) -> Result<(), Refusal> {
        let until = io::now() + DEVICE_RECOVERY_DEADLINE;
        // A promotion that begins before the peers are there is repeated only after a while.
        let peers_until = io::now() + DEVICE_PROMOTION_LOOK;
        loop {
            let has_quorum = self.check_nobody_served(record)?;
            if !has_quorum && io::now() < peers_until && self.ending.is_none() {
                self.rest(DEVICE_PEER_LOOK);
                continue;
            }
            let place = self.plan.place;
            let order = |ticket| self.to_shard(DeviceOrder::Promote { ticket, place });
            // A promotion that takes longer goes on, and is asked after again.
            let Err(failure) = self.desk.ask(self.home(), order, DEVICE_PROMOTION_LOOK) else {
                return Ok(());
            };
            if io::now() >= until {
                let seconds = DEVICE_RECOVERY_DEADLINE.as_secs();
                let reason = format!("this node did not become Primary in {seconds} s: {failure}");
                return Err(Refusal::Final(reason));
            }
            self.rest(DEVICE_POLL_INTERVAL);
            if self.ending.is_some() {
                return Err(Refusal::Final("it is to be removed".to_owned()));
            }
        }
    }

    /// What this node knows may be old, but another tenure is never followed by an older one.
    /// Returns whether enough voters are in reach.
    fn check_nobody_served(&mut self, record: DeviceRecord) -> Result<bool, Refusal> {
        self.tell(DeviceOrder::AskTenure { news: self.news.clone() })?;
        match self.next_news(DEVICE_SHARD_DEADLINE) {
            Some(News::Tenure { last: Some(last), .. }) if last.0 != record.tenure => {
                Err(overtaken())
            }
            Some(News::Tenure { has_quorum, .. }) => Ok(has_quorum),
            other => Err(self.refusal_of(other)),
        }
    }

    /// This node is not Primary for a device that could not be kept, nor does it become Primary for
    /// one: what was asked for may yet be under way.
    fn give_role_up(&self) {
        self.insist(|| DeviceOrder::GiveUp { place: self.plan.place });
    }

    /// The page cache and the requests of a device belong to one tenure. Nobody else may have
    /// written meanwhile, and nothing may have been lost (C5).
    fn check_tenure(record: DeviceRecord, facts: Facts) -> Result<(), Refusal> {
        if facts.reign.tenure.0 != record.tenure {
            return Err(overtaken());
        }
        if facts.reign.losses != record.losses {
            let reason = "completed writes may be lost: its users get errors";
            return Err(Refusal::Final(reason.to_owned()));
        }
        Ok(())
    }

    /// Until the device is to go.
    fn keep(&mut self, driver: &mut Driver) -> Fate {
        let name = self.plan.resource.clone();
        let device = self.plan.device;
        let mut claim = None;
        if let Some(size_bytes) = self.grown.take() {
            self.follow(driver, size_bytes);
        }
        loop {
            let news = match self.ending.take() {
                Some(news) => Ok(news),
                None => self.inbox.recv(),
            };
            match news.expect("this thread holds a sender itself") {
                News::Over(reason) => {
                    log!(Notice, Scope::resource(&name), "/dev/ublkb{device} ends: {reason}");
                    return Fate::Goes(claim);
                }
                News::Remove(held) => {
                    // Who comes later may have none.
                    claim = held.or(claim);
                    self.post_end();
                }
                News::Leave => {
                    self.leave();
                    return Fate::Left;
                }
                News::Unsupervised(how) => self.on_unsupervised(&how),
                News::Grown(size_bytes) => self.follow(driver, size_bytes),
                News::Tenure { .. }
                | News::Prepared(_)
                | News::Occupied
                | News::Serving
                | News::Refused(_) => {}
                News::Ended => return Fate::Goes(claim),
            }
        }
    }

    /// Takes it away.
    fn end(&mut self, driver: &mut Driver, claim: Option<Claim>, file: Arc<File>) {
        let (name, device) = (self.plan.resource.clone(), self.plan.device);
        if let Err(error) = driver.stop() {
            log!(Error, Scope::resource(&name), "/dev/ublkb{device} does not stop: {error}");
        }
        self.wait_until_ended();
        drop((claim, file));
        if let Err(error) = self.delete(driver) {
            self.say_it_stays(&error);
        }
    }

    /// Leaves the device to the next daemon, with all its requests.
    fn leave(&mut self) {
        let order = |ticket| self.to_shard(DeviceOrder::Leave { ticket });
        let left = self.desk.ask_surely(self.home(), order, DEVICE_SHARD_DEADLINE, || {
            self.say_overloaded();
        });
        // Another device of the resource may have let it go already.
        if let Err(failure) = left
            && failure.code != FailureCode::UnknownResource
        {
            log!(
                Warning,
                Scope::resource(&self.plan.resource),
                "its device was not left: {failure}"
            );
        }
    }

    /// Nothing of a device that did not come to be stays behind.
    fn undo(&mut self, driver: &mut Driver) {
        self.post_end();
        if let Err(error) = self.take_away(driver) {
            self.say_it_stays(&error);
        }
    }

    /// On error it may be there: its record stays.
    fn take_away(&mut self, driver: &mut Driver) -> stdio::Result<()> {
        if driver.find(self.plan.mark)?.is_none() {
            self.forget();
            return Ok(());
        }
        // One that was never started cannot be stopped, and is deleted as well.
        drop(driver.stop());
        self.delete(driver)
    }

    /// On error it stays, and its record with it: its supervisor is not dismissed, and tries again
    /// in a while.
    fn delete(&mut self, driver: &mut Driver) -> stdio::Result<()> {
        let deleted = driver.delete();
        if let Err(error) = self.link().remove().and_then(|()| self.names.close(&self.plan)) {
            let scope = Scope::resource(&self.plan.resource);
            log!(Warning, scope, "a link to the device stays: {error}");
        }
        match deleted {
            Ok(()) => self.forget(),
            Err(_) => self.supervisor = None,
        }
        deleted
    }

    fn say_it_stays(&self, error: &stdio::Error) {
        let Plan { device, resource, .. } = &self.plan;
        log!(
            Error,
            Scope::resource(resource),
            "/dev/ublkb{device} stays, for the driver does not take it away: {error}; try `basalt \
             device remove {device} --force`"
        );
    }

    fn link(&self) -> Link {
        let Plan { resource, volume, device, .. } = &self.plan;
        Link::new(links::DIRECTORY.as_ref(), resource, *volume, links::name_of(*device))
    }

    fn prepare(&mut self) -> Result<Facts, Refusal> {
        let (place, news) = (self.plan.place, self.news.clone());
        self.tell(DeviceOrder::Prepare { place, news })?;
        match self.next_news(DEVICE_SHARD_DEADLINE) {
            Some(News::Prepared(facts)) => Ok(facts),
            other => Err(self.refusal_of(other)),
        }
    }

    fn tell(&self, order: DeviceOrder) -> Result<(), String> {
        let is_told = self.desk.tell(self.home(), self.to_shard(order));
        is_told.then_some(()).ok_or_else(|| overloaded().to_string())
    }

    /// The shard that takes the device's requests.
    fn home(&self) -> u8 {
        self.desk.home_of(&self.plan.resource)
    }

    fn post_end(&self) {
        self.insist(|| DeviceOrder::End { place: self.plan.place });
    }

    /// Tells what must not be lost. A shard that is gone serves nothing any more.
    fn insist(&self, order: impl Fn() -> DeviceOrder) {
        let message = || self.to_shard(order());
        self.desk.insist(self.home(), message, || self.say_overloaded());
    }

    fn to_shard(&self, order: DeviceOrder) -> ToShard {
        ToShard::Device { resource: self.plan.resource.clone(), order }
    }

    fn say_overloaded(&self) {
        let (scope, device) = (Scope::resource(&self.plan.resource), self.plan.device);
        log!(Warning, scope, "/dev/ublkb{device} waits for an overloaded data thread");
    }

    fn wait_until_ended(&mut self) {
        let until = io::now() + DEVICE_SHARD_DEADLINE;
        while let Some(news) = self.next_news(until.since(io::now())) {
            if matches!(news, News::Ended) {
                return;
            }
        }
        log!(
            Warning,
            Scope::resource(&self.plan.resource),
            "its device has not ended its requests"
        );
    }

    fn next_news(&mut self, limit: Duration) -> Option<News> {
        let until = io::now() + limit;
        loop {
            let news = self.inbox.recv_timeout(until.since(io::now())).ok()?;
            match news {
                News::Unsupervised(how) => self.on_unsupervised(&how),
                News::Grown(size_bytes) => self.grown = Some(size_bytes),
                news @ (News::Tenure { .. }
                | News::Prepared(_)
                | News::Occupied
                | News::Refused(_)
                | News::Serving
                | News::Over(_)
                | News::Ended
                | News::Remove(_)
                | News::Leave) => return Some(news),
            }
        }
    }

    /// Why something did not happen, from what came instead.
    fn refusal_of(&mut self, news: Option<News>) -> Refusal {
        let reason = match news {
            Some(News::Over(reason)) => return Refusal::Final(reason),
            Some(News::Refused(reason)) => reason,
            Some(News::Occupied) => {
                self.is_fetched_for = true;
                "the data thread still waits for requests of an earlier attempt".to_owned()
            }
            Some(news @ (News::Remove(_) | News::Leave)) => {
                self.ending = Some(news);
                "it is to be removed".to_owned()
            }
            Some(
                News::Tenure { .. }
                | News::Prepared(_)
                | News::Serving
                | News::Ended
                | News::Grown(_)
                | News::Unsupervised(_),
            )
            | None => "the data thread does not answer".to_owned(),
        };
        Refusal::Passing(reason)
    }

    /// An order that came while the driver, or the shard, had this thread wait.
    fn hear_of_an_end(&mut self) {
        while self.ending.is_none()
            && let Some(news) = self.next_news(Duration::ZERO)
        {
            if matches!(news, News::Remove(_) | News::Leave) {
                self.ending = Some(news);
            }
        }
    }

    /// Waits a little, or less if the device is to go.
    fn rest(&mut self, pause: Duration) {
        if let Some(news) = self.next_news(pause) {
            self.ending = Some(news);
        }
    }

    fn while_it_fails_with<T>(
        &mut self,
        errors: &[i32],
        limit: Duration,
        mut attempt: impl FnMut() -> stdio::Result<T>,
    ) -> stdio::Result<T> {
        let until = io::now() + limit;
        loop {
            match attempt() {
                Err(error)
                    if error.raw_os_error().is_some_and(|errno| errors.contains(&errno))
                        && io::now() < until
                        && self.ending.is_none() =>
                {
                    self.rest(DEVICE_POLL_INTERVAL);
                }
                result => return result,
            }
        }
    }

    fn record(&self, facts: Facts) -> Result<(), String> {
        let record = DeviceRecord {
            device: self.plan.device,
            tenure: facts.reign.tenure.0,
            losses: facts.reign.losses,
        };
        self.state
            .store_device(&self.plan.label(), record)
            .map_err(|error| format!("cannot record it in the state directory: {error}"))
    }

    /// Starts the process that ends the device if this one dies and no other one comes.
    fn supervise(&mut self) {
        let supervised = Supervised {
            device: self.plan.device,
            mark: self.plan.mark,
            resource: self.plan.resource.clone(),
            volume: self.plan.volume,
            server: std::process::id(),
            timeout: self.timeout,
            lock: self.state.takeover_path(&self.plan.label()),
        };
        self.supervisors_started += 1;
        match Supervisor::start(&supervised, self.news.clone()) {
            Ok(supervisor) => self.supervisor = Some(supervisor),
            Err(error) => {
                let (scope, device) = (Scope::resource(&self.plan.resource), self.plan.device);
                log!(Error, scope, "cannot start a supervisor of /dev/ublkb{device}: {error}");
            }
        }
    }

    /// Its supervisor died: the next one takes its place.
    fn on_unsupervised(&mut self, how: &str) {
        self.supervisor = None;
        let (name, device) = (self.plan.resource.clone(), self.plan.device);
        let scope = Scope::resource(&name);
        if self.supervisors_started < DEVICE_SUPERVISORS_MAX {
            log!(
                Warning,
                scope,
                "the supervisor of /dev/ublkb{device} ended ({how}): the next one starts"
            );
            self.supervise();
        } else {
            log!(
                Error,
                scope,
                "the supervisor of /dev/ublkb{device} ended too often ({how}): if this daemon \
                 dies, its users wait until it runs again, or for `basalt device remove {device}`"
            );
        }
    }

    fn forget(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.dismiss();
        }
        if let Err(error) = self.state.forget_device(&self.plan.label()) {
            let scope = Scope::resource(&self.plan.resource);
            log!(Warning, scope, "the record of its device stays: {error}");
        }
    }
}

fn overtaken() -> Refusal {
    Refusal::Final("another node was Primary meanwhile: its users get errors".to_owned())
}

#[cfg(test)]
pub(super) mod tests;
