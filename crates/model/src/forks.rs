//! Lines that part, and meet again: `quorum off`, split brains, who gives way (9.4 to 9.6).
//!
//! Within a line a session is seen in larger steps than in `data`: a promotion seals and makes
//! equal at once, a value is proposed, accepted by one voter after the other, and learned. What two
//! nodes say to each other about lines that parted travels as messages, in order, and is lost with
//! the connection. Time is not modelled: whatever may be waited for may also be over.

mod size;
mod state;
mod policy;
mod lines;
mod leader;
mod alone;
mod give_way;
mod names;

use stateright::{Model, Property};

pub use self::size::{Policy, Rule, Size, Steps, With, Without};
pub use self::state::State;
use self::state::{Data, Lead, NOBODY, Node, Reason, bit, has, members};

#[derive(Clone, Copy, Debug)]
pub struct Forks {
    pub size: Size,
    pub without: Option<Rule>,
}

/// `n` acts, `m` is another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Cut {
        n: usize,
        m: usize,
    },
    Heal {
        n: usize,
        m: usize,
    },
    Kill {
        n: usize,
    },
    Start {
        n: usize,
    },
    /// Section 7, over a quorum.
    Promote {
        n: usize,
        purpose: Purpose,
    },
    /// 9.4.
    PromoteAlone {
        n: usize,
    },
    ExtendAlone {
        n: usize,
    },
    /// ACCEPT of what `n` proposed arrives at `m`.
    Vote {
        n: usize,
        m: usize,
    },
    Learn {
        n: usize,
    },
    /// 7.8, 7.9.
    End {
        n: usize,
    },
    Write {
        n: usize,
        block: u8,
    },
    Apply {
        n: usize,
        m: usize,
    },
    Complete {
        n: usize,
    },
    /// Section 6.
    Lose {
        n: usize,
    },
    /// Section 8.
    Admit {
        n: usize,
        m: usize,
    },
    Copy {
        n: usize,
        block: u8,
    },
    Join {
        n: usize,
    },
    /// 9.2.
    ChangeVoters {
        n: usize,
    },
    /// `connect --discard-my-data`.
    Wish {
        n: usize,
    },
    Deliver {
        n: usize,
        m: usize,
    },
    AskAgain {
        n: usize,
        m: usize,
    },
    /// 9.6: the register, after the replica.
    FinishDiscard {
        n: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Clients,
    Resync,
}

type Condition = fn(&Forks, &State) -> bool;

/// One gives way by the options of this number.
const BY_POLICY: [Condition; 7] = [
    gives_way_by::<0>,
    gives_way_by::<1>,
    gives_way_by::<2>,
    gives_way_by::<3>,
    gives_way_by::<4>,
    gives_way_by::<5>,
    gives_way_by::<6>,
];

fn gives_way_by<const POLICIES: u8>(_: &Forks, state: &State) -> bool {
    state.policies == POLICIES && state.gives_way(Reason::Policy)
}

