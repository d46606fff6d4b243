//! Block devices of this machine: made when this node is told to be Primary, kept while the daemon
//! is away, removed when the node steps back.
//!
//! ```text
//! primary   -> promote -> add, start  -> links in /dev/basalt/by-res
//! secondary -> claim, sync -> end, stop, delete -> demote
//! a crash   -> the kernel holds all requests; the next daemon promotes, checks that nobody else
//!              was Primary meanwhile, and takes the device over; else it is stopped, with errors
//! ```
//!
//! A thread of its own keeps each device (`keeper`), for commands to the driver take their time;
//! the shard tells it by [`News`] how the service goes. A process beside the daemon (`supervisor`
//! starts it, `supervise` is what it does) ends a device that no daemon takes over in time. What a
//! device was made of is recorded in the state directory before its first request, so that the next
//! daemon knows it again.

mod keeper;
mod driver;
mod links;
mod supervisor;
pub(crate) mod supervise;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io as stdio;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::definition::Definition;
use crate::desk::Desk;
use crate::devices::driver::CONTROL_DEVICE;
use crate::devices::keeper::{How, Keeper};
use crate::limits::{DEVICE_COMMAND_DEADLINE, DEVICE_LEAVE_DEADLINE};
use crate::log::{Scope, log};
use crate::shard::messages::Force;
use crate::state_dir::StateDir;
use crate::ublk::News;
use api::response::{Failure, FailureCode};

/// A device as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) resource: String,
    pub(crate) volume: u16,
    /// The N of /dev/ublkbN: the minor of the configuration.
    pub(crate) device: u32,
    /// What the kernel keeps with the device, so that it is known again.
    pub(crate) mark: u64,
}

impl Plan {
    fn of(definition: &Definition) -> Option<Self> {
        let mark = u64::try_from(definition.id.0 & u128::from(u64::MAX)).expect("cut to 64 bits");
        Some(Self {
            resource: definition.name.clone(),
            volume: definition.volume,
            device: definition.device?,
            mark,
        })
    }
}

#[derive(Debug)]
pub(crate) struct Devices {
    desk: Arc<Desk>,
    state: Arc<StateDir>,
    timeout: Duration,
    /// By resource; an entry goes when its thread is done.
    kept: Mutex<BTreeMap<String, Kept>>,
    changed: Condvar,
    absence_said: AtomicBool,
}

#[derive(Debug)]
struct Kept {
    device: u32,
    news: mpsc::Sender<News>,
}

impl Devices {
    pub(crate) fn new(desk: Arc<Desk>, state: Arc<StateDir>, timeout: Duration) -> Self {
        Self {
            desk,
            state,
            timeout,
            kept: Mutex::default(),
            changed: Condvar::new(),
            absence_said: AtomicBool::new(false),
        }
    }

    /// Makes the device of a resource that is Primary, and returns when it can be used. Without a
    /// device in the configuration, or a driver in the kernel, there is none.
    pub(crate) fn start(self: &Arc<Self>, definition: &Definition) -> Result<(), String> {
        let Some(plan) = Plan::of(definition) else { return Ok(()) };
        if !Path::new(CONTROL_DEVICE).exists() {
            self.say_absence();
            return Ok(());
        }
        let (ready, answer) = mpsc::channel();
        let device = plan.device;
        if !self.keep(plan, How::Begin, ready)? {
            return Ok(());
        }
        match answer.recv_timeout(DEVICE_COMMAND_DEADLINE) {
            Ok(result) => result,
            Err(_) => Err(format!("/dev/ublkb{device} is not there yet; see the daemon's log")),
        }
    }

    /// Takes over what the last daemon left; each device when its resource is Primary here again.
    pub(crate) fn recover(self: &Arc<Self>, definitions: &[Definition]) {
        for (resource, record) in self.state.device_records() {
            let scope = Scope::resource(&resource);
            let definition = definitions.iter().find(|definition| definition.name == resource);
            let Some(mut plan) = definition.and_then(Plan::of) else {
                log!(Error, scope, "a device of it was left behind, and it has none any more");
                continue;
            };
            plan.device = record.device;
            let (ready, _) = mpsc::channel();
            if let Err(reason) = self.keep(plan, How::Recover(record), ready) {
                log!(Error, scope, "its device is not taken over: {reason}");
            }
        }
    }

