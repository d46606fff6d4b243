//! Why a resource is as it is, in words: what is missing, who waits for whom, and what to type.

use api::status::VerifyReport;
use format::metadata::ReplicaState;
use format::space::Place;
use replication::contract::OnNoQuorum;
use replication::resource::{Shortage, Status};

use crate::log::{Scope, log};
use crate::shard::hosted::Hosted;

impl Hosted {
    pub(super) fn reasons(&self, status: &Status) -> Vec<String> {
        let mut reasons = Vec::new();
        reasons.extend(self.shortage_of_options(status).or_else(|| self.lacking_of_quorum(status)));
        reasons.extend(self.barred());
        if status.suspended_by_user {
            reasons.push("an operator holds requests back: `resume-io` ends that".to_owned());
        }
        if status.waits_for_data {
            let text = "requests wait: no replica that is up to date is in reach";
            reasons.push(text.to_owned());
        }
        if self.register_failed {
            reasons.push(
                "the state directory failed: this node votes no more until it is restarted"
                    .to_owned(),
            );
        }
        if status.asks_to_resync {
            reasons.push(match &self.definition.resync_after[..] {
                [] if self.definition.takes_turns => "its replica waits for its turn \
                    (`max-parallel-resyncs`), or for the handler before-resync-target"
                    .to_owned(),
                [] => "its replica waits for the handler before-resync-target to end".to_owned(),
                [(first, _), ..] => format!(
                    "its replica waits for its turn (`resync-after {first}`), or for the handler \
                     before-resync-target"
                ),
            });
        }
        if status.disk_failed {
            reasons.push(what_takes_it_back(status).to_owned());
        }
        reasons.extend(self.findings_of_verify(status));
        let is_born = status.config.as_ref().is_some_and(|config| config.branch.0 != 0);
        let votes = |node| status.voters.iter().any(|voter| voter.node == node);
        let replicas = self.definition.members.iter().filter(|member| member.is_diskful);
        reasons.extend(replicas.filter(|it| is_born && !votes(it.node)).map(|member| {
            let name = &member.name;
            let text = "has no vote: it left, or is new; it votes once it is in sync";
            as_known(status, format!("{name} {text}"))
        }));
        if is_born {
            reasons.extend(self.foreign_replicas(status));
            reasons.extend(self.missing_volumes(status));
        }
        if status.promoting {
            reasons.push("this node is becoming Primary".to_owned());
        }
        reasons.extend(without_origin(status));
        reasons
    }

    /// Which votes are missing, or what else the options ask for.
    fn lacking_of_quorum(&self, status: &Status) -> Option<String> {
        let votes = self.votes(status);
        match status.shortage {
            None if status.has_majority => return None,
            _ if !status.votes.is_quorum() => return Some(format!("no quorum: {votes}")),
            Some(Shortage::Votes { .. }) => {
                return Some(format!("no quorum: {votes}, as `quorum` asks for"));
            }
            Some(shortage @ Shortage::Replicas { .. }) => {
                return Some(format!("no quorum: {shortage}"));
            }
            None => {}
        }
        let late = status.voters.iter().filter(|voter| voter.is_late && voter.is_reachable);
        let late: Vec<String> = late.map(|voter| self.name_of(voter.node)).collect();
        Some(format!(
            "no quorum: {votes}, and too few of them confirm in time that this node leads (late: \
             {}): look at the load and the state directories of both sides, and at the network",
            if late.is_empty() { "none any more".to_owned() } else { late.join(", ") }
        ))
    }

