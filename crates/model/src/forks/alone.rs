//! 9.4: who goes on alone.

use super::leader;
use super::lines::leads_clients_by;
use super::size::Rule;
use super::state::{Ballot, Branch, Line, NOBODY, State, Value, bit, has, members, small};
use super::{Forks, Purpose};

/// With what session a branch begins: that of the value that it left, or another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Began {
    Along,
    Anew,
}

impl Forks {
    /// 9.4: a Primary whose quorum is gone.
    pub(super) fn extend_alone(&self, state: &mut State, n: usize) -> bool {
        let Some(mut lead) = state.nodes[n].lead.filter(|lead| lead.for_clients) else {
            return false;
        };
        let reached = state.reach(n);
        let head = state.nodes[n].head;
        let lacks_quorum =
            !state.is_quorum(reached, &lead.value) || !state.is_quorum(reached, &head);
        let is_member = lead.is_serving && has(lead.ws, n) && has(head.insync, n);
        if !is_member || !lacks_quorum || head.session != lead.session || !may_begin(state, n) {
            return false;
        }
        let others = lead.ws & !bit(n);
        leader::record_loss(state, bit(n), &lead.value, others);
        let (ballot, value) = self.begin_branch(state, n, Began::Along, lead.session);
        lead.value = value;
        (lead.ws, lead.losing, lead.resync, lead.proposed) = (bit(n), 0, None, None);
        if let Some((_, acks)) = lead.write.as_mut() {
            *acks &= bit(n);
        }
        state.nodes[n].lead = Some(lead);
        state.accept(n, ballot, value);
        true
    }

    /// 9.4: an in-sync member that reaches no quorum becomes Primary alone.
    pub(super) fn promote_alone(&self, state: &mut State, n: usize) -> bool {
        let head = state.nodes[n].head;
        let reached = state.reach(n);
        let is_led = members(reached).any(|m| leads_clients_by(state, m, &head));
        let is_free = state.nodes[n].lead.is_none() && !is_led && state.left.promotions > 0;
        let is_right = state.has_data(n) && !state.is_quorum(reached, &head);
        if !is_free || !is_right || !may_begin(state, n) {
            return false;
        }
        state.left.promotions -= 1;
        leader::record_loss(state, bit(n), &head, state.every() & !bit(n));
        state.nodes[n].window = 0;
        let session = state.next_id(n);
        let (ballot, value) = self.begin_branch(state, n, Began::Anew, session);
        let node = &mut state.nodes[n];
        (node.sealed, node.admitted) = (session, true);
        node.lead = Some(leader::new_lead(session, Purpose::Clients, value, bit(n), None));
        state.accept(n, ballot, value);
        true
    }

    /// The value that `n` goes on with; its one vote is the quorum.
    fn begin_branch(
        &self,
        state: &mut State,
        n: usize,
        began: Began,
        session: u8,
    ) -> (Ballot, Value) {
        state.left.branches -= 1;
        let id = state.next_id(n);
        let node = &mut state.nodes[n];
        let (from, by) = (node.head.branch, small(n));
        let mut value = node.head;
        if self.has(Rule::NewBranch) {
            value.add_ancestor();
            value.branch = Branch { id, by, went_along: began == Began::Along };
        }
        value.epoch += 1;
        (value.id, value.session, value.leader) = (id, session, by);
        value.for_clients = true;
        value.insync = bit(n);
        value.voters = NOBODY;
        value.voters[n] = node.store;
        value.voters_old = NOBODY;
        let Ballot { generation, .. } = node.ballot.max(node.promised);
        let ballot = Ballot { generation: generation + 1, counter: 0, by };
        if self.has(Rule::ReplicaOfBranch) {
            node.branch = value.branch;
        }
        let content = node.content;
        if self.has(Rule::NewBranch) {
            let acknowledged = state.line(from).map_or(0, |line| line.acknowledged) & content;
            let line = Line { head: value, acknowledged, may: content };
            state.lines.push((value.branch, line));
            state.lines.sort_unstable_by_key(|(branch, _)| *branch);
        }
        (ballot, value)
    }
}

fn may_begin(state: &State, n: usize) -> bool {
    let node = &state.nodes[n];
    node.alive && node.discard.is_none() && !node.wish && state.left.branches > 0
}
