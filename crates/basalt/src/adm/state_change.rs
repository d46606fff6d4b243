//! Verbs that change the state of resources which run: one command to the daemon for each resource.

use api::request::Command;

use crate::adm::arguments::{Connect, Detach, Invalidate, NewCurrentUuid, Resize, Verb, Verify};
use crate::adm::configuration::Configuration;
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Source};
use crate::adm::outcome::Gathering;
use crate::adm::patience::ask_aloud;
use crate::adm::question::{check_names, done, running, tell};
use crate::adm::target::{One, Scope, parse_targets};

pub(crate) fn change_state(
    general: &General,
    verb: &Verb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    check_options(verb)?;
    let (targets, scope) = verb.targets_and_scope();
    for one in running(general, &parse_targets(targets, scope)?)? {
        let resource = one.resource.clone();
        let (volume, peer) = (one.volume, one.peer.clone());
        // The daemon knows the peers of a connection itself.
        let is_of_peer = scope == Scope::PeerDevice;
        let named = if is_of_peer { one.clone() } else { One { peer: None, ..one.clone() } };
        let mut reasons = Vec::new();
        let result = check_names(general, &named).and_then(|volumes| {
            let command = state_command(verb, one).expect("only such verbs are passed to here");
            if let Command::Primary { .. } = command {
                let waited = ask_aloud(general, &resource, command);
                reasons = waited.reasons;
                return Ok((done(verb.name(), waited.answer?)?, volumes));
            }
            Ok((tell(general, command)?, volumes))
        });
        match result {
            Ok(((changes, mut warnings), volumes)) => {
                if let Some(peer) = peer.filter(|_| is_of_peer) {
                    let verb = verb.name();
                    warnings.push(format!("`{verb}` chooses its peers itself: not {peer} alone"));
                }
                if let Verb::Resize(options) = verb {
                    warnings.extend(options.log.without_effect());
                }
                let is_of_one = matches!(verb, Verb::Verify(_));
                if let Some(number) = volume.filter(|_| volumes > 1 && !is_of_one) {
                    warnings.push(format!(
                        "volume {number} is one of {volumes}, which share their replica: `{}` was \
                         of all of them",
                        verb.name()
                    ));
                }
                gathering.done(&resource, changes, warnings);
            }
            Err(error) if is_down_already(verb, &error) => {
                let text = "it is not up on this node: there is nothing to take down";
                match see_it_is_configured(general, &resource) {
                    Ok(()) => gathering.done(&resource, Vec::new(), vec![text.to_owned()]),
                    Err(error) => gathering.failed(&resource, &error),
                }
            }
            Err(error) => gathering.failed_for(&resource, &error, &reasons),
        }
    }
    Ok(())
}

/// The command of a verb that changes the state of one running resource.
fn state_command(verb: &Verb, one: One) -> Option<Command> {
    let One { resource, peer, volume } = one;
    match verb {
        Verb::Down(options) => Some(Command::Down { resource, force: options.force }),
        Verb::Attach(_) => Some(Command::Attach { resource }),
        Verb::Detach(options) => Some(Command::Detach { resource, force: options.force }),
        Verb::Connect(options) => {
            let discard_my_data = options.discard_my_data;
            Some(Command::Connect { resource, peer, discard_my_data })
        }
        Verb::Disconnect(options) => {
            Some(Command::Disconnect { resource, peer, force: options.force })
        }
        Verb::Primary(options) => Some(Command::Primary { resource, force: options.force }),
        Verb::NewCurrentUuid(_) => Some(Command::NewCurrentUuid { resource }),
        Verb::Secondary(options) => Some(Command::Secondary { resource, force: options.force }),
        Verb::Invalidate(_) => Some(Command::Invalidate { resource }),
        Verb::SuspendIo(_) => Some(Command::SuspendIo { resource }),
        Verb::ResumeIo(_) => Some(Command::ResumeIo { resource }),
        Verb::Reopen(_) => Some(Command::Reopen { resource }),
        Verb::Forget(_) => Some(Command::Forget { resource }),
        &Verb::Verify(Verify { start, stop, repair, .. }) => {
            Some(Command::Verify { resource, volume, start, stop, repair })
        }
        &Verb::Resize(Resize { size, assume_clean, .. }) => {
            Some(Command::Resize { resource, volume, size, assume_clean })
        }
        Verb::CreateMd(_)
        | Verb::AdoptDrbd(_)
        | Verb::Adopt(_)
        | Verb::Up(_)
        | Verb::Adjust(_)
        | Verb::Status(_)
        | Verb::Events2(_)
        | Verb::Explain(_)
        | Verb::Report(_)
        | Verb::Role(_)
        | Verb::Cstate(_)
        | Verb::Dstate(_)
        | Verb::WaitConnect(_)
        | Verb::WaitConInt(_)
        | Verb::WaitSync(_)
        | Verb::Query(_)
        | Verb::Build(_)
        | Verb::Upkeep(_)
        | Verb::Superblock(_)
        | Verb::Handler(_)
        | Verb::Dump(_) => None,
    }
}

/// Options of DRBD's that ask for what there is not.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other verbs have no such options")]
fn check_options(verb: &Verb) -> Result<(), AdmError> {
    let (message, hint) = match verb {
        Verb::Connect(Connect { tentative: true, .. }) => (
            "a connection for a try would not last",
            "`primary --force --dry-run` tells who has what",
        ),
        Verb::Detach(Detach { diskless: true, .. }) => (
            "a node is a client for good only where the configuration says so",
            "`disk none` on this host, then `adjust`; `detach` alone until the next `attach`",
        ),
        Verb::Invalidate(Invalidate { reset_bitmap: false, .. }) => (
            "without a copy a replica that is not trusted would stay as it is",
            "`verify --repair` copies only what differs",
        ),
        Verb::NewCurrentUuid(NewCurrentUuid { force_resync: true, .. }) => (
            "a generation does not say that everything is to be copied",
            "`primary --force` at the start, `invalidate` on the other nodes later",
        ),
        Verb::NewCurrentUuid(NewCurrentUuid { clear_bitmap: false, .. }) => {
            let text = "--clear-bitmap is required: a generation begins by itself otherwise";
            return Err(AdmError::Usage(text.to_owned()));
        }
        _ => return Ok(()),
    };
    Err(AdmError::configuration(message, hint))
}

/// As with DRBD it is no failure that a resource is down already.
fn is_down_already(verb: &Verb, error: &AdmError) -> bool {
    matches!(verb, Verb::Down(_)) && error.is_of_unknown_resource()
}

/// A name that the configuration does not know, where there is one, is a mistake.
fn see_it_is_configured(general: &General, resource: &str) -> Result<(), AdmError> {
    if general.source == Source::Daemon {
        return Ok(());
    }
    Configuration::load(general).map_or(Ok(()), |file| file.resource(resource).map(drop))
}
