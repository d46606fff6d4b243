//! What may be different since a checker looked.
//!
//! A verdict that rests on nothing of this still holds: so all is checked after every event, and
//! little is looked at again.

use format::ids::{MemberSet, NodeId};

#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By node, a bit for each lane whose group took a step.
    lanes: Vec<u32>,
    /// Nodes whose resource took a step.
    pub(crate) resources: MemberSet,
    /// Nodes whose process or disk is another one.
    pub(crate) lives: MemberSet,
    /// A register or a superblock was written.
    pub(crate) saved: bool,
    pub(crate) any: bool,
}

impl Changes {
    pub(super) fn new(nodes: u8) -> Self {
        Self { lanes: vec![0; usize::from(nodes)], ..Self::default() }
    }

    pub(super) fn of_resource(&mut self, node: NodeId) {
        self.any = true;
        self.resources.insert(node);
    }

    /// A step of a group may do something in each of its lanes.
    pub(super) fn of_group(&mut self, node: usize, shard: u8, shards: u8) {
        self.any = true;
        let lanes = 0..replication::limits::LANES_DEFAULT;
        for lane in lanes.filter(|lane| lane % shards == shard) {
            self.lanes[node] |= 1 << lane;
        }
    }

    pub(super) fn of_life(&mut self, node: NodeId) {
        self.any = true;
        self.saved = true;
        self.lives.insert(node);
    }

    /// Whether a group of these nodes that has `lane` took a step.
    pub(crate) fn touch(&self, nodes: MemberSet, lane: u8) -> bool {
        let touched = |(node, lanes): (usize, &u32)| nodes.0 >> node & lanes >> lane & 1 == 1;
        self.lanes.iter().enumerate().any(touched)
    }

    /// Hands out what there is, and begins anew.
    pub(crate) fn take(&mut self) -> Self {
        let lanes = vec![0; self.lanes.len()];
        std::mem::replace(self, Self { lanes, ..Self::default() })
    }
}
