//! The process beside a block device: it ends the device when no daemon follows one that died.
//!
//! ```text
//! daemon lives   asleep: standard input is a pipe from the daemon, and nothing comes
//! daemon says    DISMISSED: the device is gone, or another's; end
//! daemon died    end of the input: from here on the kernel holds the device's requests;
//!                look: a daemon serves it again, or it is gone -> end
//!                      the time is up                          -> stop and delete it, end
//! ```
//!
//! Up to Linux 6.12 a device that outlives its server waits for the next one without end, and with
//! it whoever reads or writes it: only a process that does not die with the daemon can see to that.
//! All that it needs is there before the daemon dies, with its pages in memory: it may be the one
//! that lets the kernel free some. A takeover that has begun is waited for: the file of the lock is
//! held by a daemon while it takes the device, and here while the device is stopped. If nothing
//! comes of it, the time begins anew: there may be another one.

use std::fs::{File, TryLockError};
use std::io as stdio;
use std::io::Read;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use engine::log::{Scope, log};
use frontend::ublk::control::{DeviceInfo, DeviceState};
use io::process::LockedPages;
use stdx::time::Time;

use crate::devices::driver::Driver;
use crate::devices::links::{self, DIRECTORY, Link};
use crate::devices::names;
use crate::limits::{
    DEVICE_STOP_ATTEMPTS_MAX, DEVICE_STOP_INTERVAL, DEVICE_SUPERVISOR_INTERVAL,
    DEVICE_WAITS_ANEW_MAX,
};

/// What a daemon writes to the supervisor of a device that is gone.
pub(super) const DISMISSED: u8 = b'd';

/// A device that is supervised.
#[derive(Clone, Debug)]
pub struct Supervised {
    /// The N of /dev/ublkbN.
    pub device: u32,
    /// What the kernel keeps with it.
    pub mark: u64,
    pub resource: String,
    pub volume: u16,
    /// The daemon that serves it.
    pub server: u32,
    /// How long its users wait for the next one.
    pub timeout: Duration,
    /// Held while a daemon takes the device over.
    pub lock: PathBuf,
}

/// Watches over a block device until it is gone, or in the hands of another daemon.
///
/// # Errors
/// If it could not watch, or could not end the device.
pub fn supervise(supervised: &Supervised) -> Result<(), String> {
    // What is refused is of no use to say: without it the process works as long as memory lasts.
    drop(io::process::lock_memory(LockedPages::All));
    let mut driver = Driver::open(supervised.device)?;
    let lock = File::create(&supervised.lock)
        .map_err(|error| format!("cannot open {}: {error}", supervised.lock.display()))?;
    let scope = Scope::resource(&supervised.resource);
    let device = supervised.device;
    if is_dismissed() {
        return Ok(());
    }
    let mut watch = Watch::new(supervised, io::now());
    let mut is_said = false;
    let mut attempts = 0;
    loop {
        match watch.step(&driver.find(supervised.mark), io::now()) {
            Step::End => return Ok(()),
            Step::Wait => {
                if !is_said {
                    let seconds = supervised.timeout.as_secs();
                    log!(
                        Warning,
                        scope,
                        "the daemon of /dev/ublkb{device} is gone: its users wait {seconds} s for \
                         another one"
                    );
                    is_said = true;
                }
                thread::park_timeout(DEVICE_SUPERVISOR_INTERVAL);
            }
            Step::Stop => match watch.stop(&mut driver, &lock, io::now()) {
                Ok(Stopped::Yes) => {
                    say_end(supervised);
                    return Ok(());
                }
                Ok(Stopped::No) => thread::park_timeout(DEVICE_SUPERVISOR_INTERVAL),
                Err(error) => {
                    attempts += 1;
                    if attempts == DEVICE_STOP_ATTEMPTS_MAX {
                        return Err(format!(
                            "/dev/ublkb{device} does not end: {error}; try `basalt device remove \
                             {device}`"
                        ));
                    }
                    log!(Error, scope, "/dev/ublkb{device} does not end: {error}");
                    thread::park_timeout(DEVICE_STOP_INTERVAL);
                }
            },
        }
    }
}

