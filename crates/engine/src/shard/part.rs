//! One shard's part of a resource: its lanes, its handle on the disk, its ways to the members.
//!
//! Every shard has a part of every resource. One of them is the resource's home as well
//! (`hosted`): what it decides reaches the parts in order, and what they answer comes back
//! likewise (`cross`). A part knows of no other part.

pub(crate) mod failing;

use api::response::{Failure, FailureCode};
use format::ids::NodeId;
use replication::contract::{DeviceError, GroupAction};
use replication::group::{GroupOptions, LaneGroup};
use stdx::time::Time;

use crate::definition::Definition;
use crate::definition::link::PeerPaths;
use crate::handover::{NewDisk, NewPart};
use crate::hosted_id::HostedId;
use crate::limits::SHARDS_MAX;
use crate::shard::acks::{Acks, Traffic};
use crate::shard::addresses::{listen, own_addresses};
use crate::shard::further::adopt_pair;
use crate::shard::hosted::Hosted;
use crate::shard::operation::{Disk, DiskCounters, Further, token_of};
use crate::shard::part::failing::Failing;
use crate::shard::refusals::not_adopted;
use crate::shard::{Rim, Shard};
use crate::{placement, stepping};

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) id: HostedId,
    pub(crate) name: String,
    pub(crate) group: LaneGroup,
    pub(crate) disk: Option<Disk>,
    /// A disk that is to be attached, until the group takes it.
    pub(super) offer: Option<Disk>,
    /// Why its disk failed, until one is attached again.
    pub(super) failing: Option<Failing>,
    /// The home waits to hear that nothing is under way on the disk that was given up.
    pub(super) is_closing: bool,
    pub(crate) peers: Vec<Peer>,
    pub(crate) lanes: u8,
    pub(crate) is_touched: bool,
    pub(super) definition: Definition,
}

/// A member other than this node, as the links know it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) node: NodeId,
    pub(crate) link: usize,
    pub(crate) acks: Acks,
    pub(crate) traffic: Traffic,
    pub(super) paths: PeerPaths,
}

impl Part {
    pub(crate) fn peer(&self, node: NodeId) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.node == node)
    }

    /// The shard that decides for the resource.
    pub(crate) fn home_shard(&self, shards: u8) -> u8 {
        placement::home_shard(self.definition.id, shards)
    }

    pub(super) fn disk_timeout(&self) -> Option<std::time::Duration> {
        self.definition.disk_timeout
    }

    pub(super) fn own_node(&self) -> NodeId {
        self.definition.me
    }

    /// Gives the disk up, if there is one; what is under way still ends.
    pub(crate) fn close_disk(&mut self, rim: &mut Rim) -> bool {
        let Some(disk) = self.disk.take() else { return false };
        disk.close(rim);
        fail_held(self.id, &disk.held.unwrap_or_default(), rim);
        true
    }
}

/// Answers writes of metadata that waited while it was moved, and will not be made.
pub(super) fn fail_held(id: HostedId, held: &[GroupAction], rim: &mut Rim) {
    for token in held.iter().filter_map(token_of) {
        rim.answer(id, token, Err(DeviceError));
    }
}

impl NewDisk {
    pub(super) fn adopt(self, rim: &mut Rim) -> std::io::Result<Disk> {
        let (data, meta) = adopt_pair(self.data, self.meta, rim)?;
        let disk = Disk {
            data,
            meta,
            layout: self.layout,
            log: self.log,
            mem_align: rim.kit.reactor.disk_info(data).mem_align,
            slots: self.slots,
            further: Vec::with_capacity(self.further.len()),
            read_error_logged: false,
            held: None,
            counters: DiskCounters::default(),
        };
        disk.with_further(self.further.into_iter(), rim, |further, rim| further.adopt(rim))
    }
}

impl Disk {
    /// Adds the disks of further volumes; none is left open if one of them fails.
    pub(super) fn with_further<T>(
        mut self,
        all: impl Iterator<Item = T>,
        rim: &mut Rim,
        open: impl Fn(T, &mut Rim) -> std::io::Result<Further>,
    ) -> std::io::Result<Self> {
        for one in all {
            match open(one, rim) {
                Ok(further) => self.take_further(further, rim),
                Err(error) => {
                    self.close(rim);
                    return Err(error);
                }
            }
        }
        Ok(self)
    }

    pub(super) fn take_further(&mut self, further: Further, rim: &Rim) {
        let align = rim.kit.reactor.disk_info(further.data).mem_align;
        self.mem_align = self.mem_align.max(align);
        self.further.push(further);
    }

