//! Cuts: what followers apply together (protocol A, PROTOCOL.md 10.1).
//!
//! Leader: the home asks the groups of all shards for a cut. Each group notes the last seq of its
//! lanes, and tells the followers behind the writes. It keeps the answers of its clients, of reads
//! too, until all groups have noted. So if a write is in a cut, every write is in it that a client
//! knew to be done before asking for that one.
//!
//! Follower: holds the writes that it is sent until the home says that every shard has received the
//! cut. Then it applies them in the order in which they came. A released write is applied even if
//! the session ends; one that is not released never is.

use format::ids::{LaneIndex, MemberSet, NodeId, Seq};
use format::message::DataBody;
use stdx::time::Time;

use crate::contract::{
    AboutCuts, CUTS_BETWEEN_ALL_LANES, FromGroup, GroupAction, PartId, Payload, ReplicaRole,
    RequestError, RoundId, is_later_cut,
};
use crate::group::{LaneGroup, answer};
use crate::lane::Lane;
use crate::lane::seal::Released;

#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// The number of the cut that was noted last.
    number: u32,
    /// By lane, what is in that cut.
    noted: Vec<Noted>,
    /// The place in the order of sending up to which operations had been sent when it was noted.
    noted_sends: u64,
    /// The followers that were told of it.
    told: MemberSet,
    /// The home was asked for another cut. Cleared when that is noted.
    is_wanted: bool,
    /// The round of `LetGo`, until the followers have written the noted cut.
    writing: Option<RoundId>,
    /// Answers to clients are kept: set when a cut is noted, cleared when every shard has noted it.
    pub(crate) keeps_answers: bool,
    /// The answers that are kept.
    kept: Vec<(PartId, Option<Payload>)>,
    /// As a follower: released writes are applied, though their session is over.
    applies_rest: bool,
    /// As a follower: not all released writes could be applied.
    is_torn: bool,
    /// No whole cut was applied since this member was admitted: a follower is in no state then that
    /// ever was.
    pub(crate) is_open: bool,
}

/// The part of a cut that is of one lane.
#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    seq: Seq,
    /// The followers are told of it, for something is new since the cut before.
    is_told: bool,
}

impl Cuts {
    /// A session begins for this member, and its leader knows what it holds.
    pub(crate) fn mend(&mut self) {
        self.is_torn = false;
        self.is_open = false;
        self.applies_rest = false;
    }

    pub(crate) fn is_torn(&self) -> bool {
        self.is_torn
    }
}

impl LaneGroup {
    pub(crate) fn on_cuts(&mut self, now: Time, about: AboutCuts, actions: &mut Vec<GroupAction>) {
        match about {
            AboutCuts::Follow { named, counted } => {
                self.view.named_followers = named;
                self.view.followers = counted;
                self.view.is_early |= !counted.is_empty();
                self.touch_all();
            }
            AboutCuts::WatchLag { member, limits } => self.watch_lag(member, limits),
            AboutCuts::Note { number, round } => self.note_cut(number, round, actions),
            AboutCuts::LetGo { round } => {
                self.let_answers_go(actions);
                self.cuts.writing = Some(round);
            }
            AboutCuts::Hold { round } => {
                self.view.holds_writes = true;
                self.lanes.iter_mut().for_each(Lane::begin_holding);
                actions.push(answer(round));
            }
            AboutCuts::Release { number } => self.release_cut(now, number, actions),
        }
    }

    // ---- The leader's side.

    /// The members of `sent_to` whose acknowledgements complete a write.
    #[must_use]
    pub fn answering(&self, sent_to: MemberSet) -> MemberSet {
        sent_to.minus(self.view.followers)
    }

    /// The members that are sent cuts.
    fn followed(&self) -> MemberSet {
        self.view.named_followers.and(self.view.in_sync)
    }

    #[cold]
    pub(crate) fn settle_cuts(&mut self, actions: &mut Vec<GroupAction>) {
        let followed = self.followed();
        if !self.view.serving {
            return;
        }
        if let Some(round) = self.cuts.writing {
            let sent = self.cuts.noted_sends;
            if !self.lanes.iter().any(|lane| lane.awaits_followers(followed, sent)) {
                self.cuts.writing = None;
                actions.push(answer(round));
            }
        }
        let is_new = self.cuts.noted_sends != self.shared.room.sent()
            || !followed.is_subset_of(self.cuts.told);
        if !self.cuts.is_wanted && is_new && !followed.is_empty() {
            self.cuts.is_wanted = true;
            actions.push(GroupAction::Home(FromGroup::WantCut));
        }
    }

    fn note_cut(&mut self, number: u32, round: RoundId, actions: &mut Vec<GroupAction>) {
        let followed = self.followed();
        // A new follower has heard of no lane.
        let is_new = !followed.is_subset_of(self.cuts.told);
        let all = is_new || number.is_multiple_of(CUTS_BETWEEN_ALL_LANES);
        let before = std::mem::take(&mut self.cuts.noted);
        let note = |(position, lane): (usize, &Lane)| {
            let seq = lane.last_seq();
            let known = before.get(position).map_or(Seq(0), |noted| noted.seq);
            Noted { seq, is_told: all && seq > Seq(0) || seq != known || lane.stable_news().1 }
        };
        let cuts = &mut self.cuts;
        cuts.noted = self.lanes.iter().enumerate().map(note).collect();
        cuts.number = number;
        cuts.noted_sends = self.shared.room.sent();
        cuts.told = followed;
        cuts.is_wanted = false;
        // Only with several shards can one answer a write that the cut of another leaves out.
        cuts.keeps_answers = self.view.leading && self.shards > 1;
        self.note_keeping();
        self.tell_cut(followed.and(self.view.connected), actions);
        actions.push(answer(round));
    }

