//! Becoming Primary: PROTOCOL.md section 7.
//!
//! Read the register, seal every in-sync member that can be reached, choose those of the best rank,
//! compute where they may differ, record what the others miss, write the new value, and tell the
//! members. Whoever dies in the middle leaves nothing that a higher ballot cannot take over.

use std::collections::BTreeMap;

use format::config::{Config, Purpose};
use format::ids::{Ballot, BlockRange, BootId, Epoch, Incarnation, MemberSet, NodeId, Nonce, Seq};
use format::message::{Control, Sealed, SlotBase};
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{
    CommandDone, CommandErrorCode, CommandId, LostMember, PromoteMode, ResourceAction, ToGroup,
    WithoutQuorum,
};
use crate::limits;
use crate::lineage::standing::{
    RANK_INTACT, Standing, has_data_of, insync, keep_newest, lacks_answers, names,
};
use crate::ranges::RangeSet;
use crate::resource::promote::data::NOT_UP_TO_DATE;
use crate::resource::propose::Attempt;
use crate::resource::session::Session;
use crate::resource::{Resource, RoundKind};

mod data;
mod ending;
mod unforced;
mod value;

const NO_DISK: &str = "this node has no disk to take as the truth";

#[derive(Debug)]
pub(crate) struct Promotion {
    /// The commands that wait for it, each with the mode that it asked for.
    commands: Vec<(CommandId, PromoteMode)>,
    pub(crate) purpose: Purpose,
    /// What is tried now. Where `Force` was asked for that is `Normal` at first, and `Force` once
    /// the former failed.
    pub(super) mode: PromoteMode,
    nonce: Nonce,
    /// The process of each member that answered the seal and is connected since. One that was
    /// disconnected may come back as another process, which lost what it had said.
    boots: BTreeMap<NodeId, BootId>,
    phase: Phase,
    began: Time,
    /// The session that was known when the promotion began. If another one of clients is known
    /// later, that node won.
    known: Option<Nonce>,
    deadline: Time,
    /// Why the last try failed.
    reason: Option<(CommandErrorCode, String)>,
}

#[derive(Debug)]
enum Phase {
    /// The attempt at the register is under way.
    Reading,
    Sealing {
        base: Config,
        awaiting: MemberSet,
        sealed: BTreeMap<NodeId, Sealed>,
        until: Time,
    },
    /// The groups record what the members outside of R miss.
    Recording {
        desired: Config,
        outdated: Vec<BlockRange>,
        lost: MemberSet,
    },
    Proposing {
        outdated: Vec<BlockRange>,
    },
    /// The value is chosen, and NEW_EPOCH was sent to the members.
    Announcing {
        awaiting: MemberSet,
        value: Config,
        until: Time,
    },
    /// The last try failed; the next one begins then.
    Resting {
        until: Time,
    },
}

/// Whether completed writes that were not flushed may be gone (C1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Kept,
    MayBeLost,
}

impl Promotion {
    fn new(
        commands: Vec<(CommandId, PromoteMode)>,
        purpose: Purpose,
        mode: PromoteMode,
        now: Time,
        deadline: Time,
        known: Option<Nonce>,
    ) -> Self {
        Self {
            commands,
            purpose,
            mode,
            nonce: Nonce(0),
            boots: BTreeMap::new(),
            phase: Phase::Resting { until: now },
            began: now,
            known,
            deadline,
            reason: None,
        }
    }

    /// The operator said to take this node's data for the truth, and that is what it does.
    pub(crate) fn is_forced(&self) -> bool {
        self.mode == PromoteMode::Force
    }

    /// The operator said to take this node's data for the truth, if it has to be.
    pub(crate) fn is_by_force(&self) -> bool {
        self.is_forced() || self.has_force_in_reserve()
    }

    pub(crate) fn into_commands(self) -> impl Iterator<Item = CommandId> {
        self.commands.into_iter().map(|(id, _)| id)
    }

    fn latest_end(&self) -> Time {
        self.began + limits::PROVEN_PROMOTE_DEADLINE
    }

