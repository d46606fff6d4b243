//! What the cluster is to be: the objects that the store keeps, and nothing that was only observed.
//!
//! Each object lies in the store under a key of its own. A change of the cluster is a list of
//! [`Change`]s, which are stored all or not at all.

pub(crate) mod properties;
pub(crate) mod group;
pub(crate) mod bag;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use api::cluster::{OperationKind, OperationState, PoolKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::bag::{Bag, Owner};
use self::group::{DEFAULT_GROUP, DEFAULT_GROUP_ID, Group};
use self::properties::Properties;

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
#[serde(from = "StoredVolume")]
pub(crate) struct Volume {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    /// A second name, which somebody else knows it by.
    pub(crate) external_name: Option<String>,
    /// `None`: the default one.
    pub(crate) group: Option<Uuid>,
    pub(crate) properties: Properties,
    /// In order of their numbers. One that is defined may have none yet.
    pub(crate) parts: Vec<Part>,
    pub(crate) phase: Phase,
    /// None while it is defined and no more.
    pub(crate) placements: Vec<Placement>,
    pub(crate) attached: Option<Uuid>,
    /// An operation sets this, and clears it with its end.
    #[serde(default)]
    pub(crate) growth: Option<Growth>,
    /// The operation that is under way for it.
    pub(crate) operation: Option<u64>,
    /// It was defined before it was placed: a birth that comes to nothing leaves the definition.
    pub(crate) defined: bool,
}

/// A device of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) number: u16,
    pub(crate) size_bytes: u64,
    pub(crate) minor: u32,
    #[serde(default)]
    pub(crate) properties: Properties,
}

/// As it lies in the store. The first stores knew volumes of one part, with its size and minor in
/// the volume itself.
#[derive(Deserialize)]
struct StoredVolume {
    id: Uuid,
    name: String,
    #[serde(default)]
    external_name: Option<String>,
    #[serde(default)]
    group: Option<Uuid>,
    #[serde(default)]
    properties: Properties,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default)]
    size_bytes: Option<u64>,
    #[serde(default)]
    minor: Option<u32>,
    phase: Phase,
    placements: Vec<Placement>,
    attached: Option<Uuid>,
    #[serde(default)]
    growth: Option<Growth>,
    operation: Option<u64>,
    #[serde(default)]
    defined: bool,
}

impl From<StoredVolume> for Volume {
    fn from(it: StoredVolume) -> Self {
        let mut parts = it.parts;
        if let (Some(size_bytes), Some(minor)) = (it.size_bytes, it.minor) {
            parts.push(Part { number: 0, size_bytes, minor, properties: Properties::default() });
        }
        Self {
            id: it.id,
            name: it.name,
            external_name: it.external_name,
            group: it.group,
            properties: it.properties,
            parts,
            phase: it.phase,
            placements: it.placements,
            attached: it.attached,
            growth: it.growth,
            operation: it.operation,
            defined: it.defined,
        }
    }
}

impl Volume {
    /// Of all its parts.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.size_bytes).sum()
    }

    pub(crate) fn part(&self, number: u16) -> Option<&Part> {
        self.parts.iter().find(|part| part.number == number)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// It has a name and parts, and is on no node: agents never hear of it.
    Defined,
    /// Its replicas are made. This node says that they are equal, once they are there.
    Birth {
        by: Uuid,
    },
    Live,
    /// Its replicas go, and its definition stays.
    Retreating,
    /// Its replicas are to go, once the nodes say that nobody has it open.
    Closing {
        rest: Rest,
    },
    Leaving,
}

/// A volume that becomes larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Growth {
    /// Of the part.
    #[serde(default)]
    pub(crate) number: u16,
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

/// The rest of a volume whose replicas go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rest {
    Nothing,
    Definition,
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
        self.parts.iter().map(|part| self.wanted_bytes_of(part)).sum()
    }

    pub(crate) fn wanted_bytes_of(&self, part: &Part) -> u64 {
        let growth = self.growth.filter(|growth| growth.number == part.number);
        growth.map_or(part.size_bytes, |growth| growth.to_bytes)
    }

    /// Sizes as they are: what was to become larger has this size.
    pub(crate) fn set_grown(&mut self, bytes: u64) {
        let number = self.growth.take().map(|growth| growth.number);
        for part in self.parts.iter_mut().filter(|part| Some(part.number) == number) {
            part.size_bytes = bytes.max(part.size_bytes);
        }
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
    /// Numbers of its parts.
    #[serde(default = "only_the_first")]
    pub(crate) parts: Vec<u16>,
}

fn only_the_first() -> Vec<u16> {
    vec![0]
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
    Group(Group),
    Bag(Bag),
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
    Group(Uuid),
    Bag(Owner),
}

