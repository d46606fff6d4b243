//! Block devices of this machine: made when this node is told to be Primary, kept while the daemon
//! is away, removed when the node steps back.
//!
//! ```text
//! primary   -> promote -> add, start  -> links in /dev/basalt/by-res
//! secondary -> claim, sync -> end, stop, delete -> demote
//! up, down  -> DRBD's names for it, where they are wanted (`names`)
//! a crash   -> the kernel holds all requests; the next daemon promotes, checks that nobody else
//!              was Primary meanwhile, and takes the device over; else it is stopped, with errors
//! ```
//!
//! A thread of its own keeps each device (`keeper`), for commands to the driver take their time;
//! the shard tells it by [`News`] how the service goes. A process beside the daemon (`supervisor`
//! starts it, `supervise` is what it does) ends a device that no daemon takes over in time. What a
//! device was made of is recorded in the state directory before its first request, so that the next
//! daemon knows it again.

mod kept;
mod keeper;
mod driver;
mod links;
pub(crate) mod names;
mod supervisor;
pub(crate) mod supervise;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use format::space::Place;
use frontend::ublk::control::Shape;

use crate::definition::{Definition, OwnVolume};
use crate::desk::Desk;
use crate::devices::driver::CONTROL_DEVICE;
use crate::devices::keeper::{How, Keeper};
use crate::devices::kept::{AllKept, Kept, Settled};
use crate::devices::names::Names;
use crate::limits::{DEVICE_COMMAND_DEADLINE, DEVICE_LEAVE_DEADLINE};
use crate::log::{Scope, log};
use crate::shard::messages::Force;
use crate::state_dir::StateDir;
use crate::ublk::News;
use api::response::{Failure, FailureCode};
use stdx::time::Time;

/// A device as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) resource: String,
    pub(crate) volume: u16,
    pub(crate) place: Place,
    /// The N of /dev/ublkbN: the minor of the configuration.
    pub(crate) device: u32,
    /// What the kernel keeps with the device, so that it is known again.
    pub(crate) mark: u64,
    pub(crate) shape: Shape,
}

/// `block-size` and `discard-granularity`: what is tracked is the least.
fn shape_of(definition: &Definition, place: Place) -> Shape {
    let Some(options) = definition.volume_options(place) else { return Shape::DEFAULT };
    let granularity = options.discard_granularity_bytes;
    Shape {
        logical_bytes: options.block_bytes,
        discard_bytes: match granularity {
            None => Shape::DEFAULT.discard_bytes,
            Some(0) => 0,
            Some(bytes) => bytes.next_power_of_two().max(Shape::DEFAULT.discard_bytes),
        },
    }
}

impl Plan {
    /// The devices of a resource, one for each of its volumes that has a minor.
    fn all_of(definition: &Definition) -> Vec<Self> {
        let mark = u64::try_from(definition.id.0 & u128::from(u64::MAX)).expect("cut to 64 bits");
        let plan = |volume: OwnVolume<'_>| {
            Some(Self {
                resource: definition.name.clone(),
                volume: volume.number,
                place: volume.place,
                device: volume.device?,
                mark: mark.wrapping_add(volume.place.number().into()),
                shape: shape_of(definition, volume.place),
            })
        };
        definition.volumes().filter_map(plan).collect()
    }

    /// Its name among the devices of this node.
    pub(crate) fn label(&self) -> String {
        if self.place == Place::FIRST {
            return self.resource.clone();
        }
        format!("{}@{}", self.resource, self.volume)
    }
}

#[derive(Debug)]
pub(crate) struct Devices {
    desk: Arc<Desk>,
    state: Arc<StateDir>,
    timeout: Duration,
    names: Names,
    all: AllKept,
    absence_said: AtomicBool,
}

impl Devices {
    pub(crate) fn new(
        desk: Arc<Desk>,
        state: Arc<StateDir>,
        timeout: Duration,
        names: Names,
    ) -> Self {
        Self {
            desk,
            state,
            timeout,
            names,
            all: AllKept::default(),
            absence_said: AtomicBool::new(false),
        }
    }

