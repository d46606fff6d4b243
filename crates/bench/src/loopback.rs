//! Loopback addresses of this process.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};

use crate::ports::claim_ports;

/// Ports at an address of this process that ends in `host`; they stay free while a server is down.
pub(crate) fn free_ports<const N: usize>(host: u8) -> Result<[SocketAddr; N]> {
    let ports = many_free_ports(host, N)?;
    Ok(ports.try_into().expect("as many ports as were asked for"))
}

/// The same, of a number that is known at run time only.
pub(crate) fn many_free_ports(host: u8, count: usize) -> Result<Vec<SocketAddr>> {
    let process = std::process::id().to_le_bytes();
    let address = Ipv4Addr::from([127, 64 | (process[1] & 63), process[0], host]);
    claim_ports(address, count)
        .with_context(|| format!("no port is free at loopback address {address}"))
}
