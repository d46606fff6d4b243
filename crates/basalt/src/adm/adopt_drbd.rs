//! `adopt-drbd`: replicas that come from DRBD, and what to do with them next.

use std::path::PathBuf;

use config::model::Resource;
use node::adopt_drbd::{
    AdoptOptions, AdoptReport, Adopted, DrbdPlace, Resolve, ReturnReport, Returned, adopt_all,
    give_back_all,
};
use serde_json::json;

use crate::adm::arguments::AdoptDrbd;
use crate::adm::configuration::{Configuration, NodeName};
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::metadata::{Own, own_disk};
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::target::{One, Scope, parse_targets};

pub(crate) fn adopt_drbd(
    general: &General,
    options: &AdoptDrbd,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let targets = parse_targets(&options.targets, Scope::Volume)?;
    let configuration = Configuration::load_aloud(general, gathering)?;
    let node = NodeName::or_host(options.node.as_deref())?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let result = configuration
            .resource(&one.resource)
            .and_then(|resource| adopt_one(general, resource, &one, &node, options));
        match result {
            Ok(volumes) => {
                for (text, answer) in volumes {
                    gathering.answer(&text, Answer::Json(answer));
                }
            }
            Err(error) => gathering.failed(&one.resource, &error),
        }
    }
    Ok(())
}

fn adopt_one(
    general: &General,
    resource: &Resource,
    one: &One,
    node: &NodeName,
    options: &AdoptDrbd,
) -> Result<Vec<(String, serde_json::Value)>, AdmError> {
    let name = &resource.name;
    let mut numbers = resource.volume_numbers();
    numbers.sort_unstable();
    if let (Some(number), true) = (one.volume, numbers.len() > 1) {
        return Err(AdmError::configuration(
            format!("volume {number} alone is no replica: the volumes are taken over together"),
            format!("`basalt adm adopt-drbd {name}`"),
        ));
    }
    let sames = &options.same_as;
    if !sames.is_empty() && sames.len() != numbers.len() {
        let (given, needed) = (sames.len(), numbers.len());
        return Err(AdmError::Usage(format!(
            "--same-as with {given} generations, and `{name}` has {needed} volumes"
        )));
    }
    let places = drbd_places(&options.drbd_meta_disk, &numbers)?;
    let sames = sames.iter().map(|&it| Some(it)).chain(std::iter::repeat(None));
    let mut wanted = Vec::new();
    for ((&number, place), same_as) in numbers.iter().zip(places).zip(sames) {
        let of_volume = One { volume: Some(number), ..one.clone() };
        let Own { host, volume, disk, metadata_disk } = own_disk(resource, &of_volume, node)?;
        let hosts = resource.hosts.iter();
        let has_disk = |host: &&config::model::Host| {
            host.volume(number).is_some_and(|volume| !volume.is_diskless())
        };
        wanted.push(AdoptOptions {
            disk,
            metadata_disk,
            drbd: place,
            resource_name: name.clone(),
            volume: volume.number,
            node_id: host.node_id,
            member_ids: hosts.clone().map(|host| host.node_id).collect(),
            replica_ids: hosts.filter(has_disk).map(|host| host.node_id).collect(),
            peers_max: options.max_peers,
            state_dir: options.state_dir.clone(),
            same_as,
        });
    }
    let resolve = if general.dry_run { Resolve::Tell } else { Resolve::Do };
    let has_several = numbers.len() > 1;
    let label =
        |number: u16| if has_several { format!("{name}/{number}") } else { name.to_owned() };
    if options.rollback {
        let reports = give_back_all(&wanted, resolve, &mut |_, _| ())?;
        let tell =
            |it: &ReturnReport| (returned_text(&label(it.volume), it), returned_json(name, it));
        return Ok(reports.iter().map(tell).collect());
    }
    let reports = adopt_all(&wanted, resolve, &mut |_, _| ())?;
    let same = same_as(&reports);
    let tell = |report: &AdoptReport| {
        let text = adopted_text((name, &label(report.volume)), report, same.as_deref());
        (text, adopted_json(name, report))
    };
    Ok(reports.iter().map(tell).collect())
}

/// What `--same-as` of the other nodes has to be, where a volume does not differ already.
fn same_as(reports: &[AdoptReport]) -> Option<String> {
    let generations = reports.iter().map(|it| format!("{:016X}", it.generation));
    let is_settled = reports.iter().all(|report| report.is_settled);
    is_settled.then(|| generations.collect::<Vec<_>>().join(","))
}

/// For each volume what `--drbd-meta-disk` says of it; without a number it is of the only one.
fn drbd_places(texts: &[String], numbers: &[u16]) -> Result<Vec<DrbdPlace>, AdmError> {
    let mut places = vec![DrbdPlace::Found; numbers.len()];
    for text in texts {
        let numbered = text.split_once('=').and_then(|(number, place)| {
            number.trim().parse::<u16>().ok().map(|number| (number, place))
        });
        let (number, place) = match (numbered, numbers) {
            (Some(numbered), _) => numbered,
            (None, [only]) => (*only, text.as_str()),
            (None, _) => {
                return Err(AdmError::Usage(format!(
                    "--drbd-meta-disk `{text}`: of which volume? `0={text}`, for example"
                )));
            }
        };
        let Some(at) = numbers.iter().position(|&it| it == number) else {
            let text = format!("--drbd-meta-disk `{text}`: there is no volume {number}");
            return Err(AdmError::Usage(text));
        };
        places[at] = drbd_place(place)?;
    }
    Ok(places)
}

/// `internal`, PATH or `PATH[N]`, as in `meta-disk`.
fn drbd_place(text: &str) -> Result<DrbdPlace, AdmError> {
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

fn adopted_text(
    (name, label): (&str, &str),
    report: &AdoptReport,
    same_as: Option<&str>,
) -> String {
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
    lines.push(if let Some(same_as) = same_as {
        format!(
            "generation {generation:016X}, equal on every node of which `adopt-drbd --same-as \
             {same_as}` says so"
        )
    } else if report.is_settled {
        format!("generation {generation:016X}; another volume is not known to be equal elsewhere")
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
    lines.iter().map(|line| format!("{label}: {line}\n")).collect()
}

fn adopted_json(name: &str, report: &AdoptReport) -> serde_json::Value {
    json!({
        "resource": name,
        "volume": report.volume,
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
        "drbd-format": report.version.map(node::adopt_drbd::DrbdVersion::as_str),
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
        "volume": report.volume,
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
