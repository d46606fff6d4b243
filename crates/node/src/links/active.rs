//! Connected members of resources, as every shard knows them, and the handles that lead to them.
//!
//! The home shards of a resource agree on a session by OPEN, over their own connection. Its
//! messages travel on all connections, and may reach a shard before its home shard told it of the
//! session: a connection that brings a handle which is not known yet waits. Handles are used in
//! order within a home lane, which their lowest bits name, so a shard knows from the highest one
//! that its home has settled whether a handle is to come or is gone.

use format::ids::NodeId;

use crate::links::{Handles, HostedId, Links, Way};
use crate::payloads::Kit;
use crate::placement;

/// A member that is connected: its messages are taken, and ours sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) hosted: HostedId,
    pub(super) peer: NodeId,
    pub(super) handles: Handles,
}

/// Where a message of a resource goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) way: Way,
    pub(crate) handle: u32,
}

/// Whom a handle of the peer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Member(HostedId, NodeId),
    /// Nobody any more.
    Gone,
    /// The home shard has not said yet.
    Unsettled,
}

/// The last count of a handle: none is left after it, and the set has to end.
pub(super) const HANDLE_COUNT_MAX: u32 = u32::MAX / placement::LANES as u32;
const _: () = assert!(placement::LANES.is_power_of_two(), "the last count is good in each lane");

/// The handle with this count in its home lane.
pub(super) fn make_handle(count: u32, home_lane: u8) -> u32 {
    count * u32::from(placement::LANES) + u32::from(home_lane)
}

fn home_lane_of(handle: u32) -> usize {
    (handle % u32::from(placement::LANES)) as usize
}

impl Links {
    /// The member is connected on this shard from now on.
    pub(crate) fn connect(
        &mut self,
        link: usize,
        (hosted, peer): (HostedId, NodeId),
        handles: Handles,
        kit: &mut Kit,
    ) {
        let actives = &mut self.links[link].actives;
        actives.retain(|active| active.hosted != hosted || active.peer != peer);
        actives.push(Active { hosted, peer, handles });
        self.resolve(link, handles.set, handles.theirs, kit);
    }

    pub(crate) fn disconnect(
        &mut self,
        link: usize,
        (hosted, peer): (HostedId, NodeId),
        handles: Handles,
        kit: &mut Kit,
    ) {
        let actives = &mut self.links[link].actives;
        actives.retain(|active| {
            active.hosted != hosted || active.peer != peer || active.handles != handles
        });
        self.resolve(link, handles.set, handles.theirs, kit);
    }

    pub(crate) fn disconnect_all(&mut self, hosted: HostedId) {
        for link in &mut self.links {
            link.actives.retain(|active| active.hosted != hosted);
        }
    }

    /// The peer's handles of this home lane up to this one are settled: who waited for it goes on.
    pub(super) fn resolve(&mut self, link: usize, set: u64, handle: u32, kit: &mut Kit) {
        if set != self.links[link].set {
            return;
        }
        let resolved = &mut self.links[link].resolved[home_lane_of(handle)];
        *resolved = handle.max(*resolved);
        for place in 0..self.links[link].pipes.len() {
            if let Some(key) = self.links[link].pipes[place].connection {
                self.resume(key, kit);
            }
        }
    }

    pub(super) fn meant_by(&self, link: usize, handle: u32) -> Meant {
        let link = &self.links[link];
        let is_meant = |active: &&Active| {
            // What the set before it lost, nobody knows: nothing is added to its sessions.
            active.handles.theirs == handle && active.handles.set == link.set
        };
        if let Some(active) = link.actives.iter().find(is_meant) {
            return Meant::Member(active.hosted, active.peer);
        }
        let is_settled = handle <= link.resolved[home_lane_of(handle)];
        if is_settled { Meant::Gone } else { Meant::Unsettled }
    }

    /// Where messages to this member go, while it is connected: to this shard of the peer.
    pub(crate) fn route(
        &self,
        link: usize,
        (hosted, peer): (HostedId, NodeId),
        shard: impl FnOnce(u8) -> u8,
    ) -> Option<Route> {
        let known = self.links.get(link)?;
        let is_meant = |active: &&Active| active.hosted == hosted && active.peer == peer;
        let active = known.actives.iter().find(is_meant)?;
        if active.handles.set != known.set {
            return None;
        }
        let way = Way { link, shard: shard(known.peer_shards) };
        Some(Route { way, handle: active.handles.ours })
    }

    /// Whom a message of the peer is for, and from.
    pub(crate) fn session_of_handle(&self, link: usize, handle: u32) -> Option<(HostedId, NodeId)> {
        match self.meant_by(link, handle) {
            Meant::Member(hosted, peer) => Some((hosted, peer)),
            Meant::Gone | Meant::Unsettled => None,
        }
    }
}
