//! What the cluster is to be: the objects that the store keeps, and nothing that was only observed.
//!
//! Each object lies in the store under a key of its own. A change of the cluster is a list of
//! [`Change`]s, which are stored all or not at all.

use std::collections::BTreeMap;
use std::net::IpAddr;

use api::cluster::{OperationKind, OperationState, PoolKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The first minor that the controller gives to a volume; an operator's own are below.
pub(crate) const MINOR_FIRST: u32 = 1000;
const MINOR_MAX: u32 = (1 << 20) - 1;
/// Nodes that may have a part of one volume.
pub(crate) const MEMBERS_MAX: u8 = 32;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) address: IpAddr,
    pub(crate) data_port: u16,
    /// A URI with `VOLUME` for the name.
    pub(crate) nbd: String,
    /// Milliseconds since 1970.
    pub(crate) joined_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pool {
    pub(crate) id: Uuid,
    pub(crate) node: Uuid,
    pub(crate) name: String,
    pub(crate) kind: PoolKind,
    pub(crate) location: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volume {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) size_bytes: u64,
    pub(crate) minor: u32,
    pub(crate) phase: Phase,
    pub(crate) placements: Vec<Placement>,
    pub(crate) attached: Option<Uuid>,
    /// An operation sets this, and clears it with its end.
    #[serde(default)]
    pub(crate) growth: Option<Growth>,
    /// The operation that is under way for it.
    pub(crate) operation: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// Its replicas are made. This node says that they are equal, once they are there.
    Birth {
        by: Uuid,
    },
    Live,
    Leaving,
}

/// A volume that becomes larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) to_bytes: u64,
    /// The node that has its daemon do it.
    pub(crate) by: Uuid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Placement {
    pub(crate) node: Uuid,
    /// The number of the node in the resource; it is never another node's.
    pub(crate) node_id: u8,
    /// `None`: no data. It votes as a witness where the replicas are even in number.
    pub(crate) pool: Option<Uuid>,
    #[serde(default)]
    pub(crate) stage: Stage,
    #[serde(default)]
    pub(crate) cause: Cause,
    /// Revision of the last change of it: an agent that tells of an older one tells of something
    /// else. [`Desired::stamp`] sets it.
    #[serde(default)]
    pub(crate) since: u64,
}

/// How far a node's part of a volume is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    #[default]
    In,
    /// Of a volume that was born: its disk is new, and gets what the others have.
    Joining,
    /// The others are to go on without it. Once all that are online do, it goes down, or out of the
    /// volume where it has no data.
    Leaving,
    /// It goes down and keeps its disk. Once the others know that they need it for no write, it is
    /// out of the volume, and a tombstone tells its node.
    Down,
}

/// Why a node has its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cause {
    /// It was asked for, or the planner chose it.
    #[default]
    Planned,
    /// The volume was attached to a node that had none: it goes when the device goes.
    Attach,
}

impl Placement {
    pub(crate) fn is_replica(&self) -> bool {
        self.pool.is_some() && self.stays()
    }

    pub(crate) fn stays(&self) -> bool {
        matches!(self.stage, Stage::In | Stage::Joining)
    }
}

impl Volume {
    pub(crate) fn placement(&self, node: Uuid) -> Option<&Placement> {
        self.placements.iter().find(|it| it.node == node)
    }

    pub(crate) fn replicas(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter().filter(|it| it.is_replica())
    }

    /// With the room for what it is to grow to.
    pub(crate) fn wanted_bytes(&self) -> u64 {
        self.growth.map_or(self.size_bytes, |growth| growth.to_bytes)
    }

    /// A number above all others as long as there is one: a node that left keeps its own.
    pub(crate) fn free_node_id(&self) -> Option<u8> {
        let is_free = |id: &u8| self.placements.iter().all(|it| it.node_id != *id);
        let above = self.placements.iter().map(|it| it.node_id + 1).max().unwrap_or_default();
        (above..MEMBERS_MAX).chain(0..MEMBERS_MAX).find(is_free)
    }
}

/// Of a volume that is gone from all lists, or of a node that has no part of it any more: the node
/// takes its part away, when it is back if it was away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    pub(crate) node: Uuid,
    pub(crate) volume: Uuid,
    pub(crate) name: String,
    pub(crate) pool: Option<Uuid>,
    /// As that of a placement.
    #[serde(default)]
    pub(crate) since: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) id: u64,
    pub(crate) kind: OperationKind,
    pub(crate) object: String,
    pub(crate) state: OperationState,
    /// Why it failed; empty else.
    pub(crate) reason: String,
    pub(crate) began_ms: u64,
    pub(crate) ended_ms: Option<u64>,
}

/// Lets machines in. The secret itself is in no store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Word {
    /// SHA-256 of the secret, in hexadecimal digits.
    pub(crate) digest: String,
    pub(crate) expires_ms: u64,
    pub(crate) uses_left: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Node(Node),
    Pool(Pool),
    Volume(Volume),
    Tombstone(Tombstone),
    Operation(Operation),
    Word(Word),
}

/// Names an object in the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Node(Uuid),
    Pool(Uuid),
    Volume(Uuid),
    Tombstone(Uuid, Uuid),
    Operation(u64),
    Word(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Put(Object),
    Drop(Key),
}

impl Object {
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Node(node) => Key::Node(node.id),
            Self::Pool(pool) => Key::Pool(pool.id),
            Self::Volume(volume) => Key::Volume(volume.id),
            Self::Tombstone(stone) => Key::Tombstone(stone.node, stone.volume),
            Self::Operation(operation) => Key::Operation(operation.id),
            Self::Word(word) => Key::Word(word.digest.clone()),
        }
    }
}

