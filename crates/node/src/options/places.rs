//! Where a daemon is to listen: places that two of its listeners ask for, that no socket can have,
//! and that somebody else has.
//!
//! A flaw is told from the options and from the stored resources alone, and no start is tried with
//! one. Whether somebody else has a place is tried. The daemon of the same state directory may run
//! meanwhile: its places are those that it will have again.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use engine::definition::Definition;
use engine::shard::addresses::own_addresses;
use io::{UNIX_PATH_BYTES_MAX, is_listened_on};

use crate::options::Options;
use crate::options::sentence::Sentence;
use crate::remark::Remark;
use crate::state_dir::{ADMIN_SOCKET, daemon_of, texts_in};

/// The shortest name that the socket of a volume has in the folder of `vhost`.
const SHORTEST_VHOST_NAME: &str = "r-0.sock";
/// State of a socket that listens, in /proc/net/tcp.
const LISTENS: &str = "0A";
/// Flags of a socket that listens, in /proc/net/unix.
const ACCEPTS: &str = "00010000";

/// A place at which a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A listener that an option asks for.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    pub(super) option: &'static str,
    pub(super) place: Place,
}

/// The remark that somebody else has a place, in a check and at the end of a start alike.
pub(crate) fn taken(option: &'static str, place: &Place) -> Remark {
    let said = match place {
        Place::Tcp(address) => Sentence::TcpTaken { address: *address },
        Place::Unix(path) => Sentence::UnixTaken { path: path.clone() },
    };
    Remark::wrong(option, Some(place.value()), &said)
}

impl Place {
    /// As an option has it.
    fn value(&self) -> String {
        match self {
            Self::Tcp(address) => address.to_string(),
            Self::Unix(path) => path.display().to_string(),
        }
    }

    /// Whether a process listens there now.
    pub(crate) fn is_taken(&self) -> bool {
        match self {
            Self::Tcp(address) => {
                let tried = TcpListener::bind(address);
                tried.is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
            }
            // A path that is not there is free, and so is one that nobody may look at: the start
            // tells why it cannot be used.
            Self::Unix(path) => is_listened_on(path).unwrap_or(false),
        }
    }

    /// Whether no two sockets can listen at both.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tcp(one), Self::Tcp(two)) => {
                let covers = |any: IpAddr, ip: IpAddr| {
                    any.is_unspecified() && (any.is_ipv6() || ip.is_ipv4())
                };
                let (left, right) = (one.ip(), two.ip());
                let is_shared = left == right || covers(left, right) || covers(right, left);
                one.port() == two.port() && is_shared
            }
            (Self::Unix(one), Self::Unix(two)) => whole(one) == whole(two),
            (Self::Tcp(_), Self::Unix(_)) | (Self::Unix(_), Self::Tcp(_)) => false,
        }
    }

    /// The sockets that listen there, by their inodes.
    fn sockets(&self) -> Vec<u64> {
        match self {
            Self::Tcp(address) => {
                let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
                let tables = tables.into_iter().flatten();
                tables.flat_map(|table| listening(&table, address.port())).collect()
            }
            Self::Unix(path) => {
                let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
                named(&table, &path.display().to_string())
            }
        }
    }
}

/// The path of a socket without links and detours in its folder.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).join(name)
        }
        _ => path,
    }
}

/// Inodes of TCP sockets that listen at a port, of a table as the kernel prints it.
fn listening(table: &str, port: u16) -> Vec<u64> {
    let port = format!(":{port:04X}");
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1)?.ends_with(&port) && *fields.get(3)? == LISTENS;
        fields.get(9).filter(|_| is_it)?.parse().ok()
    };
    table.lines().filter_map(inode).collect()
}

/// Inodes of unix sockets that listen at a path, of a table as the kernel prints it. Connections to
/// them have the same path, and are there before somebody accepts them.
fn named(table: &str, path: &str) -> Vec<u64> {
    let inode = |line: &str| {
        let before = line.strip_suffix(path)?.strip_suffix(' ')?;
        let fields: Vec<&str> = before.split_whitespace().collect();
        let is_whole = fields.len() == 7;
        fields.get(6).filter(|_| is_whole && fields[3] == ACCEPTS)?.parse().ok()
    };
    table.lines().filter_map(inode).collect()
}

