//! The fence that keeps a resource's machine in step with its parts.
//!
//! The home broadcasts what it decides to the parts on other shards; each answers every message
//! once it has applied it. What the machine says to the outside after such a decision waits until
//! all parts have: so nobody hears of a session's end while a part still answers reads of it, of
//! a role before the lanes have it, or of a connection that some shard does not know yet.
//!
//! ```text
//! home     StandDown ->-+          LeaseRelease (waits) ............ sent to the voters
//! part 1                +-> applied ->-+                             ^
//! part 2                +-> applied ----+----------------------------+
//! ```
//!
//! With one shard there is no part elsewhere, and nothing waits.

use std::collections::VecDeque;

use format::ids::NodeId;
use replication::contract::{
    GroupInput, Parting, PeerReport, ResourceAction, ResourceInput, ToGroup,
};

use crate::contract::{Cross, ToPart};
use crate::hosted_id::HostedId;
use crate::limits::SHARDS_MAX;
use crate::links::Handles;
use crate::shard::{Input, Shard};

/// What has effects outside of this node, in order.
#[derive(Debug)]
pub(super) enum Effect {
    /// The parts may be told of a connection: they have all heard of the end of the one before.
    Connect {
        peer: NodeId,
        handles: Handles,
        report: PeerReport,
    },
    /// All of them were.
    Connected {
        peer: NodeId,
        handles: Handles,
        report: PeerReport,
    },
    Disconnected {
        peer: NodeId,
        parting: Parting,
    },
    Action(ResourceAction),
}

/// Which effects wait for which broadcast.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// Broadcasts so far, and how many of them each shard has applied.
    told: u64,
    applied: [u64; SHARDS_MAX as usize],
    waiting: VecDeque<(u64, Effect)>,
}

impl Fence {
    /// One more message goes to all other shards.
    pub(super) fn has_told(&mut self) {
        self.told += 1;
    }

    /// This shard has applied one more of them.
    pub(super) fn has_applied(&mut self, shard: u8) {
        self.applied[usize::from(shard)] += 1;
    }

    fn is_reached(&self, fence: u64, mut others: impl Iterator<Item = u8>) -> bool {
        others.all(|shard| self.applied[usize::from(shard)] >= fence)
    }

    /// True if this connection is one that nobody was told of yet.
    fn withdraw_connect(&mut self, of: NodeId, its: Handles) -> bool {
        let place = self.waiting.iter().position(|(_, effect)| {
            let Effect::Connect { peer, handles, .. } = effect else { return false };
            (*peer, *handles) == (of, its)
        });
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }
}

