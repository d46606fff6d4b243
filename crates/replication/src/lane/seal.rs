//! Beginning and end of a session, and the return of a member: what a lane forgets and keeps.

use format::ids::{BlockRange, NodeId, Nonce, Seq};
use format::message::{SealedLane, WindowEntry};

use crate::contract::{GroupAction, RequestError, RequestKind};
use crate::lane::cut::HeldCut;
use crate::lane::read::ClientRead;
use crate::lane::{Applied, AppliedState, Lane, Leader, Replica, Slot, Turn};

/// What becomes of writes that a follower was told to apply, and has not submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    Applied,
    Dropped,
}

impl Lane {
    /// A session seals this member: drops writes that were not submitted to the device, but for
    /// those that a follower was told to apply, and the answers to reads of peers. A member that
    /// returns into the session that it left is sealed to it once more.
    pub(crate) fn drop_unsubmitted(&mut self, turn: &mut Turn<'_>, released: Released) {
        let replica = &mut self.replica;
        replica.peer_reads.iter_mut().for_each(|(_, read)| read.forget());
        replica.acks.clear();
        replica.receipts.clear();
        replica.leader_node = None;
        replica.cut = HeldCut::default();
        let mut dropped = Vec::new();
        replica.window.retain(|applied| {
            let keep = match applied.state {
                AppliedState::Held(_) => false,
                AppliedState::Cold(_) => released == Released::Applied,
                AppliedState::Writing(_) | AppliedState::Done(_) | AppliedState::Failed(_) => true,
            };
            if !keep {
                dropped.push(*applied);
            }
            keep
        });
        for applied in dropped {
            turn.shared.activity.forget(self.index, applied.seq);
            turn.release(applied.payload.filter(|_| !applied.is_own));
        }
    }

    /// Another disk is taken into use: the replica begins anew. The writes left in the old window
    /// reached the old disk, or failed there, and hold no payload any more.
    pub(crate) fn take_disk(&mut self, me: NodeId, slots: Vec<Slot>) {
        let holds_payload = self.replica.window.iter().any(|applied| applied.payload.is_some());
        assert!(!holds_payload, "its device writes are over");
        assert!(self.replica.peer_reads.is_empty(), "its device reads are over");
        self.replica = Replica::new(me, slots);
    }

    /// Nothing that this replica asked of its disk is outstanding.
    pub(crate) fn is_off_its_disk(&self) -> bool {
        self.is_quiet() && self.replica.peer_reads.is_empty()
    }

    /// No device write is outstanding (I25).
    pub(crate) fn is_quiet(&self) -> bool {
        let is_out = |applied: &Applied| matches!(applied.state, AppliedState::Writing(_));
        !self.replica.window.iter().any(is_out)
    }

    /// No device write is outstanding, and no write waits for its extent.
    pub(crate) fn is_over(&self) -> bool {
        self.is_quiet() && !self.has_cold()
    }

    pub(crate) fn report(&self) -> SealedLane {
        assert!(self.is_quiet(), "a seal is answered when no device write is outstanding (I25)");
        let replica = &self.replica;
        let window = replica
            .window
            .iter()
            .map(|applied| WindowEntry { seq: applied.seq, range: applied.range })
            .collect();
        let (nonce, stable) = (replica.nonce, replica.stable);
        let done = replica.window.iter().filter(|applied| applied.state.is_done());
        let applied = done.map(|applied| applied.seq).max().unwrap_or(stable);
        SealedLane { nonce, stable, applied, window }
    }

    /// A new session begins for this member: `ranges`, which its leader computed from the windows
    /// of all members, take the place of the window. They take the place of the marks of the own
    /// slot, too: no other block can differ.
    pub(crate) fn inherit(&mut self, turn: &mut Turn<'_>, nonce: Nonce, ranges: &[BlockRange]) {
        let pieces: Vec<BlockRange> = self.pieces(turn.view, ranges).collect();
        self.forget_window(turn);
        self.replica.nonce = nonce;
        self.replica.inherited = pieces.iter().copied().collect();
        // The next seal reports the own slot, too: so the extents of these may leave the log.
        let me = turn.view.me;
        if let Some(own) = self.slot_mut(me) {
            own.bits.set_none();
            for range in pieces {
                own.bits.set(range);
            }
        }
    }

    fn forget_window(&mut self, turn: &mut Turn<'_>) {
        let replica = &mut self.replica;
        for applied in std::mem::take(&mut replica.window).iter() {
            let (AppliedState::Done(slot) | AppliedState::Failed(slot)) = applied.state else {
                unreachable!("a sealed lane is quiet")
            };
            turn.shared.activity.release(slot);
        }
        replica.stable = Seq(0);
        replica.newest = Seq(0);
        replica.began_behind = Seq(0);
        replica.acks.clear();
        replica.receipts.clear();
    }

