//! What `status` shows: the facts of the machines and of the wiring, in DRBD's words.

mod census;
mod reason;
mod reasons;
mod split_brain;
mod verify;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::events::promotion;
use api::latency::LatencyHistogram;
use api::replication_state::ReplicationState;
use api::response::Failure;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, EpochStatus, GoesOn, LeaseStatus,
    LostAgainStatus, NodeStatus, PathStatus, PeerDeviceStatus, QuorumVotes, ReadsServed,
    RequestsWithoutQuorum, ResourceStatus, ShardPeerStatus, ShardStatus, StatusReply, SyncDetails,
    VoterStatus, VotesBefore, WithoutQuorum,
};
use api::write_ordering::WriteOrdering;
use format::ids::{BLOCK_BYTES, NodeId};
use format::metadata::ReplicaState;
use format::space::Place;
use io::{BackendKind, PathMode};
use replication::contract::{OnNoQuorum, Repair, Share, WithoutQuorum as Demanded};
use replication::quorum::Tally;
use replication::resource::{MemberStatus, Status, VerifyState, VerifyStatus};
use stdx::time::Time;

use crate::definition::{Member, OwnVolume, resource_id};
use crate::histogram::Histogram;
use crate::hosted_id::HostedId;
use crate::links::away::Unopened;
use crate::links::session::SessionFacts;
use crate::links::watch::PathFacts;
use crate::placement;
use crate::shard::addresses::own_addresses;
use crate::shard::hosted::Hosted;
use crate::shard::pace::{self, Pace};
use crate::shard::part::Part;
use crate::shard::refusals::unknown_resource;
use crate::shard::status::census::Census;
use crate::shard::status::reason::Reason;
pub(super) use crate::shard::status::split_brain::{after_split_brain, split_brain};
use crate::shard::{Rim, Shard};

/// Whether counters are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistics {
    Hidden,
    Shown,
}

impl Shard {
    /// What this shard knows of the named resources, or of all: everything of those that are at
    /// home here, the counters of the others.
    pub(super) fn status(
        &mut self,
        names: &[String],
        statistics: Statistics,
    ) -> Result<StatusReply, Failure> {
        let is_home = |name: &String| {
            let mesh = &self.rim.mesh;
            placement::home_shard(resource_id(name), mesh.shards()) == mesh.me()
        };
        let unknown = |name: &&String| is_home(name) && self.find(name).is_none();
        if let Some(unknown) = names.iter().find(unknown) {
            return Err(unknown_resource(unknown));
        }
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        Ok(self.status_of(|name| names.is_empty() || names.contains(name), statistics))
    }

    /// The same of those of the named resources that are here; the others are left out.
    pub(super) fn status_of_known(
        &mut self,
        names: &[String],
        statistics: Statistics,
    ) -> StatusReply {
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        self.status_of(|name| names.contains(name), statistics)
    }

    /// The names of the resources that are at home here, and nothing else of them.
    pub(super) fn names(&self) -> StatusReply {
        let named = |hosted: &Hosted| ResourceStatus {
            name: hosted.name().to_owned(),
            ..ResourceStatus::default()
        };
        let resources = self.hosted.iter().flatten().map(|hosted| named(hosted)).collect();
        StatusReply { node: NodeStatus::default(), resources }
    }

    fn status_of(
        &mut self,
        is_asked: impl Fn(&str) -> bool,
        statistics: Statistics,
    ) -> StatusReply {
        let now = self.rim.kit.now;
        for hosted in self.hosted.iter_mut().flatten().filter(|it| is_asked(it.name())) {
            hosted.note_progress(now);
            hosted.is_news = false;
            hosted.is_told = false;
        }
        let me = self.rim.mesh.me();
        // Not at home here, or wholly up.
        let is_told = |id| self.home_of(id) != me || self.hosted(id).is_some();
        let parts = self.parts.iter().flatten();
        let parts = parts.filter(|part| is_asked(&part.name) && is_told(part.id));
        let ids: BTreeSet<HostedId> = parts.clone().map(|part| part.id).collect();
        let census = Census::take(&self.rim, |id| ids.contains(&id));
        let look = Look { rim: &self.rim, shown: statistics, census: &census };
        let resources = parts.map(|part| self.describe(part, look)).collect();
        StatusReply { node: NodeStatus::default(), resources }
    }

