//! `adopt`: a resource whose voters lost their state directories, taken into use again.
//!
//! Each node saves what it still has to a file (`--save`); with the files of all nodes (`--from`)
//! each node is told what follows, and writes its part of it. The disks of other nodes are looked
//! at in their files only, so nothing has to run and nobody has to answer a question.

use std::fs;
use std::path::{Path, PathBuf};

use config::model::Resource;
use node::adopt::{
    Adopted, Judgement, OrphanOptions, Refusal, Returning, Said, Shown, Traces, Way, adopt, judge,
    look, said,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::adm::arguments::Adopt;
use crate::adm::configuration::{Configuration, NodeName, not_a_host, own_host};
use crate::adm::failure::AdmError;
use crate::adm::general::General;
use crate::adm::outcome::{Answer, Gathering};

/// The content of a file of `--save`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Saved {
    /// Number of this form.
    adopt: u32,
    resource: String,
    node: String,
    node_id: u8,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    superblock: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    register: Option<String>,
    marked: Vec<(u8, u64)>,
    active_extents: u64,
}

const FORM: u32 = 1;

pub(crate) fn run(
    general: &General,
    options: &Adopt,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let configuration = Configuration::load_aloud(general, gathering)?;
    let resource = configuration.resource(&options.resource)?;
    let node = NodeName::or_host(options.node.as_deref())?;
    let host = own_host(resource, &node)?.ok_or_else(|| not_a_host(resource, &node))?;
    let here = OrphanOptions {
        resource: resource.name.clone(),
        node: host.name.clone(),
        config_text: resource.to_res_text(),
        state_dir: options.state_dir.clone(),
    };
    if options.from.is_empty() {
        return show(&here, options.save.as_deref(), gathering);
    }
    let all =
        options.from.iter().map(|path| read(path, resource)).collect::<Result<Vec<_>, _>>()?;
    let given_up = numbers(resource, &options.without)?;
    let expected: Vec<u8> = resource.hosts.iter().map(|host| host.node_id).collect();
    let judged =
        judge(&all, &expected, &given_up).map_err(|refusal| refused(&refusal, resource))?;
    let mut outcome = None;
    if !general.dry_run {
        if let Some((doubt, hint)) = doubt(&judged, resource).filter(|_| !options.in_doubt) {
            return Err(AdmError::configuration(doubt, hint));
        }
        let own = all.iter().find(|one| one.node == host.node_id).ok_or_else(|| {
            AdmError::configuration(
                format!("none of the files is that of this node, `{}`", host.name),
                "save its remains too: --save FILE",
            )
        })?;
        outcome = Some(adopt(&here, &judged, own).map_err(of_failure)?);
    }
    let text = judged_text(resource, &judged, outcome);
    gathering.answer(&text, Answer::Json(judged_json(resource, &judged, outcome)));
    Ok(())
}

/// Why what follows is not proved, and what to do about it.
fn doubt(judged: &Judgement, resource: &Resource) -> Option<(String, String)> {
    let go_on = "--in-doubt goes on with what is here, and tells clients of a loss; --dry-run \
                 shows what becomes of each replica";
    match &judged.proof {
        Shown::Complete => None,
        Shown::Missing(nodes) => {
            let names = nodes.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>();
            let names = names.join(", ");
            Some((
                format!("{names} may have gone on alone: acknowledged writes may be lost"),
                format!(
                    "the disks of {names}, if there is a way to them: --save FILE there, and \
                     --from with it; else {go_on}"
                ),
            ))
        }
        Shown::Contradicting => Some((
            "the replicas that are in sync each recorded that another one of them was lost: which \
             of them has all acknowledged writes is not known"
                .to_owned(),
            format!("leave out with --without whom you do not believe; {go_on}"),
        )),
        Shown::InMemory(nodes) => {
            let names = nodes.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>();
            let names = names.join(", ");
            Some((
                format!(
                    "{names} counted before they had written (protocol A or B), and may lack what \
                     was answered"
                ),
                go_on.to_owned(),
            ))
        }
    }
}

/// What this node has; in a file, if one is named.
fn show(
    here: &OrphanOptions,
    file: Option<&Path>,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let traces = look(here).map_err(of_failure)?;
    let saved = Saved {
        adopt: FORM,
        resource: here.resource.clone(),
        node: here.node.clone(),
        node_id: traces.node,
        superblock: traces.superblock.as_deref().map(to_hex),
        register: traces.register.as_deref().map(to_hex),
        marked: traces.marked.iter().map(|(&node, &blocks)| (node, blocks)).collect(),
        active_extents: traces.active_extents,
    };
    let said = said(&traces).map_err(|it| unreadable(&here.node, &it))?;
    let mut text = said_text(&here.resource, &here.node, &said, &traces);
    if let Some(path) = file {
        let content = serde_json::to_string_pretty(&saved).expect("strings and numbers");
        fs::write(path, content + "\n").map_err(|error| {
            let message = format!("cannot write {}: {error}", path.display());
            let hint = "`df -h` and `ls -ld` of its folder show whether there is room, and who \
                        may write there";
            AdmError::configuration(message, hint)
        })?;
        text += &format!("{}: saved in {}\n", here.resource, path.display());
    }
    let vote = said.vote.as_ref().map(|vote| {
        json!({ "branch": vote.branch, "epoch": vote.epoch, "ballot": vote.ballot,
                "in-sync": vote.in_sync, "voters": vote.voters })
    });
    let answer = json!({
        "resource": here.resource,
        "verb": "adopt",
        "ok": true,
        "outcome": "looked",
        "node": here.node,
        "node-id": traces.node,
        "disk-state": said.state,
        "branch": said.branch,
        "joined-epoch": said.joined,
        "clean": said.is_clean,
        "write-counter": said.write_counter,
        "active-extents": traces.active_extents,
        "has-vote-store": said.has_vote_store,
        "vote": vote,
    });
    gathering.answer(&text, Answer::Json(answer));
    Ok(())
}

