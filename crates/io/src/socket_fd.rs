//! Making and setting up sockets: the calls that are too rare for the ring.
//!
//! Every socket is in blocking mode, for the ring waits by itself and takes `O_NONBLOCK` as a wish
//! to be told `EAGAIN`. TCP sockets send at once (`TCP_NODELAY`; a turn is the batch), probe an
//! idle peer, and give one up that acknowledges nothing for the user timeout. A listener has these
//! options set, and what it accepts inherits them.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::address::{Address, AddressRoom};
use crate::congestion::{self, Congestion};

/// Bytes that the kernel keeps of a stream, where that is not left to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketBuffers {
    pub send_bytes: Option<u32>,
    pub receive_bytes: Option<u32>,
}

/// What all TCP sockets of a reactor have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpOptions {
    /// 0: as the system says.
    pub(crate) user_timeout_ms: u32,
    pub(crate) congestion: Option<Congestion>,
}

/// For the user and the group of this process.
pub(crate) const UNIX_LISTENER_MODE: u32 = 0o660;
const BACKLOG: libc::c_int = 1024;
/// Seconds of silence after which an idle peer is probed, and between probes.
const KEEPALIVE_IDLE: libc::c_int = 10;
const KEEPALIVE_INTERVAL: libc::c_int = 5;

/// A TCP listener on `address`.
pub(crate) fn listen_tcp(address: SocketAddr, options: TcpOptions) -> io::Result<OwnedFd> {
    let address = Address::from(address);
    let socket = stream_socket(&address)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    set_tcp_options(&socket, options)?;
    bind(&socket, &address)?;
    start_listening(&socket)?;
    Ok(socket)
}

/// A unix listener at `path`, for those whom `mode` allows to write to its file. A file left by a
/// process that is gone is replaced; one that somebody listens on is not.
///
/// # Errors
/// What the system says, or that somebody listens there, or that the file is no socket.
pub fn listen_unix(path: &Path, mode: u32) -> io::Result<OwnedFd> {
    let address = Address::unix(path)?;
    let socket = stream_socket(&address)?;
    if let Err(error) = bind(&socket, &address) {
        if error.raw_os_error() != Some(libc::EADDRINUSE) {
            return Err(error);
        }
        remove_if_stale(path)?;
        bind(&socket, &address)?;
    }
    // Until it listens it turns everybody away: what the umask makes of the mode harms nobody.
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    start_listening(&socket)?;
    Ok(socket)
}

/// Which file a path names, so that another one put in its place is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

fn remove_if_stale(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a file of that name that is no socket; remove it or choose another path",
        ));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process listens there; stop it or choose another path",
        )),
        Err(error) => Err(error),
    }
}

