//! DISK_FAILED: a node tells its peers why its disk is out of use. It is for people alone, and
//! nothing is decided by it.

use format::ids::NodeId;
use format::message::{DiskFailed, FEATURE_TELLS, LinkMessage};

use crate::hosted_id::HostedId;
use crate::links::{Fact, Handles, Links};
use crate::placement;

impl Links {
    /// Tells the peer of a session, if its release knows of the message. `failed` makes the message
    /// for the handle of the peer.
    pub(crate) fn tell_disk_failed(
        &mut self,
        (hosted, peer): (HostedId, NodeId),
        failed: impl FnOnce(u32) -> DiskFailed,
    ) {
        let Some(index) = self.link_of(hosted, peer) else { return };
        let link = &mut self.links[index];
        if link.peer_features & FEATURE_TELLS == 0 {
            return;
        }
        let Some(session) = link.session_mut(hosted, peer) else { return };
        let Some(handles) = session.handles() else { return };
        let home = placement::home_shard(session.resource, link.peer_shards);
        link.push(home, LinkMessage::DiskFailed(Box::new(failed(handles.theirs))));
    }

    /// A message that names a session which ended meanwhile is dropped.
    pub(super) fn on_disk_failed(&mut self, index: usize, failed: Box<DiskFailed>) {
        let mut sessions = self.links[index].sessions.iter();
        let is_meant =
            |handles: Option<Handles>| handles.is_some_and(|it| it.ours == failed.handle);
        if let Some(session) = sessions.find(|session| is_meant(session.handles())) {
            let (hosted, peer) = (session.hosted, session.peer);
            self.facts.push_back(Fact::DiskFailed { hosted, peer, failed });
        }
    }
}
