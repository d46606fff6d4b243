//! Questions to the configuration file alone, for scripts: `dump-xml` and the `sh-` verbs.
//!
//! Each answers in plain lines as drbdadm does: one for each volume, or for each connection. The
//! daemon is not asked; what a resource does is another matter.

use config::model::{Host, MetaDisk, Resource, Volume};

use crate::adm::arguments::{Dump, QueryTargets, QueryVerb};
use crate::adm::configuration::{Configuration, NodeName, not_a_host, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::target::{One, Scope, Target, parse_targets};

const MINORS_MAX: u32 = 32;

/// The lines for a resource, its own host, and the volume that is named.
type Lines = fn(&Of<'_>, Option<u16>) -> Result<Vec<String>, AdmError>;

/// What a question is about.
struct Of<'a> {
    resource: &'a Resource,
    host: &'a Host,
    /// The number of its volume is left out of the names for udev.
    without_number: bool,
}

pub(crate) fn answer(
    general: &General,
    verb: &QueryVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let lines: Lines = match verb {
        QueryVerb::DumpXml(dump) => return dump_xml(general, dump, gathering),
        QueryVerb::ShNop => return Configuration::load(general).map(drop),
        QueryVerb::ShModParms => {
            gathering.line(&format!("minor_count={MINORS_MAX}"));
            return Ok(());
        }
        QueryVerb::ShResources(named) => {
            return resources(general, named.node.as_deref(), gathering);
        }
        QueryVerb::ShListAdjustable(named) => {
            return resources(general, named.node.as_deref(), gathering);
        }
        QueryVerb::ShListConfigFile => {
            let configuration = Configuration::load(general)?;
            gathering.line(&configuration.path().display().to_string());
            return Ok(());
        }
        QueryVerb::ShLrOf(_) => {
            return Err(AdmError::Usage("there are no stacked resources here".to_owned()));
        }
        QueryVerb::ShResource(_) => |of, _| Ok(vec![of.resource.name.clone()]),
        QueryVerb::ShDev(_) => |of, number| of_volumes(of.host, number, device_path),
        QueryVerb::ShMinor(_) => |of, number| {
            of_volumes(of.host, number, |volume| {
                volume.device.as_ref().map(|device| device.minor.to_string())
            })
        },
        QueryVerb::ShLlDev(_) => |of, number| {
            of_volumes(of.host, number, |volume| {
                Some(volume.disk.as_ref().map_or("none", |disk| &disk.path).to_owned())
            })
        },
        QueryVerb::ShMdDev(_) => |of, number| of_volumes(of.host, number, meta_path),
        QueryVerb::ShMdIdx(_) => |of, number| of_volumes(of.host, number, meta_index),
        QueryVerb::ShIp(_) => own_addresses,
        QueryVerb::ShPeers(_) => |of, _| {
            let peers = of.resource.peers_of(&of.host.name);
            Ok(peers.into_iter().map(|peer| peer.name).collect())
        },
        QueryVerb::ShUdev(_) => names_by_drbdadm,
        QueryVerb::Udev(_) => names_by_drbdsetup,
        QueryVerb::ShEffective(_) => |of, _| Ok(of.resource.effective_lines(&of.host.name)),
    };
    of_targets(general, verb.targets(), gathering, lines)
}

fn of_targets(
    general: &General,
    query: Option<&QueryTargets>,
    gathering: &mut Gathering,
    lines: Lines,
) -> Result<(), AdmError> {
    let Some(query) = query else { return Ok(()) };
    let targets = parse_targets(&query.targets, Scope::Volume)?;
    let configuration = Configuration::load(general)?;
    let node = NodeName::or_host(query.node.as_deref())?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let One { resource, volume, .. } = &one;
        let told = configuration.resource(resource).and_then(|resource| {
            let host = own_host(resource, &node)?.ok_or_else(|| not_a_host(resource, &node))?;
            let without_number = configuration.is_without_number(&resource.name);
            lines(&Of { resource, host, without_number }, *volume)
        });
        match told {
            Ok(lines) => lines.iter().for_each(|line| gathering.line(line)),
            Err(error) => gathering.failed(resource, &error),
        }
    }
    Ok(())
}

fn resources(
    general: &General,
    node: Option<&str>,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let configuration = Configuration::load(general)?;
    let node = NodeName::or_host(node)?;
    for one in configuration.select(&[Target::All], || Ok(node.clone()), gathering)? {
        gathering.line(&one.resource);
    }
    Ok(())
}

fn dump_xml(general: &General, dump: &Dump, gathering: &mut Gathering) -> Result<(), AdmError> {
    let targets = parse_targets(&dump.targets, Scope::Resource)?;
    let configuration = Configuration::load(general)?;
    if dump.strict {
        configuration.check_strictly()?;
    }
    let resources = configuration.dumped(&targets)?;
    let path = configuration.path().display().to_string();
    let xml = config::xml::to_xml(&path, &resources);
    let answer = Answer::Lines { lines: xml.lines().map(str::to_owned).collect() };
    gathering.answer(&xml, answer);
    Ok(())
}

