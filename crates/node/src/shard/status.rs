//! What `status` shows: the facts of the machines and of the wiring, in DRBD's words.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::events::promotion;
use api::replication_state::ReplicationState;
use api::response::Failure;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatistics, DeviceStatus, EpochStatus, LeaseStatus, NodeStatus,
    PathStatus, PeerDeviceStatus, QuorumVotes, ResourceStatus, ShardPeerStatus, ShardStatus,
    StatusReply, VoterStatus,
};
use format::ids::BLOCK_BYTES;
use format::metadata::ReplicaState;
use io::PathMode;
use replication::resource::{MemberStatus, Status};
use stdx::time::Time;

use crate::definition::Member;
use crate::histogram::Histogram;
use crate::links::paths::is_established;
use crate::shard::commands::unknown_resource;
use crate::shard::hosted::Hosted;
use crate::shard::pace::{Look, Pace};
use crate::shard::{Rim, Shard};

/// Whether counters are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistics {
    Hidden,
    Shown,
}

impl Shard {
    /// The status of the named resources, or of all.
    pub(super) fn status(
        &mut self,
        names: &[String],
        statistics: Statistics,
    ) -> Result<StatusReply, Failure> {
        if let Some(unknown) = names.iter().find(|name| self.find(name).is_none()) {
            return Err(unknown_resource(unknown));
        }
        let now = self.rim.kit.now;
        self.hosted.iter_mut().flatten().for_each(|hosted| hosted.note_progress(now));
        let is_asked =
            |hosted: &Hosted| names.is_empty() || names.iter().any(|name| name == hosted.name());
        for hosted in self.hosted.iter_mut().flatten().filter(|hosted| is_asked(hosted)) {
            hosted.is_news = false;
            hosted.is_told = false;
        }
        let mut resources: Vec<_> = self
            .hosted
            .iter()
            .flatten()
            .filter(|hosted| is_asked(hosted))
            .map(|hosted| {
                let mut status = hosted.describe(&self.rim, statistics);
                if statistics == Statistics::Shown {
                    status.shards = vec![self.describe_shard()];
                }
                status
            })
            .collect();
        resources.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(StatusReply { node: NodeStatus::default(), resources })
    }

