//! The ways to a peer: which one is dialled next, and which one a connection uses.
//!
//! A link uses one path at a time, or spreads its pairs of shards over all that work
//! ([`Spread`]). The side that dials takes the next path that is known to work ([`super::watch`]),
//! or else the next one in the order of the configuration, whenever an attempt fails or the
//! connection is lost; only after a whole round without success it waits longer
//! ([`super::attempts`]). Nothing goes back to an earlier path while a later one works.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use config::host_name::{comes_first, is_short};
use format::message::LinkClass;
use stdx::time::Time;

use crate::definition::link::{Buffers, Path, PeerPaths, Spread};
use crate::kit::Kit;
use crate::limits::PATHS_WATCHED_MAX;
use crate::links::away::Away;
use crate::links::connection::Connection;
use crate::links::path_state::Watch;
use crate::links::stage::Stage;
use crate::links::{LEAD, Link, Links};
use crate::slab::Key;

impl PeerPaths {
    fn named(&self) -> Named {
        let named = Named::new(&self.peer_name, self.paths.clone(), self.spread);
        Named { buffers: self.buffers, ..named }
    }
}

/// What one resource says of the ways to the peer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) peer_name: String,
    paths: Vec<Path>,
    spread: Spread,
    pub(super) buffers: Buffers,
}

impl Named {
    pub(super) fn new(peer_name: &str, paths: Vec<Path>, spread: Spread) -> Self {
        let peer_name = peer_name.to_owned();
        Self { peer_name, paths, spread, buffers: Buffers::default() }
    }
}

/// The addresses of a path without their ports, and which one it is of those between them that a
/// resource names side by side: these lead to different places.
pub(super) type Route = (IpAddr, IpAddr, usize);

/// A path, and how many resources name it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) path: Path,
    place: usize,
    users: u32,
    /// The number of the last attempt on it; 0 before the first.
    pub(super) tried: u64,
    /// The last attempt on its route that came to something was this one's.
    pub(super) has_worked: bool,
    /// Nothing came back from the last attempt.
    pub(super) is_silent: bool,
    /// At shard 0.
    pub(super) watch: Watch,
    /// The failure on it that was noted last, without the port, so that a peer that stays away is
    /// one line for each route.
    failure: Option<String>,
}

impl Target {
    pub(super) fn new(path: Path, now: Time) -> Self {
        Self {
            path,
            place: 0,
            users: 1,
            tried: 0,
            has_worked: false,
            is_silent: false,
            watch: Watch::new(now),
            failure: None,
        }
    }

    pub(super) fn route(&self) -> Route {
        (self.path.0.ip(), self.path.1.ip(), self.place)
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
        if link.is_unused() || is_short(&link.name) {
            link.name.clone_from(&peer.peer_name);
        }
        link.asked.push(peer.times);
        link.named.push(peer.named());
        // What is named last comes last: the order of the others stays.
        for (index, &path) in peer.paths.iter().enumerate() {
            match link.targets.iter_mut().find(|target| target.path == path) {
                Some(target) => target.users += 1,
                None => {
                    let before = peer.paths[..index].iter();
                    let place = before.filter(|it| is_same_way(**it, path)).count();
                    link.targets.push(Target { place, ..Target::new(path, now) });
                    link.dial_at = now;
                }
            }
        }
        if peer.paths.len() > 1 {
            link.choose_watched();
        }
        self.is_due = true;
        index
    }

    /// A resource needs the link no more; the last one takes the connections with it.
    pub(crate) fn forget_peer(&mut self, index: usize, peer: &PeerPaths, kit: &mut Kit) {
        self.drop_targets(index, peer, kit);
        let link = &self.links[index];
        if link.targets.is_empty() && self.leads() && link.has_connection() {
            self.end_set(index, &Away::NoResource, kit);
        }
    }

