//! The ways to a peer: which one is dialled next, and which one a connection uses.
//!
//! A link uses one path at a time, or spreads its pairs of shards over all that work
//! ([`Spread`]). The side that dials takes the next path that is known to work ([`super::watch`]),
//! or else the next one in the order of the configuration, whenever an attempt fails or the
//! connection is lost; only after a whole round without success it waits longer. Nothing goes back
//! to an earlier path while a later one works.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use format::message::LinkClass;
use stdx::time::Time;

use crate::definition::Member;
use crate::limits::{
    DIAL_BACKOFF_MIN, HANDSHAKE_DEADLINE, MOVE_MAX, PATH_DEADLINE, PATHS_WATCHED_MAX,
};
use crate::links::buffers::Buffers;
use crate::links::connection::{Connection, Stage};
use crate::links::secure::Secrecy;
use crate::links::times::LinkTimes;
use crate::links::watch::Watch;
use crate::links::{LEAD, Link, Links};
use crate::payloads::Kit;
use crate::slab::Key;

/// One way to a peer: from which own address, to which of its.
pub(crate) type Path = (SocketAddr, SocketAddr);

/// Over how many paths a link goes at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spread {
    #[default]
    One,
    /// Each pair of shards keeps to one path, so that no order changes; the pairs take turns.
    All,
}

/// How a resource reaches a member, as its definition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerPaths {
    pub(crate) peer_name: String,
    pub(crate) paths: Vec<Path>,
    pub(crate) secrecy: Secrecy,
    pub(crate) times: LinkTimes,
    pub(crate) spread: Spread,
    pub(crate) buffers: Buffers,
}

impl PeerPaths {
    pub(crate) fn of(member: &Member) -> Self {
        let Member { name, paths, secrecy, times, spread, buffers, .. } = member;
        let (peer_name, paths) = (name.clone(), paths.clone());
        let (secrecy, times, spread, buffers) = (*secrecy, *times, *spread, *buffers);
        Self { peer_name, paths, secrecy, times, spread, buffers }
    }

    fn named(&self) -> Named {
        Named { buffers: self.buffers, ..Named::new(self.paths.clone(), self.spread) }
    }
}

/// What one resource says of the ways to the peer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    paths: Vec<Path>,
    spread: Spread,
    pub(super) buffers: Buffers,
}

impl Named {
    pub(super) fn new(paths: Vec<Path>, spread: Spread) -> Self {
        Self { paths, spread, buffers: Buffers::default() }
    }
}

/// A path, and how many resources name it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) path: Path,
    users: u32,
    /// At shard 0.
    pub(super) watch: Watch,
    /// The failure on it that was logged last, so that a peer that stays away is one line for each
    /// path.
    failure: Option<String>,
}

impl Target {
    pub(super) fn new(path: Path, now: Time) -> Self {
        Self { path, users: 1, watch: Watch::new(now), failure: None }
    }
}

impl Links {
    /// The link to this peer, for one resource more. `forget_peer` is its counterpart.
    pub(crate) fn add_peer(&mut self, peer: &PeerPaths, now: Time) -> usize {
        let index = self.link_named(&peer.peer_name, now);
        let link = &mut self.links[index];
        if link.is_unused() {
            link.secrecy = peer.secrecy;
        }
        link.asked.push(peer.times);
        link.named.push(peer.named());
        for &path in &peer.paths {
            match link.targets.iter_mut().find(|target| target.path == path) {
                Some(target) => target.users += 1,
                None => {
                    link.targets.push(Target::new(path, now));
                    link.dial_at = now;
                }
            }
        }
        link.order_targets();
        self.is_due = true;
        index
    }

    /// A resource needs the link no more; the last one takes the connections with it.
    pub(crate) fn forget_peer(&mut self, index: usize, peer: &PeerPaths, kit: &mut Kit) {
        self.drop_targets(index, peer, kit);
        let link = &self.links[index];
        if link.targets.is_empty() && self.leads() && link.has_connection() {
            self.end_set(index, "no resource is left", kit);
        }
    }

    fn drop_targets(&mut self, index: usize, peer: &PeerPaths, kit: &mut Kit) {
        let link = &mut self.links[index];
        link.forget_times(peer.times);
        if let Some(place) = link.named.iter().position(|named| *named == peer.named()) {
            link.named.remove(place);
        }
        for path in &peer.paths {
            if let Some(target) = link.targets.iter_mut().find(|target| target.path == *path) {
                target.users -= 1;
            }
        }
        let mut watches = Vec::new();
        link.targets.retain(|target| {
            if target.users == 0 {
                watches.extend(target.watch.connection);
            }
            target.users > 0
        });
        link.order_targets();
        for key in watches {
            self.close_connection(key, "its path was taken out of the configuration", kit);
        }
    }

