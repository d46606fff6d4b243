//! What a member does: it obeys one session, and remembers what may differ.

use super::Data;
use super::state::{Leader, Phase, Rule, Slot, State, bit, bits, block_of, member_bit};

impl Data {
    pub(super) fn seal(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(leader) = state.leaders[n].as_mut() else { return false };
        let is_asked = leader.phase == Phase::Sealing && leader.config.insync & member_bit(m) != 0;
        let member = &mut state.members[m];
        if !is_asked || !member.alive || member.sealed > leader.session {
            return false;
        }
        member.sealed = leader.session;
        leader.answered |= member_bit(m);
        true
    }

    /// LOSS of a loss, or of a promotion, at one of those who stay.
    pub(super) fn record_loss(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(leader) = state.leaders[n] else { return false };
        let is_promotion = leader.phase == Phase::Recording;
        let is_asked = is_promotion || leader.phase == Phase::Serving && leader.proposed == 0;
        let stays = leader.ws & !leader.losing & member_bit(m) != 0;
        let member = &state.members[m];
        let obeys = member.alive && member.sealed == leader.session;
        let is_admitted = is_promotion || member.admitted == leader.session;
        if !is_asked || leader.losing == 0 || !stays || !obeys || !is_admitted {
            return false;
        }
        let unstable = self.blocks_of(member.window) | member.inherited;
        for lost in bits(leader.losing).map(usize::from) {
            let slot = &mut state.members[m].slots[lost];
            let base = leader.config.joined[lost];
            let was_in_sync = leader.config.insync & member_bit(lost) != 0;
            if was_in_sync && slot.base != base {
                *slot = Slot { base, bits: 0 };
            }
            slot.bits |= unstable | leader.missed;
        }
        let answered = leader.answered | member_bit(m);
        state.leaders[n] = Some(Leader { answered, ..leader });
        true
    }

    fn blocks_of(&self, writes: u8) -> u8 {
        bits(writes).fold(0, |set, write| set | bit(block_of(write, self.size.blocks)))
    }

    pub(super) fn new_epoch(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(leader) = state.leaders[n].as_mut() else { return false };
        let member = &mut state.members[m];
        let is_asked = leader.phase == Phase::Announcing && leader.ws & member_bit(m) != 0;
        let is_same = leader.there & member_bit(m) != 0 || !self.has(Rule::SameLife);
        if !is_asked || !member.alive || !is_same || member.sealed != leader.session {
            return false;
        }
        member.inherited = if self.has(Rule::Inherit) { leader.u } else { 0 };
        member.own = member.inherited;
        member.window = 0;
        member.stable = 0;
        member.admitted = leader.session;
        member.intact = true;
        member.rebooted = false;
        member.joined = leader.config.joined[m];
        member.candidate = 0;
        leader.answered |= member_bit(m);
        true
    }

