//! What the metadata on this node's disks says, without the daemon; and wiping it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use config::model::Resource;
use node::create_md::{Overwrite, former_size};
use node::show_md::{Metadata, ReplicaState, Slot, Superblock, read_md, wipe_md};
use serde_json::{Value, json};

use crate::adm::configuration::{Configuration, NodeName};
use crate::adm::failure::{AdmError, no_peer};
use crate::adm::general::{General, STATE_DIR};
use crate::adm::metadata::{each_volume, further_number, own_disk};
use crate::adm::outcome::{Answer, Gathering};
use crate::adm::target::{One, Scope, parse_targets};
use crate::adm::work::Work;

#[derive(Debug, Subcommand)]
pub(crate) enum SuperblockVerb {
    /// Show what the metadata on the disks of this node says
    #[command(visible_alias = "dump-superblock")]
    DumpMd(OwnDisks),
    /// Show the generation of the data, a line for each peer:
    /// BRANCH:BITMAP:JOINED:0:CONSISTENT:UP-TO-DATE:CLEAN
    GetGi(OwnDisks),
    /// The same, in words
    ShowGi(OwnDisks),
    /// Erase the metadata: the data stays, and is no replica any more
    WipeMd(WipeMd),
    /// Refused: a generation is what a majority of the voters chose
    SetGi(SetGi),
}

#[derive(Debug, Args)]
pub(crate) struct OwnDisks {
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// State directory of the daemon: it notes the size that a disk had
    #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
    pub(crate) state_dir: PathBuf,
    /// `all`, RES, RES/VOL or, of a generation, RES:PEER or RES:PEER/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WipeMd {
    /// Do it
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) of: OwnDisks,
}

#[derive(Debug, Args)]
pub(crate) struct SetGi {
    /// As for drbdadm
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
}

impl SuperblockVerb {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::DumpMd(_) => "dump-md",
            Self::GetGi(_) => "get-gi",
            Self::ShowGi(_) => "show-gi",
            Self::WipeMd(_) => "wipe-md",
            Self::SetGi(_) => "set-gi",
        }
    }

    pub(crate) fn work(&self) -> Work {
        match self {
            Self::DumpMd(_) | Self::GetGi(_) | Self::ShowGi(_) | Self::WipeMd(_) => Work::Disks,
            // It is refused.
            Self::SetGi(_) => Work::Files,
        }
    }

    pub(crate) fn targets(&self) -> &[String] {
        match self {
            Self::DumpMd(of) | Self::GetGi(of) | Self::ShowGi(of) => &of.targets,
            Self::WipeMd(wipe) => &wipe.of.targets,
            Self::SetGi(_) => &[],
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self::GetGi(_) | Self::ShowGi(_) => Scope::PeerDevice,
            Self::DumpMd(_) | Self::WipeMd(_) | Self::SetGi(_) => Scope::Volume,
        }
    }

    fn disks(&self) -> Option<&OwnDisks> {
        match self {
            Self::DumpMd(of) | Self::GetGi(of) | Self::ShowGi(of) => Some(of),
            Self::WipeMd(wipe) => Some(&wipe.of),
            Self::SetGi(_) => None,
        }
    }

    fn node(&self) -> Option<&String> {
        self.disks().and_then(|of| of.node.as_ref())
    }

    fn state_dir(&self) -> &Path {
        self.disks().map_or_else(|| Path::new(""), |of| &of.state_dir)
    }
}

pub(crate) fn run(
    general: &General,
    verb: &SuperblockVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    if let SuperblockVerb::SetGi(_) = verb {
        return Err(AdmError::configuration(
            "a generation is what a majority of the voters chose; it is not set by hand",
            "`new-current-uuid --clear-bitmap` where the replicas are known to be equal, \
             `connect --discard-my-data` or `invalidate` where one is to be copied anew",
        ));
    }
    let targets = parse_targets(verb.targets(), verb.scope())?;
    let configuration = Configuration::load(general)?;
    let node = NodeName::or_host(verb.node().map(String::as_str))?;
    for one in configuration.select(&targets, || Ok(node.clone()), gathering)? {
        let resource = configuration.resource(&one.resource);
        let answered = resource.and_then(|resource| {
            each_volume(resource, &one)
                .iter()
                .try_for_each(|one| answer(resource, one, &node, verb, gathering))
        });
        if let Err(error) = answered {
            gathering.failed(&one.resource, &error);
        }
    }
    Ok(())
}

