//! A member with data: it obeys one session at a time, and reports truthfully to the next.

use std::collections::BTreeMap;

use format::config::Config;
use format::ids::{
    Ballot, BlockRange, Epoch, KernelBootId, LaneIndex, MemberSet, NodeId, Nonce, Seq, ValueId,
};
use format::message::{Control, OwnReplica, Sealed, SealedLane, SlotBase, SlotInfo};
use format::metadata::{Candidate, ReplicaState, Sealed as SealedTo, Superblock};
use format::space::Space;

use crate::attach;
use crate::contract::{
    CommandErrorCode, CommandId, DiskEnd, LostMember, ReplicaRole, ResourceAction, RoundId, ToGroup,
};
use crate::limits;
use crate::lineage::stamp::{is_old_image, make_blank, was_given_up_unseen};
use crate::lineage::standing::{
    RANK_BEHIND, RANK_INTACT, RANK_REBOOTED, RANK_RESTARTED, insync, is_of_history, shared_until,
};
use crate::ranges::RangeSet;
use crate::resource::{AfterSave, Resource, RoundKind};

#[derive(Debug, Default)]
pub(crate) struct MemberState {
    pub(crate) disk_failed: bool,
    /// Admitted to a session since this process started.
    pub(crate) admitted: bool,
    /// The session to which this process is sealed. The seal of a former process counts for its
    /// ballot alone, for that leader does not know that this replica restarted.
    sealed: Option<Nonce>,
    /// The node that sent the seal: it leads that session, or is about to.
    pub(crate) sealed_by: Option<NodeId>,
    /// A seal, until every shard is quiet and it is answered.
    seal: Option<PendingSeal>,
    /// Set when a seal is answered, so that the lanes are quiet; cleared when a session begins
    /// here. A peer that begins one without a seal is in error.
    pub(crate) may_begin: bool,
    /// The sender, session and epoch of a NEW_EPOCH, until the groups have taken it over.
    new_epoch: Option<(NodeId, Nonce, Epoch)>,
    /// The sender and session of an ADMIT, until the groups have taken it over.
    admit: Option<(NodeId, Nonce)>,
    /// How far the copy to this replica is, as who leads its session said last; cleared by the next
    /// ADMIT.
    pub(crate) copying: Option<CopyStatus>,
    /// By the member whose slot it is: who asked for all blocks of a slot to be marked, until they
    /// are.
    set_full: BTreeMap<NodeId, (NodeId, Nonce, LostMember)>,
    /// The sender, session and candidate of a PREPARE_JOIN, until slots and data are durable.
    join: Option<(NodeId, Nonce, Candidate)>,
    /// Members for whom a shard of the leader called the slots good for nothing, since this replica
    /// was admitted. Another shard may have said otherwise before, and be heard later.
    useless: MemberSet,
    /// The epoch of the value with which this replica was admitted. Members in `useless` were away
    /// by that value; a base of a later epoch is of a later loss.
    admitted_at: Epoch,
    /// The value that the candidate of the superblock names was not chosen, and never will be: the
    /// leader that was to propose it has admitted this replica anew.
    joins_no_more: bool,
    /// The command and superblock of a disk that the groups are taking into use.
    attaching: Option<(CommandId, Box<Superblock>)>,
}

impl MemberState {
    /// The replica obeys no session any more: a leader has to seal it anew.
    pub(crate) fn forget_session(&mut self) {
        let Self { disk_failed, attaching, .. } = std::mem::take(self);
        *self = Self { disk_failed, attaching, ..Self::default() };
    }

    /// Members for which the groups are marking all blocks.
    pub(crate) fn slots_asked_for(&self) -> MemberSet {
        self.set_full.keys().copied().collect()
    }
}

/// How far a copy is, as its source counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyStatus {
    /// Blocks of each volume.
    pub left: Space,
    pub copied_blocks: u64,
}

/// A seal that is answered when every shard has become quiet.
#[derive(Debug)]
struct PendingSeal {
    from: NodeId,
    ballot: Ballot,
    nonce: Nonce,
    lanes: Vec<SealedLane>,
    inherited: Vec<BlockRange>,
    own_slot: Vec<BlockRange>,
}

