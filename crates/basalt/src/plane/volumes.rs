//! `basalt volume`: what a volume is made of, where it lies, and who has it.

use std::io::{IsTerminal as _, Write as _};

use api::cluster::{
    Attach, Begun, Candidate, Created, Grow, NewReplica, NewVolume, PlacementKind, PlacementStage,
    PlacementView, VolumeView,
};

use crate::plane::asking::{Asking, encoded};
use crate::plane::tables::{Table, amount, json, word};
use crate::plane::trouble::Trouble;
use crate::plane::{Common, Ended};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a new volume
    Create {
        /// Its size, such as 10G
        #[arg(long, value_parser = size)]
        size: u64,
        /// How many nodes have its data
        #[arg(long, default_value_t = 3,
            value_parser = config::number::number::<u8>(1, 31, "replicas"))]
        replicas: u8,
        /// Only in pools of this name
        #[arg(long)]
        pool: Option<String>,
        /// Only on this node; may be given more than once
        #[arg(long, value_name = "NODE")]
        on: Vec<String>,
        /// Let this node have the device; without a name: this machine
        #[arg(long, value_name = "NODE", num_args = 0..=1, default_missing_value = "")]
        attach: Option<String>,
        /// Only say where it would go, and which rule took or refused each pool
        #[arg(long)]
        dry_run: bool,
        name: String,
    },
    /// Show all volumes
    List,
    /// Show one, with its replicas
    Show { name: String },
    /// Delete a volume, and its data
    Delete { name: String },
    /// Let a node have the device
    Attach {
        /// The node; without it: this machine
        #[arg(long, value_name = "NODE")]
        on: Option<String>,
        name: String,
    },
    /// Take the device from the node that has it
    Detach { name: String },
    /// Make a volume larger, while it is in use
    Grow {
        /// Its whole new size, such as 20G
        #[arg(long, value_parser = size)]
        size: u64,
        name: String,
    },
    /// Let one more node have the data
    AddReplica {
        /// Only on this node
        #[arg(long, value_name = "NODE")]
        on: Option<String>,
        /// Only in pools of this name
        #[arg(long)]
        pool: Option<String>,
        /// Only say where it would go, and which rule took or refused each pool
        #[arg(long)]
        dry_run: bool,
        name: String,
    },
    /// Take the data from a node
    DropReplica {
        /// The node
        #[arg(long, value_name = "NODE")]
        on: String,
        name: String,
    },
}

pub(crate) fn run(verb: Command, common: &Common) -> Ended {
    let asking = Asking::of(common);
    let (verb, told) = match verb {
        Command::Create { size, replicas, pool, on, attach, dry_run, name } => {
            let attach = attach.map(this_machine).transpose();
            let create = |attach| {
                let size_bytes = size;
                let wish =
                    NewVolume { name, size_bytes, replicas, pool, nodes: on, attach, dry_run };
                create(&asking, common, &wish)
            };
            ("volume create", attach.and_then(create))
        }
        Command::List => {
            let all = asking.get("volumes");
            ("volume list", all.and_then(|it| told_volumes(common, it)))
        }
        Command::Show { name } => ("volume show", show(&asking, common, &name)),
        Command::Delete { name } => ("volume delete", delete(&asking, common, &name)),
        Command::Attach { on, name } => {
            let node = this_machine(on.unwrap_or_default());
            ("volume attach", node.and_then(|node| attach(&asking, common, &name, node)))
        }
        Command::Detach { name } => ("volume detach", detach(&asking, common, &name)),
        Command::Grow { size, name } => ("volume grow", grow(&asking, common, &name, size)),
        Command::AddReplica { on, pool, dry_run, name } => {
            let wish = NewReplica { node: on, pool, dry_run };
            ("volume add-replica", add_replica(&asking, common, &name, &wish))
        }
        Command::DropReplica { on, name } => {
            ("volume drop-replica", drop_replica(&asking, common, &name, &on))
        }
    };
    (verb, common.form(), told)
}