    pub(super) fn close(&self, rim: &mut Rim) {
        self.further.iter().for_each(|further| further.close(rim));
        rim.kit.reactor.close_disk(self.data);
        if self.meta != self.data {
            rim.kit.reactor.close_disk(self.meta);
        }
    }
}

impl Shard {
    pub(super) fn part(&self, id: HostedId) -> Option<&Part> {
        self.parts.get(id.0 as usize).and_then(Option::as_deref)
    }

    pub(super) fn hosted(&self, id: HostedId) -> Option<&Hosted> {
        self.hosted.get(id.0 as usize).and_then(Option::as_deref)
    }

    /// Serves the part of a resource whose home is another shard.
    pub(super) fn host_part(&mut self, id: HostedId, new: NewPart) -> Result<(), Failure> {
        let NewPart { definition, group, disk } = new;
        let disk = disk.map(|disk| disk.adopt(&mut self.rim)).transpose().map_err(not_adopted)?;
        stepping::know(id, &definition.name);
        stepping::set(Some(id));
        let installed = self.install_part(id, definition, group, disk);
        stepping::set(None);
        if installed.is_err() {
            stepping::forget(id);
        }
        installed
    }

    /// Takes a part in; nothing is left of it if that fails.
    pub(super) fn install_part(
        &mut self,
        id: HostedId,
        definition: Definition,
        group: GroupOptions,
        disk: Option<Disk>,
    ) -> Result<(), Failure> {
        let rim = &mut self.rim;
        if definition.disk.is_some() {
            rim.links.note_disk();
        }
        let reached = definition.peers().filter(|member| !member.paths.is_empty());
        let peers: Vec<_> = reached.map(|member| (member.node, PeerPaths::of(member))).collect();
        if let Err(failure) = peers.iter().try_for_each(|(_, peer)| rim.links.check_peer(peer)) {
            disk.inspect(|disk| disk.close(rim));
            return Err(failure);
        }
        if rim.links.leads()
            && let Err(failure) = listen(&definition, rim)
        {
            disk.inspect(|disk| disk.close(rim));
            return Err(failure);
        }
        let add = |(node, paths): (NodeId, PeerPaths)| {
            let link = rim.links.add_peer(&paths, rim.kit.now);
            Peer { node, link, acks: Acks::default(), traffic: Traffic::default(), paths }
        };
        let peers = peers.into_iter().map(add).collect();
        let part = Part {
            id,
            name: definition.name.clone(),
            lanes: group.lanes,
            group: LaneGroup::new(group),
            disk,
            offer: None,
            failing: None,
            is_closing: false,
            peers,
            is_touched: false,
            definition,
        };
        let place = id.0 as usize;
        if self.parts.len() <= place {
            self.parts.resize_with(place + 1, || None);
            self.hosted.resize_with(place + 1, || None);
        }
        self.parts[place] = Some(Box::new(part));
        self.wakes.set(place, self.rim.kit.now);
        self.next_tick = self.rim.kit.now;
        self.hung_look_at = self.rim.kit.now;
        Ok(())
    }

    /// Lets a part go. What its clients still wait for is not answered.
    pub(super) fn remove_part(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let Some(part) = self.parts.get_mut(place).and_then(Option::take) else { return };
        let part = *part;
        self.wakes.set(place, Time::NEVER);
        stepping::forget(id);
        self.rim.withdraw(id);
        self.rim.refuse(id, "the resource went down");
        self.rim.end_sessions(id, "the resource went down");
        self.rim.forget_orphans(id);
        let Rim { links, kit, .. } = &mut self.rim;
        links.disconnect_all(id);
        for peer in &part.peers {
            links.forget_peer(peer.link, &peer.paths, kit);
        }
        if links.leads() {
            for address in own_addresses(&part.definition) {
                links.unlisten(address, kit);
            }
        }
        for disk in part.disk.iter().chain(&part.offer) {
            disk.close(&mut self.rim);
        }
        for payload in part.group.let_go(self.rim.kit.now) {
            self.rim.kit.release(payload);
        }
        self.note_left_disk(id, part.name);
    }
}

/// Whether the lanes of a volume can be spread over so many shards.
pub(super) fn check_lanes(name: &str, lanes: u8, shards: u8) -> Result<(), Failure> {
    if shards == 1 || (shards <= lanes && lanes <= placement::LANES) {
        return Ok(());
    }
    let message =
        format!("resource {name:?} has {lanes} lanes, and this daemon runs {shards} shards");
    Err(Failure::new(FailureCode::NotSupported, message, "start the daemon with `--shards 1`"))
}

const _: () = assert!(SHARDS_MAX <= placement::LANES, "every shard has a lane");
