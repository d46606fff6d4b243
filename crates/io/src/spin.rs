//! A look at the completion queue for a while before a sleep, where the next completion is near.
//!
//! Being put to sleep and woken costs a thread more time than such a look, and on virtual machines
//! its waker, too. Where completions come in batches the sleep is what gathers them: the owner of
//! the reactor knows, and says when the next one is near. Looks that find nothing are soon no
//! longer taken, but for one in a while.

use std::time::Duration;

/// Looks that may find nothing in a row.
const LUCK_MAX: u32 = 32;
/// What a look that finds something makes up for.
const LUCK_GAIN: u32 = 4;
/// Sleeps between two looks of the unlucky.
const REST: u32 = 32;

/// When the owner of a reactor expects the next completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    Soon,
    Unknown,
}

/// Whether and how long to look.
#[derive(Debug)]
pub(crate) struct Spin {
    limit: Duration,
    outlook: Outlook,
    luck: u32,
    rested: u32,
}

impl Spin {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, outlook: Outlook::Unknown, luck: 0, rested: 0 }
    }

    pub(crate) fn expect(&mut self, outlook: Outlook) {
        self.outlook = outlook;
    }

    /// For how long to look before the sleep that comes now.
    pub(crate) fn limit(&mut self) -> Option<Duration> {
        if self.outlook == Outlook::Unknown || self.limit.is_zero() {
            return None;
        }
        if self.luck == 0 {
            self.rested += 1;
            if self.rested < REST {
                return None;
            }
            self.rested = 0;
        }
        Some(self.limit)
    }

    pub(crate) fn on_found(&mut self) {
        self.luck = (self.luck + LUCK_GAIN).min(LUCK_MAX);
    }

    pub(crate) fn on_missed(&mut self) {
        self.luck = self.luck.saturating_sub(1);
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
        spin.expect(Outlook::Soon);
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

    #[test]
    fn without_an_outlook_or_with_a_limit_of_zero_nothing_is_looked_for() {
        let mut spin = Spin::new(LIMIT);
        assert_eq!(looks(&mut spin, 100, Spin::on_found), 0, "nothing is expected");
        spin.expect(Outlook::Soon);
        assert!(looks(&mut spin, 100, Spin::on_found) > 0);
        let mut off = Spin::new(Duration::ZERO);
        off.expect(Outlook::Soon);
        assert_eq!(looks(&mut off, 100, Spin::on_found), 0);
    }
}
