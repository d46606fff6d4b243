//! Verbs of drbdadm whose work is done by itself here, or in another way: each says how, and exits
//! as a script expects that goes on after it. And options that are taken over alone.

use api::request::{AdjustScope, Command};
use clap::{Args, Subcommand};

use crate::adm::configuration::{Configuration, NodeName};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Targets};
use crate::adm::outcome::{Gathering, Steps};
use crate::adm::question::{node_name, running, status, tell};
use crate::adm::status_text::Statistics;
use crate::adm::target::{One, Scope, is_peer, parse_targets};
use crate::adm::work::Work;

#[derive(Debug, Subcommand)]
pub(crate) enum UpkeepVerb {
    /// Nothing to do: `attach` and `up` apply the activity log themselves
    ApplyAl(Targets),
    /// Nothing to do: `attach` and `up` take the newer of the two copies of the metadata
    RepairMd(Targets),
    /// See that a former peer has no bitmap any more: `adjust` frees it
    ForgetPeer(Targets),
    /// Refused: the peer's data is given up by `invalidate` there
    InvalidateRemote(InvalidateRemote),
    /// Refused: a resync is bounded by `c-max-rate`, not paused
    PauseSync(Targets),
    /// Nothing to do: nothing pauses a resync
    ResumeSync(Targets),
    /// Take changed options of disks over from the configuration, and nothing else
    DiskOptions(OptionTargets),
    /// Take changed options of connections over from the configuration, and nothing else
    NetOptions(OptionTargets),
    /// Take changed options of the resource over from the configuration, and nothing else
    ResourceOptions(OptionTargets),
    /// Take changed options of resyncs over from the configuration, and nothing else
    PeerDeviceOptions(OptionTargets),
}

#[derive(Debug, Args)]
pub(crate) struct InvalidateRemote {
    /// Changes nothing: it is refused with either
    #[arg(long, hide = true)]
    pub(crate) reset_bitmap: bool,
    /// RES:PEER or RES:PEER/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OptionTargets {
    /// Always so: what the configuration does not say is the default
    #[arg(long)]
    pub(crate) set_defaults: bool,
    /// `all`, RES, RES/VOL, RES:PEER or RES:PEER/VOL: of all that the resource has
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

impl UpkeepVerb {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::ApplyAl(_) => "apply-al",
            Self::RepairMd(_) => "repair-md",
            Self::ForgetPeer(_) => "forget-peer",
            Self::InvalidateRemote(_) => "invalidate-remote",
            Self::PauseSync(_) => "pause-sync",
            Self::ResumeSync(_) => "resume-sync",
            Self::DiskOptions(_) => "disk-options",
            Self::NetOptions(_) => "net-options",
            Self::ResourceOptions(_) => "resource-options",
            Self::PeerDeviceOptions(_) => "peer-device-options",
        }
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            Self::ApplyAl(_) | Self::RepairMd(_) => Work::Files,
            Self::ForgetPeer(_)
            | Self::InvalidateRemote(_)
            | Self::PauseSync(_)
            | Self::ResumeSync(_)
            | Self::DiskOptions(_)
            | Self::NetOptions(_)
            | Self::ResourceOptions(_)
            | Self::PeerDeviceOptions(_) => Work::Daemon,
        }
    }

    pub(crate) fn targets(&self) -> &[String] {
        match self {
            Self::ApplyAl(targets)
            | Self::RepairMd(targets)
            | Self::ForgetPeer(targets)
            | Self::PauseSync(targets)
            | Self::ResumeSync(targets) => &targets.targets,
            Self::InvalidateRemote(options) => &options.targets,
            Self::DiskOptions(options)
            | Self::NetOptions(options)
            | Self::ResourceOptions(options)
            | Self::PeerDeviceOptions(options) => &options.targets,
        }
    }
}