    fn drop_targets(&mut self, index: usize, peer: &PeerPaths, kit: &mut Kit) {
        let link = &mut self.links[index];
        link.forget_times(peer.times);
        let gone = peer.named();
        if let Some(place) = link.named.iter().position(|named| *named == gone) {
            link.named.remove(place);
            link.forget_domain();
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
        if link.targets.iter().any(|target| peer.paths.contains(&target.path)) {
            // Others name it too, and maybe in another order.
            link.order_targets();
        }
        if peer.paths.len() > 1 {
            link.choose_watched();
        }
        for key in watches {
            self.close_connection(key, &Away::PathGone, kit);
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
            self.end_set(index, &Away::PathGone, kit);
        }
    }

    /// Whether this side dials: exactly one of the two does, the one that sorts first.
    pub(super) fn dials(&self, index: usize) -> bool {
        comes_first(&self.identity.name, &self.links[index].name)
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
                self.note_failure(index, Some(path), &failure);
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
    ) -> Result<Key, Away> {
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
                Err(Away::Connect { remote: Some(remote), error: (&error).into() })
            }
        }
    }

    /// The link that is not up and whose peer, and no other, is at this address.
    pub(super) fn missing_at(&self, address: IpAddr) -> Option<usize> {
        let mut here = (0..self.links.len()).filter(|i| self.links[*i].is_reached_at(address));
        let index = here.next().filter(|_| here.next().is_none())?;
        (!self.links[index].has_connection()).then_some(index)
    }
}

impl Link {
    /// No resource needs it.
    pub(super) fn is_unused(&self) -> bool {
        self.targets.is_empty()
    }

    /// A domain that no resource says any more could be that of another host.
    fn forget_domain(&mut self) {
        let is_said = self.named.iter().any(|named| named.peer_name == self.name);
        if let Some(short) = self.named.first().filter(|_| !is_said) {
            self.name.clone_from(&short.peer_name);
        }
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
        let place = self.targets.iter().position(|target| Some(target.path) == path);
        let Some(place) = place else {
            let is_known = self.failure_elsewhere.as_deref() == Some(failure);
            self.failure_elsewhere = Some(failure.to_owned());
            return !is_known;
        };
        let (remote, route) = (self.targets[place].path.1, self.targets[place].route());
        let failure = failure.replace(&remote.to_string(), &remote.ip().to_string());
        let mut alike = self.targets.iter().filter(|target| target.route() == route);
        let is_known = alike.any(|target| target.failure.as_ref() == Some(&failure));
        self.targets[place].failure = Some(failure);
        !is_known
    }