/// The sockets that a process has, by their inodes; nothing where this user may not see them.
fn sockets_of(process: u32) -> Option<BTreeSet<u64>> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let inode = |target: PathBuf| {
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    Some(targets.filter_map(inode).collect())
}

impl Options {
    pub(super) fn listeners(&self) -> Vec<Listener> {
        let tcp = [("nbd", &self.nbd), ("nbd-tls", &self.nbd_tls), ("nvme", &self.nvme)];
        let tcp = tcp.iter().flat_map(|(option, them)| them.iter().map(|it| (*option, *it)));
        let tcp = tcp.chain(self.metrics.iter().map(|it| ("metrics", *it)));
        let tcp = tcp.map(|(option, address)| (option, Place::Tcp(address)));
        let unix = self.nbd_unix.iter().map(|path| ("nbd-unix", Place::Unix(path.clone())));
        let admin = ("admin-socket", Place::Unix(self.admin_socket_path()));
        let all = tcp.chain([admin]).chain(unix);
        all.map(|(option, place)| Listener { option, place }).collect()
    }

    pub(crate) fn admin_socket_path(&self) -> PathBuf {
        self.admin_socket.clone().unwrap_or_else(|| self.state_dir.join(ADMIN_SOCKET))
    }

    /// What keeps listeners from their places, whatever the machine does.
    pub(super) fn flaws_of_places(&self) -> Vec<Remark> {
        let resources = self.places_of_resources();
        let mut flaws = Vec::new();
        let listeners = self.listeners();
        for (at, listener) in listeners.iter().enumerate() {
            let first = listeners[..at].iter().find(|first| first.place.meets(&listener.place));
            let first = first.map(|first| (first.option.to_owned(), &first.place));
            let first = first.or_else(|| {
                let meeting = resources.iter().find(|(_, it)| it.meets(&listener.place));
                meeting.map(|(name, place)| (format!("the resource {name}"), place))
            });
            if let Some(said) = listener.flaw(first) {
                flaws.push(Remark::wrong(listener.option, Some(listener.place.value()), &said));
            }
        }
        if let Some(folder) = &self.vhost {
            let shortest = folder.join(SHORTEST_VHOST_NAME);
            if is_too_long(&shortest) {
                let said = Sentence::LongVhostPath { folder: folder.clone() };
                flaws.push(Remark::wrong("vhost", None, &said));
            }
        }
        flaws
    }

    /// The addresses at which stored resources listen for their peers.
    fn places_of_resources(&self) -> Vec<(String, Place)> {
        let texts = texts_in(&self.state_dir).into_iter();
        let definitions =
            texts.filter_map(|(name, text)| Definition::from_text(&self.name, &name, &text).ok());
        let places = definitions.flat_map(|definition| {
            let addresses = own_addresses(&definition).into_iter();
            addresses.map(move |it| (definition.name.clone(), Place::Tcp(it)))
        });
        places.collect()
    }

    /// What somebody else has now, of the places that have no flaw.
    pub(super) fn taken_places(&self, flaws: &[Remark]) -> Vec<Remark> {
        let daemon = daemon_of(&self.state_dir).map(sockets_of);
        let is_flawed = |it: &&Listener| {
            let value = Some(it.place.value());
            flaws.iter().any(|flaw| flaw.option == it.option && flaw.value == value)
        };
        let listeners = self.listeners();
        let tried = listeners.iter().filter(|it| !is_flawed(it));
        tried.filter_map(|listener| listener.taken(daemon.as_ref())).collect()
    }
}

fn is_too_long(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() > UNIX_PATH_BYTES_MAX
}

impl Listener {
    /// What is wrong with its place; `first` has the same one already.
    fn flaw(&self, first: Option<(String, &Place)>) -> Option<Sentence> {
        let (what, shown) = match &self.place {
            Place::Tcp(address) if address.port() == 0 => {
                return Some(Sentence::NoPort { address: *address });
            }
            Place::Tcp(address) => ("port", address.to_string()),
            Place::Unix(path) if is_too_long(path) => {
                let bytes = path.as_os_str().as_bytes().len();
                return Some(Sentence::LongPath { path: path.clone(), bytes });
            }
            Place::Unix(path) => ("path", path.display().to_string()),
        };
        let (who, place) = first?;
        let other = (*place != self.place).then(|| place.value());
        Some(Sentence::AskedTwice { shown, who, other, what })
    }

