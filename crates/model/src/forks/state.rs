//! The state of the forks model: nodes, lines, what they say to each other, and what is known of
//! all of them from outside.

use super::size::{NODES, Policy, Size};

pub(super) const WRITES: usize = 4;
/// Forks that a value lists at most.
const ANCESTORS: usize = 3;
/// A slot that is good for nothing.
pub(super) const NO_BASE: u8 = u8::MAX;
pub(super) const FIRST_EPOCH: u8 = 1;
/// Ids are a node's number and how much it made before.
pub(super) const IDS_OF_NODE: u8 = 40;

/// The trunk is that of nobody. As in a branch id of 9.4: who began it, and whether the session of
/// the fork went on in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Branch {
    pub(super) id: u8,
    pub(super) by: u8,
    pub(super) went_along: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Ballot {
    pub(super) generation: u8,
    pub(super) counter: u8,
    pub(super) by: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ancestor {
    pub(super) branch: Branch,
    pub(super) epoch: u8,
    pub(super) id: u8,
}

/// Of each node the vote store that is meant; 0 is none.
pub(super) type Stores = [u8; NODES];
pub(super) const NOBODY: Stores = [0; NODES];

/// M1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value {
    pub(super) branch: Branch,
    pub(super) ancestors: [Option<Ancestor>; ANCESTORS],
    pub(super) epoch: u8,
    pub(super) id: u8,
    pub(super) leader: u8,
    pub(super) session: u8,
    pub(super) for_clients: bool,
    pub(super) insync: u8,
    pub(super) joined: [u8; NODES],
    pub(super) voters: Stores,
    pub(super) voters_old: Stores,
}

/// M4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) base: u8,
    pub(super) bits: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Data {
    InSync,
    Outdated,
    Syncing,
    Blank,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) alive: bool,
    // The voter, durable.
    pub(super) store: u8,
    pub(super) promised: Ballot,
    /// The newest value that it accepted, or was told is chosen.
    pub(super) ballot: Ballot,
    pub(super) head: Value,
    // The replica, durable; without a disk, what its vote is for.
    pub(super) has_disk: bool,
    pub(super) branch: Branch,
    pub(super) joined: u8,
    pub(super) candidate: u8,
    pub(super) data: Data,
    /// The writes that are in it, whether or not a later one lies over them.
    pub(super) content: u8,
    pub(super) own: u8,
    pub(super) slots: [Slot; NODES],
    pub(super) sealed: u8,
    // The process.
    pub(super) admitted: bool,
    /// Writes that are not known to be stable.
    pub(super) window: u8,
    pub(super) lead: Option<Lead>,
    pub(super) wish: bool,
    pub(super) discard: Option<Discard>,
    /// Who gives its data up for what this one has, which agreed to stay as it is.
    pub(super) relied_on: u8,
    pub(super) talks: [Option<Talk>; NODES],
    pub(super) standings: u8,
    /// How many ids it gave.
    pub(super) made: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lead {
    pub(super) session: u8,
    pub(super) for_clients: bool,
    /// The newest value of it that it knows to be chosen; a promotion has none yet.
    pub(super) value: Value,
    pub(super) is_serving: bool,
    pub(super) proposed: Option<(Ballot, Value)>,
    pub(super) ws: u8,
    pub(super) losing: u8,
    /// The write that is under way, and who has it.
    pub(super) write: Option<(u8, u8)>,
    /// Who is copied to, and what is left.
    pub(super) resync: Option<(u8, u8)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reason {
    Word,
    Policy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Discard {
    pub(super) winner: u8,
    pub(super) ballot: Ballot,
    pub(super) value: Value,
    pub(super) by: Reason,
}

/// 9.5b: what is said between two nodes of lines that parted, while they are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Talk {
    pub(super) own: Option<Standing>,
    pub(super) other: Option<Standing>,
    /// The standing by which GIVE_WAY is out; 0 is the operator's word.
    pub(super) asked: Option<u8>,
    pub(super) refused: bool,
    pub(super) rests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Standing {
    pub(super) id: u8,
    pub(super) head: u8,
    pub(super) against: u8,
    pub(super) is_primary: bool,
    /// `None`: not known.
    pub(super) changed: Option<u8>,
    pub(super) policy: Policy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Message {
    Standing(Standing),
    GiveWay { standing: u8, against: u8 },
    Answer { standing: u8, agreed: bool },
}

/// What is known from outside of a line: its newest chosen value, the writes that were
/// acknowledged in it, and all that may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) head: Value,
    pub(super) acknowledged: u8,
    pub(super) may: u8,
}

/// What must never have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Wrongs {
    /// Two values were chosen in one place.
    pub(super) torn: bool,
    /// Who was taken for behind had acknowledged writes that the other line has not.
    pub(super) lost: bool,
    /// Somebody gave way to a line whose data was gone.
    pub(super) void: bool,
    /// Somebody gave way whom the options do not name, or keep.
    pub(super) unnamed: bool,
    /// A session for clients was ended by a line, and a quorum of its voters did not leave it.
    pub(super) ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) writes: u8,
    pub(super) promotions: u8,
    pub(super) branches: u8,
    pub(super) cuts: u8,
    pub(super) kills: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) nodes: Vec<Node>,
    /// Links that are cut, by both ends.
    pub(super) cut: [u8; NODES],
    /// By sender and receiver.
    pub(super) mail: [[Vec<Message>; NODES]; NODES],
    /// Which of the policies of the size.
    pub(super) policies: u8,
    /// The block of each write.
    pub(super) blocks: [u8; WRITES],
    pub(super) lines: Vec<(Branch, Line)>,
    /// Ids of values that were chosen.
    pub(super) chosen: u128,
    pub(super) wrongs: Wrongs,
    pub(super) left: Left,
}