    fn describe(&self, part: &Part, look: Look<'_>) -> ResourceStatus {
        let hosted = self.hosted.get(part.id.0 as usize).and_then(Option::as_ref);
        let mut status = match hosted {
            Some(hosted) => hosted.describe(part, look),
            None => part.describe(look),
        };
        status.reasons.extend(part.deaf_addresses(&self.rim));
        if look.shown == Statistics::Shown {
            status.shards = vec![self.describe_shard()];
        }
        status
    }

    fn describe_shard(&self) -> ShardStatus {
        let counters = self.rim.kit.reactor.counters();
        ShardStatus {
            shard: self.rim.mesh.me(),
            turns: counters.turns,
            enters: counters.enters,
            peers: self
                .rim
                .links
                .sends()
                .map(|(name, sendmsg)| ShardPeerStatus { name: name.to_owned(), sendmsg })
                .collect(),
        }
    }
}

/// Adds what another shard counted to what the home of a resource said.
pub fn merge(into: &mut ResourceStatus, other: ResourceStatus) {
    for (device, more) in into.devices.iter_mut().zip(other.devices) {
        if let (Some(sum), Some(more)) = (&mut device.statistics, more.statistics) {
            sum.read += more.read;
            sum.written += more.written;
            sum.al_writes += more.al_writes;
            sum.bm_writes += more.bm_writes;
            sum.upper_pending += more.upper_pending;
            sum.lower_pending += more.lower_pending;
        }
        add(&mut device.write_latency, more.write_latency.as_ref());
        add_reads(&mut device.reads, more.reads.as_ref());
        device.holders.extend(more.holders);
        // What failed first is why.
        device.disk_failure = device
            .disk_failure
            .take()
            .into_iter()
            .chain(more.disk_failure)
            .max_by_key(|it| it.age_ms);
    }
    for more in other.connections {
        let Some(connection) = into.connections.iter_mut().find(|it| it.name == more.name) else {
            continue;
        };
        connection.ap_in_flight += more.ap_in_flight;
        connection.rs_in_flight += more.rs_in_flight;
        for (device, more) in connection.peer_devices.iter_mut().zip(more.peer_devices) {
            device.received += more.received;
            device.sent += more.sent;
            device.pending += more.pending;
            device.unacked += more.unacked;
            add(&mut device.ack_latency, more.ack_latency.as_ref());
            add_reads(&mut device.reads, more.reads.as_ref());
        }
    }
    into.reasons.extend(other.reasons);
    into.shards.extend(other.shards);
    into.shards.sort_by_key(|shard| shard.shard);
}

fn add(into: &mut Option<LatencyHistogram>, more: Option<&LatencyHistogram>) {
    if let (Some(sum), Some(more)) = (into, more) {
        sum.add(more);
    }
}

fn add_reads(into: &mut Option<ReadsServed>, more: Option<&ReadsServed>) {
    if let (Some(sum), Some(more)) = (into, more) {
        sum.add(more);
    }
}

impl Part {
    /// What only this shard knows of a resource that is at home on another one.
    fn describe(&self, look: Look<'_>) -> ResourceStatus {
        let connections = self.definition.peers().map(|member| {
            let mut connection =
                ConnectionStatus { name: member.name.clone(), ..ConnectionStatus::default() };
            let devices = || self.definition.volumes().map(|_| PeerDeviceStatus::default());
            connection.peer_devices = devices().collect();
            self.count(member.node, look.shown, &mut connection);
            connection
        });
        ResourceStatus {
            name: self.name.clone(),
            devices: self
                .definition
                .volumes()
                .map(|volume| self.describe_device((volume.place, 0), look))
                .collect(),
            connections: connections.collect(),
            ..ResourceStatus::default()
        }
    }

    /// At the shard that listens for peers: where it cannot, and why.
    fn deaf_addresses(&self, rim: &Rim) -> Vec<String> {
        let addresses = own_addresses(&self.definition).into_iter();
        addresses.filter_map(|it| rim.links.deaf_at(it)).collect()
    }

