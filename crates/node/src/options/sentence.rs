//! What is said of the options of a daemon: by `--check-config`, and by a start that is refused.
//! docs/operate/messages has the rows in node-start.md, beside those of `NodeError`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use io::UNIX_PATH_BYTES_MAX;

/// A remark in words, with the command to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sentence {
    /// Of `name` and `shards`, in the words of `NodeError`.
    Refused(String),
    NoCertificate {
        folder: PathBuf,
        name: String,
    },
    CertificatesUnused {
        error: String,
        name: String,
    },
    HostsUnusable {
        path: PathBuf,
        error: String,
    },
    NotHereNow {
        ip: IpAddr,
        /// How long a start waits for it; `None`: not at all.
        seconds: Option<u64>,
    },
    ClearText {
        address: SocketAddr,
    },
    StateDirEmpty {
        path: PathBuf,
    },
    StateDirMissing {
        path: PathBuf,
    },
    StateDirUnusable {
        path: PathBuf,
        error: String,
    },
    FolderOfUnit {
        folder: PathBuf,
    },
    FolderGoesAtReboot {
        folder: PathBuf,
    },
    NoFolder {
        folder: PathBuf,
    },
    NoVhostFolder {
        folder: PathBuf,
    },
    Foreign {
        state_dir: PathBuf,
        name: String,
        /// Some of the resources, with their hosts, and how many more there are.
        told: String,
    },
    TcpTaken {
        address: SocketAddr,
    },
    UnixTaken {
        path: PathBuf,
    },
    MostLikelyOwn {
        value: String,
    },
    AskedTwice {
        shown: String,
        who: String,
        other: Option<String>,
        what: &'static str,
    },
    NoPort {
        address: SocketAddr,
    },
    LongPath {
        path: PathBuf,
        bytes: usize,
    },
    LongVhostPath {
        folder: PathBuf,
    },
    NoSocket {
        path: PathBuf,
    },
    NoGroup {
        group: String,
    },
    GroupsUnreadable {
        error: String,
    },
}

