//! `create-md`: from the configuration to the disks of this node.

use std::path::PathBuf;

use config::model::{Host, MetaDisk, Resource, Volume};
use node::create_md::{
    CreateMdOptions, CreateMdReport, FirstDisk, Overwrite, create_md as format_disk, former_size,
};

use crate::adm::arguments::{CreateMd, General};
use crate::adm::configuration::{Configuration, host_name, own_host, own_volume};
use crate::adm::failure::AdmError;
use crate::adm::outcome::Gathering;
use crate::adm::target::{One, Scope, parse_targets};

pub(crate) fn create_md(
    general: &General,
    options: &CreateMd,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(&options.targets, Scope::Volume)?;
    if options.drbd.initial_current_uuid.is_some() {
        return Err(AdmError::configuration(
            "a generation is what a majority of the voters chose; it is not given to one disk",
            "create-md without it, and where the replicas are known to be equal, once all are up: \
             new-current-uuid --clear-bitmap",
        ));
    }
    let configuration = Configuration::load_aloud(general, gathering)?;
    let node_name = match &options.node {
        Some(name) => name.clone(),
        None => host_name()?,
    };
    for one in configuration.select(&targets, || Ok(node_name.clone()), gathering)? {
        let result = configuration
            .resource(&one.resource)
            .and_then(|resource| create_all(resource, &one, &node_name, options));
        match result {
            Ok(reports) => {
                let sentences = reports.iter().map(sentence).collect();
                gathering.done(&one.resource, sentences, options.drbd.without_effect());
            }
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

/// What the configuration says of a volume at this node.
pub(crate) struct Own<'a> {
    pub(crate) host: &'a Host,
    pub(crate) volume: &'a Volume,
    pub(crate) disk: PathBuf,
    /// `None`: at the end of the disk itself.
    pub(crate) metadata_disk: Option<PathBuf>,
}

pub(crate) fn own_disk<'a>(
    resource: &'a Resource,
    one: &One,
    node_name: &str,
) -> Result<Own<'a>, AdmError> {
    let host = own_host(resource, node_name)?.ok_or_else(|| {
        let names: Vec<&str> = resource.hosts.iter().map(|host| host.name.as_str()).collect();
        AdmError::configuration(
            format!("this node, `{node_name}`, is not a host of it"),
            format!("--node with one of its hosts: {}", names.join(", ")),
        )
    })?;
    let volume = own_volume(resource, host, one.volume)?;
    let disk = volume.disk.as_ref().ok_or_else(|| {
        AdmError::configuration(
            format!("host `{}` has no disk for volume {}", host.name, volume.number),
            "nothing: a client keeps no metadata",
        )
    })?;
    let metadata_disk = match &disk.meta_disk {
        MetaDisk::Internal => None,
        MetaDisk::External { path, index: None } => Some(path.into()),
        MetaDisk::External { path, index: Some(index) } => {
            return Err(AdmError::configuration(
                format!("slot {index} of a shared metadata disk, {path}, is not supported"),
                "`meta-disk internal;`, or a metadata disk of its own without an index",
            ));
        }
    };
    Ok(Own { host, volume, disk: disk.path.clone().into(), metadata_disk })
}

/// The named volume, or one after the other: the first is what the others belong to.
fn create_all(
    resource: &Resource,
    one: &One,
    node_name: &str,
    options: &CreateMd,
) -> Result<Vec<CreateMdReport>, AdmError> {
    let each = each_volume(resource, one);
    each.iter().map(|one| create_one(resource, one, node_name, options)).collect()
}

/// The volume that is named, or all, by their numbers.
pub(crate) fn each_volume(resource: &Resource, one: &One) -> Vec<One> {
    let mut numbers = one.volume.map_or_else(|| resource.volume_numbers(), |number| vec![number]);
    numbers.sort_unstable();
    numbers.into_iter().map(|number| One { volume: Some(number), ..one.clone() }).collect()
}

/// `None` of the first volume, which is the only one where it has another number than 0.
pub(crate) fn further_number(resource: &Resource, number: u16) -> Option<u16> {
    (resource.volume_numbers().len() > 1 && number > 0).then_some(number)
}

fn create_one(
    resource: &Resource,
    one: &One,
    node_name: &str,
    options: &CreateMd,
) -> Result<CreateMdReport, AdmError> {
    let Own { host, volume, disk, metadata_disk } = own_disk(resource, one, node_name)?;
    let further = further_number(resource, volume.number);
    let first = match further {
        Some(_) => {
            let own = own_disk(resource, &One { volume: Some(0), ..one.clone() }, node_name)?;
            Some(FirstDisk { disk: own.disk, metadata_disk: own.metadata_disk })
        }
        None => None,
    };
    // Who has no disk misses nothing.
    let replicas = resource
        .hosts
        .iter()
        .filter(|host| host.volume(volume.number).is_some_and(|volume| !volume.is_diskless()));
    Ok(format_disk(&CreateMdOptions {
        disk,
        metadata_disk,
        resource_name: resource.name.clone(),
        volume: volume.number,
        first,
        node_id: host.node_id,
        member_ids: replicas.map(|host| host.node_id).collect(),
        size_bytes: resource.disk_options(&host.name, volume.number).size_bytes,
        peers_max: options.max_peers,
        former_bytes: former_size(&options.state_dir, &resource.name, further),
        overwrite: if options.force { Overwrite::Force } else { Overwrite::Refuse },
    })?)
}

fn sentence(report: &CreateMdReport) -> String {
    let over = match &report.overwritten {
        Some(what) => format!(" over {what}"),
        None => String::new(),
    };
    format!(
        "wrote metadata{over} on {}: {} KiB for data, {} KiB for metadata of {} members",
        report.disk.display(),
        report.data_bytes / 1024,
        report.metadata_bytes / 1024,
        report.slots,
    )
}