pub(super) fn bit(index: usize) -> u8 {
    1 << index
}

pub(super) fn has(set: u8, index: usize) -> bool {
    set & bit(index) != 0
}

pub(super) fn members(set: u8) -> impl Iterator<Item = usize> + Clone {
    (0..8).filter(move |&index| has(set, index))
}

pub(super) fn small(number: usize) -> u8 {
    u8::try_from(number).expect("a number of few")
}

impl State {
    pub(super) fn new(size: &Size, policies: u8) -> Self {
        let every = bit(size.replicas) - 1;
        let voters = std::array::from_fn(|n| u8::from(n < size.nodes));
        let head = Value {
            branch: Branch::default(),
            ancestors: [None; ANCESTORS],
            epoch: FIRST_EPOCH,
            id: 0,
            leader: 0,
            session: IDS_OF_NODE * 3,
            for_clients: true,
            insync: every,
            joined: std::array::from_fn(|n| if n < size.replicas { FIRST_EPOCH } else { 0 }),
            voters,
            voters_old: NOBODY,
        };
        let lead = Lead {
            session: head.session,
            for_clients: true,
            value: head,
            is_serving: true,
            proposed: None,
            ws: every,
            losing: 0,
            write: None,
            resync: None,
        };
        let node = |n: usize| Node {
            alive: true,
            store: 1,
            promised: Ballot::default(),
            ballot: Ballot::default(),
            head,
            has_disk: n < size.replicas,
            branch: head.branch,
            joined: FIRST_EPOCH,
            candidate: 0,
            data: if n < size.replicas { Data::InSync } else { Data::Blank },
            content: 0,
            own: 0,
            slots: [Slot { base: NO_BASE, bits: 0 }; NODES],
            sealed: head.session,
            admitted: true,
            window: 0,
            lead: (n == 0).then_some(lead),
            wish: false,
            discard: None,
            relied_on: 0,
            talks: [None; NODES],
            standings: 0,
            made: 0,
        };
        Self {
            nodes: (0..size.nodes).map(node).collect(),
            cut: [0; NODES],
            mail: Default::default(),
            policies,
            blocks: [0; WRITES],
            lines: vec![(head.branch, Line { head, acknowledged: 0, may: 0 })],
            chosen: 1,
            wrongs: Wrongs::default(),
            left: Left {
                writes: size.writes,
                promotions: size.promotions,
                branches: size.branches,
                cuts: size.cuts,
                kills: size.kills,
            },
        }
    }

    /// All replicas.
    pub(super) fn every(&self) -> u8 {
        bit(self.nodes.iter().filter(|node| node.has_disk).count()) - 1
    }

    /// An id that nobody gave before; never 0.
    pub(super) fn next_id(&mut self, n: usize) -> u8 {
        let node = &mut self.nodes[n];
        node.made += 1;
        assert!(node.made < IDS_OF_NODE, "more ids than a node has");
        small(n) * IDS_OF_NODE + node.made
    }

