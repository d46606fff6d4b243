//! A data-plane thread: its loop, and everything that only this thread touches.
//!
//! One [`turn`](Shard::turn) gathers what happened, steps the machines of the resources that it
//! concerns, settles the touched groups when all that is there is taken, performs what they
//! decided, and enters the kernel once. Facts and answers wait in `inbox` and are taken in order:
//! a machine is never entered while another is inside one.

pub(crate) mod hosted;
mod operation;
pub(crate) mod part;
mod disk;
mod further;
pub mod mesh;
mod submit;
mod cross;
mod fence;
mod acks;
mod perform;
mod saving;
mod copies;
mod hung;
mod demand;
mod arrivals;
pub mod refusals;
mod commands;
mod devices;
mod guests;
pub(crate) mod clients;
pub(crate) mod initiators;
pub mod addresses;
mod hosting;
mod allocation;
mod attaching;
mod adding;
pub(crate) mod moving;
mod adjusting;
pub mod status;
mod pace;
mod last_verify;
mod wakes;
mod leases;
#[cfg(test)]
mod fixture;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test may wait for its disk")]
pub(crate) mod rows;

use std::collections::VecDeque;

use format::ids::KernelBootId;
use frontend::nbd::wire::Extent;
use io::mailbox::{Receiver, Sender};
use io::{Event, Reactor, SocketId};
use replication::contract::{
    DeviceResult, GroupAction, GroupInput, RequestKind, ResourceAction, ResourceInput, ToGroup,
};
use stdx::time::Time;

use crate::clients::nbd::{self, Nbd};
use crate::clients::nvme::{self, Nvme};
use crate::clients::ublk::{TOKEN_QUEUE, Ublk};
use crate::clients::vhost::{TOKEN_RING, Vhost};
use crate::contract::{Cross, FromShard, ToShard};
use crate::definition::link::Secrecy;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{CROSS_CAPACITY, DONE_ROUNDS_MAX, STATUS_EXTENTS_MAX};
use crate::links::heartbeat::Lease;
use crate::links::{self, Identity, Links};
use crate::log::{Scope, log};
use crate::memory::MemoryPlan;
use crate::shard::commands::Stopping;
use crate::shard::copies::DeviceCopy;
use crate::shard::demand::Demand;
use crate::shard::hosted::Hosted;
use crate::shard::hosting::Passing;
use crate::shard::leases::Wanted;
use crate::shard::mesh::{Mesh, Ways};
use crate::shard::operation::{Operation, TOKEN_DISK};
use crate::shard::part::Part;
use crate::shard::wakes::Wakes;
use crate::slab::{Key, Slab};
use crate::stepping;

/// What the machines of a resource are to be told.
#[derive(Debug)]
pub(crate) enum Input {
    Group(GroupInput),
    Resource(ResourceInput),
}

/// A shard's ends of the mailboxes.
#[derive(Debug)]
pub struct Ends {
    pub mailbox: Receiver<ToShard>,
    pub outbox: Sender<FromShard>,
    pub ways: Ways,
}

/// Everything that the resources of a shard share.
#[derive(Debug)]
pub(crate) struct Rim {
    pub(crate) kit: Kit,
    /// The ways to the other shards; what goes there is told by `tell`.
    mesh: Mesh,
    pub(crate) links: Links,
    pub(crate) nbd: Nbd,
    pub(crate) nvme: Nvme,
    pub(crate) ublk: Ublk,
    pub(crate) vhost: Vhost,
    pub(crate) operations: Slab<Operation>,
    pub(crate) copies: Slab<DeviceCopy>,
    pub(crate) inbox: VecDeque<(HostedId, Input)>,
    pub(crate) outbox: Sender<FromShard>,
    /// Device requests that found no free buffer, or came behind one.
    pub(crate) starved: Starved,
    /// Reads of the device likewise, which leave buffers to the others.
    pub(crate) starved_reads: Starved,
    /// Resources whose next save found no free buffer.
    pub(crate) blocked_saves: Vec<HostedId>,
    /// When writes of registers that do not end are looked for.
    pub(crate) register_due: Time,
    /// To how many members a write went, of whom none has said anything since.
    pub(crate) asked: u32,
}

