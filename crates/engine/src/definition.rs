//! A resource as this node has to run it, taken from its `.res` text.

pub mod link;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use api::response::{Failure, FailureCode};
use config::effective::{
    DiskOptions, Fencing, NetOptions, OnIoError, OnNoQuorum as Policy, Patience, Quorum,
    ReadBalancing, ResourceOptions,
};
use config::host_name::is_same_host;
use config::model::{Host, MetaDisk, Resource, Volume};
use format::ids::{NodeId, ResourceId};
use format::message::ProofAlgorithm;
use format::space::{Place, VOLUMES_MAX};
use replication::balance::ReadPolicy;
use replication::contract::{
    AckWhen, AfterSplit, Congestion, Demands, Meanwhile, OnCongestion, OnNoQuorum, Readmission,
    Share, WithOnePrimary, WithTwoPrimaries, WithoutPrimary, WithoutQuorum,
};
use replication::limits::SLOW_MEMBER_LIMIT;
use replication::resource::Comparing;

use crate::definition::link::{Buffers, LinkTimes, Secrecy, SharedSecret, Spread};
use crate::limits::{SLOW_MEMBER_MIN, SLOW_MEMBER_NEVER};

#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub id: ResourceId,
    pub me: NodeId,
    pub volume: u16,
    /// The minor of the volume's device, where the configuration gives it one.
    pub(crate) device: Option<u32>,
    /// `None` of a member without a replica.
    pub disk: Option<DiskPlace>,
    /// The volumes behind the first one.
    pub further: Vec<FurtherVolume>,
    pub(crate) al_extents: u32,
    pub(crate) read_policy: ReadPolicy,
    /// How long a member may take to answer before it is left behind.
    pub(crate) slow_limit: Duration,
    /// This node becomes Primary when the daemon starts.
    pub becomes_primary: bool,
    /// The cores that it asks for; empty if it does not.
    pub cores: Vec<usize>,
    pub(crate) auto_promote: bool,
    /// How long a client waits for that.
    pub(crate) promote_wait: Duration,
    pub(crate) demands: Demands,
    /// Bytes per second while clients are at work; 0 is no limit.
    pub(crate) resync_rate: u64,
    pub(crate) comparing: Comparing,
    pub members: Vec<Member>,
    /// Of each volume, by number.
    volume_options: BTreeMap<u16, DiskOptions>,
    /// Scripts by the names of their handlers.
    pub handlers: BTreeMap<&'static str, String>,
    /// A disk that failed is told to a handler, too.
    pub(crate) tells_of_disk_errors: bool,
    /// How long a request to the disk may take before that counts as failed.
    pub(crate) disk_timeout: Option<Duration>,
    /// Volumes of other resources whose resyncs come first.
    pub resync_after: Vec<(String, u16)>,
    /// Its replica is brought up to date when the node says that it is its turn.
    pub takes_turns: bool,
    /// What is understood and changes nothing.
    pub warnings: Vec<String>,
}

/// A volume behind the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FurtherVolume {
    pub place: Place,
    pub(crate) device: Option<u32>,
    pub disk: Option<DiskPlace>,
}

impl FurtherVolume {
    pub fn number(&self) -> u16 {
        self.place.number().into()
    }
}

/// A volume of a resource at this node.
#[derive(Clone, Copy, Debug)]
pub struct OwnVolume<'a> {
    pub place: Place,
    pub number: u16,
    pub device: Option<u32>,
    pub disk: Option<&'a DiskPlace>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskPlace {
    pub data: PathBuf,
    /// `None`: at the end of the disk itself.
    pub meta: Option<PathBuf>,
}

/// A node of the resource; of others also how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub node: NodeId,
    pub name: String,
    pub is_diskful: bool,
    /// When it counts for the answer to a write, while this node is Primary.
    pub(crate) ack_when: AckWhen,
    /// What becomes of it if it falls behind, where no answer waits for it.
    pub(crate) congestion: Congestion,
    /// Own and other address of each way to reach it, the preferred one first.
    pub(crate) paths: Vec<(SocketAddr, SocketAddr)>,
    pub(crate) secrecy: Secrecy,
    pub(crate) times: LinkTimes,
    pub(crate) spread: Spread,
    pub(crate) buffers: Buffers,
    /// It may be the witness, if it has no disk.
    pub(crate) may_witness: bool,
    /// Reads of clients may go to it.
    pub(crate) may_be_read: bool,
    /// What it has to know.
    pub(crate) secret: Option<SharedSecret>,
}

