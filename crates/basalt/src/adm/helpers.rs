//! Handlers called by hand: drbdadm's verbs of their names. The script of the configuration file is
//! run with what is known of the resource, and its exit code is that of the command.

use api::status::{ConnectionStatus, DeviceStatus, PathStatus, ResourceStatus};
use clap::Subcommand;
use config::model::Resource;
use node::handlers::{ByHand, call_handler};

use crate::adm::configuration::{Configuration, NodeName, host_name, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Targets};
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::question::{node_name, status};
use crate::adm::status_text::Statistics;
use crate::adm::target::{One, Scope, Target, parse_targets};

/// Each may be hidden, for scripts that replay what the kernel would do call them, and few people.
#[derive(Debug, Subcommand)]
pub(crate) enum HandlerVerb {
    /// Run the handler of this name
    #[command(hide = true, alias = "outdate-peer")]
    FencePeer(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    UnfencePeer(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    SplitBrain(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    InitialSplitBrain(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    PriOnInconDegr(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    PriLost(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    PriLostAfterSb(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    LocalIoError(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    BeforeResyncTarget(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    AfterResyncTarget(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    BeforeResyncSource(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    OutOfSync(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    QuorumLost(Targets),
    /// Run the handler of this name
    #[command(hide = true)]
    Disconnected(Targets),
}

impl HandlerVerb {
    fn parts(&self) -> (&'static str, &Targets) {
        match self {
            Self::FencePeer(targets) => ("fence-peer", targets),
            Self::UnfencePeer(targets) => ("unfence-peer", targets),
            Self::SplitBrain(targets) => ("split-brain", targets),
            Self::InitialSplitBrain(targets) => ("initial-split-brain", targets),
            Self::PriOnInconDegr(targets) => ("pri-on-incon-degr", targets),
            Self::PriLost(targets) => ("pri-lost", targets),
            Self::PriLostAfterSb(targets) => ("pri-lost-after-sb", targets),
            Self::LocalIoError(targets) => ("local-io-error", targets),
            Self::BeforeResyncTarget(targets) => ("before-resync-target", targets),
            Self::AfterResyncTarget(targets) => ("after-resync-target", targets),
            Self::BeforeResyncSource(targets) => ("before-resync-source", targets),
            Self::OutOfSync(targets) => ("out-of-sync", targets),
            Self::QuorumLost(targets) => ("quorum-lost", targets),
            Self::Disconnected(targets) => ("disconnected", targets),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.parts().0
    }

    pub(crate) fn targets(&self) -> &[String] {
        &self.parts().1.targets
    }
}

pub(crate) fn call(
    general: &General,
    verb: &HandlerVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = targets_of(verb)?;
    let configuration = Configuration::load(general)?;
    // It is called when the daemon is in trouble, too: then less is known.
    let own_name = || node_name(general).or_else(|_| host_name()).map(NodeName::Known);
    for one in configuration.select(&targets, own_name, gathering)? {
        match configuration.resource(&one.resource) {
            Ok(resource) => match resource.handler_scripts().get(verb.name()) {
                Some(script) => {
                    let named = (&configuration, &one, script.as_str());
                    if let Err(error) = call_one(general, verb, named, gathering) {
                        gathering.failed(&one.resource, &error);
                    }
                }
                // As drbdadm: there is nothing to do.
                None => gathering.done(&one.resource, Vec::new(), Vec::new()),
            },
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

/// `RES`, `RES/VOL` or `RES:PEER`.
fn targets_of(verb: &HandlerVerb) -> Result<Vec<Target>, AdmError> {
    let scope = |word: &str| if word.contains(':') { Scope::Connection } else { Scope::Volume };
    let parse = |word: &String| parse_targets(std::slice::from_ref(word), scope(word));
    let targets: Result<Vec<_>, _> = verb.targets().iter().map(parse).collect();
    Ok(targets?.into_iter().flatten().collect())
}

fn call_one(
    general: &General,
    verb: &HandlerVerb,
    (configuration, one, script): (&Configuration, &One, &str),
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    if general.dry_run {
        gathering.line(&format!("/bin/sh -c '{script}'"));
        return Ok(());
    }
    let reply = status(general, vec![one.resource.clone()], Statistics::Hidden).ok();
    let own_name = reply.as_ref().map_or_else(host_name, |reply| Ok(reply.node.name.clone()))?;
    let running = reply.and_then(|reply| reply.resources.into_iter().next());
    if running.is_none() {
        let what = "the daemon does not answer for it: the script is told what the file says";
        gathering.warn(&format!("{}: warning: {what}", one.resource));
    }
    let state =
        running.or_else(|| as_configured(configuration.resource(&one.resource).ok()?, &own_name));
    let called = call_handler(&ByHand {
        handler: verb.name(),
        script,
        resource: &one.resource,
        own_name: &own_name,
        config_file: configuration.path(),
        state: state.as_ref(),
        peer: one.peer.as_deref(),
        volume: one.volume,
        deadline: general.timeout,
    });
    if let Some(complaint) = &called.complaint {
        gathering.warn(&format!("{}: handler {} {complaint}", one.resource, verb.name()));
    }
    let text: String = called.lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = Answer::Called {
        resource: one.resource.clone(),
        verb: verb.name(),
        exit_code: called.status,
        output: called.lines,
    };
    gathering.answer(&text, answer);
    gathering.exit_with(called.status);
    Ok(())
}

/// What the file alone says of this node's part.
fn as_configured(resource: &Resource, own_name: &str) -> Option<ResourceStatus> {
    let node = NodeName::Known(own_name.to_owned());
    let host = own_host(resource, &node).ok().flatten()?;
    let devices = host.volumes.iter().map(|volume| DeviceStatus {
        volume: volume.number,
        minor: volume.device.as_ref().map_or(0, |device| device.minor),
        backing_dev: volume.disk.as_ref().map(|disk| disk.path.clone()),
        ..DeviceStatus::default()
    });
    let connections = resource.peers_of(&host.name).into_iter().map(|peer| ConnectionStatus {
        peer_node_id: peer.node_id,
        paths: peer
            .paths
            .iter()
            .map(|&(this, remote)| PathStatus {
                this_host: this.into(),
                remote_host: remote.into(),
                ..PathStatus::default()
            })
            .collect(),
        name: peer.name,
        ..ConnectionStatus::default()
    });
    Some(ResourceStatus {
        name: resource.name.clone(),
        node_id: host.node_id,
        devices: devices.collect(),
        connections: connections.collect(),
        ..ResourceStatus::default()
    })
}
