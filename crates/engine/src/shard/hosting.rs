//! Taking a resource in, and letting it go.

use std::collections::VecDeque;

use api::response::{Failure, FailureCode, Reply};
use format::config::Config;
use format::ids::{MemberSet, NodeId};
use format::layout::SLOTS_DEFAULT;
use format::metadata::Superblock;
use format::space::{Place, Space};
use io::DiskId;
use replication::contract::{DiskEnd, ResourceInput};
use replication::group::GroupOptions;
use replication::limits::LANES_DEFAULT;
use replication::resource::{Resource, ResourceOptions};

use crate::clients::nbd::{Offer, export_of};
use crate::contract::{Cross, Fact, Force, FromShard, Hosting, Ticket, ToPart};
use crate::definition::{Definition, OwnVolume};
use crate::handover::{Apart, Attached, NewPart, Replica};
use crate::hosted_id::HostedId;
use crate::limits::{AL_SLOTS_MAX, SHARDS_MAX};
use crate::links::session::Held;
use crate::log::{Scope, log};
use crate::shard::adjusting::{connect, member_options};
use crate::shard::attaching::group_disks;
use crate::shard::fence::Fence;
use crate::shard::hosted::{Asker, Clients, Hosted, SuperblockPlaces, Way};
use crate::shard::last_verify::LastVerify;
use crate::shard::part::check_lanes;
use crate::shard::refusals::{NotTaken, busy, not_adopted};
use crate::shard::{Input, Rim, Shard};
use crate::stepping;

/// A resource whose parts on other shards come up, or go.
#[derive(Debug)]
pub(super) struct Passing {
    id: HostedId,
    /// Shards that have not answered.
    waiting: usize,
    ticket: Option<Ticket>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Coming {
        hosted: Box<Hosted>,
        apart: Apart,
        failure: Option<Failure>,
        /// Who wants it down again as soon as it is up.
        removal: Option<(Ticket, Force)>,
    },
    /// What the ticket is to hear in the end.
    Going { answer: Result<Reply, Failure> },
}

impl Shard {
    /// Starts to serve a resource; nothing is left of it if that fails. The ticket is answered
    /// once all shards have their parts.
    pub(super) fn host(&mut self, ticket: Ticket, attached: Attached) -> Result<(), Failure> {
        let definition = attached.definition.clone();
        let apart = attached.apart;
        let name = &definition.name;
        if self.stopping.is_some() {
            return Err(NotTaken::DaemonEnds.into());
        }
        if self.find(name).is_some() || self.passing.iter().any(|it| it.is_of(name)) {
            let message = format!("resource {name:?} is up already");
            let hint = "use `adjust` to make it follow a changed configuration";
            return Err(Failure::new(FailureCode::StateRefused, message, hint));
        }
        let lanes = attached.replica.as_ref().map_or(LANES_DEFAULT, |it| it.superblock.lanes);
        check_lanes(name, lanes, self.identity.shards)?;
        let rim = &mut self.rim;
        let register_disk =
            rim.kit.reactor.adopt_disk(attached.register_disk.clone()).map_err(not_adopted)?;
        let shared = attached.replica.as_ref().map(|replica| replica.disk.clone());
        let disk = match shared.clone().map(|disk| disk.adopt(rim)).transpose() {
            Ok(disk) => disk,
            Err(error) => {
                rim.kit.reactor.close_disk(register_disk);
                return Err(not_adopted(error));
            }
        };
        let id = self.next_id();
        stepping::know(id, name);
        stepping::set(Some(id));
        let superblock_at = disk.as_ref().map(SuperblockPlaces::of);
        let (mut groups, hosted) = self.build(id, attached, register_disk, superblock_at);
        let here = usize::from(self.rim.mesh.me());
        let own = groups.remove(here);
        let installed = self.install_part(id, definition.clone(), own, disk);
        stepping::set(None);
        if let Err(failure) = installed {
            stepping::forget(id);
            self.rim.kit.reactor.close_disk(register_disk);
            return Err(failure);
        }
        let others = self.rim.mesh.others();
        let waiting = others.clone().count();
        for (shard, group) in others.zip(groups) {
            let new = NewPart { definition: definition.clone(), group, disk: shared.clone() };
            self.rim.tell(shard, Cross::Hosting(id, Hosting::Host(Box::new(new))));
        }
        let stage = Stage::Coming { hosted: Box::new(hosted), apart, failure: None, removal: None };
        self.passing.push(Passing { id, waiting, ticket: Some(ticket), stage });
        self.finish_passing();
        Ok(())
    }

