//! Taking a resource in, and letting it go.

use api::response::{Failure, FailureCode, Reply};
use format::config::Config;
use format::ids::MemberSet;
use frontend::nbd::handshake::{Access, Export};
use io::DiskOptions;
use replication::group::{GroupOptions, LaneGroup};
use replication::limits::LANES_DEFAULT;
use replication::resource::{MemberOptions, Resource, ResourceOptions};
use std::collections::VecDeque;
use stdx::time::Time;

use crate::attach::{Attached, Replica};
use crate::crash;
use crate::definition::{Definition, DiskPlace};
use crate::limits::AL_SLOTS_MAX;
use crate::links::HostedId;
use crate::links::paths::PeerPaths;
use crate::links::session::NewSession;
use crate::log::{Scope, log};
use crate::nbd::Offer;
use crate::shard::clients::Clients;
use crate::shard::commands::address_failure;
use crate::shard::disk::{Disk, DiskCounters, slot_bases};
use crate::shard::hosted::{Acks, Hosted, Peer};
use crate::shard::{Rim, Shard};

impl Shard {
    /// Starts to serve a resource; nothing is left of it if that fails.
    pub(super) fn host(&mut self, attached: Attached) -> Result<Vec<String>, Failure> {
        let name = attached.definition.name.clone();
        if self.stopping.is_some() {
            return Err(Failure::new(FailureCode::StateRefused, "the daemon is ending", ""));
        }
        if self.find(&name).is_some() {
            let message = format!("resource {name:?} is up already");
            let hint = "use `adjust` to make it follow a changed configuration";
            return Err(Failure::new(FailureCode::StateRefused, message, hint));
        }
        let warnings = attached.definition.warnings.clone();
        let rim = &mut self.rim;
        let failed =
            |error: std::io::Error| Failure::new(FailureCode::DiskFailed, error.to_string(), "");
        let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
        let register_disk =
            rim.kit.reactor.open_disk(&attached.register_path, exclusive).map_err(failed)?;
        let opened = match (&attached.definition.disk, &attached.replica) {
            (Some(place), Some(replica)) => open_disk(place, replica, rim).map(Some),
            (_, None) | (None, _) => Ok(None),
        };
        let disk = match opened {
            Ok(disk) => disk,
            Err(error) => {
                rim.kit.reactor.close_disk(register_disk);
                return Err(failed(error));
            }
        };
        if let Err(failure) = listen(&attached.definition, rim) {
            rim.kit.reactor.close_disk(register_disk);
            disk.inspect(|disk| disk.close(rim));
            return Err(failure);
        }
        let id = HostedId(u32::try_from(self.hosted.len()).expect("bounded by memory"));
        crash::know(id, &name);
        crash::stepping(Some(id));
        let hosted = self.build(id, attached, register_disk, disk);
        self.hosted.push(Some(Box::new(hosted)));
        self.wakes.push(self.rim.kit.now);
        self.next_tick = self.rim.kit.now;
        self.connect_peers(id);
        self.offer(id);
        crash::stepping(None);
        log!(Notice, Scope::resource(&name), "up");
        Ok(warnings)
    }

    fn build(
        &mut self,
        id: HostedId,
        attached: Attached,
        register_disk: io::DiskId,
        disk: Option<Disk>,
    ) -> Hosted {
        let Attached { definition, register, replica, .. } = attached;
        let superblock = replica.as_ref().map(|replica| replica.superblock.clone());
        let size_bytes = superblock.as_ref().map_or(0, |superblock| superblock.size_bytes);
        let group = LaneGroup::new(self.group_options(&definition, replica));
        let members = definition.members.iter();
        let resource = Resource::new(ResourceOptions {
            resource: definition.id,
            name: definition.name.clone(),
            me: definition.me,
            boot_id: self.identity.boot_id,
            kernel_boot_id: self.kernel_boot_id,
            shards: self.identity.shards,
            seed: io::random_u64(),
            members: members
                .map(|member| MemberOptions { node: member.node, diskful: member.is_diskful })
                .collect(),
            register,
            superblock,
            started_at: self.started_at,
            on_no_quorum: definition.on_no_quorum,
            resync_rate: definition.resync_rate,
        });
        Hosted {
            id,
            definition,
            resource,
            group,
            disk,
            offer: None,
            register_disk,
            saves: VecDeque::new(),
            peers: Vec::new(),
            is_primary: false,
            size_bytes,
            clients: Clients::default(),
            commands: Vec::new(),
            next_command: 1,
            is_touched: false,
            is_news: true,
            is_told: false,
            register_failed: false,
            removal: None,
        }
    }

    fn group_options(&self, definition: &Definition, replica: Option<Replica>) -> GroupOptions {
        let al_slots = usize::try_from(definition.al_extents).unwrap_or(AL_SLOTS_MAX);
        let diskful = definition.members.iter().filter(|member| member.is_diskful);
        let tracked: MemberSet = diskful.map(|member| member.node).collect();
        let mut options = GroupOptions {
            me: definition.me,
            boot_id: self.identity.boot_id,
            shard: 0,
            shards: self.identity.shards,
            volume: definition.volume,
            lanes: LANES_DEFAULT,
            size_bytes: 0,
            has_disk: false,
            al_slots: al_slots.min(AL_SLOTS_MAX),
            al_next_number: 1,
            tracked,
            slots: Vec::new(),
            slot_bases: Vec::new(),
        };
        if let Some(replica) = replica {
            options.lanes = replica.superblock.lanes;
            options.size_bytes = replica.superblock.size_bytes;
            options.has_disk = true;
            options.al_next_number = replica.al_next_number;
            options.slots = replica.pages;
            options.slot_bases = slot_bases(&replica.superblock);
        }
        options
    }

