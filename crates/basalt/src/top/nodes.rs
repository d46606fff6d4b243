//! The nodes of the cluster, as this one sees them.

use std::collections::BTreeMap;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;

use crate::top::rows::Look;
use crate::top::wishes::Wishes;

/// A node, over all resources that it shares with this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    /// It is the node that was asked.
    pub(super) is_own: bool,
    pub(super) resources: usize,
    /// Resources over which it is connected; of the own node all that are up.
    pub(super) connected: usize,
    pub(super) primaries: usize,
    /// Volumes of which it has a replica, as far as is known.
    pub(super) replicas: usize,
    pub(super) up_to_date: usize,
    pub(super) out_of_sync_kib: u64,
    pub(super) resyncs: usize,
    /// A resource over which it is not connected, the first one, and why.
    pub(super) reason: Option<(String, String)>,
}

impl Node {
    fn count_replica(&mut self, disk: DiskState) {
        self.replicas += 1;
        self.up_to_date += usize::from(disk == DiskState::UpToDate);
    }
}

/// The own node first, then the others by their names.
pub(super) fn nodes(now: &Look, wishes: &Wishes) -> Vec<Node> {
    let own_name = &now.status.node.name;
    let mut own = Node { name: own_name.clone(), is_own: true, ..Node::default() };
    let mut others: BTreeMap<&str, Node> = BTreeMap::new();
    for resource in &now.status.resources {
        own.resources += 1;
        own.connected += usize::from(!resource.devices.is_empty());
        own.primaries += usize::from(resource.role == Role::Primary);
        for device in resource.devices.iter().filter(|device| !device.client) {
            own.count_replica(device.disk_state);
        }
        for connection in &resource.connections {
            let node = others.entry(&connection.name).or_default();
            node.resources += 1;
            node.connected +=
                usize::from(connection.connection_state == ConnectionState::Connected);
            node.primaries += usize::from(connection.peer_role == Role::Primary);
            if node.reason.is_none() {
                let reason = connection.reason.clone();
                node.reason = reason.map(|reason| (resource.name.clone(), reason));
            }
            for device in &connection.peer_devices {
                if !device.peer_client {
                    node.count_replica(device.peer_disk_state);
                }
                node.out_of_sync_kib += device.out_of_sync;
                node.resyncs += usize::from(device.done_percent().is_some());
            }
        }
    }
    let others = others.into_iter().map(|(name, node)| Node { name: name.to_owned(), ..node });
    let rows = std::iter::once(own).chain(others);
    rows.filter(|node| node.name.contains(&wishes.filter)).collect()
}