    /// Has a resource go; one whose parts come up yet goes as soon as they are there.
    pub(super) fn remove(&mut self, ticket: Ticket, name: &str, force: Force) {
        let coming = self.passing.iter_mut().find(|it| it.is_of(name));
        match coming.map(|it| &mut it.stage) {
            Some(Stage::Coming { removal: removal @ None, .. }) => {
                *removal = Some((ticket, force));
            }
            Some(Stage::Coming { removal: Some(_), .. }) => self.rim.reply(ticket, Err(busy())),
            Some(Stage::Going { .. }) | None => {
                let on_remove = |shard: &mut Self, id| shard.on_remove(id, Some(ticket), force);
                self.with_resource(ticket, name, on_remove);
            }
        }
    }

    /// The number of another resource that is at home here; its remainder names this shard.
    fn next_id(&mut self) -> HostedId {
        let mesh = &self.rim.mesh;
        let id = self.hosted_count * u32::from(mesh.shards()) + u32::from(mesh.me());
        self.hosted_count += 1;
        HostedId(id)
    }

    pub(super) fn on_part_hosted(&mut self, id: HostedId, result: Result<(), Failure>) {
        let Some(passing) = self.passing.iter_mut().find(|it| it.id == id) else { return };
        passing.waiting -= 1;
        if let (Stage::Coming { failure, .. }, Err(error)) = (&mut passing.stage, result) {
            *failure = Some(error);
        }
        self.finish_passing();
    }

    pub(super) fn on_part_removed(&mut self, id: HostedId) {
        let Some(passing) = self.passing.iter_mut().find(|it| it.id == id) else { return };
        passing.waiting -= 1;
        self.finish_passing();
    }

    /// Goes on with resources whose parts have all answered.
    fn finish_passing(&mut self) {
        while let Some(place) = self.passing.iter().position(|it| it.waiting == 0) {
            let Passing { id, ticket, stage, .. } = self.passing.swap_remove(place);
            match stage {
                Stage::Coming { hosted, apart, failure: None, removal } => {
                    let name = hosted.name().to_owned();
                    self.start(*hosted, apart, ticket);
                    if let Some((ticket, force)) = removal {
                        self.remove(ticket, &name, force);
                    }
                }
                Stage::Coming { hosted, failure: Some(failure), removal, .. } => {
                    self.rim.kit.reactor.close_disk(hosted.register_disk);
                    let Some((removal, _)) = removal else {
                        self.let_go(id, ticket, Err(failure));
                        continue;
                    };
                    if let Some(ticket) = ticket {
                        self.rim.reply(ticket, Err(failure));
                    }
                    self.let_go(id, Some(removal), Ok(Reply::done()));
                }
                Stage::Going { answer } => {
                    if let Some(ticket) = ticket {
                        self.rim.reply(ticket, answer);
                    }
                }
            }
        }
        self.finish_stopping();
    }

    /// All shards have their parts of the resource.
    fn start(&mut self, hosted: Hosted, apart: Apart, ticket: Option<Ticket>) {
        let id = hosted.id;
        let mut warnings = hosted.definition.warnings.clone();
        warnings.extend(hosted.definition.clear_text_warnings());
        log!(Notice, Scope::resource(hosted.name()), "up");
        self.hosted[id.0 as usize] = Some(Box::new(hosted));
        self.rim.inbox.push_back((id, Input::Resource(ResourceInput::Tick)));
        self.next_tick = self.rim.kit.now;
        self.tell_of_reads(id);
        self.connect_peers(id);
        // Nothing was said to anybody in between.
        self.keep_apart(id, apart);
        self.offer(id);
        self.look_at_path(id);
        if let Some(ticket) = ticket {
            self.rim.reply(ticket, Ok(Reply::Done { warnings }));
        }
        if self.stopping.is_some() {
            // The daemon was told to end meanwhile.
            drop(self.on_remove(id, None, Force::Yes));
        }
    }

    /// Ends the parts on all shards, then answers.
    fn let_go(&mut self, id: HostedId, ticket: Option<Ticket>, answer: Result<Reply, Failure>) {
        self.remove_part(id);
        let others = self.rim.mesh.others();
        let waiting = others.clone().count();
        for shard in others {
            self.rim.tell(shard, Cross::Hosting(id, Hosting::Remove));
        }
        self.passing.push(Passing { id, waiting, ticket, stage: Stage::Going { answer } });
    }

