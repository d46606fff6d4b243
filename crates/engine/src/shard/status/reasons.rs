//! Which of the sentences of a resource are true now: what is missing, who waits for whom.

use api::status::VerifyReport;
use format::metadata::ReplicaState;
use format::space::Place;
use replication::contract::{Demands, OnNoQuorum, WithoutQuorum};
use replication::resource::{Shortage, Status};

use crate::definition::Member;
use crate::log::{Scope, log};
use crate::shard::hosted::{Hosted, SplitEnd};
use crate::shard::part::Part;
use crate::shard::status::reason::{LessWith, Loss, NoVote, Reason};

impl Hosted {
    pub(super) fn reasons(&self, status: &Status, part: &Part) -> Vec<Reason> {
        let resource = self.name().to_owned();
        let mut reasons = Vec::new();
        reasons.extend(self.shortage_of_options(status).or_else(|| self.lacking_of_quorum(status)));
        reasons.extend(self.failing(status));
        reasons.extend(self.barred());
        if status.suspended_by_user {
            reasons.push(Reason::HeldByOperator { resource: resource.clone() });
        }
        if status.waits_for_data {
            reasons.push(Reason::WaitsForData);
        }
        if self.register_failed {
            reasons.push(Reason::StateDirectoryFailed);
        }
        if status.asks_to_resync {
            reasons.push(match &self.definition.resync_after[..] {
                [] if self.definition.takes_turns => Reason::WaitsForTurn { after: None },
                [] => Reason::WaitsForHandler,
                [(first, _), ..] => Reason::WaitsForTurn { after: Some(first.to_string()) },
            });
        }
        if status.disk_failed {
            reasons.push(match (status.disk_wants_restart, part.has_failed_disk()) {
                (true, _) => Reason::LastDiskFailed { resource },
                (false, true) => Reason::DiskFailed { resource },
                (false, false) => Reason::DiskOutOfUse { resource },
            });
        }
        reasons.extend(self.peers_without_disk(status));
        reasons.extend(self.findings_of_verify(status));
        let is_born = status.config.as_ref().is_some_and(|config| config.branch.0 != 0);
        if is_born {
            reasons.extend(self.without_vote(status));
            reasons.extend(self.foreign_replicas(status));
            reasons.extend(self.missing_volumes(status));
        }
        if status.promoting {
            reasons.push(Reason::BecomesPrimary);
        }
        reasons.extend(self.without_origin(status));
        reasons
    }

    /// Clients of this Primary get errors now.
    fn failing(&self, status: &Status) -> Option<Reason> {
        let is_failing = self.is_primary && self.fails_requests;
        let why = if status.has_quorum { Reason::FailForData } else { Reason::FailForQuorum };
        is_failing.then_some(why)
    }

    /// Which votes are missing, or what else the options ask for.
    pub(in crate::shard) fn lacking_of_quorum(&self, status: &Status) -> Option<Reason> {
        let votes = self.votes(status);
        match status.shortage {
            None if status.has_majority => return None,
            _ if !status.votes.is_quorum() => return Some(Reason::NoMajority { votes }),
            Some(Shortage::Votes { .. }) => {
                return Some(Reason::TooFewForQuorum { votes, less: None });
            }
            Some(Shortage::Replicas { have, needed }) => {
                return Some(Reason::TooFewReplicas { have, needed, less: None });
            }
            None => {}
        }
        let late = status.voters.iter().filter(|voter| voter.is_late && voter.is_reachable);
        let late = late.map(|voter| self.name_of(voter.node)).collect();
        Some(Reason::TooLate { votes, late })
    }

    /// What an option asks for though a majority is there, and what to type to go on with less:
    /// whoever is missing may be gone for good, and no voter any more.
    pub(crate) fn shortage_of_options(&self, status: &Status) -> Option<Reason> {
        let less = |option| Some(LessWith { option, resource: self.name().to_owned() });
        Some(match status.shortage.filter(|_| status.votes.is_quorum())? {
            Shortage::Votes { .. } => {
                Reason::TooFewForQuorum { votes: self.votes(status), less: less("quorum majority") }
            }
            Shortage::Replicas { have, needed } => {
                let less = less("quorum-minimum-redundancy 1");
                Reason::TooFewReplicas { have, needed, less }
            }
        })
    }

