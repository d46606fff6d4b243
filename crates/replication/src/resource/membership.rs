//! Members that come and go while the resource is in use (PROTOCOL.md 9.1).
//!
//! The value names the members that bitmap slots track. One is added once every in-sync replica
//! has a slot for it that is good for nothing, and is copied to like any that returns. One that the
//! configuration does not name any more is lost first, then it leaves the value.

use format::config::Config;
use format::ids::{MemberSet, NodeId};
use format::message::{Control, SlotBase};
use format::metadata::Slot;
use stdx::time::Time;

use crate::contract::{
    CommandErrorCode, CommandId, MemberOptions, Parting, ResourceAction, ToGroup,
};
use crate::limits;
use crate::lineage::standing::insync;
use crate::resource::change::Change;
use crate::resource::voters::voters_of;
use crate::resource::{AfterSave, Resource};

/// A member for which the in-sync replicas make room.
#[derive(Debug)]
pub(crate) struct Adding {
    member: NodeId,
    /// They have a slot for it.
    ready: MemberSet,
    deadline: Time,
}

impl Adding {
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }
}

impl Resource {
    /// The members that are marked for what they miss, whatever this node's own file says of them:
    /// it may be an older one, and who leads next goes by the marks. Where there is no slot, a mark
    /// is nothing.
    pub(crate) fn tracked(&self) -> MemberSet {
        self.config().map_or_else(|| self.diskful(), |config| config.members)
    }

    /// Those of a value that slots are made for, and that may come into use. Older values name
    /// diskless members, too.
    pub(crate) fn replicas_by(&self, config: &Config) -> MemberSet {
        config.members.minus(self.diskless())
    }

    pub(crate) fn replicas(&self) -> MemberSet {
        self.tracked().minus(self.diskless())
    }

    // ---- As the configurations say.

    /// This node's configuration names other members now. Those that it dropped stay connected
    /// until no value needs them.
    pub(crate) fn on_members(&mut self, id: CommandId, members: Vec<MemberOptions>) {
        if let Some((code, reason)) = self.obstacle_to_members(&members) {
            return self.refuse(id, code, reason);
        }
        for member in &members {
            if member.node != self.me() {
                self.peers.entry(member.node).or_default();
            }
        }
        self.options.members = members;
        self.leave_nobody_out();
        self.tell_tracked();
        self.count_receipts();
        self.note_following();
        self.review_congestion();
        let report = self.own_report();
        for peer in self.connected().without(self.me()).iter() {
            self.send(peer, report.clone());
        }
        self.answer(id, Ok(()));
    }