    fn describe_device(&self, (place, size_bytes): (Place, u64), look: Look<'_>) -> DeviceStatus {
        let Look { rim, shown, census } = look;
        let holders = census.holders(self.id, place);
        let disk_failure = self.describe_failure(place, rim.kit.now);
        if shown == Statistics::Hidden {
            return DeviceStatus { holders, disk_failure, ..DeviceStatus::default() };
        }
        DeviceStatus {
            statistics: Some(self.statistics((place, size_bytes), census)),
            reads: self.reads(self.definition.me, place, shown),
            write_latency: of_first(place, rim.nbd.write_latency(self.id).map(Histogram::shown)),
            holders,
            disk_failure,
            ..DeviceStatus::default()
        }
    }

    /// What went over a connection, and is under way on it, as far as this shard knows.
    fn count(&self, member: NodeId, shown: Statistics, connection: &mut ConnectionStatus) {
        if shown == Statistics::Hidden {
            return;
        }
        let volumes = self.definition.volumes();
        for (volume, device) in volumes.zip(&mut connection.peer_devices) {
            let place = volume.place;
            let under_way = self.group.under_way(member, place);
            connection.ap_in_flight += under_way.application_bytes / 512;
            connection.rs_in_flight += under_way.copied_bytes / 512;
            device.ack_latency = self.ack_latency(member, place, shown);
            device.reads = self.reads(member, place, shown);
            let reads = device.reads.as_ref().map_or(0, |reads| reads.in_flight);
            device.pending = under_way.pending + reads;
            device.unacked = under_way.unacked;
            if let Some(peer) = self.peer(member) {
                device.received = peer.traffic.received_kib(place);
                device.sent = peer.traffic.sent_kib(place);
            }
        }
    }

    /// What a member did for reads of clients of this node.
    fn reads(&self, member: NodeId, place: Place, shown: Statistics) -> Option<ReadsServed> {
        let load = self.group.read_load(member);
        let reads = (shown == Statistics::Shown).then_some(ReadsServed {
            served: load.served,
            in_flight: load.in_flight,
            latency_us: load.latency_ns / 1000,
        });
        of_first(place, reads)
    }

    fn ack_latency(
        &self,
        member: NodeId,
        place: Place,
        shown: Statistics,
    ) -> Option<LatencyHistogram> {
        let peer = self.peer(member).filter(|_| shown == Statistics::Shown);
        of_first(place, peer.map(|peer| peer.acks.latency.shown()))
    }

    fn statistics(&self, (place, size_bytes): (Place, u64), census: &Census) -> DeviceStatistics {
        let pending = census.requests_in_flight(self.id, place);
        if place != Place::FIRST {
            let further = self.disk.as_ref().and_then(|disk| disk.further_at(place));
            return DeviceStatistics {
                size: size_bytes / 1024,
                read: further.map_or(0, |it| it.read_bytes) / 1024,
                written: further.map_or(0, |it| it.written_bytes) / 1024,
                upper_pending: u32::try_from(pending).unwrap_or(u32::MAX),
                ..DeviceStatistics::default()
            };
        }
        let counters = self.disk.as_ref().map(|disk| disk.counters).unwrap_or_default();
        DeviceStatistics {
            size: size_bytes / 1024,
            read: counters.read_bytes / 1024,
            written: counters.written_bytes / 1024,
            al_writes: counters.al_writes,
            bm_writes: counters.bm_writes,
            upper_pending: u32::try_from(pending).unwrap_or(u32::MAX),
            lower_pending: counters.in_flight,
        }
    }
}

/// A line for each path, in the order of the configuration.
fn describe_paths(member: &Member, rim: &Rim) -> Vec<PathStatus> {
    let paths = member.paths.iter().map(|&path| {
        let facts = rim.links.path_facts(&member.name, path, &member.paths);
        let PathFacts { established, in_use, down_since, reason } = facts;
        let down = down_since.map(|since| rim.kit.now.since(since));
        PathStatus {
            this_host: path.0.into(),
            remote_host: path.1.into(),
            established,
            in_use,
            down_ms: down.map(millis),
            reason: reason.map(|why| why.to_string()),
        }
    });
    paths.collect()
}

/// What the volumes of a resource have in common is counted once, with the first.
fn of_first<T>(place: Place, counted: Option<T>) -> Option<T> {
    counted.filter(|_| place == Place::FIRST)
}

/// Takes another look in; a copy that is over is measured no more.
fn note(pace: &mut Option<Pace>, look: Option<pace::Look>) {
    match (look, pace) {
        (None, pace) => *pace = None,
        (Some(look), Some(pace)) => pace.note(look),
        (Some(look), none) => *none = Some(Pace::new(look)),
    }
}

