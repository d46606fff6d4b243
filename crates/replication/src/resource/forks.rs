//! Lines of values that part, and meet again: PROTOCOL.md 9.4 to 9.6.
//!
//! Without a quorum, and where the operator allows it (`quorum off`, `primary --force`), a node
//! extends the chain alone: always on a new branch, on which it is the only voter, and always with
//! a ballot of a new generation, above all that the old line can ever come to. So whoever is behind
//! follows by the ordinary rules, and two lines that both went on are told apart exactly, by the
//! forks that each value lists. A peer of such a line is not talked to, until one side gives up
//! what it has (`give_way`).

use std::time::Duration;

use format::config::{Ancestor, Config, InSync, Primary, Purpose, Voter as VoterConfig};
use format::ids::{Ballot, Branch, NodeId, ValueId};
use format::message::Accepted;
use format::metadata::ReplicaState;
use stdx::time::Time;

use crate::contract::{Parting, ResourceAction};
use crate::limits;
use crate::lineage::relation::{
    ALONG, Began, Kinship, beginner_of, generation, is_foreign, kinship, line, next_branch,
};
use crate::resource::Resource;
use crate::resource::change::Change;
use crate::resource::give_way::Split;
use crate::resource::losses::LossState;
use crate::resource::propose::Attempt;
use crate::resource::saves::Turn;
use crate::resource::session::Session;

#[derive(Debug)]
pub(crate) struct Forks {
    /// When this node goes on alone, if it reaches no quorum until then.
    alone_at: Time,
}

impl Default for Forks {
    fn default() -> Self {
        Self { alone_at: Time::NEVER }
    }
}

// ---- Going on alone.

impl Resource {
    /// The name of a branch that this node begins.
    pub(crate) fn new_branch(&mut self, began: Began) -> Branch {
        let along = if began == Began::Along { ALONG } else { 0 };
        Branch(self.random.next_u64() & !63 | u64::from(self.me().get()) << 1 | along)
    }

    /// There is no quorum, and this node may go on without.
    pub(crate) fn wants_to_go_alone(&self) -> bool {
        self.forks.alone_at != Time::NEVER
    }

    pub(crate) fn alone_at(&self) -> Time {
        // Once it is due, other events bring it on.
        if self.forks.alone_at > self.now { self.forks.alone_at } else { Time::NEVER }
    }

    /// The newest value that this node accepted, or knows to be chosen.
    pub(crate) fn head(&self) -> Option<Accepted> {
        self.newest().map(|(ballot, value)| Accepted { ballot, value: value.clone() })
    }

    /// The newest value that this node accepted or knows to be chosen, without cloning it.
    pub(crate) fn newest(&self) -> Option<(Ballot, &Config)> {
        let accepted =
            self.voter.register.accepted.as_ref().map(|(ballot, value)| (*ballot, value));
        let chosen = self.chosen.as_ref().map(|chosen| (chosen.ballot, &chosen.value));
        accepted.into_iter().chain(chosen).max_by_key(|(ballot, _)| *ballot)
    }

    /// A ballot for a value of a new branch: of a generation above all that this node knows.
    pub(crate) fn next_ballot_alone(&mut self) -> Ballot {
        let of_head = self.lines().map(|known| generation(known.ballot)).max().unwrap_or(0);
        let next = of_head.saturating_add(1).saturating_mul(limits::GENERATION_BALLOTS);
        self.ballot_counter = self.ballot_counter.max(next);
        self.next_ballot()
    }

    pub(crate) fn advance_alone(&mut self) {
        self.advance_word();
        let Some(wait) = self.alone_wait() else {
            if self.wants_to_go_alone() {
                self.forks.alone_at = Time::NEVER;
                self.end_wait_for_proof();
            }
            self.end_proofs_with_quorum();
            return;
        };
        if self.forks.alone_at == Time::NEVER {
            self.forks.alone_at = self.now + wait;
        }
        if self.now < self.forks.alone_at || !self.are_others_out() {
            return;
        }
        if self.promotion.is_some() { self.promote_alone() } else { self.extend_alone() }
    }

