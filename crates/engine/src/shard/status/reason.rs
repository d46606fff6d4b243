//! The sentences that `status` prints below a resource: why it is as it is, and what to type.
//!
//! Each is a row of one enum. docs/operate/messages/status.md has them all, with the situations
//! that print them, and tidy asks for each variant there.

use std::fmt;

use api::status::{QuorumVotes, REQUESTS_FAIL};

/// Why a resource is as it is. Names are those of nodes; `resource` is what is typed behind a verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Others may have decided otherwise, out of reach of this node.
    AsKnown(Box<Self>),
    /// Fewer answer than the voters need.
    NoMajority {
        votes: QuorumVotes,
    },
    /// The option asks for more than a majority.
    TooFewForQuorum {
        votes: QuorumVotes,
        less: Option<LessWith>,
    },
    /// So does `quorum-minimum-redundancy`.
    TooFewReplicas {
        have: usize,
        needed: usize,
        less: Option<LessWith>,
    },
    /// Enough answer, and do not confirm the lease.
    TooLate {
        votes: QuorumVotes,
        late: Vec<String>,
    },
    FailForQuorum,
    FailForData,
    Barred {
        why: Loss,
        resource: String,
    },
    HeldByOperator {
        resource: String,
    },
    WaitsForData,
    StateDirectoryFailed,
    WaitsForTurn {
        after: Option<String>,
    },
    WaitsForHandler,
    LastDiskFailed {
        resource: String,
    },
    DiskFailed {
        resource: String,
    },
    DiskOutOfUse {
        resource: String,
    },
    PeerWithoutDisk {
        peer: String,
        resource: String,
    },
    /// As the peer says.
    PeerDiskFailed {
        peer: String,
        request: String,
        error: String,
        resource: String,
    },
    /// The replica of a peer differs; which one is right is not known.
    Differs {
        peer: String,
        kib: u64,
        resource: String,
    },
    /// That of this node does, which is Secondary.
    DiffersHere {
        kib: u64,
        resource: String,
    },
    /// That of this node does, which is Primary.
    DiffersAtPrimary {
        kib: u64,
        resource: String,
    },
    WasRepaired {
        peer: String,
        kib: u64,
    },
    VerifyInterrupted {
        position: u64,
        volume: String,
    },
    NoVote {
        peer: String,
        why: NoVote,
    },
    OtherHistory {
        peer: String,
        resource: String,
    },
    VolumeNotInUse {
        volume: u32,
        resource: String,
    },
    DiskTooSmall {
        peer: String,
        volume: u32,
        held: u64,
        size: u64,
    },
    NoDiskForVolume {
        peer: String,
        volume: u32,
        resource: String,
    },
    BecomesPrimary,
    NoOrigin {
        resource: String,
    },
    VotesKnowOfNoData,
}

/// An option that asks for less than the one that is not met; the sentence proposes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LessWith {
    pub(crate) option: &'static str,
    pub(crate) resource: String,
}

/// Clients that reconnect could not tell of such a loss, and so are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It is counted.
    Counted,
    /// This node gave up its side of a split brain.
    GaveUp { peer: String },
    /// The other one did.
    Kept { peer: String },
    /// Nothing of this line is counted as lost: another one was given up, or may have gone on.
    OfAnotherLine,
}

/// Why a replica has no vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoVote {
    OutOfReach,
    /// So it may be for good, or only while the others go on without it: the options allow that.
    OutOfReachOfOne,
    Left,
    New,
    WithoutDisk,
}

impl fmt::Display for LessWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, resource } = self;
        write!(
            f,
            "; to go on with fewer: `{option}` in the configuration of this node, then `basalt adm \
             adjust {resource}`"
        )
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted => f.write_str("completed writes may be lost"),
            Self::GaveUp { peer } => write!(
                f,
                "after the split brain with {peer}, what clients wrote on this node meanwhile is \
                 given up, and what they wrote on {peer} is here"
            ),
            Self::Kept { peer } => write!(
                f,
                "after the split brain with {peer}, what clients wrote on {peer} meanwhile is \
                 given up, and what they wrote on this node is here"
            ),
            Self::OfAnotherLine => f.write_str(
                "after a split brain, or while a node went on alone, clients may have written on \
                 two nodes: what they wrote on one of these is not here, and the logs of the nodes \
                 say on which",
            ),
        }
    }
}