impl Shard {
    /// Tells the parts on the other shards.
    pub(super) fn broadcast(&mut self, id: HostedId, message: impl Fn() -> ToPart) {
        let rim = &mut self.rim;
        if rim.mesh.is_alone() {
            return;
        }
        if let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) {
            hosted.fence.has_told();
            for shard in rim.mesh.others() {
                rim.tell(shard, Cross::ToPart(id, message()));
            }
        }
    }

    /// To the groups of all shards.
    pub(super) fn tell_groups(&mut self, id: HostedId, message: ToGroup) {
        let shards = u64::from(self.rim.mesh.shards());
        let message = if let ToGroup::ResyncRate { bytes_per_second } = message {
            // Each shard copies its own lanes: together they keep to the rate.
            ToGroup::ResyncRate { bytes_per_second: bytes_per_second.div_ceil(shards) }
        } else {
            message
        };
        if let (ToGroup::OnNoQuorum { fail }, Some(Some(hosted))) =
            (&message, self.hosted.get_mut(id.0 as usize))
            && std::mem::replace(&mut hosted.fails_requests, *fail) != *fail
        {
            self.note_news(id);
        }
        self.broadcast(id, || {
            if let ToGroup::Lease { until } = message {
                ToPart::Lease { until }
            } else {
                ToPart::Group(Box::new(message.clone()))
            }
        });
        self.rim.inbox.push_back((id, Input::Group(GroupInput::Home(message))));
    }

    /// Has an effect once all parts have applied what was broadcast before it.
    pub(super) fn after_parts(&mut self, id: HostedId, effect: Effect) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        let fence = &mut hosted.fence;
        if fence.waiting.is_empty() && fence.is_reached(fence.told, self.rim.mesh.others()) {
            self.take_effect(id, effect);
        } else {
            fence.waiting.push_back((fence.told, effect));
        }
    }

    /// The same, ahead of what waits already.
    fn after_parts_first(&mut self, id: HostedId, effect: Effect) {
        let Some(hosted) = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        let fence = &mut hosted.fence;
        if fence.is_reached(fence.told, self.rim.mesh.others()) {
            self.take_effect(id, effect);
        } else {
            fence.waiting.push_front((fence.told, effect));
        }
    }

    /// A connection ended before anybody was told of it, which nobody is now.
    pub(super) fn was_not_told(&mut self, id: HostedId, peer: NodeId, handles: Handles) -> bool {
        let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_deref_mut);
        hosted.is_some_and(|hosted| hosted.fence.withdraw_connect(peer, handles))
    }

    pub(super) fn run_effects(&mut self, id: HostedId) {
        while let Some(effect) = self.next_effect(id) {
            self.take_effect(id, effect);
        }
    }

    fn next_effect(&mut self, id: HostedId) -> Option<Effect> {
        let fence = &mut self.hosted.get_mut(id.0 as usize)?.as_mut()?.fence;
        let (reached_at, _) = fence.waiting.front()?;
        if !fence.is_reached(*reached_at, self.rim.mesh.others()) {
            return None;
        }
        fence.waiting.pop_front().map(|(_, effect)| effect)
    }

    fn take_effect(&mut self, id: HostedId, effect: Effect) {
        match effect {
            Effect::Connect { peer, handles, report } => {
                self.broadcast(id, || ToPart::Connected { peer, handles });
                self.after_parts_first(id, Effect::Connected { peer, handles, report });
            }
            Effect::Connected { peer, handles, report } => {
                let link = self.part(id).and_then(|part| part.peer(peer)).map(|peer| peer.link);
                let rim = &mut self.rim;
                rim.inbox.push_back((id, Input::Group(GroupInput::PeerUp { peer })));
                let input = ResourceInput::Connected { peer, report: Box::new(report) };
                rim.inbox.push_back((id, Input::Resource(input)));
                // A session that ended meanwhile leads nowhere; the machine hears so next.
                if let Some(link) = link.filter(|_| rim.links.has_handles(id, peer, handles)) {
                    rim.links.connect(link, (id, peer), handles, &mut rim.kit);
                    rim.links.settle(link, handles.set, handles.theirs, &mut rim.kit);
                }
                self.tell_disk_failed(id, Some(peer));
            }
            Effect::Disconnected { peer, parting } => {
                let rim = &mut self.rim;
                rim.inbox.push_back((id, Input::Group(GroupInput::PeerDown { peer })));
                let input = ResourceInput::Disconnected { peer, parting };
                rim.inbox.push_back((id, Input::Resource(input)));
            }
            Effect::Action(action) => {
                self.perform_action(id, action);
                // The way of initiators follows what was under way until now.
                self.look_at_path(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use format::ids::BootId;

    use super::*;

    fn connect(peer: u8, theirs: u32) -> Effect {
        let handles = Handles { ours: 16, theirs, set: 1 };
        let report = PeerReport { boot_id: BootId(1), shards: 2, features: 0, replica: None };
        Effect::Connect { peer: NodeId::new(peer).unwrap(), handles, report }
    }

    /// The parts would hear of the end first, and keep what is told to them after it for ever.
    #[test]
    fn nobody_hears_of_a_connection_after_its_end() {
        let mut fence = Fence::default();
        let peer = NodeId::new(1).unwrap();
        fence.waiting.extend([connect(1, 16), connect(2, 32), connect(1, 48)].map(|it| (7, it)));
        let handles = Handles { ours: 16, theirs: 48, set: 1 };
        assert!(fence.withdraw_connect(peer, handles));
        assert!(!fence.withdraw_connect(peer, handles), "it is gone");
        assert_eq!(fence.waiting.len(), 2);
        let told = Effect::Connected {
            peer,
            handles,
            report: PeerReport { boot_id: BootId(1), shards: 2, features: 0, replica: None },
        };
        fence.waiting.push_back((8, told));
        assert!(
            !fence.withdraw_connect(peer, handles),
            "the parts know of it, and hear of its end"
        );
    }
}
