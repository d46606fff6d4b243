//! Block devices of this machine: made when this node is told to be Primary, kept while the daemon
//! is away, removed when the node steps back.
//!
//! ```text
//! primary   -> promote -> add, start  -> links in /dev/basalt/by-res
//! secondary -> claim -> end, stop, delete -> demote
//! up, down  -> DRBD's names for it, where they are wanted (`names`)
//! a crash   -> the kernel holds all requests; the next daemon promotes, checks that nobody else
//!              was Primary meanwhile, and takes the device over; else it is stopped, with errors
//! ```
//!
//! A thread of its own keeps each device (`keeper`), for commands to the driver take their time;
//! the shard tells it by [`News`] how the service goes. A process beside the daemon (`supervisor`
//! starts it, `supervise` is what it does) ends a device that no daemon takes over in time. What a
//! device was made of is recorded in the state directory before its first request, so that the next
//! daemon knows it again. No thread of the daemon waits for a device that it serves (`claim`).

mod kept;
mod keeper;
mod driver;
mod links;
pub(crate) mod names;
mod supervisor;
pub(crate) mod supervise;
pub(crate) mod claim;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use engine::clients::ublk::News;
use engine::contract::{Force, ToShard};
use engine::definition::{Definition, OwnVolume};
use engine::log::{Scope, log};
use format::space::Place;
use frontend::ublk::control::Shape;

use crate::desk::Desk;
use crate::devices::claim::{Claim, Claiming, Claims};
use crate::devices::driver::{Access, CONTROL_DEVICE};
use crate::devices::keeper::{How, Keeper};
use crate::devices::kept::{AllKept, Kept, Settled};
use crate::devices::names::Names;
use crate::limits::{
    DEVICE_CLAIM_DEADLINE, DEVICE_COMMAND_DEADLINE, DEVICE_LEAVE_DEADLINE, DEVICE_LOOK_DEADLINE,
};
use crate::refusal::{Held, Refusal};
use crate::state_dir::{DeviceRecord, StateDir};
use api::response::{Failure, FailureCode, Reply};
use api::status::ResourceStatus;
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

/// A device with a record and without a thread: an earlier daemon made it, and this one did not
/// take it over, or not take it away.
#[derive(Debug)]
struct Left {
    label: String,
    record: DeviceRecord,
    /// `None` if the configuration does not know it any more.
    plan: Option<Plan>,
}

#[derive(Debug)]
pub(crate) struct Devices {
    desk: Arc<Desk>,
    state: Arc<StateDir>,
    timeout: Duration,
    names: Names,
    access: Access,
    all: AllKept,
    claims: Claims,
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
            access: Access::kernel(),
            all: AllKept::default(),
            claims: Claims::default(),
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
            if self.keep(plan.clone(), How::Begin, ready)?.is_some() {
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
        for left in self.left(&plans, |_| true) {
            let (scope, device) = (Scope::resource(&left.label), left.record.device);
            let Some(plan) = left.plan.clone() else {
                let why = match self.is_there(&left) {
                    Ok(true) => "it has none any more".to_owned(),
                    Ok(false) => continue,
                    Err(reason) => reason,
                };
                log!(
                    Error,
                    scope,
                    "/dev/ublkb{device} of it was left behind, and {why}: if it is there, `basalt \
                     device remove {device}` ends it"
                );
                continue;
            };
            let (ready, _) = mpsc::channel();
            if let Err(reason) = self.keep(plan, How::Recover(left.record), ready) {
                log!(Error, scope, "its device is not taken over: {reason}");
            }
        }
    }

    /// The devices of some labels that have a record, and nobody who keeps them.
    fn left(&self, plans: &[Plan], is_meant: impl Fn(&str) -> bool) -> Vec<Left> {
        let records = self.state.device_records().into_iter();
        let left = records.filter(|(label, _)| is_meant(label) && !self.all.is_kept(label));
        let left = left.map(|(label, record)| {
            let plan = plans.iter().find(|plan| plan.label() == label).cloned();
            let plan = plan.map(|plan| Plan { device: record.device, ..plan });
            Left { label, record, plan }
        });
        left.collect()
    }

