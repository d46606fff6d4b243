//! The control side: the start of the daemon, the commands of operators, the end.
//!
//! Everything here may block; a shard never waits for it. Questions to the shards go over a
//! [`Desk`]. [`Control::execute`] has one line for each command; what a command does is in the file
//! of its name.

pub(crate) mod daemon;
pub(crate) mod watch;
mod looking;
mod asking;
mod status;
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
mod verify_resize;
mod equal_start;
mod node_settings;
mod up_lock;
mod unsettled;
mod credentials;
mod nvme_hosts;
mod metrics;
mod scrape;
mod devices;
mod service;
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

use api::request::Command;
use api::response::{Failure, FailureCode, Reply};
use engine::contract::{FromShard, OwnData, Ticket, ToShard};
use engine::definition::Definition;
use engine::limits::DISK_STALL_MAX;
use engine::log::{Scope, log};
use io::Parker;
use io::mailbox::Receiver;
use replication::contract::{Command as Order, NewArea, PromoteMode, Repair, VerifyTask};
use stdx::mutex::lock;
use stdx::time::Time;

use crate::control::adjust::Mode;
use crate::control::credentials::CredentialsKeeper;
use crate::control::enlarge::RoomWanted;
use crate::control::handlers::Handlers;
use crate::control::nvme_hosts::NvmeHostsKeeper;
use crate::control::resync_order::ResyncOrder;
use crate::control::service::Service;
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
use crate::refusal::Refusal;
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
    service: Arc<Service>,
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
    service: Arc<Service>,
    end: mpsc::Sender<End>,
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), NodeError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|source| NodeError::System { what: "start a thread", source })
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
            service: origin.service,
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
            Command::Up { resource, config_text, fresh } => {
                if fresh {
                    self.check_fresh(&resource)?;
                }
                self.up(&resource, &config_text)
            }
            Command::NewResource { resource, config_text } => {
                self.new_resource(&resource, &config_text)
            }
            Command::Down { resource, force } => self.down(&resource, force.into()),
            Command::Forget { resource } => self.forget(&resource),
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
                let (from_block, until_block) = self.verified(&resource, volume, start, stop)?;
                let task = VerifyTask { from_block, until_block, repair };
                self.ask_machine(resource, Order::Verify(task))
            }
            Command::Resize { resource, volume, size, assume_clean } => {
                let new_area = if assume_clean { NewArea::AsItIs } else { NewArea::Zeroed };
                let task = self.resized(&resource, volume, size, new_area)?;
                self.ask_machine(resource, Order::Resize(task))
            }
            Command::Status { resources, statistics } => self.status(&resources, statistics),
            Command::Show { resources } => self.show(&resources),
            Command::Events { .. } => Err(Refusal::Subscription.into()),
            Command::Shutdown => {
                drop(self.end.send(End::Asked("the operator asked for it".to_owned())));
                Ok(Reply::done())
            }
        }
    }

    fn ask_machine(&self, resource: String, command: Order) -> Result<Reply, Failure> {
        self.ask(&resource.clone(), |ticket| ToShard::Ask { ticket, resource, command })
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