impl Resource {
    /// Whether this member takes part in sessions. One that is being stopped does not: it is about
    /// to call itself clean.
    pub(crate) fn hears_leaders(&self) -> bool {
        let is_stopping = self.stop.is_some() && self.leave.is_none();
        self.report().is_some() && !is_stopping && !self.is_discarding()
    }

    /// The seal of this session was answered, and nothing of the session has begun here.
    pub(crate) fn may_begin(&self, nonce: Nonce) -> bool {
        self.obeys(nonce) && self.member.may_begin
    }

    pub(crate) fn obeys(&self, nonce: Nonce) -> bool {
        self.member.sealed == Some(nonce)
    }

    /// The replica obeys this session, and knows how it began.
    pub(crate) fn takes_part_in(&self, nonce: Nonce) -> bool {
        let MemberState { seal, may_begin, new_epoch, admit, .. } = &self.member;
        let is_beginning = seal.is_some() || *may_begin || new_epoch.is_some() || admit.is_some();
        self.obeys(nonce) && !is_beginning
    }

    // ---- Seal.

    pub(crate) fn on_seal(&mut self, from: NodeId, ballot: Ballot, nonce: Nonce) {
        self.ballot_counter = self.ballot_counter.max(ballot.counter);
        let superblock = self.superblock.as_mut().expect("asked of a member with data");
        if ballot < superblock.sealed.ballot {
            let sealed = superblock.sealed.ballot;
            return self.send(from, Control::SealRefused { ballot, sealed });
        }
        superblock.sealed = SealedTo { ballot, nonce };
        superblock.clean = false;
        let before = self.member.sealed.replace(nonce).filter(|&before| before != nonce);
        let leader = self.member.sealed_by.replace(from);
        if let (Some(nonce), Some(leader)) = (before, leader) {
            // The former leader may go on for long, if the new session never begins. It has to know
            // that this replica hears it no more.
            self.send(leader, Control::ReplicaFailed { nonce });
        }
        if !self.leads(nonce) && self.session.is_some() {
            self.end_session();
        }
        self.note_sealed_to(nonce);
        self.end_following();
        let lanes = usize::from(self.superblock.as_ref().map_or(0, |superblock| superblock.lanes));
        self.forget_held_admission();
        self.member.may_begin = false;
        self.member.new_epoch = None;
        self.member.admit = None;
        self.member.set_full.clear();
        self.member.join = None;
        self.member.useless = MemberSet::EMPTY;
        self.forget_size_asked();
        self.member.seal = Some(PendingSeal {
            from,
            ballot,
            nonce,
            lanes: vec![SealedLane::default(); lanes],
            inherited: Vec::new(),
            own_slot: Vec::new(),
        });
        let round = self.start_round(RoundKind::Quiesced);
        self.save_superblock(AfterSave::Groups(ToGroup::Seal { nonce, round }));
    }

    /// The groups must not obey a seal any more that was slow to store. Another seal followed it,
    /// or this node leads a later session, or is about to: a leader need not be sealed itself.
    pub(crate) fn is_overtaken(&self, nonce: Nonce, round: RoundId) -> bool {
        let session = self.session.as_ref().map(|session| session.nonce);
        let leads_another =
            session.or_else(|| self.nonce_of_lead()).is_some_and(|led| led != nonce);
        leads_another || !self.is_open(round, RoundKind::Quiesced)
    }

    pub(crate) fn on_quiesced(
        &mut self,
        lanes: Vec<(LaneIndex, SealedLane)>,
        inherited: Vec<BlockRange>,
        own_slot: Vec<BlockRange>,
    ) {
        let Some(seal) = self.member.seal.as_mut() else { return };
        for (lane, report) in lanes {
            if let Some(known) = seal.lanes.get_mut(usize::from(lane.0)) {
                *known = report;
            }
        }
        seal.inherited.extend(inherited);
        seal.own_slot.extend(own_slot);
    }

    pub(crate) fn on_all_quiesced(&mut self) {
        let rank = self.rank();
        let (Some(seal), Some(replica)) = (self.member.seal.take(), self.report()) else { return };
        self.member.may_begin = true;
        let PendingSeal { from, ballot, nonce, lanes, inherited, own_slot } = seal;
        let boot_id = self.options.boot_id;
        let inherited = bounded(inherited, &replica.space);
        let own_slot = bounded(own_slot, &replica.space);
        let sealed = Sealed { ballot, nonce, boot_id, rank, replica, lanes, inherited, own_slot };
        self.send(from, Control::Sealed(Box::new(sealed)));
    }