const BLOCK_KIB: u32 = 4;

impl Definition {
    /// The definition of `name` for this node.
    pub fn from_text(node_name: &str, name: &str, text: &str) -> Result<Self, Failure> {
        let invalid = |message: String| {
            let hint = format!("see `basalt adm dump {name}`");
            Failure::new(FailureCode::InvalidConfig, message, hint)
        };
        let file = config::parse_text(name, text).map_err(|errors| invalid(errors.to_string()))?;
        let resource = file.resource(name).ok_or_else(|| {
            invalid(format!("the configuration text says nothing of resource {name:?}"))
        })?;
        let host = own_host(resource, node_name)?;
        let mut volumes: Vec<&Volume> = host.volumes.iter().collect();
        volumes.sort_by_key(|volume| volume.number);
        let Some((volume, further)) = volumes.split_first() else {
            return Err(invalid(format!("resource {name:?} has no volume")));
        };
        let number = volume.number;
        let further = further_volumes(name, volume, further)?;
        let options = resource.resource_options();
        let disk = match &volume.disk {
            None => None,
            Some(disk) => Some(disk_place(name, &disk.path, &disk.meta_disk)?),
        };
        let disk_options = resource.disk_options(node_name, number);
        let members = members(resource, &host.name, number)?;
        let mut warnings: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(low_quorum(options.quorum, &members));
        let (after_split, warning) = after_split(resource, &host.name);
        warnings.extend(warning);
        let resync_after = resync_after(resource, host);
        let (fencing, handlers) = fencing(resource, &host.name)?;
        warnings.extend(needless_fencing(fencing, options.quorum, &members));
        Ok(Self {
            name: name.to_owned(),
            id: resource_id(name),
            me: node_id(host.node_id),
            volume: number,
            device: volume.device.as_ref().map(|device| device.minor),
            disk,
            further,
            cores: resource.cpu_mask().unwrap_or_default(),
            al_extents: disk_options.al_extents,
            read_policy: read_policy(disk_options.read_balancing),
            slow_limit: slow_limit(resource, &host.name),
            becomes_primary: resource.becomes_primary(&host.name),
            auto_promote: options.auto_promote,
            promote_wait: Duration::from_millis(options.auto_promote_ms),
            demands: Demands { after_split, ..demands(&options, fencing) },
            resync_rate: resync_rate(resource, &host.name, number),
            comparing: comparing(resource, &host.name),
            handlers,
            tells_of_disk_errors: disk_options.on_io_error == OnIoError::CallHandler,
            disk_timeout: disk_timeout(resource, host),
            takes_turns: !resync_after.is_empty(),
            resync_after,
            volume_options: volume_options(resource, host),
            warnings,
            members,
        })
    }

    /// Whether its replica is brought up to date at once, or when a handler allows it, or when it
    /// is its turn.
    pub(crate) fn readmission(&self) -> Readmission {
        if self.takes_turns {
            Readmission::AskAlways
        } else if self.handlers.contains_key("before-resync-target") {
            Readmission::Ask
        } else {
            Readmission::AtOnce
        }
    }

    /// Whether this node has to prove to some peer who it is.
    pub fn needs_credentials(&self) -> bool {
        self.peers().any(|member| member.secrecy == Secrecy::Tls)
    }

    /// What everybody on the network can read and forge, in words.
    pub fn clear_text_warnings(&self) -> impl Iterator<Item = String> {
        let clear = self.peers().filter(|member| member.secrecy == Secrecy::ClearText);
        clear.filter_map(|member| {
            let far = member
                .paths
                .iter()
                .find(|(own, other)| !own.ip().is_loopback() || !other.ip().is_loopback())?;
            Some(format!(
                "the connection to {} at {} is in clear text: whoever is on that network can read \
                 the data and pass for a node; `net {{ tls yes; }}` ends that",
                member.name, far.1
            ))
        })
    }