fn said_text(resource: &str, node: &str, said: &Said, traces: &Traces) -> String {
    let mut lines = Vec::new();
    match said.state {
        None => lines.push(format!("{node} has no disk")),
        Some(state) => {
            let end = if said.is_clean { "ended cleanly" } else { "did not end cleanly" };
            lines.push(format!(
                "the disk of {node} is {state}, in sync since epoch {} of branch {}, {end} ({} \
                 extents were active); write number {}",
                said.joined, said.branch, traces.active_extents, said.write_counter
            ));
        }
    }
    lines.push(match &said.vote {
        None => "it knows of no value".to_owned(),
        Some(vote) => format!(
            "it accepted epoch {} of branch {} last (ballot {}): nodes {} are in sync, {} vote",
            vote.epoch,
            vote.branch,
            vote.ballot,
            list(&vote.in_sync),
            list(&vote.voters)
        ),
    });
    let store = if said.has_vote_store { "is there" } else { "is lost" };
    lines.push(format!("its vote store {store}"));
    lines.iter().map(|line| format!("{resource}: {line}\n")).collect()
}

fn judged_text(resource: &Resource, judged: &Judgement, outcome: Option<Adopted>) -> String {
    let name = |node: &u8| host_of(resource, *node);
    let names = |nodes: &[u8]| nodes.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut lines = vec![
        format!(
            "epoch {} of branch {} is the newest that is known, and goes on as epoch {} of {}",
            judged.from_epoch, judged.from_branch, judged.epoch, judged.branch
        ),
        match &judged.proof {
            Shown::Complete => "no acknowledged write is lost".to_owned(),
            Shown::Missing(nodes) => {
                format!("acknowledged writes may be lost: {} may have gone on alone", names(nodes))
            }
            Shown::Contradicting => {
                "acknowledged writes may be lost: the replicas contradict each other".to_owned()
            }
            Shown::InMemory(nodes) => format!(
                "acknowledged writes may be lost: {} counted before they had written (protocol A \
                 or B)",
                names(nodes)
            ),
        },
    ];
    for Returning { node, fate, marked } in &judged.replicas {
        let node = name(node);
        let marked = marked.map_or_else(String::new, |blocks| format!(" ({} KiB)", blocks * 4));
        lines.push(match fate {
            Way::InSync => format!("{node}: in sync, keeps all that it has"),
            Way::Incremental => format!("{node}: gets what is marked as missed there{marked}"),
            Way::Full => format!("{node}: is compared in full; what only it has is lost"),
            Way::Unknown => format!(
                "{node}: has nothing in common that could be shown, and counts as empty; what \
                 only it has is lost"
            ),
            Way::NoReplica => format!("{node}: has no replica"),
        });
    }
    lines.push(match outcome {
        None => format!("votes would be given to {}", names(&judged.voters)),
        Some(Adopted::Now) => "adopted here; do so on the other nodes, with the same files, then \
                               bring the resource up"
            .to_owned(),
        Some(Adopted::Before) => "was adopted here before".to_owned(),
        Some(Adopted::WithoutVote) => {
            "nothing is written here: this node gets a vote from whoever leads".to_owned()
        }
    });
    lines.iter().map(|line| format!("{}: {line}\n", resource.name)).collect()
}

fn judged_json(
    resource: &Resource,
    judged: &Judgement,
    outcome: Option<Adopted>,
) -> serde_json::Value {
    let replicas = judged.replicas.iter().map(|Returning { node, fate, marked }| {
        let fate = match fate {
            Way::InSync => "in-sync",
            Way::Incremental => "incremental",
            Way::Full => "full",
            Way::Unknown => "unknown",
            Way::NoReplica => "no-replica",
        };
        json!({ "node": host_of(resource, *node), "fate": fate, "marked-blocks": marked })
    });
    let (proof, missing) = match &judged.proof {
        Shown::Complete => ("complete", Vec::new()),
        Shown::Missing(nodes) => ("missing", nodes.clone()),
        Shown::Contradicting => ("contradicting", Vec::new()),
        Shown::InMemory(nodes) => ("in-memory", nodes.clone()),
    };
    let outcome = match outcome {
        None => "possible",
        Some(Adopted::Now) => "adopted",
        Some(Adopted::Before) => "adopted-before",
        Some(Adopted::WithoutVote) => "without-vote",
    };
    json!({
        "resource": resource.name,
        "verb": "adopt",
        "ok": true,
        "outcome": outcome,
        "proof": proof,
        "missing": missing.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>(),
        "from": { "branch": judged.from_branch, "epoch": judged.from_epoch },
        "to": { "branch": judged.branch, "epoch": judged.epoch },
        "in-sync": judged.in_sync.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>(),
        "replicas": replicas.collect::<Vec<_>>(),
    })
}

