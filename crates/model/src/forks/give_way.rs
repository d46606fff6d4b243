//! 9.5b and 9.6: the two sides agree who gives way, and then it does.
//!
//! REPORT is not modelled as a message: each node sees at once what a connected one has accepted.
//! Whatever follows from that is done after every step (`settle`), as the code does it.

use super::Forks;
use super::lines::{Kinship, is_overtaken, leads_clients_by, shared_until, went_along};
use super::policy::{Side, Verdict, judge};
use super::size::{Policy, Rule, With, Without};
use super::state::{
    Ancestor, Data, Discard, Message, NO_BASE, Reason, Standing, State, Talk, bit, has, members,
    small,
};

/// GIVE_WAY by an operator's word.
const BY_WORD: u8 = 0;

impl State {
    fn talk(&mut self, n: usize, m: usize) -> Option<&mut Talk> {
        self.nodes[n].talks[m].as_mut()
    }

    fn splits(&self, n: usize) -> impl Iterator<Item = (usize, &Talk)> + Clone {
        let talks = self.nodes[n].talks.iter().enumerate();
        talks.filter_map(|(m, talk)| Some((m, talk.as_ref()?)))
    }

    fn has_asked(&self, n: usize) -> bool {
        self.splits(n).any(|(_, talk)| talk.asked.is_some())
    }

    fn stays(&self, n: usize) -> bool {
        self.nodes[n].relied_on != 0
    }

    fn send(&mut self, n: usize, m: usize, message: Message) {
        self.mail[n][m].push(message);
    }

    fn ask(&mut self, n: usize, m: usize, standing: u8, against: u8) {
        if let Some(talk) = self.talk(n, m) {
            talk.asked = Some(standing);
            self.send(n, m, Message::GiveWay { standing, against });
        }
    }

    /// It, or one that it talks to, has the data of its line.
    fn reaches_data(&self, n: usize) -> bool {
        let head = &self.nodes[n].head;
        let is_of_line = |m: usize| self.nodes[m].branch == head.branch;
        let known = members(self.reach(n) & head.insync);
        let mut known = known.map(|m| if m == n { self.has_data(n) } else { is_of_line(m) });
        known.any(|has_data| has_data)
    }
}

impl Forks {
    pub(super) fn policy(&self, state: &State, n: usize) -> Policy {
        self.size.policies[usize::from(state.policies)].1[n]
    }

    /// What every node does by itself after each event.
    pub(super) fn settle(&self, state: &mut State) {
        let count = state.nodes.len();
        for node in state.nodes.iter_mut().filter(|node| !node.has_disk) {
            node.branch = node.head.branch;
        }
        for n in 0..count {
            for m in (0..count).filter(|&m| m != n) {
                self.meet(state, n, m);
            }
            state.end_superseded(n);
        }
        for n in 0..count {
            let met = (0..count).any(|m| m != n && state.reaches(n, m));
            if met {
                // The wish was for the next meeting only.
                state.nodes[n].wish = false;
            }
            self.start_discard(state, n);
            for m in (0..count).filter(|&m| m != n) {
                if state.is_split(n, m) && state.nodes[n].alive {
                    self.review_standing(state, n, m);
                    self.follow_out(state, n, m);
                    self.decide(state, n, m);
                }
            }
        }
    }

    /// Whose data it was left their line.
    fn has_left(&self, state: &State, n: usize, m: usize) -> bool {
        let branch = state.nodes[m].head.branch;
        let is_other = branch != state.nodes[n].head.branch;
        state.is_split(n, m) && is_other && state.nodes[m].branch == branch
    }

    fn meet(&self, state: &mut State, n: usize, m: usize) {
        if state.nodes[n].discard.is_some() && state.is_connected(n, m) {
            // Who agreed is to stay as it is until that is done.
            return;
        }
        let is_split = state.is_connected(n, m) && self.parting(state, n, m).is_some();
        if is_split && !state.is_split(n, m) {
            state.nodes[n].talks[m] = Some(Talk::default());
        } else if !is_split && state.is_split(n, m) || !state.is_connected(n, m) {
            // From the beginning: the connection is made anew.
            state.nodes[n].talks[m] = None;
            state.nodes[n].relied_on &= !bit(m);
            state.mail[n][m].clear();
            state.mail[m][n].clear();
            state.nodes[m].relied_on &= !bit(n);
            if state.is_split(m, n) {
                state.nodes[m].talks[n] = Some(Talk::default());
            }
        }
    }

    // ---- By an operator's word.

