//! A disk that is taken (back) into use while its resource is up.
//!
//! The control side has read the disk, recovered its metadata and opened it; the home shard offers
//! it to the machines. It becomes the disk of a part of the resource at the moment at which
//! the part's group takes it, in order with everything else that the group is told, and not
//! before: what the group still asks until then is for the disk that was given up, and fails.
//!
//! A disk is offered only once no shard has anything under way on the former one. Each part says
//! so to the home after it has given that one up.

use api::response::{Failure, FailureCode, Reply};
use format::space::Place;
use replication::attach::slot_bases;
use replication::contract::GroupDisk;
use replication::contract::{CommandId, GroupInput, ResourceInput, RoundId, ToGroup};

use crate::contract::{Cross, FromPart, Ticket, ToPart};
use crate::handover::{NewDisk, Replica};
use crate::hosted_id::HostedId;
use crate::log::{Scope, log};
use crate::shard::hosted::{Asker, CommandKind, Hosted, Offer, PendingCommand, SuperblockPlaces};
use crate::shard::part::check_lanes;
use crate::shard::refusals::not_adopted;
use crate::shard::{Input, Rim, Shard};

impl Shard {
    /// Offers the disk to the resource; the answer comes when it is in use, or refused.
    pub(super) fn on_attach(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        replica: Replica,
    ) -> Result<Option<Reply>, Failure> {
        self.check_attachable(id)?;
        let shards = self.identity.shards;
        let hosted = self.hosted[id.0 as usize].as_ref().expect("found by its name");
        check_lanes(hosted.name(), replica.superblock.lanes, shards)?;
        let opened = replica.disk.clone();
        let shared = self.rim.mesh.others().map(|_| opened.clone()).collect();
        let disk = opened.adopt(&mut self.rim).map_err(not_adopted)?;
        let superblock = Box::new(replica.superblock.clone());
        let slots_max = replica.disk.layout.slots;
        let groups = group_disks(replica, shards);
        let rim = &mut self.rim;
        let hosted = self.hosted[id.0 as usize].as_mut().expect("found by its name");
        hosted.offer = Some(Box::new(Offer { disk, shared, groups }));
        let command = CommandId(hosted.next_command);
        hosted.next_command += 1;
        let asker = Asker::Admin(ticket);
        hosted.commands.push(PendingCommand { id: command, asker, kind: CommandKind::Attach });
        let input = ResourceInput::Attach { id: command, superblock, slots_max };
        rim.inbox.push_back((id, Input::Resource(input)));
        Ok(None)
    }

    pub(super) fn on_check_attach(&mut self, ticket: Ticket, resource: &str) {
        self.with_resource(ticket, resource, |shard, id| {
            shard.check_attachable(id).map(|()| Some(Reply::done()))
        });
    }

    /// Whether a disk is missing that the configuration has, and nothing is under way on it.
    pub(super) fn check_attachable(&self, id: HostedId) -> Result<(), Failure> {
        let hosted = self.hosted[id.0 as usize].as_ref().expect("found by its name");
        let name = hosted.name();
        if hosted.definition.disk.is_none() {
            let message = format!("resource {name:?} has no disk on this node");
            let hint = "give it one in the configuration, and `adjust`";
            return Err(Failure::new(FailureCode::NoLocalDisk, message, hint));
        }
        if hosted.superblock_at.is_some() {
            let message = format!("the disk of {name:?} is attached already");
            let hint = "`detach` it first to exchange it";
            return Err(Failure::new(FailureCode::AlreadyAttached, message, hint));
        }
        let is_attaching = hosted.commands.iter().any(|it| it.kind == CommandKind::Attach);
        if hosted.removal.is_some() || is_attaching {
            let message = format!("resource {name:?} is changing");
            return Err(Failure::new(FailureCode::StateRefused, message, "try again"));
        }
        if hosted.is_using_disk(&self.rim) {
            let message = format!("requests to the former disk of {name:?} have not ended");
            let hint = "they end when it answers: `dmesg | tail` may say why it does not";
            return Err(Failure::new(FailureCode::StateRefused, message, hint));
        }
        Ok(())
    }

