//! What a session does within its line: sections 5 to 9.2, each as one step where it may be one
//! (`register` and `data` show that it may).

use super::lines::{is_before, leads_clients_by, shared_until};
use super::size::Rule;
use super::state::{
    Ballot, Data, Lead, NO_BASE, NOBODY, Node, Slot, State, Value, bit, has, is_majority, members,
    small,
};
use super::{Forks, Purpose};

pub(super) fn new_lead(
    session: u8,
    purpose: Purpose,
    value: Value,
    ws: u8,
    proposed: Option<(Ballot, Value)>,
) -> Lead {
    let is_serving = proposed.is_none();
    let for_clients = purpose == Purpose::Clients;
    let (losing, write, resync) = (0, None, None);
    Lead { session, for_clients, value, is_serving, proposed, ws, losing, write, resync }
}

/// 6.1: LOSS of `lost` at those who stay.
pub(super) fn record_loss(state: &mut State, at: u8, value: &Value, lost: u8) {
    for n in members(at) {
        let unstable = state.blocks_of(state.nodes[n].window);
        for m in members(lost) {
            let slot = &mut state.nodes[n].slots[m];
            let base = value.joined[m];
            if has(value.insync, m) && slot.base != base {
                *slot = Slot { base, bits: 0 };
            }
            slot.bits |= unstable;
        }
    }
}

impl State {
    /// Connected, and admitted to this session in this life.
    fn obeys(&self, n: usize, m: usize, session: u8) -> bool {
        let node = &self.nodes[m];
        self.reaches(n, m) && node.sealed == session && node.admitted
    }

    fn obedient(&self, n: usize, lead: &Lead) -> u8 {
        let every = members(lead.ws).filter(|&m| self.obeys(n, m, lead.session));
        every.fold(0, |set, m| set | bit(m))
    }

    fn serving(&self, n: usize) -> Option<Lead> {
        self.nodes[n].lead.filter(|lead| lead.is_serving)
    }

    /// 7b: it hears from the leader of its value, who reaches a quorum.
    fn grants_lease(&self, m: usize) -> bool {
        let head = &self.nodes[m].head;
        let leader = usize::from(head.leader);
        leads_clients_by(self, leader, head)
            && self.reaches(leader, m)
            && self.is_quorum(self.reach(leader), head)
    }

    /// A voter accepts; what a quorum accepted is chosen.
    pub(super) fn accept(&mut self, m: usize, ballot: Ballot, value: Value) {
        let node = &mut self.nodes[m];
        (node.promised, node.ballot, node.head) = (ballot, ballot, value);
        let accepted = (0..self.nodes.len()).filter(|&m| {
            let node = &self.nodes[m];
            node.head.id == value.id && node.ballot == ballot
        });
        let accepted = accepted.fold(0, |set, m| set | bit(m));
        if !self.is_quorum(accepted, &value) {
            return;
        }
        let is_known = self.chosen & 1 << value.id != 0;
        self.chosen |= 1 << value.id;
        let Some(line) = self.line_mut(value.branch) else { return };
        let is_next = value.epoch > line.head.epoch || line.head.id == value.id;
        if is_next {
            line.head = value;
        }
        self.wrongs.torn |= !is_known && !is_next;
    }

    /// The nearest in-sync member that the session can copy from.
    fn source(&self, n: usize, lead: &Lead) -> Option<usize> {
        let known = self.obedient(n, lead) & lead.value.insync & !lead.losing;
        members(known).next()
    }

