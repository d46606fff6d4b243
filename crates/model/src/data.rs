//! What sessions do with the replicas: promotion, writes, reads, loss, return.
//!
//! Of the register only the outcome is seen: one proposal at a time is in doubt, and whoever reads
//! the register next either finds it or makes sure that nobody ever will (`register` shows that
//! this is so). LOSS, NEW_EPOCH, WRITE and SEAL reach each member on their own. A member of the
//! process that leads dies with it. Blocks and members are bits of a byte; a write's number is the
//! value that it writes. The activity log never forgets a block until the process starts anew.

mod state;
mod leader;
mod member;

use stateright::{Model, Property};

pub use self::state::{Rule, Size, State};

#[derive(Clone, Copy, Debug)]
pub struct Data {
    pub size: Size,
    pub without: Option<Rule>,
}

/// `n` leads, `m` is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// 7.1: a new session; `finds` says whether the proposal in doubt is found.
    Promote {
        n: usize,
        finds: Finds,
    },
    /// 7.2.
    Seal {
        n: usize,
        m: usize,
    },
    /// 7.3, 7.4.
    ChooseMembers {
        n: usize,
    },
    /// 6.1, 7.5: LOSS arrives at a member.
    Loss {
        n: usize,
        m: usize,
    },
    /// 7.5: the value of the promotion is proposed.
    ProposeSession {
        n: usize,
    },
    /// The proposal in doubt is chosen.
    Chosen,
    /// Its proposer hears of it.
    Learn {
        n: usize,
    },
    /// 7.5: NEW_EPOCH arrives at a member.
    NewEpoch {
        n: usize,
        m: usize,
    },
    /// 7.5: all of R know U.
    Serve {
        n: usize,
    },
    /// 7.8: another session was promised, and the leader hears of it.
    StandDown {
        n: usize,
    },
    /// 5.1, 5.2: a client writes.
    Write {
        n: usize,
    },
    /// 5.3: WRITE arrives at a member, which applies it and acknowledges.
    Apply {
        n: usize,
        m: usize,
        write: u8,
    },
    /// 5.4.
    Complete {
        n: usize,
        write: u8,
    },
    /// 5.4: a member hears what is stable.
    Stable {
        n: usize,
        m: usize,
    },
    /// 5.5: a client flushes.
    Flush {
        n: usize,
    },
    /// 5.6: a client's read gets its turn, and READ is sent.
    Read {
        n: usize,
        block: u8,
    },
    /// A member's bytes arrive.
    Bytes {
        n: usize,
        m: usize,
    },
    /// 5.6, 7b.4: the fence is the last thing before the answer.
    Answer {
        n: usize,
    },
    /// 7b.1: the leases of a quorum.
    Lease {
        n: usize,
    },
    LeaseEnds,
    /// 6.1: the leader gives a member up.
    BeginLoss {
        n: usize,
        m: usize,
    },
    /// 6.2.
    ProposeLoss {
        n: usize,
    },
    /// 8.1, 8.3: a member returns and enters WS.
    Admit {
        n: usize,
        m: usize,
    },
    /// 8.2: what it misses, as an in-sync member says.
    LoadBits {
        n: usize,
        m: usize,
    },
    /// 7.6, 8.4: a copy takes its lock and reads its source.
    StartCopy {
        n: usize,
        m: usize,
        block: u8,
    },
    /// It arrives at a member.
    Copy {
        n: usize,
        m: usize,
    },
    /// 8.4: under the lock, CLEAR.
    EndCopy {
        n: usize,
    },
    /// 8.5.
    ProposeJoin {
        n: usize,
    },
    /// 8.5: the member hears that it joined.
    Joined {
        m: usize,
    },
    /// kill -9.
    Kill {
        m: usize,
    },
    /// Power is lost; blocks of `lost` are as they were at the last flush.
    CutPower {
        m: usize,
        lost: u8,
    },
    /// 5.9.
    Start {
        m: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    Nothing,
    Proposal,
}

