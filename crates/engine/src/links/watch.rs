//! Watches: a connection over each of several paths to a peer, which shows that the path works.
//!
//! ```text
//! path A   ==== the set of connections: all that resources say ====
//!          ---- watch: a heartbeat each way in each interval ------
//! path B   ---- watch --------------------------------------------
//! ```
//!
//! Shard 0 of the side that dials keeps them up while the link is: one that fails is tried again,
//! less and less often. A heartbeat asks for nothing and is not answered: each end hears the other,
//! so a path that is dead in one direction is closed by the end that hears nothing, and the close
//! takes the way that works, or the silence is found there too.
//!
//! A path that says nothing while another one of the same peer does is dead, and the peer is not:
//! a set that goes over it is made anew over the other ([`super::moves`]) in half of the time after
//! which a silent peer is lost. Nothing here tells that a peer lives: leases and losses follow the
//! set alone.

use std::time::Duration;

use format::frame::Message;
use format::message::{FEATURE_PROBE, Heartbeat, Hello, LinkClass, LinkMessage};
use replication::limits::HEARTBEAT_INTERVAL;
use stdx::time::Time;

use crate::definition::link::{Path, Spread};
use crate::kit::Kit;
use crate::limits::{DIAL_BACKOFF_MIN, PATH_REST_MAX, PEER_SILENT_MIN};
use crate::links::away::Away;
use crate::links::news::News;
use crate::links::path_state::{PathState, Watch};
use crate::links::paths::{Target, stands_for};
use crate::links::stage::Stage;
use crate::links::{Fact, LEAD, Link, Links};
use crate::log::{Scope, log};
use crate::placement;
use crate::slab::Key;

/// A path as `status` shows it.
#[derive(Debug, Default)]
pub(crate) struct PathFacts {
    /// It works, as far as is known.
    pub(crate) established: bool,
    /// It carries.
    pub(crate) in_use: bool,
    pub(crate) down_since: Option<Time>,
    pub(crate) reason: Option<Away>,
}

