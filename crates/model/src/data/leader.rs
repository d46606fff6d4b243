//! What a leader does: promotion (7), writes and reads (5), losing a member (6), its return (8).

use super::state::{
    Config, Copying, Leader, Phase, Reading, Resync, Rule, State, bit, bits, block_of, member_bit,
};
use super::{Data, Finds};

const RANK_INTACT: u8 = 3;
const RANK_RESTARTED: u8 = 2;
const RANK_REBOOTED: u8 = 1;

// ---- Section 7.

impl Data {
    pub(super) fn promote(&self, state: &mut State, n: usize, finds: Finds) -> bool {
        let is_leased = state.lease != 0;
        if !state.members[n].alive || state.sessions > self.size.promotions || is_leased {
            return false;
        }
        match (finds, state.in_doubt.take()) {
            (Finds::Nothing, _) => {}
            (Finds::Proposal, Some(found)) => state.make_head(found),
            (Finds::Proposal, None) => return false,
        }
        state.sessions += 1;
        state.promised = state.sessions;
        state.leaders[n] = Some(Leader::new(state.sessions, state.head));
        true
    }

    pub(super) fn choose_members(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.leaders[n].filter(|it| it.phase == Phase::Sealing) else {
            return false;
        };
        let ranks = bits(leader.answered).map(|m| (m, rank(state, m)));
        let Some(best) = ranks.clone().map(|(_, rank)| rank).max() else { return false };
        let kept = ranks.filter(|(_, rank)| *rank == best || !self.has(Rule::Rank));
        leader.ws = kept.fold(0, |set, (m, _)| set | bit(m));
        leader.missed = self.differences(state, leader.ws);
        leader.u = if leader.ws.count_ones() == 1 { 0 } else { leader.missed };
        if best == RANK_REBOOTED {
            leader.losses += 1;
        }
        leader.phase = Phase::Recording;
        leader.there = leader.ws;
        leader.answered = 0;
        leader.losing = every(self.size.replicas) & !leader.ws;
        state.leaders[n] = Some(leader);
        true
    }

    /// U of 7.4.
    fn differences(&self, state: &State, chosen: u8) -> u8 {
        let members = || bits(chosen).map(|m| &state.members[usize::from(m)]);
        let stable = members().fold(0, |set, member| set | member.stable);
        let mut blocks = 0;
        for member in members() {
            if self.has(Rule::WindowsInU) {
                let open = bits(member.window & !stable);
                blocks |= open.fold(0, |set, write| set | bit(block_of(write, self.size.blocks)));
            }
            blocks |= member.inherited;
            if !member.intact {
                blocks |= member.own;
            }
        }
        blocks
    }

    pub(super) fn propose_session(&self, state: &mut State, n: usize) -> bool {
        let Some(leader) = state.leaders[n].filter(|it| it.phase == Phase::Recording) else {
            return false;
        };
        let is_recorded = leader.losing == 0
            || leader.answered == leader.ws
            || !self.has(Rule::PromotionRecordsLoss);
        if !is_recorded || !state.may_propose(&leader) {
            return false;
        }
        let Leader { session, ws, losses, config, .. } = leader;
        let proposed = state.propose(Config { session, insync: ws, losses, ..config });
        let next = Leader { phase: Phase::Proposing, answered: 0, losing: 0, proposed, ..leader };
        state.leaders[n] = Some(next);
        true
    }

    pub(super) fn serve(&self, state: &mut State, n: usize) -> bool {
        let Some(leader) = state.leaders[n].as_mut() else { return false };
        if leader.phase != Phase::Announcing || leader.answered != leader.ws {
            return false;
        }
        leader.phase = Phase::Serving;
        leader.there = 0;
        leader.answered = 0;
        leader.missed = 0;
        true
    }

    /// The value that the leader proposed was chosen.
    pub(super) fn learn(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.leaders[n] else { return false };
        if leader.proposed == 0 || !state.was_chosen(leader.proposed) {
            return false;
        }
        if state.head.session != leader.session {
            return false;
        }
        leader.proposed = 0;
        leader.config = state.head;
        match leader.phase {
            Phase::Proposing => leader.phase = Phase::Announcing,
            Phase::Serving => {
                let gone = leader.losing & !leader.config.insync;
                leader.forget(gone);
                if let Some(resync) = leader.resync
                    && leader.config.insync & bit(resync.member) != 0
                {
                    leader.resync = None;
                }
            }
            Phase::Sealing | Phase::Recording | Phase::Announcing => return false,
        }
        state.leaders[n] = Some(leader);
        true
    }
}