    /// How long this node waits for a quorum before it goes on alone. `None` while it has a quorum,
    /// or may not go on without.
    fn alone_wait(&self) -> Option<Duration> {
        let has_vote = !self.voter.is_mute;
        if self.stop.is_some() || self.report().is_none() || self.is_discarding() || !has_vote {
            return None;
        }
        if let Some(promotion) = &self.promotion {
            let is_wanted = promotion.purpose == Purpose::Clients
                && (promotion.is_by_force() || self.may_go_alone());
            let is_needed = is_wanted && !self.reaches_quorum_of(&self.newest_value());
            return is_needed.then_some(limits::ALONE_PROMOTION_WAIT);
        }
        let session = self.session.as_ref()?;
        let is_needed = self.has_data_of_session()
            && self.serves_clients()
            && session.change != Some(Change::Alone)
            && self.lacks_quorum()
            && (self.may_go_alone() || self.is_to_go_alone());
        is_needed.then_some(limits::ALONE_WAIT)
    }

    /// The replica of this node has all that its session acknowledged to clients.
    pub(crate) fn has_data_of_session(&self) -> bool {
        let me = self.me();
        let has_part = self.config().is_some_and(|config| self.own_part(config).is_some());
        let is_member =
            |session: &Session| session.write_set.has(me) && !session.losses.contains_key(&me);
        has_part && self.session.as_ref().is_some_and(is_member)
    }

    /// This node reaches no quorum of the chosen value, or none of a newer value that is proposed
    /// already. The latter is needed to learn whether that value was chosen.
    pub(crate) fn lacks_quorum(&self) -> bool {
        let is_out_of_reach = |head: &Config| !self.reaches_quorum_of(head);
        !self.reaches_majority() || self.newest_own().is_some_and(is_out_of_reach)
    }

    /// The value of `head`.
    pub(crate) fn newest_own(&self) -> Option<&Config> {
        self.newest().map(|(_, value)| value)
    }

    /// What `config` says of the local replica, if it has that replica in sync.
    pub(crate) fn own_part(&self, config: &Config) -> Option<InSync> {
        let known = config.volumes.first()?.insync_member(self.me()).copied()?;
        (known.incarnation == self.report()?.incarnation).then_some(known)
    }

    /// Begins the loss of all other members. Once these are recorded, proposes the value with which
    /// the session goes on by this node alone.
    fn extend_alone(&mut self) {
        let me = self.me();
        let Some(session) = &self.session else { return };
        for member in session.write_set.without(me).iter() {
            self.begin_loss(member);
        }
        let Some(session) = &self.session else { return };
        let is_recorded = |state: &LossState| *state != LossState::Recording;
        if !session.losses.values().all(is_recorded) {
            return;
        }
        let nonce = session.nonce;
        let Some(base) = self.head().map(|head| head.value) else { return };
        let is_ours = base.primary.is_none_or(|primary| primary.nonce == nonce);
        let Some(own) = self.own_part(&base).filter(|_| is_ours) else { return };
        let voter = VoterConfig { node: me, store: self.voter.register.store };
        let branch = self.new_branch(Began::Along);
        let mut next = next_branch(&base, branch, voter);
        next.epoch = base.epoch.next();
        next.previous = base.value_id;
        next.value_id = ValueId(self.random.next_u64());
        next.primary = Some(Primary { node: me, nonce, purpose: Purpose::Clients });
        next.clean = false;
        next.awaits_reopen |= self.goes_alone_by_word();
        for volume in &mut next.volumes {
            volume.insync = vec![own];
        }
        let desired = self.attempt.take().and_then(Attempt::into_desired);
        let session = self.session.as_mut().expect("looked at above");
        session.put_off = session.change.take().zip(desired);
        session.change = Some(Change::Alone);
        // Who returns before this is chosen misses what is written from then on: nobody's loss is
        // withdrawn any more, and nobody is admitted.
        session.losses.values_mut().for_each(|state| *state = LossState::Proposing);
        session.admissions.clear();
        session.adding = None;
        self.start_attempt_alone(nonce, Some(next));
    }

