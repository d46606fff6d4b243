//! Being Primary: leases, and every change of the config while the session lasts.
//!
//! The write set shrinks only after the config did, and grows before it does. One change of the
//! config is under way at a time; losses go before joins.

use std::collections::BTreeMap;
use std::time::Duration;

use format::config::{Config, Purpose};
use format::ids::{Ballot, BootId, Epoch, MemberSet, NodeId, Nonce, ValueId};
use format::message::{Accepted, Control};
use stdx::time::Time;

use crate::contract::{
    CommandErrorCode, CommandId, PromoteMode, ResourceAction, RoundId, Stay, ToGroup,
};
use crate::group::log_room::{share_of_followers_log, share_of_log};
use crate::limits;
use crate::lineage::standing::insync;
use crate::quorum;
use crate::resource::admit::Admission;
use crate::resource::change::Change;
use crate::resource::congestion::Congested;
use crate::resource::followers::CutsMade;
use crate::resource::losses::LossState;
use crate::resource::membership::Adding;
use crate::resource::receipts::Preparing;
use crate::resource::rests::Rests;
use crate::resource::suspend::Told;
use crate::resource::voters::voters_of;
use crate::resource::word::Word;
use crate::resource::{Ending, Resource, RoundKind};

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) nonce: Nonce,
    pub(crate) purpose: Purpose,
    /// The members whose acknowledgement a write needs. The groups are told of each change.
    pub(crate) write_set: MemberSet,
    /// The process that each member of the write set was when it was admitted.
    pub(crate) boots: BTreeMap<NodeId, BootId>,
    /// The round that began the stay of each member that came, or came back, after the session
    /// began.
    pub(crate) since: BTreeMap<NodeId, RoundId>,
    pub(crate) losses: BTreeMap<NodeId, LossState>,
    pub(crate) change: Option<Change>,
    /// The change that was under way when this node began to go on alone, and the value proposed
    /// for it. Set until the branch is chosen, or taken up again.
    pub(crate) put_off: Option<(Change, Config)>,
    /// The member, epoch and value id of the join that was prepared last. The same join keeps its
    /// id, for a member that is asked again may answer the first question.
    pub(crate) last_join: Option<(NodeId, Epoch, ValueId)>,
    pub(crate) admissions: BTreeMap<NodeId, Admission>,
    /// Members that were admitted in this session, and are not known to have obeyed another one
    /// since.
    pub(crate) admitted_here: MemberSet,
    /// Members that a comparison found to differ, and did not repair. Their next loss is not
    /// withdrawn, so that a resync repairs them.
    pub(crate) differing: MemberSet,
    /// Members that are admitted again only after a rest.
    pub(crate) rests: Rests,
    /// No block may differ between the members any more. Set once, by the answer to `Serve`.
    pub(crate) reconciled: bool,
    pub(crate) lease_until: Time,
    /// The value by whose voters the lease holds.
    pub(crate) lease_by: Option<ValueId>,
    /// A new member for which the others make room in their metadata.
    pub(crate) adding: Option<Adding>,
    pub(crate) drain: Option<Drain>,
    /// An operator's word to go on alone, until it is followed or refused.
    pub(crate) word: Option<Word>,
    pub(crate) receipts: Preparing,
    /// Members in sync that said that they apply cuts alone, as followers.
    pub(crate) following: MemberSet,
    pub(crate) cuts: CutsMade,
    pub(crate) congested: Congested,
    told_no_quorum: bool,
    pub(crate) told: Told,
}

#[derive(Debug)]
pub(crate) struct Drain {
    /// Commands that are answered when the session ends.
    commands: Vec<CommandId>,
    /// Promotions that were asked for meanwhile: they begin when the session ends.
    promotions: Vec<CommandId>,
    deadline: Time,
    drained: bool,
}

