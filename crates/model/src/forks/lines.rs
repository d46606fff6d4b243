//! 9.5: how two values are related.

use super::Forks;
use super::size::Rule;
use super::state::{Ancestor, Branch, NOBODY, State, Value, members};

/// How one value is related to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinship {
    Same,
    /// The other one's line goes on from this one, or from a later value of its line.
    Older,
    Newer,
    /// Both went on; with the last value that both have.
    Parted(Option<Ancestor>),
}

/// The value itself, and those from which its branches began.
fn places(value: &Value) -> impl Iterator<Item = Ancestor> + Clone + '_ {
    value.ancestors().chain([value.place()])
}

fn common_ancestor(one: &Value, other: &Value) -> Option<Ancestor> {
    let shared = places(one).flat_map(|mine| {
        let theirs = places(other).filter(move |theirs| theirs.branch == mine.branch);
        theirs.map(move |theirs| if mine.epoch <= theirs.epoch { mine } else { theirs })
    });
    shared.max_by_key(|shared| shared.epoch)
}

/// Until which epoch a replica of this branch, in sync since `joined`, is of the line of `value`.
pub(super) fn shared_until(value: &Value, branch: Branch, joined: u8) -> Option<u8> {
    if value.branch == branch {
        return Some(u8::MAX);
    }
    let ancestor = value.ancestors().find(|known| known.branch == branch)?;
    (joined <= ancestor.epoch).then_some(ancestor.epoch)
}

/// Whether the clients of the value at the fork wrote on in the line of `value`.
pub(super) fn went_along(value: &Value, fork: &Ancestor) -> bool {
    let mut later = places(value).skip_while(|it| it.branch != fork.branch).skip(1);
    later.next().is_none_or(|next| next.branch.went_along)
}

impl Forks {
    pub(super) fn kinship(&self, one: &Value, other: &Value) -> Kinship {
        if one.branch == other.branch {
            Kinship::Same
        } else if self.continues(other, one) {
            Kinship::Older
        } else if self.continues(one, other) {
            Kinship::Newer
        } else {
            Kinship::Parted(common_ancestor(one, other))
        }
    }

    /// 9.5: `newer` began from `older`, or from what came after it, or it is of the very session
    /// that proposed `older`.
    pub(super) fn continues(&self, newer: &Value, older: &Value) -> bool {
        let is_behind = |ancestor: &Ancestor| {
            ancestor.branch == older.branch
                && (older.epoch < ancestor.epoch
                    || ancestor.id == older.id
                    || newer.session == older.session
                    || !self.has(Rule::Behind))
        };
        self.has(Rule::LeftUndecided) && is_left_undecided(newer, older)
            || newer.ancestors().any(|ancestor| is_behind(&ancestor))
    }

    /// Where the line of `m` and that of `n` parted, as `n` sees it.
    #[expect(clippy::option_option, reason = "parted, and perhaps at a value that is known")]
    pub(super) fn parting(&self, state: &State, n: usize, m: usize) -> Option<Option<Ancestor>> {
        let (ours, theirs) = (&state.nodes[n].head, &state.nodes[m].head);
        let generation = |node: usize| state.nodes[node].ballot.generation;
        if generation(n).max(generation(m)) == 0 {
            return None;
        }
        match self.kinship(ours, theirs) {
            Kinship::Same => None,
            Kinship::Older => {
                let is_taken = self.has(Rule::InUse) && is_in_use(state, n, m)
                    || has_gone_on(state, n, theirs);
                is_taken.then(|| Some(ours.place()))
            }
            Kinship::Newer => {
                let is_led = leads_clients_by(state, m, theirs) && is_foreign(theirs, ours);
                (self.has(Rule::InUse) && is_led).then(|| Some(theirs.place()))
            }
            Kinship::Parted(fork) => Some(fork),
        }
    }
}

/// It stands on its line behind the value from which the other one went on, and was never chosen:
/// who began there is needed for every quorum of it, by the vote store that it still has.
fn is_left_undecided(newer: &Value, older: &Value) -> bool {
    let mut later = places(newer).skip_while(|it| it.branch != older.branch);
    let (Some(at), Some(next)) = (later.next(), later.next()) else { return false };
    let beginner = usize::from(next.branch.by);
    let mut votes = [older.voters[beginner], older.voters_old[beginner]].into_iter();
    let is_vote =
        |store: u8| store == newer.voters[beginner] || store == newer.voters_old[beginner];
    let mut others = NOBODY;
    for node in (0..others.len()).filter(|&node| node != beginner) {
        others[node] = older.voters[node].max(older.voters_old[node]);
    }
    at.epoch < older.epoch
        && votes.clone().any(|store| store != 0)
        && votes.all(|store| store == 0 || is_vote(store))
        && !older.is_quorum(&others)
}

/// The other line went on from a later value of the same branch: a quorum decided without `ours`.
pub(super) fn is_overtaken(ours: &Value, theirs: &Value) -> bool {
    theirs.ancestors().any(|it| it.branch == ours.branch && it.epoch > ours.epoch)
}

/// The line of `newer` has an earlier or the same place of the branch of `older`.
pub(super) fn is_before(older: &Value, newer: &Value) -> bool {
    let mut places = places(newer).filter(|it| it.branch == older.branch);
    places.any(|it| older.epoch <= it.epoch)
}

/// Neither the session that leads `older`, nor a quorum of its voters, decided on `newer`.
fn is_foreign(older: &Value, newer: &Value) -> bool {
    older.session != newer.session && !older.is_quorum(&newer.voters)
}

/// `n` leads clients by the session of this value.
pub(super) fn leads_clients_by(state: &State, n: usize, value: &Value) -> bool {
    let is_it = usize::from(value.leader) == n && value.for_clients;
    is_it && state.nodes[n].lead.is_some_and(|lead| lead.session == value.session)
}

/// Clients use the line that `n` sees itself on, and `m` went on without them.
fn is_in_use(state: &State, n: usize, m: usize) -> bool {
    let (ours, theirs) = (&state.nodes[n].head, &state.nodes[m].head);
    let leader = usize::from(ours.leader);
    let is_seen = leader != m && (leader == n || state.reaches(n, leader));
    is_seen && leads_clients_by(state, leader, ours) && is_foreign(ours, theirs)
}

/// `n` was told what somebody misses who is in sync by the newest value that it knows, and the
/// others decide without it.
fn has_gone_on(state: &State, n: usize, theirs: &Value) -> bool {
    let node = &state.nodes[n];
    let ours = &node.head;
    let mut others = NOBODY;
    for m in (0..state.nodes.len()).filter(|&m| m != n) {
        others[m] = ours.voters[m].max(ours.voters_old[m]);
    }
    let stores = [ours.voters[n], ours.voters_old[n]];
    let is_own = stores.iter().all(|&store| store == 0 || store == node.store);
    if is_own && !ours.is_quorum(&others) || !state.has_data(n) {
        return false;
    }
    let was_lost = |m: usize| m != n && node.slots[m].base == ours.joined[m];
    members(ours.insync & theirs.insync).any(was_lost)
}