    fn rank(&self) -> u8 {
        let same_kernel = self
            .superblock
            .as_ref()
            .is_some_and(|superblock| superblock.kernel_boot_id == self.options.kernel_boot_id);
        let is_behind = self.superblock.as_ref().is_some_and(|superblock| {
            superblock.state == ReplicaState::Syncing && superblock.candidate.is_none()
        });
        if is_behind {
            return RANK_BEHIND;
        }
        match (self.member.admitted, same_kernel) {
            (true, _) => RANK_INTACT,
            (false, true) => RANK_RESTARTED,
            (false, false) => RANK_REBOOTED,
        }
    }

    // ---- A new session with this member in sync.

    pub(crate) fn on_new_epoch(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        value: &Config,
        inherited: Vec<BlockRange>,
    ) {
        let me = self.me();
        let Some(own) = value.volumes.first().and_then(|volume| volume.insync_member(me)) else {
            return;
        };
        let joined = own.joined;
        let kernel_boot_id = self.noted_kernel();
        let superblock = self.superblock.as_mut().expect("asked of a member with data");
        if superblock.incarnation != own.incarnation {
            return;
        }
        superblock.follow_volumes(value);
        superblock.branch = value.branch;
        superblock.joined = joined;
        superblock.candidate = None;
        superblock.state = ReplicaState::InSync;
        superblock.kernel_boot_id = kernel_boot_id;
        superblock.clean = false;
        self.close_gate();
        self.member.may_begin = false;
        self.member.new_epoch = Some((from, nonce, value.epoch));
        self.review_wish(value);
        self.settle_size(value);
        self.follow_receipts(value);
        let round = self.start_round(RoundKind::Inherited(nonce));
        let message = ToGroup::Inherit { nonce, ranges: inherited, round };
        self.save_superblock(AfterSave::Groups(message));
    }

    /// The boot of the kernel that the superblock notes: after a restart within the same boot the
    /// device still has its cache. A mute voter notes none, for its register is not written any
    /// more.
    fn noted_kernel(&self) -> KernelBootId {
        if self.voter.is_mute { KernelBootId(0) } else { self.options.kernel_boot_id }
    }

    pub(crate) fn on_inherited(&mut self, nonce: Nonce) {
        let Some((from, known, epoch)) = self.member.new_epoch.take() else { return };
        if known != nonce || !self.obeys(nonce) {
            return;
        }
        self.member.admitted = true;
        let boot_id = self.options.boot_id;
        self.send(from, Control::NewEpochDone { nonce, epoch, boot_id });
    }

    // ---- Return.

    pub(crate) fn on_slot_query(&mut self, from: NodeId, nonce: Nonce) {
        let info = |(&member, &base): (&NodeId, &SlotBase)| SlotInfo { member, base };
        let slots = self.slot_bases.iter().map(info).collect();
        self.send(from, Control::SlotInfo { nonce, slots });
    }

    pub(crate) fn on_admit(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        value: &Config,
        floors: Vec<Seq>,
    ) {
        if !self.passes_gate(from, nonce, value, &floors) {
            return;
        }
        self.review_wish(value);
        let tracked = value.members;
        if !self.make_slots(tracked) {
            return self.refuse_slot(from);
        }
        // The source tells what members missed that are away by now. Members that are in sync miss
        // nothing: so no record of a loss that is over is left (9.5).
        self.track(tracked.minus(insync(value)));
        self.tell_slots(tracked);
        let shared = self.report().and_then(|replica| shared_until(value, &replica));
        let superblock = self.superblock.as_mut().expect("asked of a member with data");
        if superblock.branch != value.branch {
            // The data that it was in sync with is of this line up to the fork, or of no line.
            superblock.branch = value.branch;
            let shared = shared.unwrap_or(Epoch(0));
            superblock.joined = superblock.joined.min(shared);
            superblock.candidate.take_if(|candidate| candidate.epoch > shared);
        }
        superblock.follow_volumes(value);
        superblock.state = ReplicaState::Syncing;
        superblock.clean = false;
        // A session makes one change of the value at a time, and admits no member during a join:
        // the join that was to follow this value is void.
        let follows = |candidate: Candidate| candidate.epoch == value.epoch.next();
        self.member.joins_no_more = superblock.candidate.is_some_and(follows);
        self.member.may_begin = false;
        self.member.admit = Some((from, nonce));
        self.member.copying = None;
        self.member.admitted_at = value.epoch;
        self.settle_size(value);
        self.follow_receipts(value);
        let round = self.start_round(RoundKind::Admitted);
        self.save_superblock(AfterSave::Groups(ToGroup::Admit { nonce, floors, round }));
    }