fn answer(
    resource: &Resource,
    one: &One,
    node: &NodeName,
    verb: &SuperblockVerb,
    gathering: &mut Gathering,
) -> Result<(), AdmError> {
    let own = own_disk(resource, one, node)?;
    let metadata_disk = own.metadata_disk.as_deref();
    if let SuperblockVerb::WipeMd(WipeMd { force, .. }) = verb {
        let overwrite = if *force { Overwrite::Force } else { Overwrite::Refuse };
        let wiped = wipe_md(&own.disk, metadata_disk, overwrite)?;
        let disk = metadata_disk.unwrap_or(&own.disk).display();
        let change = wiped.map(|what| format!("wiped {what} off {disk}"));
        gathering.done(&resource.name, change.into_iter().collect(), Vec::new());
        return Ok(());
    }
    let further = further_number(resource, own.volume.number);
    let former_bytes = former_size(verb.state_dir(), &resource.name, further);
    let all = read_md(&own.disk, metadata_disk, former_bytes)?;
    let Some(found) = all.first() else { return Ok(()) };
    if matches!(verb, SuperblockVerb::DumpMd(_)) {
        let mut value = as_json(found);
        if let [_, former] = &all[..] {
            // It grew: one of the two is of an earlier use.
            value["where-it-ended-before"] = as_json(former);
        }
        gathering.answer(&as_text(&value, 0), Answer::Json(value));
        return Ok(());
    }
    let peers = || resource.hosts.iter().filter(|host| host.node_id != own.host.node_id);
    if let Some(peer) = one.unknown_peer(peers().map(|it| it.name.as_str()))? {
        let names: Vec<&str> = peers().map(|peer| peer.name.as_str()).collect();
        return Err(no_peer(peer, &names));
    }
    for host in peers().filter(|host| one.means_peer(&host.name)) {
        let slots = &found.superblock.slots;
        let slot = slots.iter().find(|slot| slot.member.get() == host.node_id);
        let line = generation(&found.superblock, slot);
        let text = if matches!(verb, SuperblockVerb::GetGi(_)) {
            format!("{line}\n")
        } else {
            in_words(&found.superblock, slot, &host.name)
        };
        let peer = &host.name;
        let value = json!({ "resource": resource.name, "peer": peer, "generation": line });
        gathering.answer(&text, Answer::Json(value));
    }
    Ok(())
}

/// In the shape of DRBD's line: two replicas of one history have the same first part, and bits for
/// a peer are there where the second one is not 0.
fn generation(superblock: &Superblock, slot: Option<&Slot>) -> String {
    let bitmap = slot.filter(|slot| slot.in_use).map_or(0, |slot| slot.base_epoch.0);
    format!(
        "{:016X}:{bitmap:016X}:{:016X}:{:016X}:{}:{}:{}",
        superblock.branch.0,
        superblock.joined.0,
        0,
        u8::from(is_consistent(superblock.state)),
        u8::from(superblock.state == ReplicaState::InSync),
        u8::from(superblock.clean),
    )
}

fn is_consistent(state: ReplicaState) -> bool {
    match state {
        ReplicaState::InSync | ReplicaState::Outdated => true,
        ReplicaState::Blank | ReplicaState::Syncing | ReplicaState::Failed => false,
    }
}