pub(crate) fn keep(
    general: &General,
    verb: &UpkeepVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    match verb {
        UpkeepVerb::ApplyAl(_) | UpkeepVerb::RepairMd(_) => {
            see_it_is_configured(general, verb, gathering)
        }
        UpkeepVerb::DiskOptions(_)
        | UpkeepVerb::NetOptions(_)
        | UpkeepVerb::ResourceOptions(_)
        | UpkeepVerb::PeerDeviceOptions(_) => take_options(general, verb, gathering),
        UpkeepVerb::ForgetPeer(_)
        | UpkeepVerb::InvalidateRemote(_)
        | UpkeepVerb::PauseSync(_)
        | UpkeepVerb::ResumeSync(_) => {
            for one in running(general, &parse_targets(verb.targets(), Scope::PeerDevice)?)? {
                match answer(general, verb, &one) {
                    Ok(warnings) => gathering.done(&one.resource, Vec::new(), warnings),
                    Err(error) => gathering.failed(&one.resource, &error),
                }
            }
            Ok(())
        }
    }
}

/// They come before the resource is up: only the file can say whether it is one.
fn see_it_is_configured(
    general: &General,
    verb: &UpkeepVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(verb.targets(), Scope::Volume)?;
    let configuration = Configuration::load(general)?;
    for one in
        configuration.select(&targets, || node_name(general).map(NodeName::Known), gathering)?
    {
        match configuration.resource(&one.resource) {
            Ok(_) => gathering.done(&one.resource, Vec::new(), Vec::new()),
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

fn answer(general: &General, verb: &UpkeepVerb, one: &One) -> Result<Vec<String>, AdmError> {
    let reply = status(general, vec![one.resource.clone()], Statistics::Hidden)?;
    let name = &one.resource;
    let peers = reply.resources.iter().flat_map(|resource| &resource.connections);
    let peers = peers.map(|peer| peer.name.as_str());
    match verb {
        UpkeepVerb::ForgetPeer(_) => match &one.peer {
            None => Err(AdmError::Usage(format!("which peer of {name}? Say {name}:PEER"))),
            Some(peer) if is_peer(peer, peers)? => Err(AdmError::configuration(
                format!("`{peer}` is a member"),
                format!("take it out of the configuration, then `basalt adm adjust {name}`"),
            )),
            Some(_) => Ok(Vec::new()),
        },
        UpkeepVerb::InvalidateRemote(_) => Err(AdmError::configuration(
            "a node gives up its own data only",
            format!("on the peer: `basalt adm invalidate {name}`"),
        )),
        UpkeepVerb::PauseSync(_) => Err(AdmError::configuration(
            "a resync is not paused: `c-max-rate` bounds what it takes",
            format!("`disk {{ c-max-rate 10M; }}`, then `basalt adm adjust {name}`"),
        )),
        UpkeepVerb::ResumeSync(_)
        | UpkeepVerb::ApplyAl(_)
        | UpkeepVerb::RepairMd(_)
        | UpkeepVerb::DiskOptions(_)
        | UpkeepVerb::NetOptions(_)
        | UpkeepVerb::ResourceOptions(_)
        | UpkeepVerb::PeerDeviceOptions(_) => Ok(Vec::new()),
    }
}

/// `adjust`, if it would do nothing else.
fn take_options(
    general: &General,
    verb: &UpkeepVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(verb.targets(), Scope::PeerDevice)?;
    let configuration = Configuration::load(general)?;
    let steps = if general.verbose > 0 { Steps::Shown } else { Steps::Hidden };
    for one in
        configuration.select(&targets, || node_name(general).map(NodeName::Known), gathering)?
    {
        let resource = one.resource;
        let taken = configuration.resource(&resource).and_then(|configured| {
            let adjust = |dry_run| Command::Adjust {
                resource: resource.clone(),
                config_text: configured.to_res_text(),
                dry_run,
                scope: AdjustScope { skip_disk: true, skip_net: true, peer: None },
            };
            let start = format!("drbdsetup {} ", verb.name());
            let (found, _) = tell(general, adjust(true))?;
            if let Some(other) = found.iter().find(|step| !step.starts_with(&start)) {
                let message = format!("more than these options differs: {other}");
                return Err(AdmError::configuration(
                    message,
                    format!("basalt adm adjust {resource}"),
                ));
            }
            tell(general, adjust(false))
        });
        match taken {
            Ok((changes, warnings)) => gathering.stepped(&resource, steps, changes, warnings),
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}
