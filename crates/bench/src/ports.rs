//! Ports of servers that come and go, on loopback.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Below those that the kernel gives to outgoing connections, which would take the place of a
/// server that is down.
const PORTS: Range<u16> = 8_192..32_512;
/// Claimed at once, and by a single socket.
const PORTS_PER_CLAIM: u16 = 16;

/// What this process has taken, until it ends.
struct Claims {
    /// At the first port of each block. No server uses UDP, and two sockets cannot have one port.
    sockets: Vec<UdpSocket>,
    next: u16,
}

static CLAIMS: Mutex<Claims> = Mutex::new(Claims { sockets: Vec::new(), next: PORTS.start });

/// Different ports at `address` on which nobody listens, and that no other process gets from here
/// while this one lives.
///
/// # Errors
/// All are taken, or the address is not one of this machine.
pub(crate) fn claim_ports(address: impl Into<IpAddr>, count: usize) -> io::Result<Vec<SocketAddr>> {
    let address = address.into();
    let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        if claims.next.is_multiple_of(PORTS_PER_CLAIM) {
            claims.take_a_block()?;
        }
        let port = SocketAddr::from((address, claims.next));
        claims.next += 1;
        if TcpListener::bind(port).is_ok() {
            found.push(port);
        }
    }
    Ok(found)
}

impl Claims {
    fn take_a_block(&mut self) -> io::Result<()> {
        while self.next < PORTS.end {
            if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, self.next)) {
                self.sockets.push(socket);
                return Ok(());
            }
            self.next += PORTS_PER_CLAIM;
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }
}
