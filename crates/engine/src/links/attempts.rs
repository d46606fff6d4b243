//! The attempts to reach a peer: which path is dialled next, and when.
//!
//! Each resource may have a port of its own: then there are as many paths as resources, and few
//! [`Route`]s. A host that is away is away at all its ports, so a round takes each route in turn
//! and few ports of it; the next round goes on with the next ports, for a peer listens at those of
//! the resources that it has up.

use std::collections::BTreeMap;
use std::time::Duration;

use stdx::time::Time;

use crate::definition::link::Path;
use crate::limits::{
    DIAL_BACKOFF_MIN, HANDSHAKE_DEADLINE, MOVE_MAX, PATH_DEADLINE, ROUTE_ROUNDS_MAX,
    ROUTE_SILENT_MAX, ROUTE_TRIES_MIN,
};
use crate::links::Link;
use crate::links::paths::{Route, Target};

/// How far the attempts on a route are.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    ports: usize,
    in_round: usize,
    /// Of those, to which there was no answer at all.
    silent: usize,
    /// The number of the last one.
    last: u64,
}

impl Tries {
    /// No more of it in this round.
    fn are_done(self) -> bool {
        let share = self.ports.div_ceil(ROUTE_ROUNDS_MAX).max(ROUTE_TRIES_MIN);
        self.in_round >= share.min(self.ports) || self.silent >= ROUTE_SILENT_MAX
    }
}

impl Link {
    fn routes(&self) -> BTreeMap<Route, Tries> {
        let mut routes: BTreeMap<Route, Tries> = BTreeMap::new();
        for target in &self.targets {
            let tries = routes.entry(target.route()).or_default();
            tries.ports += 1;
            let is_of_round = target.tried > self.round_from;
            tries.in_round += usize::from(is_of_round);
            tries.silent += usize::from(is_of_round && target.is_silent);
            tries.last = tries.last.max(target.tried);
        }
        routes
    }

    /// The next one that works; after a failure, or where none does, the next one.
    pub(super) fn take_next_path(&mut self, now: Time) -> Option<Path> {
        let routes = self.routes();
        let is_first = self.attempts == self.round_from;
        let rank = |target: &Target| {
            let tries = routes[&target.route()];
            let is_living = is_first && self.is_living(target, now);
            (!is_living, tries.are_done(), tries.last, !target.has_worked, target.tried)
        };
        let places = 0..self.targets.len();
        let place = places.min_by_key(|place| rank(&self.targets[*place]))?;
        self.attempts += 1;
        let target = &mut self.targets[place];
        target.tried = self.attempts;
        // It has to work again to come before the others.
        (target.has_worked, target.is_silent) = (false, false);
        Some(target.path)
    }

    /// Nothing came back from the attempt there: a host that is away is so at all its ports, each
    /// of which would be waited for.
    pub(super) fn note_silent(&mut self, path: Path) {
        if let Some(target) = self.targets.iter_mut().find(|target| target.path == path) {
            target.is_silent = true;
        }
    }

    /// Attempts of this round.
    pub(super) fn attempts_of_round(&self) -> u64 {
        self.attempts - self.round_from
    }

    pub(super) fn begin_round(&mut self) {
        self.round_from = self.attempts;
    }

    /// The peer answers there.
    pub(super) fn note_worked(&mut self, path: Path) {
        let target = self.targets.iter().find(|target| target.path == path);
        let Some(route) = target.map(Target::route) else { return };
        for target in self.targets.iter_mut().filter(|target| target.route() == route) {
            target.has_worked = target.path == path;
        }
    }

    /// A path that says nothing must not keep the others waiting.
    pub(super) fn handshake_deadline(&self) -> Duration {
        if self.targets.len() > 1 { PATH_DEADLINE } else { HANDSHAKE_DEADLINE }
    }

    /// After a failure: the next path at once, or, at the end of a round, after a while.
    pub(super) fn back_off(&mut self, now: Time) -> Time {
        self.dial_at = now;
        if self.routes().values().all(|tries| tries.are_done()) {
            self.begin_round();
            self.dial_at = now + self.backoff;
            self.backoff = (self.backoff * 2).min(self.redial_max());
        }
        self.dial_at
    }