    /// For people alone: nothing is decided by it.
    pub(crate) fn on_copying(&mut self, nonce: Nonce, copy: CopyStatus) {
        if self.obeys(nonce) {
            self.member.copying = Some(copy);
        }
    }

    pub(crate) fn on_groups_admitted(&mut self) {
        let Some((from, nonce)) = self.member.admit.take() else { return };
        let Some(replica) = self.report().filter(|_| self.obeys(nonce)) else { return };
        let boot_id = self.options.boot_id;
        self.send(from, Control::Admitted { nonce, boot_id, replica });
    }

    pub(crate) fn on_set_full(&mut self, from: NodeId, nonce: Nonce, lost: LostMember) {
        if !self.ensure_slots(MemberSet::of(lost.member)) {
            return self.refuse_slot(from);
        }
        self.member.set_full.insert(lost.member, (from, nonce, lost));
        self.tell_slots(self.tracked());
        let set_full = |round| ToGroup::SetFull { lost, round };
        self.ask_groups(RoundKind::FullSet(lost.member), set_full);
    }

    /// All blocks are marked in memory. On disk the header says so for all of them at once.
    pub(crate) fn on_full_set(&mut self, member: NodeId) {
        let Some((from, nonce, lost)) = self.member.set_full.remove(&member) else { return };
        // The slot has all marks now, whatever a shard of the leader said of it before.
        self.member.useless.remove(member);
        // Not before: the new base would promise marks that are not there yet.
        self.slot_bases.insert(lost.member, lost.base);
        self.write_header(LostMember {
            base: SlotBase { epoch: crate::FULL, ..lost.base },
            ..lost
        });
        let boot_id = self.options.boot_id;
        let message = Control::SetFullDone { nonce, member, boot_id };
        self.save_superblock(AfterSave::Send { to: from, message });
    }

    pub(crate) fn rebase_slot(&mut self, slot: LostMember) {
        if self.superblock.is_none() {
            return;
        }
        if !self.tracking.has(slot.member) {
            // It is no member any more: no header is written, and nothing waits for one.
            return self.tell_groups(ToGroup::SlotRebased(slot));
        }
        let MemberState { useless, admitted_at, .. } = &mut self.member;
        if slot.base == crate::UNUSED {
            useless.insert(slot.member);
        }
        // The lanes of the shard that called the slot useless may lack marks.
        let is_useless = useless.has(slot.member) && slot.base.epoch <= *admitted_at;
        let base = if is_useless { crate::UNUSED } else { slot.base };
        self.slot_bases.insert(slot.member, base);
        self.write_header(LostMember { base, ..slot });
        self.save_superblock(AfterSave::Groups(ToGroup::SlotRebased(slot)));
    }

    fn write_header(&mut self, slot: LostMember) {
        let superblock = self.superblock.as_mut().expect("asked of a member with data");
        let header = superblock.slots.iter_mut().find(|header| header.member == slot.member);
        if let Some(header) = header {
            header.base_epoch = slot.base.epoch;
            header.base_incarnation = slot.base.incarnation;
            header.in_use = true;
        }
    }

    pub(crate) fn on_prepare_join(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        epoch: Epoch,
        value_id: ValueId,
    ) {
        self.member.join = Some((from, nonce, Candidate { epoch, value_id }));
        self.ask_groups(RoundKind::SlotsDurable, |round| ToGroup::MakeDurable { round });
    }

