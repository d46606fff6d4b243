//! `adopt`: replicas whose voters lost their state directories.
//!
//! What a node still has (the superblock of its disk, and its config register if that is there) is
//! its remains: `look` reads them, `judge` says what follows from those of all nodes, and `adopt`
//! makes it this node's state. Every node judges for itself; the same remains give the same value
//! (replication's `adoption`).
//!
//! The resource has to be down here: its disks and its register are locked for as long as this
//! takes, and for longer than a lease lasts that this node's voter may have granted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io as stdio;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use api::response::Failure;
use engine::definition::Definition;
use format::error::EncodeError;
use format::ids::{MemberSet, NodeId};
use format::metadata::{Register, ReplicaState, Superblock};
use format::register::{REGISTER_SLOT_BYTES, decode_register, encode_register, newest_register};
use format::superblock::{decode_superblock, encode_superblock};
use replication::adoption::{self, Fate, Obstacle, Proof, Remains, Verdict};
use replication::limits::VOTER_HOLD_OFF;

use super::{lock_and_read, read_activity, read_pages, write_version};
use crate::attach::error::AttachError;
use crate::attach::volumes::Volumes;
use crate::patience::Patience;
use crate::state_dir::{disk_size_in, sync_directory, write_durably};

/// How long a daemon that was killed may take to let its files go.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct OrphanOptions {
    pub resource: String,
    /// Name of this node in the text.
    pub node: String,
    pub config_text: String,
    pub state_dir: PathBuf,
}

/// What one node has, as it goes from node to node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    pub node: u8,
    pub superblock: Option<Vec<u8>>,
    pub register: Option<Vec<u8>>,
    /// Blocks that this replica's slots mark, by the member that misses them.
    pub marked: BTreeMap<u8, u64>,
    /// Extents of 4 MiB that may differ after an end without notice.
    pub active_extents: u64,
}

/// What the superblock and the register say, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub state: Option<&'static str>,
    pub branch: String,
    pub joined: u64,
    pub is_clean: bool,
    /// How often the superblock was written: its age.
    pub write_counter: u64,
    /// The newest value that the node's voter accepted.
    pub vote: Option<SaidVote>,
    pub has_vote_store: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidVote {
    pub branch: String,
    pub epoch: u64,
    /// Its number among all proposals, older ones first.
    pub ballot: u64,
    pub in_sync: Vec<u8>,
    pub voters: Vec<u8>,
}

/// What follows, for every node.
#[derive(Clone, Debug)]
pub struct Judgement {
    verdict: Verdict,
    pub from_branch: String,
    pub from_epoch: u64,
    pub branch: String,
    pub epoch: u64,
    pub in_sync: Vec<u8>,
    pub voters: Vec<u8>,
    pub proof: Shown,
    pub replicas: Vec<Returning>,
}

/// Whether acknowledged writes may be lost by this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    Complete,
    /// What these nodes know may be newer.
    Missing(Vec<u8>),
    Contradicting,
    /// These acknowledged what they had in memory alone.
    InMemory(Vec<u8>),
}

/// What becomes of one replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returning {
    pub node: u8,
    pub fate: Way,
    /// Blocks that replicas in sync mark for it, at most.
    pub marked: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    InSync,
    Incremental,
    Full,
    Unknown,
    NoReplica,
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    NothingKnown,
    NotLookedAt(Vec<u8>),
    HasQuorum(Vec<u8>),
    NoData(Vec<u8>),
    Parted(Vec<u8>),
    Unreadable { node: u8, reason: String },
}

/// Whether this run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopted {
    Now,
    Before,
    /// The value gives this node no vote: it gets one from whoever leads.
    WithoutVote,
}

/// Reads what this node has.
///
/// # Errors
/// If the resource is up here, if its disk is not there or has no metadata of it, and if a disk
/// fails.
pub fn look(options: &OrphanOptions) -> Result<Traces, Failure> {
    Held::open(options, Missing::Stays, |held| held.traces())
}

