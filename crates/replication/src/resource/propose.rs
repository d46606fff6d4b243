//! The config register: asking a majority of voters, and answering as one.
//!
//! CASPaxos without a log: PREPARE reads a majority and fences older ballots; the proposer builds
//! on the accepted value with the highest ballot, chosen or not; ACCEPT writes it back changed.
//! An attempt that is not answered is repeated with a higher ballot, and keeps its value, until it
//! is known whether that value was chosen.

use format::config::Config;
use format::ids::{Ballot, MemberSet, NodeId, Nonce, VoteStoreId};
use format::message::{Accepted, Control};
use stdx::time::Time;

use crate::limits;
use crate::quorum;
use crate::resource::voters::voters_of;
use crate::resource::{AfterSave, Resource};
use crate::voter::Refusal;

/// One proposer's way through the register; there is at most one on a node.
#[derive(Debug)]
pub(crate) struct Attempt {
    ballot: Ballot,
    nonce: Nonce,
    /// What is to be chosen, once it is decided; kept over retries.
    desired: Option<Config>,
    phase: Phase,
    /// The next try, or the end of this one.
    wake_at: Time,
    /// Why the last try was refused.
    pub(crate) refusal: Option<Refusal>,
    /// Voters that keep a lease from the newest PREPARE.
    leased: MemberSet,
    /// Voters that answered the newest PREPARE or ACCEPT.
    pub(crate) answered: Vec<(NodeId, VoteStoreId)>,
    /// Who was sent the newest PREPARE.
    asked: MemberSet,
    by: By,
}

/// Whose votes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Voters,
    /// This node's own, for a value of a new branch (9.4).
    Alone,
}

#[derive(Debug)]
enum Phase {
    /// PREPARE is out.
    Preparing { best: Option<Box<Accepted>> },
    /// A majority promised; the owner of the attempt decides on a value.
    Prepared,
    /// ACCEPT is out.
    Accepting,
    /// Until the next try.
    Resting,
}

impl Attempt {
    pub(crate) fn wake_at(&self) -> Time {
        match self.phase {
            Phase::Prepared => Time::NEVER,
            Phase::Preparing { .. } | Phase::Accepting | Phase::Resting => self.wake_at,
        }
    }

    pub(crate) fn ballot(&self) -> Ballot {
        self.ballot
    }

    pub(crate) fn desired(&self) -> Option<&Config> {
        self.desired.as_ref()
    }

    pub(crate) fn into_desired(self) -> Option<Config> {
        self.desired
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.by == By::Alone
    }
}

// ---- The proposer.

impl Resource {
    /// Starts to read the register for `nonce`; `desired` is what is to follow, if known already.
    pub(crate) fn start_attempt(&mut self, nonce: Nonce, desired: Option<Config>) {
        let ballot = self.next_ballot();
        let asked = self.newest_voters();
        let asked = desired.as_ref().map_or(asked, |desired| asked | voters_of(desired));
        self.begin_attempt(By::Voters, ballot, nonce, desired, asked);
    }

    /// The same for what this node decides without the others.
    pub(crate) fn start_attempt_alone(&mut self, nonce: Nonce, desired: Option<Config>) {
        let ballot = self.next_ballot_alone();
        self.begin_attempt(By::Alone, ballot, nonce, desired, MemberSet::of(self.me()));
    }

    fn begin_attempt(
        &mut self,
        by: By,
        ballot: Ballot,
        nonce: Nonce,
        desired: Option<Config>,
        asked: MemberSet,
    ) {
        self.attempt = Some(Attempt {
            ballot,
            nonce,
            desired,
            phase: Phase::Preparing { best: None },
            wake_at: self.now + limits::ATTEMPT_DEADLINE,
            refusal: None,
            leased: MemberSet::EMPTY,
            answered: Vec::new(),
            asked,
            by,
        });
        self.send_to_each(asked, &Control::Prepare { ballot, nonce });
    }

    /// Voters need not keep others away any more, and no member has to count on this leader: one
    /// that does not vote looks for work of its own only while it knows of none.
    pub(crate) fn tell_session_over(&mut self, nonce: Nonce) {
        let peers: MemberSet = self.peers.keys().copied().collect();
        self.send_to_each(self.newest_voters() | peers, &Control::LeaseRelease { nonce });
    }