    /// As a returning member: marks in the own slot what only this lane knows of, then begins anew
    /// at `floor`. The activity log adds nothing: the extents that it named after an unclean end
    /// are in the own slot already.
    pub(crate) fn take_over_window(&mut self, turn: &mut Turn<'_>, nonce: Nonce, floor: Seq) {
        let mut private: Vec<BlockRange> =
            self.replica.window.iter().map(|applied| applied.range).collect();
        private.extend(self.replica.inherited.iter().flat_map(crate::lane::by_extent));
        self.forget_window(turn);
        let me = turn.view.me;
        if let Some(own) = self.slot_mut(me) {
            for range in private {
                own.bits.set(range);
            }
        }
        let replica = &mut self.replica;
        replica.inherited.clear();
        replica.nonce = nonce;
        replica.stable = Seq(floor.0.saturating_sub(1));
        replica.newest = replica.stable;
        replica.began_behind = replica.stable;
    }

    /// As a member that stops: marks in every slot what a restart would have marked by the activity
    /// log.
    pub(crate) fn settle_for_stop(&mut self, turn: &mut Turn<'_>) {
        let mut private: Vec<BlockRange> =
            self.replica.window.iter().map(|applied| applied.range).collect();
        private.extend(self.replica.inherited.iter().flat_map(crate::lane::by_extent));
        self.forget_window(turn);
        self.replica.inherited.clear();
        for slot in &mut self.replica.slots {
            for &range in &private {
                slot.bits.set(range);
            }
        }
    }

    /// Marks in the own slot what any slot marks: all that this replica wrote may differ from what
    /// the others hold (9.6). The slot of one member would not do, for a third one may have gone on
    /// with what this replica has in common with it.
    pub(crate) fn merge_slots(&mut self, me: NodeId) {
        let marked: Vec<BlockRange> =
            self.replica.slots.iter().flat_map(|slot| slot.bits.runs()).collect();
        if let Some(own) = self.slot_mut(me) {
            for range in marked {
                own.bits.set(range);
            }
        }
    }

    /// How many blocks the slot of `member` marks.
    pub(crate) fn marks_of(&self, member: NodeId) -> u64 {
        let slot = self.replica.slots.iter().find(|slot| slot.member == member);
        slot.map_or(0, |slot| slot.bits.ones())
    }

    /// Begins to lead a session; `outdated` may differ between its members.
    pub(crate) fn lead(&mut self, turn: &mut Turn<'_>, outdated: &[BlockRange]) {
        self.stand_down(turn);
        self.generation = self.generation.wrapping_add(1);
        let mut leader = Leader { next_seq: 1, next_order: 1, ..Leader::default() };
        leader.outdated = self.pieces(turn.view, outdated).collect();
        self.leader = Some(Box::new(leader));
    }

    /// The session of this node is over: fails what clients wait for. None of it is ever repeated.
    pub(crate) fn stand_down(&mut self, turn: &mut Turn<'_>) {
        let Some(leader) = self.leader.take() else { return };
        self.generation = self.generation.wrapping_add(1);
        let me = turn.view.me;
        self.drop_borrowed(turn);
        if self.replica.leader_node == Some(me) {
            self.replica.acks.clear();
        }
        for request in leader.overflow {
            let part = request.part;
            turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
            if let RequestKind::Write { payload, .. } = request.kind {
                turn.release(Some(payload));
            }
        }
        for (_, operation) in leader.operations.iter() {
            if let Some(part) = operation.part {
                turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
            }
            turn.release(operation.payload);
            turn.release(operation.patch);
        }
        for (_, read) in leader.reads.iter().filter(|(_, read)| !read.is_answered()) {
            turn.release(read.held_payload());
            let part = read.part;
            turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
        }
    }

    /// The lane is about to be dropped: releases the payloads of peers' writes. The device and the
    /// connections have references of their own to what they still use.
    pub(crate) fn let_go(&mut self, turn: &mut Turn<'_>) {
        for applied in self.replica.window.iter() {
            turn.release(applied.payload.filter(|_| !applied.is_own));
        }
    }

    /// Drops writes of this node that its replica has not submitted: their payloads go with the
    /// operations.
    pub(crate) fn drop_borrowed(&mut self, turn: &mut Turn<'_>) {
        let lane = self.index;
        self.replica.window.retain(|applied| {
            let keep = !matches!(applied.state, AppliedState::Cold(_)) || !applied.is_own;
            if !keep {
                turn.shared.activity.forget(lane, applied.seq);
            }
            keep
        });
    }

    /// There is no quorum, and requests are not to wait: fails what clients wait for. Operations go
    /// on.
    pub(crate) fn fail_waiting(&mut self, turn: &mut Turn<'_>) {
        let Some(leader) = self.leader.as_mut() else { return };
        for request in std::mem::take(&mut leader.overflow) {
            let part = request.part;
            turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
            if let RequestKind::Write { payload, .. } = request.kind {
                turn.release(Some(payload));
            }
        }
        for (_, operation) in leader.operations.iter_mut() {
            if let Some(part) = operation.part.take() {
                turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
            }
        }
        let reads: Vec<u32> = leader.reads.iter().map(|(index, _)| index).collect();
        for index in reads {
            turn.release(leader.reads.get(index).and_then(ClientRead::held_payload));
            leader.answer_read(turn, index, Err(RequestError::Io));
        }
    }

    /// The seq from which on a member that comes into the write set now gets everything.
    pub(crate) fn floor(&self) -> Seq {
        Seq(self.leader.as_ref().map_or(1, |leader| leader.next_seq))
    }
}