impl Links {
    /// What is known of one of the paths that a resource names.
    pub(crate) fn path_facts(&self, peer_name: &str, path: Path, all: &[Path]) -> PathFacts {
        let Some(index) = self.link_to(peer_name) else { return PathFacts::default() };
        let link = &self.links[index];
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

impl Link {
    fn watch_mut(&mut self, key: Key) -> Option<&mut Watch> {
        let mut watches = self.targets.iter_mut().map(|target| &mut target.watch);
        watches.find(|watch| watch.connection == Some(key))
    }

    pub(super) fn note_heard(&mut self, key: Key, now: Time) {
        if let Some(watch) = self.watch_mut(key) {
            watch.heard_at = now;
        }
    }

    /// A path that says nothing for so long is dead if another one is not.
    fn path_silent_max(&self) -> Duration {
        (self.silent_max() / 2).max(PEER_SILENT_MIN)
    }

    pub(super) fn is_living(&self, target: &Target, now: Time) -> bool {
        target.watch.is_up && now < target.watch.heard_at + self.path_silent_max()
    }

    /// Whether some path is known to work.
    pub(super) fn has_living_path(&self, now: Time) -> bool {
        self.targets.iter().any(|target| self.is_living(target, now))
    }

    /// The paths of the next set, the one of its first connection first.
    pub(super) fn paths_to_spread_over(&self, dialled: Path, now: Time) -> Vec<Path> {
        let mut paths = vec![dialled];
        // After a failure one path has to do.
        if self.spread() == Spread::All && self.attempts_of_round() <= 1 {
            let others = self.targets.iter().filter(|target| target.path != dialled);
            let living = others.filter(|target| self.is_living(target, now));
            paths.extend(living.map(|target| target.path));
        }
        paths
    }

    /// A set that was to be spread did not come up: whatever the watches say, the paths besides its
    /// first one are not used again so soon.
    pub(super) fn distrust_others(&mut self, now: Time) {
        let Self { used, targets, .. } = self;
        for path in used.iter().skip(1) {
            if let Some(target) = targets.iter_mut().find(|target| target.path == *path) {
                target.watch.rest = (target.watch.rest * 2).min(PATH_REST_MAX);
                target.watch.up_since = now;
            }
        }
    }

    /// When something came over this path last, if it is watched or carries.
    fn heard_over(&self, path: Path) -> Option<Time> {
        let target = self.targets.iter().find(|target| target.path == path);
        let watched = target.filter(|it| it.watch.is_up).map(|target| target.watch.heard_at);
        let carries = self.is_up && self.used.first() == Some(&path);
        let carried = self.pipes.first().filter(|_| carries).map(|pipe| pipe.heart.heard_at);
        watched.max(carried)
    }

    /// Whether another path was heard long after this one.
    fn is_outlived(&self, path: Path, heard_at: Time) -> bool {
        let lead = self.path_silent_max() / 2;
        let mut others = self.targets.iter().filter(|target| target.path != path);
        others.any(|it| it.watch.is_up && it.watch.heard_at >= heard_at + lead)
    }
}

impl Links {
    pub(super) fn tick_watches(&mut self, index: usize, kit: &mut Kit) -> Time {
        if !self.leads() {
            return Time::NEVER;
        }
        let mut next = Time::NEVER;
        let link = &self.links[index];
        // Resources that name one path each have many targets, and none to watch.
        let targets = if link.has_watches { link.targets.len() } else { 0 };
        for place in 0..targets {
            next = next.min(self.tick_watch(index, place, kit));
        }
        next.min(self.leave_dead_path(index, kit)).min(self.spread_out(index, kit))
    }

    fn tick_watch(&mut self, index: usize, place: usize, kit: &mut Kit) -> Time {
        let dials = self.dials(index);
        let link = &self.links[index];
        let is_wanted = link.is_up && link.takes_watches;
        let Target { path, watch, .. } = &link.targets[place];
        let Some(key) = watch.connection else {
            if !dials || !is_wanted || !watch.is_wanted {
                return Time::NEVER;
            }
            let (dial_at, path) = (watch.dial_at, *path);
            return if kit.now < dial_at { dial_at } else { self.dial_watch(index, path, kit) };
        };
        if !watch.is_up {
            return Time::NEVER;
        }
        // While sessions are held, it says that the peer lives.
        if dials && !watch.is_wanted && link.is_up && link.moving_until.is_none() {
            self.close_connection(key, &Away::Unwatched, kit);
            return kit.now;
        }
        let silent_max = link.silent_max();
        let silent_at = watch.heard_at + silent_max;
        if kit.now >= silent_at {
            let reason = Away::Silent { silent_ms: silent_max.as_millis() };
            self.close_connection(key, &reason, kit);
            return kit.now;
        }
        let watch = &mut self.links[index].targets[place].watch;
        if kit.now >= watch.beat_at {
            watch.beat_at = kit.now + HEARTBEAT_INTERVAL;
            watch.next_id += 1;
            let id = watch.next_id;
            self.beat(key, id, kit);
        }
        self.links[index].targets[place].watch.beat_at.min(silent_at)
    }

    fn dial_watch(&mut self, index: usize, path: Path, kit: &mut Kit) -> Time {
        match self.connect_to(index, (LEAD, path), LinkClass::Watch, kit) {
            Ok(key) => {
                let targets = &mut self.links[index].targets;
                if let Some(target) = targets.iter_mut().find(|target| target.path == path) {
                    target.watch.connection = Some(key);
                }
                // The deadline of the handshake.
                Time::NEVER
            }
            Err(reason) => {
                self.note_path_down(index, path, reason, kit);
                kit.now + DIAL_BACKOFF_MIN
            }
        }
    }

    /// One that the kernel has no room for is left out: the path is too slow, or dead.
    fn beat(&mut self, key: Key, id: u64, kit: &mut Kit) {
        let Some(connection) = self.connections.get(key) else { return };
        let has_more = connection.tls.as_ref().is_some_and(|tls| tls.wants_send());
        if connection.sending.busy {
            return;
        }
        if has_more {
            return self.send_sealed(key, kit);
        }
        let heartbeat = Heartbeat { id, sent_at_ns: kit.now.0, leases: Vec::new() };
        self.send_alone(key, &LinkMessage::Heartbeat(heartbeat), kit);
    }

    /// What comes over a watch.
    pub(super) fn take_beat(&mut self, message: Message) -> Result<(), Away> {
        let Message::Link(LinkMessage::Heartbeat(heartbeat)) = message else {
            let told = "it sent more than heartbeats over a connection that watches";
            return Err(Away::out_of_turn(told));
        };
        self.spare_requests = heartbeat.leases;
        Ok(())
    }

    /// The peer watches a path: so does this node, over the same connection.
    pub(super) fn accept_watch(
        &mut self,
        key: Key,
        index: usize,
        hello: &Hello,
        kit: &mut Kit,
    ) -> Result<(), Away> {
        let link = &self.links[index];
        if !link.has_connection() || link.boot_id != Some(hello.boot_id) {
            let name = &link.name;
            let told = format!("node {name:?} watches a path before it is connected");
            return Err(Away::OutOfTurn { told });
        }
        let welcome = self.greet(key, LEAD, LinkClass::Watch);
        self.send_alone(key, &LinkMessage::Welcome(Box::new(welcome)), kit);
        self.adopt_watch(key, index, hello, kit)
    }

    pub(super) fn watch_answered(
        &mut self,
        key: Key,
        index: usize,
        hello: &Hello,
        kit: &mut Kit,
    ) -> Result<(), Away> {
        let link = &self.links[index];
        if hello.class != LinkClass::Watch || link.boot_id != Some(hello.boot_id) {
            return Err(Away::out_of_turn("another process answers there"));
        }
        self.adopt_watch(key, index, hello, kit)
    }

    fn adopt_watch(
        &mut self,
        key: Key,
        index: usize,
        hello: &Hello,
        kit: &mut Kit,
    ) -> Result<(), Away> {
        let connection = self.connections.get_mut(key).expect("the connection that spoke");
        let path = connection.path;
        let mut targets = self.links[index].targets.iter_mut();
        let Some(target) = targets.find(|target| Some(target.path) == path) else {
            let told = "it watches a path that is not in the configuration here";
            return Err(Away::out_of_turn(told));
        };
        connection.link = Some(index);
        connection.class = LinkClass::Watch;
        let older = target.watch.connection.replace(key).filter(|older| *older != key);
        target.watch.is_up = false;
        if let Some(older) = older {
            self.close_connection(older, &Away::Replaced, kit);
        }
        self.links[index].has_watches = true;
        if hello.features & FEATURE_PROBE != 0 {
            self.begin_probe(key, hello, kit);
        } else {
            self.count_watch(key, index, kit);
        }
        Ok(())
    }

    /// The path carries what it has to: it works.
    pub(super) fn count_watch(&mut self, key: Key, index: usize, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.stage = Stage::Up;
        self.is_due = true;
        let mut targets = self.links[index].targets.iter_mut();
        let Some(target) = targets.find(|it| it.watch.connection == Some(key)) else { return };
        target.watch.on_up(key, kit.now);
        let path = target.path;
        let state = PathState { is_up: true, since: kit.now, reason: None };
        self.note_path(index, path, state);
    }

    /// The connection is gone, or never came up.
    pub(super) fn lose_watch(&mut self, index: usize, key: Key, reason: &Away, kit: &mut Kit) {
        let redial_max = self.links[index].redial_max();
        let mut targets = self.links[index].targets.iter_mut();
        let Some(target) = targets.find(|target| target.watch.connection == Some(key)) else {
            return;
        };
        let (path, is_wanted) = (target.path, target.watch.is_wanted);
        target.watch.on_lost(kit.now, redial_max);
        if is_wanted {
            self.note_path_down(index, path, reason.clone(), kit);
        }
        if !self.links[index].has_living_path(kit.now) {
            self.stop_moves(index);
        }
    }

    fn note_path_down(&mut self, index: usize, path: Path, reason: Away, kit: &mut Kit) {
        let states = &self.links[index].path_states;
        let known = states.iter().find(|(known, _)| *known == path).map(|(_, state)| state);
        let since = known.filter(|state| !state.is_up).map_or(kit.now, |state| state.since);
        let state = PathState { is_up: false, since, reason: Some(reason) };
        self.note_path(index, path, state);
    }

    /// At shard 0: remembers what became of a path, says so once, and tells all shards.
    fn note_path(&mut self, index: usize, path: Path, state: PathState) {
        let link = &self.links[index];
        let known = link.path_states.iter().find(|(known, _)| *known == path);
        let is_same = known
            .is_some_and(|(_, known)| known.is_up == state.is_up && known.reason == state.reason);
        if is_same {
            return;
        }
        let (scope, text) = (Scope::peer(&link.name), path_text(path));
        match (&state.reason, known.is_none_or(|(_, known)| known.is_up)) {
            (Some(reason), true) => log!(Warning, scope, "path {text} is down: {reason}"),
            (Some(_), false) => {}
            (None, _) => log!(Notice, scope, "path {text} works"),
        }
        self.tell_others(index, || News::Path { path, state: state.clone() });
        self.learn_path_state(index, path, state);
    }

    pub(super) fn learn_path_state(&mut self, index: usize, path: Path, state: PathState) {
        let Link { targets, path_states: states, .. } = &mut self.links[index];
        if targets.iter().any(|target| target.path == path && !target.watch.is_wanted) {
            return;
        }
        match states.iter_mut().find(|(known, _)| *known == path) {
            Some((_, known)) => *known = state,
            None => states.push((path, state)),
        }
        self.paths_changed(index);
    }

    /// What resources say of their paths may be other than it was.
    pub(super) fn paths_changed(&mut self, index: usize) {
        for session in &self.links[index].sessions {
            self.facts.push_back(Fact::PathChanged { hosted: session.hosted });
        }
    }

    /// A set that goes over a path which is silent, while another one is not, moves.
    fn leave_dead_path(&mut self, index: usize, kit: &mut Kit) -> Time {
        let link = &self.links[index];
        let silent_max = link.path_silent_max();
        let mut next = Time::NEVER;
        if !link.is_up {
            return next;
        }
        for &path in &link.used {
            let Some(heard_at) = link.heard_over(path) else { continue };
            let silent_at = heard_at + silent_max;
            if kit.now < silent_at {
                next = next.min(silent_at);
                continue;
            }
            if !link.is_outlived(path, heard_at) {
                next = next.min(kit.now + HEARTBEAT_INTERVAL);
                continue;
            }
            let silent_ms = silent_max.as_millis();
            let target = link.targets.iter().find(|target| target.path == path);
            if let Some(key) = target.and_then(|target| target.watch.connection) {
                self.close_connection(key, &Away::Silent { silent_ms }, kit);
            }
            self.end_set(index, &Away::SilentPath { silent_ms, path }, kit);
            return kit.now;
        }
        next
    }

    /// A set that is to use all paths, and does not use one that has worked for a while, moves.
    fn spread_out(&mut self, index: usize, kit: &mut Kit) -> Time {
        let link = &self.links[index];
        if !link.is_up || !self.dials(index) {
            return Time::NEVER;
        }
        if link.spread() == Spread::One {
            if link.used.len() > 1 {
                self.end_set(index, &Away::OnePath, kit);
                return kit.now;
            }
            return Time::NEVER;
        }
        if link.used.len() >= placement::pair_count(self.identity.shards, link.peer_shards) {
            return Time::NEVER;
        }
        let watched = || link.targets.iter().filter(|target| target.watch.is_wanted);
        if watched().count() <= link.used.len() {
            return Time::NEVER;
        }
        let all: Vec<Path> = watched().map(|target| target.path).collect();
        let is_used = |path| link.used.iter().any(|used| stands_for(*used, path, &all));
        let unused = link.targets.iter().filter(|target| !is_used(target.path));
        let living = unused.filter(|target| link.is_living(target, kit.now));
        let ready_at = living.map(|target| target.watch.up_since + target.watch.rest).min();
        let Some(ready_at) = ready_at else { return Time::NEVER };
        if kit.now < ready_at {
            return ready_at;
        }
        self.end_set(index, &Away::AllPaths, kit);
        kit.now
    }
}

pub(super) fn path_text(path: Path) -> String {
    format!("{} to {}", path.0, path.1)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::limits::{DIAL_BACKOFF_MAX, PATH_REST_MIN};
    use crate::links::paths::Named;

    fn path(network: u8) -> Path {
        let address = |node: u8| SocketAddr::from(([10, 0, network, node], 7900));
        (address(1), address(2))
    }

    /// Two paths that were heard just now; the first one carries.
    fn link(now: Time) -> Link {
        let mut link = Link::new("bravo".to_owned(), now);
        for network in 0..2 {
            let mut target = Target::new(path(network), now);
            target.watch.is_wanted = true;
            target.watch.on_up(Key { index: network.into(), generation: 0 }, now);
            link.targets.push(target);
        }
        (link.is_up, link.has_watches) = (true, true);
        link.used = vec![path(0)];
        link
    }

    fn key(network: u32) -> Key {
        Key { index: network, generation: 0 }
    }

    #[test]
    fn dead_path_is_told_from_a_dead_peer() {
        let began = Time::ZERO + Duration::from_secs(9);
        let mut link = link(began);
        let silent = link.path_silent_max();
        assert_eq!(silent * 2, link.silent_max(), "half of what makes a peer lost");
        assert!(link.has_living_path(began) && !link.is_outlived(path(0), began));
        let later = began + silent;
        assert!(!link.has_living_path(later), "nothing was heard over either");
        assert!(!link.is_outlived(path(0), link.heard_over(path(0)).unwrap()));
        let heard_at = began + silent / 2;
        link.note_heard(key(1), heard_at);
        assert!(link.has_living_path(later));
        assert!(link.is_outlived(path(0), link.heard_over(path(0)).unwrap()));
        // What the connections of resources bring is a sign of the path that carries them.
        link.pipe_mut(LEAD).heart.heard_at = later;
        assert_eq!(link.heard_over(path(0)), Some(later));
        assert!(!link.is_outlived(path(0), later));
        assert_eq!(link.heard_over(path(1)), Some(heard_at));
    }

    #[test]
    fn path_that_works_is_dialled_before_the_next_one() {
        let now = Time::ZERO + Duration::from_secs(9);
        let mut link = link(now);
        let choose = |link: &mut Link| {
            link.start_over(now);
            link.take_next_path(now)
        };
        assert_eq!(choose(&mut link), Some(path(0)));
        link.targets[1].watch.on_lost(now, DIAL_BACKOFF_MAX);
        assert_eq!(choose(&mut link), Some(path(0)), "the other one does not work");
        assert_eq!(link.take_next_path(now), Some(path(1)), "but it is tried after a failure");
        link.targets[0].watch.on_lost(now, DIAL_BACKOFF_MAX);
        assert_eq!(choose(&mut link), Some(path(0)), "none is known to work: the next one");
    }

    #[test]
    fn path_that_fails_is_tried_less_and_less_often() {
        let mut now = Time::ZERO + Duration::from_secs(9);
        let mut watch = Watch::new(now);
        let mut waits = Vec::new();
        for _ in 0..8 {
            watch.on_lost(now, DIAL_BACKOFF_MAX);
            waits.push(watch.dial_at.since(now));
            now = watch.dial_at;
        }
        assert!(waits.is_sorted() && waits[0] == DIAL_BACKOFF_MIN, "{waits:?}");
        assert_eq!(waits[7], DIAL_BACKOFF_MAX);
        assert_eq!(watch.rest, PATH_REST_MIN, "it never worked");
        for _ in 0..8 {
            watch.on_up(key(0), now);
            now = now + Duration::from_secs(1);
            watch.on_lost(now, DIAL_BACKOFF_MAX);
        }
        assert_eq!(watch.rest, PATH_REST_MAX, "traffic is kept away from what comes and goes");
        watch.on_up(key(0), now);
        watch.on_lost(now + PATH_REST_MAX, DIAL_BACKOFF_MAX);
        assert_eq!((watch.rest, watch.backoff), (PATH_REST_MIN, DIAL_BACKOFF_MIN * 2));
    }

    #[test]
    fn traffic_is_spread_over_what_works_alone() {
        let now = Time::ZERO + Duration::from_secs(9);
        let mut link = link(now);
        assert_eq!(link.paths_to_spread_over(path(1), now), [path(1)]);
        link.named.push(Named::new("bravo", vec![path(0), path(1)], Spread::All));
        assert_eq!(link.paths_to_spread_over(path(1), now), [path(1), path(0)]);
        link.used = vec![path(1), path(0)];
        link.distrust_others(now);
        assert_eq!(link.targets[0].watch.rest, PATH_REST_MIN * 2);
        link.attempts = 2;
        assert_eq!(link.paths_to_spread_over(path(1), now), [path(1)], "it failed so");
        link.attempts = 1;
        link.targets[0].watch.on_lost(now, DIAL_BACKOFF_MAX);
        assert_eq!(link.paths_to_spread_over(path(1), now), [path(1)]);
    }
}