    pub(crate) fn on_alone_chosen(&mut self, value: &Config) {
        let me = self.me();
        let Some(session) = self.session.as_mut() else { return };
        session.put_off = None;
        for member in session.write_set.without(me).iter() {
            self.finish_loss(member);
        }
        self.settle_size_alone(value);
        self.count_receipts();
        self.actions.push(ResourceAction::WentAlone);
    }

    /// This node cannot go on alone after all: the change that was under way before goes on, by the
    /// votes of others.
    pub(crate) fn take_up_what_was_put_off(&mut self) {
        self.attempt = None;
        let Some(session) = self.session.as_mut() else { return };
        let (change, desired) = session.put_off.take().unzip();
        session.change = change;
        for (member, state) in &mut session.losses {
            let is_proposed =
                matches!(&session.change, Some(Change::Losing(them)) if them.has(*member));
            *state = if is_proposed { LossState::Proposing } else { LossState::Recorded };
        }
        let nonce = session.nonce;
        if desired.is_some() {
            self.start_attempt(nonce, desired);
        }
    }

    /// As a voter: this node accepted the value with which it begins a branch. Its data is of that
    /// branch from now on, and the superblock says so in the same save.
    pub(crate) fn follow_own_branch(&mut self) {
        let me = self.me();
        let Some((_, value)) = &self.voter.register.accepted else { return };
        let Some(known) = self.own_part(value).filter(|_| is_vote_of(value, me)) else { return };
        let Some(superblock) = self.superblock.as_mut() else { return };
        let from = value.ancestors.last().map(|ancestor| ancestor.branch);
        if superblock.state == ReplicaState::InSync
            && from == Some(superblock.branch)
            && known.joined <= superblock.joined
        {
            let turn = Turn { from: superblock.branch, to: value.branch };
            superblock.branch = turn.to;
            self.saves.note_turn(turn);
        }
    }

    /// The voter of this node is mute: its register could not be written. Whether the last value
    /// was written stays in doubt until a restart reads the register. So a session that proposed
    /// that value alone proposes no other one.
    pub(crate) fn decide_nothing_alone(&mut self) {
        self.forget_own_beginning();
        let Some(attempt) = &self.attempt else { return };
        let is_alone = attempt.is_alone();
        if self.promotion.is_some() {
            // On a line where nobody else votes nobody else says what becomes of it, either.
            if is_alone || is_vote_of(&self.newest_value(), self.me()) {
                self.give_up_promotion();
            }
            return;
        }
        if !is_alone {
            return;
        }
        let line = self.config().map(|config| config.branch);
        if self.newest_own().map(|head| head.branch) == line {
            self.take_up_what_was_put_off();
        }
    }

    /// Takes back a value with which a promotion was to begin a branch by this node's vote alone,
    /// if it is not known to be on disk. No other node heard of it, and as long as this process
    /// lives none will: so nothing is judged by it. A restart that finds it in the register goes by
    /// it.
    fn forget_own_beginning(&mut self) {
        let me = self.me();
        let written = self.saves.accepted();
        let is_begun = |value: &Config| {
            let branch = value.branch;
            let is_new = written.as_ref().is_none_or(|known| known.value.branch != branch);
            // That of a session which goes on stays: what that proposed later would be older.
            let is_promoted = beginner_of(branch) == Some(me) && branch.0 & ALONG == 0;
            is_new && is_promoted && is_vote_of(value, me)
        };
        let accepted = &mut self.voter.register.accepted;
        if accepted.as_ref().is_some_and(|(_, value)| is_begun(value)) {
            *accepted = written.map(|Accepted { ballot, value }| (ballot, value));
        }
    }
}

