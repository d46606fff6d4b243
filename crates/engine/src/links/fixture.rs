//! What tests of links have in common.

use std::net::SocketAddr;

use format::ids::{BootId, NodeId, ResourceId};
use format::message::Open;
use stdx::time::Time;

use crate::definition::link::{Buffers, LinkTimes, Path, PeerPaths, Secrecy, Spread};
use crate::hosted_id::HostedId;
use crate::links::connection::Connection;
use crate::links::session::NewSession;
use crate::links::stage::Stage;
use crate::links::{Identity, LEAD, Link, Links, Way};
use crate::slab::Key;

/// A link whose only connection is up, and has no socket.
pub(super) fn connected() -> (Links, Key) {
    let name = "alpha".to_owned();
    let identity = Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 };
    let mut links = Links::new(identity, LEAD);
    let mut link = Link::new("bravo".to_owned(), Time::ZERO);
    (link.is_up, link.set) = (true, 1);
    let key = links.connections.insert(Connection::new(Some(0), LEAD, Stage::Up, Time::ZERO));
    link.pipe_mut(LEAD).connection = Some(key);
    links.links.push(link);
    (links, key)
}

pub(super) const HOSTED: HostedId = HostedId(0);
/// At home in lane 0, as all whose number is a multiple of 16.
pub(super) const RESOURCE: ResourceId = ResourceId(32);

pub(super) fn node(id: u8) -> NodeId {
    NodeId::new(id).unwrap()
}

/// A link that is up, and a resource on it.
pub(super) fn with_resource() -> Links {
    let name = "alpha".to_owned();
    let identity = Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 };
    let mut links = Links::new(identity, LEAD);
    let mut link = Link::new("bravo".to_owned(), Time::ZERO);
    link.is_up = true;
    link.set = 1;
    links.links.push(link);
    let new = NewSession {
        hosted: HOSTED,
        resource: RESOURCE,
        resource_name: "r0".to_owned(),
        me: node(0),
        peer: node(1),
        secret: None,
    };
    links.add_session(0, new, Time::ZERO);
    links
}

/// The peer opens the resource.
pub(super) fn on_open(links: &mut Links, resource: ResourceId, handle: u32) {
    let open = Open {
        handle,
        resource,
        resource_name: "r0".to_owned(),
        sender: node(1),
        receiver: node(0),
        replica: None,
    };
    links.on_open(Way { link: 0, shard: 0 }, &open, Time::ZERO);
}

/// A way to the node of another host.
pub(super) fn path(host: u8, port: u16) -> Path {
    let address = |node: u8| SocketAddr::from(([10, 0, host, node], port));
    (address(1), address(2))
}

/// A peer in these ways.
pub(super) fn peer(paths: Vec<Path>) -> PeerPaths {
    PeerPaths {
        peer_name: "bravo".to_owned(),
        paths,
        secrecy: Secrecy::default(),
        times: LinkTimes::default(),
        spread: Spread::One,
        buffers: Buffers::default(),
    }
}

/// A node that knows of no peer.
pub(super) fn unconnected() -> Links {
    let name = "alpha".to_owned();
    Links::new(Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 }, LEAD)
}

/// Each of so many resources has a path of its own.
pub(super) fn named_by_each(links: &mut Links, paths: &[Path]) {
    for path in paths {
        links.add_peer(&peer(vec![*path]), Time::ZERO);
    }
}