    /// The volumes of the resource at this node, in order.
    pub fn volumes(&self) -> impl Iterator<Item = OwnVolume<'_>> {
        let first = OwnVolume {
            place: Place::FIRST,
            number: self.volume,
            device: self.device,
            disk: self.disk.as_ref(),
        };
        let further = self.further.iter().map(|volume| OwnVolume {
            place: volume.place,
            number: volume.number(),
            device: volume.device,
            disk: volume.disk.as_ref(),
        });
        std::iter::once(first).chain(further)
    }

    /// Of a volume that there is.
    pub fn volume_options(&self, place: Place) -> Option<&DiskOptions> {
        let volume = self.volumes().find(|volume| volume.place == place)?;
        self.volume_options.get(&volume.number)
    }

    /// The logical block of what clients see of a volume.
    pub(crate) fn block_bytes(&self, place: Place) -> u32 {
        self.volume_options(place).map_or(512, |options| options.block_bytes)
    }

    /// The members that this node connects to.
    pub fn peers(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.node != self.me)
    }
}

/// This node among the hosts of a resource.
fn own_host<'r>(resource: &'r Resource, node_name: &str) -> Result<&'r Host, Failure> {
    let name = &resource.name;
    let host = resource.host_meant(node_name).map_err(|ambiguous| {
        let message =
            format!("resource {name:?} does not say which host this node is: {ambiguous}");
        let hint = "give the daemon its whole name as --name";
        Failure::new(FailureCode::NotOnThisNode, message, hint)
    })?;
    let host = host.ok_or_else(|| {
        let message = format!("resource {name:?} has no `on {node_name}` section");
        let hint = "the daemon's --name must be one of the names behind `on`";
        Failure::new(FailureCode::NotOnThisNode, message, hint)
    })?;
    if !host.is_floating && !is_same_host(&host.name, node_name) {
        let message = format!(
            "resource {name:?} has `{node_name}` as a further name of host `{0}`: its peers \
             wait for `{0}`",
            host.name
        );
        let hint = "the daemon's --name must be the first of the names behind `on`";
        return Err(Failure::new(FailureCode::NotOnThisNode, message, hint));
    }
    Ok(host)
}

/// What the connections say of lines that parted, where all say the same; else nobody gives way.
fn after_split(resource: &Resource, own_name: &str) -> (AfterSplit, Option<String>) {
    let peers = resource.peers_of(own_name);
    let mut found: Vec<_> =
        peers.iter().map(|peer| resource.net_options(own_name, &peer.name).after_split).collect();
    found.dedup();
    let [words] = &found[..] else {
        let warning = "`after-sb-*` differ between the connections: none is in effect, after a \
                       split brain nobody gives way by itself";
        return (AfterSplit::NOBODY, (!found.is_empty()).then(|| warning.to_owned()));
    };
    let named = |word: &str| {
        let name = word.strip_prefix("discard-node-")?;
        let host = resource.host_by_name(name)?;
        Some(WithoutPrimary::Node(node_id(host.node_id)))
    };
    let none = match words.none.as_str() {
        "discard-younger-primary" => WithoutPrimary::YoungerPrimary,
        "discard-older-primary" => WithoutPrimary::OlderPrimary,
        "discard-zero-changes" => WithoutPrimary::ZeroChanges,
        "discard-least-changes" => WithoutPrimary::LeastChanges,
        "discard-local" => WithoutPrimary::Local,
        "discard-remote" => WithoutPrimary::Remote,
        word => named(word).unwrap_or(WithoutPrimary::Disconnect),
    };
    let one = match words.one.as_str() {
        "consensus" => WithOnePrimary::Consensus,
        "violently-as0p" => WithOnePrimary::Violently,
        "discard-secondary" => WithOnePrimary::Secondary,
        "call-pri-lost-after-sb" => WithOnePrimary::CallPrimary,
        _ => WithOnePrimary::Disconnect,
    };
    let two = match words.two.as_str() {
        "violently-as0p" => WithTwoPrimaries::Violently,
        "call-pri-lost-after-sb" => WithTwoPrimaries::CallPrimary,
        _ => WithTwoPrimaries::Disconnect,
    };
    (AfterSplit { none, one, two }, None)
}

