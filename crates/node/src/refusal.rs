//! Why this node refuses a command, where no data thread does: its block devices, the growth of a
//! disk, the texts of resources, and the commands that are served. docs/operate/messages has the
//! rows in commands.md.

use std::fmt;
use std::io::Error;
use std::path::PathBuf;

use api::response::{Failure, FailureCode};

/// What is refused, and why. A device is the number behind `/dev/ublkb`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    // ---- Block devices.
    #[error("/dev/ublkb{device} was left by an earlier daemon: {reason}")]
    DeviceLeft { device: u32, resource: String, reason: String },
    #[error("{reason}")]
    DeviceNotRemoved { reason: String },
    #[error("/dev/ublkb{device} is not gone yet")]
    DeviceNotGone { device: u32 },
    #[error("the driver does not take /dev/ublkb{device} away")]
    DeviceStays { device: u32 },
    #[error("/dev/ublkb{device} is still being made, or taken over")]
    DeviceComing { device: u32 },
    #[error(
        "{why} (suspended:{word}): what the block device of {resource} holds cannot be written out"
    )]
    DeviceHeld { why: Held, word: String, resource: String },
    #[error("{} is mounted, or in use by another layer", path.display())]
    DeviceInUse { path: PathBuf },
    #[error("cannot tell whether {} is in use: {error}", path.display())]
    DeviceUnknown { path: PathBuf, error: Error },
    #[error("cannot write out what {} holds: {error}", path.display())]
    DeviceUnwritten { path: PathBuf, error: Error },
    #[error("what {} holds is not written out yet", path.display())]
    DeviceLate { path: PathBuf },

    // ---- Disks that grow.
    #[error("the resource is down")]
    GrowsDown { resource: String },
    #[error("there is no disk here")]
    GrowsWithoutDisk { resource: String },
    #[error(
        "{} has {size_bytes} bytes, and had {least_bytes} or more when it was taken into use",
        disk.display()
    )]
    Cut { disk: PathBuf, size_bytes: u64, least_bytes: u64, resource: String },
    #[error("cannot make {} {more_bytes} bytes longer: {error}", disk.display())]
    NotLonger { disk: PathBuf, more_bytes: u64, error: Error },
    #[error(
        "{} has grown by less than its metadata takes: {missing_bytes} bytes more are needed",
        disk.display()
    )]
    GrownTooLittle { disk: PathBuf, missing_bytes: u64 },
    #[error("the metadata on {} has no room for a larger volume: {reason}", disk.display())]
    NoRoomForMetadata { disk: PathBuf, reason: String },
    #[error("the bitmap would be divided anew, and it marks what members miss")]
    MembersMiss,
    #[error("a volume has at most {max_bytes} bytes")]
    VolumeTooLarge { max_bytes: u64 },
    #[error("resource {resource:?} has several volumes")]
    SeveralVolumes { resource: String },
    #[error("resource {resource:?} has no volume {volume}")]
    NoVolume { resource: String, volume: u16 },

    // ---- Texts and what they ask for.
    #[error("resource {resource:?} is up, or comes up with the daemon")]
    StillUp { resource: String },
    #[error("this node keeps the vote of a resource {resource:?}, which is down")]
    KeepsVote { resource: String },
    #[error(
        "an earlier change of {resource:?} waits, which this one would undo: {needed} is needed \
         still"
    )]
    ChangeWaits { resource: String, needed: String },
    #[error("resource {resource:?} has `tls yes`, and this node cannot: {reason}")]
    NoTls { resource: String, node: String, reason: String },
    #[error("peer {peer} is not connected: what it holds is unknown")]
    PeerApart { peer: String, resource: String, why: Apart },
    #[error("a replica is {state} already: its data would count as everyone's")]
    HasData { state: String },
    #[error("volume {volume} of {resource:?} is not taken out of it")]
    VolumeStays { volume: u16, resource: String },
    #[error("{reason}")]
    UnknownPeer { reason: String, resource: String },
    #[error("{reason}")]
    WrongText { reason: String, resource: String },
    #[error("the state directory: {error}")]
    StateDirectory { error: Error },
    #[error("resource {resource:?} is up with another configuration")]
    UpOtherwise { resource: String },
    #[error("a `down` of {resource:?} is under way")]
    DownUnderWay { resource: String },
    #[error("it was taken down meanwhile")]
    TakenDown,

    // ---- The commands that are served.
    #[error("a subscription is a connection of its own")]
    Subscription,
    #[error("{max} programs are watching already")]
    ManySubscribers { max: usize },
    #[error("{max} admin commands are served already")]
    ManyCommands { max: usize },
    #[error("{reason}")]
    GivesWay { reason: String },
    #[error("{max} promotions are waited for already")]
    ManyPromotions { max: usize },
    #[error("the tool speaks version {tool} of the admin protocol, this daemon version {daemon}")]
    OtherVersion { tool: u32, daemon: u32 },
    #[error("{reason}")]
    Malformed { reason: String },
    #[error("cannot start a thread: {error}")]
    NoThread { error: Error },
    #[error("it takes longer than {seconds} s, and goes on")]
    Unfinished { seconds: f32, resource: Option<String> },
    #[error("the data thread is overloaded")]
    Overloaded,
    #[error("the command did not end within {seconds} s")]
    NoAnswer { seconds: u64 },
    #[error("the daemon ends")]
    DaemonEnds,
    #[error("{reason}")]
    DiskSilent { reason: String },
    #[error(
        "the daemon aborted twice within {within_seconds} s while it worked on it, last {said}; \
         the note is {}",
        note.display()
    )]
    CrashLoop { within_seconds: u64, said: String, note: PathBuf, resource: String },
}

