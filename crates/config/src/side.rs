//! A resource as one of its hosts sees it: the options that hold for each of its parts.

use crate::model::{Host, Peer, Resource, Volume};
use crate::options::value::Value;
use crate::options::{OptionSet, Section, spec_of};

/// A resource as one of its hosts sees it.
#[derive(Debug)]
pub struct Side<'r> {
    pub resource: &'r Resource,
    pub host: &'r Host,
    pub peers: Vec<Peer>,
}

/// What was given, in order of name.
pub type Options = Vec<(&'static str, Value)>;

fn options_of(set: &OptionSet, is_wanted: impl Fn(&str) -> bool) -> Options {
    let wanted = set.iter().filter(|(name, _)| is_wanted(name));
    wanted.map(|(name, value)| (name, value.clone())).collect()
}

impl<'r> Side<'r> {
    #[must_use]
    pub fn of(resource: &'r Resource, node: &str) -> Option<Self> {
        let host = resource.host_by_name(node)?;
        Some(Self { resource, host, peers: resource.peers_of(node) })
    }

    #[must_use]
    pub fn peer(&self, node_id: u8) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.node_id == node_id)
    }

    #[must_use]
    pub fn resource_options(&self) -> Options {
        options_of(&self.resource.options, |_| true)
    }

    #[must_use]
    pub fn net_options(&self, peer: &Peer) -> Options {
        let connection = self.resource.connection_between(&self.host.name, &peer.name);
        let own = connection.map(|connection| connection.net.clone()).unwrap_or_default();
        options_of(&self.resource.net.overlaid(&own), |_| true)
    }

    /// Those of the disk itself.
    #[must_use]
    pub fn disk_options(&self, volume: &Volume) -> Options {
        let is_own = |name: &str| spec_of(name).is_some_and(|spec| !spec.is_per_peer);
        options_of(&self.resource.disk.overlaid(&volume.options), is_own)
    }

    #[must_use]
    pub fn peer_device_options(&self, peer: &Peer, number: u16) -> Options {
        let set = self.resource.peer_disk_set(&self.host.name, &peer.name, number);
        let is_per_peer = |name: &str| {
            spec_of(name).is_some_and(|spec| spec.is_per_peer && spec.section == Section::Disk)
        };
        let mut options = options_of(&set, is_per_peer);
        let there = self.resource.host_by_id(peer.node_id);
        let is_client = there.and_then(|host| host.volume(number)).is_some_and(Volume::is_diskless);
        if is_client && !options.iter().any(|(name, _)| *name == "bitmap") {
            // What a client misses is never copied to it.
            options.push(("bitmap", Value::Flag(false)));
        }
        options
    }
}
