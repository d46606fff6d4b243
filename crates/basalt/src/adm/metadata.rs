//! `create-md`: from the configuration to the disks of this node.

use std::path::PathBuf;

use clap::Args;
use config::model::{Host, MetaDisk, Resource, Volume};
use config::number::number;
use node::create_md::{
    CreateMdOptions, CreateMdReport, FirstDisk, Overwrite, create_md as format_disk, former_size,
};

use crate::adm::configuration::{Configuration, NodeName, not_a_host, own_host, own_volume};
use crate::adm::failure::AdmError;
use crate::adm::general::{General, STATE_DIR};
use crate::adm::outcome::Gathering;
use crate::adm::target::{One, Scope, parse_targets};

#[derive(Debug, Args)]
pub(crate) struct CreateMd {
    /// Overwrite what is on the disk: a file system, or metadata
    #[arg(long)]
    pub(crate) force: bool,
    /// Leave room for so many peers [default: 7, or as many as are configured if that is more]
    #[arg(long, value_name = "N", value_parser = number::<u8>(1, 31, "peers"))]
    pub(crate) max_peers: Option<u8>,
    #[command(flatten)]
    pub(crate) drbd: DrbdLayout,
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// State directory of the daemon: it notes the size that a disk had
    #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
    pub(crate) state_dir: PathBuf,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

/// Options by which people tell drbdmeta how metadata lie; Basalt lays them out in one way.
#[derive(Debug, Args)]
pub(crate) struct DrbdLayout {
    /// Changes nothing: a bit is a block of 4 KiB
    #[arg(long, hide = true, value_name = "BYTES")]
    bitmap_block_size: Option<String>,
    #[command(flatten)]
    log: DrbdLog,
    /// Refused: a generation is what a majority of the voters chose
    #[arg(long, hide = true, value_name = "GENERATION")]
    pub(crate) initial_current_uuid: Option<String>,
}

/// How DRBD's activity log lies on the disk.
#[derive(Debug, Default, Args)]
pub(crate) struct DrbdLog {
    /// Changes nothing: the activity log is not striped
    #[arg(long, hide = true, value_name = "N",
        value_parser = number::<u32>(1, u32::MAX.into(), "stripes"))]
    al_stripes: Option<u32>,
    /// Changes nothing: the activity log is not striped
    #[arg(long, alias = "al-stripe-size-kB", hide = true, value_name = "KIB")]
    al_stripe_size: Option<String>,
}

impl DrbdLayout {
    /// A sentence for each option that the operator gave and that changes nothing.
    pub(crate) fn without_effect(&self) -> Vec<String> {
        let reason = "`--bitmap-block-size` changes nothing: a bit is a block of 4 KiB";
        let of_bitmap = self.bitmap_block_size.iter().map(|_| reason.to_owned());
        of_bitmap.chain(self.log.without_effect()).collect()
    }
}

impl DrbdLog {
    pub(crate) fn without_effect(&self) -> Vec<String> {
        let given = [
            ("--al-stripes", self.al_stripes.is_some()),
            ("--al-stripe-size", self.al_stripe_size.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        let text = |name| format!("`{name}` changes nothing: the activity log is not striped");
        given.map(|(name, _)| text(name)).collect()
    }
}

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
    let node = NodeName::or_host(options.node.as_deref())?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let result = configuration
            .resource(&one.resource)
            .and_then(|resource| create_all(resource, &one, &node, options));
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
    node: &NodeName,
) -> Result<Own<'a>, AdmError> {
    let host = own_host(resource, node)?.ok_or_else(|| not_a_host(resource, node))?;
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
    node: &NodeName,
    options: &CreateMd,
) -> Result<Vec<CreateMdReport>, AdmError> {
    let each = each_volume(resource, one);
    each.iter().map(|one| create_one(resource, one, node, options)).collect()
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
    node: &NodeName,
    options: &CreateMd,
) -> Result<CreateMdReport, AdmError> {
    let Own { host, volume, disk, metadata_disk } = own_disk(resource, one, node)?;
    let further = further_number(resource, volume.number);
    let first = match further {
        Some(_) => {
            let own = own_disk(resource, &One { volume: Some(0), ..one.clone() }, node)?;
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
