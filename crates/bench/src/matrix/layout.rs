//! Which volume lies where, and who serves it.
//!
//! A volume belongs to a node, has its replicas on that node and the two after it, and is served by
//! that node where a local replica is wanted. Without one, the node after the last replica serves
//! it, so every node serves as many volumes as it owns. Three nodes have no such node for any
//! volume: then as many hosts without disks join them, and each serves for one node.

use crate::fleet::Members;

pub(super) const REPLICAS: usize = 3;

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) hosts: usize,
    pub(super) volumes: Vec<Placed>,
}

/// Numbers of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) replicas: [usize; REPLICAS],
    /// Serves it with a replica.
    pub(super) local: usize,
    /// Serves it without one.
    pub(super) remote: usize,
}

/// How many hosts so many nodes come to.
pub(super) fn hosts(nodes: usize) -> usize {
    if nodes > REPLICAS { nodes } else { 2 * nodes }
}

impl Layout {
    pub(super) fn new(nodes: usize, volumes_per_node: usize) -> Self {
        assert!(nodes >= REPLICAS, "{nodes} nodes have no room for {REPLICAS} replicas");
        let has_room = nodes > REPLICAS;
        let place = |owner: usize| Placed {
            replicas: std::array::from_fn(|next| (owner + next) % nodes),
            local: owner,
            remote: if has_room { (owner + REPLICAS) % nodes } else { nodes + owner },
        };
        let volumes = (0..volumes_per_node).flat_map(|_| (0..nodes).map(place)).collect();
        Self { hosts: hosts(nodes), volumes }
    }

    pub(super) fn members(&self) -> Vec<Members> {
        let members = |placed: &Placed| Members {
            replicas: placed.replicas.to_vec(),
            clients: vec![placed.remote],
        };
        self.volumes.iter().map(members).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_and_replicas_are_even_and_a_remote_server_has_no_replica() {
        for (nodes, volumes, hosts) in [(3, 2, 6), (4, 1, 4), (5, 3, 5), (12, 8, 12)] {
            let layout = Layout::new(nodes, volumes);
            assert_eq!((layout.hosts, layout.volumes.len()), (hosts, nodes * volumes));
            let count = |is: &dyn Fn(&Placed) -> bool| {
                layout.volumes.iter().filter(|placed| is(placed)).count()
            };
            for node in 0..nodes {
                assert_eq!(count(&|placed| placed.replicas.contains(&node)), REPLICAS * volumes);
                assert_eq!(count(&|placed| placed.local == node), volumes);
                let served = if nodes > REPLICAS { node } else { nodes + node };
                assert_eq!(count(&|placed| placed.remote == served), volumes);
            }
            for placed in &layout.volumes {
                assert!(placed.replicas.contains(&placed.local), "{placed:?}");
                assert!(!placed.replicas.contains(&placed.remote), "{placed:?}");
            }
        }
    }
}