    fn describe_shard(&self) -> ShardStatus {
        let counters = self.rim.kit.reactor.counters();
        ShardStatus {
            shard: 0,
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

impl Hosted {
    /// Takes a look at the resyncs that this node feeds.
    fn note_progress(&mut self, now: Time) {
        let status = self.resource.status();
        for peer in &mut self.peers {
            let facts = status.members.iter().find(|facts| facts.node == peer.node);
            let look = facts.filter(|facts| facts.syncing).map(|facts| Look {
                at: now,
                copied_blocks: facts.copied_blocks,
                left_blocks: facts.out_of_sync_blocks,
            });
            match (look, &mut peer.pace) {
                (None, _) => peer.pace = None,
                (Some(look), Some(pace)) => pace.note(look),
                (Some(look), none) => *none = Some(Pace::new(look)),
            }
        }
    }

    fn describe(&self, rim: &Rim, statistics: Statistics) -> ResourceStatus {
        let status = self.resource.status();
        let suspended = self.is_primary && !status.has_quorum;
        let mut described = ResourceStatus {
            name: self.name().to_owned(),
            node_id: self.definition.me.get(),
            role: if self.is_primary { Role::Primary } else { Role::Secondary },
            suspended,
            suspended_quorum: suspended,
            devices: vec![self.describe_device(&status, rim, statistics)],
            connections: self
                .definition
                .peers()
                .map(|member| self.describe_connection(&status, member, rim, statistics))
                .collect(),
            reasons: self.reasons(&status),
            quorum_votes: Some(self.votes(&status)),
            lease: status.lease_until.map(|until| lease(until, rim.kit.now)),
            epoch: self.epoch(&status),
            not_in_effect: self.definition.warnings.clone(),
            ..ResourceStatus::default()
        };
        (described.may_promote, described.promotion_score) = promotion(&described);
        described
    }

    fn describe_device(&self, status: &Status, rim: &Rim, shown: Statistics) -> DeviceStatus {
        let disk = self.disk.as_ref();
        DeviceStatus {
            volume: self.definition.volume,
            minor: self.definition.device.unwrap_or(0),
            disk_state: self.disk_state(status),
            client: self.definition.disk.is_none(),
            open: rim.nbd.clients_of(self.id) > 0,
            quorum: status.has_quorum,
            statistics: (shown == Statistics::Shown).then(|| self.statistics(rim)),
            write_latency: (shown == Statistics::Shown)
                .then(|| rim.nbd.write_latency(self.id).map(Histogram::shown))
                .flatten(),
            holders: rim.nbd.holders(self.id, &rim.kit),
            backing_dev: self.definition.disk.as_ref().map(|disk| disk.data.display().to_string()),
            disk_io: disk.map(|disk| match rim.kit.reactor.disk_info(disk.data).path_mode {
                PathMode::Direct => "io_uring".to_owned(),
                PathMode::InlineMemory | PathMode::InlineBuffered => "pwritev2".to_owned(),
            }),
            ..DeviceStatus::default()
        }
    }

    fn disk_state(&self, status: &Status) -> DiskState {
        if status.disk_failed {
            // Once nothing is under way on it any more, it is gone.
            return if self.disk.is_none() { DiskState::Diskless } else { DiskState::Failed };
        }
        let me = status.members.iter().find(|member| member.node == self.definition.me);
        match status.replica {
            None => DiskState::Diskless,
            Some(ReplicaState::Failed) => DiskState::Failed,
            Some(ReplicaState::Blank | ReplicaState::Syncing) => DiskState::Inconsistent,
            Some(ReplicaState::Outdated) => DiskState::Outdated,
            Some(ReplicaState::InSync) => match me {
                // Only a majority can say that nothing newer exists.
                Some(me) if me.in_sync && status.has_quorum => DiskState::UpToDate,
                Some(me) if !me.in_sync && status.has_quorum => DiskState::Outdated,
                Some(_) | None => DiskState::Consistent,
            },
        }
    }

    fn statistics(&self, rim: &Rim) -> DeviceStatistics {
        let counters = self.disk.as_ref().map(|disk| disk.counters).unwrap_or_default();
        let pending = rim.nbd.requests_in_flight(self.id);
        DeviceStatistics {
            size: self.size_bytes / 1024,
            read: counters.read_bytes / 1024,
            written: counters.written_bytes / 1024,
            al_writes: counters.al_writes,
            bm_writes: counters.bm_writes,
            upper_pending: u32::try_from(pending).unwrap_or(u32::MAX),
            lower_pending: counters.in_flight,
        }
    }

    fn describe_connection(
        &self,
        status: &Status,
        member: &Member,
        rim: &Rim,
        shown: Statistics,
    ) -> ConnectionStatus {
        let (link_up, failure) = rim.links.peer_state(&member.name);
        let facts = status.members.iter().find(|facts| facts.node == member.node);
        let is_connected = facts.is_some_and(|facts| facts.connected);
        let is_held = rim.links.is_held(self.id, member.node);
        let refusal = rim.links.refusal(self.id, member.node);
        let connection_state = match (is_connected, is_held) {
            (true, _) => ConnectionState::Connected,
            (false, true) => ConnectionState::StandAlone,
            (false, false) => ConnectionState::Connecting,
        };
        let reason = match (is_connected, is_held, link_up) {
            (true, ..) => None,
            (_, true, _) => Some("disconnected by the operator".to_owned()),
            (.., true) => refusal.map(str::to_owned),
            (.., false) => failure.map(str::to_owned),
        };
        let is_primary = status.primary == Some(member.node) && is_connected;
        let used = rim.links.established_path(&member.name);
        let paths = member.paths.iter().map(|&path| PathStatus {
            this_host: path.0.into(),
            remote_host: path.1.into(),
            established: is_established(path, &member.paths, used),
        });
        ConnectionStatus {
            peer_node_id: member.node.get(),
            name: member.name.clone(),
            connection_state,
            peer_role: match (is_connected, is_primary) {
                (false, _) => Role::Unknown,
                (true, true) => Role::Primary,
                (true, false) => Role::Secondary,
            },
            paths: paths.collect(),
            peer_devices: vec![PeerDeviceStatus {
                ack_latency: (shown == Statistics::Shown)
                    .then(|| self.peer(member.node).map(|peer| peer.acks.latency.shown()))
                    .flatten(),
                ..self.describe_peer_device(status, member, facts)
            }],
            reason,
            ..ConnectionStatus::default()
        }
    }

    fn describe_peer_device(
        &self,
        status: &Status,
        member: &Member,
        facts: Option<&MemberStatus>,
    ) -> PeerDeviceStatus {
        let mut device = PeerDeviceStatus {
            volume: self.definition.volume,
            peer_client: !member.is_diskful,
            ..PeerDeviceStatus::default()
        };
        let Some(facts) = facts else { return device };
        device.peer_disk_state = peer_disk_state(facts, status);
        device.replication_state = match facts {
            _ if !facts.connected || self.disk.is_none() || !member.is_diskful => {
                ReplicationState::Off
            }
            MemberStatus { syncing: true, .. } => ReplicationState::SyncSource,
            _ if status.replica == Some(ReplicaState::Syncing)
                && status.leader == Some(member.node) =>
            {
                ReplicationState::SyncTarget
            }
            _ => ReplicationState::Established,
        };
        device.out_of_sync = facts.out_of_sync_blocks * (BLOCK_BYTES / 1024);
        let blocks = (self.size_bytes / BLOCK_BYTES).max(1);
        device.percent_in_sync = percent(blocks.saturating_sub(facts.out_of_sync_blocks), blocks);
        match self.peer(member.node).and_then(|peer| peer.pace.as_ref()) {
            Some(pace) => device.with_sync(pace.details()),
            None => device,
        }
    }

    fn reasons(&self, status: &Status) -> Vec<String> {
        let mut reasons = Vec::new();
        if !status.has_quorum {
            reasons.push(format!(
                "no quorum: {} of {} voters answer, {} are needed",
                status.voters_reachable,
                status.voters,
                status.voters / 2 + 1
            ));
        }
        if self.register_failed {
            reasons.push(
                "the state directory failed: this node votes no more until it is restarted"
                    .to_owned(),
            );
        }
        if status.disk_failed {
            reasons.push(
                "the disk failed or was detached: `attach` takes it, or another one, back"
                    .to_owned(),
            );
        }
        if status.promoting {
            reasons.push("this node is becoming Primary".to_owned());
        }
        if status.config.as_ref().is_none_or(|config| config.branch.0 == 0) && status.has_quorum {
            reasons.push(
                "no replica has been declared the origin yet: use `primary --force` on one node"
                    .to_owned(),
            );
        }
        reasons
    }

    fn votes(&self, status: &Status) -> QuorumVotes {
        let voters = self.definition.members.iter().filter(|member| member.is_diskful);
        QuorumVotes {
            have: status.voters_reachable,
            needed: status.voters / 2 + 1,
            voters: voters
                .map(|member| VoterStatus {
                    node_id: member.node.get(),
                    name: member.name.clone(),
                    present: member.node == self.definition.me
                        || status.members.iter().any(|m| m.node == member.node && m.connected),
                })
                .collect(),
        }
    }

    fn epoch(&self, status: &Status) -> Option<EpochStatus> {
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
            losses: config.losses,
        })
    }
}

fn peer_disk_state(facts: &MemberStatus, status: &Status) -> DiskState {
    match facts {
        MemberStatus { connected: false, .. } => DiskState::DUnknown,
        MemberStatus { has_replica: false, .. } => DiskState::Diskless,
        MemberStatus { in_sync: true, .. } if status.has_quorum => DiskState::UpToDate,
        MemberStatus { in_sync: true, .. } => DiskState::Consistent,
        MemberStatus { .. } => DiskState::Inconsistent,
    }
}

fn lease(until: Time, now: Time) -> LeaseStatus {
    let remaining = until.since(now);
    LeaseStatus {
        held: !remaining.is_zero(),
        remaining_ms: u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}
