//! What guests have of a shard: buffers, and requests under way.
//!
//! A guest says how much it asks for, and what it asks may wait as long as its volume has no
//! quorum. It gets the buffers that `budget` gives it. A request that finds none waits, in order;
//! while one does, or many are under way, the rest is left in the guest's rings, where it takes
//! nothing of ours.

use std::collections::VecDeque;

use crate::clients::budget::{Crowd, Wish};
use crate::clients::vhost::requests::Issued;
use crate::clients::vhost::{SessionNumber, Vhost};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::GUEST_REQUESTS_MAX;
use crate::slab::{Key, Rotation, Slab};

#[derive(Debug, Default)]
pub(super) struct Room {
    accounts: Slab<Account>,
    /// Requests that wait, of all sessions.
    waiting: usize,
    crowd: Crowd,
    /// Who is the first to be tried again.
    rotation: Rotation,
}

/// What the rings of one session have.
#[derive(Debug)]
struct Account {
    session: SessionNumber,
    rings: usize,
    /// Requests that are not answered.
    requests: usize,
    /// Bytes of the buffers of their parts that are under way.
    bytes: usize,
    /// Requests that found no room, or no buffer.
    waiting: VecDeque<Key>,
    /// Rings of which nothing is taken until there is room again.
    paused: Vec<Key>,
}

impl Room {
    /// The account of a session that has one more ring here.
    pub(super) fn open(&mut self, session: SessionNumber) -> Key {
        let known = self.accounts.iter().find(|(_, account)| account.session == session);
        let known = known.map(|(key, _)| key);
        let key = known.unwrap_or_else(|| {
            let (waiting, paused) = (VecDeque::new(), Vec::new());
            self.accounts.insert(Account {
                session,
                rings: 0,
                requests: 0,
                bytes: 0,
                waiting,
                paused,
            })
        });
        self.accounts.get_mut(key).expect("found or just put in").rings += 1;
        key
    }

    /// One of its rings is gone.
    pub(super) fn close(&mut self, key: Key) {
        let Some(account) = self.accounts.get_mut(key) else { return };
        account.rings -= 1;
        if account.rings == 0 {
            self.waiting -= account.waiting.len();
            self.accounts.remove(key);
        }
    }

    /// Whether another request may be taken.
    pub(super) fn may_take(&self, key: Key) -> bool {
        let may = |it: &Account| it.waiting.is_empty() && it.requests < GUEST_REQUESTS_MAX;
        self.accounts.get(key).is_some_and(may)
    }

    pub(super) fn begin(&mut self, key: Key) {
        if let Some(account) = self.accounts.get_mut(key) {
            account.requests += 1;
        }
    }

    /// A request is answered, or is not to be any more.
    pub(super) fn end(&mut self, key: Key) {
        if let Some(account) = self.accounts.get_mut(key) {
            account.requests -= 1;
        }
    }

    /// Whether a part may begin; if not, its request is to wait.
    pub(super) fn has(&mut self, key: Key, hosted: HostedId, kit: &Kit) -> bool {
        let own = self.accounts.get(key).map_or(0, |account| account.bytes);
        self.crowd.has_room(&kit.budget, hosted, own, Wish::Work)
    }

    pub(super) fn take(&mut self, key: Key, hosted: HostedId, bytes: usize, kit: &mut Kit) {
        if let Some(account) = self.accounts.get_mut(key) {
            account.bytes += bytes;
        }
        kit.budget.take(hosted, bytes);
    }

    pub(super) fn give_back(&mut self, key: Key, hosted: HostedId, bytes: usize, kit: &mut Kit) {
        if let Some(account) = self.accounts.get_mut(key) {
            account.bytes -= bytes;
        }
        kit.budget.give_back(hosted, bytes);
    }

    pub(super) fn wait(&mut self, key: Key, request: Key) {
        if let Some(account) = self.accounts.get_mut(key) {
            account.waiting.push_back(request);
            self.waiting += 1;
        }
    }

    /// Something was given back since a request found no room.
    pub(super) fn is_more(&self, kit: &Kit) -> bool {
        self.waiting > 0 && self.crowd.may_go_on(&kit.budget)
    }

    fn first(&self, key: Key) -> Option<Key> {
        self.accounts.get(key)?.waiting.front().copied()
    }

    fn pop_first(&mut self, key: Key) {
        if let Some(account) = self.accounts.get_mut(key)
            && account.waiting.pop_front().is_some()
        {
            self.waiting -= 1;
        }
    }
}

impl Vhost {
    /// A request waits for a buffer, or for room.
    pub(crate) fn is_starved(&self) -> bool {
        self.room.waiting > 0
    }

    /// Requests that found no room, or no buffer, are tried again, in order.
    pub(crate) fn retry_starved(&mut self, kit: &mut Kit) {
        if !self.is_starved() {
            return;
        }
        self.room.crowd.disperse();
        for index in self.room.rotation.next_round(self.room.accounts.end()) {
            let Some(account) = self.room.accounts.key_at(index) else { continue };
            while let Some(request) = self.room.first(account) {
                if self.issue(request, kit) == Issued::Waits {
                    break;
                }
                self.room.pop_first(account);
                if let Some(request) = self.requests.get_mut(request) {
                    request.is_waiting = false;
                }
            }
            self.resume(account);
        }
    }

    /// Leaves in the guest's memory what a ring has, until there is room.
    pub(super) fn pause(&mut self, ring: Key) {
        if let Some(queue) = self.queues.get_mut(ring)
            && let Some(account) = self.room.accounts.get_mut(queue.account)
            && !std::mem::replace(&mut queue.is_paused, true)
        {
            account.paused.push(ring);
        }
    }

    /// Goes on with the rings of a session, if there is room again.
    pub(super) fn resume(&mut self, account: Key) {
        if !self.room.may_take(account) {
            return;
        }
        let Some(found) = self.room.accounts.get_mut(account) else { return };
        let mut paused = std::mem::take(&mut found.paused);
        for ring in paused.drain(..) {
            if let Some(queue) = self.queues.get_mut(ring) {
                queue.is_paused = false;
                self.line_up(ring);
            }
        }
        if let Some(account) = self.room.accounts.get_mut(account) {
            account.paused = paused;
        }
    }
}