/// What a description needs besides the resource.
#[derive(Clone, Copy)]
struct Look<'a> {
    rim: &'a Rim,
    shown: Statistics,
    census: &'a Census,
}

impl Hosted {
    /// Takes a look at the resyncs that this node feeds, and at that of its own replica.
    fn note_progress(&mut self, now: Time) {
        let status = self.resource.status();
        for peer in &mut self.peers {
            let facts = status.members.iter().find(|facts| facts.node == peer.node);
            let look = facts.filter(|facts| facts.syncing).map(|facts| pace::Look {
                at: now,
                copied_blocks: facts.copied_blocks,
                left_blocks: facts.out_of_sync.blocks(),
            });
            note(&mut peer.pace, look);
        }
        let here = status.copying_here.map(|copy| pace::Look {
            at: now,
            copied_blocks: copy.copied_blocks,
            left_blocks: copy.left.blocks(),
        });
        note(&mut self.pace_here, here);
    }

    fn describe(&self, part: &Part, look: Look<'_>) -> ResourceStatus {
        let rim = look.rim;
        let status = self.resource.status();
        let (without_quorum, fails_requests) =
            (self.without_quorum(&status), self.is_primary && self.fails_requests);
        // Who fails requests keeps none; who decides first whether it goes on keeps them so long.
        let keeps = without_quorum.requests == RequestsWithoutQuorum::Wait
            || without_quorum.goes_on != GoesOn::No;
        let lacks_quorum = self.is_primary && !status.has_quorum;
        let suspended_quorum = lacks_quorum && keeps && !fails_requests;
        let suspended_no_data = self.is_primary && status.waits_for_data;
        let suspended_user = status.suspended_by_user;
        let mut described = ResourceStatus {
            name: self.name().to_owned(),
            node_id: self.definition.me.get(),
            role: if self.is_primary { Role::Primary } else { Role::Secondary },
            suspended: suspended_user || suspended_no_data || suspended_quorum,
            suspended_user,
            suspended_no_data,
            suspended_quorum,
            // Flushes order writes, and are never left out.
            write_ordering: WriteOrdering::Flush,
            devices: self
                .definition
                .volumes()
                .map(|volume| self.describe_device(&status, volume, part, look))
                .collect(),
            connections: self
                .definition
                .peers()
                .map(|member| self.describe_connection(&status, member, part, look))
                .collect(),
            reasons: self.reasons(&status, part).iter().map(Reason::to_string).collect(),
            verify: status.verify.as_ref().map(|verify| self.describe_verify(verify, rim.kit.now)),
            quorum_votes: Some(self.votes(&status)),
            without_quorum: Some(without_quorum),
            fails_requests,
            lease: status.lease_until.map(|until| lease(until, rim.kit.now)),
            epoch: self.epoch(&status, rim.kit.now),
            not_in_effect: self.definition.warnings.clone(),
            ..ResourceStatus::default()
        };
        (described.may_promote, described.promotion_score) = promotion(&described);
        described
    }

    fn describe_device(
        &self,
        status: &Status,
        volume: OwnVolume<'_>,
        part: &Part,
        look: Look<'_>,
    ) -> DeviceStatus {
        let rim = look.rim;
        let data = part.disk.as_ref().and_then(|disk| disk.data_at(volume.place));
        DeviceStatus {
            volume: volume.number,
            minor: volume.device.unwrap_or(0),
            disk_state: self.disk_state(status),
            client: self.definition.disk.is_none(),
            open: look.census.is_open(part.id) || self.clients_elsewhere.iter().any(|it| *it > 0),
            quorum: status.has_quorum,
            backing_dev: volume.disk.map(|disk| disk.data.display().to_string()),
            disk_io: data.map(|data| {
                let reactor = &rim.kit.reactor;
                let way = match (reactor.disk_info(data).path_mode, reactor.backend()) {
                    (PathMode::Direct, BackendKind::IoUring) => "io_uring",
                    (PathMode::Direct, BackendKind::Poll) => "threads",
                    (PathMode::InlineMemory | PathMode::InlineBuffered, _) => "pwrite",
                    (PathMode::Persistent | PathMode::Mapped, _) => "stores",
                };
                way.to_owned()
            }),
            ..part.describe_device((volume.place, self.space.bytes_at(volume.place)), look)
        }
    }

