//! The return of a member, as the Primary leads it: PROTOCOL.md section 8.
//!
//! The leader seals the member, and asks an in-sync member whether the slot for it has all that it
//! misses; if not, all blocks are marked. The member then marks in its own slot what only it knows,
//! gets every write, is copied to, makes its data durable, and joins.

use std::collections::BTreeMap;

use format::config::{Config, InSync};
use format::ids::{Ballot, Epoch, LaneIndex, MemberSet, NodeId, Nonce, Seq, ValueId};
use format::message::{Control, ReplicaReport, Sealed, SlotInfo};
use format::space::{Place, Space};
use stdx::time::Time;

use crate::contract::{Compare, LostMember, ResourceAction, ToGroup};
use crate::limits;
use crate::lineage::standing::{
    RANK_BEHIND, RANK_INTACT, is_good_for, is_of_history, shared_until,
};
use crate::resource::change::Change;
use crate::resource::rests::Why;
use crate::resource::{Comparing, Resource, RoundKind};

#[derive(Debug)]
pub(crate) struct Admission {
    step: Step,
    /// The ballot of the seal.
    ballot: Ballot,
    deadline: Time,
    replica: Option<ReplicaReport>,
    /// The in-sync member whose slots are used.
    source: Option<NodeId>,
    /// The bases of these slots, as that member said.
    slots: Vec<SlotInfo>,
    /// The epoch of the config when the slots were asked for: the answer knows of no later loss.
    epoch: Epoch,
    /// By lane, the seq from which on the member gets every operation.
    floors: Vec<Seq>,
    /// By shard, the blocks of each volume that are left, and the blocks that were copied.
    progress: BTreeMap<u8, (Space, u64)>,
    /// When the member is told next how far its copy is; set by the first word of a shard about it,
    /// and each time that it is told.
    tell_at: Time,
    /// All blocks of the volumes are to be copied.
    is_full: bool,
    /// The member is another process than the one that was lost.
    was_restarted: bool,
    /// The member was being copied to before, and does not know whether it joined.
    is_half_copied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Sealing,
    AskingSlots,
    MarkingFull {
        awaiting: MemberSet,
    },
    AskingFloors,
    Admitting,
    Copying,
    /// The member misses nothing. It joins when no other change is under way.
    Synced,
}

impl Admission {
    /// A config was chosen that changes nothing for an admission.
    pub(crate) fn outlive_epoch(&mut self, epoch: Epoch) {
        if self.epoch.next() == epoch {
            self.epoch = epoch;
        }
    }

    pub(crate) fn deadline(&self) -> Time {
        match self.step {
            Step::Copying | Step::Synced => Time::NEVER,
            Step::Sealing
            | Step::AskingSlots
            | Step::MarkingFull { .. }
            | Step::AskingFloors
            | Step::Admitting => self.deadline,
        }
    }

    pub(crate) fn is_copying(&self) -> bool {
        matches!(self.step, Step::Copying | Step::Synced)
    }

    /// Blocks of each volume that are left, and blocks that were copied.
    pub(crate) fn progress(&self) -> (Space, u64) {
        let none = (Space::EMPTY, 0);
        self.progress.values().fold(none, |sum, one| (sum.0.and(&one.0), sum.1 + one.1))
    }
}

