//! `adopt-drbd`: replicas that come from DRBD, and what to do with them next.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use config::model::Resource;
use node::adopt::{
    AdoptError, AdoptOptions, AdoptReport, Adopted, DrbdPlace, Resolve, ReturnReport, Returned,
    adopt, give_back,
};
use serde_json::json;

use crate::adm::arguments::{AdoptDrbd, General};
use crate::adm::configuration::{Configuration, host_name};
use crate::adm::failure::AdmError;
use crate::adm::metadata::{Own, own_disk};
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::target::{One, Scope, parse_targets};

/// The bitmap of a large volume takes its time to read and to save.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);

pub(crate) fn adopt_drbd(
    general: &General,
    options: &AdoptDrbd,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(&options.targets, Scope::Volume)?;
    let configuration = Configuration::load(general.config_file.as_deref())?;
    for warning in configuration.warnings() {
        gathering.warn(&warning);
    }
    let node_name = options.node.clone().map_or_else(host_name, Ok)?;
    for one in configuration.select(&targets, || Ok(node_name.clone()), gathering)? {
        let result = configuration
            .resource(&one.resource)
            .and_then(|resource| adopt_one(general, resource, &one, &node_name, options));
        match result {
            Ok((text, answer)) => gathering.answer(&text, Answer::Json(answer)),
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

fn adopt_one(
    general: &General,
    resource: &Resource,
    one: &One,
    node_name: &str,
    options: &AdoptDrbd,
) -> Result<(String, serde_json::Value), AdmError> {
    if resource.volume_numbers().len() > 1 {
        return Err(AdmError::configuration(
            "its volumes would have to be taken over together, which is not built yet",
            "give each volume a resource of its own, and adopt these",
        ));
    }
    let Own { host, volume, disk, metadata_disk } = own_disk(resource, one, node_name)?;
    let has_disk = |number| {
        move |host: &&config::model::Host| {
            host.volume(number).is_some_and(|volume| !volume.is_diskless())
        }
    };
    let hosts = resource.hosts.iter();
    let wanted = AdoptOptions {
        disk,
        metadata_disk,
        drbd: drbd_place(options.drbd_meta_disk.as_deref())?,
        resource_name: resource.name.clone(),
        volume: volume.number,
        node_id: host.node_id,
        member_ids: hosts.clone().map(|host| host.node_id).collect(),
        replica_ids: hosts.filter(has_disk(volume.number)).map(|host| host.node_id).collect(),
        peers_max: options.max_peers,
        state_dir: options.state_dir.clone(),
        same_as: options.same_as,
    };
    let resolve = if general.dry_run { Resolve::Tell } else { Resolve::Do };
    let limit = general.timeout.unwrap_or(TIMEOUT_DEFAULT);
    let name = &resource.name;
    if options.rollback {
        let report = within(limit, move || give_back(&wanted, resolve, &mut |_| ()))?;
        return Ok((returned_text(name, &report), returned_json(name, &report)));
    }
    let report = within(limit, move || adopt(&wanted, resolve, &mut |_| ()))?;
    Ok((adopted_text(name, &report), adopted_json(name, &report)))
}

/// A disk that hangs keeps its thread; the operator is told in time.
fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> Result<T, AdoptError> + Send + 'static,
) -> Result<T, AdmError> {
    let (sender, receiver) = mpsc::channel();
    // Nobody listens any more where the time is up.
    thread::spawn(move || sender.send(work()).ok());
    match receiver.recv_timeout(limit) {
        Ok(result) => Ok(result?),
        Err(_) => Err(AdmError::DiskTimeout { limit }),
    }
}

/// `internal`, PATH or `PATH[N]`, as in `meta-disk`.
fn drbd_place(text: Option<&str>) -> Result<DrbdPlace, AdmError> {
    let Some(text) = text else { return Ok(DrbdPlace::Found) };
    if text == "internal" {
        return Ok(DrbdPlace::Internal);
    }
    let indexed = text.strip_suffix(']').and_then(|text| text.split_once('['));
    let (path, index) = match indexed {
        None => (text, None),
        Some((path, index)) => match index.trim().parse() {
            Ok(index) => (path.trim(), Some(index)),
            Err(error) => {
                let text = format!("--drbd-meta-disk `{text}`: not a number in brackets: {error}");
                return Err(AdmError::Usage(text));
            }
        },
    };
    Ok(DrbdPlace::External { path: PathBuf::from(path), index })
}

fn adopted_text(name: &str, report: &AdoptReport) -> String {
    let AdoptReport { size_bytes, metadata_bytes, slots, generation, .. } = *report;
    let (disk, metadata_disk) = (report.disk.display(), report.metadata_disk.display());
    let first = match report.outcome {
        Adopted::Now => format!("took over {disk} from DRBD: {size_bytes} bytes stay as they are"),
        Adopted::Finished => {
            format!("finished taking over {disk} from DRBD: {size_bytes} bytes stay as they are")
        }
        Adopted::Before => format!("{disk} was taken over from DRBD before: {size_bytes} bytes"),
        Adopted::Possible => {
            format!("{disk} can be taken over from DRBD: {size_bytes} bytes stay as they are")
        }
    };
    let mut lines = vec![
        first,
        format!("{metadata_bytes} bytes of metadata for {slots} members on {metadata_disk}"),
    ];
    lines.push(if report.is_settled {
        format!(
            "generation {generation:016X}, equal on every node of which `adopt-drbd --same-as \
             {generation:016X}` says so"
        )
    } else {
        let reason = report.unsettled.map(|reason| reason.to_string());
        let reason = reason.unwrap_or_else(|| "it was marked as different".to_owned());
        format!("generation {generation:016X}, not known to be equal elsewhere: {reason}")
    });
    if report.outcome != Adopted::Possible {
        lines.push(format!(
            "DRBD's metadata is kept in {}; --rollback puts it back until `{name}` is used",
            report.saved.display()
        ));
    }
    lines.iter().map(|line| format!("{name}: {line}\n")).collect()
}

fn adopted_json(name: &str, report: &AdoptReport) -> serde_json::Value {
    json!({
        "resource": name,
        "verb": "adopt-drbd",
        "ok": true,
        "outcome": match report.outcome {
            Adopted::Now => "adopted",
            Adopted::Finished => "finished",
            Adopted::Before => "adopted-before",
            Adopted::Possible => "possible",
        },
        "disk": report.disk,
        "metadata-disk": report.metadata_disk,
        "drbd-format": report.version.map(node::adopt::DrbdVersion::as_str),
        "size-bytes": report.size_bytes,
        "metadata-bytes": report.metadata_bytes,
        "members-max": report.slots,
        "generation": format!("{:016X}", report.generation),
        "settled": report.is_settled,
        "unsettled-reason": report.unsettled.map(|reason| reason.to_string()),
        "saved": report.saved,
    })
}

fn returned_text(name: &str, report: &ReturnReport) -> String {
    let (disk, generation) = (report.disk.display(), report.generation);
    match report.outcome {
        Returned::Now => format!(
            "{name}: {disk} is DRBD's again, with its generation {generation:016X}; give the \
             other nodes' back too\n"
        ),
        Returned::Before => format!("{name}: {disk} was given back to DRBD before\n"),
        Returned::Possible => {
            format!("{name}: {disk} can be given back to DRBD, with generation {generation:016X}\n")
        }
    }
}

fn returned_json(name: &str, report: &ReturnReport) -> serde_json::Value {
    json!({
        "resource": name,
        "verb": "adopt-drbd",
        "ok": true,
        "outcome": match report.outcome {
            Returned::Now => "returned",
            Returned::Before => "returned-before",
            Returned::Possible => "return-possible",
        },
        "disk": report.disk,
        "generation": format!("{:016X}", report.generation),
    })
}