/// Bytes, with one of the suffixes K, M, G and T of 1024.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "it takes bytes, or a number with K, M, G or T, as 10G".to_owned();
    let text = text.strip_suffix("iB").unwrap_or(text);
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        Some((at, 't' | 'T')) => (&text[..at], 40),
        _ => (text, 0),
    };
    let is_plain = digits.bytes().all(|it| it.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_no_number| wrong())?;
    number.checked_mul(1 << shift).filter(|_| is_plain).ok_or_else(wrong)
}

fn this_machine(name: String) -> Result<String, Trouble> {
    if !name.is_empty() {
        return Ok(name);
    }
    let host = crate::adm::configuration::host_name();
    host.map_err(|error| Trouble::local(error.to_string(), "name the node"))
}

fn create(asking: &Asking, common: &Common, wish: &NewVolume) -> Result<String, Trouble> {
    let created: Created = asking.post("volumes", wish)?;
    let Some(operation) = created.operation else {
        return if common.json { json(&created) } else { Ok(told_candidates(&created.candidates)) };
    };
    wait(asking, common, operation)?;
    if common.json {
        return show(asking, common, &wish.name);
    }
    let volume: VolumeView = asking.get(&format!("volumes/{}", wish.name))?;
    Ok(told_ready(&volume))
}

/// What can be done with it now.
fn told_ready(volume: &VolumeView) -> String {
    let replicas = volume.placements.iter().filter(|it| it.kind == PlacementKind::Replica);
    let on: Vec<&str> = replicas.map(|it| it.node.as_str()).collect();
    let mut text = format!("{} is ready, on {}\n", volume.name, on.join(", "));
    match &volume.attached_to {
        None => text += &format!("next: `basalt volume attach {}` on one of these\n", volume.name),
        Some(node) => {
            text += &format!("device on {node}: {}\n", volume.device);
            let own = volume.placements.iter().filter(|it| it.node == *node);
            own.flat_map(|it| &it.nbd).for_each(|uri| text += &format!("NBD on {node}: {uri}\n"));
        }
    }
    text
}

fn told_candidates(candidates: &[Candidate]) -> String {
    let mut table = Table::new(["NODE", "POOL", "TAKEN", "RULE"]);
    for it in candidates {
        let taken = if it.taken { "yes" } else { "no" };
        let pool = it.pool.clone().unwrap_or_else(|| "-".to_owned());
        table.row([it.node.clone(), pool, taken.to_owned(), it.rule.clone()]);
    }
    table.text()
}

fn delete(asking: &Asking, common: &Common, name: &str) -> Result<String, Trouble> {
    let begun: Begun = asking.delete(&format!("volumes/{}", encoded(name)))?;
    wait(asking, common, begun.operation)?;
    done(common, begun, format!("{name} is deleted\n"))
}

fn attach(asking: &Asking, common: &Common, name: &str, node: String) -> Result<String, Trouble> {
    let begun: Begun =
        asking.post(&format!("volumes/{}/attach", encoded(name)), &Attach { node })?;
    wait(asking, common, begun.operation)?;
    if common.json {
        return json(&begun);
    }
    let volume: VolumeView = asking.get(&format!("volumes/{}", encoded(name)))?;
    Ok(told_ready(&volume))
}

fn detach(asking: &Asking, common: &Common, name: &str) -> Result<String, Trouble> {
    let path = format!("volumes/{}/detach", encoded(name));
    let begun: Begun = asking.post(&path, &serde_json::json!({}))?;
    wait(asking, common, begun.operation)?;
    done(common, begun, format!("{name} is detached\n"))
}

fn grow(asking: &Asking, common: &Common, name: &str, size: u64) -> Result<String, Trouble> {
    let path = format!("volumes/{}/grow", encoded(name));
    let begun: Begun = asking.post(&path, &Grow { size_bytes: size })?;
    wait(asking, common, begun.operation)?;
    done(common, begun, format!("{name} has {}\n", amount(size)))
}

