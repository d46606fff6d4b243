//! `up`, `new-resource` and `adjust`: the daemon is given the text of the configuration file.
//!
//! The text of each resource is its canonical one: what is read here needs no other file. The
//! daemon compares it with what it runs (node/control/up.rs, node/control/adjust.rs).
//! `up --dry-run` tells the steps of an `up` from nothing, without the daemon.

use api::request::{AdjustScope, Command};
use config::host_name::is_same_host;
use config::model::Resource;
use config::steps::steps;

use crate::adm::arguments::{Adjust, Up};
use crate::adm::configuration::{Configuration, NodeName, not_a_host, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, Targets};
use crate::adm::outcome::{Gathering, Steps};
use crate::adm::question::{node_name, tell};
use crate::adm::target::{One, Scope, parse_targets};

pub(crate) fn up(general: &General, up: &Up, gathering: &mut Gathering) -> Result<(), AdmError> {
    if general.dry_run {
        return tell_steps_up(general, up, gathering);
    }
    parse_targets(&up.targets, Scope::Resource)?;
    if let Some(typed) = &up.node {
        see_it_is_the_daemon(general, typed)?;
    }
    configure(general, &up.targets, Steps::Hidden, gathering, |one, config_text| Command::Up {
        resource: one.resource,
        config_text,
        fresh: false,
    })
}

pub(crate) fn new_resource(
    general: &General,
    targets: &Targets,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = &targets.targets;
    parse_targets(targets, Scope::Resource)?;
    configure(general, targets, Steps::Hidden, gathering, |one, config_text| Command::NewResource {
        resource: one.resource,
        config_text,
    })
}

pub(crate) fn adjust(
    general: &General,
    adjust: &Adjust,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    if adjust.discard_my_data {
        let hint = "`adjust --skip-net`, then `connect --discard-my-data`";
        return Err(AdmError::configuration("`adjust` gives up no data", hint));
    }
    let dry_run = general.dry_run;
    let is_told = dry_run || general.verbose > 0;
    let steps = if is_told { Steps::Shown } else { Steps::Hidden };
    let &Adjust { skip_disk, skip_net, .. } = adjust;
    configure(general, &adjust.targets, steps, gathering, |one, config_text| {
        let scope = AdjustScope { skip_disk, skip_net, peer: one.peer };
        Command::Adjust { resource: one.resource, config_text, dry_run, scope }
    })
}

/// The daemon takes the part of the host that it is called by, whatever is typed.
fn see_it_is_the_daemon(general: &General, typed: &str) -> Result<(), AdmError> {
    let own = node_name(general)?;
    if is_same_host(typed, &own) {
        return Ok(());
    }
    let message = format!("the daemon that is asked is `{own}`, and not `{typed}`");
    let hint = format!("without --node, or with --node-socket and the socket of `{typed}`");
    Err(AdmError::configuration(message, hint))
}

/// Gives the daemon a command for each resource, with the text of it.
fn configure(
    general: &General,
    targets: &[String],
    steps: Steps,
    gathering: &mut Gathering,
    command: impl Fn(One, String) -> Command,
) -> Result<(), AdmError> {
    let targets = parse_targets(targets, Scope::PeerDevice)?;
    let configuration = Configuration::load_aloud(general, gathering)?;
    for one in
        configuration.select(&targets, || node_name(general).map(NodeName::Known), gathering)?
    {
        let resource = one.resource.clone();
        let result = configuration.resource(&resource).and_then(|configured| {
            see_it_has_volume(configured, one.volume)?;
            tell(general, command(one, configured.to_res_text()))
        });
        match result {
            Ok((changes, warnings)) => gathering.stepped(&resource, steps, changes, warnings),
            Err(error) => gathering.failed(&resource, &error),
        }
    }
    Ok(())
}

/// A volume that is named stands for its resource, and has to be one of that.
fn see_it_has_volume(resource: &Resource, named: Option<u16>) -> Result<(), AdmError> {
    let numbers = resource.volume_numbers();
    let Some(number) = named.filter(|number| !numbers.contains(number)) else { return Ok(()) };
    let message = format!("the resource has no volume {number} in its configuration");
    Err(AdmError::configuration(message, format!("basalt adm adjust {}", resource.name)))
}

/// The steps of an `up` from nothing. The daemon is not asked.
fn tell_steps_up(general: &General, up: &Up, gathering: &mut Gathering) -> Result<(), AdmError> {
    let targets = parse_targets(&up.targets, Scope::Resource)?;
    let configuration = Configuration::load(general)?;
    let node = NodeName::or_host(up.node.as_deref())?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let told = configuration.resource(&one.resource).and_then(|resource| {
            let host = own_host(resource, &node)?.ok_or_else(|| not_a_host(resource, &node))?;
            Ok(steps(None, resource, &host.name))
        });
        match told {
            Ok(steps) => {
                let changes = steps.into_iter().map(|step| step.text).collect();
                gathering.stepped(&one.resource, Steps::Shown, changes, Vec::new());
            }
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}
