//! Requests whose client is gone, and of which the core has parts: orphans.
//!
//! What the core has of a request holds buffers until the core answers it. So each front end keeps
//! such a request until the last answer has come, or until its resource is gone, and nothing of it
//! is answered any more.

use crate::links::HostedId;
use crate::payloads::Kit;
use crate::slab::{Key, Slab};

/// A request of a client, of which the core has parts.
pub(crate) trait Outstanding {
    fn hosted(&self) -> HostedId;

    /// Its client takes no answer any more.
    fn is_orphan(&mut self) -> &mut bool;

    /// How many parts the core has.
    fn in_flight(&mut self) -> &mut usize;

    /// What the budget counts for each of them; zero where it counts the request as a whole, too.
    fn part_bytes(&self) -> usize;

    /// Whether the budget counts something of it.
    fn is_counted(&self) -> bool {
        self.part_bytes() > 0
    }
}

/// A front end, as far as it has such requests.
pub(crate) trait Orphanage {
    type Request: Outstanding;

    fn requests(&mut self) -> &mut Slab<Self::Request>;

    /// How many of them are orphans.
    fn orphans(&mut self) -> &mut usize;

    /// Takes a request out of which the core has nothing.
    fn take_out(&mut self, key: Key, kit: &mut Kit);

    /// The client of a request is gone.
    fn orphan(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests().get_mut(key) else { return };
        *request.is_orphan() = true;
        if !request.is_counted() {
            // The answer of the core will find nobody.
            *request.in_flight() = 0;
        }
        *self.orphans() += 1;
        self.end_orphan(key, kit);
    }

    /// Forgets an orphan, once the core has nothing of it any more.
    fn end_orphan(&mut self, key: Key, kit: &mut Kit) {
        if self.requests().get_mut(key).is_some_and(|request| *request.in_flight() == 0) {
            self.take_out(key, kit);
            *self.orphans() -= 1;
        }
    }

    /// The resource is gone: of what nobody waits for any more, nothing is answered.
    fn forget_orphans(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.requests().end() {
            let Some(key) = self.requests().key_at(index) else { continue };
            let Some(request) = self.requests().get_mut(key) else { continue };
            if request.hosted() == hosted && *request.is_orphan() {
                let parts = std::mem::take(request.in_flight());
                kit.budget.give_back(hosted, parts * request.part_bytes());
                self.end_orphan(key, kit);
            }
        }
    }
}