    /// A connection that had been up was lost: a new round of attempts begins, after a short rest.
    pub(super) fn start_over(&mut self, now: Time) {
        self.begin_round();
        // A path that works needs no rest, unless that came to nothing a moment ago.
        let at_once = self.has_living_path(now) && now >= self.at_once_from;
        if at_once {
            self.at_once_from = now + MOVE_MAX;
        }
        self.dial_at = if at_once { now } else { now + DIAL_BACKOFF_MIN };
        self.backoff = DIAL_BACKOFF_MIN;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::links::fixture::{named_by_each, path, peer, unconnected as links};

    fn link(paths: &[Path]) -> Link {
        let mut links = links();
        links.add_peer(&peer(paths.to_vec()), Time::ZERO);
        links.links.remove(0)
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

    /// The paths of one round, if that is not longer than that.
    fn round(link: &mut Link, length_max: usize) -> Vec<Path> {
        let mut dialled = Vec::new();
        while dialled.len() < length_max {
            dialled.extend(link.take_next_path(Time::ZERO));
            if link.back_off(Time::ZERO) > Time::ZERO {
                break;
            }
        }
        dialled
    }

    /// With a port for each resource a peer without its daemon was dialled as often as there are
    /// resources before anything waited.
    #[test]
    fn round_does_not_take_in_all_ports_of_a_host_and_the_next_one_goes_on() {
        let mut links = links();
        let (ports, all) = (4096_u16, 8192);
        let paths: Vec<Path> = (0..ports).map(|port| path(0, 1 + port)).collect();
        named_by_each(&mut links, &paths);
        let link = &mut links.links[0];
        let mut dialled = Vec::new();
        for _ in 0..ROUTE_ROUNDS_MAX {
            let dials = round(link, all);
            assert!(dials.len() <= paths.len().div_ceil(ROUTE_ROUNDS_MAX), "{}", dials.len());
            dialled.extend(dials);
        }
        dialled.truncate(paths.len());
        assert_eq!(dialled, paths, "none is left out for long");
    }

    /// A resource whose port comes later than those of a network that is gone is not forgotten.
    #[test]
    fn networks_take_turns_whatever_the_number_of_their_ports() {
        let mut links = links();
        let mut paths: Vec<Path> = (0..200).map(|port| path(0, 1 + port)).collect();
        paths.push(path(1, 201));
        named_by_each(&mut links, &paths);
        let dials = round(&mut links.links[0], 400);
        assert_eq!(dials.len(), ROUTE_TRIES_MIN + 1);
        assert_eq!(dials[1], path(1, 201), "{dials:?}");
    }

    /// Each port of the network that is gone was waited for before the other one had its next turn.
    #[test]
    fn silent_network_does_not_keep_another_one_waiting() {
        let mut links = links();
        let paths: Vec<Path> = (0..200).map(|port| path(0, 1 + port)).collect();
        named_by_each(&mut links, &paths);
        named_by_each(&mut links, &[path(1, 201)]);
        let link = &mut links.links[0];
        let mut dialled = Vec::new();
        while dialled.len() < 2 * ROUTE_TRIES_MIN {
            let tried = link.take_next_path(Time::ZERO).unwrap();
            if tried != path(1, 201) {
                link.note_silent(tried);
            }
            link.back_off(Time::ZERO);
            dialled.push(tried);
        }
        let turns: Vec<_> = dialled.split(|it| *it == path(1, 201)).map(<[Path]>::len).collect();
        assert!(turns.iter().all(|length| *length <= 8), "{turns:?}");
        let all: BTreeSet<Path> = dialled.into_iter().collect();
        assert_eq!(all.len(), paths.len() + 1, "and none is left out for long");
    }

    #[test]
    fn port_that_worked_is_dialled_before_the_others_of_its_host() {
        let mut links = links();
        let paths: Vec<Path> = (0..100).map(|port| path(0, 1 + port)).collect();
        named_by_each(&mut links, &paths);
        let link = &mut links.links[0];
        let worked = link.take_next_path(Time::ZERO).unwrap();
        link.note_worked(worked);
        link.start_over(Time::ZERO);
        assert_eq!(link.take_next_path(Time::ZERO), Some(worked));
        assert_eq!(link.take_next_path(Time::ZERO), Some(paths[1]), "it does not any more");
    }
}
