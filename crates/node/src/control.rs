//! The control side: the start of the daemon, the commands of operators, the end.
//!
//! Everything here may block; a shard never waits for it. Questions to the shards go over a
//! [`Desk`]. [`Control::execute`] has one line for each command; what a command does is in the file
//! of its name.

pub(crate) mod daemon;
pub(crate) mod watch;
mod looking;
mod asking;
mod up;
mod down;
mod steps;
mod parts;
mod texts;
mod addresses;
mod notes;
mod adjust;
mod new_volumes;
mod enlarge;
mod node_settings;
mod up_lock;
mod unsettled;
mod credentials;
mod nvme_hosts;
mod metrics;
mod scrape;
mod devices;
mod startup;
mod shutdown;
pub(crate) mod handlers;
mod resync_order;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::request::Command;
use api::response::{Failure, FailureCode, Reply};
use api::status::{ConnectionStatus, Holder, NodeStatus, ResourceStatus, StatusReply};
use engine::contract::{Force, FromShard, OwnData, Ticket, ToShard};
use engine::definition::Definition;
use engine::limits::DISK_STALL_MAX;
use engine::log::{Scope, log};
use format::ids::BLOCK_BYTES;
use format::space::{Place, VOLUME_BLOCKS, VOLUME_BYTES};
use io::Parker;
use io::mailbox::Receiver;
use replication::contract::{
    Command as Order, NewArea, PromoteMode, Repair, ResizeTask, VerifyTask,
};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::control::adjust::Mode;
use crate::control::asking::{About, ask_status};
use crate::control::credentials::CredentialsKeeper;
use crate::control::enlarge::RoomWanted;
use crate::control::handlers::Handlers;
use crate::control::nvme_hosts::NvmeHostsKeeper;
use crate::control::resync_order::ResyncOrder;
use crate::control::unsettled::Unsettled;
use crate::control::up_lock::UpLocks;
use crate::control::watch::Watch;
use crate::cores::Placement;
use crate::desk::Desk;
use crate::devices::Devices;
use crate::devices::names::Names;
use crate::disk_work::{Claim, DiskWork};
use crate::error::NodeError;
use crate::guests::Guests;
use crate::limits::{ADMIN_COMMAND_DEADLINE, PRIMARY_COMMAND_DEADLINE};
use crate::patience::Patience;
use crate::start::End;
use crate::state_dir::StateDir;

/// What the threads of the control side share.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) name: String,
    state: Arc<StateDir>,
    desk: Arc<Desk>,
    devices: Arc<Devices>,
    guests: Guests,
    credentials: CredentialsKeeper,
    /// Where NVMe hosts have to prove themselves.
    nvme_hosts: Option<NvmeHostsKeeper>,
    /// Resources that are to be up and could not be brought up, with the reasons.
    held_down: Mutex<BTreeMap<String, Failure>>,
    /// Resources that are up without the disk that they should have, with the reasons.
    without_disk: Mutex<BTreeMap<String, Failure>>,
    unsettled: Unsettled,
    /// Resources on whose disks requests are under way as the data threads end.
    left_disks: Mutex<BTreeSet<String>>,
    watch: Watch,
    handlers: Handlers,
    resync_order: ResyncOrder,
    /// How the data threads speak to the kernel.
    backend: io::BackendKind,
    placement: Placement,
    started_at: Time,
    /// How long a question to a data thread may take.
    command_deadline: Duration,
    /// Disks that are to be enlarged.
    room: mpsc::Sender<RoomWanted>,
    /// While the metadata of a disk is moved, or read to be taken into use.
    disk_work: DiskWork,
    /// Who may bring a resource up.
    up_locks: UpLocks,
    end: mpsc::Sender<End>,
}

