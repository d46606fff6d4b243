//! Why the controller does not do what it is asked for. Each is a row of one enum, with what to
//! type; docs/operate/messages/cluster.md has the rows, with the requests that earn them.

use std::fmt;

use api::agent::PARTS_MAX;
use api::cluster::{ApiError, Candidate};

use crate::model::MEMBERS_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoVolume { name: String },
    NoNode { name: String },
    NoOperation { id: u64 },
    VolumeExists { name: String },
    PoolExists { node: String, name: String },
    NodeExists { name: String },
    BadName { kind: &'static str, name: String, shortest: usize, longest: usize },
    BadLocation { location: String },
    BadSize { bytes: u64 },
    BadReplicas { count: u8 },
    BadWord { what: &'static str, least: u32, most: u32 },
    BadJson { reason: String },
    NoRoute { path: String },
    NoPlace { name: String, candidates: Vec<Candidate> },
    NotAmongPlacements { name: String, node: String, has: String },
    Busy { name: String, operation: u64 },
    InUse { name: String, node: String },
    AttachedElsewhere { name: String, node: String },
    NotBehind { revision: u64 },
    NotBorn { name: String },
    NotLarger { name: String, has: u64, asked: u64 },
    NoRoom { name: String, candidates: Vec<Candidate> },
    NoCopy { name: String },
    LastCopy { name: String, node: String },
    LastCopies { node: String, volumes: Vec<String> },
    TooMany { name: String },
    StillLeaving { name: String, node: String },
    NodeIsOnline { name: String },
    NoMinor,
    UnknownWord,
    NotANode,
    OtherHost { host: String },
    OfAPage,
    BadUri { uri: String },
    BadKey,
    NoGroup { name: String },
    NoTemplate { group: String, number: u16 },
    NoPart { name: String, number: u16 },
    NoPool { node: String, name: String },
    NoReplica { name: String, node: String },
    NoInterface { node: String, name: String },
    NoKeyValue { name: String },
    NoSnapshot { name: String, of: String },
    GroupExists { name: String },
    TemplateExists { group: String, number: u16 },
    PartExists { name: String, number: u16 },
    ReplicaExists { name: String, node: String },
    ExternalNameExists { name: String },
    MinorTaken { minor: u32 },
    GroupHasVolumes { name: String, count: usize },
    PoolHasReplicas { node: String, name: String, count: usize },
    NoParts { name: String },
    TooManyParts { name: String },
    NotPlaced { name: String },
    Going { name: String },
    JoinsByItself { name: String },
    BadProperties { reason: String },
    BadValue { what: &'static str, value: String },
    TooManyObjects { what: &'static str, most: usize },
    NotBuilt { what: &'static str },
    Offline { node: String },
    CameToNothing { operation: u64, reason: String },
    Unreadable { keys: Vec<String> },
    Failed { reason: String },
}

pub(crate) const SIZE_MIN: u64 = 1 << 20;
pub(crate) const SIZE_MAX: u64 = 1 << 50;
pub(crate) const REPLICAS_MAX: u8 = 31;

impl fmt::Display for Refusal {
    #[expect(clippy::too_many_lines, reason = "one flat list")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVolume { name } => write!(f, "there is no volume {name:?}"),
            Self::NoNode { name } => write!(f, "there is no node {name:?}"),
            Self::NoOperation { id } => write!(f, "there is no operation {id}"),
            Self::VolumeExists { name } => write!(f, "there is a volume {name:?} already"),
            Self::PoolExists { node, name } => write!(f, "{node} has a pool {name:?} already"),
            Self::NodeExists { name } => write!(f, "there is a node {name:?} already"),
            Self::BadName { kind, name, shortest, longest } => write!(
                f,
                "{name:?} is no name for a {kind}: it takes {shortest} to {longest} letters, \
                 digits, `-`, `_` and `.`, and begins with none of `-` and `.`"
            ),
            Self::BadLocation { location } => {
                write!(f, "{location:?} is no whole path of a folder")
            }
            Self::BadSize { bytes } => {
                write!(f, "a volume has {SIZE_MIN} to {SIZE_MAX} bytes, and not {bytes}")
            }
            Self::BadReplicas { count } => {
                write!(f, "a volume has 1 to {REPLICAS_MAX} replicas, and not {count}")
            }
            Self::BadWord { what, least, most } => {
                write!(f, "a join word has {what} from {least} to {most}")
            }
            Self::BadJson { reason } => write!(f, "the request cannot be read: {reason}"),
            Self::NoRoute { path } => write!(f, "there is nothing at {path}"),
            Self::NoPlace { name, .. } => {
                write!(f, "there are not enough places for the replicas of {name:?}")
            }
            Self::NotAmongPlacements { name, node, has } => {
                write!(f, "{node} has no part of {name:?}, which is on {has}")
            }
            Self::Busy { name, operation } => {
                write!(f, "operation {operation} is changing {name:?}")
            }
            Self::InUse { name, node } => write!(f, "somebody has {name:?} open on {node}"),
            Self::AttachedElsewhere { name, node } => {
                write!(f, "{name:?} is attached to {node}")
            }
            Self::NotBehind { revision } => {
                write!(
                    f,
                    "no node was told of a revision after {revision}: the store is no old copy"
                )
            }
            Self::NotBorn { name } => write!(f, "{name:?} is not made on all of its nodes yet"),
            Self::NotLarger { name, has, asked } => {
                write!(f, "{name:?} has {has} bytes, and {asked} are not more")
            }
            Self::NoRoom { name, .. } => {
                write!(f, "not every pool with a replica of {name:?} has room for more")
            }
            Self::NoCopy { name } => {
                write!(f, "no replica of {name:?} that is UpToDate is on a node that is online")
            }
            Self::LastCopy { name, node } => {
                write!(f, "no replica of {name:?} but that on {node} is UpToDate and online")
            }
            Self::LastCopies { volumes, .. } => {
                let volumes = volumes.join(", ");
                write!(f, "no other node that is online has an UpToDate replica of {volumes}")
            }
            Self::TooMany { name } => {
                write!(f, "{name:?} is on {MEMBERS_MAX} nodes, and no volume is on more")
            }
            Self::StillLeaving { name, node } => {
                write!(f, "{node} has still to take its former part of {name:?} away")
            }
            Self::NodeIsOnline { name } => write!(f, "{name} is online, and not lost"),
            Self::NoMinor => f.write_str("there is no minor left for one more volume"),
            Self::UnknownWord => {
                f.write_str("the join word is not known: it expired, or was used up")
            }
            Self::NotANode => f.write_str("the certificate is of no node of this cluster"),
            Self::OtherHost { host } => {
                write!(f, "{host:?} is no name of this machine alone, and only those are answered")
            }
            Self::OfAPage => f.write_str("a page in a browser asks, and no page is answered"),
            Self::BadUri { uri } => write!(f, "{uri:?} is no URI of NBD with VOLUME in it"),
            Self::BadKey => f.write_str("the public key is no point of the curve P-256"),
            Self::NoGroup { name } => write!(f, "there is no resource group {name:?}"),
            Self::NoTemplate { group, number } => {
                write!(f, "the group {group:?} has no volume group {number}")
            }
            Self::NoPart { name, number } => write!(f, "{name:?} has no volume {number}"),
            Self::NoPool { node, name } => write!(f, "{node} has no pool {name:?}"),
            Self::NoReplica { name, node } => write!(f, "{node} has no part of {name:?}"),
            Self::NoInterface { node, name } => write!(f, "{node} has no interface {name:?}"),
            Self::NoKeyValue { name } => write!(f, "there is no key-value store {name:?}"),
            Self::NoSnapshot { name, of } => write!(f, "{of:?} has no snapshot {name:?}"),
            Self::GroupExists { name } => write!(f, "there is a resource group {name:?} already"),
            Self::TemplateExists { group, number } => {
                write!(f, "the group {group:?} has a volume group {number} already")
            }
            Self::PartExists { name, number } => {
                write!(f, "{name:?} has a volume {number} already")
            }
            Self::ReplicaExists { name, node } => write!(f, "{node} has {name:?} already"),
            Self::ExternalNameExists { name } => {
                write!(f, "there is a volume of the external name {name:?} already")
            }
            Self::MinorTaken { minor } => write!(f, "another volume has the minor {minor}"),
            Self::GroupHasVolumes { name, count } => {
                write!(f, "volumes are of the group {name:?}: {count} of them")
            }
            Self::PoolHasReplicas { node, name, count } => {
                write!(f, "the pool {name:?} of {node} has replicas: {count} of them")
            }
            Self::NoParts { name } => write!(f, "{name:?} has no volume to place"),
            Self::TooManyParts { name } => {
                write!(f, "{name:?} would have more than {PARTS_MAX} volumes")
            }
            Self::NotPlaced { name } => write!(f, "{name:?} is defined, and on no node yet"),
            Self::Going { name } => write!(f, "{name:?} is being taken away"),
            Self::JoinsByItself { name } => {
                write!(f, "{name:?} is no node of the cluster: a machine joins by itself")
            }
            Self::BadProperties { reason } => {
                write!(f, "the properties cannot be kept: {reason}")
            }
            Self::BadValue { what, value } => write!(f, "{value:?} is no {what}"),
            Self::TooManyObjects { what, most } => write!(f, "there are {most} {what} at most"),
            Self::NotBuilt { what } => write!(f, "this is not built yet: {what}"),
            Self::Offline { node } => write!(f, "{node} is offline: its agent does not call"),
            Self::CameToNothing { operation, reason } => {
                write!(f, "operation {operation} came to nothing: {reason}")
            }
            Self::Unreadable { keys } => {
                let keys = keys.join(", ");
                write!(f, "{keys} in the store cannot be read, and nothing is changed until it is")
            }
            Self::Failed { reason } => write!(f, "the controller failed: {reason}"),
        }
    }
}

impl Refusal {
    /// The status of HTTP, and the word for programs.
    pub(crate) fn code(&self) -> (u16, &'static str) {
        match self {
            Self::NoVolume { .. }
            | Self::NoNode { .. }
            | Self::NoOperation { .. }
            | Self::NoRoute { .. }
            | Self::NoGroup { .. }
            | Self::NoTemplate { .. }
            | Self::NoPart { .. }
            | Self::NoPool { .. }
            | Self::NoReplica { .. }
            | Self::NoInterface { .. }
            | Self::NoSnapshot { .. }
            | Self::NoKeyValue { .. } => (404, "not-found"),
            Self::VolumeExists { .. }
            | Self::PoolExists { .. }
            | Self::NodeExists { .. }
            | Self::GroupExists { .. }
            | Self::TemplateExists { .. }
            | Self::PartExists { .. }
            | Self::ReplicaExists { .. }
            | Self::ExternalNameExists { .. }
            | Self::MinorTaken { .. } => (409, "exists"),
            Self::BadName { .. }
            | Self::BadLocation { .. }
            | Self::BadSize { .. }
            | Self::BadReplicas { .. }
            | Self::BadWord { .. }
            | Self::BadJson { .. }
            | Self::BadKey
            | Self::BadUri { .. }
            | Self::NotAmongPlacements { .. }
            | Self::NotBehind { .. }
            | Self::NotLarger { .. }
            | Self::NoParts { .. }
            | Self::TooManyParts { .. }
            | Self::NotPlaced { .. }
            | Self::JoinsByItself { .. }
            | Self::BadProperties { .. }
            | Self::BadValue { .. } => (400, "bad-request"),
            Self::NoPlace { .. }
            | Self::NoRoom { .. }
            | Self::TooMany { .. }
            | Self::TooManyObjects { .. }
            | Self::NoMinor => (409, "no-place"),
            Self::NoCopy { .. } | Self::LastCopy { .. } | Self::LastCopies { .. } => {
                (409, "last-copy")
            }
            Self::Busy { .. }
            | Self::Going { .. }
            | Self::NotBorn { .. }
            | Self::StillLeaving { .. }
            | Self::NodeIsOnline { .. } => (409, "busy"),
            Self::InUse { .. }
            | Self::AttachedElsewhere { .. }
            | Self::GroupHasVolumes { .. }
            | Self::PoolHasReplicas { .. } => (409, "in-use"),
            Self::NotBuilt { .. } => (501, "not-built"),
            Self::Offline { .. } | Self::CameToNothing { .. } => (409, "unavailable"),
            Self::UnknownWord | Self::NotANode | Self::OtherHost { .. } | Self::OfAPage => {
                (403, "forbidden")
            }
            Self::Unreadable { .. } | Self::Failed { .. } => (500, "internal"),
        }
    }

    /// What to type.
    #[expect(clippy::too_many_lines, reason = "one flat list")]
    pub(crate) fn to_try(&self) -> String {
        match self {
            Self::NoVolume { .. } | Self::VolumeExists { .. } => {
                "`basalt volume list` shows those that there are".to_owned()
            }
            Self::NoNode { .. } => "`basalt node list` shows those that there are".to_owned(),
            Self::NoOperation { .. } => "`basalt operation list` shows the last 1000".to_owned(),
            Self::PoolExists { .. } => "another name, or `basalt pool list`".to_owned(),
            Self::NodeExists { name } => format!(
                "join under another --name; or, if {name} was installed anew, `basalt node lost \
                 {name}` first"
            ),
            Self::BadName { .. } => "another name".to_owned(),
            Self::BadLocation { .. } => "a path that begins with `/`, without `..`".to_owned(),
            Self::NoGroup { .. } | Self::GroupExists { .. } => {
                "`linstor resource-group list` shows those that there are".to_owned()
            }
            Self::NoTemplate { .. } | Self::TemplateExists { .. } => {
                "`linstor volume-group list` shows those that there are".to_owned()
            }
            Self::NoPart { .. } | Self::PartExists { .. } => {
                "`linstor volume-definition list` shows those that there are".to_owned()
            }
            Self::NoPool { .. } => "`basalt pool list` shows those that there are".to_owned(),
            Self::NoReplica { name, .. } | Self::ReplicaExists { name, .. } => {
                format!("`basalt volume show {name}` shows where it is")
            }
            Self::NoInterface { .. } => "`linstor node interface list` shows them".to_owned(),
            Self::NoKeyValue { .. } => "`linstor key-value-store list` shows them".to_owned(),
            Self::NoSnapshot { .. } => "snapshots are not built yet".to_owned(),
            Self::ExternalNameExists { .. } => "another one".to_owned(),
            Self::MinorTaken { .. } => "leave it out: a free one is taken".to_owned(),
            Self::GroupHasVolumes { .. } => "delete these volumes first".to_owned(),
            Self::PoolHasReplicas { .. } => "delete the volumes first that have them".to_owned(),
            Self::NoParts { name } => {
                format!("`linstor volume-definition create {name} 10G` first")
            }
            Self::TooManyParts { .. } => "another volume for what is more".to_owned(),
            Self::NotPlaced { name } => format!("`linstor resource create --auto-place 3 {name}`"),
            Self::Going { .. } => "wait until it is gone: `basalt volume list`".to_owned(),
            Self::JoinsByItself { .. } => {
                "`basalt cluster word` here, and what it prints on that machine".to_owned()
            }
            Self::BadProperties { .. } | Self::BadValue { .. } => "another value".to_owned(),
            Self::TooManyObjects { .. } => "delete some that nobody needs".to_owned(),
            Self::Offline { .. } => "`basalt node list` shows which agents call".to_owned(),
            Self::CameToNothing { operation, .. } => {
                format!("`basalt operation show {operation}`, and the same once more")
            }
            Self::NotBuilt { .. } => {
                "docs/operate/linstor.md says what there is in its place".to_owned()
            }
            Self::BadSize { .. } => "a size such as 10G".to_owned(),
            Self::BadReplicas { .. } => "--replicas 3".to_owned(),
            Self::BadWord { .. } => "another number".to_owned(),
            Self::BadJson { .. } | Self::NoRoute { .. } => {
                "compare the versions of the tool and of the controller: `basalt cluster show`"
                    .to_owned()
            }
            Self::NoPlace { .. } => {
                "the list says what refused each pool; a new node joins by `basalt cluster join`, \
                 a new pool is made by `basalt pool add`"
                    .to_owned()
            }
            Self::NotAmongPlacements { .. } => "attach it to one of these".to_owned(),
            Self::Busy { operation, .. } => {
                format!("wait for it: `basalt operation show {operation}` says what it waits for")
            }
            Self::InUse { node, .. } => format!(
                "on {node} end what uses it: `umount` of a file system, or the machine that has it \
                 as its disk"
            ),
            Self::AttachedElsewhere { name, .. } => format!("`basalt volume detach {name}` first"),
            Self::NotBehind { .. } => {
                "`basalt node list` shows which nodes call, and what they lack".to_owned()
            }
            Self::NotBorn { name } => format!(
                "`basalt volume show {name}` says which node it waits for; `basalt volume delete \
                 {name}` gives it up"
            ),
            Self::NotLarger { .. } => "a larger --size: a volume never becomes smaller".to_owned(),
            Self::NoRoom { name, .. } => format!(
                "enlarge the file systems of these pools; or `basalt volume add-replica {name}` in \
                 a larger one, and then `basalt volume drop-replica` here"
            ),
            Self::NoCopy { name } => {
                format!("`basalt volume show {name}` says which node has to come back")
            }
            Self::LastCopy { name, .. } => format!(
                "`basalt volume add-replica {name}` and wait until it is UpToDate; or `basalt \
                 volume delete {name}`, and its data with it"
            ),
            Self::LastCopies { node, .. } => format!(
                "bring {node} back, or another node with a whole replica; where an older one is to \
                 do, `basalt adm primary --force` there; else `basalt volume delete` each"
            ),
            Self::TooMany { name } => {
                format!("`basalt volume drop-replica {name}` on another node first")
            }
            Self::StillLeaving { node, .. } => {
                format!("wait; if {node} is offline, start it: it does so by itself")
            }
            Self::NodeIsOnline { name } => format!(
                "switch it off first; what is lost of {name} is never asked for its data again"
            ),
            Self::NoMinor => "delete volumes that nobody uses any more".to_owned(),
            Self::UnknownWord => {
                "`basalt cluster word` on the machine of the controller prints a new one".to_owned()
            }
            Self::NotANode => {
                "was this node lost (`basalt node lost`), or the controller's folder \
                               restored or emptied? Only in the first case: join the cluster anew"
                    .to_owned()
            }
            Self::OtherHost { .. } => "ask at localhost or 127.0.0.1".to_owned(),
            Self::OfAPage => "ask with `basalt`, or with a program that is no browser".to_owned(),
            Self::BadUri { .. } | Self::BadKey => {
                "`basalt cluster join` makes a right one".to_owned()
            }
            Self::Unreadable { .. } => {
                "stop the controller, and put back your copy of /var/lib/basalt/controller; \
                 volumes are served meanwhile"
                    .to_owned()
            }
            Self::Failed { .. } => {
                "is the disk of /var/lib/basalt/controller full? Then again; it needs no restart"
                    .to_owned()
            }
        }
    }

    pub(crate) fn answer(&self) -> ApiError {
        let candidates =
            if let Self::NoPlace { candidates, .. } | Self::NoRoom { candidates, .. } = self {
                candidates.clone()
            } else {
                Vec::new()
            };
        let (code, message) = (self.code().1.to_owned(), self.to_string());
        ApiError { code, message, to_try: self.to_try(), candidates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{self, Row};

    /// One of each kind, with the request that earns it.
    #[expect(clippy::too_many_lines, reason = "one flat list")]
    fn refusals() -> Vec<(&'static str, Refusal)> {
        let (db, bob) = (|| "db".to_owned(), || "bob".to_owned());
        let candidate = Candidate {
            node: bob(),
            pool: Some("default".to_owned()),
            taken: false,
            rule: "it is offline: its agent called last 60 s ago".to_owned(),
        };
        vec![
            ("any request about a volume that is not there", Refusal::NoVolume { name: db() }),
            ("any request that names a node that is not there", Refusal::NoNode { name: bob() }),
            ("`operation show` of an old one", Refusal::NoOperation { id: 7 }),
            ("`volume create` of a name that is taken", Refusal::VolumeExists { name: db() }),
            (
                "`pool add` of a name that the node has",
                Refusal::PoolExists { node: bob(), name: "default".to_owned() },
            ),
            ("`cluster join` under the name of another node", Refusal::NodeExists { name: bob() }),
            (
                "a name with other characters, or too long",
                Refusal::BadName {
                    kind: "volume",
                    name: "a/b".to_owned(),
                    shortest: 2,
                    longest: 48,
                },
            ),
            (
                "`pool add` of a path that is not whole",
                Refusal::BadLocation { location: "pool".to_owned() },
            ),
            ("`volume create --size 1K`", Refusal::BadSize { bytes: 1024 }),
            ("a request for no replica", Refusal::BadReplicas { count: 0 }),
            (
                "a request for a word without uses",
                Refusal::BadWord { what: "a number of uses", least: 1, most: 1000 },
            ),
            (
                "a request of another program",
                Refusal::BadJson { reason: "EOF while parsing a value".to_owned() },
            ),
            (
                "a path that there is not",
                Refusal::NoRoute { path: "/basalt/v1/nothing".to_owned() },
            ),
            (
                "`volume create`, and too few pools can take a replica",
                Refusal::NoPlace { name: db(), candidates: vec![candidate.clone()] },
            ),
            (
                "`volume attach` on a node without a replica",
                Refusal::NotAmongPlacements {
                    name: db(),
                    node: "dave".to_owned(),
                    has: "alice, bob, carol".to_owned(),
                },
            ),
            (
                "a second request about a volume before the first is done",
                Refusal::Busy { name: db(), operation: 7 },
            ),
            (
                "`volume delete` and `detach` of a volume that is open",
                Refusal::InUse { name: db(), node: bob() },
            ),
            (
                "`volume attach` of a volume that another node has",
                Refusal::AttachedElsewhere { name: db(), node: bob() },
            ),
            ("`cluster restored` without need", Refusal::NotBehind { revision: 7 }),
            (
                "`volume attach`, or another change, of one whose making waits for a node",
                Refusal::NotBorn { name: db() },
            ),
            (
                "`volume grow` to what it has, or to less",
                Refusal::NotLarger { name: db(), has: 2 << 30, asked: 1 << 30 },
            ),
            (
                "`volume grow` by more than a pool has left",
                Refusal::NoRoom { name: db(), candidates: vec![candidate] },
            ),
            (
                "`volume grow` or `add-replica` while all whole replicas are away",
                Refusal::NoCopy { name: db() },
            ),
            (
                "`volume drop-replica` of the only one that is whole",
                Refusal::LastCopy { name: db(), node: bob() },
            ),
            (
                "`node lost` of a node with volumes of one replica",
                Refusal::LastCopies { node: bob(), volumes: vec![db(), "web".to_owned()] },
            ),
            ("one node more for a volume that is on 32", Refusal::TooMany { name: db() }),
            (
                "`volume attach` right after `detach` or `drop-replica` there",
                Refusal::StillLeaving { name: db(), node: bob() },
            ),
            ("`node lost` of a node whose agent calls", Refusal::NodeIsOnline { name: bob() }),
            ("more than a million volumes", Refusal::NoMinor),
            ("`cluster join` with an old word", Refusal::UnknownWord),
            ("an agent of a node that was taken out", Refusal::NotANode),
            (
                "a request for another name, led here by a resolver",
                Refusal::OtherHost { host: "evil.example:3370".to_owned() },
            ),
            ("a request of a page in a browser", Refusal::OfAPage),
            ("`cluster join` of another program", Refusal::BadKey),
            ("the same", Refusal::BadUri { uri: "nbd://127.0.0.1/".to_owned() }),
            (
                "an object of the store is damaged",
                Refusal::Unreadable { keys: vec!["volume/7f9c".to_owned()] },
            ),
            (
                "the store cannot be written",
                Refusal::Failed { reason: "no storage space".to_owned() },
            ),
        ]
    }

    /// Refusals of definitions, and of other requests of LINSTOR's clients.
    #[expect(clippy::too_many_lines, reason = "one flat list")]
    fn refusals_of_definitions() -> Vec<(&'static str, Refusal)> {
        let (db, bob) = (|| "db".to_owned(), || "bob".to_owned());
        vec![
            ("a request about a group that is not there", Refusal::NoGroup { name: db() }),
            (
                "a request about a volume group that is not there",
                Refusal::NoTemplate { group: db(), number: 1 },
            ),
            (
                "a request about a volume number that is not there",
                Refusal::NoPart { name: db(), number: 1 },
            ),
            (
                "a request about a pool that is not there",
                Refusal::NoPool { node: bob(), name: "fast".to_owned() },
            ),
            (
                "a request about a replica that is not there",
                Refusal::NoReplica { name: db(), node: bob() },
            ),
            (
                "a request about an interface that is not there",
                Refusal::NoInterface { node: bob(), name: "fast".to_owned() },
            ),
            ("`key-value-store show` of none", Refusal::NoKeyValue { name: "gui".to_owned() }),
            (
                "a request about a snapshot that is not there",
                Refusal::NoSnapshot { name: "s1".to_owned(), of: db() },
            ),
            (
                "`resource-group create` of a name that is taken",
                Refusal::GroupExists { name: db() },
            ),
            (
                "`volume-group create` of a number that is taken",
                Refusal::TemplateExists { group: db(), number: 0 },
            ),
            (
                "`volume-definition create` of a number that is taken",
                Refusal::PartExists { name: db(), number: 0 },
            ),
            (
                "`resource create` where it is already",
                Refusal::ReplicaExists { name: db(), node: bob() },
            ),
            (
                "`resource-definition create` of an external name that is taken",
                Refusal::ExternalNameExists { name: db() },
            ),
            (
                "`volume-definition create --minor` of one that is taken",
                Refusal::MinorTaken { minor: 1000 },
            ),
            (
                "`resource-group delete` of one with volumes",
                Refusal::GroupHasVolumes { name: db(), count: 2 },
            ),
            (
                "`storage-pool delete` of one with replicas",
                Refusal::PoolHasReplicas { node: bob(), name: "fast".to_owned(), count: 2 },
            ),
            ("`resource create` before any volume is defined", Refusal::NoParts { name: db() }),
            ("`volume-definition create` of the 17th", Refusal::TooManyParts { name: db() }),
            ("`volume attach` of one that is defined only", Refusal::NotPlaced { name: db() }),
            ("a request about a volume whose replicas go", Refusal::Going { name: db() }),
            ("`linstor node create`", Refusal::JoinsByItself { name: bob() }),
            (
                "`set-property` out of bounds",
                Refusal::BadProperties { reason: "an object has 512 of them at most".to_owned() },
            ),
            (
                "a request of a word that is none of LINSTOR's",
                Refusal::BadValue { what: "kind of a pool", value: "TAPE".to_owned() },
            ),
            (
                "more objects than a store takes",
                Refusal::TooManyObjects { what: "resource groups", most: 10_000 },
            ),
            (
                "a request of LINSTOR's for what is not there",
                Refusal::NotBuilt { what: "snapshots" },
            ),
            ("`make-available` on a node whose agent is away", Refusal::Offline { node: bob() }),
            (
                "a request of LINSTOR's whose operation fails",
                Refusal::CameToNothing {
                    operation: 7,
                    reason: "not made within 60 s: bob is offline".to_owned(),
                },
            ),
        ]
    }

    fn all() -> Vec<(&'static str, Refusal)> {
        refusals().into_iter().chain(refusals_of_definitions()).collect()
    }

    #[test]
    fn rows_of_refusals_are_those_of_the_page() {
        let rows = all().into_iter().map(|(situation, refusal)| Row {
            variant: rows::variant_of(&refusal),
            situation: situation.to_owned(),
            sentence: format!("{refusal}; try: {}", refusal.to_try()),
        });
        rows::check(("cluster.md", "Why the controller of a cluster refuses"), rows.collect());
    }

    #[test]
    fn answers_have_a_word_for_programs_and_a_status_of_http() {
        for (situation, refusal) in all() {
            let (status, code) = refusal.code();
            assert!((400..=501).contains(&status), "{situation}");
            assert_eq!(refusal.answer().code, code, "{situation}");
            assert!(!refusal.to_try().is_empty(), "{situation}");
        }
    }
}
