//! I1 and I25 at their roots: what a voter promised and what a member obeys never goes back.

use std::collections::BTreeMap;

use format::ids::{Ballot, Incarnation, VoteStoreId};
use format::metadata::{Register, Superblock};

/// What was durable last.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    voters: BTreeMap<usize, (VoteStoreId, Ballot, Ballot)>,
    members: BTreeMap<usize, (Incarnation, Ballot)>,
}

impl Promises {
    /// A voter accepts nothing below its promise, and promises nothing below what it promised.
    pub(crate) fn see_voter(&mut self, node: usize, register: &Register) -> Result<(), String> {
        let accepted = register.accepted.as_ref().map_or_else(Ballot::default, |known| known.0);
        let now = (register.store, register.promised, accepted);
        let Some(before) = self.voters.insert(node, now) else { return Ok(()) };
        let same = before.0 == now.0;
        if same && (now.1 < before.1 || now.2 < before.2) {
            return Err(format!("I1: the voter of n{node} went back from {before:?} to {now:?}"));
        }
        if same && now.2 != before.2 && now.2 < before.1 {
            return Err(format!(
                "I1: n{node} accepted {:?} after it promised {:?}",
                now.2, before.1
            ));
        }
        Ok(())
    }

    /// A member obeys no seal below the one before.
    pub(crate) fn see_member(&mut self, node: usize, disk: &Superblock) -> Result<(), String> {
        let now = (disk.incarnation, disk.sealed.ballot);
        let Some(before) = self.members.insert(node, now) else { return Ok(()) };
        if before.0 == now.0 && now.1 < before.1 {
            return Err(format!("7.2: n{node} obeys {:?} after {:?}", now.1, before.1));
        }
        Ok(())
    }

    /// Another content was put on the disk.
    pub(crate) fn forget_member(&mut self, node: usize) {
        self.members.remove(&node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::{Nonce, ResourceId};

    fn register(store: u64, promised: u64) -> Register {
        Register {
            resource: ResourceId(1),
            store: VoteStoreId(store),
            promised: Ballot { counter: promised, random: 0 },
            promised_nonce: Nonce(1),
            accepted: None,
            write_counter: 0,
            disk_left_at: None,
        }
    }

    #[test]
    fn a_voter_that_goes_back_is_found() {
        let mut promises = Promises::default();
        promises.see_voter(0, &register(1, 5)).unwrap();
        promises.see_voter(0, &register(1, 6)).unwrap();
        promises.see_voter(0, &register(2, 1)).expect("another store is another voter");
        promises.see_voter(0, &register(1, 6)).unwrap();
        promises.see_voter(0, &register(1, 4)).unwrap_err();
    }
}