    /// Tells followers what is in the cut, behind the writes that are in it.
    fn tell_cut(&self, to: MemberSet, actions: &mut Vec<GroupAction>) {
        if self.cuts.number == 0 || to.is_empty() || !self.view.leading {
            return;
        }
        let noted = || self.lanes.iter().zip(&self.cuts.noted);
        let skips = noted().filter(|(_, noted)| !noted.is_told);
        let mut skipped = skips.fold(0, |set, (lane, _)| set | 1_u64 << lane.index.0);
        let is_any = noted().any(|(_, noted)| noted.is_told);
        // At least one message goes out, which may say that nothing is new.
        let told =
            noted().filter(|(_, noted)| noted.is_told).chain(noted().take(usize::from(!is_any)));
        for (lane, noted) in told {
            let (number, seq) = (self.cuts.number, noted.seq);
            let (stable, _) = lane.stable_news();
            let body = DataBody::Cut { lane: lane.index, number, seq, stable, skipped };
            skipped = 0;
            for member in to.iter() {
                let message = self.data(body.clone());
                actions.push(GroupAction::Send { to: member, message, payload: None });
            }
        }
    }

    /// A member came back as the same process, and may have missed what it was told of the cut.
    pub(crate) fn tell_cut_again(&self, member: NodeId, actions: &mut Vec<GroupAction>) {
        self.tell_cut(self.cuts.told.and(MemberSet::of(member)), actions);
    }

    /// Takes answers to clients out of the actions from `first` on, and keeps them.
    pub(crate) fn keep_answers(&mut self, first: usize, actions: &mut Vec<GroupAction>) {
        let is_done = |action: &mut GroupAction| {
            matches!(action, GroupAction::Complete { result: Ok(_), .. })
        };
        for action in actions.extract_if(first.., is_done) {
            if let GroupAction::Complete { part, result: Ok(payload) } = action {
                self.cuts.kept.push((part, payload));
            }
        }
    }

    fn let_answers_go(&mut self, actions: &mut Vec<GroupAction>) {
        self.cuts.keeps_answers = false;
        self.note_keeping();
        for (part, payload) in std::mem::take(&mut self.cuts.kept) {
            actions.push(GroupAction::Complete { part, result: Ok(payload) });
        }
    }

    pub(crate) fn fail_kept(&mut self, actions: &mut Vec<GroupAction>) {
        for (part, payload) in std::mem::take(&mut self.cuts.kept) {
            actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
            actions.extend(payload.map(GroupAction::Release));
        }
    }

    /// A session begins: forgets the cuts of the former one.
    pub(crate) fn forget_cuts(&mut self) {
        let kept = std::mem::take(&mut self.cuts.kept);
        assert!(kept.is_empty(), "they were failed");
        let Cuts { is_torn, is_open, applies_rest, .. } = self.cuts;
        self.cuts = Cuts { is_torn, is_open, applies_rest, ..Cuts::default() };
        self.view.followers = MemberSet::EMPTY;
        self.lag.clear();
        self.note_keeping();
    }

    // ---- The follower's side.

    pub(crate) fn on_peer_cut(
        &self,
        lane: LaneIndex,
        number: u32,
        skipped: u64,
        actions: &mut Vec<GroupAction>,
    ) {
        let (nonce, lanes) = (self.view.nonce, 1_u64 << lane.0 | skipped);
        actions.push(GroupAction::Home(FromGroup::CutArrived { nonce, number, lanes }));
    }

    fn release_cut(&mut self, now: Time, number: u32, actions: &mut Vec<GroupAction>) {
        if self.view.replica == ReplicaRole::None {
            return;
        }
        for waiter in self.shared.activity.take_held() {
            let position = self.position_of_lane(waiter.lane);
            let cut = self.lanes[position].replica.cut;
            if is_later_cut(cut.number, number) || waiter.seq > cut.seq {
                self.shared.activity.hold(waiter);
                continue;
            }
            self.touch(position);
            self.with_lane(now, position, actions, |lane, turn| lane.release(turn, waiter));
        }
        let is_at_cut = || self.lanes.iter().all(|lane| lane.is_at_cut(number));
        self.cuts.is_open &= !self.view.holds_writes || !is_at_cut();
    }

    /// The session is over for this member: released writes will be applied, and no others.
    pub(crate) fn end_following(&mut self) -> Released {
        // Another seal may come while the first one still waits for released writes.
        let was_following = std::mem::take(&mut self.view.holds_writes) || self.cuts.applies_rest;
        self.shared.activity.take_held();
        let keeps = was_following && self.shared.activity.has_room_for_all();
        self.cuts.is_torn |= was_following && !keeps && self.lanes.iter().any(Lane::has_cold);
        self.cuts.applies_rest = keeps;
        if keeps { Released::Applied } else { Released::Dropped }
    }
}