impl Session {
    pub(crate) fn new(
        nonce: Nonce,
        purpose: Purpose,
        write_set: MemberSet,
        boots: BTreeMap<NodeId, BootId>,
        now: Time,
    ) -> Self {
        Self {
            nonce,
            purpose,
            write_set,
            boots,
            since: BTreeMap::new(),
            losses: BTreeMap::new(),
            change: None,
            put_off: None,
            last_join: None,
            admissions: BTreeMap::new(),
            admitted_here: MemberSet::EMPTY,
            differing: MemberSet::EMPTY,
            rests: Rests::default(),
            reconciled: false,
            lease_until: now,
            lease_by: None,
            adding: None,
            drain: None,
            word: None,
            receipts: Preparing::default(),
            following: MemberSet::EMPTY,
            cuts: CutsMade::default(),
            congested: Congested::default(),
            told_no_quorum: false,
            told: Told::default(),
        }
    }

    /// When a lease counts as missed. The first one comes a little after the session began: it has
    /// as long as a lease lasts.
    fn lease_missed_at(&self) -> Time {
        self.lease_until + if self.lease_by.is_some() { Duration::ZERO } else { limits::LEASE }
    }

    /// The session has no lease, and was to have one by now.
    pub(crate) fn misses_lease(&self, now: Time) -> bool {
        self.told_no_quorum && now >= self.lease_missed_at()
    }

    /// The session answers no client for want of a quorum.
    pub(crate) fn is_cut_off(&self, now: Time) -> bool {
        self.told.hold || self.misses_lease(now)
    }

    /// The stay lasts: its member is in the write set since that round, and is not being lost.
    pub(crate) fn is_here(&self, stay: Stay) -> bool {
        let since = self.since.get(&stay.member).copied().unwrap_or(RoundId(0));
        let is_known = self.write_set.has(stay.member) && !self.losses.contains_key(&stay.member);
        is_known && (stay.nonce, stay.since) == (self.nonce, since)
    }

    /// The session is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        self.drain.is_some()
    }

    pub(crate) fn wake_at(&self) -> Time {
        let admissions = self.admissions.values().map(Admission::deadline);
        let again = self.rests.wakes_at();
        let drain = self.drain.iter().filter(|drain| !drain.drained).map(|drain| drain.deadline);
        let change = match &self.change {
            Some(Change::PreparingJoin { until, .. }) => *until,
            Some(
                Change::Losing(_)
                | Change::Joining { .. }
                | Change::Members { .. }
                | Change::Naming
                | Change::Resizing
                | Change::Demoting
                | Change::Alone,
            )
            | None => Time::NEVER,
        };
        let adding = self.adding.as_ref().map(Adding::deadline);
        // What may be chosen already is waited for.
        let word = self.word.as_ref().filter(|_| self.change != Some(Change::Alone));
        let word = word.map(|word| word.until);
        let lease = match self.purpose {
            Purpose::Clients if !self.told_no_quorum => self.lease_until,
            Purpose::Clients if !self.told.lost => self.lease_missed_at(),
            Purpose::Clients | Purpose::Resync => Time::NEVER,
        };
        admissions
            .chain(drain)
            .chain(adding)
            .chain(word)
            .chain([again, change, lease])
            .min()
            .unwrap_or(Time::NEVER)
    }
}

impl Resource {
    /// The promotion is complete: requests may come.
    pub(crate) fn start_serving(&mut self, value: &Config) {
        let in_sync = insync(value);
        let rate = self.options.resync_rate;
        let epoch = value.epoch;
        self.review_suspension();
        self.count_receipts();
        self.note_following();
        self.tell_groups(ToGroup::ResyncRate { bytes_per_second: rate });
        self.suspend_session();
        self.ask_groups(RoundKind::Reconciled, |round| ToGroup::Serve { epoch, in_sync, round });
        self.start_wanted_verify();
        self.start_wanted_resize();
        if self.serves_clients() {
            self.actions.push(ResourceAction::RoleChanged { primary: true });
            self.actions.push(ResourceAction::RenewLease);
            self.renew_lease();
        }
    }

    /// Another rate for resyncs, from now on also for those under way.
    pub(crate) fn on_resync_rate(&mut self, bytes_per_second: u64) {
        self.options.resync_rate = bytes_per_second;
        if self.session.is_some() {
            self.tell_groups(ToGroup::ResyncRate { bytes_per_second });
        }
    }