    fn send_to_each(&mut self, nodes: MemberSet, message: &Control) {
        for node in nodes.iter() {
            self.send(node, message.clone());
        }
    }

    /// A voter connected, which cannot have heard what is out or whose answer is lost.
    pub(crate) fn repeat_attempt(&mut self, to: NodeId) {
        let Some(attempt) = &self.attempt else { return };
        let has_answered = attempt.answered.iter().any(|&(node, _)| node == to);
        if attempt.is_alone() || has_answered {
            return;
        }
        let (ballot, nonce) = (attempt.ballot, attempt.nonce);
        let message = match (&attempt.phase, &attempt.desired) {
            (Phase::Preparing { .. }, _) if attempt.asked.has(to) => {
                Control::Prepare { ballot, nonce }
            }
            (Phase::Accepting, Some(value)) if voters_of(value).has(to) => {
                Control::Accept { ballot, nonce, value: value.clone() }
            }
            (Phase::Preparing { .. } | Phase::Accepting | Phase::Prepared | Phase::Resting, _) => {
                return;
            }
        };
        self.send(to, message);
    }

    pub(crate) fn advance_attempt(&mut self) {
        let Some(attempt) = self.attempt.as_mut() else { return };
        if self.now < attempt.wake_at() {
            return;
        }
        match attempt.phase {
            Phase::Resting => {
                let (nonce, desired) = (attempt.nonce, attempt.desired.take());
                let (refusal, by) = (attempt.refusal, attempt.by);
                match by {
                    By::Voters => self.start_attempt(nonce, desired),
                    By::Alone => self.start_attempt_alone(nonce, desired),
                }
                if let Some(attempt) = self.attempt.as_mut() {
                    attempt.refusal = refusal;
                }
            }
            Phase::Preparing { .. } | Phase::Accepting => self.rest_attempt(),
            Phase::Prepared => {}
        }
    }

    fn rest_attempt(&mut self) {
        let wake_at = self.now + self.random_delay();
        if let Some(attempt) = self.attempt.as_mut() {
            attempt.phase = Phase::Resting;
            attempt.wake_at = wake_at;
        }
    }

    pub(crate) fn on_promise(
        &mut self,
        from: NodeId,
        ballot: Ballot,
        store: VoteStoreId,
        accepted: Option<Accepted>,
    ) {
        let birth = self.birth_config();
        let is_alone = self.attempt.as_ref().is_some_and(Attempt::is_alone);
        let head = if is_alone { self.base_alone() } else { None };
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.ballot == ballot) else {
            return;
        };
        let Phase::Preparing { best } = &mut attempt.phase else { return };
        attempt.answered.retain(|&(node, _)| node != from);
        attempt.answered.push((from, store));
        let newer = match (&accepted, &*best) {
            (Some(new), Some(known)) => new.ballot > known.ballot,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if newer {
            *best = accepted.map(Box::new);
        }
        if is_alone {
            *best = head.map(Box::new);
        }
        let value = best.as_ref().map_or(&birth, |best| &best.value);
        if !is_alone && !quorum::is_quorum(value, &attempt.answered.iter().copied()) {
            // The value may have voters that nobody knew of here (9.2).
            let others = voters_of(value).minus(attempt.asked);
            attempt.asked |= others;
            let prepare = Control::Prepare { ballot, nonce: attempt.nonce };
            return self.send_to_each(others, &prepare);
        }
        let value = value.clone();
        attempt.phase = Phase::Prepared;
        attempt.refusal = None;
        self.on_prepared(value);
    }

    /// A majority promised, and `value` is the newest that any of them accepted.
    fn on_prepared(&mut self, value: Config) {
        let attempt = self.attempt.as_mut().expect("prepared by an attempt");
        let Some(desired) = attempt.desired.clone() else {
            return self.on_prepared_for_promotion(value);
        };
        // Either nobody has the desired value yet, or it is there and only has to be chosen.
        if value.value_id == desired.previous || value.value_id == desired.value_id {
            return self.accept(desired);
        }
        let is_alone = attempt.is_alone();
        self.attempt = None;
        self.on_superseded(&value);
        if is_alone && self.session.is_some() {
            // Others say that what was proposed before is chosen.
            self.take_up_what_was_put_off();
        }
    }