    fn wake_at(&self, end: Time) -> Time {
        let phase = match &self.phase {
            Phase::Sealing { until, .. }
            | Phase::Announcing { until, .. }
            | Phase::Resting { until } => *until,
            Phase::Reading | Phase::Recording { .. } | Phase::Proposing { .. } => Time::NEVER,
        };
        match self.phase {
            // A value that may be chosen is waited for beyond the end.
            Phase::Proposing { .. } | Phase::Announcing { .. } => phase,
            Phase::Reading
            | Phase::Sealing { .. }
            | Phase::Recording { .. }
            | Phase::Resting { .. } => phase.min(end),
        }
    }
}

impl Resource {
    pub(crate) fn on_promote(&mut self, id: CommandId, mode: PromoteMode) {
        if self.stop.is_some() {
            return self.refuse(id, CommandErrorCode::Busy, "the resource is being stopped");
        }
        // A copy under way may be what is missing.
        let reason = self.obstacle_to_serving(Purpose::Clients, mode);
        if let Some(reason) = reason.filter(|_| !self.serves_clients()) {
            return self.refuse(id, CommandErrorCode::NoQuorum, reason);
        }
        self.yield_role();
        if self.session.is_some() {
            return self.promote_session(id, mode);
        }
        if let Some(promotion) = self.promotion.as_mut() {
            promotion.commands.push((id, mode));
            return;
        }
        if mode == PromoteMode::ForceAllEqual && self.report().is_none() {
            return self.refuse(id, CommandErrorCode::NoDisk, NO_DISK);
        }
        self.retry_fencing();
        let (first, patience) = match mode {
            PromoteMode::Force => (PromoteMode::Normal, limits::UNFORCED_PATIENCE),
            PromoteMode::Normal | PromoteMode::ForceAllEqual => (mode, limits::PROMOTE_DEADLINE),
        };
        let (now, deadline) = (self.now, self.now + patience);
        let known = self.config().and_then(|config| config.primary).map(|known| known.nonce);
        let commands = vec![(id, mode)];
        let purpose = Purpose::Clients;
        self.promotion = Some(Promotion::new(commands, purpose, first, now, deadline, known));
    }

    /// This node is Primary already. If it waits for a quorum, the operator may want it to go on
    /// alone.
    fn promote_session(&mut self, id: CommandId, mode: PromoteMode) {
        if mode == PromoteMode::Force {
            return self.force_session(id);
        }
        self.retry_fencing();
        self.go_on_as_primary(id);
    }

    /// Begins a session without clients, for a resync. No command waits for it.
    pub(crate) fn promote_for_resync(&mut self) {
        let (now, deadline) = (self.now, self.now + limits::CARETAKER_DEADLINE);
        let (purpose, mode) = (Purpose::Resync, PromoteMode::Normal);
        let known = self.config().and_then(|config| config.primary).map(|known| known.nonce);
        let commands = Vec::new();
        self.promotion = Some(Promotion::new(commands, purpose, mode, now, deadline, known));
    }

    /// When the promotion is given up. To prove that peers are out takes longer than to ask them.
    fn end_of(&self, promotion: &Promotion) -> Time {
        if promotion.has_force_in_reserve() {
            return promotion.deadline;
        }
        promotion.deadline.max(self.fencing_until().min(promotion.latest_end()))
    }

    /// The promotion has, or no longer needs, the proof that it waited for: it is tried once more,
    /// however long that took.
    pub(crate) fn prolong_promotion(&mut self) {
        let until = self.now + limits::PROMOTE_DEADLINE;
        let is_prolonged =
            |it: &&mut Promotion| it.purpose == Purpose::Clients && !it.has_force_in_reserve();
        if let Some(promotion) = self.promotion.as_mut().filter(is_prolonged) {
            promotion.deadline = promotion.deadline.max(until.min(promotion.latest_end()));
        }
    }

    pub(crate) fn promotion_wakes_at(&self) -> Time {
        let wakes_at = |promotion: &Promotion| promotion.wake_at(self.end_of(promotion));
        self.promotion.as_ref().map_or(Time::NEVER, wakes_at)
    }