/// What a control side is made from.
struct Origin {
    name: String,
    state: StateDir,
    desk: Desk,
    device_timeout: Duration,
    device_names: Names,
    vhost: Option<PathBuf>,
    pki: PathBuf,
    nvme_hosts: Option<NvmeHostsKeeper>,
    max_parallel_resyncs: Option<NonZeroU32>,
    backend: io::BackendKind,
    placement: Placement,
    room: mpsc::Sender<RoomWanted>,
    end: mpsc::Sender<End>,
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), NodeError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|source| NodeError::System { what: "start a thread", source })
}

/// A volume is unborn while no replica of it, here or at a peer, has data that anybody may read.
fn check_is_unborn(resource: &ResourceStatus) -> Result<(), Failure> {
    let refuse =
        |message: String, hint: &str| Err(Failure::new(FailureCode::StateRefused, message, hint));
    let local = resource.devices.iter().map(|device| device.disk_state);
    let peers = resource.connections.iter().flat_map(|one| &one.peer_devices);
    let mut states = local.chain(peers.map(|device| device.peer_disk_state));
    let is_blank = |state| matches!(state, DiskState::Inconsistent | DiskState::Diskless);
    let is_apart = |one: &&ConnectionStatus| one.connection_state != ConnectionState::Connected;
    if let Some(peer) = resource.connections.iter().find(is_apart) {
        let message = format!("peer {} is not connected: what it holds is unknown", peer.name);
        return refuse(message, "start all nodes of the resource first");
    }
    if let Some(state) = states.find(|state| !is_blank(*state)) {
        let message = format!("a replica is {state} already: its data would count as everyone's");
        return refuse(message, "this is for new volumes only; a new replica is copied by itself");
    }
    Ok(())
}

/// What the kernel calls the process of a client; one that ended meanwhile has no name.
fn name_process(holder: &mut Holder) {
    let comm = holder.pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok());
    holder.command = comm.map(|comm| comm.trim().to_owned());
}

impl Control {
    /// Of a node on which nothing is up.
    fn new(origin: Origin) -> Self {
        let (desk, state) = (Arc::new(origin.desk), Arc::new(origin.state));
        let (timeout, names) = (origin.device_timeout, origin.device_names);
        let devices = Devices::new(Arc::clone(&desk), Arc::clone(&state), timeout, names);
        Self {
            name: origin.name,
            devices: Arc::new(devices),
            guests: Guests::new(Arc::clone(&desk), origin.vhost),
            state,
            desk,
            credentials: CredentialsKeeper::new(origin.pki),
            nvme_hosts: origin.nvme_hosts,
            held_down: Mutex::default(),
            without_disk: Mutex::default(),
            unsettled: Unsettled::default(),
            left_disks: Mutex::default(),
            watch: Watch::default(),
            handlers: Handlers::default(),
            resync_order: ResyncOrder::new(origin.max_parallel_resyncs),
            backend: origin.backend,
            placement: origin.placement,
            started_at: io::now(),
            command_deadline: ADMIN_COMMAND_DEADLINE,
            room: origin.room,
            disk_work: DiskWork::default(),
            up_locks: UpLocks::default(),
            end: origin.end,
        }
    }

    fn hand_out(self: &Arc<Self>, mut answers: Vec<Receiver<FromShard>>, parker: &Parker) {
        while !answers.is_empty() {
            for message in
                answers.iter_mut().flat_map(|answers| std::iter::from_fn(|| answers.pop()))
            {
                match message {
                    FromShard::Answer { ticket, answer } => self.desk.hand_out(ticket, answer),
                    FromShard::Changed { resource } => self.watch.note(resource),
                    FromShard::Going { resource } => self.disk_work.cancel(&resource),
                    FromShard::DiskLeft { resource } => {
                        self.left_disks().insert(resource);
                    }
                    FromShard::Happened { resource, fact } => self.on_fact(&resource, fact),
                    FromShard::InUse { resource } => self.add_devices(resource),
                    FromShard::Settled { resource } => self.on_settled(resource),
                    FromShard::Grown { resource, place, size_bytes } => {
                        self.guests.grow(&resource, place, size_bytes);
                    }
                    FromShard::Enlarge { resource, place, layout, size_bytes } => {
                        let wanted = RoomWanted { resource, place, layout, size_bytes };
                        drop(self.room.send(wanted));
                    }
                }
            }
            answers.retain(|answers| !answers.is_closed());
            if !answers.is_empty() {
                parker.park(Time::NEVER);
            }
        }
    }

