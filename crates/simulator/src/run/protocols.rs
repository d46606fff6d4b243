//! Followers (protocol A), and members that count for a client's answer once they received a write
//! (protocol B), as each node's configuration says, and as operators change it.
//!
//! The oracle needs no rule for them: what only such members had counts as not flushed, and goes
//! with a promotion that says so (`losses`), or not at all.

use std::time::Duration;

use format::ids::{BLOCK_BYTES, MemberSet, NodeId};
use replication::contract::{Congestion, OnCongestion, Share};
use stdx::random::Random;

use crate::run::Run;

/// Whether members of a run count by receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protocols {
    #[default]
    Durable,
    Mixed,
}

/// By node, whom it counts by receipt while it is Primary, and who follows it.
pub(super) fn some_protocols(random: &mut Random, nodes: u8) -> (Vec<MemberSet>, Vec<MemberSet>) {
    let all: MemberSet = (0..nodes).filter_map(NodeId::new).collect();
    let pick = random.below(4);
    // All connections; or those of one node, as one that is far away.
    let far = NodeId::new(u8::try_from(random.below(nodes.into())).expect("few")).expect("few");
    let of = |node: NodeId, random: &mut Random| match pick {
        0 => all,
        1 if node == far => all,
        1 => MemberSet::of(far),
        _ => all.iter().filter(|_| random.chance(1, 2)).collect(),
    };
    let by_receipt = all.iter().map(|node| of(node, random).without(node)).collect();
    let follower = NodeId::new(u8::try_from(random.below(nodes.into())).expect("few"));
    let follower = follower.map_or(MemberSet::EMPTY, MemberSet::of);
    let pick = random.below(4);
    let followers = all.iter().map(|node| match pick {
        0 => MemberSet::EMPTY,
        1 => all.iter().filter(|_| random.chance(1, 2)).collect::<MemberSet>().without(node),
        // One that is far away, for all.
        _ => follower.without(node),
    });
    (by_receipt, followers.collect())
}

/// In every second run followers are not waited for, as soon as a few blocks or extents are under
/// way.
pub(super) fn some_congestion(protocols: Protocols, seed: u64) -> Congestion {
    if protocols == Protocols::Durable {
        return Congestion::default();
    }
    let mut random = Random::new(seed ^ 0xc096);
    let then = match random.below(8) {
        0..3 => OnCongestion::PullAhead,
        3 => OnCongestion::Disconnect,
        _ => OnCongestion::Block,
    };
    let fill_bytes = random.below(3) * random.below(12) * BLOCK_BYTES;
    let extents = u32::try_from(random.below(3) * random.below(4)).expect("few");
    Congestion { then, fill_bytes, extents }
}

impl Run {
    /// An operator changes the protocol of some connections of one node.
    pub(super) fn change_protocol(&mut self) {
        let node = self.any_node();
        let all = self.cluster.options.members();
        let chosen = all.iter().filter(|_| self.random.chance(1, 2)).collect::<MemberSet>();
        let own = NodeId::new(u8::try_from(node).expect("few")).expect("few");
        let following = all.iter().filter(|_| self.random.chance(1, 3)).collect::<MemberSet>();
        self.cluster.count_as(node, chosen.without(own), following.without(own));
    }

    /// Where two replicas have to be up to date, none of them may be a follower for good.
    pub(super) fn have_enough(&mut self, node: usize) {
        let is_enough = self.cluster.options.demands.redundancy == Share::AtLeast(1);
        let followers = self.cluster.options.followers.get(node).copied().unwrap_or_default();
        if !is_enough && !followers.is_empty() {
            let by_receipt = self.cluster.options.by_receipt[node];
            self.cluster.count_as(node, by_receipt, MemberSet::EMPTY);
        }
    }

    /// A disk takes its time for writes: what it received stays in memory for longer.
    pub(super) fn write_slowly(&mut self) {
        let node = self.any_node();
        let millis = self.random.below(40);
        self.cluster.slow[node].write = Duration::from_millis(millis);
    }

    /// Processes die at once while some writes are answered and not written everywhere: often
    /// the ones that had them, and seldom with what their kernel still has.
    pub(super) fn kill_beside_answers(&mut self) {
        let count = usize::from(self.cluster.options.nodes);
        let is_answering = (0..count).any(|node| self.cluster.answered_early(node) > 0);
        if !is_answering {
            return;
        }
        let power = self.random.chance(1, 4);
        for node in 0..count {
            if !self.random.chance(1, 2) || !self.cluster.is_up(node) {
                continue;
            }
            if power {
                self.report.power_cuts += 1;
                self.cluster.cut_power(node);
            } else {
                self.report.kills += 1;
                self.cluster.kill(node);
            }
            self.after_death(node);
        }
    }
}