    /// PREPARE and its answers at once; without those of a quorum nothing is proposed.
    fn propose(&mut self, n: usize, lead: &mut Lead, mut value: Value) -> bool {
        let reached = self.reach(n);
        let promised = self.nodes[n].promised;
        // Nobody else had a promise from here since.
        let is_newest = self.nodes[n].head.session == lead.session && promised.by == small(n);
        let is_promised = members(reached).all(|m| {
            let node = &self.nodes[m];
            node.promised <= promised && node.ballot <= self.nodes[n].ballot
        });
        if !is_newest || !is_promised || !self.is_quorum(reached, &lead.value) {
            return false;
        }
        value.epoch = lead.value.epoch + 1;
        value.id = self.next_id(n);
        let Ballot { generation, counter, .. } = self.nodes[n].promised.max(self.nodes[n].ballot);
        let ballot = Ballot { generation, counter: counter + 1, by: small(n) };
        lead.proposed = Some((ballot, value));
        for m in members(self.votes(reached, &value) | bit(n)) {
            self.nodes[m].promised = ballot;
        }
        if has(self.votes(bit(n), &value), n) {
            self.accept(n, ballot, value);
        }
        true
    }
}

// ---- Section 7.

impl Forks {
    pub(super) fn promote(&self, state: &mut State, n: usize, purpose: Purpose) -> bool {
        let is_free = state.nodes[n].alive && state.nodes[n].lead.is_none();
        let is_asked = purpose == Purpose::Resync || state.left.promotions > 0;
        if !is_free || !is_asked || state.nodes[n].discard.is_some() {
            return false;
        }
        let reached = state.reach(n);
        let best = members(reached).max_by_key(|&m| state.nodes[m].ballot).unwrap_or(n);
        let (base, base_ballot) = (state.nodes[best].head, state.nodes[best].ballot);
        // Whoever leads holds the lease, or is asked to end first.
        let is_led = members(reached).any(|m| {
            let lead = state.nodes[m].lead;
            lead.is_some_and(|lead| lead.for_clients || purpose == Purpose::Resync)
                || state.grants_lease(m)
        });
        let is_of_line = |&m: &usize| {
            let node = &state.nodes[m];
            let joined = base.joined[m];
            let is_in_sync = node.joined == joined && node.data == Data::InSync;
            let may_be = node.data != Data::Blank && !self.has(Rule::ReplicaInSync);
            node.branch == base.branch && (is_in_sync || node.candidate == joined || may_be)
        };
        let chosen = members(base.insync & reached).filter(is_of_line);
        let chosen = chosen.fold(0, |set, m| set | bit(m));
        if is_led || !has(chosen, n) || !state.is_quorum(reached, &base) {
            return false;
        }
        let is_needed = reached & state.every() != chosen
            || !members(reached).all(|m| state.is_settled(m, &base));
        if purpose == Purpose::Resync && !is_needed {
            return false;
        }
        let for_clients = purpose == Purpose::Clients;
        state.left.promotions -= u8::from(for_clients);
        for m in members(reached) {
            state.nodes[m].lead = None;
        }
        let promised = members(reached).map(|m| state.nodes[m].promised).max();
        let counter = base_ballot.max(promised.unwrap_or_default()).counter;
        let generation = base_ballot.generation;
        let session = state.next_id(n);
        self.seal(state, n, chosen, session);
        record_loss(state, chosen, &base, state.every() & !chosen);
        for m in members(chosen) {
            state.nodes[m].window = 0;
        }
        let id = state.next_id(n);
        let epoch = base.epoch + 1;
        let leader = small(n);
        let value = Value { epoch, id, leader, session, for_clients, insync: chosen, ..base };
        let ballot = Ballot { generation, counter: counter + 1, by: leader };
        for m in members(state.votes(reached, &value) | bit(n)) {
            state.nodes[m].promised = ballot;
        }
        let lead = new_lead(session, purpose, base, chosen, Some((ballot, value)));
        state.nodes[n].lead = Some(lead);
        if has(state.votes(bit(n), &value), n) {
            state.accept(n, ballot, value);
        }
        true
    }

