//! A disk for one more volume, taken into a replica that is in use.
//!
//! The control side has read and opened it. Every shard has it before the machines hear of it: when
//! they ask for something on it, it is there. What is saved until then says nothing of it.

use api::response::{Failure, FailureCode, Reply};
use format::ids::Incarnation;
use format::metadata::{Content, FurtherDisk};
use format::space::Place;
use replication::contract::{CommandId, FromGroup, ResourceInput};

use crate::contract::{Cross, FromPart, Ticket, ToPart};
use crate::handover::{NewFurther, NewVolume};
use crate::hosted_id::HostedId;
use crate::log::{Scope, log};
use crate::shard::hosted::{Asker, CommandKind, PendingCommand, StampPlace};
use crate::shard::refusals::not_adopted;
use crate::shard::{Input, Shard};

impl Shard {
    /// Whether the replica could take a disk for this volume.
    pub(super) fn on_check_volume(&mut self, ticket: Ticket, resource: &str, place: Place) {
        self.with_resource(ticket, resource, |shard, id| {
            let (incarnation, size_bytes) = (Incarnation(0), 0);
            let content = Content::Zeroes;
            let disk = FurtherDisk { place, incarnation, size_bytes, content };
            // Who asks goes on then; anything else is a failure.
            let code = FailureCode::NoLocalDisk;
            let answer = shard.check_addable(id, &disk).map(|()| Some(Reply::done()));
            answer.map_err(|failure| Failure { code, ..failure })
        });
    }

    fn check_addable(&self, id: HostedId, disk: &FurtherDisk) -> Result<(), Failure> {
        let hosted = self.hosted(id).expect("found by its name");
        let Some(reason) = hosted.resource.obstacle_to_disk(disk) else { return Ok(()) };
        let number = disk.place.number();
        let message = format!("volume {number} of {:?} gets no disk: {reason}", hosted.name());
        let hint = format!("`basalt adm create-md {}/{number}`, then `adjust`", hosted.name());
        Err(Failure::new(FailureCode::StateRefused, message, hint))
    }

    /// Answers when the replica has the disk, durably.
    pub(super) fn on_add_volume(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        new: NewVolume,
    ) -> Result<Option<Reply>, Failure> {
        let NewVolume { disk, opened } = new;
        self.check_addable(id, &disk)?;
        let layout = opened.layout;
        let further = opened.clone().adopt(&mut self.rim).map_err(not_adopted)?;
        let rim = &mut self.rim;
        let hosted = self.hosted[id.0 as usize].as_mut().expect("found by its name");
        let part = self.parts[id.0 as usize].as_mut().expect("a home has a part");
        let (Some(stamps), Some(own)) = (&mut hosted.superblock_at, &mut part.disk) else {
            further.close(rim);
            let message = "the disks of the replica are being given up";
            return Err(Failure::new(FailureCode::StateRefused, message, "try again"));
        };
        let place = disk.place;
        stamps.further.push(StampPlace { place, disk: further.meta, layout });
        own.take_further(further, rim);
        if !rim.mesh.is_alone() {
            hosted.fence.has_told();
        }
        for shard in rim.mesh.others() {
            rim.tell(shard, Cross::ToPart(id, ToPart::AddVolume(Box::new(opened.clone()))));
        }
        let command = CommandId(hosted.next_command);
        hosted.next_command += 1;
        let (asker, kind) = (Asker::Admin(ticket), CommandKind::Other);
        hosted.commands.push(PendingCommand { id: command, asker, kind });
        log!(Notice, Scope::resource(hosted.name()), "volume {} has a disk", place.number());
        let input = ResourceInput::AddDisk { id: command, disk };
        rim.inbox.push_back((id, Input::Resource(input)));
        Ok(None)
    }

    /// The same on a shard that is not the home. Without it the replica cannot be served here.
    pub(super) fn on_part_add_volume(&mut self, id: HostedId, new: NewFurther) {
        let Some(part) = self.parts.get_mut(id.0 as usize).and_then(Option::as_mut) else { return };
        let Some(disk) = &mut part.disk else { return };
        let place = new.place;
        match new.adopt(&mut self.rim) {
            Ok(further) => disk.take_further(further, &self.rim),
            Err(error) => {
                part.note_unusable(place, &error, &mut self.rim);
                let fact = Box::new(FromGroup::MemberFailed { member: part.own_node() });
                let home = self.home_of(id);
                self.rim.tell(home, Cross::FromPart(id, FromPart::Fact(fact)));
            }
        }
    }
}