fn every(replicas: usize) -> u8 {
    (1 << replicas) - 1
}

/// Section 2.
fn rank(state: &State, m: u8) -> u8 {
    let member = &state.members[usize::from(m)];
    match (member.intact, member.rebooted) {
        (true, _) => RANK_INTACT,
        (false, false) => RANK_RESTARTED,
        (false, true) => RANK_REBOOTED,
    }
}

// ---- The register, of which only the outcome is seen.

impl State {
    fn may_propose(&self, leader: &Leader) -> bool {
        self.promised == leader.session && self.in_doubt.is_none() && leader.proposed == 0
    }

    fn propose(&mut self, value: Config) -> u8 {
        let id = self.next_id;
        self.next_id += 1;
        self.in_doubt = Some(Config { id, epoch: value.epoch + 1, ..value });
        id
    }

    pub(super) fn choose(&mut self) -> bool {
        let Some(value) = self.in_doubt.take() else { return false };
        self.make_head(value);
        true
    }

    /// C5: what was not flushed may be back, and the client is told.
    pub(super) fn make_head(&mut self, value: Config) {
        if value.losses > self.head.losses {
            let blocks = self.client.candidates.iter_mut().zip(self.client.since_flush);
            blocks.for_each(|(candidates, since)| *candidates |= since);
        }
        self.chosen |= 1 << value.id;
        self.head = value;
    }

    pub(super) fn stand_down(&mut self, n: usize) -> bool {
        let is_over = self.leaders[n].is_some_and(|it| it.session != self.promised);
        if is_over {
            self.leaders[n] = None;
        }
        is_over
    }

    pub(super) fn grant(&mut self, n: usize) -> bool {
        let Some(leader) = self.leaders[n] else { return false };
        let is_session = self.head.session == leader.session && self.promised == leader.session;
        if leader.phase != Phase::Serving || !is_session || self.left.reads == 0 {
            return false;
        }
        self.lease = leader.session;
        true
    }

    pub(super) fn end_lease(&mut self) -> bool {
        self.lease = 0;
        true
    }

    fn serving(&self, n: usize) -> Option<Leader> {
        self.leaders[n].filter(|it| it.phase == Phase::Serving)
    }

    /// Connected, sealed to the session, and admitted to it in this life.
    pub(super) fn obeys(&self, m: usize, session: u8) -> bool {
        let member = &self.members[m];
        member.alive && member.sealed == session && member.admitted == session
    }
}

// ---- Section 5.

impl Data {
    fn block(&self, write: u8) -> u8 {
        block_of(write, self.size.blocks)
    }

    fn is_locked(&self, leader: &Leader, block: u8) -> bool {
        let mut writes = bits(leader.in_flight);
        writes.any(|write| self.block(write) == block)
            || self.has(Rule::CopyUnderLock) && leader.copy.is_some_and(|copy| copy.block == block)
    }

    pub(super) fn write(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let write = state.client.writes + 1;
        let block = self.block(write);
        if state.client.writes == self.size.writes || self.is_locked(&leader, block) {
            return false;
        }
        state.client.writes = write;
        state.client.candidates[usize::from(block)] |= bit(write);
        if self.size.power_cuts > 0 {
            state.client.since_flush[usize::from(block)] |= bit(write);
        }
        leader.in_flight |= bit(write);
        leader.needed[usize::from(write - 1)] = leader.ws;
        leader.absent[usize::from(write - 1)] =
            every(self.size.replicas) & !leader.ws | leader.losing;
        state.leaders[n] = Some(leader);
        for reading in state.readings(block) {
            reading.legal |= bit(write);
            reading.meanwhile |= bit(write);
        }
        true
    }

