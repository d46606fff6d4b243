//! Requests whose client is gone, and of which the core has parts: orphans.
//!
//! What the core has of a request holds buffers until the core answers it. So each front end keeps
//! such a request until the last answer has come, or until its resource is gone, and nothing of it
//! is answered any more.

use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::{Key, Slab};

/// What there is to know of a request of which the core has parts.
#[derive(Debug)]
pub(crate) struct Outstanding<'a> {
    pub(crate) hosted: HostedId,
    /// Its client takes no answer any more.
    pub(crate) is_orphan: &'a mut bool,
    /// How many parts the core has.
    pub(crate) in_flight: &'a mut usize,
    /// What the budget counts for each of them; zero where it counts the request as a whole, too.
    pub(crate) part_bytes: usize,
    /// The budget counts something of it.
    pub(crate) is_counted: bool,
}

/// A front end, as far as it has such requests.
pub(crate) trait Orphanage {
    type Request;

    fn requests(&mut self) -> &mut Slab<Self::Request>;

    fn outstanding(request: &mut Self::Request) -> Outstanding<'_>;

    /// How many of them are orphans.
    fn orphans(&mut self) -> &mut usize;

    /// Takes a request out of which the core has nothing.
    fn take_out(&mut self, key: Key, _kit: &mut Kit) {
        self.requests().remove(key);
    }

    /// The client of a request is gone.
    fn orphan(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests().get_mut(key).map(Self::outstanding) else { return };
        *request.is_orphan = true;
        if !request.is_counted {
            // The answer of the core will find nobody.
            *request.in_flight = 0;
        }
        *self.orphans() += 1;
        self.end_orphan(key, kit);
    }

    /// Forgets an orphan, once the core has nothing of it any more.
    fn end_orphan(&mut self, key: Key, kit: &mut Kit) {
        let request = self.requests().get_mut(key).map(Self::outstanding);
        if request.is_some_and(|request| *request.in_flight == 0) {
            self.take_out(key, kit);
            *self.orphans() -= 1;
        }
    }

    /// The resource is gone: of what nobody waits for any more, nothing is answered.
    fn forget_orphans(&mut self, hosted: HostedId, kit: &mut Kit) {
        for index in 0..self.requests().end() {
            let Some(key) = self.requests().key_at(index) else { continue };
            let Some(request) = self.requests().get_mut(key).map(Self::outstanding) else {
                continue;
            };
            if request.hosted == hosted && *request.is_orphan {
                let parts = std::mem::take(request.in_flight);
                kit.budget.give_back(hosted, parts * request.part_bytes);
                self.end_orphan(key, kit);
            }
        }
    }
}