impl Model for Data {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(&self.size)]
    }

    /// All that might be; `next_state` says what can.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let members = 0..self.size.replicas;
        let blocks = 0..self.size.blocks;
        actions.extend([Action::Chosen, Action::LeaseEnds]);
        for n in members.clone() {
            if state.leads(n) {
                self.actions_of_leader(state, n, actions);
            } else {
                actions.extend(
                    [Finds::Nothing, Finds::Proposal].map(|finds| Action::Promote { n, finds }),
                );
            }
        }
        for m in members {
            actions.extend([Action::Joined { m }, Action::Kill { m }, Action::Start { m }]);
            let every = 0..1 << blocks.end;
            actions.extend(every.map(|lost| Action::CutPower { m, lost }));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let happened = match action {
            Action::Promote { n, finds } => self.promote(&mut state, n, finds),
            Action::Seal { n, m } => self.seal(&mut state, n, m),
            Action::ChooseMembers { n } => self.choose_members(&mut state, n),
            Action::Loss { n, m } => self.record_loss(&mut state, n, m),
            Action::ProposeSession { n } => self.propose_session(&mut state, n),
            Action::Chosen => state.choose(),
            Action::Learn { n } => self.learn(&mut state, n),
            Action::NewEpoch { n, m } => self.new_epoch(&mut state, n, m),
            Action::Serve { n } => self.serve(&mut state, n),
            Action::StandDown { n } => state.stand_down(n),
            Action::Write { n } => self.write(&mut state, n),
            Action::Apply { n, m, write } => self.apply(&mut state, n, m, write),
            Action::Complete { n, write } => self.complete(&mut state, n, write),
            Action::Stable { n, m } => self.tell_stable(&mut state, n, m),
            Action::Flush { n } => self.flush(&mut state, n),
            Action::Read { n, block } => self.read(&mut state, n, block),
            Action::Bytes { n, m } => self.take_bytes(&mut state, n, m),
            Action::Answer { n } => self.answer(&mut state, n),
            Action::Lease { n } => state.grant(n),
            Action::LeaseEnds => state.end_lease(),
            Action::BeginLoss { n, m } => self.begin_loss(&mut state, n, m),
            Action::ProposeLoss { n } => self.propose_loss(&mut state, n),
            Action::Admit { n, m } => self.admit(&mut state, n, m),
            Action::LoadBits { n, m } => self.load_bits(&mut state, n, m),
            Action::StartCopy { n, m, block } => self.start_copy(&mut state, n, m, block),
            Action::Copy { n, m } => self.copy(&mut state, n, m),
            Action::EndCopy { n } => self.end_copy(&mut state, n),
            Action::ProposeJoin { n } => self.propose_join(&mut state, n),
            Action::Joined { m } => state.hear_of_join(m),
            Action::Kill { m } => self.kill(&mut state, m),
            Action::CutPower { m, lost } => self.cut_power(&mut state, m, lost),
            Action::Start { m } => self.start(&mut state, m),
        };
        (happened && state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no acknowledged write is lost (C1)", |_: &Self, state: &State| {
                state.keeps_acknowledged()
            }),
            Property::always("in-sync members are equal (I6)", |_: &Self, state: &State| {
                state.is_equal()
            }),
            Property::always("reads are never stale (C4)", |_: &Self, state: &State| {
                !state.has_stale_read()
            }),
            Property::sometimes("another session serves", |_: &Self, state: &State| {
                state.is_served_by_another()
            }),
            Property::sometimes("a member joins again", |_: &Self, state: &State| {
                state.has_rejoined()
            }),
        ]
    }
}

impl Data {
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    fn actions_of_leader(&self, state: &State, n: usize, actions: &mut Vec<Action>) {
        actions.extend([
            Action::ChooseMembers { n },
            Action::ProposeSession { n },
            Action::Learn { n },
            Action::Serve { n },
            Action::StandDown { n },
            Action::Write { n },
            Action::Flush { n },
            Action::Answer { n },
            Action::Lease { n },
            Action::ProposeLoss { n },
            Action::EndCopy { n },
            Action::ProposeJoin { n },
        ]);
        for write in 1..=state.writes() {
            actions.push(Action::Complete { n, write });
            let every = 0..self.size.replicas;
            actions.extend(every.map(|m| Action::Apply { n, m, write }));
        }
        actions.extend((0..self.size.blocks).map(|block| Action::Read { n, block }));
        for m in 0..self.size.replicas {
            actions.extend([
                Action::Seal { n, m },
                Action::Loss { n, m },
                Action::NewEpoch { n, m },
                Action::Stable { n, m },
                Action::BeginLoss { n, m },
                Action::Admit { n, m },
                Action::LoadBits { n, m },
                Action::Copy { n, m },
                Action::Bytes { n, m },
            ]);
            for block in 0..self.size.blocks {
                actions.push(Action::StartCopy { n, m, block });
            }
        }
    }
}