impl Resource {
    pub(crate) fn advance_admissions(&mut self) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        let late: Vec<NodeId> = session
            .admissions
            .iter()
            .filter(|(_, admission)| now >= admission.deadline())
            .map(|(&node, _)| node)
            .collect();
        for member in late {
            self.give_up_admission(member);
        }
        if let Some(session) = self.session.as_mut() {
            session.rests.end_those_over(now);
        }
        self.start_admissions();
        self.check_join_deadline();
        self.start_join();
    }

    fn start_admissions(&mut self) {
        let Some(session) = self.session.as_ref().filter(|it| it.change != Some(Change::Alone))
        else {
            return;
        };
        let candidates = self.replicas().and(self.connected()).minus(self.gone());
        let leaving = self.config().map_or(MemberSet::EMPTY, |config| self.leaving(config));
        let candidates = candidates.minus(session.write_set | leaving);
        let ready: Vec<NodeId> = candidates
            .iter()
            .filter(|member| !session.admissions.contains_key(member))
            .filter(|&member| self.is_rested(member))
            .filter(|&member| self.may_return(member) && !self.is_left_out(member))
            .filter(|_| !self.is_resizing())
            .collect();
        // A member obeys every node that seals it: this one must not be superseded without knowing.
        // When its lease comes, there is another step.
        if !self.has_majority() {
            return;
        }
        for member in ready {
            self.seal_returning(member);
        }
    }

    /// The member has disks that are large enough, and data of this history or of none.
    pub(crate) fn may_return(&self, member: NodeId) -> bool {
        let (Some(replica), Some(config)) = (self.replica_of(member), self.config()) else {
            return false;
        };
        replica.space.covers(&config.space()) && is_of_history(config, &replica)
    }

    pub(crate) fn lacks(&self, member: NodeId) -> Option<Place> {
        let (held, wanted) = (self.replica_of(member)?.space, self.config()?.space());
        wanted.places().find(|&place| held.blocks_at(place) < wanted.blocks_at(place))
    }

    pub(crate) fn held_of_lacking(&self, member: NodeId) -> u64 {
        let replica = self.replica_of(member);
        let place = self.lacks(member);
        replica.zip(place).map_or(0, |(replica, place)| replica.space.bytes_at(place))
    }

    fn seal_returning(&mut self, member: NodeId) {
        let deadline = self.now + limits::ADMIT_DEADLINE;
        let ballot = self.next_ballot();
        let epoch = self.config().map_or(Epoch(0), |config| config.epoch);
        let Some(session) = self.session.as_mut() else { return };
        session.rests.end(member);
        let nonce = session.nonce;
        session.admissions.insert(
            member,
            Admission {
                step: Step::Sealing,
                ballot,
                deadline,
                replica: None,
                source: None,
                slots: Vec::new(),
                epoch,
                floors: Vec::new(),
                progress: BTreeMap::new(),
                tell_at: Time::ZERO,
                is_full: false,
                was_restarted: false,
                is_half_copied: false,
            },
        );
        self.send(member, Control::Seal { ballot, nonce });
    }

    /// Admissions of members that do not get every operation yet begin anew, later.
    pub(crate) fn give_up_admissions(&mut self) {
        let Some(session) = &self.session else { return };
        let admissions = session.admissions.iter().filter(|(_, known)| !known.is_copying());
        for member in admissions.map(|(&node, _)| node).collect::<Vec<_>>() {
            self.give_up_admission(member);
        }
    }

    fn give_up_admission(&mut self, member: NodeId) {
        let again = self.now + limits::RETRY_MAX * 5;
        if let Some(session) = self.session.as_mut() {
            session.admissions.remove(&member);
            session.rests.rest(member, again, Why::Retry);
        }
    }

    fn admission(&mut self, member: NodeId) -> Option<&mut Admission> {
        self.session.as_mut()?.admissions.get_mut(&member)
    }

    fn session_nonce(&self) -> Option<Nonce> {
        self.session.as_ref().map(|session| session.nonce)
    }

    pub(crate) fn on_sealed_for_admission(&mut self, from: NodeId, sealed: &Sealed) {
        let Some(nonce) = self.session_nonce().filter(|&nonce| nonce == sealed.nonce) else {
            return;
        };
        let source = self.slot_source(from);
        let was_admitted_here =
            self.session.as_ref().is_some_and(|session| session.admitted_here.has(from));
        let Some(admission) = self.admission(from) else { return };
        // The answer to an earlier seal does not say that the member obeys this one.
        if admission.step != Step::Sealing || admission.ballot != sealed.ballot {
            return;
        }
        admission.replica = Some(sealed.replica);
        admission.was_restarted = sealed.rank < RANK_INTACT;
        let has_candidate = sealed.replica.candidate.is_some();
        // The slots here know what was copied to it in this session, also before a branch began.
        admission.is_half_copied =
            (sealed.rank == RANK_BEHIND || has_candidate) && !was_admitted_here;
        let Some(source) = source else { return self.give_up_admission(from) };
        admission.source = Some(source);
        admission.step = Step::AskingSlots;
        self.send(source, Control::SlotQuery { nonce });
    }

    /// A member refused. It may obey a session with a higher ballot, perhaps of a line that it
    /// left: the next seal has a ballot above that. Or its metadata has no slot for one more
    /// member.
    pub(crate) fn on_refused_by_member(&mut self, from: NodeId) {
        let Some(session) = self.session.as_ref() else { return };
        if session.admissions.get(&from).is_some_and(|known| known.step == Step::Sealing) {
            return self.give_up_admission(from);
        }
        let is_refused = |member: NodeId, admission: &Admission| match admission.step {
            Step::MarkingFull { awaiting } => awaiting.has(from),
            Step::Admitting => member == from,
            Step::Sealing
            | Step::AskingSlots
            | Step::AskingFloors
            | Step::Copying
            | Step::Synced => false,
        };
        let refused = session.admissions.iter().filter(|&(&member, it)| is_refused(member, it));
        let refused: MemberSet = refused.map(|(&member, _)| member).collect();
        refused.iter().for_each(|member| self.give_up_admission(member));
        self.leave_out(refused);
        self.on_no_room_made(from);
    }

    /// An in-sync member that can be asked for its slots: this node, if it is in sync.
    fn slot_source(&self, returning: NodeId) -> Option<NodeId> {
        let losing = self
            .session
            .as_ref()
            .map_or(MemberSet::EMPTY, |session| session.losses.keys().copied().collect());
        let members = self.in_sync().and(self.connected()).minus(losing).without(returning);
        if members.has(self.me()) { Some(self.me()) } else { members.first() }
    }

    pub(crate) fn on_slot_info(&mut self, from: NodeId, slots: &[SlotInfo]) {
        let Some(session) = self.session.as_ref() else { return };
        let asking: Vec<NodeId> = session
            .admissions
            .iter()
            .filter(|(_, known)| known.step == Step::AskingSlots && known.source == Some(from))
            .map(|(&member, _)| member)
            .collect();
        for member in asking {
            self.choose_resync(member, slots);
        }
    }

    /// Copies what the slot marks, if the slot began no later than the member was in sync last.
    /// Copies everything otherwise.
    fn choose_resync(&mut self, member: NodeId, slots: &[SlotInfo]) {
        let Some(config) = self.config() else { return };
        let targets = self.in_sync();
        let all_there = targets.is_subset_of(self.connected());
        let replica = self.session.as_ref().and_then(|it| it.admissions.get(&member)?.replica);
        let Some(replica) = replica else { return };
        let shared = shared_until(config, &replica);
        let is_of_branch = replica.branch == config.branch;
        let Some(admission) = self.admission(member) else { return };
        admission.slots = slots.to_vec();
        let base = slots.iter().find(|slot| slot.member == member).map(|slot| slot.base);
        // No slot here knows what was copied to it behind the fork, on the line that was left.
        let is_known = is_of_branch || !admission.is_half_copied;
        let suits = |base| shared.is_some_and(|until| is_good_for(base, &replica, until));
        if is_known && base.is_some_and(suits) {
            return self.ask_floors(member);
        }
        if !all_there {
            return self.give_up_admission(member);
        }
        admission.step = Step::MarkingFull { awaiting: targets };
        admission.is_full = true;
        let base_epoch = if shared.is_some() { replica.joined } else { Epoch(0) };
        let incarnation = replica.incarnation;
        let Some(nonce) = self.session_nonce() else { return };
        for target in targets.iter() {
            self.send(target, Control::SetFull { nonce, member, incarnation, base_epoch });
        }
    }

    pub(crate) fn on_set_full_done(&mut self, from: NodeId, member: NodeId) {
        if self.on_room_made(from, member) {
            return;
        }
        let Some(admission) = self.admission(member) else { return };
        let Step::MarkingFull { awaiting } = &mut admission.step else { return };
        awaiting.remove(from);
        if awaiting.is_empty() {
            self.ask_floors(member);
        }
    }

    fn ask_floors(&mut self, member: NodeId) {
        let Some(admission) = self.admission(member) else { return };
        admission.step = Step::AskingFloors;
        admission.floors = vec![Seq(1); usize::from(limits::LANES_MAX)];
        self.ask_groups(RoundKind::Floors, |round| ToGroup::ReportFloors { round });
    }

    pub(crate) fn on_floors(&mut self, floors: &[(LaneIndex, Seq)]) {
        let Some(session) = self.session.as_mut() else { return };
        for admission in session.admissions.values_mut() {
            if admission.step == Step::AskingFloors {
                for &(lane, floor) in floors {
                    admission.floors[usize::from(lane.0)] = floor;
                }
            }
        }
    }

    pub(crate) fn on_all_floors(&mut self) {
        if !self.has_majority() {
            return self.give_up_admissions();
        }
        let Some(session) = self.session.as_mut() else { return };
        let nonce = session.nonce;
        let mut admitted = Vec::new();
        for (&member, admission) in &mut session.admissions {
            if admission.step == Step::AskingFloors {
                admission.step = Step::Admitting;
                admitted.push((member, admission.floors.clone()));
            }
        }
        let Some(value) = self.config().cloned() else { return };
        for (member, floors) in admitted {
            self.send(member, Control::Admit { nonce, value: value.clone(), floors });
        }
    }

    /// The member is ready: it gets every operation from now on, and is copied to.
    pub(crate) fn on_admitted(&mut self, member: NodeId) {
        let epoch = self.config().map_or(Epoch(0), |config| config.epoch);
        let absent = self.tracked().minus(self.in_sync()).without(member);
        let boot = self.peers.get(&member).and_then(|peer| peer.report).map(|peer| peer.boot_id);
        let own_boot = self.options.boot_id;
        let connected = self.connected();
        let (comparing, now) = (self.options.comparing, self.now);
        let Some(session) = self.session.as_mut() else { return };
        let losing = !session.losses.is_empty();
        let Some(admission) = session.admissions.get_mut(&member) else { return };
        let source = admission.source.filter(|&source| connected.has(source));
        let (Some(from), Step::Admitting) = (source, admission.step) else { return };
        if admission.epoch != epoch || losing {
            // Other members are absent by now than when the slots were asked for.
            return self.give_up_admission(member);
        }
        admission.step = Step::Copying;
        // The source may have no slot for some member, which its configuration calls diskless. Then
        // nobody knows what that one misses, and the slot of the returning member is useless.
        let base_of = |member| {
            let known = admission.slots.iter().find(|slot| slot.member == member);
            known.map_or(crate::UNUSED, |slot| slot.base)
        };
        let absent =
            absent.iter().map(|member| LostMember { member, base: base_of(member) }).collect();
        session.write_set.insert(member);
        session.admitted_here.insert(member);
        let boot = boot.unwrap_or(own_boot);
        session.boots.insert(member, boot);
        session.rests.note_return(member, now);
        let write_set = session.write_set;
        let compare = match comparing {
            Comparing::Always => Compare::Always,
            Comparing::AfterCrash if admission.was_restarted => Compare::Always,
            Comparing::AfterCrash | Comparing::Full if admission.is_full => Compare::WhileItPays,
            Comparing::AfterCrash | Comparing::Full => Compare::Never,
        };
        self.tell_log_room(write_set);
        let round = self.start_round(RoundKind::Synced(member));
        if let Some(session) = self.session.as_mut() {
            session.since.insert(member, round);
        }
        self.tell_groups(ToGroup::Resync { member, boot, from, absent, compare, round });
        self.spare_returning(member);
    }

    pub(crate) fn on_progress(&mut self, shard: u8, member: NodeId, progress: (Space, u64)) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        let Some(admission) = session.admissions.get_mut(&member) else { return };
        // The first word waits for that of all shards, and a short copy needs none.
        if admission.progress.is_empty() {
            admission.tell_at = now + limits::COPYING_TOLD_INTERVAL;
        }
        admission.progress.insert(shard, progress);
        if now < admission.tell_at {
            return;
        }
        admission.tell_at = now + limits::COPYING_TOLD_INTERVAL;
        let (left, copied_blocks) = admission.progress();
        let (nonce, left) = (session.nonce, Box::new(left));
        self.send(member, Control::Copying { nonce, left, copied_blocks });
    }

    pub(crate) fn on_synced(&mut self, member: NodeId) {
        if let Some(admission) = self.admission(member) {
            admission.step = Step::Synced;
        }
    }

    // ---- Join.

    fn start_join(&mut self) {
        if self.attempt.is_some() {
            return;
        }
        let Some(config) = self.config() else { return };
        let epoch = config.epoch.next();
        let value_id = ValueId(self.random.next_u64());
        let until = self.now + limits::ADMIT_DEADLINE;
        let Some(session) = self.session.as_mut() else { return };
        if session.change.is_some() || !session.losses.is_empty() || !session.reconciled {
            return;
        }
        let synced = session.admissions.iter().find(|(_, known)| known.step == Step::Synced);
        let Some((&member, _)) = synced else { return };
        let nonce = session.nonce;
        let value_id = match session.last_join {
            Some((known, at, value_id)) if (known, at) == (member, epoch) => value_id,
            Some(_) | None => value_id,
        };
        session.last_join = Some((member, epoch, value_id));
        session.change = Some(Change::PreparingJoin { member, epoch, value_id, until });
        self.send(member, Control::PrepareJoin { nonce, epoch, value_id });
    }

    fn check_join_deadline(&mut self) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        if let Some(Change::PreparingJoin { member, until, .. }) = session.change
            && now >= until
        {
            session.change = None;
            self.begin_loss(member);
        }
    }

    pub(crate) fn on_join_prepared(&mut self, from: NodeId, prepared: Epoch) {
        let Some(session) = self.session.as_mut() else { return };
        let Some(Change::PreparingJoin { member, epoch, value_id, .. }) = session.change else {
            return;
        };
        if member != from || epoch != prepared {
            return;
        }
        let replica = session.admissions.get(&member).and_then(|admission| admission.replica);
        let Some(incarnation) = replica.map(|replica| replica.incarnation) else { return };
        session.change = Some(Change::Joining { member });
        self.propose_as(value_id, |config| {
            let joined = InSync { node: member, incarnation, joined: epoch };
            for volume in &mut config.volumes {
                volume.insync.retain(|known| known.node != member);
                volume.insync.push(joined);
                volume.insync.sort_unstable_by_key(|known| known.node);
            }
        });
    }

    pub(crate) fn on_joined(&mut self, member: NodeId, value: &Config) {
        let in_sync = self.in_sync();
        if let Some(session) = self.session.as_mut() {
            session.admissions.remove(&member);
        }
        self.tell_groups(ToGroup::Joined { member, epoch: value.epoch, in_sync });
        self.note_following();
    }

    /// Notes a peer whose data belongs to another history, for the status and the log.
    pub(crate) fn note_unrelated(&mut self, node: NodeId) {
        let Some(config) = self.config() else { return };
        let Some(replica) = self.replica_of(node) else { return };
        let related = is_of_history(config, &replica);
        let Some(peer) = self.peers.get_mut(&node) else { return };
        if !related && !peer.unrelated {
            peer.unrelated = true;
            let branch = replica.branch;
            self.actions.push(ResourceAction::Unrelated { peer: node, branch });
        }
    }
}
