//! The changes of the config that a session proposes, one at a time.

use format::ids::{Epoch, MemberSet, NodeId, ValueId};
use stdx::time::Time;

/// The change of the config that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Losing(MemberSet),
    /// The member makes itself durable; nothing is proposed yet.
    PreparingJoin {
        member: NodeId,
        epoch: Epoch,
        value_id: ValueId,
        until: Time,
    },
    Joining {
        member: NodeId,
    },
    /// Of members or voters.
    Members {
        /// The members that slots were kept for.
        before: MemberSet,
    },
    /// A volume that has no size yet.
    Naming,
    /// Of the size of the volume.
    Resizing,
    Demoting,
    /// Without a quorum: the only change that needs none.
    Alone,
}