#[expect(clippy::large_enum_variant, reason = "a handful of them live for a moment")]
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
            Self::Group(group) => Key::Group(group.id),
            Self::Bag(bag) => Key::Bag(bag.owner.clone()),
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
    pub(crate) groups: BTreeMap<Uuid, Group>,
    pub(crate) bags: BTreeMap<Owner, Bag>,
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
                    Object::Node(_)
                    | Object::Pool(_)
                    | Object::Operation(_)
                    | Object::Word(_)
                    | Object::Group(_)
                    | Object::Bag(_),
                )
                | Change::Drop(_) => {}
            }
        }
    }

    fn stamp_volume(&self, volume: &mut Volume, revision: u64) {
        let old = self.volumes.get(&volume.id);
        let stays = |volume: &Volume| matches!(volume.phase, Phase::Birth { .. } | Phase::Live);
        let is_same_life =
            old.is_some_and(|old| old.phase == volume.phase || stays(old) && stays(volume));
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
            Object::Group(it) => drop(self.groups.insert(it.id, it)),
            Object::Bag(it) => drop(self.bags.insert(it.owner.clone(), it)),
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
            Key::Group(id) => drop(self.groups.remove(id)),
            Key::Bag(owner) => drop(self.bags.remove(owner)),
        }
    }

    /// Names are compared without their case, as LINSTOR does.
    pub(crate) fn volume_named(&self, name: &str) -> Option<&Volume> {
        self.volumes.values().find(|volume| volume.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn node_named(&self, name: &str) -> Option<&Node> {
        self.nodes.values().find(|node| node.name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn pool_named(&self, node: Uuid, name: &str) -> Option<&Pool> {
        self.pools_of(node).find(|pool| pool.name.eq_ignore_ascii_case(name))
    }

    /// The default one is there before anybody changed it.
    pub(crate) fn group(&self, id: Option<Uuid>) -> Cow<'_, Group> {
        let id = id.unwrap_or(DEFAULT_GROUP_ID);
        let built_in = || Cow::Owned(Group::new(DEFAULT_GROUP_ID, DEFAULT_GROUP));
        self.groups.get(&id).map_or_else(built_in, Cow::Borrowed)
    }

    pub(crate) fn group_named(&self, name: &str) -> Option<Cow<'_, Group>> {
        if name.eq_ignore_ascii_case(DEFAULT_GROUP) {
            return Some(self.group(None));
        }
        let mut groups = self.groups.values();
        groups.find(|group| group.name.eq_ignore_ascii_case(name)).map(Cow::Borrowed)
    }

    pub(crate) fn bag(&self, owner: &Owner) -> Cow<'_, Properties> {
        let bag = self.bags.get(owner);
        bag.map_or_else(Cow::default, |bag| Cow::Borrowed(&bag.properties))
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

    /// The lowest minors that no volume has.
    pub(crate) fn free_minors(&self) -> impl Iterator<Item = u32> {
        let parts = self.volumes.values().flat_map(|volume| &volume.parts);
        let taken: std::collections::BTreeSet<u32> = parts.map(|part| part.minor).collect();
        (MINOR_FIRST..=MINOR_MAX).filter(move |minor| !taken.contains(minor))
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use uuid::Uuid;

    use super::properties::Properties;
    use super::{MINOR_FIRST, Part, Phase, Volume};

    /// A live volume of one part, on no node.
    pub(crate) fn volume(name: &str, size_bytes: u64) -> Volume {
        let properties = Properties::default();
        Volume {
            id: Uuid::from_u128(9),
            name: name.to_owned(),
            external_name: None,
            group: None,
            properties: properties.clone(),
            parts: vec![Part { number: 0, size_bytes, minor: MINOR_FIRST, properties }],
            phase: Phase::Live,
            placements: Vec::new(),
            attached: None,
            growth: None,
            operation: None,
            defined: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::volume;
    use super::*;

    #[test]
    fn free_minors_are_the_lowest_that_nobody_has() {
        let mut desired = Desired::default();
        assert_eq!(desired.free_minors().next(), Some(MINOR_FIRST));
        for minor in [1001, 1000, 1003, 5] {
            let volume = Volume { id: Uuid::new_v4(), ..volume("v", 1 << 20) };
            let parts = vec![Part { minor, ..volume.parts[0].clone() }];
            desired.apply(Change::Put(Object::Volume(Volume { parts, ..volume })));
        }
        assert_eq!(desired.free_minors().take(2).collect::<Vec<_>>(), [1002, 1004]);
    }

    #[test]
    fn object_that_is_put_twice_is_there_once_and_goes_by_its_key() {
        let mut desired = Desired::default();
        let mut db = volume("db", 1 << 30);
        desired.apply(Change::Put(Object::Volume(db.clone())));
        db.parts[0].size_bytes = 2 << 30;
        desired.apply(Change::Put(Object::Volume(db.clone())));
        assert_eq!(desired.volume_named("DB"), Some(&db));
        desired.apply(Change::Drop(Object::Volume(db).key()));
        assert_eq!(desired, Desired::default());
    }
}
