//! The control thread's part: start, commands that touch files, end.
//!
//! Everything here may block; a shard never waits for it. Questions to the shard carry a ticket,
//! and one thread hands the answers out ([`Desk`]).

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::request::Command;
use api::response::{Failure, FailureCode, Reply};
use api::status::{ConnectionStatus, NodeStatus, ResourceStatus, StatusReply};
use format::ids::{BootId, KernelBootId};
use io::mailbox::{Mailbox, Receiver, Sender};
use io::process::Termination;
use io::{ListenAddr, Parker, Reactor};
use replication::contract::PromoteMode;
use stdx::time::Time;

use crate::attach::{attach, attach_without_disk, read_replica};
use crate::definition::Definition;
use crate::limits::{
    ADMIN_COMMAND_DEADLINE, ATTACH_PATIENCE, COMMAND_PATIENCE, MAILBOX_CAPACITY,
    PARENT_POLL_INTERVAL, SHARDS_MAX, SHUTDOWN_DEADLINE, START_PATIENCE,
};
use crate::links::Identity;
use crate::log::{Scope, log};
use crate::patience::Patience;
use crate::shard::Shard;
use crate::shard::messages::{Force, FromShard, Ticket, ToShard};
use crate::state_dir::StateDir;
use crate::{NodeError, Options, admin, crash};

/// What the threads of the control side share.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) name: String,
    state: StateDir,
    desk: Desk,
    /// Resources that are to be up and could not be brought up, with the reasons.
    held_down: Mutex<BTreeMap<String, Failure>>,
    /// Resources that are up without the disk that they should have, with the reasons.
    without_disk: Mutex<BTreeMap<String, Failure>>,
    started_at: Time,
    end: mpsc::Sender<End>,
}

/// Why the daemon ends.
#[derive(Debug)]
enum End {
    Asked(String),
    ShardFailed(String),
}

/// Where questions to the shard are put, and its answers handed out.
#[derive(Debug)]
struct Desk {
    sender: Mutex<Sender<ToShard>>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: Ticket,
    askers: HashMap<Ticket, mpsc::Sender<Result<Reply, Failure>>>,
}

pub(crate) fn run(options: &Options) -> Result<(), NodeError> {
    if options.shards == 0 || options.shards > SHARDS_MAX {
        return Err(NodeError::TooManyShards(options.shards));
    }
    let system = |what| move |source| NodeError::System { what, source };
    let termination = Termination::block().map_err(system("block signals"))?;
    io::process::raise_file_limit().map_err(system("raise the limit of open files"))?;
    drop(io::process::lock_memory());
    let mut patience = Patience::new(START_PATIENCE);
    let state = StateDir::open(&options.state_dir, &mut patience)?;
    let (end, ends) = mpsc::channel();
    let identity = Identity {
        name: options.name.clone(),
        boot_id: BootId(io::random_u64()),
        start_count: state.start_count(),
        shards: options.shards,
    };
    let (sender, answers, parker, shard) = start_shard(identity, end.clone(), state.crash_file())?;
    let control = Arc::new(Control {
        name: options.name.clone(),
        state,
        desk: Desk { sender: Mutex::new(sender), waiting: Mutex::new(Waiting::default()) },
        held_down: Mutex::default(),
        without_disk: Mutex::default(),
        started_at: io::now(),
        end: end.clone(),
    });
    let desk = Arc::clone(&control);
    spawn("answers", move || desk.desk.hand_out(answers, &parker))?;
    let socket_path = options.admin_socket.clone();
    let socket_path = socket_path.unwrap_or_else(|| control.state.admin_socket());
    let socket = admin::listen(&socket_path)?;
    control.start_resources(&mut patience);
    control.listen_nbd(options, &mut patience)?;
    let admin = Arc::clone(&control);
    spawn("admin", move || admin::serve(&admin, &socket))?;
    watch(options, termination, end)?;
    log!(Notice, Scope::NODE, "node {} is ready", options.name);
    let why = ends.recv().expect("the control block holds a sender");
    let result = match why {
        End::Asked(reason) => {
            log!(Notice, Scope::NODE, "ending: {reason}");
            control.stop();
            drop(shard.join());
            Ok(())
        }
        End::ShardFailed(reason) => Err(NodeError::Shard(reason)),
    };
    drop(std::fs::remove_file(socket_path));
    result
}