/// What follows from the remains of all nodes but `given_up`.
///
/// # Errors
/// Where nothing does, or nothing is needed.
pub fn judge(all: &[Traces], expected: &[u8], given_up: &[u8]) -> Result<Judgement, Refusal> {
    let remains = all.iter().map(remains_of).collect::<Result<Vec<_>, _>>()?;
    let verdict =
        adoption::judge(&remains, set(expected), set(given_up)).map_err(
            |obstacle| match obstacle {
                Obstacle::NothingKnown => Refusal::NothingKnown,
                Obstacle::NotLookedAt(nodes) => Refusal::NotLookedAt(ids(nodes)),
                Obstacle::HasQuorum(nodes) => Refusal::HasQuorum(ids(nodes)),
                Obstacle::NoData(nodes) => Refusal::NoData(ids(nodes)),
                Obstacle::Parted(nodes) => Refusal::Parted(ids(nodes)),
            },
        )?;
    let value = &verdict.value;
    let in_sync = value.volumes.first().map_or(MemberSet::EMPTY, |volume| volume.insync_set());
    let sources = || all.iter().filter(|one| ids(in_sync).contains(&one.node));
    let replicas = verdict.fates.iter().map(|(node, fate)| Returning {
        node: node.get(),
        fate: match fate {
            Fate::InSync => Way::InSync,
            Fate::Incremental => Way::Incremental,
            Fate::Full => Way::Full,
            Fate::Unknown => Way::Unknown,
            Fate::NoReplica => Way::NoReplica,
        },
        marked: sources().filter_map(|one| one.marked.get(&node.get())).max().copied(),
    });
    Ok(Judgement {
        from_branch: hex(verdict.base.branch.0),
        from_epoch: verdict.base.epoch.0,
        branch: hex(value.branch.0),
        epoch: value.epoch.0,
        in_sync: ids(in_sync),
        voters: value.voters.iter().map(|voter| voter.node.get()).collect(),
        proof: match verdict.proof {
            Proof::Complete => Shown::Complete,
            Proof::Missing(nodes) => Shown::Missing(ids(nodes)),
            Proof::Contradicting => Shown::Contradicting,
            Proof::InMemory(nodes) => Shown::InMemory(ids(nodes)),
        },
        replicas: replicas.collect(),
        verdict,
    })
}

/// Makes the judgement this node's state. `given` are its remains as they were judged.
///
/// # Errors
/// If the node is not any more as it was judged, and as `look`.
pub fn adopt(
    options: &OrphanOptions,
    judgement: &Judgement,
    given: &Traces,
) -> Result<Adopted, Failure> {
    Held::open(options, Missing::IsMade, |held| held.adopt(&judgement.verdict, given))
}

/// The disks and the register of a resource, locked.
struct Held<'a> {
    definition: &'a Definition,
    disks: Option<(Volumes<'a>, Superblock)>,
    register_path: PathBuf,
    /// Locked until the work is done: an `up` meanwhile waits, and finds what was written. None
    /// where there is none and none is to be made.
    register_file: Option<File>,
    /// Its content, as it was found.
    register: Option<Vec<u8>>,
}

/// Whether a config register is made where none is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Stays,
    IsMade,
}