    pub(super) fn wish(&self, state: &mut State, n: usize) -> bool {
        let node = &state.nodes[n];
        let is_free = node.alive && !node.wish && node.discard.is_none() && !state.stays(n);
        let is_parted = state.splits(n).next().is_some() || state.reach(n) == bit(n);
        if !self.size.has_operator || !is_free || !is_parted || state.serves_clients(n) {
            return false;
        }
        let node = &mut state.nodes[n];
        node.wish = true;
        node.talks.iter_mut().flatten().for_each(|talk| talk.refused = false);
        true
    }

    fn start_discard(&self, state: &mut State, n: usize) {
        let node = &state.nodes[n];
        let is_busy = node.discard.is_some() || state.has_asked(n) || state.stays(n);
        if !node.wish || is_busy || state.serves_clients(n) {
            return;
        }
        let open = state.splits(n).find(|(_, talk)| !talk.refused).map(|(m, _)| m);
        let Some(m) = open else { return };
        state.ask(n, m, BY_WORD, BY_WORD);
        if !self.has(Rule::Ask) {
            self.agreed(state, n, m, BY_WORD);
        }
    }

    // ---- By the options.

    fn review_standing(&self, state: &mut State, n: usize, m: usize) {
        let wanted = self.standing(state, n, m);
        let Some(talk) = state.talk(n, m) else { return };
        let facts = |it: Standing| Standing { id: 0, changed: None, ..it };
        if wanted.map(facts) == talk.own.map(facts) {
            return;
        }
        (talk.own, talk.rests) = (None, false);
        talk.asked.take_if(|asked| *asked != BY_WORD);
        let Some(wanted) = wanted else { return };
        state.nodes[n].standings += 1;
        let standing = Standing { id: state.nodes[n].standings, ..wanted };
        if let Some(talk) = state.talk(n, m) {
            talk.own = Some(standing);
        }
        state.send(n, m, Message::Standing(standing));
    }

    /// What the local node would bring into a decision, if it can speak for its line.
    fn standing(&self, state: &State, n: usize, m: usize) -> Option<Standing> {
        let policy = self.policy(state, n);
        let node = &state.nodes[n];
        let is_led = (0..state.nodes.len())
            .any(|it| it != n && state.reaches(n, it) && leads_clients_by(state, it, &node.head));
        let can_speak = state.has_data(n);
        if policy.is_nobody() || node.discard.is_some() || is_led || !can_speak {
            return None;
        }
        let is_primary = state.serves_clients(n);
        let fork = self.parting(state, n, m)??;
        let theirs = &state.nodes[m].head;
        let is_counted = has(theirs.insync, m) && is_slot_of(state, n, m, fork);
        let bits = node.slots[m].bits.count_ones();
        let least = u32::from(is_primary);
        let changed = is_counted.then_some(bits.max(least).to_le_bytes()[0]);
        Some(Standing {
            id: 0,
            head: node.head.id,
            against: theirs.id,
            is_primary,
            changed,
            policy,
        })
    }

    /// Whose replica is of the other line already has nothing to say, and follows it.
    fn follow_out(&self, state: &mut State, n: usize, m: usize) {
        let node = &state.nodes[n];
        if state.has_asked(n) || node.discard.is_some() {
            return;
        }
        let insync = node.head.insync;
        let has_left = node.branch != node.head.branch && node.branch == state.nodes[m].head.branch;
        let goes = if self.policy(state, n).is_nobody() {
            // One that began before the fork may be of either line.
            has_left && shared_until(&node.head, node.branch, node.joined).is_none()
        } else {
            has_left
                || self.has(Rule::FollowTheLast)
                    && has(insync, m)
                    && members(insync).all(|m| self.has_left(state, n, m))
        };
        let is_refused = node.talks[m].is_some_and(|talk| talk.refused);
        if goes && !is_refused && !state.serves_clients(n) {
            state.ask(n, m, BY_WORD, BY_WORD);
        }
    }

    fn decide(&self, state: &mut State, n: usize, m: usize) {
        let node = &state.nodes[n];
        let is_busy = node.wish || node.discard.is_some() || state.has_asked(n) || state.stays(n);
        if is_busy || node.talks[m].is_some_and(|talk| talk.rests) {
            return;
        }
        let Some((own, other, verdict)) = self.judge(state, n, m) else { return };
        if verdict == Verdict::OwnGoes {
            state.ask(n, m, own.id, other.id);
            if !self.has(Rule::Ask) {
                self.agreed(state, n, m, own.id);
            }
        }
    }