    /// 7.2 to 7.6: the members obey the new session, and what they may differ in is equal.
    fn seal(&self, state: &mut State, n: usize, chosen: u8, session: u8) {
        let differing = members(chosen).fold(0, |set, m| {
            let node = &state.nodes[m];
            set | state.blocks_of(node.window) | node.own
        });
        let differing = if chosen == bit(n) { 0 } else { differing };
        for m in members(chosen) {
            state.nodes[m].content = state.copied(n, m, differing);
            state.nodes[m].sealed = session;
            state.nodes[m].admitted = false;
        }
    }

    /// ACCEPT arrives at a voter.
    pub(super) fn vote(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some((ballot, value)) = state.nodes[n].lead.and_then(|lead| lead.proposed) else {
            return false;
        };
        let is_voter = has(state.votes(bit(m), &value), m);
        let node = &state.nodes[m];
        let is_older =
            node.head.branch != value.branch && node.ballot.generation > ballot.generation;
        let may = n != m && node.promised <= ballot && node.ballot < ballot && !is_older;
        if !is_voter || !may || !state.reaches(n, m) || node.discard.is_some() {
            return false;
        }
        state.accept(m, ballot, value);
        true
    }

    /// The answers of a quorum are there; all in reach are told.
    pub(super) fn learn(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.nodes[n].lead else { return false };
        let Some((ballot, value)) = lead.proposed else { return false };
        let reached = state.reach(n);
        let has_it = |&m: &usize| {
            let node = &state.nodes[m];
            node.ballot == ballot && node.head.id == value.id
        };
        let votes = members(reached).filter(has_it).fold(0, |set, m| set | bit(m));
        if !state.is_quorum(votes, &value) {
            return false;
        }
        let joined = value.insync & !lead.value.insync;
        lead.proposed = None;
        lead.value = value;
        if lead.is_serving {
            lead.ws &= !lead.losing;
            lead.losing = 0;
            lead.resync = lead.resync.filter(|(m, _)| !has(joined, usize::from(*m)));
        } else {
            lead.is_serving = true;
            lead.ws = value.insync;
        }
        for m in members(reached) {
            let is_told = state.nodes[m].ballot <= ballot;
            let is_other = |it: Lead| it.is_serving && it.session != lead.session;
            if is_told && m != n && state.nodes[m].lead.is_some_and(is_other) {
                state.end_for_another(m);
            }
            let is_sealed = state.nodes[m].sealed == lead.session;
            let is_in_sync = has(value.insync, m) && state.nodes[m].branch == value.branch;
            let node = &mut state.nodes[m];
            if is_told {
                (node.ballot, node.head) = (ballot, value);
                node.promised = node.promised.max(ballot);
            }
            if is_in_sync && is_sealed {
                (node.data, node.joined, node.candidate) = (Data::InSync, value.joined[m], 0);
                (node.admitted, node.own) = (true, 0);
            } else if node.data == Data::InSync && is_told && !has(value.insync, m) {
                node.data = Data::Outdated;
            }
        }
        state.nodes[n].lead = Some(lead);
        true
    }

    /// 7.8: another session was promised, or a newer line is in reach; or the client is gone.
    pub(super) fn end(&self, state: &mut State, n: usize) -> bool {
        let Some(lead) = state.nodes[n].lead else { return false };
        let reached = state.reach(n);
        let is_settled = members(reached).all(|m| state.is_settled(m, &lead.value));
        let is_done = lead.for_clients
            || is_settled && lead.value.voters_old == NOBODY
            || !state.is_quorum(reached, &lead.value);
        let is_idle = lead.write.is_none() && lead.proposed.is_none() && lead.losing == 0;
        let is_over = members(reached).any(|m| {
            let node = &state.nodes[m];
            let is_newer = m == n && lead.is_serving || node.promised > state.nodes[n].promised;
            node.head.session != lead.session && is_newer
        });
        if !(is_over || is_idle && is_done) {
            return false;
        }
        if is_idle {
            // Whoever is in reach has all of it.
            for m in members(state.obedient(n, &lead)) {
                state.nodes[m].window = 0;
            }
        }
        state.nodes[n].lead = None;
        true
    }
}