/// Waits for the daemon's word or its end: whether it said that nothing is left to watch over.
fn is_dismissed() -> bool {
    let mut byte = [0];
    loop {
        match stdio::stdin().read(&mut byte) {
            Ok(0) => return false,
            Ok(_) => return byte[0] == DISMISSED,
            Err(error) if error.kind() == stdio::ErrorKind::Interrupted => {}
            // Better too early awake than never: the device is looked at.
            Err(_) => return false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Wait,
    /// Nothing is left to do.
    End,
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Yes,
    /// A daemon is taking it over, or has.
    No,
}

/// What was seen of a device whose daemon is gone.
#[derive(Debug)]
struct Watch<'a> {
    supervised: &'a Supervised,
    /// When its users began to wait.
    since: Time,
    /// It waited for a server: who serves it now is none that died.
    was_left: bool,
    /// A daemon was taking it over, last time.
    is_taken: bool,
    waits_anew: u32,
}

impl<'a> Watch<'a> {
    fn new(supervised: &'a Supervised, now: Time) -> Self {
        Self { supervised, since: now, was_left: false, is_taken: false, waits_anew: 0 }
    }

    /// What to do about the device, by what the driver says.
    fn step(&mut self, found: &stdio::Result<Option<DeviceInfo>>, now: Time) -> Step {
        let is_time_up = now.since(self.since) >= self.supervised.timeout;
        let info = match found {
            Ok(Some(info)) => info,
            Ok(None) => return Step::End,
            // It may be there, and its users wait.
            Err(_) if is_time_up => return Step::Stop,
            Err(_) => return Step::Wait,
        };
        match info.state {
            // A daemon has it again, be it one of the same number.
            DeviceState::Live if self.was_left || info.server != self.supervised.server => {
                Step::End
            }
            // The old one is still dying; one that is served is never stopped from here.
            DeviceState::Live if is_time_up => Step::End,
            DeviceState::Live => Step::Wait,
            DeviceState::Quiesced | DeviceState::Dead | DeviceState::Other(_) => {
                self.was_left |= info.state == DeviceState::Quiesced;
                if is_time_up { Step::Stop } else { Step::Wait }
            }
        }
    }

    /// Fails all requests, takes the device away and deletes it.
    fn stop(&mut self, driver: &mut Driver, lock: &File, now: Time) -> stdio::Result<Stopped> {
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                self.is_taken = true;
                return Ok(Stopped::No);
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if std::mem::take(&mut self.is_taken) && self.waits_anew < DEVICE_WAITS_ANEW_MAX {
            self.waits_anew += 1;
            self.since = now;
        }
        // Who held the lock a moment ago may serve the device by now.
        let found = driver.find(self.supervised.mark);
        let stopped = match (self.step(&found, now), found) {
            (Step::Stop, Err(error)) => Err(error),
            (Step::Stop, Ok(_)) => end(driver).map(|()| Stopped::Yes),
            (Step::Wait | Step::End, _) => Ok(Stopped::No),
        };
        lock.unlock()?;
        stopped
    }
}

fn end(driver: &mut Driver) -> stdio::Result<()> {
    driver.stop()?;
    driver.delete()
}

fn say_end(supervised: &Supervised) {
    let Supervised { device, resource, volume, .. } = supervised;
    let scope = Scope::resource(resource);
    let seconds = supervised.timeout.as_secs();
    log!(
        Error,
        scope,
        "no daemon took /dev/ublkb{device} over in {seconds} s: its users got errors, and it is \
         gone; start the daemon, then `basalt adm primary {resource}`"
    );
    let name = links::name_of(*device);
    let link = Link::new(DIRECTORY.as_ref(), resource, *volume, name);
    if let Err(error) = link.remove().and_then(|()| names::remove_all_to(*device)) {
        log!(Warning, scope, "a link to the device stays: {error}");
    }
}

/// Whether a device that a daemon serves is removed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    Refuse,
    CutOff,
}

/// Removes a block device without a daemon: its users get errors.
///
/// # Errors
/// If there is no such device, a daemon serves it, or the driver does not do it.
pub fn remove_device(device: u32, served: Served) -> Result<(), String> {
    let mut driver = Driver::open(device)?;
    let info = driver
        .info()
        .map_err(|error| format!("cannot ask for /dev/ublkb{device}: {error}"))?
        .ok_or_else(|| format!("there is no device /dev/ublkb{device}"))?;
    if info.state == DeviceState::Live && served == Served::Refuse {
        return Err(format!(
            "process {} serves /dev/ublkb{device}: `basalt adm secondary` takes it away in good \
             order, --force cuts its users off",
            info.server
        ));
    }
    end(&mut driver).map_err(|error| format!("cannot remove /dev/ublkb{device}: {error}"))?;
    links::remove_all_to(DIRECTORY.as_ref(), &links::name_of(device))
        .and_then(|()| names::remove_all_to(device))
        .map_err(|error| format!("/dev/ublkb{device} is gone, and a link to it is not: {error}"))
}

#[cfg(test)]
mod tests {
    use frontend::ublk::control::operation;

    use super::*;
    use crate::devices::keeper::tests::{Kernel, driver};