    /// Makes the devices of a resource that is Primary, and returns when they can be used. Without
    /// a device in the configuration, or a driver in the kernel, there is none.
    pub(crate) fn start(self: &Arc<Self>, definition: &Definition) -> Result<(), String> {
        let plans = Plan::all_of(definition);
        if !plans.is_empty() && !Path::new(CONTROL_DEVICE).exists() {
            self.say_absence();
            return Ok(());
        }
        let until = io::now() + DEVICE_COMMAND_DEADLINE;
        let (mut started, mut failed) = (Vec::new(), Vec::new());
        for plan in plans {
            let device = plan.device;
            match self.begin(&plan, until) {
                Ok(Some(answer)) => started.push((device, answer)),
                Ok(None) => {}
                Err(reason) => failed.push(reason),
            }
        }
        for (device, answer) in started {
            let answer = answer.recv_timeout(until.since(io::now()));
            failed.extend(answer.unwrap_or_else(|_| Err(not_there(device))).err());
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    /// Starts the thread of a device, which tells when it is there; `None` if it is there already.
    /// The thread of an earlier one is waited for: that one may be going, or never come.
    fn begin(
        self: &Arc<Self>,
        plan: &Plan,
        until: Time,
    ) -> Result<Option<mpsc::Receiver<Result<(), String>>>, String> {
        let (label, device) = (plan.label(), plan.device);
        loop {
            let Some(found) = self.all.find_settled(&label, until) else {
                return Err(not_there(device));
            };
            if found == Settled::There {
                return Ok(None);
            }
            let (ready, answer) = mpsc::channel();
            // If not, somebody else was faster.
            if self.keep(plan.clone(), How::Begin, ready)? {
                return Ok(Some(answer));
            }
        }
    }

    /// Whether some volume of the resource has a device.
    pub(crate) fn has_any(&self, resource: &str) -> bool {
        !self.all.of(resource).is_empty()
    }

    /// The resource is up: its devices have names, those of DRBD, too.
    pub(crate) fn name(&self, definition: &Definition) {
        for plan in Plan::all_of(definition) {
            if let Err(error) = self.names.make(&plan) {
                let (scope, device) = (Scope::resource(&plan.resource), plan.device);
                log!(Warning, scope, "it has no name /dev/drbd{device}: {error}");
            }
        }
    }

    /// The resource is down.
    pub(crate) fn unname(&self, definition: &Definition) {
        for plan in Plan::all_of(definition) {
            if let Err(error) = self.names.remove(&plan) {
                let (scope, device) = (Scope::resource(&plan.resource), plan.device);
                log!(Warning, scope, "the name /dev/drbd{device} stays: {error}");
            }
        }
    }

    /// The daemon ends, and its devices did.
    pub(crate) fn leave(&self, definition: &Definition) {
        Plan::all_of(definition).iter().for_each(|plan| drop(self.names.leave(plan)));
    }

    /// Takes over what the last daemon left; each device when its resource is Primary here again.
    pub(crate) fn recover(self: &Arc<Self>, definitions: &[Definition]) {
        let plans: Vec<Plan> = definitions.iter().flat_map(Plan::all_of).collect();
        for (label, record) in self.state.device_records() {
            let scope = Scope::resource(&label);
            let Some(mut plan) = plans.iter().find(|plan| plan.label() == label).cloned() else {
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

    /// Removes the devices of a resource, if it has some, and returns when they are gone: whether
    /// there were any. All of them, or none.
    pub(crate) fn remove(&self, resource: &str, force: Force) -> Result<bool, Failure> {
        let mut claimed = Vec::new();
        for kept in self.all.of(resource) {
            let claim = match force {
                Force::Yes => None,
                Force::No => claim(kept.device)?,
            };
            claimed.push((kept, claim));
        }
        for (Kept { device, .. }, claim) in &claimed {
            let Some(claim) = claim else { continue };
            // What was written without a sync goes out while it still can.
            claim.sync_all().map_err(|error| {
                let message = format!("cannot write out what /dev/ublkb{device} holds: {error}");
                Failure::new(FailureCode::DiskFailed, message, "--force gives it up")
            })?;
        }
        let mut leaving = Vec::new();
        for (kept, claim) in claimed {
            // The thread may just be done with it.
            drop(kept.news.send(News::Remove(claim)));
            leaving.push((kept.label, kept.device));
        }
        for (label, device) in &leaving {
            if !self.all.is_gone_by(label, io::now() + DEVICE_COMMAND_DEADLINE) {
                let message = format!("/dev/ublkb{device} is not gone yet");
                let hint = "see the daemon's log, and try again";
                return Err(Failure::new(FailureCode::Timeout, message, hint));
            }
        }
        Ok(!leaving.is_empty())
    }

    /// The daemon ends: devices that nobody uses go; where one is in use, those of its resource
    /// wait for the next daemon.
    pub(crate) fn end_all(&self) {
        for resource in self.all.resources() {
            match self.remove(&resource, Force::No) {
                Ok(_) => {}
                Err(failure) if failure.code == FailureCode::DeviceInUse => {
                    let scope = Scope::resource(&resource);
                    log!(Notice, scope, "its device is in use, and is left to the next daemon");
                    let left = self.all.of(&resource);
                    left.iter().for_each(|kept| drop(kept.news.send(News::Leave)));
                    for kept in left {
                        let until = io::now() + DEVICE_LEAVE_DEADLINE;
                        if !self.all.is_gone_by(&kept.label, until) {
                            log!(Warning, scope, "its device was not left in time");
                        }
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
        let (label, resource, device) = (plan.label(), plan.resource.clone(), plan.device);
        let kept = Kept { label: label.clone(), resource, device, news: news.clone() };
        if !self.all.add(kept) {
            return Ok(false);
        }
        let keeper = Keeper::new(
            Arc::clone(&self.desk),
            Arc::clone(&self.state),
            plan,
            (self.timeout, self.names.clone()),
            (news, inbox),
        );
        let (devices, own) = (Arc::clone(self), label.clone());
        let work = move || {
            keeper.run(how, &ready, |stage| devices.all.note(&own, stage));
            devices.all.remove(&own);
        };
        let spawned = thread::Builder::new().name(format!("ublkb{device}")).spawn(work);
        spawned.map(|_| true).map_err(|error| {
            self.all.remove(&label);
            format!("cannot start a thread: {error}")
        })
    }
}

fn not_there(device: u32) -> String {
    format!("/dev/ublkb{device} is not there yet; see the daemon's log")
}

/// Opens a block device that nobody has mounted or claimed otherwise, so that nobody can.
fn claim(device: u32) -> Result<Option<File>, Failure> {
    claim_at(&driver::block_path(device))
}

fn claim_at(path: &Path) -> Result<Option<File>, Failure> {
    let mut open = OpenOptions::new();
    let error = match open.read(true).write(true).custom_flags(libc::O_EXCL).open(path) {
        Ok(file) => return Ok(Some(file)),
        Err(error) => error,
    };
    let path = path.display();
    let (message, hint) = match error.raw_os_error() {
        // There is no device yet, or no longer.
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => return Ok(None),
        Some(libc::EBUSY) => (
            format!("{path} is mounted, or in use by another layer"),
            "unmount it first (`lsblk` shows what holds it); --force cuts it off",
        ),
        // Whether it is in use is not known: somebody may have written what only he can sync.
        _ => (
            format!("cannot tell whether {path} is in use: {error}"),
            "`lsblk` shows what holds it; try again, or cut it off with --force",
        ),
    };
    Err(Failure::new(FailureCode::DeviceInUse, message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any failure to look was taken for a device that is gone, which was then cut off.
    #[test]
    fn device_that_cannot_be_looked_at_counts_as_one_in_use() {
        let place = tempfile::tempdir().unwrap();
        let gone = claim_at(&place.path().join("ublkb0")).unwrap();
        assert!(gone.is_none(), "there is none");
        let failure = claim_at(place.path()).unwrap_err();
        assert_eq!(failure.code, FailureCode::DeviceInUse, "{failure}");
        assert!(failure.to_string().contains("cannot tell whether"), "{failure}");
    }
}
