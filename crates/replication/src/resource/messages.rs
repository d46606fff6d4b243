//! What peers say, and what this node says to itself: each message goes to the part it is for.

use format::ids::NodeId;
use format::message::{Accepted, Control, SlotBase};

use crate::contract::{LostMember, NewArea, Repair, ResizeTask, SizeTask, VerifyTask};
use crate::resource::Resource;
use crate::resource::member::CopyStatus;
use crate::voter::Refusal;

impl Resource {
    #[expect(clippy::too_many_lines, reason = "one flat match, an arm for each message")]
    pub(crate) fn on_control(&mut self, from: NodeId, message: Control) {
        if from != self.me() && !self.peers.contains_key(&from) {
            return;
        }
        if self.is_split_from(from) && !is_for_parted(&message) {
            return;
        }
        match message {
            // To a voter, and its answers.
            Control::Prepare { ballot, nonce } => self.on_prepare(from, ballot, nonce),
            Control::Promise { ballot, store, accepted } => {
                self.on_promise(from, ballot, store, accepted);
            }
            Control::PrepareRefused { ballot, promised, lease_held: false, .. } => {
                self.on_refused(from, ballot, promised, Refusal::Promised);
            }
            Control::PrepareRefused { ballot, promised, lease_held: true, .. } => {
                self.on_refused(from, ballot, promised, Refusal::LeaseHeld);
                self.on_promotion_refused_for_lease();
            }
            Control::Accept { ballot, nonce, value } => self.on_accept(from, ballot, nonce, value),
            Control::Accepted { ballot, store, .. } => self.on_accepted(from, ballot, store),
            Control::AcceptRefused { ballot, promised } => {
                self.on_refused(from, ballot, promised, Refusal::Promised);
            }
            Control::Chosen { ballot, value } => self.on_told_chosen(from, ballot, value),
            Control::News { ballot, value } => self.on_news(from, Accepted { ballot, value }),
            Control::LeaseRelease { nonce } => {
                self.voter.release(nonce);
                self.note_unled(from);
            }
            Control::Touch { nonce, has_quorum } => {
                self.on_touch(from, (!has_quorum).then_some(nonce));
            }
            Control::Copying { nonce, left, copied_blocks } => {
                self.on_copying(nonce, CopyStatus { left: *left, copied_blocks });
            }
            Control::Report { store, session, accepted, members } => {
                self.on_report(from, store, session, accepted);
                self.note_named(from, members);
            }

            // To a member with data, of who leads, or is about to.
            Control::Seal { .. }
            | Control::NewEpoch { .. }
            | Control::Admit { .. }
            | Control::SlotQuery { .. }
            | Control::SetFull { .. }
            | Control::PrepareJoin { .. }
                if !self.hears_leaders() => {}
            Control::NewEpoch { nonce, .. } | Control::Admit { nonce, .. }
                if !self.may_begin(nonce) => {}
            Control::SlotQuery { nonce } | Control::SetFull { nonce, .. } if !self.obeys(nonce) => {
            }
            Control::PrepareJoin { nonce, .. } if !self.takes_part_in(nonce) => {}
            Control::Seal { ballot, nonce } => self.on_seal(from, ballot, nonce),
            Control::NewEpoch { nonce, value, inherited, .. } => {
                self.on_new_epoch(from, nonce, &value, inherited);
            }
            Control::Admit { nonce, value, floors } => self.on_admit(from, nonce, &value, floors),
            Control::SlotQuery { nonce } => self.on_slot_query(from, nonce),
            Control::SetFull { nonce, member, incarnation, base_epoch } => {
                let base = SlotBase { epoch: base_epoch, incarnation };
                self.on_set_full(from, nonce, LostMember { member, base });
            }
            Control::PrepareJoin { nonce, epoch, value_id } => {
                self.on_prepare_join(from, nonce, epoch, value_id);
            }

            // Answers to what this node asked as the leader, or as it becomes it.
            Control::Sealed(sealed) => {
                self.ballot_counter = self.ballot_counter.max(sealed.ballot.counter);
                if self.promotion.is_some() {
                    self.on_sealed_for_promotion(from, *sealed);
                } else {
                    self.on_sealed_for_admission(from, &sealed);
                }
            }
            Control::SealRefused { sealed, .. } => {
                self.ballot_counter = self.ballot_counter.max(sealed.counter);
                if self.promotion.is_some() {
                    self.on_seal_refused(from);
                } else {
                    self.on_refused_by_member(from);
                }
            }
            Control::NewEpochDone { nonce, .. } => self.on_new_epoch_done(from, nonce),
            Control::ReplicaFailed { nonce } if self.leads(nonce) => self.on_replica_failed(from),
            Control::ReplicaFailed { nonce } => {
                self.on_replica_failed_during_promotion(from, nonce);
            }
            Control::SlotInfo { nonce, .. }
            | Control::SetFullDone { nonce, .. }
            | Control::Admitted { nonce, .. }
            | Control::JoinPrepared { nonce, .. }
                if !self.leads(nonce) => {}
            Control::SlotInfo { slots, .. } => self.on_slot_info(from, &slots),
            Control::SetFullDone { member, .. } => self.on_set_full_done(from, member),
            Control::Admitted { .. } => self.on_admitted(from),
            Control::JoinPrepared { epoch, .. } => self.on_join_prepared(from, epoch),
            Control::Leave => self.on_leave(from),
            Control::OwnReplica(what) => self.on_own_replica(from, what),
            Control::Following { nonce } => self.on_following(from, nonce),

            // Work on the volumes.
            Control::Resize { nonce, place, size_bytes, zeroes, id } => {
                let new_area = if zeroes { NewArea::Zeroed } else { NewArea::AsItIs };
                self.on_peer_asks(from, id, nonce, ResizeTask { place, size_bytes, new_area });
            }
            Control::ResizeAnswer { outcome, member, size_bytes, id } => {
                self.on_resize_answer(from, id, outcome, member, size_bytes);
            }
            Control::Enlarge { nonce, place, size_bytes } => {
                self.on_enlarge((from, nonce), place, size_bytes);
            }
            Control::Enlarged { nonce, boot_id, place, size_bytes } => {
                self.on_enlarged(from, nonce, boot_id, place, size_bytes);
            }
            Control::PrepareSize { nonce, id, place, from_bytes, to_bytes, absent, zeroes } => {
                let new_area = if zeroes { NewArea::Zeroed } else { NewArea::AsItIs };
                let task = SizeTask::of_bytes(place, (from_bytes, to_bytes), absent, new_area);
                self.on_prepare_size((from, nonce, id), task);
            }
            Control::SizePrepared { nonce, id, boot_id } => {
                self.on_member_prepared(from, nonce, boot_id, id);
            }
            Control::Verify { nonce, from_block, until_block, repair, id } => {
                let repair = if repair { Repair::AtOnce } else { Repair::No };
                let task = VerifyTask { from_block, until_block, repair };
                self.on_verify_asked(from, id, nonce, task);
            }
            Control::VerifyAnswer { started: true, id, .. } => self.on_verify_begun(from, id),
            Control::VerifyAnswer { started: false, id, .. } => self.on_verify_refused(from, id),

            // Lines that parted.
            Control::Standing(standing) => self.on_standing(from, standing),
            Control::GiveWay { standing, against } => self.on_give_way(from, standing, against),
            Control::GiveWayAnswer { standing, agreed: true } => self.on_agreed(from, standing),
            Control::GiveWayAnswer { standing, agreed: false } => {
                self.on_not_agreed(from, standing);
            }
            Control::LineLost { nonce, losses } => self.on_line_lost(from, nonce, losses),
            Control::LineLostDone { nonce } => self.on_line_lost_done(from, nonce),
        }
    }
}

/// What two nodes say to each other whose lines parted.
fn is_for_parted(message: &Control) -> bool {
    matches!(
        message,
        Control::Report { .. }
            | Control::Standing(_)
            | Control::GiveWay { .. }
            | Control::GiveWayAnswer { .. }
    )
}
