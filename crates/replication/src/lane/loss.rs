//! Losing a member: everyone else records what it misses, before its acknowledgement is given up.
//!
//! PROTOCOL.md section 6. LOSS repeats harmlessly: bits are only added.

use format::ids::{BlockRange, NodeId, QuestionId};
use format::message::DataBody;

use crate::contract::{LostMember, ReplicaRole};
use crate::lane::{Lane, OperationState, Turn};
use crate::limits;

/// A member that is being removed, as the leader's lane sees it.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    pub(crate) lost: LostMember,
    /// What is said of an earlier loss of the same member is nothing about this one.
    id: QuestionId,
    /// Its place among all that the group sent or asked.
    sent_as: u64,
    /// Members that have not answered, and how many of their answers are missing.
    pub(crate) waiting: Vec<(NodeId, u32)>,
}

impl Loss {
    fn is_answered_by(&self, by: NodeId, lost: NodeId, id: QuestionId) -> bool {
        let waits = self.waiting.iter().any(|&(member, _)| member == by);
        waits && self.lost.member == lost && id.answers(self.id)
    }
}

impl Lane {
    /// Tells every other member of the write set what `lost` misses. Answers for the own replica
    /// come through the group, like those of the others.
    pub(crate) fn start_loss(
        &mut self,
        turn: &mut Turn<'_>,
        lost: LostMember,
        missed: &[BlockRange],
    ) -> (Vec<BlockRange>, QuestionId) {
        let id = self.next_question();
        let others = turn.view.write_set.minus(turn.view.losing).without(lost.member);
        let mut ranges = self.unequal_ranges();
        ranges.extend(self.pieces(turn.view, missed));
        let leader = self.leader.as_mut().expect("only a leader removes members");
        ranges.extend(leader.differing_at(lost.member));
        for loss in &mut leader.losses {
            loss.waiting.retain(|&(member, _)| member != lost.member);
        }
        leader.losses.retain(|loss| loss.lost.member != lost.member);
        let pieces = u32::try_from(ranges.chunks(limits::SLOT_RANGES_PER_MESSAGE).count().max(1))
            .expect("bounded by the size of a volume");
        let me = turn.view.me;
        // Of the own replica it is a call.
        let pieces_of = |member| if member == me { 1 } else { pieces };
        let waiting = others.iter().map(|member| (member, pieces_of(member))).collect();
        let sent_as = turn.shared.room.next_place();
        leader.losses.push(Loss { lost, id, sent_as, waiting });
        let remote = others.without(turn.view.me);
        for member in remote.iter() {
            self.send_loss_to(turn, member, lost, id, ranges.clone());
        }
        (ranges, id)
    }

    /// Never given again while this process lives, whatever sessions it leads.
    pub(crate) fn next_question(&mut self) -> QuestionId {
        self.last_question = self.last_question.next();
        self.last_question
    }

    /// What may not be equal everywhere: in flight, or not reconciled yet.
    fn unequal_ranges(&self) -> Vec<BlockRange> {
        let leader = self.leader.as_ref().expect("only a leader removes members");
        let sent = leader
            .operations
            .iter()
            .filter(|(_, operation)| matches!(operation.state, OperationState::Sent { .. }))
            .map(|(_, operation)| operation.range);
        sent.chain(leader.outdated.iter().flat_map(crate::lane::by_extent)).collect()
    }

    /// Sends ranges in messages of bounded length, at least one.
    pub(crate) fn send_loss_to(
        &mut self,
        turn: &mut Turn<'_>,
        to: NodeId,
        lost: LostMember,
        id: QuestionId,
        ranges: Vec<BlockRange>,
    ) {
        if to == turn.view.me {
            // A leader whose own replica returns: the group calls `record_loss` as for a message.
            turn.shared.local_losses.push((self.index, lost, ranges, id));
            return;
        }
        let lane = self.index;
        let LostMember { member, base } = lost;
        if ranges.is_empty() {
            return turn.send(to, DataBody::Loss { lane, member, base, ranges, id });
        }
        for piece in ranges.chunks(limits::SLOT_RANGES_PER_MESSAGE) {
            turn.send(to, DataBody::Loss { lane, member, base, ranges: piece.to_vec(), id });
        }
    }

    /// As a member: the slot of the lost one starts at `base`, and holds at least what was not
    /// stable here, what was inherited, and what the leader says.
    ///
    /// A member that is being resynced never empties a slot: what it was told of the lost one
    /// comes on two ways, from the leader and from the slot of another, in any order.
    pub(crate) fn record_loss(
        &mut self,
        role: ReplicaRole,
        lost: LostMember,
        ranges: &[BlockRange],
    ) {
        let Some(position) = self.replica.slots.iter().position(|slot| slot.member == lost.member)
        else {
            return;
        };
        let replica = &mut self.replica;
        let slot = &mut replica.slots[position];
        if lost.base.epoch != crate::KEEP && slot.base != lost.base {
            if role == ReplicaRole::InSync {
                slot.bits.set_none();
            }
            slot.base = lost.base;
        }
        for applied in replica.window.iter() {
            slot.bits.set(applied.range);
        }
        for range in replica.inherited.iter().flat_map(crate::lane::by_extent) {
            slot.bits.set(range);
        }
        for &range in ranges {
            slot.bits.set(range);
        }
    }

    /// A member recorded (a part of) what `lost` misses; true if that was waited for.
    pub(crate) fn on_loss_recorded(&mut self, by: NodeId, lost: NodeId, id: QuestionId) -> bool {
        let Some(leader) = self.leader.as_mut() else { return false };
        let asked = leader.losses.iter_mut().find(|loss| loss.is_answered_by(by, lost, id));
        if let Some(loss) = asked {
            for (member, missing) in &mut loss.waiting {
                if *member == by {
                    *missing -= 1;
                }
            }
            loss.waiting.retain(|&(_, missing)| missing > 0);
            return true;
        }
        self.resync(by).is_some_and(|resync| resync.on_forwarded(id))
    }

    /// Those that have not written down what a lost member misses, and when each was asked: its
    /// place among all that the group sent or asked.
    pub(crate) fn awaited_for_losses(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let losses = self.leader.iter().flat_map(|leader| &leader.losses);
        losses.flat_map(|loss| loss.waiting.iter().map(|&(member, _)| (member, loss.sent_as)))
    }

    pub(crate) fn is_loss_recorded(&self, lost: NodeId) -> bool {
        self.leader.as_ref().is_none_or(|leader| {
            leader.losses.iter().all(|loss| loss.lost.member != lost || loss.waiting.is_empty())
        })
    }

    /// What `member` has to have and did not acknowledge: place in the order of sending, index.
    pub(crate) fn unacknowledged(&self, member: NodeId) -> Vec<(u64, u32)> {
        let operations = self.leader.iter().flat_map(|leader| leader.operations.iter());
        operations
            .filter(|(_, operation)| {
                matches!(operation.state, OperationState::Sent { .. })
                    && operation.needed.has(member)
                    && !operation.acknowledged.has(member)
            })
            .map(|(index, operation)| (operation.sent_as, index))
            .collect()
    }

    /// The connection to `member` came back with nothing lost: everything unanswered again.
    pub(crate) fn resend(&mut self, turn: &mut Turn<'_>, member: NodeId) {
        let Some(leader) = self.leader.as_mut() else { return };
        leader.losses.retain(|loss| loss.lost.member != member);
        leader.stable_unsent = true;
        turn.shared.tell_stable_later(turn.now);
        self.forward_again(turn, member);
        self.reask_slots(turn, member);
    }
}
