//! One pass over what the node is to have: makes it so as far as it can, and says what there is.
//!
//! A pass asks the daemon once what runs, and does at most one step for each volume; the next pass
//! does the next one. Each step may be repeated: a crash between two of them costs nothing. The
//! agent notes two facts of a volume in files of its own: the text that the daemon has of it, and
//! that the role here is the agent's doing.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use api::agent::{
    Document, Observed, ObservedPool, ObservedState, ObservedVolume, Want, WantedDisk, WantedPool,
    WantedVolume, data_path, metadata_path,
};
use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::ResourceStatus;

use crate::daemon::{Daemon, Detail, Vote};
use crate::pools::{Disk, observe};

#[derive(Clone, Debug)]
pub(crate) struct Reconciler {
    pub(crate) daemon: Daemon,
    /// For the notes of volumes.
    pub(crate) folder: PathBuf,
}

/// A pass, and whether another one right after it has something to do.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) observed: Observed,
    pub(crate) is_settled: bool,
}

impl Reconciler {
    pub(crate) fn pass(&self, document: &Document) -> Pass {
        let pools: Vec<ObservedPool> =
            document.pools.iter().map(|it| observe(it, &self.folder)).collect();
        let revision = document.revision;
        let grows = document.volumes.iter().any(|it| it.grow_to.is_some());
        let detail = if grows { Detail::Statistics } else { Detail::States };
        let running = match self.daemon.status(detail) {
            Ok(running) => running,
            Err(problem) => {
                let problem = Some(problem);
                let observed = Observed { revision, problem, pools, volumes: Vec::new() };
                return Pass { observed, is_settled: true };
            }
        };
        let running: BTreeMap<&str, &ResourceStatus> =
            running.iter().map(|resource| (resource.name.as_str(), resource)).collect();
        let mut is_settled = true;
        let mut volumes = Vec::new();
        for wanted in &document.volumes {
            let resource = running.get(wanted.name.as_str()).copied();
            let step = self.step(wanted, resource, &document.pools);
            let problem = match step {
                Ok(Step::Nothing) => None,
                Ok(Step::Taken | Step::Waits) => {
                    is_settled = false;
                    None
                }
                Err(problem) => Some(problem),
            };
            // Another one's resource of the name says nothing of this volume.
            let parts = parts_of(wanted, &document.pools).unwrap_or_default();
            let resource = resource.filter(|it| self.is_ours(wanted, it, &parts));
            volumes.push(observed(wanted, resource, &step_state(wanted, resource), problem));
        }
        Pass { observed: Observed { revision, problem: None, pools, volumes }, is_settled }
    }

    fn step(
        &self,
        wanted: &WantedVolume,
        resource: Option<&ResourceStatus>,
        pools: &[WantedPool],
    ) -> Result<Step, String> {
        let parts = parts_of(wanted, pools)?;
        match wanted.want {
            Want::Gone => return self.take_away(wanted, resource, &parts),
            Want::Leave => return self.take_down(wanted, resource, &parts),
            Want::Up | Want::Birth | Want::Attached => {}
        }
        if resource.is_some_and(|resource| !self.is_ours(wanted, resource, &parts)) {
            return Err(format!(
                "a resource {:?} is up here that is none of the cluster's volumes: take it down, \
                 or give the volume another name",
                wanted.name
            ));
        }
        let text = text_for(wanted, &parts);
        if let Some(part) = parts.iter().find(|part| !part.disk.is_made()) {
            if !part.wanted.new {
                return Err(format!(
                    "its disk {} is gone: see whether the file system of the pool is mounted; \
                     nothing is made in its place",
                    part.disk.folder.display()
                ));
            }
            self.make(wanted, part, &text)?;
            return Ok(Step::Taken);
        }
        // A pool without room for more keeps no role away: it is told with the last step.
        let mut grown = parts.iter().map(|it| it.disk.grow(it.pool.kind, it.wanted.size_bytes));
        let grown = grown.find(Result::is_err).unwrap_or(Ok(()));
        let Some(resource) = resource else {
            let is_vouched = self.noted(wanted, "vouched").is_some();
            let vote = if is_vouched { Vote::Known } else { Vote::Fresh };
            self.note(wanted, "res", &text)?;
            self.daemon.up(&wanted.name, &text, vote)?;
            return Ok(Step::Taken);
        };
        if self.noted(wanted, "vouched").is_none() {
            self.note(wanted, "vouched", "")?;
        }
        if self.noted(wanted, "res").as_deref() != Some(text.as_str()) {
            self.daemon.adjust(&wanted.name, &text)?;
            self.note(wanted, "res", &text)?;
            return Ok(Step::Taken);
        }
        let given = self.give_role(wanted, resource)?;
        grown?;
        match wanted.grow_to {
            Some(it) if size_of(resource, it.number).is_none_or(|known| known < it.size_bytes) => {
                self.daemon.resize(&wanted.name, it.number, it.size_bytes).map(|()| Step::Taken)
            }
            Some(_) | None => Ok(given),
        }
    }