    /// Writes `value`, for which the attempt holds the promises of a majority.
    pub(crate) fn accept(&mut self, value: Config) {
        let wake_at = self.now + limits::ATTEMPT_DEADLINE;
        let attempt = self.attempt.as_mut().expect("accepted by an attempt");
        attempt.phase = Phase::Accepting;
        attempt.wake_at = wake_at;
        attempt.answered.clear();
        attempt.desired = Some(value.clone());
        let (ballot, nonce) = (attempt.ballot, attempt.nonce);
        let voters = voters_of(&value);
        self.send_to_each(voters, &Control::Accept { ballot, nonce, value });
    }

    pub(crate) fn on_accepted(&mut self, from: NodeId, ballot: Ballot, store: VoteStoreId) {
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.ballot == ballot) else {
            return;
        };
        let (Phase::Accepting, Some(desired)) = (&attempt.phase, &attempt.desired) else { return };
        attempt.answered.retain(|&(node, _)| node != from);
        attempt.answered.push((from, store));
        if !quorum::is_quorum(desired, &attempt.answered.iter().copied()) {
            return;
        }
        let value = desired.clone();
        self.on_desired_chosen(&Accepted { ballot, value });
    }

    /// The attempt succeeded: its answers say so, or what others have on their disks.
    fn on_desired_chosen(&mut self, chosen: &Accepted) {
        self.attempt = None;
        self.on_chosen(chosen.clone());
        for peer in self.connected().without(self.me()).iter() {
            self.tell_chosen(peer, chosen);
        }
        self.on_own_value_chosen(chosen.ballot, &chosen.value);
    }

    pub(crate) fn on_refused(
        &mut self,
        from: NodeId,
        ballot: Ballot,
        promised: Ballot,
        refusal: Refusal,
    ) {
        let newest = self.newest_value();
        let in_reach: Vec<_> = self.votes_in_reach().collect();
        self.ballot_counter = self.ballot_counter.max(promised.counter);
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.ballot == ballot) else {
            return;
        };
        // A lease that was seen says more than a ballot that came too late.
        if attempt.refusal != Some(Refusal::LeaseHeld) {
            attempt.refusal = Some(refusal);
        }
        if refusal == Refusal::LeaseHeld {
            attempt.leased.insert(from);
            // One voter with a lease does not keep a majority of others away, which may answer
            // later: they have to write before they do.
            let value = attempt.desired.as_ref().unwrap_or(&newest);
            let free = in_reach.iter().copied().filter(|&(node, _)| !attempt.leased.has(node));
            if quorum::is_quorum(value, &free) {
                return;
            }
        }
        match attempt.phase {
            Phase::Preparing { .. } | Phase::Accepting => self.rest_attempt(),
            Phase::Prepared | Phase::Resting => {}
        }
    }
}

// ---- The voter.

impl Resource {
    /// What every peer is told of this node.
    pub(crate) fn own_report(&self) -> Control {
        // A session that ends here may still answer reads: its lease is not void yet.
        let ending = self.endings.last().map(|ending| ending.nonce);
        let led = self.session.as_ref().map(|session| session.nonce);
        let session = led.or(ending).or_else(|| self.nonce_in_doubt());
        let store = self.own_store();
        Control::Report { store, session, accepted: self.saves.accepted(), members: self.named() }
    }

    pub(crate) fn on_prepare(&mut self, from: NodeId, ballot: Ballot, nonce: Nonce) {
        if from != self.me() {
            if self.tell_superseded(from, nonce) {
                return;
            }
            self.yield_role();
        }
        if self.voter.is_mute {
            return;
        }
        let answer = if self.is_of_older_generation(ballot) {
            // Not `Promised`: that names a ballot for the proposer to beat.
            Err(Refusal::LeaseHeld)
        } else {
            self.voter.prepare(self.now, ballot, nonce)
        };
        match answer {
            Ok(()) => {
                let (store, accepted) = (self.voter.register.store, self.voter.accepted());
                let message = Control::Promise { ballot, store, accepted };
                self.save_register(AfterSave::Send { to: from, message });
            }
            Err(refusal) => {
                let promised = self.voter.register.promised;
                let lease_held = refusal == Refusal::LeaseHeld;
                let accepted = self.saves.accepted();
                let message = Control::PrepareRefused { ballot, promised, lease_held, accepted };
                self.send(from, message);
            }
        }
    }