impl State {
    /// The newest value in reach is another session's, and chosen.
    pub(super) fn end_superseded(&mut self, n: usize) {
        let Some(lead) = self.nodes[n].lead.filter(|lead| lead.is_serving) else { return };
        let reached = self.reach(n);
        let newest = members(reached).max_by_key(|&m| self.nodes[m].ballot).unwrap_or(n);
        let Node { ballot, head, .. } = &self.nodes[newest];
        let has_it = |&m: &usize| self.nodes[m].ballot == *ballot;
        let votes = members(reached).filter(has_it).fold(0, |set, m| set | bit(m));
        let is_newer = head.epoch > lead.value.epoch || head.branch != lead.value.branch;
        if head.session != lead.session && is_newer && self.is_quorum(votes, head) {
            self.end_for_another(n);
        }
    }

    /// The session of `n` ends because of a value of another one.
    fn end_for_another(&mut self, n: usize) {
        let Some(lead) = self.nodes[n].lead.take() else { return };
        self.wrongs.ended |= lead.for_clients && !self.is_left(&lead);
    }

    /// The oracle: a quorum of its voters went on without this session.
    fn is_left(&self, lead: &Lead) -> bool {
        let went_on = |m: usize| {
            let head = &self.nodes[m].head;
            head.session != lead.session && !is_before(head, &lead.value)
        };
        [lead.value.voters, lead.value.voters_old].iter().all(|voters| {
            let left =
                std::array::from_fn(
                    |m| {
                        if self.nodes.len() > m && went_on(m) { voters[m] } else { 0 }
                    },
                );
            *voters == NOBODY || is_majority(&left, voters)
        })
    }
}

// ---- Section 5.

impl Forks {
    pub(super) fn write(&self, state: &mut State, n: usize, block: u8) -> bool {
        let Some(mut lead) = state.serving(n).filter(|lead| lead.for_clients) else { return false };
        if lead.write.is_some() || state.left.writes == 0 || !has(lead.ws, n) {
            return false;
        }
        let write = usize::from(self.size.writes - state.left.writes);
        state.left.writes -= 1;
        state.blocks[write] = block;
        lead.write = Some((small(write), 0));
        state.nodes[n].lead = Some(lead);
        if let Some(line) = state.line_mut(lead.value.branch) {
            line.may |= bit(write);
        }
        apply(state, n, n)
    }

    pub(super) fn apply(&self, state: &mut State, n: usize, m: usize) -> bool {
        n != m && apply(state, n, m)
    }

    pub(super) fn complete(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.serving(n) else { return false };
        let Some((write, acks)) = lead.write else { return false };
        if lead.ws & !acks != 0 {
            return false;
        }
        lead.write = None;
        state.nodes[n].lead = Some(lead);
        for m in members(state.obedient(n, &lead)) {
            state.nodes[m].window &= !bit(usize::from(write));
        }
        if let Some(line) = state.line_mut(lead.value.branch) {
            line.acknowledged |= bit(usize::from(write));
        }
        true
    }
}

fn apply(state: &mut State, n: usize, m: usize) -> bool {
    let Some(mut lead) = state.serving(n) else { return false };
    let Some((write, acks)) = lead.write else { return false };
    let is_asked = has(lead.ws, m) && !has(acks, m) && state.obeys(n, m, lead.session);
    if !is_asked {
        return false;
    }
    lead.write = Some((write, acks | bit(m)));
    state.nodes[n].lead = Some(lead);
    let absent = state.every() & (!lead.ws | lead.losing);
    let block = bit(usize::from(state.blocks[usize::from(write)]));
    let node = &mut state.nodes[m];
    node.content |= bit(usize::from(write));
    node.window |= bit(usize::from(write));
    for absent in members(absent) {
        node.slots[absent].bits |= block;
    }
    true
}