    /// A value that has this replica in sync may be chosen, and no newer one is known.
    pub(crate) fn may_be_joining(&self) -> bool {
        let (Some(superblock), Some(config)) = (&self.superblock, self.config()) else {
            return self.superblock.as_ref().is_some_and(|it| it.candidate.is_some());
        };
        let is_open = |candidate: Candidate| candidate.epoch > config.epoch;
        let is_of_line = superblock.branch == config.branch;
        is_of_line && !self.member.joins_no_more && superblock.candidate.is_some_and(is_open)
    }

    /// A leader has to seal this replica anew, as if its process had restarted.
    pub(crate) fn forget_seal(&mut self) {
        self.member.sealed = None;
        self.member.admitted = false;
    }

    pub(crate) fn on_slots_durable(&mut self) {
        let Some((from, nonce, candidate)) = self.member.join.take() else { return };
        if !self.obeys(nonce) {
            return;
        }
        let kernel_boot_id = self.noted_kernel();
        let superblock = self.superblock.as_mut().expect("asked of a member with data");
        superblock.candidate = Some(candidate);
        superblock.kernel_boot_id = kernel_boot_id;
        self.member.joins_no_more = false;
        let (epoch, boot_id) = (candidate.epoch, self.options.boot_id);
        let message = Control::JoinPrepared { nonce, epoch, boot_id };
        self.save_superblock(AfterSave::Send { to: from, message });
    }

    /// Takes the state of the replica from the chosen config: no node decides on that for itself.
    pub(crate) fn on_config_for_member(&mut self) {
        if self.member.disk_failed {
            // The config may still have it in sync, for what it was before its disk failed.
            return;
        }
        let me = self.me();
        let Some(config) = self.config() else { return };
        let (branch, epoch, value_id) = (config.branch, config.epoch, config.value_id);
        let known = config.volumes.first().and_then(|volume| volume.insync_member(me)).copied();
        let in_session = config.primary.is_some_and(|primary| self.obeys(primary.nonce));
        let Some(superblock) = self.superblock.as_mut() else { return };
        match known.filter(|known| known.incarnation == superblock.incarnation) {
            Some(known) if superblock.state != ReplicaState::InSync => {
                // The value of its candidate was chosen: it is in sync. The own slot is empty by
                // that, but only for the process that made slots and data durable.
                let is_chosen = |candidate: Candidate| {
                    candidate.epoch == known.joined
                        && (candidate.epoch != epoch || candidate.value_id == value_id)
                };
                if superblock.branch != branch || !superblock.candidate.is_some_and(is_chosen) {
                    return;
                }
                superblock.joined = known.joined;
                superblock.candidate = None;
                superblock.state = ReplicaState::InSync;
                self.member.admitted |= in_session;
                let then = match in_session {
                    true => AfterSave::Groups(ToGroup::ForgetOwnSlot),
                    false => AfterSave::Groups(ToGroup::Replica(ReplicaRole::InSync)),
                };
                self.save_superblock(then);
            }
            Some(_) => {}
            // Before the birth no replica is in sync. That says nothing of a replica with data: its
            // voters may have lost what they knew.
            None if epoch == Epoch(0) => {}
            None if superblock.state == ReplicaState::InSync => {
                superblock.state = ReplicaState::Outdated;
                self.set_role(ReplicaRole::Syncing);
                self.save_superblock(AfterSave::Nothing);
            }
            None => self.leave_unfinished_line(),
        }
    }

    /// Makes a replica blank that was being copied to from a line which this node does not follow,
    /// if it obeys no session of such a line. No answer to a client ever rested on its data, and no
    /// slot tells how it differs. Else no leader could use it, until an operator invalidates it.
    fn leave_unfinished_line(&mut self) {
        let (Some(replica), Some(config)) = (self.report(), self.config()) else { return };
        let leader = config.primary.map(|primary| primary.nonce);
        let obeys_another = self.member.sealed.is_some_and(|sealed| Some(sealed) != leader);
        let is_stray = !is_of_history(config, &replica) && !obeys_another;
        let Some(superblock) = self.superblock.as_mut() else { return };
        let is_unfinished =
            superblock.state == ReplicaState::Syncing && superblock.candidate.is_none();
        if !is_stray || !is_unfinished {
            return;
        }
        make_blank(superblock, &mut self.random);
        self.save_superblock(AfterSave::Reconnect);
    }