    /// A resource that runs is this volume: it has its disk, or, without one, the agent's note.
    fn is_ours(
        &self,
        wanted: &WantedVolume,
        resource: &ResourceStatus,
        parts: &[Part<'_>],
    ) -> bool {
        let is_noted = || self.noted(wanted, "res").is_some();
        let path = resource.devices.iter().find_map(|device| device.backing_dev.as_deref());
        let (Some(path), false) = (path, parts.is_empty()) else {
            // A disk that is out of use is told without its path.
            return is_noted();
        };
        parts.iter().any(|part| Path::new(path) == part.disk.data())
    }

    fn give_role(&self, wanted: &WantedVolume, resource: &ResourceStatus) -> Result<Step, String> {
        let is_primary = resource.role == Role::Primary;
        match wanted.want {
            Want::Birth if is_whole(resource) => Ok(Step::Nothing),
            Want::Birth if !is_connected(resource) => Ok(Step::Waits),
            Want::Birth => self.daemon.begin_equal(&wanted.name).map(|()| Step::Taken),
            Want::Attached if !is_primary => {
                self.note(wanted, "attached", "")?;
                self.daemon.primary(&wanted.name).map(|()| Step::Taken)
            }
            // A role that somebody else took here is theirs.
            Want::Up if is_primary && self.noted(wanted, "attached").is_some() => {
                self.daemon.secondary(&wanted.name)?;
                self.forget(wanted, "attached")?;
                Ok(Step::Taken)
            }
            Want::Up | Want::Attached | Want::Leave | Want::Gone => Ok(Step::Nothing),
        }
    }

    /// Files of the right size, and metadata in them.
    fn make(&self, wanted: &WantedVolume, part: &Part<'_>, text: &str) -> Result<(), String> {
        part.disk.begin(part.pool.kind, part.wanted.size_bytes)?;
        // Its own file: of a witness that gets a disk the daemon still has the former text.
        self.note(wanted, "draft", text)?;
        self.daemon.create_md(&self.path(wanted, "draft"), &wanted.name, part.wanted.number)?;
        self.forget(wanted, "draft")?;
        part.disk.finish()
    }

    /// Another one's resource of the name is not touched.
    fn take_down(
        &self,
        wanted: &WantedVolume,
        resource: Option<&ResourceStatus>,
        parts: &[Part<'_>],
    ) -> Result<Step, String> {
        let Some(resource) = resource.filter(|it| self.is_ours(wanted, it, parts)) else {
            return Ok(Step::Nothing);
        };
        if resource.role == Role::Primary && self.noted(wanted, "attached").is_some() {
            self.daemon.secondary(&wanted.name)?;
        }
        self.daemon.down(&wanted.name)?;
        Ok(Step::Taken)
    }

    fn take_away(
        &self,
        wanted: &WantedVolume,
        resource: Option<&ResourceStatus>,
        parts: &[Part<'_>],
    ) -> Result<Step, String> {
        if self.take_down(wanted, resource, parts)? == Step::Taken {
            return Ok(Step::Taken);
        }
        // Without the note the vote that the daemon keeps may be another resource's.
        if resource.is_none() && self.noted(wanted, "vouched").is_some() {
            self.daemon.down(&wanted.name)?;
            self.daemon.forget(&wanted.name)?;
        }
        for part in parts {
            part.disk.remove()?;
        }
        for kind in ["draft", "res", "attached", "vouched"] {
            self.forget(wanted, kind)?;
        }
        Ok(Step::Nothing)
    }

    fn path(&self, wanted: &WantedVolume, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", wanted.id))
    }

    fn noted(&self, wanted: &WantedVolume, kind: &str) -> Option<String> {
        fs::read_to_string(self.path(wanted, kind)).ok()
    }

    fn note(&self, wanted: &WantedVolume, kind: &str, text: &str) -> Result<(), String> {
        let path = self.path(wanted, kind);
        write_whole(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn forget(&self, wanted: &WantedVolume, kind: &str) -> Result<(), String> {
        let path = self.path(wanted, kind);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}", path.display()))
            }
            Err(_) | Ok(()) => Ok(()),
        }
    }
}

/// What a pass did for a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Taken,
    /// For others.
    Waits,
}

/// Whole or not there: a reader of half a text would adjust by it.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let draft = path.with_extension("new");
    fs::write(&draft, text)?;
    fs::rename(&draft, path)
}