    fn connect_peers(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted[id.0 as usize].as_mut() else { return };
        let definition = &hosted.definition;
        for member in definition.peers() {
            if member.paths.is_empty() {
                continue;
            }
            let link = self.rim.links.add_session(
                NewSession {
                    hosted: id,
                    resource: definition.id,
                    resource_name: definition.name.clone(),
                    me: definition.me,
                    peer: member.node,
                    paths: PeerPaths {
                        peer_name: member.name.clone(),
                        paths: member.paths.clone(),
                    },
                },
                self.rim.kit.now,
            );
            hosted.peers.push(Peer {
                node: member.node,
                name: member.name.clone(),
                link,
                pace: None,
                acks: Acks::default(),
            });
        }
    }

    /// Shows the resource to clients, as it is now.
    fn offer(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted(id) else { return };
        let mut export = Export::new(hosted.name(), hosted.size_bytes, Access::ReadWrite);
        export.id = u64::from(id.0);
        self.rim.nbd.offer(Offer { hosted: id, export });
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
        let (epoch, in_sync) = (config.epoch.0, in_sync.join(", "));
        log!(Notice, Scope::resource(hosted.name()), "epoch {epoch}: in sync are {in_sync}");
        if hosted.size_bytes != volume.size_bytes {
            hosted.size_bytes = volume.size_bytes;
            self.offer(id);
        }
    }

    /// Lets a resource go, clean or not.
    pub(super) fn remove_hosted(&mut self, id: HostedId) {
        let Some(mut hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::take) else {
            return;
        };
        self.wakes[id.0 as usize] = Time::NEVER;
        crash::forget(id);
        let rim = &mut self.rim;
        let Rim { links, nbd, ublk, kit, .. } = rim;
        ublk.end(id, "the resource went down", kit);
        nbd.withdraw(id);
        nbd.refuse(id, "the resource went down", kit);
        nbd.end_sessions(id, "the resource went down", kit);
        links.remove_sessions(id, kit);
        for address in own_addresses(&hosted.definition) {
            links.unlisten(address, kit);
        }
        kit.reactor.close_disk(hosted.register_disk);
        if let Some(disk) = &hosted.disk {
            disk.close(rim);
        }
        hosted.withdraw_offer(rim);
        log!(Notice, Scope::resource(hosted.name()), "down");
        if self.is_watched {
            rim.tell_changed(hosted.name());
        }
        if let Some(ticket) = hosted.removal.and_then(|removal| removal.ticket) {
            rim.reply(ticket, Ok(Reply::done()));
        }
        self.finish_stopping();
    }
}

impl Hosted {
    /// Gives the disk up; what is under way still ends.
    pub(super) fn close_disk(&mut self, rim: &mut Rim) {
        if let Some(disk) = self.disk.take() {
            disk.close(rim);
            log!(Warning, Scope::resource(self.name()), "the disk was given up");
        }
    }
}

impl Disk {
    pub(super) fn close(&self, rim: &mut Rim) {
        rim.kit.reactor.close_disk(self.data);
        if self.meta != self.data {
            rim.kit.reactor.close_disk(self.meta);
        }
    }
}

pub(super) fn open_disk(
    place: &DiskPlace,
    replica: &Replica,
    rim: &mut Rim,
) -> std::io::Result<Disk> {
    let exclusive = DiskOptions { exclusive: true, ..DiskOptions::default() };
    let DiskPlace { data, meta } = place;
    let data = rim.kit.reactor.open_disk(data, exclusive)?;
    let meta = match meta {
        None => data,
        Some(path) => match rim.kit.reactor.open_disk(path, exclusive) {
            Ok(meta) => meta,
            Err(error) => {
                rim.kit.reactor.close_disk(data);
                return Err(error);
            }
        },
    };
    Ok(Disk {
        data,
        meta,
        layout: replica.layout,
        incarnation: replica.superblock.incarnation,
        mem_align: rim.kit.reactor.disk_info(data).mem_align,
        slots: replica.superblock.slots.iter().map(|slot| slot.member).collect(),
        error_logged: false,
        counters: DiskCounters::default(),
    })
}

/// The addresses at which this node is to be reached for the resource, each once.
fn own_addresses(definition: &Definition) -> Vec<std::net::SocketAddr> {
    let mut addresses: Vec<_> =
        definition.peers().flat_map(|member| &member.paths).map(|(local, _)| *local).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn listen(definition: &Definition, rim: &mut Rim) -> Result<(), Failure> {
    let addresses = own_addresses(definition);
    for (index, address) in addresses.iter().enumerate() {
        if let Err(error) = rim.links.listen(*address, &mut rim.kit) {
            for address in &addresses[..index] {
                rim.links.unlisten(*address, &mut rim.kit);
            }
            return Err(address_failure(&error));
        }
    }
    Ok(())
}
