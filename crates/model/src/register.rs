//! The config register: ballots, proposals in doubt, changes of the voters, leases.
//!
//! A message is sent by writing it down for good (a ballot's value, a promise), and may arrive at
//! any later time, or never. Time is not modelled: a lease ends at its voter any time after it
//! ended at its holder, which is all that the clocks promise (C8). Processes are proposers, each of
//! which may think that it is Primary; voters are apart from them. Voters that differ in their
//! number only are the same: each state has them sorted, so the numbers in a trace may change.

use std::ops::Range;

use stateright::{Model, Property};

/// Voters, of which the last is a spare that only a change of voters brings in.
const NODES: usize = 4;
const PROCESSES: usize = 2;

/// A rule of PROTOCOL.md that may be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// 7.1: the accepted value with the highest ballot is built on, chosen or not.
    BuildOnHighest,
    /// M1: what a voter promised outlives it.
    DurablePromise,
    /// 6.4: a proposal in doubt is repeated as it was until its fate is known.
    RepeatInDoubt,
    /// 7b.1: a lease needs a quorum.
    LeaseNeedsQuorum,
    /// 7b.2: while it grants a lease, a voter promises to nobody else, and accepts from nobody
    /// else.
    LeaseBlocks,
    /// 7b.3: a restarted voter may have granted a lease that it forgot.
    HoldOff,
    /// 9.1: while voters change, both majorities are needed.
    BothMajorities,
    /// 9.2: PREPARE goes on until the quorum of the value that it found has answered.
    ExtendPrepare,
    /// 9.2: old voters are removed from a value that is known to be chosen.
    RemoveChosen,
    /// 9.2: and when the lease holds by the new voters, too.
    LeaseByBoth,
    /// I18: a voter that lost its store is a new one.
    LostStoreIsNewVoter,
}

impl Rule {
    pub const ALL: [Self; 11] = [
        Self::BuildOnHighest,
        Self::DurablePromise,
        Self::RepeatInDoubt,
        Self::LeaseNeedsQuorum,
        Self::LeaseBlocks,
        Self::HoldOff,
        Self::BothMajorities,
        Self::ExtendPrepare,
        Self::RemoveChosen,
        Self::LeaseByBoth,
        Self::LostStoreIsNewVoter,
    ];

    /// The smallest space in which its absence shows.
    #[must_use]
    pub fn size(self) -> Size {
        match self {
            Self::BuildOnHighest | Self::RepeatInDoubt => Size::PROPOSALS,
            Self::DurablePromise | Self::LostStoreIsNewVoter => Size::VOTER_FAULTS,
            Self::LeaseNeedsQuorum | Self::LeaseBlocks | Self::HoldOff => Size::LEASES,
            Self::BothMajorities | Self::ExtendPrepare => Size::VOTER_CHANGES,
            Self::RemoveChosen => Size::CHANGE_IN_DOUBT,
            Self::LeaseByBoth => Size::LEASES_WITH_CHANGES,
        }
    }
}

/// How much may happen.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub name: &'static str,
    pub ballots: usize,
    /// Processes that die.
    pub crashes: u8,
    /// Changes of the config that are no promotion.
    pub changes: u8,
    /// Changes of the voters.
    pub voter_changes: u8,
    /// Voters that restart.
    pub restarts: u8,
    /// Voters that lose their store.
    pub lost_stores: u8,
    pub leases: Leases,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leases {
    Granted,
    /// The first leader has the leases of two of its three voters, and nobody gets another.
    Held,
    Left,
}

