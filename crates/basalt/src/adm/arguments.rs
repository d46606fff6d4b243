//! The command line as typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use config::number::{Reads, number};

use crate::adm::building::BuildVerb;
use crate::adm::general::{Forcible, General, SECONDS_MAX, STATE_DIR, Targets};
use crate::adm::helpers::HandlerVerb;
use crate::adm::metadata::{CreateMd, DrbdLog};
use crate::adm::report::Report;
use crate::adm::superblocks::SuperblockVerb;
use crate::adm::upkeep::UpkeepVerb;
use crate::values::yes_or_no;

#[derive(Debug, Parser)]
#[command(
    name = "basalt adm",
    about = "Administers replicated volumes: drbdadm's verbs, asked of the node daemon",
    version,
    after_help = "Targets: `all`, RES, RES/VOL, RES:PEER, RES:PEER/VOL, minor-N.\n\
        Options may stand before the verb, and be cut short; flags take `=yes` and `=no`.\n\
        Exit codes: 0 done, 1 usage, 2 syntax of the configuration, 5 waited in vain, or the \
        command takes\nlonger than --timeout and goes on in the daemon, 10 refused configuration \
        or unknown object,\n11 refused change of state, 16 no local disk, 17 no up-to-date data, \
        20 everything else; of a\nhandler that is called by hand, that of its script."
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) general: General,
    /// Refused: there are no stacked resources
    #[arg(short = 'S', long, hide = true)]
    pub(crate) stacked: bool,
    /// Also read this file, and say what is wrong with it
    #[arg(short = 't', long, value_name = "FILE")]
    pub(crate) config_to_test: Option<PathBuf>,
    /// Accepted for compatibility: the file to test is read by itself
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) config_to_exclude: Option<PathBuf>,
    /// Accepted for compatibility: no other program is called
    #[arg(short = 's', long, value_name = "PROGRAM", hide = true)]
    pub(crate) drbdsetup: Option<PathBuf>,
    /// Accepted for compatibility: no other program is called
    #[arg(short = 'm', long, value_name = "PROGRAM", hide = true)]
    pub(crate) drbdmeta: Option<PathBuf>,
    /// Accepted for compatibility: there is no proxy
    #[arg(short = 'p', long, value_name = "PROGRAM", hide = true)]
    pub(crate) drbd_proxy_ctl: Option<PathBuf>,
    /// Accepted for compatibility: no verb names a variable
    #[arg(short = 'n', long, value_name = "NAME", hide = true)]
    pub(crate) sh_varname: Option<String>,
    /// An option of the verb, as behind `--`
    #[arg(short = 'W', long, value_name = "OPTION", allow_hyphen_values = true, hide = true)]
    pub(crate) setup_option: Vec<String>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl CommandLine {
    /// Of a verb alone.
    pub(crate) fn of(general: General, verb: Verb) -> Self {
        Self {
            general,
            stacked: false,
            config_to_test: None,
            config_to_exclude: None,
            drbdsetup: None,
            drbdmeta: None,
            drbd_proxy_ctl: None,
            sh_varname: None,
            setup_option: Vec::new(),
            verb,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Write fresh metadata on the backing disks of this node
    CreateMd(CreateMd),
    /// Take the replicas of this node over from DRBD 9 or 8.4, where they lie, or give them back
    AdoptDrbd(AdoptDrbd),
    /// Take a resource into use again whose nodes lost their state directories, by its disks
    Adopt(Adopt),
    /// Configure, attach and connect
    Up(Up),
    /// Disconnect, detach and forget
    Down(Forcible),
    /// Make the running state follow the configuration file
    #[command(visible_alias = "adjust-with-progress")]
    Adjust(Adjust),
    /// Take the backing disk into use
    Attach(Targets),
    /// Go on without the backing disk
    Detach(Detach),
    /// Connect to the peers, or to the one of RES:PEER
    Connect(Connect),
    /// Part from the peers, or from the one of RES:PEER
    Disconnect(Forcible),
    /// Take the right to write
    // Scripts for DRBD 8 have the former name of the flag.
    #[command(mut_arg("force", |force| force.alias("overwrite-data-of-peer")))]
    Primary(Forcible),
    /// Start a volume whose replicas are known to be equal, without a first copy
    NewCurrentUuid(NewCurrentUuid),
    /// Give the right to write away
    Secondary(Forcible),
    /// Show roles, disks, connections and what is wrong with them
    Status(Status),
    /// Say in words why it is as it is, what it waits for, and what to do
    Explain(Targets),
    /// Gather what somebody who is to help needs, without secrets: of this node in a new folder, or
    /// of all nodes in an archive
    Report(Report),
    /// Tell the state, and then every change of it, a line each
    #[command(name = "events2")]
    Events2(Events2),
    /// Show the role of this node, one line per resource
    #[command(alias = "state")]
    Role(Targets),
    /// Show the state of the connections, one line each
    Cstate(Targets),
    /// Show the state of the disks, local/peers, one line per volume
    Dstate(Targets),
    /// Wait until all peers, or the one of RES:PEER, are connected
    WaitConnect(Wait),
    /// Wait until all peers of all resources are connected
    WaitConInt(WaitAll),
    /// Wait until nothing is being copied any more
    WaitSync(Wait),
    /// Print the configuration as it was understood
    Dump(Dump),
    #[command(flatten)]
    Query(QueryVerb),
    #[command(flatten)]
    Build(BuildVerb),
    #[command(flatten)]
    Upkeep(UpkeepVerb),
    #[command(flatten)]
    Superblock(SuperblockVerb),
    #[command(flatten)]
    Handler(HandlerVerb),
    /// Give up the local data and copy it all again from a peer
    Invalidate(Invalidate),
    /// Compare the replicas while they are in use
    Verify(Verify),
    /// Finish the requests that are under way, and hold the next ones back
    SuspendIo(SuspendIo),
    /// Let requests go on
    ResumeIo(Targets),
    /// After acknowledged writes may have been lost: let NBD clients in again
    Reopen(Targets),
    /// Remove what this node keeps of a resource that is down and deleted everywhere: its vote
    /// above all. A new resource of that name needs it on each node that had the old one
    Forget(Targets),
    /// Make the volume larger while it is in use, up to what all its disks have room for
    Resize(Resize),
}

#[derive(Debug, Args)]
pub(crate) struct Resize {
    /// The new size: sectors of 512 bytes, or a number with K, M or G; else as large as all disks
    /// of up-to-date replicas allow
    #[arg(short = 's', long, value_name = "SECTORS", value_parser = parse_sectors)]
    pub(crate) size: Option<u64>,
    /// Leave what is new as it is: you say that all replicas hold the same there
    #[arg(long)]
    pub(crate) assume_clean: bool,
    /// Changes nothing: a disk without room is always refused
    #[arg(long)]
    pub(crate) assume_peer_has_space: bool,
    #[command(flatten)]
    pub(crate) log: DrbdLog,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Begin here: sectors of 512 bytes, or a number with K, M or G
    #[arg(short = 's', long, value_name = "SECTORS", value_parser = parse_sectors)]
    pub(crate) start: Option<u64>,
    /// End here
    #[arg(short = 'S', long, value_name = "SECTORS", value_parser = parse_sectors)]
    pub(crate) stop: Option<u64>,
    /// Make equal what differs: as most replicas have it, or without a majority as the node has it
    /// that leads, which is the Primary, or this node where there is none
    #[arg(long)]
    pub(crate) repair: bool,
    /// `all`, RES or RES/VOL; also RES:PEER and RES:PEER/VOL, for the same
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// After a split brain: give up what this node wrote since then, and take the peer's
    #[arg(long)]
    pub(crate) discard_my_data: bool,
    /// Refused: a connection for a try would not last
    #[arg(long, hide = true)]
    pub(crate) tentative: bool,
    /// `all`, RES, RES/VOL or RES:PEER
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Detach {
    /// Do not wait for requests that the disk still owes
    #[arg(long)]
    pub(crate) force: bool,
    /// Refused: a node is a client for good where the configuration says `disk none`
    #[arg(long, hide = true)]
    pub(crate) diskless: bool,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Invalidate {
    /// Refused if `no`: who is in sync is not taken back without a copy; `verify --repair` copies
    /// only what differs
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_value_t = true,
        default_missing_value = "true", action = clap::ArgAction::Set,
        value_parser = yes_or_no)]
    pub(crate) reset_bitmap: bool,
    /// Changes nothing: the node that leads copies
    #[arg(long, hide = true, value_name = "NODE_ID",
        value_parser = number::<u8>(0, 31, "a node id"))]
    pub(crate) sync_from_peer_node_id: Option<u8>,
    /// `all`, RES, RES/VOL, RES:PEER or RES:PEER/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SuspendIo {
    /// Changes nothing: file systems are not frozen
    #[arg(long, hide = true)]
    pub(crate) bdev_freeze: bool,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NewCurrentUuid {
    /// The replicas hold the same already, as fresh zeros do: nothing is to be copied
    #[arg(long)]
    pub(crate) clear_bitmap: bool,
    /// Refused: `primary --force` has the others copied at the start, `invalidate` one later
    #[arg(long, hide = true)]
    pub(crate) force_resync: bool,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AdoptDrbd {
    /// Put DRBD's metadata back, as it was; only until the resource is used
    #[arg(long, conflicts_with_all = ["same_as", "max_peers"])]
    pub(crate) rollback: bool,
    /// Refuse unless the data is known to be that of this generation of DRBD; of several volumes
    /// one for each, by their numbers, with commas
    #[arg(long, value_name = "GENERATION", value_parser = parse_generation, value_delimiter = ',')]
    pub(crate) same_as: Vec<u64>,
    /// Where DRBD keeps its metadata: `internal`, PATH or `PATH[N]` [default: where it is found];
    /// of several volumes `VOL=WHERE`, once for each
    #[arg(long, value_name = "WHERE")]
    pub(crate) drbd_meta_disk: Vec<String>,
    /// Leave room for so many peers [default: as many as are configured, and some more]
    #[arg(long, value_name = "N", value_parser = number::<u8>(1, 31, "peers"))]
    pub(crate) max_peers: Option<u8>,
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// State directory of the daemon: DRBD's metadata is kept there
    #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
    pub(crate) state_dir: PathBuf,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Adopt {
    /// Only show what this node has, and keep that in FILE for the other nodes
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) save: Option<PathBuf>,
    /// The file of a node, this one's among them; once for each
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Vec<PathBuf>,
    /// Nodes whose disks are gone, or whose data is not to count
    #[arg(long, value_name = "NODES", value_delimiter = ',', requires = "from")]
    pub(crate) without: Vec<String>,
    /// Go on where acknowledged writes may be lost
    #[arg(long, requires = "from")]
    pub(crate) in_doubt: bool,
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// State directory of the daemon
    #[arg(long, value_name = "DIR", default_value = STATE_DIR)]
    pub(crate) state_dir: PathBuf,
    /// The resource; it has to be down on this node
    #[arg(value_name = "RES")]
    pub(crate) resource: String,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Name of this node in the configuration [default: the daemon's; --dry-run: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// `all` or RES
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Adjust {
    /// Leave a disk that is out of use so
    #[arg(long)]
    pub(crate) skip_disk: bool,
    /// Leave peers that are disconnected so
    #[arg(long)]
    pub(crate) skip_net: bool,
    /// Refused: only `connect` gives up data
    #[arg(long, hide = true)]
    pub(crate) discard_my_data: bool,
    /// `all`, RES or RES:PEER; also RES/VOL, for all volumes
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

const COLOR_TIMES: [&str; 3] = ["always", "auto", "never"];

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Show counters
    #[arg(short, long)]
    pub(crate) statistics: bool,
    /// Accepted for compatibility: there are no colours
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        value_parser = COLOR_TIMES)]
    pub(crate) color: Option<Option<String>>,
    /// `all` or RES [default: all]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are drbdsetup's flags")]
pub(crate) struct Events2 {
    /// Tell the state, and end
    #[arg(long)]
    pub(crate) now: bool,
    /// Begin each line with the time
    #[arg(long)]
    pub(crate) timestamps: bool,
    /// Tell counters too
    #[arg(short, long)]
    pub(crate) statistics: bool,
    /// Tell changes as `old->new`
    #[arg(long)]
    pub(crate) diff: bool,
    /// Tell of a changed object also what did not change
    #[arg(long)]
    pub(crate) full: bool,
    /// Tell changed counters for each `n` on standard input, and end with it
    #[arg(long)]
    pub(crate) poll: bool,
    /// Accepted for compatibility: there are no colours
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        value_parser = COLOR_TIMES)]
    pub(crate) color: Option<Option<String>>,
    /// Accepted for compatibility: the daemon bounds what waits for a reader
    #[arg(long, value_name = "BYTES", value_parser = number::<u64>(0, u64::MAX, "bytes"))]
    pub(crate) rcvbuf: Option<u64>,
    /// `all` or RES [default: all]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Dump {
    /// Fail where an option is set in two places of which drbdadm would not know which one counts
    #[arg(long)]
    pub(crate) strict: bool,
    /// `all` or RES [default: all]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

/// How long to wait; without these as the `startup` section says. 0 is without end.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WaitTimes {
    /// Where all replicas were in sync
    #[arg(long, value_name = "SECONDS", value_parser = wait_seconds())]
    pub(crate) wfc_timeout: Option<u64>,
    /// Where some replica was not in sync [default: as --wfc-timeout]
    #[arg(long, value_name = "SECONDS", value_parser = wait_seconds())]
    pub(crate) degr_wfc_timeout: Option<u64>,
    /// Where the replica of this node is outdated [default: as --wfc-timeout]
    #[arg(long, value_name = "SECONDS", value_parser = wait_seconds())]
    pub(crate) outdated_wfc_timeout: Option<u64>,
    /// Wait also for connections that are StandAlone
    #[arg(long)]
    pub(crate) wait_after_sb: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    #[command(flatten)]
    pub(crate) times: WaitTimes,
    /// `all`, RES or RES:PEER
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WaitAll {
    #[command(flatten)]
    pub(crate) times: WaitTimes,
    /// Changes nothing: it is about all of them
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

/// What is asked of the configuration file alone.
#[derive(Debug, Subcommand)]
pub(crate) enum QueryVerb {
    /// Print the configuration as XML
    DumpXml(Dump),
    /// Read the configuration and do nothing
    ShNop,
    /// Print the parameters that a kernel module would get
    ShModParms,
    /// Print the names of the resources of this node
    ShResources(Named),
    /// Print the names of the resources that `adjust` takes
    ShListAdjustable(Named),
    /// Print the path of the configuration file
    ShListConfigFile,
    /// Print the name of the resource
    ShResource(QueryTargets),
    /// Print the device names
    ShDev(QueryTargets),
    /// Print the minors
    ShMinor(QueryTargets),
    /// Print the backing disks
    ShLlDev(QueryTargets),
    /// Print where the metadata is
    ShMdDev(QueryTargets),
    /// Print the kind of the metadata: `internal`, `flexible` or an index
    ShMdIdx(QueryTargets),
    /// Print the own address of each path
    ShIp(QueryTargets),
    /// Print the names for udev
    ShUdev(QueryTargets),
    /// `basalt setup udev` prints the names for udev in the form of `drbdsetup`.
    #[command(skip)]
    Udev(QueryTargets),
    /// Refused: there are no stacked resources
    #[command(hide = true)]
    ShLrOf(QueryTargets),
    /// Print what takes effect here, a line for each option
    #[command(hide = true)]
    ShEffective(QueryTargets),
    /// Print the names of the peers, for completions of shells
    #[command(hide = true)]
    ShPeers(QueryTargets),
}

impl QueryVerb {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::DumpXml(_) => "dump-xml",
            Self::ShNop => "sh-nop",
            Self::ShModParms => "sh-mod-parms",
            Self::ShResources(_) => "sh-resources",
            Self::ShListAdjustable(_) => "sh-list-adjustable",
            Self::ShListConfigFile => "sh-list-config-file",
            Self::ShResource(_) => "sh-resource",
            Self::ShDev(_) => "sh-dev",
            Self::ShMinor(_) => "sh-minor",
            Self::ShLlDev(_) => "sh-ll-dev",
            Self::ShMdDev(_) => "sh-md-dev",
            Self::ShMdIdx(_) => "sh-md-idx",
            Self::ShIp(_) => "sh-ip",
            Self::ShPeers(_) => "sh-peers",
            Self::ShUdev(_) => "sh-udev",
            Self::Udev(_) => "udev",
            Self::ShEffective(_) => "sh-effective",
            Self::ShLrOf(_) => "sh-lr-of",
        }
    }

    pub(crate) fn targets(&self) -> Option<&QueryTargets> {
        match self {
            Self::DumpXml(_)
            | Self::ShNop
            | Self::ShModParms
            | Self::ShResources(_)
            | Self::ShListAdjustable(_)
            | Self::ShListConfigFile => None,
            Self::ShResource(targets)
            | Self::ShDev(targets)
            | Self::ShMinor(targets)
            | Self::ShLlDev(targets)
            | Self::ShMdDev(targets)
            | Self::ShMdIdx(targets)
            | Self::ShIp(targets)
            | Self::ShPeers(targets)
            | Self::ShUdev(targets)
            | Self::Udev(targets)
            | Self::ShEffective(targets)
            | Self::ShLrOf(targets) => Some(targets),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct QueryTargets {
    /// Name of this node in the configuration [default: the host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// `all`, RES or RES/VOL
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

/// Bytes of a number of sectors, or of K, M or G bytes.
pub(crate) fn parse_sectors(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "s" => 512,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => 0,
    };
    let is_whole = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let count = digits.parse::<u64>().ok().filter(|_| is_whole && unit > 0);
    count.and_then(|count| count.checked_mul(unit)).ok_or_else(|| {
        format!(
            "it takes a number from 0 to {}: sectors of 512 bytes, or with K, M or G behind it as \
             many bytes",
            u64::MAX / 512
        )
    })
}

/// Of `--wfc-timeout` and the like.
fn wait_seconds() -> impl Reads<u64> {
    number(0, SECONDS_MAX.as_secs(), "seconds, where 0 is without end")
}

/// As drbdmeta and `adopt-drbd` print it.
fn parse_generation(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let generation = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex);
    generation.ok_or_else(|| "it takes 1 to 16 hexadecimal digits: a generation".to_owned())
}
