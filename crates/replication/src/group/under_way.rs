//! What is under way between this node and a member, for an operator who looks.

use format::ids::NodeId;
use format::space::Place;

use crate::group::LaneGroup;
use crate::lane::{Lane, Operation, OperationKind, OperationState};

/// Of one member and one volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Bytes of clients' writes that the member was sent and has not acknowledged.
    pub application_bytes: u64,
    /// The same of what is copied.
    pub copied_bytes: u64,
    /// How many acknowledgements it owes for both.
    pub pending: u32,
    /// How many it is owed.
    pub unacked: u32,
}

impl LaneGroup {
    #[must_use]
    pub fn under_way(&self, member: NodeId, place: Place) -> UnderWay {
        let mut sum = UnderWay::default();
        for lane in &self.lanes {
            lane.add_pending(member, place, &mut sum);
            sum.unacked += lane.unacked(member, place);
        }
        sum
    }
}

impl Lane {
    fn add_pending(&self, member: NodeId, place: Place, sum: &mut UnderWay) {
        let operations = self.leader.iter().flat_map(|leader| leader.operations.iter());
        let is_owed = |operation: &&Operation| {
            let is_sent = matches!(operation.state, OperationState::Sent { .. });
            let is_there = Place::of_block(operation.range.start) == Some(place);
            is_sent && is_there && operation.waits_for().has(member)
        };
        for operation in operations.map(|(_, operation)| operation).filter(is_owed) {
            sum.pending += 1;
            let bytes = operation.range.length_bytes();
            match operation.kind {
                OperationKind::Write => sum.application_bytes += bytes,
                // They are sent without bytes.
                OperationKind::Discard | OperationKind::Zeroes => {}
                OperationKind::Reconcile
                | OperationKind::Resync { .. }
                | OperationKind::Verify { .. } => sum.copied_bytes += bytes,
            }
        }
    }

    fn unacked(&self, member: NodeId, place: Place) -> u32 {
        if self.replica.leader_node != Some(member) {
            return 0;
        }
        let open = self.replica.window.iter().filter(|known| {
            let is_there = Place::of_block(known.range.start) == Some(place);
            is_there && !known.is_own && !known.state.is_done()
        });
        u32::try_from(open.count()).unwrap_or(u32::MAX)
    }
}