fn refused(refusal: &Refusal, resource: &Resource) -> AdmError {
    let names = |nodes: &[u8]| {
        nodes.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>().join(", ")
    };
    let (message, hint) = match refusal {
        Refusal::NothingKnown => (
            "no disk and no vote store knows of a value".to_owned(),
            "`primary --force` on the node whose data is to count: it was never in use, or the \
             disks were written by an older release"
                .to_owned(),
        ),
        Refusal::NotLookedAt(nodes) => (
            format!("there are no remains of {}", names(nodes)),
            format!(
                "--save FILE there, and --from with that file too; what is gone for good is named \
                 by --without {}",
                nodes.iter().map(|node| host_of(resource, *node)).collect::<Vec<_>>().join(",")
            ),
        ),
        Refusal::HasQuorum(nodes) => (
            format!("the vote stores of {} are a quorum: they go on by themselves", names(nodes)),
            "bring the resource up there".to_owned(),
        ),
        Refusal::NoData(nodes) => (
            format!("none of {}, who were in sync last, has its disk here", names(nodes)),
            "their remains are needed; to go on with older data all the same: bring one node up, \
             and `primary --force` there"
                .to_owned(),
        ),
        Refusal::Parted(nodes) => (
            format!(
                "{} went on without the others, and these without it: a split brain",
                names(nodes)
            ),
            "--without with the nodes whose changes are to be given up".to_owned(),
        ),
        Refusal::Unreadable { node, .. } => return unreadable(&host_of(resource, *node), refusal),
    };
    AdmError::configuration(message, hint)
}

fn unreadable(node: &str, refusal: &Refusal) -> AdmError {
    let reason = match refusal {
        Refusal::Unreadable { reason, .. } => reason.as_str(),
        Refusal::NothingKnown
        | Refusal::NotLookedAt(_)
        | Refusal::HasQuorum(_)
        | Refusal::NoData(_)
        | Refusal::Parted(_) => "they are damaged",
    };
    let message = format!("the remains of {node} cannot be read: {reason}");
    AdmError::configuration(message, "save them again, with the same release everywhere")
}

fn of_failure(failure: api::response::Failure) -> AdmError {
    AdmError::configuration(failure.message, failure.hint)
}

fn host_of(resource: &Resource, node: u8) -> String {
    let host = resource.hosts.iter().find(|host| host.node_id == node);
    host.map_or_else(|| format!("node {node}"), |host| host.name.clone())
}

fn numbers(resource: &Resource, names: &[String]) -> Result<Vec<u8>, AdmError> {
    let number = |name: &String| {
        let host = resource.host_meant(name);
        let host = host.map_err(|it| AdmError::Usage(format!("--without {name}: {it}")))?;
        host.map(|host| host.node_id).or_else(|| name.parse().ok()).ok_or_else(|| {
            AdmError::Usage(format!(
                "--without {name}: neither a host of the resource nor a node id"
            ))
        })
    };
    names.iter().map(number).collect()
}

fn list(nodes: &[u8]) -> String {
    nodes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}

// ---- Files.

fn read(path: &PathBuf, resource: &Resource) -> Result<Traces, AdmError> {
    let wrong = |reason: String| {
        let message = format!("cannot use {}: {reason}", path.display());
        AdmError::configuration(message, "files that `basalt adm adopt --save FILE` wrote")
    };
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let saved: Saved = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if saved.adopt != FORM {
        return Err(wrong(format!("it is of another form, {}", saved.adopt)));
    }
    if saved.resource != resource.name {
        return Err(wrong(format!("it is of resource `{}`", saved.resource)));
    }
    let bytes = |text: Option<String>| {
        let bytes = text
            .map(|text| from_hex(&text).ok_or_else(|| wrong("its numbers are damaged".to_owned())));
        bytes.transpose()
    };
    Ok(Traces {
        node: saved.node_id,
        superblock: bytes(saved.superblock)?,
        register: bytes(saved.register)?,
        marked: saved.marked.into_iter().collect(),
        active_extents: saved.active_extents,
    })
}

/// Zeroes at the end are left out, and how many there are is said.
fn to_hex(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let digits: String = bytes[..end].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}+{}", bytes.len() - end)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (digits, zeroes) = text.split_once('+')?;
    let zeroes: usize = zeroes.parse().ok().filter(|&count| count <= 64 << 10)?;
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let mut bytes: Vec<u8> = pairs.map(byte).collect::<Option<_>>()?;
    bytes.resize(bytes.len() + zeroes, 0);
    Some(bytes)
}