/// The voter of `node` chooses this value alone: no other voter hears of it before it is chosen.
fn is_vote_of(value: &Config, node: NodeId) -> bool {
    value.voters_old.is_empty() && value.voters.iter().all(|it| it.node == node)
}

// ---- Meeting again.

impl Resource {
    /// A peer told the newest value that it accepted. True if its line and ours parted: the peer
    /// counts as not connected then, and nothing else that it says is heard.
    pub(crate) fn is_parted(&mut self, from: NodeId, accepted: Option<&Accepted>) -> bool {
        let fork = accepted.and_then(|theirs| Some((theirs.clone(), self.parting(from, theirs)?)));
        let Some(peer) = self.peers.get_mut(&from) else { return true };
        let was_split = peer.split.is_some();
        let Some((theirs, fork)) = fork else {
            if let Some(split) = &mut peer.split {
                // `recheck_parted` begins anew with it.
                split.theirs = accepted.cloned().unwrap_or_else(|| split.theirs.clone());
            }
            return was_split;
        };
        let (known, talk) = peer.split.take().map(|split| (split.report, split.talk)).unzip();
        let Some(report) = peer.report.take().or(known) else { return true };
        peer.split = Some(Split { report, theirs, fork, talk: talk.unwrap_or_default() });
        if !was_split {
            self.on_member_disconnected(from, Parting::Closed);
            self.actions.push(ResourceAction::SplitBrain { peer: from, fork });
            // It may take this node for one that is merely behind.
            let own = self.report_to_parted();
            self.actions.push(ResourceAction::Send { to: from, message: own });
        }
        self.start_discard();
        true
    }

    /// Makes the connection to a peer anew whose line and ours are not parted any more: a session
    /// may have kept them apart that is over.
    pub(crate) fn recheck_parted(&mut self) {
        if self.is_discarding() {
            // Who agreed is to stay as it is until that is done; it ends the connection.
            return;
        }
        let split =
            self.peers.iter().filter_map(|(&node, peer)| Some((node, peer.split.as_ref()?)));
        let is_over =
            |(node, split): &(NodeId, &Split)| self.parting(*node, &split.theirs).is_none();
        let over: Vec<NodeId> = split.filter(is_over).map(|(node, _)| node).collect();
        for node in over {
            // From the beginning, so that nothing that was held back is missed.
            if let Some(peer) = self.peers.get_mut(&node) {
                peer.split = None;
            }
            self.reset(node);
        }
    }

    /// A session of this node is over. Peers hear of it, for those that kept apart because of the
    /// session need not any longer.
    pub(crate) fn report_end(&mut self) {
        if self.head().is_some_and(|head| generation(head.ballot) > 0) {
            let report = self.own_report();
            for peer in self.connected().without(self.me()).iter() {
                self.send(peer, report.clone());
            }
        }
    }

    /// Tells the newest value to peers of other lines: only from a later one they may learn that
    /// both sides went on.
    pub(crate) fn tell_parted(&mut self) {
        let parted = self.peers.iter().filter(|(_, peer)| peer.split.is_some());
        for to in parted.map(|(&node, _)| node).collect::<Vec<_>>() {
            let message = self.report_to_parted();
            self.actions.push(ResourceAction::Send { to, message });
        }
    }

    pub(crate) fn is_split_from(&self, peer: NodeId) -> bool {
        self.peers.get(&peer).is_some_and(|peer| peer.split.is_some())
    }