// ---- Sections 6 and 8, and 9.2.

impl Forks {
    /// All members that do not obey any more are lost.
    pub(super) fn lose(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.serving(n).filter(|lead| lead.proposed.is_none()) else {
            return false;
        };
        let obedient = state.obedient(n, &lead);
        let lost = lead.ws & !obedient;
        let stay = lead.ws & obedient;
        if lost | lead.losing == 0 || !has(stay, n) {
            return false;
        }
        // Who is copied to may lose its source: the copy begins anew.
        let dropped = if lost == 0 { 0 } else { lead.ws & !lead.value.insync };
        record_loss(state, stay & !dropped, &lead.value, lost | dropped);
        lead.ws &= !dropped;
        if dropped != 0 {
            lead.resync = None;
        }
        lead.losing = lost & lead.value.insync;
        if lead.losing != 0 {
            let insync = lead.value.insync & !lead.losing;
            let value = Value { insync, ..lead.value };
            state.propose(n, &mut lead, value);
        }
        state.nodes[n].lead = Some(lead);
        true
    }

    /// 8.1 to 8.3, for whoever is behind on this line, or on one that this line left behind.
    pub(super) fn admit(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(mut lead) = state.serving(n) else { return false };
        let value = lead.value;
        let is_outside = has(state.every() & !(lead.ws | value.insync), m) && state.reaches(n, m);
        // Whoever does not obey any more is lost first.
        let is_losing = lead.losing != 0 || lead.ws & !state.obedient(n, &lead) != 0;
        let is_busy = lead.resync.is_some() || is_losing || lead.proposed.is_some();
        let node = &state.nodes[m];
        let is_newer = node.ballot > state.nodes[n].ballot || node.discard.is_some();
        let Some(source) = state.source(n, &lead) else { return false };
        let shared = shared_until(&value, node.branch, node.joined);
        let is_of_history = shared.is_some() || node.data == Data::Blank;
        if !is_outside || is_busy || is_newer || !is_of_history {
            return false;
        }
        self.note_what_follows(state, n, m);
        let slot = state.nodes[source].slots[m];
        let unstable = state.blocks_of(state.nodes[m].window);
        let every = bit(usize::from(self.size.blocks)) - 1;
        let node = &mut state.nodes[m];
        let reaches_back = slot.base != NO_BASE && slot.base <= node.joined;
        let is_good = shared.is_some() && node.data != Data::Blank && reaches_back;
        node.own |= unstable;
        node.window = 0;
        node.lead = None;
        node.wish = false;
        if node.branch != value.branch {
            node.branch = value.branch;
            node.joined = node.joined.min(shared.unwrap_or(0));
        }
        (node.data, node.candidate) = (Data::Syncing, 0);
        (node.sealed, node.admitted) = (lead.session, true);
        let bits = if is_good { slot.bits | node.own } else { every };
        // Of a loss that is over nothing is left.
        for member in members(value.insync) {
            node.slots[member] = Slot { base: NO_BASE, bits: 0 };
        }
        let base = node.joined;
        // It obeyed a session with a higher ballot, perhaps: the next one is above that.
        let Ballot { generation, counter, .. } = node.promised;
        let leader = &mut state.nodes[n];
        let promised = Ballot { generation, counter, by: small(n) };
        leader.promised = leader.promised.max(promised);
        let (ballot, head, promised) = (leader.ballot, leader.head, leader.promised);
        let node = &mut state.nodes[m];
        if node.ballot < ballot && head.id == value.id {
            (node.ballot, node.head) = (ballot, head);
            node.promised = node.promised.max(promised);
        }
        if !is_good {
            for member in members(lead.value.insync & lead.ws) {
                state.nodes[member].slots[m] = Slot { base, bits: every };
            }
        }
        lead.ws |= bit(m);
        lead.resync = Some((small(m), bits));
        state.nodes[n].lead = Some(lead);
        true
    }