impl fmt::Display for Sentence {
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(told) => f.write_str(told),
            Self::NoCertificate { folder, name } => write!(
                f,
                "{} has no certificate of this node, and clients of nbd-tls are refused until it \
                 has one: `basalt pki issue {name}`",
                folder.display()
            ),
            Self::CertificatesUnused { error, name } => write!(
                f,
                "the certificates are not used as they are: {error}; in place of damaged ones \
                 `basalt pki issue {name}` makes new ones"
            ),
            Self::HostsUnusable { path, error } => {
                write!(f, "{} cannot be used: {error}", path.display())
            }
            Self::NotHereNow { ip, seconds } => {
                write!(f, "no interface of this machine has {ip} now (`ip address`); ")?;
                match seconds {
                    Some(seconds) => {
                        write!(f, "a start waits {seconds} s for it, and is given up then")
                    }
                    None => f.write_str("a start without it is given up at once"),
                }
            }
            Self::ClearText { address } => write!(
                f,
                "whoever reaches {address} is served in clear text, and has to prove nothing"
            ),
            Self::StateDirEmpty { path } => write!(
                f,
                "{} is empty: the node has no vote yet. That is right before its first start \
                 alone; later look for the directory that it had, a file system that is not \
                 mounted, say (`findmnt -T {0}`)",
                path.display()
            ),
            Self::StateDirMissing { path } => write!(
                f,
                "{} is not there: the start makes it, and the node has no vote yet. That is right \
                 before its first start alone; later look for the directory that it had, a file \
                 system that is not mounted, say (`findmnt`)",
                path.display()
            ),
            Self::StateDirUnusable { path, error } => write!(
                f,
                "{0} cannot be the state directory: {error}; `ls -ld {0}` shows what it is, and \
                 who may use it",
                path.display()
            ),
            Self::FolderOfUnit { folder } => {
                write!(f, "{} is not there yet; the unit makes it", folder.display())
            }
            Self::FolderGoesAtReboot { folder } => write!(
                f,
                "{0} is not there, and the unit makes /run/basalt alone: take a path in that, or \
                 `mkdir -p {0}` after each start of the machine",
                folder.display()
            ),
            Self::NoFolder { folder } => {
                write!(f, "there is no folder {0} for the socket: `mkdir -p {0}`", folder.display())
            }
            Self::NoVhostFolder { folder } => write!(
                f,
                "cannot make sockets in {0}: it is no directory; `mkdir -p {0}` makes one, where \
                 `ls -ld {0}` shows nothing",
                folder.display()
            ),
            Self::Foreign { state_dir, name, told } => write!(
                f,
                "no host of these resources of state directory {} is called {name}: {told}; they \
                 stay down here. Compare `name` (the host name, where none is given: `uname -n`) \
                 with the `on` lines, and see whether the directory is of this node: never start a \
                 daemon with that of another one",
                state_dir.display()
            ),
            Self::TcpTaken { address } => write!(
                f,
                "another daemon or service is listening there, at {address} (`ss -ltnp` tells \
                 which): end it, or take another port"
            ),
            Self::UnixTaken { path } => write!(
                f,
                "another process is listening there, at {} (`ss -lxp` tells which): end it, or \
                 take another path",
                path.display()
            ),
            Self::MostLikelyOwn { value } => write!(
                f,
                "{value} is in use, most likely by the daemon that runs; root can tell, by the \
                 same check"
            ),
            Self::AskedTwice { shown, who, other, what } => {
                let other = other.as_ref().map(|other| format!(" ({other})")).unwrap_or_default();
                write!(f, "{shown} is asked for by {who} already{other}: take another {what}")
            }
            Self::NoPort { address } => {
                write!(f, "{address} has port 0: write the port behind the colon")
            }
            Self::LongPath { path, bytes } => write!(
                f,
                "{} has {bytes} bytes, and the path of a unix socket has {UNIX_PATH_BYTES_MAX} at \
                 most: take a shorter one",
                path.display()
            ),
            Self::LongVhostPath { folder } => write!(
                f,
                "no socket of a volume can be in {}: with its name it may have \
                 {UNIX_PATH_BYTES_MAX} bytes, so take a shorter path",
                folder.display()
            ),
            Self::NoSocket { path } => write!(
                f,
                "{0} is there and no socket: remove it if nobody needs it (`file {0}` shows what \
                 it is), or take another path",
                path.display()
            ),
            Self::NoGroup { group } => write!(
                f,
                "there is no group {group:?} in /etc/group; of one that is elsewhere give the \
                 number: `getent group {group}`"
            ),
            Self::GroupsUnreadable { error } => write!(
                f,
                "cannot read /etc/group: {error}; with the number of the group in place of its \
                 name nothing is read"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;
    use crate::error::NodeError;
    use crate::remark::Remark;
    use crate::rows::{self, Row};

    fn address() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 10809))
    }

    fn socket() -> PathBuf {
        PathBuf::from("/srv/basalt/nbd.sock")
    }

    fn state_dir() -> PathBuf {
        PathBuf::from("/var/lib/basalt")
    }

    fn of_places() -> Vec<(&'static str, Sentence)> {
        let twice = |who: &str, other: Option<&str>| Sentence::AskedTwice {
            shown: address().to_string(),
            who: who.to_owned(),
            other: other.map(str::to_owned),
            what: "port",
        };
        vec![
            (
                "metrics, and no network has the address yet",
                Sentence::NotHereNow { ip: address().ip(), seconds: None },
            ),
            (
                "no network has the address yet",
                Sentence::NotHereNow { ip: address().ip(), seconds: Some(20) },
            ),
            ("NBD, NVMe/TCP without nvme-auth or metrics beyond this machine", {
                Sentence::ClearText { address: address() }
            }),
            ("another process has the port", Sentence::TcpTaken { address: address() }),
            ("another process has the socket", Sentence::UnixTaken { path: socket() }),
            (
                "a daemon runs, and a user who is not root checks",
                Sentence::MostLikelyOwn { value: address().to_string() },
            ),
            ("two options have one place", twice("nbd", None)),
            ("one of them stands for all addresses", twice("nbd", Some("0.0.0.0:10809"))),
            ("peers come in there", twice("the resource r0", None)),
            ("no port", Sentence::NoPort { address: SocketAddr::from(([10, 0, 0, 1], 0)) }),
            ("a long path", Sentence::LongPath { path: socket(), bytes: 120 }),
            ("a long path of a folder", Sentence::LongVhostPath { folder: state_dir() }),
            ("a file is where a socket is to be", Sentence::NoSocket { path: socket() }),
            (
                "the socket is to be in /run/basalt",
                Sentence::FolderOfUnit { folder: PathBuf::from("/run/basalt") },
            ),
            (
                "it is to be elsewhere in /run",
                Sentence::FolderGoesAtReboot { folder: PathBuf::from("/run/volumes") },
            ),
            ("its folder is missing", Sentence::NoFolder { folder: "/srv/basalt".into() }),
            (
                "the folder of vhost is missing",
                Sentence::NoVhostFolder { folder: "/srv/vhost".into() },
            ),
        ]
    }

    fn of_files() -> Vec<(&'static str, Sentence)> {
        let name = || "alice".to_owned();
        vec![
            (
                "a wrong name",
                Sentence::Refused(
                    NodeError::BadName("the name of a host is empty".to_owned()).to_string(),
                ),
            ),
            (
                "nbd-tls, and no certificate",
                Sentence::NoCertificate { folder: "/etc/basalt/pki".into(), name: name() },
            ),
            (
                "the key may be read by others",
                Sentence::CertificatesUnused {
                    error: "/etc/basalt/pki/node.key may be read by other users; use `chmod 600`"
                        .to_owned(),
                    name: name(),
                },
            ),
            (
                "so may the file of secrets",
                Sentence::HostsUnusable {
                    path: "/etc/basalt/nvme-hosts".into(),
                    error: "it may be read by other users; use `chmod 600`".to_owned(),
                },
            ),
            ("before the first start", Sentence::StateDirEmpty { path: state_dir() }),
            ("a file system is not mounted", Sentence::StateDirMissing { path: state_dir() }),
            (
                "it is a file",
                Sentence::StateDirUnusable {
                    path: state_dir(),
                    error: "Not a directory (os error 20)".to_owned(),
                },
            ),
            (
                "the state directory of another node, or another name",
                Sentence::Foreign {
                    state_dir: state_dir(),
                    name: "dave".to_owned(),
                    told: "r0 (on alice, bob)".to_owned(),
                },
            ),
            ("a group that is not there", Sentence::NoGroup { group: "storage".to_owned() }),
            (
                "no file of groups",
                Sentence::GroupsUnreadable { error: "Permission denied (os error 13)".to_owned() },
            ),
        ]
    }

    fn of_starts() -> Vec<(&'static str, NodeError)> {
        let of_kind = |what, kind: ErrorKind| NodeError::StateDir {
            what,
            path: state_dir(),
            source: Error::from(kind),
        };
        let refused = Error::from(ErrorKind::PermissionDenied);
        vec![
            ("no room", of_kind("count the start in", ErrorKind::StorageFull)),
            ("another user's", of_kind("make", ErrorKind::PermissionDenied)),
            ("mounted read-only", of_kind("make", ErrorKind::ReadOnlyFilesystem)),
            ("another error", of_kind("lock", ErrorKind::Other)),
            ("a daemon runs", NodeError::StateDirInUse {
                path: state_dir(),
                holder: "process 4711".to_owned(),
            }),
            ("an older release after a newer one", NodeError::NewerStateDir {
                path: state_dir(),
                found: 2,
                known: 1,
            }),
            ("`shards = 0`", NodeError::TooManyShards(0)),
            ("a name with a blank", NodeError::BadName(
                "the name of a host has ' ' in it: no blank and no control character may be"
                    .to_owned(),
            )),
            ("an old kernel", NodeError::Reactor(io::SetupError::TooOld {
                feature: "io_uring",
                since: "5.1",
                running: "4.19".to_owned(),
            })),
            ("no thread is left", NodeError::System {
                what: "start a thread",
                source: Error::from(ErrorKind::WouldBlock),
            }),
            ("an address of clients is not of this machine", NodeError::Listen(
                "cannot listen on 10.0.0.9:10809: Cannot assign requested address (os error 99) \
                 (`ip addr` shows the addresses of this machine: give it this one, or write \
                 another one)"
                    .to_owned(),
            )),
            ("the admin socket cannot be made", NodeError::AdminSocket {
                path: "/run/basalt/admin.sock".into(),
                reason: refused.to_string(),
            }),
            ("metrics cannot be served", NodeError::Metrics {
                address: address(),
                source: Error::from(ErrorKind::AddrNotAvailable),
            }),
            ("an option that a check tells of", NodeError::Refused(Remark::wrong(
                "nbd",
                None,
                &Sentence::TcpTaken { address: address() },
            ))),
            ("an unknown congestion control", NodeError::Congestion {
                name: "bbr3".to_owned(),
                source: Error::from(ErrorKind::NotFound),
            }),
            ("the file of secrets may be read by others", NodeError::NvmeHosts {
                path: "/etc/basalt/nvme-hosts".into(),
                reason: "it may be read by other users; use `chmod 600`".to_owned(),
            }),
            ("a data thread ends", NodeError::Shard("shard 0 did not start".to_owned())),
            ("a disk gives no answer at the end", NodeError::DisksHang {
                disks: "/dev/vg/r0".to_owned(),
            }),
        ]
    }

    #[test]
    fn rows_of_starts_are_those_of_the_page() {
        let sentences = [of_places(), of_files()].into_iter().flatten();
        let of_options = sentences.map(|(situation, it)| Row {
            variant: rows::variant_of(&it),
            situation: situation.to_owned(),
            sentence: it.to_string(),
        });
        let of_starts = of_starts().into_iter().map(|(situation, it)| Row {
            variant: rows::variant_of(&it),
            situation: situation.to_owned(),
            sentence: it.to_string(),
        });
        let title = "Why a daemon does not start, and notes of `--check-config`";
        rows::check(("node-start.md", title), of_options.chain(of_starts).collect());
    }
}
