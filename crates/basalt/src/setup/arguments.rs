//! The command line of `basalt setup` as typed.

use clap::{Args, Parser, Subcommand};
use config::limits::{MINOR_MAX, NODE_ID_MAX, VOLUME_MAX};
use config::number::{Reads, number};

use crate::adm::arguments::{Events2, Status, WaitTimes, parse_sectors};
use crate::adm::general::General;
use crate::adm::metadata::DrbdLog;
use crate::values::yes_or_no;

#[derive(Debug, Parser)]
#[command(
    name = "basalt setup",
    about = "The part of drbdsetup that scripts use, asked of the node daemon",
    version,
    after_help = "Options may be cut short; flags take `=yes` and `=no`.\n\
        Exit codes: 0 done, 5 waited in vain, or the command takes longer than --timeout \
        and goes on in the daemon, 10 refused configuration or unknown object, 11 refused change \
        of state, 16 no local disk, 17 no up-to-date data, 20 usage and everything else."
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) general: General,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show roles, disks, connections and what is wrong with them
    Status(Status),
    /// Tell the state, and then every change of it, a line each
    #[command(name = "events2")]
    Events2(Events2),
    /// Show the configuration that runs
    Show(Show),
    /// Show the role of this node
    Role { resource: String },
    /// Show the state of the connection to a peer
    Cstate(Peer),
    /// Show the state of the disks of a volume, local/peers
    Dstate {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Disconnect, detach and forget
    Down { resource: String },
    /// Take the right to write
    Primary {
        resource: String,
        /// Do it also where it is refused for safety
        #[arg(long)]
        force: bool,
    },
    /// Give the right to write away
    Secondary {
        resource: String,
        /// Fail the requests that are still open
        #[arg(long)]
        force: bool,
    },
    /// Connect to a peer
    Connect {
        #[command(flatten)]
        peer: Peer,
        /// After a split brain: give up what this node wrote since then, and take the peer's
        #[arg(long)]
        discard_my_data: bool,
        #[arg(long, hide = true)]
        tentative: bool,
    },
    /// Part from a peer
    Disconnect {
        #[command(flatten)]
        peer: Peer,
        /// Do it also where it is refused for safety
        #[arg(long)]
        force: bool,
    },
    /// Go on without the backing disk
    Detach {
        #[arg(value_parser = minors())]
        minor: u32,
        /// Do not wait for requests that the disk still owes
        #[arg(long)]
        force: bool,
        #[arg(long, hide = true)]
        diskless: bool,
    },
    /// Make a volume larger while it is in use
    Resize {
        #[arg(value_parser = minors())]
        minor: u32,
        /// The new size: sectors of 512 bytes, or a number with K, M or G
        #[arg(short = 's', long, value_name = "SECTORS", value_parser = parse_sectors)]
        size: Option<u64>,
        /// Leave what is new as it is
        #[arg(long)]
        assume_clean: bool,
        /// Changes nothing: a disk without room is always refused
        #[arg(long)]
        assume_peer_has_space: bool,
        #[command(flatten)]
        log: DrbdLog,
    },
    /// Give up the local data and copy it all again from a peer
    Invalidate {
        #[arg(value_parser = minors())]
        minor: u32,
        #[arg(long, hide = true, num_args = 0..=1, require_equals = true,
            default_value_t = true, default_missing_value = "true",
            action = clap::ArgAction::Set,
            value_parser = yes_or_no)]
        reset_bitmap: bool,
        #[arg(long, hide = true, value_name = "NODE_ID", value_parser = node_ids())]
        sync_from_peer_node_id: Option<u8>,
    },
    /// Finish the requests that are under way, and hold the next ones back
    SuspendIo {
        #[arg(value_parser = minors())]
        minor: u32,
        #[arg(long, hide = true)]
        bdev_freeze: bool,
    },
    /// Let requests go on
    ResumeIo {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Start a volume whose replicas are known to be equal, without a first copy
    NewCurrentUuid {
        #[arg(value_parser = minors())]
        minor: u32,
        /// The replicas hold the same already
        #[arg(long)]
        clear_bitmap: bool,
        #[arg(long, hide = true)]
        force_resync: bool,
    },
    #[command(flatten)]
    Maintenance(Maintenance),
    #[command(flatten)]
    Step(Step),
    /// Wait until all peers are connected
    WaitConnectResource {
        resource: String,
        #[command(flatten)]
        times: WaitTimes,
    },
    /// Wait until a peer is connected
    WaitConnectConnection {
        #[command(flatten)]
        peer: Peer,
        #[command(flatten)]
        times: WaitTimes,
    },
    /// Wait until a volume of a peer is seen
    WaitConnectVolume {
        #[command(flatten)]
        volume: Volume,
        #[command(flatten)]
        times: WaitTimes,
    },
    /// Wait until nothing is being copied any more
    WaitSyncResource {
        resource: String,
        #[command(flatten)]
        times: WaitTimes,
    },
    /// Wait until nothing is being copied to or from a peer any more
    WaitSyncConnection {
        #[command(flatten)]
        peer: Peer,
        #[command(flatten)]
        times: WaitTimes,
    },
    /// Wait until a volume is not being copied to or from a peer any more
    WaitSyncVolume {
        #[command(flatten)]
        volume: Volume,
        #[command(flatten)]
        times: WaitTimes,
    },
}