    /// Removes the device of a resource, if it has one, and returns when it is gone: whether there
    /// was one.
    pub(crate) fn remove(&self, resource: &str, force: Force) -> Result<bool, Failure> {
        let Some((device, news)) = self.find(resource) else { return Ok(false) };
        let claim = match force {
            Force::Yes => None,
            Force::No => claim(device)?,
        };
        if let Some(claim) = &claim {
            // What was written without a sync goes out while it still can.
            claim.sync_all().map_err(|error| {
                let message = format!("cannot write out what /dev/ublkb{device} holds: {error}");
                Failure::new(FailureCode::DiskFailed, message, "--force gives it up")
            })?;
        }
        // The thread may just be done with it.
        drop(news.send(News::Remove(claim)));
        if !self.is_gone_within(resource, DEVICE_COMMAND_DEADLINE) {
            let message = format!("/dev/ublkb{device} is not gone yet");
            let hint = "see the daemon's log, and try again";
            return Err(Failure::new(FailureCode::Timeout, message, hint));
        }
        Ok(true)
    }

    /// The daemon ends: a device that nobody uses goes, one in use waits for the next daemon.
    pub(crate) fn end_all(&self) {
        let all: Vec<String> = self.lock().keys().cloned().collect();
        for resource in all {
            match self.remove(&resource, Force::No) {
                Ok(_) => {}
                Err(failure) if failure.code == FailureCode::DeviceInUse => {
                    let scope = Scope::resource(&resource);
                    log!(Notice, scope, "its device is in use, and is left to the next daemon");
                    if let Some((_, news)) = self.find(&resource) {
                        drop(news.send(News::Leave));
                    }
                    if !self.is_gone_within(&resource, DEVICE_LEAVE_DEADLINE) {
                        log!(Warning, scope, "its device was not left in time");
                    }
                }
                Err(failure) => log!(Warning, Scope::resource(&resource), "{failure}"),
            }
        }
    }

    fn say_absence(&self) {
        if !self.absence_said.swap(true, Ordering::Relaxed) {
            log!(
                Notice,
                Scope::NODE,
                "there are no block devices, for {CONTROL_DEVICE} is missing: load the module \
                 ublk_drv (Linux 6.5 or later); volumes are served over NBD"
            );
        }
    }

    /// Starts the thread of a device; false if there is one already.
    fn keep(
        self: &Arc<Self>,
        plan: Plan,
        how: How,
        ready: mpsc::Sender<Result<(), String>>,
    ) -> Result<bool, String> {
        let (news, inbox) = mpsc::channel();
        let mut kept = self.lock();
        if kept.contains_key(&plan.resource) {
            return Ok(false);
        }
        let keeper = Keeper::new(
            Arc::clone(&self.desk),
            Arc::clone(&self.state),
            plan.clone(),
            self.timeout,
            (news.clone(), inbox),
        );
        let devices = Arc::clone(self);
        let resource = plan.resource.clone();
        thread::Builder::new()
            .name(format!("ublkb{}", plan.device))
            .spawn(move || {
                keeper.run(how, &ready);
                devices.lock().remove(&resource);
                devices.changed.notify_all();
            })
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        kept.insert(plan.resource, Kept { device: plan.device, news });
        Ok(true)
    }

    fn find(&self, resource: &str) -> Option<(u32, mpsc::Sender<News>)> {
        self.lock().get(resource).map(|kept| (kept.device, kept.news.clone()))
    }

    fn is_gone_within(&self, resource: &str, limit: Duration) -> bool {
        let until = io::now() + limit;
        let mut kept = self.lock();
        while kept.contains_key(resource) {
            let rest = until.since(io::now());
            if rest == Duration::ZERO {
                return false;
            }
            let waited = self.changed.wait_timeout(kept, rest);
            kept = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a block device that nobody has mounted or claimed otherwise, so that nobody can.
fn claim(device: u32) -> Result<Option<File>, Failure> {
    let path = driver::block_path(device);
    let mut open = OpenOptions::new();
    match open.read(true).write(true).custom_flags(libc::O_EXCL).open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == stdio::ErrorKind::ResourceBusy => {
            let message = format!("{} is mounted, or in use by another layer", path.display());
            let hint = "unmount it first (`lsblk` shows what holds it); --force cuts it off";
            Err(Failure::new(FailureCode::DeviceInUse, message, hint))
        }
        // There is no device yet, or no longer.
        Err(_) => Ok(None),
    }
}