    /// The groups of all shards, and the home.
    fn build(
        &self,
        id: HostedId,
        attached: Attached,
        register_disk: DiskId,
        superblock_at: Option<SuperblockPlaces>,
    ) -> (Vec<GroupOptions>, Hosted) {
        let Attached { definition, register, replica, .. } = attached;
        let superblock = replica.as_ref().map(|replica| replica.superblock.clone());
        let space = superblock.as_ref().map_or(Space::EMPTY, Superblock::space);
        let groups = self.group_options(&definition, replica);
        let log_slots = log_slots(&definition, self.identity.shards);
        let log_slots = u16::try_from(log_slots).expect("AL_SLOTS_MAX at most");
        let resource = Resource::new(ResourceOptions {
            resource: definition.id,
            name: definition.name.clone(),
            me: definition.me,
            boot_id: self.identity.boot_id,
            kernel_boot_id: self.kernel_boot_id,
            shards: self.identity.shards,
            log_slots,
            seed: io::random_u64(),
            members: member_options(&definition),
            register,
            superblock,
            slots_max: superblock_at.as_ref().map_or(SLOTS_DEFAULT, |it| it.first.1.slots),
            started_at: self.started_at,
            demands: definition.demands,
            resync_rate: definition.resync_rate,
            comparing: definition.comparing,
            readmission: definition.readmission(),
        });
        let hosted = Hosted {
            id,
            definition,
            resource,
            superblock_at,
            is_metadata_held: false,
            offer: None,
            closing: [false; SHARDS_MAX as usize],
            trouble_elsewhere: None,
            pace_here: None,
            register_disk,
            saves: VecDeque::new(),
            peers: Vec::new(),
            is_primary: false,
            fails_requests: false,
            split_end: None,
            awaited_reopen: false,
            space,
            clients: Clients::default(),
            way: Way::default(),
            redefinition: None,
            commands: Vec::new(),
            next_command: 1,
            is_news: true,
            is_told: false,
            register_failed: false,
            removal: None,
            last_verify: LastVerify::default(),
            fence: Fence::default(),
            clients_elsewhere: [0; SHARDS_MAX as usize],
        };
        (groups, hosted)
    }

    /// The group of each shard: its lanes, its part of the bitmaps, its ring of the activity log.
    fn group_options(
        &self,
        definition: &Definition,
        replica: Option<Replica>,
    ) -> Vec<GroupOptions> {
        let shards = self.identity.shards;
        let diskful = definition.members.iter().filter(|member| member.is_diskful);
        let tracked: MemberSet = diskful.map(|member| member.node).collect();
        let options = |shard| GroupOptions {
            me: definition.me,
            boot_id: self.identity.boot_id,
            shard,
            shards,
            volume: definition.volume,
            lanes: LANES_DEFAULT,
            space: Space::EMPTY,
            has_disk: false,
            al_slots: log_slots(definition, shards),
            al_next_number: 1,
            tracked,
            read_policy: definition.read_policy,
            slow_limit: definition.slow_limit,
            slots: Vec::new(),
            slot_bases: Vec::new(),
        };
        let mut groups: Vec<_> = (0..shards).map(options).collect();
        let Some(replica) = replica else { return groups };
        let lanes = replica.superblock.lanes;
        for (group, disk) in groups.iter_mut().zip(group_disks(replica, shards)) {
            group.lanes = lanes;
            group.space = disk.space;
            group.has_disk = true;
            group.al_next_number = disk.al_next_number;
            group.slots = disk.slots;
            group.slot_bases = disk.slot_bases;
        }
        groups
    }

    fn connect_peers(&mut self, id: HostedId) {
        let place = id.0 as usize;
        let (Some(hosted), Some(part)) = (&mut self.hosted[place], &self.parts[place]) else {
            return;
        };
        for peer in &part.peers {
            connect(hosted, peer, &mut self.rim);
        }
    }

    fn keep_apart(&mut self, id: HostedId, apart: Apart) {
        let Some(hosted) = self.hosted[id.0 as usize].as_deref() else { return };
        let Rim { links, kit, .. } = &mut self.rim;
        for peer in hosted.peers.iter().filter(|peer| apart.has(peer.node)) {
            links.hold(id, peer.node, Held::Yes, kit);
        }
        self.note_news(id);
    }