type ShardHandles = (Sender<ToShard>, Receiver<FromShard>, Parker, thread::JoinHandle<()>);

/// The reactor has to be made on the thread that turns it; its waker comes back from there.
fn start_shard(
    identity: Identity,
    end: mpsc::Sender<End>,
    crash_file: PathBuf,
) -> Result<ShardHandles, NodeError> {
    let parker = Parker::new()
        .map_err(|source| NodeError::System { what: "make an event for the answers", source })?;
    let (outbox, answers) = Mailbox::channel(MAILBOX_CAPACITY, parker.waker());
    let (ready, started) = mpsc::channel();
    let handle = thread::Builder::new()
        .name("shard-0".to_owned())
        .spawn(move || {
            crash::watch_thread(crash_file);
            let reactor = match Reactor::new(io::reactor::Options::default()) {
                Ok(reactor) => reactor,
                Err(error) => return drop(ready.send(Err(error))),
            };
            let (sender, mailbox) = Mailbox::channel(MAILBOX_CAPACITY, reactor.waker());
            let kernel = KernelBootId(io::kernel_boot_id());
            let mut shard = Shard::new(reactor, identity, kernel, mailbox, outbox);
            if ready.send(Ok(sender)).is_err() {
                return;
            }
            if let Err(error) = shard.run() {
                drop(end.send(End::ShardFailed(error.to_string())));
            }
        })
        .map_err(|source| NodeError::System { what: "start a thread", source })?;
    let sender = started
        .recv()
        .map_err(|error| NodeError::Shard(format!("it did not start: {error}")))??;
    Ok((sender, answers, parker, handle))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), NodeError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|source| NodeError::System { what: "start a thread", source })
}

/// Ends the daemon on a signal, or with its parent.
fn watch(
    options: &Options,
    termination: Termination,
    end: mpsc::Sender<End>,
) -> Result<(), NodeError> {
    let signals = end.clone();
    spawn("signals", move || {
        drop(signals.send(End::Asked(format!("{} was received", termination.wait()))));
    })?;
    if options.exit_with_parent {
        let parent = std::os::unix::process::parent_id();
        spawn("parent", move || {
            while std::os::unix::process::parent_id() == parent {
                thread::park_timeout(PARENT_POLL_INTERVAL);
            }
            drop(end.send(End::Asked("the process that started this one is gone".to_owned())));
        })?;
    }
    Ok(())
}

impl Desk {
    /// Asks the shard, and waits for its answer.
    fn ask(
        &self,
        question: impl FnOnce(Ticket) -> ToShard,
        deadline: Duration,
    ) -> Result<Reply, Failure> {
        let (asker, answer) = mpsc::channel();
        let ticket = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.next += 1;
            let ticket = waiting.next;
            waiting.askers.insert(ticket, asker);
            ticket
        };
        let sent = {
            let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
            sender.send(question(ticket)).is_ok()
        };
        let result = if sent {
            answer.recv_timeout(deadline).unwrap_or_else(|_| Err(no_answer(deadline)))
        } else {
            Err(Failure::new(FailureCode::Internal, "the data thread is overloaded", "try again"))
        };
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).askers.remove(&ticket);
        result
    }

    fn hand_out(&self, mut answers: Receiver<FromShard>, parker: &Parker) {
        while !answers.is_closed() {
            while let Some(FromShard { ticket, answer }) = answers.pop() {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(asker) = waiting.askers.remove(&ticket) {
                    // The asker may have given up.
                    drop(asker.send(answer));
                }
            }
            parker.park(Time::NEVER);
        }
    }
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

fn no_answer(deadline: Duration) -> Failure {
    let message = format!("the command did not end within {} s", deadline.as_secs());
    let hint = "it may still go on; `status` tells what the resource waits for";
    Failure::new(FailureCode::Timeout, message, hint)
}

impl Control {
    fn ask(&self, question: impl FnOnce(Ticket) -> ToShard) -> Result<Reply, Failure> {
        self.desk.ask(question, ADMIN_COMMAND_DEADLINE)
    }