/// Volumes share their replica: a member has the disks of all of them, or none.
fn further_volumes(
    name: &str,
    first: &Volume,
    further: &[&Volume],
) -> Result<Vec<FurtherVolume>, Failure> {
    let refused =
        |message: String, hint: &str| Err(Failure::new(FailureCode::NotSupported, message, hint));
    if !further.is_empty() && first.number != 0 {
        let message = format!("resource {name:?} has several volumes, and no volume 0");
        return refused(message, "number its volumes from 0 on");
    }
    let mut volumes = Vec::with_capacity(further.len());
    for volume in further {
        let Ok(place) = Place::new(volume.number) else {
            let (number, last) = (volume.number, VOLUMES_MAX - 1);
            let message = format!("resource {name:?} has a volume {number}, {last} is the last");
            return refused(message, "number its volumes from 0 on; or make another resource");
        };
        if volume.disk.is_some() != first.disk.is_some() {
            let message = format!(
                "resource {name:?} has a disk for one of the volumes {} and {}, and none for the \
                 other",
                first.number, volume.number
            );
            return refused(message, "give a node the disks of all volumes, or of none");
        }
        let disk = volume.disk.as_ref();
        let disk = disk.map(|disk| disk_place(name, &disk.path, &disk.meta_disk)).transpose()?;
        let device = volume.device.as_ref().map(|device| device.minor);
        volumes.push(FurtherVolume { place, device, disk });
    }
    Ok(volumes)
}

/// What the most demanding connection asks for, and the handlers that are called then.
fn fencing(
    resource: &Resource,
    own_name: &str,
) -> Result<(Fencing, BTreeMap<&'static str, String>), Failure> {
    let peers = resource.peers_of(own_name).into_iter();
    let asked = peers.map(|peer| resource.net_options(own_name, &peer.name).fencing);
    let fencing = asked.max().unwrap_or(Fencing::DontCare);
    let mut handlers = resource.handler_scripts();
    match fencing {
        Fencing::DontCare => {
            handlers.retain(|name, _| !matches!(*name, "fence-peer" | "unfence-peer"));
        }
        Fencing::ResourceOnly | Fencing::ResourceAndStonith => {
            if !handlers.contains_key("fence-peer") {
                let name = &resource.name;
                let message = format!("resource {name:?} has `fencing` and no handler for it");
                let hint = "set `handlers { fence-peer \"..\"; }`, or `fencing dont-care`";
                return Err(Failure::new(FailureCode::InvalidConfig, message, hint));
            }
        }
    }
    Ok((fencing, handlers))
}

/// A majority decides among three voters, and what a handler says of one of them does not.
fn needless_fencing(fencing: Fencing, quorum: Quorum, members: &[Member]) -> Option<String> {
    let voters = voters(members);
    let decides = fencing != Fencing::DontCare && quorum != Quorum::Off && voters > 2;
    decides.then(|| {
        format!("`fencing` has nothing to do: a majority of {voters} voters decides who goes on")
    })
}

fn voters(members: &[Member]) -> usize {
    let replicas = members.iter().filter(|member| member.is_diskful).count();
    replicas + usize::from(replicas < members.len() && replicas.is_multiple_of(2))
}

fn demands(options: &ResourceOptions, fencing: Fencing) -> Demands {
    let policy = |policy| match policy {
        Policy::SuspendIo => OnNoQuorum::SuspendIo,
        Policy::IoError => OnNoQuorum::IoError,
    };
    let share = |quorum, off| match quorum {
        Quorum::Off => off,
        Quorum::Majority => Share::Majority,
        Quorum::All => Share::All,
        Quorum::AtLeast(count) => Share::AtLeast(count),
    };
    Demands {
        on_no_quorum: policy(options.on_no_quorum),
        on_no_data: policy(options.on_no_data),
        quorum: share(options.quorum, Share::Majority),
        redundancy: share(options.redundancy, Share::AtLeast(1)),
        without_quorum: match (options.quorum, fencing) {
            (Quorum::Off, Fencing::DontCare) => WithoutQuorum::GoOn,
            (Quorum::Off, Fencing::ResourceOnly | Fencing::ResourceAndStonith) => {
                WithoutQuorum::GoOnFenced
            }
            (_, Fencing::DontCare) => WithoutQuorum::Wait,
            (_, Fencing::ResourceOnly) => WithoutQuorum::Prove(Meanwhile::AsDemanded),
            (_, Fencing::ResourceAndStonith) => WithoutQuorum::Prove(Meanwhile::Hold),
        },
        after_split: AfterSplit::NOBODY,
    }
}

/// A number that would let two parts of the cluster both go on: the majority is asked for.
fn low_quorum(quorum: Quorum, members: &[Member]) -> Option<String> {
    let Quorum::AtLeast(count) = quorum else { return None };
    let voters = voters(members);
    let majority = voters / 2 + 1;
    (usize::from(count) < majority).then(|| {
        format!("`quorum {count}` is below the majority of {voters} voters: {majority} are needed")
    })
}