/// An unconnected TCP socket for a connection to `remote`, bound to the address `local`.
pub(crate) fn tcp_client(
    local: Option<SocketAddr>,
    remote: SocketAddr,
    options: TcpOptions,
) -> io::Result<OwnedFd> {
    let socket = stream_socket(&Address::from(remote))?;
    set_tcp_options(&socket, options)?;
    if let Some(local) = local {
        // Leaves the choice of a port to connect, which knows the remote address: many connections
        // to different peers may then share one.
        set_option(&socket, libc::SOL_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
        bind(&socket, &Address::from(local))?;
    }
    Ok(socket)
}

/// An unconnected unix socket.
pub(crate) fn unix_client() -> io::Result<OwnedFd> {
    socket(libc::AF_UNIX)
}

/// Checks and prepares a connected stream socket that comes from elsewhere.
pub(crate) fn prepare_adopted(socket: &OwnedFd) -> io::Result<()> {
    let mut off: libc::c_int = 0;
    // SAFETY: the descriptor is open, and FIONBIO reads one int.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONBIO, &raw mut off) };
    check(result)?;
    peer_addr(socket.as_raw_fd()).map(drop)
}

/// Ends both directions: whatever waits on the socket completes.
pub(crate) fn shut_down(socket: &OwnedFd) {
    // SAFETY: the descriptor is open.
    let result = unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
    // A socket that was not connected has nothing to end.
    drop(check(result));
}

/// The address a socket is bound to, if it has an IP address.
pub(crate) fn local_addr(fd: libc::c_int) -> io::Result<Option<SocketAddr>> {
    let mut room = AddressRoom::new();
    let (address, mut length) = room.as_raw_mut();
    // SAFETY: the room is valid for `length` bytes, and `length` is a place of our own.
    let result = unsafe { libc::getsockname(fd, address, &raw mut length) };
    check(result)?;
    Ok(room.ip())
}

/// The address a socket is connected to, if it has an IP address.
pub(crate) fn peer_addr(fd: libc::c_int) -> io::Result<Option<SocketAddr>> {
    let mut room = AddressRoom::new();
    let (address, mut length) = room.as_raw_mut();
    // SAFETY: the room is valid for `length` bytes, and `length` is a place of our own.
    let result = unsafe { libc::getpeername(fd, address, &raw mut length) };
    check(result)?;
    Ok(room.ip())
}

/// Has the kernel keep as many bytes for what is on its way out, and in; what root may ask for is
/// not bounded by `net.core.wmem_max` and `rmem_max`.
pub(crate) fn set_buffers(fd: libc::c_int, buffers: SocketBuffers) -> io::Result<()> {
    let SocketBuffers { send_bytes, receive_bytes } = buffers;
    let wanted = [
        (send_bytes, libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
        (receive_bytes, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
    ];
    for (bytes, forced, bounded) in wanted {
        let Some(bytes) = bytes else { continue };
        let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        set_option_of(fd, libc::SOL_SOCKET, forced, bytes)
            .or_else(|_| set_option_of(fd, libc::SOL_SOCKET, bounded, bytes))?;
    }
    Ok(())
}

/// What the kernel keeps: twice what was asked for, where something was.
pub(crate) fn buffers(fd: libc::c_int) -> io::Result<Option<SocketBuffers>> {
    let bytes_of = |name| {
        let mut value: libc::c_int = 0;
        let mut length = libc::socklen_t::try_from(size_of_val(&value)).expect("an int is short");
        let room = (&raw mut value).cast();
        // SAFETY: the room is valid for `length` bytes, and both are places of our own.
        let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, room, &raw mut length) };
        check(result)?;
        io::Result::Ok(u32::try_from(value).ok())
    };
    let (send_bytes, receive_bytes) = (bytes_of(libc::SO_SNDBUF)?, bytes_of(libc::SO_RCVBUF)?);
    Ok(Some(SocketBuffers { send_bytes, receive_bytes }))
}

/// Bytes of a full TCP segment on the path that a connection takes, as far as the kernel knows.
pub(crate) fn segment_bytes(fd: libc::c_int) -> io::Result<Option<u32>> {
    let mut value: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of_val(&value)).expect("an int is short");
    let (level, room) = (libc::SOL_TCP, (&raw mut value).cast());
    // SAFETY: the room is valid for `length` bytes, and both are places of our own.
    let result = unsafe { libc::getsockopt(fd, level, libc::TCP_MAXSEG, room, &raw mut length) };
    check(result)?;
    Ok(u32::try_from(value).ok())
}

/// The process at the other end of a unix socket, as it was when it connected.
pub(crate) fn peer_process(fd: libc::c_int) -> io::Result<Option<u32>> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).expect("12 bytes");
    let room = (&raw mut credentials).cast();
    // SAFETY: the room is valid for `length` bytes, and both are places of our own.
    let result =
        unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, room, &raw mut length) };
    check(result)?;
    // Of a socket that is no unix socket the kernel knows no process.
    Ok(u32::try_from(credentials.pid).ok().filter(|pid| *pid > 0))
}

