//! A member of the write set that goes away, or fails: PROTOCOL.md section 6.
//!
//! The others write down what it misses, then a value without it is chosen, and only then nothing
//! waits for it any more. Until the value is proposed, one that comes back as it was is a member
//! again. The last complete one is never removed.

use format::ids::{MemberSet, NodeId};
use format::message::SlotBase;

use crate::contract::{LostMember, Parting, PeerReport, ResourceAction, Stay, ToGroup};
use crate::resource::change::Change;
use crate::resource::rests::Why;
use crate::resource::{Resource, RoundKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossState {
    /// The others write down what it misses.
    Recording,
    Recorded,
    /// The value without it may be chosen already: there is no way back.
    Proposing,
}

impl Resource {
    /// A member of the write set went away, or failed: PROTOCOL.md section 6.
    pub(crate) fn begin_loss(&mut self, member: NodeId) {
        let Some(session) = self.session.as_mut() else { return };
        // One that is being copied to may come back as it was; its loss may be withdrawn.
        session.admissions.retain(|&node, known| node != member || known.is_copying());
        if !session.write_set.has(member) || session.losses.contains_key(&member) {
            return;
        }
        if self.is_last_complete(member) {
            return self.keep_another(member);
        }
        let Some(session) = self.session.as_mut() else { return };
        if matches!(session.change, Some(Change::PreparingJoin { .. })) {
            session.change = None;
            self.drop_round(RoundKind::SlotsDurable);
        }
        self.record_loss(member);
    }

    /// Every other complete member is being lost.
    pub(crate) fn is_last_complete(&self, member: NodeId) -> bool {
        let complete = self.complete();
        let losses = self.session.iter().flat_map(|session| session.losses.keys().copied());
        complete.has(member) && complete.minus(losses.collect()).without(member).is_empty()
    }

    /// The last complete one goes away. It is never removed: its I/O waits for it, or fails
    /// (`suspend`). But while the value names others, these have all that was acknowledged. One
    /// that is there as it was, and was to go (slow, about to stop, a member no more), stays in its
    /// place; others may be back.
    fn keep_another(&mut self, member: NodeId) {
        let complete = self.complete();
        let Some(session) = self.session.as_ref() else { return };
        let open = session.losses.iter().filter(|&(&node, &state)| {
            complete.has(node) && node != member && state != LossState::Proposing
        });
        let open: MemberSet = open.map(|(&node, _)| node).collect();
        let is_proposed = session.losses.values().any(|state| *state == LossState::Proposing);
        // What the others recorded of a loss that is proposed already, it would not know.
        let is_there = |&node: &NodeId| {
            let known = session.boots.get(&node).copied();
            let is_same = known.is_some() && known == self.boot_of(node);
            let is_able = self.replica_of(node).is_some() && !session.differing.has(node);
            is_same && is_able && !is_proposed && self.is_connected(node)
        };
        // Who is there itself, and is to go, is no better than those that are to go.
        let is_going_alone = session.change == Some(Change::Alone);
        let other = open.iter().find(is_there).filter(|_| !is_there(&member));
        if let Some(other) = other {
            self.withdraw_loss(other);
            self.record_loss(member);
        } else if member == self.me() && (!open.is_empty() || is_going_alone) {
            self.end_session();
        }
    }

    /// The replica of `member` obeys this session no more: another sealed it, or its disk failed.
    pub(crate) fn on_replica_failed(&mut self, member: NodeId) {
        if let Some(session) = self.session.as_mut() {
            // As good as another process. `check_last_member` knows what to do.
            session.boots.remove(&member);
            session.admitted_here.remove(member);
        }
        self.begin_loss(member);
    }

    /// One that is there and does not keep up holds everyone's writes back. The last one does too,
    /// and stays; and so does one without which too few would be left to go on.
    pub(crate) fn on_member_slow(&mut self, stay: Stay) {
        let (in_sync, now, member) = (self.in_sync(), self.now, stay.member);
        let Some(session) = self.session.as_ref().filter(|it| it.is_here(stay)) else { return };
        let losing: MemberSet = session.losses.keys().copied().collect();
        if in_sync.has(member) && !self.is_enough_without(losing.with(member)) {
            return;
        }
        let Some(session) = self.session.as_mut() else { return };
        let rest = session.rests.next_for_slow(member);
        session.rests.rest(member, now + rest, Why::Slow);
        self.actions.push(ResourceAction::Evicted { member, rest });
        self.begin_loss(member);
    }

    fn is_losing(&self, member: NodeId) -> bool {
        self.session.as_ref().is_some_and(|session| session.losses.contains_key(&member))
    }

    /// Has the others write down what `member` misses.
    fn record_loss(&mut self, member: NodeId) {
        // What is known of a member in mid-resync stays.
        let keep = SlotBase { epoch: crate::KEEP, incarnation: format::ids::Incarnation(0) };
        let base = self.insync_base(member).unwrap_or(keep);
        let Some(session) = self.session.as_mut() else { return };
        session.losses.insert(member, LossState::Recording);
        let lost = LostMember { member, base };
        let lose = |round| ToGroup::Lose { lost, round };
        self.ask_groups(RoundKind::LossRecorded(member), lose);
    }

    fn insync_base(&self, member: NodeId) -> Option<SlotBase> {
        let known = self.config()?.volumes.first()?.insync_member(member)?;
        Some(SlotBase { epoch: known.joined, incarnation: known.incarnation })
    }

    pub(crate) fn on_loss_recorded(&mut self, member: NodeId) {
        if self.promotion.is_some() {
            return self.on_loss_recorded_for_promotion(member);
        }
        let Some(session) = self.session.as_mut() else { return };
        if let Some(state) = session.losses.get_mut(&member) {
            *state = LossState::Recorded;
        }
    }

    /// The config does not need the member any more.
    pub(crate) fn finish_loss(&mut self, member: NodeId) {
        let (epoch, in_sync) = (self.epoch(), self.in_sync());
        let Some(session) = self.session.as_mut() else { return };
        session.losses.remove(&member);
        session.admissions.remove(&member);
        session.write_set.remove(member);
        session.boots.remove(&member);
        session.differing.remove(member);
        let write_set = session.write_set;
        // A shard that hears late of the end may still find the copy complete.
        self.drop_round(RoundKind::Synced(member));
        self.tell_groups(ToGroup::Lost { member, epoch, in_sync });
        self.forget_following(member);
        self.tell_log_room(write_set);
    }

    pub(crate) fn on_member_connected(&mut self, node: NodeId, report: PeerReport) {
        let Some(session) = self.session.as_mut() else { return };
        if report.replica.is_none_or(|replica| replica.sealed != session.nonce) {
            // Before it is sealed anew, and would say so.
            session.admitted_here.remove(node);
        }
        session.rests.on_connected(node, report.boot_id);
        let stays_away = self.stays_away(node);
        let Some(session) = self.session.as_mut().filter(|it| it.write_set.has(node)) else {
            return;
        };
        let same_life = session.boots.get(&node) == Some(&report.boot_id)
            && report.replica.is_some_and(|replica| replica.sealed == session.nonce);
        // What the others recorded of a loss that is proposed already, it would not know.
        let may_withdraw = !session.losses.values().any(|state| *state == LossState::Proposing)
            && !session.differing.has(node)
            && !stays_away;
        match session.losses.get(&node) {
            Some(LossState::Proposing) => {}
            Some(LossState::Recording | LossState::Recorded) if same_life && may_withdraw => {
                session.rests.note_return(node, self.now);
                self.withdraw_loss(node);
            }
            Some(LossState::Recording | LossState::Recorded) if same_life => {}
            Some(LossState::Recording | LossState::Recorded) => {
                session.boots.remove(&node);
            }
            None if same_life => self.withdraw_loss(node),
            // It lost what it had of the session, if only its disk: as good as another process.
            // `check_last_member` knows what to do.
            None => {
                session.boots.remove(&node);
            }
        }
    }

    /// The member came back with all it had: it gets again what it did not answer, and hears of
    /// the losses that were recorded without it.
    pub(super) fn withdraw_loss(&mut self, member: NodeId) {
        let since = self.unheard_round();
        let Some(session) = self.session.as_mut() else { return };
        session.since.insert(member, since);
        session.losses.remove(&member);
        let others: Vec<NodeId> = session
            .losses
            .iter()
            .filter(|(_, state)| **state != LossState::Proposing)
            .map(|(&node, _)| node)
            .collect();
        self.tell_groups(ToGroup::Resend { member, since });
        for other in others {
            self.record_loss(other);
        }
    }

    pub(crate) fn on_member_disconnected(&mut self, node: NodeId, parting: Parting) {
        self.forget_asked_for_size(node);
        self.forget_asked_for_verify(node);
        self.on_disconnected_during_promotion(node);
        self.note_sealer_gone(node);
        let was_losing = self.is_losing(node);
        self.begin_loss(node);
        match parting {
            Parting::Closed => self.forget_returns_of(node),
            Parting::Broken if !was_losing && self.is_losing(node) => self.let_lost_rest(node),
            Parting::Broken | Parting::Moved => {}
        }
    }

    /// The last ones that are no followers are never removed, though their loss was recorded while
    /// there were others: they are waited for. True if one is there, and the loss withdrawn; or if
    /// it is the own replica, of which only a promotion can tell.
    pub(super) fn keep_last(&mut self, member: NodeId) -> bool {
        if member == self.me() {
            self.end_session();
            return true;
        }
        let known = self.session.as_ref().and_then(|session| session.boots.get(&member).copied());
        if known.is_some() && known == self.boot_of(member) && self.is_connected(member) {
            self.withdraw_loss(member);
            return true;
        }
        false
    }

    pub(super) fn propose_losses(&mut self, members: MemberSet) {
        let session = self.session.as_mut().expect("proposed by a session");
        for member in members.iter() {
            session.losses.insert(member, LossState::Proposing);
        }
        session.change = Some(Change::Losing(members));
        self.propose(|config| {
            for volume in &mut config.volumes {
                volume.insync.retain(|known| !members.has(known.node));
            }
        });
    }
}