/// A part of the volume that has its data on this node.
#[derive(Debug)]
struct Part<'a> {
    wanted: &'a WantedDisk,
    pool: &'a WantedPool,
    disk: Disk,
}

fn parts_of<'a>(
    wanted: &'a WantedVolume,
    pools: &'a [WantedPool],
) -> Result<Vec<Part<'a>>, String> {
    let part = |disk: &'a WantedDisk| {
        let pool = pools.iter().find(|it| it.id == disk.pool);
        let pool = pool.ok_or("its pool is not one of this node")?;
        Ok(Part { wanted: disk, pool, disk: Disk::of(pool, &wanted.id, disk.number)? })
    };
    wanted.disks.iter().map(part).collect()
}

/// The configuration with the paths of this node.
fn text_for(wanted: &WantedVolume, parts: &[Part<'_>]) -> String {
    let mut text = wanted.config_text.clone();
    for part in parts {
        let (number, path) = (part.wanted.number, |path: PathBuf| path.display().to_string());
        text = text.replace(&metadata_path(number), &path(part.disk.metadata()));
        text = text.replace(&data_path(number), &path(part.disk.data()));
    }
    text
}

fn is_whole(resource: &ResourceStatus) -> bool {
    resource.devices.iter().all(|device| device.disk_state == DiskState::UpToDate)
}

fn is_connected(resource: &ResourceStatus) -> bool {
    resource.connections.iter().all(|it| it.connection_state == ConnectionState::Connected)
}

fn primary_peer_of(resource: &ResourceStatus) -> Option<String> {
    let primary = resource.connections.iter().find(|it| it.peer_role == Role::Primary);
    primary.map(|it| it.name.clone())
}

fn peers_of(resource: &ResourceStatus) -> Vec<String> {
    resource.connections.iter().map(|it| it.name.clone()).collect()
}

fn insync_of(resource: &ResourceStatus) -> Vec<String> {
    let known = resource.epoch.as_ref().filter(|epoch| epoch.age_ms.is_none());
    known.map_or_else(Vec::new, |epoch| epoch.insync.clone())
}

/// Of a part, in bytes.
fn size_of(resource: &ResourceStatus, number: u16) -> Option<u64> {
    let statistics = resource.devices.iter().find(|it| it.volume == number)?.statistics?;
    Some(statistics.size * 1024)
}

/// Thousandths of the disk that are in sync, while a peer brings the rest; rounded down: no disk
/// that is not whole is told to be.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
fn synced_of(resource: &ResourceStatus) -> Option<u16> {
    let devices = resource.connections.iter().flat_map(|it| &it.peer_devices);
    let targets = devices.filter(|it| it.replication_state == ReplicationState::SyncTarget);
    let least = targets
        .map(|it| it.percent_in_sync)
        .fold(None, |least: Option<f64>, it| Some(least.map_or(it, |least| least.min(it))))?;
    Some((least.clamp(0.0, 100.0) * 10.0) as u16)
}

fn step_state(wanted: &WantedVolume, resource: Option<&ResourceStatus>) -> ObservedState {
    match (wanted.want, resource) {
        (Want::Gone, None) => ObservedState::Gone,
        (_, Some(_)) => ObservedState::Up,
        (Want::Up | Want::Birth | Want::Attached | Want::Leave, None) => ObservedState::Making,
    }
}

fn observed(
    wanted: &WantedVolume,
    resource: Option<&ResourceStatus>,
    state: &ObservedState,
    problem: Option<String>,
) -> ObservedVolume {
    // Of several parts the worst one counts.
    let devices = || resource.into_iter().flat_map(|resource| &resource.devices);
    let device = devices().find(|it| it.disk_state != DiskState::UpToDate);
    let device = device.or_else(|| devices().next());
    let id = wanted.id.clone();
    // With a problem it is not known to be gone.
    let state = match (*state, &problem) {
        (ObservedState::Gone, Some(_)) => ObservedState::Making,
        (state, _) => state,
    };
    ObservedVolume {
        id,
        state,
        disk: device.map_or_else(String::new, |device| device.disk_state.to_string()),
        role: resource.map_or_else(String::new, |resource| resource.role.to_string()),
        in_use: resource.is_some_and(|it| it.devices.iter().any(|device| device.open)),
        connected: resource.is_some_and(is_connected),
        primary_peer: resource.and_then(primary_peer_of),
        peers: resource.map_or_else(Vec::new, peers_of),
        insync: resource.map_or_else(Vec::new, insync_of),
        size_bytes: wanted.grow_to.and_then(|it| size_of(resource?, it.number)),
        synced: resource.and_then(synced_of),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use api::status::{ConnectionStatus, DeviceStatus};

    use super::*;

    fn wanted(want: Want) -> WantedVolume {
        WantedVolume {
            id: "v-1".to_owned(),
            name: "db".to_owned(),
            want,
            config_text: [0, 10, 1]
                .map(|number| {
                    let (data, metadata) = (data_path(number), metadata_path(number));
                    format!("disk \"{data}\"; meta-disk \"{metadata}\";")
                })
                .concat(),
            disks: Vec::new(),
            grow_to: None,
        }
    }

    fn disk(number: u16) -> WantedDisk {
        WantedDisk { number, pool: "p".to_owned(), size_bytes: 1 << 20, new: false }
    }

    fn pool(location: &str) -> WantedPool {
        let kind = api::cluster::PoolKind::FileThin;
        WantedPool { id: "p".to_owned(), kind, location: location.to_owned() }
    }

    fn resource(disk_state: DiskState, connection_state: ConnectionState) -> ResourceStatus {
        ResourceStatus {
            name: "db".to_owned(),
            devices: vec![DeviceStatus { disk_state, ..DeviceStatus::default() }],
            connections: vec![ConnectionStatus { connection_state, ..ConnectionStatus::default() }],
            ..ResourceStatus::default()
        }
    }

    #[test]
    fn paths_of_the_node_stand_in_its_text() {
        let disks = [0, 1, 10].map(disk).to_vec();
        let wanted = WantedVolume { disks, ..wanted(Want::Up) };
        let pools = [pool("/pool")];
        let text = text_for(&wanted, &parts_of(&wanted, &pools).unwrap());
        let folders = ["/pool/v-1", "/pool/v-1.10", "/pool/v-1.1"];
        let told = |it| format!("disk \"{it}/data\"; meta-disk \"{it}/metadata\";");
        assert_eq!(text, folders.map(told).concat());
    }

    #[test]
    fn volume_with_a_problem_does_not_count_as_gone() {
        let gone = wanted(Want::Gone);
        let state = step_state(&gone, None);
        assert_eq!(observed(&gone, None, &state, None).state, ObservedState::Gone);
        let told = observed(&gone, None, &state, Some("in use".to_owned()));
        assert_eq!(told.state, ObservedState::Making);
    }

    /// Before all are connected one of them could hold something else.
    #[test]
    fn birth_waits_for_all_peers() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon {
            socket: folder.path().join("nobody.sock"),
            program: "/bin/false".into(),
            name: "n0".to_owned(),
        };
        let reconciler = Reconciler { daemon, folder: folder.path().to_owned() };
        let birth = wanted(Want::Birth);
        let apart = resource(DiskState::Inconsistent, ConnectionState::Connecting);
        assert_eq!(reconciler.give_role(&birth, &apart), Ok(Step::Waits));
        let born = resource(DiskState::UpToDate, ConnectionState::Connected);
        assert_eq!(reconciler.give_role(&birth, &born), Ok(Step::Nothing));
        let ready = resource(DiskState::Inconsistent, ConnectionState::Connected);
        let told = reconciler.give_role(&birth, &ready).unwrap_err();
        assert!(told.contains("nobody.sock"), "it asks the daemon: {told}");
    }

    /// A file system that is not mounted looks like a disk that was never made.
    #[test]
    fn disk_of_a_volume_that_was_born_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon {
            socket: folder.path().join("nobody.sock"),
            program: "/bin/true".into(),
            name: "n0".to_owned(),
        };
        let reconciler = Reconciler { daemon, folder: folder.path().to_owned() };
        let location = folder.path().join("pool").to_str().unwrap().to_owned();
        let pools = [pool(&location)];
        let step = |new| {
            let disks = vec![WantedDisk { new, ..disk(0) }];
            reconciler.step(&WantedVolume { disks, ..wanted(Want::Up) }, None, &pools)
        };
        let told = step(false).unwrap_err();
        assert!(told.contains("v-1 is gone: see whether the file system"), "{told}");
        assert!(!folder.path().join("pool").exists());
        assert_eq!(observe(&pools[0], folder.path()).problem, None);
        assert_eq!(step(true), Ok(Step::Taken));
        assert!(folder.path().join("pool/v-1/made").exists());
    }

    /// Its disk was removed below it, and the volume was told to be gone.
    #[test]
    fn resource_that_has_the_disk_of_a_volume_is_that_volume_whatever_was_noted() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon {
            socket: folder.path().join("nobody.sock"),
            program: "/bin/false".into(),
            name: "n0".to_owned(),
        };
        let reconciler = Reconciler { daemon, folder: folder.path().to_owned() };
        let pools = [pool(folder.path().join("pool").to_str().unwrap())];
        assert_eq!(observe(&pools[0], folder.path()).problem, None);
        let gone = WantedVolume { disks: vec![disk(0)], ..wanted(Want::Gone) };
        let parts = parts_of(&gone, &pools).unwrap();
        let mut running = resource(DiskState::UpToDate, ConnectionState::Connected);
        let is_ours = |running: &ResourceStatus| reconciler.is_ours(&gone, running, &parts);
        running.devices[0].backing_dev = Some(parts[0].disk.data().display().to_string());
        assert!(is_ours(&running));
        running.devices[0].backing_dev = Some("/dev/vg/db".to_owned());
        assert!(!is_ours(&running));
        running.devices[0].backing_dev = None;
        assert!(!is_ours(&running), "nothing is noted");
        running.devices[0].backing_dev = Some("/dev/vg/db".to_owned());
        let step = reconciler.take_away(&gone, Some(&running), &parts);
        assert_eq!(step, Ok(Step::Nothing), "the daemon is not asked to take it down");
    }

    #[test]
    fn without_a_daemon_the_problem_is_the_nodes() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon {
            socket: folder.path().join("nobody.sock"),
            program: "/bin/false".into(),
            name: "n0".to_owned(),
        };
        let reconciler = Reconciler { daemon, folder: folder.path().to_owned() };
        let volumes = vec![wanted(Want::Up)];
        let pass = reconciler.pass(&Document { volumes, ..Document::default() });
        assert!(pass.observed.problem.unwrap().contains("nobody.sock"));
    }
}
