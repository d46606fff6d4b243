//! A data-plane thread: its loop, and everything that only this thread touches.
//!
//! One [`turn`](Shard::turn) gathers what happened, steps the machines of the resources that it
//! concerns, settles the touched groups once, performs what they decided, and enters the kernel
//! once. Facts and answers wait in `inbox` and are taken in order: a machine is never entered
//! while another is inside one.

pub(crate) mod hosted;
mod perform;
pub(crate) mod disk;
mod arrivals;
pub(crate) mod commands;
mod devices;
pub(crate) mod clients;
mod hosting;
mod allocation;
mod attaching;
mod status;
mod pace;
pub(crate) mod messages;

use std::collections::VecDeque;

use format::ids::KernelBootId;
use frontend::nbd::wire::Extent;
use io::mailbox::{Receiver, Sender};
use io::{Event, Reactor};
use replication::contract::{
    GroupAction, GroupInput, Request, RequestKind, ResourceAction, ResourceInput, ToGroup,
};
use stdx::time::Time;

use crate::crash;
use crate::limits::STATUS_EXTENTS_MAX;
use crate::links::heartbeat::Lease;
use crate::links::{self, HostedId, Identity, Links};
use crate::log::{Scope, log};
use crate::nbd::Nbd;
use crate::payloads::{Kit, Payloads};
use crate::shard::commands::Stopping;
use crate::shard::disk::{Operation, TOKEN_DISK};
use crate::shard::hosted::Hosted;
use crate::shard::messages::{FromShard, ToShard};
use crate::slab::{Key, Slab};
use crate::ublk::{TOKEN_QUEUE, Ublk};

/// What the machines of a resource are to be told.
#[derive(Debug)]
pub(crate) enum Input {
    Group(GroupInput),
    Resource(ResourceInput),
}

/// Everything that the resources of a shard share.
#[derive(Debug)]
pub(crate) struct Rim {
    pub(crate) kit: Kit,
    pub(crate) links: Links,
    pub(crate) nbd: Nbd,
    pub(crate) ublk: Ublk,
    pub(crate) operations: Slab<Operation>,
    pub(crate) inbox: VecDeque<(HostedId, Input)>,
    pub(crate) outbox: Sender<FromShard>,
    /// Device requests that found no free buffer.
    pub(crate) starved: VecDeque<(HostedId, GroupAction)>,
    /// Resources whose next save found no free buffer.
    pub(crate) blocked_saves: Vec<HostedId>,
}

#[derive(Debug)]
pub(crate) struct Shard {
    rim: Rim,
    identity: Identity,
    kernel_boot_id: KernelBootId,
    started_at: Time,
    hosted: Vec<Option<Box<Hosted>>>,
    /// When each of them has to be looked at again.
    wakes: Vec<Time>,
    touched: Vec<HostedId>,
    mailbox: Receiver<ToShard>,
    events: Vec<Event>,
    group_actions: Vec<GroupAction>,
    resource_actions: Vec<ResourceAction>,
    /// Memory for the leases of the next heartbeat.
    leases: Vec<Lease>,
    /// Of the answer about the state of blocks that is being made.
    extents: Vec<Extent>,
    /// When links and clients have to be looked at again.
    next_tick: Time,
    stopping: Option<Stopping>,
    /// Somebody wants to hear of changes.
    is_watched: bool,
    is_done: bool,
}

impl Shard {
    pub(crate) fn new(
        reactor: Reactor,
        identity: Identity,
        kernel_boot_id: KernelBootId,
        mailbox: Receiver<ToShard>,
        outbox: Sender<FromShard>,
    ) -> Self {
        let now = io::now();
        Self {
            rim: Rim {
                kit: Kit { reactor, payloads: Payloads::default(), now },
                links: Links::new(identity.clone()),
                nbd: Nbd::new(),
                ublk: Ublk::new(),
                operations: Slab::default(),
                inbox: VecDeque::with_capacity(4096),
                outbox,
                starved: VecDeque::new(),
                blocked_saves: Vec::new(),
            },
            identity,
            kernel_boot_id,
            started_at: now,
            hosted: Vec::new(),
            wakes: Vec::new(),
            touched: Vec::new(),
            mailbox,
            events: Vec::with_capacity(1024),
            group_actions: Vec::with_capacity(256),
            resource_actions: Vec::with_capacity(64),
            leases: Vec::new(),
            extents: Vec::with_capacity(STATUS_EXTENTS_MAX),
            next_tick: now,
            stopping: None,
            is_watched: false,
            is_done: false,
        }
    }