    fn disk_state(&self, status: &Status) -> DiskState {
        if status.disk_failed {
            // Once nothing is under way on it any more, it is gone.
            return if self.superblock_at.is_none() {
                DiskState::Diskless
            } else {
                DiskState::Failed
            };
        }
        let me = status.members.iter().find(|member| member.node == self.definition.me);
        match status.replica {
            None => DiskState::Diskless,
            Some(ReplicaState::Failed) => DiskState::Failed,
            Some(ReplicaState::Blank | ReplicaState::Syncing) => DiskState::Inconsistent,
            Some(ReplicaState::Outdated) => DiskState::Outdated,
            Some(ReplicaState::InSync) => match me {
                // Only a majority can say that nothing newer exists.
                Some(me) if me.in_sync && status.has_majority => DiskState::UpToDate,
                Some(me) if !me.in_sync && status.has_majority => DiskState::Outdated,
                Some(_) | None => DiskState::Consistent,
            },
        }
    }

    fn describe_connection(
        &self,
        status: &Status,
        member: &Member,
        part: &Part,
        look: Look<'_>,
    ) -> ConnectionStatus {
        let rim = look.rim;
        let (link_up, failure) = rim.links.peer_state(&member.name);
        let facts = status.members.iter().find(|facts| facts.node == member.node);
        let is_connected = facts.is_some_and(|facts| facts.connected);
        let SessionFacts { is_held, refusal } = look.census.session(self.id, member.node);
        let split = facts.and_then(|facts| facts.split);
        let connection_state = match (is_connected, is_held || split.is_some()) {
            (true, _) => ConnectionState::Connected,
            (false, true) => ConnectionState::StandAlone,
            (false, false) => ConnectionState::Connecting,
        };
        let split_text = split.map(|fork| split_brain(self.name(), &member.name, fork));
        let reason = match (is_connected, is_held, link_up) {
            _ if split_text.is_some() => split_text,
            (true, ..) => None,
            (_, true, _) if self.peer(member.node).is_some_and(|peer| peer.is_congested) => {
                Some(Unopened::Congested.to_string())
            }
            (_, true, _) => Some(Unopened::ByOperator.to_string()),
            (.., true) => refusal.map(|why| why.told(&member.name, self.name())),
            (.., false) => failure.map(|why| why.told(&member.name, self.name())),
        };
        let is_primary = status.primary == Some(member.node) && is_connected;
        let mut connection = ConnectionStatus {
            peer_node_id: member.node.get(),
            name: member.name.clone(),
            connection_state,
            split_brain: split.is_some(),
            peer_role: match (is_connected, is_primary) {
                (false, _) => Role::Unknown,
                (true, true) => Role::Primary,
                (true, false) => Role::Secondary,
            },
            tls: rim.links.is_secured(&member.name),
            protocol: self.protocol(status, member.node).map(str::to_owned),
            congested: status.primary_here && facts.is_some_and(|facts| facts.is_behind),
            lost_again: facts.and_then(|facts| facts.lost_again).map(|known| LostAgainStatus {
                losses: known.losses,
                rest_ms: millis(known.until.since(rim.kit.now)),
            }),
            down_ms: rim
                .links
                .peer_down_since(&member.name)
                .map(|since| millis(rim.kit.now.since(since))),
            paths: describe_paths(member, rim),
            peer_devices: self
                .definition
                .volumes()
                .map(|volume| {
                    self.describe_peer_device((status, look.rim.kit.now), volume, member, facts)
                })
                .collect(),
            reason,
            ..ConnectionStatus::default()
        };
        part.count(member.node, look.shown, &mut connection);
        connection
    }

    /// What a connection alone does not end, of these peers.
    pub(super) fn split_brains(&self, peers: &[NodeId]) -> Vec<String> {
        let status = self.resource.status();
        let split = |member: &Member| {
            let facts = status.members.iter().find(|facts| facts.node == member.node)?;
            Some(split_brain(self.name(), &member.name, facts.split?))
        };
        let members = self.definition.peers();
        members.filter(|member| peers.contains(&member.node)).filter_map(split).collect()
    }

