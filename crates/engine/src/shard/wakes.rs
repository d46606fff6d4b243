//! When each resource of a shard is to be looked at again, by its number.
//!
//! Every turn asks for the first of all times, and few set one: so it is kept, and looked for only
//! where it has passed.

use stdx::time::Time;

#[derive(Debug)]
pub(crate) struct Wakes {
    at: Vec<Time>,
    /// No later than the first of them.
    first: Time,
}

impl Wakes {
    pub(crate) const NONE: Self = Self { at: Vec::new(), first: Time::NEVER };

    pub(crate) fn set(&mut self, place: usize, at: Time) {
        if self.at.len() <= place {
            self.at.resize(place + 1, Time::NEVER);
        }
        self.at[place] = at;
        self.first = self.first.min(at);
    }

    /// When to come for those that are due, at the latest: a time that was put off may stand yet.
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Those whose time has come, each once.
    pub(crate) fn take_due(&mut self, now: Time, due: &mut Vec<usize>) {
        if now < self.first {
            return;
        }
        self.first = Time::NEVER;
        for (place, at) in self.at.iter_mut().enumerate() {
            if *at <= now {
                *at = Time::NEVER;
                due.push(place);
            }
            self.first = self.first.min(*at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn after(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn those_that_are_due_are_told_once_and_no_later_than_said() {
        let mut wakes = Wakes::NONE;
        assert_eq!(wakes.first(), Time::NEVER);
        wakes.set(7, after(20));
        wakes.set(2, after(10));
        wakes.set(5, after(10));
        assert_eq!(wakes.first(), after(10));
        let mut due = Vec::new();
        wakes.take_due(after(9), &mut due);
        assert!(due.is_empty());
        wakes.take_due(after(10), &mut due);
        assert_eq!(due, [2, 5]);
        assert_eq!(wakes.first(), after(20));
        due.clear();
        wakes.take_due(after(30), &mut due);
        assert_eq!((due, wakes.first()), (vec![7], Time::NEVER));
    }

    /// It costs one look for nothing, and is forgotten with that.
    #[test]
    fn time_that_is_put_off_is_looked_at_once() {
        let mut wakes = Wakes::NONE;
        wakes.set(1, after(10));
        wakes.set(1, after(50));
        assert_eq!(wakes.first(), after(10));
        let mut due = Vec::new();
        wakes.take_due(after(10), &mut due);
        assert!(due.is_empty());
        assert_eq!(wakes.first(), after(50));
    }
}
