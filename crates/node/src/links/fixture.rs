//! What tests of links have in common.

use format::ids::BootId;
use io::{Options, Reactor};
use stdx::time::Time;

use crate::budget::Budget;
use crate::links::connection::{Connection, Stage};
use crate::links::{Identity, LEAD, Link, Links};
use crate::payloads::{Kit, Payloads};
use crate::shard::mesh::Mesh;
use crate::slab::Key;

/// Of a node with one shard.
pub(super) fn kit() -> Kit {
    let reactor = Reactor::new(Options::default()).unwrap();
    let (payloads, mesh) = (Payloads::default(), Mesh::new(LEAD, vec![None]));
    Kit { reactor, payloads, budget: Budget::default(), mesh, now: Time::ZERO }
}

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