    pub(super) fn judge(
        &self,
        state: &State,
        n: usize,
        m: usize,
    ) -> Option<(Standing, Standing, Verdict)> {
        let talk = state.nodes[n].talks[m]?;
        let (own, other) = (talk.own?, talk.other?);
        let (ours, theirs) = (&state.nodes[n].head, &state.nodes[m].head);
        if (own.head, own.against) != (other.against, other.head) || other.head != theirs.id {
            return None;
        }
        if own.policy != other.policy {
            return Some((own, other, Verdict::Undecided));
        }
        let fork = self.parting(state, n, m)?;
        let side = |node: usize, standing: Standing, value| Side {
            node: small(node),
            standing: Standing {
                is_primary: standing.is_primary && self.has(Rule::SparePrimary),
                ..standing
            },
            branch: state.nodes[node].head.branch,
            went_along: fork.is_some_and(|fork| went_along(value, &fork)),
        };
        let sides = (side(n, own, ours), side(m, other, theirs));
        Some((own, other, judge(own.policy, &sides.0, &sides.1)))
    }

    // ---- The two sides agree.

    pub(super) fn deliver(&self, state: &mut State, from: usize, to: usize) -> bool {
        if state.mail[from][to].is_empty() {
            return false;
        }
        match state.mail[from][to].remove(0) {
            Message::Standing(standing) => {
                if let Some(talk) = state.talk(to, from) {
                    talk.other = Some(standing);
                    talk.rests = false;
                    talk.asked.take_if(|asked| *asked != BY_WORD);
                }
            }
            Message::GiveWay { standing, against } => {
                self.on_give_way(state, to, from, standing, against);
            }
            Message::Answer { standing, agreed } => {
                let talk = state.talk(to, from);
                let asked = talk.and_then(|talk| talk.asked.take_if(|it| *it == standing));
                match (asked, agreed) {
                    // What it was asked by is over; it would stay as it is, and so would we.
                    (None, true) if self.has(Rule::LateAgreement) => self.part(state, to, from),
                    (None, _) => {}
                    (Some(_), true) => self.agreed(state, to, from, standing),
                    (Some(_), false) => self.refused(state, to, from, standing),
                }
            }
        }
        true
    }

    fn on_give_way(&self, state: &mut State, n: usize, m: usize, standing: u8, against: u8) {
        let node = &state.nodes[n];
        let goes = node.discard.is_some() || state.has_asked(n) || node.wish;
        let is_right = if standing == BY_WORD {
            state.reaches_data(n) || !self.has(Rule::AgreeWithData)
        } else {
            self.judge(state, n, m).is_some_and(|(own, other, verdict)| {
                let is_named = (own.id, other.id) == (against, standing);
                is_named && verdict == Verdict::OtherGoes
            })
        };
        let is_overtaken = self.has(Rule::RefuseOvertaken)
            && is_overtaken(&state.nodes[n].head, &state.nodes[m].head);
        let is_right = is_right && !is_overtaken;
        let agreed = is_right && (!goes || !self.has(Rule::RefuseWhileGoing));
        if agreed {
            // Also where only the other side takes the two for parted.
            state.nodes[n].relied_on |= bit(m);
        }
        state.send(n, m, Message::Answer { standing, agreed });
    }

    fn refused(&self, state: &mut State, n: usize, m: usize, standing: u8) {
        let Some(talk) = state.talk(n, m) else { return };
        if standing != BY_WORD {
            talk.rests = true;
            return;
        }
        talk.refused = true;
        self.start_discard(state, n);
        if !state.has_asked(n) {
            state.nodes[n].wish = false;
        }
    }

    /// What was refused is asked again later.
    pub(super) fn ask_again(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(talk) = state.talk(n, m) else { return false };
        let rests = talk.rests || talk.refused;
        (talk.rests, talk.refused) = (false, false);
        rests
    }

    fn agreed(&self, state: &mut State, n: usize, m: usize, standing: u8) {
        let node = &state.nodes[n];
        let is_wanted = match standing {
            BY_WORD => node.wish || !state.has_data(n),
            _ => node.talks[m].is_some_and(|talk| talk.own.is_some_and(|own| own.id == standing)),
        };
        let is_violent = standing != BY_WORD && state.serves_clients(n);
        if !is_wanted || node.discard.is_some() || state.serves_clients(n) && !is_violent {
            self.part(state, n, m);
            return;
        }
        let by = if standing == BY_WORD { Reason::Word } else { Reason::Policy };
        self.note_giving_way(state, n, m, by);
        let winner = &state.nodes[m];
        let discard = Discard { winner: small(m), ballot: winner.ballot, value: winner.head, by };
        let fork = self.parting(state, n, m).flatten();
        let node = &mut state.nodes[n];
        (node.lead, node.wish) = (None, false);
        node.discard = Some(discard);
        self.leave_line(state, n, fork);
    }