/// In order, each with its resource.
pub(crate) type Starved = VecDeque<(HostedId, GroupAction)>;

#[derive(Debug)]
pub struct Shard {
    rim: Rim,
    identity: Identity,
    kernel_boot_id: KernelBootId,
    started_at: Time,
    /// Of the resources that are at home here.
    hosted: Vec<Option<Box<Hosted>>>,
    hosted_count: u32,
    passing: Vec<Passing>,
    /// Of all resources, by the same numbers.
    parts: Vec<Option<Box<Part>>>,
    /// When each of them has to be looked at again.
    wakes: Wakes,
    /// Memory for the numbers of those whose time has come.
    due: Vec<usize>,
    touched: Vec<HostedId>,
    mailbox: Receiver<ToShard>,
    neighbours: Vec<(u8, Receiver<Cross>)>,
    /// The shard that serves the client that is accepted next.
    next_client: u8,
    events: Vec<Event>,
    group_actions: Vec<GroupAction>,
    resource_actions: Vec<ResourceAction>,
    wanted: Wanted,
    /// Memory for the leases of the next heartbeat.
    leases: Vec<Lease>,
    /// Of the answer about the state of blocks that is being made.
    extents: Vec<Extent>,
    /// When links and clients have to be looked at again.
    next_tick: Time,
    /// What the clients of this shard ask for.
    demand: Demand,
    /// Machines were stepped since those that wait for room were tried again.
    is_behind: bool,
    /// When disks that do not answer are looked for.
    hung_look_at: Time,
    /// Resources that went down, with requests to their disks under way.
    left_disks: Vec<(HostedId, String)>,
    stopping: Option<Stopping>,
    /// Somebody wants to hear of changes.
    is_watched: bool,
    is_done: bool,
}

impl Rim {
    /// Queues a message to another shard, behind the news that links had for any before.
    fn tell(&mut self, to: u8, message: Cross) {
        self.hand_news_on();
        self.mesh.send(to, message);
    }

    fn hand_news_on(&mut self) {
        while let Some((to, news)) = self.links.pop_news() {
            self.mesh.send(to, Cross::Link(Box::new(news)));
        }
    }

    /// What is said to others leaves.
    fn publish(&mut self) {
        self.hand_news_on();
        while let Some((owner, loan)) = self.kit.pop_returned() {
            self.mesh.send(owner, Cross::Returned(loan));
        }
        self.mesh.publish();
        self.outbox.publish();
    }
}

impl Shard {
    pub fn new(
        reactor: Reactor,
        identity: Identity,
        kernel_boot_id: KernelBootId,
        memory: MemoryPlan,
        ends: Ends,
    ) -> Self {
        let now = io::now();
        let Ends { mailbox, outbox, ways: Ways { mesh, neighbours } } = ends;
        Self {
            rim: Rim {
                links: Links::new(identity.clone(), mesh.me()),
                kit: Kit::new(reactor, mesh.me(), now),
                mesh,
                nbd: Nbd::new(),
                nvme: Nvme::new(),
                ublk: Ublk::new(memory.device_bytes_max),
                vhost: Vhost::new(),
                operations: Slab::default(),
                copies: Slab::default(),
                inbox: VecDeque::with_capacity(4096),
                outbox,
                starved: Starved::new(),
                starved_reads: Starved::new(),
                blocked_saves: Vec::new(),
                register_due: Time::NEVER,
                asked: 0,
            },
            identity,
            kernel_boot_id,
            started_at: now,
            hosted: Vec::new(),
            hosted_count: 0,
            passing: Vec::new(),
            parts: Vec::new(),
            wakes: Wakes::NONE,
            due: Vec::new(),
            touched: Vec::new(),
            mailbox,
            neighbours,
            next_client: 0,
            events: Vec::with_capacity(1024),
            group_actions: Vec::with_capacity(256),
            resource_actions: Vec::with_capacity(64),
            wanted: Wanted::default(),
            leases: Vec::new(),
            extents: Vec::with_capacity(STATUS_EXTENTS_MAX),
            next_tick: now,
            demand: Demand::NONE,
            is_behind: false,
            hung_look_at: Time::NEVER,
            left_disks: Vec::new(),
            stopping: None,
            is_watched: false,
            is_done: false,
        }
    }