impl Held<'_> {
    fn open<T>(
        options: &OrphanOptions,
        missing: Missing,
        work: impl FnOnce(&mut Held<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let OrphanOptions { resource, node, config_text, state_dir } = options;
        let definition = Definition::from_text(node, resource, config_text)?;
        let mut patience = Patience::new(PATIENCE);
        let folder = state_dir.join("resources");
        let register_path = folder.join(format!("{resource}.register"));
        let disks = match &definition.disk {
            None => None,
            Some(place) => {
                let former = |volume| disk_size_in(state_dir, (resource, volume));
                Some(Volumes::open(&definition, (place, former), &mut patience)?)
            }
        };
        let opened = open_register(&register_path, missing, &mut patience)
            .map_err(|error| AttachError::register("use", &register_path, resource, error))?;
        let (register_file, register) = opened.unzip();
        // What was made just now, or by a run that ended early, holds nothing.
        let register = register.filter(|bytes| !bytes.is_empty());
        let definition = &definition;
        work(&mut Held { definition, disks, register_path, register_file, register })
    }

    fn traces(&self) -> Result<Traces, Failure> {
        let mut traces = Traces {
            node: self.definition.me.get(),
            superblock: None,
            register: None,
            marked: BTreeMap::new(),
            active_extents: 0,
        };
        // One that cannot be read is lost.
        let register = self.register.as_deref().and_then(|bytes| newest_register(bytes).ok());
        if let Some(register) = register {
            let mut slot = vec![0; REGISTER_SLOT_BYTES];
            let place = slot.first_chunk_mut().expect("made as long as a slot");
            let length =
                encode_register(&register, place).map_err(|source| self.not_encoded(source))?;
            slot.truncate(length);
            traces.register = Some(slot);
        }
        let Some((volumes, superblock)) = &self.disks else { return Ok(traces) };
        let (device, layout) = volumes.first();
        let mut block = [0; format::superblock::SUPERBLOCK_BYTES];
        encode_superblock(superblock, layout, &mut block)
            .map_err(|error| device.not_encoded(error))?;
        traces.superblock = Some(block.to_vec());
        let mut pages = Vec::new();
        for (place, device, layout) in volumes.all() {
            read_pages(device, superblock, (place, layout), &mut pages)?;
        }
        for page in &pages {
            let bits: u64 = page.bits.iter().map(|word| u64::from(word.count_ones())).sum();
            *traces.marked.entry(page.member.get()).or_default() += bits;
        }
        if !superblock.clean {
            let activity = read_activity(device, superblock, layout, self.definition)?;
            let active = activity.active;
            traces.active_extents = active.len() as u64;
        }
        Ok(traces)
    }

    fn adopt(&mut self, verdict: &Verdict, given: &Traces) -> Result<Adopted, Failure> {
        let now = self.traces()?;
        let name = &self.definition.name;
        let (mine, was) = (remains_here(&now, name)?, remains_here(given, name)?);
        if mine.register.as_ref().is_some_and(|it| is_of(it, verdict))
            && mine.superblock.as_ref().is_none_or(|it| it.vote_stamp.promised >= verdict.ballot)
        {
            return Ok(Adopted::Before);
        }
        // A run that ended between the two writes has the new register and the old disk.
        let is_half = mine.register.as_ref().is_some_and(|it| is_of(it, verdict));
        let is_same = mine.superblock == was.superblock && mine.register == was.register;
        if !is_same && (!is_half || mine.superblock != was.superblock) {
            return Err(AttachError::SavedEarlier { resource: name.clone() }.into());
        }
        wait_for_leases();
        let superblock = self.disks.as_mut().map(|(_, superblock)| superblock);
        let register =
            adoption::install(verdict, self.definition.me, was.register.as_ref(), superblock);
        let Some(register) = register else { return Ok(Adopted::WithoutVote) };
        self.write_register(&register)?;
        if let Some((volumes, superblock)) = &mut self.disks {
            volumes.write_superblock(superblock)?;
        }
        Ok(Adopted::Now)
    }

    fn not_encoded(&self, source: EncodeError) -> AttachError {
        let path = self.register_path.clone();
        AttachError::Encode { part: "the config register", path, source }
    }

    /// The file has the old version or the new one after a crash, for `install` counts on to the
    /// other slot; the old file is kept beside it.
    fn write_register(&self, register: &Register) -> Result<(), Failure> {
        let path = &self.register_path;
        let name = &self.definition.name;
        let wrong = |error| Failure::from(AttachError::register("write", path, name, error));
        if let Some(bytes) = &self.register {
            let kept = path.with_extension("register-before-adopt");
            if !kept.exists() {
                write_durably(&kept, bytes).map_err(wrong)?;
            }
        }
        let file = self.register_file.as_ref().expect("adopt makes it where there is none");
        if self.register.as_ref().is_some_and(|bytes| newest_register(bytes).is_err()) {
            // Nothing of it is good, and what is left would make the new version no good either.
            file.set_len(0).map_err(wrong)?;
        }
        write_version(file, register).map_err(wrong)?;
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        sync_directory(folder).map_err(wrong)
    }
}

