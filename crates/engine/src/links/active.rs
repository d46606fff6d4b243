//! Connected members of resources, as every shard knows them, and the handles that lead to them.
//!
//! The home shards of a resource agree on a session by OPEN, over their own connection. Its
//! messages travel on all connections, and may reach a shard before its home shard told it of the
//! session: a connection that brings a handle which is not known yet waits. Handles are used in
//! order within a home lane, which their lowest bits name, and settled in any order: some are void
//! at once, others wait until all shards know the member. The home tells of each, and up to which
//! one all are settled: from that a shard knows whether a handle is to come or is gone.

use format::ids::NodeId;

use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::SETTLED_BEYOND_MAX;
use crate::links::away::Away;
use crate::links::news::News;
use crate::links::{Handles, Links, Way};
use crate::placement;

/// A member that is connected: its messages are taken, and ours sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) hosted: HostedId,
    pub(super) peer: NodeId,
    pub(super) handles: Handles,
}

/// The connected members of one link: each message asks for one of them.
#[derive(Debug, Default)]
pub(super) struct Actives {
    /// In the order of resources and members.
    by_member: Vec<Active>,
    /// The same, in the order of sets and the peer's handles.
    by_handle: Vec<Active>,
}

impl Active {
    fn member(&self) -> (HostedId, NodeId) {
        (self.hosted, self.peer)
    }

    fn theirs(&self) -> (u64, u32) {
        (self.handles.set, self.handles.theirs)
    }
}

impl Actives {
    pub(super) fn insert(&mut self, active: Active) {
        self.remove(active.member());
        let place = self.by_member.partition_point(|other| other.member() < active.member());
        self.by_member.insert(place, active);
        let place = self.by_handle.partition_point(|other| other.theirs() < active.theirs());
        self.by_handle.insert(place, active);
    }

    pub(super) fn remove(&mut self, member: (HostedId, NodeId)) {
        let Ok(place) = self.by_member.binary_search_by_key(&member, Active::member) else {
            return;
        };
        let theirs = self.by_member.remove(place).theirs();
        // A peer may have named one handle for two sessions.
        let first = self.by_handle.partition_point(|other| other.theirs() < theirs);
        let is_its = |active: &Active| active.member() == member;
        if let Some(after) = self.by_handle[first..].iter().position(is_its) {
            self.by_handle.remove(first + after);
        }
    }

    fn retain(&mut self, keep: impl Fn(&Active) -> bool) {
        self.by_member.retain(&keep);
        self.by_handle.retain(keep);
    }

    fn of_member(&self, member: (HostedId, NodeId)) -> Option<&Active> {
        let place = self.by_member.binary_search_by_key(&member, Active::member).ok()?;
        Some(&self.by_member[place])
    }

    fn of_handle(&self, set: u64, handle: u32) -> Option<&Active> {
        let place = self.by_handle.binary_search_by_key(&(set, handle), Active::theirs).ok()?;
        Some(&self.by_handle[place])
    }
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

/// What the home knows of the handles that the peer named in its OPENs over this set.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// By home lane.
    newest: [u32; placement::LANES as usize],
    /// Those that not all shards were told of, and that are not void: of one OPEN each.
    pub(super) unsettled: Vec<u32>,
}

impl Opened {
    pub(super) fn note(&mut self, handle: u32) {
        let newest = &mut self.newest[home_lane_of(handle)];
        *newest = handle.max(*newest);
        self.unsettled.push(handle);
    }

    /// The handle up to which all of this one's home lane are settled with it.
    pub(super) fn settle(&mut self, handle: u32) -> u32 {
        if let Some(place) = self.unsettled.iter().position(|known| *known == handle) {
            self.unsettled.swap_remove(place);
        }
        let lane = home_lane_of(handle);
        let of_lane = self.unsettled.iter().filter(|known| home_lane_of(**known) == lane);
        let before = |first: &u32| first.saturating_sub(u32::from(placement::LANES));
        of_lane.min().map_or(self.newest[lane], before)
    }
}