/// Why requests of a resource wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    NoQuorum,
    HeldBack,
}

/// Why a peer is not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    ByOperator,
    OutOfReach,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoQuorum => "no quorum",
            Self::HeldBack => "requests are held back",
        })
    }
}

impl Refusal {
    fn code(&self) -> FailureCode {
        match self {
            Self::DeviceHeld { why: Held::NoQuorum, .. } => FailureCode::NoQuorum,
            Self::DeviceInUse { .. } | Self::DeviceUnknown { .. } => FailureCode::DeviceInUse,
            Self::DeviceUnwritten { .. }
            | Self::Cut { .. }
            | Self::NotLonger { .. }
            | Self::GrownTooLittle { .. }
            | Self::NoRoomForMetadata { .. }
            | Self::DiskSilent { .. } => FailureCode::DiskFailed,
            Self::DeviceNotGone { .. } | Self::DeviceLate { .. } | Self::NoAnswer { .. } => {
                FailureCode::Timeout
            }
            Self::DeviceNotRemoved { .. }
            | Self::StateDirectory { .. }
            | Self::NoThread { .. }
            | Self::Overloaded => FailureCode::Internal,
            Self::DeviceLeft { .. }
            | Self::DeviceStays { .. }
            | Self::DeviceComing { .. }
            | Self::DeviceHeld { why: Held::HeldBack, .. }
            | Self::GrowsDown { .. }
            | Self::GrowsWithoutDisk { .. }
            | Self::MembersMiss
            | Self::ChangeWaits { .. }
            | Self::NoTls { .. }
            | Self::PeerApart { .. }
            | Self::HasData { .. }
            | Self::UpOtherwise { .. }
            | Self::DownUnderWay { .. }
            | Self::StillUp { .. }
            | Self::KeepsVote { .. }
            | Self::TakenDown
            | Self::ManySubscribers { .. }
            | Self::ManyCommands { .. }
            | Self::GivesWay { .. }
            | Self::ManyPromotions { .. }
            | Self::DaemonEnds
            | Self::CrashLoop { .. } => FailureCode::StateRefused,
            Self::VolumeTooLarge { .. }
            | Self::SeveralVolumes { .. }
            | Self::NoVolume { .. }
            | Self::Subscription
            | Self::Malformed { .. } => FailureCode::BadRequest,
            Self::VolumeStays { .. } => FailureCode::NotSupported,
            Self::UnknownPeer { .. } => FailureCode::UnknownPeer,
            Self::WrongText { .. } => FailureCode::InvalidConfig,
            Self::OtherVersion { .. } => FailureCode::VersionMismatch,
            Self::Unfinished { .. } => FailureCode::Unfinished,
        }
    }

