//! `basalt setup`: the part of drbdsetup that scripts use.
//!
//! Where drbdsetup names a volume by its minor and a peer by its node id, the daemon is asked for
//! the names, and the verb of `basalt adm` is done with them; and for its configuration, where that
//! is asked for. What only a kernel module has (new minors, peers and paths one by one) is done by
//! `up` and `adjust` here: such steps are compared with what is there.

mod arguments;
mod show;
mod steps;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;

use self::arguments::{CommandLine, Maintenance, Verb, Volume};
use crate::adm::arguments::{self as adm_arguments, QueryTargets, QueryVerb};
use crate::adm::building::BuildVerb;
use crate::adm::failure::AdmError;
use crate::adm::general::{Forcible, General, STATE_DIR, Source, Targets};
use crate::adm::getopt::{self, Line, in_order, read};
use crate::adm::outcome::{Form, Gathering};
use crate::adm::question::{node_name, status};
use crate::adm::status_text::Statistics;
use crate::adm::superblocks::{OwnDisks, SuperblockVerb};
use crate::adm::target::sole_name;
use crate::adm::typed_options;
use crate::adm::upkeep::{InvalidateRemote, OptionTargets, UpkeepVerb};
use crate::adm::waiting::{PeerName, Wanted, Wish, wait};
use crate::adm::{parse, print, run_verb};
use crate::called::{self, Name};

type AdmVerb = adm_arguments::Verb;

/// The definition of the command line.
pub(crate) fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `basalt setup` with the words that follow `setup`.
pub(crate) fn main(name: Name, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    called::set(name);
    let typed = std::iter::once(OsString::from(called::program())).chain(arguments);
    let definition = getopt::definition(command());
    let Line { mut words, of_drbd } = in_order(typed.collect(), &definition);
    if !of_drbd.is_empty() {
        // Behind this they are words of the verb.
        words.push("--".into());
        words.extend(of_drbd);
    }
    let parsed = parse(read::<CommandLine>(&definition, &words), &words);
    let (typed, command_line) = match parsed {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let general = General { source: Source::Daemon, ..command_line.general };
    match plan(&general, command_line.verb) {
        Ok(Plan::Verb(verb)) => run_verb(&adm_arguments::CommandLine::of(general, verb)),
        Ok(Plan::Show(show)) => {
            let sole = sole_name(&show.resources);
            gathered(&general, typed, sole, |gathering| show::show(&general, &show, gathering))
        }
        Ok(Plan::Wait(wanted, times)) => {
            let resource = wanted.resource.clone();
            gathered(&general, typed, Some(&resource), |_| wait(&general, &wanted, &times))
        }
        Ok(Plan::Options(targets, typed_options)) => {
            let sole = sole_name(&targets.targets).map(str::to_owned);
            gathered(&general, typed, sole.as_deref(), |gathering| {
                typed_options::take(&general, &targets, &typed_options, gathering)
            })
        }
        Ok(Plan::Nothing) => gathered(&general, typed, None, |_| Ok(())),
        Err(error) => gathered(&general, typed, None, |_| Err(error)),
    }
}

/// What a verb of drbdsetup comes to.
enum Plan {
    Verb(AdmVerb),
    Show(arguments::Show),
    Wait(Wanted, adm_arguments::WaitTimes),
    /// Options of a resource, as they were typed.
    Options(OptionTargets, Vec<OsString>),
    /// It is so already.
    Nothing,
}

fn gathered(
    general: &General,
    verb: String,
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
    print(&gathering.finish())
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
        Verb::Connect { peer, discard_my_data, tentative } => {
            let targets = vec![peer_target(general, &peer)?];
            AdmVerb::Connect(adm_arguments::Connect { discard_my_data, tentative, targets })
        }
        Verb::Disconnect { peer, force } => {
            AdmVerb::Disconnect(forcible(force, peer_target(general, &peer)?))
        }
        Verb::Detach { minor, force, diskless } => {
            let targets = vec![volume_target(general, minor)?];
            AdmVerb::Detach(adm_arguments::Detach { force, diskless, targets })
        }
        Verb::Resize { minor, size, assume_clean, assume_peer_has_space, log } => {
            let targets = vec![volume_target(general, minor)?];
            let resize =
                adm_arguments::Resize { size, assume_clean, assume_peer_has_space, log, targets };
            AdmVerb::Resize(resize)
        }
        Verb::Invalidate { minor, reset_bitmap, sync_from_peer_node_id } => {
            let targets = vec![volume_target(general, minor)?];
            let invalidate =
                adm_arguments::Invalidate { reset_bitmap, sync_from_peer_node_id, targets };
            AdmVerb::Invalidate(invalidate)
        }
        Verb::Maintenance(verb) => maintenance(general, verb)?,
        Verb::Step(step) => return steps::plan(general, step),
        Verb::SuspendIo { minor, bdev_freeze } => {
            let targets = vec![volume_target(general, minor)?];
            AdmVerb::SuspendIo(adm_arguments::SuspendIo { bdev_freeze, targets })
        }
        Verb::ResumeIo { minor } => AdmVerb::ResumeIo(whole(volume_target(general, minor)?)),
        Verb::NewCurrentUuid { minor, clear_bitmap, force_resync } => {
            let targets = vec![volume_target(general, minor)?];
            let start = adm_arguments::NewCurrentUuid { clear_bitmap, force_resync, targets };
            AdmVerb::NewCurrentUuid(start)
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
        Maintenance::InvalidateRemote { of, reset_bitmap } => {
            let targets = vec![peer_target(general, &of.peer)?];
            let options = InvalidateRemote { reset_bitmap, targets };
            AdmVerb::Upkeep(UpkeepVerb::InvalidateRemote(options))
        }
        Maintenance::Outdate { minor } => {
            AdmVerb::Build(BuildVerb::Outdate(whole(volume_target(general, minor)?)))
        }
        Maintenance::Verify { of: Volume { peer, volume }, start, stop } => {
            let targets = vec![format!("{}/{volume}", peer.resource)];
            AdmVerb::Verify(adm_arguments::Verify { start, stop, repair: false, targets })
        }
        Maintenance::GetGi(volume) => {
            AdmVerb::Superblock(SuperblockVerb::GetGi(own_disks(general, &volume)?))
        }
        Maintenance::ShowGi(volume) => {
            AdmVerb::Superblock(SuperblockVerb::ShowGi(own_disks(general, &volume)?))
        }
        Maintenance::CheckResize { minor } => {
            AdmVerb::Build(BuildVerb::CheckResize(whole(volume_target(general, minor)?)))
        }
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
            AdmVerb::Query(QueryVerb::Udev(QueryTargets { node, targets }))
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

/// The metadata of this node's disk, for a peer.
fn own_disks(general: &General, volume: &Volume) -> Result<OwnDisks, AdmError> {
    let target = peer_target(general, &volume.peer)?;
    let node = Some(node_name(general)?);
    Ok(OwnDisks {
        node,
        state_dir: STATE_DIR.into(),
        targets: vec![format!("{target}/{}", volume.volume)],
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
