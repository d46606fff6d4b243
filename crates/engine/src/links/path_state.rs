//! The state of a path to a peer: as the shard that watches it knows it, and as others are told.

use std::time::Duration;

use stdx::time::Time;

use crate::limits::{DIAL_BACKOFF_MIN, PATH_REST_MAX, PATH_REST_MIN};
use crate::links::away::Away;
use crate::slab::Key;

#[derive(Debug)]
pub(super) struct Watch {
    /// The path is one of several, and nobody else watches the same way.
    pub(super) is_wanted: bool,
    pub(super) connection: Option<Key>,
    pub(super) is_up: bool,
    pub(super) up_since: Time,
    pub(super) heard_at: Time,
    pub(super) beat_at: Time,
    pub(super) next_id: u64,
    /// Not tried again before, and how long after the next failure.
    pub(super) dial_at: Time,
    pub(super) backoff: Duration,
    /// How long it has to work before traffic is spread over it.
    pub(super) rest: Duration,
}

impl Watch {
    pub(super) fn new(now: Time) -> Self {
        Self {
            is_wanted: false,
            connection: None,
            is_up: false,
            up_since: now,
            heard_at: now,
            beat_at: now,
            next_id: 0,
            dial_at: now,
            backoff: DIAL_BACKOFF_MIN,
            rest: PATH_REST_MIN,
        }
    }

    pub(super) fn on_up(&mut self, key: Key, now: Time) {
        self.connection = Some(key);
        self.is_up = true;
        self.up_since = now;
        self.heard_at = now;
        self.beat_at = now;
    }

    /// Tried again after a while: the longer, the sooner it failed again and again.
    pub(super) fn on_lost(&mut self, now: Time, redial_max: Duration) {
        let was_steady = self.is_up && now.since(self.up_since) >= PATH_REST_MAX;
        if was_steady {
            self.backoff = DIAL_BACKOFF_MIN;
            self.rest = PATH_REST_MIN;
        } else if self.is_up {
            self.rest = (self.rest * 2).min(PATH_REST_MAX);
        }
        self.connection = None;
        self.is_up = false;
        self.dial_at = now + self.backoff;
        self.backoff = (self.backoff * 2).min(redial_max);
    }
}

/// What became of a path, as `status` tells it.
#[derive(Clone, Debug)]
pub(crate) struct PathState {
    pub(crate) is_up: bool,
    pub(crate) since: Time,
    /// Why it does not work.
    pub(crate) reason: Option<Away>,
}