    /// Whether somebody else has its place; `daemon` are the sockets of the daemon that runs with
    /// the same state directory.
    fn taken(&self, daemon: Option<&Option<BTreeSet<u64>>>) -> Option<Remark> {
        if let Place::Unix(path) = &self.place
            && fs::symlink_metadata(path).is_ok_and(|it| !it.file_type().is_socket())
        {
            let said = Sentence::NoSocket { path: path.clone() };
            return Some(Remark::wrong(self.option, Some(self.place.value()), &said));
        }
        if !self.place.is_taken() {
            return None;
        }
        let sockets = self.place.sockets();
        match daemon {
            Some(Some(own)) if !sockets.is_empty() && sockets.iter().all(|it| own.contains(it)) => {
                None
            }
            Some(None) => {
                let value = self.place.value();
                let said = Sentence::MostLikelyOwn { value: value.clone() };
                Some(Remark::note(self.option, Some(value), &said))
            }
            Some(Some(_)) | None => Some(taken(self.option, &self.place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(text: &str) -> Place {
        Place::Tcp(text.parse().unwrap())
    }

    #[test]
    fn addresses_meet_where_one_is_any_of_the_machine() {
        for (one, two, is_shared) in [
            ("127.0.0.1:1", "127.0.0.1:1", true),
            ("127.0.0.1:1", "127.0.0.1:2", false),
            ("127.0.0.1:1", "127.0.0.2:1", false),
            ("0.0.0.0:1", "127.0.0.2:1", true),
            ("127.0.0.2:1", "0.0.0.0:1", true),
            ("[::]:1", "127.0.0.2:1", true),
            ("[::]:1", "[::1]:1", true),
            ("0.0.0.0:1", "[::1]:1", false),
        ] {
            assert_eq!(tcp(one).meets(&tcp(two)), is_shared, "{one} and {two}");
        }
    }

    /// Each address can be listened at beside the other exactly if the check says so.
    #[test]
    fn addresses_meet_where_the_kernel_refuses_the_second() {
        for (one, two) in [("127.0.0.1", "0.0.0.0"), ("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1")]
        {
            let one: IpAddr = one.parse().unwrap();
            let Ok(first) = TcpListener::bind((one, 0)) else { continue };
            let first = first.local_addr().unwrap();
            let kept = TcpListener::bind((one, first.port()));
            let Ok(_kept) = kept else { continue };
            let second = SocketAddr::new(two.parse().unwrap(), first.port());
            assert!(Place::Tcp(first).meets(&Place::Tcp(second)));
            assert!(Place::Tcp(second).is_taken(), "{second} beside {first}");
        }
    }

    #[test]
    fn one_path_has_many_spellings() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let socket = |folder: &Path| Place::Unix(folder.join("a.sock"));
        assert!(socket(&real).meets(&socket(&link)));
        assert!(socket(&real).meets(&socket(&real.join("../real"))));
        assert!(!socket(&real).meets(&socket(folder.path())));
        assert!(!socket(&real).meets(&tcp("127.0.0.1:1")));
    }

    #[test]
    fn tables_of_the_kernel_name_sockets_by_port_and_path() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
                     uid  timeout inode\n   0: 0100007F:2A39 00000000:0000 0A 00000000:00000000 \
                     00:00000000 00000000     0        0 4711 1 0000 100 0 0 10 0\n   1: \
                     0100007F:2A39 0100007F:8000 01 00000000:00000000 00:00000000 00000000     0 \
                     0 4712 1 0000 100 0 0 10 0\n";
        assert_eq!(listening(table, 10809), [4711]);
        assert_eq!(listening(table, 10810), [0_u64; 0]);
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n0000: 00000002 \
                     00000000 00010000 0001 01  815 /run/a b.sock\n0000: 00000002 00000000 \
                     00010000 0001 01  816 /run/b.sock\n0000: 00000003 \
                     00000000 00000000 0001 02     0 /run/b.sock\n";
        assert_eq!(named(table, "/run/a b.sock"), [815]);
        assert_eq!(named(table, "/run/b.sock"), [816]);
        assert_eq!(named(table, "b.sock"), [0_u64; 0]);
    }
}