    /// Why NBD clients are refused: one that was there before would go on, and cannot be told from
    /// others (C5).
    pub(crate) fn barred(&self) -> Option<Reason> {
        let name = |node| self.name_of(node);
        self.resource.awaits_reopen().then(|| Reason::Barred {
            why: match self.split_end {
                Some(SplitEnd::GaveUp { peer }) => Loss::GaveUp { peer: name(peer) },
                Some(SplitEnd::Kept { peer }) if self.resource.losses() == 0 => {
                    Loss::Kept { peer: name(peer) }
                }
                Some(SplitEnd::Kept { .. }) | None if self.resource.losses() > 0 => Loss::Counted,
                Some(SplitEnd::Kept { .. }) | None => Loss::OfAnotherLine,
            },
            resource: self.name().to_owned(),
        })
    }

    /// For the log: what is missing, what becomes of requests, and what helps.
    pub(crate) fn say_quorum_lost(&self) {
        let status = self.resource.status();
        let Some(lacking) = self.lacking_of_quorum(&status) else { return };
        let requests = match self.definition.demands.on_no_quorum {
            OnNoQuorum::SuspendIo => "requests wait",
            OnNoQuorum::IoError => "requests fail",
        };
        log!(
            Warning,
            Scope::resource(self.name()),
            "{lacking}: {requests} until there is one; `basalt explain {}` tells why each is \
             missing",
            self.name()
        );
    }

    pub(crate) fn say_quorum_back(&self) {
        log!(Notice, Scope::resource(self.name()), "there is a quorum again: requests go on");
    }

    /// Replicas by configuration that are in touch, and have no disk.
    fn peers_without_disk(&self, status: &Status) -> Vec<Reason> {
        let facts_of = |node| status.members.iter().find(move |facts| facts.node == node);
        let is_without = |member: &&Member| {
            let facts = facts_of(member.node);
            member.is_diskful && facts.is_some_and(|it| it.connected && !it.has_replica)
        };
        let reason = |member: &Member| {
            let (peer, resource) = (member.name.clone(), self.name().to_owned());
            let failed = self.peer(member.node).and_then(|peer| peer.disks_failed.first());
            let Some(failed) = failed else { return Reason::PeerWithoutDisk { peer, resource } };
            let (request, error) = (failed.request.clone(), failed.error.clone());
            Reason::PeerDiskFailed { peer, request, error, resource }
        };
        self.definition.peers().filter(is_without).map(reason).collect()
    }

    fn without_vote(&self, status: &Status) -> Vec<Reason> {
        let votes = |node| status.voters.iter().any(|voter| voter.node == node);
        let replicas = self.definition.members.iter().filter(|member| member.is_diskful);
        let reason = |member: &Member| {
            let facts = status.members.iter().find(|facts| facts.node == member.node);
            let why = match facts.filter(|facts| facts.connected) {
                None => out_of_reach(&self.definition.demands),
                Some(facts) if !facts.has_replica => NoVote::WithoutDisk,
                Some(facts) if facts.has_data => NoVote::Left,
                Some(_) => NoVote::New,
            };
            as_known(status, Reason::NoVote { peer: member.name.clone(), why })
        };
        replicas.filter(|member| !votes(member.node)).map(reason).collect()
    }

