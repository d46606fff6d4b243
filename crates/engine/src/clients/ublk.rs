//! The ublk front end on a shard: requests of the local kernel's block devices.
//!
//! ```text
//! Prepared --queue--> Serving --end--> Ending --all fetches failed--> gone
//! ```
//!
//! A device belongs to one resource, which is Primary here as long as it is served. The thread that
//! makes and removes it (`node/devices`) hears through [`News`] what happens to it. Once a device
//! is ending, every request is answered with EIO, those in the core included: the kernel can stop a
//! device only when it has all its answers. A device that is left instead keeps its requests, for
//! the next daemon.
//!
//! The kernel may ask for much at once, most of all when it is short of memory; so what is taken
//! in of that is bounded, device by device, and the rest waits where it is, in pages of the kernel.

mod requests;

use std::any::Any;
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use format::ids::Nonce;
use format::space::{Place, Space};
use frontend::ublk::request::Errno;
use io::{Descriptor, QueueId};
use replication::contract::GroupInput;
use replication::resource::Reign;

use crate::clients::budget::Crowd;
use crate::clients::ublk::requests::BlockRequest;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::DEVICE_DEPTH;
use crate::log::{Scope, log};
use crate::slab::{Key, Rotation, Slab};

/// Kind of the reactor's tokens that belong to queues of devices.
pub(crate) const TOKEN_QUEUE: u8 = 6;

/// What keeps others from a device until it is dropped. No shard has one: threads of devices hand
/// it on.
pub type Claim = Box<dyn Any + Send>;

/// What the thread of a device is told.
#[derive(Debug)]
pub enum News {
    /// Who served clients last, and whether so many voters are in reach that this node may.
    Tenure {
        last: Option<Nonce>,
        has_quorum: bool,
    },
    /// The volume may be served.
    Prepared(Facts),
    /// It may not: the kernel still has commands for an earlier device of it.
    Occupied,
    Refused(String),
    /// Requests are taken: the device may be started.
    Serving,
    /// The volume has so many bytes now.
    Grown(u64),
    /// No request is served any more, for this reason.
    Over(String),
    /// The kernel has no command of ours any more.
    Ended,
    /// Remove the device; the claim keeps others from it meanwhile.
    Remove(Option<Claim>),
    /// The daemon ends, and the device is to outlive it.
    Leave,
    /// Its supervisor has ended in this way.
    Unsupervised(String),
}

/// What a device is made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub size_bytes: u64,
    pub reign: Reign,
}

#[derive(Debug)]
pub(crate) struct Ublk {
    devices: Slab<Device>,
    requests: Slab<BlockRequest>,
    facts: VecDeque<(HostedId, GroupInput)>,
    /// Requests that wait for memory, of all devices.
    starved_count: usize,
    /// Whose requests are the first to be tried again.
    rotation: Rotation,
    /// One of them found no room among all clients.
    crowd: Crowd,
    /// Requests that were failed, which the core has not answered yet.
    orphans: usize,
    /// Bytes of the reads and writes of one device that the core has, at most.
    bytes_max: u64,
}

#[derive(Debug)]
struct Device {
    hosted: HostedId,
    /// The volume of it.
    place: Place,
    size_bytes: u64,
    news: Sender<News>,
    queue: Option<QueueId>,
    stage: Stage,
    /// Bytes of its reads and writes that the core has.
    bytes: u64,
    /// Requests that wait for a free buffer, or for others of the device to end.
    starved: VecDeque<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Prepared,
    Serving,
    Ending,
    Left,
}

