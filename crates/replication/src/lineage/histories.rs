//! All short histories of a resource, for tests that look at each of them.

use format::config::{Ancestor, Config};
use format::ids::{Branch, Epoch, MemberSet, ResourceId, ValueId, VoteStoreId};

use crate::lineage::relation::{line, next_branch};

/// Values behind the first one in the longest history.
const STEPS: usize = 5;

/// A value, and the place of each value that led to it, its own last.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) value: Config,
    pub(crate) places: Vec<Ancestor>,
}

/// All that comes of a birth: after each value the line goes on, or one of two branches begins.
/// Node 1 begins them, which votes for none: so each value may have been chosen.
pub(crate) fn histories() -> Vec<History> {
    let mut all = vec![birth()];
    let (mut begin, mut branch) = (0, 1);
    for _ in 0..STEPS {
        let end = all.len();
        for known in begin..end {
            let History { value, places } = all[known].clone();
            for begins in [false, true, true] {
                let mut next = value.clone();
                if begins {
                    branch += 1;
                    let node = format::ids::NodeId::new(0).expect("a node");
                    let voter = format::config::Voter { node, store: VoteStoreId(1) };
                    next = next_branch(&value, Branch(branch << 6 | 1 << 1), voter);
                }
                next.epoch = value.epoch.next();
                next.value_id = value_id(next.branch, next.epoch);
                let places = places.iter().copied().chain(line(&next).last()).collect();
                all.push(History { value: next, places });
            }
        }
        begin = end;
    }
    all
}

fn birth() -> History {
    let value = value_of(Branch(1), Epoch(1), Vec::new());
    let places = line(&value).collect();
    History { value, places }
}

/// The identity of the value of an epoch on a branch: no two have the same one.
pub(crate) fn value_id(branch: Branch, epoch: Epoch) -> ValueId {
    ValueId(branch.0 * 1000 + epoch.0)
}

/// A value without members or voters.
pub(crate) fn value_of(branch: Branch, epoch: Epoch, ancestors: Vec<Ancestor>) -> Config {
    Config {
        resource: ResourceId(1),
        branch,
        ancestors,
        epoch,
        value_id: value_id(branch, epoch),
        previous: ValueId(0),
        primary: None,
        tenure: None,
        volumes: Vec::new(),
        voters: Vec::new(),
        voters_old: Vec::new(),
        members: MemberSet::EMPTY,
        by_receipt: MemberSet::EMPTY,
        followers: MemberSet::EMPTY,
        clean: false,
        losses: 0,
        awaits_reopen: false,
    }
}
