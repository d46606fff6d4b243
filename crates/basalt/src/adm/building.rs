//! The steps of which `up` and `down` are made, for scripts that give them one by one.
//!
//! A resource comes with its volumes, peers and paths: `new-resource` makes all of it, out of use,
//! and the other `new-` verbs say whether theirs is there. Nothing of it goes by itself: what a
//! `del-` verb would take away goes with the configuration, or with the resource.

use api::client::AskError;
use api::disk_state::DiskState;
use api::request::Command;
use api::response::{Failure, FailureCode};
use api::role::Role;
use api::status::ResourceStatus;
use clap::Subcommand;

use crate::adm::failure::AdmError;
use crate::adm::general::{Forcible, General, Targets};
use crate::adm::outcome::Gathering;
use crate::adm::question::{running, status, tell};
use crate::adm::status_text::Statistics;
use crate::adm::target::{One, Scope, parse_targets};
use crate::adm::work::{DryRun, Work};

#[derive(Debug, Subcommand)]
pub(crate) enum BuildVerb {
    /// Configure, and neither attach nor connect: `adjust`, or `attach` and `connect`, do that
    NewResource(Targets),
    /// See that the volumes are there, which came with the resource
    NewMinor(Targets),
    /// See that the peers are there, which came with the resource
    NewPeer(Targets),
    /// See that the paths to the peers are there, which came with the resource
    NewPath(Targets),
    /// Part from the peers; they stay members until the configuration drops them
    DelPeer(Forcible),
    /// Refused: a path goes when the configuration drops it
    DelPath(Targets),
    /// Refused: volumes go with their resource
    DelMinor(Targets),
    /// Look whether the disks are as the resource knows them; one that grew is taken by `resize`
    CheckResize(Targets),
    /// Say whether this node's data counts as outdated; others know it without being told
    Outdate(Targets),
    /// Show the roles of the peers, one line each
    PeerRole(Targets),
    /// Print the verbs that `--help` leaves out
    HiddenCommands,
}

impl BuildVerb {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::NewResource(_) => "new-resource",
            Self::NewMinor(_) => "new-minor",
            Self::NewPeer(_) => "new-peer",
            Self::NewPath(_) => "new-path",
            Self::DelPeer(_) => "del-peer",
            Self::DelPath(_) => "del-path",
            Self::DelMinor(_) => "del-minor",
            Self::CheckResize(_) => "check-resize",
            Self::Outdate(_) => "outdate",
            Self::PeerRole(_) => "peer-role",
            Self::HiddenCommands => "hidden-commands",
        }
    }

    pub(crate) fn targets(&self) -> &[String] {
        match self {
            Self::NewResource(targets)
            | Self::NewMinor(targets)
            | Self::NewPeer(targets)
            | Self::NewPath(targets)
            | Self::DelPath(targets)
            | Self::DelMinor(targets)
            | Self::CheckResize(targets)
            | Self::Outdate(targets)
            | Self::PeerRole(targets) => &targets.targets,
            Self::DelPeer(options) => &options.targets,
            Self::HiddenCommands => &[],
        }
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            Self::HiddenCommands => Work::Files,
            Self::NewResource(_)
            | Self::NewMinor(_)
            | Self::NewPeer(_)
            | Self::NewPath(_)
            | Self::DelPeer(_)
            | Self::DelPath(_)
            | Self::DelMinor(_)
            | Self::CheckResize(_)
            | Self::Outdate(_)
            | Self::PeerRole(_) => Work::Daemon,
        }
    }

    pub(crate) fn dry_run(&self) -> DryRun {
        match self {
            Self::NewResource(_)
            | Self::NewMinor(_)
            | Self::NewPeer(_)
            | Self::NewPath(_)
            | Self::DelPeer(_) => DryRun::Steps,
            Self::DelPath(_)
            | Self::DelMinor(_)
            | Self::CheckResize(_)
            | Self::Outdate(_)
            | Self::PeerRole(_)
            | Self::HiddenCommands => DryRun::Refused,
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::NewResource(_) | Self::HiddenCommands => Scope::Resource,
            Self::NewMinor(_) | Self::DelMinor(_) | Self::CheckResize(_) | Self::Outdate(_) => {
                Scope::Volume
            }
            Self::NewPeer(_)
            | Self::NewPath(_)
            | Self::DelPeer(_)
            | Self::DelPath(_)
            | Self::PeerRole(_) => Scope::Connection,
        }
    }
}