    /// This node is Primary.
    pub(crate) fn serves_clients(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.purpose == Purpose::Clients)
    }

    pub(crate) fn boot_of(&self, node: NodeId) -> Option<BootId> {
        if node == self.me() {
            return Some(self.options.boot_id);
        }
        Some(self.peers.get(&node)?.report?.boot_id)
    }

    /// The in-sync members of the session's config.
    pub(crate) fn in_sync(&self) -> MemberSet {
        self.config().map_or(MemberSet::EMPTY, insync)
    }

    /// The in-sync members that have all that clients were told is written.
    pub(super) fn complete(&self) -> MemberSet {
        let followers = self.config().map_or(MemberSet::EMPTY, |config| config.followers);
        self.in_sync().minus(followers)
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.config().map_or(Epoch(0), |config| config.epoch)
    }

    pub(crate) fn advance_session(&mut self) {
        let Some(session) = &self.session else { return };
        let is_there = |&node: &NodeId| {
            self.is_connected(node) && self.boot_of(node) == session.boots.get(&node).copied()
        };
        let there: MemberSet = session.write_set.iter().filter(is_there).collect();
        for member in session.write_set.minus(there).iter() {
            self.begin_loss(member);
        }
        self.check_last_member();
        self.check_drain_deadline();
        if self.serves_clients() {
            self.check_quorum();
        }
        self.prepare_receipts();
        self.start_change();
        self.advance_admissions();
    }

    /// The only in-sync member came back as another process: only a promotion can tell what it
    /// still has.
    fn check_last_member(&mut self) {
        let Some(session) = &self.session else { return };
        let losing = session.losses.keys().copied().collect();
        let complete = self.complete();
        let left = complete.minus(losing);
        // None is left where the others were made followers after these began to be lost.
        let last = if left.is_empty() { complete } else { left };
        let is_another = |member: NodeId| {
            self.is_connected(member) && self.boot_of(member) != session.boots.get(&member).copied()
        };
        if left.len() <= 1 && !last.is_empty() && last.iter().all(is_another) {
            self.end_session();
        }
    }

    // ---- Leases.

    /// A voter refused the lease: it may have missed the value that names this session.
    pub(crate) fn on_lease_refused(&mut self, node: NodeId, nonce: Nonce) {
        let votes = self.config().is_some_and(|config| voters_of(config).has(node));
        if !self.leads(nonce) || !votes {
            return;
        }
        let Some(Accepted { ballot, value }) = self.chosen.clone() else { return };
        let Some(session) = &self.session else { return };
        let ends_soon = session.lease_until < self.now + limits::LEASE / 2;
        if ends_soon && session.change.is_none() && self.attempt.is_none() {
            // It promised to a promotion that came to nothing: a higher ballot takes that back.
            return self.start_attempt(nonce, Some(value));
        }
        self.send(node, Control::Chosen { ballot, value });
    }

    /// A voter granted the lease. True if anything changes beside how long the lease lasts.
    pub(crate) fn on_lease_granted(&mut self, node: NodeId, nonce: Nonce, sent_at: Time) -> bool {
        if !self.leads(nonce) {
            return false;
        }
        if let Some(peer) = self.peers.get_mut(&node) {
            peer.lease_asked_at = peer.lease_asked_at.max(Some(sent_at));
        }
        let state = |it: &Session, now| (it.lease_by, it.told_no_quorum, now < it.lease_until);
        let before = self.session.as_ref().map(|session| state(session, self.now));
        self.renew_lease();
        before != self.session.as_ref().map(|session| state(session, self.now))
    }

    /// The lease lasts from the time at which the newest quorum of grants was asked for: of that
    /// quorum, the one that was asked first.
    fn renew_lease(&mut self) {
        let (me, now) = (self.me(), self.now);
        let Some(session) = &self.session else { return };
        let nonce = session.nonce;
        // Not as it is on the disk: another life of this voter holds nobody off for a session that
        // ended with this one.
        let own = self.voter.grant(now, me, nonce, limits::LEASE);
        let Some(config) = self.chosen.as_ref().map(|chosen| &chosen.value) else { return };
        let own = own.then_some((now, me, self.voter.register.store));
        let grants = self
            .peers
            .iter()
            .filter_map(|(&node, peer)| Some((peer.lease_asked_at?, node, peer.store?)))
            .chain(own);
        let is_reached = |asked_at: &Time| {
            let asked_at = *asked_at;
            let newer = grants.clone().filter(move |grant| grant.0 >= asked_at);
            quorum::is_quorum(config, &newer.map(|(_, node, store)| (node, store)))
        };
        let by = config.value_id;
        if let Some(asked_at) = grants.clone().map(|grant| grant.0).filter(is_reached).max() {
            self.extend_lease(asked_at + limits::LEASE, by);
        }
    }

    fn extend_lease(&mut self, until: Time, by: ValueId) {
        let now = self.now;
        let session = self.session.as_mut().expect("renewed by a session");
        if until >= session.lease_until {
            session.lease_by = Some(by);
        }
        if until <= session.lease_until {
            return;
        }
        session.lease_until = until;
        let told = session.told_no_quorum && until > now;
        if told {
            session.told_no_quorum = false;
        }
        self.tell_groups(ToGroup::Lease { until });
        if told {
            self.tell_of_lease();
        }
    }

    fn check_quorum(&mut self) {
        let now = self.now;
        self.renew_lease_alone();
        let Some(session) = self.session.as_mut() else { return };
        if now >= session.lease_until && !session.told_no_quorum && session.lease_until > Time::ZERO
        {
            session.told_no_quorum = true;
            self.tell_of_lease();
        }
    }

    /// Renews the lease where this node's voter is a quorum alone: no answer of a peer would do it.
    fn renew_lease_alone(&mut self) {
        let own = [(self.me(), self.voter.register.store)];
        let due = self.session.as_ref().is_some_and(|session| self.now >= session.lease_until);
        if due && self.config().is_some_and(|config| quorum::is_quorum(config, &own.into_iter())) {
            self.renew_lease();
        }
    }

    /// Peers that granted this Primary no lease, or whose last grant is over.
    pub(crate) fn late_for_lease(&self) -> MemberSet {
        let is_old = |asked_at: Time| asked_at + limits::LEASE <= self.now;
        let peers = self.peers.iter().filter(|_| self.serves_clients());
        let late = peers.filter(|(_, peer)| peer.lease_asked_at.is_none_or(is_old));
        late.map(|(&node, _)| node).collect()
    }

    /// Whether a quorum answered, as of the last step: at a Primary, whether it has the lease.
    #[must_use]
    pub fn has_majority(&self) -> bool {
        match &self.session {
            Some(session) if session.purpose == Purpose::Clients => self.now < session.lease_until,
            Some(_) | None => self.reaches_majority(),
        }
    }

    /// Tells the groups how many operations fit into the logs of all of `write_set`. The log of a
    /// member that is not connected now is not known, and without it nothing completes anyway.
    pub(crate) fn tell_log_room(&mut self, write_set: MemberSet) {
        let (own, followers) = (self.options.shards, self.told_followers.0);
        let share = |member: NodeId| {
            let report = self.peers.get(&member).and_then(|peer| peer.report);
            let log = report.and_then(|it| Some((it.shards, it.replica?.log_slots)));
            log.map_or(1, |(shards, slots)| match followers.has(member) {
                true => share_of_followers_log(own, shards, slots),
                false => share_of_log(own, shards, slots),
            })
        };
        let others = write_set.without(self.me());
        let operations = others.iter().map(share).min().unwrap_or(usize::MAX);
        self.tell_groups(ToGroup::LogRoom { operations });
    }

    // ---- Changes of the config.

    fn start_change(&mut self) {
        if self.attempt.is_some() {
            return;
        }
        let in_sync = self.in_sync();
        let Some(session) = self.session.as_mut() else { return };
        if session
            .change
            .as_ref()
            .is_some_and(|change| !matches!(change, Change::PreparingJoin { .. }))
        {
            return;
        }
        let recorded: MemberSet = session
            .losses
            .iter()
            .filter(|(_, state)| **state == LossState::Recorded)
            .map(|(&member, _)| member)
            .collect();
        let recording = session.losses.values().any(|state| *state == LossState::Recording);
        if recording {
            return;
        }
        let complete = self.complete();
        let is_last = complete.minus(recorded).is_empty();
        let kept = if is_last { complete } else { MemberSet::EMPTY };
        if kept.iter().any(|member| self.keep_last(member)) {
            return;
        }
        let lost = recorded.and(in_sync).minus(kept);
        if !lost.is_empty() {
            return self.propose_losses(lost);
        }
        // Members that were being resynced are in no config: the value with which one joins would
        // be a change that is under way (I2). They go last: a loss that may still
        // be withdrawn brings back a member that has to record theirs.
        for member in recorded.minus(in_sync).iter() {
            self.finish_loss(member);
        }
        let Some(session) = self.session.as_mut() else { return };
        let is_idle = session.losses.is_empty() && session.change.is_none();
        let is_idle = is_idle && session.drain.is_none();
        if is_idle && (self.propose_members() || self.propose_volume()) {
            return;
        }
        let Some(session) = self.session.as_mut() else { return };
        let drained = session.drain.as_ref().is_some_and(|drain| drain.drained);
        if drained && session.losses.is_empty() && session.change.is_none() {
            self.propose_demotion();
        }
    }

    fn propose_demotion(&mut self) {
        let session = self.session.as_mut().expect("proposed by a session");
        session.change = Some(Change::Demoting);
        self.propose(|config| {
            config.primary = None;
            config.clean = true;
        });
    }

    /// Proposes the chosen config with a change. The attempt goes on until the value is known to be
    /// chosen.
    pub(crate) fn propose(&mut self, change: impl FnOnce(&mut Config)) {
        let value_id = ValueId(self.random.next_u64());
        self.propose_as(value_id, change);
    }

    pub(crate) fn propose_as(&mut self, value_id: ValueId, change: impl FnOnce(&mut Config)) {
        let Some(mut desired) = self.config().cloned() else { return };
        let Some(nonce) = self.session.as_ref().map(|session| session.nonce) else { return };
        desired.previous = desired.value_id;
        desired.value_id = value_id;
        desired.epoch = desired.epoch.next();
        desired.clean = false;
        self.name_stores(&mut desired);
        change(&mut desired);
        self.start_attempt(nonce, Some(desired));
    }

    pub(crate) fn on_own_value_chosen(&mut self, ballot: Ballot, value: &Config) {
        if self.promotion.is_some() {
            return self.on_promotion_chosen(ballot, value);
        }
        // What a smaller config does not allow is held before the groups hear of it.
        self.review_suspension();
        let Some(session) = self.session.as_mut() else { return };
        match session.change.take() {
            Some(Change::Losing(members)) => {
                for member in members.iter() {
                    self.finish_loss(member);
                }
            }
            Some(Change::Joining { member }) => self.on_joined(member, value),
            Some(Change::Members { before }) => self.on_members_chosen(before, value),
            Some(Change::Resizing) => self.on_resized(),
            Some(Change::Demoting) => self.on_demoted(),
            Some(Change::Alone) => self.on_alone_chosen(value),
            Some(Change::PreparingJoin { .. } | Change::Naming) | None => {}
        }
    }

    /// The register holds a value that this node neither proposed nor builds on.
    pub(crate) fn on_superseded(&mut self, value: &Config) {
        self.on_promotion_superseded(value);
        self.on_session_superseded(value);
    }

    /// The same for a session. A promotion finds it out when it prepares.
    pub(crate) fn on_session_superseded(&mut self, value: &Config) {
        let Some(session) = self.session.as_ref() else { return };
        let ours = value.primary.is_some_and(|primary| primary.nonce == session.nonce);
        let newer = self
            .config()
            .is_none_or(|known| value.epoch > known.epoch || value.branch != known.branch);
        if !ours && newer {
            self.end_session();
        }
    }

    // ---- The end of a session.

    /// The session of this node is over: another one took over, or it cannot go on. Its clients are
    /// told.
    pub(crate) fn end_session(&mut self) {
        let Some(session) = self.session.take() else { return };
        if let Some(word) = session.word {
            self.refuse_word(word, "this node is Primary no more");
        }
        self.attempt = None;
        self.interrupt_verify();
        self.interrupt_resize();
        self.drop_rounds_of_session();
        let nonce = session.nonce;
        let (commands, promotions) =
            session.drain.map_or_else(Default::default, |it| (it.commands, it.promotions));
        self.endings.push(Ending { nonce, commands });
        self.ask_groups(RoundKind::StoodDown(nonce), |round| ToGroup::StandDown { round });
        if session.purpose == Purpose::Clients {
            self.actions.push(ResourceAction::RoleChanged { primary: false });
        }
        self.suspend_session();
        if self.stop.is_some() {
            self.start_leave();
        }
        for id in promotions {
            self.on_promote(id, PromoteMode::Normal);
        }
    }

    /// An operator wants this node to be Primary, and it leads already. If its session is about to
    /// end, the next one begins for the command; else the command is done.
    pub(crate) fn go_on_as_primary(&mut self, id: CommandId) {
        match self.session.as_mut().and_then(|session| session.drain.as_mut()) {
            Some(drain) => drain.promotions.push(id),
            None => self.answer(id, Ok(())),
        }
    }

    /// Every shard stood down, and answers no read any more: nobody has to wait for the end of the
    /// lease.
    pub(crate) fn on_stood_down(&mut self, nonce: Nonce) {
        let Some(position) = self.endings.iter().position(|ending| ending.nonce == nonce) else {
            return;
        };
        let ending = self.endings.remove(position);
        self.report_end();
        self.tell_session_over(nonce);
        for id in ending.commands {
            self.answer(id, Ok(()));
        }
    }

    pub(crate) fn on_demote(&mut self, id: CommandId) {
        if self.promotion.as_ref().is_some_and(|it| it.purpose == Purpose::Clients) {
            return self.refuse(id, CommandErrorCode::Busy, "a promotion is under way");
        }
        if !self.serves_clients() {
            return self.answer(id, Ok(()));
        }
        self.start_drain();
        if let Some(drain) = self.session.as_mut().and_then(|session| session.drain.as_mut()) {
            drain.commands.push(id);
        }
    }

    pub(crate) fn start_drain(&mut self) {
        let deadline = self.now + limits::DRAIN_DEADLINE;
        let Some(session) = self.session.as_mut() else { return };
        if session.drain.is_none() {
            let (commands, promotions) = (Vec::new(), Vec::new());
            session.drain = Some(Drain { commands, promotions, deadline, drained: false });
            self.ask_groups(RoundKind::Drained, |round| ToGroup::Drain { round });
        }
    }

    pub(crate) fn on_drained(&mut self) {
        if let Some(drain) = self.session.as_mut().and_then(|session| session.drain.as_mut()) {
            drain.drained = true;
        }
    }

    fn check_drain_deadline(&mut self) {
        let now = self.now;
        let Some(session) = self.session.as_mut() else { return };
        let late =
            session.drain.as_ref().is_some_and(|drain| now >= drain.deadline && !drain.drained);
        if !late {
            return;
        }
        if self.stop.is_some() {
            // What was not acknowledged is resolved by the next promotion.
            self.drop_round(RoundKind::Drained);
            return self.end_session();
        }
        let Some(Drain { commands, promotions, .. }) = session.drain.take() else { return };
        self.drop_round(RoundKind::Drained);
        if !self.is_suspended_by_user() {
            self.tell_groups(ToGroup::Resume);
        }
        for id in promotions {
            self.answer(id, Ok(()));
        }
        for id in commands {
            let message = "requests are still under way: no quorum, or a member does not answer";
            self.refuse(id, CommandErrorCode::TimedOut, message);
        }
    }

    fn on_demoted(&mut self) {
        self.end_session();
    }

    pub(crate) fn fail_for_stop(&mut self) {
        self.attempt = None;
        let nonce = self.nonce_in_doubt();
        if let Some(promotion) = self.promotion.take() {
            self.give_up_lead();
            if let Some(nonce) = nonce {
                self.tell_session_over(nonce);
            }
            for id in promotion.into_commands() {
                self.refuse(id, CommandErrorCode::Busy, "the resource is being stopped");
            }
        }
    }

    pub(crate) fn on_reconciled(&mut self) {
        if let Some(session) = self.session.as_mut() {
            session.reconciled = true;
        }
    }
}