    pub(crate) fn advance_promotion(&mut self) {
        let Some(promotion) = &self.promotion else { return };
        let now = self.now;
        let is_over = now >= self.end_of(promotion);
        if is_over && !self.is_promotion_in_doubt() {
            if self.turns_to_force() {
                return self.advance_promotion();
            }
            return self.give_up_promotion();
        }
        match &promotion.phase {
            Phase::Resting { until } if now >= *until => {
                let (purpose, mode) = (promotion.purpose, promotion.mode);
                match self.obstacle_to_serving(purpose, mode) {
                    // A member that is missing may be about to connect.
                    Some(reason) if promotion.has_force_in_reserve() => {
                        return self.rest_promotion(CommandErrorCode::NoQuorum, reason);
                    }
                    Some(reason) => {
                        return self.fail_promotion(CommandErrorCode::NoQuorum, &reason);
                    }
                    None => {}
                }
                let nonce = Nonce(self.random.next_u64());
                let promotion = self.promotion.as_mut().expect("checked above");
                promotion.nonce = nonce;
                promotion.phase = Phase::Reading;
                self.start_attempt(nonce, None);
            }
            Phase::Sealing { awaiting, until, .. } if awaiting.is_empty() || now >= *until => {
                self.choose_members();
            }
            Phase::Announcing { awaiting, until, .. } => {
                let there: MemberSet = promotion.boots.keys().copied().collect();
                if there.is_empty() || now >= *until {
                    let reason = "a member does not answer to the new session".to_owned();
                    self.rest_promotion(CommandErrorCode::Busy, reason);
                } else if awaiting.and(there).is_empty() {
                    self.begin_session();
                }
            }
            Phase::Resting { .. }
            | Phase::Reading
            | Phase::Sealing { .. }
            | Phase::Recording { .. }
            | Phase::Proposing { .. } => {}
        }
    }

    /// Why a Primary would answer no client. A forced promotion is not refused for that.
    fn obstacle_to_serving(&self, purpose: Purpose, mode: PromoteMode) -> Option<String> {
        let is_asked = purpose == Purpose::Clients && mode == PromoteMode::Normal;
        let shortage = self.shortage().filter(|_| is_asked)?;
        Some(format!("no quorum: {shortage}"))
    }

    /// No quorum answers, and this node may decide without (9.4).
    pub(crate) fn promote_alone(&mut self) {
        let is_alone = self.attempt.as_ref().is_some_and(Attempt::is_alone);
        let Some(promotion) = self.promotion.as_ref().filter(|_| !is_alone) else { return };
        let goes_on = self.options.demands.without_quorum == WithoutQuorum::GoOn;
        if promotion.has_force_in_reserve() && !goes_on {
            self.turns_to_force();
            return;
        }
        let (nonce, mode) = (promotion.nonce, promotion.mode);
        if mode == PromoteMode::Normal && self.config().is_some_and(|config| self.is_led(config)) {
            return self.fail_promotion(CommandErrorCode::PeerPrimary, "another node is Primary");
        }
        match promotion.phase {
            // Before it may hear of a value that has it in sync, of which nobody gave proof.
            Phase::Reading if mode == PromoteMode::Normal && self.is_older_than_known() => {
                self.fail_promotion(CommandErrorCode::NoUpToDateData, NOT_UP_TO_DATE);
            }
            Phase::Reading => match self.lack_of_data().filter(|_| mode == PromoteMode::Normal) {
                // Whoever has it may come.
                Some(lack) => self.rest_promotion(CommandErrorCode::NoUpToDateData, lack),
                None => self.start_attempt_alone(nonce, None),
            },
            Phase::Proposing { .. } => {
                let reason = "the voters were lost while they decided".to_owned();
                self.rest_promotion(CommandErrorCode::NoQuorum, reason);
            }
            Phase::Sealing { .. }
            | Phase::Recording { .. }
            | Phase::Announcing { .. }
            | Phase::Resting { .. } => {}
        }
    }

    /// The value may be chosen already: a session would be left without its leader if the promotion
    /// were given up now.
    fn is_promotion_in_doubt(&self) -> bool {
        let phase = self.promotion.as_ref().map(|promotion| &promotion.phase);
        matches!(phase, Some(Phase::Proposing { .. } | Phase::Announcing { .. }))
    }