/// What is rarely asked for, or done in another way here.
#[derive(Debug, Subcommand)]
pub(crate) enum Maintenance {
    /// Refused: the peer's data is given up by `invalidate` there
    InvalidateRemote {
        #[command(flatten)]
        of: Volume,
        #[arg(long, hide = true)]
        reset_bitmap: bool,
    },
    /// Say whether this node's data counts as outdated; others know it without being told
    Outdate {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Compare the replicas of a volume while they are in use
    Verify {
        #[command(flatten)]
        of: Volume,
        /// Begin here: sectors of 512 bytes, or a number with K, M or G
        #[arg(short = 's', long, value_name = "SECTORS", value_parser = parse_sectors)]
        start: Option<u64>,
        /// End here
        #[arg(short = 'S', long, value_name = "SECTORS", value_parser = parse_sectors)]
        stop: Option<u64>,
    },
    /// Show the generation of the data: BRANCH:BITMAP:JOINED:0:CONSISTENT:UP-TO-DATE:CLEAN
    GetGi(Volume),
    /// The same, in words
    ShowGi(Volume),
    /// Look whether the disk is as the resource knows it
    CheckResize {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Refused: a resync is bounded by `c-max-rate`, not paused
    PauseSync(Volume),
    /// Nothing to do: nothing pauses a resync
    ResumeSync(Volume),
    /// Print what udev makes the names of a volume of
    Udev {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Refused: volumes go with their resource
    DelMinor {
        #[arg(value_parser = minors())]
        minor: u32,
    },
    /// Part from a peer; it stays a member until the configuration drops it
    DelPeer {
        #[command(flatten)]
        peer: Peer,
        /// Do it also where it is refused for safety
        #[arg(long)]
        force: bool,
    },
    /// See that a former peer has no bitmap any more
    ForgetPeer(Peer),
    /// Forget a resource, with its volumes and peers
    DelResource { resource: String },
    /// Refused: the name stands in the metadata of every replica
    RenameResource { resource: String, name: String },
}

/// The steps of which drbdadm makes an `up`, as `drbdadm -d` prints them. What they name has to be
/// so already, by the configuration; with other options they are refused.
#[derive(Debug, Subcommand)]
pub(crate) enum Step {
    /// See that a resource is there; the configuration makes it
    NewResource {
        resource: String,
        #[arg(value_parser = node_ids())]
        node_id: u8,
        #[command(flatten)]
        options: Ignored,
    },
    /// See that a volume is there, which came with the resource
    NewMinor {
        resource: String,
        #[arg(value_parser = minors())]
        minor: u32,
        #[arg(value_parser = volumes())]
        volume: u16,
        #[command(flatten)]
        options: Ignored,
    },
    /// See that a peer is there, which came with the resource
    NewPeer {
        #[command(flatten)]
        peer: Peer,
        #[command(flatten)]
        options: Ignored,
    },
    /// See that a path to a peer is there, which came with the resource
    NewPath(PeerPath),
    /// Refused: a path goes when the configuration drops it
    DelPath(PeerPath),
    /// Take the backing disk of the configuration into use
    Attach {
        #[arg(value_parser = minors())]
        minor: u32,
        disk: String,
        meta_disk: String,
        meta_index: String,
        #[command(flatten)]
        options: Ignored,
    },
    /// Change options of a resource on this node, until the next adjust
    ResourceOptions {
        resource: String,
        #[command(flatten)]
        options: Ignored,
    },
    /// Refused: options come from the configuration
    DiskOptions {
        #[arg(value_parser = minors())]
        minor: u32,
        #[command(flatten)]
        options: Ignored,
    },
    /// Refused: options come from the configuration
    NetOptions {
        #[command(flatten)]
        peer: Peer,
        #[command(flatten)]
        options: Ignored,
    },
    /// Refused: options come from the configuration
    PeerDeviceOptions {
        #[command(flatten)]
        of: Volume,
        #[command(flatten)]
        options: Ignored,
    },
}

/// Options that drbdadm reads from the configuration, as the daemon does here.
#[derive(Debug, Args)]
pub(crate) struct Ignored {
    /// As drbdadm gives them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PeerPath {
    #[command(flatten)]
    pub(crate) peer: Peer,
    /// FAMILY:ADDRESS:PORT
    pub(crate) local: String,
    /// FAMILY:ADDRESS:PORT
    pub(crate) remote: String,
}

#[derive(Debug, Args)]
pub(crate) struct Peer {
    pub(crate) resource: String,
    /// Its node id
    #[arg(value_name = "PEER_NODE_ID", value_parser = node_ids())]
    pub(crate) id: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Volume {
    #[command(flatten)]
    pub(crate) peer: Peer,
    #[arg(value_parser = volumes())]
    pub(crate) volume: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Show also what was not set
    #[arg(short = 'D', long)]
    pub(crate) show_defaults: bool,
    /// `all` or a resource [default: all]
    pub(crate) resources: Vec<String>,
}

fn minors() -> impl Reads<u32> {
    number(0, MINOR_MAX, "a minor")
}

fn node_ids() -> impl Reads<u8> {
    number(0, NODE_ID_MAX, "a node id")
}

fn volumes() -> impl Reads<u16> {
    number(0, VOLUME_MAX, "a volume number")
}