    /// What an option asks for though a majority is there, and what to type to go on with less:
    /// whoever is missing may be gone for good, and no voter any more.
    pub(crate) fn shortage_of_options(&self, status: &Status) -> Option<String> {
        let option = match status.shortage.filter(|_| status.votes.is_quorum())? {
            Shortage::Votes { .. } => "quorum majority",
            Shortage::Replicas { .. } => "quorum-minimum-redundancy 1",
        };
        let (lacking, name) = (self.lacking_of_quorum(status)?, self.name());
        Some(format!(
            "{lacking}; to go on with fewer: `{option}` in the configuration of this node, then \
             `basalt adm adjust {name}`"
        ))
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

    /// What the last verify found, or how it is continued.
    fn findings_of_verify(&self, status: &Status) -> Vec<String> {
        let Some(verify) = &status.verify else { return Vec::new() };
        let VerifyReport { differing, position, repaired, state, volume, .. } =
            self.describe_verify(verify);
        let remedy = if repaired {
            "it was made equal to what most replicas hold; look at its disk"
        } else {
            "`verify --repair`, or disconnect and connect it; look at its disk"
        };
        let mut reasons: Vec<String> = differing
            .iter()
            .map(|(name, kib)| format!("a verify found {kib} KiB that differ at {name}: {remedy}"))
            .collect();
        if state == "interrupted" {
            let of_volume =
                volume.map_or_else(String::new, |number| format!(" {}/{number}", self.name()));
            reasons.push(format!(
                "a verify was interrupted: `verify --start {position}K{of_volume}` goes on"
            ));
        }
        reasons
    }

    /// Replicas that nobody brings up to date: what they hold is not known to be worth nothing.
    fn foreign_replicas(&self, status: &Status) -> Vec<String> {
        let is_foreign =
            |node| status.members.iter().any(|facts| facts.node == node && facts.has_other_history);
        let members = self.definition.members.iter().filter(|member| is_foreign(member.node));
        let describe = |name: &String| {
            format!(
                "the data of {name} has another history than that of the others, and is not \
                 brought up to date: on {name} `basalt adm invalidate {}` gives it up",
                self.name()
            )
        };
        members.map(|member| describe(&member.name)).collect()
    }

    /// Volumes that are not in use yet, and replicas that cannot be used for want of one.
    fn missing_volumes(&self, status: &Status) -> Vec<String> {
        let name = self.name();
        let volumes = self.definition.volumes();
        let unused = volumes.filter(|volume| self.space.blocks_at(volume.place) == 0);
        let mut reasons: Vec<String> = unused
            .map(|volume| {
                let number = volume.number;
                let text = format!(
                    "volume {number} is not in use yet: it is, or will be with the next Primary, \
                     when every replica in reach has a disk for it: `create-md {name}/{number}` \
                     and `adjust {name}` on each of their nodes"
                );
                as_known(status, text)
            })
            .collect();
        let number_of = |place: Place| {
            let volume = self.definition.volumes().find(|volume| volume.place == place);
            volume.map_or_else(|| place.number().into(), |volume| volume.number)
        };
        reasons.extend(self.definition.members.iter().filter_map(|member| {
            let facts = status.members.iter().find(|facts| facts.node == member.node)?;
            let place = facts.lacks?;
            let number = number_of(place);
            if facts.holds_bytes > 0 {
                let (held, size) = (facts.holds_bytes, self.space.bytes_at(place));
                return Some(format!(
                    "the replica of {} stays away: its disk of volume {number} has room for {held} \
                     bytes, and the volume has {size}: enlarge the device there, or make room on \
                     the file system of the file; it is looked at again within 10 s",
                    member.name
                ));
            }
            Some(format!(
                "the replica of {} stays away: it has no disk for volume {number}, or a smaller \
                 one, or one whose content is not known; make it anew there: `create-md --force \
                 {name}`",
                member.name
            ))
        }));
        reasons
    }
}

/// Others may have decided otherwise, out of reach of this node.
fn as_known(status: &Status, text: String) -> String {
    match status.out_of_touch_since {
        None => text,
        Some(_) => format!("when this node was in touch last: {text}"),
    }
}

fn what_takes_it_back(status: &Status) -> &'static str {
    if status.disk_wants_restart {
        "the disk failed: it is the last one up to date, and requests wait for it: `down --force` \
         and `up` take it back"
    } else {
        "the disk failed or was detached: `attach` takes it, or another one, back"
    }
}

/// What is to be done where the votes know of no value.
fn without_origin(status: &Status) -> Option<String> {
    let has_data = status.members.iter().any(|member| member.has_data);
    // Until the voters have said what counts, a replica with a history knows that there is one.
    let is_unborn = match &status.config {
        Some(config) => config.branch.0 == 0,
        None => matches!(status.replica, None | Some(ReplicaState::Blank)) && !has_data,
    };
    let text = if has_data {
        "replicas have data, and the votes of a majority know of none: `basalt adm adopt` finds \
         out who is up to date (docs/operate/state-lost.md)"
    } else {
        "no replica has been declared the origin yet: use `primary --force` on one node"
    };
    (is_unborn && status.has_quorum).then(|| text.to_owned())
}