    /// The session of a promotion whose value may be chosen.
    pub(crate) fn nonce_in_doubt(&self) -> Option<Nonce> {
        let promotion = self.promotion.as_ref().filter(|_| self.is_promotion_in_doubt())?;
        Some(promotion.nonce)
    }

    /// Until when this node may still become Primary by this promotion.
    pub(crate) fn end_of_candidacy(&self) -> Option<Time> {
        let promotion = self.promotion.as_ref().filter(|_| self.is_candidate())?;
        Some(self.end_of(promotion))
    }

    pub(crate) fn awaits_promotion(&self) -> bool {
        self.end_of_candidacy().is_some_and(|end| self.now < end)
    }

    /// The replica of this node obeys another session now, which is the later one. Were it led in
    /// this session as well, it would hear neither.
    pub(crate) fn note_sealed_to(&mut self, nonce: Nonce) {
        if self.promotion.as_ref().is_none_or(|promotion| promotion.nonce != nonce) {
            self.leave_it_to_another();
        }
        let Some(promotion) = self.promotion.as_ref() else { return };
        let waits = matches!(promotion.phase, Phase::Resting { .. } | Phase::Reading);
        if !waits && promotion.nonce != nonce {
            let reason = "another node is about to lead".to_owned();
            self.rest_promotion(CommandErrorCode::Busy, reason);
        }
    }

    /// The session of a promotion that has the groups lead already.
    pub(crate) fn nonce_of_lead(&self) -> Option<Nonce> {
        let promotion = self.promotion.as_ref()?;
        match promotion.phase {
            Phase::Recording { .. } | Phase::Proposing { .. } | Phase::Announcing { .. } => {
                Some(promotion.nonce)
            }
            Phase::Resting { .. } | Phase::Reading | Phase::Sealing { .. } => None,
        }
    }

    pub(crate) fn on_prepared_for_promotion(&mut self, base: Config) {
        let Some(promotion) = self.promotion.as_ref() else { return self.attempt = None };
        let (mode, nonce) = (promotion.mode, promotion.nonce);
        let is_alone = self.attempt.as_ref().is_some_and(Attempt::is_alone);
        let is_unborn = base.epoch == Epoch(0);
        if mode == PromoteMode::Force && is_unborn && !is_alone && self.lost_vote().is_some() {
            // The quorum consists of new vote stores that know of nothing: the disk knows more.
            return self.start_attempt_alone(nonce, None);
        }
        let members = match mode {
            PromoteMode::Normal => insync(&base),
            PromoteMode::Force => MemberSet::of(self.me()),
            PromoteMode::ForceAllEqual => self.diskful(),
        };
        if mode == PromoteMode::ForceAllEqual && base.epoch != Epoch(0) {
            let reason = "the volume has a history: only replicas without one can be called equal";
            self.fail_promotion(CommandErrorCode::Busy, reason);
            return;
        }
        let has_data = self.diskful().iter().any(|node| self.has_data(node));
        if base.epoch == Epoch(0) && mode != PromoteMode::Force && has_data {
            let reason = "replicas in reach have data, and the votes of a majority know of none: \
                          their stores are lost";
            return self.fail_promotion(CommandErrorCode::VotesLost, reason);
        }
        if insync(&base).is_empty() && mode == PromoteMode::Normal {
            let reason = "no replica is UpToDate yet: `primary --force` makes this one the first";
            self.fail_promotion(CommandErrorCode::NoUpToDateData, reason);
            return;
        }
        let is_older = self.replica_state() != Some(ReplicaState::InSync);
        if is_alone && is_older && mode == PromoteMode::Normal && base.epoch != Epoch(0) {
            return self.fail_promotion(CommandErrorCode::NoUpToDateData, NOT_UP_TO_DATE);
        }
        let members = if is_alone { members.and(MemberSet::of(self.me())) } else { members };
        let has_replica = |&node: &NodeId| self.replica_of(node).is_some();
        let reachable: MemberSet =
            members.and(self.connected()).iter().filter(has_replica).collect();
        if reachable.is_empty() {
            let reason = format!("no UpToDate replica is reachable: {} needed", names(members));
            return self.rest_promotion(CommandErrorCode::NoUpToDateData, reason);
        }
        if let Some(reason) =
            lacks_answers(&base, reachable).filter(|_| mode == PromoteMode::Normal)
        {
            return self.rest_promotion(CommandErrorCode::NoUpToDateData, reason);
        }
        let until = self.now + limits::SEAL_DEADLINE;
        let (ballot, nonce) = self.promotion_ballot();
        let promotion = self.promotion.as_mut().expect("checked above");
        promotion.phase =
            Phase::Sealing { base, awaiting: reachable, sealed: BTreeMap::new(), until };
        for node in reachable.iter() {
            self.send(node, Control::Seal { ballot, nonce });
        }
    }