    /// Carries out one command of an operator.
    pub(crate) fn execute(&self, command: Command) -> Result<Reply, Failure> {
        match command {
            Command::Up { resource, config_text } => self.up(&resource, &config_text),
            Command::Down { resource, force } => self.down(&resource, force.into()),
            Command::Adjust { resource, config_text, dry_run } => {
                if dry_run {
                    self.differences(&resource, &config_text).map(|(reply, _)| reply)
                } else {
                    self.adjust(&resource, &config_text)
                }
            }
            Command::Attach { resource } => self.attach(&resource),
            Command::Detach { resource, force: _ } => {
                self.ask(|ticket| ToShard::Detach { ticket, resource })
            }
            Command::Connect { resource, peer } => {
                self.ask(|ticket| ToShard::Connect { ticket, resource, peer })
            }
            Command::Disconnect { resource, peer, force: _ } => {
                self.ask(|ticket| ToShard::Disconnect { ticket, resource, peer })
            }
            Command::Primary { resource, force } => {
                let mode = if force { PromoteMode::Force } else { PromoteMode::Normal };
                self.ask(|ticket| ToShard::Promote { ticket, resource, mode })
            }
            Command::NewCurrentUuid { resource } => self.begin_equal(resource),
            Command::Secondary { resource, force } => {
                self.ask(|ticket| ToShard::Demote { ticket, resource, force: force.into() })
            }
            Command::Invalidate { resource } => {
                self.ask(|ticket| ToShard::Invalidate { ticket, resource })
            }
            Command::Status { resources, statistics } => self.status(&resources, statistics),
            Command::Shutdown => {
                drop(self.end.send(End::Asked("the operator asked for it".to_owned())));
                Ok(Reply::done())
            }
        }
    }

    /// Makes every replica a member of the first generation, and leaves the volume Secondary.
    fn begin_equal(&self, resource: String) -> Result<Reply, Failure> {
        let resources = vec![resource.clone()];
        let reply = self.ask(|ticket| ToShard::Status { ticket, resources, statistics: false })?;
        let Reply::Status(status) = reply else { return Ok(reply) };
        status.resources.iter().try_for_each(check_is_unborn)?;
        let (name, mode) = (resource.clone(), PromoteMode::ForceAllEqual);
        self.ask(|ticket| ToShard::Promote { ticket, resource: name, mode })?;
        self.ask(|ticket| ToShard::Demote { ticket, resource, force: Force::No })
    }