/// Every verb but `new-resource`, a matter of the configuration file, and `hidden-commands`, one of
/// the command line.
pub(crate) fn build(
    general: &General,
    verb: &BuildVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    for one in running(general, &parse_targets(verb.targets(), verb.scope())?)? {
        match build_one(general, verb, &one, gathering) {
            // Its lines are the answer.
            Ok(_) if matches!(verb, BuildVerb::PeerRole(_)) => {}
            Ok(warnings) => gathering.done(&one.resource, Vec::new(), warnings),
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

fn build_one(
    general: &General,
    verb: &BuildVerb,
    one: &One,
    gathering: &mut Gathering,
) -> Result<Vec<String>, AdmError> {
    let ask = || status(general, vec![one.resource.clone()], Statistics::Hidden);
    let found = match (verb, ask()) {
        // Both are asked before the resource is there, and after it went.
        (BuildVerb::CheckResize(_), Err(error)) if error.is_of_unknown_resource() => {
            return Ok(Vec::new());
        }
        (BuildVerb::Outdate(_), Err(error)) if error.is_of_unknown_resource() => {
            return Ok(vec![NOTHING_IS_MARKED.to_owned()]);
        }
        (_, reply) => reply?,
    };
    let Some(resource) = found.resources.first() else { return Ok(Vec::new()) };
    check_names(resource, one)?;
    let name = &one.resource;
    match verb {
        BuildVerb::DelPeer(options) => {
            let peer = one.peer.clone();
            let resource = name.clone();
            tell(general, Command::Disconnect { resource, peer, force: options.force })?;
            let text = "disconnected; it stays a member, with its vote, until the configuration \
                        drops it: then `adjust`";
            Ok(vec![text.to_owned()])
        }
        BuildVerb::DelPath(_) => Err(AdmError::configuration(
            "a path is not taken away by itself",
            format!("take it out of the configuration, then `basalt adm adjust {name}`"),
        )),
        BuildVerb::DelMinor(_) => Err(AdmError::configuration(
            "volumes are not taken away by themselves: they go with their resource",
            format!("basalt adm down {name}"),
        )),
        BuildVerb::Outdate(_) => outdate(resource),
        BuildVerb::PeerRole(_) => {
            let peers = resource.connections.iter().filter(|peer| one.means_peer(&peer.name));
            peers.for_each(|peer| gathering.line(peer.peer_role.as_str()));
            Ok(Vec::new())
        }
        BuildVerb::NewResource(_)
        | BuildVerb::NewMinor(_)
        | BuildVerb::NewPeer(_)
        | BuildVerb::NewPath(_)
        | BuildVerb::CheckResize(_)
        | BuildVerb::HiddenCommands => Ok(Vec::new()),
    }
}

const NOTHING_IS_MARKED: &str = "it is down, and nothing is marked: when it comes back, the others \
                                 know whether it missed something";

/// A volume or peer that is named must be there: it comes with the resource, or by `adjust`.
fn check_names(resource: &ResourceStatus, one: &One) -> Result<(), AdmError> {
    let hint = || format!("basalt adm adjust {}", resource.name);
    let has = |number: u16| resource.devices.iter().any(|device| device.volume == number);
    if let Some(number) = one.volume.filter(|number| !has(*number)) {
        let message = format!("the resource runs without a volume {number}");
        return Err(AdmError::configuration(message, hint()));
    }
    match one.unknown_peer(resource.connections.iter().map(|peer| peer.name.as_str()))? {
        Some(peer) => {
            let message = format!("the resource runs without a peer `{peer}`");
            Err(AdmError::configuration(message, hint()))
        }
        None => Ok(()),
    }
}

/// A replica that missed a write is known as outdated by the history that a majority has; a mark
/// would say nothing more. Only what DRBD refuses is refused.
fn outdate(resource: &ResourceStatus) -> Result<Vec<String>, AdmError> {
    let refused = |code, message: &str, hint: &str| {
        Err(AdmError::Ask(AskError::Refused(Failure::new(code, message, hint))))
    };
    let has = |wanted| resource.devices.iter().any(|device| device.disk_state == wanted);
    if resource.role == Role::Primary {
        let hint = format!("basalt adm secondary {}", resource.name);
        return refused(FailureCode::StateRefused, "this node is Primary", &hint);
    }
    if has(DiskState::Diskless) {
        let hint = format!("basalt adm attach {}", resource.name);
        return refused(FailureCode::NoLocalDisk, "there is no data on this node", &hint);
    }
    if has(DiskState::Outdated) || has(DiskState::Inconsistent) {
        return Ok(Vec::new());
    }
    let mut peers = resource.connections.iter().flat_map(|peer| &peer.peer_devices);
    if peers.any(|peer| peer.peer_disk_state == DiskState::UpToDate) {
        let message = "it is connected to a peer with the same data, which would bring it up to \
                       date at once";
        let hint = format!("basalt adm disconnect {}", resource.name);
        return refused(FailureCode::StateRefused, message, &hint);
    }
    let text = "nothing is marked: without the others this node is not promoted, and when they \
                are back they know whether it missed something";
    Ok(vec![text.to_owned()])
}
