//! How large a cluster is, and how it is configured.

use format::ids::{MemberSet, NodeId};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{Congestion, Demands, Readmission};

/// Members that a disk's metadata has room for.
pub(crate) const SLOTS_MAX: u8 = 8;

#[derive(Clone, Debug)]
pub struct ClusterOptions {
    pub seed: u64,
    pub nodes: u8,
    /// The last so many nodes have no disk.
    pub clients: u8,
    /// So many nodes before those are no members at first.
    pub spares: u8,
    /// Of each node; every start picks one of them.
    pub shards: Vec<Vec<u8>>,
    /// The volumes, each on a disk of its own with a cache of its own.
    pub space: Space,
    /// What the metadata of a new disk does not use of its backing: it can be enlarged by it.
    pub spare_bytes: u64,
    pub al_slots: usize,
    pub trace: bool,
    /// Trace the messages of this lane, too.
    pub trace_lane: Option<u8>,
    /// Where reads go; `None`: each life of a process has a policy of its own.
    pub reads: Option<ReadPolicy>,
    pub quirks: Quirks,
    pub demands: Demands,
    /// By node, the members that it counts once they received a write; of a node behind the end,
    /// nobody.
    pub by_receipt: Vec<MemberSet>,
    /// The same of those whom it calls followers.
    pub followers: Vec<MemberSet>,
    /// Whether replicas ask before they are brought up to date.
    pub readmission: Readmission,
}

/// What else may be out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Mailboxes and connections are slow now and then, each for itself.
    pub slow_mail: bool,
    /// Clocks begin anywhere, and drift.
    pub clocks: bool,
    /// No member without a disk may be the witness.
    pub no_witness: bool,
    /// What becomes of followers that fall behind.
    pub congestion: Congestion,
    /// The metadata of this node has room for so many members.
    pub few_slots: Option<(u8, u8)>,
}

impl ClusterOptions {
    pub(crate) fn members(&self) -> MemberSet {
        (0..self.nodes).filter_map(NodeId::new).collect()
    }

    /// The members at birth.
    #[must_use]
    pub fn first_members(&self) -> MemberSet {
        let clients = self.nodes - self.clients;
        let is_spare = |node: &NodeId| (clients - self.spares..clients).contains(&node.get());
        self.members().iter().filter(|node| !is_spare(node)).collect()
    }

    /// Members that the metadata of a node has room for.
    pub(crate) fn slots_max(&self, node: NodeId) -> u8 {
        let few = self.quirks.few_slots.filter(|(few, _)| *few == node.get());
        few.map_or(SLOTS_MAX, |(_, slots)| slots)
    }

    #[must_use]
    pub fn is_diskful(&self, node: NodeId) -> bool {
        node.get() < self.nodes - self.clients
    }
}