/// The peer's handles of this set of which a shard knows whom they mean, if anybody.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// By home lane: all up to this one.
    up_to: [u32; placement::LANES as usize],
    /// Others: few, for what they overtook waits for the shards of this node, or for one answer of
    /// the peer.
    beyond: Vec<u32>,
}

impl Settled {
    fn add(&mut self, handle: u32, up_to: u32) {
        let lane = home_lane_of(handle);
        let known = &mut self.up_to[lane];
        *known = up_to.max(*known);
        let known = *known;
        self.beyond.retain(|other| home_lane_of(*other) != lane || *other > known);
        if handle > known {
            self.beyond.push(handle);
        }
    }

    fn has(&self, handle: u32) -> bool {
        handle <= self.up_to[home_lane_of(handle)] || self.beyond.contains(&handle)
    }
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
        self.links[link].actives.insert(Active { hosted, peer, handles });
        self.resume_all(link, kit);
    }

    /// Whatever link that was: the resource may have forgotten the member meanwhile.
    pub(crate) fn disconnect(&mut self, (hosted, peer): (HostedId, NodeId), handles: Handles) {
        let member = (hosted, peer);
        for link in &mut self.links {
            if link.actives.of_member(member).is_some_and(|active| active.handles == handles) {
                link.actives.remove(member);
            }
        }
    }

    pub(crate) fn disconnect_all(&mut self, hosted: HostedId) {
        for link in &mut self.links {
            link.actives.retain(|active| active.hosted != hosted);
        }
    }

    /// At the home: all shards know whom this handle of the peer means, or it is void.
    pub(crate) fn settle(&mut self, link: usize, set: u64, handle: u32, kit: &mut Kit) {
        if set != self.links[link].set {
            return;
        }
        let up_to = self.links[link].opened.settle(handle);
        self.tell_others(link, || News::Settled { handle, up_to });
        self.note_settled(link, (handle, up_to), kit);
        if self.links[link].settled.beyond.len() > SETTLED_BEYOND_MAX {
            let told = "too many sessions began while one of them waited";
            self.lose_set(link, &Away::out_of_turn(told), kit);
        }
    }

    /// Who waited for word of this handle, or of another one up to the second, goes on.
    pub(super) fn note_settled(&mut self, link: usize, (handle, up_to): (u32, u32), kit: &mut Kit) {
        self.links[link].settled.add(handle, up_to);
        self.resume_all(link, kit);
    }

    fn resume_all(&mut self, link: usize, kit: &mut Kit) {
        for place in 0..self.links[link].pipes.len() {
            if let Some(key) = self.links[link].pipes[place].connection {
                self.resume(key, kit);
            }
        }
    }

    pub(super) fn meant_by(&self, link: usize, handle: u32) -> Meant {
        let link = &self.links[link];
        // What the set before it lost, nobody knows: nothing is added to its sessions.
        if let Some(active) = link.actives.of_handle(link.set, handle) {
            return Meant::Member(active.hosted, active.peer);
        }
        if link.settled.has(handle) { Meant::Gone } else { Meant::Unsettled }
    }

    /// Where messages to this member go, while it is connected: to this shard of the peer.
    pub(crate) fn route(
        &self,
        link: usize,
        member: (HostedId, NodeId),
        shard: impl FnOnce(u8) -> u8,
    ) -> Option<Route> {
        let known = self.links.get(link)?;
        let active = known.actives.of_member(member)?;
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

#[cfg(test)]
mod tests {
    use format::ids::ResourceId;
    use stdx::random::Random;
    use stdx::time::Time;

    use super::*;
    use crate::links::Fact;
    use crate::links::fixture::{HOSTED, RESOURCE, node, on_open, with_resource};

    /// Against a list that is searched from its start to its end.
    #[test]
    fn members_are_found_by_who_they_are_and_by_their_handles() {
        let (mut actives, mut list) = (Actives::default(), Vec::<Active>::new());
        let mut below = {
            let mut random = Random::new(5);
            move |bound: u32| u32::try_from(random.below(bound.into())).expect("below it")
        };
        for theirs in 1..2000 {
            let peer = u8::try_from(below(3)).expect("few members");
            let member = (HostedId(below(40)), node(peer));
            list.retain(|other| other.member() != member);
            if below(3) == 0 {
                actives.remove(member);
            } else {
                let handles = Handles { ours: 7, theirs, set: below(3).into() };
                let active = Active { hosted: member.0, peer: member.1, handles };
                actives.insert(active);
                list.push(active);
            }
            let (set, handle) = (u64::from(below(3)), below(theirs) + 1);
            let of_list = list.iter().find(|other| other.theirs() == (set, handle));
            let member_of = |active: Option<&Active>| active.map(Active::member);
            assert_eq!(member_of(actives.of_handle(set, handle)), member_of(of_list));
            let of_list = list.iter().find(|other| other.member() == member);
            assert_eq!(actives.of_member(member).map(Active::theirs), of_list.map(Active::theirs));
        }
    }

    #[test]
    fn member_that_goes_takes_no_other_one_with_the_same_handle_along() {
        let mut actives = Actives::default();
        let handles = Handles { ours: 7, theirs: 16, set: 1 };
        for hosted in [HostedId(1), HostedId(2), HostedId(3)] {
            actives.insert(Active { hosted, peer: node(1), handles });
        }
        actives.remove((HostedId(2), node(1)));
        actives.remove((HostedId(2), node(1)));
        assert!(actives.of_member((HostedId(2), node(1))).is_none());
        actives.remove((HostedId(1), node(1)));
        assert_eq!(actives.of_handle(1, 16).map(Active::member), Some((HostedId(3), node(1))));
        actives.remove((HostedId(3), node(1)));
        assert!(actives.of_handle(1, 16).is_none());
    }

    /// What the shard does about what is void, and about what is up: the latter it may do later.
    fn settle_void(links: &mut Links, kit: &mut Kit) {
        while let Some(fact) = links.pop_fact() {
            if let Fact::Void { link, set, handle } = fact {
                links.settle(link, set, handle, kit);
            }
        }
    }

    /// A peer that starts has some of its resources up, and refuses others of the same home lane.
    #[test]
    fn what_is_void_does_not_void_what_waits_for_the_shards() {
        let (mut kit, mut links) = (Kit::of_lone_shard(), with_resource());
        links.open(HOSTED, node(1), None, Time::ZERO);
        on_open(&mut links, RESOURCE, 16);
        on_open(&mut links, ResourceId(48), 32);
        settle_void(&mut links, &mut kit);
        assert_eq!(links.meant_by(0, 16), Meant::Unsettled, "its messages are not lost");
        assert_eq!(links.meant_by(0, 32), Meant::Gone, "and nothing waits for nobody");
        let handles = Handles { ours: 16, theirs: 16, set: 1 };
        links.connect(0, (HOSTED, node(1)), handles, &mut kit);
        links.settle(0, 1, 16, &mut kit);
        assert_eq!(links.meant_by(0, 16), Meant::Member(HOSTED, node(1)));
        links.disconnect((HOSTED, node(1)), handles);
        assert_eq!(links.meant_by(0, 16), Meant::Gone);
        assert_eq!(links.meant_by(0, 48), Meant::Unsettled);
        assert!(links.links[0].settled.beyond.is_empty());
    }

    /// Its connection would wait for word of it until the peer counted as dead.
    #[test]
    fn what_goes_down_before_the_shards_know_it_is_void() {
        let (mut kit, mut links) = (Kit::of_lone_shard(), with_resource());
        links.open(HOSTED, node(1), None, Time::ZERO);
        on_open(&mut links, RESOURCE, 16);
        links.remove_sessions(HOSTED);
        settle_void(&mut links, &mut kit);
        assert_eq!(links.meant_by(0, 16), Meant::Gone);
    }

    #[test]
    fn second_open_before_ours_voids_the_first() {
        let (mut kit, mut links) = (Kit::of_lone_shard(), with_resource());
        on_open(&mut links, RESOURCE, 16);
        on_open(&mut links, RESOURCE, 32);
        settle_void(&mut links, &mut kit);
        assert_eq!(links.meant_by(0, 16), Meant::Gone);
        assert_eq!(links.meant_by(0, 32), Meant::Unsettled);
    }
}
