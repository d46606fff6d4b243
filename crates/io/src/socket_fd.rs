//! Making and setting up sockets: the calls that are too rare for the ring.
//!
//! Every socket is in blocking mode, for the ring waits by itself and takes `O_NONBLOCK` as a wish
//! to be told `EAGAIN`. TCP sockets send at once (`TCP_NODELAY`; a turn is the batch), probe an
//! idle peer, and give one up that acknowledges nothing for the user timeout. A listener has these
//! options set, and what it accepts inherits them.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{
    self, AddressFamily, Shutdown, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};

use crate::address::Address;
use crate::congestion::Congestion;

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
const BACKLOG: i32 = 1024;
/// The silence after which an idle peer is probed, and between probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// The kernel takes no larger number, neither of milliseconds nor of bytes.
const NUMBER_MAX: u32 = i32::MAX.cast_unsigned();

/// A TCP listener on `address`.
pub(crate) fn listen_tcp(address: SocketAddr, options: TcpOptions) -> io::Result<OwnedFd> {
    let socket = tcp_socket(address)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    set_tcp_options(&socket, options)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// A unix listener at `path`, for those whom `mode` allows to write to its file. A file left by a
/// process that is gone is replaced; one that somebody listens on is not.
///
/// # Errors
/// What the system says, or that somebody listens there, or that the file is no socket.
pub fn listen_unix(path: &Path, mode: u32) -> io::Result<OwnedFd> {
    // It says why a path is none for a socket.
    Address::unix(path)?;
    let address = SocketAddrUnix::new(path)?;
    let socket = unix_client()?;
    if let Err(error) = net::bind(&socket, &address) {
        if error != Errno::ADDRINUSE {
            return Err(error.into());
        }
        remove_if_stale(path)?;
        net::bind(&socket, &address)?;
    }
    // Until it listens it turns everybody away: what the umask makes of the mode harms nobody.
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    net::listen(&socket, BACKLOG)?;
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
    if !is_listened_on(path)? {
        return fs::remove_file(path);
    }
    let text = "another process listens there; stop it or choose another path";
    Err(io::Error::new(io::ErrorKind::AddrInUse, text))
}

/// Whether some process listens on the socket at `path`. It is asked by a connection, which is not
/// waited for: a listener that accepts nobody lets its queue fill up.
pub fn is_listened_on(path: &Path) -> io::Result<bool> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::CONNREFUSED) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// An unconnected TCP socket for a connection to `remote`, bound to the address `local`.
pub(crate) fn tcp_client(
    local: Option<SocketAddr>,
    remote: SocketAddr,
    options: TcpOptions,
) -> io::Result<OwnedFd> {
    let socket = tcp_socket(remote)?;
    set_tcp_options(&socket, options)?;
    if let Some(local) = local {
        // Leaves the choice of a port to connect, which knows the remote address: many connections
        // to different peers may then share one.
        leave_port_to_connect(&socket)?;
        net::bind(&socket, &local)?;
    }
    Ok(socket)
}

/// An unconnected unix socket.
pub(crate) fn unix_client() -> io::Result<OwnedFd> {
    stream_socket(AddressFamily::UNIX)
}

/// Checks and prepares a connected stream socket that comes from elsewhere.
pub(crate) fn prepare_adopted(socket: &OwnedFd) -> io::Result<()> {
    ioctl_fionbio(socket, false)?;
    peer_addr(socket.as_fd()).map(drop)
}

/// Ends both directions: whatever waits on the socket completes.
pub(crate) fn shut_down(socket: &OwnedFd) {
    // A socket that was not connected has nothing to end.
    net::shutdown(socket, Shutdown::Both).ok();
}

/// The address a socket is bound to, if it has an IP address.
pub(crate) fn local_addr(socket: BorrowedFd<'_>) -> io::Result<Option<SocketAddr>> {
    Ok(ip(net::getsockname(socket)?))
}

/// The address a socket is connected to, if it has an IP address.
pub(crate) fn peer_addr(socket: BorrowedFd<'_>) -> io::Result<Option<SocketAddr>> {
    Ok(net::getpeername(socket)?.and_then(ip))
}

fn ip(address: SocketAddrAny) -> Option<SocketAddr> {
    SocketAddr::try_from(address).ok()
}

