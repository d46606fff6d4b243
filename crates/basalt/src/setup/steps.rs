//! The steps of an `up`, typed one by one: each is compared with what the daemon has.
//!
//! A resource comes as a whole from its configuration, so a step makes nothing. It succeeds where
//! it would change nothing, and is refused with what does it here where it would.

use std::ffi::OsString;

use api::status::{Endpoint, ResourceStatus};

use crate::adm::arguments as adm_arguments;
use crate::adm::building::BuildVerb;
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Targets};
use crate::adm::question::status;
use crate::adm::status_text::Statistics;
use crate::adm::upkeep::OptionTargets;
use crate::setup::arguments::{Ignored, PeerPath, Step};
use crate::setup::{Plan, peer_target, volume_target};

pub(super) fn plan(general: &General, step: Step) -> Result<Plan, AdmError> {
    match step {
        Step::NewResource { resource, node_id, .. } => {
            let id = resource_status(general, &resource)?.node_id;
            is_so(id == node_id, || format!("{resource} has the node id {id} here"), &resource)
        }
        Step::NewMinor { resource, minor, volume, .. } => {
            let devices = resource_status(general, &resource)?.devices;
            let is_there = devices.iter().any(|it| it.minor == minor && it.volume == volume);
            let message = || format!("{resource} has no volume {volume} with the minor {minor}");
            is_so(is_there, message, &resource)
        }
        Step::NewPeer { peer, .. } => {
            let connections = resource_status(general, &peer.resource)?.connections;
            let is_there = connections.iter().any(|it| it.peer_node_id == peer.id);
            let message = || format!("{} has no peer with the node id {}", peer.resource, peer.id);
            is_so(is_there, message, &peer.resource)
        }
        Step::NewPath(path) => {
            let PeerPath { peer, local, remote } = &path;
            let message = || {
                let name = &peer.resource;
                format!("{name} has no path from {local} to {remote} to the peer {}", peer.id)
            };
            is_so(has_path(general, &path)?, message, &peer.resource)
        }
        Step::DelPath(path) => {
            if !has_path(general, &path)? {
                return Ok(Plan::Nothing);
            }
            let target = peer_target(general, &path.peer)?;
            let verb = BuildVerb::DelPath(Targets { targets: vec![target] });
            Ok(Plan::Verb(adm_arguments::Verb::Build(verb)))
        }
        Step::Attach { minor, disk, .. } => attach(general, minor, &disk),
        Step::ResourceOptions { resource, options } => {
            // Behind a flag that is no option of DRBD's `--` is one of the words.
            let words = options.words.into_iter().filter(|word| word != "--");
            let (defaults, typed): (Vec<_>, Vec<_>) =
                words.partition(|word| word == "--set-defaults");
            let targets =
                OptionTargets { set_defaults: !defaults.is_empty(), targets: vec![resource] };
            Ok(Plan::Options(targets, typed.into_iter().map(OsString::from).collect()))
        }
        Step::DiskOptions { minor, options } => {
            refuse_options(&options, &volume_target(general, minor)?)
        }
        Step::NetOptions { peer, options } => {
            refuse_options(&options, &peer_target(general, &peer)?)
        }
        Step::PeerDeviceOptions { of, options } => {
            refuse_options(&options, &peer_target(general, &of.peer)?)
        }
    }
}

fn resource_status(general: &General, resource: &str) -> Result<ResourceStatus, AdmError> {
    let reply = status(general, vec![resource.to_owned()], Statistics::Hidden)?;
    reply.resources.into_iter().next().ok_or(AdmError::Confused { verb: "status" })
}

#[expect(clippy::fn_params_excessive_bools, reason = "what was found, and its name in an error")]
fn is_so(is_there: bool, message: impl Fn() -> String, resource: &str) -> Result<Plan, AdmError> {
    if is_there {
        return Ok(Plan::Nothing);
    }
    let hint = format!("change the configuration, then `basalt adm adjust {resource}`");
    Err(AdmError::configuration(message(), hint))
}

fn has_path(general: &General, path: &PeerPath) -> Result<bool, AdmError> {
    let PeerPath { peer, local, remote } = path;
    let connections = resource_status(general, &peer.resource)?.connections;
    let of_peer = connections.iter().filter(|it| it.peer_node_id == peer.id);
    let mut paths = of_peer.flat_map(|it| &it.paths);
    Ok(paths.any(|it| is_named(&it.this_host, local) && is_named(&it.remote_host, remote)))
}

/// `ipv4:ADDRESS:PORT` or `ipv6:[ADDRESS]:PORT`; the family may be left out.
fn is_named(end: &Endpoint, text: &str) -> bool {
    let Endpoint { address, port, family } = end;
    let bare =
        if family == "ipv6" { format!("[{address}]:{port}") } else { format!("{address}:{port}") };
    text == bare || text == format!("{family}:{bare}")
}

fn attach(general: &General, minor: u32, disk: &str) -> Result<Plan, AdmError> {
    let target = volume_target(general, minor)?;
    let resource = target.split('/').next().unwrap_or_default();
    let devices = resource_status(general, resource)?.devices;
    let configured = devices.into_iter().find(|it| it.minor == minor);
    match configured.and_then(|it| it.backing_dev) {
        Some(path) if path == disk => {
            let targets = Targets { targets: vec![target] };
            Ok(Plan::Verb(adm_arguments::Verb::Attach(targets)))
        }
        Some(path) => is_so(false, || format!("the disk of {target} is {path}"), resource),
        None => is_so(false, || format!("{target} has no disk on this node"), resource),
    }
}

/// Without any there is nothing to do.
fn refuse_options(options: &Ignored, target: &str) -> Result<Plan, AdmError> {
    let name = target.split(['/', ':']).next().unwrap_or(target);
    is_so(options.words.is_empty(), || "options come from the configuration".to_owned(), name)
}