    /// Shows the resource to clients, as it is now.
    pub(super) fn offer(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted.get(id.0 as usize).and_then(Option::as_ref) else { return };
        let promote_wait = hosted.definition.promote_wait;
        let offers: Vec<Offer> = hosted
            .definition
            .volumes()
            .map(|OwnVolume { place, number, .. }| {
                let name = if place == Place::FIRST {
                    hosted.name().to_owned()
                } else {
                    format!("{}/{number}", hosted.name())
                };
                let size_bytes = hosted.space.bytes_at(place);
                let block_bytes = hosted.definition.block_bytes(place);
                let export = export_of(&name, (id, place), size_bytes, block_bytes);
                Offer { hosted: id, place, volume: number, export, promote_wait }
            })
            .collect();
        for offer in offers {
            self.broadcast(id, || ToPart::Offer(Box::new(offer.clone())));
            self.rim.nbd.offer(offer);
        }
    }

    pub(super) fn on_config_changed(&mut self, id: HostedId, config: &Config) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut) else {
            return;
        };
        let Some(volume) = config.volumes.first() else { return };
        let in_sync: Vec<_> = volume
            .insync
            .iter()
            .filter_map(|member| hosted.definition.members.iter().find(|m| m.node == member.node))
            .map(|member| member.name.as_str())
            .collect();
        if std::mem::replace(&mut hosted.awaited_reopen, config.awaits_reopen)
            && !config.awaits_reopen
        {
            hosted.split_end = None;
        }
        let (epoch, in_sync) = (config.epoch.0, in_sync.join(", "));
        log!(Notice, Scope::resource(hosted.name()), "epoch {epoch}: in sync are {in_sync}");
        if hosted.space != config.space() {
            let before = std::mem::replace(&mut hosted.space, config.space());
            let name = hosted.name().to_owned();
            self.tell_growth((id, &name), &before, &config.space());
            self.offer(id);
            self.note_news(id);
        }
    }

    /// Devices and virtual machines that use a volume hear of its new size, and the control side of
    /// a new volume beside those that were there.
    fn tell_growth(&mut self, (id, name): (HostedId, &str), before: &Space, after: &Space) {
        self.rim.ublk.grow(id, after);
        let is_new = |place| before.bytes_at(place) == 0;
        if before.blocks() > 0 && after.places().any(is_new) {
            let in_use = FromShard::InUse { resource: name.to_owned() };
            if self.rim.outbox.push(in_use).is_err() {
                let scope = Scope::resource(name);
                log!(
                    Warning,
                    scope,
                    "a block device of a new volume comes with the next `primary`"
                );
            }
        }
        for place in before.places() {
            let (resource, size_bytes) = (name.to_owned(), after.bytes_at(place));
            let grown = FromShard::Grown { resource, place, size_bytes };
            if size_bytes > before.bytes_at(place) && self.rim.outbox.push(grown).is_err() {
                let scope = Scope::resource(name);
                log!(Warning, scope, "a virtual machine sees its new size when it starts anew");
            }
        }
    }

    /// Lets a resource go, clean or not.
    pub(super) fn remove_hosted(&mut self, id: HostedId) {
        let Some(mut hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::take) else {
            return;
        };
        self.wanted.set(id, None);
        let rim = &mut self.rim;
        rim.ublk.end(id, "the resource went down", &mut rim.kit);
        rim.links.remove_sessions(id);
        rim.kit.reactor.close_disk(hosted.register_disk);
        hosted.withdraw_offer(rim);
        hosted.fail_commands(rim);
        log!(Notice, Scope::resource(hosted.name()), "down");
        if self.is_watched {
            rim.tell_changed(hosted.name());
        }
        let ticket = hosted.removal.and_then(|removal| removal.ticket);
        self.let_go(id, ticket, Ok(Reply::done()));
        self.finish_passing();
    }

    /// Gives the disk up on all shards.
    pub(super) fn close_disk(&mut self, id: HostedId, why: DiskEnd) {
        self.broadcast(id, || ToPart::CloseDisk);
        let place = id.0 as usize;
        if let Some(hosted) = self.hosted.get_mut(place).and_then(Option::as_mut) {
            hosted.leave_disk(&mut self.rim);
            if hosted.definition.tells_of_disk_errors && why == DiskEnd::Failed {
                self.rim.tell_fact(&hosted.definition.name, Fact::DiskFailed);
            }
            for shard in self.rim.mesh.others() {
                hosted.closing[usize::from(shard)] = true;
            }
        }
        if let Some(part) = self.parts.get_mut(place).and_then(Option::as_mut)
            && part.close_disk(&mut self.rim)
        {
            log!(Warning, Scope::resource(&part.name), "the disk was given up");
        }
        if why == DiskEnd::Failed {
            self.tell_disk_failed(id, None);
        }
    }

    /// Tells a peer why the disk here is out of use, or all peers.
    pub(super) fn tell_disk_failed(&mut self, id: HostedId, only: Option<NodeId>) {
        let place = id.0 as usize;
        let part = self.parts.get(place).and_then(Option::as_deref);
        let hosted = self.hosted.get(place).and_then(Option::as_deref);
        let (Some(part), Some(hosted)) = (part, hosted) else { return };
        let seen_here = part.failing.as_ref().map(|failing| &failing.trouble);
        let Some(trouble) = seen_here.or(hosted.trouble_elsewhere.as_deref()) else { return };
        let Rim { links, kit, .. } = &mut self.rim;
        for peer in hosted.peers.iter().filter(|it| only.is_none_or(|only| only == it.node)) {
            links.tell_disk_failed((id, peer.node), |handle| trouble.told(handle, kit.now));
        }
    }
}