    /// The machines want the disk that is offered: each group is told of its part of it.
    pub(super) fn take_disk(&mut self, id: HostedId, round: RoundId) {
        let place = id.0 as usize;
        let Some(hosted) = self.hosted.get_mut(place).and_then(Option::as_deref_mut) else {
            return;
        };
        let offer = hosted.offer.take().expect("only an offer is taken, and once");
        let Offer { disk, shared, mut groups } = *offer;
        hosted.trouble_elsewhere = None;
        let part = self.parts[place].as_mut().expect("a home has a part");
        part.offer = Some(disk);
        part.failing = None;
        let rim = &mut self.rim;
        let own = groups.remove(usize::from(rim.mesh.me()));
        if !rim.mesh.is_alone() {
            hosted.fence.has_told();
        }
        for ((shard, disk), group) in rim.mesh.others().zip(shared).zip(groups) {
            let message = ToPart::Attach { disk: Box::new(disk), group: Box::new(group), round };
            rim.tell(shard, Cross::ToPart(id, message));
        }
        let message = ToGroup::Attach { disk: Box::new(own), round };
        rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
    }

    /// The same on a shard that is not the home. A disk that cannot be used here fails at its
    /// first use.
    pub(super) fn on_part_attach(
        &mut self,
        id: HostedId,
        disk: NewDisk,
        group: Box<GroupDisk>,
        round: RoundId,
    ) {
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        let rim = &mut self.rim;
        part.failing = None;
        match disk.adopt(rim) {
            Ok(disk) => part.offer = Some(disk),
            Err(error) => part.note_unusable(Place::FIRST, &error, rim),
        }
        let message = ToGroup::Attach { disk: group, round };
        rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
    }

    /// The group takes it now: from here on its requests go there.
    pub(super) fn use_offered_disk(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let Some(part) = self.parts.get_mut(place).and_then(Option::as_mut) else { return };
        part.disk = part.offer.take();
        let hosted = self.hosted.get_mut(place).and_then(Option::as_mut);
        if let (Some(hosted), Some(disk)) = (hosted, &part.disk) {
            hosted.superblock_at = Some(SuperblockPlaces::of(disk));
            hosted.is_metadata_held = false;
            log!(Notice, Scope::resource(hosted.name()), "the disk was attached");
        }
    }

    /// Tells the home once nothing is under way any more on the disk that a part gave up.
    pub(super) fn finish_closing(&mut self, id: HostedId) {
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        if part.is_closing && !self.rim.is_using_disk(id) {
            part.is_closing = false;
            let home = self.home_of(id);
            self.rim.tell(home, Cross::FromPart(id, FromPart::DiskClosed));
        }
    }
}

impl Rim {
    /// Whether a request to the disk of a resource is under way on this shard.
    pub(super) fn is_using_disk(&self, id: HostedId) -> bool {
        let is_own = |it: HostedId| it == id;
        self.operations.iter().any(|(_, it)| is_own(it.hosted()) && !it.is_of_register())
            || self.starved.iter().chain(&self.starved_reads).any(|&(it, _)| is_own(it))
    }
}

impl Hosted {
    /// Closes an offered disk that was not taken.
    pub(super) fn withdraw_offer(&mut self, rim: &mut Rim) {
        if let Some(offer) = self.offer.take() {
            offer.disk.close(rim);
        }
    }

    fn is_using_disk(&self, rim: &Rim) -> bool {
        rim.is_using_disk(self.id)
            || self.closing.contains(&true)
            || self.saves.iter().any(|save| save.superblock.is_some())
    }
}

/// What the group of each shard needs of a replica: the bitmaps of its lanes, and the end of its
/// ring of the activity log.
pub(super) fn group_disks(replica: Replica, shards: u8) -> Vec<GroupDisk> {
    let Replica { superblock, pages, al_next_numbers, .. } = replica;
    let disk = |al_next_number| GroupDisk {
        space: superblock.space(),
        al_next_number,
        slots: Vec::new(),
        slot_bases: slot_bases(&superblock),
    };
    let mut disks: Vec<_> =
        al_next_numbers.into_iter().take(usize::from(shards)).map(disk).collect();
    for page in pages {
        disks[usize::from(page.lane.0 % shards)].slots.push(page);
    }
    disks
}
