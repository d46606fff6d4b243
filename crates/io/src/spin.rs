//! A look at the completion queue for a while before a sleep, where the next completion is near.
//!
//! Being put to sleep and woken costs a thread more time than such a look, and on virtual machines
//! its waker, too. Where completions come in batches the sleep is what gathers them: the owner of
//! the reactor knows, and says when the next one is near. Looks that find nothing are soon no
//! longer taken, but for one in a while. Answers and requests are told apart in that: how near one
//! is says nothing of the other, where a client thinks or a member is far.

use std::time::Duration;

/// Looks that may find nothing in a row.
const LUCK_MAX: u32 = 32;
/// What a look that finds something makes up for.
const LUCK_GAIN: u32 = 4;
/// Sleeps between two looks of the unlucky.
const REST: u32 = 32;

/// What the owner of a reactor expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// An answer to what it asked of others, soon.
    Answer,
    /// Another request to itself, soon.
    Request,
    Unknown,
}

/// Whether and how long to look.
#[derive(Debug)]
pub(crate) struct Spin {
    limit: Duration,
    outlook: Outlook,
    answers: Luck,
    requests: Luck,
}

/// Of the looks for one kind of event.
#[derive(Debug, Default)]
struct Luck {
    left: u32,
    rested: u32,
}

impl Spin {
    pub(crate) fn new(limit: Duration) -> Self {
        let (answers, requests) = (Luck::default(), Luck::default());
        Self { limit, outlook: Outlook::Unknown, answers, requests }
    }

    pub(crate) fn expect(&mut self, outlook: Outlook) {
        self.outlook = outlook;
    }

    /// For how long to look before the sleep that comes now.
    pub(crate) fn limit(&mut self) -> Option<Duration> {
        if self.limit.is_zero() {
            return None;
        }
        self.luck()?.may_look().then_some(self.limit)
    }

    pub(crate) fn on_found(&mut self) {
        if let Some(luck) = self.luck() {
            luck.left = (luck.left + LUCK_GAIN).min(LUCK_MAX);
        }
    }

    pub(crate) fn on_missed(&mut self) {
        if let Some(luck) = self.luck() {
            luck.left = luck.left.saturating_sub(1);
        }
    }

    fn luck(&mut self) -> Option<&mut Luck> {
        match self.outlook {
            Outlook::Answer => Some(&mut self.answers),
            Outlook::Request => Some(&mut self.requests),
            Outlook::Unknown => None,
        }
    }
}

impl Luck {
    fn may_look(&mut self) -> bool {
        if self.left > 0 {
            return true;
        }
        self.rested = (self.rested + 1) % REST;
        self.rested == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(30);

    /// How many of so many sleeps come after a look, with this at the end of each look.
    fn looks(spin: &mut Spin, sleeps: u32, end: fn(&mut Spin)) -> u32 {
        (0..sleeps)
            .map(|_| {
                let is_looking = spin.limit().is_some();
                if is_looking {
                    end(spin);
                }
                u32::from(is_looking)
            })
            .sum()
    }

    #[test]
    fn looks_end_where_they_find_nothing_and_begin_again_where_they_do() {
        let mut spin = Spin::new(LIMIT);
        spin.expect(Outlook::Request);
        assert_eq!(looks(&mut spin, 10 * REST, Spin::on_missed), 10, "one in a while");
        assert_eq!(looks(&mut spin, REST, Spin::on_found), 1);
        assert_eq!(
            looks(&mut spin, 100, Spin::on_found),
            100,
            "the first one that found something"
        );
        let until_unlucky = looks(&mut spin, 1000, Spin::on_missed);
        assert!(until_unlucky <= LUCK_MAX + 1000 / REST, "{until_unlucky} looks for nothing");
    }

    /// A client that thinks for longer than a look, between writes whose answers are near.
    #[test]
    fn answers_that_are_found_do_not_pay_for_looks_for_requests_that_find_nothing() {
        let mut spin = Spin::new(LIMIT);
        let (mut for_answers, mut for_requests) = (0, 0);
        for _ in 0..1000 {
            spin.expect(Outlook::Answer);
            for_answers += looks(&mut spin, 2, Spin::on_found);
            spin.expect(Outlook::Request);
            for_requests += looks(&mut spin, 1, Spin::on_missed);
        }
        assert_eq!(for_requests, 1000 / REST, "one in a while");
        assert_eq!(for_answers, 2000 - (REST - 1), "all after the first");
    }

    #[test]
    fn without_an_outlook_or_with_a_limit_of_zero_nothing_is_looked_for() {
        let mut spin = Spin::new(LIMIT);
        assert_eq!(looks(&mut spin, 100, Spin::on_found), 0, "nothing is expected");
        spin.expect(Outlook::Request);
        assert!(looks(&mut spin, 100, Spin::on_found) > 0);
        let mut off = Spin::new(Duration::ZERO);
        off.expect(Outlook::Request);
        assert_eq!(looks(&mut off, 100, Spin::on_found), 0);
    }
}
