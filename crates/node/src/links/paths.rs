//! The ways to a peer: which one is dialled next, and which one a connection uses.
//!
//! A link uses one path at a time. The side that dials takes the next path in the order of the
//! configuration whenever an attempt fails or the connection is lost; only after a whole round
//! without success it waits longer. Nothing goes back to an earlier path while a later one works.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use stdx::time::Time;

use crate::definition::Member;
use crate::limits::{DIAL_BACKOFF_MIN, HANDSHAKE_DEADLINE, PATH_DEADLINE};
use crate::links::connection::{Connection, Stage};
use crate::links::secure::Secrecy;
use crate::links::times::LinkTimes;
use crate::links::{LEAD, Link, Links, TOKEN_CONNECTION};
use crate::payloads::Kit;

/// One way to a peer: from which own address, to which of its.
pub(crate) type Path = (SocketAddr, SocketAddr);

/// How a resource reaches a member, as its definition says.
#[derive(Clone, Debug)]
pub(crate) struct PeerPaths {
    pub(crate) peer_name: String,
    pub(crate) paths: Vec<Path>,
    pub(crate) secrecy: Secrecy,
    pub(crate) times: LinkTimes,
}

impl PeerPaths {
    pub(crate) fn of(member: &Member) -> Self {
        let Member { name, paths, secrecy, times, .. } = member;
        let (peer_name, paths) = (name.clone(), paths.clone());
        Self { peer_name, paths, secrecy: *secrecy, times: *times }
    }
}

/// A path, and how many resources name it.
#[derive(Debug)]
pub(super) struct Target {
    path: Path,
    users: u32,
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
        for &path in &peer.paths {
            match link.targets.iter_mut().find(|target| target.path == path) {
                Some(target) => target.users += 1,
                None => {
                    link.targets.push(Target { path, users: 1 });
                    link.dial_at = now;
                }
            }
        }
        self.is_due = true;
        index
    }

    /// A resource needs the link no more; the last one takes the connections with it.
    pub(crate) fn forget_peer(&mut self, index: usize, peer: &PeerPaths, kit: &mut Kit) {
        self.drop_targets(index, peer);
        let link = &self.links[index];
        if link.targets.is_empty() && self.leads() && link.has_connection() {
            self.end_set(index, "no resource is left", kit);
        }
    }

    fn drop_targets(&mut self, index: usize, peer: &PeerPaths) {
        self.links[index].forget_times(peer.times);
        let targets = &mut self.links[index].targets;
        for path in &peer.paths {
            if let Some(target) = targets.iter_mut().find(|target| target.path == *path) {
                target.users -= 1;
            }
        }
        targets.retain(|target| target.users > 0);
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
        let Some(path) = link.take_next_path() else { return Time::NEVER };
        let (local, remote) = (SocketAddr::new(path.0.ip(), 0), path.1);
        let mut connection = Connection::new(Some(index), LEAD, Stage::Connecting, kit.now);
        connection.path = Some(path);
        connection.deadline = kit.now + link.handshake_deadline();
        let deadline = connection.deadline;
        let key = self.connections.insert(connection);
        match kit.reactor.connect(Some(local), remote, key.token(TOKEN_CONNECTION)) {
            Ok(socket) => {
                let connection = self.connections.get_mut(key).expect("just put in");
                connection.socket = Some(socket);
                let link = &mut self.links[index];
                link.pipe_mut(LEAD).connection = Some(key);
                link.set += 1;
                link.dialled = Some(path);
                deadline
            }
            Err(error) => {
                self.connections.remove(key);
                self.note_failure(index, &format!("cannot connect to {remote}: {error}"), kit);
                self.links[index].back_off(kit.now)
            }
        }
    }

    /// The link that is not up and whose peer, and no other, is at this address.
    pub(super) fn missing_at(&self, address: IpAddr) -> Option<usize> {
        let mut here = (0..self.links.len()).filter(|i| self.links[*i].is_reached_at(address));
        let index = here.next().filter(|_| here.next().is_none())?;
        (!self.links[index].has_connection()).then_some(index)
    }

    /// The path that the peer's connections use now, while the link is up.
    pub(crate) fn established_path(&self, peer_name: &str) -> Option<Path> {
        let link = self.links.iter().find(|link| link.name == peer_name)?;
        link.path.filter(|_| link.is_up)
    }
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

    fn take_next_path(&mut self) -> Option<Path> {
        let place = self.next_target.checked_rem(self.targets.len())?;
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
        self.dial_at = now + DIAL_BACKOFF_MIN;
        self.backoff = DIAL_BACKOFF_MIN;
    }
}

/// Whether a path that a resource names is the one in use. Resources share the link of a node
/// pair: one whose ports differ from those of the path in use still goes the same way.
pub(crate) fn is_established(path: Path, all: &[Path], used: Option<Path>) -> bool {
    let Some(used) = used else { return false };
    if all.contains(&used) {
        return path == used;
    }
    path.0.ip() == used.0.ip() && path.1.ip() == used.1.ip()
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
        link.targets = paths.iter().map(|&path| Target { path, users: 1 }).collect();
        link
    }

    #[test]
    fn every_path_is_tried_before_anything_waits() {
        let paths = [path(0, 1), path(1, 1), path(2, 1)];
        let mut link = link(&paths);
        let now = Time::ZERO + Duration::from_secs(5);
        for wait in [DIAL_BACKOFF_MIN, DIAL_BACKOFF_MIN * 2, DIAL_BACKOFF_MIN * 4] {
            for (index, expected) in paths.iter().enumerate() {
                assert_eq!(link.take_next_path(), Some(*expected));
                let rest = if index == 2 { wait } else { Duration::ZERO };
                assert_eq!(link.back_off(now), now + rest);
            }
        }
    }

    #[test]
    fn lost_path_is_followed_by_the_next_one() {
        let mut link = link(&[path(0, 1), path(1, 1)]);
        assert_eq!(link.take_next_path(), Some(path(0, 1)));
        link.start_over(Time::ZERO);
        assert_eq!(link.take_next_path(), Some(path(1, 1)));
        assert_eq!(link.back_off(Time::ZERO), Time::ZERO, "the first path is left to try");
    }

    #[test]
    fn silent_path_is_given_up_sooner_where_there_is_another() {
        assert_eq!(link(&[path(0, 1)]).handshake_deadline(), HANDSHAKE_DEADLINE);
        assert_eq!(link(&[path(0, 1), path(1, 1)]).handshake_deadline(), PATH_DEADLINE);
    }

    #[test]
    fn one_path_is_established_and_shared_ports_count_as_one_way() {
        let both = [path(0, 1), path(1, 1)];
        let shown = |used| both.map(|path| is_established(path, &both, used));
        assert_eq!(shown(None), [false, false]);
        assert_eq!(shown(Some(path(1, 1))), [false, true]);
        assert_eq!(shown(Some(path(0, 2))), [true, false], "another resource's ports");
        assert_eq!(shown(Some(path(7, 1))), [false, false]);
    }
}