    pub(crate) fn on_accept(&mut self, from: NodeId, ballot: Ballot, nonce: Nonce, value: Config) {
        if value.resource != self.options.resource || self.voter.is_mute {
            return;
        }
        let value_id = value.value_id;
        let is_left = self.is_of_older_line(ballot, &value) || self.has_left_line_of(&value);
        let answer = if is_left {
            Err(Refusal::Promised)
        } else {
            self.voter.accept(self.now, ballot, nonce, value)
        };
        match answer {
            Ok(()) => {
                self.follow_own_branch();
                let store = self.voter.register.store;
                let message = Control::Accepted { ballot, store, value_id };
                self.save_register(AfterSave::Send { to: from, message });
            }
            Err(Refusal::Promised | Refusal::LeaseHeld) => {
                let promised = self.voter.register.promised;
                self.send(from, Control::AcceptRefused { ballot, promised });
            }
        }
    }

    pub(crate) fn on_told_chosen(&mut self, from: NodeId, ballot: Ballot, value: Config) {
        if value.resource != self.options.resource {
            return;
        }
        self.ballot_counter = self.ballot_counter.max(ballot.counter);
        if self.is_of_older_line(ballot, &value) {
            return;
        }
        // Who leads without a vote has accepted nothing: only this tells of its line.
        let chosen = Accepted { ballot, value };
        if from != self.me() && self.is_parted(from, Some(&chosen)) {
            return;
        }
        self.note_told_chosen(from, &chosen);
        self.learn_chosen(&chosen);
        self.on_superseded(&chosen.value);
        self.note_leader(from, &chosen.value);
        self.on_chosen(chosen);
        self.pass_on_news();
    }

    /// As a voter.
    pub(crate) fn learn_chosen(&mut self, Accepted { ballot, value }: &Accepted) {
        let votes = voters_of(value).has(self.me()) || self.voter.register.accepted.is_some();
        let votes = votes && !self.voter.is_mute;
        if votes && self.voter.learn(*ballot, value) {
            self.save_register(AfterSave::Nothing);
        }
    }

    pub(crate) fn on_report(
        &mut self,
        from: NodeId,
        store: Option<VoteStoreId>,
        session: Option<Nonce>,
        accepted: Option<Accepted>,
    ) {
        self.voter.on_session_of(from, session);
        if let Some(known) = &accepted {
            self.ballot_counter = self.ballot_counter.max(known.ballot.counter);
        }
        let Some(peer) = self.peers.get_mut(&from) else { return };
        peer.store = store;
        peer.session = session;
        peer.lacks_quorum = None;
        if self.is_parted(from, accepted.as_ref()) {
            return;
        }
        self.forget_wish(from);
        if !self.is_of_line(accepted.as_ref()) {
            self.note_unrelated(from);
        }
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.accepted = accepted;
        }
        self.observe_chosen();
        self.pass_on_news_to(from);
        if self.out_of_touch_since.is_some() {
            self.tell_touch(from);
        }
        if let Some(session) = session {
            self.tell_superseded(from, session);
        }
    }

    /// Without a Primary nobody says what is chosen; a majority that accepted one value in one
    /// ballot shows it.
    pub(crate) fn observe_chosen(&mut self) {
        let own = self.saves.accepted().map(|known| (self.me(), self.voter.register.store, known));
        let peers = self.peers.iter().filter(|(_, peer)| peer.report.is_some());
        let peers =
            peers.filter_map(|(&node, peer)| Some((node, peer.store?, peer.accepted.clone()?)));
        let known: Vec<_> = own.into_iter().chain(peers).collect();
        let newest = known.iter().max_by_key(|(_, _, accepted)| accepted.ballot);
        let Some((_, _, newest)) = newest.cloned() else { return };
        let agree = known
            .iter()
            .filter(|(_, _, accepted)| accepted.ballot == newest.ballot)
            .map(|&(node, store, _)| (node, store));
        if !quorum::is_quorum(&newest.value, &agree) {
            return;
        }
        let desired = self.attempt.as_ref().and_then(|attempt| attempt.desired.as_ref());
        if desired.is_some_and(|desired| desired.value_id == newest.value.value_id) {
            return self.on_desired_chosen(&newest);
        }
        // A session never builds on the value of another one.
        self.on_session_superseded(&newest.value);
        self.on_chosen(newest);
        self.pass_on_news();
    }
}