    /// Serves until the daemon is told to end.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        while !self.is_done {
            self.turn()?;
        }
        Ok(())
    }

    fn turn(&mut self) -> std::io::Result<()> {
        let wait_until = self.wait_until();
        let mut events = std::mem::take(&mut self.events);
        self.rim.kit.reactor.turn(Some(wait_until), &mut events)?;
        self.rim.kit.now = io::now();
        for event in events.drain(..) {
            self.on_event(event);
        }
        self.events = events;
        while let Some(message) = self.mailbox.pop() {
            self.on_message(message);
        }
        self.tick();
        self.work();
        let Rim { kit, links, nbd, ublk, .. } = &mut self.rim;
        links.retry_starved(kit);
        nbd.flush(kit);
        ublk.retry_starved(kit);
        // What the clients asked meanwhile goes into this turn's sends.
        self.work();
        let Rim { kit, links, .. } = &mut self.rim;
        links.flush(kit);
        self.rim.outbox.publish();
        Ok(())
    }

    fn wait_until(&self) -> Time {
        let is_busy = self.rim.nbd.is_waiting()
            || self.rim.links.is_due()
            || !self.rim.starved.is_empty()
            || !self.rim.blocked_saves.is_empty();
        if is_busy {
            return self.rim.kit.now;
        }
        let wake = self.wakes.iter().copied().min().unwrap_or(Time::NEVER);
        wake.min(self.next_tick).min(self.rim.nbd.deadline())
    }

    fn on_event(&mut self, event: Event) {
        let Rim { kit, links, nbd, ublk, .. } = &mut self.rim;
        match event {
            Event::Accepted { token, socket, .. } => match Key::of_token(token).0 {
                links::TOKEN_LISTENER => links.on_accepted(socket, kit),
                _ => nbd.on_accepted(socket, kit),
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
                    links.on_received(key, result, kit);
                }
                (_, key) => nbd.on_received(key, result, kit),
            },
            Event::Sent { token, result, .. } => match Key::of_token(token) {
                (links::TOKEN_CONNECTION, key) => {
                    links.on_sent(key, result, kit);
                }
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
                ublk.on_fetched(key, queue, tag, descriptor, kit);
            }
            Event::QueueEnded { token, queue } => {
                ublk.on_ended(Key::of_token(token).1, queue, kit);
            }
        }
        crash::stepping(None);
        // Facts of one event come before those of the next.
        self.take_facts();
    }

    fn on_disk(&mut self, key: Key, result: &std::io::Result<u32>) {
        let Some(operation) = self.rim.operations.remove(key) else { return };
        let id = operation.hosted();
        crash::stepping(Some(id));
        match self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) {
            Some(hosted) => hosted.on_device(&operation, result, &mut self.rim),
            None => operation.discard(&mut self.rim),
        }
    }

    /// Steps machines until nothing is left to tell them.
    fn work(&mut self) {
        self.take_facts();
        self.retry_starved();
        self.work_off();
        crash::stepping(None);
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
        crash::stepping(Some(id));
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            release_unread(&input, &mut self.rim);
            return;
        };
        if !hosted.is_touched {
            hosted.is_touched = true;
            self.touched.push(id);
        }
        match input {
            Input::Group(input) => {
                if let GroupInput::Home(ToGroup::Attach { .. }) = input {
                    hosted.use_offered_disk();
                }
                hosted.group.step(now, input, &mut self.group_actions);
                hosted.perform_group(&mut self.group_actions, &mut self.rim);
            }
            Input::Resource(input) => {
                // A lease that is renewed changes nothing that is shown.
                hosted.is_news |= !matches!(input, ResourceInput::Lease { .. });
                hosted.resource.step(now, input, &mut self.resource_actions);
                self.perform_resource(id);
            }
        }
    }

    fn settle(&mut self, id: HostedId) {
        let now = self.rim.kit.now;
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        hosted.is_touched = false;
        crash::stepping(Some(id));
        hosted.group.settle(now, &mut self.group_actions);
        hosted.perform_group(&mut self.group_actions, &mut self.rim);
        self.wakes[id.0 as usize] = hosted.wake_at();
        if self.is_watched && hosted.is_news && !hosted.is_told {
            hosted.is_told = true;
            self.rim.tell_changed(hosted.name());
        }
    }

    /// What is shown of a resource changed without an input to it.
    fn note_news(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        hosted.is_news = true;
        if !hosted.is_touched {
            hosted.is_touched = true;
            self.touched.push(id);
        }
    }

    /// Device requests and saves that found no buffer are tried again.
    fn retry_starved(&mut self) {
        for _ in 0..self.rim.starved.len() {
            let Some((id, action)) = self.rim.starved.pop_front() else { break };
            let held = disk::payload_of(&action);
            if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut)
                && let Some(again) = hosted.start_device(action, &mut self.rim)
            {
                self.rim.starved.push_front((id, again));
                break;
            }
            if let Some(payload) = held {
                self.rim.kit.payloads.release(payload, self.rim.kit.reactor.pool());
            }
        }
        for id in std::mem::take(&mut self.rim.blocked_saves) {
            if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) {
                hosted.write_first_save(&mut self.rim);
            }
        }
    }

    /// Does what time asks for.
    fn tick(&mut self) {
        let Rim { kit, links, nbd, .. } = &mut self.rim;
        let now = kit.now;
        if now >= self.next_tick || links.take_due() {
            self.next_tick = links.tick(kit);
        }
        nbd.tick(kit);
        for index in 0..self.wakes.len() {
            if self.wakes[index] <= now {
                self.wakes[index] = Time::NEVER;
                let id = HostedId(u32::try_from(index).expect("a number of this shard's"));
                self.tick_hosted(id);
                self.rim.inbox.push_back((id, Input::Resource(ResourceInput::Tick)));
            }
        }
    }
}

/// A payload of an input for a resource that is gone goes back.
fn release_unread(input: &Input, rim: &mut Rim) {
    let payload = match input {
        Input::Group(GroupInput::Peer { payload, .. }) => *payload,
        Input::Group(GroupInput::Request(Request {
            kind: RequestKind::Write { payload, .. },
            ..
        })) => Some(*payload),
        Input::Group(_) | Input::Resource(_) => None,
    };
    if let Some(payload) = payload {
        rim.kit.release(payload);
    }
}