    // ---- The disk.

    /// A write, a flush or a metadata write of a member failed (I15).
    pub(crate) fn on_member_failed(&mut self, member: NodeId) {
        if member == self.me() && !self.member.disk_failed {
            return self.end_disk(DiskEnd::Failed);
        }
        self.begin_loss(member);
    }

    /// The disk goes out of use at once, whoever counts on it.
    pub(crate) fn end_disk(&mut self, why: DiskEnd) {
        let me = self.me();
        self.member.disk_failed = true;
        if let Some(superblock) = self.superblock.as_mut() {
            superblock.state = ReplicaState::Failed;
        }
        self.set_role(ReplicaRole::None);
        self.actions.push(ResourceAction::CloseDisk(why));
        self.forget_discard();
        self.interrupt_waiting_verify();
        let why = "this node was to lead for it, and has no disk any more: ask again";
        self.give_up_waiting_resize(CommandErrorCode::NoDisk, why);
        self.close_gate();
        self.saves.forget_replica();
        // From now on the register says where the disk was left.
        self.save_register(AfterSave::Nothing);
        self.tell_leader_of_failure();
        for peer in self.connected().without(me).iter() {
            self.send(peer, Control::OwnReplica(OwnReplica::Gone));
        }
        self.stop_without_disk();
        self.begin_loss(me);
    }

    /// Tells a new peer that the disk failed: the connection may have been opened before that.
    pub(crate) fn repeat_gone(&mut self, peer: NodeId) {
        if self.member.disk_failed {
            self.send(peer, Control::OwnReplica(OwnReplica::Gone));
        }
    }

    fn tell_leader_of_failure(&mut self) {
        let primary = self.config().and_then(|config| config.primary);
        if let Some(primary) = primary.filter(|primary| primary.node != self.me()) {
            let nonce = primary.nonce;
            self.send(primary.node, Control::ReplicaFailed { nonce });
        }
    }

    /// The node offers a disk, perhaps one that was in use before. Its replica counts as restarted:
    /// it is sealed and admitted anew, and gets what it missed.
    pub(crate) fn on_attach(
        &mut self,
        id: CommandId,
        mut superblock: Box<Superblock>,
        slots_max: u8,
    ) {
        if let Some((code, reason)) = self.obstacle_to_attach(&superblock) {
            return self.refuse(id, code, reason);
        }
        self.give_up_waiting_promotion();
        if self.promotion.is_some() {
            return self.refuse(id, CommandErrorCode::Busy, "a promotion is under way");
        }
        let (stamp, register) = (superblock.vote_stamp, &self.voter.register);
        let is_old = stamp.store == register.store && is_old_image(register, stamp.write_counter);
        if is_old || was_given_up_unseen(register, &superblock) {
            make_blank(&mut superblock, &mut self.random);
        }
        self.member.attaching = Some((id, superblock));
        self.options.slots_max = slots_max;
        let round = self.start_round(RoundKind::Attached);
        self.actions.push(ResourceAction::TakeDisk { round });
    }

    fn obstacle_to_attach(
        &self,
        superblock: &Superblock,
    ) -> Option<(CommandErrorCode, &'static str)> {
        let stamp = superblock.vote_stamp;
        let lanes = self
            .config()
            .and_then(|config| config.volumes.first())
            .map_or(limits::LANES_DEFAULT, |volume| volume.lanes);
        let is_changing =
            self.stop.is_some() || self.member.attaching.is_some() || self.saves.is_busy();
        if self.report().is_some() {
            Some((CommandErrorCode::Busy, "a disk is attached already"))
        } else if superblock.lanes != lanes {
            Some((CommandErrorCode::NoDisk, "the disk's volume is divided in another way"))
        } else if stamp.store == self.voter.register.store
            && stamp.write_counter > self.voter.register.write_counter
        {
            let reason = "the state directory is older than the disk: `down` and `up` make this \
                          node a new voter";
            Some((CommandErrorCode::NoDisk, reason))
        } else if self.is_last_needed() {
            let reason = "it was the last UpToDate replica, and requests wait for it: only `down \
                          --force` and `up` can tell what it still has";
            Some((CommandErrorCode::NoUpToDateData, reason))
        } else if self.is_needed() || is_changing {
            Some((CommandErrorCode::Busy, "the resource is changing"))
        } else {
            None
        }
    }

