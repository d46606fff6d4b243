//! Loopback addresses of this process, with ports that stay free while a server is down.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Context, Result};

/// Two free ports at an address of this process that ends in `host`. Outgoing connections take
/// their ports from 127.0.0.1, so these are still free when a killed server comes back.
pub(crate) fn free_ports(host: u8) -> Result<[SocketAddr; 2]> {
    let process = std::process::id().to_le_bytes();
    let address = Ipv4Addr::from([127, 64 | (process[1] & 63), process[0], host]);
    let bind = || {
        TcpListener::bind((address, 0))
            .with_context(|| format!("cannot listen on loopback address {address}"))
    };
    // Both are held until both are known, so they differ.
    let (first, second) = (bind()?, bind()?);
    Ok([first.local_addr()?, second.local_addr()?])
}