    pub(super) fn apply(&self, state: &mut State, n: usize, m: usize, write: u8) -> bool {
        let Some(mut leader) = state.leaders[n] else { return false };
        let is_needed = leader.needed[usize::from(write - 1)] & member_bit(m) != 0;
        let is_sent = leader.in_flight & bit(write) != 0 && is_needed;
        let is_fenced = self.has(Rule::SealFences);
        let obeys = state.obeys(m, leader.session)
            || !is_fenced && state.members[m].alive && state.members[m].admitted != 0;
        let member = &mut state.members[m];
        if !is_sent || !obeys || (member.window | member.stable) & bit(write) != 0 {
            return false;
        }
        let block = block_of(write, self.size.blocks);
        member.cached[usize::from(block)] = write;
        member.log |= bit(block);
        member.window |= bit(write);
        if self.has(Rule::BitsOfAbsent) {
            for absent in bits(leader.absent[usize::from(write - 1)]).map(usize::from) {
                member.slots[absent].bits |= bit(block);
            }
        }
        leader.acks[usize::from(write - 1)] |= member_bit(m);
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn tell_stable(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(leader) = state.leaders[n].filter(|it| it.phase == Phase::Serving) else {
            return false;
        };
        if leader.ws & member_bit(m) == 0 || !state.obeys(m, leader.session) {
            return false;
        }
        let is_in_sync = state.head.insync & member_bit(m) != 0;
        let member = &mut state.members[m];
        let stable = member.window & leader.stable;
        member.window &= !stable;
        member.stable |= stable;
        let equal = self.blocks_of(stable) | leader.reconciled;
        member.inherited &= if self.has(Rule::KeepInherited) { !equal } else { 0 };
        if is_in_sync {
            member.own &= !equal;
        }
        true
    }

    pub(super) fn admit(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(leader) = state.leaders[n].filter(|it| it.phase == Phase::Serving) else {
            return false;
        };
        let is_outside = (leader.ws | leader.config.insync) & member_bit(m) == 0;
        let is_busy = leader.resync.is_some() || leader.losing != 0 || leader.proposed != 0;
        if !is_outside || is_busy || !state.members[m].alive {
            return false;
        }
        if state.members[m].sealed > leader.session {
            return false;
        }
        let candidate = state.members[m].candidate;
        let was_chosen = candidate != 0 && state.was_chosen(candidate);
        let unstable = self.blocks_of(state.members[m].window) | state.members[m].inherited;
        let member = &mut state.members[m];
        member.sealed = leader.session;
        member.admitted = leader.session;
        if self.has(Rule::TakeOver) {
            member.own |= unstable;
        }
        member.window = 0;
        member.stable = 0;
        member.inherited = 0;
        let joined = member.joined;
        let all = (1 << self.size.blocks) - 1;
        for x in bits(leader.config.insync).map(usize::from) {
            let slot = &mut state.members[x].slots[m];
            if slot.base > joined && !was_chosen {
                *slot = Slot { base: joined, bits: all };
            }
        }
        self.begin_resync(state, n, m);
        true
    }

    pub(super) fn copy(&self, state: &mut State, n: usize, m: usize) -> bool {
        let Some(mut leader) = state.leaders[n].filter(|it| it.phase == Phase::Serving) else {
            return false;
        };
        let Some(mut copy) = leader.copy else { return false };
        let is_target = copy.targets & leader.ws & !copy.done & member_bit(m) != 0;
        if !is_target || !state.obeys(m, leader.session) {
            return false;
        }
        let member = &mut state.members[m];
        let is_resync = leader.u & bit(copy.block) == 0;
        member.cached[usize::from(copy.block)] = copy.value;
        member.log |= bit(copy.block);
        if is_resync {
            if self.size.power_cuts > 0 {
                member.durable[usize::from(copy.block)] = copy.value;
            }
        } else {
            for absent in bits(!leader.ws & ((1 << self.size.replicas) - 1) | leader.losing) {
                member.slots[usize::from(absent)].bits |= bit(copy.block);
            }
        }
        copy.done |= member_bit(m);
        leader.copy = Some(copy);
        state.leaders[n] = Some(leader);
        true
    }

    pub(super) fn kill(&self, state: &mut State, m: usize) -> bool {
        if !state.members[m].alive || state.left.kills == 0 {
            return false;
        }
        state.left.kills -= 1;
        state.end_process(m);
        true
    }

    pub(super) fn cut_power(&self, state: &mut State, m: usize, lost: u8) -> bool {
        if !state.members[m].alive || state.left.power_cuts == 0 {
            return false;
        }
        state.left.power_cuts -= 1;
        state.end_process(m);
        let member = &mut state.members[m];
        member.rebooted = true;
        for block in bits(lost).map(usize::from) {
            member.cached[block] = member.durable[block];
        }
        member.durable = member.cached;
        true
    }

    pub(super) fn start(&self, state: &mut State, m: usize) -> bool {
        let member = &mut state.members[m];
        if member.alive || m >= self.size.replicas {
            return false;
        }
        member.alive = true;
        if self.has(Rule::LogIntoOwnSlot) {
            member.own |= member.log;
        }
        for slot in &mut member.slots {
            slot.bits |= member.log;
        }
        member.log = 0;
        true
    }
}

impl State {
    /// What only memory held is gone, and nobody takes the next process for this one.
    fn end_process(&mut self, m: usize) {
        let member = &mut self.members[m];
        member.alive = false;
        member.admitted = 0;
        member.intact = false;
        member.window = 0;
        member.stable = 0;
        member.inherited = 0;
        self.leaders[m] = None;
        for leader in self.leaders.iter_mut().flatten() {
            if leader.phase != Phase::Serving {
                leader.answered &= !member_bit(m);
                leader.there &= !member_bit(m);
            }
            for acks in &mut leader.acks {
                *acks &= !member_bit(m);
            }
            if let Some(copy) = leader.copy.as_mut() {
                copy.done &= !member_bit(m);
            }
        }
    }

    pub(super) fn hear_of_join(&mut self, m: usize) -> bool {
        let is_in_sync = self.head.insync & member_bit(m) != 0;
        let joined = self.head.joined[m];
        let candidate = self.members[m].candidate;
        let is_chosen = candidate != 0 && self.was_chosen(candidate);
        let member = &mut self.members[m];
        if !member.alive || !is_in_sync || !is_chosen || member.admitted != self.head.session {
            return false;
        }
        member.joined = joined;
        member.candidate = 0;
        member.own = 0;
        member.intact = true;
        true
    }
}