    pub(crate) fn note_named(&mut self, from: NodeId, members: MemberSet) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.members = Some(members);
        }
    }

    /// Whom the value names, and no configuration in reach but its own: files that were not changed
    /// yet keep a member, so nobody is removed and added in turns.
    pub(crate) fn gone(&self) -> MemberSet {
        let Some(config) = self.config() else { return MemberSet::EMPTY };
        let known = config.members | voters_of(config) | insync(config);
        let mut named = self.named();
        let mut gone = known.minus(named);
        if gone.is_empty() {
            return gone;
        }
        named = named.without(self.me());
        for peer in named.iter().filter_map(|node| self.peers.get(&node)) {
            if peer.report.is_some() {
                // One that has not said so yet may name them all.
                gone = gone.minus(peer.members.unwrap_or(gone));
            }
        }
        gone
    }

    fn obstacle_to_members(
        &self,
        members: &[MemberOptions],
    ) -> Option<(CommandErrorCode, &'static str)> {
        let me = self.me();
        let own = |members: &[MemberOptions]| {
            members.iter().find(|member| member.node == me).map(|member| member.diskful)
        };
        let named: MemberSet = members.iter().map(|member| member.node).collect();
        let in_sync = self.config().map_or(MemberSet::EMPTY, insync);
        let dropped = in_sync.minus(named);
        let left = in_sync.and(self.connected()).minus(dropped);
        if own(members) != own(&self.options.members) {
            Some((CommandErrorCode::Busy, "this node's own part is another one"))
        } else if !dropped.is_empty() && left.is_empty() {
            let reason = "no UpToDate replica in reach would be left";
            Some((CommandErrorCode::NoUpToDateData, reason))
        } else if !self.has_slots_for(members) {
            Some((CommandErrorCode::NoSlot, "the metadata here has no room for one more replica"))
        } else {
            None
        }
    }

    /// Whether each replica that a new configuration adds has a slot, or can get one.
    fn has_slots_for(&self, members: &[MemberOptions]) -> bool {
        let Some(superblock) = &self.superblock else { return true };
        let diskful = |members: &[MemberOptions]| -> MemberSet {
            members.iter().filter(|member| member.diskful).map(|member| member.node).collect()
        };
        let known = superblock.slotted();
        let new = diskful(members).minus(diskful(&self.options.members)).minus(known);
        new.is_empty() || known.len() + new.len() <= u32::from(self.options.slots_max)
    }

    // ---- As the leader.

    /// Members that are to go, and those for which room is to be made.
    pub(crate) fn advance_members(&mut self) {
        self.forget_the_gone();
        let Some(session) = self.session.as_ref() else { return };
        for member in session.write_set.and(self.gone()).iter() {
            self.begin_loss(member);
        }
        self.lose_leavers();
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        if let Some(late) = session.adding.take_if(|adding| now >= adding.deadline) {
            self.let_late_rest(late.member);
        }
        if self.session.as_ref().is_some_and(|session| session.adding.is_none())
            && let Some(member) = self.newcomer()
        {
            self.start_adding(member);
        }
    }

    /// A replica that the configuration names, and the value does not.
    fn newcomer(&self) -> Option<NodeId> {
        let missing = self.diskful().and(self.connected()).minus(self.tracked());
        missing.iter().find(|&member| self.may_return(member) && !self.is_left_out(member))
    }

    pub(crate) fn start_adding(&mut self, member: NodeId) {
        let deadline = self.now + limits::ADMIT_DEADLINE;
        let in_sync = self.in_sync();
        let Some(session) = self.session.as_mut() else { return };
        session.adding = Some(Adding { member, ready: MemberSet::EMPTY, deadline });
        let nonce = session.nonce;
        let SlotBase { epoch: base_epoch, incarnation } = crate::UNUSED;
        for target in in_sync.iter() {
            self.send(target, Control::SetFull { nonce, member, incarnation, base_epoch });
        }
    }

    /// True if the answer was about room for a newcomer.
    pub(crate) fn on_room_made(&mut self, from: NodeId, member: NodeId) -> bool {
        let adding = self.session.as_mut().and_then(|session| session.adding.as_mut());
        let Some(adding) = adding.filter(|adding| adding.member == member) else { return false };
        adding.ready.insert(from);
        true
    }

    /// A connection is new: what was asked over the former one is lost, perhaps.
    pub(crate) fn ask_for_room_again(&mut self, node: NodeId) {
        let is_asked = self.in_sync().has(node);
        let Some(session) = self.session.as_mut().filter(|_| is_asked) else { return };
        session.adding.take_if(|adding| !adding.ready.has(node));
    }

    /// A replica has no slot for it.
    pub(crate) fn on_no_room_made(&mut self, from: NodeId) {
        let Some(session) = self.session.as_mut() else { return };
        let refused = session.adding.take_if(|adding| !adding.ready.has(from));
        self.leave_out(refused.into_iter().map(|adding| adding.member).collect());
    }

    /// What the value should say of members and voters next, and of clients that wait for
    /// `reopen`, if that can be chosen now.
    pub(crate) fn next_members(&self, config: &Config) -> Option<Config> {
        let voters = self.next_voters(config);
        let members = self.next_tracked(config);
        let by_receipt = self.next_by_receipt(config);
        let followers = self.next_followers(config);
        let awaits_reopen = self.next_awaits_reopen(config);
        let losses = self.next_losses(config);
        let is_same = members == config.members
            && by_receipt == config.by_receipt
            && followers == config.followers
            && awaits_reopen == config.awaits_reopen
            && losses == config.losses;
        if voters.is_none() && is_same {
            return None;
        }
        let mut next = voters.unwrap_or_else(|| config.clone());
        next.members = members;
        next.by_receipt = by_receipt;
        next.followers = followers;
        next.awaits_reopen = awaits_reopen;
        next.losses = losses;
        self.reaches_quorum_of(config).then_some(next)
    }

    fn next_tracked(&self, config: &Config) -> MemberSet {
        let in_sync = insync(config);
        let session = self.session.as_ref();
        let in_use = session.map_or(in_sync, |session| in_sync | session.write_set);
        let gone = self.gone() | self.diskless();
        let kept = config.members.minus(gone.minus(in_use));
        let added = session.and_then(|session| session.adding.as_ref());
        let added = added.filter(|adding| in_sync.is_subset_of(adding.ready));
        added.map_or(kept, |adding| kept.with(adding.member))
    }

    /// Something about members or voters is to be done, and can be.
    pub(crate) fn has_work_with_members(&self, config: &Config) -> bool {
        let is_going = !self.gone().and(insync(config)).is_empty();
        is_going
            || self.has_leavers(config)
            || self.newcomer().is_some()
            || self.next_members(config).is_some()
    }

    /// Proposes the next step of a change of voters or members; true if there is one.
    pub(crate) fn propose_members(&mut self) -> bool {
        let Some(config) = self.config() else { return false };
        let Some(next) = self.next_members(config) else { return false };
        let before = config.members;
        let Some(session) = self.session.as_mut() else { return false };
        session.change = Some(Change::Members { before });
        self.propose(|config| {
            config.voters = next.voters;
            config.voters_old = next.voters_old;
            config.tenure = next.tenure;
            config.members = next.members;
            config.by_receipt = next.by_receipt;
            config.followers = next.followers;
            config.awaits_reopen = next.awaits_reopen;
            config.losses = next.losses;
        });
        true
    }

    pub(crate) fn on_members_chosen(&mut self, before: MemberSet, value: &Config) {
        self.count_receipts();
        if !before.is_subset_of(value.members) {
            // A slot for one that is gone is not needed any more.
            self.leave_nobody_out();
        }
        let Some(session) = self.session.as_mut() else { return };
        session.adding.take_if(|adding| value.members.has(adding.member));
        if before == value.members {
            // Who is absent did not change: what was asked of the slots holds.
            for admission in session.admissions.values_mut() {
                admission.outlive_epoch(value.epoch);
            }
        }
    }

    /// Peers that neither the configuration nor the value names any more.
    fn forget_the_gone(&mut self) {
        let Some(config) = self.config() else { return };
        let needed = voters_of(config) | config.members | insync(config) | self.named();
        let peers: MemberSet = self.peers.keys().copied().collect();
        for peer in peers.minus(needed).iter() {
            self.on_disconnected(peer, Parting::Closed);
            self.peers.remove(&peer);
            self.actions.push(ResourceAction::Forget { peer });
        }
    }

    // ---- As a member: the slots.

    /// Makes room for replicas among `members`; false if there is none.
    pub(crate) fn make_slots(&mut self, members: MemberSet) -> bool {
        self.ensure_slots(members.minus(self.diskless()))
    }

    /// Makes room for members that have no slot; false if there is none.
    pub(crate) fn ensure_slots(&mut self, members: MemberSet) -> bool {
        let Some(superblock) = self.superblock.as_mut() else { return true };
        let new = members.minus(superblock.slotted());
        if new.is_empty() {
            return true;
        }
        let count = u32::try_from(superblock.slots.len()).expect("few slots") + new.len();
        if count > u32::from(self.options.slots_max) {
            return false;
        }
        for member in new.iter() {
            superblock.slots.push(Slot {
                member,
                base_epoch: crate::UNUSED.epoch,
                base_incarnation: crate::UNUSED.incarnation,
                in_use: false,
            });
            self.slot_bases.insert(member, crate::UNUSED);
        }
        self.save_superblock(AfterSave::Nothing);
        true
    }

    /// The slots of members that the value does not name are good for nothing any more.
    fn empty_slots_but(&mut self, tracked: MemberSet) {
        let Some(superblock) = self.superblock.as_mut() else { return };
        let me = self.options.me;
        let mut changed = false;
        for slot in &mut superblock.slots {
            // What was active as a process ended without notice is marked in all slots, in those
            // that are good for nothing, too; only one without marks is given to somebody else.
            let is_used = slot.in_use
                || slot.base_epoch != crate::UNUSED.epoch
                || slot.base_incarnation != crate::UNUSED.incarnation;
            if slot.member != me && !tracked.has(slot.member) && is_used {
                slot.base_epoch = crate::UNUSED.epoch;
                slot.base_incarnation = crate::UNUSED.incarnation;
                slot.in_use = false;
                self.slot_bases.insert(slot.member, crate::UNUSED);
                changed = true;
            }
        }
        if changed {
            self.save_superblock(AfterSave::Nothing);
        }
    }

    /// The members of the newest value, for the groups.
    pub(crate) fn tell_tracked(&mut self) {
        let tracked = self.tracked();
        self.track(tracked);
    }

    pub(crate) fn track(&mut self, tracked: MemberSet) {
        self.make_slots(tracked);
        self.empty_slots_but(tracked);
        self.tell_slots(tracked);
    }

    /// The same for members of a value that may never be chosen: nobody loses a slot by it.
    pub(crate) fn track_also(&mut self, members: MemberSet) {
        self.make_slots(members);
        self.tell_slots(members | self.tracking);
    }

    pub(crate) fn tell_slots(&mut self, members: MemberSet) {
        // Marks that were asked for, and are not answered yet: what they begin with is written down
        // then, and would promise them though the groups had dropped them since.
        let members = members | self.member.slots_asked_for();
        self.tracking = members;
        let slots = self.superblock.iter().flat_map(|superblock| &superblock.slots);
        let slots = slots.map(|slot| slot.member).collect();
        self.tell_groups(ToGroup::Track { members, slots });
    }
}