    /// Has the groups stand down that may have begun to lead. No client was served, so nobody waits
    /// for their answer.
    pub(crate) fn give_up_lead(&mut self) {
        let round = self.unheard_round();
        self.tell_groups(ToGroup::StandDown { round });
    }

    fn promotion_ballot(&self) -> (Ballot, Nonce) {
        let attempt = self.attempt.as_ref().expect("a promotion holds its ballot");
        let promotion = self.promotion.as_ref().expect("asked by a promotion");
        (attempt.ballot(), promotion.nonce)
    }

    pub(crate) fn on_sealed_for_promotion(&mut self, from: NodeId, sealed: Sealed) {
        let Some(promotion) = self.promotion.as_mut() else { return };
        let nonce = promotion.nonce;
        if let Phase::Sealing { awaiting, sealed: known, .. } = &mut promotion.phase
            && sealed.nonce == nonce
            && awaiting.has(from)
        {
            awaiting.remove(from);
            known.insert(from, sealed);
        }
    }

    pub(crate) fn on_seal_refused(&mut self, from: NodeId) {
        let reason = format!("node {from} obeys a newer session");
        self.rest_promotion(CommandErrorCode::Busy, reason);
    }

    /// A member that had answered the seal obeys another session now, and does not hear what it is
    /// asked to record for this one.
    pub(crate) fn on_replica_failed_during_promotion(&mut self, from: NodeId, nonce: Nonce) {
        let Some(promotion) = self.promotion.as_mut().filter(|it| it.nonce == nonce) else {
            return;
        };
        match promotion.phase {
            Phase::Sealing { .. } | Phase::Recording { .. } => {
                let reason = format!("node {from} obeys another session");
                self.rest_promotion(CommandErrorCode::Busy, reason);
            }
            Phase::Proposing { .. } | Phase::Announcing { .. } => {
                promotion.boots.remove(&from);
            }
            Phase::Reading | Phase::Resting { .. } => {}
        }
    }

    pub(crate) fn on_disconnected_during_promotion(&mut self, node: NodeId) {
        let Some(promotion) = self.promotion.as_mut() else { return };
        match &mut promotion.phase {
            // A member that answered and went away may come back as another process.
            Phase::Sealing { awaiting, sealed, .. } => {
                awaiting.remove(node);
                sealed.remove(&node);
            }
            Phase::Recording { desired, .. } if insync(desired).has(node) => {
                let reason = format!("node {node} was lost while it was being recorded");
                self.rest_promotion(CommandErrorCode::Busy, reason);
            }
            Phase::Proposing { .. } | Phase::Announcing { .. } => {
                promotion.boots.remove(&node);
            }
            Phase::Reading | Phase::Recording { .. } | Phase::Resting { .. } => {}
        }
    }