    /// A resource reaches the peer in other ways from now on. A set that goes over a path which
    /// stays is not disturbed.
    pub(crate) fn change_peer(
        &mut self,
        index: usize,
        (from, to): (&PeerPaths, &PeerPaths),
        kit: &mut Kit,
    ) {
        if from == to {
            return;
        }
        self.add_peer(to, kit.now);
        self.drop_targets(index, from, kit);
        self.resize_buffers(index, kit);
        let link = &self.links[index];
        let is_kept = |used: &Path| {
            !from.paths.contains(used) || link.targets.iter().any(|it| it.path == *used)
        };
        if self.leads() && link.has_connection() && !link.used.iter().all(is_kept) {
            self.end_set(index, "its path was taken out of the configuration", kit);
        }
    }

    /// Whether this side dials: exactly one of the two does, the one whose name sorts first.
    pub(super) fn dials(&self, index: usize) -> bool {
        self.identity.name < self.links[index].name
    }

    /// Begins a set with the connection of the shards 0.
    pub(super) fn dial(&mut self, index: usize, kit: &mut Kit) -> Time {
        let link = &mut self.links[index];
        if kit.now < link.dial_at {
            return link.dial_at;
        }
        let Some(path) = link.take_next_path(kit.now) else { return Time::NEVER };
        match self.connect_to(index, (LEAD, path), LinkClass::Data, kit) {
            Ok(key) => {
                let link = &mut self.links[index];
                link.pipe_mut(LEAD).connection = Some(key);
                link.set += 1;
                link.dialled = Some(path);
                link.used.clear();
                link.note_used(Some(path));
                kit.now + link.handshake_deadline()
            }
            Err(failure) => {
                self.note_failure(index, Some(path), &failure, kit);
                self.links[index].back_off(kit.now)
            }
        }
    }

    /// Begins a connection with a shard of the peer, over this path.
    pub(super) fn connect_to(
        &mut self,
        index: usize,
        (shard, path): (u8, Path),
        class: LinkClass,
        kit: &mut Kit,
    ) -> Result<Key, String> {
        let (local, remote) = (SocketAddr::new(path.0.ip(), 0), path.1);
        let mut connection = Connection::new(Some(index), shard, Stage::Connecting, kit.now);
        connection.path = Some(path);
        connection.class = class;
        connection.deadline = kit.now + self.links[index].handshake_deadline();
        let key = self.connections.insert(connection);
        self.is_due = true;
        match kit.reactor.connect(Some(local), remote, Self::token(key)) {
            Ok(socket) => {
                self.connections.get_mut(key).expect("just put in").socket = Some(socket);
                Ok(key)
            }
            Err(error) => {
                self.connections.remove(key);
                Err(format!("cannot connect to {remote}: {error}"))
            }
        }
    }

    /// The link that is not up and whose peer, and no other, is at this address.
    pub(super) fn missing_at(&self, address: IpAddr) -> Option<usize> {
        let mut here = (0..self.links.len()).filter(|i| self.links[*i].is_reached_at(address));
        let index = here.next().filter(|_| here.next().is_none())?;
        (!self.links[index].has_connection()).then_some(index)
    }

    /// What is known of one of the paths that a resource names.
    pub(crate) fn path_facts(&self, peer_name: &str, path: Path, all: &[Path]) -> PathFacts {
        let Some(link) = self.links.iter().find(|link| link.name == peer_name) else {
            return PathFacts::default();
        };
        let is_used = |used: &Path| link.is_up && stands_for(*used, path, all);
        let in_use = link.used.iter().any(is_used);
        let watched = link.path_states.iter().filter(|(seen, _)| stands_for(*seen, path, all));
        let mut states = watched.map(|(_, state)| state);
        let down = states.clone().find(|state| !state.is_up);
        let established = in_use || states.any(|state| state.is_up);
        let down = down.filter(|_| !established);
        PathFacts {
            established,
            in_use,
            down_since: down.map(|state| state.since),
            reason: down.and_then(|state| state.reason.clone()),
        }
    }
}

/// A path as `status` shows it.
#[derive(Debug, Default)]
pub(crate) struct PathFacts {
    /// It works, as far as is known.
    pub(crate) established: bool,
    /// It carries.
    pub(crate) in_use: bool,
    pub(crate) down_since: Option<Time>,
    pub(crate) reason: Option<String>,
}

impl Link {
    /// No resource needs it.
    pub(super) fn is_unused(&self) -> bool {
        self.targets.is_empty()
    }

    /// Whether a resource says that the peer comes from this address.
    pub(super) fn is_reached_at(&self, address: IpAddr) -> bool {
        self.targets.iter().any(|target| target.path.1.ip() == address.to_canonical())
    }