    fn left_of(&self, resource: &str, definition: Option<&Definition>) -> Vec<Left> {
        if !self.access.has_driver() {
            return Vec::new();
        }
        let plans = definition.map(Plan::all_of).unwrap_or_default();
        self.left(&plans, |label| resource_of(label) == resource)
    }

    /// Whether a device that was left is still there; if not, its record goes.
    fn is_there(&self, left: &Left) -> Result<bool, String> {
        let Left { label, record, plan } = left;
        let (resource, device) = (resource_of(label).to_owned(), record.device);
        let (news, life) = (mpsc::channel().0, Arc::default());
        // Nobody makes it anew meanwhile: that record would go.
        if !self.all.add(Kept { label: label.clone(), resource, device, news, life }) {
            return Ok(true);
        }
        let looked = self.access.open(device).and_then(|mut driver| {
            let found = match plan {
                Some(plan) => driver.find(plan.mark),
                None => driver.info(),
            };
            found.map_err(|error| format!("the driver does not tell of it: {error}"))
        });
        if let Ok(None) = looked
            && let Err(error) = self.state.forget_device(label)
        {
            log!(Warning, Scope::resource(label), "the record of its device stays: {error}");
        }
        self.all.remove(label);
        looked.map(|found| found.is_some())
    }

    /// Removes the devices of a resource, if it has some, and returns when they are gone: whether
    /// there were any. All of them, or none.
    pub(crate) fn remove(
        self: &Arc<Self>,
        resource: &str,
        definition: Option<&Definition>,
        force: Force,
    ) -> Result<bool, Failure> {
        let until = io::now() + DEVICE_CLAIM_DEADLINE;
        if force == Force::No {
            // One that is going already is no reason to wait for one that comes after it.
            if !self.all.staying(resource).is_empty() {
                self.check_come(resource, until)?;
            }
            let left = self.left_of(resource, definition);
            left.iter().try_for_each(|left| self.check_left(left))?;
        }
        let mut all = self.all.of(resource);
        let claimed = match force {
            Force::Yes => all.iter().map(|kept| (kept.clone(), None)).collect(),
            Force::No if self.all.staying(resource).is_empty() => Vec::new(),
            Force::No => {
                self.check_requests(resource, until)?;
                wait_for(self.claim(resource)?, until)?
            }
        };
        self.send_away(claimed);
        let until = io::now() + DEVICE_COMMAND_DEADLINE;
        self.check_ended(&all, until)?;
        if force == Force::Yes {
            // The thread of one may have ended, and left it, before it heard of this.
            let removed = self.remove_left(resource, definition)?;
            self.check_ended(&removed, until)?;
            all.extend(removed);
        }
        all.iter().try_for_each(|kept| self.check_gone(kept))?;
        Ok(!all.is_empty())
    }

    /// A device that was left is refused: its requests wait, and it cannot be written out.
    fn check_left(&self, left: &Left) -> Result<(), Failure> {
        let (device, resource) = (left.record.device, resource_of(&left.label));
        let why = match self.is_there(left) {
            Ok(true) => "nobody serves it, so what it holds cannot be written out".to_owned(),
            Ok(false) => return Ok(()),
            Err(reason) => reason,
        };
        let resource = resource.to_owned();
        Err(Refusal::DeviceLeft { device, resource, reason: why }.into())
    }