impl Model for Forks {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let policies = 0..state::small(self.size.policies.len());
        policies.map(|policies| State::new(&self.size, policies)).collect()
    }

    /// All that might be; `next_state` says what can.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for n in 0..state.nodes.len() {
            actions.extend([
                Action::Kill { n },
                Action::Start { n },
                Action::Promote { n, purpose: Purpose::Clients },
                Action::Promote { n, purpose: Purpose::Resync },
                Action::PromoteAlone { n },
                Action::Wish { n },
                Action::FinishDiscard { n },
            ]);
            let others = (0..state.nodes.len()).filter(|&m| m != n);
            for m in others.clone() {
                actions.extend([Action::Deliver { n, m }, Action::AskAgain { n, m }]);
            }
            for m in others.clone().filter(|&m| m > n) {
                actions.extend([Action::Cut { n, m }, Action::Heal { n, m }]);
            }
            if state.nodes[n].lead.is_none() {
                continue;
            }
            actions.extend([
                Action::ExtendAlone { n },
                Action::Learn { n },
                Action::End { n },
                Action::Complete { n },
                Action::Lose { n },
                Action::Join { n },
                Action::ChangeVoters { n },
            ]);
            for block in 0..self.size.blocks {
                actions.extend([Action::Write { n, block }, Action::Copy { n, block }]);
            }
            for m in others {
                let admit = Action::Admit { n, m };
                actions.extend([Action::Vote { n, m }, Action::Apply { n, m }, admit]);
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let happened = match action {
            Action::Cut { n, m } => state.cut_link(n, m),
            Action::Heal { n, m } => state.heal_link(n, m),
            Action::Kill { n } => state.kill(n),
            Action::Start { n } => state.start(n),
            Action::Promote { n, purpose } => self.promote(&mut state, n, purpose),
            Action::PromoteAlone { n } => self.promote_alone(&mut state, n),
            Action::ExtendAlone { n } => self.extend_alone(&mut state, n),
            Action::Vote { n, m } => self.vote(&mut state, n, m),
            Action::Learn { n } => self.learn(&mut state, n),
            Action::End { n } => self.end(&mut state, n),
            Action::Write { n, block } => self.write(&mut state, n, block),
            Action::Apply { n, m } => self.apply(&mut state, n, m),
            Action::Complete { n } => self.complete(&mut state, n),
            Action::Lose { n } => self.lose(&mut state, n),
            Action::Admit { n, m } => self.admit(&mut state, n, m),
            Action::Copy { n, block } => self.copy(&mut state, n, block),
            Action::Join { n } => self.join(&mut state, n),
            Action::ChangeVoters { n } => self.change_voters(&mut state, n),
            Action::Wish { n } => self.wish(&mut state, n),
            Action::Deliver { n, m } => self.deliver(&mut state, n, m),
            Action::AskAgain { n, m } => self.ask_again(&mut state, n, m),
            Action::FinishDiscard { n } => self.finish_discard(&mut state, n),
        };
        if !happened {
            return None;
        }
        if self.size.steps == Steps::Whole {
            self.go_on(&mut state);
        }
        self.settle(&mut state);
        state.forget_names();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let always: [(&'static str, Condition); 9] = [
            ("one value is chosen in each place (I1)", |_, it| !it.wrongs.torn),
            ("an in-sync member has the data of its line, and no other", |_, it| it.is_equal()),
            ("who is taken for behind had nothing of its own", |_, it| !it.wrongs.lost),
            ("never do both sides give way", |_, it| it.has_survivor()),
            ("nobody gives way to data that is gone", |_, it| !it.wrongs.void),
            ("nobody gives way whom the options keep", |_, it| !it.wrongs.unnamed),
            ("a session is not ended by a line that its voters do not know", |_, it| {
                !it.wrongs.ended
            }),
            ("of two voters, what was never chosen does not part", Self::is_parted_exactly),
            ("at rest there is one line, or the options leave two", Self::is_whole_at_rest),
        ];
        let sometimes: [(&'static str, Condition); 3] = [
            ("a fork is found", |_, it| it.has_split()),
            ("a member follows a newer line", |_, it| it.has_follower()),
            ("lines parted, and all are in sync on one", |_, it| {
                it.is_one_line() && it.nodes.iter().any(|node| node.store > 1)
            }),
        ];
        let mut properties: Vec<_> =
            always.map(|(name, condition)| Property::always(name, condition)).into();
        properties.extend(sometimes.map(|(name, holds)| Property::sometimes(name, holds)));
        for (&(name, policies), gives_way) in self.size.policies.iter().zip(BY_POLICY) {
            if policies[0] == policies[1] && !policies[0].is_nobody() {
                properties.push(Property::sometimes(name, gives_way));
            }
        }
        if self.size.has_operator {
            let by_word: Condition = |_, it| it.gives_way(Reason::Word);
            properties.push(Property::sometimes("one gives way by the operator's word", by_word));
        }
        properties
    }
}

impl Forks {
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// All that sessions do by themselves with those that are connected.
    fn go_on(&self, state: &mut State) {
        let nodes = 0..state.nodes.len();
        loop {
            let before = state.clone();
            for n in nodes.clone() {
                for m in nodes.clone() {
                    self.vote(state, n, m);
                    self.apply(state, n, m);
                }
                self.complete(state, n);
                self.learn(state, n);
                self.join(state, n);
                let is_joint = |lead: Lead| lead.value.voters_old != NOBODY;
                if state.nodes[n].lead.is_some_and(is_joint) {
                    self.change_voters(state, n);
                }
            }
            if *state == before {
                return;
            }
        }
    }

    /// Nothing can happen any more.
    fn is_whole_at_rest(&self, state: &State) -> bool {
        let is_quiet = state.nodes.iter().all(|node| node.alive && node.lead.is_none())
            && state.cut.iter().all(|&cut| cut == 0)
            && state.mail.iter().flatten().all(Vec::is_empty);
        if !is_quiet || state.is_one_line() || self.leaves_two(state) {
            return true;
        }
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        // A line whose quorum needs the vote of one that gave way waits for its next Primary.
        let mut later = state.clone();
        (later.left.promotions, later.left.branches) = (1, 1);
        let mut alone = (0..state.nodes.len()).map(|n| Action::PromoteAlone { n });
        actions.into_iter().any(|action| self.next_state(state, action).is_some())
            || alone.any(|action| self.next_state(&later, action).is_some())
    }

    /// The options name nobody, and no operator does.
    fn leaves_two(&self, state: &State) -> bool {
        let nodes = 0..state.nodes.len();
        let is_undecided = |n: usize, m: usize| {
            let judged = self.judge(state, n, m);
            judged.is_some_and(|(_, _, verdict)| verdict == policy::Verdict::Undecided)
        };
        let mut pairs = nodes.clone().flat_map(|n| nodes.clone().map(move |m| (n, m)));
        let is_left = self.policy(state, 0).is_nobody() || pairs.any(|(n, m)| is_undecided(n, m));
        !self.size.has_operator && is_left || state.is_stranded()
    }
}

// ---- What happens around the nodes.

impl State {
    fn cut_link(&mut self, n: usize, m: usize) -> bool {
        let is_there = !has(self.cut[n], m) && self.left.cuts > 0;
        if is_there {
            self.left.cuts -= 1;
            self.cut[n] |= bit(m);
            self.cut[m] |= bit(n);
        }
        is_there
    }

    fn heal_link(&mut self, n: usize, m: usize) -> bool {
        let is_cut = has(self.cut[n], m);
        self.cut[n] &= !bit(m);
        self.cut[m] &= !bit(n);
        is_cut
    }

    fn kill(&mut self, n: usize) -> bool {
        if !self.nodes[n].alive || self.left.kills == 0 {
            return false;
        }
        self.left.kills -= 1;
        // 5.9, at once: the activity log is in all slots.
        let unstable = self.blocks_of(self.nodes[n].window);
        let node = &mut self.nodes[n];
        node.own |= unstable;
        node.slots.iter_mut().for_each(|slot| slot.bits |= unstable);
        (node.alive, node.admitted, node.window) = (false, false, 0);
        (node.lead, node.wish, node.discard, node.relied_on) = (None, false, None, 0);
        true
    }

    fn start(&mut self, n: usize) -> bool {
        !std::mem::replace(&mut self.nodes[n].alive, true)
    }
}

// ---- What has to hold.

impl State {
    /// In-sync members of the newest value of each line have what was acknowledged in it, and
    /// nothing that is not of it.
    fn is_equal(&self) -> bool {
        self.lines.iter().all(|(branch, line)| {
            let of_line = members(line.head.insync).filter(|&m| {
                let node = &self.nodes[m];
                let joined = line.head.joined[m];
                let is_in_sync = node.data == Data::InSync && node.joined == joined;
                node.branch == *branch && (is_in_sync || node.candidate == joined)
            });
            let mut contents = of_line.map(|m| self.nodes[m].content);
            contents.all(|content| line.acknowledged & !content == 0 && content & !line.may == 0)
        })
    }

    /// Somebody has all data of a line.
    fn has_survivor(&self) -> bool {
        (0..self.nodes.len()).any(|n| self.has_data(n) && self.nodes[n].discard.is_none())
    }

    fn has_split(&self) -> bool {
        self.nodes.iter().any(|node| node.talks.iter().any(Option::is_some))
    }

    fn has_follower(&self) -> bool {
        self.nodes.iter().any(|node| node.data == Data::Syncing && node.store == 1)
    }

    fn is_one_line(&self) -> bool {
        let branch = self.nodes[0].head.branch;
        let is_whole = |node: &Node| node.data == Data::InSync || !node.has_disk;
        self.nodes.iter().all(|node| node.branch == branch && is_whole(node))
    }

    /// Somebody died while it gave its data up, and its register names the line that it had left,
    /// which the others are behind now: an operator has to force one of them.
    fn is_stranded(&self) -> bool {
        self.nodes.iter().any(|node| node.branch != node.head.branch) && !self.has_split()
    }

    fn gives_way(&self, by: Reason) -> bool {
        self.nodes.iter().any(|node| node.discard.is_some_and(|discard| discard.by == by))
    }
}