/// One line for each volume, or for the one that is named.
fn of_volumes<T>(
    host: &Host,
    number: Option<u16>,
    line: impl Fn(&Volume) -> Option<T>,
) -> Result<Vec<T>, AdmError> {
    let volumes = host.volumes.iter();
    let wanted: Vec<_> =
        volumes.filter(|volume| number.is_none_or(|number| volume.number == number)).collect();
    match number {
        Some(number) if wanted.is_empty() => Err(AdmError::configuration(
            format!("the resource has no volume {number}"),
            "basalt adm dump",
        )),
        Some(_) | None => Ok(wanted.into_iter().filter_map(line).collect()),
    }
}

fn device_path(volume: &Volume) -> Option<String> {
    let device = volume.device.as_ref()?;
    Some(device.path.clone().unwrap_or_else(|| format!("/dev/drbd{}", device.minor)))
}

fn meta_path(volume: &Volume) -> Option<String> {
    let disk = volume.disk.as_ref()?;
    Some(match &disk.meta_disk {
        MetaDisk::Internal => disk.path.clone(),
        MetaDisk::External { path, .. } => path.clone(),
    })
}

fn meta_index(volume: &Volume) -> Option<String> {
    let disk = volume.disk.as_ref()?;
    Some(match &disk.meta_disk {
        MetaDisk::Internal => "internal".to_owned(),
        MetaDisk::External { index: None, .. } => "flexible".to_owned(),
        MetaDisk::External { index: Some(index), .. } => index.to_string(),
    })
}

/// The own address, once for each path of each volume.
fn own_addresses(of: &Of<'_>, number: Option<u16>) -> Result<Vec<String>, AdmError> {
    let Of { resource, host, .. } = *of;
    let peers = resource.peers_of(&host.name);
    let paths = peers.iter().flat_map(|peer| &peer.paths);
    let addresses: Vec<String> = paths.map(|(own, _)| own.ip().to_string()).collect();
    let volumes = of_volumes(host, number, |_| Some(String::new()))?;
    Ok(volumes.iter().flat_map(|_| addresses.clone()).collect())
}

/// The names that udev is to give to the device of a volume. A volume without a section of its own
/// has the name of its resource; any other one has a number, and is asked for by it.
fn names_by_drbdadm(of: &Of<'_>, number: Option<u16>) -> Result<Vec<String>, AdmError> {
    let Of { resource, host, without_number } = *of;
    if number.is_none() && !(without_number || host.volumes.len() == 1) {
        return Err(AdmError::Usage(format!(
            "sh-udev requires a specific volume id, but none is specified: name {}/VOLUME",
            resource.name
        )));
    }
    let by_resource = |volume: &Volume| {
        let number = format!("/{}", volume.number);
        format!(
            "drbd/by-res/{}{}",
            resource.name,
            if without_number { "" } else { number.as_str() }
        )
    };
    let lines = of_volumes(host, number, |volume| {
        let minor = volume.device.as_ref()?.minor;
        let path = device_path(volume).filter(|path| path.starts_with("/dev/drbd"));
        let device = path.map_or_else(|| format!("drbd{minor}"), |path| path[5..].to_owned());
        let by_resource = by_resource(volume);
        let names = [("DEVICE", device), ("SYMLINK", by_resource.clone())];
        Some(names.into_iter().chain([("SYMLINK_BY_RES", by_resource)]).chain(by_disk(volume)))
    })?;
    Ok(lines.into_iter().flatten().map(|(key, name)| format!("{key}={name}")).collect())
}

/// The same as drbdsetup has them, which knows of numbers alone.
fn names_by_drbdsetup(of: &Of<'_>, number: Option<u16>) -> Result<Vec<String>, AdmError> {
    let lines = of_volumes(of.host, number, |volume| {
        let device = format!("drbd{}", volume.device.as_ref()?.minor);
        let by_resource = format!("drbd/by-res/{}/{}", of.resource.name, volume.number);
        let names = [("DEVICE", device), ("SYMLINK_BY_RES", by_resource)];
        Some(names.into_iter().chain(by_disk(volume)))
    })?;
    Ok(lines.into_iter().flatten().map(|(key, name)| format!("{key}={name}")).collect())
}

fn by_disk(volume: &Volume) -> Option<(&'static str, String)> {
    let path = &volume.disk.as_ref()?.path;
    let below = path.strip_prefix("/dev/").unwrap_or(path);
    Some(("SYMLINK_BY_DISK", format!("drbd/by-disk/{below}")))
}