    /// The oracle: what becomes of the line that `m` was on.
    fn note_what_follows(&self, state: &mut State, n: usize, m: usize) {
        let node = &state.nodes[m];
        let (left, taken) = (node.branch, state.nodes[n].head.branch);
        if left == taken {
            return;
        }
        if node.data == Data::InSync {
            let acknowledged = state.line(left).map_or(0, |line| line.acknowledged);
            let may = state.line(taken).map_or(0, |line| line.may);
            state.wrongs.lost |= acknowledged & node.content & !may != 0;
        }
        let leader = usize::from(node.head.leader);
        let is_led = leads_clients_by(state, leader, &node.head) && state.reaches(m, leader);
        let lead = state.nodes[leader].lead.filter(|_| is_led && leader != n);
        state.wrongs.ended |= lead.is_some_and(|lead| !state.is_left(&lead));
    }

    pub(super) fn copy(&self, state: &mut State, n: usize, block: u8) -> bool {
        let Some(mut lead) = state.serving(n) else { return false };
        let Some((target, bits)) = lead.resync else { return false };
        let target = usize::from(target);
        let mask = bit(usize::from(block));
        let is_locked =
            lead.write.is_some_and(|(write, _)| state.blocks[usize::from(write)] == block);
        let Some(source) = state.source(n, &lead) else { return false };
        let is_there = state.obeys(n, target, lead.session);
        if bits & mask == 0 || is_locked || !is_there {
            return false;
        }
        state.nodes[target].content = state.copied(source, target, mask);
        state.nodes[target].own &= !mask;
        for m in members(state.obedient(n, &lead)) {
            state.nodes[m].slots[target].bits &= !mask;
        }
        lead.resync = Some((small(target), bits & !mask));
        state.nodes[n].lead = Some(lead);
        true
    }

    /// 8.5.
    pub(super) fn join(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.serving(n) else { return false };
        let Some((target, 0)) = lead.resync else { return false };
        let target = usize::from(target);
        let Some(source) = state.source(n, &lead) else { return false };
        let is_free = lead.proposed.is_none() && lead.losing == 0;
        if !is_free || !state.obeys(n, target, lead.session) {
            return false;
        }
        let mut value = lead.value;
        for m in members(state.every() & !value.insync & !bit(target)) {
            let theirs = state.nodes[source].slots[m];
            let slot = &mut state.nodes[target].slots[m];
            *slot = Slot { base: theirs.base, bits: slot.bits | theirs.bits };
        }
        value.insync |= bit(target);
        value.joined[target] = value.epoch + 1;
        state.nodes[target].candidate = value.epoch + 1;
        if !state.propose(n, &mut lead, value) {
            return false;
        }
        state.nodes[n].lead = Some(lead);
        true
    }

    /// 9.2: whoever is in sync votes, with the vote store that it has; then the old voters go.
    pub(super) fn change_voters(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.serving(n) else { return false };
        let is_free = lead.proposed.is_none() && lead.losing == 0 && lead.resync.is_none();
        let mut value = lead.value;
        if value.voters_old == NOBODY {
            for m in members(value.insync & state.obedient(n, &lead)) {
                value.voters[m] = state.nodes[m].store;
            }
            // Of an even number of replicas a witness makes an odd one.
            let voters = members(state.every()).filter(|&m| value.voters[m] != 0);
            let is_even = voters.count() % 2 == 0;
            for m in members(state.reach(n) & !state.every()) {
                value.voters[m] = if is_even { state.nodes[m].store } else { 0 };
            }
            if value.voters == lead.value.voters {
                return false;
            }
            value.voters_old = lead.value.voters;
        } else {
            value.voters_old = NOBODY;
        }
        if !is_free {
            return false;
        }
        if !state.propose(n, &mut lead, value) {
            return false;
        }
        state.nodes[n].lead = Some(lead);
        true
    }
}