    /// What to try.
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn hint(&self) -> String {
        match self {
            Self::DeviceLeft { .. }
            | Self::DeviceNotRemoved { .. }
            | Self::DeviceNotGone { .. }
            | Self::DeviceStays { .. }
            | Self::DeviceComing { .. }
            | Self::DeviceHeld { .. }
            | Self::DeviceInUse { .. }
            | Self::DeviceUnknown { .. }
            | Self::DeviceUnwritten { .. }
            | Self::DeviceLate { .. } => self.hint_of_device(),
            Self::GrowsDown { resource } => format!("`basalt adm up {resource}`"),
            Self::StillUp { resource } => format!(
                "`basalt adm down {resource}` first, if it is deleted on all nodes: its vote is \
                 lost with `forget`"
            ),
            Self::KeepsVote { resource } => format!(
                "another name; or, if that one is deleted on all nodes, `basalt adm forget \
                 {resource}` here"
            ),
            Self::GrowsWithoutDisk { resource } => {
                format!("`basalt adm status {resource}` shows which disk it has here")
            }
            Self::Cut { resource, .. } => format!(
                "what was behind its end is lost: give it its size again, and then, while another \
                 replica is UpToDate, and only then, `basalt adm create-md --force {resource}` and \
                 `attach {resource}` copy it anew"
            ),
            Self::NotLonger { disk, .. } => format!(
                "everything stays as it is; make room on its file system: `df -h {}`",
                disk.display()
            ),
            Self::GrownTooLittle { disk, .. } => format!(
                "enlarge it further, by that at least: a logical volume by `lvextend`, a file by \
                 `truncate -s +BYTES {}`",
                disk.display()
            ),
            Self::NoRoomForMetadata { .. } => {
                "exchange it for a larger `meta-disk`, while another \
                                               replica is UpToDate, and only then: `detach`, the \
                                               new one in the configuration, `create-md --force`, \
                                               `attach`; all is copied anew"
                    .to_owned()
            }
            Self::MembersMiss => "bring all members up to date first: `basalt adm status` shows \
                                  who is not"
                .to_owned(),
            Self::VolumeTooLarge { .. } => "ask for less with --size".to_owned(),
            Self::SeveralVolumes { resource } => {
                format!("`{resource}/0` and the like say which one is meant")
            }
            Self::NoVolume { resource, .. } | Self::UnknownPeer { resource, .. } => {
                format!("`basalt adm status {resource}` shows which there are")
            }
            Self::ChangeWaits { .. } => "`adjust` the other nodes too, and this one again once \
                                         that is stored; or go back to the former configuration \
                                         first"
                .to_owned(),
            Self::NoTls { node, .. } => format!(
                "`basalt pki init` and `basalt pki issue {node}` make what is needed; see \
                 docs/operate/install.md"
            ),
            Self::PeerApart { peer, resource, why: Apart::ByOperator } => {
                format!("basalt adm connect {resource}:{peer}")
            }
            Self::PeerApart { peer, resource, why: Apart::OutOfReach } => format!(
                "`basalt adm explain {resource}` says why {peer} is not connected: its daemon has \
                 to run, and the resource to be up there"
            ),
            Self::HasData { .. } => {
                "this is for new volumes only; a new replica is copied by itself".to_owned()
            }
            Self::VolumeStays { .. } => {
                "name the volume and its disk again; once nobody needs its \
                                         data, `blkdiscard` of its block device gives the space \
                                         back where the disk can"
                    .to_owned()
            }
            Self::WrongText { resource, .. } => format!("see `basalt adm dump {resource}`"),
            Self::StateDirectory { .. } => "`df -h` and `findmnt -T` of that directory show \
                                            whether it is full or read-only; it is \
                                            /var/lib/basalt, unless `state-dir` of node.conf names \
                                            another one"
                .to_owned(),
            Self::UpOtherwise { resource } => {
                format!("`basalt adm adjust {resource}` makes it follow the new one")
            }
            Self::DownUnderWay { .. } => {
                "try again when it is done; where it does not end, a data \
                                          thread is busy (`top -H` shows it as shard-N), or the \
                                          disk of the state directory gives no answer (`dmesg | \
                                          tail` may tell why)"
                    .to_owned()
            }
            Self::TakenDown => "if it is to be up, `basalt adm up` of it".to_owned(),
            Self::Subscription => "ask on a fresh connection".to_owned(),
            Self::ManySubscribers { .. } => {
                "end one of them: look for `events2` and `wait-` among \
                                             the processes; one that nobody reads counts, too"
                    .to_owned()
            }
            Self::ManyCommands { .. } => {
                "try again; `fuser -v` of the admin socket tells who gave them".to_owned()
            }
            Self::GivesWay { .. } => "ask as soon as you are connected; `fuser -v` of the admin \
                                      socket tells who else is"
                .to_owned(),
            Self::ManyPromotions { .. } => {
                "`basalt adm status` tells what the resources wait for".to_owned()
            }
            Self::OtherVersion { .. } => "use the tool of the daemon's release; or, after an \
                                          update, start the new daemon: docs/operate/upgrade.md"
                .to_owned(),
            Self::Malformed { .. } => {
                "a request is one JSON object in a line, as `basalt adm` sends it".to_owned()
            }
            Self::NoThread { .. } => "`systemctl show -p TasksCurrent -p TasksMax basalt-node` \
                                      shows whether a limit on threads is reached, `free -m` \
                                      whether memory is"
                .to_owned(),
            Self::Unfinished { resource, .. } => format!(
                "`basalt adm status{}` tells what has become of it, and the daemon's log what it \
                 warns of, and why it failed if it does; wait longer with --timeout",
                resource.as_ref().map_or_else(String::new, |name| format!(" {name}"))
            ),
            Self::Overloaded => "try again in a few seconds; `top -H` shows whether a thread \
                                 shard-N has no time"
                .to_owned(),
            Self::NoAnswer { .. } => "it may still go on; `basalt adm status` tells what the \
                                      resource waits for: a disk that gives no answer, perhaps \
                                      (`dmesg | tail`)"
                .to_owned(),
            Self::DaemonEnds => {
                "type it again once the next one runs: `systemctl start basalt-node`".to_owned()
            }
            Self::DiskSilent { .. } => {
                "`dmesg | tail` may say why; once it answers, `up` or `attach` takes it".to_owned()
            }
            Self::CrashLoop { resource, .. } => format!(
                "report it, with what `basalt report` collects; `basalt adm up {resource}` brings \
                 it up again"
            ),
        }
    }

