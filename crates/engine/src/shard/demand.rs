//! How much the clients of a shard ask for at a time: whether their next request, and the events on
//! the way to the answer, are near enough to look for them instead of sleeping.

use std::time::Duration;

use io::Outlook;
use stdx::time::Time;

use crate::shard::Rim;

/// For so long after a request of a client its answer, and the next request, are looked for.
const RECENT: Duration = Duration::from_millis(1);
/// Requests in progress, on average, above which a sleep is what gathers events into batches.
const SHALLOW: u32 = 4;
/// Requests in progress, on average, below which nobody asks but who waits for an answer.
const LONE: u32 = 2;
/// A request weighs an eighth in the average.
const WEIGHT_SHIFT: u32 = 3;
/// More in progress than this say no more.
const DEPTH_MAX: u32 = 64;

#[derive(Debug)]
pub(crate) struct Demand {
    heard: Time,
    is_fresh: bool,
    /// Who answers the last request.
    answered: Answered,
    /// Running mean of the requests in progress when one came, in eighths.
    depth: u32,
}

/// Whose answers complete a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It changes what lies in a lane of this shard: the whole write set answers this shard.
    ByMembers,
    Otherwise,
}

impl Demand {
    pub(crate) const NONE: Self =
        Self { heard: Time::ZERO, is_fresh: false, answered: Answered::Otherwise, depth: 0 };

    /// A client asked for something.
    pub(crate) fn on_client(&mut self, now: Time) {
        self.heard = now;
        self.is_fresh = true;
    }

    /// A request of a client goes its way.
    pub(crate) fn on_request(&mut self, answered: Answered) {
        self.answered = answered;
    }

    /// Told once the events of a turn were taken, and before what they ask for is done.
    pub(crate) fn on_events(&mut self, in_progress: usize) {
        if !std::mem::take(&mut self.is_fresh) {
            return;
        }
        let depth = u32::try_from(in_progress).unwrap_or(DEPTH_MAX).min(DEPTH_MAX);
        self.depth = self.depth - (self.depth >> WEIGHT_SHIFT) + depth;
    }

    /// How many of the answers that members owe to the one request in progress are of use: with
    /// the first of several nothing can be done yet, where nobody else asks meanwhile.
    pub(crate) fn together(&self, owed: Option<u32>) -> u32 {
        let is_lone = self.depth < LONE << WEIGHT_SHIFT;
        owed.filter(|_| is_lone && self.answered == Answered::ByMembers).unwrap_or(1)
    }

    /// What comes next, told with the requests that are in progress.
    pub(crate) fn outlook(&self, in_progress: usize, now: Time) -> Outlook {
        let is_shallow = self.depth <= SHALLOW << WEIGHT_SHIFT;
        if !is_shallow || now.since(self.heard) >= RECENT {
            return Outlook::Unknown;
        }
        if in_progress == 0 { Outlook::Request } else { Outlook::Answer }
    }
}

impl Rim {
    /// Requests of clients, of all front ends.
    pub(crate) fn requests_in_progress(&self) -> usize {
        self.nbd.requests_in_progress()
            + self.nvme.requests_in_progress()
            + self.ublk.requests_in_progress()
            + self.vhost.requests_in_progress()
    }

    /// How many members owe an answer that it needs, none of which came yet, if one request is in
    /// progress.
    pub(crate) fn answers_owed(&self) -> Option<u32> {
        (self.asked > 0 && self.requests_in_progress() == 1).then_some(self.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000_000);

    fn after(requests: u32, in_progress: usize) -> Demand {
        let mut demand = Demand::NONE;
        for _ in 0..requests {
            demand.on_client(NOW);
            demand.on_events(in_progress);
        }
        demand
    }

    #[test]
    fn few_requests_at_a_time_are_looked_for_and_many_are_not() {
        assert_eq!(Demand::NONE.outlook(0, NOW), Outlook::Unknown, "nobody asks");
        assert_eq!(after(100, 1).outlook(1, NOW), Outlook::Answer);
        assert_eq!(after(100, 1).outlook(0, NOW), Outlook::Request, "it is answered");
        assert_eq!(after(100, 4).outlook(4, NOW), Outlook::Answer);
        assert_eq!(after(100, 6).outlook(6, NOW), Outlook::Unknown);
        assert_eq!(after(100, 1_000_000).outlook(1_000_000, NOW), Outlook::Unknown);
    }

    #[test]
    fn batches_that_shrink_are_not_taken_for_few_requests() {
        let mut demand = after(100, 32);
        // One at a time come and go, while the other 31 wait.
        for _ in 0..1000 {
            demand.on_client(NOW);
            demand.on_events(31);
            assert_eq!(demand.outlook(30, NOW), Outlook::Unknown);
        }
        // Turns without a client say nothing of it.
        for _ in 0..1000 {
            demand.on_events(0);
        }
        assert_eq!(demand.outlook(0, NOW), Outlook::Unknown);
    }

    #[test]
    fn a_load_that_becomes_shallow_is_looked_for_soon_and_one_that_ended_is_not() {
        let mut demand = after(100, 1_000_000);
        for _ in 0..64 {
            demand.on_client(NOW);
            demand.on_events(1);
        }
        assert_eq!(demand.outlook(1, NOW), Outlook::Answer);
        assert_eq!(demand.outlook(1, NOW + RECENT), Outlook::Unknown);
    }

    #[test]
    fn answers_to_a_lone_request_are_waited_for_together() {
        let after = |in_progress, answered| {
            let mut demand = after(100, in_progress);
            demand.on_request(answered);
            demand
        };
        let alone = after(1, Answered::ByMembers);
        assert_eq!((alone.together(Some(2)), alone.together(None)), (2, 1));
        let read = after(1, Answered::Otherwise);
        assert_eq!(read.together(Some(2)), 1, "these answers are to another shard's request");
        assert_eq!(after(3, Answered::ByMembers).together(Some(2)), 1, "others ask meanwhile");
        assert_eq!(after(32, Answered::ByMembers).together(Some(2)), 1);
    }
}
