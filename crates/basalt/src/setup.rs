//! `basalt setup`: the part of drbdsetup that scripts use.
//!
//! Where drbdsetup names a volume by its minor and a peer by its node id, the daemon is asked for
//! the names, and the verb of `basalt adm` is done with them. What only a kernel module has (new
//! minors, peers and paths one by one) is done by `up` and `adjust` here.

mod arguments;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::arguments::{CommandLine, Maintenance, Verb, Volume};
use crate::adm::arguments::{
    self as adm_arguments, BuildVerb, Forcible, General, QueryTargets, QueryVerb, Targets,
    UpkeepVerb,
};
use crate::adm::failure::{AdmError, USAGE_EXIT};
use crate::adm::outcome::{Form, Gathering};
use crate::adm::question::{node_name, status};
use crate::adm::status_text::Statistics;
use crate::adm::target::sole_name;
use crate::adm::waiting::{PeerName, Wanted, Wish, wait};
use crate::adm::{parse, print, run_verb};

type AdmVerb = adm_arguments::Verb;

/// The definition of the command line.
pub(crate) fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `basalt setup` with the words that follow `setup`.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = std::iter::once(OsString::from("basalt setup")).chain(arguments);
    let command_line = match parse(CommandLine::try_parse_from(words), SETUP_USAGE_EXIT) {
        Ok(command_line) => command_line,
        Err(exit) => return exit,
    };
    let general = command_line.general;
    match plan(&general, command_line.verb) {
        Ok(Plan::Verb(verb)) => {
            run_verb(&adm_arguments::CommandLine::of(general, verb), SETUP_USAGE_EXIT)
        }
        Ok(Plan::Show(show)) => {
            let sole = sole_name(&show.resources);
            gathered(&general, "show", sole, |gathering| show::show(&general, &show, gathering))
        }
        Ok(Plan::Wait(wanted, times)) => {
            let resource = wanted.resource.clone();
            gathered(&general, "wait", Some(&resource), |_| wait(&general, &wanted, &times))
        }
        Err(error) => gathered(&general, "setup", None, |_| Err(error)),
    }
}

/// drbdsetup's code for a command line that it does not understand.
const SETUP_USAGE_EXIT: u8 = 20;

/// What a verb of drbdsetup comes to.
enum Plan {
    Verb(AdmVerb),
    Show(arguments::Show),
    Wait(Wanted, adm_arguments::WaitTimes),
}

fn gathered(
    general: &General,
    verb: &'static str,
    resource: Option<&str>,
    work: impl FnOnce(&mut Gathering) -> Result<(), AdmError>,
) -> ExitCode {
    let form = if general.json { Form::Json } else { Form::Text };
    let mut gathering = Gathering::new(verb, form);
    if let Err(error) = work(&mut gathering) {
        match resource {
            Some(resource) => gathering.failed(resource, &error),
            None => gathering.failed_at_all(&error),
        }
    }
    let mut outcome = gathering.finish();
    if outcome.exit == USAGE_EXIT {
        outcome.exit = SETUP_USAGE_EXIT;
    }
    print(&outcome)
}

fn whole(target: String) -> Targets {
    Targets { targets: vec![target] }
}

fn plan(general: &General, verb: Verb) -> Result<Plan, AdmError> {
    let forcible = |force, target| Forcible { force, targets: vec![target] };
    Ok(Plan::Verb(match verb {
        Verb::Status(status) => AdmVerb::Status(status),
        Verb::Events2(events) => AdmVerb::Events2(events),
        Verb::Show(show) => return Ok(Plan::Show(show)),
        Verb::Role { resource } => AdmVerb::Role(whole(resource)),
        Verb::Cstate(peer) => AdmVerb::Cstate(whole(peer_target(general, &peer)?)),
        Verb::Dstate { minor } => AdmVerb::Dstate(whole(volume_target(general, minor)?)),
        Verb::Down { resource } => AdmVerb::Down(forcible(false, resource)),
        Verb::Primary { resource, force } => AdmVerb::Primary(forcible(force, resource)),
        Verb::Secondary { resource, force } => AdmVerb::Secondary(forcible(force, resource)),
        Verb::Connect { peer, discard_my_data } => {
            let targets = vec![peer_target(general, &peer)?];
            AdmVerb::Connect(adm_arguments::Connect { discard_my_data, targets })
        }
        Verb::Disconnect { peer, force } => {
            AdmVerb::Disconnect(forcible(force, peer_target(general, &peer)?))
        }
        Verb::Detach { minor, force } => {
            AdmVerb::Detach(forcible(force, volume_target(general, minor)?))
        }
        Verb::Invalidate { minor } => AdmVerb::Invalidate(whole(volume_target(general, minor)?)),
        Verb::Maintenance(verb) => maintenance(general, verb)?,
        Verb::SuspendIo { minor } => AdmVerb::SuspendIo(whole(volume_target(general, minor)?)),
        Verb::ResumeIo { minor } => AdmVerb::ResumeIo(whole(volume_target(general, minor)?)),
        Verb::NewCurrentUuid { minor, clear_bitmap } => {
            let targets = vec![volume_target(general, minor)?];
            AdmVerb::NewCurrentUuid(adm_arguments::NewCurrentUuid { clear_bitmap, targets })
        }
        Verb::WaitConnectResource { resource, times } => {
            return Ok(waiting(Wish::Connected, resource, None, None, times));
        }
        Verb::WaitConnectConnection { peer, times } => {
            return Ok(waiting(Wish::Connected, peer.resource, Some(peer.id), None, times));
        }
        Verb::WaitConnectVolume { volume, times } => {
            return Ok(waiting_for_volume(Wish::Connected, volume, times));
        }
        Verb::WaitSyncResource { resource, times } => {
            return Ok(waiting(Wish::InSync, resource, None, None, times));
        }
        Verb::WaitSyncConnection { peer, times } => {
            return Ok(waiting(Wish::InSync, peer.resource, Some(peer.id), None, times));
        }
        Verb::WaitSyncVolume { volume, times } => {
            return Ok(waiting_for_volume(Wish::InSync, volume, times));
        }
    }))
}