    /// What failed before is news again.
    pub(super) fn forget_failures(&mut self) {
        self.failure = None;
        self.failure_elsewhere = None;
        for target in &mut self.targets {
            target.failure = None;
        }
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

    /// Brings the targets into the order in which the resources name them.
    fn order_targets(&mut self) {
        let mut order: BTreeMap<Path, usize> = BTreeMap::new();
        for path in self.named.iter().flat_map(|it| &it.paths) {
            let next = order.len();
            order.entry(*path).or_insert(next);
        }
        self.targets.sort_by_key(|target| order.get(&target.path).copied());
    }

    /// Chooses the targets to watch: where a resource names several, each way once, whatever the
    /// ports. Both ends choose the same.
    fn choose_watched(&mut self) {
        let Self { named, targets, has_watches, path_states, .. } = self;
        let mut watched: Vec<Path> = Vec::new();
        let mut several: Vec<&Named> = named.iter().filter(|it| it.paths.len() > 1).collect();
        let ends = |path: &Path| (path.0.min(path.1), path.0.max(path.1));
        several.sort_by_cached_key(|named| named.paths.iter().map(ends).min());
        for named in several {
            for path in &named.paths {
                let is_known = watched.iter().any(|known| stands_for(*known, *path, &named.paths));
                if !is_known && watched.len() < PATHS_WATCHED_MAX {
                    watched.push(*path);
                }
            }
        }
        *has_watches = false;
        for target in targets {
            target.watch.is_wanted = watched.contains(&target.path);
            *has_watches |= target.watch.is_wanted || target.watch.connection.is_some();
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
    use format::ids::BootId;
    use stdx::random::Random;

    use super::*;
    use crate::links::Identity;
    use crate::links::fixture::{named_by_each, path, peer, unconnected as links};

    fn link(paths: &[Path]) -> Link {
        let mut link = Link::new("bravo".to_owned(), Time::ZERO);
        link.targets = paths.iter().map(|path| Target::new(*path, Time::ZERO)).collect();
        link.named = vec![Named::new("bravo", paths.to_vec(), Spread::One)];
        link.order_targets();
        link.choose_watched();
        link
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
            link.named.push(Named::new("bravo", paths, Spread::One));
        }
        link.order_targets();
        link.choose_watched();
        let order: Vec<u16> = link.targets.iter().map(|target| target.path.0.port()).collect();
        assert_eq!(order, [1, 2, 2, 3, 3]);
        assert_eq!(watched(&link), [false, true, true, false, false]);
        link.named.remove(1);
        link.order_targets();
        link.choose_watched();
        let there: Vec<Path> =
            link.targets.iter().filter(|it| it.watch.is_wanted).map(|it| it.path).collect();
        assert_eq!(there, [path(0, 3), path(1, 3)], "others are watched when these are gone");
    }

    fn peer_named(name: &str, port: u16) -> PeerPaths {
        PeerPaths { peer_name: name.to_owned(), ..peer(vec![path(0, port)]) }
    }

    #[test]
    fn resources_that_name_a_peer_with_and_without_its_domain_share_its_link() {
        let mut links = links();
        for (port, name) in [(1, "bravo"), (2, "bravo.example.com"), (3, "bravo")] {
            links.check_peer(&peer_named(name, port)).unwrap();
            assert_eq!(links.add_peer(&peer_named(name, port), Time::ZERO), 0, "{name}");
        }
        assert_eq!(links.add_peer(&peer_named("bravo2", 4), Time::ZERO), 1);
        assert!(links.dials(0), "as alpha does");
        for name in ["bravo", "bravo.example.com"] {
            assert_eq!(links.link_to(name), Some(0), "{name}");
        }
        // The domain is known from one of the resources.
        assert_eq!(links.link_to("bravo.example.org"), None);
    }

    /// By what other resources call their peers, or one of these calls itself.
    #[test]
    fn peers_that_could_be_taken_for_each_other_are_refused() {
        let (com, org) = ("bravo.example.com", "bravo.example.org");
        let told = "`bravo` could be bravo.example.com or bravo.example.org";
        for (there, new, is_fine) in [
            (&[com][..], org, true),
            (&[com, org], com, true),
            (&[com, org], "alpha", true),
            (&[com], "bravo", true),
            (&["bravo"], com, true),
            (&[com, org], "bravo", false),
            (&[com, "bravo"], org, false),
            (&["bravo", com], org, false),
        ] {
            let mut links = links();
            for (port, name) in (1..).zip(there) {
                links.add_peer(&peer_named(name, port), Time::ZERO);
            }
            match links.check_peer(&peer_named(new, 9)) {
                Ok(()) => assert!(is_fine, "{there:?} {new}"),
                Err(failure) => {
                    assert!(!is_fine && failure.message.contains(told), "{there:?}: {failure}");
                }
            }
        }
        let mut links = links();
        links.add_peer(&peer_named(com, 1), Time::ZERO);
        links.links[0].called = Some("bravo".to_owned());
        let failure = links.check_peer(&peer_named(org, 2)).unwrap_err();
        assert!(failure.message.contains(told), "{failure}");
        links.add_peer(&peer_named(org, 2), Time::ZERO);
        for (name, expected) in [(com, Ok(Some(0))), (org, Ok(Some(1))), ("bravo.lan", Ok(None))] {
            assert_eq!(links.link_called_so(name), expected, "{name}");
        }
        assert_eq!(links.link_called_so("bravo").unwrap_err().to_string(), told);
    }

    /// The domain was kept, and the other host of that label became a second link beside it.
    #[test]
    fn a_domain_that_no_resource_says_any_more_is_forgotten() {
        let mut links = links();
        let (long, short) = (peer_named("bravo.example.com", 1), peer_named("bravo", 2));
        links.add_peer(&long, Time::ZERO);
        links.add_peer(&short, Time::ZERO);
        links.forget_peer(0, &long, &mut Kit::of_lone_shard());
        assert_eq!(links.add_peer(&peer_named("bravo.example.org", 3), Time::ZERO), 0);
    }

    /// One side knows a domain that the other does not: both have to agree on who dials.
    #[test]
    fn exactly_one_side_dials_whatever_they_know_of_domains() {
        let names = ["alpha", "alpha-2", "alphabet", "bravo"];
        let dials = |own: &str, other: &str| {
            let name = own.to_owned();
            let identity = Identity { name, boot_id: BootId(1), start_count: 1, shards: 1 };
            let mut links = Links::new(identity, LEAD);
            links.add_peer(&peer_named(other, 1), Time::ZERO);
            links.dials(0)
        };
        let domains = ["", ".example.com"];
        for (left, right) in names.iter().flat_map(|left| names.map(|right| (*left, right))) {
            for [d0, d1, d2, d3] in (0..16).map(|bits| [1, 2, 4, 8].map(|bit| bits & bit != 0)) {
                let with = |name: &str, has: bool| format!("{name}{}", domains[usize::from(has)]);
                let here = dials(&with(left, d0), &with(right, d1));
                let there = dials(&with(right, d2), &with(left, d3));
                assert!(left == right || here != there, "{left} {right} {d0} {d1} {d2} {d3}");
            }
        }
        // These leave no domain out.
        let domains = ["alpha.a.example", "alpha.b.example", "alpha.example"];
        for (left, right) in domains.iter().flat_map(|left| domains.map(|right| (*left, right))) {
            assert!(left == right || dials(left, right) != dials(right, left), "{left} {right}");
        }
    }

    /// One warning for each port of a peer that was away.
    #[test]
    fn failure_of_a_host_is_news_once_whatever_the_port() {
        let mut links = links();
        let paths: Vec<Path> = (0..9).map(|port| path(0, 1 + port)).collect();
        named_by_each(&mut links, &paths);
        named_by_each(&mut links, &[path(1, 1)]);
        let link = &mut links.links[0];
        let failed = |path: Path| format!("cannot connect to {}: refused", path.1);
        let news = |link: &mut Link, path| link.is_news(Some(path), &failed(path));
        let lines: Vec<bool> = paths.iter().map(|path| news(link, *path)).collect();
        assert_eq!(lines.iter().filter(|it| **it).count(), 1, "{lines:?}");
        assert!(news(link, path(1, 1)), "another network");
        assert!(link.is_news(Some(paths[3]), "no answer"), "it fails in another way");
        assert!(!news(link, paths[4]) && !link.is_news(Some(paths[3]), "no answer"));
        link.forget_failures();
        assert!(news(link, paths[4]), "it had been up");
    }

    /// All targets were ordered anew for each resource, by a search for each comparison.
    #[test]
    fn port_of_its_own_moves_no_other_target() {
        let mut links = links();
        named_by_each(&mut links, &[path(0, 1), path(0, 2)]);
        links.links[0].targets[0].watch.is_wanted = true;
        let own = peer(vec![path(0, 3)]);
        links.add_peer(&own, Time::ZERO);
        links.forget_peer(0, &own, &mut Kit::of_lone_shard());
        assert!(links.links[0].targets[0].watch.is_wanted, "nothing was chosen anew");
    }

    #[test]
    fn targets_stay_in_the_order_in_which_resources_name_them() {
        let mut random = Random::new(7);
        let (mut links, mut kit) = (links(), Kit::of_lone_shard());
        let mut there: Vec<PeerPaths> = vec![peer(vec![path(9, 9)])];
        links.add_peer(&there[0], Time::ZERO);
        for _ in 0..400 {
            let network = u8::try_from(random.below(3)).unwrap();
            let port = u16::try_from(random.below(4)).unwrap() + 1;
            match random.below(4) {
                0 if there.len() > 1 => {
                    let place = usize::try_from(random.below(there.len() as u64 - 1)).unwrap() + 1;
                    links.forget_peer(0, &there.remove(place), &mut kit);
                }
                1 if there.len() > 1 => {
                    let to = peer(vec![path(network, port)]);
                    links.change_peer(0, (&there.remove(1), &to), &mut kit);
                    there.push(to);
                }
                2 => there.push(peer(vec![path(network, port)])),
                _ => there.push(peer(vec![path(network, port), path(3 - network, port)])),
            }
            if links.links[0].named.len() < there.len() {
                links.add_peer(there.last().unwrap(), Time::ZERO);
            }
            let mut order: Vec<Path> = Vec::new();
            for path in links.links[0].named.iter().flat_map(|it| &it.paths) {
                if !order.contains(path) {
                    order.push(*path);
                }
            }
            let link = &mut links.links[0];
            let seen = |link: &Link| -> Vec<(Path, bool)> {
                link.targets.iter().map(|it| (it.path, it.watch.is_wanted)).collect()
            };
            let now = seen(link);
            assert!(now.iter().map(|(path, _)| *path).eq(order));
            link.choose_watched();
            assert_eq!(seen(link), now, "each change chose what is watched");
        }
    }
}