/// The file, locked, and what it holds.
fn open_register(
    path: &Path,
    missing: Missing,
    patience: &mut Patience,
) -> stdio::Result<Option<(File, Vec<u8>)>> {
    let is_to_be_made = missing == Missing::IsMade;
    if is_to_be_made && let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = File::options();
    options.read(true).write(is_to_be_made).create(is_to_be_made);
    let file = match options.open(path) {
        Err(error) if error.kind() == stdio::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let bytes = lock_and_read(&file, patience)?;
    Ok(Some((file, bytes)))
}

/// The register has the value, or one that came after it.
fn is_of(register: &Register, verdict: &Verdict) -> bool {
    let branch = verdict.value.branch;
    register.accepted.as_ref().is_some_and(|(_, value)| {
        value.branch == branch || value.ancestors.iter().any(|known| known.branch == branch)
    })
}

/// A lease that this node's voter granted may be in use until then.
fn wait_for_leases() {
    let until = io::now() + VOTER_HOLD_OFF;
    while io::now() < until {
        thread::park_timeout(until.since(io::now()));
    }
}

// ---- From bytes.

fn remains_here(traces: &Traces, resource: &str) -> Result<Remains, Failure> {
    let damaged = |reason| AttachError::Remains { reason, resource: resource.to_owned() }.into();
    remains_in(traces).map_err(damaged)
}

fn remains_of(traces: &Traces) -> Result<Remains, Refusal> {
    remains_in(traces).map_err(|reason| Refusal::Unreadable { node: traces.node, reason })
}

/// Or why they cannot be read.
fn remains_in(traces: &Traces) -> Result<Remains, String> {
    let node = NodeId::new(traces.node).ok_or_else(|| "no node id".to_owned())?;
    let superblock = traces.superblock.as_ref().map(|bytes| {
        let block = bytes.first_chunk().ok_or_else(|| "it is too short".to_owned())?;
        decode_superblock(block).map(|(superblock, _)| superblock).map_err(|it| it.to_string())
    });
    let superblock = superblock.transpose()?;
    if superblock.as_ref().is_some_and(|superblock| superblock.node != node) {
        return Err("its superblock is of another node".to_owned());
    }
    let register = traces.register.as_ref().map(|bytes| {
        let mut slot = vec![0; REGISTER_SLOT_BYTES];
        let place = slot.get_mut(..bytes.len()).ok_or_else(|| "it is too long".to_owned())?;
        place.copy_from_slice(bytes);
        let slot = slot.first_chunk().expect("made as long as a slot");
        decode_register(slot).map_err(|error| error.to_string())
    });
    let register = register.transpose()?;
    Ok(Remains { node, register, superblock })
}

/// What the remains of a node say.
///
/// # Errors
/// If they cannot be read.
pub fn said(traces: &Traces) -> Result<Said, Refusal> {
    let Remains { register, superblock, .. } = remains_of(traces)?;
    let accepted = register.as_ref().and_then(|register| register.accepted.as_ref());
    let of_register = accepted.map(|(ballot, value)| (*ballot, value));
    let copy = superblock.as_ref().and_then(|superblock| superblock.vote.as_ref());
    let of_disk = copy.map(|vote| (vote.ballot, vote.value()));
    let newest = of_register.into_iter().chain(of_disk).max_by_key(|(ballot, _)| *ballot);
    let vote = newest.map(|(ballot, value)| SaidVote {
        branch: hex(value.branch.0),
        epoch: value.epoch.0,
        ballot: ballot.counter,
        in_sync: value.volumes.first().map_or_else(Vec::new, |it| ids(it.insync_set())),
        voters: value.voters.iter().map(|voter| voter.node.get()).collect(),
    });
    let mut said = Said { vote, has_vote_store: accepted.is_some(), ..Said::default() };
    if let Some(superblock) = superblock {
        said.state = Some(match superblock.state {
            ReplicaState::Blank => "Blank",
            ReplicaState::Syncing => "Syncing",
            ReplicaState::InSync => "InSync",
            ReplicaState::Outdated => "Outdated",
            ReplicaState::Failed => "Failed",
        });
        said.branch = hex(superblock.branch.0);
        said.joined = superblock.joined.0;
        said.is_clean = superblock.clean;
        said.write_counter = superblock.write_counter;
    }
    Ok(said)
}

fn hex(branch: u64) -> String {
    format!("{branch:016X}")
}

fn ids(nodes: MemberSet) -> Vec<u8> {
    nodes.iter().map(NodeId::get).collect()
}

fn set(ids: &[u8]) -> MemberSet {
    ids.iter().copied().filter_map(NodeId::new).collect()
}