    pub(super) fn is_connected(&self, n: usize, m: usize) -> bool {
        n == m || self.nodes[n].alive && self.nodes[m].alive && !has(self.cut[n], m)
    }

    pub(super) fn is_split(&self, n: usize, m: usize) -> bool {
        self.nodes[n].talks[m].is_some()
    }

    /// Connected, and neither takes the other for one of another line.
    pub(super) fn reaches(&self, n: usize, m: usize) -> bool {
        self.is_connected(n, m) && !self.is_split(n, m) && !self.is_split(m, n)
    }

    pub(super) fn reach(&self, n: usize) -> u8 {
        (0..self.nodes.len()).filter(|&m| self.reaches(n, m)).fold(0, |set, m| set | bit(m))
    }

    pub(super) fn blocks_of(&self, writes: u8) -> u8 {
        members(writes).fold(0, |set, write| set | bit(usize::from(self.blocks[write])))
    }

    /// What `target` holds once these blocks are as at `source`.
    pub(super) fn copied(&self, source: usize, target: usize, blocks: u8) -> u8 {
        let is_copied = |write: &usize| has(blocks, usize::from(self.blocks[*write]));
        let mask = (0..WRITES).filter(is_copied).fold(0, |set, write| set | bit(write));
        self.nodes[target].content & !mask | self.nodes[source].content & mask
    }

    pub(super) fn line(&self, branch: Branch) -> Option<&Line> {
        self.lines.iter().find(|(known, _)| *known == branch).map(|(_, line)| line)
    }

    pub(super) fn line_mut(&mut self, branch: Branch) -> Option<&mut Line> {
        self.lines.iter_mut().find(|(known, _)| *known == branch).map(|(_, line)| line)
    }

    /// As good as it gets: in sync, if it has data, and up to date as a voter.
    pub(super) fn is_settled(&self, n: usize, value: &Value) -> bool {
        let node = &self.nodes[n];
        node.head.id == value.id && (node.data == Data::InSync || !node.has_disk)
    }

    /// The local replica is in sync by what this node knows.
    pub(super) fn has_data(&self, n: usize) -> bool {
        let node = &self.nodes[n];
        node.branch == node.head.branch
            && has(node.head.insync, n)
            && node.data == Data::InSync
            && node.joined == node.head.joined[n]
    }

    pub(super) fn serves_clients(&self, n: usize) -> bool {
        self.nodes[n].lead.is_some_and(|lead| lead.for_clients)
    }

    pub(super) fn votes(&self, nodes: u8, value: &Value) -> u8 {
        let is_vote = |&m: &usize| {
            let store = self.nodes[m].store;
            store == value.voters[m] || store == value.voters_old[m]
        };
        members(nodes).filter(is_vote).fold(0, |set, m| set | bit(m))
    }

    pub(super) fn is_quorum(&self, nodes: u8, value: &Value) -> bool {
        let stores = std::array::from_fn(|m| {
            if has(nodes, m) { self.nodes.get(m).map_or(0, |node| node.store) } else { 0 }
        });
        value.is_quorum(&stores)
    }
}

impl Value {
    /// 9.1, 9.2.
    pub(super) fn is_quorum(&self, stores: &Stores) -> bool {
        is_majority(stores, &self.voters)
            && (self.voters_old == NOBODY || is_majority(stores, &self.voters_old))
    }

    pub(super) fn place(&self) -> Ancestor {
        Ancestor { branch: self.branch, epoch: self.epoch, id: self.id }
    }

    pub(super) fn ancestors(&self) -> impl Iterator<Item = Ancestor> + Clone + '_ {
        self.ancestors.iter().flatten().copied()
    }

    /// 9.4: on a new branch.
    pub(super) fn add_ancestor(&mut self) {
        let place = self.place();
        let free = self.ancestors.iter_mut().find(|it| it.is_none());
        *free.expect("no more forks than fit the list") = Some(place);
    }
}

pub(super) fn is_majority(stores: &Stores, voters: &Stores) -> bool {
    let all = voters.iter().filter(|&&voter| voter != 0).count();
    let known = voters.iter().zip(stores);
    2 * known.filter(|(voter, store)| **voter != 0 && voter == store).count() > all
}