    /// What the last verify found, or how it is continued.
    fn findings_of_verify(&self, status: &Status) -> Vec<Reason> {
        let Some(verify) = &status.verify else { return Vec::new() };
        let VerifyReport { differing, position, repaired, state, volume, .. } =
            self.result_of_verify(verify);
        let resource = self.name();
        let own_name = self.name_of(self.definition.me);
        let mut reasons: Vec<Reason> = differing
            .into_iter()
            .map(|(name, kib)| {
                let (is_here, resource) = (name == own_name, resource.to_owned());
                match (repaired, is_here) {
                    (true, true) => Reason::WasRepaired { peer: "this node".to_owned(), kib },
                    (true, false) => Reason::WasRepaired { peer: name, kib },
                    (false, true) if self.is_primary => Reason::DiffersAtPrimary { kib, resource },
                    (false, true) => Reason::DiffersHere { kib, resource },
                    (false, false) => Reason::Differs { peer: name, kib, resource },
                }
            })
            .collect();
        if state == "interrupted" {
            let volume =
                volume.map_or_else(|| resource.to_owned(), |number| format!("{resource}/{number}"));
            reasons.push(Reason::VerifyInterrupted { position, volume });
        }
        reasons
    }

    /// Replicas that nobody brings up to date: what they hold is not known to be worth nothing.
    fn foreign_replicas(&self, status: &Status) -> Vec<Reason> {
        let is_foreign =
            |node| status.members.iter().any(|facts| facts.node == node && facts.has_other_history);
        let members = self.definition.members.iter().filter(|member| is_foreign(member.node));
        let resource = self.name();
        members
            .map(|member| Reason::OtherHistory {
                peer: member.name.clone(),
                resource: resource.to_owned(),
            })
            .collect()
    }

    /// Volumes that are not in use yet, and replicas that cannot be used for want of one.
    fn missing_volumes(&self, status: &Status) -> Vec<Reason> {
        let resource = self.name();
        let volumes = self.definition.volumes();
        let unused = volumes.filter(|volume| self.space.blocks_at(volume.place) == 0);
        let mut reasons: Vec<Reason> = unused
            .map(|volume| {
                let (volume, resource) = (volume.number.into(), resource.to_owned());
                as_known(status, Reason::VolumeNotInUse { volume, resource })
            })
            .collect();
        let number_of = |place: Place| {
            let volume = self.definition.volumes().find(|volume| volume.place == place);
            volume.map_or_else(|| place.number().into(), |volume| volume.number)
        };
        reasons.extend(self.definition.members.iter().filter_map(|member| {
            let facts = status.members.iter().find(|facts| facts.node == member.node)?;
            let place = facts.lacks?;
            let (peer, volume) = (member.name.clone(), number_of(place).into());
            if facts.holds_bytes > 0 {
                let (held, size) = (facts.holds_bytes, self.space.bytes_at(place));
                return Some(Reason::DiskTooSmall { peer, volume, held, size });
            }
            Some(Reason::NoDiskForVolume { peer, volume, resource: resource.to_owned() })
        }));
        reasons
    }

    /// An operator has to do this where the votes know of no value.
    fn without_origin(&self, status: &Status) -> Option<Reason> {
        let has_data = status.members.iter().any(|member| member.has_data);
        // Until the voters have said what counts, a replica with a history knows that there is one.
        let is_unborn = match &status.config {
            Some(config) => config.branch.0 == 0,
            None => matches!(status.replica, None | Some(ReplicaState::Blank)) && !has_data,
        };
        let resource = self.name().to_owned();
        let reason =
            if has_data { Reason::VotesKnowOfNoData } else { Reason::NoOrigin { resource } };
        (is_unborn && status.has_quorum).then_some(reason)
    }
}

fn as_known(status: &Status, reason: Reason) -> Reason {
    match status.out_of_touch_since {
        None => reason,
        Some(_) => Reason::AsKnown(Box::new(reason)),
    }
}

/// Where the options let a node go on alone, a replica that it lost has no vote either.
pub(super) fn out_of_reach(demands: &Demands) -> NoVote {
    match demands.without_quorum {
        WithoutQuorum::Wait => NoVote::OutOfReach,
        WithoutQuorum::GoOn | WithoutQuorum::GoOnFenced | WithoutQuorum::Prove(_) => {
            NoVote::OutOfReachOfOne
        }
    }
}