fn maintenance(general: &General, verb: Maintenance) -> Result<AdmVerb, AdmError> {
    Ok(match verb {
        Maintenance::InvalidateRemote(volume) => {
            let targets = whole(peer_target(general, &volume.peer)?);
            AdmVerb::Upkeep(UpkeepVerb::InvalidateRemote(targets))
        }
        Maintenance::Outdate { minor } => {
            AdmVerb::Build(BuildVerb::Outdate(whole(volume_target(general, minor)?)))
        }
        Maintenance::Verify(Volume { peer, volume }) => AdmVerb::Verify(adm_arguments::Verify {
            start: None,
            stop: None,
            repair: false,
            targets: vec![format!("{}/{volume}", peer.resource)],
        }),
        Maintenance::PauseSync(volume) => {
            let targets = whole(peer_target(general, &volume.peer)?);
            AdmVerb::Upkeep(UpkeepVerb::PauseSync(targets))
        }
        Maintenance::ResumeSync(volume) => {
            let targets = whole(peer_target(general, &volume.peer)?);
            AdmVerb::Upkeep(UpkeepVerb::ResumeSync(targets))
        }
        Maintenance::Udev { minor } => {
            let targets = vec![volume_target(general, minor)?];
            let node = Some(node_name(general)?);
            AdmVerb::Query(QueryVerb::ShUdev(QueryTargets { node, targets }))
        }
        Maintenance::DelMinor { minor } => {
            AdmVerb::Build(BuildVerb::DelMinor(whole(volume_target(general, minor)?)))
        }
        Maintenance::DelPeer { peer, force } => AdmVerb::Build(BuildVerb::DelPeer(Forcible {
            force,
            targets: vec![peer_target(general, &peer)?],
        })),
        Maintenance::ForgetPeer(peer) => {
            // One that is gone has no name any more.
            let target = peer_target(general, &peer)
                .unwrap_or_else(|_| format!("{}:{}", peer.resource, peer.id));
            AdmVerb::Upkeep(UpkeepVerb::ForgetPeer(whole(target)))
        }
        Maintenance::DelResource { resource } => {
            AdmVerb::Down(Forcible { force: false, targets: vec![resource] })
        }
        Maintenance::RenameResource { resource, name } => {
            return Err(AdmError::configuration(
                format!("the name {resource} stands in the metadata of every replica"),
                format!("a new resource {name}, and the data copied into it"),
            ));
        }
    })
}

fn waiting_for_volume(wish: Wish, volume: Volume, times: adm_arguments::WaitTimes) -> Plan {
    waiting(wish, volume.peer.resource, Some(volume.peer.id), Some(volume.volume), times)
}

fn waiting(
    wish: Wish,
    resource: String,
    peer: Option<u8>,
    volume: Option<u16>,
    times: adm_arguments::WaitTimes,
) -> Plan {
    Plan::Wait(Wanted { wish, resource, peer: peer.map(PeerName::Id), volume }, times)
}

/// `RES:PEER` of a resource and the node id of a peer.
fn peer_target(general: &General, peer: &arguments::Peer) -> Result<String, AdmError> {
    let reply = status(general, vec![peer.resource.clone()], Statistics::Hidden)?;
    let mut connections = reply.resources.iter().flat_map(|resource| &resource.connections);
    let found = connections.find(|connection| connection.peer_node_id == peer.id);
    match found {
        Some(connection) => Ok(format!("{}:{}", peer.resource, connection.name)),
        None => Err(AdmError::configuration(
            format!("{} has no peer with the node id {}", peer.resource, peer.id),
            format!("basalt setup status {} --verbose", peer.resource),
        )),
    }
}

/// `RES/VOL` of a minor.
fn volume_target(general: &General, minor: u32) -> Result<String, AdmError> {
    let reply = status(general, Vec::new(), Statistics::Hidden)?;
    for resource in &reply.resources {
        if let Some(device) = resource.devices.iter().find(|device| device.minor == minor) {
            return Ok(format!("{}/{}", resource.name, device.volume));
        }
    }
    Err(AdmError::configuration(
        format!("no volume has the minor {minor}"),
        "basalt setup status --verbose",
    ))
}