    /// The connection is made anew: who agreed is free again.
    fn part(&self, state: &mut State, n: usize, m: usize) {
        for (n, m) in [(n, m), (m, n)] {
            state.mail[n][m].clear();
            state.nodes[n].relied_on &= !bit(m);
            if state.is_split(n, m) {
                state.nodes[n].talks[m] = Some(Talk::default());
            }
        }
    }

    // ---- Giving data up.

    /// Slots and superblock: the replica is of the winner's line.
    fn leave_line(&self, state: &mut State, n: usize, fork: Option<Ancestor>) {
        let Some(discard) = state.nodes[n].discard else { return };
        if state.nodes[n].branch == discard.value.branch {
            return;
        }
        if !state.nodes[n].has_disk {
            return;
        }
        let fork = fork.filter(|fork| self.do_slots_cover(state, n, &discard, *fork));
        let unstable = state.blocks_of(state.nodes[n].window);
        let node = &mut state.nodes[n];
        let marked = node.slots.iter().fold(0, |set, slot| set | slot.bits);
        node.own |= unstable | if self.has(Rule::MergeSlots) { marked } else { 0 };
        node.window = 0;
        node.branch = discard.value.branch;
        (node.candidate, node.sealed, node.admitted) = (0, 0, false);
        match fork {
            Some(fork) => {
                node.joined = node.joined.min(fork.epoch);
                node.data = Data::Syncing;
            }
            None => (node.joined, node.data) = (0, Data::Blank),
        }
    }

    /// The slots name all that was written since the fork.
    fn do_slots_cover(&self, state: &State, n: usize, discard: &Discard, fork: Ancestor) -> bool {
        let theirs = discard.value.insync & !bit(n);
        let is_in_sync = matches!(state.nodes[n].data, Data::InSync | Data::Outdated);
        let covers = |m: usize| {
            let base = state.nodes[n].slots[m].base;
            let is_out = !has(state.nodes[n].head.insync, m);
            base != NO_BASE && base <= fork.epoch && is_out
        };
        is_in_sync && theirs != 0 && members(theirs).all(covers)
    }

    /// The register: its vote was for the other line, so it is a new voter.
    pub(super) fn finish_discard(&self, state: &mut State, n: usize) -> bool {
        let node = &mut state.nodes[n];
        let Some(discard) = node.discard.take() else { return false };
        node.store += 1;
        node.promised = discard.ballot;
        (node.ballot, node.head) = (discard.ballot, discard.value);
        true
    }

    // ---- What is known from outside.

    fn note_giving_way(&self, state: &mut State, n: usize, m: usize, by: Reason) {
        let winner = &state.nodes[m].head;
        let has_it = |it: usize| {
            let node = &state.nodes[it];
            it != n
                && node.discard.is_none()
                && (node.branch == winner.branch || self.continues(&node.head, winner))
                && node.data == Data::InSync
        };
        let is_there = (0..state.nodes.len()).any(has_it);
        let policy = self.policy(state, n);
        let is_primary = state.serves_clients(n);
        let line = state.line(state.nodes[n].head.branch);
        let since = self.written_since_fork(state, n, m);
        let acknowledged = line.map_or(0, |line| line.acknowledged) & since;
        let is_named = match by {
            Reason::Word => !is_primary,
            Reason::Policy => {
                let is_violent = [policy.one, policy.two].contains(&With::Violently);
                let is_empty = acknowledged == 0 || policy.none != Without::ZeroChanges;
                (!is_primary || is_violent) && is_empty
            }
        };
        state.wrongs.void |= !is_there;
        state.wrongs.unnamed |= !is_named;
    }

    /// Writes that only the line of `n` has.
    fn written_since_fork(&self, state: &State, n: usize, m: usize) -> u8 {
        let may = state.line(state.nodes[m].head.branch).map_or(0, |line| line.may);
        state.nodes[n].content & !may
    }

    /// With two voters nothing parts that was never chosen.
    pub(super) fn is_parted_exactly(&self, state: &State) -> bool {
        let is_chosen = |n: usize| state.chosen & 1 << state.nodes[n].head.id != 0;
        let is_exact = |n: usize, m: usize| {
            let kinship = self.kinship(&state.nodes[n].head, &state.nodes[m].head);
            !matches!(kinship, Kinship::Parted(_)) || is_chosen(n) && is_chosen(m)
        };
        state.nodes.len() > 2 || is_exact(0, 1)
    }
}

/// The slot marks all that was written since the fork.
fn is_slot_of(state: &State, n: usize, m: usize, fork: Ancestor) -> bool {
    let node = &state.nodes[n];
    let base = node.slots[m].base;
    !has(node.head.insync, m) && base != NO_BASE && base <= fork.epoch
}