impl fmt::Display for NoVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfReach => {
                "it left, was given up or never voted, and is not connected; it votes once it is \
                 connected and in sync"
            }
            Self::OutOfReachOfOne => {
                "it is not connected, and who votes goes on without it, as `quorum off` or \
                 `fencing` allows, or it left or never voted; it votes once it is connected and \
                 in sync"
            }
            Self::Left => {
                "it left, or others went on without it; it votes again once it is in sync"
            }
            Self::New => "its replica is new; it votes once it is in sync",
            Self::WithoutDisk => "it has no disk in use; it votes once it has one and is in sync",
        })
    }
}

impl fmt::Display for Reason {
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsKnown(reason) => write!(f, "when this node was in touch last: {reason}"),
            Self::NoMajority { votes } => write!(f, "no quorum: {votes}"),
            Self::TooFewForQuorum { votes, less } => {
                write!(f, "no quorum: {votes}, as `quorum` asks for{}", of(less.as_ref()))
            }
            Self::TooFewReplicas { have, needed, less } => {
                too_few_replicas(f, (*have, *needed), less.as_ref())
            }
            Self::TooLate { votes, late } => write!(
                f,
                "no quorum: {votes}, and too few of them confirm in time that this node leads \
                 (late: {}): look at the load and the state directories of both sides, and at the \
                 network",
                if late.is_empty() { "none any more".to_owned() } else { late.join(", ") }
            ),
            Self::FailForQuorum => {
                write!(f, "{REQUESTS_FAIL} until there is a quorum (`on-no-quorum io-error`)")
            }
            Self::FailForData => write!(
                f,
                "{REQUESTS_FAIL} until a replica that is up to date is in reach \
                 (`on-no-data-accessible io-error`)"
            ),
            Self::Barred { why, resource } => write!(
                f,
                "{why}: NBD clients are refused until you have ended those that reconnect by \
                 themselves, looked at the data, and typed `basalt adm reopen {resource}`"
            ),
            Self::HeldByOperator { resource } => write!(
                f,
                "an operator holds requests back: `basalt adm resume-io {resource}` ends that"
            ),
            Self::WaitsForData => {
                f.write_str("requests wait: no replica that is up to date is in reach")
            }
            Self::StateDirectoryFailed => f.write_str(
                "the state directory failed: this node votes no more; mend its file system, then \
                 `systemctl restart basalt-node`",
            ),
            Self::WaitsForTurn { after: None } => f.write_str(
                "its replica waits for its turn (`max-parallel-resyncs`), or for the handler \
                 before-resync-target",
            ),
            Self::WaitsForTurn { after: Some(first) } => write!(
                f,
                "its replica waits for its turn (`resync-after {first}`), or for the handler \
                 before-resync-target"
            ),
            Self::WaitsForHandler => {
                f.write_str("its replica waits for the handler before-resync-target to end")
            }
            Self::LastDiskFailed { resource } => write!(
                f,
                "the disk failed: it is the last one up to date, and requests wait for it. Mend it \
                 first, and type no `create-md`: then `basalt adm down --force {resource}`, with \
                 which waiting requests fail, and `up` take it back"
            ),
            Self::DiskFailed { resource } => write!(
                f,
                "the disk failed, as is told with its volume: once mended, `basalt adm attach \
                 {resource}` takes it back; a new one needs `create-md --force {resource}` before"
            ),
            Self::DiskOutOfUse { resource } => write!(
                f,
                "the disk is out of use, by `detach` or an error: `basalt adm attach {resource}` \
                 takes it back; another one needs `create-md --force {resource}` before"
            ),
            Self::PeerWithoutDisk { peer, resource } => write!(
                f,
                "{peer} has no disk in use: there `basalt adm status {resource}` says why, and \
                 `basalt adm attach {resource}` takes it back"
            ),
            Self::PeerDiskFailed { peer, request, error, resource } => write!(
                f,
                "{peer} has no disk in use: {request} failed there ({error}); once it is mended, \
                 `basalt adm attach {resource}` there takes it back"
            ),
            Self::Differs { peer, kib, resource } => write!(
                f,
                "a verify found {kib} KiB of the replica of {peer} that differ from the others: \
                 decide first which side is right \
                 (docs/operate/alerts/BasaltVerifyDifferences.md); where it is not that of {peer}, \
                 `basalt adm invalidate {resource}` there has it copied anew"
            ),
            Self::DiffersHere { kib, resource } => write!(
                f,
                "a verify found {kib} KiB of the replica of this node that differ from the others: \
                 decide first which side is right \
                 (docs/operate/alerts/BasaltVerifyDifferences.md); where it is not that of this \
                 node, `basalt adm invalidate {resource}` here has it copied anew"
            ),
            Self::DiffersAtPrimary { kib, resource } => write!(
                f,
                "a verify found {kib} KiB of the replica of this node that differ from the others: \
                 decide first which side is right \
                 (docs/operate/alerts/BasaltVerifyDifferences.md); where it is not that of this \
                 node, have another node be Primary, and then `basalt adm invalidate {resource}` \
                 here has it copied anew"
            ),
            Self::WasRepaired { peer, kib } => write!(
                f,
                "a verify found {kib} KiB of the replica of {peer} that differ from the others: \
                 they were made equal to what most replicas hold, or without a majority to what \
                 the node held that led the verify; look at the disk of {peer}"
            ),
            Self::VerifyInterrupted { position, volume } => write!(
                f,
                "a verify was interrupted: `basalt adm verify --start {position}K {volume}` goes on"
            ),
            Self::NoVote { peer, why } => write!(f, "{peer} has no vote: {why}"),
            Self::OtherHistory { peer, resource } => write!(
                f,
                "the data of {peer} has another history than that of the others, and is not \
                 brought up to date: keep a copy if it may be the one that is wanted; then, on \
                 {peer}, `basalt adm invalidate {resource}` gives it up"
            ),
            Self::VolumeNotInUse { volume, resource } => write!(
                f,
                "volume {volume} is not in use yet: it is, or will be with the next Primary, when \
                 every replica in reach has a disk for it: `create-md {resource}/{volume}` and \
                 `adjust {resource}` on each of their nodes"
            ),
            Self::DiskTooSmall { peer, volume, held, size } => write!(
                f,
                "the replica of {peer} stays away: its disk of volume {volume} has room for {held} \
                 bytes, and the volume has {size}: enlarge the device there, or make room on the \
                 file system of the file; it is looked at again within 10 s"
            ),
            Self::NoDiskForVolume { peer, volume, resource } => {
                no_disk(f, (peer, *volume), resource)
            }
            Self::BecomesPrimary => f.write_str("this node is becoming Primary"),
            Self::NoOrigin { resource } => write!(
                f,
                "nobody has said yet whose data counts: on the node whose data is to stay, and \
                 only there, `basalt adm primary --force {resource}`; the others are written over. \
                 A replica that was in use before, and is away, comes back first"
            ),
            Self::VotesKnowOfNoData => f.write_str(
                "replicas have data, and the votes of a majority know of none: take it down on all \
                 nodes; then `basalt adm adopt` finds out who is up to date, and `primary --force` \
                 would not (docs/operate/state-lost.md)",
            ),
        }
    }
}

/// With the price of going on with fewer.
fn too_few_replicas(
    f: &mut fmt::Formatter<'_>,
    (have, needed): (usize, usize),
    less: Option<&LessWith>,
) -> fmt::Result {
    let are = if have == 1 { "replica in reach is" } else { "replicas in reach are" };
    write!(
        f,
        "no quorum: {have} {are} up to date, and `quorum-minimum-redundancy` asks for {needed}{}",
        of(less)
    )?;
    let price = "; what is written then is lost with the replicas that are left";
    f.write_str(if less.is_some() { price } else { "" })
}

fn no_disk(f: &mut fmt::Formatter<'_>, (peer, volume): (&str, u32), resource: &str) -> fmt::Result {
    write!(
        f,
        "the replica of {peer} stays away: it has no disk for volume {volume}, or one of \
         unknown content: there `create-md {resource}/{volume}`, then `adjust {resource}`; \
         only if that is refused, and another replica is UpToDate, `detach {resource}`, \
         `create-md --force {resource}`, `attach {resource}`"
    )
}

fn of(less: Option<&LessWith>) -> String {
    less.map_or_else(String::new, LessWith::to_string)
}