/// The algorithm of a TCP socket.
pub(crate) fn congestion(socket: &OwnedFd) -> io::Result<Congestion> {
    let mut name = [0_u8; congestion::NAME_ROOM];
    let mut length = libc::socklen_t::try_from(name.len()).expect("16 bytes");
    let (fd, room) = (socket.as_raw_fd(), name.as_mut_ptr().cast());
    let (level, option) = (libc::SOL_TCP, libc::TCP_CONGESTION);
    // SAFETY: the room is valid for `length` bytes, and both are places of our own.
    check(unsafe { libc::getsockopt(fd, level, option, room, &raw mut length) })?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Congestion::new(&name[..end]).ok_or_else(|| io::Error::from_raw_os_error(libc::EPROTO))
}

pub(crate) fn set_congestion(socket: &OwnedFd, congestion: Congestion) -> io::Result<()> {
    let name = congestion.as_bytes();
    let length = libc::socklen_t::try_from(name.len()).expect("below 16 bytes");
    let (fd, bytes) = (socket.as_raw_fd(), name.as_ptr().cast());
    // SAFETY: the descriptor is open, and the name is valid for `length` bytes.
    check(unsafe { libc::setsockopt(fd, libc::SOL_TCP, libc::TCP_CONGESTION, bytes, length) })
}

fn set_tcp_options(socket: &OwnedFd, options: TcpOptions) -> io::Result<()> {
    if let Some(congestion) = options.congestion {
        set_congestion(socket, congestion)?;
    }
    let user_timeout = libc::c_int::try_from(options.user_timeout_ms).unwrap_or(libc::c_int::MAX);
    set_option(socket, libc::SOL_TCP, libc::TCP_NODELAY, 1)?;
    set_option(socket, libc::SOL_TCP, libc::TCP_USER_TIMEOUT, user_timeout)?;
    set_option(socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    set_option(socket, libc::SOL_TCP, libc::TCP_KEEPIDLE, KEEPALIVE_IDLE)?;
    set_option(socket, libc::SOL_TCP, libc::TCP_KEEPINTVL, KEEPALIVE_INTERVAL)
}

fn set_option(
    socket: &OwnedFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    set_option_of(socket.as_raw_fd(), level, name, value)
}

fn set_option_of(
    fd: libc::c_int,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of_val(&value)).expect("an int is short");
    // SAFETY: the descriptor is open, and `value` is valid for `length` bytes.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), length) };
    check(result)
}

fn stream_socket(address: &Address) -> io::Result<OwnedFd> {
    socket(address.family())
}

fn socket(family: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    check(fd.min(0))?;
    // SAFETY: the call above made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn bind(socket: &OwnedFd, address: &Address) -> io::Result<()> {
    let (raw, length) = address.as_raw();
    // SAFETY: the descriptor is open, and `raw` points into `address`, valid for `length` bytes.
    check(unsafe { libc::bind(socket.as_raw_fd(), raw, length) })
}

fn start_listening(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    check(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the mask of the process was before.
    fn set_mask(mask: libc::mode_t) -> libc::mode_t {
        // SAFETY: no pointer is passed; that files of other tests get the mask too harms none.
        unsafe { libc::umask(mask) }
    }

    #[test]
    fn unix_socket_is_for_its_user_and_group_whatever_the_mask_of_the_process() {
        for mask in [0, 0o022, 0o077] {
            let name = format!("io-test-mode-{:x}.sock", crate::random_u64());
            let path = std::env::temp_dir().join(name);
            let before = set_mask(mask);
            let made = listen_unix(&path, UNIX_LISTENER_MODE);
            set_mask(before);
            made.unwrap();
            let mode = fs::symlink_metadata(&path).unwrap().mode();
            fs::remove_file(&path).unwrap();
            assert_eq!(mode & 0o777, 0o660, "with the mask {mask:o}: {mode:o}");
        }
    }
}
