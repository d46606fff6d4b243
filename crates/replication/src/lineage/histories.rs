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
                next.value_id = ValueId(next.branch.0 * 1000 + next.epoch.0);
                let places = places.iter().copied().chain(line(&next).last()).collect();
                all.push(History { value: next, places });
            }
        }
        begin = end;
    }
    all
}

fn birth() -> History {
    let value = Config {
        resource: ResourceId(1),
        branch: Branch(1),
        ancestors: Vec::new(),
        epoch: Epoch(1),
        value_id: ValueId(1001),
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
    };
    let places = line(&value).collect();
    History { value, places }
}
