//! The words for the service manager that started the daemon: `sd_notify(3)` of systemd.
//!
//! The manager names a datagram socket in the environment: a path, or a name of the kernel's that
//! begins with `@` there. Each message is one datagram of lines. Children get none of it: the
//! manager would take their words for the daemon's.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;
use std::time::Duration;

use crate::limits::SERVICE_SEND_DEADLINE;

const SOCKET: &str = "NOTIFY_SOCKET";
const WATCHDOG: &str = "WATCHDOG_USEC";
const WATCHDOG_PROCESS: &str = "WATCHDOG_PID";

#[derive(Debug)]
pub(crate) struct Notifier {
    socket: UnixDatagram,
    /// Asked for at each message: the manager may have made its socket anew.
    manager: SocketAddr,
}

/// A daemon says these to the service manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Ready,
    Stopping,
    Alive,
    /// One line for who asks for the status of the service.
    Status(String),
    /// The start or the end may take so long from now on.
    Extend(Duration),
}

impl Notifier {
    /// Where the environment names a manager.
    pub(crate) fn from_environment() -> io::Result<Option<Self>> {
        let name = std::env::var_os(SOCKET).filter(|name| !name.is_empty());
        name.map(|name| Self::to(&name)).transpose()
    }

    fn to(name: &OsStr) -> io::Result<Self> {
        let manager = match name.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            _ => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(SERVICE_SEND_DEADLINE))?;
        Ok(Self { socket, manager })
    }

    pub(crate) fn tell(&self, words: &[Word]) -> io::Result<()> {
        let message: String = words.iter().map(Word::line).collect();
        self.socket.send_to_addr(message.as_bytes(), &self.manager).map(drop)
    }
}

impl Word {
    fn line(&self) -> String {
        match self {
            Self::Ready => "READY=1\n".to_owned(),
            Self::Stopping => "STOPPING=1\n".to_owned(),
            Self::Alive => "WATCHDOG=1\n".to_owned(),
            Self::Status(text) => format!("STATUS={}\n", text.replace(char::is_control, " ")),
            Self::Extend(time) => format!("EXTEND_TIMEOUT_USEC={}\n", time.as_micros()),
        }
    }
}

/// How long the manager takes a silent daemon for one that runs; `None` if for ever.
pub(crate) fn watchdog() -> Option<Duration> {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let is_other = number(WATCHDOG_PROCESS).is_some_and(|it| it != u64::from(std::process::id()));
    number(WATCHDOG).filter(|usec| !is_other && *usec > 0).map(Duration::from_micros)
}

/// To be started without a manager.
pub(crate) fn leave_alone(command: &mut Command) -> &mut Command {
    [SOCKET, WATCHDOG, WATCHDOG_PROCESS].iter().fold(command, |it, name| it.env_remove(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_one_datagram_at_a_path_and_at_a_name_of_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("basalt-test-{}", std::process::id());
        let named = SocketAddr::from_abstract_name(&name).unwrap();
        let at_path = UnixDatagram::bind(&path).unwrap();
        let at_name = UnixDatagram::bind_addr(&named).unwrap();
        let given = [(path.into_os_string(), at_path), (format!("@{name}").into(), at_name)];
        for (given, manager) in given {
            let notifier = Notifier::to(&given).unwrap();
            let status = Word::Status("two\nlines".to_owned());
            notifier.tell(&[Word::Ready, Word::Alive, status]).unwrap();
            notifier.tell(&[Word::Stopping, Word::Extend(Duration::from_secs(60))]).unwrap();
            let mut bytes = [0; 256];
            let mut next = || {
                let length = manager.recv(&mut bytes).unwrap();
                String::from_utf8(bytes[..length].to_vec()).unwrap()
            };
            assert_eq!(next(), "READY=1\nWATCHDOG=1\nSTATUS=two lines\n");
            assert_eq!(next(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=60000000\n");
        }
    }

    #[test]
    fn child_is_started_without_the_variables() {
        let mut command = Command::new("true");
        let removed: Vec<_> = leave_alone(&mut command).get_envs().collect();
        let names = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];
        assert_eq!(removed, names.map(|name| (OsStr::new(name), None)));
    }
}