    /// Of a block device; the last one is that of what is not written out in time.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`hint` calls it for block devices alone")]
    fn hint_of_device(&self) -> String {
        match self {
            Self::DeviceLeft { resource, .. } => format!(
                "`basalt adm primary {resource}` takes it over; --force ends it, with errors for \
                 its users"
            ),
            Self::DeviceNotRemoved { .. } | Self::DeviceNotGone { .. } => {
                "see the daemon's log (`journalctl -u basalt-node`), and try again".to_owned()
            }
            Self::DeviceStays { device } => format!(
                "see the daemon's log (`journalctl -u basalt-node`); `basalt device remove \
                 {device} --force` may, with errors for its users"
            ),
            Self::DeviceComing { .. } => "see the daemon's log (`journalctl -u basalt-node`); try \
                                          again, or cut its users off with --force, which gives \
                                          them errors"
                .to_owned(),
            Self::DeviceHeld { resource, .. } => format!(
                "`basalt adm status {resource}` tells what it waits for; --force gives up what is \
                 not written yet"
            ),
            Self::DeviceInUse { path } => format!(
                "unmount it first (`lsblk {0}` and `fuser -vm {0}` show what holds it); --force \
                 cuts it off, with errors for its users",
                path.display()
            ),
            Self::DeviceUnknown { path, .. } => format!(
                "`lsblk {}` shows what holds it; try again, or cut it off with --force, which \
                 gives its users errors",
                path.display()
            ),
            Self::DeviceUnwritten { .. } => "`dmesg | tail` may say why; try again; --force gives \
                                             up what is not written yet"
                .to_owned(),
            _ => "`basalt adm status` tells what the resource waits for; try \
                                        again, or --force, which gives up what is not written yet"
                .to_owned(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code(), refusal.to_string(), refusal.hint())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;
    use crate::rows::{self, Row};

    fn r0() -> String {
        "r0".to_owned()
    }

    fn of_devices() -> Vec<(&'static str, Refusal)> {
        let path = || PathBuf::from("/dev/ublkb0");
        let error = || Error::from_raw_os_error(5);
        let held =
            |why, word: &str| Refusal::DeviceHeld { why, word: word.to_owned(), resource: r0() };
        let reason = "nobody serves it, so what it holds cannot be written out".to_owned();
        vec![
            (
                "`secondary` or `down` after a daemon that died",
                Refusal::DeviceLeft { device: 0, resource: r0(), reason },
            ),
            (
                "`--force`, and the thread that takes it away cannot begin",
                Refusal::DeviceNotRemoved { reason: "a limit on threads".to_owned() },
            ),
            ("its end takes longer", Refusal::DeviceNotGone { device: 0 }),
            ("the driver failed", Refusal::DeviceStays { device: 0 }),
            ("`secondary` right after `primary`", Refusal::DeviceComing { device: 0 }),
            ("without a quorum", held(Held::NoQuorum, "quorum")),
            ("`suspend-io`", held(Held::HeldBack, "user")),
            ("a mount", Refusal::DeviceInUse { path: path() }),
            ("the kernel does not say", Refusal::DeviceUnknown { path: path(), error: error() }),
            ("a write fails", Refusal::DeviceUnwritten { path: path(), error: error() }),
            ("a write takes long", Refusal::DeviceLate { path: path() }),
        ]
    }

    fn of_growth() -> Vec<(&'static str, Refusal)> {
        let disk = || PathBuf::from("/srv/r0");
        let full = Error::from(ErrorKind::StorageFull);
        vec![
            ("the resource went down", Refusal::GrowsDown { resource: r0() }),
            ("the disk was taken away", Refusal::GrowsWithoutDisk { resource: r0() }),
            (
                "the disk was cut while it was in use",
                Refusal::Cut {
                    disk: disk(),
                    size_bytes: 33_554_432,
                    least_bytes: 67_108_864,
                    resource: r0(),
                },
            ),
            (
                "no room for a longer file",
                Refusal::NotLonger { disk: disk(), more_bytes: 1 << 20, error: full },
            ),
            (
                "the device grew by a little",
                Refusal::GrownTooLittle { disk: disk(), missing_bytes: 8192 },
            ),
            (
                "a small `meta-disk`",
                Refusal::NoRoomForMetadata {
                    disk: "/dev/vg/meta".into(),
                    reason: "1048576 bytes are too small, 2097152 are needed".to_owned(),
                },
            ),
            ("members are away", Refusal::MembersMiss),
            ("a very large size", Refusal::VolumeTooLarge { max_bytes: 1 << 54 }),
            ("no number of a volume", Refusal::SeveralVolumes { resource: r0() }),
            ("a wrong number", Refusal::NoVolume { resource: r0(), volume: 7 }),
        ]
    }

    fn of_texts() -> Vec<(&'static str, Refusal)> {
        let apart = |why| Refusal::PeerApart { peer: "bob".to_owned(), resource: r0(), why };
        vec![
            (
                "`adjust` took a member out, and waits for its vote to go",
                Refusal::ChangeWaits { resource: r0(), needed: "carol".to_owned() },
            ),
            (
                "`tls yes`, and no certificate",
                Refusal::NoTls {
                    resource: r0(),
                    node: "alice".to_owned(),
                    reason: "it has no certificate in /etc/basalt/pki".to_owned(),
                },
            ),
            ("`new-current-uuid --clear-bitmap`, after `disconnect`", apart(Apart::ByOperator)),
            ("the same, and a node is off", apart(Apart::OutOfReach)),
            ("the same, and a replica has data", Refusal::HasData { state: "UpToDate".to_owned() }),
            ("`adjust` without a volume", Refusal::VolumeStays { volume: 1, resource: r0() }),
            (
                "`adjust r0:dave`",
                Refusal::UnknownPeer {
                    reason: "r0 has no peer \"dave\"".to_owned(),
                    resource: r0(),
                },
            ),
            (
                "a text of another resource",
                Refusal::WrongText {
                    reason: "it says nothing of this resource".to_owned(),
                    resource: r0(),
                },
            ),
            (
                "no room for the text",
                Refusal::StateDirectory { error: Error::from(ErrorKind::StorageFull) },
            ),
            ("`up` of what is up", Refusal::UpOtherwise { resource: r0() }),
            ("two commands at once", Refusal::DownUnderWay { resource: r0() }),
            ("`down` while it came up", Refusal::TakenDown),
            ("`forget` of a resource that is up", Refusal::StillUp { resource: r0() }),
            (
                "a new volume of a cluster with the name of a resource that is down",
                Refusal::KeepsVote { resource: r0() },
            ),
        ]
    }

    fn of_commands() -> Vec<(&'static str, Refusal)> {
        let resource = Some(r0());
        let stands = "the disk gave no answer for 20 s".to_owned();
        vec![
            ("two requests over one connection", Refusal::Subscription),
            ("many `events2`", Refusal::ManySubscribers { max: 32 }),
            ("many commands", Refusal::ManyCommands { max: 64 }),
            (
                "who says nothing gives way",
                Refusal::GivesWay { reason: "no request came in time".to_owned() },
            ),
            ("many `primary`", Refusal::ManyPromotions { max: 1024 }),
            ("an update without a restart", Refusal::OtherVersion { tool: 2, daemon: 1 }),
            (
                "a program of one's own",
                Refusal::Malformed { reason: "the message is cut".to_owned() },
            ),
            (
                "a limit of the system",
                Refusal::NoThread { error: Error::from(ErrorKind::WouldBlock) },
            ),
            ("a long command", Refusal::Unfinished { seconds: 27.0, resource }),
            (
                "a long command of no resource",
                Refusal::Unfinished { seconds: 27.0, resource: None },
            ),
            ("a data thread has no time", Refusal::Overloaded),
            ("a data thread waits for a disk", Refusal::NoAnswer { seconds: 30 }),
            ("the daemon is stopped", Refusal::DaemonEnds),
            ("`up`, and the disk hangs", Refusal::DiskSilent { reason: stands }),
            (
                "the daemon aborts again and again",
                Refusal::CrashLoop {
                    within_seconds: 60,
                    said: "at unix time 1764540000: panicked".to_owned(),
                    note: "/var/lib/basalt/resources/r0.held".into(),
                    resource: r0(),
                },
            ),
        ]
    }

    #[test]
    fn rows_of_commands_are_those_of_the_page() {
        let all = [of_devices(), of_growth(), of_texts(), of_commands()];
        let rows = all.into_iter().flatten().map(|(situation, refusal)| Row {
            variant: rows::variant_of(&refusal),
            situation: situation.to_owned(),
            sentence: format!("{refusal}; try: {}", refusal.hint()),
        });
        rows::check(("commands.md", "Why a node refuses a command"), rows.collect());
    }

    /// Some hints were empty, or asked the operator; and `create-md` of a `meta-disk` was proposed
    /// without a word of what is lost where no other replica has it.
    #[test]
    fn no_hint_is_empty_and_none_gives_up_data_without_saying_so() {
        let all = [of_devices(), of_growth(), of_texts(), of_commands()];
        for (situation, refusal) in all.into_iter().flatten() {
            let hint = refusal.hint();
            assert!(hint.len() > 10 && !hint.ends_with('?'), "{situation}: {hint}");
            if hint.contains("create-md --force") {
                assert!(hint.contains("and only then"), "{situation}: {hint}");
            }
            if hint.contains("--force") {
                let price = ["errors", "gives up", "gives it up", "and only then"];
                assert!(price.iter().any(|it| hint.contains(it)), "{situation}: {hint}");
            }
        }
    }
}