    /// This node leads, and its own replica is in the write set.
    fn is_needed(&self) -> bool {
        self.session.as_ref().is_some_and(|it| it.write_set.has(self.me()))
    }

    pub(crate) fn is_last_needed(&self) -> bool {
        self.is_needed() && self.in_sync() == MemberSet::of(self.me())
    }

    pub(crate) fn on_groups_attached(&mut self) {
        let Some((id, mut superblock)) = self.member.attaching.take() else { return };
        // It obeys no former session, and its device may have lost power: no leader may take it for
        // the replica that went out of use.
        superblock.sealed.nonce = Nonce(0);
        superblock.kernel_boot_id = KernelBootId(0);
        self.slot_bases = slot_bases(&superblock);
        self.superblock = Some(*superblock);
        self.member = MemberState::default();
        self.close_gate();
        self.room.begin_anew();
        self.saves.forget_stamp();
        self.on_config_for_member();
        // The groups were told of the slots of a former disk, or of none. None of the slots of this
        // disk is dropped by that.
        let slotted = self.superblock.as_ref().map_or(MemberSet::EMPTY, Superblock::slotted);
        self.track_also(slotted);
        // Peers learn of a replica by OPEN: all of them are connected anew.
        let peers: Vec<NodeId> = self.peers.keys().copied().collect();
        for peer in peers {
            self.reset(peer);
        }
        self.answer(id, Ok(()));
    }

    // ---- The end.

    pub(crate) fn on_stop(&mut self, id: CommandId) {
        self.keep_replica(CommandErrorCode::Busy, "the resource is being stopped");
        self.stop = Some(id);
        self.forget_discard();
        self.give_up_verify_wish();
        self.give_up_size_wish();
        let why = "the resource is being stopped: its size stays";
        self.give_up_waiting_resize(CommandErrorCode::Busy, why);
        if self.promotion.is_some() {
            self.fail_for_stop();
        }
        if self.session.is_some() {
            return self.start_drain();
        }
        self.start_leave();
    }

    pub(crate) fn stop_groups(&mut self) {
        // The window goes into the own slot: to a leader that seals it from here on, the replica is
        // one that restarted.
        self.member.admitted = false;
        self.ask_groups(RoundKind::Stopped, |round| ToGroup::Stop { round });
        self.stop_without_disk();
    }

    /// Without waiting for the groups, if the disk failed: it would not take what they write.
    fn stop_without_disk(&mut self) {
        if self.member.disk_failed && self.is_asked(RoundKind::Stopped) {
            self.drop_round(RoundKind::Stopped);
            self.on_stopped();
        }
    }

    pub(crate) fn on_stopped(&mut self) {
        let Some(id) = self.stop.take() else { return };
        if let Some(superblock) = self.superblock.as_mut()
            && !self.member.disk_failed
        {
            superblock.clean = true;
            superblock.sealed.nonce = Nonce(0);
            self.member.sealed = None;
        }
        self.save_superblock(AfterSave::Answer(id));
    }
}

/// These ranges, or fewer that cover them, so that they fit into a message.
pub(crate) fn bounded(ranges: Vec<BlockRange>, space: &Space) -> Vec<BlockRange> {
    if ranges.len() <= limits::REPORT_RANGES_MAX {
        return ranges;
    }
    let mut set: RangeSet = ranges.into_iter().collect();
    set.coarsen(limits::REPORT_RANGES_MAX, space);
    set.iter().collect()
}

/// Cuts ranges to these volumes. A member that restarted may have marks for a larger size that was
/// never chosen, and not know that yet.
pub(crate) fn within(ranges: &mut Vec<BlockRange>, space: &Space) {
    *ranges = ranges.iter().filter_map(|&range| space.cut(range)).collect();
}

/// The base of each bitmap slot of a replica, by the member that the slot is for.
pub(crate) fn slot_bases(superblock: &Superblock) -> BTreeMap<NodeId, SlotBase> {
    attach::slot_bases(superblock).into_iter().map(|slot| (slot.member, slot.base)).collect()
}