impl Ublk {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            devices: Slab::default(),
            requests: Slab::default(),
            facts: VecDeque::with_capacity(1024),
            starved_count: 0,
            rotation: Rotation::default(),
            crowd: Crowd::default(),
            orphans: 0,
            bytes_max,
        }
    }

    pub(crate) fn requests_in_progress(&self) -> usize {
        self.requests.len() - self.orphans
    }

    /// Something was given back since a request found no room.
    pub(crate) fn is_waiting(&self, kit: &Kit) -> bool {
        self.is_starved() && self.crowd.may_go_on(&kit.budget)
    }

    /// A request waits for a buffer, or for room.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved_count > 0
    }

    pub(crate) fn has_fact(&self) -> bool {
        !self.facts.is_empty()
    }

    pub(crate) fn pop_fact(&mut self) -> Option<(HostedId, GroupInput)> {
        self.facts.pop_front()
    }

    /// Takes note that a device is being made for a resource that is Primary.
    pub(crate) fn prepare(&mut self, volume: (HostedId, Place), facts: Facts, news: Sender<News>) {
        if self.device_of(volume).is_some() {
            tell(&news, News::Occupied);
            return;
        }
        tell(&news, News::Prepared(facts));
        let size_bytes = facts.size_bytes;
        let (hosted, place) = volume;
        self.devices.insert(Device {
            hosted,
            place,
            size_bytes,
            news,
            queue: None,
            stage: Stage::Prepared,
            bytes: 0,
            starved: VecDeque::with_capacity(usize::from(DEVICE_DEPTH)),
        });
    }

    /// Takes the requests of a device from now on, if it can.
    pub(crate) fn serve(
        &mut self,
        volume: (HostedId, Place),
        file: Arc<File>,
        (queue, depth): (u16, u16),
        kit: &mut Kit,
    ) -> bool {
        let Some(key) = self.device_of(volume) else { return false };
        let device = self.devices.get_mut(key).expect("found just now");
        if device.stage != Stage::Prepared {
            return false;
        }
        match kit.reactor.serve_queue(file, queue, depth, key.token(TOKEN_QUEUE)) {
            Ok(queue) => {
                device.queue = Some(queue);
                device.stage = Stage::Serving;
                tell(&device.news, News::Serving);
                true
            }
            Err(error) => {
                tell(&device.news, News::Refused(format!("cannot serve its queue: {error}")));
                self.devices.remove(key);
                false
            }
        }
    }

    /// The volumes of a resource have these sizes now.
    pub(crate) fn grow(&mut self, hosted: HostedId, space: &Space) {
        for index in 0..self.devices.end() {
            let Some(key) = self.devices.key_at(index) else { continue };
            let Some(device) = self.devices.get_mut(key) else { continue };
            let size_bytes = space.bytes_at(device.place);
            if device.hosted == hosted && device.size_bytes < size_bytes {
                device.size_bytes = size_bytes;
                tell(&device.news, News::Grown(size_bytes));
            }
        }
    }

    /// Answers everything of a resource with an error from now on.
    pub(crate) fn end(&mut self, hosted: HostedId, reason: &str, kit: &mut Kit) {
        let devices = self.devices.iter().filter(|(_, device)| device.hosted == hosted);
        let places: Vec<Place> = devices.map(|(_, device)| device.place).collect();
        for place in places {
            self.end_one((hosted, place), reason, kit);
        }
    }

    /// The same of one volume.
    pub(crate) fn end_one(&mut self, volume: (HostedId, Place), reason: &str, kit: &mut Kit) {
        let Some(key) = self.device_of(volume) else { return };
        let device = self.devices.get_mut(key).expect("found just now");
        match device.stage {
            Stage::Prepared => {
                tell(&device.news, News::Over(reason.to_owned()));
                tell(&device.news, News::Ended);
                self.devices.remove(key);
            }
            Stage::Serving => {
                device.stage = Stage::Ending;
                tell(&device.news, News::Over(reason.to_owned()));
                self.fail_requests(key, kit);
            }
            Stage::Ending | Stage::Left => {}
        }
    }

    /// Answers nothing any more: the next daemon is asked again.
    pub(crate) fn leave(&mut self, hosted: HostedId) {
        for index in 0..self.devices.end() {
            let Some(key) = self.devices.key_at(index) else { continue };
            if let Some(device) = self.devices.get_mut(key)
                && device.hosted == hosted
            {
                device.stage = Stage::Left;
            }
        }
    }

    /// Says which volume has no device any more.
    pub(crate) fn on_ended(
        &mut self,
        key: Key,
        queue: QueueId,
        kit: &mut Kit,
    ) -> Option<(HostedId, Place)> {
        if let Some(device) = self.devices.get_mut(key)
            && device.stage == Stage::Serving
        {
            // Somebody else stopped it, and waits for the answers: the queue ends anew after them.
            device.stage = Stage::Ending;
            tell(&device.news, News::Over("the kernel has stopped it".to_owned()));
            if self.fail_requests(key, kit) > 0 {
                return None;
            }
        }
        kit.reactor.close_queue(queue);
        let device = self.devices.remove(key)?;
        self.starved_count -= device.starved.len();
        tell(&device.news, News::Ended);
        Some((device.hosted, device.place))
    }

    pub(crate) fn on_fetched(
        &mut self,
        key: Key,
        queue: QueueId,
        tag: u16,
        descriptor: Descriptor,
        kit: &mut Kit,
    ) {
        match self.devices.get(key) {
            Some(device) if device.stage == Stage::Serving => self.start(key, tag, descriptor, kit),
            Some(device) if device.stage == Stage::Left => {}
            Some(_) | None => kit.reactor.commit_request(queue, tag, Errno::Io.result()),
        }
    }

    fn device_of(&self, volume: (HostedId, Place)) -> Option<Key> {
        let mut devices = self.devices.iter();
        devices.find(|(_, it)| (it.hosted, it.place) == volume).map(|(key, _)| key)
    }
}

fn tell(news: &Sender<News>, what: News) {
    if news.send(what).is_err() {
        log!(Warning, Scope::NODE, "the thread of a device is gone");
    }
}

#[cfg(test)]
pub(crate) mod tests;