/// Has the kernel keep as many bytes for what is on its way out, and in; what root may ask for is
/// not bounded by `net.core.wmem_max` and `rmem_max`.
pub(crate) fn set_buffers(socket: BorrowedFd<'_>, buffers: SocketBuffers) -> io::Result<()> {
    let SocketBuffers { send_bytes, receive_bytes } = buffers;
    let number = |bytes: u32| bytes.min(NUMBER_MAX) as usize;
    if let Some(bytes) = send_bytes.map(number) {
        sockopt::set_socket_send_buffer_size_force(socket, bytes)
            .or_else(|_| sockopt::set_socket_send_buffer_size(socket, bytes))?;
    }
    if let Some(bytes) = receive_bytes.map(number) {
        sockopt::set_socket_recv_buffer_size_force(socket, bytes)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(socket, bytes))?;
    }
    Ok(())
}

/// What the kernel keeps: twice what was asked for, where something was.
pub(crate) fn buffers(socket: BorrowedFd<'_>) -> io::Result<Option<SocketBuffers>> {
    let send_bytes = u32::try_from(sockopt::socket_send_buffer_size(socket)?).ok();
    let receive_bytes = u32::try_from(sockopt::socket_recv_buffer_size(socket)?).ok();
    Ok(Some(SocketBuffers { send_bytes, receive_bytes }))
}

/// Bytes of a full TCP segment on the path that a connection takes, as far as the kernel knows.
pub(crate) fn segment_bytes(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    let fd = socket.as_raw_fd();
    let mut value: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of_val(&value)).expect("an int is short");
    let (level, room) = (libc::SOL_TCP, (&raw mut value).cast());
    // SAFETY: the room is valid for `length` bytes, and both are places of our own.
    let result = unsafe { libc::getsockopt(fd, level, libc::TCP_MAXSEG, room, &raw mut length) };
    check(result)?;
    Ok(u32::try_from(value).ok())
}

/// The process at the other end of a unix socket, as it was when it connected.
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    let fd = socket.as_raw_fd();
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

fn set_tcp_options(socket: &OwnedFd, options: TcpOptions) -> io::Result<()> {
    if let Some(congestion) = options.congestion {
        congestion.set(socket)?;
    }
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_tcp_user_timeout(socket, options.user_timeout_ms.min(NUMBER_MAX))?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE)?;
    Ok(sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)?)
}

fn leave_port_to_connect(socket: &OwnedFd) -> io::Result<()> {
    let (fd, value): (_, libc::c_int) = (socket.as_raw_fd(), 1);
    let length = libc::socklen_t::try_from(size_of_val(&value)).expect("an int is short");
    let (option, place) = (libc::IP_BIND_ADDRESS_NO_PORT, (&raw const value).cast());
    // SAFETY: the descriptor is open, and `value` is valid for `length` bytes.
    check(unsafe { libc::setsockopt(fd, libc::SOL_IP, option, place, length) })
}

fn tcp_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    stream_socket(match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    })
}

fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
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

    /// A daemon whose two sockets had one path filled its own queue, and then waited for ever.
    #[test]
    fn socket_whose_listener_accepts_nobody_is_taken_and_nobody_waits_for_it() {
        let name = format!("io-test-full-{:x}.sock", crate::random_u64());
        let path = std::env::temp_dir().join(name);
        let listener = unix_client().unwrap();
        let address = SocketAddrUnix::new(&path).unwrap();
        net::bind(&listener, &address).unwrap();
        net::listen(&listener, 0).unwrap();
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let come = || {
            let it =
                net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
            net::connect(&it, &address).map(|()| it)
        };
        let waiting: Vec<_> = std::iter::from_fn(|| come().ok()).take(16).collect();
        assert_eq!(come().unwrap_err(), Errno::AGAIN, "with {} that wait", waiting.len());
        let (told, refused) = std::sync::mpsc::channel();
        let wanted = path.clone();
        std::thread::spawn(move || told.send(listen_unix(&wanted, UNIX_LISTENER_MODE)));
        let refused = refused.recv_timeout(Duration::from_secs(20));
        fs::remove_file(&path).unwrap();
        let error = refused.expect("an answer at once").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}");
    }
}