impl Size {
    const NOTHING: Self = Self {
        name: "",
        ballots: 0,
        crashes: 0,
        changes: 0,
        voter_changes: 0,
        restarts: 0,
        lost_stores: 0,
        leases: Leases::Left,
    };
    pub const PROPOSALS: Self =
        Self { name: "proposals", ballots: 4, crashes: 1, changes: 1, ..Self::NOTHING };
    pub const VOTER_FAULTS: Self = Self {
        name: "voter faults",
        ballots: 3,
        changes: 1,
        restarts: 1,
        lost_stores: 1,
        ..Self::NOTHING
    };
    pub const LEASES: Self = Self {
        name: "leases",
        ballots: 3,
        changes: 1,
        restarts: 1,
        leases: Leases::Granted,
        ..Self::NOTHING
    };
    pub const VOTER_CHANGES: Self =
        Self { name: "voter changes", ballots: 4, voter_changes: 2, ..Self::NOTHING };
    pub const CHANGE_IN_DOUBT: Self = Self {
        name: "voter change in doubt",
        ballots: 4,
        crashes: 1,
        voter_changes: 1,
        ..Self::NOTHING
    };
    pub const LEASES_WITH_CHANGES: Self = Self {
        name: "leases while voters change",
        ballots: 4,
        voter_changes: 1,
        leases: Leases::Held,
        ..Self::NOTHING
    };
    pub const SMALL: [Self; 4] =
        [Self::PROPOSALS, Self::VOTER_FAULTS, Self::LEASES, Self::VOTER_CHANGES];
    pub const LARGE: [Self; 6] = [
        Self::CHANGE_IN_DOUBT,
        Self::LEASES_WITH_CHANGES,
        Self { name: "proposals", ballots: 5, crashes: 1, changes: 2, ..Self::NOTHING },
        Self {
            name: "voter faults",
            ballots: 4,
            restarts: 1,
            lost_stores: 1,
            voter_changes: 1,
            ..Self::NOTHING
        },
        Self {
            name: "leases",
            ballots: 4,
            crashes: 1,
            changes: 1,
            restarts: 1,
            leases: Leases::Granted,
            ..Self::NOTHING
        },
        Self { name: "voter changes", ballots: 5, voter_changes: 3, ..Self::NOTHING },
    ];
}

#[derive(Clone, Copy, Debug)]
pub struct Register {
    pub size: Size,
    pub without: Option<Rule>,
}

/// Of each node the vote store that is meant; 0 is none.
type Stores = [u8; NODES];
const NOBODY: Stores = [0; NODES];
const FIRST_VOTERS: Stores = [1, 1, 1, 0];

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    voters: [Voter; NODES],
    /// By number; a higher one is higher.
    ballots: Vec<Ballot>,
    values: Vec<Value>,
    processes: [Process; PROCESSES],
    sessions: u8,
    crashes: u8,
    changes: u8,
    voter_changes: u8,
    restarts: u8,
    lost_stores: u8,
}

/// M1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Voter {
    store: u8,
    promised: u8,
    promised_session: u8,
    accepted: Option<u8>,
    /// The session that it grants a lease, or holds off for; 0 is none.
    lease: u8,
}

