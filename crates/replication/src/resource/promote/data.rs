//! Who has the data of a value: PROTOCOL.md 7.3.

use format::ids::{Epoch, MemberSet};
use format::metadata::ReplicaState;

use crate::lineage::standing::lacks_answers;
use crate::resource::Resource;

pub(super) const NOT_UP_TO_DATE: &str = "this replica is not UpToDate, and no other one is in \
                                         reach: connect one, or take this one for the truth with \
                                         `primary --force`";
const LEFT_BEHIND: &str = "others go on without this replica, or were about to, and none is in \
                           reach: connect one, or take this one for the truth with `primary \
                           --force`";

const VOTE_IS_LOST: &str = "the vote store that knew whether this replica is UpToDate is lost: \
                            connect a node that knows, or take it for the truth with `primary \
                            --force`";

impl Resource {
    /// Why this replica alone may lack what clients were told is written, by the newest value that
    /// this node knows; before a birth nothing is known.
    pub(crate) fn lack_of_data(&self) -> Option<String> {
        if self.lost_vote().is_some() {
            return Some(VOTE_IS_LOST.to_owned());
        }
        let head = self.newest_own().filter(|head| head.epoch != Epoch(0))?;
        if self.is_older_than_known() {
            return Some(NOT_UP_TO_DATE.to_owned());
        }
        if self.own_part(head).is_none() {
            return Some(LEFT_BEHIND.to_owned());
        }
        lacks_answers(head, MemberSet::of(self.me()))
    }

    /// A value has others in sync, and this replica is not.
    pub(crate) fn is_older_than_known(&self) -> bool {
        let has_history = self.newest_own().is_some_and(|head| head.epoch != Epoch(0));
        has_history && self.replica_state() != Some(ReplicaState::InSync)
    }
}
