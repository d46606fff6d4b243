//! Socket addresses as the kernel lays them out.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of `sun_path`.
const SUN_PATH_BYTES: usize = 108;
/// Bytes of the longest path that a unix socket can have.
pub const UNIX_PATH_BYTES_MAX: usize = 107;

/// An address in the kernel's layout, ready to be pointed at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Address {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
    Unix(libc::sockaddr_un, libc::socklen_t),
}

impl Address {
    /// Where the address lies, valid as long as `self` does not move.
    pub(crate) fn as_raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        match self {
            Self::V4(address) => ((&raw const *address).cast(), length_of::<libc::sockaddr_in>()),
            Self::V6(address) => ((&raw const *address).cast(), length_of::<libc::sockaddr_in6>()),
            Self::Unix(address, length) => ((&raw const *address).cast(), *length),
        }
    }

    /// The address of a socket in the file system: a path of at most `UNIX_PATH_BYTES_MAX` bytes.
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        let name = OsStr::as_bytes(path.as_os_str());
        let mut address =
            libc::sockaddr_un { sun_family: family(libc::AF_UNIX), sun_path: [0; SUN_PATH_BYTES] };
        // One byte stays zero: the end of the name.
        const { assert!(UNIX_PATH_BYTES_MAX + 1 == SUN_PATH_BYTES) }
        if name.is_empty() || name.len() > UNIX_PATH_BYTES_MAX || name.contains(&0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "{} cannot name a unix socket: 1 to {UNIX_PATH_BYTES_MAX} bytes fit",
                    path.display()
                ),
            ));
        }
        for (target, byte) in address.sun_path.iter_mut().zip(name) {
            *target = byte.cast_signed();
        }
        Ok(Self::Unix(address, length_of::<libc::sockaddr_un>()))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(address) => Self::V4(libc::sockaddr_in {
                sin_family: family(libc::AF_INET),
                sin_port: address.port().to_be(),
                sin_addr: libc::in_addr { s_addr: address.ip().to_bits().to_be() },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(address) => Self::V6(libc::sockaddr_in6 {
                sin6_family: family(libc::AF_INET6),
                sin6_port: address.port().to_be(),
                sin6_flowinfo: address.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                sin6_scope_id: address.scope_id(),
            }),
        }
    }
}

fn family(number: libc::c_int) -> libc::sa_family_t {
    libc::sa_family_t::try_from(number).expect("families are small numbers")
}

fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("addresses are short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_path_has_its_limit() {
        Address::unix(Path::new("/run/basalt/nbd.sock")).unwrap();
        Address::unix(Path::new(&"x".repeat(107))).unwrap();
        Address::unix(Path::new(&"x".repeat(108))).unwrap_err();
        Address::unix(Path::new("")).unwrap_err();
    }
}