/// What was ever said in a ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ballot {
    session: u8,
    value: Option<u8>,
    /// Voters that accepted, with the store that they had.
    accepted: Stores,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Value {
    previous: u8,
    session: u8,
    voters: Stores,
    voters_old: Stores,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Process {
    attempt: Option<Attempt>,
    lead: Option<Lead>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Attempt {
    ballot: u8,
    session: u8,
    /// What is to be chosen; a promotion decides when it knows what it builds on.
    desired: Option<u8>,
    promises: Stores,
    /// The highest ballot in which one of them accepted.
    best: Option<u8>,
    is_accepting: bool,
}

/// A process that thinks it is Primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lead {
    session: u8,
    /// The newest value of it that it knows to be chosen.
    value: u8,
    /// Leases that it counts on.
    granted: Stores,
    /// The value by whose voters they are counted: an older one until they hold by the newest.
    lease_by: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// 7.1: reads the register under a new session.
    Promote(usize),
    /// 7.1: PREPARE arrives, the promise returns.
    Prepare(usize, usize),
    /// 7.1, 6.4: a quorum promised; the value is decided, and ACCEPT sent.
    Decide(usize),
    /// ACCEPT of a ballot arrives at a voter, however late.
    Accept(u8, usize),
    /// The answers of a quorum arrived.
    Learn(usize),
    /// 6.4: no answer came: again, with a higher ballot.
    Repeat(usize),
    /// 6.2, 8.5: a change of the config within the session.
    Change(usize),
    /// 9.2: new voters beside the old ones.
    ChangeVoters(usize, Stores),
    /// 9.2: the old ones go.
    RemoveOldVoters(usize),
    /// The process dies.
    Crash(usize),
    /// 7b.1.
    Lease(usize, usize),
    /// The holder's clock ends its lease.
    LeaseEndsAtHolder(usize, usize),
    /// Later, the voter's clock does.
    LeaseEndsAtVoter(usize),
    /// 7b.3.
    Restart(usize),
    /// I18.
    LoseStore(usize),
}

impl Model for Register {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let is_held = self.size.leases == Leases::Held;
        let granted = if is_held { [0, 1, 1, 0] } else { NOBODY };
        let voter = |node: usize| Voter {
            store: 1,
            promised: 0,
            promised_session: 1,
            accepted: (FIRST_VOTERS[node] != 0).then_some(0),
            lease: granted[node],
        };
        let first = Value { previous: 0, session: 1, voters: FIRST_VOTERS, voters_old: NOBODY };
        let leader = Process {
            attempt: None,
            lead: Some(Lead { session: 1, value: 0, granted, lease_by: 0 }),
        };
        vec![State {
            voters: std::array::from_fn(voter),
            ballots: vec![Ballot { session: 1, value: Some(0), accepted: FIRST_VOTERS }],
            values: vec![first],
            processes: [leader, Process::default()],
            sessions: 1,
            crashes: 0,
            changes: 0,
            voter_changes: 0,
            restarts: 0,
            lost_stores: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let may_open = state.ballots.len() < self.size.ballots;
        for (index, process) in state.processes.iter().enumerate() {
            match (&process.attempt, &process.lead) {
                (Some(_), _) => self.actions_of_attempt(state, index, actions),
                (None, Some(lead)) if may_open => self.changes(state, index, lead, actions),
                (None, None) if may_open => actions.push(Action::Promote(index)),
                (None, Some(_) | None) => {}
            }
            if let Some(lead) = process.lead
                && self.size.leases != Leases::Left
            {
                for node in self.nodes() {
                    if lead.granted[node] != 0 {
                        actions.push(Action::LeaseEndsAtHolder(index, node));
                    } else if self.size.leases == Leases::Granted {
                        actions.push(Action::Lease(index, node));
                    }
                }
            }
            if *process != Process::default() && state.crashes < self.size.crashes {
                actions.push(Action::Crash(index));
            }
        }
        for (number, ballot) in (0_u8..).zip(&state.ballots) {
            if ballot.value.is_some() {
                actions.extend(self.nodes().map(|node| Action::Accept(number, node)));
            }
        }
        for node in self.nodes() {
            if state.voters[node].lease != 0 {
                actions.push(Action::LeaseEndsAtVoter(node));
            }
            if state.restarts < self.size.restarts {
                actions.push(Action::Restart(node));
            }
            if state.lost_stores < self.size.lost_stores {
                actions.push(Action::LoseStore(node));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let happened = match action {
            Action::Promote(process) => {
                state.sessions += 1;
                let session = state.sessions;
                state.open(process, session, None)
            }
            Action::Prepare(process, node) => self.prepare(&mut state, process, node),
            Action::Decide(process) => self.decide(&mut state, process),
            Action::Accept(ballot, node) => self.accept(&mut state, ballot, node),
            Action::Learn(process) => self.learn(&mut state, process),
            Action::Repeat(process) => self.repeat(&mut state, process),
            Action::Change(process) => {
                state.changes += 1;
                state.propose(process, |_| {})
            }
            Action::ChangeVoters(process, voters) => {
                state.voter_changes += 1;
                state.propose(process, |value| {
                    value.voters_old = value.voters;
                    value.voters = voters;
                })
            }
            Action::RemoveOldVoters(process) => {
                state.propose(process, |value| value.voters_old = NOBODY)
            }
            Action::Crash(process) => {
                state.crashes += 1;
                state.processes[process] = Process::default();
                true
            }
            Action::Lease(process, node) => self.grant(&mut state, process, node),
            Action::LeaseEndsAtHolder(process, node) => {
                let lead = state.processes[process].lead.as_mut()?;
                lead.granted[node] = 0;
                self.count_lease(&mut state, process);
                true
            }
            Action::LeaseEndsAtVoter(node) => state.end_lease(node),
            Action::Restart(node) => {
                state.restarts += 1;
                self.restart(&mut state, node)
            }
            Action::LoseStore(node) => {
                state.lost_stores += 1;
                self.lose_store(&mut state, node)
            }
        };
        state.sort_voters(self.alike());
        (happened && state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(
                "the chosen values form one chain (I1)",
                |model: &Self, state: &State| model.is_chain(state),
            ),
            Property::always(
                "one primary at a time answers reads (I12)",
                |model: &Self, state: &State| model.is_fenced(state),
            ),
            Property::sometimes("another process becomes primary", |_: &Self, state: &State| {
                state.processes[1].lead.is_some()
            }),
        ];
        if self.size.voter_changes > 0 {
            properties.push(Property::sometimes("the voters change", |_: &Self, state: &State| {
                let lead = |it: &Process| it.lead.map(|lead| state.values[usize::from(lead.value)]);
                let values = state.processes.iter().filter_map(lead);
                values.into_iter().any(|it| it.voters != FIRST_VOTERS && it.voters_old == NOBODY)
            }));
        }
        properties
    }
}

impl Register {
    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// The spare comes into play by a change of voters only.
    fn nodes(&self) -> Range<usize> {
        if self.size.voter_changes > 0 { 0..NODES } else { 0..NODES - 1 }
    }

    /// Voters that no action tells apart.
    fn alike(&self) -> Range<usize> {
        if self.size.voter_changes > 0 { 1..NODES - 1 } else { 0..NODES - 1 }
    }

    /// 9.1.
    fn is_quorum(&self, value: &Value, stores: &Stores) -> bool {
        let both = self.has(Rule::BothMajorities) && value.voters_old != NOBODY;
        is_majority(&value.voters, stores) && (!both || is_majority(&value.voters_old, stores))
    }

    fn actions_of_attempt(&self, state: &State, process: usize, actions: &mut Vec<Action>) {
        let Some(attempt) = state.processes[process].attempt else { return };
        if attempt.is_accepting {
            actions.push(Action::Learn(process));
        } else {
            actions.extend(self.nodes().map(|node| Action::Prepare(process, node)));
            actions.push(Action::Decide(process));
        }
        if state.ballots.len() < self.size.ballots {
            actions.push(Action::Repeat(process));
        }
    }

    fn changes(&self, state: &State, process: usize, lead: &Lead, actions: &mut Vec<Action>) {
        let value = state.values[usize::from(lead.value)];
        if value.voters_old != NOBODY {
            // Nothing else of the voters is changed in between.
            if lead.lease_by == lead.value || !self.has(Rule::LeaseByBoth) {
                actions.push(Action::RemoveOldVoters(process));
            }
            return;
        }
        if state.changes < self.size.changes {
            actions.push(Action::Change(process));
        }
        if state.voter_changes < self.size.voter_changes {
            let now: Stores = std::array::from_fn(|node| state.voters[node].store);
            let sets = [[now[0], now[1], now[2], 0], [now[0], 0, 0, now[3]]];
            let other = sets.into_iter().filter(|set| *set != value.voters);
            actions.extend(other.map(|set| Action::ChangeVoters(process, set)));
        }
    }

    fn prepare(&self, state: &mut State, process: usize, node: usize) -> bool {
        let Some(attempt) = state.processes[process].attempt.as_mut() else { return false };
        let voter = &mut state.voters[node];
        let is_leased = voter.lease != 0 && voter.lease != attempt.session;
        if attempt.ballot <= voter.promised || is_leased && self.has(Rule::LeaseBlocks) {
            return false;
        }
        voter.promised = attempt.ballot;
        voter.promised_session = attempt.session;
        attempt.promises[node] = voter.store;
        attempt.best = match (attempt.best, voter.accepted) {
            (Some(known), Some(new)) if self.has(Rule::BuildOnHighest) => Some(known.max(new)),
            (Some(known), Some(new)) => Some(known.min(new)),
            (known, new) => known.or(new),
        };
        true
    }

    fn decide(&self, state: &mut State, process: usize) -> bool {
        let Some(mut attempt) = state.processes[process].attempt else { return false };
        let best = attempt.best.and_then(|ballot| state.ballots[usize::from(ballot)].value);
        let Some(best) = best else { return false };
        let base = state.values[usize::from(best)];
        let known = state.processes[process].lead.map_or(0, |lead| lead.value);
        let asked = if self.has(Rule::ExtendPrepare) { best } else { known };
        if !self.is_quorum(&state.values[usize::from(asked)], &attempt.promises) {
            return false;
        }
        let desired = match attempt.desired {
            // 9.2: what is found with `voters_old` is proposed with the same two sets again.
            None => {
                let session = attempt.session;
                let keeps = self.has(Rule::RemoveChosen);
                let voters_old = if keeps { base.voters_old } else { NOBODY };
                state.add(Value { previous: best, session, voters_old, ..base })
            }
            Some(desired)
                if best == desired || best == state.values[usize::from(desired)].previous =>
            {
                desired
            }
            // 7.8: the register names another value, and so the session stands down.
            Some(_) => {
                state.processes[process] = Process::default();
                return true;
            }
        };
        attempt.desired = Some(desired);
        attempt.is_accepting = true;
        state.ballots[usize::from(attempt.ballot)].value = Some(desired);
        state.processes[process].attempt = Some(attempt);
        true
    }

    fn accept(&self, state: &mut State, number: u8, node: usize) -> bool {
        let ballot = &mut state.ballots[usize::from(number)];
        let voter = &mut state.voters[node];
        let is_leased = voter.lease != 0 && voter.lease != ballot.session;
        if number < voter.promised || is_leased && self.has(Rule::LeaseBlocks) {
            return false;
        }
        voter.promised = number;
        voter.promised_session = ballot.session;
        voter.accepted = Some(number);
        ballot.accepted[node] = voter.store;
        true
    }

    fn learn(&self, state: &mut State, process: usize) -> bool {
        let Some(attempt) = state.processes[process].attempt else { return false };
        let (Some(desired), true) = (attempt.desired, attempt.is_accepting) else { return false };
        let value = state.values[usize::from(desired)];
        if !self.is_quorum(&value, &state.ballots[usize::from(attempt.ballot)].accepted) {
            return false;
        }
        let known = state.processes[process].lead.filter(|lead| lead.session == attempt.session);
        let granted = known.map_or(NOBODY, |lead| lead.granted);
        let lease_by = known.map_or(desired, |lead| lead.lease_by);
        let lead = Lead { session: attempt.session, value: desired, granted, lease_by };
        state.processes[process] = Process { attempt: None, lead: Some(lead) };
        self.count_lease(state, process);
        true
    }

    /// A lease that holds by the newest value, or not at all, has no other base any more.
    fn count_lease(&self, state: &mut State, process: usize) {
        let Some(lead) = state.processes[process].lead.as_mut() else { return };
        let holds = |value: u8| self.is_quorum(&state.values[usize::from(value)], &lead.granted);
        if holds(lead.value) || !holds(lead.lease_by) {
            lead.lease_by = lead.value;
        }
    }

    fn repeat(&self, state: &mut State, process: usize) -> bool {
        let Some(attempt) = state.processes[process].attempt else { return false };
        if self.has(Rule::RepeatInDoubt) || !attempt.is_accepting {
            return state.open(process, attempt.session, attempt.desired);
        }
        // Taken for lost: something else is proposed in its place, on the same base.
        let Some(desired) = attempt.desired else { return false };
        let other = state.values[usize::from(desired)];
        let other = state.add(other);
        let ballot = attempt.ballot;
        state.ballots[usize::from(ballot)].value = Some(other);
        let again = Attempt { desired: Some(other), ..attempt };
        state.processes[process].attempt = Some(again);
        true
    }

    fn grant(&self, state: &mut State, process: usize, node: usize) -> bool {
        let Some(lead) = state.processes[process].lead.as_mut() else { return false };
        let voter = &mut state.voters[node];
        let accepted = voter.accepted.and_then(|it| state.ballots[usize::from(it)].value);
        let is_session =
            accepted.is_some_and(|it| state.values[usize::from(it)].session == lead.session);
        if !is_session || voter.promised_session != lead.session {
            return false;
        }
        voter.lease = lead.session;
        lead.granted[node] = voter.store;
        self.count_lease(state, process);
        true
    }

    fn restart(&self, state: &mut State, node: usize) -> bool {
        let voter = &mut state.voters[node];
        let accepted = voter.accepted.and_then(|it| state.ballots[usize::from(it)].value);
        let session = accepted.map_or(0, |it| state.values[usize::from(it)].session);
        let holds_off = self.has(Rule::HoldOff) && self.size.leases == Leases::Granted;
        voter.lease = if holds_off { session } else { 0 };
        if !self.has(Rule::DurablePromise) {
            voter.promised = voter.accepted.unwrap_or(0);
            voter.promised_session = session;
        }
        true
    }

    fn lose_store(&self, state: &mut State, node: usize) -> bool {
        let voter = &mut state.voters[node];
        let renewed = if self.has(Rule::LostStoreIsNewVoter) { 2 } else { voter.store };
        *voter =
            Voter { store: renewed, promised: 0, promised_session: 0, accepted: None, lease: 0 };
        true
    }

    /// The values that a quorum accepted in one ballot.
    fn chosen(&self, state: &State) -> Vec<u8> {
        let chosen = state.ballots.iter().filter_map(|ballot| {
            let value = ballot.value?;
            self.is_quorum(&state.values[usize::from(value)], &ballot.accepted).then_some(value)
        });
        chosen.collect()
    }

    fn is_chain(&self, state: &State) -> bool {
        let chosen = self.chosen(state);
        let pairs = chosen.iter().flat_map(|a| chosen.iter().map(move |b| (*a, *b)));
        pairs.into_iter().all(|(a, b)| state.descends(a, b) || state.descends(b, a))
    }

    /// Whoever counts on leases of a quorum is the session of the newest chosen value.
    fn is_fenced(&self, state: &State) -> bool {
        let chosen = self.chosen(state);
        state.processes.iter().filter_map(|process| process.lead).all(|lead| {
            let value = &state.values[usize::from(lead.lease_by)];
            let holds = if self.has(Rule::LeaseNeedsQuorum) {
                self.is_quorum(value, &lead.granted)
            } else {
                lead.granted != NOBODY
            };
            let is_over = |&&it: &&u8| {
                state.descends(it, lead.value)
                    && state.values[usize::from(it)].session != lead.session
            };
            !holds || chosen.iter().find(is_over).is_none()
        })
    }
}

impl State {
    fn open(&mut self, process: usize, session: u8, desired: Option<u8>) -> bool {
        let ballot = u8::try_from(self.ballots.len()).expect("few ballots");
        self.ballots.push(Ballot { session, value: None, accepted: NOBODY });
        self.processes[process].attempt = Some(Attempt {
            ballot,
            session,
            desired,
            promises: NOBODY,
            best: None,
            is_accepting: false,
        });
        true
    }

    fn add(&mut self, value: Value) -> u8 {
        self.values.push(value);
        u8::try_from(self.values.len() - 1).expect("few values")
    }

    fn propose(&mut self, process: usize, change: impl FnOnce(&mut Value)) -> bool {
        let Some(lead) = self.processes[process].lead else { return false };
        let mut value = self.values[usize::from(lead.value)];
        value.previous = lead.value;
        value.session = lead.session;
        change(&mut value);
        let desired = self.add(value);
        self.open(process, lead.session, Some(desired))
    }

    /// Not before it ended at whoever counts on it.
    fn end_lease(&mut self, node: usize) -> bool {
        let lease = self.voters[node].lease;
        let leads = self.processes.iter().filter_map(|process| process.lead);
        let mut holders = leads.filter(|lead| lead.session == lease);
        if holders.any(|lead| lead.granted[node] != 0) {
            return false;
        }
        self.voters[node].lease = 0;
        true
    }

    /// Everything that is kept of a voter moves with it.
    fn sort_voters(&mut self, alike: Range<usize>) {
        for _ in alike.clone() {
            for node in alike.start + 1..alike.end {
                if self.column(node) < self.column(node - 1) {
                    self.swap(node - 1, node);
                }
            }
        }
    }

    fn column(&self, node: usize) -> (Voter, Vec<u8>) {
        let mut stores: Vec<u8> = self.ballots.iter().map(|it| it.accepted[node]).collect();
        for process in &self.processes {
            stores.push(process.attempt.map_or(0, |attempt| attempt.promises[node]));
            stores.push(process.lead.map_or(0, |lead| lead.granted[node]));
        }
        for value in &self.values {
            stores.extend([value.voters[node], value.voters_old[node]]);
        }
        (self.voters[node], stores)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.voters.swap(a, b);
        self.ballots.iter_mut().for_each(|ballot| ballot.accepted.swap(a, b));
        for process in &mut self.processes {
            if let Some(attempt) = &mut process.attempt {
                attempt.promises.swap(a, b);
            }
            if let Some(lead) = &mut process.lead {
                lead.granted.swap(a, b);
            }
        }
        for value in &mut self.values {
            value.voters.swap(a, b);
            value.voters_old.swap(a, b);
        }
    }

    fn descends(&self, value: u8, from: u8) -> bool {
        let mut at = value;
        while at > from {
            at = self.values[usize::from(at)].previous;
        }
        at == from
    }
}

fn is_majority(voters: &Stores, stores: &Stores) -> bool {
    let named = voters.iter().filter(|&&store| store != 0).count();
    let agreed = voters.iter().zip(stores).filter(|(voter, store)| **voter != 0 && voter == store);
    agreed.count() * 2 > named
}