    /// Serves until the daemon is told to end.
    pub fn run(&mut self) -> std::io::Result<()> {
        while !self.is_done {
            self.turn()?;
        }
        Ok(())
    }

    fn turn(&mut self) -> std::io::Result<()> {
        let wait_until = self.wait_until();
        let together = self.demand.together(self.rim.answers_owed());
        let outlook = self.demand.outlook(self.rim.requests_in_progress(), self.rim.kit.now);
        self.rim.kit.reactor.expect(outlook);
        self.rim.kit.reactor.sleep_for(together);
        self.rim.kit.reactor.turn(Some(wait_until), &mut self.events)?;
        self.rim.kit.now = io::now();
        self.take_events();
        self.demand.on_events(self.rim.requests_in_progress());
        while let Some(message) = self.mailbox.pop() {
            self.on_message(message);
        }
        self.hear_neighbours();
        self.tick();
        self.work();
        // What the device did at once is answered in this turn's sends.
        for _ in 0..DONE_ROUNDS_MAX {
            self.rim.kit.reactor.take_done(&mut self.events);
            if self.events.is_empty() {
                break;
            }
            // Other shards and guests may have asked after the time with which this turn began. By
            // that time a lease could still hold that has ended since, if this process stood still.
            self.rim.kit.now = io::now();
            self.take_events();
            self.work();
        }
        let Rim { kit, links, nbd, nvme, ublk, vhost, .. } = &mut self.rim;
        links.retry_starved(kit);
        nbd.flush(kit);
        nvme.flush(kit);
        ublk.retry_starved(kit);
        vhost.retry_starved(kit);
        vhost.look_again(kit);
        // So is what the clients asked meanwhile.
        self.is_behind = self.has_work();
        if self.is_behind {
            self.work();
        }
        let Rim { kit, links, vhost, .. } = &mut self.rim;
        vhost.flush(kit);
        links.flush(kit);
        self.rim.publish();
        Ok(())
    }

