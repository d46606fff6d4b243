//! Leases: what heartbeats ask for on behalf of the resources of a shard, and what they grant.

use std::time::Duration;

use format::ids::Nonce;
use format::message::Heartbeat;

use crate::hosted_id::HostedId;
use crate::links::Way;
use crate::links::heartbeat::Lease;
use crate::shard::Shard;

/// The sessions for which leases are wanted, by the numbers of their resources.
///
/// Each heartbeat asks for all of them, and few change in a second: kept here, close together, they
/// are found without a look at each resource, which a node at rest has long lost from its caches.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    nonces: Vec<Option<Nonce>>,
    count: usize,
}

impl Wanted {
    pub(super) fn set(&mut self, id: HostedId, nonce: Option<Nonce>) {
        let place = id.0 as usize;
        if self.nonces.len() <= place {
            self.nonces.resize(place + 1, None);
        }
        self.count -= usize::from(self.nonces[place].is_some());
        self.count += usize::from(nonce.is_some());
        self.nonces[place] = nonce;
    }

    fn of(&self, id: HostedId) -> Option<Nonce> {
        self.nonces.get(id.0 as usize).copied().flatten()
    }
}

impl Shard {
    /// A heartbeat asks for the leases of all resources that are at home at both its ends.
    pub(super) fn send_heartbeat(&mut self, way: Way) {
        let mut leases: Vec<Lease> = std::mem::take(&mut self.leases);
        leases.clear();
        if self.wanted.count > 0 {
            leases.extend(self.rim.links.leases(way, |id| self.wanted.of(id)));
        }
        self.rim.links.send_heartbeat(way, &leases, self.rim.kit.now);
        self.leases = leases;
    }

    pub(super) fn on_heartbeat(&mut self, way: Way, heartbeat: Heartbeat) {
        let mut refused = Vec::new();
        for lease in &heartbeat.leases {
            let length = Duration::from_millis(lease.length_ms.into());
            let session = self.rim.links.session_of_handle(way.link, lease.handle);
            let granted = session.is_some_and(|(id, from)| {
                let hosted = self.hosted.get_mut(id.0 as usize).and_then(Option::as_mut);
                hosted.is_some_and(|hosted| {
                    hosted.resource.grant(self.rim.kit.now, from, lease.nonce, length)
                })
            });
            if !granted {
                refused.push(lease.handle);
            }
        }
        self.rim.links.answer_heartbeat(way, heartbeat, refused, self.rim.kit.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_want_are_counted_once() {
        let mut wanted = Wanted::default();
        assert_eq!((wanted.of(HostedId(3)), wanted.count), (None, 0));
        wanted.set(HostedId(3), Some(Nonce(7)));
        wanted.set(HostedId(3), Some(Nonce(8)));
        wanted.set(HostedId(1), None);
        assert_eq!((wanted.of(HostedId(3)), wanted.count), (Some(Nonce(8)), 1));
        wanted.set(HostedId(0), Some(Nonce(9)));
        wanted.set(HostedId(3), None);
        assert_eq!((wanted.of(HostedId(3)), wanted.count), (None, 1));
    }
}