    /// Whether writes that go over the connection count once they are sent, or received: of the
    /// Primary here, or of the peer that is one.
    fn protocol(&self, status: &Status, peer: NodeId) -> Option<&'static str> {
        let receiver = match (status.primary_here, status.primary == Some(peer)) {
            (true, _) => peer,
            (false, true) => self.definition.me,
            (false, false) => return None,
        };
        let receiver = status.members.iter().find(|member| member.node == receiver)?;
        match (receiver.follows, receiver.by_receipt) {
            (true, _) => Some("A"),
            (false, true) => Some("B"),
            (false, false) => None,
        }
    }

    fn describe_peer_device(
        &self,
        (status, now): (&Status, Time),
        OwnVolume { place, number, .. }: OwnVolume<'_>,
        member: &Member,
        facts: Option<&MemberStatus>,
    ) -> PeerDeviceStatus {
        let mut device = PeerDeviceStatus {
            volume: number,
            peer_client: !member.is_diskful,
            ..PeerDeviceStatus::default()
        };
        let Some(facts) = facts else { return device };
        device.peer_disk_state = peer_disk_state(facts, status);
        let failed = self.peer(member.node).and_then(|peer| peer.disk_failed(place));
        device.disk_failure = failed.filter(|_| !facts.has_replica).map(|it| it.describe(now));
        let own = status.members.iter().find(|known| known.node == self.definition.me);
        let is_leader = status.leader == Some(member.node);
        let is_copied_to = status.replica == Some(ReplicaState::Syncing);
        // A leader reads what its own replica misses from any that has it: one stands for all.
        let has_it =
            |it: &&MemberStatus| it.connected && it.diskful && it.in_sync && !it.is_made_anew;
        let source = status.members.iter().find(has_it).map(|source| source.node);
        let gives_to_leader =
            status.leader == Some(self.definition.me) && source == Some(member.node);
        device.replication_state = match facts {
            _ if !facts.connected => ReplicationState::Off,
            // As DRBD has it: without a disk on either side nothing is ever to be copied.
            _ if self.superblock_at.is_none() || !member.is_diskful => {
                ReplicationState::Established
            }
            MemberStatus { syncing: true, .. } => ReplicationState::SyncSource,
            MemberStatus { is_behind: true, .. } if status.primary_here => ReplicationState::Ahead,
            MemberStatus { in_sync: true, .. } if is_verifying(status) => ReplicationState::VerifyS,
            _ if own.is_some_and(|own| own.is_behind) && is_leader && !is_copied_to => {
                ReplicationState::Behind
            }
            _ if is_copied_to && (is_leader || gives_to_leader) => ReplicationState::SyncTarget,
            _ => ReplicationState::Established,
        };
        let waits_for_turn = status.asks_to_resync && self.definition.takes_turns;
        if waits_for_turn && facts.connected && is_leader {
            device.replication_state = ReplicationState::PausedSyncT;
            device.resync_suspended = "dependency".to_owned();
        }
        let is_target = device.replication_state == ReplicationState::SyncTarget;
        let copy = status.copying_here.filter(|_| is_target);
        let left = copy.map_or(facts.out_of_sync, |copy| copy.left).blocks_at(place);
        device.out_of_sync = left * (BLOCK_BYTES / 1024);
        let blocks = self.space.blocks_at(place).max(1);
        device.percent_in_sync = percent(blocks.saturating_sub(left), blocks);
        let verify = status.verify.as_ref();
        let differing = verify.map_or(0, |verify| differing_at(verify, member.node));
        let differing = if place == Place::FIRST { differing } else { 0 };
        device.out_of_sync += differing * (BLOCK_BYTES / 1024);
        if let Some(verify) =
            verify.filter(|_| device.replication_state == ReplicationState::VerifyS)
        {
            let in_volume = |until: u64| {
                let first = place.first_block();
                let end = first + self.space.blocks_at(place);
                until.min(end).saturating_sub(verify.from_block.max(first))
            };
            let done = in_volume(verify.position);
            let all = in_volume(verify.until_block).max(1);
            let percent_resync_done = percent(done, all);
            device.has_online_verify_details = true;
            return device.with_sync(SyncDetails {
                rs_total: all * (BLOCK_BYTES / 512),
                percent_resync_done,
                ..SyncDetails::default()
            });
        }
        let pace_there = self.peer(member.node).and_then(|peer| peer.pace.as_ref());
        match copy.and(self.pace_here.as_ref()).or(pace_there) {
            Some(pace) => device.with_sync(pace.details()),
            None => device,
        }
    }

    pub(super) fn name_of(&self, node: NodeId) -> String {
        let member = self.definition.members.iter().find(|member| member.node == node);
        let leaving = || self.peer(node).map(|peer| peer.name.clone());
        let name = member.map(|member| member.name.clone()).or_else(leaving);
        name.unwrap_or_else(|| format!("node-{node}"))
    }

    /// What the options make of requests, and of this node, while it is Primary without a quorum.
    fn without_quorum(&self, status: &Status) -> WithoutQuorum {
        let demands = &self.definition.demands;
        // One replica is never as many as are asked for.
        let is_too_few = self.is_primary && matches!(demands.redundancy, Share::AtLeast(2..));
        let voters = status.voters.iter().filter(|voter| !voter.is_retiring).count();
        let goes_on = match demands.without_quorum {
            _ if is_too_few => GoesOn::No,
            Demanded::Wait => GoesOn::No,
            Demanded::GoOn => GoesOn::Alone,
            Demanded::GoOnFenced => GoesOn::Fenced,
            Demanded::Prove(_) if voters <= 2 => GoesOn::Proved,
            // A majority of them decides.
            Demanded::Prove(_) => GoesOn::No,
        };
        let requests = match demands.on_no_quorum {
            OnNoQuorum::SuspendIo => RequestsWithoutQuorum::Wait,
            OnNoQuorum::IoError => RequestsWithoutQuorum::Fail,
        };
        WithoutQuorum { requests, goes_on }
    }

    fn votes(&self, status: &Status) -> QuorumVotes {
        let Tally { new, old } = status.votes;
        let small = |count: usize| u32::try_from(count).expect("few voters");
        let voters = status.voters.iter().map(|voter| VoterStatus {
            node_id: voter.node.get(),
            name: self.name_of(voter.node),
            present: voter.is_reachable,
            witness: voter.is_witness,
            retiring: voter.is_retiring,
            joining: voter.is_joining,
        });
        QuorumVotes {
            have: small(new.have),
            needed: small(new.needed),
            voters: voters.collect(),
            before_change: old
                .map(|it| VotesBefore { have: small(it.have), needed: small(it.needed) }),
        }
    }

    fn epoch(&self, status: &Status, now: Time) -> Option<EpochStatus> {
        let config = status.config.as_ref()?;
        let in_sync = self
            .definition
            .members
            .iter()
            .filter(|member| status.members.iter().any(|m| m.node == member.node && m.in_sync));
        Some(EpochStatus {
            branch: format!("{:016x}", config.branch.0),
            epoch: config.epoch.0,
            insync: in_sync.map(|member| member.name.clone()).collect(),
            primary: status.primary.map(|node| self.name_of(node)),
            losses: config.losses,
            awaits_reopen: config.awaits_reopen,
            age_ms: status
                .out_of_touch_since
                .map(|since| u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX)),
        })
    }
}

fn peer_disk_state(facts: &MemberStatus, status: &Status) -> DiskState {
    match facts {
        MemberStatus { connected: false, .. } => DiskState::DUnknown,
        MemberStatus { has_replica: false, .. } => DiskState::Diskless,
        MemberStatus { is_made_anew: true, .. } => DiskState::Inconsistent,
        MemberStatus { in_sync: true, .. } if status.has_majority => DiskState::UpToDate,
        MemberStatus { in_sync: true, .. } => DiskState::Consistent,
        MemberStatus { .. } => DiskState::Inconsistent,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn lease(until: Time, now: Time) -> LeaseStatus {
    let remaining = until.since(now);
    LeaseStatus { held: !remaining.is_zero(), remaining_ms: millis(remaining) }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

fn is_verifying(status: &Status) -> bool {
    status.verify.as_ref().is_some_and(|verify| verify.state == VerifyState::Running)
}

/// Blocks of a member that a verify found to differ, and left.
fn differing_at(verify: &VerifyStatus, member: NodeId) -> u64 {
    let left = verify.differing.iter().filter(|_| verify.repair == Repair::No);
    left.filter(|(node, _)| *node == member).map(|(_, count)| count).sum()
}
