//! Orders of the threads that keep block devices.

use std::sync::mpsc;

use api::response::{Failure, Reply};
use format::space::Place;
use io::QueueId;
use replication::contract::{Command, DeviceSize, PromoteMode, ResourceInput};
use stdx::time::Time;

use crate::clients::ublk::{Facts, News};
use crate::contract::{DeviceOrder, Ticket};
use crate::hosted_id::HostedId;
use crate::shard::hosted::Asker;
use crate::shard::refusals::{busy, unknown_resource};
use crate::shard::{Input, Rim, Shard};
use crate::slab::Key;

impl Shard {
    pub(super) fn on_device_order(&mut self, resource: &str, order: DeviceOrder) {
        let found = self.find(resource);
        match (order, found) {
            (DeviceOrder::AskTenure { news }, id) => {
                let hosted = id.and_then(|id| self.hosted(id));
                let tenure = hosted.and_then(|hosted| hosted.resource.tenure());
                let last = tenure.map(|tenure| tenure.id);
                let has_quorum = hosted.is_some_and(|hosted| hosted.resource.status().has_quorum);
                // Whoever asked may have given up.
                drop(news.send(News::Tenure { last, has_quorum }));
            }
            (DeviceOrder::Promote { ticket, place }, _) => {
                self.with_resource(ticket, resource, |shard, id| {
                    shard.promote_for_device((id, place), ticket)
                });
            }
            (DeviceOrder::GiveUp { place }, Some(id)) => self.give_device_up((id, place)),
            (DeviceOrder::Prepare { place, news }, _) => {
                self.prepare_device((resource, place), news);
            }
            (DeviceOrder::Serve { place, file, depth, size }, Some(id)) => {
                let Rim { ublk, kit, inbox, .. } = &mut self.rim;
                if ublk.serve((id, place), file, (0, depth), kit) {
                    let input = ResourceInput::Device { place, size };
                    inbox.push_back((id, Input::Resource(input)));
                }
            }
            (DeviceOrder::End { place }, Some(id)) => {
                let Rim { ublk, kit, .. } = &mut self.rim;
                ublk.end_one((id, place), "it is to be removed", kit);
            }
            // Also where it goes down: its requests would fail, and wait for the next daemon so.
            (DeviceOrder::Leave { ticket }, Some(id)) => {
                self.rim.ublk.leave(id);
                self.remove_hosted(id);
                self.rim.reply(ticket, Ok(Reply::done()));
            }
            (DeviceOrder::Leave { ticket }, None) => {
                self.rim.reply(ticket, Err(unknown_resource(resource)));
            }
            // The resource is gone, and has told so.
            (
                DeviceOrder::Serve { .. } | DeviceOrder::End { .. } | DeviceOrder::GiveUp { .. },
                None,
            ) => {}
        }
    }

    pub(super) fn on_device_ended(&mut self, key: Key, queue: QueueId) {
        let Rim { ublk, kit, inbox, .. } = &mut self.rim;
        if let Some((id, place)) = ublk.on_ended(key, queue, kit) {
            let input = ResourceInput::Device { place, size: DeviceSize::Follows };
            inbox.push_back((id, Input::Resource(input)));
        }
    }

    fn promote_for_device(
        &mut self,
        (id, place): (HostedId, Place),
        ticket: Ticket,
    ) -> Result<Option<Reply>, Failure> {
        let hosted = self.hosted_mut(id);
        if hosted.is_changing_role() {
            return Err(busy());
        }
        if hosted.is_primary {
            hosted.clients.devices[place.index()] = true;
            hosted.clients.grace_until = Time::NEVER;
            return Ok(Some(Reply::done()));
        }
        let command = Command::Promote(PromoteMode::Normal);
        self.command(id, command, Asker::Device(ticket, place));
        Ok(None)
    }

    /// A promotion that is under way goes on, and nobody waits for it.
    fn give_device_up(&mut self, (id, place): (HostedId, Place)) {
        let hosted = self.hosted_mut(id);
        for pending in &mut hosted.commands {
            if matches!(pending.asker, Asker::Device(_, of) if of == place) {
                pending.asker = Asker::Clients;
            }
        }
        hosted.clients.devices[place.index()] = false;
        self.on_left(id);
    }

    /// The volume must be there and be served by this node.
    fn prepare_device(&mut self, (resource, place): (&str, Place), news: mpsc::Sender<News>) {
        let found = self.find(resource).and_then(|id| self.hosted(id));
        let facts = match found {
            None => Err("the resource is not up"),
            Some(hosted) if hosted.space.blocks_at(place) == 0 => {
                Err("the size of the volume is not known")
            }
            Some(hosted) => match hosted.resource.reign() {
                Some(reign) => {
                    let size_bytes = hosted.space.bytes_at(place);
                    Ok((hosted.id, Facts { size_bytes, reign }))
                }
                None => Err("this node is not Primary"),
            },
        };
        match facts {
            Ok((id, facts)) => self.rim.ublk.prepare((id, place), facts, news),
            // Whoever asked may have given up.
            Err(reason) => drop(news.send(News::Refused(reason.to_owned()))),
        }
    }
}

#[cfg(test)]
mod tests;