fn add_replica(
    asking: &Asking,
    common: &Common,
    name: &str,
    wish: &NewReplica,
) -> Result<String, Trouble> {
    let created: Created = asking.post(&format!("volumes/{}/replicas", encoded(name)), wish)?;
    let Some(operation) = created.operation else {
        return if common.json { json(&created) } else { Ok(told_candidates(&created.candidates)) };
    };
    wait(asking, common, operation)?;
    if common.json {
        return show(asking, common, name);
    }
    let chosen = created.candidates.iter().filter(|it| it.taken);
    let nodes: Vec<&str> = chosen.map(|it| it.node.as_str()).collect();
    let nodes = nodes.join(", ");
    Ok(format!(
        "{nodes} gets the data of {name} from the others\nnext: `basalt volume show {name}` says \
         how far it is\n"
    ))
}

fn drop_replica(
    asking: &Asking,
    common: &Common,
    name: &str,
    node: &str,
) -> Result<String, Trouble> {
    let path = format!("volumes/{}/replicas/{}", encoded(name), encoded(node));
    let begun: Begun = asking.delete(&path)?;
    wait(asking, common, begun.operation)?;
    done(common, begun, format!("{node} has no data of {name} any more\n"))
}

fn done(common: &Common, begun: Begun, text: String) -> Result<String, Trouble> {
    if common.json { json(&begun) } else { Ok(text) }
}

/// What takes more than two seconds says what it waits for.
fn wait(asking: &Asking, common: &Common, operation: u64) -> Result<(), Trouble> {
    let mut last = String::new();
    let is_shown = !common.json && std::io::stderr().is_terminal();
    asking.wait(operation, |told| {
        if is_shown && told.told != last {
            // Without a standard error nobody can be told.
            drop(writeln!(std::io::stderr(), "waiting: {}", told.told));
            last.clone_from(&told.told);
        }
    })?;
    Ok(())
}

fn show(asking: &Asking, common: &Common, name: &str) -> Result<String, Trouble> {
    let volume: VolumeView = asking.get(&format!("volumes/{}", encoded(name)))?;
    if common.json {
        return json(&volume);
    }
    let mut text = told_volumes(common, vec![volume.clone()])?;
    let mut table = Table::new(["NODE", "KIND", "POOL", "DISK", "ROLE", "IN USE", "TOLD"]);
    let dash = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
    for it in volume.placements {
        let in_use = if it.in_use { "yes" } else { "no" };
        let kind = word(&it.kind);
        let told = told_of(&it);
        table.row([
            it.node,
            kind,
            dash(it.pool),
            dash(it.disk),
            dash(it.role),
            in_use.to_owned(),
            told,
        ]);
    }
    text.push('\n');
    Ok(text + &table.text())
}

/// How far a part is, and what is wrong with it.
fn told_of(placement: &PlacementView) -> String {
    let stage = match placement.stage {
        PlacementStage::In => None,
        PlacementStage::Joining => Some("it joins".to_owned()),
        PlacementStage::Leaving => Some("it leaves".to_owned()),
    };
    let synced = placement.synced.map(|it| format!("{}.{} % in sync", it / 10, it % 10));
    [stage, synced, placement.problem.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn told_volumes(common: &Common, volumes: Vec<VolumeView>) -> Result<String, Trouble> {
    if common.json {
        return json(&volumes);
    }
    let mut table = Table::new(["VOLUME", "SIZE", "STATE", "REPLICAS", "ATTACHED TO", "DEVICE"]);
    for it in volumes {
        let replicas = it.placements.iter().filter(|it| it.kind == PlacementKind::Replica);
        let replicas: Vec<&str> = replicas.map(|it| it.node.as_str()).collect();
        let attached = it.attached_to.clone().unwrap_or_else(|| "-".to_owned());
        table.row([
            it.name.clone(),
            amount(it.size_bytes),
            word(&it.state),
            replicas.join(", "),
            attached,
            it.device.clone(),
        ]);
    }
    Ok(table.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_suffix() {
        for (text, bytes) in [
            ("1", 1),
            ("10G", 10 << 30),
            ("10GiB", 10 << 30),
            ("3k", 3 << 10),
            ("2T", 2 << 40),
            ("007M", 7 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "1.5G", "-1", "+1", "1 G", "1P", "99999999T", "10é"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