fn read_policy(read_balancing: ReadBalancing) -> ReadPolicy {
    match read_balancing {
        ReadBalancing::PreferLocal => ReadPolicy::PreferLocal,
        ReadBalancing::PreferRemote => ReadPolicy::PreferRemote,
        ReadBalancing::RoundRobin => ReadPolicy::RoundRobin,
        ReadBalancing::LeastPending => ReadPolicy::LeastPending,
        ReadBalancing::Striping { kib } => ReadPolicy::Striping { blocks: kib / BLOCK_KIB },
        ReadBalancing::Weighted => ReadPolicy::Weighted,
    }
}

fn members(resource: &Resource, own_name: &str, volume: u16) -> Result<Vec<Member>, Failure> {
    let peers = resource.peers_of(own_name);
    let member = |host: &Host| {
        let net = resource.net_options(own_name, &host.name);
        Ok(Member {
            node: node_id(host.node_id),
            name: host.name.clone(),
            is_diskful: host.volume(volume).is_some_and(|volume| !volume.is_diskless()),
            may_witness: may_witness(resource, host),
            may_be_read: net.allow_remote_read,
            paths: peers
                .iter()
                .find(|peer| peer.node_id == host.node_id)
                .map_or_else(Vec::new, |peer| peer.paths.clone()),
            ack_when: ack_when(net.ack_when),
            congestion: congestion(net.congestion),
            times: LinkTimes::of(&net),
            buffers: Buffers::of(&net),
            spread: if net.load_balance_paths { Spread::All } else { Spread::One },
            secrecy: if net.tls { Secrecy::Tls } else { Secrecy::ClearText },
            secret: shared_secret(&host.name, net)?,
        })
    };
    resource.hosts.iter().map(member).collect()
}

/// One of the two options alone proves nothing: that is not what who wrote it thinks.
fn shared_secret(peer: &str, net: NetOptions) -> Result<Option<SharedSecret>, Failure> {
    let (algorithm, secret) = match (net.cram_hmac_alg, net.shared_secret) {
        (None, None) => return Ok(None),
        (Some(algorithm), Some(secret)) => (algorithm, secret),
        (algorithm, _) => {
            let (is, lacks) = match algorithm {
                Some(_) => ("cram-hmac-alg", "shared-secret"),
                None => ("shared-secret", "cram-hmac-alg"),
            };
            let message = format!("the connection to {peer} has `{is}` and no `{lacks}`");
            let hint =
                "set both, `net { cram-hmac-alg sha256; shared-secret \"..\"; }`, or neither";
            return Err(Failure::new(FailureCode::InvalidConfig, message, hint));
        }
    };
    let algorithm = match algorithm.as_str() {
        "sha1" => ProofAlgorithm::Sha1,
        "sha256" => ProofAlgorithm::Sha256,
        "sha384" => ProofAlgorithm::Sha384,
        "sha512" => ProofAlgorithm::Sha512,
        unknown => {
            let message = format!(
                "the connection to {peer} has `cram-hmac-alg {unknown}`, and `{unknown}` is not \
                 one of the digests that Basalt computes"
            );
            let hint = "set `cram-hmac-alg` to sha256, sha384, sha512 or sha1 on all nodes";
            return Err(Failure::new(FailureCode::NotSupported, message, hint));
        }
    };
    Ok(Some(SharedSecret { algorithm, secret }))
}

fn ack_when(wanted: config::effective::AckWhen) -> AckWhen {
    match wanted {
        config::effective::AckWhen::Sent => AckWhen::Sent,
        config::effective::AckWhen::Received => AckWhen::Received,
        config::effective::AckWhen::Durable => AckWhen::Durable,
    }
}

fn congestion(wanted: config::effective::Congestion) -> Congestion {
    let config::effective::Congestion { then, fill_bytes, extents } = wanted;
    let then = match then {
        config::effective::OnCongestion::Block => OnCongestion::Block,
        config::effective::OnCongestion::PullAhead => OnCongestion::PullAhead,
        config::effective::OnCongestion::Disconnect => OnCongestion::Disconnect,
    };
    Congestion { then, fill_bytes, extents }
}

/// The highest rate that any connection allows.
fn resync_rate(resource: &Resource, own_name: &str, volume: u16) -> u64 {
    let peers = resource.peers_of(own_name);
    let rates: Option<Vec<u64>> = peers
        .iter()
        .map(|peer| resource.peer_disk_options(own_name, &peer.name, volume).c_max_rate_bytes)
        .collect();
    rates.and_then(|rates| rates.into_iter().max()).unwrap_or(0)
}