    /// Chooses the members of the session (R, PROTOCOL.md 7.3), the blocks that may differ between
    /// them (U, 7.4), and the members that are lost.
    fn choose_members(&mut self) {
        let promotion = self.promotion.as_mut().expect("called in its phase");
        let mode = promotion.mode;
        let resting = Phase::Resting { until: self.now };
        let phase = std::mem::replace(&mut promotion.phase, resting);
        let Phase::Sealing { base, mut sealed, .. } = phase else {
            unreachable!("called in its phase")
        };
        if mode == PromoteMode::Normal {
            sealed.retain(|&node, report| has_data_of(&base, node, report));
        }
        // After a clean stop all members hold the same durably, whatever became of their memory.
        let standing = |node, report: &Sealed| Standing::of(&base, node, report.rank);
        let best = sealed.iter().map(|(&node, report)| standing(node, report)).max();
        if !base.clean {
            sealed.retain(|&node, report| Some(standing(node, report)) == best);
        }
        if best.is_some_and(|best| !best.is_complete()) {
            keep_newest(&mut sealed);
        }
        if sealed.is_empty() {
            let reason = format!("no UpToDate replica answered: {} needed", names(insync(&base)));
            return self.rest_promotion(CommandErrorCode::NoUpToDateData, reason);
        }
        let answered: MemberSet = sealed.keys().copied().collect();
        if let Some(reason) = lacks_answers(&base, answered).filter(|_| mode == PromoteMode::Normal)
        {
            return self.rest_promotion(CommandErrorCode::NoUpToDateData, reason);
        }
        // Lost members may miss these blocks also after a clean end, which says what its members
        // are equal in, not what others miss (M4). Members of R cannot differ after a clean end,
        // nor can a single one (7.4, 7.5).
        let space = base.space();
        let mut missed = difference(&sealed);
        crate::resource::member::within(&mut missed, &space);
        let missed = crate::resource::member::bounded(missed, &space);
        let are_equal = base.clean || sealed.len() == 1;
        let outdated = if are_equal { Vec::new() } else { missed.clone() };
        let lossy = !base.clean && best.is_some_and(Standing::may_lack_writes);
        let memory = if lossy { Memory::MayBeLost } else { Memory::Kept };
        let chosen: MemberSet = sealed.keys().copied().collect();
        let boots: BTreeMap<NodeId, BootId> =
            sealed.iter().map(|(&node, report)| (node, report.boot_id)).collect();
        let processes = boots.iter().map(|(&node, &boot)| (node, boot)).collect();
        self.promotion.as_mut().expect("called in its phase").boots = boots;
        let lost = self.lost_by_promotion(&sealed, &base);
        let desired = self.promoted_config(&base, &sealed, mode, memory);
        let nonce = self.promotion.as_ref().expect("called in its phase").nonce;
        let lost_set = lost.iter().map(|lost| lost.member).collect();
        let rounds =
            |lost: LostMember| (lost, self.start_round(RoundKind::LossRecorded(lost.member)));
        let lost = lost.into_iter().map(rounds).collect();
        let to_record = outdated.clone();
        self.track_also(desired.members);
        self.begin_followers(desired.followers);
        self.tell_log_room(chosen);
        // Before the groups lead: they answer nothing until this value is chosen.
        self.tell_by_receipt(desired.by_receipt);
        self.tell_groups(ToGroup::Lead {
            nonce,
            write_set: chosen,
            boots: processes,
            outdated,
            missed,
            lost,
        });
        self.record(desired, to_record, lost_set);
    }

    /// Every replica outside of R. The slots for one that was in sync begin anew. The slots for one
    /// that was being copied to stay, and get what it may have missed at the end of its session.
    fn lost_by_promotion(
        &self,
        sealed: &BTreeMap<NodeId, Sealed>,
        base: &Config,
    ) -> Vec<LostMember> {
        if base.epoch == Epoch(0) {
            return Vec::new();
        }
        let old = base.volumes.first().map_or(&[][..], |volume| &volume.insync);
        let keep = SlotBase { epoch: crate::KEEP, incarnation: Incarnation(0) };
        // A replica that is taken for the truth by force lacks data of others, and its slots do not
        // know which.
        let knows_all = !self.goes_on_from_lost_vote()
            && sealed.iter().any(|(&node, report)| has_data_of(base, node, report));
        let base_of = |member| {
            let known = old.iter().find(|known| known.node == member);
            let known = known.map_or(keep, |known| SlotBase {
                epoch: known.joined,
                incarnation: known.incarnation,
            });
            if knows_all { known } else { SlotBase { epoch: crate::FULL, ..known } }
        };
        let chosen = sealed.keys().copied().collect();
        let outside = base.members.minus(chosen);
        outside.iter().map(|member| LostMember { member, base: base_of(member) }).collect()
    }

    /// Waits until the groups have recorded what lost members miss. Then the value is proposed.
    fn record(&mut self, desired: Config, outdated: Vec<BlockRange>, members: MemberSet) {
        let recording = Phase::Recording { desired, outdated, lost: members };
        self.promotion.as_mut().expect("called in its phase").phase = recording;
        if members.is_empty() {
            self.propose_promotion();
        }
    }