    pub(super) fn complete(&self, state: &mut State, n: usize, write: u8) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let acks = leader.acks[usize::from(write - 1)];
        let needed = leader.needed[usize::from(write - 1)];
        let is_acknowledged =
            needed & !acks == 0 || acks != 0 && !self.has(Rule::AcknowledgedByAll);
        if leader.in_flight & bit(write) == 0 || !is_acknowledged {
            return false;
        }
        leader.in_flight &= !bit(write);
        leader.stable |= bit(write);
        leader.acks[usize::from(write - 1)] = 0;
        leader.absent[usize::from(write - 1)] = 0;
        leader.needed[usize::from(write - 1)] = 0;
        leader.reconciled |= bit(self.block(write)) & leader.u;
        leader.u &= !bit(self.block(write));
        state.leaders[n] = Some(leader);
        let block = self.block(write);
        state.client.completed |= bit(write);
        // What overlapped it may come before it or after it.
        let overlapped = state.client.meanwhile[usize::from(write - 1)];
        let never_completed = !state.client.completed & !1;
        let candidates = &mut state.client.candidates[usize::from(block)];
        *candidates = bit(write) | *candidates & (never_completed | overlapped);
        for other in 1..=state.client.writes {
            if state.client.completed & bit(other) == 0 {
                state.client.meanwhile[usize::from(other - 1)] |= bit(write);
            }
        }
        true
    }

    /// C2: all of WS has it on stable media.
    pub(super) fn flush(&self, state: &mut State, n: usize) -> bool {
        let Some(leader) = state.serving(n) else { return false };
        let mut members = bits(leader.ws).map(usize::from);
        if state.left.flushes == 0 || !members.all(|m| state.obeys(m, leader.session)) {
            return false;
        }
        state.left.flushes -= 1;
        for m in bits(leader.ws).map(usize::from) {
            state.members[m].durable = state.members[m].cached;
        }
        state.client.since_flush = state.client.candidates;
        true
    }

    pub(super) fn read(&self, state: &mut State, n: usize, block: u8) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let waits = self.is_locked(&leader, block)
            || leader.u & bit(block) != 0 && self.has(Rule::CopyBeforeRead);
        if leader.read.is_some() || state.left.reads == 0 || waits {
            return false;
        }
        state.left.reads -= 1;
        let legal = state.client.candidates[usize::from(block)];
        let meanwhile = state.in_flight();
        leader.read = Some(Reading { block, value: None, legal, meanwhile });
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn take_bytes(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let is_source = leader.config.insync & !leader.losing & member_bit(m) != 0;
        let Some(reading) = leader.read.as_mut().filter(|it| it.value.is_none()) else {
            return false;
        };
        if !is_source || !state.obeys(m, leader.session) {
            return false;
        }
        reading.value = Some(state.members[m].cached[usize::from(reading.block)]);
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn answer(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let Some(reading) = leader.read else { return false };
        let Reading { block, value: Some(value), legal, meanwhile } = reading else {
            return false;
        };
        let is_held = self.is_locked(&leader, block) && self.has(Rule::ReadHeld);
        let is_fenced = state.lease == leader.session || !self.has(Rule::ReadFenced);
        if is_held || !is_fenced {
            return false;
        }
        leader.read = None;
        state.leaders[n] = Some(leader);
        state.client.stale |= legal & bit(value) == 0;
        // C3: what was read once is final, but for what the read overlapped.
        let kept = bit(value) | meanwhile | state.in_flight();
        state.client.candidates[usize::from(block)] &= kept;
        true
    }
}

impl State {
    fn in_flight(&self) -> u8 {
        self.leaders.iter().flatten().fold(0, |set, leader| set | leader.in_flight)
    }

    fn readings(&mut self, block: u8) -> impl Iterator<Item = &mut Reading> {
        let leaders = self.leaders.iter_mut().flatten();
        leaders.filter_map(|it| it.read.as_mut()).filter(move |it| it.block == block)
    }
}

// ---- Section 6.

impl Data {
    pub(super) fn begin_loss(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let left = leader.config.insync & !leader.losing & !member_bit(m);
        let is_member = leader.ws & !leader.losing & member_bit(m) != 0;
        if !is_member || left == 0 || leader.proposed != 0 {
            return false;
        }
        if state.obeys(m, leader.session) {
            if state.left.evictions == 0 {
                return false;
            }
            state.left.evictions -= 1;
        }
        leader.losing |= member_bit(m);
        leader.answered = 0;
        leader.missed = leader.u | self.blocks_in_flight(&leader);
        if let Some(copy) = leader.copy.as_mut() {
            leader.missed |= bit(copy.block);
        }
        state.leaders[n] = Some(leader);
        true
    }

    fn blocks_in_flight(&self, leader: &Leader) -> u8 {
        bits(leader.in_flight).fold(0, |set, write| set | bit(self.block(write)))
    }

