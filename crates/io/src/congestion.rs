//! Which congestion control TCP connections get.
//!
//! Nodes that wait for each other lie near each other. An algorithm that paces (BBR) spreads what
//! is sent over time, with a timer for each connection; over a short way that costs more than
//! everything it can win (docs/decisions/0039). The kernel's own is kept wherever it does not pace.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

/// Bytes of a name with the zero at its end (`TCP_CA_NAME_MAX` of `linux/tcp.h`).
const NAME_ROOM: usize = 16;

/// In place of one that paces, the best first; the last is part of every kernel.
const UNPACED: [&str; 2] = ["cubic", "reno"];

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CongestionWish {
    /// The system's, or one that does not pace in place of one that does.
    Unpaced,
    /// The system's, whatever it is.
    System,
    Named(String),
}

/// An algorithm that this process may use, by the name that the kernel has for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Congestion {
    name: [u8; NAME_ROOM],
    length: usize,
}

/// What connections get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionChoice {
    /// `None`: what the kernel gives a connection.
    pub chosen: Option<Congestion>,
    /// What the system has set.
    pub system: Congestion,
}

/// As the words of a command line: `auto`, `system`, or a name.
impl From<&str> for CongestionWish {
    fn from(word: &str) -> Self {
        match word {
            "auto" => Self::Unpaced,
            "system" => Self::System,
            name => Self::Named(name.to_owned()),
        }
    }
}

impl CongestionWish {
    /// Asks the kernel for what is wished for.
    ///
    /// # Errors
    /// If the kernel does not have what is named (`ENOENT`), if this process may not use it
    /// (`EPERM`), or if no socket can be made.
    pub fn choose(&self) -> io::Result<CongestionChoice> {
        let flags = SocketFlags::CLOEXEC;
        let probe = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        let system = Congestion::of(&probe)?;
        let may = |name: &Congestion| name.set(&probe);
        let chosen = match self {
            Self::System => None,
            Self::Unpaced if !system.paces() => None,
            Self::Unpaced => {
                let known = UNPACED.iter().filter_map(|name| Congestion::new(name.as_bytes()));
                known.into_iter().find(|name| may(name).is_ok())
            }
            Self::Named(name) => {
                let name = Congestion::new(name.as_bytes())
                    .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
                may(&name)?;
                Some(name)
            }
        };
        Ok(CongestionChoice { chosen, system })
    }
}

impl Congestion {
    /// `None` if no algorithm can have that name.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        let mut name = [0; NAME_ROOM];
        if bytes.is_empty() || bytes.len() >= NAME_ROOM || !bytes.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        name[..bytes.len()].copy_from_slice(bytes);
        Some(Self { name, length: bytes.len() })
    }

    /// That of a TCP socket.
    ///
    /// # Errors
    /// If the kernel does not tell, as of a socket that is none of TCP.
    pub fn of(socket: &OwnedFd) -> io::Result<Self> {
        let name = sockopt::tcp_congestion(socket)?;
        Self::new(name.as_bytes()).ok_or_else(|| io::Error::from_raw_os_error(libc::EPROTO))
    }

    /// Gives it to a TCP socket.
    pub(crate) fn set(self, socket: &OwnedFd) -> io::Result<()> {
        Ok(sockopt::set_tcp_congestion(socket, self.as_str())?)
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.name[..self.length]).expect("visible ASCII, as `new` saw")
    }

    /// BBR in all its versions. Others send as soon as the window lets them.
    fn paces(&self) -> bool {
        self.as_str().starts_with("bbr")
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Congestion({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_kernel_can_have() {
        for good in ["reno", "cubic", "bbr", "a_name_of_15_by"] {
            let name = Congestion::new(good.as_bytes()).expect("a name");
            assert_eq!(name.to_string(), good);
        }
        for bad in ["", "a name", "a_name_of_16_byt"] {
            assert_eq!(Congestion::new(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn only_bbr_paces() {
        let paces = |name: &str| Congestion::new(name.as_bytes()).expect("a name").paces();
        assert!(paces("bbr") && paces("bbr3"));
        assert!(!paces("cubic") && !paces("reno") && !paces("dctcp"));
    }

    #[test]
    fn only_what_paces_is_replaced() {
        let choice = CongestionWish::Unpaced.choose().expect("reno is in every kernel");
        assert_eq!(choice.chosen.is_some(), choice.system.paces(), "{choice:?}");
        assert!(choice.chosen.is_none_or(|chosen| !chosen.paces()), "{choice:?}");
    }

    #[test]
    fn what_the_kernel_does_not_have_is_refused() {
        let choose = |name: &str| CongestionWish::Named(name.to_owned()).choose();
        let refused = choose("no_such_one").expect_err("no kernel has it");
        assert!(matches!(refused.raw_os_error(), Some(libc::ENOENT | libc::EPERM)), "{refused}");
        let choice = choose("reno").expect("every kernel has it");
        assert_eq!(choice.chosen, Congestion::new(b"reno"));
        let kept = CongestionWish::System.choose().expect("nothing is asked for");
        assert_eq!((kept.chosen, kept.system), (None, choice.system));
    }
}
