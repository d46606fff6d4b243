//! Sockets.
use std::net::SocketAddr;
use std::path::PathBuf;

/// A socket of one reactor; a closed socket's id never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SocketId {
    index: u32,
    generation: u32,
}

#[derive(Clone, Debug)]
pub enum ListenAddr {
    Tcp(SocketAddr),
    Unix(PathBuf),
}