/// All objects, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Desired {
    /// Changes so far.
    pub(crate) revision: u64,
    pub(crate) nodes: BTreeMap<Uuid, Node>,
    pub(crate) pools: BTreeMap<Uuid, Pool>,
    pub(crate) volumes: BTreeMap<Uuid, Volume>,
    pub(crate) tombstones: BTreeMap<(Uuid, Uuid), Tombstone>,
    pub(crate) operations: BTreeMap<u64, Operation>,
    pub(crate) words: BTreeMap<String, Word>,
}

impl Desired {
    /// Notes in the parts of volumes that changes touch that they are of this revision.
    pub(crate) fn stamp(&self, changes: &mut [Change], revision: u64) {
        for change in changes {
            match change {
                Change::Put(Object::Volume(volume)) => self.stamp_volume(volume, revision),
                Change::Put(Object::Tombstone(stone)) => {
                    let old = self.tombstones.get(&(stone.node, stone.volume));
                    stone.since = old.map_or(revision, |old| old.since);
                }
                Change::Put(
                    Object::Node(_) | Object::Pool(_) | Object::Operation(_) | Object::Word(_),
                )
                | Change::Drop(_) => {}
            }
        }
    }

    fn stamp_volume(&self, volume: &mut Volume, revision: u64) {
        let old = self.volumes.get(&volume.id);
        let leaves = volume.phase == Phase::Leaving;
        let is_same_life = old.is_some_and(|old| (old.phase == Phase::Leaving) == leaves);
        for part in &mut volume.placements {
            let old = old.and_then(|old| old.placement(part.node));
            let is_same = |old: &&Placement| (old.stage, old.pool) == (part.stage, part.pool);
            let same = old.filter(is_same).filter(|_| is_same_life);
            part.since = same.map_or(revision, |old| old.since);
        }
    }

    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Put(object) => self.put(object),
            Change::Drop(key) => self.drop_object(&key),
        }
    }

    fn put(&mut self, object: Object) {
        match object {
            Object::Node(it) => drop(self.nodes.insert(it.id, it)),
            Object::Pool(it) => drop(self.pools.insert(it.id, it)),
            Object::Volume(it) => drop(self.volumes.insert(it.id, it)),
            Object::Tombstone(it) => drop(self.tombstones.insert((it.node, it.volume), it)),
            Object::Operation(it) => drop(self.operations.insert(it.id, it)),
            Object::Word(it) => drop(self.words.insert(it.digest.clone(), it)),
        }
    }

    fn drop_object(&mut self, key: &Key) {
        match key {
            Key::Node(id) => drop(self.nodes.remove(id)),
            Key::Pool(id) => drop(self.pools.remove(id)),
            Key::Volume(id) => drop(self.volumes.remove(id)),
            Key::Tombstone(node, volume) => drop(self.tombstones.remove(&(*node, *volume))),
            Key::Operation(id) => drop(self.operations.remove(id)),
            Key::Word(digest) => drop(self.words.remove(digest)),
        }
    }

    /// Names are compared without their case, as LINSTOR does.
    pub(crate) fn volume_named(&self, name: &str) -> Option<&Volume> {
        self.volumes.values().find(|volume| volume.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn node_named(&self, name: &str) -> Option<&Node> {
        self.nodes.values().find(|node| node.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn pools_of(&self, node: Uuid) -> impl Iterator<Item = &Pool> {
        self.pools.values().filter(move |pool| pool.node == node)
    }

    /// Bytes that the volumes in a pool may come to need.
    pub(crate) fn promised_bytes(&self, pool: Uuid) -> u64 {
        let is_here = |placement: &Placement| placement.pool == Some(pool);
        let volumes = self.volumes.values().filter(|it| it.placements.iter().any(is_here));
        volumes.map(Volume::wanted_bytes).sum()
    }

    pub(crate) fn replicas_in(&self, pool: Uuid) -> usize {
        let placements = self.volumes.values().flat_map(|volume| &volume.placements);
        placements.filter(|placement| placement.pool == Some(pool)).count()
    }

    pub(crate) fn next_operation(&self) -> u64 {
        self.operations.last_key_value().map_or(1, |(id, _)| id + 1)
    }

    /// The lowest minor that no volume has.
    pub(crate) fn free_minor(&self) -> Option<u32> {
        let mut taken: Vec<u32> = self.volumes.values().map(|volume| volume.minor).collect();
        taken.sort_unstable();
        let mut free = MINOR_FIRST;
        for minor in taken {
            free += u32::from(minor == free);
        }
        (free <= MINOR_MAX).then_some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str, minor: u32) -> Volume {
        Volume {
            id: Uuid::new_v4(),
            name: name.to_owned(),
            size_bytes: 1 << 30,
            minor,
            phase: Phase::Live,
            placements: Vec::new(),
            attached: None,
            growth: None,
            operation: None,
        }
    }

    #[test]
    fn free_minor_is_the_lowest_that_nobody_has() {
        let mut desired = Desired::default();
        assert_eq!(desired.free_minor(), Some(MINOR_FIRST));
        for minor in [1001, 1000, 1003, 5] {
            desired.apply(Change::Put(Object::Volume(volume("v", minor))));
        }
        assert_eq!(desired.free_minor(), Some(1002));
    }

    #[test]
    fn object_that_is_put_twice_is_there_once_and_goes_by_its_key() {
        let mut desired = Desired::default();
        let mut db = volume("db", 1000);
        desired.apply(Change::Put(Object::Volume(db.clone())));
        db.size_bytes = 2 << 30;
        desired.apply(Change::Put(Object::Volume(db.clone())));
        assert_eq!(desired.volume_named("DB"), Some(&db));
        desired.apply(Change::Drop(Object::Volume(db).key()));
        assert_eq!(desired, Desired::default());
    }
}