/// The most patient connection decides: it is one rule for all members.
fn slow_limit(resource: &Resource, own_name: &str) -> Duration {
    let peers = resource.peers_of(own_name).into_iter();
    let limits = peers.map(|peer| match resource.net_options(own_name, &peer.name).patience {
        Patience::Own => SLOW_MEMBER_LIMIT,
        Patience::Milliseconds(ms) => Duration::from_millis(ms).max(SLOW_MEMBER_MIN),
        Patience::Endless => SLOW_MEMBER_NEVER,
    });
    limits.max().unwrap_or(SLOW_MEMBER_LIMIT)
}

fn volume_options(resource: &Resource, host: &Host) -> BTreeMap<u16, DiskOptions> {
    let numbers = host.volumes.iter().map(|volume| volume.number);
    numbers.map(|number| (number, resource.disk_options(&host.name, number))).collect()
}

/// The least patient volume decides: a failed disk takes the replica of all of them.
fn disk_timeout(resource: &Resource, host: &Host) -> Option<Duration> {
    let volumes = host.volumes.iter();
    let limits =
        volumes.filter_map(|it| resource.disk_options(&host.name, it.number).disk_timeout_ms);
    limits.min().map(Duration::from_millis)
}

/// The replica is one of all volumes: it comes after what any of them comes after.
fn resync_after(resource: &Resource, host: &Host) -> Vec<(String, u16)> {
    let numbers = host.volumes.iter().map(|volume| volume.number);
    let before = numbers.filter_map(|number| resource.resync_after(&host.name, number));
    let others: BTreeSet<_> = before.filter(|(name, _)| *name != resource.name).collect();
    others.into_iter().collect()
}

/// `csums-alg` of any connection, unless all that have it say `csums-after-crash-only`.
fn comparing(resource: &Resource, own_name: &str) -> Comparing {
    let peers = resource.peers_of(own_name).into_iter();
    let options = peers.map(|peer| resource.net_options(own_name, &peer.name));
    let asked = options.filter(|net| net.csums_alg.is_some());
    let only_after_crash = asked.map(|net| net.csums_after_crash_only);
    match only_after_crash.reduce(|all, only| all && only) {
        None => Comparing::Full,
        Some(true) => Comparing::AfterCrash,
        Some(false) => Comparing::Always,
    }
}

/// A member without a disk is the witness, which is one for all volumes, only where no connection
/// to it says `peer-tiebreaker no` of any of them: all nodes have to come to the same.
fn may_witness(resource: &Resource, host: &Host) -> bool {
    let others = resource.hosts.iter().filter(|other| other.node_id != host.node_id);
    let mut pairs = others.flat_map(|other| host.volumes.iter().map(move |it| (other, it.number)));
    pairs.all(|(other, volume)| {
        resource.peer_disk_options(&other.name, &host.name, volume).peer_tiebreaker
    })
}

fn disk_place(name: &str, path: &str, meta: &MetaDisk) -> Result<DiskPlace, Failure> {
    let meta = match meta {
        MetaDisk::Internal => None,
        MetaDisk::External { path, index: None } => Some(PathBuf::from(path)),
        MetaDisk::External { path, index: Some(index) } => {
            return Err(Failure::new(
                FailureCode::NotSupported,
                format!("resource {name:?} keeps its metadata in slot {index} of {path}"),
                "use `meta-disk internal`, or a file or device of its own without an index",
            ));
        }
    };
    Ok(DiskPlace { data: PathBuf::from(path), meta })
}

fn node_id(id: u8) -> NodeId {
    NodeId::new(id).expect("the grammar allows node ids 0 to 31")
}