    pub(super) fn propose_loss(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let others = leader.ws & !leader.losing;
        let is_recorded = leader.answered & others == others || !self.has(Rule::LossRecorded);
        if leader.losing == 0 || leader.proposed != 0 || !is_recorded {
            return false;
        }
        let lost = leader.config.insync & leader.losing;
        if lost == 0 {
            // Only in WS: no CAS.
            leader.forget(leader.losing);
            state.leaders[n] = Some(leader);
            return true;
        }
        if !state.may_propose(&leader) {
            return false;
        }
        let insync = leader.config.insync & !lost;
        leader.proposed = state.propose(Config { insync, ..leader.config });
        if !self.has(Rule::ShrinkWhenChosen) {
            leader.forget(leader.losing);
        }
        state.leaders[n] = Some(leader);
        true
    }
}

// ---- Section 8.

impl Data {
    pub(super) fn load_bits(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let Some(mut resync) = leader.resync.filter(|resync| !resync.loaded) else { return false };
        let is_source = leader.config.insync & !leader.losing & member_bit(m) != 0;
        // What was sent to the source before is there, for a connection keeps its order.
        let sent = leader.in_flight;
        let has_all = sent & !(state.members[m].window | state.members[m].stable) == 0;
        if !is_source || !has_all || !state.obeys(m, leader.session) {
            return false;
        }
        let target = usize::from(resync.member);
        resync.bits |= state.members[m].slots[target].bits | state.members[target].own;
        resync.loaded = true;
        leader.resync = Some(resync);
        state.leaders[n] = Some(leader);
        true
    }

    /// Of U to all of WS (7.6), or of what a returning member misses to it (8.4).
    pub(super) fn start_copy(&self, state: &mut State, n: usize, m: usize, block: u8) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let is_source = leader.config.insync & !leader.losing & member_bit(m) != 0;
        let is_locked = self.is_locked(&leader, block) || leader.copy.is_some();
        if !is_source || is_locked || !state.obeys(m, leader.session) {
            return false;
        }
        let resync = leader.resync.filter(|it| it.loaded && it.bits & bit(block) != 0);
        let targets = match resync {
            _ if leader.u & bit(block) != 0 => leader.ws,
            Some(resync) => bit(resync.member),
            None => return false,
        };
        let value = state.members[m].cached[usize::from(block)];
        leader.copy = Some(Copying { block, value, targets, done: 0 });
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn end_copy(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let Some(copy) = leader.copy else { return false };
        let needed = copy.targets & leader.ws;
        if needed & !copy.done != 0 {
            return false;
        }
        leader.copy = None;
        if leader.u & bit(copy.block) != 0 {
            leader.u &= !bit(copy.block);
            leader.reconciled |= bit(copy.block);
        } else if let Some(resync) = leader.resync.as_mut()
            && copy.targets == copy.done
        {
            // CLEAR, under the lock.
            resync.bits &= !bit(copy.block);
            let target = usize::from(resync.member);
            for m in bits(leader.ws).map(usize::from) {
                if state.obeys(m, leader.session) {
                    state.members[m].slots[target].bits &= !bit(copy.block);
                }
            }
            state.members[target].own &= !bit(copy.block);
        }
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn propose_join(&self, state: &mut State, n: usize) -> bool {
        let Some(mut leader) = state.serving(n) else { return false };
        let Some(mut resync) = leader.resync.filter(|it| it.loaded && it.bits == 0) else {
            return false;
        };
        let target = usize::from(resync.member);
        let is_ready = leader.u == 0 && leader.losing == 0 && leader.copy.is_none();
        let is_there = state.obeys(target, leader.session);
        if !is_ready || !is_there || !state.may_propose(&leader) {
            return false;
        }
        let mut config = leader.config;
        config.insync |= bit(resync.member);
        config.joined[target] = config.epoch + 1;
        leader.proposed = state.propose(config);
        resync.joining = true;
        leader.resync = Some(resync);
        state.leaders[n] = Some(leader);
        let member = &mut state.members[target];
        member.candidate = leader.proposed;
        if self.size.power_cuts > 0 {
            member.durable = member.cached;
        }
        member.rebooted = false;
        true
    }

    pub(super) fn begin_resync(&self, state: &mut State, n: usize, m: usize) {
        let Some(mut leader) = state.serving(n) else { return };
        leader.ws |= member_bit(m);
        let member = u8::try_from(m).expect("few members");
        let mut resync = Resync { member, bits: 0, loaded: false, joining: false };
        if !self.has(Rule::LoadAfterGrow) {
            // As it was before: what is in flight now is not marked yet.
            let source = bits(leader.config.insync & !leader.losing).next().map_or(0, usize::from);
            resync.bits = state.members[source].slots[m].bits | state.members[m].own;
            resync.loaded = true;
        }
        leader.resync = Some(resync);
        state.leaders[n] = Some(leader);
    }
}