    /// Has threads take away what was left.
    fn remove_left(
        self: &Arc<Self>,
        resource: &str,
        definition: Option<&Definition>,
    ) -> Result<Vec<Kept>, Failure> {
        let mut removed = Vec::new();
        for left in self.left_of(resource, definition) {
            let Some(plan) = left.plan.clone() else {
                let device = left.record.device;
                // It may be another resource's by now.
                if !self.is_there(&left).is_ok_and(|is_there| !is_there) {
                    log!(
                        Error,
                        Scope::resource(&left.label),
                        "/dev/ublkb{device} of it may be there, and its configuration does not \
                         know it: `basalt device remove {device}` ends it"
                    );
                }
                continue;
            };
            let kept = self.keep(plan, How::Remove, mpsc::channel().0);
            removed.extend(kept.map_err(|reason| Refusal::DeviceNotRemoved { reason })?);
        }
        Ok(removed)
    }

    /// Waits for the threads of devices.
    fn check_ended(&self, all: &[Kept], until: Time) -> Result<(), Failure> {
        let is_there = |kept: &&Kept| !self.all.is_gone_by(&kept.label, until);
        let Some(kept) = all.iter().find(is_there) else { return Ok(()) };
        Err(Refusal::DeviceNotGone { device: kept.device }.into())
    }

    /// A device that the driver did not take away keeps its record.
    fn check_gone(&self, kept: &Kept) -> Result<(), Failure> {
        if self.state.device_record(&kept.label).is_none() {
            return Ok(());
        }
        Err(Refusal::DeviceStays { device: kept.device }.into())
    }

    /// The daemon ends: devices that nobody uses, and that can be written out, go; those of any
    /// other resource wait for the next daemon. It takes a while, but an end it has in any case:
    /// nothing is waited for by itself.
    pub(crate) fn end_all(&self) {
        let resources = self.all.resources();
        if resources.is_empty() {
            return;
        }
        let until = io::now() + DEVICE_CLAIM_DEADLINE;
        let question = |ticket| ToShard::Status { ticket, resources: vec![], statistics: false };
        let answers = self.desk.ask_all_surely(question, DEVICE_LOOK_DEADLINE);
        let begin = |resource: &str| {
            if self.all.staying(resource).is_empty() {
                return Ok(Vec::new());
            }
            self.check_come(resource, io::now())?;
            check_held(resource, &answers[usize::from(self.desk.home_of(resource))])?;
            self.claim(resource)
        };
        let (begun, failed): (Vec<_>, Vec<_>) = resources
            .into_iter()
            .map(|resource| (begin(&resource), resource))
            .partition(|(begun, _)| begun.is_ok());
        let (mut going, mut left) = (Vec::new(), Vec::new());
        for (begun, resource) in failed.into_iter().chain(begun) {
            let scope = Scope::resource(&resource);
            match begun.and_then(|claiming| wait_for(claiming, until)) {
                Ok(claimed) => {
                    going.extend(self.all.of(&resource));
                    self.send_away(claimed);
                }
                // It is lost already, and nobody waits for more.
                Err(failure) if failure.code == FailureCode::DiskFailed => {
                    log!(Warning, scope, "{failure}");
                }
                Err(Failure { message, .. }) => {
                    log!(Notice, scope, "its device is left to the next daemon: {message}");
                    for kept in self.all.of(&resource) {
                        drop(kept.news.send(News::Leave));
                        left.push(kept.label);
                    }
                }
            }
        }
        let now = io::now();
        let until = now + DEVICE_LEAVE_DEADLINE;
        for label in left.iter().filter(|label| !self.all.is_gone_by(label, until)) {
            log!(Warning, Scope::resource(label), "its device was not left in time");
        }
        let until = now + DEVICE_COMMAND_DEADLINE;
        for kept in going.iter().filter(|kept| !self.all.is_gone_by(&kept.label, until)) {
            let (scope, device) = (Scope::resource(&kept.label), kept.device);
            log!(Warning, scope, "/dev/ublkb{device} is not gone yet");
        }
    }

    /// Waits for devices of a resource that are still coming.
    fn check_come(&self, resource: &str, until: Time) -> Result<(), Failure> {
        let Some(kept) = self.all.find_coming(resource, until) else { return Ok(()) };
        Err(Refusal::DeviceComing { device: kept.device }.into())
    }