    /// Asks the home shard of a resource.
    fn ask(
        &self,
        resource: &str,
        question: impl FnOnce(Ticket) -> ToShard,
    ) -> Result<Reply, Failure> {
        self.desk.ask(self.desk.home_of(resource), question, self.command_deadline)
    }

    /// Asks again while the resource is changing.
    pub(super) fn ask_until_ready(
        &self,
        resource: &str,
        patience: &mut Patience,
        question: impl Fn(Ticket) -> ToShard,
    ) -> Result<Reply, Failure> {
        loop {
            match self.ask(resource, &question) {
                Err(failure)
                    if failure.code == FailureCode::StateRefused && patience.rest(&failure) => {}
                answer => return answer,
            }
        }
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    pub(crate) fn state(&self) -> &StateDir {
        &self.state
    }

    /// Claims the disks of a resource for metadata that is moved or read.
    pub(crate) fn disks_of(&self, resource: &str) -> Result<Claim, Failure> {
        self.disk_work.claim(resource, DISK_STALL_MAX)
    }

    fn left_disks(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.left_disks)
    }

    fn without_disk(&self) -> MutexGuard<'_, BTreeMap<String, Failure>> {
        lock(&self.without_disk)
    }

    fn held_down(&self) -> MutexGuard<'_, BTreeMap<String, Failure>> {
        lock(&self.held_down)
    }

    /// Carries out one command of an operator.
    pub(crate) fn execute(&self, command: Command) -> Result<Reply, Failure> {
        match command {
            Command::Up { resource, config_text } => self.up(&resource, &config_text),
            Command::NewResource { resource, config_text } => {
                self.new_resource(&resource, &config_text)
            }
            Command::Down { resource, force } => self.down(&resource, force.into()),
            Command::Adjust { resource, config_text, dry_run, scope } => {
                let mode = if dry_run { Mode::DryRun } else { Mode::Do };
                self.adjust(&resource, &config_text, mode, &scope)
            }
            Command::Attach { resource } => self.attach(&resource),
            Command::Detach { resource, force: _ } => self.detach(&resource),
            Command::Connect { resource, peer, discard_my_data } => {
                let own_data = if discard_my_data { OwnData::GivenUp } else { OwnData::Kept };
                self.connect(&resource, peer, own_data)
            }
            Command::Disconnect { resource, peer, force: _ } => self.disconnect(&resource, peer),
            Command::Primary { resource, force } => {
                let mode = if force { PromoteMode::Force } else { PromoteMode::Normal };
                self.primary(&resource, mode, PRIMARY_COMMAND_DEADLINE)
            }
            Command::NewCurrentUuid { resource } => self.begin_equal(&resource),
            Command::Secondary { resource, force } => {
                self.without_device(&resource, force.into(), |name| {
                    let (resource, force) = (name.to_owned(), force.into());
                    self.ask(name, |ticket| ToShard::Demote { ticket, resource, force })
                })
            }
            Command::Invalidate { resource } => self.ask_machine(resource, Order::Invalidate),
            Command::SuspendIo { resource } => self.ask_machine(resource, Order::Suspend),
            Command::ResumeIo { resource } => self.ask_machine(resource, Order::Resume),
            Command::Reopen { resource } => self.ask_machine(resource, Order::Reopen),
            Command::Verify { resource, volume, start, stop, repair } => {
                let repair = if repair { Repair::AtOnce } else { Repair::No };
                let (from_block, until_block) = self.verified(&resource, volume, (start, stop))?;
                let task = VerifyTask { from_block, until_block, repair };
                self.ask_machine(resource, Order::Verify(task))
            }
            Command::Resize { resource, volume, size, assume_clean } => {
                let task = self.resized(&resource, volume, (size, assume_clean))?;
                self.ask_machine(resource, Order::Resize(task))
            }
            Command::Status { resources, statistics } => self.status(&resources, statistics),
            Command::Show { resources } => self.show(&resources),
            Command::Events { .. } => {
                let message = "a subscription is a connection of its own";
                Err(Failure::new(FailureCode::BadRequest, message, "ask on a fresh connection"))
            }
            Command::Shutdown => {
                drop(self.end.send(End::Asked("the operator asked for it".to_owned())));
                Ok(Reply::done())
            }
        }
    }

    /// The blocks that a verify is about, from the first to behind the last: bytes are those of a
    /// volume.
    fn verified(
        &self,
        resource: &str,
        volume: Option<u16>,
        (start, stop): (Option<u64>, Option<u64>),
    ) -> Result<(u64, u64), Failure> {
        let first = start.unwrap_or(0) / BLOCK_BYTES;
        let last = stop.map(|stop| stop.div_ceil(BLOCK_BYTES));
        // Without a text it is not up, and is told so by who is asked.
        let text = self.stored_text(resource)?.unwrap_or_default();
        let Ok(definition) = Definition::from_text(&self.name, resource, &text) else {
            return Ok((first, last.unwrap_or(u64::MAX)));
        };
        let place = match (volume, definition.further.is_empty()) {
            (_, true) => return Ok((first, last.unwrap_or(u64::MAX))),
            (None, false) if start.is_none() && stop.is_none() => return Ok((0, u64::MAX)),
            (None | Some(_), false) => place_of(&definition, volume)?,
        };
        let base = place.first_block();
        let last = last.unwrap_or(VOLUME_BLOCKS).min(VOLUME_BLOCKS);
        Ok((base + first.min(VOLUME_BLOCKS), base + last))
    }

    fn resized(
        &self,
        resource: &str,
        volume: Option<u16>,
        (size, assume_clean): (Option<u64>, bool),
    ) -> Result<ResizeTask, Failure> {
        // Without a text it is not up, and is told so by who is asked.
        let text = self.stored_text(resource)?.unwrap_or_default();
        let (place, wanted) = match Definition::from_text(&self.name, resource, &text) {
            Ok(definition) => {
                let place = place_of(&definition, volume)?;
                (place, definition.volume_options(place).and_then(|it| it.size_bytes))
            }
            Err(_) => (Place::FIRST, None),
        };
        let size_bytes = size.or(wanted).unwrap_or(0);
        if size_bytes > VOLUME_BYTES - BLOCK_BYTES {
            let message = format!("a volume has at most {VOLUME_BYTES} bytes");
            return Err(Failure::new(FailureCode::BadRequest, message, "ask for less"));
        }
        let size_bytes = size_bytes.next_multiple_of(BLOCK_BYTES);
        let new_area = if assume_clean { NewArea::AsItIs } else { NewArea::Zeroed };
        Ok(ResizeTask { place, size_bytes, new_area })
    }

    fn ask_machine(&self, resource: String, command: Order) -> Result<Reply, Failure> {
        self.ask(&resource.clone(), |ticket| ToShard::Ask { ticket, resource, command })
    }

    /// Makes every replica a member of the first generation, and leaves the volume Secondary.
    fn begin_equal(&self, resource: &str) -> Result<Reply, Failure> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        let reply = self.ask(resource, question)?;
        let Reply::Status(status) = reply else { return Ok(reply) };
        status.resources.iter().try_for_each(check_is_unborn)?;
        let (name, mode) = (resource.to_owned(), PromoteMode::ForceAllEqual);
        self.ask(resource, |ticket| ToShard::Promote { ticket, resource: name, mode })?;
        let name = resource.to_owned();
        self.ask(resource, |ticket| ToShard::Demote { ticket, resource: name, force: Force::No })
    }

    /// The status of the named resources, or of all; of one that is held down, why it is.
    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    fn status(&self, names: &[String], statistics: bool) -> Result<Reply, Failure> {
        self.status_of(About::asked(names), statistics).map(Reply::Status)
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    fn status_of(&self, about: About<'_>, statistics: bool) -> Result<StatusReply, Failure> {
        let is_asked = |name: &String| match about {
            About::All => true,
            About::Each(names) | About::Known(names) => names.contains(name),
        };
        let mut held_down = self.held_down().clone();
        held_down.retain(|name, _| is_asked(name));
        let is_up = |name: &&String| !held_down.contains_key(*name);
        let up: Vec<String> = about.names().iter().filter(is_up).cloned().collect();
        let resources = ask_status(&self.desk, about.of(&up), statistics)?;
        let mut status = StatusReply { node: NodeStatus::default(), resources };
        status.resources.extend(held_down.into_iter().map(|(name, failure)| ResourceStatus {
            name,
            reasons: vec![format!("it stays down: {failure}")],
            ..ResourceStatus::default()
        }));
        status.resources.sort_by(|a, b| a.name.cmp(&b.name));
        self.tell_of_missing_disks(&mut status);
        self.tell_of_handlers(&mut status);
        let devices = status.resources.iter_mut().flat_map(|resource| &mut resource.devices);
        devices.flat_map(|device| &mut device.holders).for_each(name_process);
        self.describe_node(&mut status);
        Ok(status)
    }

    fn tell_of_missing_disks(&self, status: &mut StatusReply) {
        let without_disk = lock(&self.without_disk);
        for resource in &mut status.resources {
            if let Some(failure) = without_disk.get(&resource.name) {
                let text = format!("its disk is not attached: {failure}; then `attach` it");
                resource.reasons.push(text);
            }
        }
    }

    fn describe_node(&self, status: &mut StatusReply) {
        status.node.name.clone_from(&self.name);
        env!("CARGO_PKG_VERSION").clone_into(&mut status.node.version);
        self.backend.as_str().clone_into(&mut status.node.io_backend);
        for resource in &mut status.resources {
            self.backend.as_str().clone_into(&mut resource.io_backend);
        }
        let uptime = io::now().since(self.started_at);
        status.node.uptime_ms = u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX);
    }

    /// Has the data threads run where the resources that are to be up want them.
    pub(super) fn place_threads(&self) {
        if let Err(error) = self.placement.apply(&masks(&self.name, &self.state)) {
            log!(Warning, Scope::NODE, "cannot place the data threads on their cores: {error}");
        }
    }
}

/// The cores that resources ask for, of those that have a mask.
fn masks(node: &str, state: &StateDir) -> Vec<Vec<usize>> {
    let texts = state.stored_texts().unwrap_or_default();
    let definitions = texts.iter().map(|(name, text)| Definition::from_text(node, name, text));
    definitions.flatten().map(|it| it.cores).filter(|cores| !cores.is_empty()).collect()
}

/// The volume of that number; the only one, if none is named.
fn place_of(definition: &Definition, volume: Option<u16>) -> Result<Place, Failure> {
    let name = &definition.name;
    match volume {
        None if definition.further.is_empty() => Ok(Place::FIRST),
        None => {
            let message = format!("resource {name:?} has several volumes");
            let hint = format!("`{name}/0` and the like say which one is meant");
            Err(Failure::new(FailureCode::BadRequest, message, hint))
        }
        Some(number) => {
            let known = definition.volumes().find(|volume| volume.number == number);
            known.map(|volume| volume.place).ok_or_else(|| {
                let message = format!("resource {name:?} has no volume {number}");
                Failure::new(FailureCode::BadRequest, message, "see `basalt adm status`")
            })
        }
    }
}