impl Hosted {
    /// The resource goes: its machine answers nobody any more.
    fn fail_commands(&mut self, rim: &mut Rim) {
        for pending in std::mem::take(&mut self.commands) {
            if let Asker::Admin(ticket) | Asker::Device(ticket, _) = pending.asker {
                let message = format!("resource {:?} went down before that was done", self.name());
                let hint = "see `basalt adm status`";
                let failure = Failure::new(FailureCode::UnknownResource, message, hint);
                rim.reply(ticket, Err(failure));
            }
        }
    }
}

impl Passing {
    fn is_of(&self, name: &str) -> bool {
        matches!(&self.stage, Stage::Coming { hosted, .. } if hosted.name() == name)
    }
}

/// Extents in the activity log of each shard: together they keep as many hot as one alone would,
/// and one for each shard that a leader could have.
fn log_slots(definition: &Definition, shards: u8) -> usize {
    let wanted = usize::try_from(definition.al_extents).unwrap_or(AL_SLOTS_MAX);
    let least = usize::from(SHARDS_MAX);
    wanted.min(AL_SLOTS_MAX).div_ceil(usize::from(shards)).max(least)
}

#[cfg(test)]
mod tests {
    use io::Parker;
    use io::mailbox::{Mailbox, Receiver};
    use replication::contract::CommandDone;

    use super::*;
    use crate::contract::ToShard;
    use crate::shard::fixture::{host_diskless, shard};
    use crate::shard::mesh::Mesh;

    const HOSTED: HostedId = HostedId(0);

    fn remove(ticket: Ticket) -> ToShard {
        ToShard::Remove { ticket, resource: "r0".to_owned(), force: Force::No }
    }

    /// What was heard, by ticket.
    fn heard(
        shard: &mut Shard,
        answers: &mut Receiver<FromShard>,
    ) -> Vec<(Ticket, Result<Reply, FailureCode>)> {
        shard.rim.outbox.publish();
        let heard = std::iter::from_fn(|| answers.pop()).filter_map(|message| {
            let FromShard::Answer { ticket, answer } = message else { return None };
            Some((ticket, answer.map_err(|failure| failure.code)))
        });
        heard.collect()
    }

    /// It was told that there is no such resource, which counted as done, and that came up then.
    #[test]
    fn resource_that_is_to_go_while_its_parts_come_up_goes_when_they_are_there() {
        for result in [Ok(()), Err(Failure::new(FailureCode::DiskFailed, "it fails", ""))] {
            let (parker, directory) = (Parker::new().unwrap(), tempfile::tempdir().unwrap());
            let (mut shard, mut answers) = shard(&parker);
            let (sender, _mailbox) = Mailbox::channel(64, parker.waker());
            shard.rim.mesh = Mesh::new(0, vec![None, Some(sender)]);
            host_diskless(&mut shard, &directory);
            shard.on_message(remove(1));
            shard.on_message(remove(2));
            let refused = (2, Err(FailureCode::StateRefused));
            assert_eq!(heard(&mut shard, &mut answers), [refused]);
            let hosted = result.as_ref().map(|()| Reply::done()).map_err(|it| it.code);
            shard.on_part_hosted(HOSTED, result);
            assert_eq!(heard(&mut shard, &mut answers), [(0, hosted.clone())]);
            if hosted.is_ok() {
                let stop = shard.hosted_mut(HOSTED).commands.last().unwrap().id;
                shard.on_answer(HOSTED, stop, Ok(CommandDone::AsAsked));
            }
            shard.on_part_removed(HOSTED);
            assert_eq!(heard(&mut shard, &mut answers), [(1, Ok(Reply::done()))]);
            assert!(shard.find("r0").is_none() && shard.passing.is_empty());
        }
    }
}
