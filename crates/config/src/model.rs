//! What the files mean: resources with everything inherited, expanded and checked.
//!
//! A [`Resource`] stands alone: what `common` said is in its option sets, each host has its own
//! full list of volumes, and each connected pair of hosts is one [`Connection`] with all its
//! addresses.
//! Whoever holds one may rely on this: node ids, labels of hosts ([`crate::host_name`]), volume
//! numbers and connections are unique; every host has the same volumes; every connection has at
//! least one path and its ends are hosts of the resource.

use std::net::{IpAddr, SocketAddr};

use crate::host_name::{Ambiguous, meant};
use crate::options::OptionSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub name: String,
    pub options: OptionSet,
    pub net: OptionSet,
    pub disk: OptionSet,
    pub startup: OptionSet,
    pub handlers: OptionSet,
    /// In order of node id.
    pub hosts: Vec<Host>,
    /// In order of the node ids of their ends.
    pub connections: Vec<Connection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// As in `uname -n`; the address of a floating host.
    pub name: String,
    /// Further names under which a node may find itself here.
    pub other_names: Vec<String>,
    pub is_floating: bool,
    pub node_id: u8,
    /// The address for connections that give none themselves.
    pub address: Option<SocketAddr>,
    /// What this host sets differently from the resource.
    pub options: OptionSet,
    /// In order of number.
    pub volumes: Vec<Volume>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub number: u16,
    pub device: Option<Device>,
    /// `None` on a host that uses the volume over the network only.
    pub disk: Option<Disk>,
    pub is_tiebreaker: Option<bool>,
    /// What this volume sets differently from the resource.
    pub options: OptionSet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// A block device or a file.
    pub path: String,
    pub meta_disk: MetaDisk,
}

/// The number under which DRBD's tools and `status` know a volume of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub minor: u32,
    /// Only if it is not `/dev/drbd` and the minor.
    pub path: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaDisk {
    /// At the end of the disk itself.
    Internal,
    External {
        path: String,
        /// The slot on a device that several volumes share.
        index: Option<u32>,
    },
}

/// What `disk` says before it is joined with `meta-disk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackingDisk {
    None,
    Path(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The names of its hosts, the lower node id first.
    pub ends: [String; 2],
    /// At least one, in order of preference.
    pub paths: Vec<Path>,
    /// What this connection sets differently from the resource.
    pub net: OptionSet,
    /// What it sets differently for every volume.
    pub disk: OptionSet,
    /// What it sets differently for one volume, in order of number.
    pub volumes: Vec<PeerVolume>,
}

/// The addresses of the ends of a connection, in the order of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    pub addresses: [SocketAddr; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerVolume {
    pub number: u16,
    pub disk: OptionSet,
}

/// A connection as one of its ends sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub name: String,
    pub node_id: u8,
    /// Local and remote address, in order of preference.
    pub paths: Vec<(SocketAddr, SocketAddr)>,
}

impl Resource {
    /// The host that goes by this name, as `uname -n` tells it; none where two could.
    #[must_use]
    pub fn host_by_name(&self, node_name: &str) -> Option<&Host> {
        self.host_meant(node_name).unwrap_or_default()
    }

    /// The host that goes by this name.
    ///
    /// # Errors
    /// Two of them could be meant.
    pub fn host_meant(&self, name: &str) -> Result<Option<&Host>, Ambiguous> {
        Ok(host_index(&self.hosts, name)?.map(|index| &self.hosts[index]))
    }

    /// The floating host whose address is an own one.
    #[must_use]
    pub fn host_by_address(&self, is_own: impl Fn(IpAddr) -> bool) -> Option<&Host> {
        self.hosts.iter().find(|host| {
            host.is_floating && host.address.is_some_and(|address| is_own(address.ip()))
        })
    }

    #[must_use]
    pub fn host_by_id(&self, node_id: u8) -> Option<&Host> {
        self.hosts.iter().find(|host| host.node_id == node_id)
    }

    /// The hosts that this one is connected to, in order of node id; none for an unknown name.
    #[must_use]
    pub fn peers_of(&self, node_name: &str) -> Vec<Peer> {
        let Some(own) = self.host_by_name(node_name) else { return Vec::new() };
        let mut peers: Vec<Peer> = self
            .connections
            .iter()
            .filter_map(|connection| self.peer_over(connection, own))
            .collect();
        peers.sort_by_key(|peer| peer.node_id);
        peers
    }

    /// The connection between two hosts.
    #[must_use]
    pub fn connection_between(&self, left: &str, right: &str) -> Option<&Connection> {
        let (left, right) = (self.host_by_name(left)?, self.host_by_name(right)?);
        self.connections.iter().find(|connection| {
            left.node_id != right.node_id
                && connection.ends.contains(&left.name)
                && connection.ends.contains(&right.name)
        })
    }

    /// The numbers of the volumes, in order; the same on every host.
    #[must_use]
    pub fn volume_numbers(&self) -> Vec<u16> {
        self.hosts
            .first()
            .map_or_else(Vec::new, |host| host.volumes.iter().map(|volume| volume.number).collect())
    }

    fn peer_over(&self, connection: &Connection, own: &Host) -> Option<Peer> {
        let near = connection.ends.iter().position(|end| *end == own.name)?;
        let far = 1 - near;
        let peer = self.host_by_name(&connection.ends[far])?;
        let paths =
            connection.paths.iter().map(|p| (p.addresses[near], p.addresses[far])).collect();
        Some(Peer { name: peer.name.clone(), node_id: peer.node_id, paths })
    }
}

/// Which of the hosts goes by `name`.
pub(crate) fn host_index(hosts: &[Host], name: &str) -> Result<Option<usize>, Ambiguous> {
    meant(name, 0..hosts.len(), |index| hosts[*index].names())
}

impl Host {
    /// All that stand behind `on`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name].into_iter().chain(&self.other_names).map(String::as_str)
    }

    #[must_use]
    pub fn volume(&self, number: u16) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.number == number)
    }
}

impl Volume {
    #[must_use]
    pub fn is_diskless(&self) -> bool {
        self.disk.is_none()
    }
}