fn in_words(superblock: &Superblock, slot: Option<&Slot>, peer: &str) -> String {
    let bitmap = match slot {
        Some(Slot { in_use: true, base_epoch, .. }) => {
            format!("what {peer} lacks since epoch {}", base_epoch.0)
        }
        Some(_) => format!("{peer} lacks nothing"),
        None => format!("no slot for {peer}"),
    };
    let end = if superblock.clean { "clean" } else { "not clean: the log is applied at the start" };
    format!(
        "{}/{} and {peer}\n  branch        {:016x}\n  bitmap        {bitmap}\n  \
         joined        epoch {}\n  data          {}\n  end of use    {end}\n",
        superblock.resource_name,
        superblock.volume,
        superblock.branch.0,
        superblock.joined.0,
        state_word(superblock.state),
    )
}

fn state_word(state: ReplicaState) -> &'static str {
    match state {
        ReplicaState::Blank => "blank",
        ReplicaState::Syncing => "syncing",
        ReplicaState::InSync => "in-sync",
        ReplicaState::Outdated => "outdated",
        ReplicaState::Failed => "failed",
    }
}

fn as_json(found: &Metadata) -> Value {
    let it = &found.superblock;
    let hex = |number: u64| format!("{number:016x}");
    let slot = |slot: &Slot| {
        json!({
            "member": slot.member.get(),
            "base-epoch": slot.base_epoch.0,
            "base-incarnation": format!("{:032x}", slot.base_incarnation.0),
            "in-use": slot.in_use,
        })
    };
    let further = it.further.iter().map(|disk| {
        json!({
            "volume": disk.place.number(),
            "incarnation": format!("{:032x}", disk.incarnation.0),
            "size-bytes": disk.size_bytes,
            "content": format!("{:?}", disk.content),
        })
    });
    let vote = it.vote.as_ref().map(|vote| {
        json!({
            "store": hex(vote.store.0),
            "ballot": vote.ballot.counter,
            "epoch": vote.value().epoch.0,
            "value-id": hex(vote.value().value_id.0),
        })
    });
    json!({
        "disk": found.disk,
        "end-bytes": found.end_bytes,
        "readable-copies": found.copies,
        "resource": it.resource_name,
        "volume": it.volume,
        "node-id": it.node.get(),
        "state": state_word(it.state),
        "clean": it.clean,
        "size-bytes": it.size_bytes,
        "lanes": it.lanes,
        "branch": hex(it.branch.0),
        "joined-epoch": it.joined.0,
        "incarnation": format!("{:032x}", it.incarnation.0),
        "sealed": { "ballot": it.sealed.ballot.counter, "nonce": hex(it.sealed.nonce.0) },
        "candidate": it.candidate.map(|candidate| json!({
            "epoch": candidate.epoch.0,
            "value-id": hex(candidate.value_id.0),
        })),
        "write-counter": it.write_counter,
        "kernel-boot-id": format!("{:032x}", it.kernel_boot_id.0),
        "vote-stamp": {
            "store": hex(it.vote_stamp.store.0),
            "promised": it.vote_stamp.promised.counter,
            "epoch": it.vote_stamp.epoch.0,
            "write-counter": it.vote_stamp.write_counter,
        },
        "vote": vote,
        "slots": it.slots.iter().map(slot).collect::<Vec<_>>(),
        "further-volumes": further.collect::<Vec<_>>(),
    })
}

/// The same as lines: what belongs to a name stands below it, further in.
fn as_text(value: &Value, indent: usize) -> String {
    let Value::Object(fields) = value else { return String::new() };
    let line = |(name, value): (&String, &Value)| match value {
        Value::Null => String::new(),
        Value::Object(_) => format!("{:indent$}{name}:\n{}", "", as_text(value, indent + 4)),
        Value::Array(all) => all
            .iter()
            .map(|one| format!("{:indent$}{name}:\n{}", "", as_text(one, indent + 4)))
            .collect(),
        Value::String(text) => format!("{:indent$}{name}: {text}\n", ""),
        Value::Bool(_) | Value::Number(_) => format!("{:indent$}{name}: {value}\n", ""),
    };
    fields.iter().map(line).collect()
}