    /// Begins to claim the devices of a resource that are there; behind one that waits for another
    /// command's claim it begins none, or two commands would wait for each other.
    fn claim(&self, resource: &str) -> Result<Vec<(Kept, Claiming<'_>)>, Failure> {
        let mut is_free = true;
        let claim = |kept: Kept| {
            let lock = self.state.claim_path(&kept.label);
            let mut claiming = self.claims.of(&kept.label, kept.device, &lock);
            is_free = is_free && claiming.start()?;
            Ok((kept, claiming))
        };
        self.all.staying(resource).into_iter().map(claim).collect()
    }

    /// What a device holds cannot be written out while its requests wait; whoever tries may wait
    /// for as long.
    fn check_requests(&self, resource: &str, until: Time) -> Result<(), Failure> {
        let question = |ticket| {
            let resources = vec![resource.to_owned()];
            ToShard::Status { ticket, resources, statistics: false }
        };
        let rest = until.since(io::now());
        check_held(resource, &self.desk.ask(self.desk.home_of(resource), question, rest))
    }

    /// Tells the threads of devices that these are to go.
    fn send_away(&self, claimed: Vec<(Kept, Option<Claim>)>) {
        for (kept, claim) in claimed {
            self.all.send_away(&kept, claim);
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

    /// Starts the thread of a device; `None` if there is one already.
    fn keep(
        self: &Arc<Self>,
        plan: Plan,
        how: How,
        ready: mpsc::Sender<Result<(), String>>,
    ) -> Result<Option<Kept>, String> {
        let (news, inbox) = mpsc::channel();
        let (label, resource, device) = (plan.label(), plan.resource.clone(), plan.device);
        let (news_of, life) = (news.clone(), Arc::default());
        let kept = Kept { label: label.clone(), resource, device, news: news_of, life };
        if !self.all.add(kept.clone()) {
            return Ok(None);
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
            let driver = devices.access.open(device);
            keeper.run(how, driver, &ready, |stage| devices.all.note(&own, stage));
            devices.all.remove(&own);
        };
        let spawned = thread::Builder::new().name(format!("ublkb{device}")).spawn(work);
        spawned.map(|_| Some(kept)).map_err(|error| {
            self.all.remove(&label);
            format!("cannot start a thread: {error}")
        })
    }
}

/// Of the label of a device.
fn resource_of(label: &str) -> &str {
    let volume = label.rsplit_once('@').filter(|(_, number)| number.parse::<u16>().is_ok());
    volume.map_or(label, |(resource, _)| resource)
}

fn not_there(device: u32) -> String {
    format!("/dev/ublkb{device} is not there yet; see the daemon's log")
}

/// Whether the requests of a resource wait, by what its shard says.
fn check_held(resource: &str, answer: &Result<Reply, Failure>) -> Result<(), Failure> {
    let status = match answer {
        Ok(Reply::Status(status)) => status,
        // It is gone, and its devices go.
        Err(failure) if failure.code == FailureCode::UnknownResource => return Ok(()),
        Err(failure) => return Err(failure.clone()),
        Ok(_) => return Ok(()),
    };
    let is_held = |it: &&ResourceStatus| it.name == resource && it.suspended;
    let Some(held) = status.resources.iter().find(is_held) else { return Ok(()) };
    let why = match held.suspended_quorum || held.suspended_no_data {
        true => Held::NoQuorum,
        false => Held::HeldBack,
    };
    let (word, resource) = (held.suspended_word().to_string(), resource.to_owned());
    Err(Refusal::DeviceHeld { why, word, resource }.into())
}

/// Waits for all claims; without one of them there is none.
fn wait_for(
    claiming: Vec<(Kept, Claiming<'_>)>,
    until: Time,
) -> Result<Vec<(Kept, Option<Claim>)>, Failure> {
    let wait = |(kept, claiming): (Kept, Claiming<'_>)| Ok((kept, claiming.wait(until)?));
    claiming.into_iter().map(wait).collect()
}

#[cfg(test)]
mod tests;
