//! Loopback addresses of this process, with ports that stay free while a server is down.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Context, Result};

/// Free ports at an address of this process that ends in `host`. Outgoing connections take
/// their ports from 127.0.0.1, so these are still free when a killed server comes back.
pub(crate) fn free_ports<const N: usize>(host: u8) -> Result<[SocketAddr; N]> {
    let ports = many_free_ports(host, N)?;
    Ok(ports.try_into().expect("as many ports as were asked for"))
}

/// The same, of a number that is known at run time only.
pub(crate) fn many_free_ports(host: u8, count: usize) -> Result<Vec<SocketAddr>> {
    let process = std::process::id().to_le_bytes();
    let address = Ipv4Addr::from([127, 64 | (process[1] & 63), process[0], host]);
    let bind = || {
        TcpListener::bind((address, 0))
            .with_context(|| format!("cannot listen on loopback address {address}"))
    };
    // All are held until all are known, so they differ.
    let listeners = (0..count).map(|_| bind()).collect::<Result<Vec<_>>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?)).collect()
}