    pub(crate) fn on_loss_recorded_for_promotion(&mut self, member: NodeId) {
        let Some(promotion) = self.promotion.as_mut() else { return };
        if let Phase::Recording { lost, .. } = &mut promotion.phase {
            lost.remove(member);
            if lost.is_empty() {
                self.propose_promotion();
            }
        }
    }

    fn propose_promotion(&mut self) {
        let promotion = self.promotion.as_mut().expect("called in its phase");
        let resting = Phase::Resting { until: self.now };
        let phase = std::mem::replace(&mut promotion.phase, resting);
        let Phase::Recording { desired, outdated, .. } = phase else {
            unreachable!("called in its phase")
        };
        promotion.phase = Phase::Proposing { outdated };
        self.accept(desired);
    }

    pub(crate) fn on_promotion_chosen(&mut self, ballot: Ballot, value: &Config) {
        let promotion = self.promotion.as_mut().expect("asked by a promotion");
        let resting = Phase::Resting { until: self.now };
        let phase = std::mem::replace(&mut promotion.phase, resting);
        let Phase::Proposing { outdated: inherited } = phase else {
            unreachable!("a value is proposed in its phase")
        };
        let nonce = promotion.nonce;
        let members = insync(value);
        let there: Vec<NodeId> = promotion.boots.keys().copied().collect();
        let until = self.now + limits::SEAL_DEADLINE;
        promotion.phase = Phase::Announcing { awaiting: members, value: value.clone(), until };
        for node in there {
            let (value, inherited) = (value.clone(), inherited.clone());
            self.send(node, Control::NewEpoch { ballot, nonce, value, inherited });
        }
    }

    pub(crate) fn on_new_epoch_done(&mut self, from: NodeId, nonce: Nonce) {
        let Some(promotion) = self.promotion.as_mut() else { return };
        let ours = promotion.nonce == nonce;
        if let Phase::Announcing { awaiting, .. } = &mut promotion.phase
            && ours
        {
            awaiting.remove(from);
        }
    }

    /// All members know the session, or are gone: the session begins.
    fn begin_session(&mut self) {
        let Some(promotion) = self.promotion.take() else { return };
        let Phase::Announcing { value, .. } = promotion.phase else {
            unreachable!("a session begins after its announcement")
        };
        self.settle_size(&value);
        let Promotion { nonce, purpose, boots, commands, mode, .. } = promotion;
        self.session = Some(Session::new(nonce, purpose, insync(&value), boots, self.now));
        // A lease that was granted to a former session is none for this one.
        for peer in self.peers.values_mut() {
            peer.lease_asked_at = None;
        }
        self.start_serving(&value);
        for (id, asked) in commands {
            let is_unforced = asked == PromoteMode::Force && mode == PromoteMode::Normal;
            let how = if is_unforced { CommandDone::WithoutForce } else { CommandDone::AsAsked };
            self.actions.push(ResourceAction::Answer { id, result: Ok(how) });
        }
    }
}

/// U: the blocks that may differ between the sealed members. They are those of the windows above
/// the highest stable seq of their session, those inherited and not made equal yet, and those in
/// the own slots of restarted members.
fn difference(sealed: &BTreeMap<NodeId, Sealed>) -> Vec<BlockRange> {
    let mut stable: BTreeMap<(usize, u64), Seq> = BTreeMap::new();
    for report in sealed.values() {
        for (lane, known) in report.lanes.iter().enumerate() {
            let highest = stable.entry((lane, known.nonce.0)).or_default();
            *highest = (*highest).max(known.stable);
        }
    }
    let mut ranges = RangeSet::default();
    for report in sealed.values() {
        for (lane, known) in report.lanes.iter().enumerate() {
            let above = stable.get(&(lane, known.nonce.0)).copied().unwrap_or_default();
            let open = known.window.iter().filter(|entry| entry.seq > above);
            ranges.extend(open.map(|entry| entry.range));
        }
        ranges.extend(report.inherited.iter().copied());
        if report.rank < RANK_INTACT {
            ranges.extend(report.own_slot.iter().copied());
        }
    }
    ranges.iter().collect()
}
