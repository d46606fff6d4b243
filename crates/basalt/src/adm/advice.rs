//! Advice where a command fails by itself, and no daemon says what helps.
//!
//! A path that an operator named may be wrong: what is said of a daemon that ended would be false
//! then. docs/operate/messages has the rows in errors.md.

use std::fmt;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use api::client::SOCKET_PATH_DEFAULT;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// The program, as it was called.
    Help(&'static str),
    AsItsUser,
    /// Nothing is at the path of the socket, which was named.
    NothingThere,
    /// Something is, and no socket.
    NoSocket,
    /// No daemon listens, as far as this machine shows.
    NoDaemon,
    /// No daemon listens, and a daemon that ended left block devices.
    NoDaemonForDevices,
    MayTakeEffect,
    WaitLonger,
    DaemonEnded,
    CompareVersions,
    LookAtDisk,
    AnotherFile,
    NameNode,
    Repeat,
    LookAtMemory,
}

impl Advice {
    /// Nobody answers at this socket. `links` is where block devices that a daemon left have names.
    pub(crate) fn unreached(socket: &Path, links: &Path) -> Self {
        match fs::metadata(socket) {
            Ok(found) if !found.file_type().is_socket() => Self::NoSocket,
            Err(_) if socket != Path::new(SOCKET_PATH_DEFAULT) => Self::NothingThere,
            Ok(_) | Err(_) if links.is_dir() => Self::NoDaemonForDevices,
            Ok(_) | Err(_) => Self::NoDaemon,
        }
    }
}

/// An operator finds the socket of a daemon so.
const HOW_TO_FIND: &str = "a daemon listens at its --admin-socket, else at admin.sock in its \
                           --state-dir: `ps -C basalt -o args` shows both; that of the service \
                           `basalt-node` is /run/basalt/admin.sock";

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Help(program) => return write!(f, "{program} --help"),
            Self::AsItsUser => "run it as the user of the daemon, or as root",
            Self::NothingThere => {
                return write!(
                    f,
                    "nothing is at that path, which --node-socket or BASALT_ADMIN_SOCKET names: \
                     {HOW_TO_FIND}"
                );
            }
            Self::NoSocket => {
                return write!(
                    f,
                    "no socket is at that path, which --node-socket or BASALT_ADMIN_SOCKET names: \
                     {HOW_TO_FIND}"
                );
            }
            Self::NoDaemon => {
                "start the daemon (`systemctl start basalt-node`), or name the socket of one that \
                 was started by hand with --node-socket: its --admin-socket, else admin.sock in \
                 its --state-dir"
            }
            Self::NoDaemonForDevices => {
                "start the daemon (`systemctl start basalt-node`): it takes over the block devices \
                 that the last one left; without a daemon they go by themselves when its \
                 --device-timeout is over, or now with `basalt device remove N` for /dev/ublkbN: \
                 unmount first, for their users get errors, and lose what was not flushed"
            }
            Self::MayTakeEffect => {
                "the command may still take effect: look with `basalt adm status`, wait longer \
                 with --timeout"
            }
            Self::WaitLonger => {
                "wait longer with --timeout; a daemon that hangs is ended and started again by \
                 `systemctl restart basalt-node`: its log says what it did last"
            }
            Self::DaemonEnded => {
                "the daemon ended meanwhile: `systemctl status basalt-node` and its log say why; \
                 the command can be repeated"
            }
            Self::CompareVersions => {
                "compare `basalt --version` with the daemon's; look at the daemon's log"
            }
            Self::LookAtDisk => {
                "does the disk answer? `dmesg | tail`; the command can be repeated, and has longer \
                 for a disk that is large or slow with --timeout SECONDS"
            }
            Self::AnotherFile => {
                "name a copy of the file that is elsewhere with -c; `basalt setup status`, `basalt \
                 setup down RES` and the like ask the daemon alone; `findmnt -T FILE` tells which \
                 file system it is"
            }
            Self::NameNode => "name the node with --node",
            Self::Repeat => "was memory short? `dmesg | tail`; the command can be repeated",
            Self::LookAtMemory => "is memory short, or a limit on processes reached?",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::adm::explain::rows::{self, Row};

    #[test]
    fn rows_of_advice_are_those_of_the_page() {
        let situations = [
            ("words that are not understood", Advice::Help("basalt adm")),
            ("the socket may not be opened", Advice::AsItsUser),
            ("a path was named, and nothing is there", Advice::NothingThere),
            ("a path was named, and a file or a folder is there", Advice::NoSocket),
            ("the socket of a daemon that ended, or nothing at the usual path", Advice::NoDaemon),
            ("the same, and block devices are left", Advice::NoDaemonForDevices),
            ("no answer in time to a command that changes something", Advice::MayTakeEffect),
            ("no answer in time to a question, or no connection", Advice::WaitLonger),
            ("the connection ended before the answer", Advice::DaemonEnded),
            ("an answer that is not understood", Advice::CompareVersions),
            ("a disk did not answer in time", Advice::LookAtDisk),
            ("the configuration was not read in time", Advice::AnotherFile),
            ("the name of this host is not known", Advice::NameNode),
            ("the process that worked on a disk was ended", Advice::Repeat),
            ("no process could be started", Advice::LookAtMemory),
        ];
        let rows = situations.into_iter().map(|(situation, found)| {
            let variant = rows::variant_of(&found);
            Row { variant, situation: situation.to_owned(), sentence: found.to_string() }
        });
        let title = "What helps where a command fails by itself";
        rows::check(("errors.md", title), rows.collect());
    }

    /// An operator who named a wrong path was told that the daemon had ended, though it ran.
    #[test]
    fn wrong_path_is_told_from_a_daemon_that_ended() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("file"), "").unwrap();
        drop(UnixListener::bind(path("ended.sock")).unwrap());
        let links = path("links");
        for ended in [Advice::NoDaemon, Advice::NoDaemonForDevices] {
            if ended == Advice::NoDaemonForDevices {
                fs::create_dir(&links).unwrap();
            }
            for (socket, expected) in [
                (path("none.sock"), Advice::NothingThere),
                (path("none/admin.sock"), Advice::NothingThere),
                (path("file"), Advice::NoSocket),
                (directory.path().to_owned(), Advice::NoSocket),
                (path("ended.sock"), ended),
            ] {
                let found = Advice::unreached(&socket, &links);
                assert_eq!(found, expected, "{}", socket.display());
                let is_wrong = matches!(found, Advice::NothingThere | Advice::NoSocket);
                assert_eq!(found.to_string().contains("systemctl start"), !is_wrong, "{found}");
            }
        }
        // Nobody named it.
        if !Path::new(SOCKET_PATH_DEFAULT).exists() {
            let found = Advice::unreached(Path::new(SOCKET_PATH_DEFAULT), &path("no-links"));
            assert_eq!(found, Advice::NoDaemon);
        }
    }
}