    /// The status of the named resources, or of all; of one that is held down, why it is.
    #[expect(clippy::fn_params_excessive_bools, reason = "as the request has it")]
    fn status(&self, names: &[String], statistics: bool) -> Result<Reply, Failure> {
        let mut held_down = self.held_down.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (held, resources): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|name| held_down.contains_key(name));
        let mut status = StatusReply { node: NodeStatus::default(), resources: Vec::new() };
        if names.is_empty() || !resources.is_empty() {
            match self.ask(|ticket| ToShard::Status { ticket, resources, statistics })? {
                Reply::Status(reply) => status = reply,
                reply @ (Reply::Done { .. } | Reply::Adjusted { .. }) => return Ok(reply),
            }
        }
        held_down.retain(|name, _| names.is_empty() || held.contains(name));
        status.resources.extend(held_down.into_iter().map(|(name, failure)| ResourceStatus {
            name,
            reasons: vec![format!("it stays down: {failure}")],
            ..ResourceStatus::default()
        }));
        status.resources.sort_by(|a, b| a.name.cmp(&b.name));
        self.tell_of_missing_disks(&mut status);
        self.describe_node(&mut status);
        Ok(Reply::Status(status))
    }

    fn tell_of_missing_disks(&self, status: &mut StatusReply) {
        let without_disk = self.without_disk.lock().unwrap_or_else(PoisonError::into_inner);
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
        "io_uring".clone_into(&mut status.node.io_backend);
        let uptime = io::now().since(self.started_at);
        status.node.uptime_ms = u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX);
    }

    /// Brings a resource up, and remembers that it is.
    fn up(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        Definition::from_text(&self.name, resource, text)?;
        if let Some(running) = self.stored_text(resource)? {
            if running == text {
                return match self.is_up(resource) {
                    Some(_) if self.is_without_disk(resource) => self.attach(resource),
                    Some(reply) => Ok(reply),
                    None => self.bring_up(resource, text),
                };
            }
            if self.is_up(resource).is_some() {
                let message = format!("resource {resource:?} is up with another configuration");
                let hint = "use `adjust` to make it follow the new one";
                return Err(Failure::new(FailureCode::StateRefused, message, hint));
            }
        }
        let reply = self.bring_up(resource, text)?;
        self.state.store_text(resource, text).map_err(state_failure)?;
        Ok(reply)
    }

    /// Takes a resource down, and forgets it; also one that was to be up and is not.
    fn down(&self, resource: &str, force: Force) -> Result<Reply, Failure> {
        let name = resource.to_owned();
        let removed = self.ask(|ticket| ToShard::Remove { ticket, resource: name, force });
        let is_held = removed.as_ref().is_err_and(|e| e.code == FailureCode::UnknownResource)
            && self.stored_text(resource)?.is_some();
        let reply = if is_held { Reply::done() } else { removed? };
        self.held_down.lock().unwrap_or_else(PoisonError::into_inner).remove(resource);
        self.without_disk.lock().unwrap_or_else(PoisonError::into_inner).remove(resource);
        crash::lift(&self.state, resource);
        self.state.forget_text(resource).map_err(state_failure)?;
        Ok(reply)
    }

    /// Takes the disk of a resource that is up into use.
    fn attach(&self, resource: &str) -> Result<Reply, Failure> {
        let unknown = || {
            let message = format!("no resource {resource:?} is up on this node");
            Failure::new(FailureCode::UnknownResource, message, "see `basalt adm status`")
        };
        let text = self.stored_text(resource)?.ok_or_else(unknown)?;
        let definition = Definition::from_text(&self.name, resource, &text)?;
        let mut patience = Patience::new(ATTACH_PATIENCE);
        self.ask_until_ready(&mut patience, |ticket| ToShard::CheckAttach {
            ticket,
            resource: resource.to_owned(),
        })?;
        let place = definition.disk.as_ref().expect("checked by the shard");
        let found = read_replica(&definition, place, &mut Patience::new(COMMAND_PATIENCE))?;
        let reply = self.ask_until_ready(&mut patience, |ticket| {
            let replica = Box::new(found.clone());
            ToShard::Attach { ticket, resource: resource.to_owned(), replica }
        })?;
        self.without_disk.lock().unwrap_or_else(PoisonError::into_inner).remove(resource);
        Ok(reply)
    }

    /// Asks again while the resource is changing.
    fn ask_until_ready(
        &self,
        patience: &mut Patience,
        question: impl Fn(Ticket) -> ToShard,
    ) -> Result<Reply, Failure> {
        loop {
            match self.ask(&question) {
                Err(failure)
                    if failure.code == FailureCode::StateRefused && patience.rest(&failure) => {}
                answer => return answer,
            }
        }
    }

    fn is_without_disk(&self, resource: &str) -> bool {
        let resource = resource.to_owned();
        self.ask(|ticket| ToShard::CheckAttach { ticket, resource }).is_ok()
    }

    fn stored_text(&self, resource: &str) -> Result<Option<String>, Failure> {
        let texts = self.state.stored_texts().map_err(state_failure)?;
        Ok(texts.into_iter().find(|(name, _)| name == resource).map(|(_, text)| text))
    }

    fn is_up(&self, resource: &str) -> Option<Reply> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        self.ask(question).ok().map(|_| Reply::done())
    }

    fn bring_up(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        self.bring_up_within(resource, text, &mut Patience::new(COMMAND_PATIENCE))
    }

    fn bring_up_within(
        &self,
        resource: &str,
        text: &str,
        patience: &mut Patience,
    ) -> Result<Reply, Failure> {
        let definition = Definition::from_text(&self.name, resource, text)?;
        let reply = once_address_is_free(patience, |patience| {
            let attached = Box::new(attach(definition.clone(), &self.state, patience)?);
            self.ask(|ticket| ToShard::Host { ticket, attached })
        })?;
        crash::lift(&self.state, resource);
        self.without_disk.lock().unwrap_or_else(PoisonError::into_inner).remove(resource);
        self.held_down.lock().unwrap_or_else(PoisonError::into_inner).remove(resource);
        Ok(reply)
    }

    /// What `adjust` would do, and the text that is running.
    fn differences(&self, resource: &str, text: &str) -> Result<(Reply, Option<String>), Failure> {
        let wanted = Definition::from_text(&self.name, resource, text)?;
        let running = self.stored_text(resource)?.filter(|_| self.is_up(resource).is_some());
        let changes = match &running {
            None => vec![format!("up {resource}")],
            Some(running) if running == text => {
                let is_missing = self.is_without_disk(resource);
                if is_missing { vec![format!("attach {resource}")] } else { Vec::new() }
            }
            Some(_) => vec![format!("down {resource}"), format!("up {resource}")],
        };
        Ok((Reply::Adjusted { changes, warnings: wanted.warnings }, running))
    }

    /// Makes a resource follow a text: by taking it down and up again, if anything differs.
    fn adjust(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        let (reply, running) = self.differences(resource, text)?;
        if running.as_deref() == Some(text) {
            if self.is_without_disk(resource) {
                self.attach(resource)?;
            }
            return Ok(reply);
        }
        if running.is_some() {
            let name = resource.to_owned();
            self.ask(|ticket| ToShard::Remove { ticket, resource: name, force: Force::No })?;
        }
        if let Err(failure) = self.bring_up(resource, text) {
            // The running state stays what it was.
            if let Some(running) = &running {
                self.bring_up(resource, running)?;
            }
            return Err(failure);
        }
        self.state.store_text(resource, text).map_err(state_failure)?;
        Ok(reply)
    }

    /// Brings up what was up when the daemon ended; one that fails does not keep the others down.
    fn start_resources(&self, patience: &mut Patience) {
        let texts = match self.state.stored_texts() {
            Ok(texts) => texts,
            Err(error) => {
                log!(Error, Scope::NODE, "cannot read the stored resources: {error}");
                return;
            }
        };
        if let Err(error) = crash::judge(&self.state) {
            log!(Error, Scope::NODE, "cannot read what the daemon aborted at before: {error}");
        }
        for (name, text) in texts {
            if let Some(failure) = crash::held(&self.state, &name) {
                self.hold_down(name, failure);
                continue;
            }
            match self.bring_up_within(&name, &text, patience) {
                Ok(_) => {}
                // Its vote, and the way to the others' data, need no disk.
                Err(failure)
                    if failure.code == FailureCode::DiskFailed
                        && self.bring_up_without_disk(&name, &text, patience).is_ok() =>
                {
                    log!(Error, Scope::resource(&name), "it is up without its disk: {failure}");
                    let mut reasons =
                        self.without_disk.lock().unwrap_or_else(PoisonError::into_inner);
                    reasons.insert(name, failure);
                }
                Err(failure) => self.hold_down(name, failure),
            }
        }
    }

    fn hold_down(&self, name: String, failure: Failure) {
        log!(Error, Scope::resource(&name), "it stays down: {failure}");
        self.held_down.lock().unwrap_or_else(PoisonError::into_inner).insert(name, failure);
    }

    fn bring_up_without_disk(
        &self,
        resource: &str,
        text: &str,
        patience: &mut Patience,
    ) -> Result<Reply, Failure> {
        let definition = Definition::from_text(&self.name, resource, text)?;
        once_address_is_free(patience, |patience| {
            let attached =
                Box::new(attach_without_disk(definition.clone(), &self.state, patience)?);
            self.ask(|ticket| ToShard::Host { ticket, attached })
        })
    }

    fn listen_nbd(&self, options: &Options, patience: &mut Patience) -> Result<(), NodeError> {
        let tcp = options.nbd.iter().copied().map(ListenAddr::Tcp);
        let unix = options.nbd_unix.iter().cloned().map(|path: PathBuf| ListenAddr::Unix(path));
        for address in tcp.chain(unix) {
            once_address_is_free(patience, |_| {
                let address = address.clone();
                self.ask(|ticket| ToShard::ListenNbd { ticket, address })
            })
            .map_err(|failure| NodeError::Listen(failure.to_string()))?;
        }
        Ok(())
    }

    fn stop(&self) {
        if let Err(failure) = self.desk.ask(|ticket| ToShard::Stop { ticket }, SHUTDOWN_DEADLINE) {
            log!(Warning, Scope::NODE, "the end is not clean: {failure}");
        }
    }
}

/// Tries again while an address that is to be listened on is taken.
fn once_address_is_free(
    patience: &mut Patience,
    mut attempt: impl FnMut(&mut Patience) -> Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    loop {
        match attempt(patience) {
            Err(failure)
                if failure.code == FailureCode::AddressInUse && patience.rest(&failure) => {}
            result => return result,
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn state_failure(error: std::io::Error) -> Failure {
    let message = format!("the state directory: {error}");
    Failure::new(FailureCode::Internal, message, "is its disk full or read-only?")
}