    /// The addresses of the peer, for a person.
    pub(super) fn addresses(&self) -> String {
        let mut addresses: Vec<String> = Vec::new();
        for target in &self.targets {
            let address = target.path.1.ip().to_string();
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        addresses.join(", ")
    }

    /// The path of a connection that the peer made from `remote` to this node's `local`. Its own
    /// port says nothing.
    pub(super) fn path_of(&self, local: SocketAddr, remote: IpAddr) -> Option<Path> {
        let mut paths = self.targets.iter().map(|target| target.path);
        paths.find(|path| path.0 == local && path.1.ip() == remote.to_canonical())
    }

    /// Whether this is another failure than the last one on this path, which is remembered then.
    pub(super) fn is_news(&mut self, path: Option<Path>, failure: &str) -> bool {
        let target = self.targets.iter_mut().find(|target| Some(target.path) == path);
        let last = target.map_or(&mut self.failure_elsewhere, |target| &mut target.failure);
        if last.as_deref() == Some(failure) {
            return false;
        }
        *last = Some(failure.to_owned());
        true
    }

    /// What failed before is news again.
    pub(super) fn forget_failures(&mut self) {
        self.failure = None;
        self.failure_elsewhere = None;
        for target in &mut self.targets {
            target.failure = None;
        }
    }

    /// The next one that works; after a failure, or where none does, the next one.
    pub(super) fn take_next_path(&mut self, now: Time) -> Option<Path> {
        let count = self.targets.len();
        let first = self.next_target.checked_rem(count)?;
        let mut order = (0..count).map(|step| (first + step) % count);
        let is_first = self.failed_dials == 0;
        let place = order.find(|place| is_first && self.is_living(&self.targets[*place], now));
        let place = place.unwrap_or(first);
        self.next_target = place + 1;
        self.failed_dials += 1;
        Some(self.targets[place].path)
    }

    /// A path that says nothing must not keep the others waiting.
    pub(super) fn handshake_deadline(&self) -> Duration {
        if self.targets.len() > 1 { PATH_DEADLINE } else { HANDSHAKE_DEADLINE }
    }

    /// After a failure: the next path at once, or, when all of them failed, after a while.
    pub(super) fn back_off(&mut self, now: Time) -> Time {
        self.dial_at = now;
        if self.failed_dials >= self.targets.len() {
            self.failed_dials = 0;
            self.dial_at = now + self.backoff;
            self.backoff = (self.backoff * 2).min(self.redial_max());
        }
        self.dial_at
    }

    /// A connection that had been up was lost: a new round of attempts begins, after a short rest.
    pub(super) fn start_over(&mut self, now: Time) {
        self.failed_dials = 0;
        // A path that works needs no rest, unless that came to nothing a moment ago.
        let at_once = self.has_living_path(now) && now >= self.at_once_from;
        if at_once {
            self.at_once_from = now + MOVE_MAX;
        }
        self.dial_at = if at_once { now } else { now + DIAL_BACKOFF_MIN };
        self.backoff = DIAL_BACKOFF_MIN;
    }

    pub(super) fn spread(&self) -> Spread {
        let is_spread = self.named.iter().any(|named| named.spread == Spread::All);
        if is_spread { Spread::All } else { Spread::One }
    }

    /// The set goes over this path too.
    pub(super) fn note_used(&mut self, path: Option<Path>) {
        if let Some(path) = path.filter(|path| !self.used.contains(path)) {
            self.used.push(path);
        }
    }

    /// Brings the targets into the order in which the resources name them, and chooses those to
    /// watch: where a resource names several, each way once, whatever the ports. Both ends choose
    /// the same.
    fn order_targets(&mut self) {
        let Self { named, targets, path_states, .. } = self;
        let order: Vec<Path> = named.iter().flat_map(|it| &it.paths).copied().collect();
        targets.sort_by_key(|target| order.iter().position(|path| *path == target.path));
        let mut watched: Vec<Path> = Vec::new();
        let mut several: Vec<&Named> = named.iter().filter(|it| it.paths.len() > 1).collect();
        let ends = |path: &Path| (path.0.min(path.1), path.0.max(path.1));
        several.sort_by_key(|named| named.paths.iter().map(ends).min());
        for named in several {
            for path in &named.paths {
                let is_known = watched.iter().any(|known| stands_for(*known, *path, &named.paths));
                if !is_known && watched.len() < PATHS_WATCHED_MAX {
                    watched.push(*path);
                }
            }
        }
        for target in targets {
            target.watch.is_wanted = watched.contains(&target.path);
        }
        path_states.retain(|(path, _)| watched.contains(path));
    }
}

fn is_same_way(one: Path, other: Path) -> bool {
    one.0.ip() == other.0.ip() && one.1.ip() == other.1.ip()
}

/// Whether what is known of one path holds for another, which a resource names beside others.
/// Resources share the link of a node pair: one whose ports differ still goes the same way.
pub(super) fn stands_for(known: Path, path: Path, all: &[Path]) -> bool {
    if all.contains(&known) { path == known } else { is_same_way(path, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(host: u8, port: u16) -> Path {
        let address = |node: u8| SocketAddr::from(([10, 0, host, node], port));
        (address(1), address(2))
    }

    fn link(paths: &[Path]) -> Link {
        let mut link = Link::new("bravo".to_owned(), Time::ZERO);
        link.targets = paths.iter().map(|path| Target::new(*path, Time::ZERO)).collect();
        link.named = vec![Named::new(paths.to_vec(), Spread::One)];
        link.order_targets();
        link
    }

    #[test]
    fn every_path_is_tried_before_anything_waits() {
        let paths = [path(0, 1), path(1, 1), path(2, 1)];
        let mut link = link(&paths);
        let now = Time::ZERO + Duration::from_secs(5);
        for wait in [DIAL_BACKOFF_MIN, DIAL_BACKOFF_MIN * 2, DIAL_BACKOFF_MIN * 4] {
            for (index, expected) in paths.iter().enumerate() {
                assert_eq!(link.take_next_path(now), Some(*expected));
                let rest = if index == 2 { wait } else { Duration::ZERO };
                assert_eq!(link.back_off(now), now + rest);
            }
        }
    }

    /// A peer with two paths that stayed away was two lines a second: each text names its address.
    #[test]
    fn failure_of_a_path_is_news_once() {
        let mut link = link(&[path(0, 1), path(1, 1)]);
        let mut lines = 0;
        for _ in 0..9 {
            for failed in [Some(path(0, 1)), Some(path(1, 1)), None] {
                let text = format!("cannot connect to {failed:?}");
                lines += u32::from(link.is_news(failed, &text));
            }
        }
        assert_eq!(lines, 3);
        assert!(link.is_news(Some(path(1, 1)), "no answer"), "it fails in another way");
        assert!(
            !link.is_news(Some(path(0, 1)), &format!("cannot connect to {:?}", Some(path(0, 1))))
        );
        link.forget_failures();
        assert!(link.is_news(Some(path(1, 1)), "no answer"), "it had been up");
    }

    #[test]
    fn lost_path_is_followed_by_the_next_one() {
        let mut link = link(&[path(0, 1), path(1, 1)]);
        assert_eq!(link.take_next_path(Time::ZERO), Some(path(0, 1)));
        link.start_over(Time::ZERO);
        assert_eq!(link.take_next_path(Time::ZERO), Some(path(1, 1)));
        assert_eq!(link.back_off(Time::ZERO), Time::ZERO, "the first path is left to try");
    }

    #[test]
    fn silent_path_is_given_up_sooner_where_there_is_another() {
        assert_eq!(link(&[path(0, 1)]).handshake_deadline(), HANDSHAKE_DEADLINE);
        assert_eq!(link(&[path(0, 1), path(1, 1)]).handshake_deadline(), PATH_DEADLINE);
    }

    #[test]
    fn path_stands_for_itself_and_shared_ports_count_as_one_way() {
        let both = [path(0, 1), path(1, 1)];
        let shown = |known| both.map(|path| stands_for(known, path, &both));
        assert_eq!(shown(path(1, 1)), [false, true]);
        assert_eq!(shown(path(0, 2)), [true, false], "another resource's ports");
        assert_eq!(shown(path(7, 1)), [false, false]);
    }

    #[test]
    fn each_way_is_watched_once_where_a_resource_names_several() {
        let watched = |link: &Link| -> Vec<bool> {
            link.targets.iter().map(|target| target.watch.is_wanted).collect()
        };
        let mut link = link(&[path(0, 1)]);
        assert_eq!(watched(&link), [false], "there is no other one to take");
        let target = |path| Target::new(path, Time::ZERO);
        // In another order than the resources name them.
        let more = [path(1, 3), path(0, 3), path(1, 2), path(0, 2)];
        link.targets.extend(more.map(target));
        for port in [2, 3] {
            let paths = vec![path(0, port), path(1, port)];
            link.named.push(Named::new(paths, Spread::One));
        }
        link.order_targets();
        let order: Vec<u16> = link.targets.iter().map(|target| target.path.0.port()).collect();
        assert_eq!(order, [1, 2, 2, 3, 3]);
        assert_eq!(watched(&link), [false, true, true, false, false]);
        link.named.remove(1);
        link.order_targets();
        let there: Vec<Path> =
            link.targets.iter().filter(|it| it.watch.is_wanted).map(|it| it.path).collect();
        assert_eq!(there, [path(0, 3), path(1, 3)], "others are watched when these are gone");
    }
}