    const LIMIT: Duration = Duration::from_secs(30);

    fn supervised() -> Supervised {
        Supervised {
            device: 3,
            mark: 7,
            resource: "r0".to_owned(),
            volume: 0,
            server: 100,
            timeout: LIMIT,
            lock: PathBuf::from("unused"),
        }
    }

    fn info(state: DeviceState, server: u32) -> DeviceInfo {
        DeviceInfo { queues: 1, depth: 1, state, device: 3, server, flags: 0, mark: 7 }
    }

    fn step(info: Option<DeviceInfo>, waited: Duration) -> Step {
        step_of(&Ok(info), waited)
    }

    fn step_of(found: &stdio::Result<Option<DeviceInfo>>, waited: Duration) -> Step {
        let (supervised, now) = (supervised(), io::now());
        Watch::new(&supervised, now).step(found, now + waited)
    }

    #[test]
    fn device_that_waits_is_stopped_when_the_time_is_up_and_not_before() {
        for state in [DeviceState::Quiesced, DeviceState::Dead, DeviceState::Other(9)] {
            let info = info(state, 100);
            assert_eq!(step(Some(info), LIMIT - Duration::from_millis(1)), Step::Wait);
            assert_eq!(step(Some(info), LIMIT), Step::Stop);
        }
    }

    #[test]
    fn device_that_another_daemon_serves_is_let_go() {
        let other = info(DeviceState::Live, 101);
        for waited in [Duration::ZERO, LIMIT] {
            assert_eq!(step(Some(other), waited), Step::End);
        }
    }

    #[test]
    fn dying_daemon_is_waited_for_and_what_is_served_is_never_stopped() {
        let own = info(DeviceState::Live, 100);
        assert_eq!(step(Some(own), Duration::ZERO), Step::Wait);
        assert_eq!(step(Some(own), LIMIT), Step::End);
    }

    #[test]
    fn device_that_is_gone_is_no_business() {
        for waited in [Duration::ZERO, LIMIT] {
            assert_eq!(step(None, waited), Step::End);
        }
    }

    /// It took any error for the end of the device, and nobody ended that for its users.
    #[test]
    fn device_that_cannot_be_looked_at_is_watched_further() {
        for errno in [libc::EAGAIN, libc::EIO] {
            let failed = Err(stdio::Error::from_raw_os_error(errno));
            assert_eq!(step_of(&failed, Duration::ZERO), Step::Wait);
            assert_eq!(step_of(&failed, LIMIT), Step::Stop);
        }
    }

    /// A daemon that had not got it, and then got it, was taken for the one that died: once that
    /// failed again, its users had what was left of the time of the first failure.
    #[test]
    fn device_that_waited_and_is_served_again_is_let_go_whoever_serves_it() {
        let (supervised, now) = (supervised(), io::now());
        let mut watch = Watch::new(&supervised, now);
        let found = |state| Ok(Some(info(state, 100)));
        assert_eq!(watch.step(&found(DeviceState::Live), now), Step::Wait);
        assert_eq!(watch.step(&found(DeviceState::Quiesced), now), Step::Wait);
        assert_eq!(watch.step(&found(DeviceState::Live), now), Step::End);
    }

    /// The daemon that tried said that its users wait for another attempt, and a look later it was
    /// ended: the time had run while a daemon tried.
    #[test]
    fn users_wait_anew_after_a_daemon_that_tried_until_their_time_was_up_but_not_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r0.takeover");
        let (lock, daemon) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        let kernel = Kernel::with(&[]);
        kernel.lock().unwrap().mark = supervised().mark;
        let (mut driver, supervised) = (driver(&kernel), supervised());
        let mut now = io::now();
        let mut watch = Watch::new(&supervised, now);
        for attempt in 0..=DEVICE_WAITS_ANEW_MAX {
            now = now + LIMIT;
            assert_eq!(watch.step(&driver.find(7), now), Step::Stop);
            daemon.lock().unwrap();
            assert_eq!(watch.stop(&mut driver, &lock, now).unwrap(), Stopped::No);
            daemon.unlock().unwrap();
            now = now + LIMIT;
            let is_last = attempt == DEVICE_WAITS_ANEW_MAX;
            let stopped = watch.stop(&mut driver, &lock, now).unwrap();
            assert_eq!(stopped == Stopped::Yes, is_last, "{attempt}");
            let asked = kernel.lock().unwrap().asked.contains(&operation::DELETE_ASYNC);
            assert_eq!(asked, is_last, "{attempt}");
            assert_eq!(watch.step(&driver.find(7), now) == Step::Wait, !is_last, "{attempt}");
        }
    }
}