/// The id of a resource: FNV-1a of its name, in 128 bits, the same on every node.
#[must_use]
pub fn resource_id(name: &str) -> ResourceId {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mix = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    ResourceId(name.bytes().fold(BASIS, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id stands in metadata on disks: it must never change.
    #[test]
    fn resource_id_is_fnv_1a() {
        assert_eq!(resource_id("").0, 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(resource_id("a").0, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn definition_tells_own_disk_and_peers() {
        let text = "resource r0 {
            on a { node-id 0; address 127.0.0.1:7001; volume 0 { device minor 1; disk /tmp/a;
              meta-disk internal; } }
            on b { node-id 1; address 127.0.0.1:7002; volume 0 { device minor 1; disk /tmp/b;
              meta-disk internal; } }
            on c { node-id 2; address 127.0.0.1:7003; volume 0 { device minor 1; disk none; } }
            connection-mesh { hosts a b c; }
        }";
        let definition = Definition::from_text("b", "r0", text).unwrap();
        assert_eq!(definition.me.get(), 1);
        assert_eq!(definition.disk.as_ref().unwrap().data, PathBuf::from("/tmp/b"));
        let peers: Vec<_> = definition.peers().map(|p| (p.name.as_str(), p.is_diskful)).collect();
        assert_eq!(peers, [("a", true), ("c", false)]);
        let [path] = definition.members[0].paths[..] else { panic!("one path to a") };
        assert_eq!((path.0.port(), path.1.port()), (7002, 7001));
        assert!(!definition.needs_credentials());
        assert_eq!(definition.clear_text_warnings().count(), 0, "the addresses are this machine's");
        let failure = Definition::from_text("x", "r0", text).unwrap_err();
        assert_eq!(failure.code, FailureCode::NotOnThisNode);
    }

    #[test]
    fn a_node_goes_by_the_first_name_of_its_host() {
        let text = "resource r0 { volume 0 { disk /d; }
            net { after-sb-0pri discard-node-b.example.com; }
            on a.example.com other { node-id 0; address 127.0.0.1:7001; }
            on b { node-id 1; address 127.0.0.1:7002; }
        }";
        for name in ["a", "a.example.com"] {
            let definition = Definition::from_text(name, "r0", text).unwrap();
            assert_eq!(definition.me.get(), 0);
            let WithoutPrimary::Node(node) = definition.demands.after_split.none else { panic!() };
            assert_eq!(node.get(), 1);
        }
        let failure = Definition::from_text("other", "r0", text).unwrap_err();
        assert_eq!(failure.code, FailureCode::NotOnThisNode);
        assert!(failure.message.contains("wait for `a.example.com`"), "{failure}");
    }

    #[test]
    fn volumes_are_in_order_and_share_their_members() {
        let text = "resource r0 {
            on a { node-id 0; address 127.0.0.1:1; FIRST
              volume 0 { device minor 3; disk /a; meta-disk internal; } }
            on b { node-id 1; address 127.0.0.1:2; SECOND
              volume 0 { device minor 3; disk none; } }
            connection-mesh { hosts a b; }
        }";
        let definition = |first: &str, second: &str| {
            let text = text.replace("FIRST", first).replace("SECOND", second);
            Definition::from_text("a", "r0", &text)
        };
        let own = "volume 2 { device minor 4; disk /c; meta-disk /m; }";
        let found = definition(own, "volume 2 { disk none; }").unwrap();
        let volumes: Vec<_> =
            found.volumes().map(|it| (it.place.number(), it.number, it.device)).collect();
        assert_eq!(volumes, [(0, 0, Some(3)), (2, 2, Some(4))]);
        let second = found.volumes().nth(1).and_then(|it| it.disk).unwrap();
        assert_eq!(second.meta, Some(PathBuf::from("/m")));
        let diskless: Vec<_> = found.members.iter().map(|member| member.is_diskful).collect();
        assert_eq!(diskless, [true, false]);
        for (own, part) in [
            ("volume 2 { disk none; }", "none for the other"),
            ("volume 16 { disk /c; meta-disk internal; }", "15 is the last"),
        ] {
            let number = if part.starts_with("15") { 16 } else { 2 };
            let other = format!("volume {number} {{ disk none; }}");
            let failure = definition(own, &other).unwrap_err();
            assert!(failure.message.contains(part), "{failure}");
        }
        let none = text.replace("volume 0", "volume 1");
        let none = none.replace("FIRST", own).replace("SECOND", "volume 2 { disk none; }");
        let failure = Definition::from_text("a", "r0", &none).unwrap_err();
        assert!(failure.message.contains("no volume 0"), "{failure}");
    }

    /// It was taken without a word of any volume but the first, and changed nothing.
    #[test]
    fn member_is_no_witness_where_any_of_its_volumes_is_no_tiebreaker() {
        let text = "resource r0 {
            on a { node-id 0; address 127.0.0.1:1; volume 0 { disk /a; meta-disk internal; }
              volume 1 { disk /a1; meta-disk internal; } }
            on b { node-id 1; address 127.0.0.1:2; volume 0 { disk /b; meta-disk internal; }
              volume 1 { disk /b1; meta-disk internal; } }
            on c { node-id 2; address 127.0.0.1:3; volume 0 { disk none; FIRST }
              volume 1 { disk none; SECOND } }
            connection-mesh { hosts a b c; }
        }";
        for (first, second, may) in [("", "", true), ("NO", "", false), ("", "NO", false)] {
            let said = |answer: &str| answer.replace("NO", "tiebreaker no;");
            let text = text.replace("FIRST", &said(first)).replace("SECOND", &said(second));
            for node in ["a", "b", "c"] {
                let definition = Definition::from_text(node, "r0", &text).unwrap();
                assert_eq!(definition.members[2].may_witness, may, "{first} {second} {node}");
            }
        }
    }

    #[test]
    fn a_quorum_below_the_majority_is_told_of() {
        let text = "resource r0 { options { quorum COUNT; }
            on a { node-id 0; address 127.0.0.1:1; volume 0 { disk /a; meta-disk internal; } }
            on b { node-id 1; address 127.0.0.1:2; volume 0 { disk /b; meta-disk internal; } }
            on c { node-id 2; address 127.0.0.1:3; volume 0 { disk none; } }
            connection-mesh { hosts a b c; }
        }";
        let definition =
            |count| Definition::from_text("a", "r0", &text.replace("COUNT", count)).unwrap();
        let [ref warning] = definition("1").warnings[..] else { panic!("one warning") };
        assert!(warning.contains("below the majority of 3 voters: 2 are needed"), "{warning}");
        assert!(definition("2").warnings.is_empty());
        assert_eq!(definition("2").demands.quorum, Share::AtLeast(2));
        assert_eq!(definition("all").demands.quorum, Share::All);
    }

    #[test]
    fn a_member_is_given_as_long_as_the_most_patient_connection_says() {
        let text = "resource r0 { net { ALL }
            volume 0 { disk /tmp/a; meta-disk internal; }
            on a { node-id 0; address 127.0.0.1:1; }
            on b { node-id 1; address 127.0.0.1:2; }
            on c { node-id 2; address 127.0.0.1:3; }
            connection { host a; host b; net { ONE } }
            connection { host a; host c; }
            connection { host b; host c; }
        }";
        let limit_ms = |all, one| {
            let text = text.replace("ALL", all).replace("ONE", one);
            Definition::from_text("a", "r0", &text).unwrap().slow_limit.as_millis()
        };
        assert_eq!(limit_ms("", ""), SLOW_MEMBER_LIMIT.as_millis(), "Basalt's own");
        assert_eq!(limit_ms("timeout 30; ko-count 4;", ""), 12_000);
        assert_eq!(limit_ms("timeout 60;", ""), 42_000, "seven times by default, as with DRBD");
        assert_eq!(limit_ms("ko-count 2;", ""), 12_000);
        assert_eq!(limit_ms("timeout 10; ko-count 1;", "timeout 20;"), 2_000);
        assert_eq!(limit_ms("timeout 1; ko-count 1;", ""), SLOW_MEMBER_MIN.as_millis());
        assert_eq!(limit_ms("", "ko-count 0;"), SLOW_MEMBER_NEVER.as_millis());
    }

    #[test]
    fn clear_text_on_a_network_is_warned_of_for_each_peer() {
        let text = "resource r0 { NET
            volume 0 { disk /tmp/a; meta-disk internal; }
            on a { node-id 0; address 10.0.0.1:7001; }
            on b { node-id 1; address 10.0.0.2:7002; }
            on c { node-id 2; address 10.0.0.3:7003; }
            connection { host a; host b; }
            connection { host a; host c; net { tls yes; } }
            connection { host b; host c; }
        }";
        let warnings = |text: &str| -> Vec<String> {
            let definition = Definition::from_text("a", "r0", text).unwrap();
            assert!(definition.needs_credentials(), "of the connection to c");
            definition.clear_text_warnings().collect()
        };
        let [ref warning] = warnings(&text.replace("NET", ""))[..] else { panic!("one warning") };
        assert!(warning.contains("to b at 10.0.0.2:7002 is in clear text"), "{warning}");
        assert!(warnings(&text.replace("NET", "net { tls yes; }")).is_empty());
    }
}
