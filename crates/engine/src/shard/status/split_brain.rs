//! The sentences about a split brain and its end.

use format::config::Ancestor;
use replication::contract::{AfterSplitBrain, GiveWayReason};

/// An operator reads this of two nodes that both went on after they lost each other.
pub(in crate::shard) fn split_brain(resource: &str, peer: &str, fork: Option<Ancestor>) -> String {
    let since = fork.map_or_else(
        || "longer ago than is recorded".to_owned(),
        |fork| format!("after epoch {}", fork.epoch.0),
    );
    format!(
        "split brain: this node and {peer} both went on by themselves {since}; on the one whose \
         changes since then are to be given up: `basalt adm secondary {resource}`, then \
         `basalt adm connect --discard-my-data {resource}`"
    )
}

/// The end of the split brain in words, with the command to type.
pub(in crate::shard) fn after_split_brain(
    resource: &str,
    peer: &str,
    outcome: AfterSplitBrain,
) -> String {
    match outcome {
        AfterSplitBrain::GivesWay { by: GiveWayReason::Operator } => {
            format!("gives up what was written here since the split brain, and follows {peer}")
        }
        AfterSplitBrain::GivesWay { by: GiveWayReason::Policy } => format!(
            "gives up what was written here since the split brain, and follows {peer}, as \
             `after-sb-*` say"
        ),
        AfterSplitBrain::GivesWay { by: GiveWayReason::NoData } => {
            format!("has no data of its side of the split brain, and follows {peer}")
        }
        AfterSplitBrain::KeepsData => format!(
            "{peer} does not agree to stay as it is: it gives its own data up, or reaches no \
             replica with the data of its line; nothing was given up here; type `basalt adm \
             connect --discard-my-data {resource}` on one node only"
        ),
        AfterSplitBrain::PrimaryLost => format!(
            "split brain: by `after-sb-*` this node is to give way to {peer}, and is Primary; end \
             what uses the volume and type `basalt adm secondary {resource}`"
        ),
        AfterSplitBrain::PoliciesDiffer => format!(
            "split brain: `after-sb-*` of {peer} say something else than those of this node; make \
             them equal, or type `basalt adm connect --discard-my-data {resource}` on one node"
        ),
    }
}