    /// Where the peer's line and ours parted, if neither simply follows the other.
    #[expect(clippy::option_option, reason = "parted, and perhaps at a value that is known")]
    fn parting(&self, from: NodeId, theirs: &Accepted) -> Option<Option<Ancestor>> {
        let ours = self.known_line()?;
        if generation(ours.ballot).max(generation(theirs.ballot)) == 0 {
            // Nobody ever went on alone: what a quorum decides does not part.
            return None;
        }
        let head = |config: &Config| line(config).last();
        match kinship(&ours.value, &theirs.value) {
            Kinship::Same => None,
            Kinship::Older => {
                let is_taken = self.is_in_use(&ours.value, &theirs.value, from)
                    || self.may_have_gone_on(&ours.value, &theirs.value);
                is_taken.then(|| head(&ours.value))
            }
            Kinship::Newer => {
                let session = self.peers.get(&from).and_then(|peer| peer.session);
                let is_led = theirs.value.primary.is_some_and(|primary| {
                    primary.node == from
                        && primary.purpose == Purpose::Clients
                        && session == Some(primary.nonce)
                });
                let is_taken = is_led && is_foreign(&theirs.value, &ours.value);
                is_taken.then(|| head(&theirs.value))
            }
            Kinship::Parted(fork) => Some(fork),
        }
    }

    /// The node of the peer follows the line of this node, whatever its disk was copied from last.
    pub(crate) fn is_of_line(&self, accepted: Option<&Accepted>) -> bool {
        let (Some((_, ours)), Some(theirs)) = (self.newest(), accepted) else { return false };
        theirs.value.branch != Branch(0)
            && !matches!(kinship(ours, &theirs.value), Kinship::Parted(_))
    }

    /// Clients use the line of `ours`, and `theirs` went on from it without a quorum of its voters:
    /// a node that went on alone must not end the session of these clients.
    fn is_in_use(&self, ours: &Config, theirs: &Config, from: NodeId) -> bool {
        let is_served = ours.primary.is_some_and(|primary| {
            let is_led_there = primary.node != from && self.is_led(ours);
            primary.purpose == Purpose::Clients && (self.leads(primary.nonce) || is_led_there)
        });
        is_served && is_foreign(ours, theirs)
    }

    /// The line of `ours` may have gone on without this node hearing of it, and clients were
    /// answered since. A sign of that: a slot here begins at the last join of a member that `ours`
    /// or `theirs` has in sync. So its loss was being recorded, and the next value may have been
    /// chosen.
    fn may_have_gone_on(&self, ours: &Config, theirs: &Config) -> bool {
        let me = self.me();
        if self.decides_about(ours) || !self.has_data_of(ours) || self.lost_vote().is_some() {
            // Then what followed it would be known here; or what is written down here is of a line
            // that this node left. Of whom a lost vote was the last but one no store could tell.
            return false;
        }
        let volumes = ours.volumes.first().zip(theirs.volumes.first());
        volumes.is_some_and(|(ours, theirs)| {
            let was_lost = |known: &InSync| {
                let base = self.slot_bases.get(&known.node);
                base.is_some_and(|base| {
                    (base.epoch, base.incarnation) == (known.joined, known.incarnation)
                })
            };
            let others = theirs.insync.iter().filter(|it| it.node != me);
            others.flat_map(|it| [Some(it), ours.insync_member(it.node)]).flatten().any(was_lost)
        })
    }

    /// The proposer of this ballot does not know of the line that this node follows, perhaps
    /// without having voted for it yet. A voter that helped it would have in-sync data on the line
    /// that this node left (I19).
    pub(crate) fn is_of_older_generation(&self, ballot: Ballot) -> bool {
        self.lines().any(|known| generation(ballot) < generation(known.ballot))
    }

    /// The value is of a line that this node's line left behind: whoever told it does not know
    /// that.
    pub(crate) fn is_of_older_line(&self, ballot: Ballot, value: &Config) -> bool {
        self.lines().any(|known| {
            known.value.branch != value.branch && generation(ballot) < generation(known.ballot)
        })
    }

    /// The line of this node left that of `value` before `value`. Its ballot does not always tell:
    /// the proposer may have heard of a ballot of a newer generation without its value. A value of
    /// generation 0 left no line: there a quorum decides, by ballots alone.
    pub(crate) fn has_left_line_of(&self, value: &Config) -> bool {
        let is_left =
            |ours: &Config| matches!(kinship(ours, value), Kinship::Newer | Kinship::Parted(_));
        self.known_line().is_some_and(|known| generation(known.ballot) > 0 && is_left(&known.value))
    }
}