    fn take_events(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            self.on_event(event);
        }
        self.events = events;
    }

    fn hear_neighbours(&mut self) {
        for index in 0..self.neighbours.len() {
            // Not more than one turn's: the others are to be heard, too.
            for _ in 0..CROSS_CAPACITY {
                let (from, receiver) = &mut self.neighbours[index];
                let from = *from;
                let Some(message) = receiver.pop() else { break };
                self.on_cross(from, message);
            }
        }
    }

    fn wait_until(&self) -> Time {
        let is_busy = self.rim.nbd.is_waiting(&self.rim.kit)
            || self.rim.nvme.is_waiting(&self.rim.kit)
            || self.rim.vhost.is_waiting(&self.rim.kit)
            || self.rim.ublk.is_waiting(&self.rim.kit)
            || self.rim.links.is_due()
            || self.rim.mesh.has_backlog()
            || self.rim.has_starved()
            || (self.is_behind && self.rim.has_starved_senders());
        if is_busy {
            return self.rim.kit.now;
        }
        let clients = self.rim.nbd.deadline().min(self.rim.nvme.deadline());
        let hung = self.hung_look_at.min(self.rim.register_due);
        self.wakes.first().min(self.next_tick).min(clients).min(hung)
    }

    fn on_event(&mut self, event: Event) {
        let Rim { kit, links, nbd, nvme, ublk, vhost, asked, .. } = &mut self.rim;
        match event {
            Event::Accepted { token, socket, .. } => match Key::of_token(token).0 {
                links::TOKEN_LISTENER => links.on_accepted(socket, kit),
                nvme::TOKEN_LISTENER => nvme.on_accepted(socket, kit),
                nbd::TOKEN_TLS_LISTENER => self.on_client(socket, Secrecy::Tls),
                _ => self.on_client(socket, Secrecy::ClearText),
            },
            Event::AcceptFailed { error, .. } => {
                log!(Warning, Scope::NODE, "a connection was not accepted: {error}");
            }
            Event::Connected { token, result, .. } => {
                let (_, key) = Key::of_token(token);
                links.on_connected(key, result, kit);
            }
            Event::Received { token, result, .. } => match Key::of_token(token) {
                (links::TOKEN_CONNECTION, key) => {
                    *asked = 0;
                    links.on_received(key, result, kit);
                }
                (nvme::TOKEN_INITIATOR, key) => {
                    self.demand.on_client(kit.now);
                    nvme.on_received(key, result, kit);
                }
                (_, key) => {
                    self.demand.on_client(kit.now);
                    nbd.on_received(key, result, kit);
                }
            },
            Event::Sent { token, result, .. } => match Key::of_token(token) {
                (links::TOKEN_CONNECTION, key) => {
                    links.on_sent(key, result, kit);
                }
                (nvme::TOKEN_INITIATOR, key) => nvme.on_sent(key, result, kit),
                (_, key) => nbd.on_sent(key, result, kit),
            },
            Event::Disk { token, result, .. } => {
                let (kind, key) = Key::of_token(token);
                assert_eq!(kind, TOKEN_DISK, "disks answer requests to disks");
                self.on_disk(key, &result);
            }
            Event::Fetched { token, queue, tag, descriptor } => {
                let (kind, key) = Key::of_token(token);
                assert_eq!(kind, TOKEN_QUEUE, "queues fetch for devices");
                self.demand.on_client(kit.now);
                ublk.on_fetched(key, queue, tag, descriptor, kit);
            }
            Event::QueueEnded { token, queue } => {
                self.on_device_ended(Key::of_token(token).1, queue);
            }
            Event::Kicked { token } => {
                let (kind, key) = Key::of_token(token);
                assert_eq!(kind, TOKEN_RING, "rings are kicked");
                self.demand.on_client(kit.now);
                vhost.on_kicked(key, kit);
            }
            Event::KicksFailed { token, error } => {
                vhost.on_kicks_failed(Key::of_token(token).1, &error, kit);
            }
        }
        stepping::set(None);
        // Facts of one event come before those of the next.
        self.take_facts();
    }

    fn on_disk(&mut self, key: Key, result: &std::io::Result<u32>) {
        let Some(operation) = self.rim.operations.remove(key) else { return };
        let id = operation.hosted();
        if operation.is_abandoned() {
            return self.end_abandoned(operation);
        }
        stepping::set(Some(id));
        let place = id.0 as usize;
        let rim = &mut self.rim;
        if operation.is_of_save() {
            if let (Err(error), Some(Some(part))) = (result, self.parts.get_mut(place))
                && operation.is_of_metadata()
            {
                part.note_failed_save(&operation, error, rim);
            }
            match self.hosted.get_mut(place).and_then(Option::as_mut) {
                Some(hosted) => hosted.on_saved(&operation, result, rim),
                None => operation.discard(rim),
            }
        } else {
            match self.parts.get_mut(place).and_then(Option::as_mut) {
                Some(part) => part.on_device(&operation, result, rim),
                None => operation.discard(rim),
            }
            self.finish_closing(id);
        }
    }

    /// Clients are spread over the shards in turn.
    fn on_client(&mut self, socket: SocketId, secrecy: Secrecy) {
        let rim = &mut self.rim;
        let shard = self.next_client;
        self.next_client = (shard + 1) % rim.mesh.shards();
        if shard == rim.mesh.me() {
            return rim.nbd.on_accepted(socket, secrecy, &mut rim.kit);
        }
        match rim.kit.reactor.give_up(socket) {
            Ok(socket) => rim.tell(shard, Cross::Client(socket, secrecy)),
            Err(error) => log!(Warning, Scope::NODE, "an NBD client was turned away: {error}"),
        }
    }

    /// Something came since `work` was at its end, or waited for what may have come.
    fn has_work(&self) -> bool {
        let Self { rim, touched, .. } = self;
        rim.has_fact() || rim.has_starved() || !rim.inbox.is_empty() || !touched.is_empty()
    }

    /// Steps machines until nothing is left to tell them.
    fn work(&mut self) {
        self.take_facts();
        if self.rim.has_starved() {
            self.retry_starved();
        }
        self.work_off();
        stepping::set(None);
    }

    fn work_off(&mut self) {
        loop {
            while let Some((id, input)) = self.rim.inbox.pop_front() {
                self.step(id, input);
                self.take_facts();
            }
            let Some(id) = self.touched.pop() else { break };
            self.settle(id);
        }
    }

    fn step(&mut self, id: HostedId, input: Input) {
        let now = self.rim.kit.now;
        stepping::set(Some(id));
        let place = id.0 as usize;
        if let Input::Group(GroupInput::Home(ToGroup::Attach { .. })) = input {
            self.use_offered_disk(id);
        }
        let Some(part) = self.parts.get_mut(place).and_then(Option::as_mut) else {
            release_unread(&input, &mut self.rim);
            return;
        };
        if let (Input::Group(GroupInput::Home(ToGroup::Track { slots, .. })), Some(disk)) =
            (&input, &mut part.disk)
        {
            disk.slots.clone_from(slots);
        }
        if !part.is_touched {
            part.is_touched = true;
            self.touched.push(id);
        }
        match input {
            Input::Group(input) => {
                part.group.step(now, input, &mut self.group_actions);
                part.perform_group(&mut self.group_actions, &mut self.rim);
            }
            Input::Resource(input) => {
                if let Some(hosted) = self.hosted.get_mut(place).and_then(Option::as_mut) {
                    // A lease that is renewed changes nothing that is shown; the first one does.
                    let is_lease = matches!(input, ResourceInput::Lease { .. });
                    let had_majority = is_lease && hosted.resource.has_majority();
                    hosted.last_verify.expect(&input);
                    hosted.resource.step(now, input, &mut self.resource_actions);
                    hosted.note_verify(now);
                    let is_news = !is_lease || hosted.resource.has_majority() != had_majority;
                    hosted.is_news |= is_news;
                    self.wanted.set(id, hosted.resource.lease_wanted());
                    self.perform_resource(id);
                    if is_news {
                        self.look_at_path(id);
                    }
                }
            }
        }
    }

    fn settle(&mut self, id: HostedId) {
        let now = self.rim.kit.now;
        let place = id.0 as usize;
        let Some(part) = self.parts.get_mut(place).and_then(Option::as_mut) else { return };
        part.is_touched = false;
        stepping::set(Some(id));
        part.group.settle(now, &mut self.group_actions);
        part.perform_group(&mut self.group_actions, &mut self.rim);
        self.set_wake(id);
        let hosted = self.hosted.get_mut(place).and_then(Option::as_mut);
        if let Some(hosted) = hosted.filter(|_| self.is_watched)
            && hosted.is_news
            && !hosted.is_told
        {
            hosted.is_told = true;
            self.rim.tell_changed(hosted.name());
        }
    }

    /// What is shown of a resource that is at home here changed without an input to it.
    fn note_news(&mut self, id: HostedId) {
        let place = id.0 as usize;
        if let Some(hosted) = self.hosted.get_mut(place).and_then(Option::as_mut) {
            hosted.is_news = true;
        }
        self.touch(id);
    }

    /// What the resource has here is settled before the turn ends.
    fn touch(&mut self, id: HostedId) {
        if let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut)
            && !part.is_touched
        {
            part.is_touched = true;
            self.touched.push(id);
        }
    }

    /// Looks again when the resource or its lanes here wait for something.
    fn set_wake(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let part = self.parts[place].as_ref().map_or(Time::NEVER, |part| part.group.wake_at());
        let home = self.hosted[place].as_ref().map_or(Time::NEVER, |hosted| hosted.wake_at());
        self.wakes.set(place, part.min(home));
    }

    /// Device requests and saves that found no buffer are tried again.
    fn retry_starved(&mut self) {
        for id in std::mem::take(&mut self.rim.blocked_saves) {
            if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) {
                hosted.write_first_save(&mut self.rim);
            }
        }
        self.retry(|rim| &mut rim.starved);
        self.retry(|rim| &mut rim.starved_reads);
    }

    fn retry(&mut self, queue: impl Fn(&mut Rim) -> &mut Starved) {
        for _ in 0..queue(&mut self.rim).len() {
            let Some((id, action)) = queue(&mut self.rim).pop_front() else { break };
            let held = disk::payload_of(&action);
            if let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut)
                && let Some(again) = part.start_device(action, &mut self.rim)
            {
                queue(&mut self.rim).push_front((id, again));
                break;
            }
            if let Some(payload) = held {
                self.rim.kit.payloads.release(payload, self.rim.kit.reactor.pool());
            }
            self.finish_closing(id);
        }
    }

    /// Does what time asks for.
    fn tick(&mut self) {
        let Rim { kit, links, nbd, nvme, .. } = &mut self.rim;
        let now = kit.now;
        if now >= self.next_tick || links.take_due() {
            self.next_tick = links.tick(kit);
        }
        nbd.tick(kit);
        nvme.tick(kit);
        if now >= self.hung_look_at {
            self.hung_look_at = self.give_up_hung_disks();
        }
        if now >= self.rim.register_due {
            self.give_up_hung_registers();
        }
        let mut due = std::mem::take(&mut self.due);
        self.wakes.take_due(now, &mut due);
        for place in due.drain(..) {
            self.wake(HostedId(u32::try_from(place).expect("a number of this shard's")));
        }
        self.due = due;
    }

    /// The resource, or its lanes here, waited for this time. Lanes look at the clock when they are
    /// settled, and much more often than the resource wants to be asked.
    fn wake(&mut self, id: HostedId) {
        let hosted = self.hosted.get(id.0 as usize).and_then(Option::as_ref);
        if hosted.is_some_and(|hosted| hosted.wake_at() <= self.rim.kit.now) {
            self.tick_hosted(id);
            self.rim.inbox.push_back((id, Input::Resource(ResourceInput::Tick)));
        } else {
            self.touch(id);
        }
    }
}

/// A payload of an input for a resource that is gone goes back.
fn release_unread(input: &Input, rim: &mut Rim) {
    let payload = match input {
        Input::Group(GroupInput::Peer { payload, .. }) => *payload,
        Input::Group(GroupInput::Request(request)) => match request.kind {
            RequestKind::Write { payload, .. } => Some(payload),
            RequestKind::Read | RequestKind::Discard { .. } | RequestKind::Zeroes { .. } => None,
        },
        Input::Group(GroupInput::Device {
            result: Ok(DeviceResult::Read { payload, .. }), ..
        }) => Some(*payload),
        Input::Group(_) | Input::Resource(_) => None,
    };
    if let Some(payload) = payload {
        rim.kit.release(payload);
    }
}
